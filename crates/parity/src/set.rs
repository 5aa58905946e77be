//! Which files go into which set, and where in it.
//!
//! Input: files in the order of their paths. Output: sets with the place of every file. Small files
//! share sets, and those shorter than a page share pages. A file that is longer than a set is cut,
//! run by run in turn, over several sets of equal size, so that a burst meets all of them.

use std::ops::Range;
use std::path::PathBuf;

use crate::error::{Error, ErrorKind};
use crate::geometry::{
    DATA_SHARDS_MAX, Geometry, PAGE_LEN, PARITY_SHARDS_MAX, RUN_LEN, RUN_PAGES, RUN_SHARDS,
    SHARD_PAGES,
};

/// The number of parity shards is a multiple of this (1 MiB), unless there are as many as data
/// shards. So a burst of all of them meets every column equally wherever it begins, and a set of a
/// few small files can lose everything.
const PARITY_SHARDS_STEP: u32 = SHARD_PAGES;

/// The most members of a set.
pub(crate) const MEMBERS_MAX: usize = 1 << 16;

/// Length of a member's record in bytes without its path and tag: the lengths of both (2 + 1),
/// padding (1), sets (2), offset (2), page, mode, uid, gid (4 each), file length, start, length (8
/// each).
pub(crate) const RECORD_LEN_MIN: usize = 48;

/// The most bytes of the attributes of a member.
pub(crate) const ATTRIBUTES_LEN_MAX: usize = 64 << 10;

/// The most bytes that the records of a set's members take.
pub(crate) const RECORDS_LEN_MAX: usize = 16 << 20;

/// How much parity there is, in percent of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Redundancy(u8);

impl Redundancy {
    /// The least: 2 %.
    pub const MIN: Redundancy = Redundancy(2);

    /// The most: 100 %.
    pub const MAX: Redundancy = Redundancy(100);

    /// Takes a number of percent.
    ///
    /// # Errors
    /// `Usage` if it is not from 2 to 100.
    pub fn new(percent: u8) -> Result<Redundancy, Error> {
        match (Redundancy::MIN..=Redundancy::MAX).contains(&Redundancy(percent)) {
            true => Ok(Redundancy(percent)),
            false => {
                Err(Error::new(ErrorKind::Usage, "the redundancy is a number from 2 % to 100 %"))
            }
        }
    }

    /// Returns the number of percent.
    pub fn percent(self) -> u8 {
        self.0
    }

    /// Returns how many data shards a full set has.
    pub fn data_shards_max(self) -> u32 {
        (PARITY_SHARDS_MAX * 100 / u32::from(self.0)).min(DATA_SHARDS_MAX)
    }

    /// Returns how many pages a full set has.
    pub fn pages_max(self) -> u32 {
        self.data_shards_max() * SHARD_PAGES
    }

    /// Returns the geometry of a set of so many pages.
    ///
    /// # Errors
    /// `Invalid` if there are none, or more than a set has.
    pub fn geometry(self, pages: u32) -> Result<Geometry, Error> {
        let data = pages.div_ceil(SHARD_PAGES);
        let parity = (u64::from(data) * u64::from(self.0)).div_ceil(100);
        let parity = parity.min(u64::from(PARITY_SHARDS_MAX)) as u32;
        Geometry::new(pages, parity.next_multiple_of(PARITY_SHARDS_STEP).min(data))
    }
}

impl Default for Redundancy {
    /// 10 %.
    fn default() -> Redundancy {
        Redundancy(10)
    }
}

/// A file as parity knows it: what is needed to make it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedFile {
    /// The path beneath the root of the tree.
    pub path: PathBuf,
    /// Length in bytes.
    pub length: u64,
    /// Permission bits.
    pub mode: u32,
    /// Number of the owner.
    pub uid: u32,
    /// Number of the group.
    pub gid: u32,
    /// The bytes of its tag, as the attribute holds them.
    pub tag: Vec<u8>,
    /// The bytes of its other attributes, at most 64 KiB; `None` if they are not
    /// known.
    pub attributes: Option<Vec<u8>>,
    /// Whether it had other names (hard links).
    pub has_links: bool,
}

