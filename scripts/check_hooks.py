#!/usr/bin/env python3
"""Proves that a misspelt kernel is an error of the build (kernels/ops/hooks.h), on copies with a planted slip.

  check_hooks.py BUILD     BUILD: a configured build folder, whose compiler and options are used
"""
import json, os, re, shlex, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# File, in the object of, what is written wrong and how, what the compiler or nm must say of it, a regular expression
# ("": all is well).
SLIPS = [
    ("kernels/cpu/cast.c", "plain", "cast_forward", "cast_forward", ""),  # no slip: the compiler is content
    ("kernels/cpu/cast.c", "plain", "cast_forward", "cast_forwards", "cast_forwards"),
    ("kernels/cpu/loss_scaling.c", "plain", "unscale_scratch", "unscale_scrach", "unscale_scrach"),
    ("kernels/cpu/dense_half.c", "plain", "dense_halves", "dense_takes", "dense_takes"),
    ("kernels/ref/elementwise.c", "f64", "(add_backward)", "(add_bakward)", "add_bakward"),
    ("kernels/cuda/updates.cu", "simt_kernels", "(adam_step_scratch)", "(adam_step_scrach)", "adam_step_scrach"),
    ("kernels/cuda/conv2d_relu_max_pool.cu", "simt_kernels", "_halves)", "_half)", "conv2d_relu_max_pool_half"),
    ("kernels/cpu/hooks.def", "plain", "GR_HOOK(cast, forward)", "GR_HOOK(casts, forward)", "GR_OP_casts"),
    ("kernels/cpu/hooks.def", "plain", "GR_HOOK(cast, forward)", "GR_HOOK(cast, forwards)",
     "GR_DECLARE_forwards|parameter named .* is missing"),  # the latter says clang, of what comes next
    # Listed and defined by nobody: the object asks for the function, not weakly, so nothing links.
    ("kernels/cpu/hooks.def", "plain", "GR_HOOK(cast, forward)", "GR_HOOK(gather, forward)",
     "U gr__cpu_plain_gather_forward"),
    ("kernels/cuda/hooks.def", "simt_kernels", "GR_HOOK(sum, scratch)", "GR_HOOK(cast, scratch)",
     "U gr__simt_cast_scratch"),
]


def made_by(command):
    return command["command"].split(" -o ")[1].split()[0]


def try_slip(commands, path, target, right, wrong):
    """What the compiler says of the file with the slip, or nm of its object."""
    text = open(os.path.join(ROOT, path)).read()
    if right not in text:
        sys.exit(f"check_hooks.py: {path} has no {right} any more")
    source = path if not path.endswith(".def") else os.path.join(os.path.dirname(path), "kernels.c")
    [entry] = [c for c in commands if c["file"] == os.path.join(ROOT, source) and f"{target}.dir" in made_by(c)]
    with tempfile.TemporaryDirectory() as folder:
        planted = os.path.join(folder, path)
        os.makedirs(os.path.dirname(planted))
        open(planted, "w").write(text.replace(right, wrong))
        words = shlex.split(entry["command"])
        made = os.path.join(folder, "made.o")
        words[words.index("-o") + 1] = made
        words[words.index("-c") + 1] = planted if source == path else entry["file"]
        compiler = 1 if os.path.basename(words[0]) == "ccache" else 0
        words[compiler + 1:compiler + 1] = [f"-I{folder}"]  # includes are found here first
        words += ["-fsyntax-only"] if source == path else []
        done = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr
        if source == path:
            return ""
        return subprocess.run(["nm", "-u", made], capture_output=True, text=True, check=True).stdout


def main():
    commands = json.load(open(os.path.join(sys.argv[1], "compile_commands.json")))
    bad = 0
    for path, target, right, wrong, said in SLIPS:
        answer = try_slip(commands, path, target, right, wrong)
        if not re.search(said, answer) or (not said and answer):
            print(f"{path}: {right} written as {wrong}: expected '{said}', got:\n{answer}")
            bad += 1
    print(f"{len(SLIPS)} slips, {bad} unnoticed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
