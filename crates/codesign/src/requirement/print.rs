//! Prints a requirement as text that parses to the same condition.
//!
//! The text is that of Apple's tools, with two exceptions: they print dates in a form that they
//! cannot read, and omit a space before `trusted`.

use std::fmt::{self, Formatter};

use jiff::{SignedDuration, civil};

use super::{CertificatePart, CertificateSlot, DateOrder, Expression, LEAF, Match, ROOT, Relation};
use crate::ber::dotted;

/// Keywords, which are quoted where they are plain text.
pub(super) const KEYWORDS: &[&str] = &[
    "guest",
    "host",
    "designated",
    "library",
    "plugin",
    "or",
    "and",
    "always",
    "true",
    "never",
    "false",
    "identifier",
    "cdhash",
    "platform",
    "notarized",
    "legacy",
    "anchor",
    "apple",
    "generic",
    "certificate",
    "cert",
    "trusted",
    "info",
    "entitlement",
    "exists",
    "absent",
    "leaf",
    "root",
    "timestamp",
];

/// The precedence of the operator around a condition, highest first: `!`, `and`, `or`, none.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Precedence {
    Primary,
    And,
    Or,
    Top,
}

/// Prints a condition.
pub(super) fn print(expression: &Expression, f: &mut Formatter<'_>) -> fmt::Result {
    print_at(expression, Precedence::Top, f)
}

fn print_at(expression: &Expression, level: Precedence, f: &mut Formatter<'_>) -> fmt::Result {
    use Expression as E;
    match expression {
        E::Never => f.write_str("never"),
        E::Always => f.write_str("always"),
        E::Identifier(text) => {
            f.write_str("identifier ")?;
            data(text, false, f)
        }
        E::AnchorApple => f.write_str("anchor apple"),
        E::AnchorAppleGeneric => f.write_str("anchor apple generic"),
        E::AnchorTrusted => f.write_str("anchor trusted"),
        E::NamedAnchor(name) => {
            f.write_str("anchor apple ")?;
            data(name, false, f)
        }
        E::NamedCode(name) => {
            f.write_str("(")?;
            data(name, false, f)?;
            f.write_str(")")
        }
        E::CertificateHash(at, hash) => {
            certificate(*at, f)?;
            f.write_str(" = ")?;
            quoted_hash(hash, f)
        }
        E::CertificateTrusted(at) => {
            certificate(*at, f)?;
            f.write_str(" trusted")
        }
        E::Certificate(at, part, key, how) => {
            certificate(*at, f)?;
            part_in_brackets(*part, key, f)?;
            comparison(how, f)
        }
        E::Info(key, how) => {
            f.write_str("info")?;
            key_in_brackets(key, f)?;
            comparison(how, f)
        }
        E::Entitlement(key, how) => {
            f.write_str("entitlement")?;
            key_in_brackets(key, f)?;
            comparison(how, f)
        }
        E::And(left, right) => joined(left, " and ", right, Precedence::And, level, f),
        E::Or(left, right) => joined(left, " or ", right, Precedence::Or, level, f),
        E::Not(inner) => {
            f.write_str("! ")?;
            print_at(inner, Precedence::Primary, f)
        }
        E::CdHash(hash) => {
            f.write_str("cdhash ")?;
            quoted_hash(hash, f)
        }
        E::Platform(number) => write!(f, "platform = {number}"),
        E::Notarized => f.write_str("notarized"),
        E::LegacyDeveloperId => f.write_str("legacy"),
        E::UnknownFalse(number) => write!(f, "false /* opcode {number} */"),
        E::UnknownSkipped(number, next) => {
            write!(f, "/* opcode {number} */ ")?;
            print_at(next, level, f)
        }
        E::Constraint(_) => f.write_str("/* launch constraint */"),
    }
}

fn joined(
    left: &Expression,
    word: &str,
    right: &Expression,
    own: Precedence,
    around: Precedence,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    let brackets = around < own;
    if brackets {
        f.write_str("(")?;
    }
    print_at(left, own, f)?;
    f.write_str(word)?;
    print_at(right, own, f)?;
    if brackets {
        f.write_str(")")?;
    }
    Ok(())
}

fn certificate(at: CertificateSlot, f: &mut Formatter<'_>) -> fmt::Result {
    match at {
        LEAF => f.write_str("certificate leaf"),
        ROOT => f.write_str("certificate root"),
        at => write!(f, "certificate {at}"),
    }
}

