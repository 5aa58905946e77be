//! `check`: every file that is known of, asked for at the store; then what the store has besides.
//!
//! In: a store, what is known. Out: findings in the order of the files, then of the objects that
//! nobody knows. Memory is bounded: files and objects go by one by one, on both sides.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use steadfast::{Reference, Verdict};

use crate::address::NameFault;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Judged, Summary};
use crate::judge;
use crate::known::{Known, Looked, Told};
use crate::listing::{Part, Parts};
use crate::local;
use crate::object::{Extent, Object, ObjectDigest};
use crate::pool::ordered;
use crate::store::Store;

/// Objects in a row that the store does not answer for before a run is given up.
const UNREACHED_MAX: u32 = 8;

/// Why a composite cannot be computed of a file here.
const PARTS_UNKNOWN: &str = "how long its parts are is not known";

/// Names that a page of a list has.
const PAGE_LEN: u16 = 1000;

/// How a run goes about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads that ask and read.
    pub workers: usize,
    /// Whether files here may be read where what is recorded and what the store keeps are of
    /// different kinds.
    pub read: bool,
    /// Whether an object that nothing is recorded of is a finding.
    pub require_tags: bool,
    /// Whether what is known and was not spoken of is missing: of a report that tells of all.
    pub complete: bool,
    /// Ends the run early.
    pub stop: Arc<AtomicBool>,
}

/// Checks objects against what is known of files, without any object's bytes.
///
/// # Errors
/// If the store refuses who asks or does not answer, if there is no object at all beneath the
/// address, if what is known cannot be read.
pub fn check(
    store: &Store,
    known: &Known,
    options: &Options,
    tell: &mut dyn FnMut(&Finding),
) -> Result<Summary, Error> {
    // Who may not list is told so once, and not for each object.
    if store.list(None, 1)?.objects.is_empty() {
        let address = store.address();
        let message = format!("there is no object at `{address}`: is it the right prefix?");
        return Err(Error::usage(message));
    }
    let run = Run { store, known, options, unreached: AtomicU32::new(0), broken: Mutex::new(None) };
    let mut summary = Summary::default();
    let mut take = |finding: Option<Finding>| {
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

/// Ends a run; one that was told to stop says what it has.
pub(crate) fn end(
    result: Result<(), Error>,
    mut summary: Summary,
    stop: &AtomicBool,
) -> Result<Summary, Error> {
    summary.interrupted = stop.load(Ordering::Relaxed);
    match result {
        Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
        _ => Ok(summary),
    }
}

struct Run<'a> {
    store: &'a Store,
    known: &'a Known,
    options: &'a Options,
    /// Objects in a row that were not answered for.
    unreached: AtomicU32,
    broken: Mutex<Option<Error>>,
}

impl Run<'_> {
    fn goes_on(&self) -> bool {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        !broken && !self.options.stop.load(Ordering::Relaxed)
    }

    /// Finds out about one file; nothing once the run is at its end.
    fn finding(&self, told: Told) -> Option<Finding> {
        if !self.goes_on() {
            return None;
        }
        let (path, reference) = match told {
            Told::File(path, reference) => (path, reference),
            Told::Trouble(path, reason) => {
                let judged = Judged::Verdict(Verdict::Unreadable);
                return Some(Finding::new(path, None, judged).detailed(reason));
            }
        };
        let key = match self.store.address().key_of(&path) {
            Ok(key) => key,
            Err(fault) => {
                let finding = Finding::new(path, None, Judged::NotComparable);
                return Some(finding.detailed(fault.to_string()));
            }
        };
        let Some(reference) = reference else {
            let untagged = Judged::Verdict(Verdict::Untagged);
            let finding = Finding::new(path, Some(key), untagged);
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

    fn ask(&self, path: PathBuf, key: &str, reference: Reference) -> Result<Finding, Error> {
        let Some(mut object) = self.store.head(key)? else {
            let missing = Judged::Verdict(Verdict::Missing);
            let finding = Finding::new(path, Some(key.to_owned()), missing);
            return Ok(Finding { reference: Some(reference), ..finding });
        };
        if object.has_unknown_extent() && judge::at_once(&reference, &object).is_none() {
            // What differs may be a digest of the parts' digests.
            object.settle(self.store.extent(key, &object)?.unwrap_or(Extent::Unknown));
        }
        let asks = AsksStore { store: self.store, key, length: object.length.unwrap_or(0) };
        let root = self.options.read.then(|| self.known.root());
        compare(root, path, Some(key.to_owned()), reference, object, &asks)
    }

    /// Tells that an object could not be asked about; ends the run if the store is gone.
    fn failed(&self, path: PathBuf, key: String, error: Error) -> Option<Finding> {
        let message = error.to_string();
        if error.kind() == ErrorKind::Unreachable
            && self.unreached.fetch_add(1, Ordering::Relaxed) + 1 >= UNREACHED_MAX
        {
            let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
            broken.get_or_insert(error);
        }
        let unreadable = Judged::Verdict(Verdict::Unreadable);
        Some(Finding::new(path, Some(key), unreadable).detailed(message))
    }
}

/// Where the lengths of an object's parts come from.
pub(crate) trait AsksParts {
    /// The parts that a digest is of.
    fn parts(&self, kept: &ObjectDigest) -> Result<Parts, Error>;

    /// The length of each of `count` parts, where [`AsksParts::parts`] assumed them.
    fn each_part(&self, count: usize) -> Result<Vec<Part>, Error>;
}

struct AsksStore<'a> {
    store: &'a Store,
    key: &'a str,
    length: u64,
}

impl AsksParts for AsksStore<'_> {
    fn parts(&self, kept: &ObjectDigest) -> Result<Parts, Error> {
        self.store.parts(self.key, kept.algorithm, self.length)
    }

    fn each_part(&self, count: usize) -> Result<Vec<Part>, Error> {
        self.store.each_part(self.key, count)
    }
}

