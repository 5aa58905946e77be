//! One file at one destination: a draft that is written, read back from the medium, given all that
//! belongs to the file, and named; or a file that is there already and is read.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{Dir, Draft, Existing, File, Status, Timestamp};

use super::contents::{ReadContents, read_whole};
use crate::belongings::{Belongings, Trust, Withheld, disinherit};
use crate::event::FileError;
use crate::read::direct::Direct;
use crate::repair::SparseWriter;
use crate::safe::{Device, Grade, UncachedFile};
use crate::store::xattr::Xattr;
use crate::store::{Replaces, Store as _, StoredTag};

/// Somebody else may have made the source: rights to act as its owner are not for whoever has a
/// copy.
const UNASKED: Trust = Trust::Record { with_special: false };

/// How often a draft that reads back wrong is written again.
const REWRITES_MAX: u32 = 2;

/// What becomes of a file at a destination.
pub(super) enum Replica {
    /// A draft that is written, or has been.
    Draft(Draft),
    /// A file that was there before.
    There(File),
    /// A copy that was proved.
    Proved(ProvedReplica),
    /// Nothing, and why.
    Failed(FileError),
}

/// A proved copy.
#[derive(Clone)]
pub(super) struct ProvedReplica {
    pub(super) grade: Grade,
    pub(super) status: Status,
    /// Whether it was there before.
    pub(super) was_there: bool,
    pub(super) rewrites: u32,
    /// What it lacks of what belongs to the source.
    pub(super) withheld: Vec<Withheld>,
}

/// What every replica of one file is made by.
pub(super) struct Original<'a> {
    pub(super) file: &'a File,
    pub(super) status: Status,
    pub(super) relative: &'a Path,
    pub(super) contents: &'a ReadContents,
    /// The tag that a copy gets.
    pub(super) tag: Tag,
    /// Whether the source's further attributes of ours are those of these contents.
    pub(super) keeps_tags: bool,
    /// The modification time of contents that are not those of the source, which is damaged.
    pub(super) mended_mtime: Option<Timestamp>,
    pub(super) stop: &'a AtomicBool,
}

fn system(operation: &'static str) -> impl Fn(io::Error) -> FileError {
    move |error| FileError::from_io(operation, &error)
}

impl Replica {
    /// Begins the copy of a file in a directory.
    pub(super) fn begin(
        dir: io::Result<Arc<Dir>>,
        (name, draft_name): (&OsStr, &OsStr),
        source: &Status,
    ) -> Replica {
        let begin = || {
            let dir = dir.map_err(system("open the folder"))?;
            match dir.status_of(name) {
                Ok(there) if (there.device, there.inode) == (source.device, source.inode) => {
                    Err(FileError::new("copy", "it is the source itself"))
                }
                Ok(_) => {
                    let file =
                        dir.open_file(name).map_err(system("open the file that is there"))?;
                    Ok(Replica::There(file))
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let draft =
                        Draft::resumable(&dir, draft_name).map_err(system("make a draft"))?;
                    let private = || {
                        disinherit(&draft.to_file()?)?;
                        draft.set_length(source.length)
                    };
                    private().map_err(system("make a draft"))?;
                    Ok(Replica::Draft(draft))
                }
                Err(error) => Err(system("look at its place")(error)),
            }
        };
        begin().unwrap_or_else(Replica::Failed)
    }

    /// Takes away what was written to a draft, because the source is damaged.
    pub(super) fn empty(&mut self) {
        self.set_length(0);
    }

    /// Gives a draft a length.
    pub(super) fn set_length(&mut self, length: u64) {
        if let Replica::Draft(draft) = self
            && let Err(error) = draft.set_length(length)
        {
            *self = Replica::Failed(system("write the copy")(error));
        }
    }

    /// Returns the writer of a draft, which keeps the holes of a file, if there is one like it.
    pub(super) fn writer<'a>(&'a self, like: Option<&'a File>) -> Option<SparseWriter<'a>> {
        match self {
            Replica::Draft(draft) => Some(SparseWriter::new(draft, like)),
            _ => None,
        }
    }

    /// Returns a copy that was proved.
    pub(super) fn proved(&self) -> Option<&ProvedReplica> {
        match self {
            Replica::Proved(proved) => Some(proved),
            _ => None,
        }
    }

    /// Proves the contents by reading them back, and gives a draft its name.
    pub(super) fn prove(self, original: &Original<'_>, device: &Device, name: &OsStr) -> Replica {
        let proved = match self {
            Replica::Draft(draft) => prove_draft(draft, original, device, name),
            Replica::There(file) => prove_there(&file, original, device),
            other => return other,
        };
        proved.map_or_else(Replica::Failed, Replica::Proved)
    }
}

