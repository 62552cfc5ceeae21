"""What a kernel was called with: from the names and types of its parameters and the sizes of a row.

Pointers get buffers of their own, far apart; extents are recognised by their names in the source; what is not
recognised makes the kernel unclear, unless only one size is known. Of a tensor map the source's launch says what it is
a map of, where it makes one with gr_tensor_map_of.
"""

import math
import re
import struct

from . import maps, rows
from .rows import Unclear

TENSOR_MAP = "CUtensorMap_st"
BUFFER = 0x700000000000  # the first buffer; each takes 64 GiB, so that no two share a line
SCALARS = {"float": "<f", "double": "<d", "int": "<i", "unsigned int": "<I", "long": "<q", "unsigned long": "<Q",
           "long long": "<q", "unsigned long long": "<Q", "bool": "<?", "char": "<b", "signed char": "<b",
           "unsigned char": "<B", "short": "<h", "unsigned short": "<H", "__half": "half", "half": "half",
           "__nv_bfloat16": "bf16"}
# Bytes of words of several numbers, and of numbers.
WORDS = {"float4": 16, "float2": 8, "double2": 16, "int4": 16, "uint4": 16, "int2": 8, "uint2": 8, "__half2": 4,
         "__nv_bfloat162": 4}
NUMBERS = {"fp16": 2, "half": 2, "bf16": 2, "int8": 1, "uint8": 1, "fp64": 8, "double": 8}
VECTORS = r"(\w+_)?(n|num_?)?(vectors|vecs|vec4s?|float4s?|quads)(_?per_?\w+)?|(n|num)_?vec"  # counts of such words
# Names of an extent, by what they mean; the first known size among the right-hand names is taken.
MEANINGS = [
    (r"(stride|ld|lead\w*)_?a|a_?stride", ("lda", "k")),
    (r"(stride|ld|lead\w*)_?b|b_?stride", ("ldb", "n")),
    (r"(stride|ld|lead\w*)_?[cd]|[cd]_?stride", ("ldc", "n")),
    (r"m|rows?|num_?rows|n_?rows|nrows|height|h|ny|dim_?y|batch\w*|b|bs|tokens?|num_?tokens|outer\w*|a_?rows|seq\w*",
     ("m", "rows", "h", "height", "ny", "tokens", "batch", "b", "d0")),
    (r"n|cols?|columns|num_?cols|n_?cols|ncols|width|w|nx|dim_?x|hidden\w*|inner\w*|d|dim|b_?cols|features",
     ("n", "cols", "w", "width", "nx", "hidden", "d", "dim", "d1", "d0")),
    (r"k|depth|a_?cols|inner_?dim|kdim", ("k", "d2", "n", "d1", "d0")),
    (r"pitch|stride|ld", ("n", "cols", "width", "d1", "d0")),
]
FILTER = r"(\w+_)?(filter|mask|kernel|ksize|conv)(_?(size|width|w|dim|len\w*))?"
# What is small, or has nothing to do with the size of a problem.
OTHER_THINGS = FILTER + r"|\w*(radius|halo|pad|padding|dilation|bins?|iters?|iterations|steps|channels)"
# Attention's sizes have the names of others' rows and columns: what they are called in rows and among parameters.
ATTENTION = [
    ("dim", r"(\w+_)?(head_?(dim|size)|d_?head)|hd|d|dim"),
    ("heads", r"(\w+_)?(n|num)?_?heads?|nh|h"),
    ("batch", r"b|bs|batch\w*"),
    ("seq", r"(\w+_)?(seq\w*|len|length)|n|s|l|t"),
]
TOTAL = r"n|num|len|length|size|count|total|numel|nums?|elems?|num_?elem\w*|n_?elem\w*|elements|array_?size|" \
        r"(data|input|array|vec\w*|in)_?(size|len|length|n)|sz"


