//! AppleDouble: the file `._name` beside `name`, in which macOS keeps metadata on file systems
//! without extended attributes.
//!
//! Takes the first bytes of such a file, which may be hostile, and returns the places of its parts
//! and the names of its extended attributes. Does not interpret attributes. A sidecar is metadata
//! of another file, so it is never tagged as data.
//!
//! Source: RFC 1740, appendix B; Apple's `bsd/vfs/vfs_xattr.c` for the attributes, which follow the
//! Finder information in the same entry.

use std::ffi::OsStr;

use steadfast_time::names::NameBytes as _;

/// Bytes of a file that [`is_appledouble`] needs.
pub const MAGIC_LEN: usize = 26;

/// Length of the part that holds everything but the values, in bytes; the limit of Apple's kernel.
pub const HEAD_LEN_MAX: usize = 64 << 10;

/// Prefix of the name of a sidecar.
pub const PREFIX: &[u8] = b"._";

const MAGIC: u32 = 0x0005_1607;
/// Version 1 is that of A/UX and old netatalk; all others write version 2.
const VERSIONS: [u32; 2] = [0x0001_0000, 0x0002_0000];
/// Magic, version, 16 bytes of filler, number of entries.
const HEADER_LEN: usize = MAGIC_LEN;
/// Identifier, offset, length.
const ENTRY_LEN: usize = 12;
/// The most entries; the limit of Apple's kernel.
const ENTRIES_MAX: u16 = 15;

/// Identifier of the resource fork.
pub const RESOURCE_FORK: u32 = 2;
/// Identifier of the Finder information and the attributes after it.
pub const FINDER_INFO: u32 = 9;

/// Length of the Finder information without attributes.
const FINDER_INFO_LEN: u64 = 32;
/// Bytes between the Finder information and the header of the attributes.
const PAD_LEN: u64 = 2;
const ATTRIBUTES_MAGIC: u32 = 0x4154_5452;
/// Magic, debug tag, total size, start and length of the data, three reserved words, flags, number.
const ATTRIBUTES_HEADER_LEN: usize = 36;
/// Offset, length, flags, length of the name.
const ATTRIBUTE_LEN: usize = 11;
/// Lengths of entries are rounded up to a multiple of it.
const ATTRIBUTE_ALIGNMENT: usize = 4;

/// Length and text of the empty resource fork that macOS writes.
const BLANK_FORK_LEN: u64 = 286;
const BLANK_FORK_TEXT: &[u8] = b"This resource fork intentionally left blank";
const BLANK_FORK_TEXT_START: u64 = 16;

/// Returns the name of the file whose metadata a file of this name would hold: `a` for `._a`.
pub fn companion(name: &OsStr) -> Option<&OsStr> {
    let name = name.as_bytes().strip_prefix(PREFIX)?;
    (!name.is_empty()).then(|| OsStr::from_bytes(name))
}

/// Returns whether the first [`MAGIC_LEN`] bytes of a file are those of AppleDouble.
pub fn is_appledouble(head: &[u8]) -> bool {
    check_header(head).is_ok()
}

/// Checks the first [`MAGIC_LEN`] bytes of a file.
///
/// # Errors
/// If they are not those of AppleDouble.
pub fn check_header(head: &[u8]) -> Result<(), AppleDoubleFault> {
    entries_of(head).map(drop)
}

/// The place of a part in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppleDoubleSpan {
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

impl AppleDoubleSpan {
    /// Returns the offset after its last byte.
    pub fn end(self) -> u64 {
        self.offset + self.len
    }

    /// Returns the part's bytes from the whole file, or from a beginning of it that contains the
    /// part.
    pub fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        let start = usize::try_from(self.offset).ok()?;
        let end = usize::try_from(self.end()).ok()?;
        bytes.get(start..end)
    }
}

