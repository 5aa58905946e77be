//! JSON as the documents of a job hold it: compact, and harmless to a terminal.

use serde::Serialize;

/// Appends a value.
pub(crate) fn write(value: &impl Serialize, out: &mut Vec<u8>) {
    steadfast::json::write_json(value, misleads, out);
}

/// Control characters and what changes the direction of text. This set is part of the format: two
/// results over the same files are the same bytes.
fn misleads(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        let mut out = Vec::new();
        write(&"e\u{202e}a\u{85}\u{200b}", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "\"e\\u202ea\\u0085\u{200b}\"");
    }
}
