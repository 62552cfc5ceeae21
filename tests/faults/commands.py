"""The command lines whose calls fail one after the other, what they read, and what they always print.

GRADUS_FAULTS=all: every failure of each command is tried. Without it a few of each are, always the same.
"""

import csv
import io
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from cli import TIMINGS, Case, commands, pictures, png, without_timings  # noqa: E402

GRADUS = os.environ["GRADUS"]
SHIM, FAST_CLOCK = os.environ["GRADUS_SHIM"], os.environ["GRADUS_FAST_CLOCK"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
HUNG = 120  # seconds, where others are at work, too
ALL = os.environ.get("GRADUS_FAULTS") == "all"
A_FEW = 2

OWN = ["own-pictures", "--data", "own/PetImages", "--resize", 16, "--model", "model.txt", "--batch", 4]
SMALL = [*OWN, "--updates", 1, "--threads", 1]
PICTURES = ["train", *SMALL, "--json"]
TRAIN = [*PICTURES, "--no-evaluation"]
SWEEP = ["sweep", *SMALL, "--optimizer", "sgd"]
BENCH = ["bench", "relu", "--batch", 2, "--seconds", 0.001, "--threads", 1, "--json"]
REPRODUCE = ["reproduce", "dense-network", "--updates", 2, "--seeds", 1, "--threads", 1]
EARLIER, MODE = b"an earlier file\n", 0o600
LATER = ("w", "l", "sheet.png", "new.grd", "m.txt", "r.html")  # outputs that replace a file
COMMANDS = {
    "train": [*TRAIN, "--save-weights", "w", "--log-updates", "l", "--checkpoint", "c"],
    "train goes on": [*TRAIN, "--checkpoint", "stopped", "--resume", "--save-weights", "w"],
    "train from weights": [*TRAIN, "--init-weights", "weights"],
    "train from PyTorch": [*TRAIN, "--init-weights", "theirs", "--replace-head", "auto", "--save-weights", "w"],
    "train by ranks": [*TRAIN, "--shards", 2, "--ranks", 2, "--checkpoint", "c", "--save-weights", "w"],
    "train on pictures": [*PICTURES, "--save-weights", "w"],
    "train on pictures read late": [*PICTURES, "--preload", "none", "--workers", 1, "--save-weights", "w"],
    "evaluate": ["evaluate", "own.weights", "--data", "unseen"],
    "sweep": [*SWEEP, "--seeds", 1, "--out", "s"],
    "sweep goes on": [*SWEEP, "--seeds", 2, "--out", "sweep"],
    "sweep side by side": ["sweep", *SMALL, "--optimizer", "sgd,adam", "--seeds", 1, "--jobs", 2, "--out", "s"],
    "sweep to come": [*SWEEP, "--seeds", 2, "--out", "sweep", "--dry-run"],
    "sweep merge": ["sweep", "merge", "sweep", "--out", "merged"],
    "compare": ["compare", "sweep", "sweep2"],
    "report": ["report", "sweep", "--out", "r.html"],
    "report for TensorBoard": ["report", "sweep", "--tensorboard", "events"],
    "reproduce": [*REPRODUCE, "--out", "out"],
    "reproduce goes on": [*REPRODUCE, "--out", "begun"],
    "reproduce verdict": ["reproduce", "dense-network", "--verdict", "--out", "reproduced", "--json"],
    "landscape": ["landscape", "weights", "weights", *OWN[1:3], "--steps", 1, "--threads", 1, "--out", "around"],
    "monitor": ["monitor", "--every", 0.05, "--csv", "u.csv", "--json", "u.json", "--", "sleep", 0.1],
    "weights": ["weights", "weights"],
    "weights convert": ["weights", "convert", "weights", "new.npz", "--to", "npz"],
    "weights convert back": ["weights", "convert", "theirs", "new", "--to", "gradus", "--model", "model.txt",
                             "--outputs", 2, "--resize", 16],
    "train from an archive": [*TRAIN, "--init-weights", "weights.npz", "--save-weights", "w"],
    "draw": ["draw", "keras-mlp", "--out", "r.html"],
    "draw trained": ["draw", "own-pictures", "--weights", "own.weights", "--data", "unseen", "--out", "r.html"],
    "bench memory": ["bench", "memory", "keras-mlp", "--batch", 4, "--rounds", 1, "--seconds", 0.001, "--threads", 1],
    "bench scaling": ["bench", "scaling", "keras-mlp", "--batch", 4, "--ranks", "1,2", "--rounds", 1, "--seconds",
                      0.001, "--json"],
    "summary": ["summary", "cifar10-cnn", "--batch", 4],
    "predict": ["predict", "weights", "PetImages/Cat/0.png", "--json"],
    "data check folder": ["data", "check", "PetImages", "--manifest", "m.txt"],
    "data check classes": ["data", "check", "three"],
    "data check zip": ["data", "check", "pets.zip"],
    "data check tar": ["data", "check", "pets.tar.gz"],
    "data check packed": ["data", "check", "pets.grd"],
    "data check idx": ["data", "check", "idx"],
    "data pack": ["data", "pack", "PetImages", "new.grd", "--size", 8],
    "data show": ["data", "show", *OWN[:5], "--out", "sheet.png"],
    "data show drawn": ["data", "show", "own-pictures", "--procedural", "--resize", 16, "--epochs", 1, "--out",
                        "sheet.png"],
    "bench": [*BENCH, "--csv", "b.csv"],
    "bench compare": ["bench", "--compare", "rows,rows"],
    "profile": ["profile", "keras-mlp", "--batch", 4, "--threads", 1, "--out", "p", "--stack", "--schedule",
                "wait=1,warmup=0,active=1"],
    "profile compare": ["profile", "--compare", "profiled", "profiled"],
    "find-batch": ["find-batch", *OWN[:-2], "--memory-limit", "1M", "--json"],
    "doctor": ["doctor"],
    "puzzle": ["puzzle", 1],
    "theatre": ["theatre", "add", "--out", "r.html"],
    "man": ["man", "train"],
    "completion": ["completion", "bash"],
    "recipes": ["train", "--list"],
    "a recipe": ["train", "cats-vs-dogs", "--explain"],
    "experiments": ["reproduce"],
    "help": ["help"],
}
# They run a compiler, or read 180 MB, whose seconds the short tests have not got.
SLOW = {"cuda": ["cuda", "add.cu"], "puzzle solved": ["puzzle", 1, "map.cu"],
        "data check cifar10": ["data", "check", "cifar-10-binary.tar.gz"]}
# They time what the machine can do, half a second and more each: on a clock that is so many times as fast.
TIMED, CLOCK = {"find-batch", "profile"}, 50

MEASURED = TIMINGS | {"peak_bytes"}
# Whether cells met, what a run waited for, what is only known where a sample was taken in time.
OF_THE_MOMENT = {"side_by_side", "bottleneck", "cores_most", "rss_bytes_most", "pss_bytes_most"}
# They print it to the byte.
SAME = {"a recipe", "bench compare", "compare", "completion", "cuda", "experiments", "help", "man", "predict",
        "profile compare", "puzzle", "recipes", "reproduce verdict", "summary", "weights"}

ADD = """#include <cstdio>
__global__ void add(int *x) { x[threadIdx.x] += 1; }
int main()
{
    int *x, y[4] = {0};
    cudaMalloc(&x, sizeof y);
    cudaMemcpy(x, y, sizeof y, cudaMemcpyHostToDevice);
    add<<<1, 4>>>(x);
    cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d\\n", y[0], y[1], y[2], y[3]);
    return cudaFree(x);
}
"""


def idx(path, *shape):
    size = 1
    for n in shape:
        size *= n
    path.write_bytes(struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape) + bytes(i % 10 for i in range(size)))


