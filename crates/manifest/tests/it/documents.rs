//! Manifests: what was frozen reads as it always did, what is written reads back, and nothing
//! leaves the root or costs memory. The database of `bitrot` has its tests in `crates/steadfast`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufReader, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use steadfast_digest::Algorithm;
use steadfast_manifest::{
    DocumentPlace, DocumentWriter, ErrorKind, Fault, FaultKind, Format, Mtime, Record, Step,
    algorithm_hint, combine, read,
};
use steadfast_testing::{Need, skip};
use steadfast_time::Timestamp;

use crate::fixtures::{
    Names, Random, Sample, assert_holds, by_path, digest, nasty_record, path, samples,
};

/// The formats that this crate reads and writes itself.
pub(crate) fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.iter().copied().filter(|format| *format != Format::Bitrot)
}

pub(crate) fn writer(format: Format, algorithm: Option<Algorithm>) -> DocumentWriter<Vec<u8>> {
    DocumentWriter::new(steadfast_manifest::put(format, algorithm).unwrap(), Vec::new())
}

/// Writes a whole document.
pub(crate) fn write<'a>(format: Format, records: impl IntoIterator<Item = &'a Record>) -> Vec<u8> {
    let mut writer = writer(format, None);
    records.into_iter().for_each(|record| writer.put(record).unwrap());
    writer.finish().unwrap()
}

/// Every frozen document: file, name it had, format, names, and what its paths begin with.
const SAMPLES: &[(&str, &str, Format, Names, &str)] = &[
    ("sha256sum.txt", "SHA256SUMS", Format::Gnu, Names::All, ""),
    ("sha256sum-tag.txt", "sums", Format::Bsd, Names::All, ""),
    ("sha256sum-zero.txt", "sums", Format::GnuZero, Names::All, ""),
    ("sha512sum.txt", "sums", Format::Gnu, Names::All, ""),
    ("md5sum.txt", "sums", Format::Gnu, Names::All, ""),
    ("b2sum-tag.txt", "sums", Format::Bsd, Names::All, ""),
    ("b3sum.txt", "tree.b3", Format::Gnu, Names::Utf8, ""),
    ("openssl.txt", "sums", Format::Openssl, Names::Plain, ""),
    ("openssl-blake2b.txt", "sums", Format::Openssl, Names::Plain, ""),
    ("openssl-r.txt", "sums", Format::Gnu, Names::All, ""),
    ("rhash-bsd.txt", "sums", Format::Bsd, Names::Plain, ""),
    ("rhash-sfv.txt", "sums", Format::Sfv, Names::Plain, ""),
    ("cfv.sfv", "cfv.sfv", Format::Sfv, Names::Plain, ""),
    ("hashdeep.txt", "list", Format::Hashdeep, Names::Plain, ""),
    ("hashdeep-tiger.txt", "list", Format::Hashdeep, Names::Plain, ""),
    ("sha256deep.txt", "list", Format::Gnu, Names::Plain, ""),
    ("bagit-manifest-sha256.txt", "manifest-sha256.txt", Format::Bagit, Names::Utf8, "data"),
    ("bagit-manifest-md5.txt", "manifest-md5.txt", Format::Bagit, Names::Utf8, "data"),
    ("bagit-tagmanifest-sha256.txt", "tagmanifest-sha256.txt", Format::Bagit, Names::Others, ""),
    ("chkbit-split-root.json", ".chkbit", Format::Chkbit, Names::Root, ""),
    ("chkbit-split.json", ".chkbit", Format::Chkbit, Names::Folder, ""),
    ("chkbit-python.json", ".chkbit", Format::Chkbit, Names::Folder, ""),
    ("chkbit-atom.json", ".chkbit-db", Format::ChkbitDatabase, Names::Utf8, ""),
    ("mtree.txt", "spec", Format::Mtree, Names::All, ""),
    ("mtree-full.txt", "spec", Format::Mtree, Names::All, ""),
    ("ocfl-inventory.json", "inventory.json", Format::Ocfl, Names::Utf8, "v1/content"),
    ("rclone.json", "objects.json", Format::Objects, Names::Plain, ""),
    ("aws-heads.json", "objects.json", Format::Objects, Names::Plain, ""),
    ("aws-list.json", "objects.json", Format::Objects, Names::Others, ""),
    ("steadfast.jsonl", "tree.jsonl", Format::Steadfast, Names::Others, ""),
];

