//! What is said of objects, by what they are compared with.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use steadfast::{Algorithm, Reference};
use steadfast_objects::{
    Error, ErrorKind, KnownFiles, ObjectCheckOptions, ObjectFinding, ObjectStore, ObjectsSummary,
    check,
};

use crate::server::{Fault, Held, Server};
use crate::tree::{algorithm, composite, known, run, tagged, told, whole};

fn checked(
    store: &ObjectStore,
    known: &KnownFiles,
    options: &ObjectCheckOptions,
) -> Result<(Vec<ObjectFinding>, ObjectsSummary), Error> {
    let mut findings = Vec::new();
    let summary = check(store, known, options, &mut |finding| findings.push(finding.clone()))?;
    Ok((findings, summary))
}

fn long() -> Vec<u8> {
    (0..300_000_u32).map(|at| (at.wrapping_mul(at) >> 3) as u8).collect()
}

#[test]
fn one_tree_and_one_bucket() {
    let long = long();
    let files: [(&str, &[u8]); 9] = [
        ("crc", b"crc"),
        ("gone", b"gone"),
        ("longer", b"longer"),
        ("md5", b"md5"),
        ("other", b"other"),
        ("parts", &long),
        ("same", b"same"),
        ("sub/ü +", b"odd"),
        ("torn", &long),
    ];
    let tree = tagged(&files);
    let mut torn = long.clone();
    torn[120_000] ^= 1;
    let etag = |hex: &str| Held {
        length: 3,
        headers: vec![("etag".to_owned(), format!("\"{hex}\""))],
        ..Held::default()
    };
    let server = Server::start([
        ("in/crc", whole(b"crc", "CRC64NVME")),
        ("in/longer", whole(b"longer!", "CRC32")),
        ("in/md5", etag("1bc29b36f623ba82aaf6724fd3b16718")),
        ("in/other", whole(b"OTHER", "SHA256")),
        ("in/parts", composite(&long, "CRC32C", 100_000)),
        ("in/same", whole(b"same", "SHA256")),
        ("in/sub/", Held::default()),
        ("in/sub/ü +", whole(b"odd", "SHA1")),
        ("in/torn", composite(&torn, "SHA256", 100_000)),
        ("in/unknown", whole(b"", "SHA256")),
        ("in/x//y", whole(b"", "SHA256")),
        ("out", whole(b"", "SHA256")),
    ]);
    let store = server.store("s3://bucket/in");
    let (findings, summary) = checked(&store, &known(tree.path()), &run()).unwrap();
    assert_eq!(
        told(&findings),
        [
            "crc: intact by CRC-64/NVME of the file here",
            "gone: missing",
            "longer: differs by length",
            "md5: intact by ETag as MD5 of the file here",
            "other: differs by SHA-256",
            "parts: intact by CRC-32C of the parts of the file here",
            "same: intact by SHA-256",
            "sub/ü +: intact by SHA-1 of the file here",
            "torn: differs by SHA-256 of the parts of the file here",
            "unknown: untagged",
            "in/x//y: untagged",
        ],
        "{findings:#?}"
    );
    assert_eq!(findings[8].detail.as_deref(), Some("part 2 of 3 differs"));
    assert_eq!((summary.exit_status().code(), summary.passed), (1, 1));
    assert_eq!(summary.requests, store.requests());
    assert_eq!(server.state.lock().unwrap().downloads, 0);
}

#[test]
fn without_reading_only_what_is_of_one_kind_is_compared() {
    let long = long();
    let tree = tagged(&[("crc", b"crc"), ("parts", &long), ("same", b"same")]);
    let server = Server::start([
        ("crc", whole(b"crc", "CRC64NVME")),
        ("parts", composite(&long, "SHA256", 100_000)),
        ("same", whole(b"same", "SHA256")),
    ]);
    let options = ObjectCheckOptions { read: false, ..run() };
    let store = server.store("s3://bucket");
    let (findings, summary) = checked(&store, &known(tree.path()), &options).unwrap();
    assert_eq!(
        told(&findings),
        ["crc: not comparable", "parts: not comparable", "same: intact by SHA-256"]
    );
    assert_eq!(
        findings[1].detail.as_deref(),
        Some(
            "the store keeps SHA-256 composite of 3 parts; recorded is sha256, and the file here \
             is not read"
        )
    );
    assert_eq!((summary.exit_status().code(), summary.bytes_read), (2, 0));
}

