//! Reads files, holds them to their tags, and encodes them into sets.
//!
//! Input: what a walk finds, and what is known of the sets that are there. Output: parity files,
//! each written whole before an older one is removed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

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
use super::made::{NotProtected, ParityMade, ParityMonitor, ParityOptions};
use super::place::{ParityPlace, system};
use super::protected;
use super::review::{PathSet, Review, StaleSet};
use super::stream::{CHUNK_LEN, DIRECT_LEN_MIN, SetStream};
use crate::calibration::fastest_lanes;
use crate::error::Error;
use crate::event::{FileError, FileEvent, Subject};
use crate::monitor::Progress;
use crate::read::{Engine, Origin};
use crate::run::{Options, engine_of};
use crate::verdict::{Verdict, worse_status};

/// The longest path in bytes that a set has room for.
const PATH_LEN_MAX: usize = 4096;

/// Time between two reports of progress.
const PROGRESS_INTERVAL_MS: u128 = 100;

/// When making began, and when it is to end.
#[derive(Clone, Copy)]
pub(super) struct MakerLimits {
    pub(super) begun: Instant,
    pub(super) deadline: Option<Instant>,
}

/// Makes sets of the files that it is given.
pub(super) struct SetMaker<'a> {
    place: &'a ParityPlace,
    folder: &'a ParityFolder,
    options: &'a ParityOptions,
    limits: MakerLimits,
    engine: Arc<dyn Engine>,
    /// Ends the walk.
    walk_stop: Arc<AtomicBool>,
    origin: SetOrigin,
    lanes: Lanes,
    review: Review,
    buffer: RunBuffer,
    bytes: AlignedBuffer,
    written: HashSet<SetId>,
    failed: PathSet,
    /// Files that were renamed, by the sets that they are in.
    renamed: BTreeMap<SetId, Vec<(PathBuf, ProtectedFile)>>,
    /// Whether sets that have renamed files are whole.
    sound: HashMap<SetId, bool>,
    /// When progress was reported last.
    shown: Instant,
    made: ParityMade,
    monitor: &'a mut dyn ParityMonitor,
}

