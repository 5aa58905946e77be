#!/usr/bin/env python3
"""Runs a server, a schedule, checks, updates and `status` at once on one tree, and counts failures.

In: the program (`--steadfast`), an empty folder (`--folder`), seconds for each place, and root. The
places are a folder of mode 0777 and exFAT by FUSE, each as root and as an ordinary user. Out: for
each place, how often each verb ran and with which status, and what failed or was lost; status 1 if
anything did. A verb that says that another run uses the catalogue did not fail. Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from http.cookiejar import CookieJar
from pathlib import Path

FILES = 200
IN_USE = ": in use: "


class Trial:
    """One tree, and what runs on it as one user."""

    def __init__(self, program: str, tree: Path, home: Path, user: int) -> None:
        self.program, self.tree, self.user = program, tree, user
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1"}
        self.env |= {"XDG_RUNTIME_DIR": str(home)}
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.lock = threading.Lock()

    def run(self, *words: str) -> int:
        words = [self.program, *words]
        done = subprocess.run(
            words, env=self.env, user=self.user, capture_output=True, text=True, timeout=300
        )
        text = done.stdout + done.stderr
        busy = done.returncode == 2 and IN_USE in text
        with self.lock:
            self.counts[f"{words[1]} {'in use' if busy else done.returncode}"] += 1
            if done.returncode != 0 and not busy:
                self.faults.append(f"{' '.join(words[1:3])}: {done.returncode}: {text[-400:]}")
        return done.returncode

    def repeat(self, end: float, *words: str) -> None:
        while time.monotonic() < end:
            self.run(*words)

    def add(self, end: float) -> None:
        """Adds files and tags them, so that runs have something to write."""
        number = 0
        while time.monotonic() < end:
            path = self.tree / f"new {number}"
            path.write_text(f"new {number}")
            with contextlib.suppress(PermissionError):
                os.chown(path, self.user, -1)
            self.run("update", "--quiet", str(self.tree))
            number += 1

    def pages(self, end: float) -> None:
        """Starts a server, and reads its pages until the end."""
        words = [self.program, "serve", "--no-open", "--port", "0", str(self.tree)]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            words, env=self.env, user=self.user, stdout=pipe, stderr=pipe
        ) as server:
            line = b""
            if select.select([server.stdout], [], [], 30)[0]:
                line = server.stdout.readline().strip()
            if not line.startswith(b"http"):
                self.faults.append("serve: it did not start")
            address = line.decode().split("/enter")[0]
            jar = urllib.request.HTTPCookieProcessor(CookieJar())
            opener = urllib.request.build_opener(jar)
            if line:
                opener.open(line.decode(), timeout=60).read()
            while line and time.monotonic() < end:
                try:
                    text = opener.open(f"{address}/", timeout=60).read().decode()
                    self.counts["page"] += 1
                    if self.tree.name not in text:
                        self.faults.append(f"serve: a page without the tree: {text[:300]}")
                except OSError as error:
                    self.faults.append(f"serve: {error}")
                time.sleep(0.02)
            if server.poll() is not None:
                self.faults.append(f"serve: it ended with {server.returncode}")
            server.terminate()

    def all_at_once(self, seconds: float) -> None:
        tree = str(self.tree)
        self.run("init", "--quiet", tree)
        self.run("schedule", "add", tree, "--timer", "manual", "--update")
        name = self.tree.name
        end = time.monotonic() + seconds
        work = [
            threading.Thread(target=self.repeat, args=(end, "schedule", "run", name, "--now")),
            threading.Thread(target=self.repeat, args=(end, "status", tree)),
            threading.Thread(target=self.repeat, args=(end, "status")),
            threading.Thread(target=self.repeat, args=(end, "check", "--quiet", tree)),
            threading.Thread(target=self.add, args=(end,)),
            threading.Thread(target=self.pages, args=(end,)),
        ]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        # Nothing is lost: what is on the disk is recorded, and each run that was counted has its
        # number.
        self.run("update", "--quiet", tree)
        self.run("check", "--quiet", tree)
        words = [self.program, "show", "--history", "--json", tree]
        said = subprocess.run(words, env=self.env, user=self.user, capture_output=True, text=True)
        runs = [json.loads(line) for line in said.stdout.splitlines()]
        runs = [run for run in runs if "run" in run]
        there = sum(1 for path in self.tree.iterdir() if path.is_file())
        self.counts["runs recorded"] = len(runs)
        done = sum(self.counts[f"{verb} 0"] for verb in ["init", "check", "update"])
        if len(runs) < done + self.counts["schedule 0"] - 1:
            self.faults.append(f"{len(runs)} runs recorded, {done} done")
        status = [self.program, "status", "--json", tree]
        said = subprocess.run(status, env=self.env, user=self.user, capture_output=True, text=True)
        if f'"files":{there}' not in said.stdout.replace(" ", ""):
            self.faults.append(f"{there} files, but: {said.stdout[:600]}")
        left = [path.name for path in (self.tree / ".steadfast").iterdir()]
        if any(name.endswith(("-wal", "-shm", "-journal")) for name in left):
            self.faults.append(f"left: {left}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--user", type=int, default=54_321)
    args = parser.parse_args()
    base = args.folder.resolve()
    base.chmod(0o755)
    faults = 0
    for kind in ["0777", "exfat"]:
        for user in [0, args.user]:
            home, place = base / f"home-{user}-{kind}", base / f"{kind}-{user}"
            home.mkdir(mode=0o700)
            os.chown(home, user, user)
            place.mkdir()
            if kind == "exfat":
                image = base / f"{user}.image"
                with image.open("wb") as file:
                    file.truncate(64 << 20)
                subprocess.run(["mkfs.exfat", str(image)], check=True, capture_output=True)
                options = f"umask=000,uid={user},gid={user},allow_other"
                loop = subprocess.run(
                    ["losetup", "--find", "--show", str(image)],
                    check=True, capture_output=True, text=True,
                ).stdout.strip()  # fmt: skip
                words = ["mount.exfat-fuse", "-o", options, loop, str(place)]
            try:
                if kind == "exfat":
                    subprocess.run(words, check=True, capture_output=True)
                tree = place / "tree"
                tree.mkdir()
                for number in range(FILES):
                    (tree / f"f{number}").write_text(f"contents {number}")
                tree.chmod(0o777)
                trial = Trial(args.steadfast, tree, home, user)
                trial.all_at_once(args.seconds)
            finally:
                if kind == "exfat":
                    subprocess.run(["umount", str(place)], check=False)
                    subprocess.run(["losetup", "--detach", loop], check=False)
                    image.unlink()
            shutil.rmtree(home)
            row = {"place": kind, "user": user, **dict(sorted(trial.counts.items()))}
            print(json.dumps({**row, "faults": trial.faults}), flush=True)
            faults += len(trial.faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
