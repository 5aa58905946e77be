//! Base64 with white space in it → bytes.
//!
//! In: text. Out: bytes. Padding may lack, as it may for Apple's reader; other letters are an
//! error.

/// Decodes; `None` for anything that is not base64.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held, mut padded) = (0_u32, 0_u32, false);
    for letter in text.bytes().filter(|letter| !letter.is_ascii_whitespace()) {
        if letter == b'=' {
            padded = true;
            continue;
        }
        if padded {
            return None;
        }
        bits = bits << 6 | u32::from(value(letter)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    // One letter alone carries six bits: no byte.
    (held < 6).then_some(bytes)
}

fn value(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn the_vectors_of_rfc_4648() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9v\n\tYg", b"foob"),
            ("Zm9vYmE=", b"fooba"),
            ("Zm9vYmFy", b"foobar"),
            ("+/+/", &[0xfb, 0xff, 0xbf]),
        ] {
            assert_eq!(decode(text).as_deref(), Some(bytes), "{text}");
        }
        for text in ["Z", "Zg=a", "Zm9vY", "Z!==", "Zm\u{e9}"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
