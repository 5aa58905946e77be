//! Where a catalogue is, and who writes to it. Of the catalogue, only this file and `home.rs` touch
//! files other than through SQLite.
//!
//! In: paths. Out: a folder made, a lock held, a damaged file put aside. Nothing is ever deleted
//! but what a broken-off creation left.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use steadfast_sys::file::{Draft, Existing, Timestamp};

use super::error::{CatalogueErrorKind, DbError};
use super::home::{Home, PARTS, is_blocked, planted};
use super::schema::APPLICATION_ID;
pub(super) use crate::tree_folder::DRAFT;
use crate::tree_folder::{FILE, FOLDER, LOCK, is_left_of};

/// How often a writer that waits looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What stays of a lock's text at most: it is for people.
const LOCK_LEN_MAX: u64 = 256;

/// What follows the verb in a lock once an `init` has published the catalogue.
const PUBLISHED: &[u8] = b" published\n";

/// Who is about to write, and whether it waits for others.
#[derive(Clone, Copy, Debug)]
pub struct LockRequest<'a> {
    /// The verb, for whoever finds the catalogue in use.
    pub verb: &'a str,
    /// The time of day.
    pub now: Timestamp,
    /// Waits until this is set, rather than to refuse at once.
    pub wait: Option<&'a AtomicBool>,
}

/// Returns where the catalogue of a tree is kept unless said otherwise.
pub(super) fn inside(root: &Path) -> PathBuf {
    root.join(FOLDER).join(FILE)
}

/// Returns the `init` command with an option or none, for a catalogue and the tree that it is of.
pub(crate) fn command(option: &str, root: &Path, file: &Path) -> String {
    let root = root.display();
    let option = if option.is_empty() { String::new() } else { format!(" {option}") };
    if file.ends_with(Path::new(FOLDER).join(FILE)) {
        return format!("steadfast init{option} {root}");
    }
    format!("steadfast init{option} --catalogue {} {root}", file.display())
}

/// Returns a file's path with something after its name.
pub(super) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(suffix);
    PathBuf::from(name)
}

/// The right to write, held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// The system gives the lock back when this is closed, however the process ends.
    file: File,
}

/// Room that a disk must have, in bytes: SQLite's log and the memory that it shares take 64 KiB.
const ROOM_LEN: usize = 128 << 10;

impl Lock {
    /// Takes the lock of a catalogue.
    pub(super) fn take(home: &Home, writer: &LockRequest<'_>) -> Result<Lock, DbError> {
        let mut file = home.dir().open_own(&home.name(LOCK)).map_err(|error| unusable(&error))?;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(DbError::io("lock it", &error)),
                Err(TryLockError::WouldBlock) => match writer.wait {
                    Some(stop) if !stop.load(Ordering::Relaxed) => thread::sleep(LOOK_AGAIN),
                    _ => return Err(in_use(&mut file, writer.now)),
                },
            }
        }
        // The text helps people only: a disk that is full must not refuse the lock for it.
        let text = format!("{} {} {}\n", std::process::id(), writer.now.seconds, writer.verb);
        let _ = file.set_len(0).and_then(|()| file.rewind());
        let _ = file.write_all(text.as_bytes());
        Ok(Lock { file })
    }

    /// Says in the lock that the catalogue of an `init` is there from now on.
    pub(super) fn note_published(&mut self) {
        // Whether the text is there matters only if the catalogue is deleted.
        let _ = self.file.seek(io::SeekFrom::End(-1)).and_then(|_| self.file.write_all(PUBLISHED));
    }

    /// Makes sure that its volume has room to write: SQLite calls a full disk an I/O error where it
    /// cannot make its own files, and does not know quotas.
    ///
    /// # Errors
    /// `Full` if not.
    pub(super) fn ensure_room(&self) -> Result<(), DbError> {
        let mut file = &self.file;
        let Ok(len) = file.seek(io::SeekFrom::End(0)) else { return Ok(()) };
        let written = file.write_all(&vec![0; ROOM_LEN]);
        let _ = self.file.set_len(len);
        match written.map_err(|error| DbError::io("write beside it", &error)) {
            Err(fault) if fault.kind() == CatalogueErrorKind::Full => Err(fault),
            _ => Ok(()),
        }
    }

    /// Keeps writers out while a file is read as if it never changed. `None` if nobody can write,
    /// because the lock cannot even be made.
    pub(super) fn keep_writers_out(home: &Home) -> Result<Option<Lock>, DbError> {
        let name = home.name(LOCK);
        home.dir().status_of_own(&name).map_err(|error| unusable(&error))?;
        let Ok(file) = home.dir().open_file(&name) else { return Ok(None) };
        let file = File::from(file.into_fd());
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(Lock { file })),
            Err(TryLockError::Error(_)) => Ok(None),
            Err(TryLockError::WouldBlock) => {
                let message = "somebody is writing to it, and it cannot be read beside that";
                Err(DbError::new(CatalogueErrorKind::InUse, message))
            }
        }
    }
}

