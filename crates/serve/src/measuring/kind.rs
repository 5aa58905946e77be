//! The kinds of measurements that pages offer, and the workload of each.

use std::num::NonZero;

use steadfast::Level;
use steadfast_measure::record::{Order, Side};
use steadfast_measure::scratch::by_chance;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::cipher::{Cipher, Task, WorkerCommand};
use steadfast_measure::workload::cpu::Cpu;
use steadfast_measure::workload::hash::{Hash, Part};
use steadfast_measure::workload::pair::Pair;
use steadfast_measure::workload::queue::Queue;
use steadfast_measure::workload::read::{Read, Way};
use steadfast_measure::workload::storage::plan::{Plan, Profile as Lengths};
use steadfast_measure::workload::write::Write;
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::MeasureRequest;

/// A kind of measurement, in the order of the form: what most people want to know comes first.
#[derive(Clone, Copy, Debug, EnumString, IntoStaticStr, PartialEq, Eq, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum MeasureKind {
    Hash,
    Read,
    Write,
    Pair,
    Cipher,
    Levels,
    Contention,
    Cpu,
    Kernels,
    Queue,
}

impl MeasureKind {
    /// Returns the name in addresses and commands.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether it creates files.
    pub(crate) fn makes_files(self) -> bool {
        !matches!(self, MeasureKind::Kernels | MeasureKind::Cpu | MeasureKind::Contention)
    }
}

/// How thorough a measurement is, in the order of the form.
#[derive(Clone, Copy, Debug, EnumString, IntoStaticStr, PartialEq, Eq, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum MeasureProfile {
    Quick,
    Small,
    Standard,
}

impl MeasureProfile {
    /// Returns the name in addresses.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}

/// The levels that are compared with each other: the extremes differ most.
const LEVELS: [Level; 2] = [Level::Background, Level::UserInteractive];

/// Returns whether a kind can be measured: ciphers need a worker process, a pair two folders.
pub(crate) fn is_offered(
    work: MeasureKind,
    worker: Option<&WorkerCommand>,
    folders: usize,
) -> bool {
    match work {
        MeasureKind::Cipher => worker.is_some(),
        MeasureKind::Pair => folders > 1,
        _ => true,
    }
}

/// Writes the command line of the same measurement, or of the nearest one.
pub(super) fn command_of(request: &MeasureRequest) -> Vec<String> {
    let mut words = vec!["steadfast".to_owned(), "measure".to_owned()];
    match request.kind {
        MeasureKind::Kernels => words.extend(["hash", "--part", "kernels"].map(str::to_owned)),
        MeasureKind::Levels => {
            let levels = LEVELS.map(|level| level.to_string()).join(",");
            words.extend(["hash", "--part", "sizes", "--qos", &levels].map(str::to_owned));
        }
        MeasureKind::Contention => {
            let levels = LEVELS.map(|level| level.to_string()).join(",");
            let options = ["cpu", "--mixed", "--threads", "1", "--qos", &levels];
            words.extend(options.map(str::to_owned));
        }
        work => words.push(work.name().to_owned()),
    }
    match request.profile {
        MeasureProfile::Quick => words.push("--quick".to_owned()),
        MeasureProfile::Small if matches!(request.kind, MeasureKind::Read | MeasureKind::Write) => {
            words.extend(["--profile", "small"].map(str::to_owned));
        }
        _ => {}
    }
    if request.kind.makes_files() {
        let folders = std::iter::once(&request.folder).chain(&request.beside);
        words.extend(folders.map(|folder| folder.to_string_lossy().into_owned()));
    }
    words
}

/// Makes the workload. Returns `None` if it is not offered.
pub(super) fn workload(
    request: &MeasureRequest,
    worker: Option<&WorkerCommand>,
) -> Option<Box<dyn Workload + Send>> {
    let seed = by_chance();
    let quick = request.profile == MeasureProfile::Quick;
    let folder = request.folder.clone();
    Some(match request.kind {
        MeasureKind::Kernels | MeasureKind::Hash | MeasureKind::Levels => {
            let hash = if quick { Hash::quick(folder, seed) } else { Hash::standard(folder, seed) };
            match request.kind {
                MeasureKind::Kernels => Box::new(Hash { parts: vec![Part::Kernels], ..hash }),
                MeasureKind::Levels => Box::new(Hash {
                    parts: vec![Part::Sizes],
                    levels: LEVELS.to_vec(),
                    size_levels: LEVELS.to_vec(),
                    ..hash
                }),
                _ => Box::new(hash),
            }
        }
        MeasureKind::Read => {
            let files = plan(request.profile, seed);
            let ways = vec![Way::Cold, Way::Direct];
            Box::new(Read { folder, files, ways, order: Order::Written })
        }
        MeasureKind::Write => {
            Box::new(Write { folder, plan: plan(request.profile, seed), order: Order::Written })
        }
        MeasureKind::Queue if quick => Box::new(Queue::quick(vec![folder], seed)),
        MeasureKind::Queue => Box::new(Queue::standard(vec![folder], seed)),
        MeasureKind::Pair => {
            let folders = vec![(Side::A, folder), (Side::B, request.beside.clone()?)];
            Box::new(match quick {
                true => Pair::quick(folders, seed),
                false => Pair::standard(folders, seed),
            })
        }
        MeasureKind::Cpu | MeasureKind::Contention => {
            let cpu = if quick { Cpu::quick(seed) } else { Cpu::standard(seed) };
            Box::new(match request.kind {
                MeasureKind::Contention => Cpu {
                    levels: LEVELS.to_vec(),
                    threads: vec![NonZero::<u32>::MIN],
                    mixed: true,
                    ..cpu
                },
                _ => cpu,
            })
        }
        MeasureKind::Cipher => {
            let worker = worker?.clone();
            let task = Some(if quick { Task::quick(folder) } else { Task::standard(folder) });
            Box::new(match quick {
                true => Cipher::quick(worker, task, seed),
                false => Cipher::standard(worker, task, seed),
            })
        }
    })
}

fn plan(profile: MeasureProfile, seed: u64) -> Plan {
    let lengths = match profile {
        MeasureProfile::Quick => Lengths::Quick,
        MeasureProfile::Small => Lengths::Small,
        MeasureProfile::Standard => Lengths::Standard,
    };
    Plan::new(lengths, seed)
}
