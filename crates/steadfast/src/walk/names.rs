//! The names in one directory, in order, in bounded memory.
//!
//! Takes an open directory. Returns its names sorted by their bytes, as many as the budget allows.
//! A larger directory is read again for the names that follow, so that ten million files in one
//! folder need no more memory than a thousand.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;

use steadfast_sys::file::{Dir, FileKind};
use steadfast_sys::names::NameBytes as _;

use crate::moving::{MovingFiles, RECORD};

/// Memory for the names of all open directories of a walk together, in bytes.
const BUDGET_BYTES: usize = 12 << 20;

/// The least memory for one directory, in bytes, however deep the tree.
const BUDGET_BYTES_MIN: usize = 64 << 10;

/// A sorted part of a directory's names.
#[derive(Default)]
pub(super) struct NameRun {
    bytes: Vec<u8>,
    spans: Vec<NameSpan>,
    /// Whether these are the last names of the directory.
    last: bool,
    /// Whether the directory has the record of a move.
    has_record: bool,
}

struct NameSpan {
    inode: u64,
    start: u32,
    len: u16,
    kind: Option<FileKind>,
}

impl NameRun {
    /// Makes the empty part before a directory's first name.
    pub(super) fn before_first() -> NameRun {
        NameRun::default()
    }

    /// Returns the name at `index`, its kind, if the file system reports it, and its inode.
    pub(super) fn get(&self, index: usize) -> Option<(&OsStr, Option<FileKind>, u64)> {
        let span = self.spans.get(index)?;
        Some((OsStr::from_bytes(self.name(span)), span.kind, span.inode))
    }

    /// Returns whether the directory has no names after these.
    pub(super) fn is_last(&self) -> bool {
        self.last
    }

    /// Returns whether this is the part before the first name.
    pub(super) fn is_before_first(&self) -> bool {
        self.spans.is_empty() && !self.last
    }

    /// Returns whether the directory has a file with the name of the record of a move.
    pub(super) fn has_record(&self) -> bool {
        self.has_record
    }

    /// Returns the memory that these names use, in bytes.
    pub(super) fn len_bytes(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<NameSpan>()
    }

    /// Reads the names that follow these. `in_use` is the present memory of all parts, in bytes.
    ///
    /// Files that are `moving` have the names that they had. On an error, also returns the names
    /// that were read before it.
    pub(super) fn following(
        &self,
        dir: &Dir,
        in_use: usize,
        moving: Option<&MovingFiles>,
    ) -> (NameRun, Option<io::Error>) {
        let budget = (BUDGET_BYTES.saturating_sub(in_use) / 2).max(BUDGET_BYTES_MIN);
        self.following_within(dir, budget, moving)
    }

    fn following_within(
        &self,
        dir: &Dir,
        budget: usize,
        moving: Option<&MovingFiles>,
    ) -> (NameRun, Option<io::Error>) {
        let after = self.spans.last().map(|span| self.name(span));
        let mut names = NameRun { last: true, ..NameRun::default() };
        let mut ceiling: Option<Vec<u8>> = None;
        let result = dir.entries(&mut |entry| {
            names.has_record |= entry.name == RECORD;
            let renamed = moving.and_then(|moving| moving.renamed(entry.name));
            if renamed.is_some_and(|it| it.has_both) {
                return ControlFlow::Continue(());
            }
            let name = renamed.map_or(entry.name, |it| &it.file.name).as_bytes();
            let wanted = after.is_none_or(|after| name > after)
                && ceiling.as_deref().is_none_or(|ceiling| name <= ceiling);
            if wanted {
                names.push(name, entry.kind, entry.inode);
                if names.bytes.len() + names.spans.len() * size_of::<NameSpan>() > budget {
                    ceiling = names.keep_lower_half();
                }
            } else if ceiling.as_deref().is_some_and(|ceiling| name > ceiling) {
                names.last = false;
            }
            ControlFlow::Continue(())
        });
        names.sort();
        names.bytes.shrink_to_fit();
        names.spans.shrink_to_fit();
        if result.is_err() {
            // Names after the error are unknown, and reading again would only repeat it.
            names.last = true;
        }
        (names, result.err())
    }

    fn push(&mut self, name: &[u8], kind: Option<FileKind>, inode: u64) {
        let start = u32::try_from(self.bytes.len()).expect("the budget is far below 4 GiB");
        let len = u16::try_from(name.len()).expect("file names have at most 255 bytes");
        self.bytes.extend_from_slice(name);
        self.spans.push(NameSpan { inode, start, len, kind });
    }

    fn name(&self, span: &NameSpan) -> &[u8] {
        name_in(&self.bytes, span)
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.spans.sort_unstable_by(|a, b| name_in(bytes, a).cmp(name_in(bytes, b)));
    }

    /// Removes the upper half, and returns the last name that stays.
    fn keep_lower_half(&mut self) -> Option<Vec<u8>> {
        self.sort();
        let half = (self.spans.len() / 2).max(1);
        let mut kept = NameRun { last: false, ..NameRun::default() };
        for span in &self.spans[..half] {
            kept.push(self.name(span), span.kind, span.inode);
        }
        *self = kept;
        self.spans.last().map(|span| self.name(span).to_vec())
    }
}

fn name_in<'a>(bytes: &'a [u8], span: &NameSpan) -> &'a [u8] {
    &bytes[span.start as usize..][..usize::from(span.len)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_small_budget_yields_the_same_names_in_the_same_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut expected = BTreeSet::new();
        for number in 0..700_u32 {
            let name = format!("{:x}", number.wrapping_mul(2_654_435_761));
            std::fs::write(folder.path().join(&name), b"").unwrap();
            expected.insert(name);
        }
        let dir = Dir::open(folder.path()).unwrap();
        for budget in [200, 1_000, 5_000, 1 << 20] {
            let mut found = Vec::new();
            let mut names = NameRun::before_first();
            let mut passes = 0;
            while !names.is_last() {
                let (next, error) = names.following_within(&dir, budget, None);
                assert!(error.is_none());
                let shown = (0..).map_while(|index| next.get(index));
                found.extend(shown.map(|(name, _, _)| name.to_str().unwrap().to_owned()));
                names = next;
                passes += 1;
            }
            assert!(found.iter().eq(expected.iter()), "budget {budget}");
            assert_eq!(passes == 1, budget == 1 << 20, "budget {budget}");
        }
    }
}
