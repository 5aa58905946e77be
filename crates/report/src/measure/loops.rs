//! Loops in one core: a section of a record's document.

use steadfast_measure::figures::cpu::{self, CROWDED_SHARE, CpuFigures, LevelsCompared, is_mixed};
use steadfast_measure::figures::{Curve, MARGIN, fastest};
use steadfast_measure::record::Record;
use steadfast_measure::stats::{Figure, Finding, median};
use steadfast_measure::workload::cpu::kernels::Kernel;

use super::{INTERVALS, bars, by_processor_words, cell, elapsed, rate, rows_layer, share, waited};
use crate::document::{Axis, Cell, Chart, Field, Headline, Mark, Quantity, Section, Table};
use crate::units::{self, Units};

/// Makes the section.
pub(super) fn section(record: &Record, other: Option<&Record>) -> Option<Section> {
    let figures = &cpu::of(record, other)?;
    let mut sentences: Vec<String> = [
        level_sentence(figures),
        mixed_sentence(figures),
        crowded_sentence(figures),
        against_sentence(figures),
    ]
    .into_iter()
    .flatten()
    .collect();
    if sentences.is_empty() {
        sentences.extend(rate_sentence(figures));
    }
    Some(Section {
        title: "Loops in one core".to_owned(),
        headline: headline(figures),
        sentences,
        tables: vec![table(figures)],
        charts: chart(figures).into_iter().collect(),
        notes: notes(figures),
    })
}

/// What the lowest level does of the highest, beside it if that was measured, or the rate of the
/// fastest kernel.
fn headline(figures: &CpuFigures<'_>) -> Option<Headline> {
    let Some(compared) = figures.contended.or(figures.levels) else {
        let fastest = fastest(figures.alone())?;
        let what = format!("loops of {} by one thread", fastest.algorithm());
        return Some(Headline::new(rate(fastest), what));
    };
    let LevelsCompared { low, high, share, .. } = compared;
    let beside = figures.contended.is_some();
    let what = match beside {
        true => "of the rate at the highest level, while both levels run at once.",
        false => "of the rate at the highest level, in the median over the loops.",
    };
    // The levels between, if none ran beside them.
    let between = |level: u8| {
        let of_level = figures.alone().filter(|rate| rate.factors.qos == Some(level) && !beside);
        let shares = of_level.filter_map(|rate| Some(figures.of_high(rate)?.value));
        median(&shares.collect::<Vec<f64>>())
    };
    let share_of = |level: u8| match level {
        level if level == low => Some(share.value),
        level if level == high => Some(1.0),
        level => between(level),
    };
    let bars = (low..=high)
        .filter_map(|level| Some((format!("Level {level}"), Quantity::Share(share_of(level)?))));
    Some(Headline::new(cell(Quantity::Share, share), what).beside(bars))
}

fn table(figures: &CpuFigures<'_>) -> Table {
    let other = figures.against().map_or(String::new(), |name| format!(">% of {name}"));
    let maybe = |number: Option<u32>| number.map_or(Cell::Empty, Cell::count);
    let qos = |of: &Curve<'_>| of.factors.qos.map(|level| level.to_string());
    let fields: &[Field<'_, Curve<'_>>] = &[
        ("Kernel", &|of| Cell::text(of.algorithm())),
        ("QoS", &|of| Cell::words(qos(of).unwrap_or_default())),
        (">Threads", &|of| Cell::count(of.threads())),
        (">Beside", &|of| maybe(of.factors.busy_threads)),
        (">Loops/s of one", &rate),
        (">Elapsed", &elapsed),
        (">Waited", &waited),
        (">Of 1 thread", &|of| cell(Quantity::Share, figures.of_one_thread(of))),
        (">Of high", &|of| cell(Quantity::Share, figures.of_high(of))),
        (&other, &|of| cell(Quantity::Share, figures.of_other(of))),
    ];
    let title = "Loops per second of one thread";
    Table::of("cpu", title, 4, &figures.rates, fields).without_empty_columns()
}

/// One thread of each kernel, the highest and the lowest level side by side, in per cent: of the
/// other record, or of this one's highest level.
fn chart(figures: &CpuFigures<'_>) -> Option<Chart> {
    let mut names: Vec<String> = figures.alone().map(|rate| rate.algorithm().to_owned()).collect();
    names.dedup();
    let levels = || figures.alone().map(|rate| rate.factors.qos);
    let high = levels().max()?;
    let low = levels().min().filter(|low| *low < high);
    let of_rate = |rate: &Curve<'_>| match figures.against() {
        Some(_) => figures.of_other(rate),
        None if rate.factors.qos == high => Some(Figure { value: 1.0, interval: None }),
        None => figures.of_high(rate),
    };
    let layer = |level: Option<u8>| {
        let label = level.map_or("no level asked for".to_owned(), |level| format!("level {level}"));
        rows_layer(label, Mark::Bars, &names, |name| {
            let mut rates = figures.alone().filter(|rate| rate.factors.qos == level);
            rates.find(|rate| rate.algorithm() == *name).and_then(of_rate)
        })
    };
    let mut layers = vec![layer(high)];
    layers.extend(low.map(layer));
    // Without another level or record, every bar would be 100 % of itself.
    let tells = figures.against().is_some() || layers.len() > 1;
    let of =
        figures.against().map_or("of the highest level".to_owned(), |name| format!("of {name}"));
    let words = [
        "cpu-percent",
        &*format!("Loops of one thread, in per cent {of}"),
        "A group of bars for each kernel: one thread at the highest level and at the lowest, with \
         intervals.",
    ];
    let y = Axis::linear(format!("loops per second, {of}"), Quantity::Share(0.0));
    tells.then(|| bars(words, names.clone(), y, layers))
}

