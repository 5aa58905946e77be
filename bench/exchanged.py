#!/usr/bin/env python3
"""Exchanges what belongs to a catalogue for links, while root runs verbs on the tree of another user.

In: the program (`--steadfast`), an empty folder (`--folder`), the number of runs. Out: how often each
exchange was made during how many runs, and what changed outside the tree; status 1 if anything did.
Linux, as root.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import signal
import select
import struct
import subprocess
import sys
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

OWNER = 54_321
"""The user of the tree."""

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE = -100, 2
IN_OPEN, IN_CREATE, IN_MODIFY = 0x20, 0x100, 0x2

PLACES = ["folder", "parent", "file", "log", "lock", "readers"]
VERBS = [
    ["check", "{tree}"],
    ["status"],
    ["repair", "--dry-run", "{tree}"],
    ["status", "{tree}"],
    ["show", "--history", "{tree}"],
    ["known", "{other}", "--in", "{tree}"],
    ["schedule", "run", "tree", "--now"],
    ["serve", "--no-open", "--port", "0", "{tree}"],
    ["update", "{tree}"],
]


def exchange(one: Path, other: Path) -> None:
    LIBC.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)


def attack(base: Path, place: str, timed: bool, counter: Path) -> None:
    """Exchanges until it is killed: at once and back, or when a file of the folder is opened."""
    os.setgroups([])
    os.setgid(OWNER)
    os.setuid(OWNER)
    folder = base / "parent/tree/.steadfast"
    target, link = {
        "folder": (folder, base / "parent/tree/link"),
        "parent": (base / "parent", base / "link"),
        "file": (folder / "catalogue.sqlite", folder / "link"),
        "log": (folder / "catalogue.sqlite-wal", folder / "link"),
        "lock": (folder / "catalogue.sqlite.lock", folder / "link"),
        "readers": (folder / "catalogue.sqlite.readers", folder / "link"),
    }[place]
    victim = base.parent / "victim"
    leads_to = {
        "folder": victim,
        "parent": base.parent / "victims",
        "file": victim / "catalogue.sqlite",
        "log": victim / "made-wal",
        "lock": victim / "secret",
        "readers": victim / "secret",
    }[place]
    watch = LIBC.inotify_init1(0)
    LIBC.inotify_add_watch(watch, os.fsencode(folder), IN_OPEN | IN_CREATE | IN_MODIFY)
    done = 0
    with counter.open("r+b", buffering=0) as count:
        while True:
            if timed:
                os.read(watch, 4096)
                time.sleep((done * 7 % 40) / (20_000 if done % 2 else 200))
            if place == "log" and not target.exists():
                target.write_bytes(b"")
            if not link.is_symlink() and not target.is_symlink():
                link.unlink(missing_ok=True)
                link.symlink_to(leads_to)
            exchange(target, link)
            # Half of the timed ones come late in a run, and stay for a while.
            time.sleep(0.05 if timed and done % 2 == 0 else 0.0002 * (done % 9))
            exchange(target, link)
            done += 1
            os.pwrite(count.fileno(), struct.pack("<q", done), 0)


def state(folder: Path) -> dict[str, tuple]:
    """Returns what a victim's folder has: names, owners, modes, times, contents."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        contents = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (
            status.st_uid, status.st_gid, status.st_mode, status.st_mtime_ns, status.st_ctime_ns,
            contents,
        )  # fmt: skip
    return found


