//! The findings of a run that has ended, in groups: some of each, or more of one.

use maud::{Markup, html};
use steadfast_report::units;

use super::verdict::RunView;
use crate::fields::{NamedValues, encode};
use crate::kinds::StateKind;
use crate::pages::findings::{FindingPage, group};
use crate::runs::FindingFilter;

/// Findings of each group, and of one that is shown alone.
const GROUP_MAX: usize = 20;
const SHOWN_MAX: usize = 100;

/// Longest search text in characters.
const WORDS_LEN_MAX: usize = 200;

/// The groups of findings that a query asks for.
pub(super) fn groups(view: &RunView<'_>, asked: &NamedValues) -> Markup {
    let wanted = FindingFilter {
        kind: asked.text("show").and_then(|kind| kind.parse().ok()),
        words: asked.text("words").unwrap_or("").chars().take(WORDS_LEN_MAX).collect(),
    };
    let is_alone = wanted.kind.is_some() || !wanted.words.is_empty();
    let skip = usize::try_from(asked.number("skip").unwrap_or(0)).unwrap_or(0);
    let findings = view.run.findings();
    let (counts, lost) = (findings.counts(), findings.lost());
    let kinds = counts.iter().filter(|(kind, _)| wanted.kind.is_none_or(|one| one == *kind));
    let (skip, most) = if is_alone { (skip, SHOWN_MAX) } else { (0, GROUP_MAX) };
    let groups: Vec<_> = kinds
        .map(|(kind, files)| {
            let filter = FindingFilter { kind: Some(*kind), ..wanted.clone() };
            let (shown, matching) = findings.page(&filter, skip, most);
            let files = if wanted.words.is_empty() { *files } else { matching as u64 };
            (*kind, files, shown, matching)
        })
        .filter(|(.., matching)| *matching > 0)
        .collect();
    drop(findings);
    let root = view.run.request.place.with(std::path::Path::new(""));
    let page = FindingPage { actor: Some((view.visitor, &root)), shown: view.shown, now: view.now };
    let all: u64 = counts.iter().map(|(_, files)| files).sum();
    let matching = groups.iter().map(|(.., matching)| *matching).max().unwrap_or(0);
    html! {
        @if is_alone || all > GROUP_MAX as u64 { (search(view, &wanted)) }
        @if is_alone && groups.is_empty() { p role="status" { "No file matches." } }
        @for (kind, files, shown, _) in &groups {
            @let more = format!("/runs/{}?show={}", view.run.id, kind.name());
            (group(&page, *kind, *files, shown, (!is_alone).then_some(more.as_str())))
        }
        @if is_alone { (turn(view, &wanted, skip, matching)) }
        @if lost > 0 {
            p .soft {
                (units::counted(lost, "further file was", "further files were"))
                " found and not listed; none is worse than those that are."
            }
        }
    }
}

fn search(view: &RunView<'_>, wanted: &FindingFilter) -> Markup {
    html! {
        form .row method="get" action=(format!("/runs/{}", view.run.id)) role="search" {
            @if let Some(kind) = wanted.kind {
                input type="hidden" name="show" value=(kind.name());
            }
            span .find-in {
                (crate::icons::icon("search"))
                input type="search" name="words" value=(wanted.words) maxlength=(WORDS_LEN_MAX)
                    aria-label="Find among these files" placeholder="Find among these files";
            }
            button type="submit" { "Find" }
        }
    }
}

/// The links to the previous and the next files.
fn turn(view: &RunView<'_>, wanted: &FindingFilter, skip: usize, all: usize) -> Markup {
    let address = |skip: usize| {
        format!(
            "/runs/{}?show={}&words={}&skip={skip}",
            view.run.id,
            wanted.kind.map_or("", StateKind::name),
            encode(wanted.words.as_bytes())
        )
    };
    html! {
        p .row {
            a .button href=(format!("/runs/{}", view.run.id)) { "Show all kinds" }
            @if skip > 0 {
                a .button href=(address(skip.saturating_sub(SHOWN_MAX))) { "Previous" }
            }
            @if skip.saturating_add(SHOWN_MAX) < all {
                a .button href=(address(skip + SHOWN_MAX)) { "Next" }
            }
        }
    }
}
