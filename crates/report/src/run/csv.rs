//! A run, as a spreadsheet reads it: a header, then one row for each file.
//!
//! In: events. Out: CSV of RFC 4180 with LF, the columns of the JSON form in base units. Notices
//! are trouble; the summary has no row, since its columns would be others.

use steadfast::{Event, FileEvent, Noted, Subject, Tag};

use super::Renderer;
use super::json::origin_name;
use crate::json::PathText;
use crate::output::Output;
use crate::view::{FindingRule, RunView};

/// The columns, always these and in this order. An unknown value is an empty field.
pub const COLUMNS: [&str; 21] = [
    "path",
    "path_b64",
    "kind",
    "verdict",
    "action",
    "algorithm",
    "digest",
    "length",
    "mtime_ns",
    "stored_algorithm",
    "stored_digest",
    "stored_length",
    "stored_mtime_ns",
    "stored_tagged_s",
    "bytes_read",
    "elapsed_ns",
    "from",
    "error",
    "finding",
    "moved_to",
    "reference",
];

/// Renders CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv {
    quiet: bool,
    rule: FindingRule,
    begun: bool,
}

impl Csv {
    /// Starts a document; `quiet` leaves out what is no finding.
    pub fn new(quiet: bool, rule: FindingRule) -> Csv {
        Csv { quiet, rule, begun: false }
    }

    fn begin(&mut self, output: &mut Output) {
        if !std::mem::replace(&mut self.begun, true) {
            write_row(&COLUMNS.map(str::to_owned), output);
        }
    }
}

impl Renderer for Csv {
    fn event(&mut self, event: &Event, output: &mut Output) {
        self.begin(output);
        match event {
            Event::File(event) if self.quiet && !self.rule.finds(event) => {}
            Event::File(event) => write_row(&row(event), output),
            Event::Finding(noted) => write_row(&noted_row(noted), output),
            Event::Notice(notice) => output.write_notice(notice),
        }
    }

    fn end(&mut self, _run: &RunView, output: &mut Output) {
        self.begin(output);
    }
}

fn row(event: &FileEvent) -> [String; COLUMNS.len()] {
    let path = PathText::of(&event.path.to_path());
    let name = |text: Option<&'static str>| text.unwrap_or_default().to_owned();
    let [algorithm, digest, mut length, mut mtime_ns] = contents(event.actual.as_ref());
    if let Some(resized) = event.resized {
        length = resized.length.to_string();
        mtime_ns = resized.mtime.as_nanoseconds().to_string();
    }
    let [stored_algorithm, stored_digest, stored_length, stored_mtime_ns] =
        contents(event.stored.as_ref());
    let read = event.actual.is_some() || event.bytes_read > 0;
    let number = |value: u64| if read { value.to_string() } else { String::new() };
    [
        path.path,
        path.path_b64.unwrap_or_default(),
        name((event.subject == Subject::Directory).then_some("directory")),
        name(event.verdict.map(|verdict| verdict.name())),
        name(event.action.map(|action| action.name())),
        algorithm,
        digest,
        length,
        mtime_ns,
        stored_algorithm,
        stored_digest,
        stored_length,
        stored_mtime_ns,
        event.stored.map(|tag| tag.tagged.seconds.to_string()).unwrap_or_default(),
        number(event.bytes_read),
        number(event.elapsed_ns),
        name(event.origin.map(origin_name)),
        event.trouble.as_ref().map(|trouble| trouble.to_string()).unwrap_or_default(),
        String::new(),
        event.moved_to.as_ref().map(|to| to.to_string_lossy().into_owned()).unwrap_or_default(),
        event.reference.as_ref().map(|reference| reference.source.to_owned()).unwrap_or_default(),
    ]
}

/// A row about what only the catalogue knows: a path and what was found.
fn noted_row(noted: &Noted) -> [String; COLUMNS.len()] {
    let path = PathText::of(&noted.path);
    let mut row = [const { String::new() }; COLUMNS.len()];
    row[0] = path.path;
    row[1] = path.path_b64.unwrap_or_default();
    row[COLUMNS.len() - 3] = noted.finding.name().to_owned();
    row
}

fn contents(tag: Option<&Tag>) -> [String; 4] {
    let Some(tag) = tag else { return Default::default() };
    [
        tag.algorithm.name().to_owned(),
        tag.digest.to_string(),
        tag.length.to_string(),
        tag.mtime.as_nanoseconds().to_string(),
    ]
}

fn write_row(fields: &[String; COLUMNS.len()], output: &mut Output) {
    let mut writer = ::csv::Writer::from_writer(&mut output.answer);
    writer.write_record(fields).expect("a row of fixed width goes into memory");
    writer.flush().expect("memory takes all bytes");
}
