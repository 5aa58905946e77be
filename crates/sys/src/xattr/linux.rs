//! Extended attributes on Linux: what they are called, and how an absent one is told.
//!
//! It knows no file.

use rustix::io::Errno;

pub(super) const TAG: &str = "user.steadfast";
pub(super) const TAG_PREVIOUS: &str = "user.steadfast.previous";
pub(super) const LEAVES: &str = "user.steadfast.leaves";

/// The name of an attribute that is never set.
pub(super) const UNUSED: &str = "user.steadfast.unused";

/// Every name is in a namespace here; this one is for users.
pub(super) const MAC_PREFIX: &str = "user.";

/// What the system answers when there is no such attribute.
pub(super) const ABSENT: Errno = Errno::NODATA;
