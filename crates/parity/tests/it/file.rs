//! Parity files: read as written, from what is left of them, and refused if hostile.

use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use steadfast_parity::*;

use crate::sample::{ORIGIN, Random, SetSample, file, read, read_at, set_of, set_with};

const BLOCK: usize = 4096;

static SAMPLE: LazyLock<SetSample> = LazyLock::new(make_sample);

/// A set of some files, whose parity file has an index of several blocks.
fn sample() -> &'static SetSample {
    &SAMPLE
}

fn make_sample() -> SetSample {
    let mut planner = SetPlanner::new(Redundancy::default(), 4);
    for (number, len) in [0, 10, 5_000, 4_000, 200_000, 4_096, 3_000_000].into_iter().enumerate() {
        assert!(planner.push(file(&format!("some/directory/file {number}"), len)).is_empty());
    }
    let PlannedSet { geometry, members } = planner.finish().unwrap();
    let mut data = vec![0; geometry.pages() as usize * PAGE_LEN];
    for (seed, member) in (0..).zip(&members) {
        let bytes = Random::new(seed).bytes(member.length as usize);
        for page in member.pages() {
            let span = member.span(page).unwrap();
            let from = &bytes[span.file_offset as usize..][..span.in_page.len()];
            data[page as usize * PAGE_LEN..][span.in_page].copy_from_slice(from);
        }
    }
    set_with(geometry, members, data)
}

/// The blocks of one copy of the index.
fn index_blocks(sample: &SetSample) -> usize {
    let parity = sample.parity.len() * PAGE_LEN;
    (sample.file.len() - parity) / BLOCK / 2 - 1
}

#[test]
fn what_is_written_is_read() {
    let sample = sample();
    let set = read(&sample.file).unwrap();
    assert_eq!(set.index(), &sample.index);
    assert_eq!(set.header().origin, ORIGIN);
    assert_eq!((set.damaged_blocks(), set.has_its_length()), (0, true));
    let member = set.index().member(Path::new("some/directory/file 4")).unwrap();
    assert_eq!((member.length, member.file.mode, member.file.uid), (200_000, 0o640, 1000));
    let page = set.index().members_of(0).map(|member| member.length).collect::<Vec<_>>();
    assert_eq!(page, [10, 4_000], "the files that share a page");
    let mut bytes = vec![0; PAGE_LEN];
    for page in 0..sample.index.geometry().parity_pages() {
        assert!(set.read_parity(page, &mut |at, b| read_at(&sample.file, at, b), &mut bytes));
        assert_eq!(bytes, sample.parity[page as usize]);
    }
}

#[test]
fn every_flipped_byte_of_header_and_index_is_repaired_from_the_twin() {
    let sample = sample();
    let blocks = index_blocks(sample);
    assert!(blocks > 4, "several blocks");
    let len = sample.file.len();
    let copy = BLOCK * (1 + blocks);
    let mut damaged = sample.file.clone();
    for at in (0..copy).chain(len - copy..len).step_by(3) {
        damaged[at] ^= 0x10;
        let set = read(&damaged).unwrap();
        assert_eq!(set.index(), &sample.index, "byte {at}");
        assert_eq!(set.damaged_blocks(), 1, "byte {at}");
        damaged[at] ^= 0x10;
    }
}

#[test]
fn both_copies_may_be_damaged_in_different_blocks() {
    let sample = sample();
    let (blocks, len) = (index_blocks(sample), sample.file.len());
    let mut damaged = sample.file.clone();
    // The first header, then alternately a block of either copy.
    damaged[..BLOCK].fill(0);
    for number in 0..blocks {
        let starts = [BLOCK, len - BLOCK * (1 + blocks)];
        damaged[starts[number % 2] + number * BLOCK..][..BLOCK].fill(0xFF);
    }
    let set = read(&damaged).unwrap();
    assert_eq!(set.index(), &sample.index);
    assert_eq!(set.damaged_blocks() as usize, blocks + 1);
    // The same block of both.
    damaged[BLOCK..2 * BLOCK].fill(1);
    damaged[len - BLOCK * (1 + blocks)..][..BLOCK].fill(1);
    let error = read(&damaged).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert_eq!(error.to_string(), "block 0 of the index is damaged in both copies");
}

