#!/usr/bin/env python3
"""Trains a recipe for as many updates as golden.json holds and compares each loss: follow.py RUN GRADUS DRAW_WEIGHTS.

The losses must lie within 1e-4 of PyTorch's float32 losses, relative to them. But training may be chaotic: a unit that
rounding opens in one run and not in the other is felt by all that follows, and twice as much every update or two. Where
PyTorch's own float32 and float64 part further than that, which they do in cifar10-cnn, it holds for the first 20
updates; from there on the bound is 4e-2, or 4 x the largest distance of PyTorch's own two up to that update, if more.
Equally right kernels - three instruction sets, before and after sums were ordered in another way - ended up to 2e-2
away, on one of two ways that part about update 50. Runs of several ranks (make_ddp.py) are held to 1e-5.
Exit code 77 (skipped) without $GRADUS_DATA.
"""
import json, os, subprocess, sys, tempfile

TOGETHER, CLOSE, PARTED, RANKS_CLOSE = 20, 1e-4, 4e-2, 1e-5
HERE = os.path.dirname(os.path.abspath(__file__))


def distance(a, b):
    return abs(a - b) / abs(a)


def own_losses(golden, gradus, draw_weights, root):
    with tempfile.TemporaryDirectory() as folder:
        weights, log = os.path.join(folder, "weights.safetensors"), os.path.join(folder, "updates.jsonl")
        subprocess.run([draw_weights, golden["recipe"], str(golden["seed"]), weights], check=True)
        more = ["--adam-form", "pytorch"] if golden["optimizer"] == "adam" else []
        if "ranks" in golden:
            more += ["--ranks", str(golden["ranks"]), "--shards", str(golden["ranks"]), "--lr", str(golden["lr"])]
        subprocess.run([
            gradus, "train", golden["recipe"], "--data", root, "--optimizer", golden["optimizer"], *more, "--batch",
            str(golden["batch"]), "--updates", str(len(golden["float32"])), "--no-shuffle", "--init-weights", weights,
            "--log-updates", log, "--no-evaluation"
        ], check=True)
        return [json.loads(line)["loss"] for line in open(log)]


def main():
    run, gradus, draw_weights = sys.argv[1:]
    root = os.environ.get("GRADUS_DATA")
    if not root:
        print("skipped: GRADUS_DATA names no data root")
        sys.exit(77)
    golden = json.load(open(os.path.join(HERE, "golden.json")))[run]
    own, parted, worst, failed = own_losses(golden, gradus, draw_weights, root), 0.0, 0.0, 0
    close = RANKS_CLOSE if "ranks" in golden else CLOSE
    exact = golden.get("float64", golden["float32"])
    together = TOGETHER if max(map(distance, golden["float32"], exact)) > CLOSE else len(own)
    assert len(own) == len(golden["float32"]), f"{len(own)} losses logged, {len(golden['float32'])} wanted"
    for i, (ours, f32, f64) in enumerate(zip(own, golden["float32"], exact)):
        parted = max(parted, distance(f32, f64))
        bound = close if i < together else max(PARTED, 4 * parted)
        away = distance(f32, ours)
        worst = max(worst, away / bound)
        if not away <= bound:
            failed += 1
            print(f"update {i + 1}: loss {ours:.9g}, PyTorch {f32:.9g}, relative distance {away:.2e} > {bound:.2e}")
    print(f"{run}: {len(own)} updates, worst distance {worst:.3f} of its bound")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
