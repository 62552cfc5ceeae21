#!/usr/bin/env python3
"""Trains from drawn weights in fixed order and compares each update's loss with PyTorch's float32 run.

    check_trajectory.py GRADUS DRAW_WEIGHTS GOLDEN.json

Each loss must lie within max(1e-4, 4 x |PyTorch float32 - PyTorch float64|), relative. Real images come from $GRADUS_DATA;
without it, or with other images than the golden's, the test is skipped (exit code 77).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def train(gradus, draw_weights, golden, data):
    """The run's result row and its losses."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        weights, log = folder / "weights.safetensors", folder / "log.jsonl"
        subprocess.run([draw_weights, golden["recipe"], weights], check=True)
        command = [gradus, "train", golden["recipe"], "--data", data, "--init-weights", weights, "--no-shuffle",
                   "--updates", str(golden["updates"]), "--batch", str(golden["batch"]), "--optimizer", golden["optimizer"],
                   "--lr", str(golden["lr"]), "--log-updates", log, "--json"]
        if golden["optimizer"] == "adam":
            command += ["--adam-form", "pytorch"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        row = json.loads(done.stdout.splitlines()[-1])
        return row, [json.loads(line)["loss"] for line in log.read_text().splitlines()]


def main():
    gradus, draw_weights, path = sys.argv[1:4]
    data = os.environ.get("GRADUS_DATA")
    golden = json.loads(pathlib.Path(path).read_text())
    folder = {"cats-vs-dogs": "PetImages", "cifar10-cnn": "cifar-10-batches-bin"}[golden["recipe"]]
    if not data or not (pathlib.Path(data) / folder).is_dir():
        skip(f"GRADUS_DATA names no folder with {folder}")
    row, losses = train(gradus, draw_weights, golden, data)
    if row["data_hash"] != golden["data_hash"]:
        skip(f"the images in {folder} are not those of the golden (hash {row['data_hash']}, golden {golden['data_hash']})")
    if len(losses) != golden["updates"]:
        sys.exit(f"{len(losses)} losses logged, {golden['updates']} wanted")
    worst, wrong = 0, 0
    for update, (ours, single, double) in enumerate(zip(losses, golden["float32"], golden["float64"]), 1):
        error, allowed = abs(ours - single) / abs(single), max(1e-4, 4 * abs(single - double) / abs(single))
        worst = max(worst, error / allowed)
        if not error <= allowed:
            wrong += 1
            print(f"update {update}: loss {ours:.9g}, PyTorch {single:.9g}; {error:.2e} apart, {allowed:.2e} allowed")
    print(f"{path}: {wrong} of {len(losses)} losses are wrong; the worst is at {worst:.2f} of what is allowed ({row['isa']})")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
