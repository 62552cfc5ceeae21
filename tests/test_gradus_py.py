"""scripts/gradus.py: the page's example, a network that learns, errors that are raised."""

import math
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
sys.dont_write_bytecode = True

import gradus  # noqa: E402

HEADERS = ("core/core.h", "kernels/ops/ops.h", "nn/nn.h", "amp/amp.h", "data/data.h", "optim/optim.h")


class Module(unittest.TestCase):
    def test_gradients_are_those_by_hand(self):
        for device in ("cpu", "ref"):
            g = gradus.Context(device=device, seed=1)
            x, w = g.tensor([[1, 2], [3, 4]]), g.variable([[0.5], [-0.25]])
            y = g.call("gr_tanh", g.call("gr_dense", x, w, None, None))
            self.assertEqual((x.shape, w.shape, y.shape), ((2, 2), (2, 1), (2, 1)))
            expected = [math.tanh(0.5 * a - 0.25 * b) for a, b in ((1, 2), (3, 4))]
            for got, want in zip(y.list(), expected):
                self.assertAlmostEqual(got[0], want, places=6)
            self.assertIsNone(w.grad)
            g.backward(y, [[1], [10]])
            slopes = [s * (1 - t * t) for s, t in zip((1, 10), expected)]
            dw = w.grad.list()
            self.assertAlmostEqual(dw[0][0], 1 * slopes[0] + 3 * slopes[1], places=5)
            self.assertAlmostEqual(dw[1][0], 2 * slopes[0] + 4 * slopes[1], places=5)

    def test_a_network_learns(self):
        g = gradus.Context(seed=1)
        net = g.sequential(g.layer("dense", gradus.DenseOptions(units=8)), g.layer("tanh"),
                           g.layer("dense", gradus.DenseOptions(units=1)))
        adam = g.optimizer("adam", net, 0.05)
        x, y = g.tensor([[0, 0], [0, 1], [1, 0], [1, 1]]), g.labels([0, 1, 1, 0])
        for _ in range(300):
            loss = g.minimize(adam, g.call("gr_sigmoid_bce", g.forward(net, x), y, None))
        self.assertLess(loss, 0.01)
        self.assertEqual([z[0] > 0 for z in g.forward(net, x).list()], [False, True, True, False])

    def test_numbers_go_as_doubles(self):
        g = gradus.Context()
        self.assertEqual(g.call("gr_scale", g.tensor([1, -2]), 0.5).list(), [0.5, -1])
        self.assertEqual(g.call("gr_scale", g.tensor([1, -2]), 3).list(), [3, -6])
        self.assertEqual(g.call("gr_mean", g.tensor([1, 2, 6])).item(), 3)
        with self.assertRaisesRegex(gradus.Error, "rate"):
            g.layer("dropout", 1)

    def test_the_lists_are_the_header_s(self):
        root = pathlib.Path(__file__).resolve().parent.parent
        text = "".join((root / name).read_text() for name in HEADERS)
        text = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
        found = re.findall(r"[;{} ](bool|void|gr_tensor|gr_module) (?:\*)?(gr_\w+)\(([^;{()]*)\);", text)
        doubles = {name: words for _, name, words in found if re.search(r"\bdouble \w+", words)}
        self.assertEqual(doubles.keys() - {"gr_noise_add", "gr_span_end"}, gradus.DOUBLES)
        for name in gradus.DOUBLES:
            self.assertRegex(doubles[name], r"^[^,]*(, (?!double)[^,]*)*, double \w+$")
        self.assertLessEqual(gradus.BOOLS, {name for result, name, _ in found if result == "bool"})

    def test_weights_go_to_a_file_and_back(self):
        g, other = gradus.Context(seed=1), gradus.Context(seed=2)
        nets = [c.sequential(c.layer("dense", gradus.DenseOptions(units=3))) for c in (g, other)]
        answers = [c.forward(net, c.tensor([[1, 2]])).list() for c, net in zip((g, other), nets)]
        self.assertNotEqual(*answers)
        with tempfile.TemporaryDirectory() as folder:
            self.assertIs(g.call("gr_save_weights", nets[0], pathlib.Path(folder) / "é"), True)
            self.assertEqual(os.listdir(folder), ["é"])
            self.assertIs(other.call("gr_load_weights", nets[1], f"{folder}/é"), True)
            with self.assertRaisesRegex(gradus.Error, "nowhere"):
                g.call("gr_load_weights", nets[0], f"{folder}/nowhere")
        self.assertEqual(other.forward(nets[1], other.tensor([[1, 2]])).list(), answers[0])

    def test_errors_are_raised_and_forgotten(self):
        g = gradus.Context()
        with self.assertRaisesRegex(gradus.Error, r"dense x\[1,2\] w\[3,1\]: .*agree"):
            g.call("gr_dense", g.tensor([[1, 2]]), g.tensor([[1], [2], [3]]), None, None)
        with self.assertRaisesRegex(gradus.Error, "gpu"):
            gradus.Context(device="gpu")
        with self.assertRaisesRegex(gradus.Error, "0 to 4 dimensions, not 5"):
            g.tensor([[[[[1]]]]])
        with self.assertRaises(ValueError):
            g.tensor([[1, 2], [3]])
        with self.assertRaisesRegex(TypeError, "sead.*seed"):
            gradus.Context(sead=3)
        other = gradus.Context()
        with self.assertRaisesRegex(gradus.Error, "another context"):
            other.call("gr_add", g.tensor([1]), other.tensor([1]), None)
        with self.assertRaisesRegex(gradus.Error, "half precision"):
            half = gradus.Context(precision=104)
            half.forward(half.sequential(half.layer("dense", gradus.DenseOptions(units=1))), half.tensor([[1]])).list()
        self.assertEqual(g.call("gr_relu", g.tensor([-1, 1])).list(), [0, 1])


if __name__ == "__main__":
    unittest.main()
