//! Figures of `measure cipher`: rates with and without instructions, gains, and their effect on a
//! task.
//!
//! A gain is attributed to instructions only if the algorithm uses them. The gains of all other
//! algorithms show whether something else changed as well.

use super::hash::{Elapsed, Figure};
use crate::record::{Isa, Record, Sample, Series, Stage, Unit, Workload};
use crate::stats::{Amdahl, median};
use crate::workload::cipher::kernels::{self, Uses};

/// Algorithms without any of the masked instructions may differ by this share.
pub const UNTOUCHED_SHARE: f64 = 0.1;

/// Figures from the series of `measure cipher`.
#[derive(Clone, Debug, PartialEq)]
pub struct CipherFigures {
    /// In memory: each algorithm and operation, in the order of the record.
    pub rows: Vec<CipherRow>,
    /// Instruction sets, in the order of the record, with the words that prove them.
    pub isas: Vec<(Isa, String)>,
    /// The library.
    pub library: String,
    /// Gain of all algorithms that cannot profit, by instruction set: 1 if nothing else changed.
    pub untouched: Vec<(Isa, f64)>,
    /// A file, with all instructions and with fewer.
    pub tasks: Vec<TaskRate>,
    /// The account of the task's gain.
    pub account: Option<GainAccount>,
}

/// One algorithm and operation.
#[derive(Clone, Debug, PartialEq)]
pub struct CipherRow {
    /// The algorithm's name.
    pub algorithm: String,
    /// The operation.
    pub stage: Stage,
    /// The unit.
    pub unit: Unit,
    /// Rate per second by instruction set, by processor time.
    pub rates: Vec<(Isa, Figure)>,
    /// The elapsed time with all instructions.
    pub elapsed: Option<Elapsed>,
    /// Gains of all instructions over each smaller set.
    pub gains: Vec<Gain>,
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

/// The encryption of a file into another.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRate {
    /// Its cipher.
    pub algorithm: String,
    /// Its instruction set.
    pub isa: Isa,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes per second.
    pub rate: Figure,
    /// Share of the task's time in the cipher, measured within the task.
    pub cipher_share: Option<Figure>,
}

/// Why a task gained less than its cipher.
#[derive(Clone, Debug, PartialEq)]
pub struct GainAccount {
    /// The cipher.
    pub algorithm: String,
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
pub fn of(record: &Record) -> Option<CipherFigures> {
    let all: Vec<&Series> =
        record.series.iter().filter(|series| series.workload == Workload::Cipher).collect();
    let first = all.first()?;
    let mut isas: Vec<(Isa, String)> = Vec::new();
    for series in &all {
        let isa = isa(series);
        if !isas.iter().any(|known| known.0 == isa) {
            isas.push((isa, series.factors.capabilities.clone().unwrap_or_default()));
        }
    }
    isas.sort_by_key(|(isa, _)| *isa as u8);
    let rows = rows(&all);
    let tasks: Vec<TaskRate> = all
        .iter()
        .filter(|series| series.factors.stage == Some(Stage::EncryptFile))
        .filter_map(|series| task(series, &all))
        .collect();
    let account = account(&all);
    let library = first.factors.backend.clone().unwrap_or_default();
    let untouched = untouched(&rows);
    Some(CipherFigures { rows, isas, library, untouched, tasks, account })
}

fn isa(series: &Series) -> Isa {
    series.factors.isa.unwrap_or(Isa::Full)
}

fn algorithm(series: &Series) -> &str {
    series.factors.algorithm.as_deref().unwrap_or_default()
}

/// Returns the series measured in memory, which have no folder.
fn in_memory<'a>(all: &[&'a Series]) -> Vec<&'a Series> {
    all.iter().filter(|series| series.place.is_none()).copied().collect()
}

