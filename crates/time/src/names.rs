//! Names and paths as the bytes that a file system has of them.
//!
//! The only module that knows how the system's strings are made of bytes: another platform needs
//! another body here, and nothing else.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A borrowed name or path.
pub trait NameBytes {
    /// Takes bytes as a name or a path.
    fn from_bytes(bytes: &[u8]) -> &Self;

    /// Returns the bytes.
    fn as_bytes(&self) -> &[u8];

    /// Returns the bytes as a part of a URI: letters, digits, `-._~` and the slash as they are, and
    /// all others percent-encoded.
    ///
    /// Source: RFC 3986, sections 2.1 and 2.3.
    fn percent_encoded(&self) -> String {
        let mut text = String::new();
        for &byte in self.as_bytes() {
            if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
                text.push(byte.into());
            } else {
                text.push_str(&format!("%{byte:02X}"));
            }
        }
        text
    }
}

/// An owned name or path.
pub trait NameBuf {
    /// Takes bytes as a name or a path.
    fn from_vec(bytes: Vec<u8>) -> Self;

    /// Returns the bytes.
    fn into_vec(self) -> Vec<u8>;
}

impl NameBytes for OsStr {
    fn from_bytes(bytes: &[u8]) -> &OsStr {
        OsStrExt::from_bytes(bytes)
    }

    fn as_bytes(&self) -> &[u8] {
        OsStrExt::as_bytes(self)
    }
}

impl NameBytes for Path {
    fn from_bytes(bytes: &[u8]) -> &Path {
        Path::new(<OsStr as NameBytes>::from_bytes(bytes))
    }

    fn as_bytes(&self) -> &[u8] {
        NameBytes::as_bytes(self.as_os_str())
    }
}

impl NameBuf for OsString {
    fn from_vec(bytes: Vec<u8>) -> OsString {
        OsStringExt::from_vec(bytes)
    }

    fn into_vec(self) -> Vec<u8> {
        OsStringExt::into_vec(self)
    }
}

impl NameBuf for PathBuf {
    fn from_vec(bytes: Vec<u8>) -> PathBuf {
        PathBuf::from(<OsString as NameBuf>::from_vec(bytes))
    }

    fn into_vec(self) -> Vec<u8> {
        NameBuf::into_vec(self.into_os_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_a_part_of_a_uri() {
        assert_eq!(
            Path::from_bytes(b"/a b-._~/%?#\xff").percent_encoded(),
            "/a%20b-._~/%25%3F%23%FF"
        );
    }
}
