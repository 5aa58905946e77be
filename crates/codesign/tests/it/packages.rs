//! Installer packages: their signature, their checksums, and the code in their payloads.

use std::path::Path;

use steadfast_codesign::bundle::EntryKind;
use steadfast_codesign::{
    ArchiveTree, Certificate, CodeKind, CodeVerification, Condition, ErrorKind, FindingKind,
    VerifyOptions, each_code_at, each_code_in,
};

use crate::app::{App, signed};
use crate::archives::{Entries, LEN_MAX, entries_of, file, gzipped, link, zipped};
use crate::fixtures::fixture;
use crate::signing::{CODE_SIGNING, Paper, Person, SHA1};
use crate::unsealed::find_app;
use crate::xar::{CMS_ROOM, Xar, cpio, pbzx, xz, zlib};

/// The purpose of certificates of developers who sign packages.
const INSTALLER: &str = "1.2.840.113635.100.4.13";

/// Who signs packages, and the certificate that is trusted.
pub(crate) struct Signers {
    root: Person,
    pub(crate) signer: Person,
    trusted: Vec<Certificate>,
}

impl Signers {
    pub(crate) fn new(purpose: &str) -> Signers {
        let root = Paper::authority("Root", None).person();
        let name = "Developer ID Installer: Example";
        let signer = Paper::signer(name, &root, purpose).person();
        let trusted = Certificate::all_of(&root.certificate).unwrap();
        Signers { root, signer, trusted }
    }

    pub(crate) fn package(&self, payload: Vec<u8>) -> Xar {
        Xar::of(payload, Some(&self.signer), &[&self.root])
    }

    pub(crate) fn options(&self) -> VerifyOptions {
        VerifyOptions { trusted: self.trusted.clone(), deep: true, ..VerifyOptions::default() }
    }
}

/// An application and a tool, as a payload has them.
pub(crate) fn contents(change: impl Fn(&App)) -> Entries {
    let app = App::new();
    change(&app);
    let mut entries: Entries = vec![("Applications".to_owned(), EntryKind::Folder, Vec::new())];
    entries.push(("Applications/Demo.app".to_owned(), EntryKind::Folder, Vec::new()));
    let inner = entries_of(app.root());
    entries.extend(
        inner
            .into_iter()
            .map(|(name, kind, bytes)| (format!("Applications/Demo.app/{name}"), kind, bytes)),
    );
    entries.push(("tool".to_owned(), EntryKind::File, signed(9000, "tool")));
    entries
}

type Verified = Vec<(String, Result<CodeVerification, ErrorKind>)>;

/// The package and the code in it, by path.
pub(crate) fn verified(bytes: &[u8], options: &VerifyOptions) -> Result<Verified, ErrorKind> {
    let mut found = Vec::new();
    each_code_in(Box::new(bytes.to_vec()), LEN_MAX, &mut |path, code| {
        let verification = code.map(|code| code.verify(options).unwrap());
        let path = String::from_utf8_lossy(path).into_owned();
        found.push((path, verification.map_err(|error| error.kind())));
    })
    .map_err(|error| error.kind())?;
    Ok(found)
}

fn status(verification: &Result<CodeVerification, ErrorKind>) -> u8 {
    verification.as_ref().map_or(2, CodeVerification::exit_status)
}

/// The status of the package, and the worst of the code in it.
fn statuses(bytes: &[u8], options: &VerifyOptions) -> (u8, u8) {
    let Ok(found) = verified(bytes, options) else { return (2, 2) };
    let (package, within) = found.split_first().unwrap();
    assert_eq!(package.0, "");
    (status(&package.1), within.iter().map(|(_, one)| status(one)).max().unwrap_or(0))
}

