//! Machines beside each other: a document about several records.
//!
//! In: records, measured or published. Out: a [`Document`]: a table of machines, and for two
//! records what both measured. What was published elsewhere says so in its row, with its source.

use steadfast_measure::figures::compare::{self, Compared};
use steadfast_measure::figures::hash::Figure;
use steadfast_measure::figures::hosts::{self, HostFigures};
use steadfast_measure::record::{Record, Unit};

use crate::document::{
    Axis, Cell, Chart, Document, Layer, Mark, Point, Quantity, Scale, Section, Table,
};
use crate::units;

/// Makes a document of records beside each other. `None` if there are fewer than two, or nothing
/// that they could be compared by.
pub fn document(records: &[&Record]) -> Option<Document> {
    if records.len() < 2 {
        return None;
    }
    let hosts: Vec<HostFigures> = records.iter().flat_map(|record| hosts::of(record)).collect();
    let mut sections = Vec::new();
    if !hosts.is_empty() {
        sections.push(machines(&hosts, records));
    }
    let measured: Vec<&Record> =
        records.iter().copied().filter(|record| record.published.is_none()).collect();
    if let [one, other] = measured.as_slice() {
        sections.extend(pair(one, other));
    }
    let title =
        format!("{} beside each other", units::counted(records.len() as u64, "record", "records"));
    let document = Document { title, sections, ..Document::default() };
    (!document.sections.is_empty()).then_some(document)
}

fn machines(hosts: &[HostFigures], records: &[&Record]) -> Section {
    let columns = [
        "Machine",
        "Figures",
        ">Hashing, high QoS",
        ">Low QoS",
        ">Reading",
        ">Both",
        ">Both ÷ reading",
    ];
    let mut table = Table::new("machines", "Machines", &columns);
    let rate = |figure: Option<Figure>| cell(Quantity::Rate, figure);
    for host in hosts {
        table.push(vec![
            Cell::Text(name_of(host)),
            Cell::text(if host.published.is_some() { "published" } else { "measured" }),
            rate(host.hash_high_per_s),
            rate(host.hash_low_per_s),
            rate(host.read_per_s),
            rate(host.net_per_s),
            cell(Quantity::Share, host.net_by_read),
        ]);
    }
    let charts = [hashing_chart(hosts), reading_chart(hosts)];
    Section {
        title: "Machines".to_owned(),
        sentences: sentences(hosts),
        tables: vec![table],
        charts: charts.into_iter().flatten().collect(),
        notes: notes(records),
    }
}

fn sentences(hosts: &[HostFigures]) -> Vec<String> {
    let published = hosts.iter().filter(|host| host.published.is_some()).count() as u64;
    let measured = hosts.len() as u64 - published;
    let mut sentences = vec![match (measured, published) {
        (_, 0) => "All figures were measured by this program.".to_owned(),
        (0, _) => {
            "All figures were published elsewhere, and not measured by this program.".to_owned()
        }
        _ => format!(
            "{} measured by this program; {} published elsewhere, by another method.",
            units::counted(measured, "row was", "rows were"),
            units::counted(published, "row was", "rows were")
        ),
    }];
    let high = |host: &&HostFigures| host.hash_high_per_s.is_some();
    let rate = |host: &HostFigures| host.hash_high_per_s.map_or(0.0, |figure| figure.value);
    let fastest = hosts.iter().filter(high).max_by(|a, b| rate(a).total_cmp(&rate(b)));
    if let Some(fastest) = fastest.filter(|_| hosts.iter().filter(high).count() > 1) {
        let shown = Quantity::Rate(rate(fastest)).text(units::Units::Si);
        sentences
            .push(format!("The fastest at reading and hashing is {}: {shown}.", name_of(fastest)));
    }
    sentences
}

