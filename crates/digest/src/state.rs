//! The data types of an algorithm's kernels: block, chaining value, constants.

pub(crate) mod md5;
pub(crate) mod sha256;
pub(crate) mod sha512;
