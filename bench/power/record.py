"""Keeps the record of a series: one line for each cut and each state, written after every one."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCHEMA = "steadfast-power"
SCHEMA_VERSION = 1
KINDS = ("cuts", "states")
Row = dict[str, Any]


class RecordError(Exception):
    """The file is not a record of this series, so nothing is added to it."""


class Record:
    """A record in a file. What is there already is not run again."""

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        self._path = path
        self._adding = threading.Lock()
        self.data: dict[str, Any] = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, **head}
        self.data |= {kind: [] for kind in KINDS}
        if path.exists():
            self._resume(json.loads(path.read_text()), head)
        self._done = {kind: {row["name"] for row in self.data[kind]} for kind in KINDS}

    def _resume(self, earlier: dict[str, Any], head: Mapping[str, Any]) -> None:
        if earlier["seed"] != head["seed"]:
            raise RecordError(f"`{self._path}` has another seed; name another file")
        if earlier["versions"]["sha256"] != head["versions"]["sha256"]:
            raise RecordError(f"`{self._path}` is of another program; name another file")
        self.data = earlier

    def has(self, kind: str, name: str) -> bool:
        return name in self._done[kind]

    def add(self, kind: str, row: Row) -> None:
        """Adds a row and writes the file anew, whole or not at all. Any thread may call it."""
        with self._adding:
            self.data[kind].append(row)
            self._done[kind].add(row["name"])
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._path.with_name(self._path.name + ".new")
            fresh.write_text(compact(self.data))
            fresh.replace(self._path)


def compact(data: Mapping[str, Any]) -> str:
    """JSON with one row on each line."""
    head = {key: value for key, value in data.items() if key not in KINDS}
    text = json.dumps(head, indent=2).removesuffix("\n}")
    for kind in KINDS:
        rows = ",\n    ".join(json.dumps(row) for row in data[kind])
        text += f',\n  "{kind}": [\n    {rows}\n  ]'
    return text + "\n}\n"


def table(data: Mapping[str, Any]) -> str:
    """The faults and counts of a record, by kind and file system, as Markdown."""
    columns = [(kind, system) for kind in KINDS for system in _systems(data, kind)]
    heads = " | ".join(f"{kind}, {system}" for kind, system in columns)
    lines = [f"| | {heads} |", f"| --- |{' --: |' * len(columns)}"]

    def add(title: str, values: list[int]) -> None:
        lines.append(f"| {title} | {' | '.join(str(value) for value in values)} |")

    rows = [[row for row in data[kind] if row["fs"] == system] for kind, system in columns]
    add("run", [len(some) for some in rows])
    add("with a fault", [sum(bool(row["faults"]) for row in some) for some in rows])
    faults = [_times([{fault[0]: 1 for fault in row["faults"]} for row in some]) for some in rows]
    counts = [_times([{name: 1 for name in row["counts"]} for row in some]) for some in rows]
    for title, some in (("fault", faults), ("count", counts)):
        for name in sorted(set().union(*some)):
            add(f"{title}: {name}", [one[name] for one in some])
    return "\n".join([*lines, ""])


def _systems(data: Mapping[str, Any], kind: str) -> list[str]:
    return sorted({row["fs"] for row in data[kind]})


def _times(rows: list[dict[str, int]]) -> Counter[str]:
    """In how many rows each name is."""
    return sum((Counter(row) for row in rows), Counter())
