"""gradus train --checkpoint: stopped by signals, killed, damaged, and gone on with to the same weights and rows."""

import collections
import fcntl
import hashlib
import os
import random
import shutil
import signal
import sys
import time
import unittest

from cli import TIMINGS, Case, stop, wait_for

KILLS = int(os.environ.get("GRADUS_KILLS", "5"))
SIGNALS = int(os.environ.get("GRADUS_SIGNALS", "4"))
USAGE, IO_ERROR, STOPPED = 2, 5, 75
RUN = ["train", "cifar10-cnn", "--procedural", "--batch", 12, "--micro-batch", 5, "--optimizer", "sgd", "--momentum",
       "0.9", "--augment", "flip,translate=4", "--precision", "fp16", "--lr-schedule", "cosine", "--ema", "0.9",
       "--json"]
MEASURED = TIMINGS | {"peak_bytes", "computing", "copying", "evaluating", "waiting"}


class Checkpoints(Case):
    def words(self, updates):
        return [*RUN, "--updates", updates]

    def digest(self, name="w"):
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()

    def whole(self, updates):
        """The run without a stop: its row, the digest of its weights, its log."""
        row = self.gradus(*self.words(updates), "--save-weights", "w", "--log-updates", "l").row()
        return row, self.digest(), (self.folder / "l").read_text()

    def same(self, a, b):
        for key in a.keys() - MEASURED:
            self.assertEqual(a[key], b[key], key)
        for one, other in zip(a["history"], b["history"], strict=True):
            for key in one.keys() - MEASURED:
                self.assertEqual(one[key], other[key], key)

    def kept(self, folder="c"):
        return sorted(p.name for p in (self.folder / folder).glob("checkpoint-*.safetensors"))

    def temporaries(self):
        return [f for f in self.files() if ".tmp." in f]

    def test_none_after_an_epoch(self):
        words = ["train", "keras-mlp", "--batch", 500, "--epochs", 2, "--no-epoch-checkpoints"]
        self.refused(2, *words, names=["--no-epoch-checkpoints needs a --checkpoint"])
        self.gradus(*words, "--checkpoint", "c")
        self.assertEqual(self.files(), ["c"])
        self.gradus(*words, "--checkpoint", "c", "--checkpoint-every", 3)
        self.assertEqual(self.kept(), ["checkpoint-0000000003.safetensors"])

    def stopped(self, words, folder, number):
        """Of a run that this signal meets behind its first checkpoint: the exit code and what it says. A run that was
        over before it, as a machine with much to do may be late, is made again."""
        for _ in range(5):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
            process = self.start(*words)
            wait_for(lambda: self.kept(folder) or process.poll() is not None)
            code, _, err = stop(process, number)
            if code != 0:
                break
        return code, err

    def test_signals_stop_and_resume_goes_on(self):
        updates = 120
        row, digest, log = self.whole(updates)
        for threads, number in enumerate((signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1), start=1):
            with self.subTest(number):
                words = [*self.words(updates), "--checkpoint", f"c{number}", "--checkpoint-every", 7, "--save-weights",
                         f"w{number}", "--log-updates", f"l{number}"]
                code, err = self.stopped(words, f"c{number}", number)
                self.assertEqual(code, STOPPED, err)
                self.assertIn("the same command with --resume goes on", err)
                rest = self.gradus(*words, "--resume", "--threads", threads)
                self.assertIn("goes on from", rest.err)
                self.assertEqual(self.digest(f"w{number}"), digest)
                self.assertEqual((self.folder / f"l{number}").read_text(), log)
                self.same(row, rest.row())
                self.assertEqual(self.temporaries(), [])

    def test_the_lines_behind_a_gap_of_the_log_stay(self):
        """What a killed run has logged is lost; what the next one has, which was stopped, was lost as well."""
        words = ["train", "keras-mlp", "--batch", 100, "--updates", 30, "--checkpoint", "c", "--resume",
                 "--log-updates", "l"]
        self.gradus(*words)
        lines = (self.folder / "l").read_text().splitlines(keepends=True)
        self.assertEqual(len(lines), 30)
        left = "".join(lines[:9] + lines[12:20])
        (self.folder / "l").write_text(left)
        for _ in range(2):
            told = self.gradus(*words).err
            self.assertEqual((self.folder / "l").read_text(), left)
            for gap in ("10 to 12", "21 to 30"):
                self.assertIn(f"l has no lines of the updates {gap}: ", told)

    def test_a_second_interrupt_ends_it_at_once(self):
        for number in (signal.SIGINT, signal.SIGQUIT):
            process = self.start(*self.words(1000000), "--last-batch", "drop", "--checkpoint", f"c{number}",
                                 "--checkpoint-every", 3, "--log-updates", "l")
            wait_for(lambda: self.kept(f"c{number}") or process.poll() is not None)
            process.send_signal(number)
            time.sleep(0.002)
            self.assertEqual(stop(process, number)[0], STOPPED)
            self.assertEqual([f for f in self.temporaries() if f.startswith("l")], [])

    def test_signals_at_any_moment(self):
        """While data are read, before the first update, in training, in evaluation, while files are written."""
        updates = 40
        _, digest, _ = self.whole(updates)
        words = [*self.words(updates), "--checkpoint-every", 5, "--save-weights", "w2", "--checkpoint"]
        begin = time.time()
        self.gradus(*words, "timed")
        length = time.time() - begin
        rng = random.Random(2)
        ended = collections.Counter()
        for i in range(SIGNALS):
            number = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)[i % 4]
            with self.subTest(i, number=number):
                (self.folder / "w2").unlink(missing_ok=True)
                process = self.start(*words, f"c{i}")
                time.sleep(rng.uniform(0, length))
                code, _, err = stop(process, number)
                self.assertIn(code, (0, STOPPED, -number), err)  # its end; by then; before it could listen
                ended["at its end" if code == 0 else "75" if code == STOPPED else "as it began"] += 1
                self.assertEqual(self.temporaries(), [])
                if code == 0:
                    self.assertEqual(self.digest("w2"), digest)
                self.gradus(*words, f"c{i}", "--resume")
                self.assertEqual(self.digest("w2"), digest)
        print(f"{SIGNALS} signals: {dict(ended)}", file=sys.stderr)

    def test_kill_loses_an_interval_at_most(self):
        updates = 60
        row, digest, _ = self.whole(updates)
        words = [*self.words(updates), "--checkpoint", "c", "--checkpoint-every", 1, "--save-weights", "w2", "--resume"]
        begin = time.time()
        self.gradus(*words, "--keep", 1)
        length = time.time() - begin
        rng = random.Random(1)
        kills = ends = 0
        while kills < KILLS:
            with self.subTest(kills):
                if (self.folder / "w2").exists():  # it got to its end: another one
                    self.assertEqual(self.digest("w2"), digest)
                    (self.folder / "w2").unlink()
                    for file in (self.folder / "c").iterdir():
                        file.unlink()
                    ends += 1
                process = self.start(*words)
                time.sleep(rng.uniform(0.05, 0.9 * length))
                before = self.kept()
                process.kill()
                err = process.communicate()[1]
                kills += process.returncode == -signal.SIGKILL
                self.assertNotIn("damaged", err)
                self.assertGreaterEqual((self.kept() or [""])[-1], (before or [""])[-1])
        print(f"{kills} kills; {ends} times a run came to its end between them", file=sys.stderr)
        result = self.gradus(*words)
        self.assertNotIn("damaged", result.err)
        self.assertEqual(self.digest("w2"), digest)
        self.same(row, result.row())
        self.assertEqual(self.temporaries(), [])

    def test_a_damaged_one_is_named_and_the_one_before_taken(self):
        updates = 12
        _, digest, _ = self.whole(updates)
        words = [*self.words(updates), "--checkpoint", "c", "--checkpoint-every", 1, "--keep", 4]
        words += ["--save-weights", "w2"]
        self.gradus(*words)
        last = self.folder / "c" / self.kept()[-1]
        whole = last.read_bytes()
        flipped = whole[:5000] + bytes([whole[5000] ^ 4]) + whole[5001:]
        for damaged in (whole[:len(whole) // 2], whole[:-1], flipped, b""):
            last.write_bytes(damaged)
            (self.folder / "w2").unlink()
            result = self.gradus(*words, "--resume")
            self.assertIn(last.name, result.err)
            self.assertIn("the checkpoint before it is taken", result.err)
            self.assertEqual(self.digest("w2"), digest)

    def test_other_settings_are_refused_and_shown(self):
        words = [*self.words(4), "--checkpoint", "c"]
        self.gradus(*words)
        files = self.files()
        self.refused(USAGE, *words, names=["holds checkpoints of an earlier run"], leaves=files)
        for more, names in ((["--seed", 2], ["seed was 1, now it is 2"]),
                            (["--batch", 10], ["batch size was 12, now it is 10"]),
                            (["--lr", "0.5"], ["learning rate was 0.01"]),
                            (["--augment", "flip"], ["augment was flip,translate=4, now it is flip"]),
                            (["--precision", "bf16"], ["precision was fp16"]),
                            (["--no-shuffle"], ["no-shuffle was false, now it is true"])):
            with self.subTest(more):
                self.refused(USAGE, *words, *more, "--resume", names=["another run", *names], leaves=files)

    def test_options_that_do_not_go_together(self):
        for words in (["--resume"], ["--keep", 3], ["--checkpoint-every", 5]):
            self.refused(USAGE, *self.words(2), *words, names=["needs a --checkpoint"])
        for every in ("0", "-1", "5s", "m", "1e3"):
            self.refused(USAGE, *self.words(2), "--checkpoint", "c", "--checkpoint-every", every,
                         names=["--checkpoint-every"])
        self.refused(IO_ERROR, *self.words(2), "--checkpoint", "/proc/c", names=["/proc/c"])

    def test_one_run_at_a_time(self):
        process = self.start(*self.words(1000000), "--last-batch", "drop", "--checkpoint", "c", "--checkpoint-every", 2)
        wait_for(lambda: self.kept() or process.poll() is not None)
        result = self.gradus(*self.words(2), "--checkpoint", "c", "--resume", expect=IO_ERROR)
        self.assertIn("another run is at work in c", result.err)
        self.assertEqual(stop(process)[0], STOPPED)

    def test_waits_for_one_that_is_ending(self):
        """A run that was killed just now holds its folder until the system has taken its memory back."""
        words = [*self.words(2), "--checkpoint", "c", "--resume"]
        self.gradus(*words)
        held = os.open(self.folder / "c", os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        process = self.start(*map(str, words))
        time.sleep(1)
        self.assertIsNone(process.poll())
        os.close(held)
        _, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)


if __name__ == "__main__":
    unittest.main()
