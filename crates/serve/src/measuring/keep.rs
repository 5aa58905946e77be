//! Writes a record to a new file in the folder of records.

use std::io;
use std::path::Path;

use steadfast::Timestamp;
use steadfast::beneath::{self, Existing};
use steadfast_measure::record::{self, Record};
use steadfast_report::units;

use super::MeasureRequest;

/// File names that are tried for one record.
const TRIES_MAX: u32 = 100;

/// Returns the file name of a record.
pub(crate) fn file_name(request: &MeasureRequest, begun: Timestamp) -> String {
    let moment: String = units::moment(begun).chars().filter(char::is_ascii_digit).collect();
    format!("{}-{}-{moment}.json", request.kind.name(), request.profile.name())
}

/// Writes a record and returns the name of its file. Never replaces a file.
pub(super) fn keep(
    folder: &Path,
    request: &MeasureRequest,
    begun: Timestamp,
    record: &Record,
) -> io::Result<String> {
    let name = file_name(request, begun);
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
