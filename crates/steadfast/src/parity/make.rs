//! Makes parity: what is tagged and not yet protected is read once, held to its tag, and encoded.
//!
//! A set stays as long as its files have their tags. Files of sets that do not stay, and new ones,
//! go into new sets. An old set is removed after the new ones are on the medium, and only if they
//! protect all that it could restore.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use steadfast_digest::Lanes;
use steadfast_manifest::tag::Tag;
use steadfast_parity::{
    Member, PAGE_LEN, PageMark, ParityPages, PlannedSet, ProtectedFile, RUN_LEN, Redundancy,
    RunBuffer, SetIndex, SetOrigin, SetPlanner,
};
use steadfast_sys::file::AlignedBuffer;

use super::folder::ParityFolder;
use super::held::{HeldFile, OpenMember, WhyNot, unreadable};
use super::identity::{SetId, hex};
use super::place::{ParityPlace, system};
use super::protected;
use super::review::{PathSet, Review, ReviewRule, StaleSet};
use super::stream::{CHUNK_LEN, SetStream};
use crate::calibration::fastest_lanes;
use crate::error::Error;
use crate::event::{FileError, FileEvent, Notice, Subject};
use crate::monitor::{Event, Monitor};
use crate::run::{Options, Verb, run};
use crate::selection::Selection;
use crate::verdict::{Verdict, worse_status};

/// Over how many sets a large file is dealt out at most. Each takes 8 MiB of memory.
const INTERLEAVED: u16 = 4;

/// The longest path in bytes that a set has room for.
const PATH_LEN_MAX: usize = 4096;

/// How parity is made.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ParityOptions {
    /// The redundancy; `None` for that of the sets that are there, or 10 %.
    pub redundancy: Option<Redundancy>,
    /// Whether to let go of files that are gone from the tree. Otherwise they stay protected.
    pub forget_missing: bool,
    /// How the tree is walked, when to stop, and the time.
    pub run: Options,
}

/// A file that is not protected as it should be.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NotProtected {
    /// The path as the user would write it.
    pub path: PathBuf,
    /// Why not: it is corrupt, was modified, cannot be read. A missing one can be restored.
    pub verdict: Verdict,
    /// What went wrong, if the system refused something.
    pub trouble: Option<FileError>,
}

/// Listens while parity is made.
pub trait ParityMonitor: Monitor {
    /// Hears of a file that is not protected as it should be.
    fn not_protected(&mut self, file: &NotProtected);
}

/// What became of the parity of a tree.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[must_use]
pub struct ParityMade {
    /// Tagged files that are protected.
    pub files: u64,
    /// Files that have no tag, and so no protection.
    pub untagged: u64,
    /// Files that are not protected because they are not as their tags say, or cannot be read.
    pub not_protected: u64,
    /// Files that are gone from the tree, and stay protected.
    pub missing: u64,
    /// Sets that were made.
    pub sets_made: u64,
    /// Sets that stayed.
    pub sets_kept: u64,
    /// Sets that were removed.
    pub sets_removed: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Whether the run was told to stop before its end.
    pub interrupted: bool,
    status: u8,
}

impl ParityMade {
    /// Returns the exit status: 0 everything that is tagged is protected, 3 a file is corrupt, 2
    /// something else is not protected or is missing, 130 interrupted.
    pub fn exit_status(&self) -> u8 {
        match self.status {
            3 => 3,
            _ if self.interrupted => 130,
            status => status,
        }
    }
}

/// Makes the parity of a tree. Sets that are there are read, and made anew if they are damaged or
/// their files changed.
///
/// # Errors
/// If the tree cannot be walked or the parity cannot be written.
pub fn make_parity(
    place: &ParityPlace,
    options: &ParityOptions,
    monitor: &mut dyn ParityMonitor,
) -> Result<ParityMade, Error> {
    let folder = ParityFolder::make(place)?;
    bring_up_to_date(place, &folder, options, true, monitor)
}

/// Makes parity for what is new or changed since it was made. Sets that are there are looked at and
/// not read, apart from their indices.
///
/// # Errors
/// As [`make_parity`]; also if there is no parity.
pub fn update_parity(
    place: &ParityPlace,
    options: &ParityOptions,
    monitor: &mut dyn ParityMonitor,
) -> Result<ParityMade, Error> {
    let folder = ParityFolder::open_to_change(place)?;
    bring_up_to_date(place, &folder, options, false, monitor)
}

