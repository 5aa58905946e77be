#!/usr/bin/env python3
"""Plants 69 changes in a tree of photographs, and asks Steadfast and other tools what changed.

In: the program (`--steadfast`), an empty folder on a file system with extended attributes
(`--folder`), and the tools on PATH. Out: the table of docs/reference/compared.md. Each tool records
a tree of its own, the changes are planted, and its check is read. Tools that are absent are named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

EACH = 3
"""How often each kind of change is planted."""

Found = dict[str, str]
"""What a tool says of a path: `silent` (contents changed, date kept), `edit`, `changed` (either),
`gone`, `moved`, `new`. Statements that are not about contents or names are left out."""


def run(*words: str | Path, cwd: Path | None = None) -> str:
    """Runs a program and returns all that it prints."""
    words = [str(word) for word in words]
    done = subprocess.run(
        words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", done.stdout.decode(errors="replace"))


# The changes.


@dataclass
class Plan:
    """What is planted: the truth of each change, and the files that only look changed."""

    root: Path
    random: random.Random
    changes: list[tuple[str, str, set[str]]] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    next_file: int = 0

    def take(self) -> Path:
        """Returns a file that nothing was done to."""
        self.next_file += 1
        return self.root / f"{2015 + self.next_file % 8}" / f"IMG_{self.next_file:04}.jpg"

    def note(self, kind: str, truth: str, *paths: Path) -> None:
        self.changes.append((kind, truth, {str(path.relative_to(self.root)) for path in paths}))


def make_tree(root: Path) -> None:
    rng = random.Random(1)
    plan = Plan(root, rng)
    for _ in range(160):
        path = plan.take()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rng.randbytes(rng.randrange(20_000, 60_000)))
    for folder in range(2 * EACH):
        path = root / f"album {folder}" / "cover.jpg"
        path.parent.mkdir()
        path.write_bytes(rng.randbytes(30_000))
    day = 86_400
    for path in root.rglob("*.jpg"):
        os.utime(path, (1_600_000_000, 1_600_000_000 + rng.randrange(day)))


def written(path: Path, at: int, new: bytes) -> None:
    """Writes bytes into a file, and puts its date back."""
    times = path.stat()
    with path.open("r+b") as file:
        file.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
        file.write(new)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def flipped(path: Path, at: int) -> None:
    byte = path.read_bytes()[at]
    written(path, at, bytes([byte ^ 8]))


def plant(root: Path) -> Plan:
    """Plants every kind of change, `EACH` times."""
    plan = Plan(root, random.Random(2))
    rng = plan.random
    silent: dict[str, Callable[[Path], None]] = {
        "one bit in the middle": lambda path: flipped(path, 9_999),
        "one bit of the first byte": lambda path: flipped(path, 0),
        "one bit of the last byte": lambda path: flipped(path, -1),
        "a page of zeros": lambda path: written(path, 4096, bytes(4096)),
        "a page of another file": lambda path: written(path, 8192, rng.randbytes(4096)),
        "two pages exchanged": lambda path: written(
            path, 0, path.read_bytes()[4096:8192] + path.read_bytes()[:4096]
        ),
        "everything from the middle on": lambda path: written(path, 10_000, rng.randbytes(10_000)),
    }
    for kind, change in silent.items():
        for _ in range(EACH):
            path = plan.take()
            change(path)
            plan.note(kind, "silent", path)

    def saved_as_new(path: Path) -> None:
        beside = path.with_suffix(".tmp")
        beside.write_bytes(rng.randbytes(25_000))
        beside.rename(path)

    def made_anew(path: Path) -> None:
        path.unlink()
        path.write_bytes(rng.randbytes(25_000))

    edits: dict[str, Callable[[Path], object]] = {
        "edited in place, same length": lambda path: path.write_bytes(
            rng.randbytes(path.stat().st_size)
        ),
        "longer": lambda path: path.write_bytes(path.read_bytes() + b"more"),
        "shorter": lambda path: path.write_bytes(path.read_bytes()[:9000]),
        "saved as a new file and renamed": saved_as_new,
        "deleted and made anew": made_anew,
        "one byte edited": lambda path: path.write_bytes(b"x" + path.read_bytes()[1:]),
    }
    for kind, edit in edits.items():
        for _ in range(EACH):
            path = plan.take()
            edit(path)
            plan.note(kind, "edit", path)
    for number in range(EACH):
        plant_names(plan, number)
    for _ in range(EACH):
        plant_new(plan)
        for keep in (
            lambda path: path.touch(),
            lambda path: path.chmod(0o600),
            lambda path: os.setxattr(path, "user.comment", b"sunset"),
        ):
            path = plan.take()
            keep(path)
            plan.unchanged.append(str(path.relative_to(root)))
    return plan


def plant_names(plan: Plan, number: int) -> None:
    """Deletes, moves and exchanges files."""
    root = plan.root
    path = plan.take()
    path.unlink()
    plan.note("deleted", "gone", path)
    path = plan.take()
    path.unlink()
    path.symlink_to("/dev/null")
    plan.note("replaced by a link", "gone", path)
    album = root / f"album {number}"
    shutil.rmtree(album)
    plan.note("deleted with its folder", "gone", album / "cover.jpg")
    for kind, to in (("renamed", None), ("moved to another folder", "sorted")):
        path = plan.take()
        other = root / to / path.name if to else path.with_name(f"sunset {path.name}")
        other.parent.mkdir(exist_ok=True)
        path.rename(other)
        plan.note(kind, "moved", path, other)
    album, renamed = root / f"album {EACH + number}", root / f"journey {number}"
    album.rename(renamed)
    plan.note("in a renamed folder", "moved", album / "cover.jpg", renamed / "cover.jpg")
    path = plan.take()
    other = path.with_name(f"edited {path.name}")
    path.rename(other)
    other.write_bytes(other.read_bytes() + b"more")
    plan.note("renamed and edited", "moved", path, other)
    one, two = plan.take(), plan.take()
    beside = one.with_suffix(".tmp")
    one.rename(beside)
    two.rename(one)
    beside.rename(two)
    plan.note("names exchanged with another file", "moved", one, two)


def plant_new(plan: Plan) -> None:
    path = plan.take()
    new = path.with_name(f"new {path.name}")
    new.write_bytes(plan.random.randbytes(10_000))
    plan.note("new", "new", new)
    copy = path.with_name(f"copy of {path.name}")
    shutil.copy2(path, copy)
    plan.note("a copy of a file that is still there", "new", copy)


# The tools. Each has a function that records and one that checks.


@dataclass
class Tool:
    name: str
    program: str
    record: Callable[[Path, Path], object]
    check: Callable[[Path, Path], Found]
    """Both get the tree and a folder beside it."""


def lines(text: str, *patterns: tuple[str, str]) -> Found:
    """Reads what patterns with a group for the path say, line by line. The first that fits counts."""
    found: Found = {}
    for line in text.splitlines():
        for pattern, says in patterns:
            if match := re.search(pattern, line):
                found.setdefault(match[1].removeprefix("./"), says)
                break
    return found


def files_of(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def sums(program: str) -> Tool:
    def record(root: Path, beside: Path) -> None:
        (beside / "sums").write_text(run(program, "--", *files_of(root), cwd=root))

    def check(root: Path, beside: Path) -> Found:
        said = run(program, "--check", beside / "sums", cwd=root)
        return lines(said, (r"^(.*): FAILED (?:open|\(No such)", "gone"), (r"^(.*): FAILED", "changed"))

    return Tool(program, program, record, check)


def steadfast(program: str) -> Tool:
    verdicts = {
        "corrupt": "silent", "suspect": "silent", "modified": "edit", "differs": "changed",
        "missing": "gone", "moved": "moved", "new": "new",
    }  # fmt: skip

    def record(root: Path, _: Path) -> None:
        run(program, "init", root)
        run(program, "tag", root)

    def check(root: Path, _: Path) -> Found:
        found: Found = {}
        for line in run(program, "check", "--json", root).splitlines():
            object_ = json.loads(line) if line.startswith("{") else {}
            says = verdicts.get(object_.get("verdict", ""), verdicts.get(object_.get("finding")))
            if "path" in object_ and says:
                path = os.path.relpath(object_["path"], root)
                found[path] = says
                if to := object_.get("moved_to"):
                    found[os.path.relpath(os.path.join(root, to["path"]), root)] = says
        return found

    return Tool("Steadfast", program, record, check)


def rhash() -> Tool:
    def check(root: Path, beside: Path) -> Found:
        said = run("rhash", "--check", beside / "list", cwd=root)
        return lines(said, (r"^(.*?) +ERR", "changed"), (r"^(.*?) +No such file", "gone"))

    return Tool(
        "rhash",
        "rhash",
        lambda root, beside: (beside / "list").write_text(
            run("rhash", "--sha256", "--recursive", ".", cwd=root)
        ),
        check,
    )


def hashdeep() -> Tool:
    def check(root: Path, beside: Path) -> Found:
        said = run(
            "hashdeep", "-a", "-vv", "-l", "-r", "-k", beside / "list", ".", cwd=root
        )
        moved = lines(said, (r"^(.*): Moved from", "moved"))
        moved |= lines(said, (r": Moved from (.*)$", "moved"))
        unknown = lines(said, (r"^(.*): No match", "new"))
        unused = lines(said, (r"^(.*): Known file not used", "gone"))
        changed = {path: "changed" for path in unknown if path in unused}
        return unknown | unused | changed | moved

    return Tool(
        "hashdeep",
        "hashdeep",
        lambda root, beside: (beside / "list").write_text(
            run("hashdeep", "-c", "sha256", "-l", "-r", ".", cwd=root)
        ),
        check,
    )


def cfv() -> Tool:
    def check(root: Path, beside: Path) -> Found:
        said = run("cfv", "-T", "-f", beside / "list.sha256", cwd=root)
        return lines(
            said, (r"^(.*) : No such file", "gone"), (r"^(.*) : .*does not match", "changed")
        )

    return Tool(
        "cfv",
        "cfv",
        lambda root, beside: run(
            "cfv", "-C", "-f", beside / "list.sha256", *files_of(root), cwd=root
        ),
        check,
    )


def bagit() -> Tool:
    def check(root: Path, _: Path) -> Found:
        said = run("bagit.py", "--validate", root)
        found: Found = {}
        for match in re.finditer(r"data/(.*?) (sha256 validation failed|exists)", said):
            found[match[1]] = "changed" if "failed" in match[2] else "gone"
        return found

    return Tool("bagit", "bagit.py", lambda root, _: run("bagit.py", "--sha256", root), check)


def par2() -> Tool:
    def check(root: Path, _: Path) -> Found:
        said = run("par2", "verify", "set.par2", cwd=root)
        return lines(
            said,
            (r'^Target: "(.*)" - damaged', "changed"),
            (r'^Target: "(.*)" - missing', "gone"),
        )

    return Tool(
        "par2",
        "par2",
        lambda root, _: run("par2", "create", "-r10", "set.par2", *files_of(root), cwd=root),
        check,
    )


def mtree() -> Tool:
    def check(root: Path, beside: Path) -> Found:
        found: Found = {}
        path = ""
        for line in run("mtree", "-p", root, "-f", beside / "spec").splitlines():
            if match := re.match(r"(missing|extra): (.*)", line):
                says = "gone" if match[1] == "missing" else "new"
                found[unvis(match[2]).removeprefix("./")] = says
                path = ""
            elif match := re.match(r"(\S.*?):\s+(.*)", line):
                path, keys = unvis(match[1]).removeprefix("./"), match[2]
                found.update(read_keys(path, keys))
            elif path:
                found.update(read_keys(path, line, found.get(path, "")))
        return {path: says for path, says in found.items() if says != "date"}

    def read_keys(path: str, keys: str, before: str = "") -> Found:
        if "modification time" in keys:
            return {path: "date"}
        if "sha256" in keys:
            return {path: "edit" if before == "date" else "silent"}
        return {}

    return Tool(
        "mtree",
        "mtree",
        lambda root, beside: (beside / "spec").write_text(
            run("mtree", "-c", "-k", "sha256digest,size,time,type", "-p", root)
        ),
        check,
    )


def unvis(name: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), name)


def rsync() -> Tool:
    """A comparison with a backup: it has a second copy of every byte."""

    def check(root: Path, beside: Path) -> Found:
        said = run("rsync", "-rltnic", "--delete", f"{root}/", beside / "backup")
        return lines(
            said,
            (r"^\*deleting +(.*[^/])$", "gone"),
            (r"^>f\+\S* (.*)", "new"),
            (r"^>fc\S*t\S* (.*)", "edit"),
            (r"^>fc\S* (.*)", "silent"),
            (r"^cL\S* (.*) -> ", "gone"),
        )

    return Tool(
        "rsync --checksum",
        "rsync",
        lambda root, beside: run("cp", "-a", root, beside / "backup"),
        check,
    )


def bitrot() -> Tool:
    def check(root: Path, _: Path) -> Found:
        said = run("bitrot", "-v", cwd=root)
        found = lines(said, (r"SHA1 mismatch for (.*?): expected", "silent"))
        part = ""
        parts = {"new": "new", "updated": "edit", "missing": "gone", "renamed": "moved"}
        for line in said.splitlines():
            if match := re.search(r"\d+ entries (new|updated|missing|renamed):", line):
                part = parts[match[1]]
            elif part and line.startswith(" "):
                for name in line.strip().removeprefix("from ").split(" to "):
                    found.setdefault(name.removeprefix("./"), part)
        return found

    return Tool("bitrot", "bitrot", lambda root, _: run("bitrot", "-q", cwd=root), check)


def chkbit() -> Tool:
    def check(root: Path, _: Path) -> Found:
        said = run("chkbit", "--plain", "-v", root)
        prefix = re.escape(f"{root}/")
        return lines(
            said,
            (rf"^\s*DMG {prefix}(.*)", "silent"),
            (rf"^\s*(?:upd|old) {prefix}(.*)", "edit"),
            (rf"^\s*new {prefix}(.*)", "new"),
            (rf"^\s*del {prefix}(.*)", "gone"),
        )

    return Tool("chkbit", "chkbit", lambda root, _: run("chkbit", "-u", root), check)


def aide() -> Tool:
    def command(beside: Path, verb: str) -> str:
        return run("aide", verb, "-c", beside / "conf")

    def record(root: Path, beside: Path) -> None:
        (beside / "conf").write_text(
            f"database_in=file:{beside}/db\ndatabase_out=file:{beside}/db\n"
            f"report_url=stdout\n{root} sha256+s+m+ftype\n"
        )
        command(beside, "--init")

    def check(root: Path, beside: Path) -> Found:
        prefix = re.escape(f"{root}/")
        return lines(
            command(beside, "--check"),
            (rf"^f\++: {prefix}(.*)", "new"),
            (rf"^[fl]-+: {prefix}(.*)", "gone"),
            (rf"^l [^:]*: {prefix}(.*)", "gone"),
            (rf"^f [^:]*m[^:]*H[^:]*: {prefix}(.*)", "edit"),
            (rf"^f [^:]*H[^:]*: {prefix}(.*)", "silent"),
        )

    return Tool("aide", "aide", record, check)


def integrit() -> Tool:
    def command(beside: Path, flag: str) -> str:
        return run("integrit", "-C", beside / "conf", flag)

    def record(root: Path, beside: Path) -> None:
        (beside / "conf").write_text(
            f"root={root}\nknown={beside}/known.cdb\ncurrent={beside}/current.cdb\n"
        )
        command(beside, "-u")
        (beside / "current.cdb").rename(beside / "known.cdb")

    def check(root: Path, beside: Path) -> Found:
        keys: dict[str, str] = {}
        found: Found = {}
        prefix = re.escape(f"{root}/")
        for line in command(beside, "-cu").splitlines():
            if match := re.match(rf"(\w+): +{prefix}(.*?)   (.*)", line):
                if match[1] == "changed":
                    keys[match[2]] = keys.get(match[2], "") + match[3]
                elif match[1] in ("new", "missing"):
                    found[match[2]] = "new" if match[1] == "new" else "gone"
        for path, said in keys.items():
            if "s(" in said:
                found[path] = "edit" if "m(" in said else "silent"
        return found

    return Tool("integrit", "integrit", record, check)


def snapraid() -> Tool:
    """Works only between disks; here a folder is a disk."""

    def command(beside: Path, *words: str) -> str:
        return run("snapraid", "-c", beside / "conf", "--test-skip-device", *words)

    def record(root: Path, beside: Path) -> None:
        (beside / "conf").write_text(
            f"parity {beside}/parity\ncontent {beside}/content\ndata d {root}\n"
        )
        command(beside, "sync")

    def check(root: Path, beside: Path) -> Found:
        difference = command(beside, "diff")
        found: Found = {}
        for line in difference.splitlines():
            if match := re.match(r"(add|remove|update) (.*)", line):
                found[match[2]] = {"add": "new", "remove": "gone", "update": "edit"}[match[1]]
            elif match := re.match(r"(move|copy) (.*) -> (.*)", line):
                found[match[3]] = "moved" if match[1] == "move" else "new"
        for line in command(beside, "check", "-a", "-l", ">&1").splitlines():
            if match := re.match(r"error:\d+:d:(.*): Data error", line):
                found.setdefault(match[1], "silent")
        return {re.sub(r"\\(.)", r"\1", path): says for path, says in found.items()}

    return Tool("snapraid", "snapraid", record, check)


# The comparison.


def compare(tool: Tool, folder: Path, verbose: bool) -> tuple[int, int, int, int]:
    """Returns how many changes there are, were reported, were named right; and false alarms."""
    root, beside = folder / "tree", folder / "beside"
    for path in (root, beside):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
    make_tree(root)
    tool.record(root, beside)
    data = root / "data" if tool.name == "bagit" else root
    plan = plant(data)
    found = tool.check(root, beside)
    reported = named = 0
    touched: set[str] = set()
    for kind, truth, paths in plan.changes:
        says = [found[path] for path in paths if path in found]
        reported += bool(says)
        named += truth in says
        touched |= paths
        if verbose and truth not in says:
            print(f"  {tool.name}: {kind}: {says or 'nothing'}")
    alarms = [path for path in found if path not in touched and path.endswith(".jpg")]
    for path in alarms if verbose else []:
        print(f"  {tool.name}: false: {path}: {found[path]}")
    return len(plan.changes), reported, named, len(alarms)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", default="steadfast")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--verbose", action="store_true", help="print what is not named right")
    options = parser.parse_args()
    program = shutil.which(options.steadfast) or options.steadfast
    os.environ["XDG_STATE_HOME"] = str(options.folder / "state")
    tools = [
        steadfast(program), sums("sha256sum"), sums("b3sum"), rhash(), hashdeep(), cfv(), bagit(),
        par2(), mtree(), rsync(), bitrot(), chkbit(), aide(), integrit(), snapraid(),
    ]  # fmt: skip
    print("| tool | reported | named right | false alarms |\n| --- | --- | --- | --- |")
    for tool in tools:
        if not shutil.which(tool.program):
            print(f"| {tool.name} | absent | | |")
            continue
        total, reported, named, alarms = compare(tool, options.folder, options.verbose)
        print(f"| {tool.name} | {reported} of {total} | {named} | {alarms} |", flush=True)


if __name__ == "__main__":
    main()
