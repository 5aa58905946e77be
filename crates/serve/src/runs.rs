//! The runs of this server: begun by one page, seen by all, ended by nobody who merely leaves.
//!
//! In: what a page asks for. Out: runs, each in a thread of its own, that tell their state some
//! times a second. Memory is bounded: of a run its findings up to a number, of past runs the last.

mod cores;
mod ended;
mod findings;
mod listener;
mod state;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use steadfast::catalogue::Catalogue;
use steadfast::qos::Pace;
use steadfast::{CatalogueUse, Options, ReadFrom, Selection, Timestamp};
use tokio::sync::watch;

pub(crate) use cores::CoreHistory;
pub(crate) use ended::Ended;
pub(crate) use findings::{Finding, Findings, Wanted};
pub(crate) use state::{Row, Stand, State};

use crate::app::App;
use crate::roots::{Place, Roots};
use listener::Listener;

/// Runs that are remembered: those that go on, and the last that ended.
const RUNS_MAX: usize = 24;

/// What a run is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Tag,
    Check,
    Update,
    Init,
}

impl Verb {
    /// Every verb, in the order in which they are offered.
    pub(crate) const ALL: [Verb; 4] = [Verb::Tag, Verb::Check, Verb::Update, Verb::Init];

    /// Returns the name as the command has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verb::Tag => "tag",
            Verb::Check => "check",
            Verb::Update => "update",
            Verb::Init => "init",
        }
    }

    /// Finds the verb of a name.
    pub(crate) fn named(name: &str) -> Option<Verb> {
        Verb::ALL.into_iter().find(|verb| verb.name() == name)
    }
}

/// What a page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) verb: Verb,
    pub(crate) place: Place,
    pub(crate) pace: Pace,
    /// Whether to read past the page cache.
    pub(crate) from_media: bool,
}

/// Why a run was not begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A run goes on in the same folder, above or beneath, or with the same catalogue.
    Overlaps(u64),
    /// A measurement goes on, which the run would spoil.
    Measures(u64),
    /// The folder cannot be looked at any more.
    Gone,
    /// The system gives no thread.
    NoThread,
}

/// One run, going on or ended.
pub(crate) struct Run {
    pub(crate) id: u64,
    pub(crate) ask: Ask,
    /// The place as documents show it.
    pub(crate) shown: Arc<str>,
    pub(crate) begun: Timestamp,
    /// The catalogue that it writes to, found once and by names alone.
    catalogue: Option<PathBuf>,
    /// The list of catalogued trees.
    trees: Option<PathBuf>,
    pub(crate) findings: Mutex<Findings>,
    stop: Arc<AtomicBool>,
    hold: Arc<AtomicBool>,
    states: watch::Sender<Arc<State>>,
}

impl Run {
    /// Returns its latest state.
    pub(crate) fn state(&self) -> Arc<State> {
        Arc::clone(&self.states.borrow())
    }

    /// Returns its states as they come.
    pub(crate) fn states(&self) -> watch::Receiver<Arc<State>> {
        self.states.subscribe()
    }

    /// Says whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.states.borrow().ended.is_some()
    }

    /// Holds it, or lets it go on.
    pub(crate) fn hold(&self, held: bool) {
        self.hold.store(held, Ordering::Relaxed);
    }

    /// Ends it early.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Says how it stands by what it was told last.
    pub(crate) fn stand(&self) -> Stand {
        match (self.is_over(), &self.stop, &self.hold) {
            (true, ..) => Stand::Over,
            (_, stop, _) if stop.load(Ordering::Relaxed) => Stand::Stopping,
            (.., hold) if hold.load(Ordering::Relaxed) => Stand::Held,
            _ => Stand::Going,
        }
    }

    fn tell(&self, state: State) {
        self.states.send_replace(Arc::new(state));
    }
}

