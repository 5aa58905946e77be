"""A job: the folder in; its shards, and which of them have no part yet, out. Writes nothing."""

import os
from dataclasses import dataclass
from pathlib import Path

from .document import Damaged, last_record, records


@dataclass(frozen=True)
class Shard:
    """One shard, as the table of a job has it."""

    number: int
    device: int
    files: int
    bytes: int
    checked_s: int | None
    """When the longest-unchecked of its files was last judged; `None` where that is not known."""

    @property
    def part(self) -> str:
        """The name of its part."""
        return f"{self.number:05}.jsonl"

    @property
    def age(self) -> tuple[float, int]:
        """What to sort by, so that the longest-unchecked comes first."""
        return (float("-inf") if self.checked_s is None else self.checked_s, self.number)


@dataclass(frozen=True)
class Job:
    """A planned job."""

    folder: Path
    name: str
    shards: tuple[Shard, ...]

    @staticmethod
    def open(folder: Path) -> "Job":
        """Reads what was planned, and makes sure that it is whole."""
        folder = folder.resolve()
        (header,) = records(folder / "job.jsonl", "steadfast_fleet_job")
        table, *rows = records(folder / "shards.jsonl", "steadfast_fleet_table")
        try:
            if table["job"] != header["job"] or len(rows) != header["shards"]:
                raise Damaged(f"{folder / 'shards.jsonl'}: it is of another job")
            shards = tuple(
                Shard(row["shard"], row["device"], row["files"], row["bytes"], row.get("checked_s"))
                for row in rows
            )
        except KeyError as error:
            raise Damaged(f"{folder}: a document of it lacks {error}") from None
        return Job(folder, header["job"], shards)

    def ended(self) -> dict[int, int]:
        """Returns the shards that have a part, and what a check of each would have ended with.

        A part whose end makes no sense is none: `steadfast fleet run` makes it anew. Whether a part
        is whole, the command says.
        """
        folder = self.folder / "parts"
        there = set(os.listdir(folder)) if folder.is_dir() else set()
        statuses = {}
        for shard in self.shards:
            if shard.part in there:
                try:
                    summary = last_record(folder / shard.part)["summary"]
                    if summary["files"] == shard.files:
                        statuses[shard.number] = int(summary["exit_status"])
                except (Damaged, OSError, KeyError, TypeError, ValueError):
                    continue
        return statuses

    def done(self) -> set[int]:
        """Returns the shards that have a part."""
        return set(self.ended())

    def todo(self) -> list[Shard]:
        """Returns the shards without a part, the longest-unchecked first."""
        done = self.done()
        return sorted((s for s in self.shards if s.number not in done), key=lambda s: s.age)
