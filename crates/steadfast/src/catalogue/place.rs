//! The place of a catalogue, and its write lock. In the catalogue, only this file and `home.rs`
//! access files other than through SQLite.
//!
//! Makes the folder, takes the lock, and renames damaged files. Deletes only the remains of an
//! incomplete creation.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_sys::file::{Draft, Existing, Status, Timestamp, TrustedUsers};
use steadfast_sys::names::NameBytes as _;
use steadfast_sys::process::is_alive;

use super::error::{CatalogueErrorKind, DbError};
use super::home::{Home, PARTS, is_blocked, planted};
use super::rights;
use super::schema::{APPLICATION_ID, PATIENCE};
use crate::advice::Advice;
use crate::beneath::{self, Presence};
use crate::error::copied;
use crate::tree_folder::DRAFT;
use crate::tree_folder::{FILE, FOLDER, LOCK, READERS, is_left_of};
use crate::verb_kind::VerbKind;

/// Interval at which a waiting writer tries again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The same for a lock that is held for one question.
const LOOK_AGAIN_SOON: Duration = Duration::from_millis(2);

/// The longest text of a lock. It is for people.
const LOCK_LEN_MAX: u64 = 256;

/// Follows the verb in a lock once an `init` has published the catalogue.
const PUBLISHED: &[u8] = b" published\n";

/// Describes a process that wants to write.
#[derive(Clone, Copy, Debug)]
pub struct LockRequest<'a> {
    /// The verb, to be shown to others who find the catalogue in use.
    pub verb: VerbKind,
    /// The time of day.
    pub now: Timestamp,
    /// Waits until this flag is set, instead of failing at once.
    pub wait: Option<&'a AtomicBool>,
}

/// Returns the default place of the catalogue of a tree.
pub(crate) fn inside(root: &Path) -> PathBuf {
    root.join(FOLDER).join(FILE)
}

/// Returns whether a file is in that place.
pub(crate) fn is_inside(root: &Path, file: &Path) -> bool {
    real_of(file).is_some_and(|real| real == inside(root))
}

/// Returns a file's path with a suffix.
pub(super) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(suffix);
    PathBuf::from(name)
}

/// The write lock, held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// The system releases the lock when this is closed, however the process ends.
    file: File,
}

/// Free space that a disk must have, in bytes: SQLite's log of a small run takes 64 KiB.
const ROOM_LEN: usize = 128 << 10;

impl Lock {
    /// Takes the lock of a catalogue.
    pub(super) fn take(home: &Home, writer: &LockRequest<'_>) -> Result<Lock, DbError> {
        let mut file = open_lock(home, LOCK)?;
        loop {
            match file.try_lock() {
                Ok(()) if is_present(home, &file) => break,
                // Another process has replaced it meanwhile.
                Ok(()) => file = open_lock(home, LOCK)?,
                Err(TryLockError::Error(error)) => return Err(DbError::io("lock it", &error)),
                Err(TryLockError::WouldBlock) => {
                    let holder = holder_of(&mut file);
                    if holder.as_ref().is_some_and(|holder| !holder.lives) {
                        // It is held by somebody who may only read, since it was open to all.
                        let _ = home.dir().remove_file(&home.name(LOCK));
                        file = open_lock(home, LOCK)?;
                        continue;
                    }
                    match writer.wait {
                        Some(stop) if !stop.load(Ordering::Relaxed) => thread::sleep(LOOK_AGAIN),
                        _ => return Err(in_use(holder, writer.now)),
                    }
                }
            }
        }
        // The text is only for people, so a full disk must not prevent the lock.
        let text = format!("{} {} {}\n", std::process::id(), writer.now.seconds, writer.verb);
        let _ = file.set_len(0).and_then(|()| file.rewind());
        let _ = file.write_all(text.as_bytes());
        // Readers that find no lock of theirs read without one.
        let _ = open_lock(home, READERS)?;
        Ok(Lock { file })
    }

