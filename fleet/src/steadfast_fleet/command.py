"""The command `steadfast-fleet`: arguments, a client, a line of progress, an exit status."""

import argparse
import contextlib
import logging
import re
import signal
import sys
import time
from pathlib import Path

import dask
from distributed import Client, LocalCluster

from .dispatch import Dispatch, Options, Report, SchedulerLost
from .document import Damaged
from .export import Refused, export_parquet
from .job import Job

CORRUPT, COULD_NOT_TELL, TRY_AGAIN, INTERRUPTED = 3, 2, 75, 130
FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
FACTORS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


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
        print(f"{counted(count, 'row')} in {arguments.parquet}")
        return 0
    except ModuleNotFoundError as error:
        return complain(f"there is no {error.name}: pip install ./fleet[parquet]", COULD_NOT_TELL)
    except (Damaged, Refused, OSError) as error:
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


def counted(number: int, what: str) -> str:
    """Says how many there are."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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
    place.add_argument("--workers", type=number, default=2, help="else so many workers here [2]")
    one.add_argument("--per-device", type=number, help="shards of one device at a time")
    one.add_argument("--rate-limit", type=size, help="bytes of one device in a second, as 200MB")
    one.add_argument("--steadfast", default="steadfast", help="the command on the workers")
    one.add_argument(
        "--attempts",
        type=number,
        default=Options.attempts,
        help=f"how often a shard is tried [{Options.attempts}]",
    )
    one.add_argument(
        "--verify",
        action="store_true",
        help="read the parts that are there to their ends, and make damaged ones anew",
    )
    other = verbs.add_parser("export", help="write the result of a merge in another form")
    other.add_argument("result", type=Path)
    other.add_argument("--parquet", type=Path, required=True)
    return whole


def number(text: str) -> int:
    """Reads a number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is no number from 1")
    return int(text)


def size(text: str) -> int:
    """Reads a number of bytes in a second, as `steadfast` does: 200MB, 200M, 64MiB."""
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)(?:([kmgt]i?)b?|b)(?:/s)?", text.lower())
    read = int(float(parts[1]) * FACTORS[parts[2] or ""]) if parts else 0
    if read < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of bytes with a unit, as 200MB")
    return read


def run(arguments: argparse.Namespace) -> int:
    """Runs a job on a cluster, the one that is named or one of this machine, and tells the end."""
    options = Options(
        command=(arguments.steadfast,),
        per_device=arguments.per_device,
        rate_limit=arguments.rate_limit,
        extra=tuple(arguments.extra),
        attempts=arguments.attempts,
        verify=arguments.verify,
    )
    job = Job.open(arguments.job)
    # Workers of this machine wait for a process: what its sampling finds is not worth a core's time.
    dask.config.set({"distributed.worker.profile.enabled": False})
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(reached(arguments, stack))
        print(f"dashboard: {client.dashboard_link}", file=sys.stderr)
        dispatch = Dispatch(client, job, options)
        try:
            report = dispatch.run(Line())
        except KeyboardInterrupt:
            for one in (signal.SIGINT, signal.SIGTERM):
                signal.signal(one, signal.SIG_IGN)
            logging.getLogger("distributed").setLevel(logging.CRITICAL)
            dispatch.stop()
            raise
    return tell(report)


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


def tell(report: Report) -> int:
    """Says what became of the shards, and returns the status."""
    done = counted(len(report.done), "shard")
    print(f"{done} done, {report.again} tried again", file=sys.stderr)
    for worker in report.retired:
        print(f"{worker} could not do what others could, and was retired", file=sys.stderr)
    corrupt = [(shard, "something is corrupt") for shard in report.corrupt]
    for shard, said in corrupt + sorted(report.failed.items()):
        print(f"shard {shard}: {said}", file=sys.stderr)
    if report.corrupt:
        return CORRUPT
    if len(report.hopeless) < len(report.failed):
        return TRY_AGAIN
    return COULD_NOT_TELL if report.failed else 0


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
        if not dispatch.threads:
            line += ", no workers"
        # On a terminal the next line is written over this one, whatever is longer.
        begin, end = ("\r\x1b[K", "\r") if terminal else ("", "\n")
        print(f"{begin}{line}", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