/// Files beside them that are no manifests, or have their tests in `crates/steadfast`.
const BESIDE: &[&str] = &["README.md", "bagit.txt", "bag-info.txt", "bitrot.db"];

pub(crate) fn documents() -> Vec<Sample> {
    let sample = |&(file, name, format, ..): &(&'static str, &'static str, Format, _, _)| {
        let bytes =
            fs::read(samples().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        Sample { file, name, format, bytes }
    };
    SAMPLES.iter().map(sample).collect()
}

/// Reads a document that has no fault.
pub(crate) fn records(format: Format, name: &str, bytes: &[u8]) -> Vec<Record> {
    let read = read(format, algorithm_hint(Path::new(name)), bytes);
    read.collect::<Result<_, _>>().unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

fn faults(format: Format, bytes: &[u8]) -> Vec<Fault> {
    read(format, None, bytes).filter_map(Result::err).collect()
}

/// Algorithms that a format writes.
pub(crate) fn algorithms(format: Format) -> &'static [Algorithm] {
    match format {
        Format::Hashdeep => &[Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256],
        Format::Chkbit | Format::ChkbitDatabase => {
            &[Algorithm::Blake3, Algorithm::Sha512, Algorithm::Md5]
        }
        Format::Sfv => &[Algorithm::Crc32],
        Format::Ni => &[Algorithm::Sha256, Algorithm::Sha512, Algorithm::Blake2b],
        Format::Mtree => &[Algorithm::Sha256, Algorithm::Md5, Algorithm::Sha384],
        Format::Openssl => &[Algorithm::Sha256, Algorithm::Sha1, Algorithm::Blake2b],
        Format::Gnu | Format::GnuZero | Format::Bagit => &[Algorithm::Sha256, Algorithm::Sha512],
        _ => Algorithm::ALL,
    }
}

/// What a format keeps of a record.
fn kept(format: Format, record: &Record) -> Record {
    let mut kept = Record { length: None, mtime: None, tagged: None, ..record.clone() };
    let coarse = |step: Step| {
        record.mtime.map(|Mtime { time, .. }| {
            let ns = step.nanoseconds();
            let time = time.as_nanoseconds().div_euclid(ns) * ns;
            Mtime { time: Timestamp::from_nanoseconds(time), step }
        })
    };
    match format {
        Format::Steadfast => return record.clone(),
        Format::Hashdeep => {
            kept.length = record.length;
            kept.digests.sort_by_key(|(known, _)| {
                algorithms(format).iter().position(|algorithm| algorithm == known)
            });
        }
        Format::Mtree => (kept.length, kept.mtime) = (record.length, record.mtime),
        Format::Chkbit | Format::ChkbitDatabase => {
            (kept.length, kept.mtime) = (record.length, coarse(Step::Millisecond));
            kept.digests.truncate(1);
        }
        Format::Gnu | Format::GnuZero | Format::Bagit => kept.digests.truncate(1),
        _ => {}
    }
    kept
}

/// Why a format may refuse a record of which it has everything but the name.
fn is_refused(format: Format, path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    match format {
        Format::Hashdeep | Format::Openssl | Format::Sfv => bytes.contains(&b'\n'),
        Format::Chkbit | Format::ChkbitDatabase => path.to_str().is_none(),
        Format::Bagit => matches!(bytes, [b'*' | b' ' | b'\t', ..]),
        _ => false,
    }
}

#[test]
fn every_frozen_document_is_found_and_holds_the_tree() {
    for (document, (.., names, folder)) in documents().iter().zip(SAMPLES) {
        let Sample { file, name, format, bytes } = document;
        assert_eq!(Format::detect(Path::new(name), bytes), Some(*format), "{file}");
        let found = records(*format, name, bytes);
        assert!(!found.is_empty(), "{file}");
        if *names != Names::Others {
            assert_holds(found, *names, folder);
        }
    }
}

#[test]
fn every_frozen_file_is_read() {
    let listed = fs::read_dir(samples()).unwrap().map(|entry| entry.unwrap().file_name());
    for name in listed {
        let name = name.to_str().unwrap();
        let read = SAMPLES.iter().any(|(file, ..)| *file == name) || BESIDE.contains(&name);
        assert!(read, "{name} is in no test");
    }
}

#[test]
fn what_the_samples_say_beside_digests_is_kept() {
    let of = |file: &str| {
        let sample = documents().into_iter().find(|sample| sample.file == file).unwrap();
        let found = records(sample.format, sample.name, &sample.bytes);
        found.into_iter().find(|record| record.path.ends_with("b.txt")).unwrap()
    };
    let kept = |file, length, step: Option<Step>, algorithms: &[Algorithm]| {
        let record = of(file);
        assert_eq!(record.length, length, "{file}");
        assert_eq!(record.mtime.map(|mtime| mtime.step), step, "{file}");
        let found: Vec<Algorithm> = record.digests.iter().map(|(known, _)| *known).collect();
        assert_eq!(found, algorithms, "{file}");
    };
    let md5_sha256 = [Algorithm::Md5, Algorithm::Sha256];
    kept("hashdeep.txt", Some(5), None, &md5_sha256);
    kept("hashdeep-tiger.txt", Some(5), None, &[Algorithm::Sha1]);
    kept("mtree.txt", Some(5), Some(Step::Nanosecond), &[Algorithm::Sha256]);
    kept("mtree-full.txt", Some(5), None, &[Algorithm::Md5, Algorithm::Sha1]);
    kept("chkbit-split.json", Some(5), Some(Step::Millisecond), &[Algorithm::Blake3]);
    kept("chkbit-python.json", None, Some(Step::Millisecond), &[Algorithm::Md5]);
    kept("rhash-sfv.txt", None, None, &[Algorithm::Crc32]);
    kept("b3sum.txt", None, None, &[Algorithm::Blake3]);
    kept("ocfl-inventory.json", None, None, &[Algorithm::Sha512]);
    let of_rclone = [Algorithm::Crc32, Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256];
    kept("rclone.json", Some(5), None, &of_rclone);
    kept("aws-heads.json", Some(5), None, &[Algorithm::Sha256]);
    kept("aws-list.json", Some(5), None, &[]);
    assert!(of("aws-list.json").parts.is_some(), "an ETag proves what it agrees with");
}

#[test]
fn reading_undoes_writing_in_every_format() {
    let mut random = Random::new(1);
    for format in formats().filter(|format| format.is_writable()) {
        let (mut written, mut refused) = (0, 0);
        for _ in 0..300 {
            let one = matches!(format, Format::Gnu | Format::GnuZero | Format::Bagit);
            let allowed = if one { &algorithms(format)[..1] } else { algorithms(format) };
            let every = format == Format::Hashdeep;
            let mut expected = BTreeMap::new();
            let mut writer = writer(format, None);
            for _ in 0..random.below(8) {
                let count = if every { 3 } else { 1 + random.below(3) };
                let mut record = nasty_record(&mut random, allowed, count);
                if format == Format::Chkbit {
                    record.path = record.path.file_name().unwrap().into();
                }
                let expected_record = kept(format, &record);
                if expected.contains_key(&expected_record.path) {
                    continue;
                }
                match writer.put(&record) {
                    Ok(()) => {
                        written += 1;
                        expected.insert(expected_record.path.clone(), expected_record);
                    }
                    Err(error) if error.kind() == ErrorKind::Unwritable => {
                        assert!(is_refused(format, error.path().unwrap()), "{format}: {error}");
                        refused += 1;
                    }
                    Err(error) => panic!("{format}: {error}"),
                }
            }
            let document = writer.finish().unwrap();
            let hint = allowed.len() == 1;
            let found: Result<Vec<Record>, Fault> =
                read(format, hint.then(|| allowed[0]), &document[..]).collect();
            let found = found.unwrap_or_else(|fault| {
                panic!("{format}: {fault}: {:?}", String::from_utf8_lossy(&document))
            });
            assert_eq!(by_path(found), expected, "{format}");
        }
        assert!(written > 300, "{format}: {written} written, {refused} refused");
    }
}

#[test]
fn every_step_of_time_survives_our_own_format() {
    for step in [Step::Nanosecond, Step::Millisecond, Step::Second] {
        for seconds in [0, -1, i64::MIN, i64::MAX, 1_704_164_645] {
            let mut record = nasty_record(&mut Random::new(3), Algorithm::ALL, 2);
            let time = Timestamp { seconds, nanoseconds: 0 };
            record.mtime = Some(Mtime { time, step });
            let document = write(Format::Steadfast, [&record]);
            assert_eq!(records(Format::Steadfast, "", &document), [record]);
        }
    }
}

#[test]
fn our_own_manifest_has_these_bytes() {
    let record = Record {
        parts: None,
        path: path(b"a\xff\"\n"),
        digests: vec![
            (Algorithm::Sha256, digest(Algorithm::Sha256, b"alpha\n")),
            (Algorithm::Crc32c, digest(Algorithm::Crc32c, b"alpha\n")),
        ],
        length: Some(6),
        mtime: Some(Mtime {
            time: Timestamp { seconds: 1_704_164_645, nanoseconds: 123_000_000 },
            step: Step::Millisecond,
        }),
        tagged: Some(Timestamp { seconds: 1_763_650_000, nanoseconds: 0 }),
    };
    let document = write(Format::Steadfast, [&record]);
    let sample = samples().join("steadfast.jsonl");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&sample, &document).unwrap();
    }
    assert_eq!(String::from_utf8(document), Ok(fs::read_to_string(sample).unwrap()));
}

