//! Findings as every page shows them: groups with a sentence, the files by name, and what can be
//! done with each and with all of them.

use std::path::Path;

use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast::catalogue::FailedCheck;
use steadfast_report::{Units, escape, units};

use crate::dates;
use crate::icons::{drawn, icon, small_icon};
use crate::kinds::StateKind;
use crate::roots::ServedPath;
use crate::runs::{FileFinding, RunVerb};
use crate::visitor::Visitor;

/// What the groups of a page share.
pub(super) struct FindingPage<'a> {
    /// Who can do something about files of which root; `None` while a run goes on.
    pub(super) actor: Option<(&'a Visitor, &'a ServedPath)>,
    /// The path of the root as documents show it.
    pub(super) shown: &'a str,
    pub(super) now: Timestamp,
}

/// Returns the findings of failures that a catalogue has.
pub(super) fn findings_of<'a>(failures: impl Iterator<Item = &'a FailedCheck>) -> Vec<FileFinding> {
    let of = |failure: &FailedCheck| {
        Some(FileFinding {
            kind: StateKind::of_state(failure.standing)?,
            name: failure.standing.name(),
            below: failure.path.clone(),
            length: failure.length,
            was: None,
            written: None,
            at: Some(failure.at),
            known: Vec::new(),
        })
    };
    failures.filter_map(of).collect()
}

/// A group: its sentence, the files that are shown of so many, and what can be done with all.
/// `more` leads to the others.
pub(super) fn group(
    page: &FindingPage<'_>,
    kind: StateKind,
    files: u64,
    shown: &[FileFinding],
    more: Option<&str>,
) -> Markup {
    let (class, name) = kind.class_and_icon();
    let asks = matches!(kind, StateKind::Suspect | StateKind::Missing);
    let is_attention = class == "bad" || asks;
    html! {
        section .panel.group.attention[is_attention].mild[asks] aria-labelledby=(kind.name()) {
            div .cap {
                (drawn(name, &format!("icon {class}")))
                h2 id=(kind.name()) { (kind.title(files)) }
            }
            p .say { (kind.meaning()) }
            @for file in shown { (card(page, file)) }
            @if let Some(address) = more.filter(|_| files > shown.len() as u64) {
                p .more {
                    span {
                        (units::count(shown.len() as u64)) " of " (units::count(files)) " shown"
                    }
                    a href=(address) { "Show all" }
                }
            }
            @if let Some(actor) = page.actor { (answers(actor, kind, files)) }
        }
    }
}

/// One file: where it is, what is so with it, and what can be done.
pub(super) fn card(page: &FindingPage<'_>, file: &FileFinding) -> Markup {
    let (class, name) = file.kind.class_and_icon();
    let above = file.below.parent().map(escape::path).unwrap_or_default();
    let last = file.below.file_name().map_or(file.below.as_path(), Path::new);
    html! {
        article .find {
            (drawn(name, &format!("icon {class}")))
            div {
                h3 .file { span { (above.replace('/', " / ")) } (escape::path(last)) }
                p .why { (why(file, page.now)) }
            }
            p .at { @if let Some(length) = file.length { (Units::Si.bytes(length)) } }
            @if let Some((visitor, root)) = page.actor {
                @let place = root.with(&file.below);
                (acts(visitor, file.kind, &place, &escape::path(last)))
            }
            (technical(page, file))
        }
    }
}

/// What is so with one file, apart from what its group says.
fn why(file: &FileFinding, now: Timestamp) -> Markup {
    let verb = if file.kind == StateKind::Suspect { "Written " } else { "Saved " };
    html! {
        @if let Some(written) = file.written {
            (verb) (dates::moment(written, now)) (difference(file)) ". "
        }
        @if file.kind == StateKind::Moved { (file.known.join("; ")) ". " }
        @if let Some(at) = file.at { "Found " (dates::moment(at, now)) "." }
    }
}

/// How much longer or shorter a file is than what is recorded.
fn difference(file: &FileFinding) -> String {
    let bytes = |bytes| Units::Si.bytes(bytes);
    match (file.was, file.length) {
        (Some(was), Some(is)) if is > was => format!(", {} longer", bytes(is - was)),
        (Some(was), Some(is)) if is < was => format!(", {} shorter", bytes(was - is)),
        (Some(_), Some(_)) => ", same length".to_owned(),
        _ => String::new(),
    }
}

