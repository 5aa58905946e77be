"""The lines of JSON as objects."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Verdict: TypeAlias = Literal[
    "intact", "touched", "modified", "differs", "suspect", "corrupt", "untagged", "missing",
    "moved", "unstable", "unreadable",
]

Raw: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class StoredTag:
    """The tag that a file has."""

    algorithm: str
    digest: str
    length: int
    mtime_ns: int
    tagged_s: int


@dataclass(frozen=True)
class File:
    """What is known about a file, or about a directory that could not be walked."""

    path: str
    verdict: Verdict | None
    action: str | None
    algorithm: str | None
    digest: str | None
    length: int | None
    mtime_ns: int | None
    stored: StoredTag | None
    error: str | None
    # Why contents that differ got their verdict, and when the file system last wrote to the file.
    reason: str | None
    changed_ns: int | None
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True)
class Finding:
    """Something that only the catalogue shows about a file."""

    path: str
    finding: str
    detail: str | None
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True)
class Notice:
    """A circumstance that is not a problem of one file."""

    notice: str
    path: str | None
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True)
class Summary:
    """The end of a run. Status: 0 nothing wrong, 1 modified or missing, 2 could not tell, 3 corrupt."""

    verb: str
    exit_status: int
    interrupted: bool
    files: int
    bytes: int
    verdicts: Mapping[str, int]
    raw: Raw = field(repr=False, compare=False)


Event: TypeAlias = File | Finding | Notice | Summary


def event_of(line: Raw) -> Event:
    """Returns the event of a line."""
    if "summary" in line:
        summary = line["summary"]
        return Summary(
            verb=summary["verb"],
            exit_status=summary["exit_status"],
            interrupted=summary["interrupted"],
            files=summary["files"],
            bytes=summary["bytes"],
            verdicts=summary["verdicts"],
            raw=summary,
        )
    if "notice" in line:
        return Notice(line["notice"], _path(line) if "path" in line else None, line)
    if "finding" in line:
        return Finding(_path(line), line["finding"], line.get("detail"), line)
    return File(
        path=_path(line),
        verdict=line.get("verdict"),
        action=line.get("action"),
        algorithm=line.get("algorithm"),
        digest=line.get("digest"),
        length=line.get("length"),
        mtime_ns=_integer(line.get("mtime_ns")),
        stored=_stored(line.get("stored")),
        error=line.get("error"),
        reason=line.get("reason"),
        changed_ns=_integer(line.get("changed_ns")),
        raw=line,
    )


def _path(line: Raw) -> str:
    """The path as functions of `os` take it, also if it is not UTF-8."""
    encoded = line.get("path_b64")
    return os.fsdecode(base64.b64decode(encoded)) if encoded else str(line["path"])


def _integer(value: int | str | None) -> int | None:
    # Moments that a signed 64-bit integer cannot hold are strings.
    return None if value is None else int(value)


def _stored(tag: Raw | None) -> StoredTag | None:
    if tag is None:
        return None
    return StoredTag(
        tag["algorithm"], tag["digest"], tag["length"], int(tag["mtime_ns"]), tag["tagged_s"]
    )