/// Tells of the objects that nobody knows.
fn others(
    store: &Store,
    known: &Known,
    options: &Options,
    summary: &mut Summary,
    tell: &mut dyn FnMut(&Finding),
) -> Result<(), Error> {
    let mut next = None;
    while !options.stop.load(Ordering::Relaxed) {
        let page = store.list(next.as_deref(), PAGE_LEN)?;
        for listed in page.objects {
            let mut verdict = Verdict::Untagged;
            let (path, detail) = match store.address().path_of(&listed.key) {
                Ok(path) => match known.look(&path)? {
                    Looked::File(_) => continue,
                    Looked::Nothing => (path, "nothing here knows the object".to_owned()),
                    Looked::Unreadable(why) => {
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
            let finding = Finding::new(path, Some(listed.key), judged).detailed(detail);
            let object = Object { length: Some(listed.length), ..Object::default() };
            let finding = Finding { object: Some(object), ..finding };
            summary.count(&finding, options.require_tags);
            tell(&finding);
        }
        match page.next {
            None => return Ok(()),
            more => next = more,
        }
    }
    Ok(())
}

/// Compares one object with what is recorded, and if need be with the file beneath `root`.
pub(crate) fn compare(
    root: Option<&Path>,
    path: PathBuf,
    key: Option<String>,
    reference: Reference,
    object: Object,
    asks: &dyn AsksParts,
) -> Result<Finding, Error> {
    let compared = match judge::at_once(&reference, &object) {
        Some((verdict, by)) => Compared { judged: Some((verdict, by)), ..Compared::default() },
        None => compare_file(root, &path, &reference, &object, asks)?,
    };
    let judged = compared.judged.map_or(Judged::NotComparable, |(v, _)| Judged::Verdict(v));
    Ok(Finding {
        by: compared.judged.map(|(_, by)| by),
        detail: compared.detail,
        bytes_read: compared.bytes_read,
        object: Some(object),
        reference: Some(reference),
        ..Finding::new(path, key, judged)
    })
}

#[derive(Default)]
struct Compared {
    judged: Option<(Verdict, crate::finding::By)>,
    detail: Option<String>,
    bytes_read: u64,
}

impl Compared {
    fn not(object: &Object, why: &str) -> Compared {
        let detail = format!("{}; {why}", judge::kept(object));
        Compared { detail: Some(detail), ..Compared::default() }
    }
}

fn compare_file(
    root: Option<&Path>,
    path: &Path,
    reference: &Reference,
    object: &Object,
    asks: &dyn AsksParts,
) -> Result<Compared, Error> {
    let recorded: Vec<&str> = reference.digests.iter().map(|(one, _)| one.name()).collect();
    let recorded = format!("recorded is {}", recorded.join(", "));
    let (Some(kept), false) = (object.digests.first(), reference.digests.is_empty()) else {
        return Ok(Compared::not(object, "there is nothing to compare"));
    };
    let Some(root) = root else {
        return Ok(Compared::not(object, &format!("{recorded}, and the file here is not read")));
    };
    let mut parts = match kept.extent {
        Extent::Whole | Extent::Unknown => Parts::default(),
        Extent::Composite(count) => {
            let parts = asks.parts(kept)?;
            let (told, len) =
                (count.is_none_or(|count| count as usize == parts.list.len()), parts.list.len());
            if len == 0 || !told {
                return Ok(Compared::not(object, PARTS_UNKNOWN));
            }
            parts
        }
    };
    let mut bytes_read = 0;
    loop {
        let reading = match local::read(root, path, reference, kept, &parts.list) {
            Ok(reading) => reading,
            Err(why) => return Ok(Compared::not(object, &format!("{recorded}, and {why}"))),
        };
        bytes_read += reading.here.length;
        let judged = judge::by_file(reference, object, kept, &reading.here);
        let differs = judged.is_none_or(|(verdict, _)| verdict != Verdict::Intact);
        if parts.assumed && differs {
            // The parts may have other lengths than the first one's.
            let list = asks.each_part(parts.list.len())?;
            let total: u64 = list.iter().map(|part| part.length).sum();
            if list.is_empty() || object.length.is_some_and(|length| length != total) {
                return Ok(Compared { bytes_read, ..Compared::not(object, PARTS_UNKNOWN) });
            }
            let same = list == parts.list;
            parts = Parts { list, assumed: false };
            if !same {
                continue;
            }
        }
        return Ok(match (judged, reading.here.as_known) {
            (None, true) => {
                let why = format!("{recorded}, and it may be a digest of the parts' digests");
                Compared { bytes_read, ..Compared::not(object, &why) }
            }
            (None, false) => {
                let why = format!("{recorded}, and the file here is no longer as recorded");
                Compared { bytes_read, ..Compared::not(object, &why) }
            }
            (judged, true) => Compared { judged, detail: reading.parts, bytes_read },
            (judged, false) => {
                let detail = "it holds what the file here holds now, which is not as recorded";
                Compared { judged, detail: Some(detail.to_owned()), bytes_read }
            }
        });
    }
}
