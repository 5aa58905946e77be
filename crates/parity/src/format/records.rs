//! The records of members, in the index.

use steadfast_time::names::NameBytes as _;

use crate::error::{Error, ErrorKind};
use crate::geometry::PAGE_LEN;
use crate::names::path_beneath;
use crate::set::{ATTRIBUTES_LEN_MAX, Member, ProtectedFile};

/// The most bytes of a path.
const PATH_LEN_MAX: usize = 4096;

/// Flags of a record: attributes follow; the file had other names (hard links).
const HAS_ATTRIBUTES: u8 = 1;
const HAS_LINKS: u8 = 2;

/// Bytes that are taken from the front.
pub(super) struct RecordBytes<'a>(pub(super) &'a [u8]);

impl<'a> RecordBytes<'a> {
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(|| invalid("it ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN], Error> {
        let taken = self.take(LEN)?;
        Ok(std::array::from_fn(|at| taken[at]))
    }

    pub(super) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }
}

pub(super) fn invalid(what: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, format!("the index of the parity file is invalid: {what}"))
}

/// Adds the record of a member.
///
/// # Errors
/// `Usage` if its path or tag is longer than the format allows.
pub(super) fn encode(member: &Member, bytes: &mut Vec<u8>) -> Result<(), Error> {
    let file = &member.file;
    let path = file.path.as_bytes();
    let too_long = |what| Error::new(ErrorKind::Usage, what);
    let path_len = u16::try_from(path.len()).ok().filter(|len| usize::from(*len) <= PATH_LEN_MAX);
    let path_len = path_len.ok_or_else(|| too_long("a path has 4096 bytes at most"))?;
    let tag_len = u8::try_from(file.tag.len());
    let tag_len = tag_len.map_err(|_| too_long("a tag has 255 bytes at most"))?;
    bytes.extend_from_slice(&path_len.to_le_bytes());
    let mut flags = if file.attributes.is_some() { HAS_ATTRIBUTES } else { 0 };
    flags |= if file.has_links { HAS_LINKS } else { 0 };
    bytes.extend_from_slice(&[tag_len, flags]);
    bytes.extend_from_slice(&member.sets.to_le_bytes());
    bytes.extend_from_slice(&member.offset.to_le_bytes());
    for number in [member.page, file.mode, file.uid, file.gid] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for number in [file.length, member.start, member.length] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(path);
    bytes.extend_from_slice(&file.tag);
    if let Some(attributes) = &file.attributes {
        if attributes.len() > ATTRIBUTES_LEN_MAX {
            return Err(too_long("attributes have 65536 bytes at most"));
        }
        bytes.extend_from_slice(&(attributes.len() as u32).to_le_bytes());
        bytes.extend_from_slice(attributes);
    }
    Ok(())
}

/// Reads the record of a member of a set with so many pages.
pub(super) fn decode(cursor: &mut RecordBytes<'_>, pages: u32) -> Result<Member, Error> {
    let path_len = usize::from(cursor.u16()?);
    let [tag_len, flags] = cursor.array()?;
    let (sets, offset, page) = (cursor.u16()?, cursor.u16()?, cursor.u32()?);
    let (mode, uid, gid) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
    let (length, start, part_len) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
    if path_len > PATH_LEN_MAX || flags > HAS_ATTRIBUTES | HAS_LINKS {
        return Err(invalid("a record is malformed"));
    }
    let path = path_beneath(cursor.take(path_len)?)
        .ok_or_else(|| invalid("a path is not made of names beneath the root"))?;
    let tag = cursor.take(usize::from(tag_len))?.to_vec();
    let attributes = match flags & HAS_ATTRIBUTES {
        0 => None,
        _ => Some(attributes(cursor)?),
    };
    let has_links = flags & HAS_LINKS != 0;
    let file = ProtectedFile { path, length, mode, uid, gid, tag, attributes, has_links };
    let member = Member { file, start, length: part_len, sets, page, offset };
    match is_sound(&member, pages) {
        true => Ok(member),
        false => Err(invalid("a member is outside its file or the set")),
    }
}

fn attributes(cursor: &mut RecordBytes<'_>) -> Result<Vec<u8>, Error> {
    let len = usize::try_from(cursor.u32()?).ok().filter(|len| *len <= ATTRIBUTES_LEN_MAX);
    let len = len.ok_or_else(|| invalid("the attributes of a member are too long"))?;
    Ok(cursor.take(len)?.to_vec())
}

/// Says whether a member lies within its file and within the set.
fn is_sound(member: &Member, pages: u32) -> bool {
    let place = u64::from(member.page) * PAGE_LEN as u64 + u64::from(member.offset);
    let set_len = u64::from(pages) * PAGE_LEN as u64;
    let is_whole = member.start == 0 && member.length == member.file.length;
    if member.sets == 0 || usize::from(member.offset) >= PAGE_LEN {
        return false;
    }
    if member.length == 0 {
        return is_whole && place == 0;
    }
    // Only whole files begin inside a page, and those do not cross its end.
    let is_short = member.length <= (PAGE_LEN - usize::from(member.offset)) as u64;
    let begins_well = member.offset == 0 || is_whole && is_short;
    let last = member.length - 1;
    let within_set = last < set_len.saturating_sub(place);
    // The distance cannot overflow once the part lies within the set.
    let ends_at = || member.start.checked_add(member.distance(last));
    begins_well && within_set && ends_at().is_some_and(|last| last < member.file.length)
}
