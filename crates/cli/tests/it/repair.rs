//! `repair` from outside: a file comes back as it was tagged, or is untouched.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use crate::tree::Tree;

/// Ten pages of 4 KiB that are all different, and a short last one.
fn pages(seed: u32) -> Vec<u8> {
    (0..10 * 4096 + 100_u32).map(|at| (at / 7 * 31 + seed + at / 4096) as u8).collect()
}

/// A tree `data` that keeps leaves, and two copies of it, `one` and `two`.
pub(crate) fn copied() -> Tree {
    let tree = Tree::new().file("data/film", &pages(1)).file("data/sub/note", b"a short note");
    let tree = tree.file("data/other", &pages(2));
    fs::set_permissions(tree.path("data/film"), fs::Permissions::from_mode(0o640)).unwrap();
    set_attribute(&tree.path("data/film"), "user.author", b"someone");
    give_away(&tree.path("data/film"));
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "--pages", "data"]).succeeds();
    for copy in ["one", "two"] {
        let mut command = std::process::Command::new("cp");
        let status = command.args(["-a", "data", copy]).current_dir(tree.path("")).status();
        assert!(status.unwrap().success());
        fs::remove_dir_all(tree.path(copy).join(".steadfast")).unwrap();
    }
    tree
}

pub(crate) fn set_attribute(path: &Path, name: &str, value: &[u8]) {
    let file = steadfast_sys::file::File::open(path).unwrap();
    steadfast_sys::xattr::set(&file, name, value).unwrap();
}

