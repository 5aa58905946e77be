//! Reads files, holds them to their tags, and encodes them into sets.
//!
//! Input: what a walk finds, and what is known of the sets that are there. Output: parity files,
//! each written whole. `finish.rs` removes older ones afterwards.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use steadfast_digest::Lanes;
use steadfast_manifest::tag::Tag;
use steadfast_parity::{
    Member, PAGE_LEN, PageMark, ParityPages, PlannedSet, ProtectedFile, RUN_LEN, Redundancy,
    RunBuffer, SetIndex, SetOrigin, SetPlanner,
};
use steadfast_sys::file::AlignedBuffer;

use super::earlier::{GAVE_WAY, give_way, is_full};
use super::folder::ParityFolder;
use super::forgetting::Forgetting;
use super::held::{HeldFile, OpenMember, WhyNot, unreadable};
use super::identity::SetId;
use super::known::CataloguedFiles;
use super::made::{NotProtected, ParityMade, ParityMonitor, ParityOptions};
use super::place::{ParityPlace, system};
use super::protected;
use super::review::Review;
use super::stream::{CHUNK_LEN, DIRECT_LEN_MIN, SetStream};
use super::superseded::Superseded;
use crate::calibration::fastest_lanes;
use crate::error::Error;
use crate::event::{FileError, FileEvent, Notice, Subject};
use crate::exit_status::ExitStatus;
use crate::monitor::Progress;
use crate::read::{Engine, Origin};
use crate::run::{Options, engine_of};
use crate::verdict::Verdict;

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
    pub(super) task: MakerTask<'a>,
    engine: Arc<dyn Engine>,
    /// Ends the walk.
    walk_stop: Arc<AtomicBool>,
    pub(super) origin: SetOrigin,
    lanes: Lanes,
    pub(super) review: Review,
    buffer: RunBuffer,
    bytes: AlignedBuffer,
    pub(super) proofs: Proofs,
    /// Files of sets that stay, by what they are named in them, and as they are now.
    pub(super) renamed: BTreeMap<SetId, Vec<(PathBuf, ProtectedFile)>>,
    /// When progress was reported last.
    shown: Instant,
    /// Whether it was said that earlier sets gave way.
    has_told_room: bool,
    pub(super) made: ParityMade,
    pub(super) monitor: &'a mut dyn ParityMonitor,
}

/// What a maker is to do, and where.
#[derive(Clone, Copy)]
pub(super) struct MakerTask<'a> {
    pub(super) place: &'a ParityPlace,
    pub(super) folder: &'a ParityFolder,
    pub(super) options: &'a ParityOptions,
    pub(super) forgetting: &'a Forgetting,
    pub(super) known: &'a CataloguedFiles,
    /// How long earlier sets are kept.
    pub(super) keep_earlier: Duration,
    /// Whether the parity that is there is read.
    pub(super) proves: bool,
    pub(super) limits: MakerLimits,
}

/// What a run wrote and proved. Files are there as keys of their path and tag.
#[derive(Default)]
pub(super) struct Proofs {
    /// Files with tags that were found, and are to be protected.
    pub(super) counted: HashSet<u64>,
    /// Sets that were written, and whether their files were read for that.
    pub(super) written: HashMap<SetId, bool>,
    /// Files that written sets have, read back from the medium.
    pub(super) confirmed: HashSet<u64>,
    /// Files that were read whole, and that sound sets have.
    pub(super) proved: HashSet<u64>,
    /// Tags of these, if no set had them at these paths before.
    pub(super) proved_tags: HashSet<u64>,
    /// What is wrong with files, by their paths.
    pub(super) failed: HashMap<u64, Verdict>,
    /// Whether sets are whole, parity and all.
    pub(super) sound: HashMap<SetId, bool>,
}