/// Where a file, or a part of one, is in a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The file.
    pub file: ProtectedFile,
    /// The first byte of the file that is in the set.
    pub start: u64,
    /// How many bytes of the file are in the set.
    pub length: u64,
    /// The sets over which the runs of this part of the file are dealt out; 1 if all are here.
    pub sets: u16,
    /// The page of the set in which the first byte is.
    pub page: u32,
    /// The place of the first byte in that page.
    pub offset: u16,
}

/// The bytes of one file in one page of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberSpan {
    /// Where they are in the page.
    pub in_page: Range<usize>,
    /// Where they begin in the file.
    pub file_offset: u64,
}

impl Member {
    /// Returns the pages of the set that hold bytes of the file.
    pub fn pages(&self) -> Range<u32> {
        let end = u64::from(self.offset) + self.length;
        let pages = if self.length == 0 { 0 } else { end.div_ceil(PAGE_LEN as u64) as u32 };
        self.page..self.page + pages
    }

    /// Returns the bytes that are in a page of the set; `None` if none are.
    pub fn span(&self, page: u32) -> Option<MemberSpan> {
        if !self.pages().contains(&page) {
            return None;
        }
        let place = u64::from(page - self.page) * PAGE_LEN as u64;
        let end = (self.length + u64::from(self.offset) - place).min(PAGE_LEN as u64) as usize;
        let start = if page == self.page { usize::from(self.offset) } else { 0 };
        Some(MemberSpan { in_page: start..end, file_offset: self.file_offset(place) })
    }

    /// Returns where the byte is in the file that follows so many others in the set.
    fn file_offset(&self, place: u64) -> u64 {
        self.start + self.distance(place)
    }

    /// Returns how far apart the first byte and one that follows so many others in the set are in
    /// the file.
    pub(crate) fn distance(&self, place: u64) -> u64 {
        place / RUN_LEN * RUN_LEN * u64::from(self.sets) + place % RUN_LEN
    }

    /// Returns the page of the set that holds a byte of the file; `None` if none does.
    pub fn page_of(&self, file_offset: u64) -> Option<u32> {
        let beyond = file_offset.checked_sub(self.start)?;
        let (turn, within) = (beyond / RUN_LEN, beyond % RUN_LEN);
        let sets = u64::from(self.sets);
        let place = turn / sets * RUN_LEN + within;
        let is_here = turn % sets == 0 && place < self.length;
        is_here.then(|| self.page + ((place + u64::from(self.offset)) / PAGE_LEN as u64) as u32)
    }

    /// Returns the bytes that its record takes at most.
    fn record_len(&self) -> usize {
        let attributes = self.file.attributes.as_ref().map_or(0, |bytes| 4 + bytes.len());
        RECORD_LEN_MIN + self.file.path.as_os_str().len() + self.file.tag.len() + attributes
    }
}

/// A set as planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSet {
    /// The number of pages.
    pub geometry: Geometry,
    /// The members, in the order of their places.
    pub members: Vec<Member>,
}

/// Places files in sets, in constant memory: that of one set.
pub struct SetPlanner {
    redundancy: Redundancy,
    /// Over how many sets a large file is dealt out at most.
    interleaved: u16,
    members: Vec<Member>,
    records_len: usize,
    /// The first page that is free.
    next_page: u32,
    /// The page that files shorter than a page share, and how many of its bytes are taken.
    shared: Option<(u32, u16)>,
}

impl SetPlanner {
    /// Starts with an empty set. A file longer than a set is dealt out over at most `interleaved`
    /// sets at a time; encoding takes 8 MiB of memory for each.
    pub fn new(redundancy: Redundancy, interleaved: u16) -> SetPlanner {
        SetPlanner {
            redundancy,
            interleaved: interleaved.max(1),
            members: Vec::new(),
            records_len: 0,
            next_page: 0,
            shared: None,
        }
    }

