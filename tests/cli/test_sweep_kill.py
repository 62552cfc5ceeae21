"""A sweep that is killed with SIGKILL at random moments and continued ends with the rows of one that was not."""

import os
import random
import signal
import time
import unittest

from cli import TIMINGS, Case, cell, wait_for, without_timings

KILLS = int(os.environ.get("GRADUS_KILLS", "4"))
JOBS = os.environ.get("GRADUS_JOBS", "1,2").split(",")  # drawn for each of the calls


class Kill(Case):
    def test_killed_and_continued(self):
        words = ["sweep", "cifar10-cnn", "--procedural", "--updates", "60", "--batch", "4,8", "--optimizer", "sgd,adam",
                 "--seeds", max(2, KILLS // 8), "--checkpoint-every", "9"]
        begin = time.monotonic()
        self.gradus(*words, "--out", "whole")
        whole = sorted((without_timings(r) for r in self.read_rows("whole")), key=cell)
        share = (time.monotonic() - begin) * 1.5 / KILLS
        draw = random.Random(3)
        for _ in range(KILLS):
            process = self.start(*map(str, words), "--out", "o", "--jobs", draw.choice(JOBS), start_new_session=True)
            time.sleep(draw.uniform(0, 2) * share)
            if draw.random() < 0.5:
                process.send_signal(signal.SIGKILL)
            else:  # its cells with it
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        self.gradus(*words, "--out", "o", "--jobs", JOBS[-1])
        rows = self.read_rows("o")
        self.assertEqual(sorted((without_timings(r) for r in rows), key=cell), whole)
        self.assertEqual(len({cell(r) for r in rows}), len(rows))
        self.assertEqual([{k: v for k, v in r.items() if k not in TIMINGS} for r in self.read_table("o")],
                         [{k: v for k, v in r.items() if k not in TIMINGS} for r in self.read_table("whole")])
        for name in ("results.csv", "summary.csv", "table.txt", "sweep.json"):
            self.assertTrue((self.folder / "o" / name).exists())
        self.assertEqual((self.folder / "o/sweep.json").read_text(), (self.folder / "whole/sweep.json").read_text())

    def test_the_next_is_begun_at_once(self):
        """Without waiting for the one that was killed: what the system has not yet taken from it is in nobody's way."""
        words = ["sweep", "cifar10-cnn", "--procedural", "--updates", "100000", "--batch", "4", "--optimizer", "sgd",
                 "--seeds", "2", "--jobs", "2", "--checkpoint-every", "10", "--out", "o"]
        draw, killed = random.Random(5), []
        for _ in range(5 * KILLS):
            process = self.start(*words)
            time.sleep(draw.uniform(0, 0.5))
            process.send_signal(signal.SIGKILL)
            killed.append(process)
        self.assertEqual([err for _, err in (process.communicate() for process in killed) if "another" in err], [])

    def test_goes_on_in_the_middle_of_a_cell(self):
        words = ["sweep", "cifar10-cnn", "--procedural", "--updates", "120", "--batch", "8", "--optimizer", "adam",
                 "--seeds", "1", "--lr", "0.001,0.002", "--checkpoint-every", "20"]
        self.gradus(*words, "--out", "whole")
        for number in (signal.SIGKILL, signal.SIGTERM):
            seen = self.states()
            process = self.start(*map(str, words), "--out", "o")
            wait_for(lambda: self.states() - seen)
            process.send_signal(number)
            out, err = process.communicate()
            self.assertEqual("goes on from where it was stopped" in err, bool(seen), err)
            self.assertTrue(self.states())
        rest = self.gradus(*words, "--out", "o")
        self.assertIn("goes on from where it was stopped", rest.err)
        self.assertEqual([without_timings(r) for r in self.read_rows("o")],
                         [without_timings(r) for r in self.read_rows("whole")])
        self.assertFalse((self.folder / "o/cells").exists())

    def test_a_state_that_is_refused_begins_anew(self):
        words = ["sweep", "cifar10-cnn", "--procedural", "--updates", "20", "--batch", "8", "--optimizer", "adam",
                 "--seeds", "1"]
        self.gradus(*words, "--out", "whole")
        self.gradus("train", *words[1:-2], "--seed", "2", "--updates", "1", "--checkpoint",
                    "o/cells/adam-batch-8-seed-1")
        rest = self.gradus(*words, "--out", "o")
        self.assertIn("begins again", rest.err)
        self.assertEqual([without_timings(r) for r in self.read_rows("o")],
                         [without_timings(r) for r in self.read_rows("whole")])

    def states(self):
        return {str(p) for p in self.folder.glob("o/cells/*/checkpoint-*.safetensors")}


if __name__ == "__main__":
    unittest.main()
