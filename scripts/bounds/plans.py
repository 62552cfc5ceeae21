"""How products are cut into blocks (kernels/cuda/gemm_plan.cuh), read from recorded launches."""

import dataclasses
import re
import struct

PLAN, ADDRESSES = 72, 16  # bytes of the last three parameters of gemm_blocks: a gemm_plan and two addresses
PARTS = 112  # bytes of the last parameter of gemm_phases, parts_of_dw
PHASES = 4  # that a launch of gemm_phases has room for


@dataclasses.dataclass(frozen=True)
class Product:
    """A product of m x n results over depth k: its tile, how many of them, into how many parts the depth is cut."""

    operands: str
    tile: tuple
    m: int
    n: int
    k: int
    tiles: int
    splits: int
    blocks: int

    @property
    def useful(self):
        """Share of the multiply-adds that are asked for in those of whole tiles."""
        return self.m * self.n / (self.tiles * self.tile[0] * self.tile[1])

    def waves(self, multiprocessors):
        """Share of the multiprocessors' time in which all have as many blocks as the busiest one."""
        rounds = -(-self.blocks // multiprocessors)
        return self.blocks / (rounds * multiprocessors)


def product(launch, end, blocks):
    """The product whose plan and addresses end there in a launch's parameters, and that has so many of its blocks."""
    tile = re.search(r"(\d+), (\d+), ", launch.kernel)
    m, n, k, tiles_m, tiles_n, splits = struct.unpack_from("<6q", launch.parameters, end - ADDRESSES - PLAN)
    operands = re.findall(r"\w+_by_\w+", launch.name)
    return Product(" ".join(operands), (int(tile[1]), int(tile[2])), m, n, k, tiles_m * tiles_n, splits, blocks)


def phases(launch):
    """Those of a launch of gemm_phases: behind all of them stand the ends of their blocks."""
    behind = len(launch.parameters) - PARTS - 4 * PHASES
    ends = (0,) + struct.unpack_from(f"<{PHASES}I", launch.parameters, behind)
    return [product(launch, behind // PHASES * (i + 1), ends[i + 1] - ends[i]) for i in range(PHASES)
            if ends[i + 1] > ends[i]]


def products(update):
    found = []
    for launch in update:
        if launch.base == "gemm_blocks":
            found.append(product(launch, len(launch.parameters), launch.grid[0]))
        elif launch.base == "gemm_phases":
            found += phases(launch)
    return found
