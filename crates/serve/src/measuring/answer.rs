//! The answer to the question of a measurement: one figure, and the rates beside it.
//!
//! In: a record. Out: figures of `steadfast_measure::figures` as they are. A record that does not
//! have the figure, because it ended early, has no answer.

use steadfast_measure::figures::hash::Figure;
use steadfast_measure::figures::hosts::HostFigures;
use steadfast_measure::figures::{cipher, cpu, hash, hosts, pair, queue, storage};
use steadfast_measure::record::{Isa, Record, Side, Stage, Workload};
use steadfast_measure::stats::{Finding, median};
use steadfast_report::document::Quantity;

use super::MeasureKind;

/// Bars beside the figure.
const BARS_MAX: usize = 8;

/// The answer to the question of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MeasureAnswer {
    pub(crate) figure: Quantity,
    /// The interval of the figure.
    pub(crate) interval: Option<(Quantity, Quantity)>,
    /// What the figure is.
    pub(crate) what: AnswerWhat,
    /// Rates of the same unit: the highest first, or by rising depth or level.
    pub(crate) bars: Vec<(AnswerBar, Quantity)>,
}

/// What a figure is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AnswerWhat {
    /// Reading and hashing: its rate, and its share of the rate of reading alone.
    Checking(Option<f64>),
    /// SHA-256 in memory, in one thread.
    Hashing,
    /// Reading.
    Reading,
    /// Writing.
    Writing,
    /// The gain of so many requests at a time over one.
    Depth(u32),
    /// Loops at the lowest level, as a share of those at the highest.
    LowLevel,
    /// The same, while threads at the highest level run beside them.
    Contended,
    /// Reading and hashing one file at the level of this number.
    AtLevel(u8),
    /// The rate in the first folder ÷ the rate in the second, of this step.
    Pair(Stage, Finding),
    /// The share of the cipher in the time that it takes to encrypt a file.
    CipherShare,
}

/// What a bar is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AnswerBar {
    /// Reading alone.
    Read,
    /// Reading and hashing, from the drive.
    Check,
    /// The same for many files that are in memory.
    CheckFolder,
    /// The same for one file that is in memory.
    CheckFile,
    /// So many requests at a time.
    Depth(u32),
    /// Loops at the level of this number.
    Level(u8),
    /// The first folder of a pair, or the second.
    Side(Side),
    /// A name in English: an algorithm, a series.
    Named(String),
}

/// Derives the answer from a record.
pub(super) fn of(kind: MeasureKind, record: &Record) -> Option<MeasureAnswer> {
    let mut answer = match kind {
        MeasureKind::Hash => checking(&hosts::of(record).into_iter().next()?),
        MeasureKind::Kernels => hashing(&hash::of(record)?),
        MeasureKind::Read => {
            let host = hosts::of(record).into_iter().next()?;
            let rate = host.read_direct_per_s.or(host.read_per_s)?;
            Some(rated(rate, AnswerWhat::Reading, series(record, Workload::Read)))
        }
        MeasureKind::Write => {
            let rate = hosts::of(record).into_iter().next()?.write_per_s?;
            Some(rated(rate, AnswerWhat::Writing, series(record, Workload::Write)))
        }
        MeasureKind::Queue => in_flight(&queue::of(record)?),
        MeasureKind::Cpu => at_low_level(&cpu::of(record)?),
        MeasureKind::Contention => contended(&cpu::of(record)?),
        MeasureKind::Levels => by_size(&hash::of(record)?),
        MeasureKind::Pair => in_turn(&pair::of(record)?),
        MeasureKind::Cipher => encrypting(&cipher::of(record)?),
    }?;
    // Depths, levels and folders have an order of their own.
    let ranked = [
        MeasureKind::Hash,
        MeasureKind::Kernels,
        MeasureKind::Read,
        MeasureKind::Write,
        MeasureKind::Cipher,
    ];
    if ranked.contains(&kind) {
        answer.bars.sort_by(|(_, one), (_, other)| other.value().total_cmp(&one.value()));
    }
    answer.bars.truncate(BARS_MAX);
    Some(answer)
}

