//! What `docs/reference/parity.md` promises, number by number.

use steadfast_parity::*;

use crate::sample::{Random, SetSample, set_of};

/// A full set at 10 %: 80 MiB in 1280 shards, and 128 parity shards.
fn full() -> SetSample {
    set_of(1280 * 16 * PAGE_LEN, 128, 1)
}

fn losing(sample: &SetSample, pages: impl IntoIterator<Item = PageAt>) -> Losses {
    let mut losses = Losses::new(sample.index.geometry());
    pages.into_iter().for_each(|page| losses.lose(page));
    losses
}

#[test]
fn a_burst_of_8_mib_comes_back_wherever_it_is() {
    let (sample, pages) = (full(), 1280 * SHARD_PAGES);
    for start in [0, 1, 4_711, pages - RUN_PAGES] {
        let losses = losing(&sample, (start..start + RUN_PAGES).map(PageAt::Data));
        assert_eq!(losses.strength(), 0);
        assert_eq!(sample.rebuild(&losses).unwrap(), RUN_PAGES as usize);
    }
    for start in 0..=pages - RUN_PAGES {
        let burst = losing(&sample, (start..start + RUN_PAGES).map(PageAt::Data));
        assert_eq!(burst.strength(), 0, "from page {start}");
    }
    let longer = losing(&sample, (5..6 + RUN_PAGES).map(PageAt::Data));
    assert_eq!(longer.strength(), -1);
    assert_eq!(sample.rebuild(&longer).unwrap_err().kind(), ErrorKind::TooManyLost);
}

#[test]
fn any_128_pages_of_a_column_come_back_and_no_129() {
    let sample = full();
    let geometry = sample.index.geometry();
    let mut random = Random::new(2);
    for (data, column) in [(128, 0), (100, 3), (1, 8), (64, 15)] {
        let pages: Vec<u32> = geometry.column_pages(column).collect();
        let parity: Vec<u32> = geometry.column_parity(column).collect();
        let mut losses = Losses::new(geometry);
        for at in random.choose(data, 1280) {
            losses.lose(PageAt::Data(pages[at as usize]));
        }
        for at in random.choose(128 - data, 128) {
            losses.lose(PageAt::Parity(parity[at as usize]));
        }
        assert_eq!((losses.pages_left(column), losses.strength()), (0, 0));
        assert_eq!(sample.rebuild(&losses).unwrap(), data);
        let one_more = pages.iter().find(|page| !losses.is_lost(PageAt::Data(**page))).unwrap();
        losses.lose(PageAt::Data(*one_more));
        assert_eq!(losses.pages_left(column), -1);
        assert!(!losses.can_have(*one_more));
        let error = sample.rebuild(&losses).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooManyLost);
        let message =
            format!("column {column}: {} pages are lost and {data} can be rebuilt", data + 1);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn scattered_pages_come_back_as_often_as_is_said() {
    let geometry = Geometry::new(1280 * SHARD_PAGES, 128).unwrap();
    let mut random = Random::new(3);
    let mut survived = |pages: usize| {
        let survives = |_: &usize| {
            let mut losses = Losses::new(geometry);
            for page in random.choose(pages, geometry.pages()) {
                losses.lose(PageAt::Data(page));
            }
            losses.strength() >= 0
        };
        (0..400).filter(survives).count()
    };
    let (at_1500, at_1600, at_1800) = (survived(1500), survived(1600), survived(1800));
    assert!(at_1500 >= 396, "99 % of 400: {at_1500}");
    assert!(at_1600 >= 376, "94 % of 400: {at_1600}");
    assert!((80..240).contains(&at_1800), "between 20 % and 60 % of 400: {at_1800}");
}

#[test]
fn scattered_pages_and_damaged_parity_come_back_together() {
    let sample = full();
    let geometry = sample.index.geometry();
    let mut random = Random::new(4);
    let data = random.choose(1300, geometry.pages()).into_iter().map(PageAt::Data);
    let parity = random.choose(200, geometry.parity_pages()).into_iter().map(PageAt::Parity);
    let losses = losing(&sample, data.chain(parity));
    assert!(losses.strength() >= 0, "the seed is of a case that can be rebuilt");
    assert_eq!(sample.rebuild(&losses).unwrap(), 1300);
}

#[test]
fn a_set_of_1_mib_or_less_can_lose_everything() {
    for len in [1_usize, 4096, 4097, 70_000, 1 << 20] {
        let pages = u32::try_from(len.div_ceil(PAGE_LEN)).unwrap();
        let geometry = Redundancy::default().geometry(pages).unwrap();
        let sample = set_of(len, geometry.parity_shards(), len as u64);
        let losses = losing(&sample, (0..pages).map(PageAt::Data));
        assert_eq!(sample.rebuild(&losses).unwrap(), pages as usize, "{len} bytes");
    }
}

#[test]
fn every_redundancy_keeps_its_promise() {
    for percent in [2, 5, 33, 100] {
        let redundancy = Redundancy::new(percent).unwrap();
        // Not full, and the last shard is not whole.
        let pages = redundancy.data_shards_max().min(500) * SHARD_PAGES - 5;
        let geometry = redundancy.geometry(pages).unwrap();
        assert!(geometry.parity_shards() * 100 >= geometry.data_shards() * u32::from(percent));
        let sample = set_of(pages as usize * PAGE_LEN, geometry.parity_shards(), 5);
        let burst = geometry.parity_pages().min(pages);
        let start = pages - burst;
        let losses = losing(&sample, (start..pages).map(PageAt::Data));
        assert_eq!(sample.rebuild(&losses).unwrap(), burst as usize, "{percent} %");
    }
    assert_eq!(Redundancy::new(1).unwrap_err().kind(), ErrorKind::Usage);
    assert_eq!(Redundancy::new(101).unwrap_err().kind(), ErrorKind::Usage);
}
