"""From a CUDA source file to the machine code of its kernels: compiled by nvcc, read back by cuobjdump."""

import dataclasses
import pathlib
import re
import subprocess

from . import tools
from .arguments import without_comments
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


def include_folders(tree, source):
    """Where a repository's own headers may lie: beside the file, its parents up to the root, the usual names there."""
    folder, found = source.parent, []
    while True:
        found.append(folder)
        found += [folder / name for name in ("include", "inc", "src", "common", "utils", "includes") if
                  (folder / name).is_dir()]
        if folder == tree or tree not in folder.parents:
            return list(dict.fromkeys(found))
        folder = folder.parent


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">][^\n]*', re.MULTILINE)


def folders_of(tree, source):
    """include_folders, and from where else in the repository the names count that the file or a header of its own
    includes in quotes: `a/b.cuh` from include/x for include/x/a/b.cuh, which build files say."""
    folders, seen, left = include_folders(tree, source), set(), [source]
    while left:
        file = left.pop()
        for line, name in ((found[0], found[1]) for found in INCLUDE.finditer(text_of(file))):
            near = [path for folder in (file.parent, *folders) if (path := folder / name).is_file()]
            if not near and '"' in line and (far := lies_at(tree, name)):
                folders.append(far)
                near = [far / name]
            left += [path for path in near[:1] if path not in seen]
            seen.update(near[:1])
    return folders


def lies_at(tree, name):
    """The folder below which a repository has a file of this name, the outermost of several; None where it has none."""
    places = [path for path in tree.rglob(pathlib.PurePath(name).name)
              if path.is_file() and path.as_posix().endswith("/" + name)]
    depth = len(pathlib.PurePath(name).parts)
    folders = [path.parents[depth - 1] for path in places]
    return min(folders, key=lambda folder: (len(folder.parts), folder), default=None)


def including(tree, header):
    """The repository's CUDA files that include a file by its name."""
    wanted = re.compile(rf'^[ \t]*#[ \t]*include[ \t]*["<](?:[^">\n]*/)?{re.escape(header.name)}[">]', re.MULTILINE)
    return [file for file in sorted(tree.rglob("*.cu*")) if file.is_file() and wanted.search(text_of(file))]


def text_of(source):
    return source.read_text(encoding="utf-8", errors="replace")


def device_words(text):
    """What makes a function one of the device: CUDA's own words, `constexpr`, and macros that stand for them."""
    macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(?:[^\n\\]|\\.)*?__(?:device|global)__", text,
                        re.MULTILINE | re.DOTALL)
    words = ("constexpr", "consteval", *macros)
    return re.compile(r"__global__|__device__|" + "|".join(rf"\b{word}\b" for word in words))


def device_part(text, words=None):
    """A file without its host functions: for files whose host part wants what is not there; words: device_words, where
    the file's headers have some of them."""
    kept, at, words = [], 0, words or device_words(text)
    body = re.compile(r"^[^\n{};#]*\b(?P<name>\w+)\s*\([^;{}]*\)\s*(?:const\s*)?\{", re.MULTILINE)
    while found := body.search(text, at):
        end, depth = found.end(), 1
        while end < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        head = text[max(0, found.start() - 200):found.end()]
        head = head[max(head.rfind(";"), head.rfind("}")) + 1:] if found.start() else head
        if words.search(head) or found["name"] in ("if", "for", "while", "switch"):
            kept.append(text[at:end])
        else:
            start = found.start()
            template = re.search(r"template\s*<[^;{}]*>\s*$", text[at:start])
            kept.append(text[at:at + template.start() if template else start])
        at = end
    kept.append(text[at:])
    return re.sub(r"^\s*template\s+(?:void|__global__)[^;{]*;", "", "".join(kept), flags=re.MULTILINE)


def for_block(text, block):
    """A file whose launches take their block from macros, `dim3 block(BDIMX, BDIMY)`, with those of another block; None
    where it has that block or takes it from elsewhere."""
    for names in re.findall(r"\bdim3\s+\w+\s*\(\s*([A-Za-z_]\w*)\s*,\s*([A-Za-z_]\w*)\s*\)", text):
        lines = [re.search(rf"^([ \t]*#[ \t]*define[ \t]+{name}[ \t]+)(\d+)\b", text, re.MULTILINE) for name in names]
        if all(lines) and names[0] != names[1]:
            if [int(line[2]) for line in lines] == list(block[:2]):
                return None
            for name, extent in zip(names, block):
                text = re.sub(rf"^([ \t]*#[ \t]*define[ \t]+{name}[ \t]+)\d+\b", rf"\g<1>{extent}", text,
                              flags=re.MULTILINE)
            return text
    return None


def with_headers(source, folders, seen, part):
    """A file and the repository's headers that it includes as one text, of each what `part` makes of it."""
    def included(found):
        for folder in (source.parent, *folders):
            if (path := folder / found[1]).is_file():
                return "" if path.resolve() in seen else with_headers(path, folders, seen, part)
        return found[0]

    seen.add(source.resolve())
    return INCLUDE.sub(included, part(text_of(source)))


def device_text(source, folders):
    """A file and the repository's headers that it includes as one text, without host functions."""
    words = device_words(with_headers(source, folders, set(), str))
    return with_headers(source, folders, set(), lambda text: device_part(without_comments(text), words))


