"""gradus draw: what summary, profile, weights and evaluation say, on a page; opened in Chromium where there is one."""

import base64
import html
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

from cli import Case

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PROBE = """
const seen = [], look = () => seen.push({
  layer: document.querySelector("#detail h2").textContent,
  gives: document.querySelectorAll("#detail dd")[2].textContent,
  on: document.querySelectorAll("#edges path.on").length, overflow: document.documentElement.scrollWidth > innerWidth});
look();
document.querySelectorAll("#rows tr.layer")[5].click(), look();
document.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true})), look();
const probe = Object.assign(document.createElement("pre"), {id: "probe"});
const sheets = () => [...document.querySelectorAll("#detail > canvas")].map(c => c.toDataURL().length);
document.querySelector("#rows tr.layer").click();
const before = sheets();
document.querySelectorAll("#detail button")[1]?.click();
probe.textContent = JSON.stringify({
  before, after: sheets(), pressed: [...document.querySelectorAll("#detail button")].map(b => b.ariaPressed),
  figures: document.querySelectorAll("#mistakes canvas").length, text: document.body.innerText, seen,
  nodes: document.querySelectorAll("#edges circle").length,
  edges: document.querySelectorAll("#edges path").length});
document.body.append(probe);
"""


class Page(Case):
    def draw(self, *words):
        self.assertEqual(self.gradus("draw", *words, "--out", "page.html").out, "page.html\n")
        text = (self.folder / "page.html").read_text()
        self.assertNotRegex(text, r"https?://(?!www\.w3\.org/2000/svg)")
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])

    def open_page(self, width=1280):
        page = self.folder / "page.html"
        page.write_text(page.read_text().replace("</body>", f"<script>{PROBE}</script></body>"))
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                               f"--user-data-dir={self.folder}/profile", f"--window-size={width},800", "--dump-dom",
                               page.as_uri()], capture_output=True, text=True, timeout=60)
        self.assertNotIn("CONSOLE", done.stderr)
        return json.loads(html.unescape(re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)[1]))


class Draw(Page):
    def test_the_same_as_the_summary(self):
        words = ["cifar10-cnn", "--batch", "64", "--optimizer", "adam", "--no-fusion"]
        data = self.draw(*words)
        self.assertEqual(data.pop("input"), [32, 32, 3])
        self.assertEqual(data, json.loads(self.gradus("summary", *words, "--json").out))

    def test_what_feeds_what(self):
        layers = self.draw("resnet18-cifar")["layers"]
        of = {layer["name"]: [layers[i]["name"] if i >= 0 else "pictures" for i in layer["inputs"]] for layer in layers}
        self.assertEqual(of["conv1"], ["pictures"])
        self.assertEqual(of["bn1+relu1"], ["conv1"])
        self.assertEqual(of["layer1.0.bn2+add+relu"], ["layer1.0.conv2", "bn1+relu1"])
        self.assertEqual(of["layer2.0.downsample.0"], ["layer1.1.bn2+add+relu"])
        self.assertEqual(of["layer2.0.bn2+add+relu"], ["layer2.0.conv2", "layer2.0.downsample.1"])
        self.assertTrue(all(i < to for to, layer in enumerate(layers) for i in layer["inputs"]))

    def test_half_precision_feeds_the_same(self):
        whole, half = (self.draw("resnet18-cifar", "--precision", p)["layers"] for p in ("fp32", "fp16"))
        names = [{layer["name"] for layer in layers} for layers in (whole, half)]
        self.assertEqual(names[0] - names[1], set())
        self.assertIn(-1, half[0]["inputs"])

    def test_default_name_and_mistakes(self):
        self.assertEqual(self.gradus("draw", "cats-vs-dogs").out, "cats-vs-dogs.html\n")
        self.assertIn("nowhere", self.gradus("draw", "nowhere", expect=2).err)
        self.gradus("draw", "cats-vs-dogs", "--out", "nowhere/page.html", expect=5)
        (self.folder / "m.txt").write_text("flatten\ndense classes\n")
        self.refused(2, "draw", "cats-vs-dogs", "--model", "m.txt", "--out", "m.txt",
                     names=["m.txt is read and would be written over"])
        self.assertEqual((self.folder / "m.txt").read_text(), "flatten\ndense classes\n")

    @unittest.skipUnless(CHROMIUM, "no chromium")
    def test_in_a_browser(self):
        layers = self.draw("resnet18-cifar")["layers"]
        probe = self.open_page()
        self.assertEqual((probe["nodes"], probe["edges"]),
                         (len(layers) + 1, sum(len(layer["inputs"]) for layer in layers)))
        first, clicked, below = probe["seen"]
        self.assertEqual((clicked["layer"], below["layer"]), ("layer1.0.bn2+add+relu", "layer1.1.conv1"))
        self.assertEqual(clicked["gives"], "32 \u00d7 32 \u00d7 64, to layer1.1.conv1, layer1.1.bn2+add+relu")
        self.assertEqual(clicked["on"], 4)
        self.assertNotEqual(first["layer"], clicked["layer"])
        self.assertFalse(first["overflow"])
        self.assertEqual((probe["before"], probe["figures"]), ([], 0))


