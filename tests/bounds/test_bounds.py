"""What is told of kernels whose time is known on paper, what is read out of rows, and what is refused with a reason."""

import collections
import contextlib
import dataclasses
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "scripts"))
from bounds import arguments, builds, chips, choose, headers, kernels, maps, parts, rows, tell, tools  # noqa: E402
import validate_bounds  # noqa: E402

SCRATCH = tempfile.TemporaryDirectory()


def row(kernel, size, grid, block, gpu="A100 SXM4 40GB", capability="8.0", file="kernels.cu", dtype="fp32"):
    return rows.make({"repo": "gradus/bounds", "file": file, "kernel": kernel, "dtype": dtype, "problem_size": size,
                      "grid": grid, "block": block, "gpu": gpu, "compute_capability": capability, "time_ms": "1"})


def missing_tool():
    try:
        for name in ("nvcc", "cuobjdump", "c++filt", "cc"):
            tools.find(name)
    except tools.Missing as missing:
        return str(missing)
    return None


def described(code, chip="A100 SXM4 40GB", grid=(108, 1, 1), block=(128, 1, 1), tensor_map=None, constants=(), drawn=0):
    """What the machine says of instructions written as (text, stall, write barrier, wait mask); tensor_map: the first
    parameter; constants: banks as (number, words); drawn: whether memory holds bytes as if drawn."""
    listing = [(16 * i, 0, (stall | 7 << 8 | (7 if write is None else write) << 5 | wait << 11) << 41, text)
               for i, (text, stall, write, wait) in enumerate(code)]
    kernel = kernels.Kernel(None, "", "", [], 0x160, 32, 0, constants=constants)
    real, kernels.code_of = kernels.code_of, lambda _: listing
    try:
        text = tell.describe(kernel, chips.numbers(chip) | {"data_drawn": drawn}, grid, block, b"", 4096, 0,
                             {0: tensor_map} if tensor_map else None)
    finally:
        kernels.code_of = real
    return tell.ask(tell.build_machine(SCRATCH.name), text)


