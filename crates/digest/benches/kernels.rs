//! How fast every backend is here, at every lane count, with the bytes in cache.
//!
//! In: nothing. Out: a table on stdout: GB/s of this thread's processor time, ratios to the first
//! row and to `openssl speed` of the same algorithm. Rows are a backend and its lanes on long
//! messages, on fewer messages than lanes, on a mix of short ones, on pages; then the algorithms
//! one message at a time; last, for reference, two SHA-NI lanes of Intel's multi-buffer library,
//! where a C compiler finds it (Debian: libipsec-mb-dev). Run with
//! `cargo bench -p steadfast-digest`; a word behind `--` keeps only the rows that contain it.
//!
//! The rows take turns inside every repetition, so that a slow spell of the machine hits all of
//! them. The digests of long messages and of pages are checked before a figure is shown.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::process::Command;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use steadfast_digest::{
    Algorithm, AlgorithmHasher, Backend, BlockHasher, Lanes, LanesOf, LastPage, Md5Rules, Message,
    Rules, Sha512Rules, page_digests, sha256,
};

/// Bytes per message and call: what `openssl speed` is asked for too.
const MESSAGE_LEN: usize = 16 * 1024;
/// Bytes per row and repetition: 5 to 50 ms.
const SAMPLE_LEN: usize = 16 << 20;
/// Active messages from which sixteen lanes beat two: two thirds, by the rates of the rows.
const WIDE_FROM: usize = 10;
/// Messages at once that do not fill the lanes.
const MESSAGES_FEW: [usize; 4] = [1, 2, 3, 5];
const REPETITIONS: usize = 25;
/// `openssl speed` takes a whole second, so it has a turn in some repetitions only.
const REPETITIONS_PER_OPENSSL: usize = 5;

/// One row of the table.
struct Row {
    name: String,
    algorithm: Algorithm,
    /// Takes one sample: GB/s.
    sample: Box<dyn FnMut() -> f64>,
    /// GB/s, one per repetition.
    rates: Vec<f64>,
}

