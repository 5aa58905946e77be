"""Two users: a stranger plants what Steadfast keeps, and its owner, another user or root runs it.

Whatever was planted, no file outside the tree changes, no file of the tree gets the stranger's
contents, nobody gets rights, and other trees are not blocked.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import forge
import look
import protected
from history import Place
from judge import SET_ID, STATUSES, Outcome
from program import Program, Run
from world import STRANGER

VICTIM = 1000
OWN = ".steadfast"
Scene = Callable[["Stage"], list[list[str]]]


class Stage:
    """A shared sticky folder with a victim's tree, a stranger's tree, and a file outside."""

    def __init__(self, place: Place, base: Path, source: random.Random) -> None:
        self.base, self.source = base, source
        base.mkdir()
        self.shared = base / "shared"
        self.outside = base / "outside"
        for folder, owner, mode in (
            (self.shared, 0, 0o1777),
            (self.outside, 0, 0o755),
            (base / "home", VICTIM, 0o700),
            (base / "home-of-stranger", STRANGER, 0o700),
            (self.shared / "victim", VICTIM, 0o755),
            (self.shared / "stranger", STRANGER, 0o777),
        ):
            folder.mkdir()
            os.chown(folder, owner, owner)
            os.chmod(folder, mode)
        self.secret = self.put(self.outside / "secret", 0, 0o600)
        self.victim, self.stranger = self.shared / "victim", self.shared / "stranger"
        self.files = [
            self.put(self.victim / f"doc{number}", VICTIM, 0o644) for number in range(3)
        ]
        self.as_victim = Program(place.binary, self.shared, base / "home", VICTIM)
        self.as_root = Program(place.binary, self.shared, base / "home", 0)
        self.as_stranger = Program(place.binary, self.shared, base / "home-of-stranger", STRANGER)
        # The contents that no file of the victim may ever have.
        self.evil: set[str] = set()
        # What must not be there afterwards.
        self.never: list[Path] = []
        self.steps: list[str] = []

    def put(self, path: Path, owner: int, mode: int) -> Path:
        """A file with random contents."""
        path.write_bytes(self.source.randbytes(self.source.choice((700, 5000, 9000))))
        os.chown(path, owner, owner)
        os.chmod(path, mode)
        moment = 1_600_000_000_000_000_000 + self.source.randrange(10**15)
        os.utime(path, ns=(moment, moment))
        return path

    def evil_file(self, path: Path) -> Path:
        """A file of the stranger."""
        self.put(path, STRANGER, 0o755)
        self.evil.add(look.digest_of(path.read_bytes()))
        return path

    def prepare(self, program: Program, *lines: str) -> None:
        for line in lines:
            run = program.run(*line.split())
            self.steps.append(f"({program.user}) steadfast {line} -> {run.status}")


def stranger(place: Place, seed: str, name: str) -> tuple[Outcome, list[str]]:
    """Plays one scene; returns what it led to and its steps."""
    source, outcome = random.Random(f"{seed}/stranger"), Outcome()
    stage = Stage(place, place.volume.root / name, source)
    scene = source.choice(SCENES)
    stage.steps.append(f"{place.volume.system} {scene.__name__}: {scene.__doc__}")
    runs = scene(stage)
    before = look.look(os.fsencode(stage.base))
    for words in runs:
        program = stage.as_root if "root" in words else stage.as_victim
        words = [word for word in words if word != "root"]
        run = program.run(*words)
        stage.steps.append(f"({program.user}) steadfast {' '.join(words)} -> {run.status}")
        _judge(stage, before, look.look(os.fsencode(stage.base)), run, scene, outcome)
        if outcome.faults:
            break
    return outcome, stage.steps


def _judge(
    stage: Stage,
    before: dict[bytes, look.Seen],
    after: dict[bytes, look.Seen],
    run: Run,
    scene: Scene,
    outcome: Outcome,
) -> None:
    said = f"{scene.__name__} [{' '.join(run.words)} -> {run.status}]"
    if run.status not in STATUSES or b"panicked" in run.output:
        outcome.fault("crash", f"{said}: {run.output[-200:]!r}")
    for path, seen in after.items():
        old = before.get(path)
        is_own = path.startswith(b"shared/stranger")
        if path.startswith(b"outside") and (
            old is None or _kept_fields(old) != _kept_fields(seen)
        ):
            outcome.fault("outside changed", f"{path!r} {said}")
        if old is not None and old.kind == seen.kind and old.digest == seen.digest:
            if seen.mode & SET_ID & ~old.mode or seen.owner != old.owner:
                outcome.fault("rights given", f"{path!r} {seen.mode:o} {seen.owner} {said}")
            continue
        if seen.digest in stage.evil and not is_own:
            outcome.fault("made from a stranger's data", f"{path!r} {said}")
        if old is None and (seen.mode & SET_ID or (is_own and seen.owner[0] == 0)):
            outcome.fault("rights given", f"{path!r} {seen.mode:o} {seen.owner} {said}")
    for path in before.keys() - after.keys():
        outcome.fault("wrong bytes", f"{path!r} removed {said}")
    for never in stage.never:
        if os.path.lexists(never):
            outcome.fault("made from a stranger's data", f"{never} {said}")
    if scene in BLOCKING and run.status == 2:
        outcome.fault("blocked by a stranger", f"{said}: {run.output[-200:]!r}")


def _kept_fields(seen: look.Seen) -> tuple[object, ...]:
    return seen.digest, seen.mode, seen.owner, seen.mtime_ns, seen.attributes


def parity_above(stage: Stage) -> list[list[str]]:
    """Parity of a stranger in a shared folder names files of another user's tree."""
    fake = stage.stranger / "fake"
    (fake / "victim").mkdir(parents=True)
    for path in (fake, fake / "victim"):
        os.chown(path, STRANGER, STRANGER)
    for number in range(4):
        stage.evil_file(fake / "victim" / f"doc{number}")
    stage.prepare(stage.as_stranger, f"tag {fake}", f"parity make {fake}")
    _open(fake / OWN)
    os.rename(fake / OWN, stage.shared / OWN)
    shutil.rmtree(fake)
    if stage.source.random() < 0.5:
        stage.prepare(stage.as_victim, "tag victim")
    if stage.source.random() < 0.5:
        stage.files[0].unlink()
    user = stage.source.choice((["root"], []))
    target = stage.source.choice(("victim", "victim/doc0"))
    return [["repair", "--yes", target, *user], ["check", target, *user]]


