//! The container of a signature: an index of slots, and a blob in each.
//!
//! Every blob is known to lie inside the container. All integers are big-endian, whatever the byte
//! order of the code.
//!
//! Source: `superblob.h` and `blob.h` of Apple's Security framework, `cs_blobs.h` of XNU.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::fields::IntegerReader;

/// The number of a slot, in the index of a signature and among the special slots of a directory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

impl Slot {
    /// The first code directory.
    pub const CODE_DIRECTORY: Slot = Slot(0);
    /// `Info.plist`.
    pub const INFO_PLIST: Slot = Slot(1);
    /// The set of requirements.
    pub const REQUIREMENTS: Slot = Slot(2);
    /// `CodeResources`, the seal of a bundle.
    pub const RESOURCES: Slot = Slot(3);
    /// The list of slots that must exist.
    pub const TOP_DIRECTORY: Slot = Slot(4);
    /// Entitlements as a property list.
    pub const ENTITLEMENTS: Slot = Slot(5);
    /// Data bound for the kind of container; for a disk image, its trailer.
    pub const CONTAINER: Slot = Slot(6);
    /// Entitlements in DER.
    pub const ENTITLEMENTS_DER: Slot = Slot(7);
    /// Launch constraint on the code itself.
    pub const CONSTRAINT_SELF: Slot = Slot(8);
    /// Launch constraint on the parent process.
    pub const CONSTRAINT_PARENT: Slot = Slot(9);
    /// Launch constraint on the responsible process.
    pub const CONSTRAINT_RESPONSIBLE: Slot = Slot(10);
    /// Constraint on libraries.
    pub const CONSTRAINT_LIBRARY: Slot = Slot(11);
    /// The first alternate code directory; the others follow.
    pub const ALTERNATE_FIRST: Slot = Slot(0x1000);
    /// One more than the last alternate code directory.
    pub const ALTERNATE_END: Slot = Slot(0x1005);
    /// The signature over the directories, in CMS.
    pub const CMS: Slot = Slot(0x1_0000);
    /// Identification, in detached signatures.
    pub const IDENTIFICATION: Slot = Slot(0x1_0001);
    /// The ticket of notarization.
    pub const TICKET: Slot = Slot(0x1_0002);

    /// Returns whether the slot holds a code directory.
    pub fn is_directory(self) -> bool {
        self == Slot::CODE_DIRECTORY || (Slot::ALTERNATE_FIRST..Slot::ALTERNATE_END).contains(&self)
    }

    /// Returns whether the slot is one that directories bind: 1 to 11.
    pub fn is_special(self) -> bool {
        (Slot::INFO_PLIST..=Slot::CONSTRAINT_LIBRARY).contains(&self)
    }

    /// Returns the name of the slot, if it is known.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Slot::CODE_DIRECTORY => "code directory",
            Slot::INFO_PLIST => "Info.plist",
            Slot::REQUIREMENTS => "requirements",
            Slot::RESOURCES => "CodeResources",
            Slot::TOP_DIRECTORY => "top directory",
            Slot::ENTITLEMENTS => "entitlements",
            Slot::CONTAINER => "container",
            Slot::ENTITLEMENTS_DER => "entitlements in DER",
            Slot::CONSTRAINT_SELF => "launch constraint",
            Slot::CONSTRAINT_PARENT => "launch constraint on the parent",
            Slot::CONSTRAINT_RESPONSIBLE => "launch constraint on the responsible process",
            Slot::CONSTRAINT_LIBRARY => "library constraint",
            Slot::CMS => "CMS signature",
            Slot::IDENTIFICATION => "identification",
            Slot::TICKET => "ticket",
            slot if slot.is_directory() => "alternate code directory",
            _ => return None,
        })
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            small @ 0..0x1000 => write!(f, "{small}"),
            large => write!(f, "0x{large:x}"),
        }
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slot({self})")
    }
}

/// The first four bytes of each kind of blob.
pub mod magic {
    /// The container of a signature inside a file.
    pub const EMBEDDED_SIGNATURE: u32 = 0xfade_0cc0;
    /// The container of detached signatures.
    pub const DETACHED_SIGNATURE: u32 = 0xfade_0cc1;
    /// A code directory.
    pub const CODE_DIRECTORY: u32 = 0xfade_0c02;
    /// A set of requirements.
    pub const REQUIREMENTS: u32 = 0xfade_0c01;
    /// One requirement.
    pub const REQUIREMENT: u32 = 0xfade_0c00;
    /// Entitlements as a property list.
    pub const ENTITLEMENTS: u32 = 0xfade_7171;
    /// Entitlements in DER.
    pub const ENTITLEMENTS_DER: u32 = 0xfade_7172;
    /// A launch or library constraint.
    pub const CONSTRAINT: u32 = 0xfade_8181;
    /// Any other data, usually CMS.
    pub const WRAPPER: u32 = 0xfade_0b01;
    /// The requirements of a library's dependencies. This is not a signature.
    pub const LIBRARY_DEPENDENCIES: u32 = 0xfade_0c05;
}

