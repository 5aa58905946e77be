//! Runs a verb, and then keeps parity true for what the verb was about.
//!
//! Input: a verb that writes tags, and its selection. Output: the summary of its run, with the
//! parity of the trees at or above the selection brought up to date in that part.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::made::ParityOptions;
use super::make::update_part;
use super::place::ParityPlace;
use super::recorded::ReleasedMissing;
use super::scope::ParityScope;
use crate::advice::Advice;
use crate::beneath;
use crate::error::Error;
use crate::event::Notice;
use crate::exit_status::ExitStatus;
use crate::monitor::{Event, Monitor, Overheard, Summary};
use crate::run::{Options, Verb};
use crate::selection::Selection;

/// Executes a verb by `run`. If it writes tags in a tree that has parity, the parity of the
/// selected files is brought up to date afterwards.
///
/// # Errors
/// Those of `run`. What goes wrong with the parity is in a notice and in the summary's exit status.
pub(crate) fn run_with_parity(
    verb: Verb,
    selection: &Selection,
    options: &Options,
    monitor: &mut dyn Monitor,
    run: impl FnOnce(&mut dyn Monitor) -> Result<Summary, Error>,
) -> Result<Summary, Error> {
    let mut summary = run(monitor)?;
    let writes = matches!(
        verb,
        Verb::Init(_) | Verb::Tag(_) | Verb::Update(_) | Verb::Retag(_) | Verb::Import
    );
    if options.dry_run || summary.interrupted || !(writes || verb == Verb::Untag) {
        return Ok(summary);
    }
    let mut passed: Vec<Notice> = Vec::new();
    let (trees, faults) = trees_of(selection, &mut |notice| {
        if !passed.contains(&notice) {
            passed.push(notice);
        }
    });
    passed.into_iter().for_each(|notice| monitor.notice(notice));
    faults.into_iter().for_each(|fault| fail(fault, &mut summary, monitor));
    for (place, paths) in trees {
        if verb == Verb::Untag {
            let notice = Notice::new("parity still protects the files as they were tagged");
            let notice = notice.advise(Advice::ForgetInParity).at(&place.folder());
            monitor.notice(notice);
            continue;
        }
        if place.is_away() {
            report_away(&place, &mut summary, monitor);
            continue;
        }
        let scope = ParityScope::new(place.root(), paths);
        let missing = match verb.accepts_missing() {
            true => ReleasedMissing::AcceptedOrAll,
            false => ReleasedMissing::Accepted,
        };
        let options = ParityOptions {
            run: Options { allow_empty: true, trace: None, ..options.clone() },
            ..ParityOptions::default()
        };
        let made = update_part(
            &place,
            Some(&scope),
            &options,
            missing,
            &mut Overheard::new(monitor, |_: &Event| ()),
        );
        match made {
            Ok(made) => {
                summary.interrupted |= made.interrupted;
                summary.raise_status(made.status);
            }
            Err(error) => fail(not_updated(&error), &mut summary, monitor),
        }
    }
    Ok(summary)
}

/// Says that the parity of a tree is away, and marks that it does not follow the tags.
fn report_away(place: &ParityPlace, summary: &mut Summary, monitor: &mut dyn Monitor) {
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

/// Trees with parity, each with the real paths that are selected in it.
type SelectedTrees = Vec<(ParityPlace, Vec<PathBuf>)>;

/// Returns the trees with parity that a selection is in, and why that cannot be determined of
/// others. `pass` hears of parity above them that is not used.
fn trees_of(selection: &Selection, pass: &mut dyn FnMut(Notice)) -> (SelectedTrees, Vec<Notice>) {
    let mut trees: BTreeMap<PathBuf, (ParityPlace, Vec<PathBuf>)> = BTreeMap::new();
    let mut faults = Vec::new();
    // Files in one folder have one tree.
    let mut last: Option<(PathBuf, Option<ParityPlace>)> = None;
    for path in selection.roots.iter().chain(&selection.listed) {
        let Some(real) = real_path(path) else { continue };
        let folder = if beneath::is_folder(&real) { &real } else { parent_of(&real) };
        if last.as_ref().is_none_or(|(of, _)| of != folder) {
            let place = ParityPlace::find(folder, folder, pass).unwrap_or_else(|error| {
                let fault = not_updated(&error);
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
                None
            });
            last = Some((folder.to_owned(), place));
        }
        if let Some((_, Some(place))) = &last {
            let tree = trees.entry(place.root().to_owned());
            tree.or_insert_with(|| (place.clone(), Vec::new())).1.push(real);
        }
    }
    (trees.into_values().collect(), faults)
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
