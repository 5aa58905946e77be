//! A repair in place: the changed pages alone are written into the file, which keeps its names, its
//! owner and its attributes, and needs little room.
//!
//! Old and new pages are flushed to a journal before. A repair that is cut off is finished with it.

use std::ffi::OsStr;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use steadfast_manifest::tag::Tag;
use steadfast_sys::cache;
use steadfast_sys::file::{AlignedBuffer, ChangedFile, Draft, Existing, File, Status};
use steadfast_sys::source::ReadAt as _;
use steadfast_sys::xattr;

use super::copies::Own;
use super::journal::{JOURNAL_PAGE_LEN, JournalSubject, JournalWriter, RepairJournal};
use super::links::ensure_all_beneath;
use super::mend::{MendedContents, MendedSpan, SPAN_LEN, WantedSpans, digest_matches, go_on};
use super::originals::Originals;
use super::target::RepairTarget;
use super::unfinished::{Unfinished, journal_of};
use super::{changed, refused, system};
use crate::advice::Advice;
use crate::beneath;
use crate::event::FileError;
use crate::pages::Descriptor;

/// Set-user and set-group bits, which a write by another than the owner takes away.
const SET_ID: u32 = 0o6000;

/// The longest name of a file, in bytes.
const NAME_LEN_MAX: usize = 255;

/// Capabilities of a program, which any write takes away.
const CAPABILITIES: &str = "security.capability";

/// Writes the changed pages into the file. Returns its names, and its status then, if that can be
/// told.
pub(super) fn replace_in_place(
    target: &RepairTarget,
    own: &Own,
    contents: &MendedContents<'_>,
    originals: &Originals,
    stop: &AtomicBool,
) -> Result<(Vec<PathBuf>, Option<Status>), FileError> {
    let name = target.relative.file_name().ok_or_else(|| refused("it has no name"))?;
    let parent = target.relative.parent().unwrap_or(Path::new(""));
    let dir = beneath::directory(&target.root, parent).map_err(system("open its folder"))?;
    let catalogue = target.catalogue.as_deref();
    let names = ensure_all_beneath(&target.root, &target.relative, &own.status, catalogue, stop)?;
    drop(own.file.hold_off_writers().map_err(system("change it"))?);
    let file = dir.open_to_change(name).map_err(system("open it to change it"))?;
    ensure_writable(own, &file)?;
    let work = originals.work().map_err(system("prepare the journal"))?;
    let journal_name = journal_of(own.status.inode);
    let differs = write_journal(work, &journal_name, target, own, contents, stop)
        .map_err(system("write the journal"))?;
    if !differs {
        prove(&own.file, &target.tag, stop)?;
        return Ok((names, Some(own.status)));
    }
    let done = match work.journal(&journal_name) {
        Ok(journal) => change(&journal, &file, target, own, stop),
        Err(error) => {
            let error = FileError::from_io("read the journal back", &error);
            Err(Undone { error, is_undone: true })
        }
    };
    if let Err(Undone { error, is_undone }) = done {
        if is_undone {
            let _ = work.dir().remove_file(&journal_name);
        }
        return Err(error);
    }
    let now = file.status().ok();
    let kept = keep(work, &journal_name, originals, &target.relative);
    kept.map_err(system("keep the damaged pages")).map(|()| (names, now))
}

/// Says whether a file with several names is as its tag says already, because another of the names
/// was repaired.
pub(super) fn is_repaired(
    target: &RepairTarget,
    own: &Own,
    stop: &AtomicBool,
) -> Result<bool, FileError> {
    let may_be = own.status.links > 1
        && (own.status.length, own.status.mtime) == (target.tag.length, target.mtime());
    let failed = system("read it");
    Ok(may_be && digest_matches(&own.file, &target.tag, stop).map_err(failed)?)
}

/// Moves the journal of a finished repair to where damaged files are kept.
pub(super) fn keep(
    work: &Unfinished,
    journal: &OsStr,
    originals: &Originals,
    relative: &Path,
) -> io::Result<()> {
    let mut name = relative.file_name().unwrap_or_default().to_owned();
    name.push(".pages");
    let name = if name.len() > NAME_LEN_MAX { journal } else { &name };
    work.dir().move_to(journal, &originals.dir_for(relative)?, name)
}

/// Fails if the file is another than the one that was read, or a write would take something away.
fn ensure_writable(own: &Own, file: &ChangedFile) -> Result<(), FileError> {
    if file.status().map_err(system("look at it again"))? != own.status {
        return Err(changed("the file was changed meanwhile"));
    }
    let has_capabilities =
        matches!(xattr::get(&own.file, CAPABILITIES, &mut [0; 256]), Ok(Some(_)));
    if own.status.mode & SET_ID != 0 || has_capabilities {
        return Err(refused("writing into it would take away its set-user bits or capabilities")
            .advise(Advice::RepairNotInPlace));
    }
    Ok(())
}