#[test]
fn a_package_is_verified_and_so_is_the_code_in_its_payload() {
    let signers = Signers::new(INSTALLER);
    let plain = cpio(&contents(|_| {}));
    for (what, payload) in [
        ("as it is", plain.clone()),
        ("gzip", gzipped(&plain)),
        ("xz", xz(&plain)),
        ("pbzx", pbzx(&plain, 20_000)),
        ("pbzx, one chunk", pbzx(&plain, 1 << 20)),
    ] {
        for hash in [SHA1, crate::signing::SHA256] {
            let package = Xar { hash, ..signers.package(payload.clone()) }.build();
            let found = verified(&package, &signers.options()).unwrap();
            let names: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
            let within = "Some.pkg/Payload/Applications/Demo.app";
            assert_eq!(names, ["", "Some.pkg/Payload/tool", within], "{what}");
            for (path, one) in &found {
                let findings = one.as_ref().unwrap().all_findings();
                assert_eq!(status(one), 0, "{what}, {path}: {findings:?}");
            }
            let own = found[0].1.as_ref().unwrap();
            assert_eq!(
                (own.kind, own.signers()),
                (CodeKind::Package, vec!["Developer ID Installer: Example"])
            );
            assert_eq!(statuses(&package, &VerifyOptions::default()), (2, 0), "not by Apple");
        }
        let unsigned = Xar::of(payload, None, &[]).build();
        assert_eq!(statuses(&unsigned, &signers.options()), (1, 0), "{what}");
    }
    let edited = contents(|app| app.write("Contents/Resources/a.txt", b"edited"));
    let package = signers.package(gzipped(&cpio(&edited))).build();
    assert_eq!(statuses(&package, &signers.options()), (0, 3));
}

/// Whatever is changed after the package was signed, or signed by somebody else, is never 0.
#[test]
fn no_forged_package_is_accepted() {
    let signers = Signers::new(INSTALLER);
    let options = signers.options();
    let payload = gzipped(&cpio(&contents(|_| {})));
    let good = signers.package(payload.clone());
    let bytes = good.build();
    assert_eq!(statuses(&bytes, &options), (0, 0));
    // A byte of each file, of the table, of its checksum and of the message.
    let heap_at = 28 + u64::from_be_bytes(bytes[8..16].try_into().unwrap()) as usize;
    let files_at = heap_at + 32 + CMS_ROOM;
    for at in [30, heap_at - 1, heap_at, heap_at + 200, files_at, files_at + 40, bytes.len() - 1] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        assert_ne!(statuses(&bytes, &options).0, 0, "byte {at}");
    }
    let other = Signers::new(CODE_SIGNING);
    assert_eq!(statuses(&other.package(payload.clone()).build(), &other.options()).0, 3);
    let mallory = Paper::authority("Mallory", None).person();
    let mallory = Paper::signer("Developer ID Installer: Example", &mallory, INSTALLER).person();
    let forged = Xar { signer: Some(mallory), ..good.clone() };
    assert_ne!(statuses(&forged.build(), &options).0, 0);
    // The table and its checksum, made again for other contents, with the signature of before.
    let evil = gzipped(&cpio(&contents(|app| app.write("Contents/MacOS/script.sh", b"evil"))));
    let mut again = signers.package(evil).build();
    let again_heap = 28 + u64::from_be_bytes(again[8..16].try_into().unwrap()) as usize;
    again[again_heap + 32..][..CMS_ROOM].copy_from_slice(&bytes[heap_at + 32..][..CMS_ROOM]);
    assert_eq!(statuses(&again, &options).0, 3);
    for (later, expected) in [
        (("<name>Payload</name>", "<name>Payment</name>"), 3),
        (("<type>file</type><data>", "<type>file</type><!-- --><data>"), 2),
        (("application/x-gzip", "application/x-bzip2"), 3),
    ] {
        let forged = Xar { later: vec![later], ..good.clone() };
        assert_eq!(statuses(&forged.build(), &options).0, expected, "{later:?}");
    }
    // Signed, and not what it says of itself.
    for (edit, expected) in [
        (("<size>11</size>", "<size>12</size>"), 3),
        (("<size>11</size>", "<size>10</size>"), 3),
        (("application/x-gzip", "application/x-bzip2"), 2),
        (("application/octet-stream", "application/x-gzip"), 3),
    ] {
        let forged = Xar { edits: vec![edit], ..good.clone() };
        assert_eq!(statuses(&forged.build(), &options).0, expected, "{edit:?}");
    }
}

