//! Which catalogue a run uses, which of its files are due, and what is said where there is none.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
fn trees_are_listed_when_their_catalogue_is_opened_and_missed_when_it_is_gone() {
    let (tree, lists) = (tagged(), Tree::new());
    let trees = Some(lists.at("trees"));
    let run_with_list = |verb, options: Options, selection: &Selection| -> Said {
        run_on(verb, selection, &options.with(|options| options.catalogue.trees = trees.clone()))
    };
    let dry = options().with(|options| options.dry_run = true);
    run_with_list(Verb::check(), dry, &tree.selection());
    assert!(!lists.at("trees").exists(), "a dry run writes nothing");
    run_with_list(Verb::check(), options(), &tree.selection());
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
