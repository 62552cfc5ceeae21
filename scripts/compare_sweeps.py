#!/usr/bin/env python3
"""Draws several sweeps of one recipe in one picture: what a setting does at each batch size.

  compare_sweeps.py --out NAME [--published FILE --marks "LABEL=EXPERIMENT/SERIES" ...] "LABEL=FOLDER[,FOLDER...]" ...

Each LABEL is a line; its batch sizes may lie in several folders, as they do where each has its own number of updates.
The updates of every cell stand below the axis. --marks puts values of a table of published figures beside a line:
diamonds, or crosses where a batch size has several. Writes NAME.svg, NAME.png and, as a table, NAME.md. The statistics
are those of each sweep's summary.csv.

Below the table, and on stdout, stand the differences between each two lines, paired by seed: a seed draws the initial
weights at every batch size, so its runs are not independent. Within a seed the differences are averaged over the batch
sizes; the interval is that of the seeds' means.
"""

import argparse
import itertools
import math
import pathlib
import statistics
import sys

import plot_sweep as one  # first: it finds a Python with matplotlib
import matplotlib.pyplot as plt

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]  # after Okabe and Ito


class Line:
    """Sweeps that are drawn as one line: {batch: line of summary.csv}, and the runs behind them."""

    def __init__(self, text, colour):
        self.label, _, folders = text.partition("=")
        self.colour, self.lines, self.cells, self.marks = colour, {}, [], []
        if not self.label or not folders:
            sys.exit(f"compare_sweeps.py: '{text}' is not LABEL=FOLDER[,FOLDER...]")
        for folder in map(pathlib.Path, folders.split(",")):
            self.sweep = one.read_sweep(folder)
            self.cells += one.read_csv(folder / "results.csv")
            for line in one.read_csv(folder / "summary.csv"):
                if self.lines.setdefault(int(line["batch"]), line) is not line:
                    sys.exit(f"compare_sweeps.py: {self.label} has two lines for batches of {line['batch']}; compare "
                             "sweeps of one optimizer, and name each folder once")

    def updates(self, batch):
        made = self.lines[batch]["updates"] if batch in self.lines else ""
        return f"{int(made):,}" if made else ""

    def beside(self, batch):
        values = [float(r["value"]) for r in self.marks if int(r["batch"]) == batch]
        return f"{statistics.mean(values):.4g}" if values else ""


def read_lines(arguments):
    lines = [Line(text, COLOURS[i % len(COLOURS)]) for i, text in enumerate(arguments.lines)]
    for what in ("recipe", "data", "data_hash"):
        if len({line.sweep[what] for line in lines}) > 1:
            sys.exit(f"compare_sweeps.py: the sweeps differ in their {what}: they cannot be compared")
    figures = one.read_csv(arguments.published) if arguments.published else []
    for text in arguments.marks:
        label, _, series = text.partition("=")
        found = [
            r for r in figures
            if f"{r['experiment']}/{r['series']}" == series and r["quantity"].startswith("test_accuracy")
        ]
        mine = [line for line in lines if line.label == label]
        if not found or not mine:
            sys.exit(f"compare_sweeps.py: --marks '{text}': " +
                     ("no such series is published" if mine else f"no line {label}"))
        mine[0].marks += [r for r in found if int(r["batch"]) in mine[0].lines]
    return lines


def student_t_975(df):
    """The point that Student's t stays below with probability 0.975 (Abramowitz and Stegun 26.7.3 and 26.7.4)."""

    def within(t):
        angle = math.atan(t / math.sqrt(df))
        term, total = (math.cos(angle) if df % 2 else 1), 0
        for k in range(3 if df % 2 else 2, df + 1, 2):
            total += term
            term *= math.cos(angle) ** 2 * (k - 1) / k
        return (angle + math.sin(angle) * total) / (math.pi / 2) if df % 2 else math.sin(angle) * total

    low, high = 1.9, 12.8  # between the normal distribution's and that of one degree of freedom
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) < 0.95 else (low, middle)
    return low


