//! Conditions on code: each is met, not met for a reason, or unknown; and tickets of notarization.

use std::fs;

use steadfast_codesign::bundle::FolderTree;
use steadfast_codesign::{
    CdHash, Certificate, Code, CodeOutcome, CodeVerification, Condition, FindingKind, Requirement,
    Severity, SignerAnchor, SignerState, Ticket, TimestampState, VerifyOptions,
};

use crate::app::{App, signed};
use crate::builder::{CPU_ARM64, CPU_X86_64, ENTITLEMENTS, blob, fat};
use crate::fixtures::fixture;
use crate::sample;
use crate::signing::{Paper, base64};
use crate::unsealed::find_app;

/// 2026-09-16, when the certificates of the sample are valid.
const NOW: i64 = 1_789_550_000;

fn verified(bytes: Vec<u8>, conditions: &[Condition], trusted: &[Certificate]) -> CodeVerification {
    let options = VerifyOptions {
        conditions: conditions.to_vec(),
        trusted: trusted.to_vec(),
        now: Some(NOW),
        ..VerifyOptions::default()
    };
    Code::file(Box::new(bytes)).unwrap().verify(&options).unwrap()
}

/// The texts and severities about conditions.
fn unmet(verification: &CodeVerification) -> Vec<(Severity, String)> {
    let findings = verification.all_findings().into_iter();
    let findings = findings.filter(|finding| finding.kind == FindingKind::Condition);
    findings.map(|finding| (finding.severity, finding.text)).collect()
}

fn requirement(text: &str) -> Condition {
    Condition::Requirement(Requirement::parse(text).unwrap())
}

/// The root that the sample's signer leads to.
fn root() -> Vec<Certificate> {
    Certificate::all_of(&Paper::authority("Root", None).person().certificate).unwrap()
}

#[test]
fn nobody_who_signed_meets_no_condition_on_a_signer() {
    let code = || signed(9000, "demo");
    for condition in [
        Condition::Signed,
        Condition::Team("TEAM123456".to_owned()),
        Condition::SignerAnchor(SignerAnchor::Apple),
        Condition::SignerAnchor(SignerAnchor::DeveloperId),
        Condition::SignerAnchor(SignerAnchor::AppStore),
    ] {
        let verification = verified(code(), std::slice::from_ref(&condition), &root());
        let [(severity, text)] = &unmet(&verification)[..] else { panic!("{condition:?}") };
        assert_eq!(*severity, Severity::Failure);
        assert!(text.ends_with(": nobody signed it"), "{text}");
        assert_eq!(verification.outcome(), CodeOutcome::Unmet);
        assert_eq!(verification.exit_status(), 3);
    }
    let verification = verified(code(), &[Condition::Notarized], &[]);
    assert!(unmet(&verification)[0].1.contains("no ticket is stapled"));
    assert_eq!(verification.exit_status(), 3);
}

#[test]
fn conditions_on_the_code_are_met_by_that_code_alone() {
    let code = signed(9000, "demo");
    let own = verified(code.clone(), &[], &[]).parts[0].cdhash.unwrap();
    let other = CdHash::from_slice(&[7; 20]).unwrap();
    for (condition, is_met) in [
        (Condition::Identifier("demo".to_owned()), true),
        (Condition::Identifier("Demo".to_owned()), false),
        (Condition::CdHash(vec![other, own]), true),
        (Condition::CdHash(vec![other]), false),
        (requirement("identifier \"demo\""), true),
        (requirement("identifier \"demo\" and anchor apple generic"), false),
    ] {
        let verification = verified(code.clone(), std::slice::from_ref(&condition), &[]);
        assert_eq!(unmet(&verification).is_empty(), is_met, "{condition:?}");
        assert_eq!(verification.exit_status(), if is_met { 0 } else { 3 }, "{condition:?}");
    }
    // What only a Mac knows is neither met nor not.
    let verification = verified(code.clone(), &[requirement("anchor apple")], &[]);
    assert_eq!(unmet(&verification)[0].0, Severity::Unverified);
    assert_eq!(verification.exit_status(), 2);
    // Each slice must meet the condition.
    let mut second = signed(12_000, "demo");
    second[4..8].copy_from_slice(&CPU_X86_64.to_le_bytes());
    let both = fat(&[(CPU_ARM64, &code), (CPU_X86_64, &second)], false).0;
    let verification = verified(both, &[Condition::CdHash(vec![own])], &[]);
    assert_eq!(unmet(&verification).len(), 1);
}

