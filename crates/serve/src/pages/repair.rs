//! A repair: how far it is, the plan first, and then what was done; what to do if nothing helps;
//! and the damaged files that are kept.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{self, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast::repair::{RepairFailure, discard};
use steadfast_report::advice::typed_path;
use steadfast_report::repair::{failure_step, failure_words};
use steadfast_report::{Units, escape, units};

use super::task;
use crate::app::App;
use crate::fields::NamedValues;
use crate::folders::name_of;
use crate::icons::{drawn, icon, small_icon};
use crate::jobs::JobSnapshot;
use crate::kinds::StateKind;
use crate::layout::{Tab, folder_trail, framed, verdict};
use crate::live::Live as _;
use crate::refusal::Refusal;
use crate::repairs::{
    MendedFile, MendedFolder, RepairEnd, RepairFiles, RepairWish, ServedRepair, files_of,
};
use crate::roots::ServedPath;
use crate::visitor::{FormFields, QueryFields, Visitor};

/// How long the answer to a form waits for the end, so that a short repair shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/repair", post(begin))
        .route("/repair/discard", post(throw_away))
        .route("/copies", get(copies))
        .route("/repairs/{id}", get(show))
        .merge(task::routes::<ServedRepair>())
}

/// Starts the plan of a repair, or the repair, and leads to its page.
async fn begin(
    State(app): State<Arc<App>>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let place = app.place(&form)?.ok_or(Refusal::Malformed)?;
    if let Some(run) = app.runs.going_in(&place, &app.roots) {
        return Ok(Redirect::to(&format!("/runs/{}?overlaps=1", run.id)));
    }
    let kind = form.text("kind").and_then(|kind| kind.parse().ok());
    let (query, kind_name) = (place.query(), kind.map_or("", StateKind::name));
    let wish = RepairWish {
        kind,
        from: match copy_of(&app, &form) {
            Ok(from) => from,
            Err(()) => {
                let page = format!("/copies?place={query}&kind={kind_name}&unknown=1");
                return Ok(Redirect::to(&page));
            }
        },
        is_agreed: form.text("agreed").is_some(),
    };
    let begun = app.blocking(move |app| {
        let path = app.roots.path(&place);
        let files = match place.is_root() {
            false => RepairFiles { paths: vec![path], more: 0 },
            true => {
                let folder = app.folder(place.root);
                let facts = folder.as_ref().and_then(|folder| folder.facts());
                facts.map_or_else(RepairFiles::default, |facts| files_of(facts, &path, kind))
            }
        };
        app.repairs.begin(place, files, &app.roots, app.usual_options(), wish)
    });
    let repair = begun.await?.ok_or(Refusal::TooMuch)?;
    repair.control.over_within(PATIENCE).await;
    Ok(Redirect::to(&format!("/repairs/{}", repair.id)))
}

/// Returns the copy that a form names, by a token or a path; fails if it is beneath no root.
fn copy_of(app: &App, form: &NamedValues) -> Result<Option<ServedPath>, ()> {
    let path = form.text("path").map(str::trim).filter(|path| !path.is_empty());
    let token = form.text("from").filter(|token| !token.is_empty());
    match (path, token) {
        (Some(path), _) => app.roots.place_of(Path::new(path)).ok_or(()).map(Some),
        (None, Some(token)) => app.roots.place(token).ok_or(()).map(Some),
        (None, None) => Ok(None),
    }
}

