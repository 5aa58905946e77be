"""Reads a log of writes and rebuilds what a disk with a volatile cache may hold after a cut.

The format is that of the kernel's dm-log-writes, which qemu's `blklogwrites` writes: a superblock,
then for each request one sector that describes it and its data, in the order of the requests.

A flush makes all earlier writes durable, a write with FUA itself. Of the others any may be lost;
a page of 4 KiB is written whole or not at all.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

MAGIC = 0x6A73_6677_7368_72
VERSION = 1
SUPERBLOCK = struct.Struct("<QQQI")
ENTRY = struct.Struct("<QQQQ")
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
PAGE_LEN_BYTES = 4096


class LogError(Exception):
    """The file is not a log of writes, or not one that can be replayed."""


@dataclass(frozen=True)
class Entry:
    """One request: `length` bytes to `offset`, whose data is at `data_at` in the log."""

    offset: int
    length: int
    flags: int
    data_at: int


def read_entries(log: BinaryIO) -> list[Entry]:
    """All requests of a log. A log that was cut ends with its last whole request."""
    log.seek(0)
    magic, version, _, sector = SUPERBLOCK.unpack(log.read(SUPERBLOCK.size))
    if magic != MAGIC or version != VERSION:
        raise LogError("not a log of writes of version 1")
    end = log.seek(0, 2)
    entries = []
    at = sector
    while at + sector <= end:
        log.seek(at)
        first, count, flags, _ = ENTRY.unpack(log.read(ENTRY.size))
        length = 0 if flags & DISCARD else count * sector
        if flags & DISCARD:
            raise LogError("the guest discarded blocks, which is not replayed")
        if (first, count, flags) == (0, 0, 0) or at + sector + length > end:
            break
        if not flags & MARK:
            entries.append(Entry(first * sector, length, flags, at + sector))
        at += sector + length
    return entries


class Disk:
    """A disk while its log is replayed: what is durable is in the image, the rest waits."""

    def __init__(self, image: BinaryIO, log: BinaryIO) -> None:
        self._image = image
        self._log = log
        self._waiting: list[Entry] = []

    @property
    def waiting(self) -> int:
        """How many writes came after the last flush."""
        return len(self._waiting)

    def take(self, entry: Entry) -> None:
        """The disk completes one more request."""
        if entry.flags & FLUSH:
            for earlier in self._waiting:
                self._write(self._image, earlier, 0, earlier.length)
            self._waiting.clear()
        if entry.length > 0:
            self._waiting.append(entry)

    def cut(self, target: BinaryIO, lost_share: float, source: random.Random) -> int:
        """Writes to a copy of the image what survives; returns how many pages are lost."""
        lost = 0
        for entry in self._waiting:
            for start, length in pages(entry):
                if not entry.flags & FUA and source.random() < lost_share:
                    lost += 1
                else:
                    self._write(target, entry, start, length)
        return lost

    def _write(self, target: BinaryIO, entry: Entry, start: int, length: int) -> None:
        self._log.seek(entry.data_at + start)
        target.seek(entry.offset + start)
        target.write(self._log.read(length))


def pages(entry: Entry) -> Iterator[tuple[int, int]]:
    """The spans of a write that are written whole or not at all: start within it, and length."""
    start = 0
    while start < entry.length:
        length = min(PAGE_LEN_BYTES - (entry.offset + start) % PAGE_LEN_BYTES, entry.length - start)
        yield start, length
        start += length


def data_of(log: BinaryIO, entry: Entry, limit: int) -> bytes:
    """The first bytes of what a request wrote."""
    log.seek(entry.data_at)
    return log.read(min(limit, entry.length))


def choose_cuts(entries: int, first: int, count: int, seed: str) -> list[int]:
    """Where to cut: `count` positions from `first` on, in ascending order, with repetitions."""
    source = random.Random(f"{seed}/cuts")
    return sorted(source.randrange(first, entries + 1) for _ in range(count))
