"""gradus train --runs, --target-accuracy, --tta: several seeds and their mean, time to an accuracy, views of the test
part."""

import json
import math
import signal
import unittest

from cli import TIMINGS, Case, stop, wait_for, without_timings

USAGE, STOPPED = 2, 75
T_975 = {1: 12.7062047362, 2: 4.3026527299}  # of Student's t, by degrees of freedom
RUN = ["train", "mnist-mlp", "--procedural", "--batch", 200, "--optimizer", "sgd"]


class Views(Case):
    def test_they_are_those_of_evaluate(self):
        seen = set()
        for seed, (views, words) in enumerate((("flip", ["--flip"]), ("shift=2", ["--shift", 2]),
                                               ("flip,shift=1", ["--flip", "--shift", 1])), start=1):
            row = self.gradus(*RUN, "--updates", 2, "--seed", seed, "--tta", views, "--save-weights", "w",
                              "--json").row()
            told = self.gradus("evaluate", "w", "--procedural", *words, "--json").row()
            self.assertEqual((row["tta"], row["tta_accuracy"]), (views, told["accuracy"]))
            plain = self.gradus("evaluate", "w", "--procedural", "--json").row()
            self.assertEqual(row["test_accuracy"], plain["accuracy"])
            seen.add(row["tta_accuracy"] == row["test_accuracy"])
        self.assertIn(False, seen)  # else nothing was looked at

    def test_they_take_averaged_weights(self):
        row = self.gradus(*RUN, "--updates", 4, "--ema", 0.9, "--tta", "flip,shift=1", "--save-weights", "w",
                          "--json").row()
        told = self.gradus("evaluate", "w", "--procedural", "--flip", "--shift", 1, "--json").row()
        self.assertEqual(row["tta_accuracy"], told["accuracy"])

    def test_views_in_half_precision(self):
        """The logits are halves there: read as floats they would say nothing."""
        for precision in ("bf16", "fp16"):
            row = self.gradus(*RUN, "--epochs", 2, "--precision", precision, "--tta", "flip", "--json").row()
            self.assertGreater(row["test_accuracy"], 0.4)
            self.assertLess(abs(row["tta_accuracy"] - row["test_accuracy"]), 0.15)

    def test_views_in_doubles(self):
        plain, double = (self.gradus(*RUN, "--updates", 2, "--tta", "flip", "--device", device, "--json").row()
                         for device in ("cpu", "ref"))
        self.assertAlmostEqual(plain["tta_accuracy"], double["tta_accuracy"], delta=0.011)

    def test_they_change_nothing_else(self):
        plain = self.gradus(*RUN, "--updates", 2, "--json").row()
        self.assertEqual((plain["tta"], plain["tta_accuracy"]), (None, None))
        with_views = self.gradus(*RUN, "--updates", 2, "--tta", "flip", "--micro-batch", 50, "--shards", 2, "--ranks",
                                 2, "--json").row()
        self.assertAlmostEqual(with_views["train_loss"], plain["train_loss"], places=5)
        self.assertIsNotNone(with_views["tta_accuracy"])
        text = self.gradus(*RUN, "--updates", 2, "--tta", "flip,shift=1").out
        self.assertRegex(text, r"\n  6 views     accuracy +[0-9.]+ %  \(of each test picture: standard error")

    def test_recipes_have_theirs(self):
        (self.folder / "net").write_text("flatten\ndense classes\n")  # quicker than the recipe's own
        words = ["train", "cifar10-94", "--procedural", "--model", "net", "--batch", 50, "--updates", 2, "--json"]
        row = self.gradus(*words).row()
        self.assertEqual((row["tta"], row["target_accuracy"]), ("flip,shift=1", 0.94))
        self.assertTrue(0 <= row["tta_accuracy"] <= 1)
        bare = self.gradus(*words, "--no-evaluation").row()
        self.assertEqual((bare["tta_accuracy"], bare["seconds_to_target"]), (None, None))

    def test_mistakes(self):
        for views in ("flips", "shift", "shift=0", "shift=65", "flip,flip", "shift=1,shift=2", "flip,", "none,flip"):
            self.refused(USAGE, *RUN, "--tta", views, names=["such as flip,shift=1", f'"{views}"'])
        self.refused(USAGE, "train", "keras-mlp", "--tta", "flip", names=["for pictures"])
        self.refused(USAGE, *RUN, "--tta", "flip", "--augment", "resize=40,crop=28", names=["--tta none"])
        self.refused(USAGE, *RUN, "--tta", "flip", "--no-evaluation", names=["exclude each other"])


