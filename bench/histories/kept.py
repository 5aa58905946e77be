"""Finds the contents that Steadfast keeps of what it replaced, by the digest of the whole file.

Formats: docs/reference/repair.md. No code of Steadfast is used.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

import look

DAMAGED = b".steadfast/damaged"
MAGIC = b"STDFRPR"
HEAD = struct.Struct("<8sQQQqII")
END = b"\xff" * 8


def kept(root: bytes) -> set[str]:
    """The digests of all files that are kept, whole or as a journal of their former pages."""
    found = set()
    for path in _files(root):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            # It was rotten on a file system that has check values of its own, and is still.
            continue
        found.add(look.digest_of(data))
        if data.startswith(MAGIC):
            # Its path begins at the tree that it is in, which may be a folder of this one.
            former = former_contents(path.partition(b"/.steadfast/")[0], data)
            if former is not None:
                found.add(look.digest_of(former))
    return found


def _files(root: bytes) -> Iterator[bytes]:
    """Every file in a folder of damaged files, at any depth of the tree."""
    for base, folders, names in os.walk(root):
        inside = b"/" + DAMAGED in base[len(root) :] + b"/"
        if b".steadfast" in base and DAMAGED not in base:
            folders[:] = [name for name in folders if name == b"damaged"]
        for name in names if inside else ():
            if os.path.isfile(os.path.join(base, name)):
                yield os.path.join(base, name)


def former_contents(root: bytes, journal: bytes) -> bytes | None:
    """What a file had before the repair that wrote this journal; None if that cannot be read."""
    try:
        _, _, length, _, _, _, size = HEAD.unpack_from(journal)
        at = HEAD.size + size
        with open(os.path.join(root, journal[HEAD.size : at]), "rb") as file:
            data = bytearray(file.read())
        data = data[:length].ljust(length, b"\0")
        while journal[at : at + 8] != END:
            offset, old = struct.unpack_from("<QI", journal, at)
            at += 12
            data[offset : offset + old] = journal[at : at + old]
            at += old
            at += 4 + struct.unpack_from("<I", journal, at)[0]
    except (OSError, struct.error):
        return None
    return bytes(data[:length])
