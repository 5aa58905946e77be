//! Folders and archives of code: what is found in them, and archives that could be unpacked in
//! different ways.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;

use steadfast_codesign::bundle::{BundleTree, EntryKind, FolderTree};
use steadfast_codesign::{ArchiveTree, CdHash, CodeKind, ErrorKind, VerifyOptions, each_code};
use zip::write::SimpleFileOptions;

use crate::app::{App, signed};
use crate::packages::{Signers, verified};
use crate::xar::{cpio, pbzx, xz};

pub(crate) const LEN_MAX: u64 = 16 << 20;

/// The entries of an archive: name, kind, contents or target.
pub(crate) type Entries = Vec<(String, EntryKind, Vec<u8>)>;

/// Everything in a folder, in the order of names.
pub(crate) fn entries_of(root: &Path) -> Entries {
    let tree = FolderTree::open(root).unwrap();
    let (mut found, mut waiting) = (Vec::new(), vec![Vec::new()]);
    while let Some(folder) = waiting.pop() {
        for (name, kind) in tree.entries(&folder).unwrap() {
            let path = if folder.is_empty() { name } else { [&folder[..], b"/", &name].concat() };
            let bytes = match kind {
                EntryKind::Symlink => tree.read_link(&path).unwrap(),
                EntryKind::File => fs::read(root.join(str::from_utf8(&path).unwrap())).unwrap(),
                _ => Vec::new(),
            };
            found.push((String::from_utf8(path.clone()).unwrap(), kind, bytes));
            if kind == EntryKind::Folder {
                waiting.push(path);
            }
        }
    }
    found
}

pub(crate) fn zipped(entries: &Entries) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (name, kind, bytes) in entries {
        match kind {
            EntryKind::Folder => writer.add_directory(name.as_str(), options).unwrap(),
            EntryKind::Symlink => {
                writer.add_symlink(name.as_str(), str::from_utf8(bytes).unwrap(), options).unwrap();
            }
            _ => {
                writer.start_file(name.as_str(), options).unwrap();
                writer.write_all(bytes).unwrap();
            }
        }
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn tarred(entries: &Entries) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, bytes) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o755);
        match kind {
            EntryKind::Symlink => {
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_size(0);
                builder.append_link(&mut header, name, str::from_utf8(bytes).unwrap()).unwrap();
            }
            kind => {
                let folder = *kind == EntryKind::Folder;
                let of = if folder { tar::EntryType::Directory } else { tar::EntryType::Regular };
                header.set_entry_type(of);
                header.set_size(bytes.len() as u64);
                builder.append_data(&mut header, name, &bytes[..]).unwrap();
            }
        }
    }
    builder.into_inner().unwrap()
}

pub(crate) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read(bytes: Vec<u8>) -> Result<ArchiveTree, ErrorKind> {
    ArchiveTree::read(&bytes, LEN_MAX).map(Option::unwrap).map_err(|error| error.kind())
}

/// The code in a tree: its path, and the status of a full check.
fn statuses(tree: &dyn BundleTree) -> Vec<(String, u8)> {
    let mut found = Vec::new();
    each_code(tree, &mut |path, code| {
        let options = VerifyOptions { deep: true, ..VerifyOptions::default() };
        let status = code.map_or(2, |code| code.verify(&options).unwrap().exit_status());
        found.push((String::from_utf8(path.to_vec()).unwrap(), status));
    });
    found
}

#[test]
fn a_folder_of_applications_and_its_archives_have_the_same_code() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let copy = |name: &str, change: fn(&App)| {
        let app = App::new();
        change(&app);
        fs::rename(app.root(), home.path().join(name)).unwrap();
    };
    copy("Good.app", |_| {});
    copy("Edited.app", |app| app.write("Contents/Resources/a.txt", b"edited"));
    copy("Headless.app", |app| {
        app.remove("Contents/MacOS/demo");
        app.remove("Contents/_CodeSignature");
    });
    let folder = home.path().join("tools/deep");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tool"), signed(9000, "tool")).unwrap();
    fs::write(folder.join("text"), "#!/bin/sh\n").unwrap();
    fs::write(folder.join("Main.class"), b"\xca\xfe\xba\xbe\0\0\0\x41").unwrap();
    let expected =
        [("Edited.app", 3), ("Good.app", 0), ("Headless.app", 2), ("tools/deep/tool", 0)];
    let expected = expected.map(|(name, status)| (name.to_owned(), status));
    assert_eq!(statuses(&FolderTree::open(home.path()).unwrap()), expected);
    let entries = entries_of(home.path());
    for archive in [zipped(&entries), tarred(&entries), gzipped(&tarred(&entries))] {
        assert_eq!(statuses(&read(archive).unwrap()), expected);
    }
    let mut kinds = Vec::new();
    each_code(&read(zipped(&entries)).unwrap(), &mut |_, code| {
        kinds.extend(code.ok().map(|code| matches!(code.kind(), CodeKind::Bundle(_))));
    });
    assert_eq!(kinds, [true, true, false]);
}

