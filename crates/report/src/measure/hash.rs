//! Hashing, reading, and both: a section of a record's document.

use steadfast_measure::figures::hash::{
    self, HashFigures, NULL_ENGINE, Overlap, bytes_per_cycle, moves_bytes,
};
use steadfast_measure::figures::{Curve, fastest, hosts};
use steadfast_measure::record::{Cache, Record, Stage};
use steadfast_measure::stats::Figure;

use super::{
    INTERVALS, bars, by_processor_words, by_size, cache_words, cell, crossed, elapsed, latency,
    level_name, rate, ratio, rows_layer, share, waited,
};
use crate::document::{Axis, Cell, Chart, Field, Headline, Mark, Quantity, Section, Table};
use crate::units::{self, Units};

/// Makes the section.
pub(super) fn section(record: &Record, units: Units) -> Option<Section> {
    let figures = hash::of(record)?;
    let kernels = &figures.kernels;
    let mut sentences = check_sentences(&figures, units);
    sentences.extend(fastest_sentence(kernels, units));
    sentences.extend(gain_sentence(&figures));
    sentences.extend(algorithms_sentence(kernels, units));
    sentences.extend(figures.overlaps.iter().filter_map(|of| overlap_sentence(of, units)));
    sentences.extend(figures.level_ratios().iter().map(|levels| {
        let [high, low] = [levels.levels.0, levels.levels.1].map(level_name);
        let (what, ratio) = (stage_words(Some(levels.stage)), ratio(levels.ratio));
        match is_known(&levels.ratio) {
            true => format!("{what} at {high} is {ratio} as fast as at {low}."),
            false => format!(
                "{what} at {high} and {low}: not enough data to tell which is faster ({ratio})."
            ),
        }
    }));
    let doubtful =
        figures.lines.iter().filter(|of| of.fit.as_ref().is_some_and(|fit| fit.is_doubtful));
    let doubtful: Vec<String> = doubtful.map(line_words).collect();
    if !doubtful.is_empty() {
        let names = doubtful.join("; ");
        sentences.push(format!("Doubtful, because no straight line fits: {names}."));
    }
    Some(Section {
        title: "Hashing".to_owned(),
        headline: headline(record, &figures),
        sentences,
        tables: tables(&figures, units),
        charts: charts(&figures),
        notes: notes(&figures),
    })
}

