//! The answer to the question of a measurement as a panel: one figure, what it is, and bars.

use maud::{Markup, html};
use steadfast_report::document::Quantity;
use steadfast_report::{Units, units};

use crate::app::App;
use crate::dates;
use crate::folders::name_of;
use crate::icons::{bar, icon, small_icon};
use crate::measuring::{AnswerBar, AnswerWhat, MeasureAnswer, Measurement};
use crate::words;

/// A terabyte in bytes.
const TERABYTE: f64 = 1e12;

/// The name of the folder of a measurement.
pub(super) fn folder(one: &Measurement) -> String {
    name_of(&one.request.folder)
}

/// The answer of a measurement that has ended with one.
pub(super) fn panel(app: &App, one: &Measurement) -> Option<Markup> {
    let snapshot = one.control.snapshot();
    let answer = snapshot.answer()?;
    let begun = dates::moment(one.begun, app.now());
    Some(html! {
        section .panel aria-labelledby="answer" {
            div .cap {
                h2 #answer { (words::measure_kind(one.request.kind)) }
                span .small.soft { "measured " (begun) }
            }
            div .body.cols {
                div .stack { (figure(answer)) (bars(answer)) }
                div .stack.tight {
                    @match &answer.interval {
                        Some((low, high)) => p .note {
                            (small_icon("check"))
                            span { "The interval goes from " (si(*low)) " to " (si(*high)) "." }
                        },
                        None => p .note { span { "The record has no interval for it." } },
                    }
                    @for warning in snapshot.made().map_or(&[][..], |(_, made)| &made.warnings) {
                        p .note.warn { (warning) }
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
fn figure(answer: &MeasureAnswer) -> Markup {
    let whole = si(answer.figure);
    let (value, unit) = whole.split_once(' ').unwrap_or((&whole, ""));
    let terabyte = match answer.figure {
        Quantity::Rate(rate) if rate > 0.0 => {
            let time = units::rough_duration((TERABYTE * 1e9 / rate) as u64);
            Some(format!("At that rate, 1 TB takes {time}."))
        }
        _ => None,
    };
    html! {
        div {
            p .figure { (value) " " small { (unit) } }
            p .soft {
                (answer_text(&answer.what))
                @if let Some(terabyte) = terabyte { " " (terabyte) }
            }
        }
    }
}

fn bars(answer: &MeasureAnswer) -> Markup {
    let rates = answer.bars.iter().map(|(_, rate)| rate.value());
    let highest = rates.fold(f64::MIN_POSITIVE, f64::max);
    html! {
        @if answer.bars.len() > 1 {
            dl .bars {
                @for (at, (name, rate)) in answer.bars.iter().enumerate() {
                    @let class = format!("f-{}", at % 5 + 1);
                    @let rate_text = si(*rate);
                    div {
                        dt {
                            @if *rate == answer.figure { b { (bar_title(name)) } }
                            @else { (bar_title(name)) }
                        }
                        dd .num { (rate_text) }
                        dd .draw { (bar(rate.value() / highest, &class, "tall", &rate_text)) }
                    }
                }
            }
        }
    }
}

fn bar_title(bar: &AnswerBar) -> String {
    match bar {
        AnswerBar::Read => "Reading alone, from the drive".to_owned(),
        AnswerBar::Check => "Reading and hashing, from the drive".to_owned(),
        AnswerBar::CheckFolder => "Reading and hashing, many files in memory".to_owned(),
        AnswerBar::CheckFile => "Reading and hashing, one file in memory".to_owned(),
        AnswerBar::Depth(depth) => {
            units::counted(u64::from(*depth), "request at a time", "requests at a time")
        }
        AnswerBar::Level(level) => format!("Level {level}"),
        AnswerBar::Named(name) => name.clone(),
    }
}

fn answer_text(what: &AnswerWhat) -> String {
    match what {
        AnswerWhat::Checking(Some(share)) => format!(
            "read and hashed, as a check does. That is {} of the rate of \
 reading alone.",
            units::percent(*share)
        ),
        AnswerWhat::Checking(None) => "read and hashed, as a check does.".to_owned(),
        AnswerWhat::Hashing => "of SHA-256, in memory, in one core.".to_owned(),
        AnswerWhat::Reading => "read from the drive.".to_owned(),
        AnswerWhat::Writing => "written to the drive.".to_owned(),
        AnswerWhat::Depth(depth) => {
            format!("as fast with {depth} requests at a time as with the fewest.")
        }
        AnswerWhat::LowLevel => {
            "of the rate at the highest level, in the median over the loops.".to_owned()
        }
        AnswerWhat::CipherShare => {
            "of the time in which a file is encrypted goes to the cipher, the rest \
 to reading and writing."
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_large_and_its_unit_small() {
        let answer = MeasureAnswer {
            figure: Quantity::Rate(1.5e9),
            what: AnswerWhat::Reading,
            interval: None,
            bars: Vec::new(),
        };
        assert!(figure(&answer).into_string().contains("1.50 <small>GB/s</small>"));
    }
}
