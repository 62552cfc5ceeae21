"""Which kernel of a file a row means."""

import re

from .rows import Unclear, number_type

DTYPES = {"fp32": "float", "float": "float", "fp16": "__half", "half": "__half", "bf16": "__nv_bfloat16",
          "fp64": "double", "double": "double", "int32": "int", "int": "int"}


def named(text):
    """`sums::dot<half,2> (FastAdd)` as its name, its template arguments and whether they are all expressions of C++."""
    found = re.match(r"\s*(?:\w*::)*([A-Za-z_]\w*)\s*(?:<([^()]*)>)?", text)
    if not found:
        raise Unclear(f"no kernel's name in {text!r}")
    arguments = [part.strip() for part in (found[2] or "").split(",") if part.strip()]
    return found[1], arguments


def launched(text, base, dtype):
    """Template arguments that all launches of a kernel in a file have, `k<scalar_t, kBlock><<<`: constants of the file
    as numbers, the one name that is none as the row's type. Empty where launches differ or have others."""
    constants = dict(re.findall(r"\b(?:constexpr|const)\s+(?:unsigned|int|size_t)\s+(\w+)\s*=\s*(\d+)\s*;", text)
                     + re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\d+)\b", text, re.MULTILINE))
    found = set()
    for listed in re.findall(rf"\b{re.escape(base)}\s*<([^<>()]*)>\s*<<<", text):
        parts = [constants.get(part.strip(), part.strip()) for part in listed.split(",")]
        types = {part for part in parts if re.fullmatch(r"[A-Za-z_]\w*", part)} - {"true", "false", *DTYPES}
        kind = DTYPES.get(number_type(dtype))
        found.add(tuple(kind if part in types else part for part in parts) if kind and len(types) < 2 else ())
    return list(found.pop()) if len(found) == 1 else []


def template_arguments(kernel):
    found = re.search(r"\b" + re.escape(kernel.base) + r"<(.*)>\(", kernel.name)
    return re.sub(r"\([\w ]+\)|(?<=\d)[uUlL]+\b", "", found[1]) if found else ""


def is_instance(kernel, base, arguments):
    """Whether a kernel is the template `base` with these arguments, others behind them aside."""
    have = [part.strip() for part in template_arguments(kernel).split(",")]
    wanted = [DTYPES.get(argument, argument) for argument in arguments]
    return kernel.base == base and have[:len(wanted)] == wanted


def other_type(kernel, dtype, arguments):
    """Whether a kernel's name has other types of numbers than the row's, and not its; what the row's kernel is called
    with counts for more than the column of types."""
    if any(argument in DTYPES or argument in DTYPES.values() for argument in arguments):
        return False
    wanted = DTYPES.get(number_type(dtype), "")
    types = set(re.findall(r"\b(float|__half|__nv_bfloat16|double)\b", kernel.name))
    return wanted in DTYPES.values() and wanted != "int" and bool(types) and wanted not in types and \
        not types <= {"float"}


def likeness(kernel, base, arguments, dtype, text):
    """How well a kernel fits; None where its name does not."""
    words = [word.lower() for word in re.findall(r"[A-Za-z]+|\d+", text) if len(word) > 1 or word.isdigit()]
    low = kernel.base.lower()
    if kernel.base == base:
        score = 100
    elif low == base.lower() or (len(base) > 4 and (low.startswith(base.lower()) or base.lower().startswith(low))):
        score = 50
    else:
        return None
    have = template_arguments(kernel)
    parts = [part.strip() for part in have.split(",")] if have else []
    for i, argument in enumerate(arguments):
        argument = {"half": "__half"}.get(argument, argument)
        if i < len(parts) and (parts[i] == argument):
            score += 10
        elif argument in parts:
            score += 5
        elif re.fullmatch(r"-?\d+", argument):
            score -= 5
    kind = DTYPES.get(number_type(dtype), "")
    if kind and re.search(rf"\b{kind}\b", kernel.name):
        score += 8
    score += sum(word in low for word in words)
    return score + sum(2 for word in re.findall(r"\d+", text) if re.search(rf"\b{word}\b", have))


def choose(kernels, row):
    """The kernel that a row means; Unclear where several fit as well or none does."""
    if not kernels:
        raise Unclear("the file holds no kernel that is instantiated")
    base, arguments = named(row.kernel)
    scored = [(likeness(kernel, base, arguments, row.dtype, row.kernel), kernel) for kernel in kernels
              if not other_type(kernel, row.dtype, arguments)]
    scored = sorted(((score, kernel) for score, kernel in scored if score is not None), key=lambda pair: -pair[0])
    if not scored:
        serious = [kernel for kernel in kernels if not re.search("warm|init|fill|setup|rand", kernel.base.lower())]
        if len(serious) == 1:
            return serious[0]
        raise Unclear(f"no kernel {base} in the file, which has {', '.join(sorted({k.base for k in kernels})[:6])}")
    return scored[0][1]
