//! Files that are written whole or not at all.
//!
//! A draft is created under a temporary name beneath an open directory. It gets its final name
//! after its bytes are on the medium. It follows no symlink and opens no existing file, so it
//! always stays in the directory. Every file that the project writes or replaces as a whole is a
//! draft.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::Mode;

use super::create::{NEW, OWNERS};
use super::directory::component;
use super::{Dir, File, platform, retry_on_intr};

/// How many random names are tried before creating a draft fails.
const TRIES: usize = 8;

/// Hashes the same in every process.
type FixedHasher = BuildHasherDefault<DefaultHasher>;

/// What happens to an existing file with the final name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and publishing fails with `AlreadyExists`.
    Keep,
    /// It is replaced. A symlink is replaced itself, not what it leads to.
    Replace,
}

/// A new file under a temporary name. Dropping it removes it.
pub struct Draft {
    file: fs::File,
    dir: Arc<Dir>,
    name: OsString,
    published: bool,
}

impl Draft {
    /// Creates a draft that only its owner can read, under a random name:
    /// `.steadfast-<16 hex digits>.draft`.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn new(dir: &Arc<Dir>) -> io::Result<Draft> {
        Draft::by_chance(dir, OWNERS)
    }

    /// Creates the draft of a document that the user named, which gets no other rights later: the
    /// umask of the process applies.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn document(dir: &Arc<Dir>) -> io::Result<Draft> {
        Draft::by_chance(dir, Mode::from_raw_mode(0o666))
    }

    fn by_chance(dir: &Arc<Dir>, mode: Mode) -> io::Result<Draft> {
        let mut outcome = Err(io::ErrorKind::AlreadyExists.into());
        for number in 0..TRIES {
            let name = draft_name(RandomState::new().hash_one(number));
            outcome = Draft::create(dir, &name, mode);
            match &outcome {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                _ => break,
            }
        }
        outcome
    }

    /// Creates a draft that only its owner can read, under a given name.
    ///
    /// # Errors
    /// `AlreadyExists` if anything has the name; `InvalidInput` if the name is not one component;
    /// otherwise whatever the system says.
    pub fn named(dir: &Arc<Dir>, name: &OsStr) -> io::Result<Draft> {
        Draft::create(dir, name, OWNERS)
    }

    fn create(dir: &Arc<Dir>, name: &OsStr, mode: Mode) -> io::Result<Draft> {
        let name = component(name)?;
        let fd = retry_on_intr(|| rustix::fs::openat(&**dir, name, NEW, mode))?;
        let (dir, name) = (Arc::clone(dir), name.to_owned());
        Ok(Draft { file: fs::File::from(fd), dir, name, published: false })
    }

    /// Creates a draft that only its owner can read, under a name that the next run finds again,
    /// and locks it. Removes one that a process left there which was killed.
    ///
    /// # Errors
    /// `AlreadyExists` if another process is writing the same file; otherwise whatever the system
    /// says.
    pub fn resumable(dir: &Arc<Dir>, name: &OsStr) -> io::Result<Draft> {
        let mut draft = match Draft::named(dir, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let left = fs::File::from(dir.open_file(name)?.into_fd());
                let is_locked = matches!(left.try_lock(), Err(fs::TryLockError::WouldBlock));
                if is_locked || !is_named(dir, name, &left)? {
                    return Err(error);
                }
                dir.remove_file(name)?;
                Draft::named(dir, name)?
            }
            draft => draft?,
        };
        // File systems without locks are used by one process at a time, or not protected.
        let _ = draft.file.try_lock();
        match is_named(dir, name, &draft.file)? {
            true => Ok(draft),
            false => {
                // Another process took it for one that was left, before it was locked.
                draft.published = true;
                Err(io::ErrorKind::AlreadyExists.into())
            }
        }
    }

    /// Returns the directory that the draft is in.
    pub fn dir(&self) -> &Arc<Dir> {
        &self.dir
    }

    /// Returns the open file.
    pub(super) fn handle(&self) -> &fs::File {
        &self.file
    }

    /// Returns the temporary name.
    pub(super) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Ends the draft without removing anything and returns its temporary name.
    pub(super) fn keep(&mut self) -> OsString {
        self.published = true;
        std::mem::take(&mut self.name)
    }

    /// Flushes the file to the medium, renames it within its directory, and flushes the directory.
    /// Afterwards file and name survive a loss of power.
    ///
    /// # Errors
    /// As [`Draft::publish_in`]. Also if the directory cannot be flushed; the file then has its
    /// final name already.
    pub fn publish(self, name: &OsStr, existing: Existing) -> io::Result<()> {
        let dir = Arc::clone(&self.dir);
        self.publish_in(&dir, name, existing)?;
        dir.flush()
    }

    /// Flushes the file to the medium and renames it into a directory of the same volume. After a
    /// loss of power, either the whole file has the name, or the name is unchanged. [`Dir::flush`]
    /// makes the name permanent.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is taken and must be kept; otherwise the error of the system.
    /// After an error the name is unchanged.
    pub fn publish_in(self, dir: &Dir, name: &OsStr, existing: Existing) -> io::Result<()> {
        platform::flush(self.file.as_fd())?;
        self.publish_flushed(dir, name, existing)
    }

    /// Renames a draft whose bytes are on the medium already. [`Dir::sync_volume`] makes the name
    /// and the attributes of many drafts permanent.
    ///
    /// # Errors
    /// As [`Draft::publish_in`].
    pub fn publish_flushed(
        mut self,
        dir: &Dir,
        name: &OsStr,
        existing: Existing,
    ) -> io::Result<()> {
        let name = component(name)?;
        match existing {
            Existing::Replace => rustix::fs::renameat(&*self.dir, &*self.name, dir, name)?,
            Existing::Keep => self.dir.rename_to_new(&self.name, dir, name)?,
        }
        self.published = true;
        Ok(())
    }

    /// Returns another handle of the file, for its attributes.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn to_file(&self) -> io::Result<File> {
        Ok(File { fd: self.file.try_clone()?.into() })
    }

    /// Removes the name of the draft and returns the file, which exists until it is closed.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn into_nameless(mut self) -> io::Result<fs::File> {
        self.dir.remove_file(&self.name)?;
        self.published = true;
        self.file.try_clone()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published {
            // The caller reports the error that led here.
            let _ = self.dir.remove_file(&self.name);
        }
    }
}