/// The runs of this server.
#[derive(Default)]
pub(crate) struct Runs(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    last: u64,
    /// The first one first.
    runs: VecDeque<Arc<Run>>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Runs {
    /// Begins a run. It waits for the disk.
    pub(crate) fn begin(&self, ask: Ask, app: &App) -> Result<Arc<Run>, Refused> {
        let roots = &app.roots;
        let root = roots.root(&ask.place).map_err(|_| Refused::Gone)?;
        let path = roots.resolve(&ask.place).map_err(|_| Refused::Gone)?;
        let catalogue = Catalogue::find_beneath(root, &path);
        let selection = selection_of(&ask, root, roots);
        let mut kept = self.kept();
        let in_the_way = |run: &&Arc<Run>| {
            let shares = run.catalogue.is_some() && run.catalogue == catalogue;
            !run.is_over() && (shares || roots.overlap(&run.ask.place, &ask.place))
        };
        if let Some(other) = kept.runs.iter().find(in_the_way) {
            return Err(Refused::Overlaps(other.id));
        }
        if let Some(measurement) = app.measurements.going() {
            return Err(Refused::Measures(measurement));
        }
        kept.last += 1;
        let run = Arc::new(Run {
            id: kept.last,
            shown: roots.shown(&ask.place).into(),
            begun: (Options::default().now)(),
            catalogue,
            trees: app.config.trees.clone(),
            findings: Mutex::default(),
            stop: Arc::default(),
            hold: Arc::default(),
            states: watch::Sender::new(Arc::default()),
            ask,
        });
        let of_thread = Arc::clone(&run);
        let spawned = thread::Builder::new().name(format!("run {}", run.id)).spawn(move || {
            let listener = Listener::new(&of_thread);
            listener.carry_out(&selection, &path);
        });
        kept.threads.retain(|thread| !thread.is_finished());
        kept.threads.push(spawned.map_err(|_| Refused::NoThread)?);
        kept.runs.push_back(Arc::clone(&run));
        if kept.runs.len() > RUNS_MAX
            && let Some(oldest) = kept.runs.iter().position(|run| run.is_over())
        {
            kept.runs.remove(oldest);
        }
        Ok(run)
    }

    /// Finds a run by its number.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<Run>> {
        self.kept().runs.iter().find(|run| run.id == id).cloned()
    }

    /// Returns all that are remembered, the latest first.
    pub(crate) fn all(&self) -> Vec<Arc<Run>> {
        self.kept().runs.iter().rev().cloned().collect()
    }

    /// Says whether one goes on.
    pub(crate) fn any_going(&self) -> bool {
        self.kept().runs.iter().any(|run| !run.is_over())
    }

    /// Tells all to stop and waits for them.
    pub(crate) fn end_all(&self) {
        let threads = {
            let mut kept = self.kept();
            kept.runs.iter().for_each(|run| run.stop());
            std::mem::take(&mut kept.threads)
        };
        for thread in threads {
            // A run that failed has said so where it was looked at.
            let _ = thread.join();
        }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what files a run is about. What a browser chose beneath a root is reached by names
/// alone, so that a link that is planted meanwhile leads nowhere.
fn selection_of(ask: &Ask, root: &Path, roots: &Roots) -> Selection {
    let path = roots.path(&ask.place);
    match ask.place.below.as_os_str().is_empty() {
        true => Selection { roots: vec![path], ..Selection::default() },
        false => {
            Selection { listed: vec![path], within: Some(root.to_owned()), ..Selection::default() }
        }
    }
}

/// Returns how a run is carried out.
fn options_of(run: &Run) -> Options {
    Options {
        qos: run.ask.pace.level(),
        read_from: if run.ask.from_media { ReadFrom::Media } else { ReadFrom::Cache },
        stop: Arc::clone(&run.stop),
        hold: Arc::clone(&run.hold),
        trees: run.trees.clone(),
        survey: true,
        catalogue: run.catalogue.clone().map_or(CatalogueUse::Off, CatalogueUse::At),
        ..Options::default()
    }
}
