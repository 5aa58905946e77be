//! Translates POSIX extended regular expressions to the syntax of the `regex` crate.
//!
//! Resource rules only ask whether an expression matches anywhere in a name. That does not depend
//! on which of several matches is chosen, so only the syntax has to be translated. Every letter is
//! written as its byte, so that no literal means anything else in the new syntax.
//!
//! Source: POSIX.1-2017, Base Definitions, 9.4; where it leaves a choice, what BSD's `regcomp`
//! does.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::ops::RangeInclusive;
use std::slice::Iter;

/// The most repetitions that a bound may ask for (`RE_DUP_MAX`).
const REPETITIONS_MAX: u32 = 255;

/// How deep groups may be within each other.
const DEPTH_MAX: usize = 64;

/// Translates an expression.
///
/// # Errors
/// What is wrong, where `regcomp` would reject the expression.
pub(super) fn translate(expression: &[u8]) -> Result<String, &'static str> {
    let mut translation = Translation { rest: expression.iter().peekable(), out: String::new() };
    // Without `m`, anchors match only at the ends of the name; with `s`, a dot matches any byte.
    translation.out.push_str("(?s-u)");
    translation.alternatives(0)?;
    match translation.rest.next() {
        None => Ok(translation.out),
        Some(_) => Err("a parenthesis that nothing opened"),
    }
}

struct Translation<'a> {
    rest: Peekable<Iter<'a, u8>>,
    out: String,
}

