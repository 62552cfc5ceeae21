"""Kernels of files on this machine, rather than of repositories."""

import pathlib

from . import chips, ladder, ours, rows, tell


class Teller(tell.Teller):
    """Rows whose files are paths."""

    def __init__(self, scratch, numbers=chips.numbers):
        super().__init__(None, scratch, numbers)

    def tree_of(self, row):
        path = pathlib.Path(row.file)
        if not path.is_file():
            raise rows.Unclear(f"{path} is not there")
        return ours.ROOT if ours.ROOT in path.parents else path.parent

    def kernel(self, file, kernel, grid, block, dtype, size, gpu, shared=0):
        return self.tell(rows.make({"repo": "", "file": str(file), "kernel": kernel, "dtype": dtype, "grid": grid,
                                    "block": block, "problem_size": size, "gpu": gpu, "time_ms": "0",
                                    "shared": str(shared)}))

    def rungs(self, size, gpu):
        """(rung, what is told of it) of all rungs of the ladder."""
        architecture = chips.numbers(chips.find(gpu))["architecture"]
        for file, kernel, grid, block, dtype, sizes, shared in ladder.rungs(size):
            hopper = shared and architecture < 90 or kernel == "wgmma" and architecture != 90
            yield kernel, tell.Told(reason="it wants compute capability 9.0") if hopper else \
                self.kernel(file, kernel, grid, block, dtype, sizes, gpu, shared)
