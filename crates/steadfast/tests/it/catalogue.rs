//! The catalogue on real trees: what is new, gone, moved, lost and replaced; what a walk hides.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::catalogue::{
    Catalogue, CatalogueErrorKind, FileHistoryEvent, FileState, Finding, LockRequest, Observation,
    RunRecord, RunScope, RunStart, RunState,
};
use steadfast::tag::TagPlace;
use steadfast::verdict::{ChangeEvidence, Judgement, Reading, Stored};
use steadfast::{Action, Algorithm, Selection, Tag, Timestamp, Verdict};
use steadfast::{FilePath, Origin, Subject, VerbKind};
use steadfast_digest::AlgorithmHasher;
use steadfast_sys::file::{FileKind, Status};
use steadfast_testing::{Need, skip};

use crate::tree::Tree;

/// Seconds in a day.
pub(crate) const DAY_S: i64 = 86_400;

/// A tree whose tags are in a table beside it, and runs over it: a run of the library as the
/// catalogue sees one, on any file system and by a clock that tests set.
pub(crate) struct Garden {
    pub(crate) tree: Tree,
    pub(crate) file: PathBuf,
    /// The attributes, by path from the root.
    pub(crate) attributes: BTreeMap<PathBuf, Tag>,
    pub(crate) now: i64,
}

/// How a run is carried out.
#[derive(Default)]
pub(crate) struct Way<'a> {
    pub(crate) verb: &'a str,
    /// Paths from the root at which walks begin; the root if there are none.
    pub(crate) roots: Vec<&'a str>,
    /// Names that the walk passes by.
    pub(crate) excluded: Vec<&'a str>,
    /// Directories that cannot be listed.
    pub(crate) unreadable: Vec<&'a str>,
    /// Files that come by before the run is told to stop.
    pub(crate) stop_after: Option<usize>,
    /// Findings after which the user stops the search for missing files.
    pub(crate) stop_at_finding: Option<usize>,
    /// Single files instead of a walk.
    pub(crate) files: Option<Vec<PathBuf>>,
    /// Files that lack the attribute and are judged by the catalogue's tag.
    pub(crate) from_catalogue: bool,
    /// Kept open by the run: what it is told to do afterwards.
    pub(crate) tick_each: bool,
}

/// What a run over a garden said.
pub(crate) struct Told {
    pub(crate) findings: Vec<Finding>,
    pub(crate) record: RunRecord,
    /// The verdict that each file was left with, if the run judged it.
    pub(crate) verdicts: Vec<(PathBuf, Verdict)>,
}

impl Told {
    /// Returns the names and paths of all findings.
    pub(crate) fn all(&self) -> Vec<String> {
        let named = |finding: &Finding| match finding {
            Finding::Moved { from, to, .. } => {
                format!("moved {} {}", from.display(), to.display())
            }
            other => format!("{} {}", other.name(), other.path().display()),
        };
        self.findings.iter().map(named).collect()
    }
}

pub(crate) fn moment(seconds: i64) -> Timestamp {
    Timestamp { seconds, nanoseconds: 0 }
}

/// A writer that waits: a child process of another test may hold a lock for the moment between its
/// making and its start.
pub(crate) fn writer(now: i64) -> LockRequest<'static> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    LockRequest { verb: VerbKind::Check, now: moment(now), wait: Some(&NEVER) }
}

impl Garden {
    /// Makes a tree of these files, each holding its own name, and a catalogue without anything.
    pub(crate) fn new(files: &[&str]) -> Garden {
        Garden::in_tree(Tree::new(), files)
    }

    fn in_tree(tree: Tree, files: &[&str]) -> Garden {
        for name in files {
            tree.write(name, name);
        }
        let now = 1_700_000_000;
        let catalogue = Catalogue::create(tree.path(), None, &writer(now)).unwrap();
        let file = catalogue.file().to_owned();
        Garden { tree, file, attributes: BTreeMap::new(), now }
    }

    /// Makes it, tags everything and checks it once.
    pub(crate) fn planted(files: &[&str]) -> Garden {
        Garden::new(files).tagged()
    }

