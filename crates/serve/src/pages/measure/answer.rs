//! The answer to the question of a measurement as a panel: one figure, what it is, and bars.

use maud::{Markup, html};
use steadfast_report::document::Quantity;
use steadfast_report::{Units, units};

use crate::app::App;
use crate::dates;
use crate::folders::name_of;
use crate::icons::{bar, icon, small_icon};
use crate::measuring::{AnswerBar, MeasureAnswer, Measurement};
use crate::texts::documents::MeasureTexts;
use crate::visitor::Visitor;

/// A terabyte in bytes.
const TERABYTE: f64 = 1e12;

/// The name of the folder of a measurement.
pub(super) fn folder(one: &Measurement) -> String {
    name_of(&one.request.folder)
}

/// The answer of a measurement that has ended with one.
pub(super) fn panel(app: &App, visitor: &Visitor, one: &Measurement) -> Option<Markup> {
    let texts = &visitor.texts().measure;
    let snapshot = one.control.snapshot();
    let answer = snapshot.answer()?;
    let begun = dates::moment(one.begun, app.now(), visitor.language);
    Some(html! {
        section .panel aria-labelledby="answer" {
            div .cap {
                h2 #answer { ((texts.kind)(one.request.kind)) }
                span .small.soft { (texts.measured) " " (begun) }
            }
            div .body.cols {
                div .stack { (figure(answer, texts)) (bars(answer, texts)) }
                div .stack.tight {
                    @match &answer.interval {
                        Some((low, high)) => p .note {
                            (small_icon("check"))
                            span { ((texts.interval)(&si(*low), &si(*high))) }
                        },
                        None => p .note { span { (texts.no_interval) } },
                    }
                    p .row { (savings(one, texts)) }
                }
            }
        }
    })
}

/// The links that save a measurement, and compare it.
pub(super) fn savings(one: &Measurement, texts: &MeasureTexts) -> Markup {
    html! {
        a .button href=(format!("/measure/{}/report", one.id)) {
            (icon("save")) (texts.save_report)
        }
        a .button href=(format!("/measure/{}/record", one.id)) { (texts.save_record) }
        a .button href=(format!("/compare?record=run-{}", one.id)) {
            (icon("cpu")) (texts.compare)
        }
    }
}

fn si(quantity: Quantity) -> String {
    quantity.text(Units::Si)
}

/// The figure in large digits, and what it is.
fn figure(answer: &MeasureAnswer, texts: &MeasureTexts) -> Markup {
    let whole = si(answer.figure);
    let (value, unit) = whole.split_once(' ').unwrap_or((&whole, ""));
    let terabyte = match answer.figure {
        Quantity::Rate(rate) if rate > 0.0 => {
            let time = units::rough_duration((TERABYTE * 1e9 / rate) as u64);
            Some((texts.terabyte)(&time))
        }
        _ => None,
    };
    html! {
        div {
            p .figure { (value) " " small { (unit) } }
            p .soft {
                ((texts.answer)(&answer.what))
                @if let Some(terabyte) = terabyte { " " (terabyte) }
            }
        }
    }
}

fn bars(answer: &MeasureAnswer, texts: &MeasureTexts) -> Markup {
    let rates = answer.bars.iter().map(|(_, rate)| rate.value());
    let highest = rates.fold(f64::MIN_POSITIVE, f64::max);
    html! {
        @if answer.bars.len() > 1 {
            dl .bars {
                @for (at, (name, rate)) in answer.bars.iter().enumerate() {
                    @let lang = matches!(name, AnswerBar::Named(_)).then_some("en");
                    @let class = format!("f-{}", at % 5 + 1);
                    div {
                        dt lang=[lang] {
                            @if *rate == answer.figure { b { ((texts.bar)(name)) } }
                            @else { ((texts.bar)(name)) }
                        }
                        dd .num { (si(*rate)) }
                        dd .draw { (bar(rate.value() / highest, &class, "tall", &si(*rate))) }
                    }
                }
            }
        }
    }
}
