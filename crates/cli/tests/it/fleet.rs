//! `steadfast fleet` from outside: statuses that engines go by, and what is left in the job.

use std::fs;

use crate::tree::Tree;

/// A tagged tree beside which jobs can be.
fn archive() -> Tree {
    let tree = Tree::new();
    let tree = (0..12).fold(tree, |tree, number| {
        tree.file(format!("archive/d{}/f{number}", number % 3), format!("file {number}").as_bytes())
    });
    tree.run(["tag", "archive"]).succeeds();
    tree
}

fn lines(tree: &Tree, name: &str) -> usize {
    fs::read_to_string(tree.path(name)).unwrap().lines().count()
}

#[test]
fn a_job_is_planned_run_and_merged() {
    let tree = archive();
    let planned = tree.run(["fleet", "plan", "archive", "--out", "job", "--shards", "3"]);
    let planned = planned.succeeds();
    assert!(planned.stdout().starts_with("planned 12 files, 74 B, on 1 device, in 3 shards"));
    let status = tree.run(["fleet", "status", "job"]).ends(75);
    assert!(status.stdout().contains("no part yet: shards 0 to 2\n"), "{}", status.stdout());
    tree.corrupt("archive/d1/f4");
    tree.edit("archive/d2/f5");
    let statuses = ["0", "1", "2"].map(|shard| {
        let ran = tree.run(["fleet", "run", "job", "--shard", shard, "--quiet"]);
        ran.status
    });
    assert_eq!(statuses, [0, 3, 0], "an edit is a finding, and no failure of the run");
    let status = tree.run(["fleet", "status", "job"]).ends(3);
    assert!(!status.stdout().contains("no part yet"), "{}", status.stdout());
    let words = ["fleet", "run", "job", "--shard", "1", "--report", "x.html", "-q"];
    let again = tree.run(words).ends(3);
    assert!(again.stderr().contains("`x.html` is not written: nothing was run"));
    let again = tree.run(["fleet", "run", "job", "--shard", "1"]).ends(3);
    assert!(again.stdout().starts_with("the part of shard 1 is there: 4 files"));
    let status = tree.run(["fleet", "status", "job", "--json"]).ends(3);
    assert_eq!(status.objects()[0]["complete"], true);
    let words = ["fleet", "merge", "job", "--out", "result.html", "--report", "./result.html"];
    assert!(tree.run(words).ends(2).stderr().contains("are both `./result.html`"));
    let words = ["fleet", "merge", "job", "--out", "result.jsonl", "--report", "result.html"];
    let merged = tree.run(words).ends(3);
    assert!(merged.stdout().contains("checked 12 files: 1 corrupt, 1 modified, 10 intact"));
    assert_eq!(lines(&tree, "result.jsonl"), 15);
    let page = fs::read_to_string(tree.path("result.html")).unwrap();
    assert!(page.contains("Check of 12 files") && page.contains("d1/f4"));
}

#[test]
fn what_may_succeed_later_is_told_by_its_status() {
    let tree = archive();
    tree.run(["fleet", "run", "nowhere", "--shard", "0"]).ends(75);
    tree.run(["fleet", "status", "nowhere"]).ends(75);
    tree.run(["fleet", "plan", "archive", "--out", "job", "--shards", "2"]).succeeds();
    tree.run(["fleet", "run", "job", "--shard", "2"]).ends(2);
    let merged = tree.run(["fleet", "merge", "job", "--out", "result.jsonl"]).ends(75);
    assert!(merged.stderr().contains("2 of 2 parts are missing: 0, 1;"), "{}", merged.stderr());
    assert_eq!(merged.stdout(), "");
    let shard = tree.path("job/shards/00001.jsonl");
    let text = fs::read_to_string(&shard).unwrap();
    fs::write(&shard, text.replace("d2/f8", "d2/f9")).unwrap();
    let damaged = tree.run(["fleet", "run", "job", "--shard", "1"]).ends(2);
    assert!(damaged.stderr().contains("not as it was written"), "{}", damaged.stderr());
    tree.run(["fleet", "run", "job", "--shard", "0"]).succeeds();
    tree.run(["fleet", "status", "job"]).ends(2);
    let stuck = tree.run(["fleet", "merge", "job", "--out", "result.jsonl"]).ends(2);
    assert!(stuck.stderr().contains("says what somebody must look at"), "{}", stuck.stderr());
    fs::remove_file(tree.path("job/parts/00000.jsonl")).unwrap();
    fs::remove_file(&shard).unwrap();
    tree.run(["fleet", "run", "job", "--shard", "1"]).ends(75);
    let status = tree.run(["fleet", "status", "job"]).ends(75);
    assert!(status.stdout().contains("may be tried again: "), "{}", status.stdout());
    fs::write(&shard, text).unwrap();
    tree.run(["fleet", "run", "job", "--shard", "1"]).succeeds();
    let partial = ["fleet", "merge", "job", "--out", "result.jsonl", "--partial"];
    tree.run(partial).ends(2);
    tree.run(["fleet", "plan", "archive", "--out", "job"]).ends(2);
}

#[test]
fn manifests_and_catalogues_are_planned_too() {
    let tree = archive();
    let sums = tree.run(["hash", "archive"]).succeeds();
    fs::write(tree.path("SHA256SUMS"), sums.stdout).unwrap();
    tree.run(["fleet", "plan", "--manifest", "SHA256SUMS", ".", "--out", "job"]).succeeds();
    tree.run(["fleet", "run", "job", "--shard", "0", "-q"]).succeeds();
    let merged = tree.run(["fleet", "merge", "job", "--out", "one.jsonl", "--json"]).succeeds();
    assert_eq!(merged.summary()["verdicts"]["intact"], 12);
    tree.run(["init", "--tags-only", "archive", "-q"]).succeeds();
    tree.run(["fleet", "plan", "--catalogue", "archive", "--out", "due"]).succeeds();
    tree.run(["fleet", "run", "due", "--shard", "0", "-q"]).succeeds();
    tree.run(["fleet", "merge", "due", "--out", "two.jsonl"]).succeeds();
    let words = ["--catalogue", "archive", "--older-than", "1d", "--out", "none", "--json"];
    let none = tree.run(["fleet", "plan"].into_iter().chain(words)).succeeds();
    assert_eq!(none.objects()[0]["files"], 0, "all was checked today");
    let lacking = tree.run(["fleet", "plan", "--out", "no-source"]).ends(2);
    assert!(lacking.stderr().contains("plan needs a PATH"), "{}", lacking.stderr());
    for words in [["tere", "--out", "typo"], ["archive", "--out", "SHA256SUMS"]] {
        tree.run(["fleet", "plan"].into_iter().chain(words)).ends(2);
    }
    let words = ["fleet", "plan", "--manifest", "SHA256SUMS", ".", "--out", "x", "--exclude", "a"];
    tree.run(words).ends(2);
    tree.run(["fleet", "plan", "archive", "--out", "some", "--exclude", "f1*"]).succeeds();
    assert_eq!(
        tree.run(["fleet", "status", "some", "--json"]).ends(75).objects()[0]["whole"]["files"],
        9
    );
}
