//! fs-verity in user space: the digests of `fsverity`, and the pages that kept leaves find damaged.

#![allow(clippy::single_range_in_vec_init, reason = "one range of pages is expected")]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use steadfast::verity::{self, LeafHasher, ReadOptions, Tree, VerityHash, VerityParams};
use steadfast_digest::{Backend, Lanes};
use steadfast_sys::source::ReadAt;

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn options(workers: usize) -> ReadOptions<'static> {
    let workers = NonZeroUsize::new(workers).unwrap();
    ReadOptions { workers, lanes: Lanes::best(Backend::detect()), stop: None }
}

fn leaves_of(data: &[u8], params: &VerityParams, workers: usize) -> Vec<u8> {
    let mut leaves = Vec::new();
    let sink = &mut |some: &[u8]| leaves.extend_from_slice(some);
    verity::leaves(&data, params, &options(workers), sink).unwrap();
    leaves
}

/// Numbers that look random and are the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[test]
fn digests_are_those_of_fsverity() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/verity/digests.tsv");
    let table = fs::read_to_string(table).unwrap();
    let largest = bytes(67_108_865);
    let (mut rows, mut parameters) = (0, BTreeSet::new());
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let [hash, block, salt, content, expected] = fields[..] else { panic!("{row}") };
        let block: usize = block.parse().unwrap();
        let params = VerityParams::new(hash.parse().unwrap(), block, &unhex(salt)).unwrap();
        let data = match content.parse::<usize>() {
            Ok(len) => largest[..len].to_vec(),
            Err(_) => content.as_bytes().to_vec(),
        };
        // The two longest are hashed once: they are for the tree, not for the threads.
        for &workers in if data.len() < 2 << 20 { &[1, 3][..] } else { &[2] } {
            let digest = verity::digest(&data, &params, &options(workers)).unwrap();
            assert_eq!(digest.to_string(), format!("{hash}:{expected}"), "{row}, {workers}");
        }
        rows += 1;
        parameters.insert((hash, block, salt));
    }
    assert_eq!((rows, parameters.len()), (8 * 14, 8));
}

#[test]
fn the_tool_agrees_on_contents_that_are_in_no_table() {
    if steadfast_testing::program("fsverity").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let mut random = Random(0x5eed_f1de);
    for round in 0..40 {
        let len = random.below(3 << 20) as usize;
        let data: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        fs::write(&file, &data).unwrap();
        let hash = VerityHash::ALL[round % 2];
        let block = 1024 << random.below(7);
        let salt: Vec<u8> = (0..random.below(33)).map(|_| random.below(256) as u8).collect();
        let hex: String = salt.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut command = Command::new("fsverity");
        command.args(["digest", "--compact", &format!("--hash-alg={hash}")]);
        command.arg(format!("--block-size={block}")).arg(format!("--salt={hex}")).arg(&file);
        let output = command.output().unwrap();
        let params = VerityParams::new(hash, block, &salt).unwrap();
        let digest = verity::digest(&data, &params, &options(2)).unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(digest.digest.to_string(), printed.trim(), "{len} {hash} {block} {hex}");
    }
}

#[test]
fn pieces_of_any_length_give_the_same_leaves() {
    let data = bytes(300_001);
    let mut random = Random(7);
    for hash in VerityHash::ALL {
        for (page_len, salt) in [(1 << 10, &b""[..]), (4 << 10, b"salt"), (64 << 10, b"")] {
            let params = VerityParams::new(hash, page_len, salt).unwrap();
            let whole = leaves_of(&data, &params, 1);
            assert_eq!(whole.len() as u64, params.pages(300_001) * hash.digest_len() as u64);
            let mut leaves = Vec::new();
            let mut hasher = LeafHasher::new(&params, Lanes::best(Backend::detect()));
            let mut rest = &data[..];
            while !rest.is_empty() {
                let len = random.below(9000).min(rest.len() as u64) as usize;
                let (piece, after) = rest.split_at(len);
                hasher.update(piece, &mut leaves);
                rest = after;
            }
            hasher.finish(&mut leaves);
            assert!(leaves == whole, "{hash} {page_len}");
        }
    }
}

#[test]
fn every_kernel_gives_the_same_leaves() {
    let data = bytes(1_000_003);
    let params = VerityParams::default();
    let expected = leaves_of(&data, &params, 1);
    for backend in Backend::detected() {
        for &count in backend.lane_choices() {
            let lanes = Lanes::new(backend, count).unwrap();
            let mut leaves = Vec::new();
            let sink = &mut |some: &[u8]| leaves.extend_from_slice(some);
            verity::leaves(&data, &params, &ReadOptions { lanes, ..options(2) }, sink).unwrap();
            assert!(leaves == expected, "{lanes}");
        }
    }
}

