#!/usr/bin/env python3
"""Tells the times of published kernels, or of our own, and holds them against what was measured.

    validate_bounds.py --csv FILE --sources FOLDER [--gpu NAME] [--repo NAME] [--rows] [--json FILE]
    validate_bounds.py --ours scripts/bounds/measured_h200.csv --program build/release/gradus [--rows] [--json FILE]

FILE has the columns of a table of published times: repo, commit, file, kernel, dtype, problem_size, grid, block, gpu,
compute_capability, time_ms. FOLDER holds the repositories, as OWNER+NAME, OWNER/NAME or NAME: checked out at the row's
commit, or git directories. Printed are, per repository and GPU, how many rows are told, the median of
|log(predicted/measured)| and the rank correlation (Spearman). Where that median is above 30 %, it says so instead of a
number. `--rows` prints each row, too, with its reason where it is not told. `--ours` does so by how long they take for
kernels of training steps on an H200; --program is the tool, with the device simt. `--errors` writes the errors by what
binds, of these rows and of those of an earlier `--json FILE`, which `--and FILE` names. Wanted: nvcc, cuobjdump
(GRADUS_CUOBJDUMP), c++filt and a C compiler. What is told is no measurement.
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
from bounds import errors, launches, measured, ours, rows, step, store, tell, tools  # noqa: E402
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


def print_ours(lines):
    """How far off our own kernels are, by how long they take."""
    print("| measured | kernels | launches | median error | four fifths within | rank correlation | told / measured |")
    print("|---|---|---|---|---|---|---|")
    for name, low, high in (("below 10 us", 0, 0.01), ("10 us and more", 0.01, math.inf), ("all", 0, math.inf)):
        part = [line for line in lines if not line["reason"] and low <= line["measured_ms"] < high]
        if not part:
            continue
        pairs = [(line["told_ms"], line["measured_ms"]) for line in part]
        error, rank = score(pairs)
        most = errors.error_of([math.log(told / real) for told, real in pairs]).most
        share = sum(line["launches"] * line["told_ms"] for line in part) / \
            sum(line["launches"] * line["measured_ms"] for line in part)
        print(f"| {name} | {len(part)} | {sum(line['launches'] for line in part)} | {error_text(error)} | "
              f"a factor of {math.exp(most):.2f} | {'' if rank is None else f'{rank:.2f}'} | {share:.2f} |")
    for reason, times in collections.Counter(line["reason"] for line in lines if line["reason"]).items():
        print(f"\nnot told: {times}: {reason}")


def find_tools():
    for name in ("nvcc", "cuobjdump", "c++filt"):
        tools.find(name)


def tell_ours(options):
    """Lines of our own kernels, as tell_published gives them of others."""
    find_tools()
    where = store.folder()
    teller = step.Teller("H200", tell.build_machine(where), store.Store(where, "compiled"), store.Store(where, "told"),
                         ours.digest())
    lines = []
    for row, told in measured.tell(options.ours, options.program, teller):
        reason = told.reason if told else "not launched any more"
        if told and told.told:
            reason = ""  # what the table of errors would hold back
        lines.append({"repo": row.recipe, "kernel": row.kernel, "gpu": "H200", "size": row.batch,
                      "dtype": row.precision, "launches": row.launches, "measured_ms": row.microseconds / 1e3,
                      "told_ms": told.told / 1e3 if told else 0, "reason": reason,
                      "binding": told.binding if told else ""})
        if options.rows:
            shown = reason or f"{told.told:8.1f} us, floor {told.floor:8.1f}, {told.binding}, " \
                f"ratio {told.told / row.microseconds:.2f}"
            print(f"  {row.recipe} {row.batch} {row.precision} {row.microseconds:8.1f} us, {row.launches} of "
                  f"{'x'.join(map(str, row.grid))}: {row.kernel[:60]}: {shown}", flush=True)
    print_ours(lines)
    return lines


def tell_classes(told, path):
    """The errors by what binds: printed, and written where a file is named."""
    table = errors.classes(told)
    print(f"\n| what binds | rows | median error | {100 * errors.SHARE:.0f} % of them within |\n|---|---|---|---|")
    for name, error in table.items():
        print(f"| {name} | {error.rows} | {error_text(error.median)} | a factor of {math.exp(error.most):.2f} |")
    if path:
        errors.write(path, table)


def tell_published(options):
    """Lines of published kernels: each row with what is told of it."""
    table = rows.read(options.csv)
    wanted = [row for row in table
              if (options.gpu or "").lower() in row.gpu.lower() and (options.repo or "") in row.repo]
    if not wanted:
        sys.exit(f"validate_bounds.py: {options.csv} has no row that --gpu and --repo leave; its GPUs are "
                 f"{', '.join(sorted({row.gpu for row in table})) or 'none'}")
    find_tools()
    groups, reasons = collections.defaultdict(list), collections.Counter()
    with tempfile.TemporaryDirectory() as temporary:
        teller = tell.Teller(options.sources, options.scratch or temporary)
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
    print_table(groups, reasons)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", type=pathlib.Path, help="published times")
    parser.add_argument("--sources", type=pathlib.Path, help="folder of the repositories")
    parser.add_argument("--ours", type=pathlib.Path, help="times of our own kernels: scripts/bounds/measured_h200.csv")
    parser.add_argument("--program", type=pathlib.Path, help="the tool gradus, which has the device simt")
    parser.add_argument("--gpu", help="only rows whose GPU contains this")
    parser.add_argument("--repo", help="only rows whose repository contains this")
    parser.add_argument("--rows", action="store_true", help="print each row")
    parser.add_argument("--json", type=pathlib.Path, help="write each row with what was told, a line each")
    parser.add_argument("--errors", type=pathlib.Path, help="write the errors by what binds, for scripts/bounds")
    parser.add_argument("--and", type=pathlib.Path, dest="more", help="of the rows of this --json, too")
    parser.add_argument("--scratch", type=pathlib.Path, help="keep what is compiled here")
    options = parser.parse_args()
    if not (options.csv and options.sources) and not (options.ours and options.program):
        parser.error("wanted are --csv and --sources, or --ours and --program")
    try:
        lines = tell_ours(options) if options.ours else tell_published(options)
    except (tools.Missing, launches.Refused) as missing:
        sys.exit(f"validate_bounds.py: {missing}")
    if options.json:
        options.json.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    if options.more:
        lines += map(json.loads, options.more.read_text(encoding="utf-8").splitlines())
    if classed := [(line["binding"], 1e3 * line["told_ms"], 1e3 * line["measured_ms"]) for line in lines
                   if not line["reason"] and line["measured_ms"] > 0]:
        tell_classes(classed, options.errors)


if __name__ == "__main__":
    main()
