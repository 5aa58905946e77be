//! Reads files, compares them with their tags, and encodes them into sets.
//!
//! Input: what a walk finds, and what is known of the sets that are there. Output: parity files,
//! each written whole. `finish.rs` removes older ones afterwards.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use steadfast_digest::Lanes;
use steadfast_manifest::tag::Tag;
use steadfast_parity::{
    Member, PAGE_LEN, PageMark, ParityPages, PlannedSet, ProtectedFile, RUN_LEN, RunBuffer,
    SetIndex, SetOrigin, SetPlanner,
};
use steadfast_sys::file::AlignedBuffer;

use super::earlier::{EARLIER_REMOVED, is_full, remove_oldest_earlier};
use super::identity::SetId;
use super::made::{NotProtected, ParityMade, ParityMonitor};
use super::needed::Unneeded;
use super::place::system;
use super::protected;
use super::review::{ParityTask, Review};
use super::stream::{CHUNK_LEN, DIRECT_LEN_MIN, SetStream};
use super::tagged_file::{TaggedFile, WhyNot, unreadable};
use crate::calibration::fastest_lanes;
use crate::error::Error;
use crate::event::{FileError, FileEvent, Notice, Subject};
use crate::exit_status::ExitStatus;
use crate::monitor::Progress;
use crate::read::Engine;
use crate::run::{Options, engine_of};
use crate::verdict::Verdict;

/// The longest path in bytes that a set has room for.
const PATH_LEN_MAX: usize = 4096;

/// Files that were found damaged, of which the catalogue is told: more are found by the next check.
const FAILED_MAX: usize = 20_000;

/// Time between two reports of progress.
const PROGRESS_INTERVAL_MS: u128 = 100;

/// Makes sets of the files that it is given.
pub(super) struct SetMaker<'a> {
    pub(super) task: ParityTask<'a>,
    engine: Arc<dyn Engine>,
    /// Ends the walk.
    walk_stop: Arc<AtomicBool>,
    pub(super) origin: SetOrigin,
    lanes: Lanes,
    pub(super) review: Review,
    buffer: RunBuffer,
    bytes: AlignedBuffer,
    /// Sets that were written, and whether their files were read for that.
    pub(super) written: HashMap<SetId, bool>,
    /// Whether sets are whole, parity and all.
    sound: HashMap<SetId, bool>,
    /// When progress was reported last.
    shown: Instant,
    /// Whether it was said that earlier sets gave way.
    has_reported_room: bool,
    pub(super) made: ParityMade,
    pub(super) monitor: &'a mut dyn ParityMonitor,
}

