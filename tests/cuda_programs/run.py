#!/usr/bin/env python3
"""run.py GRADUS_SIMT FOLDER - compiles and runs CUDA programs that others wrote, and prints a table of what became of
each.

FOLDER holds clones of the public collections named below (git clone --depth 1, into these folder names); nothing of
them belongs to Gradus. A program counts as running when it compiles as it is, ends by itself within the limit with exit
code 0 and prints none of the words by which these programs say that their result is wrong. Seconds are the processor's,
so that what else the machine does changes nothing; a program that waits for something is ended after four times the
limit.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

# Folder, where it comes from, patterns of its programs: one file each, of the first chapters, with no library but
# CUDA's runtime. What these patterns find is run, all of it.
COLLECTIONS = [
    ("cuda-samples", "github.com/NVIDIA/cuda-samples",
     ["Samples/0_Introduction/*/*.cu", "Samples/6_Performance/transpose/*.cu",
      "Samples/6_Performance/alignedTypes/*.cu"]),
    ("cuda-training-series", "github.com/olcf/cuda-training-series",
     ["exercises/hw[1-9]/*_solution.cu", "exercises/hw[1-9]/*/*_solution.cu", "exercises/hw5/reductions.cu"]),
    ("code-samples", "github.com/NVIDIA-developer-blog/code-samples",
     ["series/cuda-cpp/*/*.cu", "posts/parallel_reduction_with_shfl/main.cu", "posts/unified-memory/*.cu",
      "posts/mixed-precision/*.cu"]),
    ("cuda-by-example", "github.com/CodedK/CUDA-by-Example-source-code-for-the-book-s-examples-",
     ["chapter0[39]/*.cu", "chapter04/add*.cu", "chapter05/*.cu", "chapter10/*.cu", "chapter11/*.cu",
      "appendix_a/*.cu"]),
    ("cuda-course", "github.com/Infatoshi/cuda-course", ["05_Writing_your_First_Kernels/*/*.cu"]),
    ("professional-cuda-c", "github.com/deeperlearning/professional-cuda-c-programming",
     ["examples/chapter0[1-6]/*.cu"]),
]
SEVERAL_FILES = re.compile(
    r"_nvrtc/|Drv/|DrvRuntime/|MMAP/|_kernel\.cu$|mergeSort/|simpleIPC|simpleMPI|simpleCUDA2GL|DynlinkJIT|"
    r"cudaOpenMP|commonKernels")
WRONG = re.compile(r"Test(ing)? (FAILED|failed)|Result = FAIL|mismatch|don't match|do not match|FAILED", re.I)


def programs(folder):
    """(collection, path) of every program of which there is a file."""
    for name, _, patterns in COLLECTIONS:
        found = sorted({p for pattern in patterns for p in (folder / name).glob(pattern)})
        yield from ((name, p) for p in found if not SEVERAL_FILES.search(str(p)))


def includes(collection, path, folder):
    places = [folder / "cuda-samples/Common", path.parent, path.parent / "../common", path.parent.parent / "common"]
    return [word for p in places if p.is_dir() for word in ("-I", str(p))]


def first_line(text, pattern):
    return next((line.strip() for line in text.splitlines() if re.search(pattern, line)), "")


def shorten(text):
    return re.sub(r"^.*?(fatal error|error): ", "", text).replace("|", "\\|")[:110]


def compile_it(compiler, collection, path, folder, program, flags):
    files = [path]
    if collection == "cuda-samples":  # as their CMakeLists.txt
        files += sorted(path.parent.glob("*.cpp"))
    command = [compiler, *flags, *includes(collection, path, folder), "-o", str(program), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return None
    why = (first_line(done.stderr, r"emulator has") or first_line(done.stderr, r"error") or
           first_line(done.stderr, "undefined"))
    return "does not compile: " + shorten(why)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_it(program, limit, folder):
    """The program's end, None where it was longer than the limit; and its processor seconds."""
    before = processor_seconds()
    try:
        done = subprocess.run([str(program)], capture_output=True, text=True, errors="replace", timeout=4 * limit,
                              cwd=folder, stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)))
    except subprocess.TimeoutExpired:
        done = None
    if done and done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        done = None
    return done, processor_seconds() - before


def try_it(compiler, collection, path, folder, limit, flags):
    """What became of it: ("runs" or a reason, processor seconds)."""
    with tempfile.TemporaryDirectory() as work:
        program = pathlib.Path(work) / "program"
        if (path.parent / "data").is_dir():  # pictures that a program reads
            shutil.copytree(path.parent / "data", pathlib.Path(work) / "data")
        why = compile_it(compiler, collection, path, folder, program, flags)
        if why:
            return why, 0
        done, seconds = run_it(program, limit, work)
    if done is None:
        return f"runs longer than {limit} s", seconds
    if done.returncode == 7:
        return "found: " + shorten(first_line(done.stderr, "^gradus: ")[8:]), seconds
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or [""]
        return f"exit code {done.returncode}: {shorten(last[0])}", seconds
    wrong = first_line(done.stdout + done.stderr, WRONG)
    return ("says: " + shorten(wrong) if wrong else "runs"), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("compiler")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--limit", type=int, default=60, help="processor seconds for each program (default: 60)")
    parser.add_argument("--only", default="", help="programs whose path has this in it")
    parser.add_argument("--check", action="store_true", help="with the check of every access")
    settings = parser.parse_args()
    runs = total = 0
    print("| collection | program | what became of it | s |\n|---|---|---|---:|")
    for collection, path in programs(settings.folder.resolve()):
        if settings.only not in str(path):
            continue
        flags = ["--check"] if settings.check else []
        result, seconds = try_it(os.path.abspath(settings.compiler), collection, path, settings.folder.resolve(),
                                 settings.limit, flags)
        total += 1
        runs += result == "runs"
        name = path.relative_to(settings.folder.resolve() / collection)
        print(f"| {collection} | {name} | {result} | {seconds:.1f} |", flush=True)
    print(f"\n{runs} of {total} run.")
    return 0 if total else 1


if __name__ == "__main__":
    sys.exit(main())
