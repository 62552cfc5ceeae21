"""Input and output that fail: no crash, no hang, the right exit code and the file's name, earlier files whole, and 0
only with all of the output."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from cli import Case, pictures, png  # noqa: E402

GRADUS, SHIM = os.environ["GRADUS"], os.environ["GRADUS_SHIM"]
EVERY = os.environ.get("GRADUS_EVERY_IO") == "1"
MOST = 2  # failures of a command that are tried where not all are
HUNG = 60  # seconds
DONE, SOME_FAILED, BAD_DATA, IO = 0, 1, 3, 5
WAYS = [(how, behind) for how in ("EIO", "ENOSPC", "EINTR", "short") for behind in "01"
        if (how, behind) != ("EINTR", "1")]  # for ever interrupted is nothing that a system does
SMALL = ["cifar10-cnn", "--procedural", "--batch", 8, "--updates", 1, "--threads", 1]
TRAIN = ["train", *SMALL, "--no-evaluation", "--json"]
SWEEP = ["sweep", *SMALL[:2], "--batch", 8, "--optimizer", "sgd", "--updates", 1, "--threads", 1]
PICTURES = ["train", "own-pictures", "--data", "own/PetImages", "--resize", 16, "--batch", 4, "--updates", 1,
            "--threads", 1, "--json"]
EARLIER, MODE = b"an earlier file\n", 0o600
LATER = ("w", "l", "sheet.png", "new.grd", "m.txt", "r.html")  # outputs that replace a file
COMMANDS = {
    "train": [*TRAIN, "--save-weights", "w", "--log-updates", "l", "--checkpoint", "c"],
    "train goes on": [*TRAIN[:5], *TRAIN[5:], "--checkpoint", "stopped", "--resume", "--save-weights", "w"],
    "train from weights": [*TRAIN, "--init-weights", "weights"],
    "train on pictures": [*PICTURES, "--save-weights", "w"],
    "train on pictures read late": [*PICTURES, "--preload", "none", "--workers", 1, "--save-weights", "w"],
    "evaluate": ["evaluate", "own.weights", "--data", "unseen"],
    "sweep": [*SWEEP, "--seeds", 1, "--out", "s"],
    "sweep goes on": [*SWEEP, "--seeds", 2, "--out", "sweep"],
    "sweep merge": ["sweep", "merge", "sweep", "--out", "merged"],
    "compare": ["compare", "sweep", "sweep2"],
    "report": ["report", "sweep", "--out", "r.html"],
    "reproduce": ["reproduce", "dense-network", "--updates", 2, "--seeds", 1, "--threads", 1, "--out", "out"],
    "reproduce verdict": ["reproduce", "dense-network", "--verdict", "--out", "reproduced", "--json"],
    "landscape": ["landscape", "weights", "weights", "--procedural", "--steps", 1, "--threads", 1, "--out", "around"],
    "monitor": ["monitor", "--every", 0.05, "--csv", "u.csv", "--json", "u.json", "--", "sleep", 0.1],
    "weights": ["weights", "weights"],
    "weights convert": ["weights", "convert", "weights", "new.npz", "--to", "npz"],
    "train from an archive": [*TRAIN, "--init-weights", "weights.npz", "--save-weights", "w"],
    "draw": ["draw", "keras-mlp", "--out", "r.html"],
    "bench memory": ["bench", "memory", "keras-mlp", "--batch", 4, "--rounds", 1, "--threads", 1],
    "summary": ["summary", "cifar10-cnn", "--batch", 4],
    "predict": ["predict", "weights", "PetImages/Cat/0.png", "--json"],
    "data check folder": ["data", "check", "PetImages", "--manifest", "m.txt"],
    "data check classes": ["data", "check", "three"],
    "data check zip": ["data", "check", "pets.zip"],
    "data check tar": ["data", "check", "pets.tar.gz"],
    "data check packed": ["data", "check", "pets.grd"],
    "data check idx": ["data", "check", "idx"],
    "data pack": ["data", "pack", "PetImages", "new.grd", "--size", 8],
    "data show": ["data", "show", "cifar10-cnn", "--procedural", "--out", "sheet.png"],
    "bench": ["bench", "relu", "--batch", 2, "--seconds", 0.001, "--threads", 1, "--json"],
    "profile": ["profile", *SMALL[:4], "--threads", 1, "--out", "p", "--stack", "--schedule",
                "wait=1,warmup=0,active=1"],
    "profile compare": ["profile", "--compare", "profiled", "profiled"],
    "find-batch": ["find-batch", "keras-mlp", "--memory-limit", "1M", "--json"],
    "doctor": ["doctor"],
    "puzzle": ["puzzle", 1],
    "man": ["man", "train"],
}

# They print it to the byte.
SAME = {"summary", "compare", "predict", "profile compare", "puzzle", "man", "weights", "reproduce verdict"}


def idx(path, *shape):
    size = 1
    for n in shape:
        size *= n
    path.write_bytes(struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape) + bytes(i % 10 for i in range(size)))


def make_inputs(folder, gradus):
    pictures(folder, 3)
    with zipfile.ZipFile(folder / "pets.zip", "w", zipfile.ZIP_DEFLATED) as z, \
            tarfile.open(folder / "pets.tar.gz", "w:gz", dereference=True) as t:
        for path in sorted((folder / "PetImages").rglob("*.png")):
            z.write(path, path.relative_to(folder))
            t.add(path, path.relative_to(folder))
    (folder / "idx").mkdir()
    for part in ("train", "t10k"):
        idx(folder / "idx" / f"{part}-images-idx3-ubyte", 20, 28, 28)
        idx(folder / "idx" / f"{part}-labels-idx1-ubyte", 20)
    (folder / "own").mkdir()
    pictures(folder / "own", 6)
    for name in ("Cat", "Dog"):
        (folder / "unseen" / name).mkdir(parents=True)
        (folder / "unseen" / name / "1.png").write_bytes(png(9, 7, (len(name), ord(name[0]), 7)))
    gradus(*PICTURES, "--save-weights", "own.weights")
    gradus("data", "pack", "PetImages", "pets.grd", "--size", 8)
    gradus(*TRAIN, "--save-weights", "weights", "--checkpoint", "stopped")
    gradus(*SWEEP, "--seeds", 1, "--out", "sweep")
    gradus(*SWEEP, "--seeds", 1, "--out", "sweep2")
    gradus("weights", "convert", "weights", "weights.npz", "--to", "npz")
    gradus(*COMMANDS["reproduce"][:-1], "reproduced")
    gradus(*COMMANDS["profile"][:COMMANDS["profile"].index("p")], "profiled", *COMMANDS["profile"][-3:])
    for name in LATER:
        (folder / name).write_bytes(EARLIER)
        (folder / name).chmod(MODE)
    for number, name in enumerate(("a", "b", "c")):
        (folder / "three" / name).mkdir(parents=True)
        (folder / "three" / name / "1.png").write_bytes(png(4, 4, (number, 7, 9)))


def shape_of(text):
    """What of a text is the same in every run: the keys of JSON, else the number of lines."""
    def keys(value):
        if isinstance(value, dict):
            return {key: keys(v) for key, v in value.items()}
        return "list" if isinstance(value, list) else ""

    lines = text.splitlines()
    try:
        return [keys(json.loads(line)) for line in lines] if text.startswith("{\"") else keys(json.loads(text))
    except ValueError:
        return len(lines)


def undated(text):
    return re.sub(rb"\d+-\d+-\d+T[\d:]+Z", b"", text)


def printed(name, text):
    return text if name in SAME else shape_of(re.sub(r".*images/s\n", "", text))


def bare(name):
    """A file as messages call it: temporaries by the name that they are for."""
    return re.sub(r"(\.tmp\.\d+-\d+|\.next)$", "", name)


class InputOutput(Case):
    @classmethod
    def setUpClass(cls):
        cls.given = pathlib.Path(tempfile.mkdtemp(prefix="gradus-io-"))
        cls.side = pathlib.Path(tempfile.mkdtemp(prefix="gradus-io-"))  # what the shim writes
        environment = {**os.environ, "PYTHON": "/nonexistent"}
        make_inputs(cls.given, lambda *words: subprocess.run([GRADUS, *map(str, words)], cwd=cls.given, check=True,
                                                             capture_output=True, env=environment))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.given)
        shutil.rmtree(cls.side)

    def run_with(self, words, **more):
        shutil.rmtree(self.folder)
        shutil.copytree(self.given, self.folder)
        for file in self.side.iterdir():
            file.unlink()
        environment = {**self.environment, "PYTHON": "/nonexistent", "LD_PRELOAD": SHIM,
                       "GRADUS_COUNT_IO": str(self.side / "count"), "GRADUS_FAILED_IO": str(self.side / "failed")}
        return subprocess.run([GRADUS, *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              timeout=HUNG, env={**environment, **more})

    def count(self):
        return struct.unpack("<q", (self.side / "count").read_bytes())[0]

    def failed(self):
        file = self.side / "failed"
        return [line.split(" ", 1) for line in file.read_text().splitlines()] if file.exists() else []

    def contents(self):
        """Of all files that a command has made or changed: the names, and what must be the same each time."""
        made = {}
        for name in self.files():
            path, before = self.folder / name, self.given / name
            if path.is_dir() or (before.exists() and before.read_bytes() == path.read_bytes()):
                continue
            text = path.read_bytes()
            known = name.endswith((".json", ".jsonl", ".csv"))
            made[name] = undated(text) if name in LATER else shape_of(text.decode()) if known else ""
        return made

    def look_after(self, name, how, process, right, out):
        code, failed = process.returncode, self.failed()
        if code == DONE:
            made = self.contents()
            self.assertEqual(printed(name, process.stdout), out)
            self.assertEqual({n: t for n, t in made.items() if ".tmp." not in n and "status.json" not in n}, right)
        else:
            sorts = (SOME_FAILED, IO) if how in ("EIO", "ENOSPC") else (SOME_FAILED, BAD_DATA, IO)
            self.assertIn(code, sorts, process.stderr)
            names = {pathlib.PurePath(bare(name)).name for _, name in failed}
            names |= {pathlib.PurePath(name).parent.name or name for _, name in failed}
            self.assertTrue(any(name in process.stderr for name in names), (failed, process.stderr))
        for file in LATER:
            text = undated((self.folder / file).read_bytes())
            self.assertIn(text, (EARLIER, self.right_bytes[file]), f"{file} is neither old nor new")
            self.assertEqual((self.folder / file).stat().st_mode & 0o777, MODE, f"{file} has another mode")
        if not any(call == "unlink" for call, _ in failed):
            self.assertFalse([f for f in self.files() if ".tmp." in f], failed)

    def look_at(self, name):
        words = COMMANDS[name]
        whole = self.run_with(words)
        self.assertEqual(whole.returncode, DONE, whole.stderr)
        count, right, out = self.count(), self.contents(), printed(name, whole.stdout)
        right = {n: t for n, t in right.items() if "status.json" not in n}
        self.right_bytes = {n: undated((self.folder / n).read_bytes()) for n in LATER}
        trials = [(how, behind, number) for how, behind in WAYS for number in range(1, count + 1)]
        if not EVERY:
            trials = random.Random(name).sample(trials, min(len(trials), MOST))
        for how, behind, number in trials:
            with self.subTest(f"{name}, {how}, call {number} of {count}", behind=behind):
                process = self.run_with(words, GRADUS_FAIL_IO=str(number), GRADUS_FAIL_HOW=how,
                                        GRADUS_FAIL_IO_ON=behind)
                if self.failed():
                    self.look_after(name, how, process, right, out)


    def refused_where(self, words, call, *names, number=1):
        """The call of that name fails: 5, and the names are told."""
        process = self.run_with(words, GRADUS_FAIL_IO=str(number), GRADUS_FAIL_HOW="EIO", GRADUS_FAIL_CALL=call)
        self.assertTrue(self.failed(), "no such call was made")
        self.assertEqual(process.returncode, IO, process.stderr)
        for name in names:
            self.assertIn(name, process.stderr)

    def test_killed_at_any_call_a_run_goes_on_to_its_bits(self):
        words = [*TRAIN[:TRAIN.index("--updates")], "--updates", 3, "--threads", 1, "--no-evaluation", "--checkpoint",
                 "k", "--checkpoint-every", 1, "--save-weights", "w2"]
        self.assertEqual(self.run_with(words).returncode, DONE)
        count, whole, reached = self.count(), (self.folder / "w2").read_bytes(), [0]
        numbers = range(1, count + 1)
        for number in numbers if EVERY else sorted(random.Random(1).sample(numbers, 4)):
            with self.subTest(f"killed at call {number} of {count}"):
                process = self.run_with(words, GRADUS_FAIL_IO=str(number), GRADUS_FAIL_HOW="kill")
                self.assertEqual(process.returncode, -signal.SIGKILL)
                rest = self.gradus(*words, "--resume")
                self.assertEqual((self.folder / "w2").read_bytes(), whole)
                self.assertNotIn("damaged", rest.err)
                self.assertFalse([f.name for f in (self.folder / "k").iterdir() if ".tmp." in f.name])
                reached.append(int((re.findall(r"goes on from .*, update (\d+)", rest.err) or ["0"])[0]))
        self.assertEqual(reached, sorted(reached))  # a later kill loses no more

    def test_a_picture_that_cannot_be_read_is_not_guessed_at(self):
        self.refused_where(COMMANDS["predict"], "open", "PetImages/Cat/0.png", "Input/output error", number=2)

    def test_a_picture_that_cannot_be_read_is_not_left_out(self):
        self.refused_where(COMMANDS["data check folder"], "read", "PetImages/", "Input/output error", number=5)

    def test_a_class_that_cannot_be_looked_at_is_not_left_out(self):
        for number in (1, 5):
            self.refused_where(COMMANDS["data check classes"], "stat", "cannot be looked at", number=number)

    def test_a_sweep_that_cannot_be_looked_for_is_not_begun_anew(self):
        for number in (1, 2, 3):
            self.refused_where(COMMANDS["sweep goes on"], "stat", "cannot be looked at", number=number)

    def test_a_sweep_that_cannot_be_read_is_not_damaged(self):
        for number in (1, 2):
            self.refused_where(COMMANDS["sweep merge"], "read", "it cannot be read", number=number)

    def test_checkpoints_that_cannot_be_seen_are_not_begun_anew(self):
        words = COMMANDS["train goes on"]
        for number in (1, 4):
            self.refused_where(words, "readdir", "stopped cannot be read", number=number)


def add_test(name):
    setattr(InputOutput, "test_" + re.sub(r"\W", "_", name), lambda self: self.look_at(name))


for command in COMMANDS:
    add_test(command)


if __name__ == "__main__":
    unittest.main()
