"""Compares what a cut left, and what Steadfast says of it, with what may be there.

A fault is something that must never happen. A count is something that may, and that the record
keeps, so that two versions of the program can be compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import found
from found import Found
from mending import is_mended
from model import Expected, expect
from plan import Pool, Step, is_catalogued
from program import Answer, Program

OTHER_VOLUME = "--rebind"
SOUND = ("intact", "touched", "moved")
DIFFERENT = ("modified", "corrupt")


@dataclass
class Outcome:
    """What one cut led to. A fault is a kind and where."""

    faults: list[tuple[str, str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    # What Steadfast said when it could not check, without repetitions.
    said: list[str] = field(default_factory=list)

    def fault(self, kind: str, where: str) -> None:
        self.faults.append((kind, where))

    def say(self, tree: str, text: str) -> None:
        """Keeps a message once, without the folder that the volume is mounted in."""
        text = re.sub(rf"[^ `]*\b{tree}\b", "TREE", text)[:300]
        if text and text not in self.said:
            self.said.append(text)


def judge(
    root: Path, program: Program, steps: Sequence[Step], pool: Pool, mark: tuple[int, int]
) -> Outcome:
    """Judges every tree of a mounted volume; writes to it, since Steadfast has to recover it."""
    begun, synced = mark
    expected = expect(steps, begun, synced)
    outcome = Outcome()
    trees = dict.fromkeys(step.tree for step in steps[:begun])
    for tree in [tree for tree in trees if not is_mended(tree)]:
        if (root / tree).is_dir():
            TreeJudge(root, tree, program, pool, expected, outcome).judge()
        elif any(path.startswith(f"{tree}/") for path in expected.synced):
            outcome.fault("lost bytes", tree)
    return outcome


@dataclass
class TreeJudge:
    """One tree of a volume."""

    root: Path
    name: str
    program: Program
    pool: Pool
    expected: Expected
    outcome: Outcome

    def judge(self) -> None:
        before = found.read_tree(self.root, self.name)
        self._judge_disk(before)
        if not before and not (self.root / self.name / found.CATALOGUE).exists():
            self.outcome.counts["empty"] += 1
            return
        for torn in found.torn_leaves(self.root, self.name):
            self.outcome.fault("torn leaves", torn)
        self.outcome.counts["drafts"] += len(found.drafts(self.root, self.name))
        answer = self._check(before)
        if answer is not None:
            self._judge_answer(before, answer)
        self._settle(before, answer)

    def _digests(self, path: str) -> set[str]:
        return {self.pool.digest(one) for one in self.expected.versions[path]}

    def _judge_disk(self, before: dict[str, Found]) -> None:
        """What is on the disk, whatever Steadfast says of it."""
        expected, outcome = self.expected, self.outcome
        for path, one in before.items():
            if one.torn is not None:
                outcome.fault("torn tag", f"{path}: {one.torn}")
            elif one.tag is not None and one.tag.digest not in self._digests(path):
                outcome.fault("tag of other contents", path)
        for path, should in expected.synced.items():
            if not path.startswith(f"{self.name}/"):
                continue
            there = before.get(path)
            digest = there.digest if there is not None else None
            if expected.is_exact(path) and digest != self.pool.digest(should.contents):
                outcome.fault("lost bytes", path)
                continue
            if there is None or there.torn is not None or not expected.keeps_tag(path):
                continue
            if there.tag is None:
                outcome.fault("lost tag", path)
            elif self.name in expected.busy or should.tag is None:
                continue
            elif there.tag.digest != self.pool.digest(should.tag):
                outcome.fault("other tag", path)

    def _check(self, before: dict[str, Found]) -> Answer | None:
        """Runs `check`; if it cannot use the catalogue, does what is said there first."""
        answer = self.program.run("check", self.name)
        if OTHER_VOLUME in answer.trouble:
            # The machine's disk has another number here; xfs names volumes by that.
            self.program.run("init", "--rebind", self.name)
            answer = self.program.run("check", self.name)
        if answer.status in (0, 1, 2, 3) and (answer.verdicts or answer.status != 2):
            return answer
        if not before and answer.status == 2 and not answer.trouble:
            # A run that finds no file ends with 2. The catalogue knows none either.
            self.outcome.counts["empty"] += 1
            return None
        self.outcome.say(self.name, answer.trouble)
        if answer.status not in (0, 1, 2, 3):
            self.outcome.fault("crash", f"check {self.name}: status {answer.status}")
            return None
        if self.name in self.expected.catalogued:
            self.outcome.fault("catalogue unusable", f"{self.name}: {answer.trouble[:200]}")
        self.outcome.counts["check refused"] += 1
        for words in (("init",), ("init", "--rebuild")):
            if self.program.run(*words, self.name).status == 0:
                cure = " ".join(words)
                self.outcome.counts[f"cured by {cure}"] += 1
                if cure == "init" and "--rebuild" in answer.trouble:
                    self.outcome.fault("wrong advice", f"{self.name}: --rebuild, where init helps")
                elif cure != "init":
                    self.outcome.fault("catalogue ahead", f"{self.name}: refused until --rebuild")
                return self.program.run("check", self.name)
        self.outcome.fault("catalogue not cured", self.name)
        return None

    def _judge_answer(self, before: dict[str, Found], answer: Answer) -> None:
        for path, verdict in answer.verdicts.items():
            self.outcome.counts[verdict] += verdict not in SOUND
            if found.is_own(path):
                # Beside no file, as after a move, a sidecar is data by the specification.
                if found.owner(path) in before:
                    self.outcome.fault("leaves taken for data", f"{path}: {verdict}")
                continue
            self._judge_verdict(path, verdict, before.get(path), answer)
        for path, findings in answer.findings.items():
            for finding in findings:
                self.outcome.counts[finding] += 1
                lost = finding == "tag lost" and not self.expected.explains_lost_tag(path)
                if lost or finding == "tag replaced":
                    self.outcome.fault("catalogue ahead", f"{path}: {finding}")
        for path, one in before.items():
            if one.tag is not None and path not in answer.verdicts:
                self.outcome.fault("not judged", path)

    def _judge_verdict(self, path: str, verdict: str, one: Found | None, answer: Answer) -> None:
        outcome, expected = self.outcome, self.expected
        stored = answer.stored.get(path)
        if verdict == "missing":
            if one is not None:
                outcome.fault("wrong missing", path)
            elif path not in expected.left and not self._was_there(path):
                outcome.fault("catalogue ahead", f"{path}: missing")
        elif verdict in ("unreadable", "unstable"):
            outcome.fault(verdict, path)
        elif one is None:
            if verdict != "moved":
                outcome.fault(f"wrong {verdict}", path)
        elif verdict in SOUND:
            whole = one.digest in self._digests(path)
            if one.digest != stored or not whole or (one.tag is not None and not one.fits):
                outcome.fault("wrong intact", path)
        elif verdict in DIFFERENT:
            if one.digest == stored:
                outcome.fault(f"wrong {verdict}", path)
            elif verdict == "corrupt" and expected.is_exact(path):
                outcome.fault("wrong corrupt", path)
            elif verdict == "corrupt" and one.digest in self._digests(path):
                outcome.counts["rolled back"] += 1
            if answer.status == 0:
                outcome.fault("false all-clear", path)

    def _was_there(self, path: str) -> bool:
        return path in self.expected.synced

    def _settle(self, before: dict[str, Found], answer: Answer | None) -> None:
        """What a user would do next; afterwards a check must have nothing to say."""
        verdicts = answer.verdicts if answer is not None else {}
        corrupt = [path for path, verdict in verdicts.items() if verdict == "corrupt"]
        if corrupt:
            self.program.run("update", "--accept", *corrupt)
        if not before:
            # Nothing is left to judge, so no run can end well.
            return
        if is_catalogued(self.name):
            begun = (self.root / self.name / found.CATALOGUE).exists()
            runs = [] if begun else ["init", "."]
            runs += ["update --restore-tags --accept-missing", "tag --pages"]
        else:
            runs = ["update", "tag --pages --sidecar"]
        for words in [*runs, "check"]:
            last = self.program.run(*words.split(), self.name)
            if last.status != 0 or (words == "check" and last.findings):
                said = last.trouble or str(last.findings or last.verdicts)
                self.outcome.fault(
                    "not settled", f"{words} {self.name}: {last.status}: {said[:200]}"
                )
                return
        tags = {one.tag.digest for one in found.read_tree(self.root, self.name).values() if one.tag}
        for torn in found.torn_leaves(self.root, self.name):
            # Those that no file needs may stay, as the leaves of a removed file do.
            if found.SIDECAR in torn or any(digest in torn for digest in tags):
                self.outcome.fault("torn leaves stay", torn)
        for draft in found.drafts(self.root, self.name):
            # A draft beside a file that is gone may stay, as its leaves do.
            if found.owner(draft) == draft or (self.root / found.owner(draft)).exists():
                self.outcome.fault("draft stays", draft)
