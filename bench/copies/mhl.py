#!/usr/bin/env python3
"""Runs the tests of the reference implementation of ASC MHL beside ours. README.md says how.

Its tests get a folder on a disk instead of their fake file system. After each of its commands the
reference verifies the history, we check its latest list and copy it, and the reference verifies
the copy.
"""

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

TESTS = ["check", "create", "dirhash", "flatten", "ignore", "info", "mhl_parsing", "nested", "record",
         "renaming", "verify", "verify_nested"]

PLUGIN = "steadfast_beside"


def lists(root):
    return {path.relative_to(root) for path in Path(root).rglob("ascmhl/*.mhl")}


class Beside:
    """Compares after each command of the reference."""

    def __init__(self):
        import ascmhl.commands
        import xmlschema
        from click.testing import CliRunner

        self.steadfast, self.prefix = os.environ["STEADFAST"], Path(os.environ["PREFIX"])
        self.schema = xmlschema.XMLSchema(str(Path(os.environ["SUITE"]) / "xsd/ASCMHL.xsd"))
        self.commands, self.invoke, self.rows = ascmhl.commands, CliRunner.invoke, Counter()
        beside = self

        def invoke(runner, command, args=None, **more):
            result = beside.invoke(runner, command, args, **more)
            for root in [it for it in args or [] if os.path.isdir(os.path.join(it, "ascmhl"))][:1]:
                beside.compare(runner, Path(root))
            return result

        CliRunner.invoke = invoke

    def reference(self, runner, command, *words):
        return self.invoke(runner, getattr(self.commands, command), [*map(str, words)]).exit_code

    def ours(self, *words):
        done = subprocess.run([self.steadfast, *map(str, words)], capture_output=True, check=False)
        return done.returncode

    def check(self, root):
        own = sorted((root / "ascmhl").glob("*.mhl"))
        return self.ours("check", "--manifest", own[-1]) if own else None

    def compare(self, runner, root):
        to = self.prefix / "copy"
        shutil.rmtree(to, ignore_errors=True)
        verified = self.reference(runner, "verify", root), self.reference(runner, "verify", "-dh", root)
        row = [f"verify {verified[0]}, -dh {verified[1]}", f"check {self.check(root)}"]
        row.append(f"copy {self.ours('copy', '--copies', '1', '--mhl', root, to)}")
        to = to / root.name
        if (to / "ascmhl").is_dir():
            for path in lists(to) - lists(root):
                self.schema.validate(str(to / path))
            copied = self.reference(runner, "verify", to), self.reference(runner, "verify", "-dh", to)
            row.append(f"of the copy: verify {copied[0]}, -dh {copied[1]}, check {self.check(to)}")
        self.rows["; ".join(row)] += 1


class Folder:
    """The part of the fake file system that the tests use."""

    def create_file(self, path, contents=""):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(contents)


if __name__ == PLUGIN:
    import pytest

    BESIDE = Beside()

    @pytest.fixture
    def fs():
        shutil.rmtree(BESIDE.prefix, ignore_errors=True)
        (BESIDE.prefix / "r").mkdir(parents=True)
        yield Folder()

    def pytest_terminal_summary(terminalreporter):
        for row, count in BESIDE.rows.most_common():
            terminalreporter.write_line(f"{count:4}  {row}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", required=True)
    parser.add_argument("--suite", required=True, help="a checkout of github.com/ascmitc/mhl")
    parser.add_argument("--prefix", required=True, help="a folder on a disk")
    options = parser.parse_args()
    suite, prefix = Path(options.suite).resolve(), Path(options.prefix).resolve() / "mhl"
    tests = prefix.with_name("mhl_tests")
    shutil.rmtree(tests, ignore_errors=True)
    tests.mkdir(parents=True)
    for name in ["__init__", "conftest", *(f"test_{it}" for it in TESTS)]:
        text = (suite / "tests" / f"{name}.py").read_text()
        text = re.sub(r"([\"'])/(root|out|data|file|ref|travel|log)", rf"\1{prefix}/r/\2", text)
        # Later than a plugin of the fake file system.
        own = f"from {PLUGIN} import fs\n" if name == "conftest" else ""
        (tests / f"{name}.py").write_text(text + own)
    shutil.copy(__file__, tests / f"{PLUGIN}.py")
    known = {"STEADFAST": str(Path(options.steadfast).resolve()), "PREFIX": str(prefix), "SUITE": str(suite)}
    known["PYTHONPATH"] = f"{suite}:{tests}"
    words = [sys.executable, "-m", "pytest", "-q", "-p", PLUGIN, "-W", "ignore", tests]
    try:
        return subprocess.run(words, env={**os.environ, **known}, cwd=suite, check=False).returncode
    finally:
        for folder in (prefix, tests):
            with contextlib.suppress(OSError):
                shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
