"""The rungs of kernels/cuda/ladder: how each is launched on square matrices, by its source's constants."""

import re

from . import ours, rows

FOLDER = ours.ROOT / "kernels" / "cuda" / "ladder"


def rungs(size):
    """(file, kernel, grid, block, type) of each rung, as its launch makes them; a grid of None: not understood."""
    known = rows.sizes(size)
    for path in sorted(FOLDER.glob("[0-9]*_*.cu"), key=lambda path: int(path.name.split("_")[0])):
        text, name = path.read_text(encoding="utf-8"), path.stem.split("_", 1)[1]
        tile = int(re.search(r"\bTILE = (\d+)", text)[1])
        block = "256" if "THREADS" in text else f"{tile}x{tile}"
        tiles = -(-known["m"] // tile) * -(-known["n"] // tile)
        grid = None if "hopper.h" in text else str(tiles)
        yield path, name, grid, block, "fp16" if "uint16_t" in text else "fp32"
