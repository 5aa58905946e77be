//! What somebody plants where a file of ours belongs is not followed, written to or waited for.
//!
//! Each table names the files that some verbs open or make, as the code has them. Whatever stands
//! in the place of one, the victim outside the tree keeps its bytes, nothing is made outside, the
//! command ends, and its status says if it could not do its work.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use steadfast_testing::{Need, skip};

use crate::tree::{Outcome, Tree};

/// What can stand in the place of a file.
const KINDS: [&str; 5] = ["link", "dangling link", "hard link", "fifo", "directory"];

/// A command that waits longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A photograph that is not in the tree, and what the tree is checked for afterwards.
const VICTIM: &[u8] = b"the only copy of a photograph";

/// A catalogued and tagged tree `data`, with a victim beside it.
fn catalogued() -> Tree {
    let tree = Tree::new().file("outside/victim", VICTIM);
    let tree = tree.file("data/a", &[7; 9000]).file("data/b", b"beta");
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    tree
}

/// Puts something in a place, instead of what is there.
fn plant(tree: &Tree, kind: &str, place: &Path) {
    remove(place);
    let outside = tree.path("outside");
    match kind {
        "link" => symlink(outside.join("victim"), place).unwrap(),
        "dangling link" => symlink(outside.join("made"), place).unwrap(),
        "link to a directory" => symlink(&outside, place).unwrap(),
        "hard link" => fs::hard_link(outside.join("victim"), place).unwrap(),
        "fifo" => assert!(Command::new("mkfifo").arg(place).status().unwrap().success()),
        "directory" => fs::create_dir(place).unwrap(),
        "file" => fs::write(place, "something else").unwrap(),
        _ => unreachable!("a kind that the tables name"),
    }
}

fn remove(place: &Path) {
    match fs::symlink_metadata(place) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(place).unwrap(),
        Ok(_) => fs::remove_file(place).unwrap(),
        Err(_) => {}
    }
}

/// Runs a command that must end by itself.
#[track_caller]
fn run(tree: &Tree, words: &[&str]) -> Outcome {
    let mut child = tree.command(words);
    child.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = child.spawn().unwrap();
    let process = child.id().to_string();
    let (ended, end) = mpsc::channel();
    let waiting = thread::spawn(move || {
        let output = child.wait_with_output().unwrap();
        let _ = ended.send(());
        output
    });
    let begun = Instant::now();
    while end.recv_timeout(PATIENCE).is_err() {
        if steadfast_testing::took_at_most(begun, PATIENCE) {
            continue;
        }
        Command::new("kill").args(["-9", &process]).status().unwrap();
        waiting.join().unwrap();
        panic!("{words:?} hangs");
    }
    let output = waiting.join().unwrap();
    Outcome {
        status: output.status.code().expect("it ends by itself"),
        stdout: output.stdout,
        stderr: output.stderr,
    }
}

/// Makes sure that nothing was written or made outside the tree.
#[track_caller]
fn assert_untouched(tree: &Tree, what: &str) {
    assert_eq!(fs::read(tree.path("outside/victim")).unwrap(), VICTIM, "{what}");
    let names = fs::read_dir(tree.path("outside")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["victim"], "{what}");
}

/// Runs a command against something planted, and makes sure of what comes of it.
#[track_caller]
fn against(tree: &Tree, kind: &str, place: &str, words: &[&str], status: i32) -> Outcome {
    let what = format!("{kind} at {place}: {words:?}");
    let outcome = run(tree, words);
    assert_untouched(tree, &what);
    assert_eq!(outcome.status, status, "{what}:\n{}{}", outcome.stdout(), outcome.stderr());
    outcome
}

