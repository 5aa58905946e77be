//! Escapes names from disk, so that a terminal shows them and does not act on them.
//!
//! In: bytes that anyone may have chosen. Out: printable text on one line. The text is unambiguous:
//! every escape begins with a backslash, and a backslash is itself escaped.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use steadfast_sys::names::NameBytes as _;

/// Escapes a path for text.
///
/// Escaped are control characters (`\n`, `\x1b`, `\u{9b}`), bytes that are not UTF-8 (`\xff`),
/// characters that reorder or hide text (`\u{202e}`), and the backslash (`\\`).
pub fn path(path: &Path) -> String {
    let bytes = path.as_bytes();
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            push(letter, &mut text);
        }
        for byte in chunk.invalid() {
            push_byte(*byte, &mut text);
        }
    }
    text
}

/// Escapes text of unknown origin, such as a message that names a path.
pub fn text(unknown: &str) -> String {
    let mut text = String::with_capacity(unknown.len());
    for letter in unknown.chars() {
        push(letter, &mut text);
    }
    text
}

/// Escapes text for an element or an attribute of HTML and XML.
///
/// Characters that no document may contain, such as most control characters, are escaped as in
/// [`text`].
pub fn markup(unknown: &str) -> String {
    let mut markup = String::with_capacity(unknown.len());
    for letter in unknown.chars() {
        match letter {
            '&' => markup.push_str("&amp;"),
            '<' => markup.push_str("&lt;"),
            '>' => markup.push_str("&gt;"),
            '"' => markup.push_str("&quot;"),
            '\'' => markup.push_str("&#39;"),
            '\\' => markup.push('\\'),
            _ => push(letter, &mut markup),
        }
    }
    markup
}

/// Escapes characters that move, hide or break the text around them. All others stay, including
/// the backslash. For documents whose words may come from someone else's record.
pub fn visible(unknown: &str) -> Cow<'_, str> {
    let harmful = |letter: char| letter.is_control() || misleads(letter);
    if !unknown.contains(harmful) {
        return Cow::Borrowed(unknown);
    }
    let mut text = String::with_capacity(unknown.len() + 8);
    for letter in unknown.chars() {
        match letter {
            '\\' => text.push('\\'),
            _ => push(letter, &mut text),
        }
    }
    Cow::Owned(text)
}

fn push(letter: char, text: &mut String) {
    match letter {
        '\\' => text.push_str("\\\\"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\0'..='\x1f' | '\x7f' => push_byte(letter as u8, text),
        _ if letter.is_control() || misleads(letter) => {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\\u{{{:x}}}", u32::from(letter));
        }
        _ => text.push(letter),
    }
}

fn push_byte(byte: u8, text: &mut String) {
    let _ = write!(text, "\\x{byte:02x}");
}

/// Whether a character moves, hides or breaks the text around it without being a control character.
///
/// The joiners U+200C and U+200D are allowed: Persian and emoji need them.
/// Source: Unicode 16, general categories Zl, Zp and Cf; UAX 9 for the direction controls.
pub fn misleads(letter: char) -> bool {
    matches!(letter,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelt_out() {
        for (name, escaped) in [
            (&b"plain \xc3\xa9\xe2\x80\x8d"[..], "plain é\u{200d}"),
            (b"a\\b", "a\\\\b"),
            (b"a\nb\r\t", "a\\nb\\r\\t"),
            (b"\x1b[31mred\x07\x7f", "\\x1b[31mred\\x07\\x7f"),
            (b"\xc2\x9b31m", "\\u{9b}31m"),
            (b"\xffa\xc3", "\\xffa\\xc3"),
            (b"\xe2\x80\xaegpj.exe", "\\u{202e}gpj.exe"),
        ] {
            assert_eq!(path(Path::from_bytes(name)), escaped);
        }
        assert_eq!(text("a\x1bb"), "a\\x1bb");
    }

    #[test]
    fn what_is_visible_stays() {
        assert_eq!(visible("C:\\a é \u{200d}"), "C:\\a é \u{200d}");
        assert_eq!(visible("a\n\u{202e}b\\"), "a\\n\\u{202e}b\\");
    }
}
