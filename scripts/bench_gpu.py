#!/usr/bin/env python3
"""Times Gradus' training steps beside PyTorch's on a GPU, in turn, in one process.

    bench_gpu.py [--cells MODEL:OPTIMIZER:BATCH:PRECISION,...] [--rounds N] [--seconds X] [--minutes N] [--out FILE]

Both train the networks of bench_workers.py, which says what a step is; PyTorch in each of its ways: eager,
channels_last, torch.compile. A round lets each of them train for X seconds, one after the other; the first round only
warms up. A ratio is the fastest way's median step over Gradus' in the same round; above 1 Gradus is faster. fp32 is
without TF32 on both sides, bf16 is PyTorch's autocast. Gradus launches kernel by kernel here, where a training run
repeats a step as a CUDA graph. FILE gets a line of JSON for each cell, as soon as it is done; after N minutes no other
cell begins. $GRADUS_LIBRARY: libgradus.so (default: build/release's).
"""
import argparse
import gc
import json
import statistics
import sys
import time

import bench_workers
from bench_pytorch import quartiles

CELLS = [f"{cell}:{precision}" for cell in ("cifar10-cnn:adam:128", "cats-vs-dogs:adam:128",
                                            "resnet18-cifar:momentum:128", "resnet18-cifar:momentum:16",
                                            "cifar10-cnn:adam:16", "cats-vs-dogs:adam:16", "cifar10-cnn:adam:1024")
         for precision in ("fp32", "bf16")]
MODES = ("eager", "channels_last", "compile")


def contestants(model, optimizer, batch, precision):
    """(name, step, most bytes of tensors) of all that can run."""
    import torch
    step, peak, version = bench_workers.gradus(model, optimizer, batch, 1, "", "cuda", precision)
    yield "gradus", step, peak, version
    for mode in MODES:
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        try:
            step, peak, version = bench_workers.pytorch(model, optimizer, batch, 1, mode, "cuda", precision)
            bench_workers.timed(step, 0, 3)
        except Exception as error:  # torch.compile wants a compiler, a way may lack memory: the others go on
            print(f"left out: {mode}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        most = peak() - before
        yield mode, step, lambda most=most: most, version


def measure(cell, rounds, seconds):
    model, optimizer, batch, precision = cell.split(":")
    every = list(contestants(model, optimizer, int(batch), precision))
    medians = {name: [] for name, *_ in every}
    for i in range(rounds + 1):
        for name, step, *_ in every[i % len(every):] + every[:i % len(every)]:
            median = statistics.median(bench_workers.timed(step, seconds))
            if i > 0:
                medians[name].append(median)
    ways = [name for name in medians if name != "gradus"]
    if not ways:
        sys.exit(f"bench_gpu.py: {cell}: none of PyTorch's ways runs")
    best = min(ways, key=lambda name: statistics.median(medians[name]))
    return {
        "model": model, "optimizer": optimizer, "batch": int(batch), "precision": precision, "mode": best,
        "ratio": quartiles([p / o for p, o in zip(medians[best], medians["gradus"])]),
        "ms": {name: statistics.median(values) for name, values in medians.items()}, "ms_of_rounds": medians,
        "bytes": {name: peak() for name, _, peak, _ in every}, "versions": {name: v for name, *_, v in every}
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default=",".join(CELLS), help="default: all that this script knows")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    parser.add_argument("--seconds", type=float, default=0.2, help="that each trains in a round; default: 0.2")
    parser.add_argument("--minutes", type=float, default=10, help="default: 10")
    parser.add_argument("--out", help="a file for the rows")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("bench_gpu.py: PyTorch is not installed: pip install torch")
    if not torch.cuda.is_available():
        sys.exit("bench_gpu.py: PyTorch sees no GPU")
    end, rows = time.monotonic() + 60 * options.minutes, []
    for cell in options.cells.split(","):
        if time.monotonic() > end:
            print(f"no time is left for {cell}", file=sys.stderr)
            continue
        row = measure(cell, options.rounds, options.seconds)
        gc.collect()
        torch.cuda.empty_cache()
        torch._dynamo.reset()
        rows.append(row)
        low, middle, high = row["ratio"]
        print(f"{cell:36} Gradus {row['ms']['gradus']:8.3f} ms, PyTorch {row['ms'][row['mode']]:8.3f} ms "
              f"({row['mode']}), ratio {middle:.2f} ({low:.2f}-{high:.2f})", flush=True)
        if options.out:
            with open(options.out, "w", encoding="utf-8") as f:
                f.writelines(json.dumps(r) + "\n" for r in rows)


if __name__ == "__main__":
    main()
