"""In: a corpus and an algorithm. Out: digests that none of the participants computed.

SHA-256 of every file is known since the corpus was made; other algorithms are computed here for
a sample of the files. It must not know who is judged by them.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path

from corpora import Corpus
from peer import SAMPLE_COUNT

BLAKE3_SCRIPT = """\
import sys
from blake3 import blake3
for path in sys.argv[1:]:
    digest = blake3()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    print(digest.hexdigest())
"""


class Oracle:
    """Computes each digest once."""

    def __init__(self, python: Path) -> None:
        """`python` is the interpreter of the peers' environment, which may have `blake3`."""
        self._python = python
        self._known: dict[tuple[Path, str], dict[str, str]] = {}

    def knows(self, algorithm: str) -> bool:
        """Whether answers in this algorithm can be judged here."""
        if algorithm != "blake3":
            return algorithm in ("none", "sha256", "sha1")
        probe = [str(self._python), "-c", "import blake3"]
        return self._python.exists() and subprocess.run(probe, capture_output=True).returncode == 0

    def digests(self, corpus: Corpus, algorithm: str) -> Mapping[str, str]:
        """Path to digest: of every file for SHA-256, of a sample for others."""
        key = (corpus.root, algorithm)
        if key not in self._known:
            self._known[key] = self._compute(corpus, algorithm)
        return self._known[key]

    def _compute(self, corpus: Corpus, algorithm: str) -> dict[str, str]:
        if algorithm == "none":
            return {}
        if algorithm == "sha256":
            return {entry.path: entry.sha256 for entry in corpus.entries}
        names = [entry.path for entry in corpus.sample(SAMPLE_COUNT)]
        paths = [corpus.root / name for name in names]
        if algorithm == "blake3":
            return dict(zip(names, self._blake3(paths), strict=True))
        return dict(zip(names, (_hashed(path, algorithm) for path in paths), strict=True))

    def _blake3(self, paths: list[Path]) -> list[str]:
        command = [str(self._python), "-c", BLAKE3_SCRIPT, *map(str, paths)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.split()


def _hashed(path: Path, algorithm: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()
