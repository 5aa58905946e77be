//! Forgeries by a generator with a fixed seed: genuine code beside other code, in every form that
//! holds several. Each has something in it that nobody vouches for, so none may be accepted.
//!
//! `STEADFAST_FUZZ_INPUTS` asks for more of each kind.

use std::fs;
use std::path::Path;

use steadfast_codesign::bundle::{EntryKind, FolderTree};
use steadfast_codesign::{Code, VerifyOptions, each_code};

use crate::app::{App, signed};
use crate::archives::{Entries, entries_of, file, gzipped, link, tarred, zipped};
use crate::builder::{Build, CPU_ARM64, CPU_X86_64, fat};
use crate::fuzz::{Random, asked};
use crate::packages::{Signers, verified};
use crate::sample::tool;
use crate::xar::cpio;

/// How many of each kind a run tries.
fn count() -> u64 {
    asked("STEADFAST_FUZZ_INPUTS").unwrap_or(60)
}

fn signers() -> Signers {
    Signers::new("1.2.840.113635.100.4.13")
}

/// Whether everything in a file is accepted.
fn is_accepted(bytes: &[u8], options: &VerifyOptions) -> bool {
    let good = |found: Result<u8, _>| found == Ok(0);
    verified(bytes, options)
        .is_ok_and(|found| found.into_iter().all(|(_, one)| good(one.map(|one| one.exit_status()))))
}

fn evil() -> Vec<u8> {
    signed(9000, "evil")
}

/// A slice that is not by the signer of the genuine one, or is none.
fn bad_slice(random: &mut Random, genuine: &[u8]) -> (u32, Vec<u8>) {
    let mut damaged = genuine.to_vec();
    damaged[0x900 + random.below(0x1000)] ^= 1 << random.below(8);
    let mut unsigned = evil();
    let command = unsigned.windows(8).position(|word| word == [0x1d, 0, 0, 0, 16, 0, 0, 0]);
    unsigned[command.unwrap()] = 0x2b;
    let mut other = Build::linker_signed(9000 + 4 * random.below(2000));
    other.cpu = CPU_X86_64;
    let inner = fat(&[(CPU_ARM64, &evil()), (CPU_X86_64, &other.build().bytes)], false).0;
    match random.below(9) {
        0 => (CPU_X86_64, other.build().bytes),
        1 => (CPU_ARM64, evil()),
        2 => (CPU_ARM64, unsigned),
        3 => (CPU_ARM64, damaged),
        4 => (CPU_X86_64, genuine.to_vec()),
        5 => (CPU_ARM64, genuine.to_vec()),
        6 => (CPU_X86_64, inner),
        7 => (CPU_X86_64, Vec::new()),
        _ => (CPU_X86_64, (0..5000).map(|_| random.below(256) as u8).collect()),
    }
}

/// A fat file with the genuine slice and others, and perhaps an index that says something else.
fn mixed_fat(random: &mut Random, genuine: &[u8]) -> Vec<u8> {
    let mut slices = vec![(CPU_ARM64, genuine.to_vec())];
    for _ in 0..1 + random.below(2) {
        slices.insert(random.below(slices.len() + 1), bad_slice(random, genuine));
    }
    let wide = random.below(2) == 0;
    let borrowed: Vec<(u32, &[u8])> =
        slices.iter().map(|(cpu, bytes)| (*cpu, &bytes[..])).collect();
    let mut bytes = fat(&borrowed, wide).0;
    match random.below(6) {
        // A line that is not counted: of a genuine slice nothing is left to see, or of another.
        0 if !wide && slices.last().is_some_and(|(cpu, _)| *cpu == CPU_ARM64) => bytes[7] -= 1,
        // More lines than Apple's tools write, the rest of them empty.
        1 => bytes[7] = 41 + random.below(60) as u8,
        // A line that leads into the middle of another slice.
        2 => bytes[if wide { 22 } else { 18 }] ^= 0x10,
        _ => {}
    }
    bytes
}

