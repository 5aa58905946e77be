//! The verdict on the signer: what was tampered with, how, and what is then found.

use std::fs;

use steadfast_codesign::{
    AppleRoot, Binary, Binding, Certificate, FindingKind, PolicyOptions, PolicyState,
    PolicyVerdict, Severity, Signature, SignerKind, SignerState, SignerVerdict, TimestampState,
};

use crate::builder::{Build, blob, superblob};
use crate::fixtures::fixture;
use crate::signing::{
    AGILITY_LIST, AGILITY_SET, CODE_SIGNING, CONTENT_TYPE, DATA, MESSAGE_DIGEST, Message, Paper,
    Person, TIME_STAMPING, TIMESTAMP_INFO, TIMESTAMP_TOKEN, der, oid, sequence,
};

/// A root, the authority below it and whom that vouches for.
struct Cast {
    root: Person,
    authority: Person,
    signer: Person,
}

fn cast() -> Cast {
    let root = Paper::authority("Root", None).person();
    let authority = Paper::authority("Authority", Some(&root)).person();
    let signer = Paper::signer("Signer", &authority, CODE_SIGNING).person();
    Cast { root, authority, signer }
}

impl Cast {
    fn certificates(&self) -> Vec<Vec<u8>> {
        [&self.signer, &self.root, &self.authority].map(|person| person.certificate.clone()).into()
    }

    /// A message over directories, with every certificate.
    fn message(&self, directories: &[(u8, Vec<u8>)]) -> Message {
        let mut message = Message::over(directories, &self.signer);
        message.certificates = self.certificates();
        message
    }
}

/// Two directories, of SHA-1 and SHA-256, with their flags: their hash types and bytes.
fn directories(flags: u32) -> Vec<(u8, Vec<u8>)> {
    let mut build = Build::full(20_000);
    for directory in &mut build.directories {
        directory.flags = flags;
    }
    let built = build.build();
    [(1, 0), (2, 0x1000)].map(|(hash, slot)| (hash, built.bytes[built.blob(slot)].to_vec())).into()
}

/// Puts directories and a message into a container.
fn signature(directories: &[(u8, Vec<u8>)], cms: &[u8]) -> Signature {
    let mut blobs: Vec<(u32, Vec<u8>)> = Vec::new();
    for (index, (_, bytes)) in directories.iter().enumerate() {
        let slot = if index == 0 { 0 } else { 0xfff + index as u32 };
        blobs.push((slot, bytes.clone()));
    }
    blobs.push((0x1_0000, blob(0xfade_0b01, cms)));
    let bytes = superblob(&blobs).0;
    Signature::read(&bytes, 0, bytes.len() as u64).unwrap()
}

fn judge(directories: &[(u8, Vec<u8>)], cms: &[u8]) -> SignerVerdict {
    SignerVerdict::of(&signature(directories, cms))
}