/// Gives a file another owner and an access list, where the system and the user allow that.
pub(crate) fn give_away(path: &Path) {
    let _ = std::os::unix::fs::chown(path, Some(1234), Some(4321));
    // Version 2; owner rw, user 1000 r, group r, mask r, others nothing.
    let mut list = vec![2, 0, 0, 0];
    for (tag, permissions, id) in [
        (1_u16, 6_u16, u32::MAX),
        (2, 4, 1000),
        (4, 4, u32::MAX),
        (16, 4, u32::MAX),
        (32, 0, u32::MAX),
    ] {
        list.extend(tag.to_le_bytes());
        list.extend(permissions.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    let file = steadfast_sys::file::File::open(path).unwrap();
    let _ = steadfast_sys::xattr::set(&file, ACCESS_LIST, &list);
}

/// Linux keeps access lists in an attribute.
const ACCESS_LIST: &str = "system.posix_acl_access";

pub(crate) fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let file = steadfast_sys::file::File::open(path).unwrap();
    let mut value = [0; 256];
    let len = steadfast_sys::xattr::get(&file, name, &mut value).ok()??;
    Some(value[..len].to_vec())
}

/// Changes bytes of a file in place and puts the modification time back: decay.
pub(crate) fn decay(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

pub(crate) fn flip(path: &Path, places: &[usize]) {
    decay(path, |bytes| places.iter().for_each(|at| bytes[*at] ^= 4));
}

/// All that belongs to a file but its inode.
#[derive(Debug, PartialEq)]
pub(crate) struct Facts {
    pub(crate) contents: Vec<u8>,
    /// Mode, owner, group.
    ownership: [u32; 3],
    /// Seconds and nanoseconds.
    mtime: (i64, i64),
    attributes: Vec<Option<Vec<u8>>>,
}

pub(crate) fn facts(path: &Path) -> Facts {
    let found = fs::metadata(path).unwrap();
    let names = ["user.author", steadfast_sys::xattr::TAG, ACCESS_LIST];
    Facts {
        contents: fs::read(path).unwrap(),
        ownership: [found.mode(), found.uid(), found.gid()],
        mtime: (found.mtime(), found.mtime_nsec()),
        attributes: names.map(|name| attribute(path, name)).to_vec(),
    }
}

/// The names in a directory, sorted.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_corrupt_file_comes_back_with_all_that_belongs_to_it() {
    let tree = copied();
    let before = facts(&tree.path("data/film"));
    flip(&tree.path("data/film"), &[5, 9000]);
    let damaged = fs::read(tree.path("data/film")).unwrap();
    tree.run(["check", "data"]).ends(3);
    // Nobody is asked without a terminal: it says what it would do, and how.
    let said = tree.run(["repair", "--from", "one", "data"]).ends(3);
    assert!(said.stdout().contains("can be repaired"), "{}", said.stdout());
    assert!(said.stderr().contains("add --yes"), "{}", said.stderr());
    let said = tree.run(["repair", "--yes", "--from", "one", "data"]).succeeds();
    let line = "corrupt     data/film: 2 of 11 pages; repaired from `one/film`\n";
    assert!(said.stdout().starts_with(line), "{}", said.stdout());
    assert!(said.stdout().contains("steadfast repair --discard 1"), "{}", said.stdout());
    assert_eq!(facts(&tree.path("data/film")), before);
    assert_eq!(fs::read(tree.path("data/.steadfast/damaged/1/film")).unwrap(), damaged);
    assert_eq!(names(&tree.path("data")), [".steadfast", "film", "other", "sub"]);
    // The catalogue knows that the failure is settled.
    tree.run(["check", "data"]).succeeds();
    let audit = tree.run(["status", "--audit", "data"]);
    assert!(!audit.stdout().contains("film"), "{}", audit.stdout());
    tree.run(["repair", "--discard", "2", "data"]).ends(2);
    let said = tree.run(["repair", "--discard", "1", "data"]).succeeds();
    assert_eq!(said.stdout(), "  film\nRemoved 1 damaged file.\n");
    assert_eq!(names(&tree.path("data/.steadfast/damaged")), [""; 0]);
}

#[test]
fn damaged_copies_complete_each_other() {
    let tree = copied();
    let before = facts(&tree.path("data/film"));
    flip(&tree.path("data/film"), &[0, 3 * 4096, 10 * 4096 + 5]);
    // Cut within page 8: what comes after it is gone.
    decay(&tree.path("one/film"), |bytes| bytes.truncate(8 * 4096 + 9));
    flip(&tree.path("one/film"), &[3 * 4096 + 1]);
    flip(&tree.path("two/film"), &[7]);
    let arguments = ["repair", "--yes", "--json", "--from", "one", "--from", "two", "data/film"];
    let said = tree.run(arguments).succeeds();
    assert_eq!(facts(&tree.path("data/film")), before);
    let object = &said.objects()[0];
    assert_eq!(
        (object["outcome"].as_str(), object["damaged_pages"].as_u64()),
        (Some("repaired"), Some(3))
    );
    let sources: Vec<(&str, u64)> = object["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| (source["path"].as_str().unwrap(), source["pages"].as_u64().unwrap()))
        .collect();
    assert_eq!(sources, [("one/film", 1), ("two/film", 2)]);
    assert_eq!(
        (said.summary()["repaired"].as_u64(), said.summary()["exit_status"].as_u64()),
        (Some(1), Some(0))
    );
}

#[test]
fn what_no_copy_has_leaves_the_file_untouched() {
    let tree = copied();
    flip(&tree.path("data/film"), &[5000]);
    flip(&tree.path("one/film"), &[4099]);
    let before =
        (facts(&tree.path("data/film")), fs::metadata(tree.path("data/film")).unwrap().ino());
    let said = tree.run(["repair", "--yes", "--from", "one", "data"]).ends(3);
    let why = "1 of 11 pages; cannot repair it: 1 of 11 pages are damaged in the file and in no \
               copy: if it is right as it is, `steadfast update --accept data/film` records it \
               so. The file is untouched";
    assert!(said.stdout().contains(why), "{}", said.stdout());
    let after =
        (facts(&tree.path("data/film")), fs::metadata(tree.path("data/film")).unwrap().ino());
    assert_eq!(after, before);
    assert_eq!(names(&tree.path("data")), [".steadfast", "film", "other", "sub"]);
    assert!(!tree.path("data/.steadfast/damaged").exists());
    tree.run(["repair", "--yes", "data"]).ends(3);
    tree.run(["repair", "--yes", "--from", "nowhere", "data"]).ends(2);
}

#[test]
fn missing_files_and_folders_come_back() {
    let tree = copied();
    let before = [facts(&tree.path("data/film")), facts(&tree.path("data/sub/note"))];
    fs::remove_file(tree.path("data/film")).unwrap();
    fs::remove_dir_all(tree.path("data/sub")).unwrap();
    tree.run(["check", "data"]).ends(1);
    // The tag comes from the catalogue: that of the copy is another's.
    set_attribute(&tree.path("two/sub/note"), steadfast_sys::xattr::TAG, b"not a tag");
    flip(&tree.path("two/film"), &[1]);
    tree.run(["repair", "--yes", "--from", "two", "data"]).ends(3);
    assert!(!tree.path("data/film").exists());
    assert_eq!(facts(&tree.path("data/sub/note")), before[1]);
    tree.run(["repair", "--yes", "--from", "one", "--from", "two", "data"]).succeeds();
    assert_eq!(facts(&tree.path("data/film")), before[0]);
    tree.run(["check", "data"]).succeeds();
    assert!(!tree.path("data/.steadfast/damaged").exists(), "nothing was replaced");
}

#[test]
fn edited_files_are_left_alone() {
    let tree = copied();
    tree.edit("data/film");
    let before = facts(&tree.path("data/film"));
    let said = tree.run(["repair", "--yes", "--from", "one", "data"]).ends(1);
    let expected = "Nothing was repaired. Edited, so left alone: 1 file. ";
    assert!(said.stdout().starts_with(expected), "{}", said.stdout());
    let said = tree.run(["repair", "--yes", "--json", "data"]).ends(1).summary();
    assert_eq!((&said["modified"], &said["exit_status"]), (&1.into(), &1.into()));
    assert_eq!(facts(&tree.path("data/film")), before);
    // Only by name is an edit undone.
    tree.run(["repair", "--yes", "--to-tag", "--from", "one", "data"]).ends(1);
    assert_eq!(facts(&tree.path("data/film")), before);
    tree.run(["repair", "--yes", "--to-tag", "--from", "one", "data/film"]).succeeds();
    assert_eq!(fs::read(tree.path("data/film")).unwrap(), pages(1));
    tree.run(["check", "data"]).succeeds();
    assert_eq!(facts(&tree.path("data/.steadfast/damaged/1/film")).contents, before.contents);
}

#[test]
fn nothing_is_written_unless_that_is_wanted() {
    let tree = copied();
    flip(&tree.path("data/film"), &[5]);
    let before = facts(&tree.path("data/film"));
    let said = tree.run(["repair", "--dry-run", "--from", "one", "data"]).ends(3);
    let text = "corrupt     data/film: 1 of 11 pages; can be repaired from `one/film`\n\
                1 file can be repaired, 0 cannot. Nothing was written.\n";
    assert_eq!(said.stdout(), text);
    let said = tree.run(["repair", "--from", "one", "data"]).ends(3);
    assert!(said.stderr().contains("--yes"), "{}", said.stderr());
    assert_eq!(facts(&tree.path("data/film")), before);
    assert!(!tree.path("data/.steadfast/damaged").exists());
}

#[test]
fn without_leaves_or_catalogue_a_whole_copy_is_needed() {
    let tree = Tree::new().file("a", b"alpha").file("copy/a", b"alpha").file("bad/a", b"alphb");
    tree.run(["tag", "a"]).succeeds();
    let before = facts(&tree.path("a"));
    tree.corrupt("a");
    tree.run(["repair", "--yes", "--from", "bad", "a"]).ends(3);
    // The copy itself may be named.
    tree.run(["repair", "--yes", "--from", "bad/a", "--from", "copy/a", "a"]).succeeds();
    assert_eq!(facts(&tree.path("a")), before);
    tree.run(["check", "a"]).succeeds();
    // The folder of damaged files is no data.
    let said = tree.run(["check", "--json", "."]).succeeds();
    assert_eq!(said.summary()["verdicts"]["corrupt"].as_u64().unwrap_or(0), 0);
}

#[test]
fn duplicates_in_the_catalogue_are_copies() {
    let tree = Tree::new().file("data/a", &pages(3)).file("data/b", &pages(3));
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "--pages", "data"]).succeeds();
    let before = facts(&tree.path("data/a"));
    flip(&tree.path("data/a"), &[77]);
    tree.run(["repair", "--yes", "data"]).succeeds();
    assert_eq!(facts(&tree.path("data/a")), before);
}

