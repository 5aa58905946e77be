//! Builds signed Mach-O files in memory: every field a test may want to be another.
//!
//! It is written from the description of the formats, not from the crate, and hashes with another
//! library, so that agreement means something. What it makes is a small executable with one
//! section of code, one of data, and a signature at the end.

use std::ops::Range;

use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384};

pub(crate) const CPU_ARM64: u32 = 0x0100_000c;
pub(crate) const CPU_X86_64: u32 = 0x0100_0007;
pub(crate) const CPU_POWERPC: u32 = 18;

/// Where the code begins; before it are header and load commands.
pub(crate) const TEXT_OFFSET: usize = 0x800;

/// A code directory to be made.
#[derive(Clone)]
pub(crate) struct Directory {
    pub(crate) slot: u32,
    pub(crate) version: u32,
    pub(crate) hash: u8,
    pub(crate) page_shift: u8,
    pub(crate) flags: u32,
    pub(crate) identifier: &'static str,
    pub(crate) team: Option<&'static str>,
    /// Puts the limit where files beyond 4 GiB have it.
    pub(crate) limit_64: bool,
    /// Bytes of code it seals; to the signature if absent.
    pub(crate) limit: Option<u64>,
    pub(crate) special_count: u32,
    /// Count, base and target of scattered pages.
    pub(crate) scatter: Vec<(u32, u32, u64)>,
    pub(crate) runtime: u32,
    pub(crate) pre_encrypt: bool,
    pub(crate) linkage: Vec<u8>,
}

impl Directory {
    pub(crate) fn new(slot: u32, hash: u8) -> Directory {
        Directory {
            slot,
            version: 0x2_0400,
            hash,
            page_shift: 12,
            flags: 0x2_0002,
            identifier: "org.example.tool",
            team: None,
            limit_64: false,
            limit: None,
            special_count: 0,
            scatter: Vec::new(),
            runtime: 0,
            pre_encrypt: false,
            linkage: Vec::new(),
        }
    }
}

/// A slice to be made.
#[derive(Clone)]
pub(crate) struct Build {
    pub(crate) cpu: u32,
    pub(crate) big_endian: bool,
    pub(crate) is_64: bool,
    /// Bytes before the signature, header included.
    pub(crate) code_len: usize,
    pub(crate) directories: Vec<Directory>,
    /// Blobs beside the directories, headers included.
    pub(crate) blobs: Vec<(u32, Vec<u8>)>,
    /// What the bundle has for slots 1, 3 and 6.
    pub(crate) outside: Vec<(u32, Vec<u8>)>,
    /// The section `__TEXT,__info_plist`.
    pub(crate) info_plist: Option<Vec<u8>>,
    /// Zeros between the end of the signature and the end of the room for it.
    pub(crate) slack: usize,
}

/// A slice that was made, and where things are in it.
#[derive(Clone)]
pub(crate) struct Built {
    pub(crate) bytes: Vec<u8>,
    pub(crate) signature: Range<usize>,
    /// Each blob by its slot, as bytes of the slice.
    pub(crate) blobs: Vec<(u32, Range<usize>)>,
    /// Of each directory the digest of its first page, as an offset in the slice.
    pub(crate) digests: Vec<usize>,
}

impl Built {
    pub(crate) fn blob(&self, slot: u32) -> Range<usize> {
        self.blobs.iter().find(|(known, _)| *known == slot).unwrap().1.clone()
    }
}

impl Build {
    /// A file as linkers sign it: one directory of SHA-256, nothing else.
    pub(crate) fn linker_signed(code_len: usize) -> Build {
        Build {
            cpu: CPU_ARM64,
            big_endian: false,
            is_64: true,
            code_len,
            directories: vec![Directory::new(0, 2)],
            blobs: Vec::new(),
            outside: Vec::new(),
            info_plist: None,
            slack: 0,
        }
    }

