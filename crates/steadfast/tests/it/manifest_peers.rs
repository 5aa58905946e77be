//! Other tools check what we write, and we read what they write, on whole and on damaged trees.
//!
//! A test whose tool is missing is skipped.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use steadfast::manifest::bagit::{self, Bag};
use steadfast::manifest::chkbit::{self, IndexTree as Indexes};
use steadfast::manifest::{Format, Mtime, Record, Step, read, writer};
use steadfast::{Algorithm, Timestamp};
use steadfast_testing::program as peer;

use crate::fixtures::{MTIME, Names, assert_holds, digest, tree_of};
use crate::tree::{Tree, set_mtime};

fn planted(names: Names, folder: &str) -> Tree {
    let tree = Tree::new();
    let mtime = Duration::new(MTIME.seconds as u64, MTIME.nanoseconds);
    for (name, contents) in tree_of(names) {
        let path = tree.write(Path::new(folder).join(name), contents);
        set_mtime(&path, SystemTime::UNIX_EPOCH + mtime);
    }
    tree
}

fn run<S: AsRef<OsStr>>(tree: &Tree, program: &Path, arguments: &[S]) -> Output {
    let mut command = Command::new(program);
    command.current_dir(tree.path()).env("LC_ALL", "C.UTF-8").args(arguments);
    command.output().unwrap()
}

fn names_of(names: Names) -> Vec<OsString> {
    tree_of(names).into_iter().map(|(name, _)| name.into_os_string()).collect()
}

/// Runs a tool over every file by name and returns what it prints.
fn printed(tree: &Tree, program: &Path, arguments: &[&str], names: Names) -> Vec<u8> {
    let arguments = arguments.iter().map(OsString::from).chain(names_of(names));
    let output = run(tree, program, &arguments.collect::<Vec<_>>());
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

/// The records of the tree as we would make them.
fn ours(names: Names, folder: &str, algorithms: &[Algorithm]) -> Vec<Record> {
    let record = |(name, contents): (PathBuf, &[u8])| Record {
        parts: None,
        path: Path::new(folder).join(name),
        digests: algorithms.iter().map(|known| (*known, digest(*known, contents))).collect(),
        length: Some(contents.len() as u64),
        mtime: Some(Mtime { time: MTIME, step: Step::Nanosecond }),
        tagged: Some(Timestamp { seconds: 1_763_650_000, nanoseconds: 0 }),
    };
    tree_of(names).into_iter().map(record).collect()
}

fn document(format: Format, records: &[Record]) -> Vec<u8> {
    let mut writer = writer(format, None, Vec::new()).unwrap();
    records.iter().for_each(|record| writer.put(record).unwrap());
    writer.finish().unwrap()
}

fn holds(format: Format, algorithm: Option<Algorithm>, bytes: &[u8], names: Names) {
    let found: Result<Vec<Record>, _> = read(format, algorithm, bytes).collect();
    assert_holds(found.unwrap(), names, "");
}

/// Says that a check passes, and fails once a byte has changed and the time has not.
fn assert_checks(tree: &Tree, victim: &str, check: impl Fn() -> Output) {
    let whole = check();
    assert!(whole.status.success(), "{whole:?}");
    tree.corrupt(victim, "betA\n");
    let damaged = check();
    assert!(!damaged.status.success(), "{damaged:?}");
}

#[test]
fn the_sums_of_coreutils() {
    for (name, algorithm) in [
        ("sha256sum", Algorithm::Sha256),
        ("sha512sum", Algorithm::Sha512),
        ("sha384sum", Algorithm::Sha384),
        ("sha1sum", Algorithm::Sha1),
        ("md5sum", Algorithm::Md5),
        ("b2sum", Algorithm::Blake2b),
    ] {
        let Some(program) = peer(name) else { continue };
        for (format, arguments) in [
            (Format::Gnu, &["--"][..]),
            (Format::Bsd, &["--tag", "--"]),
            (Format::GnuZero, &["--zero", "--"]),
        ] {
            sums(&program, format, algorithm, arguments, Names::All);
        }
    }
}

/// It prints names that are not UTF-8 with U+FFFD and cannot check them itself.
#[test]
fn the_sums_of_b3sum() {
    let Some(program) = peer("b3sum") else { return };
    sums(&program, Format::Gnu, Algorithm::Blake3, &["--"], Names::Utf8);
}

fn sums(program: &Path, format: Format, algorithm: Algorithm, arguments: &[&str], names: Names) {
    let tree = planted(names, "");
    let theirs = printed(&tree, program, arguments, names);
    holds(format, Some(algorithm), &theirs, names);
    let document = document(format, &ours(names, "", &[algorithm]));
    assert_eq!(document, theirs, "{program:?}: {}", String::from_utf8_lossy(&theirs));
    // What ends with NUL is for other programs to read.
    if format != Format::GnuZero {
        fs::write(tree.at("SUMS"), document).unwrap();
        assert_checks(&tree, "sub dir/b.txt", || run(&tree, program, &["-c", "SUMS"]));
    }
}

#[test]
fn the_lines_of_openssl() {
    let Some(program) = peer("openssl") else { return };
    for (argument, algorithm) in [
        ("-sha256", Algorithm::Sha256),
        ("-sha384", Algorithm::Sha384),
        ("-sha512", Algorithm::Sha512),
        ("-sha1", Algorithm::Sha1),
        ("-md5", Algorithm::Md5),
        ("-blake2b512", Algorithm::Blake2b),
    ] {
        let tree = planted(Names::All, "");
        let theirs = printed(&tree, &program, &["dgst", argument], Names::Plain);
        holds(Format::Openssl, None, &theirs, Names::Plain);
        let document = document(Format::Openssl, &ours(Names::Plain, "", &[algorithm]));
        assert_eq!(document, theirs, "{}", String::from_utf8_lossy(&theirs));
        let reversed = printed(&tree, &program, &["dgst", "-r", argument], Names::All);
        holds(Format::Gnu, Some(algorithm), &reversed, Names::All);
    }
}

#[test]
fn the_lists_of_hashdeep() {
    let Some(program) = peer("hashdeep") else { return };
    let tree = planted(Names::Plain, "tree");
    for arguments in [
        &["-l", "-r", "tree"][..],
        &["-l", "-r", "-c", "md5,sha1,sha256,tiger,whirlpool", "tree"],
        &["-l", "-r", "-c", "sha1", "tree"],
    ] {
        let theirs = run(&tree, &program, arguments).stdout;
        let found: Result<Vec<Record>, _> = read(Format::Hashdeep, None, &theirs[..]).collect();
        assert_holds(found.unwrap(), Names::Plain, "tree");
    }
    let records = ours(Names::Plain, "tree", &[Algorithm::Sha256, Algorithm::Md5]);
    fs::write(tree.at("list"), document(Format::Hashdeep, &records)).unwrap();
    let audit = ["-l", "-r", "-a", "-k", "list", "tree"];
    assert_checks(&tree, "tree/sub dir/b.txt", || run(&tree, &program, &audit));
}

#[test]
fn pieces_of_files_are_refused() {
    let Some(program) = peer("hashdeep") else { return };
    let tree = planted(Names::Plain, "");
    let theirs = run(&tree, &program, &["-l", "-p", "2", "a.txt"]).stdout;
    let found: Vec<_> = read(Format::Hashdeep, None, &theirs[..]).collect();
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(Result::is_err), "{found:?}");
}

