//! Databases of SQLite in an open directory, reached by no path.
//!
//! SQLite opens a database, its log and its lock by their paths, which others can exchange
//! meanwhile, and as root it gives new files away. It calls the system by a table. The entries that
//! take a path are replaced in the whole process: a path that begins with `PREFIX` is a name in a
//! directory that is open. All others go to the system as before. It is in this crate because it
//! needs unsafe code (feature `sqlite`).

#![expect(unsafe_code, reason = "SQLite is written in C")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::io;
use std::mem;
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, IntoRawFd, OwnedFd};
use std::ptr;
use std::sync::{Arc, Once, OnceLock, PoisonError, RwLock};

use libsqlite3_sys::{SQLITE_CANTOPEN, SQLITE_OK, sqlite3_syscall_ptr, sqlite3_vfs_find};
use rustix::fs::FileType;
use steadfast_time::names::NameBytes as _;

use crate::file::Dir;

#[cfg_attr(target_os = "linux", path = "sqlite/linux.rs")]
#[cfg_attr(target_os = "macos", path = "sqlite/macos.rs")]
mod platform;

/// Begins the paths of held databases. Nothing has this name, and only root could make it.
const PREFIX: &str = "/\u{1}steadfast/";

/// Ends the path of a held database; the suffixes of SQLite follow it.
const NAME: &str = "/db";

// The structure of `stat` is the one that SQLite was compiled with.
const _: () = assert!(mem::size_of::<libc::off_t>() == 8, "offsets have 64 bits");

/// A database that SQLite reaches through an open directory. It outlives the connections to it.
#[derive(Debug)]
pub struct HeldDatabase {
    key: u64,
}

/// What a path of a held database stands for.
#[derive(Debug)]
struct OpenDatabase {
    dir: Arc<Dir>,
    name: Vec<u8>,
    writes: bool,
    /// The descriptors of the database.
    opened: Vec<c_int>,
}

static HELD: RwLock<BTreeMap<u64, OpenDatabase>> = RwLock::new(BTreeMap::new());

impl HeldDatabase {
    /// Lets SQLite open the database of this name in a directory. Unless it `writes`, neither it
    /// nor its log is made, opened for writing or removed.
    pub fn new(dir: &Arc<Dir>, name: &OsStr, writes: bool) -> HeldDatabase {
        replace_calls();
        let (dir, name) = (Arc::clone(dir), name.as_bytes().to_vec());
        let mut held = HELD.write().unwrap_or_else(PoisonError::into_inner);
        let key = held.last_key_value().map_or(0, |(key, _)| key + 1);
        held.insert(key, OpenDatabase { dir, name, writes, opened: Vec::new() });
        HeldDatabase { key }
    }

    /// Returns the path by which SQLite opens it. It is one of a URI, too.
    pub fn path(&self) -> String {
        format!("{PREFIX}{}{NAME}", self.key)
    }
}

impl Drop for HeldDatabase {
    fn drop(&mut self) {
        HELD.write().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// An entry of SQLite's table of system calls: its name, and the function as the table keeps it.
macro_rules! system_call {
    ($name:literal, $function:expr, $signature:ty) => {{
        let function: $signature = $function;
        // SAFETY: SQLite keeps all functions as one type, and calls each by its own signature.
        ($name, unsafe { std::mem::transmute::<$signature, sqlite3_syscall_ptr>(function) })
    }};
}
use system_call;

/// The call that opens the directory of a file. The system has none of this name.
type OpenParent = unsafe extern "C" fn(*const c_char, *mut c_int) -> c_int;

/// SQLite's own function for it.
static OPEN_DIRECTORY: OnceLock<OpenParent> = OnceLock::new();

/// Replaces the calls that take a path, those that lock, and the one that gives a file away.
fn replace_calls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: no name is that of the default file system, which lives as long as the process.
        let vfs = unsafe { sqlite3_vfs_find(ptr::null()) };
        // SAFETY: the pointer is null or that of a file system.
        let found = unsafe { vfs.as_ref() };
        // Without these, nothing has the paths.
        let Some(set) = found.and_then(|found| found.xSetSystemCall) else { return };
        let Some(get) = found.and_then(|found| found.xGetSystemCall) else { return };
        // SAFETY: the function is one of this file system.
        let own = unsafe { get(vfs, c"openDirectory".as_ptr()) };
        // SAFETY: SQLite keeps all functions as one type, and this one has this signature.
        let own = unsafe { mem::transmute::<sqlite3_syscall_ptr, Option<OpenParent>>(own) };
        let Some(own) = own else { return };
        let _ = OPEN_DIRECTORY.set(own);
        let calls = [
            system_call!(c"open", open, unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int),
            system_call!(c"close", close, unsafe extern "C" fn(c_int) -> c_int),
            system_call!(c"access", access, unsafe extern "C" fn(*const c_char, c_int) -> c_int),
            system_call!(
                c"stat",
                stat,
                unsafe extern "C" fn(*const c_char, *mut libc::stat) -> c_int
            ),
            system_call!(c"unlink", unlink, unsafe extern "C" fn(*const c_char) -> c_int),
            system_call!(c"openDirectory", open_directory, OpenParent),
            system_call!(
                c"fchown",
                fchown,
                unsafe extern "C" fn(c_int, libc::uid_t, libc::gid_t) -> c_int
            ),
        ];
        for (name, call) in calls.into_iter().chain(platform::locking()) {
            // SAFETY: the function is one of this file system, and SQLite reads it as one word.
            let _ = unsafe { set(vfs, name.as_ptr(), call) };
        }
    });
}

