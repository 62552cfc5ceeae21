"""gradus evaluate: accuracy on what was not trained on, by class; what was seen before is known again."""

import json
import math
import random
import shutil
import struct
import unittest
import zlib

from cli import Case, png

USAGE, BAD_DATA = 2, 3
COLOURS = {"blue": (60, 80, 170), "green": (70, 150, 80), "red": (170, 70, 60)}
COUNTS = {"blue": 12, "green": 18, "red": 30}


class Evaluate(Case):
    def fill(self, folder, name, n, seed):
        (self.folder / folder / name).mkdir(parents=True, exist_ok=True)
        draw = random.Random(f"{name} {seed}")
        for i in range(n):
            colour = [min(255, max(0, c + draw.randint(-75, 75))) for c in COLOURS.get(name, (100, 100, 100))]
            (self.folder / folder / name / f"{i}.png").write_bytes(png(9, 8, colour))

    def setUp(self):
        super().setUp()
        for name, n in COUNTS.items():
            self.fill("photos", name, n, "first")
        words = ("train", "--data", "photos", "--resize", "8", "--epochs", "3", "--json", "--save-weights", "w")
        self.row = self.gradus(*words).row()

    def evaluate(self, *words):
        return self.gradus("evaluate", "w", *words, "--json").row()

    def test_the_folder_trained_on_gives_its_test_part(self):
        """The very numbers that train has told of that part."""
        told = self.evaluate("--data", "photos")
        self.assertEqual((told["found"], told["left_out"], told["samples"]), (60, 48, 12))
        self.assertEqual(told["confusion"], self.row["test_confusion"])
        self.assertAlmostEqual(told["accuracy"], self.row["test_accuracy"])
        self.assertEqual((told["most_frequent"], told["most_frequent_share"]), ("red", 0.5))
        self.assertEqual([c["samples"] for c in told["classes"]], [2, 4, 6])

    def test_the_device_that_computes_in_doubles(self):
        plain, double = (self.evaluate("--data", "photos", "--wrong", 1, "--device", name) for name in ("cpu", "ref"))
        self.assertEqual(plain["confusion"], double["confusion"])
        for a, b in zip(plain["mistakes"], double["mistakes"], strict=True):
            self.assertAlmostEqual(a["probability"], b["probability"], places=5)

    def test_scores_are_those_of_the_matrix(self):
        self.fill("photos", "red", 60, "second")
        told = self.evaluate("--data", "photos", "--wrong", "1000")
        matrix, n = told["confusion"], told["samples"]
        right = sum(matrix[i][i] for i in range(3))
        self.assertEqual((sum(map(sum, matrix)), told["right"], len(told["mistakes"])), (n, right, n - right))
        p = right / n
        self.assertAlmostEqual(told["standard_error"], math.sqrt(p * (1 - p) / n))
        low, high = told["interval"]
        for bound in (low, high):  # Wilson's bounds: p lies 1.96 of the bound's own deviations away
            self.assertAlmostEqual(abs(p - bound), 1.959964 * math.sqrt(bound * (1 - bound) / n), places=6)
        for i, c in enumerate(told["classes"]):
            said = sum(row[i] for row in matrix)
            self.assertAlmostEqual(c["recall"], matrix[i][i] / sum(matrix[i]))
            self.assertEqual(c["precision"], None if said == 0 else matrix[i][i] / said)
        sure = [m["probability"] for m in told["mistakes"]]
        self.assertEqual(sure, sorted(sure, reverse=True))
        for m in told["mistakes"]:
            self.assertTrue(m["file"].startswith(m["class"] + "/") and m["class"] != m["answer"], m)
            answer = json.loads(self.gradus("predict", "w", f"photos/{m['file']}", "--json").out)["classes"][0]
            self.assertEqual(answer["class"], m["answer"])
            self.assertAlmostEqual(answer["probability"], m["probability"], places=6)

    def test_what_was_trained_on_is_known_under_other_names(self):
        """Copies of every picture in another folder, other names and fewer classes: the same part is left out."""
        for name in ("green", "red"):
            (self.folder / "other" / name).mkdir(parents=True)
            for i, file in enumerate(sorted((self.folder / "photos" / name).iterdir())):
                shutil.copy(file, self.folder / "other" / name / f"copy{i}.png")
        self.fill("other", "green", 3, "third")
        told = self.evaluate("--data", "other")
        self.assertEqual((told["found"], told["left_out"]), (51, 38))
        self.assertEqual([sum(row) for row in told["confusion"]], [0, 7, 6])
        self.assertEqual([c["class"] for c in told["classes"]], ["blue", "green", "red"])

    def test_nothing_but_what_was_trained_on_is_no_test(self):
        data = (self.folder / "w").read_bytes()
        length, = struct.unpack("<Q", data[:8])
        seen = json.loads(data[8:8 + length])["__metadata__"]["seen"]
        for path in (self.folder / "photos").rglob("*.png"):
            if f"{zlib.crc32(path.read_bytes()):08x}" not in [seen[i:i + 8] for i in range(0, len(seen), 8)]:
                path.unlink()
        self.refused(BAD_DATA, "evaluate", "w", "--data", "photos", names=["all of its 48 pictures", "no test of it"])

    def test_text_fits_a_terminal(self):
        text = self.gradus("evaluate", "w", "--data", "photos").out
        for words in ("left out 48", "standard error", "always answering red would be right for 50.0 %", "precision",
                      "What it is, and what was answered"):
            self.assertIn(words, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_names_of_classes_stand_in_columns(self):
        """Letters of two bytes, a Mac's marks upon letters, letters of two columns, and what a terminal acts upon."""
        names = ("Größe", "u\u0308ber", "猫", "an\x1b[31mb", "ä" * 30)
        for i, name in enumerate(names):
            self.fill("named", name, 6, i)
        self.gradus("train", "--data", "named", "--resize", "8", "--updates", "1", "--save-weights", "n")
        text = self.gradus("evaluate", "n", "--data", "named", "--wrong", "0").out
        self.assertNotIn("\x1b", text)
        table, matrix = text.split("class ")[1], text.split("What it is")[1]
        for name, columns in ((names[0], 5), (names[1], 4), (names[2], 2), ("an?[31mb", 8), ("ä" * 19, 19)):
            self.assertIn(f"\n{name}{' ' * (20 - columns)}          1 ", table)
        self.assertEqual(matrix.splitlines()[1], " " * 22 + "Größe an?[31   u\u0308ber ääääää     猫")
        self.assertIn("\nclass 猫" + " " * 19 + "6 images\n", self.gradus("data", "check", "named").out)

    def test_many_classes(self):
        for i in range(12):
            self.fill("many", f"class number {i} with a long name", 4, i)
        self.gradus("train", "--data", "many", "--resize", "8", "--updates", "1", "--save-weights", "m")
        text = self.gradus("evaluate", "m", "--data", "many", "--wrong", "0").out
        self.assertIn("Most frequent confusions", text)
        self.assertNotIn("Surest", text)
        self.assertEqual(len(json.loads(self.gradus("evaluate", "m", "--data", "many", "--json").out)["confusion"]), 12)

    def test_moved_pictures_are_half_of_the_mean(self):
        plain, moved, both = (self.evaluate("--data", "photos", *words)
                              for words in ([], ["--shift", 2], ["--flip", "--shift", 2]))
        self.assertEqual((plain["shift"], moved["shift"], both["flip"]), (0, 2, True))
        self.assertEqual(plain["confusion"], both["confusion"])  # pictures of one colour are the same moved
        for a, b, c in zip(plain["mistakes"], moved["mistakes"], both["mistakes"]):
            self.assertAlmostEqual(a["probability"], b["probability"], places=6)
            self.assertAlmostEqual(a["probability"], c["probability"], places=6)

    def test_flip_is_the_mean_of_both(self):
        plain, flipped = self.evaluate("--data", "photos"), self.evaluate("--data", "photos", "--flip")
        self.assertEqual((plain["flip"], flipped["flip"]), (False, True))
        self.assertEqual(plain["confusion"], flipped["confusion"])  # pictures of one colour are their own mirrors
        for a, b in zip(plain["mistakes"], flipped["mistakes"]):
            self.assertAlmostEqual(a["probability"], b["probability"], places=5)

    def test_recipes(self):
        words = ("--procedural", "--batch", "8", "--updates", "2")
        row = self.gradus("train", "cifar10-cnn", *words, "--save-weights", "c", "--json").row()
        told = json.loads(self.gradus("evaluate", "c", "--procedural", "--json").out)
        self.assertEqual(told["confusion"], row["test_confusion"])
        self.assertTrue(all(m["file"].startswith("sample ") for m in told["mistakes"]))
        self.gradus("train", "cats-vs-dogs", *words, "--resize", "16", "--save-weights", "d")
        self.refused(BAD_DATA, "evaluate", "d", "--data", "missing", names=["missing"])

    def test_weights_that_do_not_tell_what_they_have_seen(self):
        data = (self.folder / "w").read_bytes()
        length, = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + length])
        del header["__metadata__"]["seen"]
        header["__metadata__"] = {k: v for k, v in header["__metadata__"].items()
                                  if k in ("recipe", "resize", "augment", "classes", "model")}
        text = json.dumps(header).encode()
        (self.folder / "w").write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length:])
        result = self.gradus("evaluate", "w", "--data", "photos")
        self.assertIn("do not tell which files", result.out)
        self.assertIsNone(self.evaluate("--data", "photos")["left_out"])

    def test_notes_that_are_wrong(self):
        data = (self.folder / "w").read_bytes()
        length, = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + length])
        notes = {k: v for k, v in header["__metadata__"].items()
                 if k in ("recipe", "resize", "augment", "classes", "model", "seen")}
        (self.folder / "a.png").write_bytes(png(4, 4, (1, 2, 3)))
        for change, names in (({"classes": "[1, 2, 3]"}, ["classes"]), ({"classes": "{"}, ["classes"]),
                              ({"classes": None}, ["which classes"]), ({"classes": "[]"}, ["which classes"]),
                              ({"model": "conv"}, ["bad, its model:1:5"]), ({"resize": "x"}, ["resize"]),
                              ({"model": "flatten\ndense classes"}, ["bad"]), ({"seen": "zz"}, [])):
            header["__metadata__"] = {k: v for k, v in {**notes, **change}.items() if v is not None}
            text = json.dumps(header).encode()
            (self.folder / "bad").write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length:])
            with self.subTest(change):
                if "seen" in change:  # as if it said nothing
                    self.assertIn("do not tell", self.gradus("evaluate", "bad", "--data", "photos").out)
                    continue
                self.refused(BAD_DATA, "evaluate", "bad", "--data", "photos", names=names)
                self.refused(BAD_DATA, "predict", "bad", "a.png", names=names)

    def test_what_cannot_be_evaluated(self):
        self.refused(USAGE, "evaluate", names=["which weights"])
        self.refused(USAGE, "evaluate", "w", names=["which pictures"])
        self.refused(BAD_DATA, "evaluate", "w", "--data", "nowhere", names=["nowhere"])
        self.gradus("train", "keras-mlp", "--updates", 1, "--no-evaluation", "--save-weights", "table")
        self.refused(USAGE, "evaluate", "table", "--data", "photos", names=["keras-mlp", "no --data"])
        self.fill("photos", "mauve", 2, "x")
        self.refused(BAD_DATA, "evaluate", "w", "--data", "photos", names=["no class mauve", "blue"])
        shutil.rmtree(self.folder / "photos/mauve")
        self.refused(USAGE, "evaluate", "w", "--data", "photos", "--procedural", names=["exclude each other"])


if __name__ == "__main__":
    unittest.main()