#[test]
fn a_trusted_root_makes_its_signers_valid_and_none_of_apples_kinds() {
    let tool = sample::tool().bytes;
    let team = |team: &str| Condition::Team(team.to_owned());
    let verification = verified(tool.clone(), &[Condition::Signed], &[]);
    assert!(unmet(&verification)[0].1.contains("no trusted root"), "{:?}", unmet(&verification));
    assert_eq!(verification.exit_status(), 3);

    let verification = verified(tool.clone(), &[Condition::Signed, team("TEAM123456")], &root());
    assert_eq!(verification.exit_status(), 0, "{:?}", verification.all_findings());
    let signer = verification.parts[0].signer.as_ref().unwrap();
    assert_eq!((signer.state, signer.kind), (SignerState::Valid, None));
    assert_eq!(signer.timestamp.as_ref().unwrap().state, TimestampState::Valid);
    for condition in [
        team("OTHER12345"),
        Condition::SignerAnchor(SignerAnchor::Apple),
        Condition::SignerAnchor(SignerAnchor::DeveloperId),
        requirement("anchor apple generic"),
    ] {
        let verification = verified(tool.clone(), std::slice::from_ref(&condition), &root());
        assert_eq!(verification.exit_status(), 3, "{condition:?}");
    }
    // Another root of the same name is another root.
    let mut other = Paper::authority("Root", None);
    other.unit = "OTHER12345";
    let other = Certificate::all_of(&other.person().certificate).unwrap();
    assert_eq!(verified(tool.clone(), &[Condition::Signed], &other).exit_status(), 3);
    // Damage stays damage.
    let mut damaged = tool;
    damaged[5000] ^= 1;
    assert_eq!(verified(damaged, &[Condition::Signed], &root()).outcome(), CodeOutcome::Damaged);
}

#[test]
fn certificates_are_read_from_files_of_either_form() {
    let der = Paper::authority("Root", None).person().certificate;
    let pem = |der: &[u8]| {
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", base64(der))
    };
    let two = format!("a comment\n{0}{0}", pem(&der));
    assert_eq!(Certificate::all_of(&der).unwrap().len(), 1);
    assert_eq!(Certificate::all_of(two.as_bytes()).unwrap().len(), 2);
    for wrong in ["", "text", &pem(b"text"), "-----BEGIN CERTIFICATE-----\n!!\n-----END"] {
        assert!(Certificate::all_of(wrong.as_bytes()).is_err(), "{wrong}");
    }
}

#[test]
fn bytes_after_the_entitlements_are_a_warning() {
    for (after, expected) in [("", 0), ("\n", 0), ("more", 1), ("\0", 1), ("<plist/>", 1)] {
        let mut build = crate::builder::Build::full(9_000);
        build.blobs[1].1 = blob(0xfade_7171, format!("{ENTITLEMENTS}{after}").as_bytes());
        let verification = verified(build.build().bytes, &[], &[]);
        let findings = verification.all_findings().into_iter();
        let told = findings.filter(|finding| finding.text.contains("end of the entitlements"));
        let severities: Vec<_> = told.map(|finding| finding.severity).collect();
        assert_eq!(severities, vec![Severity::Warning; expected], "{after:?}");
        assert_eq!(verification.exit_status(), 0, "{after:?}");
    }
}

#[test]
fn a_ticket_counts_for_the_code_it_lists_and_if_every_byte_is_as_apple_signed_it() {
    let Some(folder) = fixture("P5") else { return };
    let app = find_app(&folder);
    let bytes = fs::read(app.join("Contents/CodeResources")).unwrap();
    let ticket = Ticket::read(&bytes).unwrap();
    assert_eq!((ticket.cdhashes.len(), ticket.chain.len()), (4, 3));
    let verify = |root: &std::path::Path, now| {
        let tree = FolderTree::open(root).unwrap();
        let code = Code::bundle(&tree, b"Demo.app").unwrap();
        let conditions = vec![Condition::Notarized];
        let options = VerifyOptions { conditions, now, ..VerifyOptions::default() };
        code.verify(&options).unwrap()
    };
    let verification = verify(&app, None);
    assert_eq!((verification.is_notarized(), verification.exit_status()), (Some(true), 0));
    // By other code it is not wrong, and proves nothing.
    let other = App::new();
    other.write("Contents/CodeResources", &bytes);
    let verification = verify(other.root(), None);
    assert_eq!(verification.is_notarized(), Some(false));
    assert_eq!(unmet(&verification).len(), 1);
    assert_eq!(verification.outcome(), CodeOutcome::Unmet);
    for at in (0..bytes.len()).step_by(41).chain(1536..1664) {
        let mut altered = bytes.clone();
        altered[at] ^= 1;
        assert!(Ticket::read(&altered).is_err(), "byte {at}");
        assert!(Ticket::read(&bytes[..at]).is_err(), "cut at {at}");
    }
}
