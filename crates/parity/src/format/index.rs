//! The index: who is in the set, and by what each page is recognised.

use std::collections::HashSet;
use std::path::Path;

use steadfast_digest::{Backend, Lanes, Message, Sha256, sha256};

use super::records::{self, RecordBytes, invalid};
use crate::error::{Error, ErrorKind};
use crate::geometry::{DATA_SHARDS_MAX, Geometry, PAGE_LEN, PARITY_SHARDS_MAX, SHARD_PAGES};
use crate::set::{MEMBERS_MAX, Member, RECORD_LEN_MIN, RECORDS_LEN_MAX};

/// Length of the digest of a page in bytes: of its SHA-256, the first ones. A whole file is judged
/// by its tag in the end.
const DIGEST_LEN: usize = 16;

/// Length of a mark in bytes: the digest and the rolling check value.
const MARK_LEN: usize = DIGEST_LEN + 4;

/// The most bytes of an index: the records, and the marks of all pages of the largest set.
pub const INDEX_LEN_MAX: u64 = (4 + RECORDS_LEN_MAX) as u64
    + (DATA_SHARDS_MAX * SHARD_PAGES) as u64 * MARK_LEN as u64
    + (PARITY_SHARDS_MAX * SHARD_PAGES) as u64 * DIGEST_LEN as u64;

/// What a page is recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageMark {
    /// The first half of the SHA-256 of the page: for a page of one file, of that file's leaf.
    pub digest: [u8; DIGEST_LEN],
    /// The CRC-32C of the page, by which one that moved is searched for.
    pub check: u32,
}

impl PageMark {
    /// Returns the marks of whole pages that follow each other, and adds the same bytes to a digest
    /// of more, if there is one. All are computed at once in lanes, in less time than one after the
    /// other.
    ///
    /// # Panics
    /// If the last page is not whole.
    pub fn of_all(lanes: Lanes, pages: &[u8], whole: Option<&mut Sha256>) -> Vec<PageMark> {
        assert!(pages.len().is_multiple_of(PAGE_LEN), "whole pages");
        // The digest of more has as much to do as all pages together. Of two lanes it fills one; of
        // three or four, the others would be empty before it ends.
        let lanes = match lanes.count() {
            3 | 4 if whole.is_some() => Lanes::new(lanes.backend(), 2).unwrap_or(lanes),
            _ => lanes,
        };
        let whole = whole.map(|hasher| Message { hasher, data: pages, last: false });
        let digests = digests(lanes, pages.chunks_exact(PAGE_LEN), whole);
        let marks = digests.zip(pages.chunks_exact(PAGE_LEN));
        marks.map(|(digest, page)| PageMark { digest, check: crc32c::crc32c(page) }).collect()
    }
}

/// Returns the digests of pages, and advances another message beside them.
fn digests<'a>(
    lanes: Lanes,
    pages: impl ExactSizeIterator<Item = &'a [u8]>,
    beside: Option<Message<'_>>,
) -> impl Iterator<Item = [u8; DIGEST_LEN]> {
    let mut hashers = vec![Sha256::new(lanes.backend_alone()); pages.len()];
    let own = hashers.iter_mut().zip(pages);
    let own = own.map(|(hasher, data)| Message { hasher, data, last: true });
    lanes.update(&mut beside.into_iter().chain(own).collect::<Vec<_>>());
    hashers.into_iter().map(|hasher| half(hasher.finalize().as_bytes()))
}

fn half(digest: &[u8]) -> [u8; DIGEST_LEN] {
    std::array::from_fn(|at| digest[at])
}

/// What is in a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetIndex {
    geometry: Geometry,
    members: Vec<Member>,
    pages: Vec<PageMark>,
    parity: Vec<[u8; DIGEST_LEN]>,
}

