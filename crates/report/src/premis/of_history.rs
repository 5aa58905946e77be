//! Writes the history of one file as a PREMIS document.

use std::path::Path;

use steadfast::Timestamp;
use steadfast::catalogue::{FileHistoryEvent, History, HistoryRun};

use super::{PremisEvents, PremisHappening, PremisObjects};
use crate::history::{tags_after, verdict_of};

/// Appends the whole document of one file of the tree at `root`.
pub fn write_premis(root: &Path, history: &History, out: &mut Vec<u8>) {
    let mut objects = PremisObjects::begin(root, out);
    let last_known = || history.runs.iter().rev().find_map(last_tag);
    let tag = match &history.now {
        Some(look) => look.tag,
        None => last_known(),
    };
    let length = match (&tag, &history.now) {
        (Some(tag), _) => Some(tag.length),
        (None, Some(look)) => Some(look.facts.length),
        (None, None) => None,
    };
    objects.file(&history.path, tag.as_ref(), length, out);
    let mut events = objects.events();
    for run in &history.runs {
        write_run(&history.path, run, &mut events, out);
    }
    events.end(out);
}

/// The tag after a run, or the last one that the run removed.
fn last_tag(run: &HistoryRun) -> Option<steadfast::Tag> {
    run.tag.or_else(|| run.happened.iter().rev().find_map(|happened| happened.before))
}

fn write_run(path: &Path, run: &HistoryRun, events: &mut PremisEvents, out: &mut Vec<u8>) {
    for (happened, after) in run.happened.iter().zip(tags_after(run)) {
        let before = happened.before.as_ref();
        match (happened.what, &after, &happened.other) {
            (FileHistoryEvent::Tagged | FileHistoryEvent::Retagged, Some(tag), _) => {
                let before = before.filter(|before| !before.same_contents(tag));
                let happening = PremisHappening::DigestCalculation { tag, before };
                events.event(path, &run.run, happened.at, happening, out);
            }
            (FileHistoryEvent::Repaired, _, _) => {
                let happening = PremisHappening::Recovery { sources: &happened.sources };
                events.event(path, &run.run, happened.at, happening, out);
            }
            (FileHistoryEvent::MovedFrom, _, Some(from)) => {
                let happening = PremisHappening::FilenameChange { from };
                events.event(path, &run.run, happened.at, happening, out);
            }
            _ => {}
        }
    }
    // Without a tag, no check was possible.
    if verdict_of(run).is_some() && run.tag.is_some() {
        let happening = PremisHappening::FixityCheck { standing: run.standing };
        events.event(path, &run.run, judged_at(run), happening, out);
    }
}

/// When a file was judged: the catalogue has the time if the state changed. Otherwise the start of
/// the run is used, which is the earliest possible time.
fn judged_at(run: &HistoryRun) -> Timestamp {
    let told = run
        .happened
        .iter()
        .rev()
        .find(|happened| happened.standing == run.standing && happened.what.is_state());
    told.map_or(run.run.started, |happened| happened.at)
}
