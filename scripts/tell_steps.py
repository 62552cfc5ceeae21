#!/usr/bin/env python3
"""Tells training steps of many recipes at many batch sizes on GPUs that are not there: the tables of docs/gpu.md.

    tell_steps.py --program build/release/gradus --folder FOLDER [--recipe a,b] [--batch 4,16] [--gpu t4,a100]
                  [--halves] [--print]

Each cell is what `gradus bench --bound GPU --recipe R --batch B --json` says, kept as a file of FOLDER: one that is
there is not asked for again, so that a stopped run goes on where it was. Printed is a row for each recipe and batch:
launches, and for each GPU the floors of all launches / what is told (its interval), in ms; a cell that could not be
had is empty, its reason stands below. --halves: fp16 before compute capability 8.0, bf16 from there on. --print: what
FOLDER has, nothing is told. No figure is a measurement: docs/bounds.md.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
from bounds import chips  # noqa: E402

RECIPES = ("mnist-mlp,fashion-mlp,keras-mlp,cifar10-cnn,cifar10-normalised,cats-vs-dogs,cifar10-94,cifar10-94-muon,"
           "resnet18-article,resnet18-cifar")
HERE = pathlib.Path(__file__).resolve().parent


def milliseconds(microseconds):
    """Three digits."""
    digits = 2 - math.floor(math.log10(microseconds / 1e3)) if microseconds > 0 else 0
    return f"{microseconds / 1e3:.{max(digits, 0)}f}"


def cell(told):
    if not told or "reason" in told:
        return ""
    lost = f", {told['untold']} launches not told" if told["untold"] else ""
    return f"{milliseconds(told['floor'])} / {milliseconds(told['told'])} ({milliseconds(told['low'])} to " \
           f"{milliseconds(told['high'])}{lost})"


def precision_of(gpu, halves):
    old = chips.numbers(chips.find(gpu))["architecture"] < 80
    return ("fp16" if old else "bf16") if halves else "fp32"


def ask(options, recipe, batch, gpu, precision):
    """What is told of a step, or {"reason": why nothing is}; None: not asked for yet."""
    path = options.folder / f"{recipe}.{batch}.{gpu.replace(' ', '-')}.{precision}.json"
    if not path.exists() and not options.print:
        words = [sys.executable, HERE / "bench_bound.py", "--program", options.program, "--gpu", gpu, "--recipe",
                 recipe, "--batch", str(batch), "--json", *(["--precision", precision] if precision != "fp32" else [])]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        said = done.stdout if done.returncode == 0 else json.dumps({"reason": done.stderr.strip()})
        part = path.with_suffix(".part")
        part.write_text(said, encoding="utf-8")
        part.rename(path)
        print(f"{path.name}: {cell(json.loads(said)) or said}", file=sys.stderr, flush=True)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def print_table(options):
    reasons = []
    print(f"| recipe | batch | launches | {' | '.join(map(chips.find, options.gpu))} |")
    print("|---" * (3 + len(options.gpu)) + "|")
    for recipe in options.recipe:
        for batch in options.batch:
            told = [ask(options, recipe, batch, gpu, precision_of(gpu, options.halves)) for gpu in options.gpu]
            had = [str(one["launches"]) for one in told if one and "reason" not in one]
            reasons += [f"{recipe} {batch} {gpu}: {one['reason']}" for gpu, one in zip(options.gpu, told)
                        if one and "reason" in one]
            if had:
                launches = had[0] if len(set(had)) == 1 else ", ".join(had)
                print(f"| {recipe} | {batch} | {launches} | {' | '.join(map(cell, told))} |", flush=True)
    print("\n" + "\n".join(reasons) if reasons else "", end="\n" if reasons else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, help="the tool gradus, which has the device simt")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where the cells are kept")
    parser.add_argument("--recipe", default=RECIPES)
    parser.add_argument("--batch", default="4,16,128,1024")
    parser.add_argument("--gpu", default="t4,a100,h100")
    parser.add_argument("--halves", action="store_true")
    parser.add_argument("--print", action="store_true", help="only what the folder has")
    options = parser.parse_args()
    if not options.program and not options.print:
        parser.error("--program is wanted, or --print")
    options.recipe, options.batch, options.gpu = (text.split(",") for text in (options.recipe, options.batch,
                                                                               options.gpu))
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        print_table(options)
    except chips.Unknown as unknown:
        sys.exit(f"tell_steps.py: {unknown}")


if __name__ == "__main__":
    main()
