//! The result of a run in one sentence, what to do next, and counts in plain words.

use std::collections::BTreeMap;

use maud::{Markup, html};
use steadfast::catalogue::{RunRecord, RunState};
use steadfast::{Action, Summary, Timestamp, VerbKind, Verdict};
use steadfast_report::units;

use super::again;
use crate::icons::{disc, icon, small_icon};
use crate::kinds::StateKind;
use crate::pages::automation::monthly;
use crate::runs::{RunVerb, ServedRun};
use crate::visitor::Visitor;

/// What the parts of the page of a run share.
pub(super) struct RunView<'a> {
    pub(super) visitor: &'a Visitor,
    pub(super) run: &'a ServedRun,
    /// The path of its root.
    pub(super) shown: &'a str,
    pub(super) now: Timestamp,
    pub(super) offers_automation: bool,
}

/// What a run came to, of this server or recorded.
pub(super) struct ResultCounts {
    kinds: BTreeMap<StateKind, u64>,
    intact: u64,
    /// Files that it recorded, and files that it judged or saw.
    recorded: u64,
    judged: u64,
    files: u64,
    is_stopped: bool,
    /// Whether it accepts changes, so that they are no finding.
    accepts: bool,
    /// Whether it only records what is new, and judges nothing.
    protects: bool,
    /// Whether something is not fine that has no kind.
    is_doubtful: bool,
}

impl ResultCounts {
    fn of_run(verb: RunVerb, view: &Summary) -> ResultCounts {
        let mut kinds = BTreeMap::new();
        for verdict in Verdict::ALL {
            if let (Some(kind), files @ 1..) =
                (StateKind::of_verdict(verdict), view.verdicts(verdict))
            {
                *kinds.entry(kind).or_default() += files;
            }
        }
        if view.counts.failed > 0 {
            *kinds.entry(StateKind::Unreadable).or_default() += view.counts.failed;
        }
        let recorded = view.actions(Action::Tagged) + view.actions(Action::Retagged);
        // What it tagged is new no longer.
        let new = kinds.remove(&StateKind::New).unwrap_or(0);
        let new = new.saturating_sub(view.actions(Action::Tagged));
        if new > 0 {
            kinds.insert(StateKind::New, new);
        }
        ResultCounts {
            intact: view.verdicts(Verdict::Intact) + view.verdicts(Verdict::Touched),
            recorded,
            judged: view.judged(),
            files: view.files,
            is_stopped: view.interrupted,
            accepts: verb.answers().is_some() || verb == RunVerb::Update,
            protects: matches!(verb, RunVerb::Tag | RunVerb::Init | RunVerb::Protect),
            is_doubtful: !view.exit_status().is_fine(),
            kinds,
        }
    }

    /// Takes what a catalogue has of a run.
    pub(super) fn of_record(run: &RunRecord) -> ResultCounts {
        let count = |name: &str| run.counts.get(name).copied().unwrap_or(0);
        let mut kinds = BTreeMap::new();
        for (name, files) in &run.counts {
            if let Some(kind) = StateKind::of_name(name) {
                *kinds.entry(kind).or_default() += files;
            }
        }
        let copies = matches!(run.kind(), Some(VerbKind::Copy | VerbKind::Move));
        let tags = matches!(run.kind(), Some(VerbKind::Init | VerbKind::Tag | VerbKind::Import));
        let records = tags || copies;
        if records {
            kinds.remove(&StateKind::New);
        }
        let intact = count(Verdict::Intact.name()) + count(Verdict::Touched.name());
        let judged = intact + kinds.values().sum::<u64>();
        ResultCounts {
            recorded: if records { run.files } else { 0 },
            judged: judged - kinds.get(&StateKind::New).copied().unwrap_or(0),
            files: run.files,
            is_stopped: run.state != RunState::Whole,
            accepts: matches!(run.kind(), Some(VerbKind::Update | VerbKind::Retag)),
            protects: records,
            is_doubtful: false,
            intact,
            kinds,
        }
    }

    /// Returns how many there are of a kind.
    pub(super) fn of(&self, kind: StateKind) -> u64 {
        self.kinds.get(&kind).copied().unwrap_or(0)
    }
}

/// The sentence of a result: its colour and icon, the sentence, and a line beneath.
pub(super) struct ResultSentence {
    pub(super) class: &'static str,
    pub(super) icon: &'static str,
    pub(super) title: String,
    pub(super) text: String,
}

