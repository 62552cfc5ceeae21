"""A training step told: none of its launches is lost, each has its grid and its parameters, and the sums add up.

    GRADUS=PATH [PADDING=kept] python3 test_step.py

GRADUS is the tool, with the device simt. PADDING=kept: its compiler, as clang 14, cannot clear what lies between the
members of a struct, so equal parameters may have other bytes there. What nvcc makes of our kernels is told where it and
cuobjdump are found.
"""

import collections
import dataclasses
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from bounds import arguments, errors, here, kernels, ladder, launches, maps, measured, ours  # noqa: E402
from bounds import plans, rows, step, store, tell, tools  # noqa: E402

GRADUS = os.environ["GRADUS"]
PADDING_KEPT = os.environ.get("PADDING") == "kept"
BATCH = 4
TRAIN = [GRADUS, "train", "cifar10-cnn", "--procedural", "--device", "simt", "--no-evaluation"]


def missing(*names):
    try:
        for name in names:
            tools.find(name)
    except tools.Missing as lacking:
        return str(lacking)
    return None


def told_on_h100(found):
    """What the machine says of a launch."""
    with tempfile.TemporaryDirectory() as folder:
        stores = [store.Store(folder, name) for name in ("compiled", "told")]
        teller = step.Teller("h100", tell.build_machine(folder), *stores, ours.digest())
        return teller.answer(teller.code.kernels([found])[found.kernel], found)


def launch(kernel="relu(float*)", grid=(2, 1, 1), parameters=b""):
    return launches.Launch(kernel, "elementwise.cu", grid, (256, 1, 1), 0, parameters)


def line(kernel, count, told, floor, reason=""):
    return step.Line(kernel, kernel, (1, 1, 1), (32, 1, 1), count, floor, told, told / 2, told * 2, "DRAM", reason)


