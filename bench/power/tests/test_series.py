"""Tests of what the guest boots from, of marks and of the record."""

import io
import subprocess
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path

import disk
import guest
from plan import Change, Pool, Slice, Step
from record import Record, RecordError, table
from run import parse

HEAD = {"seed": 1, "versions": {"sha256": "a"}}


class Guests(unittest.TestCase):
    def test_modules_come_after_those_they_need(self) -> None:
        text = "k/a.ko: k/b.ko k/c.ko\nk/b.ko: k/c.ko\nk/c.ko:\nk/d.ko:\n"
        self.assertEqual(guest.module_order(text, ["a", "builtin"]), ["k/c.ko", "k/b.ko", "k/a.ko"])

    def test_the_archive_has_the_layout_of_newc(self) -> None:
        data = guest.archive({"bin": (guest.FOLDER, b""), "bin/x": (guest.EXECUTABLE, b"12345")})
        self.assertEqual(len(data) % 512, 0)
        self.assertTrue(data.startswith(b"070701"))
        self.assertEqual(int(data[54:62], 16), 0, "a folder has no data")
        second = data.index(b"070701", 6)
        self.assertEqual(second % 4, 0)
        self.assertEqual(int(data[second + 54 : second + 62], 16), 5)
        self.assertIn(b"bin/x\0", data[second:])
        self.assertIn(b"TRAILER!!!\0", data)

    def test_a_step_is_marked_before_it_and_after_its_sync(self) -> None:
        steps = [
            Step(1, "s0", (Change("create", "s0/a/x", Slice(5, 7)),), synced=True),
            Step(2, "s0", verb=("tag",)),
        ]
        lines = guest.script(steps, "ext4", 99).splitlines()
        work = lines[lines.index("echo @ready") + 1 : lines.index("cd /")]
        self.assertEqual(
            work,
            [
                "mark 1 0",
                "mkdir -p s0/a",
                "put 5 7 s0/a/x",
                "sync",
                "mark 1 1",
                "mark 2 1",
                "verb 2 tag s0",
            ],
        )

    def test_the_work_is_a_script_that_a_shell_can_read(self) -> None:
        text = guest.script([Step(1, "s0", verb=("tag",))], "ext4", 99)
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)


class Marks(unittest.TestCase):
    def test_a_mark_is_read_and_an_empty_sector_is_the_beginning(self) -> None:
        self.assertEqual(disk.parse_mark(b"begun 12 synced 9".ljust(512)), (12, 9))
        self.assertEqual(disk.parse_mark(bytes(512)), (0, 0))


class Records(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "record.json"
        row = {"name": "cut-0", "fs": "xfs", "faults": [["lost tag", "x"], ["lost tag", "y"]]}
        Record(self.path, HEAD).add("cuts", row | {"counts": {"missing": 2}})

    def test_a_series_goes_on_where_it_ended(self) -> None:
        record = Record(self.path, HEAD)
        self.assertTrue(record.has("cuts", "cut-0"))
        self.assertFalse(record.has("cuts", "cut-1"))

    def test_another_seed_or_program_is_refused(self) -> None:
        for other in ({"seed": 2}, {"versions": {"sha256": "b"}}):
            self.assertRaises(RecordError, Record, self.path, HEAD | other)

    def test_the_table_counts_runs_and_not_files(self) -> None:
        text = table(Record(self.path, HEAD).data)
        for line in ("| run | 1 |", "| with a fault | 1 |", "| fault: lost tag | 1 |"):
            self.assertIn(line, text)
        self.assertIn("| count: missing | 1 |", text)


class CommandLines(unittest.TestCase):
    def test_a_folder_in_the_repository_is_refused(self) -> None:
        with self.assertRaises(SystemExit), redirect_stderr(io.StringIO()):
            parse(["--prefix", str(Path(__file__).parent / "scratch")])


class Pools(unittest.TestCase):
    def test_the_pool_has_the_bytes_that_the_guest_cuts(self) -> None:
        self.assertEqual(Pool("a").bytes_of(Slice(3, 4)), Pool("a").data[3:7])


if __name__ == "__main__":
    unittest.main()
