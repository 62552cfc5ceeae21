"""Constants measured on a GPU in the place of the table's: what is kept, what is refused, and that the program which
measures reads what it says it reads (on the emulator, where its times mean nothing).

    GRADUS=PATH python3 test_calibrate.py
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from bounds import calibrate, chips, here, step, tell  # noqa: E402

GRADUS = os.environ["GRADUS"]
SAID = {"gpu": "NVIDIA H200", "multiprocessors": 132, "clock": 1.965, "read": 4416.0, "copied": 4128.0, "l2": 3500.0,
        "l2_port": 62.5, "shared": 30.5, "l1": 42.0, "l2_latency": 270.0, "memory": 600.0}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.kept = calibrate.Kept(folder.name)

    def measure(self, entry, says, code=0):
        """By a program that prints a line, in place of the one that measures."""
        program = self.kept.path.with_name("calibrate")
        program.write_text(f"#!/bin/sh\necho '{says}' {'>&2' if code else ''}\nexit {code}\n", encoding="utf-8")
        program.chmod(0o755)
        return calibrate.measure(entry, self.kept, program)

    def refused(self, *names, entry="H200", says=None, code=0):
        with self.assertRaises(calibrate.Refused) as raised:
            self.measure(entry, says or json.dumps(SAID), code)
        for name in names:
            self.assertIn(name, str(raised.exception))
        self.assertIsNone(self.kept.of(entry))


class Measuring(Case):
    def test_what_is_kept_takes_the_table_s_place(self):
        table = chips.numbers("H200")
        self.measure("H200", json.dumps(SAID))
        again = calibrate.Kept(self.kept.path.parent).numbers("H200")
        self.assertEqual(again["clock"], 1.965)
        self.assertAlmostEqual(again["dram_read"], 4416 / 4800)
        self.assertAlmostEqual(again["dram_mixed"], 4128 / 4800)
        self.assertEqual([again[name] for name in ("l2_read", "l2_port", "latency_shared", "latency_l1", "latency_l2",
                                                   "latency_dram")], [3500, 62.5, 30.5, 42, 270, 600])
        changed = {name for name in table if table[name] != again[name]}
        self.assertEqual(changed, {"clock", "dram_read", "dram_mixed", "l2_read", "l2_port", "latency_shared",
                                   "latency_l1", "latency_l2", "latency_dram"})
        self.assertEqual(self.kept.numbers("H100 SXM5"), chips.numbers("H100 SXM5"))  # another chip's are the table's

    def test_a_limit_that_the_table_does_not_have(self):
        said = SAID | {"gpu": "NVIDIA B200", "read": 7000, "copied": 6800, "l2": 9000}
        self.assertEqual(chips.numbers("B200")["l2_read"], 0)
        self.measure("B200", json.dumps(said))
        self.assertEqual(self.kept.numbers("B200")["l2_read"], 9000)

    def test_the_base_clock_is_a_profiler_s_and_stays(self):
        self.measure("H100 SXM5", json.dumps(SAID | {"gpu": "NVIDIA H100 80GB HBM3", "read": 3000, "copied": 2900}))
        self.assertEqual(self.kept.numbers("H100 SXM5", True)["clock"], chips.BASE_CLOCKS["H100 SXM5"])
        self.assertEqual(self.kept.numbers("H100 SXM5")["clock"], 1.965)

    def test_tellers_take_them(self):
        self.measure("H200", json.dumps(SAID))
        with tempfile.TemporaryDirectory() as folder:
            found = step.Teller("H200", tell.build_machine(folder), None, None, "", self.kept.numbers)
            self.assertEqual(found.chip["clock"], 1.965)
            self.assertEqual(here.Teller(folder, self.kept.numbers).numbers("H200")["clock"], 1.965)

    def test_refused(self):
        self.refused("the GPU here is NVIDIA H200, not A100 SXM4 40GB", "--bound", entry="A100 SXM4 40GB")
        self.refused("the GPU here is NVIDIA Q9", says=json.dumps(SAID | {"gpu": "NVIDIA Q9"}))
        self.refused("no GPU can be measured here: no CUDA-capable device", "leave --calibrate out",
                     says="no CUDA-capable device", code=1)
        self.refused("dram_read is 0.2", "something else was running", says=json.dumps(SAID | {"read": 960.0}))
        self.refused("latency_l1 is 400", "41", says=json.dumps(SAID | {"l1": 400.0}))

    def test_a_file_that_is_not_ours(self):
        self.kept.path.write_text("{", encoding="utf-8")
        with self.assertRaisesRegex(calibrate.Refused, "remove it"):
            self.kept.numbers("H200")


class Program(unittest.TestCase):
    def test_it_runs_and_finds_what_it_reads(self):
        for check in ([], ["--check"]):
            done = subprocess.run([GRADUS, "cuda", calibrate.SOURCE, *check, "--", "1", "1"], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = json.loads(done.stdout)
            self.assertEqual(said.keys(), SAID.keys())
            self.assertTrue(all(said[name] > 0 for name in ("l2", "l2_port", "shared", "l1", "l2_latency", "memory")))


if __name__ == "__main__":
    unittest.main()
