"""What handing out costs: three workers against one process, on the same files, pair by pair.

`python overhead.py STEADFAST TREE [SHARDS [PAIRS]]`, on a machine that does nothing else. TREE must be
tagged and fit the page cache. Which of a pair comes first alternates. Wall time is what counts;
processor time, Dask's own included, is shown beside it, since it is less disturbed by others.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dask
from distributed import Client, LocalCluster

from steadfast_fleet import Dispatch, Job, Options


def used() -> float:
    """Returns the processor time of this process and of those that it waited for."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    usages = [resource.getrusage(who) for who in whose]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def timed(work: Callable[[], object], clock: Callable[[], float]) -> tuple[float, float]:
    """Returns wall time and processor time of some work."""
    before, begun = clock(), time.monotonic()
    work()
    ended = time.monotonic()
    return ended - begun, clock() - before


def main(command: str, tree: str, shards: str = "12", pairs: str = "7") -> None:
    """Measures and prints."""
    dask.config.set({"distributed.worker.profile.enabled": False})
    cluster = LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None)
    rows = []
    with Client(cluster) as client, tempfile.TemporaryDirectory() as folder:

        def planned(name: str, count: str) -> Job:
            job = Path(folder) / name
            words = [command, "fleet", "plan", tree, "--out", job, "--shards", count]
            subprocess.run(words, check=True, capture_output=True)
            return Job.open(job)

        def one(name: str) -> tuple[float, float]:
            words = [command, "fleet", "run", planned(name, "1").folder, "--shard", "0", "--quiet"]
            return timed(lambda: subprocess.run(words, check=True), used)

        def three(name: str) -> tuple[float, float]:
            dispatch = Dispatch(client, planned(name, shards), Options(command=(command,)))
            return timed(dispatch.run, lambda: used() + sum(client.run(used).values()))

        for pair in range(-1, int(pairs)):
            sides = [lambda: one(f"one{pair}"), lambda: three(f"three{pair}")]  # noqa: B023
            ends = [side() for side in (sides if pair % 2 else sides[::-1])]
            single, many = ends if pair % 2 else ends[::-1]
            if pair >= 0:
                rows.append((single, many))
                print(f"one {single[0]:.2f} s, {single[1]:.2f} s of processors;", end=" ")
                print(f"three {many[0]:.2f} s, {many[1]:.2f} s", flush=True)
    cluster.close()
    for at, name in enumerate(("wall time", "processor time")):
        ratios = sorted(single[at] / many[at] for single, many in rows)
        median = statistics.median(ratios)
        print(f"{name}: three workers have {median:.3f} of one process's throughput", end=" ")
        print(f"({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main(*sys.argv[1:])
