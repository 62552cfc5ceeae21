"""gradus sweep: the grid, its files, going on where it stopped, and cells that go wrong."""

import fcntl
import json
import math
import os
import pathlib
import signal
import unittest

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
        result = self.gradus(*SMALL, "--seeds", "2", PYTHON="no-such-python")
        rows = self.read_rows("o")
        self.assertEqual([cell(r) for r in rows], [(o, b, s) for s in (1, 2) for o in ("sgd", "adam") for b in (4, 8)])
        for row in rows:
            self.assertEqual(list(row), ROW_KEYS + ["sweep", "check"])
            self.assertEqual((row["state"], row["updates"], row["data"]), ("done", 2, "procedural"))
        self.assertIn("8 to run", result.err.splitlines()[0])
        self.assertRegex(result.err.splitlines()[1], r"^expected time: about .*tried out$")
        self.assertEqual(self.files(), ["o"] + [f"o/{name}" for name in ("results.csv", "results.jsonl", "summary.csv",
                                                                         "sweep.json", "sweep.lock", "table.txt")])
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


class CommandLine(Case):
    def test_every_option_may_be_given(self):
        """As many words as a cell has room for: none of them is lost, and the cell is not."""
        more = ("--lr 0.01 --micro-batch 4 --clip-norm 5 --lr-schedule triangular --lr-min 1e-5 --lr-every 3 "
                "--warm-up 1 --lr-rule sqrt --base-batch 16 --last-batch wrap --split-seed 3 --resize 32 "
                "--augment flip --device cpu --precision fp32 --memory-limit 1G --threads 1 --workers 1 --prefetch 3 "
                "--preload ram --preload-limit 1G --decay-weights-only --no-fusion --no-graph --no-shuffle "
                "--sharpness 1e-3 --momentum 0.9 --nesterov --weight-decay 1e-4").split()
        self.gradus(*GRID, "--batch", 8, "--optimizer", "sgd", "--seeds", 1, *more)
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
