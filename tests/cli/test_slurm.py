"""scripts/slurm_sweep.py on a real Slurm: three nodes on this machine, one of which dies in the middle of a sweep."""

import csv
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

from cli import GRADUS, TIMINGS, Case

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts/slurm_sweep.py"
NODES = ("one", "two", "three")
CONFIGURATION = """
ClusterName=gradus
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdTimeout=10
KillWait=2
ReturnToService=2
"""
SWEEP = ["sweep", "cifar10-cnn", "--procedural", "--batch", "8,16,32,64", "--optimizer", "sgd,adam", "--seeds", "3",
         "--updates", "60", "--threads", "1"]


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        ports = free_ports(1 + len(NODES))
        text = CONFIGURATION.format(host=socket.gethostname(), port=ports[0], folder=folder)
        for node, port in zip(NODES, ports[1:]):
            text += f"NodeName={node} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} CPUs=1\n"
            (folder / f"spool-{node}").mkdir()
        text += "PartitionName=all Nodes=ALL Default=YES State=UP\n"
        (folder / "state").mkdir()
        (folder / "slurm.conf").write_text(text)
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self.run("slurmctld")
        for node in NODES:
            self.run("slurmd", "-N", node)
        self.wait(lambda: self.run("sinfo", "-h", "-o", "%T").split() == ["idle"])

    def run(self, *words):
        return subprocess.run(words, env=self.environment, check=True, capture_output=True, text=True).stdout

    @staticmethod
    def wait(until, seconds=90):
        end = time.monotonic() + seconds
        while not until():
            if time.monotonic() > end:
                raise AssertionError("waited in vain")
            time.sleep(0.2)

    def processes(self, node):
        """Of a node: its daemon, its steps' shepherds (slurmstepd), and what they started."""
        found, parents = set(), set()
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                environment = (process / "environ").read_bytes().split(b"\0")
                parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if f"SLURM_CONF={self.folder}/slurm.conf".encode() not in environment:
                continue
            if f"SLURMD_NODENAME={node}".encode() in environment:
                found.add(int(process.name))
                parents.add(parent)
            if words[:3] == [b"slurmd", b"-N", node.encode()]:
                found.add(int(process.name))
        return found | parents - {1}

    def kill(self, node):
        """As a machine dies: nobody is left to tell that the others are gone."""
        found = self.processes(node)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in found:
                os.kill(process, number)

    def end(self):
        self.run("scancel", "--full", "--user", "root")
        subprocess.run(["scontrol", "shutdown"], env=self.environment, capture_output=True)
        time.sleep(1)
        for node in NODES:
            self.kill(node)


def rows(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def results(folder):
    """results.csv without what differs from run to run, sorted."""
    with open(folder / "results.csv", newline="", encoding="utf-8") as f:
        return sorted(tuple((k, v) for k, v in line.items() if k not in TIMINGS) for line in csv.DictReader(f))


@unittest.skipUnless(shutil.which("slurmctld") and shutil.which("slurmd") and os.geteuid() == 0,
                     "no Slurm here, or not root: apt-get install slurm-wlm")
class Slurm(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "slurm").mkdir()
        self.cluster = Cluster(self.folder / "slurm")

    def tearDown(self):
        self.cluster.end()
        super().tearDown()

    def start(self, *options):
        return subprocess.Popen([sys.executable, SCRIPT, "--every", "0.5", *options, "--", GRADUS, *SWEEP, "--out",
                                 self.folder / "swept"], env=self.cluster.environment, cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_ends_through_the_death_of_a_node(self):
        swept = self.folder / "swept"
        watching = self.start()
        self.cluster.wait(lambda: len(list(swept.glob("parts/*/results.csv"))) >= 4)
        again = self.start()
        self.assertIn("another slurm_sweep.py", again.communicate()[1])
        watching.send_signal(signal.SIGINT)
        self.assertIn("the job goes on", watching.communicate()[1])
        self.cluster.wait(lambda: len(self.cluster.processes("two")) > 1)  # its daemon and a cell
        self.cluster.kill("two")
        watching = self.start()
        out, err = watching.communicate(timeout=300)
        self.assertEqual(watching.returncode, 0, err)
        self.assertIn("is at work: watching it", out)
        self.assertIn("all 24 cells done", out)
        self.gradus(*SWEEP, "--out", "undisturbed")
        self.assertEqual(results(swept), results(self.folder / "undisturbed"))
        done = [(r["optimizer"], r["batch"], r["seed"]) for part in swept.glob("parts/*") for r in rows(part)
                if r["state"] == "done"]
        self.assertEqual(len(done), 24, "a cell was run twice")

    def test_what_failed_is_submitted_again(self):
        (self.folder / "swept").mkdir()
        (self.folder / "swept/parts").write_text("in the way")
        watching = self.start("--tasks", "2")
        out, err = watching.communicate(timeout=120)
        self.assertEqual(watching.returncode, 1, out)
        self.assertIn("24 cells not done", err)
        (self.folder / "swept/parts").unlink()
        watching = self.start("--tasks", "2")
        out, err = watching.communicate(timeout=300)
        self.assertEqual(watching.returncode, 0, err)
        self.assertEqual(len(list((self.folder / "swept").glob("parts/*-of-2"))), 2)


STAND_IN = {"sbatch": """#!/bin/sh
for word; do
    case $word in --array=*) tasks=$(echo "${word#--array=}" | tr , ' ') ;; esac
done
for task in $tasks; do
    SLURM_ARRAY_TASK_ID=$task sh "$word"
done >/dev/null 2>&1
echo 7
""", "squeue": "#!/bin/sh\n"}


class StandIn(Case):
    """A machine that has done all tasks when sbatch returns."""

    def setUp(self):
        super().setUp()
        for name, text in STAND_IN.items():
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        self.environment["PATH"] = f"{self.folder}:{os.environ['PATH']}"

    def run_sweep(self, *words):
        return subprocess.run([sys.executable, SCRIPT, "--", GRADUS, "sweep", "keras-mlp", "--updates", "1",
                               "--optimizer", "sgd", *words, "--out", "swept"], env=self.environment, cwd=self.folder,
                              capture_output=True, text=True)

    def test_more_parts_than_are_merged_at_a_time(self):
        ended = self.run_sweep("--batch", "100", "--seeds", "66")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("all 66 cells done", ended.stdout)
        self.assertEqual(len(rows(self.folder / "swept")), 66)

    def test_a_cell_that_failed(self):
        words = ["--batch", "100,200", "--seeds", "1"]
        self.assertEqual(self.run_sweep(*words).returncode, 0)
        (self.folder / "swept/results.jsonl").write_text("")
        part = "swept/parts/1-of-2"
        self.write_rows(part, [{**row, "state": "failed"} for row in rows(self.folder / part)])
        (self.folder / "sbatch").write_text("#!/bin/sh\necho 7\n")  # its tasks come to nothing
        ended = self.run_sweep(*words)
        self.assertEqual((ended.returncode, ended.stderr.count("1 cell not done")), (1, 1), ended.stderr)
        (self.folder / "sbatch").write_text(STAND_IN["sbatch"])
        ended = self.run_sweep(*words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("all 2 cells done", ended.stdout)


if __name__ == "__main__":
    unittest.main()
