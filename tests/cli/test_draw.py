"""gradus draw: the page holds what the summary says, and what feeds what; where there is a Chromium, it is drawn."""

import html
import json
import re
import shutil
import subprocess
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
probe.textContent = JSON.stringify({
  seen, nodes: document.querySelectorAll("#edges circle").length,
  edges: document.querySelectorAll("#edges path").length});
document.body.append(probe);
"""


class Draw(Case):
    def draw(self, *words):
        self.assertEqual(self.gradus("draw", *words, "--out", "page.html").out, "page.html\n")
        text = (self.folder / "page.html").read_text()
        self.assertNotRegex(text, r"https?://(?!www\.w3\.org/2000/svg)")
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])

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

    @unittest.skipUnless(CHROMIUM, "no chromium")
    def test_in_a_browser(self):
        layers = self.draw("resnet18-cifar")["layers"]
        page = self.folder / "page.html"
        page.write_text(page.read_text().replace("</body>", f"<script>{PROBE}</script></body>"))
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                               f"--user-data-dir={self.folder}/profile", "--window-size=1280,800", "--dump-dom",
                               page.as_uri()], capture_output=True, text=True, timeout=60)
        self.assertNotIn("CONSOLE", done.stderr)
        probe = json.loads(html.unescape(re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)[1]))
        self.assertEqual((probe["nodes"], probe["edges"]),
                         (len(layers) + 1, sum(len(layer["inputs"]) for layer in layers)))
        first, clicked, below = probe["seen"]
        self.assertEqual((clicked["layer"], below["layer"]), ("layer1.0.bn2+add+relu", "layer1.1.conv1"))
        self.assertEqual(clicked["gives"], "32 \u00d7 32 \u00d7 64, to layer1.1.conv1, layer1.1.bn2+add+relu")
        self.assertEqual(clicked["on"], 4)
        self.assertNotEqual(first["layer"], clicked["layer"])
        self.assertFalse(first["overflow"])


if __name__ == "__main__":
    unittest.main()
