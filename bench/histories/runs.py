"""The runs of Steadfast that a history is made of. Each is judged."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence

import protected
from changes import parity_folder
from judge import Outcome, before, judge
from program import Run
from world import World, some

FIRST_REDUNDANCY = "--redundancy=30"


def perform(
    world: World, words: Sequence[str], outcome: Outcome, under: Sequence[str] = ()
) -> Run:
    """Runs a verb on the tree, and judges it."""
    was = before(world)
    run = world.program.run(*words, before=under)
    world.steps.append(f"steadfast {' '.join(words)} -> {run.status}")
    judge(world, was, run, outcome)
    return run


def first_runs(world: World, outcome: Outcome) -> None:
    """What a user does once."""
    manner = world.manner
    if manner.catalogue:
        perform(world, ["init", "tree"], outcome)
    tag = ["tag"]
    if manner.leaves:
        tag.append("--pages")
        tag += [] if manner.catalogue else ["--sidecar"]
    perform(world, [*tag, "tree"], outcome)
    if manner.parity:
        place = ["--parity-at", "parity"] if manner.parity == "elsewhere" else []
        perform(world, ["parity", "make", FIRST_REDUNDANCY, *place, "tree"], outcome)


def run_step(world: World, source: random.Random, outcome: Outcome) -> None:
    """One run, drawn at random."""
    verbs = [(_repair, 12), (_update, 5), (_tag, 3), (_check, 3)]
    if world.manner.parity:
        verbs += [(_parity, 4), (_unreadable_set, 1)]
    chosen = source.choices([verb for verb, _ in verbs], [weight for _, weight in verbs])[0]
    words, under = chosen(world, source)
    perform(world, words, outcome, under)


Line = tuple[list[str], list[str]]


def _target(world: World, source: random.Random) -> str:
    """Mostly the whole tree, else one file of it."""
    path = some(source, world.at)
    if path is None or source.random() < 0.8:
        return "tree"
    return "tree/" + os.fsdecode(path)


def _repair(world: World, source: random.Random) -> Line:
    words = ["repair", "--yes"]
    if source.random() < 0.3:
        words.append("--in-place")
    if world.copies and source.random() < 0.5:
        words += ["--from", source.choice(world.copies)]
    if world.manner.ctime and source.random() < 0.3:
        words.append("--suspect")
    path = some(source, world.at)
    if path is not None and source.random() < 0.08:
        return [*words, "--to-tag", "tree/" + os.fsdecode(path)], []
    if world.manner.json:
        words.append("--json")
    return [*words, _target(world, source)], []


def _update(world: World, source: random.Random) -> Line:
    words = ["update"]
    for option, share in (
        ("--accept-many", 0.7),
        ("--restore-tags", 0.3),
        ("--accept-missing", 0.25),
    ):
        if world.manner.catalogue and source.random() < share:
            words.append(option)
    return [*words, "tree"], []


def _tag(world: World, source: random.Random) -> Line:
    return ["tag", _target(world, source)], []


def _check(world: World, source: random.Random) -> Line:
    return ["check", _target(world, source)], []


def _parity(world: World, source: random.Random) -> Line:
    verb = source.choice(("make", "update", "update", "verify"))
    forget = ["--forget-missing"] if verb != "verify" and source.random() < 0.1 else []
    return ["parity", verb, *forget, "tree"], []


def _unreadable_set(world: World, source: random.Random) -> Line:
    """A run during which one set cannot be read."""
    verb = source.choice((["parity", "update"], ["parity", "make"], ["update"], ["tag"]))
    sets = protected.parity_files(parity_folder(world))
    if not sets:
        return [*verb, "tree"], []
    call = source.choice(("openat", "pread64,read"))
    traced = call if call == "openat" else "openat," + call
    under = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", os.fsdecode(source.choice(sets))]
    under += ["-e", f"trace={traced}", "-e", f"inject={call}:error=EIO"]
    return [*verb, "tree"], under
