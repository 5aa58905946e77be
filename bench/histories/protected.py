"""Reads parity files, and computes which lost files could be rebuilt from them.

Format: docs/formats/parity.md. No code of Steadfast is used.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PAGE = 4096
SHARD = 16
CONTENT = 4092
RUN = 8 << 20
RECORD = struct.Struct("<HBBHHIIIIQQQ")
MAGIC = b"steadfast-parity"
PARITY = b".steadfast/parity"
VERSIONS = (1, 2)


class Unknown(Exception):
    """A parity file of a version that this reader does not know."""


def _table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F6_3B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """The check value of blocks."""
    value = 0xFFFF_FFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFF_FFFF


@dataclass(frozen=True)
class Member:
    """A file of a set, or the part of it that is there. Its record is from `at` to `end`."""

    path: bytes
    digest: str
    length: int
    mode: int
    first: int
    count: int
    page: int
    offset: int
    distributed: int
    at: int
    end: int


@dataclass(frozen=True)
class ParitySet:
    """What the index of one file says, and how many parity pages of each column are whole."""

    members: tuple[Member, ...]
    pages: tuple[bytes, ...]
    whole: tuple[int, ...]


Signature = tuple[bytes, int, int, int]
READ_MAX = 64
_READ: dict[Signature, ParitySet | None] = {}


def column(page: int) -> int:
    """The column of a page, of data and of parity alike."""
    return (page + page // SHARD) % SHARD


def read_set(data: bytes) -> ParitySet | None:
    """Reads a parity file; None if it is too damaged to be used."""
    for at in (0, len(data) - PAGE):
        header = data[at : at + PAGE]
        if len(header) == PAGE and header.startswith(MAGIC):
            if crc32c(bytes(20) + header[:CONTENT]) != int.from_bytes(header[CONTENT:], "little"):
                continue
            if header[16] not in VERSIONS:
                raise Unknown(f"a parity file of version {header[16]}")
            break
    else:
        return None
    pages, shards, length = struct.unpack_from("<IIQ", header, 24)
    blocks = -(-length // CONTENT)
    for first in (PAGE, len(data) - PAGE - blocks * PAGE):
        index = b"".join(
            data[first + n * PAGE : first + n * PAGE + CONTENT] for n in range(blocks)
        )[:length]
        if hashlib.sha256(index).digest() == header[40:72]:
            return _parse(index, pages, shards, data[PAGE + blocks * PAGE :])
    return None


def _parse(index: bytes, pages: int, shards: int, rest: bytes) -> ParitySet:
    members = tuple(read_members(index))
    at = members[-1].end if members else 4
    digests = tuple(index[at + 20 * n : at + 20 * n + 16] for n in range(pages))
    at += 20 * pages
    whole = [0] * SHARD
    for number in range(shards * SHARD):
        page = rest[number * PAGE : (number + 1) * PAGE]
        if hashlib.sha256(page).digest()[:16] == index[at + 16 * number : at + 16 * number + 16]:
            whole[column(number)] += 1
    return ParitySet(members, digests, tuple(whole))


def read_members(index: bytes) -> Iterator[Member]:
    """The records of an index, in its order."""
    at = 4
    for _ in range(struct.unpack_from("<I", index)[0]):
        size, tag_len, flags, spread, offset, page, mode, _, _, length, first, count = (
            RECORD.unpack_from(index, at)
        )
        name = at + RECORD.size
        tag = index[name + size : name + size + tag_len]
        end = name + size + tag_len
        if flags & 1:
            end += 4 + struct.unpack_from("<I", index, end)[0]
        yield Member(
            index[name : name + size],
            tag[24:56].hex(),
            length,
            mode,
            first,
            count,
            page,
            offset,
            spread,
            at,
            end,
        )
        at = end


def read_folder(folder: bytes) -> dict[Signature, ParitySet]:
    """All sets in a folder of parity that can be read, each by what shows that it is unchanged."""
    sets = {}
    for path in parity_files(folder):
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                signature = (path, status.st_ino, status.st_ctime_ns, status.st_size)
                if signature not in _READ:
                    if len(_READ) > READ_MAX:
                        _READ.clear()
                    _READ[signature] = read_set(file.read())
        except OSError:
            continue
        one = _READ[signature]
        if one is not None:
            sets[signature] = one
    return sets


def parity_files(folder: bytes) -> list[bytes]:
    """The paths of the parity files in a folder of parity, except those of earlier contents."""
    found = []
    for base, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != b"earlier"]
        found += [os.path.join(base, name) for name in names if is_set(os.path.join(base, name))]
    return sorted(found)


def is_set(path: bytes) -> bool:
    """Whether a file has the name of a parity file."""
    name = os.path.basename(path)
    return len(name) >= 32 and all(letter in b"0123456789abcdef" for letter in name[:32])


def rebuildable(root: bytes, sets: Iterable[ParitySet]) -> set[str]:
    """The digests of files of which the parity could rebuild every page if the file was lost."""
    covered: dict[str, int] = defaultdict(int)
    lengths: dict[str, int] = {}
    for one in sets:
        lost = _lost_pages(root, one)
        for member in one.members:
            lengths[member.digest] = member.length
            span = range(member.page, member.page + -(-(member.offset + member.count) // PAGE))
            all_lost = lost | (set(span) if member.count else set())
            if _can(one, all_lost, span):
                covered[member.digest] = max(covered[member.digest], member.count)
            if member.distributed > 1:
                # Longer than a set: no history makes such files.
                covered[member.digest] = member.length
    return {digest for digest, count in covered.items() if count >= lengths[digest]}


def _can(one: ParitySet, lost: set[int], span: range) -> bool:
    needed = [0] * SHARD
    for page in lost:
        needed[column(page)] += 1
    return all(needed[column(page)] <= one.whole[column(page)] for page in span)


def _lost_pages(root: bytes, one: ParitySet) -> set[int]:
    """Pages that are not, or not only, what the files of the tree have now."""
    there: dict[int, bytearray] = {}
    for member in one.members:
        try:
            with open(os.path.join(root, member.path), "rb") as file:
                file.seek(member.first)
                data = file.read(member.count)
        except OSError:
            data = b""
        data = data.ljust(member.count, b"\0")
        at = member.page * PAGE + member.offset
        for start in range(0, len(data), PAGE):
            part = data[start : start + PAGE]
            page, inside = divmod(at + start, PAGE)
            there.setdefault(page, bytearray(PAGE))[inside : inside + len(part)] = part
    return {
        page
        for page, digest in enumerate(one.pages)
        if hashlib.sha256(there.get(page, bytes(PAGE))).digest()[:16] != digest
    }
