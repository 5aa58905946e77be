"""In: results. Out: what Steadfast promises, each with what was measured and whether it holds.

The promises are ratios within one run on one machine. It must not know how they are printed.
"""

from __future__ import annotations

from dataclasses import dataclass

from results import Cell, Results
from stats import Estimate

OURS = "steadfast"
MIB = 1 << 20
RSS_LEN_BYTES_MAX = 64 * MIB
BLAKE3_RIVALS = ["b3sum", "filepack", "filepack --parallel"]


@dataclass(frozen=True)
class Verdict:
    """One promise. `ratio` and `wanted` are in the same unit; no ratio means not measured."""

    promise: str
    wanted: str
    holds: bool | None
    measured: str
    ratio: Estimate | None = None


def judge(results: Results) -> list[Verdict]:
    """Every promise in a fixed order, those of which nothing is known among them."""
    large, one = Cell("large", "warm", "check"), Cell("one", "warm", "check")
    small, small_cold = Cell("small", "warm", "check"), Cell("small", "cold", "check")
    peers = results.participants("peer")
    return [
        _faster(results, large, OURS, ["openssl x2"], 1.9),
        _faster(results, Cell("large", "warm", "tag"), OURS, ["openssl x2"], 1.9),
        _faster(results, one, OURS, ["openssl"], 1.25),
        Verdict("one warm: share of the one-message kernel", "0.95x", None, "by the kernel bench"),
        _faster(results, small, OURS, peers, 3.0, "the fastest checker"),
        _faster(results, small, OURS, ["openssl x2"], 2.0),
        _faster(results, small_cold, OURS, [*peers, "openssl x2"], 2.0, "the fastest peer"),
        _floor(results, small_cold),
        _storage(results, OURS, "fio x2"),
        _storage(results, "steadfast media", "fio x2 direct"),
        Verdict("page digests of a 150 MB Mach-O", "5x", None, "by another harness"),
        _faster(results, large, "steadfast blake3", BLAKE3_RIVALS, 1.0, "the fastest"),
        _memory(results),
    ]


def _faster(
    results: Results, cell: Cell, subject: str, rivals: list[str], wanted: float, group: str = ""
) -> Verdict:
    """Against the rival with the least median time; `group` names them if there are several."""
    what = f"{cell.corpus} {cell.cache} {cell.operation}: {subject}"
    fastest = next((row for row in results.rows(cell) if row.participant in rivals), None)
    if fastest is None:
        rival = group or rivals[0]
        return Verdict(f"{what} against {rival}", f"{wanted:g}x", None, "no samples")
    promise = f"{what} against {fastest.participant}" + (f" ({group})" if group else "")
    ratio = results.speed(cell, subject, fastest.participant)
    holds = None if ratio is None else ratio.point >= wanted
    return Verdict(promise, f"{wanted:g}x", holds, _shown(ratio), ratio)


def _floor(results: Results, cell: Cell) -> Verdict:
    """Not a promise: how near the reading of the same files by `cat` is."""
    ratio = results.speed(cell, OURS, "cat x2")
    promise = f"{cell.corpus} {cell.cache} {cell.operation}: steadfast against the floor, cat x2"
    return Verdict(promise, "(no target)", None, _shown(ratio), ratio)


def _storage(results: Results, subject: str, reference: str) -> Verdict:
    """As fast as the storage, or else bound by the digest, as the program itself says."""
    cell = Cell("mixed", "cold", "check")
    ratio = results.speed(cell, subject, reference)
    row = results.row(cell, subject)
    remarks = row.remarks if row is not None else ()
    hash_bound = sum("SHA-256" in remark for remark in remarks) * 2 > len(remarks)
    holds = None if ratio is None else ratio.point >= 0.95 or hash_bound
    measured = _shown(ratio) + (", says: bound by SHA-256" if ratio and hash_bound else "")
    promise = f"mixed cold check: {subject} against {reference}"
    return Verdict(promise, "0.95x or hash-bound", holds, measured, ratio)


def _memory(results: Results) -> Verdict:
    used = {name: results.rss_bytes_max(name) or 0 for name in results.participants("ours")}
    promise = "every run: most memory of Steadfast"
    if not used:
        return Verdict(promise, "64 MiB", None, "no samples")
    worst = max(used, key=lambda name: used[name])
    measured = f"{used[worst] / MIB:.1f} MiB ({worst})"
    return Verdict(promise, "64 MiB", used[worst] <= RSS_LEN_BYTES_MAX, measured)


def _shown(ratio: Estimate | None) -> str:
    if ratio is None:
        return "no samples"
    return f"{ratio.point:.2f}x [{ratio.low:.2f}, {ratio.high:.2f}] of {ratio.count} pairs"
