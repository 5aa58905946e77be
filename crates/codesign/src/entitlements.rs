//! Reads entitlements, as a property list and in DER, and compares the two forms.
//!
//! Older systems read the property list and newer ones the DER. Code whose forms differ gets
//! different permissions on each.

use crate::ber::{self, BerReader, Element, Malformed};
use crate::error::Error;
use crate::finding::{CodeFinding, FindingKind};
use crate::plist::Value;
use crate::signature::Signature;
use crate::superblob::Slot;

/// The deepest nesting of values in DER. Entitlements have two or three levels.
const DEPTH_MAX: u32 = 32;

/// The envelope of entitlements or of a constraint: application, 16.
const ENVELOPE: u8 = 0x70;
/// Names with values: context, 16.
const MAP: u8 = ber::context(16);
/// Text that some signers mark as ASCII.
const IA5_STRING: u8 = 0x16;

/// What signed code asks to be allowed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entitlements {
    /// The form that is a property list.
    pub xml: Option<Value>,
    /// The form in DER.
    pub der: Option<Value>,
    /// Problems of either form, and differences between them.
    pub findings: Vec<CodeFinding>,
}

impl Entitlements {
    /// Reads both forms of a signature.
    pub fn of(signature: &Signature) -> Entitlements {
        let mut entitlements = Entitlements::default();
        let payload = |slot| signature.blob(slot).map(|blob| blob.payload());
        if let Some(bytes) = payload(Slot::ENTITLEMENTS) {
            let read = Value::parse_start(bytes);
            if let Ok((_, trailing_len @ 1..)) = read {
                let text = format!(
                    "{trailing_len} bytes follow the end of the entitlements; systems ignore them"
                );
                let finding = CodeFinding::warning(FindingKind::Malformed, text);
                let finding = finding.at(|place| place.slot = Some(Slot::ENTITLEMENTS));
                entitlements.findings.push(finding);
            }
            let value = read.map(|(value, _)| value);
            entitlements.xml = entitlements.value_or_finding(Slot::ENTITLEMENTS, value);
        }
        if let Some(bytes) = payload(Slot::ENTITLEMENTS_DER) {
            let value = parse_der(bytes);
            entitlements.der = entitlements.value_or_finding(Slot::ENTITLEMENTS_DER, value);
        }
        if let (Some(xml), Some(der)) = (&entitlements.xml, &entitlements.der)
            && !same(xml, der)
        {
            let text = "the entitlements in DER differ from those in the property list";
            let finding = CodeFinding::unverified(FindingKind::Disagreement, None, text);
            let finding = finding.at(|place| place.slot = Some(Slot::ENTITLEMENTS_DER));
            entitlements.findings.push(finding);
        }
        entitlements
    }

    /// Returns the form that current systems read.
    pub fn value(&self) -> Option<&Value> {
        self.der.as_ref().or(self.xml.as_ref())
    }

    fn value_or_finding(&mut self, slot: Slot, value: Result<Value, Error>) -> Option<Value> {
        match value {
            Ok(value) => Some(value),
            Err(error) => {
                let text = format!("entitlements cannot be read: {error}");
                let finding = CodeFinding::unverified(FindingKind::Malformed, None, text);
                self.findings.push(finding.at(|place| place.slot = Some(slot)));
                None
            }
        }
    }
}

/// Reads a value in the form of DER that entitlements and constraints have.
///
/// It is an envelope with a version and a value. A map is a context-specific element or, by some
/// signers, a set; of names and values in sequences.
///
/// # Errors
/// If it is something else, or nested too deep.
pub(crate) fn parse_der(bytes: &[u8]) -> Result<Value, Error> {
    let broken = |error: Malformed| Error::malformed(format!("in DER {error}"));
    let mut reader = BerReader::new(bytes);
    let element = reader.any().map_err(broken)?;
    if element.tag != ENVELOPE {
        return value(&element, 0).map_err(broken);
    }
    let mut inside = element.children();
    let version = inside.expect(ber::INTEGER).and_then(|version| version.number());
    if version.map_err(broken)? != 1 {
        return Err(Error::malformed("the version of values in DER is not known"));
    }
    let held = inside.any().and_then(|element| value(&element, 0));
    held.map_err(broken)
}

