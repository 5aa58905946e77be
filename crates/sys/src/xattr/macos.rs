//! Extended attributes on macOS: what they are called, and how an absent one is told.
//!
//! It knows no file.

use rustix::io::Errno;

pub(super) const TAG: &str = "org.steadfast.tag#S";
pub(super) const TAG_PREVIOUS: &str = "org.steadfast.tag.previous#S";
pub(super) const LEAVES: &str = "org.steadfast.leaves#S";

/// The name of an attribute that is never set.
pub(super) const UNUSED: &str = "org.steadfast.unused";

/// Names have no namespaces here.
pub(super) const MAC_PREFIX: &str = "";

/// What the system answers when there is no such attribute.
pub(super) const ABSENT: Errno = Errno::NOATTR;