#[test]
fn tables_that_could_be_read_in_two_ways_are_refused() {
    let signers = Signers::new(INSTALLER);
    let good = signers.package(gzipped(&cpio(&vec![file("a")])));
    let refused = [
        ("<name>Payload</name>", "<name>..</name>"),
        ("<name>Payload</name>", "<name>a/../../b</name>"),
        ("<name>Payload</name>", "<name></name>"),
        ("<name>Payload</name>", "<name>Payload</name><name>Other</name>"),
        ("<name>Payload</name>", "<name>Pay<x/>load</name>"),
        ("<name>Payload</name>", "<name enctype=\"base64\">UGF5bG9hZA==</name>"),
        ("<name>Payload</name>", "<name>Pay<!-- -->load</name>"),
        ("<name>Payload</name>", "<name>Pay<?x?>load</name>"),
        ("<name>Payload</name>", "<file/><name>Payload</name>"),
        ("<name>Payload</name>", "<name>Payload</name><data></data>"),
        ("<type>file</type>", "<type>hardlink</type>"),
        ("<offset>0</offset>", "<offset>1</offset>"),
        ("<offset>0</offset>", "<offset>40</offset>"),
        ("<offset>0</offset>", "<offset>+0</offset>"),
        ("<offset>0</offset>", "<offset>18446744073709551615</offset>"),
        ("<offset>32</offset>", "<offset>0</offset>"),
        ("<length>", "<length>1"),
        ("<checksum style=\"sha256\">", "<checksum style=\"sha1\">"),
        ("<checksum style=\"sha256\">", "<checksum style=\"crc\">"),
        ("<archived-checksum style=\"sha256\">", "<archived-checksum style=\"sha256\">+"),
        ("style=\"CMS\"", "style=\"RSA\" other=\"CMS\""),
        ("<xar>", "<!DOCTYPE x [<!ENTITY a \"aa\">]><xar>"),
        ("<toc>", "<toc/><toc>"),
        ("<?xml version=\"1.0\"?>", "<?xml version=\"1.0\" encoding='UTF-7'?>"),
        ("<size>11</size>", "<size>4294967297</size>"),
        ("<toc>", "<toc xmlns:x=\"y\">"),
    ];
    for edit in refused {
        let package = Xar { edits: vec![edit], ..good.clone() }.build();
        assert!(ArchiveTree::read(&package, LEN_MAX).is_err(), "{edit:?}");
    }
    // What Apple's tools write.
    let twice = ("<name>Payload</name>", "<name>Payload</name><name>Payload</name>");
    let package = Xar { edits: vec![twice], ..good.clone() }.build();
    assert_eq!(statuses(&package, &signers.options()), (0, 0));
    // Files that share a range, as some tools store what is the same, and too many that do.
    for (count, expected) in [(2, 0), (2000, 2)] {
        let (table, heap) = good.table();
        let start = table.find("<file><name>PackageInfo").unwrap();
        let end = start + table[start..].find("</file>").unwrap();
        let one = &table[start..end + 7];
        let copies: String =
            (0..count).map(|at| one.replace("PackageInfo", &format!("Info{at}"))).collect();
        assert!(heap.len() > one.len());
        let shared = good.build_with_table(table.replace(one, &copies).as_bytes());
        assert_eq!(statuses(&shared, &signers.options()).0, expected, "{count}");
    }
    let bytes = good.build();
    for (at, what) in [(5, 1), (5, 27), (7, 2), (15, 1), (23, 1), (27, 1)] {
        let mut wrong = bytes.clone();
        wrong[at] = wrong[at].wrapping_add(what);
        assert!(ArchiveTree::read(&wrong, LEN_MAX).is_err(), "the header's byte {at}");
    }
}

