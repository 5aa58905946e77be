"""Hands out shards to the workers of a Dask cluster.

In: a client, a job, limits. Out: parts in the job's folder, and a report. Dask moves a task whose
worker died to another one by itself; what a worker could not do is tried again here, and a worker
that cannot do what others can is retired. State is in the job alone: whoever begins again goes on.
"""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
from distributed import CancelledError, Client, Future, wait
from distributed.comm.core import CommClosedError

from . import worker
from .job import Job, Shard
from .worker import CORRUPT, DONE, HOPELESS, Finished, end_commands, run_shard

cloudpickle.register_pickle_by_value(worker)

LOOK_AGAIN_S = 1.0
"""How often the cluster is asked for its workers, and how long ends are waited for."""


@dataclass(frozen=True)
class Options:
    """How a job is run."""

    command: tuple[str, ...] = ("steadfast",)
    """The command on the workers."""
    per_device: int | None = None
    """Shards of one device at a time; `None` for as many as the workers take."""
    rate_limit: int | None = None
    """Bytes that may be read of one device in a second."""
    extra: tuple[str, ...] = ()
    """Further arguments of `steadfast fleet run`."""
    attempts: int = 5
    """How often a shard is tried."""
    pause_s: float = 1.0
    """Time before a shard is tried again; twice as much each time."""
    verify: bool = False
    """Whether shards that have a part are handed out too: a damaged part is made anew."""
    strikes: int = 3
    """Shards that a worker fails at in a row, while others succeed, before it is retired."""


@dataclass
class Report:
    """What became of the shards of a job."""

    done: list[int] = field(default_factory=list)
    """Those that were run."""
    corrupt: list[int] = field(default_factory=list)
    """Those with a corrupt file, whenever they were run."""
    failed: dict[int, str] = field(default_factory=dict)
    """Those without a part, and why."""
    hopeless: set[int] = field(default_factory=set)
    """Of these, those that somebody must look at before they are tried again."""
    again: int = 0
    """Attempts that had to be made again."""
    retired: list[str] = field(default_factory=list)
    """Workers that could not do what others could."""


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
    """The scheduler went away: the parts that are there stay, and the rest can be done later."""


