//! What was found wrong stays said, and decay becomes nobody's reference: other tools' tags, lost
//! and damaged attributes, disputed tags, exports, audits.

use std::fs;
use std::process::Command;

use serde_json::Value;
use steadfast_sys::file::File;
use steadfast_sys::xattr;
use steadfast_testing::{Need, skip};

use crate::tree::{Outcome, Tree};

/// `a`, `b` and `sub/c`, catalogued, tagged and checked.
fn kept() -> Tree {
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag"]).succeeds();
    tree.run(["check"]).succeeds();
    tree
}

fn remove_tag(tree: &Tree, name: &str) {
    xattr::remove(&File::open(&tree.path(name)).unwrap(), xattr::TAG).unwrap();
}

fn tag_bytes(tree: &Tree, name: &str, attribute: &str) -> Option<Vec<u8>> {
    let mut value = [0; 1024];
    let file = File::open(&tree.path(name)).unwrap();
    let len = xattr::get(&file, attribute, &mut value).unwrap();
    len.map(|len| value[..len].to_vec())
}

fn findings(outcome: &Outcome, name: &str) -> usize {
    outcome.objects().iter().filter(|object| object["finding"] == name).count()
}

/// Runs a script on a file system without attributes; records a skip and returns `None` where none
/// can be mounted.
fn on_ramfs(script: &str) -> Option<Outcome> {
    // Any user may mount one in a namespace of its own; where that is forbidden, root still may.
    let script = format!("mount -t ramfs none \"$2\" && cd \"$2\" && {script}");
    let folder = Tree::new();
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", &script, "sh"]);
    command.arg(crate::tree::PROGRAM).arg(folder.path("."));
    command.env("STEADFAST_IGNORE_CTIME", "1").env("XDG_STATE_HOME", folder.state(""));
    let outcome = Outcome::of(&mut command);
    if outcome.stdout.is_empty() && outcome.stderr().contains("unshare") {
        skip(Need::Root, outcome.stderr());
        return None;
    }
    Some(outcome)
}

#[test]
fn what_another_tool_calls_corrupt_is_not_tagged() {
    for verb in ["tag", "update"] {
        let tree = Tree::tagged();
        tree.run(["export", "--attributes", "shatag", "."]).succeeds();
        tree.run(["untag", "."]).succeeds();
        tree.corrupt("a");
        tree.edit("b");
        tree.run([verb, "--dry-run", "."]).ends(3);
        let said = tree.run([verb, "--json", "."]).ends(3);
        assert_eq!(said.verdict("a").as_deref(), Some("corrupt"), "{}", said.stdout());
        assert_eq!(said.summary()["actions"]["tagged"], 2, "an edit is no decay");
        assert_eq!(tag_bytes(&tree, "a", xattr::TAG), None);
        tree.run(["check", "."]).ends(3);
        let repair = tree.run(["repair", "--yes", "."]).ends(3);
        assert!(repair.stdout().contains("could not be told"), "{}", repair.stdout());
    }
}

#[test]
fn what_differs_from_another_tools_record_is_not_tagged() {
    for verb in ["tag", "update"] {
        let tree = Tree::small();
        for name in ["a", "b"] {
            let digest = tree.run(["hash", name]).succeeds().stdout()[..64].to_owned();
            let file = File::open(&tree.path(name)).unwrap();
            // Without a time: what happened to the file since then is not known.
            xattr::set(&file, "user.sha256", digest.as_bytes()).unwrap();
        }
        tree.corrupt("a");
        let said = tree.run([verb, "--json", "."]).ends(1);
        assert_eq!(said.verdict("a").as_deref(), Some("differs"), "{}", said.stdout());
        assert_eq!(said.summary()["actions"]["tagged"], 2, "the others fit");
        assert_eq!(tag_bytes(&tree, "a", xattr::TAG), None);
        tree.run(["check", "."]).ends(1);
        let export = tree.run(["export", "--format", "gnu", "--read", "."]).ends(1);
        assert!(!export.stdout().contains("  a\n"), "{}", export.stdout());
        assert!(export.stderr().contains("another tool"), "{}", export.stderr());
        let repair = tree.run(["repair", "--dry-run", "."]).ends(1);
        assert!(repair.stdout().contains("Other than a list says"), "{}", repair.stdout());
        let tree_of_it = tree.run(["init", "--json", "."]).ends(1);
        assert_eq!(tree_of_it.verdict("a").as_deref(), Some("differs"));
    }
}

