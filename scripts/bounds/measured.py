"""Times of our own kernels that were measured on a GPU (measured_h200.csv), beside what is told of them.

A row is a kernel of a training step: its name, grid and block, which of the launches that share these it is, how many
of the step's launches are like it, and the median of their times. Rows are of kernels that the sources still launch;
those that they launch no longer are counted and left out.
"""

import csv
import dataclasses
import itertools

from . import launches


@dataclasses.dataclass(frozen=True)
class Row:
    recipe: str
    optimizer: str  # empty: the recipe's
    batch: int
    precision: str
    kernel: str
    grid: tuple
    block: tuple
    place: int  # among the step's launches of this kernel, grid and block, from 0 on
    launches: int
    microseconds: float

    @property
    def step(self):
        return self.recipe, self.optimizer, self.batch, self.precision


FIELDS = [field.name for field in dataclasses.fields(Row)]


def shape(text):
    return tuple(int(extent) for extent in text.split("x"))


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [Row(row["recipe"], row["optimizer"], int(row["batch"]), row["precision"], row["kernel"],
                    shape(row["grid"]), shape(row["block"]), int(row["place"]), int(row["launches"]),
                    float(row["microseconds"])) for row in csv.DictReader(file)]


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(FIELDS)
        for row in rows:
            out.writerow(["x".join(map(str, value)) if isinstance(value, tuple) else value
                          for value in dataclasses.astuple(row)])


def places(update):
    """{(name, grid, block, place): launch} of an update's launches."""
    found, counts = {}, {}
    for launch in update:
        like = launch.name, launch.grid, launch.block
        counts[like] = counts.get(like, -1) + 1
        found[*like, counts[like]] = launch
    return found


def tell(path, program, teller):
    """(row, what is told of it as a step's line, or None where the sources launch it no longer) of each row."""
    for (recipe, optimizer, batch, precision), rows in itertools.groupby(read(path), lambda row: row.step):
        chip = teller.chip
        launched = places(launches.of_update(program, recipe, batch, chip["multiprocessors"], chip["architecture"],
                                             precision if precision != "fp32" else None, optimizer or None))
        rows = list(rows)
        found = [launched.get((row.kernel, row.grid, row.block, row.place)) for row in rows]
        code = teller.code.kernels([launch for launch in found if launch])
        for row, launch in zip(rows, found):
            yield row, launch and teller.line(code[launch.kernel], launch, row.launches)
