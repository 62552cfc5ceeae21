#!/usr/bin/env python3
"""An update by one process on one core, and by several that mpirun starts with a core each, in turns.

  bench_ranks.py RECIPE --batch N [--ranks 2] [--updates 20] [--pairs 5] [--link RATE,DELAY ...] [-- OPTIONS]

With --link ("1000,0.1": 1,000 Mbit/s and 0.1 ms one way; as often as wanted) each process is in a network namespace of
its own, and what they send goes through a relay that holds it to that rate and delay (machines.py; root alone can).
Beside the measurement stands what the model of `gradus bench scaling` makes of one process' time and of the link.
OPTIONS are of `gradus train`. $GRADUS is the program, by default build/release/gradus.

A first pair is left out. Times are of the training alone, without start and end; a ratio is of two neighbours in time.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRADUS = os.environ.get("GRADUS", str(ROOT / "build/release/gradus"))
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(words):
    """The row of a run; all must end with the same loss, to the bit."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | AS_ROOT)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stderr}{done.stdout}ended with {done.returncode}")
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])


def mpirun():
    """Of the MPI that the program is linked with, by Debian's name."""
    mpich = "mpich" in subprocess.run(["ldd", GRADUS], capture_output=True, text=True).stdout
    return "mpiexec.mpich" if mpich else "mpiexec.openmpi"


def gradient_bytes(recipe):
    said = subprocess.run([GRADUS, "summary", recipe, "--batch", "1", "--json"], capture_output=True, check=True)
    return 4 * json.loads(said.stdout)["parameters"]


def pairs(alone, together, n):
    """[(ms of an update alone, together)], the first pair left out."""
    rows = [(run(alone), run(together)) for _ in range(n + 1)]
    if len({row["train_loss"] for pair in rows for row in pair}) > 1:
        sys.exit("the runs have other losses, so they are not the same")
    return [tuple(1e3 * row["seconds"] / row["updates"] for row in pair) for pair in rows[1:]]


def tell(name, measured, model):
    ratios = [together / alone for alone, together in measured]
    alone, together = (statistics.median(times) for times in zip(*measured))
    told = f"{model(alone):.1f} | {100 * (model(alone) / together - 1):+.0f} %" if model else " | "
    print(f"| {name} | {alone:.1f} | {together:.1f} | {statistics.median(ratios):.3f} | "
          f"{min(ratios):.3f} to {max(ratios):.3f} | {told} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--link", action="append", default=[], metavar="RATE,DELAY")
    asked, more = parser.parse_known_args()
    words = [GRADUS, "train", asked.recipe, "--batch", asked.batch, "--shards", asked.ranks, "--threads", 1,
             "--updates", asked.updates, "--no-evaluation", "--json", *[word for word in more if word != "--"]]
    words, ranks = [str(word) for word in words], asked.ranks
    alone, cores = ["taskset", "-c", "0", *words], os.cpu_count()
    print(f"| link | 1 process, ms | {ranks} processes, ms | ratio | lowest to highest | model, ms | off |\n"
          "|---|---:|---:|---:|---:|---:|---:|")
    if not asked.link:
        together = [mpirun(), "-np", str(ranks), "-bind-to", "core", *words]
        tell(f"{asked.recipe} at {asked.batch}", pairs(alone, together, asked.pairs), None)
    for link in asked.link:
        from machines import Machines
        rate, delay = (float(word) for word in link.split(","))
        sent = 2 * (ranks - 1) / ranks * gradient_bytes(asked.recipe) / (rate * 1e6 / 8)
        with Machines(ranks, rate * 1e6 / 8, delay * 1e-3, cores) as machines:
            measured = pairs(alone, [*machines.mpirun(), *words], asked.pairs)
        tell(f"{asked.recipe} at {asked.batch}, {rate:g} Mbit/s, {delay:g} ms", measured, lambda one: one / min(
            ranks, cores) + 1e3 * sent + 2 * math.log2(ranks) * delay)


if __name__ == "__main__":
    main()
