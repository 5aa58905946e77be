//! Schedules and alerts from outside: timers as the system gets them, a year of nights, and each
//! channel against a server or a program of the test's own.

#![allow(clippy::too_many_lines)]

mod channels;
mod drives;
mod list;
mod timers;
mod year;
