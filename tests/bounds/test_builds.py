"""What build files say to nvcc: which of them counts for a file, what of it counts, and that the compiler is told."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from bounds import builds, compiler, rows, tools  # noqa: E402

FAST = ("--use_fast_math",)


class Builds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)

    def options(self, files, source="src/k.cu", notes=""):
        """Those of a source file in a tree of these files, each a name with its text."""
        for name, text in (files | {source: ""}).items():
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_text(text)
        return builds.options(self.tree, self.tree / source, notes)

    def test_forms(self):
        for text, wanted in (("nvcc -O3 -use_fast_math", FAST), ("NVCCFLAGS += --use-fast-math", FAST),
                             ("nvcc --ftz=true --prec-div false", ("--ftz=true", "--prec-div=false")),
                             ('"-Xptxas -dlcm=cg"', ("-Xptxas=-dlcm=cg",)), ("-DX--use_fast_math", ()),
                             ("nvcc -maxrregcount=128", ("--maxrregcount=128",)), ("cicc -ftz=0", ()),
                             ("nvcc -maxrregcount 64 a\nnvcc --maxrregcount=32 b", ()),
                             ("nvcc -use_fast_math a\nnvcc -use_fast_math b", FAST)):
            self.assertEqual(builds.read(text), wanted, text)

    def test_the_nearest_folder_counts(self):
        self.assertEqual(self.options({"Makefile": "nvcc --use_fast_math"}), FAST)
        self.assertEqual(self.options({"src/CMakeLists.txt": "add_library(k k.cu)"}), FAST)
        self.assertEqual(self.options({"src/load.py": "load(extra_cuda_cflags=['-O3'])"}), ())

    def test_a_build_file_counts_for_more_than_what_is_told(self):
        self.assertEqual(self.options({"Makefile": "NVCC_FLAGS = -DNDEBUG --use_fast_math"}), FAST)
        self.assertEqual(self.options({"README.md": "`nvcc --use_fast_math k.cu`"}), FAST)
        self.assertEqual(self.options({"Makefile": "all:\n\tnvcc k.cu\n"}), ())

    def test_what_a_row_says_counts_first(self):
        self.assertEqual(self.options({"Makefile": "nvcc -O3 k.cu"}, notes="built with --use_fast_math"), FAST)

    def test_prose_is_no_call(self):
        self.assertEqual(self.options({"README.md": "Never try --use_fast_math.\n"}), ())

    def test_the_call_for_the_file(self):
        calls = "nvcc -O3 \\\n  --use_fast_math k.cu\nnvcc -maxrregcount=32 j.cu\n"
        self.assertEqual(self.options({"make.sh": calls}), FAST)
        self.assertEqual(self.options({"make.sh": calls}, "j.cu"), ("--maxrregcount=32",))
        self.assertEqual(self.options({"make.sh": calls}, "jk.cu"), ("--use_fast_math", "--maxrregcount=32"))

    def test_what_is_no_option_of_the_build(self):
        for text in ("# nvcc --use_fast_math", "FLAGS = -O3 # not --use_fast_math", "debug: nvcc --use_fast_math",
                     'set(CMAKE_CUDA_FLAGS_DEBUG "--use_fast_math")'):
            self.assertEqual(self.options({"Makefile": text}), (), text)

    def test_what_cmake_has_off(self):
        text = ('option(FAST "fast (not for debuggers)" OFF)\noption(BIG "big" ON)\nif (FAST AND NOT BIG)\n'
                "  if (X)\n    a()\n  endif()\n  flags(--use_fast_math)\nendif()\n")
        self.assertEqual(self.options({"CMakeLists.txt": text}), ())
        self.assertEqual(self.options({"CMakeLists.txt": text.replace("OFF", "ON")}), FAST)
        self.assertEqual(self.options({"CMakeLists.txt": text.replace("flags", "else()\nflags")}), FAST)
        self.assertEqual(self.options({"CMakeLists.txt": text.replace("FAST AND", "NOT FAST AND")}), FAST)


class Compiled(unittest.TestCase):
    def test_the_compiler_is_told(self):
        """A division in floats: one instruction of many when it must be right, few when it may be fast."""
        try:
            tools.find("nvcc")
        except tools.Missing as missing:
            self.skipTest(str(missing))
        with tempfile.TemporaryDirectory() as scratch:
            source = pathlib.Path(scratch) / "k.cu"
            source.write_text("__global__ void k(float *a) { a[0] /= a[1]; }\n")
            sizes = [compiler.compile_file(compiler.Unit(source, (), options), "sm_80", None,
                                           pathlib.Path(scratch) / str(len(options))).stat().st_size
                     for options in ((), FAST)]
            self.assertGreater(sizes[0], sizes[1])
            with self.assertRaises(rows.Unclear):
                compiler.compile_file(compiler.Unit(source, (), ("--no-such-option",)), "sm_80", None,
                                      pathlib.Path(scratch) / "wrong")


if __name__ == "__main__":
    unittest.main()
