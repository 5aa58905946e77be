"""Does the work of `--mend` on this machine up to a random step, without a cut, and judges it.

`python3 bench/power/replay.py --prefix DIR --states 300`. It loses no power, so it shows nothing of
what a disk keeps. It finds faults of what runs decide, at a hundredth of the cost of a machine.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import disk
import needs
from judge import Outcome
from mend_judge import judge_mended
from mending import is_mended, make_mending_plan, par2_sets, time_of
from plan import Change, Pool, Step
from program import Program

# `init` and `tag` of the first tree.
FIRST_STEP = 3


def main(arguments: Sequence[str]) -> int:
    """Status 0 if there was no fault, otherwise 1."""
    parser = argparse.ArgumentParser(prog="replay.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prefix", type=Path, required=True, metavar="DIR", help="for images")
    parser.add_argument("--states", type=int, default=300, metavar="N", help="how many to judge")
    parser.add_argument("--seed", type=int, default=20_260_101, metavar="N", help="of the work")
    parser.add_argument("--steadfast", type=Path, required=True, metavar="FILE", help="the program")
    options = parser.parse_args(arguments)
    needs.require()
    options.prefix.mkdir(parents=True, exist_ok=True)
    faulty = 0
    for number in range(options.states):
        outcome, done = replay(options, f"{options.seed}/replay-{number}", number)
        if outcome.faults:
            faulty += 1
            print(f"replay-{number}", *done, *outcome.faults, sep="\n  ", flush=True)
        print(f"{number + 1} of {options.states}", file=sys.stderr, flush=True)
    print(f"{options.states} states, {faulty} with a fault")
    return min(faulty, 1)


def replay(options: argparse.Namespace, seed: str, number: int) -> tuple[Outcome, list[str]]:
    """Plays some steps on a fresh volume; returns what was found, and the verbs with statuses."""
    steps, pool = make_mending_plan(seed, 1), Pool(seed)
    sets = par2_sets(steps, pool)
    count = random.Random(f"{seed}/count").randint(FIRST_STEP, len(steps))
    image, system = options.prefix / "replay.img", list(disk.FORMATS)[number % len(disk.FORMATS)]
    disk.make(image, system)
    outcome, done = Outcome(), [system]
    home = options.prefix / "home"
    home.mkdir(exist_ok=True)
    binary = options.steadfast.resolve()
    with disk.mounted(image, system, options.prefix / "mnt") as root:
        for step in steps[:count]:
            done += _do(root, step, pool, sets, (binary, home))
        trees = list(dict.fromkeys(step.tree for step in steps[:count] if is_mended(step.tree)))
        program = Program(binary, root, home)
        judge_mended(root, program, steps, pool, (count, count), trees, outcome)
    return outcome, done


def _do(
    root: Path, step: Step, pool: Pool, sets: Mapping[str, bytes], with_what: tuple[Path, Path]
) -> list[str]:
    for change in step.changes:
        _change(root, change, pool, sets)
    if not step.verb:
        return [f"{step.number}: {change.kind} {change.path}" for change in step.changes]
    binary, home = with_what
    # As in the machine.
    own = {"HOME": str(home), "STEADFAST_IGNORE_CTIME": "1"}
    line = [binary, *step.verb, step.target]
    ended = subprocess.run(line, cwd=root, env={**os.environ, **own}, capture_output=True)
    return [f"{step.number}: {' '.join(step.verb)} {step.target} -> {ended.returncode}"]


def _change(root: Path, change: Change, pool: Pool, sets: Mapping[str, bytes]) -> None:
    """What the guest's script does."""
    path = root / change.path
    if change.kind == "lose":
        path.unlink(missing_ok=True)
    elif change.kind == "install":
        folder = change.path.rpartition("/")[0]
        for name, data in sets.items():
            if name.startswith(f"{folder}/"):
                (root / name).write_bytes(data)
    elif change.contents is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if change.damage is None:
            path.write_bytes(pool.bytes_of(change.contents))
        else:
            path.touch()
            with path.open("r+b") as file:
                file.seek(change.damage_at)
                file.write(pool.bytes_of(change.damage))
        os.utime(path, (time_of(change.contents), time_of(change.contents)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
