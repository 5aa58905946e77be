//! Hashing, reading, and both: a section of a record's document.
//!
//! In: figures. Out: a [`Section`]: the main results in sentences, then tables and charts.

mod charts;
mod tables;

use steadfast_measure::figures::hash::{
    Figure, HashFigures, KernelRate, NULL_ENGINE, Overlap, PathLine,
};
use steadfast_measure::record::{Cache, Stage};

use super::{INTERVALS, by_processor_words, cell, level_name};
use crate::document::{Headline, Quantity, Section};
use crate::units::{self, Units};

/// Makes the section.
pub(super) fn section(figures: &HashFigures, units: Units) -> Section {
    let mut sentences = Vec::new();
    sentences.extend(level_sentences(figures, units));
    sentences.extend(fastest_sentence(&figures.kernels, units));
    sentences.extend(gain_sentence(&figures.kernels));
    sentences.extend(algorithms_sentence(&figures.kernels, units));
    sentences.extend(figures.overlaps.iter().filter_map(|of| overlap_sentence(of, units)));
    sentences.extend(figures.level_ratios.iter().map(|levels| {
        let [high, low] = [levels.levels.0, levels.levels.1].map(level_name);
        let what = stage_words(levels.stage);
        let ratio = cell(Quantity::Ratio, levels.ratio).shown(Units::Si);
        match is_known(&levels.ratio) {
            true => format!("{what} at {high} is {ratio} as fast as at {low}."),
            false => format!(
                "{what} at {high} and {low}: not enough data to tell which is faster \
                 ({ratio})."
            ),
        }
    }));
    sentences.extend(doubt_sentence(&figures.lines));
    Section {
        title: "Hashing".to_owned(),
        headline: headline(figures),
        sentences,
        tables: tables::tables(figures, units),
        charts: charts::charts(figures),
        notes: notes(figures),
    }
}

/// The rate of one file at the highest level, or that of SHA-256.
fn headline(figures: &HashFigures) -> Option<Headline> {
    let line = of_levels(figures).next().and_then(PathLine::rate);
    let (rate, what) = match (line, fastest(&figures.kernels, Some(1))) {
        (Some(rate), _) => (rate, "Reading and hashing one file"),
        (None, kernel) => (kernel?.rate, "SHA-256 in memory, one thread"),
    };
    Some(Headline::new(cell(Quantity::Rate, rate), what))
}

/// Returns the lines of reading and hashing at levels, the highest level first.
fn of_levels(figures: &HashFigures) -> impl Iterator<Item = &PathLine> {
    figures.lines.iter().filter(|line| line.is_check() && line.qos.is_some())
}

/// Groups the lines of levels by where the bytes came from.
fn levels_by_cache(figures: &HashFigures) -> Vec<(Option<Cache>, Vec<&PathLine>)> {
    let mut caches: Vec<(Option<Cache>, Vec<&PathLine>)> = Vec::new();
    for line in of_levels(figures) {
        match caches.iter_mut().find(|(cache, _)| *cache == line.cache) {
            Some((_, lines)) => lines.push(line),
            None => caches.push((line.cache, vec![line])),
        }
    }
    caches
}

/// States the rate at each level, and what share of reading it is.
fn level_sentences(figures: &HashFigures, units: Units) -> Vec<String> {
    let sentence = |(cache, lines): (Option<Cache>, Vec<&PathLine>)| {
        let level = |line: &&PathLine| {
            let rate = cell(Quantity::Rate, line.rate()).shown(units);
            let of_line = |of: &&Overlap| (of.cache, of.qos) == (line.cache, line.qos);
            let share = figures.overlaps.iter().find(of_line).map_or(String::new(), |of| {
                format!(", {} of reading", cell(Quantity::Share, of.net_by_read).shown(units))
            });
            format!("at {} {rate}{share}", level_name(line.qos.unwrap_or(0)))
        };
        let levels: Vec<String> = lines.iter().map(level).collect();
        format!("Reading and hashing, {}: {}.", cache_words(cache), levels.join("; "))
    };
    levels_by_cache(figures).into_iter().map(sentence).collect()
}

