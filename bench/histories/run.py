"""Plays random histories with Steadfast on real file systems, and compares them with the truth.

`python3 bench/histories/run.py --prefix DIR --histories 5000 --races 1000 --kills 500`. The order
of work is here; how each thing is done is in the modules beside.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from history import Place, play
from judge import Outcome
from kills import kill
from races import race
from record import KINDS, Record, RecordError, Row, table
from strangers import stranger
from volume import FORMATS, Volume

REPOSITORY = Path(__file__).resolve().parents[2]
SEED = 20_260_101
BATCH = 25
KEPT_MAX = 20
PRIVATE = "STEADFAST_HISTORIES_PRIVATE"
PROGRAMS = {
    "strace": "strace",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "unshare": "util-linux",
}
PLAYERS: dict[str, Callable[..., tuple[Outcome, list[str]]]] = {
    "histories": play,
    "races": race,
    "kills": kill,
    "strangers": stranger,
}
# Faults of which the steps that lead to them are reduced, for each kind in each batch.
MINIMIZED_MAX = 1


class Missing(Exception):
    """Something is not here that the series cannot do without."""


def main(arguments: Sequence[str]) -> int:
    """Status 0 if there was no fault, 1 if there was one, 2 if nothing ran, 130 interrupted."""
    options = parse(arguments)
    if options.table:
        print(table(json.loads(options.table.read_text())), end="")
        return 0
    try:
        require()
        keep_mounts_private()
        record = run(options)
    except (Missing, RecordError) as error:
        say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; the same command goes on where this one ended")
        return 130
    print(table(record.data), end="")
    return 1 if record.has_faults else 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--prefix", type=Path, metavar="DIR", help="folder for images; best in memory")
    for kind in KINDS:
        add(f"--{kind}", type=int, default=0, metavar="N", help=f"{kind} to play (default 0)")
    add("--seed", type=int, default=SEED, metavar="N", help="seed of everything")
    add("--jobs", type=int, default=1, metavar="N", help="processes at a time (default 1)")
    add("--only", metavar="NAME", help="play one again, such as races-17, and keep its folder")
    add("--out", type=Path, metavar="FILE", help="the record; an unfinished one is continued")
    add("--steadfast", type=Path, metavar="FILE", help="try this program, build nothing")
    add("--table", type=Path, metavar="RECORD", help="print a record again, run nothing")
    options = parser.parse_args(arguments)
    if not options.table and not options.prefix:
        parser.error("--prefix is needed")
    if options.prefix and options.prefix.resolve().is_relative_to(REPOSITORY):
        parser.error("--prefix is inside the repository")
    if options.jobs < 1 or min(getattr(options, kind) for kind in KINDS) < 0:
        parser.error("--jobs is at least 1, all other numbers at least 0")
    return options


def require() -> None:
    """Raises `Missing` with all that is lacking and how to get it."""
    if os.geteuid() != 0:
        raise Missing("mounting images and acting as several users needs root")
    packages = sorted({PROGRAMS[name] for name in PROGRAMS if shutil.which(name) is None})
    if packages:
        raise Missing(f"not installed; run: apt-get install {' '.join(packages)}")


def keep_mounts_private() -> None:
    """Starts this command again in a mount namespace of its own, once."""
    if PRIVATE not in os.environ:
        os.environ[PRIVATE] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def run(options: argparse.Namespace) -> Record:
    """Plays what the record lacks."""
    prefix: Path = options.prefix.resolve()
    prefix.mkdir(parents=True, exist_ok=True)
    prefix.chmod(0o755)
    program = (options.steadfast or build()).resolve()
    binary = prefix / "steadfast"
    shutil.copy(program, binary)
    record = Record(options.out or prefix / "record.json", head_of(options, binary))
    batches = list(batches_of(options, record))
    with ProcessPoolExecutor(options.jobs) as pool:
        futures = [
            pool.submit(play_batch, prefix, binary, options.seed, number % options.jobs, *batch)
            for number, batch in enumerate(batches)
        ]
        for done, future in enumerate(as_completed(futures), start=1):
            rows = future.result()
            record.add(rows)
            faulty = [row for row in rows if row["faults"]]
            for row in faulty:
                say("\n  ".join([f"{row['name']} {row['fs']}", *row["steps"]]))
                for kind, where in row["faults"]:
                    say(f"  FAULT {kind}: {where}")
            say(f"{done} of {len(batches)} batches; {len(faulty)} with a fault in this one")
    return record


def head_of(options: argparse.Namespace, binary: Path) -> dict[str, Any]:
    """What took part in the series."""
    commit = ["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"]
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": options.seed,
        "sha256": hashlib.sha256(binary.read_bytes()).hexdigest(),
        "commit": subprocess.run(commit, capture_output=True, text=True).stdout.strip(),
        "kernel": os.uname().release,
    }


def build() -> Path:
    """Builds the program of the tests, as a release, and returns its path."""
    line = ["cargo", "build", "--release", "--package", "steadfast-trial"]
    subprocess.run(line, cwd=REPOSITORY, check=True)
    return REPOSITORY / "target" / "release" / "steadfast-trial"


def batches_of(
    options: argparse.Namespace, record: Record
) -> Iterator[tuple[str, str, list[str], bool]]:
    """What is to be played: kind, file system and names, a batch on one volume at a time."""
    systems = list(FORMATS)
    if options.only:
        kind, _, number = options.only.partition("-")
        yield kind, systems[int(number) % len(systems)], [options.only], True
        return
    queues = []
    for kind in KINDS:
        for at, system in enumerate(systems):
            numbers = range(at, getattr(options, kind), len(systems))
            names = [f"{kind}-{n}" for n in numbers if f"{kind}-{n}" not in record.done]
            firsts = range(0, len(names), BATCH)
            queues.append([(kind, system, names[at : at + BATCH], False) for at in firsts])
    # A series that is stopped early has something of each kind on each file system.
    for turn in zip_longest(*queues):
        yield from filter(None, turn)


def play_batch(
    prefix: Path,
    binary: Path,
    seed: int,
    job: int,
    kind: str,
    system: str,
    names: Sequence[str],
    keep: bool,
) -> list[Row]:
    """Plays some of a kind on a fresh volume."""
    folder = prefix / f"job{os.getpid()}"
    folder.mkdir(exist_ok=True)
    volume = Volume(folder, system)
    place = Place(volume, binary)
    minimized: dict[str, int] = {}
    rows = []
    try:
        for name in names:
            row = play_one(place, kind, f"{seed}/{name}", name)
            kinds = sorted({fault for fault, _ in row["faults"]})
            if kinds or keep:
                keep_folder(prefix, volume.root / name, name)
            if kinds and kind == "histories" and minimized.get(kinds[0], 0) < MINIMIZED_MAX:
                minimized[kinds[0]] = minimized.get(kinds[0], 0) + 1
                row = minimize(place, row, f"{seed}/{name}", name)
            shutil.rmtree(volume.root / name, ignore_errors=True)
            rows.append(row)
    finally:
        volume.close()
        shutil.rmtree(folder, ignore_errors=True)
    return rows


def play_one(place: Place, kind: str, seed: str, name: str, *skipped: Any) -> Row:
    """Plays one; trouble of the harness is a fault of its own kind."""
    try:
        outcome, steps = PLAYERS[kind](place, seed, name, *skipped)
    except Exception:
        outcome, steps = Outcome(), []
        outcome.fault("trouble of the harness", traceback.format_exc()[-1500:])
    row: Row = {"name": name, "kind": kind, "fs": place.volume.system}
    row |= {"faults": outcome.faults, "counts": dict(sorted(outcome.counts.items()))}
    return row | {"steps": steps if outcome.faults else []}


def minimize(place: Place, row: Row, seed: str, name: str) -> Row:
    """Leaves steps out, the first ones first, as long as the same kind of fault appears."""
    wanted, skipped = row["faults"][0][0], set()
    for step in range(12):
        again = f"{name}-without-{step}"
        tried = play_one(place, "histories", seed, again, skipped | {step})
        shutil.rmtree(place.volume.root / again, ignore_errors=True)
        if wanted in {kind for kind, _ in tried["faults"]}:
            skipped.add(step)
            row = {**tried, "name": name, "skipped": sorted(skipped)}
    return row


def keep_folder(prefix: Path, folder: Path, name: str) -> None:
    """Copies what a history left, with all metadata, if there is room for one more."""
    kept = prefix / "kept"
    kept.mkdir(exist_ok=True)
    if len(list(kept.iterdir())) < KEPT_MAX and not (kept / name).exists():
        subprocess.run(["cp", "-a", folder, kept / name], check=False)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
