//! A loss of power, a full disk and a read-only medium, as runs over a whole tree meet them: what
//! is said is true, nothing is lost, and the next step is named.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::{fs, io};

use rusqlite::config::DbConfig;
use steadfast::unguarded::run;
use steadfast::{Advice, CatalogueChange, Event, Monitor, Verb, Verdict};

use crate::image::{BTRFS, EXT4, Image, Kind, TMPFS, XFS};
use crate::tree::{Tree, retag};

/// What a run said: verdicts by path, names of findings, and notices.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) status: u8,
    pub(crate) verdicts: BTreeMap<PathBuf, Option<Verdict>>,
    pub(crate) findings: Vec<String>,
    pub(crate) notices: Vec<String>,
}

impl Monitor for Told {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::File(event) => {
                self.verdicts.insert(event.path.to_path(), event.verdict);
            }
            Event::Finding(noted) => {
                self.findings.push(format!("{} {}", noted.finding.name(), noted.path.display()));
            }
            Event::Notice(notice) => self.notices.push(notice.to_string()),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

pub(crate) fn told(tree: &Tree, verb: Verb) -> Result<Told, steadfast::Error> {
    let mut told = Told::default();
    let summary = run(verb, &tree.selection(), &crate::tree::usual(), &mut told)?;
    told.status = summary.exit_status().code();
    Ok(told)
}

pub(crate) fn catalogued(tree: &Tree) -> PathBuf {
    let _ = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([tree.path()]),
        crate::tree::usual(),
    )
    .run(&mut Told::default())
    .unwrap();
    tree.at(".steadfast/catalogue.sqlite")
}

/// The catalogue must not know tags and files that a loss of power takes back.
fn a_cut_after_a_run_leaves_nothing_unsettled(kind: Kind) {
    let Some(mut image) = Image::make(kind) else { return };
    let write = |image: &Image, text: &str, mtime_s: u64| {
        for number in 0..50 {
            let path = image.tree.write(format!("d{}/f{number}", number % 5), text);
            let mtime = std::time::UNIX_EPOCH + std::time::Duration::from_secs(mtime_s);
            crate::tree::set_mtime(&path, mtime);
        }
    };
    write(&image, "first", 1_600_000_000);
    catalogued(&image.tree);
    image.sync();
    // Attributes of files that are on the medium.
    assert_eq!(told(&image.tree, Verb::tag()).unwrap().status, 0);
    image.cut();
    let after = told(&image.tree, Verb::check()).unwrap();
    assert_eq!((after.status, after.findings), (0, vec![]), "{}: tag", kind.name);
    // Edits, and files that are new to a check.
    write(&image, "second", 1_700_000_000);
    image.tree.write("new", "new");
    assert_eq!(told(&image.tree, Verb::update()).unwrap().status, 0);
    image.tree.write("newer", "newer");
    assert_eq!(told(&image.tree, Verb::check()).unwrap().status, 0);
    image.cut();
    let after = told(&image.tree, Verb::check()).unwrap();
    assert_eq!((after.status, after.findings), (0, vec![]), "{}: update", kind.name);
    assert_eq!(after.verdicts.len(), 52);
}

#[test]
fn a_cut_after_a_run_leaves_nothing_unsettled_on_ext4() {
    a_cut_after_a_run_leaves_nothing_unsettled(EXT4);
}

#[test]
fn a_cut_after_a_run_leaves_nothing_unsettled_on_xfs() {
    a_cut_after_a_run_leaves_nothing_unsettled(XFS);
}

#[test]
fn a_cut_after_a_run_leaves_nothing_unsettled_on_btrfs() {
    a_cut_after_a_run_leaves_nothing_unsettled(BTRFS);
}

#[test]
fn an_init_that_was_cut_off_is_not_called_a_lost_catalogue() {
    let tree = Tree::new();
    tree.write("file", "contents");
    let folder = tree.at(".steadfast");
    let lock = "catalogue.sqlite.lock";
    let unfinished: [&[(&str, &str)]; 5] = [
        &[(lock, "")],
        &[(lock, "17 1700000000 init\n")],
        &[("catalogue.sqlite.new", "")],
        &[(lock, ""), ("catalogue.sqlite.new", "cut"), ("catalogue.sqlite.new-wal", "")],
        &[(lock, "17 1700000000 init\n"), ("catalogue.sqlite.new-journal", "")],
    ];
    for left in unfinished {
        let _ = fs::remove_dir_all(&folder);
        for (name, text) in left {
            tree.write(format!(".steadfast/{name}"), text);
        }
        let error = told(&tree, Verb::check()).unwrap_err();
        let root = tree.path().canonicalize().unwrap();
        let finish = Advice::Catalogue {
            change: CatalogueChange::Finish,
            file: root.join(".steadfast/catalogue.sqlite"),
            root: Some(root),
        };
        assert_eq!(error.advice(), Some(&finish), "{left:?}: {error}");
        assert!(!error.to_string().contains("gone"), "{left:?}: {error}");
        catalogued(&tree);
        assert_eq!(told(&tree, Verb::tag()).unwrap().status, 0, "{left:?}");
    }
    // One that was there, and is not.
    for verb in [None, Some(Verb::check())] {
        let _ = fs::remove_dir_all(&folder);
        let file = catalogued(&tree);
        verb.map(|verb| told(&tree, verb).unwrap());
        fs::remove_file(file).unwrap();
        let error = told(&tree, Verb::check()).unwrap_err().to_string();
        assert!(
            error.contains("the catalogue is gone") && error.contains("made from the tags"),
            "{error}"
        );
    }
}

