//! The form of a copy and of the question whether a folder may be erased, and what it asks for.

use std::path::Path;
use std::sync::Arc;

use axum::response::Response;
use maud::{Markup, html};
use steadfast::safe::SafeRule;

use super::Question;
use crate::app::App;
use crate::copying::{CopyEnd, CopyTask, CopyWish, ServedCopy};
use crate::dates;
use crate::fields::NamedValues;
use crate::folders::name_of;
use crate::icons::{icon, small_icon};
use crate::layout::{FOLDERS, Tab, framed, trail};
use crate::visitor::Visitor;

/// Sources or places of one copy.
const PLACES_MAX: usize = 16;

/// The most copies that can be asked for.
const COPIES_MAX: u64 = 9;

/// The form, with what was chosen before.
pub(super) fn asked(
    app: &App,
    visitor: &Visitor,
    question: Question,
    chosen: &NamedValues,
    wrong: Option<&str>,
) -> Response {
    let (from, to, intro) = match question {
        Question::Copy => (
            "What is copied",
            "Where copies go",
            "Each file is read once for all places, and each copy is read back from its drive. \
             Nothing that is there is replaced. First you see what it comes to.",
        ),
        Question::Safe => (
            "What may be erased",
            "Where copies should be",
            "Every file is read, and so is every copy of it: a record alone proves nothing. \
             Nothing is written.",
        ),
    };
    let rule = rule_of(chosen);
    let earlier: Vec<Arc<ServedCopy>> = app.copies.all();
    let content = html! {
        (trail(&[FOLDERS], question.title()))
        h1 { (question.title()) }
        p .soft { (intro) }
        @if let Some(wrong) = wrong { p .note.bad role="alert" { (wrong) } }
        form .panel method="post" action=(question.path()) {
            (visitor.csrf())
            div .pad.stack {
                (choice(app, chosen, "from", from))
                (choice(app, chosen, "to", to))
                @if question == Question::Copy {
                    p .small.soft {
                        "Each thing gets its own name in each place. A folder that is not there \
                         yet is made, in one that is."
                    }
                    details .fold open[chosen.texts("in").next().is_some()] {
                        summary { (small_icon("chevron")) "Only what I do not have yet" }
                        div .body.stack.tight {
                            (choice(app, chosen, "in", "Leave out what one of these has"))
                            p .small.soft {
                                "By their records, which nobody reads: what is left out is not \
                                 safe to erase until its copies were read."
                            }
                        }
                    }
                }
                (strictness(rule))
                div .row {
                    button .main type="submit" {
                        @match question {
                            Question::Copy => { (icon("copy")) "See what it comes to…" }
                            Question::Safe => { (icon("checking")) "Read the copies" }
                        }
                    }
                }
            }
        }
        @if !earlier.is_empty() {
            section .panel aria-labelledby="earlier" {
                div .cap { h2 #earlier { "Asked before" } }
                ul .list.lines { @for copy in &earlier { (before(app, copy)) } }
            }
        }
    };
    framed(visitor, Some(Tab::Home), question.title(), &html! {}, &content)
}

/// The choice among the roots, and paths beneath them.
fn choice(app: &App, chosen: &NamedValues, name: &str, label: &str) -> Markup {
    let tokens: Vec<&str> = chosen.texts(name).collect();
    let of_places = tokens.iter().filter_map(|token| app.roots.place(token));
    let typed = of_places.filter(|place| !place.is_root()).map(|place| app.roots.shown(&place));
    let field = format!("{name}-paths");
    let typed: Vec<String> = match chosen.text(&field) {
        Some(text) => text.lines().map(str::to_owned).collect(),
        None => typed.collect(),
    };
    html! {
        fieldset .pick {
            legend { (label) }
            @for place in app.roots.places() {
                @let token = place.token();
                label {
                    input type="checkbox" name=(name) value=(token)
                        checked[tokens.contains(&token.as_str())];
                    (icon("folder"))
                    span .what { (name_of(&app.roots.path(&place)))
                        small { (app.roots.shown(&place)) } }
                }
            }
        }
        div .field {
            label for=(field) { (label) ", within one of them: a path on each line" }
            textarea id=(field) name=(field) rows="2" maxlength="8000" autocomplete="off"
                spellcheck="false" { (typed.join("\n")) }
        }
    }
}

/// How much is asked of copies.
fn strictness(rule: SafeRule) -> Markup {
    html! {
        div .field {
            label for="copies" { "Copies on different drives, the source not counted" }
            input #copies type="number" name="copies" min="1" max=(COPIES_MAX) required
                value=(rule.copies);
        }
        details .fold open[rule.apart || rule.servers || rule.tree] {
            summary { (small_icon("chevron")) "What only you can know" }
            div .body.stack.tight {
                label .tick {
                    input type="checkbox" name="apart" value="1" checked[rule.apart];
                    span { "My places are on different drives"
                        small { "Counts where the system does not tell: of virtual disks, \
                                 network volumes, and what FUSE or an overlay shows. What it \
                                 knows to be one stays one." } }
                }
                label .tick {
                    input type="checkbox" name="servers" value="1" checked[rule.servers];
                    span { "What a server answers is enough"
                        small { "It may come from its memory and not from its drive." } }
                }
                label .tick {
                    input type="checkbox" name="tree" value="1" checked[rule.tree];
                    span { "What Btrfs keeps in its tree is enough"
                        small { "Small files are read through a cache there." } }
                }
            }
        }
    }
}

fn before(app: &App, copy: &ServedCopy) -> Markup {
    let names: Vec<String> =
        copy.wish.sources.iter().map(|place| name_of(&app.roots.path(place))).collect();
    let said = match copy.control.snapshot().end.as_deref() {
        None => "goes on".to_owned(),
        Some(CopyEnd::Failed(..)) => "could not begin".to_owned(),
        Some(CopyEnd::Planned(_)) => "planned, nothing copied".to_owned(),
        Some(CopyEnd::Done(answer, _)) => {
            format!("safe to erase: {}", if answer.is_yes() { "yes" } else { "no" })
        }
    };
    html! {
        li {
            (icon(if copy.wish.task == CopyTask::Judge { "help" } else { "copy" }))
            span .what {
                a href=(format!("/copy/{}", copy.id)) { (names.join(", ")) }
                small .soft { (said) }
            }
            span .when { (dates::moment(copy.begun, app.now())) }
        }
    }
}

fn rule_of(form: &NamedValues) -> SafeRule {
    let copies = form.number("copies").unwrap_or(2).clamp(1, COPIES_MAX);
    SafeRule {
        copies: copies as usize,
        apart: form.text("apart").is_some(),
        servers: form.text("servers").is_some(),
        tree: form.text("tree").is_some(),
    }
}

/// Reads the form; fails with what is wrong with it.
pub(super) fn wished(app: &App, task: CopyTask, form: &NamedValues) -> Result<CopyWish, String> {
    let places = |name: &str| {
        let mut found = Vec::new();
        for token in form.texts(name) {
            found.push(app.roots.place(token).ok_or("A chosen folder is not shown any more.")?);
        }
        let typed = form.text(&format!("{name}-paths")).unwrap_or_default();
        for line in typed.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let place = app.roots.place_of(Path::new(line)).ok_or_else(|| {
                format!(
                    "{line} is beneath no folder that this server shows. Start it with that \
                     folder as well, and choose it here."
                )
            });
            found.push(place?);
        }
        if found.len() > PLACES_MAX {
            return Err(format!("At most {PLACES_MAX} folders can be chosen at a time."));
        }
        Ok::<_, String>(found)
    };
    let (sources, archives, places) = (places("from")?, places("in")?, places("to")?);
    match (sources.is_empty(), places.is_empty()) {
        (true, _) if task == CopyTask::Judge => Err("Choose what may be erased.".to_owned()),
        (true, _) => Err("Choose what is copied.".to_owned()),
        (_, true) if task == CopyTask::Judge => Err("Choose where copies should be.".to_owned()),
        (_, true) => Err("Choose where copies go.".to_owned()),
        _ => Ok(CopyWish { task, sources, places, archives, rule: rule_of(form) }),
    }
}
