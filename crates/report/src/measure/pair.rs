//! The same work in two folders: a section of a record's document.

use steadfast_measure::figures::hash::Figure;
use steadfast_measure::figures::pair::{Compared, MARGIN, PairFigures, PairRow};
use steadfast_measure::record::{Place, Side, Stage};
use steadfast_measure::stats::Finding;

use super::{INTERVALS, cell, rows_layer};
use crate::document::{Axis, Cell, Chart, Field, Layer, Mark, Point, Quantity, Section, Table};
use crate::units::{self, Units};

/// Makes the section.
pub(super) fn section(figures: &PairFigures, places: &[Place], units: Units) -> Section {
    let control = figures.sides.iter().any(|(side, _)| *side == Side::Control);
    let mut notes = vec![format!(
        "Folders took turns within every round, in an order drawn anew, so a ratio is known far \
         better than the rates. {INTERVALS} Differences of up to {} count as none.",
        units::percent(MARGIN)
    )];
    if figures.rows.iter().any(|row| row.stage != Stage::Write && !row.cold) {
        notes.push(
            "Of some reads it could not be shown that the page cache was empty: what lies beneath \
             may have answered from memory."
                .to_owned(),
        );
    }
    Section {
        title: "Pair".to_owned(),
        sentences: sentences(figures, places, units),
        tables: vec![table(figures, control)],
        charts: vec![chart(figures, control, units)],
        notes,
    }
}

fn sentences(figures: &PairFigures, places: &[Place], units: Units) -> Vec<String> {
    let mut sentences: Vec<String> = figures
        .sides
        .iter()
        .filter_map(|(side, place)| {
            let place = places.get((*place)?)?;
            let (path, system) = (&place.path, &place.file_system);
            Some(format!(
                "{} is {path}: {system}, encryption: {}.",
                side_name(*side),
                place.encryption
            ))
        })
        .collect();
    sentences.extend(figures.rows.iter().map(|row| {
        let what = format!("{} files of {}", stage_name(row.stage), len_name(row, units));
        let ratio = cell(Quantity::Ratio, ratio(row.a_to_b)).shown(units);
        match row.a_to_b.finding {
            Finding::Slower => format!("{what}, A is slower than B: {ratio} of its rate."),
            Finding::Faster => format!("{what}, A is faster than B: {ratio} of its rate."),
            Finding::NoDifference => {
                format!("{what}, there is no difference within ±{}.", units::percent(MARGIN))
            }
            Finding::NotEnoughData => format!("{what}: not enough data to tell ({ratio})."),
        }
    }));
    sentences
}

fn table(figures: &PairFigures, control: bool) -> Table {
    let rate = |row: &PairRow, side: Side| {
        let of = row.rates.iter().find(|(other, ..)| *other == side);
        Cell::maybe(of.map(|(_, rate, _)| Quantity::Rate(*rate)))
    };
    let fields: [Field<'_, PairRow>; 9] = [
        ("Step", &|of| Cell::text(stage_name(of.stage))),
        (">Files of", &|of| of.len_bytes.map_or(Cell::text("all lengths"), Cell::bytes)),
        (">A", &|of| rate(of, Side::A)),
        (">B", &|of| rate(of, Side::B)),
        (">Control", &|of| rate(of, Side::Control)),
        (">A ÷ B", &|of| cell(Quantity::Ratio, ratio(of.a_to_b))),
        ("A is", &|of| Cell::text(of.a_to_b.finding.name())),
        (">A ÷ control", &|of| cell(Quantity::Ratio, of.a_to_control.and_then(ratio))),
        (
            ">Rounds",
            &|of| Cell::count(of.rates.iter().map(|rate| rate.2).min().unwrap_or(0) as u64),
        ),
    ];
    let shown =
        |(title, _): &Field<'_, PairRow>| control || !matches!(*title, ">Control" | ">A ÷ control");
    let fields: Vec<Field<'_, PairRow>> = fields.into_iter().filter(shown).collect();
    Table::of("pair", "Median rates, and their ratios round by round", 2, &figures.rows, &fields)
}

/// Names the length of the files.
fn len_name(row: &PairRow, units: Units) -> String {
    row.len_bytes.map_or("all lengths".to_owned(), |length| units.bytes(length))
}

fn ratio(compared: Compared) -> Option<Figure> {
    let interval = compared.ratio?;
    Some(Figure { value: interval.point, interval: Some(interval) })
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
        _ => "Reading and hashing",
    }
}

/// Draws the ratios, a row for each step and length.
fn chart(figures: &PairFigures, control: bool, units: Units) -> Chart {
    let name = |row: &PairRow| format!("{}, {}", stage_name(row.stage), len_name(row, units));
    let layer = |label: &str, of: fn(&PairRow) -> Option<Compared>| {
        rows_layer(label, Mark::Dots, &figures.rows, |row| of(row).and_then(ratio))
    };
    let mut layers = vec![layer("A ÷ B", |row| Some(row.a_to_b))];
    if control {
        layers.push(layer("A ÷ control", |row| row.a_to_control));
    }
    layers.push(Layer::new("", Mark::Rule, [Point::at(0.0, 1.0)]));
    let rows = Axis::names(figures.rows.iter().map(name));
    Chart::new(
        "pair-ratio",
        "Rate of A as a multiple of the other's",
        "One row for each step and length of files: the ratio with its interval. The dashed line \
         is no difference; the axis is by factors and does not begin at zero.",
        (rows, Axis::log("rate of A ÷ rate of the other", Quantity::Ratio(0.0))),
        layers,
    )
}