/// A part of an AppleDouble file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppleDoubleEntry {
    /// Its kind. macOS writes [`RESOURCE_FORK`] and [`FINDER_INFO`].
    pub id: u32,
    /// Its place.
    pub span: AppleDoubleSpan,
}

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppleDoubleAttribute {
    /// Its name, 1 to 254 bytes without NUL. The flags of macOS follow a `#`.
    pub name: Vec<u8>,
    /// The place of its value.
    pub value: AppleDoubleSpan,
}

/// The places of all parts of an AppleDouble file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppleDouble {
    entries: Vec<AppleDoubleEntry>,
    attributes: Vec<AppleDoubleAttribute>,
    finder_info: Option<[u8; FINDER_INFO_LEN as usize]>,
    resource_fork: Option<AppleDoubleSpan>,
}

/// Why a file is not AppleDouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppleDoubleFault {
    /// It does not begin like AppleDouble.
    #[error("the file is not AppleDouble")]
    Magic,
    /// Its version is not known.
    #[error("the AppleDouble file has version {0:#x}, which is not known")]
    UnknownVersion(u32),
    /// It has no entries, or too many.
    #[error("the AppleDouble file has {0} entries instead of 1 to {ENTRIES_MAX}")]
    EntryCount(u16),
    /// An entry reaches beyond the end of the file.
    #[error("entry {id} of the AppleDouble file reaches beyond its end")]
    EntryBounds {
        /// Its identifier.
        id: u32,
    },
    /// The attributes exceed their entry or [`HEAD_LEN_MAX`], or are cut.
    #[error("an attribute of the AppleDouble file reaches beyond its place")]
    AttributeBounds,
    /// The name of an attribute is missing or not terminated.
    #[error("an attribute of the AppleDouble file has no proper name")]
    AttributeName,
}

impl AppleDouble {
    /// Parses the beginning of a file: `head` is the file up to [`HEAD_LEN_MAX`] bytes, and
    /// `file_len` the length of the whole file.
    ///
    /// # Errors
    ///
    /// If it is not AppleDouble, or so damaged that a part cannot be found.
    pub fn parse(head: &[u8], file_len: u64) -> Result<AppleDouble, AppleDoubleFault> {
        let count = entries_of(head)?;
        let entries: Vec<AppleDoubleEntry> = (0..count)
            .map(|index| entry(head, index, file_len))
            .collect::<Result<_, AppleDoubleFault>>()?;
        let of = |id| entries.iter().find(|entry| entry.id == id).map(|entry| entry.span);
        let finder = of(FINDER_INFO).filter(|span| span.len >= FINDER_INFO_LEN);
        let info =
            finder.and_then(|span| AppleDoubleSpan { len: FINDER_INFO_LEN, ..span }.of(head));
        let finder_info = info.and_then(|info| <[u8; _]>::try_from(info).ok());
        let resource_fork = of(RESOURCE_FORK).filter(|fork| fork.len > 0 && !is_blank(head, *fork));
        Ok(AppleDouble {
            finder_info: finder_info.filter(|info| info.iter().any(|&byte| byte != 0)),
            attributes: finder.map_or(Ok(Vec::new()), |finder| attributes_of(head, finder))?,
            entries,
            resource_fork,
        })
    }

    /// Returns every part, in the order of the file.
    pub fn entries(&self) -> &[AppleDoubleEntry] {
        &self.entries
    }

    /// Returns the Finder information. `None` also if it is all zeros, which means the same.
    pub fn finder_info(&self) -> Option<&[u8]> {
        self.finder_info.as_ref().map(<[u8; _]>::as_slice)
    }

    /// Returns the place of the resource fork. `None` also for the empty one of macOS.
    pub fn resource_fork(&self) -> Option<AppleDoubleSpan> {
        self.resource_fork
    }

    /// Returns the extended attributes, in the order of the file.
    pub fn attributes(&self) -> &[AppleDoubleAttribute] {
        &self.attributes
    }

    /// Returns the place of an attribute's value.
    pub fn attribute(&self, name: &[u8]) -> Option<AppleDoubleSpan> {
        let found = self.attributes.iter().find(|attribute| attribute.name == name);
        found.map(|attribute| attribute.value)
    }
}

