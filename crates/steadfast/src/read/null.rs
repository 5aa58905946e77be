//! The `null` engine: moves no bytes, so that the path can be measured without storage.
//!
//! In: an open file, of which it takes the length alone. Out: full reads at once; the buffer keeps
//! what was in it. Digests of that are digests of nothing.

use std::io;

use steadfast_sys::file::{File, Status};

use super::{Engine, Origin};

/// Reads nothing and says it was read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Null;

impl Engine for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn prepare(&self, _file: &File, _status: &Status) -> io::Result<Origin> {
        // The lesser claim of the two.
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
