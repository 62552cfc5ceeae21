"""gradus puzzle: every solution passes, each wrong one is told what is wrong with it, the hole alone is not enough."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

GRADUS = os.environ["GRADUS"]
PUZZLES = pathlib.Path(__file__).parents[2] / "examples/puzzles"
ONLY = os.environ.get("GRADUS_PUZZLES", "").split()  # their numbers; none: all


def gradus(*words, cwd):
    return subprocess.run([GRADUS, *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=120)


class Puzzles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gradus puzzle ")
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)

    def puzzles(self):
        for path in sorted(PUZZLES.glob("[0-9]*_*")):
            number = int(path.name.split("_")[0])
            if not ONLY or str(number) in ONLY:
                yield number, path

    def test_solutions_pass_and_wrong_ones_are_told_apart(self):
        for number, path in self.puzzles():
            solutions = PUZZLES / "solutions" / path.name
            wrong = sorted(solutions.glob("wrong_*.cu"))
            self.assertEqual(len(wrong), 3)
            with self.subTest(path.name):
                done = gradus("puzzle", number, solutions / "solution.cu", cwd=self.here)
                self.assertEqual((done.returncode, done.stdout), (0, "solved\n"), done.stderr)
            for file in wrong:
                with self.subTest(f"{path.name} {file.name}"):
                    told = re.match(r"// told: (.*)", file.read_text())[1]
                    done = gradus("puzzle", number, file, cwd=self.here)
                    self.assertEqual(done.returncode, 7, done.stdout + done.stderr)
                    self.assertIn(told, done.stdout + done.stderr)

    def test_hole_is_written_and_is_not_enough(self):
        for number, path in self.puzzles():
            with self.subTest(path.name):
                first = gradus("puzzle", number, cwd=self.here)
                self.assertEqual(first.returncode, 0, first.stderr)
                self.assertTrue(first.stdout.startswith(f"# {number}. "))
                self.assertNotIn("Hint", first.stdout)
                self.assertEqual((self.here / f"{path.name}.cu").read_text(), (path / "puzzle.cu").read_text())
                second = gradus("puzzle", number, cwd=self.here)
                self.assertEqual(second.returncode, 7, second.stdout + second.stderr)
                self.assertIn("not yet", second.stdout)

    def test_pages(self):
        listed = gradus("puzzle", "--list", cwd=self.here).stdout.splitlines()
        self.assertEqual(len(listed), len(list(PUZZLES.glob("[0-9]*_*"))))
        for number, path in self.puzzles():
            hints = (path / "README.md").read_text().count("## Hint")
            self.assertGreater(hints, 1)
            self.assertIn("Hint", gradus("puzzle", number, "--hint", hints, cwd=self.here).stdout)
            self.assertEqual(gradus("puzzle", number, "--hint", hints + 1, cwd=self.here).returncode, 2)

    def test_mistakes_of_the_reader(self):
        self.assertEqual(gradus("puzzle", "99", cwd=self.here).returncode, 2)
        self.assertEqual(gradus("puzzle", 1, "nowhere.cu", cwd=self.here).returncode, 3)
        (self.here / "bad.cu").write_text("__global__ void map(float *y, const float *x)\n{\n    y = nothing;\n}\n")
        done = gradus("puzzle", 1, "bad.cu", cwd=self.here)
        self.assertEqual(done.returncode, 3)
        self.assertIn("bad.cu:3:", done.stderr)
        self.assertIn("bad.cu does not compile", done.stderr)
        done = gradus("puzzle", 1, "bad.cu", "--theatre", "./bad.cu", cwd=self.here)
        self.assertEqual(done.returncode, 2)
        self.assertIn("bad.cu is read and would be written over", done.stderr)
        self.assertIn("y = nothing;", (self.here / "bad.cu").read_text())
        done = gradus("puzzle", 1, "bad.cu", "--theatre", "nowhere/page.html", cwd=self.here)
        self.assertEqual((done.returncode, done.stdout), (5, ""))

    def test_what_is_found_is_in_the_reader_s_file(self):
        (self.here / "beyond.cu").write_text("""__global__ void map(float *y, const float *x)
{
    const int i = threadIdx.x + 1;
    y[i] = x[i] + 10;
}
""")
        done = gradus("puzzle", 1, "beyond.cu", cwd=self.here)
        self.assertEqual(done.returncode, 7)
        self.assertIn("out of bounds", done.stderr)
        self.assertIn("this access beyond.cu:4    y[i] = x[i] + 10;", done.stderr)


if __name__ == "__main__":
    unittest.main()
