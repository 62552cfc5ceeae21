"""gradus train by processes that mpirun starts; skipped in a build without MPI."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from cli import GRADUS, Case, wait_for

RUN = ["train", "cifar10-cnn", "--procedural", "--batch", 20, "--shards", 8, "--no-evaluation"]


def ranks_of(mpirun):
    """The processes of gradus that an mpirun has started, in the order of their ranks."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = dict(w.split("=", 1) for w in (process / "environ").read_text().split("\0") if "=" in w)
            parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, UnicodeDecodeError):
            continue
        if parent == mpirun.pid and "OMPI_COMM_WORLD_RANK" in words:
            found[int(words["OMPI_COMM_WORLD_RANK"])] = int(process.name)
    return [found[rank] for rank in sorted(found)]


class Mpi(Case):
    def setUp(self):
        super().setUp()
        self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def mpirun(self, *words):
        return subprocess.Popen(["mpirun", "--oversubscribe", *map(str, words)], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, cwd=self.folder, env=self.environment)

    def test_the_same_bits(self):
        words = [*RUN, "--updates", 4, "--save-weights"]
        self.gradus(*words, "one.safetensors")
        for ranks in (2, 4):
            run = self.mpirun("-np", ranks, GRADUS, *words, "many.safetensors", "--json")
            out, _ = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, out)
            self.assertEqual(out.count('"recipe":'), 1, out)
            self.assertIn(f'"ranks":{ranks}', out.replace(" ", ""))
            self.assertEqual((self.folder / "many.safetensors").read_bytes(),
                             (self.folder / "one.safetensors").read_bytes())

    def test_another_rate(self):
        words = [GRADUS, *RUN, "--updates", 4, "--lr"]
        run = self.mpirun("-np", 1, *words, 0.01, ":", "-np", 1, *words, 0.02)
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 7, out)
        self.assertIn("rank 1 disagrees with rank 0 about the learning rate: 0.02", out)

    def lose(self, number, rank, *words):
        """A rank is sent a signal in the middle of a run; what is said, and after how many seconds it is over."""
        run = self.mpirun("-np", 4, GRADUS, *RUN, "--updates", 10**6, "--checkpoint", "kept", "--checkpoint-every", 5,
                          *words)
        wait_for(lambda: len(list(self.folder.glob("kept/*0.safetensors"))) > 0)
        process = ranks_of(run)[rank]
        begin = time.monotonic()
        os.kill(process, number)
        if number == signal.SIGSTOP:
            wait_for(lambda: run.poll() is not None or time.monotonic() > begin + 9)
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        out, _ = run.communicate(timeout=30)
        self.assertNotEqual(run.returncode, 0)
        return out, time.monotonic() - begin

    def test_a_dead_rank_is_named(self):
        out, seconds = self.lose(signal.SIGKILL, 2)
        self.assertIn("rank 2 of 4 has died", out)
        self.assertLess(seconds, 10)

    def test_a_rank_that_hangs_is_named(self):
        out, seconds = self.lose(signal.SIGSTOP, 1, "--patience", 3)
        self.assertIn("rank 1 of 4 has not been heard of", out)
        self.assertLess(seconds, 10)


if __name__ == "__main__":
    if "libmpi" not in subprocess.run(["ldd", GRADUS], capture_output=True, text=True).stdout:
        sys.exit(77)
    unittest.main()
