//! Parity that follows its tree: edits, new files, renamed ones, and how much of the others is
//! read.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use steadfast::parity::{
    NotProtected, ParityMonitor, ParityOptions, ParityPlace, make_parity, update_parity,
};
use steadfast::{Event, Monitor};

use crate::parity::{contents, photographs, sets};
use crate::tree::Tree;

/// The summary of a verb of parity over `data`.
fn parity(tree: &Tree, arguments: &[&str], status: i32) -> Value {
    let arguments = ["parity"].iter().chain(arguments).chain(&["--json", "data"]);
    tree.run(arguments).ends(status).summary()
}

/// A tree with parity.
fn protected() -> Tree {
    let tree = photographs();
    tree.run(["parity", "make", "data"]).succeeds();
    tree
}

/// Tags everything without the parity being there.
fn tag_alone(tree: &Tree) {
    fs::rename(tree.path("data/.steadfast"), tree.path("aside")).unwrap();
    tree.run(["update", "data"]).succeeds();
    fs::rename(tree.path("aside"), tree.path("data/.steadfast")).unwrap();
}

/// Fails unless parity protects so many files, and there is nothing left to do.
#[track_caller]
fn is_true(tree: &Tree, files: u64) {
    let made = parity(tree, &["update"], 0);
    assert_eq!((&made["files"], &made["sets_made"]), (&files.into(), &0.into()), "{made}");
    assert_eq!((&made["sets_removed"], &made["bytes_read"]), (&0.into(), &0.into()), "{made}");
}

/// Removes a file and fails unless it comes back.
#[track_caller]
fn comes_back(tree: &Tree, name: &str) {
    let before = fs::read(tree.path(name)).unwrap();
    let path = tree.path(name);
    tree.corrupt(name);
    tree.run(["repair", "--yes", name]).succeeds();
    assert!(fs::read(path).unwrap() == before, "{name}");
}

#[test]
fn verbs_that_write_tags_keep_parity_true() {
    let tree = protected().file("data/1/new.jpg", &contents(9, 50_000));
    tree.run(["tag", "data"]).succeeds();
    is_true(&tree, 9);
    comes_back(&tree, "data/1/new.jpg");
    tree.edit("data/0/0.jpg");
    tree.run(["update", "data"]).succeeds();
    is_true(&tree, 9);
    comes_back(&tree, "data/0/0.jpg");
    fs::write(tree.path("data/0/0.jpg"), contents(11, 9000)).unwrap();
    tree.run(["update", "data"]).succeeds();
    is_true(&tree, 9);
    comes_back(&tree, "data/0/0.jpg");
    // A list and the attributes of other tools are doors like the others.
    let tree = tree.file("data/1/listed.jpg", &contents(12, 50_000));
    let list = tree.run(["hash", "data/1/listed.jpg"]).succeeds();
    fs::write(tree.path("list"), list.stdout().replace("data/", "")).unwrap();
    tree.run(["import", "list", "data"]).succeeds();
    is_true(&tree, 10);
    comes_back(&tree, "data/1/listed.jpg");
    // What would be written is not.
    tree.edit("data/0/1.jpg");
    let before = sets(&tree);
    tree.run(["update", "--dry-run", "data"]).ends(1);
    assert_eq!(sets(&tree), before);
    let said = tree.run(["untag", "data/0"]).succeeds();
    let said = format!("{}{}", said.stdout(), said.stderr());
    assert!(said.contains("parity still protects the files as they were tagged"), "{said}");
    assert_eq!(sets(&tree), before);
}

#[test]
fn an_update_of_one_file_keeps_the_others_of_its_set() {
    let tree = protected();
    tree.edit("data/0/0.jpg");
    tree.run(["update", "data/0/0.jpg"]).succeeds();
    is_true(&tree, 8);
    for name in ["data/0/0.jpg", "data/0/1.jpg", "data/1/5.jpg"] {
        comes_back(&tree, name);
    }
    // From within the tree, by a relative path.
    tree.edit("data/1/5.jpg");
    let mut command = tree.command(["update", "5.jpg"]);
    let done = command.current_dir(tree.path("data/1")).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    is_true(&tree, 8);
}

#[test]
fn trouble_with_the_parity_is_told_by_the_verb() {
    let tree = protected();
    fs::remove_file(tree.path("data/0/0.jpg")).unwrap();
    let said = tree.run(["update", "data"]).ends(2);
    let said = format!("{}{}", said.stdout(), said.stderr());
    assert!(
        said.contains("0.jpg") && said.contains("`steadfast repair PATH` restores it"),
        "{said}"
    );
    tree.run(["update", "--accept-missing", "data"]).succeeds();
    is_true(&tree, 7);
}

