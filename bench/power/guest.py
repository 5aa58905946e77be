"""Makes what the virtual machine boots from: an initramfs with modules, programs and the work.

The kernel unpacks several archives behind each other, so only a small one is made for each run.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mending import is_mended, time_of
from plan import POOL_LEN_BYTES, Change, Pool, Slice, Step

READY = "@ready"
DONE = "@done"
MARK_LEN_BYTES = 512
EXECUTABLE = 0o100755
FOLDER = 0o040755
DRIVERS = ("virtio_pci", "virtio_blk")

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mkdir -p /proc /sys /dev /mnt
mount -t proc proc /proc
mount -t devtmpfs dev /dev
for module in $(cat /modules); do insmod "$module"; done
. /work.sh
"""

# `mark` writes around the page cache and without a flush: it orders steps in the disk's log and
# makes nothing durable by itself. That takes the `dd` of coreutils: busybox's buffer is not aligned
# for it, and it then writes through the page cache without a word.
FUNCTIONS = """
mark() {
    printf '%-512s' "begun $1 synced $2" >/mark
    /own/dd if=/mark of=/dev/vda oflag=direct,seek_bytes bs=512 seek=$MARK_AT conv=notrunc 2>/dev/null
}
put() {
    dd if=/pool of="$3" bs=64k iflag=skip_bytes,count_bytes skip="$1" count="$2" 2>/dev/null
}
# Writes over a part of a file.
harm() {
    dd if=/pool of="$3" bs=1 skip="$1" count="$2" seek="$4" conv=notrunc 2>/dev/null
}
verb() {
    number=$1
    shift
    output=$(steadfast "$@" 2>&1)
    echo "step $number: $* status $?"
}
"""


class GuestError(Exception):
    """What the machine needs is missing."""


def archive(entries: Mapping[str, tuple[int, bytes]]) -> bytes:
    """A cpio archive in the `newc` format: a mode and data for each path."""
    parts = []
    named = [*entries.items(), ("TRAILER!!!", (0, b""))]
    for inode, (path, (mode, data)) in enumerate(named, start=1):
        name = path.encode() + b"\0"
        fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        head = b"070701" + b"".join(b"%08X" % value for value in fields) + name
        parts.append(head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4))
    whole = b"".join(parts)
    return whole + bytes(-len(whole) % 512)


def module_order(dependencies: str, wanted: Iterable[str]) -> list[str]:
    """Paths of modules so that each comes after those it needs; `dependencies` is modules.dep."""
    needs = {}
    for line in dependencies.splitlines():
        path, _, rest = line.partition(":")
        needs[path] = rest.split()
    by_name = {Path(path).name.removesuffix(".ko"): path for path in needs}
    order: dict[str, None] = {}

    def take(path: str) -> None:
        for one in needs[path]:
            take(one)
        order[path] = None

    for name in wanted:
        if name in by_name:
            take(by_name[name])
    return list(order)


def base(kernel: Path, modules: Sequence[str], program: Path, scratch: Path) -> bytes:
    """The archive that all runs on one file system share: `modules` are those that it needs.

    `kernel` is the unpacked package.
    """
    modules_root = next((kernel / "lib" / "modules").iterdir())
    if not (modules_root / "modules.dep").exists():
        subprocess.run(["depmod", "-b", kernel, modules_root.name], check=True)
    dependencies = (modules_root / "modules.dep").read_text()
    order = module_order(dependencies, [*DRIVERS, *modules])
    entries: dict[str, tuple[int, bytes]] = {"bin": (FOLDER, b""), "init": (EXECUTABLE, b"")}
    entries["init", "."] = (EXECUTABLE, INIT.encode())
    for path in order:
        add(entries, f"lib/{Path(path).name}", (modules_root / path).read_bytes())
    add(entries, "modules", "\n".join(f"/lib/{Path(path).name}" for path in order).encode())
    add(entries, "bin/busybox", Path(_which("busybox")).read_bytes())
    add(entries, "bin/steadfast", _stripped(program, scratch))
    direct = Path(_which("dd"))
    add(entries, "own/dd", direct.read_bytes())
    for library in [*_libraries(program), *_libraries(direct)]:
        add(entries, str(library).lstrip("/"), library.read_bytes())
    return archive(entries)