class Reading(unittest.TestCase):
    def test_addresses_are_buffers(self):
        given = struct.pack("<QqQQ", 0x7F0000001010, 5, 0x7F0000002020, 0x7F0000001010)
        first, count, second, again = struct.unpack("<QqQQ", launches.own_buffers(given, [0, 16, 24]))
        self.assertEqual((first, count, again), (arguments.BUFFER + 0x10, 5, first))
        self.assertEqual(second, arguments.BUFFER + (64 << 30) + 0x20)

    def test_the_second_update(self):
        one = [launch(), launch(), launch("sum(float*)", (7, 1, 1))]
        before, once = [launch("augment(float*)", (9, 1, 1))] * 3, [launch("lookahead(float*)", (2, 1, 1))]
        self.assertEqual(launches.second_update(one, one + one), one)
        self.assertEqual(launches.second_update(before + one + once, before + one + once + one), one)
        for lost in ([], one, [*one[:-1], launch("sum(float*)", (8, 1, 1))] + one):
            with self.assertRaises(launches.Refused):
                launches.second_update(one, lost)

    def emulated(self, tensor, *more):
        """A tensor map as the emulator has it, with what follows it in its parameter."""
        box = maps.EMULATED.pack(tensor, 8, 16, 16, 64, 1, 8, 16, 64, 1, 2, 2, 1, 4, maps.MAGIC)
        return box + b"".join(struct.pack("<q", each) for each in more)

    def test_tensor_maps(self):
        """They take 128 bytes at a multiple of 64 on a GPU; what follows them follows them there, too."""
        given = self.emulated(0x1000, 7, 9) + self.emulated(0x2000) + struct.pack("<qq", 3, 5)
        parameters = [(112, 192), (304, 128), (432, 8), (440, 8)]  # behind 0x210
        kernel = kernels.Kernel(None, "", "", parameters, 0x210, 32, 0)
        whole, found = maps.laid_out(kernel, given)
        self.assertEqual({at: each.tensor for at, each in found.items()}, {112: 0x1000, 304: 0x2000})
        self.assertEqual(found[112], maps.Map(0x1000, 2, (8, 16, 16, 64), (1, 8, 16, 64), (1, 2, 2, 1)))
        self.assertEqual(struct.unpack_from("<qq", whole, 112 + 128), (7, 9))
        self.assertEqual(struct.unpack_from("<qq", whole, 432), (3, 5))
        first = struct.pack("<q", 11) + self.emulated(0x1000)
        whole, found = maps.laid_out(kernels.Kernel(None, "", "", [(0, 8), (112, 128)], 0x210, 32, 0), first)
        self.assertEqual((struct.unpack_from("<q", whole), list(found)), ((11,), [112]))
        with self.assertRaisesRegex(rows.Unclear, "tensor maps"):
            maps.laid_out(kernels.Kernel(None, "", "", [(0, 128)], 0x210, 32, 0), given)
        self.assertEqual(maps.laid_out(kernel, b"12345678"), (b"12345678", {}))

    def test_names(self):
        self.assertEqual(ours.address("void f<g<int, 4>, (kind)1>(g<int, 4>, float*)"),
                         "(void *)(void (*)(g<int, 4>, float*))&f<g<int, 4>, (kind)1>")
        self.assertEqual(ours.address("adam_step(float*, long)"), "(void *)(void (*)(float*, long))&adam_step")
        self.assertEqual(launches.plain("_INTERNAL_0a1b2c3d_7_unit_cu_0123abcd::f<g<int> >(int)"), "f<g<int>>(int)")
        self.assertEqual(launches.plain("void f<float, &(g(float))>(float*)"), "void f<float, &g>(float*)")

    def test_sums(self):
        found = step.add_up([line("a", 3, 10, 4), line("b", 1, 100, 50), line("c", 5, 8, 1, "not relied on")])
        self.assertEqual((found.launches, found.untold), (9, 5))
        self.assertEqual((found.told, found.floor, found.low, found.high), (130, 67, 65, 260))
        self.assertEqual([one.kernel for one in found.lines], ["b", "c", "a"])

    def test_measured(self):
        rows = measured.read(ROOT / "scripts/bounds/measured_h200.csv")
        self.assertGreater(sum(row.launches for row in rows), 1000)
        with tempfile.TemporaryDirectory() as folder:
            measured.write(pathlib.Path(folder) / "again.csv", rows)
            self.assertEqual(measured.read(pathlib.Path(folder) / "again.csv"), rows)
        update = [launch(), launch("void a<b<2>>(float (*)[2])"), launch(parameters=b"1")]
        found = measured.places(update)
        self.assertEqual([like[0] for like in found], ["relu", "a<b<2>>", "relu"])
        self.assertIs(found["relu", (2, 1, 1), (256, 1, 1), 1], update[2])

    def test_errors(self):
        table = errors.classes([("DRAM", 20 * f, 20) for f in (1, 1.1, 1.2, 1.3, 2)] + [("L2", 4, 2)])
        self.assertEqual(table["DRAM"].rows, 5)
        self.assertAlmostEqual(table["DRAM"].median, 0.182, 3)
        self.assertAlmostEqual(table["DRAM"].most, 0.262, 3)
        self.assertEqual(table["below 10 us"].rows, 1)
        self.assertEqual(errors.of(table, "L2", 2), (table["all"], False))  # one row alone
        self.assertEqual(errors.of(table, "DRAM", 20), (table["DRAM"], True))
        low, high = table["DRAM"].interval(100, 90)
        self.assertEqual(low, 90)
        self.assertAlmostEqual(high, 130, 0)
        self.assertFalse(errors.Error(9, 0.31, 0.5).told)
        self.assertTrue(errors.read()["all"].told)

    def test_a_store(self):
        with tempfile.TemporaryDirectory() as folder:
            store.Store(folder, "told").keep("what", {"floor": 1})
            with open(pathlib.Path(folder) / "told.jsonl", "a", encoding="utf-8") as file:
                file.write('["half of a li')
            self.assertEqual(store.Store(folder, "told").find("what"), {"floor": 1})
            self.assertIsNone(store.Store(folder, "told").find("else"))


