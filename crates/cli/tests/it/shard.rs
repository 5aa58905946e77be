//! `check --shard` and `merge` from outside: what many machines say together, and what does not
//! count.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::tree::{Outcome, Tree};

/// A tree of 30 files `archive`, tagged; `init` also makes its catalogue.
fn archive(init: bool) -> Tree {
    let tree = (0..30).fold(Tree::new(), |tree, number| {
        tree.file(format!("archive/d{}/f{number}", number % 3), format!("file {number}").as_bytes())
    });
    tree.run([if init { "init" } else { "tag" }, "archive", "-q"]).succeeds();
    tree
}

/// Something of every kind is wrong.
fn trouble(tree: &Tree) {
    tree.corrupt("archive/d1/f4");
    tree.edit("archive/d2/f5");
    tree.touch("archive/d0/f3");
}

fn shard(tree: &Tree, shard: &str, result: &str, more: &[&str]) -> Outcome {
    let words = ["check", "archive", "--quiet", "--shard", shard, "--result", result];
    tree.run([&words, more].concat())
}

/// Checks all shards and returns the names of the results.
fn checked(tree: &Tree, count: usize, more: &[&str]) -> Vec<String> {
    let results: Vec<String> = (0..count).map(|number| format!("r{number}")).collect();
    for (number, result) in results.iter().enumerate() {
        let checked = shard(tree, &format!("{number}/{count}"), result, more);
        assert!([0, 1, 3].contains(&checked.status), "{}", checked.stderr());
    }
    results
}

fn merge(tree: &Tree, results: &[String], more: &[&str]) -> Outcome {
    tree.run(["merge"].into_iter().chain(results.iter().map(String::as_str)).chain(more.to_vec()))
}

/// The path from the root, the verdict and the digest of each file.
fn files(tree: &Tree, outcome: &Outcome) -> Vec<(String, String, Value)> {
    let root = format!("{}/", fs::canonicalize(tree.path("")).unwrap().join("archive").display());
    let files = outcome.objects().into_iter().filter(|line| line["verdict"].is_string());
    let path = |line: &Value| {
        let path = line["path"].as_str().unwrap().to_owned();
        let cut = path.strip_prefix(&root).or(path.strip_prefix("archive/"));
        cut.unwrap_or(&path).to_owned()
    };
    let verdict = |line: &Value| line["verdict"].as_str().unwrap().to_owned();
    files.map(|line| (path(&line), verdict(&line), line["digest"].clone())).collect()
}

#[test]
fn shards_together_say_what_one_check_says() {
    for source in ["catalogue", "list", "walk"] {
        let tree = archive(source != "walk");
        let names: Vec<String> = (0..30).map(|n| format!("archive/d{}/f{n}\n", n % 3)).collect();
        fs::write(tree.path("list"), names.concat()).unwrap();
        trouble(&tree);
        let mut more = vec![];
        let mut whole = vec!["check", "archive", "--json"];
        if source == "list" {
            more.extend(["--files-from", "list"]);
        }
        if source != "walk" {
            fs::remove_file(tree.path("archive/d0/f6")).unwrap();
        } else {
            whole.push("--no-catalogue");
        }
        let results = checked(&tree, 4, &more);
        let merged = merge(&tree, &results, &["--json"]).ends(3);
        let alone = tree.run(whole).ends(3);
        let (ours, theirs) = (files(&tree, &merged), files(&tree, &alone));
        assert_eq!(ours.len(), 30, "{source}");
        let set =
            |files: &[_]| files.iter().map(|file| format!("{file:?}")).collect::<BTreeSet<_>>();
        assert_eq!(set(&ours), set(&theirs), "{source}");
        assert!(ours.is_sorted_by_key(|(path, ..)| path.clone()), "{source}: {ours:?}");
        for verdict in ["verdicts", "exit_status", "files"] {
            assert_eq!(merged.summary()[verdict], alone.summary()[verdict], "{source}: {verdict}");
        }
    }
}

