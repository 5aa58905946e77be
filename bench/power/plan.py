"""Makes the work of one run from a seed: steps that users and Steadfast do to a few trees.

The same seed gives the same steps, so the judge knows every file's contents at every step.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass

POOL_LEN_BYTES = 4 << 20
# Lengths of files: below one page, around page borders, and some pages.
LENGTHS = (0, 1, 700, 4_095, 4_096, 4_097, 9_000, 20_000, 65_536, 70_000, 150_000)
FIRST_FILES = 7
STEPS_PER_TREE = 9
SYNC_SHARE = 0.5


@dataclass(frozen=True)
class Slice:
    """Contents of a file: these bytes of the pool."""

    at: int
    length: int


@dataclass(frozen=True)
class Change:
    """What a user does to one file: create, edit, replace, remove, move or touch.

    `mending.py` has some more: `rot` puts `damage` at `damage_at` into a file, beneath its time;
    `lose` removes it; `install` puts a PAR2 set there.
    """

    kind: str
    path: str
    contents: Slice | None = None
    to: str | None = None
    damage: Slice | None = None
    damage_at: int = 0


@dataclass(frozen=True)
class Step:
    """Changes by a user, or one verb of Steadfast on one tree. `synced`: `sync` follows."""

    number: int
    tree: str
    changes: tuple[Change, ...] = ()
    verb: tuple[str, ...] = ()
    synced: bool = False

    @property
    def target(self) -> str:
        """What the verb is run on."""
        return f"{self.tree}/set.par2" if self.verb and self.tree[0] == "q" else self.tree


class Pool:
    """The bytes that all contents are cut from."""

    def __init__(self, seed: str) -> None:
        self.data = random.Random(f"{seed}/pool").randbytes(POOL_LEN_BYTES)
        self._digests: dict[Slice, str] = {}

    def bytes_of(self, contents: Slice) -> bytes:
        return self.data[contents.at : contents.at + contents.length]

    def digest(self, contents: Slice) -> str:
        """The SHA-256 of the contents in hexadecimal, by Python."""
        if contents not in self._digests:
            self._digests[contents] = hashlib.sha256(self.bytes_of(contents)).hexdigest()
        return self._digests[contents]


def is_catalogued(tree: str) -> bool:
    """Trees named `c…` get a catalogue, those named `s…` keep leaves in sidecars."""
    return tree.startswith("c")


def make_plan(seed: str, rounds: int) -> list[Step]:
    """The steps of `rounds` rounds, each with a fresh catalogued tree and a fresh one without."""
    writer = _Writer(random.Random(f"{seed}/plan"))
    for number in range(rounds):
        trees = [writer.tree(f"c{number}"), writer.tree(f"s{number}")]
        while trees:
            tree = writer.random.choice(trees)
            if next(tree, None) is None:
                trees.remove(tree)
    return writer.steps


class _Writer:
    """Adds steps. Knows only which files exist."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.steps: list[Step] = []
        self._paths: dict[str, list[str]] = {}
        self._next_file = 0

    def tree(self, tree: str) -> Iterator[bool]:
        """The life of one tree, a step at a time."""
        self._paths[tree] = []
        yield self._change(tree, [self._create(tree) for _ in range(FIRST_FILES)])
        pages = ("tag", "--pages") if is_catalogued(tree) else ("tag", "--pages", "--sidecar")
        if not is_catalogued(tree):
            first = [self.random.choice((("tag",), pages))]
        elif self.random.random() < 0.3:
            # Leaves without a sidecar need the catalogue first.
            first = [("tag",), ("init",)]
        else:
            first = [("init",), self.random.choice((("tag",), pages))]
        for verb in first:
            yield self._verb(tree, verb)
        verbs = [("update",), ("update",), ("update",), ("tag",), pages, pages]
        for _ in range(STEPS_PER_TREE // 2):
            yield self._change(tree, self._changes(tree))
            yield self._verb(tree, self.random.choice(verbs))

    def _change(self, tree: str, changes: list[Change]) -> bool:
        return self._add(tree, tuple(changes), ())

    def _verb(self, tree: str, verb: tuple[str, ...]) -> bool:
        return self._add(tree, (), verb)

    def _add(self, tree: str, changes: tuple[Change, ...], verb: tuple[str, ...]) -> bool:
        synced = self.random.random() < SYNC_SHARE
        self.steps.append(Step(len(self.steps) + 1, tree, changes, verb, synced))
        return True

    def _changes(self, tree: str) -> list[Change]:
        """A few changes, of different files."""
        kinds = ("create", "edit", "edit", "edit", "replace", "remove", "move", "touch")
        chosen = [self.random.choice(kinds) for _ in range(self.random.randint(2, 5))]
        some = self.random.sample(self._paths[tree], min(len(chosen), len(self._paths[tree])))
        changes = []
        for kind in chosen:
            if kind == "create" or not some:
                changes.append(self._create(tree))
            else:
                changes.append(self._alter(tree, kind, some.pop()))
        return changes

    def _alter(self, tree: str, kind: str, path: str) -> Change:
        if kind in ("remove", "move"):
            self._paths[tree].remove(path)
        if kind == "move":
            return Change(kind, path, to=self._fresh_path(tree))
        return Change(kind, path, self._contents() if kind in ("edit", "replace") else None)

    def _create(self, tree: str) -> Change:
        return Change("create", self._fresh_path(tree), self._contents())

    def _fresh_path(self, tree: str) -> str:
        self._next_file += 1
        path = f"{tree}/{self.random.choice('ab')}/f{self._next_file}"
        self._paths[tree].append(path)
        return path

    def _contents(self) -> Slice:
        length = self.random.choice(LENGTHS)
        return Slice(self.random.randrange(POOL_LEN_BYTES - length), length)