#[test]
fn the_lists_of_rhash() {
    let Some(program) = peer("rhash") else { return };
    for (format, arguments, algorithm) in [
        (Format::Sfv, &["--sfv", "--crc32"][..], Algorithm::Crc32),
        (Format::Bsd, &["--bsd", "--sha256"], Algorithm::Sha256),
        (Format::Gnu, &["--sha256"], Algorithm::Sha256),
    ] {
        let tree = planted(Names::Plain, "");
        let theirs = printed(&tree, &program, arguments, Names::Plain);
        holds(format, Some(algorithm), &theirs, Names::Plain);
        fs::write(tree.at("list"), document(format, &ours(Names::Plain, "", &[algorithm])))
            .unwrap();
        let check = [&arguments[arguments.len() - 1..], &["-c", "list"]].concat();
        assert_checks(&tree, "sub dir/b.txt", || run(&tree, &program, &check));
    }
}

#[test]
fn the_lists_of_cfv() {
    let Some(program) = peer("cfv") else { return };
    let tree = planted(Names::Plain, "");
    let mut create = vec![OsString::from("-C"), "-t".into(), "sfv".into(), "-f".into()];
    create.push("theirs.sfv".into());
    create.extend(names_of(Names::Plain));
    let created = run(&tree, &program, &create);
    assert!(created.status.success(), "{created:?}");
    holds(Format::Sfv, None, &fs::read(tree.at("theirs.sfv")).unwrap(), Names::Plain);
    let records = ours(Names::Plain, "", &[Algorithm::Crc32]);
    fs::write(tree.at("ours.sfv"), document(Format::Sfv, &records)).unwrap();
    let check = ["-T", "-f", "ours.sfv"];
    assert_checks(&tree, "sub dir/b.txt", || run(&tree, &program, &check));
}

