#!/usr/bin/env python3
"""Follows docs/adding-an-operation.md in a copy of the tree: what it says to write is written, its rows pass on every
device; then a wrong formula, missing rows and a misspelt name are seen to be caught.

  test_adding.py BUILD      BUILD: a configured build folder that has made test_table (generator Ninja)

An operation at the end of the list changes no number of the others: so only what is changed or counts the list is
compiled again, by the commands of BUILD, and linked before its library.
"""
import importlib.util, json, os, pathlib, re, shlex, shutil, subprocess, sys, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/adding-an-operation.md"
GOLDEN = pathlib.Path(__file__).parent / "softplus.safetensors"  # of the page's rows, for machines without PyTorch
SOURCES = ["core", "kernels", "nn", "data", "amp", "optim", "tests/table", "tests/goldens", "scripts", "gradus.h"]
COUNTS = re.compile(r'GR_OP_COUNT|GRADUS_GOLDENS|"[\w/]*(?:ops|rows|passes)\.def"|notation\.h"')
BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None


def blocks():
    """(info, text) of the page's code blocks."""
    return re.findall(r"^```(\w+ [^\n]*)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def edits():
    """[(file, "before" or "after", mark, text)]"""
    found = []
    for info, text in blocks():
        words = dict(word.split("=", 1) for word in shlex.split(info)[1:])
        if "file" in words:
            place = "before" if "before" in words else "after"
            found.append((words["file"], place, words[place], text))
    return found


class Tree:
    """A copy of the sources and the objects that differ from BUILD's."""

    def __init__(self, folder):
        self.folder, self.objects = folder, {}
        for name in SOURCES:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        others = re.compile(r"/fuzz|CMakeFiles/(gradus_(tool|ptx)|test_(?!table\.dir)|\w+_checked\.dir)")
        self.commands = [c for c in commands if not others.search(c["command"])]

    def change(self, file, place, mark, text):
        path = self.folder / file
        content = path.read_text()
        assert content.count(mark) == 1, f"{file} has {content.count(mark)} times: {mark}"
        at = content.index(mark) + (content[content.index(mark):].index("\n") + 1 if place == "after" else 0)
        path.write_text(content[:at] + text + content[at:])

    def replace(self, file, right, wrong):
        path = self.folder / file
        content = path.read_text()
        assert right in content, f"{file} has no {right}"
        path.write_text(content.replace(right, wrong))

    def compile(self, changed):
        """Objects of the files that are among the changed or, for None, of all that must be new. What fails."""
        jobs = []
        for c in self.commands:
            source = pathlib.Path(c["file"])
            if not source.is_relative_to(ROOT) or source.is_relative_to(BUILD):
                continue
            name = source.relative_to(ROOT)
            if not (self.folder / name).exists():
                continue
            text = (self.folder / name).read_text(errors="replace")
            if str(name) not in changed and (changed != EDITED or not COUNTS.search(text)):
                continue
            here = lambda w: w.replace(str(ROOT), str(self.folder)) if w[:2] in ("-I", "-D") else w
            words = [here(w) for w in shlex.split(c["command"])]
            made = words[words.index("-o") + 1]
            new = self.folder / "objects" / made
            new.parent.mkdir(parents=True, exist_ok=True)
            words = [str(self.folder / name) if w == c["file"] else str(new) if w == made else w for w in words]
            jobs.append(([*words, "-O0"], c["directory"]))  # compiling takes longer than the few rows that are run
            self.objects[made] = new
        running, said = [], []
        for job in jobs + [None] * 2:
            if job:
                running.append(subprocess.Popen(job[0], cwd=job[1], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                                text=True))
            while running and (not job or len(running) >= (os.cpu_count() or 1)):
                p = running.pop(0)
                out = p.communicate()[0]
                said += [out] if p.returncode else []
        return "".join(said)

    def link(self):
        """The program, and what the linker says if there is none."""
        ask = ["ninja", "-C", str(BUILD), "-t", "commands", "tests/table/test_table"]
        lines = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.splitlines()
        command = next(line for line in reversed(lines) if " -o tests/table/test_table " in line)
        words = [w for w in shlex.split(command.split("&&")[1])]
        program = self.folder / "test_table"
        mine = [str(new) for made, new in self.objects.items() if made not in words]
        words = [str(self.objects[w]) if w in self.objects else w for w in words]
        words[words.index("tests/table/test_table")] = str(program)
        at = next(i for i, w in enumerate(words) if w.endswith("libgradus.a"))
        done = subprocess.run(words[:at] + mine + words[at:], cwd=BUILD, capture_output=True, text=True)
        return program, done.stderr if done.returncode else ""

    def run(self, *words):
        program = self.folder / "test_table"
        return subprocess.run([str(program), *words], capture_output=True, text=True)


EDITED = {file for file, _, _, _ in edits()}


class Adding(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.tree = Tree(pathlib.Path(cls.kept.name))
        for edit in edits():
            cls.tree.change(*edit)
        if all(importlib.util.find_spec(m) for m in ("torch", "safetensors")):
            subprocess.run([sys.executable, "scripts/make_goldens.py", "softplus"], cwd=cls.tree.folder, check=True)
        else:
            shutil.copy(GOLDEN, cls.tree.folder / "tests/goldens")
        cls.said = cls.tree.compile(EDITED) or cls.tree.link()[1]

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def test_as_the_page_says(self):
        self.assertEqual(self.said, "")
        done = self.tree.run("--op", "softplus")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("5 rows, 0 failures", done.stdout)
        self.assertEqual(self.tree.run("--op", "tanh", "--small").returncode, 0)  # the others are as they were

    def plant(self, file, right, wrong):
        """Compiles with a mistake in a file, which is taken back after the test; what compiler and linker say."""
        path, compiled = self.tree.folder / file, {"tests/table/main.c" if file.endswith(".def") else file}
        before = path.read_text()
        self.tree.replace(file, right, wrong)
        said = self.tree.compile(compiled) or self.tree.link()[1]
        path.write_text(before)
        self.addCleanup(self.tree.compile, compiled)
        return said

    def test_wrong_reference(self):
        self.assertEqual(self.plant("kernels/ref/elementwise.c", "dy * sigmoid_y(x);", "dy * sigmoid_y(-x);"), "")
        self.assertIn("golden", self.tree.run("--op", "softplus", "--device", "ref-f64").stdout)

    def test_wrong_kernel(self):
        """Written down naively it overflows, which the row of large numbers shows."""
        good, naive = "fmaxf(x, 0) + log1pf(expf(-fabsf(x)))", "log1pf(expf(x))"
        self.assertEqual(self.plant("kernels/cuda/elementwise.cu", good, naive), "")
        self.assertIn("softplus x[1031] scale[100]", self.tree.run("--op", "softplus", "--device", "simt").stdout)

    def test_wrong_limit(self):
        self.assertEqual(self.plant("kernels/ref/elementwise.c", "return fmax(x, 0)", "return x * 0 + fmax(x, 0)"), "")
        self.assertIn("at -inf and inf", self.tree.run("--op", "softplus").stdout)

    def test_no_rows(self):
        self.assertEqual(self.plant("tests/table/rows.def", '("softplus ', '("tanh draw[77] '), "")
        done = self.tree.run("--list")
        self.assertIn("FAIL softplus: no rows", done.stdout)
        self.assertNotEqual(done.returncode, 0)

    def test_misspelt_name(self):
        said = self.plant("kernels/ref/elementwise.c", "ELEMENTWISE(softplus,", "ELEMENTWISE(softplsu,")
        self.assertIn("softpls", said)


if __name__ == "__main__":
    unittest.main()
