//! Checks that begin by themselves, and messages about trouble, as the command line makes them.
//!
//! In: what a form says. Out: the user's files of schedules and alerts, and the system's timers.
//! Neither file is in a served folder. A program is never among what a form can name.

use std::path::{Path, PathBuf};

use steadfast_watch::timer::TimerHost;
use steadfast_watch::{
    Alert, Channel, CheckSchedule, Delivery, Details, Every, Occasion, Sender, TimeOfDay,
    WatchPlaces, WebhookForm,
};
use strum::VariantArray as _;

use crate::fields::NamedValues;

/// What the pages need to make schedules and alerts.
#[derive(Clone, Debug)]
pub struct Automation {
    /// Where the user's schedules and alerts are.
    pub places: WatchPlaces,
    /// What timers depend on.
    pub host: TimerHost,
    /// Sends the test messages.
    pub sender: Sender,
}

/// Alerts that pages add at most.
const ALERTS_MAX: usize = 16;

/// Where alerts that a page adds may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlertReach {
    Anywhere,
    /// Not to this computer and its own network: who signs in from elsewhere may not look around
    /// there.
    Elsewhere,
}

impl AlertReach {
    fn ensure(self, alert: &Alert) -> Result<(), steadfast_watch::Error> {
        match self {
            AlertReach::Anywhere => Ok(()),
            AlertReach::Elsewhere => alert.ensure_elsewhere(),
        }
    }
}

/// Reads when an alert is sent.
fn occasion_of(name: Option<&str>) -> Occasion {
    match name {
        Some("weekly") => Occasion::Weekly,
        Some("every-run") => Occasion::EveryRun,
        _ => Occasion::Trouble,
    }
}

/// A schedule as a form asks for it.
#[derive(Debug, PartialEq)]
pub(crate) struct ScheduleWish {
    every: Every,
    at: TimeOfDay,
    cover_days: u32,
    update: bool,
    repair: bool,
}

impl ScheduleWish {
    /// Reads a form. `None` if a field is absent or not valid.
    pub(crate) fn of(form: &NamedValues) -> Option<ScheduleWish> {
        let every = form.text("every")?;
        Some(ScheduleWish {
            every: *Every::VARIANTS.iter().find(|one| <&str>::from(**one) == every)?,
            at: form.text("at")?.parse().ok()?,
            cover_days: form.number("cover")?.try_into().ok()?,
            update: form.text("update").is_some(),
            repair: form.text("repair").is_some(),
        })
    }
}

impl Automation {
    /// Makes the schedule of a folder, or changes the one that it has, with its timer.
    ///
    /// # Errors
    /// If it is not valid, or the system refuses the timer.
    pub(crate) fn plan(
        &self,
        folder: PathBuf,
        wish: ScheduleWish,
        now_s: i64,
    ) -> Result<(), steadfast_watch::Error> {
        let mut list = self.places.schedules()?;
        let ScheduleWish { every, at, cover_days, update, repair } = wish;
        let draft = list.draft(&folder, self.host.detect(self.sender.os), now_s);
        let schedule = CheckSchedule { every, at, cover_days, update, repair, ..draft };
        list.establish(schedule.made_for(&self.places.enter(&folder)?), &self.host)
    }

    /// Removes the schedule of a folder, its timer and its journal.
    ///
    /// # Errors
    /// If there is none, or the timer cannot be removed.
    pub(crate) fn cancel(&self, folder: &Path) -> Result<(), steadfast_watch::Error> {
        let mut list = self.places.schedules()?;
        match list.of_folder(folder).map(|one| one.name.clone()) {
            Some(name) => list.dissolve(&name, &self.host, &self.places.journals()),
            None => Ok(()),
        }
    }

    /// Adds the alert that a form asks for.
    ///
    /// # Errors
    /// If its address is not valid or not allowed, there are too many, or the file cannot be
    /// written.
    pub(crate) fn add_alert(
        &self,
        form: &NamedValues,
        reach: AlertReach,
    ) -> Result<(), steadfast_watch::Error> {
        let address = form.text("address").unwrap_or_default().trim().to_owned();
        let channel = match form.text("channel") {
            Some("mail") => Channel::Sendmail(address),
            Some("ping") => Channel::Ping(address),
            _ => Channel::Webhook { form: WebhookForm::of(&address), url: address },
        };
        let on = occasion_of(form.text("on"));
        let details = match form.text("details") {
            Some("counts") => Details::Counts,
            _ => Details::Paths,
        };
        let alert = Alert { on, details, ..Alert::new(channel) };
        let mut list = self.places.alerts()?;
        list.ensure_room(ALERTS_MAX)?;
        reach.ensure(&alert)?;
        list.add(alert)
    }

    /// Removes an alert by its number, if its target is still the one that the page showed.
    /// Returns whether it was.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn remove_alert(&self, form: &NamedValues) -> Result<bool, steadfast_watch::Error> {
        let mut list = self.places.alerts()?;
        let number = form.number("number").and_then(|number| usize::try_from(number).ok());
        let number = number.unwrap_or(0);
        let shown = number.checked_sub(1).and_then(|index| list.alerts().get(index));
        match shown.map(Alert::target).as_deref() == form.text("target") {
            true => list.remove(number).map(|_| true),
            false => Ok(false),
        }
    }

    /// Sends a test message to every alert, or to the one of a number.
    ///
    /// # Errors
    /// If the file of alerts cannot be read, or an address is not allowed.
    pub(crate) fn test_alerts(
        &self,
        number: Option<u64>,
        reach: AlertReach,
    ) -> Result<Vec<Delivery>, steadfast_watch::Error> {
        let list = self.places.alerts()?;
        let numbered = (1..).zip(list.alerts());
        let chosen = numbered.filter(|(at, _)| number.is_none_or(|number| number == *at));
        let chosen: Vec<Alert> = chosen.map(|(_, alert)| alert.clone()).collect();
        // What a name leads to may have changed since it was added.
        chosen.iter().try_for_each(|alert| reach.ensure(alert))?;
        Ok(self.sender.test(&chosen))
    }
}
