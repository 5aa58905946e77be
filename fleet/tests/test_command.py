"""The command from outside: its statuses, its values, its end."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import COMMAND, Cluster, Tree, done, patience, until

from steadfast_fleet.command import parser

WORDS = [sys.executable, "-m", "steadfast_fleet.command"]
COUNTS = ("shards", "workers", "per-folder", "attempts")


def ended(*words: object, status: int, **more: str) -> str:
    """Runs the command and returns what it says."""
    finished = subprocess.run(
        [*WORDS, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=patience(100),
        env={**os.environ, **more},
    )
    said = finished.stdout + finished.stderr
    assert finished.returncode == status, f"{words}: {finished.returncode}\n{said}"
    assert "Traceback" not in said, said
    return said


def test_values() -> None:
    """Nothing without a sense is taken."""
    for word in [f"--{name}={v}" for name in COUNTS for v in ("0", "-1", "x", "1.5")]:
        with pytest.raises(SystemExit) as refused:
            parser().parse_args(["folder", "--results", "r", "--shards", "1", word])
        assert refused.value.code == 2, word


def test_what_is_wrong_has_its_status(tree: Tree) -> None:
    """Corruption is told every time; what is refused is not tried again."""
    results = tree.results("statuses")
    run = (tree.root, "--shards", 4, "--results", results, "--steadfast", COMMAND, "--workers", 1)
    assert "4 shards done" in ended(*run, status=3)
    again = ended(*run, status=3)
    assert "0 shards done, 4 had a result already" in again and "corrupt" in again
    result = results / "tree" / "00001"
    result.write_bytes(result.read_bytes().replace(b"intact", b"intacd", 1))
    assert "does not count" in ended(*run, status=3)
    refused = ("--results", tree.results("refused"), "--steadfast", COMMAND, "--workers", 1)
    words = (tree.root / "d01", "--shards", 2, *refused, "--", "--max-time", "1s")
    assert "cannot be used with" in ended(*words, status=2)
    nobody = ("--scheduler", "tcp://127.0.0.1:1")
    soon = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
    words = (tree.root, "--shards", 2, "--results", tree.results("nobody"))
    assert "no scheduler answers" in ended(*words, *nobody, status=75, **soon)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_behind(tree: Tree, number: signal.Signals) -> None:
    """Its commands end with it, and it says so in a line."""
    results = tree.results(f"interrupted{number.value}")
    words = [*WORDS, str(tree.root), "--shards", "4", "--results", str(results)]
    words += ["--steadfast", COMMAND, "--", "--rate-limit", "100k"]
    # Whoever starts the tests in the background may have them ignore it, and so what they start.
    before = signal.signal(number, signal.SIG_DFL)
    running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    signal.signal(number, before)

    def drafts() -> int:
        return len(list((results / "tree").glob(".*.draft")))

    until(lambda: drafts() == 2)
    running.send_signal(number)
    said = running.communicate(timeout=patience(60))[1]
    assert running.returncode == 130, said
    assert "run the same again" in said and "Traceback" not in said, said
    assert len(said.splitlines()) < 6, said
    until(lambda: drafts() == 0)
    assert done(results) == set()


def test_workers_need_no_package(
    tree: Tree, cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    """What runs there is sent there."""
    (tmp_path / "steadfast_fleet.py").write_text("raise ImportError('it is not here')\n")
    results = tree.results("bare")
    bare = cluster(lambda number: ["env", f"PYTHONPATH={tmp_path}"])
    words = (tree.root, "--shards", 4, "--results", results, "--steadfast", COMMAND)
    ended(*words, "--scheduler", bare.address, status=3)
    assert len(done(results)) == 4
