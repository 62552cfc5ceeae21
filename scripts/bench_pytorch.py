#!/usr/bin/env python3
"""Times Gradus' training step beside PyTorch's and Keras', in turn, in one run.

    bench_pytorch.py [--models M,...] [--batch N,...] [--rounds N] [--threads N] [--out FOLDER]
    [--keras-python PYTHON] [--precision P] [--quick]

Every competitor trains the same network on one drawn batch in a process of its own. A round lets each of them train for
a second, one after the other, in an order that turns: what else the machine does hits all alike. A ratio is a peer's
median step over Gradus' in the same round; above 1 Gradus is faster. Needs PyTorch; Keras takes part where TensorFlow
can be imported. PyTorch runs in the fastest of its ways (eager, channels_last, torch.compile), and both peers with a C
library that keeps its memory. Writes MEASURED.md and measured.jsonl into --out (default: kernels/cpu) after every cell.
Nothing else should run: other work slows a peer down more than Gradus, and the load before the start is part of the
report. With --precision bf16 PyTorch runs under its autocast, and Keras does not take part. On a GPU: bench_gpu.py.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CELLS = {"cats-vs-dogs": [(o, b) for o in ("sgd", "adam") for b in (16, 32, 64, 128, 256)],
         "cifar10-cnn": [("adam", b) for b in (4, 32, 128, 1024)],
         "resnet18-cifar": [("momentum", b) for b in (16, 128)]}
# glibc gives every large block back to the system, and half of a peer's time would go into page faults.
KEEP_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "17179869184", "MALLOC_TOP_PAD_": "268435456"
}


class Worker:
    def __init__(self, name, python, cell, threads, device, precision, mode=""):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), TF_CPP_MIN_LOG_LEVEL="3",
                           **(KEEP_MEMORY if name != "gradus" else {}))
        command = [python, ROOT / "scripts/bench_workers.py", name, *map(str, cell), str(threads), mode, device,
                   precision]
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True)
        self.name, self.medians = name, []
        self.facts = {"mode": mode, **self.read()}

    def read(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        code = self.process.wait()
        self.log.seek(0)
        last = (self.log.read().strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{' '.join(map(str, self.process.args[2:]))} ended with {code}: {last}")

    def run(self, seconds):
        print(seconds, file=self.process.stdin, flush=True)
        self.medians.append(statistics.median(self.read()["ms"]))

    def close(self):
        self.process.stdin.close()
        self.facts.update(self.read())
        self.process.wait()


def can_import(python, module):
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0


def quartiles(values):
    if len(values) < 2:
        return values * 3
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return [low, middle, high]


def start(name, python, cell, options, mode=""):
    """None where it cannot run: torch.compile wants a compiler, a peer may lack memory. The others go on."""
    try:
        worker = Worker(name, python, cell, options.threads, "cpu", options.precision, mode)
        worker.run(options.seconds / 2)
        return worker
    except RuntimeError as error:
        print(f"left out: {error}", file=sys.stderr)


def fastest(python, cell, options):
    """Of PyTorch's ways of running a network."""
    best = None
    for mode in ("eager", "channels_last", "compile"):
        worker = start("pytorch", python, cell, options, mode)
        if worker and best:
            slower, best = sorted((worker, best), key=lambda w: w.medians[0], reverse=True)
            slower.close()
        best = best or worker
    return best


def measure(cell, contestants, options):
    workers = [fastest(python, cell, options) if name == "pytorch" else start(name, python, cell, options)
               for name, python in contestants]
    if not workers[0] or not any(workers[1:]):
        sys.exit(f"bench_pytorch.py: {' '.join(map(str, cell))}: Gradus and at least one peer must run")
    workers = [worker for worker in workers if worker]
    for worker in workers:
        worker.medians.clear()  # a first block only warms up
    for i in range(options.rounds):
        for worker in workers[i % len(workers):] + workers[:i % len(workers)]:
            worker.run(options.seconds)
    for worker in workers:
        worker.close()
    ours = workers[0]
    row = {
        "model": cell[0], "optimizer": cell[1], "batch": cell[2], "rounds": options.rounds, "threads": options.threads,
        "device": "cpu", "precision": options.precision
    }
    for worker in workers:
        row[worker.name] = {**worker.facts, "ms": statistics.median(worker.medians), "ms_of_rounds": worker.medians}
        if worker is not ours:
            row[worker.name]["ratio"] = quartiles([p / o for p, o in zip(worker.medians, ours.medians)])
    row["ratio_to_best"] = min(row[w.name]["ratio"][1] for w in workers[1:])
    return row


