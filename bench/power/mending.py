"""Makes the work of a run that mends: damage, repairs and parity, and PAR2 sets, from a seed.

Trees named `p…` have a catalogue and parity, trees named `n…` parity alone, trees named `q…` a
PAR2 set. The times of their files are whole seconds that follow from the contents, so damage
beneath the time of a file can be made with any `touch`.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plan import POOL_LEN_BYTES, Change, Pool, Slice, Step

FILES = 6
TIMES = 5
SYNC_SHARE = 0.6
LENGTHS = (1, 700, 4_096, 4_097, 9_000, 20_000, 65_536, 150_000)
DAMAGE_LEN_BYTES = 200
SET = "set.par2"
REPAIRS = (
    ("repair", "--yes"),
    ("repair", "--yes"),
    ("repair", "--yes", "--in-place"),
    ("repair", "--yes", "--in-place"),
)
PARITIES = (("parity", "make"), ("parity", "update"), ("update",))
FIRST_TIME_S = 1_500_000_000


def is_mended(tree: str) -> bool:
    """Whether a tree is one of those that are made here."""
    return tree[0] in "pnq"


def has_par2(tree: str) -> bool:
    return tree[0] == "q"


def time_of(contents: Slice) -> int:
    """The modification time in seconds of a file with these contents."""
    return FIRST_TIME_S + contents.at


def make_mending_plan(seed: str, rounds: int) -> list[Step]:
    """The steps of `rounds` rounds, each with a fresh tree of each kind."""
    writer = _Writer(random.Random(f"{seed}/mending"))
    for number in range(rounds):
        kinds = ["p", "n", "q"]
        writer.random.shuffle(kinds)
        for kind in kinds:
            writer.tree(f"{kind}{number}")
    return writer.steps


class _Writer:
    """Adds steps. Knows which files exist, and with which contents."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.steps: list[Step] = []
        self._files: dict[str, Slice] = {}
        self._next_file = 0

    def tree(self, tree: str) -> None:
        """The life of one tree."""
        self._files = {}
        self._add(tree, tuple(self._create(tree) for _ in range(FILES)))
        if has_par2(tree):
            self._add(tree, (Change("install", f"{tree}/{SET}"),), synced=True)
        else:
            if tree[0] == "p":
                self._add(tree, verb=("init",))
            pages = ("tag", "--pages", *(() if tree[0] == "p" else ("--sidecar",)))
            self._add(tree, verb=self.random.choice((("tag",), pages)))
            self._add(tree, verb=("parity", "make"), synced=True)
        for _ in range(TIMES):
            if has_par2(tree):
                self._add(tree, self._damages(tree, False))
                self._add(tree, verb=("repair", "--yes"))
            elif self.random.random() < 0.6:
                self._add(tree, self._damages(tree, True))
                self._add(tree, verb=self.random.choice(REPAIRS))
            else:
                self._add(tree, self._edits(tree))
                self._add(tree, verb=("update",))
                self._add(tree, verb=self.random.choice(PARITIES))

    def _add(
        self,
        tree: str,
        changes: tuple[Change, ...] = (),
        verb: tuple[str, ...] = (),
        synced: bool = False,
    ) -> None:
        synced = synced or self.random.random() < SYNC_SHARE
        self.steps.append(Step(len(self.steps) + 1, tree, changes, verb, synced))

    def _create(self, tree: str) -> Change:
        self._next_file += 1
        folder = "" if has_par2(tree) else f"{self.random.choice('ab')}/"
        path = f"{tree}/{folder}f{self._next_file}"
        self._files[path] = self._contents()
        return Change("create", path, self._files[path])

    def _edits(self, tree: str) -> tuple[Change, ...]:
        changes = [self._create(tree)]
        # One of many, so that an update is not held back.
        path = self.random.choice(sorted(self._files))
        if path != changes[0].path:
            self._files[path] = self._contents()
            changes.append(Change("edit", path, self._files[path]))
        return tuple(changes)

    def _damages(self, tree: str, removes: bool) -> tuple[Change, ...]:
        """Damage in one to three files; one may be removed as well."""
        chosen = self.random.sample(sorted(self._files), self.random.randint(1, 3))
        changes = []
        for path in chosen:
            contents = self._files[path]
            if removes and self.random.random() < 0.2:
                changes.append(Change("lose", path, contents))
                continue
            length = min(contents.length, DAMAGE_LEN_BYTES)
            at = self.random.randrange(contents.length - length + 1)
            damage = Slice(self.random.randrange(POOL_LEN_BYTES - length), length)
            changes.append(Change("rot", path, contents, damage=damage, damage_at=at))
        return tuple(changes)

    def _contents(self) -> Slice:
        length = self.random.choice(LENGTHS)
        return Slice(self.random.randrange(POOL_LEN_BYTES - length), length)