#[test]
fn the_bags_of_bagit() {
    let Some(program) = peer("bagit.py") else { return };
    let tree = planted(Names::Utf8, "bag");
    let made = run(&tree, &program, &["--sha256", "--md5", "bag"]);
    assert!(made.status.success(), "{made:?}");
    let bag = Bag::open(&tree.at("bag")).unwrap();
    assert_eq!(bag.problems, []);
    let payload = bag.records.into_iter().filter(|record| record.path.starts_with("data"));
    let payload: Vec<Record> = payload.collect();
    assert!(payload.iter().all(|record| record.digests.len() == 2));
    assert_holds(payload, Names::Utf8, "data");

    let tree = planted(Names::Utf8, "data");
    let records = ours(Names::Utf8, "data", &[Algorithm::Sha256, Algorithm::Sha512]);
    for (name, bytes) in bagit::documents(&records, Some("2024-01-02")).unwrap() {
        fs::write(tree.at(name), bytes).unwrap();
    }
    assert_eq!(Bag::open(tree.path()).unwrap().problems, []);
    assert_checks(&tree, "data/sub dir/b.txt", || run(&tree, &program, &["--validate", "."]));
}

#[test]
fn the_indexes_of_chkbit() {
    let Some(program) = peer("chkbit") else { return };
    for (mode, algorithm) in
        [("split", "blake3"), ("split", "md5"), ("atom", "sha512"), ("atom", "blake3")]
    {
        let tree = planted(Names::Utf8, "");
        let made = run(&tree, &program, &["init", mode, "."]);
        assert!(made.status.success(), "{made:?}");
        let made = run(&tree, &program, &["update", "--algo", algorithm, "-d", "."]);
        assert!(made.status.success(), "{made:?}");
        let found: Result<Vec<Record>, _> = Indexes::open(tree.path()).unwrap().collect();
        let found = found.unwrap();
        assert!(found.iter().all(|record| record.digests[0].0.name() == algorithm));
        assert_holds(found, Names::Utf8, "");

        let tree = planted(Names::Utf8, "");
        let made = run(&tree, &program, &["init", mode, "."]);
        assert!(made.status.success(), "{made:?}");
        let records = ours(Names::Utf8, "", &[algorithm.parse().unwrap()]);
        if mode == "atom" {
            let document = document(Format::ChkbitDatabase, &records);
            fs::write(tree.at(chkbit::DATABASE_NAME), document).unwrap();
        } else {
            for (folder, document) in chkbit::documents(&records).unwrap() {
                fs::write(tree.at(folder.join(chkbit::INDEX_NAME)), document).unwrap();
            }
        }
        let check = ["check", "-d", "."];
        let said = run(&tree, &program, &check);
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(!text.contains("new"), "every entry is known: {text}");
        assert_checks(&tree, "sub dir/b.txt", || run(&tree, &program, &check));
    }
}

#[test]
fn the_database_of_bitrot() {
    let Some(program) = peer("bitrot") else { return };
    let tree = planted(Names::Utf8, "");
    let made = run(&tree, &program, &["-q"]);
    assert!(made.status.success(), "{made:?}");
    holds(Format::Bitrot, None, &fs::read(tree.at(".bitrot.db")).unwrap(), Names::Utf8);

    let tree = planted(Names::Utf8, "");
    let records = ours(Names::Utf8, "", &[Algorithm::Sha1]);
    fs::write(tree.at(".bitrot.db"), document(Format::Bitrot, &records)).unwrap();
    let said = run(&tree, &program, &["-t", "-v"]);
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(!text.contains("added"), "every row is known: {text}");
    assert_checks(&tree, "sub dir/b.txt", || run(&tree, &program, &["-t"]));
}

#[test]
fn the_specifications_of_mtree() {
    let Some(program) = peer("mtree") else { return };
    let tree = planted(Names::All, "");
    for keywords in ["type,size,time,sha256", "type,sha1,md5", "type,size,sha512,sha384,mode,uid"] {
        let theirs = run(&tree, &program, &["-c", "-k", keywords, "-p", "."]).stdout;
        holds(Format::Mtree, None, &theirs, Names::All);
    }
    let records = ours(Names::All, "", &[Algorithm::Sha256, Algorithm::Md5]);
    let outside = Tree::new();
    fs::write(outside.at("spec"), document(Format::Mtree, &records)).unwrap();
    let spec = outside.at("spec").into_os_string();
    let check = ["-p".into(), ".".into(), "-f".into(), spec];
    assert_checks(&tree, "sub dir/b.txt", || run::<OsString>(&tree, &program, &check));
}
