//! A job: its folder, its header, and the names of its documents.
//!
//! In: a path. Out: the header, the table of shards, names of files. Planning writes `job.jsonl`
//! last, so a folder with this file is a complete job.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast::beneath;
use steadfast::json::PathText;
use steadfast_digest::Digest;

use crate::error::Error;
use crate::sealed::SealedReader;
use crate::source::By;

/// The member with the version of the job's header.
pub(crate) const JOB_KEY: &str = "steadfast_fleet_job";

/// The member with the version of the table of shards.
pub(crate) const TABLE_KEY: &str = "steadfast_fleet_table";

/// The header of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
// Over 15 fields: it is the header of the job format, field by field.
pub struct JobHeader {
    /// The version of the format.
    pub(crate) steadfast_fleet_job: u32,
    /// The job's name: unique, so that parts of another job are detected.
    pub job: String,
    /// When it was planned, in seconds since 1970.
    pub planned_s: i64,
    /// The version of the program that planned it.
    pub version: String,
    /// The records that files are compared with: `tags`, `manifest` or `catalogue`.
    pub by: String,
    /// The directory that all paths are relative to.
    pub(crate) root: PathText,
    /// The manifest or the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document: Option<PathText>,
    /// The last run of the catalogue when the job was planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) catalogue_run: Option<i64>,
    /// The number of shards.
    pub shards: u64,
    /// The number of files.
    pub files: u64,
    /// The bytes of these files.
    pub bytes: u64,
    /// The cost of a file besides its own bytes, in bytes.
    pub file_cost_bytes: u64,
    /// The number of directories that could not be listed, and of malformed lines.
    pub troubles: u64,
    /// The number of devices that the files are on.
    pub devices: u64,
    /// What planning skipped.
    pub(crate) skipped: steadfast::Skipped,
    /// The digest of the table of shards.
    pub(crate) table_sha256: String,
}

/// The header of the table of shards.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TableHeader {
    pub(crate) steadfast_fleet_table: u32,
    pub(crate) job: String,
}

/// A shard in the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardRow {
    /// Its number, from 0.
    pub shard: u64,
    /// The number of its device within the job.
    pub device: u64,
    /// The number of files.
    pub files: u64,
    /// The bytes of these files.
    pub bytes: u64,
    /// The earliest last check of its files, in seconds since 1970. `None` if it is unknown, or a
    /// file was never checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_s: Option<i64>,
    /// The digest of the shard's document.
    pub sha256: String,
}

/// A planned job.
#[derive(Clone, Debug)]
pub struct Job {
    folder: PathBuf,
    header: JobHeader,
    root: PathBuf,
    by: By,
}

impl Job {
    /// Opens a job.
    ///
    /// # Errors
    /// If there is none, which is temporary as its folder may be mounted later; or if it is
    /// damaged.
    pub fn open(folder: &Path) -> Result<Job, Error> {
        let path = folder.join("job.jsonl");
        if beneath::presence_of(&path).is_lost() {
            let message = "there is no job here: is its folder mounted, and its planning done?";
            return Err(Error::temporary(folder, message));
        }
        let reader = SealedReader::open(&path)?;
        let header: JobHeader = reader.header(JOB_KEY)?;
        reader.verify()?;
        let root = header.root.to_path();
        let root = root.ok_or_else(|| Error::damaged(&path, "its root is no path"))?;
        let by = header.by.parse().map_err(|_| {
            let by = &header.by;
            Error::usage(format!("this program does not know how to judge by {by}"))
        })?;
        Ok(Job { folder: folder.to_owned(), header, root, by })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the header.
    pub fn header(&self) -> &JobHeader {
        &self.header
    }

    /// Returns the directory that all paths are relative to, on the planning machine.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the kind of records that files are compared with.
    pub fn by(&self) -> By {
        self.by
    }

    /// Returns whether no file of the catalogue was due, so that a job without files is a success.
    /// A catalogue without any file is not planned.
    pub fn had_nothing_due(&self) -> bool {
        self.by == By::Catalogue && self.header.files == 0
    }

    /// Returns the manifest or the catalogue that the files come from.
    pub fn document(&self) -> Option<PathBuf> {
        self.header.document.as_ref().and_then(PathText::to_path)
    }

    pub(crate) fn part(&self, shard: u64) -> PathBuf {
        self.folder.join("parts").join(name_of(shard))
    }

    pub(crate) fn shard(&self, shard: u64) -> PathBuf {
        self.folder.join("shards").join(name_of(shard))
    }

    pub(crate) fn failure(&self, shard: u64) -> PathBuf {
        self.folder.join("failures").join(name_of(shard))
    }

    pub(crate) fn troubles(&self) -> PathBuf {
        self.folder.join("troubles.jsonl")
    }

    /// Passes the rows of the table of shards to the sink, in the order of their numbers.
    ///
    /// # Errors
    /// If the table cannot be read or is damaged, or the sink fails.
    pub fn each_shard(
        &self,
        sink: &mut dyn FnMut(ShardRow) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let path = self.folder.join("shards.jsonl");
        let mut reader = SealedReader::open(&path)?;
        let header: TableHeader = reader.header(TABLE_KEY)?;
        if header.job != self.header.job {
            return Err(Error::damaged(&path, "it is of another job"));
        }
        while let Some(row) = reader.record()? {
            sink(row)?;
        }
        let (seal, _) = reader.verify()?;
        if seal.to_string() != self.header.table_sha256 {
            return Err(Error::damaged(&path, "it is not the table that was planned"));
        }
        Ok(())
    }

    /// Returns the row of one shard.
    ///
    /// # Errors
    /// As [`Job::each_shard`], and if there is no such shard.
    pub(crate) fn shard_row(&self, shard: u64) -> Result<ShardRow, Error> {
        let mut found = None;
        self.each_shard(&mut |row| {
            if row.shard == shard {
                found = Some(row);
            }
            Ok(())
        })?;
        found.ok_or_else(|| {
            let shards = self.header.shards;
            Error::usage(format!("there is no shard {shard}: the job has {shards}, from 0"))
        })
    }

    /// Returns the numbers of the documents in a folder of the job.
    pub(crate) fn numbers(&self, folder: &str) -> Result<Vec<u64>, Error> {
        let path = self.folder.join(folder);
        let read = |error| Error::system(&path, "list it", error);
        let mut numbers = Vec::new();
        // Some copying tools omit empty folders.
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(numbers),
            entries => entries.map_err(read)?,
        };
        for entry in entries {
            let name = entry.map_err(read)?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
            numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// Returns the file name of a shard and of its part: at least five digits, so that names sort.
pub(crate) fn name_of(shard: u64) -> String {
    format!("{shard:05}.jsonl")
}

/// Returns the name of a job.
pub(crate) fn name_by_chance(digest: &Digest) -> String {
    digest.to_string()[..16].to_owned()
}
