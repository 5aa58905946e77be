//! Loops in one core: a section of a record's document.
//!
//! In: figures. Out: a [`Section`]: the main results in sentences, then one table.

use steadfast_measure::figures::MARGIN;
use steadfast_measure::figures::cpu::{CROWDED_SHARE, CpuFigures, LevelsCompared, LoopRate};
use steadfast_measure::figures::hash::Figure;
use steadfast_measure::stats::Finding;
use steadfast_measure::workload::cpu::kernels::Kernel;

use super::{INTERVALS, by_processor_words, cell, elapsed_cell, rows_layer, waited_cell};
use crate::document::{Axis, Cell, Chart, Field, Headline, Mark, Quantity, Section, Table};
use crate::units::{self, Units};

/// Makes the section.
pub(super) fn section(figures: &CpuFigures) -> Section {
    let mut sentences = Vec::new();
    sentences.extend(level_sentence(figures));
    sentences.extend(mixed_sentence(figures));
    sentences.extend(crowded_sentence(&figures.rates));
    sentences.extend(against_sentence(figures));
    if sentences.is_empty() {
        sentences.extend(rate_sentence(&figures.rates));
    }
    Section {
        title: "Loops in one core".to_owned(),
        headline: headline(figures),
        sentences,
        tables: vec![table(figures)],
        charts: chart(figures).into_iter().collect(),
        notes: notes(figures),
    }
}

/// What the lowest level does of the highest, beside it if that was measured, or the rate of the
/// fastest kernel.
fn headline(figures: &CpuFigures) -> Option<Headline> {
    if let Some(LevelsCompared { low, high, share, .. }) = figures.contended {
        let what = format!("of the loops at level {high} are done at level {low} beside them");
        return Some(Headline::new(cell(Quantity::Share, share), what));
    }
    if let Some(LevelsCompared { low, high, share, .. }) = figures.levels {
        let what = format!("of the loops at level {high} are done at level {low}");
        return Some(Headline::new(cell(Quantity::Share, share), what));
    }
    let alone = figures.rates.iter().filter(|rate| rate.threads == 1);
    let fastest = alone.max_by(|a, b| a.rate.value.total_cmp(&b.rate.value))?;
    let what = format!("loops of {} by one thread", fastest.kernel);
    Some(Headline::new(cell(Quantity::PerSecond, fastest.rate), what))
}

fn table(figures: &CpuFigures) -> Table {
    let other = figures.against.as_ref().map(|name| format!(">% of {name}"));
    let mut fields: Vec<Field<'_, LoopRate>> = vec![
        ("Kernel", &|of| Cell::text(&of.kernel)),
        ("QoS", &|of| of.qos.map_or(Cell::Empty, |level| Cell::text(level.to_string()))),
        (">Threads", &|of| Cell::count(of.threads)),
        (">Beside", &|of| of.busy_threads.map_or(Cell::Empty, Cell::count)),
        (">Loops/s of one", &|of| cell(Quantity::PerSecond, of.rate)),
        (">Elapsed", &|of| elapsed_cell(Quantity::PerSecond, of.elapsed)),
        (">Waited", &|of| waited_cell(of.elapsed)),
        (">Of 1 thread", &|of| cell(Quantity::Share, of.of_one_thread)),
        (">Of high", &|of| cell(Quantity::Share, of.of_own_high)),
    ];
    if let Some(other) = &other {
        fields.push((other, &|of| cell(Quantity::Share, hundredth(of))));
    }
    let title = "Loops per second of one thread";
    Table::of("cpu", title, 4, &figures.rates, &fields).without_empty_columns()
}

/// One thread of each kernel, the highest and the lowest level side by side, in per cent: of the
/// other record, or of this one's highest level.
fn chart(figures: &CpuFigures) -> Option<Chart> {
    let alone = || figures.rates.iter().filter(|rate| rate.threads == 1);
    let mut names: Vec<String> = alone().map(|rate| rate.kernel.clone()).collect();
    names.dedup();
    let high = alone().map(|rate| rate.qos).max()?;
    let low = alone().map(|rate| rate.qos).min().filter(|low| *low < high);
    let share = |rate: &LoopRate| match &figures.against {
        Some(_) => hundredth(rate),
        None if rate.qos == high => Some(Figure { value: 1.0, interval: None }),
        None => rate.of_own_high,
    };
    let layer = |level: Option<u8>| {
        let label = level.map_or("no level asked for".to_owned(), |level| format!("level {level}"));
        rows_layer(label, Mark::Bars, &names, |name| {
            let mut rates = alone().filter(|rate| rate.qos == level);
            rates.find(|rate| rate.kernel == *name).and_then(share)
        })
    };
    let mut layers = vec![layer(high)];
    layers.extend(low.map(layer));
    // Without another level or record, every bar would be 100 % of itself.
    let tells = figures.against.is_some() || layers.len() > 1;
    let tells = tells && layers.iter().any(|layer| !layer.points.is_empty());
    let of = match &figures.against {
        Some(name) => format!("of {name}"),
        None => "of the highest level".to_owned(),
    };
    let description = "A group of bars for each kernel: one thread at the highest level and at the \
                       lowest, with intervals.";
    tells.then(|| {
        let title = format!("Loops of one thread, in per cent {of}");
        let y = Axis::linear(format!("loops per second, {of}"), Quantity::Share(0.0));
        Chart::new("cpu-percent", title, description, (Axis::names(names.clone()), y), layers)
    })
}

