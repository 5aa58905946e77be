"""Tests that the plan is the same each time and that the model allows what a cut may leave."""

import unittest

from model import File, expect
from plan import Change, Pool, Slice, Step, make_plan

A, B, C = Slice(0, 10), Slice(10, 5_000), Slice(6_000, 20)
CREATED = Step(1, "c0", (Change("create", "c0/a/x", A), Change("create", "c0/a/y", A)))
TAGGED = Step(2, "c0", verb=("tag",))


class Plans(unittest.TestCase):
    def test_a_seed_gives_the_same_plan(self) -> None:
        self.assertEqual(make_plan("one", 2), make_plan("one", 2))
        self.assertNotEqual(make_plan("one", 2), make_plan("two", 2))

    def test_steps_are_numbered_and_every_verb_is_used(self) -> None:
        steps = [step for seed in "abcdef" for step in make_plan(seed, 2)]
        self.assertEqual([step.number for step in make_plan("a", 2)], list(range(1, 43)))
        verbs = {step.verb for step in steps if step.verb}
        pages = {("tag", "--pages"), ("tag", "--pages", "--sidecar")}
        self.assertEqual(verbs, pages | {("init",), ("tag",), ("update",)})

    def test_a_plan_can_be_carried_out(self) -> None:
        steps = make_plan("one", 3)
        expected = expect(steps, len(steps), len(steps))
        self.assertEqual(expected.catalogued, {"c0", "c1", "c2"})
        self.assertTrue(all(expected.is_exact(path) for path in expected.synced))

    def test_contents_are_those_of_the_pool(self) -> None:
        pool = Pool("one")
        self.assertEqual(len(pool.bytes_of(B)), 5_000)
        self.assertNotEqual(pool.digest(A), pool.digest(C))


class Models(unittest.TestCase):
    def test_what_was_synced_is_exact(self) -> None:
        expected = expect([CREATED, TAGGED], 2, 2)
        self.assertEqual(expected.synced["c0/a/x"], File(A, A))
        self.assertTrue(expected.is_exact("c0/a/x"))
        self.assertTrue(expected.keeps_tag("c0/a/x"))

    def test_an_edit_under_way_keeps_the_tag_and_not_the_contents(self) -> None:
        edited = Step(3, "c0", (Change("edit", "c0/a/x", B),))
        expected = expect([CREATED, TAGGED, edited], 3, 2)
        self.assertFalse(expected.is_exact("c0/a/x"))
        self.assertTrue(expected.keeps_tag("c0/a/x"))
        self.assertTrue(expected.is_exact("c0/a/y"))
        self.assertEqual(expected.versions["c0/a/x"], {A, B})

    def test_a_replacement_drops_the_tag_and_explains_that(self) -> None:
        replaced = Step(3, "c0", (Change("replace", "c0/a/x", B),))
        for synced in (2, 3):
            expected = expect([CREATED, TAGGED, replaced], 3, synced)
            self.assertFalse(expected.keeps_tag("c0/a/x"))
            self.assertTrue(expected.explains_lost_tag("c0/a/x"))
            self.assertFalse(expected.explains_lost_tag("c0/a/y"))

    def test_a_verb_under_way_makes_its_tree_busy_and_promises_nothing(self) -> None:
        expected = expect([CREATED, TAGGED], 2, 1)
        self.assertEqual(expected.busy, {"c0"})
        self.assertFalse(expected.keeps_tag("c0/a/x"))

    def test_tag_leaves_edited_files_and_update_does_not(self) -> None:
        edited = Step(3, "c0", (Change("edit", "c0/a/x", B), Change("create", "c0/a/z", C)))
        for verb, tag in (("tag", A), ("update", B)):
            steps = [CREATED, TAGGED, edited, Step(4, "c0", verb=(verb,))]
            files = expect(steps, 4, 4).synced
            self.assertEqual(files["c0/a/x"].tag, tag)
            self.assertEqual(files["c0/a/z"].tag, C)

    def test_a_moved_file_takes_its_tag_and_its_history_along(self) -> None:
        moved = Step(3, "c0", (Change("move", "c0/a/x", to="c0/b/w"),))
        expected = expect([CREATED, TAGGED, moved], 3, 3)
        self.assertEqual(expected.synced["c0/b/w"], File(A, A))
        self.assertEqual(expected.versions["c0/b/w"], {A})
        self.assertEqual(expected.left, {"c0/a/x"})


if __name__ == "__main__":
    unittest.main()
