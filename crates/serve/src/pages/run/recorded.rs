//! The result of a recorded run, as its catalogue has it: also of runs of other programs, and of
//! those before this server was started.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use steadfast::catalogue::{Catalogue, FailedCheck, RunRecord, RunState};
use steadfast::{FileState, Timestamp};
use steadfast_report::{Units, units};

use super::verdict::{ResultCounts, sentence, tiles};
use crate::app::App;
use crate::dates;
use crate::folders::ServedFolder;
use crate::icons::{disc, small_icon};
use crate::kinds::StateKind;
use crate::layout::{Tab, folder_trail, framed};
use crate::pages::findings::{FindingPage, findings_of, group};
use crate::refusal::Refusal;
use crate::runs::FileFinding;
use crate::visitor::Visitor;

/// Files of one kind that are shown; the page of the folder has the others.
const GROUP_MAX: u64 = 20;

/// By kind: how many files, and the first of them.
type OpenFindings = BTreeMap<StateKind, (u64, Vec<FileFinding>)>;

/// What a catalogue has of one run.
struct RecordedResult {
    folder: ServedFolder,
    run: RunRecord,
    /// What it found and is still open.
    open: OpenFindings,
    /// Files that it found and that are not open any more.
    settled: u64,
    is_latest: bool,
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((root, id)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    let root: usize = root.parse().map_err(|_| Refusal::NotFound)?;
    let id: i64 = id.parse().map_err(|_| Refusal::NotFound)?;
    let result = app.blocking(move |app| result(app, root, id)).await??;
    if let (RunState::Unfinished, Some(run)) = (result.run.state, &result.folder.run) {
        return Ok(Redirect::to(&format!("/runs/{}", run.id)).into_response());
    }
    let visitor = visitor.with_side(app.side());
    let title = format!("{}: {}", title_of(&result.run), result.folder.name);
    let content = shown(&visitor, &result, app.now());
    Ok(framed(&visitor, Some(Tab::Home), &title, &html! {}, &content))
}

fn result(app: &App, root: usize, id: i64) -> Result<RecordedResult, Refusal> {
    let folder = app.folder(root).ok_or(Refusal::NotFound)?;
    let path = app.roots.root(&folder.place).map_err(|_| Refusal::NotFound)?;
    let file = Catalogue::find(&path).ok_or(Refusal::NotFound)?;
    let catalogue = Catalogue::open_reader(&file).map_err(|_| Refusal::Conflict)?;
    if catalogue.root() != path {
        return Err(Refusal::NotFound);
    }
    let before = id.checked_add(1).ok_or(Refusal::NotFound)?;
    let runs = catalogue.runs(before, 1).map_err(|_| Refusal::Conflict)?;
    let run = runs.into_iter().find(|run| run.id == id).ok_or(Refusal::NotFound)?;
    let found = folder.facts().and_then(|facts| facts.found.get(&id)).cloned().unwrap_or_default();
    let open = open_of(&catalogue, id, &found.open)?;
    let settled = found.settled;
    let latest = folder.facts().and_then(|facts| facts.audit.runs.first());
    let is_latest = latest.is_some_and(|latest| latest.id == id);
    Ok(RecordedResult { is_latest, folder, run, open, settled })
}

/// Returns what a run found and is still open: how many of each kind, and the first of them.
fn open_of(
    catalogue: &Catalogue,
    run: i64,
    open: &BTreeMap<FileState, u64>,
) -> Result<OpenFindings, Refusal> {
    let mut first: BTreeMap<StateKind, (u64, Vec<FailedCheck>)> = BTreeMap::new();
    for (state, files) in open {
        if let Some(kind) = StateKind::of_state(*state) {
            first.entry(kind).or_default().0 += files;
        }
    }
    // Ends as soon as there are enough: a run may have found very many.
    let mut lacking: u64 = first.values().map(|(files, _)| (*files).min(GROUP_MAX)).sum();
    if lacking > 0 {
        let each = &mut |failure: FailedCheck| {
            let kind = StateKind::of_state(failure.standing).filter(|_| !failure.settled);
            if let Some((_, first)) = kind.and_then(|kind| first.get_mut(&kind))
                && (first.len() as u64) < GROUP_MAX
            {
                first.push(failure);
                lacking -= 1;
            }
            if lacking == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        catalogue.failures_of(run, each).map_err(|_| Refusal::Conflict)?;
    }
    let of_kind = |(kind, (files, first)): (_, (_, Vec<FailedCheck>))| {
        (kind, (files, findings_of(first.iter())))
    };
    Ok(first.into_iter().map(of_kind).collect())
}

/// Returns what a recorded run was, in a word.
pub(in crate::pages) fn title_of(run: &RunRecord) -> &'static str {
    use steadfast::VerbKind;
    match run.kind() {
        Some(VerbKind::Init | VerbKind::Tag | VerbKind::Import) => "Protecting",
        Some(VerbKind::Copy | VerbKind::Move) => "Copying",
        Some(VerbKind::Check) => "Check",
        Some(VerbKind::Update | VerbKind::Retag) => "Accepting changes",
        Some(VerbKind::Repair) => "Repair",
        _ => "Run",
    }
}

fn shown(visitor: &Visitor, result: &RecordedResult, now: Timestamp) -> Markup {
    let RecordedResult { folder, run, .. } = result;
    let counts = ResultCounts::of_record(run);
    let said = sentence(&counts);
    let page = FindingPage {
        actor: folder.run.is_none().then_some((visitor, &folder.place)),
        shown: &folder.shown,
        now,
    };
    html! {
        (folder_trail(folder.place.root, &folder.name, title_of(run)))
        div .verdict {
            (disc(said.icon, &format!("{} big", said.class)))
            div {
                h1 { (said.title) }
                p .soft {
                    (title_of(run)) " of " (folder.name) ", " (dates::moment(run.started, now)) ". "
                    (said.text)
                }
            }
        }
        (tiles(&counts))
        div .cols {
            div .stack {
                @for (kind, (files, first)) in &result.open {
                    @let all = format!("/folders/{}?show={}", folder.place.root, kind.name());
                    (group(&page, *kind, *files, first, Some(all.as_str())))
                }
                @if result.settled > 0 {
                    p .note.good {
                        (units::counted(result.settled, "file", "files"))
                        " that it found were settled since: found intact, repaired or accepted."
                    }
                }
                @if let (true, Some(text)) = (result.open.is_empty(), unlisted(&counts)) {
                    p .note { (text) }
                }
            }
            (about(result, now))
        }
        (technical(run))
    }
}

/// Says why nothing is listed although something was found.
fn unlisted(counts: &ResultCounts) -> Option<&'static str> {
    let found = counts.of(StateKind::Damaged) + counts.of(StateKind::Missing);
    (found > 0).then_some(
        "Which files these were stands in the history of each. What is still open stands on the \
         page of the folder.",
    )
}

