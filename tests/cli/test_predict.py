"""gradus predict: classes by name, from what the weights say of themselves; what is no picture; weights of others."""

import json
import pathlib
import struct
import unittest

from cli import Case, pictures, png

USAGE, BAD_DATA = 2, 3

WORDS = ["cats-vs-dogs", "--data", ".", "--resize", "16", "--batch", "16", "--updates", "40", "--no-evaluation"]


class Predict(Case):
    def setUp(self):
        super().setUp()
        pictures(self.folder, 1000)
        self.gradus("train", *WORDS, "--save-weights", "w")
        (self.folder / "orange.png").write_bytes(png(40, 30, (210, 110, 30)))  # as cats are here, and never seen
        (self.folder / "blue.png").write_bytes(png(9, 64, (30, 110, 210)))

    def answers(self, *words, expect=0):
        return [json.loads(line) for line in self.gradus("predict", *words, "--json", expect=expect).out.splitlines()]

    def test_names_the_classes_of_pictures_never_seen(self):
        lines = self.gradus("predict", "w", "blue.png", "orange.png").out.splitlines()
        self.assertRegex(lines[0], r"^blue\.png: Dog \d+\.\d %$")
        self.assertRegex(lines[1], r"^orange\.png: Cat \d+\.\d %$")

    def test_probabilities_are_sorted_and_add_up(self):
        names = [f"{i}.png" for i in range(20)]  # more than a batch
        for name in names:
            (self.folder / name).symlink_to("orange.png" if int(name[:-4]) % 3 else "blue.png")
        answers = self.answers("w", *names, "--top", "5")
        self.assertEqual([a["file"] for a in answers], names)
        for i, a in enumerate(answers):
            first, second = a["classes"]
            self.assertEqual(first["class"], "Cat" if i % 3 else "Dog")
            self.assertEqual(first["label"], 0 if i % 3 else 1)
            self.assertGreaterEqual(first["probability"], second["probability"])
            self.assertAlmostEqual(first["probability"] + second["probability"], 1, places=6)

    def test_the_device_that_computes_in_doubles(self):
        """Its logits are doubles: they need twice the room, and read as floats they would say nothing."""
        plain, double = (self.answers("w", "blue.png", "orange.png", "--device", name) for name in ("cpu", "ref"))
        for a, b in zip(plain, double, strict=True):
            self.assertEqual(a["classes"][0]["class"], b["classes"][0]["class"])
            self.assertAlmostEqual(a["classes"][0]["probability"], b["classes"][0]["probability"], places=5)

    def test_what_is_no_picture_leaves_the_others(self):
        (self.folder / "notes.png").write_text("no picture")
        result = self.gradus("predict", "w", "orange.png", "notes.png", "missing.png", "blue.png", expect=BAD_DATA)
        self.assertEqual([line.split(":")[0] for line in result.out.splitlines()], ["orange.png", "blue.png"])
        for name in ("notes.png", "missing.png"):
            self.assertIn(name, result.err)
        self.refused(BAD_DATA, "predict", "w", "missing.png", names=["missing.png", "none of the 1 file"])

    def test_weights_that_say_nothing_of_themselves(self):
        """As other tools write them: the same tensors without notes."""
        data = (self.folder / "w").read_bytes()
        length, = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + length])
        self.assertEqual(header.pop("__metadata__")["recipe"], "cats-vs-dogs")
        text = json.dumps(header).encode()
        (self.folder / "bare").write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length:])
        self.refused(USAGE, "predict", "bare", "blue.png", names=["bare", "--recipe"])
        self.refused(USAGE, "predict", "bare", "blue.png", "--recipe", "cats", names=["cats", "cats-vs-dogs"])
        self.refused(USAGE, "predict", "bare", "blue.png", "--recipe", "mnist-mlp", names=["mnist-mlp", "coloured"])
        self.refused(BAD_DATA, "predict", "bare", "blue.png", "--recipe", "cifar10-cnn", names=["another model"])
        self.refused(BAD_DATA, "predict", "bare", "blue.png", "--recipe", "cats-vs-dogs", names=["bare", "shape"])
        self.gradus("train", *WORDS[:3], "--updates", "1", "--no-evaluation", "--save-weights", "big")
        data = (self.folder / "big").read_bytes()
        length, = struct.unpack("<Q", data[:8])
        header = {k: v for k, v in json.loads(data[8:8 + length]).items() if k != "__metadata__"}
        text = json.dumps(header).encode()
        (self.folder / "bare").write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length:])
        self.assertIn("class ", self.gradus("predict", "bare", "blue.png", "--recipe", "cats-vs-dogs").out)

    def test_bad_input(self):
        for words, names in ((["w"], ["which pictures"]), ([], ["which weights"]),
                             (["w", "blue.png", "--top", "0"], ["--top"]),
                             (["w", "blue.png", "--recipe", "cifar10-cnn"], ["cats-vs-dogs", "cifar10-cnn"])):
            with self.subTest(words):
                self.refused(USAGE, "predict", *words, names=names)
        self.refused(BAD_DATA, "predict", "blue.png", "blue.png", names=["blue.png"])
        damaged = bytearray((self.folder / "w").read_bytes())
        damaged[-3] ^= 1
        pathlib.Path(self.folder / "damaged").write_bytes(damaged)
        self.refused(BAD_DATA, "predict", "damaged", "blue.png", names=["damaged", "checksum"])


if __name__ == "__main__":
    unittest.main()
