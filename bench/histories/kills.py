"""Kills: a run is killed at a system call or after a delay, and others follow it."""

from __future__ import annotations

import os
import random

import changes
import cuts
from history import Place, draw_manner, fresh_world
from judge import Outcome, before, judge
from runs import first_runs, perform
from world import World

DELAY_S_MAX = 0.05


def kill(place: Place, seed: str, name: str) -> tuple[Outcome, list[str]]:
    """Plays one kill; returns what it led to and its steps."""
    outcome = Outcome()
    source = random.Random(f"{seed}/kill")
    with fresh_world(place, seed, draw_manner(random.Random(f"{seed}/manner")), name) as world:
        world.steps.append(f"{place.volume.system} {world.manner}")
        first_runs(world, outcome)
        world.steps.append(str(changes.take_copy(world, source)))
        harms = (changes.rot, changes.rot, changes.resize, changes.delete, changes.delete_folder)
        for _ in range(source.randint(1, 4)):
            world.steps.append(str(source.choice(harms)(world, source)))
        words = _draw_words(world, source)
        if words[0] != "repair":
            world.steps.append(str(changes.edit(world, source)))
            world.steps.append(str(changes.create(world, source)))
        if not outcome.faults:
            _kill(world, source, words, outcome)
    return outcome, world.steps


def _draw_words(world: World, source: random.Random) -> list[str]:
    repair = ["repair", "--yes"]
    if source.random() < 0.7 or not world.manner.parity:
        repair += ["--from", world.copies[0]]
    choices = [[*repair, "tree"], [*repair, "tree"], [*repair, "--in-place", "tree"]]
    choices += [["update", *(["--accept-many"] if world.manner.catalogue else []), "tree"]]
    if world.manner.parity:
        choices += [["parity", "make", "tree"], ["parity", "update", "tree"]]
    return source.choice(choices)


def _kill(world: World, source: random.Random, words: list[str], outcome: Outcome) -> None:
    was = before(world)
    if source.random() < 0.4:
        delay_s = source.uniform(0, DELAY_S_MAX)
        run, where = cuts.killed_after(world.program, words, delay_s), f"after {delay_s:.3f} s"
    else:
        call = cuts.draw_call(source)
        where = "at {} {}".format(*call)
        run = cuts.killed(world.program, words, call, world.base / "strace.log")
    is_cut = run.status < 0
    outcome.counts["killed" if is_cut else "not killed"] += 1
    world.steps.append(f"steadfast {' '.join(words)} -> {run.status}; killed {where}")
    in_place = has_journal(world)
    if not in_place:
        judge(world, was, run, outcome, killed=is_cut)
    if outcome.faults:
        return
    check = world.program.run("check", "tree")
    world.steps.append(f"steadfast check tree -> {check.status}")
    if in_place and check.status in (0, 1):
        outcome.fault("status 0 with open damage", f"a repair cut off, check -> {check.status}")
    if source.random() < 0.3 and not in_place:
        perform(world, ["update", "--accept-many", "tree"], outcome)
    second = before(world)
    final = world.program.run("repair", "--yes", "--from", world.copies[0], "tree")
    world.steps.append(f"steadfast {' '.join(final.words)} -> {final.status}")
    if in_place:
        judge(world, was, run.joined(final), outcome, killed=True)
        if has_journal(world) and final.status == 0:
            outcome.fault("status 0 with open damage", "the journal is still there")
    else:
        judge(world, second, final, outcome)


def has_journal(world: World) -> bool:
    """Whether a repair in place is cut off."""
    folder = world.path(b".steadfast/damaged/unfinished")
    return os.path.isdir(folder) and any(name.endswith(b".pages") for name in os.listdir(folder))
