#!/usr/bin/env python3
"""Measures what half precision saves: planned peak memory, the largest batch under a limit, and a step's time.

    bench_precision.py [--models M,...] [--rounds N] [--seconds S] [--threads N] [--limit BYTES] [--device D]

Prints a table in Markdown. Times are medians of steps in fp32, fp16 and bf16, which take turns in one run, each in a
process of its own; the ratio to fp32 is the median over the rounds, of two neighbours in time. Memory is what the dry
run of a step lays out, so the largest batch is found without training with it.
"""
import argparse
import functools
import json
import os
import statistics
import subprocess
import sys

from bench_pytorch import ROOT, Worker

PRECISIONS = ("fp32", "fp16", "bf16")
CELLS = {
    "cats-vs-dogs": ("sgd", (32, 128)), "cifar10-cnn": ("adam", (32, 1024)), "resnet18-cifar": ("momentum", (16, 128))
}


@functools.lru_cache(maxsize=None)
def peak(model, optimizer, precision, batch):
    command = [ROOT / "build/release/gradus", "summary", model, "--optimizer", optimizer, "--precision", precision,
               "--batch", str(batch), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["peak_bytes"]


def largest(model, optimizer, precision, limit):
    """Memory grows by nearly the same for each sample: a line through two batches leads almost there."""
    def left(batch):
        return limit - peak(model, optimizer, precision, batch)

    batch, each = 16, (left(16) - left(32)) / 16
    while not left(batch) >= 0 > left(batch + 1):
        batch += int(left(batch) // each) or (1 if left(batch) >= 0 else -1)
    return batch


def times(model, optimizer, batch, options):
    """Medians of each round by precision."""
    workers = {p: Worker("gradus", sys.executable, (model, optimizer, batch), options.threads, options.device, p)
               for p in PRECISIONS}
    for i in range(options.rounds + 1):
        for precision in PRECISIONS[i % 3:] + PRECISIONS[:i % 3]:
            workers[precision].run(options.seconds)
    for worker in workers.values():
        worker.close()
    return {p: worker.medians[1:] for p, worker in workers.items()}  # a first block only warms up


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(CELLS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=int, default=2**31)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    print(f"| | batch | | peak MiB | largest batch in {options.limit / 2**30:g} GiB | ms | to fp32 |\n"
          "|---|---:|---|---:|---:|---:|---:|")
    for model in options.models.split(","):
        optimizer, batches = CELLS[model]
        most = {p: largest(model, optimizer, p, options.limit) for p in PRECISIONS}
        for batch in batches:
            ms = times(model, optimizer, batch, options)
            for p in PRECISIONS:
                ratio = statistics.median(a / b for a, b in zip(ms[p], ms["fp32"]))
                print(f"| {model}, {optimizer} | {batch} | {p} | {peak(model, optimizer, p, batch) / 2**20:.0f} | "
                      f"{most[p]} | {statistics.median(ms[p]):.1f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