#[test]
fn a_merge_is_reported_as_a_check_is() {
    let tree = archive(true);
    trouble(&tree);
    let results = checked(&tree, 2, &[]);
    let merged = merge(&tree, &results, &["--report", "page.html"]).ends(3);
    let line = "checked 30 files: 1 corrupt, 1 modified, 1 touched, 27 intact";
    assert!(merged.stdout().contains(line), "{}", merged.stdout());
    let page = fs::read_to_string(tree.path("page.html")).unwrap();
    assert!(page.contains("Check of 30 files") && page.contains("d1/f4"));
    let csv = merge(&tree, &results, &["--csv", "--quiet"]).ends(3);
    assert!(csv.stdout().contains("archive/d1/f4,,,corrupt,"), "{}", csv.stdout());
}

#[test]
fn a_shard_without_a_result_is_named_and_no_success() {
    let tree = archive(true);
    let results = checked(&tree, 5, &[]);
    merge(&tree, &results, &["-q"]).succeeds();
    fs::create_dir_all(tree.path("all/.drafts")).unwrap();
    for result in &results {
        fs::copy(tree.path(result), tree.path("all").join(result)).unwrap();
    }
    tree.run(["merge", "all", "-q"]).succeeds();
    let partial = merge(&tree, &results[1..3], &["-q"]).ends(2);
    let says = "no result for 3 of 5 shards: 0, 3-4. Their files were not judged";
    assert!(partial.stderr().contains(says), "{}", partial.stderr());
    merge(&tree, &results[1..3], &["-q", "--allow-empty"]).ends(2);
    // What is corrupt outranks what was not judged.
    trouble(&tree);
    let corrupt = checked(&tree, 5, &[]);
    let with = |result: &String| merge(&tree, std::slice::from_ref(result), &["-q"]).status;
    let mut statuses = corrupt.iter().map(with).collect::<Vec<_>>();
    statuses.sort_unstable();
    assert_eq!(statuses.iter().filter(|status| **status == 3).count(), 1, "{statuses:?}");
    assert!(!statuses.contains(&0), "{statuses:?}");
    merge(&tree, &["nowhere".to_owned()], &[]).ends(2);
    let one = merge(&tree, &[corrupt[0].clone(), "nowhere".to_owned()], &["-q"]);
    assert!(one.status != 0 && one.stderr().contains("`nowhere`"), "{}", one.stderr());
}

#[test]
fn a_result_that_was_altered_or_cut_off_never_counts() {
    let tree = archive(true);
    let results = checked(&tree, 2, &[]);
    let whole = fs::read(tree.path("r1")).unwrap();
    for at in (0..whole.len()).step_by(97) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        for altered in [&flipped[..], &whole[..at]] {
            fs::write(tree.path("r1"), altered).unwrap();
            let merged = merge(&tree, &results, &["-q"]).ends(2);
            let says = ["`r1`: this result does not count", "no result for 1 of 2 shards: 1"];
            for says in says {
                assert!(merged.stderr().contains(says), "byte {at}: {}", merged.stderr());
            }
        }
    }
    let appended = [&whole[..], b"{}\n"].concat();
    fs::write(tree.path("r1"), appended).unwrap();
    merge(&tree, &results, &["-q"]).ends(2);
    fs::write(tree.path("r1"), vec![b'x'; 3 << 20]).unwrap();
    merge(&tree, &results, &["-q"]).ends(2);
    fs::write(tree.path("r1"), whole).unwrap();
    merge(&tree, &results, &["-q"]).succeeds();
}

/// Replaces text in a result and makes its last line fit.
fn forge(tree: &Tree, result: &str, from: &str, to: &str) {
    let text = fs::read_to_string(tree.path(result)).unwrap();
    assert!(text.contains(from), "{from}: {text}");
    let text = text.replacen(from, to, 1);
    let (begin, _) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(tree.path("begin"), format!("{begin}\n")).unwrap();
    let hashed = tree.run(["hash", "begin"]).succeeds();
    let sha256 = hashed.stdout().split(' ').next().unwrap();
    let end = format!("{{\"end\":{{\"sha256\":\"{sha256}\"}}}}\n");
    fs::write(tree.path(result), format!("{begin}\n{end}")).unwrap();
}

