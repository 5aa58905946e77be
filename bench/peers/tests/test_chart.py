"""In: the records of the repository, and small panels. Out: whether the chart says what they say."""

import unittest
from xml.etree import ElementTree

import chart
from results import Cell, Row
from stats import estimate


def row(participant: str, role: str, walls_s: list[float]) -> Row:
    wall_s = estimate(walls_s)
    rate = 8e9 / wall_s.point
    return Row(participant, "sha256", role, wall_s, 1.0, 1 << 20, 10, rate, 1.0, ())


class TheChart(unittest.TestCase):
    def test_the_one_in_the_repository_follows_from_the_records(self) -> None:
        self.assertEqual(chart.CHART.read_text(), chart.draw(chart.panels(chart.RECORDS)))

    def test_bars_start_at_zero_and_are_as_long_as_the_rates(self) -> None:
        rows = [row("steadfast", "ours", [2.0, 1.0, 4.0]), row("<slow>", "peer", [8.0])]
        panel = chart.Panel(Cell("large", "warm", "check"), rows, "a record", 8 * 10**9)
        drawing = ElementTree.fromstring(chart.draw([panel]))
        bars = drawing.iter("{http://www.w3.org/2000/svg}rect")
        found = [(float(bar.attrib["x"]), float(bar.attrib["width"])) for bar in bars]
        # The axis ends at the highest rate, 8 GB/s.
        expected = [round(chart.BAR_WIDTH / parts, 1) for parts in (2, 8)]
        self.assertEqual(found, [(chart.LABEL_WIDTH, width) for width in expected])

    def test_marks_of_the_axis(self) -> None:
        self.assertEqual([chart.axis_step(rate) for rate in (8.0, 10.9, 0.9)], [2.0, 2.0, 0.2])


if __name__ == "__main__":
    unittest.main()
