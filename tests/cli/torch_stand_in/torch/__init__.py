"""Stands in for PyTorch where there is none: as much as scripts/bench_torch.py needs for a ReLU, in plain Python.

$STAND_IN has it make a mistake: in the "result", in the "gradient".
"""
import math
import os

__version__ = "stand-in"
float32, int32 = "f", "i"
MISTAKE = os.environ.get("STAND_IN", "")


class Size(tuple):
    def numel(self):
        return math.prod(self)


class Tensor:
    def __init__(self, numbers, relu_of=None):
        self.numbers, self.relu_of = numbers, relu_of

    def numel(self):
        return len(self.numbers)

    def reshape(self, *_):
        return self

    def requires_grad_(self, _):
        return self

    def detach(self):
        return self

    def copy_(self, other):
        for i, number in enumerate(other.numbers):
            self.numbers[i] = number


def frombuffer(numbers, dtype):
    return Tensor(memoryview(numbers).cast(dtype))


def set_num_threads(threads):
    assert threads > 0


class autograd:
    @staticmethod
    def grad(y, wanted, dy):
        off = 0.5 if MISTAKE == "gradient" else 0
        assert wanted == [y.relu_of]
        return [Tensor([d * (v > 0) + off for d, v in zip(dy.numbers, y.relu_of.numbers)])]
