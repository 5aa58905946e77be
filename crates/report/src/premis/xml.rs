//! Writes XML element by element, indented and escaped.
//!
//! Text is escaped so that a reader gets it back exactly. Characters that XML 1.0 cannot contain
//! become U+FFFD; names of files are encoded before, so none is changed here.

use super::VOCABULARIES;

/// Elements that are open.
#[derive(Debug, Default)]
pub(super) struct Xml {
    open: Vec<&'static str>,
}

/// A word of a controlled vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term<'a> {
    pub(super) text: &'a str,
    /// The vocabulary, and the code of the word in it; `None` if no vocabulary has the word.
    place: Option<(&'static str, &'static str)>,
}

impl<'a> Term<'a> {
    /// Makes a word of a vocabulary.
    pub(super) fn of(vocabulary: &'static str, text: &'a str, code: &'static str) -> Term<'a> {
        Term { text, place: Some((vocabulary, code)) }
    }

    /// Makes a word that no vocabulary has.
    pub(super) fn plain(text: &'a str) -> Term<'a> {
        Term { text, place: None }
    }
}

impl Xml {
    pub(super) fn declare(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    }

    pub(super) fn open(
        &mut self,
        name: &'static str,
        attributes: &[(&str, &str)],
        out: &mut Vec<u8>,
    ) {
        self.indent(out);
        write_start(name, attributes, out);
        out.push(b'\n');
        self.open.push(name);
    }

    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        let name = self.open.pop().expect("what is closed was opened");
        self.indent(out);
        write_end(name, out);
    }

    /// Appends an element that holds text.
    pub(super) fn text(&mut self, name: &str, text: &str, out: &mut Vec<u8>) {
        self.element(name, &[], text, out);
    }

    /// Appends an element that holds a word of a vocabulary.
    pub(super) fn term(&mut self, name: &str, term: &Term<'_>, out: &mut Vec<u8>) {
        let Some((vocabulary, code)) = term.place else { return self.text(name, term.text, out) };
        let authority_uri = format!("{VOCABULARIES}{vocabulary}");
        let value_uri = format!("{authority_uri}/{code}");
        let attributes = [
            ("authority", vocabulary),
            ("authorityURI", authority_uri.as_str()),
            ("valueURI", value_uri.as_str()),
        ];
        self.element(name, &attributes, term.text, out);
    }

    fn element(&self, name: &str, attributes: &[(&str, &str)], text: &str, out: &mut Vec<u8>) {
        self.indent(out);
        write_start(name, attributes, out);
        escape(text, out);
        write_end(name, out);
    }

    fn indent(&self, out: &mut Vec<u8>) {
        out.resize(out.len() + 2 * self.open.len(), b' ');
    }
}

fn write_start(name: &str, attributes: &[(&str, &str)], out: &mut Vec<u8>) {
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    for (key, value) in attributes {
        out.push(b' ');
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"=\"");
        escape(value, out);
        out.push(b'"');
    }
    out.push(b'>');
}

fn write_end(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"</");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b">\n");
}

/// Whether XML 1.0 can contain a character. Source: its section 2.2, `Char`.
pub(super) fn is_carried(letter: char) -> bool {
    matches!(letter,
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

fn escape(text: &str, out: &mut Vec<u8>) {
    for letter in text.chars() {
        match letter {
            '&' => out.extend_from_slice(b"&amp;"),
            '<' => out.extend_from_slice(b"&lt;"),
            '>' => out.extend_from_slice(b"&gt;"),
            '"' => out.extend_from_slice(b"&quot;"),
            // Readers normalise these characters unless they are written as references.
            '\t' => out.extend_from_slice(b"&#9;"),
            '\n' => out.extend_from_slice(b"&#10;"),
            '\r' => out.extend_from_slice(b"&#13;"),
            letter => {
                let letter = if is_carried(letter) { letter } else { char::REPLACEMENT_CHARACTER };
                let mut bytes = [0; 4];
                out.extend_from_slice(letter.encode_utf8(&mut bytes).as_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_and_markup_stays_text() {
        for (text, expected) in [
            ("a & b", "a &amp; b"),
            ("]]><x a=\"1\">", "]]&gt;&lt;x a=&quot;1&quot;&gt;"),
            ("a\r\n\tb", "a&#13;&#10;&#9;b"),
            ("é\u{10ffff}", "é\u{10ffff}"),
            ("\0\u{1b}\u{fffe}\u{ffff}", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            let mut out = Vec::new();
            escape(text, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