    /// Places a file. Returns the sets that became complete, in groups that are encoded together:
    /// those over which one part of a large file is dealt out.
    pub fn push(&mut self, file: ProtectedFile) -> Vec<Vec<PlannedSet>> {
        if file.length.div_ceil(PAGE_LEN as u64) > u64::from(self.redundancy.pages_max()) {
            return self.cut(&file);
        }
        let length = file.length;
        let mut member = Member { file, start: 0, length, sets: 1, page: 0, offset: 0 };
        let full = self.place(&mut member).is_none();
        let closed = full.then(|| self.close()).flatten();
        if full {
            self.place(&mut member).expect("an empty set has room for a file that is not cut");
        }
        self.records_len += member.record_len();
        self.members.push(member);
        closed.map(|set| vec![set]).into_iter().collect()
    }

    /// Ends the last set; `None` if it has no members.
    pub fn finish(mut self) -> Option<PlannedSet> {
        self.close()
    }

    /// Returns the whole runs of a full set.
    fn runs_max(&self) -> u32 {
        self.redundancy.data_shards_max() / RUN_SHARDS
    }

    /// Sets the place of a member in the open set; `None` if there is no room.
    fn place(&mut self, member: &mut Member) -> Option<()> {
        let records_len = self.records_len + member.record_len();
        if self.members.len() == MEMBERS_MAX || records_len > RECORDS_LEN_MAX {
            return None;
        }
        if member.length == 0 {
            return Some(());
        }
        let is_short = member.length < PAGE_LEN as u64;
        let fits = |taken: &(u32, u16)| u64::from(taken.1) + member.length <= PAGE_LEN as u64;
        if let Some((page, taken)) = self.shared.filter(|taken| is_short && fits(taken)) {
            (member.page, member.offset) = (page, taken);
            self.shared = Some((page, taken + member.length as u16));
            return Some(());
        }
        let pages = member.length.div_ceil(PAGE_LEN as u64) as u32;
        if self.next_page + pages > self.redundancy.pages_max() {
            return None;
        }
        (member.page, member.offset) = (self.next_page, 0);
        self.next_page += pages;
        if is_short {
            self.shared = Some((member.page, member.length as u16));
        }
        Some(())
    }

    /// Ends the open set and begins another. Empty files alone get a page of zeros, because a set
    /// has at least one.
    fn close(&mut self) -> Option<PlannedSet> {
        let mut members = std::mem::take(&mut self.members);
        let pages = std::mem::take(&mut self.next_page).max(1);
        (self.records_len, self.shared) = (0, None);
        if members.is_empty() {
            return None;
        }
        // Stable: empty files stay in the order of their paths, at the beginning.
        members.sort_by_key(|member| (member.length > 0, member.page, member.offset));
        let geometry = self.redundancy.geometry(pages).expect("no more pages than fit");
        Some(PlannedSet { geometry, members })
    }

    /// Cuts a file that is longer than a set.
    fn cut(&self, file: &ProtectedFile) -> Vec<Vec<PlannedSet>> {
        let group_len = u64::from(self.interleaved) * u64::from(self.runs_max()) * RUN_LEN;
        let starts = (0..file.length.div_ceil(group_len)).map(|group| group * group_len);
        starts.map(|start| self.group(file, start, (file.length - start).min(group_len))).collect()
    }

    /// Deals out the runs of one part of a file over as few sets as hold it.
    fn group(&self, file: &ProtectedFile, start: u64, length: u64) -> Vec<PlannedSet> {
        let runs = length.div_ceil(RUN_LEN);
        let sets = runs.div_ceil(u64::from(self.runs_max()));
        let missing = runs * RUN_LEN - length;
        let of = |number: u64| {
            let own_runs = (runs - number).div_ceil(sets);
            let has_last = (runs - 1) % sets == number;
            let length = own_runs * RUN_LEN - if has_last { missing } else { 0 };
            let file = file.clone();
            let start = start + number * RUN_LEN;
            let member = Member { file, start, length, sets: sets as u16, page: 0, offset: 0 };
            let geometry = self.redundancy.geometry(member.pages().end);
            let geometry = geometry.expect("no more runs than fit");
            PlannedSet { geometry, members: vec![member] }
        };
        (0..sets).map(of).collect()
    }
}

/// The runs of a cut file lie on whole pages, so every page but the last is full.
const _: () = assert!(RUN_LEN == RUN_PAGES as u64 * PAGE_LEN as u64);
