//! A copy to other folders, and the question whether a folder may be erased: the forms, the plan,
//! the progress, and the answer, whose last line is that of the command.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{self, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast::safe::{Lack, SafeAnswer, SafeRule};
use steadfast_report::{Units, advice, progress, units};

use crate::app::App;
use crate::copying::{
    CopyEnd, CopyFindings, CopySnapshot, CopyTask, CopyWish, LISTED_MAX, LackingFile, PlaceProofs,
    ServedCopy,
};
use crate::dates;
use crate::fields::{NamedValues, encode};
use crate::folders::name_of;
use crate::icons::{bar, disc, drawn, icon, small_icon};
use crate::layout::{Tab, attachment, framed};
use crate::live::{Live, LiveParts, follow, part, stand};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::visitor::{FormFields, QueryFields, Visitor};
use crate::words;

/// How long the answer to a form waits for the end, so that a short one shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sources or places of one copy.
const PLACES_MAX: usize = 16;

/// The most copies that can be asked for.
const COPIES_MAX: u64 = 9;

impl Live for CopySnapshot {
    fn parts(&self) -> LiveParts {
        self.rendered.of(|| parts(self))
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }
}

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/copy", get(ask_copy).post(begin_copy))
        .route("/safe", get(ask_safe).post(begin_safe))
        .route("/copy/{id}", get(show))
        .route("/copy/{id}/events", get(events))
        .route("/copy/{id}/receipt", get(receipt))
        .route("/copy/{id}/stop", post(stop))
}

/// One of the two tasks, with its words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    Copy,
    Safe,
}

impl Question {
    fn of(task: CopyTask) -> Question {
        if task == CopyTask::Judge { Question::Safe } else { Question::Copy }
    }

    fn path(self) -> &'static str {
        if self == Question::Copy { "/copy" } else { "/safe" }
    }

    fn title(self) -> &'static str {
        if self == Question::Copy { "Copy to a drive" } else { "May I erase this?" }
    }
}