#[test]
fn parity_that_was_away_follows_when_it_is_back() {
    for mount_point in [false, true] {
        let tree = photographs();
        tree.run(["parity", "make", "--parity-at", "elsewhere", "data"]).succeeds();
        fs::rename(tree.path("elsewhere"), tree.path("away")).unwrap();
        if mount_point {
            fs::create_dir(tree.path("elsewhere")).unwrap();
        }
        let tree = tree.file("data/0/new.jpg", &contents(9, 50_000));
        fs::write(tree.path("data/0/1.jpg"), contents(11, 9000)).unwrap();
        let said = tree.run(["update", "data"]).succeeds();
        let said = format!("{}{}", said.stdout(), said.stderr());
        assert!(said.contains("is its disk mounted?"), "{said}");
        assert!(said.contains("elsewhere`"), "{said}");
        tree.run(["check", "--require-tags", "data"]).succeeds();
        if mount_point {
            fs::remove_dir(tree.path("elsewhere")).unwrap();
        }
        fs::rename(tree.path("away"), tree.path("elsewhere")).unwrap();
        // Another file is updated, and what was missed follows.
        fs::write(tree.path("data/1/5.jpg"), contents(12, 9000)).unwrap();
        let said = tree.run(["update", "data/1/5.jpg"]).succeeds();
        let said = format!("{}{}", said.stdout(), said.stderr());
        assert!(!said.contains("mounted"), "{said}");
        is_true(&tree, 9);
        for name in ["data/0/new.jpg", "data/0/1.jpg", "data/1/5.jpg"] {
            comes_back(&tree, name);
        }
        assert!(!tree.path("data/.steadfast/parity/behind").exists());
        // Without its mark, only the selected part is looked at.
        tree.run(["parity", "drop", "--yes", "data"]).succeeds();
        assert!(!tree.path("data/.steadfast/parity").exists());
    }
}

#[test]
fn renamed_files_are_not_read_again() {
    let film = contents(3, (20 << 20) + 5000);
    let tree = photographs().file("data/film", &film);
    tree.run(["tag", "data"]).succeeds();
    // A set has 8 MiB, so the film is cut.
    tree.run(["parity", "make", "--redundancy", "100", "data"]).succeeds();
    let before = sets(&tree);
    fs::rename(tree.path("data/0"), tree.path("data/renamed")).unwrap();
    fs::rename(tree.path("data/film"), tree.path("data/1/film")).unwrap();
    let copies: Vec<Vec<u8>> = before.iter().map(|set| fs::read(set).unwrap()).collect();
    let made = parity(&tree, &["update"], 0);
    assert_eq!((&made["moved"], &made["bytes_read"]), (&4.into(), &0.into()), "{made}");
    assert_eq!((&made["files"], &made["missing"]), (&9.into(), &0.into()), "{made}");
    assert_eq!(sets(&tree).len(), before.len());
    is_true(&tree, 9);
    parity(&tree, &["verify"], 0);
    comes_back(&tree, "data/renamed/1.jpg");
    comes_back(&tree, "data/1/film");
    // A run that ended between the new set and the removal of the old one.
    for (set, bytes) in before.iter().zip(copies) {
        fs::create_dir_all(set.parent().unwrap()).unwrap();
        fs::write(set, bytes).unwrap();
    }
    let made = parity(&tree, &["update"], 0);
    assert_eq!((&made["missing"], &made["bytes_read"]), (&0.into(), &0.into()), "{made}");
    assert_eq!(sets(&tree).len(), before.len());
    is_true(&tree, 9);
}

#[test]
fn a_renamed_file_of_a_changed_set_is_read_with_the_others() {
    let tree = protected();
    fs::rename(tree.path("data/0/0.jpg"), tree.path("data/0/9.jpg")).unwrap();
    tree.edit("data/1/5.jpg");
    tag_alone(&tree);
    let made = parity(&tree, &["update"], 0);
    assert_eq!((&made["moved"], &made["missing"]), (&0.into(), &0.into()), "{made}");
    assert_eq!((&made["files"], sets(&tree).len()), (&8.into(), 1), "{made}");
    comes_back(&tree, "data/0/9.jpg");
}

#[test]
fn files_that_are_added_do_not_cost_the_others() {
    let mut tree = protected();
    let (mut read, mut most) = (0, 0);
    for number in 0..40 {
        tree = tree.file(format!("data/day/{number}.jpg"), &contents(100 + number, 20_000));
        tag_alone(&tree);
        let made = parity(&tree, &["update"], 0);
        assert_eq!(made["files"], 9 + number, "{made}");
        let bytes = made["bytes_read"].as_u64().unwrap();
        // Once in sixteen days, the small sets are merged.
        assert!(bytes == 20_000 || sets(&tree).len() <= 2, "day {number}: {made}");
        read += bytes;
        most = most.max(sets(&tree).len());
    }
    assert!(most <= 17, "{most} sets");
    assert!(read < 3 * 40 * 20_000 + 2 * 300_000, "{read} bytes were read");
    is_true(&tree, 48);
    comes_back(&tree, "data/day/0.jpg");
    comes_back(&tree, "data/day/39.jpg");
}

#[test]
fn files_are_read_as_asked() {
    let tree = photographs();
    let made = parity(&tree, &["make", "--read-from", "media", "--rate-limit", "1GB"], 0);
    let (all, media) = (&made["bytes_read"], &made["bytes_from_media"]);
    assert!(media.as_u64() <= all.as_u64(), "{made}");
    tree.run(["parity", "make", "--rate-limit", "0", "data"]).ends(2);
    tree.run(["parity", "verify", "data"]).succeeds();
}