class Dispatch:
    """One pass over the shards of a job that have no part."""

    def __init__(self, client: Client, job: Job, options: Options) -> None:
        """Prepares; nothing runs yet."""
        self.client, self.job, self.options = client, job, options
        self.report = Report()
        self.waiting: dict[int, deque[Shard]] = defaultdict(deque)
        ended = {} if options.verify else job.ended()
        self.report.corrupt += sorted(number for number, s in ended.items() if s == CORRUPT)
        for shard in sorted(job.shards, key=lambda shard: shard.age):
            if shard.number not in ended:
                self.waiting[shard.device].append(shard)
        self.running: dict[Future[tuple[int, str, str]], Shard] = {}
        self.rates: dict[int, int] = {}
        """Bytes in a second that each shard under way may read."""
        self.submitted = 0
        self.later: list[tuple[float, Shard]] = []
        self.tries: Counter[int] = Counter()
        self.strikes: dict[str, set[int]] = defaultdict(set)
        self.threads: dict[str, int] = {}
        self.looked = float("-inf")
        self.bytes = sum(shard.bytes for shard in job.shards)
        self.left = sum(shard.bytes for queue in self.waiting.values() for shard in queue)

    def run(self, listen: Callable[["Dispatch"], None] = lambda dispatch: None) -> Report:
        """Runs every shard that has no part; `listen` hears of every change."""
        try:
            while self.running or self.later or any(self.waiting.values()):
                self.look()
                self.hand_out()
                listen(self)
                self.take_in()
        except (CancelledError, CommClosedError) as error:
            raise SchedulerLost from error
        listen(self)
        return self.report

    def stop(self) -> None:
        """Ends what is under way; the parts that are there stay."""
        self.client.cancel(list(self.running), force=True)
        self.client.run(Sent(end_commands))

    def look(self) -> None:
        """Asks for the workers now and then, and brings back shards whose pause is over."""
        now = time.monotonic()
        if now - self.looked > LOOK_AGAIN_S:
            self.threads, self.looked = self.client.nthreads(), now
        for due, shard in self.later:
            if due <= now:
                self.waiting[shard.device].appendleft(shard)
        self.later = [(due, shard) for due, shard in self.later if due > now]

    def hand_out(self) -> None:
        """Submits as many shards as the limits allow, of the least busy device first."""
        threads = sum(self.threads.values())
        # One more than runs for each thread, so that none waits for its next.
        limit = self.options.per_device or 2 * threads
        share = max(min(limit, threads), 1)
        busy = Counter(shard.device for shard in self.running.values())
        while len(self.running) < 2 * threads:
            free = [
                device
                for device, queue in self.waiting.items()
                if queue and busy[device] < limit and self.has_rate(device, share)
            ]
            if not free:
                return
            device = min(free, key=lambda d: (busy[d], self.waiting[d][0].age))
            self.submit(self.waiting[device].popleft(), share)
            busy[device] += 1

    def rate(self, share: int) -> int:
        """What one of so many shards of a device may read in a second."""
        return max((self.options.rate_limit or 0) // share, 1)

    def has_rate(self, device: int, share: int) -> bool:
        """Says whether what is under way leaves a share of what may be read of a device.

        Shards keep the rate that they began with, so workers that join wait for these to end.
        """
        under_way = [shard.number for shard in self.running.values() if shard.device == device]
        if self.options.rate_limit is None or not under_way:
            return True
        given = sum(self.rates[number] for number in under_way)
        return given + self.rate(share) <= self.options.rate_limit

    def submit(self, shard: Shard, share: int) -> None:
        """Hands one shard to Dask, whose dashboard shows it under its device's name."""
        extra = list(self.options.extra)
        if self.options.rate_limit is not None:
            self.rates[shard.number] = self.rate(share)
            extra += ["--rate-limit", f"{self.rates[shard.number]}B"]
        self.tries[shard.number] += 1
        self.submitted += 1
        key = f"check-device-{shard.device}", self.job.name, shard.number, self.tries[shard.number]
        words = list(self.options.command), str(self.job.folder), shard.number, extra
        # Those that were handed out first are run first.
        order = {"key": key, "pure": False, "priority": -self.submitted}
        self.running[self.client.submit(Sent(run_shard), *words, **order)] = shard

    def take_in(self) -> None:
        """Waits for shards to end, for a short time at most, and looks what became of them."""
        if not self.running:
            time.sleep(0.05)
            return
        try:
            ended = wait(list(self.running), timeout=LOOK_AGAIN_S, return_when="FIRST_COMPLETED")
        except TimeoutError:
            ended = None
        if self.client.status != "running":
            raise SchedulerLost
        for future in ended.done if ended else ():
            shard = self.running.pop(future)
            if future.status == "finished":
                self.settle(shard, Finished(*future.result()))
            elif future.status == "error":
                self.try_again(shard, str(future.exception()))
            elif future.status == "lost":
                # The worker died with the result; the scheduler has another one run the shard.
                self.running[future] = shard
                time.sleep(0.05)
                continue
            else:
                raise SchedulerLost
            future.release()

    def settle(self, shard: Shard, ended: Finished) -> None:
        """Notes how a shard ended, and has it tried again where that makes sense."""
        if ended.status in (DONE, CORRUPT):
            self.strikes[ended.worker] = set()
            self.left -= shard.bytes
            self.report.done.append(shard.number)
            if ended.status == CORRUPT:
                self.report.corrupt.append(shard.number)
        elif ended.status == HOPELESS:
            self.report.failed[shard.number] = ended.message
            self.report.hopeless.add(shard.number)
        else:
            self.strike(ended.worker, shard)
            self.try_again(shard, ended.message)

    def strike(self, worker: str, shard: Shard) -> None:
        """Retires a worker that fails at one shard after the other while others succeed."""
        self.strikes[worker].add(shard.number)
        others = [o for o, strikes in self.strikes.items() if not strikes and o in self.threads]
        if worker in self.report.retired:
            return
        if len(self.strikes[worker]) >= self.options.strikes and others:
            self.strikes[worker] = set()
            self.report.retired.append(worker)
            self.client.retire_workers([worker], close_workers=True)

    def try_again(self, shard: Shard, said: str) -> None:
        """Puts a shard back for later, unless it was tried often enough."""
        tries = self.tries[shard.number]
        if tries >= self.options.attempts:
            self.report.failed[shard.number] = said
            return
        self.report.again += 1
        self.later.append((time.monotonic() + self.options.pause_s * 2 ** (tries - 1), shard))
