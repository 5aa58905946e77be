//! The start page: what needs attention, a card for each folder, the latest runs, what comes next.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast_report::{Units, progress, units};

use super::activity::{self, recorded};
use crate::app::App;
use crate::audits::RootAudit;
use crate::dates;
use crate::folders::{FolderCondition, ServedFolder};
use crate::icons::{bar, disc, icon, small_icon};
use crate::layout::{Tab, chip, framed};
use crate::refusal::Refusal;
use crate::runs::RunVerb;
use crate::texts::OfLanguage as _;
use crate::texts::folders::HomeTexts;
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
    let texts = &visitor.texts().home;
    let now = app.now();
    let content = html! {
        div .head {
            div {
                h1 { (verdict(&folders, texts)) }
                p .soft { (summary(&folders, texts)) }
            }
            @if !folders.is_empty() {
                a .button href="/add" { (icon("plus")) (visitor.texts().add.title) }
            }
        }
        (attention(&folders, texts))
        div .halves data-refresh {
            @for folder in &folders { (card(&visitor, folder, now)) }
        }
        div .halves {
            (lately(&visitor, &folders, now))
            (coming(&folders, texts))
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), texts.title, &html! {}, &content))
}

/// One sentence about all folders.
fn verdict(folders: &[ServedFolder], texts: &HomeTexts) -> String {
    let alarms = folders.iter().filter(|folder| folder.settled().alarms()).count() as u64;
    let all = |wanted: &dyn Fn(&FolderCondition) -> bool| {
        folders.iter().all(|folder| wanted(&folder.settled()))
    };
    if folders.is_empty() {
        texts.no_folder.to_owned()
    } else if alarms > 0 {
        (texts.attention)(alarms)
    } else if all(&|condition| *condition == FolderCondition::Intact) {
        texts.all_well.to_owned()
    } else if all(&|condition| *condition == FolderCondition::Unprotected) {
        texts.protect_first.to_owned()
    } else {
        texts.to_do.to_owned()
    }
}

fn summary(folders: &[ServedFolder], texts: &HomeTexts) -> String {
    let bytes: u64 =
        folders.iter().filter_map(ServedFolder::facts).map(|facts| facts.audit.bytes).sum();
    (texts.summary)(folders.len() as u64, &texts.say(&Units::Si.bytes(bytes)))
}

/// What needs attention, above everything else.
fn attention(folders: &[ServedFolder], texts: &HomeTexts) -> Markup {
    let alarms = folders.iter().filter(|folder| folder.settled().alarms());
    let alarms: Vec<&ServedFolder> = alarms.collect();
    html! {
        @if !alarms.is_empty() {
            section .panel.attention aria-label=(texts.show) {
                ul .list { @for folder in alarms { (alarm(folder, texts)) } }
            }
        }
    }
}

fn alarm(folder: &ServedFolder, texts: &HomeTexts) -> Markup {
    let condition = folder.settled();
    let name = &folder.name;
    let (title, text, action) = match condition {
        FolderCondition::Damaged(files) => {
            let action = (texts.show_damaged)(files);
            ((texts.damaged_in)(files, name), texts.damaged_text, action)
        }
        FolderCondition::Unreadable(files) => {
            ((texts.unreadable_in)(files, name), texts.unreadable_text, texts.show.to_owned())
        }
        FolderCondition::Away => ((texts.away_title)(name), texts.away_text, texts.show.to_owned()),
        _ => ((texts.unknown_title)(name), "", texts.show.to_owned()),
    };
    let look = condition.look();
    html! {
        li {
            (disc(look.icon, look.class))
            div .what {
                h2 { (title) }
                p .small.soft { (reason(folder, texts).unwrap_or(text.to_owned())) }
            }
            a .button.main[look.class == "bad"] href=(folder.address()) { (action) }
        }
    }
}

/// Why nothing is known of a folder.
fn reason(folder: &ServedFolder, texts: &HomeTexts) -> Option<String> {
    match &*folder.audit {
        RootAudit::Away(reason) | RootAudit::Unreadable(reason) => Some(texts.say(reason)),
        _ => None,
    }
}

