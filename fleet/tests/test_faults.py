"""Something dies, fills up, is corrupt or vanishes: nothing is lost, nothing counted twice."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from conftest import COMMAND, SHARDS, Cluster, Tree, done, needs_root, patience, steadfast, until
from distributed import Client, LocalCluster
from distributed.utils import key_split

from steadfast_fleet import Dispatch, Options, Report

SLOW = ("--rate-limit", "20M", "--workers", "1")
"""So that a kill comes while shards are under way."""


def options(results: Path, **more: object) -> Options:
    """Returns how the tests run."""
    given = {"command": COMMAND, "pause_s": 0.2, **more}
    return Options(SHARDS, results, **given)  # type: ignore[arg-type]


def dispatch(there: Cluster, tree: Tree, results: Path, **more: object) -> Report:
    """Checks a tree with all workers."""
    with Client(there.address) as client:
        there.wait(client)
        return Dispatch(client, [tree.root], options(results, **more)).run()


def test_without_a_fault(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """Three workers make what one process makes."""
    results, running = tree.results("plain"), [0]
    there = cluster()
    with Client(there.address) as client:
        there.wait(client)
        listen = lambda dispatch: running.append(len(dispatch.running))  # noqa: E731
        one = Dispatch(client, [tree.root], options(results, per_folder=2))
        report = one.run(listen)
    assert (len(report.done), report.failed) == (SHARDS, {})
    assert max(running) == 2, "a folder has its limit"
    assert tree.merged(results / "tree") == tree.expected
    assert tree.expected[tree.corrupt][0] == "corrupt"


def test_a_worker_is_killed(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """What it had under way is done by others."""
    results = tree.results("killed")
    there = cluster()

    def kill() -> None:
        until(lambda: len(done(results)) >= 4)
        with Client(there.address) as client:
            pids = client.run(os.getpid)
        os.kill(next(iter(pids.values())), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    report = dispatch(there, tree, results, extra=SLOW)
    killer.join()
    assert len(report.done) == SHARDS and report.failed == {}
    assert tree.merged(results / "tree") == tree.expected


def test_the_scheduler_is_killed(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """The results stay, and the same command on another scheduler does the rest."""
    results = tree.results("headless")
    there = cluster()
    words = [sys.executable, "-m", "steadfast_fleet.command", str(tree.root)]
    words += ["--shards", str(SHARDS), "--results", str(results), "--steadfast", COMMAND]
    first = subprocess.Popen(
        [*words, "--scheduler", there.address, "--", *SLOW], stderr=subprocess.PIPE, text=True
    )
    until(lambda: len(done(results)) >= 6)
    there.scheduler.kill()
    said = first.communicate(timeout=patience(60))[1]
    assert first.returncode == 75, said
    assert "run the same again" in said
    there.close()
    kept = {name: (results / "tree" / name).stat() for name in done(results)}
    assert 6 <= len(kept) < SHARDS
    second = subprocess.run(
        [*words, "--scheduler", cluster().address],
        capture_output=True,
        text=True,
        timeout=patience(60),
    )
    assert second.returncode == 3, second.stderr
    for name, before in kept.items():
        after = (results / "tree" / name).stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert tree.merged(results / "tree") == tree.expected


def test_an_adaptive_cluster(tree: Tree) -> None:
    """Workers come because shards wait, and go when none does."""
    results = tree.results("adaptive")
    quiet = {"n_workers": 0, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**quiet) as local, Client(local) as client:
        local.adapt(minimum=0, maximum=3, interval="100ms", wait_count=2)
        seen: set[str] = set()
        listen = lambda dispatch: seen.update(dispatch.client.nthreads())  # noqa: E731
        report = Dispatch(client, [tree.root], options(results, extra=SLOW)).run(listen)
        assert len(report.done) == SHARDS and report.failed == {}
        assert len(seen) > 1, "more workers came"
        until(lambda: not client.nthreads())
    assert tree.merged(results / "tree") == tree.expected


def test_the_dashboard_shows_shards_by_folder(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """Its tasks have the name of the checked folder; folders of one name are told apart."""
    results = tree.results("folders")
    folders = [tree.root / "d01", tree.root / "d42"]
    there = cluster()
    keys: set[str] = set()
    with Client(there.address) as client:
        there.wait(client)
        one = Dispatch(client, [*folders, folders[0]], Options(2, results, COMMAND))
        listen = lambda dispatch: keys.update(key_split(it.key) for it in dispatch.running)  # noqa: E731
        report = one.run(listen)
    assert len(report.done) == 6
    assert keys == {"check_d01", "check_d42", "check_d01_2"}
    steadfast("merge", results / "d01", "--quiet")
    steadfast("merge", results / "d42", "--quiet", status=3)


def test_a_worker_has_a_full_disk(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """It writes no result, not even half of one, and the others do its work."""
    needs_root()
    results = tree.results("full")
    (results / "tree").mkdir()
    small = f"mount -t tmpfs -o size=16k tmpfs {results}/tree && exec \"$@\""

    def wrap(number: int) -> list[str]:
        return ["unshare", "--mount", "sh", "-c", small, "sh"] if number == 1 else []

    report = dispatch(cluster(wrap), tree, results, attempts=1000)
    assert len(report.done) == SHARDS and report.failed == {}
    assert tree.merged(results / "tree") == tree.expected


def test_a_tree_vanishes_and_comes_back(tree: Tree, cluster: Callable[..., Cluster]) -> None:
    """Its shards are tried again; what stays away has no result, and the merge says so."""
    results, away = tree.results("vanished"), tree.folder / "away"
    there = cluster()
    tree.root.rename(away)
    try:
        gone = dispatch(there, tree, results, attempts=2)
        assert len(gone.failed) == SHARDS and gone.refused == set() and done(results) == set()
        assert "cannot find" in next(iter(gone.failed.values()))
        back = threading.Timer(1.0, lambda: away.rename(tree.root))
        back.start()
        report = dispatch(there, tree, results, attempts=20)
        back.join()
    finally:
        if away.exists():
            away.rename(tree.root)
    assert len(report.done) == SHARDS and report.failed == {}
    assert tree.merged(results / "tree") == tree.expected
    (results / "tree" / "00007").unlink()
    rest = tree.merged(results / "tree", status=3)
    assert set(rest) < set(tree.expected) and len(rest) < len(tree.expected)
