//! Where a catalogue is, and who writes to it. Of the catalogue, only this file touches files other
//! than through SQLite.
//!
//! In: paths. Out: a folder made, a lock held, a damaged file put aside. Nothing is ever deleted
//! but what a broken-off creation left.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use steadfast_sys::file::Timestamp;

use super::error::{CatalogueErrorKind, Fault};

/// The folder at the root of a tree that holds its catalogue. A walk leaves it out.
pub const FOLDER: &str = ".steadfast";

/// The catalogue's name in that folder.
pub const FILE: &str = "catalogue.sqlite";

/// How often a writer that waits looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What stays of a lock's text at most: it is for people.
const LOCK_LEN_MAX: u64 = 256;

/// Who is about to write, and whether it waits for others.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
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
    _file: File,
}

impl Lock {
    /// Takes the lock of a catalogue.
    pub(super) fn take(catalogue: &Path, writer: &Writer<'_>) -> Result<Lock, Fault> {
        let path = beside(catalogue, ".lock");
        let opened =
            File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|error| Fault::io("open its lock", &error))?;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(Fault::io("lock it", &error)),
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
        Ok(Lock { _file: file })
    }

    /// Keeps writers out while a file is read as if it never changed. `None` if nobody can write,
    /// because the lock cannot even be made.
    pub(super) fn keep_writers_out(catalogue: &Path) -> Result<Option<Lock>, Fault> {
        let Ok(file) = File::open(beside(catalogue, ".lock")) else { return Ok(None) };
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::Error(_)) => Ok(None),
            Err(TryLockError::WouldBlock) => {
                let message = "somebody is writing to it, and it cannot be read beside that";
                Err(Fault::new(CatalogueErrorKind::InUse, message))
            }
        }
    }
}

fn in_use(file: &mut File, now: Timestamp) -> Fault {
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
    Fault::new(CatalogueErrorKind::InUse, message)
}

/// Makes the folder that a new catalogue is to be in, and returns the path to make it under: what
/// is not whole never has the catalogue's name.
pub(super) fn prepare(file: &Path) -> Result<PathBuf, Fault> {
    if file.symlink_metadata().is_ok() {
        return Err(Fault::new(CatalogueErrorKind::Exists, "there is a catalogue already"));
    }
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Fault::io("make its folder", &error));
            }
            _ => {}
        }
    }
    let draft = beside(file, ".new");
    for part in ["", "-wal", "-shm", "-journal"] {
        match fs::remove_file(beside(&draft, part)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Fault::io("remove what an earlier attempt left", &error));
            }
            _ => {}
        }
    }
    Ok(draft)
}

/// Gives a finished draft the catalogue's name.
pub(super) fn publish(draft: &Path, file: &Path) -> Result<(), Fault> {
    let synced = File::open(draft).and_then(|file| file.sync_all());
    synced.map_err(|error| Fault::io("store it", &error))?;
    fs::rename(draft, file).map_err(|error| Fault::io("give it its name", &error))?;
    if let Some(folder) = file.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        // Some file systems cannot store a folder by itself; the name is then as safe as it gets.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// Puts a catalogue aside under a new name and returns that.
pub(super) fn set_aside(file: &Path, now: Timestamp) -> Result<PathBuf, Fault> {
    let name = |number: u32| beside(file, &format!(".damaged-{}-{number}", now.seconds));
    let free = (1..1000).map(name).find(|name| name.symlink_metadata().is_err());
    let aside = free.ok_or_else(|| {
        Fault::new(CatalogueErrorKind::Exists, "a thousand damaged ones are there already")
    })?;
    // What was not yet taken into the main file goes first: it must not meet another main file.
    for part in ["-wal", "-shm", ""] {
        match fs::rename(beside(file, part), beside(&aside, part)) {
            Err(error) if part.is_empty() || error.kind() != io::ErrorKind::NotFound => {
                return Err(Fault::io("put it aside", &error));
            }
            _ => {}
        }
    }
    Ok(aside)
}

/// Says whether changes may lie beside the file that are not in it yet.
pub(super) fn has_log(file: &Path) -> bool {
    beside(file, "-wal").metadata().is_ok_and(|log| log.len() > 0)
}
