#!/usr/bin/env python3
"""Copies under faults, with the truth kept by this harness. README.md says what is tried."""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

# System calls that `copy` makes where a fault can do harm.
CALLS = [
    "openat", "pread64", "pwrite64", "ftruncate", "fsync", "fdatasync", "syncfs", "renameat2",
    "unlinkat", "mkdirat", "fchmod", "fchown", "fsetxattr", "fgetxattr", "flistxattr", "utimensat",
    "statx", "newfstatat", "fstat", "statfs", "fstatfs", "lseek", "linkat", "flock", "fadvise64",
    "io_uring_enter", "getdents64", "fcntl", "read", "readlink", "clone3", "madvise",
]
ERRORS = ["EIO", "ENOSPC", "EACCES", "EINVAL", "EINTR", "ESTALE", "ENODEV", "EROFS"]
KINDS = [
    "kill", "error", "lie", "medium", "full", "edit", "rot", "swap", "vanish", "present", "alias",
    "shared", "removal",
]

# What is swapped: the destination for an empty folder or for an older copy, by mount, the folder
# above it, one beneath it, the source.
SWAPS = ["empty", "same", "mount", "above", "inner", "source"]

# What vanishes: the folder, the volume, the volume and another one is there, the card; or the
# volume comes back as it was.
VANISHING = ["gone", "unmounted", "other volume", "card", "back"]

# Calls that come before the last look at the paths, so a swap at one of them is always in time.
STOPS = ["pwrite64", "ftruncate", "fdatasync", "syncfs", "renameat2", "fsetxattr", "utimensat"]

# Calls between the change of a name, the look at the copies and the removal, and how often there are
# about so many.
REMOVING = {"renameat2": 24, "unlinkat": 12, "fsync": 16, "openat": 220, "pread64": 90, "newfstatat": 200}

BLOCK = 4096
FIBMAP = 1


