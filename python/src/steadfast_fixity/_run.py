"""Starts the program, and reads what it prints."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator

from ._events import Event, File, Summary, event_of

PathLike = str | os.PathLike[str]


class SteadfastError(Exception):
    """The program could not do what was asked, or did not finish. `status` is its exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def program() -> str:
    """Returns the path of the program: the one of this package, or else the one on the path."""
    names = [os.path.join(sysconfig.get_path("scripts"), "steadfast")]
    user = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    names.append(os.path.join(user, "steadfast"))
    for name in names:
        if os.access(name, os.X_OK):
            return name
    found = shutil.which("steadfast")
    if found is None:
        raise FileNotFoundError("the program `steadfast` is neither in this environment nor on PATH")
    return found


def tag(*paths: PathLike, options: tuple[str, ...] = ()) -> Iterator[Event]:
    """Records a digest of every file that has none."""
    return events("tag", *options, "--", *paths)


def check(*paths: PathLike, options: tuple[str, ...] = ()) -> Iterator[Event]:
    """Reads every tagged file, and compares it with its tag. `options` are those of the verb."""
    return events("check", *options, "--", *paths)


def verify_manifest(
    manifest: PathLike, *paths: PathLike, options: tuple[str, ...] = ()
) -> Iterator[Event]:
    """Checks the files that a manifest names. Its names are relative to a path, if one is given."""
    return events("check", "--manifest", manifest, *options, "--", *paths)


def digest(path: PathLike, algorithm: str = "sha256") -> str:
    """Returns the digest of a file in hexadecimal.

    Raises `SteadfastError` if the file cannot be read, or changed meanwhile.
    """
    # The path of a directory would give the digests of all files in it.
    if os.path.isdir(path):
        raise IsADirectoryError(os.fspath(path))
    found = None
    for event in events("hash", "--algorithm", algorithm, "--", path):
        if isinstance(event, File):
            found = event
        elif isinstance(event, Summary) and event.exit_status != 0:
            reason = found.error if found is not None else None
            raise SteadfastError(reason or f"no digest of `{path}`", event.exit_status)
    if found is None or found.digest is None:
        raise SteadfastError(f"no digest of `{path}`", 2)
    return found.digest


def events(verb: str, *arguments: PathLike) -> Iterator[Event]:
    """Runs a verb that prints events, and returns them as they come. The last is the summary."""
    command = [program(), verb, "--json", "--progress", "never", *(os.fspath(argument) for argument in arguments)]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said)
        assert process.stdout is not None
        ended = False
        try:
            for line in process.stdout:
                event = event_of(json.loads(line))
                ended = isinstance(event, Summary)
                yield event
            status = process.wait()
        finally:
            # If the caller stopped iterating, the run is interrupted, and ends in order.
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.stdout.close()
            process.wait()
        if not ended:
            said.seek(0)
            message = said.read().decode(errors="replace").strip()
            raise SteadfastError(message or f"`steadfast {verb}` gave no result", status)