def cifar10(path):
    """As large as the real archive, all of class 0, and not so well packed that it were refused for that."""
    draw = random.Random(1)
    with tarfile.open(path, "w:gz", compresslevel=1) as t:
        for name in ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"):
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}.bin")
            images = b"".join(bytes(1) + draw.randbytes(50) + bytes(3 * 32 * 32 - 50) for _ in range(10000))
            member.size = len(images)
            t.addfile(member, io.BytesIO(images))


def photographs(folder):
    """A JPEG for each class, which libjpeg-turbo decodes by allocations of its own."""
    for name in ("Cat", "Dog"):
        shutil.copy(ROOT / "tests/fuzz/corpus/image/baseline.jpg", folder / "PetImages" / name / "9.jpg")


def begin_to_reproduce(folder):
    """As it was before its last run, whose row was not yet written."""
    shutil.copytree(folder / "reproduced", folder / "begun")
    rows = folder / "begun/dense-network-2000/results.jsonl"
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:-1]))


def make_inputs(folder, gradus):
    pictures(folder, 3)
    photographs(folder)
    (folder / "model.txt").write_text("residual {\n  conv 3 1x1 relu\n}\nflatten\ndense classes\n")
    (folder / "add.cu").write_text(ADD)
    gradus("cuda", "add.cu", "--check", "--out", "add")
    if ALL:
        shutil.copy(ROOT / "examples/puzzles/solutions/01_map/solution.cu", folder / "map.cu")
        cifar10(folder / "cifar-10-binary.tar.gz")
    with zipfile.ZipFile(folder / "pets.zip", "w", zipfile.ZIP_DEFLATED) as z, \
            tarfile.open(folder / "pets.tar.gz", "w:gz", dereference=True) as t:
        for path in sorted((folder / "PetImages").rglob("*.*g")):
            z.write(path, path.relative_to(folder))
            t.add(path, path.relative_to(folder))
    (folder / "idx").mkdir()
    for part in ("train", "t10k"):
        idx(folder / "idx" / f"{part}-images-idx3-ubyte", 20, 28, 28)
        idx(folder / "idx" / f"{part}-labels-idx1-ubyte", 20)
    (folder / "own").mkdir()
    pictures(folder / "own", 6)
    photographs(folder / "own")
    for name in ("Cat", "Dog"):
        (folder / "unseen" / name).mkdir(parents=True)
        (folder / "unseen" / name / "1.png").write_bytes(png(9, 7, (len(name), ord(name[0]), 7)))
    gradus(*(word for word in PICTURES if word not in ("--model", "model.txt")), "--save-weights", "own.weights")
    gradus("data", "pack", "PetImages", "pets.grd", "--size", 8)
    gradus(*TRAIN, "--save-weights", "weights", "--checkpoint", "stopped")
    gradus(*SWEEP, "--seeds", 1, "--out", "sweep")
    gradus(*SWEEP, "--seeds", 1, "--out", "sweep2")
    gradus("weights", "convert", "weights", "weights.npz", "--to", "npz")
    gradus("weights", "convert", "weights", "theirs", "--to", "torch")
    (folder / "rows").write_bytes(gradus(*BENCH).stdout)
    gradus(*COMMANDS["reproduce"][:-1], "reproduced")
    begin_to_reproduce(folder)
    gradus(*COMMANDS["profile"][:COMMANDS["profile"].index("p")], "profiled", *COMMANDS["profile"][-3:])
    for name in LATER:
        (folder / name).write_bytes(EARLIER)
        (folder / name).chmod(MODE)
    for number, name in enumerate(("a", "b", "c")):
        (folder / "three" / name).mkdir(parents=True)
        (folder / "three" / name / "1.png").write_bytes(png(4, 4, (number, 7, 9)))