def machine():
    facts = dict(line.split(":", 1) for line in open("/proc/cpuinfo") if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    return f"{facts.get('model name', 'unknown processor')}, {os.cpu_count()} cores"


def commit():
    run = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return run.stdout.strip() or "unknown"


def peer_text(row, name):
    if name not in row:
        return "", "", ""
    low, middle, high = row[name]["ratio"]
    mode = f" ({row[name]['mode']})" if name == "pytorch" else ""
    return (f"{row[name]['ms']:.1f}{mode}", f"{middle:.2f} ({low:.2f}-{high:.2f})",
            f"{row[name]['peak_bytes'] / 2**20:.0f}")


def report(rows, options):
    versions = {name: next((row[name]["version"] for row in rows if name in row), "not there")
                for name in ("pytorch", "keras")}
    batches = f"--batch {','.join(map(str, options.batch))} " if options.batch else ""
    words = "--quick" if options.quick else (
        f"--models {options.models} {batches}--rounds {options.rounds} --seconds {options.seconds:g} "
        f"--threads {options.threads}{' --precision bf16' * (options.precision == 'bf16')}")
    where = "on the CPU, beside PyTorch and Keras"
    if options.precision == "bf16":
        where = "on the CPU, beside PyTorch's autocast, in bf16"
    lines = [
        f"# Training steps {where}", "",
        f"{datetime.date.today()}, {machine()}; {options.threads} threads; Gradus {rows[0]['gradus']['version']}, "
        f"commit {commit()}; PyTorch {versions['pytorch']}; Keras {versions['keras']}. Load of the machine before the "
        f"start: {options.load:.2f}.", "", f"    scripts/bench_pytorch.py {words}", "",
        "All train in turn in the same run; the script says how. ms: median step. ratio: the peer's step over Gradus'",
        "in the same round, median and quartiles; above 1 Gradus is faster. MiB: growth of the process at its peak,",
        "the peers' with a C library that keeps its memory. In brackets PyTorch's fastest way. Raw numbers:",
        "measured.jsonl.",
        "",
        "| model | optimizer | batch | Gradus ms | MiB | PyTorch ms | ratio | MiB | Keras ms | ratio | MiB |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    ]
    for row in rows:
        cells = [row["model"], row["optimizer"], row["batch"], f"{row['gradus']['ms']:.1f}",
                 f"{row['gradus']['peak_bytes'] / 2**20:.0f}", *peer_text(row, "pytorch"), *peer_text(row, "keras")]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def cells_of(models, batches):
    """(model, optimizer, batch size) of what is timed; no batch sizes: those of CELLS."""
    if not batches:
        return [(m, o, b) for m in models for o, b in CELLS[m]]
    return [(m, o, b) for m in models for o in dict.fromkeys(o for o, _ in CELLS[m]) for b in batches]


def batch_sizes(text):
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", text):
        raise argparse.ArgumentTypeError(f'"{text}": whole numbers, such as 16,128')
    return [int(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(CELLS), help="of " + ", ".join(CELLS))
    parser.add_argument("--batch", type=batch_sizes, metavar="N,...", help="batch sizes (default: the model's)")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    parser.add_argument("--seconds", type=float, default=1.0, help="that each trains in a round; default: 1")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path, help="default: kernels/cpu; with --quick it must be given")
    parser.add_argument("--keras-python", default=sys.executable,
                        help="a Python that has TensorFlow, where this one has not")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="default: fp32")
    parser.add_argument("--quick", action="store_true", help="two short rounds of one small cell, to see that it works")
    options = parser.parse_args()
    unknown = set(options.models.split(",")) - set(CELLS)
    if unknown:
        parser.error(f"no model {', '.join(sorted(unknown))}; there are {', '.join(CELLS)}")
    if options.quick and not options.out:
        parser.error(
            "--quick is no measurement and does not overwrite kernels/cpu/MEASURED.md; name another folder with --out")
    if options.quick:
        options.rounds, options.seconds = 2, 0.1
    if options.rounds < 1 or options.seconds <= 0 or options.threads < 1:
        parser.error("--rounds, --seconds and --threads must be positive")
    if options.precision == "bf16" and not options.out:
        parser.error("--precision bf16: name a folder for the report with --out")
    options.out = options.out or ROOT / "kernels/cpu"
    options.load = os.getloadavg()[0]
    return options


def main():
    options = parse()
    if not can_import(sys.executable, "torch"):
        print("bench_pytorch.py: PyTorch is not installed: pip install torch", file=sys.stderr)
        return 77
    contestants = [("gradus", sys.executable), ("pytorch", sys.executable)]
    with_keras = options.precision == "fp32"
    if with_keras and can_import(options.keras_python, "tensorflow"):
        contestants.append(("keras", options.keras_python))
    elif with_keras:
        print("Keras does not take part: TensorFlow cannot be imported", file=sys.stderr)
    cells = cells_of(options.models.split(","), options.batch)
    rows = []
    options.out.mkdir(parents=True, exist_ok=True)
    if options.load > 0.5:
        print(f"the machine is busy (load {options.load:.2f}): these ratios will not be those of a quiet one",
              file=sys.stderr)
    for cell in [("cifar10-cnn", "adam", 4)] if options.quick else cells:
        rows.append(measure(cell, contestants, options))
        print(f"{cell[0]:15} {cell[1]:9} {cell[2]:5}: Gradus {rows[-1]['gradus']['ms']:8.1f} ms, "
              f"{rows[-1]['ratio_to_best']:.2f} times as fast as the better peer", file=sys.stderr, flush=True)
        with open(options.out / "measured.jsonl", "w", encoding="utf-8") as f:
            f.writelines(json.dumps(row) + "\n" for row in rows)
        (options.out / "MEASURED.md").write_text(report(rows, options), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
