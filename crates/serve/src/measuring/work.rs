//! What pages offer to measure, and the workload behind each.

use steadfast_measure::record::Order;
use steadfast_measure::scratch::by_chance;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::cipher::{Cipher, Task, WorkerCommand};
use steadfast_measure::workload::cpu::Cpu;
use steadfast_measure::workload::hash::{Hash, Part};
use steadfast_measure::workload::queue::Queue;
use steadfast_measure::workload::read::{Read, Source, Way};
use steadfast_measure::workload::storage::plan::{Plan, Profile as Lengths};
use steadfast_measure::workload::write::Write;

use super::MeasureAsk;

/// What can be measured here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Kernels,
    Hash,
    Read,
    Write,
    Queue,
    Cpu,
    Cipher,
}

impl Work {
    /// Every one, in the order in which they are offered: those that write nothing first.
    pub(crate) const ALL: [Work; 7] =
        [Work::Kernels, Work::Cpu, Work::Hash, Work::Read, Work::Write, Work::Queue, Work::Cipher];

    /// Returns the name as addresses and commands have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Work::Kernels => "kernels",
            Work::Hash => "hash",
            Work::Read => "read",
            Work::Write => "write",
            Work::Queue => "queue",
            Work::Cpu => "cpu",
            Work::Cipher => "cipher",
        }
    }

    /// Finds one by its name.
    pub(crate) fn named(name: &str) -> Option<Work> {
        Work::ALL.into_iter().find(|work| work.name() == name)
    }

    /// Says whether it makes files.
    pub(crate) fn makes_files(self) -> bool {
        !matches!(self, Work::Kernels | Work::Cpu)
    }
}

/// How thoroughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Quick,
    Small,
    Standard,
}

impl Profile {
    /// Every one, in the order in which they are offered.
    pub(crate) const ALL: [Profile; 3] = [Profile::Quick, Profile::Small, Profile::Standard];

    /// Returns the name as addresses have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Profile::Quick => "quick",
            Profile::Small => "small",
            Profile::Standard => "standard",
        }
    }

    /// Finds one by its name.
    pub(crate) fn named(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// Says whether something can be measured: ciphers want a program to be started.
pub(crate) fn is_offered(work: Work, worker: Option<&WorkerCommand>) -> bool {
    work != Work::Cipher || worker.is_some()
}

/// Writes what one would type for the same, as far as it can be typed.
pub(super) fn command_of(ask: &MeasureAsk) -> Vec<String> {
    let mut words = vec!["steadfast".to_owned(), "measure".to_owned()];
    match ask.work {
        Work::Kernels => words.extend(["hash", "--part", "kernels"].map(str::to_owned)),
        work => words.push(work.name().to_owned()),
    }
    match ask.profile {
        Profile::Quick => words.push("--quick".to_owned()),
        Profile::Small if matches!(ask.work, Work::Read | Work::Write) => {
            words.extend(["--profile", "small"].map(str::to_owned));
        }
        _ => {}
    }
    if ask.work.makes_files() {
        words.push(ask.folder.to_string_lossy().into_owned());
    }
    words
}

/// Makes the workload; `None` if it is not offered.
pub(super) fn workload(
    ask: &MeasureAsk,
    worker: Option<&WorkerCommand>,
) -> Option<Box<dyn Workload + Send>> {
    let seed = by_chance();
    let quick = ask.profile == Profile::Quick;
    let folder = ask.folder.clone();
    Some(match ask.work {
        Work::Kernels | Work::Hash => {
            let hash = if quick { Hash::quick(folder, seed) } else { Hash::standard(folder, seed) };
            match ask.work {
                Work::Kernels => Box::new(Hash { parts: vec![Part::Kernels], ..hash }),
                _ => Box::new(hash),
            }
        }
        Work::Read => {
            let source = Source::Own(plan(ask.profile, seed));
            let ways = vec![Way::Cold, Way::Direct];
            Box::new(Read { folder, source, ways, order: Order::Written })
        }
        Work::Write => {
            Box::new(Write { folder, plan: plan(ask.profile, seed), order: Order::Written })
        }
        Work::Queue if quick => Box::new(Queue::quick(folder, seed)),
        Work::Queue => Box::new(Queue::standard(folder, seed)),
        Work::Cpu => Box::new(if quick { Cpu::quick(seed) } else { Cpu::standard(seed) }),
        Work::Cipher => {
            let worker = worker?.clone();
            let task = Some(if quick { Task::quick(folder) } else { Task::standard(folder) });
            Box::new(match quick {
                true => Cipher::quick(worker, task, seed),
                false => Cipher::standard(worker, task, seed),
            })
        }
    })
}

fn plan(profile: Profile, seed: u64) -> Plan {
    let lengths = match profile {
        Profile::Quick => Lengths::Quick,
        Profile::Small => Lengths::Small,
        Profile::Standard => Lengths::Standard,
    };
    Plan::new(lengths, seed)
}
