//! One file on its way: read once, held to its record, written to every destination, and proved
//! there.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use steadfast_digest::Algorithm;
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{Dir, File, Status};

use super::CopyRequest;
use super::contents::{ReadContents, read_whole};
use super::destination::Destination;
use super::replica::{Original, Replica};
use crate::event::FileError;
use crate::read::direct::Direct;
use crate::read::{Engine, Origin};
use crate::run::Options;
use crate::safe::{Lack, UncachedFile};
use crate::store::{StoredTag, tag_at};
use crate::walk::Entry;

/// By what files are copied.
pub(super) struct CopyMeans<'a> {
    pub(super) request: &'a CopyRequest,
    pub(super) options: &'a Options,
    pub(super) engine: Arc<dyn Engine>,
    /// Algorithms of lists, beside those of tags.
    pub(super) algorithms: Vec<Algorithm>,
    /// Bytes of the source that were read.
    pub(super) bytes_read: AtomicU64,
}

/// A file of the batch.
pub(super) struct BatchFile {
    pub(super) entry: Entry,
    pub(super) relative: PathBuf,
    /// Its directory at each destination.
    pub(super) dirs: Vec<io::Result<Arc<Dir>>>,
    pub(super) status: Option<Status>,
    /// Whether it is another name of a file that comes before.
    pub(super) is_link: bool,
    pub(super) copy: FileCopy,
}

/// What became of a file.
#[derive(Default)]
pub(super) struct FileCopy {
    pub(super) source: Option<(File, Status, ReadContents)>,
    pub(super) tag: Option<Tag>,
    pub(super) is_tagged: bool,
    pub(super) is_proved: bool,
    pub(super) lack: Option<Lack>,
    pub(super) trouble: Option<FileError>,
    pub(super) replicas: Vec<Replica>,
}

