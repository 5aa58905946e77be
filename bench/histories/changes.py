"""What happens to files between runs: what people do, and how disks and other programs do harm.

Each function does one step and returns it in words, or None if the tree has no file for it.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable

import look
import protected
from world import ACCESS, LENGTHS, World, acl, clear_acl, link, some

Change = Callable[[World, random.Random], str | None]


def rot(world: World, source: random.Random) -> str | None:
    """Flips bytes beneath the modification time."""
    path = some(source, _there(world, lambda item: item.now.length > 0))
    if path is None:
        return None
    at = source.randrange(world.at[path].now.length)
    damage(world.path(path), at, source.choice((1, 1, 30, 5000)))
    return f"rot {path!r} at {at}"


def damage(path: bytes, at: int, length: int) -> None:
    """Flips bytes and puts the time back."""
    status = os.stat(path)
    with open(path, "r+b", buffering=0) as file:
        file.seek(at)
        old = file.read(length)
        file.seek(at)
        file.write(bytes(byte ^ 0x55 for byte in old))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def resize(world: World, source: random.Random) -> str | None:
    """Cuts or extends a file beneath its time."""
    path = some(source, _there(world, lambda item: 0 < item.now.length < 100_000))
    if path is None:
        return None
    status = os.stat(world.path(path))
    length = max(0, status.st_size + source.choice((-4096, -1, 1, 100, 4096, 5000)))
    os.truncate(world.path(path), length)
    if length > status.st_size and source.random() < 0.5:
        with open(world.path(path), "r+b") as file:
            file.seek(status.st_size)
            file.write(b"tail" * ((length - status.st_size) // 4))
    os.utime(world.path(path), ns=(status.st_atime_ns, status.st_mtime_ns))
    return f"resize {path!r} from {status.st_size} to {length}, same time"


def edit(world: World, source: random.Random) -> str | None:
    """A program writes a file anew: in place, by appending, or by save-and-rename."""
    path = some(source, _there(world))
    if path is None:
        return None
    manner = source.choice(("in place", "append", "save"))
    if manner == "append" and not world.is_whole(path):
        manner = "in place"
    data = source.randbytes(source.choice(LENGTHS))
    if manner == "append":
        data = world.at[path].data + source.randbytes(source.randint(1, 300))
    write(world, path, data, manner)
    return f"edit {path!r}, {manner}"


def write(world: World, path: bytes, data: bytes, manner: str) -> None:
    """An edit; the truth follows."""
    name = world.path(path)
    if manner != "save":
        with open(name, "r+b", buffering=0) as file:
            file.write(data)
            file.truncate()
        world.changed(path, data)
        return
    status = os.stat(name)
    with open(name + b".part", "xb") as file:
        file.write(data)
    clear_acl(name + b".part")
    os.chown(name + b".part", status.st_uid, status.st_gid)
    os.chmod(name + b".part", status.st_mode & 0o777)
    os.replace(name + b".part", name)
    item = world.at[path]
    if len(world.names_of(item)) > 1:
        # The other names keep the old file.
        del world.at[path]
        for other in world.names_of(item):
            world.retold(other)
        item = type(item)(item.now, data, [], item.recorded)
        world.know(path, item)
    world.changed(path, data)


def create(world: World, source: random.Random) -> str | None:
    """A new file."""
    folder = some(source, [b"", *(one for one in world.folders if world.is_there(one))]) or b""
    path = os.path.join(folder, b"n%06d" % source.randrange(10**6))
    if world.is_there(path):
        return None
    world.write(path, source.randbytes(source.choice(LENGTHS)))
    return f"create {path!r}"


def delete(world: World, source: random.Random) -> str | None:
    """A file is deleted."""
    path = some(source, _there(world))
    if path is None:
        return None
    os.unlink(world.path(path))
    world.deleted(path)
    return f"delete {path!r}"


def delete_folder(world: World, source: random.Random) -> str | None:
    """A folder is deleted with everything in it."""
    folder = some(source, (one for one in world.folders if world.is_there(one)))
    if folder is None:
        return None
    shutil.rmtree(world.path(folder))
    for path in [one for one in world.at if one.startswith(folder + b"/")]:
        world.deleted(path)
    return f"delete folder {folder!r}"


def rename(world: World, source: random.Random) -> str | None:
    """A file gets another name, perhaps in another folder of the same volume."""
    path = some(source, _local(world))
    folder = some(source, [b"", *(one for one in world.folders if world.is_there(one))]) or b""
    new = os.path.join(folder, b"r%06d" % source.randrange(10**6))
    if path is None or world.is_there(new):
        return None
    os.rename(world.path(path), world.path(new))
    world.moved(path, new)
    return f"rename {path!r} to {new!r}"


def swap(world: World, source: random.Random) -> str | None:
    """Two files exchange their names."""
    local = sorted(_local(world))
    if len(local) < 2:
        return None
    one, other = source.sample(local, 2)
    if world.at[one] is world.at[other]:
        return None
    between = world.path(b"between")
    os.rename(world.path(one), between)
    os.rename(world.path(other), world.path(one))
    os.rename(between, world.path(other))
    first, second = world.at[one], world.at[other]
    world.know(one, second)
    world.know(other, first)
    return f"swap {one!r} and {other!r}"


def rotate(world: World, source: random.Random) -> str | None:
    """log.1 becomes log.2 and so on; the last is deleted."""
    logs = [b"log.%d" % number for number in range(1, 6)]
    logs = [path for path in logs if path in world.at and world.is_there(path)]
    if not logs:
        return None
    if len(logs) > 3:
        os.unlink(world.path(logs[-1]))
        world.deleted(logs.pop())
    for path in reversed(logs):
        new = b"log.%d" % (int(path[-1:]) + 1)
        if not world.is_there(new):
            os.rename(world.path(path), world.path(new))
            world.moved(path, new)
    if not world.is_there(b"log.1"):
        world.write(b"log.1", source.randbytes(source.choice(LENGTHS)))
    return "rotate log.*"


def cycle(world: World, source: random.Random) -> str | None:
    """Three to five files take each other's names, across folders; or the last name is a new one."""
    local = sorted(_local(world))
    if len(local) < 3:
        return None
    names = source.sample(local, min(len(local), source.choice((3, 4, 5))))
    items = [world.at[name] for name in names]
    if len({id(item) for item in items}) < len(items):
        return None
    between = world.path(b"between")
    os.rename(world.path(names[-1]), between)
    for old, new in reversed(list(zip(names, names[1:], strict=False))):
        os.rename(world.path(old), world.path(new))
    is_chain = source.random() < 0.5
    last = os.path.join(os.path.dirname(names[0]), b"c%06d" % source.randrange(10**6))
    is_chain = is_chain and not world.is_there(last)
    os.rename(between, world.path(last if is_chain else names[0]))
    if is_chain:
        world.moved(names[-1], last)
        world.left[names[0]] = (items[0], frozenset())
        del world.at[names[0]]
    for item, new in zip(items, names[1:], strict=False):
        world.know(new, item)
    if not is_chain:
        world.know(names[0], items[-1])
    return f"{'chain' if is_chain else 'cycle'} {names!r}" + (f" to {last!r}" if is_chain else "")


