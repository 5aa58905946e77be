//! The address of objects, and the mapping between names of objects and paths of files.
//!
//! In: `s3://BUCKET/PREFIX`, paths, names of objects. Out: names of objects and paths. Refuses a
//! name that no file beneath a root can have, instead of changing it.

use std::fmt;
use std::path::{Path, PathBuf};

use steadfast::manifest::{Format, PathFault, confine};
use steadfast_sys::names::NameBytes as _;

use crate::error::Error;

/// A bucket and a prefix of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    bucket: String,
    /// Empty, or ends in a slash.
    prefix: String,
}

/// Why an object cannot be a file, or a file cannot be an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// The object is outside the address.
    #[error("the object is elsewhere")]
    Elsewhere,
    /// The object marks a folder: its name ends in a slash.
    #[error("the object marks a folder")]
    Folder,
    /// A part of the name is empty or `.`, which a path cannot have.
    #[error("no file has this name: a part of it is empty or a dot")]
    Unnatural,
    /// The name is not a relative path beneath a folder.
    #[error("{0}")]
    Path(PathFault),
    /// The file's path is not UTF-8, as names of objects must be.
    #[error("the path is not UTF-8, so no object has it for a name")]
    NotUtf8,
}

impl Address {
    /// Parses `s3://BUCKET` or `s3://BUCKET/PREFIX`. Adds a slash to the prefix if it has none.
    ///
    /// # Errors
    /// If the text has another form.
    pub fn parse(text: &str) -> Result<Address, Error> {
        let rest = text.strip_prefix("s3://").ok_or_else(|| {
            Error::usage(format!("`{text}` is no address of objects: they begin with s3://"))
        })?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        Address::new(bucket, prefix)
    }

    /// Makes an address of a bucket and a prefix.
    ///
    /// # Errors
    /// If the bucket's name is invalid.
    pub fn new(bucket: &str, prefix: &str) -> Result<Address, Error> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let dots = bucket.bytes().all(|byte| byte == b'.');
        if bucket.is_empty() || bucket.len() > 255 || dots || !bucket.bytes().all(plain) {
            return Err(Error::usage(format!("`{bucket}` is no name of a bucket")));
        }
        let slash = if prefix.is_empty() || prefix.ends_with('/') { "" } else { "/" };
        Ok(Address { bucket: bucket.to_owned(), prefix: format!("{prefix}{slash}") })
    }

    /// Returns the bucket's name.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Returns the prefix of the objects' names: empty, or with a slash at its end.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the name of the object of a file.
    ///
    /// # Errors
    /// If the path is not UTF-8.
    pub fn key_of(&self, path: &Path) -> Result<String, NameFault> {
        let path = path.to_str().ok_or(NameFault::NotUtf8)?;
        Ok(format!("{}{path}", self.prefix))
    }

    /// Returns the path, relative to a root, of the file of an object.
    ///
    /// # Errors
    /// If no file can have the name.
    pub fn path_of(&self, key: &str) -> Result<PathBuf, NameFault> {
        let name = key.strip_prefix(&self.prefix).ok_or(NameFault::Elsewhere)?;
        if name.is_empty() || name.ends_with('/') {
            return Err(NameFault::Folder);
        }
        let path = confine(Path::new(name), Format::Steadfast).map_err(NameFault::Path)?;
        // A path that normalizes to another one would map two objects to one file.
        match path.as_bytes() == name.as_bytes() {
            true => Ok(path),
            false => Err(NameFault::Unnatural),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_folder() {
        for (text, bucket, prefix) in [
            ("s3://b", "b", ""),
            ("s3://b/", "b", ""),
            ("s3://b/a/c", "b", "a/c/"),
            ("s3://my.bucket/a/", "my.bucket", "a/"),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.bucket(), address.prefix()), (bucket, prefix));
        }
        for text in
            ["b/a", "s3://", "s3:///a", "s3://b c/a", "s3://b%2f/a", "s3://../a", "http://b"]
        {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn files_and_objects_are_told_from_each_other() {
        let address = Address::parse("s3://b/in").unwrap();
        let path = address.path_of("in/a b/é").unwrap();
        assert_eq!(path, Path::new("a b/é"));
        assert_eq!(address.key_of(&path).unwrap(), "in/a b/é");
        for (key, fault) in [
            ("out/a", NameFault::Elsewhere),
            ("in/", NameFault::Folder),
            ("in/a/", NameFault::Folder),
            ("in/a//b", NameFault::Unnatural),
            ("in/./b", NameFault::Unnatural),
            ("in//a", NameFault::Path(PathFault::Absolute)),
            ("in/../b", NameFault::Path(PathFault::Parent)),
            ("in/a/../b", NameFault::Path(PathFault::Parent)),
            ("in/a\0b", NameFault::Path(PathFault::Nul)),
        ] {
            assert_eq!(address.path_of(key), Err(fault), "{key:?}");
        }
    }
}
