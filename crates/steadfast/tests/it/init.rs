//! `init` makes the catalogue and records every file, once.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use steadfast::{
    Action, COVER_DAYS, Event, FileState, FolderState, InitOptions, Monitor, Options, Progress,
    Run, Standing, Timestamp, Verb, Verdict,
};
use steadfast_sys::file::{ChangeTimes, File};
use steadfast_testing::{Need, skip};

use crate::tree::Tree;

const INIT: Verb = Verb::Init(InitOptions { algorithm: None, tags_only: false });
const TAGS_ONLY: Verb = Verb::Init(InitOptions { algorithm: None, tags_only: true });

/// How the folder is, so many days after `now`.
fn word(tree: &Tree, days: i64) -> Standing {
    let Timestamp { seconds, .. } = (Options::default().now)();
    let now = Timestamp { seconds: seconds + days * 86_400, nanoseconds: 0 };
    FolderState::read(tree.path(), None, COVER_DAYS, now).standing()
}

#[test]
fn every_file_is_read_once_and_recorded() {
    let tree = Tree::new();
    tree.write("old", "tagged before");
    tree.run(Verb::tag());
    tree.write("new", "not yet");
    let said = tree.run(INIT);
    assert_eq!((said.status(), said.summary.bytes, said.summary.catalogued), (0, 20, true));
    assert_eq!(said.verdict("old"), Some(Verdict::Intact));
    assert_eq!(said.action("new"), Some(Action::Tagged));
    assert_eq!(word(&tree, 0), Standing::Recorded);
    // Nothing is left to do, and nothing is read again.
    let again = tree.run(INIT);
    assert_eq!(
        (again.status(), again.summary.bytes, again.summary.actions(Action::Kept)),
        (0, 0, 2)
    );
    tree.run(Verb::check());
    assert_eq!(word(&tree, 0), Standing::Fine);
    assert_eq!(word(&tree, 200), Standing::Overdue);
}

#[test]
fn what_differs_from_its_tag_is_told_and_never_accepted() {
    let tree = Tree::new();
    for name in ["decayed", "edited", "touched"] {
        tree.write(name, "as it was");
    }
    tree.run(Verb::tag());
    tree.corrupt("decayed", "as it Was");
    tree.edit("edited", "something else");
    tree.touch("touched");
    for _ in 0..2 {
        let said = tree.run(INIT);
        assert_eq!(said.status(), 3);
        assert_eq!(said.verdict("decayed"), Some(Verdict::Corrupt));
        assert_eq!(said.verdict("edited"), Some(Verdict::Modified));
        assert!(said.files.iter().all(|file| file.action != Some(Action::Retagged)));
        assert_eq!(word(&tree, 0), Standing::Corrupt);
    }
    assert_eq!(tree.run(Verb::check()).verdict("decayed"), Some(Verdict::Corrupt));
}

/// Stops a run after its first file.
struct Stops;

impl Monitor for Stops {
    fn event(&mut self, _: &Event) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn an_interrupted_init_goes_on_where_it_was() {
    let tree = Tree::new();
    // Many more than are in flight at once, which a stop lets end.
    let files = 400;
    for number in 0..files {
        tree.write(format!("{number:03}"), vec![1; 20_000]);
    }
    // So slow that the rest is not read before the run is stopped.
    let options = crate::tree::usual().with(|options| {
        options.reading.rate_limit_bytes_per_s = Some(1_000_000);
    });
    let init = Run::of(INIT, tree.selection(), options);
    let first = init.run(&mut Stops).unwrap();
    let done = first.actions(Action::Tagged);
    assert!(first.interrupted && done > 0 && done < files, "{done}");
    let rest = tree.run(INIT);
    assert_eq!((rest.status(), rest.summary.files), (0, files));
    assert!(rest.summary.actions(Action::Kept) > 0);
    assert_eq!(rest.summary.bytes, (files - rest.summary.actions(Action::Kept)) * 20_000);
    assert_eq!(word(&tree, 0), Standing::Recorded);
}

#[test]
fn tags_that_are_entered_unread_have_the_whole_cover_to_be_checked() {
    for tag_first in [true, false] {
        let tree = Tree::new();
        tree.write("a", "alpha");
        if tag_first {
            tree.run(Verb::tag());
        }
        let said = tree.run(TAGS_ONLY);
        assert_eq!((said.status(), said.summary.bytes), (0, 0));
        if !tag_first {
            assert_eq!(word(&tree, 0), Standing::Empty);
            tree.run(Verb::tag());
        }
        assert_eq!(word(&tree, 0), Standing::Recorded, "{tag_first}");
        assert_eq!(word(&tree, 98), Standing::Recorded, "{tag_first}");
        assert_eq!(word(&tree, 101), Standing::Overdue, "{tag_first}");
    }
}

/// Keeps the first progress of a run.
#[derive(Default)]
struct First(Option<Progress>);

impl Monitor for First {
    fn event(&mut self, _: &Event) -> ControlFlow<()> {
        assert!(self.0.is_some(), "it is told before anything is read");
        ControlFlow::Continue(())
    }

