#!/usr/bin/env python3
"""What `steadfast code` finds in altered signatures, and how fast, beside what others do.

In: the command; files with a CMS signature, with a linker's, or with several code directories. Out:
a table with one row for each way of altering each file: what Steadfast found, and what `rcodesign`
and `relic` said where they are on the PATH. For rcodesign the Python package `apple_platform` will
do, which carries the same library. Ends with 1 if an alteration was not found that must be.

With `--times N` the table is of how long verifying each file takes, in N rounds in which everybody
has a turn; with `--samples` of what each of them says of the files as they are.
Files are in the page cache. On a machine that is busy, `chrt -f 10` in front of it helps.

    python3 bench/codesign.py target/release/steadfast --apple-root ROOT.cer FILE...
"""

import argparse
import hashlib
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HASHES = {1: ("sha1", 20), 2: ("sha256", 32), 3: ("sha256", 20), 4: ("sha384", 48)}
DIRECTORY, REQUIREMENTS, ENTITLEMENTS, CMS = 0, 2, 5, 0x10000


class Slice:
    """Where the parts of one slice's signature are in the file."""

    def __init__(self, data, start):
        self.start = start
        count, = struct.unpack_from("<I", data, start + 16)
        at = start + 32
        self.room = None
        for _ in range(count):
            command, length = struct.unpack_from("<II", data, at)
            if command == 0x1D:
                offset, self.room_len = struct.unpack_from("<II", data, at + 8)
                self.room = start + offset
            at += length
        if self.room is None:
            return
        _, self.length, count = struct.unpack_from(">III", data, self.room)
        index = [struct.unpack_from(">II", data, self.room + 12 + 8 * i) for i in range(count)]
        self.entries = {kind: self.room + 12 + 8 * i for i, (kind, _) in enumerate(index)}
        self.blobs = {kind: self.room + offset for kind, offset in index}

    def directories(self):
        kinds = (kind for kind in self.blobs if kind == 0 or 0x1000 <= kind < 0x1005)
        return sorted(kinds)

    def cms_len(self, data):
        at = self.blobs.get(CMS)
        return struct.unpack_from(">I", data, at + 4)[0] - 8 if at else 0


def slices(data):
    if data[:4] != b"\xca\xfe\xba\xbe":
        found = [Slice(data, 0)]
    else:
        count, = struct.unpack_from(">I", data, 4)
        starts = (struct.unpack_from(">I", data, 8 + 20 * i + 8)[0] for i in range(count))
        found = [Slice(data, start) for start in starts]
    return [found_slice for found_slice in found if found_slice.room is not None]


def rehash(data, one, kind, page):
    """Computes a page's digest anew, as who alters code and not the signature would."""
    at = one.blobs[kind]
    table, = struct.unpack_from(">I", data, at + 16)
    limit, = struct.unpack_from(">I", data, at + 32)
    size, hash_type, page_len = data[at + 36], data[at + 37], 1 << data[at + 39]
    begin = one.start + page * page_len
    end = min(begin + page_len, one.start + limit)
    name, length = HASHES[hash_type]
    digest = hashlib.new(name, data[begin:end]).digest()[:length]
    data[at + table + page * size:at + table + (page + 1) * size] = digest


def flip(data, at):
    data[at] ^= 1


def code_byte(data, one):
    flip(data, one.start + 5 * 4096 + 9)


def code_byte_rehashed(data, one):
    code_byte(data, one)
    for kind in one.directories():
        at = one.blobs[kind]
        rehash(data, one, kind, (5 * 4096 + 9) >> data[at + 39])


def entitlements(data, one):
    flip(data, one.blobs[ENTITLEMENTS] + 40)


def requirements(data, one):
    length, = struct.unpack_from(">I", data, one.blobs[REQUIREMENTS] + 4)
    flip(data, one.blobs[REQUIREMENTS] + length - 1)


def alternate_hash(data, one):
    at = one.blobs[0x1000]
    table, = struct.unpack_from(">I", data, at + 16)
    flip(data, at + table + 3)


def alternate_retyped(data, one):
    struct.pack_into(">I", data, one.entries[0x1000], 0x1234)


