"""Input and output that fail: no crash, no hang, the right exit code and the file's name, earlier files whole, and 0
only with all of the output."""

import csv
import json
import pathlib
import re
import signal
import unittest

from commands import (COMMANDS, SLOW, EARLIER, LATER, MODE, SWEEP, TIMINGS, TRAIN, Commands, commands, printed, undated,
                      without_timings, words_of)

DONE, SOME_FAILED, BAD_DATA, MEMORY, IO = 0, 1, 3, 4, 5
HOWS = ("EIO", "ENOSPC", "ENOMEM", "EINTR", "short", "kill", "EROFS")  # as the shim counts them
WAYS = [(how, behind) for how in ("EIO", "ENOSPC", "EINTR", "short") for behind in "01"
        if (how, behind) != ("EINTR", "1")]  # for ever interrupted is nothing that a system does


def bare(name):
    """A file as messages call it: temporaries by the name that they are for."""
    return re.sub(r"(\.tmp\.\d+-\d+|\.next)$", "", name)


class InputOutput(Commands):
    def run_with(self, words, **more):
        return super().run_with(words, GRADUS_FAILED_IO=str(self.side / "failed"), **more)

    def failed(self):
        file = self.side / "failed"
        return [line.split(" ", 1) for line in file.read_text().splitlines()] if file.exists() else []

    def look_after(self, name, how, process, right, out):
        code, failed = process.returncode, self.failed()
        if code == DONE:
            self.assertEqual(printed(name, process.stdout), out)
            self.assertEqual(self.contents(), right)
        else:
            sorts = (SOME_FAILED, IO) if how in ("EIO", "ENOSPC") else (SOME_FAILED, BAD_DATA, IO)
            self.assertIn(code, sorts, process.stderr)
            names = {pathlib.PurePath(bare(name)).name for _, name in failed}
            names |= {pathlib.PurePath(name).parent.name or name for _, name in failed}
            self.assertTrue(any(name in process.stderr for name in names), (failed, process.stderr))
        for file in LATER:
            text = undated((self.folder / file).read_bytes())
            self.assertIn(text, (EARLIER, self.right_bytes[file]), f"{file} is neither old nor new")
            self.assertEqual((self.folder / file).stat().st_mode & 0o777, MODE, f"{file} has another mode")
        if not any(call == "unlink" for call, _ in failed):
            self.assertFalse([f for f in self.files() if ".tmp." in f], failed)

    def count(self, how):
        return super().count(HOWS.index(how))

    def look_at(self, name):
        words = words_of(name)
        whole = self.run_with(words)
        self.assertEqual(whole.returncode, DONE, whole.stderr)
        right, out = self.contents(), printed(name, whole.stdout)
        self.right_bytes = {n: undated((self.folder / n).read_bytes()) for n in LATER}
        trials = [(how, behind, number) for how, behind in WAYS for number in range(1, self.count(how) + 1)]
        for how, behind, number in self.drawn(name, trials):
            with self.subTest(f"{name}, {how}, call {number}", behind=behind):
                process = self.run_with(words, GRADUS_FAIL_IO=str(number), GRADUS_FAIL_HOW=how,
                                        GRADUS_FAIL_IO_ON=behind)
                if self.failed():
                    self.look_after(name, how, process, right, out)

    def test_no_command_is_forgotten(self):
        tried = [" ".join(map(str, words_of(name))) + " " for name in [*COMMANDS, *SLOW]]
        for command in commands():
            self.assertTrue(any(words.startswith(command + " ") for words in tried), command)

    def refused_where(self, words, call, *names, number=1, how="EIO", code=IO, **more):
        """The call of that name fails, with that code, and the names are told."""
        process = self.run_with(words, GRADUS_FAIL_IO=str(number), GRADUS_FAIL_HOW=how, GRADUS_FAIL_CALL=call, **more)
        self.assertTrue(self.failed(), "no such call was made")
        self.assertEqual(process.returncode, code, process.stderr)
        for name in names:
            self.assertIn(name, process.stderr)

    def test_killed_at_any_call_a_run_goes_on_to_its_bits(self):
        words = [*TRAIN[:TRAIN.index("--updates")], "--updates", 3, "--threads", 1, "--no-evaluation", "--checkpoint",
                 "k", "--checkpoint-every", 1, "--save-weights", "w2"]
        self.assertEqual(self.run_with(words).returncode, DONE)
        count, whole, reached = self.count("kill"), (self.folder / "w2").read_bytes(), {}
        for number in self.drawn("killed", range(1, count + 1), few=4):
            with self.subTest(f"killed at call {number} of {count}"):
                process = self.run_with(words, GRADUS_FAIL_IO=str(number), GRADUS_FAIL_HOW="kill")
                self.assertEqual(process.returncode, -signal.SIGKILL)
                rest = self.gradus(*words, "--resume")
                self.assertEqual((self.folder / "w2").read_bytes(), whole)
                self.assertNotIn("damaged", rest.err)
                self.assertFalse([f for f in self.files() if ".tmp." in f])
                reached[number] = int((re.findall(r"goes on from .*, update (\d+)", rest.err) or ["0"])[0])
        updates = [reached[number] for number in sorted(reached)]
        self.assertEqual(updates, sorted(updates))  # a later kill loses no more

    def test_killed_at_any_call_a_sweep_goes_on_to_its_rows(self):
        """The sweep or one of its cells, whoever makes the call; one cell's numbers go bad."""
        words = [*SWEEP[:SWEEP.index("--updates")], "--updates", 3, "--threads", 1, "--optimizer", "sgd", "--seeds", 1,
                 "--lr", "0.01,1e30", "--batch", "3,4", "--checkpoint-every", 1, "--jobs", 2, "--out"]
        self.assertEqual(self.run_with([*words, "whole"]).returncode, DONE)
        count, whole = self.count("kill"), self.outcome("whole")
        self.assertEqual([row["state"] for row in whole[0]], ["done", "numbers went bad"] * 2)
        for number in self.drawn("sweep killed", range(1, count + 1), few=4):
            with self.subTest(f"killed at call {number} of {count}"):
                process = self.run_with([*words, "k"], GRADUS_FAIL_IO=str(number), GRADUS_FAIL_HOW="kill")
                self.assertIn(process.returncode, (-signal.SIGKILL, SOME_FAILED, DONE), process.stderr)
                rest = self.gradus(*words, "k")
                self.assertEqual(self.outcome("k"), whole, rest.err)
                self.assertFalse([f for f in self.files() if f.startswith("k/") and (".tmp." in f or "cells" in f)])

    def outcome(self, out):
        """What a sweep has found, without times: the last row of each cell, and the tables."""
        rows = {}
        for line in (self.folder / out / "results.jsonl").read_text().splitlines():
            row = json.loads(line)
            rows[row["batch"], row["variant"]] = without_timings(row)
        with open(self.folder / out / "results.csv", newline="") as f:
            table = [{k: v for k, v in row.items() if k not in TIMINGS} for row in csv.DictReader(f)]
        return [rows[cell] for cell in sorted(rows)], table, (self.folder / out / "sweep.json").read_text()

    def test_no_memory_for_a_file_is_told_as_memory(self):
        lacking = {"how": "ENOMEM", "code": MEMORY}
        for call in ("open", "fstat", "read"):
            self.refused_where(COMMANDS["weights"], call, "weights", "Cannot allocate memory", **lacking)
        for words, file in ((COMMANDS["data pack"], "new.grd"), (COMMANDS["data check folder"], "m.txt"),
                            (["monitor", "--csv", "u.csv", "--", "true"], "u.csv"),
                            (["bench", "--compare", "rows,rows"], "rows")):
            with self.subTest(file):
                self.refused_where(words, "open", file, "Cannot allocate memory", **lacking)
        self.refused_where(COMMANDS["weights"], "write", "standard output", "Cannot allocate memory", **lacking)

    def test_output_that_is_lost_on_the_way_is_known_to_be_lost(self):
        """Not at its end, which went out: stdio knows that it failed, and no more."""
        for how in ("EIO", "ENOSPC", "ENOMEM"):
            self.refused_where(COMMANDS["man"], "write", "standard output could not be written", how=how)

    def test_a_read_only_file_system_is_called_so(self):
        for name, call, file in (("sweep", "mkdir", "s"), ("train", "open", "w"), ("data pack", "open", "new.grd"),
                                 ("report", "open", "r.html"), ("profile", "mkdir", "p")):
            with self.subTest(name):
                self.refused_where(COMMANDS[name], call, file, "Read-only file system", how="EROFS")

    def test_weights_that_cannot_be_read_are_not_taken_for_none(self):
        words = [*SWEEP, "--init-weights", "weights", "--out", "s"]
        self.refused_where(words, "read", "weights cannot be read", GRADUS_FAIL_FILE="weights")
        self.refused_where(words, "open", "weights cannot be opened", GRADUS_FAIL_FILE="weights")

    def test_a_picture_that_cannot_be_read_is_not_guessed_at(self):
        self.refused_where(COMMANDS["predict"], "open", "PetImages/Cat/0.png", "Input/output error", number=2)

    def test_a_picture_that_cannot_be_read_is_no_answer_about_noise(self):
        self.refused_where([*COMMANDS["find-batch"], "--preload", "none"], "open", "Cat/0.png cannot be read",
                           number=2, GRADUS_FAIL_FILE="own/PetImages/Cat/0.png")

    def test_a_picture_that_cannot_be_read_is_not_left_out(self):
        self.refused_where(COMMANDS["data check folder"], "read", "PetImages/", "Input/output error", number=5)

    def test_a_rank_that_ends_the_program_says_why(self):
        """Whichever of two it is that looks, or both at once."""
        for number in 4 * (1, 2, 3, 4):
            for behind in "01":
                self.refused_where(COMMANDS["train by ranks"], "stat", "own/PetImages", "cannot be looked at: Input",
                                   number=number, GRADUS_FAIL_FILE="own/PetImages", GRADUS_FAIL_IO_ON=behind)

    def test_a_class_that_cannot_be_looked_at_is_not_left_out(self):
        for number in (1, 5):
            self.refused_where(COMMANDS["data check classes"], "stat", "cannot be looked at", number=number)

    def test_a_program_that_cannot_be_looked_at_is_not_compiled(self):
        self.refused_where(COMMANDS["theatre"], "access", "add cannot be looked at")

    def test_a_source_that_cannot_be_read_is_not_left_out_of_the_page(self):
        self.refused_where(COMMANDS["theatre"], "open", "add.cu cannot be read", GRADUS_FAIL_FILE="add.cu")

    def test_a_sweep_that_cannot_be_looked_for_is_not_begun_anew(self):
        for number in (1, 2, 3):
            self.refused_where(COMMANDS["sweep goes on"], "stat", "cannot be looked at", number=number)

    def test_a_sweep_that_cannot_be_read_is_not_damaged(self):
        for number in (1, 2):
            self.refused_where(COMMANDS["sweep merge"], "read", "it cannot be read", number=number)

    def test_checkpoints_that_cannot_be_seen_are_not_begun_anew(self):
        words = COMMANDS["train goes on"]
        for number in (1, 4):
            self.refused_where(words, "readdir", "stopped cannot be read", number=number, GRADUS_FAIL_FILE="stopped")


InputOutput.add_tests()

if __name__ == "__main__":
    unittest.main()
