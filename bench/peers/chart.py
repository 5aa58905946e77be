"""In: the records of all machines. Out: docs/images/speed.svg, the chart of the README.

Draws how fast each participant checks: a panel for each corpus and condition of the cache, from the
newest record that has it. Records made beside other work are left out, because their seconds say
little. Run it again after adding a record: `python3 bench/peers/chart.py`. It must not know how
samples become numbers.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from results import Cell, Results, Row

REPOSITORY = Path(__file__).resolve().parents[2]
RECORDS = REPOSITORY / "bench" / "record"
CHART = REPOSITORY / "docs" / "images" / "speed.svg"

CORPORA = {"large": "4 files of 1 GiB", "small": "50,000 files of 1–64 KiB"}
CACHES = {"warm": "in memory", "cold": "from the disk"}
# The load of a series on an otherwise idle machine of two processors: its own, and some.
LOAD_IDLE_MAX = 3.0

COLUMN_WIDTH, LABEL_WIDTH, BAR_WIDTH = 460, 175, 215
ROW_HEIGHT, BAR_HEIGHT, HEAD_HEIGHT, AXIS_HEIGHT, GAP = 18, 11, 44, 34, 16

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.head { font-size: 14px; font-weight: 600; }
.ours { font-weight: 700; }
.quiet { fill: #59636e; font-size: 11px; }
.bar { fill: #b9c3cd; stroke: #59636e; stroke-width: 0.5; }
.bar.ours { fill: #0969da; stroke: #0969da; }
.spread { stroke: #1f2328; }
.grid { stroke: #d1d9e0; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .quiet { fill: #9198a1; }
  .bar { fill: #4a535d; stroke: #9198a1; }
  .bar.ours { fill: #4493f8; stroke: #4493f8; }
  .spread { stroke: #e6edf3; }
  .grid { stroke: #3d444d; }
}
"""


@dataclass(frozen=True)
class Panel:
    """The rows of one cell, the fastest first, and what its record says of the series."""

    cell: Cell
    rows: Sequence[Row]
    source: str
    length_bytes: int


def panels(folder: Path) -> list[Panel]:
    """The cells of the chart, each from the newest record that has samples of it."""
    found: dict[Cell, Panel] = {}
    for path in sorted(folder.glob("*/[0-9]*.json"), key=lambda path: path.name):
        record = json.loads(path.read_text())
        if max(record["load_before"], record["load_after"]) > LOAD_IDLE_MAX:
            continue
        results = Results(record)
        for corpus in set(CORPORA) & set(results.corpora()):
            for cell in results.cells(corpus):
                checks = [row for row in results.rows(cell) if row.role != "reference"]
                if cell.operation == "check":
                    source = f"{path.parent.name}/{path.name}, {record['rounds']} rounds"
                    length_bytes = results.corpus_bytes(corpus)
                    found[cell] = Panel(cell, checks, source, length_bytes)
    cells = [Cell(corpus, cache, "check") for corpus in CORPORA for cache in CACHES]
    return [found[cell] for cell in cells if cell in found]


def draw(drawn: Sequence[Panel]) -> str:
    """The chart as SVG. The same records give the same text."""
    heights = [panel_height(panel) for panel in drawn]
    bands = [max(heights[at : at + 2]) + GAP for at in range(0, len(heights), 2)]
    width, height = 2 * COLUMN_WIDTH + GAP, sum(bands)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title desc">',
        '<title id="title">How fast programs check files</title>',
        f'<desc id="desc">{escape("; ".join(map(described, drawn)))}</desc>',
        f"<style>{STYLE}</style>",
    ]
    for at, panel in enumerate(drawn):
        x, y = at % 2 * (COLUMN_WIDTH + GAP), sum(bands[: at // 2])
        lines += [f'<g transform="translate({x},{y})">', *draw_panel(panel), "</g>"]
    return "\n".join([*lines, "</svg>", ""])


def panel_height(panel: Panel) -> int:
    return HEAD_HEIGHT + len(panel.rows) * ROW_HEIGHT + AXIS_HEIGHT


def heading(panel: Panel) -> str:
    return f"{CORPORA[panel.cell.corpus]}, {CACHES[panel.cell.cache]}"


def described(panel: Panel) -> str:
    """A panel in words, for those who do not see it."""
    rates = (f"{row.participant} {row.rate_bytes_per_s / 1e9:.2f}" for row in panel.rows)
    return f"{heading(panel)}, in GB/s: {', '.join(rates)}"


def draw_panel(panel: Panel) -> Iterator[str]:
    step = axis_step(max(fastest(panel, row) for row in panel.rows))
    steps = math.ceil(max(fastest(panel, row) for row in panel.rows) / step)
    scale = BAR_WIDTH / (step * steps)
    bottom = HEAD_HEIGHT + len(panel.rows) * ROW_HEIGHT
    yield f'<text class="head" x="0" y="16">{escape(heading(panel))}</text>'
    yield f'<text class="quiet" x="0" y="32">{escape(panel.source)}</text>'
    for number in range(steps + 1):
        x = LABEL_WIDTH + number * step * scale
        yield f'<path class="grid" d="M{x:.1f} {HEAD_HEIGHT - 4}V{bottom}"/>'
        label = f"{number * step:g}" + (" GB/s" if number == steps else "")
        yield f'<text class="quiet" x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{label}</text>'
    for at, row in enumerate(panel.rows):
        yield from draw_row(panel, row, HEAD_HEIGHT + at * ROW_HEIGHT, scale)


def draw_row(panel: Panel, row: Row, y: int, scale: float) -> Iterator[str]:
    """A bar to the median rate, a line from the lowest rate to the highest, and the figure."""
    ours = " ours" if row.role == "ours" else ""
    rate = row.rate_bytes_per_s / 1e9
    slowest = panel.length_bytes / row.wall_s.maximum / 1e9
    left, right = LABEL_WIDTH + slowest * scale, LABEL_WIDTH + fastest(panel, row) * scale
    base, middle = y + 12, y + 8
    name = escape(f"{row.participant.removesuffix(' blake3')}, {row.algorithm}")
    yield f'<text class="{ours.strip()}" x="0" y="{base}">{name}</text>'
    bar = f'x="{LABEL_WIDTH}" y="{y + 2}" width="{rate * scale:.1f}" height="{BAR_HEIGHT}"'
    yield f'<rect class="bar{ours}" {bar}/>'
    yield f'<path class="spread" d="M{left:.1f} {middle}H{right:.1f}"/>'
    yield f'<text class="quiet" x="{right + 6:.1f}" y="{base}">{rate:.2f}</text>'


def fastest(panel: Panel, row: Row) -> float:
    return panel.length_bytes / row.wall_s.minimum / 1e9


def axis_step(highest: float) -> float:
    """The distance of the axis's marks: 1, 2 or 5 times a power of ten, three to seven of them."""
    power = 10 ** math.floor(math.log10(highest / 3))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= highest / 3)


def main() -> int:
    CHART.write_text(draw(panels(RECORDS)))
    print(f"wrote {CHART}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
