//! Writing JSON lines: one object on each, the summary last.
//!
//! In: values. Out: compact JSON in which control characters are escaped, so that it is safe to
//! show on a terminal; a JSON reader gets the exact text.

use std::path::Path;

use serde::{Serialize, Serializer};
use steadfast::Notice;
use steadfast::json::PathText;

use crate::{advice, escape};

/// An object that is built field by field. The fields keep their order.
#[derive(Default)]
pub(crate) struct JsonObject<'a>(Vec<(&'static str, Box<dyn erased_serde::Serialize + 'a>)>);

impl<'a> JsonObject<'a> {
    /// Makes an object that begins with a path.
    pub(crate) fn at(path: &Path) -> JsonObject<'a> {
        JsonObject::default().path(path)
    }

    /// Adds `path`, and `path_b64` if the path is not UTF-8.
    pub(crate) fn path(self, path: &Path) -> JsonObject<'a> {
        let text = PathText::of(path);
        self.field("path", text.path).optional("path_b64", text.path_b64)
    }

    /// Adds a field. `None` is written as `null`.
    pub(crate) fn field(
        mut self,
        name: &'static str,
        value: impl Serialize + 'a,
    ) -> JsonObject<'a> {
        self.0.push((name, Box::new(value)));
        self
    }

    /// Adds a field if there is a value.
    pub(crate) fn optional(
        self,
        name: &'static str,
        value: Option<impl Serialize + 'a>,
    ) -> JsonObject<'a> {
        match value {
            Some(value) => self.field(name, value),
            None => self,
        }
    }

    /// Adds the fields of another object.
    pub(crate) fn fields(mut self, other: JsonObject<'a>) -> JsonObject<'a> {
        self.0.extend(other.0);
        self
    }
}

impl Serialize for JsonObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Numbers by name, in the given order.
pub(crate) struct CountsByName(pub(crate) Vec<(&'static str, u64)>);

impl Serialize for CountsByName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// Appends a notice of a run.
pub(crate) fn write_notice(notice: &Notice, out: &mut Vec<u8>) {
    let place = notice.path.as_deref().map(JsonObject::at).unwrap_or_default();
    write_object(
        &JsonObject::default().field("notice", advice::of_notice(notice)).fields(place),
        out,
    );
}

/// Appends the last line of a document: its summary.
pub(crate) fn write_summary(summary: &impl Serialize, out: &mut Vec<u8>) {
    write_object(&JsonObject::default().field("summary", summary), out);
}

/// Appends a line.
pub(crate) fn write_object(object: &impl Serialize, out: &mut Vec<u8>) {
    write_value(object, out);
    out.push(b'\n');
}

/// Appends a value, with control characters escaped.
pub(crate) fn write_value(value: &impl Serialize, out: &mut Vec<u8>) {
    let escaped = |letter: char| letter.is_control() || escape::misleads(letter);
    steadfast::json::write_json(value, escaped, out);
}