async fn ask_copy(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Response {
    asked(&app, &visitor, Question::Copy, &query, None)
}

async fn ask_safe(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Response {
    asked(&app, &visitor, Question::Safe, &query, None)
}

/// The form, with what was chosen before.
fn asked(
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
        p .trail { a href="/" { "Folders" } (small_icon("chevron")) span { (question.title()) } }
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
        details .fold open[rule.apart || rule.servers] {
            summary { (small_icon("chevron")) "What only you can know" }
            div .body.stack.tight {
                label .tick {
                    input type="checkbox" name="apart" value="1" checked[rule.apart];
                    span { "My places are on different drives"
                        small { "Counts where the system does not tell: of virtual disks and \
                                 network volumes. What it knows to be one drive stays one." } }
                }
                label .tick {
                    input type="checkbox" name="servers" value="1" checked[rule.servers];
                    span { "What a server answers is enough"
                        small { "It may come from its memory and not from its drive." } }
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
    }
}

async fn begin_copy(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    FormFields(form): FormFields,
) -> Result<Response, Refusal> {
    let agreed = form.text("agreed").is_some();
    let task = if agreed { CopyTask::Copy } else { CopyTask::Plan };
    begin(&app, &visitor, task, &form).await
}

async fn begin_safe(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    FormFields(form): FormFields,
) -> Result<Response, Refusal> {
    begin(&app, &visitor, CopyTask::Judge, &form).await
}

/// Starts it, and leads to its page or to that of what is in its way.
async fn begin(
    app: &Arc<App>,
    visitor: &Visitor,
    task: CopyTask,
    form: &NamedValues,
) -> Result<Response, Refusal> {
    let wish = match wished(app, task, form) {
        Ok(wish) => wish,
        Err(wrong) => return Ok(asked(app, visitor, Question::of(task), form, Some(&wrong))),
    };
    if task == CopyTask::Copy {
        let run = wish.places.iter().find_map(|place| app.runs.going_in(place, &app.roots));
        if let Some(run) = run {
            return Ok(Redirect::to(&format!("/runs/{}?overlaps=1", run.id)).into_response());
        }
    }
    if let Some(measurement) = app.measurements.going() {
        return Ok(Redirect::to(&format!("/measure/{measurement}?busy=1")).into_response());
    }
    let trees = app.config.trees.clone();
    let begun = app.copies.begin(wish, &app.roots, trees);
    let (copy, is_other) = begun.ok_or(Refusal::TooMuch)?;
    if is_other {
        return Ok(Redirect::to(&format!("/copy/{}?busy=1", copy.id)).into_response());
    }
    copy.control.over_within(PATIENCE).await;
    Ok(Redirect::to(&format!("/copy/{}", copy.id)).into_response())
}

/// Reads the form; fails with what is wrong with it.
fn wished(app: &App, task: CopyTask, form: &NamedValues) -> Result<CopyWish, String> {
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

/// Finds a copy by the number in an address.
fn found(app: &App, id: &str) -> Result<Arc<ServedCopy>, Refusal> {
    id.parse().ok().and_then(|id| app.copies.find(id)).ok_or(Refusal::NotFound)
}

async fn events(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    extract::Path(id): extract::Path<String>,
) -> Result<Response, Refusal> {
    let copy = found(&app, &id)?;
    Ok(follow(&copy.control, visitor.session().cloned()))
}

/// The answer with what was proved where, as a text to keep.
async fn receipt(
    State(app): State<Arc<App>>,
    extract::Path(id): extract::Path<String>,
) -> Result<Response, Refusal> {
    let copy = found(&app, &id)?;
    let end = copy.control.snapshot().end.clone();
    let Some(CopyEnd::Done(answer, found)) = end.as_deref() else { return Err(Refusal::NotFound) };
    let wish = &copy.wish;
    let mut text = format!("Steadfast, {}\n\n", units::moment(copy.begun));
    let (files, bytes) = (units::counted(found.files, "file", "files"), found.bytes);
    for place in &wish.sources {
        text.push_str(&format!("From: {}\n", app.roots.shown(place)));
    }
    text.push_str(&format!("  {files}, {}\n", Units::Si.bytes(bytes)));
    for (place, proofs) in wish.places.iter().zip(&found.places) {
        text.push_str(&format!("{}: {}\n", place_word(wish.task), app.roots.shown(place)));
        for (files, _, _, says) in proof_lines(proofs) {
            text.push_str(&format!("  {} {says}\n", units::count(files)));
        }
    }
    text.push_str(&format!("\n{}\n", wish.document().last_line(answer)));
    let name = format!("receipt-{}.txt", copy.id);
    Ok(attachment(&name, "text/plain; charset=utf-8", text.into_bytes()))
}

async fn stop(
    State(app): State<Arc<App>>,
    extract::Path(id): extract::Path<String>,
) -> Result<Redirect, Refusal> {
    found(&app, &id)?.control.stop();
    Ok(Redirect::to(&format!("/copy/{id}")))
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    extract::Path(id): extract::Path<String>,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let copy = found(&app, &id)?;
    let snapshot = copy.control.snapshot();
    let question = Question::of(copy.wish.task);
    let view = CopyView { app: &app, visitor: &visitor, copy: &copy };
    let (head, content) = match snapshot.end.as_deref() {
        // Browsers without scripts reload the page.
        None => (html! { noscript { meta http-equiv="refresh" content="5"; } }, view.going(&query)),
        Some(CopyEnd::Failed(why, found)) => (html! {}, view.failed(why, found)),
        Some(CopyEnd::Planned(found)) => (html! {}, view.planned(found)),
        Some(CopyEnd::Done(answer, found)) => (html! {}, view.answered(answer, found)),
    };
    let content = html! {
        p .trail {
            a href="/" { "Folders" }
            (small_icon("chevron"))
            a href=(question.path()) { (question.title()) }
            (small_icon("chevron"))
            span { (dates::moment(copy.begun, app.now())) }
        }
        (content)
    };
    Ok(framed(&visitor, Some(Tab::Home), question.title(), &head, &content))
}

/// How far it is.
fn parts(state: &CopySnapshot) -> Vec<(&'static str, Markup)> {
    let now = &state.progress;
    let share = progress::share(now).unwrap_or(0.0);
    let of_all = now.total.map(|(files, _)| format!(" of {}", units::count(files)));
    let left = progress::remaining_ns(now).map(units::rough_duration);
    let left = left.map(|left| format!(", about {left} left")).unwrap_or_default();
    let files = units::count(now.files);
    let say = format!("{files}{} files{left}", of_all.unwrap_or_default());
    let tenth = (share * 10.0).floor() / 10.0;
    vec![
        ("stand", stand(state.status, words::run_status(state.status))),
        ("bar", html! { p .say { b { (say) } } (bar(share, "f-info", "tall", &say)) }),
        ("say", html! { (units::percent(tenth)) }),
    ]
}

/// A copy as a visitor sees it.
struct CopyView<'a> {
    app: &'a App,
    visitor: &'a Visitor,
    copy: &'a ServedCopy,
}

impl CopyView<'_> {
    /// The page while it goes on. Its parts are replaced as they change.
    fn going(&self, query: &NamedValues) -> Markup {
        let copy = self.copy;
        let parts = copy.control.snapshot().parts();
        let (title, says) = match copy.wish.task {
            CopyTask::Plan => ("Finding out what it comes to", "Nothing is copied yet."),
            CopyTask::Copy => (
                "Copying",
                "A copy gets its name when it was read back from its drive. Leave the source and \
                 the drives connected.",
            ),
            CopyTask::Judge => ("Reading the copies", "Nothing is written."),
        };
        html! {
            @if query.text("busy").is_some() {
                p .note.warn role="status" { "This one goes on. Begin yours when it has ended." }
            }
            div #live .stack data-events=(format!("/copy/{}/events", copy.id)) {
                div .head {
                    div { h1 { (title) } p .soft { (says) } }
                    div .orders {
                        form method="post" action=(format!("/copy/{}/stop", copy.id)) {
                            (self.visitor.csrf())
                            button type="submit" { (icon("stop")) "Stop" }
                        }
                    }
                }
                section .panel aria-labelledby="progress" {
                    div .body.stack.tight {
                        h2 #progress .told { "Progress" }
                        (part(&parts, "bar"))
                        (part(&parts, "stand"))
                    }
                }
                div .told role="status" aria-live="polite" data-live="say" {}
            }
        }
    }

    fn failed(&self, why: &str, found: &CopyFindings) -> Markup {
        let (title, last) = match self.copy.wish.task {
            CopyTask::Judge => ("This could not be found out. Do not erase it.", ""),
            _ => ("Nothing was copied", "Do not erase anything."),
        };
        html! {
            (verdict("bad", "damaged", title, html! {
                p .soft { (why) ". " (last) }
                div .row { (self.change()) }
            }))
            (notices(found))
        }
    }

    fn planned(&self, found: &CopyFindings) -> Markup {
        let files = units::counted(found.files, "file", "files");
        let bytes = Units::Si.bytes(found.bytes);
        let places = self.copy.wish.places.len() as u64;
        let title = match (found.interrupted, found.files) {
            (true, _) => "Stopped before the end. Nothing was copied.".to_owned(),
            (_, 0) => "There is no file to copy".to_owned(),
            _ => format!(
                "{files} ({bytes}) would be copied to {}",
                units::counted(places, "place", "places")
            ),
        };
        html! {
            (verdict("info", "copy", &title, html! {
                p .soft { "This is a plan: nothing was copied." }
                div .row {
                    @if found.files > 0 && !found.interrupted { (self.again("Copy ", &files)) }
                    (self.change())
                }
            }))
            (notices(found))
            section .panel.receipt aria-label="What is copied" {
                (self.from(found))
                @for (place, proofs) in self.copy.wish.places.iter().zip(&found.places) {
                    @let free = proofs.free_bytes.map(|free| {
                        format!("{} are free", Units::Si.bytes(free))
                    });
                    (self.place("idle", place, &free.unwrap_or_default(), html! {}))
                }
            }
        }
    }

    /// The answer: may it be erased?
    fn answered(&self, answer: &SafeAnswer, found: &CopyFindings) -> Markup {
        let document = self.copy.wish.document();
        let copies = units::counted(document.rule.copies as u64, "copy", "copies");
        let is_yes = answer.is_yes();
        let (class, sign) = if is_yes { ("good", "intact") } else { ("bad", "damaged") };
        let title = match is_yes {
            true => "Yes, you may erase it.",
            false if found.interrupted => "Stopped before the end. Do not erase it.",
            false => "Do not erase it yet.",
        };
        let files = units::counted(found.files, "file", "files");
        html! {
            (verdict(class, sign, title, html! {
                p .soft { (files) ", " (Units::Si.bytes(found.bytes)) "." }
                div .row {
                    @if !is_yes && self.copy.wish.task == CopyTask::Copy {
                        (self.again(if found.interrupted { "Go on" } else { "Try again" }, ""))
                    }
                    @if self.copy.wish.task == CopyTask::Judge { (self.again("Ask again", "")) }
                    a .button href=(format!("/copy/{}/receipt", self.copy.id)) {
                        "Save the receipt"
                    }
                    @if !is_yes { (self.change()) }
                }
            }))
            section .panel.receipt aria-label="Receipt" {
                (self.from(found))
                @for (place, proofs) in self.copy.wish.places.iter().zip(&found.places) {
                    (self.proved(place, proofs))
                }
                div .last.(class) {
                    (drawn(sign, &format!("icon {class}")))
                    p { (document.last_line(answer))
                        small { "You asked for " (copies) " of every file, proved by reading, the \
                            source not counted"
                            @if document.rule.copies > 1 { ", on different drives" } "." } }
                }
            }
            @for (lack, files) in answer.lacks() {
                @let listed = found.lacking.iter().filter(|file| file.lack == lack);
                (group(lack, &document.reason(lack, files), files, &listed.collect::<Vec<_>>()))
            }
            (notices(found))
            details .fold {
                summary { (small_icon("chevron")) "Technical details" }
                div .body { dl .facts {
                    div { dt { "Command" } dd { span .mono { (self.command()) } } }
                    div { dt { "Time" } dd { (units::duration(found.elapsed_ns)) } }
                    div { dt { "Exit status" } dd { (found.exit_status.code()) } }
                } }
            }
        }
    }

    fn from(&self, found: &CopyFindings) -> Markup {
        let sources: Vec<String> =
            self.copy.wish.sources.iter().map(|place| self.app.roots.shown(place)).collect();
        html! {
            div .line-item {
                (disc("folder", "idle"))
                div {
                    h2 { "From: " (sources.join(", ")) }
                    p { (units::counted(found.files, "file", "files")) ", "
                        (Units::Si.bytes(found.bytes))
                        @if found.known > 0 {
                            "; " (units::count(found.known)) " more left out, because you have \
                            them by the records"
                        } }
                }
            }
        }
    }

    fn place(&self, class: &str, place: &ServedPath, says: &str, proofs: Markup) -> Markup {
        let word = place_word(self.copy.wish.task);
        html! {
            div .line-item {
                (disc("drive", class))
                div {
                    h2 { (word) ": " (self.app.roots.shown(place)) }
                    p { (says) }
                }
                (proofs)
            }
        }
    }

    /// A place, with what was proved there.
    fn proved(&self, place: &ServedPath, proofs: &PlaceProofs) -> Markup {
        let PlaceProofs { medium, server, cache, none, .. } = *proofs;
        let class = if medium > 0 && none + cache + server == 0 { "good" } else { "warn" };
        let list = html! {
            ul .proof {
                @for (files, class, sign, says) in proof_lines(proofs) {
                    li { (drawn(sign, &format!("icon sm {class}")))
                        (units::count(files)) " " (says) }
                }
            }
        };
        self.place(class, place, "", list)
    }

    /// The fields of the same wish, and a button.
    fn again(&self, label: &str, what: &str) -> Markup {
        let wish = &self.copy.wish;
        let SafeRule { copies, apart, servers } = wish.rule;
        let hidden = |name: &str, value: &str| {
            html! { input type="hidden" name=(name) value=(value); }
        };
        html! {
            form method="post" action=(Question::of(wish.task).path()) {
                (self.visitor.csrf())
                @for place in &wish.sources { (hidden("from", &place.token())) }
                @for place in &wish.places { (hidden("to", &place.token())) }
                @for place in &wish.archives { (hidden("in", &place.token())) }
                (hidden("copies", &copies.to_string()))
                @if apart { (hidden("apart", "1")) }
                @if servers { (hidden("servers", "1")) }
                button .main type="submit" name="agreed" value="1" {
                    (icon(if wish.task == CopyTask::Judge { "checking" } else { "copy" }))
                    (label) (what)
                }
            }
        }
    }

    /// The way back to the form, with what was chosen.
    fn change(&self) -> Markup {
        let wish = &self.copy.wish;
        let SafeRule { copies, apart, servers } = wish.rule;
        let field = |name: &'static str| {
            move |place: &ServedPath| format!("&{name}={}", encode(place.token().as_bytes()))
        };
        let mut query = format!("copies={copies}");
        query.extend(wish.sources.iter().map(field("from")));
        query.extend(wish.places.iter().map(field("to")));
        query.extend(wish.archives.iter().map(field("in")));
        query.push_str(if apart { "&apart=1" } else { "" });
        query.push_str(if servers { "&servers=1" } else { "" });
        let path = Question::of(wish.task).path();
        html! { a .button href=(format!("{path}?{query}")) { "Choose otherwise…" } }
    }

    /// What does the same in a terminal.
    fn command(&self) -> String {
        let wish = &self.copy.wish;
        let typed = |place: &ServedPath| advice::typed_paths(&[self.app.roots.path(place)]);
        let (verb, option) = match wish.task {
            CopyTask::Judge => ("safe", "--in"),
            CopyTask::Plan | CopyTask::Copy => ("copy", "--to"),
        };
        let mut words = vec![format!("steadfast {verb}")];
        if wish.rule.copies != SafeRule::default().copies {
            words.push(format!("--copies {}", wish.rule.copies));
        }
        words.extend(wish.rule.apart.then(|| "--apart".to_owned()));
        words.extend(wish.rule.servers.then(|| "--trust-servers".to_owned()));
        if !wish.archives.is_empty() {
            words.push("--unknown".to_owned());
            words.extend(wish.archives.iter().map(|place| format!("--in {}", typed(place))));
        }
        words.extend(wish.sources.iter().map(typed));
        words.extend(wish.places.iter().map(|place| format!("{option} {}", typed(place))));
        words.join(" ")
    }
}

fn place_word(task: CopyTask) -> &'static str {
    if task == CopyTask::Judge { "In" } else { "To" }
}

