//! The answer to the question of a measurement as a panel: one figure, what it is, and bars.

use maud::{Markup, html};
use steadfast_report::document::Quantity;
use steadfast_report::{Units, units};

use crate::app::App;
use crate::dates;
use crate::folders::name_of;
use crate::icons::{bar, icon, small_icon};
use crate::measuring::{MeasureAnswer, Measurement};
use crate::texts::OfLanguage as _;
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
                            span { ((texts.interval)(&si(*low, texts), &si(*high, texts))) }
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

/// A quantity as the language writes it.
fn si(quantity: Quantity, texts: &MeasureTexts) -> String {
    texts.say(&quantity.text(Units::Si))
}

/// The figure in large digits, and what it is.
fn figure(answer: &MeasureAnswer, texts: &MeasureTexts) -> Markup {
    let whole = si(answer.figure, texts);
    let (value, unit) = whole.split_once(' ').unwrap_or((&whole, ""));
    let terabyte = match answer.figure {
        Quantity::Rate(rate) if rate > 0.0 => {
            let time = units::rough_duration((TERABYTE * 1e9 / rate) as u64);
            Some((texts.terabyte)(&texts.say(&time)))
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
                    @let class = format!("f-{}", at % 5 + 1);
                    @let rate_text = si(*rate, texts);
                    div {
                        dt {
                            @if *rate == answer.figure { b { ((texts.bar)(name)) } }
                            @else { ((texts.bar)(name)) }
                        }
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
    use crate::config::Language;
    use crate::measuring::AnswerWhat;
    use crate::texts::texts;

    #[test]
    fn figures_are_written_as_the_language_does() {
        let shown = |language| {
            let answer = MeasureAnswer {
                figure: Quantity::Rate(1.5e9),
                what: AnswerWhat::Reading,
                interval: None,
                bars: Vec::new(),
            };
            figure(&answer, &texts(language).measure).into_string()
        };
        assert!(shown(Language::English).contains("1.50 <small>GB/s</small>"));
        let german = shown(Language::German);
        assert!(german.contains("1,50 <small>GB/s</small>"), "{german}");
        assert!(german.contains("1 TB 11 min"), "{german}");
    }
}
