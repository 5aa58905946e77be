//! Makes a document that compares several records.
//!
//! In: records, measured or published. Out: a [`Document`]: a table of machines, and for two
//! measured records a comparison. Rows of published figures are marked as such.

mod compared;
mod shares;

use steadfast::Timestamp;
use steadfast_measure::figures::Curve;
use steadfast_measure::figures::cpu::{self, CpuFigures};
use steadfast_measure::figures::hash::{self, HashFigures};
use steadfast_measure::figures::hosts::{self, HostFigures};
use steadfast_measure::record::{Record, Workload};
use steadfast_measure::stats::Figure;

use crate::document::{Axis, Cell, Chart, Document, Field, Mark, Quantity, Section, Table};
use crate::measure::{bars, by_size, cell, document_against, level_words, per_second, rows_layer};
use crate::units::{self, Units};

/// Makes a document that compares records, or of published figures. `None` if there is nothing to
/// compare.
pub fn document(records: &[&Record], units: Units) -> Option<Document> {
    let published = records.iter().any(|record| record.published.is_some());
    if records.len() < 2 && !published {
        return None;
    }
    let hosts = records.iter().zip(names(records)).flat_map(|(record, name)| {
        hosts::of(record).into_iter().map(move |host| HostFigures { name: name.clone(), ..host })
    });
    let hosts: Vec<HostFigures> = hosts.collect();
    let measured: Vec<&Record> =
        records.iter().copied().filter(|record| record.published.is_none()).collect();
    let compared = match measured.as_slice() {
        [one, other] => compared::section(one, other),
        _ => None,
    };
    let mut sections = Vec::new();
    if !hosts.is_empty() {
        let mut section = machines(&hosts, records);
        // A comparison with intervals may not call the fastest one faster.
        let fastest = fastest(&hosts, units).filter(|_| compared.is_none());
        section.sentences.extend(fastest);
        sections.push(section);
    }
    if published {
        sections.extend([stated(records), shares::section(records)]);
    }
    sections.extend(compared);
    let title = match measured.as_slice() {
        [] => "Published figures".to_owned(),
        [one] => format!("{} beside published figures", names(&[one]).swap_remove(0)),
        all => format!("{} records beside each other", units::count(all.len() as u64)),
    };
    let origin = origin(&measured);
    let document = Document { title, origin, sections, ..Document::default() };
    (!document.sections.is_empty()).then_some(document)
}

/// Makes a document of all records together, then one of each. With one other record, figures are
/// compared with it. Published figures have a row in the first document and none of their own.
pub fn documents(records: &[&Record], others: &[&Record], units: Units) -> Vec<Document> {
    let other = match others {
        [only] => Some(*only),
        _ => None,
    };
    let all: Vec<&Record> = records.iter().chain(others).copied().collect();
    let together = document(&all, units);
    let each = records.iter().map(|record| (*record, other));
    let each = each.chain(others.iter().map(|other| (*other, None)));
    let each = each.filter(|(record, _)| together.is_none() || record.published.is_none());
    let each: Vec<Document> =
        each.map(|(record, other)| document_against(record, other, units)).collect();
    let mut documents: Vec<Document> = together.into_iter().chain(each).collect();
    number_alike(&mut documents);
    documents
}

/// Numbers documents with the same title, as several records of one machine have, in their given
/// order. Rows of CSV cannot be told apart otherwise.
fn number_alike(documents: &mut [Document]) {
    let titles: Vec<String> = documents.iter().map(|document| document.title.clone()).collect();
    for (at, document) in documents.iter_mut().enumerate() {
        let alike = |among: &[String]| among.iter().filter(|title| **title == titles[at]).count();
        if alike(&titles) > 1 {
            document.title = format!("{} ({})", document.title, alike(&titles[..=at]));
        }
    }
}

fn origin(records: &[&Record]) -> String {
    let moment = |seconds| units::moment(Timestamp { seconds, nanoseconds: 0 });
    let begun = || records.iter().map(|record| record.started_unix_s);
    match (begun().min(), begun().max()) {
        (Some(first), Some(last)) if first < last => {
            format!("measured from {} to {}", moment(first), moment(last))
        }
        (Some(only), _) => format!("measured {}", moment(only)),
        _ => String::new(),
    }
}

