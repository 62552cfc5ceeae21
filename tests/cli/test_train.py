"""gradus train: the result row, repeatability, files, progress, signals."""

import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import unittest

from cli import GRADUS, QUICK, ROW_KEYS, Case, is_written, stop, wait_for


def tensors(path):
    """The bytes of a safetensors file's tensors, by name."""
    data = path.read_bytes()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:begin])
    return {name: data[begin + t["data_offsets"][0]:begin + t["data_offsets"][1]]
            for name, t in header.items() if name != "__metadata__"}


class Row(Case):
    def test_keys_and_values(self):
        row = self.gradus("train", *QUICK, "--json", "--seed", 7, "--optimizer", "sgd", "--threads", 1).row()
        self.assertEqual(list(row), ROW_KEYS)
        expected = {"recipe": "cifar10-cnn", "data": "procedural", "device": "cpu", "threads": 1, "precision": "fp32",
                    "optimizer": "sgd", "lr": 0.01, "batch": 8, "micro_batch": 8, "seed": 7, "epochs": 0, "updates": 2,
                    "samples": 16, "val_loss": None, "val_accuracy": None, "state": "done"}
        self.assertEqual({k: row[k] for k in expected}, expected)
        self.assertRegex(row["data_hash"], r"^[0-9a-f]{16}$")
        self.assertIn(row["isa"], ("plain", "avx2", "avx512", "avx512-bf16", "amx"))
        for key in ("train_loss", "test_loss", "seconds", "samples_per_second", "peak_bytes"):
            self.assertGreater(row[key], 0)
        for key in ("train_accuracy", "test_accuracy"):
            self.assertTrue(0 <= row[key] <= 1)
        self.assertAlmostEqual(row["samples_per_second"] * row["seconds"] / row["samples"], 1, places=6)

    def test_what_it_takes_of_the_machine(self):
        words = ["mnist-mlp", "--batch", 40, "--optimizer", "sgd", "--no-fusion"]
        row = self.gradus("train", *words, "--procedural", "--updates", 5, "--threads", 1, "--usage", "--json").row()
        self.assertTrue(0 < row["cores_busy"] < 1.2, row["cores_busy"])  # one thread, and what opens and closes it
        self.assertTrue(2**21 < row["resident_bytes"] < 2**27, row["resident_bytes"])  # without the limits' 256 MiB
        planned = json.loads(self.gradus("summary", *words, "--json").out)
        pace = row["samples_per_second"]
        self.assertAlmostEqual(row["model_gflops"] * 1e9 / pace / (
            planned["flops_forward"] + planned["flops_backward"]), 1, places=6)
        self.assertAlmostEqual(row["mfu"] * row["limit_gflops"] / row["model_gflops"], 1, places=6)
        self.assertGreater(row["limit_gbs"], 0)
        plain = self.gradus("train", *words, "--procedural", "--updates", 5, "--json").row()
        self.assertEqual([plain[key] for key in ("limit_gflops", "limit_gbs", "mfu")], [None] * 3)
        self.assertGreater(plain["model_gflops"], 0)
        self.assertEqual(plain["test_loss"], row["test_loss"])
        ranks = self.gradus("train", *words, "--procedural", "--updates", 5, "--shards", 2, "--ranks", 2,
                            "--json").row()
        self.assertIsNone(ranks["operand_gbs"])
        text = re.sub(r"\s+", " ", self.gradus("train", *words, "--procedural", "--updates", 2, "--usage").out)
        for told in ("cores processor time of this process by the time on the clock", "(VmHWM)", "by formula",
                     "measured before the run", "model-FLOPs utilisation: the network's operations by the limit"):
            self.assertIn(told, text)

    def test_bytes_of_operands_are_those_of_the_profile(self):
        words = ["mnist-mlp", "--procedural", "--batch", 40, "--optimizer", "sgd"]
        row = self.gradus("train", *words, "--updates", 3, "--no-evaluation", "--json").row()
        profile = self.gradus("profile", *words, "--schedule", "wait=1,active=1", "--out", "p", "--json").row()
        kernels = sum(o["gigabytes"] for o in profile["operations"] if o["pass"])
        self.assertAlmostEqual(row["operand_gbs"] * row["seconds"] / row["updates"] / kernels, 1, delta=1e-3)

    def test_result_is_all_of_stdout(self):
        self.assertEqual(self.gradus("train", *QUICK, "--json").out.count("\n"), 1)
        text = self.gradus("train", *QUICK).out
        self.assertIn("procedural", text)
        self.assertIn("test", text)

    def test_recipes_bring_their_optimizer(self):
        residual = self.gradus("train", "resnet18-cifar", "--procedural", "--batch", 2, "--updates", 1, "--resize", 8,
                               "--last-batch", "drop", "--no-evaluation", "--json").row()
        wanted = {
            "optimizer": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 5e-4,
            "lr_schedule": "cosine"
        }
        self.assertEqual({k: residual[k] for k in wanted}, wanted)
        own = self.gradus("train", *QUICK, "--optimizer", "sgd", "--momentum", 0.5, "--weight-decay", 0.01,
                          "--lr-schedule", "steps", "--json").row()
        wanted = {"momentum": 0.5, "nesterov": False, "weight_decay": 0.01, "lr_schedule": "steps", "lr_every": 30,
                  "lr_gamma": 0.1}
        self.assertEqual({k: own[k] for k in wanted}, wanted)
        plain = self.gradus("train", *QUICK, "--optimizer", "sgd", "--json").row()
        self.assertNotEqual(own["train_loss"], plain["train_loss"])

    def test_micro_batches(self):
        words = ["train", "mnist-mlp", "--procedural", "--updates", 3, "--device", "ref", "--no-evaluation", "--json"]
        rows = [self.gradus(*words, *more).row() for more in (["--batch", 60], ["--batch", 60, "--micro-batch", 16],
                                                              ["--batch", 20, "--accumulate", 3])]
        self.assertEqual([(r["batch"], r["micro_batch"], r["accumulate"], r["samples"]) for r in rows],
                         [(60, 60, 1, 180), (60, 16, 4, 180), (60, 20, 3, 180)])
        for row in rows[1:]:
            self.assertAlmostEqual(row["train_loss"], rows[0]["train_loss"], places=11)

    def test_shards(self):
        words = ["train", "mnist-mlp", "--procedural", "--updates", 3, "--device", "ref", "--no-evaluation", "--json",
                 "--batch", 60]
        rows = [self.gradus(*words, *more).row() for more in ([], ["--shards", 8], ["--shards", 4, "--micro-batch", 7])]
        self.assertEqual([(r["shards"], r["micro_batch"], r["samples"]) for r in rows],
                         [(1, 60, 180), (8, 8, 180), (4, 7, 180)])
        for row in rows[1:]:
            self.assertAlmostEqual(row["train_loss"], rows[0]["train_loss"], places=11)

    def test_precision(self):
        words = ["train", *QUICK, "--no-evaluation", "--json"]
        rows = {p: self.gradus(*words, "--precision", p).row() for p in ("fp32", "fp16", "bf16")}
        self.assertEqual([(p, r["precision"], r["loss_scale"], r["skipped_updates"]) for p, r in rows.items()],
                         [("fp32", "fp32", 1, 0), ("fp16", "fp16", 65536, 0), ("bf16", "bf16", 1, 0)])
        self.assertEqual(len({r["train_loss"] for r in rows.values()}), 3)
        for row in rows.values():
            self.assertAlmostEqual(row["train_loss"], rows["fp32"]["train_loss"], places=1)
        self.assertEqual(rows["fp16"]["history"][-1]["loss_scale"], 65536)
        again = self.gradus(*words, "--precision", "fp16", "--threads", 1).row()
        self.assertEqual(again["train_loss"], rows["fp16"]["train_loss"])
        refused = self.gradus("train", *QUICK, "--precision", "fp64", expect=2)
        self.assertIn("ref", refused.err)

    def test_every_optimizer(self):
        words = ["train", "mnist-mlp", "--procedural", "--updates", 2, "--batch", 8, "--no-evaluation", "--json"]
        rows = {
            o: self.gradus(*words, "--optimizer", o).row()
            for o in ("sgd", "momentum", "adam", "adamw", "lars", "muon", "sam", "prox")
        }
        wanted = {"momentum": ("momentum", 0.9), "adamw": ("weight_decay", 0.01), "lars": ("lars_trust", 0.001),
                  "muon": ("muon_steps", 5), "sam": ("sam_rho", 0.05), "prox": ("prox_steps", 5)}
        for optimizer, (key, value) in wanted.items():
            self.assertEqual(rows[optimizer][key], value)
            self.assertIn(rows["sgd"][key], (0.0, None))
        row = self.gradus(*words, "--clip-norm", 0.01, "--decay-weights-only", "--weight-decay", 0.1, "--warm-up",
                          0.5).row()
        self.assertEqual((row["clip_norm"], row["decay_weights_only"], row["warm_up"]), (0.01, True, 0.5))

    def test_batch_schedule_and_rules(self):
        row = self.gradus("train", "mnist-mlp", "--procedural", "--batch-schedule", "0:50,2:100", "--epochs", 3,
                          "--lr-rule", "sqrt", "--base-batch", 200, "--lr", 0.01, "--json").row()
        self.assertEqual((row["updates"], row["batch"], row["lr"]), (40 + 40 + 20, 50, 0.005))
        self.assertEqual([e["updates"] for e in row["history"]], [40, 80, 100])
        self.assertEqual([e["batch"] for e in row["history"]], [50, 50, 100])

    def test_budgets(self):
        """One of epochs, updates or samples is the same run where they come to the same, its schedule included."""
        words = ["train", "mnist-mlp", "--procedural", "--batch", 50, "--lr-schedule", "cosine"]
        rows = [self.gradus(*words, "--budget", budget, "--json").row()
                for budget in ("epochs=1", "updates=40", "samples=1951")]
        self.assertEqual([row["budget"] for row in rows], [None, None, "samples=1951"])
        self.assertEqual([(row["updates"], row["test_loss"]) for row in rows], 3 * [(40, rows[0]["test_loss"])])
        words[-1] = "constant"
        row = self.gradus(*words, "--budget", "seconds=0.05", "--json").row()
        self.assertEqual((row["budget"], row["state"]), ("seconds=0.05", "done"))
        self.assertTrue(row["seconds"] >= 0.05 and row["updates"] > 0)
        self.assertIn("ended by 0.05 s of training", self.gradus(*words, "--budget", "seconds=0.05").out)

    def test_budgets_that_cannot_be(self):
        words = ["train", "mnist-mlp", "--procedural"]
        for budget in ("seconds", "samples=0", "hours=1", "epochs=1,updates=2", "seconds=1e10"):
            self.refused(2, *words, "--budget", budget, names=["samples=64000"])
        self.refused(2, *words, "--budget", "samples=5", "--epochs", 1, names=["--budget and --epochs"])
        self.refused(2, *words, "--budget", "seconds=5", "--lr-schedule", "linear", names=["linear", "samples=N"])
        self.refused(2, *words, "--budget", "samples=5", "--batch-schedule", "0:4", names=["--epochs, not --budget"])

    def test_label_smoothing(self):
        rows = [self.gradus("train", *QUICK, "--seed", 3, *words, "--json").row()
                for words in ([], ["--label-smoothing", 0], ["--label-smoothing", 0.5])]
        self.assertEqual([row["label_smoothing"] for row in rows], [None, None, 0.5])
        self.assertEqual(rows[0]["test_loss"], rows[1]["test_loss"])
        self.assertNotEqual(rows[0]["test_loss"], rows[2]["test_loss"])
        self.refused(2, "train", *QUICK, "--label-smoothing", 1, names=["below 1"])
        self.refused(2, "train", "cats-vs-dogs", "--procedural", "--batch", 2, "--updates", 1, "--resize", 32,
                     "--label-smoothing", 0.1, names=["a single logit"])

    def test_history_has_every_epoch(self):
        row = self.gradus("train", "cifar10-cnn", "--procedural", "--batch", 500, "--epochs", 2, "--json").row()
        self.assertEqual([(e["epoch"], e["updates"]) for e in row["history"]], [(1, 4), (2, 8)])
        self.assertEqual((row["epochs"], row["updates"], row["samples"]), (2, 8, 4000))
        self.assertEqual(row["history"][-1]["train_loss"], row["train_loss"])
        self.assertEqual(row["history"][-1]["test_accuracy"], row["test_accuracy"])

    def test_no_evaluation(self):
        words = ["train", "cats-vs-dogs", "--procedural", "--batch", 16, "--updates", 1, "--seed", 3, "--resize", 8]
        whole = self.gradus(*words, "--json").row()
        row = self.gradus(*words, "--json", "--no-evaluation").row()
        for key in ("val_loss", "val_accuracy", "test_loss", "test_accuracy"):
            self.assertIsNotNone(whole[key])
            self.assertIsNone(row[key])
        self.assertEqual((row["train_loss"], row["data_hash"]), (whole["train_loss"], whole["data_hash"]))
        text = self.gradus(*words, "--no-evaluation").out
        self.assertNotIn("validation", text)
        self.assertNotIn("test", text)

    def test_recipe_choices(self):
        row = self.gradus("train", "cifar10-cnn", "--procedural", "--updates", 1, "--json").row()
        self.assertEqual((row["optimizer"], row["lr"], row["batch"]), ("adam", 0.001, 32))

    def test_reference_device(self):
        row = self.gradus("train", *QUICK, "--json", "--device", "ref", "--updates", 1).row()
        self.assertEqual((row["device"], row["precision"]), ("ref", "fp64"))

    def test_last_batch_policies(self):
        samples = {}
        for policy in ("keep", "drop", "pad", "wrap"):
            row = self.gradus("train", "cifar10-cnn", "--procedural", "--batch", 1500, "--epochs", 1, "--last-batch",
                              policy, "--json").row()
            samples[policy] = (row["updates"], row["samples"])
        self.assertEqual(samples, {"keep": (2, 2000), "drop": (1, 1500), "pad": (2, 2000), "wrap": (2, 3000)})


