"""docs/adding-an-optimizer.md, followed word for word in a copy of the tool: an optimizer is one entry."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from cli import GRADUS, Case

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = os.environ.get("CC", "cc")


class NewOptimizer(Case):
    def build(self):
        """The tool with the page's two pieces of C in its table, beside the library that is under test."""
        code, entry = re.findall(r"```c\n(.*?)```", (ROOT / "docs/adding-an-optimizer.md").read_text(), re.S)
        tool = self.folder / "tool"
        shutil.copytree(ROOT / "examples/gradus", tool)
        table = tool / "settings/optimizers.c"
        text = table.read_text()
        text = text.replace("/* --- the table", code + "\n/* --- the table")
        table.write_text(text.replace("    {.name = NULL}", entry + "    {.name = NULL}"))
        library = pathlib.Path(GRADUS).parent
        sources = [str(p) for p in tool.rglob("*.c") if "bench" not in p.parts and not re.match("mpi_[cp]", p.name)]
        main = tool / "commands.c"
        main.write_text(re.sub(r"&bench_\w*command,", "", main.read_text()))
        words = [
            COMPILER, "-std=c17", "-D_GNU_SOURCE", "-O0", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", f"-I{tool}",
            *os.environ["GRADUS_CFLAGS"].split(), *sources, "-o", "new", f"-L{library}", "-lgradus",
            f"-Wl,-rpath,{library}", "-ljansson", "-lm", "-ldl"
        ]
        process = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(process.returncode, 0, process.stderr)

    def new(self, *words, expect=0):
        process = subprocess.run([self.folder / "new", *map(str, words)], capture_output=True, text=True,
                                 cwd=self.folder, env=self.environment)
        self.assertEqual(process.returncode, expect, process.stderr)
        return process

    def test_one_entry_is_all(self):
        self.build()
        run = ["train", "keras-mlp", "--updates", 5, "--json", "--no-evaluation"]
        rows = [json.loads(self.new(*run, "--optimizer", *more).stdout)
                for more in (["adam"], ["samadam"], ["samadam", "--samadam-rho", 0.5])]
        self.assertEqual([row["samadam_rho"] for row in rows], [None, 0.05, 0.5])
        self.assertEqual([row["lr"] for row in rows], [0.001] * 3)
        self.assertEqual(len({row["train_loss"] for row in rows}), 3)
        self.assertIn("--samadam-rho is for samadam; sgd does not take it",
                      self.new(*run, "--optimizer", "sgd", "--samadam-rho", 1, expect=2).stderr)
        self.assertIn("of samadam; default: 0.05", " ".join(self.new("train", "--help").stdout.split()))
        self.assertIn("samadam (adam, sharpness-aware)", " ".join(self.new("train", "--help").stdout.split()))
        for page in (self.new("man", "sweep"), self.new("completion", "bash")):
            self.assertIn("samadam", page.stdout)
        grid = ["sweep", "keras-mlp", "--batch", 10, "--updates", 2, "--seeds", 1, "--out", "o", "--optimizer"]
        self.new(*grid, "adam,samadam", "--samadam-rho", 0.2)
        self.assertEqual([(row["optimizer"], row["samadam_rho"]) for row in self.read_table("o")],
                         [("adam", ""), ("samadam", "0.2")])
        self.assertIn("samadam-rho was 0.2, now it is 0.3",
                      self.new(*grid, "adam,samadam", "--samadam-rho", 0.3, expect=2).stderr)
        looks = json.loads((self.folder / "o/sweep.json").read_text())["optimizers"]["samadam"]
        self.assertEqual(looks, {"label": "SAM-Adam", "colour": "#000000"})


if __name__ == "__main__":
    if not shutil.which(COMPILER):
        sys.exit(77)
    unittest.main()
