//! What the catalogues of the roots prove, cached until they change.
//!
//! In: a root. Out: its audit, its open failures, and how it stands, by the rules of `status`.
//!
//! A run or a repair of this server always makes the next audit a new one. What other programs
//! change is seen at once by the catalogue's files, and at the latest after [`CACHE_LIFE`] while
//! they go on changing. Two limits remain: a network drive may show its old state of these files
//! for as long as the system caches it; and where a file system keeps no change times, such as FAT,
//! a program that writes and then sets the old times is seen only after [`AUDIT_LIFE`].

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use steadfast::beneath::{FileKind, Status};
use steadfast::catalogue::{Catalogue, CataloguedTree};
use steadfast::{FolderState, Notice, Options, Timestamp};

use crate::lock::lock;

/// How long an audit is cached while its catalogue changes, so that several tabs that load at once
/// cause one audit.
const CACHE_LIFE: Duration = Duration::from_secs(2);

/// How long an audit is cached while its catalogue does not change: files become overdue by time
/// alone.
const AUDIT_LIFE: Duration = Duration::from_secs(600);

/// How long before an audit a catalogue was written last, in milliseconds, for its times to prove
/// that it was not written again: longer than the step of the clock that file systems use.
const QUIET_MS: i64 = 100;

/// The same where times have whole seconds, or every second one.
const QUIET_COARSE_MS: i64 = 3_000;

/// The latest audits by index of the root.
#[derive(Default)]
pub(crate) struct RootAudits(Mutex<HashMap<usize, CachedAudit>>);

/// An audit, when it was made, and of what.
struct CachedAudit {
    made: Instant,
    subject: AuditSubject,
    audit: Arc<FolderState>,
}

/// What an audit depends on.
#[derive(Clone, Debug, Default, PartialEq)]
struct AuditSubject {
    cover_days: u32,
    /// Runs and repairs of this server that had ended before it.
    ended_runs: u64,
    /// The files of the catalogue and the root, as the system described them before it.
    files: Option<[FileStamp; 3]>,
    /// Whether these files were quiet for so long that a later change shows.
    is_quiet: bool,
}

/// Identity, length and times of a file; zeros if it is absent or empty.
type FileStamp = [i64; 7];

impl RootAudits {
    /// Returns the audit of a root. Waits for the disk.
    pub(crate) fn of(
        &self,
        root: usize,
        path: &Path,
        tree: Option<&CataloguedTree>,
        cover_days: u32,
        ended_runs: u64,
    ) -> Arc<FolderState> {
        // Described before it is audited: what is written meanwhile is seen the next time.
        let subject = AuditSubject::of(path, cover_days, ended_runs);
        if let Some(cached) = lock(&self.0).get(&root).filter(|cached| cached.is_of(&subject)) {
            return Arc::clone(&cached.audit);
        }
        let now = (Options::default().now)();
        self.keep(root, subject, FolderState::read(path, tree, cover_days, now))
    }

    /// Keeps the reason why a root cannot be reached.
    pub(crate) fn away(&self, root: usize, reason: String) -> Arc<FolderState> {
        self.keep(root, AuditSubject::default(), FolderState::NotThere(Notice::failure(reason)))
    }

    fn keep(&self, root: usize, subject: AuditSubject, audit: FolderState) -> Arc<FolderState> {
        let audit = Arc::new(audit);
        let cached = CachedAudit { made: Instant::now(), subject, audit: Arc::clone(&audit) };
        lock(&self.0).insert(root, cached);
        audit
    }

    /// Returns the latest audit of a root, however old, without waiting for the disk.
    pub(crate) fn latest(&self, root: usize) -> Option<Arc<FolderState>> {
        lock(&self.0).get(&root).map(|cached| Arc::clone(&cached.audit))
    }
}

impl CachedAudit {
    /// Returns whether this is still the audit of a subject.
    fn is_of(&self, subject: &AuditSubject) -> bool {
        let before = &self.subject;
        let is_same_order =
            (before.cover_days, before.ended_runs) == (subject.cover_days, subject.ended_runs);
        let age = self.made.elapsed();
        // Why a catalogue cannot be read may pass without a change of it.
        let is_proved = matches!(*self.audit, FolderState::Known(_) | FolderState::PartOf(_))
            && before.is_quiet
            && before.files == subject.files;
        is_same_order && (age < CACHE_LIFE || (is_proved && age < AUDIT_LIFE))
    }
}

impl AuditSubject {
    fn of(path: &Path, cover_days: u32, ended_runs: u64) -> AuditSubject {
        let now = (Options::default().now)();
        let files = Catalogue::find(path).map(|file| {
            let mut log = OsString::from(&file);
            log.push("-wal");
            // The root itself: if it is emptied, its catalogue says nothing more.
            [file, PathBuf::from(log), path.to_owned()].map(|file| stamp(&file))
        });
        let is_quiet = files.is_some_and(|files| files.iter().all(|file| is_quiet(file, now)));
        AuditSubject { cover_days, ended_runs, files, is_quiet }
    }
}

