//! Reading: at offsets, at the end, and past the page cache.

use std::io::ErrorKind;

use steadfast_sys::file::{AlignedBuffer, File};
use steadfast_testing::{Need, skip};

use crate::tree::{Tree, pattern};

const DIRECT_READS: Need<'_> = Need::System("direct reads");

/// Reads a file in steps of the buffer's length, as direct reads must.
fn read_all(file: &File, buffer: &mut [u8]) -> Vec<u8> {
    let mut contents = Vec::new();
    loop {
        match file.read_at(buffer, contents.len() as u64).unwrap() {
            0 => return contents,
            length => contents.extend_from_slice(&buffer[..length]),
        }
    }
}

#[test]
fn bytes_come_from_the_offset_asked_for() {
    let tree = Tree::new();
    let contents = pattern(10_000);
    let file = tree.file("file", &contents);
    let mut buffer = [0; 100];
    for offset in [0, 1, 4095, 4096, 9_900] {
        assert_eq!(file.read_at(&mut buffer, offset as u64).unwrap(), 100);
        assert_eq!(buffer, contents[offset..offset + 100]);
    }
}

#[test]
fn the_end_of_a_file_gives_what_is_left_and_then_nothing() {
    let tree = Tree::new();
    let file = tree.file("file", b"12345");
    let mut buffer = [0; 8];
    assert_eq!(file.read_at(&mut buffer, 3).unwrap(), 2);
    assert_eq!(&buffer[..2], b"45");
    assert_eq!(file.read_at(&mut buffer, 5).unwrap(), 0);
    assert_eq!(file.read_at(&mut buffer, 1 << 40).unwrap(), 0);
    assert_eq!(file.read_at(&mut [], 0).unwrap(), 0);
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let tree = Tree::new();
    let file = tree.file("file", b"12345");
    let error = file.read_at(&mut [0; 8], u64::MAX).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let directory = File::open(&tree.path("")).unwrap();
    let error = directory.read_at(&mut [0; 8], 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IsADirectory);
}

#[test]
fn threads_read_through_one_file() {
    let tree = Tree::new();
    let contents = pattern(1 << 20);
    let file = tree.file("file", &contents);
    std::thread::scope(|scope| {
        for start in 0..4 {
            let (file, contents) = (&file, &contents);
            scope.spawn(move || {
                let mut buffer = [0; 997];
                for offset in (start * 997..contents.len() - 997).step_by(4 * 997) {
                    assert_eq!(file.read_at(&mut buffer, offset as u64).unwrap(), 997);
                    assert_eq!(buffer, contents[offset..offset + 997]);
                }
            });
        }
    });
}

#[test]
fn direct_reads_give_what_cached_reads_give() {
    let tree = Tree::new();
    let contents = pattern(300_001);
    let file = tree.file("file", &contents);
    let mut buffer = AlignedBuffer::new(64 * 1024);
    assert!(read_all(&file, &mut buffer) == contents);

    match file.direct_alignment() {
        Ok(Some(alignment)) => {
            for bytes in [alignment.memory, alignment.offset] {
                assert!(bytes.is_power_of_two(), "{alignment:?}");
                assert!(bytes as usize <= AlignedBuffer::ALIGNMENT, "{alignment:?}");
            }
        }
        Ok(None) => skip(DIRECT_READS, "this file system reads through its cache"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            skip(DIRECT_READS, error);
        }
    }
    if let Err(error) = file.set_uncached() {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        return skip(DIRECT_READS, error);
    }
    buffer.fill(0);
    assert!(read_all(&file, &mut buffer) == contents);
}

#[test]
fn advice_changes_nothing_that_is_read() {
    let tree = Tree::new();
    let contents = pattern(50_000);
    let file = tree.file("file", &contents);
    file.advise_sequential();
    assert!(read_all(&file, &mut [0; 4096]) == contents);
}

#[test]
fn the_file_system_has_a_name_and_lets_itself_be_written() {
    let tree = Tree::new();
    let file_system = tree.file("file", b"").file_system().unwrap();
    assert!(!file_system.read_only, "the test has just written to it");
    assert!(!file_system.name.is_empty());
    assert!(file_system.name.is_ascii(), "{}", file_system.name);
}

#[test]
#[cfg(target_os = "linux")]
fn the_file_system_is_named_as_mounted() {
    let file = File::open("/proc/self/status".as_ref()).unwrap();
    assert_eq!(file.file_system().unwrap().name, "proc");
}
