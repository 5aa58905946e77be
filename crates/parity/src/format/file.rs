//! A parity file as a whole: written in one pass, read from whatever is left of it.

use std::io::{self, Write};

use steadfast_digest::sha256;

use super::blocks::{BLOCK_LEN, BlockOf, CONTENT_LEN};
use super::header::{SetHeader, SetOrigin};
use super::index::SetIndex;
use crate::code::ParityPages;
use crate::error::{Error, ErrorKind};
use crate::geometry::PAGE_LEN;

/// Reads exactly so many bytes at an offset of a file.
pub type ReadAtFn<'a> = dyn FnMut(u64, &mut [u8]) -> io::Result<()> + 'a;

/// An open parity file: its header and its index, from whichever copy is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFile {
    header: SetHeader,
    index: SetIndex,
    len_bytes: u64,
    damaged_blocks: u32,
}

impl SetFile {
    /// Writes a parity file.
    ///
    /// # Errors
    /// Those of the output; `InvalidInput` if the index and the parity are of different geometry.
    pub fn write(
        index: &SetIndex,
        parity: &ParityPages,
        origin: SetOrigin,
        out: &mut dyn Write,
    ) -> io::Result<SetHeader> {
        let to_io = |error: Error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let geometry = index.geometry();
        if parity.geometry() != geometry {
            let message = "the parity is of another set than the index";
            return Err(to_io(Error::new(ErrorKind::Usage, message)));
        }
        let bytes = index.encode().map_err(to_io)?;
        let digest = sha256(&bytes);
        let header = SetHeader {
            geometry,
            origin,
            index_len: bytes.len() as u64,
            index_digest: std::array::from_fn(|at| digest.as_bytes()[at]),
        };
        out.write_all(&header.encode())?;
        write_blocks(&header, &bytes, out)?;
        for page in 0..geometry.parity_pages() {
            out.write_all(parity.page(page))?;
        }
        write_blocks(&header, &bytes, out)?;
        out.write_all(&header.encode())?;
        Ok(header)
    }