impl Drop for Lock {
    /// Gives the lock back at once: a program that another thread is starting holds a copy of the
    /// descriptor for a moment, and closing ours alone would leave the catalogue in use till then.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Makes a fault of a lock that cannot be opened.
fn unusable(error: &io::Error) -> DbError {
    match error.kind() {
        io::ErrorKind::InvalidInput => {
            let message = format!("its lock is not used: {error}; remove it");
            DbError::new(CatalogueErrorKind::System, message)
        }
        _ => DbError::io("open its lock", error),
    }
}

fn in_use(file: &mut File, now: Timestamp) -> DbError {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(LOCK_LEN_MAX).read_to_string(&mut text));
    let words: Vec<&str> = text.split_whitespace().collect();
    let message = match (read, words.as_slice()) {
        (Ok(_), [process, since, verb, ..]) => {
            let since = since.parse().unwrap_or(now.seconds);
            let seconds = now.seconds.saturating_sub(since).max(0);
            format!("in use: `{verb}`, process {process}, has been writing to it for {seconds} s")
        }
        _ => "in use: another process is writing to it".to_owned(),
    };
    DbError::new(CatalogueErrorKind::InUse, message)
}

/// Refuses a place in the tree that a walk would not leave out: runs would tag the catalogue, and
/// call it modified ever after.
pub(super) fn ensure_apart(root: &Path, file: &Path) -> Result<(), DbError> {
    match real_of(file) {
        Some(real) if real.starts_with(root) && real != inside(root) => {
            let message = format!(
                "it would be in the tree itself, which a catalogue is only as `{FOLDER}/{FILE}`: \
                 leave --catalogue out, or name a place outside"
            );
            Err(DbError::new(CatalogueErrorKind::Outside, message))
        }
        _ => Ok(()),
    }
}

/// Makes sure that no catalogue is in the way of a new one, nor the log of one, nor anything that
/// was planted.
pub(super) fn ensure_none(home: &Home) -> Result<(), DbError> {
    home.ensure_plain("")?;
    if home.has("") {
        return Err(DbError::new(CatalogueErrorKind::Exists, "there is a catalogue already"));
    }
    if has_log(home) {
        // A log would be taken for one of the new file.
        let message = "the log of a catalogue that is gone is there: --rebuild sets it aside";
        return Err(DbError::new(CatalogueErrorKind::Exists, message));
    }
    Ok(())
}

/// Makes an empty file for a new catalogue: what is not whole never has the catalogue's name.
/// Whoever calls it has the lock.
pub(super) fn prepare(home: &Home) -> Result<Draft, DbError> {
    for part in PARTS {
        match home.dir().remove_file(&home.name(&format!("{DRAFT}{part}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(DbError::io("remove what an earlier attempt left", &error));
            }
            _ => {}
        }
    }
    let draft = Draft::named(home.dir(), &home.name(DRAFT));
    draft.map_err(|error| DbError::io("make it", &error))
}

/// Removes what is left of a draft that could not be finished, and the lock that was taken for it:
/// what is left of a catalogue would be taken for one that is gone.
pub(super) fn abandon(home: &Home) {
    for part in PARTS {
        let _ = home.dir().remove_file(&home.name(&format!("{DRAFT}{part}")));
    }
    if !home.has("") {
        let _ = home.dir().remove_file(&home.name(LOCK));
        // A folder that holds anything else stays.
        let _ = Some(home.folder()).filter(|folder| folder.ends_with(FOLDER)).map(fs::remove_dir);
    }
}

/// Gives a finished draft the catalogue's name.
pub(super) fn publish(draft: Draft, home: &Home) -> Result<(), DbError> {
    let published = draft.publish(&home.name(""), Existing::Keep);
    published.map_err(|error| DbError::io("store it", &error))
}

/// Puts a catalogue aside under a new name and returns what was added to the name.
pub(super) fn set_aside(home: &Home, now: Timestamp) -> Result<String, DbError> {
    if !may_be_ours(home)? {
        let message = "it does not begin as a catalogue begins: it is not put aside for one";
        return Err(DbError::new(CatalogueErrorKind::Exists, message));
    }
    let suffix = |number: u32| format!(".damaged-{}-{number}", now.seconds);
    let aside = (1..1000).map(suffix).find(|suffix| !home.has(suffix)).ok_or_else(|| {
        DbError::new(CatalogueErrorKind::Exists, "a thousand damaged ones are there already")
    })?;
    // What was not yet taken into the main file goes first: it must not meet another main file.
    for part in PARTS.iter().rev() {
        match home.dir().rename(&home.name(part), &home.name(&format!("{aside}{part}"))) {
            // The file itself may be what is gone.
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(DbError::io("put it aside", &error));
            }
            _ => {}
        }
    }
    Ok(aside)
}

