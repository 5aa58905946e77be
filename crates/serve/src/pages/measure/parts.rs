//! The parts of the page of a measurement: rendered once for each snapshot and language. Figures
//! and units come from the report.

use maud::{Markup, html};
use steadfast_report::{Units, units};

use crate::live::{LiveStatus, stand};
use crate::measuring::{MeasureSnapshot, SeriesSoFar};
use crate::pages::task;
use crate::words;

/// Size of the graph of a series, in units of its view box.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 36.0;

/// Renders all parts of a snapshot.
pub(crate) fn parts(state: &MeasureSnapshot) -> Vec<(&'static str, Markup)> {
    vec![
        ("stand", stand(state.status, words::measure_status(state.status))),
        ("bar", bar(state)),
        ("figures", figures(state)),
        ("series", series(&state.series)),
        ("say", announcement(state)),
    ]
}

fn bar(state: &MeasureSnapshot) -> Markup {
    let doing = if state.doing.is_empty() { "Preparing" } else { &state.doing };
    match state.left_ns.map(task::left) {
        Some(left) => task::hero(Some(state.done), &left, doing),
        None => task::hero(Some(state.done), doing, ""),
    }
}

fn figures(state: &MeasureSnapshot) -> Markup {
    html! {
        dl .tiles.flat {
            div { dt .soft { "Time" } dd { (units::rough_duration(state.elapsed_ns)) } }
            div { dt .soft { "Samples" } dd { (units::count(state.samples)) } }
        }
    }
}

/// The series of the latest samples, each with a graph of its rates.
fn series(all: &[SeriesSoFar]) -> Markup {
    html! {
        @if all.is_empty() {
            p .soft { "None yet." }
        } @else {
            div .scroll tabindex="0" role="group" aria-labelledby="series" {
                table .courses {
                    thead { tr {
                        th scope="col" { "Series" }
                        th scope="col" { "Rates so far, from zero" }
                        th .number scope="col" { "Latest" }
                        th .number scope="col" { "Samples" }
                    } }
                    tbody {
                        @for one in all { tr {
                            th .long scope="row" { (one.label) }
                            td { (course(one)) }
                            td .number { (one.latest.text(Units::Si)) }
                            td .number { (units::count(one.samples)) }
                        } }
                    }
                }
            }
        }
    }
}

/// The graph of the rates that are kept, from zero to the highest.
fn course(one: &SeriesSoFar) -> Markup {
    let highest = one.rates.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let step = WIDTH / (one.rates.len().max(2) - 1) as f64;
    let mut path = String::new();
    for (at, rate) in one.rates.iter().enumerate() {
        let to = if at == 0 { 'M' } else { 'L' };
        let (x, y) = (at as f64 * step, (1.0 - rate / highest) * (HEIGHT - 4.0) + 2.0);
        path.push_str(&format!("{to}{x:.1} {y:.1}"));
    }
    let mut marks = one.rates.iter();
    html! {
        svg .strip viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none"
            aria-hidden="true" {
            @if one.rates.len() < 2 {
                @if let Some(rate) = marks.next() {
                    rect .area x="0" y=(format!("{:.1}", (1.0 - rate / highest) * HEIGHT + 2.0))
                        width="6" height=(HEIGHT) {}
                }
            } @else {
                path .area d=(format!("{path}L{WIDTH:.1} {HEIGHT:.1}L0 {HEIGHT:.1}Z")) {}
                path .line d=(path) {}
            }
        }
    }
}

/// Returns what screen readers announce: every tenth of the way.
fn announcement(state: &MeasureSnapshot) -> Markup {
    let tenths = (state.done * 10.0).floor() / 10.0;
    html! {
        @match state.status {
            LiveStatus::Running => (units::percent(tenths)),
            status => (words::measure_status(status)),
        }
    }
}
