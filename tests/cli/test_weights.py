"""gradus weights: what is in a file of weights, and the same for another tool."""
import json
import unittest
import zipfile

from cli import Case, png

USAGE, BAD_DATA = 2, 3
TRAIN = ["cats-vs-dogs", "--procedural", "--resize", 12, "--batch", 4, "--updates", 1, "--no-evaluation"]


class Weights(Case):
    def setUp(self):
        super().setUp()
        self.gradus("train", *TRAIN, "--save-weights", "w")

    def test_a_file_is_listed(self):
        lines = self.gradus("weights", "w").out.splitlines()
        self.assertEqual([" ".join(line.split()) for line in lines[:3]],
                         ["conv1.weight f32 [32,3,3,3]", "conv1.bias f32 [32]", "dense1.weight f32 [128,1152]"])
        self.assertIn("6 tensors, 148609 numbers, 581 KiB", lines)
        self.assertIn("recipe: cats-vs-dogs", lines)
        self.assertIn("resize: 12", lines)
        rows = [json.loads(line) for line in self.gradus("weights", "w", "--json").out.splitlines()]
        self.assertEqual(rows[4], {"name": "dense2.weight", "type": "f32", "shape": [1, 128]})

    def test_files_that_other_tools_write_by_default(self):
        """PyTorch's, new and old, and Keras': told what they are and what to write instead."""
        for name, member in (("net.pth", "net/data.pkl"), ("net.keras", "metadata.json")):
            with zipfile.ZipFile(self.folder / name, "w") as archive:
                archive.writestr(member, "{}")
        (self.folder / "old.pth").write_bytes(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.")
        (self.folder / "net.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
        for name, cure in (("net.pth", "safetensors.torch"), ("old.pth", "safetensors.torch"),
                           ("net.keras", "safetensors.numpy"), ("net.h5", "safetensors.numpy")):
            for words in (["weights", name], ["train", *TRAIN, "--init-weights", name]):
                self.refused(BAD_DATA, *words, names=[name, cure, "not read" if "numpy" in cure else "never read"])

    def test_there_and_back(self):
        """Through every tool that reads what it writes: the same file again, notes included where they were kept."""
        for tool, names in (("torch", "dense1.weight f32 [128,1152]"), ("keras", "dense1/kernel f32 [1152,128]")):
            with self.subTest(tool):
                self.gradus("weights", "convert", "w", tool, "--to", tool)
                listed = [" ".join(line.split()) for line in self.gradus("weights", tool).out.splitlines()]
                self.assertIn(names, listed)
                self.gradus("weights", "convert", tool, "back", "--to", "gradus", "--recipe", "cats-vs-dogs",
                            "--resize", 12)
                self.gradus("weights", "convert", "back", "again", "--to", "torch")
                self.gradus("weights", "convert", "w", "torch", "--to", "torch")
                self.assertEqual((self.folder / "again").read_bytes(), (self.folder / "torch").read_bytes())
                told = self.gradus("train", *TRAIN, "--init-weights", tool).err
                self.assertIn("PyTorch's layout, filters OIHW" if tool == "torch" else "HWIO to KRSC", told)
        self.gradus("weights", "convert", "w", "same", "--to", "gradus")
        self.assertEqual((self.folder / "same").read_bytes(), (self.folder / "w").read_bytes())

    def test_an_archive_for_numpy(self):
        self.gradus("weights", "convert", "w", "w.npz", "--to", "npz")
        with zipfile.ZipFile(self.folder / "w.npz") as archive:
            self.assertIsNone(archive.testzip())
            data = archive.read("dense1.weight.npy")
        self.assertTrue(data.startswith(b"\x93NUMPY\x01\x00"))
        self.assertIn(b"{'descr': '<f4', 'fortran_order': False, 'shape': (128,1152,), }", data[:128])
        self.assertEqual(len(data), 128 + 4 * 128 * 1152)

        self.gradus("weights", "convert", "w.npz", "back", "--to", "gradus", "--recipe", "cats-vs-dogs", "--resize", 12)
        self.gradus("weights", "convert", "back", "again.npz", "--to", "npz")
        self.assertEqual((self.folder / "again.npz").read_bytes(), (self.folder / "w.npz").read_bytes())
        self.assertIn("dense1.weight", self.gradus("weights", "w.npz").out)
        of_npz, of_ours = (self.gradus("train", *TRAIN, "--init-weights", name, "--json") for name in ("w.npz", "w"))
        self.assertIn("PyTorch's layout, filters OIHW", of_npz.err)
        self.assertEqual(of_npz.row()["train_loss"], of_ours.row()["train_loss"])
        (self.folder / "cut.npz").write_bytes((self.folder / "w.npz").read_bytes()[:-1])
        self.refused(BAD_DATA, "train", *TRAIN, "--init-weights", "cut.npz", names=["cut.npz", "cut short"])

    def test_a_network_of_ones_own(self):
        """Weights without notes, of a network that stands in a model file: made ready for predict."""
        (self.folder / "m.txt").write_text("conv 4 3x3 same\nbatch_norm relu\npool 2\nflatten\ndense classes\n")
        self.gradus("train", "own-pictures", "--procedural", "--resize", 8, "--model", "m.txt", "--batch", 4,
                    "--updates", 1, "--no-evaluation", "--save-weights", "own")
        (self.folder / "1.png").write_bytes(png(8, 8, (90, 60, 7)))
        for tool in ("torch", "keras", "npz"):
            self.gradus("weights", "convert", "own", "theirs", "--to", tool)
            self.gradus("weights", "convert", "theirs", "back", "--to", "gradus", "--model", "m.txt", "--outputs", 2,
                        "--resize", 8)
            told = [json.loads(self.gradus("predict", name, "1.png", "--top", 2, "--json").out)["classes"]
                    for name in ("own", "back")]
            self.assertEqual(*([(c["label"], c["probability"]) for c in classes] for classes in told))
        self.refused(USAGE, "weights", "convert", "theirs", "b", "--to", "gradus", "--model", "m.txt",
                     names=["--outputs N"])
        self.refused(USAGE, "weights", "convert", "own", "b", "--to", "torch", "--model", "m.txt",
                     names=["own says itself", "leave out --model"])
        (self.folder / "n.txt").write_text("conv 4 3x3\nflaten\n")
        self.refused(BAD_DATA, "weights", "convert", "theirs", "b", "--to", "gradus", "--model", "n.txt",
                     "--outputs", 2, names=["n.txt:2:1"])
        self.assertFalse((self.folder / "b").exists())

    def test_mistakes(self):
        self.gradus("weights", "convert", "w", "t", "--to", "torch")
        self.refused(USAGE, "weights", names=["which file"])
        self.refused(USAGE, "weights", "convert", "w", "--to", "torch", names=["from which file to which"])
        self.refused(USAGE, "weights", "convert", "w", "v", names=["--to torch, keras, npz or gradus"])
        self.refused(USAGE, "weights", "convert", "t", "v", "--to", "keras", names=["name it with --recipe"])
        self.refused(BAD_DATA, "weights", "convert", "t", "v", "--to", "keras", "--recipe", "cats-vs-dogs",
                     names=["dense1.weight has shape [128,1152]; the model wants [128,320000]", "5 tensors fit"])
        self.refused(BAD_DATA, "weights", "none", names=["none"])
        before = (self.folder / "w").read_bytes()
        self.refused(USAGE, "weights", "convert", "w", "./w", "--to", "torch", names=["w is read and would be written"])
        self.assertEqual((self.folder / "w").read_bytes(), before)
        self.refused(5, "weights", "convert", "w", "no/v", "--to", "torch", names=["no/v"])


if __name__ == "__main__":
    unittest.main()
