//! Which kind of file bytes are, by how they begin, how they end, and what lies at fixed places.
//!
//! One table for every file that is opened, wherever it lies. Tools look at different places: a Mac
//! mounts a disk image by its trailer, tools for zip files look for an index at the end, others go
//! by the first bytes. So a file that answers in two ways is refused: what was verified would not
//! be what somebody opens.
//!
//! Source: APPNOTE.TXT of PKWARE; the `magic` database of file(1); Apple's `diskimagerep`, TN1150
//! and the Apple File System Reference.

use std::io;

use strum::IntoStaticStr;

use crate::error::{Error, ErrorKind};
use crate::fat::is_macho;
use steadfast_sys::source::{ReadAt, read_range};

/// A kind of file that code can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
pub enum FileForm {
    /// A program or library, thin or fat.
    #[strum(serialize = "a Mach-O file")]
    MachO,
    /// A script, by its first line.
    #[strum(serialize = "a script")]
    Script,
    /// An installer package.
    #[strum(serialize = "an installer package")]
    Package,
    /// A zip file, also with another name.
    #[strum(serialize = "a zip file")]
    Zip,
    /// A tar file, of any age.
    #[strum(serialize = "a tar file")]
    Tar,
    /// Compressed with gzip.
    #[strum(serialize = "a file compressed with gzip")]
    Gzip,
    /// Compressed with xz.
    #[strum(serialize = "a file compressed with xz")]
    Xz,
    /// A disk image with a trailer.
    #[strum(serialize = "a disk image")]
    DiskImage,
    /// A disk, encrypted or not, without a trailer: partitions, a file system.
    #[strum(serialize = "a disk image without a trailer")]
    Disk,
    /// Compressed with bzip2.
    #[strum(serialize = "a file compressed with bzip2")]
    Bzip2,
    /// Compressed with Zstandard.
    #[strum(serialize = "a file compressed with Zstandard")]
    Zstd,
    /// Compressed by another program: compress, lzip, lzop, LZ4, LZFSE.
    #[strum(serialize = "a compressed file")]
    Compressed,
    /// A cpio archive.
    #[strum(serialize = "a cpio archive")]
    Cpio,
    /// Chunks, as payloads of packages have.
    #[strum(serialize = "an archive in chunks (pbzx)")]
    Chunks,
    /// An archive of Apple's newer form.
    #[strum(serialize = "an Apple archive")]
    AppleArchive,
    /// An archive of ar, also a package of Debian's or a static library.
    #[strum(serialize = "an ar archive")]
    Ar,
    /// A 7z archive.
    #[strum(serialize = "a 7z archive")]
    SevenZip,
    /// A RAR archive.
    #[strum(serialize = "a RAR archive")]
    Rar,
    /// A cabinet.
    #[strum(serialize = "a cabinet")]
    Cabinet,
}

/// What lies where, and which form that is.
const MAGIC: &[(u64, &[u8], FileForm)] = &[
    (0, b"#!", FileForm::Script),
    (0, b"xar!", FileForm::Package),
    (0, b"PK\x03\x04", FileForm::Zip),
    (0, b"PK\x05\x06", FileForm::Zip),
    (0, b"PK\x07\x08PK\x03\x04", FileForm::Zip),
    (0, b"\x1f\x8b", FileForm::Gzip),
    (0, b"\xfd7zXZ\0", FileForm::Xz),
    (0, b"BZh", FileForm::Bzip2),
    (0, b"\x28\xb5\x2f\xfd", FileForm::Zstd),
    (0, b"\x1f\x9d", FileForm::Compressed),
    (0, b"LZIP", FileForm::Compressed),
    (0, b"\x89LZO\0", FileForm::Compressed),
    (0, b"\x04\x22\x4d\x18", FileForm::Compressed),
    (0, b"bvx", FileForm::Compressed),
    (0, b"070701", FileForm::Cpio),
    (0, b"070702", FileForm::Cpio),
    (0, b"070707", FileForm::Cpio),
    (0, b"\xc7\x71", FileForm::Cpio),
    (0, b"\x71\xc7", FileForm::Cpio),
    (0, b"pbz", FileForm::Chunks),
    (0, b"AA01", FileForm::AppleArchive),
    (0, b"YAA1", FileForm::AppleArchive),
    (0, b"AEA1", FileForm::AppleArchive),
    (0, b"!<arch>\n", FileForm::Ar),
    (0, b"7z\xbc\xaf\x27\x1c", FileForm::SevenZip),
    (0, b"Rar!\x1a\x07", FileForm::Rar),
    (0, b"MSCF\0\0\0\0", FileForm::Cabinet),
    // Disks: encrypted, growing, in partitions, and file systems by themselves.
    (0, b"encrcdsa", FileForm::Disk),
    (0, b"sprs", FileForm::Disk),
    (512, b"EFI PART", FileForm::Disk),
    (4096, b"EFI PART", FileForm::Disk),
    (512, b"PM\0\0", FileForm::Disk),
    (2048, b"PM\0\0", FileForm::Disk),
    (32, b"NXSB", FileForm::Disk),
    (1024, b"H+\0\x04", FileForm::Disk),
    (1024, b"HX\0\x05", FileForm::Disk),
    (32_769, b"CD001", FileForm::Disk),
    (32_769, b"BEA01", FileForm::Disk),
];

