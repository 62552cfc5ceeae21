#!/usr/bin/env python3
"""Breaks one line of a kernel at a time and sees whether the operation table notices.

  mutants.py [--sample [N]] [--build FOLDER] [--cuda | FILE ...]

Each mutant is one textual change of one line of kernels/ref or kernels/cpu (see OPERATORS), with --cuda of
kernels/cuda. The latter run on the rows of the device simt. The others are tried twice:
  1. compiled quickly for one target, the one with the widest vectors, and run on the rows of the operations that use
     the file;
  2. if those rows notice nothing, compiled as the release build does, for every target, and run on the same rows
     everywhere.
A race, or an access outside an array, may leave the result right: what is not noticed runs once more in a build that
sees every access, build/asan, or for kernels/cuda the small rows in build/check ("cmake --preset asan && cmake --build
--preset asan --target test_table" makes one). What is not noticed then has survived.

Two kinds of survivors are no fault: those that the compiler makes the same machine code of (lines for another processor
among them), and those listed in tests/table/equivalent_mutants.txt, each with the reason why nobody can see it. Any
other survivor makes the exit code 1. --sample takes N of them all (default 24), the same ones every time.
"""
import argparse, concurrent.futures, functools, hashlib, json, os, re, resource, shlex, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EQUIVALENT = os.path.join(ROOT, "tests/table/equivalent_mutants.txt")
OPERATORS = [  # what is looked for, what stands there afterwards
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" < ", " <= "), (r" > ", " >= "), (r" \+= ", " = "),
    (r" == ", " != "), (r"accumulate >> 1", "accumulate >> 0"), (r"accumulate >> 2", "accumulate >> 1"),
    (r"accumulate & 1", "accumulate & 2"), (r" = 0;", " = 1;"), (r"stride_h", "stride_w"), (r"pad_top", "pad_left"),
    (r" \? (\S+) : ", r" ? 0 * \1 : "), (r"\bsqrtf?\(", "fabs("), (r"\bvec_sqrt\(", "("), (r" \|\| ", " && "),
    (r" && ", " || "),
]
# Seconds of processor time that the rows of one operation may take on all devices, on one.
LONGEST, LONGEST_QUICK = 150, 40
FEW = {  # of headers that nearly every file includes: the operations that are looked at
    "kernels/cpu/cpu.h": ["dense", "conv2d", "dense_sgd", "conv2d_relu_max_pool", "normalise"],
    "kernels/cpu/simd.h": ["relu", "dense", "max_pool2d", "adam_step", "normalise", "conv2d", "conv2d_relu_max_pool"],
    "kernels/ref/ref.h": ["conv2d", "softmax_cross_entropy", "dense", "adam_step", "global_norm", "cast"],
}


OPERATIONS = set(
    re.findall(r"^GR_(?:OP|UNARY)\((\w+),",
               open(os.path.join(ROOT, "kernels/ops/ops.def")).read(), re.MULTILINE))
NO_KERNELS = ("kernels.c", "probes.c", "probes.cu", "add_to.cu", "add_to.h", "gpu.h", "hooks.h")


def is_cuda(path):
    return path.startswith("kernels/cuda/")


def code_lines(text):
    """(number, line) of the lines inside functions that compute something."""
    inside_comment = False
    for number, line in enumerate(text.split("\n")):
        stripped = line.strip()
        inside_comment = (inside_comment or stripped.startswith("/*")) and "*/" not in stripped
        # One grid covers a tensor of any size, and behind its end nothing is loaded or stored: nobody sees how the loop
        # goes on.
        no_code = inside_comment or not line.startswith("    ") or stripped.startswith(("*", "/*", "//", "#"))
        skip = no_code or "quad_stride()" in line
        if not skip and "static_assert" not in line and "prefetch" not in line:
            yield number, line


def mutants(path):
    text = open(os.path.join(ROOT, path)).read()
    for number, line in code_lines(text):
        code = line.split("/*")[0]
        function = function_at(text, number)
        for pattern, replacement in OPERATORS:
            for match in re.finditer(pattern, code):
                changed = code[:match.start()] + match.expand(replacement) + line[match.end():]
                if changed != line:
                    yield path, number, line, changed, function


