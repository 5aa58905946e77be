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
        form .sheet method="post" action="/runs" {
            (visitor.csrf())
            (places(&app, chosen.as_ref()))
            (slider(
                Pace::Bicycle,
                "A tortoise stays out of everybody's way, a racing car asks for more than its \
                 share."
            ))
            p .choice {
                input #media type="checkbox" name="media" value="1";
                label for="media" {
                    "Read from the medium, past the page cache, where the file system can"
                }
            }
            div .verbs {
                @for offered in OFFERED {
                    @let help = format!("{}-help", offered.name());
                    div {
                        button type="submit" name="verb" value=(offered.name())
                            aria-describedby=(help) { (verb(offered)) }
                        p .soft id=(help) { (verb_help(offered)) }
                    }
                }
            }
        }
    };
    Ok(page(&visitor, Some(Tab::Home), "Check or tag", &content))
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

/// The slider of five paces. Its value text names the pace and its level.
pub(super) fn slider(pace: Pace, help: &str) -> Markup {
    let usual = pace as usize;
    let name =
        |pace: Pace| format!("{} ({}, {})", words::pace(pace), pace.level(), pace.level().number());
    let names: Vec<String> = Pace::ALL.map(name).into();
    html! {
        fieldset {
            legend #pace-label { "Pace" }
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
                @for pace in Pace::ALL { li { (words::pace(pace)) } }
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

/// Returns the title of the button that begins a verb.
fn verb(verb: RunVerb) -> &'static str {
    match verb {
        RunVerb::Tag => "Tag",
        RunVerb::Check => "Check",
        RunVerb::Update | RunVerb::Keep => "Update",
        RunVerb::Init => "Make a catalogue",
        RunVerb::Protect => "Protect",
    }
}

/// Returns what a verb does.
fn verb_help(verb: RunVerb) -> &'static str {
    match verb {
        RunVerb::Tag => "tags every file that has no tag; reads no other file",
        RunVerb::Check => "reads every file and compares it with its tag; writes nothing to files",
        RunVerb::Update | RunVerb::Keep => {
            "checks, tags new files, and retags edited ones; corrupt ones keep their tags"
        }
        RunVerb::Init => "records the present tags; reads no file",
        RunVerb::Protect => "makes a catalogue and tags every file that has no tag",
    }
}
