//! The start page: what needs attention, a card for each folder, the latest runs, what comes next.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::{FolderFacts, FolderState, Timestamp};
use steadfast_report::status::accepted;
use steadfast_report::{Units, advice, escape, progress, units};
use steadfast_watch::Every;

use super::activity::{self, recorded};
use crate::app::App;
use crate::dates;
use crate::folders::{FolderCondition, ServedFolder};
use crate::icons::{bar, disc, icon, small_icon};
use crate::layout::{Tab, chip, framed};
use crate::refusal::Refusal;
use crate::runs::RunVerb;
use crate::visitor::Visitor;

/// Runs that are listed here.
const LATELY_MAX: usize = 5;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/", get(home))
}

async fn home(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, Refusal> {
    let mut folders = app.blocking(|app| app.folders()).await?;
    // A stable sort: folders of equal need stay in the order in which they were named.
    folders.sort_by_key(|folder| folder.condition().rank());
    let visitor = visitor.with_side(app.side());
    let now = app.now();
    let content = html! {
        div .head {
            div {
                h1 { (verdict(&folders)) }
                p .soft { (summary(&folders)) }
            }
            @if !folders.is_empty() {
                a .button href="/add" { (icon("plus")) "Add a folder" }
            }
        }
        (attention(&folders))
        div .halves data-refresh {
            @for folder in &folders { (card(&visitor, folder, now)) }
        }
        div .halves {
            (lately(&folders, now))
            (coming(&folders))
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), "Folders", &html! {}, &content))
}

/// One sentence about all folders.
fn verdict(folders: &[ServedFolder]) -> String {
    let alarms = folders.iter().filter(|folder| folder.settled().alarms()).count() as u64;
    let all = |wanted: &dyn Fn(&FolderCondition) -> bool| {
        folders.iter().all(|folder| wanted(&folder.settled()))
    };
    if folders.is_empty() {
        "Only single files are shown here".to_owned()
    } else if alarms > 0 {
        attention_title(alarms)
    } else if all(&|condition| *condition == FolderCondition::Intact) {
        "All your files are exactly as recorded".to_owned()
    } else if all(&|condition| *condition == FolderCondition::Unprotected) {
        "Protect your first folder".to_owned()
    } else {
        "Some folders are not proved yet".to_owned()
    }
}

fn summary(folders: &[ServedFolder]) -> String {
    let bytes: u64 =
        folders.iter().filter_map(ServedFolder::facts).map(|facts| facts.audit.bytes).sum();
    format!(
        "{}, {}",
        units::counted(folders.len() as u64, "folder", "folders"),
        Units::Si.bytes(bytes)
    )
}

/// What needs attention, above everything else.
fn attention(folders: &[ServedFolder]) -> Markup {
    let alarms = folders.iter().filter(|folder| folder.settled().alarms());
    let alarms: Vec<&ServedFolder> = alarms.collect();
    html! {
        @if !alarms.is_empty() {
            section .panel.attention aria-label="Show" {
                ul .list { @for folder in alarms { (alarm(folder)) } }
            }
        }
    }
}

fn alarm(folder: &ServedFolder) -> Markup {
    let condition = folder.settled();
    let name = &folder.name;
    let (title, text, action) = match condition {
        FolderCondition::Damaged(files) => {
            let action = show_damaged(files);
            (
                format!("{} in {name}", units::counted(files, "damaged file", "damaged files")),
                "Their contents changed by themselves. See which, and what can be done.",
                action,
            )
        }
        FolderCondition::Unreadable(files) => (
            format!("{} in {name} could not be read", units::counted(files, "file", "files")),
            "What is in them is not known.",
            "Show".to_owned(),
        ),
        FolderCondition::Unfinished => (
            format!("A repair in {name} was cut off"),
            "Some pages of a file are repaired and others are not.",
            "Show".to_owned(),
        ),
        FolderCondition::Endangered => {
            (format!("{name} is in danger"), "See what was found.", "Show".to_owned())
        }
        FolderCondition::Away => (
            format!("{name} is not connected"),
            "Connect the drive, then look again.",
            "Show".to_owned(),
        ),
        _ => (format!("{name}: the catalogue cannot be used"), "", "Show".to_owned()),
    };
    let look = condition.look();
    html! {
        li {
            (disc(look.icon, look.class))
            div .what {
                h2 { (title) }
                p .small.soft { (reason(folder).unwrap_or(text.to_owned())) }
                @if let Some(words) = endangered(folder) { p .small { (words) } }
            }
            a .button.main[look.class == "bad"] href=(folder.address()) { (action) }
        }
    }
}

