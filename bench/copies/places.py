#!/usr/bin/env python3
"""Kinds of place × kinds of source × verbs, with the truth counted. README.md says what is tried."""

import argparse
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from run import digest, files_in

POLICIES = ["ff", "mfs", "lfs", "epff", "epmfs", "eplfs", "rand", "eprand", "newest", "pfrd"]
VERBS = ["move", "copy", "safe"]
SOURCES = [
    "tagged", "catalogued", "bare", "small", "attributes", "holes", "linked", "moved",
    "edited", "flipped", "flipped, no tag", "cut", "emptied",
]
ROTTEN = SOURCES[9:]
PAIRS = {}


def pair(name):
    def add(make):
        PAIRS[name] = make
        return make

    return add


def has_tag(path):
    with contextlib.suppress(OSError):
        return "user.steadfast" in os.listxattr(path)
    return False


def call(*words, **more):
    return subprocess.run([str(it) for it in words], check=True, capture_output=True, **more)


class Trial:
    """One verb between places of one kind. `grounds` are what is left without power."""

    def __init__(self, options, number):
        self.options, self.number = options, number
        self.chance = random.Random(f"{options.seed}-{number}")
        self.kind = options.pairs[number % len(options.pairs)]
        self.verb = self.chance.choice(VERBS)
        self.root = Path(options.prefix) / f"place-{number}"
        self.undo, self.grounds, self.answer, self.faults = [], [], "none", []
        # Whether the program can know that two places are one, if they are.
        self.hidden, self.prefilled, self.to = False, None, []
        self.unchanged = False

    # Places.

    def folder(self, name, disk="vda"):
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        if not any(path.is_relative_to(it) for it, _, _ in self.grounds):
            self.grounds.append((path, None, disk))
        return path

    def mounted(self, name, *words, undo=("umount",)):
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        call(*words, path)
        self.undo.append([*undo, path])
        return path

    def bind(self, of, name):
        return self.mounted(name, "mount", "--bind", of)

    def bindfs(self, of, name, *options):
        return self.mounted(name, "bindfs", *options, of)

    def pool(self, *branches, name="pool", options=""):
        policy = self.chance.choice(POLICIES)
        options = f"category.create={policy}{options}"
        return self.mounted(name, "mergerfs", "-o", options, ":".join(map(str, branches)))

    def overlay(self, lower, upper, name="merged"):
        work = self.root / f"{name}-work"
        work.mkdir()
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        return self.mounted(name, "mount", "-t", "overlay", "overlay", "-o", options)

    def sshfs(self, of, host="localhost", name="share"):
        server = self.options.server
        return self.mounted(name, "sshfs", "-o", f"ssh_command={server}", f"{host}:{of}")

    def loop(self, image, *options, direct=True):
        words = ["losetup", "--show", "-f", f"--direct-io={'on' if direct else 'off'}", *options]
        device = call(*words, image).stdout.decode().strip()
        self.undo.append(["losetup", "-d", device])
        return device

    def image(self, name="image", on=None, kind="ext4", direct=True, is_ground=True):
        """A file system in a file. Returns the file and where it is mounted."""
        image = (on or self.folder("images")) / f"{name}.img"
        call("cp", "--sparse=always", self.options.blank[kind], image)
        if is_ground:
            self.grounds.append((image, kind, "vda"))
        return image, self.mount(self.loop(image, direct=direct), name, kind)

    def mount(self, device, name, kind="ext4"):
        if kind in ("ntfs", "exfat"):
            program = {"ntfs": "ntfs-3g", "exfat": "mount.exfat-fuse"}[kind]
            return self.mounted(name, program, device)
        more = ["-o", "nouuid"] if kind == "xfs" else []
        return self.mounted(name, "mount", *more, device)

    def tmpfs(self, name="memory"):
        return self.mounted(name, "mount", "-t", "tmpfs", "none")

    def zram(self):
        number = Path("/sys/class/zram-control/hot_add").read_text().strip()
        Path(f"/sys/block/zram{number}/disksize").write_text("16M")
        remove = f"echo 1 > /sys/block/zram{number}/reset; echo {number} > /sys/class/zram-control/hot_remove"
        self.undo.append(["sh", "-c", remove])
        call("mkfs.ext4", "-q", f"/dev/zram{number}")
        return f"/dev/zram{number}"

    def set(self, source, *to):
        self.source, self.to = source / "card", list(to)
        self.source.mkdir(parents=True, exist_ok=True)

    # The source.

    def fill(self):
        self.truth, self.sort = {}, self.chance.choice(self.options.sources)
        for at in range(self.chance.randint(1, 3)):
            path = self.source / self.chance.choice(["", "sub/"]) / f"file {at}"
            path.parent.mkdir(exist_ok=True)
            most = 1500 if self.sort == "small" else 60_000
            path.write_bytes(self.chance.randbytes(self.chance.randint(8, most)))
            if self.sort == "holes":
                os.truncate(path, 1 << 18)
            os.utime(path, (1_700_000_000 + at, 1_700_000_000 + at))
            if self.sort == "attributes":
                with contextlib.suppress(OSError):
                    os.setxattr(path, "user.note", b"mine")
                    path.chmod(0o640)
            self.truth[path] = digest(path)
        first = next(iter(self.truth))
        if self.sort == "linked":
            with contextlib.suppress(OSError):
                os.link(first, self.source / "second name")
        # Only a catalogue knows of a file whose tag is lost.
        needs = self.sort in ("catalogued", "moved", "flipped, no tag")
        if needs or (self.sort in ROTTEN and self.chance.random() < 0.7):
            self.run("init", "-q", self.source)
        elif self.sort != "bare":
            self.run("tag", "-q", self.source)
            # Rot of what has no record is no rot to anybody.
            if self.sort in ROTTEN and not has_tag(first):
                self.run("init", "-q", self.source)
        if self.sort == "moved":
            first.rename(first.with_name("moved"))

    def prefill(self):
        """Copies that are there before, as of who used `cp` first."""
        prefills = self.verb == "safe" or self.chance.random() < 0.3
        if self.prefilled:
            self.prefilled()
        for to in self.to if prefills and not self.prefilled else []:
            how = self.chance.choice([["-r"], ["-a"]])
            with contextlib.suppress(subprocess.CalledProcessError):
                call("cp", *how, "-n", self.source, to)
            if self.verb == "safe":
                self.run("tag", "-q", to / "card")
        # Otherwise the proof of the medium would fail for what was not written yet.
        os.sync()

    def rot(self):
        path = next(iter(self.truth))
        if self.sort not in ("edited", *ROTTEN) or not path.exists():
            return
        before = path.stat()
        self.unchanged = self.chance.random() < 0.5
        with path.open("r+b") as file:
            if self.sort.startswith("flipped"):
                first = file.read(1)
                file.seek(0)
                file.write(bytes([first[0] ^ 4]))
            elif self.sort == "edited":
                file.write(b"edited")
            elif self.sort == "cut":
                file.truncate(before.st_size // 2)
            else:
                file.truncate(0)
        if self.sort == "flipped, no tag":
            with contextlib.suppress(OSError):
                for name in os.listxattr(path):
                    os.removexattr(path, name)
        if self.sort == "edited":
            self.truth[path], self.unchanged = digest(path), False
        else:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            # A file with another length that was written later is an edit, by the table of verdicts.
            if self.sort in ("cut", "emptied") and path.stat().st_ctime_ns > before.st_ctime_ns and not self.unchanged:
                self.truth[path] = digest(path)

    # The run.

    def run(self, *words):
        command = [self.options.steadfast, *map(str, words)]
        # Rot leaves the change time as it was, which only an image could show.
        more = {"STEADFAST_IGNORE_CTIME": "1"} if self.unchanged else {}
        environment = {**os.environ, **more}
        return subprocess.run(command, capture_output=True, timeout=120, check=False, env=environment)

    def play(self):
        PAIRS[self.kind](self)
        self.fill()
        self.prefill()
        self.rot()
        words = [self.verb, "--json", "--copies", len(self.to)]
        # Who calls places two that no program can tell to be one gets what was asked for.
        if self.chance.random() < 0.8 and not (self.hidden and self.verb == "safe"):
            words.append("--apart")
        words += [it for it in ("--trust-servers", "--trust-tree") if self.chance.random() < 0.8]
        if self.verb != "safe" and self.chance.random() < 0.1:
            words.append("--once")
        places = [["--in" if self.verb == "safe" else "--to", to] for to in self.to]
        self.words = [*words, self.source, *sum(places, [])]
        self.done = self.run(*self.words)
        for line in self.done.stdout.splitlines():
            with contextlib.suppress(ValueError):
                answer = json.loads(line).get("summary")
                self.answer = {True: "yes", False: "no", None: self.answer}[
                    answer and answer["safe_to_erase"]
                ]
                self.because = answer["because"] if answer else []
        if b"panicked" in self.done.stderr:
            self.fault(self.done.stderr[-300:])
        yes = self.answer == "yes"
        if yes != (self.done.returncode == 0):
            self.fault(f"{self.answer} with status {self.done.returncode}")
        if yes:
            # What the line calls erasable is erased.
            shutil.rmtree(self.source, ignore_errors=True)
        self.judge(yes)

    def judge(self, yes):
        """Switches the machine off, and counts."""
        self.close()
        copies = {}
        for at, (path, kind, disk) in enumerate(self.grounds):
            if not path.exists():
                continue
            where = self.root / f"look-{at}"
            if kind:
                where.mkdir()
                self.undo.append(["umount", where])
                program = {"ntfs": "ntfs-3g", "exfat": "mount.exfat-fuse"}.get(kind, "mount")
                more = ",nouuid,norecovery" if kind == "xfs" else ""
                offset = ["--offset", 8 << 20] if kind == "second" else []
                with contextlib.suppress(subprocess.CalledProcessError):
                    device = self.loop(path, *offset)
                    self.undo.append(self.undo.pop(-2))
                    call(program, "-o", f"ro{more}", device, where)
            else:
                where = path
            for found in files_in(where).values():
                if found.is_file() and not found.is_symlink():
                    status = found.stat()
                    copy = (disk, at if kind else "", status.st_ino)
                    copies.setdefault(digest(found), set()).add(copy)
        needed = len(self.to)
        for path, truth in self.truth.items():
            right = copies.get(truth, set())
            count = len(right) if needed == 1 else len({disk for disk, *_ in right})
            if yes and count < needed:
                self.fault(f"yes, and `{path.name}` is in {count} of {needed} places")
            had = self.sort in ROTTEN and path == next(iter(self.truth))
            if not yes and not right and not had and self.is_ground():
                self.fault(f"`{path.name}` is lost")
        self.close()

    def is_ground(self):
        """Whether the source would have outlived the power, and a second mount of its image."""
        harms = ("memory", "deleted", "two devices", "device of the device", "on a view")
        return not any(it in self.kind for it in harms)

    def fault(self, what):
        words = " ".join(map(str, getattr(self, "words", [])))
        sort = getattr(self, "sort", "")
        self.faults.append(f"{self.number} [{self.kind}] [{sort}] {words}: {what}")

    def close(self):
        while self.undo:
            words = [str(it) for it in self.undo.pop()]
            for more in ([], ["-l"] if words[0] == "umount" else []):
                if subprocess.run([*words, *more], capture_output=True, check=False).returncode == 0:
                    break

    def clear(self):
        self.close()
        shutil.rmtree(self.root, ignore_errors=True)


# Pools.

def branches(trial):
    return trial.folder("a"), trial.folder("b")


CACHED = ",cache.entry=60,cache.attr=60,cache.negative_entry=60,cache.files=auto-full"
for _options, _more in (("", ""), (CACHED, ", cached"), (",fsname=photos", ", renamed")):

    @pair(f"pool to branch{_more}")
    def _(trial, options=_options):
        a, b = branches(trial)
        trial.set(trial.pool(a, b, options=options), trial.chance.choice([a, b]))

    @pair(f"branch to pool{_more}")
    def _(trial, options=_options):
        a, b = branches(trial)
        pool = trial.pool(a, b, options=options)
        trial.set(trial.chance.choice([a, b]), pool)


@pair("pool to another pool of it")
def _(trial):
    a, b = branches(trial)
    trial.set(trial.pool(a, b), trial.pool(b, a, name="second"))


@pair("pool to its own folder")
def _(trial):
    pool = trial.pool(*branches(trial))
    (pool / "other").mkdir()
    trial.set(pool, pool / "other")


@pair("pool to elsewhere")
def _(trial):
    trial.set(trial.pool(*branches(trial)), trial.folder("to"))


@pair("elsewhere to pool")
def _(trial):
    trial.set(trial.folder("from"), trial.pool(*branches(trial)))


@pair("pool of an image to the image")
def _(trial):
    _, image = trial.image()
    trial.set(trial.pool(image, trial.folder("b")), image)


@pair("pool of a view to what it shows")
def _(trial):
    a, b = branches(trial)
    trial.set(trial.pool(trial.bindfs(a, "view"), b), a)


# Views.

for _hidden in (False, True):
    _options, _more = (["-o", "fsname=elsewhere"], ", renamed") if _hidden else ([], "")

    @pair(f"view to what it shows{_more}")
    def _(trial, options=_options, hidden=_hidden):
        a, trial.hidden = trial.folder("a"), hidden
        trial.set(trial.bindfs(a, "view", *options), a)

    @pair(f"folder to its view{_more}")
    def _(trial, options=_options, hidden=_hidden):
        a, trial.hidden = trial.folder("a"), hidden
        trial.set(a, trial.bindfs(a, "view", *options))

    @pair(f"two views of one folder{_more}")
    def _(trial, options=_options, hidden=_hidden):
        a, trial.hidden = trial.folder("a"), hidden
        trial.set(trial.bindfs(a, "view", *options), trial.bindfs(a, "other", *options))

    @pair(f"view to above what it shows{_more}")
    def _(trial, options=_options, hidden=_hidden):
        a, trial.hidden = trial.folder("a"), hidden
        (a / "in/card").mkdir(parents=True)
        trial.set(trial.bindfs(a / "in", "view", *options), a / "in")


@pair("view to elsewhere")
def _(trial):
    trial.set(trial.bindfs(trial.folder("a"), "view"), trial.folder("to"))


@pair("bind mount of a view to what it shows")
def _(trial):
    a = trial.folder("a")
    trial.set(trial.bind(trial.bindfs(a, "view"), "bound"), a)


@pair("folder to the view of its bind mount")
def _(trial):
    a = trial.folder("a")
    trial.set(a, trial.bindfs(trial.bind(a, "bound"), "view"))


@pair("folder with a view of the destination in it")
def _(trial):
    a, to = trial.folder("a"), trial.folder("to")
    trial.set(a, to)
    trial.bindfs(to, "a/card/sub")
    # `cp` would go on for ever.
    trial.prefilled = lambda: None


@pair("view of a folder with the destination bound in it")
def _(trial):
    a, to = trial.folder("a"), trial.folder("to")
    trial.set(trial.bindfs(to, "view"), trial.bind(to, "a/in"))


# Overlays.

def layers(trial):
    lower, upper = trial.folder("lower"), trial.folder("upper")
    return lower, upper, trial.overlay(lower, upper)


@pair("overlay to its upper folder")
def _(trial):
    _, upper, merged = layers(trial)
    trial.set(merged, upper)


@pair("upper folder to its overlay")
def _(trial):
    _, upper, merged = layers(trial)
    trial.set(upper, merged)


@pair("lower folder to its overlay")
def _(trial):
    lower, _, merged = layers(trial)
    trial.set(lower, merged)


@pair("overlay to elsewhere")
def _(trial):
    trial.set(layers(trial)[2], trial.folder("to"))


@pair("elsewhere to overlay")
def _(trial):
    trial.set(trial.folder("from"), layers(trial)[2])


@pair("elsewhere to overlay in memory")
def _(trial):
    memory = trial.tmpfs()
    (memory / "upper").mkdir()
    (memory / "work").mkdir()
    options = f"lowerdir={trial.folder('lower')},upperdir={memory}/upper,workdir={memory}/work"
    merged = trial.mounted("merged", "mount", "-t", "overlay", "overlay", "-o", options)
    trial.set(trial.folder("from"), merged)


# Servers.

@pair("share of this machine to its folder")
def _(trial):
    a = trial.folder("a")
    trial.set(trial.sshfs(a), a)


@pair("folder to its share by this machine")
def _(trial):
    a = trial.folder("a")
    trial.set(a, trial.sshfs(a, host=trial.chance.choice(["127.0.0.1", "me@localhost", os.uname().nodename])))


@pair("folder to its share by another name")
def _(trial):
    a, trial.hidden = trial.folder("a"), True
    trial.set(a, trial.sshfs(a, host="nas"))


@pair("folder to a server")
def _(trial):
    trial.set(trial.folder("a"), trial.sshfs(trial.folder("nas", disk="nas"), host="nas"))


# Images.

@pair("one image by two devices")
def _(trial):
    image, first = trial.image()
    trial.set(first, trial.mount(trial.loop(image), "again"))


@pair("image by a device and a device of the device")
def _(trial):
    image = trial.folder("images") / "image.img"
    shutil.copyfile(trial.options.blank["ext4"], image)
    trial.grounds.append((image, "ext4", "vda"))
    device = trial.loop(image)
    trial.set(trial.mount(device, "one"), trial.mount(trial.loop(device), "two"))


@pair("image to its clone")
def _(trial):
    trial.set(trial.image()[1], trial.image("clone")[1])


@pair("parts of one image")
def _(trial):
    image, first = trial.image()
    os.truncate(image, 24 << 20)
    with image.open("r+b") as file, Path(trial.options.blank["ext4"]).open("rb") as blank:
        file.seek(8 << 20)
        file.write(blank.read())
    trial.grounds.append((image, "second", "vda"))
    trial.set(trial.mount(trial.loop(image, "--offset", 8 << 20), "part"), trial.folder("to"))


@pair("image to its folder")
def _(trial):
    _, first = trial.image()
    trial.set(first, trial.folder("images"))


for _kind in ("ext4", "xfs", "btrfs", "ntfs", "exfat"):

    @pair(f"folder to {_kind}")
    def _(trial, kind=_kind):
        trial.set(trial.folder("from"), trial.image(kind=kind)[1])

    @pair(f"{_kind} to folder")
    def _(trial, kind=_kind):
        trial.set(trial.image(kind=kind)[1], trial.folder("to"))


@pair("folder to image through the cache")
def _(trial):
    trial.set(trial.folder("from"), trial.image(direct=False)[1])


@pair("image in an image")
def _(trial):
    outer, first = trial.image("outer", kind="big")
    _, second = trial.image("inner", on=first, is_ground=False)
    trial.set(second, trial.folder("to"))


@pair("image on a view of its folder")
def _(trial):
    images = trial.folder("images")
    image, first = trial.image()
    view = trial.bindfs(images, "view")
    trial.set(first, trial.mount(trial.loop(view / image.name), "again"))


@pair("folder to image in memory")
def _(trial):
    trial.set(trial.folder("from"), trial.image(on=trial.tmpfs(), is_ground=False)[1])


@pair("folder to image that was deleted")
def _(trial):
    image, first = trial.image(is_ground=False)
    image.unlink()
    trial.set(trial.folder("from"), first)


@pair("folder to image whose path was mounted over")
def _(trial):
    image, first = trial.image(is_ground=False)
    trial.bind(trial.folder("other"), "images")
    (trial.root / "images" / image.name).write_bytes(b"another")
    trial.set(trial.folder("from"), first)
    trial.grounds.append((image, "ext4", "vda"))


@pair("folder to memory")
def _(trial):
    trial.set(trial.folder("from"), trial.tmpfs())


@pair("memory to folder")
def _(trial):
    trial.set(trial.tmpfs(), trial.folder("to"))


@pair("folder to zram, memory")
def _(trial):
    trial.set(trial.folder("from"), trial.mount(trial.zram(), "zram"))


@pair("folder to names without case")
def _(trial):
    _, volume = trial.image(kind="folded")
    (volume / "to").mkdir()
    call("chattr", "+F", volume / "to")
    trial.set(trial.folder("from"), volume / "to")


# Btrfs, links and mounts.

@pair("subvolume to its snapshot")
def _(trial):
    _, volume = trial.image(kind="btrfs")
    call("btrfs", "subvolume", "create", volume / "a")
    trial.set(volume / "a", volume / "b")
    trial.prefilled = lambda: call("btrfs", "subvolume", "snapshot", volume / "a", volume / "b")


@pair("subvolume to itself by another mount")
def _(trial):
    _, volume = trial.image(kind="btrfs")
    call("btrfs", "subvolume", "create", volume / "a")
    device = trial.undo[-2][-1]
    trial.set(volume / "a", trial.mounted("again", "mount", "-o", "subvol=a", device))


@pair("btrfs to reflinks")
def _(trial):
    _, volume = trial.image(kind="btrfs")
    (volume / "to").mkdir()
    trial.set(volume / "from", volume / "to")
    trial.prefilled = lambda: call("cp", "-a", "--reflink=always", trial.source, volume / "to")


@pair("folder to hard links")
def _(trial):
    to = trial.folder("to")
    trial.set(trial.folder("from"), to)
    trial.prefilled = lambda: call("cp", "-al", trial.source, to)


@pair("folder to its bind mount")
def _(trial):
    a = trial.folder("a")
    trial.set(a, trial.bind(a, "bound"))


@pair("folder to folder")
def _(trial):
    trial.set(trial.folder("from"), trial.folder("to"))


@pair("folder to a link to its folder")
def _(trial):
    a = trial.folder("a")
    (trial.root / "link").symlink_to(a)
    trial.set(a, trial.root / "link")


# Two destinations.

@pair("two: folders of one disk")
def _(trial):
    trial.set(trial.folder("from"), trial.folder("to"), trial.folder("too"))


@pair("two: folder and its view")
def _(trial):
    to = trial.folder("to")
    trial.set(trial.sshfs(trial.folder("nas", "nas"), host="nas"), to, trial.bindfs(to, "view"))


@pair("two: folder and its view, renamed")
def _(trial):
    to, trial.hidden = trial.folder("to"), True
    trial.set(trial.sshfs(trial.folder("nas", "nas"), host="nas"), to, trial.bindfs(to, "view", "-o", "fsname=x"))


@pair("two: folder and a server")
def _(trial):
    card = trial.sshfs(trial.folder("card", "card"), host="card", name="reader")
    server = trial.sshfs(trial.folder("nas", "nas"), host="nas")
    trial.set(card, trial.folder("to"), server)


@pair("two: server and pool of it")
def _(trial):
    card = trial.sshfs(trial.folder("card", "card"), host="card", name="reader")
    server = trial.sshfs(trial.folder("nas", "nas"), host="nas")
    trial.set(card, server, trial.pool(server, trial.folder("b")))


@pair("two: folder and an image on it")
def _(trial):
    card = trial.sshfs(trial.folder("card", "card"), host="card", name="reader")
    trial.set(card, trial.folder("to"), trial.image()[1])


@pair("two: folder and memory")
def _(trial):
    card = trial.sshfs(trial.folder("card", "card"), host="card", name="reader")
    trial.set(card, trial.folder("to"), trial.tmpfs())


def blanks(folder):
    """Makes one empty file system of each kind, to be copied."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for kind, size, words in [
        ("ext4", "8M", ["mkfs.ext4", "-q"]), ("big", "40M", ["mkfs.ext4", "-q"]),
        ("folded", "8M", ["mkfs.ext4", "-q", "-O", "casefold"]),
        ("xfs", "320M", ["mkfs.xfs", "-q"]), ("btrfs", "128M", ["mkfs.btrfs", "-q"]),
        ("ntfs", "8M", ["mkfs.ntfs", "-q", "-F"]), ("exfat", "8M", ["mkfs.exfat"]),
    ]:
        made[kind] = folder / f"{kind}.blank"
        made[kind].unlink(missing_ok=True)
        call("truncate", "-s", size, made[kind])
        call(*words, made[kind])
    server = folder / "server"
    server.write_text("#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n")
    server.chmod(0o755)
    return made, server


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", required=True)
    parser.add_argument("--prefix", required=True, help="a folder on a disk")
    parser.add_argument("--pairs", nargs="+", default=list(PAIRS), choices=list(PAIRS), metavar="PAIR")
    parser.add_argument("--sources", nargs="+", default=SOURCES, choices=SOURCES, metavar="SOURCE")
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--show", action="store_true", help="print each answer")
    options = parser.parse_args()
    options.steadfast = str(Path(options.steadfast).resolve())
    options.blank, options.server = blanks(Path(options.prefix) / "blank")
    if not Path("/sys/fs/ext4/features/casefold").exists():
        options.pairs = [it for it in options.pairs if it != "folder to names without case"]
    answers, reasons, faults = Counter(), {}, []
    for number in range(options.first, options.first + options.trials):
        trial = Trial(options, number)
        try:
            trial.play()
        except subprocess.TimeoutExpired:
            trial.fault("it did not end")
        except (OSError, subprocess.CalledProcessError) as error:
            why = getattr(error, "stderr", b"")
            trial.fault(f"the trial itself failed: {error} {why}")
        finally:
            trial.clear()
        answers[trial.kind, trial.answer] += 1
        lacks = [it["lack"] for it in getattr(trial, "because", [])]
        reasons.setdefault(trial.kind, Counter()).update(lacks)
        if options.show:
            print(number, trial.kind, getattr(trial, "sort", ""), trial.verb, trial.answer, *lacks, flush=True)
        for fault in trial.faults:
            print(fault, flush=True)
        faults += trial.faults
    for kind in options.pairs:
        counts = [answers[kind, answer] for answer in ("yes", "no", "none")]
        lacks = ", ".join(f"{lack} {count}" for lack, count in reasons.get(kind, Counter()).most_common(4))
        wrong = sum(f"[{kind}]" in fault for fault in faults)
        print(f"| {kind} | {sum(counts)} | {' | '.join(map(str, counts))} | {lacks} | {wrong} |")
    print(f"{sum(answers.values())} trials, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