/// The kinds of findings that are more than worth knowing, each once.
fn kinds(verdict: &SignerVerdict) -> Vec<FindingKind> {
    let grave = verdict.findings.iter().filter(|finding| finding.severity > Severity::Note);
    let mut kinds: Vec<FindingKind> = grave.map(|finding| finding.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

#[test]
fn a_good_signature_by_somebody_else_is_good_and_not_apples() {
    let (cast, directories) = (cast(), directories(0x1_0000));
    for indefinite in [true, false] {
        for attached in [true, false] {
            let mut message = cast.message(&directories);
            (message.indefinite, message.attached) = (indefinite, attached);
            let verdict = judge(&directories, &message.build());
            assert_eq!(verdict.state, SignerState::Untrusted, "{:?}", verdict.findings);
            assert_eq!(kinds(&verdict), [FindingKind::SignerRoot]);
            let bindings = verdict.bindings;
            assert_eq!([bindings.message_digest, bindings.list, bindings.set], [Binding::Same; 3]);
            let names: Vec<String> =
                verdict.chain.iter().map(|one| one.subject().to_string()).collect();
            assert_eq!(names, ["Signer", "Authority", "Root"]);
            assert_eq!(verdict.leaf().unwrap().subject().organisational_unit(), Some("TEAM123456"));
            assert_eq!(verdict.signed_at, Some(1_789_467_072));
            assert_eq!((verdict.kind, verdict.root), (None, None));
        }
    }
}

#[test]
fn what_is_signed_may_not_differ_from_what_is_there() {
    use FindingKind::{SignerDigest, SignerDirectories, SignerRoot};
    let cast = cast();
    let signed = directories(0x1_0000);
    let cms = cast.message(&signed).build();
    let last = |bytes: &[u8]| bytes.len() - 1;

    // The digest of the last page, in the directory that is signed and in the other one.
    let mut first = signed.clone();
    let at = last(&first[0].1);
    first[0].1[at] ^= 1;
    let verdict = judge(&first, &cms);
    assert_eq!(kinds(&verdict), [SignerDigest, SignerDirectories, SignerRoot]);
    assert_eq!(verdict.state, SignerState::Invalid);
    assert_eq!(verdict.bindings.message_digest, Binding::Differs);

    let mut second = signed.clone();
    let at = last(&second[1].1);
    second[1].1[at] ^= 1;
    let verdict = judge(&second, &cms);
    assert_eq!(kinds(&verdict), [SignerDirectories, SignerRoot]);
    assert_eq!(verdict.state, SignerState::Invalid);
    assert_eq!(verdict.bindings.message_digest, Binding::Same);

    // The better directory taken out, so that only SHA-1 is left.
    let verdict = judge(&signed[..1], &cms);
    assert_eq!(kinds(&verdict), [SignerDirectories, SignerRoot]);
    assert_eq!(verdict.state, SignerState::Invalid);

    // Another one put in.
    let verdict = judge(&signed, &cast.message(&signed[..1]).build());
    assert_eq!(kinds(&verdict), [SignerDirectories, SignerRoot]);
}

#[test]
fn each_tie_is_enough_and_none_is_told() {
    let (cast, signed) = (cast(), directories(0x1_0000));
    let mut other = signed.clone();
    let at = other[1].1.len() - 1;
    other[1].1[at] ^= 1;
    for (dropped, list, set) in [
        (AGILITY_LIST, Binding::Absent, Binding::Same),
        (AGILITY_SET, Binding::Same, Binding::Absent),
    ] {
        let mut message = cast.message(&signed);
        message.drop_signed(dropped);
        let verdict = judge(&signed, &message.build());
        assert_eq!(verdict.state, SignerState::Untrusted);
        assert_eq!((verdict.bindings.list, verdict.bindings.set), (list, set));
        assert_eq!(judge(&other, &message.build()).state, SignerState::Invalid);
    }
    // As old signers did it: Apple's check accepts any alternate directory then.
    let mut message = cast.message(&signed);
    message.drop_signed(AGILITY_LIST);
    message.drop_signed(AGILITY_SET);
    let verdict = judge(&other, &message.build());
    assert_eq!(kinds(&verdict), [FindingKind::SignerDirectories, FindingKind::SignerRoot]);
    assert_eq!(verdict.state, SignerState::Untrusted);

    // And without any attributes the signature is over the directory itself.
    message.signed.clear();
    assert_eq!(judge(&signed[..1], &message.build()).state, SignerState::Untrusted);
    let mut changed = signed[..1].to_vec();
    let at = changed[0].1.len() - 1;
    changed[0].1[at] ^= 1;
    let verdict = judge(&changed, &message.build());
    assert_eq!(kinds(&verdict), [FindingKind::SignerSignature, FindingKind::SignerRoot]);
}

/// What a message is made to be.
type Change = fn(&mut Message);

#[test]
fn every_attribute_that_is_wrong_is_found() {
    use FindingKind::{SignerDigest, SignerDirectories, SignerMalformed, SignerSignature};
    let changes: &[(&str, Change, FindingKind)] = &[
        (
            "another digest",
            |message| message.set(MESSAGE_DIGEST, vec![der(4, &[7; 32])]),
            SignerDigest,
        ),
        ("no digest", |message| message.drop_signed(MESSAGE_DIGEST), SignerDigest),
        (
            "two digests",
            |message| {
                let same = message.signed.iter().find(|(kind, _)| *kind == MESSAGE_DIGEST).cloned();
                message.signed.extend(same);
            },
            SignerDigest,
        ),
        (
            "another kind of content",
            |message| message.set(CONTENT_TYPE, vec![oid(TIMESTAMP_INFO)]),
            SignerMalformed,
        ),
        ("no kind of content", |message| message.drop_signed(CONTENT_TYPE), SignerMalformed),
        (
            "a list that is none",
            |message| message.set(AGILITY_LIST, vec![der(4, b"<plist><dict/></plist>")]),
            SignerDirectories,
        ),
        (
            "two lists",
            |message| {
                let mut list = message.signed[3].1.clone();
                list.push(list[0].clone());
                message.set(AGILITY_LIST, list);
            },
            SignerDirectories,
        ),
        ("an empty set", |message| message.set(AGILITY_SET, vec![]), SignerDirectories),
        (
            "a set with a stranger in it",
            |message| {
                let mut set = message.signed[4].1.clone();
                set.push(sequence(&[oid("1.2.3.4"), der(4, &[0; 32])]));
                message.set(AGILITY_SET, set);
            },
            SignerDirectories,
        ),
        ("another algorithm", |message| message.scheme = "1.2.840.10045.4.3.3", SignerSignature),
    ];
    let (cast, signed) = (cast(), directories(0x1_0000));
    for (what, change, expected) in changes {
        let mut message = cast.message(&signed);
        change(&mut message);
        let verdict = judge(&signed, &message.build());
        assert_eq!(verdict.state, SignerState::Invalid, "{what}");
        assert!(kinds(&verdict).contains(expected), "{what}: {:?}", verdict.findings);
    }
    let mut message = cast.message(&signed);
    message.scheme = "1.2.3.4";
    let verdict = judge(&signed, &message.build());
    assert_eq!(verdict.state, SignerState::Unverifiable);
    assert!(kinds(&verdict).contains(&SignerSignature));
}

#[test]
fn chains_are_followed_and_faults_in_them_told() {
    let cast = cast();
    let other = Paper::authority("Other", None).person();
    let server = "1.3.6.1.5.5.7.3.1";
    let with = |kind, critical| {
        let mut paper = Paper::signer("Signer", &cast.authority, CODE_SIGNING);
        paper.extensions.push((kind, critical, der(5, &[])));
        paper.person()
    };
    let forged = Paper {
        claimed_issuer: Some(&cast.authority),
        ..Paper::signer("Signer", &other, CODE_SIGNING)
    };
    let no_sign = Paper {
        extensions: vec![
            ("2.5.29.15", true, der(3, &[5, 0x20])),
            ("2.5.29.37", true, sequence(&[oid(CODE_SIGNING)])),
        ],
        ..Paper::signer("Signer", &cast.authority, CODE_SIGNING)
    };
    // Authorities that lack one thing each, and whom they vouch for.
    let lacking = |name, extensions| {
        let paper = Paper { extensions, ..Paper::authority(name, Some(&cast.root)) };
        let authority = paper.person();
        (Paper::signer("Signer", &authority, CODE_SIGNING).person(), authority)
    };
    let (usage, basic) = (der(3, &[1, 0x06]), sequence(&[der(1, &[0xff])]));
    let no_depth = sequence(&[der(1, &[0xff]), der(2, &[0])]);
    let (of_no_authority, no_authority) = lacking("A", vec![("2.5.29.15", true, usage)]);
    let (of_other_use, other_use) =
        lacking("B", vec![("2.5.29.19", true, basic), ("2.5.29.15", true, der(3, &[7, 0x80]))]);
    let for_servers = sequence(&[oid(server)]);
    let (of_servers, servers) = lacking(
        "E",
        vec![
            ("2.5.29.19", true, sequence(&[der(1, &[0xff])])),
            ("2.5.29.15", true, der(3, &[1, 0x06])),
            ("2.5.29.37", false, for_servers.clone()),
        ],
    );
    let (_, last) = lacking("C", vec![("2.5.29.19", true, no_depth)]);
    let too_far = Paper::authority("D", Some(&last)).person();
    let of_too_far = Paper::signer("Signer", &too_far, CODE_SIGNING).person();
    let below_signer = Paper::signer("Below", &cast.signer, CODE_SIGNING).person();
    let rows: Vec<(&str, Person, SignerState, &[FindingKind])> = vec![
        (
            "meant for servers",
            Paper::signer("Signer", &cast.authority, server).person(),
            SignerState::Invalid,
            &[FindingKind::SignerChain, FindingKind::SignerRoot],
        ),
        ("issued by another", forged.person(), SignerState::Invalid, &[FindingKind::SignerChain]),
        (
            "not meant to sign",
            no_sign.person(),
            SignerState::Invalid,
            &[FindingKind::SignerChain, FindingKind::SignerRoot],
        ),
        (
            "a critical extension nobody knows",
            with("1.2.3.4", true),
            SignerState::Invalid,
            &[FindingKind::SignerChain, FindingKind::SignerRoot],
        ),
        (
            "a critical extension of Apple's",
            with("1.2.840.113635.100.6.1.13", true),
            SignerState::Untrusted,
            &[FindingKind::SignerRoot],
        ),
        (
            "an extension nobody must know",
            with("1.2.3.4", false),
            SignerState::Untrusted,
            &[FindingKind::SignerRoot],
        ),
        (
            "issued by one who may not",
            below_signer,
            SignerState::Invalid,
            &[FindingKind::SignerChain, FindingKind::SignerRoot],
        ),
        (
            "issued by no authority",
            of_no_authority,
            SignerState::Invalid,
            &[FindingKind::SignerChain, FindingKind::SignerRoot],
        ),
        (
            "issued by a key with another use",
            of_other_use,
            SignerState::Invalid,
            &[FindingKind::SignerChain, FindingKind::SignerRoot],
        ),
        (
            "issued by an authority of servers",
            of_servers,
            SignerState::Invalid,
            &[FindingKind::SignerChain, FindingKind::SignerRoot],
        ),
        (
            "issued too far below",
            of_too_far,
            SignerState::Invalid,
            &[FindingKind::SignerChain, FindingKind::SignerRoot],
        ),
        (
            "issued by one who is not there",
            Paper::signer("Signer", &other, CODE_SIGNING).person(),
            SignerState::Untrusted,
            &[FindingKind::SignerChain],
        ),
    ];
    let signed = directories(0x1_0000);
    for (what, person, state, expected) in rows {
        let mut message = Message::over(&signed, &person);
        message.certificates.extend(cast.certificates());
        let others = [&no_authority, &other_use, &servers, &last, &too_far];
        message.certificates.extend(others.map(|person| person.certificate.clone()));
        let verdict = judge(&signed, &message.build());
        assert_eq!(verdict.state, state, "{what}: {:?}", verdict.findings);
        assert_eq!(kinds(&verdict), expected, "{what}");
        assert!(verdict.kind.is_none(), "only Apple's certificates say what they are for");
    }
    let mut message = cast.message(&signed);
    message.certificates.remove(0);
    let verdict = judge(&signed, &message.build());
    assert_eq!(verdict.state, SignerState::Unverifiable);
    assert_eq!(kinds(&verdict), [FindingKind::SignerChain]);
}

/// Trust in an authority of servers is no trust in it for code.
#[test]
fn a_trusted_authority_of_servers_issues_no_signers_of_code() {
    let mut paper = Paper::authority("Servers", None);
    paper.extensions.push(("2.5.29.37", false, sequence(&[oid("1.3.6.1.5.5.7.3.1")])));
    let servers = paper.person();
    let signed = directories(0x1_0000);
    let message = Message::over(&signed, &Paper::signer("S", &servers, CODE_SIGNING).person());
    let trusted = Certificate::all_of(&servers.certificate).unwrap();
    let verdict = SignerVerdict::trusting(&signature(&signed, &message.build()), &trusted);
    assert_eq!(verdict.state, SignerState::Invalid, "{:?}", verdict.findings);
}

#[test]
fn time_stamps_are_of_this_signature_or_wrong() {
    let (cast, signed) = (cast(), directories(0x1_0000));
    let clock = Paper::signer("Clock", &cast.authority, TIME_STAMPING).person();
    let message = cast.message(&signed);
    let stamp = |change: Change| {
        let mut token = Message::timestamp(&message.signature(), "20260915101113Z", &clock);
        token.certificates.extend(cast.certificates());
        change(&mut token);
        let mut message = message.clone();
        message.unsigned = vec![(TIMESTAMP_TOKEN, vec![token.build()])];
        judge(&signed, &message.build())
    };
    let verdict = stamp(|_| {});
    assert_eq!(verdict.state, SignerState::Untrusted, "{:?}", verdict.findings);
    let good = verdict.timestamp.as_ref().unwrap();
    assert_eq!((good.state, good.time), (TimestampState::Untrusted, Some(1_789_467_073)));
    assert_eq!(verdict.proved_time(), None, "nobody known here says so");
    assert_eq!(good.chain.len(), 3);

    let changes: &[Change] = &[
        |token| *token = Message::timestamp(b"another", "20260915101113Z", &token.signer),
        |token| *token = Message::timestamp(&token.signature(), "x", &token.signer),
        |token| token.set(MESSAGE_DIGEST, vec![der(4, &[7; 32])]),
        |token| token.set(CONTENT_TYPE, vec![oid(DATA)]),
        |token| token.content_type = DATA,
        |token| token.attached = false,
        |token| token.scheme = "1.2.840.10045.4.3.3",
        |token| {
            let at = token.content.len() - 5;
            token.content[at] ^= 1;
        },
    ];
    for (index, change) in changes.iter().enumerate() {
        let verdict = stamp(*change);
        assert_eq!(verdict.state, SignerState::Invalid, "change {index}");
        assert!(kinds(&verdict).contains(&FindingKind::TimestampDamaged), "change {index}");
        assert_eq!(verdict.timestamp.unwrap().state, TimestampState::Invalid, "change {index}");
    }
    let verdict = stamp(|token| token.certificates.clear());
    assert_eq!(verdict.timestamp.unwrap().state, TimestampState::Unverifiable);
    // One whose certificate had ended, and one who may only sign code.
    let late =
        Paper { to: "260101000000Z", ..Paper::signer("Late", &cast.authority, TIME_STAMPING) };
    for person in [late.person(), cast.signer.clone()] {
        let mut token = Message::timestamp(&message.signature(), "20260915101113Z", &person);
        token.certificates.extend(cast.certificates());
        let mut message = message.clone();
        message.unsigned = vec![(TIMESTAMP_TOKEN, vec![token.build()])];
        assert_eq!(judge(&signed, &message.build()).state, SignerState::Invalid);
    }
}

#[test]
fn nobody_signed_is_said_or_is_a_fault() {
    let verdict = judge(&directories(0x1_0002), &[]);
    assert_eq!(verdict.state, SignerState::AdHoc);
    assert!(kinds(&verdict).is_empty());
    let verdict = judge(&directories(0x1_0000), &[]);
    assert_eq!(verdict.state, SignerState::Missing);
    assert_eq!(kinds(&verdict), [FindingKind::SignerMissing]);
    // Apple's check accepts any signature beside the flag.
    let verdict = judge(&directories(0x1_0002), b"no message");
    assert_eq!(verdict.state, SignerState::Invalid);
    assert_eq!(kinds(&verdict), [FindingKind::SignerMalformed]);
    for wrong in [&b"no message"[..], &[0x30, 0x80], &[0; 40]] {
        let verdict = judge(&directories(0x1_0000), wrong);
        assert_eq!(verdict.state, SignerState::Invalid);
        assert_eq!(kinds(&verdict), [FindingKind::SignerMalformed]);
    }
}

#[test]
fn what_has_expired_is_a_matter_of_policy() {
    let policy = |flags: u32, to: &str, now: Option<i64>| {
        let cast = cast();
        let paper = Paper { to, ..Paper::signer("Signer", &cast.authority, CODE_SIGNING) };
        let signed = directories(flags);
        let mut message = Message::over(&signed, &paper.person());
        message.certificates.extend(cast.certificates());
        let signature = signature(&signed, &message.build());
        let signer = SignerVerdict::of(&signature);
        assert_eq!(signer.state, SignerState::Untrusted, "dates are no matter of the signer");
        let options = PolicyOptions { now, ..PolicyOptions::default() };
        let verdict = PolicyVerdict::of(&signature, &signer, &options);
        let is_expiry = |kind| kind == FindingKind::CertificateExpired;
        let count = verdict.findings.iter().filter(|finding| is_expiry(finding.kind)).count();
        let worst = verdict.findings.iter().map(|finding| finding.severity).max();
        (worst, count, verdict.state)
    };
    use PolicyState::{Refused, Unverifiable};
    let (unverified, failure) = (Some(Severity::Unverified), Some(Severity::Failure));
    // Signed on 2026-09-15; now is in 2028.
    let now = Some(1_830_000_000);
    // The policy is never better than the signer, who is unknown here.
    assert_eq!(policy(0x1_0000, "400101000000Z", now), (None, 0, Unverifiable));
    assert_eq!(policy(0x1_0000, "270101000000Z", now), (unverified, 1, Unverifiable));
    assert_eq!(policy(0x1_0400, "270101000000Z", now), (failure, 1, Refused));
    assert_eq!(policy(0x1_0000, "270101000000Z", None), (None, 0, Unverifiable));
    assert_eq!(policy(0x1_0000, "260101000000Z", now), (unverified, 2, Unverifiable));
    assert_eq!(policy(0x1_0000, "260101000000Z", None), (unverified, 1, Unverifiable));
}

#[test]
fn a_message_that_is_cut_or_altered_ends_in_words() {
    let (cast, signed) = (cast(), directories(0x1_0000));
    let cms = cast.message(&signed).build();
    for length in (0..cms.len()).step_by(5) {
        let verdict = judge(&signed, &cms[..length]);
        let expected = if length == 0 { SignerState::Missing } else { SignerState::Invalid };
        assert_eq!(verdict.state, expected, "length {length}");
    }
    // A bit of a certificate, of an attribute, of the signature: nothing may pass for Apple's.
    for at in (0..cms.len()).step_by(3) {
        let mut altered = cms.clone();
        altered[at] ^= 1 << (at % 8);
        assert_ne!(judge(&signed, &altered).state, SignerState::Valid, "byte {at}");
    }
}

/// The CMS of the only slice of a file, as bytes of it.
fn cms_range(binary: &Binary) -> std::ops::Range<usize> {
    let signature = binary.slices[0].signature.as_ref().unwrap();
    let entries = signature.superblob.entries();
    let entry = entries.iter().find(|entry| entry.slot.0 == 0x1_0000).unwrap();
    let start = signature.offset as usize + entry.range.start + 8;
    start..signature.offset as usize + entry.range.end
}

#[test]
fn a_published_signature_is_apples_and_any_change_shows() {
    let Some(folder) = fixture("P3") else { return };
    let bytes = fs::read(folder.join("package/dart-sass/src/dart")).unwrap();
    let read = |bytes: &Vec<u8>| {
        let binary = Binary::read(bytes).unwrap();
        SignerVerdict::of(binary.slices[0].signature.as_ref().unwrap())
    };
    let good = read(&bytes);
    assert_eq!(good.state, SignerState::Valid, "{:?}", good.findings);
    assert_eq!((good.kind, good.root), (Some(SignerKind::DeveloperId), Some(AppleRoot::G1)));
    assert!(kinds(&good).is_empty());
    // Taken from the token with other tools: 2026-09-15 08:20:19.
    assert_eq!(good.proved_time(), Some(1_789_460_419));
    let leaf = good.leaf().unwrap();
    let name = "Developer ID Application: FLUTTER.IO LLC (S8QB4VV633)";
    assert_eq!(leaf.subject().common_name(), Some(name));

    // One page and its digest made to fit, which a signature exists to prevent.
    let binary = Binary::read(&bytes).unwrap();
    let directory = binary.slices[0].signature.as_ref().unwrap().base_directory();
    let mut forged = bytes.clone();
    let digest = directory.page_digest(100).unwrap().to_vec();
    let at = bytes.windows(32).position(|window| window == digest).unwrap();
    forged[at] ^= 1;
    let verdict = read(&forged);
    assert_eq!(verdict.state, SignerState::Invalid);
    assert_eq!(kinds(&verdict), [FindingKind::SignerDigest, FindingKind::SignerDirectories]);

    // The team taken for another, which no one but the signature would notice.
    let mut renamed = bytes.clone();
    let team = directory.bytes().windows(10).position(|window| window == b"S8QB4VV633").unwrap();
    let start = bytes.windows(100).position(|window| window == &directory.bytes()[..100]).unwrap();
    renamed[start + team] = b'T';
    assert!(kinds(&read(&renamed)).contains(&FindingKind::SignerTeam));

    // The flag that says that nobody signed, in the lowest byte of the flags.
    let mut disowned = bytes.clone();
    disowned[start + 15] |= 2;
    let verdict = read(&disowned);
    assert_eq!(verdict.state, SignerState::Invalid);
    assert!(kinds(&verdict).starts_with(&[FindingKind::AdHoc]), "{:?}", verdict.findings);

    // Anywhere in the message: either it shows, or who signed and when is as before. The copies of
    // the root that came along decide nothing, and some fields say only what others say, too.
    let range = cms_range(&binary);
    let root = AppleRoot::G1.certificate().der();
    let copies: Vec<usize> = range.clone().filter(|at| bytes[*at..].starts_with(root)).collect();
    assert_eq!(copies.len(), 2, "one beside the signature, one in the time stamp");
    let in_root = |at: usize| copies.iter().any(|copy| (*copy..copy + root.len()).contains(&at));
    let (mut tried, mut silent) = (0, Vec::new());
    let mut altered = bytes.clone();
    for at in range.clone().step_by(17) {
        altered[at] ^= 0x10;
        let verdict = read(&altered);
        altered[at] ^= 0x10;
        tried += 1;
        if verdict.state == SignerState::Valid && kinds(&verdict).is_empty() {
            assert_eq!(verdict.leaf(), good.leaf(), "byte {at}");
            assert_eq!(verdict.signed_at, good.signed_at, "byte {at}");
            silent.extend((!in_root(at)).then_some(at - range.start));
        }
    }
    assert!(silent.len() * 100 < tried, "{silent:?} of {tried} changes do not show");
}
