//! Makes unambiguous identifiers for XML from paths.
//!
//! A name of plain text is used as it is. XML cannot contain control characters or bytes that are
//! not UTF-8, and its readers normalise white space. Names with any of these are percent-encoded,
//! and their kind says so.

use std::path::Path;

use steadfast::names::NameBytes as _;

use super::xml::{Xml, is_carried};

/// A path as an identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PremisName {
    /// The kind of the identifier.
    pub(super) kind: &'static str,
    pub(super) value: String,
}

impl PremisName {
    pub(super) fn of(path: &Path) -> PremisName {
        match path.to_str().filter(|text| is_plain(text)) {
            Some(text) => PremisName { kind: "path", value: text.to_owned() },
            None => PremisName { kind: "path, percent-encoded", value: path.percent_encoded() },
        }
    }

    /// Appends the name as the file system has it, if XML can contain it.
    pub(super) fn write_original(&self, xml: &mut Xml, out: &mut Vec<u8>) {
        if self.kind == "path" {
            xml.text("originalName", &self.value, out);
        }
    }
}

/// Whether XML can contain a text that its readers do not change.
fn is_plain(text: &str) -> bool {
    let carried = |letter: char| is_carried(letter) && !letter.is_control();
    let blank_ended = text.starts_with(' ') || text.ends_with(' ');
    !text.is_empty() && text.chars().all(carried) && !blank_ended && !text.contains("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_xml_would_change_are_encoded() {
        let plain = ["a/b", "a b & <c>.jpg", "é/\u{1f600}", "100%", "a\u{202e}b"];
        for text in plain {
            let name = PremisName::of(Path::new(text));
            assert_eq!((name.kind, name.value.as_str()), ("path", text));
        }
        for (bytes, value) in [
            (&b"a\nb"[..], "a%0Ab"),
            (b"a\tb%", "a%09b%25"),
            (b"\xff/\x1b[31m", "%FF/%1B%5B31m"),
            (b" a", "%20a"),
            (b"a  b", "a%20%20b"),
            (b"a ", "a%20"),
            ("\u{85}\u{fffe}".as_bytes(), "%C2%85%EF%BF%BE"),
        ] {
            let name = PremisName::of(Path::from_bytes(bytes));
            assert_eq!((name.kind, name.value.as_str()), ("path, percent-encoded", value));
        }
    }
}