def keys_of(value):
    """Of a value of JSON the keys, and what has no value."""
    if isinstance(value, dict):
        return {key: keys_of(v) for key, v in value.items() if key not in OF_THE_MOMENT}
    if isinstance(value, list):
        return sorted({repr(keys_of(v)) for v in value})
    return value is None


def shape_of(text):
    """What of a text is the same in every run: of JSON the keys, else all but numbers. Lines may change places."""
    lines = text.splitlines()
    try:
        if text.startswith("{\""):
            return sorted(repr(keys_of(json.loads(line))) for line in lines)
        return keys_of(json.loads(text))
    except ValueError:
        return sorted(re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "0", " ".join(line.split())) for line in lines)


def shape_of_table(text):
    """Of a table with a line of names, as of JSON."""
    rows = [{key: value or None for key, value in row.items()} for row in csv.DictReader(text.splitlines())]
    return len(rows), keys_of(rows)


def below(folder):
    """All that lies below a folder: of each name what changes where it is written to, replaced, or gets a mode."""
    found, folders = {}, [""]
    while folders:
        inside = folders.pop()
        with os.scandir(folder / inside) as entries:
            for entry in entries:
                name, s = os.path.join(inside, entry.name), entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                    found[name] = s.st_mode
                else:
                    found[name] = (s.st_mode, s.st_ino, s.st_size, s.st_ctime_ns)
    return found