    /// A file as older signers make it: SHA-1 first, SHA-256 beside it, and every other blob.
    pub(crate) fn full(code_len: usize) -> Build {
        let mut build = Build::linker_signed(code_len);
        build.directories = vec![Directory::new(0, 1), Directory::new(0x1000, 2)];
        for directory in &mut build.directories {
            directory.version = 0x2_0500;
            directory.flags = 0x1_0002;
            directory.team = Some("TEAM123456");
            directory.special_count = 7;
            directory.runtime = 0x000e_0400;
        }
        build.blobs = vec![
            (2, blob(0xfade_0c01, &[0, 0, 0, 0])),
            (5, blob(0xfade_7171, ENTITLEMENTS.as_bytes())),
            (7, blob(0xfade_7172, ENTITLEMENTS_DER)),
            (0x1_0000, blob(0xfade_0b01, &[])),
        ];
        build.slack = 100;
        build
    }

    pub(crate) fn build(&self) -> Built {
        let mut bytes = self.code();
        let start = bytes.len();
        let directories: Vec<(usize, Vec<u8>)> =
            self.directories.iter().map(|directory| self.directory(directory, &bytes)).collect();
        let of_directories = self.directories.iter().zip(&directories);
        let mut all: Vec<(u32, Vec<u8>)> =
            of_directories.map(|(directory, (_, blob))| (directory.slot, blob.clone())).collect();
        all.extend(self.blobs.iter().cloned());
        let (signature, places) = superblob(&all);
        bytes.extend(&signature);
        bytes.resize(bytes.len() + self.slack, 0);
        let blobs: Vec<(u32, Range<usize>)> = places
            .into_iter()
            .map(|(slot, range)| (slot, start + range.start..start + range.end))
            .collect();
        let digests =
            directories.iter().zip(&blobs).map(|((offset, _), (_, range))| range.start + offset);
        let digests = digests.collect();
        Built { signature: start..bytes.len(), bytes, blobs, digests }
    }

    /// Length of the signature and the room behind it: known before it is made, since the load
    /// command that says it is sealed.
    fn room(&self) -> usize {
        let code = vec![0; self.code_len];
        let mut all: Vec<(u32, Vec<u8>)> = Vec::new();
        for directory in &self.directories {
            all.push((directory.slot, self.directory(directory, &code).1));
        }
        all.extend(self.blobs.iter().cloned());
        superblob(&all).0.len() + self.slack
    }

    /// Header, load commands, and code that looks like nothing else.
    fn code(&self) -> Vec<u8> {
        let mut bytes = pattern(self.code_len);
        let commands = self.commands();
        bytes[..commands.len()].copy_from_slice(&commands);
        bytes[commands.len()..TEXT_OFFSET].fill(0);
        if let Some(plist) = &self.info_plist {
            bytes[TEXT_OFFSET..TEXT_OFFSET + plist.len()].copy_from_slice(plist);
        }
        bytes
    }

    fn commands(&self) -> Vec<u8> {
        let words = |values: &[u32]| values.iter().flat_map(|value| self.u32(*value)).collect();
        let plist_len = self.info_plist.as_ref().map_or(0, Vec::len);
        let text_end = self.code_len / 2;
        let mut sections = vec![("__text", TEXT_OFFSET + plist_len..text_end)];
        if plist_len > 0 {
            sections.push(("__info_plist", TEXT_OFFSET..TEXT_OFFSET + plist_len));
        }
        let end = self.code_len + self.room();
        let segments = [
            self.segment("__TEXT", 0..text_end, &sections),
            self.segment("__LINKEDIT", text_end..end, &[]),
        ];
        let signature: Vec<u8> =
            words(&[0x1d, 16, self.code_len as u32, (end - self.code_len) as u32]);
        let build: Vec<u8> = words(&[0x32, 24, 1, 0x000b_0000, 0x000e_0000, 0]);
        let commands = [segments.concat(), build, signature].concat();
        let magic = if self.is_64 { 0xfeed_facf } else { 0xfeed_face };
        let mut header: Vec<u8> = words(&[magic, self.cpu, 0, 2, 4, commands.len() as u32, 0]);
        header.resize(if self.is_64 { 32 } else { 28 }, 0);
        [header, commands].concat()
    }