/// Checks the header and returns the number of entries.
fn entries_of(head: &[u8]) -> Result<u16, AppleDoubleFault> {
    let magic = word(head, 0).filter(|_| head.len() >= HEADER_LEN);
    if magic != Some(MAGIC) {
        return Err(AppleDoubleFault::Magic);
    }
    let version = word(head, 4).unwrap_or(0);
    if !VERSIONS.contains(&version) {
        return Err(AppleDoubleFault::UnknownVersion(version));
    }
    match half_word(head, HEADER_LEN - 2).unwrap_or(0) {
        count @ 1..=ENTRIES_MAX => Ok(count),
        count => Err(AppleDoubleFault::EntryCount(count)),
    }
}

fn entry(head: &[u8], index: u16, file_len: u64) -> Result<AppleDoubleEntry, AppleDoubleFault> {
    let at = HEADER_LEN + ENTRY_LEN * usize::from(index);
    let words = [word(head, at), word(head, at + 4), word(head, at + 8)];
    let [Some(id), Some(offset), Some(len)] = words else {
        return Err(AppleDoubleFault::EntryCount(index));
    };
    let span = AppleDoubleSpan { offset: offset.into(), len: len.into() };
    // The offset of an empty part has no meaning.
    match len == 0 || span.end() <= file_len {
        true => Ok(AppleDoubleEntry { id, span }),
        false => Err(AppleDoubleFault::EntryBounds { id }),
    }
}

/// Finds the attributes after the Finder information. Sidecars of other systems have none.
fn attributes_of(
    head: &[u8],
    finder: AppleDoubleSpan,
) -> Result<Vec<AppleDoubleAttribute>, AppleDoubleFault> {
    let start = finder.offset + FINDER_INFO_LEN + PAD_LEN;
    let first = start + ATTRIBUTES_HEADER_LEN as u64;
    let start = match usize::try_from(start) {
        Ok(start) if first <= finder.end() && word(head, start) == Some(ATTRIBUTES_MAGIC) => start,
        _ => return Ok(Vec::new()),
    };
    let total = word(head, start + 8).map(u64::from).filter(|total| *total <= finder.end());
    let end = total.ok_or(AppleDoubleFault::AttributeBounds)?;
    let count = half_word(head, start + ATTRIBUTES_HEADER_LEN - 2);
    let count = count.ok_or(AppleDoubleFault::AttributeBounds)?;
    // Not reserved by the number in the file, which may be hostile.
    let mut attributes = Vec::new();
    let mut at = start + ATTRIBUTES_HEADER_LEN;
    for _ in 0..count {
        let (attribute, next) = attribute_at(head, at, end)?;
        attributes.push(attribute);
        at = next;
    }
    Ok(attributes)
}

/// Reads one entry, whose value must end before `end`. Returns the start of the next entry.
fn attribute_at(
    head: &[u8],
    at: usize,
    end: u64,
) -> Result<(AppleDoubleAttribute, usize), AppleDoubleFault> {
    let limit = usize::try_from(end).map_or(head.len(), |end| end.min(head.len()));
    let head = &head[..limit];
    let name_start = at + ATTRIBUTE_LEN;
    let (offset, len) = (word(head, at), word(head, at + 4));
    let name_len = head.get(name_start - 1).copied().map(usize::from);
    let (Some(offset), Some(len), Some(name_len)) = (offset, len, name_len) else {
        return Err(AppleDoubleFault::AttributeBounds);
    };
    let name_end = name_start + name_len;
    let name = head.get(name_start..name_end).ok_or(AppleDoubleFault::AttributeBounds)?;
    let (name, terminator) = name.split_at(name_len.saturating_sub(1));
    if name.is_empty() || terminator != [0] || name.contains(&0) {
        return Err(AppleDoubleFault::AttributeName);
    }
    let value = AppleDoubleSpan { offset: offset.into(), len: len.into() };
    if value.end() > end {
        return Err(AppleDoubleFault::AttributeBounds);
    }
    let next = at + (ATTRIBUTE_LEN + name_len).next_multiple_of(ATTRIBUTE_ALIGNMENT);
    Ok((AppleDoubleAttribute { name: name.to_vec(), value }, next))
}

