//! What is wrong with the folder of a schedule now, and the alerts about it.

use std::path::{Path, PathBuf};

use steadfast::beneath::presence;
use steadfast::catalogue::FailedCheck;
use steadfast::{ExitStatus, FileState, Matter, Standing, Timestamp};
use steadfast_words::{AskedFiles, Priority, advice, reason};

use crate::alert::channel::{Delivery, Sender, side_by_side};
use crate::alert::config::{Alert, AlertList, Channel, Details, Occasion};
use crate::alert::memory::{Memory, OpenTroubles, REMIND_S, Trouble, TroubleFacts, is_catalogued};
use crate::alert::message::{AlertFacts, AlertMessage, MessageSubject};
use crate::error::Error;
use crate::folder::FolderStatus;
use crate::journal::{MendedPath, MovedPath};
use crate::places::WatchPlaces;
use crate::question::QuestionKind;
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
        let open = open_troubles(&status);
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
            words.push_str(&format!("{}: {}\n", folder.root.display(), folder.said(None).word));
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
            Channel::Ping(url) => self.send_state(alert, url),
            _ => self.send_news(alert),
        })
    }

    /// Tells a monitor the state of the folder, or the worst of all if it is for all.
    fn send_state(&self, alert: &Alert, url: &str) -> Result<(), Error> {
        let (status, words) = match alert.schedule {
            Some(_) => {
                let folder = self.status.root.display();
                (self.status.exit_status(), format!("{folder}: {}", self.status.said(None).word))
            }
            None => self.places.worst_state(self.now_s)?,
        };
        self.sender.ping(url, status.code(), &words)
    }

    /// Tells a channel what it was not told. What arrived is remembered at once.
    fn send_news(&self, alert: &Alert) -> Result<(), Error> {
        let FolderNews { schedule, now_s, open, .. } = self;
        let folder = schedule.directory.to_string_lossy();
        let mut told = ToldChannel { news: self, alert, memory: self.places.memory_of(alert) };
        let is_known = |trouble: &Trouble| self.is_known(trouble);
        let mut news = told.memory.news(&folder, open, &is_known, *now_s);
        let subject = MessageSubject {
            folder: &folder,
            schedule: &schedule.name,
            facts: self.facts,
            words: &self.sender.words,
            details: alert.details,
            is_there: &|path| !presence(&schedule.directory, Path::new(path)).is_lost(),
            asked: &|kind, told| self.asked(kind, told, alert.details),
        };
        if news.has_trouble() && told.send(&subject.trouble(&news))? {
            told.memory.remember_open(&folder, open, *now_s);
            told.keep()?;
        }
        let last_s = told.memory.mended_s.get(&*folder).copied();
        let mut mended = self.mended_lately();
        mended.retain(|one| last_s.is_none_or(|last_s| one.at_s > last_s));
        if let Some(last_s) = mended.iter().map(|one| one.at_s).max()
            && told.send(&subject.mended(&mended, &news))?
        {
            // That they are whole again is said already.
            let is_said = |one: &Trouble| mended.iter().any(|file| file.path == one.path);
            let said: Vec<Trouble> = news.settled.extract_if(.., |one| is_said(one)).collect();
            told.memory.mended_s.insert(folder.clone().into_owned(), last_s);
            told.memory.forget_settled(&folder, &said);
            told.keep()?;
        }
        let last_s = told.memory.moved_s.get(&*folder).copied();
        let mut moved = self.moved_lately();
        moved.retain(|one| last_s.is_none_or(|last_s| one.at_s > last_s));
        if let Some(last_s) = moved.iter().map(|one| one.at_s).max()
            && told.send(&subject.moved(&moved, &news))?
        {
            let is_said = |one: &Trouble| moved.iter().any(|file| file.path == one.path);
            let said: Vec<Trouble> = news.settled.extract_if(.., |one| is_said(one)).collect();
            told.memory.moved_s.insert(folder.clone().into_owned(), last_s);
            told.memory.forget_settled(&folder, &said);
            told.keep()?;
        }
        if !news.settled.is_empty() && told.send(&subject.settled(&news))? {
            told.memory.forget_settled(&folder, &news.settled);
            told.keep()?;
        }
        let is_silent = !news.is_due() && mended.is_empty() && moved.is_empty();
        if is_silent && alert.on == Occasion::EveryRun && self.facts.status.is_some() {
            told.send(&subject.unchanged(&news))?;
        }
        match alert.on {
            Occasion::Weekly => told.send_all_well(),
            _ => Ok(()),
        }
    }

    /// Returns how a command acts on the files of one kind that a message is about.
    fn asked(&self, kind: Standing, told: &OpenTroubles, details: Details) -> Option<AskedFiles> {
        let facts = self.status.state.facts()?;
        let is_told = |failure: &&FailedCheck| {
            let (path, folder) = (failure.path.to_string_lossy().into(), self.folder_name());
            told.contains_key(&Trouble { kind, path, folder })
        };
        let files: Vec<&FailedCheck> = facts.failures.iter().filter(is_told).collect();
        let about = QuestionKind::State(files.first()?.standing);
        let paths: Vec<PathBuf> = files.iter().map(|failure| failure.path.clone()).collect();
        self.places.asked(&self.status.root, about, &paths, details == Details::Paths)
    }

    fn folder_name(&self) -> String {
        self.status.root.to_string_lossy().into_owned()
    }

    /// Returns what was moved to other folders lately.
    fn moved_lately(&self) -> Vec<MovedPath> {
        let schedule = self.status.schedule.as_ref();
        schedule.map(|facts| facts.last.moved_lately(self.now_s)).unwrap_or_default()
    }

    /// Returns what runs mended lately.
    fn mended_lately(&self) -> Vec<MendedPath> {
        let schedule = self.status.schedule.as_ref();
        schedule.map(|facts| facts.last.mended_lately(self.now_s)).unwrap_or_default()
    }

    /// Returns whether a trouble was looked for now. What could not be judged is not settled, nor
    /// what a drive said that sleeps.
    fn is_known(&self, trouble: &Trouble) -> bool {
        match trouble.kind {
            Standing::Drive => {
                let name = trouble.path.split(' ').next().unwrap_or_default();
                let drive = self.status.drives.iter().find(|drive| drive.name == name);
                drive
                    .is_some_and(|drive| drive.sources.iter().any(|source| *source != "kernel log"))
            }
            kind if is_catalogued(kind) => {
                let is_closed = |one: &Trouble| {
                    one.kind == Standing::Unlisted
                        && Path::new(&trouble.path).starts_with(&one.path)
                };
                self.status.state.facts().is_some() && !self.open.keys().any(is_closed)
            }
            _ => true,
        }
    }
}

