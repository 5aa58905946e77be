"""Cuts the power under Steadfast, at random moments, and judges what is left on the disk.

`python3 bench/power/run.py --prefix DIR --cuts 200 --states 500 --out FILE`. The order of work is
here; how each step is done is in the modules beside.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import re
import shutil
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, TextIO

import disk
import guest
import needs
import vm
import writelog
from judge import Outcome, judge
from plan import Pool, Step, make_plan
from record import Record, RecordError, Row, table

REPOSITORY = Path(__file__).resolve().parents[2]
SEED = 20_260_101
SYSTEMS = tuple(disk.FORMATS)
ROUNDS = 2
CUT_AFTER_S_MAX = 20.0
STATES_PER_LOG = 56
LOST_SHARES = (0.0, 0.1, 0.5, 0.9, 1.0)
KEPT_MAX = 30
PRIVATE = "STEADFAST_POWER_PRIVATE"
# A verb that could not do its work although nothing had been cut yet.
FAILED = re.compile(r"step \d+: .* status (?![013]\b).*")
TROUBLE = (
    needs.Missing,
    guest.GuestError,
    vm.MachineError,
    writelog.LogError,
    RecordError,
)
METHOD = {
    "cut": f"SIGKILL of the machine, up to {CUT_AFTER_S_MAX:g} s after its work began",
    "state": "a prefix of the disk's log; of the pages after the last flush a share is lost",
    "lost_shares": list(LOST_SHARES),
    "rounds": ROUNDS,
    "states_per_log": STATES_PER_LOG,
}


def main(arguments: Sequence[str]) -> int:
    """Status 0 if there was no fault, 1 if there was one, 2 if nothing ran, 130 interrupted."""
    options = parse(arguments)
    if options.table:
        print(table(json.loads(options.table.read_text())), end="")
        return 0
    try:
        needs.require()
        keep_mounts_private()
        series = Series(options)
        series.run_cuts(options.cuts)
        series.run_states(options.states)
    except TROUBLE as error:
        say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; the same command goes on where this one ended")
        return 130
    print(table(series.record.data), end="")
    return 1 if series.faults else 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--prefix", type=Path, metavar="DIR", help="folder for the kernel, images and scratch files")
    add("--cuts", type=int, default=200, metavar="N", help="machines to kill (default 200)")
    add("--states", type=int, default=500, metavar="N", help="states to rebuild (default 500)")
    add("--seed", type=int, default=SEED, metavar="N", help="seed of files, work and cuts")
    add("--out", type=Path, metavar="FILE", help="the record; an unfinished one is continued")
    add("--steadfast", type=Path, metavar="FILE", help="try this program, build nothing")
    add("--table", type=Path, metavar="RECORD", help="print a record again, run nothing")
    options = parser.parse_args(arguments)
    if not options.table and not options.prefix:
        parser.error("--prefix is needed")
    if options.prefix and options.prefix.resolve().is_relative_to(REPOSITORY):
        parser.error("--prefix is inside the repository")
    return options


class Series:
    """All that the cuts and the states of one series share."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._prefix: Path = options.prefix.resolve()
        self._scratch = self._prefix / "scratch"
        self._prefix.mkdir(parents=True, exist_ok=True)
        self._lock = lock(self._prefix / "lock")
        shutil.rmtree(self._scratch, ignore_errors=True)
        for folder in ("scratch", "kept", "logs"):
            (self._prefix / folder).mkdir(parents=True, exist_ok=True)
        self._seed: int = options.seed
        self._kernel = needs.kernel(self._prefix)
        self._program: Path = options.steadfast or needs.build(REPOSITORY)
        self._program = self._program.resolve()
        self._bases: dict[str, bytes] = {}
        self.faults = 0
        head = {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "seed": self._seed,
            "versions": needs.versions(self._program, self._kernel, REPOSITORY),
            "method": METHOD,
        }
        self.record = Record(options.out or self._prefix / "record.json", head)

    def run_cuts(self, count: int) -> None:
        """Kills so many machines, each with a seed and a disk of its own."""
        for number in range(count):
            name = f"cut-{number}"
            if self.record.has("cuts", name):
                continue
            system = SYSTEMS[number % len(SYSTEMS)]
            seed = f"{self._seed}/{name}"
            delay_s = random.Random(seed).uniform(0, CUT_AFTER_S_MAX)
            image = self._scratch / "cut.img"
            disk.make(image, system)
            _, failed = self._boot(seed, system, image, None, delay_s)
            about = {"after_s": round(delay_s, 2), "failed": failed}
            self._judge("cuts", name, system, image, seed, disk.read_mark(image), about)

    def run_states(self, count: int) -> None:
        """Rebuilds so many states from logs of whole runs."""
        share = -(-count // len(SYSTEMS))
        for system in SYSTEMS:
            for first in range(0, share, STATES_PER_LOG):
                numbers = range(first, min(first + STATES_PER_LOG, share))
                names = [f"{system}-{number}" for number in numbers]
                if not all(self.record.has("states", name) for name in names):
                    self._states_of_log(system, f"{system}-log{first // STATES_PER_LOG}", names)

    def _states_of_log(self, system: str, log_name: str, names: Sequence[str]) -> None:
        """Replays one log up to each cut, in one pass."""
        seed = f"{self._seed}/{log_name}"
        log_path = self._provide_log(system, log_name, seed)
        image = self._scratch / "durable.img"
        disk.make(image, system)
        disk.copy(log_path.with_suffix(".img"), image)
        with image.open("r+b") as durable, log_path.open("rb") as log:
            entries = writelog.read_entries(log)
            marks = [_mark(log, entry) for entry in entries]
            first = next(at for at, mark in enumerate(marks) if mark is not None)
            cuts = writelog.choose_cuts(len(entries), first, len(names), seed)
            replay = writelog.Disk(durable, log)
            mark, taken = (0, 0), 0
            for name, cut in zip(names, cuts, strict=True):
                for at in range(taken, cut):
                    replay.take(entries[at])
                    mark = marks[at] or mark
                taken = cut
                if self.record.has("states", name):
                    continue
                durable.flush()
                state = self._scratch / "state.img"
                disk.copy(image, state)
                source = random.Random(f"{seed}/{name}")
                lost_share = source.choice(LOST_SHARES)
                waiting = replay.waiting
                with state.open("r+b") as target:
                    lost = replay.cut(target, lost_share, source)
                about = {"log": log_name, "at": cut, "waiting": waiting, "lost_pages": lost}
                self._judge("states", name, system, state, seed, mark, about)

    def _provide_log(self, system: str, log_name: str, seed: str) -> Path:
        """The log of a whole run, and beside it the disk as it was before."""
        path = self._prefix / "logs" / f"{log_name}.log"
        if path.exists():
            return path
        say(f"recording {log_name}")
        disk.make(path.with_suffix(".img"), system)
        image, fresh = self._scratch / "logged.img", path.with_suffix(".new")
        disk.copy(path.with_suffix(".img"), image)
        fresh.write_bytes(b"")
        finished, failed = self._boot(seed, system, image, fresh, None)
        if not finished or failed:
            raise vm.MachineError(f"the run of {log_name} did not end well: {failed}")
        fresh.rename(path)
        return path

    def _boot(
        self, seed: str, system: str, image: Path, log: Path | None, cut_after_s: float | None
    ) -> tuple[bool, list[str]]:
        """Runs the work of a seed; returns whether it ended, and the verbs that failed there."""
        steps, pool = work(seed)
        if system not in self._bases:
            self._bases[system] = guest.base(self._kernel, system, self._program, self._scratch)
        initramfs = self._scratch / "initramfs"
        own = guest.of_run(steps, pool, system, disk.MARK_AT)
        initramfs.write_bytes(self._bases[system] + own)
        boot = vm.Boot(needs.kernel_image(self._kernel), initramfs, image, log)
        finished, console = vm.run(boot, cut_after_s)
        (self._scratch / "console.txt").write_text(console)
        return finished, FAILED.findall(console)

    def _judge(
        self,
        kind: str,
        name: str,
        system: str,
        image: Path,
        seed: str,
        mark: tuple[int, int],
        about: Row,
    ) -> None:
        """Judges a copy of an image, and keeps the image if there is a fault."""
        started = time.monotonic()
        copy = self._scratch / "judged.img"
        disk.copy(image, copy)
        steps, pool = work(seed)
        try:
            with disk.mounted(copy, system, self._prefix / "mnt") as root:
                outcome = judge(root, self._program, steps, pool, mark)
        except disk.Unmountable as error:
            outcome = Outcome()
            outcome.counts["unmountable"] = 1
            outcome.say(name, str(error))
        if outcome.faults:
            self.faults += 1
            if len(list((self._prefix / "kept").iterdir())) < KEPT_MAX:
                disk.copy(image, self._prefix / "kept" / f"{name}.img")
        row = {"name": name, "fs": system, **about, "begun": mark[0], "synced": mark[1]}
        counts = {key: value for key, value in sorted(outcome.counts.items()) if value}
        row |= {"faults": outcome.faults, "counts": counts, "said": outcome.said}
        self.record.add(kind, row)
        kinds = ", ".join(sorted({fault for fault, _ in outcome.faults})) or "no fault"
        say(f"{name} {system} step {mark[0]}: {kinds} ({time.monotonic() - started:.1f} s)")


def keep_mounts_private() -> None:
    """Starts this command again in a mount namespace of its own, once.

    No other process can then hold a volume that is to be unmounted, and none stays mounted if the
    series is killed.
    """
    if PRIVATE not in os.environ:
        os.environ[PRIVATE] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def lock(path: Path) -> TextIO:
    """Keeps a second series out of the same folder for as long as the file is open."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise needs.Missing(f"another series runs in `{path.parent}`") from error
    return file


def work(seed: str) -> tuple[list[Step], Pool]:
    """The steps of a seed, and the bytes of its files."""
    return make_plan(seed, ROUNDS), Pool(seed)


def _mark(log: BinaryIO, entry: writelog.Entry) -> tuple[int, int] | None:
    """The mark that a request wrote, if it wrote one."""
    if entry.offset != disk.MARK_AT or entry.length == 0:
        return None
    if entry.length != guest.MARK_LEN_BYTES:
        raise writelog.LogError("a mark went through the page cache, so the order is unknown")
    return disk.parse_mark(writelog.data_of(log, entry, guest.MARK_LEN_BYTES))


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
