//! Compares two measured records: a section of the document about machines.
//!
//! In: two records. Out: a [`Section`]: how many series differ, a chart for each workload with the
//! ratios that differ most, and a table of all ratios.

use steadfast_measure::figures::compare::{self, Compared};
use steadfast_measure::record::{Record, Unit, Workload};

use super::names;
use crate::document::{Axis, Cell, Chart, Field, Layer, Mark, Point, Quantity, Section, Table};
use crate::measure::{INTERVALS, cell, rows_layer};
use crate::units;

/// Most ratios in one chart. The table has all.
const RATIOS_MAX: usize = 16;

/// Compares two records. `None` if they have no series in common.
pub(super) fn section(one: &Record, other: &Record) -> Option<Section> {
    let compared = compare::of(one, other);
    if compared.is_empty() {
        return None;
    }
    let [one, other] = [0, 1].map(|at| names(&[one, other]).swap_remove(at));
    let title = format!("{one} ÷ {other}");
    let of = |workload: Workload| -> Vec<&Compared> {
        compared.iter().filter(|found| found.workload == workload).collect()
    };
    let groups = Workload::ALL.map(of).into_iter().filter(|group| !group.is_empty());
    let groups: Vec<Vec<&Compared>> = groups.collect();
    let mut sentences = vec![format!(
        "Both records have {}; of {} the interval of the ratio leaves out 1.",
        units::counted(compared.len() as u64, "series", "series"),
        units::count(compared.iter().filter(|found| side_of(found).is_some()).count() as u64)
    )];
    sentences.extend(groups.iter().map(|group| group_sentence(group, &one)));
    Some(Section {
        tables: vec![table(&compared, &title, [&one, &other])],
        charts: groups.iter().map(|group| chart(group, &title)).collect(),
        title,
        sentences,
        notes: vec![format!(
            "Rates are medians over rounds of all that was done ÷ all the time it took. The \
                 records were made apart, so intervals of ratios allow for the spread of both. \
                 {INTERVALS}"
        )],
    })
}

/// Returns whether the first is certainly faster; `None` if neither is certain.
fn side_of(found: &Compared) -> Option<bool> {
    match found.ratio.bounds()? {
        (low, _) if low > 1.0 => Some(true),
        (_, high) if high < 1.0 => Some(false),
        _ => None,
    }
}

/// Counts the series of one workload by which record is faster.
fn group_sentence(group: &[&Compared], one: &str) -> String {
    let count = |side: Option<bool>| {
        units::count(group.iter().filter(|found| side_of(found) == side).count() as u64)
    };
    let workload = group.first().map_or("", |found| found.workload.name());
    format!(
        "`{workload}`: {one} is faster in {}, slower in {}; in {} neither is known.",
        count(Some(true)),
        count(Some(false)),
        count(None)
    )
}

fn table(compared: &[Compared], title: &str, [one, other]: [&str; 2]) -> Table {
    let (one, other) = (format!(">{one}"), format!(">{other}"));
    let rate = |unit: Unit, rate: f64| {
        Cell::Number(if unit == Unit::Bytes {
            Quantity::Rate(rate)
        } else {
            Quantity::PerSecond(rate)
        })
    };
    let fields: &[Field<'_, Compared>] = &[
        ("Workload", &|of| Cell::text(of.workload.name())),
        ("What", &|of| Cell::text(&of.label)),
        (&one, &|of| rate(of.unit, of.one_per_s)),
        (&other, &|of| rate(of.unit, of.other_per_s)),
        (">÷", &|of| cell(Quantity::Ratio, of.ratio)),
    ];
    Table::of("compared", title, 2, compared, fields)
}

/// Draws the ratios of one workload that differ most, the greatest first.
fn chart(group: &[&Compared], title: &str) -> Chart {
    let far = |found: &Compared| (side_of(found).is_some(), found.ratio.value.ln().abs());
    let mut shown: Vec<&Compared> = group.to_vec();
    shown.sort_by(|a, b| {
        let ((a_known, a), (b_known, b)) = (far(a), far(b));
        b_known.cmp(&a_known).then(b.total_cmp(&a))
    });
    shown.truncate(RATIOS_MAX);
    shown.sort_by(|a, b| b.ratio.value.total_cmp(&a.ratio.value));
    let workload = group.first().map_or("", |found| found.workload.name());
    let which = match group.len() > shown.len() {
        true => format!("The {} ratios of {} that differ most", shown.len(), group.len()),
        false => "Every ratio".to_owned(),
    };
    let names = Axis::names(shown.iter().map(|found| found.label.clone()));
    Chart::new(
        format!("compared-{workload}"),
        format!("{title}: {workload}"),
        format!(
            "{which}, the greatest first, with intervals. The dashed line is no difference; the \
             axis is by factors and does not begin at zero."
        ),
        (names, Axis::log("ratio", Quantity::Ratio(0.0))),
        vec![
            rows_layer("ratio", Mark::Dots, &shown, |found| Some(found.ratio)),
            Layer::new("", Mark::Rule, [Point::at(0.0, 1.0)]),
        ],
    )
}