class Repeat(Case):
    def losses(self, *words):
        self.gradus("train", *QUICK, "--updates", 6, "--log-updates", "log", *words)
        return (self.folder / "log").read_text()

    def test_same_seed_same_losses_for_any_number_of_threads(self):
        first = self.losses("--threads", 1)
        for threads in (1, 2, 5):
            self.assertEqual(self.losses("--threads", threads), first)

    def test_what_changes_the_losses(self):
        first = self.losses()
        for words in (["--seed", 2], ["--no-shuffle"], ["--split-seed", 1], ["--lr", "0.002"], ["--optimizer", "sgd"],
                      ["--adam-epsilon", "0.1"], ["--adam-form", "pytorch"]):
            with self.subTest(words):
                self.assertNotEqual(self.losses(*words), first)

    def test_log_has_one_line_per_update(self):
        lines = [json.loads(line) for line in self.losses().splitlines()]
        self.assertEqual([line["update"] for line in lines], [1, 2, 3, 4, 5, 6])
        self.assertTrue(all(set(line) == {"update", "loss"} and line["loss"] > 0 for line in lines))

    def test_weights_go_out_and_in(self):
        self.gradus("train", *QUICK, "--save-weights", "w")
        whole = self.losses("--init-weights", "w")
        self.assertEqual(self.losses("--init-weights", "w", "--no-fusion", "--seed", 1).count("\n"), whole.count("\n"))
        self.assertEqual(self.losses("--init-weights", "w"), whole)
        self.assertNotEqual(self.losses(), whole)
        self.gradus("train", *QUICK, "--init-weights", "w", "--optimizer", "sgd", "--lr", "1e-60", "--save-weights",
                    "w2")
        self.assertEqual((self.folder / "w").read_bytes(), (self.folder / "w2").read_bytes())

    def test_averages_are_evaluated_and_saved(self):
        words = ["train", *QUICK, "--json"]
        plain = self.gradus(*words).row()
        row = self.gradus(*words, "--ema", 0.9, "--save-weights", "w").row()
        self.assertEqual((row["ema"], plain["ema"]), (0.9, None))
        self.assertEqual(row["train_loss"], plain["train_loss"])
        self.assertNotEqual(row["test_loss"], plain["test_loss"])
        self.assertEqual(self.gradus("evaluate", "w", "--procedural", "--json").row()["accuracy"], row["test_accuracy"])
        self.gradus("weights", "convert", "w", "v", "--to", "gradus")
        self.assertEqual((self.folder / "v").read_bytes(), (self.folder / "w").read_bytes())
        self.refused(2, *words, "--ema", 1, names=["--ema 1", "below 1"])

    def test_freezing_within_the_run(self):
        """Behind the first epoch the bias stays to the bit, and what is trained goes on; a run that stops there too."""
        words = ["train", "mnist-mlp", "--procedural", "--batch", 100]
        for name, more in (("one", ["--epochs", 1]), ("two", ["--epochs", 2]), ("all", ["--epochs", 2]),
                           ("on", ["--epochs", 2, "--checkpoint", "k", "--checkpoint-every", 4])):
            late = [] if name == "all" else ["--freeze-after", "dense1.bias=1"]
            self.gradus(*words, *more, *late, "--save-weights", name)
        one, two, all_, on = (tensors(self.folder / name) for name in ("one", "two", "all", "on"))
        self.assertEqual(one["dense1.bias"], two["dense1.bias"])
        self.assertNotEqual(one["dense1.bias"], all_["dense1.bias"])
        self.assertNotEqual(one["dense1.weight"], two["dense1.weight"])
        self.assertNotEqual(one["dense2.bias"], two["dense2.bias"])
        self.assertEqual(on, two)
        kept = sorted((self.folder / "k").glob("checkpoint-*.safetensors"))
        kept[-1].unlink()  # the end: what is left is a state within the second epoch
        self.gradus(*words, "--epochs", 2, "--freeze-after", "dense1.bias=1", "--checkpoint", "k", "--checkpoint-every",
                    4, "--resume", "--save-weights", "again")
        self.assertEqual(tensors(self.folder / "again"), two)

    def test_no_temporary_file_stays(self):
        self.gradus("train", *QUICK, "--save-weights", "w", "--log-updates", "l")
        self.assertEqual(self.files(), ["l", "w"])


