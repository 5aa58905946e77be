"""Documents of lines whose last line tells the rest whole: a path in, records out."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


TAIL_LEN = 64 << 10
"""Bytes at the end of a document in which its last two lines are looked for."""


class Damaged(Exception):
    """A document is not as it was written."""


def records(path: Path, version_key: str) -> Iterator[dict[str, Any]]:
    """Yields the header and then every record; raises `Damaged` at the end if that is not true."""
    digest, count = hashlib.sha256(), -1
    with path.open("rb") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError as error:
                raise Damaged(f"{path}: {error}") from None
            if not isinstance(record, dict):
                raise Damaged(f"{path}: line {count + 2} of it is no object")
            if line.startswith(b'{"records":'):
                if record != {"records": count, "sha256": digest.hexdigest()} or lines.read(1):
                    raise Damaged(f"{path}: its last line tells another count or digest")
                return
            if count < 0 and record.get(version_key) != 1:
                raise Damaged(f"{path}: it does not begin with {version_key} 1")
            digest.update(line)
            count += 1
            yield record
    raise Damaged(f"{path}: its last line is missing: it was cut short")


def last_record(path: Path) -> dict[str, Any]:
    """Returns the record before the last line: enough to show how it ended, not to believe it."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, 2) - TAIL_LEN, 0))
        lines = file.read().splitlines()
    try:
        record = json.loads(lines[-2]) if lines[-1].startswith(b'{"records":') else None
    except (IndexError, ValueError):
        record = None
    if not isinstance(record, dict):
        raise Damaged(f"{path}: its end cannot be understood")
    return record
