//! Extended attributes on macOS: their names, and the error for an absent one.

use rustix::io::Errno;

use crate::darwin;

pub(super) const TAG: &str = "org.steadfast.tag#S";
pub(super) const TAG_PREVIOUS: &str = "org.steadfast.tag.previous#S";
pub(super) const LEAVES: &str = "org.steadfast.leaves#S";

/// The name of an attribute that is never set.
pub(super) const UNUSED: &str = "org.steadfast.unused";

/// macOS has no namespaces.
pub(super) const MAC_PREFIX: &str = "";

/// The error for an absent attribute.
pub(super) const ABSENT: Errno = Errno::NOATTR;

/// The attribute by which the resource fork is reached.
///
/// Source: `sys/xattr.h`, `XATTR_RESOURCEFORK_NAME`.
pub(super) const RESOURCE_FORK: Option<&str> = Some("com.apple.ResourceFork");

/// Recognises the refusal of attributes of a `._` file.
pub(super) fn refuses_attributes(errno: Errno) -> bool {
    darwin::refuses_attributes(errno.raw_os_error())
}
