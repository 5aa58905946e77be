//! Files of two forms, and files that hold code and are not looked into: none is passed over.

use std::io::{self, Read as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use steadfast_codesign::bundle::EntryKind;
use steadfast_codesign::{ArchiveTree, Code, ErrorKind, FileForm, VerifyOptions, each_code};

use crate::app::{App, signed};
use crate::archives::{Entries, entries_of, gzipped, tarred, zipped};
use crate::images::{image, trailer};
use crate::packages::Signers;
use crate::sample::tool;
use crate::xar::{cpio, pbzx, xz};

fn evil() -> Vec<u8> {
    signed(9000, "evil")
}

fn one(name: &str, bytes: Vec<u8>) -> Entries {
    vec![(name.to_owned(), EntryKind::File, bytes)]
}

/// A tar file from before its form had a name.
fn old_tar(entries: &Entries) -> Vec<u8> {
    let mut bytes = tarred(entries);
    bytes[257..265].fill(0);
    bytes[148..156].fill(b' ');
    let sum: u32 = bytes[..512].iter().map(|byte| u32::from(*byte)).sum();
    bytes[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    bytes
}

/// Bytes with some of them at a place.
fn placed(offset: usize, magic: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 40_000];
    bytes[offset..offset + magic.len()].copy_from_slice(magic);
    bytes
}

/// An index of a zip file that nothing comes before, with a comment.
fn commented(mut zip: Vec<u8>, comment: &[u8]) -> Vec<u8> {
    let at = zip.len() - 2;
    zip[at..].copy_from_slice(&u16::try_from(comment.len()).unwrap().to_le_bytes());
    [&zip[..], comment].concat()
}

/// Every container, with code in it where that is easily had; and whether it is looked into.
fn containers() -> Vec<(&'static str, Vec<u8>)> {
    let code = one("evil", evil());
    let unsigned_image = [vec![1; 1000], trailer(0, 0)].concat();
    vec![
        ("old tar", old_tar(&code)),
        ("tar.xz", xz(&tarred(&code))),
        ("bare gz", gzipped(&evil())),
        ("bare xz", xz(&evil())),
        ("tar.bz2", b"BZh91AY&SY and more".to_vec()),
        ("zst", b"\x28\xb5\x2f\xfd and more".to_vec()),
        ("lz4", b"\x04\x22\x4d\x18 and more".to_vec()),
        ("compress", b"\x1f\x9d and more".to_vec()),
        ("cpio, odc", cpio(&code)),
        ("cpio, newc", b"070701 and more".to_vec()),
        ("pbzx", pbzx(&cpio(&code), 4096)),
        ("Apple archive", b"AA01 and more".to_vec()),
        ("ar and deb", b"!<arch>\ndebian-binary".to_vec()),
        ("7z", b"7z\xbc\xaf\x27\x1c and more".to_vec()),
        ("rar", b"Rar!\x1a\x07\x01\0 and more".to_vec()),
        ("cab", b"MSCF\0\0\0\0 and more".to_vec()),
        (
            "script that unpacks itself",
            [b"#!/bin/sh\ntail -n +3 \"$0\" | tar x\n", &gzipped(&evil())[..]].concat(),
        ),
        ("zip behind bytes", [&b"anything"[..], &zipped(&code)].concat()),
        ("script with a zip file", [&b"#!/usr/bin/python\n"[..], &zipped(&code)].concat()),
        ("image", unsigned_image),
        ("HFS+", placed(1024, b"H+\0\x04")),
        ("APFS", placed(32, b"NXSB")),
        ("GPT", placed(512, b"EFI PART")),
        ("ISO 9660", placed(32_769, b"CD001")),
        ("encrypted image", placed(0, b"encrcdsa")),
        ("growing image", placed(0, b"sprs")),
    ]
}

/// What is in an archive, and the status of each: what could not be opened is not accepted.
fn judged(bytes: &[u8], options: &VerifyOptions) -> Vec<(String, u8)> {
    let tree = match ArchiveTree::read(&bytes, 64 << 20) {
        Ok(tree) => tree.unwrap(),
        Err(error) => return vec![(error.to_string(), 2)],
    };
    let mut found = Vec::new();
    each_code(&tree, &mut |path, code| {
        let path = String::from_utf8_lossy(path).into_owned();
        found.push(match code {
            Ok(code) => (path, code.verify(options).unwrap().exit_status()),
            Err(error) => (format!("{path}: {error}"), 2),
        });
    });
    found
}

fn status(bytes: &[u8], options: &VerifyOptions) -> u8 {
    judged(bytes, options).into_iter().map(|(_, status)| status).max().unwrap_or_default()
}

fn levels() -> [VerifyOptions; 4] {
    [(false, false), (true, false), (false, true), (true, true)].map(|(deep, strict)| {
        VerifyOptions { deep, strict, every_byte: strict, ..VerifyOptions::default() }
    })
}

#[test]
fn nothing_that_may_hold_code_is_passed_over_beside_a_program() {
    let names = ["evil", "a.b/evil.bin", "x/y/z/evil.txt", "evil.dmg", "evil.gz"];
    for (number, (what, container)) in containers().into_iter().enumerate() {
        for name in [names[number % names.len()], names[(number + 2) % names.len()]] {
            let mut entries = one("tool", signed(9000, "tool"));
            entries.extend(one(name, container.clone()));
            let packed = [
                zipped(&entries),
                tarred(&entries),
                gzipped(&tarred(&entries)),
                xz(&tarred(&entries)),
                zipped(&one("inner.zip", zipped(&entries))),
            ];
            for (place, packed) in packed.iter().enumerate() {
                for options in levels() {
                    // Code by nobody is intact code where a form is looked into.
                    let is_read = matches!(what, "old tar" | "tar.xz" | "bare gz" | "bare xz");
                    let expected = if is_read { 0 } else { 2 };
                    let found = judged(packed, &options);
                    let worst = found.iter().map(|(_, status)| *status).max();
                    assert_eq!(worst, Some(expected), "{what}, place {place}: {found:?}");
                }
            }
        }
    }
}

/// What is looked into is judged: an edited program is found in each of them.
#[test]
fn edited_code_is_found_in_whatever_is_looked_into() {
    let mut edited = tool().bytes;
    edited[0x900] ^= 1;
    let code = one("tool", edited.clone());
    for packed in [old_tar(&code), xz(&tarred(&code)), gzipped(&edited), xz(&edited)] {
        assert_eq!(status(&packed, &VerifyOptions::default()), 3);
        assert_eq!(status(&zipped(&one("x", packed)), &VerifyOptions::default()), 3);
    }
}

#[test]
fn a_file_of_two_forms_is_refused_whatever_the_options() {
    let code = one("tool", tool().bytes);
    let package = Signers::new("1.2.840.113635.100.4.13").package(cpio(&code)).build();
    let unsigned_image = [vec![1; 1000], trailer(0, 0)].concat();
    let genuine = [
        ("zip", zipped(&code)),
        ("program", tool().bytes),
        ("tar", tarred(&code)),
        ("gz", gzipped(&tarred(&code))),
        ("xz", xz(&tarred(&code))),
        ("package", package),
        ("script", b"#!/bin/sh\n".to_vec()),
        ("image", image()),
    ];
    for (what, first) in &genuine {
        for (added, second) in [
            ("image", &image()),
            ("unsigned image", &unsigned_image),
            ("zip", &zipped(&one("evil", evil()))),
            ("zip with a comment", &commented(zipped(&one("evil", evil())), b"words")),
        ] {
            if what.starts_with("image") && added.ends_with("image")
                || what.starts_with("zip") && added.starts_with("zip")
            {
                continue;
            }
            let both = [&first[..], second].concat();
            // A trailer that is not at the end is none: that is a zip file behind other bytes.
            let form = FileForm::of(&both).map_err(|error| error.kind());
            let expected =
                if *what == "image" { Ok(Some(FileForm::Zip)) } else { Err(ErrorKind::Malformed) };
            assert_eq!(form, expected, "{what} and {added}");
            assert!(Code::file(Box::new(both.clone())).is_err(), "{what} and {added}");
            assert!(ArchiveTree::read(&both, 64 << 20).is_err(), "{what} and {added}");
            let packed = zipped(&one("both.dmg", both));
            assert_eq!(status(&packed, &VerifyOptions::default()), 2, "{what} and {added}");
        }
    }
}

#[test]
fn a_zip_file_ends_with_its_index() {
    let zip = || zipped(&one("tool", tool().bytes));
    let read = |bytes: Vec<u8>| ArchiveTree::read(&bytes, 64 << 20).map(|tree| tree.is_some());
    assert!(read(zip()).unwrap());
    assert!(read(commented(zip(), b"a comment")).unwrap());
    for (what, bytes) in [
        ("an image in the comment", commented(zip(), &[vec![1; 1000], trailer(0, 0)].concat())),
        ("an index in the comment", commented(zip(), &zipped(&one("evil", evil())))),
        ("another zip file", [zip(), zipped(&one("evil", evil()))].concat()),
        ("bytes behind it", [zip(), vec![1; 100]].concat()),
        ("zeros behind it", [zip(), vec![0; 100]].concat()),
        ("a longer comment than there is", commented(zip(), b"words")[..zip().len() + 2].to_vec()),
    ] {
        assert_eq!(read(bytes).unwrap_err().kind(), ErrorKind::Malformed, "{what}");
    }
}

/// A file system where a Mac looks for one, in a file that begins as something else.
#[test]
fn a_disk_in_the_middle_of_another_file_is_a_second_form() {
    let mut filler = vec![7; 60_000];
    filler[2000] = 1;
    let stored = tarred(&one("filler", filler));
    for (offset, magic) in [
        (1024, &b"H+\0\x04"[..]),
        (1024, b"HX\0\x05"),
        (512 + 4, b""),
        (4096, b"EFI PART"),
        (32_769, b"CD001"),
    ] {
        let mut bytes = stored.clone();
        bytes[offset..offset + magic.len()].copy_from_slice(magic);
        assert_eq!(FileForm::of(&bytes).is_err(), !magic.is_empty(), "{offset}");
    }
}

#[test]
fn classes_of_java_and_plain_files_have_no_form() {
    for bytes in
        [&b""[..], b"text", b"\xca\xfe\xba\xbe\0\0\0\x41", b"PK", &[0; 5000], b"\x7fELF\x02"]
    {
        assert_eq!(FileForm::of(&bytes.to_vec()).unwrap(), None);
    }
}

/// An archive in an application is sealed with it: it is named if one looks closely, and accepted.
#[test]
fn a_sealed_archive_is_named_with_deep_alone() {
    let app = App::new();
    let entries = entries_of(app.root());
    assert!(entries.iter().any(|(name, ..)| name.ends_with("a.txt")));
    app.write("Contents/Resources/a.txt", &gzipped(b"text"));
    let tree = steadfast_codesign::bundle::FolderTree::open(app.root()).unwrap();
    let code = Code::bundle(&tree, b"Demo.app").unwrap();
    for options in levels() {
        let findings = code.verify(&options).unwrap().all_findings();
        let named = findings.iter().any(|found| found.text.contains("sealed, and not looked into"));
        assert_eq!(named, options.deep);
    }
}

/// What an archive holds is in memory once, in room that does not double: the tests have a bound.
#[test]
fn the_contents_of_an_archive_are_in_memory_once() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    io::copy(&mut io::repeat(0).take(520 << 20), &mut encoder).unwrap();
    let packed = encoder.finish().unwrap();
    assert!(ArchiveTree::read(&packed, ArchiveTree::LEN_MAX).unwrap().is_some());
}
