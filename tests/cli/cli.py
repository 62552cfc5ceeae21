"""What the tests of the program share: running it, reading its rows, and pictures made from nothing."""

import csv
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest
import zlib

GRADUS = os.environ["GRADUS"]  # the program under test
QUICK = ["cifar10-cnn", "--procedural", "--batch", "8", "--updates", "2"]
ROW_KEYS = (
    "recipe data data_hash device isa threads ranks precision optimizer lr momentum nesterov weight_decay adam_form "
    "adam_epsilon lr_schedule lr_every lr_gamma model augment batch micro_batch accumulate batch_schedule shards "
    "batch_norm lr_min warm_up lr_rule base_batch clip_norm decay_weights_only freeze freeze_statistics head_lr ema "
    "label_smoothing lr_scale freeze_after lookahead whiten warm_up_from lars_trust muon_steps muon_normalise "
    "rest_momentum sam_rho prox_gamma prox_steps "
    "seed budget tta target_accuracy epochs updates samples train_loss train_accuracy val_loss val_accuracy test_loss "
    "test_accuracy val_precision val_recall val_f1 test_precision test_recall test_f1 tta_accuracy seconds "
    "seconds_to_target samples_per_second peak_bytes "
    "loss_scale skipped_updates workers prefetch preload waiting copying computing evaluating bottleneck "
    "gpu_utilisation gpu_memory_bytes gpu_power cores_busy resident_bytes cpu_power model_gflops operand_gbs "
    "limit_gflops limit_gbs mfu state version commit compiler processor jpeg_decoder date history "
    "val_confusion test_confusion").split()
SHARES = {"waiting", "copying", "computing", "evaluating"}
USAGE = set("cores_busy resident_bytes cpu_power model_gflops operand_gbs limit_gflops limit_gbs mfu".split())
TIMINGS = SHARES | USAGE | {"sweep", "check", "date", "seconds", "seconds_to_target", "samples_per_second", "history",
                            "threads", "ranks", "workers", "prefetch", "preload", "bottleneck", "side_by_side"}


def commands():
    """What gradus help lists, without help itself."""
    text = subprocess.run([GRADUS, "help"], capture_output=True, text=True).stdout
    listed = re.findall(r"^  ([a-z-]+(?: [a-z]+)?)  ", text.split("Experiments\n")[1].split("\n'gradus")[0], re.M)
    return [name.strip() for name in listed if name.strip() != "help"]


class Result:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    def row(self):
        return json.loads(self.out.splitlines()[-1])


class Case(unittest.TestCase):
    """A test in a folder of its own, which is gone afterwards."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gradus-cli-"))
        self.environment = {k: v for k, v in os.environ.items() if k not in ("GRADUS_DATA", "NO_COLOR")}
        self.environment["PYTHON"] = "/nonexistent"  # no pictures, which take longer than most of what is swept here

    def tearDown(self):
        shutil.rmtree(self.folder)

    def hasten(self):
        """What measures for seconds has done so soon: the program's clock runs 20 times as fast where that is built."""
        if "GRADUS_FAST_CLOCK" in os.environ:
            self.environment.update(LD_PRELOAD=os.environ["GRADUS_FAST_CLOCK"], GRADUS_CLOCK="20")

    def gradus(self, *words, expect=0, **more):
        """Runs the program in the test's folder; its exit code must be what is expected."""
        process = subprocess.run([GRADUS, *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                                 env={**self.environment, **more}, timeout=240)
        self.assertEqual(process.returncode, expect, f"{words}\n{process.stdout}\n{process.stderr}")
        return Result(process)

    def start(self, *words, **more):
        process = subprocess.Popen([GRADUS, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, cwd=self.folder, env=self.environment, **more)
        self.addCleanup(process.kill)  # a failed test leaves none behind; nothing to one that was waited for
        return process

    def files(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))

    def refused(self, code, *words, names=(), leaves=None, **more):
        """The program must end with code, name these things on stderr, print nothing and leave no new file behind."""
        before = self.files() if leaves is None else leaves
        result = self.gradus(*words, expect=code, **more)
        for name in names:
            self.assertIn(name, result.err)
        self.assertEqual(result.out, "")
        self.assertEqual(self.files(), before)
        return result

    def write_rows(self, folder, rows):
        """Lines of results.jsonl as the program makes them, with the checksum at their end."""
        lines = []
        for row in rows:
            text = json.dumps({key: value for key, value in row.items() if key != "check"})[:-1]
            lines.append(f'{text},"check":"{zlib.crc32(text.encode()):08x}"}}\n')
        (self.folder / folder / "results.jsonl").write_text("".join(lines))

    def read_rows(self, folder):
        return [json.loads(line) for line in (self.folder / folder / "results.jsonl").read_text().splitlines()]

    def read_table(self, folder):
        with open(self.folder / folder / "results.csv", newline="") as f:
            return list(csv.DictReader(f))


def cell(row):
    return row["optimizer"], row["batch"], row["seed"]


def without_timings(row):
    kept = {k: v for k, v in row.items() if k not in TIMINGS}
    kept["history"] = [{k: v for k, v in e.items() if k not in TIMINGS} for e in row["history"]]
    return kept


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited too long")
        time.sleep(0.005)


def is_written(folder, pattern):
    """Whether such a file has anything in it. Whether it can be written is tried out by one that goes again."""
    for path in folder.glob(pattern):
        try:
            if path.stat().st_size:
                return True
        except FileNotFoundError:
            pass
    return False


def stop(process, number=signal.SIGINT):
    """Sends a signal; the exit code and what was printed."""
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def png(width, height, colour):
    """A PNG file of one colour."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def pictures(folder, per_class):
    """A folder PetImages with so many tiny pictures a class."""
    for name, colour in (("Cat", (200, 120, 40)), ("Dog", (40, 120, 200))):
        (folder / "PetImages" / name).mkdir(parents=True)
        first = folder / "PetImages" / name / "0.png"
        first.write_bytes(png(8, 6, colour))
        for i in range(1, per_class):
            os.link(first, first.with_name(f"{i}.png"))
