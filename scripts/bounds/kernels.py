"""The machine code of kernels, out of a cubin by cuobjdump."""

import dataclasses
import pathlib
import re
import subprocess

from . import tools
from .rows import Unclear

# CUDA 13 makes no code older than sm_75.
STAND_INS = {"sm_70": "sm_75", "sm_72": "sm_75", "sm_60": "sm_75", "sm_61": "sm_75", "sm_52": "sm_75"}
FEATURES = {f"sm_{number}": f"sm_{number}a" for number in (90, 100, 103, 110, 120, 121)}


@dataclasses.dataclass(frozen=True)
class Places:
    """Where in constant bank 0 a kernel finds its launch: the extents of a block and of the grid, the top of the stack,
    the address of its parameters."""

    block: int
    grid: int
    stack: int
    window: int


PLACES, BLACKWELL_PLACES = Places(0, 0xc, 0x28, 0x198), Places(0x360, 0x370, 0x37c, 0x348)
BLACKWELL_PARAMETERS = 0x380  # where they begin there


@dataclasses.dataclass
class Kernel:
    """One function of a cubin: its C++ name, its parameters as (offset, bytes), what a thread and a block take; its
    instructions where they were read before; the words of its constants by (bank, words)."""

    cubin: pathlib.Path
    symbol: str
    name: str
    parameters: list
    parameter_base: int
    registers: int
    shared: int
    listing: list | None = None
    constants: list = dataclasses.field(default_factory=list)

    @property
    def base(self):
        name = self.name.replace("(anonymous namespace)::", "")
        return re.sub(r"<.*", "", name.split("(")[0]).split()[-1].split("::")[-1] if name else ""

    @property
    def places(self):
        return BLACKWELL_PLACES if self.parameter_base >= BLACKWELL_PARAMETERS else PLACES


def code_architecture(capability):
    """The architecture whose code stands for a GPU of this compute capability, and whether it is a stand-in."""
    wanted = "sm_" + capability.replace(".", "")
    stand_in = STAND_INS.get(wanted, wanted)
    return FEATURES.get(stand_in, stand_in), stand_in != wanted


def names_of(symbols):
    """Readable names of mangled symbols."""
    done = subprocess.run([tools.find("c++filt")], input="\n".join(symbols), capture_output=True, text=True, check=True)
    return dict(zip(symbols, done.stdout.splitlines()))


def kernels_of(cubin):
    """All functions of a cubin, with what cuobjdump says of them."""
    usage, said = tools.run("cuobjdump", "-res-usage", cubin)
    layout, _ = tools.run("cuobjdump", "-elf", cubin)
    if usage is None:
        raise Unclear(f"cuobjdump: {said}")
    resources = {symbol: (int(registers), int(shared)) for symbol, registers, shared in
                 re.findall(r"Function ([\w$.]+):\s*REG:(\d+) .*?SHARED:(\d+)", usage)}
    parameters, constants = layouts(layout or ""), constant_banks(layout or "")
    names = names_of(list(resources))
    return [Kernel(cubin, symbol, names[symbol], parameters[symbol][1], parameters[symbol][0], *resources[symbol],
                   constants=constants.get(symbol, []) + constants.get("", []))
            for symbol in resources if symbol in parameters]


def code_of(kernel):
    """(address, low word, high word, text) of each instruction of a kernel."""
    if kernel.listing is not None:
        return kernel.listing
    listing, said = tools.run("cuobjdump", "-sass", "-fun", kernel.symbol, kernel.cubin)
    if listing is None:
        raise Unclear(f"cuobjdump: {said}")
    return instructions(re.split(r"^\s*Function : .*$", listing, flags=re.MULTILINE)[-1])


def instructions(listing):
    pattern = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.*?);?\s*/\* 0x([0-9a-f]{16}) \*/\s*/\* 0x([0-9a-f]{16}) \*/")
    return [(int(address, 16), int(low, 16), int(high, 16), text.strip().rstrip(";").strip())
            for address, text, low, high in pattern.findall(listing)]


def listings(cubin):
    """{symbol: code} of all functions of a cubin: cuobjdump takes as long for one of them."""
    listing, said = tools.run("cuobjdump", "-sass", cubin)
    if listing is None:
        raise Unclear(f"cuobjdump: {said}")
    parts = re.split(r"^\s*Function : (\S+).*$", listing, flags=re.MULTILINE)
    return {symbol: instructions(body) for symbol, body in zip(parts[1::2], parts[2::2])}


def constant_banks(listing):
    """What a cubin has of constants, each bank as (bank, words): symbol -> those that the compiler made for a kernel,
    bank 2, as numbers that fit no instruction and tables of jumps; "" -> those of the source, bank 3."""
    found = {}
    for bank, symbol, body in re.findall(r"^\.nv\.constant([23])(?:\.([\w$.]+))?$((?:\s+0x[0-9a-f]{8}\b)+)", listing,
                                         re.MULTILINE):
        found.setdefault(symbol, []).append((int(bank), [int(word, 16) for word in body.split()]))
    return found


def layouts(listing):
    """Where each kernel's parameters lie in constant bank 0: symbol -> (base, [(offset, bytes), ...])."""
    found = {}
    for symbol, body in re.findall(r"^\.nv\.info\.([\w$.]+)$(.*?)(?=^\.\w|\Z)", listing, re.MULTILINE | re.DOTALL):
        base = re.search(r"EIATTR_PARAM_CBANK\s+Format:\s+\w+\s+Value:\s+0x\w+ 0x(\w+)", body)
        fields = sorted((int(ordinal, 16), int(offset, 16), int(size, 16)) for ordinal, offset, size in re.findall(
            r"Ordinal : 0x(\w+)\s+Offset\s+: 0x(\w+)\s+Size\s+: 0x(\w+)", body))
        found[symbol] = (int(base[1], 16) & 0xFFFF if base else 0, [(offset, size) for _, offset, size in fields])
    return found