def function_at(text, number):
    """Name of the function that line number stands in."""
    for line in reversed(text.split("\n")[:number]):
        heading = re.match(r"(?:template <[^>]*> )?"
                           r"(?:static |INLINE |void |size_t |__global__ |GR_DEVICE |extern \"C\" )+"
                           r".*?(?:GR_\w+\()?(\w+)\)?\(", line)
        if heading:
            return heading[1]
    return "file"


def name_of(mutant):
    path, _, line, changed, function = mutant
    return f"{path}: {function}: {line.strip()} -> {changed.strip()}"


def sample(items, n):
    return sorted(sorted(items, key=lambda m: hashlib.sha256(repr(m[2:]).encode()).digest())[:n])


def including(folder, found):
    """Names of the folder's files that are in found, or include one that is, or one that includes one ..."""
    names = [f for f in os.listdir(os.path.join(ROOT, folder)) if os.path.isfile(os.path.join(ROOT, folder, f))]
    texts = {f"{folder}/{f}": open(os.path.join(ROOT, folder, f)).read() for f in names}
    while True:
        more = {f for f, text in texts.items() if any(f'#include "{h}"' in text for h in found)} | found
        if more == found:
            return found
        found = more


def users(path):
    """The files of path's folder that are compiled from it: itself, or all that include it."""
    found = {path} if path.endswith((".c", ".cu")) else including(os.path.dirname(path), {path})
    return {f for f in found if f.endswith((".c", ".cu"))}


