"""Machine code of the kernels of kernels/cuda: those that are asked for alone, as nvcc makes them for an architecture.

A file of kernels/cuda holds hundreds of instances of its templates. Its host part would ask for all of them, so
launches are taken out of it, and the instances that are wanted are named behind it.
"""

import dataclasses
import hashlib
import json
import pathlib
import tempfile

from . import kernels, launches, tools
from .rows import Unclear

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("kernels/cuda/**/*.cu*", "kernels/cuda/**/*.h", "kernels/cuda/**/*.def", "kernels/ops/*.def", "core/*.h",
           "scripts/bounds/kernels.py")
UNIT = """#include "kernels/cuda/gpu.h"
#undef GR_LAUNCH
#undef GR_ALLOW_SHARED
#define GR_LAUNCH(...) ((void)0)
#define GR_ALLOW_SHARED(...) ((void)0)
#include "{file}"
void *gradus_wanted[] = {{{instances}}};
"""


def source(unit):
    """A file of kernels/cuda by its name."""
    for folder in ("kernels/cuda", "kernels/cuda/ladder"):
        if (ROOT / folder / unit).is_file():
            return f"{folder}/{unit}"
    raise Unclear(f"{unit} is not in {ROOT / 'kernels/cuda'}, of which machine code is made")


def digest():
    """A hash of everything that machine code, and what is read of it, follows from."""
    files = sorted({path for pattern in SOURCES for path in ROOT.glob(pattern)})
    texts = [str(path.relative_to(ROOT)).encode() + b"\n" + path.read_bytes() for path in files]
    version, said = tools.run("nvcc", "--version")
    return hashlib.sha256(b"\0".join(texts) + (version or said).encode()).hexdigest()


def address(name):
    """`void f<int, 4>(float*)` as an expression of its address, among functions of its name the one of this type."""
    depth = 0
    for at, letter in enumerate(name):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0:
            return f"(void *)(void (*){name[at:]})&{name[:at].removeprefix('void ')}"
    raise Unclear(f"{name} is no function's name")


def compiled(unit, names, architecture):
    """{name: kernel with its listing} of the kernels of a file that are named."""
    with tempfile.TemporaryDirectory() as folder:
        text, cubin = pathlib.Path(folder) / "unit.cu", pathlib.Path(folder) / "unit.cubin"
        wanted = ",\n    ".join(map(address, names))
        text.write_text(UNIT.format(file=source(unit), instances=wanted), encoding="utf-8")
        options = ("-cubin", f"-arch={architecture}", "-std=c++17", "-O3", "-DNDEBUG", "-w", "-I", ROOT)
        _, said = tools.run("nvcc", *options, "-o", cubin, text, seconds=1200)
        if said is not None:
            raise Unclear(f"{unit} does not compile: {kernels.first_error(said)}")
        found = {launches.plain(kernel.name): kernel for kernel in kernels.kernels_of(cubin)}
        if lacking := [name for name in names if name not in found]:
            raise Unclear(f"nvcc made no {lacking[0]} of {unit}")
        code = kernels.listings(cubin)
        return {name: dataclasses.replace(found[name], cubin=None, listing=code[found[name].symbol]) for name in names}


class Code:
    """Kernels of an architecture, kept in a store."""

    def __init__(self, architecture, store, sources):
        self.architecture, self.store, self.sources = architecture, store, sources

    def key(self, launch):
        return json.dumps([self.sources, self.architecture, launch.unit, launch.kernel])

    def kernels(self, wanted):
        """{launch's kernel: Kernel} of all that are wanted, compiled where they are not known. Unclear: why not."""
        lacking = {}
        for launch in wanted:
            if self.store.find(self.key(launch)) is None:
                lacking.setdefault(launch.unit, {})[launch.kernel] = launch
        for unit, named in lacking.items():
            for name, kernel in compiled(unit, sorted(named), self.architecture).items():
                self.store.keep(self.key(named[name]), dataclasses.asdict(kernel))
        return {launch.kernel: kernels.Kernel(**self.store.find(self.key(launch))) for launch in wanted}
