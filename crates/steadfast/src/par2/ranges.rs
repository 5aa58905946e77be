//! The MD5 of many parts of a file at once, one in each lane.

use std::io;
use std::sync::atomic::AtomicBool;

use steadfast_digest::{BlockHasher, Md5, Md5Lanes, Md5Rules, Message};
use steadfast_sys::source::ReadAt as _;

use super::go_on;
use crate::pages::Descriptor;

/// Bytes of each part that are read at a time.
const PIECE_LEN: usize = 64 << 10;

/// A part of a file, filled with zeros to a length.
#[derive(Clone, Copy, Debug)]
pub(super) struct HashedPart {
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) padded_len: u64,
}

impl HashedPart {
    pub(super) fn whole(start: u64, len: u64) -> HashedPart {
        HashedPart { start, len, padded_len: len }
    }

    /// Reads bytes of the part, from a place in it on.
    pub(super) fn read(
        &self,
        source: &Descriptor<'_>,
        at: u64,
        bytes: &mut [u8],
    ) -> io::Result<()> {
        let there = self.len.saturating_sub(at).min(bytes.len() as u64) as usize;
        let (data, zeros) = bytes.split_at_mut(there);
        zeros.fill(0);
        source.read_exact_at(data, self.start + at)
    }
}

/// Returns the digest of each part; `None` for one that cannot be read.
///
/// # Errors
/// `Interrupted` if it was stopped.
pub(super) fn digests(
    source: &Descriptor<'_>,
    parts: &[HashedPart],
    stop: &AtomicBool,
) -> io::Result<Vec<Option<[u8; 16]>>> {
    let lanes = Md5Lanes::widest();
    let longest = parts.iter().map(|part| part.padded_len).max().unwrap_or(0);
    let piece_len = longest.clamp(1, PIECE_LEN as u64) as usize;
    let mut buffer = vec![0; piece_len * lanes.count().min(parts.len())];
    let mut found = Vec::with_capacity(parts.len());
    for group in parts.chunks(lanes.count()) {
        let mut hashers: Vec<Md5> = group.iter().map(|_| Md5::new(lanes.backend())).collect();
        let mut failed = vec![false; group.len()];
        let mut at = 0;
        while group.iter().any(|part| at < part.padded_len || at == 0) {
            go_on(stop)?;
            let mut messages: Vec<Message<'_, Md5Rules>> = Vec::with_capacity(group.len());
            let slots = hashers.iter_mut().zip(buffer.chunks_mut(piece_len)).zip(&mut failed);
            for (part, ((hasher, bytes), failed)) in group.iter().zip(slots) {
                if at > 0 && at >= part.padded_len {
                    continue;
                }
                let len = (part.padded_len - at).min(piece_len as u64) as usize;
                *failed |= part.read(source, at, &mut bytes[..len]).is_err();
                let last = at + len as u64 == part.padded_len;
                messages.push(Message { hasher, data: &bytes[..len], last });
            }
            lanes.update(&mut messages);
            at += piece_len as u64;
        }
        let digest = |hasher: &BlockHasher<Md5Rules>| {
            let digest = hasher.digest();
            std::array::from_fn(|at| digest.as_bytes()[at])
        };
        found.extend(
            hashers.iter().zip(failed).map(|(hasher, failed)| (!failed).then(|| digest(hasher))),
        );
    }
    Ok(found)
}