/// A file of a held database, as a path of SQLite names it.
struct DatabaseFile<'a> {
    held: &'a OpenDatabase,
    key: u64,
    /// What SQLite adds to the name of the database.
    suffix: &'a [u8],
    name: CString,
}

impl DatabaseFile<'_> {
    fn dir(&self) -> c_int {
        self.held.dir.as_fd().as_raw_fd()
    }

    /// Fails unless SQLite may use the file. A catalogue has a database and a log, and no journal,
    /// which could name files to remove.
    fn ensure_known(&self) -> Result<(), c_int> {
        if [&b""[..], b"-wal"].contains(&self.suffix) { Ok(()) } else { Err(libc::ENOENT) }
    }
}

/// Serves a call for a path. `None` if it is not one of a held database.
fn serve(
    path: *const c_char,
    call: impl FnOnce(&DatabaseFile<'_>) -> Result<c_int, c_int>,
) -> Option<c_int> {
    // SAFETY: SQLite gives a path that ends with a zero.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    let rest = path.strip_prefix(PREFIX.as_bytes())?;
    let all = HELD.read().unwrap_or_else(PoisonError::into_inner);
    let found = || {
        let slash = rest.iter().position(|byte| *byte == b'/')?;
        let key = std::str::from_utf8(&rest[..slash]).ok()?.parse().ok()?;
        let suffix = rest[slash..].strip_prefix(NAME.as_bytes())?;
        let held = all.get(&key)?;
        let name = CString::new([held.name.as_slice(), suffix].concat()).ok()?;
        Some(DatabaseFile { held, key, suffix, name })
    };
    let done = found().ok_or(libc::ENOENT).and_then(|file| {
        file.ensure_known()?;
        call(&file)
    });
    Some(done.unwrap_or_else(|error| {
        platform::set_errno(error);
        -1
    }))
}

/// Returns what a call of the system returned, or its error.
fn done(result: c_int) -> Result<c_int, c_int> {
    match result {
        0.. => Ok(result),
        _ => Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)),
    }
}

unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    let mut database = None;
    let opened = serve(path, |file| {
        database = Some(file.key).filter(|_| file.suffix.is_empty());
        if !file.held.writes && flags & libc::O_ACCMODE != libc::O_RDONLY {
            // SQLite then opens it for reading.
            return Err(libc::EACCES);
        }
        let flags = if file.suffix.is_empty() { flags & !libc::O_CREAT } else { flags };
        // A fifo or a device is not waited for.
        let flags = flags | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        // SAFETY: the directory is open, and the name ends with a zero.
        let fd = done(unsafe { libc::openat(file.dir(), file.name.as_ptr(), flags, mode) })?;
        // SAFETY: it was opened in this function, and has no other owner.
        let opened = unsafe { OwnedFd::from_raw_fd(fd) };
        let is_own = rustix::fs::fstat(&opened).is_ok_and(|stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink <= 1
        });
        // With this error, SQLite does not try again.
        if is_own { Ok(opened.into_raw_fd()) } else { Err(libc::EISDIR) }
    });
    if let (Some(key), Some(fd @ 0..)) = (database, opened) {
        let mut all = HELD.write().unwrap_or_else(PoisonError::into_inner);
        all.entry(key).and_modify(|held| held.opened.push(fd));
    }
    // SAFETY: the arguments are those that SQLite gives to `open`.
    opened.unwrap_or_else(|| unsafe { libc::open(path, flags, mode) })
}

