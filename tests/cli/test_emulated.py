"""gradus train --device simt: the CUDA kernels, run by the emulator, take the steps that the CPU's take."""

import json
import unittest

from cli import Case

RUNS = {"cifar10-cnn": (4, 3), "cats-vs-dogs": (2, 1), "resnet18-cifar": (2, 1)}  # samples in a batch, updates


class Emulated(Case):
    def losses(self, device, recipe, batch, updates):
        self.gradus("train", recipe, "--procedural", "--batch", batch, "--updates", updates, "--device", device,
                    "--no-evaluation", "--log-updates", device)
        return [json.loads(line)["loss"] for line in (self.folder / device).read_text().splitlines()]

    def test_losses_are_the_cpus(self):
        for recipe, (batch, updates) in RUNS.items():
            with self.subTest(recipe):
                expected = self.losses("cpu", recipe, batch, updates)
                got = self.losses("simt", recipe, batch, updates)
                self.assertEqual((len(expected), len(got)), (updates, updates))
                self.assertLess(max(abs(a - b) for a, b in zip(got, expected)), 1e-4)


if __name__ == "__main__":
    unittest.main()
