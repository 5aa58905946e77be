"""Cuts the power under Steadfast, at random moments, and judges what is left on the disk.

`python3 bench/power/run.py --prefix DIR --cuts 200 --states 500 --out FILE`. The order of work is
here; how each step is done is in the modules beside.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import queue
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import disk
import guest
import needs
import vm
import writelog
from record import KINDS, Record, RecordError, table
from worker import CUT_AFTER_S_MAX, LOST_SHARES, Setting, Worker

REPOSITORY = Path(__file__).resolve().parents[2]
SEED = 20_260_101
SYSTEMS = tuple(disk.FORMATS)
STATES_PER_LOG = 56
PRIVATE = "STEADFAST_POWER_PRIVATE"
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
    "states_per_log": STATES_PER_LOG,
}
Task = Callable[[Worker], list[str]]


def main(arguments: Sequence[str]) -> int:
    """Status 0 if there was no fault, 1 if there was one, 2 if nothing ran, 130 interrupted."""
    options = parse(arguments)
    if options.table:
        print(table(json.loads(options.table.read_text())), end="")
        return 0
    try:
        needs.require()
        keep_mounts_private()
        record = run(options)
    except TROUBLE as error:
        say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; the same command goes on where this one ended")
        return 130
    print(table(record.data), end="")
    return 1 if any(row["faults"] for kind in KINDS for row in record.data[kind]) else 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add(
        "--prefix", type=Path, metavar="DIR", help="folder for the kernel, images and scratch files"
    )
    add("--cuts", type=int, default=200, metavar="N", help="machines to kill (default 200)")
    add("--states", type=int, default=500, metavar="N", help="states to rebuild (default 500)")
    add("--mend", action="store_true", help="cut repairs and parity instead of verbs that tag")
    add("--seed", type=int, default=SEED, metavar="N", help="seed of files, work and cuts")
    add("--jobs", type=int, default=1, metavar="N", help="machines at a time (default 1)")
    add("--out", type=Path, metavar="FILE", help="the record; an unfinished one is continued")
    add("--steadfast", type=Path, metavar="FILE", help="try this program, build nothing")
    add("--table", type=Path, metavar="RECORD", help="print a record again, run nothing")
    options = parser.parse_args(arguments)
    if not options.table and not options.prefix:
        parser.error("--prefix is needed")
    if options.prefix and options.prefix.resolve().is_relative_to(REPOSITORY):
        parser.error("--prefix is inside the repository")
    if min(options.jobs - 1, options.cuts, options.states) < 0:
        parser.error("--jobs is at least 1, --cuts and --states at least 0")
    return options


def run(options: argparse.Namespace) -> Record:
    """Runs what the record lacks."""
    prefix: Path = options.prefix.resolve()
    prefix.mkdir(parents=True, exist_ok=True)
    with lock(prefix / "lock"):
        setting = prepare(options, prefix)
        tasks = [*cuts(setting.record, options.cuts), *states(setting.record, options.states)]
        idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for number in range(options.jobs):
            idle.put(Worker(setting, number))

        def work(task: Task) -> None:
            worker = idle.get()
            try:
                for line in task(worker):
                    say(line)
            finally:
                idle.put(worker)

        with ThreadPoolExecutor(options.jobs) as pool:
            futures = [pool.submit(work, task) for task in tasks]
            try:
                for future in as_completed(futures):
                    future.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    return setting.record


def prepare(options: argparse.Namespace, prefix: Path) -> Setting:
    """Provides the kernel, the program, the guest's archives and the record."""
    shutil.rmtree(prefix / "scratch", ignore_errors=True)
    (prefix / "scratch").mkdir()
    kernel = needs.kernel(prefix)
    program: Path = (options.steadfast or needs.build(REPOSITORY)).resolve()
    versions = needs.versions(program, kernel, REPOSITORY)
    head = {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": options.seed,
        "versions": versions,
        "method": METHOD,
    }
    kind = "mend-" if options.mend else ""
    record = Record(options.out or prefix / f"{kind}record.json", head)
    bases = {one: guest.base(kernel, [one], program, prefix / "scratch") for one in SYSTEMS}
    # A log is of one program doing the work of one seed.
    own = prefix / f"{kind}{versions['sha256'][:12]}-{options.seed}"
    for folder in ("kept", "logs"):
        (own / folder).mkdir(parents=True, exist_ok=True)
    scratch = prefix / "scratch"
    return Setting(scratch, own, options.seed, kernel, program, bases, record, options.mend)


def cuts(record: Record, count: int) -> list[Task]:
    """The machines that are still to be killed, each with a seed and a disk of its own."""

    def task(name: str, system: str) -> Task:
        return lambda worker: worker.cut(name, system)

    wanted = [(f"cut-{number}", SYSTEMS[number % len(SYSTEMS)]) for number in range(count)]
    return [task(name, system) for name, system in wanted if not record.has("cuts", name)]


def states(record: Record, count: int) -> list[Task]:
    """The states that are still to be rebuilt, all those of one log together."""

    def task(log: str, system: str, names: Sequence[str]) -> Task:
        return lambda worker: worker.states(log, system, names)

    tasks = []
    for at, system in enumerate(SYSTEMS):
        share = len(range(at, count, len(SYSTEMS)))
        for first in range(0, share, STATES_PER_LOG):
            numbers = range(first, min(first + STATES_PER_LOG, share))
            names = [f"{system}-{number}" for number in numbers]
            if not all(record.has("states", name) for name in names):
                tasks.append(task(f"{system}-log{first // STATES_PER_LOG}", system, names))
    return tasks


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


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