#[test]
fn a_file_with_several_names_keeps_them_as_the_check_advised() {
    let tree = copied();
    let right = fs::read(tree.path("data/film")).unwrap();
    fs::hard_link(tree.path("data/film"), tree.path("data/sub/film")).unwrap();
    flip(&tree.path("data/film"), &[5]);
    tree.run(["repair", "--yes", "--from", "one", "data"]).succeeds();
    for name in ["data/film", "data/sub/film"] {
        assert_eq!(fs::read(tree.path(name)).unwrap(), right);
        assert_eq!(fs::metadata(tree.path(name)).unwrap().nlink(), 2);
    }
    // One of its names is outside of the tree.
    fs::hard_link(tree.path("data/film"), tree.path("outside")).unwrap();
    flip(&tree.path("data/film"), &[5]);
    let said = tree.run(["repair", "--yes", "--from", "one", "data"]).ends(3);
    assert!(said.stdout().contains("3 names (hard links), of which 2"), "{}", said.stdout());
}

#[test]
fn a_damaged_file_that_is_nowhere_else_can_be_accepted_as_the_command_says() {
    let tree = Tree::new().file("data/a", b"alpha");
    tree.run(["tag", "data"]).succeeds();
    tree.corrupt("data/a");
    let said = tree.run(["repair", "--yes", "data"]).ends(3);
    assert!(said.stdout().contains("`steadfast update --accept data/a`"), "{}", said.stdout());
    tree.run(["update", "--accept", "data/a"]).succeeds();
    tree.run(["check", "data"]).succeeds();
}

