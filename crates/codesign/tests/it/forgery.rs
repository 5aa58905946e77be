//! Forgeries: a program that was changed and sealed again, with one field of its signature another.
//! None may be accepted.
//!
//! The chain of the tests ends at a root that nobody knows, so that the best of them is not
//! verified. What an unknown root must not do is hide what else is wrong.

use std::fs;

use steadfast_codesign::{
    Code, CodeVerification, FindingKind, PolicyState, Severity, SignerState, VerifyOptions,
};

use crate::builder::{Build, blob, digest};
use crate::fixtures::fixture;
use crate::sample::{directories_of, requirements, with_cms};
use crate::signing::{
    AGILITY_LIST, AGILITY_SET, CODE_SIGNING, CONTENT_TYPE, MESSAGE_DIGEST, Message, Paper, Person,
    SHA384, TIME_STAMPING, TIMESTAMP_INFO, TIMESTAMP_TOKEN, der, oid,
};

/// 2026-09-16, the day after the messages say that they were signed.
const NOW: i64 = 1_789_550_000;

pub(crate) fn verified(bytes: Vec<u8>, strict: bool) -> CodeVerification {
    let code = Code::file(Box::new(bytes)).unwrap();
    let options = VerifyOptions { deep: true, strict, now: Some(NOW), ..VerifyOptions::default() };
    code.verify(&options).unwrap()
}

