//! Reads a code directory from its blob, and checks that every offset lies inside the blob.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::{CodeDirectory, ExecSegment, Linkage, Scatter, VERSION_MAX, VERSION_MIN};
use crate::error::{Error, ErrorKind};
use crate::fields::IntegerReader;
use crate::hash::HashType;
use crate::superblob::{Blob, Slot, SuperBlob, magic};

/// Versions that added fields.
const SCATTER_FROM: u32 = 0x2_0100;
const TEAM_FROM: u32 = 0x2_0200;
const LIMIT_64_FROM: u32 = 0x2_0300;
const EXEC_SEGMENT_FROM: u32 = 0x2_0400;
const RUNTIME_FROM: u32 = 0x2_0500;
const LINKAGE_FROM: u32 = 0x2_0600;

impl CodeDirectory {
    /// Reads the directory in a slot of a signature.
    ///
    /// # Errors
    /// `Malformed` if a field reaches beyond the blob, `Unsupported` for a version, hash type or
    /// page size that nothing accepts.
    pub fn parse(superblob: &SuperBlob, slot: Slot) -> Result<CodeDirectory, Error> {
        let found = superblob.entries().iter().find(|entry| entry.slot == slot);
        let entry = found.ok_or_else(|| Error::malformed("there is no code directory"))?;
        CodeDirectory::parse_at(superblob, slot, entry.range.clone())
    }

    /// Reads the directory in a range of a signature.
    pub(crate) fn parse_at(
        superblob: &SuperBlob,
        slot: Slot,
        range: Range<usize>,
    ) -> Result<CodeDirectory, Error> {
        let bytes = &superblob.bytes()[range.clone()];
        if Blob::parse(bytes)?.magic != magic::CODE_DIRECTORY {
            return Err(Error::malformed("the code directory has another kind of blob"));
        }
        let short = || Error::malformed("the code directory is shorter than its fields");
        let head = FixedFields::read(IntegerReader::big(bytes)).ok_or_else(short)?;
        if !(VERSION_MIN..=VERSION_MAX).contains(&head.version) {
            let text = format!("version 0x{:x} of code directories is not known", head.version);
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        let mut directory = head.directory(slot, superblob.shared(), range)?;
        directory.read_versioned(&head).ok_or_else(short)?;
        directory.check_digests()?;
        Ok(directory)
    }

    /// Reads the fields of later versions; `None` if the blob ends too early.
    fn read_versioned(&mut self, head: &FixedFields) -> Option<()> {
        let container = Arc::clone(&self.container);
        let fields = IntegerReader::big(&container[self.range.clone()]);
        let offset = |value: u32| (value != 0).then_some(value as usize);
        if head.version >= SCATTER_FROM
            && let Some(at) = offset(fields.u32(44)?)
        {
            self.scatter = read_scatter(fields, at)?;
            self.has_scatter = true;
        }
        if head.version >= TEAM_FROM
            && let Some(at) = offset(fields.u32(48)?)
        {
            self.team = Some(text_range(self.bytes(), at)?);
        }
        if head.version >= LIMIT_64_FROM {
            let limit = fields.u64(56)?;
            if limit != 0 {
                self.code_limit = limit;
            }
        }
        if head.version >= EXEC_SEGMENT_FROM {
            let (base, limit, flags) = (fields.u64(64)?, fields.u64(72)?, fields.u64(80)?);
            self.exec_segment = Some(ExecSegment { base, limit, flags });
        }
        if head.version >= RUNTIME_FROM {
            let runtime = fields.u32(88)?;
            self.runtime = (runtime != 0).then_some(runtime);
            self.pre_encrypt = offset(fields.u32(92)?);
        }
        if head.version >= LINKAGE_FROM {
            let linkage = Linkage {
                hash_type: fields.u8(96)?,
                application_type: fields.u8(97)?,
                application_sub_type: fields.u16(98)?,
                offset: fields.u32(100)?,
                len_bytes: fields.u32(104)?,
            };
            self.linkage = (linkage.len_bytes != 0).then_some(linkage);
        }
        Some(())
    }

    /// Makes sure that every digest lies inside the blob.
    fn check_digests(&self) -> Result<(), Error> {
        let len = self.hash.stored_len() as u64;
        let before = u64::from(self.special_count) * len;
        let after = u64::from(self.page_count) * len;
        let outside = |what: &str| {
            Err(Error::malformed(format!("the digests of {what} lie outside of the directory")))
        };
        if before > self.hash_offset as u64 {
            return outside("special slots");
        }
        if self.hash_offset as u64 + after > self.bytes().len() as u64 {
            return outside("pages");
        }
        match self.pre_encrypt {
            Some(at) if at as u64 + after > self.bytes().len() as u64 => {
                outside("pages before encryption")
            }
            _ => Ok(()),
        }
    }
}

/// IntegerReader that every version has.
struct FixedFields {
    version: u32,
    flags: u32,
    hash_offset: u32,
    identifier_offset: u32,
    special_count: u32,
    page_count: u32,
    code_limit: u32,
    hash_len: u8,
    hash_type: u8,
    platform: u8,
    page_shift: u8,
}

impl FixedFields {
    fn read(fields: IntegerReader<'_>) -> Option<FixedFields> {
        Some(FixedFields {
            version: fields.u32(8)?,
            flags: fields.u32(12)?,
            hash_offset: fields.u32(16)?,
            identifier_offset: fields.u32(20)?,
            special_count: fields.u32(24)?,
            page_count: fields.u32(28)?,
            code_limit: fields.u32(32)?,
            hash_len: fields.u8(36)?,
            hash_type: fields.u8(37)?,
            platform: fields.u8(38)?,
            page_shift: fields.u8(39)?,
        })
    }

