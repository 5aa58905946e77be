"""Compares a tree before and after one run of Steadfast with the truth. README.md has the faults.

A fault is a kind and where. A count is something that may happen and that the record keeps.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import protected
from changes import parity_folder
from kept import kept
from look import Seen
from protected import ParitySet, Signature
from program import Run
from world import Item, World

SET_ID = 0o7000
ROOM_SPARE_BYTES = 32 << 10
STATUSES = (0, 1, 2, 3)
MENDING = ("repair",)
ACCEPTING = ("--accept-missing", "--forget-missing")
# Verbs whose status 0 says that nothing which they looked at is damaged.
LOOKING = ("check", "update", "repair")
# Verbs that record in the catalogue what they meet.
RECORDING = ("check", "update", "repair", "tag")


@dataclass
class Outcome:
    """What one history led to."""

    faults: list[tuple[str, str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def fault(self, kind: str, where: object) -> None:
        self.faults.append((kind, str(where)))


@dataclass(frozen=True)
class Before:
    """What there was before a run."""

    seen: dict[bytes, Seen]
    sets: dict[Signature, ParitySet]


def before(world: World) -> Before:
    """Looks at everything that a run may change."""
    return Before(world.look(), protected.read_folder(parity_folder(world)))


def judge(
    world: World,
    was: Before,
    run: Run,
    outcome: Outcome,
    raced: bytes | None = None,
    killed: bool = False,
    is_kept: bool = False,
) -> None:
    """Judges what a run did and said.

    `killed`: it was killed, so it could not say everything. `raced`: a person wrote this file
    meanwhile, which a repair in place forbids but must not hide. `is_kept`: what became of its
    former bytes is judged elsewhere.
    """
    one = _Judgement(world, was, world.look(), run, outcome, killed, raced, is_kept)
    # Where a part is not mounted, names do not say what is gone.
    is_blind = run.only_accepts and not world.unmounted
    records = run.verb in RECORDING and not killed and not is_blind
    if records:
        one.meet(was.seen)
    one.status()
    one.files()
    one.protection()
    one.learn()
    if records:
        one.record()


@dataclass
class _Judgement:
    world: World
    was: Before
    now: dict[bytes, Seen]
    run: Run
    outcome: Outcome
    killed: bool
    raced: bytes | None
    is_kept: bool
    _kept: set[str] | None = None

    def fault(self, kind: str, path: bytes | str, more: str = "") -> None:
        self.outcome.fault(kind, f"{path!r}{': ' if more else ''}{more} [{self._said()}]")

    def _said(self) -> str:
        return f"{' '.join(self.run.words)} -> {self.run.status}"

    def status(self) -> None:
        run = self.run
        if b"panicked" in run.output or (run.status not in STATUSES and not self.killed):
            self.fault("crash", "", run.output[-300:].decode(errors="replace"))
        if run.status != 0 or self.killed or run.words[0] not in LOOKING:
            return
        if "--dry-run" in run.words or "--discard" in run.words:
            return
        for path, seen in self.now.items():
            if not self._is_selected(path) or run.only_accepts:
                continue
            if seen.is_corrupt:
                self.fault("status 0 with open damage", path)
            elif seen.has_tag and seen.tag is None:
                self.fault("status 0 with open damage", path, "a damaged tag")
            elif self._takes_none(seen) and self._is_decayed(path, seen):
                self.fault("status 0 with open damage", path, "it takes no tag")
        if not self.world.manner.catalogue or any(word in run.words for word in ACCEPTING):
            return
        there = {seen.digest for seen in self.now.values()}
        for path, item in self._lost():
            if item.recorded is not None and item.recorded.digest not in there:
                if self._is_overwritten(item):
                    # It was told once, by the run that found the other file there.
                    continue
                if self._is_selected(path) and not item.accepted:
                    self.fault("status 0 with open damage", path, "missing")

    def _takes_none(self, seen: Seen) -> bool:
        """Whether only the catalogue can have the tag of a file."""
        user = self.world.manner.user
        is_closed = seen.kind == "file" and not seen.mode & 0o200 and not seen.has_tag
        return is_closed and user != 0 and self.world.manner.catalogue

    def _is_decayed(self, path: bytes, seen: Seen) -> bool:
        """Whether a file differs beneath its time from what is recorded of it."""
        item = self.world.at.get(path)
        recorded = item.recorded if item is not None else None
        if recorded is None or recorded.digest != item.now.digest:
            return False
        return seen.digest != recorded.digest and seen.mtime_ns == recorded.mtime_ns

    def _is_selected(self, path: bytes) -> bool:
        """Whether the run was of the whole tree, or of this file."""
        return self.run.is_of(path)

    def _lost(self) -> Iterable[tuple[bytes, Item]]:
        """Files that are at none of their names, by the name that they had."""
        live = {id(item) for item in self.world.at.values()}
        for path, items in self.world.past.items():
            if path not in self.now and id(items[-1]) not in live:
                yield path, items[-1]
        for path, item in self.world.at.items():
            if path not in self.now and not self.world.unmounted:
                yield path, item

    def files(self) -> None:
        for path, seen in self.now.items():
            old = self.was.seen.get(path)
            if old is None:
                self._appeared(path, seen)
            elif old.kind == seen.kind == "file" and old.digest != seen.digest:
                self._replaced(path, old, seen)
            else:
                self._same(path, old, seen)
        for path in self.was.seen:
            if path not in self.now:
                self.fault("wrong bytes", path, "removed")

    def _replaced(self, path: bytes, old: Seen, seen: Seen) -> None:
        item = self.world.at.get(path)
        if self.run.verb not in MENDING:
            self.fault("wrong bytes", path, "changed by a verb that must not")
        if path == self.raced and "--in-place" in self.run.words and self._tells(path):
            self.outcome.counts["raced in place, told"] += 1
            return
        allowed = item.digests() if item is not None else set()
        if self._asked(path):
            # The file of this name, even if another program has put a new one there.
            allowed = allowed.union(*(one.digests() for one in self.world.past[path]))
        if seen.digest not in allowed:
            self.fault("wrong bytes", path, "not what this file ever was")
        edited = item is not None and old.digest == item.now.digest and not old.is_corrupt
        if edited and not self._asked(path):
            if self.killed or self._tells(path) or self._asked_by_link(path, old):
                self.outcome.counts["edit undone, told"] += 1
            else:
                self.fault("edit undone untold", path)
        ours = self.is_kept and path == self.raced
        if old.digest not in self._kept_digests() and old.length and not ours:
            kind = "person's bytes kept nowhere" if edited else "damaged bytes kept nowhere"
            if old.digest != "unreadable":
                self.fault(kind, path)
        wants = [old] if item is None else [old, item.now]
        times = {one.mtime_ns for one in [*wants, *([item.recorded] if item else [])] if one}
        if self._asked(path):
            given = (one for earlier in self.world.past[path] for one in earlier.versions)
            times |= {one.mtime_ns for one in given if one.digest == seen.digest}
        self._metadata(path, wants, seen, times)
        # Another of its names may have been missing, and be there again.
        names = sum(one.inode == seen.inode for one in self.now.values())
        if not old.links <= seen.links <= max(old.links, names) and item is not None:
            self._untold("metadata untold", path, f"links {old.links} -> {seen.links}")
        self.outcome.counts["mended"] += 1

    def _asked(self, path: bytes) -> bool:
        last = self.run.words[-1].encode(errors="surrogateescape")
        return "--to-tag" in self.run.words and last == b"tree/" + path

    def _asked_by_link(self, path: bytes, old: Seen) -> bool:
        """Whether the undoing was asked for by another name of the file, and this one was told."""
        links = (name for name, one in self.was.seen.items() if one.inode == old.inode)
        return any(self._asked(name) for name in links) and self.run.names(path)

    def _appeared(self, path: bytes, seen: Seen) -> None:
        if seen.kind == "folder":
            want = self.world.folders.get(path)
            if want is None:
                self.fault("wrong bytes", path, "a folder from nowhere")
            else:
                self._metadata(path, [want, *self._of_copies(path)], seen, {0})
                self.outcome.counts["folder restored"] += 1
            return
        items = self.world.past.get(path, [])
        if self.world.unmounted and self.world.manner.catalogue and path.startswith(b"part/"):
            self.fault("made where a part is not mounted", path)
        if self.run.verb not in MENDING:
            kind = "draft tagged" if seen.has_tag else "draft left"
            self.fault(kind, path)
            return
        fitting = [item for item in items if seen.digest in item.digests()]
        older = [
            item for item in items if seen.digest in {one.digest for one in item.versions}
        ]
        if not fitting and not older:
            self.fault("wrong bytes", path, "made from nothing that this file ever was")
            return
        self._revived(path, seen, fitting or older)
        fitting = fitting or older
        known = [item.known for item in fitting if item.known is not None]
        if known and self.world.manner.catalogue and all(
            one.digest == seen.digest for one in known
        ):
            # The catalogue has what belonged to it when it was met last.
            wants = [*known, *(item.now for item in fitting)]
            self._metadata(path, wants, seen, {one.mtime_ns for one in wants}, fresh=True)
            self.outcome.counts["restored"] += 1
            return
        wants = [one for item in fitting for one in [*item.versions[-2:], item.recorded] if one]
        # Nothing may know a later one.
        wants += [one for item in fitting for one in item.versions if one.digest == seen.digest]
        wants += self._of_copies(path)
        self._metadata(path, wants, seen, {one.mtime_ns for one in wants}, fresh=True)
        self.outcome.counts["restored"] += 1

    def _revived(self, path: bytes, seen: Seen, fitting: list[Item]) -> None:
        """A file that is whole under another name needs no second file under this one."""
        live = [name for item in fitting for name in self.world.names_of(item)]
        sound = [
            name
            for name in live
            if name != path and name in self.now and self.now[name].digest == seen.digest
        ]
        if path in self.world.left:
            item = self.world.left[path][0]
            is_there = any(
                name in self.now and self.now[name].digest == item.now.digest
                for name in self.world.heirs(path, item)
            )
            if is_there and item in fitting:
                kind = "revived under an old name"
                if self.world.manner.catalogue:
                    self.fault(kind, path)
                else:
                    self.outcome.counts[kind] += 1
        elif not all(self.world.names_of(item) for item in fitting):
            # It is one of two files with these contents, of which the other is there.
            return
        elif sound and self.now[sound[0]].inode != seen.inode and self.world.manner.catalogue:
            # Nothing else knows which files have several names.
            self._untold("metadata untold", path, f"a second file, no link to {sound[0]!r}")

    def _of_copies(self, path: bytes) -> list[Seen]:
        """A copy's metadata may be taken where nothing in the tree knows better."""
        knows_folders = self.world.manner.catalogue
        if knows_folders or (self.world.manner.parity and path not in self.world.folders):
            return []
        seen = self.world.copy_seen.values()
        return [copy[path] for copy in seen if path in copy]

    def _metadata(
        self, path: bytes, wants: list[Seen], seen: Seen, times: set[int], fresh: bool = False
    ) -> None:
        """`fresh`: set-ID bits must not come back."""
        if seen.kind == "folder" or fresh:
            if seen.mode & SET_ID and not self._is_link(seen):
                self.fault("rights given", path, f"mode {seen.mode:o}")
        widest = 0
        for one in wants:
            widest |= one.mode
        if seen.mode & ~widest or seen.owner not in {one.owner for one in wants} | {self._me()}:
            self.fault("rights given", path, f"mode {seen.mode:o}, owner {seen.owner}")
        lists = {_lists(one) for one in wants}
        # Its mask stands where the mode has the group; an empty one lets nobody in.
        if _lists(seen) and seen.mode & 0o070 and _lists(seen) not in lists:
            self.fault("rights given", path, f"an access list: {_lists(seen)!r}")
        differing = []
        if seen.mode not in {one.mode for one in wants}:
            differing.append(f"mode {seen.mode:o}")
        if seen.owner not in {one.owner for one in wants}:
            differing.append(f"owner {seen.owner}")
        if seen.attributes not in {one.attributes for one in wants}:
            differing.append(f"attributes {[name for name, _ in seen.attributes]}")
        if seen.kind == "file" and seen.mtime_ns not in times:
            differing.append(f"time {seen.mtime_ns}")
        # Contents that are given back may need more room than an edit that is undone.
        versions = (one for item in self.world.past.get(path, []) for one in item.versions)
        same = [one.room for one in versions if one.digest == seen.digest]
        room = max([*same, *(one.room for one in wants)])
        if seen.room > room + ROOM_SPARE_BYTES and (
            now := self.world.settled_room(path)
        ) > room + ROOM_SPARE_BYTES:
            differing.append(f"room {now} for {room}")
        if differing:
            was = f" (was {wants[-1].mode:o} {wants[-1].owner})"
            self._untold("metadata untold", path, ", ".join(differing) + was)

    def _is_link(self, seen: Seen) -> bool:
        """Whether it is another name of a file that was there, with the rights that this has.

        That file may have been repaired in the same run, and is another inode then.
        """
        names = (name for name, one in self.now.items() if one.inode == seen.inode)
        old = [self.was.seen[name] for name in names if name in self.was.seen]
        old += (one for one in self.was.seen.values() if one.inode == seen.inode)
        return any(one.mode == seen.mode for one in old)

    def _me(self) -> tuple[int, int]:
        return (self.world.manner.user, self.world.manner.user)

    def _same(self, path: bytes, old: Seen, seen: Seen) -> None:
        """A run that leaves the contents alone leaves everything alone."""
        fields = ("kind", "mode", "owner", "attributes", "mtime_ns")
        item = self.world.at.get(path)
        for name in fields:
            got = getattr(seen, name)
            if got == getattr(old, name):
                continue
            if item is not None and self.run.verb in MENDING and got == getattr(item.now, name):
                continue
            if name == "mtime_ns" and self.run.verb in MENDING and seen.tag is not None:
                # A repair in place that wrote a page back.
                if got == seen.tag.mtime_ns and "--in-place" in self.run.words:
                    continue
            self.fault("metadata untold", path, f"{name} {getattr(old, name)!r} -> {got!r}")
        if seen.room > old.room + ROOM_SPARE_BYTES:
            if self.world.settled_room(path) > old.room + ROOM_SPARE_BYTES:
                self.fault("metadata untold", path, f"room {old.room} -> {seen.room}")
        if seen.links < old.links:
            self.fault("metadata untold", path, f"links {old.links} -> {seen.links}")

    def _tells(self, path: bytes) -> bool:
        item = self.world.at.get(path)
        names = [path] if item is None else [path, *self.world.names_of(item)]
        return any(self.run.tells(name) for name in names)

    def _untold(self, kind: str, path: bytes, more: str) -> None:
        if self.killed or self._tells(path):
            self.outcome.counts[kind.replace("untold", "told")] += 1
        else:
            self.fault(kind, path, more)

    def _kept_digests(self) -> set[str]:
        if self._kept is None:
            self._kept = kept(self.world.root)
        return self._kept

    def protection(self) -> None:
        """What could be rebuilt before can be rebuilt now, or somebody was told."""
        sets = protected.read_folder(parity_folder(self.world))
        ends = any(word in self.run.words for word in ACCEPTING)
        if ends:
            for path, item in list(self._lost()):
                # Without a catalogue nobody knows that it is not mounted.
                part = path.startswith(b"part/") and self.world.unmounted
                part = part and self.world.manner.catalogue
                item.accepted = item.accepted or not part
        if self.was.sets.keys() <= sets.keys():
            return
        root = self.world.root
        missing = protected.rebuildable(root, self.was.sets.values())
        missing -= protected.rebuildable(root, sets.values())
        if not missing:
            return
        earlier = protected.read_folder(os.path.join(parity_folder(self.world), b"earlier"))
        replaced = protected.rebuildable(root, earlier.values())
        items = dict(self.world.at)
        for path, item in self._lost():
            items.setdefault(path, item)
        for path, item in items.items():
            recorded = item.recorded
            if recorded is None or recorded.digest not in missing or item.accepted:
                continue
            if recorded.digest != item.now.digest or recorded.length == 0:
                # Edited: the next tag ends the protection of what it was before.
                continue
            if recorded.digest in replaced and self._left_a_name(item):
                continue
            seen = self.now.get(path)
            tag = seen.tag if seen is not None else None
            is_other = tag is not None and tag.digest != recorded.digest
            if path.startswith(b"part/") and not self.world.manner.catalogue and is_other:
                # What is mounted over it has another file of this name, as after an edit.
                continue
            if seen is not None and seen.digest == recorded.digest and seen.tag is None:
                # Untagged files are not protected, and it is whole.
                continue
            if not self.killed and (self.run.status != 0 or self.run.names(path)):
                self.outcome.counts["lost protection, told"] += 1
            else:
                about = f"{recorded.digest[:8]}, {recorded.length} bytes"
                self.fault("lost protection untold", path, about)

    def _is_overwritten(self, item: Item) -> bool:
        """Whether another file was moved to a name of a lost one: as after `mv`, not as after rot.

        That is its last name, or the last one at which a run met it.
        """
        past, met = self.world.past, self.world.met
        names = [name for name, items in past.items() if any(one is item for one in items)]
        names = [name for name in names if met.get(name, set()) & item.now.signs()]
        return any(past[name][-1] is not item for name in [item.last_name, *names])

    def meet(self, files: dict[bytes, Seen]) -> None:
        """Takes note of where the run met which file."""
        for path, seen in files.items():
            if self.run.is_of(path):
                self.world.met.setdefault(path, set()).update(seen.signs())

    def record(self) -> None:
        """Takes note of what the run put down of whole files with tags."""
        self.meet(self.now)
        for path, seen in self.now.items():
            item = self.world.at.get(path)
            if item is None or not self.run.is_of(path) or seen.tag is None:
                continue
            if seen.digest == item.now.digest:
                item.known = seen if seen.tag.digest == seen.digest else None

    def _left_a_name(self, item: Item) -> bool:
        """Whether a name that it had has another file, so that its parity is of earlier contents."""
        names = [items for items in self.world.past.values() if any(one is item for one in items)]
        return any(items[-1] is not item for items in names)

    def learn(self) -> None:
        """Takes note of what is recorded now, and of what came back."""
        for path, seen in self.now.items():
            if seen.kind != "file":
                continue
            item = self.world.at.get(path)
            if item is None:
                fitting = [
                    one for one in self.world.past.get(path, []) if seen.digest in one.digests()
                ]
                if not fitting:
                    continue
                item = fitting[-1]
                if self.world.names_of(item) and seen.links < 2:
                    item = Item(seen, b"", [seen], seen)
                self.world.know(path, item)
                item.now = seen
                item.versions.append(seen)
                item.accepted = False
            elif seen.digest == item.now.digest:
                old = self.was.seen.get(path)
                if old is not None and old.digest != seen.digest:
                    item.now = seen
                elif seen.links != item.now.links:
                    item.now = seen
            elif seen.digest in item.digests() and item.recorded is not None:
                old = self.was.seen.get(path)
                if old is not None and old.digest != seen.digest:
                    # An edit was undone; from now on that is the truth.
                    item.now = seen
                    item.versions.append(seen)
            if self._takes_none(seen) and seen.digest == item.now.digest:
                # A run of the whole tree that ends well has every file in the catalogue.
                if self.run.verb in ("init", "tag", "update") and self.run.status == 0:
                    item.recorded = item.now if self.run.words[-1] == "tree" else item.recorded
                self.outcome.counts["without room for a tag"] += 1
            if seen.tag is None:
                continue
            if seen.tag.digest == item.now.digest:
                item.recorded = item.now
            elif seen.tag.digest == seen.digest:
                # Decay that looked like an edit, or of a file whose tag was lost.
                self._taken(path, item)


    def _taken(self, path: bytes, item: Item) -> None:
        """A tag describes damaged contents, which is right only if nothing told them apart."""
        old = self.was.seen.get(path)
        known = self.world.manner.catalogue and item.recorded is not None
        if old is not None and (old.is_corrupt or (not old.has_tag and known)):
            if item.recorded is not None and item.recorded.mtime_ns == old.mtime_ns:
                self.fault("decay tagged", path)
        item.taken.add(self.now[path].digest)


def _lists(seen: Seen) -> tuple[bytes, ...]:
    """The access list of a file."""
    return tuple(value for name, value in seen.attributes if name.endswith("acl_access"))
