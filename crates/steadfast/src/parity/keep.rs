//! Runs a verb, and then keeps parity true for what the verb was about.
//!
//! Input: a verb that writes tags, and its selection. Output: the summary of its run, with the
//! parity of the trees at or above the selection brought up to date in that part.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::forgetting::ForgottenMissing;
use super::made::{NotProtected, ParityMade, ParityMonitor, ParityOptions};
use super::make::update_part;
use super::member::PathSet;
use super::place::ParityPlace;
use super::scope::ParityScope;
use crate::advice::Advice;
use crate::catalogue::{Catalogue, real_of};
use crate::error::Error;
use crate::event::{FileEvent, Notice};
use crate::exit_status::ExitStatus;
use crate::finding::Finding;
use crate::monitor::{Event, Monitor, Overheard, Progress, Summary};
use crate::run::{CatalogueUse, Options, Verb};
use crate::selection::Selection;
use crate::verdict::Verdict;

/// Executes a verb by `run`. If it writes tags in a tree that has parity, the parity of the
/// selected files is brought up to date afterwards.
///
/// # Errors
/// Those of `run`. What goes wrong with the parity is in a notice and in the summary's exit status.
pub(crate) fn run_and_keep(
    verb: Verb,
    selection: &Selection,
    options: &Options,
    monitor: &mut dyn Monitor,
    run: impl FnOnce(&mut dyn Monitor) -> Result<Summary, Error>,
) -> Result<Summary, Error> {
    // The missing files that a catalogue lets go of, by their real paths. Files on a volume that is
    // not mounted are not among them.
    let mut accepted = is_catalogued(selection, options).then(PathSet::default);
    let mut summary = run(&mut Overheard::new(monitor, |event| {
        if let (Some(paths), Event::Finding(found)) = (&mut accepted, event)
            && matches!(found.finding, Finding::Missing { accepted: true, .. })
            && let Some(real) = real_of(&found.path)
        {
            paths.insert(&real);
        }
    }))?;
    let accepted = accepted.map(Arc::new);
    let writes = matches!(
        verb,
        Verb::Init(_) | Verb::Tag(_) | Verb::Update(_) | Verb::Retag(_) | Verb::Import
    );
    if options.dry_run || summary.interrupted || !(writes || verb == Verb::Untag) {
        return Ok(summary);
    }
    let KeptTrees { trees, faults, passed } = trees_of(selection);
    passed.into_iter().for_each(|notice| monitor.notice(notice));
    for fault in faults {
        fail(fault, &mut summary, monitor);
    }
    for (place, paths) in trees {
        if verb == Verb::Untag {
            let notice = Notice::new("parity still protects the files as they were tagged");
            let notice = notice.advise(Advice::ForgetInParity).at(&place.folder());
            monitor.notice(notice);
            continue;
        }
        if place.is_away() {
            note_away(&place, &mut summary, monitor);
            continue;
        }
        let scope = ParityScope::new(place.root(), paths);
        let missing = match (verb.accepts_missing(), &accepted) {
            (false, _) => ForgottenMissing::None,
            (true, Some(paths)) => ForgottenMissing::Accepted(Arc::clone(paths)),
            (true, None) => ForgottenMissing::All,
        };
        let options = ParityOptions {
            run: Options { allow_empty: true, trace: None, ..options.clone() },
            ..ParityOptions::default()
        };
        let made = update_part(&place, &scope, &options, missing, &mut KeepMonitor { monitor });
        match made {
            Ok(made) => add(&made, &mut summary),
            Err(error) => fail(not_updated(&error), &mut summary, monitor),
        }
    }
    Ok(summary)
}

/// Says that the parity of a tree is away, and marks that it does not follow the tags.
fn note_away(place: &ParityPlace, summary: &mut Summary, monitor: &mut dyn Monitor) {
    let folder = place.folder();
    if let Err(error) = place.mark_behind() {
        let text = "the parity in it is not there, and the tree cannot be marked";
        let notice = Notice::failure(format!("{text}: {error}.")).advise(Advice::UpdateParity);
        return fail(notice.at(&folder), summary, monitor);
    }
    let text = "the parity of this tree is not there (is its disk mounted?) and has not followed \
                the tags: the next update brings it up to date when it is there";
    monitor.notice(Notice::new(text).at(&folder));
}

