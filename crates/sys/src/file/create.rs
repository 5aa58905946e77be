//! Creating and removing files of a program's own, by name beneath an open directory.
//!
//! For directories that a program makes for itself. No symlink is followed and no name leads out of
//! the directory. An existing file is opened for writing only if it is a regular file with one
//! name.

use std::ffi::OsStr;
use std::fs;
use std::io;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::directory::component;
use super::{Dir, FileKind, Status, platform, retry_on_intr};

/// Flags of a new file: written and read back.
pub(super) const NEW: OFlags = OFlags::RDWR
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Flags of a file of a program's own: created if it is absent. Opening never waits.
const OWN: OFlags = OFlags::RDWR
    .union(OFlags::CREATE)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Errors of file systems that do not support a flag or a call.
pub(super) const UNSUPPORTED: [Errno; 4] =
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP];

/// Readable and writable by its owner alone.
pub(super) const OWNERS: Mode = Mode::RUSR.union(Mode::WUSR);

impl Dir {
    /// Creates a file in this directory that only its owner can read.
    ///
    /// # Errors
    /// `AlreadyExists` if anything has the name; `InvalidInput` when the name is not one component;
    /// otherwise whatever the system says.
    pub fn create_file(&self, name: &OsStr) -> io::Result<fs::File> {
        let name = component(name)?;
        let fd = retry_on_intr(|| rustix::fs::openat(self, name, NEW, OWNERS))?;
        Ok(fs::File::from(fd))
    }

    /// Creates a directory in this one that only its owner can enter, and opens it.
    ///
    /// # Errors
    /// As those of [`Dir::create_file`].
    pub fn create_dir(&self, name: &OsStr) -> io::Result<Dir> {
        rustix::fs::mkdirat(self, component(name)?, OWNERS | Mode::XUSR)?;
        self.open_dir(name)
    }

