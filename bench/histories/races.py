"""Races: a person writes a file while a repair is under way, in each of its gaps."""

from __future__ import annotations

import os
import pty
import random
import time
from collections.abc import Callable

import changes
import cuts
import look
from history import Place, draw_manner, fresh_world
from judge import Before, Outcome, before, judge
from kept import kept
from program import Run, decoded
from runs import first_runs, perform
from world import World, some

QUESTION = b"[y/N]"
PATIENCE_S = 120


def race(place: Place, seed: str, name: str) -> tuple[Outcome, list[str]]:
    """Plays one race; returns what it led to and its steps."""
    outcome = Outcome()
    source = random.Random(f"{seed}/race")
    with fresh_world(place, seed, draw_manner(random.Random(f"{seed}/manner")), name) as world:
        world.steps.append(f"{place.volume.system} {world.manner}")
        first_runs(world, outcome)
        world.steps.append(str(changes.take_copy(world, source)))
        for _ in range(source.randint(1, 3)):
            harm = source.choice((changes.rot, changes.rot, changes.resize, changes.delete))
            world.steps.append(str(harm(world, source)))
        was = before(world)
        damaged = [path for path in was.seen if path in world.at and not world.is_whole(path)]
        gone = [path for path in world.past if path not in world.at]
        path = some(source, damaged or gone)
        if path is not None and not outcome.faults:
            _Race(world, source, path, was, outcome).play()
            if source.random() < 0.3 and not outcome.faults:
                perform(world, ["check", "tree"], outcome)
    return outcome, world.steps


class _Race:
    """One edit of one file during one repair."""

    def __init__(
        self, world: World, source: random.Random, path: bytes, was: Before, outcome: Outcome
    ) -> None:
        self._world, self._source, self._path = world, source, path
        self._was, self._outcome = was, outcome
        self._manner = source.choice(("in place", "append", "save", "held"))
        self._held = -1
        # What a writer wrote to a file that had been moved aside.
        self._aside: bytes | None = None

    def play(self) -> None:
        world, source = self._world, self._source
        words = ["repair"]
        if source.random() < 0.25:
            words.append("--in-place")
        if source.random() < 0.7 or not world.manner.parity:
            words += ["--from", world.copies[0]]
        if self._manner == "held" and world.is_there(self._path):
            self._held = os.open(world.path(self._path), os.O_RDWR)
        try:
            if source.random() < 0.2:
                run, happened = asked(world, [*words, "tree"], self.edit)
                where = "while it asks"
            else:
                call = cuts.draw_call(source)
                where = "at {} {}".format(*call)
                run, happened = cuts.stopped(
                    world.program,
                    [*words, "--yes", "tree"],
                    call,
                    world.base / "strace.log",
                    self.edit,
                )
        finally:
            if self._held >= 0:
                os.close(self._held)
        self._outcome.counts["raced" if happened else "not raced"] += 1
        world.steps.append(f"steadfast {' '.join(run.words)} -> {run.status}; {where}")
        self._take_back()
        raced = self._path
        judge(world, self._was, run, self._outcome, raced, is_kept=self._aside is not None)
        self._judge_aside(run)

    def edit(self) -> None:
        """The person's edit; the truth follows."""
        world, path, source = self._world, self._path, self._source
        data = source.randbytes(source.choice((1, 700, 4096, 9000)))
        world.steps.append(f"edit {path!r}, {self._manner}, {len(data)} bytes, during:")
        if not world.is_there(path):
            world.write(path, data)
        elif self._held >= 0:
            os.pwrite(self._held, data, 0)
            os.ftruncate(self._held, len(data))
            if os.fstat(self._held).st_ino != os.stat(world.path(path)).st_ino:
                # It is already replaced; the bytes are in what was moved aside.
                self._aside = data
                self._is_unfinished = b"unfinished" in os.readlink(
                    b"/proc/self/fd/%d" % self._held
                )
            elif path in world.at:
                world.changed(path, data)
        elif path in world.at:
            if self._manner == "append":
                with open(world.path(path), "ab") as file:
                    file.write(data)
                with open(world.path(path), "rb") as file:
                    world.changed(path, file.read())
            else:
                changes.write(world, path, data, self._manner)
        if world.is_there(path) and self._aside is None:
            linked = (name for name, seen in self._was.seen.items() if seen.links > 1)
            names = [path, *(name for name in linked if world.is_there(name))]
            for name in names:
                self._was.seen[name] = look.look_at(world.path(name))

    def _take_back(self) -> None:
        """A file that was moved aside may be back, with what was written to it there."""
        world, path = self._world, self._path
        if self._aside is None or not world.is_there(path) or path not in world.at:
            return
        seen = look.look_at(world.path(path))
        if seen.digest == look.digest_of(self._aside):
            self._outcome.counts["moved back"] += 1
            world.changed(path, self._aside)
            for name in world.names_of(world.at[path]):
                self._was.seen[name] = seen
            self._aside = None

    def _judge_aside(self, run: Run) -> None:
        """Bytes that were written to a file after its exchange."""
        if self._aside is None:
            return
        where = f"{self._path!r} [{' '.join(run.words)} -> {run.status}]"
        if look.digest_of(self._aside) not in kept(self._world.root):
            self._outcome.fault("person's bytes kept nowhere", f"{where} written aside")
        elif not run.tells(self._path) and self._is_unfinished:
            self._outcome.fault("edit undone untold", f"{where} written aside")
        else:
            self._outcome.counts["written aside"] += 1


def asked(world: World, words: list[str], meanwhile: Callable[[], None]) -> tuple[Run, bool]:
    """Runs a verb on a terminal, does something while it asks, and agrees."""
    own, terminal = pty.openpty()
    process = world.program.start(words, stdin=terminal)
    os.close(terminal)
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    output, happened = b"", False
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            part = os.read(process.stdout.fileno(), 65536)
            if not part:
                break
            output += part
        except BlockingIOError:
            time.sleep(0.001)
        if QUESTION in output and not happened:
            happened = True
            meanwhile()
            os.write(own, b"y\n")
    else:
        process.kill()
    process.stdout.close()
    status = process.wait()
    os.close(own)
    return Run(tuple(words), status, decoded(output)), happened
