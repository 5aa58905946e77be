//! What changed in a catalogued tree, by names and status only, before anything is written.

use std::path::PathBuf;

use super::{Options, Verb, open_catalogue};
use crate::error::Error;
use crate::file_state::FileState;
use crate::finding::Finding;
use crate::selection::Selection;

/// Share of the files that may be missing or modified at once without an alarm.
const ALARM_SHARE: f64 = 0.05;

/// A tree with fewer files has no alarm: a few of them are a large share.
const ALARM_FILES_MIN: u64 = 40;

/// What changed since the catalogue was last told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeChanges {
    /// Files in the catalogue.
    pub files: u64,
    /// Files that are gone, relative to the root of the catalogue's tree. A file that was renamed
    /// is among them.
    pub missing: Vec<PathBuf>,
    /// How many of these no earlier run reported.
    pub newly_missing: u64,
    /// Files that seem edited, or were found modified and not tagged since.
    pub edited: Vec<PathBuf>,
}

impl TreeChanges {
    /// Returns whether so many files are missing or edited at once that nothing should be tagged
    /// unasked: another volume may be mounted, or somebody encrypted the files.
    pub fn are_alarming(&self) -> bool {
        let changed = self.newly_missing + self.edited.len() as u64;
        self.files >= ALARM_FILES_MIN && changed as f64 > ALARM_SHARE * self.files as f64
    }
}

/// Compares the length and times of files with the catalogue, and opens none. `None` without a
/// catalogue.
///
/// # Errors
/// If the catalogue cannot be read, or is of another tree.
pub fn changes(selection: &Selection, options: &Options) -> Result<Option<TreeChanges>, Error> {
    let reading = Options { dry_run: true, ..options.clone() };
    let Some(session) = open_catalogue::open(Verb::Check, selection, &reading)? else {
        return Ok(None);
    };
    let catalogue = session.into_catalogue();
    let root = catalogue.root().to_owned();
    let mut changes = TreeChanges { files: catalogue.entries()?, ..TreeChanges::default() };
    let mut say = |finding: Finding| match finding {
        Finding::Missing { path, known, .. } => {
            changes.missing.push(path);
            changes.newly_missing += u64::from(!known);
        }
        Finding::Changed { path, change } if change.length || change.mtime => {
            changes.edited.push(root.join(path));
        }
        Finding::FileState { path, standing: FileState::Modified } => {
            changes.edited.push(root.join(path));
        }
        _ => {}
    };
    let now = (options.now)();
    let _ = catalogue.quick(selection, now, &options.stop, &mut say, &mut |_| {})?;
    Ok(Some(changes))
}
