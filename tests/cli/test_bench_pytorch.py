"""scripts/bench_pytorch.py end to end on its smallest cell, and bench_gpu.py without a GPU. Skipped where there is no
PyTorch."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import bench_gpu  # noqa: E402
import bench_pytorch  # noqa: E402
PYTHON = os.environ.get("PYTHON", sys.executable)


class Bench(unittest.TestCase):
    def test_all_compete(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([PYTHON, ROOT / "scripts/bench_pytorch.py", "--quick", "--out", folder], text=True,
                                 capture_output=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            rows = [json.loads(line) for line in open(os.path.join(folder, "measured.jsonl"))]
            self.assertEqual([(r["model"], r["batch"]) for r in rows], [("cifar10-cnn", 4)])
            for name in ("gradus", "pytorch"):
                self.assertEqual(len(rows[0][name]["ms_of_rounds"]), 2)
                self.assertGreater(min(rows[0][name]["ms_of_rounds"]), 0)
                self.assertGreater(rows[0][name]["peak_bytes"], 1 << 20)
            self.assertIn("| cifar10-cnn | adam | 4 |", pathlib.Path(folder, "MEASURED.md").read_text())

    def test_quick_keeps_the_measured_table(self):
        run = subprocess.run([PYTHON, ROOT / "scripts/bench_pytorch.py", "--quick"], text=True, capture_output=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--out", run.stderr)

    def test_batch_sizes_at_will(self):
        self.assertEqual(bench_pytorch.cells_of(["cats-vs-dogs"], [8, 200]),
                         [("cats-vs-dogs", "sgd", 8), ("cats-vs-dogs", "sgd", 200), ("cats-vs-dogs", "adam", 8),
                          ("cats-vs-dogs", "adam", 200)])
        self.assertEqual(bench_pytorch.cells_of(["resnet18-cifar", "cifar10-cnn"], None),
                         [("resnet18-cifar", "momentum", 16), ("resnet18-cifar", "momentum", 128)] +
                         [("cifar10-cnn", "adam", b) for b in (4, 32, 128, 1024)])
        for batch in ("0", "16,", "x"):
            run = subprocess.run([PYTHON, ROOT / "scripts/bench_pytorch.py", "--batch", batch], text=True,
                                 capture_output=True)
            self.assertEqual(run.returncode, 2, batch)
            self.assertIn("--batch", run.stderr)

    def test_bad_model(self):
        run = subprocess.run([PYTHON, ROOT / "scripts/bench_pytorch.py", "--models", "lenet"], text=True,
                             capture_output=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("no model lenet", run.stderr)


def contestants(*_):
    for name, seconds in (("gradus", 0.004), ("eager", 0.02), ("compile", 0.012)):
        yield name, lambda seconds=seconds: time.sleep(seconds), lambda: 1, "1"


class OnGpu(unittest.TestCase):
    def test_fastest_way_is_the_peer(self):
        with unittest.mock.patch.object(bench_gpu, "contestants", contestants):
            row = bench_gpu.measure("cifar10-cnn:adam:4:fp32", 2, 0.05)
        self.assertEqual((row["model"], row["batch"], row["mode"]), ("cifar10-cnn", 4, "compile"))
        self.assertEqual([len(rounds) for rounds in row["ms_of_rounds"].values()], [2, 2, 2])
        self.assertTrue(1.5 < row["ratio"][1] < 4.5, row["ratio"])

    def test_without_a_gpu(self):
        run = subprocess.run([PYTHON, ROOT / "scripts/bench_gpu.py"], text=True, capture_output=True,
                             env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(run.returncode, 1)
        self.assertIn("PyTorch sees no GPU", run.stderr)


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        print("skipped: PyTorch is not installed")
        sys.exit(77)
    unittest.main()
