//! Schedules from outside: timers as the system gets them, and a year of nights.

mod drives;
mod timers;
mod year;
