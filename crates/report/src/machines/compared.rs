//! Compares two measured records: a section of the document about machines.
//!
//! In: two records. Out: a [`Section`]: how many series differ, a chart for each workload with the
//! ratios that differ most, and a table of all ratios.

use steadfast_measure::figures::compare::{self, APART_MARGIN, BAND, Compared, SESSIONS_MIN};
use steadfast_measure::record::{Record, Unit, Workload};
use steadfast_measure::stats::{Finding, ROUNDS_MIN};

use super::names;
use crate::document::{Axis, Cell, Chart, Field, Layer, Mark, Point, Quantity, Section, Table};
use crate::measure::{cell, per_second, rows_layer};
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
        "Of {} in both records, {}.",
        units::counted(compared.len() as u64, "series", "series"),
        findings(&compared.iter().collect::<Vec<_>>(), &one)
    )];
    let is_known = |found: &&Compared| found.finding() != Finding::NotEnoughData;
    let known = groups.iter().filter(|group| group.iter().any(is_known));
    sentences.extend(known.map(|group| group_sentence(group, &one)));
    Some(Section {
        tables: vec![table(&compared, &title, [&one, &other])],
        charts: groups.iter().map(|group| chart(group, &title)).collect(),
        title,
        sentences,
        notes: vec![format!(
            "By processor time, where the processor did the work, rates are those of the fastest \
             rounds: other programs only slow a round down. Otherwise they are by elapsed time, \
             those of the fitted lines where lengths differ, all bytes ÷ all time of files of \
             one length, otherwise medians. The records were made apart, so a session is one \
             sample: by processor time a difference is claimed only beyond a band of {}, which \
             sessions of one machine differ by, and if the {} fastest rounds of each lie within \
             it. By elapsed time a difference is claimed only with {} sessions or more on both \
             sides (`measure … --sessions`), and only beyond their spread. Differences of up to {} \
             count as none.",
            units::percent(BAND),
            units::count(ROUNDS_MIN as u64),
            units::count(SESSIONS_MIN as u64),
            units::percent(APART_MARGIN)
        )],
        ..Section::default()
    })
}

/// Counts the series by how the first record compares: "MacBook is faster in 3, …".
fn findings(group: &[&Compared], one: &str) -> String {
    let count = |finding: Finding| {
        units::count(group.iter().filter(|found| found.finding() == finding).count() as u64)
    };
    format!(
        "{one} is faster in {} and slower in {}; {} differ by no more than {}; for {} there is not \
         enough data",
        count(Finding::Faster),
        count(Finding::Slower),
        count(Finding::NoDifference),
        units::percent(APART_MARGIN),
        count(Finding::NotEnoughData)
    )
}

/// Counts the series of one workload by which record is faster.
fn group_sentence(group: &[&Compared], one: &str) -> String {
    let workload = group.first().map_or("", |found| found.workload.name());
    format!("`{workload}`: {}.", findings(group, one))
}

fn table(compared: &[Compared], title: &str, [one, other]: [&str; 2]) -> Table {
    let (one, other) = (format!(">{one}"), format!(">{other}"));
    let rate = |unit: Unit, rate: f64| Cell::Number(per_second(unit)(rate));
    let fields: &[Field<'_, Compared>] = &[
        ("Workload", &|of| Cell::text(of.workload.name())),
        ("What", &|of| Cell::text(&of.label)),
        (&one, &|of| rate(of.unit, of.one_per_s)),
        (&other, &|of| rate(of.unit, of.other_per_s)),
        (">÷", &|of| cell(Quantity::Ratio, of.ratio)),
        ("By", &|of| Cell::text(if of.by_processor_time { "processor" } else { "elapsed" })),
    ];
    Table::of("compared", title, 2, compared, fields)
}

/// Draws the ratios of one workload that differ most, the greatest first.
fn chart(group: &[&Compared], title: &str) -> Chart {
    let far = |found: &Compared| {
        let known = matches!(found.finding(), Finding::Faster | Finding::Slower);
        (known, found.ratio.value.ln().abs())
    };
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
