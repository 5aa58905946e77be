//! A small tool with everything a signature can hold, frozen for the tests of others.

use std::env;
use std::fs;
use std::path::Path;

use steadfast_codesign::{
    BytesState, Code, PolicyState, SignerState, TimestampState, VerifyOptions,
};

use crate::builder::{Build, Built, blob};
use crate::signing::{CODE_SIGNING, Message, Paper, TIME_STAMPING, TIMESTAMP_TOKEN};

/// Room for the CMS signature, whose length is not known before it is made.
const CMS_ROOM: usize = 6000;

/// A tool signed by somebody whom Apple does not know, at a time that somebody else stamped.
pub(crate) fn tool() -> Built {
    let root = Paper::authority("Root", None).person();
    let authority = Paper::authority("Authority", Some(&root)).person();
    let signer = Paper::signer("Developer ID Application: Example", &authority, CODE_SIGNING);
    let signer = signer.person();
    let stamper = Paper::signer("Clock", &root, TIME_STAMPING).person();

    let mut build = Build::full(20_000);
    for directory in &mut build.directories {
        directory.flags = 0x1_0000;
    }
    build.blobs[0] = (2, requirements());
    let directories = directories_of(&build);
    let mut message = Message::over(&directories, &signer);
    message.certificates = [&signer, &root, &authority].map(|one| one.certificate.clone()).into();
    let mut stamp = Message::timestamp(&message.signature(), "20260915101113Z", &stamper);
    stamp.certificates.push(root.certificate);
    message.unsigned = vec![(TIMESTAMP_TOKEN, vec![stamp.build()])];
    with_cms(&build, &message.build())
}

/// Makes a build whose last blob is the CMS signature with a message in it.
pub(crate) fn with_cms(build: &Build, cms: &[u8]) -> Built {
    let mut build = build.clone();
    build.blobs.last_mut().unwrap().1 = blob(0xfade_0b01, cms);
    build.slack = CMS_ROOM - cms.len();
    build.build()
}

/// The two directories of such a build, which do not depend on the message.
pub(crate) fn directories_of(build: &Build) -> Vec<(u8, Vec<u8>)> {
    let unsigned = with_cms(build, &[]);
    let of = |(hash, slot)| (hash, unsigned.bytes[unsigned.blob(slot)].to_vec());
    [(1, 0), (2, 0x1000)].map(of).into()
}

/// Designated: `identifier "org.example.tool"`.
pub(crate) fn requirements() -> Vec<u8> {
    let identifier = b"org.example.tool";
    let mut expression = vec![0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, identifier.len() as u8];
    expression.extend(identifier);
    let requirement = blob(0xfade_0c00, &expression);
    let index = [0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 20];
    blob(0xfade_0c01, &[&index[..], &requirement].concat())
}

#[test]
fn the_frozen_tool_is_up_to_date_and_its_signer_is_not_known() {
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign/signed-tool");
    let made = tool().bytes;
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&frozen, &made).unwrap();
    }
    assert!(fs::read(&frozen).unwrap() == made, "UPDATE_GOLDEN=1 rewrites it");
    let code = Code::file(Box::new(made)).unwrap();
    let verification = code.verify(&VerifyOptions::default()).unwrap();
    assert_eq!(verification.exit_status(), 2, "{:?}", verification.all_findings());
    let part = &verification.parts[0];
    assert_eq!(part.bytes.state, BytesState::Intact);
    let signer = part.signer.as_ref().unwrap();
    assert_eq!(signer.state, SignerState::Untrusted);
    assert_eq!(signer.timestamp.as_ref().unwrap().state, TimestampState::Untrusted);
    assert_eq!(part.policy.as_ref().unwrap().state, PolicyState::Unverifiable);
}
