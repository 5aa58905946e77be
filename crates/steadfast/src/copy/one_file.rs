//! One file on its way: read once, held to its record, written to every destination, and proved
//! there.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{Dir, File, Status};

use super::contents::{PieceSink, ReadContents, read_whole};
use super::destination::Destination;
use super::replica::{Original, Replica};
use super::result::CopyRequest;
use crate::event::FileError;
use crate::read::direct::Direct;
use crate::read::{Engine, Origin};
use crate::repair::{MendedCopy, Mender, judge_contents};
use crate::run::{FileJudge, FileTrial, Options, whole_seconds};
use crate::safe::{Lack, UncachedFile};
use crate::verdict::Verdict;
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
    pub(super) judge: FileJudge,
    pub(super) mender: Mutex<Mender>,
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
    /// The tag of the contents that were written.
    pub(super) tag: Option<Tag>,
    /// Whether the further attributes of ours that the source has are those of the contents.
    pub(super) keeps_tags: bool,
    pub(super) is_proved: bool,
    /// The verdict of the source.
    pub(super) verdict: Option<Verdict>,
    /// What gave the contents, if the source is damaged.
    pub(super) mended: Option<MendedCopy>,
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
        let path = file.entry.path.to_path();
        let mut trial = self.judge.begin(&source, &path, status);
        let name = name_of(&file.relative);
        let dirs = std::mem::take(&mut file.dirs).into_iter();
        let begin = |(dir, to): (_, &Destination)| {
            Replica::begin(dir, (name, &to.draft_name(&file.relative)), &status)
        };
        copy.replicas = dirs.zip(destinations).map(begin).collect();
        let contents = match trial.damage().is_some() {
            true => None,
            false => self.read_source((&source, &status), &mut trial, &mut copy.replicas)?,
        };
        let now = source.status().map_err(cannot("read"))?;
        if now != status || contents.as_ref().is_some_and(|it| it.length != status.length) {
            return Err((Lack::Changed, FileError::new("copy", "it changed meanwhile")));
        }
        if let Some(contents) = &contents {
            let mender = || self.mender.lock().unwrap_or_else(PoisonError::into_inner);
            let recorded = &mut || mender().recorded(&path, &status);
            let stop = &self.options.controls.stop;
            judge_contents(&mut trial, (&source, &status), &contents.digests, recorded, stop)
                .map_err(cannot("read"))?;
        }
        copy.verdict = trial.event.verdict;
        let now = whole_seconds((self.options.now)());
        if let Some(verdict) = trial.damage() {
            let lack = Lack::of_damage(verdict);
            copy.lack = Some(lack);
            let mended = self.write_mended(&path, &trial, &mut copy.replicas);
            let (mended, contents) = mended.map_err(|fault| (lack, fault))?;
            copy.tag = Some(Tag { tagged: now, ..mended.tag });
            (copy.keeps_tags, copy.mended, copy.is_proved) = (true, Some(mended), true);
            copy.source = Some((source, status, contents));
            return Ok(());
        }
        let Some(contents) = contents else { return Ok(()) };
        let is_recorded = matches!(copy.verdict, Some(Verdict::Intact | Verdict::Touched));
        let stored = trial.event.stored.filter(|_| is_recorded);
        copy.keeps_tags = stored.is_some();
        let proved = stored.map(|stored| Tag { tagged: now, ..stored });
        copy.tag = proved.or_else(|| Some(contents.tag(self.algorithm(), status.mtime, now)));
        copy.is_proved = is_recorded || self.reads_the_same(file, &contents)?;
        copy.source = Some((source, status, contents));
        Ok(())
    }

    /// Reads a source, writes it to the drafts, and judges it. `None` if it cannot be read.
    fn read_source(
        &self,
        (source, status): (&File, &Status),
        trial: &mut FileTrial,
        replicas: &mut [Replica],
    ) -> Result<Option<ReadContents>, (Lack, FileError)> {
        let recorded: Vec<Algorithm> = trial.algorithms().collect();
        let mut algorithms = self.algorithms.clone();
        algorithms.extend(&recorded);
        if recorded.is_empty() {
            algorithms.push(self.algorithm());
        }
        if !algorithms.iter().any(|it| it.proves_sameness()) {
            algorithms.push(Algorithm::Sha256);
        }
        let prepared = self.engine.prepare(source, status);
        let read = prepared.and_then(|_| {
            self.write_all(replicas, source, &mut |sink| {
                let stop = &self.options.controls.stop;
                read_whole((source, status), &*self.engine, &algorithms, stop, &mut |bytes, at| {
                    self.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                    sink(bytes, at)
                })
            })
        });
        match read {
            Ok(contents) => Ok(Some(contents)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                Err((Lack::NotCopied, FileError::from_io("read", &error)))
            }
            Err(error) => {
                trial.fail(source, FileError::from_io("read", &error));
                Ok(None)
            }
        }
    }

    /// Writes what a damaged file should be to the drafts, if something has that.
    fn write_mended(
        &self,
        path: &Path,
        trial: &FileTrial,
        replicas: &mut [Replica],
    ) -> Result<(MendedCopy, ReadContents), FileError> {
        let mut mender = self.mender.lock().unwrap_or_else(PoisonError::into_inner);
        let mut algorithms = self.algorithms.clone();
        algorithms.extend(trial.event.stored.map(|tag| tag.algorithm));
        algorithms.push(Algorithm::Sha256);
        for replica in &mut *replicas {
            replica.empty();
        }
        let mut mended = None;
        let written = self.write_all(replicas, None, &mut |sink| {
            let mut hashers: Vec<AlgorithmHasher> =
                algorithms.iter().map(|it| AlgorithmHasher::new(*it)).collect();
            let mut length = 0;
            let stop = &self.options.controls.stop;
            mended = Some(mender.mend(path, &trial.event, stop, &mut |bytes, at| {
                hashers.iter_mut().for_each(|it| it.update(bytes));
                length = at + bytes.len() as u64;
                sink(bytes, at)
            }));
            let digests =
                algorithms.iter().copied().zip(hashers.into_iter().map(|it| it.finalize()));
            Ok(ReadContents { digests: digests.collect(), length })
        });
        let verdict = trial.event.verdict.map_or("damaged", Verdict::name);
        let failed = |reason: String| {
            let why = trial.event.trouble.as_ref().map(|it| format!(": {}", it.message()));
            let why = why.unwrap_or_default();
            FileError::new("copy", format!("it is {verdict}{why}. It was not copied, as {reason}"))
        };
        let mended = mended.unwrap_or_else(|| Err(FileError::new("copy", "nothing was written")));
        let mended = mended.map_err(|fault| {
            let advice = fault.advice.clone();
            FileError { advice, ..failed(fault.reason) }
        })?;
        let contents = written.map_err(|error| failed(error.to_string()))?;
        let is_right = contents.length == mended.tag.length
            && contents.digest(mended.tag.algorithm).is_none_or(|it| it == mended.tag.digest);
        match is_right {
            true => {
                replicas.iter_mut().for_each(|it| it.set_length(mended.tag.length));
                Ok((mended, contents))
            }
            false => Err(failed("what could mend it changed meanwhile".to_owned())),
        }
    }

    fn algorithm(&self) -> Algorithm {
        self.request.algorithm.unwrap_or(Algorithm::Sha256)
    }

    /// Writes what `read` passes on to every draft. A draft that cannot be written fails alone.
    fn write_all<'s>(
        &self,
        replicas: &mut [Replica],
        like: impl Into<Option<&'s File>>,
        read: &mut dyn FnMut(&mut PieceSink<'_>) -> io::Result<ReadContents>,
    ) -> io::Result<ReadContents> {
        let like = like.into();
        let mut failures: Vec<(usize, FileError)> = Vec::new();
        let mut writers: Vec<_> = replicas.iter().map(|replica| replica.writer(like)).collect();
        let contents = read(&mut |bytes, offset| {
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
    fn reads_the_same(
        &self,
        file: &BatchFile,
        first: &ReadContents,
    ) -> Result<bool, (Lack, FileError)> {
        if self.request.reads_once {
            return Ok(false);
        }
        let (algorithm, digest) = first.proof();
        let read = || -> io::Result<(bool, Origin)> {
            let source = file.entry.open()?;
            let status = source.status()?;
            let uncached = UncachedFile::prepare(&source)?;
            let stop = &self.options.controls.stop;
            let read =
                read_whole((&source, &status), &Direct, &[algorithm], stop, &mut |_, _| Ok(()))?;
            Ok((read.digest(algorithm) == Some(digest), uncached.origin()))
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
            keeps_tags: copy.keeps_tags,
            mended_mtime: copy.mended.as_ref().map(|mended| mended.mtime),
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
