//! Facts to render: events and ends of runs that never happened.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use steadfast::ExitStatus;
use steadfast::VerbKind;
use steadfast::cost::{EnergyReading, Role, ThreadCost};
use steadfast::event::FileError;
use steadfast::{
    Account, Action, Algorithm, Cost, Digest, Event, FileEvent, FilePath, Notice, Origin, Skipped,
    Stage, Subject, Summary, Tag, Timestamp, Verdict,
};
use steadfast_report::{Output, Renderer};

pub(crate) fn tag(content: u8, length: u64, mtime_s: i64) -> Tag {
    Tag {
        algorithm: Algorithm::Sha256,
        digest: Digest::from_slice(&[content; 32]).unwrap(),
        length,
        mtime: Timestamp { seconds: mtime_s, nanoseconds: 123_456_789 },
        tagged: Timestamp { seconds: 1_763_650_000, nanoseconds: 0 },
    }
}

pub(crate) fn event(name: &[u8], verdict: Option<Verdict>) -> FileEvent {
    let parent = Arc::from(Path::new("photos"));
    let mut event = FileEvent::new(FilePath { parent, name: OsStr::from_bytes(name).into() });
    event.verdict = verdict;
    event
}

/// Wraps what is known of a file for a renderer.
pub(crate) fn said(event: FileEvent) -> Event {
    Event::File(Box::new(event))
}

fn read(name: &str, verdict: Verdict, stored: Option<Tag>, actual: Tag) -> FileEvent {
    let mut event = event(name.as_bytes(), Some(verdict));
    event.stored = stored;
    event.actual = Some(actual);
    event.reading.bytes = actual.length;
    event.reading.elapsed_ns = 1_750_000;
    event.reading.origin = Some(Origin::Cache);
    event
}

const MARCH: i64 = 1_709_294_405;
const APRIL: i64 = 1_712_000_000;

/// What a check of a small tree with one of everything says.
pub(crate) fn check_events() -> Vec<Event> {
    let stored = tag(1, 4_194_304, MARCH);
    let mut unreadable = event(b"locked.jpg", Some(Verdict::Unreadable));
    unreadable.trouble = Some(FileError::new("open", "permission denied"));
    let mut directory = event(b"closed", Some(Verdict::Unreadable));
    directory.subject = Subject::Directory;
    directory.trouble = unreadable.trouble.clone();
    let mut linked = read("link.jpg", Verdict::Intact, Some(stored), stored);
    linked.reading.linked = true;
    linked.reading.bytes = 0;
    let mut unstable = event(b"growing.log", Some(Verdict::Unstable));
    unstable.stored = Some(stored);
    let reason = "the file changed meanwhile".to_owned();
    unstable.trouble = Some(FileError::new("read it whole", reason));
    unstable.reading.bytes = 4096;
    let files = vec![
        read("a.jpg", Verdict::Intact, Some(stored), stored),
        read("b.jpg", Verdict::Touched, Some(stored), tag(1, 4_194_304, APRIL)),
        read("rotten.jpg", Verdict::Corrupt, Some(stored), tag(2, 4_194_304, MARCH)),
        read("cut.jpg", Verdict::Corrupt, Some(stored), tag(3, 4_190_208, MARCH)),
        read("notes.txt", Verdict::Modified, Some(stored), tag(4, 4_194_310, APRIL)),
        read("same-size.txt", Verdict::Modified, Some(stored), tag(5, 4_194_304, APRIL)),
        event(b"new.jpg", Some(Verdict::Untagged)),
        event(b"not utf-8 \xff\n\x1b[31m", Some(Verdict::Untagged)),
        unstable,
        unreadable,
        directory,
        linked,
    ];
    let notice = Notice::new("given more than once: taken once").at(Path::new("photos"));
    files.into_iter().map(said).chain([Event::Notice(notice)]).collect()
}

fn thread(name: &str, role: Role, stages: &[(Stage, u64, u64)]) -> ThreadCost {
    let mut cost = Cost::default();
    for &(stage, elapsed_ms, waited_ms) in stages {
        cost.add(stage, elapsed_ms * 1_000_000);
        cost.add_waited(stage, waited_ms * 1_000_000);
        if stage != Stage::Wait {
            cost.processor_ns += (elapsed_ms - waited_ms) * 1_000_000;
        }
    }
    ThreadCost { name: name.to_owned(), role, lifetime_ns: cost.total_ns(), cost }
}

