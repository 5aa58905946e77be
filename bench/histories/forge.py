"""Makes what a stranger can plant: parity files that lie, and journals of repairs.

Formats: docs/formats/parity.md and docs/reference/repair.md. Check values and digests are right, so that
only what the program refuses on purpose is refused.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable

from protected import CONTENT, PAGE, RECORD, Member, crc32c, read_members

Alter = Callable[[bytearray, Member], None]


def altered_set(data: bytes, alter: Alter) -> tuple[bytes, bytes]:
    """A parity file whose records of members were changed in place; its name, and its bytes."""
    length = struct.unpack_from("<Q", data, 32)[0]
    blocks = -(-length // CONTENT)
    start = PAGE
    index = bytearray(
        b"".join(data[start + n * PAGE : start + n * PAGE + CONTENT] for n in range(blocks))[
            :length
        ]
    )
    for member in list(read_members(bytes(index))):
        alter(index, member)
    digest = hashlib.sha256(index).digest()
    padded = bytes(index).ljust(blocks * CONTENT, b"\0")
    fresh = b""
    for number in range(blocks):
        content = padded[number * CONTENT : (number + 1) * CONTENT]
        seed = digest[:16] + number.to_bytes(4, "little")
        fresh += content + crc32c(seed + content).to_bytes(4, "little")
    header = data[:40] + digest + data[72:CONTENT]
    header += crc32c(bytes(20) + header).to_bytes(4, "little")
    parity = data[PAGE + blocks * PAGE : len(data) - PAGE - blocks * PAGE]
    return digest[:16].hex().encode(), header + fresh + parity + fresh + header


def give_rights(index: bytearray, member: Member) -> None:
    """Set-ID bits, and root as owner and group."""
    struct.pack_into("<III", index, member.at + 12, 0o104777, 0, 0)


def name_own_folder(index: bytearray, member: Member) -> None:
    """`Xsteadfast/…` becomes `.steadfast/…`."""
    if member.path.startswith(b"Xsteadfast/"):
        at = member.at + RECORD.size
        index[at : at + 1] = b"."


def journal(target: bytes, relative: bytes, new: bytes) -> tuple[bytes, bytes]:
    """A journal that turns a file into other contents; its name, and its bytes."""
    with open(target, "rb") as file:
        old = file.read()
    status = os.stat(target)
    seconds, nanoseconds = divmod(status.st_mtime_ns, 10**9)
    head = struct.pack(
        "<8sQQQqII",
        b"STDFRPR1",
        status.st_ino,
        len(old),
        len(new),
        seconds,
        nanoseconds,
        len(relative),
    )
    text = head + relative
    for at in range(0, max(len(old), len(new)), PAGE):
        before, after = old[at : at + PAGE], new[at : at + PAGE]
        text += struct.pack("<QI", at, len(before)) + before
        text += struct.pack("<I", len(after)) + after
    text += b"\xff" * 8
    return b"%016x.pages" % status.st_ino, text + hashlib.sha256(text).digest()
