"""From a CUDA source file to a cubin by nvcc, with what stands in for headers that are not there."""

import dataclasses
import pathlib
import re

from . import tools
from .arguments import without_comments
from .headers import with_headers
from .parts import defines, device_text, without_faults
from .rows import Unclear


# What a header of kernels leaves to the file that includes it, or a library's that is not there would bring.
STANDARD = "".join(f"#include <{name}>\n" for name in (
    "cassert", "cmath", "cstdint", "cstdio", "cstdlib", "cuda.h", "cuda_bf16.h", "cuda_fp16.h", "iomanip", "iostream",
    "limits", "string", "vector"))


@dataclasses.dataclass(frozen=True)
class Unit:
    """A source file, where its headers are looked for and what else nvcc is told: as its repository compiles it."""

    source: pathlib.Path
    folders: tuple
    options: tuple = ()


def probe(source, instance, before):
    """A translation unit that holds the file and, where a template must be instantiated, asks for the instance."""
    lines = [f'{before}#include "{source}"']
    if instance:
        lines.append(f"void *gradus_bounds_instance = (void *)&{instance};")
    return "\n".join(lines) + "\n"


def standard_of(unit):
    """C++20 for a file that has what only that knows, itself or in the repository's headers, else what most are written
    in."""
    new = r"\brequires\b|\bconcept\s+\w+\s*=|\bconsteval\b|<(?:bit|concepts|numbers|ranges|source_location|span)>|" \
        r"\]\s*<\s*(?:typename|class|int|unsigned|size_t|auto|bool)\s+\w"  # the last, a lambda that is a template
    return "c++20" if re.search(new, with_headers(unit.source, unit.folders, set(), without_comments)) else "c++17"


class Compiler:
    """nvcc for a unit in a folder of its own. A missing header is taken as empty."""

    def __init__(self, unit, architecture, scratch):
        scratch.mkdir(parents=True, exist_ok=True)
        self.probe, self.cubin, self.stubs = scratch / "unit.cu", scratch / "unit.cubin", scratch / "stubs"
        self.options = ["-cubin", f"-arch={architecture}", f"-std={standard_of(unit)}", "-O3", "-w",
                        "-DNDEBUG", "--expt-relaxed-constexpr", "--extended-lambda", "-I", self.stubs,
                        *(part for folder in unit.folders for part in ("-I", folder)), *unit.options, "-o", self.cubin]

    def errors(self, text):
        """What it says of a text; None where it made the cubin."""
        self.probe.write_text(text, encoding="utf-8")
        for _ in range(24):
            _, said = tools.run("nvcc", *self.options, self.probe)
            header = re.search(r"fatal error: ([\w./-]+): No such file", said or "")
            if not header:
                return said
            (self.stubs / header[1]).parent.mkdir(parents=True, exist_ok=True)
            (self.stubs / header[1]).write_text("", encoding="utf-8")
        return said


def compile_file(unit, architecture, instance, scratch):
    """The cubin of a file, or Unclear with the compiler's first error. Where the file does not compile, it is tried
    behind the standard headers, and then the device part alone is."""
    compiler, device, errors = Compiler(unit, architecture, scratch), scratch / "device.cuh", []
    if compiler.cubin.exists():
        return compiler.cubin
    device.write_text(device_text(unit.source, unit.folders), encoding="utf-8")
    for body, before in ((unit.source, ""), (unit.source, STANDARD), (device, STANDARD)):
        errors.append(compiler.errors(probe(body, instance, before)))
        if errors[-1] is None:
            return compiler.cubin
    raise Unclear(f"does not compile: {first_error(errors[1])}")


def compile_kernel(unit, architecture, instance, scratch, kernel):
    """The cubin of one kernel, of a file that does not compile: of its device part is left out what the compiler does
    not take, or Unclear where that is the kernel itself."""
    compiler, device = Compiler(unit, architecture, scratch), scratch / "device.cuh"
    if compiler.cubin.exists():
        return compiler.cubin
    left, text = device_text(unit.source, unit.folders), None
    if not defines(left, kernel):
        raise Unclear(f"no kernel {kernel} in the file, which does not compile")
    while left != text:
        text = left
        device.write_text(text, encoding="utf-8")
        said = compiler.errors(probe(device, instance, STANDARD))
        if said is None:
            return compiler.cubin
        faults = {int(line) for line in re.findall(r"device\.cuh\((\d+)\): error", said)}
        left = without_faults(text, faults, kernel)
    raise Unclear(f"does not compile: {first_error(said)}")


def first_error(said):
    lines = [line for line in said.splitlines() if "error" in line]
    return re.sub(r"^.*/", "", lines[0] if lines else said)[:160]
