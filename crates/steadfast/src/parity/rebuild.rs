//! A copy of a file as far as parity can give it.
//!
//! Pages that the file still has are proved by the marks of its sets; the others are rebuilt from
//! the pages of other files that are left, and proved likewise. The copy is one like any other: who
//! uses it compares it with the file's tag or leaves.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_manifest::tag::Tag;
use steadfast_parity::{
    COLUMNS, ColumnDecoder, ErrorKind, Member, MemberSpan, PAGE_LEN, PageAt, ProtectedFile,
    column_of,
};
use steadfast_sys::file::{Dir, Draft, File, Ownership, Timestamp};

use super::data_pages::DataPages;
use super::folder::{ParityFolder, StoredSet};
use super::identity::{SetId, names_of};
use super::needed::Recorded;
use super::place::{ParityPlace, system};
use super::recorded::TreeRecords;
use crate::belongings::{Attributes, Belongings};
use crate::byte_ranges::ByteRanges;
use crate::error::Error;
use crate::event::FileError;
use crate::tree_folder::FOLDER;

/// The parity of a tree, to rebuild files from.
pub struct ParitySource {
    place: ParityPlace,
    folder: ParityFolder,
    /// The sets of each file, by a digest of its path.
    sets: HashMap<u64, Vec<SetId>>,
    key: RandomState,
    /// The parity of files as they were before they were edited.
    earlier: Option<Box<ParitySource>>,
}

/// What parity has of a file beside its contents.
pub(crate) struct ProtectedBelongings {
    pub(crate) belongings: Belongings,
    /// Whether only the user and root could have written that.
    pub(crate) is_ours: bool,
    /// Whether the file had other names (hard links).
    pub(crate) has_links: bool,
}

/// A file without a name, with what parity can give of another; zeros are where it cannot.
#[derive(Debug)]
#[non_exhaustive]
pub struct RebuiltCopy {
    /// The contents.
    pub file: File,
    /// Pages of 4 KiB that were rebuilt.
    pub rebuilt_pages: u64,
    /// Pages that are lost.
    pub lost_pages: u64,
}

impl ParitySource {
    /// Reads the indices of all sets. One that cannot be read gives nothing.
    ///
    /// # Errors
    /// If there is no parity, or its folder cannot be listed.
    pub fn open(place: &ParityPlace) -> Result<ParitySource, Error> {
        let folder = ParityFolder::open(place)?;
        let earlier = folder.earlier().ok().flatten();
        let mut source = ParitySource::of(place, folder)?;
        // Earlier parity that cannot be read gives nothing.
        let earlier = earlier.and_then(|folder| ParitySource::of(place, folder).ok());
        source.earlier = earlier.map(Box::new);
        Ok(source)
    }

    fn of(place: &ParityPlace, folder: ParityFolder) -> Result<ParitySource, Error> {
        let mut source = ParitySource {
            place: place.clone(),
            folder,
            sets: HashMap::new(),
            key: RandomState::new(),
            earlier: None,
        };
        let ids = source.folder.ids();
        for id in ids.map_err(|error| system("list the parity", error, place))? {
            let Ok(stored) = source.folder.set(&id) else { continue };
            for member in stored.set.index().members() {
                source.sets.entry(source.key.hash_one(&member.file.path)).or_default().push(id);
            }
        }
        Ok(source)
    }

    /// Returns the tree.
    pub fn place(&self) -> &ParityPlace {
        &self.place
    }

    /// Says whether some set has a file at a path beneath the root.
    pub fn protects(&self, relative: &Path) -> bool {
        self.sets.contains_key(&self.key.hash_one(relative))
    }

