#!/usr/bin/env python3
"""Trains a recipe for as many updates as golden.json holds and compares each loss: follow.py RUN GRADUS DRAW_WEIGHTS.

At every update the loss must lie within max(1e-4, 4 x PyTorch's own distance between float32 and float64) of PyTorch's
float32 loss, relative to it; its own distance is the largest up to that update, because two trajectories that have
parted still cross now and then. Exit code 77 (skipped) without $GRADUS_DATA.
"""
import json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def own_losses(golden, gradus, draw_weights, root):
    with tempfile.TemporaryDirectory() as folder:
        weights, log = os.path.join(folder, "weights.safetensors"), os.path.join(folder, "updates.jsonl")
        subprocess.run([draw_weights, golden["recipe"], str(golden["seed"]), weights], check=True)
        form = ["--adam-form", "pytorch"] if golden["optimizer"] == "adam" else []
        subprocess.run([
            gradus, "train", golden["recipe"], "--data", root, "--optimizer", golden["optimizer"], *form, "--batch",
            str(golden["batch"]), "--updates", str(len(golden["float32"])), "--no-shuffle", "--init-weights", weights,
            "--log-updates", log
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
    assert len(own) == len(golden["float32"]), f"{len(own)} losses logged, {len(golden['float32'])} wanted"
    for i, (ours, f32, f64) in enumerate(zip(own, golden["float32"], golden["float64"])):
        parted = max(parted, abs(f32 - f64) / abs(f32))
        distance, bound = abs(ours - f32) / abs(f32), max(1e-4, 4 * parted)
        worst = max(worst, distance / bound)
        if not distance <= bound:
            failed += 1
            print(f"update {i + 1}: loss {ours:.9g}, PyTorch {f32:.9g}, relative distance {distance:.2e} > {bound:.2e}")
    print(f"{run}: {len(own)} updates, worst distance {worst:.3f} of its bound")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
