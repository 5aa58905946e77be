//! How a catalogued folder is: the one answer for the command, pages, schedules and metrics.
//!
//! Input: a root and its catalogue. Output: what is known of the folder, as of when, what is open,
//! what cannot be told and why. Reads no contents: a file is as good as the last run that read it.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

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
use crate::standing::{Matter, Standing};
use crate::store::{StoredTag, foreign, has_tag, tag_at};
use crate::verb_kind::VerbKind;
use crate::walk::{Excludes, WalkItem, walk};
use steadfast_sys::file::{File, FileKind, Status, Timestamp, age_s};

/// Days within which every byte should be read if no schedule says otherwise.
pub const COVER_DAYS: u32 = 90;

/// Days of which the answer says how many files were accepted with other contents.
pub const ACCEPTED_DAYS: i64 = 30;

/// Open failures that are listed: about a megabyte with long paths.
const FAILURES_MAX: usize = 5_000;

/// What is known of a folder without reading its files.
#[derive(Clone, Debug)]
pub enum FolderState {
    /// It has no catalogue, and no tag was seen in it.
    Unrecorded,
    /// It has no catalogue, and files in it have tags.
    TagsAlone(TagsFound),
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
    /// The run that goes on, in whatever process.
    pub going: Option<GoingRun>,
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

/// A run that goes on in a folder, in whatever process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoingRun {
    /// What it does.
    pub kind: Option<VerbKind>,
    /// When it began.
    pub started: Timestamp,
    /// Files that it has seen, and all that are recorded.
    pub files: u64,
    /// All files that are recorded.
    pub all: u64,
    /// Files that it found damaged so far.
    pub damaged: u64,
}

/// Checks that were stopped, together: each goes on where the one before ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoppedCheck {
    /// Whether a person stopped the last one; otherwise its process or machine ended.
    pub was_told: bool,
    /// Files that they proved.
    pub proved: u64,
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
                (None, None) => return Ok(without_catalogue(root)),
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

    /// Lists what is to be said of it, in no order.
    pub fn matters(&self) -> Vec<Matter> {
        let alone = |standing| vec![Matter::of(standing)];
        match self {
            FolderState::Known(facts) => facts.matters(),
            FolderState::NotThere(_) => alone(Standing::Unmounted),
            FolderState::TagsAlone(_) => alone(Standing::TagsAlone),
            FolderState::Unrecorded => alone(Standing::Unprotected),
            FolderState::PartOf(_) | FolderState::Unknown(_) => alone(Standing::Unknown),
        }
    }

    /// Returns how it stands: the worst of what is to be said of it.
    pub fn standing(&self) -> Standing {
        let standings = self.matters().into_iter().map(|matter| matter.standing);
        standings.min().unwrap_or(Standing::Fine)
    }

    /// Returns its exit status: `Corrupt` if a corrupt file is open, `Changed` if anything else is
    /// open or overdue, `Undetermined` if that cannot be told.
    pub fn exit_status(&self) -> ExitStatus {
        let statuses = self.matters().into_iter().map(|matter| matter.status);
        statuses.fold(ExitStatus::Fine, ExitStatus::max)
    }
}

/// What was seen of the tags in a folder without a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagsFound {
    /// Files that were looked at.
    pub seen: u64,
    /// Of these, files with a tag of ours.
    pub tagged: u64,
    /// Of the others, files with a tag of another tool.
    pub foreign: u64,
    /// Whether there are more files.
    pub is_cut: bool,
}

/// Files that are looked at in a folder without a catalogue, to see whether it has tags.
const LOOKED_AT_MAX: u64 = 500;

