"""Man pages and completion: made of the option tables, they name every option and show without a complaint."""

import re
import shutil
import subprocess
import unittest

from cli import Case, commands

COMMANDS = commands()


def options_of(help_text):
    return re.findall(r"^  --([a-z-]+)", help_text, re.M)


class Manual(Case):
    def test_pages_name_every_option(self):
        for name in COMMANDS:
            with self.subTest(name):
                help_text, page = self.gradus("help", *name.split()).out, self.gradus("man", *name.split()).out
                options = options_of(help_text)
                self.assertEqual(re.findall(r"^\\fB\\-\\-(\S+?)\\fR", page, re.M),
                                 [o.replace("-", "\\-") for o in options])
                dashes = name.replace(" ", "-").replace("-", "\\-")
                self.assertIn(f"gradus\\-{dashes} \\- ", page)
        page = self.gradus("man").out
        for name in COMMANDS:
            self.assertIn(f".BR gradus\\-{name.replace(' ', '-')} (1)", page)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_pages_show_what_help_says(self):
        for name in COMMANDS:
            with self.subTest(name):
                page = self.gradus("man", *name.split()).out
                process = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-P-cbou", "-rHY=0"], input=page,
                                         capture_output=True, text=True)
                self.assertEqual(process.stderr, "")
                shown = " ".join(process.stdout.replace("-\n", "-").split())
                about = self.gradus("help", *name.split()).out.split("\n\n")[1]
                self.assertIn(" ".join(about.split()), shown)

    def test_all_pages_below_a_folder(self):
        self.gradus("man", "--into", "share")
        pages = [f"share/man/man1/gradus-{name.replace(' ', '-')}.1" for name in COMMANDS] + ["share/man/man1/gradus.1"]
        others = ["share/bash-completion/completions/gradus", "share/fish/vendor_completions.d/gradus.fish",
                  "share/zsh/site-functions/_gradus"]
        self.assertEqual([f for f in self.files() if (self.folder / f).is_file()], sorted(pages + others))
        self.assertEqual((self.folder / "share/man/man1/gradus-train.1").read_text(), self.gradus("man", "train").out)
        self.assertEqual((self.folder / others[0]).read_text(), self.gradus("completion", "bash").out)

    def test_bad_words(self):
        self.refused(2, "man", "trian", names=["did you mean train?"])
        self.refused(2, "man", "train", "--into", "d", names=["--into", "train"])
        self.refused(2, "completion", names=["bash, zsh or fish"])
        self.refused(2, "completion", "tcsh", names=["tcsh"])
        self.refused(5, "man", "--into", "/proc/x", names=["/proc/x"])


class Completion(Case):
    def bash(self, *words):
        """What bash offers for the last of these words."""
        (self.folder / "complete").write_text(self.gradus("completion", "bash").out)
        script = (
            'source ./complete; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gradus; printf "%s\\n" "${COMPREPLY[@]}"')
        process = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True,
                                 cwd=self.folder)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        return process.stdout.split()

    def test_every_option_is_offered_by_bash(self):
        for name in COMMANDS:
            with self.subTest(name):
                options = options_of(self.gradus("help", *name.split()).out)
                self.assertEqual(self.bash("gradus", *name.split(), "--"), [f"--{o}" for o in [*options, "help"]])

    def test_what_bash_offers(self):
        self.assertEqual(self.bash("gradus", "s"), ["sweep", "summary"])
        self.assertEqual(self.bash("gradus", "train", "cifar10-c"), ["cifar10-cnn"])
        self.assertEqual(self.bash("gradus", "train", "cifar10-cnn", "--device", ""), ["cpu", "cuda", "simt", "ref"])
        self.assertEqual(self.bash("gradus", "train", "--optimizer", "a"), ["adam", "adamw"])
        self.assertEqual(self.bash("gradus", "train", "--batch", ""), ["auto"])
        self.assertEqual(self.bash("gradus", "data", "s"), ["show"])
        self.assertEqual(self.bash("gradus", "data", "show", "keras"), ["keras-mlp"])
        self.assertEqual(self.bash("gradus", "sweep", "me"), ["merge"])
        self.assertEqual(self.bash("gradus", "bench", "max_pool"), ["max_pool2d"])
        (self.folder / "weights").write_text("")
        self.assertEqual(self.bash("gradus", "train", "--init-weights", "we"), ["weights"])
        self.assertEqual(self.bash("gradus", "data", "check", "we"), ["weights"])
        self.assertEqual(self.bash("gradus", "cuda", "we"), ["weights"])
        self.assertEqual(self.bash("gradus", "doctor", "we"), [])

    def test_zsh_and_fish_name_every_option(self):
        zsh, fish = self.gradus("completion", "zsh").out, self.gradus("completion", "fish").out
        for name in COMMANDS:
            options = options_of(self.gradus("help", *name.split()).out)
            block = zsh.split(f"    '{name}')\n")[1].split(" ;;\n")[0]
            self.assertEqual(re.findall(r"'--([a-z-]+)\[", block), [*options, "help"])
            if " " not in name:
                seconds = [c.split()[1] for c in COMMANDS if c.startswith(name + " ")]
                seen = f"-n '__fish_seen_subcommand_from {name}"
                seen += "".join(f"; and not __fish_seen_subcommand_from {second}" for second in seconds)
            else:
                seen = "-n '__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}".format(*name.split())
            self.assertEqual(re.findall(re.escape(seen) + "' -l ([a-z-]+)", fish), options)

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh_takes_it(self):
        process = subprocess.run(["zsh", "-n"], input=self.gradus("completion", "zsh").out, capture_output=True,
                                 text=True)
        self.assertEqual((process.returncode, process.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_what_fish_offers(self):
        (self.folder / "gradus.fish").write_text(self.gradus("completion", "fish").out)
        for words, wanted in (("gradus s", {"sweep", "summary"}), ("gradus train --optimizer l", {"lars"}),
                              ("gradus data show mnist", {"mnist-mlp"}), ("gradus train --prox-s", {"--prox-steps"})):
            process = subprocess.run(["fish", "--no-config", "-c", f"source gradus.fish; complete -C '{words}'"],
                                     cwd=self.folder, capture_output=True, text=True,
                                     env={**self.environment, "HOME": str(self.folder)})
            self.assertEqual({line.split("\t")[0] for line in process.stdout.splitlines()}, wanted, process.stderr)


if __name__ == "__main__":
    unittest.main()