/// Why nothing is known of a folder.
fn reason(folder: &ServedFolder) -> Option<String> {
    match &*folder.audit {
        FolderState::NotThere(notice) | FolderState::Unknown(notice) => {
            Some(escape::text(&advice::of_notice(notice)))
        }
        _ => None,
    }
}

/// One folder: its state, a sentence, how much is proved, the next check, and one action.
fn card(visitor: &Visitor, folder: &ServedFolder, now: Timestamp) -> Markup {
    let condition = folder.condition();
    let look = condition.look();
    let id = format!("root-{}", folder.place.root);
    html! {
        article .panel.folder aria-labelledby=(id) {
            header {
                (disc("folder", look.class))
                div {
                    h2 id=(id) { a href=(folder.address()) { (folder.name) } }
                    p .path { (folder.shown) }
                }
                (chip(&condition))
            }
            p { (sentence(folder, &condition)) (accepted_lately(folder)) (last(folder, now)) }
            (gauge(folder))
            footer {
                span .next { (small_icon("clock")) span { (next(folder)) } }
                (action(visitor, folder, &condition))
                (menu(folder))
            }
        }
    }
}

/// What there is to say of a folder.
pub(super) fn sentence(folder: &ServedFolder, condition: &FolderCondition) -> String {
    let tagged = folder.facts().map_or(0, |facts| facts.audit.entries);
    match condition {
        FolderCondition::Damaged(files) => format!(
            "{} of {} damaged.",
            units::count(*files),
            units::counted(tagged, "file is", "files are")
        ),
        FolderCondition::Unreadable(files) => format!(
            "{} of {} could not be read.",
            units::count(*files),
            units::counted(tagged, "file", "files")
        ),
        FolderCondition::Changed(files) => format!(
            "{} changed or missing since they were recorded. If that was you, accept it.",
            units::counted(*files, "file is", "files are")
        ),
        FolderCondition::Suspect(files) => format!(
            "{} changed by something that kept the date. Was it you?",
            units::counted(*files, "file was", "files were")
        ),
        FolderCondition::Unfinished => unfinished(folder),
        FolderCondition::Endangered => endangered(folder).unwrap_or_default(),
        FolderCondition::Intact => all_intact(tagged),
        FolderCondition::Late => late(folder),
        FolderCondition::Unprotected => {
            "Nothing is recorded yet, so damage could not be noticed.".to_owned()
        }
        FolderCondition::Going(..) => {
            let now = folder.run.as_ref().map(|run| run.control.snapshot().progress);
            format!(
                "{} read so far.",
                units::counted(now.map_or(0, |now| now.files), "file was", "files were")
            )
        }
        FolderCondition::Away | FolderCondition::Unknown => reason(folder).unwrap_or_else(|| {
            "It is part of a larger catalogued tree, which is not served here.".to_owned()
        }),
    }
}

/// What is wrong with its schedule, its repair data or its drives.
fn endangered(folder: &ServedFolder) -> Option<String> {
    let troubles = folder.status.as_ref()?.troubles();
    let words = troubles.iter().map(|trouble| escape::text(&trouble.words())).collect::<Vec<_>>();
    (!words.is_empty()).then(|| words.join(". ") + ".")
}