class Target(Case):
    def test_the_first_epoch_that_reached_it(self):
        words = [*RUN, "--epochs", 6, "--seed", 2, "--json", "--target-accuracy"]
        early = self.gradus(*words, 1).row()
        accuracies = [epoch["test_accuracy"] for epoch in early["history"]]
        self.assertEqual(early["seconds_to_target"], early["history"][0]["seconds"])
        target = max(accuracies[:5])
        at = accuracies.index(target)
        self.assertGreater(at, 0)  # else any epoch would do
        late = self.gradus(*words, 100 * target).row()
        self.assertEqual([epoch["test_accuracy"] for epoch in late["history"]], accuracies)
        self.assertEqual(late["seconds_to_target"], late["history"][at]["seconds"])
        self.assertLess(late["seconds_to_target"], late["seconds"])
        self.assertEqual(late["epochs"], 6)
        missed = self.gradus(*words, 100).row()
        self.assertEqual((missed["target_accuracy"], missed["seconds_to_target"]), (1, None))

    def test_at_the_end_by_all_views(self):
        for seed in range(1, 30):
            row = self.gradus(*RUN, "--epochs", 1, "--seed", seed, "--tta", "flip,shift=1", "--json").row()
            if row["tta_accuracy"] > row["test_accuracy"]:
                break
        target = 50 * (row["tta_accuracy"] + row["test_accuracy"])
        words = [*RUN, "--epochs", 1, "--seed", seed, "--target-accuracy", target]
        self.assertIsNone(self.gradus(*words, "--json").row()["seconds_to_target"])
        reached = self.gradus(*words, "--tta", "flip,shift=1", "--json").row()
        self.assertEqual(reached["seconds_to_target"], reached["seconds"])
        self.assertRegex(self.gradus(*words, "--tta", "flip,shift=1").out,
                         r"\n  target      [0-9.]+ % after [0-9.]+ s of training \(evaluation, [0-9.]+ s, is not coun")
        self.assertIn("% was not reached\n", self.gradus(*words).out)

    def test_a_sweep_has_it_in_its_rows(self):
        self.gradus("sweep", "mnist-mlp", "--procedural", "--batch", "100,200", "--optimizer", "sgd", "--seeds", 1,
                    "--epochs", 2, "--target-accuracy", 1, "--tta", "flip,shift=1", "--out", "o")
        for row in self.read_rows("o"):
            self.assertEqual(row["seconds_to_target"], row["history"][0]["seconds"])
            self.assertIsNotNone(row["tta_accuracy"])
        self.assertEqual({row["tta"] for row in self.read_table("o")}, {"flip,shift=1"})

    def test_mistakes(self):
        for percent in (0.94, 101):
            self.refused(USAGE, *RUN, "--target-accuracy", percent, names=["in percent", "such as 94"])
        self.refused(USAGE, *RUN, "--target-accuracy", 94, "--no-evaluation", names=["exclude each other"])