/// Where the last place of the table ends, and how much is read at once.
const HEAD_LEN: u64 = 2052;

/// The end of a disk image: a trailer, or that of an old encrypted one.
const TRAILER_LEN: u64 = 512;

/// The index of a zip file ends with a record of 22 bytes and a comment.
const END_LEN: usize = 22;
const COMMENT_LEN_MAX: u64 = 0xffff;

/// How much of a script must be text.
const SCRIPT_LEN: u64 = 1 << 20;

/// Names by which a Mac mounts a file, whatever it begins with.
const DISK_NAMES: &[&[u8]] =
    &[b".dmg", b".img", b".iso", b".cdr", b".smi", b".toast", b".sparseimage", b".dvdr", b".udf"];

impl FileForm {
    /// Returns the form of a file; `None` if it is none of these.
    ///
    /// # Errors
    /// `Malformed` if it has two; `System` if it cannot be read.
    pub fn of(source: &dyn ReadAt) -> Result<Option<FileForm>, Error> {
        let system = |error| Error::system("tell what file it is", error);
        let head = read_range(source, 0, source.len_bytes().min(HEAD_LEN)).map_err(system)?;
        let mut found = is_macho(source, &head)?.then_some(FileForm::MachO);
        for form in forms(source, &head).map_err(system)? {
            found = Some(match found {
                // An image often begins with the disk that it holds: the trailer decides.
                None | Some(FileForm::Disk) if form == FileForm::DiskImage => form,
                None => form,
                Some(other) if other == form => form,
                Some(FileForm::DiskImage) if form == FileForm::Disk => FileForm::DiskImage,
                Some(other) => {
                    let (one, other): (&str, &str) = (other.into(), form.into());
                    let text = format!("{one} and {other} at once: tools open different things");
                    return Err(Error::malformed(text));
                }
            });
        }
        Ok(found)
    }

    /// Returns the words for it: "a tar file".
    pub fn words(self) -> &'static str {
        self.into()
    }

    /// Returns whether a file that begins like this is a tar file.
    pub(crate) fn is_tar(head: &[u8]) -> bool {
        head.get(257..262) == Some(b"ustar") || is_old_tar(head)
    }

    /// Returns whether what is in it can be looked into here.
    pub fn is_read(self) -> bool {
        matches!(
            self,
            FileForm::MachO
                | FileForm::Script
                | FileForm::Package
                | FileForm::Zip
                | FileForm::Tar
                | FileForm::Gzip
                | FileForm::Xz
                | FileForm::DiskImage
        )
    }

    /// Returns why a file was not looked into, though it may hold code; `None` if nothing in it is
    /// left out, or if it holds none. `name` is its name.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn left_out(
        form: Option<FileForm>,
        source: &dyn ReadAt,
        name: &[u8],
    ) -> Result<Option<Error>, Error> {
        let what = match form {
            Some(FileForm::Script) => match carries_bytes(source)? {
                true => "a script that carries other bytes than text",
                false => return Ok(None),
            },
            Some(form) if form.is_read() => return Ok(None),
            Some(form) => form.words(),
            None => {
                let name = name.to_ascii_lowercase();
                match DISK_NAMES.iter().any(|ending| name.ends_with(ending)) {
                    true => "named like a disk image, of a form that is not known",
                    false => return Ok(None),
                }
            }
        };
        Ok(Some(Error::new(ErrorKind::NotRead, format!("{what}: it was not looked into"))))
    }
}