/// What a check reaches: at the lowest of several levels by size, otherwise from the drive if that
/// was measured, or from memory. Of hashing alone, the rate of SHA-256.
fn headline(record: &Record, figures: &HashFigures<'_>) -> Option<Headline> {
    let named =
        |name: &str, rate: Option<Figure>| Some((name.to_owned(), Quantity::Rate(rate?.value)));
    if let Some((_, lines)) = levels_by_cache(figures).first() {
        let (lowest, qos) = (lines.last()?, |line: &Curve<'_>| line.factors.qos.unwrap_or(0));
        let what = format!("read and hashed at level {}, the lowest.", qos(lowest));
        let bars = lines.iter().rev();
        let bars = bars.filter_map(|line| named(&format!("Level {}", qos(line)), line.rate));
        return Some(Headline::new(rate(lowest), what).beside(bars));
    }
    let host = hosts::of(record).into_iter().next().unwrap_or_default();
    let in_memory = || host.folder_high_per_s.or(host.hash_high_per_s);
    if let Some(rate) = host.net_per_s.or_else(in_memory) {
        // From memory nothing limits but the processor.
        let share = host.net_by_read.filter(|_| host.net_per_s.is_some());
        let of_reading = share.map_or(String::new(), |share| {
            format!(" That is {} of the rate of reading alone.", units::percent(share.value))
        });
        let bars = [
            named("Reading alone, from the drive", host.read_per_s),
            named("Reading and hashing, from the drive", host.net_per_s),
            named("Reading and hashing, many files in memory", host.folder_high_per_s),
            named("Reading and hashing, one file in memory", host.hash_high_per_s),
        ];
        let what = format!("read and hashed, as a check does.{of_reading}");
        let headline = Headline::new(cell(Quantity::Rate, rate), what);
        return Some(headline.among(bars.into_iter().flatten()));
    }
    let bars = best_of_each(&figures.kernels).into_iter();
    let bars = bars.filter_map(|kernel| named(kernel.algorithm(), kernel.rate));
    let sha256 = fastest_sha256(&figures.kernels, Some(1))?;
    Some(Headline::new(rate(sha256), "of SHA-256, in memory, in one core.").among(bars))
}

/// Groups the lines of reading and hashing at levels by where the bytes came from, the highest
/// level first.
fn levels_by_cache<'f, 'a>(
    figures: &'f HashFigures<'a>,
) -> Vec<(Option<Cache>, Vec<&'f Curve<'a>>)> {
    let mut caches: Vec<(Option<Cache>, Vec<&Curve<'_>>)> = Vec::new();
    for line in figures.checks().filter(|line| line.factors.qos.is_some()) {
        match caches.iter_mut().find(|(cache, _)| *cache == line.factors.cache) {
            Some((_, lines)) => lines.push(line),
            None => caches.push((line.factors.cache, vec![line])),
        }
    }
    caches
}

/// States the rate of reading and hashing one file, at each level if there are several, and what
/// share of reading it is.
fn check_sentences(figures: &HashFigures<'_>, units: Units) -> Vec<String> {
    let words = |line: &Curve<'_>| {
        let (cache, qos) = (line.factors.cache, line.factors.qos);
        let overlap = figures.overlaps.iter().find(|of| (of.cache, of.qos) == (cache, qos));
        let of_reading = overlap.map_or(String::new(), |of| {
            format!(", {} of reading", cell(Quantity::Share, of.net_by_read).shown(units))
        });
        let at = qos.map_or(String::new(), |qos| format!("at {} ", level_name(qos)));
        format!("{at}{}{of_reading}", rate(line).shown(units))
    };
    let sentence = |(cache, lines): (Option<Cache>, Vec<&Curve<'_>>)| {
        let levels: Vec<String> = lines.into_iter().map(words).collect();
        format!("Reading and hashing, {}: {}.", cache_words(cache), levels.join("; "))
    };
    let plain = figures.checks().filter(|line| line.factors.qos.is_none());
    let plain = plain.map(|line| (line.factors.cache, vec![line]));
    plain.chain(levels_by_cache(figures)).map(sentence).collect()
}

fn notes(figures: &HashFigures<'_>) -> Vec<String> {
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
        let by = by_processor_words(figures.kernels.iter().any(|of| of.elapsed().is_some()));
        notes.push(format!("Rates in memory are medians over rounds. {by} {INTERVALS}"));
        let clock = figures.kernels.iter().find_map(|of| Some((of, bytes_per_cycle(of)?.value)));
        notes.extend(clock.map(|(of, bytes)| {
            format!(
                "The processor's clock was measured after each sample of one thread, by steps of \
                 two cycles, at first {:.2} GHz. Bytes per cycle are also the GB/s at 1 GHz.",
                of.per_second() / bytes / 1e9
            )
        }));
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
fn fastest_sha256<'k, 'a>(kernels: &'k [Curve<'a>], threads: Option<u32>) -> Option<&'k Curve<'a>> {
    let threads = threads.or_else(|| kernels.iter().map(Curve::threads).max())?;
    let sha256 = |of: &&Curve<'_>| of.algorithm() == "sha256" && of.threads() == threads;
    fastest(kernels.iter().filter(sha256))
}

/// Returns the fastest code of an algorithm for one message in one thread.
fn fastest_alone<'k, 'a>(kernels: &'k [Curve<'a>], algorithm: &str) -> Option<&'k Curve<'a>> {
    let alone = kernels.iter().filter(|of| (of.factors.lanes, of.threads()) == (Some(1), 1));
    fastest(alone.filter(|of| of.algorithm() == algorithm))
}

