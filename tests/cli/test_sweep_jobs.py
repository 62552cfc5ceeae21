"""gradus sweep --jobs: cells side by side give what they give one after the other, within memory, and stop together."""

import json
import os
import signal
import time
import unittest

from cli import TIMINGS, Case, cell, stop, wait_for, without_timings
from test_sweep import cells_of, is_running

GRID = ["sweep", "cifar10-cnn", "--procedural", "--batch", "4,8", "--optimizer", "sgd,adam", "--seeds", "1"]
SHORT = [*GRID, "--updates", "20"]
LONG = [*GRID, "--updates", "100", "--checkpoint-every", "10"]
ENDLESS = [*GRID, "--updates", "1000000"]


class Jobs(Case):
    def states(self, *words):
        return [line.split()[3] for line in self.gradus(*words, "--out", "o", "--dry-run").out.splitlines()[1:-1]]

    def same_rows(self, a, b):
        self.assertEqual(sorted((without_timings(r) for r in self.read_rows(a)), key=cell),
                         sorted((without_timings(r) for r in self.read_rows(b)), key=cell))
        tables = [[{k: v for k, v in r.items() if k not in TIMINGS} for r in self.read_table(t)] for t in (a, b)]
        self.assertEqual(*tables)

    def test_side_by_side_is_one_after_the_other(self):
        self.gradus(*SHORT, "--out", "o")
        result = self.gradus(*SHORT, "--out", "p", "--jobs", "3")
        self.same_rows("o", "p")
        self.assertFalse(any("side_by_side" in r for r in self.read_rows("o")))
        self.assertEqual({r["side_by_side"] for r in self.read_rows("p")}, {3})
        self.assertEqual({r["threads"] for r in self.read_rows("p")}, {max(1, len(os.sched_getaffinity(0)) // 3)})
        self.assertIn("4 runs had others at work beside them", result.out)
        self.assertEqual(self.read_table("p")[0]["side_by_side"], "3")
        self.assertIn("4 runs had others", self.gradus("compare", "p", "--metric", "seconds").out)
        self.gradus("report", "p")
        self.assertIn("4 runs had others at work beside them", (self.folder / "p/report.html").read_text())
        self.assertFalse((self.folder / "p/cells").exists())
        self.assertIn("0 to run", self.gradus(*SHORT, "--out", "p", "--jobs", "2", "--threads", "1").err)

    def test_one_that_would_not_fit_waits(self):
        result = self.gradus(*SHORT, "--out", "o", "--jobs", "4", "--jobs-memory", "20M")
        self.assertEqual(result.err.count(" waits: it takes "), 1)
        self.assertFalse(any("side_by_side" in r for r in self.read_rows("o")))
        self.gradus(*SHORT, "--out", "p", "--jobs", "4", "--jobs-memory", "1G")
        self.assertEqual({r["side_by_side"] for r in self.read_rows("p")}, {4})

    def test_all_are_seen_at_work_and_stop_together(self):
        self.gradus(*LONG, "--out", "whole")
        process = self.start(*LONG, "--out", "o", "--jobs", "3")
        wait_for(lambda: len(cells_of(process)) == 3)
        wait_for(lambda: list(self.folder.glob("o/cells/*/checkpoint-*.safetensors")))
        self.assertIn("RUNNING", self.states(*LONG))
        status = json.loads((self.folder / "o/status.json").read_text())
        self.assertEqual((status["pid"], status["state"]), (process.pid, "RUNNING"))
        self.assertTrue(set(c["pid"] for c in status["at_work"]) & set(cells_of(process)))
        code, out, err = stop(process, signal.SIGTERM)
        self.assertEqual((code, out), (75, ""), err)
        self.assertIn("the same command goes on", err)
        self.assertIn("INTERRUPTED", self.states(*LONG))
        self.assertIn("goes on from where it was stopped", self.gradus(*LONG, "--out", "o", "--jobs", "2").err)
        self.same_rows("o", "whole")

    def test_no_cell_outlives_its_sweep(self):
        process = self.start(*ENDLESS, "--out", "o", "--jobs", "3")
        wait_for(lambda: self.states(*ENDLESS).count("RUNNING") == 3)
        orphans = cells_of(process)
        process.kill()
        process.communicate()
        wait_for(lambda: not any(map(is_running, orphans)), seconds=0.5)
        self.assertEqual(self.states(*ENDLESS), ["INTERRUPTED"] * 3 + ["QUEUED"])

    def test_what_every_cell_would_be_refused_for(self):
        result = self.gradus(*SHORT, "--out", "o", "--jobs", "3", "--precision", "fp64", expect=2)
        self.assertEqual(result.err.count("fp64"), 1)
        self.assertEqual(self.read_rows("o"), [])

    def test_a_cell_that_is_killed_fails_alone(self):
        process = self.start(*LONG, "--out", "o", "--jobs", "2")
        wait_for(lambda: len(cells_of(process)) == 2)
        os.kill(cells_of(process)[0], signal.SIGKILL)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(sorted(r["state"] for r in self.read_rows("o")), ["done"] * 3 + ["failed"])

    def test_a_silent_sweep_is_told(self):
        process = self.start(*ENDLESS, "--out", "o", "--jobs", "2")
        wait_for(lambda: len(cells_of(process)) == 2)
        self.assertNotIn("sign of life", self.gradus(*ENDLESS, "--out", "o", "--dry-run").out)
        process.send_signal(signal.SIGSTOP)
        os.utime(self.folder / "o/status.json", (time.time() - 300,) * 2)
        told = self.gradus(*ENDLESS, "--out", "o", "--dry-run").out.splitlines()[-1]
        self.assertRegex(told, rf"^the sweep at work \(process {process.pid} on \S+\) has given no sign of life for 5")
        process.kill()
        process.communicate()

    def test_timed_experiments_take_no_jobs(self):
        self.refused(2, "reproduce", "utilisation", "--procedural", "--jobs", "2", names=["utilisation", "--jobs"])
        out = self.gradus("reproduce", "dense-network", "--procedural", "--jobs", "2", "--updates", "1", "--seeds", "1")
        self.assertIn("Verdict", out.out)
        rows = [json.loads(line) for path in self.folder.glob("reproduced/*/results.jsonl")
                for line in path.read_text().splitlines()]
        self.assertTrue(rows and all(r["side_by_side"] == 2 for r in rows))


if __name__ == "__main__":
    unittest.main()