#[test]
fn any_changed_byte_of_our_own_manifest_is_told() {
    let document = fs::read(samples().join("steadfast.jsonl")).unwrap();
    for at in 0..document.len() {
        for change in [1, 0x20, 0x80] {
            let mut damaged = document.clone();
            damaged[at] ^= change;
            // A letter of a digest's hexadecimal digits may change its case; so the last line.
            let same = damaged.eq_ignore_ascii_case(&document);
            assert!(same || !faults(Format::Steadfast, &damaged).is_empty(), "byte {at}");
        }
        if at + 1 < document.len() {
            assert!(!faults(Format::Steadfast, &document[..at]).is_empty(), "cut to {at}");
        }
    }
    let twice = [&document[..], &document[..]].concat();
    assert!(!faults(Format::Steadfast, &twice).is_empty());
}

#[test]
fn faults_name_their_place() {
    let sums = b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\nzz  b\n";
    for (format, document, told) in [
        (Format::Gnu, &sums[..], "line 2, column 1: there is no digest"),
        (Format::Bsd, b"SHA256 (a) = 00\n", "line 1, column 14: the digest has the wrong length"),
        (Format::Bsd, b"ROT13 (a) = 00\n", "line 1, column 1: the algorithm is not known"),
        (
            Format::Hashdeep,
            b"%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n5,zz,a\n",
            "line 3, column 3: there is no digest",
        ),
        (Format::Hashdeep, b"5,zz,a\n", "line 1, column 1: the document does not begin with"),
        (Format::Sfv, b"; x\na b c\n", "line 2, column 5: eight hexadecimal digits"),
        (Format::Ni, b"ni:///sha-256;AA  a\n", "line 1, column 1: the digest has the wrong"),
        (Format::Mtree, b"#mtree\na size=x\n", "line 2, column 8: a length in bytes"),
        (Format::Mtree, b"#mtree\n..\n", "line 2, column 1: `..` closes no directory"),
        (Format::Chkbit, b"{\"v\":2,\n\"idx\":[]}", "line 2, column 7: an object should be here"),
        (Format::Ocfl, b"{\"manifest\":{\"00\":[]}}", "line 1, column 20: the digest has the"),
        (Format::Steadfast, b"{\"path\":\"a\"}\n", "line 1, column 1: the document does not begin"),
        (Format::Bitrot, b"SQLite format 3\0", "the document: a `bitrot` database can be read"),
    ] {
        let found = faults(format, document);
        let first = found.first().map(ToString::to_string).unwrap_or_default();
        assert!(first.starts_with(told), "{format}: {first}");
    }
}

