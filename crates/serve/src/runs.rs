//! The runs of this server. A page starts a run, every page can follow it, and it goes on when all
//! pages are closed.
//!
//! In: the request of a page. Out: runs, each on a thread of its own, that publish a snapshot
//! several times a second. Memory is bounded: so many findings of a run, and the latest runs.

mod cores;
mod speed;
mod end;
mod findings;
mod monitor;
mod snapshot;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use steadfast::catalogue::Catalogue;
use steadfast::qos::{LevelDial, Pace};
use steadfast::{CatalogueUse, Matter, Options, ReadFrom, Selection, Standing, Timestamp};
use strum::{EnumString, IntoStaticStr};

pub(crate) use cores::CoreHistory;
pub(crate) use end::{MassChange, RunEnd};
pub(crate) use findings::{FileFinding, FindingFilter, Findings};
pub(crate) use snapshot::RunSnapshot;

use crate::jobs::{ServedJob, ServedJobs, UNEXPLAINED};
use crate::kinds::StateKind;
use crate::live::{LiveControl, LiveStatus};
use crate::lock::lock;
use crate::measuring::Measurements;
use crate::roots::{ServedPath, ServedRoots};
use monitor::RunMonitor;

/// The verbs that a page can start.
#[derive(Clone, Copy, Debug, EnumString, IntoStaticStr, PartialEq, Eq)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum RunVerb {
    Tag,
    Check,
    /// Goes on with a check that was stopped.
    Resume,
    Update,
    /// Accepts the changed files of a folder.
    Accept,
    /// Accepts files that something changed and kept the date of.
    Keep,
    /// Accepts that files are gone.
    Removed,
    Init,
    /// Makes a catalogue if there is none, then tags.
    Protect,
}

impl RunVerb {
    /// Returns its name in forms.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether it accepts changes, so that it can be told to accept any number of them.
    pub(crate) fn accepts(self) -> bool {
        self == RunVerb::Update || self.answers().is_some()
    }

    /// Returns the kind of the open files of a folder that it answers, if it answers a question.
    pub(crate) fn answers(self) -> Option<StateKind> {
        match self {
            RunVerb::Accept => Some(StateKind::Changed),
            RunVerb::Keep => Some(StateKind::Suspect),
            RunVerb::Removed => Some(StateKind::Missing),
            _ => None,
        }
    }
}

/// The run that a page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunRequest {
    pub(crate) verb: RunVerb,
    pub(crate) place: ServedPath,
    pub(crate) pace: Pace,
    /// Whether to bypass the page cache.
    pub(crate) from_media: bool,
    /// Only these files, by their paths from the root, which the place is then.
    pub(crate) listed: Option<Arc<[PathBuf]>>,
    /// Whether to accept any number of changes.
    pub(crate) accepts_many: bool,
}

impl RunRequest {
    /// Asks for a run at the usual pace.
    pub(crate) fn of(verb: RunVerb, place: ServedPath) -> RunRequest {
        RunRequest {
            verb,
            place,
            pace: Pace::Bicycle,
            from_media: false,
            listed: None,
            accepts_many: false,
        }
    }
}

/// Why a run was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunRefused {
    /// The run of this number is in the same folder, above or beneath it, or has the same
    /// catalogue.
    Overlaps(u64),
    /// The measurement of this number goes on, and the run would distort it.
    Measures(u64),
    /// The folder cannot be accessed any more.
    Gone,
    /// The system refused a thread.
    NoThread,
}

/// One run.
pub(crate) struct ServedRun {
    pub(crate) id: u64,
    pub(crate) request: RunRequest,
    /// The path as documents show it.
    pub(crate) shown: Arc<str>,
    pub(crate) begun: Timestamp,
    /// The catalogue that it writes to, found at the start without following links.
    catalogue: Option<PathBuf>,
    /// The options that every run has.
    usual: Options,
    findings: Mutex<Findings>,
    /// Changes its pace while it goes on.
    dial: Arc<LevelDial>,
    pub(crate) control: LiveControl<RunSnapshot>,
}

impl ServedRun {
    /// Returns the findings so far, locked.
    pub(crate) fn findings(&self) -> MutexGuard<'_, Findings> {
        lock(&self.findings)
    }

    /// Returns its present pace.
    pub(crate) fn pace(&self) -> Pace {
        self.dial.chosen().map_or(self.request.pace, Pace::of)
    }

    /// Changes its pace, from the next job of each thread on.
    pub(crate) fn set_pace(&self, pace: Pace) {
        self.dial.set(pace.level());
    }
}

/// The runs of this server.
pub(crate) type ServedRuns = ServedJobs<ServedRun>;

impl ServedJob for ServedRun {
    type Snapshot = RunSnapshot;

    const NAME: &'static str = "run";

