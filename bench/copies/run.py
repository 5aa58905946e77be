#!/usr/bin/env python3
"""Copies under faults, with the truth kept by this harness. README.md says what is tried."""

import argparse
import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

# System calls that `copy` makes where a fault can do harm.
CALLS = [
    "openat", "pread64", "pwrite64", "ftruncate", "fsync", "syncfs", "renameat2", "unlinkat",
    "mkdirat", "fchmod", "fchown", "fsetxattr", "fgetxattr", "utimensat", "statx", "newfstatat",
    "fstat", "lseek", "linkat", "flock", "fadvise64", "io_uring_enter", "getdents64", "fcntl",
]
ERRORS = ["EIO", "ENOSPC", "EACCES", "EINVAL", "EINTR", "ESTALE", "ENODEV", "EROFS"]
KINDS = ["kill", "error", "lie", "full", "edit", "rot", "swap", "present", "alias"]

# What is swapped: the destination for an empty folder or for an older copy, by mount, the folder
# above it, one beneath it, the source.
SWAPS = ["empty", "same", "mount", "above", "inner", "source"]

# Calls that come before the last look at the paths, so a swap at one of them is always in time.
STOPS = ["pwrite64", "ftruncate", "fsync", "syncfs", "renameat2", "fsetxattr", "utimensat"]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
        self.kind = KINDS[number % len(KINDS)]
        self.root = Path(options.prefix) / f"trial-{number}"
        self.other = Path(options.second) / f"trial-{number}" if options.second else None
        self.source = self.root / "source"
        self.faults, self.answers, self.note = [], [], ""
        self.how, self.swapped, self.mounted, self.has_ended = "", None, None, False

    def make(self):
        for place in [self.root, self.other]:
            if place:
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(parents=True)
        self.truth = {}
        for at in range(self.chance.randint(3, 9)):
            name = self.chance.choice(["", "DCIM/", "DCIM/100/"]) + f"file {at}"
            path = self.source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            length = self.chance.choice([0, 1, 4095, 4096, 70_000, 1 << 20, 3_000_001])
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
        self.places = [self.root / "above/to" if self.kind == "swap" else self.root / "to"] + ([self.other / "to"] if self.two else [])
        self.places[0].parent.mkdir(exist_ok=True)
        self.moves = self.chance.random() < 0.3
        # Source files whose truth the fault changed: no copy of them may be called a copy.
        self.spoiled = set()

    def run(self, words, strace=()):
        command = [*strace, self.options.steadfast, *words]
        return subprocess.run(command, capture_output=True, timeout=120, check=False)

    def words(self):
        words = ["move" if self.moves else "copy", "--json", "--copies", "2" if self.two else "1"]
        words += ["--apart", str(self.source) + "/."]
        for place in self.places:
            words += ["--to", str(place)]
        return words

    def play(self):
        self.make()
        strace, helper = (), None
        log = str(self.root / "strace")
        if self.kind in ("kill", "error", "lie"):
            call = self.chance.choice(CALLS)
            when = self.chance.choice([1, 2, 3, self.chance.randint(1, 30), self.chance.randint(1, 200)])
            if self.kind == "lie":
                # A write that says it was done, and was not: the reading back must notice.
                call = self.chance.choice(["pwrite64", "fsync", "syncfs", "ftruncate"])
                what = f"{call}:retval={int(call == 'pwrite64')}:when={when}"
                if call != "pwrite64" and self.chance.random() < 0.3:
                    what += "+"
            elif self.kind == "kill":
                what = f"{call}:signal=KILL:when={when}"
            else:
                what = f"{call}:error={self.chance.choice(ERRORS)}:when={when}"
                if self.chance.random() < 0.3:
                    what += "+"
            self.note = what
            strace = ("strace", "-f", "-qq", "-o", log, "-e", f"trace={call}", "-e", f"inject={what}")
        elif self.kind == "full":
            helper = self.fill()
        elif self.kind in ("edit", "rot"):
            helper = threading.Thread(target=self.disturb)
        elif self.kind == "swap":
            call = self.chance.choice(STOPS)
            what = f"{call}:signal=STOP:when={self.chance.choice([1, 2, self.chance.randint(1, 40)])}"
            strace = ("strace", "-f", "-qq", "-o", log, "-e", f"trace={call}", "-e", f"inject={what}")
            self.how = self.chance.choice(SWAPS)
            self.note = f"{self.how} at {what}"
            helper = threading.Thread(target=self.swap, args=(log,))
        elif self.kind == "present":
            self.plant()
        elif self.kind == "alias":
            self.alias()
        if isinstance(helper, threading.Thread):
            helper.start()
        done = self.run(self.words(), strace)
        self.has_ended = True
        if isinstance(helper, threading.Thread):
            helper.join()
        self.judge(done, "under the fault")
        if helper and not isinstance(helper, threading.Thread):
            helper()
        if self.mounted:
            subprocess.run(["umount", self.mounted], check=True)
        again = self.run(self.words())
        self.judge(again, "again")
        self.left_over(again)

    def fill(self):
        """Leaves little room at the first destination, and returns how to give it back."""
        volume = self.root / "to"
        volume.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", volume], check=True)
        return lambda: subprocess.run(["umount", volume], check=True)

    def disturb(self):
        """Changes a file, its contents alone, or the destination, at some time during the copy."""
        time.sleep(self.chance.uniform(0, 0.08))
        name = self.chance.choice(list(self.truth))
        path = self.source / name
        try:
            before = path.stat()
            with path.open("r+b") as file:
                file.seek(self.chance.randrange(max(before.st_size, 1)))
                file.write(b"edited" if self.kind == "edit" else b"\0")
            if self.kind == "rot":
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            same = {one for one, it in self.truth.items() if it == self.truth[name]}
            self.spoiled |= same
        except OSError:
            pass

    def swap(self, log):
        """Waits until the copy is stopped at a call, puts something else at a path, and lets it go on."""
        handled = 0
        while not self.has_ended:
            # Each thread counts its calls, so there can be several stops.
            stops = re.findall(r"^(\d+) +--- SIGSTOP ", self.log_of(log), re.M)
            if len(stops) == handled:
                time.sleep(0.005)
                continue
            if handled == 0:
                self.exchange()
            handled = len(stops)
            # The stop may have been noted before it took effect.
            time.sleep(0.02)
            for thread in {int(stop) for stop in stops}:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(thread, signal.SIGCONT)

    def exchange(self):
        """Puts something else at a path of the copy."""
        path = self.swapped_path()
        if path.exists():
            away = self.root / "elsewhere"
            if self.how == "inner":
                away.mkdir()
                away /= "DCIM"
            if self.how == "mount":
                away.mkdir()
                subprocess.run(["mount", "--bind", away, path], check=True)
                self.mounted = path
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

    def log_of(self, log):
        try:
            return Path(log).read_text()
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
        for name in self.chance.sample(list(self.truth), 2):
            path = self.places[0] / name
            path.parent.mkdir(parents=True, exist_ok=True)
            how = self.chance.choice(["other", "link", "folder", "same"])
            try:
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
        self.two = True
        second = self.root / "second"
        if self.chance.random() < 0.5:
            (self.root / "real").mkdir()
            second.symlink_to(self.root / "real")
        self.places = [self.root / "to", second]
        self.aliased = True

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
        if done.returncode not in ((0, 2) if yes else (1, 2, 3, -9, 127)) and self.kind != "kill":
            self.fault(f"{when}: safe_to_erase {yes} with status {done.returncode}")
        if b"panicked" in done.stderr:
            self.fault(f"{when}: {done.stderr[-300:]}")
        here = files_in(self.source)
        if yes and self.swapped and when == "under the fault" and not self.moves:
            self.fault(f"{when}: yes, and `{self.swapped}` is not what it was")
        everywhere = [*self.places, *self.places_elsewhere()]
        for name, truth in self.truth.items():
            copies = []
            for place in everywhere:
                path = place / name
                if path.is_file() and not path.is_symlink():
                    is_right = digest(path) == truth
                    copies.append(is_right)
                    planted = self.kind == "present" and self.before.get(name) == path.lstat().st_ino
                    if not is_right and not planted and not self.how and name not in self.spoiled:
                        self.fault(f"{when}: `{path}` has other contents under its final name")
            if name not in here and not any(copies) and name not in self.spoiled:
                self.fault(f"{when}: `{name}` is lost")
            wanted = len(self.places)
            if yes and name not in self.spoiled:
                right = [(place / name) for place in self.places]
                good = sum(path.is_file() and digest(path) == truth for path in right)
                moved_before = self.moves and name not in here
                if good < wanted and not moved_before:
                    self.fault(f"{when}: yes, and `{name}` is in {good} of {wanted} places")
        if yes and getattr(self, "aliased", False):
            self.fault(f"{when}: yes for one device that is named twice")
        if self.kind == "present" and when == "under the fault":
            for name, inode in self.before.items():
                path = self.places[0] / name
                if not os.path.lexists(path) or path.lstat().st_ino != inode:
                    self.fault(f"`{path}` was there and was replaced")

    def places_elsewhere(self):
        """Where copies are that were made before a swap."""
        away = self.root / "elsewhere"
        return [away / "to", away, self.root / "above/to"] if self.how else []

    def left_over(self, done):
        if done.returncode not in (0, 1, 2, 3):
            self.fault(f"again: status {done.returncode}")
        for place in self.places:
            for name in files_in(place):
                if re.search(r"\.steadfast-.*\.draft$", name) and self.kind != "swap":
                    self.fault(f"again: `{name}` is left over")
        quiet = self.kind in ("kill", "error", "lie", "full")
        if quiet and done.returncode != 0 and not (self.moves and not files_in(self.source)):
            self.fault(f"again: status {done.returncode} without a fault: {done.stdout[-300:]}")

    def clear(self):
        for place in [self.root, self.other]:
            if place:
                shutil.rmtree(place, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", required=True)
    parser.add_argument("--prefix", required=True, help="a folder on a disk")
    parser.add_argument("--second", help="a folder on another device")
    parser.add_argument("--trials", type=int, default=900)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    options.steadfast = str(Path(options.steadfast).resolve())
    faults, answers = [], Counter()
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
        if not trial.faults:
            trial.clear()
    for kind in KINDS:
        counts = {answer: answers[kind, answer] for answer in ("yes", "no", "none")}
        wrong = sum(1 for fault in faults if fault.split()[1] == kind)
        print(f"| {kind} | {sum(counts.values())} | {counts['yes']} | {counts['no']} | "
              f"{counts['none']} | {wrong} |")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
