//! QoS on macOS: the class of the calling thread. The system chooses core type, frequency and I/O
//! priority by it.

use std::io;
use std::path::Path;

use super::{Fact, Level, Step};

/// Asks for the class with the number of the level, and checks that the system reports it
/// afterwards. Asks for nothing at the default level.
#[expect(unsafe_code, reason = "rustix has no form of thread QoS")]
pub(super) fn apply_to_thread(level: Level) -> Vec<Step> {
    let class = match level {
        Level::Background => libc::qos_class_t::QOS_CLASS_BACKGROUND,
        Level::Utility => libc::qos_class_t::QOS_CLASS_UTILITY,
        Level::Default => return Vec::new(),
        Level::UserInitiated => libc::qos_class_t::QOS_CLASS_USER_INITIATED,
        Level::UserInteractive => libc::qos_class_t::QOS_CLASS_USER_INTERACTIVE,
    };
    // SAFETY: the class is one of those defined and 0 is the class's own priority.
    let code = unsafe { libc::pthread_set_qos_class_self_np(class, 0) };
    let result = match code {
        0 => thread_class().and_then(|found| match found == u32::from(level.number()) {
            true => Ok(()),
            false => Err(io::Error::other(format!("the system did it, and has class {found}"))),
        }),
        code => Err(io::Error::from_raw_os_error(code)),
    };
    vec![Step { what: format!("QoS class {} ({level})", level.number()), result }]
}

/// Lowers this process, also for a program that it becomes. A process can give itself the lowest
/// level only: classes belong to threads and end with them. [`launcher`] has the next one.
pub(super) fn apply_for_exec(level: Level) -> Vec<Step> {
    let what = match level {
        Level::Default => return Vec::new(),
        Level::Background => "Darwin background".to_owned(),
        Level::Utility => "QoS clamp utility, by taskpolicy".to_owned(),
        _ => format!("QoS class {} ({level})", level.number()),
    };
    let result = match level {
        Level::Background => {
            set_darwin_background(0, true).and_then(|()| match in_darwin_background()? {
                true => Ok(()),
                false => Err(io::Error::other("the system did it, and says otherwise")),
            })
        }
        Level::Utility => Ok(()),
        _ => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "macOS gives a program no level above utility from outside",
        )),
    };
    vec![Step { what, result }]
}

/// Returns the system's own command that clamps a program to `utility`: only who starts a process
/// can do that (`posix_spawnattr_set_qos_clamp_np`).
pub(super) fn launcher(level: Level) -> &'static [&'static str] {
    match level {
        Level::Utility => &["/usr/sbin/taskpolicy", "-c", "utility"],
        _ => &[],
    }
}

/// macOS confines no thread: the class decides where it runs.
pub(super) fn confine_thread(_: &[usize]) -> Step {
    let reason = "macOS chooses processors by the class";
    Step {
        what: "processors of the slower type".to_owned(),
        result: Err(io::Error::new(io::ErrorKind::Unsupported, reason)),
    }
}

/// Returns the class of the calling thread.
pub(super) fn thread_facts() -> Vec<Fact> {
    let class = match thread_class() {
        Ok(0) => "QoS class unspecified".to_owned(),
        Ok(number) => {
            match Level::ALL.into_iter().find(|level| u32::from(level.number()) == number) {
                Some(level) => format!("QoS class {number} ({level})"),
                None => format!("QoS class {number}"),
            }
        }
        Err(error) => format!("not told ({error})"),
    };
    vec![Fact { what: "class", value: class }]
}

/// Returns the class of the level if the thread, or for `background` the process, does not have it.
/// Whether a process is clamped to `utility`, the system does not tell.
pub(super) fn lacking(level: Level) -> Vec<String> {
    let has = match level {
        Level::Default | Level::Utility => true,
        Level::Background => in_darwin_background().unwrap_or(false),
        Level::UserInitiated | Level::UserInteractive => {
            thread_class().is_ok_and(|class| class == u32::from(level.number()))
        }
    };
    if has { Vec::new() } else { vec![format!("QoS class {} ({level})", level.number())] }
}

/// macOS has no utilisation clamps.
pub(super) fn has_uclamp(_: &Path) -> Option<bool> {
    None
}

/// Reads the class of the calling thread as its number.
#[expect(unsafe_code, reason = "rustix has no form of thread QoS")]
fn thread_class() -> io::Result<u32> {
    let mut class = 0_u32;
    let mut priority: libc::c_int = 0;
    // SAFETY: always callable.
    let this = unsafe { libc::pthread_self() };
    // SAFETY: both places are writable. The class is one of 32 bits; a number stands in its place,
    // since the system may know classes that the enumeration does not.
    let code =
        unsafe { libc::pthread_get_qos_class_np(this, (&raw mut class).cast(), &raw mut priority) };
    if code == 0 { Ok(class) } else { Err(io::Error::from_raw_os_error(code)) }
}

/// Puts a process, 0 for this one, into Darwin's background, or takes it out.
#[expect(unsafe_code, reason = "rustix has no form of this priority")]
pub(super) fn set_darwin_background(process: u32, lowered: bool) -> io::Result<()> {
    let priority = if lowered { libc::PRIO_DARWIN_BG } else { 0 };
    // SAFETY: all arguments are integers by value.
    let code = unsafe { libc::setpriority(libc::PRIO_DARWIN_PROCESS, process, priority) };
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether this process is in Darwin's background by its own request.
#[expect(unsafe_code, reason = "rustix has no form of this priority")]
fn in_darwin_background() -> io::Result<bool> {
    // SAFETY: always callable; the place of the error number is this thread's own.
    let errno = unsafe { libc::__error() };
    // SAFETY: the pointer is valid for this thread, as just returned.
    unsafe { *errno = 0 };
    // SAFETY: all arguments are integers by value.
    let priority = unsafe { libc::getpriority(libc::PRIO_DARWIN_PROCESS, 0) };
    match io::Error::last_os_error() {
        // A priority of -1 is no error here unless the system says so.
        error if priority == -1 && error.raw_os_error() != Some(0) => Err(error),
        _ => Ok(priority != 0),
    }
}
