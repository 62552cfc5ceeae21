#!/usr/bin/env python3
"""Draws runs of several arms in pairs by seed: what another setting does to the same seed's run.

  plot_pairs.py ROWS.csv --arms COLUMN [--panels COLUMN] [--metric COLUMN] --out NAME

Each value of COLUMN is an arm, in the order of the file; a line joins the runs of a seed. Below stand the differences
to the first arm, seed by seed, their mean and its 95 % interval (Student's t over the seeds). Rows are those of
results.csv of `gradus sweep`; only runs that are done count. Writes NAME.svg and NAME.png.
"""

import argparse
import math
import pathlib
import statistics
import sys

from plot_sweep import FAINT, FEWEST, INK, plt, read_csv, set_style, ticker  # finds a Python with matplotlib
from compare_sweeps import COLOURS, half_width


def scale(metric):
    """Fractions are told in %."""
    return 100 if metric.endswith("_accuracy") else 1


def is_number(text):
    return text.replace(".", "").isdigit()


def unit(metric):
    return f"{metric.replace('_', ' ')}{' in %' if scale(metric) == 100 else ''}"


def read_panels(path, arms, panels, metric):
    """{panel: {arm: {seed: value}}}"""
    found = {}
    for row in read_csv(path):
        for column in (arms, panels, "seed", metric, "state"):
            if column not in row:
                sys.exit(f"plot_pairs.py: {path} has no column '{column}'; it has {', '.join(row)}")
        if row["state"] == "done":
            arm = found.setdefault(row[panels], {}).setdefault(row[arms], {})
            value = scale(metric) * float(row[metric])
            if arm.setdefault(int(row["seed"]), value) != value:
                sys.exit(f"plot_pairs.py: {row[panels]}, {row[arms]} has two runs of seed {row['seed']}; each arm "
                         "needs a value of its own")
    if not found or any(len(runs) < 2 for runs in found.values()):
        sys.exit(f"plot_pairs.py: {path} has no two arms by {arms} with runs that are done")
    return found


def differences(runs, arm):
    """To the first arm, of each seed that both have."""
    first = next(iter(runs.values()))
    return [value - first[seed] for seed, value in runs[arm].items() if seed in first]


def set_axes(ax, count):
    ax.set_xlim(-0.5, count - 0.5)
    ax.xaxis.set_major_locator(ticker.FixedLocator(range(count)))
    ax.yaxis.set_major_locator(ticker.MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    ax.grid(axis="y", color="#e4e4e4", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def draw_mean(ax, at, values, colour):
    if not values:
        return
    half = half_width(values) if len(values) >= FEWEST else 0
    ax.errorbar(at, statistics.mean(values), yerr=half, color=colour, marker="o", markersize=7,
                elinewidth=1.6, capsize=4, zorder=3)


def set_height(ax, values, low=-math.inf, high=math.inf):
    """Half the runs' spread beyond them: from three runs an interval can be many times as wide. Returns whether an
    interval was cut."""
    spread = max(values) - min(values)
    bottom, top = ax.get_ylim()
    ax.set_ylim(max(bottom, min(values) - 0.5 * spread, low), min(top, max(values) + 0.5 * spread, high))
    return ax.get_ylim() != (bottom, top)


def draw_runs(ax, runs, metric):
    """Returns whether an interval is cut."""
    set_axes(ax, len(runs))
    seeds = sorted(set().union(*runs.values()))
    for seed in seeds:
        at = [(i, arm[seed]) for i, arm in enumerate(runs.values()) if seed in arm]
        ax.plot(*zip(*at), color=FAINT, linewidth=1, marker=".", markersize=6, zorder=2)
    for i, arm in enumerate(runs.values()):
        draw_mean(ax, i + 0.12, list(arm.values()), COLOURS[i % len(COLOURS)])
    ax.tick_params(labelbottom=False)
    ends = (0, 100) if scale(metric) == 100 else ()
    return set_height(ax, [value for arm in runs.values() for value in arm.values()], *ends)


def draw_differences(ax, runs):
    """Returns whether an interval is cut."""
    set_axes(ax, len(runs))
    ax.axhline(0, color=FAINT, linewidth=1, zorder=1)
    for i, arm in enumerate(runs):
        each = differences(runs, arm) if i else []
        ax.plot([i] * len(each), each, color=FAINT, marker=".", markersize=6, linestyle="none", zorder=2)
        draw_mean(ax, i + 0.12, each, COLOURS[i % len(COLOURS)])
    ax.xaxis.set_major_formatter(ticker.FixedFormatter(list(runs)))
    return set_height(ax, [0] + [value for arm in list(runs)[1:] for value in differences(runs, arm)])


def draw(panels, arguments, title):
    arms, metric = arguments.arms, arguments.metric
    set_style()
    wide = 1.2 + max(2.9, 1.35 * max(map(len, panels.values()))) * len(panels)
    figure, axes = plt.subplots(2, len(panels), figsize=(max(wide, 6.4), 6), sharex="col", squeeze=False,
                                height_ratios=(3, 2), layout="constrained")
    cut = False
    for column, (panel, runs) in enumerate(panels.items()):
        cut |= draw_runs(axes[0, column], runs, metric)
        cut |= draw_differences(axes[1, column], runs)
        name = f"{arguments.panels.replace('_', ' ')} {panel}" if is_number(panel) else panel
        axes[0, column].set_title(name, loc="left", fontsize=11, color=INK)
    axes[0, 0].set_ylabel(unit(metric))
    first = next(iter(next(iter(panels.values()))))
    axes[1, 0].set_ylabel(f"{'points ' if scale(metric) == 100 else ''}above '{first}'")
    if is_number(first):
        figure.supxlabel({"lr": "learning rate"}.get(arms, arms.replace("_", " ")), fontsize=10)
    seeds = {len(arm) for runs in panels.values() for arm in runs.values()}
    count = f"{min(seeds)} to {max(seeds)}" if len(seeds) > 1 else f"{max(seeds)}"
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.91))
    figure.text(0.01, 0.96, title, fontsize=14, fontweight="bold")
    intervals = " and 95 % intervals" if max(seeds) >= FEWEST else ""
    note = f"{count} seeds. Grey: a seed's runs; large dots: means{intervals} over the seeds."
    note += " Intervals that reach the frame go on beyond it." if cut else ""
    figure.text(0.01, 0.925, note, fontsize=9.5)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=pathlib.Path, help="results.csv of sweeps")
    parser.add_argument("--arms", required=True, help="the column that tells the arms apart")
    parser.add_argument("--panels", default="recipe", help="the column with a value for each panel (default: recipe)")
    parser.add_argument("--metric", default="test_accuracy", help="a column of numbers (default: test_accuracy)")
    parser.add_argument("--title", help="default: the metric, in pairs by seed")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="NAME of NAME.svg and NAME.png")
    arguments = parser.parse_args()
    try:
        panels = read_panels(arguments.rows, arguments.arms, arguments.panels, arguments.metric)
    except (OSError, ValueError) as error:
        sys.exit(f"plot_pairs.py: {error}")
    title = arguments.title or f"{arguments.metric.replace('_', ' ').capitalize()}, in pairs by seed"
    figure = draw(panels, arguments, title)
    figure.savefig(arguments.out.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(arguments.out.with_suffix(".png"), dpi=150)


if __name__ == "__main__":
    main()
