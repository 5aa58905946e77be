//! What single formats do that no frozen sample shows.

use std::path::{Path, PathBuf};

use steadfast_digest::Algorithm;
use steadfast_manifest::{Fault, FaultKind, Format, Mtime, Record, Step, read};
use steadfast_time::Timestamp;

use crate::documents::{records, write, writer};
use crate::fixtures::digest;

fn paths(records: &[Record]) -> Vec<PathBuf> {
    records.iter().map(|record| record.path.clone()).collect()
}

fn found(format: Format, text: &str) -> Vec<Result<Record, Fault>> {
    read(format, None, text.as_bytes()).collect()
}

fn kind(format: Format, text: &str) -> Option<FaultKind> {
    found(format, text).into_iter().find_map(Result::err).map(|fault| fault.kind)
}

#[test]
fn an_inventory_gives_its_manifest_and_its_fixity() {
    let sha512 = digest(Algorithm::Sha512, b"x").to_string();
    let md5 = digest(Algorithm::Md5, b"x").to_string();
    let inventory = |algorithm: &str| {
        format!(
            "{{\"fixity\":{{\"md5\":{{\"{md5}\":[\"v1/a\"]}},\
             \"blake2b-160\":{{\"0\":[\"v1/a\"]}}}},\
             \"manifest\":{{\"{}\":[\"v1/a\",\"v1/b\"]}},\"type\":\"https://ocfl.io/1.1/spec\",\
             \"versions\":{{\"v1\":{{\"state\":{{}}}}}},\"digestAlgorithm\":\"{algorithm}\"}}",
            sha512.to_uppercase()
        )
    };
    let read = records(Format::Ocfl, "inventory.json", inventory("sha512").as_bytes());
    assert_eq!(paths(&read), ["v1/a", "v1/a", "v1/b"].map(PathBuf::from));
    assert_eq!(read[0].digest(Algorithm::Md5).unwrap().to_string(), md5);
    assert_eq!(read[2].digest(Algorithm::Sha512).unwrap().to_string(), sha512);
    assert_eq!(kind(Format::Ocfl, &inventory("sha256")), Some(FaultKind::Value));
    assert_eq!(kind(Format::Ocfl, &inventory("md5")), Some(FaultKind::Unsupported));
    assert_eq!(kind(Format::Ocfl, "{}"), Some(FaultKind::Value));
    let later = "{\"type\":\"https://ocfl.io/2.0/spec\"}";
    assert_eq!(kind(Format::Ocfl, later), Some(FaultKind::Unsupported));
}

#[test]
fn a_digest_that_is_none_hides_its_own_paths_only() {
    let sha256 = digest(Algorithm::Sha256, b"x");
    let text = format!(
        "{{\"digestAlgorithm\":\"sha256\",\
         \"manifest\":{{\"zz\":[\"a\",\"b\"],\"{sha256}\":[\"c\"]}}}}"
    );
    let [Err(fault), Ok(record)] = &found(Format::Ocfl, &text)[..] else { panic!("{text}") };
    assert_eq!(fault.kind, FaultKind::Value);
    assert_eq!(record.path, Path::new("c"));
}

#[test]
fn nested_specifications_lead_in_and_out_of_directories() {
    let text = "\
#mtree v2.0
/set type=file uname=root
. type=dir
    a size=1 \\
      time=5.7
    sub\\sdir type=dir mode=0755
        /set type=dir
        deep
            c type=file size=3 time=-2.500000000
        ..
        /unset type
        link type=link link=c
        b
    ..
..
./sub\\040dir/full type=file size=4 md5digest=9dd4e461268c8034f5c8564e155c67a6 nochange
   # a comment
./pipe type=fifo
";
    let read = records(Format::Mtree, "spec", text.as_bytes());
    let expected = ["a", "sub dir/deep/c", "sub dir/b", "sub dir/full"].map(PathBuf::from);
    assert_eq!(paths(&read), expected);
    let lengths: Vec<Option<u64>> = read.iter().map(|record| record.length).collect();
    assert_eq!(lengths, [Some(1), Some(3), None, Some(4)]);
    let time = |seconds, nanoseconds| {
        Some(Mtime { time: Timestamp { seconds, nanoseconds }, step: Step::Nanosecond })
    };
    assert_eq!(read[0].mtime, time(5, 7), "what follows the point is a whole number");
    assert_eq!(read[1].mtime, time(-2, 500_000_000));
    assert_eq!(read[3].digests, [(Algorithm::Md5, digest(Algorithm::Md5, b"x"))]);
}

#[test]
fn a_specification_that_cannot_be_followed_ends_with_its_fault() {
    for text in ["..\na\n", "bad\\qname type=dir\na\n", "x\\000y\na\n"] {
        let found = found(Format::Mtree, text);
        assert!(matches!(found[..], [Err(_)]), "{found:?}");
    }
    let deep = "d type=dir\n".repeat(100_000);
    assert_eq!(kind(Format::Mtree, &deep), Some(FaultKind::Limit));
    let endless = "a \\\n".repeat(100_000);
    assert_eq!(kind(Format::Mtree, &endless), Some(FaultKind::Limit));
    let twice =
        "./a md5=9dd4e461268c8034f5c8564e155c67a6 md5digest=00000000000000000000000000000000\n";
    assert_eq!(kind(Format::Mtree, twice), Some(FaultKind::Value));
}

