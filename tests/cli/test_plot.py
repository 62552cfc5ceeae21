"""The picture of a sweep. Skipped where there is no matplotlib."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from cli import QUICK, Case


def can_draw(python):
    return subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0


PYTHON = next(filter(can_draw, [os.environ.get("PYTHON", "python3"), "/usr/bin/python3"]), None)
ROOT = pathlib.Path(__file__).resolve().parents[2]

# A Python that has loaded matplotlib, which takes longer than a picture does, and runs each script in a child of its
# own: a line [words, file for stdout, file for stderr] is answered by the exit code.
WAITING = """
import json, os, pathlib, runpy, sys, traceback
from matplotlib import pyplot

def run(words):
    sys.path[0], sys.argv = os.path.dirname(words[0]), words
    try:
        runpy.run_path(words[0], run_name="__main__")
        return 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else end.code is not None
    except BaseException:
        traceback.print_exc()
        return 1

for line in sys.stdin:
    words, *files = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, file in enumerate(files, 1):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        code = run(words)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Plot(Case):
    @classmethod
    def setUpClass(cls):
        cls.drawer = subprocess.Popen([PYTHON, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @classmethod
    def tearDownClass(cls):
        cls.drawer.communicate()

    def script(self, name, *words):
        """Runs a script of ours in a Python that can draw."""
        files = [self.folder / "stdout", self.folder / "stderr"]
        told = [[str(ROOT / "scripts" / name), *map(str, words)], *map(str, files)]
        self.drawer.stdin.write(json.dumps(told) + "\n")
        self.drawer.stdin.flush()
        code = int(self.drawer.stdout.readline())
        return subprocess.CompletedProcess(told[0], code, *(file.read_text() for file in files))

    def draw(self, data, recipe="cats-vs-dogs", **more):
        """A sweep's folder written by hand, drawn."""
        identity = {"recipe": recipe, "data": data, "data_hash": "0" * 16, "test_samples": 400, "version": "0",
                    "epochs": 5, "updates": None, **more,
                    "optimizers": {"sgd": {"label": "SGD", "colour": "#0072b2"},
                                   "adam": {"label": "Adam", "colour": "#d55e00"}}}
        (self.folder / "sweep.json").write_text(json.dumps(identity))
        (self.folder / "summary.csv").write_text(
            "optimizer,batch,updates,done,test_accuracy,half_width_95,set_error\n"
            "sgd,16,375,2,0.60,0.02,0.0245\nsgd,32,185,2,0.58,0.03,0.0247\nadam,16,375,1,0.63,,0.0241\nadam,32,,0,,,\n")
        (self.folder / "results.csv").write_text(
            "optimizer,batch,seed,test_accuracy,state\n"
            "sgd,16,1,0.59,done\nsgd,16,2,0.61,done\nadam,16,1,0.63,done\nadam,32,1,,out of memory\n")
        return self.script("plot_sweep.py", self.folder, "--published", ROOT / "examples/published.csv")

    def test_draws_both_files_with_the_published_values(self):
        process = self.draw("PetImages")
        self.assertEqual(process.returncode, 0, process.stderr)
        svg = (self.folder / "accuracy.svg").read_text()
        for words in ("cats-vs-dogs", "PetImages", "SGD", "Adam", "about 62 %", "about 67 %", "Lheureux", "chance",
                      "standard error", "batch size", "#0072b2", "#d55e00"):
            self.assertIn(words, svg)
        self.assertTrue((self.folder / "accuracy.png").read_bytes().startswith(b"\x89PNG"))

    def test_how_long_runs_are(self):
        for told, words in (({"epochs": 1}, "PetImages, 1 epoch, 1 to 2 seeds."),
                            ({"epochs": None, "updates": 90}, "PetImages, 90 updates, 1 to"),
                            ({"epochs": None, "budget": "samples=6000"}, "PetImages, 6000 samples, 1 to"),
                            ({"epochs": None, "budget": "seconds=2.5"}, "PetImages, 2.5 seconds of training, 1 to"),
                            ({"epochs": "varies"}, "PetImages, 1 to 2 seeds.")):
            self.draw("PetImages", **told)
            self.assertIn(words, (self.folder / "accuracy.svg").read_text())
            self.assertIn(words, (self.folder / "beside.md").read_text())

    def test_intervals_are_drawn_from_three_seeds_on(self):
        self.draw("PetImages")
        two = (self.folder / "accuracy.svg").read_text()
        self.assertIn("a 95 % interval is drawn from 3 seeds on", two)
        summary = self.folder / "summary.csv"
        summary.write_text(summary.read_text().replace("375,2,0.60", "375,3,0.60"))
        self.assertEqual(self.script("plot_sweep.py", self.folder).returncode, 0)
        three = (self.folder / "accuracy.svg").read_text()
        self.assertIn("means and 95 % intervals", three)
        self.assertIn("fewer than 3 runs have no interval", three)
        self.assertNotIn("LineCollection", two)  # the bar
        self.assertIn("LineCollection", three)

    def test_no_line_or_mark_meets_the_name_of_a_published_value(self):
        self.draw("PetImages")
        summary = self.folder / "summary.csv"
        summary.write_text(summary.read_text().replace("adam,32,,0,,,", "adam,32,185,2,0.61,0.03,0.0241"))
        looked = """
import pathlib, sys
import plot_sweep as plot
folder = pathlib.Path(sys.argv[1])
sweep = plot.read_sweep(folder)
published, keras = plot.read_published(sys.argv[2], sweep, ["16", "32", "64"])
lines, cells = plot.read_csv(folder / "summary.csv"), plot.read_csv(folder / "results.csv")
figure = plot.draw(sweep, lines, cells, published, keras)
ax = figure.axes[0]
names = [text for text in ax.texts if text.get_text().startswith("published")]
for place in [text.get_position() for text in names], [plot.PLACES[0]] * 2:
    for text, at in zip(names, place):
        text.set_position(at)
    boxes = [text.get_window_extent().padded(4) for text in names]
    print(sum(plot.is_hit(a, box) for a in [*ax.lines, *ax.collections] for box in boxes))
"""
        process = subprocess.run([PYTHON, "-c", looked, self.folder, ROOT / "examples/published.csv"], text=True,
                                 capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")})
        self.assertEqual(process.stderr, "")
        chosen, first = map(int, process.stdout.split())
        self.assertEqual(chosen, 0)
        self.assertGreater(first, 0)  # Adam's line and crosses stand where the name would by itself

    def pairs(self, *words):
        return self.script("plot_pairs.py", self.folder / "rows.csv", "--out", self.folder / "pairs", *words)

    def test_pairs_by_seed(self):
        rows = self.folder / "rows.csv"
        head, run = "recipe,arm,seed,test_accuracy,state\n", "cifar10-cnn,{},{},{},{}\n".format
        rows.write_text(head + run("first", 1, 0.60, "done") + run("first", 2, 0.70, "done") +
                        run("second", 2, 0.71, "done") + run("second", 1, 0.63, "done") +
                        run("second", 3, 0.9, "done") + run("second", 4, 0.1, "failed"))
        process = self.pairs("--arms", "arm")
        self.assertEqual(process.returncode, 0, process.stderr)
        svg = (self.folder / "pairs.svg").read_text()
        for words in ("cifar10-cnn", "first", "second", "points above 'first'", "2 to 3 seeds", "go on beyond it"):
            self.assertIn(words, svg)
        looked = """
import pathlib, sys, plot_pairs
panels = plot_pairs.read_panels(pathlib.Path(sys.argv[1]), "arm", "recipe", "test_accuracy")
print([round(d, 9) for d in plot_pairs.differences(panels["cifar10-cnn"], "second")])
"""
        process = subprocess.run([PYTHON, "-c", looked, rows], capture_output=True, text=True,
                                 env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")})
        self.assertEqual(process.stdout, "[1.0, 3.0]\n", process.stderr)  # of seeds 2 and 1
        self.assertIn("no column 'nothing'", self.pairs("--arms", "nothing").stderr)
        rows.write_text(rows.read_text() + run("first", 1, 0.65, "done"))
        self.assertIn("cifar10-cnn, first has two runs of seed 1", self.pairs("--arms", "arm").stderr)

    def test_keras_stands_beside_ours(self):
        self.draw("PetImages")
        self.assertIn("Crosses: Keras 3.15 on TensorFlow 2.21", (self.folder / "accuracy.svg").read_text())
        table = (self.folder / "beside.md").read_text()
        self.assertIn("| sgd | 16 | 375 | 60.0 +- 2.0 | about 62 | 58.6 | 3 |", table)  # Keras: 64, 51 and 60.75
        self.assertIn("| adam | 32 |  | - |  | 61.5 | 3 |", table)

    def test_the_thesis_stands_beside_cifar10_cnn(self):
        self.assertEqual(self.draw("CIFAR-10", "cifar10-cnn").returncode, 0)
        self.assertIn("after 10 epochs (TensorFlow)", (self.folder / "accuracy.svg").read_text())
        self.assertIn("| adam | 16 | 375 | 63.0 | 63.06 | 68.79 | 1 |", (self.folder / "beside.md").read_text())

    def test_recipes_without_published_values(self):
        for recipe in ("keras-mlp", "mnist-mlp", "resnet18-cifar"):
            with self.subTest(recipe):
                process = self.draw("CIFAR-10", recipe)
                self.assertEqual(process.returncode, 0, process.stderr)

    def height_of_the_dashed_line(self, svg):
        """In the units of the axis, by its first two lines."""
        across = [float(y) for y in re.findall(r'd="M [0-9.]+ ([0-9.]+) \nL [0-9.]+ \1 \n" clip-path[^>]*#e4e4e4', svg)]
        units = [int(n) for n in re.findall(r"text-anchor: end[^>]*>(\d+)</text>", svg)]
        dashed, = re.findall(r'd="M [0-9.]+ ([0-9.]+) \nL [0-9.]+ \1 \n" clip-path[^>]*dasharray: 5,4', svg)
        return units[0] + (float(dashed) - across[0]) / (across[1] - across[0]) * (units[1] - units[0])

    def test_the_level_of_one_answer_is_that_of_the_test_samples(self):
        """Pictures of one's own have any number of classes, and not equally many of each."""
        for row, level, name in (([[8, 2], [5, 5]], 50, "chance"), ([[6, 0], [0, 3], [1, 2]], 50, "most frequent"),
                                 ([[4, 2, 0], [1, 5, 0], [6, 0, 0]], 33.33, "chance")):
            lines = [json.dumps({"test_confusion": confusion}) for confusion in (None, row)]
            (self.folder / "results.jsonl").write_text("\n".join(lines) + "\n")
            with self.subTest(row):
                self.assertEqual(self.draw("photos", "own-pictures", epochs=1).returncode, 0)
                svg = (self.folder / "accuracy.svg").read_text()
                self.assertIn(f"{name}</text>", svg)
                self.assertIn("photos, 1 epoch, ", svg)
                self.assertAlmostEqual(self.height_of_the_dashed_line(svg), level, delta=0.05)

    def test_procedural_pictures_are_not_set_beside_published_values(self):
        self.assertEqual(self.draw("procedural").returncode, 0)
        svg = (self.folder / "accuracy.svg").read_text()
        self.assertIn("NOT the real data", svg)
        self.assertNotIn("Lheureux", svg)
        self.assertNotIn("Keras", svg)

    def test_a_sweep_that_departs_is_not_set_beside_published_values(self):
        self.assertEqual(self.draw("PetImages", departures=["--resize 16", "--updates 3"]).returncode, 0)
        svg = (self.folder / "accuracy.svg").read_text()
        self.assertIn("No published values: the sweep departs by --resize 16, --updates 3", svg)
        self.assertNotIn("Lheureux", svg)
        self.assertNotIn("Keras", svg)

    def test_the_same_rows_give_the_same_picture(self):
        self.draw("PetImages")
        first = (self.folder / "accuracy.svg").read_bytes()
        self.draw("PetImages")
        self.assertEqual((self.folder / "accuracy.svg").read_bytes(), first)

    def sweep(self, name, rows, **identity):
        """The folder of a sweep with Adam: rows of batch size, updates, mean accuracy."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "sweep.json").write_text(
            json.dumps({
                "recipe": "cats-vs-dogs", "data": "PetImages", "data_hash": "0" * 16, "test_samples": 400,
                "version": "0", "epochs": 5, "updates": None, **identity
            }))
        (folder / "summary.csv").write_text(
            "optimizer,batch,updates,done,test_accuracy,half_width_95,set_error\n" +
            "".join(f"adam,{batch},{updates},2,{mean},0.02,0.024\n" for batch, updates, mean in rows))
        (folder / "results.csv").write_text("optimizer,batch,seed,test_accuracy,state\n" +
                                            "".join(f"adam,{batch},1,{mean},done\n" for batch, _, mean in rows))
        return folder

    def compare(self, *arguments):
        return self.script("compare_sweeps.py", "--out", self.folder / "both", *arguments)

    def test_sweeps_are_compared(self):
        short = self.sweep("short", [(128, 45, 0.54), (256, 20, 0.52)])
        long = [self.sweep("long128", [(128, 90, 0.57)]), self.sweep("long256", [(256, 45, 0.56)])]
        process = self.compare("--published", ROOT / "examples/published.csv", "--marks",
                               "augmented=cats-vs-dogs augmented/augmented", f"augmented={long[0]},{long[1]}",
                               f"standard={short}")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("| 128 | 90 | 57.0 +- 2.0 | 58 | 45 | 54.0 +- 2.0 |", (self.folder / "both.md").read_text())
        self.assertIn("| 256 | 45 | 56.0 +- 2.0 | 57.5 | 20 | 52.0 +- 2.0 |", (self.folder / "both.md").read_text())
        svg = (self.folder / "both.svg").read_text()
        for words in ("augmented", "standard", "updates", "Lheureux"):
            self.assertIn(words, svg)

    def runs(self, name, accuracies):
        """The folder of a sweep with a run for each {(batch, seed): accuracy}; None: out of memory."""
        folder = self.sweep(name, [(batch, 10, 0.5) for batch in sorted({batch for batch, _ in accuracies})])
        (folder / "results.csv").write_text("optimizer,batch,seed,test_accuracy,state\n" + "".join(
            f"adam,{batch},{seed},{'' if a is None else a},{'out of memory' if a is None else 'done'}\n"
            for (batch, seed), a in accuracies.items()))
        return folder

    def test_differences_are_paired_by_seed(self):
        """Two batch sizes share three seeds: that is three differences, not six."""
        base = {(batch, seed): 0.5 for batch in (16, 32) for seed in (1, 2, 3)}
        gains = {(16, 1): 0.03, (32, 1): 0.06, (16, 2): 0.0575, (32, 2): 0.0575, (16, 3): -0.02, (32, 3): 0.02}
        a, b = self.runs("a", {k: base[k] + gains[k] for k in base}), self.runs("b", base)
        process = self.compare(f"a={a}", f"b={b}")
        self.assertEqual(process.stdout,
                         "a - b: 3.4 +- 7.5 points (3 seeds: 4.5, 5.8, 0.0)\n")  # 4.302653 * 3.021 / sqrt(3)
        self.assertIn("- a - b: 3.4 +- 7.5 points", (self.folder / "both.md").read_text())

    def test_only_batch_sizes_that_every_seed_has_are_averaged(self):
        a = self.runs("a", {(16, 1): 0.60, (32, 1): 0.70, (16, 2): 0.64, (32, 2): None})
        b = self.runs("b", {(16, 1): 0.50, (32, 1): 0.50, (16, 2): 0.50, (32, 2): 0.50})
        self.assertEqual(self.compare(f"a={a}", f"b={b}").stdout, "a - b: 12.0 +- 25.4 points (2 seeds: 10.0, 14.0)\n")
        c = self.runs("c", {(64, 1): 0.60})
        self.assertEqual(self.compare(f"a={a}", f"c={c}").stdout.strip(), "")

    def test_the_caption_tells_how_many_runs_a_dot_is(self):
        self.draw("PetImages")  # one or two
        self.assertIn("Large dots: means; small dots: runs;", (self.folder / "accuracy.svg").read_text())
        summary = self.folder / "summary.csv"
        for now, caption in ((",1,0.60,,", "Dots: one run each."),
                             (",3,0.60,0.02,", "means and 95 % intervals; small dots: runs.")):
            summary.write_text("optimizer,batch,updates,done,test_accuracy,half_width_95,set_error\n"
                               f"sgd,16,375{now}0.0245\n")
            process = self.script("plot_sweep.py", self.folder, "--pdf")
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertTrue((self.folder / "accuracy.pdf").read_bytes().startswith(b"%PDF"))
            self.assertIn(caption, (self.folder / "accuracy.svg").read_text())

    def test_a_python_that_draws_is_found(self):
        """Under a Python without matplotlib, here one that is made not to see any, the scripts start again under
        another."""
        (self.folder / "blind").mkdir()
        (self.folder / "blind/matplotlib.py").write_text("raise ImportError\n")
        self.draw("PetImages")
        (self.folder / "accuracy.svg").unlink()
        chooser = self.folder / "python"
        chooser.write_text(f"#!/bin/sh\nunset PYTHONPATH\nexec {PYTHON} \"$@\"\n")
        chooser.chmod(0o755)
        words = [sys.executable, ROOT / "scripts/plot_sweep.py", self.folder]
        blind = {**self.environment, "PYTHONPATH": str(self.folder / "blind")}
        process = subprocess.run(words, env={**blind, "PYTHON": str(chooser)}, capture_output=True, text=True)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertTrue((self.folder / "accuracy.svg").exists())
        process = subprocess.run(words, env={**blind, "PYTHON": "no-such-python"}, capture_output=True, text=True)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("plot_sweep.py: no Python with matplotlib", process.stderr)

    def test_what_cannot_be_compared(self):
        a, b = self.sweep("a", [(16, 375, 0.6)]), self.sweep("b", [(16, 375, 0.6)], data_hash="1" * 16)
        for arguments, words in [((f"a={a}", f"b={b}"), "data_hash"), ((f"a={a},{a}",), "two lines for batches of 16"),
                                 (("a",), "LABEL=FOLDER"), ((f"a={self.folder / 'none'}",), "none"),
                                 ((f"a={a}", "--published", ROOT / "examples/published.csv", "--marks", "a=x/y"),
                                  "no such series")]:
            process = self.compare(*arguments)
            self.assertNotEqual(process.returncode, 0)
            self.assertIn(words, process.stderr)
            self.assertNotIn("Traceback", process.stderr)

    def test_a_folder_whose_name_begins_with_a_dash(self):
        words = ["sweep", *QUICK, "--optimizer", "sgd", "--seeds", "1", "--out", "-o"]
        told = self.gradus(*words, PYTHON=PYTHON).err
        self.assertIn("picture: -o/accuracy.svg", told)
        self.assertTrue((self.folder / "-o/accuracy.svg").exists())
        self.assertRegex(self.gradus(*words).err, "then: python3 .*/plot_sweep.py -- -o\n")  # no Python here

    def test_nothing_to_draw(self):
        process = self.script("plot_sweep.py", self.folder)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("sweep.json", process.stderr)


if __name__ == "__main__":
    if not PYTHON:
        sys.exit(77)
    unittest.main()
