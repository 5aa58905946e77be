//! Folders under watch: checks that run by themselves, and messages about what they find.
//!
//! ```text
//! CheckSchedule ──▶ timer (systemd, launchd, cron) ──▶ decide ──▶ a check of what is due
//! ```
//!
//! A [`CheckSchedule`] says which folder is checked how often. [`timer`] makes the system start
//! `steadfast schedule run`, and [`decide()`] says what that command does now: which bytes, for how
//! long, or why nothing. Decisions are pure functions of facts, so a year of nights can be tried in
//! a moment. [`run_schedule`] carries out the decision at a [`NightSurface`], such as the command.
//! Open failures then become messages: see [`WatchPlaces::alert`]. [`WatchPlaces::folder`] says how
//! a folder is.

#![forbid(unsafe_code)]

mod error;
mod schedule;
mod pace;
mod decide;
mod machine;
mod drive;
mod journal;
pub mod timer;
mod list;
mod alert;
mod folder;
mod places;
mod question;
mod seen;
mod news;
mod night;

pub use alert::channel::{Delivery, Sender};
pub use alert::config::{Alert, AlertList, Channel, Details, Occasion, QuietHours, WebhookForm};
pub use alert::memory::{Memory, News, OpenTroubles, Trouble, TroubleFacts};
pub use alert::message::{AlertFacts, AlertMessage, AlertWords};
pub use decide::{Conditions, Mounted, ScheduleDecision, SkipReason, decide};
pub use drive::{DriveFinding, DriveProbe, DriveReport};
pub use error::{Error, ErrorKind};
pub use folder::{FolderStatus, ScheduleFacts, SeenFolder};
pub use journal::{Journal, LastRun, MendedPath, MovedPath};
pub use list::ScheduleList;
pub use night::{NightSurface, run_schedule};
pub use pace::{CoverForecast, bytes_due, forecast};
pub use places::{WatchPlaces, drives, drives_known};
pub use question::{AskedQuestion, QuestionKind};
pub use schedule::{CheckSchedule, Every, TimeOfDay, TimerKind, name_of};
