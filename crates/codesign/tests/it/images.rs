//! Disk images: one digest over everything, and a trailer that is sealed with a hole in it.

use steadfast_codesign::{
    BytesState, BytesVerdict, Code, CodeKind, DiskImage, ErrorKind, FindingKind, PageCheckOptions,
    Severity, Slot, VerifyOptions,
};

use crate::builder::{Build, Directory, blob, digest};

const CODE_LEN: usize = 10_000;

/// A trailer that says where a signature is.
pub(crate) fn trailer(offset: u64, length: u64) -> Vec<u8> {
    let mut trailer = vec![0; 512];
    trailer[..8].copy_from_slice(b"koly\0\0\0\x04");
    trailer[100] = 7;
    trailer[296..304].copy_from_slice(&offset.to_be_bytes());
    trailer[304..312].copy_from_slice(&length.to_be_bytes());
    trailer
}

/// A signed image.
pub(crate) fn image() -> Vec<u8> {
    let mut bytes = image_of_code();
    let sealed = digest(2, &bytes[..CODE_LEN]);
    bytes[..4].fill(0);
    let at = bytes.windows(32).position(|window| window == sealed).unwrap();
    let anew = digest(2, &bytes[..CODE_LEN]);
    bytes[at..at + 32].copy_from_slice(&anew);
    bytes
}

/// A signed image that begins like code.
fn image_of_code() -> Vec<u8> {
    let mut build = Build::linker_signed(CODE_LEN);
    let mut directory = Directory::new(0, 2);
    directory.page_shift = 0;
    directory.flags = 2;
    directory.special_count = 6;
    build.directories = vec![directory];
    build.blobs = vec![(2, blob(0xfade_0c01, &[0; 4]))];
    build.outside = vec![(6, trailer(CODE_LEN as u64, 0))];
    let built = build.build();
    let length = built.signature.len() as u64;
    [built.bytes, trailer(CODE_LEN as u64, length)].concat()
}

fn checked(bytes: &[u8]) -> (DiskImage, BytesVerdict) {
    let image = DiskImage::read(&bytes).unwrap();
    let verdict = image.check_bytes(&bytes, &PageCheckOptions::default()).unwrap().unwrap();
    (image, verdict)
}

fn failures(verdict: &BytesVerdict) -> Vec<FindingKind> {
    let failed = verdict.findings.iter().filter(|found| found.severity >= Severity::Unverified);
    failed.map(|found| found.kind).collect()
}

#[test]
fn an_image_is_intact() {
    let (image, verdict) = checked(&image());
    assert_eq!((verdict.state, failures(&verdict)), (BytesState::Intact, vec![]));
    assert!(image.findings.is_empty());
    assert_eq!(verdict.directories[0].pages_total, 1);
    assert!(verdict.slots.iter().any(|check| check.slot == Slot::CONTAINER));
}

#[test]
fn damage_is_found_and_has_no_place() {
    let mut bytes = image();
    bytes[5000] ^= 1;
    let (_, verdict) = checked(&bytes);
    assert_eq!(failures(&verdict), [FindingKind::PageDamaged]);
    assert_eq!(verdict.damage[0].bytes, 0..CODE_LEN as u64);
}

#[test]
fn an_image_is_verified_like_other_code() {
    let status = |bytes: Vec<u8>| {
        let code = Code::file(Box::new(bytes)).unwrap();
        assert_eq!(code.kind(), CodeKind::DiskImage);
        let verification = code.verify(&VerifyOptions::default()).unwrap();
        assert_eq!(verification.parts[0].architecture, None);
        verification.exit_status()
    };
    assert_eq!(status(image()), 0);
    let mut damaged = image();
    damaged[5000] ^= 1;
    assert_eq!(status(damaged), 3);
    assert_eq!(status([vec![1; 1000], trailer(0, 0)].concat()), 2, "unsigned: nothing vouches");
}

#[test]
fn nothing_in_an_image_is_looked_into_and_that_is_said() {
    for (deep, severity, status) in [(false, Severity::Note, 0), (true, Severity::Unverified, 2)] {
        let options = VerifyOptions { deep, ..VerifyOptions::default() };
        let verification = Code::file(Box::new(image())).unwrap().verify(&options).unwrap();
        let findings = verification.all_findings();
        let told = findings.iter().find(|found| found.kind == FindingKind::NotRead).unwrap();
        assert_eq!((told.severity, verification.exit_status()), (severity, status), "{deep}");
    }
}

#[test]
fn an_image_that_begins_like_code_is_refused() {
    let error = DiskImage::read(&image_of_code()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a Mach-O file and a disk image at once: tools open different things"
    );
    assert_eq!(Code::file(Box::new(image_of_code())).err().unwrap().kind(), ErrorKind::Malformed);
}

#[test]
fn the_trailer_is_sealed() {
    let mut bytes = image();
    let at = bytes.len() - 512 + 100;
    bytes[at] ^= 1;
    let (_, verdict) = checked(&bytes);
    assert_eq!(failures(&verdict), [FindingKind::SlotDamaged]);
}

#[test]
fn a_signature_that_does_not_fill_its_place_is_told() {
    let mut bytes = image();
    let at = bytes.len() - 512;
    bytes.splice(at..at, [0; 16]);
    let (image, verdict) = checked(&bytes);
    assert_eq!(image.findings[0].kind, FindingKind::Malformed);
    assert_eq!(verdict.state, BytesState::Intact);
}

#[test]
fn an_unsigned_image_has_no_signature() {
    let bytes = [vec![1; 1000], trailer(0, 0)].concat();
    let image = DiskImage::read(&bytes).unwrap();
    assert!(image.signature.is_none() && image.findings.is_empty());
}

#[test]
fn a_place_beyond_the_file_is_told() {
    for (offset, length) in [(5000, 100), (u64::MAX, u64::MAX), (0, u64::MAX)] {
        let bytes = [vec![1; 1000], trailer(offset, length)].concat();
        let image = DiskImage::read(&bytes).unwrap();
        assert!(image.signature.is_none());
        assert_eq!(image.findings[0].kind, FindingKind::Malformed, "{offset} {length}");
    }
}

#[test]
fn what_is_no_image_is_told() {
    let mut version = [vec![1; 1000], trailer(0, 0)].concat();
    version[1007] = 5;
    for bytes in [vec![], vec![0; 511], vec![0; 5000]] {
        assert_eq!(DiskImage::read(&bytes).unwrap_err().kind(), ErrorKind::NotCode);
    }
    assert_eq!(DiskImage::read(&version).unwrap_err().kind(), ErrorKind::Unsupported);
}

/// What cannot be read is no proof that nobody signed.
#[test]
fn an_image_whose_signature_cannot_be_read_is_not_called_unsigned() {
    let mut bytes = image();
    bytes[CODE_LEN] = 0;
    let verification =
        Code::file(Box::new(bytes)).unwrap().verify(&VerifyOptions::default()).unwrap();
    let part = &verification.parts[0];
    assert_eq!(part.bytes.state, BytesState::Unverifiable);
    let kinds: Vec<_> = verification.all_findings().iter().map(|found| found.kind).collect();
    assert_eq!(
        (kinds, verification.exit_status()),
        (vec![FindingKind::Malformed, FindingKind::NotRead], 3)
    );
}