/// States what the lowest level does of the loops of the highest, and whether that is a difference.
fn level_sentence(figures: &CpuFigures<'_>) -> Option<String> {
    let LevelsCompared { low, high, share: of_high, finding } = figures.levels?;
    let kernels = figures.alone().filter(|rate| rate.factors.qos == Some(low));
    let kernels: Vec<&Curve<'_>> = kernels.collect();
    let shares = kernels.iter().filter_map(|rate| figures.of_high(rate));
    let range = match span(shares).filter(|_| kernels.len() > 1) {
        Some(span) => format!(" by the median kernel, and {span} kernel by kernel"),
        None => String::new(),
    };
    let found = match finding {
        Finding::Slower => "it is slower".to_owned(),
        Finding::Faster => "it is faster".to_owned(),
        Finding::NoDifference => format!("no difference within ±{}", units::percent(MARGIN)),
        Finding::NotEnoughData if of_high.interval.is_some() => {
            "no difference was found".to_owned()
        }
        Finding::NotEnoughData => "too few rounds to tell".to_owned(),
    };
    Some(format!(
        "At level {low} one thread does {} of its loops at level {high}{range}: {found}. \
         What a level takes shows only beside other work, or where there are slower cores.",
        share(of_high)
    ))
}

/// States what threads at the lowest level do beside threads at the highest.
fn mixed_sentence(figures: &CpuFigures<'_>) -> Option<String> {
    let LevelsCompared { low, high, share: of_high, .. } = figures.contended?;
    let mixed = || figures.rates.iter().filter(|rate| is_mixed(rate));
    let span = span(mixed().filter_map(|rate| figures.of_high(rate)))?;
    let threads = mixed().map(Curve::threads).max()?;
    Some(format!(
        "With {threads} threads at level {low} beside as many at level {high}, the low ones do \
         {} of the loops per second of the high ones by the median kernel, and {span} kernel \
         by kernel.",
        share(of_high)
    ))
}

fn crowded_sentence(figures: &CpuFigures<'_>) -> Option<String> {
    let crowded: Vec<&Curve<'_>> =
        figures.rates.iter().filter(|rate| figures.is_crowded(rate)).collect();
    let span = span(crowded.iter().filter_map(|rate| figures.of_one_thread(rate)))?;
    let threads = crowded.iter().map(|rate| rate.threads()).max()?;
    Some(format!(
        "Up to {threads} threads at once do {span} of one thread's loops each in {} below the \
         {} that would pass for undisturbed: they share a cache, the units of a core, or heat.",
        units::counted(crowded.len() as u64, "combination", "combinations"),
        units::share(CROWDED_SHARE)
    ))
}

fn against_sentence(figures: &CpuFigures<'_>) -> Option<String> {
    let name = figures.against()?;
    if figures.rates.iter().all(|rate| figures.of_other(rate).is_none()) {
        return Some(format!("The record of {name} has none of these loops: nothing is compared."));
    }
    let high = figures.rates.iter().filter_map(|rate| rate.factors.qos).max();
    let compared = figures.alone().filter(|rate| rate.factors.qos == high);
    let span = span(compared.filter_map(|rate| figures.of_other(rate)))?;
    Some(format!("One thread does {span} of the loops of {name}."))
}

/// States the rate of one thread at the highest level: of one kernel, or of the slowest and the
/// fastest.
fn rate_sentence(figures: &CpuFigures<'_>) -> Option<String> {
    let high = figures.rates.iter().map(|rate| rate.factors.qos).max()?;
    let one = figures.alone().filter(|rate| rate.factors.qos == high);
    let mut one: Vec<&Curve<'_>> = one.collect();
    one.sort_by(|a, b| a.per_second().total_cmp(&b.per_second()));
    let loops_of = |of: &Curve<'_>| format!("{} of {}", rate(of).shown(Units::Si), of.algorithm());
    let (slowest, fastest) = (one.first()?, one.last()?);
    let also = if one.len() > 1 { format!(" and {}", loops_of(fastest)) } else { String::new() };
    Some(format!("One thread does {}{also}: loops per second.", loops_of(slowest)))
}

/// Shows a share with its interval, or of several the least and the greatest.
fn span(shares: impl Iterator<Item = Figure>) -> Option<String> {
    let mut shares: Vec<Figure> = shares.collect();
    shares.sort_by(|a, b| a.value.total_cmp(&b.value));
    let text = |share: &Figure| Quantity::Share(share.value).text(Units::Si);
    match shares.as_slice() {
        [] => None,
        [only] => Some(share(*only)),
        [least, .., most] => {
            let (least, most) = (text(least), text(most));
            Some(if least == most { least } else { format!("{least} to {most}") })
        }
    }
}

fn notes(figures: &CpuFigures<'_>) -> Vec<String> {
    let known =
        |rate: &Curve<'_>| Kernel::ALL.into_iter().find(|known| known.name() == rate.algorithm());
    let mut kernels: Vec<Kernel> = figures.rates.iter().filter_map(known).collect();
    kernels.dedup();
    let definition = |kernel: Kernel| format!("{}: {}.", kernel.name(), kernel.definition());
    let mut notes: Vec<String> = kernels.into_iter().map(definition).collect();
    let by = by_processor_words(figures.rates.iter().any(|of| of.elapsed().is_some()));
    notes.push(format!(
        "Rates are medians over rounds, of one thread each. {by} {INTERVALS} Of many \
         such intervals some exclude the truth; the sentence about levels judges all kernels \
         together. The loops touch hardly any memory, so they say nothing of storage."
    ));
    notes
}
