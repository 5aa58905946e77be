//! The journal of a repair in place: what the file has, and what it is to have, page by page.
//!
//! It is written and flushed before the first byte of the file is changed.
//! `docs/reference/repair.md` specifies its bytes. Readers trust nothing in it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_sys::file::{AlignedBuffer, ChangedFile, Timestamp};
use steadfast_sys::names::NameBytes as _;
use steadfast_sys::source::ReadAt as _;

use crate::pages::Descriptor;

/// The longest path, in bytes.
pub(super) const PATH_LEN_MAX: u64 = 1 << 16;

/// The beginning of a journal.
const MAGIC: [u8; 8] = *b"STDFRPR1";

/// The offset that ends the pages.
const END: u64 = u64::MAX;

/// Bytes of a page, at most.
pub(super) const JOURNAL_PAGE_LEN: usize = 4096;

/// Bytes of the check value at the end: SHA-256 of all before it.
const SUM_LEN: u64 = 32;

/// The file that a journal is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JournalSubject {
    /// Its path beneath the root.
    pub(super) relative: PathBuf,
    /// Its inode.
    pub(super) inode: u64,
    /// Its length and modification time before the repair.
    pub(super) old_length: u64,
    pub(super) old_mtime: Timestamp,
    /// Its length after it.
    pub(super) new_length: u64,
}

/// A page that the repair changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JournalPage {
    pub(super) offset: u64,
    /// What the file has there; fewer bytes at its end, and none if they cannot be read.
    pub(super) old: Vec<u8>,
    /// What it is to have; fewer bytes at its end.
    pub(super) new: Vec<u8>,
}

/// Why a file was not changed, or not changed back.
const MEANWHILE: &str = "another program wrote to it meanwhile";

impl JournalPage {
    /// Says whether the page could not be read when the journal was written.
    fn was_unread(&self, subject: &JournalSubject) -> bool {
        self.old.is_empty() && self.offset < subject.old_length
    }

    /// Says whether what a file has at the place of a page, fewer bytes at its end, can be what a
    /// repair that was cut off left there: each byte is one that it had or one that it is to have.
    /// `None` is a page that cannot be read. Whatever else is there was written by somebody since.
    pub(super) fn is_cut_off(&self, found: Option<&[u8]>, subject: &JournalSubject) -> bool {
        let byte = |bytes: &[u8], at: usize| bytes.get(at).copied().unwrap_or_default();
        // A page that could not be read is as the repair wrote it, or as a drive replaced it.
        let was_unread = self.was_unread(subject);
        let new_only = |at: usize, found: u8| found == byte(&self.new, at) || found == 0;
        let either =
            |at: usize, found: u8| found == byte(&self.old, at) || found == byte(&self.new, at);
        found.is_none_or(|found| {
            found.iter().enumerate().all(|(at, found)| match was_unread {
                true => new_only(at, *found),
                false => either(at, *found),
            })
        })
    }
}

impl JournalSubject {
    /// Says whether a file of this length can be one that the repair left: a longer or shorter one
    /// was changed by somebody.
    pub(super) fn may_have_length(&self, length: u64) -> bool {
        let lengths = [self.old_length, self.new_length];
        lengths.iter().any(|it| *it <= length) && lengths.iter().any(|it| *it >= length)
    }
}

/// Writes a journal.
pub(super) struct JournalWriter<W> {
    out: W,
    sum: AlgorithmHasher,
    /// The last page.
    last: Option<u64>,
}

impl<W: io::Write> JournalWriter<W> {
    pub(super) fn begin(out: W, subject: &JournalSubject) -> io::Result<JournalWriter<W>> {
        let mut writer =
            JournalWriter { out, sum: AlgorithmHasher::new(Algorithm::Sha256), last: None };
        let path = subject.relative.as_bytes();
        let JournalSubject { inode, old_length, old_mtime, new_length, .. } = subject;
        writer.put(&MAGIC)?;
        for number in [*inode, *old_length, *new_length, old_mtime.seconds.cast_unsigned()] {
            writer.put(&number.to_le_bytes())?;
        }
        writer.put(&old_mtime.nanoseconds.to_le_bytes())?;
        writer.put(&(path.len() as u32).to_le_bytes())?;
        writer.put(path)?;
        Ok(writer)
    }

    pub(super) fn page(&mut self, offset: u64, old: &[u8], new: &[u8]) -> io::Result<()> {
        self.last = Some(offset);
        self.put(&offset.to_le_bytes())?;
        for bytes in [old, new] {
            self.put(&(bytes.len() as u32).to_le_bytes())?;
            self.put(bytes)?;
        }
        Ok(())
    }

    /// Returns the offset of the last page that was written.
    pub(super) fn last(&self) -> Option<u64> {
        self.last
    }

    /// Ends the journal. Returns whether it has pages.
    pub(super) fn end(mut self) -> io::Result<bool> {
        self.put(&END.to_le_bytes())?;
        let sum = self.sum.finalize();
        self.out.write_all(sum.as_bytes())?;
        self.out.flush()?;
        Ok(self.last.is_some())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.out.write_all(bytes)
    }
}

