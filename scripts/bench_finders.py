#!/usr/bin/env python3
"""Asks finders of batch sizes for the largest batch of the same networks under the same memory, and tries the answers.

    bench_finders.py [--gradus PROGRAM] [--networks N:MIB,...] [--limits group,address] [--threads N]

Finders: gradus find-batch; PyTorch Lightning's Tuner.scale_batch_size in its modes power and binsearch, with its usual
settings; YOLO's auto-batch (ultralytics). What cannot be imported is left out, and said so. Each finder runs in a
process of its own that may take so many MiB beyond what it holds at the start, in two ways:

    group     a control group (version 1 or 2): the kernel kills who takes more. Wants the right to make one.
    address   the limit of the address space (ulimit -v): an allocation that goes beyond it fails. Not for Gradus, which
              reserves gigabytes of addresses that it never fills (core/handles.h).

The answer is then tried under the same limit: five updates. Prints a table in Markdown, and lines of JSON on stderr.
"""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

from bench_workers import SIDES, pytorch_net

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLES = {"cats-vs-dogs": 1200, "cifar10-cnn": 50000, "resnet18-cifar": 50000}  # of the training sets
FINDERS = ("gradus", "lightning power", "lightning binsearch", "yolo")
MODULES = {"lightning": "lightning.pytorch", "yolo": "ultralytics.utils.autobatch"}
MIB = 1 << 20
UPDATES = 5  # of a trial
PATIENCE = 900  # seconds


# --- limits -----------------------------------------------------------------------------------------------------------

def status_bytes(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key))


@contextlib.contextmanager
def control_group(mebibytes):
    """Its folder."""
    for folder, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        path = pathlib.Path(folder) / f"gradus-finders-{os.getpid()}"
        try:
            path.mkdir()
            (path / file).write_text(str(mebibytes * MIB))
        except OSError:
            if path.exists():
                path.rmdir()
            continue
        try:
            yield path
        finally:
            path.rmdir()
        return
    raise SystemExit("bench_finders.py: no control group can be made here; leave it out with --limits address")


def enter(limit, mebibytes, group):
    """From now on this process may take so much more. What it holds already stays with where it came from."""
    if limit == "group":
        (pathlib.Path(group) / "cgroup.procs").write_text(str(os.getpid()))
    else:
        most = status_bytes("VmSize") + mebibytes * MIB
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


# --- what a child does ------------------------------------------------------------------------------------------------

def say(**line):
    print(json.dumps(line), flush=True)


