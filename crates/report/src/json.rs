//! Writing JSON lines: one object on each, the summary last.
//!
//! In: values. Out: compact JSON that is harmless to a terminal. Readers get the exact text.

use serde::{Serialize, Serializer};
use steadfast::Notice;
use steadfast_events::PathText;

use crate::escape;

/// Numbers by name, in the given order.
pub(crate) struct CountsByName(pub(crate) Vec<(&'static str, u64)>);

impl Serialize for CountsByName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// Appends a notice of a run.
pub(crate) fn write_notice(notice: &Notice, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct NoticeObject<'a> {
        notice: &'a str,
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        path: Option<PathText>,
    }
    let path = notice.path.as_deref().map(PathText::of);
    write_object(&NoticeObject { notice: &notice.text, path }, out);
}

/// Appends the last line of a document: its summary.
pub(crate) fn write_summary(summary: &impl Serialize, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct LastLine<'a, T> {
        summary: &'a T,
    }
    write_object(&LastLine { summary }, out);
}

/// Appends a line.
pub(crate) fn write_object(object: &impl Serialize, out: &mut Vec<u8>) {
    write_value(object, out);
    out.push(b'\n');
}

/// Appends a value, harmless to a terminal.
pub(crate) fn write_value(value: &impl Serialize, out: &mut Vec<u8>) {
    let escaped = |letter: char| letter.is_control() || escape::misleads(letter);
    steadfast_events::write_json(value, escaped, out);
}
