"""gradus sweep: the grid, its files, going on where it stopped, and cells that go wrong."""

import csv
import fcntl
import json
import math
import os
import pathlib
import shutil
import signal
import time
import unittest
import zlib

from cli import QUICK, ROW_KEYS, Case, cell, stop, wait_for, without_timings

GRID = ["sweep", "cifar10-cnn", "--procedural", "--updates", "2", "--out", "o"]
LONGER = [*GRID, "--updates", "200"]
SMALL = [*GRID, "--batch", "4,8", "--optimizer", "sgd,adam", "--seeds", "1"]


def cells_of(process):
    """Process numbers of the cells that a sweep is running."""
    proc = pathlib.Path("/proc")
    children = (proc / f"{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(c) for c in children if b"--json" in (proc / c / "cmdline").read_bytes().split(b"\0")]


def is_running(number):
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")")[-1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Grid(Case):
    def test_one_row_per_cell_and_the_files(self):
        result = self.gradus(*SMALL, "--seeds", "2")
        rows = self.read_rows("o")
        self.assertEqual([cell(r) for r in rows], [(o, b, s) for s in (1, 2) for o in ("sgd", "adam") for b in (4, 8)])
        for row in rows:
            self.assertEqual(list(row), ROW_KEYS + ["sweep", "check"])
            self.assertEqual((row["state"], row["updates"], row["data"]), ("done", 2, "procedural"))
        self.assertIn("8 to run", result.err.splitlines()[0])
        self.assertRegex(result.err.splitlines()[1], r"^expected time: about .*tried out$")
        names = "results.csv results.jsonl status.json summary.csv sweep.json sweep.lock table.txt".split()
        self.assertEqual(self.files(), ["o"] + [f"o/{name}" for name in names])
        table = self.read_table("o")
        self.assertEqual(list(table[0]), ROW_KEYS[:-3])
        self.assertEqual([float(r["test_accuracy"]) for r in table], [r["test_accuracy"] for r in rows])
        self.assertIn("not the real data", result.out)
        self.assertEqual((self.folder / "o/table.txt").read_text(), result.out)

    def test_a_cell_is_what_train_gives(self):
        words = ["--batch", "8", "--optimizer", "adam", "--adam-form", "pytorch", "--lr", "0.003"]
        self.gradus(*GRID, *words, "--seeds", "1")
        row = self.gradus("train", *QUICK, *words, "--seed", "1", "--json").row()
        self.assertEqual(without_timings(self.read_rows("o")[0]), without_timings(row))

    def test_a_budget_is_every_cells(self):
        """And what the folder is known by: of updates it is --updates."""
        words = [word for word in SMALL if word not in ("--updates", "2")]
        self.gradus(*words, "--budget", "updates=2")
        self.assertIn("0 to run", self.gradus(*SMALL).err)
        self.refused(2, *words, "--budget", "samples=16", names=["updates was 2", "budget", "samples=16"])
        words[words.index("o")] = "p"
        result = self.gradus(*words, "--budget", "samples=16")
        self.assertEqual([(row["batch"], row["updates"], row["samples"]) for row in self.read_rows("p")],
                         2 * [(4, 4, 16), (8, 2, 16)])
        self.assertIn("every run had --budget samples=16", result.out)
        self.refused(2, *words, "--budget", "samples=16,samples=32", names=["--budget"])

    def test_a_batch_that_grows(self):
        words = ["--batch-schedule", "0:4,1:8", "--optimizer", "sgd"]
        result = self.gradus(*GRID, *words, "--seeds", "1")
        row = self.gradus("train", "cifar10-cnn", "--procedural", "--updates", "2", *words, "--json").row()
        self.assertEqual(without_timings(self.read_rows("o")[0]), without_timings(row))
        self.assertEqual((row["batch"], row["batch_schedule"]), (4, "0:4,1:8"))
        self.assertIn("--batch-schedule 0:4,1:8", result.out)
        self.refused(2, *GRID, "--batch-schedule", "0:4", "--optimizer", "sgd", names=["batch-schedule was"])
        self.refused(2, *GRID, *words, "--batch", "4", names=["--batch and --batch-schedule"])
        self.refused(2, *GRID, "--batch-schedule", "0:4,1:8000", names=["8000", "2000 samples"])

    def test_adam_options_in_a_sweep_of_both(self):
        self.gradus(*SMALL, "--adam-form", "pytorch")
        self.refused(2, *GRID, "--optimizer", "sgd", "--adam-form", "pytorch", names=["--adam-form"])

    def test_a_plan_with_commas_is_one_field(self):
        self.gradus(*GRID, "--batch", "8", "--optimizer", "sgd", "--seeds", "1", "--augment", "flip,translate=2")
        self.assertEqual(self.read_rows("o")[0]["augment"], "flip,translate=2")
        row = self.read_table("o")[0]
        self.assertEqual((row["augment"], row["batch"], row["state"]), ("flip,translate=2", "8", "done"))

    def test_json(self):
        table = json.loads(self.gradus(*SMALL, "--json").out)
        self.assertEqual(table["data"], "procedural")
        self.assertEqual([(line["optimizer"], line["batch"], line["done"]) for line in table["lines"]],
                         [("sgd", 4, 1), ("sgd", 8, 1), ("adam", 4, 1), ("adam", 8, 1)])
        self.assertIsNone(table["lines"][0]["half_width_95"])

    def test_statistics(self):
        """Rows written by hand: the table's figures against figures worked out otherwise."""
        self.gradus(*GRID, "--batch", "8", "--optimizer", "sgd", "--seeds", "1")
        row = self.read_rows("o")[0]
        accuracies = [0.60, 0.64, 0.50, 0.58, 0.61]
        self.write_rows("o", [{**row, "seed": seed, "test_accuracy": a} for seed, a in enumerate(accuracies, 1)])
        result = self.gradus(*GRID, "--batch", "8", "--optimizer", "sgd", "--seeds", "5", "--json")
        self.assertIn("0 to run", result.err)
        line = json.loads(result.out)["lines"][0]
        mean = sum(accuracies) / 5
        deviation = math.sqrt(sum((a - mean) ** 2 for a in accuracies) / 4)
        self.assertAlmostEqual(line["test_accuracy"], mean, places=12)
        self.assertAlmostEqual(line["half_width_95"], 2.776445 * deviation / math.sqrt(5), places=7)  # t(0.975; 4)
        self.assertAlmostEqual(line["set_error"], math.sqrt(mean * (1 - mean) / 400), places=12)

    def test_means_halfway_between_two_digits(self):
        """The table's digits are those that a reader of summary.csv comes to."""
        self.gradus(*GRID, "--batch", "8", "--optimizer", "sgd", "--seeds", "1")
        row = self.read_rows("o")[0]
        for right in ([316, 333, 318, 309, 291], [218, 259, 229, 281, 204], [245, 234, 320, 229, 343]):  # of 400
            self.write_rows("o", [{**row, "seed": seed, "test_accuracy": n / 400} for seed, n in enumerate(right, 1)])
            table = self.gradus(*GRID, "--batch", "8", "--optimizer", "sgd", "--seeds", "5").out
            with open(self.folder / "o/summary.csv", newline="") as f:
                mean = float(next(csv.DictReader(f))["test_accuracy"])
            self.assertAlmostEqual(mean, sum(right) / 2000, places=12)
            self.assertIn(f" 5   {100 * mean:.1f} +- ", table)


class CommandLine(Case):
    def test_every_option_may_be_given(self):
        """As many words as a cell has room for: none of them is lost, and the cell is not."""
        more = ("--lr 0.01 --micro-batch 4 --clip-norm 5 --lr-schedule triangular --lr-min 1e-5 --lr-every 3 "
                "--warm-up 1 --lr-rule sqrt --base-batch 16 --last-batch wrap --split-seed 3 --resize 32 "
                "--augment flip --device cpu --precision fp32 --memory-limit 1G --threads 1 --workers 1 --prefetch 3 "
                "--preload ram --preload-limit 1G --decay-weights-only --no-fusion --no-graph --no-shuffle "
                "--sharpness 1e-3 --momentum 0.9 --nesterov --weight-decay 1e-4").split()
        small = ["sweep", "mnist-mlp", *GRID[2:]]  # climbs all training samples, which takes long
        self.gradus(*small, "--batch", 8, "--optimizer", "sgd", "--seeds", 1, *more)
        row = self.read_rows("o")[0]
        self.assertEqual((row["state"], row["clip_norm"], row["lr_min"]), ("done", 5, 1e-5))

    def test_a_long_folder_is_refused(self):
        self.refused(2, *GRID[:-1], "/".join(["o" * 200] * 10), names=["--out", "1024"])

    def test_what_every_cell_would_be_refused_for(self):
        result = self.gradus(*SMALL, "--precision", "fp64", expect=2)
        self.assertIn("fp64", result.err)
        self.assertEqual((self.folder / "o/results.jsonl").read_text(), "")

    def test_python_of_the_working_folder_is_not_run(self):
        (self.folder / "matplotlib.py").write_text("import pathlib; pathlib.Path('ran').touch()")
        (self.folder / "scripts").mkdir()
        (self.folder / "scripts/plot_sweep.py").write_text("import pathlib; pathlib.Path('ran').touch()")
        self.gradus(*GRID, "--batch", 8, "--optimizer", "sgd", "--seeds", 1)
        self.assertFalse((self.folder / "ran").exists())


class GoingOn(Case):
    def setUp(self):
        super().setUp()
        self.journal = self.folder / "o/results.jsonl"

    def test_a_sweep_of_a_build_that_knew_fewer_options(self):
        """Its folder lacks one, which is not given: its rows are this sweep's all the same."""
        self.gradus(*SMALL)
        path = self.folder / "o/sweep.json"
        sweep = json.loads(path.read_text())
        notes = {key: sweep.pop(key) for key in ("optimizers", "departures")}
        self.assertIsNone(sweep.pop("budget"))
        path.write_text(json.dumps(sweep | notes))
        text = json.dumps(sweep, separators=(",", ":"), sort_keys=True)
        rows = [{**row, "sweep": f"{zlib.crc32(text.encode()):08x}"} for row in self.read_rows("o")]
        self.write_rows("o", rows)
        self.assertIn("0 to run", self.gradus(*SMALL).err)
        self.refused(2, *GRID[:3], "--out", "o", "--budget", "samples=8", names=["budget was not set"])

    def test_only_what_is_missing_runs(self):
        self.gradus(*SMALL)
        before = self.journal.read_text()
        self.assertIn("0 to run", self.gradus(*SMALL).err)
        self.assertEqual(self.journal.read_text(), before)
        lines = before.splitlines(keepends=True)
        self.journal.write_text("".join(lines[:1] + lines[2:]))
        self.assertIn("1 to run", self.gradus(*SMALL).err)
        self.assertEqual(without_timings(self.read_rows("o")[-1]), without_timings(json.loads(lines[1])))

    def test_a_grid_may_grow(self):
        self.gradus(*SMALL)
        self.assertIn("1 to run", self.gradus(*GRID, "--batch", "8,16", "--optimizer", "sgd", "--seeds", "1").err)

    def test_failed_and_stopped_cells_run_again(self):
        self.gradus(*SMALL)
        rows = self.read_rows("o")
        rows[0]["state"], rows[1]["state"], rows[2]["state"] = "failed", "stopped", "out of memory"
        self.write_rows("o", rows)
        result = self.gradus(*SMALL)
        self.assertIn("2 to run", result.err)
        self.assertEqual(len(self.read_rows("o")), 6)
        self.assertEqual(len(self.read_table("o")), 4)

    def test_changed_settings_are_refused(self):
        self.gradus(*SMALL, "--lr", "0.01")
        before = {p: p.read_bytes() for p in (self.folder / "o").iterdir()}
        for words, name in ((["--lr", "0.02"], "lr was 0.01, now it is 0.02"),
                            (["--lr", "0.01", "--no-shuffle"], "no-shuffle"),
                            (["--lr", "0.01", "--updates", "3"], "updates was 2, now it is 3"),
                            (["--lr", "0.03", "--updates", "3"],
                             "lr was 0.01, now it is 0.03; updates was 2, now it is 3"),
                            (["--lr", "0.01", "--split-seed", "3"], "data_hash")):
            with self.subTest(words):
                self.refused(2, *SMALL, *words, names=[name, "--out"])
        self.refused(2, "sweep", "cats-vs-dogs", "--procedural", "--batch", "8", "--updates", "2", "--out", "o",
                     names=["recipe was \"cifar10-cnn\""])
        self.assertEqual({p: p.read_bytes() for p in (self.folder / "o").iterdir()}, before)

    def test_threads_are_no_changed_setting(self):
        self.gradus(*SMALL)
        self.gradus(*SMALL, "--threads", "1")

    def test_torn_last_line(self):
        self.gradus(*SMALL)
        whole = self.journal.read_bytes()
        start = whole.rstrip(b"\n").rfind(b"\n") + 1
        for end in (start + 1, (start + len(whole)) // 2, len(whole) - 1):
            with self.subTest(end):
                self.journal.write_bytes(whole[:end])
                result = self.gradus(*SMALL)
                self.assertIn("cut short", result.err)
                self.assertIn("1 to run", result.err)
                self.assertEqual([cell(r) for r in self.read_rows("o")],
                                 [cell(json.loads(line)) for line in whole.splitlines()])

    def test_damaged_line(self):
        self.gradus(*SMALL)
        lines = self.journal.read_text().splitlines(keepends=True)
        for bad in ("{\"recipe\": 1,,}\n", "[]\n", "\n", lines[1][:40] + "\n"):
            with self.subTest(bad):
                self.journal.write_text("".join([lines[0], bad, *lines[2:]]))
                self.refused(3, *SMALL, names=["results.jsonl, line 2"])

    def test_rows_of_another_sweep_are_refused(self):
        """Line by line sound, and from another folder, or with a result that is none."""
        self.gradus(*SMALL)
        rows = self.read_rows("o")
        for change, name in (({"sweep": "0" * 8}, "other settings"), ({"test_accuracy": "0.9"}, "no test_accuracy"),
                             ({"test_accuracy": None}, "no test_accuracy")):
            with self.subTest(change):
                self.write_rows("o", [*rows[:2], {**rows[2], **change}, *rows[3:]])
                self.refused(3, *SMALL, names=["line 3", name])
        self.write_rows("o", rows)
        self.assertIn("0 to run", self.gradus(*SMALL).err)

    def test_a_changed_line_is_noticed(self):
        self.gradus(*SMALL)
        whole = self.journal.read_text()
        for old, new in (('"test_accuracy":0.', '"test_accuracy":1.'), ('"seed":1', '"seed":2'),
                         ('"state":"done"', '"state":"Done"')):
            with self.subTest(old):
                self.assertIn(old, whole)
                self.journal.write_text(whole.replace(old, new, 1))
                self.refused(3, *SMALL, names=["line 1 is damaged", "checksum"])

    def test_other_initial_weights_under_the_same_name_are_noticed(self):
        words = [*SMALL, "--init-weights", "w"]
        for seed in (1, 2):
            self.gradus("train", *QUICK, "--seed", seed, "--save-weights", "w")
            if seed == 1:
                self.gradus(*words)
        self.refused(2, *words, names=["initial weights was"])

    def test_journal_without_its_description(self):
        self.gradus(*SMALL)
        (self.folder / "o/sweep.json").unlink()
        self.refused(3, *SMALL, names=["results.jsonl", "sweep.json"])

    def test_two_sweeps_in_one_folder(self):
        self.gradus(*SMALL)
        with open(self.folder / "o/sweep.lock", "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refused(5, *SMALL, names=["another sweep", "o"])

    def test_waits_for_one_that_is_ending(self):
        """A sweep that was killed just now holds its folder until the system is done with it."""
        self.gradus(*SMALL)
        with open(self.folder / "o/sweep.lock", "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = self.start(*SMALL)
            time.sleep(1)
            self.assertIsNone(process.poll())
        _, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)

    def test_signal_stops_and_the_same_command_goes_on(self):
        words = [*LONGER, "--batch", "4,8", "--optimizer", "sgd", "--seeds", "2"]
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(*words)
            done = len(self.read_rows("o")) if self.journal.exists() else 0
            wait_for(lambda: self.journal.exists() and len(self.read_rows("o")) > done)
            code, out, err = stop(process, number)
            self.assertEqual((code, out), (75, ""))
            self.assertIn("the same command goes on", err)
            self.assertTrue(done < len(self.read_rows("o")) < 4)
        self.gradus(*words)
        self.assertEqual(sorted(cell(r) for r in self.read_rows("o")), [("sgd", b, s) for b in (4, 8) for s in (1, 2)])

    def test_a_folder_that_is_removed_or_renamed_ends_it(self):
        for away in (lambda folder: shutil.rmtree(folder, ignore_errors=True),
                     lambda folder: folder.rename(self.folder / "elsewhere")):
            process = self.start(*LONGER, "--batch", "4,8", "--optimizer", "sgd", "--seeds", "1")
            wait_for(lambda: (self.folder / "o/status.json").exists())
            away(self.folder / "o")
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 5, err)
            self.assertIn("o/results.jsonl was removed or renamed", err)
            self.assertIn("[1/", err)
            self.assertNotIn("[2/", err)
            shutil.rmtree(self.folder / "o", ignore_errors=True)  # what the cell made there afterwards

    def test_a_signal_in_the_first_moment_of_a_cell_is_no_failure(self):
        words = [*LONGER, "--batch", "4", "--optimizer", "sgd", "--seeds", "1"]
        for _ in range(4):
            process = self.start(*words)
            wait_for(lambda: cells_of(process))
            self.assertEqual(stop(process)[0], 75)
            self.assertEqual(self.read_rows("o"), [])

    def test_no_cell_outlives_its_sweep(self):
        process = self.start(*LONGER, "--updates", "1000000", "--batch", "1", "--optimizer", "sgd", "--seeds", "1")
        wait_for(lambda: cells_of(process))
        orphan = cells_of(process)[0]
        process.kill()
        process.communicate()
        wait_for(lambda: not is_running(orphan), seconds=0.5)  # long before its next line on a closed pipe


class Lists(Case):
    WORDS = [*GRID, "--batch", "4,8", "--optimizer", "sgd", "--seeds", "2", "--lr", "0.01,0.03",
             "--augment=none;flip,translate=1"]
    PLANS = ("none", "flip,translate=1")

    def test_every_combination_is_a_run(self):
        self.assertIn("16 cells = 2 batch sizes x 1 optimizer x 4 variants x 2 seeds, 16 to run",
                      self.gradus(*self.WORDS).err)
        rows = self.read_rows("o")
        self.assertEqual([(r["seed"], r["lr"], r["augment"], r["batch"]) for r in rows],
                         [(s, lr, a, b) for s in (1, 2) for lr in (0.01, 0.03) for a in self.PLANS for b in (4, 8)])
        self.assertEqual(rows[2]["variant"], "lr=0.01 augment=flip,translate=1")
        alone = self.gradus("train", *QUICK, "--optimizer", "sgd", "--lr", "0.03", "--augment", "flip,translate=1",
                            "--json").row()
        self.assertEqual(without_timings({k: v for k, v in rows[7].items() if k != "variant"}), without_timings(alone))
        self.assertIn("0 to run", self.gradus(*self.WORDS).err)
        self.assertEqual([row["variant"] for row in self.read_table("o")], [row["variant"] for row in rows])

    def test_a_control_without(self):
        """0 in a list is the run without the option."""
        words = [*GRID, "--batch", "4", "--optimizer", "sgd", "--seeds", "1"]
        self.gradus(*words, "--ema", "0,0.9", "--clip-norm", "0,0.01", "--warm-up", "0,1")
        rows = self.read_rows("o")
        self.assertEqual([(r["ema"], r["clip_norm"], r["warm_up"]) for r in rows],
                         [(e, c, w) for c in (None, 0.01) for w in (0, 1) for e in (None, 0.9)])
        self.assertEqual(len({r["test_loss"] for r in rows}), 8)
        self.assertEqual(self.read_table("o")[0]["ema"], "")
        plain = self.gradus("train", *QUICK, "--batch", "4", "--optimizer", "sgd", "--json").row()
        self.assertEqual(without_timings({k: v for k, v in rows[0].items() if k != "variant"}), without_timings(plain))

    def test_tables_tell_them_apart(self):
        text = self.gradus(*self.WORDS).out
        self.assertIn("lr=0.03 augment=none\nsgd ", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        lines = json.loads(self.gradus(*self.WORDS, "--json").out)["lines"]
        self.assertEqual([(line["variant"], line["batch"], line["done"]) for line in lines],
                         [(f"lr={lr} augment={a}", b, 2) for lr in (0.01, 0.03) for a in self.PLANS for b in (4, 8)])
        found = self.gradus("compare", "o", "--json").row()["comparisons"]
        self.assertEqual((len(found), found[0]["seeds"], found[0]["b"]["variant"]),
                         (6, 2, "lr=0.01 augment=flip,translate=1"))
        self.assertEqual(self.gradus(*self.WORDS, "--dry-run").out.count("lr=0.03 augment=none"), 4)

    def test_lists_may_grow_and_be_merged(self):
        words = [*GRID, "--batch", "4", "--optimizer", "sgd", "--seeds", "1", "--precision"]
        self.gradus(*words, "fp32,bf16", "--out", "a")
        self.assertIn("1 to run", self.gradus(*words, "fp32,bf16,fp16", "--out", "a").err)
        self.gradus(*words, "fp32,fp16", "--out", "b")
        self.gradus("sweep", "merge", "b", "a", "--out", "m")
        self.assertEqual([r["precision"] for r in self.read_rows("m")], ["fp32", "fp16", "bf16"])
        self.assertEqual(sorted(r["variant"] for r in self.read_table("m")),
                         ["precision=bf16", "precision=fp16", "precision=fp32"])
        self.refused(2, *words, "fp32", "--out", "a", names=['precision was "varies", now it is "fp32"'])

    def test_a_list_of_updates_is_merged(self):
        """The sweep's table has no word on epochs, which are none of its runs'; that of the merged one had it."""
        self.gradus("sweep", "mnist-mlp", "--procedural", "--batch", "100", "--optimizer", "sgd", "--seeds", "1",
                    "--updates", "2,4", "--out", "o")
        merged = self.gradus("sweep", "merge", "o", "--out", "m")
        self.assertEqual(merged.out, (self.folder / "o/table.txt").read_text())

    def test_the_order_of_lists_says_nothing(self):
        """Neither for a folder, nor for shards that were typed in two orders, nor for rows of earlier versions."""
        words = [*GRID, "--batch", "4", "--optimizer", "sgd", "--seeds", "1"]
        lists = ["--lr", "0.01,0.03", "--precision", "fp32,bf16"]
        swapped = lists[2:] + lists[:2]
        self.gradus(*words, *lists)
        self.assertIn("0 to run", self.gradus(*words, *swapped).err)
        self.gradus(*words, *lists, "--shard", "1/2", "--out", "a")
        self.gradus(*words, *swapped, "--shard", "2/2", "--out", "b")
        rows = self.read_rows("b")
        self.write_rows("b", [{**r, "variant": " ".join(reversed(r["variant"].split()))} for r in rows])
        self.assertEqual([r["variant"][:9] for r in self.read_rows("b")], ["precision"] * 2)
        self.assertNotIn("not run", self.gradus("sweep", "merge", "a", "b", "--out", "m").out)
        self.assertEqual(sorted(r["variant"] for r in self.read_table("m")),
                         sorted(r["variant"] for r in self.read_rows("o")))
        self.assertIn("2 to run", self.gradus(*words, *lists, "--out", "b").err)

    def test_a_value_with_blanks(self):
        model = pathlib.Path(__file__).parents[2] / "examples/models/cifar10-cnn.txt"
        for name in ("my net.txt", "other one.txt"):
            shutil.copy(model, self.folder / name)
        words = [*GRID, "--batch", "4", "--optimizer", "sgd", "--seeds", "1", "--lr", "0.01,0.03",
                 "--model", "my net.txt,other one.txt"]
        self.gradus(*words)
        self.gradus("report", "o")
        self.gradus("sweep", "merge", "o", "--out", "m")
        self.assertEqual([r["variant"] for r in self.read_table("m")],
                         [f"lr={lr} model={name}" for lr in (0.01, 0.03) for name in ("my net.txt", "other one.txt")])

    def test_a_model_of_a_list_that_has_changed(self):
        """Its rows are of another network: they do not stand for the cells of now. A model more is no change."""
        model = (pathlib.Path(__file__).parents[2] / "examples/models/cifar10-cnn.txt").read_text()
        for name in ("a.txt", "b.txt", "c.txt"):
            (self.folder / name).write_text(model)
        words = [*GRID, "--batch", "4", "--optimizer", "sgd", "--seeds", "1", "--model"]
        self.gradus(*words, "a.txt,b.txt")
        self.assertIn("1 to run", self.gradus(*words, "b.txt,c.txt").err)
        (self.folder / "b.txt").write_text(model + "# another text\n")
        for more in ((), ("--dry-run",)):
            self.refused(2, *words, "a.txt,b.txt", *more, names=["o holds runs of b.txt", "--out"])
        self.assertIn("0 to run", self.gradus(*words, "a.txt,c.txt").err)

    def test_networks_of_one_name_are_not_merged(self):
        """Shards of which one ran after the model's file was changed; also where the first is in the folder already."""
        model = (pathlib.Path(__file__).parents[2] / "examples/models/cifar10-cnn.txt").read_text()
        words = [*GRID, "--batch", "4", "--optimizer", "sgd", "--seeds", "1", "--model", "a.txt,b.txt"]
        for shard in (1, 2, 3):
            for name in ("a.txt", "b.txt"):
                (self.folder / name).write_text(model + "# another text\n" * (shard == 2 and name == "b.txt"))
            self.gradus(*words, "--out", f"s{shard}")
        told = "hold runs of two networks that are both called b.txt"
        self.refused(2, "sweep", "merge", "s1", "s3", "s2", "--out", "m", names=[f"s1 and s2 {told}"])
        self.gradus("sweep", "merge", "s3", "s1", "--out", "m")
        before = (self.folder / "m/results.jsonl").read_text()
        self.refused(2, "sweep", "merge", "s2", "--out", "m", names=[f"s2 and m {told}"])
        self.assertEqual((self.folder / "m/results.jsonl").read_text(), before)
        self.gradus("compare", "s1", "s2")

    def test_refusals(self):
        for words, names in ((["--lr", "0.01,0.01"], ["--lr", "twice"]), (["--lr", "0.01,,2"], ["--lr"]),
                             (["--lr", "0.01,x"], ["--lr", "x"]), (["--precision", "fp32,bf17"], ["bf17"]),
                             (["--resize", "16,32"], ["--resize"]), (["--lr", "1,2", "--lr", "3,4"], ["second list"]),
                             (["--lr", "1,2", "--lr", "3"], ["--lr", '"3" is given beside its list']),
                             (["--lr", ",".join(map(str, range(1, 20)))], ["one too many"]),
                             (["--lr-schedule", "cosine,steps", "--lr-min", "0.1"], ["--lr-min"])):
            with self.subTest(words):
                self.refused(2, *SMALL, *words, names=names)


class Shards(Case):
    def test_shards_make_the_whole(self):
        self.gradus(*SMALL, "--seeds", "2")
        for i in (1, 2, 3):
            self.gradus(*SMALL, "--seeds", "2", "--out", f"s{i}", "--shard", f"{i}/3")
        self.assertEqual([len(self.read_rows(f"s{i}")) for i in (1, 2, 3)], [3, 3, 2])
        merged = self.gradus("sweep", "merge", "s1", "s2", "s3", "--out", "m")
        by_cell = {cell(row): without_timings(row) for row in self.read_rows("o")}
        self.assertEqual({cell(row): without_timings(row) for row in self.read_rows("m")}, by_cell)
        self.assertEqual((self.folder / "m/sweep.json").read_text(), (self.folder / "o/sweep.json").read_text())
        self.assertEqual([cell(row) for row in self.read_table("m")], [cell(row) for row in self.read_table("o")])
        self.assertEqual(merged.out, (self.folder / "m/table.txt").read_text())
        self.assertIn("0 to run", self.gradus(*SMALL, "--seeds", "2", "--out", "m").err)
        before = (self.folder / "m/results.jsonl").read_text()
        self.gradus("sweep", "merge", "s1", "o", "--out", "m")
        self.assertEqual((self.folder / "m/results.jsonl").read_text(), before)

    def test_what_is_done_goes_before_what_failed(self):
        self.gradus(*SMALL)
        rows = self.read_rows("o")
        (self.folder / "bad").mkdir()
        (self.folder / "bad/sweep.json").write_text((self.folder / "o/sweep.json").read_text())
        self.write_rows("bad", [{**row, "state": "failed"} for row in rows])
        self.gradus("sweep", "merge", "bad", "--out", "m", expect=1)
        self.gradus("sweep", "merge", "o", "--out", "m")
        self.assertEqual([r["state"] for r in self.read_rows("m")], ["failed"] * 4 + ["done"] * 4)

    def test_what_failed_is_merged_once(self):
        """scripts/slurm_sweep.py merges every ten seconds."""
        self.gradus(*SMALL)
        rows = self.read_rows("o")
        states = ["failed", "timed out", "stopped", "done"]
        self.write_rows("o", [{**row, "state": state} for row, state in zip(rows, states, strict=True)])
        for _ in range(3):
            self.gradus("sweep", "merge", "o", "--out", "m", expect=1)
            self.assertEqual([r["state"] for r in self.read_rows("m")], states)
        self.write_rows("o", [{**row, "state": state, "seconds": 9} for row, state in zip(rows, states)])
        self.gradus("sweep", "merge", "o", "--out", "m", expect=1)
        self.assertEqual([r["state"] for r in self.read_rows("m")], states + states[:3])

    def test_refusals(self):
        self.gradus(*SMALL)
        self.gradus(*SMALL, "--lr", "0.5", "--out", "p")
        self.refused(2, "sweep", "merge", "o", names=["--out"])
        self.refused(2, "sweep", "merge", "--out", "m", names=["which folders?"])
        self.refused(3, "sweep", "merge", "nowhere", "--out", "m", names=["nowhere/sweep.json"])
        self.refused(2, "sweep", "merge", "o", "p", "--out", "m",
                     names=["o and p are sweeps with different settings: lr in o is not set, in p 0.5"])
        self.assertFalse((self.folder / "m").exists())
        self.gradus("sweep", "merge", "o", "--out", "m")
        self.refused(2, "sweep", "merge", "p", "--out", "m", names=["lr was not set, now it is 0.5"])
        for word in ("0/3", "4/3", "3", "1/0", "a/b"):
            self.refused(2, *SMALL, "--shard", word, names=["--shard", "1/3"])

    def test_dry_run(self):
        text = self.refused_nothing(*SMALL, "--dry-run").out
        self.assertEqual(text.count("QUEUED"), 4)
        self.assertIn("4 cells, 4 to run", text)
        self.gradus(*SMALL)
        rows = self.read_rows("o")
        for row, state in zip(rows, ("done", "failed", "out of memory", "numbers went bad")):
            row["state"] = state
        self.write_rows("o", rows)
        text = self.refused_nothing(*SMALL, "--seeds", "2", "--dry-run").out
        states = [line.split()[-1] for line in text.splitlines()[1:-1]]
        self.assertEqual(states, ["DONE", "FAILED", "OOM", "DIVERGED", *["QUEUED"] * 4])
        self.assertIn("8 cells, 5 to run", text)
        self.assertIn("1 cell, 0 to run", self.gradus(*SMALL, "--dry-run", "--shard", "1/4").out)
        self.refused(2, *SMALL, "--lr", "7", "--dry-run", names=["lr was not set, now it is 7"])

    def refused_nothing(self, *words):
        def contents():
            return {f: (self.folder / f).read_bytes() for f in self.files() if (self.folder / f).is_file()}

        before = contents()
        result = self.gradus(*words)
        self.assertEqual(contents(), before)
        return result


class Status(Case):
    ENDLESS = [*GRID, "--updates", "1000000", "--batch", "1", "--optimizer", "sgd", "--seeds", "1"]

    def status(self):
        return json.loads((self.folder / "o/status.json").read_text())

    def state_of_the_cell(self, *words):
        return self.gradus(*self.ENDLESS, *words, "--dry-run").out.splitlines()[1].split()[-1]

    def test_running_and_interrupted(self):
        process = self.start(*self.ENDLESS)
        wait_for(lambda: cells_of(process) and (self.folder / "o/status.json").exists())
        status = self.status()
        self.assertEqual((status["state"], status["pid"], [c["cell"] for c in status["at_work"]]),
                         ("RUNNING", process.pid, ["sgd, batch 1, seed 1"]))
        self.assertRegex(status["heartbeat"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(self.state_of_the_cell(), "RUNNING")
        process.kill()
        process.communicate()
        self.assertEqual(self.state_of_the_cell(), "INTERRUPTED")
        (self.folder / "o/results.jsonl").unlink()  # as one has it that was killed behind the first of its files
        self.assertEqual(self.state_of_the_cell(), "INTERRUPTED")

    def test_it_tells_how_a_sweep_ended(self):
        self.gradus(*SMALL)
        self.assertEqual([self.status()[k] for k in ("state", "finished", "cells", "at_work")], ["DONE", 4, 4, []])
        process = self.start(*self.ENDLESS, "--out", "p")
        wait_for(lambda: cells_of(process))
        self.assertEqual(stop(process)[0], 75)
        self.assertEqual(json.loads((self.folder / "p/status.json").read_text())["state"], "STOPPED")

    def test_a_cell_that_takes_too_long(self):
        result = self.gradus(*self.ENDLESS, "--time-limit", "1")
        row, = self.read_rows("o")
        self.assertEqual((row["state"], row["time_limit"]), ("timed out", 1))
        self.assertEqual([k for k in row if k in ROW_KEYS], ROW_KEYS)
        self.assertIn("1 timed out", result.out)
        self.assertEqual(self.state_of_the_cell("--time-limit", "1"), "TIMED_OUT")
        self.assertIn("0 to run", self.gradus(*self.ENDLESS, "--time-limit", "1").err)
        self.assertEqual(self.state_of_the_cell("--time-limit", "9"), "QUEUED")  # scripts/slurm_sweep.py goes by that
        self.assertIn("1 cell, 1 to run", self.gradus(*self.ENDLESS, "--time-limit", "9", "--dry-run").out)
        self.assertIn("1 cell, 1 to run", self.gradus(*self.ENDLESS, "--dry-run").out)


class Trouble(Case):
    def test_out_of_memory_is_a_result(self):
        words = [*GRID, "--batch", "4,512", "--optimizer", "sgd", "--seeds", "1", "--memory-limit", "4M"]
        result = self.gradus(*words)
        rows = self.read_rows("o")
        self.assertEqual([r["state"] for r in rows], ["done", "out of memory"])
        self.assertEqual(list(rows[1])[:len(ROW_KEYS)], ROW_KEYS)
        self.assertIn("memory", rows[1]["error"])
        self.assertIn("1 out of memory", result.out)
        self.assertIn("0 to run", self.gradus(*words).err)

    def test_numbers_that_go_bad_are_a_result(self):
        result = self.gradus(*LONGER, "--batch", "4", "--optimizer", "sgd", "--seeds", "1", "--lr", "1e30")
        self.assertEqual([r["state"] for r in self.read_rows("o")], ["numbers went bad"])
        self.assertIn("1 numbers went bad", result.out)

    def test_numbers_that_only_the_test_shows_as_bad(self):
        """Those of the last update: such cells were done, and their accuracies stood in means and comparisons."""
        words = ["sweep", "cifar10-cnn", "--procedural", "--updates", "1", "--out", "o", "--batch", "4", "--seeds", "2",
                 "--optimizer", "sgd", "--lr", "0.01,1e30"]
        result = self.gradus(*words)
        self.assertEqual(sorted(r["state"] for r in self.read_rows("o")), ["done"] * 2 + ["numbers went bad"] * 2)
        self.assertIn("the numbers of 2 cells went bad", result.err)
        self.assertIn("--clip-norm", result.err)
        self.assertEqual(self.gradus(*words, "--dry-run").out.count("DIVERGED"), 2)
        self.assertIn("0 to run", self.gradus(*words).err)
        compared = self.gradus("compare", "o")
        self.assertIn("o, sgd lr=1e30: the numbers of 2 runs went bad; they are left out\n", compared.out)
        self.assertEqual([c["verdict"] for c in self.gradus("compare", "o", "--json").row()["comparisons"]],
                         ["no interval"])
        self.gradus("report", "o")
        self.assertIn("whose numbers went bad (2)", (self.folder / "o/report.html").read_text())

    def test_no_picture_of_nothing(self):
        words = [*LONGER, "--batch", "4", "--optimizer", "sgd", "--seeds", "1", "--lr", "1e30"]
        del self.environment["PYTHON"]
        self.assertNotIn("picture:", self.gradus(*words).err)

    def test_a_cell_that_is_killed_fails_alone(self):
        words = [*LONGER, "--batch", "4,8", "--optimizer", "sgd", "--seeds", "1"]
        process = self.start(*words)
        wait_for(lambda: cells_of(process))
        os.kill(cells_of(process)[0], signal.SIGKILL)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        rows = self.read_rows("o")
        self.assertEqual([r["state"] for r in rows], ["failed", "done"])
        self.assertEqual(list(rows[0])[:len(ROW_KEYS)], ROW_KEYS)
        self.assertIn("signal 9", rows[0]["error"])
        self.assertIn("1 failed", out)
        self.assertIn("1 cell failed", err)
        self.gradus(*words)
        self.assertEqual([r["state"] for r in self.read_rows("o")], ["failed", "done", "done"])


if __name__ == "__main__":
    unittest.main()
