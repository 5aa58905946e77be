"""In: samples of one quantity, in the order of the rounds. Out: a median with its spread.

It must not know what was measured. Nothing is thrown away: an outlier shows in the spread.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

RESAMPLES = 2_000
SEED = 20_240_229
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A median, the range of what it was taken from, and an interval for it.

    The interval is the percentile bootstrap of the median at `LEVEL`; it equals the point when
    there is one sample only, which `count` tells.
    """

    point: float
    low: float
    high: float
    minimum: float
    maximum: float
    count: int


def estimate(values: Sequence[float]) -> Estimate:
    """Summarises at least one value. The same values give the same interval."""
    if not values:
        raise ValueError("no values to estimate from")
    generator = random.Random(SEED)
    medians = sorted(median(generator.choices(values, k=len(values))) for _ in range(RESAMPLES))
    tail = round((1 - LEVEL) / 2 * (RESAMPLES - 1))
    return Estimate(
        point=median(values),
        low=medians[tail],
        high=medians[-1 - tail],
        minimum=min(values),
        maximum=max(values),
        count=len(values),
    )


def paired_ratios(reference: Mapping[int, float], subject: Mapping[int, float]) -> list[float]:
    """Divides the reference by the subject, round by round, where both have a value.

    With seconds in, the ratio says how many times as fast as the reference the subject is.
    """
    shared = sorted(reference.keys() & subject.keys())
    return [reference[number] / subject[number] for number in shared]
