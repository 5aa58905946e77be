//! The one way to run a verb: a builder, and the two calls that most programs need.
//!
//! Input: paths and options. Output: one run with everything that belongs to it. Each guard is
//! here, so that no caller can leave one out:
//!
//! - A verb that writes refuses trees in which a repair in place was cut off.
//! - A verb that accepts contents ends if too many files changed at once.
//! - After a verb that wrote tags, parity is brought up to date.
//! - A check reports repairs that were cut off, and what may be repaired.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::monitor::{Monitor, Summary};
use crate::parity::run_with_parity;
use crate::repair;
use crate::run::{
    List, Options, ProvedFiles, ReadFrom, Verb, ensure_consent, run_proved, to_be_accepted,
};
use crate::selection::Selection;
use crate::unguarded::run;

/// Tags every file beneath a path that has no tag, or the file itself.
///
/// # Errors
/// If the run cannot begin or go on. Trouble with single files is in the summary's exit status.
///
/// ```
/// use steadfast::ExitStatus;
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("a.jpg"), "pixels")?;
/// # let photographs = folder.path();
/// let summary = steadfast::tag(photographs)?;
/// assert_eq!((summary.files, summary.exit_status()), (1, ExitStatus::Fine));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tag(path: impl Into<PathBuf>) -> Result<Summary, Error> {
    Run::tag([path]).run(&mut |_: &_| {})
}

/// Compares every tagged file beneath a path with its tag, or the file itself. Writes nothing to
/// the files.
///
/// Use [`Run::check`] to learn which files are damaged.
///
/// # Errors
/// As [`tag()`].
///
/// ```
/// use steadfast::{ExitStatus, Verdict};
///
/// # let folder = tempfile::tempdir()?;
/// # let photograph = folder.path().join("a.jpg");
/// # std::fs::write(&photograph, "pixels")?;
/// # let _ = steadfast::tag(folder.path())?;
/// let summary = steadfast::check(&photograph)?;
/// assert_eq!(summary.verdicts(Verdict::Intact), 1);
/// assert_eq!(summary.exit_status(), ExitStatus::Fine);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(path: impl Into<PathBuf>) -> Result<Summary, Error> {
    Run::check([path]).run(&mut |_: &_| {})
}

/// A run that is put together step by step.
///
/// What has no method of its own is set with [`Run::options`] and [`Run::selection`].
///
/// ```
/// use steadfast::{CheckOptions, Event, ExitStatus, ReadFrom, Run, Verb};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("a.jpg"), "pixels")?;
/// # let _ = steadfast::tag(folder.path())?;
/// # let photographs = folder.path();
/// let check = CheckOptions { require_tags: true, ..CheckOptions::default() };
/// let mut seen = Vec::new();
/// let summary = Run::new(Verb::Check(check), [photographs])
///     .exclude("*.tmp")
///     .read_from(ReadFrom::Media)
///     .options(|options| options.reading.workers = Some(2))
///     .run(&mut |event: &Event| {
///         if let Event::File(file) = event {
///             seen.push((file.path.to_path(), file.verdict));
///         }
///     })?;
/// assert_eq!((seen.len(), summary.exit_status()), (1, ExitStatus::Fine));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a run does nothing until `run` is called"]
pub struct Run {
    verb: Verb,
    selection: Selection,
    options: Options,
}

impl Run {
    /// Prepares any verb over files and directories.
    pub fn new(verb: Verb, paths: impl IntoIterator<Item: Into<PathBuf>>) -> Run {
        Run { verb, selection: Selection::of(paths), options: Options::default() }
    }

    /// Prepares a verb over a selection, with options.
    pub fn of(verb: Verb, selection: Selection, options: Options) -> Run {
        Run { verb, selection, options }
    }

    /// Prepares to hash and tag every file that has no tag.
    pub fn tag(paths: impl IntoIterator<Item: Into<PathBuf>>) -> Run {
        Run::new(Verb::tag(), paths)
    }

    /// Prepares to make the catalogue of a directory and to record every file in it.
    pub fn init(root: impl Into<PathBuf>) -> Run {
        Run::new(Verb::init(), [root])
    }

    /// Prepares to compare every tagged file with its tag.
    pub fn check(paths: impl IntoIterator<Item: Into<PathBuf>>) -> Run {
        Run::new(Verb::check(), paths)
    }

