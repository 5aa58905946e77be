//! Chooses the SHA-256 kernels that hash pages fastest on this machine, by trying them.
//!
//! All pages have the same length, so lanes are always full and the kernels that are fastest with
//! full lanes win. Processors with the same instructions differ in which these are.

use std::sync::OnceLock;

use steadfast_digest::{Backend, Lanes, Message, Sha256};
use steadfast_sys::clock;
use steadfast_sys::file::AlignedBuffer;

/// Bytes of each page at each try, and how many there are: a multiple of any number of lanes.
const TRY_LEN_BYTES: usize = 4 << 10;
const TRY_PAGES: usize = 16;

/// Tries of each kernel. The fastest counts, since disturbances only make it slower.
const TRIES: usize = 3;

/// For fewer bytes than this, trying kernels would take longer than it saves.
const WORTH_TRYING_BYTES: u64 = 2 << 20;

/// Returns the kernels to use for this many bytes of pages.
pub(crate) fn lanes_for(len_bytes: u64) -> Lanes {
    static FASTEST: OnceLock<Lanes> = OnceLock::new();
    if len_bytes < WORTH_TRYING_BYTES {
        return Lanes::best(Backend::detect());
    }
    *FASTEST.get_or_init(|| {
        // Where there is a kernel of the processor's own, trying the portable one would take longer
        // than all others, and it would not win. Nor would fewer lanes than a kernel has.
        let others = Backend::detected().count() > 1;
        let tried = Backend::detected().filter(|backend| !others || backend.name() != "portable");
        let mut pages = AlignedBuffer::new(TRY_PAGES * TRY_LEN_BYTES);
        // Memory that was never written may be mapped to a single `vm_page`.
        pages.fill(0x5a);
        let fastest = tried.map(Lanes::best).min_by_key(|lanes| fastest_ns(*lanes, &pages));
        fastest.expect("the portable backend is always there")
    })
}

/// Returns how long it takes to hash some pages, all different, as those of a file are: of kernels
/// that read much at once some do well only on bytes that they have just seen.
fn fastest_ns(lanes: Lanes, pages: &[u8]) -> u64 {
    let tries = (0..TRIES).map(|_| {
        let mut hashers = [(); TRY_PAGES].map(|()| Sha256::new(lanes.backend()));
        let with_pages = hashers.iter_mut().zip(pages.chunks(TRY_LEN_BYTES));
        let mut messages: Vec<Message<'_>> =
            with_pages.map(|(hasher, data)| Message { hasher, data, last: true }).collect();
        let start_ns = clock::monotonic_ns();
        lanes.update(&mut messages);
        clock::monotonic_ns() - start_ns
    });
    tries.min().expect("there is at least one try")
}
