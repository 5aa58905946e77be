//! How a catalogued folder is: the one answer for the command, pages, schedules and metrics.
//!
//! Input: a root and its catalogue. Output: what is known of the folder, as of when, what is open,
//! what cannot be told and why. Reads no contents: a file is as good as the last run that read it.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use strum::IntoStaticStr;

use crate::advice::{Advice, counted};
use crate::catalogue::{
    Audit, Catalogue, CatalogueError, CatalogueErrorKind, CataloguedTree, FailedCheck, RunRecord,
    RunState, real_of,
};
use crate::event::Notice;
use crate::exit_status::ExitStatus;
use crate::file_state::FileState;
use crate::moving::notice_of_mark;
use crate::repair::unfinished_repairs;
use crate::run::{advised, are_many};
use crate::selection::Selection;
use crate::verb_kind::VerbKind;
use steadfast_sys::file::{FileKind, Status, Timestamp, age_s};

/// Days within which every byte should be read if no schedule says otherwise.
pub const COVER_DAYS: u32 = 90;

/// Days of which the answer says how many files were accepted with other contents.
pub const ACCEPTED_DAYS: i64 = 30;

/// Open failures that are listed: about a megabyte with long paths.
const FAILURES_MAX: usize = 5_000;

/// What is known of a folder without reading its files.
#[derive(Clone, Debug)]
pub enum FolderState {
    /// It has no catalogue.
    Unrecorded,
    /// It is a part of a larger tree, whose catalogue has no answer of its own for it.
    PartOf(PathBuf),
    /// It is not there, or another disk is in its place. The notice says why.
    NotThere(Notice),
    /// It or its catalogue cannot be read, or the catalogue is gone. The notice says why.
    Unknown(Notice),
    /// Its catalogue could be read.
    Known(Box<FolderFacts>),
}

/// What a catalogue knows of its folder.
#[derive(Clone, Debug)]
pub struct FolderFacts {
    /// What can be proved, with the windows of [`FolderFacts::windows`].
    pub audit: Audit,
    /// Days within which every byte should be proved.
    pub cover_days: u32,
    /// Since when the cover counts, in seconds since 1970: since the catalogue was made, or since a
    /// later moment, such as that of its schedule.
    pub begun_s: i64,
    /// Files with an open failure, by state.
    pub open: BTreeMap<FileState, u64>,
    /// These files with their latest failure, in walk order, up to a limit.
    pub failures: Vec<FailedCheck>,
    /// What became of the failures that each run found, by its number.
    pub found: BTreeMap<i64, FoundByRun>,
    /// Repairs and moves that were cut off, parts that are not mounted, and what cannot be told of
    /// either.
    pub unfinished: Vec<Notice>,
    /// Folders that a run could not list, and that still cannot be, from the root.
    pub unlisted: Vec<PathBuf>,
    /// Files that were accepted with other contents, or as gone, within [`ACCEPTED_DAYS`]. A little
    /// each night raises no alarm.
    pub accepted: u64,
}

/// What became of the failures that one run found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundByRun {
    /// Files that are open still, by the state in which it found them.
    pub open: BTreeMap<FileState, u64>,
    /// Files that were found intact, repaired or accepted since.
    pub settled: u64,
}

/// The state of a folder in a word. The worst that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum FolderWord {
    /// Every file is recorded and was proved within the cover.
    Fine,
    /// Every file is recorded, and they were not all read again yet.
    Recorded,
    /// Some files are not recorded yet; all others are fine.
    Incomplete,
    /// Some file was not proved within the cover.
    Overdue,
    /// No file has a tag.
    Empty,
    /// Something is open.
    Trouble,
    /// It is not there.
    #[strum(serialize = "not there")]
    NotThere,
    /// It cannot be told.
    Unknown,
}

