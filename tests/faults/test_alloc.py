"""Allocations that fail: no crash, no hang, 4 (or 0 with all of the output) and a word about it, nothing half done."""

import re
import struct
import sys
import unittest

from commands import ALL, EARLIER, LATER, Commands, printed, undated, words_of

DONE, SOME_FAILED, MEMORY = 0, 1, 4
# Memory of one of their runs: its row says so.
OF_RUNS = ("sweep", "sweep goes on", "sweep side by side", "reproduce", "reproduce goes on")
TELLING = (*OF_RUNS, "bench", "doctor", "find-batch")  # no memory for a part of what they do is told, and is a result
BY_CALLS = {"reproduce"}  # it makes 20,000, most of them in ten runs that are alike


class Allocations(Commands):
    def tells(self, process):
        rows = [path.read_text() for path in self.folder.rglob("results.jsonl")]
        return any(re.search("out of (host )?memory|OOM", text) for text in (process.stdout, *rows))

    def look_after(self, name, process, right, out):
        if process.returncode == DONE and name in TELLING and self.tells(process):
            pass
        elif process.returncode == DONE:
            self.assertEqual(printed(name, process.stdout), out)
            self.assertEqual(self.contents(), right)
        else:
            self.assertIn(process.returncode, (SOME_FAILED, MEMORY) if name in OF_RUNS else (MEMORY,), process.stderr)
            self.assertIn("memory", process.stderr)
        for file in LATER:
            self.assertIn(undated((self.folder / file).read_bytes()), (EARLIER, self.right_bytes[file]), file)
        self.assertFalse([f for f in self.files() if ".tmp." in f])

    def numbers_by_calls(self):
        """Of the last run's allocations the first and the last that each chain of calls has made."""
        stacks = struct.unpack_from(f"<{self.count()}Q", (self.side / "stacks").read_bytes())
        first = {stack: number for number, stack in reversed(list(enumerate(stacks, 1)))}
        last = {stack: number for number, stack in enumerate(stacks, 1)}
        return {*first.values(), *last.values()}

    def drawn(self, name, trials):
        if not (ALL and name in BY_CALLS):
            return super().drawn(name, trials)
        trying = [(number, behind) for number, behind in trials if number in self.by_calls]
        print(f"{name}: {len(trying)} of {len(trials)} failures", file=sys.stderr, flush=True)
        return trying

    def look_at(self, name, among=None):
        """Without among, a slice, the failures that are drawn; else each of those."""
        words = words_of(name)
        whole = self.run_with(words, GRADUS_STACKS=str(self.side / "stacks"))
        self.assertEqual(whole.returncode, DONE, whole.stderr)
        count, right, out = self.count(), self.contents(), printed(name, whole.stdout)
        self.by_calls = self.numbers_by_calls()
        self.right_bytes = {file: undated((self.folder / file).read_bytes()) for file in LATER}
        trials = [(n, b) for n in range(1, count + 1)[among or slice(None)] for b in "01"]
        for number, behind in trials if among else self.drawn(name, trials):
            with self.subTest(f"{name}, allocation {number} of {count}", behind=behind):
                self.look_after(name, self.run_with(words, GRADUS_FAIL_ALLOC=str(number),
                                                    GRADUS_FAIL_ALLOC_ON=behind), right, out)

    def test_what_a_program_is_asked_by_the_theatre(self):
        self.look_at("theatre", slice(12))

    def test_the_limits_that_a_profile_is_held_against(self):
        """Measured before anything else."""
        self.look_at("profile", slice(9))

    def test_a_sample_that_cannot_be_taken_is_told(self):
        words = ["monitor", "--every", 0.05, "--", "sleep", 0.08]
        self.assertEqual(self.run_with(words).returncode, DONE)
        tries = [self.run_with(words, GRADUS_FAIL_ALLOC=str(n)) for n in range(1, self.count() + 1)]
        lost = [process for process in tries if "could not be read for 1 of " in process.stderr]
        self.assertTrue(lost)
        self.assertEqual({process.returncode for process in lost}, {MEMORY})

    def test_the_operations_that_a_row_counts(self):
        """Behind the training, before the row is written."""
        self.look_at("train", slice(-200, -175))

    def test_what_times_are_judged_by(self):
        """Behind all that is read."""
        self.look_at("bench compare", slice(-24, None))


Allocations.add_tests()

if __name__ == "__main__":
    unittest.main()
