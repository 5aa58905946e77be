"""In: values whose medians are known. Out: whether estimates and ratios say so."""

import unittest

from stats import RESAMPLES, estimate, paired_ratios


class Estimates(unittest.TestCase):
    def test_the_point_is_the_median_and_not_the_mean(self) -> None:
        found = estimate([1.0, 2.0, 3.0, 4.0, 1000.0])
        self.assertEqual(found.point, 3.0)
        self.assertEqual((found.minimum, found.maximum, found.count), (1.0, 1000.0, 5))

    def test_the_interval_holds_the_point_and_stays_within_the_range(self) -> None:
        found = estimate([5.0, 5.1, 4.9, 5.2, 4.8, 5.0, 5.1, 9.0])
        self.assertLessEqual(found.minimum, found.low)
        self.assertLess(found.low, found.point)
        self.assertLess(found.point, found.high)
        self.assertLess(found.high, found.maximum, "one outlier of eight is not in the interval")

    def test_the_interval_narrows_with_more_values(self) -> None:
        few = estimate([1.0, 2.0, 3.0, 4.0, 5.0])
        many = estimate([1.0, 2.0, 3.0, 4.0, 5.0] * 20)
        self.assertLess(many.high - many.low, few.high - few.low)

    def test_the_same_values_give_the_same_interval(self) -> None:
        values = [0.3, 0.1, 0.4, 0.1, 0.5, 0.9, 0.2, 0.6]
        self.assertEqual(estimate(values), estimate(list(values)))

    def test_the_interval_of_two_values_is_their_range(self) -> None:
        # A quarter of all resamples of two values hold one of them only.
        found = estimate([1.0, 3.0])
        self.assertEqual((found.low, found.point, found.high), (1.0, 2.0, 3.0))

    def test_one_value_has_no_spread(self) -> None:
        found = estimate([7.0])
        self.assertEqual((found.low, found.point, found.high, found.count), (7.0, 7.0, 7.0, 1))

    def test_no_value_is_refused(self) -> None:
        self.assertRaises(ValueError, estimate, [])
        self.assertGreaterEqual(RESAMPLES, 1000)


class Ratios(unittest.TestCase):
    def test_each_round_is_paired_with_itself(self) -> None:
        # The machine is three times slower in round 1; the ratio does not see it.
        self.assertEqual(paired_ratios({0: 2.0, 1: 6.0}, {1: 3.0, 0: 1.0}), [2.0, 2.0])

    def test_rounds_that_only_one_has_do_not_count(self) -> None:
        self.assertEqual(paired_ratios({0: 2.0, 2: 9.0}, {0: 1.0, 1: 5.0}), [2.0])
        self.assertEqual(paired_ratios({0: 2.0}, {1: 1.0}), [])


if __name__ == "__main__":
    unittest.main()
