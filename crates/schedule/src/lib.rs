//! Checks that run by themselves.
//!
//! ```text
//! CheckSchedule ──▶ timer (systemd, launchd, cron) ──▶ decide ──▶ a check of what is due
//! ```
//!
//! A [`CheckSchedule`] says which folder is checked how often. [`timer`] makes the system start
//! `steadfast schedule run`, and [`decide()`] says what that command does now: which bytes, for how
//! long, or why nothing. Decisions are pure functions of facts, so a year of nights can be tried in
//! a moment. This crate reads no catalogue and checks no file.

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

pub use decide::{Conditions, Mounted, ScheduleDecision, SkipReason, decide};
pub use drive::{DriveFinding, DriveProbe, DriveReport};
pub use error::{Error, ErrorKind};
pub use journal::{Journal, LastRun};
pub use list::ScheduleList;
pub use machine::{load, on_battery};
pub use pace::{CoverForecast, bytes_due, forecast};
pub use schedule::{CheckSchedule, Every, TimeOfDay, TimerKind, name_of};