fn about(result: &RecordedResult, now: Timestamp) -> Markup {
    let RecordedResult { folder, run, is_latest, .. } = result;
    let seconds = run.latest.seconds.saturating_sub(run.started.seconds).max(0).cast_unsigned();
    html! {
        section .panel aria-labelledby="about" {
            div .cap { h2 #about { "This run" } }
            div .body {
                dl .facts {
                    div { dt { "Began" } dd { (dates::moment(run.started, now)) } }
                    div { dt {
                        @if run.state == RunState::Whole { "Took" } @else { "Went on for" }
                    } dd { (units::rough_duration(seconds.saturating_mul(1_000_000_000))) } }
                    div { dt { "Saw" } dd {
                        (units::counted(run.files, "file", "files"))
                        @if run.bytes > 0 { ", " (Units::Si.bytes(run.bytes)) }
                    } }
                    @if !is_latest {
                        div { dt { "Since then" } dd {
                            a href=(folder.address()) { "later runs" }
                        } }
                    }
                }
            }
        }
    }
}

fn technical(run: &RunRecord) -> Markup {
    html! {
        details .fold {
            summary {
                (small_icon("chevron")) "Technical details"
                span .soft { "verdicts, version, times" }
            }
            div .body {
                dl .facts {
                    div { dt { "Verb" } dd .mono { (run.verb) " (" (run.state.name()) ")" } }
                    div { dt { "Number" } dd { (run.id) } }
                    @for (name, count) in &run.counts {
                        div { dt .mono { (name) } dd { (units::count(*count)) } }
                    }
                    div { dt { "Began" } dd { (units::moment(run.started)) } }
                    div { dt { "Last write" } dd { (units::moment(run.latest)) } }
                    div { dt { "Version" } dd { (run.version) } }
                    div { dt { "Read by" } dd { (run.backend) " " (run.source()) } }
                }
            }
        }
    }
}