def lightning_module(network, batch):
    import lightning.pytorch as L
    import torch
    import torch.nn.functional as F
    sample = torch.rand(3, SIDES[network], SIDES[network])

    class Samples(torch.utils.data.Dataset):
        def __len__(self):
            return SAMPLES[network]

        def __getitem__(self, i):
            return sample, i % 2

    class Module(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.net, self.batch_size = pytorch_net(network, torch), batch

        def train_dataloader(self):
            return torch.utils.data.DataLoader(Samples(), self.batch_size, shuffle=True)

        def on_train_start(self):
            say(tried=self.batch_size)

        def training_step(self, pair, _):
            z = self.net(pair[0])
            if network == "cats-vs-dogs":
                return F.binary_cross_entropy_with_logits(z[:, 0], pair[1].to(z.dtype))
            return F.cross_entropy(z, pair[1])

        def configure_optimizers(self):
            if network == "cifar10-cnn":
                return torch.optim.Adam(self.parameters())
            return torch.optim.SGD(self.parameters(), 0.01, momentum=0.9 if network == "resnet18-cifar" else 0)

    return L, Module()


def lightning(task, network, batch):
    L, module = lightning_module(network, batch or 2)
    trainer = L.Trainer(accelerator="cpu", max_steps=UPDATES, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    if batch:
        return lambda: trainer.fit(module)
    from lightning.pytorch.tuner import Tuner
    return lambda: Tuner(trainer).scale_batch_size(module, mode=task.split()[1])


def yolo(network, batch):
    import torch
    from ultralytics.utils.autobatch import autobatch
    return lambda: autobatch(pytorch_net(network, torch), imgsz=SIDES[network])


def child(task, network, limit, mebibytes, group, batch, threads):
    import torch
    torch.set_num_threads(threads)
    work = yolo(network, batch) if task == "yolo" else lightning(task, network, batch)
    torch.nn.Conv2d(3, 4, 3)(torch.rand(2, 3, 16, 16)).sum().backward()  # its threads are there
    enter(limit, mebibytes, group)
    begin = time.perf_counter()
    found = work()
    say(found=found, seconds=time.perf_counter() - begin)


# --- asking and trying ------------------------------------------------------------------------------------------------

def how_it_ended(process):
    if process.returncode == -signal.SIGKILL:
        return "killed"
    text = process.stderr.lower()
    if process.returncode == 4 or "can't allocate memory" in text or "out of memory" in text or "bad_alloc" in text:
        return "out of memory"
    return "good" if process.returncode == 0 else f"failed ({process.returncode})"


def run(command, **more):
    begin = time.perf_counter()
    try:
        process = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, **more)
    except subprocess.TimeoutExpired:
        return {"end": "too slow", "lines": [], "seconds": PATIENCE}
    lines = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    return {"end": how_it_ended(process), "lines": lines, "seconds": time.perf_counter() - begin,
            "said": process.stderr.strip().splitlines()[-1:]}


def gradus(options, network, limit, mebibytes, group, batch):
    words = ["train", network, "--updates", UPDATES, "--batch", batch] if batch else ["find-batch", network]
    answer = run([options.gradus, *words, "--procedural", "--threads", options.threads, "--json"],
                 preexec_fn=lambda: enter(limit, mebibytes, group))
    row = answer["lines"][-1] if answer["lines"] else {}
    return {**answer, "found": row.get("fits"), "tries": 1}  # plans touch no memory


def peer(options, task, network, limit, mebibytes, group, batch):
    answer = run([sys.executable, __file__, "--child", task, network, limit, mebibytes, group, batch, options.threads])
    last = answer["lines"][-1] if answer["lines"] else {}
    return {**answer, "found": last.get("found"), "seconds": last.get("seconds", answer["seconds"]),
            "tries": sum("tried" in line for line in answer["lines"])}


def ask(options, finder, network, limit, mebibytes, batch=0):
    with control_group(mebibytes) if limit == "group" else contextlib.nullcontext("-") as group:
        if finder == "gradus":
            return gradus(options, network, limit, mebibytes, group, batch)
        return peer(options, "lightning" if batch else finder, network, limit, mebibytes, group, batch)


def measure(options, finder, network, limit, mebibytes):
    found = ask(options, finder, network, limit, mebibytes)
    row = {"network": network, "limit": limit, "mebibytes": mebibytes, "finder": finder, **found}
    row["tried"] = ask(options, finder, network, limit, mebibytes, found["found"])["end"] if found["found"] else "-"
    print(json.dumps({key: value for key, value in row.items() if key != "lines"}), file=sys.stderr, flush=True)
    answer = found["found"] if found["end"] == "good" else found["end"]
    return (network, f"{mebibytes} MiB, {limit}", finder, answer, found["tries"], f"{found['seconds']:.0f}",
            row["tried"])


def present(finder):
    module = MODULES.get(finder.split()[0])
    if not module:
        return True
    if subprocess.run([sys.executable, "-c", f"import torch, {module}"], capture_output=True).returncode == 0:
        return True
    print(f"left out: {finder}; {sys.executable} cannot import torch and {module}", file=sys.stderr)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gradus", default=ROOT / "build/release/gradus", help="the program")
    parser.add_argument("--networks", default="cats-vs-dogs:1024,cifar10-cnn:256,resnet18-cifar:512",
                        help="with the MiB that each may take")
    parser.add_argument("--limits", default="group,address")
    parser.add_argument("--finders", default=",".join(FINDERS))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    return parser.parse_args()


def main():
    options = parse()
    finders = [finder for finder in options.finders.split(",") if present(finder)]
    print(f"{datetime.date.today()}, {options.threads} threads, load {os.getloadavg()[0]:.0f}\n")
    print("| network | may take | finder | answer | tries | seconds | tried |\n|---|---|---|---:|---:|---:|---|")
    for network, mebibytes in (cell.split(":") for cell in options.networks.split(",")):
        for limit in options.limits.split(","):
            for finder in finders:
                if (finder, limit) == ("gradus", "address"):
                    continue
                row = measure(options, finder, network, limit, int(mebibytes))
                print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        task_, network_, limit_, mebibytes_, group_, batch_, threads_ = sys.argv[2:]
        child(task_, network_, limit_, int(mebibytes_), group_, int(batch_), int(threads_))
    else:
        main()
