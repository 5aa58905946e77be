//! What single formats do that no frozen sample shows.

use std::path::{Path, PathBuf};

use steadfast::manifest::{Fault, FaultKind, Format, Mtime, Record, Step, read, write, writer};
use steadfast::{Algorithm, Timestamp};

use crate::manifest::{digest, path, records};

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
        path: name.into(),
        digests: vec![(Algorithm::Md5, digest(Algorithm::Md5, b"x"))],
        length: Some(1),
        mtime: None,
        tagged: None,
    };
    let records = ["a/b/1", "a/b/2", "a/3", "ab/4", "5"].map(record);
    let mut document = Vec::new();
    write(Format::Mtree, &records, &mut document).unwrap();
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
        path: "a".into(),
        digests: vec![(algorithm, digest(algorithm, b"x"))],
        length: None,
        mtime: None,
        tagged: None,
    };
    for format in [Format::Gnu, Format::Bagit] {
        let mut writer = writer(format, None, Vec::new()).unwrap();
        writer.put(&record(Algorithm::Sha256)).unwrap();
        let refused = writer.put(&record(Algorithm::Blake3)).unwrap_err();
        assert_eq!(refused.to_string(), "`a`: there is no sha256 digest");
    }
}

#[test]
fn one_algorithm_of_several_is_written_if_asked_for() {
    let algorithms = [Algorithm::Md5, Algorithm::Sha256];
    let record = Record {
        path: "a".into(),
        digests: algorithms.map(|known| (known, digest(known, b"x"))).into(),
        length: Some(1),
        mtime: None,
        tagged: None,
    };
    for format in [Format::Steadfast, Format::Gnu, Format::Bsd, Format::Hashdeep, Format::Mtree] {
        let mut writer = writer(format, Some(Algorithm::Sha256), Vec::new()).unwrap();
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

/// A database whose table is something else is refused before a row is asked for.
#[test]
fn databases_that_compute_their_rows_are_refused() {
    for schema in [
        "CREATE VIEW bitrot AS SELECT 1 path, 2 mtime, 3 hash, 4 timestamp",
        "CREATE TABLE bitrot (path, mtime, hash AS (upper(path)), timestamp)",
        "CREATE TABLE bitrot (path, mtime, hash)",
        "CREATE TABLE other (path, mtime, hash, timestamp)",
    ] {
        let mut connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch(schema).unwrap();
        let bytes = connection.serialize(rusqlite::MAIN_DB).unwrap().to_vec();
        let found: Vec<_> = read(Format::Bitrot, None, &bytes[..]).collect();
        let [Err(fault)] = &found[..] else { panic!("{schema}: {found:?}") };
        assert_eq!(fault.kind, FaultKind::Syntax, "{schema}");
    }
}

/// Rows on a page that is gone would pass for rows that never were.
#[test]
fn a_database_that_lacks_its_end_is_refused() {
    let document = include_bytes!("../../../../testdata/formats/manifest/v1/bitrot.db");
    let page_len = usize::from(u16::from_be_bytes([document[16], document[17]]));
    assert!(read(Format::Bitrot, None, &document[..]).all(|record| record.is_ok()));
    let cut = &document[..document.len() - page_len];
    let found: Vec<_> = read(Format::Bitrot, None, cut).collect();
    let [Err(fault)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(fault.kind, FaultKind::Check);
}

#[test]
fn a_faulty_row_is_named_and_the_next_is_read() {
    let mut connection = rusqlite::Connection::open_in_memory().unwrap();
    let sha1 = digest(Algorithm::Sha1, b"x");
    connection
        .execute_batch(&format!(
            "CREATE TABLE bitrot (path TEXT PRIMARY KEY, mtime INTEGER, hash TEXT, timestamp TEXT);
             INSERT INTO bitrot VALUES ('./a', 5, '{sha1}', '2024-01-02 03:04:05');
             INSERT INTO bitrot VALUES ('./b', 'x', '{sha1}', '2024-01-02 03:04:05');
             INSERT INTO bitrot VALUES ('./c', 5, 'zz', NULL);
             INSERT INTO bitrot VALUES (CAST(x'2e2fff' AS TEXT), NULL, '{sha1}', 7);"
        ))
        .unwrap();
    let bytes = connection.serialize(rusqlite::MAIN_DB).unwrap().to_vec();
    let found: Vec<_> = read(Format::Bitrot, None, &bytes[..]).collect();
    let [Ok(first), Err(second), Err(third), Ok(last)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(first.tagged.unwrap().seconds, 1_704_164_645);
    assert_eq!(second.to_string(), "table `bitrot`, row 2: `mtime` is not a whole number");
    assert_eq!(third.to_string(), "table `bitrot`, row 3: `hash` has the wrong length");
    assert_eq!((last.path.clone(), last.mtime, last.tagged), (path(b"./\xff"), None, None));
}

#[test]
fn databases_longer_than_a_batch_come_whole_and_in_order() {
    let record = |number: u32| Record {
        path: format!("{number:05}").into(),
        digests: vec![(Algorithm::Sha1, digest(Algorithm::Sha1, &number.to_le_bytes()))],
        length: None,
        mtime: Some(Mtime {
            time: Timestamp { seconds: number.into(), nanoseconds: 0 },
            step: Step::Second,
        }),
        tagged: Some(Timestamp { seconds: 0, nanoseconds: 0 }),
    };
    let written: Vec<Record> = (0..1_000).map(record).collect();
    let mut document = Vec::new();
    write(Format::Bitrot, &written, &mut document).unwrap();
    let read = records(Format::Bitrot, "", &document);
    assert_eq!(read.len(), 1_000);
    for (read, written) in read.iter().zip(&written) {
        assert_eq!(read.path, Path::new(".").join(&written.path));
        assert_eq!(read.digests, written.digests);
    }
}
