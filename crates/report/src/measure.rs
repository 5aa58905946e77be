//! Makes a document of a record of measurements.
//!
//! In: a record, as it was measured or read. Out: a [`Document`] with a section for each workload
//! of the record, in the order of `measure all`. [`steadfast_measure::figures`] derives the
//! figures, which are not stored.

mod cipher;
mod hash;
mod loops;
mod queue;
mod sides;
mod storage;

use steadfast::{Level, Timestamp};
use steadfast_measure::figures::Curve;
use steadfast_measure::record::{Cache, Place, Record, SessionLevel, Unit, Workload};
use steadfast_measure::stats::Figure;

use crate::document::{
    Axis, Cell, Chart, Document, Field, Layer, Mark, Point, Quantity, Section, Table,
};
use crate::units::{self, Units};

/// States the level of intervals.
pub(crate) const INTERVALS: &str =
    "Intervals hold 95 %, those of five rounds 94 %; of fewer rounds there are none.";

/// States by which time rates are, where the processor did the work. `known` says whether the
/// record has processor times.
pub(crate) fn by_processor_words(known: bool) -> &'static str {
    match known {
        true => {
            "They are by processor time, which other programs hardly change; elapsed time stands \
             beside it, with the share of it for which the threads waited for a processor."
        }
        false => "They are by elapsed time, because the record has no processor time.",
    }
}

/// Makes a document of a record.
pub fn document(record: &Record) -> Document {
    document_against(record, None, Units::default())
}

/// Makes a document of a record. If there is another record, loops in one core are also shown in
/// per cent of the other's. `units` are those of sentences; those of tables are chosen when the
/// document is written.
pub fn document_against(record: &Record, other: Option<&Record>, units: Units) -> Document {
    let title = match (&record.name, &record.published) {
        (_, Some(published)) => format!("Published: {}", published.source),
        (Some(name), None) => format!("{name}: measured by {}", record.made_by),
        (None, None) => format!("{}: measured by {}", record.machine.cpu, record.made_by),
    };
    let mut warnings = Vec::new();
    warnings.extend(record.partial.as_ref().map(|why| format!("this record is partial: {why}")));
    warnings.extend(busy(record));
    warnings.extend(record.warnings.iter().cloned());
    let sections = sections(record, other, units);
    if sections.is_empty() && record.published.is_none() {
        warnings.push("there are no figures: too little was measured for any".to_owned());
    }
    Document {
        title,
        facts: facts(record, units),
        origin: origin(record),
        warnings,
        answers_first: true,
        sections,
    }
}

/// Makes the sections, in the order of `measure all`. A published record has none: the document
/// about machines shows its figures.
fn sections(record: &Record, other: Option<&Record>, units: Units) -> Vec<Section> {
    let section = |workload: Workload| match workload {
        Workload::Hash => hash::section(record, units),
        Workload::Read | Workload::Write => storage::section(record, workload, units),
        Workload::Queue => queue::section(record, units),
        Workload::Pair => sides::section(record, units),
        Workload::Cipher => cipher::section(record),
        Workload::Cpu => loops::section(record, other),
    };
    let measured = Workload::ALL.into_iter().filter(|_| record.published.is_none());
    let mut sections: Vec<Section> = measured.filter_map(section).collect();
    for section in &mut sections {
        section.tables.retain(|table| !table.rows.is_empty());
        section.charts.retain(|chart| chart.layers.iter().any(|layer| !layer.points.is_empty()));
    }
    sections
}

/// Makes a cell of a figure with its interval, if it has one.
pub(crate) fn cell(quantity: fn(f64) -> Quantity, figure: impl Into<Option<Figure>>) -> Cell {
    let Some(figure) = figure.into() else { return Cell::Empty };
    match figure.interval {
        Some(ends) => Cell::Interval(quantity(figure.value), ends),
        None => Cell::Number(quantity(figure.value)),
    }
}

/// Returns the quantity of a rate in the unit of a series.
pub(crate) fn per_second(unit: Unit) -> fn(f64) -> Quantity {
    if unit == Unit::Bytes { Quantity::Rate } else { Quantity::PerSecond }
}

/// Makes a cell of the rate of a curve.
pub(crate) fn rate(curve: &Curve<'_>) -> Cell {
    cell(per_second(curve.series.unit), curve.rate)
}

/// Makes a cell of the rate by elapsed time.
fn elapsed(curve: &Curve<'_>) -> Cell {
    let quantity = per_second(curve.series.unit);
    Cell::maybe(curve.elapsed().map(|elapsed| quantity(elapsed.per_second)))
}

/// Makes a cell of the share of elapsed time for which threads waited for a processor.
fn waited(curve: &Curve<'_>) -> Cell {
    Cell::maybe(curve.elapsed().map(|elapsed| Quantity::Share(elapsed.waited)))
}

/// Makes a cell of the cost of each file by the line of a curve.
fn latency(curve: &Curve<'_>) -> Cell {
    cell(Quantity::Time, curve.fit.as_ref().map(|fit| fit.latency_s.scaled(1e9)))
}

