#!/usr/bin/env python3
"""Makes tests/trajectory/*.json: the first 60 training losses of PyTorch, in float32 and in float64.

    make_trajectories.py --build BUILD --data ROOT [NAME...]

Needs PyTorch, numpy and safetensors, the programs dump_images, draw_weights and gradus in BUILD, and real images in
ROOT. Initial weights are drawn here, by the formula of draw_weights.c, and compared with that program's; pixels come from
dump_images. So both sides start from the same numbers and only losses are stored.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "scripts"))
from make_goldens import check_philox, philox  # noqa: E402

SEED, UPDATES = 20, 60
RUNS = {
    "cats-vs-dogs-sgd": ("cats-vs-dogs", "sgd", 0.01, 16),
    "cats-vs-dogs-adam": ("cats-vs-dogs", "adam", 0.001, 16),
    "cifar10-cnn-adam": ("cifar10-cnn", "adam", 0.001, 32),
}
FOLDERS = {"cats-vs-dogs": "PetImages", "cifar10-cnn": "cifar-10-batches-bin"}


def cats_vs_dogs():
    return torch.nn.ModuleDict({"conv1": torch.nn.Conv2d(3, 32, 3, padding=1), "dense1": torch.nn.Linear(320000, 128),
                                "dense2": torch.nn.Linear(128, 1)})


def cats_vs_dogs_loss(net, x, y):
    h = torch.max_pool2d(torch.relu(net["conv1"](x)), 2).flatten(1)
    z = net["dense2"](torch.relu(net["dense1"](h)))
    return torch.nn.functional.binary_cross_entropy_with_logits(z[:, 0], y.to(z.dtype))


def cifar10_cnn():
    return torch.nn.ModuleDict({"conv1": torch.nn.Conv2d(3, 32, 3), "conv2": torch.nn.Conv2d(32, 64, 3),
                                "conv3": torch.nn.Conv2d(64, 64, 3), "dense1": torch.nn.Linear(1024, 64),
                                "dense2": torch.nn.Linear(64, 10)})


def cifar10_cnn_loss(net, x, y):
    h = torch.max_pool2d(torch.relu(net["conv1"](x)), 2)
    h = torch.max_pool2d(torch.relu(net["conv2"](h)), 2)
    h = torch.relu(net["conv3"](h)).flatten(1)
    return torch.nn.functional.cross_entropy(net["dense2"](torch.relu(net["dense1"](h))), y)


NETS = {"cats-vs-dogs": (cats_vs_dogs, cats_vs_dogs_loss), "cifar10-cnn": (cifar10_cnn, cifar10_cnn_loss)}


def draw(index, shape, fan_in):
    """Element e of parameter index: (2 u - 1) / sqrt(fan_in) in float arithmetic."""
    count = int(np.prod(shape))
    values = np.empty(count, np.float32)
    for begin in range(0, count, 1 << 20):
        end = min(begin + (1 << 20), count)
        blocks = np.arange(begin // 4, (end + 3) // 4, dtype=np.uint32)
        counter = np.zeros((len(blocks), 4), np.uint32)
        counter[:, 0], counter[:, 2] = blocks, index
        bits = philox(counter, [SEED, 0]).reshape(-1)[:end - begin]
        values[begin:end] = (bits >> 8).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
    return (values * np.float32(1 / np.sqrt(np.float64(fan_in)))).reshape(shape)


def initial_weights(net):
    weights, fan_in = {}, 0
    for index, (name, p) in enumerate(net.named_parameters()):
        fan_in = p[0].numel() if name.endswith("weight") else fan_in
        weights[name] = draw(index, tuple(p.shape), fan_in)
    return weights


def check_weights(build, model, weights, folder):
    path = folder / "weights.safetensors"
    subprocess.run([build / "tests/trajectory/draw_weights", model, path], check=True)
    drawn = load_file(path)
    if drawn.keys() != weights.keys() or any(not np.array_equal(drawn[n], weights[n]) for n in weights):
        sys.exit(f"make_trajectories.py: draw_weights does not draw the weights of {model} as this script does")
    path.unlink()


def losses(model, optimizer, lr, batch, weights, images, labels, dtype):
    make, loss_of = NETS[model]
    net = make().to(dtype)
    for name, p in net.named_parameters():
        p.data.copy_(torch.from_numpy(weights[name]).to(dtype))
    make_optimizer = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer]
    opt = make_optimizer(net.parameters(), lr=lr)
    out = []
    for update in range(UPDATES):
        rows = slice(update * batch, (update + 1) * batch)
        x = torch.from_numpy(images[rows]).to(dtype).permute(0, 3, 1, 2) / 255
        loss = loss_of(net, x, torch.from_numpy(labels[rows]).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    return out


def data_hash(build, model, data):
    command = [build / "gradus", "train", model, "--data", data, "--updates", "1", "--batch", "2", "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])["data_hash"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="*", default=list(RUNS))
    options = parser.parse_args()
    check_philox()
    for name in options.names:
        model, optimizer, lr, batch = RUNS[name]
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            weights = initial_weights(NETS[model][0]())
            check_weights(options.build, model, weights, folder)
            file = folder / "images.safetensors"
            subprocess.run([options.build / "tests/trajectory/dump_images", model, options.data / FOLDERS[model],
                            str(batch * UPDATES), file], check=True)
            images = load_file(file)
        single, double = (losses(model, optimizer, lr, batch, weights, images["images"], images["labels"], dtype)
                          for dtype in (torch.float32, torch.float64))
        result = {"recipe": model, "optimizer": optimizer, "lr": lr, "batch": batch, "updates": UPDATES,
                  "data_hash": data_hash(options.build, model, options.data), "torch": torch.__version__,
                  "float32": single, "float64": double}
        (HERE / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        worst = max(abs(a - b) / abs(b) for a, b in zip(single, double))
        print(f"{name}: loss {single[0]:.4f} -> {single[-1]:.4f}; float32 is at most {worst:.1e} from float64")


if __name__ == "__main__":
    main()
