//! The identity of a set, and how it is written.

use std::ffi::{OsStr, OsString};

/// The identity of a set.
pub(super) type SetId = [u8; 16];

/// Returns an identity in hexadecimal.
pub(super) fn hex(id: &SetId) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the folder and the name of a set.
pub(super) fn names_of(id: &SetId) -> (OsString, OsString) {
    let name = hex(id);
    (OsString::from(&name[..2]), OsString::from(name))
}

/// Reads an identity from a name; `None` if it is another file's.
pub(super) fn id_of(name: &OsStr) -> Option<SetId> {
    let name = name.to_str().filter(|name| name.len() == 32 && name.is_ascii())?;
    let mut id = [0; 16];
    for (byte, digits) in id.iter_mut().zip(name.as_bytes().chunks(2)) {
        let is_lower = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        let digits = std::str::from_utf8(digits).ok().filter(|d| d.as_bytes().iter().all(is_lower));
        *byte = u8::from_str_radix(digits?, 16).ok()?;
    }
    Some(id)
}
