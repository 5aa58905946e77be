#!/usr/bin/env python3
"""Measures what it costs to make, to keep and to use parity: processor time and memory of `steadfast
parity make`, in turn with PAR2 on the same files with the same redundancy.

  python3 bench/parity.py STEADFAST [--par2 PAR2] [--runs N] [--record FILE]
                          [--files N] [--length BYTES] [--film BYTES]

STEADFAST is a release build of the program of the tests (`steadfast-trial`), because decay is
played by writing. PAR2 is the command `par2` of par2cmdline or of par2cmdline-turbo: the
record has its version, and which of the two it is. It runs in one thread, with blocks of 64 KiB (16
times coarser than Steadfast's pages) and of 1 MiB. Commands take turns, so that other work on the
machine affects all of them.

`tag --pages` shows what of the time is digests. `update` is that of one edited photograph alone,
with its tag and the parity of its set. `repair page` repairs one page of a film from its parity, and `in place` writes
that page into it: `read` is how many bytes they ask the system for, as a multiple of the film's
length. `verify` is that of a set of PAR2 with blocks of 1 MiB, by either program. Each result is
verified: a damaged file must come back.
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
from dataclasses import asdict, dataclass
from pathlib import Path

REDUNDANCY = 10
DAMAGE_LEN = 5000
REPAIRS = {"repair page": [], "in place": ["--in-place"]}


@dataclass
class Cost:
    processor_s: float
    wall_s: float
    memory_bytes_max: int
    read_bytes: int


# Runs a command and prints what the system says of it. It is a process of its own, because Linux
# counts the memory of a process from before it became the command, which is that of its parent.
LAUNCHER = """
import json, os, sys, time
null = os.open(os.devnull, os.O_RDWR)
redirect = [(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)]
begun = time.monotonic()
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=redirect)
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
with open(f"/proc/{pid}/io") as counts:
    read = next(int(line[7:]) for line in counts if line.startswith("rchar: "))
_, status, usage = os.wait4(pid, 0)
print(json.dumps([status, usage.ru_utime + usage.ru_stime, time.monotonic() - begun,
                  usage.ru_maxrss * 1024, read]))
