"""What gradus bench claims of two builds: nothing of one beside itself, and of one that is 3 % slower that it is.

How well a difference is seen depends on the machine's noise, whether one is invented must not. So a build beside itself
is judged on any machine; 3 % that stay undecided are a failure only where the interval says that they could be seen.
COMPARISONS (20) and SECONDS (15, for each of two lines) make a run by hand shorter.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

GRADUS, SLOWED = os.environ["GRADUS"], os.environ["SLOWED"]
COMPARISONS, SECONDS = int(os.environ.get("COMPARISONS", 20)), os.environ.get("SECONDS", "15")
LINES = ["relu", "--batch", "1,16", "--pass", "forward", "--threads", "1"]
SLOWER, SEEN = 1.03, 0.01  # an interval of at most 1 % to either side does not hold 1 where the ratio is 1.03


def bench(program, *words):
    done = subprocess.run([program, "bench", *words, "--json"], capture_output=True, text=True, check=True)
    return done.stdout


def told(text):
    lines = [json.loads(line) for line in text.splitlines()]
    for v in lines:
        print(f"    batch {v['batch']}: {v['ratio']:.4f}, {v['ratio_low_99']:.4f} to {v['ratio_high_99']:.4f}, "
              f"{v['verdict']}", flush=True)
    return lines


class Verdicts(unittest.TestCase):
    def at_most_one_claim(self, comparisons):
        claims = sum(any(v["verdict"] != "undecided" for v in told(text)) for text in comparisons)
        print(f"  {claims} of {COMPARISONS} comparisons claimed a difference", flush=True)
        self.assertLessEqual(claims, 1)

    def test_in_turns(self):
        self.at_most_one_claim(bench(GRADUS, *LINES, "--seconds", SECONDS, "--against", GRADUS)
                               for _ in range(COMPARISONS))

    def test_one_after_the_other(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / f"{i}.jsonl" for i in range(COMPARISONS + 1)]
            for file in files:
                file.write_text(bench(GRADUS, *LINES, "--seconds", SECONDS))
            self.at_most_one_claim(bench(GRADUS, "--compare", f"{a},{b}") for a, b in zip(files, files[1:]))

    def test_three_percent_are_found(self):
        words = ["relu", "--batch", "16", "--pass", "forward", "--threads", "1", "--noise", "0.5"]
        for seconds in (15, 60, 180):
            v, = told(bench(SLOWED, *words, "--seconds", str(seconds), "--against", GRADUS))
            self.assertNotEqual(v["verdict"], "faster")
            self.assertTrue(v["ratio_low_99"] <= SLOWER <= v["ratio_high_99"] or abs(v["ratio"] - SLOWER) < SEEN)
            if v["verdict"] == "slower":
                return
            self.assertGreater((v["ratio_high_99"] - v["ratio_low_99"]) / 2, SEEN, "it could have been found")
        self.skipTest("the machine is too busy to see 3 % in three minutes")


if __name__ == "__main__":
    unittest.main()
