"""Changes sectors of files beneath a file system, and finds them again by what they hold."""

from __future__ import annotations

import mmap
import random
from pathlib import Path
from typing import Any

from steadfast import Steadfast
from volume import Volume

SECTOR = 512
MAGIC = b"evidence"
# No file system keeps a file of this length in its inode.
SECTORS = range(16, 40)
# Btrfs without sums, as on a folder with `chattr +C`: with them, a read fails instead.
OPTIONS = {"btrfs": "loop,nodatasum"}
KINDS = ("flip", "zero")


def contents(rng: random.Random, number: int, version: int = 0) -> bytes:
    """Returns contents of which each sector says which file, version and sector it is."""
    sectors = []
    for sector in range(rng.choice(SECTORS)):
        head = MAGIC + b"".join(part.to_bytes(4, "big") for part in (number, version, sector))
        sectors.append(head + rng.randbytes(SECTOR - len(head)))
    return b"".join(sectors)


def open_volume(prefix: Path, system: str) -> Volume:
    """Makes a volume on which decay is not found by the file system."""
    return Volume(prefix, system, OPTIONS.get(system, "loop"))


class Damage:
    """Sectors to change: for each file and version a sector, and how."""

    def __init__(self) -> None:
        self._wanted: dict[bytes, str] = {}

    def add(self, rng: random.Random, data: bytes) -> None:
        """Chooses a sector of a file that has these contents, and a flip or zeros."""
        at = rng.randrange(len(data) // SECTOR) * SECTOR
        self._wanted[data[at : at + len(MAGIC) + 12]] = rng.choice(KINDS)

    def do(self, rng: random.Random, volume: Volume) -> set[int]:
        """Changes the sectors beneath the file system; returns the files that it found."""
        with volume.unmounted() as image:
            return self.change(rng, image)

    def change(self, rng: random.Random, image: mmap.mmap) -> set[int]:
        """The same in an image that is not mounted."""
        found = set()
        at = image.find(MAGIC)
        while at >= 0:
            key = image[at : at + len(MAGIC) + 12]
            kind = self._wanted.get(key) if at % SECTOR == 0 else None
            if kind == "zero":
                image[at : at + SECTOR] = bytes(SECTOR)
            elif kind == "flip":
                byte = at + rng.randrange(len(key), SECTOR)
                image[byte] ^= 1 << rng.randrange(8)
            if kind is not None:
                found.add(int.from_bytes(key[len(MAGIC) : len(MAGIC) + 4], "big"))
            at = image.find(MAGIC, at + 1)
        self._wanted.clear()
        return found


def play(
    program: Steadfast, prefix: Path, system: str, files: int, rng: random.Random
) -> dict[str, Any]:
    """Tags files, checks them, changes one sector of each beneath the file system, and checks."""
    volume = open_volume(prefix, system)
    try:
        damage, data = Damage(), {}
        for number in range(files):
            data[number] = contents(rng, number)
            path = _path(volume.root, number)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data[number])
        program.run(volume.root, "init", ".")
        program.run(volume.root, "tag", ".")
        intact, _ = program.check(volume.root)
        for one in data.values():
            damage.add(rng, one)
        damaged = damage.do(rng, volume)
        status, verdicts = program.check(volume.root)
        count: dict[str, int] = {}
        for number in damaged:
            name = str(_path(Path(), number))
            verdict = verdicts.get(name, "not listed")
            count[verdict] = count.get(verdict, 0) + 1
        before = {"status before": intact, "files": files, "damaged": len(damaged)}
        return {"system": system, **before, "status": status, "verdicts": count}
    finally:
        volume.close()


def faults(row: dict[str, Any]) -> list[str]:
    """Returns damaged files that are not corrupt."""
    verdicts = {name: files for name, files in row["verdicts"].items() if name != "corrupt"}
    found = [f"{row['system']}: {files} {name}" for name, files in verdicts.items()]
    if row["status before"] != 0 or row["status"] != 3:
        found.append(f"{row['system']}: status {row['status before']}, {row['status']}")
    if row["damaged"] < row["files"]:
        found.append(f"{row['system']}: {row['files'] - row['damaged']} sectors not found")
    return found


def _path(root: Path, number: int) -> Path:
    return root / f"d{number % 50}" / f"f{number}"
