//! Divides one message into pages and hashes each page separately, in lanes.
//!
//! Takes the bytes of the message in pieces of any length. Returns page digests, in order. Must not
//! know signatures, trees, or the source of the message.

use std::num::NonZeroUsize;

use crate::digest::PageDigest;
use crate::hasher::Sha256;
use crate::lanes::{Lanes, Message};

/// Pages passed to the lanes in one call.
///
/// A multiple of every lane count, so that no lane is idle in a long run of pages, and several
/// times the widest, so that the cost per call is negligible.
const BATCH_LEN: usize = 32;

/// The treatment of a last page that the message does not fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastPage {
    /// It is hashed without padding, as in Apple's code signatures.
    AsIs,
    /// It is padded with zero bytes first, as in fs-verity.
    ZeroPadded,
}

/// Hashes the pages of one message as its bytes arrive, in constant memory.
#[derive(Clone, Debug)]
pub struct PageHasher {
    lanes: Lanes,
    page_len: usize,
    last_page: LastPage,
    /// The state of a page before its first byte.
    fresh: Sha256,
    /// The page that has begun and is not full.
    current: Sha256,
    current_len: usize,
}

impl PageHasher {
    /// Starts a message; `page_len` is in bytes.
    pub fn new(lanes: Lanes, page_len: NonZeroUsize, last_page: LastPage) -> PageHasher {
        let fresh = Sha256::new(lanes.backend_alone());
        let page_len = page_len.get();
        PageHasher { lanes, page_len, last_page, current: fresh.clone(), fresh, current_len: 0 }
    }

    /// Adds the same bytes before every page, as in a salted fs-verity digest.
    ///
    /// # Panics
    /// If bytes of the message were taken already.
    pub fn prefixed(mut self, prefix: &[u8]) -> PageHasher {
        assert!(self.current.length() == self.fresh.length(), "the message has begun already");
        self.fresh.update(prefix);
        self.current = self.fresh.clone();
        self
    }

    /// Takes the next bytes, and passes the digest of every page that they complete to `sink`, in
    /// order.
    pub fn update(&mut self, mut data: &[u8], mut sink: impl FnMut(PageDigest)) {
        while data.len() >= self.page_len - self.current_len {
            let mut room = self.page_len - self.current_len;
            let mut hashers: [Sha256; BATCH_LEN] = std::array::from_fn(|_| self.fresh.clone());
            std::mem::swap(&mut hashers[0], &mut self.current);
            self.current_len = 0;
            let mut pages = 0;
            let mut messages = hashers.each_mut().map(|hasher| {
                let Some((page, rest)) = data.split_at_checked(room) else {
                    return Message { hasher, data: &[], last: false };
                };
                data = rest;
                room = self.page_len;
                pages += 1;
                Message { hasher, data: page, last: true }
            });
            self.lanes.update(&mut messages[..pages]);
            for hasher in &hashers[..pages] {
                sink(PageDigest::from_bytes(hasher.digest_bytes()));
            }
        }
        self.current.update(data);
        self.current_len += data.len();
    }

    /// Ends the message, and passes the digest of the incomplete page, if there is one, to `sink`.
    ///
    /// An empty message has no pages.
    pub fn finish(mut self, mut sink: impl FnMut(PageDigest)) {
        const ZEROS: [u8; 4096] = [0; 4096];
        if self.current_len == 0 {
            return;
        }
        if self.last_page == LastPage::ZeroPadded {
            let mut missing = self.page_len - self.current_len;
            while missing > 0 {
                let zeros = &ZEROS[..missing.min(ZEROS.len())];
                self.current.update(zeros);
                missing -= zeros.len();
            }
        }
        self.current.finish();
        sink(PageDigest::from_bytes(self.current.digest_bytes()));
    }
}

/// Hashes every page of a message that is completely in memory.
///
/// Shape: digest `i` covers the bytes from `i * page_len` on; an empty message has none.
pub fn page_digests(
    lanes: Lanes,
    page_len: NonZeroUsize,
    last_page: LastPage,
    data: &[u8],
) -> Vec<PageDigest> {
    let mut digests = Vec::with_capacity(data.len().div_ceil(page_len.get()));
    let mut hasher = PageHasher::new(lanes, page_len, last_page);
    hasher.update(data, |digest| digests.push(digest));
    hasher.finish(|digest| digests.push(digest));
    digests
}