#[test]
fn swapped_blocks_do_not_pass_for_each_other() {
    let sample = sample();
    let mut damaged = sample.file.clone();
    let (first, second) = damaged[BLOCK..3 * BLOCK].split_at_mut(BLOCK);
    first.swap_with_slice(second);
    let set = read(&damaged).unwrap();
    assert_eq!((set.index(), set.damaged_blocks()), (&sample.index, 2));
}

#[test]
fn a_file_cut_at_either_end_is_read_from_the_other() {
    let sample = sample();
    let whole = &sample.file;
    let copy = BLOCK * (1 + index_blocks(sample));
    let parity_pages = sample.parity.len();
    for cut in [1, 1000, BLOCK, copy, copy + 10 * PAGE_LEN] {
        for (name, kept) in [("start", &whole[cut..]), ("end", &whole[..whole.len() - cut])] {
            let set = read(kept).unwrap_or_else(|error| panic!("{name} {cut}: {error}"));
            assert_eq!(set.index(), &sample.index, "{name} {cut}");
            assert!(!set.has_its_length());
            let mut bytes = vec![0; PAGE_LEN];
            let mut there =
                |page: &u32| set.read_parity(*page, &mut |at, b| read_at(kept, at, b), &mut bytes);
            let there = (0..parity_pages as u32).filter(|page| there(page)).count();
            let lost = (cut.max(copy) - copy) / PAGE_LEN;
            assert_eq!(there, parity_pages - lost, "{name} {cut}");
        }
    }
    assert!(read(&whole[copy + BLOCK..whole.len() - copy]).is_err());
    assert!(read(&[]).is_err());
}

#[test]
fn unreadable_places_are_as_damaged_ones() {
    let sample = sample();
    let bad: [Range<u64>; 2] = [0..5000, sample.file.len() as u64 - 4096..u64::MAX];
    let read = &mut |at: u64, buffer: &mut [u8]| match bad[..1]
        .iter()
        .any(|bad| at < bad.end && at + buffer.len() as u64 > bad.start)
    {
        true => Err(std::io::Error::from_raw_os_error(5)),
        false => read_at(&sample.file, at, buffer),
    };
    let set = SetFile::read(sample.file.len() as u64, read).unwrap();
    assert_eq!((set.index(), set.damaged_blocks()), (&sample.index, 2));
    let read = &mut |_: u64, _: &mut [u8]| Err(std::io::Error::from_raw_os_error(5));
    let error = SetFile::read(sample.file.len() as u64, read).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
}

#[test]
fn damaged_parity_pages_are_lost_pages() {
    let sample = set_of(200 * PAGE_LEN, 3, 1);
    let mut damaged = sample.file.clone();
    let start = BLOCK * (1 + index_blocks(&sample));
    // Parity pages 0 and 1, in columns 0 and 1, and the data page of column 0 of the first shard.
    damaged[start + 7] ^= 1;
    damaged[start + PAGE_LEN + 7] ^= 1;
    let set = read(&damaged).unwrap();
    let mut fetched = Vec::new();
    let rebuilt =
        ColumnDecoder::new(sample.index.geometry()).rebuild(set.index(), 0, &mut |page, bytes| {
            fetched.push(page);
            match page {
                PageAt::Data(0) => false,
                PageAt::Data(page) => {
                    bytes.copy_from_slice(sample.page(page));
                    true
                }
                PageAt::Parity(page) => {
                    set.read_parity(page, &mut |at, b| read_at(&damaged, at, b), bytes)
                }
            }
        });
    assert_eq!(rebuilt.unwrap(), [(0, sample.page(0).to_vec())]);
    assert_eq!(fetched[13..], [PageAt::Parity(0), PageAt::Parity(31)]);
}

