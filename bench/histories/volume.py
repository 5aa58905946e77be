"""Makes images of file systems, mounts them, and mounts a part of one beneath another."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VOLUME_LEN_BYTES = 512 << 20
PART_LEN_BYTES = 64 << 20
FORMATS = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-b", "4096", "IMAGE"],
    "xfs": ["mkfs.xfs", "-q", "-f", "IMAGE"],
    "btrfs": ["mkfs.btrfs", "-q", "-f", "-d", "single", "IMAGE"],
}
MS_BIND = 4096
RELEASE_S = 30
_LIBC = ctypes.CDLL(None, use_errno=True)


class Volume:
    """One mounted image of a file system, and a small one for parts of its trees."""

    def __init__(self, prefix: Path, system: str, options: str = "loop") -> None:
        self.system = system
        self._options = options
        self._image = prefix / f"{system}.img"
        self.root = prefix / system
        self.parts = prefix / f"{system}-parts"
        _make(self._image, system, VOLUME_LEN_BYTES)
        part = prefix / f"{system}-parts.img"
        _make(part, "ext4", PART_LEN_BYTES)
        for image, place, how in (
            (self._image, self.root, options),
            (part, self.parts, "loop"),
        ):
            place.mkdir(exist_ok=True)
            _mount_image(image, place, how)

    def close(self) -> None:
        """Unmounts both."""
        for place in (self.root, self.parts):
            subprocess.run(["umount", "--lazy", place], check=True)

    @contextmanager
    def unmounted(self) -> Iterator[mmap.mmap]:
        """Unmounts the volume, gives its image, and mounts it again."""
        subprocess.run(["umount", self.root], check=True)
        _await_release(self._image)
        try:
            with self._image.open("r+b") as image, mmap.mmap(image.fileno(), 0) as all_bytes:
                yield all_bytes
        finally:
            _mount_image(self._image, self.root, self._options)

    def damage_unmounted(self, data: bytes) -> bool:
        """Flips a byte beneath the file system where a file has these bytes."""
        with self.unmounted() as all_bytes:
            at = all_bytes.find(data)
            if at >= 0:
                all_bytes[at] ^= 0x55
            return at >= 0


def _await_release(image: Path) -> None:
    """Waits until no loop device has the image.

    One that another mount namespace keeps would show blocks as they were.
    """
    line = ["losetup", "--noheadings", "--associated", image]
    end = time.monotonic() + RELEASE_S
    while subprocess.run(line, check=True, capture_output=True).stdout.strip():
        if time.monotonic() > end:
            raise TimeoutError(f"`{image}` stays mounted elsewhere")
        time.sleep(0.01)


def _make(image: Path, system: str, length: int) -> None:
    image.unlink(missing_ok=True)
    with image.open("wb") as file:
        file.truncate(length)
    line = [str(image) if word == "IMAGE" else word for word in FORMATS[system]]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)


def _mount_image(image: Path, place: Path, options: str) -> None:
    subprocess.run(["mount", "-o", options, image, place], check=True)
    os.chmod(place, 0o755)


def bind(source: Path, target: bytes) -> None:
    """Mounts a folder of another volume at a folder."""
    if _LIBC.mount(os.fsencode(source), target, None, MS_BIND, None) != 0:
        raise OSError(ctypes.get_errno(), "cannot bind", target)


def unbind(target: bytes) -> None:
    """Takes it away again; no error if it is not there."""
    _LIBC.umount2(target, 0)
