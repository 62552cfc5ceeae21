"""A CUDA file as text: what is left out of it, or changed, that its kernels compile."""

import re

from .arguments import without_comments
from .headers import with_headers


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
            template = re.search(r"template\s*<[^;{}]*$", text[at:start])  # start may lie within its parameters
            kept.append(text[at:at + template.start() if template else start])
        at = end
    kept.append(text[at:])
    return re.sub(r"^\s*template\s+(?:void|__global__)[^;{]*;", "", "".join(kept), flags=re.MULTILINE)


def device_text(source, folders):
    """A file and the repository's headers that it includes as one text, without host functions."""
    words = device_words(with_headers(source, folders, set(), str))
    return with_headers(source, folders, set(), lambda text: device_part(without_comments(text), words))


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
