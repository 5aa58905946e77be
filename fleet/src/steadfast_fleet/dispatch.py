"""Hands out the shards of folders to the workers of a Dask cluster.

In: a client, folders, limits. Out: a result file for each shard, and a report. Dask schedules,
balances and repeats. State is in the result files alone: the same call again does what is left.
"""

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cloudpickle
from distributed import CancelledError, Client, Future, wait
from distributed.comm.core import CommClosedError

from . import worker
from .worker import end_commands, run_shard

cloudpickle.register_pickle_by_value(worker)


@dataclass(frozen=True)
class Options:
    """How the shards are run."""

    shards: int
    """How many there are of each folder."""
    results: Path
    """The folder of the results; it has one folder for each checked folder."""
    command: str = "steadfast"
    """The command on the workers."""
    per_folder: int | None = None
    """Shards of one folder at a time; `None` for as many as the workers take."""
    extra: tuple[str, ...] = ()
    """Further arguments of `steadfast check`."""
    attempts: int = 5
    pause_s: float = 10.0
    """How long a worker waits after an attempt that failed."""


@dataclass(frozen=True)
class Shard:
    """One shard of a folder."""

    folder: Path
    label: str
    """The name of the folder on the dashboard, and in the folder of results."""
    number: int
    result: Path


@dataclass
class Report:
    """What became of the shards."""

    done: list[Shard] = field(default_factory=list)
    """Those that were checked."""
    earlier: list[Shard] = field(default_factory=list)
    """Those that had a result already."""
    failed: dict[Shard, str] = field(default_factory=dict)
    """Those without a result, and why."""
    refused: set[Shard] = field(default_factory=set)
    """Of these, those for which another attempt is of no use."""


class Sent:
    """A function that goes to workers as it is: they need not have the module that it is of."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Takes the function."""
        self.function = function

    def __call__(self, *words: Any) -> Any:
        """Is the function, as far as whoever submits it looks."""
        return self.function(*words)

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        """Arrives as the function."""
        return cloudpickle.loads, (cloudpickle.dumps(self.function),)


class SchedulerLost(Exception):
    """The scheduler went away: the results that are there stay, and the rest can be done later."""


class Dispatch:
    """One pass over the shards of folders that have no result."""

    def __init__(self, client: Client, folders: Sequence[Path], options: Options) -> None:
        """Prepares; nothing runs yet."""
        self.client, self.options = client, options
        self.report = Report()
        self.waiting: list[deque[Shard]] = []
        self.running: dict[Future[tuple[int, str]], Shard] = {}
        for folder, label in zip(folders, labels(folders), strict=True):
            results = options.results.absolute() / label
            results.mkdir(parents=True, exist_ok=True)
            self.waiting.append(deque())
            for number in range(options.shards):
                shard = Shard(folder, label, number, results / f"{number:05}")
                there = self.report.earlier if shard.result.exists() else self.waiting[-1]
                there.append(shard)

    def run(self, listen: Callable[["Dispatch"], None] = lambda dispatch: None) -> Report:
        """Checks every shard that has no result; `listen` hears of every change."""
        try:
            while self.running or any(self.waiting):
                self.hand_out()
                listen(self)
                self.take_in()
        except (CancelledError, CommClosedError) as error:
            raise SchedulerLost from error
        listen(self)
        return self.report

    def stop(self) -> None:
        """Ends what is under way; the results that are there stay."""
        self.client.cancel(list(self.running), force=True)
        self.client.run(Sent(end_commands))

    def hand_out(self) -> None:
        """Submits shards, of each folder as many as may run."""
        for queue in self.waiting:
            while queue and not self.is_full(queue[0].label):
                shard = queue.popleft()
                future = self.client.submit(
                    Sent(run_shard),
                    self.words(shard),
                    str(shard.result),
                    self.options.pause_s,
                    # The dashboard groups tasks by the first of these.
                    key=(f"check_{shard.label}", shard.number),
                    retries=self.options.attempts - 1,
                    pure=False,
                )
                self.running[future] = shard

    def is_full(self, label: str) -> bool:
        """Says whether a folder has as many shards under way as it may have."""
        most = self.options.per_folder
        return most is not None and most <= sum(s.label == label for s in self.running.values())

    def words(self, shard: Shard) -> list[str]:
        """Returns the command that checks a shard."""
        of = f"{shard.number}/{self.options.shards}"
        words = [self.options.command, "check", str(shard.folder), "--quiet", "--shard", of]
        return [*words, "--result", str(shard.result), *self.options.extra]

    def take_in(self) -> None:
        """Waits a second for ends, and notes them."""
        try:
            ended = wait(list(self.running), 1.0, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            ended = set()
        if self.client.status != "running":
            raise SchedulerLost
        for future in ended:
            if future.status in ("cancelled", "lost"):
                raise SchedulerLost
            shard = self.running.pop(future)
            if future.status == "finished":
                _, said = future.result()
                if said:
                    self.report.failed[shard] = said
                    self.report.refused.add(shard)
                else:
                    self.report.done.append(shard)
            else:
                self.report.failed[shard] = str(future.exception())
            future.release()


def labels(folders: Sequence[Path]) -> list[str]:
    """Returns a name for each folder: its own, with a number if others have the same."""
    names: list[str] = []
    for folder in folders:
        plain = re.sub(r"\W", "_", folder.absolute().name) or "root"
        names.append(f"{plain}_{len(names)}" if plain in names else plain)
    return names
