//! The kinds of measurements that pages offer, and the workload of each.

use steadfast_measure::record::Order;
use steadfast_measure::scratch::by_chance;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::cipher::{Cipher, Task, WorkerCommand};
use steadfast_measure::workload::cpu::Cpu;
use steadfast_measure::workload::hash::{Hash, Part};
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
    Cipher,
    Kernels,
    Queue,
    Cpu,
}

impl MeasureKind {
    /// Returns the name in addresses and commands.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether it creates files.
    pub(crate) fn makes_files(self) -> bool {
        !matches!(self, MeasureKind::Kernels | MeasureKind::Cpu)
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

/// Returns whether a kind can be measured. Ciphers need a worker process.
pub(crate) fn is_offered(work: MeasureKind, worker: Option<&WorkerCommand>) -> bool {
    work != MeasureKind::Cipher || worker.is_some()
}

/// Writes the command line of the same measurement, or of the nearest one.
pub(super) fn command_of(request: &MeasureRequest) -> Vec<String> {
    let mut words = vec!["steadfast".to_owned(), "measure".to_owned()];
    match request.kind {
        MeasureKind::Kernels => words.extend(["hash", "--part", "kernels"].map(str::to_owned)),
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
        words.push(request.folder.to_string_lossy().into_owned());
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
        MeasureKind::Kernels | MeasureKind::Hash => {
            let hash = if quick { Hash::quick(folder, seed) } else { Hash::standard(folder, seed) };
            match request.kind {
                MeasureKind::Kernels => Box::new(Hash { parts: vec![Part::Kernels], ..hash }),
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
        MeasureKind::Cpu => Box::new(if quick { Cpu::quick(seed) } else { Cpu::standard(seed) }),
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