#[test]
fn a_faulty_line_does_not_hide_the_next() {
    for (format, bad) in [
        (Format::Gnu, "zz"),
        (Format::Bsd, "zz"),
        (Format::Sfv, "zz"),
        (Format::Ni, "zz"),
        (Format::Bagit, "zz"),
        (Format::Hashdeep, "zz"),
        (Format::Mtree, "./zz size=zz"),
        (Format::Steadfast, "{}"),
    ] {
        let record = nasty_record(&mut Random::new(5), &algorithms(format)[..1], 1);
        let record = Record { path: "good".into(), ..record };
        let document = write(format, [&record, &Record { path: "last".into(), ..record.clone() }]);
        let mut lines: Vec<&[u8]> = document.split_inclusive(|&byte| byte == b'\n').collect();
        let (bad, last) = (format!("{bad}\n"), b"last".as_slice());
        let place = lines.iter().position(|line| line.windows(4).any(|part| part == last)).unwrap();
        lines.insert(place, bad.as_bytes());
        let found: Vec<_> = read(format, None, &lines.concat()[..]).collect();
        let good = found.iter().filter(|found| found.is_ok()).count();
        assert_eq!(good, 2, "{format}: {found:?}");
        let fault = found.iter().find_map(|found| found.as_ref().err()).unwrap();
        let DocumentPlace::Text { line, .. } = fault.place else { panic!("{fault}") };
        assert_eq!(line as usize, place + 1, "{format}");
    }
}

