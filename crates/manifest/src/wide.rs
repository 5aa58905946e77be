//! Documents in UTF-16 with a byte order mark, as Windows programs write them: read as UTF-8.

use std::io::{self, BufRead, Read};

/// Returns whether a document begins with a byte order mark of UTF-16.
pub(crate) fn is_wide(head: &[u8]) -> bool {
    matches!(head, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// Returns the text of the beginning of a document as UTF-8; what is cut at its end is left out.
pub(crate) fn head_of_wide(head: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    // Reading from memory does not fail.
    let _ = WideText::new(head).read_to_end(&mut text);
    text
}

/// Reads UTF-16 as UTF-8, without the byte order mark. What is no text becomes U+FFFD.
pub(crate) struct WideText<R> {
    reader: R,
    /// Whether the high byte of each unit comes first; `None` before the byte order mark.
    is_big: Option<bool>,
    /// Bytes that were read of an incomplete character.
    begun: Vec<u8>,
    text: Vec<u8>,
    /// How much of `text` was passed on.
    passed: usize,
}

impl<R: BufRead> WideText<R> {
    pub(crate) fn new(reader: R) -> WideText<R> {
        WideText { reader, is_big: None, begun: Vec::new(), text: Vec::new(), passed: 0 }
    }

    /// Reads more of the document; returns whether there was more.
    fn fill(&mut self) -> io::Result<bool> {
        let bytes = self.reader.fill_buf()?;
        let (len, is_end) = (bytes.len(), bytes.is_empty());
        self.begun.extend_from_slice(bytes);
        self.reader.consume(len);
        let is_big = *self.is_big.get_or_insert(self.begun.first() == Some(&0xfe));
        let unit = |pair: &[u8; 2]| match is_big {
            true => u16::from_be_bytes(*pair),
            false => u16::from_le_bytes(*pair),
        };
        let mut units: Vec<u16> = self.begun.as_chunks().0.iter().map(unit).collect();
        // The first half of a character waits for the second one.
        let is_half = units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit));
        units.truncate(units.len() - usize::from(is_half && !is_end));
        self.begun.drain(..2 * units.len());
        let text = String::from_utf16_lossy(&units);
        self.text.clear();
        self.text.extend_from_slice(text.trim_start_matches('\u{feff}').as_bytes());
        self.passed = 0;
        Ok(!is_end)
    }
}

impl<R: BufRead> Read for WideText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.passed == self.text.len() {
            if !self.fill()? && self.text.is_empty() {
                return Ok(0);
            }
        }
        let left = &self.text[self.passed..];
        let len = left.len().min(buffer.len());
        buffer[..len].copy_from_slice(&left[..len]);
        self.passed += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_either_order_is_read_in_pieces_of_any_length() {
        let text = "a *\u{e9}\u{1f600}\r\n";
        let units: Vec<u16> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for bytes in [little, big] {
            assert!(is_wide(&bytes));
            for capacity in 1..8 {
                let reader = io::BufReader::with_capacity(capacity, &bytes[..]);
                let mut found = String::new();
                WideText::new(reader).read_to_string(&mut found).unwrap();
                assert_eq!(found, text, "{capacity}");
            }
            let cut = String::from_utf8(head_of_wide(&bytes[..9])).unwrap();
            assert!(cut.starts_with("a *"), "{cut}");
        }
    }
}
