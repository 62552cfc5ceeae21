#!/usr/bin/env python3
"""Makes golden/: a small network's weights as PyTorch and as Keras write them, and the logits of each.

Needs PyTorch, Keras (KERAS_BACKEND=torch) and safetensors. tests/test_exchange.c reads the files.
"""
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import safetensors.numpy  # noqa: E402
import torch  # noqa: E402

import networks  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HEIGHT, WIDTH, PICTURES = 6, 8, 3


def main():
    folder = HERE / "golden"
    folder.mkdir(exist_ok=True)
    x = networks.pictures(PICTURES, HEIGHT, WIDTH)
    torch.manual_seed(3)
    net = networks.stir(networks.torch_normalised(torch, HEIGHT, WIDTH), torch)
    safetensors.numpy.save_file({k: v.numpy() for k, v in net.state_dict().items()}, folder / "torch.safetensors")
    of_torch = networks.torch_answers(net, torch, x)
    keras.utils.set_random_seed(3)
    net = networks.keras_normalised(keras, HEIGHT, WIDTH)
    generator = np.random.default_rng(5)
    for w in net.weights:
        w.assign(w.numpy() + (0.5 * generator.random(w.shape).astype(np.float32) if len(w.shape) == 1 else 0))
    safetensors.numpy.save_file({w.path: w.numpy() for w in net.weights}, folder / "keras.safetensors")
    safetensors.numpy.save_file({"pictures": x, "torch": of_torch, "keras": net.predict(x, verbose=0)},
                                folder / "answers.safetensors")


if __name__ == "__main__":
    main()
