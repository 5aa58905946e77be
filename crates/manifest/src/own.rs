//! The tags of this program under all their names: of this system, of the other system, and in the
//! AppleDouble file beside a file.
//!
//! The names of both systems are recognised on each system, so each can be tested on the other.
//! `docs/formats/tag.md` specifies them.

use crate::carrier::{self, STREAM};
use crate::tag::{Tag, TagError};

/// One of the two attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagSlot {
    /// The tag.
    Tag,
    /// The previous tag.
    Previous,
}

impl TagSlot {
    /// Recognises a name of Linux or macOS, with or without the prefix of a copying program.
    pub fn of(name: &str) -> Option<TagSlot> {
        match carrier::without_flags(carrier::bare(name))? {
            "steadfast" | "org.steadfast.tag" => Some(TagSlot::Tag),
            "steadfast.previous" | "org.steadfast.tag.previous" => Some(TagSlot::Previous),
            _ => None,
        }
    }
}

/// Returns the name of the previous tag's attribute beside a tag of this name: with the same
/// prefix.
pub fn previous_name(tag: &str) -> String {
    let (name, stream) = match tag.strip_suffix(STREAM) {
        Some(name) => (name, STREAM),
        None => (tag, ""),
    };
    let (name, flags) = name.split_at(name.find('#').unwrap_or(name.len()));
    format!("{name}.previous{flags}{stream}")
}

/// One of the two attributes, as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagAttribute {
    /// Its name on this system.
    pub name: String,
    /// Its bytes.
    pub value: Vec<u8>,
}

impl TagAttribute {
    /// Returns a new value in the form of this one: with a NUL at its end if this one has the NUL
    /// of Samba.
    pub fn like(&self, value: &[u8]) -> Vec<u8> {
        let whole = Tag::decode(&self.value).is_ok();
        let in_stream = self.name.contains("DosStream.");
        let ends_in_nul = !whole && (in_stream || decode(&self.value).is_ok());
        let nul: &[u8] = if ends_in_nul { &[0] } else { &[] };
        [value, nul].concat()
    }
}

/// Reads a value. Samba and netatalk append a NUL to the values of macOS.
///
/// # Errors
///
/// If the bytes are not a complete tag.
pub fn decode(value: &[u8]) -> Result<Tag, TagError> {
    Tag::decode(value).or_else(|error| match value {
        [cut @ .., 0] => Tag::decode(cut).map_err(|_| error),
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_digest::{Algorithm, Digest};
    use steadfast_time::Timestamp;

    fn held(name: &str, value: &[u8]) -> TagAttribute {
        TagAttribute { name: name.to_owned(), value: value.to_vec() }
    }

    #[test]
    fn our_names_are_known_however_they_came() {
        for name in [
            // On Linux.
            "user.steadfast",
            "user.org.steadfast.tag#S",
            "user.org.steadfast.tag",
            "user.org.steadfast.tag#CS",
            "user.rsync.org.steadfast.tag#S",
            "user.DosStream.org.steadfast.tag#S:$DATA",
            "user.DosStream.org.steadfast.tag:$DATA",
            "osx.org.steadfast.tag#S",
            "user.user.steadfast",
            // On macOS, and in AppleDouble.
            "org.steadfast.tag#S",
            "org.steadfast.tag",
            "steadfast",
            "user.steadfast#S",
        ] {
            assert_eq!(TagSlot::of(name), Some(TagSlot::Tag), "{name}");
            assert_eq!(TagSlot::of(&previous_name(name)), Some(TagSlot::Previous), "{name}");
        }
        assert_eq!(previous_name("user.steadfast"), "user.steadfast.previous");
        assert_eq!(previous_name("org.steadfast.tag#S"), "org.steadfast.tag.previous#S");
        for name in [
            "",
            "user.",
            "user.steadfast2",
            "user.steadfast.probe",
            "user.org.steadfast.probe",
            "user.org.steadfast.tag#S#",
            "user.org.steadfast.tag#1",
            "trusted.steadfast",
            "user.co.eclecticlight.dintch.hash#S",
        ] {
            assert_eq!(TagSlot::of(name), None, "{name}");
        }
    }

    #[test]
    fn a_nul_behind_a_value_is_no_part_of_it_and_is_kept() {
        let at = |seconds| Timestamp { seconds, nanoseconds: 0 };
        let tag = Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[1; 32]).unwrap(),
            length: 5,
            mtime: at(10),
            tagged: at(100),
        };
        let (value, new) = (tag.encode(), [7; 60]);
        let value = value.as_bytes();
        let with_nul = [value, &[0]].concat();
        assert_eq!(decode(&with_nul), Ok(tag));
        assert!(decode(&[&with_nul[..], &[0]].concat()).is_err());
        assert!(decode(&[value, &[1]].concat()).is_err());
        assert_eq!(held("user.org.steadfast.tag", &with_nul).like(&new).len(), 61);
        assert_eq!(held("user.org.steadfast.tag", value).like(&new), new);
        let stream = "user.DosStream.org.steadfast.tag:$DATA";
        assert_eq!(held(stream, b"damaged").like(&new).len(), 61);
        assert_eq!(held(stream, value).like(&new), new);
    }
}