class Runs(Case):
    WORDS = [*RUN, "--epochs", 2, "--tta", "flip,shift=1"]

    def same(self, a, b):
        for key in a.keys() - TIMINGS - {"peak_bytes"}:
            if key != "history":
                self.assertEqual(a[key], b[key], key)

    def test_one_run(self):
        self.assertIn(", batch size 200: 1 run\n", self.gradus(*RUN, "--updates", 1, "--runs", 1).out)

    def test_they_are_single_runs_and_their_mean(self):
        single = [self.gradus(*self.WORDS, "--seed", seed, "--json").row() for seed in (5, 6, 7)]
        accuracies = [row["test_accuracy"] for row in single]
        middle = sorted(accuracies)[1]
        words = [*self.WORDS, "--seed", 5, "--runs", 3, "--target-accuracy", 100 * middle]
        result = self.gradus(*words, "--json")
        self.assertEqual(result.out.count("\n"), 1)
        self.assertIn("run 2 of 3: seed 6\n", result.err)
        told = result.row()
        for one, row in zip(single, told["rows"], strict=True):
            self.same({**one, "target_accuracy": row["target_accuracy"]}, row)
        self.assertEqual((told["recipe"], told["data"], told["runs"], told["done"]), ("mnist-mlp", "procedural", 3, 3))
        for mean, half, key in (("test_accuracy", "half_width_95", "test_accuracy"),
                                ("tta_accuracy", "tta_half_width_95", "tta_accuracy")):
            values = [row[key] for row in told["rows"]]
            centre = sum(values) / 3
            deviation = math.sqrt(sum((v - centre)**2 for v in values) / 2)
            self.assertAlmostEqual(told[mean], centre)
            self.assertAlmostEqual(told[half], T_975[2] * deviation / math.sqrt(3))
            self.assertGreater(told[half], 0)
        times = [row["seconds_to_target"] for row in told["rows"] if row["seconds_to_target"] is not None]
        self.assertEqual(told["reached"], len(times))
        self.assertTrue(0 < len(times))
        self.assertAlmostEqual(told["seconds_to_target"], sum(times) / len(times))
        self.assertAlmostEqual(told["seconds"], sum(row["seconds"] for row in told["rows"]) / 3)

    def test_a_line_for_each_and_what_they_say_together(self):
        text = self.gradus(*self.WORDS, "--runs", 2, "--target-accuracy", 1).out
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        told = self.gradus(*self.WORDS, "--runs", 2, "--target-accuracy", 1, "--json").row()
        rows = told["rows"]
        self.assertIn("mnist-mlp on procedural, sgd lr 0.01, batch size 200: 2 runs\n", text)
        self.assertRegex(text, r"\n +seed +test +6 views +training +to 1 %\n")
        for row in rows:
            self.assertRegex(text, rf"\n +{row['seed']} +{100 * row['test_accuracy']:.1f} % "
                                   rf"+{100 * row['tta_accuracy']:.1f} % +[0-9.]+ s +[0-9.]+ s\n")
        half = T_975[1] * abs(rows[0]["test_accuracy"] - rows[1]["test_accuracy"]) / 2
        self.assertIn("\nMean of 2 runs\n", text)
        self.assertIn(f"\ntest        {100 * told['test_accuracy']:.1f} % +- {100 * half:.1f}, deviation ", text)
        self.assertRegex(text, r"\n1 %         reached by 2 of 2, after [0-9.]+ s of training in their mean\n")
        alone = self.gradus(*self.WORDS, "--runs", 1)
        self.assertIn("\nMean of 1 run\n", alone.out)
        self.assertNotIn("+-", alone.out)

    def test_runs_that_went_bad_are_told_and_left_out(self):
        words = [*RUN, "--updates", 80, "--lr", 1e30, "--runs", 2]
        told = self.gradus(*words, "--json", expect=6).row()
        self.assertEqual([row["state"] for row in told["rows"]], ["numbers went bad"] * 2)
        self.assertEqual((told["done"], told["test_accuracy"], told["reached"]), (0, None, None))
        text = self.gradus(*words, expect=6).out
        self.assertEqual(text.count("numbers went bad\n"), 2)
        self.assertNotIn("Mean", text)

    def test_stopped_and_gone_on_with(self):
        words = ["train", "mnist-mlp", "--procedural", "--batch", 4, "--epochs", 3, "--seed", 2, "--json",
                 "--target-accuracy", 60, "--runs"]
        whole = self.gradus(*words, 3).row()
        process = self.start(*words, 3, "--checkpoint", "c")
        wait_for(lambda: list(self.folder.glob("c/seed-3/checkpoint-*.safetensors")) or process.poll() is not None)
        code, out, err = stop(process, signal.SIGINT)
        self.assertEqual(code, STOPPED, err)
        self.assertIn("the same command with --resume goes on", err)
        self.assertEqual([row["state"] for row in json.loads(out)["rows"]], ["done", "stopped"])
        rest = self.gradus(*words, 3, "--checkpoint", "c", "--resume")
        self.assertIn("goes on from c/seed-3/checkpoint-", rest.err)
        self.assertEqual(rest.row()["done"], 3)
        for one, other in zip(whole["rows"], rest.row()["rows"], strict=True):
            self.assertEqual(*({k: v for k, v in without_timings(row).items()
                                if k != "peak_bytes"} for row in (one, other)))
        again = self.gradus(*words, 4, "--checkpoint", "c", "--resume").row()  # one more
        self.assertEqual([row["seed"] for row in again["rows"]], [2, 3, 4, 5])
        self.assertEqual(again["rows"][0]["seconds_to_target"], rest.row()["rows"][0]["seconds_to_target"])

    def test_mistakes(self):
        for words, names in ((["--save-weights", "w"], ["--save-weights", "--seed N"]),
                             (["--log-updates", "l"], ["--log-updates"]), (["--time"], ["--time", "--json"]),
                             (["--usage"], ["--usage", "--json"]), (["--seed", 2**63 - 1], ["no 2 seeds"])):
            self.refused(USAGE, *RUN, "--updates", 1, "--runs", 2, *words, names=names)
        self.refused(USAGE, *RUN, "--runs", 2, names=["mpirun has started 2"], OMPI_COMM_WORLD_SIZE="2")
        row = self.gradus(*RUN, "--updates", 2, "--runs", 1, "--time", "--json").row()
        self.assertIn("time", row["rows"][0])


if __name__ == "__main__":
    unittest.main()
