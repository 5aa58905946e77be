//! Applies a level to a run, a program or another process: steps, processors, workers.
//!
//! Takes a level. Returns the steps taken, each with its outcome. The system calls are in
//! `steadfast_sys::qos`; this module chooses among them. It knows nothing of files and has no
//! state.

mod lower;
mod used;

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use steadfast_sys::{machine, qos};
use strum::{Display, IntoStaticStr};

pub use steadfast_sys::cores::{CoreClass, CoreSource, Cores, Knowledge, cpu_list};
pub use steadfast_sys::load::{CpuTime, cpu_times};
pub use steadfast_sys::qos::devices::{BlockDevice, Honours, block_devices};
pub use steadfast_sys::qos::launcher;
pub use steadfast_sys::qos::process::{
    LoweringPlan, Process, Reverted, ThreadChange, ThreadIdentity, ThreadTimes,
};
pub use steadfast_sys::qos::session::{Grouping, SignalledChild, end_with_parent, grouping};
pub use steadfast_sys::qos::{Fact, Level, Step};

pub use lower::{Lowered, Remember, Restored, lower, restore};
pub use used::CoresUsed;

/// A plain name for a level: how fast to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Pace {
    /// [`Level::Background`].
    Tortoise,
    /// [`Level::Utility`].
    Walk,
    /// [`Level::Default`].
    Bicycle,
    /// [`Level::UserInitiated`].
    Car,
    /// [`Level::UserInteractive`].
    RacingCar,
}

impl Pace {
    /// Every pace, the slowest first.
    pub const ALL: [Pace; 5] =
        [Pace::Tortoise, Pace::Walk, Pace::Bicycle, Pace::Car, Pace::RacingCar];

    /// Returns the pace that stands for a level.
    pub fn of(level: Level) -> Pace {
        match level {
            Level::Background => Pace::Tortoise,
            Level::Utility => Pace::Walk,
            Level::Default => Pace::Bicycle,
            Level::UserInitiated => Pace::Car,
            Level::UserInteractive => Pace::RacingCar,
        }
    }

    /// Returns the level of this pace.
    pub fn level(self) -> Level {
        match self {
            Pace::Tortoise => Level::Background,
            Pace::Walk => Level::Utility,
            Pace::Bicycle => Level::Default,
            Pace::Car => Level::UserInitiated,
            Pace::RacingCar => Level::UserInteractive,
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FromStr for Pace {
    type Err = ParsePaceError;

    fn from_str(text: &str) -> Result<Pace, ParsePaceError> {
        Pace::ALL.into_iter().find(|pace| pace.name() == text).ok_or(ParsePaceError(()))
    }
}

/// The error for a text that is not a pace, with the list of paces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsePaceError(());

impl fmt::Display for ParsePaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Pace::ALL.map(Pace::name);
        write!(f, "no such pace, there are: {}", names.join(", "))
    }
}

impl std::error::Error for ParsePaceError {}

/// Changes the level of a run while it goes on. Unset, the run keeps its own.
#[derive(Debug, Default)]
pub struct LevelDial(Mutex<Option<Level>>);

impl LevelDial {
    /// Sets the level for the run's threads from their next job on.
    pub fn set(&self, level: Level) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    /// Returns the level that was set last.
    pub fn chosen(&self) -> Option<Level> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The processors to which a level is confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// None: the level may use all.
    Free,
    /// These, of the slower types.
    To(Vec<usize>),
    /// The level would be confined, but the cores are alike or their types are unknown.
    NotPossible(Knowledge),
}

impl Confinement {
    /// Returns the confinement of a level on a machine: the lowest level is confined to the slower
    /// core types.
    pub fn of(level: Level, cores: &Cores) -> Confinement {
        match (level, cores.slower_cpus()) {
            (Level::Background, Some(cpus)) => Confinement::To(cpus),
            (Level::Background, None) => Confinement::NotPossible(cores.knowledge),
            _ => Confinement::Free,
        }
    }
}

/// Returns this machine's core types, read once.
pub fn cores() -> &'static Cores {
    static CORES: OnceLock<Cores> = OnceLock::new();
    CORES.get_or_init(Cores::of_machine)
}

/// Asks the system to run the calling thread at a level, and returns every step taken. Threads that
/// it starts afterwards inherit the level on Linux, and must ask for themselves on macOS.
///
/// The level cannot be undone. To return to the former level, call this in a separate thread.
pub fn enter(level: Level) -> Vec<Step> {
    with_confinement(qos::apply_to_thread(level), level)
}

/// Like [`enter`], for a program that this process is about to execute. Must be called from the
/// only thread.
pub fn enter_for_exec(level: Level) -> Vec<Step> {
    with_confinement(qos::apply_for_exec(level), level)
}

/// Confines the calling thread if the level requires it, and adds the step to those taken.
fn with_confinement(mut steps: Vec<Step>, level: Level) -> Vec<Step> {
    // Only this level is ever confined, and finding out the core types takes several reads.
    if level == Level::Background
        && let Confinement::To(cpus) = Confinement::of(level, cores())
    {
        steps.push(qos::confine_thread(&cpus));
    }
    steps
}

/// Returns whether a level has little effect while this process shares the processors with its
/// session. It then needs a session of its own, which [`lead_session`] makes.
pub fn wants_own_session(level: Level) -> bool {
    let shared = || grouping(Path::new("/"));
    // A session with a lower share was given it deliberately.
    level < Level::Default && matches!(shared(), Grouping::Session { nice: ..=0 })
}

/// Makes this process the leader of a new session with the level's share of the processors.
pub fn lead_session(level: Level) -> Vec<Step> {
    qos::session::lead(level)
}

