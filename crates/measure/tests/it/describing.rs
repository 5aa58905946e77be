//! Medians, percentiles, histograms and marks, against NumPy and SciPy and by hand.

use steadfast_measure::stats::{
    OutlierMark, describe, deviation, histogram, mean, median, outliers, percentiles, quantile,
    trimmed_mean,
};

use crate::fitting::points;
use crate::synthetic::assert_near;

fn rates() -> Vec<f64> {
    points().iter().map(|point| point.rate_per_s()).collect()
}

#[test]
fn descriptions_agree_with_numpy_and_scipy() {
    // NumPy 2.4.6, SciPy 1.17.1: `percentile`, `trim_mean(…, 0.2)`, `median_abs_deviation`.
    let found = describe(&rates()).unwrap();
    assert_eq!(found.count, 30);
    assert_near(found.mean, 861_648_227.337_739_5, 1e-13);
    assert_near(found.median, 956_840_363.744_041, 1e-13);
    assert_near(found.quartile_low, 730_348_539.691_091_8, 1e-13);
    assert_near(found.quartile_high, 995_167_335.085_835_1, 1e-13);
    assert_near(found.trimmed_mean, 920_112_306.622_558_1, 1e-13);
    assert_near(found.deviation, 44_718_093.901_706_99, 1e-12);
    assert_near(found.min, 309_257_648.388_022_96, 1e-13);
    assert_near(found.max, 1_036_450_956.250_016_8, 1e-13);
    assert_near(trimmed_mean(&rates(), 0.2).unwrap(), found.trimmed_mean, 0.0);
}

#[test]
fn histograms_agree_with_numpy() {
    // `histogram(…, bins='fd')`.
    let found = histogram(&rates()).unwrap();
    assert_eq!(found.counts, [2, 1, 5, 2, 20]);
    assert_near(found.from, 309_257_648.388_022_96, 1e-13);
    assert_near(found.width, 145_438_661.572_398_72, 1e-13);
    assert_near(found.bounds(4).1, 1_036_450_956.250_016_8, 1e-13);
}

#[test]
fn histograms_have_bounds() {
    // One sample a million times as far as the others are apart.
    let mut far: Vec<f64> = (0..1000).map(f64::from).collect();
    far.push(1e9);
    let found = histogram(&far).unwrap();
    assert_eq!((found.counts.len(), found.counts[0], found.counts[99]), (100, 1000, 1));
    let same = histogram(&[3.0; 7]).unwrap();
    assert_eq!((same.from, same.width, same.counts), (3.0, 0.0, vec![7]));
    // The middle half is one number: log₂ 16 + 1 bins.
    let mut half = [1.0; 16];
    (half[0], half[15]) = (0.0, 2.0);
    assert_eq!(histogram(&half).unwrap().counts, [1, 0, 14, 0, 1]);
}

#[test]
fn medians_of_few() {
    assert_eq!(median(&[3.0]), Some(3.0));
    assert_eq!(median(&[4.0, 1.0]), Some(2.5));
    assert_eq!(median(&[9.0, 1.0, 4.0]), Some(4.0));
    assert_eq!(quantile(&[10.0, 20.0, 40.0], 0.75), Some(30.0));
    assert_eq!(deviation(&[1.0, 2.0, 3.0, 100.0]), Some(1.0));
    assert_eq!(trimmed_mean(&[0.0, 1.0, 2.0, 3.0, 100.0], 0.2), Some(2.0));
    assert_eq!(trimmed_mean(&[1.0, 2.0], 0.5), None);
}

#[test]
fn what_is_not_a_number_has_no_middle() {
    for values in [&[][..], &[1.0, f64::NAN], &[f64::INFINITY, 1.0]] {
        assert_eq!(median(values), None);
        assert_eq!(mean(values), None);
        assert_eq!(describe(values), None);
        assert_eq!(histogram(values), None);
        assert_eq!(outliers(values), None);
        assert_eq!(quantile(values, 0.5), None);
        assert_eq!(percentiles(values), []);
    }
}

#[test]
fn percentiles_rest_on_ten_samples() {
    let shown = |count: u32| -> Vec<f64> {
        let values: Vec<f64> = (0..count).map(f64::from).collect();
        percentiles(&values).iter().map(|found| found.percent).collect()
    };
    assert_eq!(shown(19), [0.0; 0]);
    assert_eq!(shown(20), [50.0]);
    assert_eq!(shown(50), [25.0, 50.0, 75.0]);
    assert_eq!(shown(200), [5.0, 25.0, 50.0, 75.0, 95.0]);
    assert_eq!(shown(999), shown(200));
    assert_eq!(shown(1000), [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0]);
    assert_eq!(shown(10_000).last(), Some(&99.9));
    let values: Vec<f64> = (0..=1000).map(f64::from).collect();
    assert_eq!(percentiles(&values).last().unwrap().value, 990.0);
}

#[test]
fn outliers_are_marked_and_kept() {
    // Quartiles 2 and 4, so fences at -1 and 7, and at -4 and 10.
    let values = [1.0, 2.0, 2.0, 3.0, 4.0, 4.0, 5.0];
    let with = |value: f64| {
        let mut values = values.to_vec();
        values.extend([2.5, 3.5, value]);
        let found = outliers(&values).unwrap();
        assert_eq!(found.marks.len(), values.len());
        (found.marks[9], found.apart[9], found.count_outside())
    };
    assert_eq!(with(6.0), (OutlierMark::Inside, false, 0));
    assert_eq!(with(8.0), (OutlierMark::High, false, 1));
    assert_eq!(with(11.0), (OutlierMark::VeryHigh, true, 1));
    assert_eq!(with(-2.0), (OutlierMark::Low, false, 1));
    assert_eq!(with(-90.0), (OutlierMark::VeryLow, true, 1));
    let found = outliers(&[5.0, 5.0, 5.0, 5.0, 6.0]).unwrap();
    assert_eq!(
        (found.marks[4], found.apart[4], found.count(OutlierMark::Inside)),
        (OutlierMark::VeryHigh, true, 4)
    );
}
