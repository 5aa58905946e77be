//! Makes installer packages in memory, with every field a test may want to be another.
//!
//! It writes what the crate reads and shares nothing with it but the compression.

use std::io::Write as _;

use lzma_rust2::{XzOptions, XzWriter};
use steadfast_codesign::bundle::EntryKind;

use crate::archives::Entries;
use crate::signing::{AGILITY_LIST, AGILITY_SET, Message, Person, SHA1, SHA256, hash};

/// Room for the message, whose length is not known before it is made.
pub(crate) const CMS_ROOM: usize = 6000;

/// A file in a package.
#[derive(Clone)]
pub(crate) struct XarFile {
    pub(crate) path: &'static str,
    pub(crate) contents: Vec<u8>,
    /// Whether it is compressed.
    pub(crate) packed: bool,
}

/// A package to be made.
#[derive(Clone)]
pub(crate) struct Xar {
    pub(crate) files: Vec<XarFile>,
    pub(crate) hash: &'static str,
    pub(crate) signer: Option<Person>,
    pub(crate) certificates: Vec<Vec<u8>>,
    /// Replacements in the table, before it is signed.
    pub(crate) edits: Vec<(&'static str, &'static str)>,
    /// Replacements in the table, after it was signed.
    pub(crate) later: Vec<(&'static str, &'static str)>,
    /// What follows.
    pub(crate) after: Vec<u8>,
}

impl Xar {
    /// A package with one component, whose payload is this.
    pub(crate) fn of(payload: Vec<u8>, signer: Option<&Person>, chain: &[&Person]) -> Xar {
        let file = |path, contents, packed| XarFile { path, contents, packed };
        Xar {
            files: vec![
                file("Distribution", b"<installer-gui-script/>".to_vec(), true),
                file("Some.pkg/PackageInfo", b"<pkg-info/>".to_vec(), true),
                file("Some.pkg/Payload", payload, false),
            ],
            hash: SHA256,
            signer: signer.cloned(),
            certificates: chain.iter().map(|person| person.certificate.clone()).collect(),
            edits: Vec::new(),
            later: Vec::new(),
            after: Vec::new(),
        }
    }

    fn style(&self) -> &'static str {
        if self.hash == SHA1 { "sha1" } else { "sha256" }
    }

    /// The same with another payload.
    pub(crate) fn with_payload(mut self, payload: Vec<u8>) -> Xar {
        self.files.last_mut().unwrap().contents = payload;
        self
    }

    /// The table of contents, and the heap without signatures.
    pub(crate) fn table(&self) -> (String, Vec<u8>) {
        let (style, len) = (self.style(), hash(self.hash, b"").len());
        let mut toc =
            format!("<checksum style=\"{style}\"><offset>0</offset><size>{len}</size></checksum>");
        let mut heap = vec![0; len];
        if self.signer.is_some() {
            toc += &format!(
                "<x-signature style=\"CMS\"><offset>{len}</offset><size>{CMS_ROOM}</size>\
                 </x-signature>"
            );
            heap.resize(len + CMS_ROOM, 0);
        }
        for file in &self.files {
            let (folders, name) = file.path.rsplit_once('/').unwrap_or(("", file.path));
            let folders: Vec<&str> = folders.split('/').filter(|name| !name.is_empty()).collect();
            for folder in &folders {
                toc += &format!("<file><name>{folder}</name><type>directory</type>");
            }
            let (stored, encoding) = match file.packed {
                true => (zlib(&file.contents), "x-gzip"),
                false => (file.contents.clone(), "octet-stream"),
            };
            toc += &format!(
                "<file><name>{name}</name><type>file</type><data><offset>{}</offset>\
                 <length>{}</length><size>{}</size>\
                 <encoding style=\"application/{encoding}\"/>\
                 <archived-checksum style=\"{style}\">{}</archived-checksum>\
                 <extracted-checksum style=\"{style}\">{}</extracted-checksum></data></file>",
                heap.len(),
                stored.len(),
                file.contents.len(),
                hex(&hash(self.hash, &stored)),
                hex(&hash(self.hash, &file.contents)),
            );
            toc += &"</file>".repeat(folders.len());
            heap.extend(stored);
        }
        let toc = format!("<?xml version=\"1.0\"?><xar><toc>{toc}</toc></xar>");
        (self.edits.iter().fold(toc, |toc, (from, to)| replaced(&toc, from, to)), heap)
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        let toc = self.table().0;
        let later = self.later.iter().fold(toc.clone(), |toc, (from, to)| replaced(&toc, from, to));
        self.sealed(toc.as_bytes(), later.as_bytes())
    }

    /// The package with another table, signed.
    pub(crate) fn build_with_table(&self, table: &[u8]) -> Vec<u8> {
        self.sealed(table, table)
    }

    /// A package whose signature is of one table, and that has another.
    fn sealed(&self, toc: &[u8], later: &[u8]) -> Vec<u8> {
        let mut heap = self.table().1;
        let packed = zlib(toc);
        let checksum = hash(self.hash, &packed);
        if let Some(signer) = &self.signer {
            let mut message = Message::over(&[(2, checksum.clone())], signer);
            message.drop_signed(AGILITY_LIST);
            message.drop_signed(AGILITY_SET);
            message.certificates.extend(self.certificates.clone());
            let cms = message.build();
            heap[checksum.len()..checksum.len() + cms.len()].copy_from_slice(&cms);
        }
        let packed = zlib(later);
        let stored = hash(self.hash, &packed);
        heap[..stored.len()].copy_from_slice(&stored);
        let number = if self.hash == SHA1 { 1_u32 } else { 3 };
        let mut bytes = b"xar!\0\x1c\0\x01".to_vec();
        bytes.extend((packed.len() as u64).to_be_bytes());
        bytes.extend((later.len() as u64).to_be_bytes());
        bytes.extend(number.to_be_bytes());
        [bytes, packed, heap, self.after.clone()].concat()
    }
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from} is not in the table");
    text.replacen(from, to, 1)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// Chunks in xz, the last as it is.
pub(crate) fn pbzx(bytes: &[u8], chunk_len: usize) -> Vec<u8> {
    let number = |number: usize| (number as u64).to_be_bytes();
    let mut whole = [&b"pbzx"[..], &number(chunk_len)].concat();
    let count = bytes.chunks(chunk_len).count();
    for (at, chunk) in bytes.chunks(chunk_len).enumerate() {
        let packed = if at + 1 == count { chunk.to_vec() } else { xz(chunk) };
        whole.extend([&number(chunk.len())[..], &number(packed.len()), &packed].concat());
    }
    whole
}

/// A cpio archive in the form of Apple's payloads.
pub(crate) fn cpio(entries: &Entries) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |name: &str, mode: u32, contents: &[u8]| {
        bytes.extend(
            format!(
                "070707000000000000{mode:06o}000000000000000001000000{:011o}{:06o}{:011o}",
                0,
                name.len() + 1,
                contents.len()
            )
            .bytes(),
        );
        bytes.extend([name.as_bytes(), b"\0", contents].concat());
    };
    put(".", 0o040_755, b"");
    for (name, kind, contents) in entries {
        let mode = match kind {
            EntryKind::Folder => 0o040_755,
            EntryKind::Symlink => 0o120_755,
            EntryKind::File => 0o100_755,
            EntryKind::Other => 0o010_644,
        };
        put(&format!("./{name}"), mode, contents);
    }
    put("TRAILER!!!", 0, b"");
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}
