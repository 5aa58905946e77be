"""Tests that tags and leaves are read as specified, by the repository's frozen samples."""

import csv
import tempfile
import unittest
from pathlib import Path

import found
from found import Torn

FORMATS = Path(__file__).resolve().parents[3] / "testdata" / "formats"
CONTENTS = bytes(at % 251 for at in range(10_000))


def frozen_tag() -> tuple[bytes, dict[str, str]]:
    with (FORMATS / "tag" / "v1" / "tags.tsv").open() as file:
        row = next(one for one in csv.DictReader(file, delimiter="\t") if "sha256" in one.values())
    return bytes.fromhex(row["value"]), row


class Tags(unittest.TestCase):
    def test_the_frozen_tag_is_read(self) -> None:
        value, row = frozen_tag()
        tag = found.parse_tag(value)
        self.assertEqual((tag.digest, tag.length), (row["digest"], int(row["length"])))

    def test_any_flipped_or_missing_byte_is_noticed(self) -> None:
        value, _ = frozen_tag()
        for at in range(len(value)):
            flipped = value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :]
            self.assertRaises(Torn, found.parse_tag, flipped)
            self.assertRaises(Torn, found.parse_tag, value[:at])


class Leaves(unittest.TestCase):
    def setUp(self) -> None:
        self.sample = (FORMATS / "pages" / "v1" / "sample.steadfast-pages").read_bytes()

    def test_the_frozen_leaves_are_those_of_their_contents(self) -> None:
        found.check_leaves(self.sample, CONTENTS)
        found.check_leaves(self.sample, None)

    def test_empty_cut_and_damaged_leaves_are_torn(self) -> None:
        for damaged in (b"", self.sample[:100], self.sample[:-1], self.sample + b"x"):
            self.assertRaises(Torn, found.check_leaves, damaged, None)
        for at in (0, 24, 190, 200, len(self.sample) - 1):
            flipped = bytearray(self.sample)
            flipped[at] ^= 1
            self.assertRaises(Torn, found.check_leaves, bytes(flipped), None)

    def test_leaves_in_a_tree_are_found_and_drafts_are_told_apart(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            kept = root / "c0" / ".steadfast" / "pages" / "4096" / "ab"
            kept.mkdir(parents=True)
            (kept / "sha256-ab").write_bytes(b"")
            (kept / "draft-1-0").write_bytes(b"")
            (root / "c0" / "x").write_bytes(CONTENTS)
            (root / "c0" / "x.steadfast-pages").write_bytes(self.sample)
            (root / "c0" / "y.steadfast-pages.new").write_bytes(b"")
            torn = found.torn_leaves(root, "c0")
            self.assertEqual([one.split(":")[0][-9:] for one in torn], ["sha256-ab"])
            self.assertEqual(len(found.drafts(root, "c0")), 2)
            self.assertEqual(list(found.read_tree(root, "c0")), ["c0/x"])


if __name__ == "__main__":
    unittest.main()
