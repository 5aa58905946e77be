"""Tries verdicts by change time: programs that keep dates, decay beneath file systems, mixtures.

`python3 bench/evidence/run.py --prefix DIR`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / "bench/histories"), str(REPOSITORY / "bench/power")]

import decay  # noqa: E402
import fat  # noqa: E402
import mixtures  # noqa: E402
import programs  # noqa: E402
from steadfast import Steadfast  # noqa: E402

SYSTEMS = ("ext4", "xfs", "btrfs")
PARTS = ("programs", "decay", "fat", "mixtures")


def main(arguments: Sequence[str]) -> int:
    """Status 0 if there was no fault, otherwise 1."""
    options = parse(arguments)
    options.prefix.mkdir(parents=True, exist_ok=True)
    faults: list[str] = []
    with tempfile.TemporaryDirectory(dir=options.prefix) as folder:
        prefix = Path(folder)
        program = Steadfast(options.steadfast.resolve(), prefix)
        rng = random.Random(options.seed)
        if "programs" in options.only:
            for row in programs.rows(program, prefix):
                show(row, programs.faults(row), faults)
        for system in fat.FORMATS if "fat" in options.only else ():
            row = fat.play(options.steadfast, options.prefix, system, options.flips // 6, rng)
            show({"part": "fat", **row}, fat.faults(row), faults)
        for part, module, files in (
            ("decay", decay, options.flips),
            ("mixtures", mixtures, options.mixtures),
        ):
            for system in SYSTEMS if part in options.only else ():
                row = module.play(program, prefix, system, -(-files // len(SYSTEMS)), rng)
                show({"part": part, **row}, module.faults(row), faults)
    kinds = Counter(faults)
    print(f"{len(faults)} faults", *kinds.most_common(20), sep="\n")
    return min(len(faults), 1)


def show(row: dict[str, Any], found: list[str], faults: list[str]) -> None:
    """Prints a row as JSON, and keeps its faults."""
    print(json.dumps(row), flush=True)
    faults += found


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", type=Path, required=True, help="an empty folder with 2 GB")
    binary = REPOSITORY / "target/release/steadfast"
    parser.add_argument("--steadfast", type=Path, default=binary, help="the program")
    parser.add_argument("--flips", type=int, default=10_200)
    parser.add_argument("--mixtures", type=int, default=2_001)
    parser.add_argument("--seed", type=int, default=20_261_124)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
