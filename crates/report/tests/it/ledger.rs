//! What a catalogue might tell: runs, an audit, histories. None of it ever happened.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use steadfast::catalogue::{
    Audit, AuditWindow, Catalogue, CatalogueVerification, Duplicates, FailedCheck, FileFacts,
    FileState, Happened, History, HistoryRun, KnownFile, LockRequest, Overdue, RunRecord, RunScope,
    RunStart, RunState,
};
use steadfast::{Algorithm, Digest, Origin, Tag, Timestamp, VerbKind, Verdict};

/// 2025-11-20 14:46:40 UTC.
pub(crate) const NOW: i64 = 1_763_650_000;

/// Seconds in a day.
pub(crate) const DAY_S: i64 = 86_400;

pub(crate) fn moment(seconds: i64) -> Timestamp {
    Timestamp { seconds, nanoseconds: 0 }
}

pub(crate) fn tag(content: u8) -> Tag {
    Tag {
        algorithm: Algorithm::Sha256,
        digest: Digest::from_slice(&[content; 32]).unwrap(),
        length: 4_194_304,
        mtime: Timestamp { seconds: NOW - 400 * DAY_S, nanoseconds: 123_456_789 },
        tagged: moment(NOW - 300 * DAY_S),
    }
}

/// A run that began some days before now.
pub(crate) fn run(id: i64, verb: &str, days: i64, counts: &[(&str, u64)]) -> RunRecord {
    let started = NOW - days * DAY_S;
    let mut run = empty_run();
    run.id = id;
    run.verb = verb.to_owned();
    run.version = "0.1.0".to_owned();
    run.read_from = Some(if id % 2 == 0 { Origin::Media } else { Origin::Cache });
    run.started = moment(started);
    run.latest = moment(started + 3600);
    run.state = RunState::Whole;
    run.files = counts.iter().map(|(_, count)| count).sum();
    run.bytes = 98_700_000_000;
    run.counts = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    run
}

/// A run over nothing: only a catalogue makes one.
fn empty_run() -> RunRecord {
    static RUN: OnceLock<RunRecord> = OnceLock::new();
    let make = || {
        let folder = tempfile::tempdir().unwrap();
        let writer = LockRequest { verb: VerbKind::Check, now: moment(NOW), wait: None };
        let catalogue = Catalogue::create(folder.path(), None, &writer).unwrap();
        let begin = RunStart {
            verb: VerbKind::Check,
            read_from: Some(Origin::Cache),
            backend: "x86_shani x4",
            now: moment(NOW),
            accepts: false,
        };
        let recorder = catalogue.recorder(RunScope::default(), &begin).unwrap();
        recorder.finish(true, moment(NOW), &mut |_| ()).unwrap()
    };
    RUN.get_or_init(make).clone()
}

/// The last runs of a tree, the latest first.
pub(crate) fn runs() -> Vec<RunRecord> {
    let mut interrupted = run(4, "check", 20, &[("intact", 1_200)]);
    interrupted.state = RunState::Interrupted;
    interrupted.bytes = 1_000_000;
    let mut first = run(1, "tag\u{1b}[31m", 300, &[]);
    first.bytes = 0;
    vec![
        run(5, "check", 3, &[("corrupt", 2), ("intact", 12_342), ("new", 1), ("missing", 1)]),
        interrupted,
        run(3, "update", 100, &[("modified", 7), ("intact", 12_339)]),
        run(2, "check", 200, &[("intact", 12_346)]),
        first,
    ]
}

pub(crate) fn audit() -> Audit {
    let window = |days, entries, bytes| AuditWindow { days, entries, bytes, judged: entries };
    Audit {
        at: moment(NOW),
        entries: 12_400,
        tagged: 12_346,
        bytes: 98_700_000_000,
        windows: vec![
            window(7, 12_342, 98_600_000_000),
            window(30, 12_342, 98_600_000_000),
            window(365, 12_345, 98_699_000_000),
        ],
        proofs: Vec::new(),
        never: (1, 1_000_000),
        checked: true,
        oldest_proof: Some(moment(NOW - 200 * DAY_S)),
        standings: BTreeMap::from([
            (FileState::Corrupt, 2),
            (FileState::Missing, 1),
            (FileState::TagLost, 10),
        ]),
        runs: runs(),
    }
}

/// The audit of a catalogue that was just made.
pub(crate) fn empty_audit() -> Audit {
    Audit {
        at: moment(NOW),
        entries: 0,
        tagged: 0,
        bytes: 0,
        windows: vec![AuditWindow { days: 1, entries: 0, bytes: 0, judged: 0 }],
        proofs: Vec::new(),
        never: (0, 0),
        checked: true,
        oldest_proof: None,
        standings: BTreeMap::new(),
        runs: Vec::new(),
    }
}

pub(crate) fn hostile() -> PathBuf {
    PathBuf::from(OsStr::from_bytes(b"odd/\x1b[31m\xff <&>\n.jpg"))
}