    /// Makes a directory from the fields of every version.
    fn directory(
        &self,
        slot: Slot,
        container: Arc<Vec<u8>>,
        range: Range<usize>,
    ) -> Result<CodeDirectory, Error> {
        let unsupported = |text: String| Error::new(ErrorKind::Unsupported, text);
        let hash = HashType::from_number(self.hash_type)
            .ok_or_else(|| unsupported(format!("hash type {} is not known", self.hash_type)))?;
        if usize::from(self.hash_len) != hash.stored_len() {
            let text = format!("digests of {hash} are given {} bytes", self.hash_len);
            return Err(Error::malformed(text));
        }
        if !matches!(self.page_shift, 0 | 12..=16) {
            let text = format!("pages of 2^{} bytes are not supported", self.page_shift);
            return Err(unsupported(text));
        }
        let identifier = text_range(&container[range.clone()], self.identifier_offset as usize)
            .ok_or_else(|| Error::malformed("the identifier lies outside of the directory"))?;
        Ok(CodeDirectory {
            slot,
            container,
            range,
            version: self.version,
            flags: self.flags,
            hash,
            hash_offset: self.hash_offset as usize,
            special_count: self.special_count,
            page_count: self.page_count,
            code_limit: u64::from(self.code_limit),
            page_shift: self.page_shift,
            platform: self.platform,
            identifier,
            team: None,
            scatter: Vec::new(),
            has_scatter: false,
            exec_segment: None,
            runtime: None,
            pre_encrypt: None,
            linkage: None,
            full: OnceLock::new(),
        })
    }
}

/// Finds a text that ends at a zero byte.
fn text_range(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let len = bytes.get(start..)?.iter().position(|byte| *byte == 0)?;
    Some(start..start + len)
}

/// Reads the table of scattered pages, up to the line with a count of 0.
fn read_scatter(fields: IntegerReader<'_>, mut at: usize) -> Option<Vec<Scatter>> {
    /// Count, base, target offset, and 8 unused bytes.
    const LINE_LEN: usize = 24;
    let mut table = Vec::new();
    loop {
        let count = fields.u32(at)?;
        if count == 0 {
            return Some(table);
        }
        let (base, target_offset) = (fields.u32(at + 4)?, fields.u64(at + 8)?);
        table.push(Scatter { count, base, target_offset });
        at += LINE_LEN;
    }
}
