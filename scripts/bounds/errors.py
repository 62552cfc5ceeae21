"""How far off what is told may be, by what binds a kernel: from published times, in errors.csv.

`scripts/validate_bounds.py --errors FILE` writes the table. Of a class that few rows are in, all rows speak.
"""

import csv
import dataclasses
import math
import pathlib
import statistics

TABLE = pathlib.Path(__file__).with_name("errors.csv")
MOST_ERROR = 0.3  # median of a class above which what is told cannot be relied on
LEAST_ROWS = 5    # that a class speaks for itself from
SHORT = 10        # microseconds; below, how a launch begins and ends weighs most
SHARE = 0.8       # of a class's rows that an interval holds
ALL = "all"


@dataclasses.dataclass(frozen=True)
class Error:
    """Of so many rows, the median of |log(told / published)| and how large it is in SHARE of them at most."""

    rows: int
    median: float
    most: float

    @property
    def told(self):
        return self.median <= MOST_ERROR

    def interval(self, told, floor):
        return max(told / math.exp(self.most), min(floor, told)), told * math.exp(self.most)


def class_of(binding, microseconds):
    return f"below {SHORT} us" if microseconds < SHORT else binding


def error_of(logs):
    logs = sorted(map(abs, logs))
    return Error(len(logs), statistics.median(logs), logs[math.ceil(SHARE * len(logs)) - 1])


def classes(told):
    """{class: Error} of (binding, told, published), times in microseconds."""
    logs = {}
    for binding, mine, published in told:
        for name in (class_of(binding, mine), ALL):
            logs.setdefault(name, []).append(math.log(mine / published))
    return {name: error_of(logs[name]) for name in sorted(logs)}


def write(path, table):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("class", "rows", "median", "most"))
        out.writerows((name, error.rows, f"{error.median:.3f}", f"{error.most:.3f}") for name, error in table.items())


def read(path=TABLE):
    with open(path, encoding="utf-8", newline="") as file:
        return {row["class"]: Error(int(row["rows"]), float(row["median"]), float(row["most"]))
                for row in csv.DictReader(file)}


def of(table, binding, microseconds):
    """The error of the class that a kernel is in, and whether the class speaks for itself."""
    found = table.get(class_of(binding, microseconds))
    own = found is not None and found.rows >= LEAST_ROWS
    return (found if own else table[ALL]), own
