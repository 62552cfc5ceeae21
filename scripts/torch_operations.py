"""What PyTorch computes for an operation of kernels/ops/ops.def, on tensors in the library's layouts.

Images are NHWC, filters KRSC, dense weights [in, out]; row: the words of a row. For make_goldens.py and bench_torch.py.
"""
import re

import torch
import torch.nn.functional as F


class Words:
    """A row's words, "x[5,6,6,3] stride[2,2] relu": numbers by the word before them."""

    def __init__(self, words):
        self.words = {}
        for word in words:
            match = re.fullmatch(r"(\w+)(?:\[([^\]]*)\])?", word)
            self.words[match[1]] = [float(n) for n in match[2].split(",")] if match[2] else []

    def has(self, word):
        return word in self.words

    def number(self, word, default):
        return self.words[word][0] if self.has(word) else default

    def pair(self, word, default):
        return [int(n) for n in self.words[word]] if self.has(word) else default


def padding(row, size, window, stride, prefix=""):
    """(left, right, top, bottom) as F.pad takes it; "same" as TensorFlow defines it."""
    if row.has(prefix + "pad"):
        top, bottom, left, right = (int(n) for n in row.words[prefix + "pad"])
        return left, right, top, bottom
    if not row.has(prefix + "same"):
        return 0, 0, 0, 0
    before_after = []
    for axis in (1, 0):
        total = max((-(-size[axis] // stride[axis]) - 1) * stride[axis] + window[axis] - size[axis], 0)
        before_after += [total // 2, total - total // 2]
    return tuple(before_after)


def conv2d(row, x, w, b):
    """x NHWC, w KRSC -> NHWC."""
    x, w = x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2)
    stride = row.pair("stride", [1, 1])
    x = F.pad(x, padding(row, x.shape[2:], w.shape[2:], stride))
    return F.conv2d(x, w, b, stride=stride).permute(0, 2, 3, 1)


def max_pool2d(row, x, size, prefix=""):
    x = x.permute(0, 3, 1, 2)
    stride = row.pair(prefix + "stride", size)
    x = F.pad(x, padding(row, x.shape[2:], size, stride, prefix), value=-float("inf"))
    return F.max_pool2d(x, size, stride).permute(0, 2, 3, 1)


def avg_pool2d(row, x):
    """The mean over what lies in the image: sums, by how many there are."""
    size = row.pair("size", None)
    stride, x = row.pair("stride", size), x.permute(0, 3, 1, 2)
    pad = padding(row, x.shape[2:], size, stride)
    sums, seen = (F.avg_pool2d(F.pad(t, pad), size, stride, divisor_override=1) for t in (x, torch.ones_like(x)))
    return (sums / seen).permute(0, 2, 3, 1)


def relu_if(row, y):
    return F.relu(y) if row.has("relu") else y


def weighted(row, losses, weight):
    total = row.number("inv_weight", 1 / losses.shape[0])
    return ((losses if weight is None else losses * weight) * total).sum()


def cross_entropy(row, z, t, weight):
    return weighted(row, F.cross_entropy(z, t, reduction="none", label_smoothing=row.number("smoothing", 0)), weight)


def bce(row, z, t, weight):
    return weighted(row, F.binary_cross_entropy_with_logits(z[:, 0], t.to(z.dtype), reduction="none"), weight)


def batch_norm(row, x, gamma, beta, residual, mean, var, tracked_mean, tracked_var):
    """x NHWC or [N,C]: channels last. PyTorch tracks the statistics of a batch; those that are given by its rule here:
    running = (1 - momentum) running + momentum statistic, the variance unbiased."""
    order = [0, x.dim() - 1, *range(1, x.dim() - 1)]
    back = [0, *range(2, x.dim()), 1]
    momentum = row.number("momentum", 0.1)
    given = mean is not None
    y = F.batch_norm(x.permute(order), mean if given else tracked_mean, var if given else tracked_var, gamma, beta,
                     training=not given, momentum=momentum, eps=row.number("var_epsilon", 1e-5))
    y = y.permute(back)
    if given and tracked_mean is not None:
        values = row.number("values", x.numel() / x.shape[-1])
        tracked_mean.lerp_(mean, momentum)
        tracked_var.lerp_(var * values / (values - 1), momentum)
    return relu_if(row, y if residual is None else y + residual)


DIFF = {
    "conv2d": lambda row, x, w, b: relu_if(row, conv2d(row, x, w, b)),
    "max_pool2d": lambda row, x: max_pool2d(row, x, row.pair("size", None)),
    "conv2d_relu_max_pool": lambda row, x, w, b:
        max_pool2d(row, F.relu(conv2d(row, x, w, b)), row.pair("pool", None), "pool_"),
    "dense": lambda row, x, w, b: relu_if(row, F.linear(x, w.T, b)),
    "batch_norm": batch_norm,
    "flatten": lambda row, x: torch.flatten(x, 1) if x.dim() > 1 else x[:, None],
    "avg_pool2d": avg_pool2d,
    "reshape": lambda row, x: x.reshape([int(n) for n in row.words["to"]]),
    "scale": lambda row, x: row.number("factor", None) * x,
    "l2_penalty": lambda row, w: row.number("factor", None) * (w * w).sum(),
    "add": lambda row, a, b: relu_if(row, a + b),
    "mul": lambda row, a, b: a * b,
    "exp": lambda row, x: x.exp(),
    "log": lambda row, x: x.log(),
    "sum": lambda row, x: x.sum(),
    "mean": lambda row, x: x.mean(),
    "global_avg_pool": lambda row, x: x.mean((1, 2)),
    "softmax_cross_entropy": cross_entropy,
    "sigmoid_bce": bce,
}


def forward(row, op, tensors):
    """Operation op on its tensors, None where one is absent: by this table, or PyTorch's function of the same name."""
    return DIFF[op](row, *tensors) if op in DIFF else getattr(F, op)(*tensors)


def knows(op):
    return op in DIFF or hasattr(F, op)