/// A file with another header or index, whose check values and digests are right: what an attacker
/// can write, not what decays.
fn forged(edit: impl FnOnce(&mut Vec<u8>)) -> Result<SetFile, Error> {
    let sample = sample();
    let blocks = index_blocks(sample);
    let mut index: Vec<u8> = sample.file[BLOCK..BLOCK * (1 + blocks)]
        .chunks(BLOCK)
        .flat_map(|block| &block[..BLOCK - 4])
        .copied()
        .collect();
    let len = u64::from_le_bytes(sample.file[32..40].try_into().unwrap());
    index.truncate(len as usize);
    edit(&mut index);
    let mut header = sample.file[..BLOCK - 4].to_vec();
    header[32..40].copy_from_slice(&(index.len() as u64).to_le_bytes());
    header[40..72].copy_from_slice(steadfast_digest::sha256(&index).as_bytes());
    let set: [u8; 16] = header[40..56].try_into().unwrap();
    let mut bytes = block_of([0; 16], 0, &header);
    for (number, content) in (0..).zip(index.chunks(BLOCK - 4)) {
        bytes.extend(block_of(set, number, content));
    }
    read(&bytes)
}

fn block_of(set: [u8; 16], number: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = [&set[..], &number.to_le_bytes(), content].concat();
    bytes.resize(20 + BLOCK - 4, 0);
    let check = crc32c::crc32c(&bytes);
    [&bytes[20..], &check.to_le_bytes()].concat()
}

/// Where the record of a member begins in the index.
fn record(index: &[u8], number: usize) -> usize {
    (0..number).fold(4, |at, _| {
        let attributes = attributes(index, at);
        let len = index[attributes..][..4].try_into().map(u32::from_le_bytes).unwrap();
        attributes + if index[at + 3] == 0 { 0 } else { 4 + len as usize }
    })
}

/// Where the length of the attributes is in the record of a member that begins at a place.
fn attributes(index: &[u8], at: usize) -> usize {
    at + 48
        + usize::from(u16::from_le_bytes([index[at], index[at + 1]]))
        + usize::from(index[at + 2])
}

#[test]
fn a_forged_index_is_refused() {
    assert!(forged(|_| {}).is_ok(), "the forger writes what is accepted if nothing is wrong");
    let set_u32 = |at: usize, value: u32| {
        move |index: &mut Vec<u8>, start: usize| {
            index[start + at..][..4].copy_from_slice(&value.to_le_bytes());
        }
    };
    let set_u64 = |at: usize, value: u64| {
        move |index: &mut Vec<u8>, start: usize| {
            index[start + at..][..8].copy_from_slice(&value.to_le_bytes());
        }
    };
    let at_member = |number: usize, edit: &dyn Fn(&mut Vec<u8>, usize)| {
        forged(|index| {
            let start = record(index, number);
            edit(index, start);
        })
    };
    let path = |text: &'static str| {
        move |index: &mut Vec<u8>, start: usize| {
            let path = &mut index[start + 48..][..21];
            path.fill(b'x');
            path[..text.len()].copy_from_slice(text.as_bytes());
        }
    };
    let refused = [
        ("many members", forged(|index| index[..4].fill(0xFF))),
        ("one member more", forged(|index| index[0] += 1)),
        ("one member fewer", forged(|index| index[0] -= 1)),
        ("a byte more", forged(|index| index.push(0))),
        ("a byte fewer", forged(|index| index.truncate(index.len() - 1))),
        ("nothing", forged(Vec::clear)),
        ("a parent", at_member(1, &path("../../../etc/passwd"))),
        ("a parent within", at_member(1, &path("a/../../b"))),
        ("the root", at_member(1, &path("/etc/passwd"))),
        ("a dot", at_member(1, &path("./a"))),
        ("two slashes", at_member(1, &path("a//b"))),
        ("a zero byte", at_member(1, &path("a\0b"))),
        ("another's path", at_member(1, &path("some/directory/file 5"))),
        ("an earlier page", at_member(3, &set_u32(8, 0))),
        ("a page beyond the set", at_member(6, &set_u32(8, 900))),
        ("the last page of all", at_member(6, &set_u32(8, u32::MAX))),
        ("a longer part", at_member(3, &set_u64(40, 9_000))),
        ("a huge part", at_member(6, &set_u64(40, u64::MAX))),
        ("a part behind its file", at_member(6, &set_u64(32, 1))),
        ("a huge start", at_member(6, &set_u64(32, u64::MAX - 5))),
        ("no sets", at_member(6, &|index, start| index[start + 4..start + 6].fill(0))),
        ("an offset", at_member(6, &|index, start| index[start + 6] = 1)),
        ("another flag", at_member(6, &|index, start| index[start + 3] = 2)),
        (
            "long attributes",
            at_member(6, &|index, start| {
                let at = attributes(index, start);
                index[at..][..4].copy_from_slice(&65_537_u32.to_le_bytes());
            }),
        ),
    ];
    for (what, outcome) in refused {
        assert_eq!(outcome.map(|_| ()).unwrap_err().kind(), ErrorKind::Invalid, "{what}");
    }
}