#[test]
fn payloads_that_lead_out_or_are_of_unknown_form_are_not_accepted() {
    let signers = Signers::new(INSTALLER);
    let tool = ("tool".to_owned(), EntryKind::File, signed(9000, "tool"));
    let of = |entries: Entries| gzipped(&cpio(&[vec![tool.clone()], entries].concat()));
    let absolute = {
        let mut bytes = cpio(&vec![file("./a")]);
        let at = bytes.windows(5).position(|name| name == b"././a").unwrap();
        bytes[at..at + 5].copy_from_slice(b"/././");
        bytes
    };
    let mut cut = cpio(&vec![tool.clone()]);
    cut.truncate(cut.len() / 2);
    let follows = [cpio(&vec![tool.clone()]), cpio(&vec![file("b")])].concat();
    let folder = (
        "<toc>",
        "<toc><file><name>Some.pkg</name><type>directory</type><file>\
                  <name>Payload</name><type>directory</type></file></file>",
    );
    let both = Xar { edits: vec![folder], ..signers.package(of(Vec::new())) }.build();
    assert_eq!(statuses(&both, &signers.options()).0, 3);
    for (what, payload, expected) in [
        ("leads out", of(vec![file("a/../../b")]), 3),
        ("from the root", absolute, 3),
        ("beneath a symlink", of(vec![link("a"), file("a/b")]), 3),
        ("twice", of(vec![file("a"), file("a")]), 3),
        ("one name for a Mac", of(vec![file("a/B"), file("a/b")]), 3),
        ("cut short", cut, 3),
        ("another archive follows", follows, 3),
        ("another form", b"AA01 and more".to_vec(), 2),
        ("bzip2", b"BZh91AY&SY".to_vec(), 2),
        ("a chunk that is too long", pbzx(b"zeros", 1 << 30), 3),
        ("two ways", pbzx(&xz(b"text"), 1 << 20), 3),
    ] {
        let package = signers.package(payload).build();
        let found = verified(&package, &signers.options()).unwrap();
        assert_eq!(status(&found[0].1), expected, "{what}");
        assert_eq!(found.len(), 1, "{what}: of a part nothing is said");
    }
}

