//! The generator that orders and lengths come from: frozen, even, and without bias.

use steadfast_measure::random::Random;

#[test]
fn a_seed_gives_the_same_for_ever() {
    // Wanted values: the published algorithm, computed with Python's whole numbers.
    let mut random = Random::new(7);
    let drawn: [u64; 4] = std::array::from_fn(|_| random.next_u64());
    assert_eq!(
        drawn,
        [
            1_021_219_803_524_665_661,
            3_174_977_118_032_272_916,
            13_236_943_193_235_544_178,
            7_880_630_202_246_103_356,
        ]
    );
    let mut order: Vec<u32> = (0..16).collect();
    Random::new(20_260_101).shuffle(&mut order);
    assert_eq!(order, [7, 15, 1, 14, 11, 5, 4, 13, 8, 6, 2, 9, 10, 0, 12, 3]);
    assert_eq!(Random::NAME, "xoshiro256++");
}

#[test]
fn every_order_is_as_likely() {
    let mut random = Random::new(1);
    let mut seen = [[0_u32; 4]; 4];
    for _ in 0..40_000 {
        let mut order = [0, 1, 2, 3];
        random.shuffle(&mut order);
        for (place, &thing) in order.iter().enumerate() {
            seen[place][thing] += 1;
        }
    }
    // 10,000 each, give or take 87.
    let uneven = seen.as_flattened().iter().find(|&&count| count.abs_diff(10_000) > 400);
    assert_eq!(uneven, None, "{seen:?}");
}

#[test]
fn whole_numbers_stay_below_their_bound() {
    let mut random = Random::new(2);
    let mut seen = [0_u32; 5];
    for _ in 0..50_000 {
        seen[random.below(5) as usize] += 1;
    }
    assert!(seen.iter().all(|count| count.abs_diff(10_000) < 400), "{seen:?}");
    assert_eq!(random.below(1), 0);
    // Three quarters of all numbers: rejecting none, the lower third would come twice as often.
    let bound = 3 << 62;
    let low = (0..30_000).filter(|_| random.below(bound) < bound / 3).count();
    assert!(low.abs_diff(10_000) < 400, "{low}");
}

#[test]
fn numbers_have_the_spread_they_promise() {
    let mut random = Random::new(3);
    let count = 100_000;
    let drawn: Vec<f64> = (0..count).map(|_| random.normal()).collect();
    let mean = drawn.iter().sum::<f64>() / f64::from(count);
    let square = drawn.iter().map(|value| value * value).sum::<f64>() / f64::from(count);
    assert!(mean.abs() < 0.015 && (square - 1.0).abs() < 0.02, "{mean} {square}");
    let beyond = drawn.iter().filter(|value| value.abs() > 1.96).count();
    assert!(beyond.abs_diff(5_000) < 300, "{beyond}");

    let lengths: Vec<f64> = (0..count).map(|_| random.log_uniform(2e6, 2e9)).collect();
    assert!(lengths.iter().all(|length| (2e6..=2e9).contains(length)));
    let first_of_three = lengths.iter().filter(|&&length| length < 2e7).count();
    assert!(first_of_three.abs_diff(33_333) < 800, "{first_of_three}");

    let even: Vec<f64> = (0..count).map(|_| random.uniform(-1.0, 3.0)).collect();
    assert!(even.iter().all(|value| (-1.0..3.0).contains(value)));
    let negative = even.iter().filter(|&&value| value < 0.0).count();
    assert!(negative.abs_diff(25_000) < 800, "{negative}");
}

#[test]
fn bytes_fill_any_length_and_repeat_nothing() {
    let mut bytes = vec![0; 100_003];
    Random::new(4).fill(&mut bytes);
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    // 391 each, give or take 20.
    assert!(counts.iter().all(|count| count.abs_diff(391) < 100), "{counts:?}");
    let mut start = [0; 5];
    Random::new(4).fill(&mut start);
    assert_eq!(start, bytes[..5]);
}