class Build:
    """The commands of the release build, or another, for one changed file at a time."""

    def __init__(self, folder, small=False, checking=None):
        """small: the small rows only; checking: the build that unnoticed mutants go on to."""
        self.folder, self.small, self.checking = folder, small, checking
        self.unbroken, self.checked = {}, set()
        self.table = os.path.join(folder, "tests/table/test_table")
        links = subprocess.run(["ninja", "-C", folder, "-t", "commands", "tests/table/test_table"], text=True,
                               capture_output=True, check=True).stdout.splitlines()
        self.link = [line for line in links if "-o tests/table/test_table" in line][-1]
        commands = json.load(open(os.path.join(folder, "compile_commands.json")))
        self.commands = [c for c in commands if "_checked.dir" not in c["command"]]  # those are other programs'
        devices = subprocess.run([self.table, "--help"], text=True, capture_output=True).stderr.split("devices: ")[1]
        here = [name for name, absent in re.findall(r"(\S+)( \(not on this processor\))?", devices) if not absent]
        # The table lists the widest vectors last; sanitizers do not see the masked loads of AVX-512.
        widest = [name for name in here if name in ("plain", "avx2", "avx512")][-1]
        self.devices = {"kernels/ref": "ref-f64", "kernels/cpu": widest if checking else "plain",
                        "kernels/cpu/amx": "amx-emulated"}

    def device(self, path):
        """The table's device that path is compiled for and that any processor has."""
        return "bf16-emulated" if "pairs" in os.path.basename(path) else self.devices[os.path.dirname(path)]

    def objects(self, path, text, folder, quick):
        """Compiles all that path goes into with another text: {name: object file}, None where that is an error."""
        changed = os.path.join(folder, path)
        os.makedirs(os.path.dirname(changed), exist_ok=True)
        open(changed, "w").write(text)
        target = self.device(path).replace("-", "_") if not is_cuda(path) else "gradus_simt_kernels"
        sources, found = users(path), {}
        for entry in self.commands:
            source = os.path.relpath(entry["file"], ROOT)
            words = [
                w for w in shlex.split(entry["command"])
                if w not in ("-Werror", "-g") and os.path.basename(w) != "ccache"
            ]
            name = words[words.index("-o") + 1]
            if source not in sources or ((quick or is_cuda(path)) and f"{target}.dir" not in name):
                continue
            found[name] = os.path.join(folder, f"{len(found)}.o")
            words[words.index("-o") + 1] = found[name]
            words[words.index("-c") + 1] = changed if source == path else entry["file"]
            words[1:1] = ["-w", f"-I{folder}", f"-fmacro-prefix-map={folder}=."]  # no path of a mutant makes other code
            done = subprocess.run(words + (["-O1"] if quick else []), cwd=self.folder, capture_output=True)
            if done.returncode != 0:
                return None
        return found

    @functools.lru_cache(None)
    def symbols(self, path):
        """(defined, wanted): functions of one target that the object of a file has, and that it takes from others; of a
        header, those of its users."""
        lines = []
        for entry in self.commands:
            if os.path.relpath(entry["file"], ROOT) in users(path):
                made = os.path.join(entry["directory"], re.search(r" -o (\S+)", entry["command"])[1])
                lines += subprocess.run(["nm", made], text=True, capture_output=True, check=True).stdout.splitlines()
        target = "ref_f64|cpu_plain|cpu_amx_emulated|cpu_bf16_emulated|simt"
        found = [re.search(rf" ([TU]) gr__(?:{target})_(\w+)$", line) for line in lines]
        return [{f[2] for f in found if f and f[1] == kind} for kind in "TU"]

    def operations(self, path, function="file"):
        """Operations whose rows may notice a change of that function: its own if it is named after one, else all of
        which the file defines a hook (kernels/ops/hooks.h), or a file that calls it, or one that calls that."""
        if path in FEW:
            return FEW[path]
        callers = {f: self.symbols(f) for f in sources([os.path.dirname(path)]) if f.endswith((".c", ".cu"))}
        defined, before = self.symbols(path)[0], set()
        while defined != before:
            before = defined
            defined = defined.union(*(has for has, wants in callers.values() if wants & defined))
        hooks = (re.fullmatch(r"(\w+)_(?:forward|backward|scratch|halves)", name) for name in defined)
        found = {h[1] for h in hooks if h} & OPERATIONS
        if not found:
            sys.exit(f"mutants.py: no operation uses {path}; is the build of today?")
        named = [o for o in found if function == o or function.startswith(o + "_")]
        return sorted([max(named, key=len)] if named and path.endswith((".c", ".cu")) else found)

    def same_code(self, path, objects):
        """Whether objects are what the compiler makes of the unbroken file."""
        if path not in self.unbroken:
            with tempfile.TemporaryDirectory() as folder:
                text = open(os.path.join(ROOT, path)).read()
                made = self.objects(path, text, folder, quick=False)
                self.unbroken[path] = {name: open(file, "rb").read() for name, file in made.items()}
        return all(open(file, "rb").read() == self.unbroken[path][name] for name, file in objects.items())

    def program(self, objects, folder):
        """The table with these objects instead of the library's."""
        program = os.path.join(folder, "table")
        link = self.link.replace("-o tests/table/test_table", f"-o {program}", 1)
        link, library = re.subn(r" (?=\S*libgradus\.a\b)", " " + " ".join(objects.values()) + " ", link, count=1)
        if not library:
            sys.exit("mutants.py: the table's link command names no libgradus.a: mutants would not be in it")
        done = subprocess.run(link, shell=True, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"mutants.py: the table does not link: {done.stderr}")
        return program

    def check(self, rows):
        """There are such rows, and without a mutant they pass: a table with nothing to do would notice nothing, one
        that is out of date everything."""
        key = " ".join(rows)
        if key not in self.checked:
            listed = subprocess.run([self.table, "--list", "--small"] + rows, capture_output=True, text=True)
            if listed.returncode != 0 or not listed.stdout.strip():
                sys.exit(f"mutants.py: the table has no small rows for {key}")
            if subprocess.run([self.table, "--small"] + rows, capture_output=True).returncode != 0:
                sys.exit(f"mutants.py: {self.table} --small {key} fails without a mutant; build it anew")
            if self.checking:
                self.checking.check(rows)
            self.checked.add(key)

    def unnoticed(self, program, rows, folder, quick):
        """Whether the table passes, the small rows first: most mutants go no further. Where it takes several times as
        long as any operation it has noticed that there is no end."""
        seconds = LONGEST_QUICK if quick and self.checking else LONGEST
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        # Halves are looked at on the instruction set that the library takes.
        forced = rows[1] in ("plain", "avx2", "avx512", "amx-emulated", "bf16-emulated")
        env = dict(os.environ, GRADUS_CPU=rows[1]) if forced else None
        for some in [["--small"]] + ([] if self.small else [[]]):
            done = subprocess.run([program, "--first"] + some + rows, capture_output=True, cwd=folder, env=env,
                                  preexec_fn=limit)
            if done.returncode != 0:
                return False
        return True

    def outcome(self, mutant):
        path, number, _, changed, function = mutant
        lines = open(os.path.join(ROOT, path)).read().split("\n")
        lines[number] = changed
        for quick in (False,) if is_cuda(path) else (True, False) if self.checking else (True,):
            with tempfile.TemporaryDirectory() as folder:
                objects = self.objects(path, "\n".join(lines), folder, quick)
                if objects is None:
                    return "do not compile"
                if not quick and self.same_code(path, objects):
                    return "are the same machine code"
                program = self.program(objects, folder)
                if not all(self.unnoticed(program, rows, folder, quick) for rows in self.rows(path, quick, function)):
                    return "killed"
        return self.checking.outcome(mutant) if self.checking else "survived"

    def rows(self, path, quick, function="file"):
        """Arguments for the table: the operations that use path, one after the other, on one device or on all that run
        it."""
        host = ["--device", self.device(path)] if quick and not is_cuda(path) else ["--host"]
        device = ["--device", "simt"] if is_cuda(path) else host
        return [device + ["--op", operation] for operation in self.operations(path, function)]