fn rows(all: &[&Series]) -> Vec<CipherRow> {
    let mut rows: Vec<CipherRow> = Vec::new();
    let series = in_memory(all);
    for one in &series {
        let Some(stage) = one.factors.stage else { continue };
        let same = |row: &CipherRow| row.algorithm == algorithm(one) && row.stage == stage;
        if rows.iter().any(same) {
            continue;
        }
        let mut row = CipherRow {
            algorithm: algorithm(one).to_owned(),
            stage,
            unit: one.unit,
            rates: Vec::new(),
            elapsed: None,
            gains: Vec::new(),
        };
        let of_row = |found: &&&Series| {
            found.factors.stage == Some(stage) && algorithm(found) == row.algorithm
        };
        let mut of_row: Vec<&Series> = series.iter().filter(of_row).copied().collect();
        of_row.sort_by_key(|found| isa(found) as u8);
        let full = of_row.iter().find(|found| isa(found) == Isa::Full).copied();
        row.elapsed = full.and_then(Elapsed::of);
        for found in of_row {
            row.rates.extend(Figure::rate_of(found).map(|rate| (isa(found), rate)));
            let gain = full
                .filter(|_| isa(found) != Isa::Full)
                .and_then(|full| Figure::ratio(full, found));
            let uses = kernels::uses(&row.algorithm);
            row.gains.extend(gain.map(|gain| Gain {
                without: isa(found),
                gain,
                by_instructions: lacks(uses, isa(found)),
            }));
        }
        rows.push(row);
    }
    rows
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

/// Returns the median gain of the algorithms that cannot profit, by instruction set.
fn untouched(rows: &[CipherRow]) -> Vec<(Isa, f64)> {
    let of = |isa: Isa| {
        let gains = rows.iter().flat_map(|row| &row.gains);
        let gains = gains.filter(|gain| gain.without == isa && !gain.by_instructions);
        let gains: Vec<f64> = gains.map(|gain| gain.gain.value).collect();
        median(&gains).map(|gain| (isa, gain))
    };
    [Isa::NoAes, Isa::NoSha, Isa::Baseline].into_iter().filter_map(of).collect()
}

/// Finds the time in the cipher for a task.
fn within<'a>(all: &[&'a Series], task: &Series) -> Option<&'a Series> {
    let belongs = |series: &&&Series| {
        series.place.is_some()
            && series.factors.stage == Some(Stage::Encrypt)
            && isa(series) == isa(task)
            && algorithm(series) == algorithm(task)
    };
    all.iter().find(belongs).copied()
}

fn share_within(all: &[&Series], task: &Series) -> Option<Figure> {
    let within = within(all, task)?;
    let share =
        |(within, task): (&Sample, &Sample)| within.elapsed_ns as f64 / task.elapsed_ns as f64;
    Figure::of_rounds(&within.paired(task).map(share).collect::<Vec<f64>>())
}

fn task(series: &Series, all: &[&Series]) -> Option<TaskRate> {
    Some(TaskRate {
        algorithm: algorithm(series).to_owned(),
        isa: isa(series),
        bytes: series.counting().map(|sample| sample.amount).max()?,
        rate: Figure::rate_of(series)?,
        cipher_share: share_within(all, series),
    })
}

fn account(all: &[&Series]) -> Option<GainAccount> {
    let tasks: Vec<&&Series> =
        all.iter().filter(|series| series.factors.stage == Some(Stage::EncryptFile)).collect();
    let fast = tasks.iter().find(|series| isa(series) == Isa::Full)?;
    let slow = tasks.iter().find(|series| isa(series) != Isa::Full)?;
    let without = isa(slow);
    let memory = in_memory(all);
    let kernel = |of: Isa| {
        memory.iter().find(|series| {
            isa(series) == of
                && algorithm(series) == algorithm(fast)
                && series.factors.stage == Some(Stage::Encrypt)
        })
    };
    let kernels = [kernel(Isa::Full)?, kernel(without)?];
    let kernel_gain = Figure::ratio(kernels[0], kernels[1])?;
    let task_gain = Figure::ratio(fast, slow)?;
    let amdahl = Amdahl::of(kernel_gain.value, task_gain.value);
    Some(GainAccount {
        algorithm: algorithm(fast).to_owned(),
        without,
        kernel_gain,
        task_gain,
        amdahl,
        measured_share: share_within(all, slow),
    })
}
