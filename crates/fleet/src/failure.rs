//! A note of why a shard could not be run, for whoever asks how the job is.
//!
//! In: an error. Out: a small file beside the parts, and its text again. It is a courtesy: where it
//! cannot be written, as on a full disk, nothing is lost but the words.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use steadfast_sys::file::{Dir, Draft, Existing};

use crate::error::{Error, ErrorKind};
use crate::line;
use crate::sealed;

/// Bytes of a note that are read at most: a path and a sentence.
const NOTE_LEN_MAX: u64 = 64 << 10;

/// Why a shard could not be run the last time that it was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) steadfast_fleet_failure: u32,
    pub(crate) shard: u64,
    pub(crate) host: String,
    pub(crate) process: u32,
    pub(crate) at_s: i64,
    /// Whether to try again makes sense.
    pub(crate) temporary: bool,
    pub(crate) error: String,
}

/// Says whether a failure may pass by itself.
pub(crate) fn is_temporary(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Temporary | ErrorKind::Interrupted)
}

/// Leaves the note, if it can be left.
pub(crate) fn note(path: &Path, failure: &Failure) {
    let mut text = Vec::new();
    line::write(failure, &mut text);
    text.push(b'\n');
    // Where it cannot be written, the words are lost and nothing else.
    let _ = write(path, &text);
}

/// Writes a note into its folder, which is made if it is absent and is not reached by a link.
fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let (above, folder) = Dir::parent_of(folder)?;
    let mut draft = Draft::new(&Arc::new(above.make_dir(&folder)?))?;
    draft.write_all(text)?;
    draft.publish(name, Existing::Replace)
}

/// Takes the note away, once the shard was run.
pub(crate) fn forget(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Reads the note; `None` if it is gone or makes no sense.
pub(crate) fn read(path: &Path) -> Option<Failure> {
    serde_json::from_reader(sealed::open(path).ok()?.take(NOTE_LEN_MAX)).ok()
}
