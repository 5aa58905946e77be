"""What runs on a worker: one shard, by the `steadfast` command, which alone writes its part.

It is sent there as it is: workers need neither this package nor another version of it.
"""

import subprocess
from dataclasses import dataclass
from typing import Any

from distributed import get_worker

DONE, HOPELESS, CORRUPT = 0, 2, 3
"""Statuses: the part is there; there is none, and somebody must look; it is there, with decay."""


@dataclass(frozen=True)
class Finished:
    """How a shard ended, and on which worker."""

    status: int
    worker: str
    message: str


def run_shard(command: list[str], job: str, shard: int, extra: list[str]) -> tuple[int, str, str]:
    """Runs one shard and waits for its end; returns what `Finished` has."""
    worker: Any = get_worker()
    words = [*command, "fleet", "run", job, "--shard", str(shard), "--quiet", *extra]
    try:
        began = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
    except OSError as error:
        # As shells have it; another worker may have the command.
        return 127, worker.address, f"cannot run {command[0]}: {error}"
    # Where `end_commands` finds it.
    worker.steadfast_commands = {*getattr(worker, "steadfast_commands", ()), began}
    try:
        said = began.communicate()[1].decode(errors="replace").strip()
    finally:
        worker.steadfast_commands = worker.steadfast_commands - {began}
    return began.returncode, worker.address, said[-2000:] or f"status {began.returncode}"


def end_commands(dask_worker: Any) -> None:
    """Ends what is under way on a worker; nothing is left of it."""
    for command in getattr(dask_worker, "steadfast_commands", ()):
        command.terminate()
