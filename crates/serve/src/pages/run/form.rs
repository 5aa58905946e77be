//! The form of a run: the folder or file, the pace, and a button for each verb.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use steadfast::qos::Pace;

use crate::app::App;
use crate::layout::{Tab, page, root_choice};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::runs::RunVerb;
use crate::texts::RunTexts;
use crate::visitor::{QueryFields, Visitor};

/// The verbs of the form, the one that writes nothing first.
const OFFERED: [RunVerb; 3] = [RunVerb::Check, RunVerb::Tag, RunVerb::Update];

pub(super) async fn form(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let chosen = app.place(&query)?;
    let texts = &visitor.texts().run;
    let content = html! {
        form .sheet method="post" action="/runs" {
            (visitor.csrf())
            (places(&app, chosen.as_ref(), texts))
            (slider(texts, Pace::Bicycle, texts.pace_help))
            p .choice {
                input #media type="checkbox" name="media" value="1";
                label for="media" { (texts.media) }
            }
            div .verbs {
                @for verb in OFFERED {
                    @let help = format!("{}-help", verb.name());
                    div {
                        button type="submit" name="verb" value=(verb.name())
                            aria-describedby=(help) { ((texts.verb)(verb)) }
                        p .soft id=(help) { ((texts.verb_help)(verb)) }
                    }
                }
            }
        }
    };
    Ok(page(&visitor, Some(Tab::Home), texts.title, &content))
}

/// The chosen path, or the roots to choose from.
fn places(app: &App, chosen: Option<&ServedPath>, texts: &RunTexts) -> Markup {
    html! {
        fieldset {
            legend { (texts.folder) }
            @match chosen {
                Some(place) => {
                    input type="hidden" name="place" value=(place.token());
                    p .place { (app.roots.shown(place)) }
                }
                None => (root_choice(&app.roots, "place")),
            }
            p { a href="/" { (texts.other_folder) } }
        }
    }
}

/// The slider of five paces. Its value text names the pace and its level.
pub(super) fn slider(texts: &RunTexts, pace: Pace, help: &str) -> Markup {
    let usual = pace as usize;
    let name = |pace: Pace| {
        format!("{} ({}, {})", (texts.pace_name)(pace), pace.level(), pace.level().number())
    };
    let names: Vec<String> = Pace::ALL.map(name).into();
    html! {
        fieldset {
            legend #pace-label { (texts.pace) }
            div .slider {
                (tortoise())
                input #pace type="range" name="pace" min="0" max="4" step="1" value=(usual)
                    list="paces" aria-labelledby="pace-label" aria-describedby="pace-help"
                    aria-valuetext=(names[usual]) data-names=(names.join("|"));
                (racing_car())
                datalist #paces {
                    @for (at, name) in names.iter().enumerate() {
                        option value=(at) label=(name) {}
                    }
                }
            }
            output #pace-name for="pace" { (names[usual]) }
            ol .scale aria-hidden="true" {
                @for pace in Pace::ALL { li { ((texts.pace_name)(pace)) } }
            }
            p #pace-help .soft { (help) }
        }
    }
}

/// A picture, since systems draw the emoji of a tortoise very differently.
fn tortoise() -> Markup {
    html! {
        svg .pace viewBox="0 0 48 28" width="48" height="28" aria-hidden="true" {
            path fill="currentColor" d="M7 20C7 9 15 4 23 4s16 5 16 16z" {}
            path fill="currentColor" d="M39 14c5-1 8 1 8 4s-3 4-8 3zM2 21l6-3v3z" {}
            path fill="currentColor" d="M12 21h6v5h-6zM28 21h6v5h-6z" {}
        }
    }
}

fn racing_car() -> Markup {
    html! {
        svg .pace viewBox="0 0 48 28" width="48" height="28" aria-hidden="true" {
            path fill="currentColor" d="M2 8h6v6l10-1 5-4h7l2 4 14 4v5H2z" {}
            circle cx="12" cy="21" r="5.5" fill="currentColor" stroke="var(--ground)"
                stroke-width="2" {}
            circle cx="37" cy="21" r="5.5" fill="currentColor" stroke="var(--ground)"
                stroke-width="2" {}
        }
    }
}
