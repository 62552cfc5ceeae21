"""gradus train --device simt: the CUDA kernels, run by the emulator, take the steps that the CPU's take."""

import json
import unittest

from cli import Case

RUNS = {"cifar10-cnn": (4, 3), "cats-vs-dogs": (2, 1, "--resize", 100), "resnet18-cifar": (2, 1)}
# samples in a batch, updates, and what shortens them


class Emulated(Case):
    def losses(self, device, recipe, batch, updates, *more):
        self.gradus("train", recipe, "--procedural", "--batch", batch, "--updates", updates, "--device", device,
                    "--no-evaluation", "--log-updates", device, *more)
        return [json.loads(line)["loss"] for line in (self.folder / device).read_text().splitlines()]

    def test_losses_are_the_cpus(self):
        for recipe, (batch, updates, *more) in RUNS.items():
            with self.subTest(recipe):
                expected = self.losses("cpu", recipe, batch, updates, *more)
                got = self.losses("simt", recipe, batch, updates, *more)
                self.assertEqual((len(expected), len(got)), (updates, updates))
                self.assertLess(max(abs(a - b) for a, b in zip(got, expected)), 1e-4)

    def test_a_misspelt_environment_is_refused(self):
        for name, word in (("MULTIPROCESSORS", "abc"), ("MULTIPROCESSORS", "132x"), ("MULTIPROCESSORS", "0"),
                           ("ORDER", "backward"), ("TENSOR_CORES", "a100")):
            refused = self.gradus("summary", "keras-mlp", "--device", "simt", expect=2,
                                  **{f"GRADUS_SIMT_{name}": word})
            self.assertIn(f'GRADUS_SIMT_{name} is "{word}"; it must be', refused.err)

    def test_tf32(self):
        """Near the floats' losses, but not theirs; devices without tensor cores refuse it and say where it is."""
        recipe, batch, updates = "cifar10-cnn", *RUNS["cifar10-cnn"]
        expected = self.losses("cpu", recipe, batch, updates)
        got = self.losses("simt", recipe, batch, updates, "--precision", "tf32")
        self.assertEqual(len(got), updates)
        self.assertLess(max(abs(a - b) for a, b in zip(got, expected)), 1e-3)
        self.assertGreater(max(abs(a - b) for a, b in zip(got, expected)), 1e-6)
        words = [recipe, "--batch", batch, "--precision", "tf32", "--json"]
        summary = json.loads(self.gradus("summary", *words, "--device", "simt").out)
        row = self.gradus("train", *words, "--device", "simt", "--procedural", "--updates", 1, "--no-evaluation").row()
        self.assertEqual((summary["precision"], row["precision"], row["loss_scale"]), ("tf32", "tf32", 1))
        self.assertAlmostEqual(summary["peak_bytes"] / row["peak_bytes"], 1, delta=0.01)
        for device in ("cpu", "ref"):
            for command in (["train", recipe, "--procedural"], ["summary", recipe], ["bench", "dense", "--batch", 1]):
                refused = self.gradus(*command, "--device", device, "--precision", "tf32", expect=2)
                self.assertIn("tf32 is for tensor cores", refused.err)
        lines = self.gradus("bench", "relu", "--batch", 1, "--device", "simt", "--precision", "tf32", "--seconds", 0.01,
                            "--json").out.splitlines()
        self.assertEqual({json.loads(line)["precision"] for line in lines}, {"tf32"})


if __name__ == "__main__":
    unittest.main()
