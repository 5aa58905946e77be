//! Shapes that an algorithm's kernels work on: a block, a chaining value, constants.

pub(crate) mod md5;
pub(crate) mod sha256;
pub(crate) mod sha512;
