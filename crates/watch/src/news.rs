//! What is wrong with the folder of a schedule now, and the alerts about it.

use std::path::Path;

use steadfast::{ExitStatus, FolderState};

use crate::alert::channel::{Delivery, Sender, side_by_side};
use crate::alert::config::{Alert, AlertList, Channel, Occasion};
use crate::alert::memory::{Memory, OpenTroubles, REMIND_S, Trouble, TroubleFacts, TroubleKind};
use crate::alert::message::{AlertFacts, AlertMessage, AlertWords, MessageSubject};
use crate::error::Error;
use crate::folder::FolderStatus;
use crate::places::WatchPlaces;
use crate::schedule::CheckSchedule;

/// What an alert is about: a folder, and what became of a run of its schedule.
struct FolderNews<'a> {
    places: &'a WatchPlaces,
    sender: &'a Sender,
    schedule: &'a CheckSchedule,
    facts: &'a AlertFacts,
    status: FolderStatus,
    open: OpenTroubles,
    now_s: i64,
}

impl WatchPlaces {
    /// Sends the alerts of a schedule that nothing runs now, such as of one whose timer does not
    /// work.
    ///
    /// # Errors
    /// If the alerts cannot be read.
    pub fn alert_idle(
        &self,
        schedule: &CheckSchedule,
        sender: &Sender,
        now_s: i64,
    ) -> Result<Vec<Delivery>, Error> {
        // A run in progress sends its own.
        match self.journal(schedule).lock()? {
            Some(_lock) => self.alert(schedule, sender, &AlertFacts::default(), now_s),
            None => Ok(Vec::new()),
        }
    }

    /// Compares open trouble with what each channel was told, and sends the news; and the state to
    /// monitors, if there was a run or the folder cannot be judged.
    ///
    /// # Errors
    /// If the alerts cannot be read.
    pub fn alert(
        &self,
        schedule: &CheckSchedule,
        sender: &Sender,
        facts: &AlertFacts,
        now_s: i64,
    ) -> Result<Vec<Delivery>, Error> {
        let alerts = self.alerts()?;
        if alerts.alerts().iter().all(|alert| !alert.is_for(&schedule.name)) {
            return Ok(Vec::new());
        }
        let status = self.folder_of(schedule, now_s);
        let open = open_troubles(&status, &sender.words);
        let news = FolderNews { places: self, sender, schedule, facts, status, open, now_s };
        Ok(news.send(&alerts))
    }

    /// Returns the worst state of the folders of all schedules, and each in words.
    fn worst_state(&self, now_s: i64) -> Result<(ExitStatus, String), Error> {
        let mut worst = ExitStatus::Fine;
        let mut words = String::new();
        for schedule in self.schedules()?.schedules() {
            let folder = self.folder_of(schedule, now_s);
            worst.raise(folder.exit_status());
            words.push_str(&format!("{}: {}\n", folder.root.display(), folder.word()));
        }
        Ok((worst, words))
    }
}

