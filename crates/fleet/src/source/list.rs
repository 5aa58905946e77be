//! A list of files with their records as a source: a manifest in any format.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::manifest::{Mtime, Record, Step};
use steadfast::run::List;
use steadfast::store::foreign::{ForeignTime, Resolution};
use steadfast::{Reference, Skipped};
use steadfast_sys::file::Status;

use super::device::DeviceCache;
use super::{By, JobFile, JobSource, SourceFailure, SourceItem, SourceSink, real};
use crate::error::{Error, ErrorKind};

/// The files that a document names.
pub struct ManifestSource {
    root: PathBuf,
    document: PathBuf,
    list: Option<List>,
}

impl ManifestSource {
    /// Takes the list of a document, whose paths are relative to `root`.
    ///
    /// # Errors
    /// If the root or the document does not exist.
    pub fn new(root: &Path, document: &Path, list: List) -> Result<ManifestSource, Error> {
        let document = document.canonicalize();
        let document = document.map_err(|error| Error::system(root, "find the document", error))?;
        Ok(ManifestSource { root: real(root)?, document, list: Some(list) })
    }
}

impl std::fmt::Debug for ManifestSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listed").field("document", &self.document).finish_non_exhaustive()
    }
}

impl JobSource for ManifestSource {
    fn root(&self) -> &Path {
        &self.root
    }

    fn by(&self) -> By {
        By::Manifest
    }

    fn document(&self) -> Option<&Path> {
        Some(&self.document)
    }

    fn each(&mut self, stop: &AtomicBool, sink: &mut SourceSink<'_>) -> Result<Skipped, Error> {
        let mut devices = DeviceCache::default();
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
                    SourceItem::File(JobFile { record, device, bytes, checked_s: None })
                }
                Err(unlisted) => {
                    let (path, reason) = (self.document.clone(), unlisted.reason);
                    SourceItem::Failure(SourceFailure { path, doing: "read the list", reason })
                }
            };
            sink(found)?;
        }
        Ok(Skipped::default())
    }
}

/// Converts a reference to a record of a manifest.
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
