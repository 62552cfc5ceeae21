"""scripts/gpu_check.sh with programs that only play theirs: what becomes of a part that goes wrong, and of the others;
which limits of time there are."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts/gpu_check.sh"

# Plays every program. PLAYED tells what goes wrong, and in which of them, by its name or a word of its command.
PLAYER = r'''#!{python}
import json, os, pathlib, resource, signal, sys, time
name, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
if name == "compute-sanitizer":
    os.execvp(words[words.index("1") + 1], words[words.index("1") + 1:])


def after(option):
    return words[words.index(option) + 1]


wrong = set()
for fault in os.environ["PLAYED"].split(";"):
    who, _, how = fault.partition(" ")
    if who in [name, *words] and "--list" not in words:
        wrong.add(how)
print("busy at most", resource.getrlimit(resource.RLIMIT_CPU)[0]) if name == "test_wrappers" else None
if "fails" in wrong:
    sys.exit("a wrong row")
if "computes" in wrong: # as if it had done so for as long as it may
    resource.setrlimit(resource.RLIMIT_CPU, (1, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    while True:
        pass
if "waits" in wrong:
    time.sleep(1000)
if "breaks" in wrong:
    os.kill(os.getpid(), signal.SIGSEGV)
if name == "test_table" and "--list" in words:
    print("relu x[2]\nrelu x[3]\nconv2d x[1,2,2,1]")
elif words[:1] == ["train"] and "--log-updates" in words:
    apart = 2e-4 if "differs" in wrong and after("--device") != "cpu" else 0
    with open(after("--log-updates"), "w") as log:
        for update in range(1, int(after("--updates")) + 1):
            log.write(json.dumps({"update": update, "loss": 2.3 / update * (1 + apart)}) + "\n")
elif words[:1] == ["train"]:
    print(json.dumps({"recipe": words[1], "batch": int(after("--batch")), "precision": after("--precision"),
                      "samples_per_second": 1000.0}))
elif words[:1] == ["bench"] and "--ladder" in words:
    print(json.dumps({"rung": "naive", "ms": 1.0, "gflops": 2.0, "flops_share": 0.1}))
elif words[:1] == ["bench"]:
    print(json.dumps({"device": "played", "isa": "none", "ceiling_gflops": 1.0, "ceiling_read_gbs": 1.0,
                      "ceiling_copy_gbs": 1.0, "op": "relu", "pass": "forward", "batch": 4, "ms": 1.0, "gflops": 1.0,
                      "flops_share": 0.5, "gbs": 1.0, "memory_share": 0.5}))
elif name == "calibrate" or (name == "gradus" and words[:1] == ["cuda"]):
    print(json.dumps(dict.fromkeys(("clock", "l2", "l2_port", "shared", "l1", "l2_latency", "memory"), 1.0)))
elif words[:1] == ["doctor"]:
    print(json.dumps({"played": True}))
'''

# Stands before the real timeout: writes down what limits are asked for, and waits less for who will not come,
# and longer for the others: this machine may be busy.
CLOCK = """#!/usr/bin/env bash
echo "$3" >>"$LIMITS"
after=3600
case "$PLAYED $*" in *"step_graph waits"*step_graph*) after=1 ;; esac
shift 3
PATH=${PATH#*:}
exec timeout --kill-after 1 "$after" "$@"
"""

STAND_INS = ["wrappers", "operation table", "updates as graphs", "losses of cats-vs-dogs", "losses of cifar10-cnn",
             "losses of resnet18-cifar", "calibrate", "precisions", "kernels"]
ON_A_GPU = [*STAND_INS[:6], "ladder", *STAND_INS[6:], "memcheck", "racecheck", "initcheck", "synccheck"]


class GpuCheck(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.built, self.limits = self.folder / "built", self.folder / "limits"
        player = self.folder / "player"
        self.write(player, PLAYER.replace("{python}", sys.executable))
        for program in ("built/gradus", "built/calibrate", "built/tests/table/test_table",
                        "built/tests/wrappers/test_wrappers", "built/tests/test_step_graph", "tools/compute-sanitizer"):
            at = self.folder / program
            at.parent.mkdir(parents=True, exist_ok=True)
            at.symlink_to(player)
        (self.folder / "clock").mkdir()
        self.write(self.folder / "clock/timeout", CLOCK)

    def write(self, path, text):
        path.write_text(text)
        path.chmod(0o755)

    def check(self, *options, device="simt", played=""):
        """Exit status, how each part ended, what the script left in its file, and what it printed."""
        out = self.folder / "out.json"
        run = subprocess.run(
            ["bash", SCRIPT, "--built", self.built, "--out", out, *options], capture_output=True, text=True,
            env={**os.environ, "GRADUS_CHECK_DEVICE": device, "PLAYED": played, "LIMITS": str(self.limits),
                 "PATH": f"{self.folder}/clock:{self.folder}/tools:{os.environ['PATH']}", "PYTHON": "false"})
        found = json.loads(out.read_text())
        return run.returncode, {p["part"]: p["end"] for p in found["parts"]}, found, run.stdout + run.stderr

    def asked(self):
        return [int(line) for line in self.limits.read_text().split()]

    def test_all_is_well(self):
        code, ends, found, said = self.check()
        self.assertEqual((code, ends), (0, dict.fromkeys(STAND_INS, "ok")), said)
        self.assertEqual((found["device"], found["machine"]), ("simt", [{"played": True}]))
        self.assertEqual({recipe: (f["updates"], f["worst"]) for recipe, f in found["losses"].items()},
                         {"cats-vs-dogs": (1, 0), "cifar10-cnn": (3, 0), "resnet18-cifar": (1, 0)})
        self.assertIn("stands in for a GPU", said)
        self.assertNotIn("not done", said)

    def test_what_goes_wrong_is_named_and_leaves_the_others_alone(self):
        several = {"test_wrappers fails": "failed wrappers", "conv2d breaks": "failed operation table",
                   "test_step_graph computes": "stopped updates as graphs", "bf16 fails": "failed precisions",
                   "cifar10-cnn differs": "failed losses of cifar10-cnn", "bench computes": "stopped kernels"}
        more = {"conv2d fails": "failed operation table", "test_step_graph waits": "stopped updates as graphs"}
        for faults in (several, more):
            code, ends, found, said = self.check(played=";".join(faults))
            wrong = {part: end for end, _, part in (fault.partition(" ") for fault in faults.values())}
            self.assertEqual((code, ends), (1, {**dict.fromkeys(STAND_INS, "ok"), **wrong}), said)
            self.assertEqual({p["part"] for p in found["parts"] if "said" in p}, set(wrong))
            for part, end in wrong.items():
                self.assertIn(f"not done: {part}: {end}\n", said)

    def test_a_gpu_s_limits_are_of_the_clock(self):
        code, ends, found, said = self.check("--minutes", "600", device="cuda")
        self.assertEqual((code, ends), (0, dict.fromkeys(ON_A_GPU, "ok")), said)
        self.assertEqual(self.asked(), [60, 240, 60, 60, 60, 60, 60, 30, 90, 180, 60, 60, 60, 60])
        self.assertEqual(found["wrappers"], ["busy at most -1"])
        code, ends, _, _ = self.check("--minutes", "0", device="cuda")
        self.assertEqual((code, ends), (1, dict.fromkeys(ON_A_GPU, "no-time")))

    def test_a_stand_in_s_are_of_what_it_computes(self):
        _, _, found, _ = self.check("--minutes", "600")
        self.assertEqual(self.asked(), [1200, 4800, 1200, 1200, 1200, 1200, 600, 1800, 3600])
        self.assertEqual(found["wrappers"], ["busy at most 240"])
        self.limits.unlink()
        self.check("--minutes", "1")
        self.assertTrue(all(limit <= 60 for limit in self.asked()))

    def test_minutes_are_whole(self):
        for minutes in ("4.5", "-1", "08", "four", ""):
            run = subprocess.run([SCRIPT, "--minutes", minutes], capture_output=True, text=True, check=False)
            self.assertEqual((run.returncode, run.stderr),
                             (2, f"gpu_check.sh: --minutes {minutes}: wants a whole number\n"))


if __name__ == "__main__":
    unittest.main()