def declarations(text):
    """(start, end) of each declaration at the top of a file and of each line of the preprocessor there."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|'
                       r'^[ \t]*#(?:[^\n\\]|\\.)*|[{}();]', re.DOTALL | re.MULTILINE)
    found, start, depth = [], 0, 0
    for match in token.finditer(text):
        word = match[0].lstrip()
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(word, 0)
        if depth == 0 and (word in ("}", ";") or word.startswith("#")):
            found.append((start, match.end()))
            start = match.end()
    return found


def defines(text, kernel):
    return re.search(rf"__global__[^;{{}}]*?\b{re.escape(kernel)}\s*\(", text) is not None


def namespace_of(text, kernel):
    """The namespaces in which a text defines a kernel, as `outer::inner::`."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.DOTALL)
    found, names = re.search(rf"__global__[^;{{}}]*?\b{re.escape(kernel)}\s*\(", text), []
    for token in re.finditer(r"\bnamespace\s+([\w:]*)\s*\{|[{}]", text[:found.start()] if found else ""):
        if token[0] != "}":
            names.append(token[1])
        elif names:
            names.pop()
    return "".join(f"{name}::" for name in names if name)


def without_faults(text, faults, kernel):
    """A file without the declarations on whose lines the compiler found faults, but for this kernel's; lines stay where
    they are."""
    kept, at = [], 0
    for start, end in declarations(text):
        body = text[start:end].lstrip()
        first = text.count("\n", 0, end - len(body)) + 1
        faulty = not faults.isdisjoint(range(first, first + body.count("\n") + 1))
        if faulty and not body.startswith("#") and not defines(body, kernel):
            kept += text[at:start], "\n" * text.count("\n", start, end)
            at = end
    return "".join((*kept, text[at:]))


# What a header of kernels leaves to the file that includes it, or a library's that is not there would bring.
STANDARD = "".join(f"#include <{name}>\n" for name in (
    "cassert", "cmath", "cstdint", "cstdio", "cstdlib", "cuda.h", "cuda_bf16.h", "cuda_fp16.h", "iomanip", "iostream",
    "limits", "string", "vector"))


def probe(source, instance, before):
    """A translation unit that holds the file and, where a template must be instantiated, asks for the instance."""
    lines = [f'{before}#include "{source}"']
    if instance:
        lines.append(f"void *gradus_bounds_instance = (void *)&{instance};")
    return "\n".join(lines) + "\n"


def standard_of(source, folders):
    """C++20 for a file that has what only that knows, itself or in the repository's headers, else what most are written
    in."""
    new = r"\brequires\b|\bconcept\s+\w+\s*=|\bconsteval\b|<(?:bit|concepts|numbers|ranges|source_location|span)>|" \
        r"\]\s*<\s*(?:typename|class|int|unsigned|size_t|auto|bool)\s+\w"  # the last, a lambda that is a template
    return "c++20" if re.search(new, with_headers(source, folders, set(), without_comments)) else "c++17"


class Compiler:
    """nvcc for one unit in a folder of its own. A missing header is taken as empty."""

    def __init__(self, folders, architecture, scratch, source):
        scratch.mkdir(parents=True, exist_ok=True)
        self.unit, self.cubin, self.stubs = scratch / "unit.cu", scratch / "unit.cubin", scratch / "stubs"
        self.options = ["-cubin", f"-arch={architecture}", f"-std={standard_of(source, folders)}", "-O3", "-w",
                        "-DNDEBUG", "--expt-relaxed-constexpr", "--extended-lambda", "-I", self.stubs,
                        *(part for folder in folders for part in ("-I", folder)), "-o", self.cubin]

    def errors(self, text):
        """What it says of a unit; None where it made the cubin."""
        self.unit.write_text(text, encoding="utf-8")
        for _ in range(24):
            _, said = tools.run("nvcc", *self.options, self.unit)
            header = re.search(r"fatal error: ([\w./-]+): No such file", said or "")
            if not header:
                return said
            (self.stubs / header[1]).parent.mkdir(parents=True, exist_ok=True)
            (self.stubs / header[1]).write_text("", encoding="utf-8")
        return said


def compile_file(folders, source, architecture, instance, scratch):
    """The cubin of a file, or Unclear with the compiler's first error. Where the file does not compile, it is tried
    behind the standard headers, and then the device part alone is. Folders: where headers are looked for."""
    compiler, device, errors = Compiler(folders, architecture, scratch, source), scratch / "device.cuh", []
    if compiler.cubin.exists():
        return compiler.cubin
    device.write_text(device_text(source, folders), encoding="utf-8")
    for body, before in ((source, ""), (source, STANDARD), (device, STANDARD)):
        errors.append(compiler.errors(probe(body, instance, before)))
        if errors[-1] is None:
            return compiler.cubin
    raise Unclear(f"does not compile: {first_error(errors[1])}")


def compile_kernel(folders, source, architecture, instance, scratch, kernel):
    """The cubin of one kernel, of a file that does not compile: of its device part is left out what the compiler does
    not take, or Unclear where that is the kernel itself."""
    compiler, device = Compiler(folders, architecture, scratch, source), scratch / "device.cuh"
    if compiler.cubin.exists():
        return compiler.cubin
    left, text = device_text(source, folders), None
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