#[test]
fn cut_grown_and_sparse_files_come_back() {
    let mut sparse = vec![0; 3 << 20];
    sparse[2 << 20..(2 << 20) + 10_000].fill(9);
    for change in ["cut", "emptied", "grown", "zeroed", "shifted", "missing"] {
        // A catalogued tree that is empty would look unmounted.
        let tree = Tree::new().file("data/film", b"").file("data/other", b"another");
        let file = fs::File::create(tree.path("data/film")).unwrap();
        file.set_len(3 << 20).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &[9; 10_000], 2 << 20).unwrap();
        // A file that is open to be written to is left alone.
        drop(file);
        set_mode(&tree, &["data/film"], 0o600);
        tree.run(["init", "--tags-only", "data"]).succeeds();
        tree.run(["tag", "--pages", "data"]).succeeds();
        let tree = tree.file("copy/film", &sparse);
        let before = facts(&tree.path("data/film"));
        decay(&tree.path("data/film"), |bytes| match change {
            "cut" => bytes.truncate(2_100_000),
            "emptied" => bytes.clear(),
            "grown" => bytes.extend([7; 5000]),
            "zeroed" => bytes[2_100_000..2_101_000].fill(0),
            _ => bytes.insert(100, 1),
        });
        if change == "missing" {
            fs::remove_file(tree.path("data/film")).unwrap();
        }
        tree.run(["repair", "--yes", "--from", "copy", "data"]).succeeds();
        assert_eq!(facts(&tree.path("data/film")), before, "{change}");
        // A damaged file may share its blocks with the repaired one, which has no holes then.
        let blocks = fs::metadata(tree.path("data/film")).unwrap().blocks();
        assert!(change != "missing" || blocks * 512 < 2 << 20, "holes stay holes");
    }
}