/// The kinds of findings that keep the code from being accepted, each once.
fn kinds(verification: &CodeVerification) -> Vec<FindingKind> {
    let findings = verification.all_findings();
    let grave = findings.iter().filter(|finding| finding.severity >= Severity::Unverified);
    let mut kinds: Vec<FindingKind> = grave.map(|finding| finding.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

/// Who takes part: a root, the authority below it, a signer, a clock.
struct Cast([Person; 4]);

impl Cast {
    fn new() -> Cast {
        let root = Paper::authority("Root", None).person();
        let authority = Paper::authority("Authority", Some(&root)).person();
        let signer = Paper::signer("Signer", &authority, CODE_SIGNING).person();
        let clock = Paper::signer("Clock", &authority, TIME_STAMPING).person();
        Cast([root, authority, signer, clock])
    }

    /// The certificates of the authorities, and that of whom they vouch for.
    fn certificates(&self, of: usize) -> Vec<Vec<u8>> {
        [0, 1, of].map(|index: usize| self.0[index].certificate.clone()).into()
    }

    /// A message over the directories of a build, altered by one change, and a time stamp of it,
    /// altered by another. A change that puts a time stamp there gets no other.
    fn message(&self, build: &Build, of_signer: Change, of_stamp: Change) -> Message {
        let mut message = Message::over(&directories_of(build), &self.0[2]);
        message.certificates = self.certificates(2);
        of_signer(&mut message);
        if !message.unsigned.is_empty() {
            return message;
        }
        let mut stamp = Message::timestamp(&message.signature(), "20260915101113Z", &self.0[3]);
        stamp.certificates = self.certificates(3);
        of_stamp(&mut stamp);
        message.unsigned = vec![(TIMESTAMP_TOKEN, vec![stamp.build()])];
        message
    }
}

/// A program with two directories of these flags.
fn program(flags: [u32; 2]) -> Build {
    let mut build = Build::full(20_000);
    for (directory, flags) in build.directories.iter_mut().zip(flags) {
        directory.flags = flags;
    }
    build.blobs[0] = (2, requirements());
    build
}

const SIGNED: [u32; 2] = [0x1_0000; 2];

/// What is done to the message of a signer, or to a time stamp.
type Change = fn(&mut Message);

/// What is changed, and in which state the signer is left, with which finding and status.
type Row = (&'static str, Change, SignerState, FindingKind, u8);

const OF_SIGNER: &[Row] = &[
    ("nothing", |_| {}, SignerState::Untrusted, FindingKind::SignerRoot, 2),
    (
        "the signature's algorithm, to one that nobody knows",
        |message| message.scheme = "1.2.3.4",
        SignerState::Unverifiable,
        FindingKind::SignerSignature,
        2,
    ),
    (
        "the digest's algorithm, to one that nobody knows",
        |message| message.digest = "1.2.3.4",
        SignerState::Unverifiable,
        FindingKind::SignerDigest,
        2,
    ),
    (
        "the digest's algorithm, to another",
        |message| message.digest = SHA384,
        SignerState::Invalid,
        FindingKind::SignerDigest,
        3,
    ),
    (
        "both algorithms, and a value of nothing",
        |message| {
            (message.scheme, message.digest) = ("1.2.3.4", "1.2.3.4");
            message.value = Some(Vec::new());
        },
        SignerState::Unverifiable,
        FindingKind::SignerSignature,
        2,
    ),
    (
        "the signature's algorithm, to that of another key",
        |message| message.scheme = "1.2.840.113549.1.1.11",
        SignerState::Invalid,
        FindingKind::SignerSignature,
        3,
    ),
    (
        "the signature's value",
        |message| message.value = Some(der(0x30, &[2, 1, 1, 2, 1, 1])),
        SignerState::Invalid,
        FindingKind::SignerSignature,
        3,
    ),
    (
        "no certificates",
        |message| message.certificates.clear(),
        SignerState::Unverifiable,
        FindingKind::SignerChain,
        2,
    ),
    (
        "no certificate of the signer's issuer",
        |message| {
            message.certificates.remove(1);
        },
        SignerState::Untrusted,
        FindingKind::SignerChain,
        2,
    ),
    (
        "the signer's key, to one on a curve that nobody knows",
        |message| {
            let curve = &oid("1.2.840.10045.3.1.7")[..];
            let certificate = &mut message.certificates[2];
            let at = certificate.windows(curve.len()).position(|window| window == curve).unwrap();
            certificate[at + curve.len() - 1] = 1;
        },
        SignerState::Invalid,
        FindingKind::SignerChain,
        3,
    ),
    (
        "a certificate that is none",
        |message| message.certificates[0] = der(0x30, &[]),
        SignerState::Invalid,
        FindingKind::SignerMalformed,
        3,
    ),
    (
        "the digest of the directory",
        |message| message.set(MESSAGE_DIGEST, vec![der(4, &[7; 32])]),
        SignerState::Invalid,
        FindingKind::SignerDigest,
        3,
    ),
    (
        "the kind of content",
        |message| message.set(CONTENT_TYPE, vec![oid(TIMESTAMP_INFO)]),
        SignerState::Invalid,
        FindingKind::SignerMalformed,
        3,
    ),
    (
        "the list of directories",
        |message| message.set(AGILITY_LIST, vec![der(4, b"<plist/>")]),
        SignerState::Invalid,
        FindingKind::SignerDirectories,
        3,
    ),
    (
        "the set of directories",
        |message| message.set(AGILITY_SET, vec![der(0x30, &[])]),
        SignerState::Invalid,
        FindingKind::SignerDirectories,
        3,
    ),
    (
        "no list and no set, so that nothing ties the second directory",
        |message| {
            message.drop_signed(AGILITY_LIST);
            message.drop_signed(AGILITY_SET);
        },
        SignerState::Untrusted,
        FindingKind::SignerDirectories,
        2,
    ),
    (
        "no signed attributes",
        |message| message.signed.clear(),
        SignerState::Untrusted,
        FindingKind::SignerDirectories,
        2,
    ),
    (
        "a second signer",
        |message| message.signer_count = 2,
        SignerState::Untrusted,
        FindingKind::SignerMalformed,
        2,
    ),
    (
        "no signer",
        |message| message.signer_count = 0,
        SignerState::Invalid,
        FindingKind::SignerMalformed,
        3,
    ),
    (
        "two time stamps",
        |message| message.unsigned = vec![(TIMESTAMP_TOKEN, vec![der(0x30, &[]); 2])],
        SignerState::Invalid,
        FindingKind::TimestampDamaged,
        3,
    ),
    (
        "a time stamp that is none",
        |message| message.unsigned = vec![(TIMESTAMP_TOKEN, vec![der(0x30, &[])])],
        SignerState::Invalid,
        FindingKind::TimestampDamaged,
        3,
    ),
];

const OF_TIME_STAMP: &[Row] = &[
    ("nothing", |_| {}, SignerState::Untrusted, FindingKind::TimestampUntrusted, 2),
    (
        "the signature's algorithm, to one that nobody knows",
        |stamp| stamp.scheme = "1.2.3.4",
        SignerState::Untrusted,
        FindingKind::TimestampUntrusted,
        2,
    ),
    (
        "the digest's algorithm, to one that nobody knows",
        |stamp| stamp.digest = "1.2.3.4",
        SignerState::Untrusted,
        FindingKind::TimestampUntrusted,
        2,
    ),
    (
        "no certificates",
        |stamp| stamp.certificates.clear(),
        SignerState::Untrusted,
        FindingKind::TimestampUntrusted,
        2,
    ),
    (
        "the signature's value",
        |stamp| stamp.value = Some(der(0x30, &[2, 1, 1, 2, 1, 1])),
        SignerState::Invalid,
        FindingKind::TimestampDamaged,
        3,
    ),
    (
        "a second signer",
        |stamp| stamp.signer_count = 2,
        SignerState::Invalid,
        FindingKind::TimestampDamaged,
        3,
    ),
];

#[test]
fn no_rewritten_field_of_the_message_is_accepted() {
    let (cast, build) = (Cast::new(), program(SIGNED));
    let mut tried = Vec::new();
    for (what, change, state, kind, status) in OF_SIGNER {
        let message = cast.message(&build, *change, |_| {});
        tried.push((format!("signer: {what}"), message, state, kind, status));
    }
    for (what, change, state, kind, status) in OF_TIME_STAMP {
        let message = cast.message(&build, |_| {}, *change);
        tried.push((format!("time stamp: {what}"), message, state, kind, status));
    }
    for (what, message, state, kind, status) in tried {
        let built = with_cms(&build, &message.build());
        for strict in [false, true] {
            let verification = verified(built.bytes.clone(), strict);
            let found = kinds(&verification);
            assert_eq!(verification.exit_status(), *status, "{what}: {found:?}");
            assert!(found.contains(kind), "{what}: {found:?}");
            let part = &verification.parts[0];
            assert_eq!(part.signer.as_ref().unwrap().state, *state, "{what}: {found:?}");
            // No policy is clear beside a signer who is not verified.
            let policy = part.policy.as_ref().unwrap().state;
            let expected = match status {
                2 => PolicyState::Unverifiable,
                _ => PolicyState::Refused,
            };
            assert_eq!(policy, expected, "{what}");
        }
    }
}

/// What is done to the place of the message, or to the directories it is over.
#[test]
fn a_message_that_is_not_there_is_only_accepted_if_all_directories_say_so() {
    let cast = Cast::new();
    let (signed, adhoc) = (0x1_0000, 0x1_0002);
    for (flags, state, status) in [
        ([signed, signed], SignerState::Missing, 3),
        ([adhoc, signed], SignerState::Missing, 3),
        ([signed, adhoc], SignerState::Missing, 3),
        ([adhoc, adhoc], SignerState::AdHoc, 0),
    ] {
        let build = program(flags);
        let verification = verified(with_cms(&build, &[]).bytes, true);
        let signer = verification.parts[0].signer.as_ref().unwrap().state;
        assert_eq!((signer, verification.exit_status()), (state, status), "{flags:?}");
        // With a message of the best, the flag is a contradiction.
        let message = cast.message(&build, |_| {}, |_| {}).build();
        let verification = verified(with_cms(&build, &message).bytes, true);
        let expected = if flags == [signed; 2] { 2 } else { 3 };
        assert_eq!(verification.exit_status(), expected, "{flags:?}");
    }
    let build = program(SIGNED);
    let message = cast.message(&build, |_| {}, |_| {}).build();
    let mut built = with_cms(&build, &message);
    let at = built.blob(0x1_0000).start;
    built.bytes[at + 3] ^= 1;
    assert_eq!(verified(built.bytes, false).exit_status(), 3, "the wrapper of the message");
    for wrong in [&message[..message.len() - 1], b"no message", &[0x30, 0x80]] {
        assert_eq!(verified(with_cms(&build, wrong).bytes, false).exit_status(), 3);
    }
    let trailing = [&message[..], b"more"].concat();
    let verification = verified(with_cms(&build, &trailing).bytes, false);
    let told =
        verification.all_findings().iter().any(|found| found.text.contains("4 bytes follow"));
    assert!(told, "{:#?}", verification.all_findings());
}

/// The same in a program of a known signer, of which each untouched field is Apple's or FLUTTER's.
#[test]
fn a_published_program_that_was_forged_is_not_accepted() {
    let Some(folder) = fixture("P3") else { return };
    let good = fs::read(folder.join("package/dart-sass/src/dart")).unwrap();
    assert_eq!(verified(good.clone(), true).exit_status(), 0);
    // RSA encryption, SHA-256: what the signer and the time stamp name, the last arc made unknown.
    let rsa = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0, 4];
    let sha256 = [0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0];
    let places = |pattern: &[u8]| {
        let windows = good.windows(pattern.len()).enumerate();
        windows.filter(|(_, window)| *window == pattern).map(|(at, _)| at).collect::<Vec<_>>()
    };
    let schemes = places(&rsa);
    assert!(!schemes.is_empty());
    for at in schemes {
        let mut forged = good.clone();
        forged[at + 10] = 0x7f;
        let verification = verified(forged, true);
        assert_ne!(verification.exit_status(), 0, "the scheme at {at}: {:?}", kinds(&verification));
    }
    // Some name what is nowhere asked: the hashes that a reader may prepare for.
    let cms = good.windows(4).rposition(|window| window == [0xfa, 0xde, 0x0b, 0x01]).unwrap();
    let refused = places(&sha256).into_iter().filter(|at| *at > cms).filter(|at| {
        let mut forged = good.clone();
        forged[at + 10] = 0x7f;
        verified(forged, true).exit_status() != 0
    });
    assert!(refused.count() >= 2);
    // Changed, sealed again and disowned, with the message left in and taken out.
    let seal = good.windows(4).rposition(|window| window == [0xfa, 0xde, 0x0c, 0x02]).unwrap();
    let mut forged = good.clone();
    forged[seal + 15] |= 2;
    assert_eq!(verified(forged.clone(), true).exit_status(), 3);
    forged[cms + 4..cms + 8].copy_from_slice(&[0, 0, 0, 8]);
    let verification = verified(forged, false);
    assert_eq!(verification.parts[0].signer.as_ref().unwrap().state, SignerState::AdHoc);
}

/// Hashes the first page anew, which the header is in.
fn seal_header(built: &mut crate::builder::Built) {
    let sealed = digest(2, &built.bytes[..4096]);
    let at = built.digests[0];
    built.bytes[at..at + 32].copy_from_slice(&sealed);
}

/// Where the header has the length of a segment or a section.
fn len_at(built: &crate::builder::Built, name: &[u8]) -> usize {
    built.bytes.windows(name.len()).position(|window| window == name).unwrap() + 16 + 24
}

#[test]
fn code_beyond_the_sealed_range_is_not_accepted() {
    for name in [&b"__TEXT"[..], b"__LINKEDIT"] {
        let mut built = Build::linker_signed(20_000).build();
        let end = built.bytes.len() as u64 + 5000;
        let at = len_at(&built, name);
        let start: [u8; 8] = built.bytes[at - 8..at].try_into().unwrap();
        let len = end - u64::from_le_bytes(start);
        built.bytes[at..at + 8].copy_from_slice(&len.to_le_bytes());
        built.bytes.extend([0xc3; 5000]);
        seal_header(&mut built);
        let verification = verified(built.bytes, false);
        assert_eq!(kinds(&verification), [FindingKind::CodeLimit], "{name:?}");
        assert_eq!(verification.exit_status(), 3);
    }
}

#[test]
fn forms_that_cannot_be_verified_are_not_accepted() {
    // A table of scattered pages with no line: the kernel finds no digest for any page.
    let mut built = Build::linker_signed(20_000).build();
    let directory = built.blob(0).start;
    built.bytes[directory + 44..directory + 48].copy_from_slice(&52_u32.to_be_bytes());
    let verification = verified(built.bytes, false);
    assert_eq!(kinds(&verification), [FindingKind::Scatter]);
    assert_eq!(verification.exit_status(), 2);

    // A slot that nothing is known of.
    let mut build = Build::linker_signed(20_000);
    build.directories[0].special_count = 12;
    build.outside = vec![(12, b"what".to_vec())];
    let verification = verified(build.build().bytes, false);
    assert_eq!(kinds(&verification), [FindingKind::Unsupported]);
    assert_eq!(verification.exit_status(), 2);

    // Entitlements that say two things, and those that say nothing that can be read.
    for (at, kind) in [(2, FindingKind::Disagreement), (1, FindingKind::Malformed)] {
        let mut build = Build::full(20_000);
        match at {
            2 => *build.blobs[2].1.last_mut().unwrap() = 0,
            _ => build.blobs[1].1 = blob(0xfade_7171, b"no property list"),
        }
        let verification = verified(build.build().bytes, false);
        assert_eq!(kinds(&verification), [kind]);
        assert_eq!(verification.exit_status(), 2);
    }

    // Requirements that are none, sealed as they are.
    let mut build = Build::full(20_000);
    build.blobs[0] = (2, blob(0xfade_0c01, &[0, 0, 0, 9]));
    let verification = verified(build.build().bytes, false);
    assert_eq!(kinds(&verification), [FindingKind::RequirementUnsupported]);
    assert_eq!(verification.exit_status(), 2);
    let policy = verification.parts[0].policy.as_ref().unwrap().state;
    assert_eq!(policy, PolicyState::Unverifiable);
}

#[test]
fn a_property_list_that_cannot_be_read_is_not_passed_over() {
    let mut build = Build::linker_signed(20_000);
    build.directories[0].special_count = 1;
    build.info_plist = Some(b"<plist>1</plist>".to_vec());
    let mut built = build.build();
    assert_eq!(verified(built.bytes.clone(), true).exit_status(), 0);
    let at = len_at(&built, b"__info_plist");
    built.bytes[at..at + 8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    seal_header(&mut built);
    let verification = verified(built.bytes, false);
    assert_eq!(kinds(&verification), [FindingKind::Unreadable]);
    assert_eq!(verification.exit_status(), 2);
}