    fn segment(
        &self,
        name: &str,
        range: Range<usize>,
        sections: &[(&str, Range<usize>)],
    ) -> Vec<u8> {
        let name_bytes = |name: &str| {
            let mut bytes = name.as_bytes().to_vec();
            bytes.resize(16, 0);
            bytes
        };
        let wide = |value: usize| match self.is_64 {
            true => self.u64(value as u64),
            false => self.u32(value as u32),
        };
        let mut held = Vec::new();
        for (section, range) in sections {
            held.extend([name_bytes(section), name_bytes(name)].concat());
            held.extend([wide(0), wide(range.len()), self.u32(range.start as u32)].concat());
            held.extend([0; 24]);
            held.extend(if self.is_64 { vec![0; 4] } else { vec![] });
        }
        let mut body = name_bytes(name);
        body.extend([wide(0), wide(0), wide(range.start), wide(range.len())].concat());
        body.extend([self.u32(7), self.u32(5), self.u32(sections.len() as u32)].concat());
        body.extend(self.u32(0));
        body.extend(held);
        let kind = if self.is_64 { 0x19 } else { 0x1 };
        [self.u32(kind), self.u32(body.len() as u32 + 8), body].concat()
    }

    fn u32(&self, value: u32) -> Vec<u8> {
        if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() }.to_vec()
    }

    fn u64(&self, value: u64) -> Vec<u8> {
        if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() }.to_vec()
    }

    /// Makes a directory for some code; returns where its first page's digest is, and the blob.
    fn directory(&self, directory: &Directory, code: &[u8]) -> (usize, Vec<u8>) {
        let limit = directory.limit.unwrap_or(code.len() as u64);
        let sealed = &code[..(limit as usize).min(code.len())];
        let pages: Vec<Vec<u8>> = match directory.page_shift {
            0 => vec![digest(directory.hash, sealed)],
            shift => sealed.chunks(1 << shift).map(|page| digest(directory.hash, page)).collect(),
        };
        let hash_len = pages.first().map_or(20, Vec::len);
        let header_len: usize = match directory.version {
            ..0x2_0100 => 44,
            0x2_0100..0x2_0200 => 48,
            0x2_0200..0x2_0300 => 52,
            0x2_0300..0x2_0400 => 64,
            0x2_0400..0x2_0500 => 88,
            0x2_0500..0x2_0600 => 96,
            _ => 108,
        };
        let mut tail = Vec::new();
        let mut put = |bytes: &[u8]| {
            let at = header_len + tail.len();
            tail.extend_from_slice(bytes);
            at
        };
        let scatter = match directory.scatter.is_empty() {
            true => 0,
            false => put(&scatter_table(&directory.scatter)),
        };
        let identifier = put(&[directory.identifier.as_bytes(), b"\0"].concat());
        let team = directory.team.map_or(0, |team| put(&[team.as_bytes(), b"\0"].concat()));
        let linkage = if directory.linkage.is_empty() { 0 } else { put(&directory.linkage) };
        let pre_encrypt = if directory.pre_encrypt { put(&pages.concat()) } else { 0 };
        let special = self.special_digests(directory, hash_len);
        let hashes = put(&special) + special.len();
        put(&pages.concat());
        let limit_32 = if directory.limit_64 { 0 } else { limit as u32 };
        let limit_64 = if directory.limit_64 { limit } else { 0 };
        let mut head = Vec::new();
        let fields = [
            (directory.version, directory.flags),
            (hashes as u32, identifier as u32),
            (directory.special_count, pages.len() as u32),
        ];
        for (one, other) in fields {
            head.extend([one.to_be_bytes(), other.to_be_bytes()].concat());
        }
        head.extend(limit_32.to_be_bytes());
        head.extend([hash_len as u8, directory.hash, 0, directory.page_shift, 0, 0, 0, 0]);
        head.extend((scatter as u32).to_be_bytes());
        head.extend((team as u32).to_be_bytes());
        head.extend([0; 4]);
        head.extend(limit_64.to_be_bytes());
        for exec in [0, 0x4000_u64, 1] {
            head.extend(exec.to_be_bytes());
        }
        head.extend(directory.runtime.to_be_bytes());
        head.extend((pre_encrypt as u32).to_be_bytes());
        head.extend([2, 1, 0, 3]);
        head.extend((linkage as u32).to_be_bytes());
        head.extend((directory.linkage.len() as u32).to_be_bytes());
        head.truncate(header_len - 8);
        (hashes, blob(0xfade_0c02, &[head, tail].concat()))
    }

    /// Digests of special slots, the highest first.
    fn special_digests(&self, directory: &Directory, hash_len: usize) -> Vec<u8> {
        let mut digests = Vec::new();
        for slot in (1..=directory.special_count).rev() {
            let things = self.blobs.iter().chain(&self.outside);
            let found = things.filter(|(known, _)| *known == slot).map(|(_, bytes)| bytes);
            let plist = self.info_plist.as_ref().filter(|_| slot == 1);
            let found = found.chain(plist).next();
            digests.extend(match found {
                // A list of slots is wrapped, and hashed without its wrapper.
                Some(bytes) if slot == 4 => digest(directory.hash, &bytes[8..]),
                Some(bytes) => digest(directory.hash, bytes),
                None => vec![0; hash_len],
            });
        }
        digests
    }
}