/// Closes a file, of which another one may have the number next.
unsafe extern "C" fn close(fd: c_int) -> c_int {
    let mut all = HELD.write().unwrap_or_else(PoisonError::into_inner);
    all.values_mut().for_each(|held| held.opened.retain(|opened| *opened != fd));
    drop(all);
    // SAFETY: SQLite closes what it opened.
    unsafe { libc::close(fd) }
}

unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    let answer = serve(path, |file| {
        // SAFETY: the directory is open, and the name ends with a zero.
        done(unsafe { libc::faccessat(file.dir(), file.name.as_ptr(), mode, 0) })
    });
    // SAFETY: the arguments are those that SQLite gives to `access`.
    answer.unwrap_or_else(|| unsafe { libc::access(path, mode) })
}

unsafe extern "C" fn stat(path: *const c_char, to: *mut libc::stat) -> c_int {
    let answer = serve(path, |file| {
        let flags = libc::AT_SYMLINK_NOFOLLOW;
        // SAFETY: the directory is open, the name ends with a zero, and SQLite gives the structure.
        done(unsafe { libc::fstatat(file.dir(), file.name.as_ptr(), to, flags) })
    });
    // SAFETY: the arguments are those that SQLite gives to `stat`.
    answer.unwrap_or_else(|| unsafe { libc::stat(path, to) })
}

unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    let answer = serve(path, |file| {
        if file.suffix.is_empty() || !file.held.writes {
            return Err(libc::EACCES);
        }
        // SAFETY: the directory is open, and the name ends with a zero.
        done(unsafe { libc::unlinkat(file.dir(), file.name.as_ptr(), 0) })
    });
    // SAFETY: the argument is the one that SQLite gives to `unlink`.
    answer.unwrap_or_else(|| unsafe { libc::unlink(path) })
}

unsafe extern "C" fn open_directory(path: *const c_char, to: *mut c_int) -> c_int {
    let opened = serve(path, |file| {
        let copy = file.held.dir.as_fd().try_clone_to_owned();
        copy.map(IntoRawFd::into_raw_fd).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
    });
    match (opened, OPEN_DIRECTORY.get()) {
        (Some(fd @ 0..), _) => {
            // SAFETY: SQLite gives the place of the descriptor.
            unsafe { to.write(fd) };
            SQLITE_OK
        }
        // SAFETY: the arguments are those that SQLite gives to its own function.
        (None, Some(own)) => unsafe { own(path, to) },
        _ => SQLITE_CANTOPEN,
    }
}

/// Gives no file to another owner. SQLite would do so as root, and goes on without it.
unsafe extern "C" fn fchown(_: c_int, _: libc::uid_t, _: libc::gid_t) -> c_int {
    platform::set_errno(libc::EPERM);
    -1
}

#[cfg(test)]
mod tests {
    use libsqlite3_sys::{sqlite3, sqlite3_close, sqlite3_exec, sqlite3_open};

    use super::*;

    #[test]
    fn a_closed_descriptor_is_that_of_a_held_database_no_more() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("db"), "").unwrap();
        let dir = Arc::new(Dir::open(folder.path()).unwrap());
        let held = HeldDatabase::new(&dir, OsStr::new("db"), true);
        let opened = || HELD.read().unwrap()[&held.key].opened.len();
        let path = CString::new(held.path()).unwrap();
        let mut db: *mut sqlite3 = ptr::null_mut();
        // SAFETY: the path ends with a zero.
        assert_eq!(unsafe { sqlite3_open(path.as_ptr(), &raw mut db) }, SQLITE_OK);
        let (sql, none) = (c"PRAGMA user_version".as_ptr(), ptr::null_mut());
        // SAFETY: the connection is open, and the statement ends with a zero.
        assert_eq!(unsafe { sqlite3_exec(db, sql, None, none, ptr::null_mut()) }, SQLITE_OK);
        assert_eq!(opened(), 1);
        // SAFETY: the connection is open, and is not used again.
        assert_eq!(unsafe { sqlite3_close(db) }, SQLITE_OK);
        assert_eq!(opened(), 0);
    }
}