/// Says whether nobody ever wrote to a file where it is: neither a lock nor a log is beside it.
pub(super) fn is_copy(home: &Home) -> bool {
    ![LOCK, "-wal", "-shm"].iter().any(|part| home.has(part))
}

/// Says whether a catalogue was here and is not: what lies beside it is still there.
pub(super) fn is_lost(file: &Path) -> bool {
    let Some(folder) = file.parent() else { return false };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Some(name) = file.file_name() else { return false };
    file.symlink_metadata().is_err()
        && fs::read_dir(folder).is_ok_and(|mut entries| {
            entries.any(|entry| entry.is_ok_and(|entry| is_left_of(name, &entry.file_name())))
        })
}

/// Says whether a catalogue is here, is left of, or should be and something else stands there: then
/// opening it says what.
pub(super) fn is_found(file: &Path) -> bool {
    let folder = file.parent().filter(|folder| folder.ends_with(FOLDER));
    folder.is_some_and(is_blocked) || file.symlink_metadata().is_ok() || is_lost(file)
}

/// Says of a catalogue that is not there whether there never was one: a first `init` was cut off
/// before it published the catalogue. Its lock then names no other verb, and nothing else is left.
pub(super) fn is_unfinished(home: &Home) -> bool {
    let (mut has_draft, mut only_begun) = (false, true);
    let name = home.name("");
    let listed = home.dir().entries(&mut |entry| {
        if let Some(rest) = entry.name.as_bytes().strip_prefix(name.as_bytes()) {
            let is_draft = rest.starts_with(DRAFT.as_bytes());
            has_draft |= is_draft;
            only_begun &= is_draft || rest == LOCK.as_bytes();
        }
        ControlFlow::Continue(())
    });
    listed.is_ok() && only_begun && (has_draft || is_lock_of_init(home))
}

/// Says whether a lock was last taken by `init`, or by nobody who wrote to it.
fn is_lock_of_init(home: &Home) -> bool {
    let name = home.name(LOCK);
    let mut text = String::new();
    let is_read = matches!(home.dir().status_of_own(&name), Ok(Some(_)))
        && home.dir().open_file(&name).is_ok_and(|lock| {
            File::from(lock.into_fd()).take(LOCK_LEN_MAX).read_to_string(&mut text).is_ok()
        });
    // A kill while room was looked for leaves zeros behind the text.
    let mut words = text.trim_end_matches('\0').split_whitespace().skip(2);
    is_read && words.next().is_none_or(|verb| verb == "init") && words.next().is_none()
}

/// Says whether a file may be put aside as a catalogue: it is where one is kept, is empty, or
/// begins as one.
fn may_be_ours(home: &Home) -> Result<bool, DbError> {
    let name = home.name("");
    if name == FILE && home.folder().ends_with(FOLDER) {
        return Ok(true);
    }
    match home.dir().status_of_own(&name) {
        Ok(Some(_)) => {}
        Ok(None) => return Ok(true),
        Err(error) => return Err(planted(&name, &error)),
    }
    let mut head = [0; 72];
    let read = home.dir().open_file(&name).and_then(|file| file.read_at(&mut head, 0));
    let len = read.map_err(|error| DbError::io("read it", &error))?;
    Ok(len == 0 || head[68..] == (APPLICATION_ID as u32).to_be_bytes())
}

/// Returns where a path is, the links in it resolved as far as it is there.
pub(crate) fn real_of(path: &Path) -> Option<PathBuf> {
    let mut names = Vec::new();
    let mut above = path;
    loop {
        let there = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        match there.canonicalize() {
            Ok(real) => return Some(names.iter().rev().fold(real, |real, name| real.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                names.push(above.file_name()?);
                above = above.parent()?;
            }
            Err(_) => return None,
        }
    }
}

/// Says whether changes may lie beside the file that are not in it yet.
pub(super) fn has_log(home: &Home) -> bool {
    home.dir().status_of(&home.name("-wal")).is_ok_and(|log| log.length > 0)
}