impl FolderNews<'_> {
    fn send(&self, alerts: &AlertList) -> Vec<Delivery> {
        let is_put_off = alerts.snoozed_until_s(&self.schedule.directory, self.now_s).is_some();
        let is_judged = self.facts.status.is_some() || self.status.state.facts().is_none();
        let due = |alert: &&Alert| match alert.channel {
            // Without a run, a ping would hide the silence that its monitor waits for.
            Channel::Ping(_) => is_judged && alert.is_for(&self.schedule.name),
            _ => !is_put_off && alert.is_for(&self.schedule.name),
        };
        side_by_side(alerts.alerts().iter().filter(due), |alert| match &alert.channel {
            Channel::Ping(url) => self.ping(alert, url),
            _ => self.tell(alert),
        })
    }

    /// Tells a monitor the state of the folder, or the worst of all if it is for all.
    fn ping(&self, alert: &Alert, url: &str) -> Result<(), Error> {
        let (status, words) = match alert.schedule {
            Some(_) => {
                let folder = self.status.root.display();
                (self.status.exit_status(), format!("{folder}: {}", self.status.word()))
            }
            None => self.places.worst_state(self.now_s)?,
        };
        self.sender.ping(url, status.code(), &words)
    }

    /// Tells a channel what it was not told. What arrived is remembered at once.
    fn tell(&self, alert: &Alert) -> Result<(), Error> {
        let FolderNews { sender, schedule, now_s, open, .. } = self;
        let folder = schedule.directory.to_string_lossy();
        let file = self.places.told(alert);
        let mut memory = Memory::read(&file);
        let news = memory.news(&folder, open, &|trouble| self.is_known(trouble), *now_s);
        let subject = MessageSubject {
            folder: &folder,
            schedule: &schedule.name,
            facts: self.facts,
            words: &sender.words,
            details: alert.details,
        };
        if !news.new.is_empty() {
            sender.send(&alert.channel, &subject.trouble(&news))?;
            memory.tell_open(&folder, open, *now_s);
            memory.write(&file)?;
        }
        if !news.settled.is_empty() {
            sender.send(&alert.channel, &subject.settled(&news))?;
            memory.tell_settled(&folder, &news.settled);
            memory.write(&file)?;
        }
        if !news.is_due() && alert.on == Occasion::EveryRun && self.facts.status.is_some() {
            sender.send(&alert.channel, &subject.unchanged(&news))?;
        }
        let is_week_over = memory.well_s.is_none_or(|well_s| {
            steadfast_sys::file::age_s(well_s, *now_s).is_none_or(|age_s| age_s >= REMIND_S)
        });
        if alert.on == Occasion::Weekly && is_week_over {
            let (worst, _) = self.places.worst_state(*now_s)?;
            if worst.is_fine() {
                let list = self.places.schedules()?;
                let folders: Vec<_> =
                    list.schedules().iter().map(|one| one.directory.to_string_lossy()).collect();
                let folders: Vec<&str> = folders.iter().map(|folder| &**folder).collect();
                let message = AlertMessage::all_well(&sender.words, &folders);
                sender.send(&alert.channel, &message)?;
                memory.well_s = Some(*now_s);
                memory.write(&file)?;
            }
        }
        Ok(())
    }

    /// Returns whether a trouble was looked for now. What could not be judged is not settled, nor
    /// what a drive said that sleeps.
    fn is_known(&self, trouble: &Trouble) -> bool {
        match trouble.kind {
            TroubleKind::Drive => {
                let name = trouble.path.split(' ').next().unwrap_or_default();
                let drive = self.status.drives.iter().find(|drive| drive.name == name);
                drive
                    .is_some_and(|drive| drive.sources.iter().any(|source| *source != "kernel log"))
            }
            kind if kind.is_catalogued() => self.status.state.facts().is_some(),
            _ => true,
        }
    }
}

/// Lists what is wrong with a folder now.
fn open_troubles(status: &FolderStatus, words: &AlertWords) -> OpenTroubles {
    let folder = status.root.to_string_lossy().into_owned();
    let mut open = OpenTroubles::new();
    let mut add = |kind, path: String, since_s, text: String| {
        let folder = if kind == TroubleKind::Drive { String::new() } else { folder.clone() };
        open.insert(Trouble { kind, path, folder }, TroubleFacts { since_s, text });
    };
    for trouble in status.troubles() {
        let text = match (trouble.kind, trouble.subject.split(' ').next()) {
            (TroubleKind::Drive, Some(drive)) => format!("{drive}: {}", trouble.text),
            _ => trouble.text,
        };
        add(trouble.kind, trouble.subject, None, text);
    }
    let is_long_away = status.schedule.as_ref().is_some_and(|schedule| schedule.is_long_away);
    match &status.state {
        FolderState::Known(facts) => {
            if facts.is_overdue() {
                add(TroubleKind::Overdue, String::new(), None, String::new());
            }
            for failure in &facts.failures {
                let path = failure.path.to_string_lossy().into_owned();
                if let Some(kind) = TroubleKind::of_file(failure.standing) {
                    add(kind, path, Some(failure.at.seconds), String::new());
                }
            }
            for notice in facts.unfinished.iter().filter(|notice| !notice.status.is_fine()) {
                let path = notice.path.as_deref().unwrap_or(Path::new("")).to_string_lossy();
                add(TroubleKind::Unfinished, path.into_owned(), None, (words.notice)(notice));
            }
        }
        FolderState::NotThere(notice) if is_long_away => {
            add(TroubleKind::Unmounted, String::new(), None, (words.notice)(notice));
        }
        // A disk that is away for two nights is no news.
        FolderState::NotThere(_) => {}
        FolderState::Unknown(notice) => {
            add(TroubleKind::Unknown, String::new(), None, (words.notice)(notice));
        }
        FolderState::PartOf(_) | FolderState::Unrecorded => {
            let text = "It has no catalogue of its own.".to_owned();
            add(TroubleKind::Unknown, String::new(), None, text);
        }
    }
    open
}
