//! Reads in flight: through a ring come the bytes that `pread` gives, and the same errors.

#![cfg(target_os = "linux")]

use std::io::ErrorKind;

use steadfast_sys::file::{AlignedBuffer, File, PositionedRead};
use steadfast_sys::uring::Ring;
use steadfast_testing::{Need, skip};

use crate::tree::{Tree, pattern};

/// Makes a ring; records a skip and returns `None` where the system forbids it.
fn ring(depth: u32) -> Option<Ring> {
    Ring::new(depth).map_err(|error| skip(Need::System("io_uring"), error)).ok()
}

#[test]
fn a_ring_gives_what_single_reads_give() {
    let Some(mut ring) = ring(4) else { return };
    let tree = Tree::new();
    let contents = pattern(1_000_003);
    let file = tree.file("file", &contents);
    for direct in [false, true] {
        if direct && let Err(error) = file.set_uncached() {
            return skip(Need::System("direct reads"), error);
        }
        // More reads than the ring is deep, the last of them at the end and behind it.
        let mut buffers: Vec<_> = (0..17).map(|_| AlignedBuffer::new(64 << 10)).collect();
        let reads = buffers.iter_mut().enumerate();
        let mut reads: Vec<_> = reads
            .map(|(number, buffer)| PositionedRead::new(&file, buffer, (number as u64) << 16))
            .collect();
        ring.read_all(&mut reads);
        let mut left = &contents[..];
        for (number, read) in reads.iter().enumerate() {
            let length = *read.outcome.as_ref().unwrap();
            assert_eq!(length, left.len().min(64 << 10), "read {number}, direct: {direct}");
            assert!(read.buffer[..length] == left[..length], "read {number}, direct: {direct}");
            left = &left[length..];
        }
        assert!(left.is_empty());
    }
}

#[test]
fn each_read_of_a_ring_has_its_own_outcome() {
    let Some(mut ring) = ring(8) else { return };
    let tree = Tree::new();
    let file = tree.file("file", b"12345");
    let directory = File::open(&tree.path("")).unwrap();
    let mut buffers = [[0; 8]; 4];
    let [first, second, third, fourth] = &mut buffers;
    let mut reads = [
        PositionedRead::new(&file, first, 3),
        PositionedRead::new(&directory, second, 0),
        PositionedRead::new(&file, third, u64::MAX),
        PositionedRead::new(&file, fourth, 0),
    ];
    for read in &reads {
        assert_eq!(read.outcome.as_ref().unwrap_err().kind(), ErrorKind::Unsupported);
    }
    for _ in 0..2 {
        ring.read_all(&mut reads);
        let kind = |index: usize| reads[index].outcome.as_ref().unwrap_err().kind();
        assert_eq!((kind(1), kind(2)), (ErrorKind::IsADirectory, ErrorKind::InvalidInput));
        assert_eq!(*reads[0].outcome.as_ref().unwrap(), 2);
        assert_eq!(&reads[0].buffer[..2], b"45");
        assert_eq!(*reads[3].outcome.as_ref().unwrap(), 5);
        assert_eq!(&reads[3].buffer[..5], b"12345");
    }
    ring.read_all(&mut []);
}

#[test]
#[should_panic(expected = "power of two")]
fn a_ring_has_a_depth_that_rings_have() {
    let _ = Ring::new(3);
}
