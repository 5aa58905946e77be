//! A catalogued tree from outside: what only the catalogue can tell, and what it must not say.

use std::fs;
use std::process::Command;

use serde_json::Value;
use steadfast_testing::{Need, skip};

use crate::tree::{Outcome, Tree};

/// `a`, `b` and `sub/c`, tagged and catalogued, with one whole check behind them.
fn catalogued() -> Tree {
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag"]).succeeds();
    tree.run(["check"]).succeeds();
    tree
}

fn findings(outcome: &Outcome, name: &str) -> Vec<String> {
    let objects = outcome.objects();
    let named = objects.iter().filter(|object| object["finding"] == name);
    named.map(|object| object["path"].as_str().unwrap().to_owned()).collect()
}

fn remove_tag(tree: &Tree, name: &str) {
    let file = steadfast_sys::file::File::open(&tree.path(name)).unwrap();
    steadfast_sys::xattr::remove(&file, steadfast_sys::xattr::TAG).unwrap();
}

#[test]
fn a_catalogue_is_made_kept_and_not_walked() {
    let tree = catalogued();
    assert!(tree.path(".steadfast/catalogue.sqlite").is_file());
    let checked = tree.run(["check", "--json"]).succeeds();
    let summary = checked.summary();
    assert_eq!(summary["catalogued"], true);
    assert_eq!(summary["files"], 3, "{}", checked.stdout());
    assert_eq!(summary["verdicts"]["intact"], 3);
    tree.run(["init", "--tags-only", "."]).succeeds();
}

#[test]
fn a_file_that_is_gone_is_missing_until_that_is_accepted() {
    let tree = catalogued();
    fs::remove_file(tree.path("sub/c")).unwrap();
    for _ in 0..2 {
        let checked = tree.run(["check", "--json"]).ends(1);
        assert_eq!(checked.verdict("sub/c").as_deref(), Some("missing"), "{}", checked.stdout());
        assert_eq!(checked.summary()["verdicts"]["missing"], 1);
    }
    let text = tree.run(["check"]).ends(1);
    assert!(text.stdout().contains("\n1 file is missing. Bring back: "), "{}", text.stdout());
    tree.run(["update", "--accept-missing"]).succeeds();
    tree.run(["check"]).succeeds();
}

#[test]
fn what_was_not_looked_at_is_not_missing() {
    let tree = catalogued();
    fs::remove_file(tree.path("sub/c")).unwrap();
    tree.run(["check", "a"]).succeeds();
    tree.run(["check", "a", "b"]).succeeds();
    let excluded = tree.run(["check", "--json", "--exclude", "a", "b", "sub"]).ends(1);
    assert_eq!(excluded.verdict("a"), None);
    assert_eq!(excluded.verdict("sub/c").as_deref(), Some("missing"));
    tree.run(["check", "--json", "--no-catalogue"]).succeeds();
}

#[test]
fn a_file_with_another_name_has_moved() {
    let tree = catalogued();
    fs::create_dir(tree.path("elsewhere")).unwrap();
    fs::rename(tree.path("sub/c"), tree.path("elsewhere/d")).unwrap();
    let checked = tree.run(["check", "--json"]).succeeds();
    assert_eq!(checked.verdict("sub/c").as_deref(), Some("moved"), "{}", checked.stdout());
    let objects = checked.objects();
    let moved = objects.iter().find(|object| object["path"] == "sub/c").unwrap();
    assert_eq!(moved["moved_to"]["path"], "elsewhere/d");
    let again = tree.run(["check", "--json"]).succeeds();
    assert_eq!(again.summary()["verdicts"]["moved"], 0, "{}", again.stdout());
}

#[test]
fn an_edit_that_was_saved_anew_is_one_finding() {
    let tree = catalogued();
    fs::write(tree.path("new"), "other contents").unwrap();
    fs::rename(tree.path("new"), tree.path("a")).unwrap();
    let checked = tree.run(["check", "--json"]).ends(1);
    assert_eq!(checked.verdict("a").as_deref(), Some("modified"), "{}", checked.stdout());
    assert_eq!(findings(&checked, "tag lost"), [""; 0]);
    tree.run(["update"]).succeeds();
    assert_eq!(tree.run(["check", "--json"]).succeeds().verdict("a").as_deref(), Some("intact"));
}

#[test]
fn a_lost_tag_is_found_judged_by_and_put_back() {
    let tree = catalogued();
    remove_tag(&tree, "a");
    let checked = tree.run(["check", "--json"]).ends(1);
    assert_eq!(findings(&checked, "tag lost"), ["a"]);
    assert_eq!(checked.verdict("a").as_deref(), Some("intact"), "{}", checked.stdout());
    let restored = tree.run(["update", "--json", "--restore-tags"]).succeeds();
    assert_eq!(restored.summary()["actions"]["restored"], 1, "{}", restored.stdout());
    let after = tree.run(["check", "--json", "--no-catalogue"]).succeeds();
    assert_eq!(after.verdict("a").as_deref(), Some("intact"));
}

