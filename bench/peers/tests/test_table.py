"""In: a small record made by hand. Out: whether its tables and targets say what is in it."""

import json
import unittest
from typing import Any

from results import Cell, Results
from run import compact
from table import document, seconds
from targets import Verdict, judge

GIB = 1 << 30


def sample(participant: str, operation: str, number: int, wall_s: float, **more: Any) -> Any:
    return {
        "corpus": "large",
        "cache": "warm",
        "round": number,
        "participant": participant,
        "operation": operation,
        "wall_ns": round(wall_s * 1e9),
        "user_ns": 10**9,
        "sys_ns": 5 * 10**8,
        "rss_bytes": 20 << 20,
        "switches_voluntary": 1000,
        "switches_involuntary": 234,
        "storage_read_bytes": 0,
        "remark": None,
    } | more


def record(samples: list[Any], **more: Any) -> dict[str, Any]:
    cast = [
        ("steadfast", "sha256", "ours"),
        ("steadfast media", "sha256", "ours"),
        ("rhash", "sha256", "peer"),
        ("openssl x2", "sha256", "reference"),
        ("fio x2", "none", "reference"),
    ]
    return {
        "quick": False,
        "started": "2026-01-01T00:00:00+00:00",
        "seed": 1,
        "rounds": 3,
        "load_before": 0.0,
        "load_after": 0.1,
        "floor": {"rss_bytes": 5 << 20},
        "machine": {
            "processor": "P",
            "processor_family": "F",
            "instructions": ["sha_ni"],
            "processors": 2,
            "virtual": True,
            "memory_bytes": 16 * 10**9,
            "kernel": "6",
            "system": "S",
            "file_system": "ext4",
            "device": "d",
        },
        "versions": {"steadfast": "0.1.0"},
        "left_out": {"fclones": "other work"},
        "participants": [
            {"name": name, "algorithm": algorithm, "role": role} for name, algorithm, role in cast
        ],
        "corpora": [
            {"name": "large", "files": 4, "bytes": 4 * GIB},
            {"name": "mixed", "files": 40, "bytes": 4 * GIB},
        ],
        "failures": [],
        "samples": samples,
    } | more


def three_rounds() -> list[Any]:
    """Steadfast takes half of the time of openssl x2 in every round; the machine gets slower."""
    samples = []
    for number, slowness in enumerate((1.0, 1.5, 3.0)):
        samples += [
            sample("openssl x2", "read", number, 2.0 * slowness),
            sample("steadfast", "tag", number, 1.1 * slowness),
            sample("steadfast", "check", number, 1.0 * slowness),
            sample("rhash", "check", number, 4.0 * slowness),
        ]
    return samples


def target(verdicts: list[Verdict], beginning: str) -> Verdict:
    return next(one for one in verdicts if one.promise.startswith(beginning))


