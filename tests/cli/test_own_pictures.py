"""Pictures of one's own: any number of classes, the split, folders with parts, and what is said of odd folders."""

import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import unittest

from cli import GRADUS, Case, png

USAGE, BAD_DATA = 2, 3
COLOURS = {"blue": (40, 60, 200), "green": (40, 180, 60), "red": (200, 50, 40)}
QUICK = ("--resize", "8", "--batch", "4", "--updates", "2")


class OwnPictures(Case):
    def fill(self, folder, name, n, first=0):
        """A class folder of n pictures, no two alike."""
        (self.folder / folder / name).mkdir(parents=True, exist_ok=True)
        draw = random.Random(f"{name} {first}")
        for i in range(first, first + n):
            colour = [min(255, max(0, c + draw.randint(-40, 40))) for c in COLOURS.get(name.lower(), (90, 90, 90))]
            (self.folder / folder / name / f"{i}.png").write_bytes(png(9 + i % 3, 8, colour))

    def flowers(self, *counts):
        for name, n in zip(sorted(COLOURS), counts):
            self.fill("flowers", name, n)

    def notes(self, name):
        data = (self.folder / name).read_bytes()
        length, = struct.unpack("<Q", data[:8])
        return json.loads(data[8:8 + length])["__metadata__"]

    def test_from_a_folder_to_an_answer(self):
        self.flowers(20, 10, 30)
        result = self.gradus("train", "--data", "flowers/", "--resize", "8", "--epochs", "8", "--save-weights", "w",
                             "--json")
        self.assertIn("3 classes; 42 to train on, 6 to validate with, 12 to test with (10 % and 20 %", result.err)
        row = result.row()
        self.assertEqual([sum(line) for line in row["test_confusion"]], [4, 2, 6])
        self.assertEqual([sum(line) for line in row["val_confusion"]], [2, 1, 3])
        self.assertGreater(row["test_accuracy"], 0.8)
        notes = self.notes("w")
        self.assertEqual((json.loads(notes["classes"]), len(notes["seen"])), (["blue", "green", "red"], 8 * 48))
        shutil.rmtree(self.folder / "flowers")
        (self.folder / "sea.png").write_bytes(png(30, 20, COLOURS["blue"]))
        answer, = [json.loads(line) for line in self.gradus("predict", "w", "sea.png", "--top", "3", "--json")
                   .out.splitlines()]
        self.assertEqual([answer["classes"][0]["class"], len(answer["classes"])], ["blue", 3])

    def test_fewer_pictures_than_a_batch(self):
        self.flowers(6, 6)
        words = ("train", "--data", "flowers", "--resize", "8", "--updates", "1")
        self.refused(USAGE, *words, names=["a batch of 16", "only 8 samples", "--batch 8 or less"])
        self.assertEqual(self.gradus(*words, "--batch", "8").out.count("(of green)"), 2)  # whose precision it is
        self.fill("flowers", "red", 6)
        self.assertEqual(self.gradus(*words, "--batch", "8").out.count("(of all classes, in the mean)"), 2)

    def test_the_split_is_drawn_by_its_seed_alone(self):
        self.flowers(10, 10, 10)
        words = ("train", "--data", "flowers", *QUICK, "--json")
        hashes = [self.gradus(*words, *more).row()["data_hash"]
                  for more in ([], ["--seed", "7", "--threads", "1"], ["--split-seed", "2"], ["--test-share", "0.4"])]
        self.assertEqual(hashes[0], hashes[1])
        self.assertEqual(len(set(hashes)), 3)
        row = self.gradus(*words, "--val-share", "0", "--test-share", "0.5").row()
        self.assertEqual([row["val_accuracy"], sum(map(sum, row["test_confusion"]))], [None, 15])

    def test_a_folder_with_its_own_parts(self):
        for part, n in (("train", 8), ("valid", 2), ("test", 4)):
            for name in COLOURS:
                self.fill(f"flowers/{part}", name, n, first={"train": 0, "valid": 20, "test": 40}[part])
        result = self.gradus("train", "--data", "flowers", *QUICK, "--save-weights", "w")
        self.assertIn("3 classes; 24 to train on, 6 to validate with, 12 to test with\n", result.err)
        self.assertEqual(len(self.notes("w")["seen"]), 8 * 30)
        self.refused(USAGE, "train", "--data", "flowers", *QUICK, "--test-share", "0.3",
                     names=["--test-share", "parts of its own"])
        before = ("train", "valid", "test")
        for names in (("Training", "Val", "Testing"), ("TRAIN", "VALID", "TEST"), ("train", "Validation", "test")):
            for old, new in zip(before, names):
                (self.folder / "flowers" / old).rename(self.folder / "flowers" / new)
            before = names
            self.assertIn("3 classes; 24 to train on, 6 to validate with, 12 to test with\n",
                          self.gradus("train", "--data", "flowers", *QUICK).err)
            self.assertIn("flowers: 12 samples\n", self.gradus("evaluate", "w", "--data", "flowers").out)
        (self.folder / "flowers/test/red").rename(self.folder / "flowers/test/rot")
        self.refused(BAD_DATA, "train", "--data", "flowers", *QUICK, names=["flowers/test", "rot", "red"])

    def test_copies_in_both_parts_are_told(self):
        """Test pictures that were trained on or chosen by under another name: those that gradus evaluate leaves out."""
        for part, first in (("train", 0), ("valid", 20), ("test", 40)):
            for name in COLOURS:
                self.fill(f"flowers/{part}", name, 6, first)
        words = ("train", "--data", "flowers", *QUICK)
        told = "flowers: {} byte for byte what the network is trained on or chosen by; gradus evaluate leaves {} out\n"
        self.assertNotIn("byte for byte", self.gradus(*words).err)
        shutil.copy(self.folder / "flowers/train/red/3.png", self.folder / "flowers/test/red/99.png")
        self.assertIn(told.format("1 of those to test with is", "it"), self.gradus(*words).err)
        shutil.copy(self.folder / "flowers/valid/blue/21.png", self.folder / "flowers/test/blue/99.png")
        self.assertIn(told.format("2 of those to test with are", "them"),
                      self.gradus(*words, "--save-weights", "w", "--preload", "none").err)
        self.assertIn("flowers: 20 samples; left out 2 that", self.gradus("evaluate", "w", "--data", "flowers").out)
        for name in COLOURS:
            for file in (self.folder / "flowers/train" / name).iterdir():
                for folder, copies in ("whole", 1), ("twice", 2):
                    (self.folder / folder / name).mkdir(parents=True, exist_ok=True)
                    for i in range(copies):
                        shutil.copy(file, self.folder / folder / name / f"{file.stem}{i}.png")
        words = ("train", *QUICK, "--test-share", "0.5", "--data")
        self.assertNotIn("byte for byte", self.gradus(*words, "whole").err)
        self.assertRegex(self.gradus(*words, "twice").err, r"twice: \d+ of those to test with are byte for byte")

    def test_a_class_that_is_called_like_a_part(self):
        for name in ("valid", "invalid", "test"):
            self.fill("coins", name, 6)
        self.gradus("train", "--data", "coins", *QUICK, "--save-weights", "w")
        found = self.gradus("evaluate", "w", "--data", "coins", "--json").row()
        self.assertEqual([c["class"] for c in found["classes"]], ["invalid", "test", "valid"])
        self.assertEqual(found["samples"], 3)

    def test_results_among_the_classes_are_refused(self):
        """The next run would take the folder for a class, and advise to remove it."""
        self.flowers(6, 6, 6)
        (self.folder / "flowers/red/deep").mkdir()
        for data, out in (("flowers", "flowers/c"), ("flowers/", "./flowers//x/y/"), ("flowers", "flowers"),
                          (self.folder / "flowers", "flowers/red/../c"), (".", "c")):
            if data == ".":
                for name in COLOURS:
                    (self.folder / "flowers" / name).rename(self.folder / name)
                (self.folder / "flowers").rmdir()
            for words in (["train", "--checkpoint"], ["sweep", "--out"], ["sweep", "--dry-run", "--out"]):
                with self.subTest(words=words, out=out):
                    self.refused(USAGE, *words, out, "--data", data, *QUICK, names=[f"{out} lies in", "outside"])
        (self.folder / "flowers").mkdir()
        for name in COLOURS:
            (self.folder / name).rename(self.folder / "flowers" / name)
        self.gradus("sweep", "--data", "flowers", *QUICK, "--seeds", "1", "--out", "flowers/../new/o")
        for _ in range(2):
            self.gradus("train", "--data", "flowers", *QUICK, "--checkpoint", "flowers-runs", "--resume")
        (self.folder / "flowers/train").mkdir()
        for name in COLOURS:
            (self.folder / "flowers" / name).rename(self.folder / "flowers/train" / name)
        shutil.copytree(self.folder / "flowers/train", self.folder / "flowers/test")
        for _ in range(2):  # parts have names, beside which there is room
            self.gradus("train", "--data", "flowers", *QUICK, "--checkpoint", "flowers/c", "--resume")

    def test_recipes_networks_get_a_unit_for_each_class(self):
        self.flowers(6, 6, 6)
        models = (self.folder / "m.txt")
        models.write_text("flatten\ndense classes\n")
        row = self.gradus("summary", "--model", "m.txt", "--classes", "7", "--resize", "4", "--json").row()
        self.assertEqual(row["parameters"], 4 * 4 * 3 * 7 + 7)
        for words in (["train"], ["train", "own-pictures"]):
            row = self.gradus(*words, "--data", "flowers", *QUICK, "--model", "m.txt", "--json").row()
            self.assertEqual((row["recipe"], len(row["test_confusion"])), ("own-pictures", 3))
        models.write_text("flatten\ndense 1\n")
        self.refused(BAD_DATA, "train", "--data", "flowers", *QUICK, "--model", "m.txt",
                     names=["m.txt:2:1", "3 classes", "dense classes"])
        (self.folder / "flowers/red").rename(self.folder / "red")
        self.gradus("train", "--data", "flowers", *QUICK, "--model", "m.txt")  # one logit tells two apart

    def test_a_sweep_wants_a_test_part(self):
        """One without said 0.0 % of every cell, and its own rows were damaged ones to the next call."""
        self.flowers(10, 10)
        self.refused(USAGE, "sweep", *QUICK, "--data", "flowers", "--test-share", "0", "--out", "o",
                     names=["no test pictures", "--test-share above 0"])

    def test_a_sweep_and_an_archive(self):
        self.flowers(8, 8, 8)
        self.gradus("sweep", "--data", "flowers", "--resize", "8", "--batch", "4,8", "--updates", "2", "--seeds", "1",
                    "--out", "o")
        self.assertEqual([row["test_confusion"] is None for row in self.read_rows("o")], [False, False])
        shutil.make_archive(str(self.folder / "flowers"), "zip", self.folder, "flowers")
        rows = [self.gradus("train", "--data", data, *QUICK, "--json").row() for data in ("flowers", "flowers.zip")]
        self.assertEqual(rows[0]["data_hash"], rows[1]["data_hash"])

    def test_a_slash_behind_the_folder_says_nothing(self):
        """Shells put one there when they complete a name."""
        self.flowers(6, 6, 6)
        words = ["train", *QUICK, "--checkpoint", "c", "--resume", "--data"]
        first = self.gradus(*words, "flowers").out
        self.assertEqual(self.gradus(*words, "flowers/").out.splitlines()[0], first.splitlines()[0])
        for name in ("flowers//", "flowers", str(self.folder / "flowers") + "/"):
            result = self.gradus("sweep", *QUICK, "--seeds", "1", "--out", "o", "--data", name)
        self.assertIn("0 to run", result.err)
        self.assertEqual([row["data"] for row in self.read_rows("o")], ["flowers"])

    def test_odd_things_are_told(self):
        self.flowers(6, 6, 6)
        self.fill("flowers", "Red", 6)
        self.fill("flowers/blue", "more", 2)
        (self.folder / "flowers/notes.txt").write_text("x")
        (self.folder / "flowers/green/a.webp").write_text("x")
        (self.folder / "flowers/green/b.heic").write_text("x")
        (self.folder / "flowers/green/\x1b[2Jtorn.png").write_bytes(png(4, 4, (1, 2, 3))[:40])
        told = self.gradus("train", "--data", "flowers", *QUICK).err
        for words in ("the class folders Red and red differ in letter case alone",
                      "left out 1 file, such as flowers/notes.txt", "left out 1 folder, such as flowers/blue/more",
                      "left out 2 files, such as flowers/green/a.webp", "left out green/\\x1b[2Jtorn.png",
                      "4 classes; "):
            self.assertIn(words, told)

    def test_what_macos_leaves_is_no_class(self):
        """A .zip made there, unpacked elsewhere: a folder with a shadow of every file."""
        self.flowers(6, 6, 6)
        plain = self.gradus("train", "--data", "flowers", *QUICK, "--json")
        for name in COLOURS:
            (self.folder / "flowers/__MACOSX/flowers" / name).mkdir(parents=True)
            for folder, file in ("__MACOSX/flowers/" + name, "._0.png"), (name, "._0.png"), (name, ".DS_Store"):
                (self.folder / "flowers" / folder / file).write_bytes(b"\0\5\x16\7")
        result = self.gradus("train", "--data", "flowers", *QUICK, "--json")
        self.assertEqual(result.row()["data_hash"], plain.row()["data_hash"])
        self.assertEqual(result.err.splitlines()[:2], plain.err.splitlines()[:2])

    def test_names_with_spaces_want_quotes(self):
        self.flowers(6, 6, 6)
        (self.folder / "flowers").rename(self.folder / "my flowers")
        self.refused(USAGE, "train", "--data", "my", "flowers", *QUICK, names=['--data "my flowers"', "quotes"])
        (self.folder / "my flowers").rename(self.folder / "my best flowers")
        self.refused(USAGE, "train", "--data", "my", "best", "flowers", *QUICK, names=["names with spaces", "quotes"])

    def test_what_a_file_is_instead(self):
        self.flowers(6, 6, 6)
        (self.folder / "flowers/red/a.jpg").write_bytes(b"RIFF\x24\0\0\0WEBPVP8 " + bytes(20))
        self.assertIn("left out red/a.jpg: a WebP, neither a JPEG nor a PNG, by its first bytes",
                      self.gradus("train", "--data", "flowers", *QUICK).err)

    def test_pictures_that_do_not_lie_upright(self):
        """As telephones store them: told wherever pictures of one's own are read, and not applied."""
        self.flowers(6, 6, 6)
        jpeg = (pathlib.Path(__file__).resolve().parents[1] / "fuzz/corpus/image/baseline.jpg").read_bytes()
        for i, orientation in enumerate((1, 6, 8)):
            tiff = b"II*\0\x08\0\0\0" + struct.pack("<HHHIHHI", 1, 0x112, 3, 1, orientation, 0, 0)
            exif = b"\xff\xe1" + struct.pack(">H", 8 + len(tiff)) + b"Exif\0\0" + tiff
            (self.folder / f"flowers/red/a{i}.jpg").write_bytes(jpeg[:2] + exif + jpeg[2:])
        told = "2 pictures are not upright as stored, by their Exif tag, such as "
        result = self.gradus("train", "--data", "flowers", *QUICK, "--save-weights", "w")
        late = self.gradus("train", "--data", "flowers", *QUICK, "--preload", "none")
        for text in (result.err, late.err, self.gradus("data", "check", "flowers").out):
            self.assertEqual(text.count(told), 1, text)
        self.assertEqual(self.gradus("data", "check", "flowers", "--json").row()["turned"], 2)
        self.assertIn(told + "red/a", self.gradus("evaluate", "w", "--data", "flowers").err)
        told = self.gradus("predict", "w", "flowers/red/a0.jpg", "flowers/red/a2.jpg").err
        self.assertIn("1 picture is not upright as stored, by its Exif tag, such as flowers/red/a2.jpg: ", told)
        self.assertEqual(self.gradus("predict", "w", "flowers/red/a0.jpg").err, "")

    def test_symbolic_links_that_lead_nowhere_or_back(self):
        self.flowers(6, 6, 6)
        (self.folder / "flowers/pink").symlink_to("/nowhere/pink")
        (self.folder / "flowers/round").symlink_to("round")
        told = self.gradus("train", "--data", "flowers", *QUICK).err
        self.assertIn("left out 2 symbolic links, such as flowers/pink: nothing is found at its other end", told)
        self.assertNotIn("a picture belongs into", told)
        for target in (".", "..", "/"):
            with self.subTest(target):
                link = self.folder / "flowers/back"
                link.symlink_to(target)
                self.refused(BAD_DATA, "train", "--data", "flowers",
                             names=["flowers/back is a symbolic link that leads back to flowers", "remove"])
                link.unlink()
        self.fill("flowers/more", "red", 2)  # folders by themselves: one level too high
        (self.folder / "flowers/alias").symlink_to("more")
        self.refused(BAD_DATA, "train", "--data", "flowers", names=["if those are the classes, give flowers/alias"])

    def test_a_name_that_is_no_text(self):
        """A folder and its pictures named in Latin-1: JSON has their bytes written out."""
        self.flowers(6, 6, 6)
        green = os.fsencode(self.folder) + b"/flowers/gr\xfcn/"
        os.rename(self.folder / "flowers/green", green)
        os.rename(green + b"0.png", green + b"\xe40.png")
        self.gradus("train", "--data", "flowers", *QUICK, "--save-weights", "w")
        names = ["blue", "gr\\xfcn", "red"]
        self.assertEqual(json.loads(self.notes("w")["classes"]), names)
        self.assertEqual(list(self.gradus("data", "check", "flowers", "--json").row()["classes"]), names)
        other = os.fsencode(self.folder) + b"/other/"
        os.mkdir(other)
        for name, called in (("blue", b"red"), ("green", b"blue"), ("red", b"gr\xfcn")):  # most answers are mistakes
            self.fill("made", name, 3, first=6)
            os.rename(self.folder / "made" / name, other + called)
            for k in (6, 7, 8):
                os.rename(other + called + b"/%d.png" % k, other + called + b"/\xe4%d.png" % k)
        found = self.gradus("evaluate", "w", "--data", "other", "--wrong", "99", "--json").row()
        self.assertEqual([c["class"] for c in found["classes"]], names)
        self.assertEqual(len(found["mistakes"]), found["samples"] - found["right"])
        self.assertTrue(any("/\\xe4" in m["file"] for m in found["mistakes"]))
        lines = self.gradus("predict", "w", os.fsdecode(green + b"\xe40.png"), "flowers/red/0.png", "--top", "3",
                            "--json").out.splitlines()
        first, second = map(json.loads, lines)
        self.assertEqual((first["file"][-17:], second["file"]), ("gr\\xfcn/\\xe40.png", "flowers/red/0.png"))
        self.assertEqual(sorted(c["class"] for c in first["classes"]), names)

    def test_a_folder_whose_name_is_no_text(self):
        """Of Latin-1, with a word for terminals: rows and checkpoints have it written out, a terminal sees none."""
        self.flowers(6, 6, 6)
        name = b"gr\xfc\x1b[1mn"
        os.rename(self.folder / "flowers", os.fsencode(self.folder) + b"/" + name)
        common = ["--data", name, *map(str, QUICK)]
        for words in (["train", "--json", "--checkpoint", "c"], ["train"],
                      ["sweep", "--seeds", "1", "--json", "--out", "o"]):
            process = subprocess.run([GRADUS, words[0], *common, *words[1:]], capture_output=True, cwd=self.folder,
                                     env=self.environment)
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertNotIn(b"\x1b", process.stdout + process.stderr)
            if "--json" in words:
                self.assertEqual(json.loads(process.stdout.splitlines()[-1])["data"], "gr\\xfc\x1b[1mn")

    def test_what_cannot_be_trained_on_is_refused(self):
        self.refused(USAGE, "train", names=["which recipe"])
        (self.folder / "photos").mkdir()
        self.refused(USAGE, "train", "photos", names=['no recipe "photos"', "goes by --data photos"])
        self.refused(USAGE, "train", "own-pictures", names=["--data FOLDER"])
        self.refused(BAD_DATA, "train", "--data", "missing", names=["missing", "FOLDER/cat"])
        (self.folder / "flowers").mkdir()
        self.refused(BAD_DATA, "train", "--data", "flowers", names=["flowers", "no class folders"])
        self.fill("flowers", "red", 6)
        self.refused(BAD_DATA, "train", "--data", "flowers", names=["one class only", "red"])
        (self.folder / "flowers/blue").mkdir()
        self.refused(BAD_DATA, "train", "--data", "flowers", names=["flowers/blue", "no images"])
        self.fill("flowers", "blue", 2)
        self.refused(BAD_DATA, "train", "--data", "flowers", names=["class blue has 2 images", "add images"])
        self.gradus("train", "--data", "flowers", *QUICK, "--val-share", "0")
        for words, name in ((("--test-share", "1"), "nothing to train on"), (("--test-share", "-1"), "--test-share"),
                            (("--val-share", "0.5", "--test-share", "0.5"), "below 1")):
            self.refused(USAGE, "train", "--data", "flowers", *words, names=[name])
        self.refused(USAGE, "train", "cats-vs-dogs", "--data", "flowers", "--test-share", "0.1",
                     names=["--test-share", "cats-vs-dogs"])


if __name__ == "__main__":
    unittest.main()