#[test]
fn no_verb_reads_or_writes_a_catalogue_through_what_is_planted() {
    let tree = catalogued();
    let database = tree.path("data/.steadfast/catalogue.sqlite");
    let whole = fs::read(&database).unwrap();
    let writers: [&[&str]; 5] = [
        &["check", "data"],
        &["tag", "data"],
        &["update", "data"],
        &["untag", "data"],
        &["init", "--rebind", "data"],
    ];
    let readers: [&[&str]; 3] = [
        &["show", "--history", "data"],
        &["status", "--audit", "data"],
        &["check", "data", "--shard", "0/1", "--result", "result"],
    ];
    for part in ["", "-wal", "-shm", "-journal", ".lock"] {
        let place = format!("data/.steadfast/catalogue.sqlite{part}");
        for kind in KINDS {
            for words in writers.iter().chain(&readers) {
                fs::write(&database, &whole).unwrap();
                plant(&tree, kind, &tree.path(&place));
                // Readers do not open the lock.
                let reads = part == ".lock" && readers.contains(words);
                let outcome = match reads {
                    true => run(&tree, words),
                    false => against(&tree, kind, &place, words, 2),
                };
                assert_untouched(&tree, &format!("{kind} at {place}: {words:?}"));
                let told = outcome.stderr().contains("is not used: it ");
                assert!(reads || told, "{words:?}: {}", outcome.stderr());
                remove(&tree.path(&place));
                remove(&tree.path("job"));
            }
        }
    }
    fs::write(&database, &whole).unwrap();
    run(&tree, &["check", "data"]).succeeds();
}

#[test]
fn a_folder_of_the_catalogue_that_is_none_is_refused() {
    let tree = catalogued();
    let own = tree.path("data/.steadfast");
    // A whole catalogue of another tree, to which a link may lead.
    fs::rename(&own, tree.path("moved")).unwrap();
    for kind in ["link to a directory", "dangling link", "fifo", "file", "link"] {
        plant(&tree, kind, &own);
        for words in [
            &["check", "data"][..],
            &["init", "--tags-only", "data"],
            &["show", "--history", "data"],
        ] {
            let outcome = against(&tree, kind, ".steadfast", words, 2);
            assert!(outcome.stderr().contains("`.steadfast` is"), "{}", outcome.stderr());
        }
        against(&tree, kind, ".steadfast", &["tag", "data"], 2);
        against(&tree, kind, ".steadfast", &["tag", "--pages", "data"], 2);
        against(&tree, kind, ".steadfast", &["init", "--tags-only", "--rebuild", "data"], 2);
    }
    let moved = || {
        let names = fs::read_dir(tree.path("moved")).unwrap();
        let names: BTreeSet<_> = names.map(|entry| entry.unwrap().path()).collect();
        names.into_iter().map(|name| (fs::read(&name).unwrap(), name)).collect::<Vec<_>>()
    };
    let before = moved();
    remove(&own);
    symlink(tree.path("moved"), &own).unwrap();
    run(&tree, &["check", "data"]).ends(2);
    run(&tree, &["check", "--no-catalogue", "data"]).succeeds();
    assert_eq!(moved(), before, "the other catalogue and what is beside it");
}

#[test]
fn a_new_catalogue_is_made_through_nothing_that_is_planted() {
    for part in [".new", ".new-wal", ".new-shm", ".new-journal", ".lock", "-wal", "-shm"] {
        for kind in KINDS {
            let tree = Tree::new().file("outside/victim", VICTIM).file("data/a", b"alpha");
            fs::create_dir(tree.path("data/.steadfast")).unwrap();
            let place = format!("data/.steadfast/catalogue.sqlite{part}");
            plant(&tree, kind, &tree.path(&place));
            let what = format!("{kind} at {place}");
            let status = run(&tree, &["init", "--tags-only", "data"]).status;
            assert_untouched(&tree, &what);
            // What an earlier attempt left is removed: names, and not what they lead to.
            let removed = part.starts_with(".new") && kind != "directory";
            assert_eq!(status, if removed { 0 } else { 2 }, "{what}");
            assert_eq!(tree.path("data/.steadfast/catalogue.sqlite").is_file(), removed, "{what}");
        }
    }
}

#[test]
fn what_is_planted_is_set_aside_by_its_name() {
    for part in ["", "-wal", "-shm", "-journal"] {
        for kind in KINDS {
            let tree = catalogued();
            let place = format!("data/.steadfast/catalogue.sqlite{part}");
            plant(&tree, kind, &tree.path(&place));
            let told = against(&tree, kind, &place, &["check", "data"], 2);
            assert!(told.stderr().contains("steadfast init --rebuild"), "{}", told.stderr());
            against(&tree, kind, &place, &["init", "--tags-only", "--rebuild", "data"], 0);
            against(&tree, kind, &place, &["check", "data"], 0);
        }
    }
}