/// Reads a file from its medium. Returns whether it has the contents, and what reading proved.
fn reads_as(original: &Original<'_>, file: &File, device: &Device) -> io::Result<(bool, Grade)> {
    let uncached = UncachedFile::prepare(file)?;
    let status = file.status()?;
    let (algorithm, digest) = original.contents.proof();
    let read =
        read_whole((file, &status), &Direct, &[algorithm], original.stop, &mut |_, _| Ok(()))?;
    let is_same = read.length == original.contents.length && read.digest(algorithm) == Some(digest);
    Ok((is_same, uncached.grade(device)))
}

fn prove_there(
    file: &File,
    original: &Original<'_>,
    device: &Device,
) -> Result<ProvedReplica, FileError> {
    let status = file.status().map_err(system("read the file that is there"))?;
    let other = || FileError::new("copy", "a file with other contents has its name");
    if status.length != original.contents.length {
        return Err(other());
    }
    let (is_same, grade) =
        reads_as(original, file, device).map_err(system("read the file that is there"))?;
    if !is_same {
        return Err(other());
    }
    let now = file.status().map_err(system("read the file that is there"))?;
    if now != status {
        return Err(FileError::new("prove the file that is there", "it changed meanwhile"));
    }
    let differing = || {
        let there = Belongings::of(file)?;
        Ok(Belongings::of(original.file)?.lacking_of(&there, original.file, original.relative))
    };
    let withheld = differing().map_err(system("compare what belongs to it"))?;
    Ok(ProvedReplica { grade, status, was_there: true, rewrites: 0, withheld })
}

fn prove_draft(
    draft: Draft,
    original: &Original<'_>,
    device: &Device,
    name: &OsStr,
) -> Result<ProvedReplica, FileError> {
    let mut rewrites = 0;
    let grade = loop {
        let file = draft.flush_and_open().map_err(system("flush the copy"))?;
        match reads_as(original, &file, device).map_err(system("read the copy back"))? {
            (true, grade) => break grade,
            (false, _) if rewrites == REWRITES_MAX || original.mended_mtime.is_some() => {
                let reason = "what the medium returns is not what was written";
                return Err(FileError::new("prove the copy", reason));
            }
            (false, _) => {}
        }
        rewrites += 1;
        write_again(&draft, original).map_err(system("write the copy again"))?;
    };
    let withheld = give(&draft, original)?;
    let file = draft.to_file().map_err(system("prove the copy"))?;
    let dir = Arc::clone(draft.dir());
    let named = draft.publish_flushed(&dir, name, Existing::Keep);
    named.map_err(system("name the copy"))?;
    // Its new name changed the change time.
    let status = file.status().map_err(system("prove the copy"))?;
    Ok(ProvedReplica { grade, status, was_there: false, rewrites, withheld })
}

/// Writes a draft again from the source, which must still have its contents.
fn write_again(draft: &Draft, original: &Original<'_>) -> io::Result<()> {
    draft.set_length(0)?;
    draft.set_length(original.contents.length)?;
    let mut writer = SparseWriter::new(draft, Some(original.file));
    let source = (original.file, &original.status);
    let (algorithm, digest) = original.contents.proof();
    let engine = crate::read::buffered::Buffered;
    let read = read_whole(source, &engine, &[algorithm], original.stop, &mut |bytes, offset| {
        writer.write(bytes, offset)
    })?;
    match read.digest(algorithm) == Some(digest) {
        true => Ok(()),
        false => Err(io::Error::other("the source has other contents by now")),
    }
}

/// Gives a draft its tag, and all that belongs to the source.
fn give(draft: &Draft, original: &Original<'_>) -> Result<Vec<Withheld>, FileError> {
    let file = draft.to_file().map_err(system("open the copy"))?;
    let all = Belongings::of(original.file).map_err(system("read the source's attributes"))?;
    let all = if original.keeps_tags { all.without_tag() } else { all.without_tags() };
    // Before the mode, which may forbid to write.
    if Xattr.tag(&file).map_err(system("read its tag"))? != StoredTag::Impossible {
        Xattr.write(&file, &original.tag, Replaces::Nothing)?;
    }
    let all = Belongings { mtime: original.mended_mtime.or(all.mtime), ..all };
    Ok(all.give_to(&file, original.relative, UNASKED))
}