/// Names the lines that are doubtful, all in one sentence.
fn doubt_sentence(lines: &[PathLine]) -> Option<String> {
    let doubtful = lines.iter().filter(|line| line.line.is_doubtful);
    let names: Vec<String> = doubtful.map(line_words).collect();
    (!names.is_empty())
        .then(|| format!("Doubtful, because no straight line fits: {}.", names.join("; ")))
}

fn notes(figures: &HashFigures) -> Vec<String> {
    let mut notes = Vec::new();
    if !figures.lines.is_empty() {
        notes.push(format!(
            "A line is fitted to time by size, errors taken relatively and outliers outweighed \
             (bisquare); its rate is 1 ÷ slope, its cost of each file what is left at no bytes, \
             which may come out below nothing. {INTERVALS} A run's beginning and end are in the \
             cost of each file, since each file had a run of its own."
        ));
    }
    if !figures.kernels.is_empty() {
        let by = by_processor_words(figures.kernels.iter().any(|of| of.elapsed.is_some()));
        notes.push(format!("Rates in memory are medians over rounds. {by} {INTERVALS}"));
        notes.extend(clock_note(&figures.kernels));
    }
    if !figures.overlaps.is_empty() {
        notes.push(
            "Overlap is (read + hash − both) ÷ the shorter of read and hash: 100 % where the \
             longer one hides the other, 0 % where they take turns. From the page cache reading \
             is work for a processor as well, and with few processors both compete for them."
                .to_owned(),
        );
    }
    notes
}

/// Returns the fastest SHA-256 in so many threads, or in as many as there are.
fn fastest(kernels: &[KernelRate], threads: Option<u32>) -> Option<&KernelRate> {
    let threads = threads.or_else(|| kernels.iter().map(|kernel| kernel.threads).max())?;
    kernels
        .iter()
        .filter(|kernel| kernel.algorithm == "sha256" && kernel.threads == threads)
        .max_by(|a, b| a.rate.value.total_cmp(&b.rate.value))
}

/// Returns the fastest code of an algorithm for one message in one thread.
fn fastest_alone<'k>(kernels: &'k [KernelRate], algorithm: &str) -> Option<&'k KernelRate> {
    let alone = kernels.iter().filter(|of| (of.lanes, of.threads) == (1, 1));
    let alone = alone.filter(|of| of.algorithm == algorithm);
    alone.max_by(|a, b| a.rate.value.total_cmp(&b.rate.value))
}

