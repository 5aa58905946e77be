//! Files that a list speaks of: which records become tags unread, which are read first, and what a
//! check by a list says.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast::import;
use steadfast::reference::Reference;
use steadfast::run::{List, Unlisted, Unnamed, check_listed, compare};
use steadfast::store::foreign::{ForeignTime, Resolution};
use steadfast::{Action, Algorithm, Digest, Event, FileEvent, Monitor, Options, Tag, Timestamp};
use steadfast::{Verb, Verdict};

use crate::catalogue::moment;
use crate::tree::{Tree, set_mtime};

/// When every file of these tests was modified, in seconds.
const MTIME_S: i64 = 1_600_000_000;

const CONTENTS: &[u8] = b"contents";

#[derive(Default)]
struct Events {
    files: BTreeMap<PathBuf, FileEvent>,
    findings: Vec<(&'static str, PathBuf)>,
    notices: Vec<String>,
}

impl Monitor for Events {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::File(event) => {
                self.files.insert(event.path.to_path(), (**event).clone());
            }
            Event::Finding(noted) => {
                self.findings.push((noted.finding.name(), noted.path.clone()));
            }
            Event::Notice(notice) => self.notices.push(notice.to_string()),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn tree(files: &[&str]) -> Tree {
    let tree = Tree::new();
    for name in files {
        let mtime = std::time::UNIX_EPOCH + std::time::Duration::from_secs(MTIME_S as u64);
        set_mtime(&tree.write(name, CONTENTS), mtime);
    }
    tree
}

fn digest(contents: &[u8]) -> Digest {
    steadfast_digest::sha256(contents)
}

/// A record of a digest, made of a tag, with what `change` makes of it.
fn record(contents: &[u8], change: impl FnOnce(&mut Reference)) -> Reference {
    let tag = Tag {
        algorithm: Algorithm::Sha256,
        digest: digest(contents),
        length: contents.len() as u64,
        mtime: moment(MTIME_S),
        tagged: moment(MTIME_S),
    };
    let mut record = Reference::of_tag("manifest", &tag);
    (record.length, record.mtime, record.recorded) = (None, None, None);
    change(&mut record);
    record
}

/// A modification time as a list has it.
fn mtime(seconds: i64) -> Option<ForeignTime> {
    Some(ForeignTime { time: moment(seconds), resolution: Resolution::Second })
}

fn list(records: &[(&str, Option<Reference>)]) -> List {
    let lines: Vec<Result<(PathBuf, Option<Reference>), Unlisted>> =
        records.iter().map(|(name, record)| Ok((PathBuf::from(name), record.clone()))).collect();
    Box::new(lines.into_iter())
}

fn now() -> Timestamp {
    Timestamp { seconds: 1_700_000_000, nanoseconds: 5 }
}

fn options() -> Options {
    crate::tree::usual().with(|options| options.now = now)
}

/// What became of one record: the verdict, whether it became a tag, whether the file was read,
/// whether there was trouble.
type Row = (Option<Verdict>, bool, bool, bool);

fn imported(record: Reference, trust: bool) -> (Row, Option<(Tag, bool)>) {
    let (tree, mut events) = (tree(&["file"]), Events::default());
    let list = list(&[("file", Some(record))]);
    let _summary = import(tree.path(), list, Vec::new(), trust, &options(), &mut events).unwrap();
    let event = events.files.remove(&tree.at("file")).unwrap();
    let tagged = event.action == Some(Action::Tagged);
    let stored = tree.run(Verb::Show).of("file").stored;
    assert_eq!(stored.is_some(), tagged);
    let row = (event.verdict, tagged, event.reading.bytes > 0, event.trouble.is_some());
    (row, stored.map(|tag| (tag, event.reading.bytes > 0)))
}

#[test]
fn records_are_believed_as_far_as_their_times_prove_them() {
    use Verdict::{Corrupt, Differs, Modified, Unreadable};
    let (right, wrong) = (|| record(CONTENTS, |_| {}), || record(b"Contents", |_| {}));
    let with = |mut record: Reference, change: &dyn Fn(&mut Reference)| {
        change(&mut record);
        record
    };
    let timed = |record, seconds| with(record, &|it| it.mtime = mtime(seconds));
    let made = |record, seconds| with(record, &|it| it.recorded = Some(moment(seconds)));
    let long = |record, length| with(record, &|it| it.length = Some(length));
    let none = |record| with(record, &|it| it.digests.clear());
    let rows: [(Reference, bool, Row); 20] = [
        (timed(right(), MTIME_S), false, (None, true, false, false)),
        (timed(wrong(), MTIME_S), false, (None, true, false, false)),
        (timed(right(), MTIME_S - 9), false, (None, true, true, false)),
        (timed(right(), MTIME_S + 9), true, (None, true, true, false)),
        (timed(wrong(), MTIME_S - 9), true, (Some(Modified), false, true, false)),
        (made(wrong(), MTIME_S + 1), false, (None, true, false, false)),
        (made(right(), MTIME_S), false, (None, true, true, false)),
        (made(wrong(), MTIME_S), false, (Some(Modified), false, true, false)),
        (made(wrong(), MTIME_S - 1), false, (Some(Modified), false, true, false)),
        (
            made(timed(wrong(), MTIME_S - 9), MTIME_S + 9),
            false,
            (Some(Modified), false, true, false),
        ),
        (right(), false, (None, true, true, false)),
        (wrong(), false, (Some(Differs), false, true, false)),
        (wrong(), true, (None, true, false, false)),
        (long(wrong(), 8), true, (None, true, false, false)),
        (long(wrong(), 9), true, (Some(Differs), false, false, false)),
        (long(timed(right(), MTIME_S), 9), false, (Some(Corrupt), false, false, false)),
        (long(made(right(), MTIME_S + 1), 7), false, (Some(Corrupt), false, false, false)),
        (none(right()), true, (Some(Unreadable), false, false, true)),
        (none(long(right(), 8)), true, (Some(Unreadable), false, false, true)),
        (none(long(right(), 9)), true, (Some(Differs), false, false, false)),
    ];
    for (number, (record, trust, row)) in rows.into_iter().enumerate() {
        let recorded = record.recorded;
        let (found, stored) = imported(record.clone(), trust);
        assert_eq!(found, row, "row {number}");
        let Some((tag, read)) = stored else { continue };
        assert_eq!((tag.algorithm, tag.digest), record.digests[0], "row {number}");
        assert_eq!((tag.length, tag.mtime), (8, moment(MTIME_S)), "row {number}");
        // What is believed was tagged when it was recorded; what is read, now.
        let tagged = recorded.filter(|_| !read).unwrap_or(moment(now().seconds));
        assert_eq!(tag.tagged, tagged, "row {number}");
    }
}

#[test]
fn a_list_never_replaces_a_tag() {
    let tree = tree(&["same", "other", "another algorithm", "unlisted digest"]);
    tree.run(Verb::tag());
    let blake3 = record(CONTENTS, |it| it.digests = vec![(Algorithm::Blake3, digest(b"x"))]);
    let list = list(&[
        ("same", Some(record(CONTENTS, |_| {}))),
        ("other", Some(record(b"Contents", |_| {}))),
        ("another algorithm", Some(blake3)),
        ("unlisted digest", None),
    ]);
    let before = tree.run(Verb::Show).of("other").stored;
    let mut events = Events::default();
    let extra = vec![PathBuf::from("extra")];
    let summary = import(tree.path(), list, extra, true, &options(), &mut events).unwrap();
    let found = |name: &str| {
        let event = &events.files[&tree.at(name)];
        (event.action, event.trouble.is_some(), event.reading.bytes)
    };
    let kept = (Some(Action::Kept), false, 0);
    assert_eq!(found("same"), kept);
    assert_eq!(found("other"), (None, true, 0));
    assert_eq!(found("another algorithm"), kept);
    assert_eq!(found("unlisted digest"), kept);
    assert_eq!(tree.run(Verb::Show).of("other").stored, before);
    assert_eq!(events.findings, [("extra", tree.at("extra"))]);
    assert_eq!(summary.exit_status().code(), 1);
}

#[test]
fn a_check_by_a_list_falls_back_to_tags() {
    let names = ["right", "wrong", "tagged", "decayed", "untagged", "no digest"];
    let tree = tree(&names);
    tree.run(Verb::tag());
    tree.corrupt("decayed", "Contents");
    tree.corrupt("wrong", "Contents");
    tree.corrupt("untagged", "Contents");
    let untagged = steadfast_sys::file::File::open(&tree.at("untagged")).unwrap();
    steadfast_sys::xattr::remove(&untagged, steadfast_sys::xattr::TAG).unwrap();
    let known = || Some(record(CONTENTS, |it| it.mtime = mtime(MTIME_S)));
    let empty = Some(record(CONTENTS, |it| it.digests.clear()));
    let records = || {
        list(&[
            ("right", known()),
            ("wrong", known()),
            ("tagged", None),
            ("decayed", None),
            ("untagged", None),
            ("no digest", empty.clone()),
            ("missing", known()),
        ])
    };
    let mut events = Events::default();
    let summary = check_listed(tree.path(), records(), false, &options(), &mut events).unwrap();
    let of = |events: &Events, name: &str| events.files[&tree.at(name)].verdict;
    use Verdict::{Corrupt, Intact, Missing, Unreadable, Untagged};
    let verdicts = names.map(|name| of(&events, name));
    let expected = [Intact, Corrupt, Intact, Corrupt, Untagged, Unreadable].map(Some);
    assert_eq!((verdicts, summary.exit_status().code()), (expected, 3));
    assert_eq!(of(&events, "missing"), Some(Missing));
    let mut events = Events::default();
    let extra = vec![PathBuf::from("extra")];
    let summary =
        compare(tree.path(), records(), Unnamed::Known(extra), false, &options(), &mut events)
            .unwrap();
    let verdicts = ["right", "wrong", "tagged"].map(|name| of(&events, name));
    assert_eq!(verdicts, [Intact, Corrupt, Unreadable].map(Some));
    assert_eq!(
        (events.findings, summary.exit_status().code()),
        (vec![("extra", tree.at("extra"))], 3)
    );
}

#[test]
fn a_list_beneath_the_current_folder_names_what_it_misses_by_itself() {
    let (mut events, extra) = (Events::default(), vec![PathBuf::from("extra")]);
    let (root, none) = (Path::new("."), list(&[]));
    let summary =
        compare(root, none, Unnamed::Known(extra), false, &options(), &mut events).unwrap();
    assert_eq!(events.findings, [("extra", PathBuf::from("extra"))]);
    assert_eq!((events.notices.len(), summary.files, summary.exit_status().code()), (1, 0, 1));
}