/// An answer in bytes per second.
fn rated(rate: Figure, what: AnswerWhat, bars: Vec<(AnswerBar, Quantity)>) -> MeasureAnswer {
    of_figure(rate, Quantity::Rate, what, bars)
}

fn of_figure(
    figure: Figure,
    unit: impl Fn(f64) -> Quantity,
    what: AnswerWhat,
    bars: Vec<(AnswerBar, Quantity)>,
) -> MeasureAnswer {
    let interval = figure.bounds().map(|(low, high)| (unit(low), unit(high)));
    MeasureAnswer { figure: unit(figure.value), interval, what, bars }
}

fn checking(host: &HostFigures) -> Option<MeasureAnswer> {
    // From the drive if that was measured, otherwise from memory, without naming a limit.
    let (rate, share) = match host.net_per_s {
        Some(rate) => (rate, host.net_by_read.map(|share| share.value)),
        None => (host.folder_high_per_s.or(host.hash_high_per_s)?, None),
    };
    let bars = [
        (AnswerBar::Read, host.read_per_s),
        (AnswerBar::Check, host.net_per_s),
        (AnswerBar::CheckFolder, host.folder_high_per_s),
        (AnswerBar::CheckFile, host.hash_high_per_s),
    ];
    let bars = bars.into_iter().filter_map(|(bar, rate)| Some((bar, Quantity::Rate(rate?.value))));
    Some(rated(rate, AnswerWhat::Checking(share), bars.collect()))
}

/// The fastest backend of each algorithm in one thread; the figure is that of SHA-256.
fn hashing(figures: &hash::HashFigures) -> Option<MeasureAnswer> {
    let mut best: Vec<&hash::KernelRate> = Vec::new();
    for rate in figures.kernels.iter().filter(|rate| rate.threads == 1) {
        match best.iter_mut().find(|one| one.algorithm == rate.algorithm) {
            Some(one) if one.rate.value < rate.rate.value => *one = rate,
            Some(_) => {}
            None => best.push(rate),
        }
    }
    let of_runs = best.iter().find(|rate| rate.algorithm == "sha256")?.rate;
    let bar = |rate: &&hash::KernelRate| {
        (AnswerBar::Named(rate.algorithm.clone()), Quantity::Rate(rate.rate.value))
    };
    Some(rated(of_runs, AnswerWhat::Hashing, best.iter().map(bar).collect()))
}

/// The rates of the kinds of reading or writing.
fn series(record: &Record, workload: Workload) -> Vec<(AnswerBar, Quantity)> {
    let figures = storage::of(record, workload);
    let all = figures.into_iter().flat_map(|figures| figures.series);
    all.filter_map(|one| {
        let rate = Quantity::Rate(one.rate()?.value);
        Some((AnswerBar::Named(one.label), rate))
    })
    .collect()
}

/// The group of reads that gains most, and its rates by depth.
fn in_flight(figures: &queue::QueueFigures) -> Option<MeasureAnswer> {
    let gained = figures.cells.iter().filter_map(|cell| Some((cell, cell.gain?)));
    let (best, gain) = gained.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))?;
    let group = figures.cells.iter().filter(|cell| cell.group() == best.group());
    let bars = group.map(|cell| (AnswerBar::Depth(cell.depth), Quantity::Rate(cell.bytes_per_s())));
    Some(of_figure(gain, Quantity::Ratio, AnswerWhat::Depth(best.depth), bars.collect()))
}

