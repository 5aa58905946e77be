//! Published artifacts with known signatures: every CDHash, every page, every seal.
//!
//! `cargo xtask test --only fixtures` fetches them. A test whose artifact is missing is skipped.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_codesign::bundle::FolderTree;
use steadfast_codesign::{
    BytesState, Code, CodeFinding, CodeVerification, FileSource, FindingKind, Severity, SignerKind,
    SignerState, VerifyOptions,
};
use steadfast_digest::sha256;
use steadfast_testing::{Need, skip};

/// Where the names in the table begin.
const PREFIXES: &[(&str, &str)] = &[("P8", "github.com/sassoftware/relic/v8@v8.2.0"), ("P5", "")];

/// The folder with an artifact's files; records a skip and returns `None` if they are not there.
pub(crate) fn fixture(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("codesign-fixtures").join(name);
    if !folder.exists() {
        skip(Need::Fixture(name), "it has not been fetched");
        return None;
    }
    Some(folder)
}

/// The rows of the table that an artifact has.
fn rows(name: &str) -> Vec<Vec<&'static str>> {
    let table = include_str!("../../../../testdata/codesign/fixtures.tsv");
    let rows = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| row[0] == name).collect()
}

fn path_of(root: &Path, name: &str, inner: &str) -> PathBuf {
    let prefix = PREFIXES.iter().find(|(of, _)| *of == name).map_or("", |(_, prefix)| prefix);
    root.join(prefix).join(inner)
}

fn open(path: &Path) -> Code<'static> {
    Code::file(Box::new(FileSource::open(path).unwrap())).unwrap()
}

/// Holds every row of an artifact against what is read here, and every page against its digest.
fn matches_table(name: &str) {
    let Some(root) = fixture(name) else { return };
    let rows = rows(name);
    assert!(!rows.is_empty());
    for row in rows {
        let [
            _,
            inner,
            digest,
            slice,
            slot,
            hash,
            cdhash,
            pages,
            special,
            limit,
            flags,
            version,
            identifier,
            team,
        ] = row[..]
        else {
            panic!("a row of {} columns", row.len());
        };
        let path = path_of(&root, name, inner);
        assert_eq!(sha256(&fs::read(&path).unwrap()).to_string(), digest, "{inner}");
        let code = open(&path);
        let verification = code.verify(&VerifyOptions::default()).unwrap();
        let part =
            verification.parts.iter().find(|part| part.architecture.as_deref() == Some(slice));
        let part = part.unwrap_or_else(|| panic!("{inner}: no slice {slice}"));
        if hash == "unsigned" {
            assert_eq!(part.bytes.state, BytesState::Unsigned, "{inner} {slice}");
            assert_eq!(part.cdhash, None);
            continue;
        }
        assert_eq!(part.bytes.state, BytesState::Intact, "{inner}: {:?}", part.bytes.findings);
        let parts = code.parts();
        let signature = parts.iter().find(|part| part.architecture().as_deref() == Some(slice));
        let signature = signature.unwrap().signature.unwrap();
        let slot = u32::from_str_radix(slot.trim_start_matches("0x"), 16).unwrap();
        let directory = signature.directories().iter().find(|one| one.slot().0 == slot).unwrap();
        let (count, len) = pages.split_once('x').unwrap();
        let said = [
            directory.hash_type().to_string(),
            directory.cdhash().to_string(),
            directory.page_count().to_string(),
            directory.page_len().unwrap().to_string(),
            directory.special_count().to_string(),
            directory.code_limit().to_string(),
            format!("{:#x}", directory.flags()),
            format!("{:#x}", directory.version()),
            directory.identifier().into_owned(),
            directory.team().map_or("-".to_owned(), |team| team.into_owned()),
        ];
        let expected = [hash, cdhash, count, len, special, limit, flags, version, identifier, team];
        assert_eq!(said, expected, "{inner} {slice}");
        assert_eq!(part.bytes.pages_checked().to_string(), count, "{inner} {slice}");
    }
}

#[test]
fn linker_signed() {
    matches_table("P1");
}

#[test]
fn fat_with_an_unsigned_slice() {
    matches_table("P2");
    matches_table("P9");
}

#[test]
fn signed_by_a_developer() {
    matches_table("P3");
    matches_table("P4");
    matches_table("P7");
}

#[test]
fn in_bundles() {
    matches_table("P5");
    matches_table("P6");
    matches_table("P8");
}

