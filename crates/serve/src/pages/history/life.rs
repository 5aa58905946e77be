//! The life of one file as a line of time: what happened, the latest first. Checks that found the
//! same follow each other in one line.

use maud::{Markup, html};
use steadfast::catalogue::{FileHistoryEvent, Happened, History, HistoryRun, RunRecord};
use steadfast::{FileState, Timestamp};
use steadfast_report::document::Document;
use steadfast_report::{Units, escape, units};

use crate::dates;
use crate::icons::{disc, drawn, small_icon};
use crate::kinds::StateKind;
use crate::layout::documents;
use crate::roots::ServedPath;

/// What a catalogue has of one file.
pub(super) struct FileLife {
    /// The run that first saw it.
    pub(super) first: Option<RunRecord>,
    pub(super) history: History,
    pub(super) document: Document,
}

/// One line of a life: one thing that happened, or checks that found nothing new.
enum LifeLine<'a> {
    Happened(&'a HistoryRun, &'a Happened),
    /// The first and the last check, and how many there were.
    Intact(&'a RunRecord, &'a RunRecord, u64),
}

/// Returns the lines, the latest first.
fn lines(history: &History) -> Vec<LifeLine<'_>> {
    let mut lines: Vec<LifeLine<'_>> = Vec::new();
    for run in &history.runs {
        let told = run.happened.iter().filter(|it| it.what != FileHistoryEvent::Intact);
        let told: Vec<&Happened> = told.collect();
        let is_intact = run.verdict.is_some() && run.standing == FileState::Fine;
        match (told.is_empty() && is_intact, lines.last_mut()) {
            (true, Some(LifeLine::Intact(_, last, times))) => {
                (*last, *times) = (&run.run, *times + 1);
            }
            (true, _) => lines.push(LifeLine::Intact(&run.run, &run.run, 1)),
            (false, _) => lines.extend(told.into_iter().map(|it| LifeLine::Happened(run, it))),
        }
    }
    lines.reverse();
    lines
}

/// The page of a file: how it is, and its life.
pub(super) fn shown(place: &ServedPath, name: &str, life: &FileLife, now: Timestamp) -> Markup {
    let history = &life.history;
    let known = history.now.as_ref();
    let kind = known.and_then(|known| StateKind::of_state(known.standing));
    let is_new = known.is_some_and(|known| known.tag.is_none());
    let (class, sign, says) = match (known, kind) {
        (None, _) => ("idle", "missing", "is not expected here any more".to_owned()),
        (Some(_), Some(kind)) => {
            let (class, sign) = kind.class_and_icon();
            (class, sign, standing_words(kind).to_owned())
        }
        (Some(_), None) if is_new => ("info", "new", "is not recorded yet".to_owned()),
        (Some(_), None) => ("good", "intact", "was exactly as recorded when last read".to_owned()),
    };
    html! {
        div .verdict {
            (disc(sign, &format!("{class} big")))
            div { h1 { (name) " " (says) } }
        }
        div .cols {
            section .panel aria-labelledby="life" {
                div .cap { h2 #life { "Its life so far" } span .small.soft { "the latest first" } }
                ol .life {
                    @for line in lines(history) { (line_of(place, &line, now)) }
                    @if let Some(first) = &life.first {
                        (item("recorded", "info", "First seen", "", first.started, now, None))
                    }
                }
            }
            (now_card(life, now))
        }
        details .fold {
            summary {
                (small_icon("chevron")) "Technical details"
                span .soft { "digests, run numbers" }
            }
            div .body { (documents(std::slice::from_ref(&life.document))) }
        }
    }
}

fn standing_words(kind: StateKind) -> &'static str {
    match kind {
        StateKind::Damaged => "is damaged",
        StateKind::Suspect => "changed and kept its date. Was it you?",
        StateKind::Missing => "is gone. Was it you?",
        StateKind::Unlike => "is other than a list says",
        StateKind::Changed => "was changed since it was recorded",
        StateKind::Unreadable => "could not be read",
        _ => "is as recorded; its own record or its date is not",
    }
}

