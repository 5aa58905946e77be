//! Folders and archives of code: what is found in them, and archives that could be unpacked in
//! different ways.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;

use steadfast_codesign::bundle::{BundleTree, EntryKind, FolderTree};
use steadfast_codesign::{ArchiveTree, CodeKind, ErrorKind, VerifyOptions, each_code};
use zip::write::SimpleFileOptions;

use crate::app::{App, signed};

const LEN_MAX: u64 = 16 << 20;

/// The entries of an archive: name, kind, contents or target.
type Entries = Vec<(String, EntryKind, Vec<u8>)>;

/// Everything in a folder, in the order of names.
fn entries_of(root: &Path) -> Entries {
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

fn zipped(entries: &Entries) -> Vec<u8> {
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

fn tarred(entries: &Entries) -> Vec<u8> {
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

fn gzipped(bytes: &[u8]) -> Vec<u8> {
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

fn file(name: &str) -> (String, EntryKind, Vec<u8>) {
    (name.to_owned(), EntryKind::File, b"text".to_vec())
}

fn link(name: &str) -> (String, EntryKind, Vec<u8>) {
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

/// Archives that were changed are read or refused, within a bound of time and memory.
#[test]
fn no_archive_makes_it_fall_over() {
    let app = App::new();
    let entries = entries_of(app.root());
    let plain = [zipped(&entries), tarred(&entries)];
    let mut random = crate::fuzz::Random(0xa2c4_1f00);
    let inputs = crate::fuzz::asked("STEADFAST_FUZZ_INPUTS").unwrap_or(600);
    let (mut read_ones, mut good) = (0, 0);
    for _ in 0..inputs {
        let compressed = random.below(3) == 0;
        let sample = &plain[if compressed { 1 } else { random.below(2) }];
        let bytes = crate::fuzz::altered(sample, &mut random);
        let bytes = if compressed { gzipped(&bytes) } else { bytes };
        let Ok(Some(tree)) = ArchiveTree::read(&bytes, LEN_MAX) else { continue };
        read_ones += 1;
        good += usize::from(statuses(&tree).iter().all(|(_, status)| *status == 0));
    }
    println!("{inputs} archives, {read_ones} of them read, {good} good");
    assert!(read_ones > 0);
}
