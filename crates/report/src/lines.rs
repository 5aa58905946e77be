//! A document of objects, as JSON lines or as CSV: both forms have the same objects.

use serde::Serialize;
use steadfast::Notice;

use crate::csv::{write_header, write_row};
use crate::json::{write_notice, write_object, write_summary};
use crate::output::Output;

/// A document that gets its objects one by one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ObjectLines {
    /// One object on each line, notices among them, the summary last.
    Json,
    /// A header, then a row for each object. Notices go to standard error. The summary has no row,
    /// because it has other columns.
    Csv { columns: &'static [&'static str], has_header: bool },
}

impl ObjectLines {
    /// Begins CSV with these columns.
    pub(crate) fn csv(columns: &'static [&'static str]) -> ObjectLines {
        ObjectLines::Csv { columns, has_header: false }
    }

    /// Appends an object.
    pub(crate) fn write(&mut self, object: &impl Serialize, output: &mut Output) {
        match self.columns(output) {
            None => write_object(object, &mut output.answer),
            Some(columns) => write_row(columns, object, &mut output.answer),
        }
    }

    /// Appends a notice.
    pub(crate) fn write_notice(&mut self, notice: &Notice, output: &mut Output) {
        match self {
            ObjectLines::Json => write_notice(notice, &mut output.answer),
            ObjectLines::Csv { .. } => output.write_notice(notice),
        }
    }

    /// Appends the end.
    pub(crate) fn end(&mut self, summary: &impl Serialize, output: &mut Output) {
        if self.columns(output).is_none() {
            write_summary(summary, &mut output.answer);
        }
    }

    /// Returns the columns of CSV, whose header is written then.
    fn columns(&mut self, output: &mut Output) -> Option<&'static [&'static str]> {
        let ObjectLines::Csv { columns, has_header } = self else { return None };
        if !std::mem::replace(has_header, true) {
            write_header(columns, &mut output.answer);
        }
        Some(columns)
    }
}
