"""Runs Steadfast and keeps what it said. Knows nothing of what is right."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PATIENCE_S = 120
BASE64 = re.compile(rb'"(?:path|name)_b64":"([^"]*)"')


@dataclass(frozen=True)
class Run:
    """One run: its words, its status, and all that it printed."""

    words: tuple[str, ...]
    status: int
    output: bytes

    @property
    def verb(self) -> str:
        return " ".join(self.words[:2]) if self.words[0] == "parity" else self.words[0]

    @property
    def only_accepts(self) -> bool:
        """Whether it lets go of missing files by their names, and looks at no other file."""
        words = set(self.words)
        return {"update", "--accept-missing"} <= words and "--restore-tags" not in words

    def names(self, path: bytes) -> bool:
        """Whether the output has this path, in any form in which paths are printed."""
        return any(form in self.output for form in forms(path))

    def tells(self, path: bytes) -> bool:
        """Whether a person who ran this was told of this path: by name, and by the status."""
        return self.status != 0 and self.names(path)

    def is_of(self, path: bytes) -> bool:
        """Whether it was of the whole tree, or of this file."""
        last = self.words[-1].encode(errors="surrogateescape")
        return last in (b"tree", b"tree/" + path)

    def joined(self, later: Run) -> Run:
        """Two runs as one: what either said counts, and the worse status."""
        worse = max(self.status, later.status, key=lambda status: (status != 0, status))
        return Run(self.words, worse, self.output + later.output)


def forms(path: bytes) -> list[bytes]:
    """A path as text, as JSON, with replaced characters, and as bytes."""
    text = path.decode(errors="surrogateescape")
    escaped = []
    for letter in text:
        code = ord(letter)
        if 0xDC80 <= code <= 0xDCFF:
            escaped.append(f"\\x{code - 0xDC00:02x}")
        else:
            escaped.append({"\\": "\\\\", "\n": "\\n", "\t": "\\t"}.get(letter, letter))
    lossy = path.decode(errors="replace")
    plain = "".join(escaped).encode()
    return [path, plain, lossy.encode(), json.dumps(lossy, ensure_ascii=False)[1:-1].encode()]


class Program:
    """One binary, run in one folder as one user. `home` takes what it keeps for its user."""

    def __init__(
        self, binary: Path, folder: Path, home: Path, user: int, ctime: bool = False
    ) -> None:
        self.binary = binary
        self.folder = folder
        self.user = user
        self._environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(home),
            "NO_COLOR": "1",
        }
        if not ctime:
            # Decay is played from above the file system, which moves the change time.
            self._environment["STEADFAST_IGNORE_CTIME"] = "1"

    def start(
        self, words: Sequence[str], before: Sequence[str] = (), stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """Starts a verb, perhaps beneath another program such as `strace`."""
        return subprocess.Popen(
            [*before, str(self.binary), *words],
            cwd=self.folder,
            env=self._environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            user=self.user,
            group=self.user,
            extra_groups=[],
            start_new_session=True,
        )

    def run(self, *words: str, before: Sequence[str] = ()) -> Run:
        """Runs a verb to its end; status -1 if that takes too long."""
        return finish(self.start(words, before), words)


def finish(process: subprocess.Popen[bytes], words: Sequence[str]) -> Run:
    """Waits for the end of a run."""
    try:
        output, _ = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        # What runs beneath `strace` has the pipe open as well.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Run(tuple(words), -1, b"did not end")
    return Run(tuple(words), process.returncode, decoded(output))


def decoded(output: bytes) -> bytes:
    """The output, and behind it the names that stand in it as base64."""
    names = [base64.b64decode(one) for one in BASE64.findall(output)]
    return b"\n".join([output, *names])
