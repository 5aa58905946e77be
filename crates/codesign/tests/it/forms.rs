//! Forms that no published file has: every version, hash type and container, made here.

use std::num::NonZeroUsize;

use steadfast_codesign::{
    Binary, BytesState, BytesVerdict, Constraint, Container, Entitlements, ErrorKind, FindingKind,
    HashType, PageCheckOptions, PageChoice, SlotState, Surroundings, Value,
};

use crate::builder::{Build, CPU_ARM64, CPU_POWERPC, CPU_X86_64, Directory, blob, digest, fat};

pub(crate) fn options(workers: usize) -> PageCheckOptions {
    PageCheckOptions { workers: NonZeroUsize::new(workers).unwrap(), lanes: None }
}

/// Checks every page of every slice; bare files only.
pub(crate) fn check(bytes: &[u8]) -> Vec<BytesVerdict> {
    let binary = Binary::read(&bytes).unwrap();
    let slices = binary.slices.iter();
    let check = |slice: &steadfast_codesign::MachSlice| {
        let surroundings = Surroundings::default();
        slice.check_bytes(&bytes, &surroundings, &PageChoice::All, &options(2)).unwrap()
    };
    slices.map(check).collect()
}

#[test]
fn every_hash_type_and_all_at_once() {
    for hash in [1, 2, 3, 4] {
        let mut build = Build::linker_signed(70_000);
        build.directories = vec![Directory::new(0, hash)];
        let built = build.build();
        let binary = Binary::read(&built.bytes).unwrap();
        let signature = binary.slices[0].signature.as_ref().unwrap();
        let directory = signature.base_directory();
        assert_eq!(directory.hash_type().number(), hash);
        let expected = digest(hash, &built.bytes[built.blob(0)]);
        assert_eq!(directory.cdhash_full().as_bytes(), expected);
        assert_eq!(directory.cdhash().as_bytes()[..], expected[..20]);
        let verdict = &check(&built.bytes)[0];
        assert_eq!((verdict.state, verdict.pages_checked()), (BytesState::Intact, 18));
    }
    let mut build = Build::linker_signed(70_000);
    build.directories = [(0, 1), (0x1000, 2), (0x1001, 3), (0x1002, 4)]
        .map(|(slot, hash)| Directory::new(slot, hash))
        .into();
    let built = build.build();
    let binary = Binary::read(&built.bytes).unwrap();
    let signature = binary.slices[0].signature.as_ref().unwrap();
    assert_eq!(signature.directories().len(), 4);
    assert_eq!(signature.chosen_directory().hash_type(), HashType::Sha384);
    assert_eq!(signature.base_directory().hash_type(), HashType::Sha1);
    let verdict = &check(&built.bytes)[0];
    assert_eq!((verdict.state, verdict.pages_checked()), (BytesState::Intact, 4 * 18));
    assert_eq!(verdict.read_bytes, 70_000, "each byte is read once");
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
}

