//! The result of a run in one sentence, three actions, and counts in plain words.

use maud::{Markup, html};
use steadfast::{Action, Summary, Verdict};
use steadfast_report::units;

use crate::icons::{disc, icon, small_icon};
use crate::pages::automation::monthly;
use crate::runs::{RunVerb, ServedRun};
use crate::visitor::Visitor;

/// The sentence of a result: its colour and icon, the sentence, and a line beneath.
struct ResultSentence {
    class: &'static str,
    icon: &'static str,
    title: String,
    text: &'static str,
}

/// The head of the page of a run that has ended.
pub(super) fn shown(
    visitor: &Visitor,
    run: &ServedRun,
    view: &Summary,
    title: &str,
    again: &Markup,
    offers_automation: bool,
) -> Markup {
    let () = ();
    let sentence = sentence(run.request.verb, view);
    let place = &run.request.place;
    let is_mendable = view.verdicts(Verdict::Corrupt) + view.verdicts(Verdict::Missing) > 0;
    html! {
        div .verdict {
            (disc(sentence.icon, &format!("{} big", sentence.class)))
            div {
                h1 { (sentence.title) }
                p .soft { (title) }
                @if !sentence.text.is_empty() { p { (sentence.text) } }
                div .row {
                    @if is_mendable {
                        form method="post" action="/repair" {
                            (visitor.csrf())
                            input type="hidden" name="place" value=(place.token());
                            button .main type="submit" {
                                (icon("repair")) "See what can be repaired"
                            }
                        }
                    }
                    (again)
                    a .button href=(format!("/runs/{}/report", run.id)) {
                        (icon("save")) "Save the report"
                    }
                }
            }
        }
        (tiles(view))
        @if run.request.verb == RunVerb::Protect { (next(visitor, run, offers_automation)) }
    }
}

/// What to do after a folder was protected, if this server makes schedules and alerts.
fn next(visitor: &Visitor, run: &ServedRun, offers_automation: bool) -> Markup {
    let place = &run.request.place;
    html! {
        @if offers_automation {
            section .panel aria-labelledby="next" {
                div .cap { h2 #next { "What next?" } }
                div .body.row {
                    (monthly(visitor, place))
                    a .button href=(format!("/folders/{}#schedule", place.root)) {
                        "Choose other times"
                    }
                    a .button href="/settings#alerts" { (icon("bell")) "Be told of damage" }
                }
            }
        }
    }
}

/// Returns the sentence. What was not judged is never "as recorded".
fn sentence(verb: RunVerb, view: &Summary) -> ResultSentence {
    let of = |verdict| view.verdicts(verdict);
    let unknown = of(Verdict::Unreadable) + of(Verdict::Unstable) + view.counts.failed;
    let changed = of(Verdict::Modified) + of(Verdict::Differs) + of(Verdict::Missing);
    let new = of(Verdict::Untagged);
    let tagged = view.actions(Action::Tagged) + view.actions(Action::Retagged);
    let make = |class, icon, title| ResultSentence { class, icon, title, text: "" };
    if of(Verdict::Corrupt) > 0 {
        make(
            "bad",
            "damaged",
            format!(
                "{} damaged, of {}",
                units::counted(of(Verdict::Corrupt), "file is", "files are"),
                units::count(view.files)
            ),
        )
    } else if of(Verdict::Suspect) > 0 && verb != RunVerb::Keep {
        suspects(of(Verdict::Suspect))
    } else if unknown > 0 {
        make(
            "bad",
            "damaged",
            format!("{} could not be read", units::counted(unknown, "file", "files")),
        )
    } else if view.interrupted {
        make("warn", "stop", "Stopped before its end".to_owned())
    } else if changed > 0 && !matches!(verb, RunVerb::Update | RunVerb::Keep) {
        make(
            "warn",
            "changed",
            format!("{} changed or missing", units::counted(changed, "file is", "files are")),
        )
    } else if !view.exit_status().is_fine() && view.judged() > 0 {
        make("warn", "help", "Something needs a look".to_owned())
    } else if verb == RunVerb::Init {
        make("good", "check", "The catalogue is made".to_owned())
    } else if tagged > 0 {
        let text =
            "Their contents are recorded. A check says later whether they are still the same.";
        ResultSentence {
            text,
            ..make(
                "good",
                "intact",
                format!("{} protected now", units::counted(tagged, "file is", "files are")),
            )
        }
    } else if view.judged() == 0 {
        let text = "None of these files is protected yet.";
        ResultSentence {
            text,
            ..make("idle", "unprotected", "Nothing could be compared".to_owned())
        }
    } else if new > 0 {
        make(
            "info",
            "new",
            format!(
                "No damage was found; {} not protected yet",
                units::counted(new, "file is", "files are")
            ),
        )
    } else {
        make("good", "intact", all_intact(view.judged()))
    }
}

/// Returns the question about files that something changed and kept the date of.
fn suspects(files: u64) -> ResultSentence {
    let files = units::counted(files, "file was", "files were");
    ResultSentence {
        class: "bad",
        icon: "damaged",
        title: format!("{files} changed by something that kept the date"),
        text: "Was it you? Then keep them; otherwise restore them.",
    }
}

/// How many files there are of each kind.
fn tiles(view: &Summary) -> Markup {
    let of = |verdict| view.verdicts(verdict);
    let unknown = of(Verdict::Unreadable) + of(Verdict::Unstable);
    let intact = of(Verdict::Intact) + of(Verdict::Touched);
    let tiles = [
        ("bad", "damaged", "Damaged", of(Verdict::Corrupt)),
        ("bad", "changed", "Date kept", of(Verdict::Suspect)),
        ("bad", "help", "Not readable", unknown),
        ("warn", "changed", "Changed", of(Verdict::Modified) + of(Verdict::Differs)),
        ("warn", "missing", "Missing", of(Verdict::Missing)),
        ("info", "moved", "Moved", of(Verdict::Moved)),
        ("info", "new", "New", of(Verdict::Untagged)),
        ("good", "intact", "Intact", intact),
    ];
    html! {
        dl .tiles {
            @for (class, name, word, files) in tiles {
                div {
                    dt .(if files > 0 { class } else { "soft" }) { (small_icon(name)) (word) }
                    dd { (units::count(files)) }
                }
            }
        }
    }
}

fn all_intact(files: u64) -> String {
    match files {
        1 => "The file is exactly as recorded".to_owned(),
        files => format!("All {} files are exactly as recorded", units::count(files)),
    }
}