impl Read for Draft {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.file.read(buf)
    }
}

impl Write for Draft {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.file.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Draft {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Says whether a name still leads to a file.
fn is_named(dir: &Dir, name: &OsStr, file: &fs::File) -> io::Result<bool> {
    let status = platform::status(&rustix::fs::fstat(file)?);
    match dir.status_of(name) {
        Ok(there) => Ok((there.device, there.inode) == (status.device, status.inode)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the name of a draft with this number.
pub fn draft_name(number: u64) -> OsString {
    OsString::from(format!(".steadfast-{number:016x}.draft"))
}

/// Writes a document that the user named as a whole, by a draft in the same directory.
///
/// # Errors
/// As those of [`Draft::document`] and [`Draft::publish`].
pub fn write_whole(path: &Path, contents: &[u8], existing: Existing) -> io::Result<()> {
    let (dir, name) = Dir::parent_of(path)?;
    let mut draft = Draft::document(&Arc::new(dir))?;
    draft.write_all(contents)?;
    draft.publish(&name, existing)
}

/// Replaces a file of configuration or state as a whole, so that only its owner can read it. Makes
/// its folder, which nobody else can enter, if that is absent.
///
/// # Errors
/// As those of [`Draft::new`] and [`Draft::publish`]; also if the folder cannot be made.
pub fn write_private(path: &Path, contents: &[u8]) -> io::Result<()> {
    make_private_folder(path.parent().unwrap_or(Path::new("")))?;
    let (dir, name) = Dir::parent_of(path)?;
    let (dir, number) = (Arc::new(dir), FixedHasher::default().hash_one(&name));
    // What a killed process left is removed. Only the owner can make names there.
    let draft = Draft::resumable(&dir, &draft_name(number));
    let mut draft = draft.or_else(|_| Draft::new(&dir))?;
    draft.write_all(contents)?;
    draft.publish(&name, Existing::Replace)
}

/// Opens a file of state to append to it, and makes it if it is absent. Only its owner can read it
/// afterwards.
///
/// # Errors
/// Whatever the system says.
pub fn open_private(path: &Path) -> io::Result<fs::File> {
    let file = fs::File::options().create(true).append(true).mode(0o600).open(path)?;
    // One of an earlier version could be read.
    let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    Ok(file)
}

/// Makes a folder for configuration or state that nobody else can enter, and those above it, unless
/// they are there.
///
/// # Errors
/// Whatever the system says.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    match path.as_os_str().is_empty() {
        true => Ok(()),
        false => fs::DirBuilder::new().recursive(true).mode(0o700).create(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A directory with a victim outside and, inside, what may have been planted under `name`.
    fn planted(kind: &str) -> (tempfile::TempDir, Arc<Dir>) {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("victim"), "mine").unwrap();
        fs::create_dir(path("in")).unwrap();
        match kind {
            "nothing" => {}
            "file" => fs::write(path("in/name"), "old").unwrap(),
            "link" => symlink(path("victim"), path("in/name")).unwrap(),
            "dangling" => symlink(path("made"), path("in/name")).unwrap(),
            "hard link" => fs::hard_link(path("victim"), path("in/name")).unwrap(),
            "directory" => fs::create_dir(path("in/name")).unwrap(),
            _ => unreachable!("a kind of the tests below"),
        }
        let dir = Arc::new(Dir::open(&path("in")).unwrap());
        (root, dir)
    }

    #[test]
    fn a_planted_final_name_is_replaced_or_kept_and_never_followed() {
        for kind in ["nothing", "file", "link", "dangling", "hard link", "directory"] {
            for existing in [Existing::Keep, Existing::Replace] {
                let (root, dir) = planted(kind);
                let mut draft = Draft::new(&dir).unwrap();
                draft.write_all(b"whole").unwrap();
                let outcome = draft.publish(OsStr::new("name"), existing);
                let replaces = existing == Existing::Replace && kind != "directory";
                assert_eq!(outcome.is_ok(), kind == "nothing" || replaces, "{kind} {existing:?}");
                let whole = fs::read(root.path().join("in/name")).is_ok_and(|is| is == b"whole");
                assert_eq!(whole, outcome.is_ok(), "{kind} {existing:?}");
                assert_eq!(fs::read(root.path().join("victim")).unwrap(), b"mine", "{kind}");
                assert!(!root.path().join("made").exists(), "{kind}");
                let names = fs::read_dir(root.path().join("in")).unwrap().count();
                assert_eq!(names, 1, "{kind} {existing:?}: no draft is left");
            }
        }
    }

    #[test]
    fn a_planted_draft_is_neither_followed_nor_opened() {
        for kind in ["file", "link", "dangling", "hard link", "directory"] {
            let (root, dir) = planted(kind);
            let error = Draft::named(&dir, OsStr::new("name")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{kind}");
            assert_eq!(fs::read(root.path().join("victim")).unwrap(), b"mine", "{kind}");
            assert!(!root.path().join("made").exists(), "{kind}");
        }
    }

    #[test]
    fn a_draft_keeps_to_its_directory_although_that_is_replaced_by_a_link() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("in")).unwrap();
        fs::create_dir(path("outside")).unwrap();
        let dir = Arc::new(Dir::open(&path("in")).unwrap());
        let draft = Draft::new(&dir).unwrap();
        fs::rename(path("in"), path("moved")).unwrap();
        symlink(path("outside"), path("in")).unwrap();
        draft.publish(OsStr::new("name"), Existing::Replace).unwrap();
        assert!(path("moved/name").exists());
        assert_eq!(fs::read_dir(path("outside")).unwrap().count(), 0);
    }

    #[test]
    fn a_draft_that_was_left_is_replaced_and_one_in_use_is_not() {
        let (root, dir) = planted("nothing");
        let name = OsStr::new("name");
        let number = draft_name(1);
        let first = Draft::resumable(&dir, &number).unwrap();
        let error = Draft::resumable(&dir, &number).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        let other = Draft::resumable(&dir, OsStr::new("other")).unwrap();
        drop(other);
        let mut left = first;
        left.write_all(b"half").unwrap();
        left.keep();
        drop(left);
        let again = Draft::resumable(&dir, &number).unwrap();
        assert_eq!(again.to_file().unwrap().status().unwrap().length, 0);
        again.publish_flushed(&dir, name, Existing::Keep).unwrap();
        assert_eq!(fs::read_dir(root.path().join("in")).unwrap().count(), 1);
    }

    #[test]
    fn nobody_else_can_ever_read_a_draft() {
        let (root, dir) = planted("nothing");
        let mode = |draft: Draft| draft.to_file().unwrap().status().unwrap().mode & 0o777;
        assert_eq!(mode(Draft::new(&dir).unwrap()), 0o600);
        assert_eq!(mode(Draft::named(&dir, OsStr::new("name")).unwrap()), 0o600);
        assert_eq!(mode(Draft::resumable(&dir, OsStr::new("name")).unwrap()), 0o600);
        let state = root.path().join("state/of/it");
        write_private(&state, b"state").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&state), 0o600);
        let folder = Arc::new(Dir::open(state.parent().unwrap()).unwrap());
        let number = FixedHasher::default().hash_one(OsStr::new("it"));
        Draft::named(&folder, &draft_name(number)).unwrap().keep();
        write_private(&state, b"again").unwrap();
        assert_eq!(fs::read_dir(root.path().join("state/of")).unwrap().count(), 1);
        assert_eq!(mode(state.parent().unwrap()), 0o700);
    }

    #[test]
    fn a_draft_that_is_dropped_leaves_nothing() {
        let (root, dir) = planted("nothing");
        drop(Draft::new(&dir).unwrap());
        let mut file = Draft::new(&dir).unwrap().into_nameless().unwrap();
        file.write_all(b"nameless").unwrap();
        assert_eq!(fs::read_dir(root.path().join("in")).unwrap().count(), 0);
    }
}
