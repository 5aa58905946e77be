//! A draft that takes the place of a file, with all that belongs to it but its contents.
//!
//! The two change names in one step, so at any moment one of them has the name, and neither is
//! lost.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::os::fd::AsFd as _;
use std::sync::Arc;

use rustix::fs::{Gid, Mode, RenameFlags, SeekFrom, Timespec, Timestamps, UTIME_OMIT, Uid};
use rustix::io::Errno;

use super::directory::component;
use super::{Dir, Draft, File, FileKind, Status, Timestamp, platform, retry_on_intr, write_all_at};

/// A part of a file that is stored, or that is not and reads as zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// Where it is.
    pub range: Range<u64>,
    /// Whether it is not stored.
    pub is_hole: bool,
}

/// Whose a file is, and who may do what with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ownership {
    /// Number of the owner.
    pub uid: u32,
    /// Number of the group.
    pub gid: u32,
    /// Permission bits, with the set-user, set-group and sticky bits.
    pub mode: u32,
}

impl File {
    /// Returns whose the file is.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn ownership(&self) -> io::Result<Ownership> {
        Ok(self.status()?.ownership())
    }

    /// Returns how many bytes the file takes on its volume. Holes take none.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn allocated_bytes(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(self)?.st_blocks.cast_unsigned() * 512)
    }
}

impl File {
    /// Returns when the file was last read, as far as the system keeps that.
    ///
    /// # Errors
    /// Whatever the system says.
    #[allow(clippy::useless_conversion, reason = "the nanoseconds are wider on macOS")]
    pub fn last_access(&self) -> io::Result<Timestamp> {
        let stat = rustix::fs::fstat(self)?;
        Ok(Timestamp { seconds: stat.st_atime, nanoseconds: stat.st_atime_nsec as u32 })
    }

    /// Returns the hole or the data that an offset is in. Beyond the end is a hole.
    ///
    /// # Errors
    /// If the file system does not tell; otherwise whatever the system says.
    pub fn extent_at(&self, offset: u64) -> io::Result<FileExtent> {
        let data = match rustix::fs::seek(self, SeekFrom::Data(offset)) {
            Err(Errno::NXIO) => return Ok(FileExtent { range: offset..u64::MAX, is_hole: true }),
            data => data?,
        };
        if data > offset {
            return Ok(FileExtent { range: offset..data, is_hole: true });
        }
        let end = rustix::fs::seek(self, SeekFrom::Hole(offset))?;
        Ok(FileExtent { range: offset..end, is_hole: false })
    }

    /// Returns the length of the blocks in which the file is stored, in bytes.
    ///
    /// # Errors
    /// Whatever the system says.
    #[allow(clippy::useless_conversion, reason = "the length is narrower on macOS")]
    pub fn block_len(&self) -> io::Result<u64> {
        let len = i64::from(rustix::fs::fstat(self)?.st_blksize);
        Ok(u64::try_from(len).unwrap_or(0).clamp(512, 1 << 20))
    }

    /// Gives the file to another owner or group.
    ///
    /// # Errors
    /// `PermissionDenied` if only another user may do that; otherwise whatever the system says.
    pub fn set_owner(&self, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
        Ok(rustix::fs::fchown(self, uid.map(Uid::from_raw), gid.map(Gid::from_raw))?)
    }

    /// Sets the permission bits, with the set-user, set-group and sticky bits.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(self, Mode::from_raw_mode(mode as rustix::fs::RawMode))?)
    }

    /// Sets the times of the last access and of the last modification. `None` leaves one as it is.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn set_times(
        &self,
        access: Option<Timestamp>,
        modification: Option<Timestamp>,
    ) -> io::Result<()> {
        let time = |time: Option<Timestamp>| match time {
            Some(time) => Timespec { tv_sec: time.seconds, tv_nsec: time.nanoseconds.into() },
            None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        };
        let times = Timestamps { last_access: time(access), last_modification: time(modification) };
        Ok(rustix::fs::futimens(self, &times)?)
    }

    /// Returns whether only the user of this process and root can write to the file or folder, or
    /// replace what is in the folder: it belongs to one of them, and nobody else may write there.
    ///
    /// A group with the number of the owner counts as the owner's alone, as systems make one for
    /// each user. In a folder with the sticky bit nobody can replace what others have there.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn is_ours_alone(&self) -> io::Result<bool> {
        let status = self.status()?;
        let Ownership { uid, gid, mode } = status.ownership();
        let is_ours = uid == 0 || uid == rustix::process::geteuid().as_raw();
        let others = if gid == uid { 0o002 } else { 0o022 };
        let is_sticky = mode & 0o1000 != 0 && status.kind == FileKind::Directory;
        Ok(is_ours && (mode & others == 0 || is_sticky))
    }
}

impl Draft {
    /// Gives an empty draft the contents of a file, which then share their blocks until one of them
    /// is written to. Returns false if the file system cannot do that.
    ///
    /// # Errors
    /// If the medium fails or is full.
    pub fn share_blocks(&self, file: &File) -> io::Result<bool> {
        platform::share_blocks(self.handle(), file)
    }

    /// Gives an empty draft the flags that the owner of a file has set, as by `chattr`.
    ///
    /// # Errors
    /// If the system does not give it all of them.
    pub fn copy_flags(&self, file: &File) -> io::Result<()> {
        platform::copy_flags(self.handle(), file)
    }

