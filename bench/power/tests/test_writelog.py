"""Tests of the log's parser, and of what survives a cut of a volatile cache."""

import io
import random
import unittest

import writelog
from writelog import DISCARD, ENTRY, FLUSH, FUA, MAGIC, SUPERBLOCK, Disk, Entry, LogError

SECTOR = 512
PAGE = 4096


def log_of(*requests: tuple[int, bytes, int]) -> io.BytesIO:
    """A log of requests: offset in sectors, data, flags."""
    data = SUPERBLOCK.pack(MAGIC, 1, len(requests), SECTOR).ljust(SECTOR, b"\0")
    for sector, written, flags in requests:
        data += ENTRY.pack(sector, len(written) // SECTOR, flags, 0).ljust(SECTOR, b"\0") + written
    return io.BytesIO(data)


def page(letter: bytes) -> bytes:
    return letter * PAGE


def after_cut(log: io.BytesIO, lost_share: float, image: bytes = bytes(4 * PAGE)) -> bytes:
    """The disk after all requests of a log and a cut."""
    durable = io.BytesIO(image)
    disk = Disk(durable, log)
    for entry in writelog.read_entries(log):
        disk.take(entry)
    state = io.BytesIO(durable.getvalue())
    disk.cut(state, lost_share, random.Random(1))
    return state.getvalue()


class Logs(unittest.TestCase):
    def test_requests_are_read_in_their_order(self) -> None:
        log = log_of((8, page(b"a"), 0), (0, b"", FLUSH), (16, page(b"b"), FUA))
        entries = writelog.read_entries(log)
        self.assertEqual(
            [(one.offset, one.length, one.flags) for one in entries],
            [
                (PAGE, PAGE, 0),
                (0, 0, FLUSH),
                (2 * PAGE, PAGE, FUA),
            ],
        )
        self.assertEqual(writelog.data_of(log, entries[2], 3), b"bbb")

    def test_a_cut_log_ends_with_its_last_whole_request(self) -> None:
        whole = log_of((8, page(b"a"), 0), (16, page(b"b"), 0)).getvalue()
        self.assertEqual(len(writelog.read_entries(io.BytesIO(whole[:-1]))), 1)
        self.assertEqual(len(writelog.read_entries(io.BytesIO(whole + bytes(PAGE)))), 2)

    def test_anything_else_is_refused(self) -> None:
        self.assertRaises(LogError, writelog.read_entries, io.BytesIO(bytes(PAGE)))
        self.assertRaises(LogError, writelog.read_entries, log_of((0, b"", DISCARD)))


class Cuts(unittest.TestCase):
    def test_what_was_flushed_survives_and_the_rest_is_lost(self) -> None:
        log = log_of((0, page(b"a"), 0), (0, b"", FLUSH), (8, page(b"b"), 0))
        self.assertEqual(after_cut(log, 1.0), page(b"a") + bytes(3 * PAGE))

    def test_nothing_is_lost_at_a_share_of_nothing(self) -> None:
        log = log_of((0, page(b"a"), 0), (8, page(b"b"), 0))
        self.assertEqual(after_cut(log, 0.0), page(b"a") + page(b"b") + bytes(2 * PAGE))

    def test_a_write_with_fua_survives_in_its_place(self) -> None:
        log = log_of((0, page(b"a") + page(b"b"), 0), (0, page(b"c"), FUA))
        self.assertEqual(after_cut(log, 1.0), page(b"c") + bytes(3 * PAGE))
        self.assertEqual(after_cut(log, 0.0), page(b"c") + page(b"b") + bytes(2 * PAGE))

    def test_a_flush_keeps_the_order_of_writes(self) -> None:
        log = log_of((0, page(b"a"), 0), (0, page(b"b"), FUA), (0, page(b"c"), 0), (0, b"", FLUSH))
        self.assertEqual(after_cut(log, 1.0)[:PAGE], page(b"c"))

    def test_pages_are_lost_one_by_one_and_never_in_part(self) -> None:
        state = after_cut(log_of((0, b"".join(map(page, (b"a", b"b", b"c", b"d"))), 0)), 0.5)
        spans = {state[at : at + PAGE] for at in range(0, 4 * PAGE, PAGE)}
        self.assertTrue(spans <= {page(one) for one in (b"a", b"b", b"c", b"d", b"\0")})
        self.assertIn(page(b"\0"), spans)
        self.assertGreater(len(spans), 1)

    def test_a_write_is_divided_at_the_pages_of_the_disk(self) -> None:
        spans = list(writelog.pages(Entry(PAGE - SECTOR, PAGE + 2 * SECTOR, 0, 0)))
        self.assertEqual(spans, [(0, SECTOR), (SECTOR, PAGE), (SECTOR + PAGE, SECTOR)])

    def test_cuts_are_ascending_and_those_of_the_seed(self) -> None:
        cuts = writelog.choose_cuts(100, 7, 50, "seed")
        self.assertEqual(cuts, sorted(cuts))
        self.assertTrue(7 <= cuts[0] and cuts[-1] <= 100)
        self.assertEqual(cuts, writelog.choose_cuts(100, 7, 50, "seed"))


if __name__ == "__main__":
    unittest.main()
