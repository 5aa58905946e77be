"""Reads what `stat`, `getfacl` and `getfattr` show of every file and folder of a tree.

It uses no code of Steadfast. What Steadfast itself keeps is left out here; `kept.py` and
`protected.py` read it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from dataclasses import dataclass
from functools import lru_cache

from protected import crc32c

TAG = "user.steadfast"
PREVIOUS = "user.steadfast.previous"
OWN_FOLDER = b".steadfast"
SIDECAR = b".steadfast-pages"
TAG_LEN_BYTES = 60
SECTOR_LEN_BYTES = 512
# How XFS shows an access list to root once more.
AGAIN = "trusted.SGI_ACL"


@dataclass(frozen=True)
class Tag:
    """What a whole tag by SHA-256 says."""

    digest: str
    length: int
    mtime_ns: int


@dataclass(frozen=True)
class Seen:
    """One file or folder. Folders and anything else that is no regular file have no digest."""

    kind: str
    digest: str
    length: int
    mode: int
    owner: tuple[int, int]
    mtime_ns: int
    room: int
    links: int
    inode: tuple[int, int]
    attributes: tuple[tuple[str, bytes], ...]
    tag: Tag | None = None
    has_tag: bool = False

    def signs(self) -> set[tuple[object, ...]]:
        """By what a run knows the file again under another name. An inode alone may be reused."""
        signs: set[tuple[object, ...]] = {(self.inode, self.length, self.mtime_ns)}
        return signs | ({(self.inode, self.tag.digest)} if self.tag is not None else set())

    @property
    def is_corrupt(self) -> bool:
        """Whether it differs from its own tag although its time is the tag's."""
        tag = self.tag
        return tag is not None and tag.digest != self.digest and tag.mtime_ns == self.mtime_ns


@lru_cache(maxsize=4096)
def parse_tag(value: bytes) -> Tag | None:
    """Reads a tag by SHA-256; None for anything that is no whole one."""
    if len(value) != TAG_LEN_BYTES or value[:2] != b"\x01\x01":
        return None
    if crc32c(value[:-4]) != int.from_bytes(value[-4:], "little"):
        return None
    length = struct.unpack_from("<Q", value, 2)[0]
    mtime_ns = int.from_bytes(value[10:19], "little", signed=True)
    return Tag(value[24:56].hex(), length, mtime_ns)


def is_own(name: bytes) -> bool:
    """Whether Steadfast keeps this beside the files of a tree."""
    return name == OWN_FOLDER or name.removesuffix(b".new").endswith(SIDECAR)


def look(root: bytes) -> dict[bytes, Seen]:
    """Everything beneath a folder and the folder itself, by its path from there."""
    found = {b"": look_at(root)}
    waiting = [(root, b"")]
    while waiting:
        folder, prefix = waiting.pop()
        for name in os.listdir(folder):
            if is_own(name):
                continue
            path = os.path.join(folder, name)
            relative = prefix + name
            found[relative] = seen = look_at(path)
            if seen.kind == "folder":
                waiting.append((path, relative + b"/"))
    return found


def look_at(path: bytes) -> Seen:
    """One file or folder. One that cannot be read has the digest `unreadable`."""
    status = os.lstat(path)
    digest, kind = "", "other"
    if stat.S_ISREG(status.st_mode):
        kind = "file"
        try:
            with open(path, "rb", buffering=0) as file:
                digest = digest_of(file.readall())
        except OSError:
            digest = "unreadable"
    elif stat.S_ISDIR(status.st_mode):
        kind = "folder"
    named = {}
    for name in os.listxattr(path, follow_symlinks=False) if kind != "other" else ():
        named[name] = os.getxattr(path, name, follow_symlinks=False)
    named = {name: value for name, value in named.items() if not name.startswith(AGAIN)}
    tag = named.pop(TAG, None)
    named.pop(PREVIOUS, None)
    return Seen(
        kind,
        digest,
        status.st_size if kind == "file" else 0,
        stat.S_IMODE(status.st_mode),
        (status.st_uid, status.st_gid),
        status.st_mtime_ns if kind == "file" else 0,
        status.st_blocks * SECTOR_LEN_BYTES if kind == "file" else 0,
        status.st_nlink if kind == "file" else 0,
        (status.st_dev, status.st_ino),
        tuple(sorted(named.items())),
        parse_tag(tag) if tag is not None else None,
        tag is not None,
    )


def digest_of(data: bytes | None) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data or b"").hexdigest()