    /// Writes bytes at an offset. What lies between them and earlier ones is a hole.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all_at(self.handle(), bytes, offset)
    }

    /// Sets the length in bytes.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn set_length(&self, length: u64) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::ftruncate(self.handle(), length))?)
    }

    /// Flushes the bytes to the medium and opens the draft again to read it.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn flush_and_open(&self) -> io::Result<File> {
        platform::flush(self.handle().as_fd())?;
        self.dir().open_file(self.name())
    }

    /// Flushes the draft to the medium and exchanges its name with that of a file in a directory of
    /// the same volume.
    ///
    /// # Errors
    /// `Unsupported` if the file system cannot exchange names; otherwise whatever the system says.
    /// After an error the names are unchanged and the draft is removed.
    pub fn exchange(mut self, place: &Arc<Dir>, name: &OsStr) -> io::Result<Displaced> {
        let name = component(name)?;
        platform::flush(self.handle().as_fd())?;
        let dir = Arc::clone(self.dir());
        rustix::fs::renameat_with(&*dir, self.name(), &**place, name, RenameFlags::EXCHANGE)
            .map_err(|error| match super::create::UNSUPPORTED.contains(&error) {
                true => io::Error::new(
                    io::ErrorKind::Unsupported,
                    "the file system cannot exchange the names of two files",
                ),
                false => error.into(),
            })?;
        let former = (Arc::clone(place), name.to_owned());
        Ok(Displaced { dir, name: self.keep(), former })
    }
}

/// A file whose name a draft took. It has the draft's name until it is moved.
#[derive(Debug)]
pub struct Displaced {
    dir: Arc<Dir>,
    name: OsString,
    /// Where it was.
    former: (Arc<Dir>, OsString),
}

impl Displaced {
    /// Returns the status of the file.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn status(&self) -> io::Result<Status> {
        self.dir.status_of(&self.name)
    }

    /// Gives the file its former name again and removes what has it now.
    ///
    /// # Errors
    /// Whatever the system says; the names are then as they are.
    pub fn undo(self) -> io::Result<()> {
        let (place, former) = &self.former;
        rustix::fs::renameat(&*self.dir, &self.name, &**place, former)?;
        place.flush()?;
        self.dir.flush()
    }

    /// Moves the file to a name in another directory, which nothing has yet, and flushes all
    /// directories.
    ///
    /// # Errors
    /// Whatever the system says; the file keeps the draft's name then.
    pub fn move_to(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        self.former.0.flush()?;
        self.dir.move_to(&self.name, dir, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    #[test]
    fn a_draft_takes_the_place_of_a_file_and_all_that_belongs_to_it() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("name"), "old").unwrap();
        fs::set_permissions(path("name"), fs::Permissions::from_mode(0o4640)).unwrap();
        let dir = Arc::new(Dir::open(root.path()).unwrap());
        let like = dir.open_file(OsStr::new("name")).unwrap().ownership().unwrap();
        assert_eq!(like.mode, 0o4640);
        let mut draft = Draft::new(&dir).unwrap();
        draft.write_all(b"new").unwrap();
        draft.write_at(b"end", 100_000).unwrap();
        draft.set_length(100_002).unwrap();
        let mtime = Timestamp { seconds: 1_234_567_890, nanoseconds: 123_456_789 };
        let file = draft.to_file().unwrap();
        file.set_mode(like.mode).unwrap();
        file.set_times(None, Some(mtime)).unwrap();
        assert_eq!(draft.flush_and_open().unwrap().status().unwrap().length, 100_002);
        let old = draft.exchange(&dir, OsStr::new("name")).unwrap();
        let found = fs::metadata(path("name")).unwrap();
        assert_eq!((found.mode() & 0o7777, found.mtime()), (0o4640, 1_234_567_890));
        assert_eq!((found.mtime_nsec(), found.len()), (123_456_789, 100_002));
        assert_eq!(fs::read(path("name")).unwrap()[..4], *b"new\0");
        assert_eq!(fs::read(root.path().join(&old.name)).unwrap(), b"old");
        let kept = dir.make_dir(OsStr::new("kept")).unwrap();
        old.move_to(&kept, OsStr::new("it")).unwrap();
        assert_eq!(fs::read(path("kept/it")).unwrap(), b"old");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2);
    }

    #[test]
    fn an_exchange_can_be_undone_and_moves_replace_nothing() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("name"), "old").unwrap();
        fs::write(path("taken"), "mine").unwrap();
        let dir = Arc::new(Dir::open(root.path()).unwrap());
        let stage = Arc::new(dir.make_dir(OsStr::new("stage")).unwrap());
        let old = Draft::new(&stage).unwrap().exchange(&dir, OsStr::new("name")).unwrap();
        assert_eq!(fs::read(root.path().join("stage").join(&old.name)).unwrap(), b"old");
        assert!(old.move_to(&dir, OsStr::new("taken")).is_err());
        assert_eq!(fs::read(path("taken")).unwrap(), b"mine");
        old.undo().unwrap();
        assert_eq!(fs::read(path("name")).unwrap(), b"old");
        assert!(Draft::new(&stage).unwrap().exchange(&dir, OsStr::new("absent")).is_err());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 3);
        assert_eq!(fs::read_dir(path("stage")).unwrap().count(), 0, "no draft is left");
    }
}