impl<'a> SetMaker<'a> {
    pub(super) fn new(
        place: &'a ParityPlace,
        folder: &'a ParityFolder,
        options: &'a ParityOptions,
        limits: MakerLimits,
        review: Review,
        monitor: &'a mut dyn ParityMonitor,
    ) -> SetMaker<'a> {
        let now = (options.run.now)();
        let redundancy = options.redundancy.or(review.redundancy).unwrap_or_default();
        let made_s = u64::try_from(now.seconds).unwrap_or(0);
        SetMaker {
            place,
            folder,
            options,
            limits,
            engine: engine_of(&options.run),
            walk_stop: Arc::default(),
            origin: SetOrigin { redundancy, tree: [0; 16], made_s },
            lanes: fastest_lanes(),
            made: ParityMade { sets_kept: review.kept, ..ParityMade::default() },
            review,
            buffer: RunBuffer::new(),
            bytes: AlignedBuffer::new(CHUNK_LEN),
            written: HashSet::new(),
            failed: PathSet::default(),
            renamed: BTreeMap::new(),
            sound: HashMap::new(),
            shown: limits.begun,
            monitor,
        }
    }

    /// Returns the redundancy of new sets.
    pub(super) fn redundancy(&self) -> Redundancy {
        self.origin.redundancy
    }

    /// Returns the options of a walk that this ends.
    pub(super) fn walk_options(&self) -> Options {
        Options { stop: Arc::clone(&self.walk_stop), ..self.options.run.clone() }
    }

    /// Reports progress, and ends the walk if it is time.
    pub(super) fn look_up(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.shown).as_millis() >= PROGRESS_INTERVAL_MS {
            self.shown = now;
            self.monitor.progress(&Progress {
                files: self.made.files,
                bytes: self.made.bytes_read,
                elapsed_ns: now.duration_since(self.limits.begun).as_nanos() as u64,
                ..Progress::default()
            });
        }
        if self.is_stopped() {
            self.walk_stop.store(true, Ordering::Relaxed);
        }
    }

    /// Ends the last set, removes what is not needed any more, and returns what became of it all.
    pub(super) fn end(mut self, planner: SetPlanner) -> Result<ParityMade, Error> {
        if let Some(set) = planner.finish() {
            self.encode(vec![vec![set]])?;
        }
        self.rename()?;
        self.tell_of_review();
        if !self.is_stopped() {
            let stale = std::mem::take(&mut self.review.stale);
            self.remove_stale(&stale)?;
        }
        if self.made.files == 0 && self.made.status == 0 && !self.options.run.allow_empty {
            self.made.status = 2;
        }
        Ok(self.made)
    }

    /// Reports what is missing, and sets that cannot be read.
    fn tell_of_review(&mut self) {
        let place = self.place;
        let gone = self.review.gone.iter().filter(|gone| !gone.is_moved);
        let gone: Vec<PathBuf> = gone.map(|gone| place.shown(&gone.file.path)).collect();
        if !self.options.forget_missing && !self.is_stopped() {
            for path in gone {
                self.made.missing += 1;
                self.tell(path, Verdict::Missing, None);
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
        self.made.time_up |= self.limits.deadline.is_some_and(|end| Instant::now() >= end);
        self.made.interrupted || self.made.time_up
    }

    /// Takes what the walk found, and encodes the sets that became complete.
    pub(super) fn take(
        &mut self,
        event: &FileEvent,
        planner: &mut SetPlanner,
    ) -> Result<(), Error> {
        self.look_up();
        if self.walk_stop.load(Ordering::Relaxed) {
            return Ok(());
        }
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
            Ok(file) if self.is_renamed(&file, &tag) => {
                self.made.files += 1;
                self.made.moved += 1;
                Ok(())
            }
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

    /// Says whether a file is one that is gone, by another path. If the sets that it is in stay, it
    /// is renamed in them; otherwise it must be read again like any other of their files.
    fn is_renamed(&mut self, file: &ProtectedFile, tag: &Tag) -> bool {
        let Some(at) = self.review.gone_with(tag) else { return false };
        let sets = self.review.gone[at].sets.clone();
        if !sets.iter().all(|id| !self.review.is_stale(id) && self.is_sound(id)) {
            self.review.gone[at].is_moved = sets.iter().any(|id| self.review.is_stale(id));
            return false;
        }
        self.review.gone[at].is_moved = true;
        let before = self.review.gone[at].file.path.clone();
        for id in sets {
            self.renamed.entry(id).or_default().push((before.clone(), file.clone()));
        }
        true
    }

    /// Says whether nothing in a set is damaged.
    fn is_sound(&mut self, id: &SetId) -> bool {
        let folder = self.folder;
        let read = || folder.set(id).is_ok_and(|stored| stored.damaged_parity() == 0);
        *self.sound.entry(*id).or_insert_with(read)
    }

    /// Writes sets anew in which files were renamed. Their pages and parity stay as they are.
    fn rename(&mut self) -> Result<(), Error> {
        for (id, renamed) in std::mem::take(&mut self.renamed) {
            let failed = |error| system("rename a file in a set", error, self.place);
            let stored = self.folder.set(&id).map_err(|error| failed(io::Error::other(error)))?;
            let parity = stored.parity().map_err(failed)?;
            let index = stored.set.index();
            let mut members = index.members().to_vec();
            for (before, file) in renamed {
                let member = members.iter_mut().find(|member| member.file.path == before);
                if let Some(member) = member {
                    member.file = file;
                }
            }
            let index = SetIndex::new(parity.geometry(), members, index.marks().to_vec(), |page| {
                parity.page(page)
            });
            let index = index.map_err(|error| failed(io::Error::other(error)))?;
            let origin = stored.set.header().origin;
            let (new, _) = self.folder.write(&index, &parity, origin).map_err(failed)?;
            if new != id {
                self.folder.remove(&id).map_err(failed)?;
            }
            self.written.insert(new);
        }
        Ok(())
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
                self.look_up();
                if self.is_stopped() {
                    // What was read of it must not get into another set.
                    self.buffer = RunBuffer::new();
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
        let mut held = HeldFile::open(self.place, file, &self.engine, self.lanes)?;
        while held.offset < file.length {
            let at = place + held.offset;
            let (bytes, buffer) = (&mut self.bytes, &mut self.buffer);
            self.made.bytes_read += read_into(&mut held, stream, (at, file.length), bytes, buffer)?;
        }
        self.finish_file(held)
    }

    /// Compares what was read of a file with its tag, and counts where it came from.
    fn finish_file(&mut self, held: HeldFile) -> Result<(), WhyNot> {
        let read = held.offset;
        let origin = held.finish()?;
        if origin == Origin::Media {
            self.made.bytes_from_media += read;
        }
        Ok(())
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
        let mut held = match HeldFile::open(self.place, file, &self.engine, self.lanes) {
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
                && let Some(Err(refusal)) = held.take().map(|held| self.finish_file(held))
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
            self.look_up();
            if self.is_stopped() {
                return Err(None);
            }
            let run = (held.offset - start) / RUN_LEN;
            let (turn, set) = (run / group.len() as u64, run % group.len() as u64);
            let place = turn * RUN_LEN + (held.offset - start) % RUN_LEN;
            let end = (start + (run + 1) * RUN_LEN).min(start + length);
            let (bytes, buffer) = (&mut self.bytes, &mut self.buffer);
            let read = read_into(held, &mut streams[set as usize], (place, end), bytes, buffer);
            self.made.bytes_read += read.map_err(Some)?;
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
                || set.gone.iter().any(|at| !self.review.gone[*at].is_moved)
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
}

/// Reads the next bytes of a file into a set, at a place of it, but not beyond a place of the file,
/// and returns how many. If they are many, they are read straight into the run: to copy them took a
/// fifth of the processor time of making parity.
fn read_into(
    held: &mut HeldFile,
    stream: &mut SetStream,
    (place, end): (u64, u64),
    bytes: &mut [u8],
    buffer: &mut RunBuffer,
) -> Result<u64, WhyNot> {
    let is_long = end - held.offset >= DIRECT_LEN_MIN as u64;
    let room = if is_long { stream.room_for_pages(place, buffer) } else { None };
    Ok(match room {
        Some(room) => {
            let len = held.read(room, end)?.len();
            stream.take_pages(len, &mut held.hasher, buffer);
            len as u64
        }
        None => {
            let read = held.read(bytes, end)?;
            stream.append(place, read, &mut held.hasher, buffer);
            read.len() as u64
        }
    })
}