def rights_in_parity(stage: Stage) -> list[list[str]]:
    """Parity in a tree says that a lost file was a set-user-ID program of root."""
    tree = stage.stranger
    stage.evil_file(tree / "program")
    stage.evil_file(tree / "other")
    if stage.source.random() < 0.5:
        stage.prepare(stage.as_stranger, f"init {tree}")
    stage.prepare(stage.as_stranger, f"tag {tree}", f"parity make {tree}")
    _alter_sets(tree, forge.give_rights)
    (tree / "program").unlink()
    return [["repair", "--yes", "stranger", "root"]]


def own_folder_in_parity(stage: Stage) -> list[list[str]]:
    """Parity names files beneath `.steadfast`."""
    tree = stage.stranger
    folder = tree / "Xsteadfast" / "damaged"
    folder.mkdir(parents=True)
    for path in (folder.parent, folder):
        os.chown(path, STRANGER, STRANGER)
    stage.evil_file(folder / "x")
    stage.evil_file(tree / "y")
    stage.never = [tree / OWN / "damaged" / "x"]
    stage.prepare(stage.as_stranger, f"tag {tree}", f"parity make {tree}")
    _alter_sets(tree, forge.name_own_folder)
    shutil.rmtree(folder.parent)
    return [["repair", "--yes", "stranger", "root"]]


def journal_of_outside(stage: Stage) -> list[list[str]]:
    """A journal tells to write into a file that has another name outside of the tree."""
    tree = stage.stranger
    evil = stage.evil_file(tree / "x")
    stage.prepare(stage.as_stranger, f"init {tree}", f"tag {tree}")
    data = evil.read_bytes()
    evil.unlink()
    os.link(stage.secret, evil)
    name, text = forge.journal(os.fsencode(evil), b"x", data)
    _plant(tree, "damaged/unfinished", os.fsdecode(name), text)
    plan = stage.source.choice((["repair", "--yes"], ["repair", "--yes", "--in-place"]))
    return [[*plan, "stranger", "root"]]


