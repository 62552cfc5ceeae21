"""--augment in train and sweep, and gradus data show."""

import struct
import unittest
import zlib

from cli import QUICK, Case


def pixels(path):
    """Height, width and rows of RGB of a PNG with 8 bits a channel."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    raw, rows, above = zlib.decompress(packed), [], bytes(width * 3)
    for y in range(height):
        line = raw[y * (width * 3 + 1):(y + 1) * (width * 3 + 1)]
        row = bytearray()
        for x, byte in enumerate(line[1:]):
            left, up, corner = (row[x - 3] if x >= 3 else 0), above[x], (above[x - 3] if x >= 3 else 0)
            paeth = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            row.append(byte + (0, left, up, (left + up) // 2, paeth)[line[0]] & 255)
        above = bytes(row)
        rows.append([tuple(above[3 * x:3 * x + 3]) for x in range(width)])
    return height, width, rows


class Augment(Case):
    def test_rows_tell_the_plan(self):
        words = ["train", *QUICK, "--json", "--threads", 1]
        plain = self.gradus(*words).row()
        self.assertEqual(plain["augment"], "none")
        drawn = [self.gradus(*words, "--augment", "flip,rotate=15,cutout=4").row() for _ in range(2)]
        self.assertEqual(drawn[0]["augment"], "flip,rotate=15,cutout=4")
        self.assertEqual(drawn[0]["train_loss"], drawn[1]["train_loss"])
        self.assertNotEqual(drawn[0]["train_loss"], plain["train_loss"])
        self.assertEqual(drawn[0]["data_hash"], plain["data_hash"])

    def test_published_doubles_training_and_validation(self):
        words = ["train", "cats-vs-dogs", "--procedural", "--batch", 1200, "--epochs", 1, "--resize", 16]
        explained = self.gradus("train", "cats-vs-dogs", "--explain").out
        self.assertIn("--augment published", explained)
        text = self.gradus(*words, "--augment", "double,resize=20,crop=16@0:0,filter=bicubic-resize").out
        self.assertIn("2 updates, 2400 samples", text)
        self.assertIn("(800 samples", text.split("validation")[1])
        self.assertIn("(400 samples", text.split("test")[1])
        row = self.gradus(*words[:3], "--batch", 2, "--updates", 1, "--augment", "published", "--no-evaluation",
                          "--json").row()
        self.assertEqual(row["augment"], "double,resize=250,crop=200@0:0,filter=bicubic-resize")

    def test_recipes_bring_their_plan_and_none_takes_it_away(self):
        words = [
            "train", "resnet18-cifar", "--procedural", "--batch", 2, "--updates", 1, "--resize", 8, "--last-batch",
            "drop", "--json", "--no-evaluation"
        ]
        self.assertEqual(self.gradus(*words).row()["augment"], "translate=4,flip")
        self.assertEqual(self.gradus(*words, "--augment", "none").row()["augment"], "none")

    def test_crops_change_what_the_network_sees(self):
        words = ["train", "cats-vs-dogs", "--procedural", "--batch", 8, "--updates", 1, "--resize", 24, "--json"]
        whole, cropped = (self.gradus(*words, "--augment", plan).row() for plan in ("none", "crop=16"))
        self.assertLess(cropped["peak_bytes"], whole["peak_bytes"])
        self.assertIsNotNone(cropped["test_loss"])

    def test_sweeps_hand_it_to_their_cells(self):
        self.gradus("sweep", "cifar10-cnn", "--procedural", "--batch", 500, "--epochs", 1, "--seeds", 1, "--augment",
                    "flip=alternate", "--out", "runs")
        self.assertEqual([r["augment"] for r in self.read_rows("runs")], ["flip=alternate"])

    def test_wrong_plans(self):
        for plan, names in (("flp", ["flp", "is no step", "translate=N"]), ("rotate", ["needs a value", "rotate=15"]),
                            ("crop=33", ["crop of 33 x 33", "resize= before it"]),
                            ("published", ["cifar10-cnn", "flip,translate=4"]),
                            ("flip, crop=16", ["has a space in it"]), ("cutout=33", ["cutout of 33 x 33", "32 x 32"]),
                            ("double,crop=8", ["double keeps the pictures of 32 x 32"])):
            self.refused(2, "train", *QUICK, "--augment", plan, names=names)
        self.refused(2, "train", "keras-mlp", "--augment", "flip", names=["--augment is for pictures"])
        self.refused(2, "sweep", "cifar10-cnn", "--procedural", "--augment", "flp", "--out", "runs",
                     names=["is no step"])


class Show(Case):
    def sheet(self, *words):
        out = self.gradus("data", "show", "cifar10-cnn", "--procedural", "--out", "sheet.png", "--samples", 3,
                          *words).out
        self.assertIn("sheet.png: 3 samples of procedural", out)
        height, width, rows = pixels(self.folder / "sheet.png")
        self.assertEqual(height, 3 * 34 + 2)

        def cell(row, column):
            top, left = 2 + 34 * row, 2 + 34 * column
            return [line[left:left + 32] for line in rows[top:top + 32]]
        self.assertEqual(rows[0][0], (128, 128, 128))
        return (width - 2) // 34, cell

    def test_what_training_sees(self):
        columns, cell = self.sheet("--epochs", 4, "--augment", "flip=alternate")
        self.assertEqual(columns, 5)
        for row in range(3):
            original, mirrored = cell(row, 0), [line[::-1] for line in cell(row, 0)]
            self.assertNotEqual(original, mirrored)
            self.assertIn(cell(row, 1), (original, mirrored))
            for epoch in range(2, 5):
                self.assertEqual(cell(row, epoch), [line[::-1] for line in cell(row, epoch - 1)])

    def test_copies_of_a_doubled_set(self):
        _, cell = self.sheet("--epochs", 1, "--augment", "double,flip=always")
        for row in range(3):
            self.assertEqual(cell(row, 1), [line[::-1] for line in cell(row, 0)])

    def test_words(self):
        self.refused(2, "data", "show", names=["which recipe?"])
        self.refused(2, "data", "show", "cifar10-cnn", "--procedural", names=["--out SHEET.png"])
        self.refused(2, "data", "show", "keras-mlp", "--out", "s.png", names=["no pictures"])
        self.refused(2, "data", "show", "cifar10-cnn", "--procedural", "--out", "s.png", "--augment", "flp",
                     names=["is no step"])
        self.refused(5, "data", "show", "cifar10-cnn", "--procedural", "--out", "/nonexistent/s.png",
                     names=["/nonexistent", "make its folder first"])
        self.refused(2, "data", "show", "cifar10-cnn", "--procedural", "--out", "s.jpg", names=["s.jpg", ".png"])
        self.refused(3, "data", "show", "cifar10-cnn", "--data", ".", "--out", "s.png", names=["cifar-10-batches-bin"])


if __name__ == "__main__":
    unittest.main()