    /// Prepares to tag new files and retag modified ones. Corrupt files keep their tags.
    pub fn update(paths: impl IntoIterator<Item: Into<PathBuf>>) -> Run {
        Run::new(Verb::update(), paths)
    }

    /// Leaves out what matches a pattern, in the syntax of `.gitignore`, relative to each path.
    pub fn exclude(self, pattern: impl Into<String>) -> Run {
        self.selection(|selection| selection.excludes.push(pattern.into()))
    }

    /// Reads from the page cache, which is the default, or from the medium itself.
    pub fn read_from(self, place: ReadFrom) -> Run {
        self.options(|options| options.reading.from = place)
    }

    /// Reports what would be written, and writes nothing.
    pub fn dry_run(self) -> Run {
        self.options(|options| options.dry_run = true)
    }

    /// Counts the tree during the run, so that [`Progress::total`](crate::Progress::total) is
    /// known.
    pub fn with_total(self) -> Run {
        self.options(|options| options.survey = true)
    }

    /// Changes which files the run is about.
    pub fn selection(self, change: impl FnOnce(&mut Selection)) -> Run {
        Run { selection: self.selection.with(change), ..self }
    }

    /// Changes how the run is carried out.
    pub fn options(self, change: impl FnOnce(&mut Options)) -> Run {
        Run { options: self.options.with(change), ..self }
    }

    /// Executes the run, and returns when it has ended. The monitor is called on this thread.
    ///
    /// # Errors
    /// If an option makes no sense, or the system does not give what the whole run needs;
    /// `TooManyChanges` if `update` or `retag` would accept too many changed files at once. Trouble
    /// with single files is in the events and in the summary's exit status.
    pub fn run(&self, monitor: &mut dyn Monitor) -> Result<Summary, Error> {
        self.run_after(None, monitor)
    }

    /// Executes the run over files that were just proved, if there are any.
    ///
    /// # Errors
    /// As [`Run::run`].
    pub(crate) fn run_after(
        &self,
        proved: Option<ProvedFiles>,
        monitor: &mut dyn Monitor,
    ) -> Result<Summary, Error> {
        let Run { verb, selection, options } = self;
        match verb {
            Verb::Check(check) => return repair::check(*check, selection, options, monitor),
            Verb::Show | Verb::Hash(_) => return run(*verb, selection, options, monitor),
            Verb::Init(_) if options.dry_run => {
                return Err(Error::usage("`init` does not have the option `dry_run`"));
            }
            _ => {}
        }
        let accepted = match verb.only_accepts_missing() {
            true => to_be_accepted(selection, options)?,
            false => None,
        };
        if accepted.as_ref().is_some_and(|it| it.selection.listed.is_empty()) {
            let (verb, dry_run) = (verb.kind(), options.dry_run);
            return Ok(Summary { verb, dry_run, catalogued: true, ..Summary::default() });
        }
        if !options.dry_run {
            repair::ensure_finished(selection)?;
            ensure_consent(*verb, selection, options)?;
        }
        let mut as_written;
        let (selection, monitor): (_, &mut dyn Monitor) = match &accepted {
            Some(accepted) => {
                as_written = accepted.as_written(monitor);
                (&accepted.selection, &mut as_written)
            }
            None => (selection, monitor),
        };
        let allow_empty = options.allow_empty || accepted.is_some();
        let options = &Options { allow_empty, ..options.clone() };
        run_with_parity(*verb, selection, options, monitor, |monitor| match proved {
            Some(proved) => run_proved(*verb, proved, selection, options, monitor),
            None => run(*verb, selection, options, monitor),
        })
    }
}

/// Writes tags from the references of a list to the files beneath a root that have no tag of ours.
///
/// With `trust`, a digest is accepted although the list does not give the modification time that it
/// belongs to: the tag then has the file's present modification time. Otherwise such files are read
/// and compared. `extra` are files that the list should name but does not: they get no tag.
///
/// # Errors
/// As [`Run::run`].
pub fn import(
    root: &Path,
    list: List,
    extra: Vec<PathBuf>,
    trust: bool,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let selection = Selection::of([root.to_owned()]);
    if !options.dry_run {
        repair::ensure_finished(&selection)?;
    }
    run_with_parity(Verb::Import, &selection, options, monitor, |monitor| {
        crate::run::import(root, list, extra, trust, options, monitor)
    })
}