fn not_updated(error: &Error) -> Notice {
    let notice = Notice::of(error);
    Notice { text: format!("the parity was not brought up to date: {}", notice.text), ..notice }
}

fn fail(notice: Notice, summary: &mut Summary, monitor: &mut dyn Monitor) {
    monitor.notice(notice);
    summary.raise_status(ExitStatus::Undetermined);
}

/// The trees with parity that a selection is in.
struct KeptTrees {
    /// Each with the real paths that are selected in it.
    trees: Vec<(ParityPlace, Vec<PathBuf>)>,
    /// Why it cannot be told of others where their parity is.
    faults: Vec<Notice>,
    /// What is said of parity above them that is not used.
    passed: Vec<Notice>,
}

fn trees_of(selection: &Selection) -> KeptTrees {
    let mut trees: BTreeMap<PathBuf, (ParityPlace, Vec<PathBuf>)> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut passed: Vec<Notice> = Vec::new();
    let mut pass = |notice: Notice| {
        if !passed.contains(&notice) {
            passed.push(notice);
        }
    };
    // Files in one folder have one tree.
    let mut last: Option<(PathBuf, Option<ParityPlace>)> = None;
    for path in selection.roots.iter().chain(&selection.listed) {
        let Some(real) = real_path(path) else { continue };
        let folder = if real.is_dir() { real.clone() } else { parent_of(&real).to_owned() };
        let place = match &last {
            Some((of, place)) if *of == folder => place.clone(),
            _ => ParityPlace::find(&folder, &folder, &mut pass).unwrap_or_else(|error| {
                let fault = not_updated(&error);
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
                None
            }),
        };
        last = Some((folder, place.clone()));
        if let Some(place) = place {
            let tree = trees.entry(place.root().to_owned()).or_insert((place, Vec::new()));
            tree.1.push(real);
        }
    }
    KeptTrees { trees: trees.into_values().collect(), faults, passed }
}

/// Returns a path without links; also of a file that is gone.
fn real_path(path: &Path) -> Option<PathBuf> {
    path.canonicalize()
        .ok()
        .or_else(|| Some(parent_of(path).canonicalize().ok()?.join(path.file_name()?)))
}

fn parent_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

fn add(made: &ParityMade, summary: &mut Summary) {
    summary.interrupted |= made.interrupted;
    summary.raise_status(made.status);
}

/// Returns whether a run over a selection has a catalogue.
fn is_catalogued(selection: &Selection, options: &Options) -> bool {
    let has_catalogue =
        |path: &PathBuf| real_of(path).is_some_and(|real| Catalogue::find(&real).is_some());
    match options.catalogue.choice {
        CatalogueUse::Off => false,
        CatalogueUse::At(_) => true,
        CatalogueUse::Nearest => selection.roots.iter().chain(&selection.listed).any(has_catalogue),
    }
}

/// Passes on what is said of parity as notices of the run.
struct KeepMonitor<'a> {
    monitor: &'a mut dyn Monitor,
}

impl Monitor for KeepMonitor<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        self.monitor.event(event)
    }

    fn found_early(&mut self, event: &FileEvent) {
        self.monitor.found_early(event);
    }

    fn progress(&mut self, progress: &Progress) {
        self.monitor.progress(progress);
    }
}

impl ParityMonitor for KeepMonitor<'_> {
    fn not_protected(&mut self, file: &NotProtected) {
        let notice = match (&file.trouble, file.verdict) {
            (Some(trouble), _) => Notice::failure(format!("not protected by parity: {trouble}")),
            (None, Verdict::Missing) => Notice::failure("gone").advise(Advice::RestoreOrForget),
            (None, verdict) => Notice::failure(format!("not protected by parity: {verdict}")),
        };
        self.monitor.notice(notice.at(&file.path));
    }
}