/// What the lowest level does of the highest, as the report states it, and each level.
fn at_low_level(figures: &cpu::CpuFigures) -> Option<MeasureAnswer> {
    of_levels(figures.levels.as_ref()?, AnswerWhat::LowLevel, |level| {
        let alone = figures.rates.iter().filter(|of| of.threads == 1 && of.busy_threads.is_none());
        let of_level = alone.filter(|rate| rate.qos == Some(level));
        let shares = of_level.filter_map(|rate| Some(rate.of_own_high?.value));
        median(&shares.collect::<Vec<f64>>())
    })
}

/// The same while both run at once.
fn contended(figures: &cpu::CpuFigures) -> Option<MeasureAnswer> {
    of_levels(figures.contended.as_ref()?, AnswerWhat::Contended, |_| None)
}

/// An answer as a share of the highest level, which is 1. `between` has the other levels.
fn of_levels(
    compared: &cpu::LevelsCompared,
    what: AnswerWhat,
    between: impl Fn(u8) -> Option<f64>,
) -> Option<MeasureAnswer> {
    let share = |level: u8| match level {
        level if level == compared.low => Some(compared.share.value),
        level if level == compared.high => Some(1.0),
        level => between(level),
    };
    let bar = |level: u8| Some((AnswerBar::Level(level), Quantity::Share(share(level)?)));
    let bars = (compared.low..=compared.high).filter_map(bar).collect();
    Some(of_figure(compared.share, Quantity::Share, what, bars))
}

/// The rate of the lowest level over files of all sizes, from where the report has it first.
fn by_size(figures: &hash::HashFigures) -> Option<MeasureAnswer> {
    let at_level =
        |line: &hash::PathLine| Some((line.qos.filter(|_| line.is_check())?, line.cache));
    let mut lines: Vec<_> =
        figures.lines.iter().filter_map(|line| Some((at_level(line)?, line.rate()?))).collect();
    let ((_, cache), _) = *lines.first()?;
    lines.retain(|((_, of), _)| *of == cache);
    lines.sort_by_key(|((qos, _), _)| *qos);
    let ((low, _), rate) = *lines.first()?;
    let bar = |((qos, _), rate): &((u8, _), hash::Figure)| {
        (AnswerBar::Level(*qos), Quantity::Rate(rate.value))
    };
    let bars = lines.iter().map(bar).collect();
    Some(rated(rate, AnswerWhat::AtLevel(low), bars))
}

/// The ratio of two folders with which the report begins, and the rates of both.
fn in_turn(figures: &pair::PairFigures) -> Option<MeasureAnswer> {
    let row = figures.main_row()?;
    let what = AnswerWhat::Pair(row.stage, row.a_to_b.finding);
    let bars =
        row.rates.iter().map(|(side, rate, _)| (AnswerBar::Side(*side), Quantity::Rate(*rate)));
    Some(of_figure(row.a_to_b.ratio?, Quantity::Ratio, what, bars.collect()))
}

