"""Commands and programs on the pages run: in a scratch folder, on drawn pictures, shortened where they are long."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import pages

sys.path.append(str(pages.ROOT / "tests/cli"))
from cli import png

GRADUS = os.environ["GRADUS"]
LIBRARY = os.environ["GRADUS_LIBRARY"]
FAST_CLOCK = os.environ.get("GRADUS_FAST_CLOCK")  # its second is a twentieth of one: what measures for seconds has done
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "GRADUS_DATA"}
PRESETS = {preset["name"] for preset in json.loads((pages.ROOT / "CMakePresets.json").read_text())["configurePresets"]}

NOT_RUN = {  # beginnings of commands whose names and options are looked up instead, and why
    "./scripts/run.sh": "installs packages, builds, trains for minutes",
    "./scripts/test.sh": "installs packages, builds, runs all tests",
    "cmake": "a build of its own; tests/install makes one and installs it",
    "ctest": "all tests",
    "build/class/gradus": "another build's; test_first_hour.py makes it and runs these",
    "build/check/gradus": "another build's, which takes minutes",
    "gradus cuda": "programs of the reader's; tests/cuda_programs runs the command",
    "scripts/slurm_sweep.py": "wants Slurm; tests/cli runs it where that is",
    "gradus monitor --query-gpu": "wants NVIDIA's driver; tests/cli runs it on a library that stands in for it",
    "gradus theatre": "programs of the reader's; tests/cuda_programs runs the command",
    "gradus bench --bound": "wants nvcc and cuobjdump; tests/bounds tells a step's kernels where these are",
    "gradus bench gemm --ladder --bound": "wants nvcc and cuobjdump; tests/bounds tells kernels where these are",
    "gradus puzzle": "kernels of the reader's; tests/cuda_programs runs the command",
    "python3 scripts/compare_sweeps.py": "wants matplotlib; tests/cli runs it where that is",
    "scripts/tell_bounds.py": "wants cuobjdump; tests/bounds runs it where that is",
    "scripts/tell_steps.py": "wants cuobjdump, and takes minutes",
    "scripts/validate_bounds.py": "wants cuobjdump; tests/bounds runs it where that is",
    "python3 scripts/plot_bench.py": "wants matplotlib; tests/cli runs it where that is",
    "python3 scripts/plot_sweep.py": "wants matplotlib; tests/cli runs it where that is",
}
PRODUCTS = {  # words for the reader to fill in, and what stands for them here
    "PATH": "pets", "*.jpg": "pets/cat/1.png", "build/before/gradus": GRADUS
}

DECIMAL = re.compile(r"-?\d+\.\d+")
OWN = "photos"  # a folder of class folders that is there


def first(values):
    return values.split(",")[0]


SHORTER = {"--updates": lambda value: str(min(int(value), 2)), "--seeds": lambda _: "1", "--batch": first,
           "--optimizer": first, "--rounds": lambda _: "1"}


def shortened(words):
    """The same command with less to do: drawn pictures, two updates, one cell of a sweep. All its options stay."""
    short, words = [], list(words)
    while words:
        word = words.pop(0)
        if word == "--data" and words[0] != OWN:
            words.pop(0)
            word = "--procedural"
        short.append(PRODUCTS.get(word, word))
        if word in SHORTER:
            short.append(SHORTER[word](words.pop(0)))
    command, recipe = short[1], short[2] if len(short) > 2 else ""
    if recipe == "merge":
        return short
    if command in ("train", "sweep") and not {"--list", "--explain"} & set(short):
        short += [] if "--updates" in short else ["--updates", "2"]
        short += ["--resize", "32"] if recipe == "cats-vs-dogs" and "--augment" not in short else []
        short += ["--batch", "8"] if command == "sweep" and not {"--batch", "--batch-schedule"} & set(short) else []
        # the last one counts
        short += ["--updates", "1", "--batch", "8", "--no-evaluation"] if recipe == "resnet18-cifar" else []
    if command == "data" and recipe == "show" and "cats-vs-dogs" in short:
        short += ["--resize", "32"]
    if recipe == "convert" and "--recipe" in short:
        short += ["--resize", "32"]  # of the weights that the page's first command has left
    if command == "sweep" and "--seeds" not in short:
        short += ["--seeds", "1"]
    if command == "find-batch" or "--batch auto" in " ".join(short):
        short += ["--memory-limit", "4M"]  # fewer batch sizes to time
    if command == "reproduce" and recipe and "--dry-run" not in short:
        short += ["--verdict"]  # of runs that are not there
    if command == "landscape":
        short += ["--samples", "4", "--steps", "1"]  # the last ones count
    if command == "bench":
        short += ["--seconds", "0.001"]
        short += ["--rounds", "1", "--batch", "2"] if recipe == "memory" else []
        short += ["--batch", "1,4"] if "--case" in short and "--batch" not in short else []
    return short


def usage(command):
    """A line of a list of commands, with words that stand for others."""
    return bool(re.search(r"\b(RECIPE|NAME|FOLDER|SHELL|COMMAND|OP|WEIGHTS|FILE)\b|\w\|\w", command))


class Commands(pages.PagesCase):
    def setUp(self):
        self.enter_new_folder()

    def enter_new_folder(self):
        """A folder with a small set of pictures, for what a page makes."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gradus-docs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for number, animal in enumerate(("cat", "dog", "fox")):
            (self.folder / OWN / animal).mkdir(parents=True)
            for i in range(12):
                (self.folder / OWN / animal / f"{i}.png").write_bytes(png(8, 8, (80 * number, 20 * i, 100)))
        (self.folder / "examples").symlink_to(pages.ROOT / "examples")
        for animal in ("cat", "dog"):
            (self.folder / "pets" / animal).mkdir(parents=True)
            picture = pages.ROOT / "examples/results/cats-vs-dogs.png"
            (self.folder / "pets" / animal / "1.png").symlink_to(picture)

    def run_words(self, words):
        faster = FAST_CLOCK and words[0] == GRADUS and "--ranks" not in words  # they wait for each other by the clock
        return subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=300,
                              env={**ENVIRONMENT, "PYTHON": "/nonexistent",  # sweeps draw no pictures
                                   **({"LD_PRELOAD": FAST_CLOCK, "GRADUS_CLOCK": "20"} if faster else {})})

    def help(self, *command):
        process = self.run_words([GRADUS, "help", *command])
        return process.stdout if process.returncode == 0 else ""

    def looked_up(self, command):
        """What is wrong with a command that is not run: a program, preset or option that is not there."""
        for part in command.split(" && "):
            words = shlex.split(part)
            program, told = words[0], ""
            if program == "python3":
                program, told = words[1], (pages.ROOT / words[1]).read_text()
            elif program.endswith("gradus"):
                program, told = None, self.help(words[1])
            elif program in ("cmake", "ctest"):
                presets = [words[i + 1] for i, word in enumerate(words) if word == "--preset"]
                if not set(presets) <= PRESETS:
                    return f"no such preset: {presets}"
                program = None
            if program and not (pages.ROOT / program).is_file():
                return "no such program"
            options = [word for word in words[:words.index("--") if "--" in words else None] if word.startswith("--")]
            if told and not all(option in told for option in options):
                return "an option that is not there"
        return ""

    def names_are_known(self, words):
        """What is wrong with the names in a list of which only the first is run."""
        optimizers = words[words.index("--optimizer") + 1].split(",") if "--optimizer" in words else []
        told = self.help("train")
        return "".join(f"no optimizer {name}" for name in optimizers if not re.search(rf"\b{name}\b", told))

    def trouble(self, command):
        """What is wrong with a command; an empty text where nothing is."""
        if any(command.startswith(beginning) for beginning in NOT_RUN):
            return self.looked_up(command)
        words = shlex.split(command)
        if not words[0].endswith("gradus"):
            return "of no kind that this test knows"
        if usage(command):
            names = [name for word in words[1:] if re.fullmatch(r"[a-z|-]+", word) for name in word.split("|")]
            if words[1] == "data":
                return "" if all(self.help("data", name) for name in names[1:]) else "no such command"
            return "" if self.help(names[0]) else "no such command"
        into = words[words.index(">") + 1] if ">" in words else None
        words_run = [GRADUS, *shortened(words[:words.index(">")] if into else words)[1:]]
        process = self.run_words([GRADUS if word == "gradus" and before == "--" else word  # monitor -- gradus train
                                  for before, word in zip(["", *words_run], words_run)])
        if into:
            (self.folder / into).write_text(process.stdout)
        if process.returncode != 0:
            return f"exit code {process.returncode}: {process.stderr[-400:]}"
        return self.names_are_known(words)

    def test_every_command_runs(self):
        wrong, count = [], 0
        for page in pages.PAGES:
            self.enter_new_folder()
            for language, text in pages.blocks(page.read_text()):
                if language == "model":
                    (self.folder / "model.txt").write_text(text)
            for command in pages.commands(page.read_text()):
                count += 1
                trouble = self.trouble(command)
                if trouble:
                    wrong.append(f"{pages.name(page)}: {command}: {trouble}")
        self.complain(wrong)
        self.assertGreater(count, 40)

    def test_commands_that_are_not_run_are_on_a_page(self):
        text = "\n".join(command for page in pages.PAGES for command in pages.commands(page.read_text()))
        self.complain([beginning for beginning in NOT_RUN if not re.search("^" + re.escape(beginning), text, re.M)])

    def test_losses_on_the_emulator_are_those_of_the_page(self):
        block, = [text for _, text in pages.blocks((pages.ROOT / "docs/gpu.md").read_text()) if "--log-updates" in text]
        self.run_words([GRADUS, *shlex.split(pages.commands(f"```\n{block}```\n")[0])[1:]])
        logged = [json.loads(line)["loss"] for line in (self.folder / "losses.jsonl").read_text().splitlines()]
        self.assertEqual([json.loads(line)["loss"] for line in re.findall(r"^\{.*?\}", block, re.MULTILINE)], logged)

    def test_every_option_in_prose_is_known(self):
        tool = ("train sweep find-batch compare report reproduce monitor predict evaluate summary bench profile cuda "
                "puzzle doctor landscape draw")
        commands = [[name] for name in tool.split()]
        commands += [["data", name] for name in "check pack show".split()] + [["weights", "convert"]]
        commands += [["bench", name] for name in "memory scaling".split()]
        known = "".join(self.help(*command) for command in commands)
        scripts = (pages.ROOT / "scripts").iterdir()
        known += "".join(path.read_text() for path in scripts if path.suffix in (".sh", ".py"))
        wrong = []
        for page in pages.PAGES:
            if page.name.startswith("adding-"):
                continue  # options that the reader makes
            for code in re.findall(r"`([^`]+)`", pages.prose(page.read_text())):
                if not code.startswith(("cmake", "cc ", "ctest", "pkg-config", "tensorboard")):
                    wrong += [f"{pages.name(page)}: {option}" for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", code)
                              if option not in known and option not in ("--help", "--preset")]
        self.complain(wrong)

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_every_program_compiles_and_runs(self):
        count = 0
        for page in pages.PAGES:
            blocks = pages.blocks(page.read_text())
            for (language, text), (tongue, after) in zip(blocks, blocks[1:] + [("end", "")]):
                if language != "c" or "int main" not in text:
                    continue
                printed = "" if tongue or pages.commands(f"```\n{after}```\n") else after
                count += 1
                (self.folder / "page.c").write_text(text)
                built = self.run_words(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", f"-I{pages.ROOT}", "page.c",
                                        LIBRARY, f"-Wl,-rpath,{os.path.dirname(LIBRARY)}", "-o", "page"])
                self.assertEqual(built.returncode, 0, built.stderr)
                ran = self.run_words([str(self.folder / "page")])
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertRegex(ran.stdout, r"\d")
                if printed:
                    self.same_but_for_rounding(printed, ran.stdout, pages.name(page))
        self.assertGreater(count, 0)

    def same_but_for_rounding(self, printed, got, page):
        """Instruction sets round differently, so numbers with decimals may be off in their last places."""
        self.assertEqual(DECIMAL.sub("#", printed), DECIMAL.sub("#", got), page)
        for a, b in zip(DECIMAL.findall(printed), DECIMAL.findall(got)):
            self.assertAlmostEqual(float(a), float(b), delta=0.001, msg=page)

    def test_memory_of_the_guide_s_network(self):
        text = (pages.ROOT / "docs/guide/4-memory.md").read_text()
        summary, train = (shlex.split(c)[1:] for c in pages.commands(text) if "cifar10-cnn" in c)
        said = re.search(r"The first says ([\d.]+) MiB. The second took ([\d,]+) bytes", text)
        self.assertIn(f"takes {said[1]} MiB at its peak", self.run_words([GRADUS, *summary]).stdout)
        row = json.loads(self.run_words([GRADUS, *train]).stdout.splitlines()[-1])
        self.assertEqual(f"{row['peak_bytes']:,}", said[2])


if __name__ == "__main__":
    unittest.main()