class Tables(unittest.TestCase):
    def test_rows_are_sorted_by_wall_time_and_references_stand_in_every_cell(self) -> None:
        results = Results(record(three_rounds()))
        check = [row.participant for row in results.rows(Cell("large", "warm", "check"))]
        self.assertEqual(check, ["steadfast", "openssl x2", "rhash"])
        tag = [row.participant for row in results.rows(Cell("large", "warm", "tag"))]
        self.assertEqual(tag, ["steadfast", "openssl x2"])

    def test_a_row_shows_the_figures_of_the_record(self) -> None:
        text = document(record(three_rounds()))
        row = next(line for line in text.splitlines() if line.startswith("| rhash"))
        columns = [column.strip() for column in row.strip("|").split("|")]
        self.assertEqual(columns[:3], ["rhash", "sha256", "6.00"])
        self.assertEqual(columns[3:5], ["4.00–12.0", "0.72"])
        self.assertEqual(columns[5], "0.50 [0.50, 0.50]", "paired: the slow round cancels out")
        self.assertEqual(columns[6:], ["0.25 [0.25, 0.25]", "1.50", "20", "1,234", "3"])

    def test_memory_below_the_floor_is_not_shown_as_measured(self) -> None:
        small = [sample("rhash", "check", 0, 1.0, rss_bytes=4 << 20)]
        self.assertIn("| ≤ 4 |", document(record(small)))
        self.assertNotIn("≤", document(record(three_rounds())))

    def test_a_wrong_cache_is_told(self) -> None:
        self.assertNotIn("as it should be", document(record(three_rounds())))
        disturbed = [sample("rhash", "check", 0, 1.0, storage_read_bytes=GIB)]
        self.assertIn("not warm as it should be for: rhash", document(record(disturbed)))
        cached = [sample("rhash", "check", 0, 1.0, cache="cold", storage_read_bytes=GIB)]
        self.assertIn("not cold as it should be for: rhash", document(record(cached)))

    def test_what_is_missing_is_named(self) -> None:
        failure = {
            "corpus": "large",
            "cache": "warm",
            "round": 0,
            "participant": "rhash",
            "operation": "check",
            "problem": "wrong digest for a",
        }
        text = document(record(three_rounds(), failures=[failure]))
        self.assertIn("- fclones: other work", text)
        self.assertIn("- rhash, check (large warm, round 1): wrong digest for a", text)

    def test_a_quick_run_says_that_it_measures_nothing(self) -> None:
        quick = document(record(three_rounds(), quick=True))
        self.assertIn("measures nothing", quick)
        self.assertNotIn("PASS", quick)
        self.assertNotIn("measures nothing", document(record(three_rounds())))

    def test_seconds_keep_three_digits(self) -> None:
        self.assertEqual([seconds(s) for s in (0.0123, 1.234, 12.34)], ["0.012", "1.23", "12.3"])

    def test_a_record_survives_being_written(self) -> None:
        before = record(three_rounds())
        text = compact(before)
        self.assertEqual(json.loads(text), before)
        self.assertEqual(text.count('"round"'), len(before["samples"]))
        self.assertEqual(document(json.loads(text)), document(before))


class Targets(unittest.TestCase):
    def test_a_promise_holds_by_its_median_ratio(self) -> None:
        verdicts = judge(Results(record(three_rounds())))
        check = target(verdicts, "large warm check: steadfast against openssl x2")
        self.assertEqual((check.holds, check.wanted), (True, "1.9x"))
        assert check.ratio is not None
        self.assertAlmostEqual(check.ratio.point, 2.0)
        tag = target(verdicts, "large warm tag: steadfast against openssl x2")
        self.assertIs(tag.holds, False, "2.0 / 1.1 is less than 1.9")

    def test_what_was_not_measured_neither_holds_nor_fails(self) -> None:
        verdicts = judge(Results(record(three_rounds())))
        small = target(verdicts, "small warm check: steadfast against the fastest checker")
        self.assertIsNone(small.holds)
        text = document(record(three_rounds()))
        self.assertIn("- ---- small warm check", text)
        self.assertIn("- PASS large warm check", text)
        self.assertIn("- MISS large warm tag", text)

    def test_the_rival_is_the_fastest_peer_of_that_cell(self) -> None:
        samples = [
            sample("steadfast", "check", 0, 1.0, corpus="small"),
            sample("rhash", "check", 0, 2.5, corpus="small"),
        ]
        corpora = [{"name": "small", "files": 1, "bytes": GIB}]
        verdicts = judge(Results(record(samples, corpora=corpora)))
        found = target(verdicts, "small warm check: steadfast against rhash (the fastest checker)")
        self.assertIs(found.holds, False, "three times is promised")

    def test_slower_than_the_storage_is_forgiven_only_if_the_digest_is_the_bound(self) -> None:
        def judged(remark: str) -> bool | None:
            where = {"corpus": "mixed", "cache": "cold"}
            samples = [
                sample("fio x2", "read", 0, 1.0, **where),
                sample("steadfast", "check", 0, 2.0, remark=remark, **where),
            ]
            verdicts = judge(Results(record(samples)))
            return target(verdicts, "mixed cold check: steadfast against fio x2").holds

        self.assertIs(judged("SHA-256"), True)
        self.assertIs(judged("the storage"), False)

    def test_the_most_memory_of_any_run_counts(self) -> None:
        samples = [*three_rounds(), sample("steadfast", "tag", 3, 1.0, rss_bytes=65 << 20)]
        verdict = target(judge(Results(record(samples))), "every run")
        self.assertEqual((verdict.holds, verdict.measured), (False, "65.0 MiB (steadfast)"))
        self.assertIs(target(judge(Results(record(three_rounds()))), "every run").holds, True)


if __name__ == "__main__":
    unittest.main()