/// Asks which folder has a copy.
async fn copies(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let place = app.place(&query)?.ok_or(Refusal::NotFound)?;
    let others = app.roots.places().into_iter().filter(|other| other.root != place.root);
    let others: Vec<ServedPath> = others.collect();
    let content = html! {
        (trail(&app, &place, "Another copy"))
        h1 { "Which folder has a copy?" }
        @if query.text("unknown").is_some() {
            p .note.bad role="alert" {
                "That path is beneath no folder that this server shows. Start it with that folder \
                 as well, and choose it here."
            }
        }
        form .panel method="post" action="/repair" {
            (visitor.csrf())
            input type="hidden" name="place" value=(place.token());
            @if let Some(kind) = query.text("kind") {
                input type="hidden" name="kind" value=(kind);
            }
            div .body.stack.tight {
                p .small {
                    "A backup, another drive, the card it came from. A copy is used only if it is \
                     exactly what was recorded. First you see what it can repair."
                }
                @if !others.is_empty() {
                    fieldset .pick {
                        legend { "One of your folders" }
                        @for other in &others {
                            label {
                                input type="radio" name="from" value=(other.token());
                                (icon("folder"))
                                span .what { (name_of(&app.roots.path(other)))
                                    small { (app.roots.shown(other)) } }
                            }
                        }
                    }
                }
                div .field {
                    label for="path" {
                        @if others.is_empty() { "The folder or file that has the copy" }
                        @else { "Or a folder or a file within one of them" }
                    }
                    input #path type="text" name="path" maxlength="4000" autocomplete="off"
                        placeholder=(app.roots.shown(&place));
                }
                div .row {
                    button .main type="submit" { (icon("repair")) "See what it can repair…" }
                }
            }
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), "Another copy", &html! {}, &content))
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    extract::Path(id): extract::Path<String>,
) -> Result<Response, Refusal> {
    let repair: Arc<ServedRepair> = task::found(&app, &id)?;
    let snapshot = repair.control.snapshot();
    let root = repair.place.root;
    app.blocking(move |app| app.folder(root).is_some()).await?;
    let visitor = visitor.with_side(app.side());
    let (head, content) = match snapshot.end.as_deref() {
        None => (task::reload(2), going(&visitor, &repair, &snapshot)),
        Some(end) => (html! {}, over(&app, &visitor, &repair, end)),
    };
    let last = if repair.wish.is_agreed { "Repair" } else { "Repair plan" };
    let content = html! { (trail(&app, &repair.place, last)) (content) };
    Ok(framed(&visitor, Some(Tab::Home), "Repair", &head, &content))
}

fn trail(app: &App, place: &ServedPath, last: &str) -> Markup {
    let name = name_of(&app.roots.path(&place.with(Path::new(""))));
    folder_trail(place.root, &name, last)
}

/// The page while a repair is planned or carried out.
fn going(visitor: &Visitor, repair: &ServedRepair, snapshot: &JobSnapshot<RepairEnd>) -> Markup {
    let says = match repair.wish.is_agreed {
        true => ("Repairing", KEPT),
        false => (
            "Finding out what can be repaired",
            "Files and what could replace them are read. Nothing is written.",
        ),
    };
    task::going::<ServedRepair>(visitor, repair.id, says, &snapshot.parts())
}

const KEPT: &str = "A repaired file takes its place only when it is exactly as recorded. The file \
                    of before is kept until you throw it away.";

/// The page of a repair that has ended.
fn over(app: &App, visitor: &Visitor, repair: &ServedRepair, end: &RepairEnd) -> Markup {
    match end {
        RepairEnd::Failed(why) => html! {
            (verdict("bad", "damaged", "The repair could not begin", html! {}))
            details .fold open {
                summary { (small_icon("chevron")) "Why" }
                div .body { p { (why) } }
            }
        },
        RepairEnd::Nothing => html! {
            (verdict("good", "intact", "Nothing here is known to need repair", html! {}))
            p { a .button href=(format!("/folders/{}", repair.place.root)) { "To the folder" } }
        },
        RepairEnd::Done(mended) => shown(app, visitor, repair, mended),
    }
}

