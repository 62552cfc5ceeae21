"""gradus train by processes that mpirun starts, Open MPI's or MPICH's: the one that the build has found.

GRADUS_KILLS says how many ranks are killed at random moments (default: 2).
"""

import hashlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time
import unittest

from cli import GRADUS, Case, wait_for

FAULT, STRANGER = os.environ["FAULT"], os.environ["STRANGER"]
MPICH = "mpich" in subprocess.run(["ldd", GRADUS], capture_output=True, text=True).stdout
RANK = "PMI_RANK" if MPICH else "OMPI_COMM_WORLD_RANK"
# Debian has both, by these names.
MPIRUN = [shutil.which("mpiexec.mpich" if MPICH else "mpiexec.openmpi") or "mpiexec",
          *([] if MPICH else ["--oversubscribe"])]
EXCHANGE, FRAME = 1, 2  # tags of messages
RUN = ["train", "cifar10-cnn", "--procedural", "--batch", 20, "--shards", 8, "--no-evaluation"]


def environment_of(process):
    try:
        return dict(word.split("=", 1) for word in (process / "environ").read_text().split("\0") if "=" in word)
    except (OSError, UnicodeDecodeError):
        return {}


class Mpi(Case):
    def setUp(self):
        super().setUp()
        self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                             "GRADUS_TEST_FOLDER": str(self.folder)}

    def mpirun(self, *words):
        run = subprocess.Popen([*MPIRUN, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, cwd=self.folder, env=self.environment)
        self.addCleanup(lambda: run.poll() is None and run.terminate())
        return run

    def ranks(self):
        """The processes of this test's run, in the order of their ranks."""
        found = {}
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            words = environment_of(process)
            if words.get("GRADUS_TEST_FOLDER") == str(self.folder) and RANK in words:
                found[int(words[RANK])] = int(process.name)
        return [found[rank] for rank in sorted(found)]

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

    def test_fifty_updates(self):
        """Weights after 50 updates by 1, 2, 4, 8 threads and by 2, 4, 8 processes; last batches of 10 in 199."""
        cnn = ["cifar10-cnn", "--batch", 199]
        resnet = ["resnet18-cifar", "--batch", 8, "--batch-norm", "synchronised"]  # a process for each shard
        courses = [["cats-vs-dogs", "--resize", 24, "--batch", 16], [*cnn, "--precision", "fp16"],
                   [*cnn, "--micro-batch", 7], [*cnn, "--accumulate", 2],
                   *([*cnn, "--last-batch", policy] for policy in ("keep", "drop", "pad", "wrap")), resnet]
        for words in courses:
            with self.subTest(words=words):
                words = ["train", *words, "--procedural", "--shards", 8, "--updates", 50, "--no-evaluation",
                         "--save-weights"]
                for threads in (1, 2, 4, 8):
                    self.gradus(*words, f"threads{threads}.safetensors", "--ranks", threads)
                for processes in (8,) if "resnet18-cifar" in words else (2, 4, 8):
                    run = self.mpirun("-np", processes, GRADUS, *words, f"mpi{processes}.safetensors")
                    out, _ = run.communicate(timeout=300)
                    self.assertEqual(run.returncode, 0, out)
                files = sorted(self.folder.glob("*.safetensors"))
                hashes = {hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
                print(*words[1:5], len(files), "files:", *hashes, flush=True)
                self.assertEqual(len(hashes), 1)
                for file in files:
                    file.unlink()

    def test_synchronised(self):
        (self.folder / "net.txt").write_text("conv 6 3x3 same\nbatch_norm relu\nglobal_avg_pool\ndense classes\n")
        words = [*RUN, "--shards", 4, "--model", "net.txt", "--batch-norm", "synchronised", "--updates", 4,
                 "--save-weights"]
        self.gradus(*words, "one.safetensors")
        run = self.mpirun("-np", 4, GRADUS, *words, "many.safetensors")
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, out)
        self.assertEqual((self.folder / "many.safetensors").read_bytes(),
                         (self.folder / "one.safetensors").read_bytes())
        run = self.mpirun("-np", 2, GRADUS, *words, "many.safetensors")
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 2, out)
        self.assertIn("2 ranks with 4 shards whose batch normalisation is synchronised", out)

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
        process = self.ranks()[rank]
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

    def assert_death_named(self, rank, out):
        """MPICH's mpirun ends all ranks at once, before they can say why."""
        if not MPICH:
            self.assertIn(f"rank {rank} of 4 has died", out)

    def test_a_dead_rank_is_named(self):
        out, seconds = self.lose(signal.SIGKILL, 2)
        self.assert_death_named(2, out)
        self.assertLess(seconds, 10)

    def test_a_rank_that_hangs_is_named(self):
        out, seconds = self.lose(signal.SIGSTOP, 1, "--patience", 3)
        self.assertIn("rank 1 of 4 has not been heard of", out)
        self.assertLess(seconds, 10)

    def refused(self, *second, patience=10):
        """What two ranks say of which the second is another program, or has something wrong with it."""
        run = self.mpirun("-np", 1, GRADUS, *RUN, "--updates", 10**6, "--patience", patience, ":", "-np", 1, *second)
        begin = time.monotonic()
        out, _ = run.communicate(timeout=60)
        self.assertNotEqual(run.returncode, 0, out)
        self.assertLess(time.monotonic() - begin, 20)
        return out

    def faulty(self, fault, **more):
        return self.refused("env", f"LD_PRELOAD={FAULT}", f"GRADUS_MPI_FAULT={fault}", GRADUS, *RUN, "--updates", 10**6,
                            "--patience", more.get("patience", 10), **more)

    def test_a_message_of_another_length(self):
        out = self.faulty(f"short {EXCHANGE} 9")
        self.assertRegex(out, r"rank 1 has sent \d+ bytes where \d+ were expected")
        self.assertIn("rank 1 has sent more than the", self.faulty(f"long {EXCHANGE} 9"))

    def test_garbage(self):
        self.assertIn("rank 1 has sent what no rank of gradus train sends", self.faulty(f"garbage {FRAME} 9"))

    def test_a_stranger(self):
        named = "rank 1 of 2 is no rank of gradus train: it has "
        self.assertIn(named + "not introduced itself for 3 s", self.refused(STRANGER, patience=1))
        self.assertIn(named + "introduced itself by something else", self.refused(STRANGER, "speaks"))

    def test_a_rank_that_does_not_start(self):
        out = self.faulty("init 0 0", patience=1)
        self.assertRegex(out, "MPI_Init has not come back for 3 s|rank 1 of 2 .* not introduced itself for 3 s")

    def test_kills_at_random_moments(self):
        """Every one is named in time, and two ranks go on to the bits of the undisturbed run."""
        words = [*RUN, "--updates", 1000, "--checkpoint-every", 50, "--save-weights"]  # 5 s, longer than any waits
        self.gradus(*words, "whole.safetensors", "--checkpoint", "whole")
        seed = int(os.environ.get("GRADUS_SEED", time.time_ns() % 10**6))
        chance = random.Random(seed)
        for kill in range(int(os.environ.get("GRADUS_KILLS", 2))):
            with self.subTest(seed=seed, kill=kill):
                self.kill_one(words, chance.randrange(4), chance.random() * 1.5)

    def kill_one(self, words, rank, wait):
        shutil.rmtree(self.folder / "kept", ignore_errors=True)
        words = [*words, "one.safetensors", "--checkpoint", "kept"]
        run = self.mpirun("-np", 4, GRADUS, *words)
        wait_for(lambda: len(list(self.folder.glob("kept/*.safetensors"))) > 0 or run.poll() is not None)
        time.sleep(wait)
        ranks = self.ranks()
        if len(ranks) == 4 and run.poll() is None:
            os.kill(ranks[rank], signal.SIGKILL)
            begin = time.monotonic()
            out, _ = run.communicate(timeout=30)
            self.assertLess(time.monotonic() - begin, 10)
            if run.returncode != 0:  # else the run was over before
                self.assert_death_named(rank, out)
        else:
            run.communicate(timeout=60)
        run = self.mpirun("-np", 2, GRADUS, *words, "--resume")
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, out)
        self.assertEqual((self.folder / "one.safetensors").read_bytes(),
                         (self.folder / "whole.safetensors").read_bytes())


if __name__ == "__main__":
    unittest.main()