#[test]
fn every_version_has_its_fields_and_no_others() {
    for version in [0x2_0001, 0x2_0100, 0x2_0200, 0x2_0300, 0x2_0400, 0x2_0500, 0x2_0600, 0x2_f000]
    {
        let mut build = Build::linker_signed(20_000);
        let directory = &mut build.directories[0];
        directory.version = version;
        directory.team = (version >= 0x2_0200).then_some("TEAM123456");
        directory.runtime = 0x000e_0400;
        directory.linkage = if version >= 0x2_0600 { vec![7; 20] } else { vec![] };
        directory.pre_encrypt = version >= 0x2_0500;
        let built = build.build();
        let binary = Binary::read(&built.bytes).unwrap();
        let signature = binary.slices[0].signature.as_ref().unwrap();
        let directory = signature.base_directory();
        assert_eq!(directory.version(), version);
        assert_eq!(directory.identifier(), "org.example.tool");
        assert_eq!(directory.team().is_some(), version >= 0x2_0200);
        assert_eq!(
            directory.exec_segment().map(|exec| exec.flags),
            (version >= 0x2_0400).then_some(1)
        );
        assert_eq!(directory.runtime(), (version >= 0x2_0500).then_some(0x000e_0400));
        assert_eq!(directory.has_pre_encrypt(), version >= 0x2_0500);
        assert_eq!(
            directory.linkage().map(|linkage| linkage.len_bytes),
            (version >= 0x2_0600).then_some(20)
        );
        assert_eq!(check(&built.bytes)[0].state, BytesState::Intact, "{version:x}");
    }
    for version in [0x2_0000, 0x2_f001] {
        let mut build = Build::linker_signed(20_000);
        build.directories[0].version = version;
        let verdict = &check(&build.build().bytes)[0];
        assert_eq!(verdict.state, BytesState::Unverifiable);
        let finding = &verdict.findings[0];
        assert_eq!(finding.kind, FindingKind::Unsupported);
        assert_eq!(finding.apple.unwrap().name(), "errSecCSSignatureUnsupported");
    }
}

#[test]
fn pages_of_every_length_and_none() {
    for (shift, pages) in [(0, 1), (12, 25), (13, 13), (14, 7), (15, 4), (16, 2)] {
        let mut build = Build::linker_signed(100_000);
        build.directories[0].page_shift = shift;
        let built = build.build();
        let verdict = &check(&built.bytes)[0];
        assert_eq!((verdict.state, verdict.pages_checked()), (BytesState::Intact, pages));
        let mut bytes = built.bytes;
        bytes[99_999] ^= 1;
        let verdict = &check(&bytes)[0];
        assert_eq!(verdict.state, BytesState::Damaged);
        assert_eq!(verdict.damage[0].pages, pages - 1..pages);
        assert_eq!(verdict.damage[0].bytes.end, 100_000);
    }
    for shift in [11, 17, 63] {
        let mut build = Build::linker_signed(100_000);
        build.directories[0].page_shift = 12;
        let mut built = build.build();
        let directory = built.blob(0).start;
        built.bytes[directory + 39] = shift;
        assert_eq!(check(&built.bytes)[0].state, BytesState::Unverifiable, "2^{shift}");
    }
}

#[test]
fn directories_with_pages_of_different_lengths() {
    let mut build = Build::linker_signed(100_000);
    build.directories =
        vec![Directory::new(0, 1), Directory::new(0x1000, 2), Directory::new(0x1001, 4)];
    build.directories[1].page_shift = 14;
    build.directories[2].page_shift = 0;
    let mut bytes = build.build().bytes;
    let verdict = &check(&bytes)[0];
    assert_eq!((verdict.state, verdict.pages_checked()), (BytesState::Intact, 25 + 7 + 1));
    bytes[50_000] ^= 1;
    let ranges: Vec<_> =
        check(&bytes)[0].damage.iter().map(|damage| damage.pages.clone()).collect();
    assert_eq!(ranges, [12..13, 3..4, 0..1]);
}

#[test]
fn the_limit_of_64_bits_is_believed() {
    let mut build = Build::linker_signed(30_000);
    build.directories[0].limit_64 = true;
    let mut bytes = build.build().bytes;
    let binary = Binary::read(&bytes).unwrap();
    let signature = binary.slices[0].signature.as_ref().unwrap();
    assert_eq!(signature.base_directory().code_limit(), 30_000);
    assert_eq!(check(&bytes)[0].state, BytesState::Intact);
    bytes[29_999] ^= 1;
    assert_eq!(check(&bytes)[0].damage[0].bytes, 28_672..30_000);
}

