//! Reads a Mach-O file, thin or fat: its slices, and the signature of each.
//!
//! Each slice is read by itself: one may be signed and the next not. Verifying compares them.

use crate::apple::AppleError;
use crate::error::{Error, ErrorKind};
use crate::fields::IntegerReader;
use crate::finding::{CodeFinding, FindingKind};
use crate::macho::{Architecture, MachO};
use crate::signature::Signature;
use steadfast_sys::source::{Part, ReadAt, read_range};

const FAT_MAGIC: u32 = 0xcafe_babe;
const FAT_MAGIC_64: u32 = 0xcafe_babf;
const FAT_HEADER_LEN: u64 = 8;

/// What tells one kind of file from another, and the processor of a thin one.
const HEAD_LEN: u64 = 12;

/// More slices than this are not read: Java's classes begin with the same four bytes, and what
/// follows there is a version, 45 or more.
const FAT_COUNT_MAX: u32 = 40;

/// A Mac runs code from an index as long as a page of its memory.
const FAT_COUNT_LOADED: u32 = 16_384 / 20;

/// The family of 64-bit Arm.
const CPU_ARM64: u32 = 0x0100_000c;

/// Returns whether a file that begins like this is a program or a library: Mach-O, thin or fat, or
/// a script.
pub(crate) fn is_code(head: [u8; 4]) -> bool {
    let is_fat = [u32::from_be_bytes(head), u32::from_le_bytes(head)]
        .iter()
        .any(|magic| matches!(*magic, FAT_MAGIC | FAT_MAGIC_64));
    is_fat || MachO::is_magic(&head) || head.starts_with(b"#!")
}

/// The container of the slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// The file is one slice.
    Thin,
    /// A fat file.
    Fat,
    /// A fat file with 64-bit offsets.
    Fat64,
}

/// One slice of a file.
#[derive(Clone, Debug)]
pub struct MachSlice {
    /// The processor it is for.
    pub architecture: Architecture,
    /// Where it begins in the file.
    pub offset: u64,
    /// How long it is.
    pub len_bytes: u64,
    /// The load commands, if they can be read.
    pub macho: Option<MachO>,
    /// Its signature, if there is one that can be read.
    pub signature: Option<Signature>,
    /// Problems of the slice's form; those of the signature are in [`Signature::findings`].
    pub findings: Vec<CodeFinding>,
}

/// One Mach-O file.
#[derive(Clone, Debug)]
pub struct Binary {
    /// The container of the slices.
    pub container: Container,
    /// Length of the file.
    pub len_bytes: u64,
    /// The slices, in the order of the file's index.
    pub slices: Vec<MachSlice>,
}

impl Binary {
    /// Reads load commands and signatures of every slice; no page is read.
    ///
    /// # Errors
    /// `NotCode` if it is not a Mach-O file; `System` if its first bytes cannot be read.
    pub fn read(source: &dyn ReadAt) -> Result<Binary, Error> {
        let system = |error| Error::system("read the header", error);
        let not_code = || Error::new(ErrorKind::NotCode, "the file is no Mach-O file");
        let len_bytes = source.len_bytes();
        let head = read_range(source, 0, len_bytes.min(HEAD_LEN)).map_err(system)?;
        let fields = IntegerReader::big(&head);
        let container = match fields.u32(0).ok_or_else(not_code)? {
            FAT_MAGIC => Container::Fat,
            FAT_MAGIC_64 => Container::Fat64,
            _ => {
                let architecture = MachO::architecture_of(&head).ok_or_else(not_code)?;
                let entry = FatEntry { architecture, offset: 0, len_bytes };
                let slices = vec![MachSlice::read(source, entry)];
                return Ok(Binary { container: Container::Thin, len_bytes, slices });
            }
        };
        let count = fields.u32(4).ok_or_else(not_code)?;
        if count > FAT_COUNT_MAX {
            return Err(match leads_to_code(source, container, count)? {
                true => Error::new(ErrorKind::Unsupported, "a fat file of more than 40 slices"),
                false => not_code(),
            });
        }
        let entries = read_entries(source, container, count)?;
        let slices = entries.into_iter().map(|entry| MachSlice::read(source, entry));
        Ok(Binary { container, len_bytes, slices: slices.collect() })
    }

    /// Returns how many bytes the header and the index of slices take; of a thin file none.
    pub(crate) fn index_len_bytes(&self) -> u64 {
        match self.container {
            Container::Thin => 0,
            container => FAT_HEADER_LEN + self.slices.len() as u64 * entry_len(container),
        }
    }

    /// Returns the slice for an architecture, by its name.
    pub fn slice(&self, architecture: &str) -> Option<&MachSlice> {
        self.slices.iter().find(|slice| slice.architecture.to_string() == architecture)
    }
}

