//! Which catalogue a run uses, which of its files are due, and what is said where there is none.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast::catalogue::{Catalogue, CatalogueErrorKind, TreeList};
use steadfast::run::quick;
use steadfast::store::foreign::ForeignKind;
use steadfast::unguarded::run;
use steadfast::{
    Action, CatalogueUse, CheckOptions, DueChoice, HashOptions, Options, Selection, Summary, Verb,
    VerbKind, Verdict,
};
use steadfast::{Advice, CatalogueChange};
use steadfast::{Event, Monitor};

use crate::catalogue_trouble::{Told, catalogued};
use crate::tree::{Said, Tree, run_on};

fn options() -> Options {
    crate::tree::usual().with(|options| options.catalogue.wait = true)
}

fn due(choice: DueChoice) -> Verb {
    Verb::Check(CheckOptions { due: Some(choice), ..CheckOptions::default() })
}

/// A tree with a catalogue and a tagged file.
fn tagged() -> Tree {
    let tree = Tree::new();
    tree.write("a/file", "contents");
    catalogued(&tree);
    run_on(Verb::tag(), &tree.selection(), &options());
    tree
}

#[test]
fn paths_of_a_list_are_all_in_one_tree() {
    let (one, other, plain) = (tagged(), tagged(), Tree::new());
    one.write("a/new", "new");
    plain.write("file", "contents");
    let checked = |listed: Vec<PathBuf>| -> Result<bool, steadfast::Error> {
        let selection = Selection::default().with(|selection| selection.listed = listed);
        let summary = run(Verb::check(), &selection, &options(), &mut Told::default());
        summary.map(|summary| summary.catalogued)
    };
    let (here, there) = (one.at("a/file"), other.at("a/file"));
    assert!(checked(vec![here.clone()]).unwrap());
    assert!(checked(vec![here.clone(), one.at("a/new")]).unwrap());
    assert!(!checked(vec![plain.at("file")]).unwrap());
    for apart in [there, plain.at("file")] {
        let error = checked(vec![here.clone(), apart]).unwrap_err();
        assert!(error.to_string().contains("not in the same catalogued tree"), "{error}");
    }
}

#[test]
fn a_named_catalogue_of_another_tree_is_refused() {
    let (tree, other) = (tagged(), tagged());
    let at = CatalogueUse::At(tree.at(".steadfast/catalogue.sqlite"));
    let options = options().with(|options| options.catalogue.choice = at);
    let hash = Verb::Hash(HashOptions { judge: true, ..HashOptions::default() });
    for verb in [Verb::check(), Verb::update(), hash, Verb::Show] {
        assert!(run(verb, &tree.selection(), &options, &mut Told::default()).is_ok());
        let refused = verb != Verb::Show;
        let mut told = Told::default();
        let found = run(verb, &other.selection(), &options, &mut told);
        assert_eq!(found.is_err(), refused, "{verb:?}");
        assert!(refused || told.notices[0].contains("not in the catalogued tree"));
    }
}

#[test]
fn trees_are_listed_by_init_and_missed_when_their_catalogue_is_gone() {
    let (tree, lists) = (tagged(), Tree::new());
    let trees = Some(lists.at("trees"));
    let run_with_list = |verb, options: Options, selection: &Selection| -> Said {
        run_on(verb, selection, &options.with(|options| options.catalogue.trees = trees.clone()))
    };
    run_with_list(Verb::check(), options(), &tree.selection());
    assert!(!lists.at("trees").exists(), "a check enters no tree");
    run_with_list(Verb::init(), options(), &tree.selection());
    assert!(lists.at("trees").exists());
    fs::remove_dir_all(tree.at(".steadfast")).unwrap();
    let roots =
        |root: &Path| Selection::default().with(|selection| selection.roots = vec![root.into()]);
    let above = tree.path().parent().unwrap();
    let missed = |verb, options: Options, selection: &Selection| {
        let said = run_with_list(verb, options, selection);
        said.notices.iter().filter(|notice| notice.text.contains("is gone")).count()
    };
    assert_eq!(missed(Verb::check(), options(), &tree.selection()), 1);
    assert_eq!(missed(Verb::check(), options(), &roots(&tree.at("a"))), 1);
    assert_eq!(missed(Verb::check(), options(), &roots(lists.path())), 0);
    let excludes = vec!["*".to_owned()];
    assert_eq!(
        missed(
            Verb::check(),
            options(),
            &roots(above).with(|selection| selection.excludes = excludes)
        ),
        1
    );
    assert_eq!(missed(Verb::Show, options(), &tree.selection()), 0);
    let off = options().with(|options| options.catalogue.choice = CatalogueUse::Off);
    assert_eq!(missed(Verb::check(), off, &tree.selection()), 0);
}

