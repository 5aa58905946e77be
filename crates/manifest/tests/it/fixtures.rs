//! The tree that the frozen manifests are about, records at random, and damage at random.
//!
//! The tests of `crates/steadfast` that need SQLite or directories include this file, too.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use steadfast_digest::{Algorithm, Digest};
use steadfast_manifest::{Format, Mtime, Record, Step, combine, confine, folded};
use steadfast_time::Timestamp;

/// Numbers that look random and are the same every time: xorshift64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize % limit
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    OsString::from_vec(bytes.to_vec()).into()
}

pub(crate) fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/manifest/v1")
}

/// A frozen document.
pub(crate) struct Sample {
    /// The file that it is kept in.
    pub(crate) file: &'static str,
    /// The name it had.
    pub(crate) name: &'static str,
    pub(crate) format: Format,
    pub(crate) bytes: Vec<u8>,
}

/// Which files of the tree a document lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    All,
    /// Those that are UTF-8.
    Utf8,
    /// Those of them without LF and backslash, which some tools spoil.
    Plain,
    /// Those of them in the tree's root.
    Root,
    /// Those in `sub dir`, without its name.
    Folder,
    /// None of them.
    Others,
}

/// The tree that the samples are about. Its files were last modified at [`MTIME`].
pub(crate) const TREE: &[(&[u8], &[u8])] = &[
    (b"a.txt", b"alpha\n"),
    (b"empty", b""),
    (b"sub dir/b.txt", b"beta\n"),
    (b"sub dir/deep/c.txt", b"gamma\n"),
    (b"caf\xc3\xa9", b"composed\n"),
    (b"cafe\xcc\x81 2", b"decomposed\n"),
    (b"new\nline", b"line feed\n"),
    (b"back\\slash", b"backslash\n"),
    (b"\xff.bin", b"latin\n"),
];

pub(crate) const MTIME: Timestamp = Timestamp { seconds: 1_704_164_645, nanoseconds: 123_456_789 };

/// The files of the tree that a tool can name.
pub(crate) fn tree_of(names: Names) -> Vec<(PathBuf, &'static [u8])> {
    let plain = |name: &[u8]| !name.iter().any(|byte| b"\n\\".contains(byte));
    let wanted = |name: &[u8]| match names {
        Names::All => true,
        Names::Utf8 => str::from_utf8(name).is_ok(),
        Names::Plain => str::from_utf8(name).is_ok() && plain(name),
        Names::Root => str::from_utf8(name).is_ok() && !name.contains(&b'/'),
        Names::Folder => name == b"sub dir/b.txt",
        Names::Others => false,
    };
    let chosen = TREE.iter().filter(|(name, _)| wanted(name));
    let cut = |name: &'static [u8]| match names {
        Names::Folder => name.strip_prefix(b"sub dir/").unwrap(),
        _ => name,
    };
    chosen.map(|(name, contents)| (path(cut(name)), *contents)).collect()
}

pub(crate) fn digest(algorithm: Algorithm, contents: &[u8]) -> Digest {
    let mut hasher = steadfast_digest::AlgorithmHasher::new(algorithm);
    hasher.update(contents);
    hasher.finalize()
}

const NASTY: &[u8] = b"\\\n\r nr*()=#;%,a\t\x1b\x7f\xff\xc3\xa9/.-\"<&?[]{}'$~";

/// A relative path, mostly of bytes that break formats.
pub(crate) fn nasty_path(random: &mut Random) -> PathBuf {
    loop {
        let len = 1 + random.below(12);
        let bytes: Vec<u8> = (0..len).map(|_| *random.pick(NASTY)).collect();
        if let Ok(confined) = confine(&path(&bytes), Format::Gnu)
            && confined.as_os_str().as_bytes() == bytes
        {
            return confined;
        }
    }
}

pub(crate) fn nasty_record(random: &mut Random, algorithms: &[Algorithm], count: usize) -> Record {
    let first = random.below(algorithms.len());
    let digests = (0..count.min(algorithms.len())).map(|index| {
        let algorithm = algorithms[(first + index) % algorithms.len()];
        (algorithm, digest(algorithm, &random.below(usize::MAX).to_le_bytes()))
    });
    let seconds = [0, -1, 1_704_164_645, 4_000_000_000, -8_000_000_000];
    Record {
        parts: None,
        digests: digests.collect(),
        path: nasty_path(random),
        length: Some(*random.pick(&[0, 6, 1 << 40, i64::MAX as u64])),
        mtime: Some(Mtime {
            time: Timestamp {
                seconds: *random.pick(&seconds),
                nanoseconds: random.below(1_000_000_000) as u32,
            },
            step: Step::Nanosecond,
        }),
        tagged: Some(Timestamp { seconds: 1_763_650_000, nanoseconds: 0 }),
    }
}

pub(crate) fn by_path(records: impl IntoIterator<Item = Record>) -> BTreeMap<PathBuf, Record> {
    let combined = combine(records);
    assert_eq!(combined.conflicts, []);
    let keyed = |record: Record| {
        let path = confine(&record.path, Format::Gnu).unwrap();
        (path.clone(), Record { path, ..record })
    };
    combined.records.into_iter().map(keyed).collect()
}

/// Says that a tool's document holds exactly the tree.
pub(crate) fn assert_holds(found: impl IntoIterator<Item = Record>, names: Names, folder: &str) {
    let mut found: Vec<Record> = combine(found).records;
    let mut expected = tree_of(names);
    for record in &mut found {
        record.path = folded(&confine(&record.path, Format::Gnu).unwrap());
    }
    for (name, _) in &mut expected {
        *name = folded(&Path::new(folder).join(&name));
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    expected.sort();
    let paths = |records: &[Record]| -> Vec<PathBuf> {
        records.iter().map(|record| record.path.clone()).collect()
    };
    assert_eq!(paths(&found), expected.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
    for (record, (name, contents)) in found.iter().zip(&expected) {
        assert!(!record.digests.is_empty(), "{name:?}");
        for (algorithm, found) in &record.digests {
            assert_eq!(*found, digest(*algorithm, contents), "{name:?}");
        }
        assert!(record.length.is_none_or(|length| length == contents.len() as u64), "{name:?}");
        assert!(record.mtime.is_none_or(|mtime| mtime.agrees(MTIME)), "{name:?}");
    }
}

/// What stands at the seams of the formats.
const TOKENS: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\0",
    b"\\",
    b"  ",
    b" *",
    b"(",
    b") = ",
    b")= ",
    b"%%%% ",
    b"## ",
    b",",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b"\\u0000",
    b"\\ud800",
    b"\\udcff",
    b"null",
    b"-1",
    b"18446744073709551616",
    b"1e9",
    b"../",
    b"/",
    b"data/",
    b"%0A",
    b"%25",
    b"..",
    b"/set type=dir",
    b" type=dir",
    b"ni:///sha-256;",
    b"nih:1;",
    b"idx",
    b"\"idx_hash\":",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xff",
    b"; ",
    b"# ",
    b"SHA256 (",
    b"00000000",
    b"steadfast_manifest",
    b"records",
];

/// Changes a document in one to four places, now and then by a part of another.
pub(crate) fn mutated(sample: &[u8], all: &[Sample], random: &mut Random) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(64)).min(bytes.len());
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let part = bytes[at..end].to_vec();
                let place = random.below(bytes.len() + 1);
                bytes.splice(place..place, part);
            }
            5 => {
                let other = &all[random.below(all.len())].bytes;
                let from = random.below(other.len() + 1);
                let to = (from + random.below(256)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let token = TOKENS[random.below(TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
        }
    }
    bytes
}
