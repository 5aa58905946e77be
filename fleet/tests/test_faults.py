"""Something dies, fills up, is corrupt or vanishes: nothing is lost, nothing counted twice."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

from conftest import COMMAND, Cluster, Tree, needs_root, patience, steadfast, until
from distributed import Client

from steadfast_fleet import Dispatch, Job, Options, Report

SLOW = ("--rate-limit", "40M", "--workers", "1")
"""So that a kill comes while shards are under way."""


def dispatch(there: Cluster, job: Job, **options: object) -> Report:
    """Runs a job with all workers."""
    with Client(there.address) as client:
        there.wait(client)
        given = Options(command=(COMMAND,), pause_s=0.2, **options)  # type: ignore[arg-type]
        return Dispatch(client, job, given).run()


def test_without_a_fault(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """Three workers make what one process makes."""
    job = tree.plan("plain", 24)
    running: list[int] = []
    there = cluster()
    with Client(there.address) as client:
        there.wait(client)
        options = Options(command=(COMMAND,), per_device=2)
        listen = lambda dispatch: running.append(len(dispatch.running))  # noqa: E731
        report = Dispatch(client, job, options).run(listen)
    assert (len(report.done), report.again, report.failed) == (24, 0, {})
    assert max(running) == 2, "a device has its limit"
    assert tree.merged(job) == tree.expected
    # A shard with a corrupt file is told, and not tried again.
    lines = [line for line in tree.expected.decode().splitlines() if f'"{tree.corrupt}"' in line]
    assert len(lines) == 1 and '"verdict":"corrupt"' in lines[0]
    assert len(report.corrupt) == 1


def test_a_worker_is_killed(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """What it had under way is done by others."""
    job = tree.plan("killed", 24)
    there = cluster()

    def kill() -> None:
        until(lambda: len(job.done()) >= 4)
        with Client(there.address) as client:
            pids = client.run(os.getpid)
        os.kill(next(iter(pids.values())), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    report = dispatch(there, job, extra=SLOW)
    killer.join()
    assert sorted(report.done) == list(range(24)) and report.failed == {}
    assert tree.merged(job) == tree.expected


def test_the_scheduler_is_killed(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """The parts stay, and the same command on another scheduler does the rest."""
    job = tree.plan("headless", 24)
    there = cluster()
    words = [sys.executable, "-m", "steadfast_fleet.command", "run", str(job.folder)]
    words += ["--steadfast", COMMAND]
    first = subprocess.Popen(
        [*words, "--scheduler", there.address, "--", *SLOW], stderr=subprocess.PIPE, text=True
    )
    until(lambda: len(job.done()) >= 6)
    there.scheduler.kill()
    said = first.communicate(timeout=patience(60))[1]
    assert first.returncode == 75, said
    assert "run the same again" in said
    there.close()
    kept = {number: (job.folder / f"parts/{number:05}.jsonl").stat() for number in job.done()}
    assert 6 <= len(kept) < 24
    second = subprocess.run(
        [*words, "--scheduler", cluster().address],
        capture_output=True,
        text=True,
        timeout=patience(60),
    )
    assert second.returncode in (0, 3), second.stderr
    for number, before in kept.items():
        after = (job.folder / f"parts/{number:05}.jsonl").stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert tree.merged(job) == tree.expected


def test_a_worker_has_a_full_disk(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """It writes no part, not even half of one, and is retired; the others do its work."""
    needs_root()
    job = tree.plan("full", 24)
    small = f"mount -t tmpfs -o size=16k tmpfs {job.folder}/parts && exec \"$@\""

    def wrap(number: int) -> list[str]:
        return ["unshare", "--mount", "sh", "-c", small, "sh"] if number == 1 else []

    report = dispatch(cluster(wrap), job)
    assert sorted(report.done) == list(range(24)) and report.failed == {}
    assert report.again >= 3 and len(report.retired) == 1
    assert tree.merged(job) == tree.expected


def test_a_shard_vanishes_and_comes_back(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """It is tried again; one that stays away is told, and all else is done."""
    job = tree.plan("vanished", 24)
    shards = job.folder / "shards"
    for name in ("00007", "00011"):
        (shards / f"{name}.jsonl").rename(shards / f"{name}.away")

    def bring_back() -> None:
        until((job.folder / "failures/00007.jsonl").exists)
        (shards / "00007.away").rename(shards / "00007.jsonl")

    helper = threading.Thread(target=bring_back)
    helper.start()
    report = dispatch(cluster(), job, attempts=3)
    helper.join()
    assert list(report.failed) == [11] and len(report.done) == 23
    assert "cannot open it" in report.failed[11]
    result = job.folder / "result.jsonl"
    steadfast("fleet", "merge", job.folder, "--out", result, status=75)
    assert not result.exists()
    (shards / "00011.away").rename(shards / "00011.jsonl")
    again = dispatch(cluster(), Job.open(job.folder))
    assert again.done == [11]
    assert tree.merged(job) == tree.expected
