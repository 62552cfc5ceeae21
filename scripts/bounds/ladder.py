"""The rungs of kernels/cuda/ladder: how each is launched on square matrices, by its source's constants."""

import re

from . import arguments, ours, rows

FOLDER = ours.ROOT / "kernels" / "cuda" / "ladder"
BYTES = {"uint16_t": 2, "uint4": 16, "uint64_t": 8}


def shared(text, constants):
    """Bytes of the struct that a rung's dynamic shared memory is; 0 where it has none."""
    name = re.search(r"GR_DYN_SHARED\((\w+), \w+\)", text)
    members = name and re.search(rf"typedef struct {{([^}}]*)}} {name[1]};", text)
    total = 0
    for kind, arrays in re.findall(r"(\w+) ([^;]+);", members[1] if members else ""):
        for extents in re.findall(r"\w+((?:\[[^]]+\])+)", arrays):
            elements = 1
            for extent in re.findall(r"\[([^]]+)\]", extents):
                elements *= arguments.evaluated(extent, constants)
            total += elements * BYTES[kind]
    return total


def rungs(size):
    """(file, kernel, grid, block, type, sizes, dynamic bytes of shared memory) of each rung, as its launch makes them;
    some are told how many steps there are rather than how deep the product is."""
    known = rows.sizes(size)
    for path in sorted(FOLDER.glob("[0-9]*_*.cu"), key=lambda path: int(path.name.split("_")[0])):
        text, name = path.read_text(encoding="utf-8"), path.stem.split("_", 1)[1]
        constants = arguments.constants(text, {})
        tile, threads = constants["TILE"], constants.get("THREADS")
        tiles = -(-known["m"] // tile) * -(-known["n"] // tile)
        steps = f" steps={known['k'] // constants['STEP']}" if "int steps" in text else ""
        yield path, name, str(tiles), str(threads) if threads else f"{tile}x{tile}", \
            "fp16" if "uint16_t" in text else "fp32", size + steps, shared(text, constants)
