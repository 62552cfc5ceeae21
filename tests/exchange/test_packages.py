#!/usr/bin/env python3
"""Weights to PyTorch and Keras and back: the same logits on both sides. Needs numpy, safetensors and one of the two.

test_packages.py ANSWERS torch|keras
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("KERAS_BACKEND", "torch")
ANSWERS, PACKAGE = sys.argv.pop(1), sys.argv.pop(1)
try:
    import numpy as np
    import safetensors.numpy
    import torch
    keras = __import__("keras") if PACKAGE == "keras" else None
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import networks

TOLERANCE = 1e-4  # of the largest logit


class Exchange(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="gradus-exchange-")
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def answers(self, net, weights, x, *export):
        """Gradus' logits by these weights, and what it tells of them."""
        x.tofile(self.folder / "x")
        words = [ANSWERS, net, weights, *map(str, x.shape[1:3]), "x", "z", *export]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.fromfile(self.folder / "z", np.float32).reshape(len(x), -1), done.stdout

    def same(self, ours, theirs):
        self.assertEqual(ours.shape, theirs.shape)
        self.assertLess(np.abs(ours - theirs).max(), TOLERANCE * np.abs(theirs).max())


class PyTorch(Exchange):
    def round_trip(self, name, height, width):
        torch.manual_seed(3)
        make = getattr(networks, "torch_" + name.replace("-", "_"))
        net, x = networks.stir(make(torch, height, width), torch), networks.pictures(3, height, width)
        state = {key: value.contiguous().numpy() for key, value in net.state_dict().items()}
        safetensors.numpy.save_file(state, self.folder / "theirs")
        want = networks.torch_answers(net, torch, x)
        ours, told = self.answers(name, "theirs", x, "ours", "torch")
        self.same(ours, want)
        back = {key: torch.from_numpy(value) for key, value in
                safetensors.numpy.load_file(self.folder / "ours").items()}
        other = make(torch, height, width).eval()
        if name == "resnet18-cifar":
            other.load_state_dict(back)  # strict: all names, and no other
        else:  # numbers in place of names: in the same order
            order = {"conv1": 0, "bn1": 1, "dense1": 4 if name == "cats-vs-dogs" else 5,
                     "dense2": 6 if name == "cats-vs-dogs" else 7}
            other.load_state_dict({f"{order[k.split('.')[0]]}.{k.split('.')[1]}": v for k, v in back.items()})
        self.same(ours, networks.torch_answers(other, torch, x))
        return told

    def test_cats_vs_dogs(self):
        told = self.round_trip("cats-vs-dogs", 12, 20)
        self.assertIn("by their order 0 is conv1, 4 is dense1, 6 is dense2", told)
        self.assertIn("behind the flatten C,H,W to H,W,C", told)

    def test_normalised(self):
        self.assertIn("passed over 1 counter", self.round_trip("normalised", 6, 8))

    def test_resnet18_cifar(self):
        told = self.round_trip("resnet18-cifar", 32, 32)
        self.assertIn("passed over 20 counters", told)
        self.assertNotIn("by their order", told)

    def test_numpy_reads_the_archive(self):
        net = networks.stir(networks.torch_normalised(torch, 6, 8), torch)
        safetensors.numpy.save_file({k: v.numpy() for k, v in net.state_dict().items()}, self.folder / "theirs")
        self.answers("normalised", "theirs", networks.pictures(1, 6, 8), "ours.npz", "npz")
        with np.load(self.folder / "ours.npz") as ours:
            self.assertEqual(sorted(ours), sorted(f"{a}.{b}" for a, words in {
                "conv1": "weight bias", "bn1": "weight bias running_mean running_var", "dense1": "weight bias",
                "dense2": "weight bias"}.items() for b in words.split()))
            np.testing.assert_array_equal(ours["conv1.weight"], net[0].weight.detach().numpy())
            np.testing.assert_array_equal(ours["dense1.weight"], net[5].weight.detach().numpy())
            np.testing.assert_array_equal(ours["bn1.running_var"], net[1].running_var.numpy())

    def test_numpys_own_archives_are_read(self):
        """As numpy.savez writes them, packed or not, arrays of Fortran's order among them."""
        net = networks.stir(networks.torch_normalised(torch, 6, 8), torch)
        x, state = networks.pictures(2, 6, 8), {k: v.numpy() for k, v in net.state_dict().items()}
        state["5.weight"] = np.asfortranarray(state["5.weight"])
        state["7.weight"] = state["7.weight"].astype(np.float64)
        for save in (np.savez, np.savez_compressed):
            save(self.folder / "theirs.npz", **state)
            ours, told = self.answers("normalised", "theirs.npz", x)
            self.same(ours, networks.torch_answers(net, torch, x))
            self.assertIn("passed over 1 counter", told)


class Keras(Exchange):
    def round_trip(self, name, height, width):
        keras.utils.set_random_seed(3)
        make = getattr(networks, "keras_" + name.replace("-", "_"))
        net, x = make(keras, height, width), networks.pictures(3, height, width)
        generator = np.random.default_rng(5)
        for w in net.weights:
            w.assign(w.numpy() + (0.5 * generator.random(w.shape).astype(np.float32) if len(w.shape) == 1 else 0))
        safetensors.numpy.save_file({w.path: w.numpy() for w in net.weights}, self.folder / "theirs")
        want = net.predict(x, verbose=0)
        ours, told = self.answers(name, "theirs", x, "ours", "keras")
        self.same(ours, want)
        back = safetensors.numpy.load_file(self.folder / "ours")
        other = make(keras, height, width)
        names = {"conv2d": "conv1", "batch_normalization": "bn1"}
        dense = 0
        for layer in other.layers:
            if layer.weights:
                kind = layer.__class__.__name__
                dense += kind == "Dense"
                ours_name = {"Conv2D": "conv1", "BatchNormalization": "bn1"}.get(kind, f"dense{dense}")
                layer.set_weights([back[f"{ours_name}/{w.path.split('/')[-1]}"] for w in layer.weights])
        self.same(ours, other.predict(x, verbose=0))
        again, _ = self.answers(name, "ours", x)
        np.testing.assert_array_equal(again, ours)
        return told

    def test_cats_vs_dogs(self):
        told = self.round_trip("cats-vs-dogs", 12, 20)
        self.assertIn("HWIO to KRSC", told)
        self.assertNotIn("flatten", told)

    def test_normalised(self):
        self.assertIn("epsilon", self.round_trip("normalised", 6, 8))


if __name__ == "__main__":
    unittest.main(defaultTest=["PyTorch" if PACKAGE == "torch" else "Keras"])
