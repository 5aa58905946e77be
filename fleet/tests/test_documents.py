"""Documents, their order, their damage, and the export."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import Tree, steadfast

from steadfast_fleet import Damaged, Job, Shard, records
from steadfast_fleet.export import Refused, export_parquet

FROZEN = Path(__file__).parents[2] / "testdata/formats/fleet/v1"


def test_the_frozen_job_is_read() -> None:
    """The format stays readable."""
    job = Job.open(FROZEN / "job")
    assert [shard.files for shard in job.shards] == [3, 3]
    assert job.done() == {0, 1} and job.todo() == []


def test_the_longest_unchecked_come_first() -> None:
    """What was never judged comes before all."""
    ages = [(0, 500), (1, None), (2, 100), (3, 100)]
    shards = [Shard(number, 0, 1, 1, checked) for number, checked in ages]
    assert [shard.number for shard in sorted(shards, key=lambda s: s.age)] == [1, 2, 3, 0]


def test_damage_is_told(tmp_path: Path) -> None:
    """No flipped byte and no cut passes."""
    whole = (FROZEN / "result.jsonl").read_bytes()
    path = tmp_path / "result.jsonl"
    for at in range(0, len(whole), 41):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            path.write_bytes(damaged)
            with pytest.raises(Damaged):
                list(records(path, "steadfast_fleet_result"))
    path.write_bytes(whole)
    assert len(list(records(path, "steadfast_fleet_result"))) == 8


def test_what_makes_no_sense_is_told(tmp_path: Path) -> None:
    """What is no job is damage; a part without an end is none; other names are nobody's."""
    job = tmp_path / "job"
    shutil.copytree(FROZEN / "job", job)
    parts = job / "parts"
    shutil.copy(parts / "00001.jsonl", parts / "00001 (conflict).jsonl")
    assert Job.open(job).ended().keys() == {0, 1}
    (parts / "00001.jsonl").write_bytes((parts / "00001.jsonl").read_bytes()[:-120])
    assert [shard.number for shard in Job.open(job).todo()] == [1]
    shutil.rmtree(parts)
    assert Job.open(job).done() == set()
    for text in ("[]\n", "3\n", ""):
        (job / "job.jsonl").write_text(text)
        with pytest.raises(Damaged):
            Job.open(job)


def test_an_export_writes_over_exports_alone(tmp_path: Path) -> None:
    """Neither the result nor anything else is lost to a slip of the pen."""
    result, mine = tmp_path / "result.jsonl", tmp_path / "mine.txt"
    shutil.copy(FROZEN / "result.jsonl", result)
    mine.write_text("precious")
    for out in (mine, result, tmp_path / "." / "result.jsonl", tmp_path):
        with pytest.raises(Refused):
            export_parquet(result, out)
    assert mine.read_text() == "precious"
    assert result.read_bytes() == (FROZEN / "result.jsonl").read_bytes()
    for _ in range(2):
        assert export_parquet(result, tmp_path / "out.parquet") == 6


def test_parquet_has_every_row(tree: Tree, tmp_path: Path) -> None:
    """What is exported reads back."""
    from pyarrow import parquet

    (tmp_path / "result.jsonl").write_bytes(tree.expected)
    out = tmp_path / "result.parquet"
    assert export_parquet(tmp_path / "result.jsonl", out) == 50_000
    table = parquet.read_table(out)
    lines = tree.expected.decode().splitlines()[1:-2]
    assert table.column("path").to_pylist() == [json.loads(line)["path"] for line in lines]
    verdicts = table.column("verdict").to_pylist()
    assert verdicts.count("corrupt") == 1 and verdicts.count("intact") == 49_999
    row = table.slice(verdicts.index("corrupt"), 1).to_pylist()[0]
    assert row["digest"] != row["recorded_digest"] and row["path"] == tree.corrupt
    assert list(tmp_path.glob(".*")) == []


def test_a_shard_is_a_manifest(tree: Tree) -> None:
    """What reads manifests reads shards."""
    job = tree.plan("manifests", 10)
    shard = job.folder / "shards/00003.jsonl"
    count = len(list(records(shard, "steadfast_manifest"))) - 1
    assert count == job.shards[3].files
    printed = steadfast("check", "--json", "--manifest", shard, tree.root, status=2)
    assert json.loads(printed.splitlines()[-1])["summary"]["files"] == count
