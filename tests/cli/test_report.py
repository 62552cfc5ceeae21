"""gradus report: what the page holds, read as JSON; and, where there is a Chromium, what it draws."""

import json
import math
import pathlib
import re
import shutil
import subprocess
import unittest
import zlib

from cli import Case

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
IDENTITY = {"recipe": "cats-vs-dogs", "data": "PetImages", "data_hash": "0" * 16, "test_samples": 400,
            "version": "0.2.0", "lr": None, "epochs": 5, "updates": None, "augment": "none"}
MIXED, CONSTANT = [[120, 80], [60, 140]], [[0, 200], [0, 200]]
HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> '\""
PROBE = (pathlib.Path(__file__).parent / "report_probe.js").read_text()


def row(optimizer="sgd", batch=16, seed=1, accuracy=0.6, **more):
    history = [{"epoch": e, "updates": e * 1200 // batch, "batch": batch, "train_loss": 0.7 / e,
                "val_accuracy": accuracy, "noise_scale": 40 + batch, "sharpness": 2.5} for e in range(1, 11)]
    return {"optimizer": optimizer, "batch": batch, "seed": seed, "state": "done", "test_accuracy": accuracy,
            "epochs": 5, "updates": 6000 // batch, "samples": 6000, "seconds": 10 + 100 / batch, "lr": 0.01,
            "samples_per_second": 100 + batch, "peak_bytes": 2**20 * batch, "test_confusion": MIXED,
            "processor": "a processor", "history": history, **more}


def grid():
    """Nine batch sizes, two optimizers, three seeds; Adam's largest batch ends in the constant answer."""
    batches = [4 << i for i in range(9)]
    return [row(o, b, s, 0.70 - 0.01 * i + 0.004 * s + 0.01 * (o == "adam"),
                test_confusion=CONSTANT if (o, b) == ("adam", 1024) else MIXED)
            for s in (1, 2, 3) for o in ("sgd", "adam") for i, b in enumerate(batches)]


class Report(Case):
    def sweep(self, name, rows, **more):
        folder = self.folder / name
        folder.mkdir()
        identity = {**IDENTITY, **more}
        (folder / "sweep.json").write_text(json.dumps({**identity, "optimizers": {}, "departures": []}))
        text = json.dumps(identity, separators=(",", ":"), sort_keys=True)
        self.write_rows(name, [{**r, "sweep": f"{zlib.crc32(text.encode()):08x}"} for r in rows])
        return folder

    def report(self, *folders, page="page.html"):
        self.assertEqual(self.gradus("report", *folders, "--out", page).out, f"{page}\n")
        return self.data(page)

    def data(self, page):
        text = (self.folder / page).read_text()
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


