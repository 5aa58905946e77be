"""What runs on a worker: one shard, by the `steadfast` command, which alone writes its part."""

import subprocess
from dataclasses import dataclass

from distributed import get_worker

DONE, HOPELESS, CORRUPT = 0, 2, 3
"""Statuses: the part is there; there is none, and somebody must look; it is there, with decay."""


@dataclass(frozen=True)
class Finished:
    """How a shard ended, and on which worker."""

    status: int
    worker: str
    message: str


def run_shard(command: list[str], job: str, shard: int, extra: list[str]) -> Finished:
    """Runs one shard and waits for its end."""
    words = [*command, "fleet", "run", job, "--shard", str(shard), "--quiet", *extra]
    try:
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        status, said = ended.returncode, ended.stderr.decode(errors="replace").strip()
    except OSError as error:
        # As shells have it; another worker may have the command.
        status, said = 127, f"cannot run {command[0]}: {error}"
    return Finished(status, get_worker().address, said[-2000:] or f"status {status}")