/// Hears nothing.
struct Deaf;

impl Monitor for Deaf {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl ParityMonitor for Deaf {
    fn not_protected(&mut self, _file: &NotProtected) {}
}

#[test]
fn a_run_whose_time_is_up_leaves_the_rest_to_the_next() {
    let tree = photographs();
    let place = ParityPlace::new(&tree.path("data"), None).unwrap();
    let mut options = ParityOptions::default();
    options.max_time = Some(Duration::ZERO);
    let made = make_parity(&place, &options, &mut Deaf).unwrap();
    assert_eq!((made.files, made.time_up, made.exit_status().code()), (0, true, 2));
    // An old set stays until its files are in a new one.
    tree.run(["parity", "make", "data"]).succeeds();
    let before = sets(&tree);
    tree.edit("data/0/0.jpg");
    tag_alone(&tree);
    let made = update_parity(&place, &options, &mut Deaf).unwrap();
    assert_eq!((made.sets_removed, sets(&tree)), (0, before));
    options.max_time = None;
    let made = update_parity(&place, &options, &mut Deaf).unwrap();
    assert_eq!((made.files, made.sets_removed, made.exit_status().code()), (8, 1, 0));
    assert!(Path::new(&sets(&tree)[0]).exists());
}

/// Runs a verb of parity over `data` with a limit of the length of files in KiB.
fn limited(tree: &Tree, verb: &str, limit: usize, status: i32) {
    let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$@\"");
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", &script, "bash"]).arg(tree.command([""; 0]).get_program());
    shell.args(["parity", verb, "data"]);
    shell
        .current_dir(tree.path(""))
        .env("STEADFAST_IGNORE_CTIME", "1")
        .env("XDG_STATE_HOME", tree.state(""));
    crate::tree::Outcome::of(&mut shell).ends(status);
}

#[test]
fn a_full_disk_leaves_the_old_parity_whole() {
    let tree = protected();
    let length = fs::metadata(&sets(&tree)[0]).unwrap().len().div_ceil(1024) as usize;
    let drafts = || {
        let names = fs::read_dir(tree.path("data/.steadfast/parity")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".draft")).count()
    };
    tree.edit("data/0/0.jpg");
    tag_alone(&tree);
    let before = sets(&tree);
    let bytes = fs::read(&before[0]).unwrap();
    // A block, the index, the parity, all but the end.
    for limit in [0, 4, 8, 40, length / 2, length - 40] {
        limited(&tree, "update", limit, 2);
        assert_eq!((sets(&tree), drafts()), (before.clone(), 0), "{limit}");
        assert!(fs::read(&before[0]).unwrap() == bytes, "{limit}");
    }
    limited(&tree, "update", length, 0);
    is_true(&tree, 8);
    tree.run(["parity", "drop", "--yes", "data"]).succeeds();
    limited(&tree, "make", length / 2, 2);
    assert_eq!((sets(&tree).len(), drafts()), (0, 0));
    limited(&tree, "make", length, 0);
    is_true(&tree, 8);
}

#[test]
fn the_strength_of_a_set_is_told() {
    let tree = protected();
    let shown = |arguments: &[&str], status| {
        let said = tree.run(["parity"].iter().chain(arguments)).ends(status);
        said.objects().remove(0)
    };
    let set = shown(&["show", "--json", "data/0/1.jpg"], 0);
    let strength = set["strength"].as_u64().unwrap();
    assert!(strength > 0 && set["lost_pages"].is_null(), "{set}");
    let set = shown(&["verify", "--strength", "--json", "data"], 0);
    assert_eq!((&set["lost_pages"], &set["strength"]), (&0.into(), &strength.into()), "{set}");
    tree.corrupt("data/0/1.jpg");
    fs::remove_file(tree.path("data/tiny")).unwrap();
    let set = shown(&["verify", "--strength", "--json", "data"], 0);
    assert_eq!(set["lost_pages"], 2, "{set}");
    assert_eq!(set["strength"], strength - 1, "{set}");
    let said = tree.run(["parity", "show", "data/0"]).succeeds();
    assert!(said.stdout().contains("can lose any "), "{said:?}");
    // Everything can be lost of a small set, and no page more.
    let names = ["0/0.jpg", "0/1.jpg", "0/2.jpg", "1/3.jpg", "1/4.jpg", "1/5.jpg"];
    names.iter().for_each(|name| fs::remove_file(tree.path("data").join(name)).unwrap());
    let set = shown(&["verify", "--strength", "--json", "data"], 0);
    assert!(set["strength"].as_i64().unwrap() >= 0, "{set}");
    let parity = sets(&tree)[0].clone();
    let mut bytes = fs::read(&parity).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40_960].fill(0xEE);
    fs::write(&parity, bytes).unwrap();
    let set = shown(&["verify", "--strength", "--json", "data"], 3);
    assert!(set["strength"].as_i64().unwrap() < 0, "{set}");
}