#[test]
fn what_is_written_for_mtree_names_every_directory_once() {
    let record = |name: &str| Record {
        parts: None,
        path: name.into(),
        digests: vec![(Algorithm::Md5, digest(Algorithm::Md5, b"x"))],
        length: Some(1),
        mtime: None,
        tagged: None,
    };
    let records = ["a/b/1", "a/b/2", "a/3", "ab/4", "5"].map(record);
    let document = write(Format::Mtree, &records);
    let text = String::from_utf8(document).unwrap();
    let names = text.lines().skip(1).filter_map(|line| line.split(' ').next());
    let expected = [".", "./a", "./a/b", "./a/b/1", "./a/b/2", "./a/3", "./ab", "./ab/4", "./5"];
    assert_eq!(names.collect::<Vec<_>>(), expected);
}

#[test]
fn lists_of_columns_are_taken_as_their_header_says() {
    let (md5, sha256) = (digest(Algorithm::Md5, b"x"), digest(Algorithm::Sha256, b"x"));
    let text = format!(
        "%%%% HASHDEEP-1.0\n%%%% sha256,size,tiger,md5,filename\n## x\n{sha256},1,?,{md5},a,b\n\
         %%%% HASHDEEP-1.0\n%%%% md5,filename\n{md5},c offset 0x\n"
    );
    let read = records(Format::Hashdeep, "", text.as_bytes());
    assert_eq!(paths(&read), ["a,b", "c offset 0x"].map(PathBuf::from));
    assert_eq!(read[0].digests, [(Algorithm::Sha256, sha256), (Algorithm::Md5, md5)]);
    assert_eq!((read[0].length, read[1].length), (Some(1), None));
    for (text, kind_of) in [
        ("%%%% HASHDEEP-2.0\n", FaultKind::Unsupported),
        ("%%%% HASHDEEP-1.0\n%%%% size,md5\n", FaultKind::Syntax),
        ("%%%% HASHDEEP-1.0\n%%%% md5,md5,filename\n", FaultKind::Syntax),
        ("%%%% HASHDEEP-1.0\n1,a\n", FaultKind::Syntax),
        ("%%%% HASHDEEP-1.0\n%%%% size,filename\n1\n", FaultKind::Syntax),
        ("%%%% HASHDEEP-1.0\n%%%% size,filename\n1,\n", FaultKind::Value),
        ("%%%% HASHDEEP-1.0\n%%%% size,filename\n1,a offset 0-9\n", FaultKind::Unsupported),
    ] {
        assert_eq!(kind(Format::Hashdeep, text), Some(kind_of), "{text}");
    }
}

#[test]
fn untagged_lines_of_two_algorithms_are_not_mixed() {
    let record = |algorithm: Algorithm| Record {
        parts: None,
        path: "a".into(),
        digests: vec![(algorithm, digest(algorithm, b"x"))],
        length: None,
        mtime: None,
        tagged: None,
    };
    for format in [Format::Gnu, Format::Bagit] {
        let mut writer = writer(format, None);
        writer.put(&record(Algorithm::Sha256)).unwrap();
        let refused = writer.put(&record(Algorithm::Blake3)).unwrap_err();
        assert_eq!(refused.to_string(), "`a`: there is no sha256 digest");
    }
}

#[test]
fn one_algorithm_of_several_is_written_if_asked_for() {
    let algorithms = [Algorithm::Md5, Algorithm::Sha256];
    let record = Record {
        parts: None,
        path: "a".into(),
        digests: algorithms.map(|known| (known, digest(known, b"x"))).into(),
        length: Some(1),
        mtime: None,
        tagged: None,
    };
    for format in [Format::Steadfast, Format::Gnu, Format::Bsd, Format::Hashdeep, Format::Mtree] {
        let mut writer = writer(format, Some(Algorithm::Sha256));
        writer.put(&record).unwrap();
        let read = records(format, "", &writer.finish().unwrap());
        assert_eq!(read.len(), 1, "{format}");
        assert_eq!(read[0].digests, record.digests[1..], "{format}");
    }
}

#[test]
fn documents_are_told_apart_by_what_they_are() {
    let sha256 = digest(Algorithm::Sha256, b"x");
    for (name, head, format) in [
        ("x", format!("# a\n\n{sha256}  a"), Some(Format::Gnu)),
        ("x", format!("\\{sha256} *a\\nb\n"), Some(Format::Gnu)),
        ("x", format!("{sha256}  a\nb\0"), Some(Format::GnuZero)),
        ("x", format!("SHA256 (a) = {sha256}\n"), Some(Format::Bsd)),
        ("x", format!("SHA2-256(a)= {sha256}\n"), Some(Format::Openssl)),
        ("manifest-sha256.txt", format!("{sha256}  data/a\n"), Some(Format::Bagit)),
        ("manifest-sha256.txt", "%%%% HASHDEEP-1.0\n".to_owned(), Some(Format::Hashdeep)),
        ("x", "{ \"v\" : 2 }".to_owned(), Some(Format::Chkbit)),
        (".chkbit", "{}".to_owned(), Some(Format::Chkbit)),
        ("x", " {\"type\": \"chkbit\", \"version\": 6".to_owned(), Some(Format::ChkbitDatabase)),
        ("x", "\u{feff}{\"steadfast_manifest\": 1}".to_owned(), Some(Format::Steadfast)),
        (
            "x",
            "{\"id\":\"a\",\"type\":\"https://ocfl.io/1.0/spec\"}".to_owned(),
            Some(Format::Ocfl),
        ),
        ("x", "#mtree\n".to_owned(), Some(Format::Mtree)),
        ("x", "#   user: a\n\n/set type=file\n".to_owned(), Some(Format::Mtree)),
        ("x", "ni:///sha-256;x  a\n".to_owned(), Some(Format::Ni)),
        ("x", "SQLite format 3\0".to_owned(), Some(Format::Bitrot)),
        ("x", "hello\n".to_owned(), None),
        ("x", String::new(), None),
    ] {
        assert_eq!(Format::detect(Path::new(name), head.as_bytes()), format, "{name}: {head}");
    }
}
