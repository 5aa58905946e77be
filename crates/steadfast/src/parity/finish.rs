//! The end of making parity: sets are written anew in which only names, times or modes changed,
//! what was written is read back and counted, and sets that are superseded go.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::PathBuf;

use steadfast_parity::{Member, ProtectedFile, SetIndex, SetOrigin, SetPlanner};

use super::earlier::{leave_room, prune};
use super::encode::{MakerTask, SetMaker};
use super::folder::StoredSet;
use super::identity::{SetId, hex};
use super::made::{NeededFile, NeededSet, ParityMade};
use super::member::{MemberState, state_with};
use super::place::system;
use super::superseded::{MemberFate, SetEnding, Superseded};
use crate::error::Error;
use crate::event::{FileError, Notice};
use crate::exit_status::ExitStatus;
use crate::verdict::Verdict;

/// Files that are named for which a set is still needed; others are counted.
const NEEDED_MAX: usize = 16;

/// Which files the sets have whole that are looked at.
#[derive(Default)]
struct MemberCoverage {
    /// By file and redundancy: the length of the file, and of each part by its first byte.
    parts: HashMap<(u64, u8), (u64, BTreeMap<u64, u64>)>,
}

impl MemberCoverage {
    fn add(&mut self, key: u64, origin: SetOrigin, member: &Member) {
        let of = (key, origin.redundancy.percent());
        let (length, parts) = self.parts.entry(of).or_default();
        *length = member.file.length;
        parts.insert(member.start, member.length);
    }

    /// Returns the keys of the files of which all parts are there.
    fn whole(self) -> impl Iterator<Item = u64> {
        let parts = self.parts.into_iter();
        let is_whole =
            |(length, parts): &(u64, BTreeMap<u64, u64>)| parts.values().sum::<u64>() == *length;
        parts.filter(move |(_, found)| is_whole(found)).map(|((key, _), _)| key)
    }
}

/// What is known of a file of a set without reading it.
enum FileEvidence {
    Is(MemberFate),
    /// Another set has a file with this tag, which must be read to prove it.
    Held(u64),
}