    /// Keeps the file and its log as they are while somebody reads them. `None` if he may not write
    /// either, or if nothing has been written yet: then nobody is kept from writing.
    pub(super) fn reading(home: &Home) -> Result<Option<Lock>, DbError> {
        let name = home.name(READERS);
        home.dir().status_of_own(&name).map_err(|error| unusable(&error))?;
        let Ok(file) = home.dir().open_file(&name) else { return Ok(None) };
        let file = File::from(file.into_fd());
        match wait_for(PATIENCE, || file.try_lock_shared()) {
            Ok(()) => Ok(Some(Lock { file })),
            Err(TryLockError::Error(_)) => Ok(None),
            Err(TryLockError::WouldBlock) => {
                let message = "in use: another process has been merging its log for 10 s";
                Err(DbError::new(CatalogueErrorKind::InUse, message))
            }
        }
    }

    /// Keeps readers out while the log is merged. `None` if one reads longer than that.
    pub(super) fn merging(home: &Home, patience: Duration) -> Option<Lock> {
        let file = open_lock(home, READERS).ok()?;
        wait_for(patience, || file.try_lock()).ok()?;
        Some(Lock { file })
    }

    /// Notes in the lock that an `init` has published the catalogue.
    pub(super) fn note_published(&mut self) {
        // The text matters only if the catalogue is deleted later.
        let _ = self.file.seek(io::SeekFrom::End(-1)).and_then(|_| self.file.write_all(PUBLISHED));
    }

    /// Checks that the volume has free space: SQLite reports a full disk as an I/O error if it
    /// cannot make its own files, and does not know quotas.
    ///
    /// # Errors
    ///
    /// `Full` if it has none.
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
}

impl Drop for Lock {
    /// Releases the lock explicitly. A process that another thread is starting holds a copy of the
    /// descriptor for a moment, so closing this one would leave the catalogue in use until then.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Makes the error for a lock that cannot be opened.
fn unusable(error: &io::Error) -> DbError {
    match error.kind() {
        io::ErrorKind::InvalidInput => {
            let message = format!("its lock is not used: {error}; remove it");
            DbError::new(CatalogueErrorKind::System, message).caused_by(copied(error))
        }
        _ => DbError::io("open its lock", error),
    }
}

/// Opens a lock, and makes it if it is absent. Those can open it who may write to the catalogue:
/// whoever can open it can keep others out.
fn open_lock(home: &Home, suffix: &str) -> Result<File, DbError> {
    let name = home.name(suffix);
    let database = home.dir().status_of(&home.name("")).ok();
    let is_own = |it: Status| TrustedUsers::own().stranger_owning(&it).is_none();
    let file = match home.dir().open_own(&name) {
        // Root made it in a tree of another user, and gives no file away.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            match database.is_some_and(is_own) && home.dir().remove_file(&name).is_ok() {
                true => home.dir().open_own(&name),
                false => Err(error),
            }
        }
        opened => opened,
    };
    let file = file.map_err(|error| unusable(&error))?;
    rights::fit_lock(home, &file);
    Ok(file)
}

/// Returns whether a lock still has its name.
fn is_present(home: &Home, lock: &File) -> bool {
    let identity = |of: Status| (of.device, of.inode);
    let named = home.dir().status_of(&home.name(LOCK)).map(identity);
    let own = beneath::File::of(lock).and_then(|own| own.status()).map(identity);
    matches!((named, own), (Ok(named), Ok(own)) if named == own)
}

/// Tries to lock until that succeeds, fails, or takes too long.
fn wait_for(
    patience: Duration,
    lock: impl Fn() -> Result<(), TryLockError>,
) -> Result<(), TryLockError> {
    let begin = Instant::now();
    loop {
        match lock() {
            Err(TryLockError::WouldBlock) if begin.elapsed() < patience => {
                thread::sleep(LOOK_AGAIN_SOON);
            }
            done => return done,
        }
    }
}

/// The process that a lock names.
struct Holder {
    process: String,
    since_s: i64,
    verb: String,
    lives: bool,
}