impl<'a> SetMaker<'a> {
    pub(super) fn new(
        task: ParityTask<'a>,
        review: Review,
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
            review,
            buffer: RunBuffer::new(),
            bytes: AlignedBuffer::new(CHUNK_LEN),
            written: HashMap::new(),
            sound: HashMap::new(),
            shown: task.begun,
            has_reported_room: false,
            monitor,
        }
    }

    /// Returns the options of a walk that this ends.
    pub(super) fn walk_options(&self) -> Options {
        let stop = Arc::clone(&self.walk_stop);
        self.task.options.run.clone().with(|options| options.controls.stop = stop)
    }

    /// Reports progress, and ends the walk if it is time.
    pub(super) fn report_progress(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.shown).as_millis() >= PROGRESS_INTERVAL_MS {
            self.shown = now;
            self.monitor.progress(&Progress {
                files: self.made.files,
                bytes: self.made.bytes_read,
                elapsed_ns: now.duration_since(self.task.begun).as_nanos() as u64,
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

    fn refuse(&mut self, relative: &Path, (verdict, trouble): WhyNot) {
        self.review.protection.note_failed(relative, verdict);
        self.made.not_protected += 1;
        let is_failure = verdict.is_alarm() || verdict == Verdict::Unreadable;
        if is_failure && self.made.failed.len() < FAILED_MAX {
            self.made.failed.push(relative.to_owned());
        }
        self.report(self.task.place.shown(relative), verdict, trouble);
    }

    pub(super) fn is_stopped(&mut self) -> bool {
        let options = self.task.options;
        let is_over = |limit| self.task.begun.elapsed() >= limit;
        self.made.interrupted |= options.run.controls.stop.load(Ordering::Relaxed);
        self.made.time_up |= options.max_time.is_some_and(is_over);
        self.made.interrupted || self.made.time_up
    }

    /// Takes what the walk found, and encodes the sets that became complete.
    pub(super) fn encode_found(
        &mut self,
        event: &FileEvent,
        planner: &mut SetPlanner,
    ) -> Result<(), Error> {
        self.report_progress();
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
        let lost = has_lost.then(|| self.task.records.tag(relative)).flatten();
        let is_unreadable = event.verdict == Some(Verdict::Unreadable) && lost.is_none();
        if event.subject == Subject::Directory || is_unreadable {
            self.refuse(relative, (Verdict::Unreadable, trouble));
            return Ok(());
        }
        let Some(tag) = event.stored.or(lost) else {
            let damaged = event.tag_error.map(|error| error.to_string());
            let damaged = damaged.map(|reason| FileError::new("read the tag", reason));
            match trouble.or(damaged) {
                Some(trouble) => self.refuse(relative, (Verdict::Unreadable, Some(trouble))),
                None => self.made.untagged += 1,
            }
            return Ok(());
        };
        let key = self.review.protection.key(relative, tag.encode().as_bytes());
        let known = self.review.protection.of(key);
        // What an older set protects as it is now did not come from another path.
        if !known.is_outdated {
            self.review.note_similar(relative, &tag);
        }
        if known.is_kept || known.is_pending {
            self.review.protection.note(key).is_found = true;
            return Ok(());
        }
        match self.planned(relative, &tag) {
            Ok(file) if !known.is_outdated && self.is_renamed(&file, &tag) => {
                self.note_found(&file);
                self.made.moved += 1;
                Ok(())
            }
            Ok(file) => self.encode(planner.push(file)),
            Err(why) => {
                self.refuse(relative, why);
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
        let ignores_change_times = self.task.options.run.ignore_change_times;
        let open = TaggedFile::open(self.task.place, relative, *tag, ignores_change_times)?;
        protected(relative.to_owned(), tag, &open.file).map_err(|error| unreadable(&error))
    }

    /// Says whether a file is one that was lost, by another path. If the sets that it is in stay,
    /// it is renamed in them; otherwise it must be read again like any other of their files.
    fn is_renamed(&mut self, file: &ProtectedFile, tag: &Tag) -> bool {
        let Some(at) = self.review.lost_with(tag) else { return false };
        let sets = self.review.lost[at].sets.clone();
        if !sets.iter().all(|id| !self.review.outdated.contains(id) && self.is_sound(id)) {
            return false;
        }
        self.review.lost[at].is_moved = true;
        for id in sets {
            let before = self.review.lost[at].file.path.clone();
            self.review.renamed.entry(id).or_default().push((before, file.clone()));
        }
        true
    }

    /// Says whether nothing in a set is damaged.
    pub(super) fn is_sound(&mut self, id: &SetId) -> bool {
        let folder = self.task.folder;
        let read = || folder.set(id).is_ok_and(|stored| stored.is_sound());
        *self.sound.entry(*id).or_insert_with(read)
    }

    /// Encodes sets: of whole files, or all those of one file that is cut.
    pub(super) fn encode(&mut self, groups: Vec<Vec<PlannedSet>>) -> Result<(), Error> {
        let first = groups.first().and_then(|group| group.first());
        match first.map(|set| set.members.as_slice()) {
            Some([part]) if part.length < part.file.length => {
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
        while let Some(PlannedSet { geometry, members }) = waiting.pop() {
            let mut stream = [SetStream::new(geometry, self.lanes)];
            let mut failed = HashSet::new();
            for (number, Member { file, page, offset, .. }) in members.iter().enumerate() {
                let place = u64::from(*page) * PAGE_LEN as u64 + u64::from(*offset);
                match self.read_whole(file, place, &mut stream) {
                    Ok(()) => {}
                    Err(Some(why)) => {
                        failed.insert(number);
                        self.refuse(&file.path, why);
                    }
                    Err(None) => {
                        // What was read of it must not get into another set.
                        self.buffer = RunBuffer::new();
                        return Ok(());
                    }
                }
            }
            if failed.is_empty() {
                members.iter().for_each(|member| self.note_found(&member.file));
                let [stream] = stream;
                let (marks, parity) = stream.finish(&mut self.buffer);
                self.write(members, marks, &parity)?;
                continue;
            }
            // What it has of the failed set must not get into another.
            self.buffer = RunBuffer::new();
            let numbered = members.into_iter().enumerate();
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
    fn note_found(&mut self, file: &ProtectedFile) {
        let key = self.review.protection.key_of(file);
        self.review.protection.note(key).is_found = true;
    }

    /// Opens a file to read it in order and compare it with its tag.
    fn open(&self, file: &ProtectedFile) -> Result<TaggedFile, WhyNot> {
        let tag = Tag::decode(&file.tag).map_err(|error| unreadable(&io::Error::other(error)))?;
        let ignores_change_times = self.task.options.run.ignore_change_times;
        let open = TaggedFile::open(self.task.place, &file.path, tag, ignores_change_times)?;
        open.prepare(&*self.engine)
    }

    /// Reads a file, and says whether it has the contents of its tag.
    pub(super) fn is_whole(&mut self, file: &ProtectedFile) -> bool {
        let Ok(mut open) = self.open(file) else { return false };
        while open.offset < file.length {
            self.report_progress();
            if self.is_stopped() {
                return false;
            }
            let Ok(read) = open.read(&*self.engine, &mut self.bytes, file.length) else {
                return false;
            };
            self.made.bytes_read += read.len() as u64;
            open.hasher.update(read);
        }
        self.compare(open).is_ok()
    }

    /// Reads a file into a set. The error is why the file is refused; `None` if the run was
    /// stopped.
    fn read_whole(
        &mut self,
        file: &ProtectedFile,
        place: u64,
        stream: &mut [SetStream; 1],
    ) -> Result<(), Option<WhyNot>> {
        self.report_progress();
        if self.is_stopped() {
            return Err(None);
        }
        let mut open = self.open(file).map_err(Some)?;
        self.read_part(&mut open, file.length, place, stream)?;
        self.compare(open).map_err(Some)
    }

    /// Reads the next bytes of a file into the sets over which its runs are distributed, at a place
    /// of each.
    fn read_part(
        &mut self,
        open: &mut TaggedFile,
        length: u64,
        place: u64,
        streams: &mut [SetStream],
    ) -> Result<(), Option<WhyNot>> {
        let (start, sets) = (open.offset, streams.len() as u64);
        while open.offset < start + length {
            self.report_progress();
            if self.is_stopped() {
                return Err(None);
            }
            let done = open.offset - start;
            let run = done / RUN_LEN;
            let at = place + run / sets * RUN_LEN + done % RUN_LEN;
            let end = start + ((run + 1) * RUN_LEN).min(length);
            let stream = &mut streams[(run % sets) as usize];
            let buffers = (&mut *self.bytes, &mut self.buffer);
            let read = read_into(open, &*self.engine, stream, (at, end), buffers);
            self.made.bytes_read += read.map_err(Some)?;
        }
        Ok(())
    }

    /// Compares what was read of a file with its tag, and counts where it came from.
    fn compare(&mut self, open: TaggedFile) -> Result<(), WhyNot> {
        self.made.bytes_from_media += open.finish(&*self.engine)?;
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
        match self.encode_parts(file, groups, &mut parts)? {
            Ok(()) => self.note_found(file),
            Err(refusal) => {
                self.buffer = RunBuffer::new();
                for id in parts {
                    self.remove(&Unneeded::by_decision(id))?;
                    self.written.remove(&id);
                    self.made.sets_made -= 1;
                }
                if let Some(why) = refusal {
                    self.refuse(&file.path, why);
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
        let mut open = match self.open(file) {
            Ok(open) => Some(open),
            Err(why) => return Ok(Err(Some(why))),
        };
        let last = groups.len() - 1;
        for (number, group) in groups.into_iter().enumerate() {
            let streams = group.iter().map(|set| SetStream::new(set.geometry, self.lanes));
            let mut streams: Vec<SetStream> = streams.collect();
            let length = group.iter().flat_map(|set| &set.members).map(|part| part.length).sum();
            let Some(reading) = &mut open else { break };
            if let Err(refusal) = self.read_part(reading, length, 0, &mut streams) {
                return Ok(Err(refusal));
            }
            if number == last
                && let Some(Err(why)) = open.take().map(|open| self.compare(open))
            {
                return Ok(Err(Some(why)));
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

    /// Removes a set that is not needed.
    pub(super) fn remove(&mut self, unneeded: &Unneeded) -> Result<(), Error> {
        let now = (self.task.options.run.now)();
        let keeps_earlier = !self.task.keep_earlier.is_zero();
        let removed = self.task.folder.remove(unneeded, now, keeps_earlier);
        removed.map_err(|error| system("remove a set", error, self.task.place))
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
                Err(error) if is_full(&error) && remove_oldest_earlier(self.task.folder)? => {
                    self.report_earlier_removed()
                }
                written => return written,
            }
        }
    }

    /// Says that earlier sets gave way, once.
    pub(super) fn report_earlier_removed(&mut self) {
        if !std::mem::replace(&mut self.has_reported_room, true) {
            self.monitor.notice(Notice::new(EARLIER_REMOVED).at(&self.task.place.folder()));
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
        self.written.insert(id, true);
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
    open: &mut TaggedFile,
    engine: &dyn Engine,
    stream: &mut SetStream,
    (place, end): (u64, u64),
    (bytes, buffer): (&mut [u8], &mut RunBuffer),
) -> Result<u64, WhyNot> {
    let is_long = end - open.offset >= DIRECT_LEN_MIN as u64;
    let room = if is_long { stream.room_for_pages(place, buffer) } else { None };
    Ok(match room {
        Some(room) => {
            let len = open.read(engine, room, end)?.len();
            stream.append_first_pages(len, &mut open.hasher, buffer);
            len as u64
        }
        None => {
            let read = open.read(engine, bytes, end)?;
            stream.append(place, read, &mut open.hasher, buffer);
            read.len() as u64
        }
    })
}
