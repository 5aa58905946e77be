//! Alerts from outside: the file, and every channel against servers and programs of the test's own.

mod channels;
mod list;