fn bring_up_to_date(
    place: &ParityPlace,
    folder: &ParityFolder,
    options: &ParityOptions,
    proves: bool,
    monitor: &mut dyn ParityMonitor,
) -> Result<ParityMade, Error> {
    let _lock = folder.lock(place)?;
    folder.remove_drafts().map_err(|error| system("remove old drafts", error, place))?;
    for text in folder.remember(place)? {
        monitor.event(&Event::Notice(Notice::new(text).at(&place.folder())));
    }
    let redundancy = options.redundancy;
    let rule = ReviewRule { redundancy, proves, forgets: options.forget_missing };
    let mut review = Review::of(place, folder, rule, &options.run.stop)?;
    let stale = std::mem::take(&mut review.stale);
    let mut maker = SetMaker::new(place, folder, options, review, monitor);
    let mut planner = SetPlanner::new(maker.origin.redundancy, INTERLEAVED);
    let mut outcome = Ok(());
    let selection = Selection::of([place.root()]);
    let summary = run(Verb::Show, &selection, &options.run, &mut |event: &Event| {
        if outcome.is_ok()
            && let Event::File(file) = event
        {
            outcome = maker.take(file, &mut planner);
        }
    })?;
    outcome?;
    maker.made.interrupted |= summary.interrupted;
    if let Some(set) = planner.finish() {
        maker.encode(vec![vec![set]])?;
    }
    if !maker.is_stopped() {
        maker.remove_stale(&stale)?;
    }
    Ok(maker.finish())
}

/// Makes sets of the files that it is given.
struct SetMaker<'a> {
    place: &'a ParityPlace,
    folder: &'a ParityFolder,
    options: &'a ParityOptions,
    origin: SetOrigin,
    lanes: Lanes,
    review: Review,
    buffer: RunBuffer,
    bytes: AlignedBuffer,
    written: HashSet<SetId>,
    failed: PathSet,
    made: ParityMade,
    monitor: &'a mut dyn ParityMonitor,
}