/// A full disk is called so, a check goes on without writing, and nothing is lost.
fn a_full_disk_is_called_full(kind: Kind, option: Option<&str>) {
    let Some(image) = Image::make(kind) else { return };
    option.into_iter().for_each(|option| image.remount(option));
    let tree = &image.tree;
    for number in 0..30 {
        tree.write(format!("f{number}"), format!("contents {number}"));
    }
    catalogued(tree);
    assert_eq!(told(tree, Verb::tag()).unwrap().status, 0);
    fs::remove_file(tree.at("f7")).unwrap();
    tree.corrupt("f8", "other contents");
    let filler = image.fill();
    let full = told(tree, Verb::check()).unwrap();
    assert!(full.notices[0].contains("no space is left"), "{}: {:?}", kind.name, full.notices);
    assert_eq!(full.status, 3);
    let verdict = |told: &Told, name: &str| told.verdicts.get(&tree.at(name)).copied().flatten();
    assert_eq!(verdict(&full, "f7"), Some(Verdict::Missing), "{}", kind.name);
    assert_eq!(verdict(&full, "f8"), Some(Verdict::Corrupt), "{}", kind.name);
    let error = told(tree, Verb::update()).unwrap_err().to_string();
    assert!(error.contains("no space is left"), "{}: {error}", kind.name);
    assert!(error.contains("catalogue.sqlite`"), "{}: {error}", kind.name);
    fs::remove_file(filler).unwrap();
    let after = told(tree, Verb::check()).unwrap();
    assert_eq!((after.status, after.notices), (3, vec![]), "{}", kind.name);
}

#[test]
fn a_full_disk_is_called_full_on_ext4() {
    a_full_disk_is_called_full(Kind { size_bytes: 16 << 20, ..EXT4 }, None);
}

/// Where blocks are smaller than pages, SQLite's shared memory could be mapped with holes: the
/// first write to one ended the process.
#[test]
fn a_nearly_full_disk_of_small_blocks_answers() {
    let small = &["mkfs.ext4", "-q", "-F", "-b", "1024"];
    let Some(image) = Image::make(Kind { format: small, size_bytes: 8 << 20, ..EXT4 }) else {
        return;
    };
    let tree = &image.tree;
    tree.write("f1", "contents");
    tree.write("f2", "contents, too");
    catalogued(tree);
    assert_eq!(told(tree, Verb::tag()).unwrap().status, 0);
    tree.corrupt("f1", "CONTENTS");
    let catalogue = tree.at(".steadfast/catalogue.sqlite");
    for has_log in [false, true] {
        if has_log {
            // As a run leaves it that is killed.
            let db = rusqlite::Connection::open(&catalogue).unwrap();
            db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
            db.execute("UPDATE meta SET value = value", ()).unwrap();
        }
        let memory = catalogue.with_extension("sqlite-shm");
        let _ = fs::remove_file(&memory);
        let filler = image.fill();
        let length = fs::metadata(&filler).unwrap().len();
        let shorter = fs::File::options().write(true).open(&filler).unwrap();
        for free_kib in [0, 4, 9, 14, 24, 60] {
            let _ = fs::remove_file(&memory);
            shorter.set_len(length - (free_kib << 10)).unwrap();
            // The run before may hold its lock for a moment.
            let waiting = crate::tree::usual().with(|options| options.catalogue.wait = true);
            let mut said = Told::default();
            let ended = run(Verb::check(), &tree.selection(), &waiting, &mut said).unwrap();
            said.status = ended.exit_status().code();
            assert_eq!(said.status, 3, "{has_log}, {free_kib} KiB: {said:?}");
            assert!(said.notices[0].contains("no space is left"), "{said:?}");
        }
        fs::remove_file(filler).unwrap();
    }
    assert_eq!(told(tree, Verb::check()).unwrap().notices, [""; 0]);
}

