//! What becomes of tags in a directory: which tools and ways of saving keep them, and what the file
//! system itself is like.
//!
//! In: directories. Out: facts about each, and what each operation did to the attributes of a file
//! made for the purpose. It works in a folder of its own within each directory, `folder.rs` being
//! the only module that writes, and removes it; it touches nothing else. External tools are started
//! with explicit arguments, no shell, and a time limit.

#![forbid(unsafe_code)]

mod folder;
mod sample;
mod tool;
mod recipe;
mod traits;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use strum::IntoStaticStr;

use steadfast::event::FileError;
use steadfast::{Error, ExitStatus};
use steadfast_sys::file::{File, Status};

pub use traits::{Direct, NameUnit, Normalisation, Traits};

use folder::Folder;
use recipe::Recipe;
use sample::ProbeSample;
use tool::Failure;

/// The result of probing.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    /// The directories, as given.
    pub places: Vec<Place>,
    /// The operations, in order.
    pub operations: Vec<Operation>,
    /// Tools that are not installed, by name.
    pub absent: BTreeSet<&'static str>,
    /// Whether probing was stopped before its end.
    pub interrupted: bool,
}

/// A directory.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its path, as given.
    pub path: PathBuf,
    /// The system's name for its file system.
    pub file_system: Option<String>,
    /// The properties of the file system, or why nothing could be tried.
    pub traits: Result<Traits, FileError>,
    /// The probe's folder and the error, if it could not be removed.
    pub left_behind: Option<(PathBuf, FileError)>,
}

/// An operation that was tried.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its group.
    pub group: Group,
    /// Its command or description: `cp -a`, "new file, renamed over".
    pub name: &'static str,
    /// For an operation between directories, its source: an index into [`Probe::places`].
    pub from: Option<usize>,
    /// The outcomes, one for each of [`Probe::places`].
    pub outcomes: Vec<Outcome>,
}

/// Groups of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Group {
    /// Copying, moving and packing within one directory.
    Copy,
    /// Saving other contents under the same name.
    Save,
    /// From one file system to another.
    Between,
}

/// The outcome for a file's attributes.
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// All were kept.
    Kept(Time),
    /// The tag was lost.
    Lost(Time),
    /// Another outcome: some were lost or changed.
    Changed(String),
    /// The operation failed.
    Impossible(String),
    /// The operation does not apply here, or was not reached.
    NotTried,
}

/// The outcome for a file's modification time. A tag that was kept with another time is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Time {
    /// The same.
    Kept,
    /// The same within the precision of a coarser file system or tool, so tags still match.
    Cut,
    /// Another.
    New,
}

impl Probe {
    /// Returns the exit status: `Undetermined` if a directory could not be probed or cleaned up.
    pub fn exit_status(&self) -> ExitStatus {
        let unfit = |place: &Place| place.traits.is_err() || place.left_behind.is_some();
        let unfit = ExitStatus::Undetermined.only_if(self.places.iter().any(unfit));
        unfit.max(ExitStatus::Interrupted.only_if(self.interrupted))
    }
}

/// Probes directories. `stop` ends it early; the results so far are returned.
///
/// # Errors
///
/// If there is no directory to probe.
pub fn probe(directories: &[PathBuf], stop: &AtomicBool) -> Result<Probe, Error> {
    if directories.is_empty() {
        return Err(Error::usage("probe needs a directory"));
    }
    let sample = ProbeSample::new();
    let mut sites: Vec<ProbeSite> =
        directories.iter().map(|path| ProbeSite::open(path, &sample)).collect();
    let mut probe = Probe::default();
    for recipe in recipe::in_one_place() {
        let try_in = |site: &mut ProbeSite, recipe| site.attempt(recipe, &sample, stop);
        let attempts = sites.iter_mut().map(|site| try_in(site, recipe)).collect();
        probe.add(recipe, None, attempts);
    }
    for from in 0..sites.len() {
        for recipe in recipe::between_places() {
            let attempts = (0..sites.len())
                .map(|to| between(&mut sites, from, to, recipe, &sample, stop))
                .collect();
            probe.add(recipe, Some(from), attempts);
        }
    }
    probe.places = sites.into_iter().map(ProbeSite::close).collect();
    probe.interrupted = stop.load(Ordering::Relaxed);
    Ok(probe)
}

