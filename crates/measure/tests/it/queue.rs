//! Reads by depth: a small session, and what must be refused.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_measure::figures::{self, Curve};
use steadfast_measure::record::{self, Order, Record, Unit};
use steadfast_measure::runner::{End, Session, Unwatched};
use steadfast_measure::stats;
use steadfast_measure::workload::Workload as _;
use steadfast_measure::workload::queue::{FOUR_ROWS, Queue, QueueWork};

fn small(folder: &Path) -> Queue {
    Queue {
        folders: vec![folder.to_owned()],
        file_len_bytes: 8 << 20,
        block_lens_bytes: vec![4 << 10, 64 << 10],
        depths: vec![1, 4],
        orders: vec![Order::Sequential, Order::Random],
        four_rows: false,
        works: vec![QueueWork::Read],
        rounds: 5,
        // Long enough for a thread to have its turn on a machine that is busy.
        span: Duration::from_millis(40),
        seed: 3,
    }
}

fn run(queue: &Queue, stop: bool) -> (Record, Option<End>) {
    let stop = AtomicBool::new(stop);
    let mut watch = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut watch);
    queue.plan(&mut session);
    let end = queue.run(&mut session).err();
    let partial = end.as_ref().map(|_| "ended early".to_owned());
    (session.end(partial), end)
}

#[test]
fn every_combination_has_its_reads_and_their_latencies() {
    let root = tempfile::tempdir().unwrap();
    let (record, end) = run(&small(root.path()), false);
    assert!(end.is_none(), "{end:?}");
    assert_eq!(record::read(&record::write(&record)).unwrap(), record);
    assert_eq!(record.series.len(), 8);
    for series in &record.series {
        assert_eq!((series.unit, series.samples.len()), (Unit::Operations, 5), "{}", series.label);
        for sample in &series.samples {
            let latencies = sample.latencies.as_ref().expect("every read was timed");
            let reads: u64 = latencies.buckets.iter().map(|(_, count)| count).sum();
            assert_eq!(reads, sample.amount);
            assert!(latencies.max_ns >= latencies.buckets.last().unwrap().0);
            // Threads that each wait for their reads cannot have waited longer than there was time.
            let waited: u64 = latencies.buckets.iter().map(|(lower, count)| lower * count).sum();
            let depth = u64::from(series.factors.queue_depth.unwrap());
            assert!(waited <= depth * sample.elapsed_ns, "{}", series.label);
        }
    }
    let cells = figures::queue::of(&record);
    assert_eq!(cells.len(), 8);
    let is_deep = |cell: &Curve<'_>| cell.factors.queue_depth == Some(4);
    let gain_of = |cell| figures::queue::gain(&cells, cell);
    let deep = cells.iter().find(|cell| is_deep(cell)).unwrap();
    assert!(deep.per_second() > 0.0 && deep.rate.unwrap().interval.is_some());
    for cell in &cells {
        assert_eq!(gain_of(cell).is_some(), is_deep(cell), "of the least depth, by the others");
    }
    let gain = gain_of(deep).expect("deeper than the least");
    let same = |series: &&record::Series, depth: u32| {
        let of = &series.factors;
        of.queue_depth == Some(depth)
            && (of.order, of.block_len_bytes) == (deep.factors.order, deep.factors.block_len_bytes)
    };
    let rates = |depth: u32| -> Vec<f64> {
        let series = record.series.iter().find(|series| same(series, depth)).unwrap();
        let rate = |sample: &record::Sample| sample.amount as f64 / sample.elapsed_ns as f64;
        series.samples.iter().map(rate).collect()
    };
    let ratios: Vec<f64> = rates(4).iter().zip(rates(1)).map(|(deep, one)| deep / one).collect();
    assert!((gain.value - stats::median(&ratios).unwrap()).abs() < 1e-9 && gain.interval.is_some());
    assert!(fs::read_dir(root.path()).unwrap().next().is_none(), "something was left behind");
}

#[test]
fn a_stopped_session_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let (record, end) = run(&small(root.path()), true);
    assert!(matches!(end, Some(End::Stopped)));
    assert!(record.series.is_empty());
    assert!(fs::read_dir(root.path()).unwrap().next().is_none(), "something was left behind");
}

#[test]
fn what_makes_no_sense_is_refused_with_words() {
    let root = tempfile::tempdir().unwrap();
    type Spoil = fn(&mut Queue);
    let cases: [(Spoil, &str); 4] = [
        (|queue| queue.depths = vec![0], "1 to 256"),
        (|queue| queue.block_lens_bytes = vec![100], "multiples of 512"),
        (|queue| queue.file_len_bytes = 1 << 20, "at least 64"),
        (|queue| queue.rounds = 0, "no rounds"),
    ];
    for (spoil, words) in cases {
        let mut queue = small(root.path());
        spoil(&mut queue);
        let (_, end) = run(&queue, false);
        let Some(End::Failed(error)) = end else { panic!("{words}: accepted") };
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn folders_take_turns_and_have_figures_of_their_own() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folders = [one.path(), two.path()].map(Path::to_owned).to_vec();
    let queue = Queue { folders, block_lens_bytes: vec![4 << 10], ..small(one.path()) };
    let (record, end) = run(&queue, false);
    assert!(end.is_none(), "{end:?}");
    assert_eq!((record.places.len(), record.series.len()), (2, 8));
    let cells = figures::queue::of(&record);
    let of_place = |place| cells.iter().filter(|cell| cell.series.place == Some(place)).count();
    assert_eq!((of_place(0), of_place(1)), (4, 4));
    // A round is over in both before the next begins.
    let starts = |place: usize, round: u32| {
        let series = record.series.iter().filter(move |series| series.place == Some(place));
        let samples = series.flat_map(|series| &series.samples);
        samples.filter(move |sample| sample.round == round).map(|sample| sample.start_ns)
    };
    assert!(starts(0, 0).max() < starts(1, 1).min() && starts(1, 0).max() < starts(0, 1).min());
    for folder in [one, two] {
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "something was left");
    }
}

#[test]
fn the_four_rows_are_read_written_and_mixed() {
    let root = tempfile::tempdir().unwrap();
    let queue = Queue {
        file_len_bytes: 64 << 20,
        block_lens_bytes: vec![4 << 10, 1 << 20],
        four_rows: true,
        works: vec![QueueWork::Read, QueueWork::Write, QueueWork::Mix],
        span: Duration::from_millis(30),
        ..small(root.path())
    };
    let (record, end) = run(&queue, false);
    // Every byte that was written is compared in the end.
    assert!(end.is_none(), "{end:?}");
    assert_eq!(record::read(&record::write(&record)).unwrap(), record);
    let cells = figures::queue::of(&record);
    for row @ (order, length, depth) in FOUR_ROWS {
        let of_row = cells.iter().filter(|cell| {
            let of = cell.factors;
            let is_row = (of.order, of.block_len_bytes, of.queue_depth)
                == (Some(order), Some(length), Some(depth));
            is_row && cell.per_second() > 0.0
        });
        assert_eq!(of_row.count(), 3, "{row:?}");
    }
    let refused = Queue { block_lens_bytes: vec![4 << 10, 3 << 19], ..queue };
    assert!(run(&refused, false).1.is_some(), "writes of 1.5 MiB");
    assert!(fs::read_dir(root.path()).unwrap().next().is_none(), "something was left behind");
}