#[test]
fn a_forged_header_is_refused_before_anything_is_allocated() {
    let forged = |at: usize, value: &[u8]| {
        let mut header = sample().file[..BLOCK - 4].to_vec();
        header[at..at + value.len()].copy_from_slice(value);
        read(&block_of([0; 16], 0, &header)).unwrap_err().kind()
    };
    assert_eq!(forged(0, b"S"), ErrorKind::Unrecognised);
    assert_eq!(forged(16, &[3]), ErrorKind::Unrecognised);
    assert_eq!(forged(17, &[13]), ErrorKind::Unrecognised);
    assert_eq!(forged(20, &0_u32.to_le_bytes()), ErrorKind::Invalid);
    assert_eq!(forged(20, &266_u32.to_le_bytes()), ErrorKind::Invalid);
    assert_eq!(forged(24, &0_u32.to_le_bytes()), ErrorKind::Invalid);
    assert_eq!(forged(24, &u32::MAX.to_le_bytes()), ErrorKind::Invalid);
    assert_eq!(forged(28, &0_u32.to_le_bytes()), ErrorKind::Invalid);
    assert_eq!(forged(28, &129_u32.to_le_bytes()), ErrorKind::Invalid);
    assert_eq!(forged(32, &u64::MAX.to_le_bytes()), ErrorKind::Invalid);
    assert_eq!(forged(32, &(INDEX_LEN_MAX + 1).to_le_bytes()), ErrorKind::Invalid);
    assert_eq!(forged(32, &INDEX_LEN_MAX.to_le_bytes()), ErrorKind::Damaged, "beyond the file");
    assert_eq!(forged(96, &[1]), ErrorKind::Invalid);
}

#[test]
fn random_bytes_in_a_sound_frame_never_panic() {
    let mut random = Random::new(11);
    for _ in 0..300 {
        let count = 1 + random.below(6);
        let _ = forged(|index| {
            for _ in 0..count {
                // Mostly in the records: behind them are digests, which may be anything.
                let at = random.below(700.min(index.len() as u64)) as usize;
                index[at] = random.next() as u8;
            }
        })
        .map(|set| {
            // What is accepted can be asked about.
            for member in set.index().members() {
                member.pages().for_each(|page| assert!(member.span(page).is_some()));
                assert!(member.file.path.is_relative());
            }
        });
    }
}

#[test]
fn what_a_reader_would_refuse_is_not_written() {
    let geometry = Geometry::new(2, 2).unwrap();
    let marks = vec![PageMark { digest: [0; 16], check: 0 }; 2];
    let member = |path: &str, page: u32, length: u64| Member {
        file: file(path, length),
        start: 0,
        length,
        sets: 1,
        page,
        offset: 0,
    };
    let made = |members| SetIndex::new(geometry, members, marks.clone(), |_| &[0; PAGE_LEN]);
    assert!(made(vec![member("a", 0, 4096), member("b", 1, 1)]).is_ok());
    let overlapping = made(vec![member("a", 0, 4097), member("b", 1, 1)]);
    assert_eq!(overlapping.unwrap_err().kind(), ErrorKind::Invalid);
    let long = made(vec![member(&"a".repeat(4097), 0, 1)]);
    assert_eq!(long.unwrap_err().kind(), ErrorKind::Usage);
    let mut tagged = member("a", 0, 1);
    tagged.file.tag = vec![0; 256];
    assert_eq!(made(vec![tagged]).unwrap_err().kind(), ErrorKind::Usage);
}
