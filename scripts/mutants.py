#!/usr/bin/env python3
"""Breaks one line of a kernel at a time and sees whether the operation table notices.

  mutants.py [--sample [N]] [--build FOLDER] [FILE ...]

Each mutant is one textual change of one line of kernels/ref/*.c or kernels/cpu/*.[ch] (see OPERATORS). It is compiled by the
commands of the release build, linked into a copy of the table test, and the table is run: a mutant that no row notices has
survived. Mutants that change nothing that anybody can see stand in tests/table/equivalent_mutants.txt with their reason; any
other survivor makes the exit code 1. --sample takes N (default 2) from each file, the same ones every time.
"""
import argparse, hashlib, json, os, re, shlex, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EQUIVALENT = os.path.join(ROOT, "tests/table/equivalent_mutants.txt")
OPERATORS = [  # what is looked for, what stands there afterwards
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" < ", " <= "), (r" > ", " >= "), (r" \+= ", " = "),
    (r" == ", " != "), (r"accumulate >> 1", "accumulate >> 0"), (r"accumulate >> 2", "accumulate >> 1"),
    (r"accumulate & 1", "accumulate & 2"), (r" = 0;", " = 1;"), (r"stride_h", "stride_w"), (r"pad_top", "pad_left"),
    (r" \? (\S+) : ", r" ? 0 * \1 : "), (r"sqrtf?\(", "fabs("), (r" \|\| ", " && "), (r" && ", " || "),
]


def code_lines(text):
    """(number, line) of the lines inside functions that compute something."""
    inside_comment = False
    for number, line in enumerate(text.split("\n")):
        stripped = line.strip()
        inside_comment = (inside_comment or stripped.startswith("/*")) and "*/" not in stripped
        skip = inside_comment or not line.startswith("    ") or stripped.startswith(("*", "/*", "//", "#"))
        if not skip and "static_assert" not in line and "prefetch" not in line:
            yield number, line


def mutants(path):
    text = open(os.path.join(ROOT, path)).read()
    for number, line in code_lines(text):
        code = line.split("/*")[0]
        for pattern, replacement in OPERATORS:
            for match in re.finditer(pattern, code):
                changed = code[:match.start()] + match.expand(replacement) + line[match.end():]
                if changed != line:
                    yield number, line, changed


def name_of(path, number, line, changed):
    return f"{path}: {line.strip()} -> {changed.strip()}"


def sample(items, n):
    return sorted(sorted(items, key=lambda m: hashlib.sha256(repr(m[1:]).encode()).digest())[:n])


class Build:
    """The release build's own commands, for one changed file at a time."""

    def __init__(self, folder):
        self.folder = folder
        self.commands = json.load(open(os.path.join(folder, "compile_commands.json")))
        self.link = self.link_command()

    def link_command(self):
        lines = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", "tests/table/test_table"], text=True,
                               capture_output=True, check=True).stdout.splitlines()
        return [line for line in lines if "-o tests/table/test_table" in line][-1]

    def objects(self, path):
        """Compile commands of every object that a changed file goes into: a header goes into its whole folder."""
        folder = os.path.dirname(path)
        for entry in self.commands:
            source = os.path.relpath(entry["file"], ROOT)
            if source == path or (path.endswith(".h") and os.path.dirname(source) == folder):
                yield entry

    def table_with(self, path, text, out):
        """Builds the table with path's text replaced; None where it does not compile."""
        copy = os.path.join(out, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        open(copy, "w").write(text)
        objects = []
        for i, entry in enumerate(self.objects(path)):
            if path.endswith(".h") and "avx512" not in entry["command"] and "ref" not in path:
                continue  # one instruction set is enough for a header
            source = copy if path.endswith(".c") else entry["file"]
            object_file = os.path.join(out, f"{i}.o")
            words = shlex.split(entry["command"])
            at = words.index("-o")
            words[at + 1] = object_file
            words[words.index("-c") + 1] = source
            words.insert(1, f"-I{out}")
            words = [w for w in words if w != "-Werror"]
            if subprocess.run(words, cwd=self.folder, capture_output=True).returncode != 0:
                return None
            objects.append(object_file)
        program = os.path.join(out, "table")
        link = self.link.replace("-o tests/table/test_table", f"-o {program}", 1)
        link = link.replace("libgradus_static.a", " ".join(objects) + " libgradus_static.a", 1)
        done = subprocess.run(link, shell=True, cwd=self.folder, capture_output=True)
        return program if done.returncode == 0 else None


def outcome(build, path, number, changed, rows):
    with tempfile.TemporaryDirectory() as out:
        lines = open(os.path.join(ROOT, path)).read().split("\n")
        lines[number] = changed
        program = build.table_with(path, "\n".join(lines), out)
        if not program:
            return "does not compile"
        passes = [rows, []] if rows else [[]]  # the operation's own rows first, the whole table before it has survived
        return "survived" if all(unnoticed(program, some, out) for some in passes) else "killed"


def unnoticed(program, rows, folder):
    """Whether the table passes; one that does not end has noticed."""
    try:
        return subprocess.run([program, "--first"] + rows, capture_output=True, timeout=120, cwd=folder).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def rows_for(path):
    """Rows that can notice: those of the operation that the file is named after, else all."""
    operation = os.path.basename(path).rsplit(".", 1)[0]
    listed = open(os.path.join(ROOT, "kernels/ops.def")).read()
    return ["--op", operation] if f"GR_OP({operation}," in listed else []


def sources(only):
    if only:
        return only
    found = []
    for folder in ("kernels/ref", "kernels/cpu"):
        found += sorted(os.path.join(folder, f) for f in os.listdir(os.path.join(ROOT, folder)) if f.endswith((".c", ".h")))
    return [f for f in found if os.path.basename(f) != "table.c"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", nargs="?", type=int, const=2, metavar="N")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    equivalent = [l.split(" # ")[0].strip() for l in open(EQUIVALENT)] if os.path.exists(EQUIVALENT) else []
    build, counts, bad = Build(os.path.abspath(options.build)), {}, []
    for path in sources(options.files):
        found = list(mutants(path))
        for number, line, changed in sample(found, options.sample) if options.sample else found:
            name = name_of(path, number, line, changed)
            if name in equivalent:
                counts["equivalent"] = counts.get("equivalent", 0) + 1
                continue
            result = outcome(build, path, number, changed, rows_for(path))
            counts[result] = counts.get(result, 0) + 1
            if result == "survived":
                bad.append(name)
                print("survived:", name, flush=True)
    print("mutants: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