#[test]
fn no_fat_file_with_a_slice_by_somebody_else_is_accepted() {
    let (signers, genuine) = (signers(), tool().bytes);
    let options = signers.options();
    assert!(is_accepted(&genuine, &options));
    let beside = |bytes: Vec<u8>| {
        let file = |name: &str, bytes| (name.to_owned(), EntryKind::File, bytes);
        zipped(&vec![file("tool", genuine.clone()), file("other", bytes)])
    };
    let mut random = Random(0xfa7_0001);
    for number in 0..count() {
        let bytes = mixed_fat(&mut random, &genuine);
        assert!(!is_accepted(&bytes, &options), "{number}");
        assert!(!is_accepted(&beside(bytes), &options), "{number}, beside the genuine one");
    }
}

/// Names that seals, Apple's tools or file systems treat in a special way.
const NAMES: &[&str] = &[
    "evil",
    ".DS_Store",
    "PkgInfo",
    "Info.plist",
    "version.plist",
    "Icon\r",
    "_CodeSignature",
    "_codesignature",
    "CodeResources",
    "_MASReceipt",
    "_masreceipt",
    "receipt",
    "CodeSignature",
    "contents",
    "Content\u{17f}",
    "Con\u{200d}tents",
    "versions",
    "MACOS",
    "demo",
    "demo.cstemp",
    "Demo",
    "locversion.plist",
    "x.lproj",
    "._demo",
    "._Info.plist",
    ".LSOverride",
    "module.map",
    "Current",
    "B",
    "Kit",
    "embedded.provisionprofile",
    "e\u{301}",
    "Wrapper",
    "SC_Info",
    "lib.dylib",
];

fn folders(root: &Path) -> Vec<String> {
    let entries = entries_of(root).into_iter();
    let folders = entries.filter(|(_, kind, _)| *kind == EntryKind::Folder);
    let mut folders: Vec<String> = folders.map(|(name, _, _)| format!("{name}/")).collect();
    folders.push(String::new());
    folders.sort();
    folders
}

/// Puts something that no seal covers into an application. Returns what it was.
fn spoil(app: &App, random: &mut Random) -> String {
    let folders = folders(app.root());
    let mut place = folders[random.below(folders.len())].clone();
    for _ in 0..1 + random.below(2) {
        place = format!("{}/{}", place.trim_end_matches('/'), NAMES[random.below(NAMES.len())]);
    }
    let place = place.trim_start_matches('/').to_owned();
    // What is in the way of a folder, or has the name, is gone.
    for (at, _) in place.match_indices('/').chain([(place.len(), "")]) {
        let there = app.path(&place[..at]).symlink_metadata();
        if there.is_ok_and(|there| !there.is_dir() || at == place.len()) {
            app.remove(&place[..at]);
        }
    }
    let what = random.below(4);
    match what {
        0 => app.write(&place, &evil()),
        1 => app.write(&place, &fat(&[(CPU_ARM64, &evil())], random.below(2) == 0).0),
        2 => app.write(&place, b"#!/bin/sh\nevil\n"),
        _ => app.link(&place, ["/tmp/evil", "../../../../../../evil"][random.below(2)]),
    }
    format!("{what} at {place:?}")
}

/// Changes something that is sealed. Returns what it was.
fn change(app: &App, random: &mut Random) -> String {
    let entries = entries_of(app.root());
    let (name, kind, bytes) = loop {
        let entry = &entries[random.below(entries.len())];
        if !entry.0.ends_with("PkgInfo") && !entry.0.ends_with("de.lproj") {
            break entry;
        }
    };
    app.remove(name);
    let what = random.below(4);
    match (what, kind) {
        (0, EntryKind::File) if !name.ends_with("x.strings") => {}
        (1, EntryKind::File) => {
            let mut bytes = bytes.clone();
            let at = random.below(bytes.len().min(9000));
            bytes[at] ^= 1;
            app.write(name, &bytes);
        }
        (2, EntryKind::Symlink) => app.link(name, "/tmp/evil"),
        (3, EntryKind::File) => app.write(&format!("{name}/evil"), &evil()),
        _ => app.link(name, "/tmp/evil"),
    }
    format!("{what} of {name:?}")
}

/// The worst status of the code in a folder.
fn worst(root: &Path, options: &VerifyOptions) -> u8 {
    let mut worst = 0;
    each_code(&FolderTree::open(root).unwrap(), &mut |_, code| {
        worst = worst.max(code.map_or(2, |code| code.verify(options).unwrap().exit_status()));
    });
    worst
}

