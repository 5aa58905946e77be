//! Rows of CSV, shown on a terminal.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::escape;

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
        let fields = row.iter().map(|field| escape::path(Path::new(OsStr::from_bytes(field))));
        writer.write_record(fields).expect("memory takes all bytes");
    }
    writer.into_inner().expect("memory takes all bytes")
}
