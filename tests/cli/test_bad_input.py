"""Bad input: the documented exit code, a message that names the thing, and nothing left behind."""

import gzip
import json
import os
import pathlib
import signal
import subprocess
import unittest

from cli import GRADUS, QUICK, Case, pictures, stop, wait_for

USAGE, BAD_DATA, NO_MEMORY, IO_ERROR, NUMERIC = 2, 3, 4, 5, 6


class Options(Case):
    def test_numbers(self):
        for option, values in {"--batch": ["0", "-1", "x", "", "1.5", "8x", " 8", "1e3", "99999999999999999999"],
                               "--lr": ["nan", "inf", "-0.1", "0", "x", "", "0.1x"],
                               "--momentum": ["-0.1", "1", "nan", "x"],
                               "--weight-decay": ["-1", "inf", ""],
                               "--lr-every": ["0", "x"],
                               "--lr-gamma": ["0", "-1"],
                               "--resize": ["0", "-1", "5000", "x"],
                               "--adam-epsilon": ["nan", "0", "-1"],
                               "--epochs": ["0", "-1", "many"],
                               "--updates": ["0", "-5"],
                               "--threads": ["0", "-1", "two"],
                               "--seed": ["-1", "x"],
                               "--memory-limit": ["0", "-1", "lots", "5X", "nan", "1GB"]}.items():
            for value in values:
                with self.subTest(f"{option} {value!r}"):
                    self.refused(USAGE, "train", "cifar10-cnn", "--optimizer", "adam" if "adam" in option else "sgd",
                                 "--procedural", option, value, names=[option])

    def test_lists_where_one_value_is_wanted(self):
        for option, values in (("--batch", "16,32"), ("--lr", "0.1,0.2"), ("--optimizer", "sgd,adam"),
                               ("--seed", "1,2")):
            self.refused(USAGE, "train", "cifar10-cnn", option, values, names=[option, values, "'gradus sweep'"])
        self.refused(USAGE, "sweep", "cifar10-cnn", "--seeds", "1,2", names=['--seeds "1,2"', "takes no list"])

    def test_names(self):
        for words, name in ((["no-such-recipe"], "no-such-recipe"), ([], "recipe"),
                            (["cifar10-cnn", "--frobnicate"], "--frobnicate"), (["cifar10-cnn", "-x"], "-x"),
                            (["cifar10-cnn", "cats-vs-dogs"], "cats-vs-dogs"),
                            (["cifar10-cnn", "--optimizer", "rmsprop"], "rmsprop"),
                            (["cifar10-cnn", "--device", "cuda"], "cuda"),
                            (["cifar10-cnn", "--adam-form", "tf"], "--adam-form"),
                            (["cifar10-cnn", "--batch"], "--batch"), (["cifar10-cnn", "--json=1"], "--json")):
            with self.subTest(words):
                self.refused(USAGE, "train", *words, names=[name])

    def test_a_word_too_many(self):
        for words, names in ((["train", "cifar10-cnn", "cats-vs-dogs"], ['RECIPE is "cifar10-cnn" already']),
                             (["evaluate", "w.st", "photos"], ['"photos": WEIGHTS is "w.st" already', "options"]),
                             (["predict", *["x.png"] * 5000], ["one too many; 4097 are taken"])):
            with self.subTest(words[0]):
                self.refused(USAGE, *words, names=names)

    def test_a_folder_whose_name_begins_with_a_dash(self):
        (self.folder / "-o").mkdir()
        self.refused(USAGE, "report", "-o", names=["no option -o;", "that name is ./-o"])
        self.assertNotIn("./", self.refused(USAGE, "report", "-p", names=["no option -p;"]).err)

    def test_options_that_exclude_each_other(self):
        self.refused(USAGE, "train", *QUICK, "--epochs", 2, names=["--epochs", "--updates"])
        self.refused(USAGE, "train", *QUICK, "--data", ".", names=["--data", "--procedural"])
        self.refused(USAGE, "train", *QUICK, "--optimizer", "sgd", "--adam-form", "keras", names=["--adam-form"])
        for words, name in ((["--optimizer", "sgd", "--sam-rho", "0.1"], "--sam-rho"),
                            (["--lars-trust", "1"], "--lars-trust"),
                            (["--optimizer", "sam", "--prox-steps", "2"], "--prox-steps"),
                            (["--optimizer", "prox", "--weight-decay", "0.1"], "--weight-decay"),
                            (["--base-batch", "64"], "--base-batch"), (["--lr-min", "0.1"], "--lr-min"),
                            (["--accumulate", "2", "--micro-batch", "4"], "--micro-batch"),
                            (["--shards", "3"], "--shards"), (["--shards", "2", "--noise-scale"], "--noise-scale"),
                            (["--batch-schedule", "0:4"], "--batch-schedule")):
            with self.subTest(name):
                self.refused(USAGE, "train", *QUICK, *words, names=[name])
        for text in ("4", "1:4", "0:4,0:8", "0:0", "0:4,", "0:x"):
            with self.subTest(text):
                self.refused(USAGE, "train", "cifar10-cnn", "--procedural", "--epochs", 2, "--batch-schedule", text,
                             names=["--batch-schedule", "0:64,30:320"])
        self.refused(USAGE, "train", *QUICK, "--optimizer", "adam", "--momentum", "0.9", names=["--momentum"])
        self.refused(USAGE, "train", *QUICK, "--optimizer", "sgd", "--nesterov", "--momentum", "0",
                     names=["--nesterov"])
        self.refused(USAGE, "train", *QUICK, "--optimizer", "sgd", "--nesterov", names=["--nesterov", "--momentum"])
        self.refused(USAGE, "sweep", "cifar10-cnn", "--procedural", "--optimizer", "sgd", "--nesterov", "--out", "o",
                     names=["--nesterov", "--momentum"])
        self.refused(USAGE, "train", "keras-mlp", "--lr-schedule", "steps", "--lr-every", 1, "--lr-gamma", "1e300",
                     "--epochs", 3, names=["gamma 1e+300", "learning rate"])
        self.refused(USAGE, "train", *QUICK, "--lr-every", 3, names=["--lr-every", "steps"])
        self.refused(USAGE, "train", "keras-mlp", "--resize", 8, names=["--resize", "features"])

    def test_one_value_per_channel(self):
        self.refused(USAGE, "train", "resnet18-article", "--procedural", "--batch", 1,
                     names=["layer4.0.bn1", "one value per channel"])

    def test_batch_larger_than_the_set(self):
        self.refused(USAGE, "train", "cifar10-cnn", "--procedural", "--batch", 2001,
                     names=["a batch of 2001", "--batch 2000"])
        self.refused(USAGE, "sweep", "cifar10-cnn", "--procedural", "--batch", "8,2001", "--out", "o",
                     names=["a batch of 2001", "--batch 2000"])

    def test_instruction_set(self):
        self.refused(USAGE, "train", *QUICK, names=["GRADUS_CPU"], GRADUS_CPU="mmx")
        if " amx_bf16 " not in pathlib.Path("/proc/cpuinfo").read_text():
            self.refused(USAGE, "train", *QUICK, names=["GRADUS_CPU"], GRADUS_CPU="amx")

    def test_sweep_grid(self):
        for words, name in ((["--batch", "8,0"], '"0"'), (["--batch", "8,,16"], '""'), (["--batch", "8,8"], "twice"),
                            (["--batch", "x"], '"x"'), (["--optimizer", "sgd,sgd"], "twice"),
                            (["--seeds", "0"], "--seeds"), (["--seeds", "x"], "--seeds"), (["--seed", "1"], "--seed")):
            with self.subTest(words):
                self.refused(USAGE, "sweep", "cifar10-cnn", "--procedural", "--out", "o", *words, names=[name])


