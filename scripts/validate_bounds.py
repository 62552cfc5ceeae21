#!/usr/bin/env python3
"""Tells the times of published kernels and holds them against what was measured.

    validate_bounds.py --csv FILE --sources FOLDER [--gpu NAME] [--repo NAME] [--rows] [--json FILE]

FILE has the columns of a table of published times: repo, commit, file, kernel, dtype, problem_size, grid, block, gpu,
compute_capability, time_ms. FOLDER holds the repositories, as OWNER+NAME, OWNER/NAME or NAME: checked out at the row's
commit, or git directories. Printed are, per repository and GPU, how many rows are told, the median of
|log(predicted/measured)| and the rank correlation (Spearman). Where that median is above 30 %, it says so instead of a
number. `--rows` prints each row, too, with its reason where it is not told. Wanted: nvcc, cuobjdump (GRADUS_CUOBJDUMP),
c++filt and a C compiler. No figure here is a measurement.
"""
import argparse
import collections
import json
import math
import pathlib
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
from bounds import errors, rows, tell, tools  # noqa: E402
from bounds.errors import MOST_ERROR  # noqa: E402


def ranks(values):
    """Ranks from 1 on, equal values sharing theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for place in order[at:end + 1]:
            found[place] = (at + end) / 2 + 1
        at = end + 1
    return found


def spearman(left, right):
    """The rank correlation, or None where there is none to have."""
    if len(left) < 3:
        return None
    a, b = ranks(left), ranks(right)
    mean = (len(a) + 1) / 2
    spread = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / spread if spread else None


def score(pairs):
    """(median |log|, rank correlation) of (told, measured) pairs."""
    errors = [abs(math.log(told / measured)) for told, measured in pairs]
    return statistics.median(errors), spearman(*zip(*pairs))


def error_text(error):
    most = f"{100 * MOST_ERROR:.0f} %"
    return f"{100 * error:.0f} %" if error <= MOST_ERROR else f"above {most}: what is told cannot be relied on"


def print_row(row, told):
    name = f"{row.repo.split('/')[-1][:20]} {row.kernel[:44]} {row.dtype[:5]} {row.size[:18]}"
    if told.reason:
        print(f"  {name}: not told: {told.reason}", flush=True)
        return
    ratio = f"{told.milliseconds / row.milliseconds:5.2f}" if row.milliseconds > 0 else "    -"
    print(f"  {name}: {told.milliseconds:.4g} ms, floor {told.floor:.4g}, measured {row.milliseconds:.4g}, "
          f"ratio {ratio}, {told.binding}{', ' + told.remark if told.remark else ''}", flush=True)


def print_table(groups, reasons):
    print("| repository | GPU | told | median error | rank correlation |")
    print("|---|---|---|---|---|")
    scores = []
    for (repo, gpu), pairs in sorted(groups.items()):
        of = len(pairs) + reasons[repo, gpu]
        if not pairs:
            print(f"| {repo} | {gpu} | 0 of {of} | | |")
            continue
        error, rank = score(pairs)
        scores.append(error)
        shown = "" if rank is None else f"{rank:.2f}"
        print(f"| {repo} | {gpu} | {len(pairs)} of {of} | {error_text(error)} | {shown} |")
    if scores:
        print(f"\n{sum(map(len, groups.values()))} told; median over the {len(scores)} groups: "
              f"{error_text(statistics.median(scores))}")


def tell_classes(told, path):
    """The errors by what binds: printed, and written where a file is named."""
    table = errors.classes(told)
    print(f"\n| what binds | rows | median error | {100 * errors.SHARE:.0f} % of them within |\n|---|---|---|---|")
    for name, error in table.items():
        print(f"| {name} | {error.rows} | {error_text(error.median)} | a factor of {math.exp(error.most):.2f} |")
    if path:
        errors.write(path, table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", required=True, type=pathlib.Path, help="published times")
    parser.add_argument("--sources", required=True, type=pathlib.Path, help="folder of the repositories")
    parser.add_argument("--gpu", help="only rows whose GPU contains this")
    parser.add_argument("--repo", help="only rows whose repository contains this")
    parser.add_argument("--rows", action="store_true", help="print each row")
    parser.add_argument("--json", type=pathlib.Path, help="write each row with what was told, a line each")
    parser.add_argument("--errors", type=pathlib.Path, help="write the errors by what binds, for scripts/bounds")
    parser.add_argument("--scratch", type=pathlib.Path, help="keep what is compiled here")
    options = parser.parse_args()
    table = rows.read(options.csv)
    wanted = [row for row in table
              if (options.gpu or "").lower() in row.gpu.lower() and (options.repo or "") in row.repo]
    if not wanted:
        sys.exit(f"validate_bounds.py: {options.csv} has no row that --gpu and --repo leave; its GPUs are "
                 f"{', '.join(sorted({row.gpu for row in table})) or 'none'}")
    groups, reasons = collections.defaultdict(list), collections.Counter()
    with tempfile.TemporaryDirectory() as temporary:
        try:
            teller = tell.Teller(options.sources, options.scratch or temporary)
            for name in ("nvcc", "cuobjdump", "c++filt"):
                tools.find(name)
        except tools.Missing as missing:
            sys.exit(f"validate_bounds.py: {missing}")
        lines = []
        teller.note(table)
        for row in wanted:
            told = teller.tell(row)
            if options.rows:
                print_row(row, told)
            lines.append({"repo": row.repo, "kernel": row.kernel, "gpu": row.gpu, "size": row.size, "dtype": row.dtype,
                          "measured_ms": row.milliseconds, "told_ms": told.milliseconds, "reason": told.reason,
                          "binding": told.binding, "details": told.details})
            if told.reason or row.milliseconds <= 0:
                reasons[row.repo, row.gpu] += 1
                groups[row.repo, row.gpu] += []
            else:
                groups[row.repo, row.gpu].append((told.milliseconds, row.milliseconds))
    if options.json:
        options.json.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    print_table(groups, reasons)
    if classed := [(line["binding"], 1e3 * line["told_ms"], 1e3 * line["measured_ms"]) for line in lines
                   if not line["reason"] and line["measured_ms"] > 0]:
        tell_classes(classed, options.errors)


if __name__ == "__main__":
    main()
