#!/usr/bin/env python3
"""Transfer learning: what a run starts from, what of it stays, and that a file of weights knows its new head."""
import json
import struct
import unittest

from cli import QUICK, Case

USAGE, BAD_DATA = 2, 3
FROZEN = ["--freeze", "conv1.*,conv[23].weight"]


def tensors(path):
    """Names of a safetensors file with the bytes of each."""
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    return {name: data[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]]
            for name, entry in header.items() if name != "__metadata__"}


class Transfer(Case):
    def setUp(self):
        super().setUp()
        self.gradus("train", *QUICK, "--no-evaluation", "--save-weights", "w")

    def test_what_is_frozen_stays_and_what_is_not_learns(self):
        whole = self.gradus("train", *QUICK, "--no-evaluation", "--init-weights", "w", "--json").row()
        done = self.gradus("train", *QUICK, "--no-evaluation", "--init-weights", "w", *FROZEN, "--json",
                           "--save-weights", "v")
        self.assertIn("4 of 10 parameters are frozen, 56192 of their 122570 numbers", done.err)
        row, before, after = done.row(), tensors(self.folder / "w"), tensors(self.folder / "v")
        self.assertEqual({name for name in before if before[name] == after[name]},
                         {"conv1.weight", "conv1.bias", "conv2.weight", "conv3.weight"})
        self.assertEqual((row["freeze"], row["freeze_statistics"], whole["freeze"]), (FROZEN[1], False, None))
        self.assertLess(row["peak_bytes"], whole["peak_bytes"])

    def test_a_new_head_for_the_classes_of_the_data(self):
        words = ["train", *QUICK, "--no-evaluation", "--init-weights", "w", "--save-weights", "v", "--replace-head"]
        self.assertIn("dense2 keeps its first values", self.gradus(*words, "auto").err)
        self.assertEqual(len(tensors(self.folder / "v")["dense2.bias"]), 2 * 4)
        self.gradus("data", "show", "cifar10-cnn", "--procedural", "--out", "sheet.png")
        lines = self.gradus("predict", "v", "sheet.png", "--top", 5, "--json").out.splitlines()
        self.assertEqual(len(json.loads(lines[0])["classes"]), 2)
        self.refused(BAD_DATA, "train", *QUICK, "--init-weights", "v",
                     names=["dense2.weight has shape [2,64]; the model wants [10,64]", "the file", "8 tensors fit"])
        self.assertNotIn("keeps", self.gradus(*words, 10).err)

    def test_it_is_a_part_of_what_a_run_is(self):
        grid = ["sweep", "cifar10-cnn", "--procedural", "--batch", "8", "--updates", "1", "--out", "s"]
        self.gradus(*grid, *FROZEN)
        self.assertEqual(self.read_rows("s")[0]["freeze"], FROZEN[1])
        self.refused(USAGE, *grid, names=["freeze"])
        kept = ["train", *QUICK, "--checkpoint", "c"]
        self.gradus(*kept, *FROZEN)
        self.refused(USAGE, *kept, "--resume", names=["freeze was", "now it is not given"])

    def test_the_head_has_a_rate_of_its_own(self):
        words = ["train", *QUICK, "--no-evaluation", "--optimizer", "sgd", "--lr", 1e-30, "--init-weights", "w"]
        row = self.gradus(*words, "--head-lr", 0.1, "--json", "--save-weights", "v").row()
        before, after = tensors(self.folder / "w"), tensors(self.folder / "v")
        self.assertEqual({name for name in before if before[name] != after[name]}, {"dense2.weight", "dense2.bias"})
        self.assertEqual((row["lr"], row["head_lr"]), (1e-30, 0.1))

    def test_mistakes(self):
        self.refused(USAGE, "train", *QUICK, "--freeze-statistics", names=["--freeze"])
        self.refused(USAGE, "train", *QUICK, "--freeze", "layer9.*", names=['"layer9.*"', "there are conv1.weight"])
        self.refused(USAGE, "train", *QUICK, "--freeze", "*", "--freeze-statistics", names=["there is none at all"])
        self.refused(USAGE, "train", *QUICK, "--freeze", "*", names=["all frozen"])
        self.refused(USAGE, "train", *QUICK, "--replace-head", 0, names=["replace-head"])


if __name__ == "__main__":
    unittest.main()
