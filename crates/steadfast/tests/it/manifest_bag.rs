//! Whole trees with their manifests: bags in which something is wrong, and indexes of folders.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use steadfast::manifest::bagit::{self, Bag, Oxum, Problem};
use steadfast::manifest::chkbit::{self, IndexTree as Indexes};
use steadfast::manifest::{Dispute, FaultKind, Format, Mtime, PathFault, Record, Step, writer};
use steadfast::{Algorithm, Timestamp};

use crate::fixtures::{digest, path};
use crate::tree::Tree;

const FILES: [(&str, &str); 3] = [("data/a", "alpha\n"), ("data/s/b", "beta\n"), ("data/e", "")];

fn record(path: impl Into<PathBuf>, contents: &str, algorithms: &[Algorithm]) -> Record {
    let digests = algorithms.iter().map(|known| (*known, digest(*known, contents.as_bytes())));
    Record {
        parts: None,
        path: path.into(),
        digests: digests.collect(),
        length: Some(contents.len() as u64),
        mtime: Some(Mtime { time: Timestamp::default(), step: Step::Nanosecond }),
        tagged: None,
    }
}

/// A bag without fault, with manifests of SHA-256 and MD5.
fn bag() -> Tree {
    let tree = Tree::new();
    let algorithms = [Algorithm::Sha256, Algorithm::Md5];
    let records = FILES.map(|(name, contents)| {
        tree.write(name, contents);
        record(name, contents, &algorithms)
    });
    for (name, bytes) in bagit::documents(&records, None).unwrap() {
        tree.write(name, bytes);
    }
    tree
}

fn append(tree: &Tree, name: &str, text: &str) {
    let before = fs::read_to_string(tree.at(name)).unwrap_or_default();
    tree.write(name, before + text);
}

fn problems(tree: &Tree) -> Vec<Problem> {
    Bag::open(tree.path()).unwrap().problems
}

#[test]
fn a_whole_bag_has_no_problem_and_every_file_once() {
    let tree = bag();
    let bag = Bag::open(tree.path()).unwrap();
    assert_eq!(bag.problems, []);
    assert_eq!(bag.oxum, Some(Oxum { bytes: 11, files: 3 }));
    assert_eq!(bag.version.unwrap().to_string(), "1.0");
    assert_eq!(bag.records.len(), 3 + 4, "the payload, two tag files and two manifests");
    for record in &bag.records {
        let contents = fs::read(tree.at(&record.path)).unwrap();
        assert_eq!(record.digests.len(), 2, "{:?}", record.path);
        for (algorithm, found) in &record.digests {
            assert_eq!(*found, digest(*algorithm, &contents), "{:?}", record.path);
        }
        assert_eq!(record.length, Some(contents.len() as u64));
    }
}

#[test]
fn missing_and_extra_files_are_told_and_the_count_too() {
    let tree = bag();
    fs::remove_file(tree.at("data/s/b")).unwrap();
    tree.write("data/new", "x");
    let (stated, found) = (Oxum { bytes: 11, files: 3 }, Oxum { bytes: 7, files: 3 });
    let expected = [
        Problem::Missing("data/s/b".into()),
        Problem::Extra("data/new".into()),
        Problem::Oxum { stated, found },
    ];
    assert_eq!(problems(&tree), expected);
}

#[test]
fn from_version_1_on_every_manifest_lists_every_file() {
    let tree = bag();
    let lines = fs::read_to_string(tree.at("manifest-md5.txt")).unwrap();
    let kept: Vec<&str> = lines.lines().filter(|line| !line.ends_with("data/a")).collect();
    tree.write("manifest-md5.txt", kept.join("\n"));
    let unlisted = Problem::Unlisted { path: "data/a".into(), algorithm: Algorithm::Md5 };
    assert_eq!(problems(&tree), [unlisted]);
    let older = "BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n";
    tree.write("bagit.txt", older);
    assert_eq!(problems(&tree), []);
}