#[test]
fn marks_line_ends_and_case_of_other_systems_are_read() {
    for format in formats().filter(|format| format.is_writable()) {
        if format == Format::GnuZero {
            continue;
        }
        let mut record = nasty_record(&mut Random::new(7), &algorithms(format)[..1], 1);
        record.path = "a b".into();
        let document = write(format, [&record]);
        let expected = records(format, "", &document);
        let text = String::from_utf8(document).unwrap();
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(records(format, "", windows.as_bytes()), expected, "{format}");
        if format != Format::Ni && format != Format::Chkbit && format != Format::ChkbitDatabase {
            let hex = record.digests[0].1.to_string();
            let upper = text.replacen(&hex, &hex.to_uppercase(), 1);
            let found: Vec<_> = read(format, None, upper.as_bytes()).flatten().collect();
            assert_eq!(found, expected, "{format}");
        }
    }
}

#[test]
fn a_damaged_chkbit_index_is_told_after_its_records() {
    let mut record = nasty_record(&mut Random::new(9), algorithms(Format::Chkbit), 1);
    record.path = "name".into();
    for format in [Format::Chkbit, Format::ChkbitDatabase] {
        let document = write(format, [&record]);
        let damaged = String::from_utf8(document).unwrap().replace("name", "nama");
        let found: Vec<_> = read(format, None, damaged.as_bytes()).collect();
        let [Ok(record), Err(fault)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(record.path, Path::new("nama"));
        assert_eq!(fault.kind, FaultKind::Check);
    }
}

#[test]
fn chkbit_indexes_of_older_versions_are_read() {
    let md5 = "d41d8cd98f00b204e9800998ecf8427e";
    let list = format!("{{\"a\": {{\"mod\": 5, \"md5\": \"{md5}\"}}}}");
    let sum = digest(Algorithm::Md5, list.replace(' ', "").as_bytes());
    for document in [
        format!("{{\"data\":{{\"a\":{{\"mod\":5.25,\"md5\":\"{md5}\"}}}}}}"),
        format!("{{\"v\": 1, \"idx\": {list}, \"idx_hash\": \"{sum}\"}}"),
        format!("{{\"idx_hash\": \"{sum}\", \"idx\": {list}, \"v\": 1}}"),
    ] {
        let [record] = &records(Format::Chkbit, ".chkbit", document.as_bytes())[..] else {
            panic!("{document}")
        };
        assert_eq!(record.digest(Algorithm::Md5).unwrap().to_string(), md5);
        assert_eq!(record.mtime.unwrap().time, Timestamp { seconds: 0, nanoseconds: 5_000_000 });
    }
    assert_eq!(records(Format::Chkbit, ".chkbit", b"{}"), []);
}

#[test]
fn what_a_format_cannot_hold_is_refused_and_the_rest_goes_on() {
    let whole = nasty_record(&mut Random::new(11), &[Algorithm::Md5], 1);
    let whole = Record { path: "a".into(), ..whole };
    for (format, record) in [
        (Format::Hashdeep, Record { length: None, ..whole.clone() }),
        (Format::Chkbit, Record { mtime: None, ..whole.clone() }),
        (Format::Sfv, whole.clone()),
        (Format::Ni, whole.clone()),
        (Format::Gnu, Record { digests: Vec::new(), ..whole.clone() }),
        (Format::Mtree, Record { path: "../a".into(), ..whole.clone() }),
        (Format::Bagit, Record { path: "/a".into(), ..whole.clone() }),
    ] {
        let mut writer = writer(format, None);
        let refused = writer.put(&record).unwrap_err();
        assert!(refused.kind() == ErrorKind::Unwritable, "{format}: {refused}");
        let good = nasty_record(&mut Random::new(13), algorithms(format), 3);
        writer.put(&Record { path: "good".into(), ..good }).unwrap();
        let document = writer.finish().unwrap();
        let found = combine(records(format, "", &document)).records;
        assert_eq!(found.len(), 1, "{format}: nothing is left of what was refused");
        assert!(found[0].path.ends_with("good"));
    }
    for format in [Format::Ocfl, Format::Bitrot] {
        assert!(steadfast_manifest::put(format, None).is_none(), "{format}");
    }
}

/// Gives the same line again and again.
struct Endless {
    line: Vec<u8>,
    at: usize,
    left: u64,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let limit = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        for byte in &mut buffer[..limit] {
            *byte = self.line[self.at];
            self.at = (self.at + 1) % self.line.len();
        }
        self.left -= limit as u64;
        Ok(limit)
    }
}

