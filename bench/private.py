#!/usr/bin/env python3
"""Copies private files beside an account that watches, and counts what that account could read.

In: the program (`--steadfast`), an empty folder that everybody can look into (`--folder`), and root.
Rounds of `copy` and `move` of files of mode 0600 in folders of 0700 and 0755, of which two thirds
are killed and run again; after each, `alert add`. The account of `--user` opens every name that it
finds, blind and timed by inotify, and reads what it opened. Out: files that it read, drafts that
were left, and folders with another mode than their source: 0 is right for each.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import os
import pwd
import random
import select
import shutil
import signal
import stat
import struct
import subprocess
import time
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

SECRET = b"private-bytes"
"""The beginning of each file that nobody else may read."""

MADE = 0x100 | 0x80
"""Events of inotify: a name was made, or moved there."""


class Watcher:
    """Another account, which opens what it can, and reads it once there is something."""

    def __init__(self, root: Path, user: str, count: Synchronized[int]) -> None:
        account = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(account.pw_gid)
        os.setuid(account.pw_uid)
        self.root, self.count = str(root), count
        self.held: list[int] = []
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.events: int = self.libc.inotify_init1(os.O_NONBLOCK)
        self.folders: dict[int, str] = {}

    def open(self, path: str) -> None:
        """Opens a file, or watches a folder and opens what is in it."""
        try:
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return
        if not stat.S_ISDIR(os.fstat(file).st_mode):
            self.held.append(file)
            return
        os.close(file)
        self.folders[self.libc.inotify_add_watch(self.events, path.encode(), MADE)] = path
        try:
            for name in os.listdir(path):
                self.open(f"{path}/{name}")
        except OSError:
            pass

    def next_events(self) -> None:
        """Opens whatever was made, as soon as the system says so."""
        if not select.select([self.events], [], [], 0.02)[0]:
            return
        data, at = os.read(self.events, 65536), 0
        while at < len(data):
            number, _, _, length = struct.unpack_from("iIII", data, at)
            name = data[at + 16 : at + 16 + length].rstrip(b"\0").decode()
            at += 16 + length
            if number in self.folders and name:
                self.open(f"{self.folders[number]}/{name}")

    def read_held(self) -> None:
        for file in self.held:
            found = SECRET in os.pread(file, 4096, 0)
            with self.count.get_lock():
                self.count.value += found
            os.close(file)
        self.held.clear()


def watch(root: Path, user: str, timed: bool, counts: list[Synchronized[int]]) -> None:
    """Watches until it is ended: blind, or timed by inotify."""
    count, ready = counts
    watcher = Watcher(root, user, count)
    while True:
        watcher.open(str(root))
        ready.value = 1
        began = time.monotonic()
        while timed and time.monotonic() - began < 0.5:
            watcher.next_events()
        time.sleep(0.02)
        watcher.read_held()


def make_source(source: Path, files: int, rng: random.Random) -> None:
    for number in range(files):
        folder = source / f"{'open' if number % 2 else 'closed'} {number // 50}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"file {number}"
        path.write_bytes(SECRET + rng.randbytes(rng.randrange(100, 60_000)))
        path.chmod(0o600)
    for folder in source.iterdir():
        folder.chmod(0o755 if folder.name.startswith("open") else 0o700)


def wrong(source: Path, copy: Path) -> list[str]:
    """Names drafts that were left, and folders with another mode than their source."""
    found = [str(path) for path in copy.rglob(".steadfast-*")]
    for folder in source.iterdir():
        there = copy / folder.name
        if not there.exists() or there.stat().st_mode != folder.stat().st_mode:
            found.append(str(there))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--user", default="nobody")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=200, help="files of one round")
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    rng, user, quiet = random.Random(1), arguments.user, subprocess.DEVNULL
    watched = folder / "watched"
    watched.mkdir()
    os.umask(0o022)
    environment = {**os.environ, "HOME": str(watched / "home")}
    environment.pop("XDG_STATE_HOME", None)
    environment.pop("XDG_CONFIG_HOME", None)
    # As a distribution makes it, and not this program.
    (watched / "home/.config/steadfast").mkdir(parents=True)
    source = folder / "source"
    make_source(source, arguments.each, rng)
    source.chmod(0o700)
    read, ready = multiprocessing.Value("i", 0), [multiprocessing.Value("i", 0) for _ in range(2)]
    watchers = [
        multiprocessing.Process(target=watch, args=(watched, user, timed, [read, ready[timed]]))
        for timed in (False, True)
    ]
    for watcher in watchers:
        watcher.start()
    while not all(one.value for one in ready):
        time.sleep(0.01)
    written, killed, faults = 0, 0, []
    for number in range(-(-arguments.files // arguments.each)):
        to, moved = watched / f"copy {number}", folder / "moved"
        words = [str(arguments.steadfast), "copy", "--quiet", f"{source}/.", "--to"]
        if number % 2:
            shutil.copytree(source, moved)
            words[1:4] = ["move", "--quiet", f"{moved}/."]
        if number % 3 < 2:
            process = subprocess.Popen([*words, str(to)], env=environment, stdout=quiet)
            time.sleep(rng.uniform(0.01, 0.3))
            process.kill()
            killed += process.wait() == -signal.SIGKILL
        subprocess.run([*words, str(to)], env=environment, stdout=quiet, check=False)
        faults += wrong(source, to)
        written += arguments.each
        url = f"https://ntfy.example/{SECRET.decode()}"
        alert = [str(arguments.steadfast), "alert", "add", "--webhook", url]
        subprocess.run(alert, env=environment, stdout=quiet, check=False)
        shutil.rmtree(to)
        shutil.rmtree(moved, ignore_errors=True)
    for watcher in watchers:
        watcher.kill()
    print(f"{written} files written, {killed} runs killed: {read.value} read by `{user}`")
    print(f"{len(faults)} drafts left or folders with other modes: {faults[:5]}")
    raise SystemExit(1 if read.value or faults else 0)


if __name__ == "__main__":
    main()
