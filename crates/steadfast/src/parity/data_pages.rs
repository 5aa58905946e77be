//! The data pages of a set, read from the files of the tree.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use steadfast_parity::{Member, SetIndex};
use steadfast_sys::file::File;
use steadfast_sys::source::ReadAt as _;

use crate::beneath;
use crate::pages::Descriptor;

/// Files of a set that are held open while its pages are read.
const OPEN_MAX: usize = 64;

/// Reads data pages of a set.
pub(super) struct DataPages<'a> {
    root: &'a Path,
    index: &'a SetIndex,
    /// A file that is not opened by its path, and what is left of it.
    own: Option<(&'a Path, Option<&'a File>)>,
    open: HashMap<PathBuf, Option<File>>,
}

impl<'a> DataPages<'a> {
    pub(super) fn new(
        root: &'a Path,
        index: &'a SetIndex,
        own: Option<(&'a Path, Option<&'a File>)>,
    ) -> DataPages<'a> {
        DataPages { root, index, own, open: HashMap::new() }
    }

    /// Reads a page from the files that have bytes in it; false if one cannot be read.
    pub(super) fn read(&mut self, page: u32, bytes: &mut [u8]) -> bool {
        bytes.fill(0);
        self.index.members_of(page).all(|member| self.read_member(member, page, bytes))
    }

    /// Reads a page, and says whether it is as it was when the set was made.
    pub(super) fn is_whole(&mut self, page: u32, bytes: &mut [u8]) -> bool {
        self.read(page, bytes) && self.index.is_page(page, bytes)
    }

    fn read_member(&mut self, member: &Member, page: u32, bytes: &mut [u8]) -> bool {
        let (path, root) = (&member.file.path, self.root);
        let Some(span) = member.span(page) else { return true };
        let file = match self.own {
            Some((own, file)) if own == path => file,
            _ => {
                if self.open.len() >= OPEN_MAX && !self.open.contains_key(path) {
                    self.open.clear();
                }
                let open = || beneath::file(root, path).ok();
                self.open.entry(path.clone()).or_insert_with(open).as_ref()
            }
        };
        file.is_some_and(|file| {
            let source = Descriptor { file, len_bytes: member.file.length };
            source.read_exact_at(&mut bytes[span.in_page], span.file_offset).is_ok()
        })
    }
}
