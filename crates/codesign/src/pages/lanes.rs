//! Which SHA-256 kernels hash pages fastest here, by trying them.
//!
//! In: the kernels that this processor has. Out: one of them. Must not know: pages of what. All
//! pages are equally long, so lanes are always full, and the fastest full ones win. Which those are
//! differs between processors with the same instructions.

use std::sync::OnceLock;

use steadfast_digest::{Backend, Lanes, Message, Sha256};
use steadfast_sys::clock;

/// Bytes of each page at each try.
const TRY_LEN_BYTES: usize = 4 << 10;

/// Tries of each; the fastest counts, since all that disturbs makes slower.
const TRIES: usize = 5;

/// Fewer bytes than this are hashed with the first kernels at hand: trying would take longer.
const WORTH_TRYING_BYTES: u64 = 8 << 20;

/// Returns kernels that suit so many bytes of pages.
pub(super) fn lanes_for(len_bytes: u64) -> Lanes {
    static FASTEST: OnceLock<Lanes> = OnceLock::new();
    if len_bytes < WORTH_TRYING_BYTES {
        return Lanes::best(Backend::detect());
    }
    *FASTEST.get_or_init(|| {
        // Where there is a kernel of the processor's own, trying the portable one would take longer
        // than all others, and it would not win.
        let others = Backend::detected().count() > 1;
        let tried = Backend::detected().filter(|backend| !others || backend.name() != "portable");
        let choices = tried.flat_map(|backend| {
            let counts = backend.lane_choices().iter().copied();
            counts.map(move |count| Lanes::new(backend, count).expect("the backend offers it"))
        });
        let fastest = choices.min_by_key(|lanes| fastest_ns(*lanes) / lanes.count() as u64);
        fastest.expect("the portable backend is always there")
    })
}

/// Returns how long pages in all lanes take.
fn fastest_ns(lanes: Lanes) -> u64 {
    let data = [0x5a; TRY_LEN_BYTES];
    let tries = (0..TRIES).map(|_| {
        let mut hashers: Vec<Sha256> =
            (0..lanes.count()).map(|_| Sha256::new(lanes.backend())).collect();
        let mut messages: Vec<Message<'_>> =
            hashers.iter_mut().map(|hasher| Message { hasher, data: &data, last: true }).collect();
        let start_ns = clock::monotonic_ns();
        lanes.update(&mut messages);
        clock::monotonic_ns() - start_ns
    });
    tries.min().expect("there is at least one try")
}