def of_run(
    steps: Sequence[Step],
    pool: Pool,
    file_system: str,
    mark_at: int,
    sets: Mapping[str, bytes] | None = None,
) -> bytes:
    """The archive of one run: its work, the bytes of its files, and PAR2 sets by their paths."""
    text = script(steps, file_system, mark_at).encode()
    entries = {"work.sh": (EXECUTABLE, text), "pool": (EXECUTABLE, pool.data)}
    for path, data in (sets or {}).items():
        add(entries, f"sets/{path}", data)
    return archive(entries)


def script(steps: Sequence[Step], file_system: str, mark_at: int) -> str:
    """The work as a shell script. A change that fails leaves the rest to go on."""
    lines = [f"MARK_AT={mark_at}", FUNCTIONS]
    lines += [f"mount -t {file_system} /dev/vda /mnt", "cd /mnt", f"echo {READY}"]
    if any(is_mended(step.tree) for step in steps):
        # Decay is played from above the file system, which moves the change time.
        lines.insert(0, "export STEADFAST_IGNORE_CTIME=1")
    synced = 0
    for step in steps:
        lines.append(f"mark {step.number} {synced}")
        lines += [command for change in step.changes for command in _commands(change)]
        if step.verb:
            lines.append(f"verb {step.number} {' '.join(step.verb)} {step.target}")
        if step.synced:
            synced = step.number
            lines += ["sync", f"mark {step.number} {synced}"]
    lines += ["cd /", "sync", f"mark {len(steps)} {len(steps)}", "umount /mnt", f"echo {DONE}"]
    return "\n".join([*lines, "poweroff -f", ""])


def _commands(change: Change) -> list[str]:
    folder = (change.to or change.path).rpartition("/")[0]
    if change.kind in ("remove", "lose"):
        return [f"rm {change.path}"]
    if change.kind == "touch":
        return [f"touch {change.path}"]
    if change.kind == "move":
        return [f"mkdir -p {folder}", f"mv {change.path} {change.to}"]
    if change.kind == "install":
        return [f"cp /sets/{folder}/* {folder}/"]
    if change.contents is None or change.contents.at + change.contents.length > POOL_LEN_BYTES:
        raise ValueError(f"a {change.kind} needs contents")
    if change.kind == "rot" and change.damage is not None:
        part = f"{change.damage.at} {change.damage.length} {change.path} {change.damage_at}"
        return [f"harm {part}", _time(change.path, change.contents)]
    put = f"put {change.contents.at} {change.contents.length}"
    if change.kind == "replace":
        return [f"{put} {change.path}.part", f"mv {change.path}.part {change.path}"]
    times = [_time(change.path, change.contents)] if is_mended(change.path) else []
    return [f"mkdir -p {folder}", f"{put} {change.path}", *times]


def _time(path: str, contents: Slice) -> str:
    """A file of a tree that is mended has a time of whole seconds."""
    return f"touch -d @{time_of(contents)} {path}"


def add(entries: dict[str, tuple[int, bytes]], path: str, data: bytes) -> None:
    """Adds a file, and the folders above it that are not there yet."""
    for folder in reversed(list(Path(path).parents)[:-1]):
        entries.setdefault(str(folder), (FOLDER, b""))
    entries[path] = (EXECUTABLE, data)


def _stripped(program: Path, scratch: Path) -> bytes:
    """The program without debugging information, which would fill the machine's memory."""
    target = scratch / "steadfast"
    subprocess.run(["strip", "-o", target, program], check=True)
    return target.read_bytes()


def _libraries(program: Path) -> list[Path]:
    """The shared libraries that the program is linked with, none if it is static."""
    found = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    words = [word for line in found.stdout.splitlines() for word in line.split()]
    return [Path(word) for word in words if word.startswith("/") and Path(word).exists()]


def _which(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise GuestError(f"`{program}` is not installed")
    return path
