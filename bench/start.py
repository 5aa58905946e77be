#!/usr/bin/env python3
"""Measures what it costs to start Steadfast: processor time and system calls of a check of one
small file and of other short commands, in turn with sha256sum on the same file.

  python3 bench/start.py STEADFAST [--runs N] [--record FILE]

STEADFAST is the command, which must be a release build. Commands take turns, so that other work on
the machine affects all of them. Processor time is user and system time of the whole process, as
wait4 reports it. System calls are counted by strace, in runs of their own; without strace they are
left out. Each result is verified before its time is used.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WARM_UP = 5
LENGTH = 1000


def processor_s(command: list[str], environment: dict[str, str]) -> float:
    """Runs a command and returns its processor time in seconds."""
    null = os.open(os.devnull, os.O_RDWR)
    redirect = [(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)]
    pid = os.posix_spawnp(command[0], command, environment, file_actions=redirect)
    _, status, usage = os.wait4(pid, 0)
    os.close(null)
    if status != 0:
        sys.exit(f"start: `{' '.join(command)}` ended with wait status {status}")
    return usage.ru_utime + usage.ru_stime


def system_calls(command: list[str], environment: dict[str, str]) -> tuple[int, int] | None:
    """Counts the system calls of a command, and the threads that it starts."""
    if shutil.which("strace") is None:
        return None
    with tempfile.NamedTemporaryFile("r") as table:
        strace = ["strace", "-f", "-c", "-o", table.name, *command]
        done = subprocess.run(strace, env=environment, capture_output=True)
        if done.returncode != 0:
            return None
        rows = re.findall(r"^ +[0-9.]+ +[0-9.]+ +[0-9]+ +([0-9]+) +(?:[0-9]+ +)?(\w+)$",
                          table.read(), re.MULTILINE)
    counts = {name: int(calls) for calls, name in rows if name != "total"}
    threads = counts.get("clone3", 0) + counts.get("clone", 0)
    return sum(counts.values()), threads


def ensure_right(steadfast: str, folder: Path, environment: dict[str, str]) -> None:
    """Makes sure that a check tells an intact file from a corrupt one."""
    def check() -> int:
        command = [steadfast, "check", folder]
        return subprocess.run(command, env=environment, capture_output=True).returncode

    file = folder / "file"
    contents, times = file.read_bytes(), file.stat()
    right = check() == 0
    file.write_bytes(bytes([contents[0] ^ 1]) + contents[1:])
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    right = right and check() == 3
    file.write_bytes(contents)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    if not (right and check() == 0):
        sys.exit("start: a check gave a wrong verdict")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("steadfast", help="the command, a release build")
    parser.add_argument("--runs", type=int, default=200, help="runs of each command")
    parser.add_argument("--record", type=Path, help="file to write all samples to")
    options = parser.parse_args()
    steadfast = os.path.realpath(options.steadfast)
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as work:
        folder = Path(work) / "files"
        folder.mkdir()
        (folder / "file").write_bytes(os.urandom(LENGTH))
        # No list of catalogued trees of this user is read.
        environment = {**os.environ, "XDG_STATE_HOME": work}
        file = str(folder / "file")
        subprocess.run([steadfast, "tag", folder], env=environment, check=True, capture_output=True)
        ensure_right(steadfast, folder, environment)
        commands = {
            "sha256sum": ["sha256sum", file],
            "check": [steadfast, "check", file],
            "hash": [steadfast, "hash", file],
            "show": [steadfast, "show", file],
            "tag": [steadfast, "tag", file],
            "version": [steadfast, "--version"],
            "help": [steadfast, "--help"],
        }
        samples: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(WARM_UP + options.runs):
            for name, command in commands.items():
                sample = processor_s(command, environment)
                if turn >= WARM_UP:
                    samples[name].append(sample)
        calls = {name: system_calls(command, environment) for name, command in commands.items()}
    reference = samples["sha256sum"]
    print(f"{'command':<10} {'median':>9} {'least':>9} {'ratio':>6} {'calls':>6} {'threads':>8}")
    for name, times in samples.items():
        ratio = statistics.median(time / base for time, base in zip(times, reference))
        count, threads = calls[name] or ("-", "-")
        threads = threads + 1 if isinstance(threads, int) else threads
        print(f"{name:<10} {statistics.median(times) * 1e3:>6.2f} ms {min(times) * 1e3:>6.2f} ms "
              f"{ratio:>6.2f} {count:>6} {threads:>8}")
    if options.record:
        version = subprocess.run([steadfast, "--version"], capture_output=True, text=True).stdout
        record = {
            "schema": "steadfast-start 1",
            "machine": {"processor": processor(), "processors": os.cpu_count(),
                        "system": platform.platform(), "load": os.getloadavg()},
            "version": version.splitlines(),
            "processor_s": samples,
            "system_calls": calls,
        }
        options.record.write_text(json.dumps(record, indent=1) + "\n")


def processor() -> str:
    """Returns the model of the processor, if the system tells."""
    try:
        facts = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or "unknown"
    model = re.search(r"^model name\s*: (.*)$", facts, re.MULTILINE)
    return model.group(1) if model else "unknown"


if __name__ == "__main__":
    main()
