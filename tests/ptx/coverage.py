#!/usr/bin/env python3
"""How much of each kernel's PTX was run: coverage.py [--reasons CSV] [--all] [--lines] FILE...

Joins what programs wrote with GRADUS_PTX="cover=FILE": an instruction was run if any of them ran it. Prints, for each
source, kernels, kernels that were launched, and the share of the launched ones' instructions that was run; below,
kernels under 95 % and those that were never launched; with --all every kernel; with --lines the source's lines that
most of the instructions come from which were not run. Divisions of numbers beyond 32 bits, which nvcc puts behind a
branch, are left out: only tensors of more than 2^32 elements come to them.

With --reasons it fails where a kernel that is launched is under 95 %, or one is never launched, and no row of CSV says
why; where one is under what its row says; and where a row speaks of nothing any more. A row has

  arch     75, 80, 90, several of them, or * for all
  kernel   a pattern of the shell for the name; "all" for all that are launched, together
  least    percent; "never" of kernels that are never launched
  reason   why not more
"""
import argparse
import collections
import csv
import fnmatch
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "machine_code"))
import names  # noqa: E402

Kernel = collections.namedtuple("Kernel", "source launches count ran apart lines")
Reason = collections.namedtuple("Reason", "arch kernel least reason")
ENOUGH = 95  # percent, without a reason


def read(paths):
    """(architecture, kernel) -> its source, launches, instructions, bits of those that were run, lines of the source"""
    kernels = {}
    for path in paths:
        for line in open(path):
            row = json.loads(line)
            key = row["arch"], row["kernel"]
            k = kernels.setdefault(key, Kernel("?", 0, 0, 0, 0, ""))
            if row["launches"]:
                kernels[key] = Kernel(row["source"], k.launches + row["launches"], row["instructions"],
                                      k.ran | int(row["ran"], 16), int(row["long_divisions"], 16), row["lines"])
    return kernels


def shown_names(kernels):
    """Short ones; where there is no c++filt, as the machine code has them."""
    mangled = sorted({name for _, name in kernels})
    try:
        return {name: names.short(plain) for name, plain in names.plain_names(mangled).items()}
    except (OSError, subprocess.CalledProcessError):
        return {name: name for name in mangled}


def ran_of(kernel):
    """(instructions that were run, all that are asked for)"""
    ran = bin(kernel.ran).count("1")
    return ran, kernel.count - bin(kernel.apart & ~kernel.ran).count("1")


def percent(parts):
    return 100 * parts[0] / max(parts[1], 1)


def share(kernel):
    return percent(ran_of(kernel))


def not_run(kernel):
    """The source's line of each instruction that was not run."""
    bit = 1 << 4 * -(-kernel.count // 4)
    for part in kernel.lines.split():
        times, line = part.split("*")
        for _ in range(int(times)):
            bit >>= 1
            if not (kernel.ran | kernel.apart) & bit:
                yield line


def total(kernels):
    """The same of all together."""
    return tuple(map(sum, zip((0, 0), *(ran_of(k) for k in kernels))))


def print_sources(kernels):
    by_source = collections.defaultdict(list)
    for k in kernels.values():
        by_source[k.source].append(k)
    print(f"{'source':32} kernels launched instructions  run")
    for source, those in [*sorted(by_source.items()), ("all", list(kernels.values()))]:
        parts, launched = total(those), sum(k.launches > 0 for k in those)
        print(f"{source:32} {len(those):7} {launched:8} {parts[1]:12} {percent(parts):5.1f} %")


def print_lines(kernels, most=40):
    lines = collections.Counter(line for k in kernels.values() if k.launches for line in not_run(k))
    for line, times in lines.most_common(most):
        print(f"{times:8} {line}")


def state_of(kernel):
    return f"{share(kernel):.1f} %" if kernel.launches else "never launched"


def is_enough(kernel, least):
    if least == "never":
        return not kernel.launches
    return kernel.launches > 0 and share(kernel) >= float(least)


def is_of(reason, arch):
    return reason.arch == "*" or str(arch) in reason.arch.split()


def unexplained(kernels, shown, path):
    """What CSV has no row for, and rows that nothing belongs to any more: as lines."""
    reasons = [Reason(*row) for row in csv.reader(line for line in open(path) if not line.startswith("#"))][1:]
    archs = {arch for arch, _ in kernels}
    used = set()
    for (arch, name), kernel in sorted(kernels.items()):
        if is_enough(kernel, ENOUGH):
            continue
        fitting = [r for r in reasons if is_of(r, arch) and fnmatch.fnmatchcase(shown[name], r.kernel)]
        used.update(fitting)
        if not any(is_enough(kernel, r.least) for r in fitting):
            yield f"sm_{arch} {shown[name]}: {state_of(kernel)}, and no reason for it"
    for reason in reasons:
        if reason.kernel == "all":
            for arch in (arch for arch in archs if is_of(reason, arch)):
                reached = percent(total([k for key, k in kernels.items() if key[0] == arch]))
                if reached < float(reason.least):
                    yield f"sm_{arch}: {reached:.2f} % of all instructions, not {reason.least}"
        elif reason not in used and any(is_of(reason, arch) for arch in archs):
            yield f"{reason.kernel}: no kernel wants this reason any more"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reasons", metavar="CSV")
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
        if options.all or not is_enough(kernel, ENOUGH):
            print(f"sm_{arch} {kernel.source} {shown[name]}: {state_of(kernel)} of {kernel.count} instructions")
    if options.reasons:
        faults = list(unexplained(kernels, shown, options.reasons))
        print("", *faults, sep="\n")
        sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