fn key_in_brackets(key: &[u8], f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str("[")?;
    data(key, true, f)?;
    f.write_str("]")
}

fn part_in_brackets(part: CertificatePart, key: &[u8], f: &mut Formatter<'_>) -> fmt::Result {
    match part {
        CertificatePart::Field => key_in_brackets(key, f),
        CertificatePart::Extension => oid_in_brackets("field", key, f),
        CertificatePart::Policy => oid_in_brackets("policy", key, f),
        CertificatePart::Date => oid_in_brackets("timestamp", key, f),
    }
}

/// Prints the object identifier that names a part of a certificate.
fn oid_in_brackets(kind: &str, oid: &[u8], f: &mut Formatter<'_>) -> fmt::Result {
    if let Some(oid) = dotted(oid) {
        return write!(f, "[{kind}.{oid}]");
    }
    write!(f, "[{kind}.0x")?;
    hex(oid, f)?;
    f.write_str("]")
}

fn comparison(how: &Match, f: &mut Formatter<'_>) -> fmt::Result {
    let (relation, text) = match how {
        Match::Exists => return f.write_str(" /* exists */"),
        Match::Absent => return f.write_str(" absent"),
        Match::Unknown(number) => return write!(f, " /* comparison {number} */"),
        Match::Date(ordering, seconds) => {
            let sign = match ordering {
                DateOrder::On => "=",
                DateOrder::Before => "<",
                DateOrder::After => ">",
                DateOrder::OnOrBefore => "<=",
                DateOrder::OnOrAfter => ">=",
            };
            return write!(f, " {sign} timestamp \"{}\"", date(*seconds));
        }
        Match::Text(relation, text) => (relation, text),
    };
    f.write_str(match relation {
        Relation::Equal | Relation::BeginsWith => " = ",
        Relation::EndsWith => " = *",
        Relation::Contains => " ~ ",
        Relation::Less => " < ",
        Relation::Greater => " > ",
        Relation::LessOrEqual => " <= ",
        Relation::GreaterOrEqual => " >= ",
    })?;
    data(text, false, f)?;
    if *relation == Relation::BeginsWith { f.write_str("*") } else { Ok(()) }
}

fn quoted_hash(hash: &[u8], f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str("H\"")?;
    hex(hash, f)?;
    f.write_str("\"")
}

fn hex(bytes: &[u8], f: &mut Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Prints text plainly if possible, else in quotes, else as hexadecimal digits.
fn data(text: &[u8], dots: bool, f: &mut Formatter<'_>) -> fmt::Result {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || b" \t\n\r\x0b\x0c".contains(byte);
    match std::str::from_utf8(text) {
        Ok(text) if is_plain(text, dots) => f.write_str(text),
        Ok(text) if text.as_bytes().iter().all(is_text) => {
            write!(f, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
        }
        _ => {
            f.write_str("0x")?;
            hex(text, f)
        }
    }
}

/// Returns whether a text needs no quotes: letters and digits, a letter first, and no keyword.
fn is_plain(text: &str, dots: bool) -> bool {
    let part_is_plain =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let parts_are_plain = match dots {
        true => text.split('.').all(part_is_plain),
        false => part_is_plain(text),
    };
    let first_is_letter = text.starts_with(|first: char| first.is_ascii_alphabetic());
    parts_are_plain && first_is_letter && !KEYWORDS.contains(&text)
}

/// Prints a date as `YYYYMMDDhhmmssZ`; one after the year 9999 as the end of that year.
fn date(seconds_since_2001: i64) -> String {
    let seconds = SignedDuration::from_secs(seconds_since_2001);
    let date = civil::date(2001, 1, 1).at(0, 0, 0, 0).saturating_add(seconds);
    date.strftime("%Y%m%d%H%M%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::date;
    use crate::ber::generalized_time;

    #[test]
    fn dates_are_the_inverse_of_reading_them() {
        assert_eq!(date(0), "20010101000000Z");
        assert_eq!(date(i64::MAX), "99991231235959Z");
        for seconds in [-978_307_200, 58_060_799, 86_399, 730_000_000, 1_500_000_001] {
            let read = generalized_time(&date(seconds)).expect("a time");
            assert_eq!(read - 978_307_200, seconds);
        }
    }
}