fn encrypting(figures: &cipher::CipherFigures) -> Option<MeasureAnswer> {
    let full = || figures.tasks.iter().filter(|task| task.isa == Isa::Full);
    let share = full().find_map(|task| task.cipher_share)?;
    let bar = |task: &cipher::TaskRate| {
        (AnswerBar::Named(task.algorithm.clone()), Quantity::Rate(task.rate.value))
    };
    Some(of_figure(share, Quantity::Share, AnswerWhat::CipherShare, full().map(bar).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_measure::record::{self, Series};
    use strum::VariantArray as _;

    /// A record of everything, with one file at two levels, and loops at two beside each other.
    fn sample() -> Record {
        let path = "../../testdata/formats/record/v1/all.json";
        let mut record = record::read(&std::fs::read(path).unwrap()).unwrap();
        let mut beside = record.series.clone();
        beside.retain(|one| one.workload == Workload::Cpu && one.factors.threads == Some(1));
        beside.iter_mut().for_each(|one| one.factors.busy_threads = Some(2));
        let is_one_file = |one: &&Series| {
            one.factors.stage == Some(Stage::ReadHash) && one.label.ends_with("one file, warm")
        };
        let at = |qos: u8| {
            let mut one = record.series.iter().find(is_one_file).unwrap().clone();
            one.factors.qos = Some(qos);
            one
        };
        let by_size = [9, 33].map(at);
        record.series.extend(beside.into_iter().chain(by_size));
        record
    }

    #[test]
    fn every_question_has_the_figure_of_its_record() {
        let answers = MeasureKind::VARIANTS.iter().map(|&kind| {
            let answer = of(kind, &sample()).unwrap();
            assert!(!answer.bars.is_empty(), "{kind:?}");
            let host = &hosts::of(&sample())[0];
            let rate = |figure: Option<Figure>| Quantity::Rate(figure.unwrap().value);
            match kind {
                MeasureKind::Hash => {
                    assert_eq!(answer.figure, rate(host.net_per_s));
                    let share = host.net_by_read.unwrap().value;
                    assert_eq!(answer.what, AnswerWhat::Checking(Some(share)));
                    assert_eq!(answer.bars[0], (AnswerBar::Read, rate(host.read_per_s)));
                }
                MeasureKind::Read => assert_eq!(answer.figure, rate(host.read_direct_per_s)),
                MeasureKind::Write => assert_eq!(answer.figure, rate(host.write_per_s)),
                MeasureKind::Kernels => {
                    let of_runs = AnswerBar::Named("sha256".to_owned());
                    assert!(answer.bars.contains(&(of_runs, answer.figure)), "{answer:?}");
                }
                MeasureKind::Queue => {
                    let depths: Vec<&AnswerBar> = answer.bars.iter().map(|(bar, _)| bar).collect();
                    assert_eq!(depths, [1, 4, 32].map(AnswerBar::Depth).each_ref());
                }
                MeasureKind::Pair => {
                    let row = pair::of(&sample()).unwrap().main_row().unwrap().clone();
                    assert_eq!(answer.figure, Quantity::Ratio(row.a_to_b.ratio.unwrap().value));
                    assert_eq!(answer.bars[0].0, AnswerBar::Side(Side::A));
                }
                MeasureKind::Levels => {
                    assert_eq!(answer.bars[0].1, answer.figure, "the lowest level comes first");
                }
                MeasureKind::Cpu | MeasureKind::Contention => {
                    let figures = cpu::of(&sample()).unwrap();
                    let alone = kind == MeasureKind::Cpu;
                    let levels = if alone { figures.levels } else { figures.contended };
                    let bounds = levels.unwrap().share.bounds().unwrap();
                    let interval = (Quantity::Share(bounds.0), Quantity::Share(bounds.1));
                    assert_eq!(answer.interval, Some(interval), "that of the report");
                    assert_eq!(answer.bars[0].1, answer.figure, "the lowest level comes first");
                    assert_eq!(answer.bars.last().unwrap().1, Quantity::Share(1.0));
                }
                MeasureKind::Cipher => assert_eq!(answer.what, AnswerWhat::CipherShare),
            }
            answer.figure.text(steadfast_report::Units::Si)
        });
        let shown: Vec<String> = answers.collect();
        let measured = |kind: &MeasureKind| {
            // The others are of series that this test has made.
            !matches!(kind, MeasureKind::Pair | MeasureKind::Levels | MeasureKind::Contention)
        };
        let shown = MeasureKind::VARIANTS.iter().zip(&shown).filter(|(kind, _)| measured(kind));
        let expected =
            ["1.82 GB/s", "3.39 GB/s", "1.90 GB/s", "70.3 %", "94.4 %", "2.35 GB/s", "6.13×"];
        assert_eq!(shown.map(|(_, shown)| shown.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_record_without_the_figure_has_no_answer() {
        for &kind in MeasureKind::VARIANTS {
            let record = Record { series: Vec::new(), ..sample() };
            assert_eq!(of(kind, &record), None, "{kind:?}");
        }
    }
}
