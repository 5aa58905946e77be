//! Rows of CSV: RFC 4180 with LF.
//!
//! Rows are made of the same serde types as JSON lines: [`write_row`] picks the fields that have a
//! column. So both forms have the same values.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use steadfast::names::NameBytes as _;

use crate::escape;

/// Appends the header.
pub(crate) fn write_header(columns: &[&'static str], out: &mut Vec<u8>) {
    let title = |column: &&'static str| column.split('|').next().unwrap_or_default();
    write_record(columns.iter().map(title), out);
}

/// Appends a row: for each column the value of its field, or nothing if the object has none.
///
/// A column has the name of its field. For a field of a nested object, the name of the object comes
/// first: `stored_digest` is `digest` in `stored`. A column with the name of a nested object has
/// that object's path or source: `moved_to` is `path` in `moved_to`, `moved_to_b64` is `path_b64`.
/// If a column comes from different fields in different objects, it names them all,
/// `at_s|started_s`; the header has the first.
pub(crate) fn write_row(columns: &[&str], object: &impl Serialize, out: &mut Vec<u8>) {
    let value = serde_json::to_value(object).expect("plain values always serialize into memory");
    let field = |column: &&str| {
        let mut fields = column.split('|').filter_map(|name| field_of(&value, name));
        fields.next().map(field_text).unwrap_or_default()
    };
    write_record(columns.iter().map(field), out);
}

/// Finds the field of a column.
fn field_of<'a>(object: &'a Value, column: &str) -> Option<&'a Value> {
    let fields = object.as_object()?;
    match fields.get(column) {
        Some(Value::Object(nested)) => nested.get("path").or_else(|| nested.get("source")),
        Some(field) => Some(field),
        None => fields.iter().filter(|(_, field)| field.is_object()).find_map(|(name, field)| {
            let rest = column.strip_prefix(name.as_str())?.strip_prefix('_')?;
            field_of(field, if rest == "b64" { "path_b64" } else { rest })
        }),
    }
}

fn field_text(field: &Value) -> String {
    match field {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Appends one record.
pub(crate) fn write_record<T: AsRef<[u8]>>(fields: impl IntoIterator<Item = T>, out: &mut Vec<u8>) {
    let mut writer = ::csv::Writer::from_writer(out);
    writer.write_record(fields).expect("memory takes all bytes");
    writer.flush().expect("memory takes all bytes");
}

/// Returns rows with their fields escaped for a terminal, as [`crate::escape::text`] does it.
///
/// # Panics
/// Never: rows that were just written can be read.
pub fn for_terminal(rows: &[u8]) -> Vec<u8> {
    let mut reader =
        ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(rows);
    let mut writer = ::csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for row in reader.byte_records() {
        let row = row.expect("memory can be read");
        let fields = row.iter().map(|field| escape::path(Path::from_bytes(field)));
        writer.write_record(fields).expect("memory takes all bytes");
    }
    writer.into_inner().expect("memory takes all bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(columns: &[&str], object: &Value) -> String {
        let mut out = Vec::new();
        write_row(columns, object, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_column_finds_its_field_in_nested_objects() {
        let object = json!({
            "path": "p", "a": {"stored": {"digest": "d"}}, "a_length": 7, "settled": true,
            "moved_to": {"path": "to,", "path_b64": "dG8="}, "none": null,
        });
        let columns = ["a_stored_digest", "moved_to", "moved_to_b64", "a_length", "settled"];
        assert_eq!(row(&columns, &object), "d,\"to,\",dG8=,7,true\n");
        let absent = ["none", "path_b64", "a_stored_length", "b_length", "path"];
        assert_eq!(row(&absent, &object), ",,,,p\n");
        assert_eq!(row(&["at_s|a_length", "none|settled"], &object), "7,\n");
    }
}
