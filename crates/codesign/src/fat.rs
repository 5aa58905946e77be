//! Reads the index of a fat file: which slices it has, and where.

use crate::error::Error;
use crate::fields::IntegerReader;
use crate::macho::{Architecture, MachO};
use steadfast_sys::source::{ReadAt, read_range};

const FAT_MAGIC: u32 = 0xcafe_babe;
const FAT_MAGIC_64: u32 = 0xcafe_babf;
pub(crate) const FAT_HEADER_LEN: u64 = 8;

/// How much is read to know the kind of a file, and the processor of a thin one.
pub(crate) const HEAD_LEN: u64 = 12;

/// More slices than this are not read: Java's classes begin with the same four bytes, and what
/// follows there is a version, 45 or more.
pub(crate) const FAT_COUNT_MAX: u32 = 40;

/// A Mac runs code from an index as long as a page of its memory.
const FAT_COUNT_LOADED: u32 = 16_384 / 20;

/// The family of 64-bit Arm.
const CPU_ARM64: u32 = 0x0100_000c;

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

/// Returns the container and the number of slices in the header of a fat file; `None` if it is no
/// fat file.
pub(crate) fn fat_header(head: &[u8]) -> Option<(Container, u32)> {
    let fields = IntegerReader::big(head);
    let container = match fields.u32(0)? {
        FAT_MAGIC => Container::Fat,
        FAT_MAGIC_64 => Container::Fat64,
        _ => return None,
    };
    Some((container, fields.u32(4)?))
}

/// Returns whether a file that begins like this is Mach-O, thin or fat, and no class of Java's.
pub(crate) fn is_macho(source: &dyn ReadAt, head: &[u8]) -> Result<bool, Error> {
    match fat_header(head) {
        Some((container, count)) => {
            Ok(count <= FAT_COUNT_MAX || leads_to_code(source, container, count)?)
        }
        None => Ok(MachO::is_magic(head) && MachO::architecture_of(head).is_some()),
    }
}

/// One line of the index of a fat file.
pub(crate) struct FatEntry {
    pub(crate) architecture: Architecture,
    pub(crate) offset: u64,
    pub(crate) len_bytes: u64,
}

/// Returns the length of a line of the index.
pub(crate) fn entry_len(container: Container) -> u64 {
    if container == Container::Fat64 { 32 } else { 20 }
}

/// Reads the index of a fat file.
///
/// One line more than is counted is looked at: old tools left a slice for 64-bit Arm uncounted, and
/// Apple's check and loader find it.
pub(crate) fn read_entries(
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
