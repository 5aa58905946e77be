"""The command `steadfast-fleet`: arguments, a client, a line of progress, an exit status."""

import argparse
import contextlib
import logging
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask
from distributed import Client, LocalCluster

from .dispatch import Dispatch, Options, Report, SchedulerLost

CORRUPT, COULD_NOT_TELL, TRY_AGAIN, INTERRUPTED = 3, 2, 75, 130
ORDER = (0, COULD_NOT_TELL, 1, INTERRUPTED, CORRUPT)
"""Exit statuses, the most severe last."""


def main() -> int:
    """Does what the command line says."""
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    arguments = parser().parse_args(words[:end])
    arguments.extra = words[end + 1 :]
    try:
        return run(arguments)
    except OSError as error:
        return complain(str(error), COULD_NOT_TELL)
    except SchedulerLost as error:
        said = str(error) or "the scheduler is gone"
        return complain(f"{said}; run the same again", TRY_AGAIN)
    except KeyboardInterrupt:
        return complain("interrupted; run the same again to go on", INTERRUPTED)


def complain(said: str, status: int) -> int:
    """Says why something was not done, and returns the status."""
    print(f"steadfast-fleet: {said}", file=sys.stderr)
    return status


def parser() -> argparse.ArgumentParser:
    """Describes the command line."""
    whole = argparse.ArgumentParser(
        prog="steadfast-fleet",
        description="Check folders in shards on Dask, and merge the results.",
        epilog="What is after -- goes to `steadfast check`, as -- --rate-limit 500M of each shard.",
    )
    whole.add_argument("folder", type=Path, nargs="+")
    whole.add_argument("--shards", type=number, required=True, help="shards of each folder")
    whole.add_argument(
        "--results",
        type=Path,
        required=True,
        help="folder of the results; what it has already is not checked again",
    )
    place = whole.add_mutually_exclusive_group()
    place.add_argument("--scheduler", help="address of a Dask scheduler")
    place.add_argument("--workers", type=number, default=2, help="else so many workers here [2]")
    whole.add_argument("--per-folder", type=number, help="shards of one folder at a time")
    whole.add_argument("--steadfast", default="steadfast", help="the command on the workers")
    whole.add_argument("--attempts", type=number, default=5, help="how often a shard is tried [5]")
    return whole


def number(text: str) -> int:
    """Reads a number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is no number from 1")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Checks the shards on a cluster, the one that is named or one of this machine, and merges."""
    options = Options(
        shards=arguments.shards,
        results=arguments.results,
        command=arguments.steadfast,
        per_folder=arguments.per_folder,
        extra=tuple(arguments.extra),
        attempts=arguments.attempts,
    )
    # Workers of this machine wait for a process: what its sampling finds is not worth a core's time.
    dask.config.set({"distributed.worker.profile.enabled": False})
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(reached(arguments, stack))
        print(f"dashboard: {client.dashboard_link}", file=sys.stderr)
        dispatch = Dispatch(client, arguments.folder, options)
        try:
            report = dispatch.run(Line())
        except KeyboardInterrupt:
            for one in (signal.SIGINT, signal.SIGTERM):
                signal.signal(one, signal.SIG_IGN)
            logging.getLogger("distributed").setLevel(logging.CRITICAL)
            dispatch.stop()
            raise
    return tell(report, options)


def reached(arguments: argparse.Namespace, stack: contextlib.ExitStack) -> Client:
    """Connects to the scheduler that is named, or starts workers here."""
    if arguments.scheduler:
        try:
            return Client(arguments.scheduler)
        except OSError as error:
            raise SchedulerLost(f"no scheduler answers at {arguments.scheduler}") from error
    # Who interrupts from a terminal interrupts all its processes: the workers wait to be ended.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ours = {"n_workers": arguments.workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        # What workers say of being interrupted is no news.
        return Client(stack.enter_context(LocalCluster(**ours, silence_logs=logging.CRITICAL)))
    finally:
        signal.signal(signal.SIGINT, before)


def tell(report: Report, options: Options) -> int:
    """Says what became of the shards, merges the results, and returns the status."""
    done, earlier = len(report.done), len(report.earlier)
    print(f"{done} shards done, {earlier} had a result already", file=sys.stderr)
    for shard, said in sorted(report.failed.items(), key=lambda item: str(item[0].result)):
        print(f"shard {shard.number} of {shard.folder}: {said}", file=sys.stderr)
    status = 0
    for folder in sorted({shard.result.parent for shard in (*report.done, *report.earlier)}):
        merged = subprocess.run([options.command, "merge", folder], check=False).returncode
        status = max(status, merged, key=lambda one: ORDER.index(one) if one in ORDER else 1)
    if status != CORRUPT and len(report.refused) < len(report.failed):
        return TRY_AGAIN
    return status or (COULD_NOT_TELL if report.failed else 0)


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
        report = dispatch.report
        done, failed = len(report.done + report.earlier), len(report.failed)
        left = len(dispatch.running) + sum(map(len, dispatch.waiting))
        line = f"{done} of {done + failed + left} shards, {failed} failed, {now - self.begun:.0f} s"
        line += "" if dispatch.client.nthreads() else ", no workers"
        # On a terminal the next line is written over this one, whatever is longer.
        begin, end = ("\r\x1b[K", "\r") if terminal else ("", "\n")
        print(f"{begin}{line}", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
