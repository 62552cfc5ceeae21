"""The recipes on the real pictures below $GRADUS_DATA. Skipped without them."""

import json
import os
import sys
import unittest

from cli import Case

ROOT = os.environ.get("GRADUS_DATA", "")


class Real(Case):
    def train(self, *words):
        return self.gradus("train", *words, "--data", ROOT, "--json")

    def planned(self, *words):
        return json.loads(self.gradus("summary", *words, "--json").out)["peak_bytes"]

    def test_cats_vs_dogs(self):
        words = ["cats-vs-dogs", "--batch", 16, "--optimizer", "sgd"]
        result = self.train(*words, "--updates", 3)
        row = result.row()
        self.assertEqual((row["data"], row["samples"]), ("PetImages", 48))
        self.assertIsNotNone(row["val_accuracy"])
        self.assertIn("666.jpg", result.err)  # an empty file, in the official archive too
        self.assertAlmostEqual(self.planned(*words) / row["peak_bytes"], 1, delta=0.01)

    def test_memory_of_a_large_batch_is_planned(self):
        words = ["cats-vs-dogs", "--batch", 128, "--optimizer", "adam"]
        measured = self.train(*words, "--updates", 1).row()["peak_bytes"]
        self.assertAlmostEqual(self.planned(*words) / measured, 1, delta=0.01)

    def test_split_seed_changes_the_data(self):
        words = ["cats-vs-dogs", "--batch", 1, "--updates", 1, "--no-evaluation", "--resize", 32]
        first, again = self.train(*words).row(), self.train(*words, "--seed", 2).row()
        other = self.train(*words, "--split-seed", 1).row()
        self.assertEqual(first["data_hash"], again["data_hash"])
        self.assertNotEqual(first["data_hash"], other["data_hash"])

    def test_cifar10(self):
        row = self.train("cifar10-cnn", "--updates", 300).row()
        self.assertEqual(row["data"], "CIFAR-10")
        self.assertGreater(row["test_accuracy"], 0.3)


if __name__ == "__main__":
    if not os.path.isdir(os.path.join(ROOT, "PetImages")):
        sys.exit(77)
    unittest.main()