/// A whole journal.
#[derive(Debug)]
pub(super) struct RepairJournal {
    file: fs::File,
    /// The name of the file in its folder.
    pub(super) name: OsString,
    pub(super) subject: JournalSubject,
    /// Where its pages begin.
    start: u64,
}

impl RepairJournal {
    /// Reads a journal to its end once.
    ///
    /// # Errors
    /// `InvalidData` if it is not whole; otherwise whatever the system says.
    pub(super) fn open(mut file: fs::File, name: &OsStr) -> io::Result<RepairJournal> {
        ensure_sum(&mut file)?;
        file.seek(SeekFrom::Start(0))?;
        let mut input = BufReader::new(&file);
        let mut magic = [0; 8];
        input.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(damaged());
        }
        let (inode, old_length) = (number(&mut input)?, number(&mut input)?);
        let (new_length, seconds) = (number(&mut input)?, number(&mut input)?.cast_signed());
        let nanoseconds = short(&mut input)?;
        let len = short(&mut input)? as usize;
        if len as u64 > PATH_LEN_MAX {
            return Err(damaged());
        }
        let mut path = vec![0; len];
        input.read_exact(&mut path)?;
        let relative = PathBuf::from(Path::from_bytes(&path));
        let old_mtime = Timestamp { seconds, nanoseconds };
        let subject = JournalSubject { relative, inode, old_length, old_mtime, new_length };
        let start = 8 + 4 * 8 + 2 * 4 + len as u64;
        let journal = RepairJournal { file, name: name.to_owned(), subject, start };
        let mut from = 0;
        journal.each(&mut |page| {
            // So each page lies in one span of a reader, and none comes twice.
            let is_page =
                page.offset.is_multiple_of(JOURNAL_PAGE_LEN as u64) && page.offset >= from;
            from = page.offset.saturating_add(JOURNAL_PAGE_LEN as u64);
            if is_page { Ok(()) } else { Err(damaged()) }
        })?;
        Ok(journal)
    }

    /// Begins to read the pages, in the order of offsets.
    ///
    /// # Errors
    /// Whatever the system says.
    pub(super) fn pages(&self) -> io::Result<JournalPages<'_>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.start))?;
        Ok(JournalPages { input: BufReader::new(file) })
    }

    fn each(&self, visit: &mut dyn FnMut(&JournalPage) -> io::Result<()>) -> io::Result<()> {
        let mut pages = self.pages()?;
        while let Some(page) = pages.next()? {
            visit(&page)?;
        }
        Ok(())
    }

    /// Writes the new pages into the file and gives it its new length and a modification time.
    ///
    /// # Errors
    /// Whatever the system says; also if another program wrote to the file since it was looked at.
    /// The file then has some pages of both.
    pub(super) fn apply(&self, file: &ChangedFile, mtime: Timestamp) -> io::Result<()> {
        self.each_in(file, &mut |page, is_ours| match is_ours || page.was_unread(&self.subject) {
            true => file.write_at(&page.new, page.offset),
            false => Err(io::Error::other(MEANWHILE)),
        })?;
        // What was appended must not be cut off.
        if !self.subject.may_have_length(file.status()?.length) {
            return Err(io::Error::other(MEANWHILE));
        }
        self.set_length(file, self.subject.new_length)?;
        file.finish(mtime)
    }

    /// Writes the old pages back, and the old length and time. Pages that could not be read keep
    /// what is there.
    ///
    /// # Errors
    /// As [`RepairJournal::apply`]. Also if another program wrote to the file meanwhile: what it
    /// wrote stays.
    pub(super) fn undo(&self, file: &ChangedFile) -> io::Result<()> {
        let mut all_ours = self.subject.may_have_length(file.status()?.length);
        self.each_in(file, &mut |page, is_ours| {
            all_ours &= is_ours;
            if is_ours { file.write_at(&page.old, page.offset) } else { Ok(()) }
        })?;
        if !all_ours {
            file.flush()?;
            return Err(io::Error::other(MEANWHILE));
        }
        self.set_length(file, self.subject.old_length)?;
        file.finish(self.subject.old_mtime)
    }

    /// Visits each page, with whether the file has in its place what a repair may have left there.
    fn each_in(
        &self,
        file: &ChangedFile,
        visit: &mut dyn FnMut(&JournalPage, bool) -> io::Result<()>,
    ) -> io::Result<()> {
        let reader = file.to_file()?;
        let source = Descriptor { file: &reader, len_bytes: file.status()?.length };
        let mut found = AlignedBuffer::new(JOURNAL_PAGE_LEN);
        self.each(&mut |page| {
            let left = source.len_bytes.saturating_sub(page.offset);
            let found = &mut found[..left.min(JOURNAL_PAGE_LEN as u64) as usize];
            let is_read = source.read_exact_at(found, page.offset).is_ok();
            visit(page, page.is_cut_off(is_read.then_some(&*found), &self.subject))
        })
    }

    /// Otherwise the length stays: another program may have appended something.
    fn set_length(&self, file: &ChangedFile, length: u64) -> io::Result<()> {
        match self.subject.old_length == self.subject.new_length {
            true => Ok(()),
            false => file.set_length(length),
        }
    }
}

