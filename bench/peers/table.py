"""In: a record. Out: its tables, in Markdown.

Every figure comes from `results`; here it only gets its unit and its place. It must not measure.
"""

from __future__ import annotations

from results import Cell, Record, Results, Row, cache_doubtful
from stats import Estimate
from targets import Verdict, judge

REFERENCE = "openssl x2"
# Whom a row's last ratio is about, by algorithm; others are held against plain Steadfast.
OURS = {"blake3": "steadfast blake3"}
HEADINGS = (
    "participant",
    "digest",
    "wall s",
    "min–max",
    "GB/s",
    f"× {REFERENCE}",
    "× Steadfast",
    "CPU s",
    "RSS MiB",
    "switches",
    "n",
)
EXPLANATION = (
    "Wall, CPU and switches are medians, RSS is the most of any run. `×` says how many times as "
    "fast as that row this one is: the median of pairs, one from each round, and in brackets its "
    "95 % bootstrap interval."
)
QUICK = "**A quick run on tiny files: it shows that the harness works and measures nothing.**"


def document(record: Record) -> str:
    """The whole record: where it was taken, a table for each cell, the targets, what is missing."""
    results = Results(record)
    parts = [_head(record)]
    for corpus in results.corpora():
        files = next(one for one in record["corpora"] if one["name"] == corpus)["files"]
        size = results.corpus_bytes(corpus) / 1e9
        parts.append(f"## {corpus}: {files:,} {'file' if files == 1 else 'files'}, {size:.3g} GB")
        floor = record["floor"]["rss_bytes"]
        parts += [_cell(results, cell, floor) for cell in results.cells(corpus)]
    parts += [EXPLANATION, _targets(judge(results), record["quick"]), _absent(record)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(record: Record) -> str:
    machine = record["machine"]
    memory = machine["memory_bytes"] / 1e9
    virtual = ", virtual" if machine["virtual"] else ""
    lines = [
        f"# Peers: Steadfast {record['versions']['steadfast']}",
        "",
        f"{machine['processor']} ({machine['processor_family']}; "
        f"{' '.join(machine['instructions'])}), {machine['processors']} processors{virtual}, "
        f"{memory:.0f} GB; {machine['system']}, kernel {machine['kernel']}; "
        f"{machine['file_system']} on {machine['device']}. {record['started']}, "
        f"{record['rounds']} rounds, seed {record['seed']}, "
        f"load before {record['load_before']:.1f}, after {record['load_after']:.1f}.",
    ]
    if record["quick"]:
        lines += ["", QUICK]
    return "\n".join(lines)


def _cell(results: Results, cell: Cell, rss_floor_bytes: int) -> str:
    rows = results.rows(cell)
    doubtful = [row.participant for row in rows if cache_doubtful(cell, row)]
    lines = [
        f"### {cell.corpus}: {cell.operation}, {cell.cache}",
        "",
        _line(HEADINGS),
        _line(["---", "---"] + ["--:"] * (len(HEADINGS) - 2)),
        *(_line(_columns(results, cell, row, rss_floor_bytes)) for row in rows),
    ]
    if doubtful:
        lines += ["", f"The cache was not {cell.cache} as it should be for: {', '.join(doubtful)}."]
    return "\n".join(lines)


def _columns(results: Results, cell: Cell, row: Row, rss_floor_bytes: int) -> list[str]:
    wall_s = row.wall_s
    ours = OURS.get(row.algorithm, "steadfast")
    mib = row.rss_bytes / (1 << 20)
    bound = "≤ " if row.rss_bytes <= rss_floor_bytes else ""
    return [
        f"**{row.participant}**" if row.role == "ours" else row.participant,
        row.algorithm,
        seconds(wall_s.point),
        f"{seconds(wall_s.minimum)}–{seconds(wall_s.maximum)}",
        f"{row.rate_bytes_per_s / 1e9:.2f}",
        times(results.speed(cell, row.participant, REFERENCE)),
        times(results.speed(cell, row.participant, ours)),
        seconds(row.processor_s),
        f"{bound}{mib:.0f}",
        f"{row.switches:,}",
        str(wall_s.count),
    ]


def seconds(value: float) -> str:
    """Three digits, so that a millisecond shows where it matters."""
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def times(ratio: Estimate | None) -> str:
    """A ratio with its interval; one pair has none."""
    if ratio is None:
        return "–"
    if ratio.count == 1:
        return f"{ratio.point:.2f}"
    return f"{ratio.point:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _targets(verdicts: list[Verdict], quick: bool) -> str:
    lines = ["## Targets" + (" (of a quick run: no verdicts)" if quick else ""), ""]
    for one in verdicts:
        word = {True: "PASS", False: "MISS", None: "----"}[None if quick else one.holds]
        lines.append(f"- {word} {one.promise}: wanted {one.wanted}, measured {one.measured}")
    return "\n".join(lines)


def _absent(record: Record) -> str:
    lines = [f"- {name}: {reason}" for name, reason in sorted(record["left_out"].items())]
    for one in record["failures"]:
        where = f"{one['corpus']} {one['cache']}, round {one['round'] + 1}"
        lines.append(f"- {one['participant']}, {one['operation']} ({where}): {one['problem']}")
    if not lines:
        return ""
    return "\n".join(["## Left out, and answers that did not count", "", *lines])


def _line(columns: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(columns) + " |"