#[test]
fn packages_are_bounded() {
    let signers = Signers::new(INSTALLER);
    let zeros = ("zeros".to_owned(), EntryKind::File, vec![0; LEN_MAX as usize + 1]);
    let bomb = cpio(&vec![zeros]);
    for payload in [gzipped(&bomb), xz(&bomb), pbzx(&bomb, 1 << 20)] {
        let found = verified(&signers.package(payload).build(), &signers.options()).unwrap();
        assert_eq!(status(&found[0].1), 2);
    }
    // A dictionary of four gibibytes: the header of a block, and its checksum.
    let mut greedy = xz(&cpio(&vec![file("a")]));
    let header_len = (usize::from(greedy[12]) + 1) * 4;
    greedy[16] = 40;
    let crc = crc32(&greedy[12..12 + header_len - 4]);
    greedy[12 + header_len - 4..12 + header_len].copy_from_slice(&crc.to_le_bytes());
    let found = verified(&signers.package(greedy).build(), &signers.options()).unwrap();
    assert_ne!(status(&found[0].1), 0);
    // A table that is long, and one of many elements in each other.
    for inner in [" ".repeat(17 << 20), "<file>".repeat(1 << 20)] {
        let packed = zlib(format!("<xar><toc>{inner}</toc></xar>").as_bytes());
        let mut bytes = b"xar!\0\x1c\0\x01".to_vec();
        bytes.extend((packed.len() as u64).to_be_bytes());
        bytes.extend((inner.len() as u64 + 22).to_be_bytes());
        bytes.extend([&[0, 0, 0, 1][..], &packed].concat());
        assert!(ArchiveTree::read(&bytes, LEN_MAX).is_err());
    }
    let folders = "<file><type>directory</type><name>aaaaaaaa</name>";
    let deep = format!("<xar><toc>{}</toc></xar>", folders.repeat(40_000));
    let mut package = signers.package(Vec::new());
    package.edits = vec![("<toc>", Box::leak(deep.into_boxed_str()))];
    assert!(ArchiveTree::read(&package.build(), LEN_MAX).is_err());
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes
        .iter()
        .fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

#[test]
fn bytes_that_nothing_covers_are_named() {
    let signers = Signers::new(INSTALLER);
    let package =
        Xar { after: b"more".to_vec(), ..signers.package(gzipped(&cpio(&vec![file("a")]))) };
    let bytes = package.build();
    let found = verified(&bytes, &signers.options()).unwrap();
    let own = found[0].1.as_ref().unwrap();
    let gap = own.all_findings().into_iter().find(|one| one.kind == FindingKind::Unsealed);
    let end = bytes.len() as u64;
    assert_eq!(gap.unwrap().place.bytes, Some(end - 4..end));
    assert_eq!(own.exit_status(), 0);
    let options = VerifyOptions { every_byte: true, ..signers.options() };
    assert_eq!(statuses(&bytes, &options).0, 1);
}

/// The installer attaches such a file to the one beside it.
#[test]
fn attributes_in_a_payload_belong_to_their_files() {
    let signers = Signers::new(INSTALLER);
    let mut entries = contents(|_| {});
    let mut double = b"\0\x05\x16\x07\0\x02\0\0".to_vec();
    double.resize(24, 0);
    let beside = "Applications/Demo.app/Contents/Resources/._a.txt".to_owned();
    let without_fork = [&double[..], &[0, 0]].concat();
    entries.push((beside, EntryKind::File, without_fork));
    let package = signers.package(gzipped(&cpio(&entries))).build();
    assert_eq!(statuses(&package, &signers.options()), (0, 0));
    let code = signed(9000, "evil");
    double.extend([0, 1, 0, 0, 0, 2, 0, 0, 0, 38]);
    double.extend([&(code.len() as u32).to_be_bytes()[..], &code].concat());
    entries.last_mut().unwrap().2 = double;
    let package = signers.package(gzipped(&cpio(&entries))).build();
    assert_eq!(statuses(&package, &signers.options()), (0, 1), "code in a fork");
}

#[test]
fn packages_in_folders_and_archives_are_found_with_their_contents() {
    let signers = Signers::new(INSTALLER);
    let package = |payload: Vec<u8>| {
        signers.package(gzipped(&cpio(&vec![("a.pkg".to_owned(), EntryKind::File, payload)])))
    };
    let tool = vec![("tool".to_owned(), EntryKind::File, signed(9000, "tool"))];
    let one = signers.package(gzipped(&cpio(&tool))).build();
    let two = package(one.clone()).build();
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::write(home.path().join("two.pkg"), &two).unwrap();
    let inner = "Some.pkg/Payload/a.pkg";
    let expected = [
        "two.pkg".to_owned(),
        format!("two.pkg/{inner}"),
        format!("two.pkg/{inner}/Some.pkg/Payload/tool"),
    ];
    let mut found = Vec::new();
    each_code_at(home.path(), &mut |path, code| {
        let path = path.strip_prefix(home.path()).unwrap().to_str().unwrap().to_owned();
        assert_eq!(code.unwrap().verify(&signers.options()).unwrap().exit_status(), 0);
        found.push(path);
    });
    assert_eq!(found, expected);
    let zip = zipped(&vec![("two.pkg".to_owned(), EntryKind::File, two.clone())]);
    let names: Vec<String> =
        verified(&zip, &signers.options()).unwrap().into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, expected);
    // Packages in packages without end.
    let deep = (0..5).fold(one, |inner, _| package(inner).build());
    let found = verified(&deep, &signers.options()).unwrap();
    assert_eq!(found.last().unwrap().1.as_ref().err(), Some(&ErrorKind::Unsupported));
}