class Time(Case):
    WORDS = ["train", "cifar10-cnn", "--procedural", "--batch", 100, "--updates", 33, "--time"]
    OPERATIONS = {("normalise", "forward"): 1, ("conv2d_relu_max_pool", "forward"): 2,
                  ("conv2d_relu_max_pool", "backward"): 2, ("conv2d", "forward"): 1, ("conv2d", "backward"): 1,
                  ("dense", "forward"): 2, ("dense_adam", "update"): 2, ("softmax_cross_entropy", "forward"): 1,
                  ("softmax_cross_entropy", "backward"): 1, ("accuracy", "forward"): 1}

    def test_parts_add_up_to_the_update(self):
        row = self.gradus(*self.WORDS, "--json").row()  # 20 updates an epoch; evaluation is no part of one
        self.assertEqual(list(row), ROW_KEYS + ["time"])
        time = row["time"]
        self.assertEqual(time["updates"], 32)
        calls = {(o["op"], o["pass"]): o["calls"] for o in time["operations"]}
        self.assertEqual({key: calls.get(key) for key in self.OPERATIONS}, self.OPERATIONS)
        kernels = sum(o["ms"] for o in time["operations"])
        self.assertAlmostEqual((kernels + time["loader_ms"] + time["host_ms"]) / time["ms"], 1, delta=0.05)
        self.assertGreater(kernels / time["ms"], 0.8)
        self.assertAlmostEqual(kernels / time["ms"], sum(o["share"] for o in time["operations"]), places=6)
        self.assertTrue(0 < time["loader_ms"] and 0 < time["host_ms"])
        self.assertGreaterEqual(time["slowest_ms"], time["ms"])
        self.assertTrue(1 <= time["slowest"] <= 33)
        self.assertLess(time["slowest_ms"], time["all_ms"])
        self.assertTrue(0.5 < time["all_ms"] / (1e3 * row["seconds"]) < 1.5)
        self.assertTrue(0.2 < time["ms"] / (1e3 * row["seconds"] / row["updates"]) < 1.5)

    def test_work_is_counted(self):
        row = self.gradus(*self.WORDS, "--json").row()
        layers = json.loads(self.gradus("summary", "cifar10-cnn", "--json").out)["layers"]
        forward = sum(o["gflops"] * 1e6 * o["ms"] for o in row["time"]["operations"]
                      if o["pass"] == "forward" and o["op"] in ("conv2d_relu_max_pool", "conv2d", "dense"))
        expected = 100 * sum(layer["flops_forward"] for layer in layers)
        self.assertAlmostEqual(forward / expected, 1, delta=0.02)

    def test_table(self):
        lines = self.gradus(*self.WORDS).out.split("Time of one update")[1].splitlines()[2:]
        self.assertLessEqual(max(map(len, lines)), 80)
        lines, beside = lines[:-3], lines[-3:]
        self.assertRegex(beside[1], r"^  slowest, update \d+ +\d+\.\d{3}$")
        self.assertRegex(beside[2], r"^  all 33 +\d+\.\d{3}$")
        ms = [float(re.search(r"(\d+\.\d{3}) +\d+\.\d %", line)[1]) for line in lines[1:]]
        self.assertAlmostEqual(sum(ms[:-1]) / ms[-1], 1, delta=0.05)
        self.assertEqual(ms[:-3], sorted(ms[:-3], reverse=True))
        self.assertTrue(lines[-1].split()[:2] == ["whole", "update"])

    def test_one_update_tells_nothing(self):
        words = ["train", *QUICK, "--updates", 1, "--time"]
        self.assertIn("No times", self.gradus(*words).out)
        self.assertIsNone(self.gradus(*words, "--json").row()["time"])