def cms_signature(data, one):
    """The signature value is the last long string before the unsigned attributes; without them it
    ends the message."""
    at, length = one.blobs[CMS] + 8, one.cms_len(data)
    message = bytes(data[at:at + length])
    found = message.rfind(b"\x04\x82\x01\x00")
    token = message.find(bytes.fromhex("060b2a864886f70d010910020e"))
    if token > 0:
        found = message.rfind(b"\x04\x82\x01\x00", 0, token)
    flip(data, at + found + 20)


def cms_magic(data, one):
    flip(data, one.blobs[CMS] + 3)


def code_limit(data, one):
    for kind in one.directories():
        at = one.blobs[kind] + 32
        limit, = struct.unpack_from(">I", data, at)
        struct.pack_into(">I", data, at, limit - 1)


def slack(data, one):
    data[one.room + one.room_len - 1] = 0x41


def appended(data, _):
    data.extend(b"appended")


def signed(one, data):
    return one.cms_len(data) > 0


ALTERATIONS = [
    # name, what, where it can be done, what must be found (any of it)
    ("nothing", lambda data, one: None, lambda one, data: True, ()),
    ("1 code byte", code_byte, lambda one, data: True, ("page-damaged",)),
    ("code byte, its page hashed anew", code_byte_rehashed, signed, ("signer-digest",)),
    ("entitlements byte", entitlements, lambda one, data: ENTITLEMENTS in one.blobs,
     ("slot-damaged",)),
    ("requirements byte", requirements,
     lambda one, data: REQUIREMENTS in one.blobs and signed(one, data), ("slot-damaged",)),
    ("page hash in the second directory", alternate_hash, lambda one, data: 0x1000 in one.blobs,
     ("page-damaged",)),
    ("second directory hidden", alternate_retyped, lambda one, data: 0x1000 in one.blobs,
     ("signer-directories",)),
    ("CMS signature value", cms_signature, signed, ("signer-signature", "signer-invalid")),
    ("CMS wrapper magic", cms_magic, signed, ("*",)),
    ("code limit less 1", code_limit, lambda one, data: True, ("code-limit",)),
    ("byte in the slack", slack,
     lambda one, data: one.room_len > one.length, ("unsealed",)),
    ("bytes appended", appended, lambda one, data: True, ("unsealed",)),
]


def steadfast(command, path):
    said = subprocess.run([command, "code", "verify", "--json", path], capture_output=True)
    objects = [json.loads(line) for line in said.stdout.splitlines()]
    kinds = [item["finding"] for item in objects
             if item.get("severity") in ("failure", "unverified", "warning")]
    pages = [item["pages"] for item in objects if item.get("finding") == "page-damaged"]
    kinds = list(dict.fromkeys(kinds))
    where = f" at {pages[0][0]}" if pages else ""
    return said.returncode, kinds, (", ".join(kinds) or "nothing") + where


def rcodesign(path):
    if program := shutil.which("rcodesign"):
        said = subprocess.run([program, "verify", path], capture_output=True, text=True)
        lines = [line for line in said.stdout.splitlines() if line.strip()]
        problems = "no problems" if said.returncode == 0 else f"{len(lines)} problems"
        return f"{problems} (rc {said.returncode})"
    code = ("import json, sys, apple_platform as ap\n"
            "print(json.dumps([p['description'] for p in ap.verify_macho(sys.argv[1])]))")
    said = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    if said.returncode != 0:
        absent = "No module" in said.stderr
        lines = said.stderr.strip().splitlines() or [f"died ({said.returncode})"]
        return "-" if absent else "error: " + lines[-1].split(": ", 1)[-1][:44]
    problems = json.loads(said.stdout)
    if not problems:
        return "**no problems**"
    return f"{len(problems)}: {problems[0][:44]}"


def relic(path, root):
    if not (program := shutil.which("relic")):
        return "-"
    trust = ["--cert", root] if root else ["--no-trust-chain"]
    said = subprocess.run([program, "verify", *trust, path], capture_output=True, text=True)
    lines = (said.stdout + said.stderr).replace(path, "").strip().splitlines() or [""]
    if said.returncode == 0:
        return "OK"
    line = next((line for line in lines if "ERR" in line or "error" in line.lower()), lines[-1])
    return line.split("signature: ")[-1].split("ERROR: ")[-1].strip(": ")[:56]