fn stamp(file: &Path) -> FileStamp {
    let of = |found: Status| {
        let [device, inode, length] = [found.device, found.inode, found.length];
        let [mtime, ctime] = [found.mtime, found.ctime];
        let [mtime_ns, ctime_ns] = [mtime, ctime].map(|time| i64::from(time.nanoseconds));
        let [device, inode, length] = [device, inode, length].map(u64::cast_signed);
        [device, inode, length, mtime.seconds, mtime_ns, ctime.seconds, ctime_ns]
    };
    // A reader leaves an empty log behind, or takes it away.
    let is_of_use = |found: &Status| found.length > 0 || found.kind == FileKind::Directory;
    Status::of_link(file).ok().filter(is_of_use).map_or([0; 7], of)
}

/// Returns whether a file was last written so long before `now` that a later change shows.
fn is_quiet(file: &FileStamp, now: Timestamp) -> bool {
    let [.., written_s, written_ns, _, _] = *file;
    let quiet_ms = if written_ns == 0 { QUIET_COARSE_MS } else { QUIET_MS };
    let since_ms = now
        .seconds
        .saturating_sub(written_s)
        .saturating_mul(1_000)
        .saturating_add((i64::from(now.nanoseconds) - written_ns) / 1_000_000);
    since_ms > quiet_ms
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast::{Event, Selection, Verb};

    /// A catalogued tree of two files that was last written an hour ago.
    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("one"), "1").unwrap();
        std::fs::write(folder.path().join("two"), "22").unwrap();
        let path = folder.path().canonicalize().unwrap();
        let made = steadfast::Run::of(
            steadfast::Verb::Init(steadfast::InitOptions {
                tags_only: true,
                ..steadfast::InitOptions::default()
            }),
            steadfast::Selection::of([&path]),
            Options::default(),
        )
        .run(&mut |_: &Event| {});
        assert!(made.is_ok(), "{made:?}");
        rest(&path);
        folder
    }

    /// Gives the root and its catalogue the times of an hour ago.
    fn rest(path: &Path) {
        let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3_600);
        for file in [Catalogue::find(path).unwrap(), path.to_owned()] {
            std::fs::File::open(file).unwrap().set_modified(hour_ago).unwrap();
        }
    }

    /// Lets time pass since the audit of root 0.
    fn age(audits: &RootAudits, seconds: u64) {
        let mut cached = lock(&audits.0);
        let cached = cached.get_mut(&0).unwrap();
        cached.made = cached.made.checked_sub(Duration::from_secs(seconds)).unwrap();
    }

    fn files(audit: &FolderState) -> u64 {
        let FolderState::Known(facts) = audit else { panic!("{audit:?}") };
        facts.audit.entries
    }

    #[test]
    fn an_audit_is_made_again_after_a_change_and_not_before() {
        let tree = tree();
        let path = tree.path().canonicalize().unwrap();
        let audits = RootAudits::default();
        let of = |cover_days, ended_runs| audits.of(0, &path, None, cover_days, ended_runs);
        let first = of(90, 0);
        assert_eq!(files(&first), 2);
        age(&audits, 60);
        assert!(Arc::ptr_eq(&first, &of(90, 0)), "nothing changed");
        // Files become overdue by time alone.
        age(&audits, 600);
        let later = of(90, 0);
        assert!(!Arc::ptr_eq(&first, &later));
        // Another schedule, and the end of a run of this server, at once.
        let other = of(30, 0);
        assert!(!Arc::ptr_eq(&later, &other));
        let after = of(30, 1);
        assert!(!Arc::ptr_eq(&other, &after) && Arc::ptr_eq(&after, &of(30, 1)));
        // Another program recorded a file.
        std::fs::write(path.join("three"), "333").unwrap();
        let selection = Selection::of([path.clone()]);
        let catalogue = Catalogue::find(&path).unwrap();
        let options = Options::default().with(|options| {
            options.catalogue.choice = steadfast::CatalogueUse::At(catalogue);
        });
        let tagged = steadfast::Run::of(Verb::tag(), selection, options).run(&mut |_: &Event| {});
        assert!(tagged.is_ok(), "{tagged:?}");
        age(&audits, 2);
        assert_eq!(files(&of(30, 1)), 3);
    }

    #[test]
    fn a_catalogue_that_was_just_written_is_not_believed_to_be_unchanged() {
        let tree = tree();
        let path = tree.path().canonicalize().unwrap();
        let audits = RootAudits::default();
        std::fs::File::open(Catalogue::find(&path).unwrap())
            .unwrap()
            .set_modified(std::time::SystemTime::now())
            .unwrap();
        let first = audits.of(0, &path, None, 90, 0);
        assert!(Arc::ptr_eq(&first, &audits.of(0, &path, None, 90, 0)), "tabs that load at once");
        age(&audits, 2);
        assert!(!Arc::ptr_eq(&first, &audits.of(0, &path, None, 90, 0)));
    }

    #[test]
    fn the_step_of_a_clock_decides_what_is_quiet() {
        let now = Timestamp { seconds: 100, nanoseconds: 500_000_000 };
        for (seconds, nanoseconds, quiet) in [
            (100, 400_000_001, false),
            (100, 399_000_000, true),
            (99, 900_000_000, true),
            (98, 0, false),
            (97, 0, true),
            // The clock of the drive is ahead.
            (101, 0, false),
            (i64::MIN, 0, true),
        ] {
            let file = [1, 2, 3, seconds, nanoseconds, 0, 0];
            assert_eq!(is_quiet(&file, now), quiet, "{seconds}.{nanoseconds}");
        }
    }
}