impl Translation<'_> {
    /// Reads branches up to the end or a closing parenthesis.
    fn alternatives(&mut self, depth: usize) -> Result<(), &'static str> {
        if depth > DEPTH_MAX {
            return Err("groups nested too deep");
        }
        loop {
            self.branch(depth)?;
            match self.rest.peek() {
                Some(b'|') => {
                    self.rest.next();
                    self.out.push('|');
                }
                _ => return Ok(()),
            }
        }
    }

    fn branch(&mut self, depth: usize) -> Result<(), &'static str> {
        // Where the last atom begins in the translation; `None` if nothing can be repeated.
        let mut atom = None;
        while let Some(&&letter) = self.rest.peek() {
            let sign = match letter {
                b'|' | b')' => return Ok(()),
                b'*' | b'+' | b'?' => {
                    self.rest.next();
                    char::from(letter).to_string()
                }
                b'{' if self.bound_follows() => {
                    self.rest.next();
                    self.bound()?
                }
                _ => {
                    self.rest.next();
                    let start = self.out.len();
                    atom = self.atom(letter, depth)?.then_some(start);
                    continue;
                }
            };
            // Grouped, so that a second repetition applies to the first and does not change its
            // meaning.
            self.out.insert_str(atom.ok_or("a repetition of nothing")?, "(?:");
            self.out.push(')');
            self.out.push_str(&sign);
        }
        Ok(())
    }

    /// Reads one atom; false if it is an anchor, which cannot be repeated.
    fn atom(&mut self, letter: u8, depth: usize) -> Result<bool, &'static str> {
        match letter {
            b'^' | b'$' => {
                self.out.push_str(if letter == b'^' { "\\A" } else { "\\z" });
                return Ok(false);
            }
            b'.' => self.out.push('.'),
            b'(' => {
                self.out.push_str("(?:");
                self.alternatives(depth + 1)?;
                if self.rest.next() != Some(&b')') {
                    return Err("a parenthesis that nothing closes");
                }
                self.out.push(')');
            }
            b'[' => self.bracket()?,
            b'\\' => {
                let letter = *self.rest.next().ok_or("a backslash at the end")?;
                self.literal(letter);
            }
            _ => self.literal(letter),
        }
        Ok(true)
    }

    fn literal(&mut self, letter: u8) {
        // Writing to a `String` cannot fail.
        let _ = write!(self.out, "\\x{letter:02x}");
    }

    /// A brace without a digit after it is a literal brace.
    fn bound_follows(&self) -> bool {
        let mut ahead = self.rest.clone();
        ahead.next();
        ahead.next().is_some_and(u8::is_ascii_digit)
    }

    fn bound(&mut self) -> Result<String, &'static str> {
        let least = self.number()?.ok_or("a bound without a number")?;
        let most = match self.rest.next() {
            Some(b'}') => return Ok(format!("{{{least}}}")),
            Some(b',') => self.number()?,
            _ => return Err("a bound that is not closed"),
        };
        if self.rest.next() != Some(&b'}') {
            return Err("a bound that is not closed");
        }
        match most {
            Some(most) if most < least => Err("a bound that cannot be"),
            Some(most) => Ok(format!("{{{least},{most}}}")),
            None => Ok(format!("{{{least},}}")),
        }
    }

    fn number(&mut self) -> Result<Option<u32>, &'static str> {
        let mut number = None;
        while let Some(digit) = self.rest.next_if(|letter| letter.is_ascii_digit()) {
            let value = number.unwrap_or(0) * 10 + u32::from(digit - b'0');
            if value > REPETITIONS_MAX {
                return Err("a bound beyond 255");
            }
            number = Some(value);
        }
        Ok(number)
    }

    /// Reads a bracket expression as the set of bytes that it is.
    fn bracket(&mut self) -> Result<(), &'static str> {
        let negated = self.rest.next_if(|letter| **letter == b'^').is_some();
        let mut set = [false; 256];
        let mut first = true;
        loop {
            let letter = *self.rest.next().ok_or("a bracket that nothing closes")?;
            match letter {
                b']' if !first => break,
                b'[' if self.rest.peek() == Some(&&b':') => self.class(&mut set)?,
                b'[' if matches!(self.rest.peek(), Some(b'.' | b'=')) => {
                    return Err("a collating element");
                }
                _ => {
                    let last = self.range_end(letter)?;
                    if last < letter {
                        return Err("a range that cannot be");
                    }
                    set[usize::from(letter)..=usize::from(last)].fill(true);
                }
            }
            first = false;
        }
        self.set(&set, negated);
        Ok(())
    }

    /// The last letter of the range that a letter begins, or the letter itself.
    fn range_end(&mut self, letter: u8) -> Result<u8, &'static str> {
        let mut ahead = self.rest.clone();
        let dash = ahead.next() == Some(&b'-');
        match ahead.next() {
            Some(b'[') if dash => Err("a range to a class"),
            Some(last) if dash && *last != b']' => {
                self.rest = ahead;
                Ok(*last)
            }
            _ => Ok(letter),
        }
    }

    /// Reads `[:name:]` after its opening bracket.
    fn class(&mut self, set: &mut [bool; 256]) -> Result<(), &'static str> {
        self.rest.next();
        let mut name = Vec::new();
        loop {
            match self.rest.next() {
                Some(b':') if self.rest.peek() == Some(&&b']') => break,
                Some(letter) => name.push(*letter),
                None => return Err("a class that nothing closes"),
            }
        }
        self.rest.next();
        let within = class_named(&name).ok_or("a class that there is not")?;
        for (byte, one) in (0..=u8::MAX).zip(set.iter_mut()) {
            *one |= within(&byte);
        }
        Ok(())
    }

    fn set(&mut self, set: &[bool; 256], negated: bool) {
        self.out.push_str(if negated { "[^" } else { "[" });
        for range in ranges(set) {
            let _ = write!(self.out, "\\x{:02x}-\\x{:02x}", range.start(), range.end());
        }
        self.out.push(']');
    }
}

/// The runs of bytes that are in a set.
fn ranges(set: &[bool; 256]) -> Vec<RangeInclusive<u8>> {
    let mut ranges: Vec<RangeInclusive<u8>> = Vec::new();
    for (byte, _) in (0..=u8::MAX).zip(set).filter(|(_, within)| **within) {
        match ranges.last_mut() {
            Some(range) if u16::from(*range.end()) + 1 == u16::from(byte) => {
                *range = *range.start()..=byte;
            }
            _ => ranges.push(byte..=byte),
        }
    }
    ranges
}

