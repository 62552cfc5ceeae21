"""Training through the PTX that nvcc made: recipes take the steps that the CPU's take, in every order of streams.

    GRADUS=PATH GRADUS_PTX="arch=80" python3 train.py [RECIPE...]

GRADUS is the tool whose device cuda is the interpreter. A loss may lie as far from the CPU's as the device simt's may
(tests/cli/test_emulated.py): 1e-4; both sum in float, each in an order of its own, and few updates let little grow.
"""

import json
import os
import subprocess
import sys
import tempfile

# samples in a batch, updates, further options; the pictures of cats-vs-dogs are made small
RECIPES = {
    "cifar10-cnn": (4, 4, []),
    "cats-vs-dogs": (2, 2, ["--resize", "32"]),
    "resnet18-cifar": (2, 1, []),  # a long first step: the second loss of any two devices differs
}
BOUND = 1e-4


def losses(recipe, device, words, *more):
    batch, updates, options = RECIPES[recipe]
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "updates.jsonl")
        settings = " ".join([os.environ.get("GRADUS_PTX", ""), words])
        subprocess.run(
            [os.environ["GRADUS"], "train", recipe, "--procedural", "--batch", str(batch), "--updates", str(updates),
             "--device", device, "--no-evaluation", "--log-updates", log, *options, *more],
            check=True, stdout=subprocess.DEVNULL, env={**os.environ, "GRADUS_PTX": settings})
        return [json.loads(line)["loss"] for line in open(log)]


def check(recipe):
    expected = losses(recipe, "cpu", "")
    got = losses(recipe, "cuda", "streams=late races=off")
    worst = max(abs(a - b) for a, b in zip(got, expected))
    print(f"{recipe}: {len(got)} updates, at most {worst:.1e} from the CPU's losses")
    return len(got) == len(expected) == RECIPES[recipe][1] and worst < BOUND


def check_orders():
    """The same bits whatever the order of blocks, warps, lanes, copies and streams."""
    runs = ["streams=late", "streams=early order=reverse copies=early", "streams=random:5 order=random:5"]
    bits = {run: losses("cifar10-cnn", "cuda", run) for run in runs}
    same = all(b == bits[runs[0]] for b in bits.values())
    print("cifar10-cnn:", "the same bits in every order" if same else bits)
    return same


def check_halves():
    """fp16 stays near the floats' losses, and is not them."""
    expected, got = losses("cifar10-cnn", "cpu", ""), losses("cifar10-cnn", "cuda", "races=off", "--precision", "fp16")
    worst = max(abs(a - b) for a, b in zip(got, expected))
    print(f"cifar10-cnn: fp16 at most {worst:.1e} from the floats' losses")
    return 0 < worst < 2e-2


def main():
    results = [check(recipe) for recipe in sys.argv[1:] or RECIPES]
    if not sys.argv[1:]:
        results += [check_orders(), check_halves()]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