/// Throws the files away that one repair kept.
async fn throw_away(
    State(app): State<Arc<App>>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let place = app.place(&form)?.filter(|place| place.is_root()).ok_or(Refusal::Malformed)?;
    let number = form.number("number").ok_or(Refusal::Malformed)?;
    let root = place.root;
    let thrown = app.blocking(move |app| {
        let path = app.roots.root(&place).map_err(|_| Refusal::NotFound)?;
        discard(&path, number, &mut |_| {}).map_err(|_| Refusal::Conflict)
    });
    thrown.await??;
    Ok(Redirect::to(&format!("/folders/{root}")))
}

fn shown(app: &App, visitor: &Visitor, repair: &ServedRepair, mended: &MendedFolder) -> Markup {
    let summary = &mended.summary;
    let (good, bad) = (summary.repaired, summary.not_repaired + summary.undecided.len() as u64);
    let lacking: Vec<&MendedFile> = mended.files.iter().filter(|one| one.fault.is_some()).collect();
    let given: Vec<&MendedFile> = mended.files.iter().filter(|one| one.fault.is_none()).collect();
    let (class, name) = match bad {
        _ if summary.interrupted => ("warn", "stopped"),
        0 => ("good", "repair"),
        _ if good > 0 => ("info", "repair"),
        _ => ("bad", "damaged"),
    };
    let title = match summary.is_done {
        _ if summary.interrupted => "Stopped before the end".to_owned(),
        is_done => title_of(good, bad, &summary.failures, is_done),
    };
    html! {
        (verdict(class, name, &title, html! {
            p .soft {
                @if summary.is_done { "The others are as they were." }
                @else { "This is a plan: nothing was written." }
            }
            @if summary.is_done {
                @let address = format!("/folders/{}", repair.place.root);
                p .row { a .button href=(address) { "To the folder" } }
            }
            @if !summary.is_done && !summary.interrupted && good > 0 {
                (agree(visitor, repair, good))
            }
        }))
        @if mended.more > 0 {
            p .note.warn {
                (units::counted(mended.more, "further file was", "further files were"))
                " not looked at: one repair takes 1,000. Repeat it for the others."
            }
        }
        div .cols {
            div .stack {
                @if !given.is_empty() { (plan(&given, summary.is_done)) }
                @for failure in RepairFailure::ALL {
                    @let of_failure = lacking.iter().filter(|file| file.is_for(*failure));
                    @let files: Vec<&MendedFile> = of_failure.copied().collect();
                    (not_mended(visitor, repair, *failure, &files))
                }
                @if lacking.iter().any(|file| file.is_for(RepairFailure::NoCopy)) {
                    (what_now(app, visitor, repair))
                }
            }
            (stays(app, repair, mended))
        }
    }
}

/// The button that carries the plan out.
fn agree(visitor: &Visitor, repair: &ServedRepair, good: u64) -> Markup {
    html! {
        div .row {
            form method="post" action="/repair" {
                (wished(visitor, repair))
                button .main type="submit" name="agreed" value="1" {
                    (icon("repair")) "Put back " (units::counted(good, "file", "files"))
                }
            }
            a .button href=(format!("/folders/{}", repair.place.root)) { "Cancel" }
        }
    }
}

/// The fields of the same repair.
fn wished(visitor: &Visitor, repair: &ServedRepair) -> Markup {
    html! {
        (visitor.csrf())
        input type="hidden" name="place" value=(repair.place.token());
        @if let Some(kind) = repair.wish.kind {
            input type="hidden" name="kind" value=(kind.name());
        }
        @if let Some(from) = &repair.wish.from {
            input type="hidden" name="from" value=(from.token());
        }
    }
}

/// What is put back, from where.
fn plan(files: &[&MendedFile], is_done: bool) -> Markup {
    let count = units::count(files.len() as u64);
    let are = if files.len() == 1 { "is" } else { "are" };
    html! {
        section .panel aria-labelledby="plan" {
            div .cap {
                h2 #plan {
                    @if is_done { (count) " " (are) " as recorded again" }
                    @else { (count) " " (are) " put back" }
                }
            }
            ul .plan.list-top {
                @for file in files {
                    li {
                        (file_icon(file, is_done))
                        (named(file))
                        p .from {
                            @for source in &file.sources { span { "from " (source) " " } }
                            @if file.sources.is_empty() { "The record alone" }
                            small { "Gives back exactly what was recorded" }
                        }
                        span .size { (Units::Si.bytes(file.length)) }
                    }
                }
            }
        }
    }
}

