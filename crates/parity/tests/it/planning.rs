//! Which files go into which set: rules, and properties for any list of files.

use std::collections::HashMap;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use steadfast_parity::*;

use crate::sample::file;

fn plan(redundancy: Redundancy, interleaved: u16, files: &[ProtectedFile]) -> Vec<PlannedSet> {
    let mut planner = SetPlanner::new(redundancy, interleaved);
    let mut sets = Vec::new();
    for file in files {
        sets.extend(planner.push(file.clone()).into_iter().flatten());
    }
    sets.extend(planner.finish());
    sets
}

fn places(set: &PlannedSet) -> Vec<(&str, u32, u16)> {
    let place = |m: &'_ Member| (m.page, m.offset);
    set.members.iter().map(|m| (m.file.path.to_str().unwrap(), place(m).0, place(m).1)).collect()
}

#[test]
fn small_files_share_a_set_and_the_smallest_share_pages() {
    let lens =
        [("a", 100), ("b", 9_000), ("c", 3_900), ("d", 96), ("e", 0), ("f", 4_096), ("g", 1)];
    let files = lens.map(|(path, len)| file(path, len));
    let sets = plan(Redundancy::default(), 4, &files);
    assert_eq!(sets.len(), 1);
    let wanted = [
        ("e", 0, 0),
        ("a", 0, 0),
        ("c", 0, 100),
        ("d", 0, 4_000),
        ("b", 1, 0),
        ("f", 4, 0),
        ("g", 5, 0),
    ];
    assert_eq!(places(&sets[0]), wanted);
    assert_eq!((sets[0].geometry.pages(), sets[0].geometry.parity_shards()), (6, 1));
}

#[test]
fn a_file_that_does_not_fit_opens_a_set() {
    let mib = 1 << 20;
    let files = [file("a", 50 * mib), file("b", 30 * mib), file("c", 1), file("d", 80 * mib)];
    let sets = plan(Redundancy::default(), 4, &files);
    let paths: Vec<Vec<(&str, u32, u16)>> = sets.iter().map(places).collect();
    assert_eq!(paths[0], [("a", 0, 0), ("b", 12_800, 0)]);
    assert_eq!(paths[1], [("c", 0, 0)]);
    assert_eq!(paths[2], [("d", 0, 0)]);
    assert_eq!(sets[0].geometry.parity_shards(), 128);
    assert_eq!(sets[2].geometry, sets[0].geometry);
}

#[test]
fn a_large_file_is_dealt_out_run_by_run() {
    // 100 MiB and one byte: 13 runs, over two sets.
    let length = (100 << 20) + 1;
    let mut planner = SetPlanner::new(Redundancy::default(), 4);
    let groups = planner.push(file("film", length));
    assert!(planner.finish().is_none(), "a cut file shares no set");
    assert_eq!((groups.len(), groups[0].len()), (1, 2));
    let [first, second] = [&groups[0][0].members[0], &groups[0][1].members[0]];
    assert_eq!((first.start, first.sets, first.length), (0, 2, length - 6 * RUN_LEN));
    assert_eq!((second.start, second.sets, second.length), (RUN_LEN, 2, 6 * RUN_LEN));
    // The second run of the first set is the third of the file.
    let span = first.span(RUN_PAGES).unwrap();
    assert_eq!((span.in_page, span.file_offset), (0..PAGE_LEN, 2 * RUN_LEN));
    let last = first.pages().end - 1;
    let span = first.span(last).unwrap();
    assert_eq!((span.in_page, span.file_offset), (0..1, length - 1));
    assert_eq!(first.span(last + 1), None);
    assert_eq!(first.page_of(length - 1), Some(last));
    assert_eq!((first.page_of(RUN_LEN), second.page_of(RUN_LEN)), (None, Some(0)));
    assert_eq!(second.page_of(length - 1), None);
}

#[test]
fn a_burst_of_32_mib_in_a_file_cut_over_four_sets_comes_back() {
    let length: u64 = 320 << 20;
    let groups = SetPlanner::new(Redundancy::default(), 4).push(file("film", length));
    assert_eq!(groups[0].len(), 4);
    for start in [0, 1 << 20, 77_777_777, length - (32 << 20)] {
        for set in &groups[0] {
            let mut losses = Losses::new(set.geometry);
            // Of a burst that begins within a page, the last page is one more.
            let burst = start / 4096 * 4096..start / 4096 * 4096 + (32 << 20);
            for at in burst.step_by(PAGE_LEN) {
                if let Some(page) = set.members[0].page_of(at) {
                    losses.lose(PageAt::Data(page));
                }
            }
            assert_eq!(losses.strength(), 0, "a burst from byte {start}");
        }
    }
}

/// Every byte of every file is in exactly one place, and places are within what a reader accepts.
fn ensure_sound(files: &[ProtectedFile], sets: &[PlannedSet]) {
    let mut covered: HashMap<PathBuf, Vec<(u64, u64)>> = HashMap::new();
    for set in sets {
        let geometry = set.geometry;
        let marks = vec![PageMark { digest: [0; 16], check: 0 }; geometry.pages() as usize];
        let index = SetIndex::new(geometry, set.members.clone(), marks, |_| &[0; PAGE_LEN]);
        let index = index.unwrap();
        for member in index.members() {
            let ranges = covered.entry(member.file.path.clone()).or_default();
            for page in member.pages() {
                let span = member.span(page).unwrap();
                let len = (span.in_page.end - span.in_page.start) as u64;
                assert_eq!(member.page_of(span.file_offset + len - 1), Some(page));
                assert!(index.members_of(page).any(|other| other == member));
                ranges.push((span.file_offset, len));
            }
        }
    }
    for file in files {
        let mut ranges = covered.remove(&file.path).unwrap();
        ranges.sort_unstable();
        let end = ranges.iter().fold(0, |end, (start, len)| {
            assert_eq!(*start, end, "{:?} has a gap or an overlap", file.path);
            start + len
        });
        assert_eq!(end, file.length, "{:?}", file.path);
    }
    assert!(covered.is_empty());
}

#[test]
fn any_files_are_placed_once_and_whole() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config { cases: 30, ..Config::default() }, rng);
    let length = prop_oneof![
        4 => 0..5_000_u64,
        2 => 0..2_000_000_u64,
        1 => 0..60_000_000_u64,
        1 => prop::sample::select(vec![4095, 4096, 4097, 8 << 20, (8 << 20) + 1, 16 << 20]),
    ];
    let files = (prop::collection::vec(length, 1..40), 20..=100_u8, 1..5_u16);
    let outcome = runner.run(&files, |(lengths, percent, interleaved)| {
        let files = (0..).zip(&lengths).map(|(number, len)| file(&format!("d/{number:03}"), *len));
        let files: Vec<_> = files.collect();
        let redundancy = Redundancy::new(percent).unwrap();
        ensure_sound(&files, &plan(redundancy, interleaved, &files));
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn many_empty_files_fill_sets_too() {
    let files: Vec<_> = (0..70_000).map(|number| file(&format!("{number:05}"), 0)).collect();
    let sets = plan(Redundancy::default(), 4, &files);
    let counts: Vec<usize> = sets.iter().map(|set| set.members.len()).collect();
    assert_eq!(counts, [65_536, 4_464]);
    assert_eq!(sets[0].geometry.pages(), 1, "a set has at least one page");
    ensure_sound(&files, &sets);
}