fn value(element: &Element<'_>, depth: u32) -> Result<Value, Malformed> {
    if depth > DEPTH_MAX {
        return Err(Malformed("values are nested too deep"));
    }
    Ok(match element.tag {
        ber::BOOLEAN => Value::Boolean(element.content.iter().any(|byte| *byte != 0)),
        ber::INTEGER => Value::Integer(integer(element.content)?),
        ber::OCTET_STRING => Value::Data(element.content.to_vec()),
        ber::UTF8_STRING | IA5_STRING => Value::Text(text(element)),
        ber::SEQUENCE => {
            let mut values = Vec::new();
            let mut inside = element.children();
            while !inside.is_empty() {
                values.push(value(&inside.any()?, depth + 1)?);
            }
            Value::List(values)
        }
        MAP | ber::SET => {
            let mut entries = Vec::new();
            let mut inside = element.children();
            while !inside.is_empty() {
                let mut entry = inside.expect(ber::SEQUENCE)?.children();
                let name = text(&entry.any()?);
                entries.push((name, value(&entry.any()?, depth + 1)?));
            }
            Value::Map(entries)
        }
        _ => return Err(Malformed("an element has a type that values do not have")),
    })
}

fn text(element: &Element<'_>) -> String {
    String::from_utf8_lossy(element.content).into_owned()
}

/// Reads a number in two's complement.
fn integer(bytes: &[u8]) -> Result<i128, Malformed> {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    if bytes.is_empty() || bytes.len() > size_of::<i128>() {
        return Err(Malformed("a number has no bytes, or too many"));
    }
    let start = if negative { -1 } else { 0 };
    Ok(bytes.iter().fold(start, |number, byte| number << 8 | i128::from(*byte)))
}

/// Returns whether two values are equal; maps may differ in order.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Map(entries), Value::Map(others)) => {
            let found = |(name, value): &(String, Value)| {
                other.get(name).is_some_and(|other| same(value, other))
            };
            entries.len() == others.len() && entries.iter().all(found)
        }
        (Value::List(values), Value::List(others)) => {
            let mut pairs = values.iter().zip(others);
            values.len() == others.len() && pairs.all(|(value, other)| same(value, other))
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        assert!(content.len() < 0x80);
        [&[tag, content.len() as u8], content].concat()
    }

    fn entry(name: &str, value: &[u8]) -> Vec<u8> {
        der(ber::SEQUENCE, &[&der(ber::UTF8_STRING, name.as_bytes()), value].concat())
    }

    fn envelope(version: u8, value: &[u8]) -> Vec<u8> {
        der(ENVELOPE, &[&der(ber::INTEGER, &[version]), value].concat())
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let list = der(ber::SEQUENCE, &der(ber::UTF8_STRING, b"a"));
        let entries = [
            entry("yes", &der(ber::BOOLEAN, &[0xff])),
            entry("no", &der(ber::BOOLEAN, &[0])),
            entry("less", &der(ber::INTEGER, &[0xfe])),
            entry("bytes", &der(ber::OCTET_STRING, &[1, 2])),
            entry("list", &list),
            entry("map", &der(MAP, &[])),
        ];
        let expected = Value::Map(vec![
            ("yes".into(), Value::Boolean(true)),
            ("no".into(), Value::Boolean(false)),
            ("less".into(), Value::Integer(-2)),
            ("bytes".into(), Value::Data(vec![1, 2])),
            ("list".into(), Value::List(vec![Value::Text("a".into())])),
            ("map".into(), Value::Map(vec![])),
        ]);
        for tag in [MAP, ber::SET] {
            let bytes = envelope(1, &der(tag, &entries.concat()));
            assert_eq!(parse_der(&bytes).unwrap(), expected);
        }
        assert!(parse_der(&envelope(2, &der(MAP, &[]))).is_err());
        assert!(parse_der(&envelope(1, &der(0x0a, &[1]))).is_err());
        assert!(parse_der(&[]).is_err());
    }

    #[test]
    fn nesting_ends() {
        let mut bytes = der(MAP, &[]);
        for _ in 0..20 {
            bytes = der(ber::SEQUENCE, &bytes);
        }
        assert!(parse_der(&bytes).is_ok());
        let mut bytes = [0x30, 0x80].repeat(50);
        bytes.extend([0; 100]);
        assert!(parse_der(&bytes).is_err());
    }

    #[test]
    fn order_of_names_does_not_matter_and_values_do() {
        let map = |pairs: &[(&str, i128)]| {
            let entry =
                |(name, number): &(&str, i128)| (String::from(*name), Value::Integer(*number));
            Value::Map(pairs.iter().map(entry).collect())
        };
        assert!(same(&map(&[("a", 1), ("b", 2)]), &map(&[("b", 2), ("a", 1)])));
        assert!(!same(&map(&[("a", 1)]), &map(&[("a", 2)])));
        assert!(!same(&map(&[("a", 1)]), &map(&[("a", 1), ("b", 2)])));
        assert!(!same(&map(&[("a", 1)]), &Value::List(vec![])));
    }
}
