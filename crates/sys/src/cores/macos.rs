//! Core types on macOS: reads the performance levels from `sysctl`.

use std::ffi::CString;
use std::path::Path;

use super::{Cores, Knowledge};
use crate::sysctl;

/// Reads the facts of the kernel.
pub(super) fn of_machine() -> Cores {
    Cores::of_perflevels(&|name| {
        let key = CString::new(name).ok()?;
        match name.ends_with(".name") {
            true => sysctl::text(&key).ok(),
            false => sysctl::integer(&key).ok().map(|value| value.to_string()),
        }
    })
}

/// There are no such files.
pub(super) fn beneath(_: &Path) -> Cores {
    Cores::without_classes(Knowledge::NotTold, 0)
}
