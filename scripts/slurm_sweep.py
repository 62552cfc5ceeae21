#!/usr/bin/env python3
"""Runs a sweep as a job array of Slurm: each cell a process of its own, on whichever machine is free.

  slurm_sweep.py [--tasks N] [--sbatch=OPTION]... -- gradus sweep RECIPE ... --out FOLDER

Call it where the sweep would be called; FOLDER and the data must be seen by all machines under the same path. It
submits the cells that are not done yet, tells how they go on, and puts their rows, the tables and the picture together
in FOLDER (gradus sweep merge). A cell whose machine dies runs again on another one. Stopped (Ctrl-C) it leaves the job
alone: the same command watches it again, or submits what is left after it. Ends with 0 when every cell is done.
"""

import argparse
import collections
import fcntl
import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

OVER = {"DONE", "OOM", "DIVERGED", "TIMED_OUT"}  # what is not run again
MOST_FOLDERS = 64  # that 'gradus sweep merge' takes at a time
CELLS_FAILED = 1  # its exit code where it has merged, and there are such among them
ALIVE = "PENDING,RUNNING,CONFIGURING,COMPLETING,REQUEUED,SUSPENDED,STOPPED"


def fail(words):
    sys.exit(f"slurm_sweep.py: {words}")


def said(*words, well=(0,)):
    """What a command prints; one that ends with another code than these ends this program, with what it says."""
    ended = subprocess.run(words, capture_output=True, text=True)
    if ended.returncode not in well:
        fail(f"{shlex.join(words)} ended with {ended.returncode}: {(ended.stderr or ended.stdout).strip()}")
    return ended.stdout


class Sweep:
    """The command that asks for all cells, and its folder."""

    def __init__(self, words):
        if len(words) < 3 or words[1] != "sweep" or "--out" not in words[:-1]:
            fail("after -- a command is wanted: gradus sweep RECIPE ... --out FOLDER")
        for taken in ("--shard", "--dry-run"):
            if taken in words:
                fail(f"{taken} is what this program gives to 'gradus sweep' itself; leave it out")
        self.program = shutil.which(words[0]) or fail(f"{words[0]}: no such program")
        self.program = os.path.abspath(self.program)
        at = words.index("--out")
        self.folder = pathlib.Path(words[at + 1]).absolute()
        self.words = words[1:at] + words[at + 2:]
        self.name = "gradus-" + hashlib.sha256(str(self.folder).encode()).hexdigest()[:12]  # of the job: one a folder

    def states(self):
        """What became of each cell, in the grid's order; a command that a sweep would refuse ends here."""
        table = said(self.program, *self.words, "--out", str(self.folder), "--dry-run").split("state\n", 1)[1]
        return [line.split()[3] for line in table.splitlines()[:-1]]

    def part(self, task, tasks):
        return self.folder / "parts" / f"{task}-of-{tasks}"

    def script(self, tasks):
        part = shlex.quote(str(self.folder / "parts")) + f"/$SLURM_ARRAY_TASK_ID-of-{tasks}"
        command = shlex.join([self.program, *self.words])
        return (f"#!/bin/sh\nmkdir -p {shlex.quote(str(self.folder / 'parts'))}\n"
                f"exec {command} --out {part} --shard $SLURM_ARRAY_TASK_ID/{tasks}\n")

    def merge(self):
        """Rows of all parts so far, into the folder."""
        parts = sorted(str(rows.parent) for rows in self.folder.glob("parts/*/results.jsonl"))
        for i in range(0, len(parts), MOST_FOLDERS):
            said(self.program, "sweep", "merge", *parts[i:i + MOST_FOLDERS], "--out", str(self.folder),
                 well=(0, CELLS_FAILED))


def job_states(sweep):
    """How many tasks of the folder's job are in which state; none: there is no such job, or it is over."""
    lines = said("squeue", "--noheader", "--array", "--me", "--name", sweep.name, "--states", ALIVE,
                 "--format", "%T").split()
    return collections.Counter(lines)


def submit(sweep, states, tasks, options):
    """Tasks are counted from 1, as shards are: cell i is of task i % tasks + 1."""
    wanted = sorted({i % tasks + 1 for i, state in enumerate(states) if state not in OVER})
    script, logs = sweep.folder / "job.sh", sweep.folder / "logs"
    logs.mkdir(exist_ok=True)
    script.write_text(sweep.script(tasks))
    job = said("sbatch", "--parsable", "--requeue", "--open-mode=append", f"--job-name={sweep.name}",
               f"--array={','.join(map(str, wanted))}", f"--output={logs}/%a-of-{tasks}.txt", *options, str(script))
    print(f"job {job.strip().split(';')[0]}: {len(wanted)} of {tasks} tasks submitted", flush=True)


def watch(sweep, every):
    told = None
    while True:
        tasks = job_states(sweep)
        sweep.merge()
        cells = collections.Counter(sweep.states())
        words = ", ".join(f"{n} {state}" for state, n in cells.most_common())
        words += "; tasks: " + (", ".join(f"{n} {state.lower()}" for state, n in tasks.most_common()) or "none left")
        if words != told:
            print(f"cells: {words}", flush=True)
            told = words
        if not tasks:
            return cells
        time.sleep(every)


def locked(folder):
    """The folder's lock, held as long as this program lives."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = open(folder / "slurm.lock", "w", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fail(f"another slurm_sweep.py is at work on {folder}")
    return lock


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, help="number of tasks that share the cells (default: one a cell)")
    parser.add_argument("--sbatch", action="append", default=[], metavar="OPTION",
                        help="an option for sbatch, such as --sbatch=--cpus-per-task=8; may be repeated")
    parser.add_argument("--every", type=float, default=10, metavar="SECONDS", help="time between looks (default 10)")
    parser.add_argument("command", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not shutil.which("sbatch"):
        fail("sbatch is not found: this is for machines with Slurm; 'gradus sweep --shard 1/2' divides work by hand")
    sweep = Sweep(options.command)
    states = sweep.states()
    tasks = min(options.tasks or len(states), len(states))
    if tasks < 1:
        fail(f"--tasks {options.tasks}: at least 1")
    lock = locked(sweep.folder)
    if job_states(sweep):
        print(f"a job of {sweep.folder} is at work: watching it", flush=True)
    elif set(states) - OVER:
        submit(sweep, states, tasks, options.sbatch)
    try:
        cells = watch(sweep, options.every)
    except KeyboardInterrupt:
        fail(f"stopped; the job goes on. The same command watches it again, 'scancel --name {sweep.name}' ends it")
    lock.close()
    left = sum(n for state, n in cells.items() if state not in OVER)
    if left:
        fail(f"{left} cell{'s' * (left > 1)} not done: {sweep.folder}/logs tells why; the same command submits what is "
             "left")
    print(f"all {sum(cells.values())} cells done: {sweep.folder}/table.txt")


if __name__ == "__main__":
    main()
