//! Links that are planted where a copy, a judgement or a search is at work lead nowhere.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use steadfast::copy::{CopiedFile, CopyRequest, copy, plan_copy};
use steadfast::known::{KnownContents, KnownResult, KnownWord, known};
use steadfast::monitor::{NoticeMonitor, ResultMonitor};
use steadfast::safe::{SafeFile, SafeRequest, SafeRule, safe};
use steadfast::{CatalogueUse, Event, Notice, Run, Selection, Verb};

use crate::tree::Tree;

/// Does something at the first word of a run, and keeps what it says.
#[derive(Default)]
struct Planter<'a> {
    plant: Option<Box<dyn FnMut() + 'a>>,
    known: Vec<KnownContents>,
    places: usize,
}

impl Planter<'_> {
    fn heard(&mut self) {
        if let Some(mut plant) = self.plant.take() {
            plant();
        }
    }
}

impl ResultMonitor<CopiedFile> for Planter<'_> {
    fn result(&mut self, _: &CopiedFile) {
        self.heard();
    }
}

impl ResultMonitor<KnownResult> for Planter<'_> {
    fn result(&mut self, result: &KnownResult) {
        let KnownResult::File(file) = result else { return };
        self.known.push(file.clone());
    }
}

impl ResultMonitor<SafeFile> for Planter<'_> {
    fn result(&mut self, file: &SafeFile) {
        self.places += file.places.len();
    }
}

impl NoticeMonitor for Planter<'_> {
    fn notice(&mut self, _: &Notice) {
        self.heard();
    }
}

fn card() -> Tree {
    let tree = Tree::new();
    for name in ["card/a", "card/sub/c", "archive/a", "archive/c"] {
        tree.write(name, name.rsplit_once('/').unwrap().1);
    }
    tree.write("outside/c", "c");
    tree.run(Verb::tag());
    tree.write("card/sub/c", "other");
    tree
}

#[test]
fn a_folder_exchanged_for_a_link_gives_a_copy_nothing_of_what_it_leads_to() {
    let tree = card();
    let root = tree.path();
    fs::set_permissions(root.join("outside"), fs::Permissions::from_mode(0o701)).unwrap();
    let plant = || {
        fs::rename(root.join("card/sub"), root.join("away")).unwrap();
        symlink(root.join("outside"), root.join("card/sub")).unwrap();
    };
    let mut planter = Planter { plant: Some(Box::new(plant)), ..Planter::default() };
    let request = CopyRequest::to([root.join("to")]);
    let selection = Selection::of([root.join("card")]);
    let copied = copy(&selection, &request, &crate::tree::usual(), &mut planter).unwrap();
    assert!(!copied.answer.is_yes(), "{copied:?}");
    let mode = fs::metadata(root.join("to/card/sub")).unwrap().permissions().mode();
    assert_ne!(mode & 0o777, 0o701);
}

#[test]
fn a_file_is_read_where_the_walk_found_it() {
    let tree = card();
    let root = tree.path();
    let plant = || {
        fs::rename(root.join("card/sub"), root.join("away")).unwrap();
        symlink(root.join("outside"), root.join("card/sub")).unwrap();
    };
    let mut planter = Planter { plant: Some(Box::new(plant)), ..Planter::default() };
    // It is noticed that a path was given twice after the first was walked.
    let selection = Selection::of([root.join("card"), root.join("card")]);
    let archives = [root.join("archive")];
    let _ = known(&selection, &archives, &crate::tree::usual(), &mut planter).unwrap();
    let word = |name: &str| planter.known.iter().find(|it| it.path.ends_with(name)).unwrap().word;
    assert_eq!((word("a"), word("c")), (KnownWord::Known, KnownWord::Undetermined));
}

#[test]
fn an_archive_is_reached_by_names_from_where_it_must_be() {
    let tree = card();
    let root = tree.path().join("served");
    fs::create_dir_all(root.join("card")).unwrap();
    fs::copy(tree.path().join("archive/a"), root.join("card/a")).unwrap();
    symlink(tree.path().join("archive"), root.join("way-out")).unwrap();
    let selection = Selection::default().with(|selection| {
        selection.listed = vec![root.join("card")];
        selection.within = vec![root.clone()];
    });
    let archive: PathBuf = root.join("way-out");
    let mut quiet = Planter::default();
    let rule = SafeRule { copies: 1, ..SafeRule::default() };
    let request = SafeRequest::new(std::slice::from_ref(&archive), rule);
    assert!(safe(&selection, &request, &crate::tree::usual(), &mut quiet).is_err());
    let request = CopyRequest::to([root.join("to")]).with(|it| it.unknown_in = vec![archive]);
    assert!(plan_copy(&selection, &request, &crate::tree::usual(), &mut quiet).is_err());
    // The file of a catalogue names a root of its own.
    let catalogue = root.join("planted.sqlite");
    let at = CatalogueUse::At(catalogue.clone());
    let init = Run::init(tree.at("archive")).options(|options| options.catalogue.choice = at);
    assert!(init.run(&mut |_: &Event| {}).is_ok());
    let request = SafeRequest::new(&[catalogue], rule);
    let typed = Selection::of([root.join("card")]);
    for (selection, places) in [(typed, 1), (selection, 0)] {
        quiet.places = 0;
        let judged = safe(&selection, &request, &crate::tree::usual(), &mut quiet).unwrap();
        assert_eq!((judged.answer.files(), quiet.places), (1, places), "{judged:?}");
    }
}
