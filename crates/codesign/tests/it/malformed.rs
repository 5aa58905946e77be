//! Single fields with values that make no sense: a finding each, never a panic, never `Intact`.

use steadfast_codesign::{Binary, BytesState, Coverage, ErrorKind, Severity, SuperBlob};

use crate::builder::{Build, Built, CPU_ARM64, CPU_X86_64, blob, fat, superblob};
use crate::forms::check;

const FAILED: &str = "errSecCSSignatureFailed";
const INVALID: &str = "errSecCSSignatureInvalid";
const UNSUPPORTED: &str = "errSecCSSignatureUnsupported";
const BAD_OBJECT: &str = "errSecCSBadObjectFormat";

/// What a field is, where, what it becomes, and Apple's name for the first failure.
type Case = (&'static str, fn(&Built) -> usize, &'static [u8], &'static str);

const HUGE: &[u8] = &[0xff; 4];

/// The place of a field in the first directory.
macro_rules! directory {
    ($at:expr) => {
        |built| built.blob(0).start + $at
    };
}

/// The place of a field in the container of the signature.
macro_rules! container {
    ($at:expr) => {
        |built| built.signature.start + $at
    };
}

/// The place of a field in the last load command, which names the signature.
macro_rules! command {
    ($at:expr) => {
        |built| commands_end(built) - 16 + $at
    };
}

const CASES: &[Case] = &[
    ("the container's kind", container!(0), &[0; 4], INVALID),
    ("a detached signature's kind", container!(3), &[0xc1], UNSUPPORTED),
    ("dependencies' kind", container!(0), &[0xfa, 0xde, 0x0c, 0x05], INVALID),
    ("the container's length", container!(4), HUGE, INVALID),
    ("the container's length of nothing", container!(4), &[0; 4], INVALID),
    ("a huge count of blobs", container!(8), HUGE, INVALID),
    ("one blob more", container!(11), &[2], INVALID),
    ("no blob", container!(11), &[0], INVALID),
    ("a blob behind the end", container!(16), HUGE, INVALID),
    ("a blob within the index", container!(16), &[0, 0, 0, 8], INVALID),
    ("the directory's kind", directory!(0), &[0; 4], INVALID),
    ("the directory's length", directory!(4), HUGE, INVALID),
    ("the directory's length of nothing", directory!(4), &[0; 4], INVALID),
    ("the directory's length of a header", directory!(4), &[0, 0, 0, 8], INVALID),
    ("an old version", directory!(8), &[0, 2, 0, 0], UNSUPPORTED),
    ("a version of the far future", directory!(8), &[0, 2, 0xf0, 1], UNSUPPORTED),
    ("digests behind the end", directory!(16), HUGE, INVALID),
    ("digests one byte too far", directory!(19), &[0xff], INVALID),
    ("the identifier behind the end", directory!(20), HUGE, INVALID),
    ("special slots without end", directory!(24), HUGE, INVALID),
    ("one page more", directory!(31), &[14], INVALID),
    ("one page fewer", directory!(31), &[12], FAILED),
    ("pages without end", directory!(28), HUGE, INVALID),
    ("a limit behind the end", directory!(32), HUGE, INVALID),
    ("a limit of nothing", directory!(32), &[0; 4], INVALID),
    ("digests of no bytes", directory!(36), &[0], INVALID),
    ("a hash type nobody knows", directory!(37), &[9], UNSUPPORTED),
    ("a hash type that does not fit", directory!(37), &[1], INVALID),
    ("pages of 2^63 bytes", directory!(39), &[63], UNSUPPORTED),
    ("pages of 2 bytes", directory!(39), &[1], UNSUPPORTED),
    ("scattered pages behind the end", directory!(44), HUGE, INVALID),
    ("the team behind the end", directory!(48), HUGE, INVALID),
    ("a limit of 2^63", directory!(56), &[0x80], INVALID),
    ("the signature behind the end", command!(8), HUGE, INVALID),
    ("the room behind the end", command!(12), HUGE, INVALID),
    ("no room", command!(12), &[0; 4], INVALID),
    ("a command of no bytes", command!(4), &[0; 4], BAD_OBJECT),
    ("a command without end", command!(4), HUGE, BAD_OBJECT),
    ("commands without end", |_| 16, HUGE, BAD_OBJECT),
    ("commands of no bytes", |_| 20, &[0; 4], BAD_OBJECT),
    ("commands of all bytes", |_| 20, HUGE, BAD_OBJECT),
    ("sections without end", |_| 32 + 64, HUGE, BAD_OBJECT),
];

fn commands_end(built: &Built) -> usize {
    let len: [u8; 4] = built.bytes[20..24].try_into().unwrap();
    32 + u32::from_le_bytes(len) as usize
}

#[test]
fn every_field_that_makes_no_sense_has_its_finding() {
    let good = Build::linker_signed(50_000).build();
    assert_eq!(check(&good.bytes)[0].state, BytesState::Intact);
    for (what, place, value, apple) in CASES {
        let mut built = good.clone();
        let at = place(&built);
        built.bytes[at..at + value.len()].copy_from_slice(value);
        let verdict = &check(&built.bytes)[0];
        let expected = match *apple {
            UNSUPPORTED => BytesState::Unverifiable,
            _ => BytesState::Damaged,
        };
        assert_eq!(verdict.state, expected, "{what}: {:#?}", verdict.findings);
        let failures =
            verdict.findings.iter().filter(|found| found.severity >= Severity::Unverified);
        let names: Vec<_> = failures.map(|found| found.apple.unwrap().name()).collect();
        assert_eq!(names.first(), Some(apple), "{what}: {:#?}", verdict.findings);
        let binary = Binary::read(&built.bytes).unwrap();
        let coverage = Coverage::of(&built.bytes, &binary).unwrap();
        assert_eq!(coverage.ranges.last().unwrap().bytes.end, built.bytes.len() as u64, "{what}");
    }
}

#[test]
fn fat_files_with_slices_that_are_not_there() {
    let slice = Build::linker_signed(50_000).build().bytes;
    let (good, _) = fat(&[(CPU_ARM64, &slice), (CPU_X86_64, &slice)], false);
    let states = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        let states = check(&bytes).iter().map(|verdict| verdict.state).collect::<Vec<_>>();
        let coverage = Coverage::of(&bytes, &Binary::read(&bytes).unwrap()).unwrap();
        assert_eq!(coverage.ranges.last().unwrap().bytes.end, bytes.len() as u64);
        states
    };
    use BytesState::{Damaged, Intact};
    assert_eq!(states(8, &[]), [Intact, Intact]);
    assert_eq!(states(16, HUGE), [Damaged, Intact], "an offset behind the end");
    assert_eq!(states(20 + 20, HUGE), [Intact, Damaged], "a length beyond the end");
    assert_eq!(states(16, &[0; 4]), [Damaged, Intact], "a slice that is the index");
    assert_eq!(states(36, &[0, 0, 0x10, 0]), [Intact, Intact], "twice the same slice");
    assert_eq!(states(20, &[0; 4]), [Damaged, Intact], "a slice of no bytes");
    let mut bytes = good;
    bytes[7] = 39;
    bytes.truncate(700);
    assert_eq!(Binary::read(&bytes).unwrap_err().kind(), ErrorKind::Malformed);
}

/// A structure that says it is huge is refused before memory is reserved for it.
#[test]
fn nothing_is_reserved_for_what_is_not_there() {
    let mut built = Build::linker_signed(50_000).build();
    let end = commands_end(&built);
    built.bytes[end - 4..end].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
    let at = built.signature.start;
    built.bytes[at + 4..at + 8].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
    assert_eq!(check(&built.bytes)[0].state, BytesState::Damaged);
}

/// Signatures have four to nine slots. Each of very many would be compared with all others.
#[test]
fn a_signature_of_more_slots_than_any_has_is_refused() {
    for (count, is_read) in [(64, true), (65, false), (320_000, false)] {
        let (bytes, _) = superblob(&vec![(7, blob(0xfade_7172, b"")); count]);
        assert_eq!(SuperBlob::parse(&bytes).is_ok(), is_read, "{count}");
    }
}
