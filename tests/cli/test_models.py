"""Networks from model files: trained, told, kept in the weights, swept; what is wrong is told by line and column."""

import json
import pathlib
import struct
import unittest

from cli import Case, png, pictures

MODELS = pathlib.Path(__file__).resolve().parents[2] / "examples/models"
BAD_DATA = 3
SMALL = "conv 4 3x3 stride 2 relu\nglobal_avg_pool\ndense classes\n"
QUICK = ("--procedural", "--batch", "8", "--updates", "2", "--no-evaluation")


class Models(Case):
    def write(self, text, name="model.txt"):
        (self.folder / name).write_text(text)
        return name

    def notes(self, name):
        data = (self.folder / name).read_bytes()
        length, = struct.unpack("<Q", data[:8])
        return json.loads(data[8:8 + length])["__metadata__"]

    def test_a_recipes_file_is_its_network(self):
        """The same losses, in all their digits, of a file and of the recipe that it is called after."""
        for name in ("cifar10-cnn", "mnist-mlp"):
            with self.subTest(name):
                self.gradus("train", name, *QUICK, "--log-updates", "a")
                result = self.gradus("train", name, *QUICK, "--log-updates", "b", "--model", MODELS / f"{name}.txt",
                                     "--json")
                self.assertEqual((self.folder / "a").read_text(), (self.folder / "b").read_text())
                self.assertEqual(result.row()["model"], str(MODELS / f"{name}.txt"))
        rows = [self.gradus("summary", "resnet18-cifar", "--json", *words).row()
                for words in ([], ["--model", MODELS / "resnet18-cifar.txt"])]
        self.assertEqual(rows[0], rows[1])

    def test_every_recipe_has_its_file(self):
        recipes = {line.split()[0] for line in self.gradus("train", "--list").out.splitlines()}
        recipes.remove("cifar10-94-muon")  # cifar10-94's network
        self.assertEqual(recipes, {path.stem for path in MODELS.glob("*.txt")})

    def test_weights_carry_their_network(self):
        self.write(SMALL)
        self.gradus("train", "cifar10-cnn", *QUICK, "--model", "model.txt", "--save-weights", "w")
        self.assertEqual(self.notes("w")["model"], SMALL)
        (self.folder / "model.txt").unlink()
        (self.folder / "a.png").write_bytes(png(20, 10, (10, 200, 30)))
        self.assertRegex(self.gradus("predict", "w", "a.png").out, r"^a\.png: [\w ]+ \d+\.\d %\n$")

    def test_a_sweep_over_networks(self):
        self.write(SMALL, "one.txt")
        self.write(SMALL.replace("4", "8"), "two.txt")
        words = ("sweep", "cifar10-cnn", "--procedural", "--batch", "8", "--updates", "1", "--seeds", "1", "--out", "o")
        self.gradus(*words, "--model", "one.txt,two.txt")
        self.assertEqual([row["variant"] for row in self.read_rows("o")], ["model=one.txt", "model=two.txt"])
        self.gradus(*words[:-1], "p", "--model", "one.txt")
        self.write(SMALL.replace("4", "6"), "one.txt")
        self.refused(2, *words[:-1], "p", "--model", "one.txt", names=["model text"], leaves=self.files())

    def test_what_is_wrong_is_told_by_line_and_column(self):
        pictures(self.folder, 2)
        for text, place, name in (("conv 4 3x3\nflaten\n", "2:1", "flaten"),
                                  ("conv 4 33x33\nflatten\ndense classes", "1:1", "33x33"),
                                  ("flatten\ndense 3", "2:1", "3 numbers for 10 classes"), ("", "1:1", "no layers")):
            with self.subTest(text):
                self.write(text)
                for command in ("train", "summary"):
                    words = QUICK if command == "train" else ()
                    self.refused(BAD_DATA, command, "cifar10-cnn", *words, "--model", "model.txt",
                                 names=[f"model.txt:{place}: ", name])
        for name, what in (("missing.txt", "No such file"), (".", "no regular file")):
            for command in ("train", "summary", "sweep", "find-batch", "profile"):
                more = ("--out", "o") if command in ("sweep", "profile") else ()
                self.refused(BAD_DATA, command, "cifar10-cnn", "--model", name, *more, names=[name, what])

    def test_a_changed_network_does_not_go_on(self):
        """Dropout has no parameters: names and shapes alone would not tell."""
        self.write(SMALL)
        words = ("train", "cifar10-cnn", *QUICK, "--model", "model.txt", "--checkpoint", "c")
        self.gradus(*words)
        self.write(SMALL.replace("dense", "dropout 0.5\ndense"))
        self.refused(2, *words, "--resume", names=["model text"])


if __name__ == "__main__":
    unittest.main()