/// The classes of the C locale, in which `codesign` compiles its rules.
fn class_named(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        // Rust's own leaves out the vertical tab.
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::bytes::Regex;

    fn found(expression: &str, name: &str) -> bool {
        Regex::new(&translate(expression.as_bytes()).unwrap()).unwrap().is_match(name.as_bytes())
    }

    #[test]
    fn the_rules_that_bundles_have() {
        for (expression, name, expected) in [
            ("^.*", "", true),
            ("^[^/]+$", "Info.plist", true),
            ("^[^/]+$", "a/b", false),
            ("^Info\\.plist$", "Info.plist", true),
            ("^Info\\.plist$", "InfoXplist", false),
            ("^Info\\.plist$", "info.plist", false),
            ("Info", "a/Info/b", true),
            (".*\\.dSYM($|/)", "a.dSYM", true),
            (".*\\.dSYM($|/)", "a.dSYM/b", true),
            (".*\\.dSYM($|/)", "a.dSYMs", false),
            ("^(.*/)?\\.DS_Store$", ".DS_Store", true),
            ("^(.*/)?\\.DS_Store$", "a/b/.DS_Store", true),
            ("^(.*/)?\\.DS_Store$", "a.DS_Store", false),
            ("^Resources/.*\\.lproj/", "Resources/de.lproj/a", true),
            ("^Resources/.*\\.lproj/", "Resources/de.lproj", false),
            ("^(Frameworks|MacOS|Library/(Automator|Spotlight))/", "Library/Spotlight/x", true),
            ("^(Frameworks|MacOS|Library/(Automator|Spotlight))/", "Library/x", false),
        ] {
            assert_eq!(found(expression, name), expected, "{expression} in {name}");
        }
    }

    #[test]
    fn what_the_two_syntaxes_read_differently() {
        for (expression, name, expected) in [
            ("\\d", "d", true),
            ("\\d", "7", false),
            ("\\w", "_", false),
            ("[\\.]", "\\", true),
            ("[]a]", "]", true),
            ("[^]a]", "]", false),
            ("[a-]", "-", true),
            ("[a&&b]", "&", true),
            ("[[:digit:]x]", "7", true),
            ("[[:space:]]", "\u{b}", true),
            ("a{", "a{", true),
            ("a{,2}", "a{,2}", true),
            ("^a{2}$", "aa", true),
            ("^a{2,}$", "aaa", true),
            ("^a{1,2}$", "aaa", false),
            ("a.b", "a\nb", true),
            ("a$", "a\n", false),
            ("(?i)", "i", false),
            ("#x y", "#x y", true),
            ("^\u{e9}$", "\u{e9}", true),
            ("^a+?$", "aa", true),
            ("^a{2}{2}$", "aaaa", true),
            ("a|", "b", true),
            ("()", "b", true),
        ] {
            let translated = translate(expression.as_bytes());
            // `(?` repeats nothing.
            if expression == "(?i)" {
                assert!(translated.is_err());
                continue;
            }
            assert_eq!(found(expression, name), expected, "{expression} in {name}");
        }
    }

    #[test]
    fn what_regcomp_refuses_is_refused() {
        for expression in [
            "*a",
            "+",
            "a|*",
            "(*a)",
            "^*",
            "(a",
            "a)",
            "[a",
            "[",
            "[]",
            "[z-a]",
            "[[:nope:]]",
            "[[:alpha:",
            "[[.a.]]",
            "a\\",
            "a{2,1}",
            "a{256}",
            "a{1",
            "a{1,2",
        ] {
            assert!(translate(expression.as_bytes()).is_err(), "{expression}");
        }
        assert!(translate("(".repeat(100_000).as_bytes()).is_err());
    }
}