/// What is said of repairs that were cut off.
fn unfinished(folder: &ServedFolder) -> String {
    let notices = folder.facts().map_or(&[][..], |facts| &facts.unfinished);
    let said = notices.iter().filter(|notice| !notice.status.is_fine()).map(|notice| {
        let path = notice.path.as_deref().map(escape::path);
        format!("{}: {}.", path.unwrap_or_default(), notice)
    });
    said.collect::<Vec<String>>().join(" ")
}

/// Returns the share of files that was proved within the cover, from 0 to 1.
fn share_of(facts: &FolderFacts) -> f64 {
    facts.proved().0 as f64 / facts.audit.entries.max(1) as f64
}

fn late(folder: &ServedFolder) -> String {
    let Some(facts) = folder.facts() else { return String::new() };
    let proved = facts.audit.windows.first().map_or(0, |window| window.entries);
    match facts.unrecorded() + facts.audit.never.0 {
        _ if facts.audit.entries == 0 => "Nothing is recorded in it yet.".to_owned(),
        0 => {
            let overdue = facts.audit.tagged.saturating_sub(proved);
            format!(
                "No damage is known. {} not checked within {} days.",
                units::counted(overdue, "file was", "files were"),
                facts.cover_days
            )
        }
        files => format!(
            "No damage is known. {} never checked.",
            units::counted(files, "file was", "files were")
        ),
    }
}

/// How many files were accepted with other contents lately.
pub(super) fn accepted_lately(folder: &ServedFolder) -> String {
    let text = folder.facts().and_then(accepted);
    text.map(|text| format!(" {text}.")).unwrap_or_default()
}

/// When the last run was.
fn last(folder: &ServedFolder, now: Timestamp) -> Markup {
    let run = folder.facts().and_then(|facts| facts.audit.runs.first());
    html! {
        @if let Some(run) = run {
            " Last run "
            (dates::moment(run.started, now)) "."
        }
    }
}

/// How much is proved, or how far a run is.
pub(super) fn gauge(folder: &ServedFolder) -> Markup {
    let going = folder.run.as_ref().map(|run| run.control.snapshot().progress);
    let done = going.as_ref().map(|now| progress::share(now).unwrap_or(0.0));
    let (share, class, says, bytes) = match (done, folder.facts()) {
        (Some(share), _) => (share, "f-info", "of this run".to_owned(), None),
        (None, Some(facts)) => {
            let class = if share_of(facts) > 0.9 { "f-good" } else { "f-warn" };
            let says = format!("checked within {} days", facts.cover_days);
            (share_of(facts), class, says, Some(facts.audit.bytes))
        }
        (None, None) => (0.0, "f-idle", String::new(), None),
    };
    let percent = units::share(share);
    html! {
        div .gauge {
            @if says.is_empty() {
                (bar(0.0, class, "", "Nothing checked yet"))
                p { span { "Nothing checked yet" } }
            } @else {
                (bar(share, class, "", &format!("{percent} {says}")))
                p {
                    span { b { (percent) } " " (says) }
                    @if let Some(bytes) = bytes { span { (Units::Si.bytes(bytes)) } }
                }
            }
        }
    }
}

/// When the next check is.
pub(super) fn next(folder: &ServedFolder) -> String {
    match &folder.schedule {
        Some(schedule) => scheduled(schedule.every, &schedule.at.to_string()),
        None => "No schedule yet".to_owned(),
    }
}

