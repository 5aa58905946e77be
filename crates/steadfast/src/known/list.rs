//! An archive that is a list: what is in a store, or on a medium that is elsewhere.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::{Status, Timestamp};

use super::worklist::Worklist;
use crate::error::Error;
use crate::event::Notice;
use crate::manifest::{self, Format, Record, algorithm_hint, confine};

/// A list of files that are elsewhere.
pub(crate) struct ListedFiles {
    path: PathBuf,
    format: Format,
    /// When its file was written.
    pub(crate) made: Timestamp,
}

impl ListedFiles {
    /// Opens a list; `None` if the file is none, but may be a database.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn open(path: &Path) -> Result<Option<ListedFiles>, Error> {
        let failed = |error| Error::system("open the list", error).at(path);
        let mut reader = BufReader::new(File::open(path).map_err(failed)?);
        let format = Format::detect(path, reader.fill_buf().map_err(failed)?);
        let Some(format) = format.filter(|format| *format != Format::Bitrot) else {
            return Ok(None);
        };
        let made = Status::of(path).map_err(failed)?.mtime;
        Ok(Some(ListedFiles { path: path.to_owned(), format, made }))
    }

    /// Lists its files by those of their digests that `counts` accepts. What cannot be read of it,
    /// and what has no such digest, is told.
    pub(super) fn hold(
        &self,
        at: usize,
        list: &mut Worklist,
        counts: impl Fn(Algorithm) -> bool,
        notice: &mut dyn FnMut(Notice),
    ) -> Result<(), Error> {
        let failed = |error| Error::system("open the list", error).at(&self.path);
        let reader = BufReader::new(File::open(&self.path).map_err(failed)?);
        let (mut faults, mut uncounted) = (0_u64, 0_u64);
        let mut first = None;
        for record in manifest::read(self.format, algorithm_hint(&self.path), reader) {
            let read = record.map_err(|fault| fault.to_string()).and_then(|record| {
                let path = confine(&record.path, self.format).map_err(|fault| fault.to_string())?;
                Ok((path, record))
            });
            let (path, Record { digests, length, .. }) = match read {
                Ok(read) => read,
                Err(fault) => {
                    faults += 1;
                    first.get_or_insert(fault);
                    continue;
                }
            };
            let counted: Vec<(Algorithm, Digest)> =
                digests.into_iter().filter(|(algorithm, _)| counts(*algorithm)).collect();
            uncounted += u64::from(counted.is_empty());
            for (algorithm, digest) in counted {
                list.hold_listed(at, &path, (algorithm, &digest), length)?;
            }
        }
        if let Some(first) = first {
            let text = format!("{faults} of its lines cannot be used; the first: {first}");
            notice(Notice::failure(text).at(&self.path));
        }
        if uncounted > 0 {
            let text = format!(
                "{uncounted} of its files have no digest there that proves contents (256 bits or \
                 more, without known collisions)"
            );
            notice(Notice::new(text).at(&self.path));
        }
        Ok(())
    }
}
