"""Help texts, names and guesses: what a person meets first."""

import unittest

from cli import Case, commands

COMMANDS = commands()
WIDTH = 80


class Help(Case):
    def test_version_is_one_line(self):
        self.assertRegex(self.gradus("--version").out, r"^gradus \d+\.\d+\.\d+\n$")

    def test_help_names_every_command(self):
        text = self.gradus("help").out
        self.assertEqual(text, self.gradus("--help").out)
        for name in COMMANDS:
            self.assertIn(f"  {name} ", text)
        self.assertLessEqual({"train", "sweep", "summary", "data", "data show", "bench", "profile", "doctor", "man",
                              "completion"}, set(COMMANDS))
        for line in text.splitlines():
            self.assertLessEqual(len(line), WIDTH)

    def test_help_of_help(self):
        for words in (["help", "--help"], ["help", "help"], ["help", "-h"], ["--help", "help"]):
            self.assertEqual(self.gradus(*words).out, self.gradus("help").out)
        self.assertTrue(self.gradus("help", "data", "show").out.startswith("Usage: gradus data show RECIPE"))
        self.assertTrue(self.gradus("help", "data", "check").out.startswith("Usage: gradus data check PATH"))
        self.refused(2, "help", "trian", names=["did you mean train?"])

    def test_nothing_asked_is_a_usage_error(self):
        result = self.gradus(expect=2)
        self.assertEqual(result.out, "")
        self.assertIn("Usage:", result.err)

    def test_every_command_has_help(self):
        for name in COMMANDS:
            with self.subTest(name):
                result = self.gradus(*name.split(), "--help")
                self.assertEqual(result.err, "")
                self.assertTrue(result.out.startswith(f"Usage: gradus {name}"))
                self.assertIn(f"Examples\n  gradus {name}", result.out)
                self.assertEqual(result.out, self.gradus("help", *name.split()).out)
                for line in result.out.splitlines():
                    self.assertLessEqual(len(line), WIDTH)
                    self.assertEqual(line, line.rstrip())

    def test_long_examples_are_commands_still(self):
        """Lines that end in a backslash go on: what a shell makes of them is one command of this program."""
        text = self.gradus("sweep", "--help").out.split("\nExamples\n")[1]
        commands = text.replace("\\\n", " ").splitlines()
        self.assertIn("\\\n", text)
        for command in commands:
            self.assertEqual(command.split()[:2], ["gradus", "sweep"])
        self.assertIn("--seeds 5 --out runs", " ".join(commands[0].split()))

    def test_train_help_has_the_documented_options(self):
        text = self.gradus("train", "--help").out
        for name in (
                "data filter batch optimizer lr adam-form adam-epsilon epochs updates seed split-seed device threads "
                "last-batch no-shuffle no-fusion init-weights save-weights log-updates memory-limit json "
                "no-evaluation no-graph procedural list explain time").split():
            self.assertIn(f"  --{name}", text)

    def test_recipes_are_listed_and_explained(self):
        lines = self.gradus("train", "--list").out.splitlines()
        self.assertLessEqual(max(map(len, lines)), WIDTH)
        names = [line.split()[0] for line in lines]
        self.assertEqual(names, ["cats-vs-dogs", "cifar10-cnn", "cifar10-normalised", "cifar10-94",
                                 "cifar10-94-muon", "keras-mlp", "mnist-mlp", "fashion-mlp", "resnet18-cifar",
                                 "resnet18-article", "own-pictures"])
        text = " ".join(self.gradus("train", "cats-vs-dogs", "--explain").out.split())
        for words in ("validates on its training set", "re-saves the resized pictures as JPEG", "numeric", "n // batch",
                      "375 at batch size 16, 45 at 128", "2.4 points"):
            self.assertIn(words, text)
        self.assertIn("valid padding", self.gradus("train", "cifar10-cnn", "--explain").out)
        text = " ".join(self.gradus("train", "keras-mlp", "--explain").out.split())
        for words in ("neither data nor loss nor optimizer", "sigmoid on each of the 2 outputs", "0.01 times the sum"):
            self.assertIn(words, text)

    def test_guesses(self):
        for words, guess in ((["trian"], "did you mean train?"),
                             (["merge"], "did you mean sweep merge?"),
                             (["version"], "did you mean --version?"),
                             (["train", "cats-vs-dgs"], "did you mean cats-vs-dogs?"),
                             (["train", "cats"], "did you mean cats-vs-dogs?"),
                             (["train", "cifar10-cnn", "--bacth", "3"], "did you mean --batch?"),
                             (["train", "cifar10-cnn", "--optimizer", "admm"], "did you mean adam?"),
                             (["sweep", "cifar10-cnn", "--optimizer", "sgd,addam"], "did you mean adam?"),
                             (["train", "cifar10-cnn", "--device", "gpu"], "did you mean cuda?"),
                             (["bench", "relu", "--device", "gpu"], "did you mean cuda?"),
                             (["train", "cifar10-cnn", "--last-batch", "dropp"], "did you mean drop?")):
            with self.subTest(words):
                self.refused(2, *words, names=[guess])

    def test_no_guess_where_nothing_is_near(self):
        self.assertNotIn("did you mean", self.refused(2, "xyzzy", names=["xyzzy"]).err)
        self.assertIn("--list", self.refused(2, "train", "mnist-transformer", names=["mnist-transformer"]).err)


if __name__ == "__main__":
    unittest.main()