/// How many files were proved at a place and how: with a colour, a sign and the words.
fn proof_lines(
    proofs: &PlaceProofs,
) -> impl Iterator<Item = (u64, &'static str, &'static str, &'static str)> {
    let PlaceProofs { medium, server, cache, none, were_there, rewritten, .. } = *proofs;
    let lines = [
        (medium, "good", "check", "read back from the drive itself"),
        (server, "warn", "help", "as a server answers, maybe from its memory"),
        (cache, "warn", "help", "read through a cache, not from the drive"),
        (none, "warn", "missing", "not there, or not proved"),
        (rewritten, "info", "copy", "written again, because they were read back wrong"),
        (were_there, "info", "file", "were there before"),
    ];
    lines.into_iter().filter(|(files, ..)| *files > 0)
}

fn verdict(class: &str, sign: &str, title: &str, beneath: Markup) -> Markup {
    html! {
        div .verdict {
            (disc(sign, &format!("{class} big")))
            div { h1 { (title) } (beneath) }
        }
    }
}

/// What was said on the way.
fn notices(found: &CopyFindings) -> Markup {
    html! {
        @if !found.notices.is_empty() {
            section .panel.pad aria-labelledby="told" {
                h2 #told { "To know" }
                ul .stack.tight.small { @for notice in &found.notices { li { (notice) } } }
                @if found.more_notices > 0 {
                    p .small.soft { "and " (units::count(found.more_notices)) " more" }
                }
            }
        }
    }
}

/// The files of one lack.
fn group(lack: Lack, title: &str, files: u64, listed: &[&LackingFile]) -> Markup {
    html! {
        @if !listed.is_empty() {
            section .panel.group.attention aria-labelledby=(lack.name()) {
                div .cap { (icon("damaged")) h2 id=(lack.name()) { (units::capital(title)) } }
                @if lack == Lack::Corrupt {
                    p .say {
                        "They were not copied: a copy would only spread the damage. Repair them \
                         first, or look for a good copy."
                    }
                }
                @for file in listed {
                    article .find {
                        (drawn("file", "icon warn"))
                        div {
                            h3 .file { @if let Some((above, name)) = file.path.rsplit_once('/') {
                                span { (above) } (name)
                            } @else { (file.path) } }
                            @for line in &file.lines { p .why { (line) } }
                        }
                        p .at { (Units::Si.bytes(file.length)) }
                    }
                }
                @if files > LISTED_MAX {
                    p .more { (units::count(LISTED_MAX)) " of " (units::count(files)) " shown" }
                }
            }
        }
    }
}
