//! Hashing, reading, and both: a section of a record's document.
//!
//! In: figures. Out: a [`Section`]: the main results in sentences, then tables and charts.

mod charts;
mod layers;
mod levels;
mod tables;

use steadfast_measure::figures::hash::{
    Figure, FolderRate, Forecast, HashFigures, KernelRate, Overlap, PathLine, Streams,
};
use steadfast_measure::record::{Cache, Stage};

use super::{BY_PROCESSOR, INTERVALS, cell, level_name, time_cell};
use crate::document::{Headline, Quantity, Section};
use crate::units::{self, Units};

/// Why a fit is doubtful.
const DOUBTFUL: &str = "because no straight line fits";

/// Makes the section.
pub(super) fn section(figures: &HashFigures, units: Units) -> Section {
    let mut sentences = Vec::new();
    sentences.extend(figures.forecast.as_ref().map(|of| forecast_sentence(of, units)));
    sentences.extend(found_sentence(&figures.folders, units));
    sentences.extend(levels::sentences(figures, units));
    sentences.extend(fastest_sentence(&figures.kernels, units));
    sentences.extend(gain_sentence(&figures.kernels));
    sentences.extend(figures.overlaps.iter().map(|of| overlap_sentence(of, units)));
    sentences.extend(buffer_sentence(figures, units));
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

/// The expected time of a check, the rate of the files found, or that of SHA-256.
fn headline(figures: &HashFigures) -> Option<Headline> {
    if let Some(forecast) = &figures.forecast {
        return Some(Headline::new(time_cell(forecast.time_s), "to check the folder"));
    }
    let hashed = |of: &&FolderRate| of.streams.is_some() && of.stage == Stage::ReadHash;
    let found = figures.folders.iter().find(hashed);
    let line = figures.level_lines.first().and_then(|line| line.net.rate());
    let (rate, what) = match (found, line, fastest(&figures.kernels, Some(1))) {
        (Some(found), ..) => (found.rate, "Reading and hashing the files found there"),
        (None, Some(rate), _) => (rate, "Reading and hashing one file"),
        (None, None, kernel) => (kernel?.rate, "SHA-256 in memory, one thread"),
    };
    Some(Headline::new(cell(Quantity::Rate, rate), what))
}

/// Names the lines that are doubtful, all in one sentence.
fn doubt_sentence(lines: &[PathLine]) -> Option<String> {
    let doubtful = lines.iter().filter(|line| line.line.is_doubtful);
    let names: Vec<String> = doubtful.map(line_words).collect();
    match names.as_slice() {
        [] => None,
        [only] => Some(format!("The line of {only} is doubtful, {DOUBTFUL}.")),
        names => Some(format!("These lines are doubtful, {DOUBTFUL}: {}.", names.join("; "))),
    }
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
        notes.extend(warm_note(&figures.lines));
    }
    if !figures.kernels.is_empty() {
        notes.push(format!("Rates in memory are medians over rounds. {BY_PROCESSOR} {INTERVALS}"));
    }
    if !figures.overlaps.is_empty() {
        notes.push(
            "Overlap is (read + hash − both) ÷ the shorter of read and hash: 100 % where the \
             longer one hides the other, 0 % where they take turns. From the page cache reading \
             is work for a processor as well, and with few processors both compete for them."
                .to_owned(),
        );
    }
    if figures.folders.iter().any(|folder| folder.streams.is_some()) {
        notes.push(format!(
            "One stream is one thread that reads a file 1 MiB at a time, hashes it and opens the \
             next, as simple programs do; many streams are a run like that of a check. The correct \
             bytes are not known: each file had the same digest in all passes. {INTERVALS}"
        ));
    }
    if figures.forecast.is_some() {
        notes.push(
            "The estimate is of the page cache as it was found, of files with a tag, and of a \
             machine that is as busy as it was. It does not know of files that share the disk \
             badly with each other, nor of tags that are read from a catalogue."
                .to_owned(),
        );
    }
    notes
}

/// States why there are fewer times from the page cache than others, if there are.
fn warm_note(lines: &[PathLine]) -> Option<String> {
    let warm = lines.iter().any(|line| tables::is_timed(line) && line.cache == Some(Cache::Warm));
    warm.then(|| {
        format!(
            "Times to verify are along the lines, however far that is from what was measured. Of \
             files more than {} times as long as the longest that was warm nothing is told as \
             warm: no page cache is taken to hold what it was not seen to hold.",
            tables::EXTRAPOLATED_MAX
        )
    })
}

fn forecast_sentence(forecast: &Forecast, units: Units) -> String {
    let (files, bytes) = (forecast.all.files, units.bytes(forecast.all.bytes));
    let cached = match forecast.cached_share {
        Some(share) => format!("of what was read for it, {} was in memory", units::share(share)),
        None => "whether the files are in memory could not be told".to_owned(),
    };
    format!(
        "Checking the folder, {} of {bytes} together, will take about {}; {cached}.",
        units::counted(files, "file", "files"),
        time_cell(forecast.time_s).shown(units)
    )
}

