//! Storage on macOS: `diskutil`, since otherwise only a framework of the system's knows.

use std::ffi::CStr;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Medium;
use crate::{darwin, sysctl};

/// How long `diskutil` may take. It answers in a tenth of a second, unless a disk does not answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// The devices that were asked about so far.
static KNOWN: Mutex<Vec<(u64, Medium)>> = Mutex::new(Vec::new());

/// Asks about a device once.
pub(super) fn medium(device: u64) -> Medium {
    if is_built_in(device) {
        return Medium::Solid;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, medium)) = known.iter().find(|(asked, _)| *asked == device) {
        return *medium;
    }
    let medium = match asked(device) {
        Some(plist) => match darwin::is_solid(&plist) {
            Some(true) => Medium::Solid,
            Some(false) => Medium::Rotating,
            None => Medium::Unknown,
        },
        None => Medium::Unknown,
    };
    known.push((device, medium));
    medium
}

/// Returns what `diskutil` says of a device that it is to be asked about.
fn asked(device: u64) -> Option<String> {
    name_of(device).and_then(|name| plist_of(&name))
}

/// Returns whether a device is the volume of the system or of its users, in a Mac with Apple
/// silicon. None of these has another disk inside than a solid one, so that most runs need not wait
/// for `diskutil`.
fn is_built_in(device: u64) -> bool {
    let is = |path: &str| {
        rustix::fs::stat(path).is_ok_and(|stat| u64::from(stat.st_dev.cast_unsigned()) == device)
    };
    sysctl::integer(c"hw.optional.arm64").is_ok_and(|value| value == 1)
        && (is("/") || is("/System/Volumes/Data"))
}

/// Returns the name of a disk, as in `disk3s5`. Network file systems have none.
#[expect(unsafe_code, reason = "rustix has no form of devname")]
fn name_of(device: u64) -> Option<String> {
    let device = u32::try_from(device).ok()?.cast_signed();
    // SAFETY: the arguments are integers by value. The result is null or a text that stays until
    // the next call, and `KNOWN` lets one thread at a time come here.
    let name = unsafe { libc::devname(device, libc::S_IFBLK).as_ref() }?;
    // SAFETY: the call above returned a text with a NUL at its end.
    let name = unsafe { CStr::from_ptr(name) }.to_str().ok()?;
    let is_disk = name.starts_with("disk") && name.bytes().all(|b| b.is_ascii_alphanumeric());
    is_disk.then(|| name.to_owned())
}

/// Returns what `diskutil` says of a disk. `None` if it fails or takes too long.
fn plist_of(name: &str) -> Option<String> {
    let mut child = Command::new("/usr/sbin/diskutil")
        .args(["info", "-plist", name])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let begun = Instant::now();
    // Its answer is some 4 KB, so that it fits the pipe and the process ends before it is read.
    while child.try_wait().ok()?.is_none() {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let mut plist = String::new();
    child.stdout.take()?.read_to_string(&mut plist).ok()?;
    Some(plist)
}
