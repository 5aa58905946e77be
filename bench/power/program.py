"""Runs Steadfast on a mounted volume and reads its answer."""

from __future__ import annotations

import json
import os
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE_S = 120


@dataclass(frozen=True)
class Answer:
    """What one run said. `verdicts` and `findings` are by path, `stored` the digest it judged by."""

    status: int
    trouble: str
    verdicts: dict[str, str] = field(default_factory=dict)
    stored: dict[str, str] = field(default_factory=dict)
    findings: dict[str, set[str]] = field(default_factory=dict)


class Program:
    """One binary, run in one folder. `home` takes what it keeps for its user."""

    def __init__(self, binary: Path, folder: Path, home: Path) -> None:
        self._binary = binary
        self._folder = folder
        self._environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(home)}
        # Decay is played from above the file system, which moves the change time.
        self._environment["STEADFAST_IGNORE_CTIME"] = "1"

    def run(self, *words: str) -> Answer:
        """Runs a verb with `--json`; status -1 if it takes longer than two minutes."""
        verb = 2 if words[0] == "parity" else 1
        line = [str(self._binary), *words[:verb], "--json", *words[verb:]]
        try:
            done = subprocess.run(
                line,
                cwd=self._folder,
                env=self._environment,
                capture_output=True,
                check=False,
                timeout=PATIENCE_S,
            )
        except subprocess.TimeoutExpired:
            return Answer(-1, f"did not end within {PATIENCE_S} s")
        trouble = done.stderr.decode(errors="replace").strip()
        return read_answer(done.returncode, done.stdout.decode(errors="replace"), trouble)


def read_answer(status: int, output: str, trouble: str) -> Answer:
    """Collects verdicts and findings from lines of JSON."""
    verdicts: dict[str, str] = {}
    stored: dict[str, str] = {}
    findings: dict[str, set[str]] = defaultdict(set)
    for line in output.splitlines():
        fact: dict[str, Any] = json.loads(line)
        path = fact.get("path")
        if path is None:
            continue
        if "verdict" in fact:
            verdicts[path] = fact["verdict"]
            if fact.get("stored"):
                stored[path] = fact["stored"]["digest"]
        if "finding" in fact:
            findings[path].add(fact["finding"])
    return Answer(status, trouble, verdicts, stored, dict(findings))
