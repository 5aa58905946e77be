//! The result of a run in one sentence, three actions, and counts in plain words.

use maud::{Markup, html};
use steadfast::{Action, Verdict};
use steadfast_report::{RunView, units};

use crate::icons::{disc, icon, small_icon};
use crate::pages::automation::monthly;
use crate::runs::{RunVerb, ServedRun};
use crate::texts::OfLanguage as _;
use crate::texts::result::ResultTexts;
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
    view: &RunView,
    title: &str,
    again: &Markup,
    offers_automation: bool,
) -> Markup {
    let (texts, result) = (visitor.texts(), &visitor.texts().result);
    let sentence = sentence(run.request.verb, view, result);
    let place = &run.request.place;
    let is_mendable = count(view, Verdict::Corrupt) + count(view, Verdict::Missing) > 0;
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
                            button .main type="submit" { (icon("repair")) (texts.repair.plan) }
                        }
                    }
                    (again)
                    a .button href=(format!("/runs/{}/report", run.id)) {
                        (icon("save")) (texts.run.report)
                    }
                }
            }
        }
        (tiles(view, result))
        @if run.request.verb == RunVerb::Protect { (next(visitor, run, offers_automation)) }
    }
}

/// What to do after a folder was protected, if this server makes schedules and alerts.
fn next(visitor: &Visitor, run: &ServedRun, offers_automation: bool) -> Markup {
    let texts = &visitor.texts().add;
    let place = &run.request.place;
    html! {
        @if offers_automation {
            section .panel aria-labelledby="next" {
                div .cap { h2 #next { (texts.then) } }
                div .body.row {
                    (monthly(visitor, place))
                    a .button href=(format!("/folders/{}#schedule", place.root)) {
                        (texts.then_other)
                    }
                    a .button href="/settings#alerts" { (icon("bell")) (texts.then_tell) }
                }
            }
        }
    }
}

/// Returns the sentence. What was not judged is never "as recorded".
fn sentence(verb: RunVerb, view: &RunView, texts: &ResultTexts) -> ResultSentence {
    let of = |verdict| count(view, verdict);
    let unknown = of(Verdict::Unreadable) + of(Verdict::Unstable) + view.failed;
    let changed = of(Verdict::Modified) + of(Verdict::Missing);
    let new = of(Verdict::Untagged);
    let tagged: u64 = view
        .actions
        .iter()
        .filter(|(action, _)| matches!(action, Action::Tagged | Action::Retagged))
        .map(|(_, files)| files)
        .sum();
    let make = |class, icon, title| ResultSentence { class, icon, title, text: "" };
    if of(Verdict::Corrupt) > 0 {
        make("bad", "damaged", (texts.damaged)(of(Verdict::Corrupt), view.files))
    } else if unknown > 0 {
        make("bad", "damaged", (texts.unreadable)(unknown))
    } else if view.interrupted {
        make("warn", "stop", texts.stopped.to_owned())
    } else if changed > 0 && verb != RunVerb::Update {
        make("warn", "changed", (texts.changed)(changed))
    } else if view.exit_status != 0 && view.judged > 0 {
        make("warn", "help", texts.look.to_owned())
    } else if verb == RunVerb::Init {
        make("good", "check", texts.recorded.to_owned())
    } else if tagged > 0 {
        let text = texts.protected_text;
        ResultSentence { text, ..make("good", "intact", (texts.protected)(tagged)) }
    } else if view.judged == 0 {
        let text = texts.nothing_text;
        ResultSentence { text, ..make("idle", "unprotected", texts.nothing.to_owned()) }
    } else if new > 0 {
        make("info", "new", (texts.new)(new))
    } else {
        make("good", "intact", (texts.intact)(view.judged))
    }
}

fn count(view: &RunView, wanted: Verdict) -> u64 {
    view.verdicts.iter().find(|(verdict, _)| *verdict == wanted).map_or(0, |(_, files)| *files)
}

/// How many files there are of each kind.
fn tiles(view: &RunView, texts: &ResultTexts) -> Markup {
    let of = |verdict| count(view, verdict);
    let unknown = of(Verdict::Unreadable) + of(Verdict::Unstable);
    let intact = of(Verdict::Intact) + of(Verdict::Touched);
    let tiles = [
        ("bad", "damaged", texts.tile_damaged, of(Verdict::Corrupt)),
        ("bad", "help", texts.tile_unreadable, unknown),
        ("warn", "changed", texts.tile_changed, of(Verdict::Modified)),
        ("warn", "missing", texts.tile_missing, of(Verdict::Missing)),
        ("info", "moved", texts.tile_moved, of(Verdict::Moved)),
        ("info", "new", texts.tile_new, of(Verdict::Untagged)),
        ("good", "intact", texts.tile_intact, intact),
    ];
    html! {
        dl .tiles {
            @for (class, name, word, files) in tiles {
                div {
                    dt .(if files > 0 { class } else { "soft" }) { (small_icon(name)) (word) }
                    dd { (texts.say(&units::count(files))) }
                }
            }
        }
    }
}
