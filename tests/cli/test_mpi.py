"""gradus train by processes that mpirun starts, Open MPI's or MPICH's: the one that the build has found.

GRADUS_KILLS says how many ranks are killed at random moments (default: 2).
"""

import array
import hashlib
import json
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
          "-disable-auto-cleanup" if MPICH else "--oversubscribe"]
# MPICH's ends all others when a process has died, before they can name it: a shell between keeps it from knowing.
MORTAL = [GRADUS]
if MPICH:
    MORTAL = ["sh", "-c", 'trap "" USR1; "$@"; code=$?; [ $code -lt 128 ] || code=0; exit $code', "sh", GRADUS]
EXCHANGE, FRAME = 1, 2  # tags of messages
RUN = ["train", "cifar10-cnn", "--procedural", "--batch", 20, "--shards", 8, "--no-evaluation"]


def environment_of(process):
    try:
        return dict(word.split("=", 1) for word in (process / "environ").read_text().split("\0") if "=" in word)
    except (OSError, UnicodeDecodeError):
        return {}


def is_gradus(process):
    try:
        return os.path.samefile(process / "exe", GRADUS)
    except OSError:
        return False


def enlarge(file, name, factor):
    """Multiplies a tensor of floats in a file of weights, whose checksum goes."""
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8:8 + size]), bytearray(data[8 + size:])
    begin, end = header[name]["data_offsets"]
    body[begin:end] = array.array("f", [factor * x for x in array.array("f", body[begin:end])]).tobytes()
    header = json.dumps({name: value for name, value in header.items() if name != "__metadata__"}).encode()
    file.write_bytes(len(header).to_bytes(8, "little") + header + body)


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

    def completes(self, processes, *words):
        """What a run of gradus by so many processes prints; it must end well."""
        run = self.mpirun("-np", processes, GRADUS, *words)
        out, _ = run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0, out)
        return out

    def processes(self):
        """Those of this test's run, in the order of their numbers."""
        found = {}
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            words = environment_of(process)
            if words.get("GRADUS_TEST_FOLDER") == str(self.folder) and RANK in words and is_gradus(process):
                found[int(words[RANK])] = int(process.name)
        return [found[rank] for rank in sorted(found)]

    def test_the_same_bits(self):
        """By processes with one rank each, and by processes with several."""
        words = [*RUN, "--updates", 4, "--save-weights"]
        self.gradus(*words, "one.safetensors")
        for processes, ranks in ((2, 2), (4, 4), (2, 4), (2, 8), (4, 8)):
            share = ["--ranks", ranks] if ranks > processes else []
            out = self.completes(processes, *words, "many.safetensors", "--json", *share)
            self.assertEqual(out.count('"recipe":'), 1, out)
            self.assertIn(f'"ranks":{ranks}', out.replace(" ", ""))
            self.assertEqual((self.folder / "many.safetensors").read_bytes(),
                             (self.folder / "one.safetensors").read_bytes())

    @unittest.skipIf(os.geteuid(), "another name for a machine wants root")
    def test_machines_of_their_own(self):
        """By their names alone: sums of gradients begin within the backward pass, in a thread more."""
        words = [*RUN, "--threads", 1, "--save-weights"]
        renamed = ["unshare", "--uts", "sh", "-c", f'hostname machine${RANK}; exec "$@"', "sh", GRADUS]
        self.gradus(*words, "one.safetensors", "--updates", 4)
        for processes in (2, 8):
            out, _ = (run := self.mpirun("-np", processes, *renamed, *words, "many.safetensors", "--updates",
                                         4)).communicate(timeout=300)
            self.assertEqual(run.returncode, 0, out)
            self.assertEqual((self.folder / "many.safetensors").read_bytes(),
                             (self.folder / "one.safetensors").read_bytes())
        threads = {}
        for name, program in (("here", [GRADUS]), ("far", renamed)):
            run = self.mpirun("-np", 2, *program, *words, "many.safetensors", "--updates", 10**6, "--checkpoint", name,
                              "--checkpoint-every", 1)
            wait_for(lambda: list((self.folder / name).glob("*.safetensors")))
            threads[name] = len(os.listdir(f"/proc/{self.processes()[0]}/task"))
            run.terminate()
            run.communicate(timeout=60)
        self.assertEqual(threads["far"], threads["here"] + 1)

    def test_what_processes_cannot_share(self):
        for processes, ranks, words in ((4, 2, "mpirun has started 4 processes, and --ranks 2 makes 2 ranks"),
                                        (3, 4, "mpirun has started 3 processes, and --ranks 4 makes 4 ranks")):
            run = self.mpirun("-np", processes, GRADUS, *RUN, "--ranks", ranks)
            out, _ = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 2, out)
            self.assertIn(words, out)
        late = ["env", f"LD_PRELOAD={FAULT}", "GRADUS_MPI_FAULT=late 0 0"]  # it is told of the other's end first
        run = self.mpirun("-np", 1, *late, GRADUS, *RUN, "--ranks", 4, ":", "-np", 1, GRADUS, *RUN, "--ranks", 8)
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 2, out)
        self.assertRegex(out, "process [01] of 2 has [24] ranks, and process [01] has [24]: give all of them the same "
                              "--ranks")
        if MPICH:  # Open MPI's mpirun stops who is left
            self.assertNotIn("stopped by a signal", out)
        self.assertIn("this MPI is for one thread of a process, and 2 ranks of one are 2: have mpirun start 4 "
                      "processes",
                      self.faulty("single 0 0", "--ranks", 4, patience=1))

    def test_fifty_updates(self):
        """Weights after 50 updates by 1, 2, 4, 8 threads, by 2, 4, 8 processes and by 2 of 4 threads each. Last
        batches have 10 of 199 samples."""
        cnn = ["cifar10-cnn", "--batch", 199]
        resnet = ["resnet18-cifar", "--batch", 8, "--batch-norm", "synchronised"]  # a thread for each shard
        self.gradus("train", *cnn, "--procedural", "--updates", 1, "--no-evaluation", "--save-weights", "large.weights")
        enlarge(self.folder / "large.weights", "dense2.weight", 1000)
        overflow = [*cnn, "--precision", "fp16", "--init-weights", "large.weights"]
        courses = [["cats-vs-dogs", "--resize", 24, "--batch", 16], overflow, [*cnn, "--micro-batch", 7],
                   [*cnn, "--accumulate", 2],
                   *([*cnn, "--last-batch", policy] for policy in ("keep", "drop", "pad", "wrap")), resnet]
        for words in courses:
            with self.subTest(words=words):
                words = ["train", *words, "--procedural", "--shards", 8, "--updates", 50, "--no-evaluation",
                         "--save-weights"]
                for threads in (8,) if "resnet18-cifar" in words else (1, 2, 4, 8):
                    got = self.gradus(*words, f"threads{threads}.safetensors", "--ranks", threads, "--json")
                    self.assertEqual((got.row()["skipped_updates"] or 0) > 0, "large.weights" in words)
                for processes in (2, 4, 8):
                    self.completes(processes, *words, f"mpi{processes}.safetensors")
                self.completes(2, *words, "mixed.safetensors", "--ranks", 8)
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
        for processes in (4, 2):
            self.completes(processes, *words, "many.safetensors")
            self.assertEqual((self.folder / "many.safetensors").read_bytes(),
                             (self.folder / "one.safetensors").read_bytes())
        run = self.mpirun("-np", 8, GRADUS, *words, "many.safetensors")
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 2, out)
        self.assertIn("mpirun has started 8 processes, and --shards 4 makes 4 ranks", out)

    def test_another_rate(self):
        words = [GRADUS, *RUN, "--updates", 4, "--lr"]
        run = self.mpirun("-np", 1, *words, 0.01, ":", "-np", 1, *words, 0.02)
        out, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 7, out)
        self.assertIn("rank 1 disagrees with rank 0 about the learning rate: 0.02", out)

    def lose(self, number, of, lost, *words):
        """A process is sent a signal in the middle of a run; what is said, and after how many seconds it is over."""
        run = self.mpirun("-np", of, *MORTAL, *RUN, "--updates", 10**6, "--checkpoint", "kept", "--checkpoint-every", 5,
                          *words)
        wait_for(lambda: len(list(self.folder.glob("kept/*0.safetensors"))) > 0)
        process = self.processes()[lost]
        begin = time.monotonic()
        os.kill(process, number)
        if number == signal.SIGSTOP:
            wait_for(lambda: run.poll() is not None or time.monotonic() > begin + 9)
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        out, _ = run.communicate(timeout=30)
        self.assertNotEqual(run.returncode, 0 if MORTAL == [GRADUS] else None)
        return out, time.monotonic() - begin

    def assert_named(self, rank, out):
        """A rank that is gone; MPICH knows some of that itself, as soon as we do."""
        self.assertRegex(out, f"rank {rank} (of 4 has died|cannot be reached: )")

    def test_a_dead_rank_is_named(self):
        out, seconds = self.lose(signal.SIGKILL, 4, 2)
        self.assert_named(2, out)
        self.assertLess(seconds, 10)

    def test_a_rank_that_hangs_is_named(self):
        out, seconds = self.lose(signal.SIGSTOP, 4, 1, "--patience", 3)
        self.assertIn("rank 1 of 4 has not been heard of", out)
        self.assertLess(seconds, 10)

    def test_a_process_with_several_ranks_is_named(self):
        """By the first of its ranks, or of those that were waited for."""
        out, seconds = self.lose(signal.SIGKILL, 2, 1, "--ranks", 4)
        self.assertRegex(out, "rank [23] (of 4 has died|cannot be reached: )")
        self.assertLess(seconds, 10)
        shutil.rmtree(self.folder / "kept")
        out, seconds = self.lose(signal.SIGSTOP, 2, 1, "--ranks", 4, "--patience", 3)
        self.assertRegex(out, "rank [23] of 4 has not been heard of")
        self.assertLess(seconds, 10)

    def refused(self, *second, patience=10, shared=()):
        """What two processes say of which the second is another program, or has something wrong with it."""
        run = self.mpirun("-np", 1, GRADUS, *RUN, "--updates", 10**6, "--patience", patience, *shared, ":", "-np", 1,
                          *second)
        begin = time.monotonic()
        out, _ = run.communicate(timeout=60)
        self.assertNotEqual(run.returncode, 0, out)
        self.assertLess(time.monotonic() - begin, 20)
        return out

    def faulty(self, fault, *words, **more):
        return self.refused("env", f"LD_PRELOAD={FAULT}", f"GRADUS_MPI_FAULT={fault}", GRADUS, *RUN, "--updates", 10**6,
                            "--patience", more.get("patience", 10), *words, shared=words, **more)

    def test_a_message_of_another_length(self):
        out = self.faulty(f"short {EXCHANGE} 9")
        self.assertRegex(out, r"rank 1 has sent \d+ bytes where \d+ were expected")
        self.assertIn("rank 1 has sent more than the", self.faulty(f"long {EXCHANGE} 9"))

    def test_garbage(self):
        self.assertIn("rank 1 has sent what no rank of gradus train sends", self.faulty(f"garbage {FRAME} 9"))

    def test_a_stranger(self):
        named = "process 1 of 2 is no rank of gradus train: it has "
        self.assertIn(named + "not introduced itself for 3 s", self.refused(STRANGER, patience=1))
        self.assertIn(named + "introduced itself by something else", self.refused(STRANGER, "speaks"))

    def test_an_intruder(self):
        """A process with the name and the number of a rank under way is none of its job, and another job on this
        machine is another world: both jobs end as if they were alone. A third may not write where one of them does."""
        words = [*RUN, "--updates", 400, "--save-weights"]
        self.gradus(*words, "one.safetensors")
        jobs = [self.mpirun("-np", 2, GRADUS, *words, f"{name}.safetensors", "--checkpoint", name, "--checkpoint-every",
                            50) for name in "ab"]
        wait_for(lambda: all(list(self.folder.glob(f"{name}/*.safetensors")) for name in "ab"))
        rank = environment_of(pathlib.Path("/proc") / str(self.processes()[1]))
        intruder = subprocess.run([GRADUS, *map(str, words), "c.safetensors", "--patience", "1"], env=rank,
                                  cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=60)
        self.assertNotEqual(intruder.returncode, 0, intruder.stdout)
        third, _ = self.mpirun("-np", 2, GRADUS, *words, "c.safetensors", "--checkpoint", "a").communicate(timeout=60)
        self.assertIn("another run", third)
        for job, name in zip(jobs, "ab"):
            out, _ = job.communicate(timeout=120)
            self.assertEqual(job.returncode, 0, out)
            self.assertEqual((self.folder / f"{name}.safetensors").read_bytes(),
                             (self.folder / "one.safetensors").read_bytes())
        self.assertFalse((self.folder / "c.safetensors").exists())

    def test_a_rank_that_does_not_start(self):
        out = self.faulty("init 0 0", patience=1)
        self.assertRegex(out, "MPI_Init has not come back for 3 s|process 1 of 2 .* not introduced itself for 3 s")

    def test_kills_at_random_moments(self):
        """Every one is named in time, and two ranks go on to the bits of the undisturbed run."""
        words = [*RUN, "--updates", 400, "--checkpoint-every", 20, "--save-weights"]  # 2 s, longer than any waits
        self.gradus(*words, "whole.safetensors", "--checkpoint", "whole")
        seed = int(os.environ.get("GRADUS_SEED", time.time_ns() % 10**6))
        chance = random.Random(seed)
        wanted, seconds = int(os.environ.get("GRADUS_KILLS", 2)), []
        for kill in range(2 * wanted):
            with self.subTest(seed=seed, kill=kill):
                seconds += self.kill_one(words, chance.randrange(4), chance.random() * 0.6)
            if len(seconds) == wanted:
                break
        self.assertEqual(len(seconds), wanted)
        print(f"{wanted} kills: all named, and over after {max(seconds):.1f} s at most", flush=True)

    def kill_one(self, words, rank, wait):
        """How long it took until all had ended, in a list; an empty one where the run was over before."""
        shutil.rmtree(self.folder / "kept", ignore_errors=True)
        (self.folder / "one.safetensors").unlink(missing_ok=True)
        words = [*words, "one.safetensors", "--checkpoint", "kept"]
        run = self.mpirun("-np", 4, *MORTAL, *words)
        wait_for(lambda: len(list(self.folder.glob("kept/*.safetensors"))) > 0 or run.poll() is not None)
        time.sleep(wait)
        processes, seconds = self.processes(), []
        if len(processes) == 4 and run.poll() is None:
            begin = time.monotonic()
            os.kill(processes[rank], signal.SIGKILL)
            out, _ = run.communicate(timeout=30)
            if not (self.folder / "one.safetensors").exists():
                seconds = [time.monotonic() - begin]
                self.assertLess(seconds[0], 10)
                self.assert_named(rank, out)
        else:
            run.communicate(timeout=60)
        self.completes(2, *words, "--resume")
        self.assertEqual((self.folder / "one.safetensors").read_bytes(),
                         (self.folder / "whole.safetensors").read_bytes())
        return seconds


if __name__ == "__main__":
    unittest.main()