def digest(path):
    """Digests a file as its medium has it."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return hashlib.sha256(file.read()).hexdigest()


class Volume:
    """A file system in a file, which is read past the cache of what it is on."""

    def __init__(self, folder, name, size="32M", offset=0, image=None):
        self.image, self.offset = image or folder / f"{name}.image", offset
        self.path = folder / name
        self.path.mkdir(parents=True, exist_ok=True)
        if not image:
            subprocess.run(["truncate", "-s", "96M", self.image], check=True)
        loop = ["losetup", "--direct-io=on", "--show", "-f", "--offset", str(offset)]
        size = ["--sizelimit", size]
        found = subprocess.run([*loop, *size, self.image], capture_output=True, check=True)
        self.device = found.stdout.decode().strip()
        subprocess.run(["mkfs.ext4", "-q", "-b", str(BLOCK), self.device], check=True)
        subprocess.run(["mount", self.device, self.path], check=True)

    def close(self):
        subprocess.run(["umount", self.path], check=False)
        subprocess.run(["losetup", "-d", self.device], check=False)

    def zero(self, path):
        """Makes the medium have zeros where a block of a file is. Returns whether it did."""
        with path.open("rb") as file:
            blocks = range(-(-os.fstat(file.fileno()).st_size // BLOCK))
            places = [struct.unpack("I", fcntl.ioctl(file, FIBMAP, struct.pack("I", at)))[0] for at in blocks]
        with self.image.open("r+b") as image:
            for place in [it for it in places if it][:2]:
                os.pwrite(image.fileno(), bytes(BLOCK), self.offset + place * BLOCK)
            os.fsync(image.fileno())
        return any(places)


def empty(folder):
    for path in folder.iterdir():
        if path.name != "lost+found":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def files_in(root):
    found = {}
    for folder, names, leaves in os.walk(root):
        names[:] = [name for name in names if name != ".steadfast"]
        for name in leaves:
            path = Path(folder) / name
            found[str(path.relative_to(root))] = path
    return found


class Trial:
    """One copy under one fault."""

    def __init__(self, options, number):
        self.options, self.number = options, number
        self.chance = random.Random(f"{options.seed}-{number}")
        self.kind = options.kinds[number % len(options.kinds)]
        self.root = Path(options.prefix) / f"trial-{number}"
        self.other = Path(options.second) / f"trial-{number}" if options.second else None
        self.card = Path(options.card) / f"trial-{number}" if options.card else self.root
        self.source = self.card / "source"
        self.faults, self.answers, self.note = [], [], ""
        self.how, self.swapped, self.mounted, self.has_ended = "", None, [], False
        self.aliased, self.by_stop, self.workers = False, False, []
        self.renamed = 0

    def make(self):
        for place in [self.root, self.other, self.card]:
            if place:
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(parents=True)
        if self.kind == "rot" and self.chance.random() < 0.5:
            self.how = "raw"
            self.source = self.options.volumes["first"].path / "source"
        if self.kind == "vanish":
            self.how = self.chance.choice(VANISHING)
        if self.how == "card":
            self.source.mkdir()
            (self.card / "inserted").mkdir()
            self.mount(self.card / "inserted", self.source)
        self.truth = {}
        for at in range(self.chance.randint(3, 7)):
            name = self.chance.choice(["", "DCIM/", "DCIM/100/"]) + f"file {at}"
            path = self.source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            length = self.chance.choice([0, 1, 4095, 4096, 70_000, 1 << 20, 2_000_001])
            path.write_bytes(self.chance.randbytes(length))
            os.utime(path, (1_700_000_000, 1_700_000_000))
            self.truth[name] = digest(path)
        first = next(iter(self.truth))
        if self.chance.random() < 0.3:
            os.link(self.source / first, self.source / "second name")
            self.truth["second name"] = self.truth[first]
        self.tagged = self.chance.random() < 0.5
        if self.tagged:
            self.run(["tag", "-q", str(self.source)])
        self.two = self.other is not None and self.chance.random() < 0.5
        self.places = [self.root / "above/to" if self.kind == "swap" else self.root / "to"]
        self.places += [self.other / "to"] if self.two else []
        self.places[0].parent.mkdir(exist_ok=True)
        self.moves = self.chance.random() < 0.3 or self.kind == "removal"
        # Source files whose contents the fault changed, with the contents that it gave them.
        self.spoiled = {}

    def mount(self, what, where):
        subprocess.run(["mount", "--bind", what, where], check=True)
        self.mounted.append(where)

    def unmount(self):
        while self.mounted:
            subprocess.run(["umount", "-l", self.mounted.pop()], check=True)

    def run(self, words, strace=()):
        command = [*strace, self.options.steadfast, *words]
        return subprocess.run(command, capture_output=True, timeout=120, check=False)

    def words(self):
        words = ["move" if self.moves else "copy", "--json", "--copies", "2" if self.two else "1"]
        words += ["--apart", "--trust-servers", *self.workers, str(self.source) + "/."]
        for place in self.places:
            words += ["--to", str(place)]
        return words

    def inject(self, call, what):
        self.note = f"{self.how} {what}"
        log = ["strace", "-f", "-qq", "-o", str(self.root / "strace")]
        return [*log, "-e", f"trace={call}", "-e", f"inject={what}"]

    def stop(self, calls, count=40):
        """Stops the copy at a call, once."""
        self.by_stop = True
        call = self.chance.choice(calls)
        when = self.chance.choice([1, 2, self.chance.randint(1, count)])
        return self.inject(call, f"{call}:signal=STOP:when={when}")

    def begin(self):
        """Prepares the fault. Returns what it runs under, and what happens meanwhile."""
        if self.kind in ("kill", "error", "lie"):
            return self.at_a_call(), None
        if self.kind == "medium":
            return self.lying_medium()
        if self.kind == "full":
            self.fill()
        elif self.kind in ("edit", "rot"):
            if self.how == "raw" or self.chance.random() < 0.7:
                return self.stop(STOPS), self.disturb
            return (), lambda: (time.sleep(self.chance.uniform(0, 0.08)), self.disturb())
        elif self.kind == "swap":
            self.how = self.chance.choice(SWAPS)
            return self.stop(STOPS), self.exchange
        elif self.kind == "vanish":
            return self.stop(STOPS), self.vanish()
        elif self.kind == "present":
            self.plant()
        elif self.kind == "alias":
            self.alias()
        elif self.kind == "shared":
            self.share()
        elif self.kind == "removal":
            if self.chance.random() < 0.5:
                self.run(["init", str(self.source)])
            call = self.chance.choice(list(REMOVING))
            when = self.chance.randint(1, REMOVING[call])
            return self.inject(call, f"{call}:signal=KILL:when={when}"), None
        return (), None

    def play(self):
        self.make()
        strace, fault = self.begin()
        helper = None
        if fault:
            helper = threading.Thread(target=lambda: self.at_stops(fault) if self.by_stop else fault())
            helper.start()
        try:
            done = self.run(self.words(), strace)
        finally:
            self.has_ended = True
            if helper:
                helper.join()
        if self.kind == "vanish" and self.how != "card":
            self.judge(done, "under the fault")
            self.unmount()
            if self.how != "gone":
                self.mount(self.root / "volume", self.places[0])
        else:
            if self.how == "card":
                self.unmount()
                self.mount(self.card / "inserted", self.source)
            self.judge(done, "under the fault")
        if self.kind == "full":
            (self.places[0].parent / "filler").unlink(missing_ok=True)
        if self.kind == "swap":
            self.unmount()
        if self.kind == "removal":
            self.give_names_back()
        again = self.run(self.words())
        self.judge(again, "again")
        self.left_over(again)

    def give_names_back(self):
        """Looks at what a kill left, by verbs that change nothing, and lets a repair clear it up."""
        def left():
            return {name: path.stat().st_ino for name, path in files_in(self.source).items()}

        before = left()
        temporary = [name for name in before if name.endswith(".moving")]
        self.how = f"{len(temporary)} names"
        self.renamed += len(temporary)
        found = self.run(["check", "--json", str(self.source)])
        if left() != before:
            self.fault("a check changed names")
        if temporary and found.returncode != 1:
            self.fault(f"a check of temporary names ends with {found.returncode}")
        gone = {name for name in self.truth if (self.places[0] / name).exists()}
        for line in found.stdout.splitlines():
            it = json.loads(line)
            path = it.get("path", "").removeprefix(f"{self.source}/")
            is_bad = it.get("verdict") == "missing" and path not in gone
            if is_bad or ".moving" in path or it.get("finding") == "new":
                self.fault(f"a check says {line[:200]}")
        if self.chance.random() < 0.5:
            self.run(["repair", "--yes", str(self.source)])
            here = files_in(self.source)
            if any(name.endswith((".moving", "-moving")) for name in here):
                self.fault("a repair gave not every name back")
            for name, path in here.items():
                if name in self.truth and digest(path) != self.truth[name]:
                    self.fault(f"`{name}` has other contents")

    def at_a_call(self):
        """A kill, an error or a lie at a system call."""
        call = self.chance.choice(CALLS)
        when = self.chance.choice([1, 2, 3, self.chance.randint(1, 30), self.chance.randint(1, 200)])
        if self.kind == "lie":
            # A write that says it was done, and was not: the reading back must notice.
            call = self.chance.choice(["pwrite64", "fsync", "fdatasync", "syncfs", "ftruncate"])
            what = f"{call}:retval={int(call == 'pwrite64')}:when={when}"
            if call != "pwrite64" and self.chance.random() < 0.3:
                what += "+"
        elif self.kind == "kill":
            what = f"{call}:signal=KILL:when={when}"
        else:
            error = self.chance.choice(ERRORS)
            what = f"{call}:error={error}:when={when}"
            # A call that is interrupted for ever is asked again for ever.
            if self.chance.random() < 0.3 and error != "EINTR":
                what += "+"
        return self.inject(call, what)

    def lying_medium(self):
        """One reading gives zeros; or the medium has zeros where a copy was written and flushed."""
        if self.chance.random() < 0.4:
            zeros = "00" * self.chance.choice([1, 64])
            when = self.chance.choice([1, 2, 3, self.chance.randint(1, 30)])
            return self.inject("pread64", f"pread64:poke_exit=@arg2={zeros}:when={when}"), None
        self.how, self.workers = "zeroed", ["--workers", "1"]
        volume = self.options.volumes["first"]
        self.places[0] = volume.path / "to"

        def zero():
            drafts = [it for it in files_in(self.places[0]).values() if it.name.endswith(".draft")]
            self.note += f" {sum(volume.zero(it) for it in drafts)} of {len(drafts)}"

        strace = self.stop(["fadvise64"], 12)
        if self.chance.random() < 0.3:
            strace[-1] += "+"
        return strace, zero

    def fill(self):
        """Leaves little room at the first destination."""
        self.places[0] = self.options.volumes["small"].path / "to"
        filler, left = self.places[0].parent / "filler", self.chance.choice([0, 5, 30, 200, 300])
        with filler.open("wb") as file, contextlib.suppress(OSError):
            while True:
                os.write(file.fileno(), b"x" * 65536)
        os.truncate(filler, max(filler.stat().st_size - left * BLOCK, 0))

    def disturb(self):
        """Changes a file of the source, with or without its time, or on its medium alone."""
        name = self.chance.choice(list(self.truth))
        path = self.source / name
        try:
            if self.how == "raw":
                self.options.volumes["first"].zero(path)
            else:
                before = path.stat()
                with path.open("r+b") as file:
                    file.seek(self.chance.randrange(max(before.st_size, 1)))
                    file.write(b"edited" if self.kind == "edit" else b"\0")
                if self.kind == "rot":
                    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            now, inode = digest(path), path.stat().st_ino
            for one in self.truth:
                it = self.source / one
                if it.exists() and it.stat().st_ino == inode:
                    self.spoiled[one] = now
        except OSError:
            pass

    def vanish(self):
        """Prepares a volume that vanishes, and returns how it does."""
        place = self.source if self.how == "card" else self.places[0]
        if self.how not in ("card", "gone"):
            place.mkdir()
            (self.root / "volume").mkdir()
            self.mount(self.root / "volume", place)

        def go():
            if self.how == "gone":
                if place.exists():
                    place.rename(self.root / "elsewhere")
                    self.swapped = place
                return
            self.unmount()
            if self.how == "back":
                self.mount(self.root / "volume", place)
                return
            if self.how == "other volume":
                self.mount(self.options.volumes["first"].path, place)
            self.swapped = place

        return go

    def share(self):
        """Two destinations on what is one device in the end, or one on the device of the source."""
        self.two = self.aliased = True
        volumes = {name: it.path / "to" for name, it in self.options.volumes.items()}
        pairs = [
            (volumes["first"], volumes["second"]),
            (volumes["first"], volumes["third"]),
            (self.root / "to", volumes["first"]),
            (volumes["third"], self.root / "to"),
        ]
        if self.card != self.root:
            pairs.append((self.card / "to", self.root / "to"))
        at = self.chance.randrange(len(pairs))
        self.places, self.note = list(pairs[at]), f"pair {at}"

    def at_stops(self, fault):
        """Waits until the copy is stopped at a call, does the fault, and lets the copy go on."""
        handled = 0
        while not self.has_ended:
            # Each thread counts its calls, so there can be several stops.
            stops = re.findall(r"^(\d+) +--- SIGSTOP ", self.log(), re.M)
            if len(stops) == handled:
                time.sleep(0.005)
                continue
            if handled == 0 or self.how == "zeroed":
                # The stop may have been noted before it took effect.
                time.sleep(0.02)
                try:
                    fault()
                except (OSError, subprocess.CalledProcessError) as error:
                    self.fault(f"the fault itself failed: {error}")
            handled = len(stops)
            time.sleep(0.02)
            for thread in {int(stop) for stop in stops}:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(thread, signal.SIGCONT)

    def exchange(self):
        """Puts something else at a path of the copy."""
        path = self.swapped_path()
        if path.exists():
            away = (self.card if self.how == "source" else self.root) / "elsewhere"
            if self.how == "inner":
                away.mkdir()
                away /= "DCIM"
            if self.how == "mount":
                away.mkdir()
                self.mount(away, path)
            else:
                path.rename(away)
                if self.how == "same":
                    # An older copy, of the same names and times, and not the same bytes.
                    shutil.copytree(away, path, copy_function=shutil.copy2)
                    for it in files_in(path).values():
                        status = it.stat()
                        it.write_bytes(bytes(status.st_size))
                        os.utime(it, ns=(status.st_atime_ns, status.st_mtime_ns))
                else:
                    path.mkdir()
            self.swapped = path

    def log(self):
        try:
            return (self.root / "strace").read_text()
        except OSError:
            return ""

    def swapped_path(self):
        if self.how == "source":
            return self.source
        if self.how == "inner":
            return self.places[0] / "DCIM"
        if self.how == "above":
            return self.places[0].parent
        return self.places[0]

    def plant(self):
        """Puts other contents, links and folders where copies are to be."""
        (self.root / "trap").mkdir()
        for name in self.chance.sample(list(self.truth), 2):
            path = self.places[0] / name
            how = self.chance.choice(["other", "link", "folder", "same", "linked folder"])
            if (self.places[0] / "DCIM").is_symlink():
                continue  # It would be this harness that writes through the link.
            try:
                if how == "linked folder" and path.parent != self.places[0]:
                    self.places[0].mkdir(exist_ok=True)
                    (self.places[0] / "DCIM").symlink_to(self.root / "trap")
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                if how == "other":
                    path.write_bytes(b"mine")
                elif how == "link":
                    path.symlink_to("/etc/hostname")
                elif how == "folder":
                    path.mkdir()
                else:
                    shutil.copyfile(self.source / name, path)
            except OSError:
                continue
        self.before = {name: path.lstat().st_ino for name, path in files_in(self.places[0]).items()}

    def alias(self):
        """Names one device twice: another folder, a link to the first, or an image on it."""
        self.two = self.aliased = True
        second = self.root / "second"
        self.how = self.chance.choice(["folder", "link", "bind"])
        if self.how != "folder":
            (self.root / "real").mkdir()
        if self.how == "link":
            second.symlink_to(self.root / "real")
        if self.how == "bind":
            second.mkdir()
            self.mount(self.root / "real", second)
        self.places = [self.root / "to", second]

    def fault(self, what):
        self.faults.append(f"{self.number} {self.kind} {self.note}: {what}")

    def judge(self, done, when):
        answer = None
        for line in done.stdout.splitlines():
            try:
                answer = json.loads(line).get("summary", answer)
            except ValueError:
                continue
        yes = bool(answer and answer.get("safe_to_erase"))
        self.answers.append("yes" if yes else "no" if answer else "none")
        # 127 is that of the loader, which meets the first calls of a process.
        if done.returncode not in ((0, 2) if yes else (1, 2, 3, -9, 127)) and self.kind not in ("kill", "removal"):
            self.fault(f"{when}: safe_to_erase {yes} with status {done.returncode}")
        if b"panicked" in done.stderr:
            self.fault(f"{when}: {done.stderr[-300:]}")
        here = files_in(self.source)
        contents = {name: digest(path) for name, path in here.items() if self.spoiled}
        if yes and self.swapped and when == "under the fault" and not self.moves:
            self.fault(f"{when}: yes, and `{self.swapped}` is not what it was")
        if any((self.root / "trap").glob("*")):
            self.fault(f"{when}: it wrote through a link")
        everywhere = [*self.places, *self.places_elsewhere()]
        held = {digest(path) for name, path in here.items() if name.endswith(".moving")}
        for name, truth in self.truth.items():
            copies = []
            for place in everywhere:
                path = place / name
                if path.is_file() and not path.is_symlink():
                    found = digest(path)
                    is_right = found == truth
                    copies.append(found)
                    planted = self.kind == "present" and self.before.get(name) == path.lstat().st_ino
                    may_differ = self.kind == "swap" or name in self.spoiled
                    if not is_right and not planted and not may_differ:
                        self.fault(f"{when}: `{path}` has other contents under its final name")
            # What a change left at a stop is known, and so is what a copy must have.
            is_known = name not in self.spoiled or self.by_stop
            latest = self.spoiled.get(name, truth)
            keeps = {truth, latest} if self.how == "raw" else {latest}
            if name not in here and not keeps & {*copies, *held} and is_known:
                self.fault(f"{when}: `{name}` is lost")
            wanted = len(self.places)
            if yes and is_known:
                paths = [place / name for place in self.places]
                found = [digest(path) for path in paths if path.is_file()]
                good = sum(it in (keeps if self.how == "raw" else {contents.get(name, latest)}) for it in found)
                moved_before = self.moves and name not in here
                if good < wanted and not moved_before:
                    self.fault(f"{when}: yes, and `{name}` is in {good} of {wanted} places")
        if yes and self.aliased:
            self.fault(f"{when}: yes for one device that is named twice")
        if self.kind == "present" and when == "under the fault":
            for name, inode in self.before.items():
                path = self.places[0] / name
                if not os.path.lexists(path) or path.lstat().st_ino != inode:
                    self.fault(f"`{path}` was there and was replaced")

    def places_elsewhere(self):
        """Where copies are that were made before a swap."""
        away = self.root / "elsewhere"
        return [away / "to", away, self.root / "above/to", self.root / "volume"]

    def left_over(self, done):
        if done.returncode not in (0, 1, 2, 3):
            self.fault(f"again: status {done.returncode}")
        for name in files_in(self.source):
            if name.endswith((".moving", "-moving")):
                self.fault(f"again: `{name}` is left over")
        for place in self.places:
            for name in files_in(place):
                if re.search(r"\.steadfast-.*\.draft$", name) and self.kind != "swap":
                    self.fault(f"again: `{name}` is left over")
        quiet = self.kind in ("kill", "error", "lie", "medium", "full", "vanish", "removal")
        if quiet and done.returncode != 0 and not (self.moves and not files_in(self.source)):
            self.fault(f"again: status {done.returncode} without a fault: {done.stdout[-300:]}")

    def clear(self):
        self.unmount()
        for place in [self.root, self.other, self.card]:
            if place:
                shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def volumes(folder):
    """Makes the volumes of all trials: one image with two parts, another image, and a small one."""
    folder = Path(folder) / "volumes"
    made = {}
    try:
        made["first"] = Volume(folder, "first")
        made["third"] = Volume(folder, "third", offset=48 << 20, image=made["first"].image)
        made["second"] = Volume(folder, "second")
        made["small"] = Volume(folder, "small", size="24M")
        yield made
    finally:
        for volume in made.values():
            volume.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", required=True)
    parser.add_argument("--prefix", required=True, help="a folder on a disk")
    parser.add_argument("--second", help="a folder on another device")
    parser.add_argument("--card", help="a folder on a third device, for sources")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--trials", type=int, default=900)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    options.steadfast = str(Path(options.steadfast).resolve())
    with volumes(options.prefix) as options.volumes:
        return play_all(options)


def play_all(options):
    faults, answers, renamed = [], Counter(), 0
    for number in range(options.first, options.first + options.trials):
        trial = Trial(options, number)
        try:
            trial.play()
        except subprocess.TimeoutExpired:
            trial.fault("it did not end")
        answers[trial.kind, *trial.answers[:1]] += 1
        for fault in trial.faults:
            print(fault, flush=True)
        faults += trial.faults
        renamed += trial.renamed
        trial.unmount()
        for volume in options.volumes.values():
            empty(volume.path)
        if not trial.faults:
            trial.clear()
        if number % 500 == 499:
            print_table(options, answers, faults)
    print_table(options, answers, faults)
    print(f"{renamed} files had temporary names when a move was killed")
    return 1 if faults else 0


def print_table(options, answers, faults):
    for kind in options.kinds:
        counts = {answer: answers[kind, answer] for answer in ("yes", "no", "none")}
        wrong = len({fault.split()[0] for fault in faults if fault.split()[1] == kind})
        print(f"| {kind} | {sum(counts.values())} | {counts['yes']} | {counts['no']} | "
              f"{counts['none']} | {wrong} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