/// Writes the pages that differ, and flushes them. Returns false, and writes nothing, if nothing
/// does.
fn write_journal(
    work: &Unfinished,
    name: &OsStr,
    target: &RepairTarget,
    own: &Own,
    contents: &MendedContents<'_>,
    stop: &AtomicBool,
) -> io::Result<bool> {
    let (old_length, new_length) = (own.status.length, target.tag.length);
    let subject = JournalSubject {
        relative: target.relative.clone(),
        inode: own.status.inode,
        old_length,
        old_mtime: own.status.mtime,
        new_length,
    };
    let mut draft = Draft::new(work.dir())?;
    let mut journal = JournalWriter::begin(BufWriter::new(&mut draft), &subject)?;
    let source = Descriptor { file: &own.file, len_bytes: old_length };
    let mut old = AlignedBuffer::new(SPAN_LEN);
    contents.copy_to(WantedSpans::Lacking, stop, &mut |span: MendedSpan<'_>| {
        let len = span.bytes.len().next_multiple_of(JOURNAL_PAGE_LEN);
        each_page(&source, span.offset, len, &mut old, &mut |at, old| {
            let new = &span.bytes[at..(at + JOURNAL_PAGE_LEN).min(span.bytes.len())];
            let is_hole = || old.is_some_and(<[u8]>::is_empty) && new.iter().all(|it| *it == 0);
            match old == Some(new) || is_hole() {
                true => Ok(()),
                false => journal.page(span.offset + at as u64, old.unwrap_or_default(), new),
            }
        })
    })?;
    // What the file has beyond its new end is kept, too, from the page on that has the new end.
    let mut offset = new_length - new_length % JOURNAL_PAGE_LEN as u64;
    if journal.last() == Some(offset) {
        offset += JOURNAL_PAGE_LEN as u64;
    }
    while offset < old_length {
        go_on(stop)?;
        each_page(&source, offset, SPAN_LEN, &mut old, &mut |at, old| {
            let place = offset + at as u64;
            let old = old.unwrap_or_default();
            let (new, tail) =
                old.split_at(new_length.saturating_sub(place).min(old.len() as u64) as usize);
            // Zeros come back with the length.
            match tail.iter().all(|byte| *byte == 0) {
                true => Ok(()),
                false => journal.page(place, old, new),
            }
        })?;
        offset += SPAN_LEN as u64;
    }
    let differs = journal.end()? || old_length != new_length;
    if own.file.status()? != own.status {
        return Err(io::Error::other("the file was changed meanwhile"));
    }
    if differs || own.status.mtime != target.mtime() {
        draft.publish(name, Existing::Keep)?;
        return Ok(true);
    }
    Ok(false)
}

/// Hears of the pages of a part of a file: the place in that part, and the bytes.
type PageVisitor<'a> = dyn FnMut(usize, Option<&[u8]>) -> io::Result<()> + 'a;

/// Reads a part of a file and passes on each page with its place in that part: fewer bytes at the
/// end of the file, none beyond it, and `None` if it cannot be read.
pub(super) fn each_page(
    source: &Descriptor<'_>,
    offset: u64,
    len: usize,
    buffer: &mut [u8],
    visit: &mut PageVisitor<'_>,
) -> io::Result<()> {
    let there = source.len_bytes.saturating_sub(offset).min(len as u64) as usize;
    let is_whole = source.read_exact_at(&mut buffer[..there], offset).is_ok();
    for at in (0..len).step_by(JOURNAL_PAGE_LEN) {
        let page = at.min(there)..(at + JOURNAL_PAGE_LEN).min(there);
        let place = offset + page.start as u64;
        let bytes = &mut buffer[page];
        let is_read = is_whole || bytes.is_empty() || source.read_exact_at(bytes, place).is_ok();
        visit(at, is_read.then_some(&*bytes))?;
    }
    Ok(())
}

/// Changes the file as its journal says, and proves it. After an error it is as it was, unless the
/// error says otherwise.
fn change(
    journal: &RepairJournal,
    file: &ChangedFile,
    target: &RepairTarget,
    own: &Own,
    stop: &AtomicBool,
) -> Result<(), Undone> {
    // As late as possible, because a write of another program would be overwritten.
    if !file.status().is_ok_and(|now| now == own.status) {
        let error = changed("the file was changed meanwhile");
        return Err(Undone { error, is_undone: true });
    }
    let changed = journal.apply(file, target.mtime()).map_err(system("write into it"));
    let Err(error) = changed.and_then(|()| prove(&own.file, &target.tag, stop)) else {
        return Ok(());
    };
    match journal.undo(file) {
        Ok(()) => Err(Undone { error, is_undone: true }),
        Err(undoing) => {
            let reason = format!(
                "{}; then its damaged pages could not be put back: {undoing}",
                error.reason
            );
            let error = FileError { reason, ..error }.advise(Advice::Repair);
            Err(Undone { error, is_undone: false })
        }
    }
}

/// Why a file was not changed, and whether it is as it was.
struct Undone {
    error: FileError,
    is_undone: bool,
}

/// Reads the file back from the medium: length and digest must be those of the tag.
pub(super) fn prove(file: &File, tag: &Tag, stop: &AtomicBool) -> Result<(), FileError> {
    let failed = system("read it back");
    let _ = cache::drop_cached(file);
    let length = file.status().map_err(&failed)?.length;
    match length == tag.length && digest_matches(file, tag, stop).map_err(&failed)? {
        true => Ok(()),
        false => Err(refused("the mended contents do not have the digest of its tag")),
    }
}
