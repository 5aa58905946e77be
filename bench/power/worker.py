"""Runs one cut, or the states of one log, in a scratch folder of its own.

Several workers may be busy at once: each has its images, its place to mount them, and its guest.
"""

from __future__ import annotations

import random
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import disk
import guest
import needs
import vm
import writelog
from judge import Outcome, judge
from mend_judge import judge_mended
from mending import is_mended, make_mending_plan, par2_sets
from plan import Pool, Step, make_plan
from program import Program
from record import Record, Row

# More than fit into the time to the last cut.
ROUNDS_TO_CUT = 4
ROUNDS_TO_LOG = 2
CUT_AFTER_S_MAX = 20.0
LOST_SHARES = (0.0, 0.1, 0.5, 0.9, 1.0)
KEPT_MAX = 30
# A verb that could not do its work although nothing had been cut yet.
FAILED = re.compile(r"step \d+: .* status (?![013]\b).*")
# Where files are damaged and lost, 2 is no failure, except of the first verbs.
FAILED_TO_MEND = re.compile(r"step \d+: (?:(?:tag|init) .* status [^0]|.* status (?![0123]\b)).*")


@dataclass(frozen=True)
class Setting:
    """What all workers of a series share. The folder `own` has `logs` and `kept`."""

    scratch: Path
    own: Path
    seed: int
    kernel: Path
    program: Path
    # The part of the initramfs that depends on the file system only.
    bases: dict[str, bytes]
    record: Record
    # Whether the work is that of `mending.py`.
    mends: bool = False


@dataclass(frozen=True)
class Job:
    """What a machine does: steps, and the bytes of the files."""

    steps: list[Step]
    pool: Pool
    sets: dict[str, bytes]


class Worker:
    """Does one thing at a time. Not to be used by two threads at once."""

    def __init__(self, setting: Setting, number: int) -> None:
        self._setting = setting
        self._scratch = setting.scratch / str(number)
        self._scratch.mkdir(parents=True)

    def cut(self, name: str, system: str) -> list[str]:
        """Kills a machine at a random moment; returns what to say of it."""
        seed = f"{self._setting.seed}/{name}"
        delay_s = random.Random(seed).uniform(0, CUT_AFTER_S_MAX)
        image = self._scratch / "cut.img"
        disk.make(image, system)
        job = make_job(seed, ROUNDS_TO_CUT, self._setting.mends)
        finished, failed = self._boot(job, system, image, None, delay_s)
        if finished:
            raise vm.MachineError(f"the work of {name} ended before it could be cut")
        about = {"after_s": round(delay_s, 2), "failed": failed}
        return [self._judge("cuts", name, system, image, job, disk.read_mark(image), about)]

    def states(self, log_name: str, system: str, names: Sequence[str]) -> list[str]:
        """Replays one log up to each of its cuts, in one pass; returns what to say of each."""
        said = []
        seed = f"{self._setting.seed}/{log_name}"
        job = make_job(seed, ROUNDS_TO_LOG, self._setting.mends)
        log_path = self._provide_log(system, log_name, job)
        image = self._scratch / "durable.img"
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
                if self._setting.record.has("states", name):
                    continue
                durable.flush()
                state = self._scratch / "state.img"
                about: Row = {"log": log_name, "at": cut, "waiting": replay.waiting}
                about["lost_pages"] = _cut_cache(replay, image, state, f"{seed}/{name}")
                said.append(self._judge("states", name, system, state, job, mark, about))
        return said

    def _provide_log(self, system: str, log_name: str, job: Job) -> Path:
        """The log of a whole run, and beside it the disk as it was before."""
        path = self._setting.own / "logs" / f"{log_name}.log"
        if path.exists():
            return path
        disk.make(path.with_suffix(".img"), system)
        image, fresh = self._scratch / "logged.img", path.with_suffix(".new")
        disk.copy(path.with_suffix(".img"), image)
        fresh.write_bytes(b"")
        finished, failed = self._boot(job, system, image, fresh, None)
        if not finished or failed:
            raise vm.MachineError(f"the run of {log_name} did not end well: {failed}")
        fresh.rename(path)
        return path

    def _boot(
        self, job: Job, system: str, image: Path, log: Path | None, cut_after_s: float | None
    ) -> tuple[bool, list[str]]:
        """Does a job on an image; returns whether it ended, and the verbs that failed there."""
        initramfs = self._scratch / "initramfs"
        own = guest.of_run(job.steps, job.pool, system, disk.MARK_AT, job.sets)
        initramfs.write_bytes(self._setting.bases[system] + own)
        boot = vm.Boot(needs.kernel_image(self._setting.kernel), initramfs, image, log)
        finished, console = vm.run(boot, cut_after_s)
        (self._scratch / "console.txt").write_text(console)
        failed = FAILED_TO_MEND if self._setting.mends else FAILED
        return finished, failed.findall(console)

    def _judge(
        self,
        kind: str,
        name: str,
        system: str,
        image: Path,
        job: Job,
        mark: tuple[int, int],
        about: Row,
    ) -> str:
        """Judges a copy of an image, and keeps the image if there is a fault."""
        started = time.monotonic()
        copy = self._scratch / "judged.img"
        disk.copy(image, copy)
        home = self._scratch / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        try:
            with disk.mounted(copy, system, self._scratch / "mnt") as root:
                program = Program(self._setting.program, root, home)
                outcome = judge(root, program, job.steps, job.pool, mark)
                trees = list(dict.fromkeys(step.tree for step in job.steps[: mark[0]]))
                trees = [tree for tree in trees if is_mended(tree)]
                judge_mended(root, program, job.steps, job.pool, mark, trees, outcome)
        except disk.Unmountable as error:
            outcome = Outcome()
            outcome.counts["unmountable"] = 1
            outcome.say(name, str(error))
        kept = self._setting.own / "kept"
        if outcome.faults and len(list(kept.iterdir())) < KEPT_MAX:
            disk.copy(image, kept / f"{name}.img")
        row = {"name": name, "fs": system, **about, "begun": mark[0], "synced": mark[1]}
        counts = {key: value for key, value in sorted(outcome.counts.items()) if value}
        row |= {"faults": outcome.faults, "counts": counts, "said": outcome.said}
        self._setting.record.add(kind, row)
        kinds = ", ".join(sorted({fault for fault, _ in outcome.faults})) or "no fault"
        return f"{name} {system} step {mark[0]}: {kinds} ({time.monotonic() - started:.1f} s)"


def make_job(seed: str, rounds: int, mends: bool = False) -> Job:
    """The work of a seed. More rounds add steps behind those of fewer."""
    pool = Pool(seed)
    if not mends:
        return Job(make_plan(seed, rounds), pool, {})
    steps = make_mending_plan(seed, rounds)
    return Job(steps, pool, par2_sets(steps, pool))


def _cut_cache(replay: writelog.Disk, durable: Path, state: Path, seed: str) -> int:
    """Makes a state: what is durable, and of the rest what survives. Returns the pages lost."""
    source = random.Random(seed)
    disk.copy(durable, state)
    with state.open("r+b") as target:
        return replay.cut(target, source.choice(LOST_SHARES), source)


def _mark(log: BinaryIO, entry: writelog.Entry) -> tuple[int, int] | None:
    """The mark that a request wrote, if it wrote one."""
    if entry.offset != disk.MARK_AT or entry.length == 0:
        return None
    if entry.length != guest.MARK_LEN_BYTES:
        raise writelog.LogError("a mark went through the page cache, so the order is unknown")
    return disk.parse_mark(writelog.data_of(log, entry, guest.MARK_LEN_BYTES))