def reuse_inode(world: World, source: random.Random) -> str | None:
    """A file is deleted, and one of the same length and time gets its inode, at another name."""
    path = some(source, (one for one in _local(world) if world.at[one].now.length > 0))
    folder = some(source, [b"", *(one for one in world.folders if world.is_there(one))]) or b""
    new = os.path.join(folder, b"u%06d" % source.randrange(10**6))
    if path is None or world.is_there(new) or len(world.names_of(world.at[path])) > 1:
        return None
    status = os.stat(world.path(path))
    os.unlink(world.path(path))
    world.deleted(path)
    world.write(new, source.randbytes(status.st_size))
    os.utime(world.path(new), ns=(status.st_mtime_ns, status.st_mtime_ns))
    world.retold(new)
    is_same = os.stat(world.path(new)).st_ino == status.st_ino
    return f"delete {path!r}, create {new!r} with {'its' if is_same else 'another'} inode"


def add_link(world: World, source: random.Random) -> str | None:
    """A file gets a further name."""
    path = some(source, _local(world))
    folder = some(source, [b"", *(one for one in world.folders if world.is_there(one))]) or b""
    new = os.path.join(folder, b"h%06d" % source.randrange(10**6))
    if path is None or world.is_there(new):
        return None
    link(world, path, new)
    return f"link {path!r} as {new!r}"


def drop_link(world: World, source: random.Random) -> str | None:
    """A file with several names loses one."""
    path = some(source, (one for one in _local(world) if len(world.names_of(world.at[one])) > 1))
    if path is None:
        return None
    os.unlink(world.path(path))
    world.deleted(path)
    return f"remove the name {path!r}"


def chmod(world: World, source: random.Random) -> str | None:
    """A person changes mode, access list, owner or an attribute of a file."""
    path = some(source, _there(world))
    if path is None:
        return None
    name, kind = world.path(path), source.choice(("mode", "acl", "attribute", "owner"))
    if kind == "mode":
        clear_acl(name)
        os.chmod(name, source.choice((0o600, 0o644, 0o750, 0o444)))
    elif kind == "acl":
        os.setxattr(name, ACCESS, acl(6, {4321: 4}, 4, 4, 0))
    elif kind == "attribute":
        os.setxattr(name, "user.note", source.randbytes(8))
    elif world.manner.user == 0:
        os.chown(name, 1234, 1234)
    world.retold(path)
    return f"change {kind} of {path!r}"


