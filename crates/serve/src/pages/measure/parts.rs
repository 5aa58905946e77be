//! The parts of the page of a measurement: rendered once for each snapshot and language. Figures
//! and units come from the report.

use maud::{Markup, html};
use steadfast_report::{Units, units};

use crate::config::Language;
use crate::live::{LiveStatus, stand};
use crate::measuring::{MeasureSnapshot, SeriesSoFar};
use crate::texts::OfLanguage as _;
use crate::texts::documents::MeasureTexts;
use crate::texts::texts;

/// Size of the graph of a series, in units of its view box.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 36.0;

/// Renders all parts of a snapshot.
pub(crate) fn parts(state: &MeasureSnapshot, language: Language) -> Vec<(&'static str, Markup)> {
    let texts = &texts(language).measure;
    vec![
        ("stand", stand(state.status, (texts.status)(state.status))),
        ("bar", bar(state)),
        ("figures", figures(state, texts)),
        ("series", series(&state.series, texts)),
        ("say", say(state, texts)),
    ]
}

fn bar(state: &MeasureSnapshot) -> Markup {
    html! {
        progress max="1000" value=((state.done.clamp(0.0, 1.0) * 1000.0) as u32)
            aria-labelledby="progress" {}
    }
}

fn figures(state: &MeasureSnapshot, texts: &MeasureTexts) -> Markup {
    let left = state.left_ns.map(units::rough_duration);
    let doing = if state.doing.is_empty() { texts.preparing } else { &state.doing };
    html! {
        dl .figures {
            div .broad { dt { (texts.now) } dd { (texts.say(doing)) } }
            div { dt { (texts.progress) } dd { (units::percent(state.done)) } }
            div { dt { (texts.left) } dd { (left.as_deref().unwrap_or("–")) } }
            div { dt { (texts.elapsed) } dd { (texts.say(&units::duration(state.elapsed_ns))) } }
            div { dt { (texts.samples) } dd { (texts.say(&units::count(state.samples))) } }
        }
    }
}

/// The series of the latest samples, each with a graph of its rates.
fn series(all: &[SeriesSoFar], texts: &MeasureTexts) -> Markup {
    html! {
        @if all.is_empty() {
            p .soft { (texts.no_samples) }
        } @else {
            div .scroll tabindex="0" role="group" aria-labelledby="series" {
                table .courses {
                    thead { tr {
                        th scope="col" { (texts.column_series) }
                        th scope="col" { (texts.column_course) }
                        th .number scope="col" { (texts.column_latest) }
                        th .number scope="col" { (texts.column_samples) }
                    } }
                    tbody {
                        @for one in all { tr {
                            th .long scope="row" { (texts.say(&one.label)) }
                            td { (course(one)) }
                            td .number { (texts.say(&one.latest.text(Units::Si))) }
                            td .number { (texts.say(&units::count(one.samples))) }
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

/// What screen readers announce: every tenth of the way.
fn say(state: &MeasureSnapshot, texts: &MeasureTexts) -> Markup {
    let tenths = (state.done * 10.0).floor() / 10.0;
    html! {
        @match state.status {
            LiveStatus::Running => (units::percent(tenths)),
            status => ((texts.status)(status)),
        }
    }
}
