"""Tests that each fault is found: what a tree holds and what Steadfast says are both made up."""

import os
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import forge
import judge
import kept
import look
from judge import Before, Outcome
from look import Seen, Tag
from program import Run, forms
from record import table
from world import Item, Manner, World

A, B = b"a" * 9000, b"b" * 5000


class MadeUp(World):
    """A world of one file `x` without a volume."""

    def __init__(self, root: Path, catalogue: bool = False) -> None:
        self.base, self.root = root, os.fsencode(root)
        self.manner = Manner(0, catalogue, False, "", False, False)
        self.folders, self.copies, self.copy_seen = {}, [], {}
        self.at, self.past, self.left, self.met = {}, {}, {}, {}
        self.unmounted = False
        self.tree: dict[bytes, Seen] = {}

    def settled_room(self, relative: bytes) -> int:
        return self.tree[relative].room

    def look(self) -> dict[bytes, Seen]:
        return self.tree


def seen(data: bytes, **others: object) -> Seen:
    digest = look.digest_of(data)
    tag = Tag(look.digest_of(A), len(A), 5)
    one = Seen("file", digest, len(data), 0o640, (0, 0), 5, 12288, 1, (1, 2), (), tag, True)
    return replace(one, **others)  # type: ignore[arg-type]


class Judged(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.world = MadeUp(self.root)
        self.item = Item(seen(A), A, [], seen(A))
        self.world.know(b"x", self.item)

    def faults(
        self, old: Seen | None, new: Seen | None, words: str, status: int, output: bytes = b""
    ) -> list[str]:
        outcome = Outcome()
        self.world.tree = {} if new is None else {b"x": new}
        was = Before({} if old is None else {b"x": old}, {})
        run = Run((*words.split(), "tree"), status, output)
        judge.judge(self.world, was, run, outcome)
        return sorted({kind for kind, _ in outcome.faults})

    def keep(self, data: bytes) -> None:
        folder = self.root / ".steadfast" / "damaged" / "1"
        folder.mkdir(parents=True)
        (folder / "x").write_bytes(data)

    def test_a_repaired_file_is_no_fault_if_its_damaged_bytes_are_kept(self) -> None:
        nowhere = ["damaged bytes kept nowhere"]
        self.assertEqual(self.faults(seen(B), seen(A), "repair", 0), nowhere)
        self.keep(B)
        self.assertEqual(self.faults(seen(B), seen(A), "repair", 0), [])

    def test_other_bytes_and_other_verbs_are_faults(self) -> None:
        self.keep(B)
        self.assertEqual(self.faults(seen(B), seen(b"c"), "repair", 3), ["wrong bytes"])
        self.assertEqual(self.faults(seen(B), seen(A), "update", 0), ["wrong bytes"])
        self.assertEqual(self.faults(seen(A), None, "repair", 0), ["wrong bytes"])

    def test_an_edit_is_undone_only_if_that_is_told(self) -> None:
        self.keep(B)
        edited = seen(B, mtime_ns=9)
        self.item.now = edited
        self.assertEqual(self.faults(edited, seen(A), "repair", 0), ["edit undone untold"])
        self.item.now = edited
        self.assertEqual(self.faults(edited, seen(A), "repair", 3, b"tree/x edited"), [])

    def test_an_edit_is_undone_by_another_name_if_this_one_is_named(self) -> None:
        self.keep(B)
        self.item.now = seen(B, mtime_ns=9, links=2)
        self.world.know(b"y", self.item)
        for output, faults in ((b"tree/y also as x", []), (b"", ["edit undone untold"])):
            self.world.tree = dict.fromkeys((b"x", b"y"), seen(A, links=2))
            was = Before(dict.fromkeys((b"x", b"y"), self.item.now), {})
            outcome = Outcome()
            run = Run(("repair", "--to-tag", "tree/y"), 0, output)
            judge.judge(self.world, was, run, outcome)
            self.assertEqual([kind for kind, _ in outcome.faults], faults)
            self.item.now = seen(B, mtime_ns=9, links=2)

    def test_metadata_and_rights(self) -> None:
        self.keep(B)
        less = seen(A, mode=0o600)
        self.assertEqual(self.faults(seen(B), less, "repair", 0), ["metadata untold"])
        self.assertEqual(self.faults(seen(B), less, "repair", 3, b"x: mode"), [])
        more = seen(A, mode=0o644)
        self.assertEqual(self.faults(seen(B), more, "repair", 3, b"x"), ["rights given"])
        masked = seen(A, mode=0o600, attributes=(("system.posix_acl_access", b"one"),))
        self.assertEqual(self.faults(seen(B), masked, "repair", 3, b"x: mode"), [])
        listed = seen(A, attributes=(("system.posix_acl_access", b"another"),))
        self.assertEqual(self.faults(seen(B), listed, "repair", 3, b"x"), ["rights given"])
        large = seen(A, room=1 << 20)
        self.assertEqual(self.faults(seen(B), large, "repair", 0), ["metadata untold"])
        self.assertEqual(self.faults(seen(A), more, "tag", 0), ["metadata untold"])

    def test_a_missing_file_comes_back_without_set_id_bits(self) -> None:
        self.item.now = self.item.recorded = seen(A, mode=0o4755)
        self.world.deleted(b"x")
        full = seen(A, mode=0o4755)
        self.assertEqual(self.faults(None, full, "repair", 0), ["rights given"])
        # A second name of a file that is there gives nobody a right.
        outcome = Outcome()
        self.world.tree = {b"x": replace(full, links=2), b"y": replace(full, links=2)}
        was = Before({b"y": replace(full, links=1)}, {})
        judge.judge(self.world, was, Run(("repair", "tree"), 0, b""), outcome)
        self.assertEqual(outcome.faults, [])

    def test_only_contents_that_another_file_was_moved_over_may_be_in_earlier_parity(self) -> None:
        judgement = judge._Judgement(
            self.world, Before({}, {}), {}, Run((), 0, b""), Outcome(), False, None, False
        )
        self.world.deleted(b"x")
        self.assertFalse(judgement._is_overwritten(self.item))
        self.world.know(b"x", Item(seen(B), B))
        self.assertTrue(judgement._is_overwritten(self.item))

    def test_a_missing_file_comes_back_as_it_was(self) -> None:
        self.world.deleted(b"x")
        self.assertEqual(self.faults(None, seen(b"c"), "repair", 3), ["wrong bytes"])
        self.assertEqual(self.faults(None, seen(A), "repair", 0), [])

    def test_damage_gives_a_status(self) -> None:
        open_damage = ["status 0 with open damage"]
        self.assertEqual(self.faults(seen(B), seen(B), "check", 0), open_damage)
        self.assertEqual(self.faults(seen(B), seen(B), "check", 3), [])
        damaged = seen(A, tag=None)
        self.assertEqual(self.faults(damaged, damaged, "repair", 0), open_damage)
        self.world = MadeUp(self.root, catalogue=True)
        self.world.know(b"x", self.item)
        self.world.deleted(b"x")
        self.assertEqual(self.faults(None, None, "check", 0), open_damage)

    def test_who_looks_at_names_alone_says_nothing_of_damage(self) -> None:
        self.assertEqual(self.faults(seen(B), seen(B), "update --accept-missing", 0), [])
        words = "update --restore-tags --accept-missing"
        self.assertEqual(self.faults(seen(B), seen(B), words, 0), ["status 0 with open damage"])

    def test_a_file_is_revived_if_runs_could_know_it_under_its_new_name(self) -> None:
        saved = seen(B, inode=(1, 9), tag=None, has_tag=False)
        for there, expected in ((seen(A), True), (saved, False)):
            self.world = MadeUp(self.root, catalogue=True)
            item = Item(seen(A), A, [], seen(A))
            self.world.know(b"x", item)
            self.faults(seen(A), seen(A), "check", 0)
            self.world.moved(b"x", b"y")
            item.now = there
            self.world.tree = {b"x": seen(A, inode=(1, 3)), b"y": there}
            outcome = Outcome()
            run = Run(("repair", "tree"), 0, b"")
            judge.judge(self.world, Before({b"y": there}, {}), run, outcome)
            kinds = {kind for kind, _ in outcome.faults}
            self.assertEqual("revived under an old name" in kinds, expected)

    def test_drafts_and_crashes(self) -> None:
        self.world.at.clear()
        self.assertEqual(self.faults(None, seen(A), "update", 0), ["draft tagged"])
        self.assertEqual(self.faults(seen(A), seen(A), "check", 101), ["crash"])


class Kept(unittest.TestCase):
    def test_a_journal_gives_the_former_contents(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "x"
            file.write_bytes(B)
            folder = Path(name) / ".steadfast" / "damaged" / "1"
            folder.mkdir(parents=True)
            _, text = forge.journal(os.fsencode(file), b"x", A)
            (folder / "x.pages").write_bytes(text)
            file.write_bytes(A)
            self.assertIn(look.digest_of(B), kept.kept(os.fsencode(name)))


class Said(unittest.TestCase):
    def test_names_are_found_as_they_are_printed(self) -> None:
        self.assertIn(b"a\\xff\\n", forms(b"a\xff\n"))
        self.assertTrue(Run(("repair",), 3, b"corrupt  tree/a\\xff: 1 page").tells(b"a\xff"))
        self.assertFalse(Run(("repair",), 0, b"tree/a").tells(b"a"))

    def test_the_table_counts_a_fault_once_for_each_history(self) -> None:
        row = {"name": "races-1", "kind": "races", "fs": "xfs", "counts": {"mended": 3}}
        text = table({"rows": [{**row, "faults": [("crash", "x"), ("crash", "y")]}]})
        self.assertIn("| fault: crash | 1 |", text)
        self.assertIn("| count: mended | 3 |", text)


if __name__ == "__main__":
    unittest.main()
