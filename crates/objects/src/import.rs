//! `import`: compares every row of a store's report with the record of its file.
//!
//! In: a report and the recorded files. Out: findings in the order of the rows, and then, if the
//! report is of all objects, of the files that it does not name. Sends no request.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use steadfast::Verdict;
use steadfast_digest::sha256;
use steadfast_sys::names::NameBytes as _;

use crate::address::{Address, NameFault};
use crate::check::{ObjectCheckOptions, PartsSource, compare, end};
use crate::error::Error;
use crate::finding::{Judged, ObjectFinding, ObjectsSummary};
use crate::known::{KnownEntry, KnownFiles, KnownPath};
use crate::listing::{ObjectPart, ObjectParts};
use crate::object::{Object, ObjectDigest};
use crate::ordered::ordered;
use crate::report::Report;
use crate::row::{ReportRow, RowOutcome};

/// The HTTP status of a missing object.
const NOT_FOUND: u16 = 404;

/// Reports do not state the lengths of parts.
struct NoParts;

impl PartsSource for NoParts {
    fn parts(&self, _kept: &ObjectDigest) -> Result<ObjectParts, Error> {
        Ok(ObjectParts::default())
    }

    fn each_part(&self, _count: usize) -> Result<Vec<ObjectPart>, Error> {
        Ok(Vec::new())
    }
}

/// A row, or what is wrong with it, and where it is.
struct RowJob {
    document: PathBuf,
    line: u64,
    row: Result<ReportRow, String>,
}

/// The result of a row.
enum RowJudgement {
    Finding(Box<ObjectFinding>),
    Passed,
    Broken(Error),
}

/// Checks the rows of a report that are about objects at the address.
///
/// With [`ObjectCheckOptions::complete`], recorded files that are not in the report are missing.
/// For that, it keeps 16 bytes of each name.
///
/// # Errors
/// If the report or the records cannot be read, or no row is about an object at the address.
pub fn import(
    report: &Report,
    address: &Address,
    known: &KnownFiles,
    options: &ObjectCheckOptions,
    tell: &mut dyn FnMut(&ObjectFinding),
) -> Result<ObjectsSummary, Error> {
    let (mut summary, mut broken) = (ObjectsSummary::default(), None);
    let mut seen: HashSet<[u8; 16]> = HashSet::new();
    let mut take = |outcome: RowJudgement| match outcome {
        RowJudgement::Finding(finding) => {
            if options.complete {
                seen.insert(mark(&finding.path));
            }
            summary.count(&finding, options.require_tags);
            tell(&finding);
        }
        RowJudgement::Passed => summary.passed += 1,
        RowJudgement::Broken(error) => drop(broken.get_or_insert(error)),
    };
    let work = |job| judge(job, address, known, options);
    let fed = ordered(options.workers, work, &mut take, |line| {
        report.rows(&mut |document, number, row| {
            line.put(RowJob { document: document.to_owned(), line: number, row });
            !options.stop.load(std::sync::atomic::Ordering::Relaxed)
        })
    });
    if let Some(error) = broken {
        return Err(error);
    }
    let stopped = options.stop.load(std::sync::atomic::Ordering::Relaxed);
    if fed.is_ok() && !stopped && summary.objects == 0 {
        let message = format!("no row of the report is of an object at `{address}`");
        return Err(Error::usage(message));
    }
    let told = match fed {
        Ok(()) if options.complete && !stopped => known.each(&options.stop, &mut |told| {
            if let Some(finding) = absent(told, address, &seen) {
                summary.count(&finding, options.require_tags);
                tell(&finding);
            }
            true
        }),
        fed => fed,
    };
    end(told, summary, &options.stop)
}

/// Returns 16 bytes of a path's SHA-256, which identify it within a report.
fn mark(path: &Path) -> [u8; 16] {
    let digest = sha256(path.as_bytes());
    digest.as_bytes()[..16].try_into().expect("a digest of SHA-256 has 32 bytes")
}

