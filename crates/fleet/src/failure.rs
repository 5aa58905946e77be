//! Notes why a shard failed, for the status of the job.
//!
//! In: an error. Out: a small file beside the parts. If it cannot be written, as on a full disk,
//! the status lacks the reason, but nothing else is lost.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use steadfast_sys::file::{Dir, Draft, Existing};

use crate::error::{Error, ErrorKind};
use crate::line;
use crate::sealed;

/// Longest note in bytes: a path and a sentence.
const NOTE_LEN_MAX: u64 = 64 << 10;

/// Why the latest run of a shard failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailureNote {
    pub(crate) steadfast_fleet_failure: u32,
    pub(crate) shard: u64,
    pub(crate) host: String,
    pub(crate) process: u32,
    pub(crate) at_s: i64,
    /// Whether a retry may succeed.
    pub(crate) temporary: bool,
    pub(crate) error: String,
}

/// Returns whether a retry may succeed.
pub(crate) fn is_temporary(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Temporary | ErrorKind::Interrupted)
}

/// Writes the note if possible.
pub(crate) fn note(path: &Path, failure: &FailureNote) {
    let mut text = Vec::new();
    line::write(failure, &mut text);
    text.push(b'\n');
    // Without the note, only the reason is lost.
    let _ = write(path, &text);
}

/// Writes a note. Creates its folder if necessary, and follows no link to it.
fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let (above, folder) = Dir::parent_of(folder)?;
    let mut draft = Draft::document(&Arc::new(above.make_dir(&folder)?))?;
    draft.write_all(text)?;
    draft.publish(name, Existing::Replace)
}

/// Removes the note after a successful run.
pub(crate) fn forget(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Reads the note. Returns `None` if it does not exist or is malformed.
pub(crate) fn read(path: &Path) -> Option<FailureNote> {
    serde_json::from_reader(sealed::open(path).ok()?.take(NOTE_LEN_MAX)).ok()
}
