"""gradus train --ranks: the same run by any number of ranks, and what is said where it cannot be."""

import json
import unittest

from cli import Case

RUN = ["train", "--procedural", "--shards", 8, "--json"]
NORMALISED = """conv 6 3x3 same no_bias
batch_norm relu
conv 6 3x3 same no_bias
batch_norm relu
global_avg_pool
dense classes
"""


class Ranks(Case):
    def same_for_all(self, *words):
        """The weights and the row of 1, 2, 4 and 8 ranks."""
        rows, weights = [], []
        for ranks in (1, 2, 4, 8):
            got = self.gradus(*RUN, *words, "--ranks", ranks, "--save-weights", "w.safetensors")
            rows.append(got.row())
            weights.append((self.folder / "w.safetensors").read_bytes())
        self.assertEqual([row["ranks"] for row in rows], [1, 2, 4, 8])
        for row, saved in zip(rows[1:], weights[1:]):
            self.assertEqual(saved, weights[0])
            self.assertEqual(row["train_loss"], rows[0]["train_loss"])

    def test_cifar10_cnn(self):
        self.same_for_all("cifar10-cnn", "--batch", 20, "--updates", 4, "--no-evaluation", "--augment", "flip")

    def test_cats_vs_dogs(self):
        self.same_for_all("cats-vs-dogs", "--resize", 24, "--batch", 500, "--micro-batch", 40, "--epochs", 1,
                          "--last-batch", "pad")

    def test_synchronised(self):
        """The batch's own statistics, by any number of ranks; local ones are another network's."""
        (self.folder / "net.txt").write_text(NORMALISED)
        words = ["cifar10-cnn", "--model", "net.txt", "--batch", 20, "--updates", 4, "--no-evaluation"]
        synchronised = ["--batch-norm", "synchronised"]
        self.same_for_all(*words, *synchronised)
        row, local = self.gradus(*RUN, *words, *synchronised).row(), self.gradus(*RUN, *words).row()
        whole = self.gradus("train", *words, "--procedural", "--json").row()
        self.assertEqual([r["batch_norm"] for r in (row, local, whole)], ["synchronised", "local", None])
        self.assertAlmostEqual(row["train_loss"], whole["train_loss"], places=5)
        self.assertGreater(abs(local["train_loss"] - whole["train_loss"]), 1e-3)
        kept = [*RUN, *words, "--checkpoint", "kept"]
        self.gradus(*kept, *synchronised)
        self.refused(2, *kept, "--resume", names=["batch normalisation over all shards"])

    def test_last_batches(self):
        """2,000 drawn samples in batches of 199 leave 10 for 16 shards: no policy makes a weight that is no number, as
        the updates behind that batch show."""
        words = ["train", "--procedural", "--json", "cifar10-cnn", "--model", "net.txt", "--resize", 12, "--batch", 199,
                 "--shards", 16, "--updates", 13, "--no-evaluation"]
        policies = (("keep", 2398), ("drop", 2587), ("pad", 2398), ("wrap", 2587))
        for statistics, net in (("local", NORMALISED),
                                ("synchronised", NORMALISED.replace("dense", "dense 4\nbatch_norm\ndense"))):
            (self.folder / "net.txt").write_text(net)
            for policy, samples in policies:
                row = self.gradus(*words, "--last-batch", policy, "--batch-norm", statistics).row()
                self.assertEqual(row["samples"], samples)
                self.assertLess(row["train_loss"], 10)
        self.refused(2, *words, "--last-batch", "keep", names=["one value per channel", "--last-batch drop"])

    def test_bench_scaling(self):
        words = ["bench", "scaling", "mnist-mlp", "--batch", 64, "--rounds", 1, "--seconds", 0.05]
        rows = [json.loads(line) for line in self.gradus(*words, "--ranks", "1,2", "--json").out.splitlines()]
        self.assertEqual([(r["scaling"], r["ranks"], r["batch"]) for r in rows],
                         [("strong", 1, 64), ("strong", 2, 64), ("weak", 1, 32), ("weak", 2, 64)])
        self.assertEqual(rows[0]["loss"], rows[1]["loss"])
        for one, two in (rows[:2], rows[2:]):
            together = min(2, two["processors"])
            work = one["ms"] / together * (1 if two["scaling"] == "strong" else 2)
            link = 1e3 * (2 * two["latency"] + two["gradient_bytes"] / two["bandwidth"])
            self.assertAlmostEqual(two["model_ms"], work + link, places=6)
        paper = self.gradus(*words, "--ranks", "1,2", "--compute", 1).out
        # 101,770 parameters by 1,024 ranks: 2 lg R 14 us + 2 (R-1)/R 407,080 bytes / 1.25 GB/s = 0.931 ms beside 1
        self.assertRegex(paper, r"10 Gbit/s Ethernet .* 1\.1 +52 %\n")
        self.refused(2, *words, "--ranks", "2,4", names=["--ranks", "begins with 1"])

    def test_refusals(self):
        self.refused(2, "train", "cifar10-cnn", "--procedural", "--batch-norm", "local", names=["--shards"])
        self.refused(2, *RUN, "cifar10-cnn", "--batch-norm", "synchronised", "--accumulate", 2,
                     names=["--batch-norm", "--accumulate"])
        self.refused(2, "train", "cifar10-cnn", "--procedural", "--ranks", 3, names=["--ranks 3", "power of two"])
        self.refused(2, "train", "cifar10-cnn", "--procedural", "--ranks", 4, names=["--ranks 4", "--shards 4"])
        self.refused(2, "train", "cifar10-cnn", "--procedural", "--patience", 4, names=["--patience", "--ranks"])
        self.refused(2, *RUN, "cifar10-cnn", "--device", "cuda:0,cuda:1",
                     names=["cuda:0,cuda:1", "CUDA_VISIBLE_DEVICES=0,1", "--device cuda --ranks 2"])

    def test_one_rank_speaks(self):
        got = self.gradus("train", "cats-vs-dogs", "--data", "nowhere", "--shards", 4, "--ranks", 4, expect=3)
        self.assertEqual(got.err.count("gradus train:"), 1, got.err)

    def test_goes_on_with_another_number(self):
        words = [*RUN, "cifar10-cnn", "--batch", 20, "--updates", 6, "--no-evaluation"]
        whole = self.gradus(*words, "--save-weights", "whole.safetensors").row()
        kept = ["--checkpoint", "kept", "--checkpoint-every", 2, "--keep", 9]
        self.gradus(*words, *kept, "--ranks", 4)
        for name in ("0000000006", "0000000004"):
            (self.folder / "kept" / f"checkpoint-{name}.safetensors").unlink()
        row = self.gradus(*words, *kept, "--resume", "--ranks", 2, "--save-weights", "w.safetensors").row()
        self.assertEqual(row["train_loss"], whole["train_loss"])
        self.assertEqual((self.folder / "w.safetensors").read_bytes(),
                         (self.folder / "whole.safetensors").read_bytes())


if __name__ == "__main__":
    unittest.main()