/// Returns each form that a file has by its beginning, its end and fixed places.
fn forms(source: &dyn ReadAt, head: &[u8]) -> io::Result<Vec<FileForm>> {
    let len_bytes = source.len_bytes();
    let mut found = Vec::new();
    for (offset, magic, form) in MAGIC {
        let end = offset + magic.len() as u64;
        let is_there = match end <= HEAD_LEN {
            true => head.get(*offset as usize..).is_some_and(|rest| rest.starts_with(magic)),
            false => end <= len_bytes && read_range(source, *offset, magic.len() as u64)? == *magic,
        };
        if is_there {
            found.push(*form);
        }
    }
    if FileForm::is_tar(head) {
        found.push(FileForm::Tar);
    }
    if is_hfs(head) || is_partitioned(head, len_bytes) {
        found.push(FileForm::Disk);
    }
    let tail_len = len_bytes.min(COMMENT_LEN_MAX + END_LEN as u64);
    let tail = read_range(source, len_bytes - tail_len, tail_len)?;
    let trailer = tail.len().checked_sub(TRAILER_LEN as usize).map(|start| &tail[start..]);
    if trailer.is_some_and(|trailer| trailer.starts_with(b"koly")) {
        found.push(FileForm::DiskImage);
    }
    if tail.ends_with(b"cdsaencr") {
        found.push(FileForm::Disk);
    }
    if !found.contains(&FileForm::Zip) && ends_with_index(source, &tail)? {
        found.push(FileForm::Zip);
    }
    Ok(found)
}

/// Returns whether the end of a file has the end of a zip file's index, and the index is there.
/// Bytes before the zip file are no matter: tools count from the end.
fn ends_with_index(source: &dyn ReadAt, tail: &[u8]) -> io::Result<bool> {
    let tail_at = source.len_bytes() - tail.len() as u64;
    for (at, end) in tail.windows(END_LEN).enumerate() {
        if !end.starts_with(b"PK\x05\x06") {
            continue;
        }
        // The place of an index beyond 32 bits is in another record before this one.
        if end[10..12] == [0xff; 2] || end[12..16] == [0xff; 4] {
            if at >= 20 && tail[at - 20..].starts_with(b"PK\x06\x07") {
                return Ok(true);
            }
            continue;
        }
        let index_len = u32::from_le_bytes(end[12..16].try_into().expect("four bytes"));
        let Some(index_at) = (tail_at + at as u64).checked_sub(u64::from(index_len)) else {
            continue;
        };
        if index_len >= 46 && read_range(source, index_at, 4)? == b"PK\x01\x02" {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a file begins with the header of a tar file from before the form had a name: its
/// checksum is right.
fn is_old_tar(head: &[u8]) -> bool {
    let Some(header) = head.get(..512) else { return false };
    let field = header[148..156].iter().copied().skip_while(|byte| *byte == b' ');
    let mut digits = 0;
    let mut sealed = 0_u64;
    for byte in field.take_while(|byte| matches!(byte, b'0'..=b'7')) {
        sealed = sealed * 8 + u64::from(byte - b'0');
        digits += 1;
    }
    let sum = |range: &[u8]| range.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    digits > 0
        && header[0] != 0
        && sealed == sum(&header[..148]) + sum(&header[156..]) + 8 * u64::from(b' ')
}

/// Returns whether the first disk of Macs, HFS, is there: two letters, and a volume that can be.
fn is_hfs(head: &[u8]) -> bool {
    let Some(volume) = head.get(1024..1024 + 64) else { return false };
    let block_len = u32::from_be_bytes(volume[20..24].try_into().expect("four bytes"));
    volume.starts_with(b"BD")
        && block_len != 0
        && block_len.is_multiple_of(512)
        && block_len <= 1 << 24
        && (1..=27).contains(&volume[36])
}

/// Returns whether a table of partitions as PCs have it is there, and has one that fits the file.
fn is_partitioned(head: &[u8], len_bytes: u64) -> bool {
    let Some(sector) = head.get(..512) else { return false };
    let number = |at: usize| u32::from_le_bytes(sector[at..at + 4].try_into().expect("four bytes"));
    let entries = (0..4).map(|index| 446 + 16 * index);
    let mut used = 0;
    for at in entries {
        let (state, kind, start, len) =
            (sector[at], sector[at + 4], number(at + 8), number(at + 12));
        if kind == 0 && start == 0 && len == 0 {
            continue;
        }
        let end = (u64::from(start) + u64::from(len)) * 512;
        if !matches!(state, 0 | 0x80) || kind == 0 || start == 0 || len == 0 || end > len_bytes {
            return false;
        }
        used += 1;
    }
    sector[510..] == [0x55, 0xaa] && used > 0
}

/// Returns whether a script has bytes that no text has: programs that unpack themselves do.
fn carries_bytes(source: &dyn ReadAt) -> Result<bool, Error> {
    let len_bytes = source.len_bytes();
    let start_len = len_bytes.min(SCRIPT_LEN);
    let end_len = (len_bytes - start_len).min(COMMENT_LEN_MAX);
    for (at, len) in [(0, start_len), (len_bytes - end_len, end_len)] {
        let bytes = read_range(source, at, len);
        let bytes = bytes.map_err(|error| Error::system("read the script", error))?;
        if bytes.contains(&0) {
            return Ok(true);
        }
    }
    Ok(false)
}
