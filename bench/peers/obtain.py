"""In: names of programs and a prefix. Out: where they are, their versions, or why there is none.

A program that is found is used; otherwise it is installed from where it is usually had, below the
prefix if it can be. What cannot be had is reported, never passed over. It must not know what the
programs are for.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

INSTALL_TIMEOUT_S = 1_200
SYSTEM_PATH = os.defpath.split(os.pathsep) + ["/usr/local/bin", "/usr/sbin", "/sbin"]
VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


@dataclass(frozen=True)
class Recipe:
    """Where a program is had: a manager and a name there; and how it tells its version."""

    manager: str
    package: str
    version_command: tuple[str, ...] = ()


RECIPES: dict[str, Recipe] = {
    "cat": Recipe("apt", "coreutils", ("cat", "--version")),
    "sha256sum": Recipe("apt", "coreutils", ("sha256sum", "--version")),
    "xargs": Recipe("apt", "findutils", ("xargs", "--version")),
    "openssl": Recipe("apt", "openssl", ("openssl", "version")),
    "fio": Recipe("apt", "fio", ("fio", "--version")),
    "hashdeep": Recipe("apt", "hashdeep", ("hashdeep", "-V")),
    "rhash": Recipe("apt", "rhash", ("rhash", "--version")),
    "b3sum": Recipe("cargo", "b3sum", ("b3sum", "--version")),
    "filepack": Recipe("cargo", "filepack", ("filepack", "--version")),
    "bitrot": Recipe("pip", "bitrot"),
    "bagit.py": Recipe("pip", "bagit"),
    "cshatag": Recipe("go", "github.com/rfjakob/cshatag"),
    "chkbit": Recipe("go", "github.com/laktak/chkbit/v6/cmd/chkbit"),
}

# Known and not run, so that nobody looks for them in vain.
LEFT_OUT: dict[str, str] = {
    "fclones": "looks for duplicates: hashes only files that share a length, so it does other work",
}


class Unobtainable(Exception):
    """A program cannot be had; the message says why."""


@dataclass
class Workshop:
    """Finds and installs programs below `prefix`.

    `sources` maps a program to a folder with its source, for what no package manager has.
    """

    prefix: Path
    sources: Mapping[str, Path]
    install: bool = True

    @property
    def python(self) -> Path:
        return self.prefix / "venv" / "bin" / "python"

    @property
    def search_path(self) -> str:
        own = [str(self.prefix / "bin"), str(self.prefix / "venv" / "bin")]
        return os.pathsep.join(own + SYSTEM_PATH)

    def obtain(self, program: str) -> str:
        """Makes sure that a program is there and gives its version.

        Raises `Unobtainable` with the reason.
        """
        recipe = RECIPES[program]
        if program in self.sources:
            self._build(program, recipe, self.sources[program])
        if self.find(program) is None:
            if not self.install:
                raise Unobtainable("not found, and installing was not asked for")
            self._install(recipe)
        if self.find(program) is None:
            raise Unobtainable(f"{recipe.manager} has {recipe.package}, but not the program")
        return self._version(program, recipe)

    def build_steadfast(self, repository: Path) -> str:
        """Builds this checkout. Gives version and commit; raises `Unobtainable` if it fails."""
        command = ["cargo", "build", "--release", "--package", "steadfast-cli", "--all-features"]
        command.append("--message-format=json")
        done = subprocess.run(command, cwd=repository, text=True, stdout=subprocess.PIPE)
        if done.returncode != 0:
            raise Unobtainable("the build failed")
        built = [json.loads(line).get("executable") for line in done.stdout.splitlines()]
        version = self.adopt_steadfast(Path(next(path for path in built if path)))
        commit = ["git", "-C", str(repository), "describe", "--always", "--dirty"]
        return f"{version} ({self._said(commit).strip() or 'no commit'})"

    def adopt_steadfast(self, program: Path) -> str:
        """Keeps a copy of a built program, so that a later build changes no running series."""
        target = self.prefix / "bin" / "steadfast"
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name("steadfast.new")
        shutil.copy2(program, fresh)
        fresh.replace(target)
        version = VERSION.search(self._said([str(target), "--version"]))
        return version[0] if version else "unknown"

    def find(self, program: str) -> str | None:
        """The path of a program, the prefix before the system."""
        return shutil.which(program, path=self.search_path)

    def _install(self, recipe: Recipe) -> None:
        if recipe.manager == "apt" and os.geteuid() != 0:
            raise Unobtainable(f"only root can install the package {recipe.package}")
        if recipe.manager == "pip":
            self.prepare_python()
        target = recipe.package + ("@latest" if recipe.manager == "go" else "")
        commands = {
            "apt": ["apt-get", "install", "-y", "--no-install-recommends", target],
            "cargo": ["cargo", "install", "--locked", "--root", str(self.prefix), target],
            "pip": [str(self.python), "-m", "pip", "install", "--quiet", target],
            "go": ["go", "install", target],
        }
        self._call(commands[recipe.manager])

    def prepare_python(self) -> None:
        """Makes the environment for peers in Python, with `blake3` to judge answers by.

        Raises `Unobtainable` if not even the environment can be made.
        """
        if self.python.exists():
            return
        if not self.install:
            raise Unobtainable("no Python environment, and installing was not asked for")
        self._call([sys.executable, "-m", "venv", str(self.prefix / "venv")])
        self._call([str(self.python), "-m", "pip", "install", "--quiet", "blake3"])

    def _build(self, program: str, recipe: Recipe, source: Path) -> None:
        if recipe.manager != "go":
            raise Unobtainable("only programs in Go are built from a folder")
        folder = f"./cmd/{program}" if (source / "cmd" / program).is_dir() else "."
        target = self.prefix / "bin" / program
        self._call(["go", "build", "-o", str(target), folder], source)
        described = self._said(["git", "-C", str(source), "describe", "--tags", "--always"])
        note = self._notes()
        note[program] = f"{described.strip() or 'unknown'}, built from source"
        self._notes_path().write_text(json.dumps(note, indent=1))

    def _call(self, command: list[str], folder: Path | None = None) -> None:
        if shutil.which(command[0]) is None:
            raise Unobtainable(f"no `{command[0]}` to install it with")
        environment = os.environ | {"GOBIN": str(self.prefix / "bin")}
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=INSTALL_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired as error:
            raise Unobtainable(f"`{command[0]}` took longer than {INSTALL_TIMEOUT_S} s") from error
        if done.returncode != 0:
            said = _without_addresses(done.stdout.strip().splitlines()[-1:] or ["nothing said"])
            raise Unobtainable(f"`{' '.join(command[:2])}` failed: {said}")

    def _version(self, program: str, recipe: Recipe) -> str:
        if program in self._notes():
            return self._notes()[program]
        if recipe.manager == "pip":
            script = f"from importlib.metadata import version; print(version({recipe.package!r}))"
            return self._said([str(self.python), "-c", script]).strip() or "unknown"
        if recipe.manager == "go":
            told = self._said(["go", "version", "-m", self.find(program) or program])
            module = re.search(r"^\s*mod\s+\S+\s+(\S+)", told, re.MULTILINE)
            return module[1] if module else "unknown"
        found = VERSION.search(self._said(list(recipe.version_command)))
        return found[0] if found else "unknown"

    def _said(self, command: list[str]) -> str:
        environment = os.environ | {"PATH": f"{self.search_path}:{os.environ['PATH']}"}
        try:
            done = subprocess.run(command, env=environment, text=True, capture_output=True)
        except OSError:
            return ""
        return done.stdout + done.stderr if done.returncode == 0 else ""

    def _notes_path(self) -> Path:
        return self.prefix / "built.json"

    def _notes(self) -> dict[str, str]:
        try:
            return dict(json.loads(self._notes_path().read_text()))
        except (OSError, ValueError):
            return {}


def _without_addresses(lines: Iterable[str]) -> str:
    """What an installer said last, without the addresses of whoever it asked."""
    return re.sub(r"\S+://\S+", "(address)", " ".join(lines))[:200]
