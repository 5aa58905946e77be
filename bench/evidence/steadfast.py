"""Runs Steadfast with the evidence of change times, and reads what it said."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path


class Steadfast:
    """One binary, with a state folder of its own."""

    def __init__(self, binary: Path, home: Path) -> None:
        self._binary = binary
        self._environment = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1"}

    def run(self, folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Runs a verb in a folder."""
        return subprocess.run(
            [self._binary, *words],
            cwd=folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )

    def check(self, folder: Path, *words: str) -> tuple[int, dict[str, str]]:
        """Checks a folder; returns the status, and the verdict of each file."""
        done = self.run(folder, "check", "--json", "--verbose", *words, ".")
        rows = (json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{"))
        return done.returncode, {
            row["path"]: row["verdict"] for row in rows if "path" in row and row.get("verdict")
        }