/// The percentage as a share.
fn hundredth(rate: &LoopRate) -> Option<Figure> {
    let percent = rate.of_other_percent?;
    Some(Figure { value: percent.value / 100.0, ..percent.scaled(0.01) })
}

/// States what the lowest level does of the loops of the highest, and whether that is a difference.
fn level_sentence(figures: &CpuFigures) -> Option<String> {
    let LevelsCompared { low, high, share, finding } = figures.levels?;
    let of_low = |rate: &&LoopRate| {
        rate.qos == Some(low) && rate.threads == 1 && rate.busy_threads.is_none()
    };
    let kernels: Vec<&LoopRate> = figures.rates.iter().filter(of_low).collect();
    let shares = kernels.iter().filter_map(|rate| rate.of_own_high);
    let range = match span(shares).filter(|_| kernels.len() > 1) {
        Some(span) => format!(" by the median kernel, and {span} kernel by kernel"),
        None => String::new(),
    };
    let found = match finding {
        Finding::Slower => "it is slower".to_owned(),
        Finding::Faster => "it is faster".to_owned(),
        Finding::NoDifference => format!("no difference within ±{}", units::percent(MARGIN)),
        Finding::NotEnoughData if share.interval.is_some() => "no difference was found".to_owned(),
        Finding::NotEnoughData => "too few rounds to tell".to_owned(),
    };
    let share = cell(Quantity::Share, share).shown(Units::Si);
    Some(format!(
        "At level {low} one thread does {share} of its loops at level {high}{range}: {found}. \
         What a level takes shows only beside other work, or where there are slower cores."
    ))
}

/// States what threads at the lowest level do beside threads at the highest.
fn mixed_sentence(figures: &CpuFigures) -> Option<String> {
    let LevelsCompared { low, high, share, .. } = figures.contended?;
    let mixed = || figures.rates.iter().filter(|rate| rate.busy_threads.is_some());
    let span = span(mixed().filter_map(|rate| rate.of_own_high))?;
    let threads = mixed().map(|rate| rate.threads).max()?;
    let share = cell(Quantity::Share, share).shown(Units::Si);
    Some(format!(
        "With {threads} threads at level {low} beside as many at level {high}, the low ones do \
         {share} of the loops per second of the high ones by the median kernel, and {span} kernel \
         by kernel."
    ))
}

fn crowded_sentence(rates: &[LoopRate]) -> Option<String> {
    let crowded: Vec<&LoopRate> = rates.iter().filter(|rate| rate.is_crowded()).collect();
    let span = span(crowded.iter().filter_map(|rate| rate.of_one_thread))?;
    let threads = crowded.iter().map(|rate| rate.threads).max()?;
    Some(format!(
        "Up to {threads} threads at once do {span} of one thread's loops each in {} below the \
         {} that would pass for undisturbed: they share a cache, the units of a core, or heat.",
        units::counted(crowded.len() as u64, "combination", "combinations"),
        units::share(CROWDED_SHARE)
    ))
}

fn against_sentence(figures: &CpuFigures) -> Option<String> {
    let name = figures.against.as_ref()?;
    if figures.rates.iter().all(|rate| rate.of_other_percent.is_none()) {
        return Some(format!("The record of {name} has none of these loops: nothing is compared."));
    }
    let high = figures.rates.iter().filter_map(|rate| rate.qos).max();
    let compared = figures.rates.iter().filter(|rate| rate.qos == high && rate.threads == 1);
    let span = span(compared.filter_map(hundredth))?;
    Some(format!("One thread does {span} of the loops of {name}."))
}

/// States the rate of one thread at the highest level: of one kernel, or of the slowest and the
/// fastest.
fn rate_sentence(rates: &[LoopRate]) -> Option<String> {
    let high = rates.iter().map(|rate| rate.qos).max()?;
    let one = rates.iter().filter(|rate| rate.qos == high && rate.threads == 1);
    let mut one: Vec<&LoopRate> = one.collect();
    one.sort_by(|a, b| a.rate.value.total_cmp(&b.rate.value));
    let loops_of = |of: &LoopRate| {
        format!("{} of {}", cell(Quantity::PerSecond, of.rate).shown(Units::Si), of.kernel)
    };
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
        [only] => Some(cell(Quantity::Share, *only).shown(Units::Si)),
        [least, .., most] => {
            let (least, most) = (text(least), text(most));
            Some(if least == most { least } else { format!("{least} to {most}") })
        }
    }
}

fn notes(figures: &CpuFigures) -> Vec<String> {
    let known = |rate: &LoopRate| Kernel::ALL.into_iter().find(|known| known.name() == rate.kernel);
    let mut kernels: Vec<Kernel> = figures.rates.iter().filter_map(known).collect();
    kernels.dedup();
    let mut notes: Vec<String> = kernels
        .into_iter()
        .map(|kernel| format!("{}: {}.", kernel.name(), kernel.definition()))
        .collect();
    let by = by_processor_words(figures.rates.iter().any(|of| of.elapsed.is_some()));
    notes.push(format!(
        "Rates are medians over rounds, of one thread each. {by} {INTERVALS} Of many \
         such intervals some exclude the truth; the sentence about levels judges all kernels \
         together. The loops touch hardly any memory, so they say nothing of storage."
    ));
    notes
}