def damaged(pool: Pool, change: Change) -> bytes:
    """What a file has after a `rot` of its whole contents."""
    if change.contents is None or change.damage is None:
        raise ValueError("no damage")
    data = bytearray(pool.bytes_of(change.contents))
    data[change.damage_at : change.damage_at + change.damage.length] = pool.bytes_of(change.damage)
    return bytes(data)


@dataclass
class Mendable:
    """What may be found in the trees that are made here."""

    # The last contents that a person gave each file.
    now: dict[str, Slice] = field(default_factory=dict)
    # Everything that a file had as a whole, by a person or by damage, as bytes.
    whole: dict[str, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    # What a person gave it at any time.
    versions: dict[str, set[Slice]] = field(default_factory=lambda: defaultdict(set))
    # What repair data must be able to give back: it was made and synced, and nobody edited since.
    kept: dict[str, Slice] = field(default_factory=dict)
    # Files that were removed, and those with an unsynced edit.
    lost: set[str] = field(default_factory=set)
    edited: set[str] = field(default_factory=set)


def expect_mendable(steps: Sequence[Step], begun: int, synced: int, pool: Pool) -> Mendable:
    """What may be found if all up to step `synced` was synced and step `begun` was begun."""
    found = Mendable()
    broken: set[str] = set()
    for step in steps[:begun]:
        for change in step.changes:
            _apply(found, broken, change, step.number > synced, pool)
        if step.verb[:1] == ("repair",):
            broken -= {path for path in broken if path.startswith(f"{step.tree}/")}
        makes = step.verb in PARITIES or any(change.kind == "install" for change in step.changes)
        if makes and step.number <= synced:
            for path, contents in found.now.items():
                if path.startswith(f"{step.tree}/") and path not in broken:
                    found.kept[path] = contents
    return found


def _apply(
    found: Mendable, broken: set[str], change: Change, is_unsynced: bool, pool: Pool
) -> None:
    path = change.path
    if change.kind in ("create", "edit") and change.contents is not None:
        found.now[path] = change.contents
        found.whole[path].add(pool.bytes_of(change.contents))
        found.versions[path].add(change.contents)
        found.kept.pop(path, None)
        if is_unsynced:
            found.edited.add(path)
    elif change.kind == "rot":
        found.whole[path].add(damaged(pool, change))
        broken.add(path)
        if is_unsynced:
            found.edited.add(path)
    elif change.kind == "lose":
        found.lost.add(path)
        broken.add(path)


def par2_sets(steps: Sequence[Step], pool: Pool) -> dict[str, bytes]:
    """The files of the PAR2 sets of all trees, as `par2` makes them, by their paths."""
    found = {}
    for tree in dict.fromkeys(step.tree for step in steps if has_par2(step.tree)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            names = []
            for step in steps:
                for change in step.changes if step.tree == tree else ():
                    if change.kind == "create" and change.contents is not None:
                        names.append(change.path.rpartition("/")[2])
                        (folder / names[-1]).write_bytes(pool.bytes_of(change.contents))
            line = ["par2", "create", "-q", "-q", "-s4096", "-r100", "-n1", SET, *names]
            subprocess.run(line, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            for path in sorted(folder.glob("*.par2")):
                found[f"{tree}/{path.name}"] = path.read_bytes()
    return found


