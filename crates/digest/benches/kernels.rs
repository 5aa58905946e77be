//! How fast every backend is here, at every lane count, with the bytes in cache.
//!
//! In: nothing. Out: a table on stdout: GB/s of this thread's processor time, ratios to the first
//! row and to `openssl speed`. Rows are a backend and its lanes on long messages, on a mix of short
//! ones, on pages; then the other algorithms. Run with
//! `cargo bench -p steadfast-digest`; a word behind `--` keeps only the rows that contain it.
//!
//! The rows take turns inside every repetition, so that a slow spell of the machine hits all of
//! them. The digests of long messages and of pages are checked before a figure is shown.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::process::Command;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use steadfast_digest::{
    Algorithm, AlgorithmHasher, Backend, Lanes, LastPage, Message, Sha256, page_digests, sha256,
};

/// Bytes per message and call: what `openssl speed` is asked for too.
const MESSAGE_LEN: usize = 16 * 1024;
/// Bytes per row and repetition: 5 to 50 ms.
const SAMPLE_LEN: usize = 16 << 20;
/// Active messages from which sixteen lanes beat two: two thirds, by the rates of the rows.
const WIDE_FROM: usize = 10;
const REPETITIONS: usize = 25;
/// `openssl speed` takes a whole second, so it has a turn in some repetitions only.
const REPETITIONS_PER_OPENSSL: usize = 5;

/// One row of the table.
struct Row {
    name: String,
    work: Box<dyn FnMut()>,
    sample_len: usize,
    /// GB/s, one per repetition.
    rates: Vec<f64>,
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let mut rows: Vec<Row> = Backend::detected()
        .flat_map(|backend| backend.lane_choices().iter().map(move |count| (backend, *count)))
        .map(|(backend, count)| Lanes::new(backend, count).expect("it is offered"))
        .flat_map(|lanes| [lanes_row(lanes), small_files_row(lanes), pages_row(lanes)])
        .chain(wide_and_narrow())
        .chain(Algorithm::ALL.iter().map(|algorithm| algorithm_row(*algorithm)))
        .filter(|row| wanted.is_empty() || wanted.iter().any(|part| row.name.contains(part)))
        .collect();
    let mut openssl = Vec::new();
    for repetition in 0..REPETITIONS {
        for row in &mut rows {
            let start = thread_cpu_time();
            (row.work)();
            let seconds = (thread_cpu_time() - start).as_secs_f64();
            row.rates.push(row.sample_len as f64 / seconds / 1e9);
        }
        if repetition % REPETITIONS_PER_OPENSSL == 0 {
            openssl.extend(openssl_gb_per_s());
        }
    }
    report(&rows, &openssl);
}

/// Prints a line per row. Ratios are medians of the ratios inside each repetition.
fn report(rows: &[Row], openssl: &[f64]) {
    match openssl {
        [] => println!("skipped: no openssl tool here"),
        rates => println!("openssl speed sha256: {:.3} GB/s, median", median(rates)),
    }
    println!("{:>20}  median  slowest  fastest GB/s  x first row  x openssl", "");
    for row in rows {
        let pairs = row.rates.iter().zip(&rows[0].rates);
        let to_first: Vec<f64> = pairs.map(|(rate, first)| rate / first).collect();
        let turns = row.rates.iter().step_by(REPETITIONS_PER_OPENSSL);
        let to_openssl: Vec<f64> = turns.zip(openssl).map(|(rate, other)| rate / other).collect();
        println!(
            "{:>20} {:7.3} {:8.3} {:8.3} {:18.2} {:10.2}",
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

/// A row that advances as many messages as there are lanes.
fn lanes_row(lanes: Lanes) -> Row {
    let count = lanes.count();
    let data = bytes(MESSAGE_LEN * count);
    check(lanes, &data);
    let mut hashers = vec![Sha256::new(lanes.backend()); count];
    let calls = SAMPLE_LEN / MESSAGE_LEN / count;
    let work = move || {
        for _ in 0..calls {
            update(lanes, &mut hashers, &data, false);
        }
        black_box(&hashers);
    };
    let name = format!("{} x{count}", lanes.backend());
    let sample_len = calls * count * MESSAGE_LEN;
    Row { name, work: Box::new(work), sample_len, rates: Vec::new() }
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
fn small_files_row(lanes: Lanes) -> Row {
    let lengths: Vec<usize> = (0..250).map(|i| 1024 + (i * 7_919 * i) % (63 * 1024)).collect();
    let data = bytes(64 * 1024);
    let len: usize = lengths.iter().sum();
    let hash_all = move || {
        let mut hashers = vec![Sha256::new(lanes.backend()); lengths.len()];
        let mut messages: Vec<Message<'_>> = hashers
            .iter_mut()
            .zip(&lengths)
            .map(|(hasher, len)| Message { hasher, data: &data[..*len], last: true })
            .collect();
        lanes.update(&mut messages);
        hashers.iter().zip(&lengths).all(|(hasher, len)| hasher.length() == *len as u64)
    };
    let work = move || (0..SAMPLE_LEN / len).for_each(|_| assert!(hash_all()));
    let name = format!("{} x{} mix", lanes.backend(), lanes.count());
    let sample_len = SAMPLE_LEN / len * len;
    Row { name, work: Box::new(work), sample_len, rates: Vec::new() }
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
    let name = format!("{} x{} pages", lanes.backend(), lanes.count());
    Row { name, work: Box::new(work), sample_len: SAMPLE_LEN, rates: Vec::new() }
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
    Row {
        name: algorithm.to_string(),
        work: Box::new(work),
        sample_len: SAMPLE_LEN,
        rates: Vec::new(),
    }
}

fn update(lanes: Lanes, hashers: &mut [Sha256], data: &[u8], last: bool) {
    let mut messages: Vec<Message<'_>> = hashers
        .iter_mut()
        .zip(data.chunks(MESSAGE_LEN))
        .map(|(hasher, data)| Message { hasher, data, last })
        .collect();
    lanes.update(&mut messages);
}

fn check(lanes: Lanes, data: &[u8]) {
    let mut hashers = vec![Sha256::new(lanes.backend()); lanes.count()];
    update(lanes, &mut hashers, data, true);
    for (hasher, data) in hashers.iter().zip(data.chunks(MESSAGE_LEN)) {
        assert_eq!(hasher.digest(), sha256(data), "{lanes:?}");
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
fn openssl_gb_per_s() -> Option<f64> {
    let arguments = ["speed", "-mr", "-evp", "sha256", "-bytes", "16384", "-seconds", "1"];
    let output = Command::new("openssl").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().find(|line| line.starts_with("+F:"))?;
    let rate: f64 = line.rsplit(':').next()?.parse().ok()?;
    Some(rate / 1e9)
}
