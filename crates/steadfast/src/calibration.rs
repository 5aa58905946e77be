//! Determines by trial which SHA-256 lanes are fastest on this machine.
//!
//! Takes the backends that this processor has. Returns [`Lanes`]. Processors with the same
//! instructions differ: two SHA-NI lanes are 1.8 times as fast as one on some, and only 1.3 times
//! on others, where sixteen AVX-512 lanes are then twice as fast. A trial takes about a
//! millisecond, so a process does it once, and only if there is enough to hash.

use std::fmt;
use std::sync::OnceLock;

use steadfast_digest::{Backend, Lanes, Message, Sha256};
use steadfast_sys::clock;

/// Bytes hashed in each lane in each trial: enough to outweigh the call, and still quick.
const TRY_LEN_BYTES: usize = 4 << 10;

/// Trials of each choice. The fastest counts, because disturbances only make a trial slower.
const TRIES: usize = 7;

/// A kernel with at most this many lanes also suits a few large files.
const NARROW_LANES_MAX: usize = 4;

/// A wider kernel must be faster by this factor, because its lanes are often partly empty at the
/// end.
const WIDE_GAIN_MIN: f64 = 1.1;

/// More lanes of the same backend must be faster by this factor to justify the longer wait.
const MORE_LANES_GAIN_MIN: f64 = 1.03;

/// From this many bytes on, the fastest lanes save more time than trying them takes.
pub(crate) const WORTH_TRYING_BYTES: u64 = 8 << 20;

/// The fastest lanes, once they have been tried.
static FASTEST: OnceLock<Lanes> = OnceLock::new();

/// Returns the fastest SHA-256 lanes of this machine, which are the default for a run with enough
/// to hash. The first call tries them.
pub fn fastest_lanes() -> Lanes {
    *FASTEST.get_or_init(|| choose(&mut rate_bytes_per_ns))
}

/// Returns lanes for this many bytes: the fastest, unless trying them would take too long.
pub(crate) fn lanes_for(bytes: u64) -> Lanes {
    match FASTEST.get() {
        Some(fastest) => *fastest,
        None if bytes >= WORTH_TRYING_BYTES => fastest_lanes(),
        None => Lanes::best(Backend::detect()),
    }
}

/// The SHA-256 lanes that a run is to use.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LaneChoice {
    /// Requested lanes.
    Fixed(Lanes),
    /// The fastest lanes. Until they have been tried, a default.
    Fastest,
}

impl LaneChoice {
    /// Returns the lanes to use now.
    pub(crate) fn now(self) -> Lanes {
        match self {
            LaneChoice::Fixed(lanes) => lanes,
            LaneChoice::Fastest => lanes_for(0),
        }
    }

    /// Returns whether the lanes still have to be tried.
    pub(crate) fn is_untried(self) -> bool {
        matches!(self, LaneChoice::Fastest) && FASTEST.get().is_none()
    }
}

impl fmt::Display for LaneChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.now().fmt(f)
    }
}

fn choose(rate_of: &mut dyn FnMut(Lanes) -> f64) -> Lanes {
    let mut narrow: Option<(Lanes, f64)> = None;
    let mut wide: Option<(Lanes, f64)> = None;
    for backend in Backend::detected() {
        for &count in backend.lane_choices() {
            let lanes = Lanes::new(backend, count).expect("the backend offers it");
            let rate = rate_of(lanes);
            let best = if count <= NARROW_LANES_MAX { &mut narrow } else { &mut wide };
            if best.is_none_or(|(_, best)| rate > MORE_LANES_GAIN_MIN * best) {
                *best = Some((lanes, rate));
            }
        }
    }
    let (narrow, narrow_rate) = narrow.expect("the portable backend is always there");
    match wide {
        Some((wide, rate)) if rate > WIDE_GAIN_MIN * narrow_rate => {
            // A wide kernel takes as long for one message as for all of its lanes.
            let wide_from = (wide.count() as f64 * narrow_rate / rate).ceil() as usize;
            wide.with_narrow(narrow, wide_from)
        }
        _ => narrow,
    }
}

fn rate_bytes_per_ns(lanes: Lanes) -> f64 {
    let data = [0x5a; TRY_LEN_BYTES];
    let fastest_ns = (0..TRIES).map(|_| {
        let mut hashers: Vec<Sha256> =
            (0..lanes.count()).map(|_| Sha256::new(lanes.backend())).collect();
        let mut messages: Vec<Message<'_>> =
            hashers.iter_mut().map(|hasher| Message { hasher, data: &data, last: false }).collect();
        let start_ns = clock::monotonic_ns();
        lanes.update(&mut messages);
        clock::monotonic_ns() - start_ns
    });
    let fastest_ns = fastest_ns.min().expect("there is at least one try").max(1);
    (lanes.count() * TRY_LEN_BYTES) as f64 / fastest_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_lanes_are_taken_only_where_they_win() {
        let has_wide = Backend::detected().any(|backend| backend.lanes_max() > NARROW_LANES_MAX);
        let flat = choose(&mut |_| 1.0);
        assert!(flat.count() <= NARROW_LANES_MAX);
        let favoured = choose(&mut |lanes| if lanes.count() > 4 { 2.0 } else { 1.0 });
        assert_eq!(favoured.count() > NARROW_LANES_MAX, has_wide);
        if has_wide {
            let half = favoured.count() / 2;
            assert!(favoured.to_string().contains(&format!("below {half}")), "{favoured}");
        }
        let few = choose(&mut |lanes| if lanes.count() == 2 { 2.0 } else { 1.0 });
        let has_two = Backend::detected().any(|backend| backend.lane_choices().contains(&2));
        assert_eq!(few.count() == 2, has_two);
    }
}
