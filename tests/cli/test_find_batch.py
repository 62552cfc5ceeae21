"""gradus find-batch: its answer beside the runs that follow it, --batch auto, a control group's real edge."""

import json
import os
import pathlib
import subprocess
import unittest

from cli import GRADUS, Case, pictures, without_timings

SMALL = ["cifar10-cnn", "--procedural", "--memory-limit", "6M"]
LIMIT = 80 << 20  # of the control group
SLACK = 1 << 19  # bytes of the process that are no tensors: stacks, lists of samples
KEYS = "fits peak_bytes knee useful batch lr accumulate reason".split()


class FindBatch(Case):
    def setUp(self):
        super().setUp()
        self.hasten()

    def test_the_answer_is_what_runs(self):
        small = [*SMALL[:2], "--memory-limit", "20M"]
        result = self.gradus("find-batch", *small, "--lr-rule", "linear", "--lr", "0.0001", "--json")
        self.assertEqual(len(result.out.splitlines()), 1)
        m = result.row()
        self.assertLessEqual(set(KEYS), set(m))
        self.assertEqual((m["memory"]["binds"], m["memory"]["budget"]), ("--memory-limit", 20 << 20))
        run = ["train", *small, "--updates", "1", "--json"]
        row = self.gradus(*run, "--batch", m["fits"]).row()
        self.assertEqual(row["peak_bytes"], m["peak_bytes"])
        self.assertEqual(m["measured_bytes"], m["peak_bytes"])
        self.gradus(*run, "--batch", m["fits"] + 1, expect=4)
        if m["process_bytes"] is not None:
            self.assertAlmostEqual(m["process_bytes"], m["peak_bytes"], delta=0.01 * m["peak_bytes"] + SLACK)
        speeds = {s["batch"]: s["samples_per_second"] for s in m["speeds"]}
        self.assertEqual(list(speeds), [2**i for i in range(len(speeds))])
        self.assertLessEqual(max(speeds), m["fits"])
        self.assertTrue(all(rate > 0 for rate in speeds.values()))
        self.assertIn(m["knee"], speeds)
        self.assertTrue(0 <= m["speeds_spread"] < 1, m)
        self.assertIn(m["batch"], speeds)
        self.assertAlmostEqual(m["lr"], 0.0001 * m["batch"] / 32)
        self.assertEqual(m["accumulate"], 1)
        self.assertEqual(self.files(), [])

    def test_a_wish_beyond_memory(self):
        m = self.gradus("find-batch", *SMALL, "--batch", "1000", "--json").row()
        self.assertEqual((m["batch"], m["accumulate"]), (1000, -(-1000 // m["micro_batch"])))
        self.assertIn("pieces", m["reason"])
        run = ["train", *SMALL, "--updates", "1", "--batch", "1000", "--micro-batch", m["micro_batch"], "--json"]
        self.assertEqual(self.gradus(*run).row()["accumulate"], m["accumulate"])

    def test_for_people(self):
        text = self.gradus("find-batch", "keras-mlp", "--memory-limit", "1M", "--memory", "0.5").out
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        for words in ("100 % of --memory-limit", "samples/s", "the knee", "--lr"):
            self.assertIn(words, text)
        self.assertIn("not known", text)  # its penalty is no mean over samples

    @unittest.skipUnless("GRADUS_FAST_CLOCK" in os.environ, "no clock of our own")
    def test_other_work_is_seen(self):
        """In bursts of two seconds that make all four times as slow. They may fall where nothing is odd, hardly in five
        runs."""
        self.environment["GRADUS_CLOCK_BUSY"] = "4"
        words = ["find-batch", "cifar10-cnn", "--procedural", "--memory-limit", "60M", "--threads", "1"]
        self.assertTrue(any("the machine does other work" in self.gradus(*words).out for _ in range(5)))

    def test_refusals(self):
        self.refused(2, "find-batch", names=["which recipe?"])
        self.refused(2, "find-batch", *SMALL, "--memory", "1.5", names=["--memory 1.5"])
        self.refused(2, "find-batch", *SMALL, "--batch", "100000", names=["--batch 100000", "samples"])
        self.refused(4, "find-batch", *SMALL[:2], "--memory-limit", "100K",
                     names=["not even a batch of 1", "--memory-limit"])
        self.refused(2, "train", *SMALL, "--batch", "auto", "--accumulate", "2", names=["--accumulate"])
        self.refused(2, "train", *SMALL, "--batch", "auto", "--checkpoint", "c", "--resume", names=["--resume"])
        self.refused(2, "train", *SMALL, "--batch", "autos", names=["or auto"])


class Auto(Case):
    def setUp(self):
        super().setUp()
        self.hasten()

    def test_train(self):
        run = ["train", *SMALL, "--updates", "5", "--json"]
        auto = self.gradus(*run, "--batch", "auto")
        row = auto.row()
        self.assertIn(f"--batch {row['batch']}: ", auto.err)
        self.assertEqual(without_timings(self.gradus(*run, "--batch", row["batch"]).row()), without_timings(row))

    def test_synchronised_shards(self):
        """Which were refused: they were planned and timed by one rank, as if it had to meet others."""
        row = self.gradus("train", "cifar10-normalised", "--procedural", "--updates", 2, "--batch",
                          "auto", "--shards", 2, "--batch-norm", "synchronised", "--memory-limit", "20M",
                          "--no-evaluation", "--json").row()
        self.assertEqual((row["shards"], row["batch_norm"], row["state"]), (2, "synchronised", "done"))

    def test_sweep_remembers(self):
        words = ["sweep", *SMALL, "--updates", "2", "--optimizer", "sgd", "--seeds", "1", "--out", "o", "--batch"]
        self.gradus(*words, "3,auto")
        batches = [row["batch"] for row in self.read_rows("o")]
        self.assertEqual((len(batches), batches[0]), (2, 3))
        found = json.loads((self.folder / "o/auto-batch.json").read_text())["batch"]
        self.assertEqual(batches[1], found)
        again = self.gradus(*words, "auto")
        self.assertNotIn("looking for", again.err)
        self.assertIn("0 to run", again.err)


class OwnPictures(Case):
    """A folder of class folders; what is in it is told once, although it is read twice."""

    def setUp(self):
        super().setUp()
        self.hasten()
        pictures(self.folder, 5)  # 6 to train on
        self.words = ["--data", "PetImages", "--resize", "8"]

    def test_told_once(self):
        result = self.gradus("find-batch", *self.words[:2], "--json")
        self.assertEqual((result.err.count("10 files taken"), result.err.count("6 to train on")), (1, 1), result.err)
        m = result.row()
        self.assertEqual((m["recipe"], m["data"], m["fits"]), ("own-pictures", "PetImages", 6))
        self.assertEqual([s["batch"] for s in m["speeds"]], [1, 2, 4])
        for words in (["train"], ["sweep", "--seeds", 1, "--out", "o"]):
            result = self.gradus(*words, *self.words, "--epochs", 1, "--batch", "auto")
            self.assertIn("looking for a batch size", result.err)
            self.assertEqual(result.err.count("10 files taken"), 1, result.err)

    def test_what_is_wrong_with_a_folder_is_told(self):
        for words in (["find-batch"], ["train", "--batch", "auto"]):
            result = self.refused(3, *words, "--data", "PetImages/Cat", names=["PetImages/Cat has no class folders"])
            self.assertEqual(result.err.count("class folders"), 1, result.err)

    def test_how_to_ask(self):
        self.refused(2, "find-batch", names=["own-pictures is that of pictures of your own"])
        self.refused(2, "find-batch", "own-pictures", names=["--data FOLDER has a folder of them for each class"])
        for name in ("train", "find-batch", "sweep"):
            self.assertIn(f"gradus {name} --data FOLDER", self.gradus("help", name).out)


class Group:
    """A control group for memory, of whichever version this machine lets us make one; None where it does not."""

    def __init__(self, limit):
        for folder, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            self.path = pathlib.Path(folder) / f"gradus-test-{os.getpid()}"
            try:
                self.path.mkdir()
                (self.path / file).write_text(str(limit))
                return
            except OSError:
                if self.path.exists():
                    self.path.rmdir()
        raise unittest.SkipTest("no control group can be made here")

    def run(self, *words, **more):
        def enter():
            (self.path / "cgroup.procs").write_text(str(os.getpid()))

        return subprocess.run([GRADUS, *map(str, words)], capture_output=True, text=True, preexec_fn=enter, **more)


class ControlGroup(Case):
    def test_its_limit_is_found_and_is_the_edge(self):
        group = Group(LIMIT)
        try:
            run = ["cifar10-cnn", "--procedural", "--threads", "1", "--json"]
            process = group.run("find-batch", *run, "--memory", "0.9")
            self.assertEqual(process.returncode, 0, process.stderr)
            m = json.loads(process.stdout)
            self.assertEqual(m["memory"]["binds"], "the limit of the control group")
            self.assertLess(m["memory"]["cgroup"], LIMIT)
            self.assertAlmostEqual(m["process_bytes"], m["peak_bytes"], delta=0.01 * m["peak_bytes"] + SLACK)
            words = ["train", *run, "--updates", "1", "--batch"]
            self.assertEqual(group.run(*words, m["fits"]).returncode, 0)
            refused = group.run(*words, int(1.6 * m["fits"]))
            self.assertEqual(refused.returncode, 4, refused.stderr)
            self.assertIn("the limit of the control group leaves", refused.stderr)
            killed = group.run(*words, int(1.6 * m["fits"]), "--memory-limit", "1G", timeout=120)
            self.assertLess(killed.returncode, 0)  # it was no idle word
        finally:
            group.path.rmdir()

    def test_synchronised_shards_run_in_it(self):
        group = Group(LIMIT)
        try:
            process = group.run("train", "cifar10-normalised", "--procedural", "--updates", 2, "--batch",
                                8, "--shards", 2, "--batch-norm", "synchronised", "--threads", 1, "--no-evaluation")
            self.assertEqual(process.returncode, 0, process.stderr)
        finally:
            group.path.rmdir()


if __name__ == "__main__":
    unittest.main()