#[test]
fn conditions_are_asked_of_packages() {
    let signers = Signers::new(INSTALLER);
    let package = signers.package(gzipped(&cpio(&vec![file("a")]))).build();
    let requirement =
        |text: &str| Condition::Requirement(steadfast_codesign::Requirement::parse(text).unwrap());
    for (condition, expected) in [
        (Condition::Signed, 0),
        (Condition::Team("TEAM123456".to_owned()), 0),
        (Condition::Team("OTHER".to_owned()), 3),
        (Condition::Identifier("a".to_owned()), 3),
        (Condition::Notarized, 3),
        (Condition::SignerAnchor(steadfast_codesign::SignerAnchor::DeveloperId), 3),
        (requirement("certificate leaf[subject.OU] = TEAM123456"), 0),
        (requirement("certificate leaf[subject.OU] = OTHER"), 3),
    ] {
        let options = VerifyOptions { conditions: vec![condition.clone()], ..signers.options() };
        assert_eq!(statuses(&package, &options).0, expected, "{condition:?}");
    }
}

/// Apple's ticket for an application, at the end of a package that the application is in.
#[test]
fn the_ticket_of_a_package_counts_for_what_it_lists() {
    let Some(folder) = fixture("P5") else { return };
    let app = find_app(&folder);
    let signers = Signers::new(INSTALLER);
    let ticket = std::fs::read(app.join("Contents/CodeResources")).unwrap();
    let mark = |kind: u16, len: usize| {
        let len = (len as u32).to_le_bytes();
        [&b"t8lr\x01\0"[..], &kind.to_le_bytes(), &len, &[0; 4]].concat()
    };
    let entries = entries_of(&app).into_iter();
    let entries = entries.filter(|(name, _, _)| name != "Contents/CodeResources");
    let named = entries.map(|(name, kind, bytes)| (format!("A.app/{name}"), kind, bytes));
    let mut all = vec![("A.app".to_owned(), EntryKind::Folder, Vec::new())];
    all.extend(named);
    let mut package = signers.package(gzipped(&cpio(&all)));
    let options = VerifyOptions { conditions: vec![Condition::Notarized], ..signers.options() };
    assert_eq!(statuses(&package.build(), &options), (3, 3), "without a ticket");
    package.after = [mark(1, 0), ticket.clone(), mark(2, ticket.len())].concat();
    let found = verified(&package.build(), &options).unwrap();
    assert_eq!(status(&found[0].1), 3, "it does not list the package");
    let inner = found[1].1.as_ref().unwrap();
    assert_eq!(inner.is_notarized(), Some(true), "{:?}", inner.all_findings());
    assert_eq!(inner.exit_status(), 0);
}

/// A package with both signatures, made with other tools.
#[test]
fn both_signatures_of_a_package_must_be_by_its_signer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let (bytes, trusted) = (read("signed.pkg"), Certificate::all_of(&read("signed.pem")).unwrap());
    let options = VerifyOptions { trusted, ..VerifyOptions::default() };
    let found = verified(&bytes, &options).unwrap();
    let own = found[0].1.as_ref().unwrap();
    assert_eq!((own.exit_status(), found.len()), (0, 1), "{:?}", own.all_findings());
    assert_eq!(own.signers(), ["Developer ID Installer: Example"]);
    assert_eq!(own.parts[0].team.as_deref(), Some("TEAM123456"));
    assert_eq!(statuses(&bytes, &VerifyOptions::default()).0, 2);
    // The checksum, the RSA signature, and the message.
    let heap_at = 28 + u64::from_be_bytes(bytes[8..16].try_into().unwrap()) as usize;
    for at in [heap_at, heap_at + 30, heap_at + 275, heap_at + 276 + 2000] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        let found = verified(&bytes, &options).unwrap();
        assert_eq!(status(&found[0].1), 3, "byte {at}");
    }
}

/// A published package that nobody signed, with an application within that is signed ad hoc.
#[test]
fn a_published_package_is_read() {
    let Some(folder) = fixture("P8") else { return };
    let name = "github.com/sassoftware/relic/v8@v8.2.0/functest/packages/dummy.pkg";
    let bytes = std::fs::read(folder.join(name)).unwrap();
    let found = verified(&bytes, &VerifyOptions::default()).unwrap();
    let found: Vec<(&str, u8)> =
        found.iter().map(|(path, one)| (path.as_str(), status(one))).collect();
    assert_eq!(found, [("", 1), ("com.sas.dummy.pkg/Payload/dummy.app", 0)]);
}