    /// One with 4,000 findings takes about 3 MiB. The catalogues have all runs.
    const KEPT_MAX: usize = 6;

    fn control(&self) -> &LiveControl<RunSnapshot> {
        &self.control
    }

    fn unexplained() -> RunSnapshot {
        let end = Some(Arc::new(RunEnd::Failed(UNEXPLAINED.to_owned())));
        RunSnapshot { status: LiveStatus::Ended, end, ..RunSnapshot::default() }
    }
}

impl ServedJobs<ServedRun> {
    /// Starts a run, unless another run or a measurement is in its way. Waits for the disk.
    ///
    /// `usual` are the options that every run has.
    pub(crate) fn begin(
        &self,
        request: RunRequest,
        roots: &ServedRoots,
        measurements: &Measurements,
        usual: Options,
    ) -> Result<Arc<ServedRun>, RunRefused> {
        let root = roots.root(&request.place).map_err(|_| RunRefused::Gone)?;
        let path = roots.resolve(&request.place).map_err(|_| RunRefused::Gone)?;
        let catalogue = Catalogue::find_beneath(&root, &path);
        let selection = match &request.listed {
            Some(listed) => listed_in(listed, &root),
            None => selection_of(&request.place, &root, roots),
        };
        let mut list = self.list();
        let overlaps = |(_, run): &(u64, &Arc<ServedRun>)| {
            let shares = run.catalogue.is_some() && run.catalogue == catalogue;
            shares || roots.overlap(&run.request.place, &request.place)
        };
        let other = list.going().find(overlaps).map(|(id, _)| id);
        if let Some(other) = other {
            return Err(RunRefused::Overlaps(other));
        }
        if let Some(measurement) = measurements.going() {
            return Err(RunRefused::Measures(measurement));
        }
        let findings = Mutex::new(Findings::beneath(root.clone()));
        let make = |id| ServedRun {
            id,
            shown: roots.shown(&request.place).into(),
            begun: (Options::default().now)(),
            catalogue,
            usual,
            findings,
            dial: Arc::default(),
            control: LiveControl::default(),
            request,
        };
        let work = move |run: &ServedRun| {
            RunMonitor::new(run).execute(&selection, &path, &root);
            // Events and buffers of the run are free now.
            steadfast::process::give_back_memory();
        };
        list.begin(make, work).ok_or(RunRefused::NoThread)
    }

    /// Returns what the last run over a whole root found, if it has ended: of a folder without a
    /// catalogue, nothing else remembers that.
    pub(crate) fn found_in(&self, place: &ServedPath) -> Vec<Matter> {
        let is_of = |run: &Arc<ServedRun>| run.request.place == *place && run.control.is_over();
        let Some(run) = self.all().into_iter().find(is_of) else { return Vec::new() };
        if run.request.verb.accepts() {
            return Vec::new();
        }
        let counts = run.findings().counts();
        let of_kind = |(kind, files): (StateKind, u64)| {
            Some(Matter::of_files(Standing::of_file(kind.state()?)?, files))
        };
        counts.into_iter().filter_map(of_kind).collect()
    }

    /// Returns a run that goes on in a folder, above or beneath it.
    pub(crate) fn going_in(
        &self,
        place: &ServedPath,
        roots: &ServedRoots,
    ) -> Option<Arc<ServedRun>> {
        let list = self.list();
        let overlaps = |run: &&Arc<ServedRun>| roots.overlap(&run.request.place, place);
        list.going().map(|(_, run)| run).find(overlaps).map(Arc::clone)
    }
}

/// Returns these files beneath a root, each opened name by name.
pub(crate) fn listed_in(listed: &[PathBuf], root: &Path) -> Selection {
    Selection::default().with(|selection| {
        selection.listed = listed.iter().map(|path| root.join(path)).collect();
        selection.within = vec![root.to_owned()];
    })
}

/// Returns the files of a run. A path beneath a root is opened name by name, so that a link created
/// meanwhile leads nowhere.
pub(crate) fn selection_of(place: &ServedPath, root: &Path, roots: &ServedRoots) -> Selection {
    let path = roots.path(place);
    match place.is_root() {
        true => Selection::of([path]),
        false => listed_in(&[path], root),
    }
}

fn options_of(run: &ServedRun, catalogue: Option<PathBuf>) -> Options {
    run.usual.clone().with(|options| {
        options.qos = run.request.pace.level();
        options.reading.from =
            if run.request.from_media { ReadFrom::Media } else { ReadFrom::Cache };
        options.controls.stop = Arc::clone(&run.control.stop);
        options.controls.hold = Arc::clone(&run.control.hold);
        options.controls.dial = Arc::clone(&run.dial);
        options.survey = true;
        options.catalogue.choice = catalogue.map_or(CatalogueUse::Off, CatalogueUse::At);
    })
}
