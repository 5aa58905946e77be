//! Making and removing what is a program's own: names in an open directory in; files out.
//!
//! For folders that a program makes for its own purpose. Nothing that exists is opened for writing
//! or replaced, no symlink is followed, and no name leads out of the directory.

use std::ffi::OsStr;
use std::fs;
use std::io;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::retry_on_intr;

use super::Dir;
use super::directory::component;

/// What a new file is opened with: to be written, and read back.
const NEW: OFlags = OFlags::RDWR
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Readable and writable by its owner alone.
const OWNERS: Mode = Mode::RUSR.union(Mode::WUSR);

impl Dir {
    /// Makes a file directly beneath this directory, which only its owner may read.
    ///
    /// # Errors
    /// `AlreadyExists` if anything has the name; `InvalidInput` when the name is not one component;
    /// otherwise whatever the system says.
    pub fn create_file(&self, name: &OsStr) -> io::Result<fs::File> {
        let name = component(name)?;
        let fd = retry_on_intr(|| rustix::fs::openat(self, name, NEW, OWNERS))?;
        Ok(fs::File::from(fd))
    }

    /// Makes a directory directly beneath this one, which only its owner may enter, and opens it.
    ///
    /// # Errors
    /// As those of [`Dir::create_file`].
    pub fn create_dir(&self, name: &OsStr) -> io::Result<Dir> {
        rustix::fs::mkdirat(self, component(name)?, OWNERS | Mode::XUSR)?;
        self.open_dir(name)
    }

    /// Removes a name that is no directory's; a symlink, not what it leads to.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

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
}
