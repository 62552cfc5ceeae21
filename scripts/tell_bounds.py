#!/usr/bin/env python3
"""Tells the time of one kernel, or of the rungs of our own ladder of products, on GPUs that are not there.

    tell_bounds.py FILE.cu --kernel NAME --grid 4096 --block 256 --size M=N=K=4096 --gpu a100 [--gpu t4] [--dtype fp32]
    tell_bounds.py --ladder [--size M=N=K=4096] --gpu a100

A line is a kernel on a GPU: what is told, the floor that no schedule can beat, what binds. docs/bounds.md says how far
off that may be; no figure here is a measurement. Wanted: nvcc, cuobjdump (GRADUS_CUOBJDUMP), c++filt, a C compiler.
"""
import argparse
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
from bounds import calibrate, here, rows, tools  # noqa: E402

def wanted(options):
    """(file, kernel, grid, block) of the one kernel that is asked for."""
    lacking = [name for name in ("file", "kernel", "grid", "block") if not getattr(options, name)]
    if lacking:
        sys.exit(f"tell_bounds.py: {', '.join(lacking)} must be given; see --help")
    return pathlib.Path(options.file).resolve(), options.kernel, options.grid, options.block, options.dtype


def tell_all(options, teller):
    """(name, GPU, what is told) of everything that is asked for."""
    for gpu in options.gpu:
        if options.ladder:
            yield from ((rung, gpu, told) for rung, told in teller.rungs(options.size, gpu))
        else:
            yield options.kernel, gpu, teller.kernel(*wanted(options), options.size, gpu)


def check(options):
    if options.ladder and not options.size:
        options.size = "M=N=K=4096"
    if options.ladder and not {"m", "n"} <= rows.sizes(options.size).keys():
        sys.exit(f'tell_bounds.py: --size "{options.size}" does not give M and N of the products, as M=N=K=4096 does')
    if not options.ladder:
        wanted(options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", help="CUDA source file")
    parser.add_argument("--kernel", help="its kernel, with template arguments")
    parser.add_argument("--grid", help="as 128x64")
    parser.add_argument("--block", help="as 32x8")
    parser.add_argument("--size", default="",
                        help="as N=2^20, rows=64 cols=1024 or 8192x8192 (of the ladder: M=N=K=4096)")
    parser.add_argument("--dtype", default="fp32", help="fp32, fp16, bf16, fp64 or int32")
    parser.add_argument("--ladder", action="store_true", help="the rungs of kernels/cuda/ladder")
    parser.add_argument("--gpu", action="append", required=True, help="as a100, t4, 'RTX 3090'")
    options = parser.parse_args()
    check(options)
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for name in ("nvcc", "cuobjdump", "c++filt"):
                tools.find(name)
            teller = here.Teller(scratch, calibrate.Kept().numbers)
        except tools.Missing as missing:
            sys.exit(f"tell_bounds.py: {missing}")
        for kernel, gpu, told in tell_all(options, teller):
            failed |= bool(told.reason) and not options.ladder  # which has rungs that are not understood
            said = f"not told: {told.reason}" if told.reason else \
                f"{told.milliseconds:.4g} ms, floor {told.floor:.4g} ms, {told.binding}"
            print(f"{kernel:16} {gpu:10} {said}", flush=True)
    sys.exit(2 if failed else 0)


if __name__ == "__main__":
    main()
