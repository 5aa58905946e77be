//! The page of all folders: how each stands, what is overdue, and the runs of this server.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::Options;
use steadfast::catalogue::{Audit, Catalogue, RunRecord};
use steadfast_report::{escape, units};

use super::{Tab, page, waiting};
use crate::app::App;
use crate::guard::{Refusal, Visitor};
use crate::roots::Place;
use crate::runs::{Ended, Run, Verb};
use crate::texts::{HomeTexts, Texts};

/// Days after which a file is to be proved again.
const OVERDUE_DAYS: u32 = 30;

/// How long what a catalogue said is believed: several tabs that look at once ask it once.
const BELIEVED: Duration = Duration::from_secs(2);

/// What the catalogue of a root says.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    /// There is none.
    None,
    /// It is of a tree that the root is only a part of.
    Above,
    /// It cannot be read, for this reason.
    Unreadable(String),
    /// What it can prove.
    Audit(Box<Audit>),
}

/// What the catalogues of the roots said a moment ago.
#[derive(Default)]
pub(crate) struct Facts(Mutex<HashMap<usize, (Instant, Arc<Fact>)>>);

impl Facts {
    /// Returns what the catalogue of a root says. It waits for the disk.
    fn of(&self, root: usize, path: &Path) -> Arc<Fact> {
        let mut facts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((asked, fact)) = facts.get(&root)
            && asked.elapsed() < BELIEVED
        {
            return Arc::clone(fact);
        }
        let fact = Arc::new(ask(path));
        facts.insert(root, (Instant::now(), Arc::clone(&fact)));
        fact
    }
}

fn ask(path: &Path) -> Fact {
    let Some(file) = Catalogue::find(path) else { return Fact::None };
    let audit =
        Catalogue::open_reader(&file).and_then(|catalogue| match catalogue.root() == path {
            true => catalogue.audit(&[OVERDUE_DAYS], (Options::default().now)()).map(Some),
            false => Ok(None),
        });
    match audit {
        Ok(Some(audit)) => Fact::Audit(Box::new(audit)),
        Ok(None) => Fact::Above,
        Err(error) => Fact::Unreadable(escape::text(&error.to_string())),
    }
}

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/", get(home))
}

async fn home(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    let asking = Arc::clone(&app);
    let facts = waiting(move || {
        let of = |place: Place| {
            let fact = match asking.roots.root(&place) {
                Ok(root) => asking.facts.of(place.root, root),
                Err(error) => Arc::new(Fact::Unreadable(error.to_string())),
            };
            (place, fact)
        };
        asking.roots.places().map(of).collect::<Vec<_>>()
    });
    let Ok(facts) = facts.await else { return Refusal::Conflict.page(&visitor) };
    let texts = visitor.texts();
    let content = html! {
        @for (place, fact) in &facts { (folder(&app, &visitor, place, fact)) }
        section {
            h2 #runs { (texts.home.runs) }
            (runs(&app.runs.all(), texts))
        }
    };
    page(&visitor, Some(Tab::Home), texts.home.title, &content)
}

/// One root: how it stands, what can be done with it, and its tree.
fn folder(app: &App, visitor: &Visitor, place: &Place, fact: &Fact) -> Markup {
    let texts = &visitor.texts().home;
    let query = place.query();
    let title = format!("root-{}", place.root);
    html! {
        section .card aria-labelledby=(title) {
            h2 id=(title) { (app.roots.shown(place)) }
            @match fact {
                Fact::None => {
                    p { (texts.no_catalogue) }
                    form method="post" action="/runs" {
                        (visitor.csrf())
                        input type="hidden" name="place" value=(place.token());
                        button type="submit" name="verb" value=(Verb::Init.name()) {
                            (texts.make_catalogue)
                        }
                    }
                }
                Fact::Above => p { (texts.catalogue_above) }
                Fact::Unreadable(error) => p .wrong { (texts.unreadable) ": " (error) }
                Fact::Audit(audit) => (standing(audit, texts))
            }
            p { a .button href=(format!("/run?place={query}")) { (texts.check_or_tag) } }
            details data-part=(format!("/browse/part?place={query}")) {
                summary { (texts.choose) }
                p { a href=(format!("/browse?place={query}")) { (texts.choose) } }
            }
        }
    }
}

/// What a catalogue can prove, in the audit's numbers.
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

/// Verb, moment, end and counts of a run, as the catalogue has them.
fn last_run(run: &RunRecord) -> String {
    let counts: Vec<String> =
        run.counts.iter().map(|(name, files)| format!("{} {name}", units::count(*files))).collect();
    let mut parts = vec![run.verb.clone(), units::moment(run.started), run.state.name().to_owned()];
    if !counts.is_empty() {
        parts.push(counts.join(", "));
    }
    escape::text(&parts.join("; "))
}

/// How a run stands; of one that has ended, the answer of its document.
fn outcome(run: &Run, texts: &Texts) -> Markup {
    let state = run.state();
    let answer = match state.ended.as_deref() {
        None => return html! { ((texts.run.stand)(run.stand())) },
        Some(Ended::Failed(error)) => {
            return html! { span .wrong { (texts.run.failed) ": " (escape::text(error)) } };
        }
        Some(Ended::Done(done)) => {
            done.1.sections.first().and_then(|section| section.sentences.first())
        }
    };
    html! { span lang="en" { (answer.map_or("", String::as_str)) } }
}

fn runs(runs: &[Arc<Run>], texts: &Texts) -> Markup {
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
                                    ((texts.run.heading)(run.ask.verb)) " " (run.id)
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
