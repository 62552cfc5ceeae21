"""Tells the time of a kernel: compiles it, describes its launch to the machine, reads what that says."""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import subprocess

from . import arguments, builds, chips, choose, compiler, headers, kernels, maps, parts, rows, sources, tools

HERE = pathlib.Path(__file__).resolve().parent
DATA = {"fp16": 0x3C003C00, "half": 0x3C003C00, "bf16": 0x3F803F80, "int32": 1, "int": 1, "int8": 0x01010101}
PROFILER, EVENTS = re.compile(r"Nsight Compute|\bncu\b"), re.compile(r"(?i)\bevents?\b|cudaEvent")
DRAWN = ("uint8", "u8", "uchar", "byte")  # values that are places in a table: all alike, they would meet at one


@dataclasses.dataclass
class Told:
    """What is said of a row: a time with its floor and what binds, or a reason why not."""

    milliseconds: float = 0.0
    floor: float = 0.0
    binding: str = ""
    reason: str = ""
    remark: str = ""
    details: dict = dataclasses.field(default_factory=dict)


def build_machine(scratch):
    """The machine's program, compiled once per text of its sources."""
    files = sorted((HERE / "machine").glob("*.[ch]"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    program = pathlib.Path(scratch) / f"machine-{digest}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        part = program.with_suffix(f".{os.getpid()}")
        _, said = tools.run("cc", "-std=gnu17", "-O3", "-march=native", "-o", part,
                            *[file for file in files if file.suffix == ".c"], "-lm")
        if said is not None:
            raise tools.Missing(f"the machine does not compile: {said[:300]}")
        part.rename(program)
    return program


def describe(kernel, chip, grid, block, parameters, shared, data, tensor_maps=None):
    """The text that the machine reads; tensor_maps: {offset among the parameters: map}."""
    lines = [f"{name} {value}" for name, value in chip.items()]
    for name, shape in (("grid", grid), ("block", block)):
        lines += [f"{name}_{axis} {extent}" for axis, extent in zip("xyz", shape)]
    lines += [f"kernel_registers {kernel.registers}", f"kernel_shared {shared}", f"data {data:x}"]
    places = kernel.places
    words = {at + 4 * axis: extent for at, extents in ((places.block, block), (places.grid, grid))
             for axis, extent in enumerate(extents)}
    words[places.stack] = 0x3000
    if tensor_maps:
        words.update(maps.window(kernel))
        lines += [each.text(maps.address(kernel, offset)) for offset, each in tensor_maps.items()]
    padded = parameters + bytes(-len(parameters) % 4)
    words.update((kernel.parameter_base + at, int.from_bytes(padded[at:at + 4], "little"))
                 for at in range(0, len(padded), 4))
    lines += [f"c 0 {offset:x} {word:x}" for offset, word in words.items()]
    lines += [f"c {bank} {4 * at:x} {word:x}" for bank, body in kernel.constants for at, word in enumerate(body)]
    lines += [f"i {address:x} {high:x} {text}" for address, _, high, text in kernels.code_of(kernel)]
    return "\n".join(lines) + "\n"


def ask(program, description, seconds=240):
    """What the machine says of a description, as a dictionary."""
    try:
        done = subprocess.run([program], input=description, capture_output=True, text=True, timeout=seconds,
                              check=False)
    except subprocess.TimeoutExpired:
        raise rows.Late(f"the simulation did not end within {seconds} s") from None
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise rows.Unclear(f"the simulation failed with {done.returncode}") from None
    if "reason" in answer:
        raise rows.Unclear(answer["reason"])
    return answer


class Teller:
    """Keeps what was compiled, so that a file is compiled once for all its rows. numbers: of a chip, as in chips."""

    def __init__(self, folder, scratch, numbers=chips.numbers):
        self.numbers = numbers
        self.folder, self.scratch = folder, pathlib.Path(scratch)
        self.program = build_machine(scratch)
        self.compiled = {}
        self.profiled = set()  # repositories and GPUs of which a row says that Nsight Compute timed it

    def tree_of(self, row):
        """The folder that row.file counts from."""
        return sources.checkout(self.folder, row.repo, row.commit, row.file, self.scratch)

    def note(self, table):
        """Reads out of all rows who timed with Nsight Compute: a repository is taken to have one way for a GPU."""
        self.profiled |= {(row.repo, row.gpu) for row in table if PROFILER.search(row.notes)}

    def by_profiler(self, row):
        """Whether Nsight Compute timed a row: it says so, or others of its repository do and it names no events."""
        return bool(PROFILER.search(row.notes)) or \
            (row.repo, row.gpu) in self.profiled and not EVENTS.search(row.notes)

    def source_of(self, row, tree):
        """The row's file; where it has a block of its own as constants, a copy that has the row's."""
        source = tree / row.file
        text = headers.text_of(source)
        edited = parts.for_block(text, row.block) if re.search(r"\bdim3\b", text) else None
        if edited is None:
            return source
        copy = self.scratch / hashlib.sha256(edited.encode()).hexdigest()[:16] / source.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(edited, encoding="utf-8")
        return copy

    def unit_of(self, row, tree):
        """The row's file as its repository compiles it."""
        file = tree / row.file
        return compiler.Unit(self.source_of(row, tree), tuple(headers.folders_of(tree, file)),
                             builds.options(tree, file, row.notes))

    def kernels_of(self, unit, architecture, instance, alone=None):
        """The kernels of a file; alone: of one that does not compile, this kernel and what compiles with it."""
        wanted = f"{unit.source.read_bytes()} {unit} {architecture} {instance} {alone}"
        key = hashlib.sha256(wanted.encode()).hexdigest()[:16]
        if key not in self.compiled:
            place = architecture, instance, self.scratch / key
            try:
                cubin = compiler.compile_kernel(unit, *place, alone) if alone else compiler.compile_file(unit, *place)
                self.compiled[key] = kernels.kernels_of(cubin)
            except rows.Unclear as unclear:
                self.compiled[key] = unclear
        if isinstance(self.compiled[key], rows.Unclear):
            raise self.compiled[key]
        return self.compiled[key]

    def kernels_beside(self, units, architecture, instance, base):
        """The kernel `base` and what compiles beside it, of the first of some units that has it."""
        reasons = []
        for unit in units:
            try:
                return self.kernels_of(unit, architecture, instance, base)
            except rows.Unclear as unclear:
                reasons.append(unclear)
        raise reasons[0]

    def kernel_of(self, row, tree, unit, architecture):
        """The row's kernel: among what the file itself instantiates, else by instantiating the template; of a file that
        does not compile, by leaving out what is wrong with it, else through a file that includes it."""
        base, given = choose.named(row.kernel)
        text, found, compiles = headers.with_headers(unit.source, unit.folders, set(), str), [], True
        try:
            found = self.kernels_of(unit, architecture, None)
        except rows.Unclear:
            compiles = False
        if not given and not any(kernel.base == base for kernel in found):
            given = choose.launched(text, base, row.dtype)
        instance = f"{parts.namespace_of(text, base)}{base}<{', '.join(given)}>" if given else None
        try:
            if compiles and instance and not any(choose.is_instance(kernel, base, given) for kernel in found):
                found = self.kernels_of(unit, architecture, instance)
        except rows.Unclear:
            compiles = bool(found)
        if not compiles:
            around = [compiler.Unit(file, headers.folders_of(tree, file), unit.options)
                      for file in headers.including(tree, tree / row.file)]
            found = self.kernels_beside([unit, *around], architecture, instance, base)
        return choose.choose(found, row)

    def tell(self, row):
        """What is told of a row; never raises for what lies in the row."""
        try:
            return self.tell_clear(row)
        except (rows.Unclear, chips.Unknown) as unclear:
            return Told(reason=str(unclear))
        except (ValueError, LookupError, TypeError, AttributeError, OSError, subprocess.SubprocessError) as slip:
            return Told(reason=f"a fault of scripts/bounds: {type(slip).__name__}: {slip}"[:160])

    def tell_clear(self, row):
        by_profiler = self.by_profiler(row)
        chip = self.numbers(chips.find(row.gpu), by_profiler)
        if not row.grid or not row.block or 0 in (*row.grid, *row.block):
            raise rows.Unclear("the launch's grid or block is not given, or holds nothing")
        tree = self.tree_of(row)
        capability = row.capability or f"{chip['architecture'] / 10:.1f}"
        architecture, stand_in = kernels.code_architecture(capability)
        unit = self.unit_of(row, tree)
        kernel = self.kernel_of(row, tree, unit, architecture)
        text = headers.text_of(unit.source)
        names = arguments.parameter_names(text + parts.device_text(unit.source, unit.folders), kernel.base)
        parameters = arguments.values(kernel, names, rows.sizes(row.size), row)
        threads = row.block[0] * row.block[1] * row.block[2]
        shared = kernel.shared + row.shared
        if not shared and re.search(r"extern\s+__shared__", text):
            shared = 4 * threads  # its size stands in the launch: a word a thread is usual
        kind = rows.number_type(row.dtype)
        tensor_maps = arguments.tensor_maps(kernel, names, text, rows.sizes(row.size))
        # Nsight Compute empties the caches before each launch, unless it is told not to (--cache-control).
        memory = {"data_drawn": int(kind in DRAWN), "caches_empty": int(by_profiler)}
        answer = ask(self.program, describe(kernel, chip | memory, row.grid, row.block, parameters, shared,
                                            DATA.get(kind, 0x3F800000), tensor_maps))
        pause = 0 if by_profiler else chips.PAUSE  # a profiler times the kernel alone
        return Told((answer["microseconds"] + pause) / 1e3, answer["floor"] / 1e3, answer["binding"],
                    remark=f"{architecture}'s code" if stand_in else "", details=answer)