impl<'a> SetMaker<'a> {
    fn new(
        place: &'a ParityPlace,
        folder: &'a ParityFolder,
        options: &'a ParityOptions,
        review: Review,
        monitor: &'a mut dyn ParityMonitor,
    ) -> SetMaker<'a> {
        let now = (options.run.now)();
        let redundancy = options.redundancy.or(review.redundancy).unwrap_or_default();
        let made_s = u64::try_from(now.seconds).unwrap_or(0);
        let mut maker = SetMaker {
            place,
            folder,
            options,
            origin: SetOrigin { redundancy, tree: [0; 16], made_s },
            lanes: fastest_lanes(),
            made: ParityMade { sets_kept: review.kept, ..ParityMade::default() },
            review,
            buffer: RunBuffer::new(),
            bytes: AlignedBuffer::new(CHUNK_LEN),
            written: HashSet::new(),
            failed: PathSet::default(),
            monitor,
        };
        maker.tell_of_review();
        maker
    }

    /// Reports what is missing, and sets that cannot be read.
    fn tell_of_review(&mut self) {
        let place = self.place;
        if !self.options.forget_missing {
            for path in std::mem::take(&mut self.review.gone) {
                self.made.missing += 1;
                self.tell(place.shown(&path), Verdict::Missing, None);
            }
        }
        for (id, error) in std::mem::take(&mut self.review.unreadable) {
            let path = place.folder().join(&hex(&id)[..2]).join(hex(&id));
            let trouble = FileError::from_io("read the set", &error);
            self.tell(path, Verdict::Unreadable, Some(trouble));
        }
    }

    fn tell(&mut self, path: PathBuf, verdict: Verdict, trouble: Option<FileError>) {
        let status = if verdict == Verdict::Corrupt { 3 } else { 2 };
        self.made.status = worse_status(self.made.status, status);
        self.monitor.not_protected(&NotProtected { path, verdict, trouble });
    }

    fn refuse(&mut self, relative: &Path, verdict: Verdict, trouble: Option<FileError>) {
        self.failed.insert(relative);
        self.made.not_protected += 1;
        self.tell(self.place.shown(relative), verdict, trouble);
    }

    fn is_stopped(&mut self) -> bool {
        self.made.interrupted |= self.options.run.stop.load(Ordering::Relaxed);
        self.made.interrupted
    }

    /// Takes what the walk found, and encodes the sets that became complete.
    fn take(&mut self, event: &FileEvent, planner: &mut SetPlanner) -> Result<(), Error> {
        let path = event.path.to_path();
        let Ok(relative) = path.strip_prefix(self.place.root()) else { return Ok(()) };
        let trouble = event.trouble.clone();
        if event.subject == Subject::Directory || event.verdict == Some(Verdict::Unreadable) {
            self.refuse(relative, Verdict::Unreadable, trouble);
            return Ok(());
        }
        let Some(tag) = event.stored else {
            let operation = "read the tag";
            let damaged = event.tag_error.map(|error| error.to_string());
            let trouble = trouble.or(damaged.map(|reason| FileError { operation, reason }));
            match trouble {
                Some(trouble) => self.refuse(relative, Verdict::Unreadable, Some(trouble)),
                None => self.made.untagged += 1,
            }
            return Ok(());
        };
        if self.review.covered.contains(relative) {
            self.made.files += 1;
            return Ok(());
        }
        match self.planned(relative, &tag) {
            Ok(file) => self.encode(planner.push(file)),
            Err((verdict, trouble)) => {
                self.refuse(relative, verdict, trouble);
                Ok(())
            }
        }
    }

    /// Returns what is kept of a file, if its length is that of its tag.
    fn planned(&self, relative: &Path, tag: &Tag) -> Result<ProtectedFile, WhyNot> {
        if relative.as_os_str().len() > PATH_LEN_MAX {
            let reason = format!("its path is longer than {PATH_LEN_MAX} bytes");
            let trouble = FileError { operation: "protect it", reason };
            return Err((Verdict::Unreadable, Some(trouble)));
        }
        let open = OpenMember::open(self.place, relative)?;
        open.ensure_length(tag)?;
        protected(relative.to_owned(), tag, &open.file).map_err(|error| unreadable(&error))
    }

    /// Encodes sets: one of whole files, or all those of one file that is cut.
    fn encode(&mut self, groups: Vec<Vec<PlannedSet>>) -> Result<(), Error> {
        let Some(first) = groups.first().and_then(|group| group.first()) else { return Ok(()) };
        match first.members.as_slice() {
            [part] if part.length < part.file.length => {
                let file = part.file.clone();
                self.encode_cut(&file, groups)
            }
            _ => groups.into_iter().flatten().try_for_each(|set| self.encode_whole(set)),
        }
    }

    /// Encodes a set of whole files. If some fail their tags, the set is planned again without
    /// them.
    fn encode_whole(&mut self, set: PlannedSet) -> Result<(), Error> {
        let mut waiting = vec![set];
        while let Some(set) = waiting.pop() {
            let mut stream = SetStream::new(set.geometry, self.lanes);
            let mut failed = HashSet::new();
            for (number, member) in set.members.iter().enumerate() {
                if self.is_stopped() {
                    return Ok(());
                }
                let place = u64::from(member.page) * PAGE_LEN as u64 + u64::from(member.offset);
                if let Err((verdict, trouble)) = self.read_whole(&member.file, place, &mut stream) {
                    failed.insert(number);
                    self.refuse(&member.file.path, verdict, trouble);
                }
            }
            if failed.is_empty() {
                self.made.files += set.members.len() as u64;
                let (marks, parity) = stream.finish(&mut self.buffer);
                self.write(set.members, marks, &parity)?;
                continue;
            }
            // What it has of the failed set must not get into another.
            self.buffer = RunBuffer::new();
            let numbered = set.members.into_iter().enumerate();
            let left = numbered.filter(|(number, _)| !failed.contains(number));
            let mut files: Vec<ProtectedFile> = left.map(|(_, member)| member.file).collect();
            files.sort_by(|one, other| one.path.cmp(&other.path));
            let mut planner = SetPlanner::new(self.origin.redundancy, 1);
            for file in files {
                waiting.extend(planner.push(file).into_iter().flatten());
            }
            waiting.extend(planner.finish());
        }
        Ok(())
    }

    /// Reads a file into a set.
    fn read_whole(
        &mut self,
        file: &ProtectedFile,
        place: u64,
        stream: &mut SetStream,
    ) -> Result<(), WhyNot> {
        let mut held = HeldFile::open(self.place, file)?;
        while held.offset < file.length {
            let at = place + held.offset;
            let bytes = held.read(&mut self.bytes, file.length)?;
            self.made.bytes_read += bytes.len() as u64;
            stream.append(at, bytes, &mut self.buffer);
        }
        held.finish()
    }

    /// Encodes a file that is cut. The last sets are written only if the whole file has the digest
    /// of its tag. Without them, the others are no protection, and the next run makes them again.
    fn encode_cut(
        &mut self,
        file: &ProtectedFile,
        groups: Vec<Vec<PlannedSet>>,
    ) -> Result<(), Error> {
        let mut parts = Vec::new();
        let outcome = self.encode_parts(file, groups, &mut parts)?;
        match outcome {
            Ok(()) => self.made.files += 1,
            Err(refusal) => {
                self.buffer = RunBuffer::new();
                for id in parts {
                    let removed = self.folder.remove(&id);
                    removed.map_err(|error| system("remove a set", error, self.place))?;
                    self.written.remove(&id);
                    self.made.sets_made -= 1;
                }
                if let Some((verdict, trouble)) = refusal {
                    self.refuse(&file.path, verdict, trouble);
                }
            }
        }
        Ok(())
    }

    /// Encodes the groups of sets of a file that is cut. The inner error is why the file is
    /// refused; `None` if the run was stopped.
    fn encode_parts(
        &mut self,
        file: &ProtectedFile,
        groups: Vec<Vec<PlannedSet>>,
        parts: &mut Vec<SetId>,
    ) -> Result<Result<(), Option<WhyNot>>, Error> {
        let mut held = match HeldFile::open(self.place, file) {
            Ok(held) => Some(held),
            Err(refusal) => return Ok(Err(Some(refusal))),
        };
        let last = groups.len() - 1;
        for (number, group) in groups.into_iter().enumerate() {
            let Some(open) = &mut held else { break };
            let streams = match self.read_group(open, &group) {
                Ok(streams) => streams,
                Err(refusal) => return Ok(Err(refusal)),
            };
            if number == last
                && let Some(Err(refusal)) = held.take().map(HeldFile::finish)
            {
                return Ok(Err(Some(refusal)));
            }
            for (set, stream) in group.into_iter().zip(streams) {
                let (marks, parity) = stream.finish(&mut self.buffer);
                let before = self.made.sets_made;
                let id = self.write(set.members, marks, &parity)?;
                // One that was there already may be what the file can be repaired from.
                if self.made.sets_made > before {
                    parts.push(id);
                }
            }
        }
        Ok(Ok(()))
    }

    /// Reads the part of a file that is dealt out over a group of sets.
    fn read_group(
        &mut self,
        held: &mut HeldFile,
        group: &[PlannedSet],
    ) -> Result<Vec<SetStream>, Option<WhyNot>> {
        let lanes = self.lanes;
        let streams = group.iter().map(|set| SetStream::new(set.geometry, lanes));
        let mut streams: Vec<SetStream> = streams.collect();
        let start = held.offset;
        let length = group.iter().flat_map(|set| &set.members).map(|part| part.length).sum::<u64>();
        while held.offset < start + length {
            if self.is_stopped() {
                return Err(None);
            }
            let run = (held.offset - start) / RUN_LEN;
            let (turn, set) = (run / group.len() as u64, run % group.len() as u64);
            let place = turn * RUN_LEN + (held.offset - start) % RUN_LEN;
            let end = (start + (run + 1) * RUN_LEN).min(start + length);
            let bytes = held.read(&mut self.bytes, end).map_err(Some)?;
            self.made.bytes_read += bytes.len() as u64;
            streams[set as usize].append(place, bytes, &mut self.buffer);
        }
        Ok(streams)
    }

    /// Writes a set.
    fn write(
        &mut self,
        members: Vec<Member>,
        marks: Vec<PageMark>,
        parity: &ParityPages,
    ) -> Result<SetId, Error> {
        let geometry = parity.geometry();
        let index = SetIndex::new(geometry, members, marks, |page| parity.page(page));
        let index = index.map_err(io::Error::other);
        let written = index.and_then(|index| self.folder.write(&index, parity, self.origin));
        let failed = |error| system("write the parity", error, self.place);
        let (id, is_new) = written.map_err(failed)?;
        self.written.insert(id);
        match is_new {
            true => self.made.sets_made += 1,
            false => self.made.sets_kept += 1,
        }
        Ok(id)
    }

    /// Removes sets that are not as the tree is, unless they may restore what nothing else can.
    fn remove_stale(&mut self, stale: &[StaleSet]) -> Result<(), Error> {
        for set in stale {
            let has_failed = || {
                let stored = self.folder.set(&set.id);
                stored.is_ok_and(|stored| {
                    let members = stored.set.index().members();
                    members.iter().any(|member| self.failed.contains(&member.file.path))
                })
            };
            if self.written.contains(&set.id)
                || set.has_gone
                || (!self.failed.is_empty() && has_failed())
            {
                continue;
            }
            let removed = self.folder.remove(&set.id);
            removed.map_err(|error| system("remove a set", error, self.place))?;
            self.made.sets_removed += 1;
        }
        Ok(())
    }

    fn finish(mut self) -> ParityMade {
        if self.made.files == 0 && self.made.status == 0 && !self.options.run.allow_empty {
            self.made.status = 2;
        }
        self.made
    }
}