impl SetMaker<'_> {
    /// Ends the last set, takes away what is superseded, and returns what became of it all.
    pub(super) fn end(mut self, planner: SetPlanner) -> Result<ParityMade, Error> {
        if let Some(set) = planner.finish() {
            self.encode(vec![vec![set]])?;
        }
        self.rename()?;
        self.confirm();
        self.report_review();
        if !self.is_stopped() {
            for id in std::mem::take(&mut self.review.stale) {
                self.settle(id)?;
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

    /// Writes sets anew in which files have other names, times or modes. Their pages and parity
    /// stay as they are.
    fn rename(&mut self) -> Result<(), Error> {
        for (id, renamed) in std::mem::take(&mut self.renamed) {
            if let Err(error) = self.rename_in(id, renamed) {
                let why = format!("it cannot be written with the present names: {error}");
                self.report_needed(id, Vec::new(), Some(why));
            }
        }
        Ok(())
    }

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
        let new = SetIndex::new(parity.geometry(), members, index.marks().to_vec(), |page| {
            parity.page(page)
        });
        let new = new.map_err(io::Error::other)?;
        let redundancy = stored.set.header().origin.redundancy;
        let origin = SetOrigin { redundancy, ..self.origin };
        let (written, _) = self.write_set(&new, &parity, origin)?;
        self.proofs.written.entry(written).or_insert(false);
        let back = folder.set(&written).map_err(io::Error::other)?;
        let rewritten = (written, back.set.index());
        if let Some(superseded) = Superseded::by_rewriting(id, index, rewritten) {
            self.give_up(&superseded).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Reads the written sets back, and counts the files that sets have by their present paths and
    /// tags.
    fn confirm(&mut self) {
        let mut written: Vec<(SetId, bool)> =
            self.proofs.written.iter().map(|(id, is_read)| (*id, *is_read)).collect();
        written.sort_unstable();
        let mut coverage = MemberCoverage::default();
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
                let key = self.review.keys.of(&member.file);
                coverage.add(key, stored.set.header().origin, member);
                let tag = self.review.keys.of_tag(&member.file.tag);
                tags.entry(key).or_insert((tag, is_read)).1 |= is_read;
            }
        }
        for key in coverage.whole() {
            self.proofs.confirmed.insert(key);
            let Some((tag, is_read)) = tags.get(&key).copied() else { continue };
            if is_read {
                self.proofs.proved.insert(key);
            }
            if !self.review.protected.held_by_stale.contains(&key) {
                self.review.protected.arrived.insert(tag, self.origin.made_s);
                if is_read {
                    self.proofs.proved_tags.insert(tag);
                }
            }
        }
        let (counted, confirmed) = (&self.proofs.counted, &self.proofs.confirmed);
        let is_held =
            |key: &&u64| self.review.protected.held.contains(key) || confirmed.contains(key);
        self.made.files = counted.iter().filter(is_held).count() as u64;
        let lost = counted.len() as u64 - self.made.files;
        if lost > 0 {
            self.made.not_protected += lost;
            self.made.status.raise(ExitStatus::Undetermined);
            let text = format!("{lost} tagged files are in no set by their present paths and tags");
            let notice = Notice::failure(text).at(&self.task.place.folder());
            self.monitor.notice(notice);
        }
    }

    /// Reports what is missing, what lost its tag, and sets that cannot be used.
    fn report_review(&mut self) {
        let displaced = std::mem::take(&mut self.review.displaced.members);
        for file in displaced {
            if self.is_stopped() {
                break;
            }
            let tag = self.review.keys.of_tag(&file.file.tag);
            let arrived = self.review.protected.arrived.get(&tag);
            if file.is_moved || arrived.is_some_and(|made_s| *made_s >= self.origin.made_s) {
                continue;
            }
            let path = self.task.place.shown(&file.file.path);
            if file.is_untagged {
                let reason = "it had one when it was protected, and has none now. The set that has \
                              it stays";
                self.report(path, Verdict::Untagged, Some(FileError::new("read its tag", reason)));
                continue;
            }
            self.made.missing += 1;
            let trouble = file.why_kept;
            self.report(path, Verdict::Missing, trouble);
        }
        for (id, fault) in std::mem::take(&mut self.review.faulty) {
            // One that was written anew is whole.
            if !self.proofs.written.contains_key(&id) {
                self.report_needed(id, Vec::new(), Some(fault.to_string()));
            }
        }
    }

    /// Takes away a set that is not as the tree is, if it is superseded. Otherwise it stays, and
    /// the files are reported for which it is still needed.
    fn settle(&mut self, id: SetId) -> Result<(), Error> {
        if self.proofs.written.contains_key(&id) {
            return Ok(());
        }
        let stored = match self.task.folder.set(&id) {
            Ok(stored) => stored,
            Err(fault) => {
                self.report_needed(id, Vec::new(), Some(fault.to_string()));
                return Ok(());
            }
        };
        let superseded = match self.rewritten(id, &stored) {
            Some(superseded) => Ok(superseded),
            None => self.by_fates(id, &stored)?,
        };
        match superseded {
            Ok(superseded) => {
                self.give_up(&superseded)?;
                self.made.sets_removed += 1;
                self.made.sets_earlier += u64::from(superseded.ending() == SetEnding::Earlier);
            }
            Err(needed) => self.report_needed(id, needed, None),
        }
        Ok(())
    }

    /// Finds a sound set that was written from another with other names: a run ended before it had
    /// removed the older one.
    fn rewritten(&mut self, id: SetId, stored: &StoredSet) -> Option<Superseded> {
        let index = stored.set.index();
        let made_s = stored.set.header().origin.made_s;
        let pages = self.review.keys.of_pages(index.marks());
        let others = self.review.by_pages.get(&pages).cloned().unwrap_or_default();
        let is_later = |(other, at): &(SetId, u64)| *at > made_s && !self.review.is_stale(other);
        let later: Vec<SetId> = others.iter().filter(|it| is_later(it)).map(|it| it.0).collect();
        later.into_iter().find_map(|other| {
            let other_stored = self.task.folder.set(&other).ok()?;
            let superseded = Superseded::by_rewriting(id, index, (other, other_stored.set.index()));
            superseded.filter(|_| self.is_sound(&other))
        })
    }

    /// Asks what became of each file of a set. Files that another set has are read if nothing else
    /// keeps this one.
    fn by_fates(
        &mut self,
        id: SetId,
        stored: &StoredSet,
    ) -> Result<Result<Superseded, Vec<(PathBuf, String)>>, Error> {
        let index = stored.set.index();
        let made_s = stored.set.header().origin.made_s;
        let mut to_prove = HashSet::new();
        let first =
            Superseded::by_fates(id, index, &mut |member| match self.evidence_of(member, made_s) {
                FileEvidence::Is(fate) => fate,
                FileEvidence::Held(tag) => {
                    to_prove.insert(tag);
                    MemberFate::Proved
                }
            });
        if first.is_err() || to_prove.is_empty() {
            return Ok(first);
        }
        self.prove_held(&to_prove)?;
        Ok(Superseded::by_fates(id, index, &mut |member| match self.evidence_of(member, made_s) {
            FileEvidence::Is(fate) => fate,
            FileEvidence::Held(_) => {
                let why = "another set has it, and the file or that set is damaged";
                MemberFate::Needed(why.to_owned())
            }
        }))
    }

    /// Says what became of a file of a set that was made at a time.
    fn evidence_of(&self, member: &Member, made_s: u64) -> FileEvidence {
        let file = &member.file;
        let needed = |why: &str| FileEvidence::Is(MemberFate::Needed(why.to_owned()));
        let tag = self.review.keys.of_tag(&file.tag);
        let has_moved = self.review.protected.arrived.get(&tag).is_some_and(|at| *at > made_s);
        let is_named = self.task.forgetting.names(&file.path);
        match state_with(self.task.place, Some(self.task.known), file) {
            MemberState::AsProtected => self.evidence_of_present(file),
            MemberState::Restyled(now) => self.evidence_of_present(&now),
            MemberState::Unknown(why) => FileEvidence::Is(MemberFate::Needed(why)),
            _ if has_moved && self.proofs.proved_tags.contains(&tag) => {
                FileEvidence::Is(MemberFate::Proved)
            }
            _ if has_moved => FileEvidence::Held(tag),
            _ if is_named => FileEvidence::Is(MemberFate::LetGo),
            MemberState::Changed { why_not_edited: None } => {
                match self.review.displaced.perhaps_decayed.get(&tag) {
                    Some(other) => needed(&format!(
                        "it may be `{}` now, which has its length and time and other contents",
                        self.task.place.shown(other).display()
                    )),
                    None => FileEvidence::Is(MemberFate::Edited),
                }
            }
            MemberState::Changed { why_not_edited: Some(why) } => needed(why),
            MemberState::Untagged => needed("it has no tag any more"),
            MemberState::Gone => match self.task.forgetting.lets_go_of(file, self.task.known) {
                Ok(true) => FileEvidence::Is(MemberFate::LetGo),
                Ok(false) => needed("it is missing"),
                Err(why) => FileEvidence::Is(MemberFate::Needed(why.reason)),
            },
        }
    }

    /// Says what is known of a file that has a tag of the contents that the set has.
    fn evidence_of_present(&self, file: &ProtectedFile) -> FileEvidence {
        let keys = &self.review.keys;
        let key = keys.of(file);
        if self.proofs.proved.contains(&key) {
            return FileEvidence::Is(MemberFate::Proved);
        }
        if let Some(verdict) = self.proofs.failed.get(&keys.of_parts(&file.path, &[])) {
            return FileEvidence::Is(MemberFate::Needed(format!("it is {}", verdict.name())));
        }
        match self.review.protected.held.contains(&key) || self.proofs.confirmed.contains(&key) {
            true => FileEvidence::Held(keys.of_tag(&file.tag)),
            false => FileEvidence::Is(MemberFate::Needed("no other set has it".to_owned())),
        }
    }

    /// Reads the files with these tags that other sets have, and these sets.
    fn prove_held(&mut self, tags: &HashSet<u64>) -> Result<(), Error> {
        let folder = self.task.folder;
        let mut coverage = MemberCoverage::default();
        let mut files = HashMap::new();
        let ids = folder.ids();
        for id in ids.map_err(|error| system("list the parity", error, self.task.place))? {
            let is_other = !self.review.is_stale(&id) || self.proofs.written.contains_key(&id);
            let Some(stored) = is_other.then(|| folder.set(&id).ok()).flatten() else { continue };
            let members = stored.set.index().members().iter();
            let mut members = members
                .filter(|member| tags.contains(&self.review.keys.of_tag(&member.file.tag)))
                .peekable();
            if members.peek().is_none() {
                continue;
            }
            let members: Vec<&Member> = members.collect();
            if !self.is_sound(&id) {
                continue;
            }
            for member in members {
                let key = self.review.keys.of(&member.file);
                coverage.add(key, stored.set.header().origin, member);
                files.insert(key, member.file.clone());
            }
        }
        for key in coverage.whole() {
            let Some(file) = files.remove(&key) else { continue };
            if self.proofs.proved.contains(&key) || self.is_whole(&file) {
                self.proofs.proved.insert(key);
                self.proofs.proved_tags.insert(self.review.keys.of_tag(&file.tag));
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
        let is_protected = |key: &u64| {
            self.review.protected.held.contains(key) || self.proofs.confirmed.contains(key)
        };
        let is_protected = |member: &Member| is_protected(&self.review.keys.of(&member.file));
        let MakerTask { place, folder, keep_earlier, proves, .. } = self.task;
        let failed = |error| system("remove earlier sets", error, place);
        let damaged = prune(folder, keep_earlier, now, proves, &is_protected).map_err(failed)?;
        if damaged > 0 {
            let text = format!("{damaged} earlier sets of parity were damaged, and are removed");
            self.monitor.notice(Notice::new(text).at(&place.folder()));
        }
        if leave_room(place, folder).map_err(failed)? > 0 {
            self.tell_room();
        }
        Ok(())
    }
}
