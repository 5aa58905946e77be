#!/usr/bin/env python3
"""Runs verbs on trees whose catalogue a stranger wrote, and counts wrong answers, hangs and panics.

In: the program (`--steadfast`), an empty folder (`--folder`), the number of catalogues (`--count`) and
a seed (`--seed`); `--only N` makes one catalogue again. Each is made from an honest one: flipped bits,
pages that were copied, swapped or made part of many others, forged rows with right check values, rows
of another tree with right seals, absurd schemas, logs, journals and locks. Out: a table by kind. A
status 0 is wrong, because the tree has a missing file, and the file that `known` is asked about is
nowhere else; only rows with right seals may hide the missing file. Memory and processor time count
beside those of the same verb on the honest catalogue; the bounds are 64 MiB and one second.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

PAGE = 4096
MORE_MEMORY_MIB, MORE_SECONDS, HANG_SECONDS = 64, 1.0, 300

VERBS = [
    ["check", "{tree}"],
    ["status", "{tree}"],
    ["repair", "--dry-run", "{tree}"],
    ["known", "{other}", "--in", "{tree}"],
    ["show", "--history", "{tree}"],
    ["update", "{tree}"],
]
MAY_BE_ZERO = {"show"}
"""A verb that judges nothing ends with 0."""

SCHEMAS = [
    "CREATE TRIGGER sqlitet AFTER UPDATE ON slices BEGIN DELETE FROM files; END",
    "CREATE INDEX sqlitei ON files (abs(inode))",
    "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n",
    "UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'events'",
    "UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'names'",
    "UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'slices'",
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'runs') "
    "WHERE name = 'coverage'",
    "UPDATE sqlite_schema SET type = 'view' WHERE name = 'paths'",
    "DELETE FROM sqlite_schema WHERE name = 'folders'",
    "PRAGMA user_version = 1",
    "PRAGMA user_version = 2147483647",
    "INSERT INTO sqlite_schema SELECT 'view', 'v' || value, 'v', 0, printf('%.*c', 5000, 'x') "
    "FROM generate_series(1, 9000)",
]
VALUES = [0, 1, -1, 2, 7, 99, 8192, 1 << 31, (1 << 63) - 1, -(1 << 63), None, b"", b"/", b"..", "x"]

TABLE = [0] * 256
for _n in range(256):
    _value = _n
    for _ in range(8):
        _value = _value >> 1 ^ (0x82F63B78 if _value & 1 else 0)
    TABLE[_n] = _value


def crc32c(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 255] ^ value >> 8
    return value ^ 0xFFFFFFFF


def put_sums(db: sqlite3.Connection, table: str) -> None:
    """Gives the rows of a table their check values: its name, then each column."""
    names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    keys = {"slices": 2, "directories": 1, "runs": 1}[table]
    for row in db.execute(f"SELECT * FROM {table}").fetchall():
        data = table.encode()
        for name, value in zip(names, row, strict=True):
            if name == "sum":
                continue
            if isinstance(value, bytes):
                data += struct.pack("<q", len(value)) + value
            elif isinstance(value, int):
                data += struct.pack("<q", value)
        where = " AND ".join(f"{name} IS ?" for name in names[:keys])
        db.execute(f"UPDATE {table} SET sum = ? WHERE {where}", (crc32c(data), *row[:keys]))


class Pages:
    """The pages of a database."""

    def __init__(self, file: Path) -> None:
        self.file, self.data = file, bytearray(file.read_bytes())
        self.count = len(self.data) // PAGE

    def of(self, number: int) -> int:
        return (number - 1) * PAGE

    def pointers(self, number: int) -> list[int]:
        """Returns where an inner page has the numbers of others."""
        at = self.of(number)
        if self.data[at] not in (2, 5):
            return []
        cells = struct.unpack_from(">H", self.data, at + 3)[0]
        places = [struct.unpack_from(">H", self.data, at + 12 + 2 * n)[0] for n in range(cells)]
        return [at + 8, *(at + place for place in places if place < PAGE - 4)]

    def inner(self) -> list[int]:
        return [number for number in range(2, self.count + 1) if self.pointers(number)]

    def write(self) -> None:
        self.file.write_bytes(self.data)


def bits(file: Path, rng: random.Random) -> None:
    pages = Pages(file)
    for _ in range(rng.choice([1, 3, 30, 300])):
        pages.data[rng.randrange(len(pages.data))] ^= 1 << rng.randrange(8)
    pages.write()


def copied_pages(file: Path, rng: random.Random) -> None:
    pages = Pages(file)
    for _ in range(rng.choice([1, 2, 8])):
        one, other = (pages.of(rng.randrange(2, pages.count + 1)) for _ in range(2))
        page = pages.data[other : other + PAGE]
        if rng.random() < 0.5:
            pages.data[other : other + PAGE] = pages.data[one : one + PAGE]
        pages.data[one : one + PAGE] = page
    pages.write()


def nested_pages(file: Path, rng: random.Random) -> None:
    """Makes one page part of many others, which are part of many others."""
    beyond(file, rng.choice([3000, 6000]))
    pages = Pages(file)
    inner = pages.inner()
    widest = max(inner, key=lambda number: len(pages.pointers(number)))
    image = pages.data[pages.of(widest) : pages.of(widest) + PAGE]
    below = [struct.unpack_from(">I", pages.data, at)[0] for at in pages.pointers(widest)]
    to = below[-1]
    for number in below[1 : 1 + rng.randrange(2, 8)]:
        pages.data[pages.of(number) : pages.of(number) + PAGE] = image
        for at in pages.pointers(number):
            struct.pack_into(">I", pages.data, at, to)
        to = number
    for at in rng.sample(pages.pointers(widest), rng.randrange(1, 4)):
        struct.pack_into(">I", pages.data, at, to)
    pages.write()


def beyond(file: Path, rows: int) -> None:
    """Adds rows of a directory that no other row names."""
    db = sqlite3.connect(file)
    db.execute("CREATE TEMP TABLE t AS SELECT * FROM names LIMIT 1")
    for number in range(rows):
        db.execute("UPDATE t SET directory = 99, name = ?", (f"{number:06}".encode(),))
        db.execute("INSERT INTO names SELECT * FROM t")
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def rows(file: Path, rng: random.Random) -> None:
    """Forges rows; the check values are right, and the seals are not."""
    db = sqlite3.connect(file)
    for _ in range(rng.choice([1, 2, 5])):
        table = rng.choice(["slices", "directories", "runs", "folders", "files", "names", "events", "counts"])
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        statement = rng.choice(
            [f"UPDATE {table} SET {rng.choice(names)} = ?", f"DELETE FROM {table} WHERE {names[0]} > ?"]
        )
        some = f" AND random() % {rng.choice([1, 2, 20])} = 0"
        some = some if "WHERE" in statement else " WHERE" + some[4:]
        try:
            db.execute(statement + some, (rng.choice(VALUES),))
        except (sqlite3.Error, OverflowError):
            continue
    for table in ["slices", "directories"]:
        try:
            put_sums(db, table)
        except (sqlite3.Error, struct.error):
            continue
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def schema(file: Path, rng: random.Random) -> None:
    db = sqlite3.connect(file)
    db.execute("PRAGMA writable_schema = ON")
    for statement in rng.sample(SCHEMAS, rng.choice([1, 1, 2])):
        try:
            db.execute(statement)
        except sqlite3.Error:
            continue
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def beside(file: Path, rng: random.Random) -> None:
    """Puts logs, journals, shared memory and locks beside it."""
    for _ in range(rng.choice([1, 2])):
        suffix = rng.choice(["-wal", "-wal", "-journal", "-shm", ".lock", ".readers", ".new"])
        path = file.with_name(file.name + suffix)
        data = rng.choice(
            [
                b"",
                rng.randbytes(rng.choice([3, 32, 40_000])),
                b"99999999999999999999 1700000000 init\n",
                f"{os.getpid()} 1700000000 check\n".encode(),
                struct.pack(">8I", 0x377F0682, 3007000, PAGE, 1, 5, 6, 0, 0) + rng.randbytes(90_000),
                b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\xff" * 504 + b"/etc/passwd\0" * 9,
            ]
        )
        path.write_bytes(data)


def log(file: Path, rng: random.Random) -> None:
    """Leaves a log of SQLite's own with forged rows, of which some bits may be flipped."""
    kept = file.with_name("kept")
    db = sqlite3.connect(file)
    db.execute("PRAGMA wal_autocheckpoint = 0")
    column, value = rng.choice([("digest", rng.randbytes(32)), ("state", "fine"), ("length", 7)])
    db.execute(f"UPDATE files SET {column} = ?", (value,))
    db.commit()
    wal = file.with_name(file.name + "-wal")
    data = bytearray(wal.read_bytes())
    shutil.copy(file, kept)
    db.close()
    kept.replace(file)
    file.with_name(file.name + "-shm").unlink(missing_ok=True)
    for _ in range(rng.choice([0, 0, 1, 20])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    wal.write_bytes(data[: rng.choice([len(data), len(data), rng.randrange(len(data))])])


KINDS: dict[str, Callable[[Path, random.Random], None]] = {
    "bits": bits,
    "pages": copied_pages,
    "nested": nested_pages,
    "rows": rows,
    "schema": schema,
    "beside": beside,
    "log": log,
}


class Trial:
    def __init__(self, program: str, base: Path) -> None:
        self.program, self.base = program, base
        self.tree, self.other = base / "tree", base / "other"
        home = base / "home"
        home.mkdir(mode=0o700)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1"}
        self.honest = base / "honest"

    def run(self, words: list[str]) -> tuple[int, float, int, str]:
        """Returns status, processor time, memory in kB, and what was said."""
        words = [word.format(tree=self.tree, other=self.other) for word in words]
        said = self.base / "said"
        with said.open("wb") as out:
            child = subprocess.Popen(
                [self.program, *words], env=self.env, stdout=out, stderr=subprocess.STDOUT
            )
            end = time.monotonic() + HANG_SECONDS
            while True:
                pid, status, used = os.wait4(child.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() > end:
                    child.kill()
                time.sleep(0.002)
        child.returncode = os.waitstatus_to_exitcode(status)
        text = said.read_bytes().decode(errors="replace")
        return child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss, text

    def restore(self) -> None:
        """Puts the honest catalogue back, and whatever a verb did to the tree."""
        folder = self.tree / ".steadfast"
        shutil.rmtree(folder)
        shutil.copytree(self.honest, folder)

    def make(self, planted: bool) -> None:
        """Makes the tree, its honest catalogue, and what is missing; or a catalogue by which nothing
        is: its seals are right."""
        for number in range(60):
            path = self.tree / f"d{number % 3}" / f"f{number}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"contents {number}")
        self.other.mkdir(exist_ok=True)
        (self.other / "nowhere").write_text("nowhere else")
        gone = self.tree / "d0/f0"
        if planted:
            gone.unlink()
        assert self.run(["init", "--quiet", "{tree}"])[0] == 0
        assert self.run(["check", "--quiet", "{tree}"])[0] == 0
        gone.unlink(missing_ok=True)
        if not planted:
            assert self.run(["check", "--quiet", "{tree}"])[0] == 1
        shutil.copytree(self.tree / ".steadfast", self.honest)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=54)
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    trial = Trial(args.steadfast, args.folder.resolve())
    trial.make(planted=False)
    usual = {}
    for verb in VERBS:
        status, seconds, memory, text = trial.run(verb)
        assert status != 0 or verb[0] in MAY_BE_ZERO, (verb, status, text)
        usual[verb[0]] = (seconds, memory)
        trial.restore()
    table: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    faults = []
    numbers = range(args.count) if args.only is None else [args.only]
    for number in numbers:
        kind = list(KINDS)[number % len(KINDS)]
        for verb in VERBS:
            rng = random.Random(f"{args.seed} {number}")
            KINDS[kind](trial.tree / ".steadfast/catalogue.sqlite", rng)
            status, seconds, memory, text = trial.run(verb)
            trial.restore()
            table[kind][f"status {status}" if status >= 0 else "signal"] += 1
            before = usual[verb[0]]
            wrong = {
                "wrong 0": status == 0 and verb[0] not in MAY_BE_ZERO,
                "signal or panic": status < 0 or status > 3 or "panicked" in text,
                "time": seconds > before[0] + MORE_SECONDS,
                "memory": memory > before[1] + MORE_MEMORY_MIB * 1024,
            }
            for name in (name for name, is_so in wrong.items() if is_so):
                table[kind][name] += 1
                said = text[-300:]
                fault = {"number": number, "kind": kind, "verb": verb[0], "fault": name}
                faults.append({**fault, "s": round(seconds, 2), "kB": memory, "said": said})
                print(json.dumps(faults[-1]), flush=True)
            table[kind]["slowest ms"] = max(table[kind]["slowest ms"], int(seconds * 1000))
            table[kind]["most MiB"] = max(table[kind]["most MiB"], memory // 1024)
    for kind, counts in table.items():
        print(json.dumps({kind: dict(sorted(counts.items()))}))
    print(f"{len(numbers)} catalogues, seed {args.seed}: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
