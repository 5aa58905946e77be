//! Findings as every page shows them: groups with a sentence, the files by name, and what can be
//! done with each and with all of them.

use std::path::Path;

use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast::catalogue::{Catalogue, FailedCheck};
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

/// Returns the findings of failures that a catalogue has, with the lengths that it recorded.
pub(super) fn findings_of<'a>(
    catalogue: Option<&Catalogue>,
    failures: impl Iterator<Item = &'a FailedCheck>,
) -> Vec<FileFinding> {
    let length = |path: &Path| Some(catalogue?.tag(path).ok()??.length);
    let of = |failure: &FailedCheck| {
        Some(FileFinding {
            kind: StateKind::of_state(failure.standing)?,
            name: failure.standing.name(),
            below: failure.path.clone(),
            length: length(&failure.path),
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
                div .row { (acts(visitor, file.kind, &place, &escape::path(last))) }
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

/// A button that posts a form. `of` names the file for those who only hear it.
struct ActionButton<'a> {
    class: &'a str,
    icon: &'a str,
    label: &'a str,
    of: &'a str,
}

impl ActionButton<'_> {
    fn form(&self, visitor: &Visitor, action: &str, fields: &[(&str, &str)]) -> Markup {
        html! {
            form method="post" action=(action) {
                (visitor.csrf())
                @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
                button .(self.class) type="submit" {
                    (icon(self.icon)) (self.label)
                    @if !self.of.is_empty() { span .told { " " (self.of) } }
                }
            }
        }
    }
}

/// What can be done with one file.
fn acts(visitor: &Visitor, kind: StateKind, place: &ServedPath, of: &str) -> Markup {
    let token = place.token();
    let run = |verb: RunVerb, class, icon, label| {
        let fields = [("place", token.as_str()), ("verb", verb.name())];
        ActionButton { class, icon, label, of }.form(visitor, "/runs", &fields)
    };
    let repair = |class, icon, label| {
        let fields = [("place", token.as_str()), ("kind", kind.name())];
        ActionButton { class, icon, label, of }.form(visitor, "/repair", &fields)
    };
    html! {
        @match kind {
            StateKind::Damaged => { (repair("", "repair", "Repair…")) }
            StateKind::Suspect => {
                (run(RunVerb::Keep, "", "check", "It was me, keep it"))
                (repair("quiet", "restore", "Restore…"))
            }
            StateKind::Missing => {
                (run(RunVerb::Removed, "", "check", "I removed it"))
                (repair("quiet", "restore", "Restore…"))
            }
            StateKind::Changed => {
                (run(RunVerb::Accept, "", "check", "It was me, accept it"))
                (repair("quiet", "restore", "Restore…"))
            }
            StateKind::New => { (run(RunVerb::Tag, "", "intact", "Protect it")) }
            StateKind::Unreadable | StateKind::Record => {
                (repair("", "repair", "Repair…"))
                (run(RunVerb::Check, "quiet", "checking", "Check again"))
            }
            StateKind::Unlike | StateKind::Accepted | StateKind::Date | StateKind::Moved => {}
        }
        @if kind == StateKind::Damaged {
            (run(RunVerb::Check, "quiet", "checking", "Check again"))
        }
        @if kind != StateKind::New {
            a .button.quiet href=(format!("/history?place={}", place.query())) {
                (icon("clock")) "History" span .told { " " (of) }
            }
        }
    }
}

/// What can be done with all files of a group.
fn answers((visitor, root): (&Visitor, &ServedPath), kind: StateKind, files: u64) -> Markup {
    let token = root.token();
    let run = |verb: RunVerb, icon, label: &str| {
        let fields = [("place", token.as_str()), ("verb", verb.name())];
        ActionButton { class: "", icon, label, of: "" }.form(visitor, "/runs", &fields)
    };
    let repair = |icon, label: &str| {
        let fields = [("place", token.as_str()), ("kind", kind.name())];
        ActionButton { class: "", icon, label, of: "" }.form(visitor, "/repair", &fields)
    };
    let all = |label: &str| match files {
        1 => label.to_owned(),
        files => format!("{label} all {}", units::count(files)),
    };
    let asks = matches!(kind, StateKind::Suspect | StateKind::Missing | StateKind::Changed);
    let given = html! {
        @match kind {
            StateKind::Damaged | StateKind::Unreadable => {
                (repair("repair", &format!("{}…", all("Repair"))))
                @let copies = format!("/copies?place={}&kind={}", root.query(), kind.name());
                a .button.quiet href=(copies) {
                    (icon("folder")) "Repair from another copy…"
                }
            }
            StateKind::Suspect => (run(RunVerb::Keep, "check", &all("It was me: keep"))),
            StateKind::Missing => (run(RunVerb::Removed, "check", "I removed them")),
            StateKind::Changed => (run(RunVerb::Accept, "check", &all("It was me: accept"))),
            StateKind::New => (run(RunVerb::Protect, "intact", &all("Protect"))),
            _ => {}
        }
        @if asks {
            (repair("restore", &format!("{}…", all("Restore"))))
            span .soft { "Nothing happens until you answer." }
        }
    };
    html! { @if !given.0.is_empty() { div .acts { (given) } } }
}
