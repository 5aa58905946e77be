"""In: participants, corpora, a number of rounds. Out: samples and failures, as they come.

In every round everybody has a turn, in an order drawn from the seed; Steadfast and the reference
it is held against most stand side by side. It must not know statistics or tables.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import machine
from corpora import Corpus, Entry
from measure import Outcome, Stopwatch, drop_caches, warm
from oracle import Oracle
from peer import Participant, Problem, Site, make_twin

Sample = dict[str, Any]
Report = Callable[[str], None]

# Adjacent in every round, in turn one before the other.
PAIRED = ("openssl x2", "steadfast")
# A participant this many times slower than the fastest hashing reference gets two rounds only.
PATIENCE = 4.0
ROUNDS_FOR_SLOW = 2
PROBE_LEN_BYTES = 200_000
PROBE_FILES = 3


@dataclass(frozen=True)
class Failure:
    """An answer that was wrong or did not come; its time counts for nothing."""

    corpus: str
    cache: str
    round: int
    participant: str
    operation: str
    problem: str


def order_of_round(
    participants: Sequence[Participant], number: int, seed: str
) -> list[Participant]:
    """Shuffles everybody, then puts the pair side by side; odd rounds swap it."""
    shuffled = list(participants)
    random.Random(f"{seed}/{number}").shuffle(shuffled)
    pair = [one for name in PAIRED for one in shuffled if one.name == name]
    if len(pair) < len(PAIRED):
        return shuffled
    rest = [one for one in shuffled if one not in pair]
    at = shuffled.index(pair[1]) % (len(rest) + 1)
    return rest[:at] + (pair if number % 2 == 0 else pair[::-1]) + rest[at:]


class Session:
    """Runs rounds. Whatever a participant leaves behind is gone after its turn."""

    def __init__(self, scratch: Path, watch: Stopwatch, oracle: Oracle, report: Report) -> None:
        self._scratch = scratch
        self._watch = watch
        self._oracle = oracle
        self._report = report
        self.samples: list[Sample] = []
        self.failures: list[Failure] = []

    def probe(self, participant: Participant) -> Problem:
        """Whether a participant is right about sound files and notices a flipped bit.

        A check that says nothing and reads nothing would be the fastest of all.
        """
        corpus = self._probe_corpus()
        with self._place(participant, corpus) as site:
            for operation in participant.operations():
                if problem := self._attempt(participant, operation, site)[1]:
                    return f"{operation}: {problem}"
            if "check" not in participant.operations():
                return None
            _flip_bit(site.root, corpus.entries[1])
            outcome, problem = self._attempt(participant, "check", site)
            missed = problem is None or outcome is None
            return "its check did not notice a flipped bit" if missed else None

    def run(
        self,
        corpus: Corpus,
        cache: str,
        participants: Sequence[Participant],
        rounds: int,
        seed: int,
    ) -> None:
        """Adds the samples of `rounds` rounds."""
        patient = list(participants)
        self._begin(corpus, cache, participants)
        for number in range(rounds):
            if number == ROUNDS_FOR_SLOW:
                patient = [one for one in patient if not self._is_slow(one, corpus, cache)]
            if cache == "warm":
                warm(corpus.paths())
            turns = order_of_round(patient, number, f"{seed}/{corpus.name}/{cache}")
            for participant in turns:
                self._turn(participant, corpus, cache, number)
            done = f"{corpus.name} {cache}: round {number + 1} of {rounds}"
            self._report(f"{done}, {len(turns)} turns, load {machine.load():.1f}")

    def _begin(self, corpus: Corpus, cache: str, participants: Sequence[Participant]) -> None:
        """Removes what an interrupted series left, and for warm rounds loads every program."""
        for participant in participants:
            with self._place(participant, corpus):
                pass
            if cache == "warm":
                self.probe(participant)

    def _turn(self, participant: Participant, corpus: Corpus, cache: str, number: int) -> None:
        with self._place(participant, corpus) as site:
            for operation in participant.operations():
                machine_before = machine.stolen_ns()
                outcome, problem = self._attempt(participant, operation, site, cache)
                if problem is not None or outcome is None:
                    failure = Failure(
                        corpus.name, cache, number, participant.name, operation, str(problem)
                    )
                    self.failures.append(failure)
                    self._report(f"FAILED {participant.name} {operation}: {problem}")
                    return
                self.samples.append(
                    {
                        "corpus": corpus.name,
                        "cache": cache,
                        "round": number,
                        "participant": participant.name,
                        "operation": operation,
                        **asdict(outcome.cost),
                        "wall_ns": participant.wall_ns(outcome),
                        "process_wall_ns": outcome.cost.wall_ns,
                        "stolen_ns": machine.stolen_ns() - machine_before,
                        "remark": participant.remark(outcome),
                    }
                )

    def _attempt(
        self, participant: Participant, operation: str, site: Site, cache: str = "any"
    ) -> tuple[Outcome | None, Problem]:
        command = participant.command(operation, site)
        if cache == "cold":
            drop_caches()
        else:
            subprocess.run(["sync"], check=True)
        try:
            outcome = self._watch.run(command, site.root)
            return outcome, participant.judge(operation, site, outcome)
        except subprocess.TimeoutExpired:
            return None, "took too long"
        except (OSError, ValueError, LookupError) as error:
            return None, f"no answer to judge: {error}"

    def _is_slow(self, participant: Participant, corpus: Corpus, cache: str) -> bool:
        """Measured against the fastest reference that hashes, in the rounds so far."""
        if participant.role == "ours":
            return False
        one = self._walls(participant.name, corpus.name, cache)
        reference = self._walls(PAIRED[0], corpus.name, cache)
        return bool(one and reference) and min(one) > PATIENCE * min(reference)

    def _walls(self, participant: str, corpus: str, cache: str) -> list[int]:
        wanted = (participant, corpus, cache)
        return [
            sample["wall_ns"]
            for sample in self.samples
            if (sample["participant"], sample["corpus"], sample["cache"]) == wanted
        ]

    def _probe_corpus(self) -> Corpus:
        root = self._scratch / "probe"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        generator = random.Random(0)
        for number in range(PROBE_FILES):
            (root / f"probe-{number}.bin").write_bytes(generator.randbytes(PROBE_LEN_BYTES))
        return Corpus("probe", root, probe_entries(root))

    @contextmanager
    def _place(self, participant: Participant, corpus: Corpus) -> Iterator[Site]:
        """A place to work in, empty but for the corpus, for the length of a turn."""
        scratch = self._scratch / "turn"
        shutil.rmtree(scratch, ignore_errors=True)
        (scratch / "own").mkdir(parents=True)
        root = corpus.root
        if participant.writes_beside:
            root = scratch / "twin"
            make_twin(corpus, root)
        expected = self._oracle.digests(corpus, participant.algorithm)
        site = Site(corpus, root, scratch / "own", expected)
        try:
            yield site
        finally:
            if (command := participant.clean(site)) is not None:
                self._watch.run(command, site.root)
            shutil.rmtree(scratch)


def probe_entries(root: Path) -> tuple[Entry, ...]:
    """The files of a folder as a corpus knows them."""
    return tuple(
        Entry(path.name, path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted(root.iterdir())
    )


def _flip_bit(root: Path, entry: Entry) -> None:
    """Damages one file as a bad sector would: the modification time stays."""
    path = next(path for path in root.rglob(entry.path) if path.is_file())
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