/// Returns the sentence. What was not judged is never "as recorded".
pub(super) fn sentence(counts: &ResultCounts) -> ResultSentence {
    let of = |kind| counts.of(kind);
    let questions = [StateKind::Suspect, StateKind::Missing];
    let asked: u64 = questions.iter().map(|kind| of(*kind)).sum();
    let asked = if counts.accepts { 0 } else { asked };
    let changed = if counts.accepts { 0 } else { of(StateKind::Changed) };
    let (class, icon) = match () {
        () if of(StateKind::Damaged) > 0 => StateKind::Damaged.class_and_icon(),
        () if of(StateKind::Unreadable) > 0 => StateKind::Unreadable.class_and_icon(),
        () if counts.is_stopped => ("warn", "stopped"),
        () if asked > 0 => ("warn", "suspect"),
        () if of(StateKind::Unlike) > 0 => StateKind::Unlike.class_and_icon(),
        () if changed > 0 => StateKind::Changed.class_and_icon(),
        () if counts.is_doubtful && counts.judged > 0 => ("warn", "help"),
        // What was only recorded was not compared with anything yet.
        () if counts.recorded > 0 => ("info", "recorded"),
        () if counts.protects => ("idle", "recorded"),
        () if counts.judged == 0 => ("idle", "unprotected"),
        () if of(StateKind::New) > 0 => ("info", "new"),
        () => ("good", "intact"),
    };
    let title = title_of(counts, asked, changed);
    let text = text_of(counts, asked);
    ResultSentence { class, icon, title, text }
}

fn title_of(counts: &ResultCounts, asked: u64, changed: u64) -> String {
    let damaged = counts.of(StateKind::Damaged);
    let unreadable = counts.of(StateKind::Unreadable);
    let files = |count, is: &str, are: &str| {
        units::counted(count, &format!("file {is}"), &format!("files {are}"))
    };
    match () {
        () if damaged > 0 && asked > 0 => {
            let others = units::counted(asked, "other", "others");
            format!("{}. Of {others}: was it you?", files(damaged, "is damaged", "are damaged"))
        }
        () if damaged > 0 && counts.is_stopped => {
            format!("Stopped; {} so far", files(damaged, "is damaged", "are damaged"))
        }
        () if damaged > 0 => files(damaged, "is damaged", "are damaged"),
        () if unreadable > 0 => files(unreadable, "could not be read", "could not be read"),
        () if counts.is_stopped && counts.protects => "Stopped before its end".to_owned(),
        () if counts.is_stopped => "Stopped before its end. Nothing damaged so far".to_owned(),
        () if asked > 0 => match counts.of(StateKind::Suspect) {
            0 => format!("{}. Was it you?", files(asked, "is gone", "are gone")),
            suspect if suspect == asked => {
                format!("{} and kept the date. Was it you?", files(asked, "changed", "changed"))
            }
            _ => format!("Of {}: was it you?", units::counted(asked, "file", "files")),
        },
        () if counts.of(StateKind::Unlike) > 0 => {
            let (is, are) = ("is other than a list says", "are other than a list says");
            files(counts.of(StateKind::Unlike), is, are)
        }
        () if changed > 0 => files(changed, "was changed", "were changed"),
        () if counts.recorded > 0 && counts.accepts => {
            files(counts.recorded, "is recorded as it is now", "are recorded as they are now")
        }
        () if counts.is_doubtful && counts.judged > 0 => "Something needs a look".to_owned(),
        () if counts.recorded > 0 => {
            files(counts.recorded, "is protected now", "are protected now")
        }
        () if counts.accepts => "What changed is accepted".to_owned(),
        () if counts.protects => "There was nothing new to protect".to_owned(),
        () if counts.judged == 0 => "Nothing could be compared".to_owned(),
        () => all_intact(counts.intact.max(counts.judged)),
    }
}

/// What follows the title: the other kinds, how many are intact, and what was not judged.
fn text_of(counts: &ResultCounts, asked: u64) -> String {
    let mut said: Vec<String> = Vec::new();
    let shown = counts.kinds.iter().filter(|(kind, _)| {
        let is_in_title = **kind == StateKind::Damaged && asked == 0;
        !is_in_title && **kind != StateKind::New
    });
    let others: Vec<String> = shown.map(|(kind, files)| kind.counted(*files)).collect();
    if !others.is_empty() {
        said.push(format!("{}.", others.join(", ")));
    }
    let all = units::counted(counts.files, "file", "files");
    if counts.intact > 0 && (counts.intact < counts.judged || counts.is_stopped) {
        let intact = units::count(counts.intact);
        said.push(format!("{intact} of {all} are exactly as recorded."));
    }
    if counts.protects && counts.is_stopped {
        let recorded = units::counted(counts.recorded, "file was", "files were");
        said.push(format!("{recorded} recorded until then. Begin it again to go on."));
    } else if counts.protects && counts.recorded == 0 && counts.kinds.is_empty() {
        said.push(format!("{all} recorded already."));
    } else if counts.recorded > 0 && counts.intact == 0 {
        said.push("A check says later whether they are still the same.".to_owned());
    }
    if counts.judged == 0 && counts.recorded == 0 && !counts.accepts && !counts.protects {
        said.push(match counts.is_stopped {
            true => "No file was compared until then: nothing new is known.".to_owned(),
            false => "None of these files is recorded yet.".to_owned(),
        });
    }
    let is_told = counts.kinds.keys().any(|kind| *kind != StateKind::New && !counts.accepts);
    if counts.is_doubtful && !is_told && counts.judged > 0 {
        said.push("Something on the way needs a look: the technical details say what.".to_owned());
    }
    if let new @ 1.. = counts.of(StateKind::New) {
        let new = units::counted(new, "file is", "files are");
        said.push(format!("{new} new, and not protected yet."));
    }
    said.join(" ")
}

