"""Judges the trees that were being mended when the power failed.

Every file is the original, the damaged one, or Steadfast says what is wrong with it; and what
could be given back before can be given back now. That is tried: after a repair has finished what
was cut off, all files but one are removed, and repaired again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import found
from found import Found
from judge import Outcome, TreeJudge
from mending import SET, Mendable, expect_mendable, has_par2
from model import Expected
from plan import Pool, Step
from program import Answer, Program

TOLD = ("corrupt", "modified", "missing", "unreadable", "unstable")
STATUSES = (0, 1, 2, 3)


def judge_mended(
    root: Path,
    program: Program,
    steps: Sequence[Step],
    pool: Pool,
    mark: tuple[int, int],
    trees: Sequence[str],
    outcome: Outcome,
) -> None:
    """Judges these trees of a mounted volume, and writes to them."""
    mendable = expect_mendable(steps, *mark, pool)
    # `init` is the second step of such a tree.
    catalogued = {
        step.tree for step in steps[: mark[1]] if step.verb == ("init",) and step.tree in trees
    }
    for tree in trees:
        expected = Expected(catalogued=catalogued)
        if (root / tree).is_dir():
            _Mended(root, tree, program, pool, expected, outcome, mendable).judge()
        elif any(path.startswith(f"{tree}/") for path in mendable.kept):
            outcome.fault("lost bytes", tree)


class _Mended(TreeJudge):
    """One tree."""

    def __init__(
        self,
        root: Path,
        name: str,
        program: Program,
        pool: Pool,
        expected: Expected,
        outcome: Outcome,
        mendable: Mendable,
    ) -> None:
        super().__init__(root, name, program, pool, expected, outcome)
        self.mendable = mendable

    def judge(self) -> None:
        before = self._files()
        if not before:
            self.outcome.counts["empty"] += 1
            return
        told = self._told(before)
        for path, one in before.items():
            self._judge_bytes(path, one, told)
        self._judge_lost(before)
        self._repair("finishing")
        self._judge_kept(set(), "after the finishing run")
        folder = self.root / self.name / ".steadfast" / "damaged" / "unfinished"
        if folder.exists() and any(folder.iterdir()):
            self.outcome.fault("draft stays", str(folder.relative_to(self.root)))
        self._lose_and_repair()

    def _files(self) -> dict[str, Found]:
        files = found.read_tree(self.root, self.name)
        return {path: one for path, one in files.items() if not path.endswith(".par2")}

    def _told(self, before: dict[str, Found]) -> set[str]:
        """The files of which Steadfast says that something is wrong."""
        if has_par2(self.name):
            if not (self.root / self.name / SET).exists():
                return set(before)
            answer: Answer | None = self.program.run("check", f"{self.name}/{SET}")
        else:
            answer = self._check(before)
        if answer is None:
            return set(before)
        if answer.status not in STATUSES:
            self.outcome.fault("crash", f"{self.name}: status {answer.status}")
        told = {path for path, verdict in answer.verdicts.items() if verdict in TOLD}
        told |= {path for path in before if path in answer.trouble}
        if told and answer.status == 0:
            self.outcome.fault("false all-clear", f"{self.name}: {sorted(told)[0]}")
        for path in told:
            self.outcome.counts[answer.verdicts.get(path, "told")] += 1
        return told

    def _judge_bytes(self, path: str, one: Found, told: set[str]) -> None:
        mendable, outcome = self.mendable, self.outcome
        data = (self.root / path).read_bytes()
        is_made = path in mendable.versions
        versions = {self.pool.bytes_of(version) for version in mendable.versions[path]}
        if not is_made:
            outcome.fault("wrong bytes", f"{path}: nobody made it")
        elif data not in versions and path not in told:
            # A file without a tag is judged by nothing.
            if one.tag is not None or (has_par2(self.name) and path in mendable.kept):
                outcome.fault("wrong intact", path)
        elif data not in mendable.whole[path] and path not in mendable.edited:
            outcome.counts["in part"] += 1
        digests = {self.pool.digest(version) for version in mendable.versions[path]}
        if one.torn is not None:
            outcome.fault("torn tag", f"{path}: {one.torn}")
        elif one.tag is not None and one.tag.digest not in digests:
            outcome.fault("tag of other contents", path)

    def _judge_lost(self, before: dict[str, Found]) -> None:
        for path in self.mendable.kept:
            if path.startswith(f"{self.name}/") and path not in before:
                if path not in self.mendable.lost:
                    self.outcome.fault("lost bytes", path)

    def _repair(self, when: str) -> Answer:
        if has_par2(self.name):
            answer = self.program.run("repair", "--yes", f"{self.name}/{SET}")
        else:
            answer = self.program.run("repair", "--yes", self.name)
        if answer.status not in STATUSES:
            self.outcome.fault("crash", f"{when} repair of {self.name}: status {answer.status}")
        if answer.trouble:
            self.outcome.say(self.name, answer.trouble)
        return answer

    def _judge_kept(self, excepted: set[str], when: str) -> None:
        """What was protected has its contents."""
        for path, contents in self.mendable.kept.items():
            if not path.startswith(f"{self.name}/") or path in excepted:
                continue
            file = self.root / path
            if not file.exists():
                self.outcome.fault("repair data lost", f"{path}: missing {when}")
            elif file.read_bytes() != self.pool.bytes_of(contents):
                self.outcome.fault("repair data lost", f"{path}: other bytes {when}")

    def _lose_and_repair(self) -> None:
        """Removes all files that are protected but one, and repairs."""
        paths = sorted(path for path in self.mendable.kept if path.startswith(f"{self.name}/"))
        for path in paths[1:]:
            (self.root / path).unlink(missing_ok=True)
        if paths[1:]:
            self._repair("last")
            self._judge_kept(set(), "after all were lost")
            self.outcome.counts["given back"] += 1
