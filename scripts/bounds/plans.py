"""How products are cut into blocks (kernels/cuda/gemm_plan.cuh), read from recorded launches."""

import dataclasses
import re
import struct

PLAN, ADDRESSES = 72, 16  # bytes of the last three parameters of gemm_blocks: a gemm_plan and two addresses


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


def of(launch):
    """The product that a launch of gemm_blocks makes."""
    tile = re.search(r"(\d+), (\d+), ", launch.kernel)
    m, n, k, tiles_m, tiles_n, splits = struct.unpack_from("<6q", launch.parameters, len(launch.parameters) - ADDRESSES
                                                           - PLAN)
    operands = re.findall(r"\w+_by_\w+", launch.kernel.split(">(")[0])
    return Product(" ".join(operands), (int(tile[1]), int(tile[2])), m, n, k, tiles_m * tiles_n, splits, launch.grid[0])


def products(update):
    return [of(launch) for launch in update if launch.base == "gemm_blocks"]
