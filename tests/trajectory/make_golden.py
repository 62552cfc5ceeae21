#!/usr/bin/env python3
"""Makes golden.json: the first 60 training losses of each recipe in PyTorch, in float32 and in float64.

  make_golden.py DUMP_BATCHES DATA_ROOT [RUN ...]        (needs PyTorch and NumPy)

DUMP_BATCHES is the program built from dump_batches.c, so both sides see the same pixels. Weights are drawn here, by
Philox4x32-10 from (seed, parameter, element), and brought from Gradus' order in memory to PyTorch's: only losses are
kept.
"""
import json, math, os, subprocess, sys, tempfile

import numpy as np
import torch
import torch.nn.functional as F

UPDATES = 60
HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = {  # recipe, optimizer, batch, seed of the weights; rates are the recipes'
    "cats-vs-dogs-sgd": ("cats-vs-dogs", "sgd", 16, 7),
    "cats-vs-dogs-adam": ("cats-vs-dogs", "adam", 16, 7),
    # Adam on this network is chaotic: from most seeds PyTorch's own two precisions part within 30 updates.
    "cifar10-cnn-adam": ("cifar10-cnn", "adam", 32, 8),
}


def philox(counter, key):
    """Philox4x32-10 of many counters [n, 4] under one key; Salmon et al., SC'11."""
    c = [counter[:, i].astype(np.uint64) for i in range(4)]
    k0, k1 = np.uint64(key[0]), np.uint64(key[1])
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ k0, p1 & low, (p0 >> np.uint64(32)) ^ c[3] ^ k1, p0 & low]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low
    return np.stack(c, axis=1)


assert philox(np.zeros((1, 4)), (0, 0))[0].tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def draw(seed, index, shape, limit):
    """Parameter number index, uniform in [-limit, limit], in Gradus' order in memory."""
    count = math.prod(shape)
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    counter = np.stack([blocks & np.uint64(0xFFFFFFFF), blocks >> np.uint64(32), np.full_like(blocks, index),
                        np.full_like(blocks, 1)], axis=1)
    bits = philox(counter, (seed, 0)).reshape(-1)[:count]
    u = (bits >> np.uint64(8)).astype(np.float64) * 2.0**-24
    return (limit * (2 * u - 1)).astype(np.float32).reshape(shape)


def conv(seed, index, k, c, limit):  # [K,R,S,C] -> [K,C,R,S]
    return draw(seed, index, (k, 3, 3, c), limit).transpose(0, 3, 1, 2)


def dense(seed, index, fan_in, units, limit, image=None):  # [in,out] -> (out,in), columns from H,W,C to C,H,W
    w = draw(seed, index, (fan_in, units), limit)
    if image:
        w = w.reshape(*image, units).transpose(2, 0, 1, 3).reshape(fan_in, units)
    return w.T


def glorot(fan_in, fan_out):
    return math.sqrt(6 / (fan_in + fan_out))


def he(fan_in):
    return math.sqrt(6 / fan_in)


def weights(recipe, seed):
    zeros = lambda n: np.zeros(n, np.float32)
    if recipe == "cats-vs-dogs":
        return [conv(seed, 0, 32, 3, he(27)), zeros(32), dense(seed, 2, 320000, 128, he(320000), (100, 100, 32)),
                zeros(128), dense(seed, 4, 128, 1, glorot(128, 1)), zeros(1)]
    return [conv(seed, 0, 32, 3, glorot(27, 288)), zeros(32), conv(seed, 2, 64, 32, glorot(288, 576)), zeros(64),
            conv(seed, 4, 64, 64, glorot(576, 576)), zeros(64), dense(seed, 6, 1024, 64, glorot(1024, 64), (4, 4, 64)),
            zeros(64), dense(seed, 8, 64, 10, glorot(64, 10)), zeros(10)]


def forward(recipe, p, x):
    if recipe == "cats-vs-dogs":
        x = F.max_pool2d(F.relu(F.conv2d(x, p[0], p[1], padding=1)), 2)
        return F.linear(F.relu(F.linear(x.flatten(1), p[2], p[3])), p[4], p[5])
    x = F.max_pool2d(F.relu(F.conv2d(x, p[0], p[1])), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, p[2], p[3])), 2)
    x = F.relu(F.conv2d(x, p[4], p[5]))
    return F.linear(F.relu(F.linear(x.flatten(1), p[6], p[7])), p[8], p[9])


def images(dump, root, recipe, count):
    with tempfile.NamedTemporaryFile() as f:
        subprocess.run([dump, recipe, root, str(count), f.name], check=True)
        raw = open(f.name, "rb").read()
    h, w, n = np.frombuffer(raw, np.int32, 3)
    rows = np.frombuffer(raw, np.uint8, offset=12).reshape(n, 4 + h * w * 3)
    labels = rows[:, :4].copy().view(np.int32).reshape(-1)
    return rows[:, 4:].reshape(n, h, w, 3), labels


def losses(recipe, optimizer, batch, seed, data, dtype):
    p = [torch.tensor(w, dtype=dtype, requires_grad=True) for w in map(np.ascontiguousarray, weights(recipe, seed))]
    opt = torch.optim.SGD(p, 0.01) if optimizer == "sgd" else torch.optim.Adam(p, 0.001)
    pixels, labels, result = *data, []
    for i in range(UPDATES):
        rows = slice(i * batch, (i + 1) * batch)
        x = torch.tensor(pixels[rows].transpose(0, 3, 1, 2).astype(np.float64) / 255).to(dtype)
        z = forward(recipe, p, x)
        if recipe == "cats-vs-dogs":
            loss = F.binary_cross_entropy_with_logits(z[:, 0], torch.tensor(labels[rows], dtype=dtype))
        else:
            loss = F.cross_entropy(z, torch.tensor(labels[rows], dtype=torch.long))
        opt.zero_grad()
        loss.backward()
        opt.step()
        result.append(loss.item())
    return result


def main():
    dump, root, only = sys.argv[1], sys.argv[2], sys.argv[3:] or list(RUNS)
    path = os.path.join(HERE, "golden.json")
    golden = json.load(open(path)) if os.path.exists(path) else {}
    for run in only:
        recipe, optimizer, batch, seed = RUNS[run]
        data = images(dump, root, recipe, batch * UPDATES)
        golden[run] = {
            "recipe": recipe, "optimizer": optimizer, "batch": batch, "seed": seed, "torch": torch.__version__,
            "float32": losses(recipe, optimizer, batch, seed, data, torch.float32),
            "float64": losses(recipe, optimizer, batch, seed, data, torch.float64)
        }
        print(run, golden[run]["float32"][:3], "...", golden[run]["float32"][-1], flush=True)
    json.dump(golden, open(path, "w"), indent=1)


if __name__ == "__main__":
    main()
