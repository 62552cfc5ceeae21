#!/usr/bin/env python3
"""Tells what one training step of a recipe, or the ladder of products, takes on GPUs that are not there.

    gradus bench --bound a100,t4 [--recipe NAME] [--batch 16,128] [--precision fp16] [--json]
    gradus bench gemm --ladder --bound a100
    gradus bench --bound h200 --calibrate               # on a machine that has one

call it with --program, themselves. A line is a kernel with a grid: launches of a step, the floor that no schedule can
beat, the time that is told and its interval, from how far off such kernels were (scripts/bounds/errors.csv), and what
binds. The last line is the whole step. Nothing is measured: docs/bounds.md. Wanted: nvcc, cuobjdump (GRADUS_CUOBJDUMP),
c++filt, nm, a C compiler. What was compiled and told is kept in $GRADUS_BOUNDS, else in ~/.cache/gradus-bounds.
"""
import argparse
import json
import math
import pathlib
import sys

sys.dont_write_bytecode = True
from bounds import calibrate, chips, errors, here, launches, ours, rows, step, store, tell, tools  # noqa: E402

USAGE, IO_ERROR = 2, 5
SIZE = "M=N=K=4096"  # of the ladder
SHORT = {"multiply-add pipe": "multiply-add", "special functions": "special", "load-store unit": "load-store",
         "shared memory": "shared memory", "tensor pipe": "tensor", "integer pipe": "integer", "half pipe": "half",
         "double pipe": "double"}
LEAST_CAPABILITY = {"bf16": 80, "tf32": 80}


def give_up(code, words):
    print(f"gradus bench: --bound: {words}", file=sys.stderr)
    sys.exit(code)


def number(microseconds):
    """Three digits, in 7 columns."""
    digits = 2 - math.floor(math.log10(microseconds)) if microseconds > 0 else 0
    return f"{microseconds:.{max(0, min(digits, 3))}f}"


def interval(low, high):
    return f"{number(low)}-{number(high)}"


def print_line(line):
    name = line.base if len(line.base) <= 22 else line.base[:21] + "~"
    blocks = math.prod(line.grid)
    if line.reason:
        floor = number(line.count * line.floor) if line.floor else ""
        print(f"{name:22} {blocks:7} {line.count:3} {floor:>7}  not told: {line.reason}"[:80])
        return
    low, high = line.count * line.low, line.count * line.high
    print(f"{name:22} {blocks:7} {line.count:3} {number(line.count * line.floor):>7} "
          f"{number(line.count * line.told):>7} {interval(low, high):>14}{' ' if line.own_class else '?'} "
          f"{SHORT.get(line.binding, line.binding)}")


def print_step(found, what):
    print(f"{what}\nNothing here was measured: it is told from machine code, see docs/bounds.md.\n")
    print(f"{'kernel':22} {'blocks':>7} {'n':>3} {'floor':>7} {'us':>7} {'interval':>14}  binds")
    for line in found.lines:
        print_line(line)
    print(f"{'whole step':22} {'':7} {found.launches:3} {number(found.floor):>7} {number(found.told):>7} "
          f"{interval(found.low, found.high):>14}")
    if any(line.told and not line.own_class for line in found.lines):
        print("?: few published times of kernels bound in this way; the interval is of all.")
    if found.untold:
        print(f"{found.untold} of these launches are not told: they count in the sum of floors alone.")
    print()


def json_step(found, more):
    fields = ("kernel", "grid", "block", "count", "floor", "told", "low", "high", "binding", "reason", "own_class")
    lines = [{name: getattr(line, name) for name in fields} for line in found.lines]
    whole = {name: getattr(found, name) for name in ("launches", "untold", "floor", "told", "low", "high")}
    print(json.dumps({**more, "measured": False, "unit": "us", **whole, "kernels": lines}), flush=True)


WORDS = {"clock": "clock, GHz", "dram_read": "share of the memory's bandwidth that is read",
         "dram_mixed": "the same of a copy", "l2_read": "bytes a cycle that all multiprocessors read of L2",
         "l2_port": "that one reads of L2", "latency_shared": "cycles from a load to its use: shared memory",
         "latency_l1": "L1", "latency_l2": "L2", "latency_dram": "memory"}


def calibrate_here(options, kept):
    """Measures the GPU of this machine and says what it found."""
    if len(options.gpu) > 1:
        give_up(USAGE, "--calibrate measures the one GPU that is here: --bound names it alone")
    entry = chips.find(options.gpu[0])
    table, found = chips.numbers(entry), calibrate.measure(entry, kept)
    if options.json:
        return
    print(f"Measured on this {entry} and kept in {kept.path}, without which the table holds again:\n\n"
          f"{'':46} {'table':>9} {'measured':>9}")
    for name, value in found.items():
        print(f"{WORDS[name]:>46} {f'{table[name]:.4g}' if table.get(name) else '':>9} {value:9.4g}")
    print()


