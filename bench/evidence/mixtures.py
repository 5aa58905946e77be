"""Plays mixtures of edits and decay on files, and compares the verdicts with the truth.

Each file gets a few steps at random, with a check of everything after each round. The truth is
what happened to its contents since they were last recorded.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decay import SECTOR, Damage, contents, open_volume
from steadfast import Steadfast

ROUNDS = 3


@dataclass
class File:
    """One file, and what happened to it."""

    number: int
    path: Path
    data: bytes
    version: int = 0
    edited: bool = False
    decayed: bool = False
    dated: bool = False
    renamed: bool = False
    anew: bool = False
    steps: list[str] = field(default_factory=list)


def play(
    program: Steadfast, prefix: Path, system: str, files: int, rng: random.Random
) -> dict[str, Any]:
    """Plays rounds on one volume; returns how often each truth got each verdict."""
    volume = open_volume(prefix, system)
    try:
        all_files = []
        for number in range(files):
            folder = volume.root / f"d{number % 20}"
            folder.mkdir(exist_ok=True)
            file = File(number, folder / f"f{number}", contents(rng, number))
            file.path.write_bytes(file.data)
            all_files.append(file)
        program.run(volume.root, "init", ".")
        program.run(volume.root, "tag", ".")
        counts: Counter[tuple[str, str]] = Counter()
        wrong: list[str] = []
        for _ in range(ROUNDS):
            damage = Damage()
            for file in all_files:
                _step(rng, file, damage)
            volume_damage = damage.do(rng, volume)
            for file in all_files:
                file.decayed |= file.number in volume_damage
            _, verdicts = program.check(volume.root)
            for file in all_files:
                name = str(file.path.relative_to(volume.root))
                verdict = verdicts.get(name, "not listed")
                counts[_truth(file), verdict] += 1
                wrong += _wrong(file, verdict, system)
                # An intact check proves the contents, and so the date that was set before it.
                file.dated &= verdict not in ("intact", "touched")
        rows = [[truth, verdict, files] for (truth, verdict), files in sorted(counts.items())]
        return {"system": system, "files": files, "counts": rows, "wrong": wrong}
    finally:
        volume.close()


def _truth(file: File) -> str:
    if file.edited:
        return "edited and decayed" if file.decayed else "edited"
    if file.decayed:
        return "decayed, date set since the proof" if file.dated else "decayed"
    return "as it was"


def _wrong(file: File, verdict: str, system: str) -> list[str]:
    """Returns what must not be said of the file."""
    truth = _truth(file)
    allowed = {
        "edited": ("modified", "suspect"),
        "edited and decayed": ("modified", "suspect"),
        "decayed": ("corrupt", "suspect"),
        # Only another copy can tell this from an edit, says docs/reference/verdicts.md.
        "decayed, date set since the proof": ("corrupt", "suspect", "modified"),
        "as it was": ("intact", "touched"),
    }
    if verdict in allowed[truth]:
        return []
    # A new file at a new name: the known one is missing, and nothing is said of this one.
    if verdict == "untagged" and file.renamed and file.anew:
        return []
    steps = ", ".join(file.steps)
    return [f"{system}: f{file.number} is {verdict}, and was {truth}: {steps}"]


def _step(rng: random.Random, file: File, damage: Damage) -> None:
    """Does one thing to a file, or nothing."""
    steps: tuple[tuple[int, Callable[[random.Random, File], None] | None], ...] = (
        (8, None),
        (2, _edit_in_place),
        (1, _edit_and_keep),
        (1, _append_and_keep),
        (1, _save_anew),
        (1, _save_anew_and_keep),
        (1, _mode),
        (1, _rename),
        (1, _attribute),
        (1, _link),
        (1, _date),
    )
    weights = [weight for weight, _ in steps]
    _, step = rng.choices(steps, weights)[0]
    if step is not None:
        file.steps.append(step.__name__.strip("_"))
        step(rng, file)
    if not file.decayed and rng.random() < 0.3:
        file.steps.append("decay")
        damage.add(rng, file.data)
    file.steps.append("check")


def _edit_in_place(rng: random.Random, file: File) -> None:
    _write(rng, file)


def _edit_and_keep(rng: random.Random, file: File) -> None:
    _keep(file, lambda: _write(rng, file))


def _append_and_keep(rng: random.Random, file: File) -> None:
    def append() -> None:
        with file.path.open("ab") as out:
            out.write(b"more")
        file.edited = True

    _keep(file, append)


def _save_anew(rng: random.Random, file: File) -> None:
    draft = file.path.with_suffix(".new")
    file.version += 1
    file.data = contents(rng, file.number, file.version)
    draft.write_bytes(file.data)
    draft.rename(file.path)
    file.edited = file.anew = True
    file.decayed = False


def _save_anew_and_keep(rng: random.Random, file: File) -> None:
    _keep(file, lambda: _save_anew(rng, file))


def _write(rng: random.Random, file: File) -> None:
    at = rng.randrange(len(file.data) // SECTOR) * SECTOR + 40
    with file.path.open("r+b") as out:
        out.seek(at)
        out.write(rng.randbytes(8))
    file.edited = True


def _keep(file: File, change: Callable[[], None]) -> None:
    status = file.path.stat()
    change()
    os.utime(file.path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _mode(rng: random.Random, file: File) -> None:
    file.path.chmod(rng.choice([0o600, 0o640, 0o644]))


def _rename(rng: random.Random, file: File) -> None:
    to = file.path.with_name(f"f{file.number}r{rng.randrange(10**6)}")
    file.path.rename(to)
    file.path = to
    file.renamed = True


def _attribute(rng: random.Random, file: File) -> None:
    os.setxattr(file.path, "user.comment", rng.randbytes(4))


def _link(rng: random.Random, file: File) -> None:
    other = file.path.with_name(f"l{file.number}")
    other.unlink(missing_ok=True)
    os.link(file.path, other)


def _date(rng: random.Random, file: File) -> None:
    os.utime(file.path, ns=(10**18, rng.randrange(10**18)))
    file.dated = True


def faults(row: dict[str, Any]) -> list[str]:
    """Returns verdicts that contradict the truth."""
    return row["wrong"]
