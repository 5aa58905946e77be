//! Files that moved and were seen at their new path by another run before the old one was missed.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast::catalogue::{Finding, RunState};
use steadfast::{Tag, Verdict};

use crate::catalogue::{Garden, Way};

/// A run over one folder.
fn over<'a>(verb: &'a str, folder: &'a str) -> Way<'a> {
    Way { verb, roots: vec![folder], ..Way::default() }
}

/// A check that catalogues nothing: it is told to stop after so many files.
fn killed(files: usize) -> Way<'static> {
    Way { verb: "check", stop_after: Some(files), ..Way::default() }
}

impl Garden {
    /// Copies a file with its attribute.
    fn copy(&mut self, from: &str, to: &str) {
        fs::create_dir_all(self.tree.at(to).parent().unwrap()).unwrap();
        fs::copy(self.tree.at(from), self.tree.at(to)).unwrap();
        let tag = self.attributes[Path::new(from)];
        self.attributes.insert(PathBuf::from(to), tag);
    }

    fn said(&mut self, way: &Way<'_>) -> Vec<String> {
        self.run(way).all()
    }

    fn tag_at(&self, path: &str) -> Option<Tag> {
        self.reader().tag(Path::new(path)).unwrap()
    }
}

#[test]
fn a_file_that_another_run_saw_first_has_moved() {
    for verb in ["check", "tag", "update"] {
        let mut garden = Garden::planted(&["old/a", "old/b", "new/c"]);
        garden.rename("old/a", "new/z");
        assert_eq!(garden.said(&over(verb, "new")), ["new new/z"], "{verb}");
        assert_eq!(garden.check().all(), ["moved old/a new/z"], "{verb}");
        assert_eq!(garden.check().all(), [""; 0], "{verb}");
        assert_eq!(garden.tag_at("old/a"), None);
    }
}

#[test]
fn a_file_that_a_killed_run_saw_first_has_moved() {
    let mut garden = Garden::planted(&["b", "c", "z/old"]);
    garden.rename("z/old", "a");
    assert_eq!(garden.said(&killed(1)), ["new a"]);
    assert_eq!(garden.said(&over("check", "b")), [""; 0], "a whole run in between");
    assert_eq!(garden.check().all(), ["moved z/old a"]);
}

#[test]
fn a_file_that_was_missing_in_a_check_of_its_folder_has_moved() {
    let mut garden = Garden::planted(&["new/c", "old/a", "old/b"]);
    garden.rename("old/a", "new/z");
    assert_eq!(garden.said(&over("check", "old")), ["missing old/a"], "nobody saw the new path");
    assert_eq!(garden.said(&over("check", "new")), ["new new/z"]);
    garden.said(&over("check", "old/b"));
    assert_eq!(garden.said(&over("check", "old")), ["moved old/a new/z"]);
    assert_eq!(garden.check().all(), [""; 0]);
}

#[test]
fn the_missing_file_of_a_folder_that_was_checked_often_is_last_seen_when_it_was() {
    let mut garden = Garden::planted(&["old/a", "old/b"]);
    garden.remove("old/a");
    assert_eq!(garden.check().all(), ["missing old/a"]);
    assert_eq!(garden.check().all(), ["missing old/a"]);
    // It comes back from a backup, to another place, and one check sees only that.
    garden.tree.write("new/a", "old/a");
    garden.said(&over("tag", "new"));
    garden.said(&over("check", "old/b"));
    garden.tree.write("old/c", "c");
    garden.said(&over("tag", "old"));
    assert_eq!(garden.check().all(), [""; 0], "`tag` settled it");
}

#[test]
fn several_moves_in_a_row_end_at_the_last_path() {
    let mut garden = Garden::planted(&["k/c", "z/a"]);
    for (from, to, folder) in [("z/a", "m/b", "m"), ("m/b", "a/c", "a"), ("a/c", "x/d", "x")] {
        garden.rename(from, to);
        assert_eq!(garden.said(&over("check", folder)), [format!("new {to}")]);
    }
    let mut told = garden.check().all();
    told.sort();
    assert_eq!(told, ["moved a/c x/d", "moved m/b x/d", "moved z/a x/d"]);
    assert_eq!(garden.check().all(), [""; 0]);
}

#[test]
fn a_move_there_and_back_leaves_nothing_missing() {
    let mut garden = Garden::planted(&["k/c", "z/a"]);
    garden.rename("z/a", "m/b");
    garden.said(&over("check", "m"));
    garden.rename("m/b", "z/a");
    assert_eq!(garden.check().all(), ["moved m/b z/a"]);
    assert_eq!(garden.check().all(), [""; 0]);
}

#[test]
fn of_two_candidates_the_one_with_the_inode_is_taken() {
    let mut garden = Garden::planted(&["old/a", "k"]);
    garden.copy("old/a", "new/a");
    garden.rename("old/a", "new/z");
    garden.said(&over("check", "new"));
    assert_eq!(garden.check().all(), ["moved old/a new/z"], "and not the copy of the same name");

    // Two files of the same contents are gone and one came: it is the one with its inode.
    let mut garden = Garden::new(&[]);
    garden.tree.write("old/a", "same");
    garden.tree.write("old/b", "same");
    garden.said(&Way { verb: "tag", ..Way::default() });
    garden.check();
    garden.rename("old/b", "new/a");
    garden.remove("old/a");
    garden.said(&over("check", "new"));
    assert_eq!(garden.check().all(), ["missing old/a", "moved old/b new/a"]);
    assert_eq!(garden.check().all(), ["missing old/a"], "one file is not two");
}

