//! A note of why a shard could not be run, for whoever asks how the job is.
//!
//! In: an error. Out: a small file beside the parts, and its text again. It is a courtesy: where it
//! cannot be written, as on a full disk, nothing is lost but the words.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::line;
use crate::sealed::draft_of;

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
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir(folder);
    }
    let draft = draft_of(path);
    if fs::write(&draft, text).and_then(|()| fs::rename(&draft, path)).is_err() {
        let _ = fs::remove_file(&draft);
    }
}

/// Takes the note away, once the shard was run.
pub(crate) fn forget(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Reads the note; `None` if it is gone or makes no sense.
pub(crate) fn read(path: &Path) -> Option<Failure> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
