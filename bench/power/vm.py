"""Runs a virtual machine on a disk image, and kills it after a delay or lets it end."""

from __future__ import annotations

import os
import select
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from guest import DONE, READY

EMULATOR = "qemu-system-x86_64"
# Minutes on a busy host.
BOOT_S_MAX = 1800.0
RUN_S_MAX = 3600.0
MACHINE = (
    *("-machine", "q35", "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "512"),
    *("-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio"),
)
# `no_timer_check`: on a busy host the emulated timer can be too late for the kernel's test of it.
KERNEL_LINE = "console=ttyS0 quiet panic=-1 random.trust_cpu=on no_timer_check"
BOOTS_MAX = 3


class MachineError(Exception):
    """The machine did not start its work."""


@dataclass(frozen=True)
class Boot:
    """What a machine starts from."""

    kernel: Path
    initramfs: Path
    disk: Path
    # Where every write to the disk is logged, if it is.
    log: Path | None = None


def command(boot: Boot) -> list[str]:
    """The emulator's command line.

    Flushes of the guest do not reach this machine's storage (`no-flush`), which is never cut. They
    are logged all the same, since the log is above the file.
    """
    line = [EMULATOR, *MACHINE, "-kernel", str(boot.kernel), "-initrd", str(boot.initramfs)]
    line += ["-append", KERNEL_LINE]
    line += ["-blockdev", f"driver=file,node-name=disk,filename={boot.disk},cache.no-flush=on"]
    node = "disk"
    if boot.log is not None:
        line += ["-blockdev", f"driver=file,node-name=log,filename={boot.log},cache.no-flush=on"]
        line += ["-blockdev", "driver=blklogwrites,node-name=logged,file=disk,log=log"]
        node = "logged"
    device = f"virtio-blk-pci,drive={node},discard=off,write-zeroes=off,write-cache=on"
    return [*line, "-device", device]


def run(boot: Boot, cut_after_s: float | None) -> tuple[bool, str]:
    """Boots, waits until the work begins, and kills the machine after that many seconds.

    With None the work goes on to its end. Returns whether it came to its end, and the console.
    A machine that does not come to its work has not written to its disk, and is started again.
    """
    for _ in range(BOOTS_MAX - 1):
        try:
            return _run_once(boot, cut_after_s)
        except MachineError:
            continue
    return _run_once(boot, cut_after_s)


def _run_once(boot: Boot, cut_after_s: float | None) -> tuple[bool, str]:
    machine = subprocess.Popen(
        command(boot), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        console = _read_until(machine, b"", READY, BOOT_S_MAX)
        if READY.encode() not in console:
            said = console.decode(errors="replace")[-2000:]
            raise MachineError(f"the machine did not start its work:\n{said}")
        limit = RUN_S_MAX if cut_after_s is None else cut_after_s
        console = _read_until(machine, console, DONE, limit)
        finished = DONE.encode() in console
        if finished:
            machine.wait(timeout=60)
        return finished, console.decode(errors="replace")
    finally:
        machine.kill()
        machine.wait()


def _read_until(machine: subprocess.Popen[bytes], sofar: bytes, text: str, limit_s: float) -> bytes:
    """Reads the console up to a text, the end of the machine, or the time limit."""
    assert machine.stdout is not None
    end = time.monotonic() + limit_s
    while text.encode() not in sofar:
        left_s = end - time.monotonic()
        if left_s <= 0 or not select.select([machine.stdout], [], [], left_s)[0]:
            break
        data = os.read(machine.stdout.fileno(), 65536)
        if not data:
            break
        sofar += data
    return sofar
