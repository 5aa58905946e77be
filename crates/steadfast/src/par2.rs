//! PAR2 sets of other tools: verified, and files repaired from them.
//!
//! Input: a PAR2 file, and those beside it that belong to it. Output: what is wrong with each file
//! of the set ([`verify_par2`]), or the files as the set describes them ([`repair_par2`]).
//! `steadfast_parity` knows the packets and the code; here is the reading and writing. The packets
//! may be hostile: paths are opened beneath the folder of the set only. A file is replaced only by
//! contents that have the length and the MD5 of the set, and the digest of its tag if it has one.

mod ranges;
mod volumes;
mod survey;
mod rebuild;
mod replace;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::event::{FileError, Notice};
use crate::exit_status::ExitStatus;
use crate::repair::{Originals, Withheld, end_unfinished, unfinished_repairs};
use crate::run::CatalogueUse;
use crate::selection::Selection;
use crate::verdict::Verdict;

use replace::Replacer;
use survey::BlockSurvey;
use volumes::LoadedSet;

/// What is known of a file of a set, and what became of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Par2Report {
    /// The path as the user would write it.
    pub path: PathBuf,
    /// `Intact`, `Corrupt`, `Missing` or `Unreadable`; `Modified` if it is as its tag says, and so
    /// was edited after the set was made.
    pub verdict: Verdict,
    /// Blocks of the file.
    pub blocks: u64,
    /// Of these, the ones that are nowhere.
    pub lost_blocks: u64,
    /// Whether the file is repaired, or can be; `None` if it needs no repair or none was asked for.
    pub is_repaired: Option<bool>,
    /// What belonged to a repaired file and was not given back.
    pub withheld: Vec<Withheld>,
    /// What went wrong, or why it is not repaired.
    pub fault: Option<FileError>,
}

/// How many files of sets have each verdict.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Par2Verdicts {
    /// Files that are as their set says.
    pub intact: u64,
    /// Files that were edited after the set was made.
    pub modified: u64,
    /// Files that are damaged.
    pub corrupt: u64,
    /// Files that are gone.
    pub missing: u64,
    /// Files that cannot be opened.
    pub unreadable: u64,
}

/// What became of one or more sets.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[must_use]
pub struct Par2Totals {
    /// The PAR2 files that were read, except those that also have packets of another set.
    pub par2_files: Vec<PathBuf>,
    /// Sets that could not be read.
    pub unread_sets: u64,
    /// Files of the sets.
    pub files: u64,
    /// Of these, how many have each verdict.
    pub verdicts: Par2Verdicts,
    /// Blocks of all files.
    pub blocks: u64,
    /// Of these, the ones that are nowhere.
    pub lost_blocks: u64,
    /// Whole recovery blocks: as many lost blocks can be rebuilt.
    pub recovery_blocks: u64,
    /// Packets of the PAR2 files that are damaged.
    pub damaged_packets: u64,
    /// Files that were repaired, or can be.
    pub repaired: u64,
    /// Files that were not repaired, or cannot be.
    pub not_repaired: u64,
    /// Whether something was written.
    pub is_done: bool,
    /// The numbers under which damaged files are kept, and the folders, if something was replaced.
    pub originals: Vec<(u64, PathBuf)>,
    /// Whether the run was told to stop before its end.
    pub interrupted: bool,
    /// What is said of repairs of the folder that were cut off.
    pub notices: Vec<Notice>,
    status: ExitStatus,
}

impl Par2Totals {
    /// Returns the exit status: `Fine` if every file is as the set says, `Changed` if one is
    /// missing or was edited, `Undetermined` if one could not be read, or was not given back all
    /// that belonged to it, `Corrupt` if one is damaged.
    pub fn exit_status(&self) -> ExitStatus {
        self.status.max(ExitStatus::Interrupted.only_if(self.interrupted))
    }

    /// Adds what became of other sets.
    pub fn merge(&mut self, other: Par2Totals) {
        self.unread_sets += other.unread_sets;
        self.files += other.files;
        self.verdicts.intact += other.verdicts.intact;
        self.verdicts.modified += other.verdicts.modified;
        self.verdicts.corrupt += other.verdicts.corrupt;
        self.verdicts.missing += other.verdicts.missing;
        self.verdicts.unreadable += other.verdicts.unreadable;
        self.blocks += other.blocks;
        self.lost_blocks += other.lost_blocks;
        self.recovery_blocks += other.recovery_blocks;
        self.damaged_packets += other.damaged_packets;
        self.repaired += other.repaired;
        self.not_repaired += other.not_repaired;
        self.is_done |= other.is_done;
        self.interrupted |= other.interrupted;
        self.status.raise(other.status);
        self.par2_files.extend(other.par2_files);
        self.notices.extend(other.notices);
        self.originals.extend(other.originals);
    }

