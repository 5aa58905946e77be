//! Which files: lists, and patterns of what to leave out.

use crate::tree::Tree;

fn paths(outcome: &crate::tree::Outcome) -> Vec<String> {
    let objects = outcome.objects();
    let named = objects.iter().filter_map(|object| object["path"].as_str());
    named.map(str::to_owned).collect()
}

#[test]
fn paths_come_from_lists() {
    let tree = Tree::small().file("odd\nname", b"").file("list", b"a\n\nsub\n");
    let lines = tree.run(["hash", "--json", "--files-from", "list"]).succeeds();
    assert_eq!(paths(&lines), ["a", "sub/c"]);
    let stdin = tree.run_with(["hash", "--json", "--files-from", "-", "b"], b"a\n").succeeds();
    assert_eq!(paths(&stdin), ["b", "a"]);
    let null = ["hash", "--json", "-0", "--files-from", "-"];
    let nul = tree.run_with(null, b"odd\nname\0a\0").succeeds();
    assert_eq!(paths(&nul), ["odd\nname", "a"]);
    let empty = tree.run_with(null, b"").ends(2);
    assert_eq!(paths(&empty), [""; 0]);
}

#[test]
fn patterns_leave_out_and_are_counted() {
    let tree = Tree::small().file("sub/x.tmp", b"").file("patterns", b"# no\n/b\n");
    let all = ["hash", "--json", "."];
    assert_eq!(paths(&tree.run(all).succeeds()), ["a", "b", "patterns", "sub/c", "sub/x.tmp"]);
    let excluded = ["hash", "--json", "--exclude", "*.tmp", "--exclude-from", "patterns", "."];
    let outcome = tree.run(excluded).succeeds();
    assert_eq!(paths(&outcome), ["a", "patterns", "sub/c"]);
    assert_eq!(outcome.summary()["skipped"]["excluded"], 2);
    let ignored = Tree::small().file(".gitignore", b"*\n");
    assert_eq!(paths(&ignored.run(all).succeeds()).len(), 4, "git's own files are not honoured");
}

#[test]
fn a_list_in_the_wrong_folder_is_one_sentence() {
    let mut tree = Tree::new().file("empty/other", b"");
    let numbers = 0..1_200;
    for number in numbers.clone() {
        tree = tree.file(format!("in/{number}"), b"");
    }
    let sums = tree.run(["hash", "in"]).succeeds();
    let names: String = numbers.map(|number| format!("{number}\n")).collect();
    let tree = tree.file("sums", sums.stdout().as_bytes()).file("names", names.as_bytes());
    for arguments in [
        &["check", "--manifest", "sums", "empty"][..],
        &["import", "sums", "empty"],
        &["check", "--files-from", "names"],
    ] {
        let said = tree.run(arguments).ends(2);
        assert_eq!((said.stdout(), said.stderr().lines().count()), ("", 1), "{said:?}");
    }
    // One of them is enough to look for the others, wherever in the list it is.
    let last = sums.stdout().lines().last().unwrap().split_once("  ").unwrap().1;
    let tree = tree.file(format!("empty/{last}"), b"");
    let said = tree.run(["check", "--manifest", "sums", "--json", "empty"]).ends(1);
    assert_eq!(said.summary()["verdicts"]["missing"], 1_199);
}
