//! The records that can be compared: measured here, found in a folder, uploaded, published.
//!
//! In: tokens of records, as addresses carry them. Out: records, which are read again each time
//! unless they are in memory. Uploaded records are bounded, validated, and lost when the server
//! ends.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use steadfast::beneath::{self, Name, NameKind};
use steadfast_measure::published;
use steadfast_measure::record::{self, Record};
use steadfast_report::escape;

use crate::fields::{decode, encode};
use crate::lock::lock;
use crate::measuring::{Measurement, Measurements};
use crate::recent::Recent;

/// Longest record in bytes, uploaded or in the folder.
pub(crate) const RECORD_LEN_MAX: usize = 8 << 20;

/// Uploaded records that are kept.
const ADDED_MAX: usize = 12;

/// File names of the folder that are listed.
const NAMES_MAX: usize = 300;

/// The source of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordSource {
    Here,
    Folder,
    Added,
    Published,
}

/// A record that can be chosen.
pub(crate) struct Choice {
    /// Its name in addresses.
    pub(crate) token: String,
    /// Its name in documents.
    pub(crate) name: String,
    pub(crate) source: RecordSource,
    /// The record, or why it cannot be read.
    pub(crate) record: Result<Arc<Record>, String>,
}

/// The uploaded records with their names.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<Recent<(String, Arc<Record>)>>);

impl Shelf {
    /// Adds an uploaded record and returns its name in addresses.
    ///
    /// # Errors
    /// If the document is not a record. The message says what is wrong, and where.
    pub(crate) fn add(&self, name: &str, document: &[u8]) -> Result<String, String> {
        let record = record::read(document).map_err(|error| escape::text(&error.to_string()))?;
        let mut added = lock(&self.0);
        let id = added.next_number();
        added.add(id, (escape::text(name), Arc::new(record)), ADDED_MAX, |_| true);
        Ok(format!("added-{id}"))
    }

    /// Returns all records that can be chosen. Waits for the disk.
    pub(crate) fn all(&self, measurements: &Measurements, folder: Option<&Path>) -> Vec<Choice> {
        let mut all = Vec::new();
        for one in measurements.all() {
            let snapshot = one.control.snapshot();
            let Some((record, _)) = snapshot.made() else { continue };
            all.push(Choice {
                token: format!("run-{}", one.id),
                name: measured_name(&one),
                source: RecordSource::Here,
                record: Ok(Arc::new(record.clone())),
            });
        }
        for (id, (name, record)) in lock(&self.0).iter() {
            all.push(Choice {
                token: format!("added-{id}"),
                name: name.clone(),
                source: RecordSource::Added,
                record: Ok(Arc::clone(record)),
            });
        }
        all.extend(folder.into_iter().flat_map(in_folder));
        for (at, record) in published::records().into_iter().enumerate() {
            let name = record.name.clone().unwrap_or_else(|| record.machine.cpu.clone());
            all.push(Choice {
                token: format!("published-{at}"),
                name: escape::text(&name),
                source: RecordSource::Published,
                record: Ok(Arc::new(record)),
            });
        }
        all
    }

    /// Finds a record by its name in addresses, and names it as lists do unless it has a name.
    /// Returns `None` if it is gone or cannot be read.
    pub(crate) fn find(
        &self,
        token: &str,
        measurements: &Measurements,
        folder: Option<&Path>,
    ) -> Option<Arc<Record>> {
        let (kind, rest) = token.split_once('-')?;
        let (name, mut record) = match kind {
            "run" => {
                let one = measurements.find(rest.parse().ok()?)?;
                let snapshot = one.control.snapshot();
                let record = snapshot.made().map(|(record, _)| Arc::new(record.clone()))?;
                (measured_name(&one), record)
            }
            "added" => lock(&self.0).find(rest.parse().ok()?)?.clone(),
            "published" => {
                let at: usize = rest.parse().ok()?;
                return published::records().into_iter().nth(at).map(Arc::new);
            }
            "file" => {
                use steadfast::names::NameBytes as _;
                let name = decode(rest.as_bytes())?;
                let name = Path::from_bytes(&name);
                (escape::path(name), read(folder?, name).ok()?)
            }
            _ => return None,
        };
        Arc::make_mut(&mut record).name.get_or_insert(name);
        Some(record)
    }
}

/// Returns the name of a measurement in lists of records.
fn measured_name(one: &Measurement) -> String {
    format!("{} {}", one.request.kind.name(), one.id)
}

/// The records of a folder: its files named `*.json`.
fn in_folder(folder: &Path) -> Vec<Choice> {
    let Ok(names) = beneath::names(folder, Path::new(""), None, NAMES_MAX) else {
        return Vec::new();
    };
    let is_record = |name: &&Name| {
        name.kind == NameKind::File
            && Path::new(&name.name).extension().is_some_and(|end| end == "json")
    };
    let choice = |name: &Name| Choice {
        token: format!("file-{}", encode(name.name.as_encoded_bytes())),
        name: escape::path(Path::new(&name.name)),
        source: RecordSource::Folder,
        record: read(folder, Path::new(&name.name)).map_err(|why| escape::text(&why)),
    };
    names.names.iter().filter(is_record).map(choice).collect()
}

/// Reads a record of a folder, without following links.
fn read(folder: &Path, name: &Path) -> Result<Arc<Record>, String> {
    let document = bytes(folder, name).map_err(|error| error.to_string())?;
    record::read(&document).map(Arc::new).map_err(|error| error.to_string())
}

fn bytes(folder: &Path, name: &Path) -> io::Result<Vec<u8>> {
    let file = beneath::file(folder, name)?;
    let length = file.status()?.length;
    let fits = usize::try_from(length).ok().filter(|length| *length <= RECORD_LEN_MAX);
    let too_long = || io::Error::other("it is longer than any record that is compared here");
    let mut bytes = vec![0; fits.ok_or_else(too_long)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