/// Returns whether another process lives that took the lock of a catalogue last. Nothing is locked:
/// who looks must not be in the way of who writes. A process of another machine is not told.
pub(super) fn writer_lives(home: &Home) -> bool {
    let opened = home.dir().open_file(&home.name(LOCK)).map(|file| File::from(file.into_fd()));
    let holder = opened.ok().and_then(|mut file| holder_of(&mut file));
    // A run of this process that ended without saying so is over.
    let is_own = |holder: &Holder| holder.process == std::process::id().to_string();
    holder.is_some_and(|holder| holder.lives && !is_own(&holder))
}

/// Returns the process that took a lock last; `None` if it does not name one.
fn holder_of(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().and_then(|()| file.take(LOCK_LEN_MAX).read_to_string(&mut text)).ok()?;
    let mut words = text.split_whitespace().map(str::to_owned);
    let (process, since_s, verb) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
    let lives = is_alive(process.parse().ok()?);
    Some(Holder { process, since_s, verb, lives })
}

fn in_use(holder: Option<Holder>, now: Timestamp) -> DbError {
    let message = match holder {
        Some(Holder { process, since_s, verb, .. }) => {
            let seconds = now.seconds.saturating_sub(since_s).max(0);
            format!("in use: `{verb}`, process {process}, has been writing to it for {seconds} s")
        }
        None => "in use: another process is writing to it".to_owned(),
    };
    DbError::new(CatalogueErrorKind::InUse, message)
}

/// Refuses a place in the tree that a walk would visit: runs would tag the catalogue, and then
/// always find it modified. In another tree it would be of that one.
pub(super) fn ensure_apart(root: &Path, file: &Path) -> Result<(), DbError> {
    let is_in_other = |real: &Path| real.parent().is_some_and(|folder| folder.ends_with(FOLDER));
    match real_of(file).filter(|real| *real != inside(root)) {
        Some(real) if real.starts_with(root) || is_in_other(&real) => {
            let which = if real.starts_with(root) { "the tree itself" } else { "another tree" };
            let message = format!(
                "it would be in {which}: a catalogue in a tree is only `{FOLDER}/{FILE}`, and of \
                 the folder above"
            );
            let error = DbError::new(CatalogueErrorKind::Outside, message);
            Err(error.advise(Advice::CatalogueOutside))
        }
        _ => Ok(()),
    }
}

/// Checks that neither a catalogue, nor the log of one, nor a planted file is in the place of a new
/// one.
pub(super) fn ensure_none(home: &Home) -> Result<(), DbError> {
    home.ensure_plain("")?;
    if home.has("") {
        return Err(DbError::new(CatalogueErrorKind::Exists, "there is a catalogue already"));
    }
    if has_log(home) {
        // SQLite would take the log for that of the new file.
        let message = "the log of a catalogue that is gone is there";
        let error = DbError::new(CatalogueErrorKind::Exists, message);
        return Err(error.advise(Advice::SetLogAside));
    }
    Ok(())
}

/// Makes an empty file for a new catalogue. An incomplete file never has the catalogue's name. The
/// caller holds the lock.
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

/// Removes an unfinished draft and the lock for it. Otherwise the remains would look like those of
/// a deleted catalogue.
pub(super) fn abandon(home: &Home) {
    for part in PARTS {
        let _ = home.dir().remove_file(&home.name(&format!("{DRAFT}{part}")));
    }
    if !home.has("") {
        let _ = home.dir().remove_file(&home.name(LOCK));
        let _ = home.dir().remove_file(&home.name(READERS));
        home.remove_if_empty();
    }
}

/// Renames a finished draft to the catalogue's name.
pub(super) fn publish(draft: Draft, home: &Home) -> Result<(), DbError> {
    // Otherwise its owner alone can read it.
    let _ = draft.to_file().and_then(|file| rights::inherit(&file, home));
    let published = draft.publish(&home.name(""), Existing::Keep);
    published.map_err(|error| DbError::io("store it", &error))
}

