//! The same work in two folders: a section of a record's document.

use std::path::Path;

use steadfast_measure::figures::MARGIN;
use steadfast_measure::figures::pair::{self, Compared, PairFigures, PairRow};
use steadfast_measure::record::{Place, Record, Side, Stage};
use steadfast_measure::stats::{Finding, rounds_min};

use super::{cell, rows_layer};
use crate::document::{
    Axis, Cell, Chart, Field, Headline, Layer, Mark, Point, Quantity, Section, Table,
};
use crate::units::{self, Units};

/// Makes the section.
pub(super) fn section(record: &Record, units: Units) -> Option<Section> {
    let (figures, places) = (&pair::of(record)?, &record.places);
    let mut notes = vec![
        format!(
            "Folders took turns within every round, in an order drawn anew, so a ratio is known \
             far better than the rates. Differences of up to {} count as none.",
            units::percent(MARGIN)
        ),
        levels(figures),
    ];
    if figures.rows.iter().any(|row| row.stage != Stage::Write && !row.cold) {
        notes.push(
            "Of some reads it could not be shown that the page cache was empty: what lies beneath \
             may have answered from memory."
                .to_owned(),
        );
    }
    Some(Section {
        title: "Pair".to_owned(),
        headline: headline(figures, places),
        sentences: sentences(figures, places, units),
        tables: vec![table(figures)],
        charts: vec![chart(figures, units)],
        notes,
    })
}

/// States the levels of the intervals, and where there were too few rounds for any.
fn levels(figures: &PairFigures) -> String {
    let mut text =
        "Intervals are by the sign test, and all of this page hold at once in 95 of 100 \
                    sessions."
            .to_owned();
    let kinds = [("steps and depths", Some(figures.level)), ("lengths", figures.length_level)];
    for (what, level) in kinds {
        let Some(level) = level else { continue };
        let of_kind = |row: &&PairRow| {
            let is_length = row.depth.is_none() && row.len_bytes.is_some();
            (figures.length_level.is_some() && is_length) == (what == "lengths")
        };
        let rounds = figures.rows.iter().filter(of_kind).map(rounds).min().unwrap_or(0);
        let needed = rounds_min(level);
        let each = format!(" Each of the {what} is at a level of {}", units::share(level));
        text.push_str(&each);
        text.push_str(&match rounds < needed {
            true => format!(
                ", for which {needed} rounds are needed: {rounds} are too few to call any of them \
                 different or alike."
            ),
            false => ".".to_owned(),
        });
    }
    text
}

/// The ratio of reading, or of the first step that there is, and the rates of both folders.
fn headline(figures: &PairFigures, places: &[Place]) -> Option<Headline> {
    let row = figures.main_row()?;
    let name = |wanted: Side| {
        let of_side = figures.sides.iter().find(|(side, _)| *side == wanted);
        let place = of_side.and_then(|(_, place)| places.get((*place)?));
        let folder = place.and_then(|place| Path::new(&place.path).file_name());
        folder.map_or(side_name(wanted).to_owned(), |name| name.to_string_lossy().into_owned())
    };
    let (a, b) = (name(Side::A), name(Side::B));
    let found = match row.a_to_b.finding {
        Finding::Slower => format!("{a} is slower."),
        Finding::Faster => format!("{a} is faster."),
        Finding::NoDifference => "That is no difference.".to_owned(),
        Finding::NotEnoughData => "Too little is known to call that a difference.".to_owned(),
    };
    let step = stage_name(row.stage).to_lowercase();
    let what = format!("the rate of {b} when {step} in {a}. {found}");
    let bars = row.rates.iter().map(|(side, rate, _)| (name(*side), Quantity::Rate(*rate)));
    Some(Headline::new(cell(Quantity::Ratio, row.a_to_b.ratio?), what).beside(bars))
}

/// States the result first, then what was compared.
fn sentences(figures: &PairFigures, places: &[Place], units: Units) -> Vec<String> {
    let (files, deep) = figures.answers();
    let mut sentences = Vec::new();
    if let Some(first) = files.first() {
        let what = format!("files of {}", len_name(first, units));
        let name = |row: &PairRow| stage_name(row.stage).to_lowercase();
        sentences.push(sentence(&what, &files, name, units));
    }
    for deep in deep.chunk_by(|one, other| one.sequential == other.sequential) {
        let length = Units::Iec.bytes(deep[0].len_bytes.unwrap_or(0)).replace(".00", "");
        sentences.push(sentence(&format!("requests of {length}"), deep, deep_name, units));
    }
    sentences.extend(figures.sides.iter().filter_map(|(side, place)| {
        let place = places.get((*place)?)?;
        let (path, system) = (&place.path, &place.file_system);
        Some(format!("{} is {path}: {system}, encryption: {}.", side_name(*side), place.encryption))
    }));
    sentences
}

