"""In: a command. Out: its output and what one run of it cost.

Also the two things that must be true before a run: the page cache in a known condition and
nothing waiting to be written. It must not know peers or corpora.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

LAUNCHER = Path(__file__).with_name("launch.py")
DROP_CACHES = Path("/proc/sys/vm/drop_caches")
TIMEOUT_S = 1_800
FLOOR_RUNS = 9


@dataclass(frozen=True)
class Cost:
    """What one run used. Processor time and switches are those of all its processes together;
    memory is that of the largest one."""

    status: int
    started_ns: int
    wall_ns: int
    user_ns: int
    sys_ns: int
    rss_bytes: int
    switches_voluntary: int
    switches_involuntary: int
    storage_read_bytes: int


@dataclass(frozen=True)
class Outcome:
    """What one run said and used."""

    cost: Cost
    stdout: str
    stderr: str


class Stopwatch:
    """Runs commands, one at a time, in a fixed environment."""

    def __init__(self, scratch: Path, search_path: str) -> None:
        scratch.mkdir(parents=True, exist_ok=True)
        self._out = scratch / "stdout"
        self._err = scratch / "stderr"
        home = scratch / "home"
        home.mkdir(exist_ok=True)
        # A home of its own: no one's configuration changes what a peer does.
        self._environment = {"PATH": search_path, "HOME": str(home), "LC_ALL": "C.UTF-8"}

    def run(self, command: Sequence[str], folder: Path) -> Outcome:
        """Runs `command` once. A status other than 0 is an outcome, not an error.

        Raises `OSError` if the program is not there, `TimeoutExpired` after half an hour.
        """
        program = shutil.which(command[0], path=self._environment["PATH"])
        if program is None:
            raise FileNotFoundError(f"no program `{command[0]}`")
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(self._out), str(self._err)]
        done = subprocess.run(
            [*launcher, str(folder), program, *command[1:]],
            env=self._environment,
            stdout=subprocess.PIPE,
            timeout=TIMEOUT_S,
            check=True,
        )
        return Outcome(
            cost=Cost(**json.loads(done.stdout)),
            stdout=self._out.read_text(errors="surrogateescape"),
            stderr=self._err.read_text(errors="surrogateescape"),
        )

    def floor(self) -> dict[str, int]:
        """Measures a program that does nothing: no figure below it means anything."""
        costs = [self.run(["true"], Path("/")).cost for _ in range(FLOOR_RUNS)]
        return {
            "wall_ns": sorted(cost.wall_ns for cost in costs)[FLOOR_RUNS // 2],
            "rss_bytes": max(cost.rss_bytes for cost in costs),
            "clock_resolution_ns": round(time.clock_getres(time.CLOCK_MONOTONIC_RAW) * 1e9),
        }


def can_drop_caches() -> bool:
    """Whether this process may empty the page cache."""
    return os.access(DROP_CACHES, os.W_OK)


def drop_caches() -> None:
    """Writes everything back and empties the page cache, names and inodes included."""
    os.sync()
    DROP_CACHES.write_text("3\n")


def warm(paths: Iterable[Path]) -> None:
    """Reads every file once, so that the page cache holds them, and writes everything back."""
    buffer = bytearray(1 << 20)
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass
    os.sync()
