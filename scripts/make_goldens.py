#!/usr/bin/env python3
"""Makes tests/goldens: PyTorch's answers, in double, to the rows of tests/table/rows.def.

    make_goldens.py [OPERATION...]    writes tests/goldens/OPERATION.safetensors; of all without names
    make_goldens.py --check           computes everything again and compares with what is there

Needs PyTorch, numpy and safetensors. Inputs are drawn as tests/table/draw.c draws them, by Philox4x32-10 from the
FNV-1a hash of the row's line, so a file holds nothing but results: outputs, gradients, and slots that an update has
changed. Layouts are the library's: images NHWC, filters KRSC, dense weights [in, out].
"""
import argparse
import pathlib
import re
import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file, save_file

from torch_operations import Words, forward

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT / "tests/table/rows.def"
OPS = ROOT / "kernels/ops/ops.def"
GOLDENS = ROOT / "tests/goldens"
DRAW_DY = 16
LIMIT = 4_000_000  # bytes of all goldens together


# --- Philox4x32-10 (Salmon et al., SC'11) -----------------------------------------------------------------------------

def philox(counter, key):
    """counter: uint32 array [n, 4]; key: two 32-bit integers. Returns uint32 [n, 4]."""
    c = [counter[:, i].astype(np.uint64) for i in range(4)]
    k0, k1, low = key[0], key[1], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), p1 & low,
             (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=1).astype(np.uint32)