def serve(words: list[str], env: dict[str, str]) -> int:
    """Starts a server, reads the page of the tree if there is one, and ends the server."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, env=env, stdout=pipe, stderr=subprocess.DEVNULL) as server:
        line = b""
        if select.select([server.stdout], [], [], 30)[0]:
            line = server.stdout.readline().strip()
        if line.startswith(b"http"):
            jar = urllib.request.HTTPCookieProcessor(CookieJar())
            opener, address = urllib.request.build_opener(jar), line.decode()
            with contextlib.suppress(OSError):
                opener.open(address, timeout=60).read()
                opener.open(address.split("/enter")[0] + "/", timeout=60).read()
        server.terminate()
        ended = server.wait(600)
        # A server that was asked to end has no other status.
        return 0 if ended == -signal.SIGTERM and line else ended


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--runs", type=int, default=1000)
    args = parser.parse_args()
    base = args.folder.resolve()
    home = base / "home"
    env = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home), "NO_COLOR": "1"}
    env |= {"XDG_CONFIG_HOME": str(home / "config"), "XDG_RUNTIME_DIR": str(home)}
    home.mkdir(mode=0o700)
    base.chmod(0o755)

    def run(*words: str) -> int:
        words = [args.steadfast, *words]
        if words[1] == "serve":
            return serve(words, env)
        quiet = subprocess.DEVNULL
        return subprocess.run(words, env=env, stdout=quiet, stderr=quiet, timeout=600).returncode

    # The victims: a folder of root's with a catalogue's names in it, and one beneath which there is
    # a folder of the tree's name. A whole catalogue there would be the one that the path names.
    victim, victims, other = base / "victim", base / "victims", base / "other"
    tree, at = base / "o/parent/tree", base / "o"
    for folder in [victim, victims / "tree", other, tree]:
        folder.mkdir(parents=True)
    (victim / "secret").write_text("17 1700000000 init\n")
    for folder in [victims / "tree", tree, other]:
        for number in range(20):
            (folder / f"f{number}").write_text(f"contents {number}")
    for folder in [other, tree]:
        assert run("init", str(folder)) == 0
    assert run("parity", "make", str(tree)) == 0
    assert run("schedule", "add", str(tree), "--timer", "manual", "--update", "--parity") == 0
    for name in ["catalogue.sqlite", "catalogue.sqlite.lock"]:
        (victim / name).write_bytes((tree / ".steadfast" / name).read_bytes())
    for path in [at, *at.rglob("*")]:
        os.lchown(path, OWNER, OWNER)
    victims.chmod(0o700)
    victim.chmod(0o755)
    before = {folder: state(folder) for folder in [victim, victims]}
    table: dict[str, dict[str, int]] = {}
    wrong: list[str] = []
    ways = [(place, timed) for place in PLACES for timed in [False, True]]
    each = max(1, args.runs // len(ways))
    for place, timed in ways:
        counter = base / "counter"
        counter.write_bytes(bytes(8))
        counter.chmod(0o666)
        attacker = os.fork()
        if attacker == 0:
            try:
                attack(at, place, timed, counter)
            finally:
                os._exit(1)
        row = {"runs": 0, "status 0": 0, "status 1": 0, "status 2": 0, "status 3": 0, "signal": 0}
        for number in range(each):
            # What the path leads to is what root asked for, so nothing is written through it.
            verbs = VERBS[:-1] if place == "parent" else VERBS
            verb = verbs[number % len(verbs)]
            done = run(*(word.format(tree=tree, other=other) for word in verb))
            row["runs"] += 1
            key = f"status {done}" if done >= 0 else "signal"
            row[key] = row.get(key, 0) + 1
            if number % 50 == 49 or number + 1 == each:
                for folder, was in before.items():
                    now = state(folder)
                    if now != was:
                        keys = [key for key in now.keys() | was.keys() if now.get(key) != was.get(key)]
                        wrong.append(f"{place}, {timed}: {verb}: {keys}")
                        before[folder] = now
        os.kill(attacker, signal.SIGKILL)
        os.waitpid(attacker, 0)
        row["exchanges"] = struct.unpack("<q", counter.read_bytes())[0]
        table[f"{place}, {'timed' if timed else 'blind'}"] = row
        print(json.dumps({f"{place}, {'timed' if timed else 'blind'}": row}), flush=True)
        # What the last exchange left is put back.
        for link, target in [(at / "link", at / "parent"), (tree / "link", tree / ".steadfast")]:
            if target.is_symlink():
                exchange(target, link)
        folder = tree / ".steadfast"
        for name in ["", "-wal", ".lock", ".readers"]:
            path = folder / f"catalogue.sqlite{name}"
            if path.is_symlink():
                exchange(path, folder / "link")
        for link in [at / "link", tree / "link", folder / "link"]:
            link.unlink(missing_ok=True)
    print(json.dumps({"changed outside": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
