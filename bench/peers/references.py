"""In: a corpus. Out: the rows that peers are held against: reading alone, hashing alone.

They store nothing and check nothing. It must not know the peers.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpora import Entry
from measure import Outcome
from peer import ARGUMENTS_LEN_BYTES, Participant, Problem, Site, differing, digest_lines, failed

PROCESSES = 2
# More than one, so that a process on a disturbed core does less of the work; few, so that
# starting processes costs nothing.
SHARES_PER_PROCESS = 2
NEIGHBOURS_FROM = 200
FIO_BLOCK_LEN_BYTES = 1 << 20
SECTOR_LEN_BYTES = 4096


def in_turn(site: Site, command: list[str]) -> list[str]:
    """Runs `command` once over all files."""
    return [*_xargs(site.write_list()), *command]


def in_parallel(site: Site, command: list[str], sink: str) -> list[str]:
    """Runs `command` over all files in `PROCESSES` at a time, in shares of equal bytes.

    What a share prints goes to `sink`, a word of the shell: two processes that write to one
    file would tear lines.
    """
    shares = deal(site.corpus.entries, PROCESSES * SHARES_PER_PROCESS)
    lists = [site.write_list(share, f"names-{at}") for at, share in enumerate(shares)]
    names = site.scratch / "lists"
    names.write_bytes(b"".join(os.fsencode(path) + b"\0" for path in lists))
    # The shell's `$0` is the list that the outer `xargs` hands on.
    limit = f"-s {ARGUMENTS_LEN_BYTES}"
    share = f'exec xargs -0 {limit} -a "$0" {shlex.join(command)} > {sink}'
    return [*_xargs(names), "-P", str(PROCESSES), "-n", "1", "sh", "-c", share]


def deal(entries: Sequence[Entry], count: int) -> list[list[Entry]]:
    """Splits files into at most `count` shares of nearly equal bytes, in the order of names.

    Many files are cut into runs of neighbours, which a cold storage reads best; of few, the
    largest are dealt first, or else the shares would differ by whole files.
    """
    total_bytes = sum(entry.length_bytes for entry in entries)
    shares: list[list[Entry]] = [[] for _ in range(count)]
    if len(entries) >= NEIGHBOURS_FROM:
        seen_bytes = 0
        for entry in entries:
            shares[seen_bytes * count // total_bytes].append(entry)
            seen_bytes += entry.length_bytes
        return [share for share in shares if share]
    weights = [0] * count
    for entry in sorted(entries, key=lambda entry: -entry.length_bytes):
        lightest = weights.index(min(weights))
        shares[lightest].append(entry)
        weights[lightest] += entry.length_bytes
    return [sorted(share, key=lambda entry: entry.path) for share in shares if share]


def _xargs(names: Path) -> list[str]:
    return ["xargs", "-0", "-s", str(ARGUMENTS_LEN_BYTES), "-a", str(names)]


class Cat(Participant):
    """Reading without hashing: no checker that reads through the page cache can be faster."""

    algorithm = "none"
    programs = ("cat", "xargs")
    role = "reference"

    def __init__(self, processes: int) -> None:
        self.name = "cat" if processes == 1 else f"cat x{processes}"
        self._parallel = processes > 1

    def operations(self) -> tuple[str, ...]:
        return ("read",)

    def command(self, operation: str, site: Site) -> list[str]:
        if self._parallel:
            return in_parallel(site, ["cat"], "/dev/null")
        return ["sh", "-c", f"exec {shlex.join(in_turn(site, ['cat']))} > /dev/null"]

    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        return failed(outcome)


class OpenSsl(Participant):
    """One message after the other at the speed of the processor's own instructions."""

    algorithm = "sha256"
    programs = ("openssl", "xargs")
    role = "reference"

    def __init__(self, processes: int) -> None:
        self.name = "openssl" if processes == 1 else f"openssl x{processes}"
        self._parallel = processes > 1

    def operations(self) -> tuple[str, ...]:
        return ("read",)

    def command(self, operation: str, site: Site) -> list[str]:
        digest = ["openssl", "dgst", "-sha256", "-r"]
        if self._parallel:
            return in_parallel(site, digest, f"{shlex.quote(str(site.scratch))}/share.$$")
        return in_turn(site, digest)

    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        said = outcome.stdout
        if self._parallel:
            said = "".join(share.read_text() for share in site.scratch.glob("share.*"))
        return failed(outcome) or differing(site.expected, digest_lines(said))


class Fio(Participant):
    """Sequential reads of the same files from the storage, with two readers."""

    algorithm = "none"
    programs = ("fio",)
    role = "reference"
    caches = ("cold",)
    corpora = ("mixed", "large")

    def __init__(self, direct: bool) -> None:
        self.name = f"fio x{PROCESSES} direct" if direct else f"fio x{PROCESSES}"
        self._direct = direct

    def operations(self) -> tuple[str, ...]:
        return ("read",)

    def command(self, operation: str, site: Site) -> list[str]:
        job = site.scratch / "job.fio"
        smallest = min(entry.length_bytes for entry in site.corpus.entries)
        block_len_bytes = min(FIO_BLOCK_LEN_BYTES, smallest - smallest % SECTOR_LEN_BYTES)
        lines = [
            "[global]",
            "rw=read",
            f"bs={block_len_bytes}",
            "ioengine=psync",
            f"direct={int(self._direct)}",
            # The harness emptied the cache; telling fio to do it again would be timed.
            "invalidate=0",
            "file_service_type=sequential",
        ]
        by_length = sorted(site.corpus.entries, key=lambda entry: -entry.length_bytes)
        for number in range(PROCESSES):
            mine = ":".join(entry.path for entry in by_length[number::PROCESSES])
            lines += [f"[reader-{number}]", f"filename={mine}"]
        job.write_text("\n".join(lines) + "\n")
        return ["fio", "--readonly", "--output-format=json", str(job)]

    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        if problem := failed(outcome):
            return problem
        read = sum(job["io_bytes"] for job in _reads(outcome))
        # Direct reads leave out what is less than a block at the end of a file.
        missing = site.corpus.length_bytes - read
        if not 0 <= missing <= FIO_BLOCK_LEN_BYTES * len(site.corpus.entries):
            return f"read {read} of {site.corpus.length_bytes} bytes"
        return None

    def wall_ns(self, outcome: Outcome) -> int:
        """Its own clock: what it sets up before the first read is no work of the storage."""
        return int(max(job["runtime"] for job in _reads(outcome)) * 1_000_000)


def _reads(outcome: Outcome) -> list[dict[str, Any]]:
    """What each reader of fio did; before the document it may print warnings."""
    document = json.loads(outcome.stdout[outcome.stdout.index("{") :])
    return [job["read"] for job in document["jobs"]]
