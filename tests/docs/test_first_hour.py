"""docs/first-hour.md as a new user would: its commands in a copy of the sources, its kernel put into the hole."""

import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import tempfile
import unittest

import pages

PAGE = pages.ROOT / "docs/first-hour.md"
PROCESSOR_SECONDS = 120  # a minute on the two cores that the page builds with


class FirstHour(unittest.TestCase):
    def run_command(self, command):
        done = subprocess.run(shlex.split(command), cwd=self.folder, capture_output=True, text=True, timeout=1200,
                              env={**os.environ, "CCACHE_DISABLE": "1"})
        self.assertIn(done.returncode, (0, 7), f"{command}\n{done.stderr}")
        return done

    def test_from_the_sources_to_solved(self):
        text = PAGE.read_text()
        kernel, = [block for language, block in pages.blocks(text) if language == "cuda"]
        with tempfile.TemporaryDirectory() as folder:
            self.folder = pathlib.Path(folder) / "gradus"
            shutil.copytree(pages.ROOT, self.folder, ignore=shutil.ignore_patterns("build", ".git", "datasets"))
            *first, last = pages.commands(text)
            for command in first:
                said = self.run_command(command).stdout
            self.assertIn("# 1. One thread for each element", said)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.assertLess(used.ru_utime + used.ru_stime, PROCESSOR_SECONDS)
            hole = self.folder / "01_map.cu"
            hole.write_text(re.sub(r" *// your code here\n", kernel, hole.read_text()))
            self.assertEqual(self.run_command(last).stdout, "solved\n")


if __name__ == "__main__":
    unittest.main()
