//! The answer to the question of a measurement as a panel: one figure, what it is, and bars.

use maud::{Markup, html};
use steadfast_measure::record::{Side, Stage};
use steadfast_measure::stats::Finding;
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

/// The name of the folder of a measurement, or of both.
pub(super) fn folder(one: &Measurement) -> String {
    let names = std::iter::once(&one.request.folder).chain(&one.request.beside);
    names.map(|folder| name_of(folder)).collect::<Vec<_>>().join(" and ")
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
                div .stack { (figure(answer, &answer_text(one, &answer.what))) (bars(one, answer)) }
                div .stack.tight {
                    @match &answer.interval {
                        Some((low, high)) => p .note {
                            (small_icon("check"))
                            span { "The interval goes from " (si(*low)) " to " (si(*high)) "." }
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
fn figure(answer: &MeasureAnswer, what: &str) -> Markup {
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
                (what)
                @if let Some(terabyte) = terabyte { " " (terabyte) }
            }
        }
    }
}

fn bars(one: &Measurement, answer: &MeasureAnswer) -> Markup {
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
                            @if *rate == answer.figure { b { (bar_title(one, name)) } }
                            @else { (bar_title(one, name)) }
                        }
                        dd .num { (rate_text) }
                        dd .draw { (bar(rate.value() / highest, &class, "tall", &rate_text)) }
                    }
                }
            }
        }
    }
}

fn bar_title(one: &Measurement, bar: &AnswerBar) -> String {
    match bar {
        AnswerBar::Read => "Reading alone, from the drive".to_owned(),
        AnswerBar::Check => "Reading and hashing, from the drive".to_owned(),
        AnswerBar::CheckFolder => "Reading and hashing, many files in memory".to_owned(),
        AnswerBar::CheckFile => "Reading and hashing, one file in memory".to_owned(),
        AnswerBar::Depth(depth) => {
            units::counted(u64::from(*depth), "request at a time", "requests at a time")
        }
        AnswerBar::Level(level) => format!("Level {level}"),
        AnswerBar::Side(side) => side_name(one, *side),
        AnswerBar::Named(name) => name.clone(),
    }
}

/// Returns the name of a folder of a pair.
fn side_name(one: &Measurement, side: Side) -> String {
    match (side, &one.request.beside) {
        (Side::B, Some(beside)) => name_of(beside),
        _ => name_of(&one.request.folder),
    }
}

/// Returns what is done in both folders of a pair.
fn step(stage: Stage) -> &'static str {
    match stage {
        Stage::Write => "writing",
        Stage::Read => "reading",
        _ => "reading and hashing",
    }
}

fn answer_text(one: &Measurement, what: &AnswerWhat) -> String {
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
        AnswerWhat::Contended => {
            "of the rate at the highest level, while both levels run at once.".to_owned()
        }
        AnswerWhat::AtLevel(level) => format!("read and hashed at level {level}, the lowest."),
        AnswerWhat::Pair(stage, finding) => {
            let (a, b) = (side_name(one, Side::A), side_name(one, Side::B));
            let found = match finding {
                Finding::Slower => format!("{a} is slower."),
                Finding::Faster => format!("{a} is faster."),
                Finding::NoDifference => "That is no difference.".to_owned(),
                Finding::NotEnoughData => {
                    "Too little is known to call that a difference.".to_owned()
                }
            };
            format!("the rate of {b} when {} in {a}. {found}", step(*stage))
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
        assert!(figure(&answer, "").into_string().contains("1.50 <small>GB/s</small>"));
    }
}
