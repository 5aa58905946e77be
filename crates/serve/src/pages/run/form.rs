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
use crate::visitor::{QueryFields, Visitor};
use crate::words;

/// The verbs of the form, the one that writes nothing first.
const OFFERED: [RunVerb; 3] = [RunVerb::Check, RunVerb::Tag, RunVerb::Update];

pub(super) async fn form(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let chosen = app.place(&query)?;
    let content = html! {
        form .panel method="post" action="/runs" {
            (visitor.csrf())
            div .body.stack {
            (places(&app, chosen.as_ref()))
            (gears(Pace::Bicycle))
            p .choice {
                input #media type="checkbox" name="media" value="1";
                label for="media" {
                    "Read the disk itself, past the system's memory, where the file system can"
                }
            }
            div .verbs {
                @for offered in OFFERED {
                    @let help = format!("{}-help", offered.name());
                    div {
                        button .main[offered == RunVerb::Check] type="submit" name="verb"
                            value=(offered.name())
                            aria-describedby=(help) { (verb(offered)) }
                        p .soft id=(help) { (verb_help(offered)) }
                    }
                }
            }
            }
        }
    };
    Ok(page(&visitor, Some(Tab::Home), "Check with options", &content))
}

/// The chosen path, or the roots to choose from.
fn places(app: &App, chosen: Option<&ServedPath>) -> Markup {
    html! {
        fieldset {
            legend { "Folder or file" }
            @match chosen {
                Some(place) => {
                    input type="hidden" name="place" value=(place.token());
                    p .place { (app.roots.shown(place)) }
                }
                None => (root_choice(&app.roots, "place")),
            }
            p { a href="/" { "Choose another" } }
        }
    }
}

/// The choice of five paces: icons, with the sentence of the chosen one.
pub(super) fn gears(chosen: Pace) -> Markup {
    html! {
        fieldset .pace {
            legend .told { "Speed" }
            div .gears {
                @for pace in Pace::ALL {
                    label title=(words::pace(pace)) {
                        input type="radio" name="pace" value=(pace as usize)
                            checked[pace == chosen];
                        svg .ride aria-hidden="true" { use href=(format!("#r-{}", ride(pace))) {} }
                        span .word { (words::pace(pace)) }
                    }
                }
            }
            p .ends aria-hidden="true" { span { "Gentle" } span { "Fast" } }
            ul .says {
                @for pace in Pace::ALL {
                    li { b { (words::pace(pace)) } (words::pace_means(pace)) }
                }
            }
        }
    }
}

fn ride(pace: Pace) -> &'static str {
    match pace {
        Pace::Tortoise => "tortoise",
        Pace::Walk => "walk",
        Pace::Bicycle => "bicycle",
        Pace::Car => "car",
        Pace::RacingCar => "racing",
    }
}

/// Returns the title of the button that begins a verb.
fn verb(verb: RunVerb) -> &'static str {
    match verb {
        RunVerb::Tag => "Protect new files",
        RunVerb::Update => "Accept all changes",
        _ => "Check",
    }
}

/// Returns what a verb does.
fn verb_help(verb: RunVerb) -> &'static str {
    match verb {
        RunVerb::Tag => "Records every file that is not recorded yet; reads no other file.",
        RunVerb::Update => {
            "Checks, records new files, and accepts edited ones. Damaged files keep their record."
        }
        _ => "Reads every file and compares it with what was recorded. Changes no file.",
    }
}
