//! Documents that name files: opened, recognised, and turned into lists for a run.
//!
//! In: a path and perhaps a format's name. Out: the directory that the names are relative to, and
//! a list. What cannot be understood stays in the list, as a fault with its place.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use steadfast::Reference;
use steadfast::manifest::bagit::{Bag, Problem};
use steadfast::manifest::{self, Format, confine};
use steadfast::run::{List, Unlisted};

use crate::args::PathArgs;

/// Refuses to leave out what a document names: what it names is what is looked at.
pub(super) fn ensure_plain(paths: &PathArgs) -> anyhow::Result<()> {
    let patterns = !paths.exclude.is_empty() || !paths.exclude_from.is_empty();
    ensure!(
        !patterns && paths.files_from.is_none() && !paths.one_file_system,
        "a document names its files: no list, no pattern and no --one-file-system goes with it"
    );
    Ok(())
}

/// A document, opened.
pub(super) struct Document {
    /// What its names are relative to.
    pub(super) root: PathBuf,
    pub(super) list: List,
}

impl Document {
    /// Opens a manifest, or a bag if `path` is a directory with one in it.
    ///
    /// # Errors
    /// If it cannot be opened, or is of no known format.
    pub(super) fn open(path: &Path, format: Option<Format>) -> anyhow::Result<Document> {
        let shown = steadfast_report::escape::path(path);
        if path.is_dir() {
            ensure!(path.join("bagit.txt").is_file(), "`{shown}` is a directory and no bag");
            return Document::of_bag(path);
        }
        let file = File::open(path).with_context(|| format!("cannot open `{shown}`"))?;
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let head = reader.fill_buf().with_context(|| format!("cannot read `{shown}`"))?;
        let format = match format {
            Some(format) => format,
            None => Format::detect(path, head).with_context(|| {
                format!("`{shown}` is like no format that is known: name it with --format")
            })?,
        };
        let root = manifest::root_of(format, path);
        let hint = manifest::algorithm_hint(path);
        let document = path.to_owned();
        let records = manifest::read(format, hint, reader).map(move |record| {
            let unlisted = |reason: String| Unlisted { document: document.clone(), reason };
            let record = record.map_err(|fault| unlisted(fault.to_string()))?;
            let path = confine(&record.path, format).map_err(|fault| {
                let path = steadfast_report::escape::path(&record.path);
                unlisted(format!("`{path}`: {fault}"))
            })?;
            Ok((path, Some(Reference::of_record(record))))
        });
        Ok(Document { root, list: Box::new(records) })
    }

    fn of_bag(root: &Path) -> anyhow::Result<Document> {
        let shown = steadfast_report::escape::path(root);
        let bag = Bag::open(root).with_context(|| format!("cannot open the bag `{shown}`"))?;
        let document = root.to_owned();
        let problems = bag.problems.into_iter().map(move |problem| match problem {
            Problem::Missing(path) => Ok((path, None)),
            problem => Err(Unlisted { document: document.clone(), reason: problem.to_string() }),
        });
        let records = bag.records.into_iter().map(|record| {
            let path = record.path.clone();
            Ok((path, Some(Reference::of_record(record))))
        });
        Ok(Document { root: root.to_owned(), list: Box::new(problems.chain(records)) })
    }
}
