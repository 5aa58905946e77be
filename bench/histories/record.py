"""Keeps the record of a series, and prints its table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SCHEMA = "steadfast-histories"
SCHEMA_VERSION = 1
KINDS = ("histories", "races", "kills", "strangers")
Row = dict[str, Any]


class RecordError(Exception):
    """The file is not a record of this series, so nothing is added to it."""


class Record:
    """A record in a file. What is there already is not run again."""

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        self._path = path
        self.data: dict[str, Any] = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, **head}
        self.data["rows"] = []
        if path.exists():
            earlier = json.loads(path.read_text())
            if any(earlier[key] != head[key] for key in ("seed", "sha256")):
                raise RecordError(f"`{path}` has another seed or program; name another file")
            self.data = earlier
        self.done = {row["name"] for row in self.data["rows"]}

    def add(self, rows: Sequence[Row]) -> None:
        """Adds rows and writes the file anew, whole or not at all."""
        self.data["rows"] += rows
        self.done.update(row["name"] for row in rows)
        head = {key: value for key, value in self.data.items() if key != "rows"}
        text = json.dumps(head, indent=2).removesuffix("\n}")
        lines = ",\n    ".join(json.dumps(row) for row in self.data["rows"])
        fresh = self._path.with_name(self._path.name + ".new")
        fresh.write_text(f'{text},\n  "rows": [\n    {lines}\n  ]\n}}\n')
        fresh.replace(self._path)

    @property
    def has_faults(self) -> bool:
        return any(row["faults"] for row in self.data["rows"])


def table(data: Mapping[str, Any]) -> str:
    """The faults and counts of a record, by kind and file system, as Markdown."""
    rows = data["rows"]
    columns = sorted(
        {(KINDS.index(row["kind"]), row["fs"]) for row in rows},
    )
    heads = " | ".join(f"{KINDS[kind]}, {system}" for kind, system in columns)
    lines = [f"| | {heads} |", f"| --- |{' --: |' * len(columns)}"]
    some = [
        [row for row in rows if (KINDS.index(row["kind"]), row["fs"]) == column]
        for column in columns
    ]

    def add(title: str, values: Sequence[int]) -> None:
        lines.append(f"| {title} | {' | '.join(str(value) for value in values)} |")

    add("run", [len(one) for one in some])
    add("with a fault", [sum(bool(row["faults"]) for row in one) for one in some])
    for title, counters in (
        ("fault", [_times(one, "faults") for one in some]),
        ("count", [_times(one, "counts") for one in some]),
    ):
        for name in sorted(set().union(*counters)):
            add(f"{title}: {name}", [one[name] for one in counters])
    return "\n".join([*lines, ""])


def _times(rows: Sequence[Row], key: str) -> Counter[str]:
    """In how many rows each kind of fault is, or each count altogether."""
    found: Counter[str] = Counter()
    for row in rows:
        if key == "faults":
            found.update({kind for kind, _ in row["faults"]})
        else:
            found.update(row["counts"])
    return found
