"""The package by the program that is on the path, or in the environment."""

from __future__ import annotations

import hashlib
import os
import tempfile
import unittest
from pathlib import Path

from steadfast_fixity import (
    File,
    SteadfastError,
    Summary,
    check,
    digest,
    events,
    tag,
    verify_manifest,
)


class Runs(unittest.TestCase):
    def setUp(self) -> None:
        # In the folder for tests, where files keep attributes.
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("STEADFAST_TEST_FOLDER"))
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        os.environ["XDG_STATE_HOME"] = str(self.folder / "state")
        # Decay is played from above the file system, which moves the change time.
        os.environ["STEADFAST_IGNORE_CTIME"] = "1"
        self.tree = self.folder / "tree"
        self.tree.mkdir()
        (self.tree / "a").write_bytes(b"alpha")
        (self.tree / "b").write_bytes(b"beta")

    def verdicts(self) -> dict[str, str | None]:
        files = [event for event in check(self.tree) if isinstance(event, File)]
        return {os.path.basename(file.path): file.verdict for file in files}

    def corrupt(self, name: str) -> None:
        path = self.tree / name
        times = path.stat()
        path.write_bytes(path.read_bytes().swapcase())
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def test_a_decayed_file_is_corrupt(self) -> None:
        tagged = list(tag(self.tree))
        self.assertIsInstance(tagged[-1], Summary)
        self.assertEqual(self.verdicts(), {"a": "intact", "b": "intact"})
        self.corrupt("a")
        *_, summary = check(self.tree)
        assert isinstance(summary, Summary)
        self.assertEqual((summary.exit_status, summary.verdicts["corrupt"]), (3, 1))
        found = [event for event in check(self.tree) if isinstance(event, File)]
        corrupt = next(file for file in found if file.verdict == "corrupt")
        # With change times that are left out, the time that is kept decides.
        self.assertEqual(corrupt.reason, "by the modification time alone")
        self.assertEqual(corrupt.changed_ns, (self.tree / "a").stat().st_ctime_ns)
        stored = corrupt.stored
        assert stored is not None
        self.assertEqual(stored.digest, hashlib.sha256(b"alpha").hexdigest())

    def test_a_name_that_is_no_utf8_is_the_path_of_the_file(self) -> None:
        path = os.fsencode(self.tree) + b"/\xff name"
        with open(path, "wb") as file:
            file.write(b"gamma")
        list(tag(self.tree))
        paths = [event.path for event in check(self.tree) if isinstance(event, File)]
        self.assertIn(os.fsdecode(path), paths)
        self.assertEqual(digest(os.fsdecode(path)), hashlib.sha256(b"gamma").hexdigest())

    def test_a_manifest_is_verified(self) -> None:
        manifest = self.folder / "SHA256SUMS"
        lines = [f"{hashlib.sha256(b'alpha').hexdigest()}  a\n"]
        manifest.write_text("".join(lines))
        *_, summary = verify_manifest(manifest, self.tree)
        assert isinstance(summary, Summary)
        self.assertEqual(summary.verdicts["intact"], 1)
        (self.tree / "a").write_bytes(b"other")
        *_, summary = verify_manifest(manifest, self.tree)
        assert isinstance(summary, Summary)
        self.assertNotEqual(summary.exit_status, 0)

    def test_digests(self) -> None:
        self.assertEqual(digest(self.tree / "a"), hashlib.sha256(b"alpha").hexdigest())
        self.assertEqual(digest(self.tree / "a", "md5"), hashlib.md5(b"alpha").hexdigest())
        with self.assertRaises(IsADirectoryError):
            digest(self.tree)
        with self.assertRaises(SteadfastError):
            digest(self.tree / "gone")

    def test_what_cannot_begin_is_an_error(self) -> None:
        with self.assertRaises(SteadfastError) as caught:
            list(events("check", "--no-such-option"))
        self.assertEqual(caught.exception.status, 2)
        self.assertIn("--no-such-option", str(caught.exception))

    def test_a_name_like_an_option_is_a_path(self) -> None:
        here = os.getcwd()
        os.chdir(self.tree)
        self.addCleanup(os.chdir, here)
        Path("--quiet").write_bytes(b"alpha")
        self.assertEqual(digest("--quiet"), hashlib.sha256(b"alpha").hexdigest())

    def test_a_run_ends_with_its_iteration(self) -> None:
        for number in range(200):
            (self.tree / f"file{number}").write_bytes(b"x" * 1000)
        run = tag(self.tree)
        self.assertIsInstance(next(run), File)
        run.close()  # type: ignore[attr-defined]


if __name__ == "__main__":
    unittest.main()