#[test]
fn decay_is_found_although_the_attribute_is_gone_and_its_tag_is_not_replaced() {
    let tree = catalogued();
    remove_tag(&tree, "b");
    tree.corrupt("b");
    for verb in
        [&["check", "--json"][..], &["tag", "--json"], &["update", "--json", "--restore-tags"]]
    {
        let outcome = tree.run(verb);
        if verb[0] != "tag" {
            assert_eq!(outcome.verdict("b").as_deref(), Some("corrupt"), "{}", outcome.stdout());
            assert_eq!(outcome.status, 3);
        }
    }
    let shown = tree.run(["show", "--json", "b"]).succeeds();
    assert!(shown.objects()[0]["stored"].is_null(), "nothing may hide the evidence");
}

#[test]
fn a_tag_that_fits_other_contents_than_the_catalogue_knows_is_told() {
    let tree = catalogued();
    let modified = fs::metadata(tree.path("a")).unwrap().modified().unwrap();
    fs::write(tree.path("a"), b"other").unwrap();
    let file = fs::File::options().write(true).open(tree.path("a")).unwrap();
    file.set_times(fs::FileTimes::new().set_modified(modified)).unwrap();
    remove_tag(&tree, "a");
    tree.run(["tag", "--no-catalogue", "a"]).succeeds();
    let checked = tree.run(["check", "--json"]).ends(1);
    assert_eq!(findings(&checked, "tag replaced"), ["a"], "{}", checked.stdout());
}

#[test]
fn a_quick_check_opens_nothing_and_says_that_it_proves_nothing() {
    let tree = catalogued();
    let quick = tree.run(["check", "--quick", "--json"]).succeeds();
    assert_eq!(quick.summary()["files"], 3);
    assert_eq!(quick.summary()["bytes"], 0);
    assert!(quick.stdout().contains("no contents were compared"), "{}", quick.stdout());
    tree.edit("a");
    fs::remove_file(tree.path("b")).unwrap();
    let quick = tree.run(["check", "--quick", "--json"]).ends(1);
    assert_eq!(findings(&quick, "changed"), ["a"]);
    assert_eq!(quick.verdict("b").as_deref(), Some("missing"));
    Tree::tagged().run(["check", "--quick"]).ends(2);
}

#[test]
fn a_budget_comes_round_to_every_file() {
    let mut tree = Tree::new();
    for number in 0..30 {
        tree = tree.file(format!("{}/{number}", number % 3), &[number; 1000]);
    }
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag"]).succeeds();
    let mut seen = std::collections::BTreeSet::new();
    for night in 1..=4 {
        let checked = tree.run(["check", "--json", "--verbose", "--max-bytes", "8k"]).succeeds();
        assert_eq!(checked.summary()["bytes"], 8_000, "night {night}");
        let paths = checked.objects().into_iter().filter_map(|object| {
            object["verdict"].is_string().then(|| object["path"].as_str().unwrap().to_owned())
        });
        seen.extend(paths);
    }
    assert_eq!(seen.len(), 30, "{seen:?}");
    let none = tree.run(["check", "--json", "--older-than", "1d"]).succeeds();
    assert_eq!(none.summary()["files"], 0, "{}", none.stdout());
    assert!(none.stdout().contains("nothing is due"));
    Tree::tagged().run(["check", "--older-than", "1d"]).ends(2);
}

#[test]
fn files_that_are_gone_do_not_eat_the_budget_of_those_that_are_there() {
    let mut tree = Tree::new();
    for number in 0..10_u8 {
        tree = tree.file(format!("{number}"), &[number; 1000]);
    }
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag"]).succeeds();
    for number in 0..5 {
        fs::remove_file(tree.path(number.to_string())).unwrap();
    }
    let checked = tree.run(["check", "--json", "--max-bytes", "3k"]).ends(1);
    let verdicts = &checked.summary()["verdicts"];
    assert_eq!((&verdicts["missing"], &verdicts["intact"]), (&5.into(), &3.into()));
}

#[test]
fn a_catalogue_may_be_elsewhere_and_an_empty_root_is_not_believed() {
    let tree = Tree::tagged();
    let elsewhere = Tree::new();
    let file = elsewhere.path("tree.sqlite");
    let file = file.to_str().unwrap();
    tree.run(["init", "--tags-only", "--catalogue", file]).succeeds();
    tree.run(["check", "--catalogue", file]).succeeds();
    fs::remove_dir_all(tree.path("sub")).unwrap();
    fs::remove_file(tree.path("a")).unwrap();
    fs::remove_file(tree.path("b")).unwrap();
    let refused = tree.run(["check", "--json", "--catalogue", file]).ends(2);
    assert!(!refused.stdout().contains("missing\""), "{}", refused.stdout());
    assert!(!refused.stderr().is_empty());
}

