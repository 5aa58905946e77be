"""In: a corpus by name, a seed, a folder. Out: the files on disk and the digest of each.

Bytes are incompressible and follow from the seed alone. A corpus that is there already is used
again if seed, names and sizes match. It must not know who reads the files.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
GIB = 1 << 30
CHUNK_LEN_BYTES = MIB
# Changes when the same seed would give other bytes.
LAYOUT = 1
QUICK_DIVISOR = 100

Plan = list[tuple[str, int]]


@dataclass(frozen=True)
class Entry:
    """One file: its path below the corpus, its length, and what `hashlib` says of it."""

    path: str
    length_bytes: int
    sha256: str


@dataclass(frozen=True)
class Corpus:
    """Files on disk whose digests are known."""

    name: str
    root: Path
    entries: tuple[Entry, ...]

    @property
    def length_bytes(self) -> int:
        return sum(entry.length_bytes for entry in self.entries)

    def paths(self) -> list[Path]:
        """The files in the order of their names."""
        return [self.root / entry.path for entry in self.entries]

    def sample(self, count: int) -> list[Entry]:
        """At most `count` files, evenly spread, the first and the last among them."""
        last = len(self.entries) - 1
        if last < count:
            return list(self.entries)
        return [self.entries[round(number * last / (count - 1))] for number in range(count)]


def _large(divisor: int, _: random.Random) -> Plan:
    return [(f"large-{number}.bin", GIB // divisor) for number in range(4)]


def _one(divisor: int, _: random.Random) -> Plan:
    return [("one.bin", 4 * GIB // divisor)]


def _mixed(divisor: int, generator: random.Random) -> Plan:
    """40 lengths between 2 and 400 MB, drawn evenly on a logarithmic scale, then fitted.

    Scaling what was drawn, within the bounds, makes the sum 4.25 GB whatever the seed.
    """
    low, high, total = 2e6, 400e6, 4.25e9
    drawn = [low * (high / low) ** generator.random() for _ in range(40)]
    for _ in range(64):
        factor = total / sum(drawn)
        drawn = [min(high, max(low, length * factor)) for length in drawn]
    return [(f"mixed-{n:02}.bin", round(length) // divisor) for n, length in enumerate(drawn)]


def _small(divisor: int, generator: random.Random) -> Plan:
    """100 files in each folder, mean about 15 KiB: most are small, as in a tree of sources."""
    folders = 500 // divisor
    lengths = [round(1024 * 2 ** (6 * generator.random())) for _ in range(folders * 100)]
    return [
        (f"folder-{n // 100:03}/file-{n % 100:02}.bin", length) for n, length in enumerate(lengths)
    ]


PLANS: dict[str, Callable[[int, random.Random], Plan]] = {
    "large": _large,
    "one": _one,
    "mixed": _mixed,
    "small": _small,
}


def plan(name: str, seed: int, quick: bool = False) -> Plan:
    """Names and lengths of a corpus. `quick` asks for a hundredth of it."""
    generator = random.Random(f"{seed}/{name}")
    return PLANS[name](QUICK_DIVISOR if quick else 1, generator)


def contents(seed: int, path: str, length_bytes: int) -> Iterator[bytes]:
    """The bytes of one file, in chunks."""
    generator = random.Random(f"{seed}/{path}")
    for start in range(0, length_bytes, CHUNK_LEN_BYTES):
        yield generator.randbytes(min(CHUNK_LEN_BYTES, length_bytes - start))


def provide(folder: Path, name: str, seed: int, quick: bool = False) -> Corpus:
    """Gives the corpus, made if it is not there as it should be."""
    label = f"tiny-{name}" if quick else name
    wanted = plan(name, seed, quick)
    root = folder / label
    index = folder / f"{label}.json"
    entries = _recorded(index, root, seed, wanted)
    if entries is None:
        shutil.rmtree(root, ignore_errors=True)
        index.unlink(missing_ok=True)
        entries = tuple(_write(root, seed, path, length) for path, length in wanted)
        os.sync()
        rows = [[entry.path, entry.length_bytes, entry.sha256] for entry in entries]
        index.write_text(json.dumps({"layout": LAYOUT, "seed": seed, "entries": rows}))
    return Corpus(name, root, entries)


def _write(root: Path, seed: int, path: str, length_bytes: int) -> Entry:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with open(target, "wb") as file:
        for chunk in contents(seed, path, length_bytes):
            digest.update(chunk)
            file.write(chunk)
    return Entry(path, length_bytes, digest.hexdigest())


def _recorded(index: Path, root: Path, seed: int, wanted: Plan) -> tuple[Entry, ...] | None:
    """What was made before, if it is what is wanted and nothing lies beside it."""
    try:
        known = json.loads(index.read_text())
    except (OSError, ValueError):
        return None
    if known["layout"] != LAYOUT or known["seed"] != seed:
        return None
    entries = tuple(Entry(*row) for row in known["entries"])
    if [(entry.path, entry.length_bytes) for entry in entries] != wanted:
        return None
    found = {
        str(path.relative_to(root)): path.stat().st_size
        for path in root.rglob("*")
        if path.is_file()
    }
    return entries if found == dict(wanted) else None
