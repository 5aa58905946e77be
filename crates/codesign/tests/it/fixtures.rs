//! Published artifacts with known signatures: every CDHash, every page, every seal.
//!
//! They are fetched by exact version with the clients of the indexes they are in, held against
//! their digests, and kept in the build folder. `STEADFAST_OFFLINE=1` leaves them out, and says so.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use steadfast_codesign::bundle::FolderTree;
use steadfast_codesign::{
    BytesState, Code, CodeFinding, CodeVerification, FileSource, FindingKind, Severity, SignerKind,
    SignerState, VerifyOptions,
};
use steadfast_digest::sha256;

/// How an artifact is fetched.
enum From {
    Npm(&'static str),
    /// A requirement, and further arguments.
    Pip(&'static str, &'static [&'static str]),
    GoModule(&'static str),
    /// Built here: the program, and for which processors.
    GoBuild(&'static str),
}

struct Artifact {
    name: &'static str,
    from: From,
    sha256: &'static str,
}

const HELLO: &str = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n";

/// The release whose linker made the digests in the table.
const GO_VERSION: &str = "go1.26.8";

const ARTIFACTS: &[Artifact] = &[
    Artifact {
        name: "P1",
        from: From::Npm("@parcel/watcher-darwin-arm64@2.6.0"),
        sha256: "4e668008969832fd9fa7d1fd250b9bf1f2420ec0f0637fc07324fe1b8f0e131a",
    },
    Artifact {
        name: "P2",
        from: From::Npm("fsevents@2.3.3"),
        sha256: "c77e7a5d5ff31dd7acea7c44d4a0455e0528cdacbd24a8cb6c82b66d239b587e",
    },
    Artifact {
        name: "P3",
        from: From::Npm("sass-embedded-darwin-arm64@1.105.0"),
        sha256: "f955dc0ee1fa3f2afaa7875b9cd58d3096605e3b6129a4e5cee8bdabdd519d12",
    },
    Artifact {
        name: "P4",
        from: From::Pip("adbutils==2.12.0", &["--platform", "macosx_10_9_x86_64"]),
        sha256: "adf131c746519f8a9576765d8f1315396d2573c9f178d6104e2a42dc9a714a3f",
    },
    Artifact {
        name: "P5",
        from: From::Pip("mitmproxy_macos==0.12.15", &["--platform", "any"]),
        sha256: "ed5693f89b0cbd1d2a8c5a31baed2bd7a74b0aad68672e08444c1868c38f49f8",
    },
    Artifact {
        name: "P6",
        from: From::Npm("@nativescript/core@9.1.2"),
        sha256: "29e2af6634027a63004c563c694fb0866ddd36ae80a483ab10b454fa64fccc23",
    },
    Artifact {
        name: "P7",
        from: From::Pip(
            "pymsalruntime==0.20.7",
            &["--implementation", "cp", "--abi", "cp312", "--platform", "macosx_12_0_arm64"],
        ),
        sha256: "1cd25b9917f78f1ac4a438860fb6ac26edc4dabf6fae8b20a116ea153b755099",
    },
    Artifact {
        name: "P8",
        from: From::GoModule("github.com/sassoftware/relic/v8@v8.2.0"),
        sha256: "7da98c9a58c012aff44c136a6f7fadd89f20a55fcf00ac63995bce88d7f29fb1",
    },
    Artifact {
        name: "P9",
        from: From::Pip("pyinstaller==6.22.3", &["--platform", "macosx_10_13_universal2"]),
        sha256: "052f4a1cd4f81092ccb7a18fe8ebc9ecf832a5917317e39fb3775af4e959b253",
    },
    Artifact { name: "P10", from: From::GoBuild(HELLO), sha256: "" },
];

/// Where the names in the table begin.
const PREFIXES: &[(&str, &str)] = &[("P8", "github.com/sassoftware/relic/v8@v8.2.0"), ("P5", "")];

/// One fetch at a time.
static FETCHING: Mutex<()> = Mutex::new(());

/// The folder with an artifact's files; `None` if it cannot be had and need not be.
pub(crate) fn fixture(name: &str) -> Option<PathBuf> {
    let artifact = ARTIFACTS.iter().find(|artifact| artifact.name == name).unwrap();
    let _turn = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("codesign-fixtures");
    let done = home.join(name);
    if done.exists() {
        return Some(done);
    }
    let work = home.join(format!("{name}.{}", std::process::id()));
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work).unwrap();
    if let Err(why) = fetch(artifact, &work) {
        let _ = fs::remove_dir_all(&work);
        // Not by way of `println!`: a test that passes would keep it to itself.
        let _ = writeln!(std::io::stderr(), "left out: fixture {name}: {why}");
        assert!(env::var_os("STEADFAST_OFFLINE").is_some(), "fixture {name}: {why}");
        return None;
    }
    match fs::rename(&work, &done) {
        Ok(()) => {}
        // Another process was quicker.
        Err(_) if done.exists() => fs::remove_dir_all(&work).unwrap(),
        Err(error) => panic!("{error}"),
    }
    Some(done)
}

fn fetch(artifact: &Artifact, work: &Path) -> Result<(), String> {
    let file = match artifact.from {
        From::Npm(package) => {
            run(Command::new("npm").args(["pack", "--silent", package]).current_dir(work))?;
            only_file(work)?
        }
        From::Pip(package, further) => {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
            pip.args(["--no-deps", "--only-binary=:all:", "--python-version", "312"]);
            run(pip.args(further).arg("--dest").arg(work).arg(package))?;
            only_file(work)?
        }
        From::GoModule(module) => {
            let cache = work.join("cache");
            let mut go = Command::new("go");
            go.args(["mod", "download", "-modcacherw", module]).current_dir(work);
            run(go.env("GOMODCACHE", &cache))?;
            let (path, version) = module.split_once('@').unwrap();
            cache.join(format!("cache/download/{path}/@v/{version}.zip"))
        }
        From::GoBuild(program) => return build(program, work),
    };
    let found = sha256(&fs::read(&file).unwrap()).to_string();
    if found != artifact.sha256 {
        return Err(format!("has the digest {found}"));
    }
    unpack(&file, work)?;
    if artifact.name == "P5" {
        unpack(&work.join("mitmproxy_macos/Mitmproxy Redirector.app.tar"), work)?;
    }
    Ok(())
}

fn build(program: &str, work: &Path) -> Result<(), String> {
    let version = Command::new("go").args(["env", "GOVERSION"]).output();
    let version = version.map_err(|error| format!("no go: {error}"))?.stdout;
    let version = String::from_utf8(version).unwrap();
    if version.trim() != GO_VERSION {
        return Err(format!("needs {GO_VERSION}; here is {version}"));
    }
    fs::write(work.join("hello.go"), program).unwrap();
    for processor in ["arm64", "amd64"] {
        let mut go = Command::new("go");
        go.args(["build", "-trimpath", "-ldflags", "-s -w", "-o"]);
        go.arg(format!("hello-darwin-{processor}")).arg("hello.go").current_dir(work);
        run(go.envs([("GOOS", "darwin"), ("GOARCH", processor), ("CGO_ENABLED", "0")]))?;
    }
    Ok(())
}

fn unpack(file: &Path, into: &Path) -> Result<(), String> {
    let zipped = file.extension().is_some_and(|extension| extension == "whl" || extension == "zip");
    match zipped {
        true => run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(file).arg(into)),
        false => run(Command::new("tar").arg("-xf").arg(file).arg("-C").arg(into)),
    }
}

fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let mut entries = fs::read_dir(folder).unwrap().flatten();
    entries.next().map(|entry| entry.path()).ok_or_else(|| "nothing was fetched".to_owned())
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("no {program}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{program} failed: {}", said.trim())),
    }
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

#[test]
fn built_here() {
    matches_table("P10");
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