impl<'a> SetMaker<'a> {
    pub(super) fn new(
        task: MakerTask<'a>,
        mut review: Review,
        monitor: &'a mut dyn ParityMonitor,
    ) -> SetMaker<'a> {
        let options = task.options;
        let now = (options.run.now)();
        let redundancy = options.redundancy.or(review.redundancy).unwrap_or_default();
        // Later than every set that is there, whatever the clock says: so the next run knows which
        // of two is the older, should this one be killed.
        let made_s = u64::try_from(now.seconds).unwrap_or(0);
        let made_s = made_s.max(review.newest_s.saturating_add(1));
        SetMaker {
            task,
            engine: engine_of(&options.run),
            walk_stop: Arc::default(),
            origin: SetOrigin { redundancy, tree: [0; 16], made_s },
            lanes: fastest_lanes(),
            made: ParityMade { sets_kept: review.kept, ..ParityMade::default() },
            renamed: std::mem::take(&mut review.restyled),
            review,
            buffer: RunBuffer::new(),
            bytes: AlignedBuffer::new(CHUNK_LEN),
            proofs: Proofs::default(),
            shown: task.limits.begun,
            has_told_room: false,
            monitor,
        }
    }

    /// Returns the redundancy of new sets.
    pub(super) fn redundancy(&self) -> Redundancy {
        self.origin.redundancy
    }

    /// Returns the options of a walk that this ends.
    pub(super) fn walk_options(&self) -> Options {
        let stop = Arc::clone(&self.walk_stop);
        self.task.options.run.clone().with(|options| options.controls.stop = stop)
    }

    /// Reports progress, and ends the walk if it is time.
    pub(super) fn look_up(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.shown).as_millis() >= PROGRESS_INTERVAL_MS {
            self.shown = now;
            self.monitor.progress(&Progress {
                files: self.made.files,
                bytes: self.made.bytes_read,
                elapsed_ns: now.duration_since(self.task.limits.begun).as_nanos() as u64,
                ..Progress::default()
            });
        }
        if self.is_stopped() {
            self.walk_stop.store(true, Ordering::Relaxed);
        }
    }

    /// Reports a file that is not protected as it should be.
    pub(super) fn report(&mut self, path: PathBuf, verdict: Verdict, trouble: Option<FileError>) {
        let decay = ExitStatus::Corrupt.only_if(verdict.is_alarm());
        self.made.status.raise(decay.max(ExitStatus::Undetermined));
        self.monitor.not_protected(&NotProtected { path, verdict, trouble });
    }

    fn refuse(&mut self, relative: &Path, verdict: Verdict, trouble: Option<FileError>) {
        let key = self.review.keys.of_parts(relative, &[]);
        self.proofs.failed.insert(key, verdict);
        self.made.not_protected += 1;
        self.report(self.task.place.shown(relative), verdict, trouble);
    }

    pub(super) fn is_stopped(&mut self) -> bool {
        self.made.interrupted |= self.task.options.run.controls.stop.load(Ordering::Relaxed);
        self.made.time_up |= self.task.limits.deadline.is_some_and(|end| Instant::now() >= end);
        self.made.interrupted || self.made.time_up
    }

    /// Takes what the walk found, and encodes the sets that became complete.
    pub(super) fn encode_found(
        &mut self,
        event: &FileEvent,
        planner: &mut SetPlanner,
    ) -> Result<(), Error> {
        self.look_up();
        if self.walk_stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let path = event.path.to_path();
        let Ok(relative) = path.strip_prefix(self.task.place.root()) else { return Ok(()) };
        let trouble = event.trouble.clone();
        // A file that lost its tag counts by the one that the catalogue has.
        let has_lost = event.subject == Subject::File
            && event.stored.is_none()
            && (event.verdict.is_none() || event.tag_error.is_some());
        let lost = has_lost.then(|| self.task.known.tag(relative)).flatten();
        let is_unreadable = event.verdict == Some(Verdict::Unreadable) && lost.is_none();
        if event.subject == Subject::Directory || is_unreadable {
            self.refuse(relative, Verdict::Unreadable, trouble);
            return Ok(());
        }
        let Some(tag) = event.stored.or(lost) else {
            let operation = "read the tag";
            let damaged = event.tag_error.map(|error| error.to_string());
            let trouble = trouble.or(damaged.map(|reason| FileError::new(operation, reason)));
            match trouble {
                Some(trouble) => self.refuse(relative, Verdict::Unreadable, Some(trouble)),
                None => self.made.untagged += 1,
            }
            return Ok(());
        };
        let key = self.review.keys.of_parts(relative, tag.encode().as_bytes());
        // What an older set protects as it is now did not come from another path.
        if !self.review.protected.held_by_stale.contains(&key) {
            self.review.note_perhaps_decayed(relative, &tag);
        }
        if self.review.protected.held.contains(&key) || self.review.protected.pending.contains(&key)
        {
            self.proofs.counted.insert(key);
            return Ok(());
        }
        match self.planned(relative, &tag) {
            Ok(file) if self.is_renamed(&file, &tag) => {
                self.proofs.counted.insert(key);
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
            let trouble = FileError::new("protect it", reason);
            return Err((Verdict::Unreadable, Some(trouble)));
        }
        let open = OpenMember::open(self.task.place, relative, self.ignores_change_times())?;
        open.ensure_length(tag)?;
        protected(relative.to_owned(), tag, &open.file).map_err(|error| unreadable(&error))
    }

    /// Says whether a file is one that was displaced, by another path. If the sets that it is in
    /// stay, it is renamed in them; otherwise it must be read again like any other of their files.
    fn is_renamed(&mut self, file: &ProtectedFile, tag: &Tag) -> bool {
        // A copy that was there before is not what became of it.
        if self.review.protected.held_by_stale.contains(&self.review.keys.of(file)) {
            return false;
        }
        let Some(at) = self.review.displaced_with(tag) else { return false };
        let sets = self.review.displaced.members[at].sets.clone();
        if !sets.iter().all(|id| !self.review.is_stale(id) && self.is_sound(id)) {
            return false;
        }
        self.review.displaced.members[at].is_moved = true;
        let before = self.review.displaced.members[at].file.path.clone();
        for id in sets {
            self.renamed.entry(id).or_default().push((before.clone(), file.clone()));
        }
        true
    }

    /// Says whether nothing in a set is damaged.
    pub(super) fn is_sound(&mut self, id: &SetId) -> bool {
        let folder = self.task.folder;
        let read = || folder.set(id).is_ok_and(|stored| stored.is_sound());
        *self.proofs.sound.entry(*id).or_insert_with(read)
    }

    /// Encodes sets: one of whole files, or all those of one file that is cut.
    pub(super) fn encode(&mut self, groups: Vec<Vec<PlannedSet>>) -> Result<(), Error> {
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
                set.members.iter().for_each(|member| self.count(&member.file));
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

    /// Notes that a file is to be protected.
    fn count(&mut self, file: &ProtectedFile) {
        self.proofs.counted.insert(self.review.keys.of(file));
    }

    fn ignores_change_times(&self) -> bool {
        self.task.options.run.ignore_change_times
    }

    /// Opens a file to read it in order and hold it to its tag.
    fn held(&self, file: &ProtectedFile) -> Result<HeldFile, WhyNot> {
        let ignores = self.ignores_change_times();
        HeldFile::open(self.task.place, file, &self.engine, self.lanes, ignores)
    }

    /// Reads a file, and says whether it has the contents of its tag.
    pub(super) fn is_whole(&mut self, file: &ProtectedFile) -> bool {
        let held = self.held(file);
        let Ok(mut held) = held else { return false };
        while held.offset < file.length {
            self.look_up();
            if self.is_stopped() {
                return false;
            }
            let Ok(read) = held.read(&mut self.bytes, file.length).map(<[u8]>::len) else {
                return false;
            };
            held.hasher.update(&self.bytes[..read]);
            self.made.bytes_read += read as u64;
        }
        self.finish_file(held).is_ok()
    }

    /// Reads a file into a set.
    fn read_whole(
        &mut self,
        file: &ProtectedFile,
        place: u64,
        stream: &mut SetStream,
    ) -> Result<(), WhyNot> {
        let mut held = self.held(file)?;
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
            Ok(()) => self.count(file),
            Err(refusal) => {
                self.buffer = RunBuffer::new();
                for id in parts {
                    self.give_up(&Superseded::as_failed(id))?;
                    self.proofs.written.remove(&id);
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
        let mut held = match self.held(file) {
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

    /// Takes away a set that is superseded.
    pub(super) fn give_up(&mut self, superseded: &Superseded) -> Result<(), Error> {
        let now = (self.task.options.run.now)();
        let keeps_earlier = !self.task.keep_earlier.is_zero();
        let gone = self.task.folder.give_up(superseded, now, keeps_earlier);
        gone.map_err(|error| system("remove a set", error, self.task.place))
    }

    /// Writes a set. Where there is no room for it, the oldest earlier sets give way.
    pub(super) fn write_set(
        &mut self,
        index: &SetIndex,
        parity: &ParityPages,
        origin: SetOrigin,
    ) -> io::Result<(SetId, bool)> {
        loop {
            match self.task.folder.write(index, parity, origin) {
                Err(error) if is_full(&error) && give_way(self.task.folder)? => self.tell_room(),
                written => return written,
            }
        }
    }

    /// Says that earlier sets gave way, once.
    pub(super) fn tell_room(&mut self) {
        if !std::mem::replace(&mut self.has_told_room, true) {
            self.monitor.notice(Notice::new(GAVE_WAY).at(&self.task.place.folder()));
        }
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
        let written = index.and_then(|index| self.write_set(&index, parity, self.origin));
        let failed = |error| system("write the parity", error, self.task.place);
        let (id, is_new) = written.map_err(failed)?;
        self.proofs.written.insert(id, true);
        match is_new {
            true => self.made.sets_made += 1,
            false => self.made.sets_kept += 1,
        }
        Ok(id)
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
            stream.append_first_pages(len, &mut held.hasher, buffer);
            len as u64
        }
        None => {
            let read = held.read(bytes, end)?;
            stream.append(place, read, &mut held.hasher, buffer);
            read.len() as u64
        }
    })
}
