//! Figures of `measure cipher`: rates with and without instructions, gains, and their effect on a
//! task.
//!
//! A gain is attributed to instructions only if the algorithm uses them. The gains of all other
//! algorithms show whether something else changed as well.

use super::{Curve, curves};
use crate::record::{Isa, Record, Sample, Stage, Workload};
use crate::stats::{Amdahl, Figure, median};
use crate::workload::cipher::kernels::{self, Uses};

/// Algorithms without any of the masked instructions may differ by this share.
pub const UNTOUCHED_SHARE: f64 = 0.1;

/// Figures from the series of `measure cipher`.
#[derive(Clone, Debug, PartialEq)]
pub struct CipherFigures<'a> {
    /// In memory: each algorithm and operation, in the order of the record.
    pub rows: Vec<CipherRow<'a>>,
    /// Instruction sets, in the order of the record, with the words that prove them.
    pub isas: Vec<(Isa, &'a str)>,
    /// A file, with all instructions and with fewer.
    pub tasks: Vec<Curve<'a>>,
    /// The time in the cipher within those tasks.
    within: Vec<Curve<'a>>,
}

/// One algorithm and operation: a curve for each instruction set.
#[derive(Clone, Debug, PartialEq)]
pub struct CipherRow<'a> {
    /// By instruction set, the largest first.
    pub curves: Vec<Curve<'a>>,
}

/// The gain of all instructions over a smaller set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// The smaller set.
    pub without: Isa,
    /// The gain.
    pub gain: Figure,
    /// Whether the algorithm uses an instruction that the set lacks. Only then do the instructions
    /// explain the gain.
    pub by_instructions: bool,
}

/// Why a task gained less than its cipher.
#[derive(Clone, Debug, PartialEq)]
pub struct GainAccount<'a> {
    /// The cipher.
    pub algorithm: &'a str,
    /// The smaller instruction set.
    pub without: Isa,
    /// How many times faster the cipher is in memory.
    pub kernel_gain: Figure,
    /// How many times faster the task is.
    pub task_gain: Figure,
    /// Share of the slow task that the cipher must have had, and the highest possible gain of the
    /// task; absent if the task gained more than its cipher, which no share explains.
    pub amdahl: Option<Amdahl>,
    /// Measured share of the cipher in the slow task.
    pub measured_share: Option<Figure>,
}

/// Derives figures from a record; `None` if it has no ciphers.
pub fn of(record: &Record) -> Option<CipherFigures<'_>> {
    let all = curves(record, Workload::Cipher);
    let mut isas: Vec<(Isa, &str)> = Vec::new();
    for curve in &all {
        if !isas.iter().any(|known| known.0 == isa(curve)) {
            isas.push((isa(curve), curve.factors.capabilities.as_deref().unwrap_or_default()));
        }
    }
    isas.sort_by_key(|(isa, _)| *isa as u8);
    let (is_empty, mut rows) = (all.is_empty(), Vec::<CipherRow<'_>>::new());
    let (mut tasks, mut within) = (Vec::new(), Vec::new());
    for curve in all {
        match (curve.factors.stage, curve.series.place) {
            (Some(Stage::EncryptFile), _) => tasks.push(curve),
            // What is measured in memory has no folder.
            (_, Some(_)) => within.push(curve),
            (None, _) => {}
            (Some(stage), None) => {
                let same = |row: &&mut CipherRow<'_>| row.is(curve.algorithm(), stage);
                match rows.iter_mut().find(same) {
                    Some(row) => row.curves.push(curve),
                    None => rows.push(CipherRow { curves: vec![curve] }),
                }
            }
        }
    }
    rows.iter_mut().for_each(|row| row.curves.sort_by_key(|curve| isa(curve) as u8));
    (!is_empty).then_some(CipherFigures { rows, isas, tasks, within })
}

/// Returns the instruction set of a curve.
pub fn isa(curve: &Curve<'_>) -> Isa {
    curve.factors.isa.unwrap_or(Isa::Full)
}