#[test]
fn a_forged_result_names_no_file_elsewhere() {
    let tree = archive(true);
    let results = checked(&tree, 2, &[]);
    let saved = fs::read_to_string(tree.path("r0")).unwrap();
    let first = saved.lines().nth(1).unwrap();
    let path: Value = serde_json::from_str(first).unwrap();
    let path = path["file"]["path"].as_str().unwrap().to_owned();
    let forgeries = [
        (path.clone(), "../outside".to_owned(), "invalid"),
        (path.clone(), "/etc/passwd".to_owned(), "invalid"),
        (path.clone(), format!("./{path}"), "invalid"),
        (path.clone(), path.replace('/', "/./"), "invalid"),
        (path.clone(), path.replace('/', "//"), "invalid"),
        (path.clone(), format!("{path}-more-of-it"), "another shard"),
        ("\"verdict\":\"intact\"".to_owned(), "\"verdict\":\"splendid\"".to_owned(), "invalid"),
        ("\"verdict\":\"intact\",".to_owned(), String::new(), "invalid"),
        (
            "\"steadfast_shard_result\":1".into(),
            "\"steadfast_shard_result\":2".into(),
            "of another version",
        ),
        ("\"shard\":0".to_owned(), "\"shard\":7".to_owned(), "not as it was written"),
    ];
    for (from, to, says) in forgeries {
        fs::write(tree.path("r0"), &saved).unwrap();
        forge(&tree, "r0", &from, &to);
        let merged = merge(&tree, &results, &["-q"]);
        let said = merged.stderr().to_owned();
        // By chance, a further name may be of the same shard.
        if !(to.ends_with("-more-of-it") && merged.status == 0) {
            merged.ends(2);
            assert!(said.contains(says), "{from} to {to}: {said}");
        }
    }
    // Named twice, it counts once.
    fs::write(tree.path("r0"), &saved).unwrap();
    forge(&tree, "r0", first, &format!("{first}\n{first}"));
    let twice = merge(&tree, &results, &["--json"]).succeeds();
    assert_eq!(twice.summary()["files"], 30);
}

#[test]
fn the_later_of_two_results_of_a_shard_counts() {
    let tree = archive(true);
    let mut results = checked(&tree, 2, &[]);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    trouble(&tree);
    let again = ["again0".to_owned(), "again1".to_owned()];
    shard(&tree, "0/2", &again[0], &[]);
    shard(&tree, "1/2", &again[1], &[]);
    results.extend(again.clone());
    merge(&tree, &results, &["-q"]).ends(3);
    results.reverse();
    let both = merge(&tree, &results, &[]).ends(3);
    assert!(both.stdout().contains("checked 30 files: 1 corrupt"), "{}", both.stdout());
    // A later one that is not whole does not count.
    for result in &again {
        let whole = fs::read(tree.path(result)).unwrap();
        fs::write(tree.path(result), &whole[..whole.len() - 9]).unwrap();
    }
    let earlier = merge(&tree, &results, &[]).ends(2);
    assert!(earlier.stdout().contains("29 intact") || earlier.stdout().contains("30 intact"));
}

#[test]
fn results_of_different_checks_are_refused() {
    let tree = archive(true);
    shard(&tree, "0/2", "one", &[]).succeeds();
    fs::write(tree.path("list"), "archive/d0/f0\n").unwrap();
    let others: [(&[&str], &str); 5] = [
        (&["archive", "--shard", "1/3"], "\"shards\":3"),
        (&["archive/d0", "--shard", "1/2"], "\"root\":{\"path\":"),
        (&["archive", "--shard", "1/2", "--no-catalogue"], "\"files\":{"),
        (&["archive", "--shard", "1/2", "--older-than", "1w"], "\"files\":{"),
        (&["archive", "--shard", "1/2", "--files-from", "list"], "\"files\":{"),
    ];
    for (words, says) in others {
        let words = [&["check", "-q", "--result", "two"], words].concat();
        tree.run(words).succeeds();
        for results in [["one", "two"], ["two", "one"]] {
            let refused = merge(&tree, &results.map(str::to_owned), &[]).ends(2);
            assert!(refused.stderr().contains("it is of the check {"), "{}", refused.stderr());
            assert_eq!(refused.stdout(), "");
        }
        let refused = merge(&tree, &["one".to_owned(), "two".to_owned()], &[]).ends(2);
        assert!(refused.stderr().contains(says), "{}", refused.stderr());
    }
}

