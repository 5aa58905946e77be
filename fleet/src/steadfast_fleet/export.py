"""A result as Parquet, for whoever joins billions of rows. pyarrow is loaded here alone."""

import base64
import os
from itertools import islice
from pathlib import Path
from typing import Any

from .document import records

ROWS_MAX = 65_536
"""Rows that are held at a time."""
TEXTS = ("path", "kind", "verdict", "algorithm", "digest", "error")
RECORDED = ("recorded_algorithm", "recorded_digest")


MAGIC = b"PAR1"
"""What every Parquet file begins with."""


class Refused(Exception):
    """What was asked for is not done."""


def ensure_ours(result: Path, out: Path) -> None:
    """Refuses to write over anything but an earlier export."""
    if not out.exists() and not out.is_symlink():
        return
    if out.is_file() and not (result.exists() and out.samefile(result)):
        with out.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                return
    raise Refused(f"{out} is something else, and is not overwritten")


def export_parquet(result: Path, out: Path) -> int:
    """Writes every row of a result, whole or not at all, and returns how many there are."""
    ensure_ours(result, out)
    import pyarrow
    from pyarrow import parquet

    columns = [(name, pyarrow.string()) for name in (*TEXTS, *RECORDED)]
    columns += [("path_bytes", pyarrow.binary()), ("length", pyarrow.uint64())]
    schema = pyarrow.schema([*columns, ("mtime_ns", pyarrow.int64())])
    rows = records(result, "steadfast_fleet_result")
    next(rows)
    count, draft = 0, out.with_name(f".{out.name}.draft")
    try:
        with parquet.ParquetWriter(draft, schema, compression="zstd") as writer:
            while batch := [flat(row) for row in islice(rows, ROWS_MAX) if "summary" not in row]:
                writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
                count += len(batch)
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(out)
    finally:
        draft.unlink(missing_ok=True)
    return count


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """Makes columns of a row; what was recorded is the tag's digest, or the reference's first."""
    encoded, mtime = row.get("path_b64"), row.get("mtime_ns")
    digests = list(row.get("reference", {}).get("digests", {}).items())
    stored = row.get("stored", {})
    recorded = digests[0] if digests else (stored.get("algorithm"), stored.get("digest"))
    return {
        **{name: row.get(name) for name in TEXTS},
        **dict(zip(RECORDED, recorded, strict=True)),
        "path_bytes": base64.b64decode(encoded) if encoded else row["path"].encode(),
        "length": row.get("length"),
        # Times before 1677 and after 2262 are beyond 64 bits: absent here, exact in the result.
        "mtime_ns": mtime if isinstance(mtime, int) else None,
    }
