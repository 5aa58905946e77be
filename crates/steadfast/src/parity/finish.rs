//! The end of making parity: sets are written anew in which only names, times or modes changed,
//! what was written is read back and counted, and sets that are not needed any more are removed.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;

use steadfast_parity::{Member, ProtectedFile, SetIndex, SetOrigin, SetPlanner};

use super::earlier::{make_room_in, prune};
use super::encode::SetMaker;
use super::folder::StoredSet;
use super::identity::{SetId, hex};
use super::made::{NeededFile, NeededSet, ParityMade};
use super::needed::{Recorded, SetNeed, Unneeded};
use super::place::system;
use super::protection::FileParts;
use super::review::ParityTask;
use crate::error::Error;
use crate::event::{FileError, Notice};
use crate::exit_status::ExitStatus;
use crate::verdict::Verdict;

/// Files that are named for which a set is still needed; others are counted.
const NEEDED_MAX: usize = 16;

/// The parts of files that sets have, by file and redundancy.
#[derive(Default)]
struct FoundParts(HashMap<(u64, u8), FileParts>);

impl FoundParts {
    fn add(&mut self, key: u64, stored: &StoredSet, member: &Member) {
        let redundancy = stored.set.header().origin.redundancy.percent();
        self.0.entry((key, redundancy)).or_default().add(member);
    }

    /// Returns the keys of the files of which all parts are there.
    fn whole(self) -> impl Iterator<Item = u64> {
        self.0.into_iter().filter(|(_, parts)| parts.are_whole()).map(|((key, _), _)| key)
    }
}

