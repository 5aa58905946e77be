//! What is wrong with the folder of a schedule now, and the alerts about it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use steadfast::catalogue::{Catalogue, CataloguedTree};
use steadfast::{FolderState, age_s};

use crate::alert::channel::{Delivery, Sender};
use crate::alert::memory::{Memory, Trouble, TroubleKind};
use crate::alert::message::AlertFacts;
use crate::drive::DriveReport;
use crate::error::Error;
use crate::places::{WatchPlaces, drives};
use crate::schedule::CheckSchedule;

impl WatchPlaces {
    /// Sends the alerts of a schedule that nothing runs now, such as of one whose timer does not
    /// work.
    ///
    /// # Errors
    /// If its folder cannot be judged.
    pub fn alert_idle(
        &self,
        schedule: &CheckSchedule,
        sender: &Sender,
        now_s: i64,
    ) -> Result<Vec<Delivery>, Error> {
        // A run in progress sends its own.
        match self.journal(schedule).lock()? {
            Some(_lock) => self.alert(schedule, sender, AlertFacts::default(), None, now_s),
            None => Ok(Vec::new()),
        }
    }

    /// Compares open trouble with what was told, and sends the news. `missing` are the files that a
    /// run just found missing beside those of the catalogue; `None` if no run searched for them.
    ///
    /// # Errors
    /// If the folder cannot be judged, or what was told cannot be stored.
    pub fn alert(
        &self,
        schedule: &CheckSchedule,
        sender: &Sender,
        facts: AlertFacts,
        missing: Option<&[PathBuf]>,
        now_s: i64,
    ) -> Result<Vec<Delivery>, Error> {
        let alerts = self.alerts()?;
        let file = self.told(schedule);
        let mut memory = Memory::read(&file);
        let (mut open, is_judged) = self.open_troubles(schedule, now_s)?;
        open.extend(facts.alarm.iter().map(|_| of_folder(TroubleKind::MassChange)));
        open.extend(facts.failure.iter().map(|_| of_folder(TroubleKind::Failed)));
        open.extend(missing.unwrap_or_default().iter().map(|path| Trouble {
            kind: TroubleKind::Missing,
            path: path.to_string_lossy().into_owned(),
        }));
        // What could not be judged now is not settled.
        let stays = |trouble: &&Trouble| match trouble.kind {
            TroubleKind::NotStarted | TroubleKind::Unmounted | TroubleKind::Unknown => false,
            TroubleKind::MassChange | TroubleKind::Failed => facts.status.is_none(),
            // The catalogue does not have all of them.
            TroubleKind::Missing => missing.is_none(),
            _ => !is_judged,
        };
        open.extend(memory.told().iter().filter(stays).cloned());
        let news = memory.news(&open, now_s);
        let directory = schedule.directory.display().to_string();
        let mut facts =
            AlertFacts { command: format!("steadfast status {directory}"), directory, ..facts };
        if is_judged && news.is_due() && news.open_count() > 0 {
            let drives = drives(&schedule.directory);
            facts.drives = drives.iter().flat_map(DriveReport::lines).collect();
        }
        let deliveries = sender.end(alerts.alerts(), &facts, &news);
        // A message that did not arrive is sent again at the next run.
        if deliveries.iter().all(|delivery| delivery.result.is_ok()) && news.is_due() {
            memory.tell(&open, now_s);
            memory.write(&file)?;
        }
        Ok(deliveries)
    }

    /// Lists what is wrong with a folder now, and says whether its catalogue could be read.
    fn open_troubles(
        &self,
        schedule: &CheckSchedule,
        now_s: i64,
    ) -> Result<(BTreeSet<Trouble>, bool), Error> {
        let last = self.journal(schedule).read();
        let mut open = BTreeSet::new();
        if last.unstarted_s(schedule, now_s).is_some() {
            open.insert(of_folder(TroubleKind::NotStarted));
        }
        let tree = self.tree(&schedule.directory).ok();
        let state = tree.as_ref().map(|tree| self.folder(tree, Some(schedule), now_s).state);
        let (Some(CataloguedTree { catalogue, .. }), Some(FolderState::Known(facts))) =
            (&tree, &state)
        else {
            match state {
                Some(FolderState::Unknown(_)) => open.extend([of_folder(TroubleKind::Unknown)]),
                // A disk that is away for two nights is no news.
                _ if last.not_run_s(schedule, now_s).is_some() => {
                    open.extend([of_folder(TroubleKind::Unmounted)]);
                }
                _ => {}
            }
            return Ok((open, false));
        };
        // A new schedule has its whole cover to prove everything once.
        let is_young =
            age_s(schedule.made_s, now_s).is_some_and(|age_s| age_s < schedule.cover_s());
        if facts.is_overdue() && !is_young {
            open.insert(of_folder(TroubleKind::Overdue));
        }
        Catalogue::open_reader(catalogue)?.failures(&mut |failure| {
            let kind = TroubleKind::of_file(failure.standing).filter(|_| !failure.settled);
            let path = failure.path.to_string_lossy().into_owned();
            open.extend(kind.map(|kind| Trouble { kind, path }));
            ControlFlow::Continue(())
        })?;
        Ok((open, true))
    }
}

fn of_folder(kind: TroubleKind) -> Trouble {
    Trouble { kind, path: String::new() }
}