    /// Returns the paths beneath the root and the tags of protected files that are gone from the
    /// tree, and whether a set cannot be read, so that there may be more. Of several tags of a path
    /// it is the latest: an older set may stay for the sake of other files.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn missing(&self) -> Result<(Vec<(PathBuf, Tag)>, bool), Error> {
        let failed = |error| system("list the parity", error, &self.place);
        let mut gone: BTreeMap<PathBuf, (Timestamp, u64, Tag)> = BTreeMap::new();
        let mut is_incomplete = false;
        let tags = TreeRecords::by_tags(&self.place);
        for id in self.folder.ids().map_err(failed)? {
            let Ok(stored) = self.folder.set(&id) else {
                is_incomplete = true;
                continue;
            };
            let made_s = stored.set.header().origin.made_s;
            for member in stored.set.index().members() {
                if !matches!(tags.of(&member.file), Recorded::Lost { is_there: false, .. }) {
                    continue;
                }
                let Ok(tag) = Tag::decode(&member.file.tag) else { continue };
                let found = (tag.tagged, made_s, tag);
                let latest = gone.entry(member.file.path.clone()).or_insert(found);
                if (latest.0, latest.1) < (found.0, found.1) {
                    *latest = found;
                }
            }
        }
        Ok((gone.into_iter().map(|(path, (_, _, tag))| (path, tag)).collect(), is_incomplete))
    }

    /// Makes a copy of the file at a path beneath the root as its tag describes it; `None` if no
    /// set has it. `own` is what is left of the file. If it is known which parts that lacks, only
    /// these are read, and the copy has what is not right in them. Otherwise it has all pages,
    /// which takes as much room as the file.
    ///
    /// # Errors
    /// If the copy cannot be written; `Interrupted` if the run was told to stop.
    pub fn copy_of(
        &self,
        relative: &Path,
        tag: &Tag,
        own: Option<&File>,
        lacking: Option<&ByteRanges>,
        stop: &AtomicBool,
    ) -> Result<Option<RebuiltCopy>, FileError> {
        let failed = |error: io::Error| FileError::from_io("rebuild it from parity", &error);
        let mut copy = None;
        for stored in self.sets_of(relative) {
            let Some(member) = member_of(&stored, relative, tag) else { continue };
            let copy = match &mut copy {
                Some(copy) => copy,
                none => none.insert(self.empty_copy(member).map_err(failed)?),
            };
            let index = stored.set.index();
            let data = DataPages::new(self.place.root(), index, Some((relative, own)));
            let mut set = SetPages { stored: &stored, member, data };
            set.write_to(copy, lacking, stop).map_err(failed)?;
        }
        match (copy, &self.earlier) {
            (None, Some(earlier)) => earlier.copy_of(relative, tag, own, lacking, stop),
            (copy, _) => Ok(copy.map(|copy| copy.copy)),
        }
    }

    /// Returns what belonged to a file when it was protected last: an older set may stay for the
    /// sake of other files.
    pub(crate) fn belongings_of(&self, relative: &Path, tag: &Tag) -> Option<ProtectedBelongings> {
        let ids = self.sets.get(&self.key.hash_one(relative))?;
        let stored = ids.iter().filter_map(|id| Some((id, self.folder.set(id).ok()?)));
        let stored = stored.filter(|(_, set)| member_of(set, relative, tag).is_some());
        let (id, latest) = stored.max_by_key(|(_, set)| set.set.header().origin.made_s)?;
        let ProtectedFile { mode, uid, gid, attributes, has_links, .. } =
            &member_of(&latest, relative, tag)?.file;
        let ownership = Ownership { mode: *mode, uid: *uid, gid: *gid };
        let attributes = attributes.as_deref().and_then(Attributes::decode);
        let belongings = Belongings { ownership, mtime: None, atime: None, attributes };
        let (is_ours, has_links) = (self.place.is_ours_alone(&names_of(id)), *has_links);
        Some(ProtectedBelongings { belongings, is_ours, has_links })
    }

    /// Says whether a set was made of the contents that a file has according to its tag.
    pub fn has(&self, relative: &Path, tag: &Tag) -> bool {
        self.sets_of(relative).any(|stored| member_of(&stored, relative, tag).is_some())
    }

    /// Returns the tags that sets have of the file at a path beneath the root.
    pub(crate) fn tags(&self, relative: &Path) -> Vec<Tag> {
        let mut tags = Vec::new();
        for stored in self.sets_of(relative) {
            let members = stored.set.index().members().iter();
            let members = members.filter(|member| member.file.path == relative);
            tags.extend(members.filter_map(|member| Tag::decode(&member.file.tag).ok()));
        }
        tags
    }

    /// Opens the sets that may have a file.
    fn sets_of<'a>(&'a self, relative: &Path) -> impl Iterator<Item = StoredSet> + 'a {
        let ids = self.sets.get(&self.key.hash_one(relative));
        ids.into_iter().flatten().filter_map(|id| self.folder.set(id).ok())
    }

    /// Makes a file without a name in the root, on the volume where there is room for the file.
    fn empty_copy(&self, member: &Member) -> io::Result<CopyDraft> {
        let root = Arc::new(Dir::open(self.place.root())?);
        let folder = root.open_dir(OsStr::new(FOLDER)).map_or(root, Arc::new);
        let draft = Draft::new(&folder)?;
        let file = draft.to_file()?;
        let out = draft.into_nameless()?;
        // Pages of zeros are left out, as in a sparse file.
        out.set_len(member.file.length)?;
        let copy = RebuiltCopy { file, rebuilt_pages: 0, lost_pages: 0 };
        Ok(CopyDraft { copy, out })
    }
}

