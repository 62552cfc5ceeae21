#!/usr/bin/env python3
"""Makes golden.json: what torchvision's ResNet-18 gives in float64, in both forms. Needs PyTorch and torchvision.

Parameters and images are drawn as test_resnet.c draws them, by Philox4x32-10 keyed by the FNV-1a hash of their name, in
the order they have on disk, so only results are kept: the losses of five updates by SGD, two numbers for the first
gradient of each parameter, and logits and running statistics afterwards. In single precision a ReLU now and then opens
where in double it does not, which moves a gradient by some 1e-4: the frames are a draw in which that does not happen.
"""
import json
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
import torchvision

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "scripts"))
from make_goldens import fnv1a, philox  # noqa: E402

FORMS = {"resnet18": (48, 2), "resnet18_cifar": (12, 3)}  # side of the images, batch size
UPDATES, LR, CLASSES = 5, 5e-5, 10  # a larger rate is chaotic: PyTorch's own two precisions part


def draw(name, shape):
    """Uniform in [-1, 1), 24 bits."""
    count, key = int(np.prod(shape)), fnv1a(name)
    counter = np.zeros(((count + 3) // 4, 4), np.uint32)
    counter[:, 0] = np.arange(len(counter))
    bits = philox(counter, [key & 0xFFFFFFFF, key >> 32]).reshape(-1)[:count]
    return torch.from_numpy(((bits >> 8).astype(np.float64) * 2.0**-23 - 1).reshape(shape))


def first_value(name, shape):
    """Filters and fc: uniform with He's width; scales around 1, shifts around 0; as single-precision numbers."""
    u = draw(name, shape)
    if len(shape) > 1:
        u = u * (6 / np.prod(shape[1:])) ** 0.5
    elif "bn" in name and name.endswith("weight") or name.endswith("downsample.1.weight"):
        u = 1 + 0.5 * u
    else:
        u = 0.1 * u
    return u.float().double()


def images(what, side, batch):
    """NHWC in the file's order; labels 0, 7, 4, 1, ..."""
    x = draw(what, (batch, side, side, 3)).permute(0, 3, 1, 2)
    return x, torch.tensor([i * 7 % CLASSES for i in range(batch)])


def model(form):
    net = torchvision.models.resnet18(num_classes=CLASSES).double()
    if form == "resnet18_cifar":
        net.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False).double()
        net.maxpool = torch.nn.Identity()
    with torch.no_grad():
        for name, p in net.named_parameters():
            p.copy_(first_value(name, p.shape))
    return net


def results(form):
    side, batch = FORMS[form]
    net = model(form)
    opt = torch.optim.SGD(net.parameters(), LR)
    gradients, losses = {}, []
    for i in range(UPDATES):
        x, labels = images(f"frames {i}", side, batch)
        loss = F.cross_entropy(net(x), labels)
        opt.zero_grad()
        loss.backward()
        if i == 0:
            gradients = {name: [p.grad.norm().item(), (p.grad * draw("probe " + name, p.shape)).sum().item()]
                         for name, p in net.named_parameters()}
        opt.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        logits = net(images("test frames", side, batch)[0])
    statistics = {name: [b.norm().item()] for name, b in net.named_buffers() if "running" in name}
    return {"side": side, "batch": batch, "losses": losses, "gradients": gradients, "logits": logits.flatten().tolist(),
            "statistics": statistics}


def main():
    golden = {"torch": torch.__version__, "torchvision": torchvision.__version__, "lr": LR,
              "forms": {form: results(form) for form in FORMS}}
    (HERE / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")
    for form, g in golden["forms"].items():
        print(form, g["losses"])


if __name__ == "__main__":
    main()
