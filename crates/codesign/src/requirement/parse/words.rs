//! Splits the text of a requirement into tokens.

use std::fmt;

use super::malformed;
use crate::error::Error;

/// A word or a sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// Letters and digits, perhaps with dots between, not in quotes.
    Word(String),
    /// A quoted string.
    Text(Vec<u8>),
    /// `H"…"`.
    Hash(Vec<u8>),
    /// `0x…`.
    Hex(Vec<u8>),
    Integer(String),
    Sign(&'static str),
}

/// Longer signs stand before their prefixes.
const SIGNS: &[&str] =
    &["=>", "==", "<=", ">=", "=", "<", ">", "(", ")", "[", "]", ",", ";", "~", "-", "!", "*"];

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Text(_) => f.write_str("a text in quotes"),
            Token::Hash(_) => f.write_str("a hash"),
            Token::Hex(_) => f.write_str("a value in hexadecimal digits"),
            Token::Integer(digits) => write!(f, "`{digits}`"),
            Token::Sign(sign) => write!(f, "`{sign}`"),
        }
    }
}

/// Splits a text into at most `most` tokens.
pub(super) fn words(text: &str, most: usize) -> Result<Vec<Token>, Error> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_whitespace() {
            rest = &rest[1..];
        } else if rest.starts_with('#') || rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/").ok_or_else(|| malformed("a comment does not end"))?;
            rest = &comment[end + 2..];
        } else if rest.starts_with('/') {
            return Err(malformed("it names a file, and files are not read"));
        } else {
            if tokens.len() == most {
                return Err(malformed("it has too many words"));
            }
            let (token, len) = word(rest)?;
            tokens.push(token);
            rest = &rest[len..];
        }
    }
    Ok(tokens)
}

/// Reads the first token; returns it with its length.
fn word(rest: &str) -> Result<(Token, usize), Error> {
    if let Some(quoted) = rest.strip_prefix("H\"") {
        let end = quoted.find('"').ok_or_else(|| malformed("a hash does not end"))?;
        return Ok((Token::Hash(bytes(&quoted[..end])?), end + 3));
    }
    if let Some(quoted) = rest.strip_prefix('"') {
        let (text, len) = quoted_text(quoted)?;
        return Ok((Token::Text(text), len + 1));
    }
    if let Some(digits) = rest.strip_prefix("0x") {
        let len = length_while(digits, |letter| letter.is_ascii_hexdigit());
        return Ok((Token::Hex(bytes(&digits[..len])?), len + 2));
    }
    let digits = length_while(rest, |letter| letter.is_ascii_digit());
    if digits > 0 {
        return Ok((Token::Integer(rest[..digits].to_owned()), digits));
    }
    if rest.starts_with(|first: char| first.is_ascii_alphabetic()) {
        let len = length_while(rest, |letter| letter.is_ascii_alphanumeric() || letter == '.');
        let word = rest[..len].trim_end_matches('.');
        return Ok((Token::Word(word.to_owned()), word.len()));
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => {
            let first = rest.chars().next().unwrap_or_default();
            Err(malformed(&format!("`{}` is not a token", first.escape_default())))
        }
    }
}

/// Reads up to the closing quote; a backslash escapes the next character.
fn quoted_text(quoted: &str) -> Result<(Vec<u8>, usize), Error> {
    let mut text = Vec::new();
    let mut escaped = false;
    for (at, &byte) in quoted.as_bytes().iter().enumerate() {
        match byte {
            _ if escaped => {
                text.push(byte);
                escaped = false;
            }
            b'\\' => escaped = true,
            b'"' => return Ok((text, at + 1)),
            _ => text.push(byte),
        }
    }
    Err(malformed("a text in quotes does not end"))
}

fn length_while(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !is(letter)).unwrap_or(text.len())
}

/// Returns the bytes that hexadecimal digits stand for.
fn bytes(digits: &str) -> Result<Vec<u8>, Error> {
    let wrong = || malformed("hexadecimal digits do not make bytes");
    if !digits.is_ascii() || !digits.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let pairs = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).map_err(|_| wrong())).collect()
}
