"""gradus profile: the trace as another program reads it, sums, closed forms, comparisons."""

import json
import re
import unittest

import trace_viewer
from cli import Case

RUN = ["profile", "cifar10-cnn", "--procedural", "--batch", 64]
MICROSECOND = 1e-3  # the trace is in microseconds with three digits


HOST, DEVICE = 1, 2  # processes of the trace
KERNELS, COPIES = 1, 2  # streams of the device


def spans(trace, thread=1, process=HOST):
    return [e for e in trace["traceEvents"] if e["ph"] == "X" and (e["pid"], e["tid"]) == (process, thread)]


def end(e):
    return e["ts"] + e["dur"]


def nested(events):
    """Each event with its children: those that begin and end within it. Raises where two cross."""
    roots, open_ones = [], []
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        node = {"event": e, "children": []}
        while open_ones and end(open_ones[-1]["event"]) <= e["ts"] + MICROSECOND / 2:
            open_ones.pop()
        if open_ones and end(e) > end(open_ones[-1]["event"]) + MICROSECOND / 2:
            raise AssertionError(f"{e} and {open_ones[-1]['event']} cross")
        (open_ones[-1]["children"] if open_ones else roots).append(node)
        open_ones.append(node)
    return roots


def shape(inputs, name):
    return [int(n) for n in re.search(rf"\b{name}\[([\d,]*)\]", inputs)[1].split(",")]