class Progress(Case):
    def on_a_terminal(self, **more):
        master, slave = pty.openpty()
        process = subprocess.Popen([GRADUS, "train", *QUICK, "--updates", "40"], stdout=subprocess.PIPE, stderr=slave,
                                   cwd=self.folder, env={**self.environment, **more})
        os.close(slave)
        seen = b""
        try:
            while piece := os.read(master, 4096):
                seen += piece
        except OSError:  # how a terminal says that nobody writes any more
            pass
        os.close(master)
        process.communicate()
        self.assertEqual(process.returncode, 0)
        return seen.decode()

    def test_bar_on_a_terminal(self):
        text = self.on_a_terminal(TERM="xterm")
        self.assertIn("\r", text)
        self.assertRegex(text, r"\[\x1b\[36m=*>? *\x1b\[0m\]")

    def test_no_color(self):
        text = self.on_a_terminal(TERM="xterm", NO_COLOR="1")
        self.assertIn("[=", text)
        self.assertNotRegex(text, r"\x1b\[[0-9;]*m")

    def test_dumb_terminal(self):
        text = self.on_a_terminal(TERM="dumb")
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\r", text.replace("\r\n", "\n"))

    def test_plain_lines_elsewhere(self):
        text = self.gradus("train", *QUICK).err
        self.assertRegex(text, re.compile(r"\Aepoch 1.*loss .*\n\Z"))
        self.assertNotIn("\x1b", text)