/// One entry of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuperBlobEntry {
    /// The slot.
    pub slot: Slot,
    /// The first four bytes of the blob.
    pub magic: u32,
    /// The blob, header included, in bytes of the container.
    pub range: Range<usize>,
}

/// A blob, known to be as long as its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blob<'a> {
    /// The first four bytes.
    pub magic: u32,
    /// The whole blob with its header of 8 bytes, which is what special slots hash.
    pub bytes: &'a [u8],
}

impl<'a> Blob<'a> {
    /// Length of the header: kind and length.
    pub const HEADER_LEN: usize = 8;

    /// Takes a blob off the front of some bytes.
    ///
    /// # Errors
    /// If it is longer than they are.
    pub fn parse(bytes: &'a [u8]) -> Result<Blob<'a>, Error> {
        let fields = IntegerReader::big(bytes);
        let short = || Error::malformed("a blob is shorter than its header");
        let magic = fields.u32(0).ok_or_else(short)?;
        let len = fields.u32(4).ok_or_else(short)? as usize;
        if len < Blob::HEADER_LEN {
            return Err(short());
        }
        let bytes = bytes.get(..len);
        let bytes = bytes.ok_or_else(|| Error::malformed("a blob is longer than what holds it"))?;
        Ok(Blob { magic, bytes })
    }

    /// Returns what follows the header.
    pub fn payload(self) -> &'a [u8] {
        &self.bytes[Blob::HEADER_LEN..]
    }
}

/// The most slots of a container. Signatures have four to nine.
const SLOTS_MAX: usize = 64;

/// The container of a signature.
#[derive(Clone)]
pub struct SuperBlob {
    magic: u32,
    bytes: Arc<Vec<u8>>,
    entries: Vec<SuperBlobEntry>,
}

impl SuperBlob {
    /// Reads the index and the header of every blob. Bytes after the container are dropped.
    ///
    /// # Errors
    /// If index or blobs do not fit the container, or the container not the bytes.
    pub fn parse(bytes: &[u8]) -> Result<SuperBlob, Error> {
        SuperBlob::of(bytes.to_vec())
    }

    /// Reads a container where it is: that of a large file has megabytes.
    pub(crate) fn of(mut bytes: Vec<u8>) -> Result<SuperBlob, Error> {
        let blob = Blob::parse(&bytes)?;
        let fields = IntegerReader::big(blob.bytes);
        let short = || Error::malformed("the index is longer than the signature");
        let count = fields.u32(8).ok_or_else(short)? as usize;
        if count > SLOTS_MAX {
            return Err(Error::malformed("more slots than any signature has"));
        }
        let index_len = count.checked_mul(8).and_then(|len| len.checked_add(12));
        let index_len = index_len.filter(|len| *len <= blob.bytes.len()).ok_or_else(short)?;
        let mut entries = Vec::new();
        for at in (12..index_len).step_by(8) {
            let slot = Slot(fields.u32(at).ok_or_else(short)?);
            let offset = fields.u32(at + 4).ok_or_else(short)? as usize;
            if offset == 0 {
                continue;
            }
            if offset < index_len || offset > blob.bytes.len() {
                let text = format!("the blob of slot {slot} lies outside of the signature");
                return Err(Error::malformed(text));
            }
            let held = Blob::parse(&blob.bytes[offset..])?;
            let range = offset..offset + held.bytes.len();
            entries.push(SuperBlobEntry { slot, magic: held.magic, range });
        }
        let (magic, len) = (blob.magic, blob.bytes.len());
        bytes.truncate(len);
        Ok(SuperBlob { magic, bytes: Arc::new(bytes), entries })
    }

    /// Returns the first four bytes.
    pub fn magic(&self) -> u32 {
        self.magic
    }

    /// Returns all of the container, as long as its header says.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the index, without absent slots, in the order of the file.
    pub fn entries(&self) -> &[SuperBlobEntry] {
        &self.entries
    }

    /// Returns the first blob in a slot.
    pub fn blob(&self, slot: Slot) -> Option<Blob<'_>> {
        let entry = self.entries.iter().find(|entry| entry.slot == slot)?;
        Some(Blob { magic: entry.magic, bytes: &self.bytes[entry.range.clone()] })
    }

    /// Returns how long the header and the index are, absent slots included.
    pub(crate) fn index_len_bytes(&self) -> usize {
        let count = IntegerReader::big(&self.bytes).u32(8).expect("the header was read before");
        12 + 8 * count as usize
    }

    pub(crate) fn shared(&self) -> Arc<Vec<u8>> {
        Arc::clone(&self.bytes)
    }
}

impl fmt::Debug for SuperBlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SuperBlob").field("entries", &self.entries).finish_non_exhaustive()
    }
}
