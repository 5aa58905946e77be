//! The parts of the page of a run: rendered once for each snapshot. Figures, units and order
//! come from the report.

use std::collections::VecDeque;

use maud::{Markup, html};
use steadfast::qos::{self, Knowledge};
use steadfast::{Bound, Cost, FileEvent, Stage};
use steadfast_report::units::MomentWords;
use steadfast_report::view::known_of;
use steadfast_report::{Units, escape, progress, units};

use crate::kinds::StateKind;
use crate::live::{LiveStatus, stand};
use crate::pages::findings::{FindingPage, card};
use crate::pages::task;
use crate::runs::{CoreHistory, RunSnapshot};
use crate::words;

/// Width of the cost bar, and size of the graph of a processor, in units of their view boxes.
const WIDTH: f64 = 600.0;
const STRIP_WIDTH: f32 = 240.0;
const STRIP_HEIGHT: f32 = 36.0;

/// Seconds that a graph shows.
const STRIP_LEN: usize = 60;

/// Renders all parts of a snapshot.
pub(crate) fn parts(state: &RunSnapshot) -> Vec<(&'static str, Markup)> {
    vec![
        ("stand", stand(state.status, words::run_status(state.status))),
        ("bar", bar(state)),
        ("figures", figures(state)),
        ("found", found(state)),
        ("counts", counts(state)),
        ("cost", cost(&state.progress.cost)),
        ("cores", cores(&state.cores)),
        ("rows", rows(state)),
        ("say", announcement(state)),
    ]
}

/// How far it is: a figure, the time left, and a bar.
fn bar(state: &RunSnapshot) -> Markup {
    let share = progress::share(&state.progress);
    let elapsed_ns = state.progress.elapsed_ns;
    let begun = match elapsed_ns / 1_000_000_000 {
        0 => String::new(),
        _ => format!("Begun {} ago", units::rough_duration(elapsed_ns)),
    };
    match (progress::remaining_ns(&state.progress), share) {
        (Some(left_ns), _) => task::hero(share, &task::left(left_ns), &begun),
        (None, Some(_)) => task::hero(share, "The time left is not known yet", &begun),
        (None, None) => task::hero(None, "Counting files", &begun),
    }
}

fn figures(state: &RunSnapshot) -> Markup {
    let now = &state.progress;
    // Nothing holds back a paused run.
    let bound = now.bound.filter(|_| state.status != LiveStatus::Paused);
    html! {
        dl .tiles.flat {
            div { dt .soft { "Files" } dd {
                (units::count(now.files))
                @if let Some((files, _)) = now.total {
                    " " small { "of " (units::count(files)) }
                }
            } }
            div { dt .soft { "Read" } dd {
                (Units::Si.bytes(now.bytes))
                @if let Some((_, total)) = now.total {
                    " " small { "of " (Units::Si.bytes(total)) }
                }
            } }
            div { dt .soft { "Rate" } dd {
                @if now.elapsed_ns == 0 { "–" }
                @else { (Units::Si.rate(now.bytes, now.elapsed_ns)) }
            } }
            div { dt .soft { "Held back by" } dd { (bound.map_or("–", held_back_by)) } }
        }
    }
}

fn held_back_by(bound: Bound) -> &'static str {
    match bound {
        Bound::Storage => "the drive",
        Bound::RateLimit => "the speed chosen",
        Bound::Queue => "other programs",
        Bound::Hash => "the processor",
        Bound::Store => "writing",
        Bound::Walk | Bound::Open => "many small files",
        Bound::Read | Bound::Report => "reading",
    }
}

fn counts(state: &RunSnapshot) -> Markup {
    html! {
        dl .figures {
            @for (name, count) in &state.counts {
                div { dt { (name) } dd {
                    (units::count(*count))
                } }
            }
        }
    }
}

/// What is found so far, the worst first, as the result will show it.
fn found(state: &RunSnapshot) -> Markup {
    let troubles = || state.found.iter().filter(|(kind, _)| *kind != StateKind::New);
    let all: u64 = troubles().map(|(_, files)| files).sum();
    let counted: Vec<String> = troubles().map(|(kind, files)| kind.counted(*files)).collect();
    let is_bad = troubles().any(|(kind, _)| kind.class_and_icon().0 == "bad");
    let more = all.saturating_sub(state.worst.len() as u64);
    let now = (steadfast::Options::default().now)();
    let page = FindingPage { actor: None, shown: &state.base, now };
    html! {
        section .panel.group.attention[all > 0].mild[!is_bad] aria-labelledby="found" {
            div .cap { h2 #found { "Found so far" } span .small { (counted.join(", ")) } }
            @if state.worst.is_empty() { p .body.soft { "Nothing wrong so far." } }
            @for file in state.worst.iter() { (card(&page, file)) }
            @if more > 0 {
                p .more { "and " (units::count(more)) " more, in the result once it has ended" }
            }
        }
    }
}

/// Returns a path relative to that of the run, or the whole path if both are the same.
fn short<'a>(path: &'a str, base: &str) -> &'a str {
    let below = path.strip_prefix(base).and_then(|below| below.strip_prefix('/'));
    below.filter(|below| !below.is_empty()).unwrap_or(path)
}

