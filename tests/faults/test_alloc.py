"""Allocations that fail: no crash, no hang, 4 (or 0 with all of the output) and a word about it, nothing half done."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from cli import TIMINGS, Case, pictures, png  # noqa: E402

GRADUS, SHIM = os.environ["GRADUS"], os.environ["GRADUS_SHIM"]
EVERY = os.environ.get("GRADUS_EVERY_ALLOC") == "1"
MOST = 12  # of a command's allocations that are tried where not all are
MEASURED = TIMINGS | {"peak_bytes", "copying", "computing", "evaluating", "waiting", "history"}
COMMANDS = {
    "train": ["train", "cifar10-cnn", "--procedural", "--batch", 8, "--updates", 1, "--threads", 1, "--no-evaluation",
              "--json", "--save-weights", "w", "--log-updates", "l", "--checkpoint", "c"],
    "summary": ["summary", "cifar10-cnn", "--batch", 4, "--json"],
    "own pictures": ["train", "--data", "own", "--resize", 4, "--model", "m.txt", "--batch", 2, "--updates", 1,
                     "--threads", 1, "--json", "--save-weights", "w"],
    "evaluate": ["evaluate", "weights", "--data", "unseen", "--threads", 1, "--json"],
    "predict": ["predict", "weights", "unseen/cat/0.png", "--threads", 1, "--json"],
    "weights convert": ["weights", "convert", "weights", "w", "--to", "npz"],
    "report": ["report", "sweep", "--out", "page.html"],
    "data check": ["data", "check", "PetImages"],
    "data show": ["data", "show", "cifar10-cnn", "--procedural", "--augment", "flip", "--out", "sheet.png"],
}


def undated(text):
    return re.sub(rb"\d+-\d+-\d+T[\d:]+Z", b"", text)


class Allocations(Case):
    def setUp(self):
        super().setUp()
        pictures(self.folder, 3)
        for number, name in enumerate(("cat", "dog")):
            (self.folder / "own" / name).mkdir(parents=True)
            for i in range(3):
                (self.folder / "own" / name / f"{i}.png").write_bytes(png(3, 3, (90 * number, 60 * i, 7)))
        (self.folder / "m.txt").write_text("residual {\n  conv 3 1x1 relu\n}\nflatten\ndense classes\n")
        self.given = self.files()

    def prepare(self, *words):
        """What a command needs, made without a failure."""
        subprocess.run([GRADUS, *map(str, words)], check=True, capture_output=True, cwd=self.folder,
                       env={**self.environment, "PYTHON": "/nonexistent"})
        self.given = self.files()

    def make_weights(self):
        self.prepare(*COMMANDS["own pictures"][:-1], "weights")
        for number, name in enumerate(("cat", "dog")):
            (self.folder / "unseen" / name).mkdir(parents=True)
            (self.folder / "unseen" / name / "0.png").write_bytes(png(3, 3, (1, 2, number)))
        self.given = self.files()

    def clear(self):
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if str(path.relative_to(self.folder)) not in self.given:
                path.rmdir() if path.is_dir() else path.unlink()

    def run_with(self, words, **more):
        self.clear()
        return subprocess.run([GRADUS, *map(str, words)], capture_output=True, text=True, cwd=self.folder, timeout=120,
                              env={**self.environment, "LD_PRELOAD": SHIM, **more})

    def outcome(self, name, process):
        """What must be the same whenever the program says 0."""
        out = process.stdout
        if name in ("train", "own pictures"):
            out = {key: value for key, value in json.loads(out).items() if key not in MEASURED}
        if name == "data check":
            out = [line for line in out.splitlines() if "images/s" not in line]
        files = [self.folder / file for file in ("w", "l", "sheet.png", "page.html")]
        return out, [undated(file.read_bytes()) if file.exists() else None for file in files]

    def look_at(self, name):
        words = COMMANDS[name]
        whole = self.run_with(words, GRADUS_COUNT_ALLOCS="n")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        count = int((self.folder / "n").read_text())
        (self.folder / "n").unlink()
        right = self.outcome(name, whole)
        numbers = range(1, count + 1)
        if not EVERY or count > 2000:
            numbers = sorted(random.Random(count).sample(numbers, min(count, MOST)))
        for number in numbers:
            for behind in "01":
                with self.subTest(f"{name}, allocation {number} of {count}", behind=behind):
                    process = self.run_with(words, GRADUS_FAIL_ALLOC=str(number), GRADUS_FAIL_ALLOC_ON=behind)
                    self.assertIn(process.returncode, (0, 4), process.stderr)
                    if process.returncode == 0:
                        self.assertEqual(self.outcome(name, process), right)
                    else:
                        self.assertIn("memory", process.stderr)
                    self.assertFalse([f for f in self.files() if ".tmp." in f])

    def test_train(self):
        self.look_at("train")

    def test_summary(self):
        self.look_at("summary")

    def test_own_pictures(self):
        self.look_at("own pictures")

    def test_evaluate(self):
        self.make_weights()
        self.look_at("evaluate")

    def test_predict(self):
        self.make_weights()
        self.look_at("predict")

    def test_weights_convert(self):
        self.make_weights()
        self.look_at("weights convert")

    def test_report(self):
        self.prepare("sweep", *COMMANDS["train"][1:9], "--seeds", 1, "--optimizer", "sgd", "--out", "sweep")
        self.look_at("report")

    def test_data_check(self):
        self.look_at("data check")

    def test_data_show(self):
        self.look_at("data show")


if __name__ == "__main__":
    unittest.main()
