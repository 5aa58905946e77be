//! `check`: compares every recorded file with its object, and then lists the other objects.
//!
//! In: a store and the recorded files. Out: findings in the order of the files, and then of the
//! objects without a record. Memory is bounded: files and objects are processed one by one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use steadfast::{Reference, Verdict};

use crate::address::NameFault;
use crate::error::{Error, ErrorKind};
use crate::finding::{Judged, ObjectFinding, ObjectsSummary};
use crate::known::{KnownEntry, KnownFiles, KnownPath};
use crate::listing::{ObjectPart, ObjectParts};
use crate::local;
use crate::object::{Extent, Object, ObjectDigest};
use crate::ordered::ordered;
use crate::store::ObjectStore;
use crate::verdict;

/// Consecutive objects without a response after which a run fails.
const UNREACHED_MAX: u32 = 8;

/// Why the composite of a local file cannot be computed.
const PARTS_UNKNOWN: &str = "how long its parts are is not known";

/// Objects of one batch of a listing.
const BATCH_LEN: u16 = 1000;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct ObjectCheckOptions {
    /// Threads that send requests and read files.
    pub workers: usize,
    /// Whether to read local files if the record and the store have no algorithm in common.
    pub read: bool,
    /// Whether an object without a record fails the check.
    pub require_tags: bool,
    /// Whether recorded files that are not in the report are missing: for a report of all objects.
    pub complete: bool,
    /// Ends the run early.
    pub stop: Arc<AtomicBool>,
}

/// Checks objects against the records of files, without downloading them.
///
/// # Errors
/// If the store refuses or does not answer, if there is no object at the address, or if the records
/// cannot be read.
pub fn check(
    store: &ObjectStore,
    known: &KnownFiles,
    options: &ObjectCheckOptions,
    tell: &mut dyn FnMut(&ObjectFinding),
) -> Result<ObjectsSummary, Error> {
    // Reports a missing permission once, instead of for each object.
    if store.list(None, 1)?.objects.is_empty() {
        let address = store.address();
        let message = format!("there is no object at `{address}`: is it the right prefix?");
        return Err(Error::usage(message));
    }
    let run =
        CheckRun { store, known, options, unreached: AtomicU32::new(0), broken: Mutex::new(None) };
    let mut summary = ObjectsSummary::default();
    let mut take = |finding: Option<ObjectFinding>| {
        if let Some(finding) = finding {
            summary.count(&finding, options.require_tags);
            tell(&finding);
        }
    };
    let fed = ordered(
        options.workers,
        |told| run.finding(told),
        &mut take,
        |line| {
            known.each(&options.stop, &mut |told| {
                line.put(told);
                run.goes_on()
            })
        },
    );
    let asked = match run.broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => fed,
    };
    let listed = asked.and_then(|()| others(store, known, options, &mut summary, tell));
    summary.requests = store.requests();
    end(listed, summary, &options.stop)
}

/// Ends a run. A run that was told to stop returns what it has.
pub(crate) fn end(
    result: Result<(), Error>,
    mut summary: ObjectsSummary,
    stop: &AtomicBool,
) -> Result<ObjectsSummary, Error> {
    summary.interrupted = stop.load(Ordering::Relaxed);
    match result {
        Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
        _ => Ok(summary),
    }
}

struct CheckRun<'a> {
    store: &'a ObjectStore,
    known: &'a KnownFiles,
    options: &'a ObjectCheckOptions,
    /// Consecutive objects without a response.
    unreached: AtomicU32,
    broken: Mutex<Option<Error>>,
}

