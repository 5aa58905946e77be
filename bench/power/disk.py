"""Makes disk images, mounts them here, and reads the mark that the guest keeps on them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from guest import MARK_LEN_BYTES

VOLUME_LEN_BYTES = 384 << 20
# Behind the file system, so that a mark touches nothing of it.
MARK_AT = VOLUME_LEN_BYTES
IMAGE_LEN_BYTES = VOLUME_LEN_BYTES + (1 << 20)
FORMATS = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-b", "4096", "IMAGE", "LENGTHk"],
    "xfs": ["mkfs.xfs", "-q", "-f", "-d", "size=LENGTHk", "IMAGE"],
    "btrfs": ["mkfs.btrfs", "-q", "-f", "-b", "LENGTHk", "IMAGE"],
}
MARK = re.compile(rb"begun (\d+) synced (\d+)")


class Unmountable(Exception):
    """The file system of a state cannot be mounted, which is no fault of Steadfast."""


def make(image: Path, file_system: str) -> None:
    """Makes an empty volume."""
    image.unlink(missing_ok=True)
    with image.open("wb") as file:
        file.truncate(IMAGE_LEN_BYTES)
    words = {"IMAGE": str(image), "LENGTHk": f"{VOLUME_LEN_BYTES >> 10}k"}
    words["size=LENGTHk"] = f"size={words['LENGTHk']}"
    line = [words.get(word, word) for word in FORMATS[file_system]]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)


def copy(image: Path, target: Path) -> None:
    """Copies an image and keeps its holes.

    The copy is a new file: a loop device that still has the old one keeps its old contents.
    """
    target.unlink(missing_ok=True)
    subprocess.run(["cp", "--sparse=always", image, target], check=True)


def parse_mark(sector: bytes) -> tuple[int, int]:
    """The step that was begun last and the last one that was synced; zeros before the first."""
    found = MARK.match(sector)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def read_mark(image: Path) -> tuple[int, int]:
    """The mark on an image."""
    with image.open("rb") as file:
        file.seek(MARK_AT)
        return parse_mark(file.read(MARK_LEN_BYTES))


@contextmanager
def mounted(image: Path, file_system: str, place: Path) -> Iterator[Path]:
    """Mounts an image through a loop device, which lets the file system replay its journal."""
    place.mkdir(parents=True, exist_ok=True)
    line = ["mount", "-t", file_system, "-o", "loop", str(image), str(place)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unmountable(done.stderr.strip())
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)
