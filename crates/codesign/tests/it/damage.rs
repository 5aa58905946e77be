//! What was done to a file, and what the verdict on its bytes then says.

use std::io;
use std::ops::Range;
use std::sync::Mutex;

use steadfast_codesign::{
    Binary, BytesState, BytesVerdict, Code, ErrorKind, FindingKind, PageCheckOptions, PageChoice,
    ReadAt, Severity, SlotState, Surroundings, VerifyOptions,
};

use crate::builder::{Build, Built, digest};
use crate::forms::{check, options};

/// Kinds of failures, each once, in the order of the enumeration.
fn failures(verdict: &BytesVerdict) -> Vec<FindingKind> {
    let failures = verdict.findings.iter().filter(|found| found.severity >= Severity::Unverified);
    let mut kinds: Vec<FindingKind> = failures.map(|found| found.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

#[test]
fn each_page_is_the_one_that_is_named() {
    let built = Build::full(50_000).build();
    for page in 0..13 {
        for at in [page * 4096, (page * 4096 + 4095).min(49_999)] {
            let mut bytes = built.bytes.clone();
            // Not the load commands: without them there is no signature to be found.
            let at = at.max(0x700);
            bytes[at] ^= 0x80;
            let verdict = &check(&bytes)[0];
            assert_eq!(failures(verdict), [FindingKind::PageDamaged]);
            let pages: Vec<_> = verdict.damage.iter().map(|damage| damage.pages.clone()).collect();
            assert_eq!(pages, [page as u64..page as u64 + 1, page as u64..page as u64 + 1]);
            let bytes = page as u64 * 4096..(page as u64 * 4096 + 4096).min(50_000);
            assert_eq!(verdict.damage[0].bytes, bytes);
            assert_eq!(verdict.findings[0].place.bytes, Some(bytes));
            assert_eq!(verdict.findings[0].apple.unwrap().code(), -67_061);
        }
    }
}

#[test]
fn damage_is_told_as_ranges_whatever_the_number_of_threads() {
    let built = Build::full(3_000_000).build();
    let mut bytes = built.bytes;
    let damaged = [3..6, 63..65, 127..130, 400..401, 731..733];
    for page in damaged.iter().cloned().flatten() {
        bytes[page * 4096 + 77] ^= 1;
    }
    let binary = Binary::read(&bytes).unwrap();
    let verdict_of = |workers| {
        let (around, pages) = (Surroundings::default(), PageChoice::All);
        binary.slices[0].check_bytes(&bytes, &around, &pages, &options(workers)).unwrap()
    };
    let verdict = verdict_of(1);
    for slot in [0, 0x1000] {
        let of_slot = verdict.damage.iter().filter(|damage| damage.directory.0 == slot);
        let pages: Vec<_> =
            of_slot.map(|damage| damage.pages.start as usize..damage.pages.end as usize).collect();
        assert_eq!(pages, damaged);
    }
    assert_eq!(verdict.directories[1].pages_damaged, 3 + 2 + 3 + 1 + 2);
    for workers in [2, 3, 16] {
        assert_eq!(verdict_of(workers), verdict);
    }
}

/// Remembers what was read, and cannot read some of it.
struct Witness {
    bytes: Vec<u8>,
    bad: Vec<Range<u64>>,
    read: Mutex<Vec<Range<u64>>>,
}

impl Witness {
    fn new(bytes: Vec<u8>, bad: Vec<Range<u64>>) -> Witness {
        Witness { bytes, bad, read: Mutex::new(Vec::new()) }
    }
}

impl ReadAt for Witness {
    fn len_bytes(&self) -> u64 {
        self.bytes.len_bytes()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let range = offset..offset + buffer.len() as u64;
        if self.bad.iter().any(|bad| bad.start < range.end && range.start < bad.end) {
            return Err(io::Error::other("the medium is scratched"));
        }
        self.read.lock().unwrap().push(range);
        self.bytes.read_exact_at(buffer, offset)
    }
}

fn look(source: &Witness, pages: &PageChoice) -> BytesVerdict {
    let binary = Binary::read(source).unwrap();
    source.read.lock().unwrap().clear();
    let around = Surroundings::default();
    binary.slices[0].check_bytes(source, &around, pages, &options(2)).unwrap()
}

#[test]
fn a_lazy_check_reads_what_it_is_asked_about_and_no_more() {
    let mut bytes = Build::full(900_000).build().bytes;
    bytes[100 * 4096] ^= 1;
    let source = Witness::new(bytes, Vec::new());
    let read = |(start, end): (u64, u64)| start * 4096..end * 4096;
    let cases = [
        (PageChoice::Pages(7..9), vec![(7, 9)], BytesState::Intact),
        (PageChoice::Pages(99..102), vec![(99, 102)], BytesState::Damaged),
        (PageChoice::Offset(100 * 4096 + 4095), vec![(100, 101)], BytesState::Damaged),
        (PageChoice::Offset(101 * 4096), vec![(101, 102)], BytesState::Intact),
        (PageChoice::Sample(0), vec![], BytesState::Unread),
        (PageChoice::Offset(900_000), vec![], BytesState::Unread),
        (PageChoice::Sample(3), vec![(0, 1), (109, 110), (219, 220)], BytesState::Intact),
    ];
    for (choice, expected, state) in cases {
        let verdict = look(&source, &choice);
        let mut seen = source.read.lock().unwrap().clone();
        seen.sort_by_key(|range| range.start);
        let mut expected: Vec<_> = expected.into_iter().map(read).collect();
        if let Some(last) = expected.last_mut() {
            last.end = last.end.min(900_000);
        }
        assert_eq!((seen, verdict.state), (expected, state), "{choice:?}");
        assert!(!verdict.is_complete());
    }
    let binary = Binary::read(&source).unwrap();
    for pages in [5..5, 219..221, u64::MAX - 1..u64::MAX] {
        let around = Surroundings::default();
        let choice = PageChoice::Pages(pages);
        let refused = binary.slices[0].check_bytes(&source, &around, &choice, &options(1));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Usage);
    }
    assert!(look(&source, &PageChoice::Sample(10_000)).is_complete());
}

#[test]
fn pages_that_cannot_be_read_are_named_and_the_others_checked() {
    let built = Build::full(900_000).build();
    let bad = vec![20 * 4096 + 5..20 * 4096 + 6, 130 * 4096..133 * 4096];
    let source = Witness::new(built.bytes.clone(), bad.clone());
    let verdict = look(&source, &PageChoice::All);
    assert_eq!(verdict.state, BytesState::Unverifiable);
    assert_eq!(failures(&verdict), [FindingKind::Unreadable]);
    let places: Vec<_> =
        verdict.findings.iter().map(|found| found.place.pages.clone().unwrap()).collect();
    assert_eq!(places, [20..21, 130..133, 20..21, 130..133]);
    for directory in &verdict.directories {
        assert_eq!((directory.pages_checked, directory.pages_unreadable), (220 - 4, 4));
    }
    let mut bytes = built.bytes;
    bytes[21 * 4096] ^= 1;
    let verdict = look(&Witness::new(bytes, bad), &PageChoice::All);
    assert_eq!(verdict.state, BytesState::Damaged, "what was seen outweighs what was not");
    assert_eq!(verdict.damage[0].pages, 21..22);
}

/// What was done to a file with every kind of blob, and which failures follow.
type Case = (&'static str, fn(&mut Built), &'static [FindingKind]);

const CASES: &[Case] = &[
    ("nothing", |_| {}, &[]),
    ("a byte of code", |built| built.bytes[9_000] ^= 1, &[FindingKind::PageDamaged]),
    ("a byte of entitlements", |built| flip(built, 5), &[FindingKind::SlotDamaged]),
    ("a byte of entitlements in DER", |built| flip(built, 7), &[FindingKind::SlotDamaged]),
    (
        "the count of requirements",
        |built| {
            let at = built.blob(2).start + 11;
            built.bytes[at] ^= 1;
        },
        &[FindingKind::SlotDamaged],
    ),
    (
        "a digest in the alternate directory",
        |built| {
            let at = built.digests[1] + 3;
            built.bytes[at] ^= 1;
        },
        &[FindingKind::PageDamaged],
    ),
    (
        "the alternate directory taken out of the index",
        |built| retype(built, 1, 0x2000),
        &[FindingKind::Malformed],
    ),
    (
        "the alternate directory a second SHA-1",
        |built| {
            let at = built.blob(0x1000).start;
            built.bytes[at + 36..at + 38].copy_from_slice(&[20, 1]);
        },
        &[
            FindingKind::PageDamaged,
            FindingKind::SlotDamaged,
            FindingKind::SlotMissing,
            FindingKind::SlotUnbound,
            FindingKind::Duplicate,
        ],
    ),
    (
        "entitlements taken out of the index",
        |built| retype(built, 3, 0x2000),
        &[FindingKind::SlotMissing],
    ),
    (
        "the kind of the CMS blob",
        |built| {
            let at = built.blob(0x1_0000).start;
            built.bytes[at + 3] ^= 1;
        },
        &[FindingKind::Malformed],
    ),
    (
        "one byte less sealed",
        |built| {
            let at = built.blob(0).start + 35;
            built.bytes[at] -= 1;
        },
        &[FindingKind::PageDamaged, FindingKind::CodeLimit],
    ),
    ("the room after the signature", |built| *built.bytes.last_mut().unwrap() = 1, &[]),
    ("bytes behind the end", |built| built.bytes.extend(b"appended"), &[]),
    (
        "the last byte gone",
        |built| built.bytes.truncate(built.bytes.len() - 1),
        &[FindingKind::Malformed],
    ),
];

fn flip(built: &mut Built, slot: u32) {
    let at = built.blob(slot).end - 1;
    built.bytes[at] ^= 1;
}

/// Gives a line of the index another slot.
fn retype(built: &mut Built, line: usize, slot: u32) {
    let at = built.signature.start + 12 + 8 * line;
    built.bytes[at..at + 4].copy_from_slice(&slot.to_be_bytes());
}

#[test]
fn each_thing_done_to_a_file_has_its_finding() {
    for (what, change, expected) in CASES {
        let mut built = Build::full(50_000).build();
        change(&mut built);
        let verdict = &check(&built.bytes)[0];
        assert_eq!(failures(verdict), *expected, "{what}: {:#?}", verdict.findings);
        let state = if expected.is_empty() { BytesState::Intact } else { BytesState::Damaged };
        assert_eq!(verdict.state, state, "{what}");
        for finding in &verdict.findings {
            assert_eq!(finding.place.slice.as_deref(), Some("arm64"), "{what}");
            let is_failure = finding.severity == Severity::Failure;
            assert!(!is_failure || finding.apple.is_some(), "{what}");
        }
    }
}

/// Only the signer can tell: the seal itself is consistent, and the code has another name.
#[test]
fn a_page_that_was_sealed_again_is_intact_under_another_name() {
    let mut built = Build::linker_signed(50_000).build();
    let cdhash = |bytes: &[u8]| {
        let binary = Binary::read(&bytes).unwrap();
        binary.slices[0].signature.as_ref().unwrap().chosen_directory().cdhash()
    };
    let before = cdhash(&built.bytes);
    built.bytes[9_000] ^= 1;
    let sealed = digest(2, &built.bytes[8192..12288]);
    let at = built.digests[0] + 2 * 32;
    built.bytes[at..at + 32].copy_from_slice(&sealed);
    assert_eq!(check(&built.bytes)[0].state, BytesState::Intact);
    assert_ne!(cdhash(&built.bytes), before);
}

#[test]
fn what_no_directory_binds_is_said_not_to_be_sealed() {
    let mut build = Build::full(20_000);
    for directory in &mut build.directories {
        directory.special_count = 2;
    }
    let verdict = &check(&build.build().bytes)[0];
    assert_eq!(verdict.state, BytesState::Intact, "what is sealed is as it was sealed");
    let unbound = verdict.slots.iter().filter(|slot| slot.state == SlotState::Unbound);
    assert_eq!(unbound.map(|slot| slot.slot.0).collect::<Vec<_>>(), [5, 5, 7, 7]);
    let said = verdict.findings.iter().filter(|found| found.kind == FindingKind::SlotUnbound);
    assert_eq!(said.count(), 4);
    assert_eq!(failures(verdict), [FindingKind::SlotUnbound], "and the rest is not accepted");
}

#[test]
fn the_files_around_an_executable_are_compared_in_a_bundle() {
    let (plist, seal) = (b"<plist/>".as_slice(), b"<plist><dict/></plist>".as_slice());
    let mut build = Build::full(20_000);
    build.outside = vec![(1, plist.to_vec()), (3, seal.to_vec())];
    let bytes = build.build().bytes;
    let binary = Binary::read(&bytes).unwrap();
    let verdict = |in_bundle, info_plist, resources| {
        let around = Surroundings { in_bundle, info_plist, resources, container: None };
        let options = PageCheckOptions::default();
        binary.slices[0].check_bytes(&bytes, &around, &PageChoice::All, &options).unwrap()
    };
    let other = Some(b"other".as_slice());
    let (plist, seal) = (Some(plist), Some(seal));
    assert_eq!(verdict(true, plist, seal).state, BytesState::Intact);
    let cases = [
        (other, seal, FindingKind::SlotDamaged, "errSecCSInfoPlistFailed"),
        (None, seal, FindingKind::SlotMissing, "errSecCSInfoPlistFailed"),
        (plist, other, FindingKind::SlotDamaged, "errSecCSResourceDirectoryFailed"),
        (plist, None, FindingKind::SlotMissing, "errSecCSResourceDirectoryFailed"),
    ];
    for (info_plist, resources, kind, apple) in cases {
        let verdict = verdict(true, info_plist, resources);
        assert_eq!(failures(&verdict), [kind]);
        assert_eq!(verdict.findings[0].apple.unwrap().name(), apple);
        assert_eq!(verdict.state, BytesState::Damaged);
    }
    let bare = verdict(false, None, None);
    assert_eq!(bare.state, BytesState::Intact, "what was not looked at is only said");
    assert!(bare.slots.iter().any(|slot| slot.state == SlotState::Unchecked));
    let kinds: Vec<_> = bare.findings.iter().map(|found| (found.kind, found.severity)).collect();
    assert_eq!(kinds, [(FindingKind::SlotUnchecked, Severity::Warning); 4]);
    for (strict, status) in [(false, 0), (true, 2)] {
        let code = Code::file(Box::new(bytes.clone())).unwrap();
        let options = VerifyOptions { strict, ..VerifyOptions::default() };
        let verification = code.verify(&options).unwrap();
        assert_eq!(verification.exit_status(), status, "{:#?}", verification.all_findings());
    }
}