#[test]
fn a_file_that_changed_since_its_tag_proves_only_so_much() {
    let tree = tagged(&[("follows", b"one"), ("stays", b"one")]);
    for name in ["follows", "stays"] {
        fs::write(tree.path().join(name), b"two").unwrap();
    }
    let server =
        Server::start([("follows", whole(b"two", "CRC32")), ("stays", whole(b"one", "CRC32"))]);
    let store = server.store("s3://bucket");
    let (findings, _) = checked(&store, &known(tree.path()), &run()).unwrap();
    assert_eq!(
        told(&findings),
        ["follows: differs by CRC-32 of the file here", "stays: not comparable"]
    );
    let detail = findings[1].detail.as_deref().unwrap();
    assert!(detail.ends_with("the file here is no longer as recorded"), "{detail}");
}

#[test]
fn a_difference_under_the_same_time_is_corruption() {
    let tree = tagged(&[("a", b"one")]);
    let mtime = fs::metadata(tree.path().join("a")).unwrap().modified().unwrap();
    let since = mtime.duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut held = whole(b"eno", "SHA256");
    let kept = format!("{}.{:09}", since.as_secs(), since.subsec_nanos());
    held.headers.push(("x-amz-meta-mtime".to_owned(), kept));
    let server = Server::start([("a", held)]);
    let store = server.store("s3://bucket");
    let (findings, summary) = checked(&store, &known(tree.path()), &run()).unwrap();
    assert_eq!(told(&findings), ["a: corrupt by SHA-256"]);
    assert_eq!(summary.exit_status().code(), 3);
}

#[test]
fn a_list_needs_no_files() {
    let record = |bytes: &[u8]| Reference {
        source: "manifest",
        digests: vec![(Algorithm::Sha256, steadfast_digest::sha256(bytes))],
        length: None,
        mtime: None,
        recorded: None,
    };
    let lines = [("b", record(b"b")), ("a", record(b"a")), ("c", record(b"c"))];
    let lines = lines.map(|(path, record)| Ok((path.into(), Some(record))));
    let known = KnownFiles::list(Path::new("/nowhere"), Box::new(lines.into_iter()));
    let server = Server::start([
        ("a", whole(b"a", "SHA256")),
        ("b", whole(b"b", "CRC64NVME")),
        ("d", whole(b"d", "SHA256")),
    ]);
    let store = server.store("s3://bucket");
    let (findings, _) = checked(&store, &known, &run()).unwrap();
    assert_eq!(
        told(&findings),
        ["a: intact by SHA-256", "b: not comparable", "c: missing", "d: untagged"]
    );
}

#[test]
fn every_object_that_no_file_is_is_told() {
    let tree = tagged(&[("a", b"a"), ("b/c", b"c"), ("d", b"d"), (".steadfast/x", b"x")]);
    std::os::unix::fs::symlink("a", tree.path().join("link")).unwrap();
    fs::write(tree.path().join(".steadfast/catalogue.sqlite"), b"").unwrap();
    let long: &'static str = "n".repeat(300).leak();
    let names = ["a", "b", "b/c", "d", "d/e", "link", "link/f", long, ".steadfast/x"];
    let server = Server::start(names.map(|name| (name, whole(name.as_bytes(), "SHA256"))));
    let state = |name: &str, contents: &[u8]| {
        let held = whole(contents, "SHA256");
        server.state.lock().unwrap().objects.insert(name.to_owned(), held);
    };
    state("b/c", b"c");
    let store = server.store("s3://bucket");
    let options = ObjectCheckOptions { require_tags: true, ..run() };
    let (findings, summary) = checked(&store, &known(tree.path()), &options).unwrap();
    let mut said = told(&findings);
    said.sort();
    let mut expected = vec![
        "a: intact by SHA-256".to_owned(),
        "b/c: intact by SHA-256".to_owned(),
        "d: intact by SHA-256".to_owned(),
    ];
    for name in ["b", "d/e", "link", "link/f", long, ".steadfast/x"] {
        expected.push(format!("{name}: untagged"));
    }
    expected.sort();
    assert_eq!(said, expected);
    assert_eq!(summary.exit_status().code(), 1);
}