/// The next sensible step.
fn action(visitor: &Visitor, folder: &ServedFolder, condition: &FolderCondition) -> Markup {
    let link = |text: &str, main: bool| {
        html! { a .button.main[main] href=(folder.address()) { (text) } }
    };
    match condition {
        FolderCondition::Damaged(files) => link(&show_damaged(*files), true),
        FolderCondition::Unreadable(_)
        | FolderCondition::Unfinished
        | FolderCondition::Endangered
        | FolderCondition::Unknown => link("Show", false),
        FolderCondition::Suspect(files) | FolderCondition::Changed(files) => link(
            &format!("Show {}", units::counted(*files, "changed file", "changed files")),
            false,
        ),
        FolderCondition::Away => html! { a .button href="/" { "Look again" } },
        FolderCondition::Going(..) => {
            let run = folder.run.as_ref().map_or(0, |run| run.id);
            html! { a .button href=(format!("/runs/{run}")) { "Watch" } }
        }
        FolderCondition::Late => check(visitor, folder, true),
        FolderCondition::Intact => check(visitor, folder, false),
        FolderCondition::Unprotected => protect(folder),
    }
}

/// A link to what protecting a folder comes to.
pub(super) fn protect(folder: &ServedFolder) -> Markup {
    let address = format!("/add?place={}", folder.place.query());
    html! { a .button.main href=(address) { (icon("intact")) "Protect this folder" } }
}

/// A button that checks a whole folder.
pub(super) fn check(visitor: &Visitor, folder: &ServedFolder, main: bool) -> Markup {
    html! {
        form method="post" action="/runs" {
            (visitor.csrf())
            input type="hidden" name="place" value=(folder.place.token());
            button .main[main] type="submit" name="verb" value=(RunVerb::Check.name()) {
                (icon("checking")) "Check now"
            }
        }
    }
}

/// What is needed more rarely.
fn menu(folder: &ServedFolder) -> Markup {
    let query = folder.place.query();
    html! {
        details .menu {
            summary aria-label=(format!("More for {}", folder.name)) { (icon("more")) }
            ul {
                li { a href=(format!("/run?place={query}")) {
                    (icon("checking")) "Check or tag with options"
                } }
                li { a href=(format!("/browse?place={query}")) {
                    (icon("file")) "Choose a folder or a file in it"
                } }
                li { a href=(format!("/history?place={query}")) {
                    (icon("activity")) "History"
                } }
            }
        }
    }
}

fn lately(folders: &[ServedFolder], now: Timestamp) -> Markup {
    let runs = recorded(folders);
    html! {
        section .panel aria-labelledby="lately" {
            div .cap {
                h2 #lately { "Lately" }
                a .small href="/activity" { "All activity" }
            }
            @if runs.is_empty() { p .body.soft { "No runs yet." } }
            ul .list.lines {
                @for run in runs.iter().take(LATELY_MAX) { (activity::line(run, now)) }
            }
        }
    }
}

fn coming(folders: &[ServedFolder]) -> Markup {
    let scheduled = folders.iter().filter(|folder| folder.schedule.is_some());
    let scheduled: Vec<&ServedFolder> = scheduled.collect();
    html! {
        section .panel aria-labelledby="coming" {
            div .cap { h2 #coming { "Coming up" } }
            @if scheduled.is_empty() { p .body.soft { "No checks are scheduled yet." } }
            ul .list.lines {
                @for folder in scheduled {
                    li {
                        (icon("clock"))
                        span .what { a href=(folder.address()) { (folder.name) } }
                        span .when { (next(folder)) }
                    }
                }
            }
        }
    }
}

fn show_damaged(files: u64) -> String {
    format!("Show {}", units::counted(files, "damaged file", "damaged files"))
}

fn scheduled(every: Every, at: &str) -> String {
    match every {
        Every::Night => format!("Checked every night at {at}"),
        Every::Week => format!("Checked every Sunday at {at}"),
        Every::Month => format!("Checked on the 1st of each month at {at}"),
    }
}

fn all_intact(files: u64) -> String {
    match files {
        1 => "The only file is exactly as recorded.".to_owned(),
        files => format!("All {} files are exactly as recorded.", units::count(files)),
    }
}

fn attention_title(things: u64) -> String {
    match things {
        1 => "1 folder needs your attention".to_owned(),
        things => format!("{} folders need your attention", units::count(things)),
    }
}