impl CopyMeans<'_> {
    /// Reads a file once, and writes it to every destination.
    pub(super) fn copy_one(&self, file: &mut BatchFile, destinations: &[Destination]) -> FileCopy {
        let mut copy = FileCopy::default();
        if file.is_link {
            return copy;
        }
        if let Err((lack, trouble)) = self.read_and_write((file, destinations), &mut copy) {
            copy.replicas.clear();
            copy.source = None;
            (copy.lack, copy.trouble) = (Some(lack), Some(trouble));
        }
        copy
    }

    fn read_and_write(
        &self,
        (file, destinations): (&mut BatchFile, &[Destination]),
        copy: &mut FileCopy,
    ) -> Result<(), (Lack, FileError)> {
        let cannot = |operation: &'static str| {
            move |error: io::Error| (Lack::NotCopied, FileError::from_io(operation, &error))
        };
        let source = file.entry.open().map_err(cannot("open"))?;
        let status = source.status().map_err(cannot("open"))?;
        file.status = Some(status);
        let stored = tag_at(&source, &file.entry.path.to_path());
        let record = match stored.map_err(cannot("read the tag"))? {
            StoredTag::Whole(tag) => Some(tag),
            _ => None,
        };
        let record = record.filter(|it| (it.length, it.mtime) == (status.length, status.mtime));
        let algorithm = record.map_or(self.algorithm(), |tag| tag.algorithm);
        let name = name_of(&file.relative);
        let dirs = std::mem::take(&mut file.dirs).into_iter();
        let begin = |(dir, to): (_, &Destination)| {
            Replica::begin(dir, (name, &to.draft_name(&file.relative)), &status)
        };
        copy.replicas = dirs.zip(destinations).map(begin).collect();
        self.engine.prepare(&source, &status).map_err(cannot("read"))?;
        let contents = self.write_all((&source, &status), algorithm, &mut copy.replicas);
        let contents = contents.map_err(cannot("read"))?;
        let changed = || (Lack::Changed, FileError::new("copy", "it changed meanwhile"));
        let now = source.status().map_err(cannot("read"))?;
        if now != status || contents.length != status.length {
            return Err(changed());
        }
        let digest = contents.digest(algorithm).ok_or_else(changed)?;
        let now = (self.options.now)();
        let own =
            Tag { algorithm, digest, length: status.length, mtime: status.mtime, tagged: now };
        if record.is_some_and(|tag| tag.digest != digest) {
            if !self.request.with_corrupt {
                let reason = "its contents are not those of its tag: it was not copied";
                return Err((Lack::Corrupt, FileError::new("copy", reason)));
            }
            copy.lack = Some(Lack::Corrupt);
        }
        // A corrupt file keeps the tag that says so.
        copy.is_tagged = record.is_some();
        copy.is_proved = copy.is_tagged || self.reads_the_same(file, &own)?;
        copy.tag = Some(own);
        copy.source = Some((source, status, contents));
        Ok(())
    }

    fn algorithm(&self) -> Algorithm {
        self.request.algorithm.unwrap_or(Algorithm::Sha256)
    }

    /// Reads a source, and writes it to every draft. A draft that cannot be written fails alone.
    fn write_all(
        &self,
        source: (&File, &Status),
        algorithm: Algorithm,
        replicas: &mut [Replica],
    ) -> io::Result<ReadContents> {
        let mut algorithms = self.algorithms.clone();
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
        let mut failures: Vec<(usize, FileError)> = Vec::new();
        let stop = &self.options.controls.stop;
        let mut writers: Vec<_> = replicas.iter().map(|replica| replica.writer(source.0)).collect();
        let contents =
            read_whole(source, &*self.engine, &algorithms, stop, &mut |bytes, offset| {
                self.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                for (at, slot) in writers.iter_mut().enumerate() {
                    if let Some(writer) = slot
                        && let Err(error) = writer.write(bytes, offset)
                    {
                        failures.push((at, FileError::from_io("write the copy", &error)));
                        *slot = None;
                    }
                }
                Ok(())
            });
        drop(writers);
        for (at, error) in failures {
            replicas[at] = Replica::Failed(error);
        }
        contents
    }

    /// Reads a source without a record a second time, from its medium. Returns false if it was not
    /// read, or not from the medium.
    fn reads_the_same(&self, file: &BatchFile, own: &Tag) -> Result<bool, (Lack, FileError)> {
        if self.request.reads_once {
            return Ok(false);
        }
        let read = || -> io::Result<(bool, Origin)> {
            let source = file.entry.open()?;
            let status = source.status()?;
            let uncached = UncachedFile::prepare(&source)?;
            let stop = &self.options.controls.stop;
            let algorithms = [own.algorithm];
            let read =
                read_whole((&source, &status), &Direct, &algorithms, stop, &mut |_, _| Ok(()))?;
            Ok((read.digest(own.algorithm) == Some(own.digest), uncached.origin()))
        };
        match read() {
            Ok((true, origin)) => Ok(origin == Origin::Media),
            Ok((false, _)) => {
                let reason = "two readings of it differ: it was not copied";
                Err((Lack::Changed, FileError::new("copy", reason)))
            }
            Err(error) => Err((Lack::NotCopied, FileError::from_io("read a second time", &error))),
        }
    }

    /// Proves and names the copies of a file.
    pub(super) fn prove_one(&self, file: &mut BatchFile, destinations: &[Destination]) {
        let copy = &mut file.copy;
        let (Some((source, status, contents)), Some(tag)) = (&copy.source, copy.tag) else {
            return;
        };
        let original = Original {
            file: source,
            status: *status,
            relative: &file.relative,
            contents,
            tag,
            is_tagged: copy.is_tagged,
            now: self.options.now,
            stop: &self.options.controls.stop,
        };
        let replicas = std::mem::take(&mut copy.replicas).into_iter().zip(destinations);
        let name = name_of(&file.relative);
        copy.replicas =
            replicas.map(|(replica, to)| replica.prove(&original, &to.device, name)).collect();
        if source.status().ok() != Some(*status) {
            copy.lack = copy.lack.or(Some(Lack::Changed));
        }
    }
}

pub(super) fn name_of(relative: &Path) -> &OsStr {
    relative.file_name().unwrap_or_default()
}