def levels(sheet, i=None):
    return base64.b64decode(sheet["levels"] if i is None else sheet["levels"][i])


class Trained(Page):
    """With a profile and trained weights: what the page shows is what other commands and the weights' file say."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        cls.weights, cls.profile = f"{cls.kept.name}/w.safetensors", f"{cls.kept.name}/p"

    def setUp(self):
        super().setUp()
        if not os.path.exists(self.weights):
            self.gradus("train", "cifar10-cnn", "--procedural", "--updates", "12", "--no-evaluation", "--save-weights",
                        self.weights)
            self.gradus("profile", "cifar10-cnn", "--procedural", "--stack", "--out", self.profile)

    def draw_trained(self, *more):
        return self.draw("cifar10-cnn", "--weights", self.weights, "--procedural", *more)

    def tensor(self, name):
        raw = pathlib.Path(self.weights).read_bytes()
        size = struct.unpack("<Q", raw[:8])[0]
        entry = json.loads(raw[8:8 + size])[name]
        begin, end = entry["data_offsets"]
        return entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", raw[8 + size + begin:8 + size + end])

    def test_times_are_the_profile_s(self):
        data = self.draw("cifar10-cnn", "--profile", self.profile)
        profile = json.loads(pathlib.Path(self.profile, "profile.json").read_text())
        of = {(m["op"], m["pass"]): m["ms"] for m in profile["modules"] if m["op"] != "(none)"}
        self.assertEqual({(layer["name"], p): ms for layer in data["layers"]
                          for p, ms in layer.get("times", {}).items()}, of)
        self.assertAlmostEqual(data["profile"]["layers"], sum(of.values()))
        self.assertEqual(data["profile"]["ms"], profile["ms"])

    def test_a_profile_of_something_else(self):
        for words, told in ((["cats-vs-dogs"], "it is one of cifar10-cnn --batch 32 --optimizer adam"),
                            (["cifar10-cnn", "--batch", "64"], "--batch 32"),
                            (["cifar10-cnn", "--no-fusion"], "which the network drawn has not")):
            self.assertIn(told, self.gradus("draw", *words, "--profile", self.profile, expect=2).err)
        self.gradus("draw", "cifar10-cnn", "--profile", "nowhere", expect=3)

    def test_filters_are_the_weights(self):
        first, second = self.draw_trained()["layers"][:2]
        (K, C, R, S), w = self.tensor("conv1.weight")
        high = max(map(abs, w))
        self.assertEqual((first["filters"]["of"], first["filters"]["size"]), ([K, C], [R, S]))
        wanted = [255 * (w[((k * C + c) * R + r) * S + s] + high) / (2 * high)
                  for k in range(K) for r in range(R) for s in range(S) for c in range(C)]
        self.assertLessEqual(max(abs(a - b) for a, b in zip(levels(first["filters"]), wanted, strict=True)), 0.51)
        shape, w = self.tensor("conv2.weight")
        self.assertEqual(len(levels(second["filters"])), 16 * 16 * 9)
        at = ((3 * shape[1] + 5) * 3 + 2) * 3 + 1  # filter 3, channel 5, r 2, s 1
        high = max(map(abs, w))
        self.assertAlmostEqual(levels(second["filters"])[(3 * 16 + 5) * 9 + 7], 255 * (w[at] + high) / (2 * high),
                               delta=0.51)

    def test_activations_follow_from_each_other(self):
        """The last layer's from those of the one before it, by hand: [64] times [64, 10]."""
        layers = {layer["name"]: layer for layer in self.draw_trained()["layers"]}
        before, last = layers["dense1+relu4"]["maps"], layers["dense2"]["maps"]
        (units, inputs), w = self.tensor("dense2.weight")
        bias = self.tensor("dense2.bias")[1]
        value = lambda maps, i, k: maps["low"] + (maps["high"] - maps["low"]) * levels(maps, i)[k] / 255
        for picture in range(3):
            for unit in range(units):
                x = [value(before, picture, k) for k in range(inputs)]
                wanted = bias[unit] + sum(a * b for a, b in zip(x, w[unit * inputs:]))
                blur = (before["high"] - before["low"]) / 510 * sum(map(abs, w[unit * inputs:(unit + 1) * inputs]))
                self.assertAlmostEqual(value(last, picture, unit), wanted,
                                       delta=blur + (last["high"] - last["low"]) / 500)
        self.assertNotIn("maps", layers["flatten1"])
        self.assertEqual((layers["conv1+relu1+pool1"]["maps"]["size"], len(levels(layers["conv3+relu3"]["maps"], 2))),
                         ([15, 15], 16 * 4 * 4))

    def test_pictures_are_the_evaluation_s(self):
        data = self.draw_trained()
        said = json.loads(self.gradus("evaluate", self.weights, "--procedural", "--wrong", "24", "--json").out)
        self.assertEqual((data["test"]["n"], data["test"]["right"]), (said["samples"], said["right"]))
        self.assertEqual([(p["name"], p["label"], p["said"], p["probability"]) for p in data["wrong"]],
                         [(m["file"], m["class"], m["answer"], m["probability"]) for m in said["mistakes"]])
        self.assertGreater(len(data["wrong"]), 0)
        self.assertEqual({len(levels(p)) for p in data["wrong"] + data["pictures"]}, {32 * 32 * 3})

    def test_options_that_do_not_go_together(self):
        for words, told in ((["--procedural"], "--procedural means nothing without --weights"),
                            (["--weights", self.weights, "--resize", "16"], "--resize does not go with --weights"),
                            (["--weights", self.weights, "--data", ".", "--procedural"], "exclude each other")):
            self.assertIn(told, self.gradus("draw", "cifar10-cnn", *words, expect=2).err)
        self.assertIn("weights of cifar10-cnn, not of cats-vs-dogs",
                      self.gradus("draw", "cats-vs-dogs", "--weights", self.weights, "--procedural", expect=2).err)
        self.gradus("draw", "cifar10-cnn", "--weights", "nowhere.safetensors", "--procedural", expect=3)

    @unittest.skipUnless(CHROMIUM, "no chromium")
    def test_in_a_browser(self):
        wrong = len(self.draw_trained("--profile", self.profile)["wrong"])
        for width in (1280, 500):  # a headless window is not narrower than 500
            self.draw_trained("--profile", self.profile)
            probe = self.open_page(width)
            self.assertEqual(probe["figures"], wrong)
            self.assertEqual(len(probe["before"]), 2)  # activations, filters
            self.assertNotEqual(probe["before"][0], probe["after"][0])
            self.assertEqual(probe["before"][1], probe["after"][1])
            self.assertEqual(probe["pressed"], ["false", "true", "false"])
            self.assertIn("an update", probe["text"])
            self.assertFalse(any(look["overflow"] for look in probe["seen"]))


if __name__ == "__main__":
    unittest.main()