/// States the ratios of some rows in one sentence.
fn sentence(
    what: &str,
    rows: &[&PairRow],
    name: impl Fn(&PairRow) -> String,
    units: Units,
) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let (name, finding) = (name(row), finding_words(row.a_to_b.finding));
            match row.a_to_b.ratio {
                Some(ratio) => {
                    format!("{name} at {} ({finding})", cell(Quantity::Ratio, ratio).shown(units))
                }
                None => format!("{name} is not known ({finding})"),
            }
        })
        .collect();
    format!("A compared with B, {what}: {} of the rate of B.", rows.join(", "))
}

fn finding_words(finding: Finding) -> String {
    match finding {
        Finding::NoDifference => format!("no difference within ±{}", units::percent(MARGIN)),
        finding => finding.name().to_owned(),
    }
}

fn table(figures: &PairFigures) -> Table {
    let rate = |row: &PairRow, side: Side| {
        let of = row.rates.iter().find(|(other, ..)| *other == side);
        Cell::maybe(of.map(|(_, rate, _)| Quantity::Rate(*rate)))
    };
    let fields: &[Field<'_, PairRow>] = &[
        ("Step", &|of| Cell::text(step_name(of))),
        (">Files of", &|of| match (of.depth, of.len_bytes) {
            (Some(_), _) => Cell::Empty,
            (None, length) => length.map_or(Cell::text("All lengths"), Cell::bytes),
        }),
        (">A", &|of| rate(of, Side::A)),
        (">B", &|of| rate(of, Side::B)),
        (">Control", &|of| rate(of, Side::Control)),
        (">A ÷ B", &|of| cell(Quantity::Ratio, of.a_to_b.ratio)),
        ("A is", &|of| Cell::text(of.a_to_b.finding.name())),
        (">A ÷ control", &|of| cell(Quantity::Ratio, of.a_to_control.and_then(|of| of.ratio))),
        (">Rounds", &|of| Cell::count(rounds(of) as u64)),
    ];
    let title = "Median rates and ratios";
    Table::of("pair", title, 2, &figures.rows, fields).without_empty_columns()
}

/// Names the length of the files.
fn len_name(row: &PairRow, units: Units) -> String {
    row.len_bytes.map_or("all lengths".to_owned(), |length| units.bytes(length))
}

fn rounds(row: &PairRow) -> usize {
    row.rates.iter().map(|rate| rate.2).min().unwrap_or(0)
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::A => "A",
        Side::B => "B",
        Side::Control => "The control",
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Write => "Writing",
        Stage::Read => "Reading",
        Stage::Hash => "Processor time of both",
        _ => "Reading and hashing",
    }
}

/// Names requests in flight.
fn deep_name(row: &PairRow) -> String {
    let depth = row.depth.unwrap_or(1);
    let order = if row.sequential { "sequential" } else { "random" };
    let name = if row.stage == Stage::Write { "writes" } else { "reads" };
    format!("{order} {name} at depth {depth}")
}

fn step_name(row: &PairRow) -> String {
    match row.depth {
        Some(_) => units::capital(&deep_name(row)),
        None => stage_name(row.stage).to_owned(),
    }
}

/// Draws the ratios, a row for each step and length, or depth.
fn chart(figures: &PairFigures, units: Units) -> Chart {
    let name = |row: &PairRow| match row.depth {
        Some(_) => step_name(row),
        None => format!("{}, {}", stage_name(row.stage), len_name(row, units)),
    };
    let layer = |label: &str, of: fn(&PairRow) -> Option<Compared>| {
        rows_layer(label, Mark::Dots, &figures.rows, |row| of(row)?.ratio)
    };
    let mut layers = vec![
        layer("A ÷ B", |row| Some(row.a_to_b)),
        layer("A ÷ control", |row| row.a_to_control),
        Layer::new("", Mark::Rule, [Point::at(0.0, 1.0)]),
    ];
    layers.retain(|layer| !layer.points.is_empty());
    let rows = Axis::names(figures.rows.iter().map(name));
    Chart::new(
        "pair-ratio",
        "Rate of A as a multiple of the other's",
        "One row for each step and length of files, or depth: the ratio with its interval. The \
         dashed line is no difference; the axis is by factors and does not begin at zero.",
        (rows, Axis::log("rate of A ÷ rate of the other", Quantity::Ratio(0.0))),
        layers,
    )
}