#[test]
fn a_list_that_contradicts_itself_is_told() {
    let record = |byte: u8| Reference {
        source: "manifest",
        digests: vec![(Algorithm::Sha256, steadfast_digest::sha256(&[byte]))],
        length: None,
        mtime: None,
        recorded: None,
    };
    let lines = [("a", b'a'), ("a", b'a'), ("b", b'b'), ("b", b'x')];
    let lines = lines.map(|(path, byte)| Ok((path.into(), Some(record(byte)))));
    let known = KnownFiles::list(Path::new("/nowhere"), Box::new(lines.into_iter()));
    let server = Server::start(["a", "b"].map(|name| (name, whole(name.as_bytes(), "SHA256"))));
    let store = server.store("s3://bucket");
    let (findings, summary) = checked(&store, &known, &run()).unwrap();
    assert_eq!(told(&findings), ["b: unreadable", "a: intact by SHA-256", "b: intact by SHA-256"]);
    assert!(findings[0].detail.as_deref().unwrap().contains("contradicts an earlier line"));
    assert_eq!(summary.exit_status().code(), 2);
}

#[test]
fn an_empty_prefix_is_no_mass_deletion() {
    let tree = tagged(&[("a", b"a")]);
    let server = Server::start([("elsewhere/a", whole(b"a", "SHA256"))]);
    let store = server.store("s3://bucket/in");
    let error = checked(&store, &known(tree.path()), &run()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let nowhere = server.store("s3://another");
    let error = checked(&nowhere, &known(tree.path()), &run()).unwrap_err();
    assert!(error.to_string().contains("there is no bucket `another`"), "{error}");
}

#[test]
fn trouble_with_one_object_is_its_own() {
    let tree = tagged(&[("a", b"a"), ("b", b"b"), ("c", b"c")]);
    let server =
        Server::start(["a", "b", "c"].map(|name| (name, whole(name.as_bytes(), "SHA256"))));
    for fault in [Fault::Status(403, None), Fault::Status(503, None), Fault::Redirect("http://x/")]
    {
        server.state.lock().unwrap().fault_at = Some(("b".to_owned(), fault));
        let store = server.store("s3://bucket");
        let (findings, summary) = checked(&store, &known(tree.path()), &run()).unwrap();
        let expected = ["a: intact by SHA-256", "b: unreadable", "c: intact by SHA-256"];
        assert_eq!(told(&findings), expected);
        assert_eq!(summary.exit_status().code(), 2);
    }
}

#[test]
fn a_store_that_went_away_ends_the_run() {
    let names: Vec<String> = (0..60).map(|at| format!("{at:02}")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"a"[..])).collect();
    let tree = tagged(&files);
    let server = Server::start([("00", whole(b"a", "SHA256"))]);
    let store = server.store("s3://bucket");
    let mut findings = 0;
    let error = check(&store, &known(tree.path()), &run(), &mut |_| {
        if findings == 0 {
            let mut state = server.state.lock().unwrap();
            state.faults.extend(std::iter::repeat_n(Fault::Close, 10_000));
        }
        findings += 1;
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unreachable);
    assert!(findings < 60, "{findings}");
}

#[test]
fn a_run_that_is_stopped_says_what_it_has() {
    let tree = tagged(&[("a", b"a"), ("b", b"b")]);
    let server = Server::start(["a", "b"].map(|name| (name, whole(name.as_bytes(), "SHA256"))));
    let options = run();
    let store = server.store("s3://bucket");
    let stop = options.stop.clone();
    let summary = check(&store, &known(tree.path()), &options, &mut |_| {
        stop.store(true, Ordering::Relaxed);
    });
    let summary = summary.unwrap();
    assert!(summary.interrupted && summary.exit_status().code() == 130);
}

/// Takes away what says what the digest is of.
fn untyped(held: Held) -> Held {
    let mut headers = held.headers;
    headers.retain(|(name, _)| name != "x-amz-checksum-type");
    for (_, value) in &mut headers {
        if let Some((digest, _)) = value.rsplit_once('-') {
            *value = digest.to_owned();
        }
    }
    Held { headers, ..held }
}

fn with_etag(held: Held, etag: &str) -> Held {
    let mut headers = held.headers;
    headers.push(("etag".to_owned(), format!("\"{etag}\"")));
    Held { headers, ..held }
}

#[test]
fn a_digest_that_may_be_a_composite_is_asked_about_before_it_is_said_to_differ() {
    let long = long();
    let files: [(&str, &[u8]); 6] = [
        ("edited", b"edited"),
        ("parts", &long),
        ("same", b"same"),
        ("silent", &long),
        ("silent-crc", b"crc"),
        ("vague", &long),
    ];
    let tree = tagged(&files);
    let parts = || composite(&long, "SHA256", 100_000);
    let server = Server::start([
        ("edited", with_etag(untyped(whole(b"EDITED", "SHA256")), "abc")),
        ("parts", untyped(parts())),
        ("same", untyped(whole(b"same", "SHA256"))),
        ("silent", Held { no_attributes: true, ..untyped(parts()) }),
        ("silent-crc", Held { no_attributes: true, ..untyped(whole(b"crC", "CRC32")) }),
        // Attributes without parts, of an object whose ETag says that it has some.
        ("vague", with_etag(Held { parts: Vec::new(), ..untyped(parts()) }, "abc-3")),
    ]);
    let store = server.store("s3://bucket");
    let (findings, summary) = checked(&store, &known(tree.path()), &run()).unwrap();
    assert_eq!(
        told(&findings),
        [
            "edited: differs by SHA-256",
            "parts: intact by SHA-256 of the parts of the file here",
            "same: intact by SHA-256",
            "silent: not comparable",
            "silent-crc: not comparable",
            "vague: not comparable",
        ],
        "{findings:#?}"
    );
    assert_eq!((summary.exit_status().code(), server.state.lock().unwrap().downloads), (1, 0));
    assert_eq!(
        findings[3].detail.as_deref(),
        Some(
            "the store keeps SHA-256 of the whole object or of its parts; recorded is sha256, and \
             it may be a digest of the parts' digests"
        )
    );
}

#[test]
fn parts_of_assumed_lengths_prove_only_what_they_agree_with() {
    let contents: Vec<u8> = (0..25).collect();
    let md5 = |bytes: &[u8]| algorithm("MD5").digest(bytes);
    let etag = |bounds: [std::ops::Range<usize>; 3], contents: &[u8]| {
        let parts = bounds.map(|part| md5(&contents[part]).as_bytes().to_vec());
        format!("{}-3", md5(&parts.concat()))
    };
    let (even, uneven) = ([0..10, 10..20, 20..25], [0..10, 10..17, 17..25]);
    let tree = tagged(&[
        ("edited", &contents),
        ("even", &contents),
        ("silent", &contents),
        ("uneven", &contents),
    ]);
    let mut other = contents.clone();
    other[3] ^= 1;
    let held = |etag: &str, later: &[u64]| {
        let held = Held { length: 25, first_part: Some((10, 3)), ..Held::default() };
        with_etag(Held { later_parts: later.to_vec(), no_attributes: true, ..held }, etag)
    };
    let server = Server::start([
        ("edited", held(&etag(even.clone(), &other), &[10, 5])),
        ("even", held(&etag(even, &contents), &[])),
        ("silent", held(&etag(uneven.clone(), &contents), &[])),
        ("uneven", held(&etag(uneven, &contents), &[7, 8])),
    ]);
    let store = server.store("s3://bucket");
    let (findings, _) = checked(&store, &known(tree.path()), &run()).unwrap();
    assert_eq!(
        told(&findings),
        [
            "edited: differs by ETag as MD5 of the parts of the file here",
            "even: intact by ETag as MD5 of the parts of the file here",
            "silent: not comparable",
            "uneven: intact by ETag as MD5 of the parts of the file here",
        ],
        "{findings:#?}"
    );
}
