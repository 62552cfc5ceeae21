#!/usr/bin/env python3
"""How the products of training steps are cut into blocks on GPUs of so many multiprocessors.

    scripts/tell_plans.py --program build/release/gradus [--recipe cifar10-cnn] [--batch 16,128] [--precision fp16]
                          [--multiprocessors 40,108,132] [--capability 90]

A line is a product: its tile, results and depth, parts of the depth, blocks, the share of its multiply-adds that are
asked for, and the share of the time in which all multiprocessors have as many blocks as the busiest one. Nothing is
measured, and nothing compiled: the device simt writes its launches down.
"""
import argparse
import collections
import sys

sys.dont_write_bytecode = True
from bounds import launches, plans  # noqa: E402


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the tool gradus, which has the device simt")
    parser.add_argument("--recipe", default="cifar10-cnn")
    parser.add_argument("--batch", type=numbers, default=[16, 128])
    parser.add_argument("--precision")
    parser.add_argument("--multiprocessors", type=numbers, default=[40, 108, 132])
    parser.add_argument("--capability", type=int, default=80, help="90: halves by wgmma")
    options = parser.parse_args()
    for batch in options.batch:
        for count in options.multiprocessors:
            update = launches.of_update(options.program, options.recipe, batch, count, options.capability,
                                        options.precision)
            print(f"{options.recipe}, batch {batch}, {count} multiprocessors\n"
                  "   tile        m       n        k splits blocks useful waves  operands")
            for one, times in collections.Counter(plans.products(update)).items():
                print(f"{one.tile[0]:3}x{one.tile[1]:<3} {one.m:8} {one.n:7} {one.k:8} {one.splits:6} {one.blocks:6} "
                      f"{100 * one.useful:4.0f} % {100 * one.waves(count):3.0f} %  {one.operands}"
                      f"{f' ({times} times)' if times > 1 else ''}")
            print()


if __name__ == "__main__":
    try:
        main()
    except launches.Refused as refused:
        sys.exit(f"tell_plans.py: {refused}")
