//! Extended attributes: reads, sets, removes and lists the attributes of an open file.
//!
//! Knows the names of the attributes that hold tags, not the format of a tag.

#[cfg_attr(target_os = "linux", path = "xattr/linux.rs")]
#[cfg_attr(target_os = "macos", path = "xattr/macos.rs")]
mod platform;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;

use rustix::fs::XattrFlags;
use rustix::io::Errno;
use steadfast_time::names::NameBytes as _;

use crate::file::File;

/// The attribute that holds a tag: `user.steadfast` on Linux, `org.steadfast.tag#S` on macOS. `#S`
/// tells macOS to preserve it in copies, backups and safe-saves.
pub const TAG: &str = platform::TAG;

/// The attribute that holds the previous tag.
pub const TAG_PREVIOUS: &str = platform::TAG_PREVIOUS;

/// The attribute that marks a file as a file of leaves, whatever its bytes are.
pub const LEAVES: &str = platform::LEAVES;

/// Prefix of the names of attributes that a Mac set: `user.` on Linux, empty on macOS.
pub const MAC_PREFIX: &str = platform::MAC_PREFIX;

/// Length of a resource fork without resources, as macOS writes it into `._` files, in bytes.
const BLANK_FORK_LENGTH: usize = 286;

/// Length of the buffer for the list of names at the first attempt, in bytes.
const NAMES_LENGTH: usize = 1024;

/// Reads the value of an attribute into a buffer and returns its length; `None` when the file has
/// no such attribute.
///
/// # Errors
/// `InvalidData` when the value is longer than the buffer; `Unsupported` when the file system
/// keeps no attributes.
pub fn get(file: &File, name: &str, buf: &mut [u8]) -> io::Result<Option<usize>> {
    // With an empty buffer the system returns the length only, so it has a call of its own.
    let outcome = match buf.len() {
        0 => rustix::fs::fgetxattr_query(file.as_fd(), name),
        _ => rustix::fs::fgetxattr(file.as_fd(), name, &mut *buf),
    };
    match outcome {
        Ok(length) if length <= buf.len() => Ok(Some(length)),
        Ok(_) | Err(Errno::RANGE) => {
            let reason = format!("the attribute is longer than {} bytes", buf.len());
            Err(io::Error::new(io::ErrorKind::InvalidData, reason))
        }
        Err(platform::ABSENT) => Ok(None),
        Err(errno) => Err(unreadable(errno)),
    }
}

/// Returns whether a file has a resource fork, the second stream of bytes of files on macOS, which
/// no digest of the file covers. False on Linux, which has none.
#[must_use]
pub fn has_resource_fork(file: &File) -> bool {
    let Some(name) = platform::RESOURCE_FORK else { return false };
    let length = rustix::fs::fgetxattr(file.as_fd(), name, &mut [] as &mut [u8]);
    length.is_ok_and(|length| length > 0 && length != BLANK_FORK_LENGTH)
}

/// Sets an attribute or replaces its value, in one call. Afterwards it has the old value or the new
/// one, never a part.
///
/// # Errors
/// `Unsupported` when the file system keeps no attributes; `StorageFull` when the file has no room
/// for it; otherwise whatever the system says.
pub fn set(file: &File, name: &str, value: &[u8]) -> io::Result<()> {
    rustix::fs::fsetxattr(file.as_fd(), name, value, XattrFlags::empty()).map_err(refusal)
}

/// Sets an attribute that the file does not have yet, in one call.
///
/// # Errors
/// `AlreadyExists` when it has it; otherwise as [`set`].
pub fn create(file: &File, name: &str, value: &[u8]) -> io::Result<()> {
    rustix::fs::fsetxattr(file.as_fd(), name, value, XattrFlags::CREATE).map_err(refusal)
}

/// Checks whether attributes of the file can be set, by removing one that no file has. The system
/// makes the same checks as for setting one, and changes nothing.
///
/// # Errors
/// As [`set`]; `PermissionDenied` also for an immutable file, which [`File::protection`] tells.
pub fn probe(file: &File) -> io::Result<()> {
    remove(file, platform::UNUSED).map(drop)
}

/// Removes an attribute; false when there was none.
///
/// # Errors
/// `Unsupported` when the file system keeps no attributes; otherwise whatever the system says.
pub fn remove(file: &File, name: &str) -> io::Result<bool> {
    match rustix::fs::fremovexattr(file.as_fd(), name) {
        Ok(()) => Ok(true),
        Err(platform::ABSENT) => Ok(false),
        Err(errno) => Err(refusal(errno)),
    }
}

/// Returns the names of the attributes a file has, in the order the system gives them.
///
/// # Errors
/// `Unsupported` when the file system keeps no attributes; otherwise whatever the system says.
pub fn list(file: &File) -> io::Result<Vec<OsString>> {
    let mut names = vec![0; NAMES_LENGTH];
    let length = loop {
        match rustix::fs::flistxattr(file.as_fd(), names.as_mut_slice()) {
            // The system bounds the list (64 KiB on Linux), so this ends.
            Err(Errno::RANGE) => names.resize(names.len() * 2, 0),
            outcome => break outcome.map_err(unreadable)?,
        }
    };
    let names = names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| OsStr::from_bytes(name).to_owned()).collect())
}

/// Reads the names of the attributes of a file into a buffer, each ended by a NUL, in the order of
/// the system. Allocates no memory.
///
/// # Errors
/// `InvalidData` when the names are longer than the buffer (64 KiB is enough on Linux);
/// `Unsupported` when the file system keeps no attributes.
pub fn list_into<'a>(file: &File, buf: &'a mut [u8]) -> io::Result<&'a [u8]> {
    match rustix::fs::flistxattr(file.as_fd(), &mut *buf) {
        Ok(length) if length <= buf.len() => Ok(&buf[..length]),
        Ok(_) | Err(Errno::RANGE) => {
            let reason = format!("the names of the attributes are longer than {} bytes", buf.len());
            Err(io::Error::new(io::ErrorKind::InvalidData, reason))
        }
        Err(errno) => Err(unreadable(errno)),
    }
}

/// Does as [`refusal`] for reading, which macOS refuses by another number of `._` files where these
/// hold the attributes of their neighbours.
fn unreadable(errno: Errno) -> io::Error {
    refusal(if platform::refuses_attributes(errno) { Errno::NOTSUP } else { errno })
}

/// Turns an error of the system into one that says so if the file system has no attributes.
fn refusal(errno: Errno) -> io::Error {
    if errno == Errno::NOTSUP || errno == Errno::OPNOTSUPP {
        let reason = "the file system keeps no extended attributes";
        return io::Error::new(io::ErrorKind::Unsupported, reason);
    }
    errno.into()
}
