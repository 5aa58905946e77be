//! The code: against its definition, and as a function of its input.

use steadfast_parity::*;

use crate::oracle::{Field, symbol};
use crate::sample::{Random, encode, set_of};

/// The pages of a column, found by counting as the format describes it.
fn column(data: &[u8], number: usize) -> Vec<&[u8]> {
    let shards = data.chunks(PAGE_LEN * 16).enumerate();
    let pages = shards.map(|(shard, bytes)| {
        let within = (0..16).find(|within| (within + shard) % 16 == number).unwrap();
        bytes.chunks(PAGE_LEN).nth(within).unwrap_or(&[0; PAGE_LEN])
    });
    pages.collect()
}

#[test]
fn parity_is_what_its_definition_says() {
    let field = Field::new();
    // Shards of data and of parity: less than a run, one run, a little more, ten.
    for (shards, parity_shards, seed) in
        [(1, 1, 1), (5, 3, 2), (128, 128, 3), (131, 17, 4), (1280, 128, 5)]
    {
        let len = shards * 16 * PAGE_LEN - 3 * PAGE_LEN;
        let data = Random::new(seed).bytes(len);
        let geometry = Geometry::new((len / PAGE_LEN) as u32, parity_shards).unwrap();
        let parity = encode(geometry, &data);
        let mut random = Random::new(seed);
        for _ in 0..12 {
            let (number, at) = (random.below(16) as usize, random.below(2048) as usize);
            let shard = random.below(u64::from(parity_shards)) as usize;
            let symbols: Vec<u16> =
                column(&data, number).iter().map(|page| symbol(page, at)).collect();
            let within = (0..16).find(|within| (within + shard) % 16 == number).unwrap();
            let page = parity.page((shard * 16 + within) as u32);
            assert_eq!(symbol(page, at), field.parity(&symbols, shard), "{shards} shards");
        }
    }
}

#[test]
fn lost_symbols_follow_from_the_definition_alone() {
    let (field, sample) = (Field::new(), set_of(300 * 16 * PAGE_LEN, 40, 6));
    let mut random = Random::new(6);
    for number in [0, 9] {
        let pages = column(&sample.data, number);
        let lost: Vec<usize> = random.choose(20, 300).iter().map(|at| *at as usize).collect();
        let left = random.choose(20, 40);
        for at in [0, 31, 32, 2047] {
            let symbols: Vec<u16> = pages.iter().map(|page| symbol(page, at)).collect();
            let mut damaged = symbols.clone();
            lost.iter().for_each(|at| damaged[*at] = 0xDEAD);
            let parity = left.iter().map(|shard| {
                let within = (0..16).find(|within| (within + shard) % 16 == number as u32).unwrap();
                let page = &sample.parity[(shard * 16 + within) as usize];
                (*shard as usize, symbol(page, at))
            });
            let solved = field.solve(&damaged, &lost, &parity.collect::<Vec<_>>());
            let wanted: Vec<u16> = lost.iter().map(|at| symbols[*at]).collect();
            assert_eq!(solved, wanted);
        }
    }
}

#[test]
fn runs_come_in_any_order_and_those_of_zeros_need_not_come() {
    let geometry = Geometry::new(3 * RUN_PAGES, 20).unwrap();
    let data = Random::new(1).bytes(RUN_LEN as usize);
    let mut whole = vec![0; 2 * RUN_LEN as usize];
    whole.splice(..0, data.iter().copied());
    let in_order = encode(geometry, &whole);
    let mut encoder = ParityEncoder::new(geometry);
    let mut buffer = RunBuffer::new();
    buffer.page_mut(5).fill(0);
    encoder.add(2, &mut buffer);
    for page in (0..RUN_PAGES).rev() {
        buffer.fill(page, &data[page as usize * PAGE_LEN..][..PAGE_LEN]);
    }
    encoder.add(0, &mut buffer);
    encoder.add(1, &mut buffer);
    let parity = encoder.finish();
    assert!((0..geometry.parity_pages()).all(|page| parity.page(page) == in_order.page(page)));
}

#[test]
fn a_set_grows_without_reading_what_is_in_it() {
    // From the middle of a run, over its end.
    let (before, after) = (1900 * PAGE_LEN, 2500 * PAGE_LEN);
    let data = Random::new(2).bytes(after);
    let old = encode(Geometry::new(1900, 128).unwrap(), &data[..before]);
    let geometry = Geometry::new(2500, 128).unwrap();
    let mut added = vec![0; before];
    added.extend_from_slice(&data[before..]);
    let mut grown = encode(geometry, &added);
    for page in 0..geometry.parity_pages() {
        grown.add_page(page, old.page(page));
    }
    let anew = encode(geometry, &data);
    assert!((0..geometry.parity_pages()).all(|page| grown.page(page) == anew.page(page)));
}

#[test]
fn fewer_parity_shards_are_the_first_of_more() {
    let data = Random::new(3).bytes(700 * PAGE_LEN);
    let few = encode(Geometry::new(700, 3).unwrap(), &data);
    let many = encode(Geometry::new(700, 128).unwrap(), &data);
    assert!((0..3 * SHARD_PAGES).all(|page| few.page(page) == many.page(page)));
}