impl Probe {
    /// Adds an operation, unless its tool is missing or no directory could try it.
    fn add(&mut self, recipe: &Recipe, from: Option<usize>, attempts: Vec<Attempt>) {
        let mut outcomes = Vec::with_capacity(attempts.len());
        for attempt in attempts {
            match attempt {
                Ok(outcome) => outcomes.push(outcome),
                Err(Failure::Absent(tool)) => {
                    self.absent.insert(tool);
                    return;
                }
                Err(Failure::Failed(reason)) => outcomes.push(Outcome::Impossible(reason)),
                Err(Failure::Stopped) => outcomes.push(Outcome::NotTried),
            }
        }
        if outcomes.iter().any(|outcome| *outcome != Outcome::NotTried) {
            let (group, name) = (recipe.group, recipe.name);
            self.operations.push(Operation { group, name, from, outcomes });
        }
    }
}

type Attempt = Result<Outcome, Failure>;

/// A directory that is being probed.
struct ProbeSite {
    path: PathBuf,
    file_system: Option<String>,
    device: Option<u64>,
    /// The folder, and the properties of the file system.
    found: Result<(Folder, Traits), FileError>,
    /// The number of the next bench.
    next: u32,
}

impl ProbeSite {
    fn open(path: &Path, sample: &ProbeSample) -> ProbeSite {
        let opened = File::open(path);
        let file_system = opened.and_then(|file| file.file_system()).ok();
        let found = Folder::make(path)
            .map_err(|error| FileError::from_io("make a folder of its own", &error))
            .and_then(|folder| {
                let traits = Traits::of(&folder, sample)
                    .map_err(|error| FileError::from_io("try the file system", &error))?;
                Ok((folder, traits))
            });
        ProbeSite {
            path: path.to_owned(),
            file_system: file_system.map(|file_system| file_system.name),
            device: Status::of(path).map(|status| status.device).ok(),
            found,
            next: 0,
        }
    }

    /// Returns an error if attributes cannot be set here.
    fn keeps_attributes(&self) -> Result<(), Failure> {
        match &self.found {
            Ok((_, traits)) => match &traits.attributes {
                Ok(()) => Ok(()),
                Err(trouble) => Err(Failure::Failed(trouble.reason.clone())),
            },
            Err(_) => Err(Failure::Stopped),
        }
    }

    /// Makes a folder for one operation.
    fn bench(&mut self) -> Result<PathBuf, Failure> {
        let Ok((folder, _)) = &self.found else { return Err(Failure::Stopped) };
        self.next += 1;
        Ok(folder.bench(self.next)?)
    }

    /// Tries a recipe within the directory.
    fn attempt(&mut self, recipe: &Recipe, sample: &ProbeSample, stop: &AtomicBool) -> Attempt {
        ensure_going(stop)?;
        self.keeps_attributes()?;
        let bench = self.bench()?;
        let mtime = sample.write(&bench.join(recipe::SOURCE))?;
        recipe.perform(&bench, &bench, stop)?;
        let contents_stay = recipe.group != Group::Save;
        Ok(sample.outcome(&bench.join(recipe.result), mtime, contents_stay))
    }

    fn close(self) -> Place {
        let ProbeSite { path, file_system, found, .. } = self;
        let (traits, left_behind) = match found {
            Ok((folder, traits)) => (Ok(traits), folder.remove().err()),
            Err(trouble) => (Err(trouble), None),
        };
        let left_behind = left_behind
            .map(|(folder, error)| (folder, FileError::from_io("remove its own folder", &error)));
        Place { path, file_system, traits, left_behind }
    }
}

/// Tries a recipe from one directory to another on another file system.
fn between(
    sites: &mut [ProbeSite],
    from: usize,
    to: usize,
    recipe: &Recipe,
    sample: &ProbeSample,
    stop: &AtomicBool,
) -> Attempt {
    ensure_going(stop)?;
    if sites[from].device == sites[to].device || sites[from].keeps_attributes().is_err() {
        return Ok(Outcome::NotTried);
    }
    let (source, target) = (sites[from].bench()?, sites[to].bench()?);
    let mtime = sample.write(&source.join(recipe::SOURCE))?;
    recipe.perform(&source, &target, stop)?;
    Ok(sample.outcome(&target.join(recipe.result), mtime, true))
}

fn ensure_going(stop: &AtomicBool) -> Result<(), Failure> {
    if stop.load(Ordering::Relaxed) { Err(Failure::Stopped) } else { Ok(()) }
}
