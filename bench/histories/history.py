"""One history: a tree, changes and runs in turn, all from one seed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import look
import volume
from changes import BENEATH_TIME, CHANGES
from judge import Outcome
from runs import first_runs, run_step
from volume import Volume
from world import Manner, World, build

STEPS = (4, 9)


@dataclass(frozen=True)
class Place:
    """Where histories are made, and by which program."""

    volume: Volume
    binary: Path


def draw_manner(source: random.Random) -> Manner:
    """What kind of tree a history has."""
    catalogue = source.random() < 0.6
    return Manner(
        user=source.choice((0, 0, 1000)),
        catalogue=catalogue,
        leaves=source.random() < 0.4,
        parity=source.choice(("", "tree", "tree", "tree", "elsewhere")),
        part=source.random() < 0.12,
        json=source.random() < 0.3,
    )


@contextmanager
def fresh_world(place: Place, seed: str, manner: Manner, name: str) -> Iterator[World]:
    """A tree in a new folder. The folder is kept if something goes wrong with the harness."""
    world = World(place.volume.root / name, place.binary, manner, seed)
    source = place.volume.parts / name
    if manner.part:
        source.mkdir()
        os.chown(source, manner.user, manner.user)
        os.mkdir(world.path(b"part"))
        os.chown(world.path(b"part"), manner.user, manner.user)
        volume.bind(source, world.path(b"part"))
        world.part = source
    try:
        build(world)
        yield world
    finally:
        if manner.part:
            volume.unbind(world.path(b"part"))


def play(
    place: Place, seed: str, name: str, skipped: Collection[int] = ()
) -> tuple[Outcome, list[str]]:
    """Plays one history without some of its steps; returns what it led to and its steps."""
    outcome = Outcome()
    ctime = random.Random(f"{seed}/ctime").random() < 0.15
    manner = replace(draw_manner(random.Random(f"{seed}/manner")), ctime=ctime)
    with fresh_world(place, seed, manner, name) as world:
        world.steps.append(f"{place.volume.system} {manner}")
        first_runs(world, outcome)
        count = random.Random(f"{seed}/count").randint(*STEPS)
        for number in range(count):
            if number in skipped or outcome.faults:
                continue
            step(world, place, random.Random(f"{seed}/{number}"), outcome)
        for copy in world.copies:
            if not same_copy(world, copy):
                outcome.fault("outside changed", copy)
    return outcome, world.steps


def step(world: World, place: Place, source: random.Random, outcome: Outcome) -> None:
    """A few changes, and one run."""
    # What a program writes beneath the time of a file is no decay if change times count.
    changes = [one for one in CHANGES if not (world.manner.ctime and one[0] in BENEATH_TIME)]
    for _ in range(source.choice((1, 1, 2, 3))):
        change = source.choices([one for one, _ in changes], [share for _, share in changes])[0]
        said = change(world, source)
        if said is not None:
            world.steps.append(said)
    if not world.manner.part and source.random() < 0.08:
        restore_all(world, source, outcome)
    if world.manner.part and source.random() < 0.3:
        mount_or_unmount(world)
    elif source.random() < (0.3 if world.manner.ctime else 0.004) and not world.manner.part and not world.copies:
        # A copy in the same image has the same bytes.
        rot_unmounted(world, place, source)
    run_step(world, source, outcome)


def restore_all(world: World, source: random.Random, outcome: Outcome) -> None:
    """The tree is lost, and its backup is copied back: every inode is another one.

    Its catalogue must be refused until it is bound to the folder.
    """
    lost = world.root + b".lost"
    os.rename(world.root, lost)
    subprocess.run(["cp", "-a", lost, world.root], check=True)
    for path, item in world.at.items():
        if world.is_there(path):
            seen = look.look_at(world.path(path))
            item.now = replace(item.now, room=seen.room, inode=seen.inode)
            item.versions.append(item.now)
    shutil.rmtree(lost)
    world.steps.append("lose the tree, and copy its backup back")
    outcome.counts["trees copied back"] += 1
    if not world.manner.catalogue:
        return
    for words in (["check", "tree"], ["update", "tree"], ["repair", "--yes", "tree"]):
        run = world.program.run(*words)
        if run.status != 2 or b"--rebind" not in run.output:
            outcome.fault("another tree believed", f"{words[0]} -> {run.status}: {run.output[-300:]!r}")
    form = source.choice(("tree", "./tree", "home/../tree"))
    run = world.program.run("init", "--rebind", form)
    world.steps.append(f"steadfast init --rebind {form} -> {run.status}")
    if run.status != 0:
        outcome.fault("another tree believed", f"--rebind -> {run.status}: {run.output[-300:]!r}")


def mount_or_unmount(world: World) -> None:
    """Takes the part away, or brings it back."""
    world.unmounted = not world.unmounted
    if world.unmounted:
        volume.unbind(world.path(b"part"))
    else:
        volume.bind(world.part, world.path(b"part"))
    world.steps.append("unmount the part" if world.unmounted else "mount the part")


def rot_unmounted(world: World, place: Place, source: random.Random) -> None:
    """Damages a file in the image itself."""
    large = [path for path, item in world.at.items() if item.now.length >= 9000]
    large = [path for path in large if world.is_there(path) and world.is_whole(path)]
    if large:
        path = source.choice(sorted(large))
        data = world.at[path].data[4096 : 4096 + 64]
        # A hole would be found anywhere, and most likely where the file system keeps its own.
        if any(data) and place.volume.damage_unmounted(data):
            world.steps.append(f"rot {path!r} in the image")


def same_copy(world: World, copy: str) -> bool:
    """Whether a copy is as it was made. A file system may give blocks to files later."""
    now = look.look(os.fsencode(world.base / copy))
    was = world.copy_seen[copy]
    room = {path: replace(seen, room=was[path].room) for path, seen in now.items() if path in was}
    return {**now, **room} == was