#[test]
fn scattered_pages_are_said_not_to_be_verifiable() {
    let mut build = Build::linker_signed(30_000);
    build.directories[0].scatter = vec![(3, 0, 0x1000), (5, 3, 0x10_0000)];
    let bytes = build.build().bytes;
    let binary = Binary::read(&bytes).unwrap();
    let signature = binary.slices[0].signature.as_ref().unwrap();
    assert_eq!(signature.base_directory().scatter().len(), 2);
    assert_eq!(signature.base_directory().scatter()[1].target_offset, 0x10_0000);
    let verdict = &check(&bytes)[0];
    assert_eq!((verdict.state, verdict.pages_checked()), (BytesState::Unverifiable, 0));
    assert!(verdict.findings.iter().any(|finding| finding.kind == FindingKind::Scatter));
    assert!(!verdict.is_complete());
}

#[test]
fn big_endian_and_32_bits() {
    for (big_endian, is_64) in [(false, false), (true, false), (true, true), (false, true)] {
        let mut build = Build::full(40_000);
        (build.big_endian, build.is_64, build.cpu) = (big_endian, is_64, CPU_POWERPC);
        let mut bytes = build.build().bytes;
        let binary = Binary::read(&bytes).unwrap();
        let macho = binary.slices[0].macho.as_ref().unwrap();
        assert_eq!((macho.big_endian, macho.is_64), (big_endian, is_64));
        assert_eq!(macho.architecture.to_string(), "ppc");
        assert_eq!(macho.build.unwrap().minimum, 0x000b_0000);
        assert_eq!(check(&bytes)[0].state, BytesState::Intact);
        bytes[5_000] ^= 1;
        assert_eq!(check(&bytes)[0].damage[0].section.as_deref(), Some("__TEXT,__text"));
    }
}

#[test]
fn fat_files_with_offsets_of_either_length() {
    let mut other = Build::full(50_000);
    other.cpu = CPU_X86_64;
    let (one, other) = (Build::linker_signed(30_000).build(), other.build());
    for wide in [false, true] {
        let (mut bytes, places) = fat(&[(CPU_ARM64, &one.bytes), (CPU_X86_64, &other.bytes)], wide);
        let binary = Binary::read(&bytes).unwrap();
        assert_eq!(binary.container, if wide { Container::Fat64 } else { Container::Fat });
        let verdicts = check(&bytes);
        assert!(verdicts.iter().all(|verdict| verdict.state == BytesState::Intact));
        bytes[places[1] + 9_000] ^= 1;
        let verdicts = check(&bytes);
        assert_eq!(verdicts[0].state, BytesState::Intact);
        assert_eq!(verdicts[1].state, BytesState::Damaged);
        let start = places[1] as u64 + 8192;
        assert_eq!(verdicts[1].damage[0].bytes, start..start + 4096);
        assert_eq!(verdicts[1].findings[0].place.slice.as_deref(), Some("x86_64"));
    }
}

#[test]
fn an_uncounted_slice_for_arm_is_found() {
    let (one, other) = (Build::linker_signed(30_000).build(), Build::full(30_000).build());
    let (mut bytes, _) = fat(&[(CPU_X86_64, &one.bytes), (CPU_ARM64, &other.bytes)], false);
    bytes[7] = 1;
    let binary = Binary::read(&bytes).unwrap();
    assert_eq!(binary.slices.len(), 2);
    assert!(binary.slice("arm64").unwrap().signature.is_some());
}

#[test]
fn what_is_no_code_is_said_to_be_none() {
    let class = [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 10].to_vec();
    for bytes in [class, Vec::new(), vec![0xcf], b"#!/bin/sh\n".to_vec(), vec![0xcf, 0xfa, 0xed]] {
        assert_eq!(Binary::read(&bytes).unwrap_err().kind(), ErrorKind::NotCode, "{bytes:?}");
    }
}