class Data(Case):
    def test_missing_folder(self):
        for recipe in ("cats-vs-dogs", "cifar10-cnn"):
            for command in (["train"], ["sweep", "--out", "o"]):
                with self.subTest((recipe, command)):
                    self.refused(BAD_DATA, *command, recipe, "--data", "no/such", names=["no/such", "get_data.sh"])

    def test_data_root_of_the_environment_and_by_default(self):
        self.refused(BAD_DATA, "train", "cifar10-cnn", names=["elsewhere"], GRADUS_DATA="elsewhere")
        self.refused(BAD_DATA, "train", "cifar10-cnn", names=["datasets"])

    def test_jpeg_decoder(self):
        """Whoever decodes files refuses a misspelt one; who does not, does not ask."""
        pictures(self.folder, 1)
        self.gradus("train", *QUICK, "--save-weights", "w.safetensors", GRADUS_JPEG="stb")
        for command in (["train", "cats-vs-dogs", "--data", "."], ["data", "check", "PetImages"],
                        ["predict", "w.safetensors", "PetImages/Cat/0.png"]):
            with self.subTest(command):
                self.refused(USAGE, *command, names=['GRADUS_JPEG is "stb"', "stb_image"], GRADUS_JPEG="stb")
        for name in ("", "stb_image"):
            self.refused(BAD_DATA, "train", "cats-vs-dogs", "--data", ".", names=["PetImages"], GRADUS_JPEG=name)

    def test_empty_folder(self):
        (self.folder / "d").mkdir()
        self.refused(BAD_DATA, "train", "cats-vs-dogs", "--data", "d", names=["d:", "PetImages"])
        self.refused(BAD_DATA, "train", "cifar10-cnn", "--data", "d", names=["d:", "cifar-10-batches-bin"])
        (self.folder / "d/PetImages/Cat").mkdir(parents=True)
        (self.folder / "d/PetImages/Dog").mkdir()
        self.refused(BAD_DATA, "train", "cats-vs-dogs", "--data", "d", names=["PetImages"])

    def test_too_few_pictures(self):
        pictures(self.folder, 30)
        self.refused(BAD_DATA, "train", "cats-vs-dogs", "--data", ".", names=["30"])

    def test_too_many_bad_pictures(self):
        pictures(self.folder, 1000)
        kinds = {"empty": b"", "text": b"this is no picture\n",
                 "truncated": bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffdb004300")}
        for kind, content in kinds.items():
            with self.subTest(kind):
                bad = [self.folder / f"PetImages/Cat/{1 + i}.jpg" for i in range(40)]
                for path in bad:
                    path.write_bytes(content)
                self.refused(BAD_DATA, "train", "cats-vs-dogs", "--data", ".", names=["1.jpg", "40"])
                for path in bad:
                    path.unlink()

    def test_truncated_cifar_file(self):
        folder = self.folder / "cifar-10-batches-bin"
        folder.mkdir()
        for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
            (folder / name).write_bytes(bytes(3073 * 5 + 100))
        self.refused(BAD_DATA, "train", "cifar10-cnn", "--data", ".", names=["data_batch_1.bin"])

    def test_archive_cut_short(self):
        whole = gzip.compress(os.urandom(100000))
        (self.folder / "cifar-10-binary.tar.gz").write_bytes(whole[:50000])
        self.refused(BAD_DATA, "train", "cifar10-cnn", "--data", ".", names=["cifar-10-binary.tar.gz"])
        self.refused(BAD_DATA, "train", "cifar10-cnn", "--data", "cifar-10-binary.tar.gz",
                     names=["cifar-10-binary.tar.gz"])


class Files(Case):
    def test_outputs_that_cannot_be_written(self):
        (self.folder / "taken").mkdir()
        os.mkfifo(self.folder / "pipe")  # to be replaced by a file as little as /dev/null is
        for option in ("--save-weights", "--log-updates"):
            for path in ("no/such/folder/f", "taken", "/proc/f", "pipe"):
                with self.subTest((option, path)):
                    self.refused(IO_ERROR, "train", *QUICK, option, path, names=[path])

    def test_two_outputs_of_one_name(self):
        words = ["train", *QUICK, "--save-weights"]
        for first, second in (("x", "x"), ("x", "./x"), ("x", self.folder / "x")):
            for option in ("--log-updates", "--checkpoint"):
                with self.subTest(second, option=option):
                    self.refused(USAGE, *words, first, option, second, names=["two outputs are to be", "x"])
        (self.folder / "d").mkdir()
        self.gradus(*words, "x", "--log-updates", "d/x")

    def test_sweep_folder_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        for path in ("/proc/sweep", "file", "file/below"):
            with self.subTest(path):
                told = [path] + ["file is a file"] * path.startswith("file")
                self.refused(IO_ERROR, "sweep", "cifar10-cnn", "--procedural", "--out", path, names=told)

    def test_full_standard_output(self):
        with open("/dev/full", "w") as full:
            process = subprocess.run([GRADUS, "train", *QUICK, "--json"], stdout=full, stderr=subprocess.PIPE,
                                     text=True, cwd=self.folder, env=self.environment)
        self.assertEqual(process.returncode, IO_ERROR)
        self.assertIn("standard output", process.stderr)

    def test_weights(self):
        self.refused(BAD_DATA, "train", *QUICK, "--init-weights", "none", names=["none"])
        self.refused(BAD_DATA, "sweep", "cifar10-cnn", "--procedural", "--init-weights", "none", "--out", "o",
                     names=["none"])
        self.gradus("train", *QUICK, "--save-weights", "good")
        whole = (self.folder / "good").read_bytes()
        damages = {"empty": b"", "short": whole[:len(whole) // 2], "long": whole + b"x", "text": b"weights\n" * 9,
                   "header": whole[:8] + b"[" + whole[9:]}
        for name, content in damages.items():
            with self.subTest(name):
                (self.folder / name).write_bytes(content)
                self.refused(BAD_DATA, "train", *QUICK, "--init-weights", name, "--save-weights", "out",
                             "--log-updates", "log", names=[name])

    def test_weights_of_another_network(self):
        header = b'{"conv1.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
        (self.folder / "other").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
        self.refused(BAD_DATA, "train", *QUICK, "--init-weights", "other", names=["other"])


class Run(Case):
    def test_memory_limit(self):
        for limit in ("1000", "1M"):
            with self.subTest(limit):
                self.refused(NO_MEMORY, "train", *QUICK, "--memory-limit", limit, "--save-weights", "w",
                             "--log-updates", "l", names=["memory"])
        row = self.gradus("train", *QUICK, "--memory-limit", "1M", "--json", expect=NO_MEMORY).row()
        self.assertEqual(row["state"], "out of memory")
        self.assertIsNone(row["test_accuracy"])
        self.assertIsNone(row["peak_bytes"])

    def test_numbers_that_go_bad(self):
        """What happened and what may help are told once; the losses and the checkpoints before it stay."""
        words = ["train", *QUICK, "--updates", 60, "--optimizer", "sgd", "--lr", "1e30"]
        told = self.refused(NUMERIC, *words, "--save-weights", "w",
                            names=["loss is not finite at update", "--lr below 1e+30, --warm-up, --clip-norm\n"])
        self.assertEqual(told.err.count("\n"), 2, told.err)
        told = self.gradus(*words, "--log-updates", "l", "--checkpoint", "c", "--checkpoint-every", 1, expect=NUMERIC)
        self.assertIn("; l has the losses before; c has the checkpoints before\n", told.err)
        losses = [json.loads(line)["loss"] for line in (self.folder / "l").read_text().splitlines()]
        self.assertEqual(len(losses), len(list((self.folder / "c").iterdir())))
        self.assertGreater(min(losses), 0)
        self.assertEqual(self.gradus(*words, "--json", expect=NUMERIC).row()["state"], "numbers went bad")

    def test_the_last_update_makes_numbers_bad(self):
        """Its loss is that of the weights before it; what it made of them only the test tells."""
        words = ["train", *QUICK, "--updates", 1, "--optimizer", "sgd", "--lr", "1e30"]
        for precision in ("fp32", "fp16"):
            with self.subTest(precision):
                more = ["--precision", precision, "--lr", "1e30" if precision == "fp32" else "1e5"]
                told = self.refused(NUMERIC, *words, *more, "--save-weights", "w", names=["loss of the test set"])
                self.assertEqual("--precision bf16 or fp32" in told.err, precision == "fp16")
                row = self.gradus(*words, *more, "--json", expect=NUMERIC).row()
                self.assertEqual(row["state"], "numbers went bad")
                self.assertEqual((row["test_loss"], row["test_accuracy"], row["test_confusion"]), (None, None, None))
                self.assertGreater(row["train_loss"], 0)

    def test_a_loss_that_is_finite_and_huge_is_told(self):
        words = ["train", *QUICK, "--updates", 20, "--no-evaluation", "--lr"]
        told = self.gradus(*words, 10).err
        self.assertRegex(told, r"loss of \S+ is far above that of guessing, 0\.69: the run has diverged; .* below 10,")
        self.assertNotIn("diverged", self.gradus(*words, 0.001).err)

    def test_a_loss_that_is_no_number_in_the_log(self):
        words = ["train", *QUICK, "--updates", 60, "--precision", "fp16", "--lr", "1e9", "--log-updates", "l"]
        self.gradus(*words, expect=NUMERIC)
        losses = [json.loads(line)["loss"] for line in (self.folder / "l").read_text().splitlines()]
        self.assertGreater(losses[0], 0)
        self.assertIsNone(losses[-1])

    def test_weights_whose_answers_are_no_numbers(self):
        words = [*QUICK, "--updates", 1, "--optimizer", "sgd", "--lr", "1e30", "--no-evaluation"]
        self.gradus("train", *words, "--save-weights", "w")
        self.refused(NUMERIC, "evaluate", "w", "--procedural", names=["400 of 400 samples is no number", "weights"])
        pictures(self.folder, 2)
        path = min(str(p.relative_to(self.folder)) for p in self.folder.rglob("*.png"))
        self.refused(NUMERIC, "predict", "w", path, names=[path, "no number"])


class Names(Case):
    """Names of files, classes and recipes that a terminal would act upon are written out."""

    def plain(self, text):
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\x9b", text)

    def test_in_complaints(self):
        self.plain(self.gradus("train", "a\x1b[31mb", expect=2).err)
        result = self.gradus("train", *QUICK, "--init-weights", "w\x1b]0;x\n\x9bgradus: all is well", expect=3)
        self.plain(result.err)
        self.assertIn("w\\x1b]0;x\\x0a\\xc2\\x9bgradus: all is well", result.err)
        self.assertEqual(result.err.count("\n"), 1)

    def test_of_files_and_classes(self):
        pictures(self.folder, 2)
        (self.folder / "PetImages/Cat/\x1b[2Jbad.png").write_bytes(b"no picture")
        (self.folder / "PetImages/Cat").rename(self.folder / "PetImages/C\x1b[1mat")
        result = self.gradus("data", "check", "PetImages")
        self.plain(result.out + result.err)
        self.assertIn("\\x1b[2Jbad.png", result.out)
        self.assertIn("class C\\x1b[1mat", result.out)


class Streams(Case):
    def test_closed_ones_get_no_file_in_their_place(self):
        """What is printed must not be written into the log of updates or the weights."""
        self.gradus("train", *QUICK, "--log-updates", "l", "--save-weights", "w")
        right = (self.folder / "l").read_bytes(), (self.folder / "w").read_bytes()
        for closed, code in (("<&-", 0), ("2>&-", 0), (">&-", 5), ("<&- >&- 2>&-", 5)):
            with self.subTest(closed):
                process = subprocess.run(
                    ["sh", "-c", f'exec "$0" "$@" {closed}', GRADUS, "train", *QUICK, "--log-updates", "l",
                     "--save-weights", "w"], cwd=self.folder, env=self.environment, capture_output=True)
                self.assertEqual(process.returncode, code)
                self.assertEqual(((self.folder / "l").read_bytes(), (self.folder / "w").read_bytes()), right)

    def test_a_reader_that_is_gone(self):
        """Of a pipe: its signal does not end the program, whose files are whole."""
        there, here = os.pipe()
        os.close(there)
        process = subprocess.run([GRADUS, "train", *QUICK, "--json", "--save-weights", "w"], stdout=here,
                                 stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.environment)
        os.close(here)
        self.assertEqual(process.returncode, IO_ERROR)
        self.assertIn("standard output could not be written: Broken pipe", process.stderr)
        self.assertEqual(self.files(), ["w"])

    def test_a_signal_takes_an_unfinished_file_away(self):
        """Of a command that has nothing to go on with, too."""
        pictures(self.folder, 3000)
        before = self.files()
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            with self.subTest(number):
                process = self.start("data", "check", "PetImages", "--manifest", "m.txt")
                wait_for(lambda: any(self.folder.glob("m.txt.tmp.*")) or process.poll() is not None)
                code, _, err = stop(process, number)
                self.assertEqual(code, 75, err)
                self.assertIn("stopped by a signal", err)
                self.assertEqual(self.files(), before)

    def test_a_result_is_printed_although_its_weights_cannot_be_saved(self):
        """The limit on a file's size stands for a full disk; its signal does not end the program without a word."""
        process = subprocess.run(
            ["sh", "-c", 'ulimit -f 8; exec "$0" "$@"', GRADUS, "train", *QUICK, "--json", "--save-weights", "w"],
            cwd=self.folder, env=self.environment, capture_output=True, text=True)
        self.assertEqual(process.returncode, IO_ERROR, process.stderr)
        self.assertEqual(json.loads(process.stdout)["state"], "done")
        self.assertIn("w cannot be written", process.stderr)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