fn technical(page: &FindingPage<'_>, file: &FileFinding) -> Markup {
    let whole = format!("{}/{}", page.shown, file.shown());
    html! {
        details .fold.plain {
            summary { (small_icon("chevron")) "Technical details" }
            div .body {
                dl .facts {
                    div { dt { "Verdict" } dd .mono { (file.name) } }
                    @for known in &file.known { div { dt { "Known" } dd { (known) } } }
                    div { dt { "Path" } dd .mono { (whole) } }
                }
                button .quiet hidden type="button" data-copy=(whole) data-copied="Copied" {
                    (icon("copy")) "Copy the path"
                }
            }
        }
    }
}

/// What can be done with one file, or with all of a group, in one form.
struct FindingActs<'a> {
    kind: StateKind,
    /// Names the file for those who only hear the buttons; empty for a group.
    of: &'a str,
}

impl FindingActs<'_> {
    /// A button that begins a run.
    fn run(&self, verb: RunVerb, class: &str, sign: &str, label: &str) -> Markup {
        html! {
            button .(class) type="submit" name="verb" value=(verb.name()) {
                (self.inside(sign, label))
            }
        }
    }

    /// A button that leads to the plan of a repair.
    fn repair(&self, class: &str, sign: &str, label: &str) -> Markup {
        html! {
            button .(class) type="submit" formaction="/repair" { (self.inside(sign, label)) }
        }
    }

    fn inside(&self, sign: &str, label: &str) -> Markup {
        html! { (icon(sign)) (label) @if !self.of.is_empty() { span .told { " " (self.of) } } }
    }

    /// The form around the buttons.
    fn form(
        &self,
        class: &str,
        (visitor, place): (&Visitor, &ServedPath),
        inside: &Markup,
    ) -> Markup {
        html! {
            form .(class) method="post" action="/runs" {
                (visitor.csrf())
                input type="hidden" name="place" value=(place.token());
                input type="hidden" name="kind" value=(self.kind.name());
                (inside)
            }
        }
    }
}

/// What can be done with one file.
fn acts(visitor: &Visitor, kind: StateKind, place: &ServedPath, of: &str) -> Markup {
    let acts = FindingActs { kind, of };
    let inside = html! {
        @match kind {
            StateKind::Damaged | StateKind::Unreadable | StateKind::Record => {
                (acts.repair("", "repair", "Repair…"))
                (acts.run(RunVerb::Check, "quiet", "checking", "Check again"))
            }
            StateKind::Suspect => {
                (acts.run(RunVerb::Keep, "", "check", "It was me, keep it"))
                (acts.repair("quiet", "restore", "Restore…"))
            }
            StateKind::Missing => {
                (acts.run(RunVerb::Removed, "", "check", "I removed it"))
                (acts.repair("quiet", "restore", "Restore…"))
            }
            StateKind::Changed => {
                (acts.run(RunVerb::Accept, "", "check", "It was me, accept it"))
                (acts.repair("quiet", "restore", "Restore…"))
            }
            StateKind::New => { (acts.run(RunVerb::Tag, "", "intact", "Protect it")) }
            StateKind::Unlike | StateKind::Accepted | StateKind::Date | StateKind::Moved => {}
        }
        @if kind != StateKind::New {
            a .button.quiet href=(format!("/history?place={}", place.query())) {
                (acts.inside("clock", "History"))
            }
        }
    };
    acts.form("row", (visitor, place), &inside)
}

/// What can be done with all files of a group.
fn answers((visitor, root): (&Visitor, &ServedPath), kind: StateKind, files: u64) -> Markup {
    let acts = FindingActs { kind, of: "" };
    let all = |label: &str| match files {
        1 => label.to_owned(),
        files => format!("{label} all {}", units::count(files)),
    };
    let asks = matches!(kind, StateKind::Suspect | StateKind::Missing | StateKind::Changed);
    let given = html! {
        @match kind {
            StateKind::Damaged | StateKind::Unreadable => {
                (acts.repair("", "repair", &format!("{}…", all("Repair"))))
                @let copies = format!("/copies?place={}&kind={}", root.query(), kind.name());
                a .button.quiet href=(copies) {
                    (icon("folder")) "Repair from another copy…"
                }
            }
            StateKind::Suspect => (acts.run(RunVerb::Keep, "", "check", &all("It was me: keep"))),
            StateKind::Missing => (acts.run(RunVerb::Removed, "", "check", "I removed them")),
            StateKind::Changed => {
                (acts.run(RunVerb::Accept, "", "check", &all("It was me: accept")))
            }
            StateKind::New => (acts.run(RunVerb::Protect, "", "intact", &all("Protect"))),
            _ => {}
        }
        @if asks {
            (acts.repair("", "restore", &format!("{}…", all("Restore"))))
            span .soft { "Nothing happens until you answer." }
        }
    };
    html! { @if !given.0.is_empty() { (acts.form("acts", (visitor, root), &given)) } }
}