#[test]
fn a_damaged_catalogue_is_set_aside_and_made_anew_from_the_tags() {
    let tree = catalogued();
    let file = tree.path(".steadfast/catalogue.sqlite");
    fs::write(&file, b"not a catalogue at all, though long enough to look like something").unwrap();
    let refused = tree.run(["check"]).ends(2);
    assert!(refused.stderr().contains("--rebuild"), "{}", refused.stderr());
    tree.run(["init", "--tags-only", "--rebuild", "."]).succeeds();
    let kept: Vec<_> = fs::read_dir(tree.path(".steadfast")).unwrap().collect();
    assert!(kept.len() >= 2, "the damaged one stays under another name: {kept:?}");
    fs::remove_file(tree.path("sub/c")).unwrap();
    let checked = tree.run(["check", "--json"]).ends(1);
    assert_eq!(checked.verdict("sub/c").as_deref(), Some("missing"), "{}", checked.stdout());
}

#[test]
fn two_catalogued_trees_in_one_run_are_refused_with_what_to_do() {
    let (one, other) = (catalogued(), catalogued());
    let other = other.path("");
    let refused = one.run(["check", ".", other.to_str().unwrap()]).ends(2);
    assert!(refused.stderr().contains("--no-catalogue"), "{}", refused.stderr());
    one.run(["check", "--no-catalogue", ".", other.to_str().unwrap()]).succeeds();
}

#[test]
fn where_no_attribute_can_be_the_catalogue_keeps_the_tags() {
    // Any user may mount one in a namespace of its own; where that is forbidden, root still may.
    let script = "mount -t ramfs none \"$2\" && cd \"$2\" && mkdir d && echo alpha > d/a && \
                  echo beta > b && touch -d yesterday d/a b && \
                  \"$1\" init --tags-only . > /dev/null && \
                  \"$1\" tag --json && \"$1\" check --json && \
                  printf 'X' | dd of=b conv=notrunc status=none && touch -d yesterday b && \
                  \"$1\" check --json";
    let folder = Tree::new();
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", script, "sh"]);
    command.arg(crate::tree::PROGRAM).arg(folder.path("."));
    command.env("STEADFAST_IGNORE_CTIME", "1").env("XDG_STATE_HOME", folder.state(""));
    let outcome = Outcome::of(&mut command);
    if outcome.stdout.is_empty() && outcome.stderr().contains("unshare") {
        return skip(Need::Root, outcome.stderr());
    }
    let summaries: Vec<Value> = outcome
        .objects()
        .into_iter()
        .filter(|object| !object["summary"].is_null())
        .map(|object| object["summary"].clone())
        .collect();
    assert_eq!(summaries.len(), 3, "{}\n{}", outcome.stdout(), outcome.stderr());
    assert_eq!(summaries[0]["actions"]["tagged"], 2, "{}", outcome.stdout());
    assert_eq!(summaries[1]["verdicts"]["intact"], 2, "{}", outcome.stdout());
    let judged = &summaries[2]["verdicts"];
    assert_eq!((&judged["corrupt"], &judged["modified"]), (&Value::from(0), &Value::from(1)));
}

#[test]
fn only_what_is_accepted_replaces_what_the_catalogue_knows() {
    let tree = catalogued();
    tree.corrupt("a");
    remove_tag(&tree, "a");
    tree.run(["tag", "--no-catalogue", "a"]).succeeds();
    tree.touch("a");
    for _ in 0..2 {
        let updated = tree.run(["update", "--json"]).ends(1);
        assert_eq!(findings(&updated, "tag replaced"), ["a"], "{}", updated.stdout());
    }
    tree.run(["update", "--accept-missing"]).succeeds();
    tree.run(["check"]).succeeds();
}

#[test]
fn to_accept_one_thing_is_not_to_accept_another() {
    let tree = catalogued();
    fs::remove_file(tree.path("sub/c")).unwrap();
    tree.corrupt("b");
    tree.run(["update", "--accept", "."]).ends(1);
    tree.run(["update", "--dry-run", "--accept-missing"]).ends(1);
    let checked = tree.run(["check", "--json"]).ends(1);
    assert_eq!(checked.verdict("sub/c").as_deref(), Some("missing"), "{}", checked.stdout());
}

#[test]
fn tags_move_to_another_algorithm_with_the_catalogue() {
    let tree = catalogued();
    tree.run(["update", "--convert", "--algorithm", "sha512", "."]).succeeds();
    let checked = tree.run(["check", "--json"]).succeeds();
    assert_eq!(checked.summary()["findings"], serde_json::json!({}), "{}", checked.stdout());
}

#[test]
fn what_is_due_is_due_beneath_the_path_and_links_on_the_way_are_told() {
    let tree = catalogued();
    tree.corrupt("a");
    tree.run(["check", "--older-than", "0s", "sub"]).succeeds();
    tree.run(["check", "--older-than", "0s"]).ends(3);
    fs::rename(tree.path("sub"), tree.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", tree.path("sub")).unwrap();
    let checked = tree.run(["check", "--json", "--older-than", "0s"]);
    assert_eq!(checked.summary()["verdicts"]["missing"], 0, "{}", checked.stdout());
    assert_eq!(checked.summary()["verdicts"]["unreadable"], 1, "{}", checked.stdout());
}