impl CheckRun<'_> {
    fn goes_on(&self) -> bool {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        !broken && !self.options.stop.load(Ordering::Relaxed)
    }

    /// Checks one file. Returns `None` once the run has ended.
    fn finding(&self, told: KnownEntry) -> Option<ObjectFinding> {
        if !self.goes_on() {
            return None;
        }
        let (path, reference) = match told {
            KnownEntry::File(path, reference) => (path, reference),
            KnownEntry::Unreadable(path, reason) => {
                let judged = Judged::Verdict(Verdict::Unreadable);
                return Some(ObjectFinding::new(path, None, judged).detailed(reason));
            }
        };
        let key = match self.store.address().key_of(&path) {
            Ok(key) => key,
            Err(fault) => {
                let finding = ObjectFinding::new(path, None, Judged::NotComparable);
                return Some(finding.detailed(fault.to_string()));
            }
        };
        let Some(reference) = reference else {
            let untagged = Judged::Verdict(Verdict::Untagged);
            let finding = ObjectFinding::new(path, Some(key), untagged);
            return Some(finding.detailed("nothing is recorded of the file"));
        };
        match self.ask(path.clone(), &key, reference) {
            Ok(finding) => {
                self.unreached.store(0, Ordering::Relaxed);
                Some(finding)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => None,
            Err(error) => self.failed(path, key, error),
        }
    }

    fn ask(&self, path: PathBuf, key: &str, reference: Reference) -> Result<ObjectFinding, Error> {
        let Some(mut object) = self.store.head(key)? else {
            let missing = Judged::Verdict(Verdict::Missing);
            let finding = ObjectFinding::new(path, Some(key.to_owned()), missing);
            return Ok(ObjectFinding { reference: Some(reference), ..finding });
        };
        if object.has_unknown_extent() && verdict::at_once(&reference, &object).is_none() {
            // The digest that differs may be a composite.
            object.settle(self.store.extent(key, &object)?.unwrap_or(Extent::Unknown));
        }
        let asks = StoreParts { store: self.store, key, length: object.length.unwrap_or(0) };
        let root = self.options.read.then(|| self.known.root());
        compare(root, path, Some(key.to_owned()), reference, object, &asks)
    }

    /// Reports a failed request; ends the run if the store stopped answering.
    fn failed(&self, path: PathBuf, key: String, error: Error) -> Option<ObjectFinding> {
        let message = error.to_string();
        if error.kind() == ErrorKind::Unreachable
            && self.unreached.fetch_add(1, Ordering::Relaxed) + 1 >= UNREACHED_MAX
        {
            let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
            broken.get_or_insert(error);
        }
        let unreadable = Judged::Verdict(Verdict::Unreadable);
        Some(ObjectFinding::new(path, Some(key), unreadable).detailed(message))
    }
}

/// The source of an object's parts.
pub(crate) trait PartsSource {
    /// Returns the parts that a digest covers.
    fn parts(&self, kept: &ObjectDigest) -> Result<ObjectParts, Error>;

    /// Returns the length of each of `count` parts, if [`PartsSource::parts`] assumed them.
    fn each_part(&self, count: usize) -> Result<Vec<ObjectPart>, Error>;
}

struct StoreParts<'a> {
    store: &'a ObjectStore,
    key: &'a str,
    length: u64,
}

impl PartsSource for StoreParts<'_> {
    fn parts(&self, kept: &ObjectDigest) -> Result<ObjectParts, Error> {
        self.store.parts(self.key, kept.algorithm, self.length)
    }

    fn each_part(&self, count: usize) -> Result<Vec<ObjectPart>, Error> {
        self.store.each_part(self.key, count)
    }
}

/// Reports the objects without a record.
fn others(
    store: &ObjectStore,
    known: &KnownFiles,
    options: &ObjectCheckOptions,
    summary: &mut ObjectsSummary,
    tell: &mut dyn FnMut(&ObjectFinding),
) -> Result<(), Error> {
    let mut next = None;
    while !options.stop.load(Ordering::Relaxed) {
        let batch = store.list(next.as_deref(), BATCH_LEN)?;
        for listed in batch.objects {
            let mut verdict = Verdict::Untagged;
            let (path, detail) = match store.address().path_of(&listed.key) {
                Ok(path) => match known.record_of(&path)? {
                    KnownPath::File(_) => continue,
                    KnownPath::Nothing => (path, "nothing here knows the object".to_owned()),
                    KnownPath::Unreadable(why) => {
                        verdict = Verdict::Unreadable;
                        (path, why)
                    }
                },
                Err(NameFault::Folder) => {
                    summary.passed += 1;
                    continue;
                }
                Err(fault) => (PathBuf::from(&listed.key), fault.to_string()),
            };
            let judged = Judged::Verdict(verdict);
            let finding = ObjectFinding::new(path, Some(listed.key), judged).detailed(detail);
            let object = Object { length: Some(listed.length), ..Object::default() };
            let finding = ObjectFinding { object: Some(object), ..finding };
            summary.count(&finding, options.require_tags);
            tell(&finding);
        }
        match batch.next {
            None => return Ok(()),
            more => next = more,
        }
    }
    Ok(())
}

