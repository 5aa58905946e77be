//! The same work in two folders: a section of a record's document.

use steadfast_measure::figures::pair::{Compared, MARGIN, PairFigures, PairRow};
use steadfast_measure::record::{Place, Side, Stage};
use steadfast_measure::stats::Finding;

use super::INTERVALS;
use crate::document::{Axis, Cell, Chart, Layer, Mark, Point, Quantity, Scale, Section, Table};
use crate::units::{self, Units};

/// Makes the section.
pub(super) fn section(figures: &PairFigures, places: &[Place], units: Units) -> Section {
    let control = figures.sides.iter().any(|(side, _)| *side == Side::Control);
    let mut columns = vec!["Step", ">Files of", ">A", ">B"];
    if control {
        columns.push(">Control");
    }
    columns.extend([">A ÷ B", "A is"]);
    if control {
        columns.push(">A ÷ control");
    }
    columns.push(">Rounds");
    let mut table =
        Table::new("pair", "Median rates, and their ratios round by round", &columns).keyed(2);
    for row in &figures.rows {
        table.push(cells(row, control));
    }
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
        tables: vec![table],
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
        let what = format!("{} files of {}", stage_name(row.stage), units.bytes(row.len_bytes));
        let ratio = ratio_cell(&row.a_to_b).shown(units);
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

fn cells(row: &PairRow, control: bool) -> Vec<Cell> {
    let rate = |side: Side| {
        let of = row.rates.iter().find(|(other, ..)| *other == side);
        Cell::maybe(of.map(|(_, rate, _)| Quantity::Rate(*rate)))
    };
    let mut cells = vec![
        Cell::text(stage_name(row.stage)),
        Cell::Number(Quantity::Bytes(row.len_bytes)),
        rate(Side::A),
        rate(Side::B),
    ];
    if control {
        cells.push(rate(Side::Control));
    }
    cells.push(ratio_cell(&row.a_to_b));
    cells.push(Cell::text(row.a_to_b.finding.name()));
    if control {
        cells.push(row.a_to_control.as_ref().map_or(Cell::Empty, ratio_cell));
    }
    let rounds = row.rates.iter().map(|(_, _, rounds)| *rounds).min().unwrap_or(0);
    cells.push(Cell::Number(Quantity::Count(rounds as u64)));
    cells
}

fn ratio_cell(compared: &Compared) -> Cell {
    compared.ratio.as_ref().map_or(Cell::Empty, |ratio| {
        Cell::Interval(Quantity::Ratio(ratio.point), (ratio.low, ratio.high))
    })
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
    let name = |row: &PairRow| format!("{}, {}", stage_name(row.stage), units.bytes(row.len_bytes));
    let layer = |label: &str, of: &dyn Fn(&PairRow) -> Option<Compared>| {
        Layer::new(
            label,
            Mark::Dots,
            figures.rows.iter().enumerate().filter_map(|(at, row)| {
                let ratio = of(row)?.ratio?;
                let interval = Some((ratio.low, ratio.high));
                Some(Point { x: at as f64, y: ratio.point, interval })
            }),
        )
    };
    let mut layers = vec![layer("A ÷ B", &|row| Some(row.a_to_b))];
    if control {
        layers.push(layer("A ÷ control", &|row| row.a_to_control));
    }
    let same = vec![Point::at(0.0, 1.0)];
    layers.push(Layer::new("", Mark::Rule, same));
    Chart {
        name: "pair-ratio".to_owned(),
        title: "Rate of A as a multiple of the other's".to_owned(),
        description: "One row for each step and length of files: the ratio with its \
                      interval. The dashed line is no difference; the axis is by factors and does \
                      not begin at zero."
            .to_owned(),
        x: Axis::names(figures.rows.iter().map(name)),
        y: Axis::new("rate of A ÷ rate of the other", Quantity::Ratio(0.0), Scale::Log),
        layers,
    }
}