/// Compares SHA-256 with the other algorithms: one message with one message, and only where the
/// intervals lie apart.
fn algorithms_sentence(kernels: &[Curve<'_>], units: Units) -> Option<String> {
    let sha256 = fastest_alone(kernels, "sha256")?;
    let (low, high) = sha256.rate?.interval?;
    let mut names: Vec<&str> = kernels.iter().map(Curve::algorithm).collect();
    names.sort_unstable();
    names.dedup();
    let others = names.into_iter().filter(|name| *name != "sha256");
    let others: Vec<&Curve<'_>> = others.filter_map(|name| fastest_alone(kernels, name)).collect();
    let than = |how: &str, is: &dyn Fn((f64, f64)) -> bool| {
        let of = others.iter().filter(|of| of.rate.and_then(|rate| rate.interval).is_some_and(is));
        let names: Vec<&str> = of.map(|of| of.algorithm()).collect();
        (!names.is_empty()).then(|| format!("{how} than {}", names.join(", ")))
    };
    let faster = than("faster", &|(_, other_high)| other_high < low);
    let slower = than("slower", &|(other_low, _)| other_low > high);
    let both: Vec<String> = faster.into_iter().chain(slower).collect();
    let (backend, rate) = (sha256.backend(), rate(sha256).shown(units));
    (!both.is_empty()).then(|| {
        let both = both.join(", and ");
        format!("Of one message each, in one thread, sha256 ({backend}, {rate}) is {both}.")
    })
}

fn fastest_sentence(kernels: &[Curve<'_>], units: Units) -> Option<String> {
    let (one, all) = (fastest_sha256(kernels, Some(1))?, fastest_sha256(kernels, None)?);
    let alone = fastest_alone(kernels, "sha256")?;
    Some(format!(
        "In memory SHA-256 of one message runs at {} ({}), of many messages in one thread at {} \
         ({} x{}), in {} at {}.",
        rate(alone).shown(units),
        alone.backend(),
        rate(one).shown(units),
        one.backend(),
        one.factors.lanes.unwrap_or(1),
        units::counted(u64::from(all.threads()), "thread", "threads"),
        rate(all).shown(units)
    ))
}

fn gain_sentence(figures: &HashFigures<'_>) -> Option<String> {
    let gain = figures.gain(fastest_alone(&figures.kernels, "sha256")?)?;
    let many = figures.gain(fastest_sha256(&figures.kernels, Some(1))?)?;
    (is_known(&many) && is_known(&gain)).then(|| {
        format!(
            "The processor's instructions make SHA-256 {} as fast as software alone, and {} with \
             many messages at once.",
            ratio(gain),
            ratio(many)
        )
    })
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

fn stage_words(stage: Option<Stage>) -> &'static str {
    match stage {
        Some(Stage::Hash) => "Hashing in memory",
        Some(Stage::Read) => "Reading",
        _ => "Reading and hashing",
    }
}

/// Returns what a measurement with the engine that moves no bytes shows.
fn engine_words(of: &Curve<'_>) -> Option<&'static str> {
    (of.factors.engine.as_deref() == Some(NULL_ENGINE)).then_some(match of.factors.stage {
        Some(Stage::Read) => "the path alone, no bytes moved",
        _ => "the path with hashing, no bytes moved",
    })
}

fn line_words(line: &Curve<'_>) -> String {
    let cache = cache_words(line.factors.cache);
    let what = match (line.factors.stage, engine_words(line)) {
        (Some(Stage::Hash), _) => "hashing alone, in memory".to_owned(),
        (_, Some(words)) => words.to_owned(),
        (Some(Stage::Read), _) => format!("reading alone, {cache}"),
        _ => format!("reading and hashing, {cache}"),
    };
    format!("{what}{}", at_level(line.factors.qos))
}

/// Names a level, if there is one, behind what was measured at it.
fn at_level(qos: Option<u8>) -> String {
    qos.map_or(String::new(), |qos| format!(", at {}", level_name(qos)))
}

fn tables(figures: &HashFigures<'_>, units: Units) -> Vec<Table> {
    let threads = |of: &Curve<'_>| Cell::count(of.threads());
    let kernels: &[Field<'_, Curve<'_>>] = &[
        ("Algorithm", &|of| Cell::text(of.algorithm())),
        ("Backend", &|of| Cell::text(of.backend())),
        (">Lanes", &|of| Cell::count(of.factors.lanes.unwrap_or(1))),
        (">Threads", &threads),
        (">Rate", &rate),
        (">Elapsed", &elapsed),
        (">Waited", &waited),
        (">× software", &|of| cell(Quantity::Ratio, figures.gain(of))),
        (">Bytes per cycle", &|of| {
            let bytes = bytes_per_cycle(of).map(|of| format!("{:.2}", of.value));
            bytes.map_or(Cell::Empty, Cell::text)
        }),
    ];
    let sizes = |of: &Curve<'_>| {
        let (from, to) = of.amounts();
        Cell::text(format!("{}–{}", units.bytes(from as u64), units.bytes(to as u64)))
    };
    let lines: &[Field<'_, Curve<'_>>] = &[
        ("What", &|of| Cell::text(units::capital(&line_words(of)))),
        (">Sizes", &sizes),
        (">Rate", &rate),
        (">Each file", &latency),
        (">Bytes ÷ time", &|of| {
            Cell::maybe(of.fit.as_ref().map(|fit| Quantity::Rate(fit.rate_overall_per_s)))
        }),
    ];
    let folder_words = |of: &Curve<'_>| match engine_words(of) {
        Some(words) => units::capital(words),
        None => format!("{}, {}", stage_words(of.factors.stage), cache_words(of.factors.cache)),
    };
    let folders: &[Field<'_, Curve<'_>>] = &[
        ("What", &|of| Cell::text(folder_words(of))),
        (">Files", &|of| Cell::count(of.series.samples[0].files.unwrap_or(0))),
        (">Bytes", &|of| Cell::bytes(of.series.samples[0].amount)),
        (">Rate", &rate),
        (">Of reading", &|of| cell(Quantity::Share, figures.folder_by_read(of))),
    ];
    let overlaps: &[Field<'_, Overlap>] = &[
        ("Files", &|of| {
            Cell::text(format!("{}{}", units::capital(cache_words(of.cache)), at_level(of.qos)))
        }),
        (">From", &|of| Cell::bytes(of.size_bytes_min)),
        (">Overlap", &|of| cell(Quantity::Share, of.overlap)),
        (">Net ÷ read", &|of| cell(Quantity::Share, of.net_by_read)),
        (">Net ÷ hash", &|of| cell(Quantity::Share, of.net_by_hash)),
        ("Bound by", &|of| of.net_by_hash.map_or(Cell::Empty, |_| Cell::text(bound_words(of)))),
    ];
    let levels: &[Field<'_, Curve<'_>>] = &[
        ("What", &|of| Cell::text(stage_words(of.factors.stage))),
        (">Level", &|of| Cell::count(of.factors.qos.unwrap_or(0))),
        (">Threads", &threads),
        (">Rate", &rate),
    ];
    let overlap_title = "How far reading and hashing hide each other";
    vec![
        Table::of("hash-in-memory", "Hashing in memory", 4, &figures.kernels, kernels)
            .without_empty_columns(),
        Table::of("hash-by-size", "One file: rate, and cost of each", 1, &figures.lines, lines),
        times(figures),
        Table::of("hash-folder", "A folder in one run", 1, &figures.folders, folders),
        Table::of("hash-overlap", overlap_title, 1, &figures.overlaps, overlaps)
            .without_empty_columns(),
        Table::of("hash-levels", "QoS levels", 3, &figures.levels, levels),
    ]
}

/// How long one file of each size takes: hashing, reading, and both.
fn times(figures: &HashFigures<'_>) -> Table {
    let lines = figures.lines.iter().filter(|line| moves_bytes(line));
    let columns: Vec<(String, &Curve<'_>)> =
        lines.map(|line| (format!(">{}", units::capital(&line_words(line))), line)).collect();
    let points = columns.iter().flat_map(|(_, line)| &line.points);
    let mut sizes: Vec<u64> = points.map(|timed| timed.point.amount as u64).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let words = ["hash-times", "Times of one file"];
    let before: &[Field<'_, u64>] = &[(">Size", &|size| Cell::bytes(*size))];
    crossed(words, &sizes, (before, &[]), &columns, |size, line| {
        let points = line.points.iter().map(|timed| timed.point);
        let of_size = points.filter(|point| point.amount as u64 == *size);
        let times: Vec<f64> = of_size.map(|point| 1e9 * point.time_s).collect();
        cell(Quantity::Time, Figure::of_rounds(&times))
    })
}

fn charts(figures: &HashFigures<'_>) -> Vec<Chart> {
    let plain = || figures.lines.iter().filter(|of| moves_bytes(of) && of.factors.qos.is_none());
    let words = [
        "hash-by-size",
        "Time by size of one file",
        "Each dot is one run; each line is the fit whose slope gives the rate, in the band of its \
         interval.",
    ];
    let mut charts = vec![
        by_size(words, Axis::log, plain().map(|line| (line_words(line), line))),
        parts(&plain().collect::<Vec<_>>()),
        algorithms(&figures.kernels),
    ];
    // On linear axes, as other publications draw it.
    charts.extend(levels_by_cache(figures).into_iter().map(|(cache, lines)| {
        let cache = cache_words(cache);
        let words = [
            &*format!("hash-levels-by-size-{}", cache.replace(' ', "-")),
            &format!("Time to read and hash one file, {cache}, by QoS level"),
            "Each dot is one run, and each level has its fitted line in its band. The steeper a \
             line, the lower the rate.",
        ];
        let level = |line: &Curve<'_>| level_name(line.factors.qos.unwrap_or(0));
        by_size(words, Axis::linear, lines.into_iter().map(|line| (level(line), line)))
    }));
    charts
}

/// Reading, hashing and both beside each other, by where the bytes came from.
fn parts(lines: &[&Curve<'_>]) -> Chart {
    let of_stage =
        |stage: Stage| lines.iter().copied().filter(move |line| line.factors.stage == Some(stage));
    let hashing = of_stage(Stage::Hash).next().and_then(|line| line.rate);
    let checked: Vec<&Curve<'_>> = of_stage(Stage::ReadHash).collect();
    let reading = |of: &&Curve<'_>| {
        of_stage(Stage::Read).find(|line| line.factors.cache == of.factors.cache)?.rate
    };
    let words = [
        "hash-parts",
        "Reading, hashing, and both",
        "For each state of the page cache three bars: the rate of reading alone, of hashing alone, \
         and of both as a check does them. The shorter of the first two is what bounds the third.",
    ];
    let names = checked.iter().map(|line| cache_words(line.factors.cache).to_owned());
    let layers = vec![
        rows_layer("reading alone", Mark::Bars, &checked, reading),
        rows_layer("hashing alone", Mark::Bars, &checked, |_| hashing),
        rows_layer("both", Mark::Bars, &checked, |line| line.rate),
    ];
    bars(words, names, Axis::linear("rate of one file", Quantity::Rate(0.0)), layers)
}

/// Returns each algorithm by its fastest backend in one thread, in the order of the record.
fn best_of_each<'k, 'a>(kernels: &'k [Curve<'a>]) -> Vec<&'k Curve<'a>> {
    let mut best: Vec<&Curve<'_>> = Vec::new();
    for kernel in kernels.iter().filter(|kernel| kernel.threads() == 1) {
        match best.iter_mut().find(|known| known.algorithm() == kernel.algorithm()) {
            Some(known) if known.per_second() >= kernel.per_second() => {}
            Some(known) => *known = kernel,
            None => best.push(kernel),
        }
    }
    best
}

fn algorithms(kernels: &[Curve<'_>]) -> Chart {
    let mut best = best_of_each(kernels);
    best.sort_by(|a, b| b.per_second().total_cmp(&a.per_second()));
    let names = best.iter().map(|of| format!("{}, {}", of.algorithm(), of.backend()));
    let shown = if best.len() > 1 { best.as_slice() } else { &[] };
    let layer = rows_layer("one thread", Mark::Bars, shown, |kernel| kernel.rate);
    let words = [
        "hash-algorithms",
        "Algorithms in memory, one thread",
        "A bar for each algorithm, by its fastest backend.",
    ];
    bars(words, names, Axis::linear("rate", Quantity::Rate(0.0)), vec![layer])
}
