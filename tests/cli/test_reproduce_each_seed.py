"""gradus reproduce: experiments that give other commands than sweep for each seed, run as trials. Takes a minute."""

import json
import re
import unittest

from cli import Case


class EachSeed(Case):
    def test_a_command_for_each_seed(self):
        """Profiles of drawn pictures: a trial, run once and no more."""
        words = ["reproduce", "profiler", "--procedural", "--seeds", 1, "--out", "out", "--threads", 2]
        text = self.gradus(*words).out
        self.assertIn("A TRIAL", text)
        self.assertRegex(re.sub(r"\s+", " ", text), r"one seed six updates tell the share of the convolutions")
        row = json.loads((self.folder / "out/profiler/rows.jsonl").read_text())
        self.assertEqual((row["updates"], row["seed"], row["threads"], row["trial"]), (6, 1, 2, True))
        self.assertAlmostEqual(row["convolutions"], sum(o["share"] for o in row["operations"] if "conv2d" in o["op"]))
        self.assertTrue((self.folder / "out/profiler/seed-1/trace.json").is_file())
        before = (self.folder / "out/profiler/rows.jsonl").read_bytes()
        self.gradus(*words)
        self.assertEqual((self.folder / "out/profiler/rows.jsonl").read_bytes(), before)
        (self.folder / "out/profiler/rows.jsonl").write_bytes(before[:-len(before) // 3])  # killed as it wrote
        self.assertNotIn("run again", self.gradus(*words, "--verdict").err)
        self.assertIn("out/profiler: 1 run, 1 to run", self.gradus(*words, "--dry-run").out)
        self.assertIn("cut short when its writer was killed; its seed runs again", self.gradus(*words).err)
        row, = map(json.loads, (self.folder / "out/profiler/rows.jsonl").read_text().splitlines())
        self.assertEqual(row["seed"], 1)
        self.assertIn("out/profiler: 2 runs, 1 to run", self.gradus(*words[:3], "--seeds", 2, "--out", "out",
                                                                    "--dry-run").out)

    def test_minima(self):
        """Weights kept by one arm are what another looks at."""
        words = ["reproduce", "minima", "--procedural", "--updates", 2, "--seeds", 1, "--out", "out"]
        text = re.sub(r"\s+", " ", self.gradus(*words).out)
        self.assertIn("A TRIAL", text)
        self.assertIn("one seed the loss rises more around the weights of batches of 1024", text)
        small, large = (json.loads((self.folder / f"out/minima-{name}/rows.jsonl").read_text())
                        for name in ("small", "large"))
        line = json.loads((self.folder / "out/minima-line/rows.jsonl").read_text())
        for end, row in zip(line["rows"], (small, large)):
            self.assertAlmostEqual(end["test_loss"], row["test_loss"], places=6)
        self.assertEqual((small["updates"], small["batch"], large["batch"]), (2, 32, 1024))
        self.assertTrue((self.folder / "out/minima-line/seed-1/landscape.csv").is_file())


if __name__ == "__main__":
    unittest.main()