/// The other side of the test below; alone in its process.
#[test]
#[ignore = "run by `manifests_are_read_in_constant_memory`"]
fn reads_much_and_tells_its_memory() {
    let sha256 = "0".repeat(64);
    let json = format!("\"{}\":{{\"mod\":1,\"a\":\"md5\",\"h\":\"{}\"}},", "a", "0".repeat(32));
    for (format, head, line) in [
        (Format::Gnu, "", format!("{sha256}  a/b/c\n")),
        (Format::Bsd, "", format!("SHA256 (a/b/c) = {sha256}\n")),
        (Format::Bagit, "", format!("{sha256}  data/a\n")),
        (Format::Sfv, "", "a/b/c 00000000\n".to_owned()),
        (Format::Mtree, "#mtree\n", format!("./a/b/c size=1 sha256={sha256}\n")),
        (
            Format::Hashdeep,
            "%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n",
            format!("1,{sha256},a/b/c\n"),
        ),
        (Format::Steadfast, "{\"steadfast_manifest\":1}\n", "{\"path\":\"a\"}\n".to_owned()),
        (Format::Chkbit, "{\"v\":2,\"idx\":{", json.clone()),
        (Format::ChkbitDatabase, "{\"data\":{\"\":{\"idx\":{", json),
        (Format::Ocfl, "{\"manifest\":{", format!("\"{sha256}\":[\"a\",\"b\"],")),
    ] {
        let endless = Endless { line: line.into_bytes(), at: 0, left: 20 << 20 };
        let document = BufReader::new(head.as_bytes().chain(endless));
        let good = read(format, None, document).filter(Result::is_ok).count();
        assert!(good > 100_000, "{format}: {good}");
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 40 << 10, "{peak} kB at most");
}

#[test]
fn manifests_are_read_in_constant_memory() {
    if !Path::new("/proc/self/status").exists() {
        return skip(Need::System("/proc"), "this system has none");
    }
    let name = "documents::reads_much_and_tells_its_memory";
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn lists_that_people_have_are_found_and_read() {
    let sha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    let md5 = "b1946ac92492d2347c6235b4d2611184";
    let signed = |lines: &str| {
        format!(
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n{lines}-----BEGIN PGP \
             SIGNATURE-----\n\niQIz\n=abcd\n-----END PGP SIGNATURE-----\n"
        )
    };
    for (text, format) in [
        (format!("; MD5 by TeraCopy\r\n;\r\n{md5} *a\r\n"), Format::Gnu),
        (format!("\u{feff}; SHA-256\r\n\r\n{sha} *a\r\n"), Format::Gnu),
        (format!("{} *a\n", sha.to_uppercase()), Format::Gnu),
        (signed(&format!("# a: 6 bytes\nSHA256 (a) = {sha}\n")), Format::Bsd),
        (signed(&format!("{sha}  a\n")), Format::Gnu),
    ] {
        let name = Path::new("list");
        assert_eq!(Format::detect(name, text.as_bytes()), Some(format), "{text}");
        let found = records(format, "list", text.as_bytes());
        assert!(found.len() == 1 && found[0].path == Path::new("a"), "{text}: {found:?}");
        let wide: Vec<u8> = "\u{feff}"
            .encode_utf16()
            .chain(text.trim_start_matches('\u{feff}').encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(Format::detect(name, &wide), Some(format), "{text}");
        assert_eq!(records(format, "list", &wide), found, "in UTF-16");
    }
    assert_eq!(Format::detect(Path::new("x"), b"; c\r\na.bin 12345678\r\n"), Some(Format::Sfv));
    let lone =
        |name: &str, text: &str| steadfast_manifest::lone_digest(Path::new(name), text.as_bytes());
    let found = lone("d/a.iso.sha256", &format!("{sha}\n")).unwrap();
    assert_eq!((found.path.to_str(), found.digests[0].0), (Some("a.iso"), Algorithm::Sha256));
    assert_eq!(lone("a.iso.sha256", &format!("{sha}  b\n")), None);
    assert_eq!(lone("a.iso.md5", &format!("{sha}\n")), None);
    assert_eq!(lone("SHA256SUMS", &format!("{sha}\n")), None);
}