#[test]
fn only_who_reads_a_file_or_accepts_its_loss_settles_a_failure() {
    // The attribute is lost, and still lost.
    let tree = kept();
    remove_tag(&tree, "a");
    tree.run(["check"]).ends(1);
    tree.run(["status", "--audit"]).ends(1);
    tree.run(["check"]).ends(1);
    tree.run(["status", "--audit"]).ends(1);
    tree.run(["update", "--restore-tags"]).succeeds();
    tree.run(["status", "--audit"]).succeeds();
    // Corrupt, gone for a while, and back unread.
    let tree = kept();
    tree.corrupt("a");
    tree.run(["check"]).ends(3);
    fs::rename(tree.path("a"), tree.path("../away-a")).unwrap();
    tree.run(["check"]).ends(1);
    fs::rename(tree.path("../away-a"), tree.path("a")).unwrap();
    tree.run(["tag"]).succeeds();
    let history = tree.run(["show", "--history", "--json", "a"]).succeeds();
    let last = history.objects().into_iter().rev().find(|object| object["verb"] == "tag").unwrap();
    assert_eq!(last["verdict"], Value::Null, "{}", history.stdout());
    assert_eq!(last["happened"][0]["what"], "returned");
    tree.run(["status", "--audit"]).ends(3);
    tree.run(["update", "--accept", "a"]).succeeds();
    tree.run(["status", "--audit"]).succeeds();
    // Corrupt, and moved unread.
    let tree = kept();
    tree.corrupt("a");
    tree.run(["check"]).ends(3);
    fs::rename(tree.path("a"), tree.path("z")).unwrap();
    let moved = tree.run(["tag", "--json"]).succeeds();
    assert_eq!(moved.verdict("a").as_deref(), Some("moved"), "{}", moved.stdout());
    let audit = tree.run(["status", "--audit", "--json"]).ends(3);
    let failure = &audit.objects()[..];
    let failure = failure.iter().find(|object| object["about"] == "failure").unwrap();
    assert_eq!((&failure["settled"], &failure["now"]), (&false.into(), &"fine".into()));
    tree.run(["update", "--accept", "z"]).succeeds();
    tree.run(["status", "--audit"]).succeeds();
    // A loss that is accepted is settled; so is what could not be opened and now can.
    let tree = kept();
    fs::remove_file(tree.path("a")).unwrap();
    tree.run(["check"]).ends(1);
    tree.run(["update", "--accept-missing"]).succeeds();
    tree.run(["status", "--audit"]).succeeds();
}

#[test]
fn an_export_of_contents_leaves_out_what_only_others_know_to_be_corrupt() {
    let export = ["export", "--format", "gnu", "--read", "."];
    // The attribute is lost and the catalogue knows better.
    let tree = kept();
    tree.corrupt("a");
    remove_tag(&tree, "a");
    let said = tree.run(export).ends(3);
    assert!(!said.stdout().contains("  a\n") && said.stdout().contains("  b\n"));
    // Another tool knows better.
    let tree = Tree::tagged();
    tree.run(["export", "--attributes", "shatag", "."]).succeeds();
    tree.run(["untag", "."]).succeeds();
    tree.corrupt("a");
    let said = tree.run(export).ends(3);
    assert!(!said.stdout().contains("  a\n") && said.stdout().contains("  b\n"));
    // Nobody can tell: the attribute is damaged, and there is no catalogue.
    let tree = Tree::tagged();
    tree.corrupt("a");
    tree.damage_tag("a");
    let said = tree.run(export).ends(2);
    assert!(!said.stdout().contains("  a\n") && said.stdout().contains("  b\n"));
}

