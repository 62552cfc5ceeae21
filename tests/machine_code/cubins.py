"""The machine code of GPUs inside a program, library or object file: one Kernel for each, read from the ELF files that
nvcc packs into it, large ones compressed by zstd. Nothing of NVIDIA's is needed for that.

Formats: a container begins with PACK and holds entries; ELF64, the architecture in bits 8 to 15 of e_flags; attributes
in .nv.info and .nv.info.NAME, as a byte of format, a byte of kind, two bytes that are the value or the size of what
follows. An instruction has 16 bytes, from capability 7.0 on; its low 9 bits say what it does.
"""
import collections
import ctypes
import ctypes.util
import struct

PACK, MACHINE_CODE, ZSTD = 0xBA55ED50, 2, 0x8000  # a container; a kind of entry, a flag of it
MAX_THREADS, FRAME_SIZE, REGISTERS = 0x05, 0x11, 0x2F  # kinds of attributes
WITH_SIZE = 0x04  # format of an attribute: the size of a value, then the value
BRANCH, LOAD_LOCAL, STORE_LOCAL = 0x147, 0x183, 0x187
PRODUCTS = {0x023: "FFMA", 0x03C: "HMMA", 0x1F0: "HGMMA"}

Kernel = collections.namedtuple("Kernel", "arch name threads registers shared stack spills products loop")


class Cubin:
    """An ELF file: sections by name."""

    def __init__(self, data):
        self.data = data
        table, flags = struct.unpack_from("<QI", data, 40)
        entry, count, names = struct.unpack_from("<HHH", data, 58)
        self.arch = flags >> 8 & 0xFF
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry) for i in range(count)]
        self.sections = {self.text(headers[names][4] + header[0]): header for header in headers}
        self.symbols = self.content(".symtab")

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()

    def content(self, name):
        header = self.sections.get(name)
        if not header or header[1] == 8:  # SHT_NOBITS
            return b""
        return self.data[header[4]:header[4] + header[5]]

    def size(self, name):
        return self.sections[name][5] if name in self.sections else 0

    def symbol(self, number):
        at, = struct.unpack_from("<I", self.symbols, 24 * number)
        return self.text(self.sections[".strtab"][4] + at)


def attributes(content):
    """(kind, value as bytes), one after the other"""
    at = 0
    while at + 4 <= len(content):
        form, kind, size = struct.unpack_from("<BBH", content, at)
        at += 4
        if form == WITH_SIZE:
            yield kind, content[at:at + size]
            at += size


def of_functions(cubin, wanted):
    """An attribute of each function, by its name."""
    pairs = (struct.unpack("<II", value) for kind, value in attributes(cubin.content(".nv.info")) if kind == wanted)
    return {cubin.symbol(number): value for number, value in pairs}


def launch_bound(cubin, name):
    """Threads of a block as __launch_bounds__ says, 0: it says nothing."""
    for kind, value in attributes(cubin.content(".nv.info." + name)):
        if kind == MAX_THREADS:
            x, y, z = struct.unpack("<III", value)
            return x * y * z
    return 0


def instructions(code):
    return [int.from_bytes(code[i:i + 16], "little") for i in range(0, len(code), 16)]


def operation(instruction):
    return instruction & 0x1FF


def target(arch, number, instruction):
    """Of a branch, as a number of an instruction: a signed distance from the next one, by fours, in bits 34 to 81;
    from capability 9.0 on its lowest eight bits are bits 16 to 23."""
    words = instruction >> 34 & (1 << 48) - 1
    words -= (words & 1 << 47) << 1
    if arch >= 90:
        words = words << 8 | instruction >> 16 & 0xFF
    return number + 1 + words * 4 // 16


def hot_loop(arch, code):
    """(products, instructions) of the innermost loop with the most products; (0, 0): no loop has any"""
    loops = []
    for i, instruction in enumerate(code):
        if operation(instruction) == BRANCH and 0 <= target(arch, i, instruction) < i:
            loops.append((target(arch, i, instruction), i))
    best = (0, 0)
    for first, last in sorted(loops, key=lambda loop: loop[1] - loop[0]):
        products = sum(operation(k) in PRODUCTS for k in code[first:last + 1])
        inner = any(first <= f and l <= last and (f, l) != (first, last) and
                    any(operation(k) in PRODUCTS for k in code[f:l + 1]) for f, l in loops)
        if products > best[0] and not inner:
            best = products, last + 1 - first
    return best


def kernels_of(cubin):
    registers, stacks = of_functions(cubin, REGISTERS), of_functions(cubin, FRAME_SIZE)
    for section in cubin.sections:
        if not section.startswith(".text."):
            continue
        name, code = section.removeprefix(".text."), instructions(cubin.content(section))
        spills = sum(operation(k) in (LOAD_LOCAL, STORE_LOCAL) for k in code)
        yield Kernel(cubin.arch, name, launch_bound(cubin, name), registers[name],
                     cubin.size(".nv.shared." + name), stacks.get(name, 0), spills, *hot_loop(cubin.arch, code))


def decompressed(content, size):
    """By libzstd, on which every Debian stands (dpkg needs it)."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(size)
    got = library.ZSTD_decompress(out, ctypes.c_size_t(size), content, ctypes.c_size_t(len(content)))
    if got != size:
        raise ValueError(f"machine code of {size} bytes cannot be decompressed")
    return out.raw


def cubins_at(data, at):
    """Those of the container at an offset of data; no container: none."""
    version, header, size = struct.unpack_from("<HHQ", data, at + 4)
    at, end = at + header, at + header + size
    while version == 1 and end <= len(data) and at + 64 <= end:
        kind, _, header, size = struct.unpack_from("<HHIQ", data, at)
        packed, = struct.unpack_from("<I", data, at + 16)
        flags, _, whole = struct.unpack_from("<QQQ", data, at + 40)
        if kind == MACHINE_CODE:
            content = data[at + header:at + header + size]
            yield Cubin(decompressed(content[:packed], whole) if flags & ZSTD else content)
        at += header + size


def kernels_in(path):
    """All kernels of a file, in the order of the file."""
    data, mark = open(path, "rb").read(), struct.pack("<I", PACK)
    found, at = [], data.find(mark)
    while at >= 0 and at + 16 <= len(data):
        found += [kernel for cubin in cubins_at(data, at) for kernel in kernels_of(cubin)]
        at = data.find(mark, at + 4)
    return found