/// One line of the index of a fat file.
struct FatEntry {
    architecture: Architecture,
    offset: u64,
    len_bytes: u64,
}

/// Returns the length of a line of the index.
fn entry_len(container: Container) -> u64 {
    if container == Container::Fat64 { 32 } else { 20 }
}

/// Reads the index of a fat file.
///
/// One line more than is counted is looked at: old tools left a slice for 64-bit Arm uncounted, and
/// Apple's check and loader find it.
fn read_entries(
    source: &dyn ReadAt,
    container: Container,
    count: u32,
) -> Result<Vec<FatEntry>, Error> {
    let entry_len = entry_len(container);
    let counted_len = u64::from(count) * entry_len;
    let room = source.len_bytes().saturating_sub(FAT_HEADER_LEN);
    if counted_len > room {
        return Err(Error::malformed("the file ends within the index of its slices"));
    }
    let len = room.min(counted_len + entry_len);
    let bytes = read_range(source, FAT_HEADER_LEN, len)
        .map_err(|error| Error::system("read the index of slices", error))?;
    let lines = bytes.chunks_exact(entry_len as usize).map(|line| {
        let fields = IntegerReader::big(line);
        let (offset, len_bytes) = if container == Container::Fat64 {
            (fields.u64(8)?, fields.u64(16)?)
        } else {
            (u64::from(fields.u32(8)?), u64::from(fields.u32(12)?))
        };
        let (cpu_type, cpu_subtype) = (fields.u32(0)?, fields.u32(4)?);
        Some(FatEntry { architecture: Architecture { cpu_type, cpu_subtype }, offset, len_bytes })
    });
    let mut entries: Vec<FatEntry> = lines.flatten().collect();
    if let Some(hidden) = entries.get(count as usize) {
        let is_slice = hidden.architecture.cpu_type == CPU_ARM64 && container == Container::Fat;
        entries.truncate(count as usize + usize::from(is_slice));
    }
    Ok(entries)
}

/// Returns whether a line of a long index leads to code, as those of Java's classes do not.
fn leads_to_code(source: &dyn ReadAt, container: Container, count: u32) -> Result<bool, Error> {
    let fitting = source.len_bytes().saturating_sub(FAT_HEADER_LEN) / entry_len(container);
    let count = count.min(FAT_COUNT_LOADED).min(u32::try_from(fitting).unwrap_or(u32::MAX));
    let entries = read_entries(source, container, count)?;
    Ok(entries.iter().any(|entry| {
        let head = read_range(source, entry.offset, 4);
        head.is_ok_and(|head| MachO::is_magic(&head))
    }))
}

impl MachSlice {
    /// Reads one slice; problems become findings.
    fn read(source: &dyn ReadAt, entry: FatEntry) -> MachSlice {
        let FatEntry { architecture, offset, len_bytes } = entry;
        let mut slice = MachSlice {
            architecture,
            offset,
            len_bytes,
            macho: None,
            signature: None,
            findings: Vec::new(),
        };
        let Some(part) = Part::new(source, offset, len_bytes) else {
            let text = "the slice reaches beyond the end of the file";
            let error = AppleError::BadObjectFormat;
            slice.findings.push(CodeFinding::failure(FindingKind::Malformed, error, text));
            slice.name_findings();
            return slice;
        };
        match MachO::read(&part) {
            Ok(macho) => slice.read_signature(source, macho),
            Err(error) => {
                let finding = CodeFinding::of_error(&error);
                slice.findings.push(finding.apple(AppleError::BadObjectFormat));
            }
        }
        slice.name_findings();
        slice
    }

    /// Stores the load commands, and reads the signature they name.
    fn read_signature(&mut self, source: &dyn ReadAt, macho: MachO) {
        if let Some(range) = macho.signature.clone() {
            let len_bytes = range.end - range.start;
            if range.end > self.len_bytes {
                let text = "the signature reaches beyond the end of the slice";
                let error = AppleError::SignatureInvalid;
                self.findings.push(CodeFinding::failure(FindingKind::Malformed, error, text));
            } else {
                match Signature::read(source, self.offset + range.start, len_bytes) {
                    Ok(signature) => self.signature = Some(signature),
                    Err(error) => self.findings.push(CodeFinding::of_error(&error)),
                }
            }
        }
        self.macho = Some(macho);
    }

    /// Puts the slice's name on every finding.
    fn name_findings(&mut self) {
        let name = self.architecture.to_string();
        let of_signature = self.signature.iter_mut().flat_map(|signature| &mut signature.findings);
        for finding in self.findings.iter_mut().chain(of_signature) {
            finding.place.slice = Some(name.clone());
        }
    }

    /// Returns whether the slice has no signature, neither a good one nor a broken one.
    pub fn is_unsigned(&self) -> bool {
        self.macho.as_ref().is_some_and(|macho| macho.signature.is_none())
    }
}
