"""Sources: formatted as .clang-format says (where clang-format 14 is here), lines of at most 120 columns."""

import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = "core kernels nn data optim amp examples tests scripts cmake".split()
VERSION = 14  # Debian 12's; others break lines elsewhere
FORMATTED = (".c", ".h")
SOURCES = (".c", ".h", ".cu", ".cuh", ".cmake", ".py", ".sh", "CMakeLists.txt")
LONG = {  # files, or folders of files, whose lines may be longer, and why
    "tests/trajectory/optimizers.h": "numbers made by a script",
    "kernels/simt/language.h": "macros side by side, as CUDA's words stand",
}
UNFORMATTED = {
    "tests/trajectory/optimizers.h": "made by a script",
    "kernels/simt/language.h": "macros side by side, as CUDA's words stand",
    "kernels/simt/cuda/": "C++, in the style of CUDA's headers",
}


def excepted(name, exceptions):
    return any(name == path or path.endswith("/") and name.startswith(path) for path in exceptions)


def sources(endings):
    """Files of the house by their paths, without what a build left in them."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.name.endswith(endings) and path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path
    for path in sorted(ROOT.glob("*")):
        if path.is_file() and path.name.endswith(endings):
            yield path.name, path


def clang_format():
    """Its program, in the version that the sources are formatted by; None without."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        program = shutil.which(name)
        if program:
            said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", said):
                return program
    return None


class Style(unittest.TestCase):
    def test_lines_are_at_most_120_columns(self):
        wrong = [f"{name}:{n}: {len(line)} columns" for name, path in sources(SOURCES) if not excepted(name, LONG)
                 for n, line in enumerate(path.read_text().splitlines(), 1) if len(line) > 120]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_exceptions_are_of_files_that_are_there(self):
        self.assertEqual([path for path in {**LONG, **UNFORMATTED} if not (ROOT / path).exists()], [])

    def test_sources_are_formatted(self):
        program = clang_format()
        if not program:
            self.skipTest(f"no clang-format {VERSION} here: the format is not checked")
        paths = [str(path) for name, path in sources(FORMATTED) if not excepted(name, UNFORMATTED)]
        process = subprocess.run([program, "--dry-run", "-Werror", *paths], capture_output=True, text=True, cwd=ROOT)
        self.assertEqual(process.returncode, 0, process.stderr[:4000])


if __name__ == "__main__":
    unittest.main()
