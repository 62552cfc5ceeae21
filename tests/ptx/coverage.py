#!/usr/bin/env python3
"""How much of each kernel's PTX was run: coverage.py [--least PERCENT] [--all] [--lines] FILE...

Joins what programs wrote with GRADUS_PTX="cover=FILE": an instruction was run if any of them ran it. Prints, for each
source, kernels, kernels that were launched, and the share of the launched ones' instructions that was run; below,
kernels under PERCENT (95) and those that were never launched; with --all every kernel; with --lines the source's lines
that most of the instructions come from which were not run.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "machine_code"))
import names  # noqa: E402

Kernel = collections.namedtuple("Kernel", "source launches count ran lines")


def read(paths):
    """(architecture, kernel) -> its source, launches, instructions, bits of those that were run, lines of the source"""
    kernels = {}
    for path in paths:
        for line in open(path):
            row = json.loads(line)
            key = row["arch"], row["kernel"]
            k = kernels.get(key, Kernel("?", 0, 0, 0, ""))
            kernels[key] = Kernel(row["source"] if k.source == "?" else k.source, k.launches + row["launches"],
                                  max(k.count, row["instructions"]), k.ran | int(row["ran"] or "0", 16),
                                  k.lines or row["lines"])
    return kernels


def shown_names(kernels):
    """Short ones; where there is no c++filt, as the machine code has them."""
    mangled = sorted({name for _, name in kernels})
    try:
        return {name: names.short(plain) for name, plain in names.plain_names(mangled).items()}
    except (OSError, subprocess.CalledProcessError):
        return {name: name for name in mangled}


def share(kernel):
    return 100 * bin(kernel.ran).count("1") / max(kernel.count, 1)


def not_run(kernel):
    """The source's line of each instruction that was not run."""
    bit = 1 << 4 * -(-kernel.count // 4)
    for part in kernel.lines.split():
        times, line = part.split("*")
        for _ in range(int(times)):
            bit >>= 1
            if not kernel.ran & bit:
                yield line


def print_sources(kernels):
    by_source = collections.defaultdict(lambda: [0, 0, 0, 0])
    for k in kernels.values():
        row = by_source[k.source]
        row[0] += 1
        row[1] += k.launches > 0
        row[2] += k.count if k.launches else 0
        row[3] += bin(k.ran).count("1")
    print(f"{'source':32} kernels launched instructions  run")
    for source, (all_of_them, launched, count, ran) in sorted(by_source.items()):
        print(f"{source:32} {all_of_them:7} {launched:8} {count:12} {100 * ran / max(count, 1):5.1f} %")
    total = [sum(row[i] for row in by_source.values()) for i in range(4)]
    print(f"{'all':32} {total[0]:7} {total[1]:8} {total[2]:12} {100 * total[3] / max(total[2], 1):5.1f} %")


def print_lines(kernels, most=40):
    lines = collections.Counter(line for k in kernels.values() if k.launches for line in not_run(k))
    for line, times in lines.most_common(most):
        print(f"{times:8} {line}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--least", type=float, default=95)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    kernels = read(options.files)
    shown = shown_names(kernels)
    print_sources(kernels)
    if options.lines:
        print_lines(kernels)
    for (arch, name), kernel in sorted(kernels.items()):
        if options.all or not kernel.launches or share(kernel) < options.least:
            state = f"{share(kernel):.1f} %" if kernel.launches else "never launched"
            print(f"sm_{arch} {kernel.source} {shown[name]}: {state} of {kernel.count} instructions")


if __name__ == "__main__":
    main()
