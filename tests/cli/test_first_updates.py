"""The first updates of a run take about as long as later ones: its memory is touched before they begin. Timed, so
nothing else should run beside it."""

import unittest

from cli import Case

RECIPES = "cats-vs-dogs", "cifar10-cnn", "resnet18-cifar"  # an update of keras-mlp is over before its code is read
ATTEMPTS = 4  # whatever disturbs the machine for a moment disturbs no four runs in a row


class FirstUpdates(Case):
    def slowest(self, recipe, batch):
        """How many times a typical update the slowest takes, if it is one of the first two, else 1."""
        time = self.gradus("train", recipe, "--procedural", "--batch", batch, "--updates", 6, "--no-evaluation",
                           "--time", "--json").row()["time"]
        return time["slowest_ms"] / time["ms"] if time["slowest"] <= 2 else 1

    def test_at_most_half_as_long_again(self):
        for recipe in RECIPES:
            for batch in 16, 200:
                with self.subTest(recipe=recipe, batch=batch):
                    ratios = []
                    while len(ratios) < ATTEMPTS and min(ratios, default=2) > 1.5:
                        ratios.append(self.slowest(recipe, batch))
                    self.assertLessEqual(min(ratios), 1.5, f"of {ratios}")


if __name__ == "__main__":
    unittest.main()
