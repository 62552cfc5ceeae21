"""gradus reproduce: the experiments as data, runs of them, and verdicts of runs written by hand."""

import json
import math
import re
import unittest
import zlib

from cli import Case

IDENTITY = {"recipe": "cats-vs-dogs", "data": "cats-and-dogs", "data_hash": "0" * 16, "test_samples": 400,
            "version": "0.2.0"}
T = {1: 12.706205, 2: 4.302653}  # Student's t at 97.5 %


def half(values):
    return T[len(values) - 1] * deviation(values) / math.sqrt(len(values))


def deviation(values):
    mean = sum(values) / len(values)
    return math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1))


class Reproduce(Case):
    def names(self):
        return re.findall(r"^  ([a-z-]+) ", self.gradus("reproduce").out, re.M)

    def sweep(self, folder, cells, **more):
        """Rows as a sweep leaves them: (optimizer, batch, seed) and points of test accuracy, or a whole row."""
        (self.folder / "out" / folder).mkdir(parents=True)
        identity = {**IDENTITY, **more}
        (self.folder / "out" / folder / "sweep.json").write_text(json.dumps({**identity, "optimizers": {}}))
        text = json.dumps(identity, separators=(",", ":"), sort_keys=True)
        rows = [{"optimizer": o, "batch": batch, "seed": seed, "state": "done", "updates": 90,
                 "test_confusion": [[3, 7], [0, 10]], "sweep": f"{zlib.crc32(text.encode()):08x}",
                 **(what if isinstance(what, dict) else {"test_accuracy": what / 100})}
                for (o, batch, seed), what in cells.items()]
        self.write_rows(f"out/{folder}", rows)

    def verdict(self, name):
        return self.gradus("reproduce", name, "--out", "out", "--verdict", "--json").row()

    def test_the_list_is_an_index(self):
        text = self.gradus("reproduce").out
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertLessEqual({"optimizers", "augmentation", "batch-sizes", "memory", "utilisation", "half-precision",
                              "last-batch", "workers", "lazy-loading", "fewer-metrics", "profiler", "accumulation",
                              "large-batches", "growing-batch", "dense-network", "batch-norm"}, set(self.names()))

    def test_every_command_of_an_experiment_is_one(self):
        """What the dry run shows are sweeps that only lack their data, and commands whose options are there."""
        kinds = set()
        for name in self.names():
            text = self.gradus("reproduce", name, "--dry-run", "--data", "nowhere", "--updates", 1,
                               expect=0 if name in ("profiler", "minima", "dense-network") else 3).out
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            commands = re.findall(r"^  gradus (.*)$", text.replace("\\\n", " "), re.M)
            self.assertTrue(commands)
            for words in map(str.split, commands):
                with self.subTest(name, words=words):
                    kinds.add(words[0])
                    if words[0] == "sweep":
                        self.gradus(*words, "--data", "nowhere", "--dry-run", expect=0 if "keras-mlp" in words else 3)
                    told = self.gradus("help", words[0]).out
                    for option in (w for w in words if w.startswith("--")):
                        self.assertIn(option, told)
        self.assertEqual(kinds, {"sweep", "train", "landscape", "profile"})

    def test_figures_and_claims(self):
        sgd = {16: [59, 61, 60], 128: [50, 51, 49.5]}
        adam = {16: [62, 64, 63], 64: [55, 57, 56]}
        cells = {("sgd", b, s + 1): x for b, all_ in sgd.items() for s, x in enumerate(all_)}
        cells |= {("adam", b, s + 1): x for b, all_ in adam.items() for s, x in enumerate(all_)}
        self.sweep("cats-vs-dogs", cells)
        found = self.verdict("optimizers")
        self.assertFalse(found["trial"])
        at16, at64 = found["figures"]
        self.assertEqual((at16["series"], at16["batch"], at16["published"], at16["measured"]), ("SGD", 16, 62, 60))
        self.assertAlmostEqual(at16["one_more_run"], T[2] * deviation(sgd[16]) * math.sqrt(4 / 3), places=4)
        self.assertEqual((at16["verdict"], at64["verdict"]), ("agrees", "disagrees"))  # 60 +- 5.0 and 56 +- 5.0
        more, small, control = found["claims"]
        self.assertEqual((more["seeds"], more["batches"], more["difference"]), (3, 1, 3))  # at 16 alone both have runs
        self.assertEqual(more["verdict"], "agrees")
        falls = [sgd[16][i] - sgd[128][i] for i in range(3)]
        self.assertAlmostEqual(small["difference"], sum(falls) / 3)
        self.assertAlmostEqual(small["half_width_95"], half(falls), places=4)
        self.assertEqual((small["verdict"], control["verdict"]), ("agrees", "no runs yet"))
        text = self.gradus("reproduce", "optimizers", "--out", "out", "--verdict").out
        self.assertIn("about 62 % at batch size 16 (SGD): one more run of ours would give 60.0 +- 5.0", re.sub(
            r"\s+", " ", text))
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_the_table_is_in_the_order_of_batch_sizes(self):
        """Cells side by side end in an order of their own: of each line the smallest batch comes first."""
        order = [("sgd", 64, 1), ("sgd", 16, 2), ("adam", 128, 2), ("sgd", 16, 1), ("adam", 16, 1), ("sgd", 128, 1)]
        self.sweep("cats-vs-dogs", {cell: 60 + cell[2] for cell in order})
        text = self.gradus("reproduce", "optimizers", "--out", "out", "--verdict").out
        table = text.split("published\n")[1].split("measured:")[0]
        self.assertEqual([int(line.split()[0]) for line in table.splitlines() if line.startswith("   ")],
                         [16, 64, 128, 16, 128])
        self.assertEqual([line.split(", ")[-1] for line in table.splitlines() if not line.startswith(" ")],
                         ["sgd", "adam"])

    def test_runs_that_went_bad_are_left_out_and_told(self):
        cells = {(o, b, s): 60 - s for o in ("sgd", "adam") for b in (16, 64) for s in (1, 2, 3)}
        self.sweep("cats-vs-dogs", cells)
        whole = self.verdict("optimizers")
        (self.folder / "out").rename(self.folder / "before")
        bad = {"state": "numbers went bad", "test_accuracy": None, "test_confusion": None}
        self.sweep("cats-vs-dogs", cells | {("adam", 64, 4): bad, ("sgd", 16, 4): bad})
        self.assertEqual(self.verdict("optimizers"), whole)
        self.assertIn("\nThe numbers of 2 more runs went bad; they are left out.\n",
                      self.gradus("reproduce", "optimizers", "--out", "out", "--verdict").out)

    def test_many_claims_are_corrected_for(self):
        """A difference the other way round is named as that; one at p = 0.03 is shown alone, and not among two."""
        adam = {("adam", 16, s + 1): x for s, x in enumerate([60, 60, 60])}
        sgd = {("sgd", 16, s + 1): x for s, x in enumerate([61.9, 62, 62.3])}
        falls = [1, 1.4, 0.8]  # p = 0.026
        self.sweep("cats-vs-dogs", adam | sgd | {("sgd", 128, s + 1): sgd["sgd", 16, s + 1] - fall
                                                 for s, fall in enumerate(falls)})
        more, small, _ = self.verdict("optimizers")["claims"]
        self.assertEqual((more["verdict"], small["verdict"]), ("disagrees", "agrees"))
        (self.folder / "out").rename(self.folder / "before")
        adam["adam", 16, 1] = 63.5  # now both are doubtful
        self.sweep("cats-vs-dogs", adam | sgd | {("sgd", 128, s + 1): sgd["sgd", 16, s + 1] - fall
                                                 for s, fall in enumerate(falls)})
        small = self.verdict("optimizers")["claims"][1]
        t = sum(falls) / 3 / (deviation(falls) / math.sqrt(3))
        self.assertAlmostEqual(small["p_holm"], 2 * (1 - t / math.sqrt(2 + t * t)))  # two degrees of freedom
        self.assertEqual(small["verdict"], "not shown")

    def test_equality_has_bounds(self):
        for folder, differences, word in (("a", [0.1, 0, -0.1], "agrees"), ("b", [0.5, 3, -2], "not shown"),
                                          ("c", [5, 5.1, 4.9], "disagrees")):
            rows = {("adam", 128, (s, v)): {"seed": s, "test_accuracy": 0.55 + (d / 100 if v == 32 else 0),
                                            "variant": f"micro-batch={v}", "peak_bytes": 1000000 * v}
                    for s, d in enumerate(differences) for v in (32, 128)}
            self.sweep("accumulation", rows)
            same, memory = self.verdict("accumulation")["claims"]
            self.assertEqual(same["verdict"], word, differences)
            self.assertEqual((memory["verdict"], memory["half_width_95"]), ("agrees", 0))
            (self.folder / "out").rename(self.folder / folder)

    def test_figures_of_unknown_settings_are_context(self):
        self.sweep("cifar10", {("adam", b, s): 60 for b in (4, 128) for s in (1, 2)}, recipe="cifar10-cnn")
        found = self.verdict("batch-sizes")
        self.assertEqual({f["verdict"] for f in found["figures"]}, {"context"})
        self.assertEqual([f["published"] for f in found["figures"]],
                         [32.55, 45.83, 63.06, 68.59, 68.97, 69.77, 64.82, 57.28, 51.02])

    def test_a_run_of_one(self):
        """Two updates are a trial; the same command again runs nothing; more seeds are added."""
        words = ["reproduce", "dense-network", "--updates", "2", "--out", "out"]
        text = self.gradus(*words, "--seeds", "1").out
        self.assertIn("A TRIAL", text)
        self.assertIn("one seed    batches of 10", text)
        rows = self.folder / "out/dense-network/results.jsonl"
        before = rows.read_bytes()
        again = self.gradus(*words, "--seeds", "1", "--json")
        self.assertEqual(rows.read_bytes(), before)
        self.assertTrue(again.row()["trial"])
        found = self.gradus(*words, "--seeds", "2", "--json").row()
        self.assertEqual((found["runs"], found["claims"][0]["seeds"]), (20, 2))
        self.refused(2, "reproduce", "dense-network", "--out", "out", leaves=self.files(), names=["updates was 2"])
        told = self.gradus("reproduce", "dense-network", "--dry-run", "--updates", "2", "--seeds", "3", "--out", "out")
        self.assertIn("out/dense-network: 15 runs, 5 to run", told.out)

    def test_arms_that_are_timed_take_turns(self):
        words = ["reproduce", "fewer-metrics", "--procedural", "--updates", 1, "--seeds", 3, "--out", "out"]
        told = self.gradus(*words).err
        order = re.findall(r"^metrics-(\w+): ", told, re.M)
        self.assertEqual(order, ["update", "epoch", "epoch", "update", "update", "epoch"])
        seeds = [[r["seed"] for r in self.read_rows(f"out/metrics-{arm}")] for arm in ("update", "epoch")]
        self.assertEqual(seeds, [[1, 2, 3]] * 2)
        self.assertEqual(self.gradus("reproduce", "utilisation", "--dry-run", "--procedural", "--updates", 1).out.count(
            "27 to run"), 1)

    def test_tables_by_batch_size(self):
        rows = {("adam", b, s): {"test_accuracy": 0.6, "samples_per_second": 10.0 * b + s, "cores_busy": 1.25,
                                 "mfu": 0.5 if b > 4 else None, "peak_bytes": 2**20 * b, "resident_bytes": 2**21 * b}
                for b in (4, 64) for s in (1, 3)}
        for folder in ("cifar10", "cifar10-speed"):
            self.sweep(folder, rows, recipe="cifar10-cnn")
        told = self.gradus("reproduce", "utilisation", "--out", "out", "--verdict").out
        self.assertIn("\n  batch samples/s cores   MFU TensorFlow PyTorch MXNet\n"
                      "      4      42.0   1.2     -        5.7 ", told)
        self.assertRegex(told, r"\n +64 +642 +1\.2 +50\.0 +36")
        self.assertIn("MFU: model-FLOPs utilisation, in points.", re.sub(r"\s+", " ", told))
        memory = self.gradus("reproduce", "memory", "--out", "out", "--verdict").out
        self.assertRegex(memory, r"\n +4 +4\.0 +8\.0 +694 +520 +502\n +64 +64\.0 +128 ")
        for text in (told, memory):
            self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def seeds(self, folder, rows):
        """Rows as a command leaves them that is given for each seed."""
        (self.folder / "out" / folder).mkdir(parents=True)
        (self.folder / "out" / folder / "rows.jsonl").write_text(
            "".join(json.dumps({"command": "profile", "state": "done", "trial": False, "optimizer": "sgd", "batch": 32,
                                "updates": 6, "seed": seed, **row}) + "\n" for seed, row in enumerate(rows, 1)))

    def test_rows_of_another_command(self):
        self.seeds("profiler", [{"convolutions": x, "ms": 160} for x in (0.78, 0.79, 0.80)])
        self.seeds("profiler-long", [{"convolutions": x, "ms": 160} for x in (0.77, 0.80, 0.80)])
        share, time = self.verdict("profiler")["claims"]
        differences = [1, -1, 0]
        self.assertAlmostEqual(share["difference"], 0)
        self.assertAlmostEqual(share["half_width_95"], half(differences), places=4)
        self.assertEqual((share["verdict"], time["verdict"], time["seeds"]), ("agrees", "agrees", 3))
        text = self.gradus("reproduce", "profiler", "--out", "out", "--verdict").out
        self.assertIn("share of the convolutions, in points", text)
        self.assertNotIn("A TRIAL", text)
        self.refused(2, "reproduce", "profiler", "--procedural", "--out", "out",
                     names=["out/profiler holds runs of", "choose another --out"])
        (self.folder / "out/profiler/rows.jsonl").write_text("{\n")
        self.refused(3, "reproduce", "profiler", "--out", "out", "--verdict", names=["rows.jsonl, line 1 is damaged"])

    def test_refusals(self):
        self.refused(2, "reproduce", "batchsizes", names=["did you mean batch-sizes?"])
        self.refused(2, "reproduce", "memory", "--dry-run", "--verdict", names=["exclude"])
        self.refused(3, "reproduce", "memory", "--data", "nowhere", names=["nowhere"])


if __name__ == "__main__":
    unittest.main()
