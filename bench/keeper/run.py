#!/usr/bin/env python3
"""Households whose disks are under watch for many nights, with incidents at random.

The harness knows the truth: each incident, since when it is, and what must be told of it. See
README.md.
"""

import argparse
import concurrent.futures
import http.server
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
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
# Less than the earlier sets of repair data of a month take: they must give way.
# Less than a page: the case in which a full disk ended SQLite by a signal (SIGBUS).
BLOCK_BYTES = 1024
DAY_S = 86_400
# Households whose schedules mend what has decayed, and keep the repair data up to date.
MENDING = {"photographs", "letters"}
# Incidents by which the whole folder is not there or not known.
WHOLE = {"disk away", "other disk", "catalogue", "disk full"}
# Incidents that count for an alarm about many changes.
CHANGES = {"deletion", "edit", "mass change", "suspect"}


class Inbox:
    """A webhook and a monitor on loopback."""

    def __init__(self):
        self.messages, self.pings, self.is_dead = [], [], False
        inbox = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers.get("content-length", 0))
                body = self.rfile.read(length)
                if len(body) < length:
                    # Its sender was killed.
                    self.close_connection = True
                    return
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
    """Something that is wrong, and the kinds by which it may be told of its paths.

    `limit` counts nights on which it could be told; none if it need not be.
    """

    def __init__(self, what, kinds, paths, night, limit, end):
        self.what, self.kinds, self.paths, self.night = what, kinds, paths, night
        self.limit, self.end, self.told, self.mended = limit, end, None, None
        self.waited, self.heard = 0, set()

    def fits(self, kind, path):
        if kind not in self.kinds:
            return False
        return not self.paths or any(path == one or path.startswith(one + "/") for one in self.paths)