class Data(Report):
    def test_rows_means_and_words(self):
        folder = self.sweep("a", grid())
        self.assertEqual(self.gradus("report", "a").out, "a/report.html\n")
        sweep, = self.data("a/report.html")["sweeps"]
        self.assertEqual((len(sweep["rows"]), len(sweep["lines"])), (54, 18))
        line = next(x for x in sweep["lines"] if (x["optimizer"], x["batch"]) == ("sgd", 16))
        self.assertAlmostEqual(line["test_accuracy"], 0.688)
        self.assertAlmostEqual(line["half_width_95"], 4.302653 * 0.004 / math.sqrt(3), places=6)
        self.assertEqual(sum(r["constant"] for r in sweep["rows"]), 3)
        self.assertEqual([r for r in sweep["rows"] if "test_confusion" in r], [])
        words = " ".join(sweep["caveats"])
        for told in ("from 1,500 at batch size 4 to 5 at 1,024", "3 seeds per cell; bars are 95 % intervals",
                     "400 samples", "3 of 54 runs gave every test sample the same answer"):
            self.assertIn(told, words)
        self.assertEqual(sweep["chance"], 0.5)
        self.assertEqual(sweep["command"], "gradus sweep cats-vs-dogs --data D --batch 4,8,16,32,64,128,256,512,1024 "
                         "--optimizer sgd,adam --seeds 3 --out a")
        before = (folder / "results.jsonl").read_bytes()
        self.assertEqual(self.report("a")["command"], "gradus report a --out page.html")
        self.assertEqual((folder / "results.jsonl").read_bytes(), before)

    def test_chance_is_of_the_samples(self):
        """Pictures of two of three classes: whoever always gives one answer is right as often as its class comes."""
        self.sweep("a", [row(test_confusion=[[50, 70, 0], [10, 70, 0], [0, 0, 0]])])
        self.assertEqual(self.report("a")["sweeps"][0]["chance"], 0.6)

    def test_seeds_in_words(self):
        for seeds, told in ((1, "One seed: no interval."), (2, "2 seeds: no interval is drawn.")):
            self.sweep(f"s{seeds}", [row(seed=s) for s in range(1, seeds + 1)])
            self.assertIn(told, " ".join(self.report(f"s{seeds}")["sweeps"][0]["caveats"]))
        self.sweep("mixed", [row(), row(batch=32, state="out of memory", test_accuracy=None)])
        words = " ".join(self.report("mixed")["sweeps"][0]["caveats"])
        self.assertIn("ran out of memory (1)", words)

    def test_the_last_row_of_a_cell_counts(self):
        self.sweep("a", [row(state="failed", test_accuracy=None, error="no"), row(accuracy=0.7)])
        sweep, = self.report("a")["sweeps"]
        self.assertEqual([r["test_accuracy"] for r in sweep["rows"]], [0.7])

    def test_what_was_set_is_in_the_command(self):
        variants = [row(variant=f"lr={lr} augment={plan}", seed=s) for lr in ("0.01", "0.03") for s in (1, 2)
                    for plan in ("none", "flip,translate=4")]
        self.sweep("o'clock", variants, lr="varies", augment="varies", resize=16, **{"no-shuffle": True})
        self.assertEqual(self.report("o'clock")["sweeps"][0]["command"],
                         "gradus sweep cats-vs-dogs --data D --batch 16 --optimizer sgd --seeds 2 --lr 0.01,0.03 "
                         "--no-shuffle --resize 16 --augment 'none;flip,translate=4' --out 'o'\\''clock'")

    def test_published_values_are_drawn_where_nothing_departs(self):
        rows = [row("sgd", 16), row("adam", 64)]
        self.sweep("same", rows)
        sweep, = self.report("same")["sweeps"]
        self.assertEqual({(v["optimizer"], v["batch"], v["value"]) for v in sweep["published"] if not v["rerun"]},
                         {("sgd", 16, 62), ("adam", 64, 67)})
        self.assertTrue(any(v["rerun"] for v in sweep["published"]))
        for name, setting, words in (("small", {"resize": 16}, "--resize 16"), ("rate", {"lr": 0.5}, "--lr 0.5"),
                                     ("short", {"updates": 3, "epochs": None}, "--updates 3"),
                                     ("flipped", {"augment": "flip"}, "--augment flip"),
                                     ("jfif", {"filter": "jfif"}, "--filter jfif"),
                                     ("drawn", {"data": "procedural"}, "--procedural"),
                                     ("half", {"precision": "fp16"}, "--precision fp16"),
                                     ("few", {"test_samples": 40}, "another number of test samples")):
            with self.subTest(name):
                self.sweep(name, rows, **setting)
                sweep, = self.report(name)["sweeps"]
                self.assertEqual((sweep["published"], sweep["departures"]), ([], [words]))
                self.assertEqual({v["value"] for v in sweep["context"]}, {62, 67})
        self.sweep("other", [row("lars", 16), row("sgd", 32)])
        sweep, = self.report("other")["sweeps"]
        self.assertEqual([v for v in sweep["published"] if not v["rerun"]], [])
        self.sweep("thesis", [row("adam", 32)], recipe="cifar10-cnn", data="CIFAR-10", test_samples=10000, epochs=10)
        sweep, = self.report("thesis")["sweeps"]
        self.assertEqual(([v for v in sweep["published"] if not v["rerun"]], len(sweep["context"])), ([], 9))

    def test_hostile_names(self):
        self.sweep("plain", [row(error="none", version="1")])
        self.sweep(HOSTILE.replace("/", ""), [row(error=HOSTILE, version=HOSTILE)])
        self.report("plain")
        plain = (self.folder / "page.html").read_text().count("<")
        sweep, = self.report(HOSTILE.replace("/", ""))["sweeps"]
        self.assertEqual((sweep["rows"][0]["error"], sweep["label"]), (HOSTILE, HOSTILE.replace("/", "")))
        self.assertEqual((self.folder / "page.html").read_text().count("<"), plain)

    def test_a_sweep_of_the_program(self):
        self.gradus("sweep", "keras-mlp", "--batch", "10,50", "--epochs", 2, "--seeds", 1, "--out", "s")
        notes = json.loads((self.folder / "s/sweep.json").read_text())
        self.assertEqual(notes["departures"], ["--epochs 2"])
        sweep, = self.report("s")["sweeps"]
        self.assertEqual(len(sweep["rows"]), 2)
        self.assertEqual(sweep["command"], "gradus sweep keras-mlp --batch 10,50 --optimizer adam --seeds 1 "
                         "--epochs 2 --out s")
        self.assertIn("0 to run", self.gradus(*sweep["command"].split()[1:]).err)

    def test_several_folders(self):
        self.sweep("a", [row(seed=s) for s in (1, 2, 3)])
        self.sweep("b", [row(seed=s) for s in (1, 2, 3)], augment="flip")
        self.sweep("c", [row("adam", 32)], recipe="cifar10-cnn", data="CIFAR-10", epochs=10)
        data = self.report("a", "b", "c")
        self.assertEqual([s["label"] for s in data["sweeps"]], ["a", "b", "c"])
        self.assertEqual(data["command"], "gradus report a b c --out page.html")
        (self.folder / "x").mkdir()
        shutil.copytree(self.folder / "b", self.folder / "x/a")
        self.assertEqual([s["label"] for s in self.report("a", "x/a/", "b/")["sweeps"]], ["a", "x/a/", "b"])

    def test_refusals(self):
        self.sweep("a", [row()])
        self.refused(2, "report", names=["which folders?"])
        self.refused(2, "report", "a", "a/", names=["a/ is named twice"])
        for name in ("results.jsonl", "sweep.json"):  # the page would take the sweep's place
            self.refused(2, "report", "a", "--out", f"./a/{name}", names=[f"a/{name} is read"])
        self.refused(3, "report", "none", names=["none/sweep.json", "a folder of 'gradus sweep' is wanted"])
        self.sweep("empty", [])
        self.refused(3, "report", "empty", names=["empty has no rows yet"])
        self.sweep("damaged", [row(), row(seed=2)])
        path = self.folder / "damaged/results.jsonl"
        path.write_text(path.read_text().replace("0.6", "0.9", 1))
        self.refused(3, "report", "a", "damaged", names=["line 1 is damaged"])
        self.sweep("recipe", [row()], recipe="dogs-vs-cats")
        self.refused(3, "report", "recipe", names=["dogs-vs-cats"])
        self.sweep("seed", [row(seed=10**12)])
        self.refused(3, "report", "seed", names=["seed 1000000000000"])
        self.refused(5, "report", "a", "--out", "nowhere/page.html", names=["nowhere/page.html"])


