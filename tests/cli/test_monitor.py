"""gradus monitor: the command is left as it is, and what it takes is what it says itself."""

import csv
import json
import os
import signal
import subprocess
import sys
import unittest

from cli import GRADUS, Case

MIB = 1 << 20
# A program that fills 64 MiB and works for half a second of processor time, then tells how much it was.
BUSY = """
import time
held = bytearray(b"x" * (64 << 20))
while time.process_time() < 0.5:
    pass
print(time.process_time())
"""


class Monitor(Case):
    def monitor(self, *words, expect=0):
        result = self.gradus("monitor", "--every", "0.05", "--csv", "u.csv", "--json", "u.json", "--", *words,
                             expect=expect)
        with open(self.folder / "u.csv", newline="") as f:
            return result, json.loads((self.folder / "u.json").read_text()), list(csv.DictReader(f))

    def test_streams_and_exit_code_are_the_commands(self):
        result = self.gradus("monitor", "--", "sh", "-c", "echo out; echo err >&2; exit 7", expect=7)
        self.assertEqual(result.out, "out\n")
        self.assertTrue(result.err.startswith("err\n"))
        process = subprocess.run([GRADUS, "monitor", "--", "cat"], input="through\n", capture_output=True, text=True)
        self.assertEqual((process.returncode, process.stdout), (0, "through\n"))
        self.gradus("monitor", "--", "sh", "-c", "kill -9 $$", expect=128 + 9)
        self.assertIn("no-such-program", self.gradus("monitor", "--", "no-such-program", expect=127).err)

    def test_what_a_program_takes(self):
        """The processes that it starts count too: a shell does nothing itself."""
        result, found, rows = self.monitor("sh", "-c", f"{sys.executable} -c '{BUSY}'; true")
        told = float(result.out)
        self.assertAlmostEqual(found["cpu_seconds"], told, delta=0.15)
        self.assertAlmostEqual(found["cores_mean"] * found["seconds"], found["cpu_seconds"], places=6)
        self.assertGreater(found["largest_process_bytes"], 64 * MIB)
        self.assertLess(found["largest_process_bytes"], 200 * MIB)
        self.assertGreaterEqual(found["minor_faults"], 64 * MIB // 4096 // 600)  # pages of 2 MiB, at worst
        self.assertEqual((found["exit_code"], found["samples"]), (0, len(rows)))
        self.assertGreater(len(rows), 3)
        self.assertEqual(max(int(r["processes"]) for r in rows), 2)
        self.assertGreater(found["rss_bytes_most"], 64 * MIB)
        for row in rows:
            self.assertLessEqual(int(row["pss_bytes"] or 0), int(row["rss_bytes"]))
        work = sum((float(b["seconds"]) - float(a["seconds"])) * float(b["cores"]) for a, b in zip(rows, rows[1:]))
        self.assertAlmostEqual(work, told, delta=0.25)
        self.assertLessEqual(max(map(len, result.err.splitlines())), 80)
        for words in ("page", "PSS", "by the clock", "largest process"):
            self.assertIn(words, result.err)

    def test_signals_are_passed_on(self):
        for number, code in ((signal.SIGTERM, 3), (signal.SIGUSR1, 4)):
            process = self.start("monitor", "--", "sh", "-c",
                                 "trap 'exit 3' TERM; trap 'exit 4' USR1; echo ready; while :; do sleep 0.05; done")
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(number)
            _, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, code)
            self.assertIn("by the clock", err)

    @unittest.skipUnless("FAKE_NVML" in os.environ, "NVIDIA's library is played by one that the build makes")
    def test_fields_of_a_gpu(self):
        words = ["monitor", "--every", 0.05, "--csv", "u.csv", "--json", "u.json", "--query-gpu",
                 "clocks.sm,temperature.gpu,utilization.gpu,memory.used,fan.speed,pstate", "--", "sleep", 0.4]
        told = self.gradus(*words, LD_LIBRARY_PATH=os.environ["FAKE_NVML"])
        found = json.loads((self.folder / "u.json").read_text())["query_gpu"]
        with open(self.folder / "u.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertGreater(len(rows), 2)
        self.assertEqual({(r["clocks.sm [MHz]"], r["temperature.gpu [C]"], r["fan.speed [%]"], r["pstate"])
                          for r in rows}, {("1001", "40", "", "")})  # a fan that is not there, a function likewise
        used = [float(r["utilization.gpu [%]"]) for r in rows]
        self.assertEqual(found["utilization.gpu"]["most"], max(used))
        self.assertAlmostEqual(found["utilization.gpu"]["mean"], sum(used) / len(used))
        self.assertEqual(found["clocks.sm"], {"unit": "MHz", "mean": 1001, "most": 1001})
        self.assertEqual(found["fan.speed"], {"unit": "%", "mean": None, "most": None})
        self.assertAlmostEqual(found["memory.used"]["most"] * MIB, 1000, delta=100)
        text = " ".join(told.err.split())
        self.assertIn("1001 MHz clocks.sm, clock of the multiprocessors: mean of", text)
        self.assertLessEqual(max(map(len, told.err.splitlines())), 80)
        self.refused(2, "monitor", "--query-gpu", "utilization.gpu", "--", "touch", "began", leaves=self.files(),
                     names=["no GPU 1"], LD_LIBRARY_PATH=os.environ["FAKE_NVML"], GRADUS_GPU="1")

    def test_refusals(self):
        self.refused(2, "monitor", "--query-gpu", "utilisation.gpu", "--", "touch", "began",
                     names=["did you mean utilization.gpu?", "clocks.sm"])
        self.refused(2, "monitor", "--query-gpu", ",", "--", "touch", "began", names=["which fields?"])
        self.refused(2, "monitor", names=["which command?"])
        for word in ("first", "1x", "-1"):
            self.refused(2, "monitor", "--", "touch", "began", names=[f'GRADUS_GPU is "{word}"'], GRADUS_GPU=word)
        self.refused(2, "monitor", "--", names=["which command?"])
        self.refused(2, "monitor", "sleep", "1", names=["sleep"])
        self.refused(2, "monitor", "--every", "0", "--", "true", names=["--every"])
        self.refused(5, "monitor", "--csv", "no/u.csv", "--", "touch", "began", names=["no/u.csv"])
        self.refused(2, "monitor", "--json", "u", "--csv", "./u", "--", "touch", "began", names=["two outputs"])
        self.refused(5, "monitor", "--json", "no/u.json", "--", "touch", "began", names=["no/u.json"])


if __name__ == "__main__":
    unittest.main()
