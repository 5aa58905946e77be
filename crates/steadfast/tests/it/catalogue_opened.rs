//! A catalogue is opened by one writer and any readers, and only for its own tree.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use steadfast::catalogue::{
    Catalogue, CatalogueErrorKind, FileState, LockRequest, RunScope, RunStart, RunState,
};
use steadfast::{Advice, CatalogueChange, Origin, Timestamp, VerbKind};

use crate::catalogue::{Garden, Way, moment, writer};
use crate::tree::Tree;

#[test]
fn a_catalogue_in_use_says_by_whom_and_readers_read() {
    let garden = Garden::planted(&["a"]);
    let held = LockRequest { verb: VerbKind::Update, ..writer(garden.now) };
    let held = Catalogue::open_writer(&garden.file, &held).unwrap();
    let at_once = LockRequest { wait: None, ..writer(garden.now + 7) };
    let refused = Catalogue::open_writer(&garden.file, &at_once).unwrap_err();
    assert_eq!(refused.kind(), CatalogueErrorKind::InUse);
    let text = refused.to_string();
    let process = format!("process {}", std::process::id());
    assert!(text.contains("`update`") && text.contains(&process) && text.contains("7 s"), "{text}");
    let stopped = AtomicBool::new(true);
    let waits = LockRequest { wait: Some(&stopped), ..writer(garden.now) };
    assert!(Catalogue::open_writer(&garden.file, &waits).is_err(), "told to wait no longer");
    assert_eq!(garden.reader().entries().unwrap(), 1);
    drop(held);
    Catalogue::open_writer(&garden.file, &writer(garden.now)).unwrap();
}

#[test]
fn whoever_reads_beside_a_writer_sees_what_was_stored_last() {
    let names: Vec<String> = (0..30).map(|n| format!("d{}/f{n:02}", n / 10)).collect();
    let mut garden = Garden::planted(&names.iter().map(String::as_str).collect::<Vec<_>>());
    garden.tree.corrupt("d0/f03", "x");
    let catalogue = Catalogue::open_writer(&garden.file, &writer(garden.now)).unwrap();
    let root = catalogue.root().to_owned();
    let now = moment(garden.now + 10);
    let begin = RunStart {
        verb: VerbKind::Check,
        read_from: Some(Origin::Cache),
        backend: "test x1",
        now,
        accepts: false,
    };
    let mut recorder = catalogue.recorder(RunScope::whole(&root), &begin).unwrap();
    let standing = |garden: &Garden| {
        let history = garden.reader().history(Path::new("d0/f03")).unwrap();
        history.now.unwrap().standing
    };
    let way = Way { verb: "check", ..Way::default() };
    for (at, path) in garden.paths(&root).iter().enumerate() {
        let whole = path.to_path();
        let observation = garden.judge(path, whole.strip_prefix(&root).unwrap(), &way);
        recorder.observe(&observation, &mut |finding| panic!("{finding:?}")).unwrap();
        assert_eq!(standing(&garden), FileState::Fine, "{at}: nothing is stored yet");
        assert_eq!(garden.reader().verify().unwrap().problems, [""; 0]);
    }
    recorder.tick(moment(garden.now + 20)).unwrap();
    assert_eq!(standing(&garden), FileState::Corrupt);
    drop(recorder);
    let unfinished = garden.reader().runs(i64::MAX, 1).unwrap().remove(0);
    assert_eq!(unfinished.state, RunState::Unfinished);
    assert_eq!(garden.reader().unfinished_run().unwrap(), Some(3));
    assert_eq!(garden.check().record.id, 4);
    assert_eq!(garden.reader().verify().unwrap().problems, [""; 0]);
}

#[test]
fn another_volume_or_an_empty_root_is_refused_and_a_copy_is_accepted_when_told() {
    let garden = Garden::planted(&["a", "b/c"]);
    let copy = Tree::new();
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .arg(garden.tree.path().join("."))
        .arg(copy.path())
        .status();
    assert!(copied.unwrap().success());
    let file = Catalogue::find(&copy.path().join("b")).unwrap();
    let mut catalogue = Catalogue::open_writer(&file, &writer(garden.now)).unwrap();
    assert_eq!(catalogue.root(), copy.path().canonicalize().unwrap());
    let refused = catalogue.guard().unwrap_err();
    assert_eq!(refused.kind(), CatalogueErrorKind::OtherVolume, "{refused}");
    let text = refused.to_string();
    assert!(text.contains("on the same volume") && !text.contains("another volume"), "{text}");
    let rebind = Advice::Catalogue {
        change: CatalogueChange::Rebind,
        root: Some(copy.path().canonicalize().unwrap()),
        file: file.clone(),
    };
    assert_eq!(refused.advice(), Some(&rebind), "{text}");
    catalogue.rebind(copy.path()).unwrap();
    catalogue.guard().unwrap();
    fs::remove_file(copy.at("a")).unwrap();
    fs::remove_dir_all(copy.at("b")).unwrap();
    let refused = catalogue.guard().unwrap_err();
    assert_eq!(refused.kind(), CatalogueErrorKind::EmptyRoot, "{refused}");
}

#[test]
fn a_catalogue_kept_elsewhere_knows_its_tree() {
    let tree = Tree::new();
    tree.write("a", "a");
    let shelf = Tree::new();
    let file = shelf.at("photos.sqlite");
    let catalogue = Catalogue::create(tree.path(), Some(&file), &writer(1)).unwrap();
    assert_eq!(catalogue.root(), tree.path().canonicalize().unwrap());
    drop(catalogue);
    let again = Catalogue::create(tree.path(), Some(&file), &writer(1)).unwrap_err();
    assert_eq!(again.kind(), CatalogueErrorKind::Exists);
    fs::rename(tree.path(), shelf.at("gone")).unwrap();
    let catalogue = Catalogue::open_reader(&file).unwrap();
    assert_eq!(catalogue.guard().unwrap_err().kind(), CatalogueErrorKind::EmptyRoot);
    fs::rename(shelf.at("gone"), tree.path()).unwrap();
    assert!(Catalogue::find(tree.path()).is_none());
    assert_eq!(
        Catalogue::open_reader(&tree.at("a.sqlite")).unwrap_err().kind(),
        CatalogueErrorKind::Absent
    );
}

#[test]
fn beneath_a_root_no_link_leads_to_a_catalogue() {
    let (tree, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (root, other) = (tree.path().canonicalize().unwrap(), elsewhere.path());
    let writer = LockRequest {
        verb: VerbKind::Init,
        now: Timestamp { seconds: 1, nanoseconds: 0 },
        wait: None,
    };
    Catalogue::create(other, None, &writer).unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::create_dir(other.join("below")).unwrap();
    std::os::unix::fs::symlink(other, root.join("a/link")).unwrap();
    for path in ["a/link", "a/link/below", "a/link/below/file", "a/b/file"] {
        assert_eq!(Catalogue::find_beneath(&root, &root.join(path)), None, "{path}");
    }
    assert!(Catalogue::find(&root.join("a/link/below")).is_some());
    drop(Catalogue::create(&root.join("a"), None, &writer).unwrap());
    let file = root.join("a/.steadfast/catalogue.sqlite");
    for path in ["a", "a/b", "a/b/file", "a/link/below"] {
        let found = Catalogue::find_beneath(&root, &root.join(path));
        assert_eq!(found.as_ref(), Some(&file), "{path}");
    }
    assert_eq!(Catalogue::find_beneath(&root, other), None);
    // Above the root there are the links that its owner has.
    assert_eq!(Catalogue::find_beneath(&root.join("a/b"), &root.join("a/b/c")), Some(file));
}