/// The catalogue of a stranger's drive says that it is of another folder, which is listed.
#[test]
fn what_a_catalogue_says_of_itself_leads_nowhere_and_changes_no_entry() {
    let (own, drive, lists) = (tagged(), Tree::new(), Tree::new());
    let options = options().with(|options| options.catalogue.trees = Some(lists.at("trees")));
    run_on(Verb::init(), &own.selection(), &options);
    let before = fs::read(lists.at("trees")).unwrap();
    let own_tree = TreeList::at(&lists.at("trees")).read().remove(0);
    drive.write("file", "contents");
    catalogued(&drive);
    let catalogue = drive.at(".steadfast/catalogue.sqlite");
    let real = own.path().canonicalize().unwrap();
    let db = rusqlite::Connection::open(&catalogue).unwrap();
    let set = "UPDATE meta SET value = ? WHERE key = ?";
    db.execute(set, (real.as_os_str().as_encoded_bytes(), "root")).unwrap();
    db.execute(set, (own_tree.made.seconds, "created_s")).unwrap();
    for is_forged in [false, true] {
        if is_forged {
            db.execute(set, (own_tree.volume.root_inode.cast_signed(), "root_inode")).unwrap();
        }
        let opened = Catalogue::open_reader(&catalogue).unwrap();
        assert_eq!(opened.root(), drive.path().canonicalize().unwrap());
        let ended = run(Verb::check(), &drive.selection(), &options, &mut Told::default());
        assert_eq!(ended.is_err(), is_forged, "{ended:?}");
        assert_eq!(fs::read(lists.at("trees")).unwrap(), before);
    }
}

/// The folder and the mark of the catalogue are those that were listed: its volume was mounted
/// elsewhere, or its folder renamed.
#[test]
fn a_listed_tree_is_found_at_another_path_while_the_old_one_does_not_lead_to_it() {
    let (tree, lists) = (tagged(), Tree::new());
    let (list, old) = (TreeList::at(&lists.at("trees")), tree.path().canonicalize().unwrap());
    let options = options().with(|options| options.catalogue.trees = Some(lists.at("trees")));
    run_on(Verb::init(), &tree.selection(), &options);
    let before = list.read();
    let at =
        |root: &Path| Selection::default().with(|selection| selection.roots = vec![root.into()]);
    let new = old.with_extension("new");
    fs::rename(&old, &new).unwrap();
    fs::create_dir(&old).unwrap();
    run_on(Verb::check(), &at(&new), &options);
    let moved = list.read().remove(0);
    assert_eq!((&moved.root, moved.made, &moved.volume), (&new, before[0].made, &before[0].volume));
    assert_eq!(moved.catalogue, new.join(".steadfast/catalogue.sqlite"));
    moved.open().unwrap();
    // A link in its place leads elsewhere, even to a tree.
    let other = tagged();
    fs::remove_dir(&old).unwrap();
    fs::rename(&new, &old).unwrap();
    run_on(Verb::check(), &at(&old), &options);
    fs::rename(&old, &new).unwrap();
    std::os::unix::fs::symlink(other.path(), &old).unwrap();
    let refused = before[0].open().unwrap_err();
    assert_eq!(refused.kind(), CatalogueErrorKind::OtherVolume);
    assert!(refused.to_string().contains("a link leads from"), "{refused}");
    let pinned = options.clone().with(|options| options.catalogue.tree = Some(before[0].clone()));
    assert!(run(Verb::check(), &at(&old), &pinned, &mut Told::default()).is_err());
    fs::remove_file(&old).unwrap();
    fs::rename(&new, &old).unwrap();
    assert!(run(Verb::check(), &at(&old), &pinned, &mut Told::default()).is_ok());
}

#[test]
fn an_empty_tree_gets_a_catalogue() {
    let (tree, lists) = (Tree::new(), Tree::new());
    let options = options().with(|options| options.catalogue.trees = Some(lists.at("trees")));
    let summary: Summary = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([tree.path()]),
        options.clone(),
    )
    .run(&mut Told::default())
    .unwrap();
    assert_eq!((summary.files, summary.exit_status().code()), (0, 0));
    assert!(lists.at("trees").exists());
}

#[test]
fn to_resume_a_run_that_ended_is_to_walk() {
    let tree = tagged();
    run_on(Verb::check(), &tree.selection(), &options());
    tree.write("a/new", "new");
    let resume = due(DueChoice::default().with(|choice| choice.resume = true));
    let said = run_on(resume, &tree.selection(), &options());
    assert_eq!(said.verdict("new"), Some(Verdict::Untagged), "only a walk finds it");
}