/// Two workers that hash most of the time, and what else there is.
fn account() -> Account {
    let worker = [
        (Stage::Open, 800, 100),
        (Stage::Read, 2_800, 200),
        (Stage::Hash, 37_000, 0),
        (Stage::Store, 40, 0),
        (Stage::Wait, 450, 0),
    ];
    Account {
        elapsed_ns: 41_200_000_000,
        processors: 2,
        workers: 2,
        reads_at_a_time: None,
        threads: vec![
            thread("worker 0", Role::Worker, &worker),
            thread("worker 1", Role::Worker, &worker),
            thread("reader 0", Role::Reader, &[(Stage::Read, 900, 700), (Stage::Wait, 40_000, 0)]),
            thread("reader 1", Role::Reader, &[(Stage::Wait, 40_900, 0)]),
            thread("walk", Role::Walk, &[(Stage::Walk, 20, 5), (Stage::Wait, 40_900, 0)]),
            thread("report", Role::Report, &[(Stage::Report, 70, 0), (Stage::Wait, 40_900, 0)]),
        ],
        storage_ns: 19_000_000_000,
        rate_limit_ns: 0,
        longest_file_ns: 4_100_000_000,
        energy: EnergyReading {
            cpu_ns: 80_000_000_000,
            performance_cpu_ns: Some(60_000_000_000),
            energy_nj: Some(412_000_000_000),
            performance_energy_nj: Some(380_000_000_000),
            levels: vec![("background", 0), ("default", 80_000_000_000)],
            of_machine: false,
        },
    }
}

/// Makes the end of a run with so many events of each verdict or action.
fn end(counts: &[(Option<Verdict>, Option<Action>, u64)], status: ExitStatus) -> Summary {
    let mut end = Summary::default();
    for (verdict, action, files) in counts {
        let mut event = FileEvent::new(FilePath::whole(Path::new("file")));
        (event.verdict, event.action) = (*verdict, *action);
        (0..*files).for_each(|_| end.count(&event, status));
    }
    end.bytes = 98_700_000_000;
    end.elapsed_ns = 41_200_000_000;
    end.means.workers = 2;
    end.means.backend = "x86_shani x2".to_owned();
    end.means.engine = "buffered";
    (end.skipped.symlinks, end.skipped.special) = (3, 1);
    end.account = account();
    end
}

pub(crate) fn check_end() -> Summary {
    use Verdict::{Corrupt, Intact, Modified, Touched, Unreadable, Unstable, Untagged};
    let counts = [
        (Corrupt, 2),
        (Modified, 2),
        (Unreadable, 2),
        (Untagged, 2),
        (Unstable, 1),
        (Touched, 1),
        (Intact, 12_335),
    ];
    let counts = counts.map(|(verdict, files)| (Some(verdict), None, files));
    let mut end = end(&counts, ExitStatus::Corrupt);
    end.verb = VerbKind::Check;
    end
}

/// Makes the end of a check that was interrupted before it read anything.
pub(crate) fn interrupted_end() -> Summary {
    let mut end = end(&[(None, None, 1)], ExitStatus::Corrupt);
    (end.verb, end.interrupted, end.elapsed_ns) = (VerbKind::Check, true, 850_000_000);
    (end.bytes, end.skipped) = (0, Skipped::default());
    end
}

/// What tagging a small tree says.
pub(crate) fn tag_events() -> Vec<Event> {
    let actual = tag(1, 4_194_304, MARCH);
    let mut tagged = read("a.jpg", Verdict::Untagged, None, actual);
    (tagged.verdict, tagged.action) = (None, Some(Action::Tagged));
    let mut kept = event(b"b.jpg", None);
    (kept.stored, kept.action) = (Some(actual), Some(Action::Kept));
    let mut failed = read("c.jpg", Verdict::Untagged, None, actual);
    failed.verdict = None;
    failed.trouble = Some(FileError::new("set the tag", "no space left on device"));
    [tagged, kept, failed].into_iter().map(said).collect()
}

pub(crate) fn tag_end(dry_run: bool) -> Summary {
    let counts = [(None, Some(Action::Tagged), 11), (None, Some(Action::Kept), 1), (None, None, 1)];
    let mut end = end(&counts, ExitStatus::Undetermined);
    (end.verb, end.dry_run) = (VerbKind::Tag, dry_run);
    (end.bytes, end.elapsed_ns) = (50_331_648, 21_000_000);
    end.counts.failed = 1;
    end
}

/// What `show` says of three files.
pub(crate) fn show_events() -> Vec<Event> {
    let mut tagged = event(b"a.jpg", None);
    tagged.stored = Some(tag(2, 4_194_304, APRIL));
    tagged.previous = Some(Box::new(tag(1, 1, MARCH)));
    let mut damaged = event(b"b.jpg", Some(Verdict::Unreadable));
    let reason = "the tag is damaged: its check value does not fit".to_owned();
    damaged.trouble = Some(FileError::new("read the tag", reason));
    let untagged = event(b"c.jpg", Some(Verdict::Untagged));
    [tagged, damaged, untagged].into_iter().map(said).collect()
}

/// Renders a whole document.
pub(crate) fn document(renderer: &mut dyn Renderer, events: &[Event], end: &Summary) -> Output {
    let mut output = Output::default();
    for event in events {
        renderer.event(event, &mut output);
    }
    renderer.end(end, &mut output);
    output
}
