"""What runs on a worker: one shard, by the `steadfast` command, which alone writes its result.

It is sent there as it is: workers need neither this package nor another version of it.
"""

import os
import subprocess
import time
from typing import Any

from distributed import get_worker

REFUSED = 2
"""The status of a command that was refused: another attempt would be, too."""


class TryAgain(Exception):
    """A shard has no result, and another attempt may succeed. Dask makes it."""


def run_shard(command: list[str], result: str, pause_s: float) -> tuple[int, str]:
    """Checks one shard, and returns its exit status, and what it said if it has no result."""
    worker: Any = get_worker()
    try:
        began = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
    except OSError as error:
        # Another worker may have the command.
        time.sleep(pause_s)
        raise TryAgain(f"cannot run {command[0]}: {error}") from None
    # Where `end_commands` finds it.
    worker.steadfast_commands = {*getattr(worker, "steadfast_commands", ()), began}
    try:
        said = began.communicate()[1].decode(errors="replace").strip()[-2000:]
    finally:
        worker.steadfast_commands = worker.steadfast_commands - {began}
    if os.path.exists(result):
        return began.returncode, ""
    if began.returncode == REFUSED:
        return began.returncode, said
    # A worker that cannot, for example because its disk is full, must not use up all attempts
    # while the others work.
    time.sleep(pause_s)
    raise TryAgain(said or f"status {began.returncode}")


def end_commands(dask_worker: Any) -> None:
    """Ends what is under way on a worker; nothing is left of it."""
    for command in getattr(dask_worker, "steadfast_commands", ()):
        command.terminate()