def drop_attributes(world: World, source: random.Random) -> str | None:
    """A copy without `-X`, or an editor: attributes of some files are gone, the tag among them."""
    paths = sorted(_there(world))
    chosen = source.sample(paths, min(len(paths), source.choice((1, 1, 3, 99))))
    for path in chosen:
        for name in os.listxattr(world.path(path)):
            if name.startswith("user."):
                os.removexattr(world.path(path), name)
        world.retold(path)
    return f"drop attributes of {chosen!r}"


def damage_tag(world: World, source: random.Random) -> str | None:
    """A byte of a tag is wrong."""
    tagged = [path for path in _there(world) if look.look_at(world.path(path)).has_tag]
    path = some(source, tagged)
    if path is None:
        return None
    value = bytearray(os.getxattr(world.path(path), look.TAG))
    value[source.randrange(len(value))] ^= 0x10
    os.setxattr(world.path(path), look.TAG, bytes(value))
    return f"damage the tag of {path!r}"


def damage_set(world: World, source: random.Random) -> str | None:
    """A block of a parity file is wrong."""
    path = some(source, protected.parity_files(parity_folder(world)))
    if path is None:
        return None
    at = source.randrange(os.path.getsize(path))
    if source.random() < 0.5:
        # The header, or the beginning of the index.
        at = source.randrange(8192)
    damage(path, at, 1)
    return f"damage {os.path.basename(path)[:8]!r} of the parity at {at}"


def parity_folder(world: World) -> bytes:
    """Where the parity of the tree is."""
    if world.manner.parity == "elsewhere":
        return os.fsencode(world.base / "parity")
    return os.path.join(world.root, protected.PARITY)


def take_copy(world: World, source: random.Random) -> str | None:
    """A backup: with everything, or without attributes."""
    if len(world.copies) > 2:
        return None
    name = f"copy{len(world.copies)}"
    how = source.choice(("-a", "-a", "-r"))
    line = ["cp", how, os.fsdecode(world.root), str(world.base / name)]
    user = world.manner.user
    subprocess.run(line, check=True, user=user, group=user, extra_groups=[])
    shutil.rmtree(world.base / name / ".steadfast", ignore_errors=True)
    world.copies.append(name)
    world.copy_seen[name] = look.look(os.fsencode(world.base / name))
    return f"cp {how} tree {name}"


def restore_copy(world: World, source: random.Random) -> str | None:
    """A person puts an older copy of a file over it."""
    path = some(source, _there(world))
    if path is None or not world.copies:
        return None
    copy = os.path.join(os.fsencode(world.base / source.choice(world.copies)), path)
    if not os.path.isfile(copy):
        return None
    try:
        with open(copy, "rb") as file:
            data = file.read()
    except OSError:
        # It shares its blocks with the file, and these are damaged in the image.
        return None
    name, status = world.path(path), os.stat(copy)
    if os.stat(name).st_mtime_ns == status.st_mtime_ns and not world.is_whole(path):
        # That is a repair by hand, and beneath the time of the file.
        return None
    with open(name, "r+b", buffering=0) as target:
        target.write(data)
        target.truncate()
    os.utime(name, ns=(status.st_mtime_ns, status.st_mtime_ns))
    world.changed(path, data)
    return f"copy an older {path!r} back"


def _there(world: World, fits: Callable[[object], bool] | None = None) -> list[bytes]:
    """Live files that are on the disk."""
    return [
        path
        for path, item in world.at.items()
        if world.is_there(path) and (fits is None or fits(item))
    ]


def _local(world: World) -> list[bytes]:
    """Those on the volume of the tree's root."""
    return [path for path in _there(world) if not path.startswith(b"part/")]


# Each with how often it is drawn.
CHANGES: tuple[tuple[Change, int], ...] = (
    (rot, 12),
    (resize, 4),
    (edit, 8),
    (create, 2),
    (delete, 5),
    (delete_folder, 2),
    (rename, 5),
    (swap, 3),
    (rotate, 3),
    (cycle, 3),
    (reuse_inode, 2),
    (add_link, 2),
    (drop_link, 2),
    (chmod, 3),
    (drop_attributes, 3),
    (damage_tag, 2),
    (damage_set, 2),
    (take_copy, 3),
    (restore_copy, 2),
)

# Those that write to a file and put its time back.
BENEATH_TIME: tuple[Change, ...] = (rot, resize)