#[test]
fn a_copy_that_came_while_the_file_was_away_is_where_it_went() {
    let mut garden = Garden::planted(&["old/a", "k"]);
    garden.copy("old/a", "new/z");
    garden.remove("old/a");
    garden.said(&over("tag", "new"));
    assert_eq!(garden.check().all(), ["moved old/a new/z"], "as a move to another volume");
}

#[test]
fn a_copy_that_was_there_before_is_not_where_a_file_went() {
    let mut garden = Garden::planted(&["a", "k"]);
    garden.copy("a", "b");
    assert_eq!(garden.check().all(), ["new b"]);
    garden.remove("a");
    for _ in 0..3 {
        assert_eq!(garden.check().all(), ["missing a"], "both were there in one run");
        garden.said(&over("check", "b"));
    }
    // Nor one without a tag, which gets it later.
    let mut garden = Garden::planted(&["a", "k"]);
    garden.tree.write("b", "a");
    assert_eq!(garden.check().all(), ["new b"]);
    garden.remove("a");
    garden.said(&over("tag", "b"));
    assert_eq!(garden.check().all(), ["missing a"]);
}

#[test]
fn a_copy_that_is_gone_or_changed_is_not_where_a_file_went() {
    // The copy was seen, and then both were deleted.
    let mut garden = Garden::planted(&["old/a", "k"]);
    garden.copy("old/a", "new/z");
    garden.said(&over("check", "new"));
    garden.remove("old/a");
    garden.remove("new/z");
    let mut told = garden.said(&over("check", "old"));
    assert_eq!(told, ["missing old/a"], "the new folder is not looked at, and yet");
    told = garden.check().all();
    told.sort();
    assert_eq!(told, ["missing new/z", "missing old/a"]);

    // The copy was edited.
    let mut garden = Garden::planted(&["old/a", "k"]);
    garden.copy("old/a", "new/z");
    garden.said(&over("check", "new"));
    garden.tree.edit("new/z", "other contents");
    garden.remove("old/a");
    assert_eq!(garden.said(&over("check", "old")), ["missing old/a"]);
    garden.said(&over("update", "new"));
    assert_eq!(garden.check().all(), ["missing old/a"]);
}

#[test]
fn a_file_that_was_edited_after_it_moved_has_moved() {
    let mut garden = Garden::planted(&["old/a", "k"]);
    garden.rename("old/a", "new/z");
    garden.said(&over("check", "new"));
    garden.tree.edit("new/z", "other contents");
    let told = garden.check();
    assert_eq!(told.all(), ["moved old/a new/z"]);
    assert!(told.verdicts.contains(&(PathBuf::from("new/z"), Verdict::Modified)));

    // And the edit was accepted.
    let mut garden = Garden::planted(&["old/a", "k"]);
    garden.rename("old/a", "new/z");
    garden.said(&over("check", "new"));
    garden.tree.edit("new/z", "other contents");
    garden.said(&over("update", "new"));
    assert_eq!(garden.check().all(), ["moved old/a new/z"]);
    assert_eq!(garden.reader().verify().unwrap().problems, [""; 0]);
}

/// Rows go while others of the slice are looked at; the slice must not be taken for damaged.
#[test]
fn files_that_go_and_files_that_moved_are_settled_in_one_slice() {
    let mut garden = Garden::planted(&["new/a", "old/a", "old/b", "old/c", "old/d"]);
    garden.rename("old/a", "new/1");
    garden.remove("old/b");
    garden.rename("old/c", "old/e");
    assert_eq!(garden.said(&over("check", "new")), ["new new/1"]);
    let said = garden.said(&Way { verb: "update", ..Way::default() });
    assert!(said.contains(&"moved old/a new/1".to_owned()), "{said:?}");
    assert!(said.contains(&"moved old/c old/e".to_owned()), "{said:?}");
    assert_eq!(garden.tag_at("old/b"), None);
    assert_eq!(garden.check().all(), [""; 0]);
}

#[test]
fn a_stop_ends_the_search_for_missing_files_and_the_next_run_finds_the_rest() {
    let names: Vec<String> = (0..40).map(|number| format!("{}/{number}", number % 4)).collect();
    let mut files = vec!["present"];
    files.extend(names.iter().map(String::as_str));
    let mut garden = Garden::planted(&files);
    names.iter().for_each(|name| garden.remove(name));
    for (stop_at, state) in [(0, RunState::Interrupted), (3, RunState::Interrupted)] {
        let way = Way { verb: "check", stop_at_finding: Some(stop_at), ..Way::default() };
        let told = garden.run(&way);
        assert_eq!((told.findings.len(), told.record.state), (stop_at, state));
    }
    let told = garden.check();
    let known = |finding: &&Finding| matches!(finding, Finding::Missing { known: true, .. });
    assert_eq!((told.findings.len(), told.record.state), (names.len(), RunState::Whole));
    assert_eq!(told.findings.iter().filter(known).count(), 3, "those of the stopped run");
    assert_eq!(garden.reader().verify().unwrap().problems, [""; 0]);
}