/// Looks at some files of a folder without a catalogue. Reads attributes and no contents.
fn without_catalogue(root: &Path) -> FolderState {
    let mut found = TagsFound { seen: 0, tagged: 0, foreign: 0, is_cut: false };
    let Ok(excludes) = Excludes::new(&[]) else { return FolderState::Unrecorded };
    let stop = AtomicBool::new(false);
    let selection = Selection::of([root]);
    walk(&selection, &excludes, has_tag, &stop, &mut |item| {
        let WalkItem::File(entry) = item else { return ControlFlow::Continue(()) };
        found.seen += 1;
        if let Ok(file) = entry.open() {
            match tag_at(&file, &entry.path.to_path()) {
                Ok(StoredTag::Whole(_)) => found.tagged += 1,
                _ => found.foreign += u64::from(has_foreign(&file)),
            }
        }
        found.is_cut = found.seen >= LOOKED_AT_MAX;
        if found.is_cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match found.tagged + found.foreign > 0 {
        true => FolderState::TagsAlone(found),
        false => FolderState::Unrecorded,
    }
}

fn has_foreign(file: &File) -> bool {
    foreign::read(file).is_ok_and(|tags| !tags.is_empty())
}

/// Returns the files of a catalogue with an open failure of some states, in walk order, without a
/// limit.
///
/// # Errors
/// If the catalogue cannot be read.
pub fn open_files(
    catalogue: &Catalogue,
    is_wanted: impl Fn(FileState) -> bool,
) -> Result<Vec<PathBuf>, CatalogueError> {
    // Of several failures of one file, the last counts.
    let mut open: BTreeMap<PathBuf, FileState> = BTreeMap::new();
    catalogue.failures(&mut |failure| {
        if !failure.settled && !failure.goes_on {
            open.insert(failure.path, failure.standing);
        }
        ControlFlow::Continue(())
    })?;
    open.retain(|_, standing| is_wanted(*standing));
    Ok(open.into_keys().collect())
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
            going: None,
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
        facts.going = facts.going_run(catalogue);
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

    /// Returns the run that goes on: the last one, if it has not ended and its process is there, or
    /// wrote within a minute, maybe on another machine.
    fn going_run(&self, catalogue: &Catalogue) -> Option<GoingRun> {
        const SILENCE_S: i64 = 60;
        let run = self.audit.runs.first().filter(|run| run.state == RunState::Unfinished)?;
        let is_silent = || self.audit.at.seconds - run.latest.seconds > SILENCE_S;
        let damaged = run.counts.get(FileState::Corrupt.name()).copied().unwrap_or(0);
        let goes_on = catalogue.writer_lives() || !is_silent();
        goes_on.then(|| GoingRun {
            kind: run.kind(),
            started: run.started,
            files: run.files,
            all: self.audit.entries,
            damaged,
        })
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

    /// Returns the state in which one run found most files, and how many of them are open still, if
    /// so many are missing, edited or suspect at once that it is an alarm: that may be another
    /// volume, or the work of malware. Changes of many runs are no alarm together.
    pub fn many_at_once(&self) -> Option<(FileState, u64)> {
        const STATES: [FileState; 3] =
            [FileState::Modified, FileState::Missing, FileState::Suspect];
        let of_run = |found: &FoundByRun| {
            STATES.map(|state| {
                let open = self.count(&[state]);
                (state, found.open.get(&state).copied().unwrap_or(0).min(open))
            })
        };
        let sum =
            |counts: &[(FileState, u64); 3]| counts.iter().map(|(_, files)| files).sum::<u64>();
        let worst = self.found.values().map(of_run).max_by_key(sum)?;
        let most = worst.into_iter().max_by_key(|(_, files)| *files)?;
        are_many(sum(&worst), self.audit.entries).then_some(most)
    }

    /// Returns what the last checks proved together, if the last of them was stopped, or ended with
    /// its process.
    pub fn stopped_check(&self) -> Option<StoppedCheck> {
        let is_check = |run: &&RunRecord| run.kind() == Some(VerbKind::Check);
        let mut checks = self.audit.runs.iter().filter(is_check).peekable();
        let last = self.audit.runs.first().filter(is_check)?;
        if last.state == RunState::Whole || self.going.is_some() {
            return None;
        }
        let was_told = last.state == RunState::Interrupted;
        let mut proved = 0;
        while let Some(run) = checks.next_if(|run| run.state != RunState::Whole) {
            let of_run = self.audit.proofs.iter().find(|one| one.run == run.id);
            proved += of_run.map_or(0, |one| one.entries);
        }
        Some(StoppedCheck { was_told, proved })
    }

    /// Returns whether comparisons were completed, and every file was proved within the cover.
    fn is_all_proved(&self) -> bool {
        self.audit.checked && self.proved().0 >= self.audit.tagged
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

    /// Returns how it stands: the worst of what is to be said of it.
    pub fn standing(&self) -> Standing {
        let standings = self.matters().into_iter().map(|matter| matter.standing);
        standings.min().unwrap_or(Standing::Fine)
    }

    /// Lists what is to be said of it, in no order.
    fn matters(&self) -> Vec<Matter> {
        let of_state = |(state, files): (&FileState, &u64)| {
            Some(Matter::of_files(Standing::of_file(*state)?, *files))
        };
        let mut matters: Vec<Matter> = self.open.iter().filter_map(of_state).collect();
        if let Some((state, files)) = self.many_at_once() {
            let text = state.name().to_owned();
            matters.push(Matter { text, ..Matter::of_files(Standing::MassChange, files) });
        }
        let paths = self.unlisted.iter().map(|path| path.to_string_lossy());
        matters.extend(paths.map(|path| Matter::about(Standing::Unlisted, &path, "")));
        let unfinished = self.unfinished.iter().filter(|notice| !notice.status.is_fine());
        matters.extend(unfinished.map(|notice| {
            let path = notice.path.as_deref().unwrap_or(Path::new("")).to_string_lossy();
            let matter = Matter::about(Standing::Unfinished, &path, &notice.text);
            Matter { status: notice.status, ..matter }
        }));
        let whole = match () {
            () if self.audit.tagged == 0 => Some(Standing::Empty),
            () if self.is_overdue() => Some(Standing::Overdue),
            () if self.unrecorded() > 0 => Some(Standing::Incomplete),
            () if self.stopped_check().is_some() && !self.is_all_proved() => {
                Some(Standing::Stopped)
            }
            () if !self.audit.checked => Some(Standing::Recorded),
            () => None,
        };
        matters.extend(whole.map(Matter::of));
        matters
    }
}
