"""The pictures of gradus bench's rows. Skipped where there is no matplotlib."""

import json
import re
import subprocess
import sys
import unittest

from cli import Case
from test_plot import PYTHON, ROOT


def row(op, part, batch, ms, **more):
    return {"op": op, "case": f"{op}: a case", "pass": part, "precision": "fp32", "batch": batch, "ms": ms,
            "ms_quartile1": 0.9 * ms, "ms_quartile3": 1.2 * ms, "gflops": 10.0, "gbs": 5.0, "level": "L2",
            "ceiling_gflops": 180.0, "ceiling_read_gbs": 45.0, "processor": "a processor", "threads": 2,
            "device": "cpu", "date": "2026-11-22T00:00:00Z", **more}


class PlotBench(Case):
    def draw(self, *rows):
        (self.folder / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
        return subprocess.run([PYTHON, ROOT / "scripts/plot_bench.py", "rows.jsonl"], capture_output=True, text=True,
                              cwd=self.folder)

    def test_both_pictures(self):
        rows = [row("relu", part, batch, 0.1 * batch) for part in ("forward", "backward") for batch in (1, 4, 16)]
        rows += [row("dense", "forward", 4, 3, level="memory", ceiling_read_gbs=9.0), {"op": "dense", "skipped": "big"}]
        process = self.draw(*rows)
        self.assertEqual(process.returncode, 0, process.stderr)
        time, roofline = ((self.folder / f"rows-{name}.svg").read_text() for name in ("time", "roofline"))
        for svg in (time, roofline):
            for words in ("relu forward", "relu backward", "dense forward", "a processor, cpu, 2 threads, 2026-11-22",
                          "#0072b2", "#d55e00", "stroke-dasharray"):
                self.assertIn(words, svg)
        for words in ("batch size", "ms for a pass", "s for a sample", ">16<"):
            self.assertIn(words, time)
        for words in ("180 GFLOP/s", "L2 45 GB/s", "memory 9 GB/s"):
            self.assertIn(words, roofline)
        for name in ("time", "roofline"):
            self.assertTrue((self.folder / f"rows-{name}.png").read_bytes().startswith(b"\x89PNG"))

    def test_slopes_that_lie_close_together_share_a_label(self):
        levels = (("L1", 200.0), ("L2", 47.0), ("L3", 45.0), ("memory", 9.0))
        process = self.draw(*(row("relu", "forward", b, 1, level=level, ceiling_read_gbs=bandwidth)
                              for b, (level, bandwidth) in enumerate(levels, 1)))
        self.assertEqual(process.returncode, 0, process.stderr)
        texts = re.findall(r">([^<>]* GB/s)<", (self.folder / "rows-roofline.svg").read_text())
        self.assertEqual(texts, ["L1 200 GB/s", "L2 47 GB/s, L3 45 GB/s", "memory 9 GB/s"])

    def test_shapes_of_ones_own_are_series_of_their_own(self):
        own = [row("relu", "forward", batch, 1, case="a shape of your own", row=shape)
               for shape in ("x[N,8]", "x[N,16]") for batch in (1, 4)]
        process = self.draw(*own)
        self.assertEqual(process.returncode, 0, process.stderr)
        time = (self.folder / "rows-time.svg").read_text()
        for words in ("relu (x[N,8]) forward", "relu (x[N,16]) forward"):
            self.assertIn(words, time)

    def test_what_cannot_be_drawn(self):
        for rows, words in (([row("relu", "forward", b, 1, case=str(b)) for b in range(1, 16)], "told apart"),
                            ([{"op": "relu"}], "line 1"), ([{"skipped": "x"}], "nothing was measured")):
            process = self.draw(*rows)
            self.assertEqual(process.returncode, 1)
            self.assertIn(words, process.stderr)
            self.assertNotIn("Traceback", process.stderr)


if __name__ == "__main__":
    if not PYTHON:
        sys.exit(77)
    unittest.main()
