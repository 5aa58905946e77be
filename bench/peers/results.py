"""In: a record. Out: figures of one participant, and ratios between two.

The one place where samples become numbers; tables and targets ask here. A record holds what was
measured and nothing that follows from it. It must not know how numbers are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from stats import Estimate, estimate, paired_ratios

Record = Mapping[str, Any]
SCHEMA = "steadfast-peers"
SCHEMA_VERSION = 1
# A reading counts as warm if at most this share came from the storage, as cold if at least that.
WARM_SHARE_MAX = 0.02
COLD_SHARE_MIN = 0.90


@dataclass(frozen=True)
class Cell:
    """Where and what: a corpus, a condition of the cache, an operation."""

    corpus: str
    cache: str
    operation: str


@dataclass(frozen=True)
class Row:
    """One participant in one cell. Rates are bytes of the corpus by seconds of the clock."""

    participant: str
    algorithm: str
    role: str
    wall_s: Estimate
    processor_s: float
    rss_bytes: int
    switches: int
    rate_bytes_per_s: float
    storage_share: float
    remarks: tuple[str, ...]


class Results:
    """Answers from one record. A reference reads once a turn and stands in every cell."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._samples: list[Mapping[str, Any]] = list(record["samples"])
        self._cast: dict[str, Mapping[str, str]] = {
            one["name"]: one for one in record["participants"]
        }

    def corpora(self) -> list[str]:
        """Those with samples, in the order of the record."""
        measured = {sample["corpus"] for sample in self._samples}
        return [one["name"] for one in self._record["corpora"] if one["name"] in measured]

    def cells(self, corpus: str) -> list[Cell]:
        """The cells of a corpus that have samples of a tagger, or else of a reference."""
        found = {
            Cell(corpus, sample["cache"], sample["operation"])
            for sample in self._samples
            if sample["corpus"] == corpus
        }
        beyond = {cell for cell in found if cell.operation != "read"}
        order = {"tag": 0, "check": 1, "read": 2, "warm": 0, "cold": 1}
        return sorted(beyond or found, key=lambda one: (order[one.cache], order[one.operation]))

    def rows(self, cell: Cell) -> list[Row]:
        """Everybody in a cell, the fastest first."""
        names = dict.fromkeys(sample["participant"] for sample in self._in(cell))
        return sorted((self._row(cell, name) for name in names), key=lambda row: row.wall_s.point)

    def row(self, cell: Cell, participant: str) -> Row | None:
        """One participant in a cell, if it was there."""
        return next((row for row in self.rows(cell) if row.participant == participant), None)

    def speed(self, cell: Cell, subject: str, reference: str) -> Estimate | None:
        """How many times as fast as `reference` the subject is, from pairs of one round each."""
        ratios = paired_ratios(self._walls(cell, reference), self._walls(cell, subject))
        return estimate(ratios) if ratios else None

    def rss_bytes_max(self, participant: str) -> int | None:
        """The most memory that a participant used in any run."""
        used = [s["rss_bytes"] for s in self._samples if s["participant"] == participant]
        return max(used, default=None)

    def participants(self, role: str) -> list[str]:
        """Names of those who have samples in a role."""
        measured = {sample["participant"] for sample in self._samples}
        cast = [name for name, one in self._cast.items() if one["role"] == role]
        return [name for name in cast if name in measured]

    def corpus_bytes(self, corpus: str) -> int:
        found = (one for one in self._record["corpora"] if one["name"] == corpus)
        return int(next(found)["bytes"])

    def _in(self, cell: Cell) -> list[Mapping[str, Any]]:
        return [
            sample
            for sample in self._samples
            if (sample["corpus"], sample["cache"]) == (cell.corpus, cell.cache)
            and sample["operation"] in (cell.operation, "read")
        ]

    def _walls(self, cell: Cell, participant: str) -> dict[int, float]:
        return {
            sample["round"]: sample["wall_ns"] / 1e9
            for sample in self._in(cell)
            if sample["participant"] == participant
        }

    def _row(self, cell: Cell, participant: str) -> Row:
        samples = [one for one in self._in(cell) if one["participant"] == participant]
        wall_s = estimate([one["wall_ns"] / 1e9 for one in samples])
        length_bytes = self.corpus_bytes(cell.corpus)
        return Row(
            participant=participant,
            algorithm=self._cast[participant]["algorithm"],
            role=self._cast[participant]["role"],
            wall_s=wall_s,
            processor_s=median((one["user_ns"] + one["sys_ns"]) / 1e9 for one in samples),
            rss_bytes=max(one["rss_bytes"] for one in samples),
            switches=round(
                median(one["switches_voluntary"] + one["switches_involuntary"] for one in samples)
            ),
            rate_bytes_per_s=length_bytes / wall_s.point,
            storage_share=median(one["storage_read_bytes"] / length_bytes for one in samples),
            remarks=tuple(one["remark"] for one in samples if one["remark"]),
        )


def cache_doubtful(cell: Cell, row: Row) -> bool:
    """Whether the storage was read when it should not have been, or the other way round."""
    if cell.cache == "warm":
        return row.storage_share > WARM_SHARE_MAX
    return row.storage_share < COLD_SHARE_MIN
