//! A record → a file in the folder of records, under a name that no other has.

use std::io;
use std::path::Path;

use steadfast::Timestamp;
use steadfast::beneath::{self, Existing};
use steadfast_measure::record::{self, Record};
use steadfast_report::units;

use super::MeasureAsk;

/// Names that are tried for one record.
const TRIES_MAX: u32 = 100;

/// Returns what a record is called as a file.
pub(crate) fn file_name(ask: &MeasureAsk, begun: Timestamp) -> String {
    let moment: String = units::moment(begun).chars().filter(char::is_ascii_digit).collect();
    format!("{}-{}-{moment}.json", ask.work.name(), ask.profile.name())
}

/// Keeps a record and returns the name of its file. What is there already stays.
pub(super) fn keep(
    folder: &Path,
    ask: &MeasureAsk,
    begun: Timestamp,
    record: &Record,
) -> io::Result<String> {
    let name = file_name(ask, begun);
    let record = record::write(record);
    for number in 0..TRIES_MAX {
        let name = match number {
            0 => name.clone(),
            number => name.replace(".json", &format!("-{number}.json")),
        };
        match beneath::write_whole(&folder.join(&name), &record, Existing::Keep) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            written => written?,
        }
        return Ok(name);
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "every name for it is taken"))
}
