"""Tests of the work that mends, of what it may leave, and that each fault of it is found."""

import shutil
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import guest
import mend_judge
from judge import Outcome
from mending import damaged, expect_mendable, make_mending_plan, par2_sets, time_of
from model import Expected
from plan import Change, Pool, Slice, Step
from program import Answer

POOL = Pool("test")
A, B, HARM = Slice(0, 9_000), Slice(20_000, 9_000), Slice(50_000, 10)
CREATED = Change("create", "n0/x", A)
ROT = Change("rot", "n0/x", A, damage=HARM, damage_at=100)
STEPS = [
    Step(1, "n0", (CREATED, Change("create", "n0/y", B))),
    Step(2, "n0", verb=("tag",)),
    Step(3, "n0", verb=("parity", "make"), synced=True),
    Step(4, "n0", (ROT,)),
    Step(5, "n0", verb=("repair", "--yes")),
]


class Plans(unittest.TestCase):
    def test_a_seed_gives_the_same_plan_and_every_verb_is_used(self) -> None:
        self.assertEqual(make_mending_plan("one", 2), make_mending_plan("one", 2))
        steps = [step for seed in "abcdef" for step in make_mending_plan(seed, 2)]
        verbs = {step.verb for step in steps}
        for verb in ("repair --yes", "repair --yes --in-place", "parity make", "parity update"):
            self.assertIn(tuple(verb.split()), verbs)

    def test_damage_is_put_beneath_the_time_of_the_file(self) -> None:
        text = guest.script(STEPS, "ext4", 99)
        touch = f"touch -d @{time_of(A)} n0/x"
        self.assertEqual(text.count(touch), 2)
        self.assertIn(f"harm 50000 10 n0/x 100\n{touch}", text)
        step = Step(1, "q0", verb=("repair", "--yes"))
        self.assertIn("verb 1 repair --yes q0/set.par2\n", guest.script([step], "ext4", 99))

    def test_damage_changes_only_its_place(self) -> None:
        data, whole = damaged(POOL, ROT), POOL.bytes_of(A)
        self.assertEqual(data[:100] + data[110:], whole[:100] + whole[110:])
        self.assertEqual(data[100:110], POOL.bytes_of(HARM))

    @unittest.skipUnless(shutil.which("par2"), "needs par2")
    def test_a_set_is_made_for_each_tree_that_has_one(self) -> None:
        files = (Change("create", "q0/f1", A), Change("create", "q0/f2", B))
        steps = [Step(1, "q0", files), STEPS[0]]
        names = par2_sets(steps, POOL)
        self.assertIn("q0/set.par2", names)
        self.assertTrue(all(name.startswith("q0/") for name in names))


class Models(unittest.TestCase):
    def test_what_parity_has_is_what_was_synced(self) -> None:
        self.assertEqual(expect_mendable(STEPS, 3, 2, POOL).kept, {})
        self.assertEqual(expect_mendable(STEPS, 3, 3, POOL).kept, {"n0/x": A, "n0/y": B})

    def test_an_edit_ends_what_is_asked_and_damage_does_not(self) -> None:
        self.assertEqual(expect_mendable(STEPS, 5, 3, POOL).kept["n0/x"], A)
        edited = [*STEPS, Step(6, "n0", (Change("edit", "n0/x", B),))]
        self.assertNotIn("n0/x", expect_mendable(edited, 6, 3, POOL).kept)

    def test_a_damaged_file_is_not_protected_anew(self) -> None:
        steps = [STEPS[0], Step(2, "n0", (ROT,)), Step(3, "n0", verb=("parity", "make"))]
        self.assertEqual(expect_mendable(steps, 3, 3, POOL).kept, {"n0/y": B})


class Judged(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "n0").mkdir()
        self.put("x", POOL.bytes_of(A))
        self.put("y", POOL.bytes_of(B))

    def put(self, name: str, data: bytes) -> None:
        (self.root / "n0" / name).write_bytes(data)

    def faults(self, verdicts: dict[str, str], status: int, repaired: bool = True) -> list[str]:
        """The kinds of faults, if a check says this and a repair brings everything back or not."""
        outcome = Outcome()
        mendable = expect_mendable(STEPS, 5, 3, POOL)

        def run(*words: str) -> Answer:
            if words[0] == "repair" and repaired:
                self.put("x", POOL.bytes_of(A))
                self.put("y", POOL.bytes_of(B))
            return Answer(status if words[0] == "check" else 0, "", dict(verdicts))

        tree = mend_judge._Mended(
            self.root,
            "n0",
            SimpleNamespace(run=run),  # type: ignore[arg-type]
            POOL,
            Expected(),
            outcome,
            mendable,
        )
        tree.judge()
        return sorted({kind for kind, _ in outcome.faults})

    def test_original_and_damaged_files_that_come_back_are_no_fault(self) -> None:
        self.assertEqual(self.faults({}, 0), [])
        self.put("x", damaged(POOL, ROT))
        self.assertEqual(self.faults({"n0/x": "corrupt"}, 3), [])

    def test_damage_that_is_told_with_status_0_is_a_fault(self) -> None:
        self.put("x", damaged(POOL, ROT))
        self.assertEqual(self.faults({"n0/x": "corrupt"}, 0), ["false all-clear"])

    def test_a_file_that_does_not_come_back_was_lost(self) -> None:
        self.assertEqual(self.faults({}, 0, repaired=False), ["repair data lost"])

    def test_a_file_that_is_gone_was_lost_unless_somebody_removed_it(self) -> None:
        (self.root / "n0" / "x").unlink()
        self.assertEqual(self.faults({}, 1), ["lost bytes"])

    def test_a_file_that_nobody_made_is_a_fault(self) -> None:
        self.put("z", b"draft")
        self.assertEqual(self.faults({}, 0), ["wrong bytes"])


if __name__ == "__main__":
    unittest.main()
