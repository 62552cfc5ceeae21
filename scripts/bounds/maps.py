"""Tensor maps among a kernel's parameters: what TMA is told of a tensor.

The driver makes a map of 128 bytes that say nothing to others. The emulator's (kernels/simt/hopper.h) are in the clear
and shorter, so a kernel's parameters lie elsewhere in its launches than a GPU's kernel finds them.
"""

import dataclasses
import struct

from .rows import Unclear

BYTES, ALIGNED = 128, 64  # of a CUtensorMap
RANK = 5
EMULATED = struct.Struct("<Q4q4i4iiI")  # tensor, size, box, every, rank, magic
MAGIC = 0x7E4503AB
ELEMENT = 2  # bytes
ADDRESS = 0x600000000000  # of these constants


@dataclasses.dataclass(frozen=True)
class Map:
    """A tensor, outermost dimension first: a copy brings box elements, one of every so many."""

    tensor: int
    element: int  # bytes
    size: tuple
    box: tuple
    every: tuple

    def text(self, address):
        """The line that the machine reads."""
        lacking = RANK - len(self.size)
        dimensions = [(1, 1, 1)] * lacking + list(zip(self.size, self.box, self.every))
        return f"map {address:x} {self.tensor:x} {self.element} " + " ".join(f"{a} {b} {c}" for a, b, c in dimensions)


def find(parameters):
    """{offset: map} of the emulator's maps among a launch's parameters."""
    found = {}
    for at in range(0, len(parameters) - EMULATED.size + 1, 8):
        tensor, *numbers, _, magic = EMULATED.unpack_from(parameters, at)
        if magic == MAGIC:
            found[at] = Map(tensor, ELEMENT, tuple(numbers[:4]), tuple(numbers[4:8]), tuple(numbers[8:12]))
    return found


def laid_out(kernel, parameters):
    """(a launch's parameters as a GPU's kernel finds them, {offset: map}). Those with maps begin with them."""
    found = sorted(find(parameters).items())
    if not found:
        return parameters, {}
    with_maps = [(offset, size) for offset, size in kernel.parameters
                 if size >= BYTES and size % ALIGNED == 0 and (kernel.parameter_base + offset) % ALIGNED == 0]
    behind = [offset for offset, _ in kernel.parameters if offset > with_maps[-1][0]] if with_maps else []
    if len(with_maps) != len(found) or with_maps[0][0] < found[0][0]:
        raise Unclear("which of the kernel's parameters are tensor maps is not understood")
    end = max(offset + size for offset, size in kernel.parameters)
    tail = end - behind[0] if behind else 0  # what follows the last of them lies as it does here, counted from the end
    whole, placed = bytearray(end), {}
    whole[:found[0][0]] = parameters[:found[0][0]]
    ends = [at for at, _ in found[1:]] + [len(parameters) - tail]
    for (at, tensor_map), (offset, size), until in zip(found, with_maps, ends):
        rest = parameters[at + EMULATED.size:until][:size - BYTES]
        whole[offset + BYTES:offset + BYTES + len(rest)] = rest
        placed[offset] = tensor_map
    if tail:
        whole[behind[0]:] = parameters[len(parameters) - tail:]
    return bytes(whole), placed


def address(kernel, offset):
    """Of a map at an offset among a kernel's parameters."""
    return ADDRESS + kernel.parameter_base + offset


def window(kernel):
    """What the kernel finds in its constants of where its parameters lie: {place: word}."""
    begin, at = address(kernel, 0), kernel.places.window
    return {at: begin & 0xFFFFFFFF, at + 4: begin >> 32}