@unittest.skipUnless(CHROMIUM, "there is no Chromium")
class Drawn(Report):
    def open(self, page, *more):
        """What report_probe.js finds on a page that a browser has opened."""
        text = (self.folder / page).read_text()
        watch = "<script>var complaints = []; addEventListener('error', (e) => complaints.push(e.message));</script>"
        text = text.replace("<title>", watch + "<title>", 1).replace("</body>", f"<script>{PROBE}</script></body>")
        (self.folder / "probed.html").write_text(text)
        words = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--dump-dom",
                 "--window-size=1280,1000", f"--user-data-dir={self.folder / 'profile'}", *more]
        words.append(f"file://{self.folder}/probed.html")
        process = subprocess.run([CHROMIUM, *words], capture_output=True, text=True, timeout=120)
        self.assertEqual([line for line in process.stderr.splitlines() if "CONSOLE" in line][:3], [])
        found = json.loads(re.search(r'<pre id="probe">(.*?)</pre>', process.stdout, re.S)[1])
        self.assertEqual(found["complaints"], [])
        return found

    def look(self, found, series):
        """Nothing overlaps, leaves its figure or is too faint, at either width."""
        for view in found["views"]:
            with self.subTest(width=view["width"]):
                self.assertEqual((view["overlaps"], view["outside"], view["wider"]), ([], [], False))
                self.assertEqual([view[key] for key in ("named", "dashes", "markers")], [series] * 3)  # all different
                self.assertGreater(view["filled"], 0.6)
        self.assertEqual((found["faint"], found["unnamed"]), ([], []))  # the second: in a saved figure

    def test_a_sweep_of_nine_by_two_by_three(self):
        self.sweep("a", grid())
        self.report("a")
        for more in ([], ["--blink-settings=preferredColorScheme=0"]):
            found = self.open("page.html", *more)
            self.look(found, 2)
            self.assertEqual(found["dark"], bool(more))
            self.assertEqual((found["rows"], found["flagged"], found["constant"]), (54, 3, 3))
            self.assertEqual(found["figures"], ["accuracy", "curves", "machine", "landscape"])
            self.assertEqual(found["commands"], 4)
            self.assertEqual(found["sorted"], sorted(found["sorted"]))
            self.assertEqual(found["against"],
                             ["batch size", "updates of a run", "samples of a run", "seconds of a run"])
            self.assertEqual(found["saved"], {"whole": True, "colours": None})  # as other programs know them

    def test_it_opens_within_a_second(self):
        """The best of several: others that work on the machine are not the page's."""
        self.sweep("a", grid())
        self.report("a")
        times = []
        while len(times) < 8 and min(times, default=1000) >= 1000:
            times.append(self.open("page.html")["milliseconds"])
        self.assertLess(min(times), 1000, times)

    def test_what_a_machine_told_is_drawn_as_it_was_told(self):
        gpu = {"gpu_memory_bytes": 3 * 2**20, "gpu_power": 70.5}
        self.sweep("a", [row(batch=16, gpu_utilisation=12.5, cores_busy=1.5, mfu=None, **gpu),
                         row(batch=64, gpu_utilisation=36.0, cores_busy=None, mfu=0.245, **gpu)])
        self.report("a")
        points = self.open("page.html")["machine"]
        for told in ("16: 1.5", "64: 24.5", "16: 12.5", "64: 36", "64: 3", "64: 70.5"):
            self.assertIn(f"SGD, batch {told}", points)
        self.assertNotIn("SGD, batch 64: 0", points)  # what is not known is no 0
        self.assertIn("measured before the run", " ".join(self.data("page.html")["sweeps"][0]["machine"]))

    def test_lines_that_end_together(self):
        names = ("sgd", "momentum", "adam", "adamw", "lars", "muon", "sam", "prox")
        self.sweep("a", [row(o, b, 1, 0.7 + 0.0001 * i) for i, o in enumerate(names) for b in (16, 32, 64)])
        self.report("a")
        found = self.open("page.html")
        self.look(found, 8)
        self.assertEqual([view["ends"] for view in found["views"]], [8, 8])

    def test_marks_keep_off_names(self):
        at_59 = 0.59  # as a run of Keras with SGD at 32
        self.sweep("a", [row(o, b, 1, a) for o, a in (("sgd", at_59), ("adam", 0.7)) for b in (16, 32)])
        self.report("a")
        self.look(self.open("page.html"), 2)

    def test_long_and_hostile_names_stand_in_the_legend_alone(self):
        folders = [HOSTILE.replace("/", ""), "b"]
        for i, name in enumerate(folders):
            self.sweep(name, [row(batch=b, accuracy=0.6 + 0.01 * i + b / 1000, error=HOSTILE) for b in (16, 32)])
        self.report(*folders)
        found = self.open("page.html")
        self.look(found, 2)
        self.assertEqual([view["ends"] for view in found["views"]], [0, 0])

    def test_nothing_is_done(self):
        self.sweep("a", [row(state="out of memory", test_accuracy=None, updates=0, history=[], test_confusion=None)])
        self.report("a")
        self.assertEqual(self.open("page.html")["figures"], ["accuracy"])


if __name__ == "__main__":
    unittest.main()
