"""gradus compare: sweeps written by hand, whose differences are known."""

import json
import math
import os
import unittest
import zlib

from cli import Case

IDENTITY = {"recipe": "cifar10-cnn", "data": "CIFAR-10", "data_hash": "0" * 16, "test_samples": 10000,
            "version": "0.2.0", "lr": None, "augment": "none"}
# differences of 2 + 1, 2 + 3; 4 + 0, 4 + 4; 6 - 1, 6 + 1: by seed 4, 6 and 6, mean 16/3 and deviation sqrt(4/3)
BASE = {(1, 16): 50, (1, 32): 60, (2, 16): 52, (2, 32): 61, (3, 16): 70, (3, 32): 40}
MORE = {(1, 16): 53, (1, 32): 65, (2, 16): 56, (2, 32): 69, (3, 16): 75, (3, 32): 47}
T2 = 4.302653


class Compare(Case):
    def sweep(self, name, optimizers, state="done", **more):
        folder = self.folder / name
        folder.mkdir()
        identity = {**IDENTITY, **more}
        (folder / "sweep.json").write_text(json.dumps({**identity, "optimizers": {}}))
        text = json.dumps(identity, separators=(",", ":"), sort_keys=True)
        rows = [{"optimizer": o, "seed": seed, "batch": batch, "state": state, "test_accuracy": points / 100,
                 "test_confusion": [[3, 7], [0, 10]], "sweep": f"{zlib.crc32(text.encode()):08x}"}
                for o, cells in optimizers.items() for (seed, batch), points in cells.items()]
        self.write_rows(name, rows)
        return rows

    def compare(self, *words):
        return self.gradus("compare", *words, "--json").row()

    def test_by_seed(self):
        self.sweep("a", {"sgd": BASE})
        self.sweep("b", {"sgd": MORE}, augment="flip")
        m = self.compare("a", "b")
        self.assertEqual(m["differ_in"], {"augment": ["none", "flip"]})
        c, = m["comparisons"]
        self.assertEqual((c["seeds"], c["batches"], c["seeds_left_out"]), (3, 2, 0))
        self.assertAlmostEqual(c["difference"], 16 / 3)
        error = math.sqrt(4 / 3 / 3)
        self.assertAlmostEqual(c["half_width_95"], T2 * error, places=5)
        t = 16 / 3 / error
        self.assertAlmostEqual(c["p"], 1 - t / math.sqrt(2 + t * t))  # Student's t with two degrees of freedom
        self.assertEqual((c["p_holm"], c["verdict"]), (c["p"], "shown"))
        self.assertAlmostEqual(self.compare("b", "a")["comparisons"][0]["difference"], -16 / 3)
        text = self.gradus("compare", "a", "b").out
        self.assertIn("sgd: b - a\n  +5.3 +- 2.9 over 3 seeds, at 2 batch sizes\n  a difference is shown", text)
        self.assertIn('they differ in augment: "none", "flip"', text)
        self.sweep("c", {"sgd": MORE}, lr=0.5)
        self.assertIn("they differ in lr: not set, 0.5", self.gradus("compare", "a", "c").out)

    def test_losses_have_the_digits_of_losses(self):
        for name, cells in (("a", BASE), ("b", MORE)):
            rows = self.sweep(name, {"sgd": cells})
            self.write_rows(name, [{**row, "test_loss": row["test_accuracy"] / 10} for row in rows])
        text = self.gradus("compare", "a", "b", "--metric", "test_loss").out
        self.assertIn("\n  +0.0053 +- 0.0029 over 3 seeds, at 2 batch sizes\n", text)

    def test_holm_over_all_comparisons(self):
        self.sweep("a", {"sgd": BASE, "adam": BASE})
        self.sweep("b", {"sgd": MORE, "adam": {**BASE, (1, 16): 51}})
        found = {c["a"]["optimizer"]: c for c in self.compare("a", "b", "--difference", "0.1")["comparisons"]}
        self.assertEqual(list(found), ["sgd", "adam"])
        self.assertAlmostEqual(found["sgd"]["p_holm"], 2 * found["sgd"]["p"])
        self.assertEqual(found["adam"]["p_holm"], found["adam"]["p"])
        self.assertEqual(found["adam"]["verdict"], "not shown")
        self.assertGreater(found["adam"]["seeds_needed"], 50)  # deviation 0.29: (2.8 x 2.9)^2 and a little
        self.assertIn("it takes about", self.gradus("compare", "a", "b").out)

    def test_folders_of_one_name(self):
        for name in ("x/plain", "y/plain"):
            (self.folder / name).parent.mkdir()
            self.sweep(name, {"adam": {(s, 16): 0.5 for s in (1, 2)}})
        self.assertIn("adam: y/plain/ - x/plain\n", self.gradus("compare", "x/plain", "y/plain/").out)

    def test_many_runs(self):
        """Of 1,000 runs each: a second or two, and minutes where every pair looks at all rows of all rows."""
        for name, points in (("a", 50), ("b", 51)):
            self.sweep(name, {"adam": {(s, b): points for s in range(1, 101) for b in range(1, 11)}})
        begin = os.times().children_user
        found, = self.compare("a", "b")["comparisons"]
        self.assertEqual((found["seeds"], found["batches"]), (100, 10))
        self.assertLess(os.times().children_user - begin, 15)

    def test_optimizers_of_one_folder(self):
        self.sweep("a", {"sgd": BASE, "adam": MORE, "lars": BASE})
        names = [(c["a"]["optimizer"], c["b"]["optimizer"]) for c in self.compare("a")["comparisons"]]
        self.assertEqual(len(names), 3)
        self.assertIn("adam - sgd", self.gradus("compare", "a").out)

    def test_folders_without_an_optimizer_in_common(self):
        self.sweep("a", {"sgd": BASE})
        self.sweep("b", {"adam": MORE})
        c, = self.compare("a", "b")["comparisons"]
        self.assertAlmostEqual(c["difference"], 16 / 3)

    def test_missing_runs(self):
        self.sweep("a", {"sgd": BASE})
        self.sweep("b", {"sgd": {k: v for k, v in MORE.items() if k != (3, 32)}})
        c, = self.compare("a", "b")["comparisons"]
        self.assertEqual((c["seeds"], c["seeds_left_out"], c["difference"]), (2, 1, 5))
        self.sweep("one", {"sgd": {(1, 16): 55}})
        c, = self.compare("a", "one")["comparisons"]
        self.assertEqual((c["seeds"], c["difference"], c["half_width_95"], c["verdict"]), (1, 5, None, "no interval"))
        self.sweep("bad", {"sgd": MORE}, state="failed")
        c, = self.compare("a", "bad")["comparisons"]
        self.assertEqual((c["seeds"], c["difference"]), (0, None))
        self.assertIn("no seed", self.gradus("compare", "a", "bad").out)

    def test_the_last_row_of_a_cell_counts(self):
        self.sweep("a", {"sgd": BASE})
        rows = self.sweep("b", {"sgd": BASE})
        self.write_rows("b", rows + [{**row, "test_accuracy": row["test_accuracy"] + 0.25} for row in rows])
        with open(self.folder / "b/results.jsonl", "a") as f:
            f.write('{"torn')
        before = (self.folder / "b/results.jsonl").read_bytes()
        self.assertAlmostEqual(self.compare("a", "b")["comparisons"][0]["difference"], 25)
        self.assertEqual((self.folder / "b/results.jsonl").read_bytes(), before)

    def test_constant_answers_are_counted(self):
        rows = self.sweep("a", {"sgd": BASE, "adam": MORE})
        rows[0]["test_confusion"] = [[0, 10], [0, 10]]
        self.write_rows("a", rows)
        self.assertEqual([self.compare("a")["comparisons"][0][k]["constant"] for k in "ab"], [1, 0])
        self.assertIn("a, sgd: 1 of 6 runs give every test sample the same answer", self.gradus("compare", "a").out)

    def test_refusals(self):
        self.sweep("a", {"sgd": BASE})
        self.sweep("other", {"sgd": BASE}, recipe="cats-vs-dogs")
        self.sweep("data", {"sgd": BASE}, data_hash="1" * 16)
        self.refused(2, "compare", names=["which folders?"])
        self.refused(2, "compare", "a", names=["nothing to compare"])
        self.refused(2, "compare", "a", "b", "./a", names=["./a is named twice"])
        self.refused(2, "compare", "a", "other", names=["different recipes", "cats-vs-dogs"])
        self.refused(2, "compare", "a", "data", names=["different data"])
        self.refused(3, "compare", "a", "nowhere", names=["nowhere/sweep.json"])
        self.refused(2, "compare", "a", "a", "--metric", "accuracy", names=["test_accuracy"])

    def test_sweeps(self):
        words = ["sweep", "cifar10-cnn", "--procedural", "--updates", "2", "--batch", "4", "--optimizer", "sgd",
                 "--seeds", "2"]
        self.gradus(*words, "--out", "a")
        self.gradus(*words, "--lr", "0.1", "--out", "b")
        m = self.compare("a", "b", "--metric", "train_loss")
        self.assertEqual(m["differ_in"], {"lr": [None, 0.1]})
        self.assertEqual(m["comparisons"][0]["seeds"], 2)
        self.assertLessEqual(max(map(len, self.gradus("compare", "a", "b").out.splitlines())), 80)


if __name__ == "__main__":
    unittest.main()
