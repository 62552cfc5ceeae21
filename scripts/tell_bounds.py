#!/usr/bin/env python3
"""Tells the time of one kernel, or of the rungs of our own ladder of products, on GPUs that are not there.

    tell_bounds.py FILE.cu --kernel NAME --grid 4096 --block 256 --size M=N=K=4096 --gpu a100 [--gpu t4] [--dtype fp32]
    tell_bounds.py --ladder [--size M=N=K=4096] --gpu a100

A line is a kernel on a GPU: what is told, the floor that no schedule can beat, what binds. docs/bounds.md says how far
off that may be; no figure here is a measurement. Wanted: nvcc, cuobjdump (GRADUS_CUOBJDUMP), c++filt, a C compiler.
"""
import argparse
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
from bounds import rows, tell, tools  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
LADDER = ROOT / "kernels" / "cuda" / "ladder"


class Here(tell.Teller):
    """Rows whose files lie on this machine rather than in repositories."""

    def tree_of(self, row):
        path = pathlib.Path(row.file)
        if not path.is_file():
            raise rows.Unclear(f"{path} is not there")
        return ROOT if ROOT in path.parents else path.parent


def rungs(size):
    """(file, kernel, grid, block, type) of each rung, by its source's constants; grids as its launch makes them."""
    known = rows.sizes(size)
    if not {"m", "n"} <= known.keys():
        sys.exit(f'tell_bounds.py: --size "{size}" does not give M and N of the products, as M=N=K=4096 does')
    for path in sorted(LADDER.glob("[0-9]*_*.cu"), key=lambda path: int(path.name.split("_")[0])):
        text = path.read_text(encoding="utf-8")
        if "hopper.h" in text:
            print(f"{path.stem.split('_', 1)[1]:16} not told: TMA and wgmma are not understood")
            continue
        tile = int(re.search(r"\bTILE = (\d+)", text)[1])
        block = "256" if "THREADS" in text else f"{tile}x{tile}"
        tiles = -(-known["m"] // tile) * -(-known["n"] // tile)
        yield path, path.stem.split("_", 1)[1], str(tiles), block, "fp16" if "uint16_t" in text else "fp32"


def wanted(options):
    if options.ladder:
        return list(rungs(options.size))
    lacking = [name for name in ("file", "kernel", "grid", "block") if not getattr(options, name)]
    if lacking:
        sys.exit(f"tell_bounds.py: {', '.join(lacking)} must be given; see --help")
    return [(pathlib.Path(options.file).resolve(), options.kernel, options.grid, options.block, options.dtype)]


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
    if options.ladder and not options.size:
        options.size = "M=N=K=4096"
    asked = wanted(options)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for name in ("nvcc", "cuobjdump", "c++filt"):
                tools.find(name)
            teller = Here(None, scratch)
        except tools.Missing as missing:
            sys.exit(f"tell_bounds.py: {missing}")
        failed = False
        for file, kernel, grid, block, dtype in asked:
            for gpu in options.gpu:
                told = teller.tell(rows.make({
                    "repo": "", "file": str(file), "kernel": kernel, "dtype": dtype, "grid": grid, "block": block,
                    "problem_size": options.size, "gpu": gpu, "time_ms": "0"}))
                failed |= bool(told.reason)
                said = f"not told: {told.reason}" if told.reason else \
                    f"{told.milliseconds:.4g} ms, floor {told.floor:.4g} ms, {told.binding}"
                print(f"{kernel:16} {gpu:10} {said}", flush=True)
    sys.exit(2 if failed else 0)


if __name__ == "__main__":
    main()