/// The pages of a journal, one after the other.
pub(super) struct JournalPages<'a> {
    input: BufReader<&'a fs::File>,
}

impl JournalPages<'_> {
    /// Reads the next page; `None` at the end.
    ///
    /// # Errors
    /// As [`RepairJournal::open`].
    pub(super) fn next(&mut self) -> io::Result<Option<JournalPage>> {
        let offset = number(&mut self.input)?;
        if offset == END {
            return Ok(None);
        }
        let mut page = JournalPage { offset, ..JournalPage::default() };
        for bytes in [&mut page.old, &mut page.new] {
            let len = short(&mut self.input)? as usize;
            if len > JOURNAL_PAGE_LEN {
                return Err(damaged());
            }
            bytes.resize(len, 0);
            self.input.read_exact(bytes)?;
        }
        Ok(Some(page))
    }
}

/// Compares the check value at the end of a journal.
fn ensure_sum(file: &mut fs::File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let body = length.checked_sub(SUM_LEN).ok_or_else(damaged)?;
    file.seek(SeekFrom::Start(0))?;
    let mut input = BufReader::new(file);
    let mut sum = AlgorithmHasher::new(Algorithm::Sha256);
    let mut buffer = vec![0; 1 << 16];
    let mut left = body;
    while left > 0 {
        let len = left.min(buffer.len() as u64) as usize;
        input.read_exact(&mut buffer[..len])?;
        sum.update(&buffer[..len]);
        left -= len as u64;
    }
    let mut stored = [0; SUM_LEN as usize];
    input.read_exact(&mut stored)?;
    if sum.finalize().as_bytes() == stored { Ok(()) } else { Err(damaged()) }
}

fn number(input: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn short(input: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the journal is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn subject() -> JournalSubject {
        JournalSubject {
            relative: PathBuf::from(Path::from_bytes(b"a/b\xff")),
            inode: 7,
            old_length: 8192,
            old_mtime: Timestamp { seconds: -5, nanoseconds: 6 },
            new_length: 5000,
        }
    }

    fn written(pages: &[(u64, &[u8], &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = JournalWriter::begin(&mut bytes, &subject()).unwrap();
        pages.iter().for_each(|(offset, old, new)| writer.page(*offset, old, new).unwrap());
        writer.end().unwrap();
        bytes
    }

    fn opened(path: &Path, bytes: &[u8]) -> io::Result<RepairJournal> {
        fs::write(path, bytes).unwrap();
        RepairJournal::open(fs::File::open(path).unwrap(), OsStr::new("journal"))
    }

    #[test]
    fn what_another_program_wrote_is_neither_overwritten_nor_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = written(&[(0, &[1; 4096], &[2; 4096]), (4096, &[3; 4096], &[4; 904])]);
        let journal = opened(&folder.path().join("journal"), &bytes).unwrap();
        let path = folder.path().join("file");
        let before = [[1; 4096], [3; 4096]].concat();
        let mtime = Timestamp { seconds: 9, nanoseconds: 0 };
        let apply = |contents: &[u8]| {
            fs::write(&path, contents).unwrap();
            let dir = steadfast_sys::file::Dir::open(folder.path()).unwrap();
            let file = dir.open_to_change(OsStr::new("file")).unwrap();
            (journal.apply(&file, mtime).is_ok(), fs::read(&path).unwrap())
        };
        assert_eq!(apply(&before), (true, [&[2; 4096][..], &[4; 904]].concat()));
        // In a page, and behind the end.
        let mut edited = before.clone();
        edited[100] = 9;
        assert_eq!(apply(&edited), (false, edited.clone()));
        let appended = [&before[..], b"9"].concat();
        let (is_applied, left) = apply(&appended);
        assert!(!is_applied && left.len() == appended.len() && left.ends_with(b"9"));
    }

    #[test]
    fn a_journal_is_read_as_it_was_written_and_only_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let bytes = written(&[(0, &[1; 4096], &[2; 4096]), (4096, &[3; 4096], &[4; 904])]);
        let journal = opened(&path, &bytes).unwrap();
        assert_eq!(journal.subject, subject());
        let mut found = Vec::new();
        let mut note = |page: &JournalPage| {
            found.push((page.offset, page.old[0], page.new.len()));
            Ok(())
        };
        journal.each(&mut note).unwrap();
        assert_eq!(found, [(0, 1, 4096), (4096, 3, 904)]);
        for len in 0..bytes.len() {
            assert!(opened(&path, &bytes[..len]).is_err(), "{len}");
        }
        for at in (0..bytes.len()).step_by(61) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(opened(&path, &damaged).is_err(), "{at}");
        }
        for pages in [&[(1, &[1][..], &[1][..])][..], &[(4096, &[1], &[1]), (0, &[1], &[1])]] {
            assert!(opened(&path, &written(pages)).is_err(), "{pages:?}");
        }
    }
}
