//! The start page: the state of each folder, overdue checks, and the runs of this server.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::catalogue::{Audit, RunRecord};
use steadfast_report::{escape, units};

use crate::app::App;
use crate::audits::{OVERDUE_DAYS, RootAudit};
use crate::layout::{Tab, page};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::runs::{RunEnd, RunVerb, ServedRun};
use crate::texts::{HomeTexts, Texts};
use crate::visitor::Visitor;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/", get(home))
}

async fn home(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, Refusal> {
    let audits = app.blocking(|app| {
        let audit = |place: ServedPath| {
            let audit = match app.roots.root(&place) {
                Ok(root) => app.audits.of(place.root, root),
                Err(error) => Arc::new(RootAudit::Unreadable(error.to_string())),
            };
            (place, audit)
        };
        app.roots.places().map(audit).collect::<Vec<_>>()
    });
    let audits = audits.await?;
    let texts = visitor.texts();
    let content = html! {
        @for (place, audit) in &audits { (folder(&app, &visitor, place, audit)) }
        section {
            h2 #runs { (texts.home.runs) }
            (runs(&app.runs.all(), texts))
        }
    };
    Ok(page(&visitor, Some(Tab::Home), texts.home.title, &content))
}

/// One root: its state, links to runs, and its tree.
fn folder(app: &App, visitor: &Visitor, place: &ServedPath, audit: &RootAudit) -> Markup {
    let texts = &visitor.texts().home;
    let query = place.query();
    let title = format!("root-{}", place.root);
    html! {
        section .card aria-labelledby=(title) {
            h2 id=(title) { (app.roots.shown(place)) }
            @match audit {
                RootAudit::None => {
                    p { (texts.no_catalogue) }
                    form method="post" action="/runs" {
                        (visitor.csrf())
                        input type="hidden" name="place" value=(place.token());
                        button type="submit" name="verb" value=(RunVerb::Init.name()) {
                            (texts.make_catalogue)
                        }
                    }
                }
                RootAudit::Above => p { (texts.catalogue_above) }
                RootAudit::Unreadable(error) => p .wrong { (texts.unreadable) ": " (error) }
                RootAudit::Audit(audit) => (standing(audit, texts))
            }
            p { a .button href=(format!("/run?place={query}")) { (texts.check_or_tag) } }
            details data-part=(format!("/browse/part?place={query}")) {
                summary { (texts.choose) }
                p { a href=(format!("/browse?place={query}")) { (texts.choose) } }
            }
        }
    }
}

/// The figures of an audit.
fn standing(audit: &Audit, texts: &HomeTexts) -> Markup {
    let wrong: Vec<String> = audit
        .standings
        .iter()
        .map(|(standing, files)| format!("{} {}", units::count(*files), standing.name()))
        .collect();
    let checked = audit.tagged > audit.never.0;
    let unchecked = audit.entries.saturating_sub(audit.tagged) + audit.never.0;
    let proved = audit.windows.first().map_or(0, |window| window.entries);
    let share = units::share(proved as f64 / audit.tagged.max(1) as f64);
    let overdue = audit.tagged.saturating_sub(proved);
    html! {
        @if !wrong.is_empty() {
            p .answer .bad { ((texts.wrong)(&wrong.join(", "))) }
        } @else if checked && unchecked == 0 {
            p .answer .good { (texts.fine) }
        } @else if checked {
            p .answer { ((texts.partly_checked)(&(texts.files)(unchecked))) }
        } @else {
            p .answer { (texts.never_checked) }
        }
        dl .facts {
            @if let Some(run) = audit.runs.first() {
                div { dt { (texts.last_run) } dd { (last_run(run)) } }
            }
            div { dt { (texts.known) } dd { ((texts.files)(audit.entries)) } }
            div {
                dt { ((texts.proved)(OVERDUE_DAYS)) }
                dd {
                    meter min="0" max=(audit.tagged.max(1)) value=(proved) aria-hidden="true" {}
                    " "
                    ((texts.of)(&units::count(proved), &(texts.files)(audit.tagged)))
                    ", " (share)
                }
            }
            div {
                dt { (texts.overdue) }
                dd {
                    @if overdue == 0 { (texts.nothing_overdue) }
                    @else { ((texts.files)(overdue)) }
                }
            }
        }
    }
}

/// The verb, moment, end and counts of a run, as the catalogue has them.
fn last_run(run: &RunRecord) -> String {
    let counts: Vec<String> =
        run.counts.iter().map(|(name, files)| format!("{} {name}", units::count(*files))).collect();
    let mut parts = vec![run.verb.clone(), units::moment(run.started), run.state.name().to_owned()];
    if !counts.is_empty() {
        parts.push(counts.join(", "));
    }
    escape::text(&parts.join("; "))
}

/// The status of a run, or the first sentence of its document once it has ended.
fn outcome(run: &ServedRun, texts: &Texts) -> Markup {
    let snapshot = run.control.snapshot();
    let answer = match snapshot.end.as_deref() {
        None => return html! { ((texts.run.status)(run.control.status())) },
        Some(RunEnd::Failed(error)) => {
            return html! { span .wrong { (texts.run.failed) ": " (escape::text(error)) } };
        }
        Some(RunEnd::Done(done)) => {
            done.1.sections.first().and_then(|section| section.sentences.first())
        }
    };
    html! { span lang="en" { (answer.map_or("", String::as_str)) } }
}

fn runs(runs: &[Arc<ServedRun>], texts: &Texts) -> Markup {
    html! {
        @if runs.is_empty() {
            p .soft { (texts.home.no_runs) }
        } @else {
            div .scroll tabindex="0" role="group" aria-labelledby="runs" {
                table {
                    thead { tr {
                        th scope="col" { (texts.home.column_run) }
                        th scope="col" { (texts.home.column_folder) }
                        th scope="col" { (texts.home.column_begun) }
                        th scope="col" { (texts.home.column_stand) }
                    } }
                    tbody {
                        @for run in runs { tr {
                            th scope="row" {
                                a href=(format!("/runs/{}", run.id)) {
                                    ((texts.run.heading)(run.request.verb)) " " (run.id)
                                }
                            }
                            td .long { (run.shown) }
                            td { (units::moment(run.begun)) }
                            td .long { (outcome(run, texts)) }
                        } }
                    }
                }
            }
        }
    }
}
