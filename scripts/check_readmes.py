#!/usr/bin/env python3
"""A folder's README.md that lists files in a table "| file | ..." names all of them, and none that is not there.

  check_readmes.py     looks at all folders, and first proves on a list with a slip that it can fail
"""
import os, re, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = (".c", ".h", ".cu", ".cuh", ".def")


def complaints(folder, text, files, below=frozenset()):
    """What is wrong with the page text of a folder that holds files, and others in the folders below it."""
    names = set(re.findall(r"`([\w.]+)`", text))
    tables = "\n".join(line for line in text.split("\n") if line.startswith("|"))
    listed = {n for n in re.findall(r"`([\w.]+)`", tables) if n.endswith(SOURCES)}
    return [f"{folder}/README.md does not name {f}" for f in sorted(files - names)] + \
           [f"{folder}/README.md lists {f}, which is not there" for f in sorted(listed - files - below)]


def main():
    page = "| file | idea |\n|---|---|\n| `one.c` `two.h` | ... |\n"
    assert not complaints("x", page, {"one.c", "two.h"})
    assert len(complaints("x", page, {"one.c", "two.h", "three.c"})) == 1 and len(complaints("x", page, {"one.c"})) == 1
    bad, pages = [], 0
    for folder, _, names in os.walk(ROOT):
        if "README.md" not in names or "/build" in folder or "/." in folder:
            continue
        text = open(os.path.join(folder, "README.md")).read()
        if "\n| file |" in text:
            pages += 1
            below = {n for _, _, some in os.walk(folder) for n in some}
            bad += complaints(os.path.relpath(folder, ROOT), text, {n for n in names if n.endswith(SOURCES)}, below)
    print("\n".join(bad + [f"{pages} lists of files, {len(bad)} faults"]))
    sys.exit(1 if bad or not pages else 0)


if __name__ == "__main__":
    main()
