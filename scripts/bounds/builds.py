"""What a repository's own build says to nvcc of a file that changes its kernels' code: `--use_fast_math`, say."""

import re

from .headers import text_of

OPTION = re.compile(r"(?<![\w-])--?(?:(?P<fast>use[_-]fast[_-]math)\b"
                    r"|(?P<name>ftz|prec-div|prec-sqrt|fmad)[= ](?P<value>true|false)\b"
                    r"|maxrregcount[= ]\"?(?P<registers>\d+)"
                    r"|dlcm=(?P<cache>c[agsv])\b)")
# Build files that make a program, scripts that make it or a module of PyTorch, what a reader is told to type.
PROSE = re.compile(r"(?i)readme.*")
KINDS = (re.compile(r"(?i)(?:GNU)?makefile|CMakeLists\.txt|.*\.(?:mk|cmake)"), re.compile(r"(?i).*\.(?:py|sh|bat|ps1)"),
         PROSE)
CALLS = re.compile(r"\bnvcc\b")
MAKES = re.compile(rf"{CALLS.pattern}|\bproject\s*\([^)]*CUDA|\benable_language\s*\(\s*CUDA|cuda_cflags|CUDAExtension")


def options(tree, source, notes=""):
    """The options of nvcc with which a row's file was compiled: those of the row's notes, else those of the nearest
    folder, its own or one above, that has them or calls nvcc without them."""
    if said := read(notes):
        return said
    folder = source.parent
    while True:
        for kind in KINDS:
            text = "\n".join(lines_of(file, source, kind is PROSE) for file in sorted(folder.iterdir())
                             if file.is_file() and kind.fullmatch(file.name))
            if (said := read(text)) or MAKES.search(text):
                return said
        if folder == tree or tree not in folder.parents:
            return ()
        folder = folder.parent


def lines_of(file, source, prose):
    """The lines of a build file that count for a source file: no remarks, nothing for debuggers or that is off; those
    that call nvcc for another file do not where some do for this one, and of prose only calls."""
    text = re.sub(r"\\\n", " ", text_of(file))
    text = re.sub(r"(?m)^\s*(?:#|//|::|REM\b).*$|(?<=\s)#\s.*$", "", text)
    lines = [line for line in without_off(text).splitlines() if not re.search(r"(?i)(?<!n)debug", line)]
    calls = [line for line in lines if CALLS.search(line) and re.search(r"\.cu\b", line)]
    own = [line for line in calls if re.search(rf"(?<![\w-]){re.escape(source.name)}\b", line)]
    if own:
        lines = [line for line in lines if line in own or line not in calls]
    return "\n".join(line for line in lines if CALLS.search(line) or not prose)


def without_off(text):
    """CMake's text without what is behind an `if` of an option that is off."""
    off = set(re.findall(r'(?i)\boption\s*\(\s*(\w+)\s+(?:"[^"]*"\s*)?OFF\s*\)', text))
    kept, depth, dropped = [], 0, None
    for line in text.splitlines():
        word = re.match(r"(?i)\s*(if|else|elseif|endif)\s*\((.*)", line) if off else None
        kind = word[1].lower() if word else ""
        depth += (kind == "if") - (kind == "endif")
        if kind == "if" and dropped is None and off & set(re.findall(r"(?<!NOT )\b\w+", word[2])):
            dropped = depth
        elif dropped is not None and (depth < dropped or depth == dropped and kind in ("else", "elseif")):
            dropped = None
        if dropped is None:
            kept.append(line)
    return "\n".join(kept)


def read(text):
    """The options that stand in a text, each once, as nvcc takes them; a number of registers only where all agree."""
    found, registers = [], set()
    for option in OPTION.finditer(text):
        if option["registers"]:
            registers.add(option["registers"])
        elif option["fast"]:
            found.append("--use_fast_math")
        else:
            found.append(f"-Xptxas=-dlcm={option['cache']}" if option["cache"] else
                         f"--{option['name']}={option['value']}")
    found += [f"--maxrregcount={count}" for count in registers if len(registers) == 1]
    return tuple(dict.fromkeys(found))
