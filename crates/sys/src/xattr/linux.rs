//! Extended attributes on Linux: their names, and the error for an absent one.

use rustix::io::Errno;

pub(super) const TAG: &str = "user.steadfast";
pub(super) const TAG_PREVIOUS: &str = "user.steadfast.previous";
pub(super) const LEAVES: &str = "user.steadfast.leaves";

/// The name of an attribute that is never set.
pub(super) const UNUSED: &str = "user.steadfast.unused";

/// The namespace for users. On Linux every name is in a namespace.
pub(super) const MAC_PREFIX: &str = "user.";

/// The error for an absent attribute.
pub(super) const ABSENT: Errno = Errno::NODATA;

/// Linux has no resource forks.
pub(super) const RESOURCE_FORK: Option<&str> = None;

/// No other number than the usual ones means that.
pub(super) fn refuses_attributes(_: Errno) -> bool {
    false
}
