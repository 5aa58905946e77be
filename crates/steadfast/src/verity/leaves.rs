//! The leaves: hashes every page of a file separately, in lanes and in several threads.
//!
//! Takes bytes, in pieces of any length or from a source. Returns leaves, in order. Must not know
//! what they are used for.

use std::io;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use steadfast_digest::{Lanes, LastPage, Message, PageHasher, Sha512, Sha512Lanes, Sha512Rules};
use steadfast_sys::file::AlignedBuffer;

use super::{ReadOptions, SPAN_LEN, VerityHash, VerityParams};
use steadfast_sys::source::ReadAt;

/// Spans per thread whose leaves may wait for earlier ones.
const SPANS_AHEAD: usize = 2;

/// Hashes the pages of one file as its bytes arrive.
#[derive(Clone, Debug)]
pub struct LeafHasher {
    kind: HasherKind,
}

#[derive(Clone, Debug)]
enum HasherKind {
    Sha256(Box<PageHasher>),
    Sha512(Box<Sha512Pages>),
}

impl LeafHasher {
    /// Starts a file. The lanes are those of SHA-256; SHA-512 uses the widest available.
    pub fn new(params: &VerityParams, lanes: Lanes) -> LeafHasher {
        let kind = match params.hash {
            VerityHash::Sha256 => {
                let page_len = NonZeroUsize::new(params.page_len).expect("a page has bytes");
                let pages = PageHasher::new(lanes, page_len, LastPage::ZeroPadded);
                HasherKind::Sha256(Box::new(pages.prefixed(&params.prefix())))
            }
            VerityHash::Sha512 => HasherKind::Sha512(Box::new(Sha512Pages::new(params))),
        };
        LeafHasher { kind }
    }

    /// Takes the next bytes, and adds the leaf of every page that they complete to `leaves`.
    pub fn update(&mut self, data: &[u8], leaves: &mut Vec<u8>) {
        match &mut self.kind {
            HasherKind::Sha256(pages) => {
                pages.update(data, |leaf| leaves.extend_from_slice(leaf.as_bytes()));
            }
            HasherKind::Sha512(pages) => pages.update(data, leaves),
        }
    }

    /// Ends the file, and adds the leaf of the incomplete page, padded with zeros, if there is one.
    pub fn finish(self, leaves: &mut Vec<u8>) {
        match self.kind {
            HasherKind::Sha256(pages) => {
                pages.finish(|leaf| leaves.extend_from_slice(leaf.as_bytes()))
            }
            HasherKind::Sha512(pages) => pages.finish(leaves),
        }
    }
}

/// Pages under SHA-512. The digest crate hashes pages only with SHA-256.
#[derive(Clone, Debug)]
struct Sha512Pages {
    lanes: Sha512Lanes,
    page_len: usize,
    /// The state of a page before its first byte.
    fresh: Sha512,
    /// Bytes of the page that has begun and is not full.
    begun: Vec<u8>,
}

impl Sha512Pages {
    fn new(params: &VerityParams) -> Sha512Pages {
        let lanes = Sha512Lanes::widest();
        let mut fresh = Sha512::new(lanes.backend_alone());
        fresh.update(&params.prefix());
        Sha512Pages { lanes, page_len: params.page_len, fresh, begun: Vec::new() }
    }

    fn update(&mut self, mut data: &[u8], leaves: &mut Vec<u8>) {
        if !self.begun.is_empty() {
            let room = self.page_len - self.begun.len();
            let (start, rest) = data.split_at(room.min(data.len()));
            self.begun.extend_from_slice(start);
            data = rest;
            if self.begun.len() < self.page_len {
                return;
            }
            let page = std::mem::take(&mut self.begun);
            self.hash(&page, leaves);
        }
        let (whole, rest) = data.split_at(data.len() / self.page_len * self.page_len);
        self.hash(whole, leaves);
        self.begun.extend_from_slice(rest);
    }

    fn finish(mut self, leaves: &mut Vec<u8>) {
        if !self.begun.is_empty() {
            let mut page = std::mem::take(&mut self.begun);
            page.resize(self.page_len, 0);
            self.hash(&page, leaves);
        }
    }

