//! The database of `bitrot`: what was frozen reads as it always did, what is written reads back,
//! and no bytes make SQLite or its reader fail otherwise than with a fault.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use steadfast::manifest::{
    ErrorKind, Fault, FaultKind, Format, Mtime, Record, Step, folded, read, write, writer,
};
use steadfast::{Algorithm, Timestamp};

use crate::fixtures::{
    Names, Random, Sample, assert_holds, by_path, digest, mutated, nasty_record, path,
};

const SAMPLE: &[u8] = include_bytes!("../../../../testdata/formats/manifest/v1/bitrot.db");

/// Reads a database that has no fault.
fn records(bytes: &[u8]) -> Vec<Record> {
    read(Format::Bitrot, None, bytes).collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_frozen_database_is_found_and_holds_the_tree() {
    assert_eq!(Format::detect(Path::new(".bitrot.db"), SAMPLE), Some(Format::Bitrot));
    let found = records(SAMPLE);
    for record in &found {
        assert_eq!(record.length, None);
        assert_eq!(record.mtime.unwrap().step, Step::Second);
        assert_eq!(record.digests[0].0, Algorithm::Sha1);
        assert!(record.tagged.is_some());
    }
    assert_holds(found, Names::Utf8, "");
}

#[test]
fn reading_undoes_writing() {
    let mut random = Random::new(1);
    let (mut written, mut refused) = (0, 0);
    for _ in 0..300 {
        let mut expected: BTreeMap<_, Record> = BTreeMap::new();
        let mut writer = writer(Format::Bitrot, None, Vec::new()).unwrap();
        for _ in 0..random.below(8) {
            let record = nasty_record(&mut random, &[Algorithm::Sha1], 1);
            let time = record.mtime.unwrap().time;
            let mtime = Mtime { time: Timestamp { nanoseconds: 0, ..time }, step: Step::Second };
            let path = folded(&record.path);
            let kept = Record { path, length: None, mtime: Some(mtime), ..record.clone() };
            if expected.contains_key(&kept.path) {
                continue;
            }
            match writer.put(&record) {
                Ok(()) => {
                    written += 1;
                    expected.insert(kept.path.clone(), kept);
                }
                Err(error) if error.kind() == ErrorKind::Unwritable => {
                    assert_eq!(error.path().unwrap().to_str(), None, "{error}");
                    refused += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
        let document = writer.finish().unwrap();
        assert_eq!(by_path(records(&document)), expected);
    }
    assert!(written > 300, "{written} written, {refused} refused");
}

#[test]
fn what_the_database_cannot_hold_is_refused_and_the_rest_goes_on() {
    let whole = nasty_record(&mut Random::new(11), &[Algorithm::Sha1], 1);
    let whole = Record { path: "a".into(), ..whole };
    let md5 = nasty_record(&mut Random::new(11), &[Algorithm::Md5], 1);
    for record in [
        Record { path: "a".into(), ..md5 },
        Record { mtime: None, ..whole.clone() },
        Record { path: "../a".into(), ..whole.clone() },
    ] {
        let mut writer = writer(Format::Bitrot, None, Vec::new()).unwrap();
        let refused = writer.put(&record).unwrap_err();
        assert!(refused.kind() == ErrorKind::Unwritable, "{refused}");
        writer.put(&Record { path: "good".into(), ..whole.clone() }).unwrap();
        let [found] = &records(&writer.finish().unwrap())[..] else { panic!("not one record") };
        assert!(found.path.ends_with("good"));
    }
    let refused = writer(Format::Ocfl, None, Vec::new()).unwrap_err();
    assert!(refused.kind() == ErrorKind::ReadOnly, "{refused}");
}

#[test]
fn what_is_no_database_is_a_fault() {
    let found: Vec<_> = read(Format::Bitrot, None, &b"SQLite format 4\0"[..]).collect();
    let [Err(fault)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(fault.to_string(), "the document: the document is not an SQLite database");
}

/// Reads a database to its end; what it says must be sound.
fn try_database(bytes: &[u8]) {
    let found: Vec<Result<Record, Fault>> = read(Format::Bitrot, None, bytes).collect();
    assert!(found.len() <= bytes.len() + 2, "more records than bytes");
    let good: Vec<Record> = found.into_iter().flatten().collect();
    for (algorithm, digest) in good.iter().flat_map(|record| &record.digests) {
        assert_eq!(digest.as_bytes().len(), algorithm.digest_len());
    }
    let mut rewritten = Vec::new();
    write(Format::Steadfast, &good, &mut rewritten).expect("our own format holds everything");
    let again: Result<Vec<Record>, _> = read(Format::Steadfast, None, &rewritten[..]).collect();
    assert_eq!(again.as_ref(), Ok(&good));
}

#[test]
fn changed_databases_are_read_without_panic_or_end() {
    let seconds = std::env::var("STEADFAST_FUZZ_SECONDS").ok();
    let seconds = seconds.map_or(2, |text| text.parse().expect("a number of seconds"));
    let end = Instant::now() + Duration::from_secs(seconds);
    let file = "bitrot.db";
    let all = [Sample { file, name: ".bitrot.db", format: Format::Bitrot, bytes: SAMPLE.to_vec() }];
    let mut random = Random::new(0x5ead_fa57);
    // SQLite opens and checks a database for each change.
    let mut changes = 0;
    while changes < 1_000 || Instant::now() < end {
        changes += 1;
        let bytes = mutated(SAMPLE, &all, &mut random);
        let tried = catch_unwind(AssertUnwindSafe(|| try_database(&bytes)));
        if let Err(panic) = tried {
            eprintln!("fails on a changed {file}: b\"{}\"", bytes.escape_ascii());
            std::panic::resume_unwind(panic);
        }
    }
    for _ in 0..2_000 {
        let len = random.below(200);
        let bytes: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        try_database(&bytes);
        try_database(&[&SAMPLE[..100], &bytes[..]].concat());
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
        parts: None,
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
    let read = records(&document);
    assert_eq!(read.len(), 1_000);
    for (read, written) in read.iter().zip(&written) {
        assert_eq!(read.path, Path::new(".").join(&written.path));
        assert_eq!(read.digests, written.digests);
    }
}
