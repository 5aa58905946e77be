//! Which bytes are covered, what covers them, and what strict rules say of the others.

use steadfast_codesign::{
    AppleError, Binary, Coverage, FindingKind, HashType, RangeCover, Severity, VerifyCost,
};
use steadfast_digest::Algorithm;

use crate::builder::{Build, CPU_ARM64, CPU_X86_64, Directory, fat};

fn map(bytes: &[u8]) -> (Binary, Coverage) {
    let binary = Binary::read(&bytes).unwrap();
    let coverage = Coverage::of(&bytes, &binary).unwrap();
    let mut end = 0;
    for range in &coverage.ranges {
        assert_eq!(range.bytes.start, end, "no gap, no byte twice");
        assert!(!range.bytes.is_empty());
        end = range.bytes.end;
    }
    assert_eq!(end, bytes.len() as u64);
    (binary, coverage)
}

#[test]
fn a_thin_file_is_covered_but_for_index_and_room() {
    let built = Build::full(50_000).build();
    let (binary, coverage) = map(&built.bytes);
    let shown: Vec<_> =
        coverage.ranges.iter().map(|range| (range.cover.name(), range.what.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("sealed", "pages"),
            ("structure", "index of the signature"),
            ("signed", "code directory"),
            ("signed", "alternate code directory"),
            ("sealed", "requirements"),
            ("sealed", "entitlements"),
            ("sealed", "entitlements in DER"),
            ("signed", "CMS signature"),
            ("unsealed-zero", "room after the signature"),
        ]
    );
    assert_eq!(coverage.len_bytes(RangeCover::UnsealedZero), 100);
    assert!(coverage.findings().is_empty());
    assert!(binary.unsealed_findings(&coverage, true, true).is_empty());
}

#[test]
fn what_was_put_into_the_room_is_found_and_refused_if_strict() {
    let mut built = Build::full(50_000).build();
    let end = built.bytes.len();
    built.bytes[end - 50..end - 40].fill(7);
    let (binary, coverage) = map(&built.bytes);
    let findings = coverage.findings();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].place.bytes, Some(end as u64 - 50..end as u64 - 40));
    assert_eq!((findings[0].kind, findings[0].apple), (FindingKind::Unsealed, None));
    assert_eq!(coverage.len_bytes(RangeCover::Unsealed), 10);
    assert_eq!(coverage.len_bytes(RangeCover::UnsealedZero), 90);
    // Apple's strict check does not look there.
    let strict = binary.unsealed_findings(&coverage, true, true);
    assert_eq!((strict.len(), strict[0].kind), (1, FindingKind::Unsealed));
    assert_eq!(strict[0].severity, Severity::Failure);
}

#[test]
fn what_is_appended_is_found_and_strict_rules_refuse_it() {
    for appended in [b"more".as_slice(), &[0; 4]] {
        let mut built = Build::full(50_000).build();
        let end = built.bytes.len() as u64;
        built.bytes.extend(appended);
        let (binary, coverage) = map(&built.bytes);
        let is_zero = appended[0] == 0;
        assert_eq!(coverage.findings().len(), usize::from(!is_zero));
        let strict = binary.unsealed_findings(&coverage, true, true);
        assert!(strict.iter().all(|found| found.apple == Some(AppleError::BadMainExecutable)));
        assert_eq!(strict[0].place.bytes, Some(end..end + 4));
    }
}

#[test]
fn gaps_between_slices_are_looked_at() {
    let (one, other) = (Build::linker_signed(30_000).build(), Build::full(30_000).build());
    let (mut bytes, places) = fat(&[(CPU_ARM64, &one.bytes), (CPU_X86_64, &other.bytes)], false);
    let (binary, coverage) = map(&bytes);
    assert!(coverage.findings().is_empty());
    assert!(binary.unsealed_findings(&coverage, true, true).is_empty());
    assert_eq!(coverage.ranges[0].what, "index of slices");
    assert_eq!(coverage.ranges[0].bytes, 0..48);
    bytes[places[1] - 1] = 1;
    bytes[60] = 1;
    bytes.extend([0; 9]);
    let (binary, coverage) = map(&bytes);
    let found: Vec<_> = coverage.findings().iter().map(|found| found.place.bytes.clone()).collect();
    let before = places[1] as u64 - 1;
    assert_eq!(found, [Some(60..61), Some(before..before + 1)]);
    let strict = binary.unsealed_findings(&coverage, true, true);
    assert_eq!(strict.len(), 3, "two gaps, and zeros at the end: {strict:#?}");
    let kinds: Vec<_> = strict.iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [FindingKind::Unsealed, FindingKind::Unsealed, FindingKind::Strict]);
    assert!(strict.iter().all(|found| found.severity == Severity::Failure));
}

#[test]
fn slices_without_signature_and_bytes_that_are_not_sealed() {
    let built = Build::linker_signed(30_000).build();
    let mut unsigned = built.bytes.clone();
    let command = unsigned.iter().position(|byte| *byte == 0x1d).unwrap();
    unsigned[command] = 0x1e;
    let (_, coverage) = map(&unsigned);
    assert_eq!(coverage.ranges[0].cover, RangeCover::Unsigned);
    let mut build = Build::linker_signed(30_000);
    build.directories[0].limit = Some(20_000);
    let (_, coverage) = map(&build.build().bytes);
    assert_eq!(coverage.ranges[0].bytes, 0..20_000);
    assert_eq!(coverage.findings()[0].place.bytes, Some(20_000..30_000));
}

#[test]
fn a_check_costs_what_is_read_and_hashed() {
    let mut build = Build::full(50_000);
    build.directories.push(Directory::new(0x1001, 3));
    let one = build.build();
    let other = Build::linker_signed(30_000).build();
    let (bytes, _) = fat(&[(CPU_ARM64, &one.bytes), (CPU_X86_64, &other.bytes)], false);
    let mut cost = VerifyCost::of(&Binary::read(&bytes).unwrap());
    assert_eq!(cost.read_bytes, 80_000);
    // Truncated SHA-256 is SHA-256: its pages are hashed once for both directories.
    assert_eq!(cost.hashed(), [(Algorithm::Sha1, 50_000), (Algorithm::Sha256, 80_000)]);
    assert_eq!(cost.digests, 13 + 13 + 8);
    assert!(cost.metadata_bytes > 2_000 && cost.metadata_bytes < 10_000);
    cost.add_file(1_000, &[HashType::Sha256, HashType::Sha256Truncated, HashType::Sha1]);
    assert_eq!(cost.hashed(), [(Algorithm::Sha1, 51_000), (Algorithm::Sha256, 81_000)]);
    let mut twice = cost.clone();
    twice.add(&cost);
    assert_eq!((twice.read_bytes, twice.digests), (162_000, 2 * (13 + 13 + 8 + 2)));
}