#[test]
fn no_application_with_something_unsealed_is_accepted() {
    let mut random = Random(0xb0_0002);
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(home.path().join("tool"), signed(9000, "tool")).unwrap();
    let root = home.path().join("Demo.app");
    for number in 0..2 * count() {
        let app = App::new();
        let what = if number % 2 == 0 { spoil } else { change }(&app, &mut random);
        fs::rename(app.root(), &root).unwrap();
        for deep in [false, true] {
            let options = VerifyOptions { deep, ..VerifyOptions::default() };
            // Of nested code without `deep`, pages and resources are not read, and it is said so.
            let is_nested = what.contains("Kit.framework/") || what.contains("helper");
            if deep || !is_nested {
                assert_ne!(worst(home.path(), &options), 0, "{number}: {what}, deep: {deep}");
                let tree = FolderTree::open(&root).unwrap();
                let code = Code::bundle(&tree, b"Demo.app");
                let status = code.map_or(2, |code| code.verify(&options).unwrap().exit_status());
                assert_ne!(status, 0, "{number}: {what}, deep: {deep}");
            }
        }
        let packed = zipped(&entries_of(home.path()));
        let options = VerifyOptions { deep: true, ..VerifyOptions::default() };
        assert!(!is_accepted(&packed, &options), "{number}: {what}, in a zip file");
        fs::remove_dir_all(&root).unwrap();
    }
}

/// An application that is accepted, a program beside it, and something edited that an archive may
/// hide.
fn good(random: &mut Random) -> (Entries, Vec<u8>) {
    let app = App::new();
    let mut entries: Entries = vec![("tool".to_owned(), EntryKind::File, tool().bytes)];
    let inner = entries_of(app.root()).into_iter();
    entries.extend(inner.map(|(name, kind, bytes)| (format!("A.app/{name}"), kind, bytes)));
    let mut edited = tool().bytes;
    edited[0x900 + random.below(0x1000)] ^= 1;
    (entries, edited)
}

/// A name that some system takes for this one.
fn alike(name: &str, random: &mut Random) -> String {
    let at = random.below(name.len() + 1);
    match random.below(4) {
        0 => name.to_uppercase(),
        1 => format!("{}{}{}", &name[..at], '\u{200c}', &name[at..]),
        2 => format!("./{name}"),
        _ => name.to_owned(),
    }
}

/// Name, name before the contents, mode, extra field, contents.
type RawEntry = (Vec<u8>, Vec<u8>, u32, Vec<u8>, Vec<u8>);