impl SetIndex {
    /// Takes the members in the order of their places, a mark for each data page, and the parity.
    ///
    /// # Errors
    /// `Usage` if a path or tag is too long; `Invalid` if members overlap, share a path, or are
    /// outside their file or the set.
    ///
    /// # Panics
    /// If there are not as many marks as pages.
    pub fn new<'a>(
        geometry: Geometry,
        members: Vec<Member>,
        pages: Vec<PageMark>,
        parity: impl Fn(u32) -> &'a [u8],
    ) -> Result<SetIndex, Error> {
        assert_eq!(pages.len(), geometry.pages() as usize, "a mark for each page");
        let lanes = Lanes::best(Backend::detect());
        let parity = digests(lanes, (0..geometry.parity_pages()).map(parity), None).collect();
        let index = SetIndex { geometry, members, pages, parity };
        // What a reader would refuse is not written.
        SetIndex::decode(geometry, &index.encode()?)
    }

    /// Returns the number of pages.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Returns the members, in the order of their places; empty files come first.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the member of a path.
    pub fn member(&self, path: &Path) -> Option<&Member> {
        self.members.iter().find(|member| member.file.path == path)
    }

    /// Returns the members with bytes in a page.
    pub fn members_of(&self, page: u32) -> impl Iterator<Item = &Member> {
        // In the order of their places, so the first that can end behind the page is searched for.
        let first = self.members.partition_point(|member| member.pages().end <= page);
        self.members[first..].iter().take_while(move |member| member.page <= page)
    }

    /// Returns the marks of all data pages, in order.
    pub fn marks(&self) -> &[PageMark] {
        &self.pages
    }

    /// Says whether bytes are a data page.
    ///
    /// # Panics
    /// If the set has no such page.
    pub fn is_page(&self, page: u32, bytes: &[u8]) -> bool {
        half(sha256(bytes).as_bytes()) == self.pages[page as usize].digest
    }

    /// Says whether bytes are a parity page.
    ///
    /// # Panics
    /// If the set has no such page.
    pub fn is_parity(&self, page: u32, bytes: &[u8]) -> bool {
        half(sha256(bytes).as_bytes()) == self.parity[page as usize]
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&(self.members.len() as u32).to_le_bytes());
        for member in &self.members {
            records::encode(member, &mut bytes)?;
        }
        if self.members.len() > MEMBERS_MAX || bytes.len() > 4 + RECORDS_LEN_MAX {
            return Err(Error::new(ErrorKind::Usage, "a set has no room for so many members"));
        }
        for mark in &self.pages {
            bytes.extend_from_slice(&mark.digest);
            bytes.extend_from_slice(&mark.check.to_le_bytes());
        }
        self.parity.iter().for_each(|digest| bytes.extend_from_slice(digest));
        Ok(bytes)
    }

    pub(super) fn decode(geometry: Geometry, bytes: &[u8]) -> Result<SetIndex, Error> {
        let mut cursor = RecordBytes(bytes);
        let count = cursor.u32()? as usize;
        // Before anything is allocated: each record has at least so many bytes.
        if count > MEMBERS_MAX || count > bytes.len() / RECORD_LEN_MIN {
            return Err(invalid("it has too many members"));
        }
        let mut members = Vec::with_capacity(count);
        for _ in 0..count {
            members.push(records::decode(&mut cursor, geometry.pages())?);
        }
        ensure_apart(&members)?;
        let mut pages = Vec::new();
        for _ in 0..geometry.pages() {
            pages.push(PageMark { digest: cursor.array()?, check: cursor.u32()? });
        }
        let parity = (0..geometry.parity_pages()).map(|_| cursor.array());
        let parity = parity.collect::<Result<_, _>>()?;
        match cursor.0.is_empty() {
            true => Ok(SetIndex { geometry, members, pages, parity }),
            false => Err(invalid("something follows it")),
        }
    }
}

/// Makes sure that members are in order, do not overlap and do not share a path.
fn ensure_apart(members: &[Member]) -> Result<(), Error> {
    let begin =
        |member: &Member| u64::from(member.page) * PAGE_LEN as u64 + u64::from(member.offset);
    let mut taken = 0;
    let mut paths = HashSet::new();
    for member in members {
        // Empty files are at 0, so they stand before all others.
        if begin(member) < taken {
            return Err(invalid("members overlap or are out of order"));
        }
        taken = begin(member) + member.length;
        if !paths.insert(&member.file.path) {
            return Err(invalid("two members have one path"));
        }
    }
    Ok(())
}
