"""Tests that each fault is found: what a disk holds and what Steadfast says are both made up."""

import hashlib
import os
import struct
import tempfile
import unittest
from pathlib import Path

import found
import judge
from judge import Outcome
from model import expect
from plan import Change, Pool, Slice, Step
from program import Answer, read_answer

POOL = Pool("test")
A, B = Slice(0, 10), Slice(10, 10)
STEPS = [
    Step(1, "s0", (Change("create", "s0/x", A),)),
    Step(2, "s0", verb=("tag",)),
    Step(3, "s0", (Change("edit", "s0/x", B),)),
]


def tag_of(contents: Slice) -> bytes:
    head = struct.pack("<BBQ", 1, 1, contents.length) + bytes(14)
    value = head + bytes.fromhex(POOL.digest(contents))
    return value + found.crc32c(value).to_bytes(4, "little")


class Judged(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(dir=Path(__file__).parent)
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "s0").mkdir()
        self.file = self.root / "s0" / "x"

    def write(self, data: bytes, tag: bytes | None) -> None:
        self.file.write_bytes(data)
        if tag is not None:
            os.setxattr(self.file, found.ATTRIBUTE, tag)

    def faults(self, begun: int, verdict: str, stored: Slice | None, status: int) -> list[str]:
        """The kinds of faults on the disk and in one answer about the file."""
        outcome = Outcome()
        tree = judge.TreeJudge(self.root, "s0", None, POOL, expect(STEPS, begun, 2), outcome)
        before = found.read_tree(self.root, "s0")
        stored_by = {} if stored is None else {"s0/x": POOL.digest(stored)}
        tree._judge_disk(before)
        tree._judge_answer(before, Answer(status, "", {"s0/x": verdict}, stored_by))
        return sorted({kind for kind, _ in outcome.faults})

    def test_an_intact_file_is_no_fault(self) -> None:
        self.write(POOL.bytes_of(A), tag_of(A))
        self.assertEqual(self.faults(2, "intact", A, 0), [])

    def test_an_edit_under_way_may_leave_anything_but_a_wrong_verdict(self) -> None:
        self.write(b"", tag_of(A))
        self.assertEqual(self.faults(3, "corrupt", A, 3), [])
        self.assertEqual(self.faults(3, "modified", A, 1), [])
        self.assertEqual(self.faults(3, "intact", A, 0), ["wrong intact"])
        self.assertEqual(self.faults(3, "corrupt", A, 0), ["false all-clear"])

    def test_synced_bytes_and_tags_must_be_there(self) -> None:
        self.write(POOL.bytes_of(B), tag_of(A))
        self.assertEqual(self.faults(2, "corrupt", A, 3), ["lost bytes", "wrong corrupt"])
        self.write(POOL.bytes_of(A), None)
        os.removexattr(self.file, found.ATTRIBUTE)
        self.assertEqual(self.faults(2, "untagged", None, 0), ["lost tag"])

    def test_a_half_written_tag_is_a_fault(self) -> None:
        self.write(POOL.bytes_of(A), tag_of(A)[:-1])
        self.assertEqual(self.faults(2, "unreadable", None, 2), ["torn tag", "unreadable"])

    def test_corrupt_is_not_said_of_the_right_bytes(self) -> None:
        self.write(POOL.bytes_of(A), tag_of(A))
        self.assertEqual(self.faults(2, "corrupt", A, 3), ["wrong corrupt"])
        self.assertEqual(self.faults(2, "missing", A, 1), ["wrong missing"])

    def test_a_tag_of_bytes_that_never_were_is_a_fault(self) -> None:
        self.write(POOL.bytes_of(A), tag_of(Slice(500, 10)))
        kinds = self.faults(2, "corrupt", Slice(500, 10), 3)
        self.assertIn("tag of other contents", kinds)

    def test_sidecars_are_not_data(self) -> None:
        self.write(POOL.bytes_of(A), tag_of(A))
        outcome = Outcome()
        tree = judge.TreeJudge(self.root, "s0", None, POOL, expect(STEPS, 2, 2), outcome)
        before = found.read_tree(self.root, "s0")
        verdicts = {"s0/x": "intact", "s0/x.steadfast-pages": "intact", "s0/y.steadfast-pages": "x"}
        tree._judge_answer(before, Answer(0, "", verdicts, {"s0/x": POOL.digest(A)}))
        self.assertEqual([kind for kind, _ in outcome.faults], ["leaves taken for data"])


class Scripted:
    """A program whose statuses are given by verb; `check` refuses until one of them ended with 0."""

    def __init__(self, trouble: str, **statuses: int) -> None:
        self._trouble = trouble
        self._statuses = statuses
        self._cured = False

    def run(self, *words: str) -> Answer:
        verb = "rebuild" if "--rebuild" in words else words[0]
        if verb == "check":
            return Answer(0, "") if self._cured else Answer(2, self._trouble)
        self._cured = self._cured or self._statuses[verb] == 0
        return Answer(self._statuses[verb], "")


class Refusals(unittest.TestCase):
    def refused(self, trouble: str, **statuses: int) -> tuple[list[str], Outcome]:
        outcome = Outcome()
        program = Scripted(trouble, **statuses)
        judge.TreeJudge(Path(), "c0", program, POOL, expect(STEPS, 2, 2), outcome)._check({})
        return [kind for kind, _ in outcome.faults], outcome

    def test_a_plain_init_that_is_named_is_no_fault(self) -> None:
        faults, outcome = self.refused("/mnt/c0: type `steadfast init c0`", init=0)
        self.assertEqual(faults, [])
        self.assertEqual(outcome.counts, {"check refused": 1, "cured by init": 1})
        self.assertEqual(outcome.said, ["TREE: type `steadfast init TREE`"])

    def test_advice_to_rebuild_where_init_helps_is_wrong(self) -> None:
        self.assertEqual(self.refused("type `init --rebuild`", init=0)[0], ["wrong advice"])

    def test_a_catalogue_that_only_a_rebuild_cures_is_ahead_of_its_files(self) -> None:
        self.assertEqual(self.refused("it is empty", init=2, rebuild=0)[0], ["catalogue ahead"])
        self.assertEqual(self.refused("it is empty", init=2, rebuild=2)[0], ["catalogue not cured"])

    def test_a_tree_without_files_whose_catalogue_is_usable_is_empty(self) -> None:
        faults, outcome = self.refused("", init=2, rebuild=2)
        self.assertEqual(faults, [])
        self.assertEqual(outcome.counts, {"empty": 1})


class Answers(unittest.TestCase):
    def test_lines_are_collected_by_path(self) -> None:
        digest = hashlib.sha256(b"").hexdigest()
        answer = read_answer(
            1,
            f'{{"path":"a","verdict":"intact","stored":{{"digest":"{digest}"}}}}\n'
            '{"path":"a","finding":"tag lost","detail":"gone"}\n'
            '{"summary":{"verb":"check"}}\n',
            "",
        )
        self.assertEqual(answer.verdicts, {"a": "intact"})
        self.assertEqual(answer.stored, {"a": digest})
        self.assertEqual(answer.findings, {"a": {"tag lost"}})


if __name__ == "__main__":
    unittest.main()