#[test]
fn kept_leaves_fold_up_to_the_digest_and_any_flipped_bit_of_them_does_not() {
    let data = bytes(1_500_000);
    for params in
        [VerityParams::default(), VerityParams::new(VerityHash::Sha512, 1024, b"s").unwrap()]
    {
        let digest = verity::digest(&data, &params, &options(2)).unwrap();
        let fold = |leaves: &[u8]| {
            let mut tree = Tree::new(&params);
            tree.push_all(leaves);
            params.digest(&tree.root(), data.len() as u64)
        };
        let mut leaves = leaves_of(&data, &params, 2);
        assert_eq!(fold(&leaves), digest);
        for bit in [0, 77, leaves.len() * 8 - 1] {
            leaves[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(fold(&leaves), digest, "bit {bit}");
            leaves[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn flipped_bits_are_found_in_exactly_their_pages() {
    let mut random = Random(0xbad_5eed);
    for round in 0..60 {
        let hash = VerityHash::ALL[round % 2];
        let page_len = 1024 << random.below(7);
        let params = VerityParams::new(hash, page_len, b"").unwrap();
        let len = 1 + random.below(3 << 20);
        let mut data = bytes(len as usize);
        let kept = leaves_of(&data, &params, 1);
        let mut expected = BTreeSet::new();
        let mut flipped = BTreeSet::new();
        for _ in 0..random.below(12) {
            let bit = random.below(8 * len);
            if flipped.insert(bit) {
                data[(bit / 8) as usize] ^= 1 << (bit % 8);
                expected.insert(bit / 8 / page_len as u64);
            }
        }
        let workers = 1 + round % 3;
        let found = verity::check(&data, &kept, &params, &options(workers)).unwrap();
        let pages: BTreeSet<u64> = found.damaged.iter().cloned().flatten().collect();
        assert_eq!(pages, expected, "{len} bytes in pages of {page_len}");
        assert_eq!(found.damaged_pages, expected.len() as u64);
        assert_eq!((found.pages, found.read_bytes), (params.pages(len), len));
        assert_eq!(found.is_intact(), expected.is_empty());
        let apart = found.damaged.windows(2).all(|pair| pair[0].end < pair[1].start);
        assert!(apart, "ranges that touch are one: {:?}", found.damaged);
    }
}

#[test]
fn a_file_of_another_length_is_damaged_where_it_differs() {
    let params = VerityParams::default();
    let mut data = bytes(10 * 4096 + 5);
    let kept = leaves_of(&data, &params, 1);
    data.extend_from_slice(b"more");
    let found = verity::check(&data, &kept, &params, &options(1)).unwrap();
    assert_eq!(found.damaged, [10..11]);
    data.truncate(7 * 4096 + 1);
    let found = verity::check(&data, &kept, &params, &options(1)).unwrap();
    assert_eq!((found.damaged, found.damaged_pages, found.pages), (vec![7..11], 4, 11));
    let found = verity::check(&Vec::new(), &kept, &params, &options(2)).unwrap();
    assert_eq!(found.damaged, [0..11]);
    assert!(verity::check(&data, &Vec::new(), &params, &options(1)).unwrap().is_intact());
}

/// Bytes of which one range cannot be read.
struct Broken {
    data: Vec<u8>,
    broken: std::ops::Range<u64>,
}

impl ReadAt for Broken {
    fn len_bytes(&self) -> u64 {
        self.data.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if offset < self.broken.end && self.broken.start < offset + buffer.len() as u64 {
            return Err(io::Error::other("a bad sector"));
        }
        self.data.read_exact_at(buffer, offset)
    }
}

#[test]
fn pages_that_cannot_be_read_are_told_apart_and_hide_no_others() {
    let params = VerityParams::default();
    let mut data = bytes(2 << 20);
    let kept = leaves_of(&data, &params, 1);
    data[5 * 4096] ^= 1;
    let source = Broken { data, broken: 10 * 4096 + 100..12 * 4096 };
    for workers in [1, 4] {
        let found = verity::check(&source, &kept, &params, &options(workers)).unwrap();
        assert_eq!((&found.damaged[..], found.damaged_pages), (&[5..6][..], 1));
        assert_eq!((&found.unreadable[..], found.unreadable_pages), (&[10..12][..], 2));
        let error = verity::digest(&source, &params, &options(workers)).unwrap_err();
        assert_eq!(error.to_string(), "a bad sector");
    }
}

#[test]
fn reading_ends_when_it_is_told_to() {
    let stop = AtomicBool::new(true);
    let stopped = ReadOptions { stop: Some(&stop), ..options(2) };
    let (data, params) = (bytes(3 << 20), VerityParams::default());
    let kept = leaves_of(&data, &params, 2);
    let digest = verity::digest(&data, &params, &stopped).unwrap_err();
    assert_eq!(digest.kind(), io::ErrorKind::Interrupted);
    let check = verity::check(&data, &kept, &params, &stopped).unwrap_err();
    assert_eq!(check.kind(), io::ErrorKind::Interrupted);
}

#[test]
fn what_makes_no_tree_is_refused() {
    let new = |page_len, salt: &[u8]| VerityParams::new(VerityHash::Sha256, page_len, salt);
    for page_len in [0, 1, 512, 1025, 4095, 128 << 10] {
        assert!(new(page_len, b"").is_err(), "{page_len}");
    }
    assert!(new(4096, &[1; 32]).is_ok() && new(4096, &[1; 33]).is_err());
    assert!("sha1".parse::<VerityHash>().is_err());
}
