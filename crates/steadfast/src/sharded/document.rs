//! The file with the result of one shard: JSON lines that end in a digest, as
//! `docs/formats/shards.md` specifies.
//!
//! In: a header and records, or a path. Out: a file that is complete or absent, or its records, of
//! which none counts before the last line was verified.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_sys::file::{Dir, Draft, Existing, File, FileKind};
use steadfast_sys::names::NameBytes as _;

use super::row::Row;
use crate::event::Skipped;
use crate::exit_status::ExitStatus;
use crate::json::{PathText, write_json};
use crate::shard::Shard;

/// The longest line in bytes. A path of 4,096 bytes takes 26 KiB at worst.
const LINE_LEN_MAX: u64 = 1 << 20;

/// Why a result does not count.
const ALTERED: &str = "it is not as it was written, or of another version";

/// Where the files of a shard come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShardFiles {
    /// From the catalogue of the root.
    Catalogue {
        /// Only files that no run has judged for this many seconds.
        older_than_s: Option<u64>,
    },
    /// From a list, see [`ShardFiles::list`].
    List {
        /// The files.
        #[serde(skip)]
        paths: Vec<PathBuf>,
        /// The digest of their names, by which the lists of two shards are compared.
        sha256: String,
    },
    /// From a walk of the root.
    Walk {
        /// Patterns of files to exclude, in the syntax of `.gitignore`.
        excludes: Vec<String>,
        /// Whether to stay on the file system of the root.
        one_file_system: bool,
    },
}

impl ShardFiles {
    /// Takes the files from a list. They must be beneath the root.
    pub fn list(paths: Vec<PathBuf>) -> ShardFiles {
        let mut hasher = AlgorithmHasher::new(Algorithm::Sha256);
        for path in &paths {
            hasher.update(path.as_bytes());
            hasher.update(&[0]);
        }
        ShardFiles::List { paths, sha256: hasher.finalize().to_string() }
    }
}

/// What the shards of one check have in common, so that their results together are that check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ShardPlan {
    pub(super) root: PathText,
    pub(super) shards: u32,
    /// The hash of paths that assigns files to shards.
    pub(super) hash: String,
    pub(super) files: ShardFiles,
    /// When the catalogue was made by which files are judged, in seconds since 1970.
    pub(super) catalogue_made_s: Option<i64>,
    pub(super) require_tags: bool,
}

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ResultHeader {
    pub(super) steadfast_shard_result: u32,
    pub(super) shard: u32,
    pub(super) plan: ShardPlan,
    /// When the check began, in seconds since 1970.
    pub(super) begun_s: i64,
    /// The last run of the catalogue then, if there is one.
    pub(super) catalogue_run: Option<i64>,
}

/// Every other line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ResultRecord {
    /// A file, or a directory that could not be read.
    File(Box<Row>),
    /// A circumstance that prevents a success.
    Notice { text: String, exit_status: ExitStatus },
    /// How the run ended: the record before the last line.
    Summary(Box<Closing>),
    /// The last line: the digest of all lines before.
    End { sha256: String },
}

/// How the run of a shard ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Closing {
    /// In seconds since 1970.
    pub(super) ended_s: i64,
    /// The files of the whole walk, if there was one.
    pub(super) walked: Option<u64>,
    pub(super) exit_status: ExitStatus,
    pub(super) skipped: Skipped,
    pub(super) elapsed_ns: u64,
    pub(super) backend: String,
    /// Whether every byte came from the medium.
    pub(super) from_media: bool,
}

/// Writes a result file.
pub(super) struct ResultWriter {
    pub(super) draft: BufWriter<Draft>,
    name: OsString,
    sum: AlgorithmHasher,
}

impl ResultWriter {
    /// Begins the draft of a result with its header.
    pub(super) fn create(path: &Path, header: &ResultHeader) -> io::Result<ResultWriter> {
        let (dir, name) = Dir::parent_of(path)?;
        let draft = BufWriter::new(Draft::document(&Arc::new(dir))?);
        let sum = AlgorithmHasher::new(Algorithm::Sha256);
        let mut writer = ResultWriter { draft, name, sum };
        writer.write(header)?;
        Ok(writer)
    }

    /// Writes a line.
    pub(super) fn write(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = Vec::with_capacity(1_024);
        write_json(value, char::is_control, &mut line);
        line.push(b'\n');
        self.sum.update(&line);
        self.draft.write_all(&line)
    }

    /// Ends the document, flushes it, and gives it its name, in place of an earlier result.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let sha256 = self.sum.clone().finalize().to_string();
        self.write(&ResultRecord::End { sha256 })?;
        self.draft.into_inner()?.publish(&self.name, Existing::Replace)
    }
}

/// Reads a result.
pub(super) struct ResultReader {
    lines: BufReader<fs::File>,
    /// The line that was read last.
    pub(super) line: Vec<u8>,
    sum: AlgorithmHasher,
}

impl ResultReader {
    /// Opens a result and reads its header.
    ///
    /// # Errors
    /// Why the result does not count.
    pub(super) fn open(path: &Path) -> Result<(ResultReader, ResultHeader), String> {
        // A pipe would block the reader.
        let file = File::open(path).and_then(|file| match file.status()?.kind {
            FileKind::Regular => Ok(fs::File::from(file.into_fd())),
            _ => Err(io::Error::other("it is not a regular file")),
        });
        let lines = BufReader::new(file.map_err(|error| format!("it cannot be opened: {error}"))?);
        let sum = AlgorithmHasher::new(Algorithm::Sha256);
        let mut reader = ResultReader { lines, line: Vec::new(), sum };
        reader.advance()?;
        let header: ResultHeader = serde_json::from_slice(&reader.line).map_err(|_| ALTERED)?;
        let is_shard = Shard::new(header.shard, header.plan.shards).is_some();
        reader.sum.update(&reader.line);
        match header.steadfast_shard_result == 1 && is_shard {
            true => Ok((reader, header)),
            false => Err(ALTERED.to_owned()),
        }
    }

    /// Returns the next record, and `None` at the end, once the last line was verified.
    ///
    /// # Errors
    /// Why the result does not count, whatever was read of it before.
    pub(super) fn next(&mut self) -> Result<Option<ResultRecord>, String> {
        self.advance()?;
        let record = serde_json::from_slice(&self.line).map_err(|_| ALTERED)?;
        if let ResultRecord::End { sha256 } = &record {
            let is_same = *sha256 == self.sum.clone().finalize().to_string();
            let is_last = self.lines.fill_buf().is_ok_and(<[u8]>::is_empty);
            return if is_same && is_last { Ok(None) } else { Err(ALTERED.to_owned()) };
        }
        self.sum.update(&self.line);
        Ok(Some(record))
    }

    fn advance(&mut self) -> Result<(), String> {
        self.line.clear();
        let read = (&mut self.lines).take(LINE_LEN_MAX).read_until(b'\n', &mut self.line);
        read.map_err(|error| format!("it cannot be read: {error}"))?;
        match self.line.last() {
            Some(b'\n') => Ok(()),
            _ => Err("it is cut off".to_owned()),
        }
    }
}