/// A zip file of stored entries.
fn raw_zip(entries: &[RawEntry]) -> Vec<u8> {
    let (mut bytes, mut index) = (Vec::new(), Vec::new());
    for (name, local, mode, extra, contents) in entries {
        let head = |name: &[u8]| {
            let mut head = b"\x14\0\0\0\0\0\0\0\x21\0".to_vec();
            head.extend(crc32(contents).to_le_bytes());
            head.extend([(contents.len() as u32).to_le_bytes(); 2].concat());
            head.extend(
                [(name.len() as u16).to_le_bytes(), (extra.len() as u16).to_le_bytes()].concat(),
            );
            head
        };
        let at = bytes.len() as u32;
        bytes.extend([b"PK\x03\x04", &head(local)[..], local, extra, contents].concat());
        index.extend([b"PK\x01\x02\x14\x03", &head(name)[..], &[0; 6]].concat());
        index.extend([(mode << 16).to_le_bytes(), at.to_le_bytes()].concat());
        index.extend([&name[..], extra].concat());
    }
    let count = (entries.len() as u16).to_le_bytes();
    let ends = [(index.len() as u32).to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
    [&bytes[..], &index, b"PK\x05\x06\0\0\0\0", &count, &count, &ends, &[0, 0]].concat()
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn forged_zip(random: &mut Random) -> (usize, Vec<u8>) {
    let (entries, edited) = good(random);
    let mode = |kind| match kind {
        EntryKind::Symlink => 0o120_777,
        EntryKind::Folder => 0o040_755,
        _ => 0o100_755,
    };
    let mut raw: Vec<_> = entries
        .iter()
        .map(|(name, kind, contents)| {
            let slash = if *kind == EntryKind::Folder { "/" } else { "" };
            let name = format!("{name}{slash}").into_bytes();
            (name.clone(), name, mode(*kind), Vec::new(), contents.clone())
        })
        .collect();
    let files: Vec<usize> = (0..raw.len()).filter(|at| entries[*at].1 == EntryKind::File).collect();
    let at = files[random.below(files.len())];
    let (name, other) = (raw[at].0.clone(), format!("other{}", random.below(100)).into_bytes());
    let plain =
        |name: &[u8], mode| (name.to_vec(), name.to_vec(), mode, Vec::new(), edited.clone());
    let what = random.below(9);
    let inner = [zipped, tarred, |entries: &Entries| gzipped(&tarred(entries))][random.below(3)];
    match what {
        0 => {
            let twin = alike(str::from_utf8(&name).unwrap(), random).into_bytes();
            raw.push((twin.clone(), twin, 0o100_755, Vec::new(), evil()));
        }
        1 => raw[at].1 = other,
        2 => raw.push(plain(b"folder/", 0o100_755)),
        // Types that no tool knows are files; so is a file whose type is not said.
        3 => raw.push(plain(&other, [0o170_755, 0o160_755, 0o755, 0o010_755][random.below(4)])),
        4 => {
            let renamed = [&[1][..], &crc32(&name).to_le_bytes(), &other].concat();
            let extra = [b"up", &(renamed.len() as u16).to_le_bytes()[..], &renamed].concat();
            raw.push((name.clone(), name, 0o100_755, extra, evil()));
        }
        5 => {
            let hidden = vec![("x/edited".to_owned(), EntryKind::File, edited)];
            raw.push((other.clone(), other, 0o100_644, Vec::new(), inner(&hidden)));
        }
        6 => raw.push(plain(&[&name[..], b"\0.txt"].concat(), 0o100_755)),
        7 => {
            let (mut whole, tail) = (raw_zip(&raw), raw_zip(&[plain(&other, 0o100_755)]));
            // A second archive as the comment of the first.
            let len = whole.len();
            whole[len - 2..].copy_from_slice(&(tail.len() as u16).to_le_bytes());
            return (what, [whole, tail].concat());
        }
        _ => {
            let linked = link(&format!("link{}", random.below(9))).0.into_bytes();
            raw.push((linked.clone(), linked.clone(), 0o120_777, Vec::new(), b"A.app".to_vec()));
            raw.push(plain(&[&linked[..], b"/Contents/PkgInfo"].concat(), 0o100_755));
        }
    }
    (what, raw_zip(&raw))
}

fn forged_tar(random: &mut Random) -> (usize, Vec<u8>) {
    let (mut entries, edited) = good(random);
    let hidden = |name: &str| vec![(name.to_owned(), EntryKind::File, edited.clone())];
    // Two blocks of zeros end an archive.
    let open = |entries: &Entries| {
        let mut bytes = tarred(entries);
        bytes.truncate(bytes.len() - 1024);
        bytes
    };
    let retyped = |mut bytes: Vec<u8>, kind: u8| {
        bytes[156] = kind;
        bytes[148..156].fill(b' ');
        let sum: u32 = bytes[..512].iter().map(|byte| u32::from(*byte)).sum();
        bytes[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes
    };
    let record = |key: &str, value: &str| {
        let line = format!("{key}={value}\n");
        let line = format!("{:02} {line}", line.len() + 3).into_bytes();
        vec![("pax".to_owned(), EntryKind::File, line)]
    };
    let files: Vec<String> = entries
        .iter()
        .filter(|(_, kind, _)| *kind == EntryKind::File)
        .map(|(name, _, _)| name.clone())
        .collect();
    let name = files[random.below(files.len())].clone();
    let what = random.below(8);
    let bytes = match what {
        0 => {
            let twin = (alike(&name, random), EntryKind::File, evil());
            [open(&entries), tarred(&vec![twin])].concat()
        }
        // Types that no tool knows are files.
        1 => {
            let kind = b"89ABCEFGHIJNOPQRTUWYZa"[random.below(22)];
            [open(&entries), retyped(tarred(&hidden("other")), kind)].concat()
        }
        // Another archive after the end of the first.
        2 => [tarred(&entries), tarred(&hidden("other"))].concat(),
        3 => {
            let (key, value) =
                [("GNU.sparse.name", "evil"), ("GNU.sparse.major", "1")][random.below(2)];
            let sparse = [&b"1\n0\n5000\n"[..], &[0; 503], &edited].concat();
            let sparse = vec![("other".to_owned(), EntryKind::File, sparse)];
            [open(&entries), retyped(open(&record(key, value)), b'x'), tarred(&sparse)].concat()
        }
        4 => {
            let global = record(["path", "linkpath"][random.below(2)], "tool");
            [open(&entries), retyped(open(&global), b'g'), tarred(&hidden("other"))].concat()
        }
        5 => {
            let inner = [zipped, tarred][random.below(2)](&hidden("x/edited"));
            entries.push(("other".to_owned(), EntryKind::File, inner));
            tarred(&entries)
        }
        6 => {
            entries.push(link("link"));
            entries.extend(hidden("link/edited"));
            tarred(&entries)
        }
        _ => {
            let mut double = vec![file("A.app/Contents/Info.plist")];
            double[0].2 = edited;
            [open(&double), tarred(&entries)].concat()
        }
    };
    (what, if random.below(2) == 0 { bytes } else { gzipped(&bytes) })
}

fn forged_package(random: &mut Random, signers: &Signers) -> (usize, Vec<u8>) {
    let (mut entries, edited) = good(random);
    let names: Vec<String> = entries
        .iter()
        .filter(|(_, kind, _)| *kind == EntryKind::File)
        .map(|(name, _, _)| name.clone())
        .collect();
    let name = names[random.below(names.len())].clone();
    let what = random.below(5);
    let payload = match what {
        0 => {
            entries.push((alike(&name, random), EntryKind::File, evil()));
            cpio(&entries)
        }
        // Two names of one file: tools unpack the contents of the first for both.
        1 => {
            entries.insert(0, ("first".to_owned(), EntryKind::File, b"#!/bin/sh\nevil".to_vec()));
            let mut bytes = cpio(&entries);
            for of in ["first", &name] {
                let path = format!("./{of}\0");
                let at = bytes.windows(path.len()).position(|window| window == path.as_bytes());
                let header = at.unwrap() - 76;
                bytes[header + 12..header + 18].copy_from_slice(b"000777");
                bytes[header + 36..header + 42].copy_from_slice(b"000002");
            }
            bytes
        }
        2 => [cpio(&entries), cpio(&vec![("other".to_owned(), EntryKind::File, edited)])].concat(),
        3 => {
            let hidden = vec![("x/edited".to_owned(), EntryKind::File, edited)];
            let inner = [zipped, tarred, |of: &Entries| gzipped(&tarred(of))][random.below(3)];
            entries.push(("other".to_owned(), EntryKind::File, inner(&hidden)));
            cpio(&entries)
        }
        _ => {
            entries.push(link("link"));
            entries.push(("link/edited".to_owned(), EntryKind::File, edited));
            cpio(&entries)
        }
    };
    (what, signers.package(gzipped(&payload)).build())
}

#[test]
fn no_archive_that_hides_something_is_accepted() {
    let signers = signers();
    let options = signers.options();
    let mut random = Random(0xa2c_0003);
    let entries = good(&mut random).0;
    for good in [zipped(&entries), tarred(&entries), gzipped(&tarred(&entries))] {
        assert!(is_accepted(&good, &options));
    }
    assert!(is_accepted(&signers.package(gzipped(&cpio(&entries))).build(), &options));
    let mut accepted = Vec::new();
    for _ in 0..count() {
        for (form, (what, bytes)) in [
            ("zip", forged_zip(&mut random)),
            ("tar", forged_tar(&mut random)),
            ("pkg", forged_package(&mut random, &signers)),
        ] {
            if is_accepted(&bytes, &options) {
                accepted.push((form, what));
            }
        }
    }
    accepted.sort();
    accepted.dedup();
    assert!(accepted.is_empty(), "{accepted:?}");
}