/// The signer that a file of a fixture must have.
fn signed_by(name: &str, inner: &str, kind: SignerKind, common_name: &str) {
    let Some(root) = fixture(name) else { return };
    let code = open(&path_of(&root, name, inner));
    let verification = code.verify(&VerifyOptions::default()).unwrap();
    for part in &verification.parts {
        let signer = part.signer.as_ref().unwrap();
        assert_eq!(signer.state, SignerState::Valid, "{inner}: {:?}", signer.findings);
        assert_eq!(signer.kind, Some(kind), "{inner}");
        let leaf = signer.leaf().unwrap().subject().common_name().unwrap();
        assert_eq!(leaf, common_name);
    }
    assert_eq!(verification.exit_status(), 0, "{:?}", failures(&verification));
}

#[test]
fn signers_are_who_they_should_be() {
    let developer = SignerKind::DeveloperId;
    let name = "Developer ID Application: FLUTTER.IO LLC (S8QB4VV633)";
    signed_by("P3", "package/dart-sass/src/dart", developer, name);
    let name = "Developer ID Application: Google LLC (EQHXZ8M8AV)";
    signed_by("P4", "adbutils/binaries/adb", developer, name);
    let name = "3rd Party Mac Developer Application: Microsoft Corporation (UBF8T346G9)";
    let library = "pymsalruntime/libmsalruntime_arm64.dylib";
    signed_by("P7", library, SignerKind::MacDistribution, name);
}

fn failures(verification: &CodeVerification) -> Vec<(FindingKind, String)> {
    let of = |finding: &CodeFinding| {
        let path = finding.place.path.as_deref().unwrap_or_default();
        (finding.kind, String::from_utf8_lossy(path).into_owned())
    };
    let findings = verification.all_findings();
    let failures = findings.iter().filter(|finding| finding.severity >= Severity::Unverified);
    failures.map(of).collect()
}

/// Verifies a bundle of a fixture with all that can be asked of it.
fn bundle(name: &str, inner: &str) -> Option<CodeVerification> {
    let path = path_of(&fixture(name)?, name, inner);
    let tree = FolderTree::open(&path).unwrap();
    let called = path.file_name().unwrap().as_encoded_bytes();
    let code = Code::bundle(&tree, called).unwrap();
    let options = VerifyOptions { deep: true, strict: true, ..VerifyOptions::default() };
    Some(code.verify(&options).unwrap())
}

#[test]
fn an_application_is_as_it_was_sealed() {
    let Some(app) = bundle("P5", "Mitmproxy Redirector.app") else { return };
    assert_eq!(failures(&app), []);
    let resources = app.resources.as_ref().unwrap();
    assert_eq!((resources.files, resources.symlinks, resources.nested.len()), (7, 0, 0));
    assert_eq!(app.exit_status(), 0);
    let signer = app.parts[0].signer.as_ref().unwrap();
    assert_eq!(signer.leaf().unwrap().subject().organisational_unit(), Some("S8XHQB96PW"));
    let inner = "Mitmproxy Redirector.app/Contents/Library/SystemExtensions/\
                 org.mitmproxy.macos-redirector.network-extension.systemextension";
    assert_eq!(failures(&bundle("P5", inner).unwrap()), []);
}

#[test]
fn an_ad_hoc_application_is_a_success_without_a_signer() {
    let Some(app) = bundle("P8", "functest/packages/fatfile.app") else { return };
    assert_eq!(failures(&app), []);
    for part in &app.parts {
        assert_eq!(part.bytes.state, BytesState::Intact);
        assert_eq!(part.signer.as_ref().unwrap().state, SignerState::AdHoc);
    }
}

#[test]
fn an_unsigned_application_seals_nothing() {
    let Some(app) = bundle("P8", "functest/packages/slimfile.app") else { return };
    assert_eq!(app.parts[0].bytes.state, BytesState::Unsigned);
    assert_eq!(failures(&app), [(FindingKind::Unsigned, String::new())]);
    assert_eq!(app.exit_status(), 1);
}

#[test]
fn frameworks_in_the_wild_are_found_whole_and_broken() {
    for system in ["ios", "xros"] {
        let of = |name: &str| {
            format!(
                "package/platforms/ios/{name}.xcframework/{system}-arm64_x86_64-simulator/\
                 {name}.framework"
            )
        };
        let Some(whole) = bundle("P6", &of("NSCWinterTC")) else { return };
        assert_eq!(failures(&whole), []);
        assert_eq!(whole.resources.unwrap().files, 4);
        let broken = bundle("P6", &of("TNSWidgets")).unwrap();
        let added = (FindingKind::ResourceAdded, "Headers/NSCCrypto.h".to_owned());
        assert_eq!(failures(&broken), [added]);
        assert_eq!(broken.exit_status(), 1);
        assert_eq!(broken.resources.unwrap().files, 11);
    }
}
