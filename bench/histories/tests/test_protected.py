"""Tests that parity files are read as specified, by sets that are made here."""

import hashlib
import struct
import tempfile
import unittest
from pathlib import Path

import forge
import protected
from protected import CONTENT, PAGE, RECORD, SHARD, crc32c

DATA = bytes(at % 251 for at in range(6000))


def tag_of(data: bytes) -> bytes:
    head = struct.pack("<BBQ", 1, 1, len(data)) + bytes(14)
    value = head + hashlib.sha256(data).digest()
    return value + crc32c(value).to_bytes(4, "little")


def made_set(path: bytes = b"x", version: int = 2) -> bytes:
    """A set of one file of two pages, with one shard of parity pages of made-up contents."""
    tag = tag_of(DATA)
    numbers = (len(path), len(tag), int(version == 2), 1, 0, 0, 0o100644, 7, 8, len(DATA), 0, len(DATA))
    index = struct.pack("<I", 1) + RECORD.pack(*numbers) + path + tag
    index += struct.pack("<I", 9) + bytes(9) if version == 2 else b""
    for at in (0, PAGE):
        page = DATA[at : at + PAGE].ljust(PAGE, b"\0")
        index += hashlib.sha256(page).digest()[:16] + bytes(4)
    parity = [bytes([number]) * PAGE for number in range(SHARD)]
    index += b"".join(hashlib.sha256(page).digest()[:16] for page in parity)
    digest = hashlib.sha256(index).digest()
    content = index.ljust(CONTENT, b"\0")
    block = content + crc32c(digest[:16] + bytes(4) + content).to_bytes(4, "little")
    header = b"steadfast-parity" + bytes([version, 12, 4, 7])
    header += struct.pack("<IIIQ", 30, 2, 1, len(index)) + digest + bytes(24)
    header = header.ljust(CONTENT, b"\0")
    header += crc32c(bytes(20) + header).to_bytes(4, "little")
    return header + block + b"".join(parity) + block + header


class Sets(unittest.TestCase):
    def test_the_members_and_whole_pages_are_read(self) -> None:
        for version in protected.VERSIONS:
            one = protected.read_set(made_set(version=version))
            assert one is not None
            member = one.members[0]
            self.assertEqual((member.path, member.mode, member.length), (b"x", 0o100644, 6000))
            self.assertEqual(member.digest, hashlib.sha256(DATA).hexdigest())
            self.assertEqual(one.whole, (1,) * SHARD)

    def test_a_damaged_header_or_index_is_read_from_its_copy(self) -> None:
        whole = protected.read_set(made_set())
        for at in (20, PAGE + 10):
            data = bytearray(made_set())
            data[at] ^= 1
            self.assertEqual(protected.read_set(bytes(data)), whole)
        both = bytearray(made_set())
        both[20] ^= 1
        both[-PAGE + 20] ^= 1
        self.assertIsNone(protected.read_set(bytes(both)))

    def test_another_version_is_not_taken_for_damage(self) -> None:
        other = made_set(version=99)
        self.assertRaises(protected.Unknown, protected.read_set, other)
        data = bytearray(made_set())
        data[16] = 99
        self.assertEqual(protected.read_set(bytes(data)), protected.read_set(made_set()))

    def test_a_lost_file_counts_as_long_as_its_columns_are_strong_enough(self) -> None:
        digest = hashlib.sha256(DATA).hexdigest()
        data = bytearray(made_set())
        with tempfile.TemporaryDirectory() as name:
            root = name.encode()
            for is_there in (True, False):
                if is_there:
                    (Path(name) / "x").write_bytes(DATA)
                else:
                    (Path(name) / "x").unlink()
                one = protected.read_set(bytes(data))
                assert one is not None
                self.assertEqual(protected.rebuildable(root, [one]), {digest})
            # The parity page of the column of the second page.
            data[2 * PAGE + PAGE] ^= 1
            one = protected.read_set(bytes(data))
            assert one is not None
            self.assertEqual(protected.rebuildable(root, [one]), set())

    def test_an_altered_set_is_whole_and_says_what_was_put_in(self) -> None:
        name, data = forge.altered_set(made_set(b"Xsteadfast/x"), forge.name_own_folder)
        one = protected.read_set(data)
        assert one is not None
        self.assertEqual([member.path for member in one.members], [b".steadfast/x"])
        name, data = forge.altered_set(made_set(), forge.give_rights)
        one = protected.read_set(data)
        assert one is not None
        self.assertEqual([member.mode for member in one.members], [0o104777])
        self.assertEqual(len(name), 32)


if __name__ == "__main__":
    unittest.main()