/// Compares one object with its record, and if necessary with the file beneath `root`.
pub(crate) fn compare(
    root: Option<&Path>,
    path: PathBuf,
    key: Option<String>,
    reference: Reference,
    object: Object,
    asks: &dyn PartsSource,
) -> Result<ObjectFinding, Error> {
    let compared = match verdict::at_once(&reference, &object) {
        Some((verdict, by)) => {
            FileComparison { judged: Some((verdict, by)), ..FileComparison::default() }
        }
        None => compare_file(root, &path, &reference, &object, asks)?,
    };
    let judged = compared.judged.map_or(Judged::NotComparable, |(v, _)| Judged::Verdict(v));
    Ok(ObjectFinding {
        by: compared.judged.map(|(_, by)| by),
        detail: compared.detail,
        bytes_read: compared.bytes_read,
        object: Some(object),
        reference: Some(reference),
        ..ObjectFinding::new(path, key, judged)
    })
}

#[derive(Default)]
struct FileComparison {
    judged: Option<(Verdict, crate::finding::Basis)>,
    detail: Option<String>,
    bytes_read: u64,
}

fn compare_file(
    root: Option<&Path>,
    path: &Path,
    reference: &Reference,
    object: &Object,
    source: &dyn PartsSource,
) -> Result<FileComparison, Error> {
    let not_comparable = |why: &str, bytes_read| {
        let detail = Some(format!("{}; {why}", verdict::kept(object)));
        Ok(FileComparison { judged: None, detail, bytes_read })
    };
    let recorded: Vec<&str> = reference.digests.iter().map(|(one, _)| one.name()).collect();
    let recorded = format!("recorded is {}", recorded.join(", "));
    let (Some(kept), false) = (object.digests.first(), reference.digests.is_empty()) else {
        return not_comparable("there is nothing to compare", 0);
    };
    let Some(root) = root else {
        return not_comparable(&format!("{recorded}, and the file here is not read"), 0);
    };
    let mut parts = match kept.extent {
        Extent::Whole | Extent::Unknown => ObjectParts::default(),
        Extent::Composite(count) => {
            let parts = source.parts(kept)?;
            let len = parts.list.len();
            if len == 0 || count.is_some_and(|count| count as usize != len) {
                return not_comparable(PARTS_UNKNOWN, 0);
            }
            parts
        }
    };
    let mut bytes_read = 0;
    loop {
        let reading = match local::read(root, path, reference, kept, &parts.list) {
            Ok(reading) => reading,
            Err(why) => return not_comparable(&format!("{recorded}, and {why}"), 0),
        };
        bytes_read += reading.here.length;
        let judged = verdict::by_file(reference, object, kept, &reading.here);
        let differs = judged.is_none_or(|(verdict, _)| verdict != Verdict::Intact);
        if parts.assumed && differs {
            // The parts may have other lengths than the first one.
            let list = source.each_part(parts.list.len())?;
            let total: u64 = list.iter().map(|part| part.length).sum();
            if list.is_empty() || object.length.is_some_and(|length| length != total) {
                return not_comparable(PARTS_UNKNOWN, bytes_read);
            }
            let same = list == parts.list;
            parts = ObjectParts { list, assumed: false };
            if !same {
                continue;
            }
        }
        let detail = match (judged, reading.here.as_known) {
            (None, true) => {
                let why = format!("{recorded}, and it may be a digest of the parts' digests");
                return not_comparable(&why, bytes_read);
            }
            (None, false) => {
                let why = format!("{recorded}, and the file here is no longer as recorded");
                return not_comparable(&why, bytes_read);
            }
            (_, true) => reading.parts,
            (_, false) => {
                let why = "it holds what the file here holds now, which is not as recorded";
                Some(why.to_owned())
            }
        };
        return Ok(FileComparison { judged, detail, bytes_read });
    }
}