pub(crate) fn file(name: &str) -> (String, EntryKind, Vec<u8>) {
    (name.to_owned(), EntryKind::File, b"text".to_vec())
}

pub(crate) fn link(name: &str) -> (String, EntryKind, Vec<u8>) {
    (name.to_owned(), EntryKind::Symlink, b"/tmp".to_vec())
}

#[test]
fn archives_that_tools_unpack_in_different_ways_are_refused() {
    for (what, entries) in [
        ("leads out", vec![file("a/../../b")]),
        ("beneath a symlink", vec![link("a"), file("a/b")]),
        ("a symlink in the place of a folder", vec![file("a/b"), link("a")]),
        ("beneath a file", vec![file("a"), file("a/b")]),
        ("one name for a Mac", vec![file("App/b"), file("app/c")]),
        ("one name for a Mac", vec![file("a/B"), file("a/b")]),
        ("one name for a Mac", vec![file("\u{e9}"), file("e\u{301}")]),
        ("a separator of another system", vec![file("a\\b")]),
    ] {
        assert_eq!(read(zipped(&entries)).unwrap_err(), ErrorKind::Malformed, "zip: {what}");
        if !what.starts_with("leads") {
            assert_eq!(read(tarred(&entries)).unwrap_err(), ErrorKind::Malformed, "tar: {what}");
        }
    }
    let twice = vec![file("a"), file("a")];
    assert_eq!(read(tarred(&twice)).unwrap_err(), ErrorKind::Malformed);
    // The index of a zip file and what lies before it.
    let good = zipped(&vec![file("name-one"), file("name-two")]);
    assert!(read(good.clone()).is_ok());
    let place = |bytes: &[u8]| bytes.windows(8).position(|name| name == b"name-one").unwrap();
    let mut renamed = good.clone();
    renamed[place(&good)] = b'm';
    assert_eq!(read(renamed).unwrap_err(), ErrorKind::Malformed);
    let before = [&good[..], &good].concat();
    assert_eq!(read(before).unwrap_err(), ErrorKind::Malformed, "two archives in one file");
    assert!(ArchiveTree::read(&b"text".to_vec(), LEN_MAX).unwrap().is_none());
}

#[test]
fn contents_are_bounded() {
    let zeros = vec![("zeros".to_owned(), EntryKind::File, vec![0; LEN_MAX as usize + 1])];
    for bomb in [zipped(&zeros), tarred(&zeros), gzipped(&tarred(&zeros))] {
        assert_eq!(read(bomb).unwrap_err(), ErrorKind::Unsupported);
    }
}

#[test]
fn a_resource_fork_in_a_zip_file_belongs_to_its_file() {
    let app = App::new();
    let mut entries = entries_of(app.root());
    for (name, _, _) in &mut entries {
        *name = format!("Demo.app/{name}");
    }
    let code = signed(9000, "evil");
    let mut double = b"\0\x05\x16\x07\0\x02\0\0".to_vec();
    double.extend([0; 16]);
    double.extend(
        [&[0, 1, 0, 0, 0, 2, 0, 0, 0, 38][..], &(code.len() as u32).to_be_bytes()].concat(),
    );
    double.extend(&code);
    entries.push((
        "__MACOSX/Demo.app/Contents/Resources/._a.txt".to_owned(),
        EntryKind::File,
        double,
    ));
    let found = statuses(&read(zipped(&entries)).unwrap());
    assert_eq!(found, [("Demo.app".to_owned(), 1)]);
}

/// A sample to change, and how it is packed after the change.
struct Packed {
    name: &'static str,
    bytes: Vec<u8>,
    pack: Box<dyn Fn(Vec<u8>) -> Vec<u8>>,
}

impl Packed {
    fn new(
        name: &'static str,
        bytes: Vec<u8>,
        pack: impl Fn(Vec<u8>) -> Vec<u8> + 'static,
    ) -> Packed {
        Packed { name, bytes, pack: Box::new(pack) }
    }
}

