//! Names as `vis` encodes them: without blanks, control characters, and characters with a meaning
//! for readers.
//!
//! Source: NetBSD `vis(3)` and `unvis(3)`.

use std::io::{self, Write};

/// Bytes that stay unencoded beside letters and digits. `#` begins a comment, `*?[` are patterns,
/// and `=` separates keywords, so these are encoded.
const PLAIN: &[u8] = b"/._-+,:@%^~!";

/// Writes a name. Everything but plain characters becomes a backslash and three octal digits, which
/// every reader supports.
pub(super) fn encode(name: &[u8], out: &mut dyn Write) -> io::Result<()> {
    for &byte in name {
        match byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
            true => out.write_all(&[byte])?,
            false => write!(out, "\\{byte:03o}")?,
        }
    }
    Ok(())
}

/// Reads a name in any of the encodings of `vis`; `None` if it is in none of them.
pub(super) fn decode(name: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [byte, after @ ..] = rest {
        if *byte == b'\\' {
            rest = decode_escape(after, &mut plain)?;
        } else {
            plain.push(*byte);
            rest = after;
        }
    }
    Some(plain)
}

/// Decodes what follows a backslash and returns the rest.
fn decode_escape<'a>(escape: &'a [u8], plain: &mut Vec<u8>) -> Option<&'a [u8]> {
    let octal = |digit: u8| (b'0'..=b'7').contains(&digit).then(|| u32::from(digit - b'0'));
    let hex = |digit: u8| char::from(digit).to_digit(16);
    let (byte, rest) = match escape {
        [a @ b'0'..=b'3', b, c, rest @ ..] if octal(*b).is_some() && octal(*c).is_some() => {
            let value = octal(*a)? << 6 | octal(*b)? << 3 | octal(*c)?;
            (u8::try_from(value).ok()?, rest)
        }
        [b'0', rest @ ..] => (0, rest),
        [b'x', high, low, rest @ ..] => (u8::try_from(hex(*high)? << 4 | hex(*low)?).ok()?, rest),
        [b'^', control, rest @ ..] => (controlled(*control), rest),
        [b'M', b'-', byte, rest @ ..] => (byte | 0x80, rest),
        [b'M', b'^', control, rest @ ..] => (controlled(*control) | 0x80, rest),
        [letter, rest @ ..] => (simple(*letter)?, rest),
        [] => return None,
    };
    plain.push(byte);
    Some(rest)
}

fn controlled(letter: u8) -> u8 {
    if letter == b'?' { 0x7f } else { letter & 0x1f }
}

fn simple(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        b'E' => 0x1b,
        b's' => b' ',
        punctuation if punctuation.is_ascii_punctuation() => punctuation,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_goes_there_and_back() {
        let name: Vec<u8> = (0..=255).collect();
        let mut encoded = Vec::new();
        encode(&name, &mut encoded).unwrap();
        assert!(encoded.iter().all(u8::is_ascii_graphic));
        assert_eq!(decode(&encoded), Some(name));
    }

    #[test]
    fn what_others_write_is_read() {
        for (encoded, plain) in [
            (&br"a\sb"[..], &b"a b"[..]),
            (br"new\nline", b"new\nline"),
            (br"back\\slash", b"back\\slash"),
            (br"caf\M-C\M-)", b"caf\xc3\xa9"),
            (br"\M^@\^A\^?", b"\x80\x01\x7f"),
            (br"\x41\101\#\*", b"AA#*"),
            (br"\0", b"\0"),
        ] {
            assert_eq!(decode(encoded).as_deref(), Some(plain), "{encoded:?}");
        }
        for broken in [&br"a\"[..], br"\xg0", br"\q", br"\x4"] {
            assert_eq!(decode(broken), None, "{broken:?}");
        }
    }
}
