//! QoS on macOS: the class of the calling thread, from which the system chooses core type,
//! frequency and I/O priority.
//!
//! It knows the classes and not what they cost.

use std::io;

use super::{Level, Step};

/// Asks for the class of the level's number; the default asks for nothing.
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
    let result = if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) };
    vec![Step { what: format!("QoS class {} ({level})", level.number()), result }]
}
