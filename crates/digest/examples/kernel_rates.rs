//! Measures every kernel that this processor runs, for a comparison of builds.
//!
//! In: nothing. Out: a line per kernel on stdout: GB/s of this thread's processor time, then the
//! algorithm, the backend and the lanes. `cargo xtask test --only kernels` builds it with several
//! profiles and compares the figures. The digests are checked before a figure is printed.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use steadfast_digest::{
    AlgorithmHasher, Backend, BlockHasher, LanesOf, Md5Rules, Message, Rules, Sha256Rules,
    Sha512Rules,
};

/// Bytes per message and call.
const MESSAGE_LEN: usize = 16 * 1024;
/// Bytes per sample: 1 to 10 ms.
const SAMPLE_LEN: usize = 4 << 20;
/// The fastest sample counts: what slows a sample down is other work on the machine.
const SAMPLES: usize = 5;

fn main() {
    print_rates::<Sha256Rules>(1);
    // One lane of the others is a library's, except for MD5 with AVX-512.
    print_rates::<Sha512Rules>(2);
    print_rates::<Md5Rules>(2);
}

/// Prints the rate of every kernel of an algorithm that has at least so many lanes.
fn print_rates<A: Rules>(lanes_min: usize) {
    let data: Vec<u8> =
        (0..MESSAGE_LEN * Backend::LANES_MAX).map(|i| ((i * 31) >> 3) as u8).collect();
    for backend in Backend::detected() {
        let lanes = (lanes_min..=Backend::LANES_MAX)
            .filter_map(|count| LanesOf::<A>::new(backend, count).ok());
        for lanes in lanes {
            check(lanes, &data);
            println!("{:.4} {} {lanes}", rate_gb_per_s(lanes, &data), lanes.algorithm());
        }
    }
}

fn rate_gb_per_s<A: Rules>(lanes: LanesOf<A>, data: &[u8]) -> f64 {
    let mut hashers = vec![BlockHasher::<A>::new(lanes.backend()); lanes.count()];
    let calls = SAMPLE_LEN / MESSAGE_LEN / lanes.count();
    let mut fastest = Duration::MAX;
    for _ in 0..SAMPLES {
        let start = thread_cpu_time();
        for _ in 0..calls {
            update(lanes, &mut hashers, data, false);
        }
        fastest = fastest.min(thread_cpu_time() - start);
        black_box(&hashers);
    }
    (calls * lanes.count() * MESSAGE_LEN) as f64 / fastest.as_secs_f64() / 1e9
}

fn update<A: Rules>(lanes: LanesOf<A>, hashers: &mut [BlockHasher<A>], data: &[u8], last: bool) {
    let messages = hashers.iter_mut().zip(data.chunks(MESSAGE_LEN));
    let mut messages: Vec<Message<'_, A>> =
        messages.map(|(hasher, data)| Message { hasher, data, last }).collect();
    lanes.update(&mut messages);
}

fn check<A: Rules>(lanes: LanesOf<A>, data: &[u8]) {
    let mut hashers = vec![BlockHasher::<A>::new(lanes.backend()); lanes.count()];
    update(lanes, &mut hashers, data, true);
    for (hasher, data) in hashers.iter().zip(data.chunks(MESSAGE_LEN)) {
        let mut alone = AlgorithmHasher::new(lanes.algorithm());
        alone.update(data);
        assert_eq!(hasher.digest(), alone.finalize(), "{lanes:?}");
    }
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("processor time is not negative")
}