impl SetMaker<'_> {
    /// Ends the last set, removes sets that are not needed, and returns what became of it all.
    pub(super) fn end(mut self, planner: SetPlanner) -> Result<ParityMade, Error> {
        if let Some(set) = planner.finish() {
            self.encode(vec![vec![set]])?;
        }
        for (id, renamed) in std::mem::take(&mut self.review.renamed) {
            if let Err(error) = self.rename_in(id, renamed) {
                let why = format!("it cannot be written with the present names: {error}");
                self.report_needed(id, Vec::new(), Some(why));
            }
        }
        self.confirm();
        self.report_lost();
        if !self.is_stopped() {
            for id in self.review.outdated.clone() {
                self.remove_unneeded(id)?;
            }
        }
        let is_empty = self.made.files == 0 && self.made.status.is_fine();
        if is_empty && !self.task.options.run.allow_empty {
            self.made.status = ExitStatus::Undetermined;
        }
        if self.made.status.is_fine() && !self.is_stopped() {
            self.prune_earlier()?;
        }
        Ok(self.made)
    }

    /// Writes a set anew in which files have other names, times or modes. Its pages and parity stay
    /// as they are.
    fn rename_in(&mut self, id: SetId, renamed: Vec<(PathBuf, ProtectedFile)>) -> io::Result<()> {
        let folder = self.task.folder;
        let stored = folder.set(&id).map_err(io::Error::other)?;
        let parity = stored.parity()?;
        let index = stored.set.index();
        let mut members = index.members().to_vec();
        for (before, file) in renamed {
            let member = members.iter_mut().find(|member| member.file.path == before);
            if let Some(member) = member {
                member.file = file;
            }
        }
        let marks = index.marks().to_vec();
        let new = SetIndex::new(parity.geometry(), members, marks, |page| parity.page(page));
        let new = new.map_err(io::Error::other)?;
        let redundancy = stored.set.header().origin.redundancy;
        let origin = SetOrigin { redundancy, ..self.origin };
        let (written, _) = self.write_set(&new, &parity, origin)?;
        self.written.entry(written).or_insert(false);
        let back = folder.set(&written).map_err(io::Error::other)?;
        match Unneeded::by_rewritten((id, index), (written, back.set.index())) {
            Some(unneeded) => self.remove(&unneeded).map_err(io::Error::other),
            None => Ok(()),
        }
    }

    /// Reads the written sets back, and counts the files that sets have by their present paths and
    /// tags.
    fn confirm(&mut self) {
        let mut written: Vec<(SetId, bool)> =
            self.written.iter().map(|(id, is_read)| (*id, *is_read)).collect();
        written.sort_unstable();
        let mut found = FoundParts::default();
        let mut tags = HashMap::new();
        for (id, is_read) in written {
            let stored = match self.task.folder.set(&id) {
                Ok(stored) => stored,
                Err(fault) => {
                    self.report_needed(id, Vec::new(), Some(fault.to_string()));
                    continue;
                }
            };
            for member in stored.set.index().members() {
                let key = self.review.protection.key_of(&member.file);
                found.add(key, &stored, member);
                let tag = self.review.protection.digest(&*member.file.tag);
                tags.entry(key).or_insert((tag, is_read)).1 |= is_read;
            }
        }
        for key in found.whole() {
            let Some((tag, is_read)) = tags.get(&key).copied() else { continue };
            self.review.protection.note_written(key, tag, is_read, self.origin.made_s);
        }
        let (found, protected) = self.review.protection.counts();
        self.made.files = protected;
        let lost = found - protected;
        if lost > 0 {
            self.made.not_protected += lost;
            self.made.status.raise(ExitStatus::Undetermined);
            let text = format!("{lost} tagged files are in no set by their present paths and tags");
            let notice = Notice::failure(text).at(&self.task.place.folder());
            self.monitor.notice(notice);
        }
    }

    /// Reports what is missing, what lost its tag, and sets that cannot be used.
    fn report_lost(&mut self) {
        for lost in std::mem::take(&mut self.review.lost) {
            if self.is_stopped() {
                break;
            }
            let arrived_s = self.review.protection.arrived_s(&lost.file.tag);
            if lost.is_moved || arrived_s >= self.origin.made_s {
                continue;
            }
            let path = self.task.place.shown(&lost.file.path);
            if lost.is_there {
                let reason = "it had one when it was protected, and has none now. The set that has \
                              it stays";
                self.report(path, Verdict::Untagged, Some(FileError::new("read its tag", reason)));
                continue;
            }
            self.made.missing += 1;
            self.report(path, Verdict::Missing, lost.why_kept);
        }
        for (id, fault) in std::mem::take(&mut self.review.faulty) {
            // One that was written anew is whole.
            if !self.written.contains_key(&id) {
                self.report_needed(id, Vec::new(), Some(fault.to_string()));
            }
        }
    }

    /// Removes a set that is not as the tree is, unless it is still needed. Then the files are
    /// reported for which it is.
    fn remove_unneeded(&mut self, id: SetId) -> Result<(), Error> {
        if self.written.contains_key(&id) {
            return Ok(());
        }
        let stored = match self.task.folder.set(&id) {
            Ok(stored) => stored,
            Err(fault) => {
                self.report_needed(id, Vec::new(), Some(fault.to_string()));
                return Ok(());
            }
        };
        let unneeded = match self.rewritten(id, &stored) {
            Some(unneeded) => Ok(unneeded),
            None => self.ask(id, &stored)?,
        };
        match unneeded {
            Ok(unneeded) => {
                self.remove(&unneeded)?;
                self.made.sets_removed += 1;
                self.made.sets_earlier += u64::from(unneeded.is_to_undo());
            }
            Err(needed) => self.report_needed(id, needed, None),
        }
        Ok(())
    }

    /// Finds a sound set that was written from another with other names: a run ended before it had
    /// removed the older one.
    fn rewritten(&mut self, id: SetId, stored: &StoredSet) -> Option<Unneeded> {
        let later = self.review.later_with_pages(stored)?;
        let rewritten = self.task.folder.set(&later).ok()?;
        let (index, rewritten) = (stored.set.index(), rewritten.set.index());
        let unneeded = Unneeded::by_rewritten((id, index), (later, rewritten));
        unneeded.filter(|_| self.is_sound(&later))
    }

    /// Asks whether a set is needed for one of its files. Files that another set has are read if
    /// it is needed for no other.
    fn ask(
        &mut self,
        id: SetId,
        stored: &StoredSet,
    ) -> Result<Result<Unneeded, Vec<(PathBuf, String)>>, Error> {
        let index = stored.set.index();
        let made_s = stored.set.header().origin.made_s;
        let mut unproved = HashSet::new();
        let first = Unneeded::by_files(id, index, |member| match self.need(member, made_s) {
            SetNeed::Unproved => {
                unproved.insert(self.review.protection.digest(&*member.file.tag));
                SetNeed::No
            }
            need => need,
        });
        if first.is_err() || unproved.is_empty() {
            return Ok(first);
        }
        self.prove(&unproved)?;
        Ok(Unneeded::by_files(id, index, |member| self.need(member, made_s)))
    }

    /// Says whether a set that was made at a time is needed for one of its files.
    fn need(&self, member: &Member, made_s: u64) -> SetNeed {
        let (file, protection) = (&member.file, &self.review.protection);
        let recorded = self.task.records.of(file);
        let others = match &recorded {
            Recorded::Here(now) => protection.of_present(now),
            _ => protection.of_moved(&file.tag, made_s),
        };
        let similar = self.review.similar(&file.tag).map(|path| self.task.place.shown(path));
        SetNeed::of(recorded, others, similar.as_ref())
    }

    /// Reads the files with these tags that other sets have, and these sets.
    fn prove(&mut self, tags: &HashSet<u64>) -> Result<(), Error> {
        let folder = self.task.folder;
        let mut found = FoundParts::default();
        let mut files = HashMap::new();
        let ids = folder.ids();
        for id in ids.map_err(|error| system("list the parity", error, self.task.place))? {
            if self.review.outdated.contains(&id) && !self.written.contains_key(&id) {
                continue;
            }
            let Ok(stored) = folder.set(&id) else { continue };
            let members = stored.set.index().members().iter();
            let members: Vec<&Member> = members
                .filter(|member| tags.contains(&self.review.protection.digest(&*member.file.tag)))
                .collect();
            if members.is_empty() || !self.is_sound(&id) {
                continue;
            }
            for member in members {
                let key = self.review.protection.key_of(&member.file);
                found.add(key, &stored, member);
                files.insert(key, member.file.clone());
            }
        }
        for key in found.whole() {
            let Some(file) = files.remove(&key) else { continue };
            if self.review.protection.of(key).is_proved || self.is_whole(&file) {
                self.review.protection.note_proved(key, &file.tag);
            }
        }
        Ok(())
    }

    /// Reports that a set stays although it is not as the tree is.
    fn report_needed(&mut self, id: SetId, needed: Vec<(PathBuf, String)>, fault: Option<String>) {
        self.made.sets_needed += 1;
        self.made.status.raise(ExitStatus::Undetermined);
        let more = needed.len().saturating_sub(NEEDED_MAX) as u64;
        let files = needed
            .into_iter()
            .take(NEEDED_MAX)
            .map(|(path, why)| NeededFile { path: self.task.place.shown(&path), why });
        let name = hex(&id);
        self.monitor.still_needed(&NeededSet {
            path: self.task.place.folder().join(&name[..2]).join(&name),
            files: files.collect(),
            more,
            fault,
        });
    }

    /// Removes earlier sets whose time is over, those of which later ones have all files, and the
    /// oldest ones if they leave too little room. Those that were found damaged cannot be made
    /// anew, and go as well.
    fn prune_earlier(&mut self) -> Result<(), Error> {
        let now = (self.task.options.run.now)();
        let ParityTask { place, folder, keep_earlier, proves, .. } = self.task;
        let protection = &self.review.protection;
        let is_protected = |file: &ProtectedFile| protection.of(protection.key_of(file)).is_kept;
        let failed = |error| system("remove earlier sets", error, place);
        let damaged = prune(folder, keep_earlier, now, proves, &is_protected).map_err(failed)?;
        if damaged > 0 {
            let text = format!("{damaged} earlier sets of parity were damaged, and are removed");
            self.monitor.notice(Notice::new(text).at(&place.folder()));
        }
        if make_room_in(place, folder).map_err(failed)? > 0 {
            self.report_earlier_removed();
        }
        Ok(())
    }
}
