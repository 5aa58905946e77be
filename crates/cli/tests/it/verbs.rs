//! Each verb: what it says and what it leaves behind.

use crate::tree::Tree;

#[test]
fn tag_then_check() {
    let tree = Tree::small();
    let tagged = tree.run(["tag", "."]).succeeds();
    assert!(
        tagged.stdout().starts_with("looked at 3 files: 3 tagged\n14 B in "),
        "{}",
        tagged.stdout()
    );
    assert_eq!(tagged.stderr(), "");
    let again = tree.run(["tag", "."]).succeeds();
    assert!(
        again.stdout().starts_with("looked at 3 files: 3 kept\nnothing read, in "),
        "{}",
        again.stdout()
    );
    let checked = tree.run(["check"]).succeeds();
    assert!(
        checked.stdout().starts_with("checked 3 files: 3 intact\n14 B in "),
        "{}",
        checked.stdout()
    );
    assert!(checked.stdout().ends_with("B/s)\n"), "over before anything could limit it");
}

#[test]
fn a_run_of_note_says_what_binds_it() {
    let tree = Tree::new().file("a", &vec![7; 8 << 20]);
    tree.run(["tag", "."]).succeeds();
    // So slow that the limit is what binds it, on a busy machine too.
    let said = tree.run(["check", "--rate-limit", "10MB"]).succeeds();
    assert!(said.stdout().contains(" MB/s, your limit)\n"), "{}", said.stdout());
    assert!(!said.stdout().contains("bound by"), "the account is for --verbose");
    let said = tree.run(["check", "--verbose", "--rate-limit", "10MB"]).succeeds();
    assert!(said.stdout().contains("\nbound by the rate limit"), "{}", said.stdout());
    let said = tree.run(["check", "--json", "--rate-limit", "10MB"]).succeeds();
    assert!(said.stdout().contains("\"bound\":\"rate_limit\""), "{}", said.stdout());
}

#[test]
fn each_finding_is_told_once_and_then_what_to_do() {
    let tree = Tree::tagged();
    tree.corrupt("a");
    tree.edit("b");
    tree.touch("sub/c");
    let checked = tree.run(["check", "."]).ends(3);
    let text = checked.stdout();
    assert!(
        text.starts_with("corrupt     a  (5 bytes with other contents; its date is still"),
        "{text}"
    );
    assert!(text.contains("\nmodified    b  (edited "), "{text}");
    let counts = "\n\nchecked 3 files: 1 corrupt, 1 modified, 1 touched\n";
    assert!(text.contains(counts), "{text}");
    // Typed elsewhere, it must not mean another folder.
    let mends = "\n\n1 file is corrupt. Mend: steadfast repair --from BACKUP /";
    assert!(text.contains(mends), "{text}");
    assert_eq!(text.lines().count(), 7, "{text}");
    let quiet = tree.run(["check", "--quiet", "."]).ends(3);
    assert_eq!(quiet.stdout().lines().count(), 2, "{}", quiet.stdout());
    let verbose = tree.run(["check", "--verbose", "."]).ends(3);
    assert!(verbose.stdout().contains("\ntouched     sub/c  (same contents"));
}

#[test]
fn update_settles_what_is_plain_and_keeps_evidence() {
    let tree = Tree::tagged().file("new", b"new");
    tree.corrupt("a");
    tree.edit("b");
    let updated = tree.run(["update", "."]).ends(3);
    assert!(updated.stdout().contains("\nretagged    b  (edited "), "{}", updated.stdout());
    assert!(!updated.stdout().contains("  new"), "{}", updated.stdout());
    assert!(updated.stdout().contains("; 1 tagged, 1 retagged\n"), "{}", updated.stdout());
    let checked = tree.run(["check", "--json", "."]).ends(3);
    assert_eq!(checked.verdict("a").as_deref(), Some("corrupt"));
    assert_eq!(checked.verdict("b").as_deref(), Some("intact"));
    assert_eq!(checked.verdict("new").as_deref(), Some("intact"));
}

#[test]
fn what_is_retagged_is_listed_and_what_moves_to_another_algorithm_is_not() {
    let tree = Tree::tagged();
    tree.edit("a");
    let updated = tree.run(["update", "--json", "--quiet", "."]).succeeds();
    assert_eq!(updated.summary()["actions"]["retagged"], 1);
    tree.edit("b");
    let quiet = tree.run(["update", "--quiet", "."]).succeeds();
    assert_eq!((quiet.stdout(), quiet.stderr()), ("", ""));
    tree.corrupt("b");
    let accepted = tree.run(["update", "--accept", "."]).succeeds();
    assert!(accepted.stdout().starts_with("retagged    b  ("), "{}", accepted.stdout());
    let moved = tree.run(["update", "--convert", "--algorithm", "blake3", "."]).succeeds();
    let counts = "looked at 3 files: 3 intact, 3 retagged\n";
    assert!(moved.stdout().starts_with(counts), "{}", moved.stdout());
}