    /// The same, where nothing waits for a disk.
    pub(crate) fn planted_in_memory(files: &[&str]) -> Garden {
        Garden::in_tree(Tree::in_memory(), files).tagged()
    }

    fn tagged(self) -> Garden {
        let mut garden = self;
        garden.run(&Way { verb: "tag", ..Way::default() });
        assert_eq!(garden.check().all(), [""; 0]);
        garden
    }

    pub(crate) fn reader(&self) -> Catalogue {
        Catalogue::open_reader(&self.file).unwrap()
    }

    pub(crate) fn check(&mut self) -> Told {
        self.run(&Way { verb: "check", ..Way::default() })
    }

    pub(crate) fn remove(&mut self, name: &str) {
        fs::remove_file(self.tree.at(name)).unwrap();
        self.attributes.remove(Path::new(name));
    }

    /// Renames a file or a folder; attributes go with it.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        fs::create_dir_all(self.tree.at(to).parent().unwrap()).unwrap();
        fs::rename(self.tree.at(from), self.tree.at(to)).unwrap();
        let moved = |path: PathBuf| match path.strip_prefix(from) {
            Ok(rest) if rest.as_os_str().is_empty() => PathBuf::from(to),
            Ok(rest) => Path::new(to).join(rest),
            Err(_) => path,
        };
        let attributes = std::mem::take(&mut self.attributes);
        self.attributes = attributes.into_iter().map(|(path, tag)| (moved(path), tag)).collect();
    }

    /// Carries a run out, an hour after the last one.
    pub(crate) fn run(&mut self, way: &Way<'_>) -> Told {
        self.now += 3600;
        let catalogue = Catalogue::open_writer(&self.file, &writer(self.now)).unwrap();
        catalogue.guard().unwrap();
        self.run_on(catalogue, way)
    }

    pub(crate) fn run_on(&mut self, catalogue: Catalogue, way: &Way<'_>) -> Told {
        let root = catalogue.root().to_owned();
        let roots = match way.roots.as_slice() {
            [] => vec![root.clone()],
            some => some.iter().map(|path| root.join(path)).collect(),
        };
        let scope = match &way.files {
            Some(_) => RunScope::files_beneath(&root),
            None => RunScope::of(&root, &Selection::of(roots.clone())),
        };
        let accepts = way.verb == "update";
        let now = moment(self.now);
        let begin = RunStart {
            verb: way.verb.parse().unwrap(),
            read_from: Some(Origin::Cache),
            backend: "test x1",
            now,
            accepts,
        };
        let mut recorder = catalogue.recorder(scope, &begin).unwrap();
        let (mut findings, mut verdicts) = (Vec::new(), Vec::new());
        let files = match &way.files {
            Some(files) => files.iter().map(|path| (root.join(path), false)).collect(),
            None => walked(&roots, way),
        };
        let mut parents = Parents::default();
        let stop = way.stop_after.unwrap_or(usize::MAX);
        for (path, trouble) in files.iter().take(stop) {
            let relative = path.strip_prefix(&root).unwrap();
            let path = parents.path(path);
            let observation = if *trouble {
                unreadable_directory(&path)
            } else {
                self.judge(&path, relative, way)
            };
            let observation = Observation { path: &path, ..observation };
            let verdict = match observation.action {
                Some(Action::Tagged | Action::Retagged) => Some(Verdict::Intact),
                _ => observation.verdict,
            };
            verdicts.extend(verdict.map(|verdict| (relative.to_owned(), verdict)));
            recorder.observe(&observation, &mut |finding| findings.push(finding)).unwrap();
            if way.tick_each {
                self.now += 2;
                recorder.tick(moment(self.now)).unwrap();
            }
        }
        let whole = way.stop_after.is_none();
        let stop = Arc::new(AtomicBool::new(way.stop_at_finding == Some(0)));
        recorder.stop_by(Arc::clone(&stop));
        let record = recorder.finish(whole, moment(self.now), &mut |finding| {
            findings.push(finding);
            stop.fetch_or(way.stop_at_finding == Some(findings.len()), Ordering::Relaxed);
        });
        Told { findings, record: record.unwrap(), verdicts }
    }

    /// Returns the paths that a walk over the whole tree comes upon, in its order.
    pub(crate) fn paths(&self, root: &Path) -> Vec<FilePath> {
        let mut parents = Parents::default();
        let files = walked(&[root.to_owned()], &Way::default());
        files.iter().map(|(path, _)| parents.path(path)).collect()
    }

    /// Tags files that are nowhere but in the catalogue, until it refuses; says how many files it
    /// has more, and why it refused.
    pub(crate) fn pretend(&mut self, names: &[PathBuf]) -> (u64, Option<CatalogueErrorKind>) {
        let before = self.reader().entries().unwrap();
        let catalogue = Catalogue::open_writer(&self.file, &writer(self.now)).unwrap();
        let root = catalogue.root().to_owned();
        let now = moment(self.now);
        let begin = RunStart {
            verb: VerbKind::Tag,
            read_from: Some(Origin::Cache),
            backend: "test x1",
            now,
            accepts: false,
        };
        let mut recorder = catalogue.recorder(RunScope::files_beneath(&root), &begin).unwrap();
        let (some, tag) = self.attributes.iter().next().unwrap();
        let status = Status::of(&root.join(some)).ok();
        let mut parents = Parents::default();
        let mut refused = None;
        for name in names {
            let path = parents.path(&root.join(name));
            let observation = Observation {
                path: &path,
                subject: Subject::File,
                status,
                verdict: None,
                action: Some(Action::Tagged),
                stored: None,
                actual: Some(*tag),
                place: TagPlace::CatalogueAlone,
                attributes: None,
            };
            self.now += 2;
            let kept = recorder.observe(&observation, &mut |_| {});
            refused = kept.and_then(|()| recorder.tick(moment(self.now))).err();
            if refused.is_some() {
                break;
            }
        }
        drop(recorder);
        (self.reader().entries().unwrap() - before, refused.map(|error| error.kind()))
    }

    /// Does with one file what a verb does, with the table in place of attributes.
    pub(crate) fn judge<'a>(
        &mut self,
        path: &'a FilePath,
        relative: &Path,
        way: &Way<'_>,
    ) -> Observation<'a> {
        let whole = path.to_path();
        let attribute = self.attributes.get(relative).copied();
        let (stored, place) = match attribute {
            None if way.from_catalogue => {
                (self.reader().tag(relative).unwrap(), TagPlace::Catalogue)
            }
            attribute => (attribute, TagPlace::Attribute),
        };
        let place = if stored.is_none() { TagPlace::Attribute } else { place };
        let mut observation = Observation {
            path,
            subject: Subject::File,
            status: Status::of_link(&whole).ok(),
            verdict: None,
            action: None,
            stored,
            actual: None,
            place,
            attributes: None,
        };
        let Ok(contents) = fs::read(&whole) else {
            observation.verdict = Some(Verdict::Unreadable);
            observation.status = None;
            observation.stored = None;
            return observation;
        };
        let mut hasher = AlgorithmHasher::new(Algorithm::Blake3);
        hasher.update(&contents);
        let actual = Tag {
            algorithm: Algorithm::Blake3,
            digest: hasher.finalize(),
            length: contents.len() as u64,
            mtime: observation.status.unwrap().mtime,
            tagged: moment(self.now),
        };
        let verdict = stored.as_ref().map_or(Verdict::Untagged, |stored| {
            let reading = Reading::Whole(&actual);
            Judgement::of(Stored::Tag(stored), reading, || ChangeEvidence::NotKnown).verdict
        });
        match (way.verb, stored) {
            ("tag" | "update", None) => {
                observation.action = Some(Action::Tagged);
                observation.actual = Some(actual);
                self.attributes.insert(relative.to_owned(), actual);
            }
            ("tag", Some(_)) => observation.action = Some(Action::Kept),
            ("update", Some(_)) if verdict == Verdict::Modified => {
                observation.verdict = Some(verdict);
                observation.action = Some(Action::Retagged);
                observation.actual = Some(actual);
                self.attributes.insert(relative.to_owned(), actual);
            }
            _ => {
                observation.verdict = Some(verdict);
                observation.actual = stored.map(|_| actual);
            }
        }
        observation
    }
}

