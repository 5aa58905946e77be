//! `import`: every row of a store's report, judged by what is known of files.
//!
//! In: a report, what is known. Out: findings in the order of the rows; if the report tells of all
//! objects, then of the files that it does not name. Asks no store for anything.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use steadfast::Verdict;
use steadfast_digest::sha256;

use crate::address::{Address, NameFault};
use crate::check::{AsksParts, Options, compare, end};
use crate::document::Report;
use crate::error::Error;
use crate::finding::{Finding, Judged, Summary};
use crate::known::{Known, Looked, Told};
use crate::listing::{Part, Parts};
use crate::object::{Object, ObjectDigest};
use crate::pool::ordered;
use crate::row::{Row, RowOutcome};

/// The status of what is not there.
const NOT_FOUND: u16 = 404;

/// A report does not say how long parts are.
struct AsksNobody;

impl AsksParts for AsksNobody {
    fn parts(&self, _kept: &ObjectDigest) -> Result<Parts, Error> {
        Ok(Parts::default())
    }

    fn each_part(&self, _count: usize) -> Result<Vec<Part>, Error> {
        Ok(Vec::new())
    }
}

/// A row, or why it is none, and where it is.
struct Job {
    document: PathBuf,
    line: u64,
    row: Result<Row, String>,
}

/// What a row came to.
enum Outcome {
    Finding(Box<Finding>),
    Passed,
    Broken(Error),
}

/// Judges the rows of a report that are of objects at the address.
///
/// With [`Options::complete`], files that are known and not in the report are missing; for that 16
/// bytes of each name are kept.
///
/// # Errors
/// If the report or what is known cannot be read, or no row is of an object at the address.
pub fn import(
    report: &Report,
    address: &Address,
    known: &Known,
    options: &Options,
    tell: &mut dyn FnMut(&Finding),
) -> Result<Summary, Error> {
    let (mut summary, mut broken) = (Summary::default(), None);
    let mut seen: HashSet<[u8; 16]> = HashSet::new();
    let mut take = |outcome: Outcome| match outcome {
        Outcome::Finding(finding) => {
            if options.complete {
                seen.insert(mark(&finding.path));
            }
            summary.count(&finding, options.require_tags);
            tell(&finding);
        }
        Outcome::Passed => summary.passed += 1,
        Outcome::Broken(error) => drop(broken.get_or_insert(error)),
    };
    let work = |job| judge(job, address, known, options);
    let fed = ordered(options.workers, work, &mut take, |line| {
        report.rows(&mut |document, number, row| {
            line.put(Job { document: document.to_owned(), line: number, row });
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

/// Sixteen bytes that stand for a path: no two of any report share them.
fn mark(path: &Path) -> [u8; 16] {
    let digest = sha256(path.as_os_str().as_bytes());
    digest.as_bytes()[..16].try_into().expect("a digest of SHA-256 has 32 bytes")
}

/// Finds a file missing that a whole report does not name.
fn absent(told: Told, address: &Address, seen: &HashSet<[u8; 16]>) -> Option<Finding> {
    let (path, reference) = match told {
        Told::File(path, reference) => (path, reference?),
        Told::Trouble(path, reason) => {
            let judged = Judged::Verdict(Verdict::Unreadable);
            return Some(Finding::new(path, None, judged).detailed(reason));
        }
    };
    if seen.contains(&mark(&path)) {
        return None;
    }
    let key = address.key_of(&path).ok();
    let finding = Finding::new(path, key, Judged::Verdict(Verdict::Missing));
    Some(Finding { reference: Some(reference), ..finding.detailed("the report does not name it") })
}

fn judge(job: Job, address: &Address, known: &Known, options: &Options) -> Outcome {
    let Job { document, line, row } = job;
    let row = match row {
        Ok(row) => row,
        Err(why) => {
            let judged = Judged::Verdict(Verdict::Unreadable);
            let detail = format!("line {line}: {why}");
            return Outcome::Finding(Box::new(
                Finding::new(document, None, judged).detailed(detail),
            ));
        }
    };
    if row.bucket != address.bucket() || !row.current {
        return Outcome::Passed;
    }
    let named = match named(&row, address, known) {
        Ok(Some(named)) => named,
        Ok(None) => return Outcome::Passed,
        Err(error) => return Outcome::Broken(error),
    };
    match of_row(row, named, known, options) {
        Ok(finding) => Outcome::Finding(Box::new(finding)),
        Err(error) => Outcome::Broken(error),
    }
}

/// Which object and which file a row is about.
struct Named {
    key: String,
    path: Result<PathBuf, NameFault>,
    known: Looked,
}

/// Finds the spelling that was meant: the first that is known, else the likeliest.
fn named(row: &Row, address: &Address, known: &Known) -> Result<Option<Named>, Error> {
    let mut likeliest = None;
    for key in row.names() {
        let path = match address.path_of(&key) {
            Ok(path) => path,
            Err(NameFault::Elsewhere | NameFault::Folder) => continue,
            Err(fault) => {
                likeliest.get_or_insert(Named { key, path: Err(fault), known: Looked::Nothing });
                continue;
            }
        };
        let found = known.look(&path)?;
        let is_known = !matches!(found, Looked::Nothing);
        let named = Named { key, path: Ok(path), known: found };
        if is_known {
            return Ok(Some(named));
        }
        likeliest.get_or_insert(named);
    }
    Ok(likeliest)
}

fn of_row(row: Row, named: Named, known: &Known, options: &Options) -> Result<Finding, Error> {
    let Named { key, path, known: found } = named;
    let nobody = match &path {
        Ok(_) => "nothing here knows the object".to_owned(),
        Err(fault) => fault.to_string(),
    };
    let path = path.unwrap_or_else(|_| PathBuf::from(&key));
    let say = |verdict| Finding::new(path.clone(), Some(key.clone()), Judged::Verdict(verdict));
    match (row.outcome, found) {
        (RowOutcome::Failed(Some(NOT_FOUND), why), Looked::File(Some(reference))) => {
            let finding = say(Verdict::Missing).detailed(format!("the store: {why}"));
            Ok(Finding { reference: Some(reference), ..finding })
        }
        (RowOutcome::Failed(status, why), _) => {
            let status = status.map(|status| format!("{status} ")).unwrap_or_default();
            Ok(say(Verdict::Unreadable).detailed(format!("the store failed: {status}{why}")))
        }
        (RowOutcome::Found(object), Looked::File(Some(reference))) => {
            let object = Object { version: row.version, ..*object };
            let root = options.read.then(|| known.root());
            compare(root, path.clone(), Some(key), reference, object, &AsksNobody)
        }
        (RowOutcome::Found(object), unrecorded) => {
            let finding = match unrecorded {
                Looked::File(_) => {
                    say(Verdict::Untagged).detailed("nothing is recorded of the file")
                }
                Looked::Nothing => say(Verdict::Untagged).detailed(nobody),
                Looked::Unreadable(why) => say(Verdict::Unreadable).detailed(why),
            };
            Ok(Finding { object: Some(*object), ..finding })
        }
    }
}
