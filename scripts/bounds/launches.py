"""Which kernels a training step launches: the tool's device simt writes its launches down and runs none of them.

Addresses differ from run to run and say nothing but how they are aligned and which are the same. So each one becomes
that of a buffer of its own, and launches of one kernel on one shape are equal.
"""

import bisect
import dataclasses
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile

from . import arguments, tools

ALIGNED = 256  # bytes; a kernel may ask whether an address is a multiple of some power of two up to here


class Refused(Exception):
    """A step that cannot be looked at; the message says why."""


@dataclasses.dataclass(frozen=True)
class Launch:
    """One launch of one of our kernels: its readable name, the file that it is compiled from, what it is given."""

    kernel: str
    unit: str
    grid: tuple
    block: tuple
    shared: int  # dynamic bytes
    parameters: bytes

    @property
    def name(self):
        """The kernel's name with its template's arguments, without its parameters."""
        depth, plain = 0, self.kernel.removeprefix("void ")
        for at, letter in enumerate(plain):
            depth += {"<": 1, ">": -1}.get(letter, 0)
            if letter == "(" and depth == 0:
                return plain[:at]
        return plain

    @property
    def base(self):
        """The kernel's name without its template's arguments."""
        return re.split(r"[<(]", self.kernel.removeprefix("void "))[0]


def own_buffers(parameters, pointers):
    """Parameters whose addresses are those of buffers far apart, one for each address."""
    given, changed = {}, bytearray(parameters)
    for at in pointers:
        address, = struct.unpack_from("<Q", parameters, at)
        place = given.setdefault(address, len(given))
        struct.pack_into("<Q", changed, at, arguments.BUFFER + place * (64 << 30) + address % ALIGNED)
    return bytes(changed)


class Symbols:
    """The functions of a program or library, by address."""

    def __init__(self, module):
        listing, said = tools.run("nm", "--defined-only", module)
        if listing is None:
            raise Refused(f"nm says of {module}: {said}")
        pairs = sorted((int(line.split()[0], 16), line.split()[-1]) for line in listing.splitlines()
                       if re.match(r"[0-9a-f]+ [tTwWuU] ", line))
        if not pairs:
            raise Refused(f"{module} has no symbols, by which launches would tell their kernels: it was stripped")
        self.addresses, self.names = [address for address, _ in pairs], [name for _, name in pairs]

    def at(self, address):
        place = bisect.bisect_left(self.addresses, address)
        found = place < len(self.addresses) and self.addresses[place] == address
        return self.names[place] if found else None


def read(path):
    """The launches of a file that the emulator wrote (kernels/simt/record.c)."""
    lines = [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    modules = {module: Symbols(module) for module in {line["module"] for line in lines}}
    mangled = []
    for line in lines:
        functions = modules[line["module"]]
        name = functions.at(line["function"] - line["base"]) or functions.at(line["function"])
        if not name:
            raise Refused(f"{line['module']} has no symbol for the kernel {line['kernel']}")
        mangled.append(name)
    readable = names_of(mangled)
    return [Launch(readable[name], pathlib.Path(line["unit"]).name, tuple(line["grid"]), tuple(line["block"]),
                   line["shared"], own_buffers(bytes.fromhex(line["parameters"]), line["pointers"]))
            for line, name in zip(lines, mangled)]


def names_of(mangled):
    symbols = sorted(set(mangled))
    done = subprocess.run([tools.find("c++filt")], input="\n".join(symbols), capture_output=True, text=True, check=True)
    return dict(zip(symbols, map(plain, done.stdout.splitlines())))


def plain(name):
    """A readable name without what nvcc puts before the names that are a file's own, and without the types of a
    function, &(g(float)), that is an argument of a template."""
    own = re.sub(r"\(anonymous namespace\)::|_INTERNAL_\w+?_cu_[0-9a-f]{8}(_\d+)?::", "", name)
    return re.sub(r"&\((\w+)\([^()]*\)\)", r"&\1", own).replace("> >", ">>")


def second_update(one, two):
    """What a run of two updates launches behind what a run of one does: not what comes before the first update, nor
    what the first does alone."""
    def shapes(part):
        return [(launch.kernel, launch.grid, launch.block, launch.shared) for launch in part]
    if len(two) <= len(one) or shapes(two[:len(one)]) != shapes(one):
        raise Refused(f"a run of one update made {len(one)} launches, one of two {len(two)}, which do not begin like "
                      "them: which are one update's cannot be told")
    return two[len(one):]


def of_update(program, recipe, batch, multiprocessors, capability=80, precision=None, optimizer=None):
    """What an update of a recipe, the second, launches at a batch size on a GPU of so many multiprocessors and of this
    compute capability (90: halves by wgmma); the program is the tool, with the device simt. An optimizer other than the
    recipe's takes a rate of its own."""
    def run(updates):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "launches"
            words = [str(program), "train", recipe, "--procedural", "--batch", str(batch), "--updates", str(updates),
                     "--device", "simt", "--last-batch", "wrap", "--no-evaluation", "--no-graph"]
            words += ["--precision", precision] if precision else []
            words += ["--optimizer", optimizer, "--lr", "0.001"] if optimizer else []
            environment = dict(os.environ, GRADUS_SIMT_LAUNCHES=str(path), GRADUS_SIMT_LAUNCHES_ALONE="1",
                               GRADUS_SIMT_MULTIPROCESSORS=str(multiprocessors),
                               GRADUS_SIMT_TENSOR_CORES=str(capability))
            done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
            if done.returncode != 0:
                raise Refused(done.stderr.strip() or f"{' '.join(words)} ended with {done.returncode}")
            if not path.exists():
                raise Refused(f"{program} wrote down no launch: it is another version than this script")
            return read(path)
    return second_update(run(1), run(2))
