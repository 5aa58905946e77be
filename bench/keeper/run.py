#!/usr/bin/env python3
"""Households whose disks are under watch for many nights, with incidents at random.

The harness knows the truth: each incident, since when it is, and what must be told of it. See
README.md.
"""

import argparse
import http.server
import json
import os
import random
import shutil
import subprocess
import threading
from collections import Counter
from pathlib import Path

# Number of files, bytes of the largest, cover in days, whether the schedule updates, parity.
HOUSEHOLDS = {
    "photographs": (400, 60_000, 30, False, True),
    "music": (250, 120_000, 30, False, False),
    "documents": (600, 8_000, 14, True, True),
    "bags": (150, 90_000, 60, False, False),
    "developer": (800, 4_000, 7, True, False),
    "letters": (100, 3_000, 7, False, True),
    "films": (40, 900_000, 30, False, False),
    "scans": (200, 40_000, 14, False, True),
    "recipes": (60, 2_000, 3, True, False),
    "accounts": (300, 9_000, 10, False, True),
    "school": (350, 12_000, 21, True, True),
    "archive": (900, 10_000, 90, False, False),
}
IMAGE_BYTES = 48 << 20
DAY_S = 86_400


class Inbox:
    """A webhook and a monitor on loopback."""

    def __init__(self):
        self.messages, self.pings, self.is_dead = [], [], False
        inbox = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if inbox.is_dead and self.path == "/news":
                    self.send_response(503)
                elif self.path == "/news":
                    inbox.messages.append(json.loads(body))
                    self.send_response(200)
                else:
                    inbox.pings.append(self.path.rsplit("/", 1)[1])
                    self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Incident:
    """Something that is wrong, and the kinds by which it may be told."""

    def __init__(self, what, kinds, path, night, limit, end):
        self.what, self.kinds, self.path, self.night = what, kinds, path, night
        self.limit, self.end, self.told, self.mended = limit, end, None, None


