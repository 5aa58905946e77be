//! What to do with a folder or a file: the verbs, and a slider from tortoise to racing car.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use steadfast::qos::Pace;

use super::super::{Tab, page};
use crate::app::App;
use crate::guard::{Asked, Refusal, Visitor};
use crate::roots::Place;
use crate::runs::Verb;
use crate::texts::RunTexts;

/// The verbs of the form, the harmless one first.
const OFFERED: [Verb; 3] = [Verb::Check, Verb::Tag, Verb::Update];

pub(super) async fn form(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Response {
    let chosen = asked.text("place").map(|token| app.roots.place(token));
    let chosen = match chosen {
        Some(None) => return Refusal::NotFound.page(&visitor),
        Some(Some(place)) => Some(place),
        None => None,
    };
    let texts = &visitor.texts().run;
    let content = html! {
        form .sheet method="post" action="/runs" {
            (visitor.csrf())
            (places(&app, chosen.as_ref(), texts))
            (slider(texts))
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
    page(&visitor, Some(Tab::Run), texts.title, &content)
}

/// The place that was chosen, or the roots to choose from.
fn places(app: &App, chosen: Option<&Place>, texts: &RunTexts) -> Markup {
    html! {
        fieldset {
            legend { (texts.folder) }
            @match chosen {
                Some(place) => {
                    input type="hidden" name="place" value=(place.token());
                    p .place { (app.roots.shown(place)) }
                }
                None => @for (at, place) in app.roots.places().enumerate() {
                    p .choice {
                        @let id = format!("place-{at}");
                        input id=(id) type="radio" name="place" value=(place.token())
                            checked[at == 0];
                        label for=(id) { (app.roots.shown(&place)) }
                    }
                }
            }
            p { a href="/" { (texts.other_folder) } }
        }
    }
}

/// Five paces. What the slider says is the name of the pace and of its level.
fn slider(texts: &RunTexts) -> Markup {
    let usual = Pace::Bicycle as usize;
    let name = |pace: Pace| {
        format!("{} ({}, {})", texts.pace_names[pace as usize], pace.level(), pace.level().number())
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
                @for name in texts.pace_names { li { (name) } }
            }
            p #pace-help .soft { (texts.pace_help) }
        }
    }
}

/// A picture, since what letters a system draws for it is anybody's guess.
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