/// Returns whether a resource fork is the empty one that macOS writes.
fn is_blank(head: &[u8], fork: AppleDoubleSpan) -> bool {
    let text = AppleDoubleSpan {
        offset: fork.offset + BLANK_FORK_TEXT_START,
        len: BLANK_FORK_TEXT.len() as u64,
    };
    fork.len == BLANK_FORK_LEN && text.of(head) == Some(BLANK_FORK_TEXT)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*bytes))
}

fn half_word(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sidecar as macOS writes it: Finder information, attributes, resource fork.
    fn sidecar(attributes: &[(&[u8], &[u8])], fork: &[u8]) -> Vec<u8> {
        let aligned = |name: &[u8]| (ATTRIBUTE_LEN + name.len() + 1).next_multiple_of(4);
        let first = 84 + ATTRIBUTES_HEADER_LEN;
        let data_start = first + attributes.iter().map(|(name, _)| aligned(name)).sum::<usize>();
        let data_len: usize = attributes.iter().map(|(_, value)| value.len()).sum();
        let total = data_start + data_len;
        let word = |number: usize| (number as u32).to_be_bytes();
        let mut bytes = Vec::new();
        bytes.extend(MAGIC.to_be_bytes());
        bytes.extend(VERSIONS[1].to_be_bytes());
        bytes.extend(b"Mac OS X        ");
        bytes.extend([0, 2]);
        for number in [9, 50, total - 50, 2, total, fork.len()] {
            bytes.extend(word(number));
        }
        bytes.extend([0; 34]);
        bytes.extend(ATTRIBUTES_MAGIC.to_be_bytes());
        for number in [7, total, data_start, data_len, 0, 0, 0] {
            bytes.extend(word(number));
        }
        bytes.extend([0, 0]);
        bytes.extend((attributes.len() as u16).to_be_bytes());
        let mut offset = data_start;
        for (name, value) in attributes {
            bytes.extend(word(offset));
            bytes.extend(word(value.len()));
            bytes.extend([0, 0, name.len() as u8 + 1]);
            bytes.extend(*name);
            bytes.push(0);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            offset += value.len();
        }
        assert_eq!(bytes.len(), data_start);
        attributes.iter().for_each(|(_, value)| bytes.extend(*value));
        bytes.extend(fork);
        bytes
    }

    fn parse(bytes: &[u8]) -> Result<AppleDouble, AppleDoubleFault> {
        AppleDouble::parse(&bytes[..bytes.len().min(HEAD_LEN_MAX)], bytes.len() as u64)
    }

    fn blank_fork() -> Vec<u8> {
        let mut fork = vec![0; BLANK_FORK_LEN as usize];
        fork[16..16 + BLANK_FORK_TEXT.len()].copy_from_slice(BLANK_FORK_TEXT);
        fork
    }

    #[test]
    fn attributes_are_found_by_name() {
        let attributes: [(&[u8], &[u8]); 3] =
            [(b"a", b""), (b"co.eclecticlight.dintch.hash#S", &[7; 32]), (b"caf\xc3\xa9", b"xyz")];
        let bytes = sidecar(&attributes, b"fork");
        let double = parse(&bytes).unwrap();
        assert_eq!(double.attributes().len(), 3);
        for (name, value) in attributes {
            assert_eq!(double.attribute(name).unwrap().of(&bytes), Some(value));
        }
        assert_eq!(double.attribute(b"b"), None);
        assert_eq!(double.resource_fork().unwrap().of(&bytes), Some(&b"fork"[..]));
        assert_eq!(double.finder_info(), None, "all zeros is none");
        assert_eq!(double.entries().len(), 2);
    }

    #[test]
    fn finder_information_is_found_unless_it_is_blank() {
        let mut bytes = sidecar(&[], b"");
        bytes[50..58].copy_from_slice(b"TEXTttxt");
        let double = parse(&bytes).unwrap();
        assert_eq!(&double.finder_info().unwrap()[..8], b"TEXTttxt");
        assert_eq!(double.resource_fork(), None);
    }

    #[test]
    fn the_blank_fork_of_macos_is_none() {
        let mut fork = blank_fork();
        assert_eq!(parse(&sidecar(&[], &fork)).unwrap().resource_fork(), None);
        fork[20] ^= 1;
        assert!(parse(&sidecar(&[], &fork)).unwrap().resource_fork().is_some());
    }

    #[test]
    fn values_and_forks_may_lie_beyond_the_head() {
        let long = vec![7; 2 * HEAD_LEN_MAX];
        let bytes = sidecar(&[(b"long", &long), (b"last", b"end")], &long);
        let double = parse(&bytes).unwrap();
        assert_eq!(double.attribute(b"last").unwrap().of(&bytes), Some(&b"end"[..]));
        assert_eq!(double.resource_fork().unwrap().len, long.len() as u64);
    }

    #[test]
    fn a_cut_file_is_a_fault_wherever_it_is_cut() {
        let bytes = sidecar(&[(b"name", b"value")], b"fork");
        for len in 0..bytes.len() {
            assert!(parse(&bytes[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn faults_are_named() {
        let good = sidecar(&[(b"name", b"value")], b"fork");
        let with = |at: usize, bytes: &[u8]| {
            let mut file = good.clone();
            file[at..at + bytes.len()].copy_from_slice(bytes);
            parse(&file).unwrap_err()
        };
        assert_eq!(with(0, &[0, 5, 0x16, 0]), AppleDoubleFault::Magic);
        assert_eq!(with(4, &[0, 3, 0, 0]), AppleDoubleFault::UnknownVersion(0x3_0000));
        assert_eq!(with(24, &[0, 0]), AppleDoubleFault::EntryCount(0));
        assert_eq!(with(24, &[0xff, 0xff]), AppleDoubleFault::EntryCount(0xffff));
        assert_eq!(with(46, &[0xff; 4]), AppleDoubleFault::EntryBounds { id: 2 });
        assert_eq!(with(92, &[0xff; 4]), AppleDoubleFault::AttributeBounds, "total size");
        assert_eq!(with(118, &[0, 2]), AppleDoubleFault::AttributeBounds, "number");
        assert_eq!(with(120, &[0xff; 8]), AppleDoubleFault::AttributeBounds, "value");
        assert_eq!(with(130, &[0]), AppleDoubleFault::AttributeName, "no name");
        assert_eq!(with(131, b"n\0me"), AppleDoubleFault::AttributeName);
        assert_eq!(with(135, b"!"), AppleDoubleFault::AttributeName, "no terminator");
    }

    #[test]
    fn sidecars_of_others_have_no_attributes() {
        let mut bytes = sidecar(&[(b"name", b"value")], b"");
        bytes[84] = b'a';
        assert_eq!(parse(&bytes).unwrap().attributes(), []);
    }

    #[test]
    fn names_and_first_bytes_tell_a_sidecar() {
        let name = |name: &'static str| companion(OsStr::new(name)).and_then(OsStr::to_str);
        assert_eq!(name("._photo.jpg"), Some("photo.jpg"));
        assert_eq!(name("._."), Some("."), "that of a volume's root");
        assert_eq!([name("._"), name("."), name("photo"), name("_.a"), name("")], [None; 5]);
        let bytes = sidecar(&[], b"");
        assert!(is_appledouble(&bytes[..MAGIC_LEN]));
        assert!(!is_appledouble(&bytes[..MAGIC_LEN - 1]));
        assert!(!is_appledouble(b"a file that is merely called so"));
    }
}