#[test]
fn what_is_due_is_beneath_the_path_or_in_the_whole_tree_if_that_is_beneath_it() {
    let files = |root: fn(&Tree) -> PathBuf| {
        let tree = tagged();
        tree.write("b/other", "contents");
        run_on(Verb::tag(), &tree.selection(), &options());
        let selection = Selection::default().with(|selection| selection.roots = vec![root(&tree)]);
        let due = due(DueChoice::default().with(|choice| choice.max_bytes = Some(1 << 40)));
        let at = CatalogueUse::At(tree.at(".steadfast/catalogue.sqlite"));
        let options = options().with(|options| options.catalogue.choice = at);
        let summary = run(due, &selection, &options, &mut Told::default());
        summary.map(|summary| summary.files)
    };
    assert_eq!(files(|tree| tree.path().to_owned()).unwrap(), 2);
    assert_eq!(files(|tree| tree.at("b")).unwrap(), 1);
    assert_eq!(files(|tree| tree.path().parent().unwrap().to_owned()).unwrap(), 2);
    // Neither above the tree nor in it, wherever the tests run.
    assert!(files(|_| PathBuf::from("/usr")).is_err());
}

#[test]
fn that_nothing_is_due_is_a_success_and_that_nothing_is_tagged_is_none() {
    let week =
        DueChoice::default().with(|choice| choice.older_than = Some(Duration::from_secs(604_800)));
    let tree = tagged();
    run_on(Verb::check(), &tree.selection(), &options());
    let said = run_on(due(week), &tree.selection(), &options());
    assert_eq!((said.status(), &said.notices[0].text[..]), (0, "nothing is due"));
    let bare = Tree::new();
    bare.write("file", "contents");
    catalogued(&bare);
    let said = run_on(due(week), &bare.selection(), &options());
    assert_eq!(said.status(), 2);
    assert!(said.notices[0].text.contains("knows no file with a tag"), "{:?}", said.notices);
    assert_eq!(bare.run(Verb::tag()).action("file"), Some(Action::Tagged));
}

#[test]
fn verbs_that_judge_nothing_are_not_recorded() {
    let tree = tagged();
    let file = tree.at(".steadfast/catalogue.sqlite");
    let before = fs::read(&file).unwrap();
    for verb in [Verb::Show, Verb::hash(), Verb::Export(ForeignKind::Shatag)] {
        let said = run_on(verb, &tree.selection(), &options());
        assert!(!said.summary.catalogued, "{verb:?}");
        assert_eq!(fs::read(&file).unwrap(), before, "{verb:?}");
    }
    assert!(run_on(Verb::check(), &tree.selection(), &options()).summary.catalogued);
}

#[test]
fn a_quick_check_leaves_the_catalogue_and_the_list_of_trees_alone() {
    let (tree, lists) = (tagged(), Tree::new());
    let before = fs::read(tree.at(".steadfast/catalogue.sqlite")).unwrap();
    let options = options().with(|options| options.catalogue.trees = Some(lists.at("trees")));
    let summary = quick(&tree.selection(), &options, &mut Told::default()).unwrap();
    let of = (summary.verb, summary.means.engine, summary.means.workers, summary.files);
    assert_eq!((of, summary.exit_status().code()), ((VerbKind::Check, "quick", 1, 1), 0));
    assert!(summary.catalogued && !lists.at("trees").exists());
    assert_eq!(fs::read(tree.at(".steadfast/catalogue.sqlite")).unwrap(), before);
}

#[test]
fn a_named_catalogue_that_is_absent_can_be_made() {
    let tree = tagged();
    let at = CatalogueUse::At(tree.at("absent.sqlite"));
    let options = options().with(|options| options.catalogue.choice = at);
    let error = run(Verb::check(), &tree.selection(), &options, &mut Told::default()).unwrap_err();
    let change = CatalogueChange::Make;
    assert!(
        matches!(error.advice(), Some(Advice::Catalogue { change: told, .. }) if *told == change)
    );
}

/// Stops the run at the first file that is missing.
struct Stopper(usize);

impl Monitor for Stopper {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::File(file) if file.verdict == Some(Verdict::Missing) => {
                self.0 += 1;
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

#[test]
fn a_run_stopped_while_it_looks_for_missing_files_is_interrupted() {
    let tree = Tree::new();
    tree.write("present", "contents");
    let gone: Vec<String> = (0..40).map(|number| format!("{}/{number}", number % 4)).collect();
    gone.iter().for_each(|name| drop(tree.write(name, name)));
    catalogued(&tree);
    run_on(Verb::tag(), &tree.selection(), &options());
    gone.iter().for_each(|name| fs::remove_file(tree.at(name)).unwrap());
    let mut stopper = Stopper(0);
    let summary = run(Verb::check(), &tree.selection(), &options(), &mut stopper).unwrap();
    assert!(summary.interrupted && stopper.0 < gone.len(), "{}", stopper.0);
    let all = run_on(Verb::check(), &tree.selection(), &options());
    assert_eq!(all.summary.verdicts(Verdict::Missing), 40);
    assert!(!all.summary.interrupted);
}
