//! Kept leaves, read: their header at once, all of them when they are to be believed.
//!
//! In: a path. Out: a header, and leaves that fold up to its root. Nothing is believed of a file
//! that is cut, damaged, or of other contents than the tag that it is asked for.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_sys::file::{Dir, File};
use steadfast_sys::source::{FileSource, Part, ReadAt as _};
use steadfast_sys::xattr;
use steadfast_verity::Tree;

use super::header::{HEADER_LEN, Header, MAGIC, invalid};

/// Bytes of the check value behind the leaves.
pub(crate) const CHECK_LEN: usize = 4;

/// Bytes of leaves that are folded at a time: a multiple of every leaf.
const PIECE_LEN: u64 = 256 << 10;

/// A file of zeros alone that is longer is not taken for torn leaves: they would be of 8 GiB.
const ZEROS_LEN_MAX: u64 = 64 << 20;

/// Says whether a file named as leaves is one of ours, whole or torn: it has the mark, begins as
/// leaves do, or has no byte but zeros, as after a loss of power.
///
/// # Errors
/// Whatever the system says.
pub(crate) fn is_ours(file: &File) -> io::Result<bool> {
    let mut head = [0; MAGIC.len()];
    let len = file.read_at(&mut head, 0)?;
    // Of file systems without attributes nothing is learned here.
    let is_marked = || matches!(xattr::get(file, xattr::LEAVES, &mut [0; 16]), Ok(Some(_)));
    if MAGIC.starts_with(&head[..len]) || is_marked() {
        return Ok(true);
    }
    if file.status()?.length > ZEROS_LEN_MAX {
        return Ok(false);
    }
    let mut piece = vec![0; PIECE_LEN as usize];
    let mut start = 0;
    loop {
        match file.read_at(&mut piece, start)? {
            0 => return Ok(true),
            read if piece[..read].iter().any(|byte| *byte != 0) => return Ok(false),
            read => start += read as u64,
        }
    }
}

/// An open file of kept leaves.
#[derive(Debug)]
pub struct Kept {
    source: FileSource,
    header: Header,
}

impl Kept {
    /// Opens kept leaves and reads their header.
    ///
    /// # Errors
    /// Whatever the system says, also if the name is a symlink; `InvalidData` if it is a file of
    /// another kind, damaged or cut.
    pub fn open(path: &Path) -> io::Result<Kept> {
        let (dir, name) = Dir::parent_of(path)?;
        Kept::open_in(&dir, &name)
    }

    /// Opens kept leaves in a directory.
    ///
    /// # Errors
    /// As those of [`Kept::open`].
    pub(crate) fn open_in(dir: &Dir, name: &OsStr) -> io::Result<Kept> {
        Kept::read(dir.open_file(name)?)
    }

    /// Reads the header of an open file of kept leaves.
    ///
    /// # Errors
    /// As [`Kept::open`].
    pub(crate) fn read(file: File) -> io::Result<Kept> {
        let source = FileSource::new(file)?;
        let mut bytes = [0; HEADER_LEN];
        if source.len_bytes() < (HEADER_LEN + CHECK_LEN) as u64 {
            return Err(invalid("the kept leaves are torn: they end before their header does"));
        }
        source.read_exact_at(&mut bytes, 0)?;
        let header = Header::decode(&bytes)?;
        let frame_len = (HEADER_LEN + CHECK_LEN) as u64;
        if header.leaves_len().checked_add(frame_len) != Some(source.len_bytes()) {
            return Err(invalid("the kept leaves are cut short, or something follows them"));
        }
        Ok(Kept { source, header })
    }

    /// Returns of what file they are.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the leaves, one behind the other.
    pub fn leaves(&self) -> Part<'_, FileSource> {
        let len_bytes = self.header.leaves_len();
        Part::new(&self.source, HEADER_LEN as u64, len_bytes).expect("the length was compared")
    }

    /// Makes sure that the leaves are those that were written: by their check value, and by folding
    /// them up to the root.
    ///
    /// # Errors
    /// `InvalidData` if they are damaged; `Interrupted` if it was stopped; else whatever the system
    /// says.
    pub fn ensure_whole(&self, stop: &AtomicBool) -> io::Result<()> {
        let (leaves, len_bytes) = (self.leaves(), self.header.leaves_len());
        let mut tree = Tree::new(&self.header.params());
        let (mut check, mut start) = (0, 0);
        let mut piece = Vec::new();
        while start < len_bytes {
            if stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            piece.resize((len_bytes - start).min(PIECE_LEN) as usize, 0);
            leaves.read_exact_at(&mut piece, start)?;
            check = crc32c::crc32c_append(check, &piece);
            tree.push_all(&piece);
            start += piece.len() as u64;
        }
        let mut stored = [0; CHECK_LEN];
        self.source.read_exact_at(&mut stored, HEADER_LEN as u64 + len_bytes)?;
        if stored != check.to_le_bytes() || tree.root() != self.header.root {
            return Err(invalid("the kept leaves are damaged themselves"));
        }
        Ok(())
    }
}
