"""In: a folder. Out: the machine and the file system it is on, as a record keeps them.

No names of hosts, users or folders. It must not know what is measured.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

# What digests are made faster by.
TELLING_FLAGS = ("sha_ni", "avx2", "avx512f", "vaes", "asimd", "sha2", "sha3")


def describe(folder: Path) -> dict[str, object]:
    """Facts that explain figures. What the system does not tell is `unknown`."""
    processor = _pairs(Path("/proc/cpuinfo"))
    memory = _pairs(Path("/proc/meminfo"))
    flags = set(processor.get("flags", processor.get("Features", "")).split())
    device, kind, options = mount_of(folder)
    total_kib = memory.get("MemTotal", "0 kB").split()[0]
    return {
        "processor": processor.get("model name", platform.machine()),
        "processor_family": " ".join(
            processor.get(key, "") for key in ("vendor_id", "cpu family", "model", "stepping")
        ).strip(),
        "instructions": [flag for flag in TELLING_FLAGS if flag in flags],
        "processors": os.cpu_count() or 0,
        "virtual": "hypervisor" in flags,
        "memory_bytes": int(total_kib) * 1024,
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "unknown"),
        "python": platform.python_version(),
        "file_system": kind,
        "mount_options": options,
        "device": device,
        "rotational": _rotational(device),
    }


def mount_of(folder: Path) -> tuple[str, str, str]:
    """Device, file system and options of the mount that holds `folder`."""
    best = ("", "unknown", "unknown", "")
    target = str(folder.resolve())
    for line in Path("/proc/self/mounts").read_text().splitlines():
        device, point, kind, options, *_ = line.split()
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best[0]):
            best = (point, device, kind, options)
    return best[1], best[2], best[3]


def load() -> float:
    """The load average of the last minute."""
    return os.getloadavg()[0]


def stolen_ns() -> int:
    """Processor time that the hypervisor gave to others since the start; 0 if it does not say."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()
    ticks = int(fields[8]) if len(fields) > 8 else 0
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def _pairs(path: Path) -> dict[str, str]:
    """`key: value` lines, the first of each key."""
    found: dict[str, str] = {}
    for line in path.read_text().splitlines():
        key, colon, value = line.partition(":")
        if colon:
            found.setdefault(key.strip(), value.strip())
    return found


def _rotational(device: str) -> bool | str:
    name = Path(device).name
    for candidate in (name, name.rstrip("0123456789"), name.rpartition("p")[0]):
        flag = Path("/sys/block") / candidate / "queue" / "rotational"
        if candidate and flag.exists():
            return flag.read_text().strip() == "1"
    return "unknown"
