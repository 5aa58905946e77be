//! The start page: what needs attention, a card for each folder, the latest runs, what comes next.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use maud::{Markup, html};
use steadfast::catalogue::RunState;
use steadfast::{FolderFacts, FolderState, Timestamp};
use steadfast_report::status::accepted;
use steadfast_report::{Units, advice, escape, progress, units};
use steadfast_watch::Every;

use super::activity::{self, recorded};
use crate::app::App;
use crate::dates;
use crate::folders::{FolderCondition, ServedFolder, open};
use crate::icons::{bar, disc, icon, small_icon};
use crate::kinds::StateKind;
use crate::layout::{Tab, chip, framed, mine};
use crate::refusal::Refusal;
use crate::runs::RunVerb;
use crate::visitor::Visitor;

/// Runs that are listed here.
const LATELY_MAX: usize = 5;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/", get(home)).route("/side", get(side))
}

/// The folders of the side bar, which open pages ask for: damage is shown wherever one is.
async fn side(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let side = app.blocking(|app| app.folders().len()).await.map(|_| app.side())?;
    Ok(Html(mine(&side).into_string()).into_response())
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
            div .orders {
                a .button href="/copy" { (icon("copy")) "Copy to a drive" }
                a .button href="/safe" { (icon("help")) "May I erase this?" }
                @if !folders.is_empty() {
                    a .button href="/add" { (icon("plus")) "Add a folder" }
                }
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
    let alarms = folders.iter().filter(|folder| folder.alarm().alarms()).count() as u64;
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
        "Nothing is known to be damaged; not all is checked".to_owned()
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
    let alarms = folders.iter().filter(|folder| folder.alarm().alarms());
    let alarms: Vec<&ServedFolder> = alarms.collect();
    html! {
        @if !alarms.is_empty() {
            section .panel.attention aria-label="Needs attention" {
                ul .list { @for (at, folder) in alarms.into_iter().enumerate() {
                    (alarm(folder, at == 0))
                } }
            }
        }
    }
}

fn alarm(folder: &ServedFolder, is_first: bool) -> Markup {
    let condition = folder.alarm();
    let name = &folder.name;
    let title = match &condition {
        FolderCondition::Damaged(files) => {
            format!("{} in {name}", units::counted(*files, "damaged file", "damaged files"))
        }
        FolderCondition::DamagedSoFar(files) => {
            format!("{} in {name} so far", units::counted(*files, "damaged file", "damaged files"))
        }
        FolderCondition::Unreadable(files) => {
            format!("{} in {name} could not be read", units::counted(*files, "file", "files"))
        }
        FolderCondition::Many(files, StateKind::Missing) => {
            format!("{} files are gone from {name}. Was it you?", units::count(*files))
        }
        FolderCondition::Many(files, _) => {
            format!("{} files changed at once in {name}", units::count(*files))
        }
        FolderCondition::Suspect(files) => format!(
            "{} in {name} changed and kept the date. Was it you?",
            units::counted(*files, "file", "files")
        ),
        FolderCondition::Missing(files) => format!(
            "{} gone from {name}. Was it you?",
            units::counted(*files, "file is", "files are")
        ),
        FolderCondition::Unfinished => format!("A repair in {name} was cut off"),
        FolderCondition::Endangered => format!("{name} is in danger"),
        FolderCondition::Away(_) => format!("{name} is not connected"),
        _ => format!("{name}: what is recorded of it cannot be read"),
    };
    let badge = condition.badge();
    html! {
        li {
            (disc(badge.icon, badge.class))
            div .what {
                h2 { (title) }
                p .small.soft { (alarm_text(folder, &condition)) }
            }
            a .button.main[is_first && badge.class == "bad"] href=(target(folder, &condition)) {
                (show_label(&condition))
            }
        }
    }
}

/// What follows the title of an alarm.
fn alarm_text(folder: &ServedFolder, condition: &FolderCondition) -> String {
    match condition {
        FolderCondition::Damaged(_) => {
            "Nothing is known to have written to them. See which, and what can be done.".to_owned()
        }
        FolderCondition::DamagedSoFar(_) => "The check goes on; you can look at it now.".to_owned(),
        FolderCondition::Unreadable(_) => "What is in them is not known.".to_owned(),
        FolderCondition::Many(_, StateKind::Missing) => {
            "More than is usual. Restore them, or say that you removed them.".to_owned()
        }
        FolderCondition::Many(..) => "Nothing was accepted. Look before you do.".to_owned(),
        FolderCondition::Suspect(_) => {
            "A program of yours does that, and so can damage.".to_owned()
        }
        FolderCondition::Missing(_) => "Restore them, or say that you removed them.".to_owned(),
        condition => sentence(folder, condition),
    }
}

/// The page that shows what a state is about.
fn target(folder: &ServedFolder, condition: &FolderCondition) -> String {
    let address = folder.address();
    match (condition, &folder.run) {
        (FolderCondition::DamagedSoFar(_) | FolderCondition::Going(..), Some(run)) => {
            format!("/runs/{}", run.id)
        }
        (FolderCondition::Many(..), _) => format!("{address}/many"),
        (FolderCondition::Away(_), _) => "/".to_owned(),
        _ => address,
    }
}

/// What a link to it says.
fn show_label(condition: &FolderCondition) -> String {
    let counted = |files: &u64, word: &str| {
        let noun = if *files == 1 { "file" } else { "files" };
        format!("Show {} {word}{noun}", units::count(*files))
    };
    match condition {
        FolderCondition::Damaged(files) => counted(files, "damaged "),
        FolderCondition::DamagedSoFar(1) => "Show the file".to_owned(),
        FolderCondition::DamagedSoFar(files) | FolderCondition::Suspect(files) => {
            counted(files, "")
        }
        FolderCondition::Missing(files) => counted(files, "missing "),
        FolderCondition::Changed(files) => counted(files, "changed "),
        FolderCondition::Many(files, _) => format!("Look at the {} files", units::count(*files)),
        FolderCondition::Away(_) => "Look again".to_owned(),
        _ => "Show".to_owned(),
    }
}

/// Why nothing is known of a folder.
fn reason(folder: &ServedFolder) -> Option<String> {
    match &*folder.audit {
        FolderState::Unknown(notice) => Some(escape::text(&advice::of_notice(notice))),
        _ => None,
    }
}

/// What is said of a folder that is not there: since when, and how it was then.
fn away(folder: &ServedFolder, now: Timestamp) -> String {
    let Some(seen) = folder.seen else {
        return "Not connected. It was not seen by this server yet.".to_owned();
    };
    let files = units::counted(seen.files, "file", "files");
    let then = match seen.damaged {
        0 if seen.is_fine && seen.files == 1 => "its file was exactly as recorded".to_owned(),
        0 if seen.is_fine => format!("all {files} were exactly as recorded"),
        0 => format!("no damage was known in {files}"),
        damaged => format!("{} of {files} were damaged", units::count(damaged)),
    };
    format!("Not connected, last seen {}. Then, {then}.", dates::ago(seen.at_s, now.seconds))
}

/// One folder: its state, a sentence, how much is proved, the next check, and one action.
fn card(visitor: &Visitor, folder: &ServedFolder, now: Timestamp) -> Markup {
    let condition = folder.condition();
    let badge = condition.badge();
    let id = format!("root-{}", folder.place.root);
    html! {
        article .panel.folder aria-labelledby=(id) {
            header {
                (disc("folder", badge.class))
                div {
                    h2 id=(id) { a href=(folder.address()) { (folder.name) } }
                    p .path { (folder.shown) }
                }
                (chip(&condition))
            }
            p { (sentence(folder, &condition)) (accepted_lately(folder)) (last(folder, now)) }
            (gauge(folder, now))
            footer {
                span .next { (small_icon("clock")) span { (next(folder)) } }
                (action(visitor, folder, &condition))
                (menu(visitor, folder))
            }
        }
    }
}

/// What there is to say of a folder.
pub(super) fn sentence(folder: &ServedFolder, condition: &FolderCondition) -> String {
    let tagged = folder.facts().map_or(0, |facts| facts.audit.entries);
    let of_all = |files: u64, is: &str, are: &str| {
        let verb = if files == 1 { is } else { are };
        let all = units::counted(tagged, "file", "files");
        format!("{} of {all} {verb}", units::count(files))
    };
    match condition {
        FolderCondition::Damaged(files) => {
            let damaged = of_all(*files, "is damaged", "are damaged");
            format!("{damaged}.{}", besides(folder, StateKind::Damaged))
        }
        FolderCondition::DamagedSoFar(files) => {
            let damaged = units::counted(*files, "is damaged", "are damaged");
            format!("{} {damaged}.", read_so_far(folder))
        }
        FolderCondition::Unreadable(files) => {
            let unread = of_all(*files, "could not be read", "could not be read");
            format!("{unread}.{}", besides(folder, StateKind::Unreadable))
        }
        FolderCondition::Many(files, StateKind::Missing) => {
            format!("{}. That is more than usual.", of_all(*files, "is gone", "are gone"))
        }
        FolderCondition::Many(files, _) => {
            format!("{} at once. That is more than usual.", of_all(*files, "changed", "changed"))
        }
        FolderCondition::Missing(files) => {
            format!("{}. Was it you?", of_all(*files, "is gone", "are gone"))
        }
        FolderCondition::Changed(files) => format!(
            "{} since recorded. If that was you, accept it.",
            of_all(*files, "was changed", "were changed")
        ),
        FolderCondition::Suspect(files) => format!(
            "{} by something that kept the date. Was it you?",
            of_all(*files, "was changed", "were changed")
        ),
        FolderCondition::Stopped(_) => stopped(folder),
        FolderCondition::Unfinished => unfinished(folder),
        FolderCondition::Endangered => endangered(folder).unwrap_or_default(),
        FolderCondition::Intact => all_intact(tagged),
        FolderCondition::Late => late(folder),
        FolderCondition::Recorded => format!(
            "{} recorded. Nothing was compared with that yet, so nothing is known about them.",
            units::counted(tagged, "file is", "files are")
        ),
        FolderCondition::Unprotected => {
            "Nothing is recorded yet, so damage could not be noticed.".to_owned()
        }
        FolderCondition::Going(..) => read_so_far(folder),
        FolderCondition::Away(_) => away(folder, (steadfast::Options::default().now)()),
        FolderCondition::Unknown => reason(folder).unwrap_or_else(|| {
            "It is part of a larger catalogued tree, which is not served here.".to_owned()
        }),
    }
}

/// What else is open in a folder than the files of its alarm.
fn besides(folder: &ServedFolder, alarm: StateKind) -> String {
    let kinds = [StateKind::Unreadable, StateKind::Suspect, StateKind::Missing, StateKind::Changed];
    let counted = |kind: StateKind| {
        let files = open(folder.facts()?, kind);
        (kind != alarm && files > 0).then(|| kind.counted(files))
    };
    let others: Vec<String> = kinds.into_iter().filter_map(counted).collect();
    if others.is_empty() { String::new() } else { format!(" Also {}.", others.join(", ")) }
}

/// How many files a run has read, and how long it still takes.
fn read_so_far(folder: &ServedFolder) -> String {
    let now = folder.run.as_ref().map(|run| run.control.snapshot().progress).unwrap_or_default();
    let files = units::count(now.files);
    let of_all = now.total.map(|(files, _)| format!(" of {}", units::count(files)));
    let left = progress::remaining_ns(&now).map(units::rough_duration);
    let left = left.map(|left| format!(", about {left} left")).unwrap_or_default();
    format!("{files}{} files read{left}.", of_all.unwrap_or_default())
}

/// What a stopped check proved.
fn stopped(folder: &ServedFolder) -> String {
    let facts = folder.facts();
    let Some((run, proved)) = facts.and_then(FolderFacts::stopped_check) else {
        return String::new();
    };
    let tagged = facts.map_or(0, |facts| facts.audit.tagged);
    let how = match run.state {
        RunState::Interrupted => "The check was stopped",
        _ => "The program or the computer ended",
    };
    if proved == 0 {
        return format!("{how} before any file was compared: nothing new is known.");
    }
    format!(
        "{how}: {} of {} were read until then, and are exactly as recorded. Nothing new is known \
         of the others.",
        units::count(proved),
        units::counted(tagged, "file", "files")
    )
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
        0 => match (facts.audit.tagged.saturating_sub(proved), endangered(folder)) {
            (0, Some(schedule)) => format!("No damage is known. {}", units::capital(&schedule)),
            (overdue, _) => format!(
                "No damage is known. {} not checked within {} days.",
                units::counted(overdue, "file was", "files were"),
                facts.cover_days
            ),
        },
        files => format!(
            "No damage is known. {} never found intact.",
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
pub(super) fn gauge(folder: &ServedFolder, now: Timestamp) -> Markup {
    let going = folder.run.as_ref().map(|run| run.control.snapshot().progress);
    let done = going.as_ref().map(|now| progress::share(now).unwrap_or(0.0));
    if let Some(seen) = folder.seen {
        let says = format!("As of {}", dates::ago(seen.at_s, now.seconds));
        return html! { div .gauge { (bar(1.0, "f-idle", "", &says)) p { span { (says) } } } };
    }
    let (share, class, says, bytes) = match (done, folder.facts()) {
        (Some(share), _) => (share, "f-info", "of this run".to_owned(), None),
        (None, Some(facts)) if facts.audit.checked || facts.stopped_check().is_some() => {
            // Nothing is green beside an alarm, however lately all was checked.
            let class = match (share_of(facts) > 0.9, folder.alarm().alarms()) {
                (_, true) => "f-idle",
                (true, false) => "f-good",
                (false, false) => "f-warn",
            };
            let (share, says) = match facts.stopped_check() {
                Some((_, proved)) => {
                    let share = proved as f64 / facts.audit.tagged.max(1) as f64;
                    (share, "read, the rest is not known".to_owned())
                }
                None => (share_of(facts), format!("checked within {} days", facts.cover_days)),
            };
            (share, class, says, Some(facts.audit.bytes))
        }
        (None, _) => (0.0, "f-idle", String::new(), None),
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
    match condition {
        FolderCondition::Going(..) => {
            let run = folder.run.as_ref().map_or(0, |run| run.id);
            html! { a .button href=(format!("/runs/{run}")) { "Watch" } }
        }
        FolderCondition::Stopped(_) => resume(visitor, folder),
        FolderCondition::Late | FolderCondition::Recorded => check(visitor, folder, true),
        FolderCondition::Intact => check(visitor, folder, false),
        FolderCondition::Unprotected => protect(folder),
        condition => html! {
            a .button.main[condition.badge().class == "bad"] href=(target(folder, condition)) {
                (show_label(condition))
            }
        },
    }
}

/// A link to what protecting a folder comes to.
pub(super) fn protect(folder: &ServedFolder) -> Markup {
    let address = format!("/add?place={}", folder.place.query());
    html! { a .button.main href=(address) { (icon("intact")) "Protect this folder" } }
}

/// A button that checks a whole folder.
pub(super) fn check(visitor: &Visitor, folder: &ServedFolder, main: bool) -> Markup {
    begin(visitor, folder, RunVerb::Check, main.then_some("main"), "Check now")
}

/// A button that goes on with a check that was stopped.
pub(super) fn resume(visitor: &Visitor, folder: &ServedFolder) -> Markup {
    begin(visitor, folder, RunVerb::Resume, Some("main"), "Go on")
}

/// A button that begins a run of a whole folder.
fn begin(
    visitor: &Visitor,
    folder: &ServedFolder,
    verb: RunVerb,
    class: Option<&str>,
    label: &str,
) -> Markup {
    let sign = match verb {
        RunVerb::Resume => "play",
        RunVerb::Update => "check",
        RunVerb::Protect => "intact",
        _ => "checking",
    };
    html! {
        form method="post" action="/runs" {
            (visitor.csrf())
            input type="hidden" name="place" value=(folder.place.token());
            button class=[class] type="submit" name="verb" value=(verb.name()) {
                (icon(sign)) (label)
            }
        }
    }
}

/// What is needed more rarely.
pub(super) fn menu(visitor: &Visitor, folder: &ServedFolder) -> Markup {
    let query = folder.place.query();
    let is_idle = folder.run.is_none() && folder.facts().is_some();
    let link = |address: String, name: &str, label: &str| {
        html! { li { a href=(address) { (icon(name)) (label) } } }
    };
    html! {
        details .menu {
            summary aria-label=(format!("More for {}", folder.name)) { (icon("more")) }
            ul {
                @if is_idle {
                    li { (begin(visitor, folder, RunVerb::Check, None, "Check all of it now")) }
                    li { (begin(visitor, folder, RunVerb::Protect, None, "Protect new files")) }
                    li { (begin(visitor, folder, RunVerb::Update, None, "Accept all changes")) }
                }
                (link(format!("/run?place={query}"), "settings", "Check with options"))
                (link(format!("/copies?place={query}"), "repair", "Repair from another copy"))
                @let compare = format!("/differences?place={query}");
                (link(compare, "layers", "Compare with another folder"))
                (link(format!("/copy?from={query}"), "copy", "Copy to a drive"))
                (link(format!("/safe?from={query}"), "help", "May I erase this?"))
                (link(format!("/browse?place={query}"), "file", "Choose a file in it"))
                (link(format!("/history?place={query}"), "activity", "History"))
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
            ul .event {
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
