//! A list as one side of a comparison: the files that a manifest expects.
//!
//! Takes paths and references in any order, and returns entries in path order. Holds the whole list
//! in memory.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::vec;

use super::pair::FileSide;
use super::source::{DiffSource, EntryContent, NextEntry, SideEntry};
use crate::error::Error;
use crate::reference::Reference;
use crate::walk::Excludes;
use steadfast_manifest::tag::Tag;

/// The entries of a list.
pub(super) struct ListSide {
    entries: vec::IntoIter<(PathBuf, Option<Reference>)>,
}

impl ListSide {
    /// Makes the side, from a list and its own path beneath the other side, if it is there.
    pub(super) fn new(
        list: Vec<(PathBuf, Reference)>,
        itself: Option<&Path>,
        excludes: &Excludes,
    ) -> ListSide {
        let list = list.into_iter().map(|(path, reference)| (path, Some(reference)));
        let itself = itself.map(|path| (path.to_owned(), None));
        let mut entries: Vec<_> = list.chain(itself).collect();
        entries.retain(|(path, _)| !(excludes.any() && excludes.matches(path, false)));
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        // If a path occurs twice, the first counts. An entry for a file outranks the fact that the
        // file is the list.
        entries.dedup_by(|(later, other), (earlier, first)| {
            let same = later == earlier;
            if same && first.is_none() {
                *first = other.take();
            }
            same
        });
        ListSide { entries: entries.into_iter() }
    }
}

impl DiffSource for ListSide {
    fn take(&mut self, _patience: Duration) -> Result<NextEntry, Error> {
        Ok(self.entries.next().map_or(NextEntry::End, |(path, reference)| {
            NextEntry::Entry(SideEntry {
                path,
                found: EntryContent::File(Box::new(side(reference))),
            })
        }))
    }

    fn bytes(&self) -> u64 {
        0
    }
}

fn side(reference: Option<Reference>) -> FileSide {
    let Some(reference) = reference else {
        return FileSide { is_list: true, ..FileSide::default() };
    };
    let mtime = reference.mtime.map(|mtime| mtime.time);
    // If the entry is complete, the file can be recognised at another path.
    let tag = match (reference.digests.first(), reference.length, mtime) {
        (Some(&(algorithm, digest)), Some(length), Some(mtime)) => {
            Some(Tag { algorithm, digest, length, mtime, tagged: mtime })
        }
        _ => None,
    };
    FileSide {
        length: reference.length,
        mtime,
        tag,
        listed: Some(Box::new(reference)),
        ..FileSide::default()
    }
}
