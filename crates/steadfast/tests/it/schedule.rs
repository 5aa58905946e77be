//! Who reads what and when: one reader where that is wanted, the largest files early.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use steadfast::Verb;
use steadfast::read::buffered::Buffered;
use steadfast::read::{Engine, Origin};
use steadfast_sys::file::{File, Status};

use crate::tree::Tree;

/// Notes how many reads overlap, and in which order files are first read.
#[derive(Default)]
struct Observer {
    now: AtomicUsize,
    most: AtomicUsize,
    order: Mutex<(HashSet<u64>, Vec<u64>)>,
}

impl Engine for Observer {
    fn name(&self) -> &'static str {
        "observer"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let length = file.status()?.length;
        let mut order = self.order.lock().unwrap();
        if order.0.insert(length) {
            order.1.push(length);
        }
        drop(order);
        let read = Buffered.read_at(file, buffer, offset);
        std::thread::yield_now();
        self.now.fetch_sub(1, Ordering::SeqCst);
        read
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

#[test]
fn a_queue_of_depth_one_has_one_reader() {
    let tree = Tree::new();
    for number in 0..200 {
        tree.write(format!("small-{number}"), vec![1; 1_000 + number]);
    }
    for number in 0..20 {
        tree.write(format!("large-{number}"), vec![1; 900_000 + number]);
    }
    let observer = Arc::new(Observer::default());
    let options = crate::tree::usual().with(|options| {
        options.reading.workers = Some(4);
        options.reading.queue_depth = Some(1);
    });
    let said = tree.run_by(Verb::hash(), &options, observer.clone());
    assert_eq!((said.files.len(), said.status()), (220, 0));
    assert_eq!(observer.most.load(Ordering::SeqCst), 1);
}

#[test]
fn the_largest_file_does_not_wait_for_its_turn() {
    let tree = Tree::new();
    for number in 0..90 {
        tree.write(format!("{number:02}"), vec![1; 300_000 + number]);
    }
    tree.write("z, the last and largest", vec![1; 20_000_000]);
    let observer = Arc::new(Observer::default());
    let options = crate::tree::usual().with(|options| options.reading.workers = Some(1));
    let said = tree.run_by(Verb::hash(), &options, observer.clone());
    assert_eq!(said.files.len(), 91);
    let order = &observer.order.lock().unwrap().1;
    let place = order.iter().position(|&length| length == 20_000_000).unwrap();
    assert!(place < 60, "it was the {place}th of 91 to be begun");
}