#[test]
fn constraints_and_the_list_of_slots_are_bound() {
    let conditions = &[0x70, 13, 2, 1, 1, 0xb0, 8, 0x30, 6, 0x0c, 1, b'v', 2, 1, 9];
    let mut build = Build::linker_signed(20_000);
    build.directories[0].special_count = 11;
    build.blobs = (8..=11).map(|slot| (slot, blob(0xfade_8181, conditions))).collect();
    let listed = [0_u32, 4, 8, 9, 10, 11, 0x1_0000].map(u32::to_be_bytes).concat();
    build.blobs.push((4, blob(0xfade_0b01, &listed)));
    build.blobs.push((0x1_0000, blob(0xfade_0b01, &[])));
    let mut built = build.build();
    let binary = Binary::read(&built.bytes).unwrap();
    let signature = binary.slices[0].signature.as_ref().unwrap();
    let (constraints, findings) = Constraint::all(signature);
    assert!(findings.is_empty(), "{findings:?}");
    let values: Vec<_> =
        constraints.iter().map(|found| (found.slot.0, found.value.clone())).collect();
    let value = Value::Map(vec![("v".into(), Value::Integer(9))]);
    assert_eq!(values, (8..=11).map(|slot| (slot, value.clone())).collect::<Vec<_>>());
    let verdict = &check(&built.bytes)[0];
    assert_eq!(verdict.state, BytesState::Intact, "{:?}", verdict.findings);
    assert!(verdict.slots.iter().all(|slot| slot.state == SlotState::Intact));
    assert_eq!(verdict.slots.len(), 5);
    for slot in [4, 8, 9, 10, 11] {
        let end = built.blob(slot).end;
        built.bytes[end - 1] ^= 1;
        let verdict = &check(&built.bytes)[0];
        assert_eq!(verdict.state, BytesState::Damaged);
        let damaged = verdict.slots.iter().filter(|found| found.state == SlotState::Damaged);
        assert_eq!(damaged.map(|found| found.slot.0).collect::<Vec<_>>(), [slot]);
        built.bytes[end - 1] ^= 1;
    }
    // A slot that the list does not have.
    build.blobs.push((2, blob(0xfade_0c01, &[0, 0, 0, 0])));
    let verdict = &check(&build.build().bytes)[0];
    assert!(verdict.findings.iter().any(|finding| finding.kind == FindingKind::Malformed));
}

#[test]
fn the_property_list_of_a_bare_file_is_its_section() {
    let mut build = Build::linker_signed(20_000);
    build.directories[0].special_count = 3;
    build.info_plist = Some(b"<plist>1</plist>".to_vec());
    let mut bytes = build.build().bytes;
    let verdict = &check(&bytes)[0];
    assert_eq!((verdict.state, verdict.slots[0].state), (BytesState::Intact, SlotState::Intact));
    bytes[0x800] ^= 1;
    let verdict = &check(&bytes)[0];
    let kinds: Vec<_> = verdict.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::SlotDamaged, FindingKind::PageDamaged]);
    assert_eq!(verdict.findings[0].apple.unwrap().name(), "errSecCSInfoPlistFailed");
    // The page begins with the header, which is in no section.
    assert_eq!(verdict.damage[0].section.as_deref(), Some("__TEXT"));
}

#[test]
fn both_forms_of_entitlements_are_read_and_compared() {
    let mut build = Build::full(20_000);
    let read = |build: &Build| {
        let built = build.build();
        let binary = Binary::read(&built.bytes).unwrap();
        Entitlements::of(binary.slices[0].signature.as_ref().unwrap())
    };
    let value = Value::Map(vec![("a".into(), Value::Boolean(true))]);
    let entitlements = read(&build);
    assert_eq!(entitlements.xml, Some(value.clone()));
    assert_eq!(entitlements.value(), Some(&value));
    assert!(entitlements.findings.is_empty());
    *build.blobs[2].1.last_mut().unwrap() = 0;
    let entitlements = read(&build);
    assert_eq!(entitlements.findings[0].kind, FindingKind::Disagreement);
    build.blobs[2].1.truncate(12);
    build.blobs[2].1[7] = 12;
    let entitlements = read(&build);
    assert_eq!(entitlements.findings[0].kind, FindingKind::Malformed);
    assert_eq!((entitlements.der, entitlements.xml), (None, Some(value)));
}
