"""In: outputs of programs and plans of corpora. Out: whether wrong answers are found out."""

import random
import tempfile
import unittest
from pathlib import Path

import corpora
import references
from corpora import Corpus, Entry
from manifest_peers import Hashdeep, RHash, Sums, number_after
from measure import Cost, Outcome, Stopwatch
from peer import Participant, Site, differing, digest_lines
from references import deal
from run import everybody
from session import PAIRED, order_of_round
from tag_peers import Steadfast

A, B = "a" * 64, "b" * 64


def outcome(stdout: str, status: int = 0) -> Outcome:
    return Outcome(Cost(status, 0, 1, 1, 1, 1, 0, 0, 0), stdout, "")


class Answers(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        entries = (Entry("x", 1, A), Entry("d/y z", 1, B))
        corpus = Corpus("two", root, entries)
        self.site = Site(corpus, root, root, {"x": A, "d/y z": B})

    def judged(self, one: Participant, operation: str, stdout: str, status: int = 0) -> str | None:
        return one.judge(operation, self.site, outcome(stdout, status))

    def test_lines_of_digests_are_read(self) -> None:
        lines = f"{A}  ./x\n{B} *d/y z\nnot a line\n"
        self.assertEqual(digest_lines(lines), {"x": A, "d/y z": B})
        self.assertIsNone(differing({"x": A}, {"x": A, "more": B}))
        self.assertEqual(differing({"x": A}, {"x": B}), "wrong digest for x")
        self.assertEqual(differing({"x": A}, {}), "no digest for x")

    def test_a_wrong_digest_or_a_missing_file_does_not_count(self) -> None:
        sums = Sums("sha256sum", "sha256")
        self.assertIsNone(self.judged(sums, "tag", f"{A}  x\n{B}  d/y z\n"))
        self.assertEqual(
            self.judged(sums, "tag", f"{A}  x\n{A}  d/y z\n"), "wrong digest for d/y z"
        )
        self.assertEqual(self.judged(sums, "tag", f"{A}  x\n"), "no digest for d/y z")

    def test_a_check_must_call_every_file_right(self) -> None:
        sums = Sums("sha256sum", "sha256")
        self.assertIsNone(self.judged(sums, "check", "x: OK\nd/y z: OK\n"))
        self.assertEqual(self.judged(sums, "check", "x: OK\n"), "1 of 2 files intact")
        self.assertIn("status 1", str(self.judged(sums, "check", "x: OK\nd/y z: OK\n", 1)))

    def test_the_last_word_of_rhash_is_no_file(self) -> None:
        said = "x      OK \nd/y z      OK \n----\nEverything OK\n"
        self.assertIsNone(self.judged(RHash(), "check", said))
        self.assertIsNotNone(self.judged(RHash(), "check", "x   OK\nEverything OK\n"))

    def test_documents_of_hashdeep_are_read(self) -> None:
        head = "%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n## Invoked from: /\n"
        said = f"{head}1,{A},./x\n1,{B},./d/y z\n"
        self.assertIsNone(self.judged(Hashdeep(), "tag", said))
        self.assertIsNotNone(self.judged(Hashdeep(), "tag", said.replace(B, A)))

    def test_counts_of_steadfast_are_read_before_its_attributes(self) -> None:
        said = "checked 2 files\n  intact  1\n  modified  1\nbound by SHA-256: 91 %\n"
        self.assertEqual(self.judged(Steadfast(), "check", said), "1 of 2 files intact")
        self.assertEqual(Steadfast().remark(outcome(said)), "SHA-256")
        self.assertEqual(number_after("\n  intact ", "\n  intact  50,000\n"), 50_000)
        self.assertEqual(number_after("intact", "nothing"), 0)


class Runs(unittest.TestCase):
    def test_what_a_run_cost_and_said_is_told(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            watch = Stopwatch(Path(folder), "/usr/bin:/bin")
            found = watch.run(["sh", "-c", "echo out; echo err >&2; exit 3"], Path(folder))
            self.assertEqual((found.stdout, found.stderr), ("out\n", "err\n"))
            self.assertEqual(found.cost.status, 3)
            self.assertGreater(found.cost.wall_ns, 0)
            self.assertLess(found.cost.rss_bytes, 64 << 20)
            self.assertRaises(FileNotFoundError, watch.run, ["no-such-program"], Path(folder))

    def test_memory_is_that_of_the_program_and_not_of_the_harness(self) -> None:
        ballast = bytearray(96 << 20)
        with tempfile.TemporaryDirectory() as folder:
            cost = Stopwatch(Path(folder), "/usr/bin:/bin").run(["true"], Path(folder)).cost
            self.assertLess(cost.rss_bytes, len(ballast) // 4)


class Orders(unittest.TestCase):
    def test_everybody_has_one_turn_and_the_pair_is_adjacent(self) -> None:
        cast = everybody()
        for number in range(12):
            names = [one.name for one in order_of_round(cast, number, "seed")]
            self.assertEqual(sorted(names), sorted(one.name for one in cast))
            places = [names.index(name) for name in PAIRED]
            self.assertEqual(places[1] - places[0], 1 if number % 2 == 0 else -1)

    def test_the_order_changes_from_round_to_round_and_follows_from_the_seed(self) -> None:
        cast = everybody()
        self.assertNotEqual(order_of_round(cast, 0, "seed"), order_of_round(cast, 2, "seed"))
        self.assertEqual(order_of_round(cast, 4, "seed"), order_of_round(cast, 4, "seed"))


class Corpora(unittest.TestCase):
    def test_sizes_are_as_announced(self) -> None:
        plans = {name: corpora.plan(name, 1) for name in corpora.PLANS}
        self.assertEqual(sum(length for _, length in plans["large"]), 4 << 30)
        self.assertEqual(sum(length for _, length in plans["one"]), 4 << 30)
        lengths = [length for _, length in plans["mixed"]]
        self.assertEqual(len(lengths), 40)
        self.assertAlmostEqual(sum(lengths) / 1e9, 4.25, places=3)
        self.assertTrue(2e6 <= min(lengths) and max(lengths) <= 400e6)
        lengths = [length for _, length in plans["small"]]
        self.assertEqual(len(lengths), 50_000)
        self.assertAlmostEqual(sum(lengths) / 1e9, 0.77, places=2)
        self.assertTrue(min(lengths) >= 1024 and max(lengths) <= 65_536)

    def test_bytes_follow_from_the_seed_and_differ_between_files(self) -> None:
        def made(seed: int, path: str) -> bytes:
            return b"".join(corpora.contents(seed, path, 1_500_000))

        self.assertEqual(made(1, "a"), made(1, "a"))
        self.assertEqual(len(made(1, "a")), 1_500_000)
        self.assertEqual(len({made(1, "a"), made(1, "b"), made(2, "a")}), 3)

    def test_a_corpus_is_used_again_only_if_it_is_as_it_was_made(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            first = corpora.provide(Path(folder), "small", 1, quick=True)
            path = first.paths()[0]
            stamp = path.stat().st_mtime_ns
            self.assertEqual(corpora.provide(Path(folder), "small", 1, quick=True), first)
            self.assertEqual(path.stat().st_mtime_ns, stamp)
            (first.root / "stray").write_bytes(b"left by somebody")
            self.assertEqual(corpora.provide(Path(folder), "small", 1, quick=True), first)
            self.assertFalse((first.root / "stray").exists())
            self.assertNotEqual(path.stat().st_mtime_ns, stamp)

    def test_shares_hold_every_file_and_nearly_the_same_bytes(self) -> None:
        generator = random.Random(1)
        for count in (4, 40, 5_000):
            entries = [
                Entry(f"{n:04}", generator.randint(10**6, 10**7) if count > 4 else 10**9, "")
                for n in range(count)
            ]
            shares = deal(entries, references.PROCESSES * references.SHARES_PER_PROCESS)
            self.assertEqual(sorted(sum(shares, []), key=lambda e: e.path), entries)
            weights = [sum(entry.length_bytes for entry in share) for share in shares]
            self.assertLess(max(weights) / min(weights), 1.1)
            self.assertTrue(all(share == sorted(share, key=lambda e: e.path) for share in shares))


if __name__ == "__main__":
    unittest.main()