class Household:
    def __init__(self, name, place, program, seed, disk_mib=64):
        self.count, self.largest, self.cover, self.updates, self.parity = HOUSEHOLDS[name]
        self.name, self.program, self.chance = name, program, random.Random(f"{seed} {name}")
        self.place, self.root, self.image_bytes = place, place / "disk", disk_mib << 20
        shutil.rmtree(place, ignore_errors=True)
        for folder in (self.root, place / "home"):
            folder.mkdir(parents=True)
        self.night, self.files, self.open, self.faults = 0, {}, [], []
        self.tally, self.cpu_s, self.rss_kb, self.ran = Counter(), 0.0, 0, 0
        self.inbox, self.subjects, self.made = Inbox(), Counter(), 0
        self.closed, self.words, self.silent, self.revive = [], {}, 0, None
        self.edited, self.touched, self.fresh = set(), set(), set()
        self.spoiled, self.spoilt = set(), None
        self.log = open(place / "messages", "w", buffering=1)
        self.heard = 0
        self.image = place / "image"
        self.format(self.image)
        self.mount(self.image)

    # The machine

    def sh(self, *words, check=True):
        return subprocess.run(words, check=check, capture_output=True, text=True)

    def format(self, image):
        with open(image, "wb") as file:
            file.truncate(self.image_bytes)
        self.sh("mkfs.ext4", "-q", "-F", "-b", str(BLOCK_BYTES), "-E", "root_owner=0:0", str(image))

    def mount(self, image):
        self.sh("mount", "-o", "loop", str(image), str(self.root))

    def unmount(self):
        self.sh("umount", str(self.root))

    def environment(self):
        return {
            "HOME": str(self.place / "home"),
            "PATH": os.environ["PATH"],
            "STEADFAST_AHEAD_S": str(self.night * DAY_S),
        }

    def steadfast(self, *words):
        before = os.times()
        done = subprocess.run(
            [self.program, *words],
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=1_800,
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
        space = os.statvfs(self.root)
        is_roomy = space.f_bavail > space.f_blocks * 0.5
        largest = self.largest if is_roomy else 2_000
        bytes_ = self.chance.randbytes(self.chance.randint(200, largest))
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes_)
        self.files[name] = bytes_

    def new_name(self):
        self.made += 1
        rotten = {path for one in self.open if one.what == "rotten folder" for path in one.paths}
        years = [year for year in range(2015, 2027) if str(year) not in rotten]
        return f"{self.chance.choice(years)}/{self.made:05}.bin"

    def settle_in(self):
        for _ in range(self.count):
            self.write_file(self.new_name())
        root = str(self.root)
        self.steadfast("init", root)
        self.steadfast("tag", root)
        if self.parity:
            self.steadfast("parity", "make", root)
        words = ["--cover", f"{self.cover}d", "--timer", "manual", "--name", "disk"]
        words += ["--update"] * self.updates + ["--parity", "--repair"] * (self.name in MENDING)
        self.steadfast("schedule", "add", root, *words)
        self.steadfast("alert", "add", "--webhook", self.inbox.url + "/news", "--form", "json")
        self.steadfast("alert", "add", "--ping", self.inbox.url + "/ping")

    def quiet_files(self):
        # What no run has recorded yet cannot be missing or damaged.
        busy = self.fresh | {path for incident in self.open for path in incident.paths}
        folders = {path + "/" for path in busy - self.fresh}
        return sorted(
            name
            for name in self.files
            if name not in busy and name.split("/")[0] + "/" not in folders
        )

    def old_files(self):
        """Those whose change shows as one without a new date."""
        return [name for name in self.quiet_files() if name not in self.touched]

    def is_room(self, more=1):
        """Says whether so many more changes are no mass change."""
        changed = sum(one.what in CHANGES for one in self.open) + self.silent
        return changed + more < 0.04 * len(self.files)

    def blocks_of(self, name):
        """Returns the blocks of a file or folder in the unmounted image."""
        words = self.sh("debugfs", "-R", f'blocks "/{name}"', str(self.image)).stdout.split()
        return [int(word) for word in words]

    def flip(self, at, bits):
        with open(self.image, "r+b") as image:
            image.seek(at)
            byte = image.read(1)[0]
            image.seek(at)
            image.write(bytes([byte ^ bits]))

    # Incidents: each returns what must be told, or nothing if nothing may be.

    def begin(self, what, kinds, paths, limit, end):
        self.open.append(Incident(what, kinds, paths, self.night, limit, end))
        self.tally[what] += 1
        self.log.write(f"  {what} {paths[:3]}\n")

    def repair(self, name):
        held = self.root / name
        stat = held.stat()
        copy = self.place / "copy" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(self.files[name])
        os.utime(copy, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        words = ["--suspect"] if any(o.what == "suspect" for o in self.open) else []
        self.steadfast("repair", "--yes", "--from", str(self.place / "copy"), *words, str(held))
        if held.read_bytes() != self.files[name]:
            self.fault("not mended", name)

    def rot(self):
        name = self.chance.choice(self.old_files())
        self.unmount()
        at = self.blocks_of(name)[0] * BLOCK_BYTES
        self.flip(at + self.chance.randrange(64), 1 << self.chance.randrange(8))
        self.mount(self.image)
        self.begin("rot", {"corrupt"}, [name], self.cover + 1, lambda: self.repair(name))

    def suspect(self):
        name = self.chance.choice(self.old_files())
        held = self.root / name
        stat = held.stat()
        contents = bytearray(self.files[name])
        contents[0] ^= 1
        held.write_bytes(contents)
        os.utime(held, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.begin("suspect", {"suspect"}, [name], self.cover + 1, lambda: self.repair(name))

    def rotten_folder(self):
        folders = sorted({name.split("/")[0] for name in self.quiet_files()})
        busy = {path.split("/")[0] for one in self.open for path in one.paths}
        folders = [folder for folder in folders if folder not in busy]
        if not folders or any(one.what == "rotten folder" for one in self.open):
            return
        folder = self.chance.choice(folders)
        self.unmount()
        at = self.chance.choice(self.blocks_of(folder)) * BLOCK_BYTES + 6
        self.flip(at, 255)
        self.mount(self.image)

        def mend():
            self.unmount()
            self.flip(at, 255)
            self.mount(self.image)

        self.begin("rotten folder", {"unlisted", "unreadable"}, [folder], 1, mend)

    def delete(self):
        name = self.chance.choice(self.quiet_files())
        (self.root / name).unlink()
        del self.files[name]

        def accept():
            self.steadfast("update", "--accept-missing", str(self.root / name))

        self.begin("deletion", {"missing"}, [name], 1, accept)

    def edit(self):
        name = self.chance.choice(self.quiet_files())
        self.write_file(name)
        if self.updates:
            self.edited.add(name)
            self.fresh.add(name)
            self.log.write(f"  {name}\n")
            self.tally["edit"] += 1
            self.silent += 1
            return
        accept = lambda: self.steadfast("update", str(self.root / name))
        self.begin("edit", {"modified"}, [name], 1, accept)

    def touch(self):
        name = self.chance.choice(self.quiet_files())
        os.utime(self.root / name)
        self.touched.add(name)
        # It seems edited until a run has read it.
        self.silent += 1
        self.log.write(f"  {name}\n")
        self.tally["touch"] += 1

    def encrypt(self):
        """Very many changes at once."""
        if any(one.what in CHANGES for one in self.open):
            return
        names = self.chance.sample(self.quiet_files(), max(len(self.files) // 8, 5))
        for name in names:
            self.write_file(name)
        accept = lambda: self.steadfast("update", "--accept-many", str(self.root))
        self.begin("mass change", {"mass change", "modified"}, names, 1, accept)

    def add(self):
        for _ in range(self.chance.randint(1, 6)):
            name = self.new_name()
            self.write_file(name)
            self.fresh.add(name)
        if not self.updates:
            self.steadfast("tag", str(self.root))
            self.fresh.clear()
        self.tally["import"] += 1

    def rename(self):
        name = self.chance.choice(self.quiet_files())
        to = self.new_name()
        (self.root / to).parent.mkdir(exist_ok=True)
        (self.root / name).rename(self.root / to)
        self.files[to] = self.files.pop(name)
        if name in self.touched:
            self.touched.add(to)
        self.silent += 1
        self.log.write(f"  {name} to {to}\n")
        self.tally["rename"] += 1

    def away(self):
        self.unmount()
        self.begin("disk away", {"unmounted"}, [], 3, lambda: self.mount(self.image))

    def other_disk(self):
        other = self.place / "other"
        self.unmount()
        self.format(other)
        self.mount(other)
        (self.root / "film").write_text("another disk")
        if self.chance.random() < 0.5:
            self.steadfast("init", str(self.root))
            self.steadfast("tag", str(self.root))

        def back():
            self.unmount()
            self.mount(self.image)

        self.begin("other disk", {"unmounted"}, [], 3, back)

    def repair_data(self):
        folder = self.root / ".steadfast/parity"
        # One that stays damaged, because it is needed, is no news if it is damaged again.
        files = [path for path in folder.rglob("*") if path.name not in self.spoiled]
        sets = [path for path in files if path.is_file() and path.stat().st_size > 999]
        if not sets or any(one.what == "repair data" for one in self.open):
            return
        path = max(sets, key=lambda one: one.stat().st_size)
        self.spoiled.add(path.name)
        data = bytearray(path.read_bytes())
        data[len(data) * 3 // 4] ^= 4
        path.write_bytes(data)
        self.spoilt = path.name, bytes(data)
        make = lambda: self.steadfast("parity", "make", str(self.root))
        self.begin("repair data", {"repair data"}, [], self.cover + 1, make)

    def is_spoilt(self):
        """Says whether the damaged set is still there. One that is superseded is no trouble."""
        name, data = self.spoilt
        sets = (self.root / ".steadfast/parity").rglob(name)
        return any(path.read_bytes() == data for path in sets)

    def catalogue(self):
        # One that came back today and was not seen whole is the same trouble still.
        if any(one.what == "catalogue" and one.mended == self.night for one in self.closed):
            return
        path = self.root / ".steadfast/catalogue.sqlite"
        whole = path.read_bytes()
        path.write_bytes(b"rot" * 400 + whole[1200:])
        self.begin("catalogue", {"unknown"}, [], 1, lambda: path.write_bytes(whole))

    def full_disk(self):
        filler = self.root / ".steadfast/filler"
        with open(filler, "wb") as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
                    file.flush()
            except OSError:
                pass
        self.begin("disk full", {"failed"}, [], None, filler.unlink)

    def killed(self):
        self.tally["kill"] += 1
        words = [self.program, "schedule", "run", "--now", "disk"]
        run = subprocess.Popen(
            words, env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(self.chance.random() * 0.06)
        run.kill()
        run.wait()
        # What it had sent was told.
        self.hear()

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
        self.log.write(f"  FAULT {kind}: {text}\n")

    def live(self, nights):
        self.settle_in()
        start = self.night
        while self.night - start < nights:
            self.day()
            self.one_night()
            self.night += 1
        self.sh("umount", str(self.root), check=False)

    def is_there(self):
        return all(one.what not in WHOLE for one in self.open)

    def day(self):
        if self.revive is not None and self.night >= self.revive:
            self.inbox.is_dead, self.revive = False, None
        self.silent = 0
        # What is mounted elsewhere comes back before anything is mended in it.
        for incident in sorted(self.open, key=lambda one: one.what not in WHOLE):
            is_due = incident.told is not None and self.night > incident.told + 1
            is_due |= incident.limit is None and self.night > incident.night
            if is_due and incident.mended is None:
                if self.is_there() or incident.what in WHOLE:
                    incident.end()
                    incident.mended = self.night
                    if incident.what in WHOLE:
                        self.open.remove(incident)
                        self.closed.append(incident)
        if len(self.touched) > len(self.files) // 10 and self.is_there() and not self.open:
            self.steadfast("update", str(self.root))
            self.touched.clear()
        for _ in range(self.chance.randint(0, 5)):
            if not self.is_there():
                return
            acts = [self.rot] * 6 + [self.add] * 3 + [self.killed] * 2
            acts += [self.rotten_folder, self.repair_data]
            if self.is_room():
                acts += [self.touch] * 3
                acts += [self.suspect] * 2 + [self.delete] * 5 + [self.edit] * 5 + [self.rename] * 3
            if self.chance.random() < 0.15:
                acts += [self.away, self.other_disk, self.asleep, self.dead_webhook]
                acts += [self.catalogue, self.full_disk, self.encrypt]
            act = self.chance.choice(acts)
            self.log.write(f"night {self.night}: {act.__name__}\n")
            act()

    def one_night(self):
        pinged = len(self.inbox.pings)
        self.steadfast("schedule", "run", "--now", "disk")
        self.hear()
        lines = [json.loads(line) for line in self.steadfast("status", "--json").stdout.splitlines()]
        status = next(line for line in lines if line["schedule"])
        ping = self.inbox.pings[-1] if len(self.inbox.pings) > pinged else None
        if ping != str(status["exit_status"]):
            self.fault("monitor differs", f"ping {ping}, status {status['exit_status']}")
        is_many = any(one.what == "mass change" for one in self.open)
        if self.is_there() and not is_many:
            self.fresh.clear()
        is_green = status["state"] in ("fine", "recorded", "incomplete")
        for incident in list(self.open):
            if incident.what == "repair data" and self.is_there() and not self.is_spoilt():
                incident.mended = self.night
            if incident.mended is not None:
                self.open.remove(incident)
                self.closed.append(incident)
            elif incident.told is not None and is_green:
                self.fault("green while open", f"{incident.what} {incident.paths[:1]}")
            elif incident.told is None and not self.inbox.is_dead and incident.limit:
                # While very many changes wait for a person, single ones are not told apart.
                is_seen = self.is_there() and not (is_many and incident.what in CHANGES)
                incident.waited += is_seen or incident.what in WHOLE | {"mass change"}
                if incident.waited > incident.limit:
                    self.fault("not told", f"{incident.what} {incident.paths[:1]}")
                    incident.told = self.night
        if self.night % 7 == 0 and self.is_there():
            self.compare()

    def is_whole(self, name):
        return (self.root / name).read_bytes() == self.files[name]

    def compare(self):
        """Holds the files to the truth: no edit is undone, and nothing else was written."""
        busy = {path.split("/")[0] for one in self.open for path in one.paths}
        for name, contents in self.files.items():
            if name.split("/")[0] not in busy and (self.root / name).read_bytes() != contents:
                self.fault("changed", name)

    def hear(self):
        """Judges the messages that came since the last ones."""
        for message in self.inbox.messages[self.heard :]:
            self.heard += 1
            self.judge(message)

    def judge(self, message):
        if "body" not in message or not message["subject"]:
            self.fault("no words", str(message)[:200])
        self.tally["messages"] += 1
        subject = message["subject"].split(": ", 2)[-1]
        subject = "".join("#" if c.isdigit() else c for c in subject).replace("##", "#")
        self.subjects[subject] += 1
        self.words.setdefault(subject, message["subject"] + "\n" + message["body"])
        if self.log:
            self.log.write(f"--- night {self.night}, {message['priority']}\n")
            self.log.write(message["subject"] + "\n" + message["body"] + "\n")
        for incident in self.open if message.get("mended") else []:
            if incident.what == "rot" and self.is_whole(incident.paths[0]):
                incident.told = incident.mended = self.night
                self.tally["mended by itself"] += 1
        if message["settled"] and not message["new"]:
            return
        for one in message.get("new_paths", []):
            self.judge_one(one["state"], one.get("path", ""), message)

    def judge_one(self, kind, path, message):
        fits = [one for one in self.open if one.fits(kind, path)]
        if not path or kind == "repair data":
            fits = [one for one in self.open if kind in one.kinds]
        is_past = any(one.fits(kind, path) and one.mended == self.night for one in self.closed)
        # Nothing is updated while very many changes wait for a person: an edit is told then.
        is_waiting = any(one.what == "mass change" for one in self.open + self.closed[-1:])
        is_past |= kind == "modified" and path in self.edited and is_waiting
        if not fits and not is_past:
            self.fault("false alarm", f"{kind} {path}: {message['subject']}")
        for incident in fits:
            if incident.told is None:
                incident.told = self.night
            elif message["new"] and len(fits) == 1 and (kind, path) in incident.heard:
                self.fault("told twice", f"{kind} {path}")
            incident.heard.add((kind, path))


def play(name, arguments):
    """Plays a household. Returns what there is to tell of it."""
    place, disk_mib = arguments.prefix / name, arguments.disk_mib
    home = Household(name, place, arguments.steadfast, arguments.seed, disk_mib)
    try:
        home.live(arguments.nights)
    except Exception as error:
        home.fault("harness", repr(error))
    home.log.close()
    home.inbox.server.shutdown()
    each = home.cpu_s / max(home.ran, 1)
    return name, home.night, home.tally, home.faults, home.subjects, home.words, each


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", required=True)
    parser.add_argument("--prefix", type=Path, required=True)
    parser.add_argument("--nights", type=int, default=60)
    parser.add_argument("--only", choices=sorted(HOUSEHOLDS), nargs="+")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--disk-mib", type=int, default=64)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if os.environ.get("KEEPER_MOUNTS") != "own":
        # A namespace that another program makes would keep a copy of our mounts, and with it the
        # page cache of an image that we unmounted and changed.
        words = ["unshare", "--mount", "env", "KEEPER_MOUNTS=own", sys.executable, *sys.argv]
        os.execvp(words[0], words)
    names = arguments.only or list(HOUSEHOLDS)
    subjects, words, tally, kinds, mended = Counter(), {}, Counter(), Counter(), 0
    print("| household | nights | incidents | messages | faults | s a night |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        games = [pool.submit(play, name, arguments) for name in names]
        for played in concurrent.futures.as_completed(games):
            name, nights, counts, faults, said, bodies, each = played.result()
            messages, alone = counts.pop("messages", 0), counts.pop("mended by itself", 0)
            mended += alone
            print(
                f"| {name} | {nights} | {sum(counts.values())} | {messages} | "
                f"{len(faults)} | {each:.2f} |",
                flush=True,
            )
            for kind in sorted({fault[0] for fault in faults}):
                for fault in [one for one in faults if one[0] == kind][:4]:
                    print("    ", *fault, flush=True)
            kinds.update(fault[0] for fault in faults)
            subjects.update(said)
            tally.update(counts)
            words = bodies | words
    print("\nincidents:", ", ".join(f"{what} {count}" for what, count in tally.most_common()))
    print(f"mended by the schedule itself: {mended}")
    print("faults:", ", ".join(f"{what} {count}" for what, count in kinds.most_common()) or "none")
    for subject, count in subjects.most_common(10):
        print(f"\n{count} times:\n{words[subject]}")
    raise SystemExit(1 if kinds else 0)


if __name__ == "__main__":
    main()
