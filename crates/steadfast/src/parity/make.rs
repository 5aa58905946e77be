//! Makes parity: what is tagged and not yet protected is read once, held to its tag, and encoded.
//!
//! A set stays as long as its files have their tags. Files of sets that do not stay, and new ones,
//! go into new sets. An old set goes after the new ones are on the medium, and only if each of its
//! files is proved whole under another set (`superseded.rs`). A file that was renamed costs no
//! reading: its set is written anew with the other path.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use steadfast_parity::SetPlanner;

use super::earlier::keep_time;
use super::encode::{MakerLimits, MakerTask, SetMaker};
use super::folder::ParityFolder;
use super::forgetting::{Forgetting, ForgottenMissing};
use super::known::CataloguedFiles;
use super::made::{ParityMade, ParityMonitor, ParityOptions};
use super::place::{ParityPlace, system};
use super::review::{Review, ReviewRule};
use super::scope::ParityScope;
use crate::beneath::presence;
use crate::error::Error;
use crate::event::Notice;
use crate::monitor::{Event, Monitor, Progress};
use crate::run::Verb;
use crate::selection::Selection;
use crate::unguarded::run;

/// Over how many sets a large file is dealt out at most. Each takes 8 MiB of memory.
const INTERLEAVED: u16 = 4;

/// Makes the parity of a tree. Sets that are there are read, and made anew if they are damaged or
/// their files changed.
///
/// # Errors
/// If the tree cannot be walked or the parity cannot be written.
pub fn make_parity(
    place: &ParityPlace,
    options: &ParityOptions,
    monitor: &mut dyn ParityMonitor,
) -> Result<ParityMade, Error> {
    let folder = ParityFolder::make(place)?;
    let extent = UpdateExtent { proves: true, scope: None };
    bring_up_to_date(place, &folder, options, extent, missing_of(options), monitor)
}

/// Makes parity for what is new or changed since it was made. Sets that are there are looked at and
/// not read, apart from their indices.
///
/// # Errors
/// As [`make_parity`]; also if there is no parity.
pub fn update_parity(
    place: &ParityPlace,
    options: &ParityOptions,
    monitor: &mut dyn ParityMonitor,
) -> Result<ParityMade, Error> {
    let folder = ParityFolder::open_to_change(place)?;
    let extent = UpdateExtent { proves: false, scope: None };
    bring_up_to_date(place, &folder, options, extent, missing_of(options), monitor)
}

/// Makes parity for what is new or changed in a part of a tree; in all of it if the parity was away
/// when tags were written.
///
/// # Errors
/// As [`update_parity`].
pub(super) fn update_part(
    place: &ParityPlace,
    scope: &ParityScope,
    options: &ParityOptions,
    missing: ForgottenMissing,
    monitor: &mut dyn ParityMonitor,
) -> Result<ParityMade, Error> {
    let folder = ParityFolder::open_to_change(place)?;
    // What was tagged without the parity is anywhere in the tree.
    let scope = Some(scope).filter(|_| !place.is_behind());
    let extent = UpdateExtent { proves: false, scope };
    bring_up_to_date(place, &folder, options, extent, missing, monitor)
}

/// Returns which missing files are let go of if no catalogue was asked.
fn missing_of(options: &ParityOptions) -> ForgottenMissing {
    match options.forget_missing {
        true => ForgottenMissing::All,
        false => ForgottenMissing::None,
    }
}

/// How much is looked at.
#[derive(Clone, Copy)]
struct UpdateExtent<'a> {
    /// Whether the parity that is there is read.
    proves: bool,
    /// The part of the tree; `None` for all of it.
    scope: Option<&'a ParityScope>,
}

fn bring_up_to_date(
    place: &ParityPlace,
    folder: &ParityFolder,
    options: &ParityOptions,
    extent: UpdateExtent<'_>,
    missing: ForgottenMissing,
    monitor: &mut dyn ParityMonitor,
) -> Result<ParityMade, Error> {
    let begun = Instant::now();
    let limits = MakerLimits { begun, deadline: options.max_time.map(|time| begun + time) };
    let _lock = folder.lock(place)?;
    folder.remove_drafts(place).map_err(|error| system("remove old drafts", error, place))?;
    for text in folder.remember(place)? {
        monitor.notice(Notice::new(text).at(&place.folder()));
    }
    let keep_earlier = keep_time(folder, options.keep_earlier)
        .map_err(|error| system("record how long earlier sets are kept", error, place))?;
    let known = CataloguedFiles::of(place, &options.run)?;
    let forgetting =
        Forgetting { root: place.root().to_owned(), missing, named: options.forget.clone() };
    let rule = ReviewRule {
        redundancy: options.redundancy,
        proves: extent.proves,
        forgetting: &forgetting,
        known: &known,
        scope: extent.scope,
    };
    let review = Review::of(place, folder, rule, &options.run.controls.stop)?;
    let stale_paths = review.paths_outside(extent.scope, folder);
    let (forgetting, known) = (&forgetting, &known);
    let proves = extent.proves;
    let task =
        MakerTask { place, folder, options, forgetting, known, keep_earlier, proves, limits };
    let mut maker = SetMaker::new(task, review, monitor);
    let mut planner = SetPlanner::new(maker.redundancy(), INTERLEAVED);
    let selection = match extent.scope {
        None => Selection::of([place.root()]),
        Some(scope) => scope.selection(),
    };
    walk(&selection, &mut maker, &mut planner)?;
    // What is gone is known from the review.
    let listed = stale_paths.into_iter().filter(|path| !presence(place.root(), path).is_lost());
    let listed: Vec<PathBuf> = listed.map(|path| place.root().join(path)).collect();
    if !listed.is_empty() {
        let within = vec![place.root().to_owned()];
        walk(&Selection { listed, within, ..Selection::default() }, &mut maker, &mut planner)?;
    }
    let made = maker.end(planner)?;
    if extent.scope.is_none() && !made.interrupted && !made.time_up {
        place
            .unmark_behind()
            .map_err(|error| system("note that it is up to date", error, place))?;
    }
    Ok(made)
}

/// Gives the files of a selection to the maker.
fn walk(
    selection: &Selection,
    maker: &mut SetMaker<'_>,
    planner: &mut SetPlanner,
) -> Result<(), Error> {
    let options = maker.walk_options();
    let mut walk = MakerWalk { maker, planner, outcome: Ok(()) };
    // What the walk did not reach because it was ended, the maker knows.
    let _ = run(Verb::Show, selection, &options, &mut walk)?;
    walk.outcome
}

/// Listens to a walk for a maker.
struct MakerWalk<'w, 'a> {
    maker: &'w mut SetMaker<'a>,
    planner: &'w mut SetPlanner,
    outcome: Result<(), Error>,
}

impl Monitor for MakerWalk<'_, '_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let Event::File(file) = event else { return ControlFlow::Continue(()) };
        if self.outcome.is_ok() {
            self.outcome = self.maker.encode_found(file, self.planner);
        }
        match self.outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    fn progress(&mut self, _progress: &Progress) {
        self.maker.look_up();
    }
}
