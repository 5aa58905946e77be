//! What is wrong with the folder of a schedule now, and the alerts about it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use steadfast::catalogue::{Catalogue, CataloguedTree};
use steadfast::{FileState, FolderState, age_s};
use steadfast_report::status::DriveFacts;
use steadfast_watch::{AlertFacts, CheckSchedule, Memory, Trouble};

use super::{alert, tree_status};
use crate::exit;
use crate::state_folder;

/// The states of a folder, beside those of its files and "overdue".
const NOT_STARTED: &str = "not started";
const UNMOUNTED: &str = "unmounted";
const UNKNOWN: &str = "unknown";
const MASS_CHANGE: &str = "mass change";
const FAILED: &str = "failed";

/// Sends the alerts of schedules that nothing runs now, such as of one whose timer does not work.
/// Returns whether all could be judged.
pub(crate) fn look_after<'a>(
    schedules: impl IntoIterator<Item = &'a CheckSchedule>,
    now_s: i64,
) -> bool {
    let look = |schedule: &CheckSchedule| -> anyhow::Result<()> {
        // A run in progress sends its own.
        match tree_status::journal(schedule)?.lock()? {
            Some(_lock) => tell(schedule, AlertFacts::default(), None, now_s),
            None => Ok(()),
        }
    };
    let mut all = true;
    for schedule in schedules {
        if let Err(error) = look(schedule) {
            exit::complain(&format!("schedule `{}`: {}", schedule.name, exit::words(&error)));
            all = false;
        }
    }
    all
}

/// Compares open trouble with what was told, and sends the news. `missing` are the files that a run
/// just found gone beside those of the catalogue; `None` if nothing looked.
pub(super) fn tell(
    schedule: &CheckSchedule,
    facts: AlertFacts,
    missing: Option<&[PathBuf]>,
    now_s: i64,
) -> anyhow::Result<()> {
    let alerts = alert::list()?;
    let Some(folder) = state_folder::folder() else { return Ok(()) };
    let file = folder.join("alerts").join(format!("{}.json", schedule.name));
    let mut memory = Memory::read(&file);
    let (mut open, is_judged) = open_troubles(schedule, now_s)?;
    open.extend(facts.alarm.iter().map(|_| of_folder(MASS_CHANGE)));
    open.extend(facts.failure.iter().map(|_| of_folder(FAILED)));
    open.extend(missing.unwrap_or_default().iter().map(|path| Trouble {
        state: FileState::Missing.name().to_owned(),
        path: path.to_string_lossy().into_owned(),
    }));
    // What could not be looked at now is not settled.
    let stays = |trouble: &&Trouble| match trouble.state.as_str() {
        NOT_STARTED | UNMOUNTED | UNKNOWN => false,
        MASS_CHANGE | FAILED => facts.status.is_none(),
        // The catalogue does not have all of them.
        state if state == FileState::Missing.name() => missing.is_none(),
        _ => !is_judged,
    };
    open.extend(memory.told().iter().filter(stays).cloned());
    let news = memory.news(&open, now_s);
    let directory = schedule.directory.display().to_string();
    let mut facts =
        AlertFacts { command: format!("steadfast status {directory}"), directory, ..facts };
    if is_judged && news.is_due() && news.open_count() > 0 {
        let drives = tree_status::drives(&schedule.directory);
        facts.drives = drives.iter().flat_map(DriveFacts::lines).collect();
    }
    let deliveries = alert::sender().end(alerts.alerts(), &facts, &news);
    // A message that did not arrive is sent again at the next run.
    if alert::report(&deliveries) && news.is_due() {
        memory.tell(&open, now_s);
        memory.write(&file)?;
    }
    Ok(())
}

/// Lists what is wrong with a folder now, and says whether its catalogue could be read.
fn open_troubles(
    schedule: &CheckSchedule,
    now_s: i64,
) -> anyhow::Result<(BTreeSet<Trouble>, bool)> {
    let last = tree_status::journal(schedule)?.read();
    let mut open = BTreeSet::new();
    if last.unstarted_s(schedule, now_s).is_some() {
        open.insert(of_folder(NOT_STARTED));
    }
    let tree = tree_status::tree_of(&schedule.directory).ok();
    let state = tree.as_ref().map(|tree| tree_status::of_tree(tree, Some(schedule), now_s).state);
    let (Some(CataloguedTree { catalogue, .. }), Some(FolderState::Known(facts))) = (&tree, &state)
    else {
        match state {
            Some(FolderState::Unknown(_)) => open.extend([of_folder(UNKNOWN)]),
            // A disk that is away for two nights is no news.
            _ => open.extend(last.not_run_s(schedule, now_s).map(|_| of_folder(UNMOUNTED))),
        }
        return Ok((open, false));
    };
    // A new schedule has its whole cover to prove everything once.
    let is_young = age_s(schedule.made_s, now_s).is_some_and(|age_s| age_s < schedule.cover_s());
    if facts.is_overdue() && !is_young {
        open.insert(of_folder("overdue"));
    }
    Catalogue::open_reader(catalogue)?.failures(&mut |failure| {
        if !failure.settled {
            open.insert(Trouble {
                state: failure.standing.name().to_owned(),
                path: failure.path.to_string_lossy().into_owned(),
            });
        }
        ControlFlow::Continue(())
    })?;
    Ok((open, true))
}

fn of_folder(state: &str) -> Trouble {
    Trouble { state: state.to_owned(), path: String::new() }
}