    fn progress(&mut self, progress: &Progress) {
        self.0.get_or_insert(*progress);
    }
}

#[test]
fn how_much_is_read_is_told_before() {
    let tree = Tree::new();
    tree.write("a", "alpha");
    tree.run(INIT);
    tree.write("b", "12345678");
    let options = crate::tree::usual().with(|options| options.survey = true);
    let mut first = First::default();
    let said = Run::of(INIT, tree.selection(), options).run(&mut first).unwrap();
    let first = first.0.unwrap();
    assert_eq!((first.total, first.elapsed_ns), (Some((2, 13)), 0));
    assert_eq!((first.files, first.bytes_passed), (1, 5));
    assert_eq!((said.bytes, said.actions(Action::Kept)), (8, 1));
}

#[test]
fn it_is_of_one_directory_and_of_no_other() {
    let (tree, other) = (Tree::new(), Tree::new());
    tree.write("a", "alpha");
    other.write("a", "alpha");
    let refused = |run: Run| run.run(&mut |_: &Event| {}).unwrap_err().to_string();
    let both = Run::new(INIT, [tree.path(), other.path()]);
    assert!(refused(both).contains("one directory"));
    assert!(refused(Run::init(tree.path()).dry_run()).contains("dry_run"));
    tree.run(INIT);
    let file = tree.at(".steadfast/catalogue.sqlite");
    let elsewhere = Run::init(other.path())
        .options(|options| options.catalogue.choice = steadfast::CatalogueUse::At(file));
    assert!(refused(elsewhere).contains("this catalogue is of"));
}

#[test]
fn a_suspect_file_is_counted_once_under_its_new_name_and_keeps_its_proof() {
    let tree = Tree::new();
    let before = tree.write("before", "alpha");
    if File::open(&before).unwrap().change_times() == ChangeTimes::Unknown {
        return skip(Need::System("change times"), "those of this file system prove nothing");
    }
    let run = |verb: Verb| tree.run_as(verb, &Options::default());
    assert_eq!(run(INIT).status(), 0);
    tree.corrupt("before", "alphb");
    assert_eq!(run(Verb::check()).verdict("before"), Some(Verdict::Suspect));
    fs::create_dir(tree.at("sub")).unwrap();
    fs::rename(before, tree.at("sub/after")).unwrap();
    for _ in 0..2 {
        assert_eq!(run(Verb::check()).verdict("sub/after"), Some(Verdict::Suspect));
        let now = (Options::default().now)();
        let state = FolderState::read(tree.path(), None, COVER_DAYS, now);
        let facts = state.facts().unwrap();
        assert_eq!(facts.open, [(FileState::Suspect, 1)].into());
        let paths: Vec<&Path> = facts.failures.iter().map(|it| it.path.as_path()).collect();
        assert_eq!((paths, facts.audit.never), (vec![Path::new("sub/after")], (0, 0)));
    }
    let file = tree.at(".steadfast/catalogue.sqlite");
    let catalogue = steadfast::catalogue::Catalogue::open_reader(&file).unwrap();
    assert_eq!(catalogue.verify().unwrap().problems, [""; 0]);
}
