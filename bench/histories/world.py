"""The truth of one history: what people made of each file, whatever became of it on the disk."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import look
from look import Seen
from program import Program

STRANGER = 1001
ACCESS = "system.posix_acl_access"
DEFAULT = "system.posix_acl_default"
LENGTHS = (0, 1, 700, 4_095, 4_096, 4_097, 6_000, 9_000, 20_000, 40_000)
# The last one lets its owner set no attribute, unless that is root.
MODES = (0o600, 0o640, 0o644, 0o664, 0o700, 0o755, 0o444)
SET_ID_MODES = (0o4755, 0o2755, 0o6711)
ODD = (b"", b"", b"", b" b", b"\xff", b"'", b'"', b"\xc3\xa9", b"\n", b"\\")
CREATED_NS = 1_600_000_000_000_000_000


@dataclass
class Item:
    """One file through all its names and versions. `now`: as a person left it last."""

    now: Seen
    data: bytes
    versions: list[Seen] = field(default_factory=list)
    # As it was when a tag of these contents was last written, None before.
    recorded: Seen | None = None
    # Whether a person let go of it by an option that says so.
    accepted: bool = False
    # The name that it got last.
    last_name: bytes = b""
    # As it was when a run last put down in the catalogue what belongs to it.
    known: Seen | None = None
    # Damaged contents that a tag describes, since nothing showed that they are.
    taken: set[str] = field(default_factory=set)

    def note(self, seen: Seen, data: bytes) -> None:
        """A person changed it."""
        self.now, self.data = seen, data
        self.versions.append(seen)

    def digests(self) -> set[str]:
        """What a repair may give back."""
        given = {one.digest for one in (self.now, self.recorded) if one is not None}
        return given | self.taken


@dataclass(frozen=True)
class Manner:
    """What kind of tree a history has, and how Steadfast is used on it."""

    user: int
    catalogue: bool
    leaves: bool
    # "", "tree" or "elsewhere"
    parity: str
    part: bool
    json: bool
    # Whether change times count, as they do by default.
    ctime: bool = False


class World:
    """One tree on a mounted volume, and what is around it. `base` is a fresh folder."""

    def __init__(self, base: Path, binary: Path, manner: Manner, seed: str) -> None:
        self.base = base
        self.manner = manner
        self.random = random.Random(f"{seed}/tree")
        self.root = os.fsencode(base / "tree")
        # Live files by path, and all that ever were at a path.
        self.at: dict[bytes, Item] = {}
        self.past: dict[bytes, list[Item]] = {}
        # Names that a person moved a file away from, with the file and its other names then.
        self.left: dict[bytes, tuple[Item, frozenset[bytes]]] = {}
        # By what runs of Steadfast know the files that they met at a name.
        self.met: dict[bytes, set[tuple[object, ...]]] = {}
        self.folders: dict[bytes, Seen] = {}
        self.copies: list[str] = []
        self.copy_seen: dict[str, dict[bytes, Seen]] = {}
        # What is mounted at `part`, if anything.
        self.part = base
        self.unmounted = False
        self.steps: list[str] = []
        base.mkdir()
        home = base / "home"
        for folder in (home, base / "tree"):
            folder.mkdir()
            os.chown(folder, manner.user, manner.user)
        os.chown(base, manner.user, manner.user)
        self.program = Program(binary, base, home, manner.user, manner.ctime)

    def path(self, relative: bytes) -> bytes:
        return os.path.join(self.root, relative) if relative else self.root

    def look(self) -> dict[bytes, Seen]:
        return look.look(self.root)

    def settled_room(self, relative: bytes) -> int:
        """The room of a file without what XFS reserves for a while around shared blocks."""
        volume = self.base.parent
        subprocess.run(["sync", "--file-system", volume], check=True)
        line = ["xfs_spaceman", "-c", "prealloc -s", volume]
        subprocess.run(line, capture_output=True, check=False)
        return look.look_at(self.path(relative)).room

    # What people do. Each keeps the truth.

    def make_folder(self, relative: bytes) -> None:
        path = self.path(relative)
        os.mkdir(path)
        os.chown(path, self.manner.user, self.manner.user)
        os.chmod(path, self.random.choice((0o755, 0o750, 0o700, 0o775)))
        if self.random.random() < 0.3:
            self.set_default_acl(path)
        elif self.random.random() < 0.2:
            os.setxattr(path, "user.of-folder", b"kept")
        self.folders[relative] = look.look_at(path)

    def set_default_acl(self, path: bytes) -> None:
        """New files beneath can be read by another user."""
        os.setxattr(path, DEFAULT, acl(7, {1234: 6}, 5, 7, 5))

    def write(self, relative: bytes, data: bytes, holes: Sequence[int] = ()) -> None:
        """Makes a file with some metadata of its own. `holes`: where pages of data are."""
        path, chance = self.path(relative), self.random.random
        with open(path, "xb") as file:
            if holes:
                file.truncate(len(data))
                for at in holes:
                    file.seek(at)
                    file.write(data[at : at + 4096])
            else:
                file.write(data)
        owner = self.manner.user
        if owner == 0 and chance() < 0.2:
            owner = self.random.choice((1000, 1234))
        os.chown(path, owner, owner)
        clear_acl(path)
        mode = self.random.choice(MODES)
        if chance() < 0.07:
            mode = self.random.choice(SET_ID_MODES)
        os.chmod(path, mode)
        if chance() < 0.2:
            os.setxattr(path, ACCESS, acl(6, {1234: self.random.choice((4, 6))}, 4, 6, 0))
        if chance() < 0.2:
            os.setxattr(path, "user.comment", self.random.randbytes(self.random.randint(1, 30)))
        moment = CREATED_NS + self.random.randrange(10**17)
        os.utime(path, ns=(moment, moment))
        self.know(relative, Item(look.look_at(path), data))

    def know(self, relative: bytes, item: Item) -> None:
        """A path leads to a file from now on."""
        if not item.versions:
            item.versions.append(item.now)
        self.at[relative] = item
        item.last_name = relative
        self.past.setdefault(relative, []).append(item)
        self.left.pop(relative, None)

    def changed(self, relative: bytes, data: bytes) -> None:
        """A person wrote this file; all of its names have the new contents."""
        item = self.at[relative]
        item.note(look.look_at(self.path(relative)), data)

    def retold(self, relative: bytes) -> None:
        """A person changed metadata of a file, which may be damaged."""
        item, seen = self.at[relative], look.look_at(self.path(relative))
        was = item.now
        item.note(replace(seen, digest=was.digest, length=was.length, room=was.room), item.data)

    def moved(self, old: bytes, new: bytes) -> None:
        """A person renamed a file."""
        item = self.at.pop(old)
        self.left[old] = (item, frozenset(self.names_of(item)))
        self.know(new, item)

    def deleted(self, relative: bytes) -> None:
        """A file is gone, by a person or an accident; the others of its names stay."""
        item = self.at.pop(relative)
        # A folder may be deleted with several of its names.
        names = [name for name in self.names_of(item) if self.is_there(name)]
        for name in names[:1]:
            item.now = replace(item.now, links=look.look_at(self.path(name)).links)

    def names_of(self, item: Item) -> list[bytes]:
        return [path for path, other in self.at.items() if other is item]

    def heirs(self, old: bytes, item: Item) -> list[bytes]:
        """The names of a file that was moved from a name, as far as a run could know that.

        Runs met the same inode at both names, with the same tag, or of one length and time. Who
        saves a file anew and renames it between two runs leaves nothing that tells it from a
        deleted file and a new one.
        """
        here = self.met.get(old, set())
        siblings = self.left[old][1]
        names = [name for name in self.names_of(item) if name not in siblings]
        return [name for name in names if here & self.met.get(name, set())]

    def is_whole(self, relative: bytes) -> bool:
        """Whether the disk has what a person left there."""
        return look.look_at(self.path(relative)).digest == self.at[relative].now.digest

    def is_there(self, relative: bytes) -> bool:
        return os.path.lexists(self.path(relative))

    def remove(self) -> None:
        shutil.rmtree(self.base, ignore_errors=True)


def build(world: World) -> None:
    """The first tree: 8 to 24 files in a few folders, one of them perhaps with a default ACL."""
    source = world.random
    folders = [b""]
    for number in range(source.randint(1, 3)):
        name = b"d%d" % number + source.choice(ODD)
        folders.append(source.choice(folders[:2]) + b"/" + name if number > 1 else name)
        folders[-1] = folders[-1].lstrip(b"/")
        world.make_folder(folders[-1])
    if world.manner.part:
        folders.append(b"part")
    for number in range(source.randint(8, 24)):
        name = b"f%02d" % number + source.choice(ODD)
        path = os.path.join(source.choice(folders), name)
        if source.random() < 0.1:
            pages = sorted(source.sample(range(0, 128), 3))
            data = bytearray(source.choice((200_000, 524_288)))
            for page in pages:
                data[page * 4096 : (page + 1) * 4096] = source.randbytes(
                    len(data[page * 4096 : (page + 1) * 4096])
                )
            world.write(path, bytes(data), [page * 4096 for page in pages])
        else:
            world.write(path, source.randbytes(source.choice(LENGTHS)))
    for number in range(1, source.choice((1, 1, 4)) + 1):
        world.write(b"log.%d" % number, source.randbytes(source.choice(LENGTHS[2:])))
    _twins_and_links(world, folders[0])


def _twins_and_links(world: World, folder: bytes) -> None:
    """A file of the same contents as another, and second names of some files."""
    source = world.random
    local = [path for path in sorted(world.at) if not path.startswith(b"part/")]
    if source.random() < 0.4:
        world.write(os.path.join(folder, b"twin"), world.at[source.choice(local)].data)
    if source.random() < 0.4:
        link(world, source.choice(local), os.path.join(folder, b"link"))


def link(world: World, old: bytes, new: bytes) -> None:
    """A second name."""
    os.link(world.path(old), world.path(new))
    item = world.at[old]
    world.know(new, item)
    item.now = replace(item.now, links=look.look_at(world.path(new)).links)


def acl(user: int, users: dict[int, int], group: int, mask: int, other: int) -> bytes:
    """An access list as the kernel takes it."""
    nobody = 0xFFFF_FFFF
    entries = [(1, user, nobody)]
    entries += [(2, permission, number) for number, permission in sorted(users.items())]
    entries += [(4, group, nobody), (16, mask, nobody), (32, other, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def clear_acl(path: bytes) -> None:
    """What a default ACL of the folder gave."""
    if ACCESS in os.listxattr(path):
        os.removexattr(path, ACCESS)


def some(source: random.Random, paths: Iterable[bytes]) -> bytes | None:
    """One of these paths, always the same for the same seed."""
    choices = sorted(paths)
    return source.choice(choices) if choices else None
