"""In: a corpus and a scratch folder. Out: the contract of everything that is measured.

A participant names its commands and judges its own answers; somebody else runs them. It must not
know clocks, rounds or results of others.
"""

from __future__ import annotations

import os
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from corpora import Corpus, Entry
from measure import Outcome

SAMPLE_COUNT = 64
# The most that one command line may hold here: all names of the largest corpus, and below the
# 2 MiB that the system allows for names and pointers together.
ARGUMENTS_LEN_BYTES = 1_600_000

# What was wrong with an answer, in words; nothing if it was right.
Problem = str | None


@dataclass(frozen=True)
class Site:
    """Where a participant works.

    `root` is what it is pointed at: the corpus, or a twin of it. `scratch` is outside of both
    and its own. `expected` maps paths to digests, for the algorithm of the participant; it may
    hold a sample only.
    """

    corpus: Corpus
    root: Path
    scratch: Path
    expected: Mapping[str, str]

    def write_list(self, entries: Iterable[Entry] | None = None, name: str = "names") -> Path:
        """Writes paths, each ended by NUL, for `xargs`."""
        names = self.scratch / name
        chosen = self.corpus.entries if entries is None else entries
        names.write_bytes(b"".join(os.fsencode(entry.path) + b"\0" for entry in chosen))
        return names


class Participant(ABC):
    """Something that is run on a corpus."""

    #: As tables show it.
    name: str
    algorithm: str
    #: Programs that must be there.
    programs: tuple[str, ...]
    #: `ours`, `peer` or `reference`.
    role: str = "peer"
    #: Whether it writes beside the files, so that it gets a twin made of hard links.
    writes_beside: bool = False
    #: Conditions of the page cache in which it says anything.
    caches: tuple[str, ...] = ("warm", "cold")
    #: Corpora in which it says anything; empty for all.
    corpora: tuple[str, ...] = ()

    @abstractmethod
    def operations(self) -> tuple[str, ...]:
        """In the order in which they are run: `read`, or `tag` and `check`."""

    @abstractmethod
    def command(self, operation: str, site: Site) -> list[str]:
        """What to run, in `site.root`."""

    @abstractmethod
    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        """Whether the answer is right."""

    def clean(self, site: Site) -> list[str] | None:
        """What to run so that nothing is tagged; a scratch folder and a twin vanish anyway."""
        return None

    def wall_ns(self, outcome: Outcome) -> int:
        """The time that counts: from the start of the process to its end."""
        return outcome.cost.wall_ns

    def remark(self, outcome: Outcome) -> str | None:
        """What the program said of its own run that is worth keeping."""
        return None

    def suits(self, corpus: str, cache: str) -> bool:
        """Whether it takes part there."""
        return cache in self.caches and (not self.corpora or corpus in self.corpora)


def failed(outcome: Outcome) -> Problem:
    """A status other than 0, with the last thing that was said."""
    if outcome.cost.status == 0:
        return None
    said = (outcome.stderr.strip() or outcome.stdout.strip()).splitlines()
    return f"status {outcome.cost.status}: {said[-1] if said else 'nothing said'}"


def differing(expected: Mapping[str, str], found: Mapping[str, str]) -> Problem:
    """The first expected digest that was not found at its path."""
    for path, digest in expected.items():
        if path not in found:
            return f"no digest for {path}"
        if found[path] != digest:
            return f"wrong digest for {path}"
    return None


LINE = re.compile(r"^([0-9a-f]{32,128}) [ *](.+)$", re.MULTILINE)


def digest_lines(text: str) -> dict[str, str]:
    """Path to digest, from lines as `sha256sum` writes them."""
    return {plain(path): digest for digest, path in LINE.findall(text)}


def plain(path: str) -> str:
    return path.removeprefix("./")


def xattr_problem(site: Site, attribute: str, encode: Callable[[str], bytes]) -> Problem:
    """The first sampled file whose attribute does not hold its digest."""
    for path, digest in sampled(site.expected):
        try:
            value = os.getxattr(site.root / path, attribute)
        except OSError as error:
            return f"{path}: {attribute}: {error.strerror}"
        if encode(digest) not in value:
            return f"wrong digest for {path}"
    return None


def sampled(expected: Mapping[str, str]) -> list[tuple[str, str]]:
    """At most `SAMPLE_COUNT` pairs, evenly spread."""
    pairs = list(expected.items())
    step = max(1, len(pairs) // SAMPLE_COUNT)
    return pairs[::step]


def make_twin(corpus: Corpus, twin: Path) -> None:
    """Makes a tree of hard links, so that an index beside the files touches no other peer."""
    shutil.copytree(corpus.root, twin, copy_function=os.link)