/// Makes a table with more columns than are known beforehand: a column for each of some things,
/// between the fields before and after it.
fn crossed<R, C>(
    [name, title]: [&str; 2],
    rows: &[R],
    (before, after): (&[Field<'_, R>], &[Field<'_, R>]),
    columns: &[(String, C)],
    cell: impl Fn(&R, &C) -> Cell,
) -> Table {
    let cell = &cell;
    let makers: Vec<_> =
        columns.iter().map(|(_, column)| move |row: &R| cell(row, column)).collect();
    let named = columns.iter().zip(&makers);
    let made = named.map(|((title, _), cell)| -> Field<'_, R> { (title, cell) });
    let fields: Vec<Field<'_, R>> =
        before.iter().copied().chain(made).chain(after.iter().copied()).collect();
    Table::of(name, title, before.len(), rows, &fields)
}

/// Makes a layer with a point for each row that has a figure.
pub(crate) fn rows_layer<T>(
    label: impl Into<String>,
    mark: Mark,
    rows: &[T],
    figure: impl Fn(&T) -> Option<Figure>,
) -> Layer {
    let points = (0..).zip(rows);
    let points = points.filter_map(|(at, row)| Some(point(f64::from(at), &figure(row)?)));
    Layer::new(label, mark, points)
}

/// Makes a point of a chart at a figure, with its interval if it has one.
pub(crate) fn point(x: f64, figure: &Figure) -> Point {
    Point { x, y: figure.value, interval: figure.interval }
}

/// Returns the layers of time by size: the measured points, the fitted line, and its band if it has
/// one.
pub(crate) fn curve_layers(curve: &Curve<'_>, label: &str) -> Vec<Layer> {
    let Some(fit) = &curve.fit else { return Vec::new() };
    let measured = curve.points.iter().map(|timed| timed.point);
    let measured = measured.map(|point| Point::at(point.amount, 1e9 * point.time_s));
    let line = lengths_of(curve).map(|size| Point::at(size, 1e9 * fit.line.time_s(size)));
    // On logarithmic axes a band cannot reach below nothing. It ends at a tenth of the line, and so
    // begins where its data begin.
    let band = fit.band.iter().map(|(size, time_s)| {
        let point = point(*size, &time_s.scaled(1e9));
        let interval = point.interval.map(|(low, high)| (low.max(0.1 * point.y), high));
        Point { interval, ..point }
    });
    let positive = |point: &Point| point.y > 0.0;
    let mut layers = vec![
        Layer::new(label, Mark::Band, band.filter(positive)),
        Layer::new(label, Mark::Line, line.filter(positive)),
        Layer::new(label, Mark::Dots, measured),
    ];
    layers.retain(|layer| !layer.points.is_empty());
    layers
}

/// Draws time against size, a line in its band for each curve with its label.
pub(crate) fn by_size<'c, 'a: 'c>(
    [name, title, description]: [&str; 3],
    axis: fn(&'static str, Quantity) -> Axis,
    curves: impl IntoIterator<Item = (String, &'c Curve<'a>)>,
) -> Chart {
    let axes = (axis("size", Quantity::Bytes(0)), axis("time", Quantity::Time(0.0)));
    let layers = curves.into_iter().flat_map(|(label, curve)| curve_layers(curve, &label));
    Chart::new(name, title, description, axes, layers.collect())
}

/// Draws a group of bars for each name.
pub(crate) fn bars(
    words: [&str; 3],
    names: impl IntoIterator<Item = String>,
    y: Axis,
    layers: Vec<Layer>,
) -> Chart {
    let [name, title, description] = words;
    Chart::new(name, title, description, (Axis::names(names), y), layers)
}

/// Returns the lengths at which a fitted line is drawn, with both ends: it is curved on logarithmic
/// axes.
fn lengths_of(curve: &Curve<'_>) -> impl Iterator<Item = f64> + use<> {
    const STEPS: usize = 40;
    let (from, to) = curve.amounts();
    (0..=STEPS).map(move |step| from * (to / from).powf(step as f64 / STEPS as f64))
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

/// Shows a share with its interval.
pub(crate) fn share(figure: Figure) -> String {
    cell(Quantity::Share, figure).shown(Units::Si)
}

/// Shows a ratio with its interval.
pub(crate) fn ratio(figure: Figure) -> String {
    cell(Quantity::Ratio, figure).shown(Units::Si)
}

/// States that the machine did other work during the measurement, if it did.
fn busy(record: &Record) -> Option<String> {
    let load = record.machine.load?;
    let stolen = load.stolen_ns.unwrap_or(0) as f64 / record.elapsed_ns.max(1) as f64;
    let crowded = load.before > 0.5 * f64::from(record.machine.logical_cpus.max(1));
    (crowded || stolen > 0.01).then(|| {
        "the machine had other work meanwhile: rates by elapsed time are too low and their \
         intervals wide; processor time, and ratios of what took turns, are better"
            .to_owned()
    })
}

/// Returns the machine, the date and the program in one line.
fn origin(record: &Record) -> String {
    let begun = Timestamp { seconds: record.started_unix_s, nanoseconds: 0 };
    format!("{}, {}, {}", record.machine.cpu, units::moment(begun), record.made_by)
}

/// The facts about the machine and the session.
fn facts(record: &Record, units: Units) -> Vec<(String, String)> {
    let machine = &record.machine;
    let mut facts = Vec::new();
    let mut fact = |label: &str, value: String| facts.push((label.to_owned(), value));
    let begun = Timestamp { seconds: record.started_unix_s, nanoseconds: 0 };
    let took = units::duration(record.elapsed_ns);
    fact("when", format!("{}, {took}", units::moment(begun)));
    fact("command", record.command.join(" "));
    let cores = match machine.core_types.as_slice() {
        [] => String::new(),
        types => {
            let of = |of: &steadfast_measure::record::CoreType| {
                format!("{} {}", of.logical_cpus, of.name)
            };
            format!(" ({})", types.iter().map(of).collect::<Vec<_>>().join(", "))
        }
    };
    let processors = units::counted(u64::from(machine.logical_cpus), "processor", "processors");
    fact("processor", format!("{}, {processors}{cores}", machine.cpu));
    fact("backends", machine.backends.join(", "));
    fact("memory", Units::Iec.bytes(machine.memory_bytes));
    let virtual_machine = machine.virtual_machine.as_ref();
    let within = virtual_machine.map(|host| format!(", in a virtual machine of {host}"));
    fact("system", format!("{}{}", machine.os, within.unwrap_or_default()));
    if let Some(power) = &machine.power {
        fact("power", power.clone());
    }
    if let Some(load) = machine.load {
        let stolen = load.stolen_ns.filter(|&ns| ns > 0).map(units::duration);
        let stolen = stolen.map(|time| format!(", the host gave {time} to others"));
        let stolen = stolen.unwrap_or_default();
        fact("load", format!("{:.2} before, {:.2} after{stolen}", load.before, load.after));
    }
    if let Some(level) = &record.level {
        fact("level", level_fact(level));
    }
    let clock = &record.clock;
    let (step, cost) = (clock.resolution_ns, clock.overhead_ns);
    fact("clock", format!("{}, steps of {step} ns, timing nothing takes {cost} ns", clock.name));
    // Each workload of a session examines the folder; the last examination knows most.
    let mut known: Vec<&Place> = Vec::new();
    for place in &record.places {
        match known.iter_mut().find(|known| known.path == place.path) {
            Some(known) => *known = place,
            None => known.push(place),
        }
    }
    for place in known {
        fact("folder", place_text(place, units));
    }
    let seeds = seeds(record);
    if !seeds.is_empty() {
        fact("seed", seeds);
    }
    facts
}

/// Names the level of a session, if it was another than the default: "at background".
pub(crate) fn level_words(level: &SessionLevel) -> Option<String> {
    let effective = level.effective.filter(|&effective| effective != Level::Default.number())?;
    Some(format!("at {}", level_name(effective)))
}

/// Names a level by its number.
pub(crate) fn level_name(number: u8) -> String {
    let known = Level::ALL.into_iter().find(|level| level.number() == number);
    known.map_or(format!("level {number}"), |level| format!("{level} ({number})"))
}

/// States the level of a session, its settings, and what was refused.
fn level_fact(level: &SessionLevel) -> String {
    let name = |level: Option<u8>| level.map_or("unknown".to_owned(), level_name);
    let mut words = vec![name(level.effective)];
    if level.requested.is_some() && level.requested != level.effective {
        words.push(format!("{} was requested", name(level.requested)));
    }
    words.extend(level.settings.iter().cloned());
    if !level.refused.is_empty() {
        words.push(format!("refused: {}", level.refused.join(" and ")));
    }
    words.join(", ")
}

/// Returns the seeds that reproduce a session: one number, or one for each workload.
fn seeds(record: &Record) -> String {
    let mut seeds: Vec<(Workload, u64)> = Vec::new();
    for series in &record.series {
        let one = series.seed.map(|seed| (series.workload, seed));
        seeds.extend(one.filter(|one| !seeds.contains(one)));
    }
    let (_, first) = seeds.first().copied().unzip();
    if seeds.iter().all(|(_, seed)| Some(*seed) == first) {
        return first.map(|seed| seed.to_string()).unwrap_or_default();
    }
    let named = seeds.iter().map(|(workload, seed)| format!("{} {seed}", workload.name()));
    named.collect::<Vec<_>>().join(", ")
}

fn place_text(place: &Place, units: Units) -> String {
    let mut parts = vec![format!("{}: {}", place.path, place.file_system)];
    parts.extend(place.device.iter().map(|device| format!("on {device}")));
    parts.extend(place.medium.clone());
    parts.extend(place.link.clone());
    parts.push(format!("encryption: {}", place.encryption));
    parts.extend(place.direct_alignment_bytes.map(|alignment| match alignment {
        0 => "no direct reads".to_owned(),
        alignment => format!("direct reads by {alignment} B"),
    }));
    let (free, total) = (units.bytes(place.free_bytes), units.bytes(place.total_bytes));
    parts.push(format!("{free} free of {total}"));
    parts.join(", ")
}
