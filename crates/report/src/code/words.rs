//! The words for signatures and verdicts, which are the same in every document.

use steadfast::Timestamp as Moment;
use steadfast_codesign::directory::flags;
use steadfast_codesign::{CodeFinding, CodeKind, CodeVerification, RangeCover, SignerState, Value};

use crate::units;

/// The kinds of coverage, in the order of documents.
pub(super) const COVERS: [RangeCover; 6] = [
    RangeCover::Sealed,
    RangeCover::Signed,
    RangeCover::Structure,
    RangeCover::Unsigned,
    RangeCover::UnsealedZero,
    RangeCover::Unsealed,
];

/// The kind of code that is no bundle.
pub(super) fn kind(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::File => "Mach-O",
        CodeKind::DiskImage => "disk image",
        CodeKind::Package => "installer package",
        CodeKind::Bundle(_) => "bundle",
    }
}

/// The verdict on the signer for people, who may not know the word "ad-hoc".
pub(super) fn signer_state(state: SignerState) -> &'static str {
    match state {
        SignerState::AdHoc => "none (ad-hoc)",
        other => other.name(),
    }
}

/// Says that Apple notarized the code, if a valid ticket lists it.
pub(super) fn notarized(verification: &CodeVerification) -> Option<String> {
    let ticket = verification.ticket.as_ref()?.as_ref().ok()?;
    let issued = Moment { seconds: ticket.issued_at, nanoseconds: 0 };
    let listed = verification.is_notarized() == Some(true);
    listed.then(|| format!("notarized by Apple, by its ticket of {}", units::moment(issued)))
}

/// The names of the bits that are set, and the rest as a number.
pub(super) fn flag_names(bits: u32) -> Vec<String> {
    let table = flags::NAMES.iter().map(|&(bit, name)| (u64::from(bit), name));
    bit_names(bits.into(), table)
}

/// The same of the executable segment.
pub(super) fn exec_segment_names(bits: u64) -> Vec<String> {
    bit_names(bits, flags::EXEC_SEGMENT_NAMES.iter().copied())
}

fn bit_names(bits: u64, table: impl Iterator<Item = (u64, &'static str)>) -> Vec<String> {
    let mut rest = bits;
    let mut names = Vec::new();
    for (bit, name) in table.filter(|(bit, _)| bits & bit != 0) {
        names.push(name.to_owned());
        rest &= !bit;
    }
    if rest != 0 {
        names.push(format!("{rest:#x}"));
    }
    names
}

/// A version that is packed in 32 bits, as in "14.4.0".
pub(super) fn packed_version(packed: u32) -> String {
    format!("{}.{}.{}", packed >> 16, packed >> 8 & 0xff, packed & 0xff)
}

/// The error that Apple's check reports, as in "codesign: invalid signature ... (-67061)".
pub(super) fn apple(finding: &CodeFinding) -> Option<String> {
    let error = finding.apple?;
    Some(format!("codesign: {} ({})", error.text(), error.code()))
}

/// The name of a platform that code was built for.
///
/// Source: `mach-o/loader.h` of XNU, `PLATFORM_MACOS` and its siblings.
pub(super) fn platform(number: u32) -> String {
    let name = match number {
        1 => "macOS",
        2 => "iOS",
        3 => "tvOS",
        4 => "watchOS",
        5 => "bridgeOS",
        6 => "Mac Catalyst",
        7 => "iOS simulator",
        8 => "tvOS simulator",
        9 => "watchOS simulator",
        10 => "DriverKit",
        11 => "visionOS",
        12 => "visionOS simulator",
        _ => return format!("platform {number}"),
    };
    name.to_owned()
}

/// A value as lines of indented text.
pub(super) fn value_lines(value: &Value, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Map(entries) => {
            for (name, value) in entries {
                match scalar(value) {
                    Some(text) => lines.push(format!("{indent}{name} = {text}")),
                    None => {
                        lines.push(format!("{indent}{name}"));
                        value_lines(value, depth + 1, lines);
                    }
                }
            }
        }
        Value::List(values) => {
            for value in values {
                match scalar(value) {
                    Some(text) => lines.push(format!("{indent}- {text}")),
                    None => {
                        lines.push(format!("{indent}-"));
                        value_lines(value, depth + 1, lines);
                    }
                }
            }
        }
        other => lines.extend(scalar(other).map(|text| format!("{indent}{text}"))),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Real(number) => Some(number.to_string()),
        Value::Text(text) | Value::Date(text) => Some(text.clone()),
        Value::Data(bytes) => Some(hex(bytes)),
        Value::List(_) | Value::Map(_) => None,
    }
}

/// Bytes in hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_have_names_and_the_rest_a_number() {
        assert_eq!(flag_names(0x1_0002), ["adhoc", "runtime"]);
        assert_eq!(flag_names(0x8000_0002), ["adhoc", "0x80000000"]);
        assert_eq!(exec_segment_names(0x1001), ["main-binary", "0x1000"]);
        assert_eq!(packed_version(0x000e_0400), "14.4.0");
    }
}