def check_philox():
    """The known answers of the Random123 distribution (kat_vectors)."""
    ones = 0xFFFFFFFF
    known = [([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
             ([ones] * 4, [ones] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
             ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
              [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1])]
    for counter, key, expected in known:
        if philox(np.array([counter], np.uint32), key)[0].tolist() != expected:
            sys.exit("make_goldens.py: Philox does not give the published answers")


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


# --- rows and slots ---------------------------------------------------------------------------------------------------

class Slot:
    def __init__(self, name, kind, flags):
        self.name, self.type = name, kind
        self.grad, self.in_place = "GRAD" in flags, "CHANGED" in flags or "REPLACED" in flags


def read_slots(text):
    return [Slot(*slot) for slot in re.findall(r'\{"(\w+)", (\w+), ([^}]*)\}', text)]


def read_ops():
    """{name: (kind, inputs, outputs)} of ops.def."""
    text = OPS.read_text()
    ops = {name: (kind, read_slots(inputs), read_slots(outputs)) for name, kind, inputs, outputs in
           re.findall(r"^GR_OP\((\w+), (\w+),\s*INPUTS \((.*?)\),\s*OUTPUTS \((.*?)\),\s*FORMULA", text, re.M | re.S)}
    for name in re.findall(r"^GR_UNARY\((\w+),", text, re.M):
        ops[name] = ("DIFF", [Slot("x", "EITHER", "GRAD")], [Slot("y", "EITHER", "")])
    return ops


class Row(Words):
    def __init__(self, text, ops):
        self.text = text
        self.op, *words = text.split()
        super().__init__(words)
        self.kind, self.inputs, self.outputs = ops[self.op]
        self.key = fnv1a(text)
        self.shapes = {s.name: [int(n) for n in self.words[s.name]] for s in self.inputs if s.name in self.words}


def read_rows(ops):
    return [Row(text, ops) for text in re.findall(r'^ROW\("([^"]*)"\)', ROWS.read_text(), re.M)]


# --- drawing: tests/table/draw.c, line by line ------------------------------------------------------------------------

def draw_bits(row, stream, count):
    blocks = np.arange((count + 3) // 4, dtype=np.uint32)
    counter = np.zeros((len(blocks), 4), np.uint32)
    counter[:, 0], counter[:, 2] = blocks, stream
    return philox(counter, [row.key & 0xFFFFFFFF, row.key >> 32]).reshape(-1)[:count]


def draw_uniform(row, stream, count):
    return (draw_bits(row, stream, count) >> 8).astype(np.float64) * 2.0**-23 - 1


def distinct(row, stream, count):
    bits = draw_bits(row, stream, count)
    values = np.arange(count, dtype=np.float64)
    for i in range(count - 1, 0, -1):
        j = int(bits[i]) * (i + 1) >> 32
        values[i], values[j] = values[j], values[i]
    return values * 2 / count - 1


def labels(row, stream, count):
    if row.op == "gather":
        return (draw_bits(row, stream, count) % (row.shapes["x"][0] + 2)).astype(np.int64) - 1
    columns = row.shapes["z"][1]
    classes = columns if columns > 1 else 2
    if row.has("stray"):
        return (draw_bits(row, stream, count) % (classes + 2)).astype(np.int64) - 1
    drawn = (draw_bits(row, stream, count) % classes).astype(np.int64)
    if count > 1:
        drawn[0], drawn[-1] = 0, classes - 1
    return drawn


def map_numbers(row, stream, count):
    """Of affine maps and boxes, as map_element of tests/table/draw.c."""
    u = draw_uniform(row, stream, count).astype(np.float32).astype(np.float64).reshape(-1, 16)
    side = [row.shapes["x"][2], row.shapes["x"][1]]
    seen = row.pair("size", side[::-1])[::-1]
    whole, resize, numbers = row.has("whole"), row.pair("resize", None), np.zeros((len(u), 10))
    for k in range(6, 10):
        extent = seen[0] if k % 2 else seen[1]
        numbers[:, k] = np.floor(extent * (0.5 + 0.75 * u[:, k] if k < 8 else 0.75 + 0.5 * u[:, k]))
    for axis, (own, other, offset) in enumerate(((0, 1, 2), (4, 3, 5))):
        mirror = np.where(np.arange(len(u)) % 2, -1, 1) if axis == 0 else 1
        scale = side[axis] / resize[1 - axis] if resize else 1 + (0 if whole else 0.25 * u[:, own])
        a = numbers[:, own] = mirror * scale
        b = numbers[:, other] = 0 if whole or resize else 0.25 * u[:, other]
        move = np.floor(0.375 * side[axis] * u[:, offset])
        middle = side[axis] / 2 + move - a * (seen[axis] - 1) / 2 - b * (seen[1 - axis] - 1) / 2
        first = np.where(a < 0, side[axis] - 1, 0) + move + 0.5  # the first pixel, or for a mirror the last one
        resized = np.where(a < 0, side[axis], 0) + move + 0.5 * a
        numbers[:, offset] = resized if resize else first if whole else middle
    if row.has("nearly"):
        numbers[:, int(row.number("nearly", None)) - 1] += 0.25
    pixels = np.floor(numbers[:, :6])
    parts = ((numbers[:, :6] - pixels) * 2**32).astype(np.uint32).view(np.int32)
    lines = np.stack([pixels.astype(np.int64), parts], 2).reshape(-1, 12)
    return np.concatenate([lines, numbers[:, 6:].astype(np.int64)], 1)


def draw_real(row, slot, stream, count):
    u, scale = draw_uniform(row, stream, count), row.number("scale", 1)
    if slot.name == "weight":
        return np.where(np.arange(count) % 5 == 3, 0, (u + 1.5) * scale)
    if slot.name == "norm" or row.op == "log":
        return (u + 1.5) * scale
    if slot.name in ("m", "v"):
        square = slot.name == "v" and row.op not in ("momentum_step", "lars_step", "nesterov_step")
        return np.zeros(count) if row.has("fresh") else u * 0.5 + 0.625 if square else u
    if slot.name.endswith("var"):
        return u * 0.5 + 0.625
    if slot.name == "y":
        return np.maximum(u, 0)
    if row.has("overflow") and slot.name in ("g", "x", "loss"):
        return np.where(np.arange(count) == count // 2, np.inf, u * scale)
    if row.has("ties"):
        return (draw_bits(row, stream, count) % 3).astype(np.float64) - 1
    if row.op == "relu":
        return np.where(u < 0, u * 0.9375 - 0.0625, u * 0.9375 + 0.0625) * scale
    return u * scale


def draw_input(row, number, slot):
    """Input slot number as an array of its shape, float64 (exactly floats), int64 or uint8; None where it is absent."""
    if slot.name not in row.shapes:
        return None
    shape = row.shapes[slot.name]
    count = int(np.prod(shape))
    if row.op == "augment" and slot.type == "I32":
        return map_numbers(row, number, count).reshape(shape)
    if slot.type == "I32":
        return labels(row, number, count).reshape(shape)
    if slot.type == "U8":
        return (draw_bits(row, number, count) & 255).astype(np.uint8).reshape(shape)
    if row.op == "max_pool2d" and not row.has("ties"):
        values = distinct(row, number, count)
    else:
        values = draw_real(row, slot, number, count)
    return values.astype(np.float32).astype(np.float64).reshape(shape)


# --- PyTorch's answers ------------------------------------------------------------------------------------------------

def dropout(row, x):
    """The mask of kernels/ops/dropout.h, its seed and micro-batch those of tests/table/row.c, the first call in it or
    the second."""
    rate, blocks, seed = row.number("rate", 0), np.arange((x.numel() + 3) // 4, dtype=np.uint32), 0x0123456789ABCDEF
    counter = np.zeros((len(blocks), 4), np.uint32)
    counter[:, 0], counter[:, 1], counter[:, 2], counter[:, 3] = blocks, row.number("draws", 5), row.has("second"), 5
    words = philox(counter, [seed & 0xFFFFFFFF, seed >> 32]).reshape(-1)[:x.numel()]
    keep = (words >> 8) * 2.0**-24 >= rate
    return x * torch.from_numpy(keep.reshape(x.shape)).to(x.dtype) / (1 - rate)


def accuracy(row, z, t, weight):
    predicted = (z[:, 0] > 0).long() if z.shape[1] == 1 else z.argmax(1)
    right = (predicted == t).to(z.dtype)
    return (right if weight is None else right * weight).sum()


def confusion(row, z, t, weight):
    predicted = (z[:, 0] > 0).long() if z.shape[1] == 1 else z.argmax(1)
    classes = max(z.shape[1], 2)
    known = (t >= 0) & (t < classes)
    cells, weight = (t.long() * classes + predicted)[known], None if weight is None else weight[known]
    return torch.bincount(cells, weight, classes * classes).to(z.dtype).reshape(classes, classes)


def gather(row, x, index):
    y = x[index.long().clamp(0, x.shape[0] - 1)]
    y[(index < 0) | (index >= x.shape[0])] = 0
    return y.to(torch.float64)


def normalise(row, x):
    def channels(word, default):
        given = row.words.get(word, [])
        values = np.array(given + [default] * 4, np.float32)[:x.shape[3]].astype(np.float64)
        return torch.from_numpy(values)
    return (x.to(torch.float64) / 255 - channels("mean", 0)) / channels("std", 1)


def cubic_weights(t):
    """Of the pixels -1, 0, 1, 2 at a distance of t / 2^16: Keys' cubic with a = -1 in exact integers, to multiples of
    2^-20."""
    one = 2**16
    s = one - t
    before, at, behind = ((w * 2**20 + one**3 // 2) // one**3
                          for w in (-t * s * s, t**3 - 2 * one * t * t + one**3, -s * t * t))
    return [before, at, 2**20 - before - at - behind, behind]


def resize_weights(t, inside):
    """Of the same pixels at a distance of t, those that are inside, as Pillow's Resample.c computes them, in multiples
    of 2^-22."""
    def cubic(x):
        x = abs(x)
        return (1.5 * x - 2.5) * x * x + 1 if x < 1 else (((x - 5) * x + 8) * x - 4) * -0.5 if x < 2 else 0.0
    weights = [cubic(k - 1 - t) if here else 0.0 for k, here in enumerate(inside)]
    total = sum(weights)
    return [int(w / total * 2**22 + (0.5 if w >= 0 else -0.5)) for w in weights]


def mirrored(i, n):
    while not 0 <= i < n:
        i = -i if i < 0 else 2 * (n - 1) - i
        if n == 1:
            return 0
    return i


def resample(row, x, u, v):
    """The level of x[H,W] at column u and row v, multiples of 2^-32, in the integers of kernels/ops/augment.h."""
    filter_, fill, sizes = int(row.number("filter", 0)), int(row.number("fill", 0)), x.shape[::-1]
    at = [u, v]
    if fill == 0 and not all(0 <= c < n << 32 for c, n in zip(at, sizes)):
        return 0
    if fill == 1 and filter_ == 3:
        at = [min(max(c, 0), (n << 32) - 1) for c, n in zip(at, sizes)]
    resize = row.pair("resize", [4096, 4096])[::-1]
    axes = []  # {pixel: weight} of the columns, of the rows
    for axis, (c, n) in enumerate(zip(at, sizes)):
        slanted = row.number("nearly", 0) == (2, 4)[axis]
        steps = {1: 2**12, 2: 2**16}.get(filter_, 8192 if slanted else 2 * resize[axis])
        place = ((c - 2**31) * steps + 2**31) >> 32
        first, t = place // steps, place % steps
        pixels = {0: [c >> 32], 1: [first, first + 1]}.get(filter_, [first - 1 + k for k in range(4)])
        weights = {0: [1], 1: [steps - t, t], 2: cubic_weights(t)}.get(filter_)
        if filter_ == 3:
            weights = resize_weights(t / steps, [fill == 2 or 0 <= p < n for p in pixels])
        axes.append(([mirrored(p, n) if fill == 2 else min(max(p, 0), n - 1) for p in pixels], weights))
    (columns, across), (lines, down) = axes
    rows = [sum(int(x[h, w]) * k for w, k in zip(columns, across)) for h in lines]
    if filter_ < 2:
        unit = 1 if filter_ == 0 else 2**24
        return (sum(r * k for r, k in zip(rows, down)) + unit // 2) // unit
    if filter_ == 3:  # Pillow makes a picture in between
        rows = [min(max((r + 2**21) >> 22, 0), 255) for r in rows]
        return min(max((sum(r * k for r, k in zip(rows, down)) + 2**21) >> 22, 0), 255)
    return min(max((sum(((r + 2**14) >> 15) * k for r, k in zip(rows, down)) + 2**24) >> 25, 0), 255)


def augment(row, x, maps):
    x, maps = x.numpy(), maps.numpy()
    P, Q = row.pair("size", x.shape[1:3])
    levels = np.zeros((len(x), P, Q, x.shape[3]), np.uint8)
    boxed = np.zeros(levels.shape, bool)
    for n, p, q, c in np.ndindex(levels.shape):
        m = [int(i) for i in maps[n]]
        a = [m[2 * k] * 2**32 + m[2 * k + 1] % 2**32 for k in range(6)]
        levels[n, p, q, c] = resample(row, x[n, :, :, c], a[0] * q + a[1] * p + a[2], a[3] * q + a[4] * p + a[5])
        boxed[n, p, q, c] = m[12] <= p < m[14] and m[13] <= q < m[15]
    values = normalise(row, torch.from_numpy(levels))
    return torch.where(torch.from_numpy(boxed), 0, values)


def cast(row, x):
    """By way of float32, as which the inputs were drawn."""
    types = {"f16": torch.float16, "bf16": torch.bfloat16}
    start, end = ([t for name, t in types.items() if row.has(way + name)] for way in ("from_", "to_"))
    x = x.to(torch.float32)
    x = x.to(start[0]) if start else x
    return (x.to(torch.float32).to(end[0]) if end else x).to(torch.float64)


PURE = {
    "accuracy": accuracy, "augment": augment, "confusion": confusion, "gather": gather, "cast": cast,
    "normalise": normalise, "global_norm": lambda row, x: x.norm()
}


def differentiate(row, tensors):
    for slot, t in zip(row.inputs, tensors):
        if slot.grad and t is not None:
            t.requires_grad_(True)
    y = dropout(row, *tensors) if row.op == "dropout" else forward(row, row.op, tensors)
    dy = torch.from_numpy(draw_uniform(row, DRAW_DY, y.numel()).reshape(y.shape).copy())
    (y * dy * row.number("loss_scale", 1)).sum().backward()
    results = {row.outputs[0].name: y.detach()}
    for slot, t in zip(row.inputs, tensors):
        if slot.grad and t is not None:
            results["d" + slot.name] = t.grad
        if slot.in_place and t is not None:
            results[slot.name] = t
    return results


def keras_adam(row, p, g, m, v, updates):
    """Kingma and Ba (2015), end of section 2, as Keras computes it: epsilon-hat beside the uncorrected root."""
    beta1, beta2 = row.words.get("beta", [0.9, 0.999])
    lr, epsilon, decay, gradient = row.number("lr", 0.05), row.number("epsilon", 1e-7), row.number("decay", 0), g
    for t in updates:
        if row.has("decoupled"):
            p.mul_(1 - lr * decay)
        else:
            g = gradient + decay * p
        m.mul_(beta1).add_(g, alpha=1 - beta1)
        v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        alpha = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
        p.sub_(alpha * m / (v.sqrt() + epsilon))


def pytorch_adam(row, p, g, m, v, updates):
    """torch.optim.Adam itself, its state set to the row's."""
    parameter = torch.nn.Parameter(p.clone())
    kind = torch.optim.AdamW if row.has("decoupled") else torch.optim.Adam
    optimizer = kind([parameter], lr=row.number("lr", 0.05), betas=tuple(row.words.get("beta", [0.9, 0.999])),
                     eps=row.number("epsilon", 1e-8), weight_decay=row.number("decay", 0), foreach=False)
    optimizer.state[parameter] = {"step": torch.tensor(float(updates[0] - 1)), "exp_avg": m, "exp_avg_sq": v}
    for _ in updates:
        parameter.grad = g.clone()
        optimizer.step()
    p.copy_(parameter.detach())


def adam(row, p, g, m, v):
    first = int(row.number("t", 3))
    updates = range(first, first + int(row.number("updates", 1)))
    (pytorch_adam if row.has("pytorch") else keras_adam)(row, p, g, m, v, updates)


def sgd(row, p, g, v=None):
    """torch.optim.SGD itself; decoupled decay, which it does not have, is taken off before each step."""
    lr, decay, decoupled = row.number("lr", 0.05), row.number("decay", 0), row.has("decoupled")
    parameter = torch.nn.Parameter(p.clone())
    optimizer = torch.optim.SGD([parameter], lr=lr, momentum=row.number("momentum", 0), nesterov=row.has("nesterov"),
                                weight_decay=0 if decoupled else decay, foreach=False)
    if v is not None:
        optimizer.state[parameter] = {"momentum_buffer": v}
    for _ in range(int(row.number("updates", 1))):
        parameter.grad = g.clone()
        before = parameter.detach().clone()
        optimizer.step()
        if decoupled:
            parameter.data.sub_(lr * decay * before)
    p.copy_(parameter.detach())


def loss_scale(scaler):
    """The rule of torch.amp.GradScaler, with a floor of 1, a ceiling of 2^24 and a count of skips."""
    scale, skip, clean, skipped, floored = scaler.tolist()
    if skip > 0:
        rest = [max(scale / 2, 1), 0, 0, skipped + 1, floored + 1 if scale <= 1 else 0]
    elif clean + 1 >= 2000:
        rest = [min(scale * 2, 2.0**24), 0, 0, skipped, 0]
    else:
        rest = [scale, 0, clean + 1, skipped, 0]
    return torch.tensor(rest, dtype=scaler.dtype)


def dense_gradients(x, dy, w, y):
    """dX, dW, db of a dense layer, by autograd."""
    x, w = x.clone().requires_grad_(True), w.clone().requires_grad_(True)
    b = torch.zeros(w.shape[1], dtype=w.dtype, requires_grad=True)
    F.linear(x, w.T, b).backward(dy if y is None else dy * (y > 0))
    return x.grad, w.grad, b.grad


def lars(row, p, g, v):
    """You, Gitman, Ginsburg (2017), algorithm 1, with lr outside the velocity; the momentum step is
    torch.optim.SGD's."""
    decay, trust = row.number("decay", 0), row.number("factor", 0) or 0.001
    parameter = torch.nn.Parameter(p.clone())
    optimizer = torch.optim.SGD([parameter], lr=row.number("lr", 0.05), momentum=row.number("momentum", 0),
                                foreach=False)
    optimizer.state[parameter] = {"momentum_buffer": v}
    for _ in range(int(row.number("updates", 1))):
        w, dw = parameter.detach(), g.norm()
        good = w.norm() > 0 and dw > 0
        ratio = trust * w.norm() / (dw + decay * w.norm() + row.number("epsilon", 1e-9)) if good else 1
        parameter.grad = ratio * (g + decay * w)
        optimizer.step()
        if row.number("momentum", 0) == 0:  # which torch does not keep
            v.copy_(parameter.grad)
    p.copy_(parameter.detach())


def prox(row, t):
    """torch.optim.SGD on the gradient of g p + gamma/2 |p - anchor|^2, by autograd."""
    if row.has("first"):
        t["anchor"] = t["p"].clone()
    parameter = torch.nn.Parameter(t["p"].clone())
    optimizer = torch.optim.SGD([parameter], lr=row.number("lr", 0.05), foreach=False)
    for _ in range(int(row.number("updates", 1))):
        optimizer.zero_grad()
        (t["g"] * parameter + row.number("factor", 0) / 2 * (parameter - t["anchor"]) ** 2).sum().backward()
        optimizer.step()
    t["p"] = t["anchor"].clone() if row.has("skip") else parameter.detach()


def clip(row, t):
    """torch.nn.utils.clip_grads_with_norm_ itself."""
    parameter = torch.nn.Parameter(torch.zeros_like(t["g"]))
    parameter.grad = t["g"].clone()
    torch.nn.utils.clip_grads_with_norm_([parameter], row.number("factor", 0), t["norm"][0], foreach=False)
    t["g"] = parameter.grad


def sam(row, t):
    t["saved"] = t["p"].clone()
    t["p"] = t["p"] + row.number("factor", 0) / (t["norm"] + 1e-12) * t["g"]


def update(row, t):
    if row.op == "sgd_step":
        sgd(row, t["p"], t["g"])
    elif row.op == "momentum_step":
        sgd(row, t["p"], t["g"], t["v"])
    elif row.op == "tally":
        weight = 1 / row.number("inv_weight", 1)
        lost = row.has("finite") and not t["loss"].isfinite().all()
        gains = torch.cat([t["loss"].reshape(1) * weight, t["counts"].reshape(-1),
                           torch.full([int(row.has("finite"))], weight)])
        gains[[0, -1]] *= 0 if lost else 1
        gains[0] = 0 if lost else gains[0]
        t["total"] = torch.stack([t["total"].sum(1) + gains, torch.zeros_like(gains)], 1)
    elif row.op == "batch_norm_commit":
        t["running"] = t["next"].clone()
    elif row.op == "lars_step":
        lars(row, t["p"], t["g"], t["v"])
    elif row.op == "prox_step":
        prox(row, t)
    elif row.op == "clip_norm":
        clip(row, t)
    elif row.op == "sam_climb":
        sam(row, t)
    elif row.op == "sam_return":
        t["p"] = t["saved"].clone()
    elif row.op == "ema_step":
        done = row.number("t", 3)
        mean = torch.optim.swa_utils.get_ema_avg_fn(min(row.number("factor", 0), (done - 1) / (done + 8)))
        t["average"] = mean(t["average"], t["p"], None)
    elif row.op == "nesterov_step":
        mu = row.number("factor", 0)
        t["v"] = t["v"] * mu + t["g"]
        t["d"] = t["g"].add(t["v"], alpha=mu)
    elif row.op == "unit_norm":
        t["x"] = t["x"] * (row.number("factor", 0) / (t["norm"][0] + 1e-7))
    elif row.op == "lookahead_step":
        t["slow"] = t["p"] = torch.lerp(t["slow"], t["p"], 1 - row.number("factor", 0))
    elif row.op == "unscale":
        t["scaler"][1] = 1.0 if not t["g"].isfinite().all() else t["scaler"][1]
        t["g"] /= t["scaler"][0]
    elif row.op == "overflow":
        t["scaler"][1] = 1.0 if not t["x"].isfinite().all() else t["scaler"][1]
    elif row.op == "loss_scale":
        t["scaler"] = loss_scale(t["scaler"])
    elif row.op == "adam_step":
        adam(row, t["p"], t["g"], t["m"], t["v"])
    else:
        dx, dw, db = dense_gradients(t["x"], t["dy"], t["w"], t.get("y"))
        dw /= row.number("loss_scale", 1)
        sgd(row, t["w"], dw) if row.op == "dense_sgd" else adam(row, t["w"], dw, t["m"], t["v"])
        t.update({"dx": dx} if not row.has("no_dx") else {})
        t.update({"db": db} if not row.has("no_db") else {})
    names = [s.name for s in row.inputs if s.in_place] + [s.name for s in row.outputs]
    return {name: t[name] for name in names if name in t}


def answers(row):
    """Results of a row by slot name."""
    arrays = [draw_input(row, i, slot) for i, slot in enumerate(row.inputs)]
    tensors = [None if a is None else torch.from_numpy(a.copy()) for a in arrays]
    if row.kind == "DIFF":
        return differentiate(row, tensors)
    if row.kind == "PURE":
        return {row.outputs[0].name: PURE[row.op](row, *tensors)}
    return update(row, {slot.name: t for slot, t in zip(row.inputs, tensors) if t is not None})


# --- files ------------------------------------------------------------------------------------------------------------

def make(ops, names):
    """Contents of the files of these operations, or of all: {operation: {"row/slot": array}}."""
    files = {}
    for row in read_rows(ops):
        if names and row.op not in names:
            continue
        for name, t in answers(row).items():
            files.setdefault(row.op, {})[f"{row.text}/{name}"] = np.ascontiguousarray(t.detach().numpy())
    return files


def check(files):
    """What is on disk against what has been made; PyTorch versions may differ in the last bits."""
    bad = 0
    for op, made in files.items():
        path = GOLDENS / f"{op}.safetensors"
        saved = load_file(path) if path.exists() else {}
        for name in sorted(made.keys() | saved.keys()):
            if name not in made or name not in saved:
                print(f"{path.name}: {name}: {'not a row any more' if name not in made else 'missing'}")
                bad += 1
            elif made[name].shape != saved[name].shape or not np.allclose(made[name], saved[name], rtol=1e-12,
                                                                          atol=1e-13):
                print(f"{path.name}: {name}: differs")
                bad += 1
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the committed files, write nothing")
    parser.add_argument("operations", nargs="*", metavar="OPERATION")
    options = parser.parse_args()
    check_philox()
    torch.set_num_threads(1)
    files = make(read_ops(), options.operations)
    if options.check:
        bad = check(files)
        print(f"{sum(len(f) for f in files.values())} results, {bad} differ")
        return 1 if bad else 0
    GOLDENS.mkdir(exist_ok=True)
    for op, tensors in files.items():
        path = GOLDENS / f"{op}.safetensors"
        save_file(tensors, path, metadata={"torch": torch.__version__})
        path.chmod(0o644)
    size = sum(p.stat().st_size for p in GOLDENS.glob("*.safetensors"))
    print(f"{sum(len(f) for f in files.values())} results in {len(files)} files, {size} bytes")
    return 0 if size <= LIMIT else sys.exit(f"the goldens take {size} bytes; keep them below {LIMIT}")


if __name__ == "__main__":
    sys.exit(main())