def draft_of_outside(stage: Stage) -> list[list[str]]:
    """What looks like a draft of a killed repair is another name of a file outside."""
    tree = stage.stranger
    stage.evil_file(tree / "x")
    stage.prepare(stage.as_stranger, f"init {tree}", f"tag {tree}")
    inode = os.stat(stage.secret).st_ino
    folder = _plant(tree, "damaged/unfinished", f"{inode:016x}.path", inode.to_bytes(8, "little"))
    os.link(stage.secret, folder / f"{inode:016x}.draft")
    return [["repair", "--yes", "stranger", "root"], ["update", "stranger", "root"]]


def garbage_above(stage: Stage) -> list[list[str]]:
    """A stranger leaves garbage of a repair in the shared folder above other trees."""
    garbage = stage.source.randbytes(stage.source.choice((0, 10, 300)))
    _plant(stage.shared, "damaged/unfinished", "0000000000000abc.pages", garbage)
    _plant(stage.shared, "parity/ab", "ab" * 16, garbage)
    if stage.source.random() < 0.5:
        _open(stage.shared / OWN)
    if stage.source.random() < 0.5:
        stage.prepare(stage.as_victim, "init victim")
    return [["tag", "victim"], ["check", "victim"], ["repair", "--yes", "victim"]]


def links_out(stage: Stage) -> list[list[str]]:
    """Folders of Steadfast are links to folders outside."""
    tree = stage.stranger
    stage.evil_file(tree / "x")
    stage.prepare(stage.as_stranger, f"tag {tree}", f"parity make {tree}")
    own = tree / OWN
    which = stage.source.choice(("parity", "damaged", OWN))
    target = own if which == OWN else own / which
    if target.exists():
        os.rename(target, tree / "moved")
    os.symlink(stage.outside, target)
    data = bytearray((tree / "x").read_bytes())
    status = os.stat(tree / "x")
    data[0] ^= 1
    (tree / "x").write_bytes(data)
    os.utime(tree / "x", ns=(status.st_mtime_ns, status.st_mtime_ns))
    verbs = (["repair", "--yes"], ["parity", "make"], ["parity", "drop", "--yes"])
    verb = stage.source.choice(verbs)
    return [[*verb, "stranger", "root"], ["repair", "--yes", "--in-place", "stranger", "root"]]


def elsewhere_out(stage: Stage) -> list[list[str]]:
    """A record in a tree of the victim says that its parity is in a folder of the stranger."""
    fake = stage.stranger / "fake"
    fake.mkdir()
    os.chown(fake, STRANGER, STRANGER)
    stage.evil_file(fake / "doc0")
    place = stage.stranger / "place"
    stage.prepare(stage.as_stranger, f"tag {fake}", f"parity make --parity-at {place} {fake}")
    record = (fake / OWN / "parity" / "elsewhere").read_bytes()
    _open(place)
    _plant(stage.victim, "parity", "elsewhere", record, VICTIM)
    stage.files[0].unlink()
    return [["repair", "--yes", "victim"], ["repair", "--yes", "victim", "root"]]


def _open(folder: Path) -> None:
    """Lets everybody read and write what a stranger planted."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)


def _alter_sets(tree: Path, alter: forge.Alter) -> None:
    """Replaces all parity files of a tree by altered ones."""
    for path in protected.parity_files(os.fsencode(tree / OWN / "parity")):
        with open(path, "rb") as file:
            name, data = forge.altered_set(file.read(), alter)
        os.unlink(path)
        _plant(tree, f"parity/{name[:2].decode()}", name.decode(), data)


def _plant(tree: Path, folder: str, name: str, data: bytes, owner: int = STRANGER) -> Path:
    """A file in the folder of Steadfast, with everything above it, of one owner."""
    path = tree / OWN
    for part in ("", *folder.split("/")):
        path = path / part
        if not path.exists():
            path.mkdir()
            os.chown(path, owner, owner)
    (path / name).write_bytes(data)
    os.chown(path / name, owner, owner)
    return path


SCENES: tuple[Scene, ...] = (
    parity_above,
    rights_in_parity,
    own_folder_in_parity,
    journal_of_outside,
    draft_of_outside,
    garbage_above,
    links_out,
    elsewhere_out,
)
# Those in which the verbs must do their work as if nothing had been planted.
BLOCKING = (garbage_above,)
