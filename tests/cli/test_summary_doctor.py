"""gradus summary and gradus doctor."""

import json
import unittest

from cli import Case


class Summary(Case):
    def test_cats_vs_dogs(self):
        m = json.loads(self.gradus("summary", "cats-vs-dogs", "--json").out)
        self.assertEqual(m["parameters"], 40961153)
        self.assertEqual([layer["parameters"] for layer in m["layers"] if layer["parameters"]], [896, 40960128, 129])
        self.assertEqual([layer["output"] for layer in m["layers"]], [[100, 100, 32], [320000], [128], [1]])
        dense = next(layer for layer in m["layers"] if layer["parameters"] == 40960128)
        self.assertAlmostEqual(dense["flops_forward"], 2 * 320000 * 128, delta=1000)
        text = self.gradus("summary", "cats-vs-dogs").out
        self.assertIn("40,961,153", text)

    def test_cifar10(self):
        m = json.loads(self.gradus("summary", "cifar10-cnn", "--json").out)
        self.assertEqual(m["parameters"], 122570)
        self.assertEqual(sum(layer["bytes"] for layer in m["layers"]), m["bytes_per_sample"])

    def test_without_fusion_every_layer_has_its_line(self):
        fused = json.loads(self.gradus("summary", "cifar10-cnn", "--json").out)
        plain = json.loads(self.gradus("summary", "cifar10-cnn", "--no-fusion", "--json").out)
        self.assertGreater(len(plain["layers"]), len(fused["layers"]))
        self.assertEqual(plain["parameters"], fused["parameters"])

    def test_planned_peak_is_the_measured_one(self):
        for batch, optimizer, precision in ((8, "sgd", "fp32"), (100, "adam", "fp32"), (64, "sgd", "fp16"),
                                            (100, "adam", "bf16")):
            with self.subTest((batch, optimizer, precision)):
                words = ["cifar10-cnn", "--batch", batch, "--optimizer", optimizer, "--precision", precision, "--json"]
                planned = json.loads(self.gradus("summary", *words).out)["peak_bytes"]
                measured = self.gradus("train", *words, "--procedural", "--updates", 2).row()["peak_bytes"]
                self.assertAlmostEqual(planned / measured, 1, delta=0.01)

    def test_bad_options(self):
        self.refused(2, "summary", names=["recipe"])
        self.refused(2, "summary", "lenet", names=["lenet"])
        self.refused(2, "summary", "cifar10-cnn", "--batch", "0", names=["--batch"])


    def test_fits_a_terminal(self):
        for recipe in ("resnet18-cifar", "cats-vs-dogs"):
            text = self.gradus("summary", recipe).out
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            self.assertRegex(text, r"total .* (KiB|MiB)\n")


class Doctor(Case):
    def test_fits_a_terminal(self):
        for data in ("nowhere", "."):
            self.assertLessEqual(max(map(len, self.gradus("doctor", "--data", data).out.splitlines())), 80)

    def test_names_what_is_missing_and_the_cure(self):
        text = self.gradus("doctor", PYTHON="no-such-python").out
        for words in ("version", "instruction set used", "threads", "memory", "scripts/get_data.sh cifar10",
                      "scripts/get_data.sh cats-vs-dogs", "no Python with matplotlib"):
            self.assertIn(words, " ".join(text.split()))

    def test_json(self):
        facts = json.loads(self.gradus("doctor", "--json").out)
        sets = facts["instruction_sets"].split()
        self.assertEqual(sets, ["plain", "avx2", "avx512", "avx512-bf16", "amx"][:len(sets)])
        self.assertEqual(facts["instruction_set_used"], sets[-1])
        for name in sets:  # each can be forced, and does not change what is there
            forced = json.loads(self.gradus("doctor", "--json", GRADUS_CPU=name).out)
            self.assertEqual((forced["instruction_set_used"], forced["instruction_sets"].split()), (name, sets))
            self.assertEqual(forced["bf16x3_and_bf16x6"],
                             "tile instructions" if name == "amx" else "no: there are no tiles of AMX")
        twin = json.loads(self.gradus("doctor", "--json", GRADUS_CPU="amx-emulated").out)
        self.assertEqual(twin["bf16x3_and_bf16x6"], "their twin in C, slowly")
        self.assertGreaterEqual(int(facts["threads"]), 1)
        self.assertIsInstance(facts["missing"], list)

    def test_finds_data(self):
        for name in ("PetImages", "cifar-10-batches-bin"):
            (self.folder / "d" / name).mkdir(parents=True)
        facts = json.loads(self.gradus("doctor", "--json", "--data", "d").out)
        self.assertEqual((facts["PetImages"], facts["CIFAR-10"]), ("d/PetImages", "d/cifar-10-batches-bin"))
        self.assertEqual(json.loads(self.gradus("doctor", "--json", GRADUS_DATA="d").out)["data_root"], "d")

    def test_forced_instruction_set(self):
        for name in ("plain", "amx-emulated", "bf16-emulated"):
            facts = json.loads(self.gradus("doctor", "--json", GRADUS_CPU=name).out)
            self.assertEqual(facts["instruction_set_used"], name)
            if name != "plain":
                self.assertNotIn(name, facts["instruction_sets"])  # it is for tests, and never the best

    def test_takes_no_operand(self):
        self.refused(2, "doctor", "me", names=["me"])


if __name__ == "__main__":
    unittest.main()