/// Returns the default number of threads that hash at a level: one for each processor that it may
/// use.
///
/// If there are two, both are used: an Apple M1 Pro runs its two efficiency cores at half their
/// frequency for a single thread in the background.
pub fn workers(level: Level) -> usize {
    workers_among(level, machine::logical_cpus())
}

/// Returns the same for a process that may use this many processors. Looks up the core types only
/// if they matter.
pub(crate) fn workers_among(level: Level, logical: usize) -> usize {
    match level {
        Level::Background => workers_of(level, cores(), logical),
        _ => logical,
    }
}

/// Returns the same for a machine with these core types, for a process that may use this many
/// processors.
pub fn workers_of(level: Level, cores: &Cores, logical: usize) -> usize {
    let slower: usize = cores.slower().iter().map(|class| class.logical).sum();
    match level {
        Level::Background if slower > 0 => slower.min(logical).max(1),
        _ => logical,
    }
}

/// What a machine supports for levels.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The processor's model.
    pub cpu_model: String,
    /// Its core types.
    pub cores: Cores,
    /// Whether the kernel accepts a utilisation clamp, if the system has one.
    pub uclamp: Option<bool>,
    /// The group of processes with which this process shares the processors.
    pub grouping: Grouping,
    /// The block devices and how they treat I/O priorities.
    pub devices: Vec<BlockDevice>,
    /// The state of the calling thread.
    pub thread: Vec<Fact>,
}

impl Offer {
    /// Determines what this machine supports.
    pub fn of_machine() -> Offer {
        let root = Path::new("/");
        Offer {
            cpu_model: machine::cpu_model(),
            cores: cores().clone(),
            uclamp: qos::has_uclamp(root),
            grouping: grouping(root),
            devices: block_devices(root),
            thread: qos::thread_facts(),
        }
    }
}

/// The result of trying a level.
#[derive(Debug)]
pub struct Trial {
    /// The level.
    pub level: Level,
    /// The steps requested, with their outcomes.
    pub steps: Vec<Step>,
    /// The processors to which it is confined.
    pub confinement: Confinement,
    /// How many threads would hash.
    pub workers: usize,
    /// The state of the thread afterwards.
    pub thread: Vec<Fact>,
}

impl Trial {
    /// Tries a level in a separate thread that then ends, so that nothing else is affected.
    pub fn of(level: Level) -> Trial {
        let tried =
            thread::scope(|scope| scope.spawn(|| (enter(level), qos::thread_facts())).join());
        let (steps, thread) = tried.expect("taking a level panics nowhere");
        let confinement = Confinement::of(level, cores());
        Trial { level, steps, confinement, workers: workers(level), thread }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns four fast processors, and then classes of the given sizes.
    fn machine(slower: &[usize]) -> Cores {
        let mut first = 0;
        let classes = [4].iter().chain(slower).map(|&logical| {
            let cpus = (first..first + logical).collect();
            first += logical;
            let (physical, capacity, frequency_khz_max) = (None, None, None);
            let name = format!("{logical} from {}", first - logical);
            CoreClass { name, cpus, logical, physical, capacity, frequency_khz_max }
        });
        let classes: Vec<CoreClass> = classes.collect();
        let knowledge = if slower.is_empty() { Knowledge::OneType } else { Knowledge::Types };
        Cores { knowledge, classes, source: Some(CoreSource::Named), logical: first }
    }

    #[test]
    fn five_paces_are_the_five_levels() {
        assert_eq!(Pace::ALL.map(Pace::level), Level::ALL);
        assert_eq!(Level::ALL.map(Pace::of), Pace::ALL);
        for pace in Pace::ALL {
            assert_eq!(pace.to_string().parse(), Ok(pace));
        }
        let error = "Tortoise".parse::<Pace>().unwrap_err().to_string();
        assert_eq!(error, "no such pace, there are: tortoise, walk, bicycle, car, racing-car");
    }

    #[test]
    fn the_background_has_the_slower_processors_and_others_have_all() {
        let two = machine(&[4]);
        assert_eq!(Confinement::of(Level::Background, &two), Confinement::To(vec![4, 5, 6, 7]));
        for level in &Level::ALL[1..] {
            assert_eq!(Confinement::of(*level, &two), Confinement::Free);
        }
        let three = machine(&[3, 1]);
        assert_eq!(Confinement::of(Level::Background, &three), Confinement::To(vec![4, 5, 6, 7]));
        let one = Confinement::of(Level::Background, &machine(&[]));
        assert_eq!(one, Confinement::NotPossible(Knowledge::OneType));
    }

    #[test]
    fn the_background_has_two_workers_where_there_are_two_slow_processors() {
        for (slower, logical, workers) in [
            (&[4][..], 8, 4),
            (&[2], 6, 2),
            (&[8, 2], 14, 2),
            (&[1], 5, 1),
            (&[3, 1], 8, 4),
            // A process may use only some of them, in a container or after an earlier confinement.
            (&[4], 2, 2),
            (&[4], 1, 1),
            (&[], 4, 4),
        ] {
            let cores = machine(slower);
            assert_eq!(workers_of(Level::Background, &cores, logical), workers, "{slower:?}");
            assert_eq!(workers_of(Level::Utility, &cores, logical), logical);
        }
    }

    #[test]
    fn trying_a_level_sticks_to_nothing() {
        let before = qos::thread_facts();
        for level in Level::ALL {
            let trial = Trial::of(level);
            assert_eq!(trial.steps.is_empty(), level == Level::Default);
            assert_eq!(trial.thread == before, level == Level::Default, "{level}");
            assert!(trial.workers > 0);
        }
        assert_eq!(qos::thread_facts(), before);
    }
}
