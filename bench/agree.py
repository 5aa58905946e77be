#!/usr/bin/env python3
"""Holds what `steadfast` says of its own figures against other tools, in turn.

In: the command, a folder on a disk with 8 GB of room. Out: a table of ratios, ours ÷ theirs: the
median of the rounds and its interval; status 1 if the interval of a judged row lies beyond its
limit. METHOD.md says what is compared with what. Knows nothing of peers: that is `peers/`.

    python3 bench/agree.py target/release/steadfast FOLDER [--part hash …] [--rounds 7]

Needs Linux and Python 3.11; openssl, fio and hyperfine for the parts that name them; root to empty
the page cache.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

LIMIT = 0.05

# The tree that is checked: how many files, how short and how long, in bytes.
TREE = [(20_000, 1_000, 60_000), (600, 100_000, 1_000_000), (120, 1_000_000, 16_000_000),
        (12, 60_000_000, 300_000_000)]



def output_of(command, **environment):
    """Runs a command and returns what it printed; a variable given as None is removed."""
    kept = {name: value for name, value in os.environ.items() if name not in environment}
    kept |= {name: value for name, value in environment.items() if value is not None}
    command = [str(part) for part in command]
    done = subprocess.run(command, env=kept, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"agree: `{' '.join(command)}` failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def rate_of(series, clock="elapsed_ns"):
    """Bytes or operations per second over all samples: as a tool that runs on and on counts."""
    samples = [sample for sample in series["samples"] if not sample.get("warm_up")]
    taken_ns = sum(sample[clock] for sample in samples)
    return sum(sample["amount"] for sample in samples) * 1e9 / taken_ns


def openssl_rate(algorithm, length, clock, mask=None):
    """Bytes per second of `openssl speed`, which runs for a second."""
    elapsed = ["-elapsed"] if clock == "elapsed_ns" else []
    said = output_of(["openssl", "speed", *elapsed, "-mr", "-seconds", 1, "-bytes", length, "-evp",
                      algorithm], OPENSSL_ia32cap=mask)
    return float(re.search(r"^\+F:\d+:[^:]*:([\d.]+)", said, re.MULTILINE)[1])


def fio_read(file, *options):
    """What fio says of its reads of a file, all of its jobs together."""
    said = output_of(["fio", "--name=agree", f"--filename={file}", "--readonly", "--thread",
                      "--ioengine=psync", "--group_reporting", "--output-format=json", *options])
    return json.loads(said[said.index("{"):])["jobs"][0]["read"]


class Part:
    """A comparison: what either side says in a round, by the name of the row.

    `rows` maps names to the limit of their ratio; those of None are shown and not judged.
    """

    unit, scale = "MB/s", 1e6

    def __init__(self, steadfast, work, options):
        self.steadfast, self.work, self.options = steadfast, work, options
        self.clock = "cpu_ns" if options.processor_time else "elapsed_ns"
        self.prepare()

    def prepare(self):
        """Makes what is read."""

    def measure(self, *arguments):
        """The record of a measurement."""
        command = [self.steadfast, "measure", *arguments, "--json", "--progress", "never"]
        return json.loads(output_of(command))

    def round(self, turn):
        """The figures of both sides; who is first in one round is second in the next."""
        if turn % 2:
            theirs = self.theirs()
            return self.ours(), theirs
        return self.ours(), self.theirs()


class Hash(Part):
    """Digests of one message in one thread, 256 KiB at a time, out of memory."""

    tool, needs = "openssl speed", ["openssl"]
    # The instructions for SHA are used by both; of the other two the code differs.
    rows = {"sha256": LIMIT, "sha1": LIMIT, "sha512": None, "md5": None}
    alike = {"x86_shani", "aarch64_sha2", "sha1"}

    def ours(self):
        best = {}
        for series in self.measure("hash", "--part", "kernels", "--rounds", 5, self.work)["series"]:
            factors = series["factors"]
            name = factors["algorithm"]
            if name in self.rows and (factors["lanes"], factors["threads"]) == (1, 1):
                rate = rate_of(series, self.clock)
                best[name] = max(best.get(name, (0, "")), (rate, factors["backend"]))
        apart = {name: None for name, (_, backend) in best.items() if backend not in self.alike}
        self.rows = self.rows | apart
        return {name: rate for name, (rate, _) in best.items()}

    def theirs(self):
        return {name: openssl_rate(name, 256 << 10, self.clock) for name in self.rows}


class Cipher(Part):
    """Ciphers and digests, 16 KiB at a time in one thread, with all instructions and without some.

    The command has AWS-LC compiled in and `openssl` is the system's: two libraries. Judged is where
    both run the same instructions in the same order: the rounds of AES in a chain, the instructions
    for SHA-1 and SHA-256, one origin of the assembly for AES without instructions and, once OpenSSL
    is kept from AVX2, which AWS-LC has no such code for, for SHA-512.
    """

    tool, needs = "openssl speed", ["openssl"]
    masks = {"full": None, "no-aes": "~0x200000000000000:~0x20000000000",
             "no-sha": "~0x0:~0x20000000"}
    no_avx2 = ":~0x20"
    # What each set changes.
    sets = {"full": ["sha1", "sha256", "sha512", "aes-128-cbc", "aes-256-cbc", "aes-256-ctr",
                     "aes-256-gcm", "aes-256-xts", "chacha20-poly1305"],
            "no-aes": ["aes-128-cbc", "aes-256-cbc", "aes-256-ctr", "aes-256-gcm", "aes-256-xts"],
            "no-sha": ["sha1", "sha256"]}
    pairs = [(name, isa) for isa, names in sets.items() for name in names]
    alike = [("sha1", "full"), ("sha256", "full"), *(pair for pair in pairs if "-cbc" in pair[0])]
    rows = {f"{name}, {isa}": None for name, isa in pairs}
    rows |= {f"{name}, {isa}": LIMIT for name, isa in alike} | {"sha512, no AVX2": LIMIT}

    def ours(self):
        record = self.measure("cipher", "--no-file", "--rounds", 5, "--isa", ",".join(self.sets),
                              "--algorithm", ",".join(self.sets["full"]), self.work)
        rates = {f"{factors['algorithm']}, {factors['isa']}": rate_of(series, self.clock)
                 for series in record["series"] for factors in [series["factors"]]}
        return rates | {"sha512, no AVX2": rates["sha512, full"]}

    def theirs(self):
        rates = {f"{name}, {isa}": openssl_rate(name, 16 << 10, self.clock, self.masks[isa])
                 for name, isa in self.pairs}
        kept_from_avx2 = openssl_rate("sha512", 16 << 10, self.clock, self.no_avx2)
        return rates | {"sha512, no AVX2": kept_from_avx2}


class Read(Part):
    """1 MiB at a time, one read after the other in one thread.

    Each has a file of its own of the same length, just written.
    """

    tool, needs = "fio, psync", ["fio"]
    rows = {"cold": LIMIT, "direct": LIMIT}

    def prepare(self):
        self.file = self.work / "read"
        self.length = int(1000 * self.options.scale) * 1_000_000
        write(self.file, self.length, random.Random(2))

    def ours(self):
        record = self.measure("read", "--single", f"{self.length}", "--from", ",".join(self.rows),
                              "--rounds", 1, "--yes", self.work)
        rates = {}
        for series in record["series"]:
            if series["factors"].get("stage") == "read":
                rates[series["factors"]["cache"]] = rate_of(series)
        return rates

    def theirs(self):
        rates = {}
        for way in self.rows:
            read = fio_read(self.file, "--rw=read", "--bs=1M", f"--direct={int(way == 'direct')}",
                            "--invalidate=1", f"--size={self.length}")
            rates[way] = read["io_bytes"] / read["runtime"] * 1e3
        return rates


class Queue(Part):
    """Reads past the page cache, so many in flight: a thread for each, in both.

    Each has a file of its own of the same length, just written. Reads one after the other are
    compared at depth 1 only: deeper, our threads share one place and fio's have one each.
    """

    tool, needs = "fio, psync", ["fio"]
    unit, scale = "reads/s", 1
    cells = [("sequential", "4KiB", 1), ("sequential", "1MiB", 1), ("random", "4KiB", 1),
             ("random", "4KiB", 8), ("random", "1MiB", 1), ("random", "1MiB", 8)]
    lengths = {4096: "4KiB", 1 << 20: "1MiB"}
    rows = {f"{order} {block}, depth {depth}": LIMIT for order, block, depth in cells}

    def prepare(self):
        self.file = self.work / "queue"
        self.length = max(64, int(512 * self.options.scale)) << 20
        write(self.file, self.length, random.Random(3))

    def ours(self):
        record = self.measure("queue", "--rounds", 1, "--size", f"{self.length >> 20}MiB",
                              "--depth", "1,8", "--block", ",".join(self.lengths.values()),
                              self.work)
        return {f"{factors['order']} {self.lengths[factors['block_len_bytes']]}, "
                f"depth {factors['queue_depth']}": rate_of(series)
                for series in record["series"] for factors in [series["factors"]]}

    def theirs(self):
        rates = {}
        for order, block, depth in self.cells:
            read = fio_read(self.file, f"--rw={'randread' if order == 'random' else 'read'}",
                            f"--bs={block[:-2]}", f"--numjobs={depth}", "--direct=1",
                            "--norandommap", f"--size={self.length}", "--time_based",
                            "--runtime=1")
            rates[f"{order} {block}, depth {depth}"] = read["iops"]
        return rates


class FourRows(Part):
    """The rows that CrystalDiskMark and KDiskMark print, read, written and mixed.

    fio runs them as KDiskMark does: one job with asynchronous requests. Each side has files of its
    own of the same length, just written; neither flushes its writes.
    """

    tool, needs = "fio, libaio", ["fio"]
    cells = {"SEQ1M Q8T1": ("sequential", 1 << 20, 8), "SEQ1M Q1T1": ("sequential", 1 << 20, 1),
             "RND4K Q32T1": ("random", 4096, 32), "RND4K Q1T1": ("random", 4096, 1)}
    works = {"read": "read", "write": "write", "mix": "read-write"}
    rows = {f"{name} {work}": LIMIT for name, work in itertools.product(cells, works)}

    def prepare(self):
        self.file = self.work / "four"
        self.length = max(64, int(1024 * self.options.scale)) << 20

    def ours(self):
        record = self.measure("queue", "--four-rows", "--rounds", 1, "--time", "1s", "--size",
                              f"{self.length >> 20}MiB", self.work)
        rates = {}
        for series in record["series"]:
            factors = series["factors"]
            cell = (factors["order"], factors["block_len_bytes"], factors["queue_depth"])
            name = next(name for name, known in self.cells.items() if known == cell)
            work = next(work for work, stage in self.works.items() if stage == factors["stage"])
            rates[f"{name} {work}"] = rate_of(series) * factors["block_len_bytes"]
        return rates

    def theirs(self):
        # Our file is new in every round. One that was written at random for many rounds lies
        # otherwise on the disk.
        self.file.unlink(missing_ok=True)
        write(self.file, self.length, random.Random(4))
        rates = {}
        for name, (order, block, depth) in self.cells.items():
            for work in self.works:
                kind = {"read": "read", "write": "write", "mix": "rw"}[work]
                kind = f"rand{kind}" if order == "random" else kind
                said = output_of(["fio", "--name=agree", f"--filename={self.file}",
                                  "--ioengine=libaio", f"--iodepth={depth}", f"--rw={kind}",
                                  "--rwmixread=70", f"--bs={block}", f"--size={self.length}",
                                  "--direct=1", "--norandommap", "--time_based", "--runtime=1",
                                  "--output-format=json"])
                job = json.loads(said[said.index("{"):])["jobs"][0]
                rates[f"{name} {work}"] = job["read"]["bw_bytes"] + job["write"]["bw_bytes"]
        return rates


class OfTree(Part):
    """What is about checking a tree, made once for all of them."""

    unit, scale = "s", 1

    def prepare(self):
        self.tree = self.work / "tree"
        if not self.tree.exists():
            make_tree(self.tree, self.options.scale)
            output_of([self.steadfast, "tag", "-q", self.tree])
            output_of(["sync", "--file-system", self.tree])
        output_of([self.steadfast, "check", "-q", self.tree])

    def check(self):
        return [self.steadfast, "check", "--json", "--quiet", "--progress", "never", self.tree]

    @staticmethod
    def summary(said):
        return json.loads(said.splitlines()[-1])["summary"]["elapsed_ns"] / 1e9


class Check(OfTree):
    """One process of `check`: what its summary says it took, and what hyperfine saw from outside.

    What starting and ending the process takes is in the second only.
    """

    tool, needs = "hyperfine", ["hyperfine"]
    rows = {"warm": LIMIT}

    def round(self, turn):
        said, timed = self.work / "check.json", self.work / "hyperfine.json"
        command = " ".join(f"'{part}'" for part in self.check())
        output_of(["hyperfine", "-N", "--runs", 1, "--output", said, "--export-json", timed,
                   command])
        wall_s = json.loads(timed.read_text())["results"][0]["times"][0]
        return {"warm": self.summary(said.read_text())}, {"warm": wall_s}


PARTS = {"hash": Hash, "cipher": Cipher, "read": Read, "queue": Queue, "four": FourRows,
         "check": Check}


def write(path, length, draw):
    """Writes bytes that nothing can compress, and has them on the disk."""
    pool = draw.randbytes(64 << 20)
    with open(path, "wb") as file:
        while length:
            start = draw.randrange(len(pool) // 2)
            length -= file.write(pool[start:start + min(length, 32 << 20)])
        file.flush()
        os.fsync(file.fileno())


def make_tree(root, scale):
    """Makes some 4 GB of files of all lengths in 200 folders."""
    draw = random.Random(1)
    pool = draw.randbytes(64 << 20)
    number = 0
    for count, low, high in TREE:
        for _ in range(max(1, round(count * scale))):
            folder = root / f"{number % 200:03}"
            folder.mkdir(parents=True, exist_ok=True)
            left = draw.randint(low, high)
            with open(folder / str(number), "wb") as file:
                while left:
                    start = draw.randrange(len(pool) // 2)
                    left -= file.write(pool[start:start + min(left, 32 << 20)])
            number += 1


def interval(ratios):
    """The least and the most that the median may be, at 95 %, by the sign test.

    `ratios` is in order. With fewer than six rounds no interval has 95 %: then it has no end.
    """
    beyond = 0.0
    for left_out in range(len(ratios)):
        beyond += 2 * math.comb(len(ratios), left_out) / 2 ** len(ratios)
        if beyond > 0.05:
            break
    if left_out == 0:
        return 0.0, math.inf
    return ratios[left_out - 1], ratios[-left_out]


def word_of(least, most, limit):
    """What an interval says of a row."""
    if limit is None:
        return "other code"
    if 1 - limit <= least and most <= 1 + limit:
        return "agrees"
    if most < 1 - limit or least > 1 + limit:
        return "**differs**"
    return "cannot tell"


def show(name, part, rounds):
    """Prints the rows of a part; returns the names of those that are too far apart."""
    far = []
    for row, limit in part.rows.items():
        pairs = [(ours[row], theirs[row]) for ours, theirs in rounds if row in ours]
        if not pairs:
            print(f"| {name}: {row} | not measured | | | |")
            continue
        ratios = sorted(ours / theirs for ours, theirs in pairs)
        least, most = interval(ratios)
        word = word_of(least, most, limit)
        if word == "**differs**":
            far.append(f"{name}: {row}")
        ours, theirs = (f"{statistics.median(side) / part.scale:,.4g}"
                        if statistics.median(side) < 1e4 * part.scale
                        else f"{statistics.median(side) / part.scale:,.0f}"
                        for side in zip(*pairs))
        print(f"| {name}: {row} | {ours} {part.unit} | {part.tool} | {theirs} {part.unit} | "
              f"{statistics.median(ratios):.3f} ({least:.3f} to {most:.3f}) | {word} |")
    return far


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steadfast", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("folder", type=pathlib.Path, help="on a disk, with 8 GB of room")
    parser.add_argument("--part", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1, help="of files and tree; for a trial")
    parser.add_argument("--processor-time", action="store_true",
                        help="hash and cipher by processor time, where others use the machine too")
    parser.add_argument("--out", type=pathlib.Path, help="keep every figure in this file, as JSON")
    options = parser.parse_args()
    for tool in {tool for part in options.part for tool in PARTS[part].needs}:
        if not shutil.which(tool):
            sys.exit(f"agree: needs {tool}")
    figures, far = {}, []
    print(output_of([options.steadfast, "--version"]).splitlines()[0], end="; ")
    print(f"{options.rounds} rounds, ratio: median (95 %)\n")
    print("| what | steadfast | held against | says | ratio | |")
    print("| --- | --: | --- | --: | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="agree.", dir=options.folder) as work:
        for name in options.part:
            part = PARTS[name](options.steadfast, pathlib.Path(work), options)
            figures[name] = [part.round(turn) for turn in range(options.rounds)]
            far += show(name, part, figures[name])
            sys.stdout.flush()
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1))
    sys.exit(f"too far apart: {'; '.join(far)}" if far else 0)


if __name__ == "__main__":
    main()
