#!/usr/bin/env python3
"""Adds to golden.json the first 20 training losses of two processes of PyTorch's DistributedDataParallel (gloo).

  make_ddp.py DUMP_BATCHES DATA_ROOT        (needs PyTorch and NumPy)

Weights, images and networks are make_golden.py's. Each process has its half of every batch, as each rank has its shards
of it; the loss told is the mean of theirs.
"""
import json, os, sys, tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F

from make_golden import HERE, forward, images, weights

RANKS, UPDATES = 2, 20
RUNS = {  # recipe, batch, seed of the weights, rate of plain SGD
    "cifar10-cnn-ddp": ("cifar10-cnn", 32, 8, 0.05),
}


class Network(torch.nn.Module):
    def __init__(self, recipe, seed):
        super().__init__()
        self.recipe = recipe
        self.list = torch.nn.ParameterList(
            torch.tensor(np.ascontiguousarray(w)) for w in weights(recipe, seed))

    def forward(self, x):
        return forward(self.recipe, list(self.list), x)


def losses(rank, run, data):
    recipe, batch, seed, rate = RUNS[run]
    net = torch.nn.parallel.DistributedDataParallel(Network(recipe, seed))
    opt = torch.optim.SGD(net.parameters(), rate)
    pixels, labels = data
    for i in range(UPDATES):
        first = i * batch + rank * batch // RANKS
        rows = slice(first, first + batch // RANKS)
        z = net(torch.tensor(pixels[rows].transpose(0, 3, 1, 2).astype(np.float64) / 255).float())
        loss = F.cross_entropy(z, torch.tensor(labels[rows], dtype=torch.long))
        opt.zero_grad()
        loss.backward()
        opt.step()
        told = loss.detach().double()
        dist.all_reduce(told)
        yield told.item() / RANKS


def process(rank, meeting, run, data, path):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=RANKS)
    result = list(losses(rank, run, data))
    if rank == 0:
        json.dump(result, open(path, "w"))
    dist.destroy_process_group()


def main():
    dump, root = sys.argv[1:]
    path = os.path.join(HERE, "golden.json")
    golden = json.load(open(path))
    for run, (recipe, batch, seed, rate) in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            told = os.path.join(folder, "losses.json")
            data = images(dump, root, recipe, batch * UPDATES)
            torch.multiprocessing.spawn(process, (os.path.join(folder, "meeting"), run, data, told), RANKS)
            golden[run] = {"recipe": recipe, "optimizer": "sgd", "batch": batch, "seed": seed, "lr": rate,
                           "ranks": RANKS, "torch": torch.__version__, "float32": json.load(open(told))}
        print(run, golden[run]["float32"][:3], "...", golden[run]["float32"][-1], flush=True)
    json.dump(golden, open(path, "w"), indent=1)


if __name__ == "__main__":
    main()
