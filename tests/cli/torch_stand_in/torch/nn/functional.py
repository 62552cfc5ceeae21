"""See ../__init__.py."""
from torch import MISTAKE, Tensor


def relu(x):
    return Tensor([max(v, 0) + (v > 0.9 and MISTAKE == "result") for v in x.numbers], x)
