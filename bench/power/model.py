"""Knows what a disk may hold after a cut, from the steps that were synced and those under way.

It predicts files and tags, not verdicts. It must not look at a disk.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from plan import Change, Slice, Step, is_catalogued


@dataclass(frozen=True)
class File:
    """One file as it should be. `tag` is what its tag describes; None without a tag.

    `detached`: replaced in a catalogued tree, so the attribute is gone and the catalogue still has
    the tag. Which tag such a file has later is left to the program.
    """

    contents: Slice
    tag: Slice | None = None
    detached: bool = False


@dataclass
class Expected:
    """What may be found: `synced` files exactly, except those that steps under way changed."""

    synced: dict[str, File] = field(default_factory=dict)
    catalogued: set[str] = field(default_factory=set)
    # What the steps under way did to each path, by kind of change.
    changed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    # Trees that a verb under way may have written to.
    busy: set[str] = field(default_factory=set)
    # Every contents that each path, or the file moved there, ever had.
    versions: dict[str, set[Slice]] = field(default_factory=lambda: defaultdict(set))
    # Paths that were removed or moved away at any time.
    left: set[str] = field(default_factory=set)

    def is_exact(self, path: str) -> bool:
        """Whether the file's bytes were synced and not changed since."""
        return path in self.synced and path not in self.changed

    def keeps_tag(self, path: str) -> bool:
        """Whether the file had a synced tag that nothing under way takes away."""
        kept = {"edit", "touch"}
        one = self.synced.get(path)
        return one is not None and one.tag is not None and self.changed.get(path, kept) <= kept

    def explains_lost_tag(self, path: str) -> bool:
        """Whether a user replaced the file, which drops its attribute."""
        one = self.synced.get(path)
        return (one is not None and one.detached) or "replace" in self.changed.get(path, ())


def expect(steps: Sequence[Step], begun: int, synced: int) -> Expected:
    """What may be found if all up to step `synced` was synced and step `begun` was begun."""
    expected = Expected()
    files = expected.synced
    for step in steps[:synced]:
        for change in step.changes:
            _apply(files, change)
        if step.verb:
            _run(files, expected.catalogued, step)
        _note(expected, step.changes)
    for step in steps[synced:begun]:
        _note(expected, step.changes)
        for change in step.changes:
            for path in filter(None, (change.path, change.to)):
                expected.changed[path].add(change.kind)
        if step.verb:
            expected.busy.add(step.tree)
    return expected


def _note(expected: Expected, changes: Iterable[Change]) -> None:
    for change in changes:
        if change.contents is not None:
            expected.versions[change.path].add(change.contents)
        if change.to is not None:
            expected.versions[change.to] |= expected.versions[change.path]
        if change.kind in ("remove", "move"):
            expected.left.add(change.path)


def _apply(files: dict[str, File], change: Change) -> None:
    """One change by a user."""
    path = change.path
    if change.kind == "remove":
        del files[path]
    elif change.kind == "move" and change.to is not None:
        files[change.to] = files.pop(path)
    elif change.kind == "edit" and change.contents is not None:
        files[path] = replace(files[path], contents=change.contents)
    elif change.kind == "create" and change.contents is not None:
        files[path] = File(change.contents)
    elif change.kind == "replace" and change.contents is not None:
        files[path] = File(change.contents, detached=is_catalogued(path))


def _run(files: dict[str, File], catalogued: set[str], step: Step) -> None:
    """One verb of Steadfast."""
    verb = step.verb[0]
    if verb == "init":
        catalogued.add(step.tree)
    for path, one in files.items():
        if not path.startswith(f"{step.tree}/"):
            continue
        first = one.tag is None and not one.detached and verb in ("init", "tag", "update")
        if first or (one.tag is not None and verb == "update"):
            files[path] = replace(one, tag=one.contents)
