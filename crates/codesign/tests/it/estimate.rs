//! What a check would take, told by doing part of it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use steadfast_codesign::bundle::FolderTree;
use steadfast_codesign::{Code, ReadAt, VerifyOptions};

use crate::app::App;
use crate::builder::{Build, Directory};
use crate::forms::options;

/// What is tried of one stage at most.
const TRIED_BYTES: u64 = 8 << 20;

/// A store from which each read takes as long as its length asks for, and which counts.
struct Slow {
    bytes: Vec<u8>,
    ns_per_kib: u64,
    cached_bytes: Option<u64>,
    read_bytes: Arc<AtomicU64>,
}

impl ReadAt for Slow {
    fn len_bytes(&self) -> u64 {
        self.bytes.len_bytes()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let length = buffer.len() as u64;
        self.read_bytes.fetch_add(length, Ordering::Relaxed);
        let (begun, took) = (Instant::now(), Duration::from_nanos(length * self.ns_per_kib / 1024));
        // Not asleep, so that the time is exact.
        while begun.elapsed() < took {
            std::hint::spin_loop();
        }
        self.bytes.read_exact_at(buffer, offset)
    }

    fn cached_bytes(&self) -> Option<u64> {
        self.cached_bytes
    }
}

fn verify_options(workers: usize) -> VerifyOptions {
    VerifyOptions { check: options(workers), ..VerifyOptions::default() }
}

#[test]
fn the_price_of_a_long_file_is_that_of_its_parts() {
    let mut build = Build::linker_signed(24 << 20);
    build.directories.push(Directory::new(0x1000, 1));
    let built = build.build();
    for (workers, cached_bytes) in [(1, None), (2, Some(built.bytes.len_bytes()))] {
        let read_bytes = Arc::new(AtomicU64::new(0));
        let slow = Slow {
            bytes: built.bytes.clone(),
            ns_per_kib: 10_000,
            cached_bytes,
            read_bytes: Arc::clone(&read_bytes),
        };
        let code = Code::file(Box::new(slow)).unwrap();
        read_bytes.store(0, Ordering::Relaxed);
        let estimate = code.estimate(&verify_options(workers)).unwrap();
        assert_eq!(estimate.tried_bytes, TRIED_BYTES);
        assert_eq!(read_bytes.load(Ordering::Relaxed), TRIED_BYTES);
        assert_eq!(
            (estimate.len_bytes, estimate.cached_bytes),
            (code.source().len_bytes(), cached_bytes)
        );
        assert_eq!(estimate.cost, code.cost(false).unwrap());
        // Waiting for bytes takes far longer than hashing them: how long is known.
        let floor_ns = (24 << 10) * 10_000 / workers as u64;
        assert!(estimate.hashing_ns >= floor_ns * 9 / 10, "{estimate:?}");
        // By itself it is within a fifth; whatever else runs may take its turn in one of the two.
        let share = || {
            let estimate = code.estimate(&verify_options(workers)).unwrap();
            let begun = Instant::now();
            assert_eq!(code.verify(&verify_options(workers)).unwrap().exit_status(), 0);
            estimate.predicted_ns() as f64 / begun.elapsed().as_nanos() as f64
        };
        assert!((0..10).any(|_| (0.4..2.5).contains(&share())), "{workers}: {}", share());
    }
}

#[test]
fn what_is_little_is_done_for_its_price() {
    let app = App::new();
    let tree = FolderTree::open(app.root()).unwrap();
    let code = Code::bundle(&tree, b"Demo.app").unwrap();
    for deep in [false, true] {
        let options = VerifyOptions { deep, ..verify_options(2) };
        let estimate = code.estimate(&options).unwrap();
        assert_eq!(estimate.tried_bytes, code.verify(&options).unwrap().read_bytes(), "{deep}");
        assert_eq!(estimate.hashing_ns, 0, "{deep}");
        assert!(estimate.rest_ns > 0);
        assert_eq!(estimate.cost.read_bytes, estimate.tried_bytes);
    }
}

#[test]
fn of_many_and_long_files_some_and_parts_are_tried() {
    let app = App::new();
    app.write("Contents/Resources/a.txt", &vec![7; 40 << 20]);
    let tree = FolderTree::open(app.root()).unwrap();
    let code = Code::bundle(&tree, b"Demo.app").unwrap();
    let estimate = code.estimate(&verify_options(2)).unwrap();
    assert!(estimate.tried_bytes < TRIED_BYTES, "{}", estimate.tried_bytes);
    assert!(estimate.hashing_ns > 0);
    assert!(estimate.cost.read_bytes > 40 << 20);
}

#[test]
fn the_price_of_one_digest_over_everything_is_that_of_its_beginning() {
    let mut build = Build::linker_signed(20 << 20);
    build.directories[0].page_shift = 0;
    let code = Code::file(Box::new(build.build().bytes)).unwrap();
    let estimate = code.estimate(&verify_options(2)).unwrap();
    assert_eq!(estimate.tried_bytes, TRIED_BYTES);
    assert!(estimate.hashing_ns > 0);
    assert_eq!(estimate.cost.digests, 1);
}