#[test]
fn a_bag_with_files_elsewhere_is_not_whole() {
    let tree = bag();
    tree.write("fetch.txt", "");
    assert_eq!(problems(&tree), []);
    tree.write("fetch.txt", "http://example.com/x 5 data/x\n\n");
    assert_eq!(problems(&tree), [Problem::Fetch { files: 1 }]);
}

#[test]
fn a_bag_needs_its_declaration_a_manifest_and_data() {
    let tree = bag();
    fs::remove_file(tree.at("bagit.txt")).unwrap();
    let found = problems(&tree);
    assert!(
        matches!(&found[0], Problem::Fault { document, .. } if document == Path::new("bagit.txt"))
    );
    assert_eq!(found[1..], [Problem::Missing("bagit.txt".into())], "the tag manifests have it");

    let tree = bag();
    for name in ["manifest-sha256.txt", "manifest-md5.txt"] {
        fs::remove_file(tree.at(name)).unwrap();
    }
    for name in ["tagmanifest-sha256.txt", "tagmanifest-md5.txt"] {
        fs::remove_file(tree.at(name)).unwrap();
    }
    tree.write("manifest-rot13.txt", "x  data/a\n");
    let found = problems(&tree);
    let [Problem::Fault { fault, .. }, Problem::NoManifest, extra @ ..] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(fault.kind, FaultKind::Unsupported);
    assert_eq!(extra.len(), 3);

    let tree = bag();
    fs::remove_dir_all(tree.at("data")).unwrap();
    let missing = problems(&tree).into_iter().filter(|found| matches!(found, Problem::Missing(_)));
    assert_eq!(missing.count(), 3);
}

#[test]
fn paths_that_leave_the_bag_or_their_half_are_refused() {
    let md5 = "d41d8cd98f00b204e9800998ecf8427e";
    for (manifest, listed, fault) in [
        ("manifest-md5.txt", "data/../../x", Some(PathFault::Parent)),
        ("manifest-md5.txt", "/etc/passwd", Some(PathFault::Absolute)),
        ("manifest-md5.txt", "bagit.txt", None),
        ("tagmanifest-md5.txt", "data/a", None),
    ] {
        let tree = bag();
        append(&tree, manifest, &format!("{md5}  {listed}\n"));
        let expected = Problem::Path { document: manifest.into(), path: listed.into(), fault };
        let found = problems(&tree);
        assert_eq!(found, [expected], "{listed}");
        assert!(found[0].to_string().contains(listed));
    }
}

#[test]
fn manifests_that_contradict_themselves_are_told() {
    let tree = bag();
    append(&tree, "manifest-md5.txt", "d41d8cd98f00b204e9800998ecf8427e  ./data/a\n");
    let [Problem::Conflict(conflict)] = &problems(&tree)[..] else { panic!("one conflict") };
    assert_eq!(conflict.path, Path::new("data/a"));
    assert!(matches!(conflict.about, Dispute::Digest(Algorithm::Md5, ..)));
}

#[test]
fn links_in_the_payload_are_never_followed() {
    let tree = bag();
    symlink("/", tree.at("data/s/link")).unwrap();
    fs::remove_file(tree.at("data/e")).unwrap();
    symlink("a", tree.at("data/e")).unwrap();
    let mut found = problems(&tree);
    found.retain(|problem| !matches!(problem, Problem::Oxum { .. }));
    found.sort_by_key(ToString::to_string);
    let expected = [
        Problem::Missing("data/e".into()),
        Problem::Special("data/e".into()),
        Problem::Special("data/s/link".into()),
    ];
    assert_eq!(found, expected);

    let tree = bag();
    fs::rename(tree.at("data"), tree.at("elsewhere")).unwrap();
    symlink("elsewhere", tree.at("data")).unwrap();
    let found = problems(&tree);
    assert!(found.contains(&Problem::Missing("data/a".into())), "{found:?}");
}