fn machines(hosts: &[HostFigures], records: &[&Record]) -> Section {
    let published = |host: &HostFigures| host.published.is_some();
    let fields: &[Field<'_, HostFigures>] = &[
        ("Machine", &|of| Cell::text(name_of(of))),
        ("Figures", &|of| Cell::text(if published(of) { "Published" } else { "Measured" })),
        (">Hashing one file, high QoS", &|of| cell(Quantity::Rate, of.hash_high_per_s)),
        (">Low QoS", &|of| cell(Quantity::Rate, of.hash_low_per_s)),
        (">A folder, high QoS", &|of| cell(Quantity::Rate, of.folder_high_per_s)),
        (">A folder, low QoS", &|of| cell(Quantity::Rate, of.folder_low_per_s)),
        (">Writing", &|of| cell(Quantity::Rate, of.write_per_s)),
        (">Reading, cold", &|of| cell(Quantity::Rate, of.read_per_s)),
        (">Reading, direct", &|of| cell(Quantity::Rate, of.read_direct_per_s)),
        (">Both, cold", &|of| cell(Quantity::Rate, of.net_per_s)),
        (">Both ÷ reading", &|of| cell(Quantity::Share, of.net_by_read)),
    ];
    let table = Table::of("machines", "Machines", 1, hosts, fields).without_empty_columns();
    let of_hosts = HOST_CHARTS.map(|(words, figures)| host_bars(hosts, words, figures));
    let charts = std::iter::once(size_chart(records)).chain(of_hosts).chain([loops_chart(records)]);
    Section {
        title: "Machines".to_owned(),
        sentences: vec![origins(hosts)],
        tables: vec![table],
        charts: charts.flatten().collect(),
        notes: notes(records),
        ..Section::default()
    }
}

/// States how many rows were measured, and how many published.
fn origins(hosts: &[HostFigures]) -> String {
    let published = hosts.iter().filter(|host| host.published.is_some()).count() as u64;
    let measured = hosts.len() as u64 - published;
    match (measured, published) {
        (_, 0) => "All figures were measured by this program.".to_owned(),
        (0, _) => {
            "All figures were published elsewhere, and not measured by this program.".to_owned()
        }
        _ => format!(
            "{} measured by this program; {} published elsewhere, by another method.",
            units::counted(measured, "row was", "rows were"),
            units::counted(published, "row was", "rows were")
        ),
    }
}

/// Names the row with the highest rate of hashing one file, if several have one.
fn fastest(hosts: &[HostFigures], units: Units) -> Option<String> {
    let rate = |host: &HostFigures| host.hash_high_per_s.map(|figure| figure.value);
    let mut rates: Vec<(f64, &HostFigures)> =
        hosts.iter().filter_map(|host| Some((rate(host)?, host))).collect();
    rates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let [(rate, fastest), _, ..] = rates.as_slice() else { return None };
    let shown = Quantity::Rate(*rate).text(units);
    Some(format!("The fastest at hashing one file is {}: {shown}.", name_of(fastest)))
}