#[test]
fn leaves_are_written_through_nothing_that_is_planted() {
    let tree = catalogued();
    let words = ["tag", "--pages", "data"];
    run(&tree, &words).succeeds();
    let pages = tree.path("data/.steadfast/pages/4096");
    let group = fs::read_dir(&pages).unwrap().next().unwrap().unwrap().path();
    let leaves = fs::read_dir(&group).unwrap().next().unwrap().unwrap().path();
    let folders = [pages.parent().unwrap().to_owned(), pages.clone(), group];
    for folder in &folders {
        for kind in ["link to a directory", "link", "dangling link", "hard link", "fifo"] {
            plant(&tree, kind, folder);
            let outcome = run(&tree, &words);
            let what = format!("{kind} at {}", folder.display());
            assert_untouched(&tree, &what);
            assert_eq!(outcome.status, 2, "{what}: {}", outcome.stderr());
            remove(folder);
            run(&tree, &words).succeeds();
        }
    }
    for kind in KINDS {
        plant(&tree, kind, &leaves);
        // A name is replaced, and what it leads to is not.
        let status = if kind == "directory" { 2 } else { 0 };
        against(&tree, kind, "leaves", &words, status);
        assert_eq!(fs::symlink_metadata(&leaves).unwrap().is_file(), status == 0, "{kind}");
    }
}

#[test]
fn sidecars_are_written_through_nothing_that_is_planted() {
    for name in ["data/a.steadfast-pages", "data/a.steadfast-pages.new"] {
        for kind in KINDS {
            let tree = Tree::new().file("outside/victim", VICTIM).file("data/a", &[7; 9000]);
            plant(&tree, kind, &tree.path(name));
            let words = ["tag", "--pages", "--sidecar", "data/a"];
            against(&tree, kind, name, &words, 2);
            against(&tree, kind, name, &["check", "data/a"], 0);
        }
    }
}

#[test]
fn documents_are_written_through_nothing_that_is_planted() {
    let tree = catalogued();
    run(&tree, &["check", "data", "--shard", "0/1", "--result", "result"]).succeeds();
    let documents: [(&str, &[&str]); 3] = [
        ("data/report.html", &["check", "--report", "data/report.html", "data/a"]),
        ("data/trace.json", &["check", "--trace", "data/trace.json", "data/a"]),
        ("data/page.html", &["merge", "result", "--report", "data/page.html"]),
    ];
    for (place, words) in documents {
        for kind in KINDS {
            plant(&tree, kind, &tree.path(place));
            against(&tree, kind, place, words, 2);
            remove(&tree.path(place));
        }
    }
}

#[test]
fn a_result_is_written_and_read_through_nothing_that_is_planted() {
    let tree = catalogued();
    for kind in KINDS {
        plant(&tree, kind, &tree.path("result"));
        run(&tree, &["merge", "result"]).ends(2);
        assert_untouched(&tree, kind);
        // A name is replaced, and what it leads to is not.
        let words = ["check", "data", "--shard", "0/1", "--result", "result"];
        let status = if kind == "directory" { 75 } else { 0 };
        against(&tree, kind, "result", &words, status);
        remove(&tree.path("result"));
    }
}

#[test]
fn a_catalogue_that_a_stranger_put_above_the_tree_is_refused() {
    let tree = catalogued();
    let own = tree.path("data/.steadfast");
    fs::set_permissions(tree.path("data"), fs::Permissions::from_mode(0o1777)).unwrap();
    run(&tree, &["check", "data"]).succeeds();
    let files: Vec<PathBuf> =
        fs::read_dir(&own).unwrap().map(|entry| entry.unwrap().path()).collect();
    if files.iter().chain([&own]).any(|path| chown(path, Some(54_321), None).is_err()) {
        return skip(Need::Root, "the folder cannot be given to another user");
    }
    let refused = run(&tree, &["check", "data"]).ends(2);
    assert!(refused.stderr().contains("belongs to another user"), "{}", refused.stderr());
    run(&tree, &["check", "--no-catalogue", "data"]).succeeds();
    // In a folder of its owner's own, whoever runs the check may use it.
    fs::set_permissions(tree.path("data"), fs::Permissions::from_mode(0o755)).unwrap();
    run(&tree, &["check", "data"]).succeeds();
}