/// One folder: its state, a sentence, how much is proved, the next check, and one action.
fn card(visitor: &Visitor, folder: &ServedFolder, now: Timestamp) -> Markup {
    let texts = visitor.texts();
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
                (chip(&condition, &texts.state))
            }
            p { (sentence(folder, &condition, &texts.home)) (last(visitor, folder, now)) }
            (gauge(folder, &texts.home))
            footer {
                span .next { (small_icon("clock")) span { (next(folder, &texts.home)) } }
                (action(visitor, folder, &condition))
                (menu(folder, &texts.home))
            }
        }
    }
}

/// What there is to say of a folder.
pub(super) fn sentence(
    folder: &ServedFolder,
    condition: &FolderCondition,
    texts: &HomeTexts,
) -> String {
    let tagged = folder.facts().map_or(0, |facts| facts.audit.entries);
    match condition {
        FolderCondition::Damaged(files) => (texts.say_damaged)(*files, tagged),
        FolderCondition::Unreadable(files) => (texts.say_unreadable)(*files, tagged),
        FolderCondition::Changed(files) => (texts.say_changed)(*files),
        FolderCondition::Intact => (texts.say_intact)(tagged),
        FolderCondition::Late => late(folder, texts),
        FolderCondition::Unprotected => texts.say_unprotected.to_owned(),
        FolderCondition::Going(..) => {
            let now = folder.run.as_ref().map(|run| run.control.snapshot().progress);
            (texts.say_going)(now.map_or(0, |now| now.files))
        }
        FolderCondition::Away | FolderCondition::Unknown => {
            reason(folder, texts).unwrap_or_else(|| texts.say_above.to_owned())
        }
    }
}

fn late(folder: &ServedFolder, texts: &HomeTexts) -> String {
    let Some(facts) = folder.facts() else { return String::new() };
    let proved = facts.audit.windows.first().map_or(0, |window| window.entries);
    match facts.unproved() {
        _ if facts.audit.entries == 0 => texts.say_empty.to_owned(),
        0 => {
            let overdue = facts.audit.tagged.saturating_sub(proved);
            (texts.say_late)(overdue, facts.status.cover_days)
        }
        files => (texts.say_unproved)(files),
    }
}

/// When the last run was.
fn last(visitor: &Visitor, folder: &ServedFolder, now: Timestamp) -> Markup {
    let run = folder.facts().and_then(|facts| facts.audit.runs.first());
    html! {
        @if let Some(run) = run {
            " " (visitor.texts().home.last_checked) " "
            (dates::moment(run.started, now, visitor.language)) "."
        }
    }
}

/// How much is proved, or how far a run is.
pub(super) fn gauge(folder: &ServedFolder, texts: &HomeTexts) -> Markup {
    let going = folder.run.as_ref().map(|run| run.control.snapshot().progress);
    let done = going.as_ref().map(|now| progress::share(now).unwrap_or(0.0));
    let (share, class, says, bytes) = match (done, folder.facts()) {
        (Some(share), _) => (share, "f-info", texts.of_run.to_owned(), None),
        (None, Some(facts)) => {
            let class = if facts.share() > 0.9 { "f-good" } else { "f-warn" };
            let says = (texts.proved)(facts.status.cover_days);
            (facts.share(), class, says, Some(facts.audit.bytes))
        }
        (None, None) => (0.0, "f-idle", String::new(), None),
    };
    let percent = texts.say(&units::share(share));
    html! {
        div .gauge {
            @if says.is_empty() {
                (bar(0.0, class, "", texts.nothing_proved))
                p { span { (texts.nothing_proved) } }
            } @else {
                (bar(share, class, "", &format!("{percent} {says}")))
                p {
                    span { b { (percent) } " " (says) }
                    @if let Some(bytes) = bytes { span { (texts.say(&Units::Si.bytes(bytes))) } }
                }
            }
        }
    }
}