def signature(kernel):
    """The types of a kernel's parameters, from its readable name."""
    name = re.sub(r"\(anonymous namespace\)::", "", kernel.name)
    depth, end = 0, len(name) - 1
    for at in range(end, -1, -1):
        depth += {")": 1, "(": -1}.get(name[at], 0)
        if depth == 0:
            break
    types, depth, start = [], 0, 0
    inside = name[at + 1:end]
    for i, letter in enumerate(inside + ","):
        depth += {"<": 1, "(": 1, "[": 1, ">": -1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            types.append(inside[start:i].strip())
            start = i + 1
    return [] if types in ([""], ["void"]) else types


def without_comments(text):
    """A text without its comments; what stands in quotes is none."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/',
                  lambda found: " " if found[0].startswith("/") else found[0], text, flags=re.DOTALL)


def without_macros(parameters, text):
    """A list of parameters; those that are macros of the text are replaced by what they stand for."""
    def meaning(found):
        made = re.search(rf"^[ \t]*#[ \t]*define[ \t]+{found[1]}[ \t]+((?:[^\n\\]|\\\n)+)", text, re.MULTILINE)
        return made[1].replace("\\\n", " ") if made else found[0]

    return re.sub(r"(?<![^,])\s*([A-Za-z_]\w*)\s*(?![^,])", meaning, parameters)


def parameter_names(text, base):
    """Names of the parameters of the kernel `base`, as its definition in the source has them."""
    text = without_comments(text)
    for found in re.finditer(rf"__global__[^;{{}}]*?\b{re.escape(base)}\s*\(", text):
        depth, at = 1, found.end()
        while at < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        names, depth, part = [], 0, ""
        for letter in without_macros(text[found.end():at - 1], text) + ",":
            depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                word = re.search(r"(\w+)\s*(\[[^\]]*\])*\s*(=.*)?$", part.strip())
                names.append(word[1] if word else "")
                part = ""
            else:
                part += letter
        return [name for name in names if name]
    return []


def threads(row):
    total = 1
    for extent in (*row.grid, *row.block):
        total *= extent
    return total


def attention(name):
    """Which of attention's sizes a name means, or None."""
    return next((size for size, pattern in ATTENTION if re.fullmatch(pattern, name)), None)


def attention_sizes(known):
    """A row's sizes as attention's; nothing where they are not those of attention: a sequence and what a head has."""
    sizes = {attention(name): value for name, value in known.items()}
    sure = "heads" in sizes or any(re.search("head|seq", name) for name in known)
    return sizes if sure and {"dim", "seq"} <= set(sizes) else {}


def bare(name):
    """A size's name without what says that it is a number of things: `num_bins` and `bins` are one."""
    return re.sub(r"^(num|n)(?=\w{3})", "", name.lower().replace("_", "")).removesuffix("s")


def of_a_filter(name, known):
    """A filter's width or radius, by the names that a row may have for it."""
    width = next((value for key, value in known.items() if re.fullmatch(FILTER, key)), None)
    if "radius" in name:
        return known.get("radius") or (width and width // 2)
    return width or (known.get("radius") and 2 * known["radius"] + 1)


def words_of(types, dtype):
    """How many numbers of a row's type a word has that a kernel's pointers are to: 4 of fp32 in `float4 *`, else 1."""
    bytes_ = max(WORDS.get(plain(kind).rstrip("*").strip(), 0) for kind in types)
    return bytes_ // NUMBERS.get(rows.number_type(dtype), 4) or 1


def numbers_of_a_row(known):
    """The numbers of a row of the problem, or all of them where it has one size."""
    return next((known[key] for key in ("cols", "hidden", "width", "n", "d1") if key in known), max(known.values()))


def extent(name, known, row, others, words=1):
    """The value of an integer parameter by its name; words: words_of the kernel's pointers."""
    low = name.lower().strip("_")
    if low in known:
        return known[low]
    for key, value in known.items():
        if bare(key) == bare(low):
            return value
    if re.fullmatch(OTHER_THINGS, low):
        if value := of_a_filter(low, known) if re.fullmatch(FILTER + r"|\w*radius", low) else None:
            return value
        raise Unclear(f"which size the parameter {name} has is not known")
    if (size := attention(low)) and size in (sizes := attention_sizes(known)):
        return sizes[size]
    if re.fullmatch(r"(batch|b|bs|batch_size)", low) and "batch" not in known and "rows" in known:
        return row.grid[0]
    if re.search(r"head", low):
        return 1
    if re.search(r"tail", low):
        return 0
    if re.search(r"pack|vec", low) and (packed := re.search(r"pack\w*[ =]*(\d+)", row.kernel)) and "n" in known:
        return known["n"] // int(packed[1])
    if words > 1 and re.fullmatch(VECTORS, low) and ("per" in low or len(set(known.values())) == 1):
        return numbers_of_a_row(known) // words
    if re.fullmatch(r"seq\w*", low) and "cols" in known:
        return known["cols"]
    alone = len(set(known.values())) == 1 and len(others) == 1
    product = 1
    for key, value in known.items():
        product *= value if re.fullmatch(r"d\d|rows|cols|tokens|hidden|h|w", key) else 1
    if re.fullmatch(TOTAL, low) and len(others) == 1 and row.grid[1] > 1 and set(known) == {"d0", "d1"} and \
            known["d0"] == known["d1"]:
        return known["d0"]  # the side of a square: blocks that lie in two dimensions could not do with the product
    if re.fullmatch(TOTAL, low) and {"b", "t"} <= set(known):  # of tokens, or of all that they hold
        return math.prod(known[key] for key in known if key in "bt" or len(others) == 1)
    if re.fullmatch(TOTAL, low) and known and (alone or len(others) == 1):
        return known.get("n") if "n" in known and len(known) == 1 else product
    for pattern, names in MEANINGS:
        if re.fullmatch(pattern, low):
            for key in names:
                if key in known:
                    return known[key]
    if re.fullmatch(TOTAL, low) and (product > 1 or "n" in known):
        return product if product > 1 else known["n"]
    if len(set(known.values())) == 1:
        return next(iter(known.values()))
    raise Unclear(f"which size the parameter {name} has is not known")


def scalar(kind, name, known, row, others, words=1):
    if kind in ("float", "double", "__half", "half", "__nv_bfloat16"):
        value = {"eps": 1e-5, "epsilon": 1e-5, "beta": 1.0}.get(name.lower(), 1.0)
        if SCALARS[kind] == "half":
            return struct.pack("<e", value)
        return struct.pack("<f", value)[2:] if SCALARS[kind] == "bf16" else struct.pack(SCALARS[kind], value)
    value = 1 if kind == "bool" else extent(name, known, row, others, words)
    try:
        return struct.pack(SCALARS[kind], value)
    except struct.error:
        raise Unclear(f"{value} does not fit the parameter {name}") from None


def values(kernel, names, known, row):
    """The bytes of the parameters, from offset 0 on."""
    types = signature(kernel)
    if len(types) != len(kernel.parameters):
        raise Unclear("the kernel's parameters are not understood")
    names = names + [f"p{i}" for i in range(len(names), len(types))]
    whole = bytearray(max((offset + size for offset, size in kernel.parameters), default=0))
    integers = [name for name, kind in zip(names, types) if is_integer(plain(kind))]
    for place, (kind, name, (offset, size)) in enumerate(zip(types, names, kernel.parameters)):
        kind = plain(kind)
        if kind.endswith("*") or kind.endswith("&"):
            data = struct.pack("<Q", BUFFER + place * (64 << 30))
        elif kind in SCALARS:
            data = scalar(kind, name, known, row, integers, words_of(types, row.dtype))
        elif is_tensor_map(kind, name, size):
            data = bytes(size)
        elif size <= 8 or size == 1:
            data = bytes(size)  # an empty functor, or one with little in it
        else:
            raise Unclear(f"the parameter {name} of type {kind[:40]} is not understood")
        whole[offset:offset + len(data)] = data
    return bytes(whole)


def constants(text, known):
    """Sizes by their names, and the constants of a source's enums."""
    found = dict(known)
    for body in re.findall(r"\benum\s*{([^}]*)}", without_comments(text)):
        for name, expression in re.findall(r"(\w+)\s*=\s*([^,]+)", body):
            if (value := evaluated(expression, found)) is not None:
                found[name] = value
    return found


def evaluated(expression, known):
    """The value of an expression of constants, or None."""
    return rows.number(re.sub(r"[A-Za-z_]\w*", lambda name: str(known.get(name[0], name[0])), expression))


def tensor_maps(kernel, names, text, known):
    """{offset: map} of the kernel's tensor maps that the source makes by gr_tensor_map_of(name, rows, columns, ...)."""
    found, sizes = {}, constants(text, known)
    for place, (kind, name, (offset, _)) in enumerate(zip(signature(kernel), names, kernel.parameters)):
        made = re.search(rf"gr_tensor_map_of\({re.escape(name)}, (\w+), (\w+), (\w+), (\w+)\)", text)
        if plain(kind) == TENSOR_MAP and made:
            extents = [evaluated(extent, sizes) for extent in made.groups()]
            if None not in extents:
                found[offset] = maps.Map(BUFFER + place * (64 << 30), maps.ELEMENT, tuple(extents[:2]),
                                         tuple(extents[2:]), (1, 1))
    return found


def is_tensor_map(kind, name, size):
    """Whether a parameter is one, or a struct of a repository's own that is nothing else."""
    return kind == TENSOR_MAP or size == maps.BYTES and bool(re.search(r"(?i)tma|desc|map", f"{kind} {name}"))


def plain(kind):
    return re.sub(r"\bconst\b|\bvolatile\b|__restrict__|__restrict", "", kind).replace("  ", " ").strip()


def is_integer(kind):
    return kind in SCALARS and kind not in ("float", "double", "bool", "__half", "half", "__nv_bfloat16")