/// A channel, and what it was told so far.
struct ToldChannel<'a> {
    news: &'a FolderNews<'a>,
    alert: &'a Alert,
    memory: Memory,
}

impl ToldChannel<'_> {
    /// Sends a message, unless it waits for the end of quiet hours. Returns whether it was sent.
    fn send(&self, message: &AlertMessage) -> Result<bool, Error> {
        let FolderNews { sender, now_s, .. } = self.news;
        let now = (sender.words.time_of_day)(Timestamp { seconds: *now_s, nanoseconds: 0 });
        let is_quiet = self.alert.quiet.is_some_and(|hours| hours.contain(now));
        if is_quiet && message.priority != Priority::High {
            return Ok(false);
        }
        sender.send(&self.alert.channel, message)?;
        Ok(true)
    }

    fn keep(&self) -> Result<(), Error> {
        self.memory.write(&self.news.places.memory_file(self.alert))
    }

    /// Tells that all folders are well, if a week has passed.
    fn send_all_well(&mut self) -> Result<(), Error> {
        let FolderNews { places, sender, now_s, .. } = self.news;
        let is_week_over = self.memory.well_s.is_none_or(|well_s| {
            steadfast_sys::file::age_s(well_s, *now_s).is_none_or(|age_s| age_s >= REMIND_S)
        });
        if !is_week_over || !places.worst_state(*now_s)?.0.is_fine() {
            return Ok(());
        }
        let list = places.schedules()?;
        let folders: Vec<_> =
            list.schedules().iter().map(|one| one.directory.to_string_lossy()).collect();
        let folders: Vec<&str> = folders.iter().map(|folder| &**folder).collect();
        if self.send(&AlertMessage::all_well(&sender.words, &folders))? {
            self.memory.well_s = Some(*now_s);
            self.keep()?;
        }
        Ok(())
    }
}

/// Lists what is wrong with a folder now.
fn open_troubles(status: &FolderStatus) -> OpenTroubles {
    let folder = status.root.to_string_lossy().into_owned();
    let mut open = OpenTroubles::new();
    let mut add = |kind, path: String, since_s, text: String| {
        let folder = if kind == Standing::Drive { String::new() } else { folder.clone() };
        open.insert(Trouble { kind, path, folder }, TroubleFacts { since_s, text });
    };
    let troubles = status.troubles();
    let is_unlisted = |matter: &&Matter| matter.standing == Standing::Unlisted;
    let closed: Vec<&str> =
        troubles.iter().filter(is_unlisted).map(|it| it.subject.as_str()).collect();
    for Matter { standing, subject, text, .. } in &troubles {
        let text = match (*standing == Standing::Drive, subject.split(' ').next()) {
            (true, Some(drive)) => format!("{drive}: {text}"),
            _ => text.clone(),
        };
        add(*standing, subject.clone(), None, text);
    }
    let Some(facts) = status.state.facts() else {
        let is_away = status.state.standing() == Standing::Unmounted;
        let is_long_away = status.schedule.as_ref().is_some_and(|schedule| schedule.is_long_away);
        let kind = if is_away { Standing::Unmounted } else { Standing::Unknown };
        // A disk that is away for two nights is no news.
        if !is_away || is_long_away {
            add(kind, String::new(), None, reason(&status.state));
        }
        return open;
    };
    if facts.is_overdue() {
        add(Standing::Overdue, String::new(), None, String::new());
    }
    for failure in &facts.failures {
        let path = failure.path.to_string_lossy().into_owned();
        // That its folder cannot be opened says it already.
        let is_said = failure.standing == FileState::Unreadable
            && closed.iter().any(|folder| failure.path.starts_with(folder));
        if let Some(kind) = Standing::of_file(failure.standing).filter(|_| !is_said) {
            add(kind, path, Some(failure.at.seconds), String::new());
        }
    }
    for notice in facts.unfinished.iter().filter(|notice| !notice.status.is_fine()) {
        let path = notice.path.as_deref().unwrap_or(Path::new("")).to_string_lossy();
        add(Standing::Unfinished, path.into_owned(), None, advice::of_notice(notice));
    }
    open
}
