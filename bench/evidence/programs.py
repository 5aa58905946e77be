"""Lets programs that keep dates write into files, and asks Steadfast what became of them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steadfast import Steadfast

SAMPLES = {
    "a.jpg": "convert -size 320x240 plasma:red-blue -quality 98 OUT",
    "a.png": "convert -size 160x120 plasma:red-blue -define png:compression-level=0 OUT",
    "a.mp3": "ffmpeg -v error -f lavfi -i sine=duration=4 -id3v2_version 3 -metadata title=A OUT",
    "a.flac": "ffmpeg -v error -f lavfi -i sine=duration=2 OUT",
    "a.ogg": "ffmpeg -v error -f lavfi -i sine=duration=2 -c:a libvorbis OUT",
    "a.m4a": "ffmpeg -v error -f lavfi -i sine=duration=2 OUT",
    "a.mkv": "ffmpeg -v error -f lavfi -i testsrc=duration=1 -c:v mpeg4 OUT",
    "a.txt": "seq -f line%g 1 4000",
}
# `NAME` is the file; `REF` has its times; `OTHER` has the same length and times, and other bytes.
KEEP = 'touch -r "NAME" REF && {} && touch -r REF "NAME"'


@dataclass(frozen=True)
class Act:
    """One program at work on one kind of file."""

    name: str
    sample: str
    line: str


ACTS = (
    Act("exiftool -P", "a.jpg", "exiftool -q -P -overwrite_original -Artist=Me NAME"),
    Act("exiftool -P, in place", "a.jpg",
        "exiftool -q -P -overwrite_original_in_place -Artist=Me NAME"),
    Act("exiv2 -k", "a.jpg", "exiv2 -k -M'set Exif.Image.Artist Me' NAME"),
    Act("jpegoptim -p", "a.jpg", "jpegoptim -q -p -m50 NAME"),
    Act("optipng -preserve", "a.png", "optipng -quiet -preserve NAME"),
    Act("jhead -cl", "a.jpg", KEEP.format("jhead -cl Hello NAME")),
    Act("eyeD3 --preserve-file-times", "a.mp3", "eyeD3 -Q --preserve-file-times -a Me NAME"),
    Act("id3v2", "a.mp3", KEEP.format("id3v2 -a Me NAME")),
    Act("mid3v2", "a.mp3", KEEP.format("mid3v2 -a Me NAME")),
    Act("kid3-cli", "a.mp3", KEEP.format("kid3-cli -c 'set artist Me' NAME")),
    Act("mp3gain -p", "a.mp3", "mp3gain -q -p -r -c NAME"),
    Act("metaflac --preserve-modtime", "a.flac",
        "metaflac --preserve-modtime --set-tag=ARTIST=Me NAME"),
    Act("vorbiscomment", "a.ogg", KEEP.format("vorbiscomment -a -t ARTIST=Me NAME")),
    Act("mkvpropedit", "a.mkv", KEEP.format("mkvpropedit -q NAME --set title=Me")),
    Act("AtomicParsley", "a.m4a", KEEP.format("AtomicParsley NAME --artist Me --overWrite")),
    Act("rsync --inplace -t", "a.txt", "rsync --inplace -ct OTHER NAME"),
    Act("rsync -t", "a.txt", "rsync -ct OTHER NAME"),
    Act("cp --preserve", "a.txt", "cp --preserve=timestamps OTHER NAME"),
    Act("sed -i, touch -r", "a.txt", KEEP.format("sed -i s/line7/LINE7/ NAME")),
    Act("dd conv=notrunc, touch -r", "a.txt",
        KEEP.format("printf XYZ | dd of=NAME bs=1 seek=9000 conv=notrunc status=none")),
    Act("setfattr", "a.txt", "setfattr -n user.comment -v mine NAME"),
    Act("chmod", "a.txt", "chmod 600 NAME"),
    Act("mv", "a.txt", "mv NAME moved.txt"),
)


def rows(program: Steadfast, prefix: Path) -> Iterator[dict[str, Any]]:
    """Yields what each program did, and what was said of it, with a catalogue and without."""
    with tempfile.TemporaryDirectory(dir=prefix) as folder:
        samples = Path(folder, "samples")
        samples.mkdir()
        for name, line in SAMPLES.items():
            _make(line, samples / name)
        for act in ACTS:
            if shutil.which(act.line.split()[5 if act.line.startswith("touch") else 0]) is None:
                yield {"program": act.name, "missing": True}
                continue
            row: dict[str, Any] = {"program": act.name}
            for kind in ("catalogue", "tags"):
                row[kind] = _play(act, program, Path(folder), kind)
            yield row


def _play(act: Act, program: Steadfast, folder: Path, kind: str) -> dict[str, Any]:
    tree, backup = (Path(tempfile.mkdtemp(dir=folder)) for _ in range(2))
    sample = folder / "samples" / act.sample
    name = tree / act.sample
    shutil.copy2(sample, name)
    shutil.copy2(sample, backup)
    shutil.copy2(sample, tree / f"unchanged{sample.suffix}")
    other = bytearray(sample.read_bytes())
    other[len(other) // 2] ^= 1
    (folder / "OTHER").write_bytes(other)
    _same_times(name, folder / "OTHER")
    if kind == "catalogue":
        program.run(tree, "init", ".")
    program.run(tree, "tag", ".")
    if kind == "tags":
        # An edit in the second of tagging cannot be told apart.
        time.sleep(1.1)
    before = name.read_bytes()
    line = act.line.replace("NAME", act.sample).replace("OTHER", "../OTHER")
    subprocess.run(["sh", "-c", line.replace("REF", "../REF")], cwd=tree, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for left in tree.glob("*~"):
        left.unlink()
    now = tree / "moved.txt" if act.name == "mv" else name
    after = now.read_bytes()
    status, verdicts = program.check(tree)
    program.run(tree, "repair", "--yes", "--from", str(backup), ".")
    return {
        "edited": before != after,
        "verdict": verdicts.get(now.name, "not listed"),
        "status": status,
        "undone": not now.exists() or now.read_bytes() != after,
    }


def _make(line: str, out: Path) -> None:
    if "OUT" not in line:
        out.write_bytes(subprocess.run(line.split(), check=True, capture_output=True).stdout)
        return
    words = [str(out) if word == "OUT" else word for word in line.split()]
    subprocess.run(words, check=True, capture_output=True)


def _same_times(of: Path, to: Path) -> None:
    subprocess.run(["touch", "-r", of, to], check=True)


def faults(row: dict[str, Any]) -> list[str]:
    """Returns what must not be: an edit that is corrupt, undone or fine; a change that is none."""
    found = []
    for kind in ("catalogue", "tags"):
        one = row.get(kind)
        if one is None:
            continue
        if one["verdict"] == "corrupt":
            found.append(f"{row['program']}: corrupt ({kind})")
        if one["undone"]:
            found.append(f"{row['program']}: undone ({kind})")
        if one["edited"] and one["verdict"] in ("intact", "touched"):
            found.append(f"{row['program']}: {one['verdict']} ({kind})")
    return found