    /// Opens a directory in this one, and creates it if it is absent. The umask of the process
    /// applies.
    ///
    /// # Errors
    /// As those of [`Dir::open_dir`]: a symlink there is not followed.
    pub fn make_dir(&self, name: &OsStr) -> io::Result<Dir> {
        match rustix::fs::mkdirat(self, component(name)?, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.open_dir(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a directory in this one. If it is absent, creates one that only its owner can enter.
    ///
    /// # Errors
    /// As those of [`Dir::open_dir`].
    pub fn make_private_dir(&self, name: &OsStr) -> io::Result<Dir> {
        match self.create_dir(name) {
            // It was there, or another thread made it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.open_dir(name),
            made => made,
        }
    }

    /// Opens a directory of a program's own in this one, and creates it if it is absent: nobody but
    /// its owner can change what is in it.
    ///
    /// # Errors
    /// As those of [`Dir::open_dir`]: a symlink there is not followed.
    pub fn make_own_dir(&self, name: &OsStr) -> io::Result<Dir> {
        match rustix::fs::mkdirat(self, component(name)?, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => self.open_dir(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a file of a program's own to read and write it. If it is absent, creates one that only
    /// its owner can read.
    ///
    /// # Errors
    /// `InvalidInput` if the existing file is not a regular file or has another name: somebody may
    /// have planted a symlink, a fifo or a hard link. Otherwise the error of the system.
    pub fn open_own(&self, name: &OsStr) -> io::Result<fs::File> {
        // Checked before opening, because opening a device may change its state.
        self.status_of_own(name)?;
        let fd = retry_on_intr(|| rustix::fs::openat(self, name, OWN, OWNERS))?;
        ensure_own(&platform::status(&rustix::fs::fstat(&fd)?))?;
        Ok(fs::File::from(fd))
    }

    /// Returns the status of a file of a program's own; `None` if it is absent.
    ///
    /// # Errors
    /// As those of [`Dir::open_own`].
    pub fn status_of_own(&self, name: &OsStr) -> io::Result<Option<Status>> {
        match self.status_of(name) {
            Ok(status) => ensure_own(&status).map(|()| Some(status)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Renames an entry of this directory. Replaces an entry with the new name; a symlink itself is
    /// replaced, not its target.
    ///
    /// # Errors
    /// `InvalidInput` when a name is not one component; otherwise whatever the system says.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(self, component(from)?, self, component(to)?)?)
    }

    /// Moves an entry to a name in another directory, which nothing has yet, and flushes both.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is taken; otherwise whatever the system says.
    pub fn move_to(&self, from: &OsStr, dir: &Dir, to: &OsStr) -> io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        rustix::fs::renameat_with(self, component(from)?, dir, component(to)?, flags)?;
        dir.flush()?;
        self.flush()
    }

    /// Renames an entry, in this directory or to another one of the same volume, to a name that
    /// nothing has yet.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is taken; otherwise whatever the system says.
    pub fn rename_to_new(&self, from: &OsStr, dir: &Dir, to: &OsStr) -> io::Result<()> {
        let (from, to) = (component(from)?, component(to)?);
        match rustix::fs::renameat_with(self, from, dir, to, RenameFlags::NOREPLACE) {
            // NFS and some FUSE file systems do not support the flag. A link does not replace
            // either.
            Err(error) if UNSUPPORTED.contains(&error) => {}
            renamed => return Ok(renamed?),
        }
        match rustix::fs::linkat(self, from, dir, to, AtFlags::empty()) {
            Ok(()) => return self.remove_file(from),
            // Without hard links, the name can only be checked before the rename.
            Err(error) if error == Errno::PERM || UNSUPPORTED.contains(&error) => {}
            Err(error) => return Err(error.into()),
        }
        match dir.status_of(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(rustix::fs::renameat(self, from, dir, to)?)
            }
            Err(error) => Err(error),
        }
    }

    /// Moves an entry to another directory of the same volume, over anything that has its name
    /// there, and flushes both.
    ///
    /// # Errors
    /// `InvalidInput` when the name is not one component; otherwise whatever the system says.
    pub fn replace_in(&self, name: &OsStr, dir: &Dir) -> io::Result<()> {
        let name = component(name)?;
        rustix::fs::renameat(self, name, dir, name)?;
        dir.flush()?;
        self.flush()
    }

    /// Gives an entry another name, in a directory of the same volume, that nothing has yet. A
    /// symlink is not followed.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is taken; otherwise whatever the system says.
    pub fn link_to(&self, from: &OsStr, dir: &Dir, to: &OsStr) -> io::Result<()> {
        let flags = AtFlags::empty();
        Ok(rustix::fs::linkat(self, component(from)?, dir, component(to)?, flags)?)
    }

    /// Removes an entry that is not a directory; of a symlink, the link.
    ///
    /// # Errors
    /// `InvalidInput` when the name is not one component; otherwise whatever the system says.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self, component(name)?, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// As those of [`Dir::remove_file`]; `DirectoryNotEmpty` if anything is in it.
    pub fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self, component(name)?, AtFlags::REMOVEDIR)?)
    }
}

/// Fails unless a file is a regular file with one name.
fn ensure_own(status: &Status) -> io::Result<()> {
    let reason = match (status.kind, status.links) {
        (FileKind::Regular, 0 | 1) => return Ok(()),
        (FileKind::Regular, _) => "it has another name somewhere (a hard link)",
        (FileKind::Symlink, _) => "it is a symbolic link",
        (FileKind::Directory, _) => "it is a directory",
        (FileKind::Other, _) => "it is a fifo, a socket or a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn what_is_made_is_new_and_beneath() {
        let root = tempfile::tempdir().unwrap();
        let victim = root.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        let own = Dir::open(root.path()).unwrap().create_dir(OsStr::new("own")).unwrap();
        symlink(&victim, root.path().join("own/link")).unwrap();
        for name in ["link", "../victim", "..", "", "a/b"] {
            assert!(own.create_file(OsStr::new(name)).is_err(), "{name}");
        }
        own.create_file(OsStr::new("new")).unwrap().write_all(b"new").unwrap();
        let again = own.create_file(OsStr::new("new")).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        own.remove_file(OsStr::new("link")).unwrap();
        assert!(own.remove_file(OsStr::new("../victim")).is_err());
        let parent = Dir::open(root.path()).unwrap();
        let full = parent.remove_dir(OsStr::new("own")).unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::DirectoryNotEmpty);
        own.remove_file(OsStr::new("new")).unwrap();
        parent.remove_dir(OsStr::new("own")).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
    }
    #[test]
    fn a_file_of_ones_own_is_regular_and_has_one_name() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("victim"), "mine").unwrap();
        fs::create_dir(path("own")).unwrap();
        symlink(path("victim"), path("own/link")).unwrap();
        symlink(path("made"), path("own/dangling")).unwrap();
        fs::hard_link(path("victim"), path("own/hard")).unwrap();
        fs::create_dir(path("own/directory")).unwrap();
        let made = Command::new("mkfifo").arg(path("own/fifo")).status().unwrap();
        assert!(made.success());
        let own = Dir::open(&path("own")).unwrap();
        for name in ["link", "dangling", "hard", "directory", "fifo"] {
            let error = own.open_own(OsStr::new(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}: {error}");
        }
        own.open_own(OsStr::new("new")).unwrap().write_all(b"new").unwrap();
        own.open_own(OsStr::new("new")).unwrap().write_all(b"NEW").unwrap();
        assert_eq!(fs::read(path("own/new")).unwrap(), b"NEW");
        assert!(own.make_dir(OsStr::new("link")).is_err());
        own.make_dir(OsStr::new("made")).unwrap();
        own.make_dir(OsStr::new("made")).unwrap();
        assert_eq!(fs::read(path("victim")).unwrap(), b"mine");
        assert!(!path("made").exists());
    }
}
