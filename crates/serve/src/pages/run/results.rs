//! The findings of a run that has ended: filtered, the most severe first, some at a time.

use maud::{Markup, html};
use steadfast_report::units;

use super::parts::table;
use crate::fields::{NamedValues, encode};
use crate::runs::{FindingFilter, ServedRun};

/// Findings of one page.
const SHOWN_MAX: usize = 100;

/// Longest search text in characters.
const WORDS_LEN_MAX: usize = 200;

/// The findings that match the query, and the form of the filter.
pub(super) fn section(run: &ServedRun, asked: &NamedValues) -> Markup {
    let findings = run.findings();
    let wanted = FindingFilter {
        name: asked.text("show").filter(|name| !name.is_empty()).map(str::to_owned),
        words: asked.text("words").unwrap_or("").chars().take(WORDS_LEN_MAX).collect(),
    };
    let skip = usize::try_from(asked.number("skip").unwrap_or(0)).unwrap_or(0);
    let (page, all) = findings.page(&wanted, skip, SHOWN_MAX);
    let counts: Vec<(&'static str, u64)> = findings.counts().collect();
    let lost = findings.lost();
    drop(findings);
    if counts.is_empty() {
        // The document lists other files, such as files without a tag.
        return html! {};
    }
    html! {
        section #results .panel.pad aria-labelledby="results-title" {
            h2 #results-title { "Files that are not intact" }
            (filter(run, &wanted, &counts))
            @if page.is_empty() { p role="status" { "No findings match." } }
            @else {
                p role="status" {
                    (units::count(skip as u64 + 1)) " to "
                    (units::count((skip + page.len()) as u64)) " of " (units::count(all as u64))
                }
                (table(&page, &run.shown))
            }
            (turn(run, &wanted, skip, all))
            @if lost > 0 { p .soft { (lost_findings(lost)) } }
        }
    }
}

fn filter(run: &ServedRun, wanted: &FindingFilter, counts: &[(&'static str, u64)]) -> Markup {
    html! {
        form .filter method="get" action=(format!("/runs/{}#results", run.id)) role="search" {
            label for="show" { "Show" }
            select #show name="show" {
                option value="" { "all" }
                @for (name, count) in counts {
                    option value=(name) selected[wanted.name.as_deref() == Some(*name)] {
                        (name) " (" (units::count(*count)) ")"
                    }
                }
            }
            label for="words" { "Path or details contain" }
            input #words type="search" name="words" value=(wanted.words)
                maxlength=(WORDS_LEN_MAX);
            button type="submit" { "Filter" }
        }
    }
}

/// The links to the previous and the next page.
fn turn(run: &ServedRun, wanted: &FindingFilter, skip: usize, all: usize) -> Markup {
    let address = |skip: usize| {
        format!(
            "/runs/{}?show={}&words={}&skip={skip}#results",
            run.id,
            encode(wanted.name.as_deref().unwrap_or("").as_bytes()),
            encode(wanted.words.as_bytes())
        )
    };
    html! {
        p .turn {
            @if skip > 0 {
                a href=(address(skip.saturating_sub(SHOWN_MAX))) { "Previous" }
            }
            @if skip.saturating_add(SHOWN_MAX) < all {
                a href=(address(skip + SHOWN_MAX)) { "Next" }
            }
        }
    }
}

fn lost_findings(lost: u64) -> String {
    {
        let more = units::counted(lost, "further finding was", "further findings were");
        format!("{more} not kept; none is worse than those that are.")
    }
}