#[test]
fn a_full_disk_is_called_full_in_memory() {
    a_full_disk_is_called_full(TMPFS, Some("remount,size=2m"));
}

#[test]
fn a_check_on_a_medium_that_cannot_be_written_judges_as_usual() {
    let Some(image) = Image::make(EXT4) else { return };
    image.tree.write("kept", "kept");
    image.tree.write("gone", "gone");
    catalogued(&image.tree);
    told(&image.tree, Verb::tag()).unwrap();
    fs::remove_file(image.tree.at("gone")).unwrap();
    image.remount("remount,ro");
    let said = told(&image.tree, Verb::check()).unwrap();
    assert_eq!((said.status, said.notices.len()), (1, 1), "{said:?}");
    assert!(said.notices[0].contains("cannot be written"), "{:?}", said.notices);
    image.remount("remount,rw");
}

#[test]
fn contents_that_an_earlier_tag_recorded_are_told() {
    for kept in ["the attribute", "the catalogue"] {
        let tree = Tree::new();
        let path = tree.write("file", "first");
        if kept == "the catalogue" {
            catalogued(&tree);
        }
        told(&tree, Verb::tag()).unwrap();
        tree.edit("file", "second");
        told(&tree, Verb::update()).unwrap();
        if kept == "the catalogue" {
            let file = steadfast_sys::file::File::open(&path).unwrap();
            steadfast_sys::xattr::remove(&file, steadfast_sys::xattr::TAG_PREVIOUS).unwrap();
        }
        tree.corrupt("file", "first");
        for verb in [Verb::check(), Verb::update()] {
            let said = tree.run(verb);
            assert_eq!(said.verdict("file"), Some(Verdict::Corrupt), "by {kept}");
            let event = said.of("file");
            let (previous, actual) = (event.previous.as_deref().unwrap(), event.actual.unwrap());
            assert!(previous.same_contents(&actual), "by {kept}");
        }
        tree.corrupt("file", "third");
        assert_eq!(tree.run(Verb::check()).of("file").previous, None, "by {kept}");
    }
}

/// An editor saves by renaming, so the file has no attribute. The run that retags it is killed
/// before the catalogue has the new tag.
#[test]
fn a_lost_tag_that_a_killed_run_replaced_is_not_called_replaced() {
    for verb in [Verb::update(), retag(false)] {
        for then in [Verb::check(), verb] {
            let tree = Tree::new();
            let save = |text: &str, mtime_s: u64| {
                let draft = tree.write("draft", text);
                let mtime = std::time::UNIX_EPOCH + std::time::Duration::from_secs(mtime_s);
                crate::tree::set_mtime(&draft, mtime);
                fs::rename(draft, tree.at("file")).unwrap();
            };
            save("one", 1_600_000_000);
            let catalogue = catalogued(&tree);
            assert_eq!(told(&tree, Verb::tag()).unwrap().status, 0);
            let kept = fs::read(&catalogue).unwrap();
            save("two", 1_700_000_000);
            assert_eq!(told(&tree, verb).unwrap().status, 0);
            fs::write(&catalogue, kept).unwrap();
            let name = format!("{}, {}", verb.name(), then.name());
            let said = told(&tree, then).unwrap();
            assert_eq!((said.status, said.findings), (0, vec![]), "{name}");
            assert_eq!(told(&tree, Verb::check()).unwrap().findings, [""; 0], "{name}: once more");
        }
    }
}

/// Returns the kind of the system's error that an error was caused by.
fn kind_of(error: impl std::error::Error + 'static) -> Option<io::ErrorKind> {
    let first = &error as &(dyn std::error::Error + 'static);
    let mut causes = std::iter::successors(Some(first), |error| error.source());
    causes.find_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()))
}

#[test]
fn the_system_s_error_can_be_told_from_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "bytes").unwrap();
    let below = [
        (folder.path().join("gone"), io::ErrorKind::NotFound),
        (file.join("below"), io::ErrorKind::NotADirectory),
    ];
    for (path, kind) in below {
        let copies = steadfast::repair::Copies::new(std::slice::from_ref(&path));
        assert_eq!(kind_of(copies.unwrap_err()), Some(kind));
        let made = steadfast::Run::of(
            steadfast::Verb::Init(steadfast::InitOptions {
                tags_only: true,
                ..steadfast::InitOptions::default()
            }),
            steadfast::Selection::of([&path]),
            crate::tree::usual(),
        )
        .run(&mut |_: &_| {});
        let error = made.unwrap_err();
        let text = error.to_string();
        assert_eq!(kind_of(error), Some(kind), "{text}");
    }
}