fn file_icon(file: &MendedFile, is_done: bool) -> Markup {
    let (class, name) = match file.kind {
        _ if is_done => ("good", "check"),
        Some(kind) => kind.class_and_icon(),
        None => ("idle", "file"),
    };
    drawn(name, &format!("icon {class}"))
}

/// A file by its name and its folder.
fn named(file: &MendedFile) -> Markup {
    let last = file.below.file_name().map_or(file.below.as_path(), Path::new);
    let above = file.below.parent().map(escape::path).unwrap_or_default();
    html! {
        p .file {
            (escape::path(last))
            small {
                (above) @if !above.is_empty() { ", " }
                (file.kind.map_or("", StateKind::word).to_lowercase())
            }
        }
    }
}

/// The files that were not mended for one reason, and what helps.
fn not_mended(
    visitor: &Visitor,
    repair: &ServedRepair,
    failure: RepairFailure,
    files: &[&MendedFile],
) -> Markup {
    let (count, id) = (units::count(files.len() as u64), format!("failed-{}", failure.name()));
    html! { @if !files.is_empty() {
        section .panel.attention.mild aria-labelledby=(id) {
            div .cap {
                (icon("missing"))
                h2 id=(id) { (count) ": " (failure_words(failure)) }
            }
            @if let Some(step) = failure_step(failure) {
                form .body.row method="post" action="/repair" {
                    (wished(visitor, repair))
                    p .small { (step) }
                    button type="submit" { (icon("checking")) "Look again" }
                }
            }
            ul .list {
                @for file in files {
                    li {
                        div .what {
                            (named(file))
                            @if let Some((_, fault)) = &file.fault {
                                details .fold.plain {
                                    summary { (small_icon("chevron")) "Why" }
                                    div .body { p .small { (fault) } }
                                }
                            }
                        }
                        span .small { (Units::Si.bytes(file.length)) }
                    }
                }
            }
        }
    } }
}

