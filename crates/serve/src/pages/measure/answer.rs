//! The answer to the question of a measurement as a panel: one figure, what it is, and bars.

use maud::{Markup, html};
use steadfast_report::document::{Headline, Quantity};
use steadfast_report::{Units, escape, units};

use crate::app::App;
use crate::dates;
use crate::folders::name_of;
use crate::icons::{bar, icon, small_icon};
use crate::measuring::Measurement;
use crate::words;

/// A terabyte in bytes.
const TERABYTE: f64 = 1e12;

/// The name of the folder of a measurement, or of both.
pub(super) fn folder(one: &Measurement) -> String {
    let names = std::iter::once(&one.request.folder).chain(&one.request.beside);
    names.map(|folder| name_of(folder)).collect::<Vec<_>>().join(" and ")
}

/// The figure of an answer in decimal units.
pub(super) fn figure_text(answer: &Headline) -> String {
    answer.figure.number().map_or("–".to_owned(), |(figure, _)| si(figure))
}

/// The answer of a measurement that has ended with one.
pub(super) fn panel(app: &App, one: &Measurement) -> Option<Markup> {
    let snapshot = one.control.snapshot();
    let answer = snapshot.answer()?;
    let (value, interval) = answer.figure.number()?;
    let begun = dates::moment(one.begun, app.now());
    Some(html! {
        section .panel aria-labelledby="answer" {
            div .cap {
                h2 #answer { (words::measure_kind(one.request.kind)) }
                span .small.soft { "measured " (begun) }
            }
            div .body.cols {
                div .stack { (figure(value, &answer.what)) (bars(value, answer)) }
                div .stack.tight {
                    @match interval {
                        Some((low, high)) => p .note {
                            (small_icon("check"))
                            span { "The interval goes from " (si(low)) " to " (si(high)) "." }
                        },
                        None => p .note { span { "The record has no interval for it." } },
                    }
                    @for warning in snapshot.made().map_or(&[][..], |(_, made)| &made.warnings) {
                        p .note.warn { (units::capital(warning)) "." }
                    }
                    p .row { (savings(one)) }
                }
            }
        }
    })
}

/// The links that save a measurement, and compare it.
pub(super) fn savings(one: &Measurement) -> Markup {
    html! {
        a .button href=(format!("/measure/{}/report", one.id)) {
            (icon("save")) "Save the report"
        }
        a .button href=(format!("/measure/{}/record", one.id)) { "Save the record" }
        a .button href=(format!("/compare?record=run-{}", one.id)) {
            (icon("cpu")) "Compare it"
        }
    }
}

/// A quantity in decimal units.
fn si(quantity: Quantity) -> String {
    quantity.text(Units::Si)
}

/// The figure in large digits, and what it is.
fn figure(value: Quantity, what: &str) -> Markup {
    let whole = si(value);
    let (digits, unit) = whole.split_once(' ').unwrap_or((&whole, ""));
    let terabyte = match value {
        Quantity::Rate(rate) if rate > 0.0 => {
            let time = units::rough_duration((TERABYTE * 1e9 / rate) as u64);
            Some(format!("At that rate, 1 TB takes {time}."))
        }
        _ => None,
    };
    html! {
        div {
            p .figure { (digits) " " small { (unit) } }
            p .soft {
                (escape::text(what))
                @if let Some(terabyte) = terabyte { " " (terabyte) }
            }
        }
    }
}

fn bars(value: Quantity, answer: &Headline) -> Markup {
    let rates = answer.bars.iter().map(|(_, rate)| rate.value());
    let highest = rates.fold(f64::MIN_POSITIVE, f64::max);
    html! {
        @if answer.bars.len() > 1 {
            dl .bars {
                @for (at, (name, rate)) in answer.bars.iter().enumerate() {
                    @let class = format!("f-{}", at % 5 + 1);
                    @let (name, rate_text) = (escape::text(name), si(*rate));
                    div {
                        dt { @if *rate == value { b { (name) } } @else { (name) } }
                        dd .num { (rate_text) }
                        dd .draw { (bar(rate.value() / highest, &class, "tall", &rate_text)) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_large_and_its_unit_small() {
        let shown = figure(Quantity::Rate(1.5e9), "").into_string();
        assert!(shown.contains("1.50 <small>GB/s</small>"), "{shown}");
    }
}