#[test]
fn names_are_found_however_their_tool_encoded_them() {
    for (version, listed, present) in [
        ("1.0", "data/a%0Ab", "data/a\nb"),
        ("1.0", "data/a%25b", "data/a%b"),
        ("1.0", "data/a%25b", "data/a%25b"),
        ("1.0", "data/a%0Ab", "data/a%0Ab"),
        ("0.97", "data/a%25b", "data/a%25b"),
        ("0.97", "data/a%0ab", "data/a\nb"),
        ("1.0", "data/caf\u{e9}", "data/cafe\u{301}"),
        ("1.0", "*data/a", "data/a"),
    ] {
        let tree = Tree::new();
        tree.write(present, "");
        let bagit = format!("BagIt-Version: {version}\nTag-File-Character-Encoding: UTF-8\n");
        tree.write("bagit.txt", bagit);
        let md5 = digest(Algorithm::Md5, b"");
        tree.write("manifest-md5.txt", format!("{md5}  {listed}\n"));
        let bag = Bag::open(tree.path()).unwrap();
        assert_eq!(bag.problems, [], "{version} {listed:?} {present:?}");
        assert_eq!(bag.records[0].path, Path::new(present));
    }
}

#[test]
fn a_bag_is_not_made_of_what_is_elsewhere() {
    let md5 = [Algorithm::Md5];
    assert!(bagit::documents(&[], None).is_err());
    assert!(bagit::documents(&[record("a", "", &md5)], None).is_err());
    let unlike = [record("data/a", "", &md5), record("data/b", "", &[Algorithm::Sha1])];
    assert!(bagit::documents(&unlike, None).is_err());
    let unknown = Record { length: None, ..record("data/a", "", &md5) };
    assert!(bagit::documents(&[unknown], None).is_err());
}

fn index(records: &[Record], format: Format) -> Vec<u8> {
    let mut writer = writer(format, None, Vec::new()).unwrap();
    records.iter().for_each(|record| writer.put(record).unwrap());
    writer.finish().unwrap()
}

#[test]
fn the_indexes_of_a_tree_are_read_in_order_and_links_are_left_alone() {
    let tree = Tree::new();
    let md5 = [Algorithm::Md5];
    let records = [record("a", "", &md5), record("s/b", "", &md5), record("s/t/c", "", &md5)];
    for (folder, bytes) in chkbit::documents(&records).unwrap() {
        tree.write(folder.join(chkbit::INDEX_NAME), bytes);
    }
    symlink(".", tree.at("loop")).unwrap();
    fs::create_dir(tree.at("without")).unwrap();
    symlink("../.chkbit", tree.at("without/.chkbit")).unwrap();
    let found: Result<Vec<Record>, _> = Indexes::open(tree.path()).unwrap().collect();
    let paths: Vec<PathBuf> = found.unwrap().into_iter().map(|record| record.path).collect();
    assert_eq!(paths, ["a", "s/b", "s/t/c"].map(PathBuf::from));

    let database = [record("only", "", &md5)];
    tree.write(chkbit::DATABASE_NAME, index(&database, Format::ChkbitDatabase));
    let found: Result<Vec<Record>, _> = Indexes::open(tree.path()).unwrap().collect();
    assert_eq!(found.unwrap()[0].path, Path::new("only"));
}

#[test]
fn a_broken_index_does_not_hide_the_others() {
    let tree = Tree::new();
    let good = record("b", "", &[Algorithm::Md5]);
    tree.write("s/.chkbit", index(&[good], Format::Chkbit));
    tree.write(".chkbit", "{\"v\":2,");
    let found: Vec<_> = Indexes::open(tree.path()).unwrap().collect();
    let [Err(fault), Ok(record)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(fault.document, Path::new(".chkbit"));
    assert_eq!(record.path, path(b"s/b"));
}
