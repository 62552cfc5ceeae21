"""The ladders of kernels: every rung right on the emulator, nothing found by its check, and counted as it says itself.

With --write the counters that a run has are written into the rungs and into docs/ladders.md."""

import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SIMT = os.environ["GRADUS_SIMT"]
ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs/ladders.md"
GEMM = ROOT / "kernels/cuda/ladder"
ODD = {"reduction": ["100003"], "softmax": ["13", "1023"], "convolution": ["3", "9", "11", "5", "67"]}
# In every run; the others where time does not matter.
FEW = {"7_warp_tile", "10_async_stages", "12_wgmma", "2_tree", "4_registers"}
MOST_LINES = 120


def rungs():
    """Folder by folder, from the lowest."""
    folders = [GEMM] + [ROOT / "examples/ladders" / name for name in ODD]
    return [path for folder in folders
            for path in sorted(folder.glob("[0-9]*.cu"), key=lambda p: int(p.name.split("_")[0]))]


def built(path, folder):
    """A rung as a program that the emulator checks, of whose source it has nothing to say."""
    program = pathlib.Path(folder) / f"{path.parent.name}_{path.stem}"
    words = [GEMM / "program/main.cu", f"-I{ROOT}"] if path.parent == GEMM else []
    done = subprocess.run([SIMT, "--check", "-o", program, path, *words], capture_output=True, text=True, cwd=ROOT)
    if done.returncode or done.stderr:
        raise AssertionError(f"{path.name}: {done.stderr}")
    return program


def run(program, *words, **more):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=120, env={**os.environ, **more})


def counters(said):
    """The numbers of the one kernel in a table of counters."""
    rows = [line.split() for line in said.splitlines() if re.match(r"\w\S* +\d", line)]
    (_, _, _, barriers, shared, conflicts, requests, sectors, _, lanes), = rows
    return {"barriers": barriers, "shared": shared, "conflicts": conflicts, "global": requests, "sectors": sectors,
            "lanes": lanes}


def counted_line(c):
    return (f" * Counted   barriers {c['barriers']}; shared requests {c['shared']}, conflicts {c['conflicts']} each; "
            f"global requests {c['global']}, sectors {c['sectors']}; lanes {c['lanes']}\n")


def row_of(path, c):
    link = os.path.relpath(path, PAGE.parent)
    return f"| [{path.stem}]({link}) | " + " | ".join(c.values()) + " |"


def old_row(path):
    return re.search(rf"^\| \[{path.stem}\]\({re.escape(os.path.relpath(path, PAGE.parent))}\) .*$", PAGE.read_text(),
                     re.MULTILINE)


class Ladders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="gradus ladders ")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.rungs = [path for path in rungs() if "GRADUS_ALL_RUNGS" in os.environ or path.stem in FEW]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            cls.programs = dict(zip(cls.rungs, pool.map(lambda path: built(path, cls.folder.name), cls.rungs)))

    def test_counters_are_those_of_a_run(self):
        for path, program in self.programs.items():
            with self.subTest(path.stem):
                done = run(program, GRADUS_SIMT_COUNTERS="1")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"\b0 of \d+ results wrong")
                counted = counters(done.stderr)
                self.assertIn(counted_line(counted), path.read_text())
                self.assertEqual(old_row(path)[0], row_of(path, counted))

    def test_odd_sizes_in_any_order(self):
        for path, program in self.programs.items():
            with self.subTest(path.stem):
                done = run(program, *ODD.get(path.parent.name, []), GRADUS_SIMT_ORDER="random", GRADUS_SIMT_SEED="1")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"\b0 of \d+ results wrong")

    def test_a_rung_is_a_page(self):
        for path in rungs():
            with self.subTest(path.stem):
                text = path.read_text()
                self.assertLessEqual(len(text.splitlines()), MOST_LINES)
                first = "Idea" if path.stem.startswith("1_") else "Changed"
                self.assertRegex(text, rf"^/\*\n \* {path.name} - .*\n \*\n \* {first}  ")
                self.assertIn("\n * Counted   ", text)
                self.assertIsNotNone(old_row(path), "docs/ladders.md does not name it")

    def test_drawings_are_those_of_their_script(self):
        here = pathlib.Path(self.folder.name)
        subprocess.run([sys.executable, ROOT / "scripts/draw_fragments.py", here], check=True)
        for name in ("mma-fragments.svg", "swizzle.svg"):
            self.assertEqual((here / name).read_text(), (ROOT / "docs" / name).read_text())

    @unittest.skipUnless("GRADUS_ALL_RUNGS" in os.environ and shutil.which("nvcc"), "no nvcc, or not all rungs")
    def test_nvcc_takes_them(self):
        for path, gpu in itertools.product(self.rungs, ("sm_80", "sm_90a")):
            with self.subTest(path.stem, gpu=gpu):
                more = ["-DGR_GPU=cuda", f"-I{ROOT}"] if path.parent == GEMM else []
                subprocess.run(["nvcc", "-std=c++17", f"-arch={gpu}", "-ptx", *more, "-o", os.devnull, path],
                               check=True)

    def test_a_wrong_rung_is_found(self):
        """Without its barrier, and with a wrong sign."""
        text = (ROOT / "examples/ladders/reduction/4_shuffle.cu").read_text()
        here = pathlib.Path(self.folder.name)
        (here / "reduction").mkdir()
        for name in ("ladder.h", "reduction/reduction.h"):
            (here / name).write_text((ROOT / "examples/ladders" / name).read_text())
        slips = (("    __syncthreads();\n", "", 7, "race"), ("v += ", "v -= ", 1, "1 of 1 results wrong"))
        for line, wrong, code, told in slips:
            broken = here / "reduction" / "broken.cu"
            broken.write_text(text.replace(line, wrong))
            done = run(built(broken, here))
            self.assertEqual(done.returncode, code)
            self.assertIn(told, done.stdout + done.stderr)


def write():
    with tempfile.TemporaryDirectory() as folder:
        for path in rungs():
            counted = counters(run(built(path, folder), GRADUS_SIMT_COUNTERS="1").stderr)
            text = re.sub(r" \* Counted   .*\n", "", path.read_text())
            at = text.index(" * Measured  ") if " * Measured  " in text else text.index(" */")
            path.write_text(text[:at] + counted_line(counted) + text[at:])
            old = old_row(path)
            if old:
                page = PAGE.read_text()
                PAGE.write_text(page[:old.start()] + row_of(path, counted) + page[old.end():])


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        unittest.main()
