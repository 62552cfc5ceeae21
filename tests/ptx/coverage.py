#!/usr/bin/env python3
"""How much of each kernel's PTX was run: coverage.py [--least PERCENT] [--all] FILE...

Joins what programs wrote with GRADUS_PTX="cover=FILE": an instruction was run if any of them ran it. Prints, for each
source, kernels, kernels that were launched, and the share of the launched ones' instructions that was run; below,
kernels under PERCENT (95) and those that were never launched; with --all every kernel.
"""
import argparse
import collections
import json
import subprocess


def read(paths):
    """(architecture, kernel) -> source, launches, instructions, bits of those that were run"""
    kernels = {}
    for path in paths:
        for line in open(path):
            row = json.loads(line)
            key = row["arch"], row["kernel"]
            source, launches, count, ran = kernels.get(key, ("?", 0, 0, 0))
            source = row["source"] if source == "?" else source
            kernels[key] = (source, launches + row["launches"], max(count, row["instructions"]),
                            ran | int(row["ran"] or "0", 16))
    return kernels


def plain_names(names):
    try:
        text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
        return dict(zip(names, text.splitlines()))
    except (OSError, subprocess.CalledProcessError):
        return {name: name for name in names}


def print_sources(kernels):
    by_source = collections.defaultdict(lambda: [0, 0, 0, 0])
    for source, launches, count, ran in kernels.values():
        row = by_source[source]
        row[0] += 1
        row[1] += launches > 0
        row[2] += count if launches else 0
        row[3] += bin(ran).count("1")
    print(f"{'source':32} kernels launched instructions  run")
    for source, (all_of_them, launched, count, ran) in sorted(by_source.items()):
        print(f"{source:32} {all_of_them:7} {launched:8} {count:12} {100 * ran / max(count, 1):5.1f} %")
    total = [sum(row[i] for row in by_source.values()) for i in range(4)]
    print(f"{'all':32} {total[0]:7} {total[1]:8} {total[2]:12} {100 * total[3] / max(total[2], 1):5.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--least", type=float, default=95)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    kernels = read(options.files)
    print_sources(kernels)
    names = plain_names(sorted({name for _, name in kernels}))
    for (arch, name), (source, launches, count, ran) in sorted(kernels.items()):
        percent = 100 * bin(ran).count("1") / max(count, 1)
        if options.all or percent < options.least:
            state = f"{percent:.1f} %" if launches else "never launched"
            print(f"sm_{arch} {source} {names[name]}: {state} of {count} instructions")


if __name__ == "__main__":
    main()