/// When the next check is.
pub(super) fn next(folder: &ServedFolder, texts: &HomeTexts) -> String {
    match &folder.schedule {
        Some(schedule) => (texts.scheduled)(schedule.every, &schedule.at.to_string()),
        None => texts.no_schedule.to_owned(),
    }
}

/// The next sensible step.
fn action(visitor: &Visitor, folder: &ServedFolder, condition: &FolderCondition) -> Markup {
    let texts = &visitor.texts().home;
    let link = |text: &str, main: bool| {
        html! { a .button.main[main] href=(folder.address()) { (text) } }
    };
    match condition {
        FolderCondition::Damaged(files) => link(&(texts.show_damaged)(*files), true),
        FolderCondition::Unreadable(_) | FolderCondition::Unknown => link(texts.show, false),
        FolderCondition::Changed(files) => link(&(texts.show_changed)(*files), false),
        FolderCondition::Away => html! { a .button href="/" { (texts.look_again) } },
        FolderCondition::Going(..) => {
            let run = folder.run.as_ref().map_or(0, |run| run.id);
            html! { a .button href=(format!("/runs/{run}")) { (texts.watch) } }
        }
        FolderCondition::Late => check(visitor, folder, true),
        FolderCondition::Intact => check(visitor, folder, false),
        FolderCondition::Unprotected => protect(folder, texts),
    }
}

/// A link to what protecting a folder comes to.
pub(super) fn protect(folder: &ServedFolder, texts: &HomeTexts) -> Markup {
    let address = format!("/add?place={}", folder.place.query());
    html! { a .button.main href=(address) { (icon("intact")) (texts.protect) } }
}

/// A button that checks a whole folder.
pub(super) fn check(visitor: &Visitor, folder: &ServedFolder, main: bool) -> Markup {
    let texts = &visitor.texts().home;
    html! {
        form method="post" action="/runs" {
            (visitor.csrf())
            input type="hidden" name="place" value=(folder.place.token());
            button .main[main] type="submit" name="verb" value=(RunVerb::Check.name()) {
                (icon("checking")) (texts.check_now)
            }
        }
    }
}

/// What is needed more rarely.
fn menu(folder: &ServedFolder, texts: &HomeTexts) -> Markup {
    let query = folder.place.query();
    html! {
        details .menu {
            summary aria-label=((texts.more)(&folder.name)) { (icon("more")) }
            ul {
                li { a href=(format!("/run?place={query}")) {
                    (icon("checking")) (texts.options)
                } }
                li { a href=(format!("/browse?place={query}")) {
                    (icon("file")) (texts.browse)
                } }
                li { a href=(format!("/history?place={query}")) {
                    (icon("activity")) (texts.history)
                } }
            }
        }
    }
}

fn lately(visitor: &Visitor, folders: &[ServedFolder], now: Timestamp) -> Markup {
    let texts = &visitor.texts().home;
    let runs = recorded(folders);
    html! {
        section .panel aria-labelledby="lately" {
            div .cap {
                h2 #lately { (texts.lately) }
                a .small href="/activity" { (texts.all_activity) }
            }
            @if runs.is_empty() { p .body.soft { (texts.nothing_lately) } }
            ul .list.lines {
                @for run in runs.iter().take(LATELY_MAX) { (activity::line(visitor, run, now)) }
            }
        }
    }
}

fn coming(folders: &[ServedFolder], texts: &HomeTexts) -> Markup {
    let scheduled = folders.iter().filter(|folder| folder.schedule.is_some());
    let scheduled: Vec<&ServedFolder> = scheduled.collect();
    html! {
        section .panel aria-labelledby="coming" {
            div .cap { h2 #coming { (texts.coming) } }
            @if scheduled.is_empty() { p .body.soft { (texts.nothing_coming) } }
            ul .list.lines {
                @for folder in scheduled {
                    li {
                        (icon("clock"))
                        span .what { a href=(folder.address()) { (folder.name) } }
                        span .when { (next(folder, texts)) }
                    }
                }
            }
        }
    }
}