def sources(folders):
    for folder in folders:
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith((".c", ".h", ".cu", ".cuh")) and name not in NO_KERNELS:
                yield f"{folder}/{name}"


def check_equivalent(equivalent):
    """An entry that names no mutant any more would hide nothing, and later perhaps a fault."""
    folders = ("kernels/ref", "kernels/cpu", "kernels/cpu/amx", "kernels/cuda")
    names = {name_of(m) for path in sources(folders) for m in mutants(path)}
    lost = sorted(equivalent - names)
    if lost:
        sys.exit("".join(f"no such mutant: {name}\n" for name in lost) +
                 f"mutants.py: {len(lost)} entries of {os.path.relpath(EQUIVALENT, ROOT)} "
                 "follow no line any more: mend or remove them")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", nargs="?", type=int, const=24, metavar="N")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--cuda", action="store_true", help="mutants of kernels/cuda, on the emulator")
    parser.add_argument("--check", action="store_true",
                        help="only look whether each entry of equivalent_mutants.txt names a mutant")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    equivalent = {line.split(" # ")[0].strip() for line in open(EQUIVALENT)}
    check_equivalent(equivalent)
    if options.check:
        return
    folders = ("kernels/cuda",) if options.cuda else ("kernels/ref", "kernels/cpu")
    found = [list(mutants(path)) for path in options.files or sources(folders)]
    everything = [m for some in found for m in some]
    chosen = sample(everything, options.sample) if options.sample else everything
    tried = [m for m in chosen if name_of(m) not in equivalent]
    counts = {"listed as equivalent": len(chosen) - len(tried)}
    checking = os.path.join(ROOT, "build/check" if any(is_cuda(m[0]) for m in tried) else "build/asan")
    build = Build(os.path.abspath(options.build), checking=Build(checking, small=checking.endswith("check")))
    for path in {m[0] for m in everything}:
        for rows in build.rows(path, quick=True):
            build.check(rows)
    os.nice(10)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        trials = {pool.submit(build.outcome, mutant): mutant for mutant in tried}
        for trial in concurrent.futures.as_completed(trials):
            counts[trial.result()] = counts.get(trial.result(), 0) + 1
            if trial.result() == "survived":
                print("survived:", name_of(trials[trial]), flush=True)
            elif sys.stderr.isatty():
                print(f"\r{sum(counts.values())} of {len(chosen)}", end="", file=sys.stderr, flush=True)
    print(f"{len(chosen)} mutants: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    sys.exit(1 if "survived" in counts else 0)


if __name__ == "__main__":
    main()
