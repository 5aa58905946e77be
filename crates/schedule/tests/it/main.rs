//! Schedules from outside: timers as the system gets them, and a year of nights.

mod timers;
mod year;