impl FolderWord {
    /// Returns it in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FolderState {
    /// Reads the state of the folder at a root; `tree` is what the list of catalogued trees has of
    /// it. Without one, the nearest catalogue at the root or above it is taken.
    pub fn read(
        root: &Path,
        tree: Option<&CataloguedTree>,
        cover_days: u32,
        now: Timestamp,
    ) -> FolderState {
        match Status::of(root) {
            Ok(status) if status.kind == FileKind::Directory => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return FolderState::Unknown(Notice::failure(format!("cannot be opened: {error}")));
            }
            _ => return FolderState::not_there("there is no such folder: is its disk mounted?"),
        }
        let read = || {
            let catalogue = match (tree, Catalogue::find(root)) {
                (Some(tree), _) => tree.open()?,
                (None, Some(file)) => Catalogue::open_reader(&file)?,
                (None, None) => return Ok(FolderState::Unrecorded),
            };
            if real_of(root).is_some_and(|real| real != catalogue.root()) {
                return Ok(FolderState::PartOf(catalogue.root().to_owned()));
            }
            catalogue.guard()?;
            FolderFacts::read(&catalogue, cover_days, now).map(Box::new).map(FolderState::Known)
        };
        read().unwrap_or_else(|error: CatalogueError| FolderState::without_facts(error, tree))
    }

    fn not_there(reason: &str) -> FolderState {
        FolderState::NotThere(Notice::failure(reason))
    }

    /// Returns the state of a folder whose catalogue cannot be used.
    fn without_facts(error: CatalogueError, tree: Option<&CataloguedTree>) -> FolderState {
        let is_away = || tree.is_some_and(CataloguedTree::is_away);
        match (error.kind(), tree) {
            (CatalogueErrorKind::OtherVolume | CatalogueErrorKind::EmptyRoot, _) => {
                FolderState::NotThere(Notice::of(&error.into()))
            }
            (CatalogueErrorKind::Absent, _) if is_away() => FolderState::not_there(
                "its disk is not mounted: nothing of it is there, nor its catalogue",
            ),
            (CatalogueErrorKind::Absent, Some(tree)) => {
                let text = "its catalogue is gone, and its history with it.";
                let advice = Advice::RestoreCatalogue(tree.root.clone());
                FolderState::Unknown(Notice::failure(text).advise(advice))
            }
            _ => FolderState::Unknown(Notice::of(&advised(error))),
        }
    }

    /// Returns what its catalogue knows, if that could be read.
    pub fn facts(&self) -> Option<&FolderFacts> {
        match self {
            FolderState::Known(facts) => Some(facts),
            _ => None,
        }
    }

    /// Returns the state in a word.
    pub fn word(&self) -> FolderWord {
        match self {
            FolderState::Known(facts) => facts.word(),
            FolderState::NotThere(_) => FolderWord::NotThere,
            FolderState::Unrecorded | FolderState::PartOf(_) | FolderState::Unknown(_) => {
                FolderWord::Unknown
            }
        }
    }

    /// Returns its exit status: `Corrupt` if a corrupt file is open, `Changed` if anything else is
    /// open or overdue, `Undetermined` if that cannot be told.
    pub fn exit_status(&self) -> ExitStatus {
        self.facts().map_or(ExitStatus::Undetermined, FolderFacts::exit_status)
    }
}

impl FolderFacts {
    /// Returns the numbers of days that the audit counts: the cover, and the cover with a tenth of
    /// it as grace.
    pub fn windows(cover_days: u32) -> [u32; 2] {
        [cover_days, cover_days + cover_days.div_ceil(10)]
    }

    /// Takes an audit of these windows; nothing is open.
    pub fn of(audit: Audit, cover_days: u32) -> FolderFacts {
        FolderFacts {
            audit,
            cover_days,
            begun_s: 0,
            open: BTreeMap::new(),
            failures: Vec::new(),
            found: BTreeMap::new(),
            unfinished: Vec::new(),
            unlisted: Vec::new(),
            accepted: 0,
        }
    }

    fn read(
        catalogue: &Catalogue,
        cover_days: u32,
        now: Timestamp,
    ) -> Result<FolderFacts, CatalogueError> {
        let audit = catalogue.audit(&FolderFacts::windows(cover_days), now)?;
        let mut facts = FolderFacts::of(audit, cover_days);
        facts.begun_s = catalogue.tree()?.made.seconds;
        let mut last = None;
        catalogue.failures(&mut |failure| {
            facts.add(failure, &mut last);
            ControlFlow::Continue(())
        })?;
        facts.unfinished = unfinished_repairs(&Selection::of([catalogue.root()]));
        facts.unfinished.extend(notice_of_mark(catalogue.root()));
        for (path, files) in catalogue.unmounted_parts()? {
            let files = counted(files, "file", "files");
            let text = format!("nothing is there, where {files} used to be: not mounted?");
            facts.unfinished.push(Notice::failure(text).at(&catalogue.root().join(path)));
        }
        facts.unlisted = catalogue.unlisted()?;
        facts.accepted = catalogue.accepted_since(now.seconds - ACCEPTED_DAYS * 86_400)?;
        Ok(facts)
    }