"""


def cost(command: list[str], environment: dict[str, str]) -> Cost:
    """Runs a command and returns what the system says of the whole process."""
    launched = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, *command], env=environment,
                              stdout=subprocess.PIPE, check=True)
    status, *found = json.loads(launched.stdout)
    if status != 0:
        sys.exit(f"parity: `{' '.join(command)}` ended with wait status {status}")
    return Cost(*found)


def damage(file: Path, length: int = DAMAGE_LEN) -> bytes:
    """Damages a file in its middle as decay does, and returns its contents before."""
    contents, times = file.read_bytes(), file.stat()
    at = len(contents) // 2
    with file.open("r+b") as out:
        out.seek(at)
        out.write(bytes(byte ^ 255 for byte in contents[at:at + length]))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    return contents


class Series:
    """The commands, and how their results are verified."""

    def __init__(self, options: argparse.Namespace, par2: str | None, work: Path) -> None:
        self.steadfast, self.par2 = os.path.realpath(options.steadfast), par2
        self.tree, self.set, self.film = work / "tree", work / "set", work / "film" / "film"
        self.length = options.length
        self.environment = {**os.environ, "XDG_STATE_HOME": str(work)}
        # Decay is played from above the file system, which moves the change time.
        self.environment["STEADFAST_IGNORE_CTIME"] = "1"
        self.tree.mkdir()
        for number in range(options.files):
            (self.tree / f"{number:03}.jpg").write_bytes(os.urandom(self.length))
        self.edited = self.tree / f"{options.files // 2:03}.jpg"
        self.film.parent.mkdir()
        self.film.write_bytes(os.urandom(options.film))
        self.quietly([self.steadfast, "tag", "--pages", "--sidecar", str(self.film.parent)])
        self.quietly([self.steadfast, "parity", "make", str(self.film.parent)])

    def quietly(self, command: list[str]) -> None:
        done = subprocess.run(command, env=self.environment, capture_output=True)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).decode(errors="replace")
            sys.exit(f"parity: `{' '.join(command)}` ended with {done.returncode}: {said}")

    def commands(self) -> dict[str, list[str]]:
        ours, tree = self.steadfast, str(self.tree)
        files = [str(file) for file in sorted(self.tree.glob("*.jpg"))]
        commands = {
            "tag": [ours, "tag", "--workers", "1", tree],
            "tag --pages": [ours, "tag", "--pages", "--sidecar", "--workers", "1", tree],
            "parity make": [ours, "parity", "make", "--redundancy", str(REDUNDANCY), tree],
            "update": [ours, "update", str(self.edited)],
        }
        for kib in (64, 1024) if self.par2 else ():
            commands[f"par2 {kib} KiB"] = [
                self.par2, "create", "-q", "-q", "-t1", "-B", tree, f"-s{kib * 1024}",
                f"-r{REDUNDANCY}", str(self.set / "set.par2"), *files]
        if self.par2:
            set_file = str(self.tree / "set.par2")
            commands["verify, par2"] = [self.par2, "verify", "-q", "-q", "-t1", "-T1", set_file]
            commands["verify, ours"] = [ours, "check", set_file]
        for name, arguments in REPAIRS.items():
            commands[name] = [ours, "repair", "--yes", *arguments, str(self.film.parent)]
        return commands

    def prepare(self, name: str) -> None:
        """Brings the files into the state from which a command starts."""
        if name in REPAIRS:
            self.contents = damage(self.film, length=1)
            return
        if name == "update":
            self.quietly([self.steadfast, "parity", "make", str(self.tree)])
            self.edited.write_bytes(os.urandom(self.length))
            return
        shutil.rmtree(self.tree / ".steadfast", ignore_errors=True)
        if name.startswith("verify"):
            for file in self.set.iterdir():
                shutil.copy(file, self.tree)
            return
        if name.startswith("tag"):
            self.quietly([self.steadfast, "untag", str(self.tree)])
        elif name == "parity make":
            self.quietly([self.steadfast, "update", str(self.tree)])
        else:
            shutil.rmtree(self.set, ignore_errors=True)
            self.set.mkdir()

    def judge(self, name: str) -> None:
        """Makes sure that a damaged file comes back from what a command made."""
        if name.startswith("verify"):
            for file in self.tree.glob("*.par2"):
                file.unlink()
            return
        if name.startswith("tag"):
            return
        if name in REPAIRS:
            if self.film.read_bytes() != self.contents:
                sys.exit(f"parity: after `{name}`, the film is not as it was")
            shutil.rmtree(self.film.parent / ".steadfast" / "damaged")
            return
        file = self.edited
        contents = damage(file)
        if name.startswith("par2"):
            self.quietly([self.par2, "repair", "-q", "-q", "-B", str(self.tree),
                          str(self.set / "set.par2")])
            for left in self.tree.glob("*.jpg.*"):
                left.unlink()
        else:
            self.quietly([self.steadfast, "repair", "--yes", str(self.tree)])
            shutil.rmtree(self.tree / ".steadfast" / "damaged", ignore_errors=True)
        if file.read_bytes() != contents:
            sys.exit(f"parity: after `{name}`, a damaged file did not come back")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("steadfast", help="the command, a release build")
    parser.add_argument("--par2", help="the command `par2` of par2cmdline or par2cmdline-turbo")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command")
    parser.add_argument("--record", type=Path, help="file to write all samples to")
    parser.add_argument("--files", type=int, default=80, help="photographs")
    parser.add_argument("--length", type=int, default=5_000_000, help="bytes of each of them")
    parser.add_argument("--film", type=int, default=400_000_000, help="bytes of the film")
    options = parser.parse_args()
    par2 = shutil.which(options.par2) if options.par2 else None
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as work:
        series = Series(options, par2, Path(work))
        commands = series.commands()
        samples: dict[str, list[Cost]] = {name: [] for name in commands}
        for _ in range(options.runs):
            for name, command in commands.items():
                series.prepare(name)
                samples[name].append(cost(command, series.environment))
                series.judge(name)
    report(samples, options)
    if options.record:
        record = {
            "schema": "steadfast-parity-bench 1",
            "machine": {"processor": processor(), "processors": os.cpu_count(),
                        "system": platform.platform(), "load": os.getloadavg()},
            "version": version([options.steadfast, "--version"]),
            "par2": version([par2, "--version"]) if par2 else None,
            "files": options.files, "length_bytes": options.length,
            "film_bytes": options.film, "redundancy_percent": REDUNDANCY,
            "samples": {name: [asdict(sample) for sample in of] for name, of in samples.items()},
        }
        options.record.write_text(json.dumps(record, indent=1) + "\n")


def report(samples: dict[str, list[Cost]], options: argparse.Namespace) -> None:
    """Prints medians, and the processor time as a multiple of that of `parity make`."""
    base = [sample.processor_s for sample in samples["parity make"]]
    print(f"{'command':<14} {'processor':>10} {'rate':>10} {'ratio':>6} {'wall':>8} {'memory':>8} "
          f"{'read':>6}")
    for name, of in samples.items():
        processor_s = statistics.median(sample.processor_s for sample in of)
        ratio = statistics.median(one.processor_s / least for one, least in zip(of, base))
        wall_s = statistics.median(sample.wall_s for sample in of)
        memory = max(sample.memory_bytes_max for sample in of) / 2**20
        length = options.film if name in REPAIRS else options.files * options.length
        rate = "" if name == "update" else f"{length / processor_s / 1e9:.2f} GB/s"
        read = statistics.median(sample.read_bytes / length for sample in of)
        print(f"{name:<14} {processor_s:>8.3f} s {rate:>10} {ratio:>6.2f} {wall_s:>6.2f} s "
              f"{memory:>4.0f} MiB {read:>5.2f}x")


def version(command: list[str]) -> list[str]:
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    # A wrapper says first where its program is, which is of this machine alone.
    return [line for line in lines if "/" not in line]


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