class Household:
    def __init__(self, name, place, program, seed):
        self.count, self.largest, self.cover, self.updates, self.parity = HOUSEHOLDS[name]
        self.name, self.program, self.chance = name, program, random.Random(f"{seed} {name}")
        self.place, self.root = place, place / "disk"
        shutil.rmtree(place, ignore_errors=True)
        for folder in (self.root, place / "home"):
            folder.mkdir(parents=True)
        self.night, self.files, self.open, self.faults = 0, {}, [], []
        self.tally, self.cpu_s, self.rss_kb, self.ran = Counter(), 0.0, 0, 0
        self.inbox, self.subjects, self.made = Inbox(), Counter(), 0
        self.image = place / "image"
        self.format(self.image)
        self.mount(self.image)

    # The machine

    def sh(self, *words, check=True):
        return subprocess.run(words, check=check, capture_output=True, text=True)

    def format(self, image):
        with open(image, "wb") as file:
            file.truncate(IMAGE_BYTES)
        self.sh("mkfs.ext4", "-q", "-E", "root_owner=0:0", str(image))

    def mount(self, image):
        self.sh("mount", "-o", "loop", str(image), str(self.root))

    def unmount(self):
        self.sh("umount", str(self.root))

    def steadfast(self, *words):
        home = self.place / "home"
        environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "STEADFAST_AHEAD_S": str(self.night * DAY_S),
        }
        before = os.times()
        done = subprocess.run(
            [self.program, *words], env=environment, capture_output=True, text=True, timeout=120
        )
        after = os.times()
        if words[:2] == ("schedule", "run"):
            self.cpu_s += after[2] - before[2] + after[3] - before[3]
            self.ran += 1
        if done.returncode not in (0, 1, 2, 3) or "panicked" in done.stderr:
            self.fault("crash", f"{words}: {done.returncode} {done.stderr[-300:]}")
        return done

    # The family

    def write_file(self, name):
        bytes_ = self.chance.randbytes(self.chance.randint(200, self.largest))
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes_)
        self.files[name] = bytes_

    def new_name(self):
        self.made += 1
        return f"{self.chance.randint(2015, 2026)}/{self.made:05}.bin"

    def settle_in(self):
        for _ in range(self.count):
            self.write_file(self.new_name())
        root = str(self.root)
        self.steadfast("init", root)
        self.steadfast("tag", root)
        if self.parity:
            self.steadfast("parity", "make", root)
        words = ["--cover", f"{self.cover}d", "--timer", "manual", "--name", "disk"]
        words += ["--update"] * self.updates
        self.steadfast("schedule", "add", root, *words)
        self.steadfast("alert", "add", "--webhook", self.inbox.url + "/news", "--form", "json")
        self.steadfast("alert", "add", "--ping", self.inbox.url + "/ping")

    def quiet_files(self):
        busy = {incident.path for incident in self.open}
        return sorted(name for name in self.files if name not in busy)

    # Incidents: each returns what must be told, or nothing if nothing may be.

    def begin(self, what, kinds, path, limit, end):
        self.open.append(Incident(what, kinds, path, self.night, limit, end))
        self.tally[what] += 1

    def rot(self):
        name = self.chance.choice(self.quiet_files())
        os.sync()
        self.unmount()
        image = bytearray(self.image.read_bytes())
        at = image.find(self.files[name][:64])
        if at >= 0:
            image[at + self.chance.randrange(64)] ^= 1 << self.chance.randrange(8)
            self.image.write_bytes(image)
        self.mount(self.image)
        if at < 0:
            return

        def mend():
            held = self.root / name
            stat = held.stat()
            copy = self.place / "copy" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(self.files[name])
            os.utime(copy, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            self.steadfast(
                "repair", "--yes", "--from", str(self.place / "copy"), str(self.root)
            )
            if held.read_bytes() != self.files[name]:
                self.fault("not mended", name)

        self.begin("rot", {"corrupt"}, name, self.cover + 1, mend)

    def delete(self):
        name = self.chance.choice(self.quiet_files())
        (self.root / name).unlink()
        del self.files[name]

        def accept():
            self.steadfast("update", "--accept-missing", str(self.root))

        self.begin("deletion", {"missing"}, name, 1, accept)

    def edit(self):
        name = self.chance.choice(self.quiet_files())
        self.write_file(name)
        self.tally["edit"] += 1
        if not self.updates:
            self.open.append(
                Incident("edit", {"modified"}, name, self.night, self.cover + 1,
                         lambda: self.steadfast("update", str(self.root)))
            )

    def add(self):
        for _ in range(self.chance.randint(1, 12)):
            self.write_file(self.new_name())
        if not self.updates:
            self.steadfast("tag", str(self.root))
        self.tally["import"] += 1

    def rename(self):
        name = self.chance.choice(self.quiet_files())
        to = self.new_name()
        (self.root / to).parent.mkdir(exist_ok=True)
        (self.root / name).rename(self.root / to)
        self.files[to] = self.files.pop(name)
        self.steadfast("check", str(self.root))
        self.tally["rename"] += 1

    def away(self):
        self.unmount()
        self.begin("disk away", {"unmounted"}, "", 3, lambda: self.mount(self.image))

    def other_disk(self):
        other = self.place / "other"
        self.unmount()
        self.format(other)
        self.mount(other)
        (self.root / "film").write_text("another disk")
        self.steadfast("init", str(self.root))
        self.steadfast("tag", str(self.root))

        def back():
            self.unmount()
            self.mount(self.image)

        self.begin("other disk", {"unmounted"}, "", 3, back)

    def repair_data(self):
        sets = [path for path in (self.root / ".steadfast/parity").glob("*") if path.is_file()]
        if not sets:
            return
        path = max(sets, key=lambda one: one.stat().st_size)
        whole = path.read_bytes()
        damaged = bytearray(whole)
        damaged[len(damaged) * 3 // 4] ^= 4
        path.write_bytes(damaged)
        limit = self.cover + 1

        def mend():
            if path.exists():
                path.write_bytes(whole)

        self.begin("repair data", {"repair data"}, "", limit, mend)

    def catalogue(self):
        path = self.root / ".steadfast/catalogue.sqlite"
        whole = path.read_bytes()
        path.write_bytes(b"rot" * 400 + whole[1200:])
        self.begin("catalogue", {"unknown"}, "", 1, lambda: path.write_bytes(whole))

    def asleep(self):
        self.tally["machine off"] += 1
        self.night += self.chance.randint(2, 6)

    def dead_webhook(self):
        self.tally["webhook dead"] += 1
        self.inbox.is_dead = True
        self.revive = self.night + self.chance.randint(2, 5)

    # A night, and what is judged of it

    def fault(self, kind, text):
        self.faults.append((kind, self.night, text))

    def live(self, nights):
        self.settle_in()
        self.revive = None
        start = self.night
        while self.night - start < nights:
            self.day()
            self.one_night()
            self.night += 1
        self.sh("umount", str(self.root), check=False)

    def day(self):
        if self.revive is not None and self.night >= self.revive:
            self.inbox.is_dead, self.revive = False, None
        for incident in self.open:
            is_due = incident.told is not None and self.night > incident.told + 1
            if incident.mended is None and is_due:
                incident.end()
                incident.mended = self.night
        is_there = not any(one.path == "" and one.mended is None for one in self.open)
        if is_there and self.chance.random() < 0.5:
            acts = [self.rot] * 3 + [self.delete] * 2 + [self.edit] * 2 + [self.add] * 3
            acts += [self.rename, self.away, self.other_disk, self.asleep, self.dead_webhook]
            acts += [self.repair_data, self.catalogue]
            self.chance.choice(acts)()

    def one_night(self):
        before = len(self.inbox.messages)
        self.steadfast("schedule", "run", "--now", "disk")
        for message in self.inbox.messages[before:]:
            self.judge(message)
        status = json.loads(self.steadfast("status", "--json").stdout.splitlines()[0])
        worst = self.steadfast("status").returncode
        if self.inbox.pings and self.inbox.pings[-1] not in ("start", str(worst)):
            listed = len(self.steadfast("status", "--json").stdout.splitlines())
            if listed == 1:
                self.fault("monitor differs", f"ping {self.inbox.pings[-1]}, status {worst}")
        for incident in list(self.open):
            if incident.mended is not None:
                self.open.remove(incident)
            elif incident.told is not None and status["state"] == "fine" and worst == 0:
                self.fault("green while open", f"{incident.what} {incident.path}")
            elif incident.told is None and not self.inbox.is_dead:
                late = self.night - max(incident.night, self.revive or 0)
                if late > incident.limit + 6:
                    self.fault("not told", f"{incident.what} {incident.path}")
                    incident.end()
                    incident.mended = incident.told = self.night

    def judge(self, message):
        if "body" not in message or not message["subject"]:
            self.fault("no words", str(message)[:200])
        self.tally["messages"] += 1
        self.subjects["".join("#" if c.isdigit() else c for c in message["subject"])] += 1
        if message["settled"] and not message["new"]:
            return
        for one in message.get("new_paths", []):
            kind, path = one["state"], one["path"]
            fits = [
                incident
                for incident in self.open
                if kind in incident.kinds and incident.path in ("", path)
            ]
            if not fits:
                self.fault("false alarm", f"{kind} {path}: {message['subject']}")
            for incident in fits:
                if incident.told is not None and message["new"] and len(fits) == 1:
                    self.fault("told twice", f"{kind} {path}")
                incident.told = self.night if incident.told is None else incident.told


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", required=True)
    parser.add_argument("--prefix", type=Path, required=True)
    parser.add_argument("--nights", type=int, default=60)
    parser.add_argument("--only", choices=sorted(HOUSEHOLDS))
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    names = [arguments.only] if arguments.only else list(HOUSEHOLDS)
    subjects, all_faults = Counter(), 0
    print("| household | nights | incidents | messages | faults | s a night |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        place = arguments.prefix / name
        home = Household(name, place, arguments.steadfast, arguments.seed)
        home.live(arguments.nights)
        incidents = sum(count for what, count in home.tally.items() if what != "messages")
        each = home.cpu_s / max(home.ran, 1)
        print(
            f"| {name} | {home.night} | {incidents} | {home.tally['messages']} | "
            f"{len(home.faults)} | {each:.2f} |",
            flush=True,
        )
        for fault in home.faults[:10]:
            print("    ", *fault, flush=True)
        subjects.update(home.subjects)
        all_faults += len(home.faults)
    for subject, count in subjects.most_common(10):
        print(f"{count:6} {subject}")
    raise SystemExit(1 if all_faults else 0)


if __name__ == "__main__":
    main()
