"""Rows of published times: what stands in the columns, read as numbers where it can be."""

import ast
import csv
import dataclasses
import operator
import re

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow,
             ast.FloorDiv: operator.floordiv, ast.Div: operator.floordiv, ast.LShift: operator.lshift}


class Unclear(Exception):
    """A row or a kernel that cannot be told; the message is the reason that is printed."""


class Late(Unclear):
    """What took too long this time, and may not the next."""


@dataclasses.dataclass
class Row:
    """One published time: which kernel of which file, launched how on what, and how long it took."""

    repo: str
    commit: str
    file: str
    kernel: str
    dtype: str
    operation: str
    size: str
    grid: tuple | None
    block: tuple | None
    gpu: str
    capability: str
    milliseconds: float
    notes: str
    shared: int = 0  # dynamic bytes


def number_type(dtype):
    """The first word of a row's type of numbers: `fp16` of `fp16 (WMMA tensor cores)`; empty where there is none."""
    return (dtype.split() or [""])[0].lower().strip("()")


def in_units(found):
    """`16M` is 2^24, `100M` a hundred million."""
    count = int(found[1])
    base = 1024 if found[3] or count & (count - 1) == 0 else 1000
    return str(count * base ** ("KMG".index(found[2]) + 1))


def number(text):
    """`2^30`, `2048*16`, `1<<24`, `1e8`, `16M` (2^24) or `4096` as an integer; None for what is no such expression."""
    text = text.replace("^", "**").replace(",", "").strip()
    text = re.sub(r"\b(\d+)([KMG])(i?)\b", in_units, text)
    if len(text) > 40:
        return None

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return int(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left, right = value(node.left), value(node.right)
            if isinstance(node.op, ast.Pow) and not 0 <= right <= 62:
                raise ValueError("power")
            return OPERATORS[type(node.op)](left, right)
        raise ValueError("no number")

    try:
        return value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def extents(text):
    """`128x64`, `(128, 64)`, `104858`, `2^20` or `864 = 108*8 (+1)` as three extents; None where none are given."""
    one = r"(\d+(?:,\d{3})*(?:(?:\^|\*\*|<<)\d+)?)"
    said = re.sub(r"^\s*dim3\s*", "", text or "")
    if said.lstrip().startswith("("):
        said = re.sub(r"\s*,\s*", "x", said)  # no thousands, but three extents
    found = re.match(rf"\s*\(?\s*{one}(?:\s*[x×*,]\s*{one})?(?:\s*[x×*,]\s*{one})?", said)
    if not found:
        return None
    return tuple(number(part) if part else 1 for part in found.groups())


def sizes(text):
    """`M=N=K=4096`, `rows=2048*16 cols=16` or `8192x8192` as names with numbers; a shape's extents are d0, d1, ..."""
    known = {}
    for names, expression in re.findall(
            r"((?:[A-Za-z_]\w*\s*=\s*)+)(\d(?:[\d*^+,]|<<|\.\d|e\d|[KMG]i?\b)*)", text):
        value = number(expression.rstrip("*+,"))
        if value is not None:
            known.update((name.strip().lower(), value) for name in names.split("=") if name.strip())
    shape = re.search(r"(?<![\w=])(\d[\d^*]*)\s*[x×]\s*(\d[\d^*]*)(?:\s*[x×]\s*(\d[\d^*]*))?", text)
    if shape:
        known.update((f"d{i}", number(part)) for i, part in enumerate(shape.groups()) if part)
    if not known and (plain := number(re.sub(r"\s.*", "", text.strip()))) is not None:
        known["n"] = plain
    if around := re.search(r"\b(?:filter|mask|kernel)\s+(?:size\s+|width\s+)?(\d+)", text):
        known["filter"] = int(around[1])
    return {name: value for name, value in known.items() if value}


def read(path):
    """All rows of a file of published times; a file that is not there or lacks a column is refused by name."""
    try:
        with open(path, encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            wanted = ("repo", "file", "kernel", "problem_size", "gpu", "time_ms")
            lacking = [name for name in wanted if name not in (reader.fieldnames or [])]
            if lacking:
                raise SystemExit(f"{path} lacks the columns {', '.join(lacking)}")
            return [make(line) for line in reader]
    except OSError as error:
        raise SystemExit(f"{path} cannot be read: {error.strerror}") from None


def make(line):
    try:
        milliseconds = float(line["time_ms"])
    except (TypeError, ValueError):
        milliseconds = 0.0
    text = {name: (value or "").strip() for name, value in line.items() if isinstance(name, str)}
    return Row(text["repo"], text.get("commit", ""), text["file"], text["kernel"], text.get("dtype", ""),
               text.get("operation", ""), text["problem_size"], extents(text.get("grid")), extents(text.get("block")),
               text["gpu"], text.get("compute_capability", ""), milliseconds, text.get("notes", ""),
               int(text.get("shared") or 0))
