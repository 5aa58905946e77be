//! When the files of a folder were last checked: a bar for each of the last twelve months.

use maud::{Markup, html};
use steadfast::{FolderFacts, Timestamp};
use steadfast_report::{Units, units};

use crate::icons::small_icon;

/// Months that are shown.
const MONTHS: usize = 12;

/// The months, from January, 0, to December, 11.
const MONTH_NAMES: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Width of a month, width of its bar, and height, in units of the view box.
const STEP: usize = 100;
const WIDTH: usize = 60;
const HEIGHT: f64 = 120.0;

/// Files and bytes by the month in which they were checked last.
#[derive(Debug, PartialEq, Eq)]
struct CheckedMonths {
    /// The months, the earliest first, and what was last checked in each.
    months: [(i64, (u64, u64)); MONTHS],
    /// What was last checked before.
    earlier: (u64, u64),
}

impl CheckedMonths {
    fn of(facts: &FolderFacts, now: Timestamp) -> CheckedMonths {
        let this = month_of(now);
        let first = this - (MONTHS as i64 - 1);
        let mut months: [(i64, (u64, u64)); MONTHS] =
            std::array::from_fn(|at| (first + at as i64, (0, 0)));
        let mut earlier = (0, 0);
        for proof in &facts.audit.proofs {
            // A clock that was ahead does not hide a check.
            let month = month_of(proof.at).min(this);
            let sum = match usize::try_from(month - first) {
                Ok(at) => &mut months[at].1,
                Err(_) => &mut earlier,
            };
            *sum = (sum.0 + proof.entries, sum.1.saturating_add(proof.bytes));
        }
        CheckedMonths { months, earlier }
    }
}

/// Returns the month of a moment in UTC, counted from the year 0.
fn month_of(moment: Timestamp) -> i64 {
    let text = units::moment(moment);
    // As in "2024-03-01 12:00:05Z".
    let month = text.rsplit_once('-').and_then(|(month, _)| month.rsplit_once('-'));
    month.map_or(0, |(year, month)| {
        12 * year.parse::<i64>().unwrap_or(0) + month.parse::<i64>().unwrap_or(1) - 1
    })
}

/// The chart, and the same in numbers.
pub(super) fn chart(facts: &FolderFacts, now: Timestamp) -> Markup {
    let checked = CheckedMonths::of(facts, now);
    let whole = facts.audit.tagged.max(1) as f64;
    let share = |files: u64| files as f64 / whole;
    let shown = |files: u64| units::share(share(files));
    let name = |month: i64| MONTH_NAMES[month.rem_euclid(12) as usize];
    let year = |month: i64| month.div_euclid(12);
    let filled = checked.months.iter().filter(|(_, (files, _))| *files > 0);
    let said: Vec<String> =
        filled.map(|(month, (files, _))| format!("{} {}", name(*month), shown(*files))).collect();
    let rest = [
        ("of the files were last found intact earlier", checked.earlier),
        ("of the files were never found intact", facts.audit.never),
    ];
    html! {
        div .chart {
            div .y aria-hidden="true" { span { "100 %" } span { "50 %" } span { "0 %" } }
            svg .plot viewBox=(format!("0 0 {} {HEIGHT}", STEP * MONTHS))
                preserveAspectRatio="none" role="img"
                aria-label=(format!("When files were last found intact: {}", said.join(", "))) {
                @for y in [0.0, HEIGHT / 2.0, HEIGHT] {
                    path .rule d=(format!("M0 {y}H{}", STEP * MONTHS)) {}
                }
                @for (at, (_, (files, _))) in checked.months.iter().enumerate() {
                    @let height = (share(*files) * HEIGHT).min(HEIGHT);
                    rect .f-good x=(at * STEP + (STEP - WIDTH) / 2) width=(WIDTH)
                        y=(format!("{:.2}", HEIGHT - height)) height=(format!("{height:.2}")) {}
                }
            }
            ul .x aria-hidden="true" {
                @for (month, _) in &checked.months { li { (name(*month)) } }
            }
        }
        @for (says, (files, _)) in rest {
            @if files > 0 { p .small { b { (shown(files)) } " " (says) } }
        }
        details .fold.plain {
            summary { (small_icon("chevron")) "The same in numbers" }
            div .body {
                table .grid {
                    thead { tr {
                        th scope="col" { "Last intact" }
                        th .right scope="col" { "Files" }
                        th .right scope="col" { "Size" }
                    } }
                    tbody {
                        @for (month, sum) in checked.months.iter().rev() {
                            (row(&format!("{} {}", name(*month), year(*month)), *sum))
                        }
                        @for (says, sum) in rest { (row(says, sum)) }
                    }
                }
            }
        }
    }
}

fn row(says: &str, (files, bytes): (u64, u64)) -> Markup {
    html! {
        tr {
            td .name { (says) }
            td .right { (units::count(files)) }
            td .right { (Units::Si.bytes(bytes)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::facts_for_tests;
    use steadfast::catalogue::LastProofs;

    fn at(seconds: i64) -> Timestamp {
        Timestamp { seconds, nanoseconds: 0 }
    }

    #[test]
    fn a_month_is_that_of_the_calendar() {
        let january_1970 = 12 * 1970;
        for (seconds, month) in [
            (0, january_1970),
            (-1, january_1970 - 1),
            (31 * 86_400 - 1, january_1970),
            (31 * 86_400, january_1970 + 1),
            // 2024-02-29 and 2024-03-01.
            (1_709_164_800, 12 * 2024 + 1),
            (1_709_251_200, 12 * 2024 + 2),
        ] {
            assert_eq!(month_of(at(seconds)), month, "{seconds}");
        }
        month_of(at(i64::MIN));
        month_of(at(i64::MAX));
    }

    #[test]
    fn every_file_is_in_the_month_of_its_last_check() {
        // 2024-03-15.
        let now = 1_710_460_800;
        let mut facts = facts_for_tests(&[], false);
        let proofs = [(-400, 1), (-350, 2), (-20, 4), (-3, 8), (0, 16), (5, 32)];
        facts.audit.proofs = proofs
            .map(|(days, entries)| {
                let bytes = 10 * entries;
                LastProofs { run: 1, at: at(now + days * 86_400), entries, bytes }
            })
            .into();
        let checked = CheckedMonths::of(&facts, at(now));
        assert_eq!(checked.earlier, (3, 30), "March of the year before is not shown");
        let files = checked.months.map(|(_, (files, bytes))| {
            assert_eq!(bytes, 10 * files);
            files
        });
        assert_eq!(files, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 56]);
        assert_eq!(checked.months[11].0, 12 * 2024 + 2);
    }
}