    /// Reads the header and the index of a parity file that is `len_bytes` long. Memory is bounded
    /// by the file's length and by [`super::INDEX_LEN_MAX`].
    ///
    /// # Errors
    /// `Unrecognised` if neither end has a header of a known version; `Damaged` if some block of
    /// the index is damaged in both copies; `Invalid` if a writer of the format would not have
    /// written it.
    pub fn read(len_bytes: u64, read: &mut ReadAtFn<'_>) -> Result<SetFile, Error> {
        let mut block = [0; BLOCK_LEN];
        let mut header_at = |offset: Option<u64>| match offset.map(|at| read(at, &mut block)) {
            Some(Ok(())) => SetHeader::decode(&block),
            Some(Err(error)) => Err(unreadable(&error)),
            None => Err(Error::new(ErrorKind::Unrecognised, "this is not a parity file")),
        };
        let front = header_at(Some(0));
        let back = header_at(len_bytes.checked_sub(BLOCK_LEN as u64));
        let damaged_headers = u32::from(front.is_err()) + u32::from(back.is_err());
        // The error of the front is told if there is no header, the one of the index otherwise.
        let mut outcome = Err(Error::new(ErrorKind::Damaged, "the headers are damaged"));
        let headers = [front, back.clone()];
        if let [Err(error), Err(_)] = &headers {
            outcome = Err(error.clone());
        }
        for header in headers.into_iter().flatten() {
            let mut blocks = IndexCopies { header: &header, len_bytes, damaged: damaged_headers };
            match blocks.index(read) {
                Ok(index) => {
                    let damaged_blocks = blocks.damaged;
                    return Ok(SetFile { header, index, len_bytes, damaged_blocks });
                }
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }

    /// Returns the header.
    pub fn header(&self) -> &SetHeader {
        &self.header
    }

    /// Returns the index.
    pub fn index(&self) -> &SetIndex {
        &self.index
    }

    /// Returns how many blocks of the header and the index are damaged or missing, of both copies.
    pub fn damaged_blocks(&self) -> u32 {
        self.damaged_blocks
    }

    /// Says whether the file has the length that it had when it was written.
    pub fn has_its_length(&self) -> bool {
        self.len_bytes == self.header.file_len()
    }

    /// Reads a parity page. Returns `false` if it is damaged or unreadable.
    ///
    /// # Panics
    /// If the set has no such page.
    pub fn read_parity(&self, page: u32, read: &mut ReadAtFn<'_>, bytes: &mut [u8]) -> bool {
        assert!(page < self.header.geometry.parity_pages(), "the set has fewer parity pages");
        let index_len = u64::from(1 + self.header.index_blocks()) * BLOCK_LEN as u64;
        let from_front = index_len + u64::from(page) * PAGE_LEN as u64;
        // If bytes were cut off or put in before the page, its distance from the end remains.
        let from_back = self.header.file_len() - from_front;
        let mut offsets = vec![from_front];
        offsets.extend(self.len_bytes.checked_sub(from_back).filter(|at| *at != from_front));
        offsets.into_iter().any(|at| {
            let is_there = at.checked_add(PAGE_LEN as u64).is_some_and(|end| end <= self.len_bytes);
            is_there && read(at, bytes).is_ok() && self.index.is_parity(page, bytes)
        })
    }
}

fn unreadable(error: &io::Error) -> Error {
    Error::new(ErrorKind::Damaged, format!("the header cannot be read: {error}"))
}

fn write_blocks(header: &SetHeader, index: &[u8], out: &mut dyn Write) -> io::Result<()> {
    for (number, content) in (0..).zip(index.chunks(CONTENT_LEN)) {
        out.write_all(&BlockOf { set: header.set(), number }.encode(content))?;
    }
    Ok(())
}

/// The two copies of the index that a header speaks of.
struct IndexCopies<'a> {
    header: &'a SetHeader,
    len_bytes: u64,
    damaged: u32,
}

impl IndexCopies<'_> {
    /// Merges the two copies, block by block.
    fn index(&mut self, read: &mut ReadAtFn<'_>) -> Result<SetIndex, Error> {
        let blocks = self.header.index_blocks();
        let blocks_len = u64::from(blocks) * BLOCK_LEN as u64;
        if blocks_len > self.len_bytes {
            let message = "the parity file is shorter than one copy of its index";
            return Err(Error::new(ErrorKind::Damaged, message));
        }
        let behind = blocks_len + BLOCK_LEN as u64;
        let starts = [Some(BLOCK_LEN as u64), self.len_bytes.checked_sub(behind)];
        let mut bytes = Vec::with_capacity(blocks as usize * CONTENT_LEN);
        let mut block = [0; BLOCK_LEN];
        for number in 0..blocks {
            let of = BlockOf { set: self.header.set(), number };
            let mut found = false;
            for start in starts {
                let at = start.map(|start| start + u64::from(number) * BLOCK_LEN as u64);
                let content = at
                    .filter(|at| at + BLOCK_LEN as u64 <= self.len_bytes)
                    .filter(|at| read(*at, &mut block).is_ok())
                    .and_then(|_| of.content(&block));
                match content {
                    Some(content) if !found => {
                        bytes.extend_from_slice(content);
                        found = true;
                    }
                    Some(_) => {}
                    None => self.damaged += 1,
                }
            }
            if !found {
                let message = format!("block {number} of the index is damaged in both copies");
                return Err(Error::new(ErrorKind::Damaged, message));
            }
        }
        bytes.truncate(self.header.index_len as usize);
        if sha256(&bytes).as_bytes() != self.header.index_digest {
            let message = "the index is damaged: its digest is not that of the header";
            return Err(Error::new(ErrorKind::Damaged, message));
        }
        SetIndex::decode(self.header.geometry, &bytes)
    }
}