class Reading(unittest.TestCase):
    def test_sizes(self):
        self.assertEqual(rows.sizes("M=N=K=4096"), {"m": 4096, "n": 4096, "k": 4096})
        self.assertEqual(rows.sizes("rows=2048*16 cols=16"), {"rows": 32768, "cols": 16})
        self.assertEqual(rows.sizes("8192x4096"), {"d0": 8192, "d1": 4096})
        self.assertEqual(rows.sizes("N=2^30"), {"n": 1 << 30})
        self.assertEqual(rows.sizes("whatever"), {})
        for said, meant in (("N=1<<24", 1 << 24), ("N = 1e8", 10 ** 8), ("16M", 1 << 24), ("N=4K floats", 4096),
                            ("N=100M", 10 ** 8), ("N=16,777,216", 1 << 24)):
            self.assertEqual(rows.sizes(said), {"n": meant}, said)
        self.assertEqual(rows.sizes("image 4096x4096 filter 5x5"), {"d0": 4096, "d1": 4096, "filter": 5})

    def test_launches(self):
        self.assertEqual(rows.extents("128x64"), (128, 64, 1))
        self.assertEqual(rows.extents("864 = 108*2048/256 (+1)"), (864, 1, 1))
        self.assertEqual(rows.extents("128 (persistent, cluster 2x1)"), (128, 1, 1))
        for said in ("(128, 64)", "(128,64,1)", "dim3(128, 64)", "128, 64", "128 x 64", "2^7x64", "1<<7 x 64"):
            self.assertEqual(rows.extents(said), (128, 64, 1), said)
        self.assertEqual(rows.extents("2^20"), (1 << 20, 1, 1))
        self.assertEqual(rows.extents("131,072"), (131072, 1, 1))
        self.assertEqual(rows.extents("(128,128)"), (128, 128, 1))
        self.assertIsNone(rows.extents("not stated"))

    def test_chips(self):
        for said, meant in (("Tesla V100", "V100 SXM2"), ("A100-PCIE-40GB", "A100 PCIe 40GB"), ("T4", "T4"),
                            ("NVIDIA GeForce RTX 3090", "RTX 3090"), ("RTX 2080 Super", "RTX 2080 Super"),
                            ("H100 (SKU not stated; SXM5 assumed)", "H100 SXM5"), ("RTX 3060Ti", "RTX 3060 Ti"),
                            ("Tesla T4", "T4"), ("NVIDIA A10G", "A10G"), ("NVIDIA L4", "L4"),
                            ("NVIDIA A100-SXM4-80GB", "A100 SXM4 80GB"), ("NVIDIA H200", "H200"), ("h200", "H200"),
                            ("RTX4090", "RTX 4090"), ("GeForce GTX 1660 SUPER", "GTX 1660 Super"),
                            ("RTX 4070 Ti SUPER", "RTX 4070 Ti Super"), ("Jetson AGX Orin", "Jetson Orin"),
                            ("NVIDIA GeForce RTX 3050 Laptop GPU", "RTX 3050 Laptop"),
                            ("RTX 3070 Mobile", "RTX 3070 Laptop"),
                            ("NVIDIA Jetson Orin Nano 8GB", "Jetson Orin Nano"),
                            ("Jetson Orin Nano Super", "Jetson Orin Nano Super"),
                            ("Jetson Orin NX", "Jetson Orin NX"), ("rtx5090", "RTX 5090"),
                            ("NVIDIA GeForce RTX 5070 Ti Laptop GPU", "RTX 5070 Ti Laptop"),
                            ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000 Blackwell"),
                            ("RTX PRO 6000 Blackwell Max-Q Workstation Edition", "RTX PRO 6000 Blackwell Max-Q"),
                            ("NVIDIA B200", "B200"), ("NVIDIA GB10", "GB10"), ("DGX Spark", "GB10"),
                            ("Jetson AGX Thor", "Jetson Thor")):
            self.assertEqual(chips.find(said), meant, said)

    def test_chips_that_only_share_a_name(self):
        """No other GPU stands for one that is not in the table."""
        for name in ("Voodoo 2", "RTX 2070 Super Max-Q", "RTX 2080 Mobile", "RTX A2000 Laptop", "Jetson Nano",
                     "Titan Xp", "RTX 2070 Max-Q", "GTX 1080 Ti", "Tesla P100"):
            self.assertRaises(chips.Unknown, chips.find, name)
        for name in chips.CHIPS:
            self.assertEqual(chips.find(name), name)

    def test_chips_that_are_held_below_their_architecture(self):
        """TFLOPS of products, as their data sheets have them: of halves with sums of floats, then of doubles."""
        for name, halves, doubles in (("L40S", 366, None), ("L40", 181, None), ("L20", 119.5, None), ("H20", 148, 1),
                                      ("H800", 989, 1), ("H100 SXM5", 989, 33.5), ("RTX 4090", 165, None)):
            chip = chips.numbers(name)
            a_lane = 2 * 4 * chip["multiprocessors"] * chip["clock"] / 1e3
            self.assertAlmostEqual(chip["tensor_f32"] * a_lane / halves, 1, delta=.02, msg=name)
            if doubles:
                self.assertAlmostEqual(chip["lanes_double"] * a_lane / doubles, 1, delta=.06, msg=name)

    def test_code_of_an_architecture(self):
        """With what is its own; what CUDA 13 makes no code for has Turing's."""
        for capability, wanted in (("9.0", "sm_90a"), ("10.3", "sm_103a"), ("12.0", "sm_120a"), ("12.1", "sm_121a"),
                                   ("8.9", "sm_89"), ("7.0", "sm_75")):
            self.assertEqual(kernels.code_architecture(capability), (wanted, capability == "7.0"))

    def test_arguments_by_name(self):
        text = "template <int T> __global__ void product(int M, int N, int K, float alpha /* a, b */, const float *A)"
        self.assertEqual(arguments.parameter_names(text + "{", "product"), ["M", "N", "K", "alpha", "A"])
        text = "#define SIZES int M, int N, \\\n    int K\n__global__ void product(SIZES, float *A, int)"
        self.assertEqual(arguments.parameter_names(text + "{", "product"), ["M", "N", "K", "A", "int"])
        kernel = kernels.Kernel(None, "p", "void product<8>(int, int, int, float, float const*)",
                                [(0, 4), (4, 4), (8, 4), (12, 4), (16, 8)], 0x160, 1, 0)
        said = arguments.values(kernel, ["M", "N", "K", "alpha", "A"], {"m": 2, "n": 3, "k": 5},
                                row("product", "", "1", "1"))
        self.assertEqual([int.from_bytes(said[i:i + 4], "little") for i in (0, 4, 8)], [2, 3, 5])
        with self.assertRaisesRegex(rows.Unclear, "shift"):
            arguments.values(kernel, ["M", "N", "shift", "alpha", "A"], {"m": 2, "n": 3},
                             row("product", "", "1", "1"))

    def test_a_struct_that_is_a_tensor_map(self):
        def bytes_(kind, size, name):
            kernel = kernels.Kernel(None, "k", f"k({kind})", [(0, size)], 0x160, 1, 0)
            return len(arguments.values(kernel, [name], {}, row("k", "", "1", "1")))
        self.assertEqual(bytes_("TMADescriptor", 128, "x"), 128)
        self.assertEqual(bytes_("Handle", 128, "tma_x"), 128)
        for kind, size, name in (("TMADescriptor", 256, "x"), ("Sizes", 128, "sizes")):
            with self.assertRaisesRegex(rows.Unclear, kind):
                bytes_(kind, size, name)

    def test_who_timed(self):
        """Nsight Compute, where the row says so or another of its repository does, unless it names events."""
        said, silent, events = (dataclasses.replace(row("copy", "", "1", "1"), notes=notes)
                                for notes in ("Nsight Compute", "", "mean of 100, an event pair round each launch"))
        teller = tell.Teller(SCRATCH.name, SCRATCH.name)
        self.assertEqual([teller.by_profiler(each) for each in (said, silent, events)], [True, False, False])
        teller.note([said, silent, events])
        self.assertEqual([teller.by_profiler(each) for each in (said, silent, events)], [True, True, False])

    def test_the_side_of_a_square(self):
        """One size for two dimensions of blocks; all elements for one."""
        def size(shape, grid):
            return arguments.extent("N", rows.sizes(shape), row("k", shape, grid, "32x8"), ["N"])
        self.assertEqual(size("4096x4096", "128x128"), 4096)
        self.assertEqual(size("4096x4096", "65536"), 1 << 24)
        self.assertEqual(size("4096x2048", "128x64"), 1 << 23)

    def test_sizes_that_are_none_of_the_problem(self):
        """A filter's width is not the picture's; what no size says is not told."""
        def size(name, shape, *others):
            return arguments.extent(name, rows.sizes(shape), row("k", shape, "64", "128"), [name, *others])
        self.assertEqual(size("mask_width", "4096x4096 filter 5x5"), 5)
        self.assertEqual(size("radius", "4096x4096 filter 5x5"), 2)
        self.assertEqual(size("num_bins", "N=2^24 bins=256"), 256)
        self.assertEqual(size("num_rows", "rows=100 nnz=500"), 100)
        self.assertEqual(size("N", "B=8 T=1024 C=768", "C"), 8 * 1024)
        self.assertEqual(size("N", "B=8 T=1024 C=768"), 8 * 1024 * 768)
        for name, shape in (("filter_size", "4096x4096"), ("padding", "N=4096"), ("n", "whatever")):
            with self.assertRaisesRegex(rows.Unclear, name):
                size(name, shape)

    def test_words_of_several_numbers(self):
        """A count of them is a row's numbers by those that a word of the kernel's pointers has."""
        def size(name, shape, pointer, dtype="fp32"):
            kernel = kernels.Kernel(None, "k", f"k({pointer} const*, {pointer}*, int, int)",
                                    [(0, 8), (8, 8), (16, 4), (20, 4)], 0x160, 1, 0)
            said = arguments.values(kernel, ["in", "out", name, "hidden"], rows.sizes(shape),
                                    row("k", shape, "64", "128", dtype=dtype))
            return int.from_bytes(said[16:20], "little"), int.from_bytes(said[20:24], "little")
        self.assertEqual(size("vectors_per_row", "tokens=2048 hidden=4096", "float4"), (1024, 4096))
        self.assertEqual(size("vecs_per_row", "8x4096", "float4", "fp16"), (512, 4096))
        self.assertEqual(size("n_vec", "N=4096", "float2"), (2048, 4096))
        self.assertEqual(size("vec_size", "N=4096", "float4"), (4096, 4096))  # a vector's numbers
        with self.assertRaisesRegex(rows.Unclear, "vectors_per_row"):
            size("vectors_per_row", "tokens=2048 hidden=4096", "float")

    def test_sizes_of_attention(self):
        """Sequences and heads by the names that rows and kernels have for them; others keep theirs."""
        def size(name, shape):
            return arguments.extent(name, rows.sizes(shape), row("k", shape, "64x48", "128"), [name, "other"])
        for name, wanted in (("QKV_seqlen", 8192), ("seq_len", 8192), ("QKV_head", 48), ("num_heads", 48),
                             ("n_head", 48), ("head_dim", 64), ("d", 64), ("batch_size", 2), ("N", 8192)):
            self.assertEqual(size(name, "B=2 H=48 N=8192 D=64"), wanted, name)
        self.assertEqual(size("headDim", "seq=256 head_dim=64"), 64)
        self.assertEqual(size("seq_len", "rows=2048 cols=16"), 16)
        self.assertEqual(size("h", "rows=2048 cols=16"), 2048)

    def test_functions_of_the_device(self):
        """Those that a macro marks, or that the compiler works out, stay; the host's go."""
        text = ("#define BOTH \\\n    __host__ __device__ inline\n#define HOST inline\n"
                "BOTH int up(int a) { return a + 1; }\nconstexpr int most(int a) { return a; }\n"
                "consteval int least(int a) { return a; }\nHOST int lost(int a) { return missing(a); }\n"
                "template <class T,\n          int N = 128 / sizeof(T) / 8>\nvoid gone(T *a) { missing(a); }\n"
                "__global__ void k(int *a) { a[0] = up(most(2)); }\n")
        left = parts.device_part(text)
        self.assertNotRegex(left, "HOST int|missing|template")
        for kept in ("BOTH int up(int a) {", "constexpr int most(int a) {", "consteval int least(int a) {",
                     "void k(int *a) {"):
            self.assertIn(kept, left)

    def test_instances(self):
        def kernel(name):
            return kernels.Kernel(None, name, name, [], 0, 1, 0)
        have = [kernel("void dot<float, 2>(float*)"), kernel("void dot<__half, 4>(__half*)"),
                kernel("void dot<__half, 2>(__half*)"), kernel("warm()")]
        self.assertIs(choose.choose(have, row("dot<half,2>", "", "1", "1")), have[2])
        self.assertIs(choose.choose(have, row("dot<4>", "", "1", "1", dtype="fp16")), have[1])
        with self.assertRaisesRegex(rows.Unclear, "no kernel sum"):
            choose.choose(have, row("sum", "", "1", "1"))

    def test_template_arguments_of_a_launch(self):
        """Where a row has none, as of PyTorch's extensions: the type is the row's, constants are the file's."""
        text = ("#define WIDE 8\nAT_DISPATCH(x.scalar_type(), [&] { constexpr int kBlock = 256;\n"
                "norm<scalar_t, kBlock, WIDE>\n  <<<rows, kBlock>>>(x); });\nsum<T><<<1, 2>>>();\n"
                "sum<float><<<1, 2>>>();")
        self.assertEqual(choose.launched(text, "norm", "bf16"), ["__nv_bfloat16", "256", "8"])
        self.assertEqual(choose.launched(text, "norm", "int7"), [])
        self.assertEqual(choose.launched(text, "sum", "fp16"), [])
        self.assertEqual(choose.launched(text, "sum", "fp32"), ["float"])
        self.assertEqual(choose.launched("k<A, B><<<1, 1>>>()", "k", "fp32"), [])

    def test_blocks_of_macros(self):
        text = "#define WIDE 32\n#define HIGH 32 // rows\ndim3 block( WIDE, HIGH );\nint WIDER = 32;\n"
        self.assertEqual(parts.for_block(text, (16, 8, 1)), text.replace("WIDE 32", "WIDE 16")
                         .replace("HIGH 32", "HIGH 8"))
        self.assertIsNone(parts.for_block(text, (32, 32, 1)))
        self.assertIsNone(parts.for_block("#define WIDE 32\ndim3 grid(n / WIDE, m), block(x, y);", (16, 8, 1)))

    def test_what_does_not_compile_is_left_out(self):
        text = ("#define MANY(x) { x; \\\n  x; }\n// not { here\nBENCH(a)\n  .name(\"}{\");\n"
                "struct Sum { int a; };\n__global__ void add(int *a) { *a += '{'; }\n")
        self.assertEqual([text[start:end].strip()[:9] for start, end in parts.declarations(text)],
                         ["#define M", "// not { ", "struct Su", ";", "__global_"])
        left = parts.without_faults(text, {5}, "add")
        self.assertEqual(left.count("\n"), text.count("\n"))
        self.assertNotIn("BENCH", left)
        self.assertIn("struct Sum", left)
        self.assertEqual(parts.without_faults(text, {1, 7, 99}, "add"), text)
        self.assertNotIn("add", parts.without_faults(text, {7}, "ad"))

    def test_ranks(self):
        self.assertEqual(validate_bounds.ranks([3, 1, 3]), [2.5, 1, 2.5])
        self.assertAlmostEqual(validate_bounds.spearman([1, 2, 3], [10, 20, 15]), 0.5)
        self.assertIsNone(validate_bounds.spearman([1, 1, 1], [1, 2, 3]))

    def test_an_error_that_says_nothing(self):
        def table(*told):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                validate_bounds.print_table({(f"r{i}", "T4"): [(t, 1)] for i, t in enumerate(told)},
                                            collections.Counter())
            return said.getvalue()
        self.assertIn("| r0 | T4 | 1 of 1 | 26 % |  |", table(1.3))
        self.assertIn("| r1 | T4 | 1 of 1 | above 30 %: what is told cannot be relied on |  |", table(1.3, 0.7))
        self.assertTrue(table(0.7).endswith("1 groups: above 30 %: what is told cannot be relied on\n"))

    def test_what_is_not_there(self):
        table = pathlib.Path(SCRATCH.name) / "rows.csv"
        table.write_text("repo,file,kernel,problem_size,gpu,time_ms\nr,k.cu,k,N=1,T4,1\n")
        for script, words, told in (("validate", ["--csv", "/nowhere.csv"], "/nowhere.csv cannot be read: No such"),
                                    ("validate", ["--csv", table, "--gpu", "a100"], "its GPUs are T4"),
                                    ("tell", ["--ladder", "--gpu", "a100", "--size", "N=8"], '--size "N=8"')):
            more = ["--sources", SCRATCH.name] if script == "validate" else []
            done = subprocess.run([sys.executable, "-B", ROOT / f"scripts/{script}_bounds.py", *words, *more],
                                  capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(told, done.stderr)


class Machine(unittest.TestCase):
    """Instructions written by hand, with stall counts and barriers of their own."""

    def setUp(self):
        try:
            tools.find("cc")
        except tools.Missing as missing:
            self.skipTest(str(missing))

    def cycles(self, code, **launch):
        chip = chips.numbers("A100 SXM4 40GB")
        answer = described(code, **launch)
        return (answer["microseconds"] - chip["launch_kernel"]) * chip["clock"] * 1e3, answer

    def test_stall_counts_are_kept(self):
        short, _ = self.cycles([("FADD R1, R2, R3", 4, None, 0)] * 200 + [("EXIT", 5, None, 0)], block=(32, 1, 1))
        long, _ = self.cycles([("FADD R1, R2, R3", 9, None, 0)] * 200 + [("EXIT", 5, None, 0)], block=(32, 1, 1))
        self.assertAlmostEqual(long - short, 200 * 5, delta=20)

    def test_a_barrier_waits_for_memory(self):
        load = [("LDG.E R4, [R2.64]", 1, 0, 0), ("FADD R5, R4, R4", 4, None, 1), ("EXIT", 5, None, 0)]
        waits, _ = self.cycles(load, block=(32, 1, 1))
        free, _ = self.cycles([*load[:1], ("FADD R5, R4, R4", 4, None, 0), load[2]], block=(32, 1, 1))
        self.assertGreater(waits - free, 200)

    def test_a_loop_ends_and_pipes_bind(self):
        body = [(f"FFMA R{10 + k % 8}, R4, R5, R{10 + k % 8}", 1, None, 0) for k in range(64)]
        loop = [("MOV R1, RZ", 5, None, 0), *body, ("IADD3 R1, R1, 0x1, RZ", 5, None, 0),
                ("ISETP.LT.AND P0, PT, R1, 0x20, PT", 13, None, 0), ("@P0 BRA 0x10", 5, None, 0), ("EXIT", 5, None, 0)]
        taken, answer = self.cycles(loop, block=(256, 1, 1))
        self.assertEqual(answer["instructions"], 8 * (2 + 32 * 67))
        # 8 warps over 4 quarters, 2048 products each, 2 cycles a product on 16 lanes
        self.assertAlmostEqual(taken / (2 * 2048 * 2), 1.05, delta=0.05)
        self.assertEqual(answer["binding"], "multiply-add pipe")

    def test_three_registers_take_two_cycles(self):
        """Unless the instruction before has left one of them in the operand cache, in the same place."""
        def product(k, first="R4", second="R5"):
            return f"FFMA R{10 + k % 8}, {first}, {second}, R{10 + k % 8}", 1, None, 0
        end = [("EXIT", 5, None, 0)]
        three = [product(k) for k in range(512)]
        spared = [product(k, "R4.reuse") for k in range(512)]
        elsewhere = [product(k, *(("R4.reuse", "R6"), ("R6", "R4.reuse"))[k % 2]) for k in range(512)]
        constant = [product(k, second="c[0x0][0x160]") for k in range(512)]
        cycles = [(described(code + end, "H100 SXM5", (132, 1, 1), (256, 1, 1))["microseconds"]
                   - chips.FITTED["launch_kernel"]) * 1980 for code in (three, spared, elsewhere, constant)]
        for told, wanted in zip(cycles, (2, 1, 2, 1)):
            self.assertAlmostEqual(told / (2 * 512), wanted, delta=0.15)

    def test_a_board_that_may_not_take_much_power(self):
        """A T4 at 1.13 GHz where it multiplies for some time, at 1.59 where it adds integers, and between."""
        def microseconds(texts, blocks, gpu):
            body = [(text.replace("R1", f"R{10 + k % 8}"), 1, None, 0) for k in range(1024) for text in texts]
            answer = described([*body, ("EXIT", 5, None, 0)], gpu, (blocks, 1, 1), (256, 1, 1))
            return answer["microseconds"] - chips.FITTED["launch_kernel"]
        product, total = "FFMA R1, R4.reuse, R5, R1", "IADD3 R1, R4.reuse, R5, R1"
        for texts, blocks, clock in (([product], 40000, 1.13), ([product], 40, 1.59), ([total], 40000, 1.59),
                                     ([product] + [total] * 4, 40000, 1.59 - .46 * 2 / 3)):
            slower = microseconds(texts, blocks, "T4") / microseconds(texts, blocks * 48 // 40, "RTX 2080 Super")
            self.assertAlmostEqual(slower * clock / chips.numbers("RTX 2080 Super")["clock"], 1, delta=.02, msg=texts)

    def test_atomics_in_shared_memory(self):
        """On one address: one after the other, but for those that only count; on bytes as if drawn: as banks meet."""
        def passes(atomic, drawn=0):
            code = [("S2R R0, SR_TID.X", 5, 0, 0), ("IMAD.WIDE R2, R0, 0x4, RZ", 5, None, 1),
                    *(step for k in range(64) for step in (
                        (f"LDG.E.U8 R4, [R2.64+{512 * k:#x}]", 2, 1, 0), ("IMAD.SHL R6, R4, 0x4, RZ", 5, None, 2),
                        (atomic, 2, None, 0))), ("EXIT", 5, None, 0)]
            return self.cycles(code, block=(32, 1, 1), drawn=drawn)[1]["floors"]["shared memory"] * 1410 / 64
        self.assertAlmostEqual(passes("ATOMS.ADD RZ, [R6], R0"), 32, delta=0.5)
        self.assertAlmostEqual(passes("ATOMS.POPC.INC.32 RZ, [R6+URZ]"), 1, delta=0.1)
        # the fullest of 32 banks into which 32 words are thrown, drawn of 256: 3.16 in the mean
        self.assertAlmostEqual(passes("ATOMS.POPC.INC.32 RZ, [R6+URZ]", drawn=1), 3.16, delta=0.3)

    def test_atomics_of_wide_words(self):
        """Sectors of what lanes add side by side, whole where they are; a block's own contend with nobody's."""
        names = "atomics in one kilobyte", "atomics on one address", "L2"

        def contended(atomic, apart):
            code = [("S2R R0, SR_TID.X", 5, 0, 0), (f"IMAD.WIDE R2, R0, {apart:#x}, RZ", 5, None, 1),
                    *[(atomic, 2, None, 0)] * 64, ("EXIT", 5, None, 0)]
            floors = described(code, grid=(1, 1, 1), block=(32, 1, 1))["floors"]
            return [floors[name] * 1410 / 64 for name in names]
        sector, sum_ = chips.FITTED["atomic_sector"], chips.FITTED["atomic_float"]
        for atomic, apart, sectors, cycles, slots in (
                ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R4", 4, 4, sum_, 4),
                ("RED.E.ADD.F64.RN.STRONG.GPU [R2.64], R4", 8, 8, sum_, 8),
                ("RED.E.ADD.F64.RN.STRONG.GPU [R2.64], R4", 16, 16, sum_, 32),
                ("RED.E.ADD.STRONG.GPU [R2.64], R4", 4, 4, 1, 4),
                ("RED.E.ADD.64.STRONG.GPU [R2.64], R4", 8, 8, 1, 8),
                ("ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, RZ, [R2.64], R4", 4, 4, sum_, 4),
                ("REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU [R2.64], R4", 16, 16, sum_, 16),
                ("REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU [R2.64], R4", 32, 32, sum_, 64),
                ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R4", 0, 1, 32 * sum_, 2),
                ("ATOM.E.OR.STRONG.SM PT, RZ, [R2.64], R4", 0, 0, 0, 2)):
            wanted = sectors * sector, cycles, slots * 32 / 64
            for name, told, paper in zip(names, contended(atomic, apart), wanted):
                self.assertAlmostEqual(told, paper, delta=0.01 * paper + 0.03, msg=(atomic, apart, name))

    def test_an_atomic_says_that_it_was_done(self):
        """Halves are added through an address of any memory: where that was not done, in shared memory."""
        code = [("ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, RZ, [R2.64], R4", 2, 0, 0), ("@P0 EXIT", 5, None, 1),
                *[("FFMA R10, R4, R5, R10", 2, None, 0)] * 64, ("EXIT", 5, None, 0)]
        self.assertEqual(described(code, grid=(1, 1, 1), block=(32, 1, 1))["instructions"], 2)

    def test_lanes_that_read_global_memory(self):
        """20 a cycle on A100 and 16 on H100, whose units have 32 lanes for what else they do."""
        a100 = "A100 SXM4 40GB"
        for text, gpu, cycles in (("LDG.E R4, [R2.64]", a100, 1.6), ("STG.E [R2.64], R4", a100, 1),
                                  ("LDS R4, [R2]", a100, 1), ("LDG.E R4, [R2.64]", "H100 SXM5", 2),
                                  ("LDG.E R4, [R2.64]", "RTX 3090", 2)):
            code = [(text, 1, 0 if text.startswith("LD") else None, 0)] * 64 + [("EXIT", 5, None, 0)]
            unit = described(code, gpu, (1, 1, 1), (128, 1, 1))["floors"]["load-store unit"]
            self.assertAlmostEqual(unit * chips.numbers(gpu)["clock"] * 1e3, 4 * 64 * cycles, delta=2, msg=text)

    def products(self, *code, block=(128, 1, 1), grid=(132, 1, 1)):
        """Cycles of instructions on an H100, and what the machine says of them."""
        answer = described([*code, ("EXIT", 5, None, 0)], "H100 SXM5", grid, block)
        return (answer["microseconds"] - chips.FITTED["launch_kernel"]) * 1980, answer

    def test_products_of_four_warps(self):
        """Each warp has a quarter of the rows: 16 x 128 x 16 multiply-adds, 473 a cycle."""
        def many(shape, factors="gdesc[UR8]"):
            text = f"HGMMA.{shape}.F32 R24, {factors}, R24"
            return [(text, 2, None, 0)] * 63 + [(text + ", gsb0", 2, None, 0), self.WAIT]
        taken, answer = self.products(*many("64x128x16"))
        self.assertAlmostEqual(taken / (64 * 16 * 128 * 16 / 473), 1, delta=0.02)
        self.assertEqual(answer["binding"], "tensor pipe")
        twice, _ = self.products(*many("64x128x16"), block=(256, 1, 1))
        self.assertAlmostEqual(twice / taken, 2, delta=0.02)
        # 8 columns: 64 + 8 lines of 32 bytes come from shared memory, 128 bytes a cycle, once for the four warps
        taken, answer = self.products(*many("64x8x16"))
        self.assertAlmostEqual(taken / (64 * (64 + 8) * 32 / 128), 1, delta=0.06)
        self.assertEqual(answer["binding"], "shared memory")
        taken, answer = self.products(*many("64x8x16", "R4, gdesc[UR8]"))  # the 64 are in registers
        self.assertAlmostEqual(taken / (64 * 16 * 8 * 16 / 473), 1.1, delta=0.1)
        self.assertEqual(answer["binding"], "tensor pipe")

    WAIT = "WARPGROUP.DEPBAR.LE gsb0, 0x0", 2, None, 0
    GROUP = "HGMMA.64x256x16.F32 R24, gdesc[UR8], R24, gsb0", 2, None, 0  # 139 cycles

    def test_products_go_on_beside(self):
        """Until the warp waits for all groups but so many."""
        sums = [("FADD R1, R2, R3", 4, None, 0)] * 32  # 128 cycles
        together, _ = self.products(self.GROUP, *sums, self.WAIT)
        apart, _ = self.products(self.GROUP, self.WAIT, *sums)
        self.assertAlmostEqual(apart - together, 128, delta=12)
        but_one = "WARPGROUP.DEPBAR.LE gsb0, 0x1", 2, None, 0
        behind_one, _ = self.products(self.GROUP, self.GROUP, but_one, *sums, self.WAIT)
        behind_both, _ = self.products(self.GROUP, self.GROUP, self.WAIT, *sums)
        self.assertAlmostEqual(behind_both - behind_one, 128, delta=12)

    def test_a_product_begins_when_all_four_ask(self):
        """The last of four warps comes 900 cycles late, the others go on for 900 behind their product."""
        late = [("FADD R1, R2, R3", 9, None, 0)] * 100
        taken, _ = self.products(("S2R R0, SR_TID.X", 5, 0, 0), ("ISETP.GE.AND P0, PT, R0, 0x60, PT", 13, None, 1),
                                 ("@!P0 BRA 0x670", 5, None, 0), *late, self.GROUP, self.WAIT, ("@P0 EXIT", 5, None, 0),
                                 *late)
        self.assertAlmostEqual(taken, 900 + 139 + 900, delta=120)

    def test_barriers_for_some_warps(self):
        """Two warps meet before 900 cycles of work, which a third does beside, unless it arrives behind them."""
        work = [("FADD R1, R2, R3", 9, None, 0)] * 100
        for meet, third, cycles in ((("BAR.SYNC 0x1, 0x40", "NOP"), "NOP", 900), (("BAR.SYNC 0x0", "NOP"), "NOP", 1800),
                                    (("BAR.SYNC 0x1, 0x60", "NOP"), "BAR.ARV 0x1, 0x60", 1800),
                                    (("BAR.SYNC 0x1, 0x40", "BAR.SYNC 0x2, 0x40"), "NOP", 900)):
            taken, _ = self.products(("S2R R0, SR_TID.X", 5, 0, 0), ("ISETP.GE.AND P0, PT, R0, 0x40, PT", 13, None, 1),
                                     ("@P0 BRA 0x6c0", 5, None, 0), *((text, 5, None, 0) for text in meet), *work,
                                     ("EXIT", 5, None, 0), ("NOP", 5, None, 0), ("NOP", 5, None, 0), *work,
                                     (third, 5, None, 0), block=(96, 1, 1))
            self.assertAlmostEqual(taken, cycles, delta=120, msg=meet)

    def test_arrivals_at_barriers(self):
        """16 threads a cycle, whatever the number of blocks; a block's own 15 cycles behind its last one."""
        barriers = [("BAR.SYNC 0x0", 1, None, 0)] * 200
        for blocks, threads in ((1, 1024), (2, 1024), (1, 128)):
            taken, answer = self.products(*barriers, grid=(132 * blocks, 1, 1), block=(threads, 1, 1))
            self.assertEqual(answer["resident_blocks"] >= blocks, True)
            cycles = max(blocks * threads / 16, threads / 16 + 15)
            self.assertAlmostEqual(taken / 200, cycles, delta=3, msg=(blocks, threads))

    def test_what_multiprocessors_share_of_l2(self):
        """All read the same MiB: 64 bytes a cycle each while few do, 3,360 together."""
        loads = [(f"LDG.E.128 R8, [R4.64+{0x4000 * k:#x}]", 2, 1, 0) for k in range(64)]
        code = [("S2R R0, SR_TID.X", 5, 0, 0), ("IMAD.WIDE R4, R0, 0x10, RZ", 5, None, 1), *loads]
        for blocks, bytes_ in ((132, 3360 / 132), (13, 64)):
            _, answer = self.products(*code, grid=(blocks, 1, 1), block=(1024, 1, 1))
            self.assertAlmostEqual(answer["floors"]["L2"] * 1980 / ((1 << 20) / bytes_), 1, delta=0.01)

    def test_parts_of_sectors(self):
        """What lanes write of a sector takes L2 as long as a line of 128 bytes, whatever it is of; whole sectors take
        the port to it. Where nobody says what L2 moves, a part is two sectors of the port."""
        def cycles(store, apart, gpu="V100 SXM2", blocks=None):
            blocks = blocks or chips.numbers(gpu)["multiprocessors"]
            code = [("S2R R0, SR_TID.X", 5, 0, 0), (f"IMAD.WIDE R2, R0, {apart:#x}, RZ", 5, None, 1),
                    *[(f"{store} [R2.64+{k << 16:#x}], R4", 2, None, 0) for k in range(64)], ("EXIT", 5, None, 0)]
            answer = described(code, gpu, (blocks, 1, 1), (32, 1, 1))
            return answer["floors"]["L2"] * chips.numbers(gpu)["clock"] * 1e3 / 64
        line = chips.FITTED["partial_bytes"]
        for store, apart, gpu, wanted in (("STG.E.SYS", 4, "V100 SXM2", 4), ("STG.E.SYS", 64, "V100 SXM2", 160),
                                          ("STG.E.64.SYS", 64, "V100 SXM2", 160), ("STG.E.SYS", 16, "V100 SXM2", 80),
                                          ("STG.E.64.SYS", 8, "V100 SXM2", 8), ("STG.E", 64, "RTX 2060", 64),
                                          ("RED.E.ADD.STRONG.GPU", 64, "V100 SXM2", 64)):
            self.assertAlmostEqual(cycles(store, apart, gpu), wanted, delta=0.1, msg=(store, apart, gpu))
        for gpu, slices in (("Titan V", 1536), ("T4", 1024), ("A100 SXM4 40GB", 5120), ("H100 SXM5", 5120)):
            blocks = chips.numbers(gpu)["multiprocessors"]
            self.assertAlmostEqual(cycles("STG.E", 64, gpu), 32 * line * blocks / slices, delta=0.1, msg=gpu)
        self.assertAlmostEqual(cycles("STG.E.SYS", 64, blocks=10), 64, delta=0.1)  # the port of each binds

    def test_parts_that_a_warp_fills_up(self):
        """What it stores in the sectors of its last store meets that on the way to L2. Sectors that are full then take
        the port alone, others L2 once."""
        def cycles(*offsets):
            code = [("S2R R0, SR_TID.X", 5, 0, 0), ("IMAD.WIDE R2, R0, 0x20, RZ", 5, None, 1),
                    *[(f"STG.E.SYS [R2.64+{k:#x}], R4", 2, None, 0) for k in offsets], ("EXIT", 5, None, 0)]
            answer = described(code, "V100 SXM2", (80, 1, 1), (32, 1, 1))
            return answer["floors"]["L2"] * chips.numbers("V100 SXM2")["clock"] * 1e3
        self.assertAlmostEqual(cycles(*range(0, 32, 4)), 8 * 64, delta=1)
        self.assertAlmostEqual(cycles(*range(0, 28, 4)), 160 + 6 * 64, delta=1)
        self.assertAlmostEqual(cycles(0, 0x10000, 4, 0x10004), 4 * 160, delta=1)
        self.assertAlmostEqual(cycles(0, 4, 0x10000, 0x10004), 2 * (160 + 64), delta=1)

    def test_an_offset_below_an_address(self):
        """Warps 256 bytes apart read the line at their address and the one before it: none is read twice."""
        code = [("S2R R0, SR_CTAID.X", 5, 0, 0), ("S2R R1, SR_LANEID", 5, 0, 0), ("IMAD R2, R0, 0x40, R1", 5, None, 1),
                ("IMAD.WIDE R4, R2, 0x4, RZ", 5, None, 0), ("IADD3 R4, R4, 0x1000, RZ", 5, None, 0),
                ("LDG.E R6, desc[UR4][R4.64]", 2, 1, 0), ("LDG.E R7, desc[UR4][R4.64+-0x80]", 2, 1, 0),
                ("EXIT", 5, None, 2)]
        blocks = 40 * 1024
        answer = described(code, "T4", (blocks, 1, 1), (32, 1, 1))
        self.assertEqual(answer["dram_bytes_share"], blocks * 256 / 40)

    def test_products_of_one_warp_on_hopper(self):
        """16 x 8 x 16 multiply-adds: 0.63 of what tensor cores do for four warps together."""
        code = [(f"HMMA.16816.F32 R{24 + 4 * (k % 8)}, R4, R8, R{24 + 4 * (k % 8)}", 2, None, 0) for k in range(512)]
        taken, answer = self.products(*code, block=(256, 1, 1))
        self.assertEqual(answer["binding"], "tensor pipe")
        self.assertAlmostEqual(taken / (2 * 512 * 16 * 8 * 16 / (.63 * 473)), 1.02, delta=.04)

    def test_the_least_of_two(self):
        """VIADDMNMX: lanes read 32 words side by side up to the 15th, then the same one."""
        code = [("S2R R1, SR_LANEID", 5, 0, 0), ("VIADDMNMX R2, R1, 0x1, 0x10, PT", 5, None, 1),
                ("IMAD.WIDE R4, R2, 0x80, RZ", 5, None, 0), ("LDG.E R6, [R4.64]", 5, 0, 0), ("EXIT", 5, None, 1)]
        self.assertEqual(self.cycles(code, block=(32, 1, 1))[1]["simulated"], 5)

    def test_sums_of_a_product_keep_to_their_registers(self):
        """A loop that counts in the register behind them: two of halves, four of floats, two of 8 x 8 integers."""
        for product, counter in (("HMMA.16816.F16 R4, R8, R10, R4", 6), ("HMMA.1688.F32 R4, R10, R12, R4", 8),
                                 ("HMMA.16816.F32.BF16 R4, R10, R12, R4", 8), ("IMMA.8816.S8.S8 R4, R10, R12, R4", 6)):
            code = [f"MOV R{counter}, RZ", product, f"IADD3 R{counter}, R{counter}, 0x1, RZ",
                    f"ISETP.LT.AND P0, PT, R{counter}, 0x20, PT", "@P0 BRA 0x10", "EXIT"]
            _, answer = self.cycles([(text, 13, None, 0) for text in code], block=(32, 1, 1))
            self.assertEqual(answer["instructions"], 2 + 32 * 4, product)

    def test_numbers_lane_by_lane_in_uniform_registers(self):
        """Lanes whose numbers differ take turns: as many rounds as there are pairs of them."""
        for second, rounds in (("R6", 4), ("R7", 6)):
            code = ["S2R R1, SR_LANEID", "LOP3.LUT R4, R1, 0x3, RZ, 0xc0, !PT", "LOP3.LUT R6, R1, 0x1, RZ, 0xc0, !PT",
                    "SHF.R.U32.HI R7, RZ, 0x4, R1", "ISETP.GE.AND P2, PT, R4, 0x2, PT", "@P2 MOV R7, RZ",
                    "PLOP3.LUT P1, PT, PT, PT, PT, 0x80, 0x8",
                    "@P1 R2UR P0, UR10, R4", f"@P1 R2UR.OR P0, UR9, {second}",
                    "@P1 PLOP3.LUT P1, PT, P0, PT, PT, 0x80, 0x8", "@P1 BRA.U.ANY 0x70", "EXIT"]
            _, answer = self.cycles([(text, 13, None, 0) for text in code], block=(32, 1, 1))
            self.assertEqual(answer["instructions"], 8 + 4 * rounds, second)

    def test_lanes_that_have_one_number(self):
        """Lanes of each half of a warp: as many steps as the mask's lowest four bits and the predicate say."""
        start = ("S2R R1, SR_LANEID", "ISETP.GE.AND P1, PT, R1, 0x10, PT", "SEL R2, R1, RZ, P1")
        for match, steps in (("MATCH.ANY R3, R2", 15), ("MATCH.ALL PT, R3, R2", 1), ("MATCH.ALL PT, R3, RZ", 15)):
            code = (*start, match, "LOP3.LUT R3, R3, 0xf, RZ, 0xc0, !PT", "SHFL.IDX PT, R3, R3, RZ, 0x1f",
                    "IADD3 R3, R3, -0x1, RZ", "ISETP.GT.AND P0, PT, R3, RZ, PT", "@P0 BRA 0x60", "EXIT")
            _, answer = self.cycles([(text, 13, None, 0) for text in code], block=(32, 1, 1))
            self.assertEqual(answer["instructions"], 7 + 3 * steps, match)

    def test_halves_that_are_transposed(self):
        """Lane 9 has row 2 and columns 2, 3: what lanes 5 and 13 had in column 2, as so many steps say."""
        code = ("S2R R1, SR_LANEID", "IMAD R2, R1, 0x10001, RZ", "MOVM.16.MT88 R3, R2",
                "LOP3.LUT R3, R3, 0x1f, RZ, 0xc0, !PT", "SHFL.IDX PT, R3, R3, 0x9, 0x1f",
                "IADD3 R3, R3, -0x1, RZ", "ISETP.GT.AND P0, PT, R3, RZ, PT", "@P0 BRA 0x50", "EXIT")
        _, answer = self.cycles([(text, 13, None, 0) for text in code], block=(32, 1, 1))
        self.assertEqual(answer["instructions"], 6 + 3 * 9)

    def test_a_call_comes_back(self):
        code = ["MOV R0, 0x20", "CALL.REL.NOINC 0x30", "EXIT", "IMAD.MOV.U32 R8, RZ, RZ, R0",
                "IMAD.MOV.U32 R9, RZ, RZ, 0x0", "RET.REL.NODEC R8 0x0"]
        _, answer = self.cycles([(text, 5, None, 0) for text in code], block=(32, 1, 1))
        self.assertEqual(answer["instructions"], len(code))

    def test_constants_that_the_compiler_made(self):
        """As many steps as a word or a byte of bank 2 says, that a register leads to."""
        for load, steps in (("LDC R2, c[0x2][R1+0x4]", 0x1408), ("LDC.U8 R2, c[0x2][R1+0x4]", 0x08),
                            ("ULDC.U8 UR2, c[0x2][UR1+0x5]", 0x14), ("LDC.S8 R2, c[0x2][R1+0x8]", -1),
                            ("LDC.U16 R2, c[0x2][R1+0x8]", 0x01fd), ("LDC.64 R2, c[0x2][R1+0x4]", 0x1408)):
            twin = "U" if load[0] == "U" else ""
            code = [f"{twin}IADD3 {twin}R1, {twin}RZ, 0x4, {twin}RZ", load, f"MOV R2, {twin}R2", "MOV R3, RZ",
                    "IADD3 R3, R3, 0x1, RZ", "ISETP.LT.AND P0, PT, R3, R2, PT", "@P0 BRA 0x40", "EXIT"]
            _, answer = self.cycles([(text, 13, None, 0) for text in code], block=(32, 1, 1),
                                    constants=[(2, [7, 7, 0x1408, 0x01fd])])
            self.assertEqual(answer["instructions"], 5 + 3 * max(steps, 1), load)

    def steps(self, *code, constants=()):
        """Instructions that one warp executes on an RTX 5090."""
        answer = described([(text, 13, None, 0) for text in (*code, "EXIT")], "RTX 5090", block=(32, 1, 1),
                           constants=constants)
        return answer["instructions"]

    def test_integers_of_64_bits(self):
        """As many steps as such a sum needs to reach a number whose lower half is 0: six of 2^31 + 1 to 3 * 2^32."""
        numbers = [(3, [0, 3, 0x80000001, 0])]
        for start, add, test, steps in (
                ("CS2R R2, SRZ", "IADD.64 R2, R2, UR66", "ISETP.LT.S64.AND P0, PT, R2, UR64, PT", 6),
                ("MOV R3, -0x1", "IADD.64 R2, R2, UR66", "ISETP.LT.S64.AND P0, PT, R2, UR64, PT", 8),
                ("MOV.64 R2, RZ", "IADD.64 R2, R2, UR66", "ISETP.GE.U64.AND P0, PT, UR64, R2, PT", 6),
                ("UMOV.64 UR2, URZ", "UIADD3.64 UR2, UPT, UPT, UR2, UR66, URZ",
                 "UISETP.LT.S64.AND UP0, UPT, UR2, UR64, UPT", 6),
                ("MOV.64 R2, 0x10", "IADD.64 R2, R2, -0x1", "ISETP.GT.S64.AND P0, PT, R2, -0x9, PT", 25),
                ("MOV.64 R2, 0x1", "IADD.64 R2, -R2, RZ", "ISETP.LT.U64.AND P0, PT, R2, UR64, PT", 1)):
            again = "BRA.U UP0, 0x20" if test[0] == "U" else "@P0 BRA 0x20"
            taken = self.steps("LDCU.128 UR64, c[0x3][0x0]", start, add, test, again, constants=numbers)
            self.assertEqual(taken, 3 + 3 * steps, add)

    def test_the_least_and_one_of_two_of_64_bits(self):
        """Of 2^32 + 2 and 3: a loop takes so many steps, the most with its lower half."""
        numbers = [(3, [2, 1, 3, 0])]
        for chosen, steps in (("IMNMX.U64 PT, PT, R2, R4, R6, PT, !PT", 3),
                              ("IMNMX.U64 PT, PT, R2, R4, R6, !PT, !PT", 2),
                              ("IMNMX.S64 PT, PT, R2, R4, R6, PT, !PT", 3), ("SEL.64 R2, R4, R6, PT", 2),
                              ("SEL.64 R2, R4, R6, !PT", 3)):
            taken = self.steps("LDC.64 R4, c[0x3][0x0]", "LDC.64 R6, c[0x3][0x8]", chosen, "IADD3 R2, R2, -0x1, RZ",
                               "ISETP.GT.AND P0, PT, R2, RZ, PT", "@P0 BRA 0x30", constants=numbers)
            self.assertEqual(taken, 4 + 3 * steps, chosen)

    def test_a_branch_by_a_uniform_predicate(self):
        """What follows where it is not taken reads what was written before."""
        taken = self.steps("MOV R1, 0x4", "UISETP.NE.AND UP0, UPT, URZ, URZ, UPT", "BRA.U UP0, 0x60",
                           "IADD3 R1, R1, -0x1, RZ", "ISETP.GT.AND P0, PT, R1, RZ, PT", "@P0 BRA 0x30")
        self.assertEqual(taken, 4 + 3 * 4)

    def test_integers_on_the_lanes_of_multiply_adds(self):
        """Blackwell adds 128 a cycle and multiprocessor, Ada 64; both have 64 for shifts."""
        code = [(f"{{}} R{10 + k % 8}, R{10 + k % 8}, 0x1, RZ", 1, None, 0) for k in range(512)]
        for gpu, name, cycles in (("RTX 5090", "IADD3", 1), ("RTX 4090", "IADD3", 2), ("RTX 5090", "SHF.L.U32", 2)):
            chip = chips.numbers(gpu)
            said = [(text.format(name), *rest) for text, *rest in code] + [("EXIT", 5, None, 0)]
            answer = described(said, gpu, (chip["multiprocessors"], 1, 1), (256, 1, 1))
            taken = (answer["microseconds"] - chip["launch_kernel"]) * chip["clock"] * 1e3
            self.assertAlmostEqual(taken / (2 * 512), cycles, delta=0.15)

    def test_what_is_not_understood_is_a_reason(self):
        with self.assertRaisesRegex(rows.Unclear, "XROB"):
            described([("XROB R2, R1", 1, None, 0), ("LDG.E R4, [R2.64]", 1, 0, 0), ("EXIT", 5, None, 0)])
        with self.assertRaisesRegex(rows.Unclear, "HGMMA.SP"):
            described([("HGMMA.SP.64x128x32.F32 R24, gdesc[UR8], R24, R2", 1, None, 0), ("EXIT", 5, None, 0)])
        for name in ("UTMALDG.2D.MULTICAST", "UTMAREDG.2D.ADD", "UBLKCP.S.G.MULTICAST", "UBLKCP.S.S", "UTCHMMA",
                     "LDTM.16dp256bit.x8"):
            with self.assertRaisesRegex(rows.Unclear, name.split(".")[0]):
                described([(f"{name} [UR4], [UR6]", 1, None, 0), ("EXIT", 5, None, 0)])
        with self.assertRaisesRegex(rows.Unclear, "ART0 is not modelled"):
            described([("SYNCS.ARRIVE.TRANS64.ART0 RZ, [R4+URZ], R2", 1, None, 0), ("EXIT", 5, None, 0)])
        with self.assertRaisesRegex(rows.Unclear, "nobody has initialised"):
            described([("UTMALDG.2D [UR4], [UR8]", 1, None, 0), ("EXIT", 5, None, 0)])
        with self.assertRaisesRegex(rows.Unclear, "does not end"):
            described([("BRA 0x0", 5, None, 0), ("EXIT", 5, None, 0)], block=(32, 1, 1))
        with self.assertRaisesRegex(rows.Unclear, "no block fits"):
            described([("EXIT", 5, None, 0)], block=(4096, 1, 1))


class Boxes(unittest.TestCase):
    """Copies by TMA and barriers in shared memory, by hand, on an H100."""

    # A barrier of one arrival at address 0; R2 and R4 stay 0.
    BEGIN = [("UMOV UR4, 0x1ffffe", 5, None, 0), ("SYNCS.EXCH.64 URZ, [URZ], UR4", 5, None, 0)]
    MAP = ("ULDC.64 UR12, c[0x0][0x198]", 5, None, 0)
    COPY = "UTMALDG.4D [UR20], [UR12]", 5, None, 0
    END = ("EXIT", 5, None, 0)
    BYTES = 128 * 64 * 2
    IMAGES = maps.Map(arguments.BUFFER, 2, (4096, 16, 16, 64), (1, 8, 16, 64), (1, 1, 1, 1))

    def setUp(self):
        try:
            tools.find("cc")
        except tools.Missing as missing:
            self.skipTest(str(missing))

    @staticmethod
    def asks(phase=0):
        """Asks whether that phase is over."""
        return ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], "
                + (f"{phase << 31:#x}" if phase else "R4")), 5, 0, 0

    @staticmethod
    def expect(bytes_):
        return [(f"MOV R3, {bytes_:#x}", 5, None, 0), ("SYNCS.ARRIVE.TRANS64 RZ, [R2+URZ], R3", 5, None, 0)]

    def told(self, code, grid=132, block=1, tensor_map=None):
        answer = described([*code, self.END], "H100 SXM5", (grid, 1, 1), (block, 1, 1), tensor_map)
        return (answer["microseconds"] - chips.FITTED["launch_kernel"]) * 1980, answer

    def copies(self, tensor_map, row=0, count=1, grid=132):
        """So many boxes, each block's from an image of its own, from a row on."""
        corner = [("UMOV UR22, 0x0", 5, None, 0), ("UMOV UR23, 0x0", 5, None, 0),
                  (f"UMOV UR24, {row & 0xffffffff:#x}", 5, None, 0), ("S2UR UR25, SR_CTAID.X", 5, 0, 0)]
        next_image = ("UIADD3 UR25, UR25, 0x84, URZ", 5, None, 1)
        return self.told([*self.BEGIN, self.MAP, *corner, *self.expect(count * self.BYTES),
                          *[self.COPY, next_image] * count, self.asks(), self.END], grid, 1, tensor_map)

    def test_bytes_and_latency(self):
        """16 KiB to each of 132 multiprocessors, which share 5,120 bytes a cycle of L2: 128 rows of 4 cycles each."""
        taken, answer = self.copies(self.IMAGES)
        floors = {name: floor * 1980 for name, floor in answer["floors"].items()}
        self.assertAlmostEqual(floors["L2"], self.BYTES * 132 / 5120, delta=3)
        self.assertAlmostEqual(floors["shared memory"], self.BYTES / 128 + 3, delta=3)
        self.assertAlmostEqual(floors["TMA"], 128 * 4, delta=2)
        latency = chips.numbers("H100 SXM5")["latency_l2"]
        self.assertAlmostEqual(taken, 128 * 4 + latency, delta=120)
        _, answer = self.copies(self.IMAGES, grid=16)  # 64 bytes a cycle
        self.assertAlmostEqual(answer["floors"]["L2"] * 1980, self.BYTES / 64, delta=3)

    def test_boxes_of_two_dimensions(self):
        """A row takes 2 cycles, less than its share of L2."""
        flat = self.COPY[0].replace("4D", "2D"), *self.COPY[1:]
        matrix = maps.Map(arguments.BUFFER, 2, (4096, 64), (128, 64), (1, 1))
        corner = [("UMOV UR22, 0x0", 5, None, 0), ("UMOV UR23, 0x0", 5, None, 0)]
        taken, answer = self.told([*self.BEGIN, self.MAP, *corner, *self.expect(self.BYTES), flat, self.asks()],
                                  tensor_map=matrix)
        latency = chips.numbers("H100 SXM5")["latency_l2"]
        self.assertAlmostEqual(answer["floors"]["TMA"] * 1980, 128 * 2, delta=2)
        self.assertAlmostEqual(taken, self.BYTES * 132 / 5120 + latency, delta=120)

    def test_what_l2_cannot_hold_comes_from_memory(self):
        chip = chips.numbers("H100 SXM5")
        _, answer = self.copies(self.IMAGES, count=16)  # 35 MB in all
        share = chip["dram"] * chip["dram_read"] / chip["clock"] / 132
        self.assertAlmostEqual(answer["floors"]["DRAM"] * 1980 / (16 * self.BYTES / share), 1, delta=0.02)
        self.assertEqual(answer["binding"], "DRAM")

    def test_what_lies_outside_is_not_read(self):
        """But written to shared memory: half of a box's rows lie above the image."""
        _, inside = self.copies(self.IMAGES)
        _, half = self.copies(self.IMAGES, -4)
        self.assertAlmostEqual(half["floors"]["L2"] / inside["floors"]["L2"], 0.5, delta=0.01)
        self.assertAlmostEqual(half["floors"]["shared memory"], inside["floors"]["shared memory"], delta=0.002)

    def test_one_of_every_two(self):
        strided = maps.Map(arguments.BUFFER, 2, (4096, 32, 32, 64), (1, 8, 16, 64), (1, 2, 2, 1))
        for row, read in ((0, 1), (-4, 0.75), (-6, 0.625)):
            _, answer = self.copies(strided, row)
            self.assertAlmostEqual(answer["floors"]["L2"] * 1980 / (self.BYTES * 132 / 5120), read, delta=0.01)

    def test_the_same_box_comes_from_memory_once(self):
        same = maps.Map(arguments.BUFFER, 2, (1, 16, 16, 64), (1, 8, 16, 64), (1, 1, 1, 1))
        one_image = described([*self.BEGIN, self.MAP, ("UMOV UR22, 0x0", 5, None, 0), ("UMOV UR23, 0x0", 5, None, 0),
                               ("UMOV UR24, 0x0", 5, None, 0), ("UMOV UR25, 0x0", 5, None, 0),
                               *self.expect(self.BYTES), self.COPY, self.asks(), self.END],
                              "H100 SXM5", (132, 1, 1), (1, 1, 1), same)
        self.assertAlmostEqual(one_image["l2_miss"], 1 / 132, delta=0.001)
        self.assertEqual(self.copies(self.IMAGES)[1]["l2_miss"], 1)

    def test_a_map_that_nobody_knows(self):
        """The bytes that its barrier was told of, from a place of their own."""
        known, unknown = (self.copies(tensor_map, count=16)[1] for tensor_map in (self.IMAGES, None))
        for name in ("L2", "DRAM", "shared memory"):
            self.assertAlmostEqual(unknown["floors"][name] / known["floors"][name], 1, delta=0.02, msg=name)

    def test_bytes_that_are_told_behind_the_order(self):
        """Of boxes that nobody knows, in each of four phases: as many come, and the phase ends."""
        begin = [*self.BEGIN, self.MAP, ("S2UR UR23, SR_CTAID.X", 5, 0, 0)]
        order = [(f"UIADD3 UR22, UR22, {1 << 10:#x}, URZ", 5, None, 1), self.COPY, self.COPY]
        before, behind = ([*begin, *(step for phase in range(4) for step in (
            *(self.expect(self.BYTES) if first else order), *(order if first else self.expect(self.BYTES)),
            ("MOV R4, 0x0", 5, None, 0), *([("MOV R4, 0x80000000", 5, None, 0)] if phase % 2 else []), self.asks()))]
            for first in (True, False))
        (soon, before), (late, behind) = self.told(before), self.told(behind)
        for name in ("L2", "shared memory"):
            self.assertAlmostEqual(behind["floors"][name] / before["floors"][name], 1, delta=0.02, msg=name)
        self.assertAlmostEqual(late / soon, 1, delta=0.05)

    def test_a_barrier_that_a_store_initialises(self):
        """As that of SYNCS.EXCH; a store of other words, as by 128 threads, is none."""
        stored = [("MOV R6, 0x1ffffe", 5, None, 0), ("STS.64 [RZ], R6", 5, None, 0), ("SYNCS.CCTL.IVALL", 5, None, 0)]
        self.told([("S2R R0, SR_TID.X", 5, 0, 0), ("IMAD.SHL R0, R0, 0x8, RZ", 5, None, 1),
                   ("STS.64 [R0+0x40], R6", 5, None, 0), *stored], block=128)
        corner = [(f"UMOV UR{22 + i}, 0x0", 5, None, 0) for i in range(4)]
        rest = [self.MAP, *corner, *self.expect(self.BYTES), self.COPY, self.asks()]
        soon, late = (self.told([*begin, *rest], tensor_map=self.IMAGES)[0] for begin in (self.BEGIN, stored))
        self.assertAlmostEqual(late - soon, 15, delta=10)

    def test_an_arrival_says_which_phase_to_ask_for(self):
        """Two warps meet at a barrier of 64 three times, each time behind 900 cycles of one or the other."""
        begin = [("UMOV UR4, 0x1fff80", 5, None, 0), ("SYNCS.EXCH.64 URZ, [URZ], UR4", 5, None, 0),
                 ("S2R R0, SR_TID.X", 5, 0, 0), ("BAR.SYNC 0x0", 5, None, 1)]
        work = [("FADD R1, R2, R3", 9, None, 0)] * 100
        code = list(begin)
        for time in range(3):
            code += [(f"ISETP.{'GE' if time % 2 else 'LT'}.AND P1, PT, R0, 0x20, PT", 13, None, 0),
                     (f"@P1 BRA {16 * (len(code) + 102):#x}", 5, None, 0), *work,
                     ("SYNCS.ARRIVE.TRANS64.A1T0 R8, [R2+URZ], RZ", 5, 1, 0),
                     ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], R9", 5, 0, 2)]
        taken, _ = self.told(code, block=64)
        self.assertAlmostEqual(taken, 3 * 900, delta=300)

    def test_copies_follow_each_other(self):
        one, _ = self.copies(self.IMAGES)
        eight, answer = self.copies(self.IMAGES, count=8)
        self.assertAlmostEqual((eight - one) / (7 * 128 * 4), 1, delta=0.05)
        self.assertEqual(answer["binding"], "TMA")

    LONG = [("FADD R7, R8, R9", 9, None, 0)] * 100
    TWICE = (2 ** 20 - 2) << 1  # a barrier of two arrivals begins with it

    def two_warps(self, asks):
        """The second arrives 900 cycles late; the first goes on for 900 behind its test."""
        begin = [f"UMOV UR4, {self.TWICE:#x}", "@!P1 SYNCS.EXCH.64 URZ, [URZ], UR4", "BAR.SYNC.DEFER_BLOCKING 0x0",
                 "LOP3.LUT R1, R0, 0x1f, RZ, 0xc0, !PT", "ISETP.NE.AND P2, PT, R1, RZ, PT",
                 "ISETP.GE.AND P3, PT, R0, 0x20, PT", "@!P3 BRA 0x6d0"]
        return self.told([("S2R R0, SR_TID.X", 5, 0, 0), ("ISETP.NE.AND P1, PT, R0, RZ, PT", 13, None, 1),
                          *[(text, 13, None, 0) for text in begin], *self.LONG,
                          ("@!P2 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2+URZ], RZ", 5, None, 0), ("@P3 EXIT", 5, None, 0),
                          asks, ("@!P0 BRA 0x6f0", 5, None, 1), *self.LONG], block=64)[0]

    def test_a_test_waits_for_its_phase(self):
        """Phase 0 for both arrivals; the one before it is over from the beginning."""
        self.assertAlmostEqual(self.two_warps(self.asks(1)), 900 + 150, delta=60)
        self.assertAlmostEqual(self.two_warps(self.asks()) - self.two_warps(self.asks(1)), 900, delta=60)

    def test_a_phase_that_never_ends(self):
        with self.assertRaisesRegex(rows.Unclear, "all warps wait"):
            self.told([*self.BEGIN, self.asks()])
        with self.assertRaisesRegex(rows.Unclear, "all warps wait"):  # bytes that nobody brings
            self.told([*self.BEGIN, *self.expect(64), self.asks()])

    WRITE = [("S2R R0, SR_TID.X", 5, 0, 0), ("IMAD.SHL R0, R0, 0x10, RZ", 5, None, 1),
             ("STS.128 [R0+0x400], R8", 5, None, 0), ("BAR.SYNC 0x0", 5, None, 0)]
    FIRST = [("ISETP.NE.AND P1, PT, R0, RZ, PT", 13, None, 0), ("@P1 EXIT", 5, None, 0)]
    SEND = "UTMASTG.2D [UR20], [UR12]", 5, None, 0
    WAIT = [("UTMACMDFLUSH", 5, None, 0), ("DEPBAR.LE SB0, 0x0", 5, None, 0)]

    def sends(self, *boxes, times=1, tensor_map=None, block=256):
        """16 bytes of each thread from 0x400 on, so many times; then one sends what begins at these places."""
        corner = [("S2UR UR21, SR_CTAID.X", 5, 0, 0), ("UMOV UR22, 0x0", 5, None, 1)]
        order = [step for at in boxes for step in ((f"UMOV UR20, {at:#x}", 5, None, 0), self.SEND)]
        return self.told([self.MAP, *corner, *self.WRITE, *self.FIRST, *[*order, *self.WAIT] * times], 132, block,
                         tensor_map)

    def test_a_box_that_leaves_takes_what_was_written(self):
        """4 KiB of a map that nobody knows; what lies side by side leaves once, by one order or two."""
        for boxes in ((0x400,), (0x400, 0x800), (0xc00, 0x400)):
            answer = self.sends(*boxes)[1]
            self.assertAlmostEqual(answer["floors"]["L2"] * 1980, 4096 / 64, delta=1, msg=boxes)
            self.assertAlmostEqual(answer["floors"]["TMA"] * 1980, 4096 / 128 * 2, delta=1, msg=boxes)
        half = self.sends(0xc00)[1]
        self.assertAlmostEqual(half["floors"]["L2"] * 1980, 2048 / 64, delta=1)

    def test_a_box_that_leaves_by_its_map(self):
        """Rows of 16 bytes, half of a sector each, which take the port to L2 for twice as long."""
        for columns, slots in ((64, 1), (8, 2 * 2)):
            matrix = maps.Map(arguments.BUFFER, 2, (4096, 132 * 64), (2048 // columns, columns), (1, 1))
            answer = self.sends(0x400, tensor_map=matrix)[1]
            self.assertAlmostEqual(answer["floors"]["TMA"] * 1980, 2 * 2048 / columns, delta=1)
            self.assertAlmostEqual(answer["floors"]["L2"] * 1980, slots * 4096 / 64, delta=1)

    def test_what_l2_cannot_hold_goes_to_memory(self):
        """32 boxes of each block, each with a place of its own, of whole sectors: nothing is read for them. Then lines
        of 128 bytes, each in a page of its own."""
        chip = chips.numbers("H100 SXM5")
        corner = [("UMOV UR21, 0x0", 5, None, 0), ("UMOV UR22, 0x0", 5, None, 0), ("UMOV UR23, 0x0", 5, None, 0),
                  ("S2UR UR24, SR_CTAID.X", 5, 0, 0), ("UMOV UR20, 0x400", 5, None, 1)]
        send = [("UTMASTG.4D [UR20], [UR12]", 5, None, 0), ("UIADD3 UR24, UR24, 0x84, URZ", 5, None, 0)] * 32
        load = "LDG.E R8, [R2.64]", 5, 1, 0
        images = maps.Map(arguments.BUFFER, 2, (4224, 16, 16, 64), (1, 8, 16, 64), (1, 1, 1, 1))
        apart = maps.Map(arguments.BUFFER, 2, (4224, 16, 16, 1024), (1, 8, 16, 64), (1, 1, 1, 1))
        share = chip["dram"] * chip["dram_mixed"] / chip["clock"] / 132
        for tensor_map, cost in ((images, 1),
                                 (apart, 1 + chip["dram_page"] * (1 / 128 - 1 / 1024))):
            answer = self.told([self.MAP, *corner, load, *send, *self.WAIT], tensor_map=tensor_map)[1]
            self.assertAlmostEqual(answer["floors"]["DRAM"] * 1980 / (32 * self.BYTES / share), cost, delta=0.02)
            self.assertLessEqual(answer["l2_miss"], 1)

    def test_who_writes_again_waits_for_the_reading(self):
        """A second box has nothing to take; of a map that is known it is read again."""
        matrix = maps.Map(arguments.BUFFER, 2, (4096, 132 * 64), (32, 64), (1, 1))
        (once, _), (twice, _) = (self.sends(0x400, times=times, tensor_map=matrix) for times in (1, 2))
        read = 2 * 32 + chips.numbers("H100 SXM5")["latency_shared"]
        self.assertAlmostEqual(twice - once, read, delta=20)

    def test_a_box_that_leaves_and_of_which_nothing_was_written(self):
        with self.assertRaisesRegex(rows.Unclear, "UTMASTG.2D"):
            self.sends(0x2400)

    def test_a_box_that_comes_may_leave_again(self):
        send = [("UMOV UR20, 0x400", 5, None, 0), ("S2UR UR21, SR_CTAID.X", 5, 0, 0), ("UMOV UR22, 0x0", 5, None, 1)]
        bring = [("UMOV UR20, 0x400", 5, None, 0), ("UMOV UR21, 0x0", 5, None, 0),
                 *[(f"UMOV UR{at}, 0x0", 5, None, 0) for at in range(22, 26)]]
        answer = self.told([*self.BEGIN, self.MAP, *bring, *self.expect(self.BYTES), self.COPY, self.asks(), *send,
                            self.SEND, *self.WAIT])[1]
        self.assertAlmostEqual(answer["floors"]["L2"] * 1980, self.BYTES * 132 / 5120 + self.BYTES / 64, delta=3)

    # 16 KiB of each block's own, or from an address between two lines.
    PLACE = [("S2UR UR21, SR_CTAID.X", 5, 0, 0), ("UIMAD UR6, UR21, 0x4000, URZ", 5, None, 1),
             ("UMOV UR7, 0x6000", 5, None, 0), ("UMOV UR4, 0x400", 5, None, 0), ("UMOV UR8, 0x400", 5, None, 0),
             ("UMOV UR9, 0x0", 5, None, 0)]

    def test_a_run_of_bytes(self):
        """Comes as a box does, a line a row, and waits for its bytes; or leaves."""
        come, leave = ("UBLKCP.S.G [UR8], [UR6], UR4", 5, None, 0), ("UBLKCP.G.S [UR6], [UR8], UR4", 5, None, 0)
        taken, answer = self.told([*self.BEGIN, *self.PLACE, *self.expect(self.BYTES), come, self.asks()])
        latency = chips.numbers("H100 SXM5")["latency_l2"]
        self.assertAlmostEqual(answer["floors"]["L2"] * 1980, self.BYTES * 132 / 5120, delta=3)
        self.assertAlmostEqual(answer["floors"]["TMA"] * 1980, self.BYTES / 128, delta=1)
        self.assertAlmostEqual(taken, self.BYTES * 132 / 5120 + latency, delta=120)
        self.assertEqual(answer["l2_miss"], 1)
        answer = self.told([*self.PLACE, leave, *self.WAIT])[1]
        self.assertAlmostEqual(answer["floors"]["L2"] * 1980, self.BYTES / 64, delta=3)
        between = ("UIADD3 UR6, UR6, 0x70, URZ", 5, None, 0)
        answer = self.told([*self.BEGIN, *self.PLACE, between, *self.expect(self.BYTES), come, self.asks()])[1]
        self.assertAlmostEqual(answer["floors"]["TMA"] * 1980, self.BYTES / 128 + 1, delta=0.5)
        self.assertAlmostEqual(answer["floors"]["L2"] * 1980, (self.BYTES + 32) * 132 / 5120, delta=1)

    def test_copies_and_reads_share_a_port(self):
        """A read in each cycle while a box lands: what its writing takes comes on top, but for 24 taken in advance."""
        loads = [("LDS R8, [R2+0x400]", 1, 1, 0)] * 1500
        corner = [(f"UMOV UR{at}, 0x0", 5, None, 0) for at in range(20, 26)]
        alone, beside = (self.told([*self.BEGIN, self.MAP, *corner, *self.expect(self.BYTES),
                                    (guard + self.COPY[0], 5, None, 0), *loads], tensor_map=self.IMAGES)[0]
                         for guard in ("@!PT ", ""))
        self.assertAlmostEqual(beside - alone, self.BYTES / 128 - 24, delta=4)


class Kernels(unittest.TestCase):
    """Compiled by nvcc and read back by cuobjdump."""

    @classmethod
    def setUpClass(cls):
        if lacking := missing_tool():
            raise unittest.SkipTest(lacking)
        cls.folder = pathlib.Path(SCRATCH.name) / "gradus+bounds"
        cls.folder.mkdir()
        (cls.folder / "kernels.cu").write_bytes((HERE / "kernels.cu").read_bytes())
        cls.teller = tell.Teller(SCRATCH.name, SCRATCH.name)

    def tell(self, *arguments_, **named):
        told = self.teller.tell(row(*arguments_, **named))
        self.assertEqual(told.reason, "")
        return told

    def test_products(self):
        told = self.tell("products", "", "864", "256")  # 8 blocks of 8 warps on each of 108
        cycles = 8 * 8 / 4 * 4096 * 2
        self.assertAlmostEqual(told.milliseconds * 1.41e6 / cycles, 1, delta=0.06)
        self.assertEqual(told.binding, "multiply-add pipe")

    def test_products_where_the_pipe_is_twice_as_wide(self):
        told = self.tell("products", "", "1056", "256", gpu="H100 SXM5", capability="9.0")
        self.assertAlmostEqual(told.milliseconds * 1.98e6 / (8 * 8 / 4 * 4096), 1.1, delta=0.1)

    def test_a_copy(self):
        n = 1 << 24
        told = self.tell("copy", f"N={n}", str(n // 256), "256")
        reached = 2 * 16 * n / (told.milliseconds / 1e3) / 1555e9
        self.assertAlmostEqual(reached, chips.FITTED["dram_mixed"], delta=0.05)
        self.assertEqual(told.binding, "DRAM")

    def test_a_copy_on_blackwell(self):
        """Whose kernels find the extents of their blocks elsewhere."""
        n = 1 << 26
        for gpu, capability, bytes_ in (("RTX 5090", "12.0", 1792e9), ("B200", "10.0", 8000e9)):
            told = self.tell("copy", f"N={n}", str(n // 256), "256", gpu, capability)
            reached = 2 * 16 * n / (told.milliseconds / 1e3) / bytes_
            self.assertAlmostEqual(reached, chips.FITTED["dram_mixed"], delta=0.05)

    def test_caches_that_a_profiler_empties(self):
        """What is read again and again lies in L2, but not where Nsight Compute times each launch."""
        warm = row("copy", "N=262144", "1024", "256")
        emptied = dataclasses.replace(warm, repo="gradus+bounds", notes="Nsight Compute")
        teller = tell.Teller(SCRATCH.name, SCRATCH.name)
        teller.note([warm, emptied])
        told = [teller.tell(each).details["floors"]["DRAM"] for each in (warm, emptied)]
        self.assertEqual(told[0], 0)
        self.assertAlmostEqual(told[1] / (4 * 2 ** 20 / 1555e3), 1.1, delta=.1)

    def test_writes_that_come_late(self):
        """After so many reads that the wave which tells what misses ends before them."""
        rows_, cols = 864, 1 << 16
        told = self.tell("read_then_write", f"rows={rows_} cols={cols}", str(rows_), "256")
        reached = 2 * 4 * rows_ * cols / (told.milliseconds / 1e3) / 1555e9
        self.assertAlmostEqual(reached, chips.FITTED["dram_mixed"], delta=0.08)

    def test_memory_is_shared_by_those_who_have_blocks(self):
        """Rows of one size take the memory as long as there are bytes, on however few multiprocessors they are read."""
        for rows_ in (27, 108, 216):
            told = self.tell("weighted", f"rows={rows_} cols={1 << 20}", str(rows_), "1024")
            reached = 4 * rows_ * (1 << 20) / (told.details["floors"]["DRAM"] / 1e6) / 1555e9
            self.assertAlmostEqual(reached, chips.FITTED["dram_mixed"], delta=0.04, msg=rows_)

    def test_each_load_misses_for_itself(self):
        """What all blocks share stays in L1 from one to the next; that the first ones ask L2 for it, where it lies,
        does not make the others' rows lie there."""
        told = self.tell("weighted", "rows=8640 cols=8192", "8640", "1024")
        reached = 4 * 8640 * (8192 + 1024) / (told.details["floors"]["DRAM"] / 1e6) / 1555e9
        self.assertAlmostEqual(reached, chips.FITTED["dram_mixed"], delta=0.05)

    def test_copies_of_tma(self):
        """Memory binds, both ways; a block has to wait for its 16 KiB, others come and go meanwhile."""
        told = self.tell("through_shared_memory", "", "33000", "256", "H100 SXM5", "9.0")
        chip = chips.numbers("H100 SXM5")
        reached = 2 * 33000 * 16384 / (told.milliseconds * 1e6) / chip["dram"] / chip["dram_mixed"]
        self.assertEqual(told.binding, "DRAM")
        self.assertAlmostEqual(reached, 1, delta=0.1)

    def test_pages_of_the_memory(self):
        """A line of 128 bytes in a page of 1,024 costs 64 more, but for the eighth that a whole page pays."""
        n = 1 << 24
        side_by_side, apart = (self.tell(f"lines<{k}>", "", str(n // 256), "256").milliseconds for k in (1, 32))
        self.assertAlmostEqual(apart / side_by_side, 1 + (64 - 8) / 128 / 2, delta=0.02)

    def test_atomics_on_one_address(self):
        """One after the other, 3.3 cycles each, however many multiprocessors send them; others go side by side. Of
        integers the compiler adds up those of a warp first, and the next one comes a cycle later."""
        n = 1 << 22
        one, ordered, apart, counted = (self.tell(kernel, "", str(n // 256), "256") for kernel in
                                        ("add_to_one", "add_side_by_side", "add_apart", "count_in_one"))
        self.assertEqual(one.binding, "atomics on one address")
        self.assertAlmostEqual(one.milliseconds * 1.41e6 / (n * chips.FITTED["atomic_float"]), 1, delta=0.01)
        words, kilobytes = "atomics on one address", "atomics in one kilobyte"
        for told in (ordered, apart):
            self.assertLess(max(told.details["floors"][name] for name in (words, kilobytes)) / 1e3,
                            told.milliseconds / 10)
        self.assertLess(ordered.milliseconds, apart.milliseconds / 2)
        self.assertLess(apart.milliseconds, one.milliseconds / 10)
        self.assertAlmostEqual(counted.details["floors"][words] * 1410 / (n / 32), 1, delta=0.01)

    def test_atomics_in_one_kilobyte(self):
        """Of 32 sectors 32 bytes that are as if drawn meet 20.4 in the mean: 32 * (1 - (31 / 32) ** 32)."""
        n = 1 << 22
        told = self.tell("count_bytes", "", str(n // 256), "256", "H100 SXM5", "9.0", dtype="uint8")
        self.assertEqual(told.binding, "atomics in one kilobyte")
        sectors = n / 32 * 32 * (1 - (31 / 32) ** 32)
        self.assertAlmostEqual(told.milliseconds * 1.98e6 / (sectors * chips.FITTED["atomic_sector"]), 1, delta=0.03)

    def test_swaps_that_contend(self):
        """How often they are made again nobody says."""
        told = self.teller.tell(row("swap_in_one", "", "1024", "256"))
        self.assertIn("compare-and-swaps on one address contend", told.reason)

    def test_words_in_one_bank(self):
        row_, column = (self.tell(f"columns<{stride}>", "", "864", "256") for stride in (1, 32))
        loads = 8 * 8 * 1024  # of the warps on a multiprocessor
        self.assertAlmostEqual(column.milliseconds * 1.41e6 / (32 * loads), 1, delta=0.06)
        self.assertLess(row_.milliseconds, column.milliseconds / 10)
        self.assertEqual(column.binding, "shared memory")

    def test_scattered_lanes(self):
        """In L1's four banks, sector by sector: of rows of 1,024 words all lie in one, of 1,020 in all four, of
        which Turing's give half a sector a cycle each."""
        a100, h100, t4 = ("A100 SXM4 40GB", "8.0"), ("H100 SXM5", "9.0"), ("T4", "7.5")
        for stride, (gpu, capability), cycles in ((1024, a100, 32), (1040, a100, 16), (1020, a100, 8), (1024, h100, 32),
                                                  (1024, t4, 64), (1020, t4, 16)):
            chip = chips.numbers(gpu)
            told = self.tell(f"scattered<{stride}>", "", str(4 * chip["multiprocessors"]), "256", gpu, capability)
            self.assertAlmostEqual(told.floor * chip["clock"] * 1e6 / (4 * 8 * 1024), cycles, delta=0.1)
            self.assertEqual(told.binding, "L1")

    def test_tables_among_the_constants(self):
        for gpu, capability in (("T4", "7.5"), ("A100 SXM4 40GB", "8.0"), ("H100 SXM5", "9.0"), ("B200", "10.0"),
                                ("RTX 5090", "12.0")):
            def instructions(kernel, blocks):  # of one in the mean
                return self.tell(kernel, "", str(blocks), "32", gpu, capability).details["instructions"]
            one, two, three = (instructions("by_number", blocks) for blocks in (1, 2, 3))
            self.assertGreater(two, one + 9 / 2 * 3)
            self.assertAlmostEqual((three - one) / (two - one), (111 / 3 - 1) / (11 / 2 - 1), delta=0.1)
            more = instructions("by_jump", 8) - instructions("by_jump", 1)
            self.assertAlmostEqual(more, 8 * 255 / 8 - 8, delta=8)

    def test_reasons(self):
        for wrong, said in ((row("nothing", "", "1", "32"), "no kernel nothing"),
                            (row("copy", "", "1", "32", file="gone.cu"), "no source"),
                            (row("copy", "", "", "32"), "not given"),
                            (row("copy", "", "1", "0"), "holds nothing"),
                            (row("copy", "N=8", "1", "32", gpu="Voodoo 2"), "Voodoo 2")):
            self.assertIn(said, self.teller.tell(wrong).reason)

    def test_a_block_that_waits_for_many(self):
        for how in ("true", "false"):
            self.assertIn("until other blocks have written",
                          self.teller.tell(row(f"look_back<{how}>", "", str(1 << 16), "32")).reason)
        self.assertGreater(self.teller.tell(row("look_back<false>", "", "256", "32")).milliseconds, 0)

    def test_a_file_that_does_not_compile(self):
        (self.folder / "broken.cu").write_text("__global__ void broken() { nonsense }\n")
        self.assertIn("does not compile", self.teller.tell(row("broken", "", "1", "32", file="broken.cu")).reason)

    def test_host_functions_and_headers_that_are_not_there(self):
        (self.folder / "host.cu").write_text('#include "library.h"\n__global__ void ends() {}\nint main()\n{\n'
                                             "    library_call();\n    return 0;\n}\n")
        self.assertEqual(self.teller.tell(row("ends", "", "1", "32", file="host.cu")).reason, "")

    def test_a_kernel_beside_what_does_not_compile(self):
        (self.folder / "beside.cu").write_text(
            "#include <library/bench.cuh>\nusing namespace library;\nstruct Held { library::state state; };\n"
            "__global__ void other(Held held) { held.state.run(); }\n"
            "__global__ void faulty() { nonsense }\n"
            "template <typename T> __global__ void ends(T *out) { *out = 1; }\n"
            "BENCH(other)\n    .name(\"other\");\n")
        self.tell("ends<uint32_t>", "", "1", "32", file="beside.cu")
        for name, said in (("faulty", "nonsense"), ("nothing", "no kernel nothing")):
            self.assertIn(said, self.teller.tell(row(name, "", "1", "32", file="beside.cu")).reason)

    def test_a_kernel_of_an_extension(self):
        """The row names no template arguments, and the library's headers, which bring halves, are not there."""
        (self.folder / "extension.cu").write_text(
            "#include <library/extension.h>\ntemplate <typename T, int COUNT> __global__ void scale(T *x)\n{\n"
            "    for (int i = 0; i < COUNT; i++)\n        x[i] = (T)(2.f * (float)x[i]);\n}\n"
            "void run(library::Tensor x)\n{\n    constexpr int kCount = 4;\n    DISPATCH(x.type(), [&] {\n"
            "        scale<scalar_t, kCount><<<1, 32>>>(x.data<scalar_t>());\n    });\n}\n")
        few, many = (self.tell("scale", "", "1", "32", file="extension.cu", dtype=dtype).details["instructions"]
                     for dtype in ("fp32", "bf16"))
        self.assertNotEqual(few, many)

    def test_a_file_of_a_newer_standard(self):
        (self.folder / "newer.cu").write_text("template <int N> requires(N > 0) __global__ void ends(int *out)\n{\n"
                                              "    *out = N;\n}\ntemplate __global__ void ends<1>(int *);\n")
        self.tell("ends<1>", "", "1", "32", file="newer.cu")

    def test_a_header_of_a_newer_standard(self):
        """Which the file includes in angle brackets, as headers of a folder of its own are."""
        (self.folder / "include").mkdir(exist_ok=True)
        (self.folder / "include/sizes.cuh").write_text("template <typename T> concept Word = sizeof(T) == 4;\n")
        (self.folder / "sized.cu").write_text("#include <sizes.cuh>\ntemplate <Word T> __global__ void sized(T *out)\n"
                                              "{\n    auto write = [&] <unsigned N> () { out[N] = N; };\n"
                                              "    write.template operator()<1>();\n}\n")
        self.tell("sized<float>", "", "1", "32", file="sized.cu")
        (self.folder / "older.cu").write_text("// it requires no concept\n__global__ void older(int *concept)\n{\n"
                                              "    *concept = 1;\n}\n")
        self.tell("older", "", "1", "32", file="older.cu")

    def test_functions_that_a_header_marks(self):
        """The file does not compile as it is, and the macro stands elsewhere than the function."""
        (self.folder / "marks.h").write_text("#include <library/tensor.h>\n#define BOTH __host__ __device__ inline\n")
        (self.folder / "marked.cu").write_text('#include "marks.h"\nBOTH int up(int a) { return a + 1; }\n'
                                               "__global__ void marked(int *out) { out[0] = up(out[1]); }\n"
                                               "void run(library::tensor out) { marked<<<1, 32>>>(out.data()); }\n")
        self.tell("marked", "", "1", "32", file="marked.cu")

    def test_headers_that_lie_elsewhere(self):
        """Names count from a folder that only the build files say; of several the outermost."""
        for folder in ("headers/cpp/Sum", "vendor/old/headers/cpp/Sum"):
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
            (self.folder / folder / "sum.cuh").write_text("#include \"Sum/type.cuh\"\n")
        (self.folder / "headers/cpp/Sum/type.cuh").write_text("using word = float;\nconstexpr int kLeast = 1;\n")
        (self.folder / "lone").mkdir(exist_ok=True)
        (self.folder / "lone/summed.cu").write_text('#include "Sum/sum.cuh"\n__global__ void summed(word *out)\n{\n'
                                                    "    *out = kLeast;\n}\n")
        self.tell("summed", "", "1", "32", file="lone/summed.cu")

    def test_comments_of_functions_that_are_left_out(self):
        """Of the host; what looks like a function begins within the comment. Quotes hold none."""
        (self.folder / "said.cu").write_text(
            '#include "library.h"\n/**\n * Launches said (in blocks of 32, see below)\n * @param out where\n */\n'
            'void run(float *out)\n{\n    library::call("https://a.b/c", \'"\');\n}\n'
            "__global__ void said(float *out) { *out = 1; }\n")
        self.tell("said", "", "1", "32", file="said.cu")

    def test_a_kernel_without_a_namespace_of_name(self):
        (self.folder / "hidden.cu").write_text("namespace {\n__global__ void hidden(float *out) { *out = 1; }\n}\n"
                                               "void run(float *out) { hidden<<<1, 32>>>(out); }\n")
        self.tell("hidden", "", "1", "32", file="hidden.cu")

    def test_a_template_in_a_namespace(self):
        (self.folder / "space.cuh").write_text(
            "namespace outer { struct S { int a; };\n// namespace {\nnamespace inner {\n"
            "template <int n> __global__ void within(float *out) { out[n] = 1; }\n} }\n")
        (self.folder / "space.cu").write_text('#include "space.cuh"\n')
        for name in ("within<4>", "outer::inner::within<4>"):
            self.tell(name, "", "1", "32", file="space.cu")

    def test_shared_memory_that_only_the_launch_names(self):
        """No less than what a block touches: 96 KiB leave room for one on an A100."""
        (self.folder / "room.cu").write_text(
            "extern __shared__ float words[];\n__global__ void room(float *out)\n{\n"
            "    for (int i = threadIdx.x; i < 24 * 1024; i += blockDim.x)\n        words[i] = i;\n"
            "    __syncthreads();\n    out[threadIdx.x] = words[24 * 1024 - 1 - threadIdx.x];\n}\n")
        told = self.tell("room", "", "108", "256", file="room.cu")
        self.assertEqual(told.details["resident_blocks"], 1)

    def test_a_header_that_wants_what_comes_before_it(self):
        """Types and sizes of the file that includes it."""
        (self.folder / "late.cuh").write_text("template <int n> __global__ void late(word *out) { out[n] = WIDE; }\n")
        (self.folder / "early.cu").write_text("typedef float word;\nconst int WIDE = 4;\n#include \"late.cuh\"\n"
                                              "int main() { nonsense(); }\n")
        self.tell("late<4>", "", "1", "32", file="late.cuh")

    def test_names_of_a_kernel_in_a_header(self):
        """The file that is named launches it: the names of its sizes stand elsewhere."""
        (self.folder / "fill.cuh").write_text("__global__ void fill(float *out, int height, int width)\n"
                                              "{ if (threadIdx.x < width * height) out[threadIdx.x] = 1; }\n")
        (self.folder / "bench.cu").write_text('#include "fill.cuh"\nint main() { fill<<<1, 32>>>(0, 1, 2); }\n')
        self.tell("fill", "width=16 height=2", "1", "32", file="bench.cu")

    def test_a_header_that_leaves_headers_to_others(self):
        (self.folder / "part.cuh").write_text("__global__ void part(uint8_t *out) { out[0] = 1; }\n")
        self.tell("part", "", "1", "32", file="part.cuh")
        (self.folder / "less.cuh").write_text("template <int n> __global__ void less(uint8_t *out)\n"
                                              "{ out[n] = WIDE; }\n")
        self.assertIn("WIDE", self.teller.tell(row("less<4>", "", "1", "32", file="less.cuh")).reason)

    def test_the_table(self):
        table = pathlib.Path(SCRATCH.name) / "table.csv"
        table.write_text("repo,file,kernel,dtype,problem_size,grid,block,gpu,compute_capability,time_ms\n"
                         "gradus/bounds,kernels.cu,copy,fp32,N=1048576,4096,256,T4,7.5,0.15\n"
                         "gradus/bounds,kernels.cu,none,fp32,N=1,1,1,T4,7.5,1\n")
        done = subprocess.run([sys.executable, "-B", ROOT / "scripts/validate_bounds.py", "--csv", table, "--sources",
                               SCRATCH.name, "--rows"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not told: no kernel none", done.stdout)
        self.assertIn("| gradus/bounds | T4 | 1 of 2 |", done.stdout)

    def test_a_kernel_of_a_file(self):
        def say(*more):
            program = [sys.executable, "-B", ROOT / "scripts/tell_bounds.py", HERE / "kernels.cu", "--kernel"]
            return subprocess.run([*program, *more], capture_output=True, text=True, check=False)
        told = say("copy", "--grid", "4096", "--block", "256", "--size", "N=2^20", "--gpu", "a100", "--gpu", "Voodoo 2")
        self.assertEqual(told.returncode, 2)
        self.assertRegex(told.stdout, r"copy +a100 +0\.0\d+ ms, floor 0\.0\d+ ms, DRAM")
        self.assertIn("not told: the GPU Voodoo 2", told.stdout)
        self.assertIn("grid, block must be given", say("copy", "--gpu", "a100").stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