#[test]
fn decay_is_accepted_only_when_told() {
    let tree = Tree::tagged();
    tree.corrupt("a");
    tree.edit("b");
    tree.run(["update", "."]).ends(3);
    let checked = tree.run(["check", "--json", "."]).ends(3);
    assert_eq!(checked.verdict("b").as_deref(), Some("intact"));
    let refused = tree.run(["update", "--accept"]).ends(2);
    assert!(refused.stderr().contains("update --accept needs a PATH"), "{}", refused.stderr());
    tree.run(["update", "--accept", "a"]).succeeds();
    tree.run(["check", "."]).succeeds();
    let shown = tree.run(["show", "a"]).succeeds();
    assert!(shown.stdout().contains("\n  previous tag\n    sha256      "), "{}", shown.stdout());
}

#[test]
fn untag_removes_tags_and_nothing_else() {
    let tree = Tree::tagged();
    let refused = tree.run(["untag"]).ends(2);
    assert!(refused.stderr().contains("untag needs a PATH"), "{}", refused.stderr());
    let before = std::fs::metadata(tree.path("a")).unwrap().modified().unwrap();
    let removed = tree.run(["untag", "."]).succeeds();
    assert!(removed.stdout().starts_with("looked at 3 files: 3 removed\n"), "{}", removed.stdout());
    assert_eq!(std::fs::metadata(tree.path("a")).unwrap().modified().unwrap(), before);
    assert_eq!(std::fs::read(tree.path("a")).unwrap(), b"alpha");
    let checked = tree.run(["check"]).ends(2);
    assert!(checked.stderr().ends_with("otherwise `steadfast init DIR` records them\n"));
    tree.run(["check", "--require-tags"]).ends(1);
}

#[test]
fn show_is_how_a_tag_is_read() {
    let tree = Tree::tagged().file("new", b"");
    tree.damage_tag("b");
    let shown = tree.run(["show", "a", "b", "new"]).ends(2);
    let text = shown.stdout();
    let digest = "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8";
    assert!(text.starts_with(&format!("a\n  sha256      {digest}\n  length      5 bytes\n")));
    assert!(text.contains("\nb\n  cannot read the tag: "), "{text}");
    assert!(text.ends_with("\nnew\n  no tag\n"), "{text}");
}

#[test]
fn dry_runs_write_nothing() {
    let tree = Tree::small();
    let dry = tree.run(["tag", "--dry-run", "-v", "."]).succeeds();
    assert!(dry.stdout().contains("would tag      a\n"), "{}", dry.stdout());
    assert!(dry.stdout().contains("; nothing was written\n"), "{}", dry.stdout());
    assert!(tree.run(["show", "a"]).stdout().ends_with("  no tag\n"));
    tree.run(["tag", "."]).succeeds();
    tree.edit("a");
    tree.run(["update", "--dry-run", "."]).ends(1);
    tree.run(["untag", "--dry-run", "."]).succeeds();
    let checked = tree.run(["check", "--json"]).ends(1);
    assert_eq!(checked.verdict("a").as_deref(), Some("modified"));
    assert_eq!(checked.verdict("b").as_deref(), Some("intact"));
}

#[test]
fn another_algorithm_is_kept_in_the_tag() {
    let tree = Tree::small();
    tree.run(["tag", "--algorithm", "BLAKE3", "."]).succeeds();
    let checked = tree.run(["check", "--json", "a"]).succeeds();
    assert_eq!(checked.objects()[0]["stored"]["algorithm"], "blake3");
    assert_eq!(checked.objects()[0]["algorithm"], "blake3");
}

#[test]
fn hard_links_share_tag_and_reading() {
    let tree = Tree::new().file("a", b"alpha");
    std::fs::hard_link(tree.path("a"), tree.path("b")).unwrap();
    tree.run(["tag", "."]).succeeds();
    let checked = tree.run(["check", "--json", "."]).succeeds();
    assert_eq!(checked.summary()["verdicts"]["intact"], 2);
    assert_eq!(checked.summary()["bytes"], 5);
    let linked = checked.objects().iter().filter(|object| object["linked"] == true).count();
    assert_eq!(linked, 1);
}

#[test]
fn links_are_passed_by_and_counted() {
    let tree = Tree::small();
    std::os::unix::fs::symlink("a", tree.path("link")).unwrap();
    std::os::unix::fs::symlink(".", tree.path("sub/loop")).unwrap();
    let tagged = tree.run(["tag", "."]).succeeds();
    assert!(tagged.stdout().starts_with("looked at 3 files: 3 tagged; skipped 2 symbolic links\n"));
    let named = tree.run(["tag", "--json", "link"]).succeeds();
    assert_eq!(named.summary()["actions"]["kept"], 1);
}

#[test]
fn help_tells_examples_and_statuses() {
    let tree = Tree::new();
    for verb in ["tag", "check", "update", "untag", "show", "hash"] {
        let help = tree.run([verb, "--help"]).succeeds();
        assert!(help.stdout().contains("\nExamples:\n  "), "{verb}");
        assert!(help.stdout().contains("\nExit status: 0 "), "{verb}");
    }
    let version = tree.run(["--version"]).succeeds();
    assert!(version.stdout().starts_with(concat!("steadfast ", env!("CARGO_PKG_VERSION"), "\n")));
    assert!(version.stdout().contains("portable"), "{}", version.stdout());
}
