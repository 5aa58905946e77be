"""In: a corpus. Out: Steadfast, and the peers that keep a digest with each file or folder.

Each runs as its manual says, with nothing tuned but what its entry names.
"""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from contextlib import closing

from manifest_peers import counted, number_after
from measure import Outcome
from peer import Participant, Problem, Site, failed, sampled, xattr_problem


class Tagger(Participant):
    """Has a way to tag and a way to check."""

    def operations(self) -> tuple[str, ...]:
        return ("tag", "check")


class Steadfast(Tagger):
    """The subject. `media` asks it to read past the page cache."""

    programs = ("steadfast",)
    role = "ours"

    def __init__(self, algorithm: str = "sha256", media: bool = False) -> None:
        self.algorithm = algorithm
        self.name = "steadfast" if algorithm == "sha256" else f"steadfast {algorithm}"
        self._media = media
        if media:
            self.name += " media"
            self.caches = ("cold",)

    def command(self, operation: str, site: Site) -> list[str]:
        options = ["--read-from", "media"] if self._media else []
        if operation == "tag" and self.algorithm != "sha256":
            options += ["--algorithm", self.algorithm]
        return ["steadfast", operation, *options, "."]

    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        if problem := failed(outcome):
            return problem
        done = "tagged" if operation == "tag" else "intact"
        if problem := counted(number_after(f"\n  {done} ", outcome.stdout), site):
            return problem
        return xattr_problem(site, "user.steadfast", bytes.fromhex)

    def clean(self, site: Site) -> list[str] | None:
        return ["steadfast", "untag", "--quiet", "."]

    def remark(self, outcome: Outcome) -> str | None:
        """What it says bounds the run."""
        found = re.search(r"^bound by ([^:\n]+)", outcome.stdout, re.MULTILINE)
        return found[1] if found else None


class Cshatag(Tagger):
    """Keeps SHA-256 in two attributes and hashes several files at once."""

    name = "cshatag"
    algorithm = "sha256"
    programs = ("cshatag",)

    def command(self, operation: str, site: Site) -> list[str]:
        options = [] if operation == "tag" else ["-dry-run"]
        return ["cshatag", *options, "-recursive", "."]

    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        if problem := failed(outcome):
            return problem
        done = "<new> " if operation == "tag" else "<ok> "
        lines = outcome.stdout.splitlines()
        if problem := counted(sum(line.startswith(done) for line in lines), site):
            return problem
        return xattr_problem(site, "user.shatag.sha256", str.encode)

    def clean(self, site: Site) -> list[str] | None:
        return ["cshatag", "-remove", "-q", "-recursive", "."]


class Chkbit(Tagger):
    """Keeps an index of BLAKE3 in every folder; parallel over folders."""

    name = "chkbit"
    algorithm = "blake3"
    programs = ("chkbit",)
    writes_beside = True

    def command(self, operation: str, site: Site) -> list[str]:
        options = ["--no-config", "--no-global-ignore", "--plain"]
        if operation == "check":
            return ["chkbit", "check", *options, "."]
        init = shlex.join(["chkbit", "init", *options, "split", "."])
        update = shlex.join(["chkbit", "update", *options, "."])
        return ["sh", "-c", f"{init} && exec {update}"]

    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        if problem := failed(outcome):
            return problem
        if problem := counted(number_after("Processed", outcome.stdout), site):
            return problem
        indexes: dict[str, dict[str, dict[str, str]]] = {}
        for path, digest in sampled(site.expected):
            folder, _, name = path.rpartition("/")
            if folder not in indexes:
                text = (site.root / folder / ".chkbit").read_text()
                indexes[folder] = json.loads(text)["idx"]
            if indexes[folder].get(name, {}).get("h") != digest:
                return f"wrong digest for {path}"
        return None


class Bitrot(Tagger):
    """Keeps SHA-1 in a database at the root."""

    name = "bitrot"
    algorithm = "sha1"
    programs = ("bitrot",)
    writes_beside = True

    def command(self, operation: str, site: Site) -> list[str]:
        return ["bitrot"] if operation == "tag" else ["bitrot", "--test"]

    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        if problem := failed(outcome):
            return problem
        if "0 errors found" not in outcome.stdout:
            return "errors found"
        total = len(site.corpus.entries)
        new = total if operation == "tag" else 0
        if f"{total} entries in the database, {new} new, 0 updated" not in outcome.stdout:
            return "counts differ from the corpus"
        with closing(sqlite3.connect(site.root / ".bitrot.db")) as database:
            rows = dict(database.execute("SELECT path, hash FROM bitrot"))
        for path, digest in sampled(site.expected):
            if rows.get(f"./{path}") != digest:
                return f"wrong digest for {path}"
        return None


def all_of_them() -> list[Participant]:
    ours = [Steadfast(), Steadfast("blake3"), Steadfast(media=True)]
    return [*ours, Cshatag(), Chkbit(), Bitrot()]