pub(crate) fn failures() -> Vec<FailedCheck> {
    let failure = |path: &str, run, days, standing, now| FailedCheck {
        path: PathBuf::from(path),
        run,
        at: moment(NOW - days * DAY_S + 60),
        standing,
        now,
        settled: now.is_none_or(|now| now.proves() && now != standing),
        length: None,
        goes_on: false,
        repaired_run: None,
    };
    use FileState::{Corrupt, Fine, Missing, Modified, TagLost};
    vec![
        failure("2019/a.jpg", 3, 100, Modified, Some(Fine)),
        failure("2019/b.jpg", 5, 3, Corrupt, Some(Corrupt)),
        FailedCheck { path: hostile(), ..failure("", 2, 200, Corrupt, Some(Missing)) },
        FailedCheck { path: hostile(), ..failure("", 5, 3, Missing, Some(Missing)) },
        failure("2020/gone.jpg", 2, 200, Missing, None),
        failure("2020/lost.jpg", 2, 200, TagLost, Some(TagLost)),
    ]
}

pub(crate) fn overdue() -> Vec<Overdue> {
    let overdue = |path: &str, length, last_proof, standing| Overdue {
        path: PathBuf::from(path),
        length,
        last_proof,
        standing,
    };
    vec![
        overdue("2019/new.jpg", 1_000_000, None, FileState::Fine),
        Overdue {
            path: hostile(),
            ..overdue("", 4_194_304, Some(moment(NOW - 200 * DAY_S)), FileState::Missing)
        },
    ]
}

pub(crate) fn duplicates() -> Vec<Duplicates> {
    let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    vec![
        Duplicates { tag: tag(1), paths: paths(&["2019/a.jpg", "2020/copy of a.jpg"]) },
        Duplicates {
            tag: Tag { length: 1_000, ..tag(2) },
            paths: [paths(&["x", "y"]), vec![hostile()]].concat(),
        },
    ]
}

pub(crate) fn sound() -> CatalogueVerification {
    CatalogueVerification {
        directories: 12,
        entries: 12_400,
        events: 31,
        runs: 5,
        problems: Vec::new(),
    }
}

pub(crate) fn damaged() -> CatalogueVerification {
    let problem = "the catalogue is damaged: a row of `runs` does not fit its check value";
    CatalogueVerification { problems: vec![problem.to_owned()], ..sound() }
}

pub(crate) fn happened(
    run: &RunRecord,
    what: &str,
    standing: FileState,
    before: Option<Tag>,
) -> Happened {
    let at = moment(run.started.seconds + 60);
    Happened { at, what: what.parse().unwrap(), standing, before, other: None, sources: Vec::new() }
}

fn facts() -> FileFacts {
    let tag = tag(2);
    FileFacts { length: tag.length, mtime: tag.mtime, ctime: tag.mtime, inode: 42 }
}

/// A file that was tagged, proved, edited, retagged, and decayed.
pub(crate) fn history() -> History {
    let (tagging, proof, edit) =
        (run(1, "tag", 300, &[]), run(2, "check", 200, &[]), run(3, "check", 110, &[]));
    let (retag, mut broken) = (run(4, "update", 100, &[]), run(5, "check", 20, &[]));
    broken.state = RunState::Interrupted;
    let decay = run(6, "check", 3, &[]);
    let (old, new) = (Some(tag(1)), Some(tag(2)));
    let judged = |run: RunRecord, standing: FileState, tag, happened| HistoryRun {
        verdict: Some(standing.verdict(true)),
        run,
        standing,
        tag,
        happened,
    };
    use FileState::{Corrupt, Fine, Modified};
    let tagged = vec![happened(&tagging, "tagged", Fine, None)];
    let modified = vec![happened(&edit, "modified", Modified, None)];
    let retagged = vec![happened(&retag, "retagged", Fine, old)];
    let corrupt = vec![happened(&decay, "corrupt", Corrupt, None)];
    History {
        path: PathBuf::from("2019/a & b.jpg"),
        now: Some(KnownFile {
            facts: facts(),
            tag: new,
            standing: Corrupt,
            first_run: 1,
            last_checked_run: 6,
            last_proved_run: 5,
        }),
        runs: vec![
            judged(tagging, Fine, old, tagged),
            judged(proof, Fine, old, Vec::new()),
            judged(edit, Modified, old, modified),
            judged(retag, Fine, new, retagged),
            judged(broken, Fine, new, Vec::new()),
            judged(decay, Corrupt, new, corrupt),
        ],
    }
}

/// A file that came from another path, and went on to a third.
pub(crate) fn moved_history() -> History {
    let (came, went) = (run(3, "check", 100, &[]), run(6, "check", 3, &[]));
    let from = Happened {
        other: Some(PathBuf::from("old/a.jpg")),
        ..happened(&came, "moved from", FileState::Fine, None)
    };
    let to = Happened {
        other: Some(PathBuf::from("2020/a.jpg")),
        ..happened(&went, "moved to", FileState::Fine, Some(tag(1)))
    };
    let new = happened(&came, "new", FileState::Fine, None);
    let row = |run, tag, happened| HistoryRun {
        run,
        verdict: Some(Verdict::Intact),
        standing: FileState::Fine,
        tag,
        happened,
    };
    History {
        path: hostile(),
        now: None,
        runs: vec![row(came, Some(tag(1)), vec![new, from]), row(went, None, vec![to])],
    }
}

/// A file that never had a tag, and was seen once.
pub(crate) fn untagged_history() -> History {
    History {
        path: PathBuf::from("notes.txt"),
        now: Some(KnownFile {
            facts: facts(),
            tag: None,
            standing: FileState::Fine,
            first_run: 5,
            last_checked_run: 0,
            last_proved_run: 0,
        }),
        runs: Vec::new(),
    }
}