#[test]
fn a_merge_is_entered_in_the_catalogue_once_and_as_old_as_its_shards() {
    let tree = archive(true);
    trouble(&tree);
    fs::remove_file(tree.path("archive/d0/f6")).unwrap();
    let results = checked(&tree, 3, &[]);
    let runs = || {
        let history = tree.run(["show", "--history", "archive", "--json"]);
        history.objects().iter().filter(|line| line["verb"] == "check").count()
    };
    assert_eq!(runs(), 0, "shards record nothing");
    merge(&tree, &results, &["-q"]).ends(3);
    assert_eq!(runs(), 0, "unasked, a merge records nothing");
    let entered = merge(&tree, &results, &["--enter", "--json"]).ends(3);
    assert_eq!(entered.summary()["catalogued"], true);
    assert_eq!(runs(), 1);
    let audit = tree.run(["status", "--audit", "archive"]).ends(3);
    assert!(audit.stdout().contains("d1/f4"), "{}", audit.stdout());
    let missing = tree.run(["show", "--history", "archive/d0/f6"]);
    assert!(missing.stdout().contains("missing"), "{}", missing.stdout());
    let again = merge(&tree, &results, &["--enter"]).ends(3);
    let says = "30 files are not entered: another run judged them since";
    assert!([again.stdout(), again.stderr()].concat().contains(says), "{}", again.stderr());
    // Another record, by another run.
    let later = archive(true);
    let results = checked(&later, 2, &[]);
    later.edit("archive/d0/f0");
    later.run(["update", "archive/d0/f0", "-q"]).succeeds();
    let merged =
        merge(&later, &results, &["--enter", "--catalogue", "archive/.steadfast/catalogue.sqlite"]);
    let merged = merged.succeeds();
    let said = [merged.stdout(), merged.stderr()].concat();
    assert!(said.contains("1 file is not entered: another run judged"), "{said}");
    let plain = archive(false);
    let results = checked(&plain, 2, &[]);
    let refused = merge(&plain, &results, &["--enter"]).ends(2);
    assert!(refused.stderr().contains("no catalogue"), "{}", refused.stderr());
}

#[test]
fn only_what_is_due_is_checked() {
    let tree = archive(true);
    tree.run(["check", "archive", "-q"]).succeeds();
    let results = checked(&tree, 2, &["--older-than", "1d"]);
    let merged = merge(&tree, &results, &["--json"]).succeeds();
    assert_eq!(merged.summary()["files"], 0);
    let tagless = Tree::small();
    tagless.run(["init", "--tags-only", "-q", "."]).succeeds();
    let refused = tagless.run(["check", ".", "--shard", "0/1", "--result", "r"]).ends(2);
    assert!(refused.stderr().contains("no file with a tag here"), "{}", refused.stderr());
}

