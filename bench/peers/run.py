"""In: a prefix and what to run. Out: tables, targets, and a record of every sample.

Runs Steadfast and its peers in turn over the same files: `python3 bench/peers/run.py --prefix DIR`.
The order of work is here; how each step is done is in the modules beside.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import corpora
import machine
import manifest_peers
import references
import tag_peers
from measure import Stopwatch, can_drop_caches
from obtain import LEFT_OUT, RECIPES, Unobtainable, Workshop
from oracle import Oracle
from peer import Participant
from results import SCHEMA, SCHEMA_VERSION
from session import PATIENCE, ROUNDS_FOR_SLOW, Session
from stats import LEVEL, RESAMPLES
from stats import SEED as RESAMPLING_SEED
from table import document

REPOSITORY = Path(__file__).resolve().parents[2]
RECORDS = REPOSITORY / "bench" / "record"
SEED = 20_260_101
METHOD = {
    "clock": "CLOCK_MONOTONIC_RAW",
    "order": "shuffled in each round; steadfast and openssl x2 adjacent, swapped in odd rounds",
    "pairing": "within a round",
    "interval": f"percentile bootstrap of the median, level {LEVEL}, {RESAMPLES} resamples",
    "interval_seed": RESAMPLING_SEED,
    "slow": f"{ROUNDS_FOR_SLOW} rounds for whoever takes over {PATIENCE:g}x openssl x2",
    "cold": "sync, then drop_caches 3, before each operation",
    "warm": "every file read once before each round; sync before each operation",
}


def main(arguments: Sequence[str]) -> int:
    """Status 0 if every answer was right, 1 if one was not, 2 if nothing ran, 130 interrupted."""
    options = parse(arguments)
    if options.table:
        print(document(json.loads(options.table.read_text())), end="")
        return 0
    try:
        return measure(options)
    except Unobtainable as error:
        say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; the record, if one was asked for, holds the cells that were finished")
        return 130


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--prefix", type=Path, metavar="DIR", help="folder for programs, corpora, scratch files")
    add("--only", type=names, default=[], metavar="NAME,...", help="these participants only")
    add(
        "--corpus",
        type=names,
        default=list(corpora.PLANS),
        metavar="NAME,...",
        help=f"these corpora only: {', '.join(corpora.PLANS)}",
    )
    add(
        "--cache",
        type=names,
        default=["warm", "cold"],
        metavar="NAME,...",
        help="these conditions of the page cache only: warm, cold",
    )
    add("--repeats", type=int, default=5, metavar="N", help="rounds (default 5)")
    add("--quick", action="store_true", help="tiny corpora: tries the harness, measures nothing")
    add("--out", type=Path, metavar="FILE", help="write the record here, also while it grows")
    add(
        "--source",
        type=source,
        action="append",
        default=[],
        metavar="PROGRAM=DIR",
        help="build a peer from its source in DIR",
    )
    add("--steadfast", type=Path, metavar="FILE", help="measure this program, build nothing")
    add("--no-install", action="store_true", help="use what is there, install nothing")
    add("--seed", type=int, default=SEED, metavar="N", help="seed of contents and orders")
    add("--table", type=Path, metavar="RECORD", help="print a record again, measure nothing")
    options = parser.parse_args(arguments)
    if not options.table and not options.prefix:
        parser.error("--prefix is needed")
    if options.quick and options.out and options.out.resolve().is_relative_to(RECORDS):
        parser.error("a quick run is no record to keep")
    if options.repeats < 1:
        parser.error("--repeats is at least 1")
    for given, known in ((options.corpus, corpora.PLANS), (options.cache, ("warm", "cold"))):
        if unknown := [name for name in given if name not in known]:
            parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    if unknown := [name for name in options.only if name not in [one.name for one in everybody()]]:
        known_names = ", ".join(one.name for one in everybody())
        parser.error(f"unknown: {', '.join(unknown)}; known: {known_names}")
    return options


def names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def source(text: str) -> tuple[str, Path]:
    program, equals, folder = text.partition("=")
    if not equals or program not in RECIPES:
        raise argparse.ArgumentTypeError(f"`{text}` is not PROGRAM=DIR")
    return program, Path(folder)


def everybody() -> list[Participant]:
    """All participants there are, Steadfast and the references among them."""
    some = [references.Cat(1), references.Cat(2), references.OpenSsl(1), references.OpenSsl(2)]
    fio = [references.Fio(direct=False), references.Fio(direct=True)]
    return [*some, *fio, *tag_peers.all_of_them(), *manifest_peers.all_of_them()]


def measure(options: argparse.Namespace) -> int:
    """Prepares, runs every round, prints the tables."""
    prefix: Path = options.prefix.resolve()
    refuse_inside(prefix)
    (prefix / "scratch").mkdir(parents=True, exist_ok=True)
    require_attributes(prefix)
    workshop = Workshop(prefix, dict(options.source), install=not options.no_install)
    if options.steadfast:
        version = f"{workshop.adopt_steadfast(options.steadfast)} (built elsewhere)"
    else:
        say("building Steadfast")
        version = workshop.build_steadfast(REPOSITORY)
    versions = {"steadfast": version}
    left_out = dict(LEFT_OUT)
    try:
        workshop.prepare_python()
    except Unobtainable as error:
        left_out["blake3 for Python"] = str(error)
    watch = Stopwatch(prefix / "scratch", workshop.search_path)
    oracle = Oracle(workshop.python)
    session = Session(prefix / "scratch", watch, oracle, say)
    cast = [one for one in everybody() if not options.only or one.name in options.only]
    cast = [one for one in cast if ready(one, workshop, oracle, session, versions, left_out)]
    caches = list(options.cache)
    if "cold" in caches and not can_drop_caches():
        caches.remove("cold")
        left_out["cold runs"] = "only root can empty the page cache"
    record = new_record(options, prefix, versions, left_out, cast, watch)
    for name in options.corpus:
        say(f"corpus {name}")
        corpus = corpora.provide(prefix / "corpora", name, options.seed, options.quick)
        record["corpora"].append(
            {"name": name, "files": len(corpus.entries), "bytes": corpus.length_bytes}
        )
        for cache in caches:
            suited = [one for one in cast if one.suits(name, cache)]
            session.run(corpus, cache, suited, options.repeats, options.seed)
            keep(record, session, options.out)
    print(document(record), end="")
    return 1 if session.failures else 0


def refuse_inside(prefix: Path) -> None:
    """Gigabytes of scratch files do not belong in the repository."""
    if prefix.is_relative_to(REPOSITORY):
        raise Unobtainable("the prefix is inside the repository")


def require_attributes(prefix: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=prefix / "scratch") as file:
        try:
            os.setxattr(file.name, "user.steadfast.trial", b"1")
        except OSError as error:
            raise Unobtainable(f"no extended attributes on the prefix: {error.strerror}") from error


def ready(
    one: Participant,
    workshop: Workshop,
    oracle: Oracle,
    session: Session,
    versions: dict[str, str],
    left_out: dict[str, str],
) -> bool:
    """Obtains and tries a participant; says why if it cannot take part."""
    try:
        for program in one.programs:
            if program not in versions:
                versions[program] = workshop.obtain(program)
        if not oracle.knows(one.algorithm):
            raise Unobtainable(f"nothing here to judge {one.algorithm} by")
        problem = session.probe(one)
    except Unobtainable as error:
        problem = str(error)
    if problem is not None:
        left_out[one.name] = problem
        say(f"left out: {one.name}: {problem}")
    return problem is None


def new_record(
    options: argparse.Namespace,
    prefix: Path,
    versions: dict[str, str],
    left_out: dict[str, str],
    cast: Sequence[Participant],
    watch: Stopwatch,
) -> dict[str, Any]:
    """A record without samples."""
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": options.quick,
        "seed": options.seed,
        "rounds": options.repeats,
        "method": METHOD,
        "machine": machine.describe(prefix),
        "load_before": machine.load(),
        "load_after": machine.load(),
        "floor": watch.floor(),
        "versions": versions,
        "left_out": left_out,
        "participants": [
            {"name": one.name, "algorithm": one.algorithm, "role": one.role} for one in cast
        ],
        "corpora": [],
        "failures": [],
        "samples": [],
    }


def keep(record: dict[str, Any], session: Session, out: Path | None) -> None:
    """Brings the record up to date and writes it, so that an interrupted series is not lost."""
    record["samples"] = session.samples
    record["failures"] = [asdict(one) for one in session.failures]
    record["load_after"] = machine.load()
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh = out.with_name(out.name + ".new")
        fresh.write_text(compact(record))
        fresh.replace(out)


def compact(record: dict[str, Any]) -> str:
    """JSON with one sample on each line: a person can read it and a difference is small."""
    head = {key: value for key, value in record.items() if key != "samples"}
    text = json.dumps(head, indent=2, ensure_ascii=False)
    samples = ",\n    ".join(json.dumps(sample, ensure_ascii=False) for sample in record["samples"])
    return f'{text.removesuffix(chr(10) + "}")},\n  "samples": [\n    {samples}\n  ]\n}}\n'


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