/// Compares SHA-256 with the other algorithms: one message with one message, and only where the
/// intervals lie apart.
fn algorithms_sentence(kernels: &[KernelRate], units: Units) -> Option<String> {
    let sha256 = fastest_alone(kernels, "sha256")?;
    let (low, high) = sha256.rate.interval?;
    let mut names: Vec<&str> = kernels.iter().map(|of| of.algorithm.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let others = names.into_iter().filter(|name| *name != "sha256");
    let others: Vec<_> = others.filter_map(|name| fastest_alone(kernels, name)).collect();
    let than = |how: &str, is: &dyn Fn((f64, f64)) -> bool| {
        let of = others.iter().filter(|of| of.rate.interval.is_some_and(is));
        let names: Vec<&str> = of.map(|of| of.algorithm.as_str()).collect();
        (!names.is_empty()).then(|| format!("{how} than {}", names.join(", ")))
    };
    let faster = than("faster", &|(_, high)| high < low);
    let slower = than("slower", &|(low, _)| low > high);
    let both: Vec<String> = faster.into_iter().chain(slower).collect();
    (!both.is_empty()).then(|| {
        format!(
            "Of one message each, in one thread, sha256 ({}, {}) is {}.",
            sha256.backend,
            cell(Quantity::Rate, sha256.rate).shown(units),
            both.join(", and ")
        )
    })
}

/// States the clock that was measured.
fn clock_note(kernels: &[KernelRate]) -> Option<String> {
    let (of, bytes) = kernels.iter().find_map(|of| Some((of, of.bytes_per_cycle?.value)))?;
    let ghz = of.rate.value / bytes / 1e9;
    Some(format!(
        "The processor's clock was measured after each sample of one thread, by steps of two \
         cycles, at first {ghz:.2} GHz. Bytes per cycle are also the GB/s at 1 GHz."
    ))
}

fn fastest_sentence(kernels: &[KernelRate], units: Units) -> Option<String> {
    let (one, all) = (fastest(kernels, Some(1))?, fastest(kernels, None)?);
    let alone = fastest_alone(kernels, "sha256")?;
    let rate = |kernel: &KernelRate| cell(Quantity::Rate, kernel.rate).shown(units);
    Some(format!(
        "In memory SHA-256 of one message runs at {} ({}), of many messages in one thread at {} \
         ({} x{}), in {} at {}.",
        rate(alone),
        alone.backend,
        rate(one),
        one.backend,
        one.lanes,
        units::counted(u64::from(all.threads), "thread", "threads"),
        rate(all)
    ))
}

fn gain_sentence(kernels: &[KernelRate]) -> Option<String> {
    let gain = fastest_alone(kernels, "sha256")?.gain.as_ref()?;
    let many = fastest(kernels, Some(1))?;
    let gain_of_many = many.gain.as_ref().filter(|of| is_known(of) && is_known(gain))?;
    Some(format!(
        "The processor's instructions make SHA-256 {} as fast as software alone, and {} with many \
         messages at once.",
        cell(Quantity::Ratio, *gain).shown(Units::Si),
        cell(Quantity::Ratio, *gain_of_many).shown(Units::Si)
    ))
}

/// Whether a ratio has an interval that lies on one side of 1.
fn is_known(ratio: &Figure) -> bool {
    ratio.interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
}

fn overlap_sentence(of: &Overlap, units: Units) -> Option<String> {
    let (overlap, net_by_hash) = (of.overlap?, of.net_by_hash?);
    let files =
        format!("Of files from {}, {}", units.bytes(of.size_bytes_min), cache_words(of.cache));
    // If the interval is this wide, the result could be either and says nothing.
    let told = overlap.interval.is_some_and(|(low, high)| high - low <= 0.5);
    if !told {
        return Some(format!(
            "{files}: how far reading and hashing hide each other is not known, not enough data."
        ));
    }
    let share = |figure: Figure| cell(Quantity::Share, figure).shown(Units::Si);
    Some(format!(
        "{files}: reading and hashing overlap by {}; both together run at {} of the rate of \
         reading alone and {} of hashing alone: bound by {}.",
        share(overlap),
        share(of.net_by_read),
        share(net_by_hash),
        bound_words(of)
    ))
}

/// Names the slower of reading and hashing, which limits both together: they reach the greater
/// share of its rate.
fn bound_words(of: &Overlap) -> &'static str {
    match (of.net_by_read.interval, of.net_by_hash.and_then(|share| share.interval)) {
        (Some((_, read_high)), Some((hash_low, _))) if hash_low > read_high => "hashing",
        (Some((read_low, _)), Some((_, hash_high))) if read_low > hash_high => "reading",
        _ => "reading or hashing",
    }
}

fn stage_words(stage: Stage) -> &'static str {
    match stage {
        Stage::Hash => "Hashing in memory",
        Stage::Read => "Reading",
        _ => "Reading and hashing",
    }
}

/// Says where bytes came from.
pub(crate) fn cache_words(cache: Option<Cache>) -> &'static str {
    match cache {
        Some(Cache::Cold) => "cold",
        Some(Cache::Direct) => "direct",
        Some(Cache::Warm) => "warm",
        Some(Cache::Unknown) => "cache unknown",
        None => "in memory",
    }
}

/// Returns what a measurement with the engine that moves no bytes shows.
fn engine_words(stage: Stage, engine: &str) -> Option<&'static str> {
    (engine == NULL_ENGINE).then_some(match stage {
        Stage::Read => "the path alone, no bytes moved",
        _ => "the path with hashing, no bytes moved",
    })
}

fn line_words(line: &PathLine) -> String {
    let what = match (line.stage, engine_words(line.stage, &line.engine)) {
        (Stage::Hash, _) => "hashing alone, in memory".to_owned(),
        (_, Some(words)) => words.to_owned(),
        (Stage::Read, _) => format!("reading alone, {}", cache_words(line.cache)),
        _ => format!("reading and hashing, {}", cache_words(line.cache)),
    };
    format!("{what}{}", at_level(line.qos))
}

/// Names a level, if there is one, behind what was measured at it.
fn at_level(qos: Option<u8>) -> String {
    qos.map_or(String::new(), |qos| format!(", at {}", level_name(qos)))
}
