"""A training step told: equal launches once, how many of each there are, and what they add up to."""

import collections
import dataclasses
import hashlib

from . import chips, errors, kernels, maps, ours, tell
from .rows import Late, Unclear

DATA = 0  # what loads find: no update is skipped, every label is the first class


@dataclasses.dataclass
class Line:
    """Equal launches: how many, and of each one the floor, the time that is told and its interval, in microseconds;
    own_class: whether the interval is that of such kernels, else of all that were held against published times. A
    reason says why nothing is told, or why it cannot be relied on."""

    kernel: str
    base: str
    grid: tuple
    block: tuple
    count: int
    floor: float = 0
    told: float = 0
    low: float = 0
    high: float = 0
    binding: str = ""
    reason: str = ""
    own_class: bool = False


@dataclasses.dataclass
class Step:
    """All lines, the longest first, and their sums in microseconds; untold: launches of which no time is told."""

    lines: list
    launches: int
    floor: float
    told: float
    low: float
    high: float
    untold: int


class Teller:
    """Tells launches of our kernels on one GPU; keeps what it compiled and told in two stores. numbers: of a chip, as
    chips has it."""

    def __init__(self, gpu, program, compiled, answers, sources, numbers=chips.numbers):
        self.entry = chips.find(gpu)
        self.chip = numbers(self.entry)
        self.architecture, _ = kernels.code_architecture(f"{self.chip['architecture'] / 10:.1f}")
        self.code = ours.Code(self.architecture, compiled, sources)
        self.program, self.answers = program, answers
        self.machine = hashlib.sha256(program.read_bytes()).hexdigest()
        self.table = errors.read()

    def answer(self, kernel, launch):
        """What the machine says of a launch: a dictionary of its answer, or of a reason."""
        try:
            parameters, tensor_maps = maps.laid_out(kernel, launch.parameters)
        except Unclear as unclear:
            return {"reason": str(unclear)}
        text = tell.describe(kernel, self.chip, launch.grid, launch.block, parameters, kernel.shared + launch.shared,
                             DATA, tensor_maps)
        known = self.answers.find(self.machine + text)
        if known is None:
            try:
                known = tell.ask(self.program, text)
            except Late as late:
                return {"reason": str(late)}
            except Unclear as unclear:
                known = {"reason": str(unclear)}
            self.answers.keep(self.machine + text, known)
        return known

    def line(self, kernel, launch, count):
        line = Line(launch.kernel, launch.base, launch.grid, launch.block, count)
        answer = self.answer(kernel, launch)
        if "reason" in answer:
            line.reason = answer["reason"]
            return line
        line.floor, line.told, line.binding = answer["floor"], answer["microseconds"], answer["binding"]
        error, line.own_class = errors.of(self.table, line.binding, line.told)
        if error.told:
            line.low, line.high = error.interval(line.told, line.floor)
        else:
            line.reason = f"the error of such kernels is above {100 * errors.MOST_ERROR:.0f} %"
        return line

    def step(self, launches):
        counts = collections.Counter(launches)
        code = self.code.kernels(counts)
        return add_up([self.line(code[launch.kernel], launch, count) for launch, count in counts.items()])


def add_up(lines):
    """The step of these lines. What is not told adds its floor alone, to the sum of floors."""
    told = [line for line in lines if not line.reason]
    def total(name, of):
        return sum(line.count * getattr(line, name) for line in of)
    return Step(sorted(lines, key=lambda line: -line.count * max(line.told, line.floor)),
                sum(line.count for line in lines), total("floor", lines), total("told", told), total("low", told),
                total("high", told), sum(line.count for line in lines if line.reason))