/// The head of the page of a run that has ended.
pub(super) fn shown(view: &RunView<'_>, summary: &Summary) -> Markup {
    let run = view.run;
    let counts = ResultCounts::of_run(run.request.verb, summary);
    let said = sentence(&counts);
    html! {
        div .verdict {
            (disc(said.icon, &format!("{} big", said.class)))
            div {
                h1 { (said.title) }
                p .soft { (said.text) }
                div .row { (steps(view, &counts)) }
            }
        }
        (tiles(&counts))
        @if run.request.verb == RunVerb::Protect && !counts.is_stopped { (next(view)) }
    }
}

/// The fields of a check of what is open.
const ONLY_OPEN: [(&str, &str); 2] = [("verb", "check"), ("only", "open")];

/// The next sensible step, filled, and others.
fn steps(view: &RunView<'_>, counts: &ResultCounts) -> Markup {
    let run = view.run;
    let place = &run.request.place;
    let damaged = counts.of(StateKind::Damaged);
    let checks = matches!(run.request.verb, RunVerb::Check | RunVerb::Resume);
    let has_open = counts.kinds.keys().any(|kind| *kind != StateKind::New);
    let post = |action: &str, fields: &[(&str, &str)], main: bool, sign: &str, label: &str| {
        html! {
            form method="post" action=(action) {
                (view.visitor.csrf())
                input type="hidden" name="place" value=(place.token());
                @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
                button .main[main] type="submit" { (icon(sign)) (label) }
            }
        }
    };
    html! {
        @if damaged > 0 {
            @let files = units::counted(damaged, "damaged file", "damaged files");
            @let label = format!("Repair {files}…");
            (post("/repair", &[("kind", "damaged")], true, "repair", &label))
        }
        @if counts.is_stopped && checks && place.is_root() {
            (post("/runs", &[("verb", RunVerb::Resume.name())], damaged == 0, "play", "Go on"))
        }
        @if checks && counts.is_stopped { (again(view.visitor, run, "Begin again")) }
        @else if checks && place.is_root() && has_open {
            (post("/runs", &ONLY_OPEN, false, "checking", "Check these again"))
        }
        @else { (again(view.visitor, run, "Again")) }
    }
}

/// What to do after a folder was protected, if this server makes schedules and alerts.
fn next(view: &RunView<'_>) -> Markup {
    let place = &view.run.request.place;
    html! {
        @if view.offers_automation {
            section .panel aria-labelledby="next" {
                div .cap { h2 #next { "What next?" } }
                div .body.row {
                    (monthly(view.visitor, place))
                    a .button href=(format!("/folders/{}#schedule", place.root)) {
                        "Choose other times"
                    }
                    a .button href="/settings#alerts" { (icon("bell")) "Be told of damage" }
                }
            }
        }
    }
}

/// How many files there are of each kind that is not empty, and how many are intact.
pub(super) fn tiles(counts: &ResultCounts) -> Markup {
    let is_empty = counts.kinds.is_empty() && counts.recorded == 0 && counts.protects;
    html! {
        dl .tiles hidden[is_empty] {
            @for (kind, files) in &counts.kinds {
                @let (class, name) = kind.class_and_icon();
                div {
                    dt .(class) { (small_icon(name)) (kind.word()) }
                    dd { (units::count(*files)) }
                }
            }
            @if counts.recorded > 0 {
                div { dt .info { (small_icon("recorded")) "Recorded" }
                    dd { (units::count(counts.recorded)) } }
            }
            @if counts.intact > 0 || counts.recorded == 0 && !counts.protects {
                div {
                    dt .(if counts.intact > 0 { "good" } else { "soft" }) {
                        (small_icon("intact")) "Intact"
                    }
                    dd { (units::count(counts.intact)) }
                }
            }
        }
    }
}

fn all_intact(files: u64) -> String {
    match files {
        1 => "The file is exactly as recorded".to_owned(),
        files => format!("All {} files are exactly as recorded", units::count(files)),
    }
}
