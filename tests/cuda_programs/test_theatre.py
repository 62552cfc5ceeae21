"""gradus theatre: what the page holds of a block, request by request; and, where there is
a Node.js or a Chromium, where the page puts it and that it plays."""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

GRADUS = os.environ["GRADUS"]
SIMT = os.environ["GRADUS_SIMT"]
HERE = pathlib.Path(__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NODE = shutil.which("node")
ALL = 2**32 - 1

# four_ways: 32 sectors are read, put into every fourth bank, and half of that is written side by side
SCATTERED = """\
x: sectors of 32 bytes, lanes in their words
     + 0   0  .  .  .  .  .  .  .  1  .  .  .  .  .  .  .   2  .  .  .  .  .  .  .  3  .  .  .  .  .  .  .
   + 128   4  .  .  .  .  .  .  .  5  .  .  .  .  .  .  .   6  .  .  .  .  .  .  .  7  .  .  .  .  .  .  .
   + 256   8  .  .  .  .  .  .  .  9  .  .  .  .  .  .  .  10  .  .  .  .  .  .  .  11 .  .  .  .  .  .  .
   + 384  12  .  .  .  .  .  .  .  13 .  .  .  .  .  .  .  14  .  .  .  .  .  .  .  15 .  .  .  .  .  .  .
   + 512  16  .  .  .  .  .  .  .  17 .  .  .  .  .  .  .  18  .  .  .  .  .  .  .  19 .  .  .  .  .  .  .
   + 640  20  .  .  .  .  .  .  .  21 .  .  .  .  .  .  .  22  .  .  .  .  .  .  .  23 .  .  .  .  .  .  .
   + 768  24  .  .  .  .  .  .  .  25 .  .  .  .  .  .  .  26  .  .  .  .  .  .  .  27 .  .  .  .  .  .  .
   + 896  28  .  .  .  .  .  .  .  29 .  .  .  .  .  .  .  30  .  .  .  .  .  .  .  31 .  .  .  .  .  .  .
"""
CONFLICT = """\
tile: banks 0-31, lanes in their turns
        0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
turn 1  0  .  .  .  1  .  .  .  2  .  .  .  3  .  .  .  4  .  .  .  5  .  .  .  6  .  .  .  7  .  .  .
turn 2  8  .  .  .  9  .  .  . 10  .  .  . 11  .  .  . 12  .  .  . 13  .  .  . 14  .  .  . 15  .  .  .
turn 3 16  .  .  . 17  .  .  . 18  .  .  . 19  .  .  . 20  .  .  . 21  .  .  . 22  .  .  . 23  .  .  .
turn 4 24  .  .  . 25  .  .  . 26  .  .  . 27  .  .  . 28  .  .  . 29  .  .  . 30  .  .  . 31  .  .  .
"""
TOGETHER = """\
y: sectors of 32 bytes, lanes in their words
     + 0   0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .
"""
FOUR_WAYS = """\
timeline
gc|cg
"""

# uneven: a warp that reads less often waits longer
WAITING = """\
how many steps each warp waited here
   #      #      #
 w0: 3  w1: 2  w2: 1  w3: 0
"""
ONE_WORD = """\
y: sectors of 32 bytes, lanes in their words
     + 0  ×4  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .   .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .
"""
UNEVEN = """\
timeline
gmmmmms---|sa
ggmmmmms--|
gggmmmmms-|
ggggmmmmms|
"""


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S)[1])


