"""A job: the folder in; its shards, and which of them have no part yet, out. Writes nothing."""

from dataclasses import dataclass
from pathlib import Path

from .document import Damaged, records


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
        if table["job"] != header["job"] or len(rows) != header["shards"]:
            raise Damaged(f"{folder / 'shards.jsonl'}: it is of another job")
        shards = (
            Shard(row["shard"], row["device"], row["files"], row["bytes"], row.get("checked_s"))
            for row in rows
        )
        return Job(folder, header["job"], tuple(shards))

    def done(self) -> set[int]:
        """Returns the shards that have a part; whether it is whole, the command says."""
        return {int(part.stem) for part in (self.folder / "parts").glob("[0-9]*.jsonl")}

    def todo(self) -> list[Shard]:
        """Returns the shards without a part, the longest-unchecked first."""
        done = self.done()
        return sorted((s for s in self.shards if s.number not in done), key=lambda s: s.age)
