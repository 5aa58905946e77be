//! The answer of a copy and of a judgement is about what the user finds at the paths that were
//! named: whatever takes their place during the run is noticed.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast::copy::{CopiedFile, CopyRequest, copy, plan_copy};
use steadfast::monitor::{NoticeMonitor, ResultMonitor};
use steadfast::safe::{Grade, SafeFile, SafeRequest, SafeRule, safe};
use steadfast::{CatalogueUse, Event, Notice, Run, Selection};

use crate::tree::Tree;

/// Does something after so many files were judged.
struct Disturber<'a> {
    disturb: &'a mut dyn FnMut(),
    files: usize,
    is_proved: bool,
}

impl Disturber<'_> {
    fn judged(&mut self, grade: Option<Grade>) {
        self.is_proved &= grade == Some(Grade::Medium);
        self.files += 1;
        if self.files == 2 {
            (self.disturb)();
        }
    }
}

impl ResultMonitor<CopiedFile> for Disturber<'_> {
    fn result(&mut self, file: &CopiedFile) {
        self.judged(file.places[0].grade);
    }
}

impl ResultMonitor<SafeFile> for Disturber<'_> {
    fn result(&mut self, file: &SafeFile) {
        self.judged(file.places.first().and_then(|place| place.grade));
    }
}

impl NoticeMonitor for Disturber<'_> {
    fn notice(&mut self, _: &Notice) {}
}

fn card() -> Tree {
    let tree = Tree::new();
    for name in ["card/a", "card/b", "card/sub/c", "card/sub/d"] {
        tree.write(name, name);
    }
    fs::create_dir(tree.path().join("above")).unwrap();
    tree
}

fn exchange(root: &Path, name: &str) {
    let (path, away) = (root.join(name), root.join("away"));
    fs::rename(&path, &away).unwrap();
    // Files with the same names, lengths and times, as an older copy has them.
    copy_all(&away, &path);
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, to) = (entry.as_ref().unwrap(), to.join(entry.as_ref().unwrap().file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &to);
            continue;
        }
        let status = entry.metadata().unwrap();
        fs::write(&to, vec![0; status.len() as usize]).unwrap();
        fs::File::options()
            .write(true)
            .open(&to)
            .unwrap()
            .set_modified(status.modified().unwrap())
            .unwrap();
    }
}

/// What happens while a run is at work, and whether the answer can still be yes.
const HAPPENINGS: [(&str, bool); 9] = [
    ("nothing", true),
    ("above/to", false),
    ("above", false),
    ("above/to/card/sub", false),
    ("card", false),
    ("card/sub", false),
    ("a new file", false),
    ("an edited file", false),
    ("a file whose date was kept", false),
];

fn happen(root: &Path, what: &str) {
    match what {
        "nothing" => {}
        "a new file" => fs::write(root.join("card/sub/new"), "new").unwrap(),
        "an edited file" => fs::write(root.join("card/a"), "edited").unwrap(),
        "a file whose date was kept" => edit_secretly(&root.join("card/a")),
        path => exchange(root, path),
    }
}

/// Changes contents, and keeps length and modification time.
fn edit_secretly(path: &Path) {
    let status = fs::metadata(path).unwrap();
    fs::write(path, vec![0; status.len() as usize]).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(status.modified().unwrap()).unwrap();
}

#[test]
fn a_copy_is_about_the_paths_that_were_named() {
    for moves in [false, true] {
        for (what, can_be_yes) in HAPPENINGS {
            // Of moved files, only what is still to come is confirmed at the end.
            if moves && !["nothing", "above/to", "above", "card", "a new file"].contains(&what) {
                continue;
            }
            let tree = card();
            let root = tree.path().to_owned();
            let request = CopyRequest::to([root.join("above/to")]).with(|request| {
                request.rule = SafeRule { copies: 1, ..SafeRule::default() };
                request.moves = moves;
            });
            let mut disturb = || happen(&root, what);
            let mut monitor = Disturber { disturb: &mut disturb, files: 0, is_proved: true };
            let selection = Selection::of([root.join("card")]);
            let summary = copy(&selection, &request, &crate::tree::usual(), &mut monitor).unwrap();
            let expected = can_be_yes && monitor.is_proved;
            assert_eq!(summary.answer.is_yes(), expected, "{what} {moves} {summary:?}");
            assert_eq!(summary.exit_status().is_fine(), expected, "{what} {moves}");
        }
    }
}

