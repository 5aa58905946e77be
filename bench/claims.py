#!/usr/bin/env python3
"""Counts what `steadfast measure` claims of equal sides, and of sides that differ by a tenth.

    python3 bench/claims.py STEADFAST FOLDER [--count 101] [--busy 4]

It makes COUNT records of hashing in memory, one after the other, and COUNT comparisons of two
folders of one disk, both with as many rounds as they have by themselves; for the second half so
many busy processes run beside them. Each record is compared with the one before it: whatever
differs, the machine and the program are the same. Then all samples of the later record (for
folders: of reading and hashing in A) are given a ninth more time, as if that side worked at 0.9 of
its rate, and the comparison is made again.

Records stay in FOLDER, and those that are there are not made again, so that another program can
judge the same samples.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

HASH = ["hash", "--part", "kernels", "--quick", "--algorithm", "sha256"]
PAIR = ["pair", "--files-only", "--size", "4MB"]
PLANTED = 1 / 0.9
MARGIN = 0.1


def output(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def make(steadfast, folder, count, busy):
    """Makes the records that are not there, and returns their paths by kind."""
    sides = [folder / "a", folder / "b"]
    for side in sides:
        side.mkdir(exist_ok=True)
    made = {"hash": [], "pair": []}
    beside = []
    try:
        for at in range(count):
            if at == count // 2:
                beside = [
                    subprocess.Popen(["yes"], stdout=subprocess.DEVNULL) for _ in range(busy)
                ]
            for kind, command in (("hash", HASH), ("pair", [*PAIR, *sides])):
                record = folder / f"{kind}-{at}.json"
                made[kind].append(record)
                if not record.exists():
                    output(steadfast, "measure", *command, "--json", "--export", record)
    finally:
        for process in beside:
            process.kill()
            process.wait()
    return made


def planted(path, is_slower, folder):
    """Writes a record in which some series took longer, and returns its path."""
    record = json.loads(path.read_text())
    for series in filter(is_slower, record["series"]):
        for sample in series["samples"]:
            added = round(sample["cpu_ns"] * (PLANTED - 1))
            sample["cpu_ns"] += added
            sample["elapsed_ns"] += added
    slower = Path(folder) / "slower.json"
    slower.write_text(json.dumps(record))
    return slower


def hashed_in_a(series):
    return (series["factors"]["stage"], series["factors"]["side"]) == ("read-hash", "a")


def rows(steadfast, table, *records):
    for section in output(steadfast, "measure", "report", "--json", *records)["documents"][0][
        "sections"
    ]:
        for found in section["tables"]:
            if found["name"] == table:
                return found["rows"]
    raise SystemExit(f"claims: no table `{table}`")


def by_interval(row):
    """What the page says of a ratio: -1 slower, 1 faster, 0 neither."""
    low, high = next(cell for cell in row if "ratio" in str(cell)).get("interval", (0, 2))
    if low >= 1 - MARGIN and high <= 1 + MARGIN:
        return 0
    return (low > 1) - (high < 1)


def by_words(row):
    return {"slower": -1, "faster": 1}.get(row[5], 0)


def judge(steadfast, made, folder):
    """Prints the counts of each half of the records."""
    half = len(made["hash"]) // 2
    for title, part in (("as it was", slice(0, half)), ("busy", slice(half, None))):
        records, pairs = made["hash"][part], made["pair"][part]
        hashing = [
            (by_interval, "compared", [one, other]) for one, other in zip(records, records[1:])
        ]
        equal = [judged(steadfast, *page) for page in hashing]
        slower = [
            judged(steadfast, of, table, [planted(one, lambda _: True, folder), other])
            for of, table, (one, other) in hashing
        ]
        show(f"records, {title}", equal, slower, -1)
        equal = [judged(steadfast, by_words, "pair", [record]) for record in pairs]
        slower = [
            judged(steadfast, by_words, "pair", [planted(record, hashed_in_a, folder)])[3:]
            for record in pairs
        ]
        show(f"folders, {title}", equal, slower, -1)


def judged(steadfast, of, table, records):
    return [of(row) for row in rows(steadfast, table, *records)]


def show(title, equal, slower, wanted):
    found = [finding for page in slower for finding in page]
    print(
        f"{title}: {sum(any(page) for page in equal)} of {len(equal)} pages claim a difference, "
        f"{sum(map(bool, sum(equal, [])))} of {len(sum(equal, []))} ratios; "
        f"a tenth is found in {found.count(wanted)} of {len(found)}, "
        f"backwards in {found.count(-wanted)}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steadfast", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=101)
    parser.add_argument("--busy", type=int, default=4)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    made = make(args.steadfast.resolve(), args.folder, args.count, args.busy)
    with tempfile.TemporaryDirectory() as folder:
        judge(args.steadfast.resolve(), made, folder)


main()
