//! Reads the files of a store's report row by row, and verifies them if their digests are known.
//!
//! In: a manifest, or one file of rows, both untrusted. Out: rows, each valid or faulty. The length
//! of a row is bounded, their number is not. Opens only the given file and, by their last names,
//! the files beside it that it names.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};

use crate::error::Error;
use crate::row::{Columns, ReportRow, of_report};

/// Longest row in bytes: an escaped name of 1 KiB, a message, and some room.
const LINE_LEN_MAX: u64 = 64 << 10;

/// Longest manifest in bytes.
const MANIFEST_LEN_MAX: u64 = 64 << 20;

/// Folders near a manifest in which stores put the files that it names.
const FOLDERS: [&str; 5] = ["", "results", "data", "../results", "../data"];

/// The kind of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// The report of a job that computed digests of objects.
    Computed,
    /// An inventory with lengths and ETags.
    Inventory,
}

/// Takes rows, or what is wrong with them, with file and line number from 1. Returns false to stop.
pub type RowSink<'a> = dyn FnMut(&Path, u64, Result<ReportRow, String>) -> bool + 'a;

/// A report of a store.
#[derive(Clone, Debug)]
pub struct Report {
    kind: ReportKind,
    columns: Option<Columns>,
    files: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(rename = "Format")]
    format: Option<String>,
    #[serde(rename = "Results", default)]
    results: Vec<ResultFile>,
    #[serde(rename = "fileFormat")]
    file_format: Option<String>,
    #[serde(rename = "fileSchema")]
    file_schema: Option<String>,
    #[serde(default)]
    files: Vec<InventoryFile>,
}

#[derive(Deserialize)]
struct ResultFile {
    #[serde(rename = "Key")]
    key: String,
    #[serde(rename = "MD5Checksum")]
    md5: Option<String>,
}

#[derive(Deserialize)]
struct InventoryFile {
    key: String,
    #[serde(rename = "MD5checksum")]
    md5: Option<String>,
}

impl Report {
    /// Opens a report by its manifest, or one file of its rows. `columns` names the columns of an
    /// inventory without a manifest.
    ///
    /// # Errors
    /// If it cannot be read, is not a report, or a file does not match its manifest.
    pub fn open(path: &Path, columns: Option<&str>) -> Result<Report, Error> {
        let fault = |why: String| Error::document(path, why);
        let mut head = [0; 1];
        let opened = File::open(path).and_then(|mut file| file.read(&mut head));
        let len = opened.map_err(|error| Error::system(path, "read it", error))?;
        if len == 1 && (head[0] == b'{' || head[0].is_ascii_whitespace()) {
            return Report::of_manifest(path);
        }
        let columns = columns.map(Columns::parse).transpose().map_err(fault)?;
        let kind = if columns.is_some() { ReportKind::Inventory } else { ReportKind::Computed };
        Ok(Report { kind, columns, files: vec![path.to_owned()] })
    }

    fn of_manifest(path: &Path) -> Result<Report, Error> {
        let failed = |error| Error::system(path, "read it", error);
        let mut text = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(MANIFEST_LEN_MAX + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() as u64 > MANIFEST_LEN_MAX {
            return Err(Error::document(path, "it is too long for a report's manifest"));
        }
        let manifest: Manifest = serde_json::from_slice(&text)
            .map_err(|error| Error::document(path, format!("it is no manifest: {error}")))?;
        let schema = manifest.file_schema.as_deref();
        let columns = schema.map(Columns::parse).transpose();
        let columns = columns.map_err(|why| Error::document(path, why))?;
        let computed = manifest.format.as_deref() == Some("Report_CSV_20180820");
        let (kind, named): (_, Vec<_>) = match (computed, &columns) {
            (true, _) => {
                let files = manifest.results.into_iter().map(|file| (file.key, file.md5));
                (ReportKind::Computed, files.collect())
            }
            (false, Some(_)) if manifest.file_format.as_deref() == Some("CSV") => {
                let files = manifest.files.into_iter().map(|file| (file.key, file.md5));
                (ReportKind::Inventory, files.collect())
            }
            _ => {
                let message = "it is the manifest of no report that is known: of computed digests, \
                               or of an inventory in CSV";
                return Err(Error::document(path, message));
            }
        };
        let mut files = Vec::with_capacity(named.len());
        for (key, md5) in named {
            let file = beside(path, &key)?;
            if let Some(md5) = md5 {
                verify(&file, &md5)?;
            }
            files.push(file);
        }
        Ok(Report { kind, columns, files })
    }

    /// Returns the kind.
    pub fn kind(&self) -> ReportKind {
        self.kind
    }

    /// Passes every row to the sink, until the sink returns false.
    ///
    /// # Errors
    /// If a file cannot be read to its end.
    pub fn rows(&self, sink: &mut RowSink<'_>) -> Result<(), Error> {
        for path in &self.files {
            let failed = |error| Error::system(path, "read it", error);
            let mut file = BufReader::new(File::open(path).map_err(failed)?);
            let packed = file.fill_buf().map_err(failed)?.starts_with(b"\x1f\x8b");
            let mut lines: Box<dyn BufRead> = match packed {
                true => Box::new(BufReader::new(MultiGzDecoder::new(file))),
                false => Box::new(file),
            };
            let (mut line, mut number) = (Vec::new(), 0);
            loop {
                line.clear();
                let mut one = (&mut lines).take(LINE_LEN_MAX);
                if one.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                    break;
                }
                number += 1;
                if line.len() as u64 == LINE_LEN_MAX && !line.ends_with(b"\n") {
                    return Err(Error::document(path, format!("line {number} is too long")));
                }
                let row = match self.row(&line) {
                    Ok(None) => continue,
                    Ok(Some(row)) => Ok(row),
                    Err(why) => Err(why),
                };
                if !sink(path, number, row) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn row(&self, line: &[u8]) -> Result<Option<ReportRow>, String> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(line.len())
            .from_reader(line);
        let mut record = csv::StringRecord::new();
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(_) => return Err("it is not UTF-8".to_owned()),
        }
        let fields: Vec<&str> = record.iter().collect();
        match &self.columns {
            Some(columns) => columns.row(&fields).map(Some),
            None => of_report(&fields),
        }
    }
}

/// Finds a file that a manifest names, by the last part of its name.
fn beside(manifest: &Path, key: &str) -> Result<PathBuf, Error> {
    let name = key.rsplit('/').next().filter(|name| !["", ".", ".."].contains(name));
    let name = name.filter(|name| !name.contains('\0'));
    let name = name.ok_or_else(|| Error::document(manifest, "it names a file that is none"))?;
    let folder = manifest.parent().unwrap_or(Path::new(""));
    let places = FOLDERS.iter().map(|beside| folder.join(beside).join(name));
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        Error::document(manifest, format!("the file `{name}` that it names is not beside it"))
    })
}

/// Refuses a file whose MD5 is not the one of its manifest.
fn verify(path: &Path, md5: &str) -> Result<(), Error> {
    let failed = |error| Error::system(path, "read it", error);
    let expected: Digest =
        md5.parse().map_err(|_| Error::document(path, "its manifest names no MD5 of it"))?;
    let mut file = File::open(path).map_err(failed)?;
    let (mut hasher, mut buffer) = (AlgorithmHasher::new(Algorithm::Md5), vec![0; 256 << 10]);
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => break,
            len => hasher.update(&buffer[..len]),
        }
    }
    match hasher.finalize() == expected {
        true => Ok(()),
        false => Err(Error::document(
            path,
            "it is not the file that its manifest names: the MD5 differs",
        )),
    }
}
