"""gradus bench: every operation has a shape, figures make sense, what does not fit is left out."""

import csv
import json
import pathlib
import re
import statistics
import sys
import unittest

from cli import GRADUS, Case

LIST = (pathlib.Path(__file__).parents[2] / "kernels/ops/ops.def").read_text()
OPS = re.findall(r"^GR_OP\((\w+), (\w+),", LIST, re.MULTILINE)
OPS += [(name, "DIFF") for name in re.findall(r"^GR_UNARY\((\w+),", LIST, re.MULTILINE)]
KEYS = (
    "op case row shapes batch pass device isa precision threads caches pinned version commit compiler host processor "
    "date load process rounds repeats ms ms_quartile1 ms_quartile3 noise gflops flops_share gbs memory_share level "
    "touched_bytes ceiling_gflops ceiling_read_gbs ceiling_copy_gbs error checked_samples samples_ns limits_mega"
).split()
OWN = "x[N,9,9,5] w[7,3,3,5] b[7] same relu"  # a shape that no recipe has


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


class RowsCase(Case):
    def rows(self, *words, **more):
        return [
            json.loads(line)
            for line in self.gradus("bench", "--seconds", 0.01, *words, "--json", **more).out.splitlines()
        ]


class Figures(RowsCase):
    def test_rows(self):
        rows = self.rows("max_pool2d", "relu", "--batch", "1,6", "--threads", 1)
        cases = {row["case"] for row in rows if row["op"] == "max_pool2d"}
        self.assertEqual([(row["op"], row["batch"], row["pass"]) for row in rows],
                         [(op, batch, p) for op, n in (("max_pool2d", len(cases)), ("relu", 1)) for _ in range(n)
                          for batch in (1, 6) for p in ("forward", "backward")])
        for row in rows:
            self.assertEqual(list(row), KEYS)
            self.assertTrue(0 < row["ms_quartile1"] <= row["ms_quartile3"])
            medians = [statistics.median(samples) for samples in row["samples_ns"]]
            self.assertAlmostEqual(row["ms"], 1e-6 * statistics.median(medians), delta=2e-6)
            self.assertEqual(len(row["limits_mega"]), row["rounds"])
            self.assertEqual(row["ceiling_read_gbs"] // 1e-3, max(limit[1] for limit in row["limits_mega"]))
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

    def test_rounding_turns_no_relu_round(self):
        """At 32 samples the layer goes Winograd's way on the device cpu: sums of quarters are no longer exact."""
        rows = self.rows("conv2d", "--case", "third layer", "--batch", 32)
        self.assertEqual([r["pass"] for r in rows], ["forward", "backward"])

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
        self.assertRegex(text, r"\n +2 forward +\d")
        self.assertRegex(text, r"\n +16 backward +\d")
        self.assertRegex(text, r"\n +- update +\d")


LARGE = {"dense", "dense_sgd", "dense_adam"}  # 40 million weights
NO_KERNEL = {("flatten", "forward"), ("reshape", "forward")}  # the same storage, nothing is computed


class Shapes(RowsCase):
    def test_a_shape_of_ones_own(self):
        forward, backward = self.rows("conv2d", "--shape", OWN, "--batch", "3")
        self.assertEqual((forward["row"], forward["case"], forward["batch"]), (OWN, "a shape of your own", 3))
        self.assertAlmostEqual(forward["gflops"] * 1e6 * forward["ms"], 3 * 9 * 9 * 7 * (2 * 5 * 9 + 1), delta=1)
        self.assertEqual(forward["touched_bytes"],  # x, w, b with their gradients, y with its own
                         4 * 2 * (3 * 9 * 9 * 5 + 7 * 9 * 5 + 7 + 3 * 9 * 9 * 7))

    def test_tables_name_the_row_with_its_options(self):
        words = ["bench", "conv2d", "--shape", OWN, "--batch", 1, "--threads", 1, "--seconds", 0.05]
        for more in ([], ["--against", GRADUS]):
            self.assertIn(f"\nconv2d: a shape of your own\n{OWN}\n", self.gradus(*words, *more).out)
        long = "x[N,9,9,5] w[7,3,3,5] b[7] stride[1,1] pad[1,1,1,1]" + " relu" * 7
        text = self.gradus(*words[:3], long, *words[4:]).out
        self.assertIn(long, text.replace("\n  ", " "))
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_passes(self):
        flops = {}
        for name in ("forward", "backward", "dx", "dw"):
            row, = self.rows("conv2d", "--shape", OWN, "--batch", "2", "--pass", name)
            self.assertEqual(row["pass"], name)
            flops[name] = row["gflops"] * row["ms"]
        self.assertAlmostEqual((flops["dx"] + flops["dw"]) / flops["backward"], 1, delta=0.05)
        self.assertEqual({row["pass"] for row in self.rows("sgd_step", "--pass", "update")}, {"update"})
        self.refused(2, "bench", "sgd_step", "--pass", "dx", names=["no case"])

    def test_cases_by_their_words(self):
        text = self.gradus("bench", "conv2d", "--case", "STEM", "--list").out.splitlines()
        self.assertEqual(len(text), 2)
        self.assertIn("stride[2,2]", text[1])

    def test_halves(self):
        """A variable's gradient is of floats, though the variable was rounded: dense once wrote it as halves."""
        for precision in ("fp16", "bf16"):
            for op in ("conv2d", "dense", "softmax_cross_entropy"):
                rows = self.rows(op, "--case", "cifar10", "--batch", 6, "--precision", precision)
                self.assertEqual({row["precision"] for row in rows}, {precision})

    def test_activations_are_halves_as_in_a_network(self):
        """Two bytes for x, y and their gradients, four for w, b and theirs; in fp32 relu would touch twice as much."""
        x, w, b, y = 3 * 9 * 9 * 5, 7 * 9 * 5, 7, 3 * 9 * 9 * 7
        for precision in ("fp16", "bf16"):
            words = ["--batch", 3, "--precision", precision]
            touched = {part: self.rows("conv2d", "--shape", OWN, *words, "--pass", part)[0]["touched_bytes"]
                       for part in ("backward", "dx", "dw")}
            self.assertEqual(touched, {"backward": 2 * 2 * (x + y) + 4 * 2 * (w + b),
                                       "dx": 2 * 2 * (x + y) + 4 * (w + b),
                                       "dw": 2 * (x + 2 * y) + 4 * 2 * (w + b)})
            pictures = self.rows("conv2d", "--shape", f"{OWN} no_dx", *words)[-1]
            self.assertEqual(pictures["touched_bytes"], 2 * (x + 2 * y) + 4 * 2 * (w + b))
            forward, backward = self.rows("relu", *words)
            count = 3 * 32 * 32 * 64
            self.assertEqual(forward["touched_bytes"], 2 * 4 * count)
            self.assertAlmostEqual(forward["gbs"] * 1e6 * forward["ms"], 2 * 2 * count, delta=1)
            self.assertAlmostEqual(backward["gbs"] * 1e6 * backward["ms"], 2 * 3 * count, delta=1)

    def test_cold_and_pinned(self):
        def quickest(row):  # the median is that of a busy machine's wake-ups
            return min(map(min, row["samples_ns"]))

        rows = self.rows("relu", "--batch", 1, "--cold", "--pin")
        self.assertEqual({(row["caches"], row["level"], row["pinned"]) for row in rows}, {("cold", "memory", True)})
        warm = self.rows("relu", "--batch", 1)
        self.assertLess(quickest(warm[0]), quickest(rows[0]))

    def test_what_is_no_shape(self):
        for shape, names in (("x[N,9,9,5", ["x[N,9,9,5", "NAME[NUMBER"]), ("x[N,9,9,5]", ["needs w[...]"]),
                             ("w[7,3,3,5] x[N,9,9,5]", ["begin with x"]), (OWN + " x[1]", ["twice"]),
                             ("x[N,0,9,5] w[7,3,3,5]", ["size 2 is 0"]), ("x[nan] w[1]", ["nan"]),
                             ("x[1e9,1e9,1,1] w[1]", ["elements"]), ("x[1,2,3,4,5] w[1]", ["1 to 4"]),
                             ("x[1,2,3,4,5,6,7,8,9] w[1]", ["no word"]), ("x[N,N,9,5] w[7,3,3,5]", ["stands first"]),
                             (OWN + " strid[2,2]", ["strid", "stride"]), (OWN + " stride[2]", ["stride", "--list"]),
                             (OWN + " stride[1.5,1]", ["whole"]), (OWN + " pad[1e99,1,1,1]", ["1e+99"]),
                             (OWN + " \x1b[31m", ["letter"]), ("x" * 201, ["longer"]),
                             ("relu" * 10, ["no word"])):
            with self.subTest(shape):
                self.refused(2, "bench", "conv2d", "--shape", shape, names=["--shape", *names])
        self.refused(2, "bench", "conv2d", "relu", "--shape", OWN, names=["one operation"])
        self.refused(2, "bench", "--shape", OWN, names=["one operation"])

    def test_shapes_that_do_not_fit_each_other(self):
        result = self.gradus("bench", "conv2d", "--shape", "x[N,9,9,5] w[7,3,3,4]", "--batch", 1, expect=2)
        self.assertIn("the filters have 4 channels", result.out)


class Comparisons(RowsCase):
    def write(self, name, rows):
        (self.folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    def verdicts(self, *words):
        return [json.loads(line) for line in self.gradus("bench", *words, "--json").out.splitlines()]

    def drawn(self, factor):
        """Two lines of twelve rounds with a noise of 1 %, this much slower than others."""
        row = self.rows("relu", "--batch", 1, "--pass", "forward")[0]
        noise = [1 + 0.01 * ((7 * i) % 12 - 5.5) / 3.5 for i in range(12)]
        limits = [[100000, 100000, 100000]] * 12
        return [{**row, "batch": batch, "limits_mega": limits,
                 "samples_ns": [[round(1e6 * f * x)] * 3 for x in noise]} for batch, f in ((1, 1), (2, factor))]

    def test_files(self):
        self.write("a", self.drawn(1))
        self.write("b", self.drawn(1.1))
        self.assertEqual([v["verdict"] for v in self.verdicts("--compare", "a,a")], ["undecided", "undecided"])
        same, slower = self.verdicts("--compare", "a,b")
        self.assertEqual((same["verdict"], slower["verdict"]), ("undecided", "slower"))
        self.assertAlmostEqual(slower["ratio"], 1.1, places=3)
        self.assertTrue(1 < slower["ratio_low_99"] < 1.1 < slower["ratio_high_99"])
        self.assertEqual(self.verdicts("--compare", "b,a")[1]["verdict"], "faster")
        text = self.gradus("bench", "--compare", "a,b").out
        self.assertIn("1 slower, 0 faster, 1 undecided", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_a_machine_that_changed(self):
        """The limits beside the samples fell by as much as the operation: nothing is said of it."""
        self.write("a", self.drawn(1))
        self.write("b", [{**row, "limits_mega": [[90909, 90909, 90909]] * 12} for row in self.drawn(1.1)])
        self.assertEqual({v["verdict"] for v in self.verdicts("--compare", "a,b")}, {"undecided"})

    def test_several_processes(self):
        """Processes are what is counted where there are enough: 3 % is then found."""
        self.write("a", [row for i in range(5) for row in self.drawn(1 + 0.001 * i)])
        self.write("b", [row for i in range(5) for row in self.drawn(1.03 + 0.001 * i)])
        same, slower = self.verdicts("--compare", "a,b")
        self.assertEqual((same["verdict"], slower["verdict"], slower["rounds"]), ("undecided", "slower", [5, 5]))

    def test_now_against_a_file(self):
        rows = self.rows("relu", "--batch", 1)
        self.write("a", [{**row, "samples_ns": [[100 * x for x in r] for r in row["samples_ns"]]} for row in rows])
        found = self.verdicts("relu", "--batch", 1, "--seconds", 0.3, "--compare", "a")
        self.assertEqual([v["pass"] for v in found], ["forward", "backward"])
        self.assertLess(found[0]["ratio"], 0.1)

    def test_against_itself(self):
        """One interval in twenty lies off by chance, and more on a busy machine: five goes at most."""
        undecided, goes = set(), 0
        while len(undecided) < 2 and goes < 5:
            found = self.verdicts("relu", "--batch", 1, "--threads", 1, "--seconds", 0.1, "--against", GRADUS)
            self.assertEqual([(v["pass"], v["rounds"]) for v in found], [("forward", [6, 6]), ("backward", [6, 6])])
            undecided |= {v["pass"] for v in found if v["verdict"] == "undecided"}
            goes += 1
        self.assertEqual(undecided, {"forward", "backward"})
        self.refused(5, "bench", "relu", "--batch", 1, "--against", "/nowhere/gradus", names=["/nowhere/gradus"])
        self.refused(2, "bench", "relu", "--batch", 1, "--memory-limit", "1K", "--against", GRADUS,
                     names=["relu at batch size 1 is left out: it needs", "nothing was compared"])

    def against_torch(self, *more, expect=0, mistake="", python=sys.executable, stand_in=True):
        """Of a ReLU, beside a module that stands in for PyTorch."""
        self.environment.update(PYTHON=python, STAND_IN=mistake)
        if stand_in:
            self.environment["PYTHONPATH"] = str(pathlib.Path(__file__).parent / "torch_stand_in")
        return self.gradus("bench", "relu", "--shape", "x[N,24]", "--batch", "2,3", "--threads", 1, "--seconds", 0.1,
                           "--noise", 50, "--against", "torch", "--json", *more, expect=expect)

    def test_against_torch(self):
        found = [json.loads(line) for line in self.against_torch().out.splitlines()]
        self.assertEqual([(v["batch"], v["pass"], v["sides"]) for v in found],
                         [(n, name, ["PyTorch", "gradus"]) for n in (2, 3) for name in ("forward", "backward")])
        for v in found:  # plain Python takes longer
            self.assertEqual(v["verdict"], "faster")
            self.assertGreater(v["before_ms"], v["after_ms"])

    def test_numbers_that_differ_from_torch_s(self):
        for mistake, told in (("result", "the result differs from PyTorch's"),
                              ("gradient", "the gradient of x differs from PyTorch's")):
            done = self.against_torch(expect=7, mistake=mistake)
            self.assertIn(told, done.err)
            self.assertEqual(done.out, "")

    def test_no_room_for_torch(self):
        told = self.against_torch("--memory-limit", "1K", expect=2).err
        self.assertEqual(told.count("is left out: both sides need"), 2)
        self.assertIn("nothing was compared", told)
        self.assertNotIn("PYTHON", told)

    def test_without_torch(self):
        self.assertIn("set PYTHON", self.against_torch(expect=2, python="/nowhere/python").err)
        (self.folder / "torch.py").write_text("import nothing_of_this_name")
        self.environment["PYTHONPATH"] = str(self.folder)
        told = self.against_torch(expect=2, stand_in=False).err
        self.assertRegex(told, "cannot import it.* set PYTHON")
        self.assertNotIn("left out", told)  # it is looked for once, and not for every case
        self.refused(2, "bench", "relu", "--against", "torch", "--device", "ref", names=["cpu"])

    def test_no_rows(self):
        (self.folder / "empty").write_text("")
        (self.folder / "other").write_text('{"op": "relu"}\n')
        self.refused(3, "bench", "--compare", "empty,empty", names=["empty", "--json"])
        self.refused(3, "bench", "--compare", "other,other", names=["other, line 1"])
        self.refused(3, "bench", "relu", "--compare", "nowhere", names=["nowhere"])

    def test_csv(self):
        self.rows("relu", "--batch", 1, "--csv", "rows.csv")
        with open(self.folder / "rows.csv", newline="") as f:
            forward, backward = csv.DictReader(f)
        self.assertEqual((forward["op"], backward["pass"], forward["shapes"]), ("relu", "backward", "x[N,32,32,64]"))
        self.assertGreater(float(backward["ms"]), 0)
        self.assertNotIn("samples_ns", forward)
        self.refused(5, "bench", "relu", "--batch", 1, "--csv", "no/rows.csv", names=["no/rows.csv", "make its folder"])


class Bounds(Case):
    def test_what_can_be_told_without_a_compiler(self):
        for words, says in ((["--batch", "16,0"], '"0" is no whole number'),
                            (["--batch", "x"], '"x" is no whole number'),
                            (["--recipe", "cats"], 'no recipe "cats"')):
            self.refused(2, "bench", "--bound", "a100", *words, names=[says])
        self.refused(2, "bench", "relu", "--calibrate", names=["--calibrate is of --bound"])
        for gpus in ("a100,", ",a100", "t4,,a100"):
            self.refused(2, "bench", "--bound", gpus, names=[f'"{gpus}" has a GPU without a name'])


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


class Memory(Case):
    RUN = ["bench", "memory", "cifar10-cnn", "--batch", "8,16", "--rounds", "2", "--seconds", "0.01"]
    METHODS = ["planned", "caching", "malloc", "no-reuse"]

    def test_rows(self):
        rows = [json.loads(line) for line in self.gradus(*self.RUN, "--precision", "bf16", "--json").out.splitlines()]
        self.assertEqual([(r["batch"], r["method"]) for r in rows], [(b, m) for b in (8, 16) for m in self.METHODS])
        for n in 0, 4:
            planned, caching, malloc, fresh = of_batch = rows[n:n + 4]
            self.assertEqual({r["loss"] for r in of_batch}, {planned["loss"]})
            self.assertEqual({r["persistent_bytes"] for r in of_batch}, {planned["persistent_bytes"]})
            self.assertEqual(planned["ratio"], 1)
            self.assertTrue(all(len(r["times"]) == 2 and min(r["times"]) > 0 for r in of_batch))
            # in the steady state the system is asked for nothing, but where each tensor asks it
            self.assertEqual([r["from_system"] for r in of_batch], [0, 0, malloc["requests"], 0])
            self.assertEqual({r["requests"] for r in of_batch[1:]}, {malloc["requests"]})
            self.assertGreater(malloc["requests"], 10)
            # the plan needs what is in use at a time, and a little for what does not fit together
            self.assertLessEqual(malloc["step_bytes"], planned["step_bytes"])
            self.assertLess(planned["step_bytes"], 1.1 * malloc["step_bytes"])
            self.assertEqual(malloc["step_bytes"], caching["step_bytes"])
            if planned["peak_bytes"] is not None:
                self.assertGreater(fresh["peak_bytes"], planned["peak_bytes"])
        self.assertEqual(rows[0]["precision"], "bf16")

    def test_for_people(self):
        text = self.gradus(*self.RUN[:3], "--batch", "4", "--rounds", "1", "--seconds", "0.01").out
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        for words in (*self.METHODS, "peak MiB", "page faults", "same bits"):
            self.assertIn(words, text)

    def test_refusals(self):
        self.refused(2, "bench", "memory", names=["which recipe?"])
        self.refused(2, "bench", "memory", "cifar10-cnn", "--batch", "4,x", names=["--batch", "4,x"])
        self.refused(2, "bench", "memory", "cifar10-cnn", "--precision", "fp64", names=["fp64"])


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