impl<'a> CipherRow<'a> {
    /// Returns the first curve, which stands for the algorithm, the operation and the unit.
    pub fn first(&self) -> &Curve<'a> {
        &self.curves[0]
    }

    /// Returns the curve of an instruction set.
    pub fn with(&self, wanted: Isa) -> Option<&Curve<'a>> {
        self.curves.iter().find(|curve| isa(curve) == wanted)
    }

    fn is(&self, algorithm: &str, stage: Stage) -> bool {
        (self.first().algorithm(), self.first().factors.stage) == (algorithm, Some(stage))
    }

    /// Returns the gain of all instructions over a smaller set.
    pub fn gain(&self, without: Isa) -> Option<Gain> {
        let gain = self.with(Isa::Full)?.ratio(self.with(without)?);
        let uses = kernels::uses(self.first().algorithm());
        let gain = gain.filter(|_| without != Isa::Full)?;
        Some(Gain { without, gain, by_instructions: lacks(uses, without) })
    }

    /// Returns the gains over each smaller set.
    pub fn gains(&self) -> impl Iterator<Item = Gain> {
        self.curves.iter().filter_map(|curve| self.gain(isa(curve)))
    }
}

/// Returns whether an instruction set lacks any instruction of an algorithm.
fn lacks(uses: Uses, isa: Isa) -> bool {
    match isa {
        Isa::Full => false,
        Isa::NoAes => uses.aes,
        Isa::NoSha => uses.sha,
        Isa::Baseline => uses.aes || uses.carry_less || uses.sha,
    }
}

impl<'a> CipherFigures<'a> {
    /// Returns the name of the library.
    pub fn library(&self) -> &'a str {
        let rows = self.rows.iter().map(CipherRow::first);
        rows.chain(&self.tasks).next().map_or("", Curve::backend)
    }

    /// Returns the gains that instructions explain, each over the set that lacks one kind of them.
    pub fn explained(&self) -> impl Iterator<Item = (&CipherRow<'a>, Gain)> {
        let gains = self.rows.iter().flat_map(|row| row.gains().map(move |gain| (row, gain)));
        gains.filter(|(_, gain)| gain.by_instructions && gain.without != Isa::Baseline)
    }

    /// Returns the median gain of all algorithms that cannot profit, by instruction set: 1 if
    /// nothing else changed.
    pub fn untouched(&self) -> Vec<(Isa, f64)> {
        let of = |isa: Isa| {
            let gains = self.rows.iter().filter_map(|row| row.gain(isa));
            let gains = gains.filter(|gain| !gain.by_instructions).map(|gain| gain.gain.value);
            median(&gains.collect::<Vec<f64>>()).map(|gain| (isa, gain))
        };
        [Isa::NoAes, Isa::NoSha, Isa::Baseline].into_iter().filter_map(of).collect()
    }

    /// Returns the share of a task's time in the cipher, measured within the task.
    pub fn cipher_share(&self, task: &Curve<'_>) -> Option<Figure> {
        let belongs = |within: &&Curve<'_>| {
            let of = |curve: &Curve<'_>| (isa(curve), curve.algorithm() == task.algorithm());
            within.factors.stage == Some(Stage::Encrypt) && of(within) == of(task)
        };
        let within = self.within.iter().find(belongs)?.series;
        let share =
            |(within, task): (&Sample, &Sample)| within.elapsed_ns as f64 / task.elapsed_ns as f64;
        Figure::of_rounds(&within.paired(task.series).map(share).collect::<Vec<f64>>())
    }

    /// Returns the account of the task's gain.
    pub fn account(&self) -> Option<GainAccount<'a>> {
        let fast = self.tasks.iter().find(|task| isa(task) == Isa::Full)?;
        let slow = self.tasks.iter().find(|task| isa(task) != Isa::Full)?;
        let row = self.rows.iter().find(|row| row.is(fast.algorithm(), Stage::Encrypt))?;
        let kernel_gain = row.gain(isa(slow))?.gain;
        let task_gain = fast.ratio(slow)?;
        Some(GainAccount {
            algorithm: fast.algorithm(),
            without: isa(slow),
            kernel_gain,
            task_gain,
            amdahl: Amdahl::of(kernel_gain.value, task_gain.value),
            measured_share: self.cipher_share(slow),
        })
    }
}