/// The time of the hashing threads by stage, as one bar and in text.
fn cost(cost: &Cost) -> Markup {
    let stages = Stage::ALL.into_iter().filter(|&stage| cost.elapsed_ns(stage) > 0);
    let stages: Vec<(Stage, f64)> = stages.map(|stage| (stage, cost.share(stage))).collect();
    let mut at = 0.0;
    let mut spans = Vec::new();
    for &(stage, share) in &stages {
        spans.push((stage, at * WIDTH, share * WIDTH));
        at += share;
    }
    html! {
        @if stages.is_empty() {
            p .soft { "–" }
        } @else {
            svg .cost viewBox=(format!("0 0 {WIDTH} 24")) preserveAspectRatio="none"
                aria-hidden="true" {
                @for (stage, x, width) in spans {
                    rect .(ink(stage)) x=(format!("{x:.1}")) y="0"
                        width=(format!("{width:.1}")) height="24" {}
                }
            }
            ul .legend {
                @for (stage, share) in stages {
                    li {
                        svg .dot viewBox="0 0 10 10" aria-hidden="true" {
                            rect .(ink(stage)) width="10" height="10" {}
                        }
                        (stage.name()) " " (units::percent(share))
                    }
                }
            }
            p .soft { "Time of the hashing threads by stage." }
        }
    }
}

/// Returns the class with the colour of a stage, the same as in charts.
fn ink(stage: Stage) -> String {
    let place = Stage::BUSY.iter().position(|one| *one == stage);
    place.map_or("ink-wait".to_owned(), |place| format!("ink-{}", place + 1))
}

/// The load of each processor in the last minute, by core type if known.
fn cores(history: &CoreHistory) -> Markup {
    let known = qos::cores();
    let classes: Vec<(String, Vec<usize>)> = match known.knowledge {
        Knowledge::Types => {
            known.classes.iter().map(|class| (class.name.clone(), class.cpus.clone())).collect()
        }
        knowledge => {
            let name = match knowledge {
                Knowledge::OneType => "all of one type",
                Knowledge::VirtualMachine => "a virtual machine: core types not known",
                _ => "core types not known",
            };
            vec![(name.to_owned(), history.shares.keys().copied().collect())]
        }
    };
    html! {
        @if history.shares.is_empty() {
            p .soft { "The system does not report the load of processors." }
        } @else {
            @for (name, cpus) in &classes {
                p .soft { (name) }
                ul .cores {
                    @for cpu in cpus.iter().filter(|cpu| history.shares.contains_key(cpu)) {
                        (core(*cpu, &history.shares[cpu]))
                    }
                }
            }
        }
    }
}

fn core(cpu: usize, shares: &VecDeque<f32>) -> Markup {
    let step = STRIP_WIDTH / (STRIP_LEN - 1) as f32;
    let first = STRIP_LEN - shares.len();
    let mut path = String::new();
    for (at, share) in shares.iter().enumerate() {
        let (x, y) = ((first + at) as f32 * step, (1.0 - share) * STRIP_HEIGHT);
        let to = if at == 0 { 'M' } else { 'L' };
        path.push_str(&format!("{to}{x:.0} {y:.0}"));
    }
    let area = format!(
        "{path}L{STRIP_WIDTH:.0} {STRIP_HEIGHT:.0}L{:.0} {STRIP_HEIGHT:.0}Z",
        first as f32 * step
    );
    let now = shares.back().copied().unwrap_or(0.0);
    html! {
        li {
            svg .strip viewBox=(format!("0 0 {STRIP_WIDTH} {STRIP_HEIGHT}"))
                preserveAspectRatio="none" aria-hidden="true" {
                path .area d=(area) {}
                path .line d=(path) {}
            }
            span { "processor " (cpu) " " (units::percent(f64::from(now))) }
        }
    }
}

/// The latest files, with the details that `--verbose` prints.
fn rows(state: &RunSnapshot) -> Markup {
    html! {
        div .scroll tabindex="0" role="group" aria-labelledby="rows" {
            table .rows {
                thead { tr {
                    th scope="col" { "Path" }
                    th scope="col" { "Verdict" }
                    th .number scope="col" { "Read" }
                    th .number scope="col" { "Time" }
                    th .number scope="col" { "Rate" }
                } }
                tbody {
                    @for event in &state.files { (row_of(event, &state.base)) }
                }
            }
        }
    }
}

fn row_of(event: &FileEvent, base: &str) -> Markup {
    let path = escape::path(&event.path.to_path());
    let name = event.action.map(|action| action.name());
    let name = name.or_else(|| event.verdict.map(|verdict| verdict.name())).unwrap_or("no tag");
    let read = event.actual.is_some() && !event.reading.linked;
    let known = known_of(event, ToString::to_string, MomentWords::default());
    html! {
        tr {
            th .long scope="row" title=(path) { (short(&path, base)) }
            td title=(known.join("; ")) { (name) }
            @if read {
                td .number { (Units::Si.bytes(event.reading.bytes)) }
                td .number { (units::duration(event.reading.elapsed_ns)) }
                td .number { (Units::Si.rate(event.reading.bytes, event.reading.elapsed_ns)) }
            } @else {
                td {} td {} td {}
            }
        }
    }
}

/// Returns what screen readers announce: every tenth of the way, and the number of findings.
fn announcement(state: &RunSnapshot) -> Markup {
    let tenths = progress::share(&state.progress).map(|share| (share * 10.0).floor() / 10.0);
    let troubles = state.found.iter().filter(|(kind, _)| *kind != StateKind::New);
    let found: u64 = troubles.map(|(_, files)| files).sum();
    html! {
        @match (state.status, tenths) {
            (LiveStatus::Running, Some(share)) => (spoken_progress(&units::percent(share), found)),
            (status, _) => (words::run_status(status)),
        }
    }
}

fn spoken_progress(done: &str, found: u64) -> String {
    match found {
        0 => format!("{done}; no problem so far"),
        found => format!("{done}; {} found", units::counted(found, "problem", "problems")),
    }
}
