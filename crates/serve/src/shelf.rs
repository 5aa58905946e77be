//! Records that can be compared: measured here, found in a folder, added by a browser, published.
//!
//! In: names of records, as addresses carry them. Out: records, read anew each time unless they are
//! in memory. What a browser adds is bounded, validated and gone when the server ends.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use steadfast::beneath::{self, Kind, Name};
use steadfast_measure::published;
use steadfast_measure::record::{self, Record};
use steadfast_report::escape;

use crate::fields::{decode, encode};
use crate::measuring::Measurements;

/// Length of a record that a browser may add, and of one in the folder that is listed.
pub(crate) const RECORD_LEN_MAX: usize = 8 << 20;

/// Records that browsers added and that are remembered.
const ADDED_MAX: usize = 12;

/// Names of the folder of records that are looked at.
const NAMES_MAX: usize = 300;

/// Where a record is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    Here,
    Folder,
    Added,
    Published,
}

/// A record that can be chosen.
pub(crate) struct Choice {
    /// What addresses call it.
    pub(crate) token: String,
    /// What documents call it.
    pub(crate) name: String,
    pub(crate) from: From,
    /// The record, or why it cannot be read.
    pub(crate) record: Result<Arc<Record>, String>,
}

/// The records that browsers added.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<(u64, VecDeque<Added>)>);

#[derive(Clone)]
struct Added {
    id: u64,
    name: String,
    record: Arc<Record>,
}

impl Shelf {
    /// Takes a record that somebody sent, and returns what addresses call it; or what is wrong with
    /// it, and where.
    pub(crate) fn add(&self, name: &str, document: &[u8]) -> Result<String, String> {
        let record = record::read(document).map_err(|error| escape::text(&error.to_string()))?;
        let mut added = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        added.0 += 1;
        let id = added.0;
        while added.1.len() >= ADDED_MAX {
            added.1.pop_front();
        }
        let name = escape::text(name);
        added.1.push_back(Added { id, name, record: Arc::new(record) });
        Ok(format!("added-{id}"))
    }

    /// Returns all that can be chosen. It waits for the disk.
    pub(crate) fn all(&self, measurements: &Measurements, folder: Option<&Path>) -> Vec<Choice> {
        let mut all = Vec::new();
        for one in measurements.all() {
            let state = one.state();
            let Some((record, _)) = state.ended.as_ref().and_then(|end| end.made.as_ref()) else {
                continue;
            };
            all.push(Choice {
                token: format!("run-{}", one.id),
                name: format!("{} {}", one.ask.work.name(), one.id),
                from: From::Here,
                record: Ok(Arc::new(record.clone())),
            });
        }
        for added in &self.0.lock().unwrap_or_else(PoisonError::into_inner).1 {
            all.push(Choice {
                token: format!("added-{}", added.id),
                name: added.name.clone(),
                from: From::Added,
                record: Ok(Arc::clone(&added.record)),
            });
        }
        all.extend(folder.into_iter().flat_map(in_folder));
        for (at, record) in published::records().into_iter().enumerate() {
            let name = record.name.clone().unwrap_or_else(|| record.machine.cpu.clone());
            all.push(Choice {
                token: format!("published-{at}"),
                name: escape::text(&name),
                from: From::Published,
                record: Ok(Arc::new(record)),
            });
        }
        all
    }

    /// Finds one by what addresses call it; `None` if it is gone or cannot be read.
    pub(crate) fn find(
        &self,
        token: &str,
        measurements: &Measurements,
        folder: Option<&Path>,
    ) -> Option<Arc<Record>> {
        let (kind, rest) = token.split_once('-')?;
        match kind {
            "run" => {
                let state = measurements.find(rest.parse().ok()?)?.state();
                let (record, _) = state.ended.as_ref()?.made.as_ref()?;
                Some(Arc::new(record.clone()))
            }
            "added" => {
                let id: u64 = rest.parse().ok()?;
                let added = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                added.1.iter().find(|one| one.id == id).map(|one| Arc::clone(&one.record))
            }
            "published" => {
                let at: usize = rest.parse().ok()?;
                published::records().into_iter().nth(at).map(Arc::new)
            }
            "file" => {
                use std::os::unix::ffi::OsStrExt as _;
                let name = decode(rest.as_bytes())?;
                read(folder?, Path::new(std::ffi::OsStr::from_bytes(&name))).ok()
            }
            _ => None,
        }
    }
}

/// The records of a folder: its files whose names end as those of records do.
fn in_folder(folder: &Path) -> Vec<Choice> {
    let Ok(names) = beneath::names(folder, Path::new(""), None, NAMES_MAX) else {
        return Vec::new();
    };
    let is_record = |name: &&Name| {
        name.kind == Kind::File
            && Path::new(&name.name).extension().is_some_and(|end| end == "json")
    };
    let choice = |name: &Name| Choice {
        token: format!("file-{}", encode(name.name.as_encoded_bytes())),
        name: escape::path(Path::new(&name.name)),
        from: From::Folder,
        record: read(folder, Path::new(&name.name)).map_err(|why| escape::text(&why)),
    };
    names.names.iter().filter(is_record).map(choice).collect()
}

/// Reads a record of a folder, by its name alone.
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
