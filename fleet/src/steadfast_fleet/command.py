"""The command `steadfast-fleet`: arguments, a client, a line of progress, an exit status."""

import argparse
import sys
import time
from pathlib import Path

import dask
from distributed import Client, LocalCluster

from .dispatch import Dispatch, Options, SchedulerLost
from .document import Damaged
from .export import export_parquet
from .job import Job

CORRUPT, COULD_NOT_TELL, TRY_AGAIN = 3, 2, 75
SUFFIXES = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def main() -> int:
    """Does what the command line says."""
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    arguments = parser().parse_args(words[:end])
    arguments.extra = words[end + 1 :]
    try:
        if arguments.verb == "run":
            return run(arguments)
        count = export_parquet(arguments.result, arguments.parquet)
        print(f"{count} rows in {arguments.parquet}")
        return 0
    except (Damaged, OSError) as error:
        print(f"steadfast-fleet: {error}", file=sys.stderr)
        return COULD_NOT_TELL
    except SchedulerLost:
        print("steadfast-fleet: the scheduler is gone; run the same again", file=sys.stderr)
        return TRY_AGAIN


def parser() -> argparse.ArgumentParser:
    """Describes the command line."""
    whole = argparse.ArgumentParser(prog="steadfast-fleet", description=__doc__)
    verbs = whole.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser(
        "run",
        help="run every shard of a job that has no part",
        epilog="What is after -- goes to `steadfast fleet run`.",
    )
    one.add_argument("job", type=Path)
    place = one.add_mutually_exclusive_group()
    place.add_argument("--scheduler", help="address of a Dask scheduler")
    place.add_argument("--workers", type=int, default=2, help="else so many workers here [2]")
    one.add_argument("--per-device", type=int, help="shards of one device at a time")
    one.add_argument("--rate-limit", type=size, help="bytes of one device in a second, as 200M")
    one.add_argument("--steadfast", default="steadfast", help="the command on the workers")
    one.add_argument("--attempts", type=int, default=Options.attempts)
    other = verbs.add_parser("export", help="write the result of a merge in another form")
    other.add_argument("result", type=Path)
    other.add_argument("--parquet", type=Path, required=True)
    return whole


def size(text: str) -> int:
    """Reads a number of bytes."""
    factor = SUFFIXES.get(text[-1:], 1)
    return int(float(text[:-1] if factor > 1 else text) * factor)


def run(arguments: argparse.Namespace) -> int:
    """Runs a job on a cluster, the one that is named or one of this machine, and tells the end."""
    options = Options(
        command=(arguments.steadfast,),
        per_device=arguments.per_device,
        rate_limit=arguments.rate_limit,
        extra=tuple(arguments.extra),
        attempts=arguments.attempts,
    )
    job, workers = Job.open(arguments.job), arguments.workers
    ours = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    # Workers of this machine wait for a process: what its sampling finds is not worth a core's time.
    dask.config.set({"distributed.worker.profile.enabled": False})
    with Client(arguments.scheduler or LocalCluster(**ours)) as client:
        print(f"dashboard: {client.dashboard_link}", file=sys.stderr)
        report = Dispatch(client, job, options).run(Line())
    print(f"{len(report.done)} shards done, {report.again} tried again", file=sys.stderr)
    for worker in report.retired:
        print(f"{worker} could not do what others could, and was retired", file=sys.stderr)
    for shard, said in [(s, "something is corrupt") for s in report.corrupt] + sorted(
        report.failed.items()
    ):
        print(f"shard {shard}: {said}", file=sys.stderr)
    return CORRUPT if report.corrupt else TRY_AGAIN if report.failed else 0


class Line:
    """Shows progress: one line on a terminal, elsewhere a line every ten seconds."""

    next = 0.0
    begun = time.monotonic()

    def __call__(self, dispatch: Dispatch) -> None:
        """Shows how far it is, if it is time."""
        now, terminal = time.monotonic(), sys.stderr.isatty()
        if now < self.next:
            return
        self.next = now + (0.2 if terminal else 10.0)
        report, shards = dispatch.report, len(dispatch.job.shards)
        todo = len(dispatch.running) + len(dispatch.later) + len(report.failed)
        done = shards - todo - sum(len(queue) for queue in dispatch.waiting.values())
        line = (
            f"{done} of {shards} shards, {(dispatch.bytes - dispatch.left) / 1e9:.1f} of "
            f"{dispatch.bytes / 1e9:.1f} GB, {len(dispatch.running)} under way, "
            f"{len(report.corrupt)} with corrupt files, {len(report.failed)} failed, "
            f"{now - self.begun:.0f} s"
        )
        print(line, end="\r" if terminal else "\n", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
