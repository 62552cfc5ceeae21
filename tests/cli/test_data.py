"""gradus data: looking into data sets, packing them, and training from an archive or a packed set."""

import binascii
import hashlib
import json
import os
import struct
import unittest
import zipfile
import zlib

from cli import Case, is_written, wait_for, without_timings


def png(side, colour):
    """A picture of one colour, side x side."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes(colour) * side) * side
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Data(Case):
    def put(self, files):
        for name, contents in files.items():
            path = self.folder / "PetImages" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)

    def pets(self, per_class):
        """PetImages of flat colours: enough for the recipe's split, and one empty file."""
        files = {"Cat/666.jpg": b""}
        for i in range(per_class):
            files[f"Cat/{i}.png"] = png(3, (200, i % 200, 0))
            files[f"Dog/{i}.png"] = png(3, (0, i % 200, 200))
        self.put(files)
        with zipfile.ZipFile(self.folder / "pets.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, contents in files.items():
                archive.writestr("PetImages/" + name, contents)
            archive.writestr("readme[1].txt", "read me")
        return files

    def test_check_tells_what_is_there(self):
        files = self.pets(4)
        for path in ("PetImages", "pets.zip"):
            text = self.gradus("data", "check", path, "--manifest", "m.txt").out
            for line in ("left out Cat/666.jpg: an empty file\n", "class Cat                  4 images\n",
                         "filter decodable           8 files taken, 1 left out\n"):
                self.assertIn(line, text)
            written = (self.folder / "m.txt").read_bytes()
            self.assertIn(f"manifest sha256            {hashlib.sha256(written).hexdigest()}\n", text)
            want = "".join(f"{c}/{i}.png {len(f)} {binascii.crc32(f):08x}\n" for c in ("Cat", "Dog") for i in range(4)
                           for f in [files[f"{c}/{i}.png"]])
            self.assertEqual(written.decode(), want)

    def test_a_name_looks_like_no_line(self):
        """What stands in a name behind the end of a line would be another picture's."""
        self.put({"Cat/1.png 3 00000000\n2.png": png(3, (1, 2, 3)), "Cat/1.png 3 00000000\\x0a2.png": png(3, (1, 2, 4)),
                  "Dog/1.png": png(3, (5, 6, 7))})
        self.gradus("data", "check", "PetImages", "--manifest", "m.txt")
        names = [line.rsplit(" ", 2)[0] for line in (self.folder / "m.txt").read_text().splitlines()]
        self.assertEqual(sorted(names), ["Cat/1.png 3 00000000\\x0a2.png", "Cat/1.png 3 00000000\\x5cx0a2.png",
                                         "Dog/1.png"])

    def test_keras_jfif_is_what_pythons_expression_keeps(self):
        near, far = b"\xff\xd8\xff\xe0\0\x10JFIF", b"\xff\xd8\xff\xe1\0\x10Exif" + b"\0" * 30 + b"JFIF"
        self.put({"Cat/1.jpg": near, "Cat/2.jpg": far, "Cat/3.jpg": b"\xff\xd8\xff\xe1\0\x10Exif", "Cat/4.jpg": b"",
                  "Dog/1.png": png(2, (1, 2, 3)), "Dog/2.jpg": b"JFI" + b"F" * 3000})
        said = self.gradus("data", "check", "PetImages", "--filter", "keras-jfif", expect=3).out
        for path in (self.folder / "PetImages").glob("*/*"):
            with open(path, "rb") as file:
                kept = b"JFIF" in file.peek(10)
            name = f"{path.parent.name}/{path.name}: filter keras-jfif"
            self.assertEqual(name not in said, kept, name)

    def test_packed_is_the_same_data(self):
        self.pets(4)
        packed = json.loads(self.gradus("data", "pack", "pets.zip", "pets.grd", "--size", 6, "--json").out)
        found = json.loads(self.gradus("data", "check", "pets.grd", "--json").out)
        self.assertEqual((found["images"], found["classes"], found["shape"]), (8, {"Cat": 4, "Dog": 4}, [6, 6, 3]))
        self.assertEqual((packed["filter"], packed["left_out"]), ("decodable", 1))
        for key in ("data_hash", "manifest_sha256", "shape", "images"):
            self.assertEqual(found[key], packed[key])
        self.assertIn("mapped and checked", self.gradus("data", "check", "pets.grd").out)

    def test_training_from_folder_archive_and_packed_set(self):
        self.pets(1000)
        self.gradus("data", "pack", "pets.zip", "pets.grd", "--size", 16)
        common = ["train", "cats-vs-dogs", "--resize", 16, "--updates", 1, "--batch", 4, "--json"]
        for more in ([], ["--split-seed", 3]):
            rows = []
            for path in (".", "PetImages", "pets.zip", "pets.grd"):
                result = self.gradus(*common, *more, "--data", path)
                self.assertRegex(result.err, "PetImages: 2,000 files taken.*; manifest sha256 [0-9a-f]{64}\n")
                rows.append(result.row())
            self.assertEqual(len({row["data_hash"] for row in rows}), 1)
            self.assertEqual(len({row["train_loss"] for row in rows}), 1)
        plain = without_timings(rows[0] | {"data_hash": None, "peak_bytes": 0})
        for more in (["--workers", 1], ["--workers", 7, "--prefetch", 3], ["--preload", "none"],
                     ["--preload", "none", "--workers", 2], ["--preload", "device"],
                     ["--preload", "device", "--workers", 2]):
            row = self.gradus(*common, "--split-seed", 3, "--data", "pets.zip", *more).row()
            self.assertEqual(without_timings(row | {"data_hash": None, "peak_bytes": 0}), plain)
            self.assertEqual(row["data_hash"] is None, "none" in more)
            self.assertEqual(row["workers"], int(more[more.index("--workers") + 1]) if "--workers" in more else 0)
            self.assertAlmostEqual(row["waiting"] + row["copying"] + row["computing"] + row["evaluating"], 1, places=6)
        self.refused(2, *common, "--data", "pets.grd", "--preload", "none", names=["--preload none", "packed"])
        self.refused(2, *common, "--procedural", "--preload", "none", names=["--preload none is for folders"])
        self.refused(4, *common[:-1], "--data", "pets.zip", "--preload-limit", "1M",
                     names=["2000 images of 16 x 16", "preload none"])
        self.refused(
            3, *common[:2], "--updates", 1, "--data", "pets.grd",
            names=["pets.grd holds pictures of 16x16x3, cats-vs-dogs is for 200x200x3; pack it again with --size 200"])
        self.refused(2, *common, "--data", "pets.grd", "--filter", "none", names=["--filter none: pets.grd is packed"])
        self.refused(3, *common, "--data", "pets.zip", "--filter", "keras-jfif", names=["passes the filter"])
        (self.folder / "pets.zip").rename(self.folder / "kagglecatsanddogs_5340.zip")
        (self.folder / "PetImages").rename(self.folder / "elsewhere")
        self.gradus(*common, "--data", ".")

    def has_logged(self):
        """Whether training has begun."""
        return is_written(self.folder, "l.tmp.*")

    def test_a_mapped_file_that_becomes_shorter(self):
        self.pets(1000)
        self.gradus("data", "pack", "pets.zip", "pets.grd", "--size", 16)
        for name, more in (("pets.grd", []), ("pets.zip", ["--preload", "none"])):
            process = self.start("train", "cats-vs-dogs", "--resize", 16, "--data", name, "--updates", 1000000,
                                 "--no-evaluation", "--save-weights", "w", "--log-updates", "l", *more)
            wait_for(self.has_logged)
            os.truncate(self.folder / name, 100)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 5, err)
            self.assertIn(f"{name} became shorter while it was being read", err)
            self.assertFalse([f for f in self.files() if ".tmp." in f])

    def test_words(self):
        self.pets(2)
        self.gradus("data", "pack", "pets.zip", "pets.grd", "--size", 4)
        for words, names in (([], ["check, pack or show"]), (["chek"], ["did you mean check?"]),
                             (["check"], ["check wants the path"]), (["pack", "pets.zip"], ["ends in .grd"]),
                             (["pack", "pets.zip", "out"], ["ends in .grd, ", "not out"]),
                             (["check", "pets.zip", "more"], ["what is more?"]),
                             (["check", "pets.grd", "--size", 3], ["pets.grd is packed"]),
                             (["check", "pets.zip", "--filter", "jfif"], ["--filter", "keras-jfif"])):
            self.refused(2, "data", *words, names=names)
        (self.folder / "cifar-10-binary.tar.gz").write_bytes(b"cut")
        self.refused(3, "data", "check", "cifar-10-binary.tar.gz", names=["CIFAR-10 archive"])
        self.refused(3, "data", "check", "nowhere", names=["nowhere", "No such file"])
        self.refused(3, "data", "check", "nowhere.grd", names=["nowhere.grd", "No such file"])
        self.refused(5, "data", "pack", "pets.zip", "/nonexistent/pets.grd", names=["/nonexistent/pets.grd"])
        self.refused(3, "data", "check", "pets.zip", "--filter", "none", names=["Cat/666.jpg", "filter none"])
        self.refused(2, "train", "cifar10-cnn", "--procedural", "--filter", "none", names=["--filter", "cifar10-cnn"])


if __name__ == "__main__":
    unittest.main()
