//! Core types on macOS: the performance levels that `sysctl` tells.
//!
//! It knows how a fact is asked for; what the facts mean is the contract's.

use std::ffi::CString;
use std::path::Path;

use super::{Cores, Knowledge};
use crate::sysctl;

/// Asks the kernel.
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
