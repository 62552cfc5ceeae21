"""gradus bench: every operation has a shape, figures make sense, what does not fit is left out."""

import json
import pathlib
import re
import unittest

from cli import Case

LIST = (pathlib.Path(__file__).parents[2] / "kernels/ops/ops.def").read_text()
OPS = re.findall(r"^GR_OP\((\w+), (\w+),", LIST, re.MULTILINE)
OPS += [(name, "DIFF") for name in re.findall(r"^GR_UNARY\((\w+),", LIST, re.MULTILINE)]
KEYS = (
    "op case shapes batch pass device isa precision threads version ceiling_gflops ceiling_read_gbs "
    "ceiling_copy_gbs repeats ms ms_quartile1 ms_quartile3 gflops flops_share gbs memory_share error checked_samples"
).split()


class List(Case):
    def test_every_operation_has_a_shape(self):
        cases = {}
        for line in self.gradus("bench", "--list").out.splitlines():
            if line.startswith(" "):
                cases[name].append(line)
            else:
                name = line
                cases[name] = []
        self.assertEqual(set(cases), {name for name, _ in OPS})
        missing = [name for name in cases if not any("[" in line for line in cases[name])]
        self.assertEqual(missing, [], "add a case for each to its entry in kernels/ops/ops.def")

    def test_of_some(self):
        self.assertEqual(self.gradus("bench", "relu", "--list").out.splitlines()[0], "relu")
        self.assertNotIn("conv2d", self.gradus("bench", "relu", "--list").out)


class Figures(Case):
    def rows(self, *words, **more):
        return [
            json.loads(line)
            for line in self.gradus("bench", "--seconds", 0.01, *words, "--json", **more).out.splitlines()
        ]

    def test_rows(self):
        rows = self.rows("max_pool2d", "relu", "--batch", "1,6", "--threads", 1)
        cases = {row["case"] for row in rows if row["op"] == "max_pool2d"}
        self.assertEqual([(row["op"], row["batch"], row["pass"]) for row in rows],
                         [(op, batch, p) for op, n in (("max_pool2d", len(cases)), ("relu", 1)) for _ in range(n)
                          for batch in (1, 6) for p in ("forward", "backward")])
        for row in rows:
            self.assertEqual(list(row), KEYS)
            self.assertTrue(0 < row["ms_quartile1"] <= row["ms"] <= row["ms_quartile3"])
            self.assertGreaterEqual(row["repeats"], 3)
            self.assertLessEqual(row["error"], 1e-4)
            self.assertAlmostEqual(row["gflops"] / row["ceiling_gflops"] / row["flops_share"], 1, places=6)
            self.assertEqual((row["device"], row["precision"], row["threads"]), ("cpu", "fp32", 1))

    def test_bytes_and_operations_are_counted(self):
        forward, backward = self.rows("relu", "--batch", 3)
        count = 3 * 32 * 32 * 64
        self.assertAlmostEqual(forward["gbs"] * 1e6 * forward["ms"], 4 * 2 * count, delta=1)  # x, y
        self.assertAlmostEqual(backward["gbs"] * 1e6 * backward["ms"], 4 * 3 * count, delta=1)  # y, dY, dX
        update, = self.rows("sgd_step")  # p twice, g once
        self.assertAlmostEqual(update["gbs"] * 1e6 * update["ms"] / (4 * 3 * 11173962), 1, places=6)

    def test_large_batches_repeat_what_was_checked(self):
        row = self.rows("conv2d", "--batch", 4)[0]
        self.assertEqual(row["shapes"], "x[N,32,32,64] w[64,3,3,64]")
        self.assertEqual(row["checked_samples"], 2)
        self.assertAlmostEqual(row["gflops"] * 1e6 * row["ms"] / (2 * 4 * 32 * 32 * 64 * 64 * 9), 1, places=6)
        self.assertAlmostEqual(row["gbs"] * 1e6 * row["ms"], 4 * (2 * 4 * 32 * 32 * 64 + 64 * 64 * 9), delta=1)

    def test_every_operation(self):
        """What they compute is compared with the reference by the command itself."""
        rows = self.rows(*(op for op, _ in OPS if op not in LARGE), "--batch", 1)
        seen = {(row["op"], row["pass"]) for row in rows}
        for op, kind in OPS:
            passes = {"DIFF": ["forward", "backward"], "PURE": ["forward"], "UPDATE": ["update"]}[kind]
            expected = {(op, p) for p in passes} - NO_KERNEL
            self.assertTrue(op in LARGE or expected <= seen, f"{expected - seen} was not measured")

    def test_forced_instruction_set(self):
        self.assertEqual({row["isa"] for row in self.rows("max_pool2d", "--batch", 3, GRADUS_CPU="plain")}, {"plain"})

    def test_reference_device(self):
        rows = self.rows("relu", "accuracy", "--batch", 2, "--device", "ref")
        self.assertEqual({(row["device"], row["threads"], row["error"]) for row in rows}, {("ref", 1, 0)})

    def test_table(self):
        text = self.gradus("bench", "relu", "sgd_step", "--batch", "2,16", "--seconds", 0.05).out
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertRegex(text, r"GFLOP/s with operands in registers")
        self.assertRegex(text, r"\n +2 forward +\d")
        self.assertRegex(text, r"\n +16 backward +\d")
        self.assertRegex(text, r"\n +- update +\d")


LARGE = {"dense", "dense_sgd", "dense_adam"}  # 40 million weights
NO_KERNEL = {("flatten", "forward"), ("reshape", "forward")}  # the same storage, nothing is computed


class Counters(Case):
    def test_only_the_build_that_checks_counts(self):
        self.refused(2, "bench", "relu", "--batch", 1, "--device", "simt", "--counters", names=["cmake --preset check"])
        self.refused(2, "bench", "gemm", "--ladder", "--device", "simt", names=["--ladder", "cmake --preset check"])

    def test_the_ladder_needs_cuda_kernels(self):
        self.refused(2, "bench", "gemm", "--ladder", names=["--ladder", "cpu", "--device cuda"])

    def test_the_ladder_has_shapes_of_its_own(self):
        for words in ([], ["relu"], ["gemm", "relu"], ["gemm", "--batch", 4]):
            with self.subTest(words):
                self.refused(2, "bench", *words, "--ladder", names=["--ladder", "gradus bench gemm --ladder"])


class Refusals(Case):
    def test_what_does_not_fit_is_left_out(self):
        result = self.gradus("bench", "relu", "--batch", "1,1024", "--memory-limit", "16M")
        self.assertRegex(result.out, r"\n +1 forward")
        self.assertRegex(result.out, r"\n +1024 left out: it needs [\d.]+ GiB, 16.0 MiB are allowed")
        rows = self.gradus("bench", "relu", "--batch", 1024, "--memory-limit", "16M", "--json").out.splitlines()
        self.assertIn("left out", json.loads(rows[0])["skipped"])

    def test_bad_input(self):
        for words, names in ((["conv2"], ["conv2d", "did you mean", "--list"]), (["xyzzy"], ["xyzzy"]),
                             (["relu", "--batch", "4,x"], ["--batch", "x"]), (["relu", "--batch", "4,"], ["--batch"]),
                             (["relu", "--batch", "0"], ["--batch"]), (["relu", "--device", "gpu"], ["--device"]),
                             (["relu", "--batch", ",".join(["1"] * 33)], ["more than 32"])):
            with self.subTest(words):
                self.refused(2, "bench", *words, names=names)


if __name__ == "__main__":
    unittest.main()
