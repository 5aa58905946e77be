"""Changes sectors of files on FAT and exFAT, in a virtual machine, and checks them there.

This machine's kernel need not know these file systems: the guest's does, which is that of
`bench/power`.
"""

from __future__ import annotations

import json
import mmap
import random
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import decay
import guest
import needs
import vm
from decay import Damage, contents

VOLUME_LEN_BYTES = 256 << 20
# Behind the file system, for what the guest has to say.
SAID_LEN_BYTES = 16 << 20
# As removable disks are formatted.
FORMATS = {
    "vfat": ["mkfs.vfat", "-F", "32", "-s", "4"],
    "exfat": ["mkfs.exfat"],
}
MODULES = {"vfat": ["vfat", "nls_cp437", "nls_ascii", "nls_iso8859-1"], "exfat": ["exfat"]}
PROGRAMS = {
    "mkfs.vfat": "dosfstools",
    "mkfs.exfat": "exfatprogs",
    vm.EMULATOR: "qemu-system-x86",
    "busybox": "busybox-static",
}
# Files that are edited in the guest, with and without their dates put back.
EDITED, KEPT = "edited", "kept"

MOUNT = f"""
mount -t SYSTEM /dev/vda /mnt
cd /mnt
echo {guest.READY}
"""
MAKE = """
cp -r /files/* /mnt/
steadfast init . >/init.txt 2>&1
echo "status $? of init"
steadfast check . >/check.txt 2>&1
echo "status $? of check"
# Beyond the two seconds of FAT's clock.
sleep 3
touch -r kept /time
for name in edited kept; do printf x | dd of=$name bs=1 seek=100 conv=notrunc 2>/dev/null; done
touch -r /time kept
"""
CHECK = f"""
steadfast check --json --verbose . >/said 2>/errors
echo "status $? of check"
printf '%-16d' $(wc -c </said) | cat - /said >/whole
/own/dd if=/whole of=/dev/vda oflag=seek_bytes bs=1M seek={VOLUME_LEN_BYTES} conv=notrunc
"""
END = f"""
cd /
sync
umount /mnt
echo {guest.DONE}
poweroff -f
"""


def play(
    binary: Path, folder: Path, system: str, files: int, rng: random.Random
) -> dict[str, Any]:
    """Tags files in a machine, changes a sector of each in the image, checks them in a machine.

    The kernel is kept in `folder`.
    """
    needs.require(PROGRAMS)
    kernel = needs.kernel(folder)
    prefix = folder / "fat"
    prefix.mkdir(exist_ok=True)
    base = guest.base(kernel, MODULES[system], binary, prefix)
    image = prefix / f"{system}.img"
    _make(image, system)
    data = {f"d{number % 50}/f{number}": contents(rng, number) for number in range(files)}
    others = {name: contents(rng, files + at) for at, name in enumerate((EDITED, KEPT))}
    machine = vm.Boot(needs.kernel_image(kernel), prefix / "initramfs", image)
    before = _run(machine, base, system, MAKE, {**data, **others})
    damage = Damage()
    for one in data.values():
        damage.add(rng, one)
    with image.open("r+b") as file, mmap.mmap(file.fileno(), VOLUME_LEN_BYTES) as every_byte:
        damaged = damage.change(rng, every_byte)
    after = _run(machine, base, system, CHECK, {})
    verdicts = _said(image)
    shutil.rmtree(prefix)
    count: dict[str, int] = {}
    for number in damaged:
        verdict = verdicts.get(f"d{number % 50}/f{number}", "not listed")
        count[verdict] = count.get(verdict, 0) + 1
    row = {"system": system, "status before": before["check"], "files": files}
    row |= {"damaged": len(damaged), "status": after["check"], "verdicts": count}
    return row | {name: verdicts.get(name, "not listed") for name in (EDITED, KEPT)}


def faults(row: dict[str, Any]) -> list[str]:
    """As of `decay`; and an edit is `modified`, one that kept its date not intact."""
    found = decay.faults(row)
    if row[EDITED] != "modified" or row[KEPT] != "corrupt":
        found.append(f"{row['system']}: an edit is {row[EDITED]}, with its date {row[KEPT]}")
    return found


def _make(image: Path, system: str) -> None:
    with image.open("wb") as file:
        file.truncate(VOLUME_LEN_BYTES)
    subprocess.run([*FORMATS[system], image], check=True, stdout=subprocess.DEVNULL)
    with image.open("r+b") as file:
        file.truncate(VOLUME_LEN_BYTES + SAID_LEN_BYTES)


def _run(
    machine: vm.Boot, base: bytes, system: str, work: str, files: Mapping[str, bytes]
) -> dict[str, int]:
    """Runs a machine to its end; returns the status of each verb."""
    script = MOUNT.replace("SYSTEM", system) + work + END
    entries = {"work.sh": (guest.EXECUTABLE, script.encode())}
    for path, data in files.items():
        guest.add(entries, f"files/{path}", data)
    machine.initramfs.write_bytes(base + guest.archive(entries))
    finished, console = vm.run(machine, None)
    if not finished:
        raise vm.MachineError(f"the work did not end:\n{console[-2000:]}")
    lines = (line.split() for line in console.splitlines() if line.startswith("status "))
    return {verb: int(status) for _, status, _, verb in lines}


def _said(image: Path) -> dict[str, str]:
    """The verdict of each file."""
    with image.open("rb") as file:
        file.seek(VOLUME_LEN_BYTES)
        text = file.read(int(file.read(16)))
    rows = (json.loads(line) for line in text.splitlines())
    return {row["path"]: row["verdict"] for row in rows if "path" in row and row.get("verdict")}
