"""gradus landscape: at the weights it is what their runs told; the places between, statistics, files, refusals."""

import csv
import json
import pathlib
import re
import subprocess
import sys
import unittest

from cli import Case
from test_plot import PYTHON, ROOT

RUN = ["keras-mlp", "--optimizer", "adam", "--batch", 16, "--updates", 20]
NORMALISED = "conv 4 3x3 relu\nbatch_norm relu\npool 4\nflatten\ndense classes\n"


class Landscape(Case):
    def setUp(self):
        super().setUp()
        self.rows = [self.gradus("train", *RUN, "--seed", seed, "--save-weights", f"w{seed}", "--json").row()
                     for seed in (1, 2, 3)]

    def look(self, *words):
        return self.gradus("landscape", *words, "--batch", 16, "--json").row()

    def place(self, found, x, y=0):
        return next(p for p in found["points"] if (p["x"], p["y"]) == (x, y))

    def test_a_line_has_its_ends(self):
        found = self.look("w1", "w2", "--out", "o")
        self.assertEqual((found["kind"], len(found["points"]), found["test_samples"]), ("line", 25, 1000))
        self.assertEqual([p["x"] for p in found["points"]], [-1 + i / 8 for i in range(25)])
        for x in (0, 1):
            for key in ("test_loss", "test_accuracy"):
                self.assertEqual(self.place(found, x)[key], self.rows[x][key])
        a, b = found["rows"]
        self.assertEqual((a["variant"], a["weights"], b["test_loss"]), ("A", "w1", self.rows[1]["test_loss"]))
        sides = [self.place(found, x)["train_loss"] for x in (0.75, 1, 1.25)]
        self.assertAlmostEqual(b["rise"], (sides[0] + sides[2]) / 2 - sides[1])
        ends = [self.place(found, x)["train_loss"] for x in (0, 1)]
        self.assertAlmostEqual(found["barrier"], max(0, max(
            p["train_loss"] - (1 - p["x"]) * ends[0] - p["x"] * ends[1] for p in found["points"] if 0 <= p["x"] <= 1)))
        self.assertEqual(json.loads((self.folder / "o/landscape.json").read_text()), found)
        with open(self.folder / "o/landscape.csv", encoding="utf-8") as f:
            self.assertEqual([{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)], found["points"])

    def test_there_and_back(self):
        """From the other end the same places have the same loss; one weight's own line is flat."""
        there, back = self.look("w1", "w2"), self.look("w2", "w1")
        for x in (-1, 0.25, 2):
            self.assertAlmostEqual(self.place(there, x)["train_loss"], self.place(back, 1 - x)["train_loss"], places=5)
        self.assertNotAlmostEqual(self.place(there, 0.5)["train_loss"], self.place(there, 0)["train_loss"], places=3)
        self.assertEqual(len({p["train_loss"] for p in self.look("w1", "w1", "--steps", 2)["points"]}), 1)

    def test_planes(self):
        found = self.look("w1", "w2", "w3", "--steps", 2, "--reach", 0.5)
        self.assertEqual((found["kind"], len(found["points"])), ("plane", 25))
        for i, at in enumerate(((0, 0), (1, 0), (0, 1))):
            self.assertEqual(self.place(found, *at)["test_loss"], self.rows[i]["test_loss"])
        words = ["w1", "--steps", 1, "--reach", 0.5]
        found = self.look(*words)
        self.assertEqual([(p["x"], p["y"]) for p in found["points"]],
                         [(x, y) for y in (-0.5, 0, 0.5) for x in (-0.5, 0, 0.5)])
        self.assertEqual(self.place(found, 0, 0)["test_loss"], self.rows[0]["test_loss"])
        self.assertEqual(len({p["train_loss"] for p in found["points"]}), 9)
        self.assertEqual(self.look(*words), found)
        self.assertNotEqual(self.look(*words, "--directions", 2)["points"], found["points"])

    def test_statistics_of_batch_normalisation(self):
        (self.folder / "net").write_text(NORMALISED)
        run = ["cifar10-cnn", "--procedural", "--model", "net", "--resize", 12, "--batch", 16, "--updates", 8]
        rows = [self.gradus("train", *run, "--seed", s, "--save-weights", f"n{s}", "--json").row() for s in (1, 2)]
        words = ["n1", "n2", "--procedural", "--steps", 1, "--samples", 100]
        plain, anew = self.look(*words[:-2]), self.look(*words, "--statistics", "estimated")
        self.assertEqual([self.place(plain, x)["test_loss"] for x in (0, 1)], [row["test_loss"] for row in rows])
        self.assertTrue(all(p["test_loss"] is not None for p in plain["points"] + anew["points"]))
        self.assertEqual((anew["statistics"], anew["train_samples"], anew["test_samples"]), ("estimated", 100, 100))
        few = self.look(*words)
        self.assertNotEqual(self.place(anew, 0)["test_loss"], self.place(few, 0)["test_loss"])

    def test_the_table(self):
        text = self.gradus("landscape", "w1", "w2", "--batch", 16).out
        self.assertRegex(text, r"(?m)^  1\.000 .*  B$")
        self.assertRegex(text, r"B  w2: the training loss rises by -?\d+\.\d+ within 0\.25 of it")
        self.assertIn("the highest", self.gradus("landscape", "w1", "--steps", 1).out)

    def test_far_out(self):
        """Where a loss is not finite no number stands for it, and no such place is the lowest or the highest."""
        words = ["--steps", 2, "--reach", 1e30, "--out", "o"]
        text = self.gradus("landscape", "w1", "--batch", 16, *words).out
        found = json.loads((self.folder / "o/landscape.json").read_text())
        losses = [p["train_loss"] for p in found["points"]]
        self.assertIn(None, losses)
        self.assertIn(f"not finite at {losses.count(None)} of 25 places", text)
        low, = re.findall(r"^.* +(\S+) +\S+ % +\S+ +\S+ %  the lowest$", text, re.M)
        self.assertEqual(low, f"{min(v for v in losses if v is not None):.4f}")
        self.assertNotIn("nan", text)
        with open(self.folder / "o/landscape.csv", encoding="utf-8") as f:
            self.assertEqual([row["train_loss"] == "" for row in csv.DictReader(f)], [v is None for v in losses])

    def test_refusals(self):
        self.gradus("train", "cifar10-cnn", "--procedural", "--updates", 1, "--save-weights", "other")
        self.refused(2, "landscape", names=["which weights"])
        self.refused(2, "landscape", "w1", "other", names=["w1 and other", "no line between them"])
        self.refused(3, "landscape", "w1", "missing", names=["missing"])
        self.refused(2, "landscape", "w1", "w2", "w3", "w1", names=["one too many"])
        for reach in ("1e20", "5e6"):
            self.refused(2, "landscape", "w1", "w2", "--reach", reach, names=["places", "10000000", "--reach"])
        self.refused(2, "landscape", "w1", "w2", "w3", "--steps", 1000, "--reach", 5, names=["1.21e+08 places"])

    @unittest.skipUnless(PYTHON, "no matplotlib")
    def test_pictures(self):
        for words, said in ((["w1", "w2"], ("between two trained networks", "accuracy, %", "stroke-dasharray")),
                            (["w1", "--steps", 2], ("around a trained network", "second direction"))):
            self.gradus("landscape", *words, "--samples", 50, "--out", "o")
            process = subprocess.run([PYTHON, ROOT / "scripts/plot_landscape.py", "o"], capture_output=True, text=True,
                                     cwd=self.folder)
            self.assertEqual(process.returncode, 0, process.stderr)
            svg = (self.folder / "o/landscape.svg").read_text()
            for part in (*said, "A: w1", "50 test samples"):
                self.assertIn(part, svg)
            self.assertTrue((self.folder / "o/landscape.png").read_bytes().startswith(b"\x89PNG"))
        process = subprocess.run([PYTHON, ROOT / "scripts/plot_landscape.py", "."], capture_output=True, text=True,
                                 cwd=self.folder)
        self.assertIn("plot_landscape.py: ", process.stderr)
        self.assertNotIn("Traceback", process.stderr)


if __name__ == "__main__":
    unittest.main()