class Signals(Case):
    def test_stops_after_the_update(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start("train", "cifar10-cnn", "--procedural", "--batch", "8", "--updates", "1000000",
                                     "--last-batch", "drop", "--json", "--log-updates", "log", "--save-weights", "w")
                # updates are in the log: it trains; before that it stops without a row. Only the log's temporary lasts
                # until the end; the weights' is there and gone while it is found out whether they can be written.
                wait_for(lambda: is_written(self.folder, "log.tmp.*"))
                code, out, err = stop(process, number)
                self.assertEqual(code, 75)
                row = json.loads(out.splitlines()[-1])
                self.assertEqual(list(row), ROW_KEYS)
                self.assertEqual(row["state"], "stopped")
                self.assertIn("stopped", err)
                self.assertEqual(self.files(), ["log", "w"])
                self.assertEqual(len((self.folder / "log").read_text().splitlines()), row["updates"])

    def test_what_a_killed_run_left_goes_with_the_next(self):
        words = ["train", "keras-mlp", "--batch", 500, "--log-updates", "log", "--save-weights", "w", "--updates"]
        process = self.start(*words, 1000000, "--last-batch", "drop")
        wait_for(lambda: is_written(self.folder, "log.tmp.*"))
        process.kill()
        process.communicate()
        self.assertEqual(len(self.files()), 1)
        (self.folder / "w.tmp.1-0").touch()  # of weights that it was killed in the middle of
        self.gradus(*words, 2)
        self.assertEqual(self.files(), ["log", "w"])

    def test_stops_at_once_while_reading(self):
        process = self.start("train", "cats-vs-dogs", "--procedural", "--save-weights", "w")
        status = pathlib.Path(f"/proc/{process.pid}/status")

        def catches_signals():
            caught = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("SigCgt"))
            return int(caught, 16) >> (signal.SIGINT - 1) & 1

        wait_for(catches_signals)
        self.assertEqual(stop(process)[0], 75)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