fn set_mode(tree: &Tree, names: &[&str], mode: u32) {
    for name in names {
        fs::set_permissions(tree.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
}

#[test]
fn planted_links_lead_nowhere() {
    // In a copy, a link to the right contents elsewhere is no copy.
    let tree = copied();
    flip(&tree.path("data/film"), &[5]);
    fs::remove_file(tree.path("one/film")).unwrap();
    symlink(tree.path("two/film"), tree.path("one/film")).unwrap();
    tree.run(["repair", "--yes", "--from", "one", "data"]).ends(3);
    // A link in the place of the folder for damaged files is not followed.
    fs::create_dir(tree.path("outside")).unwrap();
    symlink(tree.path("outside"), tree.path("data/.steadfast/damaged")).unwrap();
    let before = facts(&tree.path("data/film"));
    tree.run(["repair", "--yes", "--from", "two", "data"]).ends(3);
    assert_eq!(facts(&tree.path("data/film")), before);
    assert_eq!(names(&tree.path("outside")), [""; 0]);
    assert_eq!(names(&tree.path("data")), [".steadfast", "film", "other", "sub"]);
}

/// What becomes of the bytes of a file.
type Damage = fn(&mut Vec<u8>);

/// Every kind of damage, in every place, with every state of the copies: the file is as it was, or
/// it is untouched and the status is 3.
#[test]
fn there_is_no_third_outcome() {
    let damages: [(&str, Damage); 7] = [
        ("bit", |bytes| bytes[4096] ^= 1),
        ("page", |bytes| bytes[4096..8192].fill(0xEE)),
        ("all", |bytes| bytes.fill(1)),
        ("swapped", |bytes| bytes.rotate_left(4096)),
        ("cut", |bytes| bytes.truncate(20_000)),
        ("empty", Vec::clear),
        ("longer", |bytes| bytes.extend([0; 9000])),
    ];
    let (mut whole, mut untouched) = (0, 0);
    for (name, damage) in damages {
        for (copy, harm) in damages.iter().chain(&[("whole", (|_| ()) as Damage)]) {
            let tree = copied();
            let before = facts(&tree.path("data/film"));
            decay(&tree.path("data/film"), damage);
            decay(&tree.path("one/film"), harm);
            let damaged = facts(&tree.path("data/film"));
            let outcome = tree.run(["repair", "--yes", "--from", "one", "data/film"]);
            let after = facts(&tree.path("data/film"));
            match outcome.status {
                0 if after == before => whole += 1,
                3 if after == damaged => untouched += 1,
                status => panic!("{name} with {copy}: status {status}, {}", outcome.stderr()),
            }
            assert_eq!(names(&tree.path("data")), [".steadfast", "film", "other", "sub"]);
        }
    }
    assert_eq!(whole + untouched, 56);
    assert!(whole >= 14 && untouched >= 20, "{whole} whole, {untouched} untouched");
}

/// A tree without a catalogue: a file, damaged, and a copy of it.
pub(crate) fn without_catalogue(len: usize) -> (Tree, Vec<u8>) {
    let contents: Vec<u8> = (0..len).map(|at| (at / 13 % 251) as u8).collect();
    let tree = Tree::new().file("data/film", &contents).file("copy/film", &contents);
    tree.run(["tag", "data"]).succeeds();
    tree.corrupt("data/film");
    (tree, contents)
}

#[test]
fn a_full_disk_leaves_the_file_untouched() {
    let (tree, contents) = without_catalogue(100_000);
    let before = facts(&tree.path("data/film"));
    let program = tree.command([""; 0]).get_program().to_owned();
    // In KiB: writing fails at once, early, in the middle, at the end, and not at all.
    for (limit, status) in [(0, 3), (1, 3), (50, 3), (97, 3), (98, 0)] {
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$@\"");
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &script, "bash"]).arg(&program);
        shell.args(["repair", "--yes", "--from", "copy", "data"]);
        shell
            .current_dir(tree.path(""))
            .env("STEADFAST_IGNORE_CTIME", "1")
            .env("XDG_STATE_HOME", tree.state(""));
        let outcome = crate::tree::Outcome::of(&mut shell);
        let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
        assert_eq!(outcome.status, status, "{limit}: {text}");
        match status {
            0 => assert_eq!(fs::read(tree.path("data/film")).unwrap(), contents),
            _ => {
                assert!(text.contains("cannot write the draft: file too large"), "{text}");
                assert_eq!(facts(&tree.path("data/film")), before, "{limit}");
                assert_eq!(names(&tree.path("data")), ["film"], "{limit}");
            }
        }
    }
}

