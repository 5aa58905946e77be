"""The command from outside: its statuses, its values, its end; and what it hands out."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import COMMAND, Cluster, Tree, patience, steadfast, until

from steadfast_fleet import Dispatch, Job, Options
from steadfast_fleet.command import parser, size

WORDS = [sys.executable, "-m", "steadfast_fleet.command"]
COUNTS = ("workers", "per-device", "attempts")


def ended(*words: object, status: int, **more: str) -> str:
    """Runs the command and returns what it says."""
    done = subprocess.run(
        [*WORDS, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=patience(100),
        env={**os.environ, **more},
    )
    assert done.returncode == status, f"{words}: {done.returncode}\n{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


class FakeFuture:
    """A shard under way."""


class FakeClient:
    """A cluster that takes everything and does nothing."""

    def __init__(self) -> None:
        """Begins without workers."""
        self.threads: dict[str, int] = {}
        self.taken: list[tuple[list[str], int]] = []

    def nthreads(self) -> dict[str, int]:
        """What there is."""
        return self.threads

    def submit(self, run: object, *words: Any, priority: int, **more: object) -> FakeFuture:
        """Keeps what is handed out."""
        self.taken.append((words[3], priority))
        return FakeFuture()


def test_a_device_is_never_read_faster_than_allowed(tree: Tree) -> None:
    """Not before there are workers, and not while more join."""
    client = FakeClient()
    options = Options(rate_limit=100)
    dispatch = Dispatch(client, tree.plan("rates", 12), options)  # type: ignore[arg-type]

    def hand_out(threads: int) -> list[int]:
        client.threads = {"a": threads} if threads else {}
        client.taken.clear()
        dispatch.looked = float("-inf")
        dispatch.look()
        dispatch.hand_out()
        rates = [extra[extra.index("--rate-limit") + 1] for extra, _ in client.taken]
        return [int(rate.removesuffix("B")) for rate in rates if rate.endswith("B")]

    assert hand_out(0) == []
    assert hand_out(1) == [100]
    assert hand_out(4) == [], "the first has it all"
    dispatch.running.clear()
    assert hand_out(4) == [25, 25, 25, 25]
    assert sum(dispatch.rates[shard.number] for shard in dispatch.running.values()) == 100


def test_what_is_handed_out_first_is_run_first(tree: Tree) -> None:
    """The scheduler is told the order."""
    client = FakeClient()
    client.threads = {"a": 4}
    dispatch = Dispatch(client, tree.plan("order", 8), Options())  # type: ignore[arg-type]
    dispatch.look()
    dispatch.hand_out()
    priorities = [priority for _, priority in client.taken]
    assert len(priorities) == 8 and priorities == sorted(priorities, reverse=True)


def test_values() -> None:
    """What the command of steadfast takes is taken, and nothing without a sense."""
    sizes = {"200M": 200_000_000, "200MB": 200_000_000, "64KiB": 65536, "1.5g": 1_500_000_000}
    assert {text: size(text) for text in sizes} == sizes
    numbers = [f"--{name}={v}" for name in COUNTS for v in ("0", "-1", "x", "1.5")]
    rates = [f"--rate-limit={value}" for value in ("inf", "nan", "-5", "0", "5X", "1e9", "50")]
    for word in numbers + rates:
        with pytest.raises(SystemExit) as refused:
            parser().parse_args(["run", "job", word])
        assert refused.value.code == 2, word


def test_what_is_wrong_has_its_status(tree: Tree, tmp_path: Path) -> None:
    """Corruption is told every time; what somebody must look at is not to be tried again."""
    job = tree.plan("statuses", 4)
    run = ("run", job.folder, "--steadfast", COMMAND, "--workers", 1)
    assert "4 shards done" in ended(*run, status=3)
    again = ended(*run, status=3)
    assert "0 shards done" in again and "something is corrupt" in again
    part = job.folder / "parts/00001.jsonl"
    text = part.read_bytes()
    part.write_bytes(text.replace(b"intact", b"intacd", 1))
    assert "4 shards done" in ended(*run, "--verify", status=3)
    assert b"intacd" not in part.read_bytes()
    hopeless = tree.plan("hopeless", 4)
    for shard in hopeless.shards:
        path = hopeless.folder / "shards" / shard.part
        path.write_bytes(path.read_bytes().replace(b"/f", b"/g", 1))
    said = ended("run", hopeless.folder, "--steadfast", COMMAND, status=2)
    assert "not as it was written" in said
    steadfast("fleet", "status", hopeless.folder, status=2)
    steadfast("fleet", "merge", hopeless.folder, "--out", tmp_path / "x.jsonl", status=2)
    (tmp_path / "job.jsonl").write_text("[]\n")
    ended("run", tmp_path, status=2)
    nobody = ("--scheduler", "tcp://127.0.0.1:1")
    soon = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
    assert "no scheduler answers" in ended("run", job.folder, *nobody, status=75, **soon)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_behind(tree: Tree, number: signal.Signals) -> None:
    """Its commands end with it, and it says so in a line."""
    job = tree.plan(f"interrupted{number.value}", 4)
    slow = ["--", "--rate-limit", "100k"]
    words = [*WORDS, "run", str(job.folder), "--steadfast", COMMAND, *slow]
    # Whoever starts the tests in the background may have them ignore it, and so what they start.
    before = signal.signal(number, signal.SIG_DFL)
    running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    signal.signal(number, before)

    def drafts() -> int:
        return len(list((job.folder / "parts").glob(".*.draft")))

    until(lambda: drafts() == 2)
    running.send_signal(number)
    said = running.communicate(timeout=patience(60))[1]
    assert running.returncode == 130, said
    assert "run the same again" in said and "Traceback" not in said, said
    assert len(said.splitlines()) < 6, said
    until(lambda: drafts() == 0)
    assert job.done() == set()


def test_workers_need_no_package(
    tree: Tree, cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    """What runs there is sent there."""
    (tmp_path / "steadfast_fleet.py").write_text("raise ImportError('it is not here')\n")
    job = tree.plan("bare", 4)
    bare = cluster(lambda number: ["env", f"PYTHONPATH={tmp_path}"])
    ended("run", job.folder, "--steadfast", COMMAND, "--scheduler", bare.address, status=3)
    assert Job.open(job.folder).done() == {0, 1, 2, 3}
