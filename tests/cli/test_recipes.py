"""The recipes on tables and on MNIST's files: what they read, what they are called, what they say when it is
missing."""

import gzip
import json
import pathlib
import struct
import unittest

from cli import Case

MODELS = pathlib.Path(__file__).resolve().parents[2] / "examples/models"


def idx(folder, n, dot=False, packed=True):
    """The four files of a set: n pictures of 28x28 to train on, half as many to test with; bright rows tell the
    label."""
    folder.mkdir(parents=True)
    for part, count in (("train", n), ("t10k", n // 2)):
        labels = bytes(i % 10 for i in range(count))
        rows = {label: bytes(28 * 2 * label) + b"\xff" * 56 + bytes(28 * (26 - 2 * label)) for label in range(10)}
        images = b"".join(rows[label] for label in labels)
        for what, data in ((f"{part}-images{'.' if dot else '-'}idx3-ubyte",
                            struct.pack(">IIII", 0x803, count, 28, 28) + images),
                           (f"{part}-labels{'.' if dot else '-'}idx1-ubyte",
                            struct.pack(">II", 0x801, count) + labels)):
            (folder / (what + ".gz" * packed)).write_bytes(gzip.compress(data) if packed else data)


class Options(Case):
    """cifar10-94 is its text and options of the protocol that any recipe takes."""
    PIECES = {"label_smoothing": 0.2, "warm_up": 2.3, "warm_up_from": 0.2, "lr_min": 0.105, "whiten": "conv1.weight",
              "freeze": "conv1.weight,bn*.weight", "freeze_after": "conv1.bias=3", "lr_scale": "bn*.bias=64",
              "lr_schedule": "linear", "lookahead": "5:0.7737809375:grows"}
    NAMING = ("whiten", "freeze", "freeze_after", "lr_scale")
    RUN = ["train", "cifar10-94", "--procedural", "--batch", 2, "--updates", 1, "--no-evaluation", "--json"]

    def test_a_recipe_is_its_options(self):
        done = self.gradus(*self.RUN)
        self.assertIn("7 of 21 parameters are frozen", done.err)
        row = done.row()
        self.assertEqual({key: row[key] for key in self.PIECES}, self.PIECES)
        options = [word for key in self.NAMING
                   for word in ("--" + key.replace("_", "-"), self.PIECES[key])]
        self.assertEqual(json.loads(self.gradus("summary", "cifar10-94", "--json").out)["recipe"], "cifar10-94")
        text = self.gradus(*self.RUN, "--model", MODELS / "cifar10-94.txt", *options).row()
        self.assertEqual((text["train_loss"], text["lr_scale"]), (row["train_loss"], "bn*.bias=64"))
        bare = self.gradus(*self.RUN, "--model", MODELS / "cifar10-94.txt", "--label-smoothing", 0, "--lookahead",
                           "none").row()
        self.assertEqual([bare[key] for key in (*self.NAMING, "label_smoothing", "lookahead")], [None] * 6)

    def test_a_recipe_of_its_own_optimizer(self):
        """cifar10-94-muon has numbers for Muon; in other recipes it has its usual ones."""
        run = ["train", "cifar10-94-muon", *self.RUN[2:]]
        row = self.gradus(*run).row()
        self.assertEqual([row[key] for key in ("optimizer", "lr", "momentum", "rest_momentum", "muon_steps",
                                               "muon_normalise", "lr_scale")],
                         ["muon", 0.24, 0.6, 0.85, 3, True, "conv1.bias,bn*.bias=442;dense1.weight=6.9"])
        other = self.gradus(*self.RUN, "--optimizer", "muon").row()
        self.assertEqual((other["lr"], other["momentum"], other["muon_steps"]), (0.02, 0.95, 5))

    def test_scales_of_rates_belong_to_the_optimizer(self):
        """442 times Muon's rate is no rate for SGD, and 64 times SGD's none for Adam."""
        for recipe in ("cifar10-94", "cifar10-94-muon"):
            for name, lr, scale in (("sgd", 1.5, "bn*.bias=64"), ("momentum", 1.5, "bn*.bias=64"),
                                    ("adam", 0.001, None), ("adamw", 0.001, None), ("lars", 1, None)):
                row = self.gradus("train", recipe, *self.RUN[2:], "--optimizer", name).row()
                self.assertEqual((row["lr"], row["lr_scale"]), (lr, scale), (recipe, name))
        self.assertIsNone(self.gradus(*self.RUN, "--optimizer", "muon").row()["lr_scale"])
        own = self.gradus(*self.RUN, "--optimizer", "adam", "--lr-scale", "bn*.bias=2", "--lr", 0.01).row()
        self.assertEqual((own["lr"], own["lr_scale"]), (0.01, "bn*.bias=2"))

    def test_a_recipe_is_its_text(self):
        run = ["train", "cifar10-normalised", "--procedural", "--batch", 4, "--updates", 3, "--no-evaluation", "--json"]
        text = self.gradus(*run, "--model", MODELS / "cifar10-normalised.txt").row()
        self.assertEqual(text["train_loss"], self.gradus(*run).row()["train_loss"])

    def test_mistakes(self):
        self.refused(2, *self.RUN, "--lr-scale", "bn*.bias", names=["names and a number above 0"])
        self.refused(2, *self.RUN, "--lr-scale", "bn*.bias=64;dense1.weight", names=["names and a number above 0"])
        self.refused(2, *self.RUN, "--lr-scale", "bn*.bias=64;norm=2", names=['"norm"', "there are conv1.weight"])
        self.refused(2, *self.RUN, "--lr-scale", "norm=2", names=['"norm"', "there are conv1.weight"])
        for text in ("5", "5:1", "5:0.5:", "5:0.5:grow", "0:0.5", "x:0.5", "5:0.5:grows:x", "5:0.5:grows x"):
            self.refused(2, *self.RUN, "--lookahead", text, names=["such as 5:0.5", f'"{text}"'])
        for text in ("conv1.bias", "conv1.bias=0", "conv1.bias=x", "=3"):
            self.refused(2, *self.RUN, "--freeze-after", text, names=["such as conv1.bias=3", f'"{text}"'])
        self.refused(2, *self.RUN, "--freeze-after", "norm=2", names=['"norm"', "there are conv1.weight"])
        self.refused(2, "train", "mnist-mlp", "--procedural", "--lookahead", "5:0.5:grows", "--budget", "seconds=1",
                     names=["look-ahead", "number of updates"])
        self.refused(2, *self.RUN, "--whiten", "conv2.weight", names=["no filters for pictures of 32x32x3"])
        self.refused(2, *self.RUN, "--whiten", "conv1.weight", "--init-weights", "w", names=["exclude each other"])
        self.refused(2, *self.RUN, "--warm-up-from", 2, names=["a share of the rate"])


class Idx(Case):
    def test_learns_and_names_its_data(self):
        idx(self.folder / "d/MNIST", 200)
        row = self.gradus("train", "mnist-mlp", "--data", "d", "--epochs", 8, "--json").row()
        self.assertEqual((row["data"], row["batch"], row["lr"], row["samples"]), ("MNIST", 32, 0.001, 1600))
        self.assertEqual(row["test_accuracy"], 1)
        self.assertIsNone(row["val_accuracy"])

    def test_every_place_gives_the_same_data(self):
        idx(self.folder / "a/FashionMNIST", 40)
        idx(self.folder / "b/FashionMNIST/raw", 40, dot=True)
        idx(self.folder / "c", 40, packed=False)
        hashes = {self.gradus("train", "fashion-mlp", "--data", d, "--updates", 1, "--json").row()["data_hash"]
                  for d in "abc"}
        self.assertEqual(len(hashes), 1)

    def test_data_check_reads_them(self):
        idx(self.folder / "d/MNIST", 40)
        found = json.loads(self.gradus("data", "check", "d/MNIST", "--json").out)
        row = self.gradus("train", "mnist-mlp", "--data", "d", "--updates", 1, "--json").row()
        self.assertEqual((found["format"], found["train"], found["test"], found["shape"]),
                         ("MNIST's files", 40, 20, [28, 28, 1]))
        self.assertEqual((found["data_hash"], found["classes"]["3"]), (row["data_hash"], {"train": 4, "test": 2}))
        text = self.gradus("data", "check", "d/MNIST").out
        self.assertIn("class 9                    4 and 2 images\n", text)
        self.refused(2, "data", "pack", "d/MNIST", "m.grd", names=["nothing to pack"])
        self.refused(2, "data", "check", "d/MNIST", "--size", 8, names=["--size"])
        (self.folder / "d/MNIST/t10k-labels-idx1-ubyte.gz").unlink()
        self.refused(3, "data", "check", "d/MNIST", names=["t10k-labels-idx1-ubyte"])

    def test_one_set_does_not_stand_for_the_other(self):
        idx(self.folder / "d/MNIST", 40)
        self.refused(3, "train", "fashion-mlp", "--data", "d", names=["FashionMNIST", "train-images-idx3-ubyte.gz"])

    def test_broken_files(self):
        idx(self.folder / "d/MNIST", 40)
        labels = self.folder / "d/MNIST/t10k-labels-idx1-ubyte.gz"
        labels.write_bytes(labels.read_bytes()[:-9])
        self.refused(3, "train", "mnist-mlp", "--data", "d", names=[labels.name, "fetch it again"])
        labels.unlink()
        self.refused(3, "train", "mnist-mlp", "--data", "d", names=["t10k-labels-idx1-ubyte", "four files"])

    def test_pictures_of_another_size(self):
        idx(self.folder / "d/MNIST", 40)
        for name in ("train", "t10k"):
            path = self.folder / f"d/MNIST/{name}-images-idx3-ubyte.gz"
            data = gzip.decompress(path.read_bytes())
            path.write_bytes(gzip.compress(data[:8] + struct.pack(">II", 14, 56) + data[16:]))
        self.refused(3, "train", "mnist-mlp", "--data", "d", names=["14x56x1", "28x28x1"])

    def test_more_classes_than_outputs(self):
        idx(self.folder / "d/MNIST", 40, packed=False)
        labels = self.folder / "d/MNIST/t10k-labels-idx1-ubyte"
        labels.write_bytes(labels.read_bytes()[:-1] + b"\x0a")
        self.refused(3, "train", "mnist-mlp", "--data", "d", names=["11 classes", "is for 10"])

    def test_drawn_pictures_stand_in(self):
        row = self.gradus("train", "mnist-mlp", "--procedural", "--updates", 2, "--json").row()
        self.assertEqual(row["data"], "procedural")
        self.assertIn("procedural", self.gradus("train", "fashion-mlp", "--procedural", "--updates", 2).out)

    def test_summary(self):
        m = json.loads(self.gradus("summary", "mnist-mlp", "--json").out)
        self.assertEqual(m["parameters"], 784 * 128 + 128 + 1280 + 10)
        self.assertIn("28x28x1", self.gradus("summary", "fashion-mlp").out)

    def test_doctor_finds_them(self):
        idx(self.folder / "d/MNIST", 40)
        facts = json.loads(self.gradus("doctor", "--json", "--data", "d").out)
        self.assertEqual((facts["MNIST"], facts["FashionMNIST"]), ("d/MNIST", "not found"))
        self.assertTrue(any("a folder FashionMNIST" in cure for cure in facts["missing"]))


class Table(Case):
    def test_needs_no_data_and_learns_more_than_a_line(self):
        row = self.gradus("train", "keras-mlp", "--json").row()
        self.assertEqual((row["data"], row["batch"], row["updates"]), ("two-arcs", 10, 2000))
        self.assertGreater(row["test_accuracy"], 0.91)  # the best line: 0.88, the best rule: 0.96

    def test_procedural_is_the_same_set(self):
        rows = [self.gradus("train", "keras-mlp", "--updates", 1, "--json", *more).row()
                for more in ([], ["--procedural"], ["--split-seed", 1])]
        self.assertEqual([row["data"] for row in rows], ["two-arcs"] * 3)
        self.assertEqual(rows[0]["data_hash"], rows[1]["data_hash"])
        self.assertNotEqual(rows[0]["data_hash"], rows[2]["data_hash"])

    def test_planned_peak_is_the_measured_one(self):
        for batch in (10, 100):
            planned = json.loads(self.gradus("summary", "keras-mlp", "--batch", batch, "--json").out)
            measured = self.gradus("train", "keras-mlp", "--batch", batch, "--updates", 2, "--json").row()
            self.assertAlmostEqual(planned["peak_bytes"] / measured["peak_bytes"], 1, delta=0.01)

    def test_sweep(self):
        self.gradus("sweep", "keras-mlp", "--batch", "10,100", "--seeds", 2, "--updates", 20, "--out", "o")
        self.assertEqual([r["state"] for r in self.read_rows("o")], ["done"] * 4)
        self.assertEqual({r["data"] for r in self.read_rows("o")}, {"two-arcs"})


if __name__ == "__main__":
    unittest.main()