/// What is known now.
fn now_card(life: &FileLife, now: Timestamp) -> Markup {
    let Some(known) = &life.history.now else { return html! {} };
    let runs = life.history.runs.iter().rev();
    let intact = runs.clone().find(|run| run.run.id == known.last_proved_run);
    html! {
        section .panel aria-labelledby="now" {
            div .cap { h2 #now { "Now" } }
            div .body {
                dl .facts {
                    div { dt { "Size" } dd { (Units::Si.bytes(known.facts.length)) } }
                    div { dt { "Saved" } dd { (dates::moment(known.facts.mtime, now)) } }
                    @if let Some(run) = intact {
                        div { dt { "Last intact" } dd { (dates::moment(run.run.started, now)) } }
                    }
                }
            }
        }
    }
}

fn line_of(place: &ServedPath, line: &LifeLine<'_>, now: Timestamp) -> Markup {
    match line {
        LifeLine::Intact(first, last, times) => {
            let title = match times {
                1 => "Intact".to_owned(),
                times => format!("Intact {} times", units::count(*times)),
            };
            let since = match times {
                1 => String::new(),
                _ => format!("First {}.", dates::ago(first.started, now)),
            };
            item("intact", "good", &title, &since, last.started, now, Some((place, *last)))
        }
        LifeLine::Happened(run, it) => {
            let (sign, class, title) = words_of(it);
            let other = it.other.as_deref().map(escape::path);
            let sources = it.sources.iter().map(|source| escape::path(&source.path));
            let from = sources.collect::<Vec<_>>().join(", ");
            let text = match (other, from.is_empty()) {
                (Some(other), _) => other,
                (None, false) => format!("From {from}."),
                (None, true) => String::new(),
            };
            item(sign, class, title, &text, it.at, now, Some((place, &run.run)))
        }
    }
}

/// One item of the line: an icon, a title, a sentence, and when; it leads to its run.
fn item(
    sign: &str,
    class: &str,
    title: &str,
    text: &str,
    at: Timestamp,
    now: Timestamp,
    run: Option<(&ServedPath, &RunRecord)>,
) -> Markup {
    html! {
        li .many[title.contains("times")] {
            span .dot.(class) { (drawn(sign, &format!("icon {class}"))) }
            div {
                h3 { (title) }
                p {
                    (text) " "
                    @if let Some((place, run)) = run {
                        a href=(format!("/folders/{}/runs/{}", place.root, run.id)) {
                            "Show this run"
                        }
                    }
                }
            }
            (dates::moment(at, now))
        }
    }
}

/// Returns the icon, the colour and the words for what happened.
fn words_of(it: &Happened) -> (&'static str, &'static str, &'static str) {
    use FileHistoryEvent as It;
    match it.what {
        It::Corrupt => ("damaged", "bad", "Found damaged"),
        It::Suspect => ("suspect", "warn", "Changed, and kept its date"),
        It::Modified | It::Differs => ("changed", "warn", "Found changed"),
        It::Unreadable | It::Unstable => ("help", "bad", "Could not be read"),
        It::Missing => ("missing", "warn", "Found gone"),
        It::Dropped => ("missing", "idle", "Its loss was accepted"),
        It::Overwritten => ("missing", "warn", "Another file took its name"),
        It::Returned => ("new", "info", "There again"),
        It::PassedBy => ("help", "idle", "Not found, and perhaps not mounted"),
        It::Written => ("changed", "idle", "Written since, and not read yet"),
        It::Tagged => ("recorded", "info", "Recorded"),
        It::Retagged | It::Adopted | It::Accepted => ("check", "idle", "Its change was accepted"),
        It::Refreshed => ("clock", "idle", "Its new date was recorded"),
        It::Removed => ("unprotected", "idle", "Its record was removed"),
        It::Repaired => ("repair", "good", "Repaired, exactly as recorded"),
        It::New => ("new", "info", "New here"),
        It::MovedTo => ("moved", "info", "Moved to another name"),
        It::MovedFrom => ("moved", "info", "Came from another name"),
        It::Touched => ("clock", "idle", "Intact, with another date"),
        It::TagLost => ("layers", "warn", "Its own record was lost"),
        It::TagReplaced => ("layers", "warn", "Its own record was replaced"),
        _ => ("intact", "good", "Intact"),
    }
}
