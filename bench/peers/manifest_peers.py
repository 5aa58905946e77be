"""In: a corpus. Out: the peers that keep digests in one document beside or away from the files.

Each runs as its manual says, with nothing tuned but what its entry names.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from measure import Outcome
from peer import Participant, Problem, Site, differing, digest_lines, failed, plain, sampled
from references import PROCESSES, in_turn


class Document(Participant):
    """Tagging prints a document, which is put away; checking reads it and names every file."""

    def operations(self) -> tuple[str, ...]:
        return ("tag", "check")

    def manifest(self, site: Site) -> Path:
        return site.scratch / "manifest"

    def command(self, operation: str, site: Site) -> list[str]:
        return self.tag(site) if operation == "tag" else self.check(site)

    def tag(self, site: Site) -> list[str]:
        raise NotImplementedError

    def check(self, site: Site) -> list[str]:
        raise NotImplementedError

    def digests(self, site: Site, outcome: Outcome) -> dict[str, str]:
        return digest_lines(outcome.stdout)

    def intact(self, outcome: Outcome) -> int:
        """Files that the check called right."""
        lines = (line.rstrip() for line in outcome.stdout.splitlines())
        return sum(line.endswith(" OK") and line != "Everything OK" for line in lines)

    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        if problem := failed(outcome):
            return problem
        if operation == "tag":
            self.manifest(site).write_text(outcome.stdout, errors="surrogateescape")
            return differing(site.expected, self.digests(site, outcome))
        return counted(self.intact(outcome), site)


def counted(intact: int, site: Site) -> Problem:
    """Whether as many files were found right as there are."""
    total = len(site.corpus.entries)
    return None if intact == total else f"{intact} of {total} files intact"


class Sums(Document):
    """Programs that share the lines and the options of `sha256sum`."""

    def __init__(self, program: str, algorithm: str) -> None:
        self.name = program
        self.algorithm = algorithm
        self.programs = (program, "xargs")

    def tag(self, site: Site) -> list[str]:
        return in_turn(site, [self.name])

    def check(self, site: Site) -> list[str]:
        return [self.name, "--check", str(self.manifest(site))]


class RHash(Document):
    """Without `--sha256` a check tries every algorithm whose digests are as long."""

    name = "rhash"
    algorithm = "sha256"
    programs = ("rhash",)

    def tag(self, site: Site) -> list[str]:
        return ["rhash", "--sha256", "-r", "."]

    def check(self, site: Site) -> list[str]:
        return ["rhash", "--sha256", "--check", str(self.manifest(site))]


class Hashdeep(Document):
    """Hashes on all processors. Its audit says one word for the whole."""

    name = "hashdeep"
    algorithm = "sha256"
    programs = ("hashdeep",)

    def tag(self, site: Site) -> list[str]:
        return ["hashdeep", "-c", "sha256", "-r", "-l", "."]

    def check(self, site: Site) -> list[str]:
        audit = ["-a", "-v", "-k", str(self.manifest(site))]
        return ["hashdeep", "-c", "sha256", "-r", "-l", *audit, "."]

    def digests(self, site: Site, outcome: Outcome) -> dict[str, str]:
        lines = [line for line in outcome.stdout.splitlines() if line[:1] not in ("%", "#")]
        rows = (line.split(",", 2) for line in lines)
        return {plain(path): digest for _, digest, path in rows}

    def intact(self, outcome: Outcome) -> int:
        if "Audit passed" not in outcome.stdout:
            return 0
        return number_after("Files matched:", outcome.stdout)


class Filepack(Document):
    """Keeps BLAKE3 in a binary document. `parallel` maps whole files and hashes on all cores."""

    algorithm = "blake3"
    programs = ("filepack",)

    def __init__(self, parallel: bool) -> None:
        self.name = "filepack --parallel" if parallel else "filepack"
        self._options = ["--parallel"] if parallel else []

    def tag(self, site: Site) -> list[str]:
        create = ["create", "--force", "--manifest", str(self.manifest(site)), "."]
        return ["filepack", *self._options, *create]

    def check(self, site: Site) -> list[str]:
        verify = ["verify", "--manifest", str(self.manifest(site)), "."]
        return ["filepack", *self._options, *verify]

    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        if problem := failed(outcome):
            return problem
        if operation == "check":
            return counted(number_after("verified", outcome.stderr + outcome.stdout), site)
        document = self.manifest(site).read_bytes()
        wanted = sampled(site.expected)
        absent = [path for path, digest in wanted if bytes.fromhex(digest) not in document]
        return f"no digest for {absent[0]}" if absent else None


class BagIt(Participant):
    """Moves the files into a bag, so it works on a twin of the corpus."""

    name = "bagit"
    algorithm = "sha256"
    programs = ("bagit.py",)
    writes_beside = True

    def operations(self) -> tuple[str, ...]:
        return ("tag", "check")

    def command(self, operation: str, site: Site) -> list[str]:
        what = "--sha256" if operation == "tag" else "--validate"
        return ["bagit.py", "--processes", str(PROCESSES), what, str(site.root)]

    def judge(self, operation: str, site: Site, outcome: Outcome) -> Problem:
        if problem := failed(outcome):
            return problem
        if operation == "check":
            valid = "is valid" in outcome.stderr + outcome.stdout
            return None if valid else "not called valid"
        lines = digest_lines((site.root / "manifest-sha256.txt").read_text())
        bagged = {path.removeprefix("data/"): digest for path, digest in lines.items()}
        return differing(site.expected, bagged)


def number_after(word: str, text: str) -> int:
    """The first number after `word`, commas within it ignored; 0 if there is none."""
    for token in text.partition(word)[2].split()[:1]:
        digits = token.replace(",", "")
        return int(digits) if digits.isdigit() else 0
    return 0


def all_of_them() -> list[Participant]:
    makers: list[Callable[[], Participant]] = [
        lambda: Sums("sha256sum", "sha256"),
        RHash,
        Hashdeep,
        BagIt,
        lambda: Sums("b3sum", "blake3"),
        lambda: Filepack(parallel=False),
        lambda: Filepack(parallel=True),
    ]
    return [make() for make in makers]