    /// Counts a set that could not be read.
    pub fn add_unread(&mut self) {
        self.unread_sets += 1;
        self.status.raise(ExitStatus::Undetermined);
    }

    fn add(&mut self, report: &Par2Report) {
        let (count, status) = match report.verdict {
            Verdict::Intact => (&mut self.verdicts.intact, ExitStatus::Fine),
            Verdict::Modified => (&mut self.verdicts.modified, ExitStatus::Changed),
            Verdict::Missing => (&mut self.verdicts.missing, ExitStatus::Changed),
            Verdict::Corrupt => (&mut self.verdicts.corrupt, ExitStatus::Corrupt),
            _ => (&mut self.verdicts.unreadable, ExitStatus::Undetermined),
        };
        *count += 1;
        let status = match report.is_repaired {
            Some(true) if self.is_done && !report.withheld.is_empty() => ExitStatus::Undetermined,
            Some(true) if self.is_done => ExitStatus::Fine,
            Some(_) => ExitStatus::Corrupt,
            None => status,
        };
        self.status.raise(status);
        self.files += 1;
        self.repaired += u64::from(report.is_repaired == Some(true));
        self.not_repaired += u64::from(report.is_repaired == Some(false));
    }
}

/// What is done about damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Intent {
    Verify,
    Plan,
    Repair,
}

/// Compares the files of a set with it, block by block. Lost blocks are also searched for in
/// `others`: files of the set under other names. Writes nothing.
///
/// # Errors
/// If the PAR2 file cannot be read, or no set can be made out.
pub fn verify_par2(
    path: &Path,
    others: &[PathBuf],
    stop: &AtomicBool,
    found: &mut dyn FnMut(&Par2Report),
) -> Result<Par2Totals, Error> {
    carry_out(path, others, Intent::Verify, stop, found)
}

/// Repairs the damaged and missing files of a set, or says which could be with `dry_run`.
///
/// A file that cannot be repaired is untouched, and so is one that was edited after the set was
/// made.
///
/// # Errors
/// As [`verify_par2`].
pub fn repair_par2(
    path: &Path,
    others: &[PathBuf],
    dry_run: bool,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&Par2Report),
) -> Result<Par2Totals, Error> {
    let intent = if dry_run { Intent::Plan } else { Intent::Repair };
    carry_out(path, others, intent, stop, found)
}

fn carry_out(
    path: &Path,
    others: &[PathBuf],
    intent: Intent,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&Par2Report),
) -> Result<Par2Totals, Error> {
    let interrupted = |error: &std::io::Error| error.kind() == std::io::ErrorKind::Interrupted;
    let loaded = match LoadedSet::load(path, others, stop) {
        Err(_) if stop.load(Ordering::Relaxed) => {
            return Ok(Par2Totals { interrupted: true, ..Par2Totals::default() });
        }
        loaded => loaded?,
    };
    let root = loaded.folder.canonicalize().unwrap_or_else(|_| loaded.folder.clone());
    let (selection, mut originals) = (Selection::of([&root]), BTreeMap::new());
    // Before the files are read: what was cut off may have left one half-written.
    let notices = match intent {
        Intent::Repair => end_unfinished(&selection, &CatalogueUse::Nearest, stop, &mut originals),
        Intent::Verify | Intent::Plan => unfinished_repairs(&selection),
    };
    let mut status = ExitStatus::default();
    notices.iter().for_each(|notice| status.raise(notice.status));
    let mut totals = Par2Totals {
        blocks: loaded.set.blocks as u64,
        recovery_blocks: loaded.recovery.len() as u64,
        damaged_packets: loaded.damaged_packets,
        par2_files: loaded.paths.clone(),
        is_done: intent == Intent::Repair,
        notices,
        status,
        ..Par2Totals::default()
    };
    let survey = match BlockSurvey::of(&loaded, stop) {
        Ok(survey) => survey,
        Err(error) if interrupted(&error) => {
            return Ok(Par2Totals { interrupted: true, ..totals });
        }
        Err(error) => return Err(Error::system("read the files of the set", error).at(path)),
    };
    totals.lost_blocks = survey.lost().len() as u64;
    let mut reports = survey.reports(&loaded);
    if intent != Intent::Verify {
        let originals = originals.remove(&root).unwrap_or_else(|| Originals::of(&root));
        let replacer = Replacer::new(&loaded, &survey, root, originals, stop);
        replacer.repair(intent == Intent::Plan, &mut reports);
        totals.originals.extend(replacer.originals());
    }
    totals.interrupted = stop.load(Ordering::Relaxed);
    for report in &reports {
        totals.add(report);
        found(report);
    }
    Ok(totals)
}

fn go_on(stop: &AtomicBool) -> std::io::Result<()> {
    match stop.load(Ordering::Relaxed) {
        true => Err(std::io::ErrorKind::Interrupted.into()),
        false => Ok(()),
    }
}