def timed(command):
    """Runs a program; returns what it printed, milliseconds, those of processors, and MiB held."""
    begun = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said = child.stdout.read()
    _, child.returncode, used = os.wait4(child.pid, 0)
    wall = (time.monotonic() - begun) * 1e3
    return said, wall, (used.ru_utime + used.ru_stime) * 1e3, used.ru_maxrss / 1024


def timed_library(path):
    """The same of rcodesign's library, without the start of the interpreter it is called from."""
    code = ("import json, sys, time, apple_platform as ap\n"
            "wall, cpu = time.monotonic(), time.process_time()\n"
            "ap.verify_macho(sys.argv[1])\n"
            "print(time.monotonic() - wall, time.process_time() - cpu)")
    said, _, _, held = timed([sys.executable, "-c", code, path])
    wall, cpu = (float(word) * 1e3 for word in said.split())
    return said, wall, cpu, held


def print_times(args):
    one_page = ["--offset", str(5 * 4096)]
    print("| file | who | wall ms, median (range) | cpu ms | MiB | times Steadfast |")
    print("| --- | --- | --- | --- | --- | --- |")
    for path in args.files:
        verify = [args.command, "code", "verify"]
        peers = {"steadfast": lambda: timed([*verify, path]),
                 "steadfast, one thread": lambda: timed([*verify, "--workers", "1", path]),
                 "steadfast, one page": lambda: timed([*verify, *one_page, path])}
        if shutil.which("rcodesign"):
            peers["rcodesign"] = lambda: timed(["rcodesign", "verify", path])
        elif rcodesign(path) != "-":
            peers["rcodesign's library"] = lambda: timed_library(path)
        if shutil.which("relic"):
            trust = ["--cert", args.apple_root] if args.apple_root else ["--no-trust-chain"]
            peers["relic"] = lambda: timed(["relic", "verify", *trust, path])
        samples = {name: [] for name in peers}
        for _ in range(args.times):
            for name, run in peers.items():
                samples[name].append(run()[1:])
        first = statistics.median(wall for wall, _, _ in samples["steadfast"])
        for name, taken in samples.items():
            walls = sorted(wall for wall, _, _ in taken)
            median = statistics.median(walls)
            cpu = statistics.median(cpu for _, cpu, _ in taken)
            held = max(held for _, _, held in taken)
            spread = f"{median:.1f} ({walls[0]:.1f} to {walls[-1]:.1f})"
            row = [os.path.basename(path), name, spread, f"{cpu:.0f}", f"{held:.0f}",
                   f"{median / first:.2f}"]
            print("| " + " | ".join(row) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", help="the steadfast program")
    parser.add_argument("--apple-root", help="the certificate that relic is to trust")
    parser.add_argument("--times", type=int, metavar="N", help="how long it takes, in N rounds")
    parser.add_argument("--samples", action="store_true", help="each FILE as it is")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    if args.samples:
        return print_samples(args)
    if args.times:
        return print_times(args)
    sys.exit(alterations(args))


def print_samples(args):
    print("| file | SHA-256 | status | Steadfast | rcodesign | relic |")
    print("| --- | --- | --- | --- | --- | --- |")
    for path in args.files:
        said = subprocess.run([args.command, "code", "verify", "--json", path],
                              capture_output=True)
        first = json.loads(said.stdout.splitlines()[0])
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()[:12]
        row = ["/".join(path.split("/")[-2:]), digest, str(said.returncode),
               first.get("statement") or first["error"], rcodesign(path),
               relic(path, args.apple_root)]
        print("| " + " | ".join(row) + " |", flush=True)


def alterations(args):
    missed = 0
    print("| file | altered | status | steadfast found | rcodesign | relic |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.files:
            with open(name, "rb") as file:
                original = file.read()
            for what, alter, applies, expected in ALTERATIONS:
                found = slices(original)
                if not all(applies(one, original) for one in found):
                    continue
                data = bytearray(original)
                alter(data, found[-1])
                path = os.path.join(folder, os.path.basename(name))
                with open(path, "wb") as file:
                    file.write(data)
                status, kinds, text = steadfast(args.command, path)
                is_found = not expected or "*" in expected or any(k in kinds for k in expected)
                missed += not is_found
                text += "" if is_found else " **MISSED**"
                row = [os.path.basename(name), what, str(status), text, rcodesign(path),
                       relic(path, args.apple_root)]
                print("| " + " | ".join(row) + " |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    main()
