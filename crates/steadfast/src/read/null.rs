//! The `null` engine: reads nothing, so that the path can be measured without storage.
//!
//! In: an open file, of which only the length is used. Out: full reads at once; the buffer keeps
//! its old contents. The digests are meaningless.

use std::io;

use steadfast_sys::file::{File, Status};

use super::{Engine, Origin};

/// Reports full reads without reading anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Null;

impl Engine for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn prepare(&self, _file: &File, _status: &Status) -> io::Result<Origin> {
        // The weaker of the two origins.
        Ok(Origin::Cache)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = file.status()?.length.saturating_sub(offset);
        Ok(usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len()))
    }

    fn alignment(&self) -> usize {
        64
    }

    fn invents(&self) -> bool {
        true
    }
}