pub(crate) const ENTITLEMENTS: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <plist version=\"1.0\"><dict><key>a</key><true/></dict></plist>\n";

/// The same: an envelope, version 1, a map of `a` to true.
pub(crate) const ENTITLEMENTS_DER: &[u8] =
    &[0x70, 13, 2, 1, 1, 0xb0, 8, 0x30, 6, 0x0c, 1, b'a', 1, 1, 0xff];

pub(crate) fn digest(hash: u8, bytes: &[u8]) -> Vec<u8> {
    match hash {
        1 => Sha1::digest(bytes).to_vec(),
        3 => Sha256::digest(bytes)[..20].to_vec(),
        4 => Sha384::digest(bytes).to_vec(),
        _ => Sha256::digest(bytes).to_vec(),
    }
}

pub(crate) fn blob(magic: u32, payload: &[u8]) -> Vec<u8> {
    let len = payload.len() as u32 + 8;
    [&magic.to_be_bytes(), &len.to_be_bytes(), payload].concat()
}

/// Puts blobs into a container; returns where each of them is in it.
pub(crate) fn superblob(blobs: &[(u32, Vec<u8>)]) -> (Vec<u8>, Vec<(u32, Range<usize>)>) {
    let (mut index, mut held, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (slot, bytes) in blobs {
        let at = 12 + 8 * blobs.len() + held.len();
        index.extend([slot.to_be_bytes(), (at as u32).to_be_bytes()].concat());
        places.push((*slot, at..at + bytes.len()));
        held.extend(bytes);
    }
    let payload = [(blobs.len() as u32).to_be_bytes().to_vec(), index, held].concat();
    (blob(0xfade_0cc0, &payload), places)
}

fn scatter_table(lines: &[(u32, u32, u64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (count, base, target) in lines.iter().copied().chain([(0, 0, 0)]) {
        bytes.extend([count.to_be_bytes(), base.to_be_bytes()].concat());
        bytes.extend([target.to_be_bytes(), [0; 8]].concat());
    }
    bytes
}

/// Bytes that do not repeat.
fn pattern(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Puts slices into a fat file, each at a multiple of 4096; returns where they are.
pub(crate) fn fat(slices: &[(u32, &[u8])], wide: bool) -> (Vec<u8>, Vec<usize>) {
    let magic: u32 = if wide { 0xcafe_babf } else { 0xcafe_babe };
    let mut index = [magic.to_be_bytes(), (slices.len() as u32).to_be_bytes()].concat();
    let (mut held, mut places) = (vec![0; 4096], Vec::new());
    for (cpu, bytes) in slices {
        let at = held.len();
        // The member of the family, as the slice itself has it.
        let member: [u8; 4] = bytes.get(8..12).map_or([0; 4], |own| own.try_into().unwrap());
        index.extend([cpu.to_be_bytes(), u32::from_le_bytes(member).to_be_bytes()].concat());
        if wide {
            index.extend([(at as u64).to_be_bytes(), (bytes.len() as u64).to_be_bytes()].concat());
            index.extend([0, 0, 0, 12, 0, 0, 0, 0]);
        } else {
            index.extend([(at as u32).to_be_bytes(), (bytes.len() as u32).to_be_bytes()].concat());
            index.extend([0, 0, 0, 12]);
        }
        held.extend_from_slice(bytes);
        places.push(at);
        if places.len() < slices.len() {
            held.resize(held.len().next_multiple_of(4096), 0);
        }
    }
    held[..index.len()].copy_from_slice(&index);
    (held, places)
}