/// States how the figures were obtained, and the sources of published ones.
fn notes(records: &[&Record]) -> Vec<String> {
    let mut notes = vec![
        "Hashing one file is one stream, as published figures are; a folder is hashed in several \
         lanes and threads. Reading and both are of files whose bytes came from storage, as far as \
         was proved: cold after the page cache was emptied, direct past it. Published figures are \
         as their sources have them; what a source does not give is left empty."
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

/// Names each record by its machine. Records of the same machine also have the time at which they
/// began, and those that began together a number.
fn names(records: &[&Record]) -> Vec<String> {
    let machine = |record: &Record| {
        let name = record.name.as_ref().unwrap_or(&record.machine.cpu);
        let level = record.level.as_ref().and_then(level_words);
        level.map_or(name.clone(), |level| format!("{name}, {level}"))
    };
    let alike = |names: &[String], name: &str| names.iter().filter(|one| *one == name).count() > 1;
    let measured = |at: usize| records[at].published.is_none();
    let plain: Vec<String> = records.iter().map(|record| machine(record)).collect();
    let dated = plain.iter().zip(records).enumerate().map(|(at, (name, record))| {
        let begun = Timestamp { seconds: record.started_unix_s, nanoseconds: 0 };
        match measured(at) && alike(&plain, name) {
            true => format!("{name}, {}", units::moment(begun)),
            false => name.clone(),
        }
    });
    let dated: Vec<String> = dated.collect();
    let numbered = dated.iter().enumerate().map(|(at, name)| {
        let before = dated[..at].iter().filter(|one| *one == name).count();
        match measured(at) && alike(&dated, name) {
            true => format!("{name} ({})", before + 1),
            false => name.clone(),
        }
    });
    numbered.collect()
}

/// Every published figure, as its source states it.
fn stated(records: &[&Record]) -> Section {
    let columns = ["Machine", "System", "What", ">Rate"];
    let mut table = Table::new("published", "Published figures", &columns).keyed(3);
    for record in records.iter().filter(|record| record.published.is_some()) {
        let name = record.name.as_ref().unwrap_or(&record.machine.cpu);
        for series in &record.series {
            let Some(stated) = series.stated else { continue };
            let rate = per_second(series.unit)(stated.per_second);
            let what = match series.workload {
                Workload::Write => format!("Writing {}", series.label),
                Workload::Read => format!("Reading {}", series.label),
                Workload::Hash if series.factors.qos.is_none() => {
                    format!("Reading and hashing {}", series.label)
                }
                _ => series.label.clone(),
            };
            table.push(vec![
                Cell::text(name),
                Cell::text(&record.machine.os),
                Cell::Text(what),
                Cell::Number(rate),
            ]);
        }
    }
    Section {
        title: "Published figures".to_owned(),
        sentences: vec![
            "These were published by others and not measured by this program; sources give them \
             without intervals."
                .to_owned(),
        ],
        tables: vec![table],
        ..Section::default()
    }
}

fn name_of(host: &HostFigures) -> String {
    match &host.what {
        Some(what) => format!("{}: {what}", host.name),
        None => host.name.clone(),
    }
}

/// Returns the name of a bar. It says whether the figure is published, as a chart has no column for
/// it.
fn bar_name(host: &HostFigures) -> String {
    let mark = if host.published.is_some() { " (published)" } else { "" };
    // The end of a name distinguishes rows of one machine, its beginning the machines.
    let name = match &host.what {
        Some(what) => format!("{}, {what}", units::capital(short(&host.name))),
        None => host.name.clone(),
    };
    format!("{name}{mark}")
}

/// Returns the drive in the name of a machine with a drive: `Mac mini, M4 Pro, with a Thunderbolt 5
/// SSD` → `Thunderbolt 5 SSD`.
fn short(name: &str) -> &str {
    let drive = [", with a ", ", with "].into_iter().find_map(|with| name.split_once(with));
    drive.map_or(name, |(_, drive)| drive)
}

/// A figure of a machine, with its words in a legend.
type HostBar = (&'static str, fn(&HostFigures) -> Option<Figure>);

/// Draws bars of the machines that have the first figure, if there are several.
fn host_bars(hosts: &[HostFigures], words: [&str; 3], figures: &[HostBar]) -> Option<Chart> {
    let (_, first) = figures.first()?;
    let hosts: Vec<&HostFigures> = hosts.iter().filter(|host| first(host).is_some()).collect();
    let layer =
        |(label, figure): &HostBar| rows_layer(*label, Mark::Bars, &hosts, |host| figure(host));
    let (names, y) =
        (hosts.iter().map(|host| bar_name(host)), Axis::linear("rate", Quantity::Rate(0.0)));
    (hosts.len() > 1).then(|| bars(words, names, y, figures.iter().map(layer).collect()))
}

/// The bars of rates: name, title, description, and the figures.
const HOST_CHARTS: [([&str; 3], &[HostBar]); 3] = [
    (
        [
            "machines-hashing",
            "Reading and hashing one file, by machine and QoS",
            "Two bars for each machine: at high QoS and at low, where both are known. Published \
             figures are named as such.",
        ],
        &[("high QoS", |host| host.hash_high_per_s), ("low QoS", |host| host.hash_low_per_s)],
    ),
    (
        [
            "machines-writing",
            "Writing files",
            "A bar for each machine and drive: how fast files are written, plain or encrypted.",
        ],
        &[("writing", |host| host.write_per_s)],
    ),
    (
        [
            "machines-reading",
            "Reading alone, and reading and hashing",
            "Two bars for each machine and drive: how fast files are read, and how fast they are \
             read and hashed, where both are known.",
        ],
        &[("reading", |host| host.read_per_s), ("reading and hashing", |host| host.net_per_s)],
    ),
];

/// Time against size of one file that is read and hashed, a line in its band for each machine.
fn size_chart(records: &[&Record]) -> Option<Chart> {
    let figures: Vec<Option<HashFigures<'_>>> = records.iter().map(|of| hash::of(of)).collect();
    let lines = figures.iter().zip(names(records));
    let lines: Vec<(String, &Curve<'_>)> =
        lines.filter_map(|(of, name)| Some((name, of.as_ref()?.checks().next()?))).collect();
    let words = [
        "machines-by-size",
        "Time to read and hash one file, by machine",
        "Each dot is one run, and each machine has its fitted line in its band. Both axes are \
         logarithmic, so that small files are seen as well.",
    ];
    (lines.len() > 1).then(|| by_size(words, Axis::log, lines))
}

/// Loops of one thread at its highest level, each kernel as a share of the first machine's.
fn loops_chart(records: &[&Record]) -> Option<Chart> {
    let figures = records.iter().zip(names(records));
    let figures = figures.filter_map(|(record, name)| Some((name, cpu::of(record, None)?)));
    let figures: Vec<(String, CpuFigures<'_>)> = figures.collect();
    let (first, of_first) = figures.first().filter(|_| figures.len() > 1)?;
    let rate = |of: &CpuFigures<'_>, kernel: &str| {
        let one = of.rates.iter().filter(|rate| rate.threads() == 1 && rate.algorithm() == kernel);
        one.max_by_key(|rate| rate.factors.qos)?.rate
    };
    let mut kernels: Vec<&str> = of_first.rates.iter().map(Curve::algorithm).collect();
    kernels.dedup();
    let layers = figures.iter().map(|(name, of)| {
        rows_layer(name.as_str(), Mark::Bars, &kernels, |kernel| {
            Some(rate(of, kernel)?.scaled(1.0 / rate(of_first, kernel)?.value))
        })
    });
    let words = [
        "machines-loops",
        "Loops of one thread, by machine",
        &*format!("For each kernel a bar for each machine, as a multiple of the rate of {first}."),
    ];
    let y = Axis::linear("rate ÷ rate of the first machine", Quantity::Ratio(0.0));
    Some(bars(words, kernels.iter().map(|kernel| (*kernel).to_owned()), y, layers.collect()))
}