/// Renames a catalogue and returns the suffix of its new name.
pub(super) fn set_aside(home: &Home, now: Timestamp) -> Result<String, DbError> {
    if !may_be_ours(home)? {
        let message = "it does not begin as a catalogue begins: it is not put aside for one";
        return Err(DbError::new(CatalogueErrorKind::Exists, message));
    }
    let suffix = |number: u32| format!(".damaged-{}-{number}", now.seconds);
    let aside = (1..1000).map(suffix).find(|suffix| !home.has(suffix)).ok_or_else(|| {
        DbError::new(CatalogueErrorKind::Exists, "a thousand damaged ones are there already")
    })?;
    // The log goes first: it must not meet another main file.
    for part in PARTS.iter().rev() {
        match home.dir().rename(&home.name(part), &home.name(&format!("{aside}{part}"))) {
            // The main file itself may be absent.
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(DbError::io("put it aside", &error));
            }
            _ => {}
        }
    }
    Ok(aside)
}

/// Removes the shared memory that an earlier version or another program left. The caller has locked
/// the database, so nobody uses it.
pub(super) fn remove_shared_memory(home: &Home) {
    let _ = home.dir().remove_file(&home.name("-shm"));
}

/// Returns whether a catalogue was here and is gone: the files beside it still exist.
pub(super) fn is_lost(file: &Path) -> bool {
    let Some(folder) = file.parent() else { return false };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Some(name) = file.file_name() else { return false };
    beneath::presence_of(file).is_lost()
        && fs::read_dir(folder).is_ok_and(|mut entries| {
            entries.any(|entry| entry.is_ok_and(|entry| is_left_of(name, &entry.file_name())))
        })
}

/// Returns whether a catalogue, the remains of one, or something else is in this place. Opening it
/// then reports which.
pub(super) fn is_found(file: &Path) -> bool {
    let folder = file.parent().filter(|folder| folder.ends_with(FOLDER));
    folder.is_some_and(is_blocked) || !beneath::presence_of(file).is_lost() || is_lost(file)
}

/// Returns whether an absent catalogue never existed: the first `init` was interrupted before it
/// published the catalogue. The lock then names no other verb, and there are no other files.
pub(super) fn is_unfinished(home: &Home) -> bool {
    let (mut has_draft, mut only_begun) = (false, true);
    let name = home.name("");
    let listed = home.dir().entries(&mut |entry| {
        if let Some(rest) = entry.name.as_bytes().strip_prefix(name.as_bytes()) {
            let is_draft = rest.starts_with(DRAFT.as_bytes());
            has_draft |= is_draft;
            only_begun &= is_draft || [LOCK.as_bytes(), READERS.as_bytes()].contains(&rest);
        }
        ControlFlow::Continue(())
    });
    listed.is_ok() && only_begun && (has_draft || is_lock_of_init(home))
}

/// Returns whether `init` was the last to take the lock, or no writer completed its text.
fn is_lock_of_init(home: &Home) -> bool {
    let name = home.name(LOCK);
    let mut text = String::new();
    let is_read = matches!(home.dir().status_of_own(&name), Ok(Some(_)))
        && home.dir().open_file(&name).is_ok_and(|lock| {
            File::from(lock.into_fd()).take(LOCK_LEN_MAX).read_to_string(&mut text).is_ok()
        });
    // If the process was killed while it checked the free space, zeros follow the text.
    let mut words = text.trim_end_matches('\0').split_whitespace().skip(2);
    is_read && words.next().is_none_or(|verb| verb == "init") && words.next().is_none()
}

/// Returns whether a file may be renamed as a catalogue: it is in the place of one, is empty, or
/// begins like one.
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

/// Returns the path with its links resolved, as far as it exists.
pub(crate) fn real_of(path: &Path) -> Option<PathBuf> {
    let mut names = Vec::new();
    let mut above = path;
    loop {
        let there = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        match there.canonicalize() {
            Ok(real) => return Some(names.iter().rev().fold(real, |real, name| real.join(name))),
            Err(error) => {
                Some(Presence::from(error)).filter(Presence::is_lost)?;
                names.push(above.file_name()?);
                above = above.parent()?;
            }
        }
    }
}

/// Returns whether there may be changes beside the file that are not merged yet.
pub(super) fn has_log(home: &Home) -> bool {
    home.dir().status_of(&home.name("-wal")).is_ok_and(|log| log.length > 0)
}