def undated(text):
    return re.sub(rb"\d+-\d+-\d+T[\d:]+Z", b"", text)


def printed(name, text):
    """What of a command's output is the same in every run."""
    if name.startswith("train"):  # with --json
        return {key: value is None if key in MEASURED else value for key, value in json.loads(text).items()}
    return text if name in SAME else shape_of(re.sub(r".*images/s\n|samples/s: \d runs? had .*\n.*alone\n", "", text))


class Commands(Case):
    """Runs of the program behind a shim, each in a fresh copy of a folder with all that is read."""

    @classmethod
    def setUpClass(cls):
        cls.given, cls.side = (pathlib.Path(tempfile.mkdtemp(prefix="gradus-faults-")) for _ in range(2))
        environment = {**os.environ, "PYTHON": "/nonexistent"}
        make_inputs(cls.given, lambda *words: subprocess.run([GRADUS, *map(str, words)], cwd=cls.given, check=True,
                                                             capture_output=True, env=environment))
        cls.given_names = sorted(below(cls.given))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.given)
        shutil.rmtree(cls.side)  # what the shim writes

    def files(self):
        return sorted(below(self.folder))

    def restore(self):
        """The folder as it is given. Most runs that fail change little of it."""
        now, fresh = below(self.folder), getattr(self, "fresh", {})
        for name in sorted(now.keys() - fresh.keys(), reverse=True):  # what is in a folder before the folder
            path = self.folder / name
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()
        for name in self.given_names:
            if name in fresh and fresh[name] == now.get(name):
                continue
            given, path = self.given / name, self.folder / name
            if given.is_dir():
                path.mkdir(exist_ok=True)
                shutil.copymode(given, path)
            else:
                path.unlink(missing_ok=True)
                shutil.copy2(given, path)
        self.fresh = below(self.folder)

    def run_with(self, words, **more):
        self.restore()
        for file in self.side.iterdir():
            file.unlink()
        return subprocess.run([GRADUS, *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              timeout=HUNG, env={**self.environment, "LD_PRELOAD": f"{SHIM}:{FAST_CLOCK}",
                                                 "GRADUS_CLOCK": str(CLOCK if words[0] in TIMED else 1),
                                                 "GRADUS_COUNT": str(self.side / "count"), **more})

    def count(self, sort=0):
        """Of the calls that the last run has made, or of those of one of the sorts that the shim counts."""
        return struct.unpack_from("<q", (self.side / "count").read_bytes(), 8 * sort)[0]

    def drawn(self, name, trials, few=A_FEW):
        """Of all trials all, or a few."""
        if ALL:
            print(f"{name}: {len(trials)} failures", file=sys.stderr, flush=True)
            return trials
        return random.Random(name).sample(trials, min(len(trials), few))

    def contents(self):
        """Of all files that a command has made or changed: the names, and what must be the same each time."""
        made = {}
        for name, state in sorted(below(self.folder).items()):
            path, before = self.folder / name, self.given / name
            if path.is_dir() or state == self.fresh.get(name):
                continue
            text = path.read_bytes()
            if before.exists() and before.read_bytes() == text:
                continue
            shape = shape_of_table if name.endswith(".csv") else shape_of
            known = name.endswith((".json", ".jsonl", ".csv")) and name != "u.csv"  # a line for each of so many moments
            made[name] = undated(text) if name in LATER else shape(text.decode()) if known else ""
        # What the next call takes away, where this one could not, and what is written at some moment or other.
        return {name: text for name, text in made.items() if not re.search(r"\.tmp\.|status\.json|/cells/", name)}

    @classmethod
    def add_tests(cls):
        """A test, look_at(name), for each command."""
        for name in [*COMMANDS, *(SLOW if ALL else ())]:
            setattr(cls, "test_" + re.sub(r"\W", "_", name), lambda self, name=name: self.look_at(name))


def words_of(name):
    return {**COMMANDS, **SLOW}[name]
