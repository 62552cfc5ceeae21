"""The programs that are wanted: nvcc, cuobjdump, a C++ name reader and a C compiler; each found or named as missing."""

import os
import pathlib
import shutil
import subprocess

PLACES = ("/usr/local/cuda/bin", "/opt/cuda/bin")
CURES = {
    "nvcc": "install NVIDIA's toolkit, or set GRADUS_NVCC",
    "cuobjdump": "it is part of NVIDIA's toolkit, or of the wheel nvidia-cuda-cuobjdump; or set GRADUS_CUOBJDUMP",
    "c++filt": "it is part of binutils",
    "nm": "it is part of binutils",
    "cc": "install a C compiler, or set CC",
}


class Missing(Exception):
    """A program is not on this machine; the message says which and what to do."""


def find(name):
    """The path of a program: what the variable GRADUS_NAME says, else in PATH or where the toolkit usually lies."""
    variable = "CC" if name == "cc" else "GRADUS_" + name.upper().replace("+", "P")
    named = os.environ.get(variable)
    for candidate in [named] if named else [name, *(f"{place}/{name}" for place in PLACES)]:
        if found := shutil.which(candidate):
            return found
    where = f", {variable} says {named}" if named else ""
    raise Missing(f"{name} is not found{where}: {CURES[name]}")


def run(name, *arguments, seconds=300):
    """Runs a program and returns (its standard output, None), or (None, why not)."""
    # cuobjdump wants nvdisasm beside it; some wheels lose the bit that lets it run.
    program = find(name)
    environment = dict(os.environ, PATH=f"{pathlib.Path(program).parent}:{os.environ.get('PATH', '')}")
    try:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                              timeout=seconds, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return None, f"{name} did not end within {seconds} s"
    if done.returncode != 0:
        return None, done.stderr.strip() or f"{name} ended with {done.returncode}"
    return done.stdout, None
