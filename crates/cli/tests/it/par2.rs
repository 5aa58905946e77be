//! `par2 verify` and `par2 repair` on sets that `par2` made: what it can repair is repaired, and
//! the files keep what belongs to them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use steadfast::AlgorithmHasher;
use steadfast::par2::{repair_par2, verify_par2};

use crate::repair::{decay, facts, give_away, set_attribute};
use crate::tree::Tree;

fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random(seed);
    (0..len).map(|_| random.next() as u8).collect()
}

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }
}

/// The file that is damaged.
const FILM: &str = "data/film";

/// A tree whose set has names of all kinds, but none of one letter, at which par2 0.8.1 aborts.
fn tree() -> Tree {
    Tree::new()
        .file(FILM, &noise(1, 100_003))
        .file("data/ab", b"one letter")
        .file("data/empty", b"")
        .file("data/sub/deeper/x", &noise(2, 5000))
        .file(Path::new("data").join(OsStr::from_bytes(b"not \xff UTF-8")), &noise(3, 3000))
}

fn has_par2() -> bool {
    steadfast_testing::program("par2").is_some()
}

/// Runs `par2` in `data` and returns its status.
fn par2(tree: &Tree, arguments: &[&str]) -> i32 {
    let mut command = Command::new("par2");
    command.args(arguments).current_dir(tree.path("data"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap().code().expect("par2 ends by itself")
}

/// Makes a set of all files of `data`.
fn protect(tree: &Tree, block_len: usize, percent: usize) {
    let (blocks, percent) = (format!("-s{block_len}"), format!("-r{percent}"));
    let status = par2(tree, &["create", "-q", "-q", "-R", &blocks, &percent, "set.par2", "."]);
    assert_eq!(status, 0, "par2 makes the set");
}

/// The summary of a command with `--json`.
fn summary(tree: &Tree, words: &[&str], status: i32) -> Value {
    let words = words.iter().chain(&["--json", "data/set.par2"]);
    tree.run(words).ends(status).summary()
}

fn damage(tree: &Tree, change: impl FnOnce(&mut Vec<u8>)) {
    decay(&tree.path(FILM), change);
}

/// A name, and what is done to the bytes.
type Damage = (&'static str, fn(&mut Vec<u8>));

const DAMAGES: [Damage; 9] = [
    ("bit flip", |bytes| bytes[50_000] ^= 1),
    ("first and last byte", |bytes| {
        bytes[0] ^= 1;
        *bytes.last_mut().unwrap() ^= 1;
    }),
    ("burst", |bytes| bytes[20_000..28_000].fill(0xEE)),
    ("zeros", |bytes| bytes[40_000..44_096].fill(0)),
    ("truncated", |bytes| bytes.truncate(95_000)),
    ("extended", |bytes| bytes.extend([7; 100])),
    ("a byte put in", |bytes| bytes.insert(33_333, 9)),
    ("a byte taken out", |bytes| _ = bytes.remove(66_666)),
    ("all of it", |bytes| bytes.fill(1)),
];

#[test]
fn what_par2_can_repair_is_repaired_at_any_block_length() {
    if !has_par2() {
        return;
    }
    for block_len in [100, 1000, 4096, 65_536] {
        let tree = tree();
        protect(&tree, block_len, 20);
        let said = summary(&tree, &["check"], 0);
        assert_eq!(said["damaged_packets"], 0, "{said}");
        assert!(said["recovery_blocks"].as_u64() > Some(0), "{said}");
        let before = fs::read(tree.path(FILM)).unwrap();
        for (name, change) in DAMAGES {
            damage(&tree, change);
            // 1: it can be repaired. 2: it cannot.
            let theirs = par2(&tree, &["verify", "-q", "-q", "set.par2"]);
            summary(&tree, &["check"], 3);
            let plan = summary(&tree, &["repair", "--dry-run"], 3);
            let can = plan["not_repaired"] == 0;
            // A short last block that moved is found here, and not by par2.
            assert!(can || theirs != 1, "{block_len}, {name}: par2 says {theirs}; {plan}");
            let left = fs::read(tree.path(FILM)).unwrap();
            if can {
                let done = summary(&tree, &["repair", "--yes"], 0);
                assert_eq!(done["repaired"], 1, "{block_len}, {name}: {done}");
                assert!(fs::read(tree.path(FILM)).unwrap() == before, "{block_len}, {name}");
                assert_eq!(par2(&tree, &["verify", "-q", "-q", "set.par2"]), 0);
                fs::remove_dir_all(tree.path("data/.steadfast")).unwrap();
            } else {
                summary(&tree, &["repair", "--yes"], 3);
                assert!(fs::read(tree.path(FILM)).unwrap() == left, "{block_len}, {name}");
                assert!(!tree.path("data/.steadfast").exists(), "{block_len}, {name}");
                damage(&tree, |bytes| bytes.clone_from(&before));
            }
        }
    }
}

#[test]
fn missing_files_come_back_with_their_folders() {
    if !has_par2() {
        return;
    }
    let tree = tree();
    protect(&tree, 1000, 30);
    let names = [
        "data/ab".as_ref(),
        "data/sub/deeper/x".as_ref(),
        OsStr::from_bytes(b"data/not \xff UTF-8"),
    ];
    let before = names.map(|name: &OsStr| fs::read(tree.path(name)).unwrap());
    fs::remove_dir_all(tree.path("data/sub")).unwrap();
    names.iter().for_each(|name| drop(fs::remove_file(tree.path(name))));
    let said = tree.run(["check", "data/set.par2"]).ends(1);
    assert!(
        said.stdout().contains("missing     data/sub/deeper/x: 5 of 5 blocks lost"),
        "{said:?}"
    );
    // A set has no modes: files and folders are private until somebody gives them theirs.
    tree.run(["repair", "--yes", "data/set.par2"]).ends(2);
    for (name, bytes) in names.iter().zip(before) {
        assert!(fs::read(tree.path(name)).unwrap() == bytes, "{}", name.display());
        assert_eq!(fs::metadata(tree.path(name)).unwrap().mode() & 0o7777, 0o600);
    }
    assert_eq!(fs::metadata(tree.path("data/sub")).unwrap().mode() & 0o7777, 0o700);
    assert_eq!(par2(&tree, &["verify", "-q", "-q", "set.par2"]), 0);
}

#[test]
fn blocks_are_found_in_files_of_other_names() {
    if !has_par2() {
        return;
    }
    let tree = tree();
    protect(&tree, 1000, 1);
    let renamed = tree.path("renamed");
    for name in ["film", "ab", "sub/deeper/x"] {
        let path = tree.path("data").join(name);
        let before = fs::read(&path).unwrap();
        // Other bytes come first, so that no block is in its place.
        fs::write(&renamed, [b"before", &before[..]].concat()).unwrap();
        fs::remove_file(&path).unwrap();
        let words = ["repair", "--yes", "--from", renamed.to_str().unwrap()];
        // Nothing knows the mode of the missing file.
        let done = summary(&tree, &words, 2);
        assert_eq!((&done["missing"], &done["lost_blocks"]), (&1.into(), &0.into()), "{done}");
        assert!(fs::read(path).unwrap() == before, "{name}");
    }
    summary(&tree, &["repair", "--dry-run", "--from", "absent"], 2);
}

#[test]
fn a_repaired_file_keeps_time_mode_attributes_and_tag() {
    if !has_par2() {
        return;
    }
    let tree = tree();
    fs::set_permissions(tree.path(FILM), fs::Permissions::from_mode(0o640)).unwrap();
    set_attribute(&tree.path(FILM), "user.author", b"someone");
    give_away(&tree.path(FILM));
    tree.run(["tag", "data"]).succeeds();
    protect(&tree, 1000, 10);
    let before = facts(&tree.path(FILM));
    damage(&tree, |bytes| bytes[7] ^= 1);
    let damaged = fs::read(tree.path(FILM)).unwrap();
    let said = tree.run(["repair", "data/set.par2"]).ends(3);
    assert!(said.stderr().contains("add --yes"), "{said:?}");
    let done = summary(&tree, &["repair", "--yes"], 0);
    assert_eq!(facts(&tree.path(FILM)), before);
    let kept = tree.path(Path::new(done["originals"][0]["path"].as_str().unwrap()).join("film"));
    assert!(fs::read(kept).unwrap() == damaged);
    tree.run(["check", FILM]).succeeds();
    tree.run(["repair", "--discard", "1", "data"]).succeeds();
    assert!(!tree.path("data/.steadfast/damaged/1").exists());
}

#[test]
fn a_repair_that_was_killed_leaves_nothing_to_the_next_one() {
    if !has_par2() || steadfast_testing::program("strace").is_none() {
        return;
    }
    let mut kept = 0;
    for at in 1..=8 {
        let tree = tree();
        protect(&tree, 1024, 20);
        let whole = facts(&tree.path(FILM));
        decay(&tree.path(FILM), |bytes| bytes[50_000] ^= 1);
        let damaged = fs::read(tree.path(FILM)).unwrap();
        let words = ["repair", "--yes", "data/set.par2"];
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2,renameat"]);
        traced.args(["-e", &format!("inject=renameat2,renameat:signal=KILL:error=EIO:when={at}")]);
        traced.arg(tree.command([""; 0]).get_program()).args(words).current_dir(tree.path(""));
        traced.env("XDG_STATE_HOME", tree.state("")).stdin(Stdio::null());
        let ended = traced.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        let unfinished = tree.path("data/.steadfast/damaged/unfinished");
        if !ended.success() && unfinished.exists() {
            let said = tree.run(["check", "data/set.par2"]);
            assert!(said.stderr().contains("was cut off"), "{at}: {}", said.stderr());
        }
        let said = tree.run(words).succeeds();
        assert!(facts(&tree.path(FILM)) == whole, "{at}");
        assert!(!unfinished.exists(), "{at}: {}{}", said.stdout(), said.stderr());
        // What was damaged is kept, whichever of the two put it there.
        let numbers = ["1", "2"].map(|run| format!("data/.steadfast/damaged/{run}/film"));
        assert!(
            numbers
                .iter()
                .any(|name| { fs::read(tree.path(name)).is_ok_and(|bytes| bytes == damaged) }),
            "{at}"
        );
        kept += u32::from(said.stderr().contains("kept the damaged file"));
    }
    assert!(kept > 0, "none was killed between the exchange and the end");
}

#[test]
fn a_file_that_was_edited_is_left_alone() {
    if !has_par2() {
        return;
    }
    let tree = tree();
    protect(&tree, 1000, 100);
    tree.edit(FILM);
    tree.run(["tag", "data"]).succeeds();
    let said = tree.run(["check", "data/set.par2"]).ends(1);
    assert!(said.stdout().starts_with("modified    data/film: edited after"), "{said:?}");
    tree.run(["repair", "--yes", "data/set.par2"]).ends(1);
    assert_eq!(fs::read(tree.path(FILM)).unwrap(), b"edited");
    // Damaged since it was tagged: the set has other contents than the tag, so neither is written.
    tree.corrupt(FILM);
    let said = tree.run(["repair", "--yes", "data/set.par2"]).ends(3);
    assert!(said.stdout().contains("not those of the file's tag"), "{said:?}");
    assert_eq!(fs::read(tree.path(FILM)).unwrap(), b"ddited");
}

#[test]
fn links_are_neither_followed_nor_parted() {
    if !has_par2() {
        return;
    }
    let tree = tree();
    protect(&tree, 1000, 100);
    fs::write(tree.path("outside"), "mine").unwrap();
    fs::remove_file(tree.path("data/ab")).unwrap();
    symlink(tree.path("outside"), tree.path("data/ab")).unwrap();
    fs::hard_link(tree.path(FILM), tree.path("other name")).unwrap();
    damage(&tree, |bytes| bytes[0] ^= 1);
    let said = tree.run(["repair", "--yes", "data/set.par2"]).ends(3);
    assert!(said.stdout().contains("2 names (hard links)"), "{said:?}");
    assert!(said.stdout().contains("unreadable  data/ab"), "{said:?}");
    assert_eq!(fs::read(tree.path("outside")).unwrap(), b"mine");
}

/// Flag of a length of blocks: the file is none of those that have blocks.
const BLOCKLESS: u64 = 1 << 63;

/// A packet of a set, with its digest.
fn packet(set: [u8; 16], kind: &[u8; 16], body: &[u8]) -> Vec<u8> {
    let covered = [&set[..], kind, body].concat();
    let length = (32 + covered.len() as u64).to_le_bytes();
    [b"PAR2\0PKT", &length[..], &md5(&covered), &covered].concat()
}

fn md5(bytes: &[u8]) -> [u8; 16] {
    let mut hasher = AlgorithmHasher::new(steadfast::Algorithm::Md5);
    hasher.update(bytes);
    hasher.finalize().as_bytes().try_into().unwrap()
}

/// A PAR2 file whose only file has a name.
fn set_of(name: &[u8], contents: Option<&[u8]>, length: u64, block_len: u64) -> Vec<u8> {
    let id = [7; 16];
    let (count, block_len) = (u32::from(block_len < BLOCKLESS), block_len & !BLOCKLESS);
    let main = [&block_len.to_le_bytes()[..], &count.to_le_bytes(), &id].concat();
    let set = md5(&main);
    let digest = contents.map_or([1; 16], md5);
    let mut description = [&id[..], &digest, &[2; 16], &length.to_le_bytes(), name].concat();
    description.resize(description.len().next_multiple_of(4), 0);
    let main = packet(set, b"PAR 2.0\0Main\0\0\0\0", &main);
    let marks = packet(set, b"PAR 2.0\0IFSC\0\0\0\0", &[&id[..], &[3; 20]].concat());
    [main, packet(set, b"PAR 2.0\0FileDesc", &description), marks].concat()
}

/// A PAR2 file whose only file has a name and other contents than there are.
fn set_naming(name: &[u8], length: u64, block_len: u64) -> Vec<u8> {
    set_of(name, None, length, block_len)
}

#[test]
fn hostile_sets_are_refused() {
    let cases: [(&[u8], u64, u64, &str); 10] = [
        (b"../secret", 4, 4, "does not lead"),
        (b"/etc/passwd", 4, 4, "does not lead"),
        (b"a/../b", 4, 4, "does not lead"),
        (b"a\0b", 4, 4, "does not lead"),
        (b"", 4, 4, "does not lead"),
        (b".steadfast/catalogue.sqlite", 4, 4, "of a catalogue"),
        (b"a/.steadfast/x", 4, 4, "of a catalogue"),
        (b"a", 4, 0, "as no set has"),
        (b"a", 4, 6, "as no set has"),
        (b"a", u64::MAX, 4, "too many blocks"),
    ];
    for (name, length, block_len, why) in cases {
        let tree = Tree::new().file("set.par2", &set_naming(name, length, block_len));
        let said = tree.run(["repair", "--yes", "set.par2"]).ends(2);
        assert!(said.stderr().contains(why), "{}: {said:?}", name.escape_ascii());
    }
    let tree = Tree::new().file("set.par2", b"no packet").file("a", b"four");
    tree.run(["check", "set.par2"]).ends(2);
    tree.run(["check", "absent.par2"]).ends(2);
    // A file as long as no disk needs no memory, and a lost one of that length is not rebuilt.
    let tree = tree.file("set.par2", &set_naming(b"b", u64::MAX - 7, 1 << 60));
    tree.run(["repair", "--yes", "set.par2"]).ends(3);
    // A block that is all zeros but for four bytes is not hashed.
    let tree = tree.file("set.par2", &set_of(b"a", Some(b"four"), 4, 1 << 60));
    tree.run(["check", "set.par2"]).succeeds();
}

#[test]
fn files_that_no_recovery_block_is_of_are_compared_as_a_whole() {
    let set = |contents| set_of(b"note", Some(contents), contents.len() as u64, BLOCKLESS + 4);
    let tree = Tree::new().file("set.par2", &set(b"kept")).file("note", b"kept");
    tree.run(["check", "set.par2"]).succeeds();
    tree.corrupt("note");
    let said = tree.run(["repair", "--yes", "set.par2"]).ends(3);
    assert!(said.stdout().contains("no recovery blocks of it"), "{said:?}");
    // An empty one needs none.
    let tree = Tree::new().file("set.par2", &set(b""));
    tree.run(["check", "set.par2"]).ends(1);
    tree.run(["repair", "--yes", "set.par2"]).ends(2);
    assert_eq!(fs::read(tree.path("note")).unwrap(), b"");
}

#[test]
fn each_set_is_read_once_whatever_files_of_it_are_named() {
    if !has_par2() {
        return;
    }
    let tree = tree();
    protect(&tree, 1000, 10);
    let mut named: Vec<_> =
        fs::read_dir(tree.path("data")).unwrap().map(|entry| entry.unwrap().path()).collect();
    named.retain(|path| path.extension() == Some(OsStr::new("par2")));
    assert!(named.len() > 1);
    fs::write(tree.path("data/set.other.par2"), set_of(b"ab", None, 4, 4)).unwrap();
    named.push(tree.path("data/set.other.par2"));
    named.push(tree.path("absent.par2"));
    let words = ["check", "--json"].map(PathBuf::from);
    let said = tree.run(words.iter().chain(&named)).ends(3);
    let all = said.summary();
    assert_eq!((&all["files"], &all["unread_sets"]), (&5.into(), &1.into()), "{said:?}");
}

#[test]
fn no_change_of_a_set_or_its_files_makes_a_third_outcome() {
    if !has_par2() {
        return;
    }
    let tree = tree();
    protect(&tree, 1000, 60);
    let folder = tree.path("data");
    let mut par2_files: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    par2_files.retain(|path| path.extension() == Some(OsStr::new("par2")));
    par2_files.sort();
    let whole: Vec<Vec<u8>> = par2_files.iter().map(|path| fs::read(path).unwrap()).collect();
    let film = fs::read(tree.path(FILM)).unwrap();
    let mut random = Random(20);
    let (mut restored, mut untouched, mut refused) = (0, 0, 0);
    for round in 0..150 {
        for (path, bytes) in par2_files.iter().zip(&whole) {
            let mut bytes = bytes.clone();
            mutate(&mut bytes, &mut random, 3);
            fs::write(path, bytes).unwrap();
        }
        let mut damaged = film.clone();
        mutate(&mut damaged, &mut random, 8);
        fs::write(tree.path(FILM), &damaged).unwrap();
        let set = tree.path("data/set.par2");
        let done = repair_par2(&set, &[], false, &false.into(), &mut |_| ());
        let found = fs::read(tree.path(FILM)).unwrap();
        match done.map(|totals| totals.exit_status().code()) {
            Ok(0) => {
                assert!(found == film, "round {round}: status 0");
                restored += 1;
            }
            Ok(3) => {
                assert!(found == damaged, "round {round}: status 3");
                untouched += 1;
            }
            Err(_) => {
                assert!(found == damaged, "round {round}: refused");
                refused += 1;
            }
            Ok(status) => panic!("round {round}: status {status}"),
        }
    }
    println!("{restored} restored, {untouched} untouched, {refused} refused");
    assert!(restored > 20 && untouched > 0);
    for (path, bytes) in par2_files.iter().zip(&whole) {
        fs::write(path, bytes).unwrap();
    }
    fs::write(tree.path(FILM), &film).unwrap();
    let verified =
        verify_par2(&tree.path("data/set.par2"), &[], &false.into(), &mut |_| ()).unwrap();
    assert_eq!(verified.exit_status().code(), 0);
}

/// Changes bytes here and there.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random, most: usize) {
    for _ in 0..random.below(most + 1) {
        let at = random.below(bytes.len().max(1)).min(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at.max(bytes.len() * 3 / 4)),
            1 => bytes.insert(at, random.next() as u8),
            2 if at < bytes.len() => _ = bytes.remove(at),
            3 => bytes.iter_mut().skip(at).take(random.below(3000)).for_each(|byte| *byte = 0),
            _ => bytes.iter_mut().skip(at).take(8).for_each(|byte| *byte ^= 0x5A),
        }
    }
}