def name_of(entry, kept):
    """A chip's name, with the day on which it was measured."""
    known = kept.of(entry)
    return f"{entry}, as measured on {known['date']}" if known else entry


def tell_recipe(options, kept):
    where = store.folder()
    answers, compiled = store.Store(where, "told"), store.Store(where, "compiled")
    machine, sources = tell.build_machine(where), ours.digest()
    for batch in options.batch:
        for gpu in options.gpu:
            teller = step.Teller(gpu, machine, compiled, answers, sources, kept.numbers)
            found = teller.step(launches.of_update(options.program, options.recipe, batch,
                                                   teller.chip["multiprocessors"], teller.chip["architecture"],
                                                   options.precision))
            precision = options.precision or "fp32"
            if options.json:
                known = kept.of(teller.entry)
                json_step(found, {"recipe": options.recipe, "batch": batch, "precision": precision,
                                  "gpu": teller.entry, "architecture": teller.architecture,
                                  "calibrated": known and known["date"]})
            else:
                print_step(found, f"{options.recipe}, batch {batch}, {precision}: an update on "
                                  f"{name_of(teller.entry, kept)} ({teller.architecture})")


def tell_ladder(options, kept):
    teller, table = here.Teller(store.folder(), kept.numbers), errors.read()
    for gpu in options.gpu:
        if not options.json:
            print(f"c = a b, square matrices of side 4096, on {name_of(chips.find(gpu), kept)}\n"
                  "Nothing here was measured: it is told from machine code, see docs/bounds.md.\n\n"
                  f"{'rung':14} {'floor ms':>9} {'ms':>9} {'interval':>15}  binds")
        for rung, told in teller.rungs(SIZE, gpu):
            error, own = errors.of(table, told.binding, 1e3 * told.milliseconds) if not told.reason else (None, False)
            reason = told.reason or ("" if error.told else "the error of such kernels is above 30 %")
            low, high = (0, 0) if reason else error.interval(told.milliseconds, told.floor)
            if options.json:
                print(json.dumps({"rung": rung, "gpu": chips.find(gpu), "measured": False, "unit": "ms",
                                  "floor": told.floor, "told": told.milliseconds, "low": low, "high": high,
                                  "binding": told.binding, "reason": reason}), flush=True)
            elif reason:
                print(f"{rung:14} not told: {reason}", flush=True)
            else:
                print(f"{rung:14} {told.floor:9.3g} {told.milliseconds:9.3g} {interval(low, high):>15}"
                      f"{' ' if own else '?'} {told.binding}", flush=True)
        if not options.json:
            print()


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the tool gradus, which has the device simt")
    parser.add_argument("--gpu", required=True, help="as a100 or a100,t4,h100")
    parser.add_argument("--recipe", default="cifar10-cnn")
    parser.add_argument("--batch", default="16,128", help="as 16 or 16,128")
    parser.add_argument("--precision")
    parser.add_argument("--ladder", action="store_true")
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.gpu = options.gpu.split(",")
    try:
        options.batch = [int(batch) for batch in options.batch.split(",")]
    except ValueError:
        give_up(USAGE, f"--batch {options.batch} is not a list of batch sizes such as 16,128")
    return options


def check(options):
    for gpu in options.gpu:
        architecture = chips.numbers(chips.find(gpu))["architecture"]
        if architecture < LEAST_CAPABILITY.get(options.precision, 0):
            give_up(USAGE, f"{chips.find(gpu)} has no {options.precision}: it begins with capability 8.0; leave out "
                           f"--precision {options.precision}, or ask for a100 or h100")
    for name in ("nvcc", "cuobjdump", "c++filt", "nm", "cc"):
        tools.find(name)
    if not (ours.ROOT / "kernels" / "cuda").is_dir():
        give_up(IO_ERROR, f"the kernels' sources are not in {ours.ROOT}: machine code is made of them, so ask a gradus "
                          "that was built in the source tree")


def main():
    options = read_options()
    try:
        check(options)
        kept = calibrate.Kept()
        if options.calibrate:
            calibrate_here(options, kept)
        (tell_ladder if options.ladder else tell_recipe)(options, kept)
    except chips.Unknown as unknown:
        give_up(USAGE, f"{unknown}: t4, a100, h100 and others of scripts/bounds/chips.py")
    except tools.Missing as missing:
        give_up(USAGE, str(missing))
    except (launches.Refused, rows.Unclear, calibrate.Refused) as refused:
        give_up(USAGE, str(refused))
    except OSError as error:
        give_up(IO_ERROR, f"{error.filename or store.folder()}: {error.strerror}; GRADUS_BOUNDS names another folder")


if __name__ == "__main__":
    main()