#[test]
fn a_tree_that_is_not_mounted_leaves_no_result_and_may_be_tried_again() {
    let tree = archive(true);
    let ends = |words: &[&str], status: i32, says: &str| {
        let ended = shard(&tree, "0/1", "result", words).ends(status);
        assert!(ended.stderr().contains(says), "{words:?}: {}", ended.stderr());
        assert!(!tree.path("result").exists());
    };
    fs::rename(tree.path("archive"), tree.path("away")).unwrap();
    ends(&[], 75, "cannot find");
    fs::create_dir(tree.path("archive")).unwrap();
    ends(&[], 75, "it is empty: is it mounted?");
    fs::create_dir(tree.path("archive/empty")).unwrap();
    ends(&[], 75, "it has not one of the files: is it mounted?");
    fs::remove_dir_all(tree.path("archive")).unwrap();
    fs::rename(tree.path("away"), tree.path("archive")).unwrap();
    for folder in ["d0", "d1", "d2"] {
        fs::rename(tree.path("archive").join(folder), tree.path(folder)).unwrap();
    }
    ends(&[], 75, "is something not mounted?");
    fs::create_dir(tree.path("archive/other")).unwrap();
    ends(&[], 75, "it has not one of the files: is it mounted?");
    for folder in ["d0", "d1", "d2"] {
        fs::rename(tree.path(folder), tree.path("archive").join(folder)).unwrap();
    }
    let nowhere = shard(&tree, "0/1", "nowhere/result", &[]).ends(75);
    assert!(nowhere.stderr().contains("cannot write the result"), "{}", nowhere.stderr());
    for words in [&["--max-time", "1s"][..], &["--exclude", "a"], &["archive"], &["--quick"]] {
        shard(&tree, "0/1", "result", words).ends(2);
    }
    for wrong in ["1/1", "x", "0", "0/0"] {
        shard(&tree, wrong, "result", &[]).ends(2);
    }
    tree.run(["check", "archive", "--shard", "0/1"]).ends(2);
    assert!(!tree.path("result").exists());
}

#[test]
fn a_shard_that_saw_less_of_the_tree_makes_no_success() {
    let tree = archive(false);
    shard(&tree, "0/2", "r0", &[]).succeeds();
    fs::rename(tree.path("archive/d0"), tree.path("d0")).unwrap();
    shard(&tree, "1/2", "r1", &[]).succeeds();
    let merged = merge(&tree, &["r0".to_owned(), "r1".to_owned()], &["-q"]).ends(2);
    assert!(merged.stderr().contains("found 20 to 30 files"), "{}", merged.stderr());
}

#[test]
fn what_cannot_be_read_is_no_success() {
    let tree = archive(true);
    let results = checked(&tree, 2, &[]);
    // As a shard writes it that cannot open a file.
    let row = fs::read_to_string(tree.path("r0")).unwrap().lines().nth(1).unwrap().to_owned();
    let unread = row.replace("\"intact\"", "\"unreadable\"");
    let unread = unread.replace("\"error\":null", "\"error\":\"open: denied\"");
    forge(&tree, "r0", &row, &unread);
    let merged = merge(&tree, &results, &["-q"]).ends(2);
    assert!(merged.stdout().contains("cannot check it: open: denied"), "{}", merged.stdout());
    let notice = "{\"notice\":{\"text\":\"a thing\",\"exit_status\":2}}";
    checked(&tree, 2, &[]);
    let row = fs::read_to_string(tree.path("r0")).unwrap().lines().nth(1).unwrap().to_owned();
    forge(&tree, "r0", &row, &format!("{row}\n{notice}"));
    let merged = merge(&tree, &results, &["-q"]).ends(2);
    assert!(merged.stderr().contains("a thing"), "{}", merged.stderr());
}

#[test]
fn the_first_version_of_a_result_is_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/formats/shard/v1");
    let results = ["0", "1"].map(|name| PathBuf::from(folder).join(name));
    let tree = Tree::new();
    let words = ["merge".into(), "--json".into()].into_iter();
    let merged = tree.run(words.chain(results.map(PathBuf::into_os_string))).ends(3);
    let verdicts = &merged.summary()["verdicts"];
    assert_eq!((&verdicts["corrupt"], &verdicts["modified"]), (&Value::from(1), &Value::from(1)));
    assert_eq!((&verdicts["missing"], &verdicts["intact"]), (&Value::from(1), &Value::from(4)));
    let paths = files(&tree, &merged).into_iter().map(|(path, ..)| path).collect::<Vec<_>>();
    assert!(paths.contains(&"/archive/\u{fffd} name".to_owned()), "{paths:?}");
}
