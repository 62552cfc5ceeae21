#!/usr/bin/env python3
"""clang, where there is one, warns of nothing in the C sources: each is looked at with the options that this build
gives it, which gcc takes.

    test_clang.py BUILD
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

SKIPPED = 77
ONLY_GCC = ["-Qunused-arguments", "-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument"]


def sources(build):
    """Of each C file its folder, name, and options without compiler and output."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        if entry["file"].endswith(".c") and "-o" in words:
            output = words.index("-o")
            options = words[1:output] + words[output + 2:]
            if not options[0].startswith("-"):  # a compiler cache stands before the compiler
                options = options[1:]
            found.setdefault(entry["file"], (entry["directory"], [word for word in options if word != "-c"]))
    return found.items()


def warnings(source):
    file, (folder, options) = source
    done = subprocess.run(["clang", *options, "-fsyntax-only", *ONLY_GCC], cwd=folder, capture_output=True, text=True,
                          check=False)
    return "" if done.returncode == 0 and not done.stderr else f"{file}:\n{done.stderr}"


def main():
    if not shutil.which("clang"):
        print("clang is not installed (apt-get install clang): what it warns of is not looked at")
        return SKIPPED
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(warnings, sources(pathlib.Path(sys.argv[1]))))
    print("".join(said) + f"{len(said)} files")
    return 1 if any(said) or not said else 0


if __name__ == "__main__":
    sys.exit(main())