/// Archives with code whose signer is trusted, as they are and beneath what packs them.
fn samples(signers: &Signers) -> Vec<Packed> {
    let tool = |name: &str| vec![(name.to_owned(), EntryKind::File, crate::sample::tool().bytes)];
    let app = App::new();
    let with_app = |prefix: &str| {
        let entries = entries_of(app.root()).into_iter();
        let named =
            entries.map(|(name, kind, bytes)| (format!("{prefix}.app/{name}"), kind, bytes));
        named.chain(tool("tool")).collect::<Entries>()
    };
    let record = ("x.dist-info/RECORD".to_owned(), EntryKind::File, b"x/tool,,".to_vec());
    let package = signers.package(gzipped(&cpio(&tool("tool"))));
    let with_table = package.clone();
    let with_table = move |bytes: Vec<u8>| with_table.build_with_table(&bytes);
    let with_payload = |pack: fn(Vec<u8>) -> Vec<u8>| {
        let package = package.clone();
        move |bytes| package.clone().with_payload(pack(bytes)).build()
    };
    let table = package.table().0.into_bytes();
    vec![
        Packed::new("zip", zipped(&with_app("A")), |bytes| bytes),
        Packed::new("whl", zipped(&[tool("x/tool.so"), vec![record]].concat()), |bytes| bytes),
        Packed::new("ipa", zipped(&with_app("Payload/A")), |bytes| bytes),
        Packed::new("tgz", gzipped(&tarred(&with_app("A"))), |bytes| bytes),
        Packed::new("tar in it", tarred(&with_app("A")), |bytes| gzipped(&bytes)),
        Packed::new("pkg", package.build(), |bytes| bytes),
        Packed::new("table in it", table, with_table),
        Packed::new("cpio in it", cpio(&with_app("A")), with_payload(|bytes| gzipped(&bytes))),
        Packed::new("pbzx in it", pbzx(&cpio(&tool("tool")), 9000), with_payload(|bytes| bytes)),
        Packed::new("xz in it", xz(&cpio(&tool("tool"))), with_payload(|bytes| bytes)),
    ]
}

/// The code that is accepted and by a signer: its path, and its CDHash.
fn accepted(bytes: &[u8], options: &VerifyOptions) -> Option<Vec<(String, CdHash)>> {
    let found = verified(bytes, options).ok()?.into_iter();
    let accepted = found.filter_map(|(path, one)| Some((path, one.ok()?)));
    let accepted = accepted.filter(|(_, one)| one.exit_status() == 0 && !one.signers().is_empty());
    Some(accepted.filter_map(|(path, one)| Some((path, one.parts[0].cdhash?))).collect())
}

/// Archives that were changed are read or refused, within a bound of time and memory, and nothing
/// is accepted that its signer did not sign.
#[test]
fn no_archive_makes_it_fall_over() {
    let signers = Signers::new("1.2.840.113635.100.4.13");
    let options = signers.options();
    let inputs = crate::fuzz::asked("STEADFAST_FUZZ_INPUTS").unwrap_or(60);
    let only = std::env::var("STEADFAST_FUZZ_READER").ok();
    let is_asked = |one: &Packed| only.as_ref().is_none_or(|only| only == one.name);
    for sample in samples(&signers).into_iter().filter(is_asked) {
        let name = sample.name;
        let original = accepted(&(sample.pack)(sample.bytes.clone()), &options).unwrap();
        assert!(!original.is_empty(), "{name}");
        // A package that is packed after the change is signed after it.
        let is_sealed = |(path, _): &&(String, CdHash)| !path.is_empty() || name == "pkg";
        let mut random = crate::fuzz::Random(0xa2c4_1f00);
        let (mut read, mut same) = (0, 0);
        for input in 0..inputs {
            let altered = crate::fuzz::altered(&sample.bytes, &mut random);
            let Some(found) = accepted(&(sample.pack)(altered), &options) else { continue };
            read += 1;
            same += usize::from(found == original);
            for (path, hash) in found.iter().filter(is_sealed) {
                let known = original.iter().any(|(_, known)| known == hash);
                assert!(known, "{name}, input {input}: {path}");
            }
            let is_package = found.iter().any(|(path, _)| path.is_empty());
            assert!(name != "pkg" || !is_package || found == original, "input {input}");
        }
        println!("{name}: {inputs} changed, {read} of them read, {same} with all of the code");
    }
}
