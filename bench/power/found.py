"""Reads what a mounted volume holds: contents, tags and leaves, without any code of Steadfast.

Formats: docs/formats/tag.md and docs/formats/pages.md.
"""

from __future__ import annotations

import hashlib
import os
import struct
from dataclasses import dataclass
from pathlib import Path

ATTRIBUTE = "user.steadfast"
SIDECAR = ".steadfast-pages"
DRAFT_SUFFIX = ".new"
DRAFT_PREFIX = "draft-"
OWN_FOLDER = ".steadfast"
CATALOGUE = f"{OWN_FOLDER}/catalogue.sqlite"
LEAVES_MAGIC = b"steadfast-pages\0"
LEAVES_HEADER_LEN_BYTES = 192
SHA256_LEN_BYTES = 32
TAG_LEN_BYTES = 60


class Torn(Exception):
    """Bytes that a writer of Steadfast left and that are not whole."""


@dataclass(frozen=True)
class Tag:
    """What a tag says: SHA-256 in hexadecimal, length in bytes."""

    digest: str
    length: int


@dataclass(frozen=True)
class Found:
    """One file of a tree. `tag` is None without the attribute; `torn` says how it is damaged."""

    digest: str
    length: int
    tag: Tag | None
    torn: str | None

    @property
    def fits(self) -> bool:
        """Whether the contents are those of the tag."""
        return self.tag is not None and (self.digest, self.length) == (
            self.tag.digest,
            self.tag.length,
        )


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F6_3B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """The check value of tags and leaves."""
    value = 0xFFFF_FFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFF_FFFF


def _sealed(data: bytes) -> bool:
    return crc32c(data[:-4]) == int.from_bytes(data[-4:], "little")


def parse_tag(value: bytes) -> Tag:
    """Reads a tag by SHA-256; raises `Torn` for anything else."""
    if len(value) != TAG_LEN_BYTES or not _sealed(value):
        raise Torn(f"a tag of {len(value)} bytes whose check value does not fit")
    version, algorithm, length = struct.unpack_from("<BBQ", value)
    if (version, algorithm) != (1, 1):
        raise Torn(f"a tag of version {version}, algorithm {algorithm}")
    return Tag(value[24:56].hex(), length)


def check_leaves(data: bytes, contents: bytes | None) -> None:
    """Raises `Torn` unless these leaves are whole, and those of the contents if that is given."""
    header = data[:LEAVES_HEADER_LEN_BYTES]
    whole = len(header) == LEAVES_HEADER_LEN_BYTES and header.startswith(LEAVES_MAGIC)
    if not whole or not _sealed(header):
        raise Torn(f"{len(data)} bytes of leaves, and no header")
    page_len, length = 1 << header[18], struct.unpack_from("<Q", header, 24)[0]
    leaves = data[LEAVES_HEADER_LEN_BYTES:]
    if len(leaves) != -(-length // page_len) * SHA256_LEN_BYTES + 4 or not _sealed(leaves):
        raise Torn("leaves that are cut or whose check value does not fit")
    if contents is None or header[96:128] != hashlib.sha256(contents).digest():
        return
    starts = range(0, len(contents), page_len)
    padded = (contents[start : start + page_len].ljust(page_len, b"\0") for start in starts)
    if leaves[:-4] != b"".join(hashlib.sha256(page).digest() for page in padded):
        raise Torn("leaves of other pages than the file's")


def is_own(name: str) -> bool:
    """Whether a file beside others is a sidecar, or the draft of one."""
    return name.removesuffix(DRAFT_SUFFIX).endswith(SIDECAR)


def owner(path: str) -> str:
    """The file that a sidecar or its draft is beside."""
    return path.removesuffix(DRAFT_SUFFIX).removesuffix(SIDECAR)


def read_tree(root: Path, tree: str) -> dict[str, Found]:
    """Every file of a tree except those of Steadfast, by its path from the volume's root."""
    found = {}
    for folder, folders, names in os.walk(root / tree):
        folders[:] = [name for name in folders if name != OWN_FOLDER]
        for name in names:
            if not is_own(name):
                path = Path(folder) / name
                found[str(path.relative_to(root))] = _read(path)
    return found


def _read(path: Path) -> Found:
    data = path.read_bytes()
    tag, torn = None, None
    try:
        if ATTRIBUTE in os.listxattr(path):
            tag = parse_tag(os.getxattr(path, ATTRIBUTE))
    except Torn as error:
        torn = str(error)
    return Found(hashlib.sha256(data).hexdigest(), len(data), tag, torn)


def torn_leaves(root: Path, tree: str) -> list[str]:
    """Leaves under their own names that are not whole, each with how."""
    torn = []
    for path in _leaves(root / tree):
        if path.name.endswith(DRAFT_SUFFIX) or path.name.startswith(DRAFT_PREFIX):
            continue
        beside = Path(owner(str(path)))
        contents = beside.read_bytes() if beside != path and beside.is_file() else None
        try:
            check_leaves(path.read_bytes(), contents)
        except Torn as error:
            torn.append(f"{path.relative_to(root)}: {error}")
    return torn


def drafts(root: Path, tree: str) -> list[str]:
    """Drafts of leaves that a cut left behind."""
    return [
        str(path.relative_to(root))
        for path in _leaves(root / tree)
        if path.name.endswith(DRAFT_SUFFIX) or path.name.startswith(DRAFT_PREFIX)
    ]


def _leaves(tree: Path) -> list[Path]:
    sidecars = [path for path in tree.rglob("*") if is_own(path.name) and path.is_file()]
    kept = tree / OWN_FOLDER / "pages"
    return sorted([*sidecars, *(path for path in kept.rglob("*") if path.is_file())])