#[test]
fn where_no_attribute_can_be_every_verb_asks_the_catalogue() {
    let script = "echo alpha > a && echo beta > b && touch -d 1980-01-01 a b && \
                  \"$1\" init . > /dev/null && \"$1\" tag > /dev/null && \
                  \"$1\" check > /dev/null && \
                  \"$1\" show a && \"$1\" export --format gnu . && \
                  printf X | dd of=b conv=notrunc status=none && touch -d 1980-01-01 b; \
                  \"$1\" export --format gnu --read .; echo status $?; \
                  rm -f .steadfast/*-wal .steadfast/*-shm; \"$1\" check; echo status $?; \
                  mv a z; \"$1\" check; echo status $?; \"$1\" tag";
    let Some(said) = on_ramfs(script) else { return };
    let text = said.stdout();
    assert!(!text.contains("no tag"), "{text}");
    let lines = text.lines().filter(|line| line.ends_with("  a") && line.len() > 60).count();
    assert_eq!(lines, 2, "{text}");
    let lines = text.lines().filter(|line| line.ends_with("  b") && line.len() > 60).count();
    assert_eq!(lines, 1, "decay is in no document: {text}");
    let statuses: Vec<&str> = text.lines().filter(|line| line.starts_with("status ")).collect();
    assert_eq!(statuses, ["status 3", "status 3", "status 3"], "{text}");
    assert!(text.contains("moved"), "a file without a tag is known by its inode: {text}");
}

#[test]
fn a_damaged_attribute_is_judged_by_the_catalogue() {
    let tree = kept();
    tree.damage_tag("a");
    let said = tree.run(["check", "--json"]).ends(1);
    assert_eq!(said.verdict("a").as_deref(), Some("intact"), "{}", said.stdout());
    assert_eq!(findings(&said, "tag damaged"), 1);
    assert_eq!(findings(&said, "tag lost"), 0);
    assert!(said.stdout().contains("read the tag"), "the trouble stays: {}", said.stdout());
    let said = tree.run(["tag"]).ends(1);
    assert!(said.stdout().contains("cannot read the tag"), "{}", said.stdout());
    tree.run(["update", "--restore-tags"]);
    tree.run(["check"]).succeeds();
    let previous = tag_bytes(&tree, "a", xattr::TAG_PREVIOUS);
    assert_eq!(previous.as_deref(), Some(&b"not a tag"[..]));
    tree.corrupt("b");
    tree.damage_tag("b");
    for verb in [&["check"][..], &["update"], &["update", "--restore-tags"], &["update", "."]] {
        let said = tree.run(verb.iter().chain(&["--json"])).ends(3);
        assert_eq!(said.verdict("b").as_deref(), Some("corrupt"), "{}", said.stdout());
    }
    assert_eq!(tag_bytes(&tree, "b", xattr::TAG).as_deref(), Some(&b"not a tag"[..]));
    let said = tree.run(["update", "--accept", "--json", "b"]).succeeds();
    assert_eq!(said.verdict("b").as_deref(), Some("corrupt"), "it is said what is accepted");
    tree.run(["check"]).succeeds();
}

#[test]
fn a_disputed_tag_is_not_settled_by_an_edit() {
    let tree = kept();
    fs::write(tree.path("new"), b"other contents").unwrap();
    tree.run(["tag", "--no-catalogue", "new"]).succeeds();
    fs::rename(tree.path("new"), tree.path("a")).unwrap();
    let said = tree.run(["check", "--json"]).ends(1);
    assert_eq!(findings(&said, "tag replaced"), 1, "{}", said.stdout());
    tree.touch("a");
    fs::write(tree.path("a"), b"edited meanwhile").unwrap();
    for verb in [&["update", "."][..], &["update", "."]] {
        let said = tree.run(verb.iter().chain(&["--json"])).ends(1);
        assert_eq!(said.summary()["actions"]["retagged"], 0, "{}", said.stdout());
        assert_eq!(findings(&said, "tag replaced"), 1, "{}", said.stdout());
    }
    tree.run(["update", "--accept-missing"]).succeeds();
    tree.run(["check"]).succeeds();
}

#[test]
fn a_tag_that_an_update_wrote_and_could_not_enter_is_no_others() {
    let tree = kept();
    tree.edit("a");
    // As after a kill: the attribute is written, and the catalogue has not heard of it.
    tree.run(["update", "--no-catalogue", "a"]).succeeds();
    let said = tree.run(["check", "--json"]).succeeds();
    assert_eq!(findings(&said, "tag replaced"), 0, "{}", said.stdout());
    let history = tree.run(["show", "--history", "a"]).succeeds();
    assert!(history.stdout().contains("adopted"), "{}", history.stdout());
}

