"""Stops or kills a run at one of its system calls, by `strace`."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from program import Program, Run, finish

# Calls at which a repair has done something that others can see, with how often it makes them.
CALLS = (
    ("fsync", 14),
    ("renameat2", 3),
    ("renameat", 2),
    ("openat", 170),
    ("fchmod", 5),
    ("utimensat", 3),
    ("fsetxattr", 2),
    ("pwrite64", 60),
    ("pread64", 90),
    ("newfstatat", 120),
    ("statx", 12),
    ("unlinkat", 4),
    ("fstat", 60),
)
STOPPED = re.compile(rb"^(\d+) +--- stopped by SIGSTOP ---", re.MULTILINE)
PATIENCE_S = 10


def draw_call(source: random.Random) -> tuple[str, int]:
    """A call and its number in the run. The calls around an exchange are drawn most often."""
    call, most = source.choice(CALLS)
    return call, source.randint(1, most)


def stopped(
    program: Program,
    words: Sequence[str],
    call: tuple[str, int],
    log: Path,
    meanwhile: Callable[[], None],
) -> tuple[Run, bool]:
    """Runs a verb, and does something while it is stopped at a call. False if it made no such."""
    under = _under(call, "STOP", log)
    process = program.start(words, under)
    end = time.monotonic() + PATIENCE_S
    seen = 0
    # Each thread counts its calls, so several may stop, one after the other.
    while process.poll() is None and time.monotonic() < end:
        found = STOPPED.findall(log.read_bytes()) if log.exists() else []
        if len(found) == seen:
            time.sleep(0.001)
            continue
        if seen == 0:
            meanwhile()
        seen = len(found)
        # Another thread may have ended the run.
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(found[-1]), signal.SIGCONT)
    run = finish(process, words)
    log.unlink(missing_ok=True)
    return run, seen > 0


def killed(program: Program, words: Sequence[str], call: tuple[str, int], log: Path) -> Run:
    """Runs a verb that is killed at a call, if it makes it. The status is then negative."""
    run = program.run(*words, before=_under(call, "KILL", log))
    log.unlink(missing_ok=True)
    return run


def killed_after(program: Program, words: Sequence[str], delay_s: float) -> Run:
    """Runs a verb that is killed after a delay."""
    process = program.start(words)
    time.sleep(delay_s)
    process.kill()
    return finish(process, words)


def _under(call: tuple[str, int], name: str, log: Path) -> list[str]:
    what, number = call
    line = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={what}"]
    return [*line, "-e", f"inject={what}:signal={name}:when={number}"]