    /// Hashes whole pages, in full lanes as far as possible.
    fn hash(&self, pages: &[u8], leaves: &mut Vec<u8>) {
        for run in pages.chunks(self.page_len * self.lanes.count()) {
            let mut hashers = vec![self.fresh.clone(); run.len() / self.page_len];
            let each = hashers.iter_mut().zip(run.chunks_exact(self.page_len));
            let mut messages: Vec<Message<'_, Sha512Rules>> =
                each.map(|(hasher, data)| Message { hasher, data, last: true }).collect();
            self.lanes.update(&mut messages);
            drop(messages);
            for hasher in hashers {
                leaves.extend_from_slice(hasher.finalize().as_bytes());
            }
        }
    }
}

/// Reads a source once and passes its leaves to `sink`, in order, several at a time.
///
/// # Errors
/// If the source cannot be read; `Interrupted` if it was stopped.
pub fn leaves(
    source: &dyn ReadAt,
    params: &VerityParams,
    options: &ReadOptions<'_>,
    sink: &mut dyn FnMut(&[u8]),
) -> io::Result<()> {
    let spans = source.len_bytes().div_ceil(SPAN_LEN as u64);
    let workers = (options.workers.get() as u64).min(spans);
    if workers <= 1 {
        let mut buffer = buffer_for(source.len_bytes());
        return (0..spans).try_for_each(|span| {
            sink(&leaves_of(source, params, options, span, &mut buffer)?);
            Ok(())
        });
    }
    thread::scope(|scope| {
        let mut receivers: Vec<Receiver<io::Result<Vec<u8>>>> = Vec::new();
        for first in 0..workers {
            let (sender, receiver) = sync_channel(SPANS_AHEAD);
            let work = move || send_leaves(source, params, options, first, workers, &sender);
            thread::Builder::new().spawn_scoped(scope, work)?;
            receivers.push(receiver);
        }
        for span in 0..spans {
            let receiver = &receivers[(span % workers) as usize];
            let leaves = receiver.recv().map_err(|_| io::Error::other("a thread failed"))?;
            sink(&leaves?);
        }
        Ok(())
    })
}

/// Sends the leaves of every nth span, until the receiver is gone.
fn send_leaves(
    source: &dyn ReadAt,
    params: &VerityParams,
    options: &ReadOptions<'_>,
    first: u64,
    step: u64,
    sender: &SyncSender<io::Result<Vec<u8>>>,
) {
    let spans = source.len_bytes().div_ceil(SPAN_LEN as u64);
    let mut buffer = buffer_for(source.len_bytes());
    let mut span = first;
    while span < spans {
        let leaves = leaves_of(source, params, options, span, &mut buffer);
        let failed = leaves.is_err();
        if sender.send(leaves).is_err() || failed {
            return;
        }
        span += step;
    }
}

/// Returns a buffer for one span of a file of this length. It is aligned, because some processors
/// copy at half speed to memory that begins a few bytes after a page boundary, as large vectors do.
pub(super) fn buffer_for(len_bytes: u64) -> AlignedBuffer {
    AlignedBuffer::new(len_bytes.min(SPAN_LEN as u64) as usize)
}

/// Reads one span and returns its leaves.
fn leaves_of(
    source: &dyn ReadAt,
    params: &VerityParams,
    options: &ReadOptions<'_>,
    span: u64,
    buffer: &mut [u8],
) -> io::Result<Vec<u8>> {
    options.go_on()?;
    let start = span * SPAN_LEN as u64;
    let len = (source.len_bytes() - start).min(SPAN_LEN as u64) as usize;
    let bytes = &mut buffer[..len];
    source.read_exact_at(bytes, start)?;
    Ok(hash_span(params, options.lanes, bytes))
}

/// Returns the leaves of bytes that begin with a page.
pub(super) fn hash_span(params: &VerityParams, lanes: Lanes, data: &[u8]) -> Vec<u8> {
    let pages = data.len().div_ceil(params.page_len);
    let mut leaves = Vec::with_capacity(pages * params.hash.digest_len());
    let mut hasher = LeafHasher::new(params, lanes);
    hasher.update(data, &mut leaves);
    hasher.finish(&mut leaves);
    leaves
}