#[test]
fn a_kill_leaves_the_damaged_file_or_the_repaired_one() {
    let (mut untouched, mut repaired) = (0, 0);
    for round in 0..24 {
        let (tree, contents) = without_catalogue(3_000_000);
        let damaged = fs::read(tree.path("data/film")).unwrap();
        let mut child = tree
            .command(["repair", "--yes", "--from", "copy", "data"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Spread over the time that a repair takes.
        std::thread::sleep(std::time::Duration::from_millis(round * 5));
        let _ = child.kill();
        child.wait().unwrap();
        let now = fs::read(tree.path("data/film")).unwrap();
        let left = names(&tree.path("data"));
        assert!(left.iter().all(|name| !name.ends_with(".draft")), "{left:?}");
        if now == damaged {
            untouched += 1;
        } else {
            assert!(now == contents, "round {round}: neither the one nor the other");
            repaired += 1;
        }
        // The next repair finishes what the killed one began.
        tree.run(["repair", "--yes", "--from", "copy", "data"]).succeeds();
        assert_eq!(fs::read(tree.path("data/film")).unwrap(), contents);
        // The killed repair may have made the folder of its number already.
        let kept = [1, 2].map(|run| tree.path(format!("data/.steadfast/damaged/{run}/film")));
        let is_kept = kept.iter().any(|kept| fs::read(kept).is_ok_and(|it| it == damaged));
        assert!(is_kept, "round {round}: the damaged file is lost");
    }
    assert!(
        untouched > 0 && untouched + repaired == 24,
        "{untouched} untouched, {repaired} repaired"
    );
}

#[test]
fn on_a_terminal_it_shows_the_plan_and_asks() {
    if steadfast_testing::program("script").is_none() {
        return;
    }
    let tree = copied();
    let before = facts(&tree.path("data/film"));
    flip(&tree.path("data/film"), &[5]);
    let damaged = facts(&tree.path("data/film"));
    let program = tree.command([""; 0]).get_program().to_owned();
    let asked = |answer: &str| {
        let line = format!("'{}' repair --from one data", program.to_str().unwrap());
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(tree.path(""));
        script
            .env("STEADFAST_IGNORE_CTIME", "1")
            .env("XDG_STATE_HOME", tree.state(""))
            .stdin(std::process::Stdio::piped());
        let mut child = script.stdout(std::process::Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), answer.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, text) = asked("n\n");
    assert!(text.contains("can be repaired from `one/film`"), "{text}");
    assert!(text.contains("Repair 1 file? [y/N]"), "{text}");
    assert_eq!((status, facts(&tree.path("data/film"))), (3, damaged));
    let (status, text) = asked("y\n");
    assert!(text.contains("Repaired 1 file."), "{text}");
    assert_eq!((status, facts(&tree.path("data/film"))), (0, before));
}

#[test]
fn a_file_on_another_file_system_is_refused_in_its_tree_and_repaired_from_its_own() {
    if steadfast_testing::program("unshare").is_none() {
        return;
    }
    let tree = Tree::new().file("data/a", b"alpha").file("copy/sub/b", b"beta\n");
    fs::create_dir(tree.path("data/sub")).unwrap();
    let script = "mount -t tmpfs none data/sub && echo beta > data/sub/b && \
                  touch -d 1980-01-01 data/sub/b && \"$1\" init data && \"$1\" tag data && \
                  echo bets > data/sub/b && touch -d 1980-01-01 data/sub/b && \
                  \"$1\" repair --yes --from copy data; echo status $?; \
                  test -e data/.steadfast/damaged || echo none; \
                  \"$1\" repair --yes --no-catalogue --from copy/sub data/sub; echo status $?; \
                  cat data/sub/b";
    let program = tree.command([""; 0]).get_program().to_owned();
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", script, "sh"]).arg(program);
    command
        .current_dir(tree.path(""))
        .env("STEADFAST_IGNORE_CTIME", "1")
        .env("XDG_STATE_HOME", tree.state(""));
    let said = crate::tree::Outcome::of(&mut command);
    if said.stdout.is_empty() && said.stderr().contains("unshare") {
        return steadfast_testing::skip(steadfast_testing::Need::Root, said.stderr());
    }
    let text = said.stdout();
    assert!(text.contains("it is on another file system than its tree"), "{text}");
    assert!(text.contains("status 3\nnone\n"), "{text}");
    assert!(text.ends_with("status 0\nbeta\n"), "{text} {}", said.stderr());
}

#[test]
fn parity_gives_what_no_copy_has() {
    for leaves in [true, false] {
        let mut tree = Tree::new();
        for number in 0..40_u32 {
            tree = tree.file(format!("data/{number}"), &pages(number));
        }
        fs::set_permissions(tree.path("data/3"), fs::Permissions::from_mode(0o640)).unwrap();
        tree.run(["init", "--tags-only", "data"]).succeeds();
        let tag: &[&str] = if leaves { &["tag", "--pages", "data"] } else { &["tag", "data"] };
        tree.run(tag).succeeds();
        tree.run(["parity", "make", "data"]).succeeds();
        let facts = |name: &str| {
            let status = fs::metadata(tree.path(name)).unwrap();
            let bytes = fs::read(tree.path(name)).unwrap();
            (bytes, status.modified().unwrap(), status.permissions().mode())
        };
        let before = ["data/3", "data/7"].map(facts);
        decay(&tree.path("data/7"), |bytes| bytes[4096 * 2 + 5] ^= 1);
        fs::remove_file(tree.path("data/3")).unwrap();
        let plan = tree.run(["repair", "--dry-run", "data"]).ends(3);
        assert!(plan.stdout().contains("parity"), "{}", plan.stdout());
        tree.run(["repair", "--yes", "data"]).succeeds();
        assert_eq!(["data/3", "data/7"].map(facts), before, "leaves: {leaves}");
        tree.run(["check", "data"]).succeeds();
        // Without copies and parity, the file stays as it is.
        tree.run(["parity", "drop", "--yes", "data"]).succeeds();
        decay(&tree.path("data/0"), |bytes| bytes.fill(0));
        tree.run(["repair", "--yes", "data"]).ends(3);
        assert_eq!(fs::read(tree.path("data/0")).unwrap(), vec![0; pages(0).len()]);
    }
}

/// Returns how many bytes of a file and of its draft a repair reads, as a multiple of its length.
fn readings(tree: &Tree, length: usize, way: &[&str]) -> f64 {
    let arguments = ["repair", "--yes", "data"];
    let log = tree.path("log");
    let mut traced = std::process::Command::new("strace");
    traced.args(["-f", "-qq", "-y", "-s", "0", "-e", "trace=read,pread64", "-o"]).arg(&log);
    traced.arg(tree.command(arguments).get_program()).args(arguments).args(way);
    traced
        .current_dir(tree.path(""))
        .env("STEADFAST_IGNORE_CTIME", "1")
        .env("XDG_STATE_HOME", tree.state(""));
    assert!(traced.stdout(std::process::Stdio::null()).status().unwrap().success());
    let log = fs::read_to_string(&log).unwrap();
    // A call that another thread interrupts has two lines, and the path in the first.
    let mut begun = HashMap::new();
    let mut read = 0;
    for line in log.lines() {
        let thread = line.split_once(' ').map(|(thread, _)| thread);
        let is_own = match line.contains(" resumed>") {
            true => begun.remove(&thread).unwrap_or(false),
            false => line.contains("/data/film>") || line.contains("/damaged/unfinished/"),
        };
        match line.rsplit_once("= ").and_then(|(_, bytes)| bytes.parse::<u64>().ok()) {
            Some(bytes) if is_own => read += bytes,
            Some(_) => {}
            None => {
                begun.insert(thread, is_own);
            }
        }
    }
    read as f64 / length as f64
}

#[test]
fn a_bad_page_of_a_large_file_costs_few_readings() {
    if steadfast_testing::program("strace").is_none() {
        return;
    }
    let contents: Vec<u8> = (0..12 << 20_u32).map(|at| (at / 7 * 31 + at / 4096) as u8).collect();
    let tree = Tree::new().file("data/film", &contents);
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "--pages", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    // The check reads it twice, for its digest and for its pages. The draft is copied and read
    // back; in place, the file is read back.
    for (way, most) in [(&[][..], 4.5), (&["--in-place"], 3.5)] {
        flip(&tree.path("data/film"), &[5_000_000]);
        let readings = readings(&tree, contents.len(), way);
        assert!((3.0..most).contains(&readings), "{way:?}: {readings}");
        assert!(fs::read(tree.path("data/film")).unwrap() == contents, "{way:?}");
    }
    let said = tree.run(["show", "--history", "--json", "data/film"]).succeeds();
    let runs = said.objects();
    let repairs = runs.iter().filter(|run| run["verb"] == "repair");
    let verdicts: Vec<_> = repairs.map(|run| &run["verdict"]).collect();
    assert_eq!(verdicts, ["intact", "intact"]);
}
