"""Finds the programs that the series needs, fetches the guest's kernel, builds Steadfast."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import vm

# Each program and the Debian package that has it.
PROGRAMS = {
    vm.EMULATOR: "qemu-system-x86",
    "busybox": "busybox-static",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "depmod": "kmod",
    "strip": "binutils",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "unshare": "util-linux",
    # Makes the sets of `--mend`.
    "par2": "par2",
}
KERNEL_PACKAGE = "linux-image-cloud-amd64"


class Missing(Exception):
    """Something is not here that the series cannot do without."""


def require(programs: Mapping[str, str] = PROGRAMS) -> None:
    """Raises `Missing` with all that is lacking and how to get it."""
    if os.geteuid() != 0:
        raise Missing("mounting images needs root")
    packages = sorted({programs[name] for name in programs if shutil.which(name) is None})
    if packages:
        raise Missing(f"not installed; run: apt-get install {' '.join(packages)}")
    busybox = shutil.which("busybox") or ""
    if "=>" in _output(["ldd", busybox], errors=True):
        raise Missing("`busybox` is not static; run: apt-get install busybox-static")


def kernel(prefix: Path) -> Path:
    """The folder of an unpacked cloud kernel, fetched the first time and never installed."""
    folder = prefix / "kernel"
    if folder.is_dir():
        return folder
    depends = _output(["apt-cache", "depends", KERNEL_PACKAGE])
    image = re.search(r"Depends: (linux-image-\S+)", depends)
    if image is None:
        raise Missing(f"no package {KERNEL_PACKAGE}; run: apt-get update")
    download = prefix / "download"
    download.mkdir(exist_ok=True)
    fetched = subprocess.run(["apt-get", "-q", "download", image[1]], cwd=download, check=False)
    packages = list(download.glob("*.deb"))
    if fetched.returncode != 0 or not packages:
        raise Missing(f"cannot download {image[1]}; run: apt-get update")
    fresh = prefix / "kernel.new"
    subprocess.run(["dpkg-deb", "-x", packages[0], fresh], check=True)
    shutil.rmtree(download)
    fresh.rename(folder)
    return folder


def kernel_image(folder: Path) -> Path:
    """What the emulator boots."""
    return next((folder / "boot").glob("vmlinuz-*"))


def build(repository: Path) -> Path:
    """Builds the program of the tests, as a release, and returns its path."""
    line = ["cargo", "build", "--release", "--package", "steadfast-trial"]
    subprocess.run(line, cwd=repository, check=True)
    return repository / "target" / "release" / "steadfast-trial"


def versions(program: Path, folder: Path, repository: Path) -> dict[str, str]:
    """What took part in the series."""
    commit = ["git", "-C", str(repository), "describe", "--always", "--dirty"]
    return {
        "steadfast": _first_line([str(program), "--version"]),
        "sha256": hashlib.sha256(program.read_bytes()).hexdigest(),
        "commit": _first_line(commit),
        "guest kernel": kernel_image(folder).name.removeprefix("vmlinuz-"),
        "host kernel": platform.release(),
        "emulator": _first_line([vm.EMULATOR, "--version"]),
        "ext4": _first_line(["mkfs.ext4", "-V"]),
        "xfs": _first_line(["mkfs.xfs", "-V"]),
        "btrfs": _first_line(["mkfs.btrfs", "--version"]),
    }


def _first_line(line: Sequence[str]) -> str:
    return next(iter(_output(line, errors=True).splitlines()), "unknown")


def _output(line: Sequence[str], errors: bool = False) -> str:
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.stdout + (done.stderr if errors else "")