    /// Adds a failure if it is open. Of several of one file, which follow each other, only the
    /// last counts.
    fn add(&mut self, failure: FailedCheck, last: &mut Option<(PathBuf, FileState)>) {
        let found = self.found.entry(failure.run).or_default();
        if failure.settled {
            found.settled += 1;
            return;
        }
        *found.open.entry(failure.standing).or_default() += 1;
        if failure.goes_on {
            return;
        }
        if let Some((path, before)) = last.take()
            && path == failure.path
        {
            *self.open.entry(before).or_default() -= 1;
            self.failures.pop_if(|last| last.path == failure.path);
        }
        *self.open.entry(failure.standing).or_default() += 1;
        self.open.retain(|_, count| *count > 0);
        *last = Some((failure.path.clone(), failure.standing));
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(failure);
        }
    }

    /// Returns how many files have an open failure of some states.
    pub fn count(&self, states: &[FileState]) -> u64 {
        states.iter().filter_map(|state| self.open.get(state)).sum()
    }

    /// Returns the files and the bytes that were proved within the cover.
    pub fn proved(&self) -> (u64, u64) {
        let window = self.audit.windows.iter().find(|window| window.days == self.cover_days);
        window.map_or((0, 0), |window| (window.entries, window.bytes))
    }

    /// Returns whether some file is not proved within the cover, with a tenth of it as grace. One
    /// with an open failure is not overdue, and nothing is before the cover has passed once.
    pub fn is_overdue(&self) -> bool {
        let [_, grace] = FolderFacts::windows(self.cover_days);
        let age_s = age_s(self.begun_s, self.audit.at.seconds);
        let is_young = age_s.is_some_and(|age_s| age_s < i64::from(grace) * 86_400);
        let window = self.audit.windows.iter().find(|window| window.days == grace);
        !is_young && window.is_none_or(|window| window.judged < self.audit.tagged)
    }

    /// Returns how many files one run found missing or edited, and in which states, if that is an
    /// alarm: so many at once may be another volume, or the work of malware.
    pub fn many_at_once(&self) -> Option<(u64, FileState)> {
        let of_states = [FileState::Modified, FileState::Missing];
        let mut by_run: BTreeMap<i64, [u64; 2]> = BTreeMap::new();
        for failure in &self.failures {
            if let Some(at) = of_states.iter().position(|state| *state == failure.standing) {
                by_run.entry(failure.run).or_default()[at] += 1;
            }
        }
        let [edited, missing] = by_run.into_values().max_by_key(|[a, b]| a + b)?;
        let mostly = if edited >= missing { FileState::Modified } else { FileState::Missing };
        are_many(edited + missing, self.audit.entries).then_some((edited + missing, mostly))
    }

    /// Returns the last run and the files that it was the last to prove, if it is a check that was
    /// stopped, or ended with its process. One that wrote within a minute may be going on.
    pub fn stopped_check(&self) -> Option<(&RunRecord, u64)> {
        const SILENCE_S: i64 = 60;
        let run = self.audit.runs.first().filter(|run| run.kind() == Some(VerbKind::Check))?;
        let is_silent = || self.audit.at.seconds - run.latest.seconds > SILENCE_S;
        let is_stopped = match run.state {
            RunState::Whole => false,
            RunState::Interrupted => true,
            RunState::Unfinished => is_silent(),
        };
        let proofs = self.audit.proofs.iter().find(|one| one.run == run.id);
        is_stopped.then(|| (run, proofs.map_or(0, |one| one.entries)))
    }

    /// Returns how many files have no tag.
    pub fn unrecorded(&self) -> u64 {
        self.audit.entries.saturating_sub(self.audit.tagged)
    }

    /// Returns whether a repair in place or a move was cut off, a part is not mounted, or that
    /// cannot be told.
    pub fn has_unfinished(&self) -> bool {
        self.unfinished.iter().any(|notice| !notice.status.is_fine())
    }

    /// Returns whether a part of it could not be judged.
    fn is_unknown_in_part(&self) -> bool {
        self.has_unfinished() || !self.unlisted.is_empty()
    }

    /// Returns the state in a word.
    pub fn word(&self) -> FolderWord {
        match () {
            () if !self.open.is_empty() || self.is_unknown_in_part() => FolderWord::Trouble,
            () if self.audit.tagged == 0 => FolderWord::Empty,
            () if self.is_overdue() => FolderWord::Overdue,
            () if self.unrecorded() > 0 => FolderWord::Incomplete,
            () if !self.audit.checked => FolderWord::Recorded,
            () => FolderWord::Fine,
        }
    }

    /// Returns the exit status of [`FolderState::exit_status`].
    pub fn exit_status(&self) -> ExitStatus {
        let of = |state: &FileState| match state {
            FileState::Corrupt | FileState::Suspect => ExitStatus::Corrupt,
            FileState::Unreadable | FileState::Unstable => ExitStatus::Undetermined,
            _ => ExitStatus::Changed,
        };
        let is_amiss = matches!(self.word(), FolderWord::Overdue | FolderWord::Empty);
        let unlisted = ExitStatus::Undetermined.only_if(!self.unlisted.is_empty());
        let unfinished = self.unfinished.iter().map(|notice| notice.status);
        let begun = unfinished.fold(unlisted, ExitStatus::max);
        let begun = begun.max(ExitStatus::Changed.only_if(is_amiss));
        self.open.keys().map(of).fold(begun, ExitStatus::max)
    }
}
