#!/usr/bin/env python3
"""Times `known` with two catalogues whose trees are not there: a million files against ten million.

The catalogues are those of `init` of a small tree, whose row is then multiplied, all in one folder,
so their tables are those of the program. Nothing is said about reading files.
"""

import argparse
import hashlib
import os
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path


def make(steadfast, folder, name, count, begin):
    """Makes the catalogue of `count` files whose contents are numbered from `begin` on."""
    tree, file = folder / name, folder / f"{name}.sqlite"
    tree.mkdir()
    (tree / "seed").write_bytes(b"seed")
    state = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    subprocess.run([steadfast, "init", "-q", "--catalogue", file, tree], check=True, env=state)
    db = sqlite3.connect(file)
    db.execute("PRAGMA synchronous = OFF")
    (seed,) = db.execute("SELECT * FROM files").fetchall()
    columns = [row[1] for row in db.execute("PRAGMA table_info(files)")]
    at = {column: index for index, column in enumerate(columns)}

    def rows():
        for number in range(count):
            row = list(seed)
            row[at["id"]] = 2 + number
            row[at["digest"]] = hashlib.sha256((begin + number).to_bytes(8, "big")).digest()
            yield row

    places = ",".join("?" * len(columns))
    db.executemany(f"INSERT INTO files VALUES ({places})", rows())
    names = ((f"file {number:08}.jpg".encode(), 2 + number) for number in range(count))
    db.executemany("INSERT INTO names VALUES (1, ?, ?)", names)
    db.commit()
    db.close()
    shutil.rmtree(tree)
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steadfast", required=True)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--asked", type=int, default=1_000_000)
    parser.add_argument("--held", type=int, default=10_000_000)
    options = parser.parse_args()
    folder = Path(options.prefix) / "known"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    asked = make(options.steadfast, folder, "asked", options.asked, options.held - options.asked // 2)
    held = make(options.steadfast, folder, "held", options.held, 0)
    for _ in range(3):
        begin = time.monotonic()
        command = ["/usr/bin/time", "-f", "%M KiB", options.steadfast, "known", "-q", "--json", asked, "--in", held]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        taken = time.monotonic() - begin
        summary = done.stdout.splitlines()[-1]
        print(f"{taken:.1f} s, {done.stderr.strip().splitlines()[-1]}, {summary[:160]}")


if __name__ == "__main__":
    main()