/// What can be done when nothing can be repaired, the likeliest first.
fn what_now(app: &App, visitor: &Visitor, repair: &ServedRepair) -> Markup {
    let query = repair.place.query();
    let kind = repair.wish.kind.map_or("", StateKind::name);
    let away = away(app);
    html! {
        section .panel aria-labelledby="now" {
            div .cap { h2 #now { "What you can do now" } }
            ol .ways.list-top {
                @if !away.is_empty() {
                    li {
                        span .no { (icon("away")) }
                        div { h3 { "Connect a drive that may have it" }
                            p { (away.join(", ")) ": not connected, and not searched." } }
                        form method="post" action="/repair" {
                            (wished(visitor, repair))
                            button type="submit" { (icon("checking")) "Look again" }
                        }
                    }
                }
                li {
                    span .no { (icon("folder")) }
                    div { h3 { "Choose a folder with a copy" }
                        p { "A backup, another computer, the card it came from." } }
                    a .button href=(format!("/copies?place={query}&kind={kind}")) {
                        "Choose a folder…"
                    }
                }
                li {
                    span .no { (icon("search")) }
                    div { h3 { "Look a copy up" }
                        p { "Drop the file that you have: is it the right one?" } }
                    a .button href="/drop" { "Look up a file" }
                }
                li {
                    span .no { (icon("check")) }
                    div { h3 { "Keep it as it is" }
                        p {
                            "Nobody has a copy, and it is good enough? "
                            @if repair.place.is_root() {
                                "Repair one file alone to see the command that keeps it."
                            } @else {
                                @let file = typed_path(&app.roots.path(&repair.place));
                                "In a terminal, " code { "steadfast update --accept " (file) }
                                " records it as it is now."
                            }
                        } }
                }
            }
        }
    }
}

/// Returns the names of folders that are not there.
fn away(app: &App) -> Vec<String> {
    let away = app.roots.places().into_iter().filter(|place| app.roots.root(place).is_err());
    away.map(|place| name_of(&app.roots.path(&place))).collect()
}

/// What is not touched, and where it was searched.
fn stays(app: &App, repair: &ServedRepair, mended: &MendedFolder) -> Markup {
    let summary = &mended.summary;
    let left = summary.left;
    html! {
        section .panel aria-labelledby="stays" {
            div .cap { h2 #stays { "What stays as it is" } }
            div .body.stack.tight.small {
                @if summary.is_done && !summary.originals.is_empty() {
                    p { "The files of before are kept:" }
                    @for (_, folder) in &summary.originals { p .mono { (escape::path(folder)) } }
                    p { "Throw them away on the page of the folder." }
                } @else { p { (KEPT) } }
                @if left.suspect > 0 {
                    p {
                        (units::counted(left.suspect, "file", "files"))
                        " about which you are asked (“was it you?”) stay as they are."
                    }
                }
                @if left.differs > 0 {
                    p { (units::counted(left.differs, "file is", "files are"))
                        " other than a list says: only a copy that fits it helps." }
                }
                @if left.modified > 0 {
                    p { (units::counted(left.modified, "changed file stays", "changed files stay"))
                        " as they are." }
                }
                p { b { "Searched: " } "the folder itself, its repair data"
                    @if let Some(from) = &repair.wish.from { ", " (app.roots.shown(from)) }
                    ". Other folders only if you choose them." }
            }
        }
    }
}

/// Says how many files are repaired, or can be, and why the others are not.
fn title_of(good: u64, bad: u64, failures: &BTreeMap<RepairFailure, u64>, is_done: bool) -> String {
    let why = match failures.keys().collect::<Vec<_>>()[..] {
        [failure] => Some(failure_words(*failure)),
        _ => None,
    };
    let (be, again) = match is_done {
        true => ("is", "exactly as recorded again"),
        false => ("can be", "put back, exactly as recorded"),
    };
    let be = if is_done && good != 1 { "are" } else { be };
    match (good, bad) {
        (0, 0) => "Nothing needs repair".to_owned(),
        (0, bad) => {
            let (one, several) = match is_done {
                true => ("file was not repaired", "files were not repaired"),
                false => ("file cannot be repaired yet", "files cannot be repaired yet"),
            };
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            format!("{}{why}", units::counted(bad, one, several))
        }
        (good, 0) => format!("{} {be} {again}", units::counted(good, "file", "files")),
        (good, bad) => {
            let all = units::counted(good + bad, "file", "files");
            let why = why.map(|why| format!(". The others: {why}")).unwrap_or_default();
            format!("{} of {all} {be} {again}{why}", units::count(good))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_why_files_are_not_repaired() {
        let title = |good, failure, is_done| title_of(good, 2, &[(failure, 2)].into(), is_done);
        let cases = [
            (RepairFailure::NoRoom, "there is no room for the repaired file"),
            (RepairFailure::ReadOnly, "its file system can only be read"),
            (RepairFailure::SourceGone, "what has the good contents is gone"),
        ];
        for (failure, why) in cases {
            assert_eq!(title(0, failure, true), format!("2 files were not repaired: {why}"));
        }
        let plan = title(0, RepairFailure::NoCopy, false);
        assert_eq!(plan, "2 files cannot be repaired yet: no good copy was found");
        let done = title(1, RepairFailure::ReadOnly, true);
        let expected = "1 of 3 files is exactly as recorded again. The others: its file \
                        system can only be read";
        assert_eq!(done, expected);
    }
}