/// Paths whose parents are shared, as a walk's are.
#[derive(Default)]
struct Parents {
    last: Option<Arc<Path>>,
}

impl Parents {
    fn path(&mut self, path: &Path) -> FilePath {
        let parent = path.parent().unwrap();
        if self.last.as_ref().is_none_or(|last| **last != *parent) {
            self.last = Some(Arc::from(parent));
        }
        let parent = Arc::clone(self.last.as_ref().unwrap());
        FilePath { parent, name: path.file_name().unwrap().to_owned() }
    }
}

fn unreadable_directory(path: &FilePath) -> Observation<'_> {
    Observation {
        path,
        subject: Subject::Directory,
        status: None,
        verdict: Some(Verdict::Unreadable),
        action: None,
        stored: None,
        actual: None,
        place: TagPlace::Attribute,
        attributes: None,
    }
}

/// Lists files in walk order; directories that cannot be listed are marked.
fn walked(roots: &[PathBuf], way: &Way<'_>) -> Vec<(PathBuf, bool)> {
    fn descend(path: &Path, root: &Path, way: &Way<'_>, found: &mut Vec<(PathBuf, bool)>) {
        let name = path.file_name().unwrap();
        let relative = path.strip_prefix(root).unwrap_or(path);
        let is = |names: &[&str]| {
            names.iter().any(|other| OsStr::new(other) == name || Path::new(other) == relative)
        };
        if name == OsStr::new(".steadfast") || is(&way.excluded) {
            return;
        }
        let Ok(status) = Status::of_link(path) else { return };
        match status.kind {
            FileKind::Regular => found.push((path.to_owned(), false)),
            FileKind::Directory if is(&way.unreadable) => found.push((path.to_owned(), true)),
            FileKind::Directory => {
                let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
                let names: BTreeSet<OsString> = entries.collect();
                for name in names {
                    descend(&path.join(name), root, way, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for root in roots {
        descend(root, &roots[0], way, &mut found);
    }
    found
}

#[test]
fn nothing_is_said_of_a_tree_in_which_nothing_changed() {
    let mut garden = Garden::planted(&["a", "b/c", "b/d/e", "f"]);
    for _ in 0..3 {
        let told = garden.check();
        assert_eq!(told.all(), [""; 0]);
        assert_eq!(told.record.state, RunState::Whole);
        assert_eq!(told.record.counts, BTreeMap::from([("intact".to_owned(), 4)]));
    }
    let verification = garden.reader().verify().unwrap();
    assert_eq!(verification.problems, [""; 0]);
    assert_eq!((verification.directories, verification.entries), (3, 4));
    assert_eq!(verification.events, 0, "the first run tagged all, and nothing happened since");
}

#[test]
fn gone_new_and_moved_files_are_told_apart() {
    let mut garden = Garden::planted(&["a", "b/c", "b/d", "e"]);
    garden.remove("a");
    garden.rename("b/c", "z/other");
    garden.tree.write("b/new", "new");
    let told = garden.check();
    let expected = ["new b/new", "new z/other", "missing a", "moved b/c z/other"];
    assert_eq!(told.all(), expected);
    assert_eq!(garden.check().all(), ["missing a"], "until somebody accepts it");
    garden.tree.write("a", "a");
    assert_eq!(garden.check().all(), ["returned a", "tag lost a"], "it was restored without");
}

#[test]
fn a_file_that_comes_back_is_no_news_the_next_time() {
    let mut garden = Garden::planted(&["a", "b"]);
    let elsewhere = Tree::new();
    fs::rename(garden.tree.at("a"), elsewhere.at("a")).unwrap();
    assert_eq!(garden.check().all(), ["missing a"]);
    fs::rename(elsewhere.at("a"), garden.tree.at("a")).unwrap();
    assert_eq!(garden.check().all(), ["returned a"]);
    assert_eq!(garden.check().all(), [""; 0]);
}

#[test]
fn verbs_that_accept_changes_settle_what_is_missing() {
    let mut garden = Garden::planted(&["a", "b"]);
    garden.remove("a");
    assert_eq!(garden.check().all(), ["missing a"]);
    let told = garden.run(&Way { verb: "update", ..Way::default() });
    assert!(matches!(told.findings[..], [Finding::Missing { known: true, accepted: true, .. }]));
    assert_eq!(garden.check().all(), [""; 0]);
    assert_eq!(garden.reader().tag(Path::new("a")).unwrap(), None);
    assert_eq!(garden.reader().entries().unwrap(), 1);
}

#[test]
fn a_renamed_folder_is_a_move_of_each_file_to_its_own_name() {
    // All of the same contents, so that only names pair them.
    let mut garden = Garden::new(&[]);
    for name in ["old/x", "old/y", "old/deep/z"] {
        garden.tree.write(name, "same");
    }
    garden.run(&Way { verb: "tag", ..Way::default() });
    garden.check();
    garden.rename("old", "young");
    let moved: Vec<String> = garden.check().all().split_off(3);
    let expected = ["moved old/x young/x", "moved old/y young/y", "moved old/deep/z young/deep/z"];
    assert_eq!(moved, expected);
    assert_eq!(garden.check().all(), [""; 0]);
}

#[test]
fn empty_files_move_under_their_own_name_or_as_the_same_file() {
    let mut garden = Garden::new(&[]);
    // Files that are written within one tick of the clock have the same time.
    for (name, seconds) in [("a", 1), ("b", 2), ("e", 3)] {
        garden.tree.write(name, "");
        let file = fs::File::options().write(true).open(garden.tree.path().join(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
    }
    garden.run(&Way { verb: "tag", ..Way::default() });
    garden.rename("a", "d/a");
    garden.remove("b");
    // It may get the inode of the one that was removed, but its time is another.
    garden.tree.write("c", "");
    let file = fs::File::options().write(true).open(garden.tree.path().join("c")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    garden.attributes.insert(PathBuf::from("c"), garden.attributes[Path::new("d/a")]);
    garden.rename("e", "f");
    let told = garden.check().all();
    assert_eq!(told, ["new d/a", "new c", "new f", "moved a d/a", "missing b", "moved e f"]);
}

#[test]
fn what_the_walk_hides_is_not_missing() {
    let mut garden = Garden::planted(&["a.tmp", "b/c", "d/e/f", "g"]);
    let excluded = Way { verb: "check", excluded: vec!["a.tmp", "b"], ..Way::default() };
    assert_eq!(garden.run(&excluded).all(), [""; 0]);
    let unreadable = Way { verb: "check", unreadable: vec!["d"], ..Way::default() };
    garden.remove("d/e/f");
    assert_eq!(garden.run(&unreadable).all(), [""; 0], "nobody could look");
    let interrupted = Way { verb: "check", stop_after: Some(1), ..Way::default() };
    assert_eq!(garden.run(&interrupted).all(), [""; 0]);
    let elsewhere = Way { verb: "check", roots: vec!["b"], ..Way::default() };
    assert_eq!(garden.run(&elsewhere).all(), [""; 0]);
    assert_eq!(garden.check().all(), ["missing d/e/f"]);
}

#[test]
fn a_part_of_the_tree_is_judged_by_itself() {
    let mut garden = Garden::planted(&["a", "b/c", "b/d"]);
    garden.remove("a");
    garden.remove("b/c");
    let part = Way { verb: "check", roots: vec!["b"], ..Way::default() };
    assert_eq!(garden.run(&part).all(), ["missing b/c"]);
    garden.remove("b/d");
    let told = garden.run(&part);
    assert_eq!(told.all(), ["missing b/c", "missing b/d"], "an empty folder has no events");
}

#[test]
fn an_empty_folder_and_a_folder_that_is_gone_lose_their_files() {
    let mut garden = Garden::planted(&["a/b/c", "a/b/d", "e/f", "g"]);
    garden.remove("a/b/c");
    garden.remove("a/b/d");
    fs::remove_dir_all(garden.tree.at("e")).unwrap();
    assert_eq!(garden.check().all(), ["missing a/b/c", "missing a/b/d", "missing e/f"]);
}

#[test]
fn a_volume_that_is_not_mounted_does_not_lose_its_files() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return skip(Need::Root, "only root mounts");
    }
    let mut garden = Garden::new(&["a"]);
    let inside = garden.tree.at("m/n");
    fs::create_dir_all(&inside).unwrap();
    let mount = crate::image::Mount::tmpfs(&inside);
    for name in ["m/n/b", "m/n/c/d"] {
        garden.tree.write(name, name);
    }
    garden.run(&Way { verb: "tag", ..Way::default() });
    assert_eq!(garden.check().all(), [""; 0]);
    fs::remove_file(inside.join("b")).unwrap();
    assert_eq!(garden.check().all(), ["missing m/n/b"], "while it is mounted, gone is gone");
    drop(mount);
    let told = garden.check();
    assert!(matches!(&told.findings[..], [Finding::Unmounted { path, entries: 2 }]
        if path == Path::new("m/n")));
    fs::remove_dir(&inside).unwrap();
    assert_eq!(garden.check().all(), ["unmounted m/n"]);
}

#[test]
fn something_else_in_a_files_place_is_no_file() {
    let mut garden = Garden::planted(&["a", "b", "c"]);
    garden.remove("a");
    fs::create_dir(garden.tree.at("a")).unwrap();
    garden.remove("b");
    std::os::unix::fs::symlink("c", garden.tree.at("b")).unwrap();
    let told = garden.check();
    let instead = told.findings.iter().map(|finding| match finding {
        Finding::Missing { instead, .. } => *instead,
        other => panic!("{other:?}"),
    });
    let instead = instead.collect::<Vec<_>>();
    assert_eq!(instead, [Some(FileKind::Directory), Some(FileKind::Symlink)]);
}

#[test]
fn an_attribute_that_went_or_was_replaced_is_noticed() {
    let mut garden = Garden::planted(&["a", "b", "c"]);
    let kept = garden.attributes.clone();
    garden.attributes.remove(Path::new("a"));
    let other = Tag { digest: kept[Path::new("c")].digest, ..kept[Path::new("b")] };
    garden.attributes.insert(PathBuf::from("b"), other);
    for _ in 0..2 {
        assert_eq!(garden.check().all(), ["tag lost a", "tag replaced b"]);
    }
    let judged = Way { verb: "check", from_catalogue: true, ..Way::default() };
    assert_eq!(garden.run(&judged).all(), ["tag lost a", "tag replaced b"]);
    let reader = garden.reader();
    for name in ["a", "b"] {
        assert_eq!(reader.tag(Path::new(name)).unwrap(), Some(kept[Path::new(name)]), "{name}");
    }
    garden.attributes = kept;
    assert_eq!(garden.check().all(), [""; 0]);
}

#[test]
fn a_replaced_tag_hides_no_decay() {
    const CONTENTS: &str = "by another program";
    let mut garden = Garden::planted(&["decayed", "fits"]);
    for name in ["decayed", "fits"] {
        let path = garden.tree.write(name, CONTENTS);
        let mtime = Status::of(&path).unwrap().mtime;
        let mut hasher = AlgorithmHasher::new(Algorithm::Blake3);
        hasher.update(CONTENTS.as_bytes());
        let (digest, length) = (hasher.finalize(), CONTENTS.len() as u64);
        let tag = Tag { digest, length, mtime, ..garden.attributes[Path::new(name)] };
        garden.attributes.insert(name.into(), tag);
    }
    garden.tree.corrupt("decayed", "by another pr0gram");
    assert_eq!(garden.check().all(), ["tag replaced decayed", "tag replaced fits"]);
    for (name, state) in [("decayed", FileState::Corrupt), ("fits", FileState::TagReplaced)] {
        let now = garden.reader().history(Path::new(name)).unwrap().now.unwrap();
        assert_eq!(now.standing, state, "{name}");
    }
}

#[test]
fn a_tag_of_the_same_contents_is_taken_over() {
    let mut garden = Garden::planted(&["a"]);
    let tag = garden.attributes[Path::new("a")];
    let newer = Tag { tagged: moment(garden.now), ..tag };
    garden.attributes.insert(PathBuf::from("a"), newer);
    assert_eq!(garden.check().all(), [""; 0]);
    assert_eq!(garden.reader().tag(Path::new("a")).unwrap(), Some(newer));
    let history = garden.reader().history(Path::new("a")).unwrap();
    let last = history.runs.last().unwrap();
    assert_eq!(
        (last.happened[0].what, last.happened[0].before),
        (FileHistoryEvent::Adopted, Some(tag))
    );
}

#[test]
fn names_of_any_bytes_and_of_any_form_are_themselves() {
    let wild = OsString::from_vec(b"\xff\xfe\n\"'%".to_vec());
    let names = ["\u{e9}", "e\u{301}", "A", "a", "-", "a b"].map(OsString::from);
    let names: Vec<OsString> = names.into_iter().chain([wild.clone()]).collect();
    let mut garden = Garden::new(&[]);
    for name in &names {
        // Each contents differ, so that no name could pass for another.
        garden.tree.write(name, name.as_bytes());
        let folder = [b"d".as_slice(), name.as_bytes()].concat();
        garden.tree.write(Path::new(OsStr::from_bytes(&folder)).join(name), folder);
    }
    garden.run(&Way { verb: "tag", ..Way::default() });
    assert_eq!(garden.check().all(), [""; 0]);
    assert_eq!(garden.reader().entries().unwrap(), 2 * names.len() as u64);
    fs::rename(garden.tree.at(&wild), garden.tree.at("wild")).unwrap();
    let tag = garden.attributes.remove(Path::new(&wild)).unwrap();
    garden.attributes.insert(PathBuf::from("wild"), tag);
    fs::remove_file(garden.tree.at("e\u{301}")).unwrap();
    let told = garden.check();
    let gone = told.findings.iter().filter_map(|finding| match finding {
        Finding::Missing { path, .. } => Some(path.clone()),
        Finding::Moved { from, .. } => Some(from.clone()),
        _ => None,
    });
    let gone: BTreeSet<PathBuf> = gone.collect();
    assert_eq!(gone, BTreeSet::from([PathBuf::from(wild), PathBuf::from("e\u{301}")]));
}

#[test]
fn names_of_one_inode_are_entries_of_their_own() {
    let mut garden = Garden::planted(&["a"]);
    fs::hard_link(garden.tree.at("a"), garden.tree.at("b")).unwrap();
    garden.attributes.insert(PathBuf::from("b"), garden.attributes[Path::new("a")]);
    assert_eq!(garden.check().all(), ["new b"]);
    let mut groups = Vec::new();
    let mut visit = |group: steadfast::catalogue::Duplicates| {
        groups.push(group.paths);
        ControlFlow::Continue(())
    };
    garden.reader().duplicates(1, &mut visit).unwrap();
    assert_eq!(groups, [[PathBuf::from("a"), PathBuf::from("b")]]);
    garden.remove("a");
    assert_eq!(garden.check().all(), ["missing a"], "the other name was there before");
}

#[test]
fn a_root_of_one_file_is_judged_by_itself() {
    let mut garden = Garden::planted(&["a", "b/c", "b/d"]);
    garden.tree.edit("b/c", "other");
    garden.remove("b/d");
    let one = Way { verb: "check", roots: vec!["b/c"], ..Way::default() };
    let told = garden.run(&one);
    assert_eq!(told.all(), [""; 0]);
    assert_eq!((told.record.files, told.record.counts.get("modified")), (1, Some(&1)));
    let look = garden.reader().history(Path::new("b/c")).unwrap().now.unwrap();
    assert_eq!((look.standing, look.last_proved_run), (FileState::Modified, 2));
}

#[test]
fn standings_outlast_runs_that_did_not_look() {
    let mut garden = Garden::planted(&["a", "b"]);
    garden.tree.corrupt("a", "x");
    let told = garden.check();
    assert_eq!(told.record.counts.get("corrupt"), Some(&1));
    garden.run(&Way { verb: "tag", ..Way::default() });
    let look = garden.reader().history(Path::new("a")).unwrap().now.unwrap();
    assert_eq!(look.standing, FileState::Corrupt);
    assert_eq!((look.last_proved_run, look.last_checked_run), (2, 3));
}