class Profile(Case):
    def profile(self, *words, out="p"):
        result = self.gradus(*RUN, *words, "--out", out, "--json").row()
        trace = json.loads((self.folder / out / "trace.json").read_text())
        self.assertEqual(json.loads((self.folder / out / "profile.json").read_text()), result)
        return result, trace

    def test_schedule_and_nesting(self):
        result, trace = self.profile("--schedule", "wait=1,warmup=1,active=3,repeat=2")
        self.assertEqual(result["updates"], 6)
        updates = nested(spans(trace))
        self.assertEqual([u["event"]["name"] for u in updates], [f"update {i}" for i in (3, 4, 5, 8, 9, 10)])
        for u in updates:
            names = [c["event"]["name"] for c in u["children"]]
            self.assertEqual([n for n in names if n in ("loader", "forward", "backward", "optimizer")],
                             ["loader", "forward", "backward", "optimizer"])
            forward = u["children"][names.index("forward")]
            layer = forward["children"][0]
            self.assertEqual(layer["event"]["name"], "conv1+relu1+pool1")
            self.assertEqual([c["event"]["name"] for c in layer["children"]], ["conv2d_relu_max_pool forward"])

    def test_sums(self):
        result, trace = self.profile("--schedule", "active=4")
        self.assertAlmostEqual(sum(o["ms"] for o in result["operations"]), result["ms"], delta=1e-9 * result["ms"])
        self.assertAlmostEqual(sum(o["share"] for o in result["operations"]), 1, places=9)
        events = spans(trace)
        whole = sum(e["dur"] for e in events if e["cat"] == "update")
        self.assertAlmostEqual(whole / 4e3 / result["ms"], 1, delta=0.01)
        leaves = sum(e["dur"] for e in events if e["cat"] in ("kernel", "copy") or e["name"] == "fill")
        self.assertAlmostEqual(leaves / whole, 1, delta=0.05)
        loaders = [c for u in nested(events) for c in u["children"] if c["event"]["name"] == "loader"]
        parts = [c["event"] for loader in loaders for c in loader["children"]]
        inside = sum(e["dur"] for e in parts if e["name"] != "fill")
        loading = sum(loader["event"]["dur"] for loader in loaders) - inside
        lines = sum(o["ms"] for o in result["operations"] if o["op"] == "loader")
        self.assertAlmostEqual(loading / 4e3 / lines, 1, delta=0.01)

    def test_operations_by_formula(self):
        result, trace = self.profile("--no-fusion", "--schedule", "active=1")
        seen = set()
        for e in spans(trace):
            if e["cat"] != "kernel" or e["name"].split()[0] not in ("conv2d", "dense"):
                continue
            inputs = e["args"]["inputs"]
            x, w = shape(inputs, "x"), shape(inputs, "w")
            if e["name"].startswith("conv2d"):  # without padding, by strides of 1
                out = x[0] * (x[1] - w[1] + 1) * (x[2] - w[2] + 1) * w[0]
                products = 2 * out * w[1] * w[2] * w[3]
            else:
                out = x[0] * w[1]
                products = 2 * out * w[0]
            first = x[-1] == 3
            expected = products + out if e["name"].endswith("forward") else (1 if first else 2) * products + out
            self.assertAlmostEqual(e["args"]["gflop"] / (1e-9 * expected), 1, delta=1e-5, msg=str(e))
            seen.add((e["name"], e["args"]["module"]))
        self.assertLessEqual({("conv2d forward", "conv1"), ("conv2d backward", "conv1"), ("conv2d forward", "conv3"),
                              ("conv2d backward", "conv3"), ("dense forward", "dense1")}, seen)
        relu = next(e for e in spans(trace) if e["name"] == "relu forward" and e["args"]["module"] == "relu1")
        n, h, w, c = shape(relu["args"]["inputs"], "x")
        self.assertAlmostEqual(relu["args"]["megabytes"], 2 * 4e-6 * n * h * w * c, places=4)
        line = next(o for o in result["operations"] if (o["op"], o["pass"]) == ("conv2d", "forward"))
        gflop = sum(e["args"]["gflop"] for e in spans(trace) if e["name"] == "conv2d forward")
        self.assertAlmostEqual(line["gflop"] / gflop, 1, delta=1e-5)
        self.assertAlmostEqual(line["gflops"] / (1e3 * line["gflop"] / line["ms"]), 1, delta=1e-9)

    def test_memory_and_stacks(self):
        result, trace = self.profile("--memory", "--stack", "--schedule", "active=2")
        counters = [e["args"]["bytes"] for e in trace["traceEvents"] if e["ph"] == "C"]
        kernels = [e for e in spans(trace) if e["cat"] in ("kernel", "copy")]
        self.assertEqual(len(counters), len(kernels))
        self.assertEqual(max(counters), result["peak_bytes"])
        planned = json.loads(self.gradus("summary", "cifar10-cnn", "--batch", 64, "--json").out)["peak_bytes"]
        self.assertTrue(0.8 * planned < result["peak_bytes"] <= 1.01 * planned)
        stacks = dict(line.rsplit(" ", 1) for line in (self.folder / "p/stacks.txt").read_text().splitlines())
        self.assertIn("forward;conv1+relu1+pool1;conv2d_relu_max_pool", stacks)
        self.assertAlmostEqual(sum(map(int, stacks.values())) / sum(e["dur"] for e in kernels), 1, delta=0.05)
        by_module = sum(o["ms"] for o in result["modules"])
        by_operation = sum(o["ms"] for o in result["operations"] if o["pass"] in ("forward", "backward", "update"))
        self.assertAlmostEqual(by_module / by_operation, 1, places=9)

    def test_workers_have_tracks(self):
        result, trace = self.profile("--workers", 2, "--schedule", "active=4")
        names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
        workers = [t for t in names if t != 1]
        self.assertTrue(workers and all(names[t] == "loader's worker" for t in workers))
        for t in workers:
            self.assertTrue(all(e["name"] == "fill" for e in spans(trace, t)))
            self.assertTrue(all(not n["children"] for n in nested(spans(trace, t))))
        self.assertGreater(result["workers_ms"], 0)
        self.assertTrue(any(e["name"] == "wait" for e in spans(trace)))

    def test_device_has_its_own_clock(self):
        """On simt kernels wait in a stream until somebody waits for it: far behind the host that sent them off."""
        result, trace = self.profile("--batch", 4, "--device", "simt", "--memory", "--schedule", "active=2")
        tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
        self.assertEqual({"stream of kernels", "stream of copies"}, {n for (p, _), n in tracks.items() if p == DEVICE})
        launches = [e for e in spans(trace) if e["cat"] == "launch"]
        work = spans(trace, KERNELS, DEVICE)
        self.assertEqual([e["name"] for e in launches if e["name"] != "accuracy forward"],
                         [e["name"] for e in work if e["name"] != "accuracy forward"])
        for sent, done in zip(launches, work):
            self.assertLessEqual(sent["ts"], done["ts"])
        for a, b in zip(work, work[1:]):  # one after the other
            self.assertLessEqual(end(a), b["ts"] + MICROSECOND / 2)
        updates = [e for e in spans(trace) if e["cat"] == "update"]
        for u, first in zip(updates, (0, len(work) // 2)):
            of_update = work[first:first + len(work) // 2]
            self.assertTrue(u["ts"] <= of_update[0]["ts"] and end(of_update[-1]) <= end(u))
        # the host does not wait: most work begins when what is asked for after it is sent off already
        ahead = sum(end(later) <= done["ts"] for later, done in zip(launches[1:], work))
        self.assertGreater(ahead, len(work) / 2)
        lines = {(o["op"], o["pass"]): o for o in result["operations"]}
        self.assertNotIn(("loader", ""), lines)
        idle = sum(u["dur"] for u in updates) - sum(e["dur"] for e in work)
        self.assertAlmostEqual(idle / 2e3, lines["idle", "between"]["ms"], delta=1e-4 * result["ms"])
        self.assertGreater(result["loading_ms"], 0)
        backward = sum(e["dur"] for e in work if e["name"] == "conv2d_relu_max_pool backward")
        self.assertAlmostEqual(backward / 2e3 / lines["conv2d_relu_max_pool", "backward"]["ms"], 1, delta=1e-4)
        self.assertAlmostEqual(sum(o["ms"] for o in result["operations"]), result["ms"], delta=1e-9 * result["ms"])
        self.assertTrue(all("gflop_per_s" in e["args"] for e in work if e["cat"] == "kernel" and e["args"]["gflop"]))
        self.assertEqual(len(launches), sum(e["ph"] == "C" for e in trace["traceEvents"]))

    @unittest.skipUnless(trace_viewer.CHROMIUM and trace_viewer.find(), "no Chromium or no torch-tb-profiler")
    def test_read_by_the_viewer_of_tensorboard(self):
        _, trace = self.profile("--memory", "--workers", 2, "--schedule", "active=4")
        seen = trace_viewer.read(trace_viewer.find(), self.folder / "p/trace.json", self.folder)
        events = trace["traceEvents"]
        self.assertEqual(seen["warnings"], [])
        names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertEqual(sorted((s[0], s[1], s[2]) for s in seen["slices"]),
                         sorted(("host", names[e["tid"]], e["name"]) for e in events if e["ph"] == "X"))
        self.assertEqual({s[5] for s in seen["slices"] if s[2] == "conv2d_relu_max_pool forward"},
                         {"conv1+relu1+pool1", "conv2+relu2+pool2"})
        (_, name, values), = seen["counters"]
        self.assertIn("bytes taken", name)
        self.assertEqual(values, [e["args"]["bytes"] for e in events if e["ph"] == "C"])

    def test_size_is_capped(self):
        words = ["--schedule", "active=100", "--trace-limit", "64K"]  # room for some of their events only
        result, trace = self.profile(*words)
        self.assertLessEqual((self.folder / "p/trace.json").stat().st_size, 64 * 1024)
        self.assertGreater(trace["otherData"]["events_left_out"], 0)
        self.assertEqual(result["updates"], 100)  # the sums go on
        nested(spans(trace))

    def test_compare(self):
        self.profile(out="a")
        same = json.loads(self.gradus("profile", "--compare", "a", "a", "--json").out)
        self.assertEqual({p["verdict"] for p in same}, {"undecided"})
        p = json.loads((self.folder / "a/profile.json").read_text())
        p["batch"] = 65
        dense = next(o for o in p["operations"] if o["op"] == "dense_adam")
        dense["ms"] += 10 * dense["error_ms"] + 1
        p["operations"] = [o for o in p["operations"] if o["op"] != "accuracy"]
        p["operations"].append({**dense, "op": "sgd_step"})
        (self.folder / "b").mkdir()
        (self.folder / "b/profile.json").write_text(json.dumps(p))
        told = json.loads(self.gradus("profile", "--compare", "a", "b", "--json").out)
        verdicts = {c["op"]: c["verdict"] for c in told}
        self.assertEqual((verdicts["dense_adam"], verdicts["accuracy"], verdicts["sgd_step"], verdicts["normalise"]),
                         ("slower", "gone", "new", "undecided"))
        text = self.gradus("profile", "--compare", "a", "b").out
        self.assertIn("batch: 64, then 65", text)
        self.assertRegex(text, r"dense_adam +update .* slower")

    def test_fits_a_terminal(self):
        for text in (self.gradus(*RUN, "--memory", "--stack", "--out", "p").out,
                     self.gradus("profile", "--compare", "p", "p").out):
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            self.assertFalse([line for line in text.splitlines() if line != line.rstrip()])

    def test_bad_words(self):
        self.refused(2, *RUN, names=["--out"])
        self.refused(2, *RUN, "--out", "p", "--updates", 3, names=["--updates", "--schedule"])
        for schedule, name in (("active=0", "active=0"), ("pause=1", "pause"), ("active", "active"),
                               ("wait=0,warmup=0", "warmup"), ("active=-1", "active=-1"),
                               ("wait=1,active=2,wait=2", "wait is named twice")):
            self.refused(2, *RUN, "--out", "p", "--schedule", schedule, names=[name])
        self.refused(2, *RUN[:2], "cats-vs-dogs", "--out", "p", names=["cats-vs-dogs"])
        self.refused(2, "profile", "--compare", "a", names=["--compare"])
        self.refused(3, "profile", "--compare", "a", "b", names=["a/profile.json", "--out a"])
        self.refused(2, "profile", "--out", "p", names=["recipe"])


if __name__ == "__main__":
    unittest.main()