#[test]
fn that_the_attribute_of_a_corrupt_file_is_lost_is_said_each_time() {
    let tree = kept();
    tree.corrupt("a");
    remove_tag(&tree, "a");
    for _ in 0..3 {
        let said = tree.run(["check", "--json"]).ends(3);
        assert_eq!(findings(&said, "tag lost"), 1, "{}", said.stdout());
    }
}

#[test]
fn an_appledouble_file_with_a_tag_is_data() {
    let mut bytes = vec![0, 5, 0x16, 7, 0, 2, 0, 0];
    bytes.extend([0; 16]);
    bytes.extend([0, 1, 0, 0, 0, 9, 0, 0, 0, 38, 0, 0, 0, 0]);
    let tree = Tree::new().file("._g", &bytes).file("h", b"h");
    tree.run(["tag", "."]).succeeds();
    let tree = tree.file("g", b"its neighbour");
    let said = tree.run(["check", "--json", "--verbose", "."]).succeeds();
    assert_eq!(said.verdict("._g").as_deref(), Some("intact"), "{}", said.stdout());
    let tree = Tree::new().file("._g", &bytes).file("g", b"its neighbour");
    let said = tree.run(["tag", "--json", "."]).succeeds();
    assert_eq!(said.summary()["skipped"]["sidecars"], 1, "{}", said.stdout());
}

#[test]
fn a_damaged_tag_ends_with_what_to_do_about_it() {
    let tree = Tree::tagged();
    tree.damage_tag("a");
    tree.damage_tag("b");
    for verb in ["check", "tag", "update"] {
        let said = tree.run([verb, "."]).ends(2);
        let end = said.stdout().trim_end().lines().last().unwrap();
        assert!(end.ends_with("steadfast update --accept FILE"), "{verb}: {}", said.stdout());
        assert!(said.stdout().contains("2 tags are damaged"), "{verb}: {}", said.stdout());
    }
    let said = tree.run(["update", "--accept", "."]).succeeds();
    assert!(!said.stdout().contains("damaged"), "{}", said.stdout());
    // The catalogue has the tag: it is put back, and nothing needs to be accepted.
    let tree = kept();
    tree.damage_tag("a");
    let said = tree.run(["check"]).ends(1);
    let end = said.stdout().trim_end().lines().last().unwrap();
    assert!(end.contains("steadfast update --restore-tags /"), "{}", said.stdout());
    assert!(!said.stdout().contains("--accept"), "{}", said.stdout());
}

#[test]
fn where_no_attribute_can_be_that_is_said_once_with_what_to_do() {
    let script = "mkdir d && echo 1 > d/a && echo 2 > d/b && echo 3 > d/c && \"$1\" tag . 2>&1; \
                  echo status $?; \"$1\" check . 2>&1; \"$1\" tag --quiet . 2>&1";
    let Some(said) = on_ramfs(script) else { return };
    let text = said.stdout();
    let tag: Vec<&str> = text.lines().take_while(|line| !line.starts_with("status")).collect();
    let count = |part: &str| tag.iter().filter(|line| line.contains(part)).count();
    assert_eq!(count("cannot set the tag"), 1, "{text}");
    assert_eq!(count("`d`: this file system keeps no extended attributes"), 1, "{text}");
    assert_eq!(count("looked at 3 files: 3 failed"), 1, "{text}");
    assert!(text.contains("status 2"), "{text}");
    assert_eq!(
        text.matches("keeps tags in a catalogue instead").count(),
        2,
        "once for each run: {text}"
    );
    let quiet = text.lines().last().unwrap();
    assert!(quiet.contains("cannot set the tag"), "the quiet run says it too: {text}");
}

#[test]
fn a_damaged_previous_tag_is_shown() {
    let tree = Tree::tagged();
    let file = File::open(&tree.path("a")).unwrap();
    xattr::set(&file, xattr::TAG_PREVIOUS, b"not a tag").unwrap();
    for form in [&["show", "a"][..], &["show", "--json", "a"]] {
        let said = tree.run(form).ends(2);
        assert!(said.stdout().contains("read the previous tag"), "{}", said.stdout());
    }
}