impl Row {
    fn new(
        name: String,
        algorithm: Algorithm,
        sample_len: usize,
        mut work: impl FnMut() + 'static,
    ) -> Row {
        let sample = move || {
            let start = thread_cpu_time();
            work();
            sample_len as f64 / (thread_cpu_time() - start).as_secs_f64() / 1e9
        };
        Row { name, algorithm, sample: Box::new(sample), rates: Vec::new() }
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let sha256 =
        lanes_of().flat_map(|lanes| [lanes_row(lanes), small_files_row(lanes), pages_row(lanes)]);
    let mut rows: Vec<Row> = sha256
        .chain(wide_and_narrow())
        .chain(rows_beside::<Sha512Rules>())
        .chain(rows_beside::<Md5Rules>())
        .chain(Algorithm::ALL.iter().map(|algorithm| algorithm_row(*algorithm)))
        .chain(ipsec_mb_row())
        .filter(|row| wanted.is_empty() || wanted.iter().any(|part| row.name.contains(part)))
        .collect();
    let mut peers: Vec<Peer> = Vec::new();
    for row in &rows {
        if !peers.iter().any(|peer| peer.algorithm == row.algorithm) {
            peers.push(Peer { algorithm: row.algorithm, rates: Vec::new() });
        }
    }
    for repetition in 0..REPETITIONS {
        for row in &mut rows {
            row.rates.push((row.sample)());
        }
        if repetition % REPETITIONS_PER_OPENSSL == 0 {
            peers.iter_mut().for_each(Peer::take_turn);
        }
    }
    report(&rows, &peers);
}

/// `openssl speed` of one algorithm.
struct Peer {
    algorithm: Algorithm,
    /// GB/s, one per turn; none if it does not know the algorithm.
    rates: Vec<f64>,
}

impl Peer {
    fn take_turn(&mut self) {
        let name = match self.algorithm {
            Algorithm::Blake3 | Algorithm::Xxh3_128 => return,
            Algorithm::Xxh64 | Algorithm::Xxh3_64 => return,
            Algorithm::Crc32c | Algorithm::Crc32 => return,
            Algorithm::Crc64Nvme | Algorithm::Fletcher64 => return,
            Algorithm::Blake2b => "blake2b512",
            known => known.name(),
        };
        self.rates.extend(openssl_gb_per_s(name));
    }
}

/// Prints a line per row. Ratios are medians of the ratios inside each repetition.
fn report(rows: &[Row], peers: &[Peer]) {
    for Peer { algorithm, rates } in peers.iter().filter(|peer| !peer.rates.is_empty()) {
        println!("openssl speed {algorithm}: {:.3} GB/s, median", median(rates));
    }
    if peers.iter().all(|peer| peer.rates.is_empty()) {
        println!("skipped: no openssl tool here");
    }
    println!("{:>25}  median  slowest  fastest GB/s  x first row  x openssl", "");
    for row in rows {
        let pairs = row.rates.iter().zip(&rows[0].rates);
        let to_first: Vec<f64> = pairs.map(|(rate, first)| rate / first).collect();
        let turns = row.rates.iter().step_by(REPETITIONS_PER_OPENSSL);
        let peer = peers.iter().find(|peer| peer.algorithm == row.algorithm);
        let openssl = peer.map_or(&[][..], |peer| &peer.rates);
        let to_openssl: Vec<f64> = turns.zip(openssl).map(|(rate, other)| rate / other).collect();
        println!(
            "{:>25} {:7.3} {:8.3} {:8.3} {:18.2} {:10.2}",
            row.name,
            median(&row.rates),
            row.rates.iter().copied().fold(f64::INFINITY, f64::min),
            row.rates.iter().copied().fold(0.0, f64::max),
            median(&to_first),
            median(&to_openssl),
        );
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Every backend at every lane count.
fn lanes_of<A: Rules>() -> impl Iterator<Item = LanesOf<A>> {
    let counts = |backend| (1..=Backend::LANES_MAX).map(move |count| (backend, count));
    let all = Backend::detected().flat_map(counts);
    all.filter_map(|(backend, count)| LanesOf::new(backend, count).ok())
}

/// The rows of an algorithm that has lanes beside SHA-256.
fn rows_beside<A: Rules>() -> Vec<Row> {
    let wide = lanes_of::<A>().filter(|lanes| lanes.count() > 1);
    let wide = wide.flat_map(|lanes| [lanes_row(lanes), small_files_row(lanes)]);
    let few = MESSAGES_FEW.map(|count| few_messages_row(LanesOf::<A>::widest(), count));
    wide.chain(few).collect()
}

/// The name of a row: SHA-256 goes without saying.
fn label<A: Rules>(lanes: LanesOf<A>) -> String {
    match lanes.algorithm() {
        Algorithm::Sha256 => lanes.to_string(),
        other => format!("{other} {lanes}"),
    }
}

/// A row that advances as many messages as there are lanes.
fn lanes_row<A: Rules>(lanes: LanesOf<A>) -> Row {
    let full = few_messages_row(lanes, lanes.count());
    Row { name: label(lanes), ..full }
}

/// A row that advances `count` messages, fewer than there are lanes.
fn few_messages_row<A: Rules>(lanes: LanesOf<A>, count: usize) -> Row {
    let data = bytes(MESSAGE_LEN * count);
    check(lanes, &data);
    let mut hashers = vec![BlockHasher::<A>::new(lanes.backend()); count];
    let calls = SAMPLE_LEN / MESSAGE_LEN / count;
    let work = move || {
        for _ in 0..calls {
            update(lanes, &mut hashers, &data, false);
        }
        black_box(&hashers);
    };
    let name = format!("{} of {}", count, label(lanes));
    Row::new(name, lanes.algorithm(), calls * count * MESSAGE_LEN, work)
}

/// Sixteen lanes that hand a small remainder to the SHA instructions, where both exist.
fn wide_and_narrow() -> Option<Row> {
    let wide = Lanes::best(Backend::named("x86_avx512").ok()?);
    let narrow = Lanes::new(Backend::named("x86_shani").ok()?, 2).expect("it is offered");
    let mut row = small_files_row(wide.with_narrow(narrow, WIDE_FROM));
    row.name = "avx512+shani mix".to_owned();
    Some(row)
}

/// A row that hashes 250 messages of 1 to 64 KiB in each call, from first byte to digest.
fn small_files_row<A: Rules>(lanes: LanesOf<A>) -> Row {
    let lengths: Vec<usize> = (0..250).map(|i| 1024 + (i * 7_919 * i) % (63 * 1024)).collect();
    let data = bytes(64 * 1024);
    let len: usize = lengths.iter().sum();
    let hash_all = move || {
        let mut hashers = vec![BlockHasher::<A>::new(lanes.backend()); lengths.len()];
        let mut messages: Vec<Message<'_, A>> = hashers
            .iter_mut()
            .zip(&lengths)
            .map(|(hasher, len)| Message { hasher, data: &data[..*len], last: true })
            .collect();
        lanes.update(&mut messages);
        hashers.iter().zip(&lengths).all(|(hasher, len)| hasher.length() == *len as u64)
    };
    let work = move || (0..SAMPLE_LEN / len).for_each(|_| assert!(hash_all()));
    let name = format!("{} mix", label(lanes));
    Row::new(name, lanes.algorithm(), SAMPLE_LEN / len * len, work)
}

/// A row that hashes the 4 KiB pages of one message.
fn pages_row(lanes: Lanes) -> Row {
    let data = bytes(1 << 20);
    let page_len = NonZeroUsize::new(4096).expect("not zero");
    let digests = page_digests(lanes, page_len, LastPage::AsIs, &data);
    for (digest, page) in digests.iter().zip(data.chunks(page_len.get())) {
        assert_eq!(digest.as_bytes(), sha256(page).as_bytes(), "{lanes}");
    }
    let work = move || {
        for _ in 0..SAMPLE_LEN / data.len() {
            black_box(page_digests(lanes, page_len, LastPage::AsIs, &data));
        }
    };
    Row::new(format!("{lanes} pages"), Algorithm::Sha256, SAMPLE_LEN, work)
}

fn algorithm_row(algorithm: Algorithm) -> Row {
    let data = bytes(MESSAGE_LEN);
    let work = move || {
        let mut hasher = AlgorithmHasher::new(algorithm);
        for _ in 0..SAMPLE_LEN / MESSAGE_LEN {
            hasher.update(&data);
        }
        black_box(hasher.finalize());
    };
    Row::new(algorithm.to_string(), algorithm, SAMPLE_LEN, work)
}

/// Two messages by the SHA instructions in libipsec-mb, if a C compiler finds the library.
fn ipsec_mb_row() -> Option<Row> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/ipsec_mb.c");
    let program = concat!(env!("CARGO_TARGET_TMPDIR"), "/ipsec_mb");
    let built = Command::new("cc").args(["-O2", "-o", program, source, "-lIPSec_MB"]).output();
    let name = "libipsec-mb x86_shani x2".to_owned();
    if !built.is_ok_and(|output| output.status.success()) {
        println!("skipped: {name}: no C compiler, or no libipsec-mb-dev");
        return None;
    }
    let calls = SAMPLE_LEN / MESSAGE_LEN / 2;
    let digest = sha256(&bytes(MESSAGE_LEN)).to_string();
    let sample = move || {
        let arguments = [MESSAGE_LEN, calls].map(|number| number.to_string());
        let output = Command::new(program).args(arguments).output().expect("it was just built");
        let text = String::from_utf8(output.stdout).expect("it prints digits");
        let (seconds, found) = text.trim().split_once(' ').expect("two words");
        assert_eq!(found, digest, "libipsec-mb");
        let seconds: f64 = seconds.parse().expect("seconds");
        SAMPLE_LEN as f64 / seconds / 1e9
    };
    Some(Row { name, algorithm: Algorithm::Sha256, sample: Box::new(sample), rates: Vec::new() })
}

fn update<A: Rules>(lanes: LanesOf<A>, hashers: &mut [BlockHasher<A>], data: &[u8], last: bool) {
    let mut messages: Vec<Message<'_, A>> = hashers
        .iter_mut()
        .zip(data.chunks(MESSAGE_LEN))
        .map(|(hasher, data)| Message { hasher, data, last })
        .collect();
    lanes.update(&mut messages);
}

fn check<A: Rules>(lanes: LanesOf<A>, data: &[u8]) {
    let count = data.len() / MESSAGE_LEN;
    let mut hashers = vec![BlockHasher::<A>::new(lanes.backend()); count];
    update(lanes, &mut hashers, data, true);
    for (hasher, data) in hashers.iter().zip(data.chunks(MESSAGE_LEN)) {
        let mut alone = AlgorithmHasher::new(lanes.algorithm());
        alone.update(data);
        assert_eq!(hasher.digest(), alone.finalize(), "{lanes:?}");
    }
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|index| ((index * 31) >> 3) as u8).collect()
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("processor time is not negative")
}

/// Asks `openssl speed`, which counts processor time too; it works for a second.
fn openssl_gb_per_s(name: &str) -> Option<f64> {
    let arguments = ["speed", "-mr", "-evp", name, "-bytes", "16384", "-seconds", "1"];
    let output = Command::new("openssl").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().find(|line| line.starts_with("+F:"))?;
    let rate: f64 = line.rsplit(':').next()?.parse().ok()?;
    Some(rate / 1e9)
}