@unittest.skipIf(missing("nm", "c++filt"), "binutils are missing")
class Recorded(unittest.TestCase):
    """What the tool's own training launches."""

    @classmethod
    def setUpClass(cls):
        cls.update = launches.of_update(GRADUS, "cifar10-cnn", BATCH, 108)

    def calls(self):
        """{operation: calls in an update} as the tool's clock counts them, whose launches do run."""
        done = subprocess.run([*TRAIN, "--batch", str(BATCH), "--updates", "3", "--time", "--json"],
                              capture_output=True, text=True, check=True)
        counts = collections.Counter()
        for operation in json.loads(done.stdout)["time"]["operations"]:
            counts[operation["op"]] += operation["calls"]
        return counts

    def test_nothing_is_lost(self):
        """Running them or not, the launches are the same; and operations of which each call is one launch."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "launches"
            words = ["--batch", str(BATCH), "--updates", "2", "--last-batch", "wrap", "--no-graph"]
            subprocess.run([*TRAIN, *words], capture_output=True, check=True,
                           env={**os.environ, "GRADUS_SIMT_LAUNCHES": str(path)})
            run, not_run = launches.read(path)[-len(self.update):], self.update
        if PADDING_KEPT:
            run, not_run = ([dataclasses.replace(one, parameters=len(one.parameters)) for one in these]
                            for these in (run, not_run))
        self.assertEqual(run, not_run)
        counted = collections.Counter(one.base for one in self.update)
        calls = self.calls()
        for operation, kernel in (("normalise", "normalise"), ("adam_step", "adam_step"), ("accuracy", "accuracy"),
                                  ("tally", "tally")):
            self.assertEqual(counted[kernel], calls[operation], kernel)
        self.assertGreaterEqual(len(self.update), sum(calls.values()))

    def test_what_comes_before(self):
        """cifar10-94 looks at pictures first, for its filters; a copy of the weights is made in the first update."""
        counted = collections.Counter(one.base for one in launches.of_update(GRADUS, "cifar10-94", BATCH, 108))
        self.assertEqual((counted["augment"], counted["lookahead_step"]), (1, 0))

    def test_grids_and_parameters(self):
        pixels = BATCH * 32 * 32 * 3
        normalise, = (one for one in self.update if one.base == "normalise")
        self.assertEqual((normalise.grid, normalise.block), ((pixels // 1024, 1, 1), (256, 1, 1)))
        self.assertIn(struct.pack("<q", pixels), normalise.parameters)

    def test_products_fill_a_gpu(self):
        """Those of 50 million multiply-adds and more, on an H100: little padding, multiprocessors that end together."""
        found = plans.products(launches.of_update(GRADUS, "cifar10-cnn", 128, 132))
        self.assertEqual(len(found), 11)  # the first layer is none
        for one in found:
            self.assertEqual(one.blocks, one.tiles * one.splits, one)
            if one.m * one.n * one.k >= 50e6:
                self.assertGreaterEqual(one.useful, 0.8, one)
                self.assertGreaterEqual(one.waves(132), 0.7, one)

    def test_products_by_wgmma(self):
        """Of halves, where the compute capability is 9.0."""
        for precision, capability, wanted in (("bf16", 90, True), ("bf16", 80, False), (None, 90, False)):
            found = launches.of_update(GRADUS, "cifar10-cnn", 1024, 132, capability, precision)
            self.assertEqual(any("hopper_tile" in one.kernel for one in found), wanted, (precision, capability))

    def test_boxes(self):
        """A convolution of 128 images of 16 x 16 x 128: of each, 2 patches of 18 x 10 pixels, as far as they lie in it,
        and of filters 9 boxes of 128 for each patch, all in two halves of the channels. TMA takes a cycle for each row
        and dimension: 4 of pixels, 2 of filters; a multiprocessor has 2 blocks."""
        if lacking := missing("nvcc", "cuobjdump", "cc"):
            self.skipTest(lacking)
        found = next(one for one in launches.of_update(GRADUS, "resnet18-cifar", 128, 132, 90, "bf16")
                     if one.base == "gemm_boxes" and "image_patches<bf16>, filter_boxes<bf16>" in one.kernel)
        self.assertEqual(found.grid, (128 * 2, 1, 1))
        answer = told_on_h100(found)
        self.assertAlmostEqual(answer["floors"]["TMA"] * 1980 / (2 * 2 * (4 * 16 * 9 + 2 * 9 * 128)), 1, delta=0.02)

    def test_streams(self):
        """A convolution of 128 images of 32 x 32 x 64: 1,024 tiles, of which a multiprocessor's two teams have 4 each.
        Of 9 taps all products are under way at once."""
        if lacking := missing("nvcc", "cuobjdump", "cc"):
            self.skipTest(lacking)
        found = next(one for one in launches.of_update(GRADUS, "resnet18-cifar", 128, 132, 90, "bf16")
                     if one.base == "patch_stream" and "filter_boxes<bf16>" in one.kernel)
        answer = told_on_h100(found)
        self.assertNotIn("reason", answer)
        pixels = (17 + 17) * (9 + 10 + 10 + 9) / (2 * 4)
        self.assertAlmostEqual(answer["floors"]["TMA"] * 1980 / (2 * 9 * 64 + 8 * 4 * pixels), 1, delta=0.05)

    def test_what_is_told(self):
        if lacking := missing("nvcc", "cuobjdump", "cc"):
            self.skipTest(lacking)
        small = [one for one in self.update if one.base in ("normalise", "adam_step", "tally", "accuracy")]
        with tempfile.TemporaryDirectory() as folder:
            stores = [store.Store(folder, name) for name in ("compiled", "told")]
            teller = step.Teller("t4", tell.build_machine(folder), *stores, ours.digest())
            found = teller.step(small)
        self.assertEqual(found.launches, len(small))
        self.assertEqual([one.reason for one in found.lines if one.reason and not one.told], [])
        for one in found.lines:
            self.assertTrue(one.reason or one.floor <= one.low <= one.told <= one.high, one)


class Slow(unittest.TestCase):
    def test_what_took_too_long_is_asked_again(self):
        kernel = kernels.Kernel(None, "f", "f()", [], 0x160, 32, 0, [(0, 0, (5 | 7 << 5 | 7 << 8) << 41, "EXIT")])
        real = tell.ask
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_bytes(b"none")
            teller = step.Teller("t4", program, *(store.Store(folder, name) for name in ("compiled", "told")), "")
            for raised, kept in ((rows.Late("late"), False), (rows.Unclear("unclear"), True)):
                tell.ask = unittest.mock.Mock(side_effect=raised)
                try:
                    self.assertEqual(teller.answer(kernel, launch()), {"reason": str(raised)})
                    teller.answer(kernel, launch())
                    self.assertEqual(tell.ask.call_count, 1 if kept else 2)
                finally:
                    tell.ask = real


class Rungs(here.Teller):
    """Whose kernels do nothing but end."""

    def kernel_of(self, row, tree, unit, architecture):
        sizes = "long, long" if row.shared else "long, long, long"
        parameters = [(8 * i, 8) for i in range(4 + sizes.count(","))]
        return kernels.Kernel(None, row.kernel, f"{row.kernel}(float*, float*, float*, {sizes})", parameters,
                              0x160, 32, 0, [(0, 0, (5 | 7 << 5 | 7 << 8) << 41, "EXIT")])


@unittest.skipIf(missing("cc"), "there is no compiler")
class Ladder(unittest.TestCase):
    def test_rungs(self):
        with tempfile.TemporaryDirectory() as folder:
            told = dict(Rungs(folder).rungs("M=N=K=4096", "a100"))
            hopper = dict(Rungs(folder).rungs("M=N=K=4096", "h100"))
            blackwell = dict(Rungs(folder).rungs("M=N=K=4096", "rtx5090"))
        self.assertEqual(list(told)[:3], ["naive", "coalesced", "shared_tile"])
        self.assertIn("9.0", told["tma"].reason)
        self.assertIn("9.0", told["wgmma"].reason)
        self.assertEqual((hopper["tma"].reason, hopper["wgmma"].reason), ("", ""))
        self.assertEqual(blackwell["tma"].reason, "")
        self.assertIn("9.0", blackwell["wgmma"].reason)
        self.assertEqual(hopper["wgmma"].details["instructions"], -(-32 * 32 // 132) * 9)
        self.assertEqual(hopper["wgmma"].details["resident_blocks"], 2)  # of 96 KiB each
        tiles, warps = (4096 // 64) ** 2, 8
        self.assertEqual(told["wide_loads"].details["instructions"], -(-tiles // 108) * warps, told["wide_loads"])


    def test_what_tma_is_told(self):
        rung, = (rung for rung in ladder.rungs("M=N=K=4096") if rung[1] == "wgmma")
        self.assertEqual(rung[2:], ("1024", "288", "fp16", "M=N=K=4096 steps=64", 3 * (16 + 16) * 1024 + 6 * 8))
        kernel = kernels.Kernel(None, "", "wgmma(float*, CUtensorMap_st, CUtensorMap_st, long, int)",
                                [(0, 8), (112, 128), (240, 128), (368, 8), (376, 4)], 0x210, 32, 0)
        found = arguments.tensor_maps(kernel, ["c", "a", "b", "n", "steps"], rung[0].read_text(encoding="utf-8"),
                                      {"m": 512, "n": 1024, "k": 2048})
        self.assertEqual([(at, each.size, each.box) for at, each in found.items()],
                         [(112, (512, 2048), (128, 64)), (240, (2048, 1024), (64, 64))])


class Refusals(unittest.TestCase):
    def refused(self, *words, **more):
        done = subprocess.run([GRADUS, "bench", *words], capture_output=True, text=True, env={**os.environ, **more},
                              check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_options(self):
        self.assertIn("does not go with --against", self.refused("--bound", "t4", "--against", "torch"))
        self.assertIn("relu", self.refused("relu", "--bound", "t4"))
        self.assertIn("--recipe is of --bound", self.refused("--recipe", "cifar10-cnn"))
        self.assertIn("--ladder --bound t4", self.refused("gemm", "--ladder", "--bound", "t4", "--batch", "4"))

    def test_what_is_missing(self):
        self.assertIn("nvcc is not found, GRADUS_NVCC says /nowhere",
                      self.refused("--bound", "t4", GRADUS_NVCC="/nowhere"))
        self.assertIn("cannot be run", self.refused("--bound", "t4", PYTHON="/nowhere"))
        self.assertIn("Voodoo 2", self.refused("--bound", "Voodoo 2"))
        self.assertIn("T4 has no bf16", self.refused("--bound", "t4", "--precision", "bf16"))

    @unittest.skipIf(missing("nvcc", "cuobjdump", "nm", "c++filt", "cc"), "the toolkit is missing")
    def test_a_recipe_that_is_not_there(self):
        self.assertIn("nonsense", self.refused("--bound", "t4", "--recipe", "nonsense"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