/// Finds a file in a set, if it has the contents of a tag there.
fn member_of<'a>(stored: &'a StoredSet, relative: &Path, tag: &Tag) -> Option<&'a Member> {
    stored.set.index().members().iter().find(|member| {
        let of_tag = Tag::decode(&member.file.tag).is_ok_and(|of| of.same_contents(tag));
        member.file.path == relative && member.file.length == tag.length && of_tag
    })
}

/// A copy that is being written.
struct CopyDraft {
    copy: RebuiltCopy,
    out: std::fs::File,
}

impl CopyDraft {
    fn write(&mut self, span: &MemberSpan, page: &[u8]) -> io::Result<()> {
        if page[span.in_page.clone()].iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        self.out.seek(SeekFrom::Start(span.file_offset))?;
        self.out.write_all(&page[span.in_page.clone()])
    }
}

/// The pages of one set, of which one member is to be rebuilt.
struct SetPages<'a> {
    stored: &'a StoredSet,
    member: &'a Member,
    data: DataPages<'a>,
}

impl SetPages<'_> {
    /// Writes the pages of the member that are right, if all are wanted, and those that can be
    /// rebuilt.
    fn write_to(
        &mut self,
        copy: &mut CopyDraft,
        lacking: Option<&ByteRanges>,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        let index = self.stored.set.index();
        let mut bytes = vec![0; PAGE_LEN];
        let mut bad = [0_u64; COLUMNS];
        let member = self.member;
        let is_lacking = |page| match (lacking, member.span(page)) {
            (Some(lacking), Some(MemberSpan { in_page, file_offset })) => {
                lacking.meets(&(file_offset..file_offset + in_page.len() as u64))
            }
            _ => true,
        };
        for page in member.pages().filter(|page| is_lacking(*page)) {
            go_on(stop)?;
            match self.data.is_whole(page, &mut bytes) {
                true if lacking.is_none() => self.write_page(copy, page, &bytes)?,
                true => {}
                false => bad[column_of(page)] += 1,
            }
        }
        let mut decoder = ColumnDecoder::new(index.geometry());
        for column in (0..COLUMNS).filter(|column| bad[*column] > 0) {
            go_on(stop)?;
            let rebuilt = decoder.rebuild(index, column, &mut |page, bytes| match page {
                PageAt::Data(page) => self.data.read(page, bytes),
                PageAt::Parity(page) => self.stored.read_parity(page, bytes),
            });
            match rebuilt {
                Ok(pages) => {
                    for (page, bytes) in pages {
                        if self.member.pages().contains(&page) {
                            self.write_page(copy, page, &bytes)?;
                            copy.copy.rebuilt_pages += 1;
                        }
                    }
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::TooManyLost | ErrorKind::Damaged) =>
                {
                    copy.copy.lost_pages += bad[column];
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(())
    }

    fn write_page(&self, copy: &mut CopyDraft, page: u32, bytes: &[u8]) -> io::Result<()> {
        match self.member.span(page) {
            Some(span) => copy.write(&span, bytes),
            None => Ok(()),
        }
    }
}

fn go_on(stop: &AtomicBool) -> io::Result<()> {
    match stop.load(Ordering::Relaxed) {
        true => Err(io::ErrorKind::Interrupted.into()),
        false => Ok(()),
    }
}
