#!/usr/bin/env python3
"""PyTorch's side of gradus bench --against torch, which starts this program and talks to it.

A question is a line of JSON on stdin, an answer one on stdout:

    {"version": true}
        -> {"version"}
    {"op", "row", "batch", "threads", "inputs": [{"name", "slot", "type", "shape", "gradient"}], "dy": shape or null}
        and behind the line the inputs' numbers, float32 or int32, and dy's
        -> {"counts": [...]}, and behind it as many float32: the result, the gradients in the inputs' order
    {"seconds": S, "backward": true or false}
        -> {"forward": [seconds of each run], "backward": [...]}
"""
import inspect
import json
import sys
import time

try:
    import torch

    import torch_operations
except ImportError as error:
    print(json.dumps({"error": f"{sys.executable} cannot import it: {error}"}), flush=True)
    sys.exit(1)

LEAST_RUNS, MOST_RUNS = 3, 50  # of a turn, as on the other side


def read_tensor(kind, shape):
    numbers = bytearray(4 * max(1, torch.Size(shape).numel()))
    view = memoryview(numbers)
    while view:
        got = sys.stdin.buffer.readinto(view)
        if not got:
            sys.exit(1)
        view = view[got:]
    t = torch.frombuffer(numbers, dtype=torch.int32 if kind == "i32" else torch.float32).reshape(shape)
    return t.long() if kind == "i32" else t


def write_tensor(t):
    numbers = bytearray(4 * t.numel())
    torch.frombuffer(numbers, dtype=torch.float32).copy_(t.detach().reshape(-1))
    sys.stdout.buffer.write(numbers)


class Case:
    def __init__(self, question):
        self.op, self.inputs, self.dy = question["op"], question["inputs"], None
        self.row = torch_operations.Words(question["row"].replace("[N", f"[{question['batch']}").split())
        torch.set_num_threads(question["threads"])
        slots = [None] * (1 + max(i["slot"] for i in self.inputs))
        self.wanted = []
        for entry in self.inputs:
            t = slots[entry["slot"]] = read_tensor(entry["type"], entry["shape"])
            if entry["gradient"]:
                self.wanted.append(t.requires_grad_(True))
        if question["dy"] is not None:
            self.dy = read_tensor("f32", question["dy"])
        self.slots = slots

    def fill_up(self):
        """Slots that the row leaves out, up to what PyTorch's side of the operation takes."""
        if self.op in torch_operations.DIFF:
            takes = len(inspect.signature(torch_operations.DIFF[self.op]).parameters) - 1
            self.slots += [None] * (takes - len(self.slots))

    def run(self, backward):
        """The result, gradients, and how long both took."""
        start = time.perf_counter()
        y = torch_operations.forward(self.row, self.op, self.slots)
        middle = time.perf_counter()
        grads = torch.autograd.grad(y, self.wanted, self.dy) if backward and self.wanted else []
        return y, grads, middle - start, time.perf_counter() - middle

    def answer(self):
        y, grads, _, _ = self.run(True)
        answers = [y, *grads]
        print(json.dumps({"counts": [t.numel() for t in answers]}), flush=True)
        for t in answers:
            write_tensor(t)
        sys.stdout.buffer.flush()

    def measure(self, seconds, backward):
        """Until both passes together have run for twice that, or often enough."""
        times = [], []
        while len(times[0]) < LEAST_RUNS or (len(times[0]) < MOST_RUNS and sum(times[0] + times[1]) < 2 * seconds):
            for kept, taken in zip(times, self.run(backward)[2:]):
                kept.append(taken)
        print(json.dumps({"forward": times[0], "backward": times[1]}), flush=True)


def main():
    case = None
    for line in iter(sys.stdin.buffer.readline, b""):
        question = json.loads(line)
        if "version" in question:
            print(json.dumps({"version": torch.__version__}), flush=True)
        elif "seconds" in question:
            case.measure(question["seconds"], question["backward"])
        elif torch_operations.knows(question["op"]):
            case = Case(question)
            case.fill_up()
            case.answer()
        else:
            print(json.dumps({"error": f"it has no {question['op']} to compare with"}), flush=True)


main()
