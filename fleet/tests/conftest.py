"""A tree of tagged files, what one process makes of it, and clusters to check it on."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

# The program of the tests, `steadfast-trial`: the command ignores the variable below.
COMMAND = os.environ.get("STEADFAST", "steadfast")
# Decay is played from above the file system, which moves the change time.
os.environ["STEADFAST_IGNORE_CTIME"] = "1"
FILES = 20_000
FOLDERS = 100
SHARDS = 24


def steadfast(*words: object, status: int = 0) -> str:
    """Runs the command and returns what it prints."""
    ended = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True)
    assert ended.returncode == status, f"{words}: {ended.returncode}\n{ended.stdout}{ended.stderr}"
    return ended.stdout


Verdicts = dict[str, tuple[str, str | None]]


@dataclass(frozen=True)
class Tree:
    """A tagged tree, and what one process makes of it."""

    root: Path
    folder: Path
    expected: Verdicts
    corrupt: str

    def results(self, name: str) -> Path:
        """Returns a new folder for results."""
        folder = self.folder / name
        folder.mkdir()
        return folder

    def merged(self, results: Path, status: int = 3) -> Verdicts:
        """Merges results and returns the verdict and the digest of each file."""
        return verdicts(steadfast("merge", results, "--json", status=status))


def verdicts(printed: str) -> Verdicts:
    """Returns the verdict and the digest of each file that JSON lines name."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in printed.splitlines()]
    return {line["path"]: (line["verdict"], line.get("digest")) for line in lines if "path" in line}


def memory() -> str | None:
    """Returns a folder in memory that keeps attributes, as tmpfs does since Linux 6.6, if any."""
    with tempfile.TemporaryDirectory() as elsewhere:
        place = "/dev/shm" if Path("/dev/shm").is_dir() else elsewhere
        with tempfile.NamedTemporaryFile(dir=place) as file:
            try:
                os.setxattr(file.name, "user.test", b"")
            except OSError:
                return None
    return place if place != elsewhere else None


@pytest.fixture(scope="session")
def tree() -> Iterator[Tree]:
    """Writes files, records them, and damages one behind its tag's back."""
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        yield tree_in(Path(folder).resolve())


def tree_in(folder: Path) -> Tree:
    """Makes the tree in a folder."""
    root = folder / "tree"
    chance = random.Random(1)
    noise = chance.randbytes(1 << 20)
    for number in range(FILES):
        if number < FOLDERS:
            (root / f"d{number:02}").mkdir(parents=True)
        start, length = chance.randrange(1 << 19), chance.randrange(1, 40_000)
        path = root / f"d{number % FOLDERS:02}" / f"f{number}"
        path.write_bytes(noise[start : start + length])
    steadfast("init", root, "--quiet")
    victim = root / "d42" / "f142"
    times = victim.stat()
    victim.write_bytes(bytes([victim.read_bytes()[0] ^ 1]) + victim.read_bytes()[1:])
    os.utime(victim, ns=(times.st_atime_ns, times.st_mtime_ns))
    expected = verdicts(steadfast("check", root, "--no-catalogue", "--json", status=3))
    return Tree(root, folder, expected, str(victim))


@dataclass
class Cluster:
    """A scheduler and workers, each a process of its own."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    def wait(self, client: Client) -> None:
        """Waits for the workers, and fails if one of them has ended instead."""

        def ready() -> bool:
            assert all(worker.poll() is None for worker in self.workers), "a worker has ended"
            return len(client.nthreads()) == len(self.workers)

        until(ready)

    def close(self) -> None:
        """Ends them all."""
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


def begin(folder: Path, wrap: Callable[[int], list[str]]) -> Cluster:
    """Starts a scheduler and three workers; `wrap` says what is before a worker's command."""
    place = folder / f"scheduler-{time.monotonic_ns()}.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*dask, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", place],
        **quiet,  # type: ignore[call-overload]
    )
    until(place.exists)
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(place)]
    worker += ["--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
    workers = [
        subprocess.Popen([*wrap(number), *worker], **quiet)  # type: ignore[call-overload]
        for number in range(3)
    ]
    return Cluster(json.loads(place.read_text())["address"], scheduler, workers)


@pytest.fixture
def cluster(tree: Tree) -> Iterator[Callable[..., Cluster]]:
    """Starts clusters that end with the test."""
    begun: list[Cluster] = []

    def start(wrap: Callable[[int], list[str]] = lambda number: []) -> Cluster:
        begun.append(begin(tree.folder, wrap))
        return begun[-1]

    yield start
    for one in begun:
        one.close()


def patience(seconds: float) -> float:
    """Returns seconds of an idle machine as seconds of this one."""
    begun, worked = time.monotonic(), time.thread_time() + 0.02
    while time.thread_time() < worked:
        pass
    return seconds * (time.monotonic() - begun) / 0.02


def until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """Waits until something holds, and fails if it does not."""
    begun = time.monotonic()
    while not holds():
        took = time.monotonic() - begun
        assert took < seconds or took < patience(seconds), "it did not come to be"
        time.sleep(0.01)


def done(results: Path) -> set[str]:
    """Returns the names of the results in a folder, without drafts."""
    return {path.name for path in results.rglob("*") if path.is_file() and path.name[0] != "."}


def needs_root() -> None:
    """Skips a test that needs root, and a root folder in which mounts can be private."""
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        why = f"it mounts a small disk: {tried.stderr.strip()}"
        record = os.environ.get("STEADFAST_SKIPPED_TESTS")
        if record:
            # The test's id, and " (call)" or another stage behind it.
            test = os.environ["PYTEST_CURRENT_TEST"].rsplit(" ", 1)[0]
            with open(record, "a", encoding="utf-8") as file:
                file.write(f"root\tsteadfast-fleet\t{test}\t{why}\n")
        pytest.skip(why)
