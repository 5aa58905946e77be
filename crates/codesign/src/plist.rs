//! Reads property lists, XML or binary: entitlements, `Info.plist` and the seals of bundles.
//!
//! The input is untrusted. Depth, number and length of values are bounded by the length of the
//! input, so that no list can exhaust the stack or the memory.

mod binary;
mod xml;

use crate::error::Error;

/// The deepest nesting of values. Those of signatures have three levels.
const DEPTH_MAX: usize = 64;

/// A value of a property list.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Data(Vec<u8>),
    /// A date, as written in the file.
    Date(String),
    /// Values in order.
    List(Vec<Value>),
    /// Values by name, in the order of the file.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Reads a property list of either form.
    ///
    /// # Errors
    /// If the bytes are not a property list, or if values are nested deeper than 64 levels.
    pub fn parse(bytes: &[u8]) -> Result<Value, Error> {
        Value::parse_start(bytes).map(|(value, _)| value)
    }

    /// Reads a property list of either form; returns how many bytes that are no part of it follow.
    /// Apple's parser ignores them, too.
    ///
    /// # Errors
    /// As [`Value::parse`].
    pub fn parse_start(bytes: &[u8]) -> Result<(Value, usize), Error> {
        match bytes.starts_with(b"bplist") {
            true => binary::parse(bytes).map(|value| (value, 0)),
            false => xml::parse(bytes),
        }
    }

    /// Returns the value of a name, if this is a map that has it; of several, the last.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let entries = self.as_map()?;
        entries.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the entries, if this is a map.
    pub fn as_map(&self) -> Option<&[(String, Value)]> {
        if let Value::Map(entries) = self { Some(entries) } else { None }
    }

    /// Returns the values, if this is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Value::List(values) = self { Some(values) } else { None }
    }

    /// Returns the text, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the bytes, if this is data.
    pub fn as_data(&self) -> Option<&[u8]> {
        if let Value::Data(bytes) = self { Some(bytes) } else { None }
    }

    /// Returns true or false, if this is either.
    pub fn as_boolean(&self) -> Option<bool> {
        if let Value::Boolean(value) = self { Some(*value) } else { None }
    }

    /// Returns the number, if this is one of either kind.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Integer(value) => Some(*value as f64),
            Value::Real(value) => Some(*value),
            _ => None,
        }
    }
}

fn malformed(reason: &str, offset: usize) -> Error {
    Error::malformed(format!("a property list: {reason} at byte {offset}"))
}