class Theatre(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="gradus theatre "))
        for name in ("theatre.cu", "race_missing_barrier.cu"):
            shutil.copy(HERE / "programs" / name, cls.folder)
        subprocess.run([SIMT, "--check", "-o", "program", "theatre.cu"], check=True, cwd=cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def gradus(self, *words, expect=0, **more):
        done = subprocess.run([GRADUS, *words], capture_output=True, text=True, cwd=self.folder, timeout=120,
                              env={**os.environ, **more})
        self.assertEqual(done.returncode, expect, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def show(self, *words, program="./program", expect=0):
        self.gradus("theatre", program, *words, "--out", "page.html", expect=expect)
        return data_of(self.folder / "page.html")

    def refused(self, *words, program="./program", expect=2):
        said = self.gradus("theatre", program, *words, "--out", "none.html", expect=expect).stderr
        self.assertFalse((self.folder / "none.html").exists())
        return said


class Recording(Theatre):
    def test_known_requests(self):
        """A bank conflict of four, a sector for each lane; half of the lanes behind the barrier."""
        data = self.show()
        self.assertEqual(data["scene"]["kernel"], "four_ways")
        self.assertEqual((data["scene"]["grid"], data["scene"]["block"], data["scene"]["index"]),
                         ([1, 1, 1], [32, 1, 1], [0, 0, 0]))
        names = [o[0] for o in data["objects"]]
        lines = [site for file, site in data["sites"] if file == "theatre.cu"]
        events = [(e[0], lines[e[2]], *e[3:7], names[e[7]], *e[8:]) if e[0] in "gs" else (e[0], e[1], lines[e[2]], e[3])
                  for e in data["events"]]
        x, y = (f"the memory of the cudaMalloc at theatre.cu:{line}" for line in (33, 34))
        self.assertEqual(events, [
            ("g", 7, ALL, "r", 4, 32, x, 0, 32),
            ("s", 7, ALL, "w", 4, 3, "tile", 0, 16),
            ("b", 1, 8, 0),
            ("s", 10, 0xFFFF, "r", 4, 1, "tile", 0, 16),
            ("g", 10, 0xFFFF, "w", 4, 2, y, 0, 4)])
        self.assertEqual([o[1] for o in data["objects"]], [4096, 512, 4096])
        self.assertEqual(data["end"], {"left_out": 0, "fault": None, "where": None})
        self.assertEqual(data["sources"]["theatre.cu"], (HERE / "programs/theatre.cu").read_text())

    def test_the_same_sums_as_counters(self):
        """Both blocks of uneven<2> together, of all kinds."""
        said = self.gradus("cuda", "theatre.cu", "--counters").stderr
        row = next(line.split() for line in said.splitlines() if line.startswith("uneven<2>"))
        barriers, shared, _, requests, sectors = (float(word) for word in row[3:8])
        events = [e for y in (0, 1) for e in self.show("--kernel", "uneven<2>", "--block", f"0,{y}")["events"]]
        kinds = [e[0] for e in events]
        self.assertEqual((kinds.count("b"), kinds.count("s"), kinds.count("g")), (barriers, shared, requests))
        self.assertEqual(sum(e[6] for e in events if e[0] == "g"), sectors)
        self.assertEqual(kinds.count("c"), 2 * 4 * 5)  # blocks, warps, shuffles
        self.assertEqual([e[4] for e in events if e[0] == "g" and e[4] == "a"], ["a", "a"])

    def test_order_of_a_warp(self):
        """Reads, shuffles, the write, the barrier; warp 3 reads four times."""
        data = self.show("--kernel", "uneven", "--launch", "2")
        self.assertEqual(data["scene"]["kernel"], "uneven<2>")
        kinds = ["".join(e[0] for e in data["events"] if e[0] == "b" or e[1] == w) for w in (0, 3)]
        self.assertEqual(kinds, ["gcccccsbsg", "ggggcccccsb"])
        self.assertEqual(next(e[1] for e in data["events"] if e[0] == "b"), 0b1111)

    def test_limit(self):
        """Each warp keeps its share, and what was left out is said."""
        data = self.show("--kernel", "uneven", "--limit", "12")
        self.assertEqual([[e[1] for e in data["events"]].count(w) for w in range(4)], [3, 3, 3, 3])
        self.assertEqual(data["end"]["left_out"], 4 * 6 + 10 - 12 + 1)  # the barrier, too
        whole = len(self.show("--kernel", "uneven")["events"])
        self.assertEqual(self.show("--kernel", "uneven", "--limit", str(whole))["end"]["left_out"], 0)

    def test_one_name_for_a_file(self):
        """However it was named: accesses and barriers are of one file, and a buffer is known by its variable."""
        named = f"../{self.folder.name}/theatre.cu"
        data = self.show(program=named)
        self.assertEqual({file for file, _ in data["sites"]}, {"theatre.cu"})
        self.assertEqual(data["objects"][0][0], "the memory of the cudaMalloc at theatre.cu:33")

    def test_a_fault_ends_the_page(self):
        data = self.show(program="race_missing_barrier.cu", expect=7)
        self.assertTrue(data["end"]["fault"].startswith("race: write after read"))
        self.assertIn("; this access race_missing_barrier.cu:5;", data["end"]["fault"])
        self.assertIn("thread 32: running", data["end"]["where"])

    def test_no_text_ends_the_script(self):
        self.show()
        page = (self.folder / "page.html").read_text()
        self.assertEqual(page.count("</script>"), 2)
        self.assertNotIn("@DATA@", page)
        self.assertNotRegex(page, r"https?://(?!www\.w3\.org/2000/svg)")


class Examples(Theatre):
    EXAMPLES = HERE.parent.parent / "examples/theatre"

    def sums(self, data):
        return [sum(e[6] for e in data["events"] if e[0] == space) for space in "gs"]

    def test_bank_conflicts(self):
        program = str(self.EXAMPLES / "bank_conflicts.cu")
        self.assertEqual(self.sums(self.show("--kernel", "transpose<32>", program=program)), [256, 32 * 31])
        self.assertEqual(self.sums(self.show("--kernel", "transpose<33>", program=program)), [256, 0])

    def test_waiting(self):
        data = self.show(program=str(self.EXAMPLES / "waiting.cu"))
        reads = [[e[6] for e in data["events"] if e[0] == "g" and e[3] == ALL and e[1] == w] for w in range(8)]
        self.assertEqual(reads, [[4] * (2 * w + 1) if w != 2 else [32] * 5 for w in range(8)])

    def test_a_rung_of_the_ladder(self):
        root = self.EXAMPLES.parent.parent
        data = self.show(str(root / "kernels/cuda/ladder/program/main.cu"), "--include", str(root),
                         program=str(root / "kernels/cuda/ladder/2_coalesced.cu"))
        self.assertEqual(self.sums(data), [32 * (128 * (1 + 4) + 4), 0])


class Refusals(Theatre):
    def test_what_is_not_there(self):
        self.assertIn('no kernel "nowhere" was launched; there were: four_ways, uneven<1>, uneven<2>',
                      self.refused("--kernel", "nowhere"))
        self.assertIn("block (1,0,0) is not in the grid (1,2,1) of uneven<1>",
                      self.refused("--kernel", "uneven", "--block", "1"))
        self.assertIn("four_ways was launched 1 time, not 2", self.refused("--kernel", "four_ways", "--launch", "2"))
        self.assertIn("--block takes one to three numbers", self.refused("--block", "1,x"))
        self.assertIn("which program?", self.gradus("theatre", expect=2).stderr)

    def test_a_program_that_is_not_checked(self):
        (self.folder / "plain.cu").write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
        subprocess.run([SIMT, "-o", "plain", "plain.cu"], check=True, cwd=self.folder)
        self.assertIn("gradus-simt --check", self.refused(program="./plain"))

    def test_a_source_is_not_written_over(self):
        before = (self.folder / "theatre.cu").read_text()
        done = self.gradus("theatre", "theatre.cu", "--out", "./theatre.cu", expect=2)
        self.assertIn("theatre.cu is read and would be written over", done.stderr)
        self.assertEqual((self.folder / "theatre.cu").read_text(), before)

    def test_an_unwritable_page(self):
        self.gradus("theatre", "./program", "--out", "nowhere/page.html", expect=5)


@unittest.skipUnless(NODE, "no node")
class Picture(Theatre):
    def picture(self, step, warp=0):
        return subprocess.run([NODE, HERE / "theatre_picture.js", "page.html", str(step), str(warp)], check=True,
                              capture_output=True, text=True, cwd=self.folder, timeout=60).stdout

    def test_lanes_in_sectors_and_banks(self):
        self.show()
        for step, drawn in ((1, SCATTERED), (2, CONFLICT), (5, TOGETHER)):
            self.assertEqual(self.picture(step), drawn + FOUR_WAYS)

    def test_warps_beside_each_other(self):
        """At the barrier, before it and behind the last step; four lanes that add to one word."""
        self.show("--kernel", "uneven<2>")
        for step, warp in ((11, 0), (9, 0), (11, 3)):
            self.assertEqual(self.picture(step, warp), WAITING + UNEVEN)
        self.assertEqual(self.picture(12, 3), UNEVEN)
        self.assertEqual(self.picture(13), ONE_WORD + UNEVEN)


@unittest.skipUnless(CHROMIUM, "no chromium")
class Browser(Theatre):
    def play(self, width):
        """What the probe saw; console messages are mistakes."""
        page = self.folder / "played.html"
        text = (self.folder / "page.html").read_text()
        probe = (HERE / "theatre_probe.js").read_text()
        page.write_text(text.replace("</body>", f"<script>{probe}</script></body>"))
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                                   f"--user-data-dir={profile}", f"--window-size={width},800", "--dump-dom",
                                   page.as_uri()], capture_output=True, text=True, timeout=60)
        self.assertNotIn("CONSOLE", done.stderr)
        self.assertIn('id="probe"', done.stdout)
        return json.loads(html.unescape(re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)[1]))

    def test_playing(self):
        self.show("--kernel", "uneven")
        home, second, barrier, end, below, back, slid, playing = self.play(1280)
        self.assertEqual([s["step"] for s in (home, second, barrier, end)],
                         [f"step {n} of 13" for n in (1, 2, 11, 13)])
        self.assertEqual((home["line"], second["line"], barrier["line"]), ("20", "22", "25"))
        self.assertEqual(home["caption"], "Warp 0 reads 4 bytes a lane from x in global memory; all 32 lanes. "
                                          "4 sectors: 128 bytes move, 128 of them wanted (100 %).")
        self.assertIn("meets in shuffle", second["caption"])
        self.assertIn("warps 0-3 have come", barrier["caption"])
        self.assertEqual((home["lanes"], end["lanes"], below["lanes"]), (32, 4, 0))
        self.assertIn("changes 4 bytes a lane of y", end["caption"])
        self.assertEqual(below["caption"], "Warp 1 is through.")
        self.assertIn("Warp 1 reads", back["caption"])
        self.assertEqual((slid["step"], slid["line"]), ("step 3 of 13", "22"))
        self.assertGreater(home["drawn"], 32)
        self.assertEqual(playing["step"], slid["step"])
        self.assertFalse(any(s["overflow"] for s in (home, barrier, end)))


if __name__ == "__main__":
    unittest.main()
