//! Makes parity: what is tagged and not yet protected is read once, compared with its tag, and
//! encoded.
//!
//! A set stays as long as its files have their tags. Files of sets that do not stay, and new ones,
//! go into new sets. An old set is removed after the new ones are on the medium, and only if it is
//! not needed (`needed.rs`). A file that was renamed costs no reading: its set is written anew with
//! the other path.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use steadfast_parity::SetPlanner;

use super::earlier::keep_time;
use super::encode::SetMaker;
use super::folder::ParityFolder;
use super::made::{ParityMade, ParityMonitor, ParityOptions};
use super::place::{ParityPlace, system};
use super::recorded::{ReleasedMissing, TreeRecords};
use super::review::{ParityTask, Review};
use super::scope::ParityScope;
use crate::beneath::presence;
use crate::error::Error;
use crate::event::Notice;
use crate::exit_status::ExitStatus;
use crate::monitor::{Event, Monitor, Progress};
use crate::run::{Options, Verb};
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
    let missing = ReleasedMissing::by(options);
    let records = TreeRecords::open(place, (&options.run, place.root()), missing, &options.forget)?;
    bring_up_to_date((place, &folder, &records), options, true, None, monitor)
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
    update_part(place, None, options, ReleasedMissing::by(options), monitor)
}

/// Makes parity for what is new or changed in a part of a tree; in all of it if the parity was away
/// when tags were written.
///
/// # Errors
/// As [`update_parity`].
pub(super) fn update_part(
    place: &ParityPlace,
    scope: Option<&ParityScope>,
    options: &ParityOptions,
    missing: ReleasedMissing,
    monitor: &mut dyn ParityMonitor,
) -> Result<ParityMade, Error> {
    let folder = ParityFolder::open_to_change(place)?;
    let path = scope.map_or_else(|| place.root().to_owned(), ParityScope::first);
    let records = TreeRecords::open(place, (&options.run, &path), missing, &options.forget)?;
    // What was tagged without the parity is anywhere in the tree.
    let scope = scope.filter(|_| !place.is_behind());
    bring_up_to_date((place, &folder, &records), options, false, scope, monitor)
}

impl ReleasedMissing {
    fn by(options: &ParityOptions) -> ReleasedMissing {
        match options.forget_missing {
            true => ReleasedMissing::All,
            false => ReleasedMissing::Accepted,
        }
    }
}

fn bring_up_to_date(
    (place, folder, records): (&ParityPlace, &ParityFolder, &TreeRecords<'_>),
    options: &ParityOptions,
    proves: bool,
    scope: Option<&ParityScope>,
    monitor: &mut dyn ParityMonitor,
) -> Result<ParityMade, Error> {
    let begun = Instant::now();
    let failed = |what: &'static str| move |error| system(what, error, place);
    let _lock = folder.lock(place)?;
    place.remove_drafts(&folder.dir).map_err(failed("remove old drafts"))?;
    for text in place.remember(&folder.dir)? {
        monitor.notice(Notice::new(text).at(&place.folder()));
    }
    let keep_earlier = keep_time(folder, options.keep_earlier)
        .map_err(failed("record how long earlier sets are kept"))?;
    let task = ParityTask { place, folder, options, records, scope, keep_earlier, proves, begun };
    let review = Review::of(&task)?;
    // What is gone is known from the review.
    let outside = review.paths_outside(&task).into_iter();
    let outside = outside.filter(|path| !presence(place.root(), path).is_lost());
    let listed: Vec<PathBuf> = outside.map(|path| place.root().join(path)).collect();
    let roots = scope.map_or_else(|| vec![place.root().to_owned()], ParityScope::roots);
    let within = if listed.is_empty() { Vec::new() } else { vec![place.root().to_owned()] };
    let selection = Selection { roots, listed, within, ..Selection::default() };
    let mut maker = SetMaker::new(task, review, monitor);
    let mut planner = SetPlanner::new(maker.origin.redundancy, INTERLEAVED);
    let walked = maker.walk_options();
    let mut walk = MakerWalk { maker: &mut maker, planner: &mut planner, outcome: Ok(()) };
    // What the walk did not reach because it was ended, the maker knows.
    let _ = run(Verb::Show, &selection, &walked, &mut walk)?;
    walk.outcome?;
    let mut made = maker.end(planner)?;
    record_failed(place, &options.run, &mut made, monitor);
    if scope.is_none() && !made.interrupted && !made.time_up {
        place.unmark_behind().map_err(failed("note that it is up to date"))?;
    }
    Ok(made)
}

/// Checks files that were found damaged, which the catalogue then knows: whoever asks how the
/// folder is must hear of it, whichever step found it.
fn record_failed(
    place: &ParityPlace,
    options: &Options,
    made: &mut ParityMade,
    monitor: &mut dyn ParityMonitor,
) {
    if made.failed.is_empty() || made.interrupted || options.dry_run {
        return;
    }
    let selection = Selection::default().with(|selection| {
        selection.listed = made.failed.iter().map(|path| place.root().join(path)).collect();
        selection.within = vec![place.root().to_owned()];
    });
    let options = Options { allow_empty: true, survey: false, trace: None, ..options.clone() };
    // They are reported already.
    let checked = run(Verb::check(), &selection, &options, &mut |_: &Event| ());
    let status = match checked {
        Ok(summary) => summary.exit_status(),
        Err(error) => {
            let notice = Notice::of(&error);
            let text = format!("what is damaged could not be recorded: {}", notice.text);
            monitor.notice(Notice { text, ..notice });
            ExitStatus::Undetermined
        }
    };
    made.status.raise(status);
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
        self.maker.report_progress();
    }
}
