//! Groups on macOS: there are none; levels have an effect between all threads.

use std::io;
use std::path::Path;
use std::process::Child;

use super::super::{Level, Step};
use super::Grouping;

pub(super) fn grouping(_: &Path) -> Grouping {
    Grouping::Threads
}

pub(super) fn lead(_: Level) -> Vec<Step> {
    let reason = "macOS shares nothing by session";
    let result = Err(io::Error::new(io::ErrorKind::Unsupported, reason));
    vec![Step { what: "a session of its own".to_owned(), result }]
}

pub(super) fn end_with_parent(_: u32) -> bool {
    true
}

#[derive(Debug)]
pub(super) struct ChildHandle;

impl ChildHandle {
    pub(super) fn of(_: &Child) -> io::Result<ChildHandle> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn send(&self, _: i32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
