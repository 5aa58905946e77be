//! Paths and patterns, from arguments and from lists, to a [`Selection`].
//!
//! In: the arguments that name files. Out: what a run is about. Paths are bytes and stay so.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use steadfast::Selection;
use steadfast::beneath::presence_of;
use steadfast::names::NameBuf as _;
use steadfast_report::units;

/// Names of a list of which at least one is expected to be there. Fewer may all be missing.
pub(crate) const NAMES_MANY: usize = 20;

use super::{PathArgs, WalkArgs};

impl PathArgs {
    /// Gathers the selection; without any path it is the current directory.
    ///
    /// # Errors
    /// If a list of paths or patterns cannot be read.
    pub(crate) fn selection(&self) -> anyhow::Result<Selection> {
        let listed = match &self.files_from {
            Some(list) => {
                let separator = if self.null { 0 } else { b'\n' };
                let paths = listed_paths(list, separator)
                    .with_context(|| format!("cannot read the list `{}`", list.display()))?;
                let is_there = |path: &PathBuf| !presence_of(path).is_lost();
                ensure!(
                    paths.len() < NAMES_MANY || paths.iter().any(is_there),
                    "none of the {} paths in `{}` is there: are they relative to another folder?",
                    units::count(paths.len() as u64),
                    list.display()
                );
                paths
            }
            None => Vec::new(),
        };
        let roots = match self.paths.is_empty() && self.files_from.is_none() {
            true => vec![PathBuf::from(".")],
            false => self.paths.clone(),
        };
        Ok(self.walk.selection()?.with(|selection| {
            selection.roots = roots;
            selection.listed = listed;
        }))
    }

    /// Gathers the selection of a verb that destroys a record, which takes no default.
    ///
    /// # Errors
    /// As above, and if no path is named.
    pub(crate) fn explicit_selection(&self, verb: &str) -> anyhow::Result<Selection> {
        if self.paths.is_empty() && self.files_from.is_none() {
            bail!(
                "{verb} needs a PATH, because it discards the record of the contents; for the \
                 current folder: `steadfast {verb} .`"
            );
        }
        self.selection()
    }
}

impl WalkArgs {
    /// Gathers what a walk leaves out, as a selection without paths.
    ///
    /// # Errors
    /// If a file of patterns cannot be read.
    pub(crate) fn selection(&self) -> anyhow::Result<Selection> {
        let mut excludes = self.exclude.clone();
        for file in &self.exclude_from {
            let patterns = fs::read_to_string(file)
                .with_context(|| format!("cannot read the patterns in `{}`", file.display()))?;
            excludes.extend(patterns.lines().map(str::to_owned));
        }
        let one_file_system = self.one_file_system;
        Ok(Selection::default().with(|selection| {
            selection.excludes = excludes;
            selection.one_file_system = one_file_system;
        }))
    }

    /// Says whether a walk would leave anything out.
    pub(crate) fn is_limited(&self) -> bool {
        self.one_file_system || !self.exclude.is_empty() || !self.exclude_from.is_empty()
    }
}

fn listed_paths(list: &Path, separator: u8) -> io::Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    match list.as_os_str() == "-" {
        true => io::stdin().lock().read_to_end(&mut bytes)?,
        false => fs::File::open(list)?.read_to_end(&mut bytes)?,
    };
    let names = bytes.split(|&byte| byte == separator).filter(|name| !name.is_empty());
    Ok(names.map(|name| OsString::from_vec(name.to_vec()).into()).collect())
}
