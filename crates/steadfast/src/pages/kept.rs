//! Reads stored leaves: their header at once, and all of them for verification.
//!
//! Leaves of a file that is cut, damaged, or belongs to other contents than those of the requested
//! tag are not accepted.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_sys::file::{Dir, File};
use steadfast_sys::source::{FileSource, Part, ReadAt as _};
use steadfast_sys::xattr;

use super::header::{HEADER_LEN, Header, MAGIC, invalid};
use crate::verity::Tree;

/// Length of the check value after the leaves, in bytes.
pub(crate) const CHECK_LEN: usize = 4;

/// Bytes of leaves that are hashed at a time: a multiple of any leaf.
const PIECE_LEN: u64 = 256 << 10;

/// A longer file of zeros is not taken for damaged leaves: they would be those of 8 GiB.
const ZEROS_LEN_MAX: u64 = 64 << 20;

/// Returns whether a file with the name of leaves was made by this program, complete or damaged: it
/// has the mark, begins like leaves, or consists of zeros, as after a loss of power.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn is_ours(file: &File) -> io::Result<bool> {
    let mut head = [0; MAGIC.len()];
    let len = file.read_at(&mut head, 0)?;
    // On file systems without attributes, the mark cannot decide.
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

/// An open file of leaves.
#[derive(Debug)]
pub struct Kept {
    source: FileSource,
    header: Header,
}

impl Kept {
    /// Opens leaves and reads their header.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or is a symlink; `InvalidData` if it is a file of another kind,
    /// damaged or cut.
    pub fn open(path: &Path) -> io::Result<Kept> {
        let (dir, name) = Dir::parent_of(path)?;
        Kept::open_in(&dir, &name)
    }

    /// Opens leaves in a directory.
    ///
    /// # Errors
    ///
    /// As [`Kept::open`].
    pub(crate) fn open_in(dir: &Dir, name: &OsStr) -> io::Result<Kept> {
        Kept::read(dir.open_file(name)?)
    }

    /// Reads the header of an open file of leaves.
    ///
    /// # Errors
    ///
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

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the leaves, without separators.
    pub fn leaves(&self) -> Part<'_, FileSource> {
        let len_bytes = self.header.leaves_len();
        Part::new(&self.source, HEADER_LEN as u64, len_bytes).expect("the length was compared")
    }

    /// Verifies the leaves by their check value and by the root of their tree.
    ///
    /// # Errors
    ///
    /// `InvalidData` if they are damaged; `Interrupted` if it was stopped; or if they cannot be
    /// read.
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