/// States the rates of reading and hashing files that were in a folder already.
fn found_sentence(folders: &[FolderRate], units: Units) -> Option<String> {
    let hashed = |of: &&FolderRate| of.streams.is_some() && of.stage == Stage::ReadHash;
    let rates: Vec<String> = folders
        .iter()
        .filter(hashed)
        .map(|of| {
            let rate = cell(Quantity::Rate, of.rate).shown(units);
            let streams = of.streams.map_or("", streams_words);
            format!("{rate} in {streams}, {}", cache_words(of.cache))
        })
        .collect();
    let first = folders.iter().find(hashed)?;
    Some(format!(
        "Reading and hashing the {} found there, {} together: {}.",
        units::counted(first.files, "file", "files"),
        units.bytes(first.bytes),
        rates.join("; ")
    ))
}

fn streams_words(streams: Streams) -> &'static str {
    match streams {
        Streams::One => "one stream",
        Streams::Many => "many streams",
    }
}

/// Returns the fastest SHA-256 in so many threads, or in as many as there are.
fn fastest(kernels: &[KernelRate], threads: Option<u32>) -> Option<&KernelRate> {
    let threads = threads.or_else(|| kernels.iter().map(|kernel| kernel.threads).max())?;
    kernels
        .iter()
        .filter(|kernel| kernel.algorithm == "sha256" && kernel.threads == threads)
        .max_by(|a, b| a.rate.value.total_cmp(&b.rate.value))
}

fn fastest_sentence(kernels: &[KernelRate], units: Units) -> Option<String> {
    let (one, all) = (fastest(kernels, Some(1))?, fastest(kernels, None)?);
    let alone = kernels.iter().filter(|kernel| {
        (kernel.algorithm.as_str(), kernel.lanes, kernel.threads) == ("sha256", 1, 1)
    });
    let alone = alone.max_by(|a, b| a.rate.value.total_cmp(&b.rate.value))?;
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
    let alone = kernels
        .iter()
        .filter(|kernel| kernel.algorithm == "sha256" && kernel.lanes == 1 && kernel.threads == 1);
    let best = alone.max_by(|a, b| a.rate.value.total_cmp(&b.rate.value))?;
    let gain = best.gain.as_ref()?;
    let many = fastest(kernels, Some(1))?;
    let gain_of_many = many.gain.as_ref()?;
    if !is_known(gain) || !is_known(gain_of_many) {
        return Some(
            "What the processor's instructions gain is not known: not enough data.".to_owned(),
        );
    }
    Some(format!(
        "The processor's instructions make SHA-256 {} as fast as software alone, and {} with many \
         messages at once.",
        cell(Quantity::Ratio, *gain).shown(Units::Si),
        cell(Quantity::Ratio, *gain_of_many).shown(Units::Si)
    ))
}

/// Whether a ratio has an interval that lies on one side of 1.
fn is_known(ratio: &Figure) -> bool {
    ratio.bounds().is_some_and(|(low, high)| low > 1.0 || high < 1.0)
}

fn overlap_sentence(overlap: &Overlap, units: Units) -> String {
    let from = units.bytes(overlap.size_bytes_min);
    // If the interval is this wide, the result could be either and says nothing.
    let told = overlap.overlap.bounds().is_some_and(|(low, high)| high - low <= 0.5);
    if !told {
        return format!(
            "Of files from {from}, {}: how far reading and hashing hide each other is not known, \
             not enough data.",
            cache_words(overlap.cache)
        );
    }
    format!(
        "Of files from {from}, {}: reading and hashing overlap by {}; both together run at {} of \
         the rate of reading alone and {} of hashing alone: bound by {}.",
        cache_words(overlap.cache),
        cell(Quantity::Share, overlap.overlap).shown(Units::Si),
        cell(Quantity::Share, overlap.net_by_read).shown(Units::Si),
        cell(Quantity::Share, overlap.net_by_hash).shown(Units::Si),
        bound_words(overlap)
    )
}

/// Names the slower of reading and hashing, which limits both together: they reach the greater
/// share of its rate.
fn bound_words(overlap: &Overlap) -> &'static str {
    match (overlap.net_by_read.bounds(), overlap.net_by_hash.bounds()) {
        (Some((_, read_high)), Some((hash_low, _))) if hash_low > read_high => "hashing",
        (Some((read_low, _)), Some((_, hash_high))) if read_low > hash_high => "reading",
        _ => "reading or hashing",
    }
}

fn buffer_sentence(figures: &HashFigures, units: Units) -> Option<String> {
    let (best, as_good) = figures.buffers_best?;
    let length = |place: usize| Units::Iec.bytes(figures.buffers[place].buffer_len_bytes);
    let rate = cell(Quantity::Rate, figures.buffers[best].rate).shown(units);
    let enough = match best == as_good {
        true => String::new(),
        false => format!("; from {} on it is within 2 %", length(as_good)),
    };
    Some(format!(
        "Reading and hashing by turns, one thread, is fastest with a buffer of {}: {rate}{enough}.",
        length(best)
    ))
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
    (engine == "null").then_some(match stage {
        Stage::Read => "the path alone, no bytes moved",
        _ => "the path with hashing, no bytes moved",
    })
}

fn line_words(line: &PathLine) -> String {
    match (line.stage, engine_words(line.stage, &line.engine)) {
        (Stage::Hash, _) => "hashing alone, in memory".to_owned(),
        (_, Some(words)) => words.to_owned(),
        (Stage::Read, _) => format!("reading alone, {}", cache_words(line.cache)),
        _ => format!("reading and hashing, {}", cache_words(line.cache)),
    }
}