#[test]
fn paths_that_were_not_typed_follow_no_link_and_a_plan_makes_nothing() {
    let tree = card();
    let root = tree.path().to_owned();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("way-out")).unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let selection = |source: &str| {
        Selection::default().with(|selection| {
            selection.listed = vec![root.join(source)];
            selection.within = vec![root.clone()];
        })
    };
    let mut quiet = Disturber { disturb: &mut || (), files: 0, is_proved: true };
    let plan = |to: &str, quiet: &mut Disturber<'_>| {
        let request = CopyRequest::to([root.join(to)]);
        plan_copy(&selection("card"), &request, &crate::tree::usual(), quiet)
    };
    let planned = plan("above/new", &mut quiet).unwrap();
    assert_eq!((planned.files, planned.free_bytes.len()), (4, 1));
    assert_eq!(fs::read_dir(root.join("above")).unwrap().count(), 0, "a plan makes nothing");
    for to in ["way-out", "way-out/new", "above/none/new"] {
        assert!(plan(to, &mut quiet).is_err(), "{to}");
        let request = CopyRequest::to([root.join(to)]);
        let copied = copy(&selection("card"), &request, &crate::tree::usual(), &mut quiet);
        assert!(copied.is_err(), "{to}");
    }
    let outside_of_all = CopyRequest::to([outside.path().join("new")]);
    assert!(copy(&selection("card"), &outside_of_all, &crate::tree::usual(), &mut quiet).is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    let request = CopyRequest::to([root.join("above/new")]);
    for source in ["way-out", "way-out/secret"] {
        let summary =
            copy(&selection(source), &request, &crate::tree::usual(), &mut quiet).unwrap();
        assert!(summary.files == 0 && !summary.answer.is_yes(), "{source}: {summary:?}");
    }
    let summary = copy(&selection("card"), &request, &crate::tree::usual(), &mut quiet).unwrap();
    assert_eq!(summary.copied, 4, "{summary:?}");
}

#[test]
fn a_judgement_is_about_the_paths_that_were_named() {
    for (what, can_be_yes) in HAPPENINGS {
        let tree = card();
        let root = tree.path().to_owned();
        let rule = SafeRule { copies: 1, ..SafeRule::default() };
        let request = CopyRequest::to([root.join("above/to")]).with(|it| it.rule = rule);
        let selection = Selection::of([root.join("card")]);
        let mut quiet = Disturber { disturb: &mut || (), files: 0, is_proved: true };
        let copied = copy(&selection, &request, &crate::tree::usual(), &mut quiet).unwrap();
        assert_eq!(copied.copied, 4, "{copied:?}");
        let archive: PathBuf = root.join("above/to");
        let mut disturb = || happen(&root, what);
        let mut monitor = Disturber { disturb: &mut disturb, files: 0, is_proved: true };
        let request = SafeRequest::new(&[archive], rule);
        let summary = safe(&selection, &request, &crate::tree::usual(), &mut monitor).unwrap();
        let expected = can_be_yes && monitor.is_proved;
        assert_eq!(summary.answer.is_yes(), expected, "{what} {summary:?}");
    }
}

#[test]
fn a_folder_that_was_looked_at_last_is_looked_at_again() {
    for (what, named) in [("nothing", "to"), ("to/card", "to"), ("to", "to.sqlite")] {
        let tree = Tree::new();
        let root = tree.path().to_owned();
        tree.write("card/a", "a");
        tree.write("card/b", "b");
        let rule = SafeRule { copies: 1, ..SafeRule::default() };
        let request = CopyRequest::to([root.join("to")]).with(|it| it.rule = rule);
        let selection = Selection::of([root.join("card")]);
        let mut quiet = Disturber { disturb: &mut || (), files: 0, is_proved: true };
        assert!(copy(&selection, &request, &crate::tree::usual(), &mut quiet).is_ok());
        let at = CatalogueUse::At(root.join("to.sqlite"));
        let init = Run::init(root.join("to")).options(|options| options.catalogue.choice = at);
        assert!(init.run(&mut |_: &Event| {}).is_ok());
        let mut disturb = || happen(&root, what);
        let mut monitor = Disturber { disturb: &mut disturb, files: 0, is_proved: true };
        let request = SafeRequest::new(&[root.join(named)], rule);
        let summary = safe(&selection, &request, &crate::tree::usual(), &mut monitor).unwrap();
        let expected = what == "nothing" && monitor.is_proved;
        assert_eq!(summary.answer.is_yes(), expected, "{what} {summary:?}");
    }
}