/// Returns a finding if a report of all objects does not name the file.
fn absent(told: KnownEntry, address: &Address, seen: &HashSet<[u8; 16]>) -> Option<ObjectFinding> {
    let (path, reference) = match told {
        KnownEntry::File(path, reference) => (path, reference?),
        KnownEntry::Unreadable(path, reason) => {
            let judged = Judged::Verdict(Verdict::Unreadable);
            return Some(ObjectFinding::new(path, None, judged).detailed(reason));
        }
    };
    if seen.contains(&mark(&path)) {
        return None;
    }
    let key = address.key_of(&path).ok();
    let finding = ObjectFinding::new(path, key, Judged::Verdict(Verdict::Missing));
    Some(ObjectFinding {
        reference: Some(reference),
        ..finding.detailed("the report does not name it")
    })
}

fn judge(
    job: RowJob,
    address: &Address,
    known: &KnownFiles,
    options: &ObjectCheckOptions,
) -> RowJudgement {
    let RowJob { document, line, row } = job;
    let row = match row {
        Ok(row) => row,
        Err(why) => {
            let judged = Judged::Verdict(Verdict::Unreadable);
            let detail = format!("line {line}: {why}");
            return RowJudgement::Finding(Box::new(
                ObjectFinding::new(document, None, judged).detailed(detail),
            ));
        }
    };
    if row.bucket != address.bucket() || !row.current {
        return RowJudgement::Passed;
    }
    let named = match named(&row, address, known) {
        Ok(Some(named)) => named,
        Ok(None) => return RowJudgement::Passed,
        Err(error) => return RowJudgement::Broken(error),
    };
    match of_row(row, named, known, options) {
        Ok(finding) => RowJudgement::Finding(Box::new(finding)),
        Err(error) => RowJudgement::Broken(error),
    }
}

/// The object and the file of a row.
struct Named {
    key: String,
    path: Result<PathBuf, NameFault>,
    known: KnownPath,
}

/// Finds the name that was meant: the first one with a record, or else the likeliest.
fn named(row: &ReportRow, address: &Address, known: &KnownFiles) -> Result<Option<Named>, Error> {
    let mut likeliest = None;
    for key in row.names() {
        let path = match address.path_of(&key) {
            Ok(path) => path,
            Err(NameFault::Elsewhere | NameFault::Folder) => continue,
            Err(fault) => {
                likeliest.get_or_insert(Named { key, path: Err(fault), known: KnownPath::Nothing });
                continue;
            }
        };
        let found = known.record_of(&path)?;
        let is_known = !matches!(found, KnownPath::Nothing);
        let named = Named { key, path: Ok(path), known: found };
        if is_known {
            return Ok(Some(named));
        }
        likeliest.get_or_insert(named);
    }
    Ok(likeliest)
}

fn of_row(
    row: ReportRow,
    named: Named,
    known: &KnownFiles,
    options: &ObjectCheckOptions,
) -> Result<ObjectFinding, Error> {
    let Named { key, path, known: found } = named;
    let nobody = match &path {
        Ok(_) => "nothing here knows the object".to_owned(),
        Err(fault) => fault.to_string(),
    };
    let path = path.unwrap_or_else(|_| PathBuf::from(&key));
    let say =
        |verdict| ObjectFinding::new(path.clone(), Some(key.clone()), Judged::Verdict(verdict));
    match (row.outcome, found) {
        (RowOutcome::Failed(Some(NOT_FOUND), why), KnownPath::File(Some(reference))) => {
            let finding = say(Verdict::Missing).detailed(format!("the store: {why}"));
            Ok(ObjectFinding { reference: Some(reference), ..finding })
        }
        (RowOutcome::Failed(status, why), _) => {
            let status = status.map(|status| format!("{status} ")).unwrap_or_default();
            Ok(say(Verdict::Unreadable).detailed(format!("the store failed: {status}{why}")))
        }
        (RowOutcome::Found(object), KnownPath::File(Some(reference))) => {
            let object = Object { version: row.version, ..*object };
            let root = options.read.then(|| known.root());
            compare(root, path.clone(), Some(key), reference, object, &NoParts)
        }
        (RowOutcome::Found(object), unrecorded) => {
            let finding = match unrecorded {
                KnownPath::File(_) => {
                    say(Verdict::Untagged).detailed("nothing is recorded of the file")
                }
                KnownPath::Nothing => say(Verdict::Untagged).detailed(nobody),
                KnownPath::Unreadable(why) => say(Verdict::Unreadable).detailed(why),
            };
            Ok(ObjectFinding { object: Some(*object), ..finding })
        }
    }
}