/// Tells how figures came about that stand beside each other, and where they are from.
fn notes(records: &[&Record]) -> Vec<String> {
    let mut notes = vec![
        "Measured: hashing is a check of a folder at the highest and the lowest QoS level, or of \
         one file where no level was asked for; reading and both are of one file whose bytes came \
         from storage, as far as was proved. Published figures are as their sources have them; \
         what a source does not give is left empty."
            .to_owned(),
    ];
    for record in records {
        let Some(published) = &record.published else { continue };
        let note = format!("{}. {}", published.source, published.note);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn name_of(host: &HostFigures) -> String {
    match &host.what {
        Some(what) => format!("{}: {what}", host.name),
        None => host.name.clone(),
    }
}

/// Names in a chart tell what is published: a bar has no column for it.
fn bar_name(host: &HostFigures) -> String {
    let mark = if host.published.is_some() { " (published)" } else { "" };
    // The end of a name tells rows of one machine apart, its beginning machines.
    let name = match &host.what {
        Some(what) => format!("{}, {what}", short(&host.name)),
        None => host.name.clone(),
    };
    format!("{name}{mark}")
}

/// Takes what is in every name of a machine with a drive: `Mac mini, M4 Pro, with a Thunderbolt 5
/// SSD` → `Thunderbolt 5 SSD`.
fn short(name: &str) -> &str {
    name.split_once(", with a ").map_or(name, |(_, drive)| drive)
}

fn hashing_chart(hosts: &[HostFigures]) -> Option<Chart> {
    let hosts: Vec<&HostFigures> =
        hosts.iter().filter(|host| host.hash_high_per_s.is_some()).collect();
    (hosts.len() > 1).then(|| Chart {
        name: "machines-hashing".to_owned(),
        title: "Reading and hashing, by machine and QoS".to_owned(),
        description: "Two bars for each machine: at high QoS and at low, where both are known. \
                      Published figures are named as such."
            .to_owned(),
        x: names(&hosts),
        y: rate_axis(),
        layers: vec![
            layer("high QoS", &hosts, |host| host.hash_high_per_s),
            layer("low QoS", &hosts, |host| host.hash_low_per_s),
        ],
    })
}

fn reading_chart(hosts: &[HostFigures]) -> Option<Chart> {
    let hosts: Vec<&HostFigures> = hosts.iter().filter(|host| host.read_per_s.is_some()).collect();
    (hosts.len() > 1).then(|| Chart {
        name: "machines-reading".to_owned(),
        title: "Reading alone, and reading and hashing".to_owned(),
        description: "Two bars for each machine and drive: how fast files are read, and how fast \
                      they are read and hashed, where both are known."
            .to_owned(),
        x: names(&hosts),
        y: rate_axis(),
        layers: vec![
            layer("reading", &hosts, |host| host.read_per_s),
            layer("reading and hashing", &hosts, |host| host.net_per_s),
        ],
    })
}

fn names(hosts: &[&HostFigures]) -> Axis {
    let names = hosts.iter().map(|host| bar_name(host)).collect();
    Axis { title: String::new(), of: Quantity::Count(0), scale: Scale::Names(names) }
}

fn rate_axis() -> Axis {
    Axis { title: "rate".to_owned(), of: Quantity::Rate(0.0), scale: Scale::Linear }
}

fn layer(
    label: &str,
    hosts: &[&HostFigures],
    of: impl Fn(&HostFigures) -> Option<Figure>,
) -> Layer {
    let points = (0..).zip(hosts).filter_map(|(at, host)| {
        let figure = of(host)?;
        Some(Point { x: f64::from(at), y: figure.value, interval: figure.bounds() })
    });
    Layer { label: label.to_owned(), mark: Mark::Bars, points: points.collect() }
}

/// What two measured records have in common.
fn pair(one: &Record, other: &Record) -> Option<Section> {
    let compared = compare::of(one, other);
    if compared.is_empty() {
        return None;
    }
    let [one, other] = [one, other]
        .map(|record| record.name.clone().unwrap_or_else(|| record.machine.cpu.clone()));
    let (first, second) = (format!(">{one}"), format!(">{other}"));
    let columns = ["Workload", "What", &first, &second, ">÷"];
    let title = format!("{one} ÷ {other}");
    let mut table = Table::new("compared", &title, &columns);
    for found in &compared {
        table.push(vec![
            Cell::text(found.workload.name()),
            Cell::text(&found.label),
            Cell::Number(quantity(found)(found.one_per_s)),
            Cell::Number(quantity(found)(found.other_per_s)),
            cell(Quantity::Ratio, Some(found.ratio)),
        ]);
    }
    let apart =
        |found: &&Compared| found.ratio.bounds().is_some_and(|(low, high)| low > 1.0 || high < 1.0);
    let (all, differ) = (compared.len() as u64, compared.iter().filter(apart).count() as u64);
    Some(Section {
        title,
        sentences: vec![format!(
            "Both records have {}; of {} the interval of the ratio leaves out 1.",
            units::counted(all, "series", "series"),
            units::count(differ)
        )],
        tables: vec![table],
        charts: Vec::new(),
        notes: vec![
            "Rates are medians over rounds of all that was done ÷ all the time it took. The \
             records were made apart, so intervals of ratios allow for the spread of both; they \
             hold 95 %, and are absent with fewer than five rounds."
                .to_owned(),
        ],
    })
}

fn quantity(found: &Compared) -> fn(f64) -> Quantity {
    if found.unit == Unit::Bytes { Quantity::Rate } else { Quantity::PerSecond }
}

fn cell(quantity: fn(f64) -> Quantity, figure: Option<Figure>) -> Cell {
    let Some(figure) = figure else { return Cell::Empty };
    match figure.bounds() {
        Some(ends) => Cell::Interval(quantity(figure.value), ends),
        None => Cell::Number(quantity(figure.value)),
    }
}