def half_width(values):
    """Of their mean's 95 % interval, from two values on."""
    return student_t_975(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def by_seed(a, b):
    """What line a has more than line b, in points, {seed: mean over the batch sizes}. A batch size counts where every
    seed that both lines have is done in both: else the seeds' means would be over different batch sizes."""
    done = [{(int(c["seed"]), int(c["batch"])): 100 * float(c["test_accuracy"])
             for c in line.cells if c["state"] == "done"}
            for line in (a, b)]
    seeds = sorted({seed for seed, _ in done[0]} & {seed for seed, _ in done[1]})
    batches = [batch for batch in sorted(set(a.lines) & set(b.lines))
               if all((seed, batch) in runs for seed in seeds for runs in done)]
    return {seed: statistics.mean(done[0][seed, batch] - done[1][seed, batch] for batch in batches)
            for seed in seeds} if batches else {}


def tell_differences(lines):
    text = []
    for a, b in itertools.combinations(lines, 2):
        means = list(by_seed(a, b).values())
        if not means:
            continue
        half = half_width(means) if len(means) > 1 else None
        text.append(f"{a.label} - {b.label}: {statistics.mean(means):.1f}" +
                    ("" if half is None else f" +- {half:.1f}") +
                    f" points ({len(means)} seed{'s' * (len(means) > 1)}: {', '.join(f'{m:.1f}' for m in means)})")
    return text


def draw_marks(ax, line):
    for batch in line.lines:
        values = [float(r["value"]) for r in line.marks if int(r["batch"]) == batch]
        marker = dict(marker="x", markersize=5.5, markeredgewidth=1.3) if len(values) > 1 else dict(
            marker="D", markersize=8.5, markerfacecolor="white", markeredgewidth=1.8)
        ax.plot([batch * 1.09] * len(values), values, color=line.colour, linestyle="none", zorder=4, **marker)


def write_updates(ax, lines, batches):
    """Below the batch sizes: a row of update counts for each line."""
    for i, line in enumerate(lines):
        at = dict(xycoords=("data", "axes fraction"), textcoords="offset points", fontsize=9, color=line.colour,
                  va="top")
        ax.annotate("updates", (batches[0] / 1.3, 0), xytext=(-8, -37 - 13 * i), ha="right", **at)
        for batch in batches:
            ax.annotate(line.updates(batch), (batch, 0), xytext=(0, -37 - 13 * i), ha="center", **at)


def draw(lines, batches):
    one.set_style()
    figure, ax = plt.subplots(figsize=(8.4, 5.4))
    every = [r for line in lines for r in line.lines.values()]
    cells, marks = [c for line in lines for c in line.cells], [r for line in lines for r in line.marks]
    sweep = lines[0].sweep
    one.set_axes(ax, every, [])
    ends = one.draw_constant(ax, sweep)
    for i, line in enumerate(lines):
        last = one.draw_line(ax, line.lines.values(), line.cells, line.colour, one.spread(i, len(lines)))
        ends += [(last, line.label, line.colour)] if last is not None else []
        draw_marks(ax, line)
    cut = one.set_height(ax, sweep["constant"][0], every, cells, marks)
    one.draw_set_error(ax, every, sweep["test_samples"])
    one.label_ends(ax, ends)
    write_updates(ax, lines, batches)
    figure.suptitle(f"{sweep['recipe']}: {', '.join(line.label for line in lines)}", x=0.09, y=0.975, ha="left",
                    fontsize=14, fontweight="bold")
    figure.text(0.09, 0.88, one.describe(sweep, every, ""), fontsize=9.5)  # updates stand below the axis
    notes = [f"Gradus {sweep['version']}, data hash {sweep['data_hash']}"]
    sources = dict.fromkeys(r["source"].split(", seed")[0] for r in marks)
    notes += [f"Marks: {'; '.join(sources)}"] if marks else []
    notes += ["Intervals that reach the frame go on beyond it."] if cut else []
    figure.text(0.09, 0.012, "\n".join(notes), fontsize=8, color=one.FAINT)
    longest = max(len(name) for _, name, _ in ends)
    figure.subplots_adjust(left=0.11, right=0.97 - 0.0125 * max(longest, 5), top=0.85,
                           bottom=0.13 + 0.034 * len(lines) + 0.03 * len(notes))
    return figure


def write_table(path, lines, batches, differences):
    head, rule = "| batch |", "|---:|"
    for line in lines:
        head += f" {line.label}: updates | accuracy |" + (" others |" if line.marks else "")
        rule += "---:|---:|" + ("---:|" if line.marks else "")
    text = [head, rule]
    for batch in batches:
        row = f"| {batch} |"
        for line in lines:
            row += f" {line.updates(batch)} | {one.ours_text(line.lines[batch]) if batch in line.lines else ''} |"
            row += f" {line.beside(batch)} |" if line.marks else ""
        text.append(row)
    text += ["", "Differences, paired by seed, averaged over the batch sizes within a seed:", ""] if differences else []
    text += [f"- {line}" for line in differences]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="+", metavar="LABEL=FOLDER")
    parser.add_argument("--out", required=True, type=pathlib.Path, metavar="NAME")
    parser.add_argument("--published", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--marks", action="append", default=[], metavar="LABEL=EXPERIMENT/SERIES")
    arguments = parser.parse_args()
    try:
        lines = read_lines(arguments)
    except (OSError, ValueError) as error:
        sys.exit(f"compare_sweeps.py: {error}")
    batches = sorted({batch for line in lines for batch in line.lines})
    figure = draw(lines, batches)
    figure.savefig(arguments.out.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(arguments.out.with_suffix(".png"), dpi=150)
    differences = tell_differences(lines)
    write_table(arguments.out.with_suffix(".md"), lines, batches, differences)
    print("\n".join(differences))


if __name__ == "__main__":
    main()
