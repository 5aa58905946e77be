//! A list of files and of what it says of each, as a source: a manifest in any format.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::manifest::{Mtime, Record, Step};
use steadfast::run::List;
use steadfast::store::foreign::{ForeignTime, Resolution};
use steadfast::{Reference, Skipped};
use steadfast_sys::file::Status;

use super::device::Devices;
use super::{By, Entry, Found, Sink, Source, Trouble, real};
use crate::error::{Error, ErrorKind};

/// The files that a document names.
pub struct Listed {
    root: PathBuf,
    document: PathBuf,
    list: Option<List>,
}

impl Listed {
    /// Takes the list of a document whose names are relative to `root`.
    ///
    /// # Errors
    /// If the root is not there.
    pub fn new(root: &Path, document: &Path, list: List) -> Result<Listed, Error> {
        let document = document.canonicalize();
        let document = document.map_err(|error| Error::system(root, "find the document", error))?;
        Ok(Listed { root: real(root)?, document, list: Some(list) })
    }
}

impl std::fmt::Debug for Listed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listed").field("document", &self.document).finish_non_exhaustive()
    }
}

impl Source for Listed {
    fn root(&self) -> &Path {
        &self.root
    }

    fn by(&self) -> By {
        By::Manifest
    }

    fn document(&self) -> Option<&Path> {
        Some(&self.document)
    }

    fn each(&mut self, stop: &AtomicBool, sink: &mut Sink<'_>) -> Result<Skipped, Error> {
        let mut devices = Devices::default();
        for line in self.list.take().into_iter().flatten() {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "the planning was interrupted"));
            }
            let found = match line {
                Ok((path, reference)) => {
                    let device = devices.of(&self.root, &path);
                    let record = record_of(path, reference.as_ref());
                    let length = || {
                        let status = Status::of_link(&self.root.join(&record.path));
                        status.map_or(0, |status| status.length)
                    };
                    let bytes = record.length.unwrap_or_else(length);
                    Found::File(Entry { record, device, bytes, checked_s: None })
                }
                Err(unlisted) => {
                    let (path, reason) = (self.document.clone(), unlisted.reason);
                    Found::Trouble(Trouble { path, doing: "read the list", reason })
                }
            };
            sink(found)?;
        }
        Ok(Skipped::default())
    }
}

/// Writes a reference down as a manifest does.
pub(super) fn record_of(path: PathBuf, reference: Option<&Reference>) -> Record {
    Record {
        path,
        digests: reference.map(|reference| reference.digests.clone()).unwrap_or_default(),
        length: reference.and_then(|reference| reference.length),
        mtime: reference.and_then(|reference| reference.mtime).map(mtime_of),
        tagged: reference.and_then(|reference| reference.recorded),
    }
}

fn mtime_of(foreign: ForeignTime) -> Mtime {
    let step = match foreign.resolution {
        Resolution::Tick | Resolution::Float => Step::Nanosecond,
        Resolution::Millisecond => Step::Millisecond,
        Resolution::Second => Step::Second,
    };
    Mtime { time: foreign.time, step }
}
