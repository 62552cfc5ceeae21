#!/usr/bin/env python3
"""Draws rows of `gradus bench --json`: time against batch size, and a roofline.

    gradus bench conv2d dense --json > rows.jsonl
    plot_bench.py rows.jsonl [MORE.jsonl ...] [--out PREFIX]

writes PREFIX-time.svg, PREFIX-time.png, PREFIX-roofline.svg and PREFIX-roofline.png (default: beside the first file, by
its name). A series is an operation's case and pass, with a colour and a mark of its own: filled and drawn through for
forward, hollow and dashed for the others. Several files are one picture; the first is what the title names.
"""
import argparse
import collections
import json
import math
import pathlib
import statistics
import sys

from plot_sweep import FAINT, INK, plt, set_style, ticker  # finds a Python with matplotlib

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")  # Okabe and Ito
MARKS = "osD^vPX"
MOST = 14  # series that can be told apart
LEVELS = ("L1", "L2", "L3", "memory", "")
CLOSE = 1.3  # bandwidths of this ratio: their slopes lie less than the height of a label apart


def case_of(row):
    """What tells a row's case from others: a shape of one's own is named by itself."""
    return row["row"] if row["case"] == "a shape of your own" else row["case"]


def read_rows(paths):
    """What was measured, series by series, each with ascending batch sizes."""
    series = collections.defaultdict(list)
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                if "skipped" in row:
                    continue
                series[row["op"], case_of(row), row["pass"], row["precision"]].append(
                    {key: row[key] for key in ("batch", "ms", "ms_quartile1", "ms_quartile3", "gflops", "gbs", "level",
                                               "ceiling_gflops", "ceiling_read_gbs", "processor", "threads", "device",
                                               "date")})
            except (ValueError, KeyError, TypeError):
                raise ValueError(f"{path}, line {number}: no row of gradus bench --json with times") from None
    return {key: sorted(rows, key=lambda r: r["batch"] or 0) for key, rows in series.items()}


def names(series):
    """Short names: what all share is left out."""
    cases = {op: len({case for o, case, *_ in series if o == op}) for op, *_ in series}
    precisions = len({precision for *_, precision in series})
    return {(op, case, part, precision): " ".join(
        [op] + [f"({case.split(': ')[-1]})"] * (cases[op] > 1) + [part] + [precision] * (precisions > 1))
        for op, case, part, precision in series}


def looks(series):
    """Colour and mark by case, filled or hollow by pass."""
    of_case, found = {}, {}
    for op, case, part, precision in series:
        i = of_case.setdefault((op, case, precision), len(of_case))
        colour, ahead = COLOURS[i % len(COLOURS)], part in ("forward", "update")
        found[op, case, part, precision] = dict(
            color=colour, marker=MARKS[i % len(MARKS)], markerfacecolor=colour if ahead else "white",
            linestyle="-" if ahead else "--", markersize=6.5, linewidth=1.6, markeredgewidth=1.5)
    return found


def describe(series):
    row = next(iter(series.values()))[0]
    threads = f"{row['threads']} thread" + ("s" if row["threads"] != 1 else "")
    return f"{row['processor']}, {row['device']}, {threads}, {row['date'][:10]}"


def finish(figure, title, series, handles):
    figure.suptitle(title, x=0.07, y=0.975, ha="left", fontsize=14, fontweight="bold")
    figure.text(0.07, 0.9, describe(series), fontsize=9.5)
    named = names(series)
    figure.legend(handles.values(), [named[key] for key in handles], loc="center left", bbox_to_anchor=(0.755, 0.5),
                  frameon=False, fontsize=9, handlelength=3)
    figure.subplots_adjust(left=0.07, right=0.745, top=0.85, bottom=0.13, wspace=0.28)


def set_axes(ax, x, y):
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.grid(color="#e4e4e4", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def draw_time(series):
    """Left the time of a pass, right that of a sample: where it stops falling, a larger batch gains nothing."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 5))
    look, handles = looks(series), {}
    for key, rows in series.items():
        rows = [r for r in rows if r["batch"]]
        if not rows:  # an update has no batch size
            continue
        x = [r["batch"] for r in rows]
        for ax, scale in zip(axes, ([1] * len(rows), [1e3 / b for b in x])):
            y = [r["ms"] * s for r, s in zip(rows, scale)]
            bars = [[max(0, (r["ms"] - r["ms_quartile1"]) * s) for r, s in zip(rows, scale)],
                    [max(0, (r["ms_quartile3"] - r["ms"]) * s) for r, s in zip(rows, scale)]]
            ax.errorbar(x, y, yerr=bars, linestyle="none", ecolor=look[key]["color"], elinewidth=1, capsize=2)
            handles[key], = ax.plot(x, y, **look[key])
    batches = sorted({r["batch"] for rows in series.values() for r in rows if r["batch"]})
    for ax, name in zip(axes, ("ms for a pass", "µs for a sample")):
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.xaxis.set_major_locator(ticker.FixedLocator(batches))
        ax.xaxis.set_major_formatter(ticker.FixedFormatter([str(b) for b in batches]))
        ax.xaxis.set_minor_locator(ticker.NullLocator())
        ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:g}"))
        ax.yaxis.set_minor_formatter(ticker.NullFormatter())
        set_axes(ax, "batch size", name)
    finish(figure, "Time against batch size", series, handles)
    figure.text(0.07, 0.02, "Medians and quartiles of all samples.", fontsize=8, color=FAINT)
    return figure if handles else None


def roofs(series):
    """For each level of memory that a row's operands lay in: GFLOP/s in registers, GB/s read; medians of its rows."""
    found = collections.defaultdict(list)
    for rows in series.values():
        for r in rows:
            found[r["level"]].append((r["ceiling_gflops"], r["ceiling_read_gbs"]))
    return {level: tuple(map(statistics.median, zip(*found[level]))) for level in LEVELS if level in found}


def draw_roofs(ax, levels, low, high):
    top = max(flops for flops, _ in levels.values())
    ax.plot([low, high], [top, top], color=INK, linewidth=1.8, zorder=1)
    ax.annotate(f"{top:.0f} GFLOP/s, operands in registers", (high, top), xytext=(-4, 12), textcoords="offset points",
                ha="right", fontsize=9)
    for i, (level, (_, bandwidth)) in enumerate(levels.items()):
        ax.plot([low, top / bandwidth], [low * bandwidth, top], color=INK, linewidth=1.2,
                linestyle=("-", (0, (6, 2)), (0, (3, 2)), (0, (1, 2)))[i % 4], zorder=1)


def label_slopes(ax, levels, low):
    """Along the lines, once it is settled how steep they are drawn; lines that lie close together share a label."""
    labels = []
    for level, (_, bandwidth) in levels.items():
        text = f"{level or 'memory'} {bandwidth:.0f} GB/s"
        near = next((i for i, (other, _) in enumerate(labels) if 1 / CLOSE < bandwidth / other < CLOSE), None)
        if near is None:
            labels.append((bandwidth, text))
        else:
            labels[near] = (max(labels[near][0], bandwidth), f"{labels[near][1]}, {text}")
    for bandwidth, text in labels:
        (x, y), (right, up) = ax.transData.transform([(low, low * bandwidth), (2 * low, 2 * low * bandwidth)])
        ax.annotate(text, (1.15 * low, 1.15 * low * bandwidth), xytext=(0, 3),
                    textcoords="offset points", fontsize=9, rotation_mode="anchor",
                    rotation=math.degrees(math.atan2(up - y, right - x)))


def draw_roofline(series):
    figure, ax = plt.subplots(figsize=(12, 6))
    series = {key: [r for r in rows if r["gflops"] > 0 and r["gbs"] > 0] for key, rows in series.items()}
    series = {key: rows for key, rows in series.items() if rows}
    if not series:
        return None
    look, handles = looks(series), {}
    for key, rows in series.items():
        handles[key], = ax.plot([r["gflops"] / r["gbs"] for r in rows], [r["gflops"] for r in rows], zorder=3,
                                **look[key])
    x = [r["gflops"] / r["gbs"] for rows in series.values() for r in rows]
    levels = roofs(series)
    low = 2 ** math.floor(math.log2(min(x)) - 1.5)
    ridge = max(flops / bandwidth for flops, bandwidth in levels.values())
    high = 2 ** math.ceil(math.log2(max(*x, ridge)) + 1)
    draw_roofs(ax, levels, low, high)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlim(low, high)
    ax.set_ylim(top=2.2 * max(flops for flops, _ in levels.values()))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:.2g}" if v < 1 else f"{v:g}"))
    set_axes(ax, "operations for a byte that is read or written", "GFLOP/s")
    finish(figure, "Roofline", series, handles)
    label_slopes(ax, levels, low)
    figure.text(0.07, 0.02, "Slopes: bytes read from the level that held the operands. A series' points are its batch "
                "sizes.", fontsize=8, color=FAINT)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=pathlib.Path, nargs="+", help="files that gradus bench --json wrote")
    parser.add_argument("--out", type=pathlib.Path, help="beginning of the pictures' names (default: the first file's)")
    arguments = parser.parse_args()
    try:
        series = read_rows(arguments.rows)
    except (OSError, ValueError) as error:
        sys.exit(f"plot_bench.py: {error}")
    if not series:
        sys.exit("plot_bench.py: nothing was measured in these rows")
    if len(series) > MOST:
        sys.exit(f"plot_bench.py: {len(series)} series cannot be told apart; choose up to {MOST} by gradus bench OP "
                 "--case TEXT --pass NAME")
    set_style()
    prefix = arguments.out or arguments.rows[0].with_suffix("")
    for name, figure in (("time", draw_time(series)), ("roofline", draw_roofline(series))):
        if figure:
            figure.savefig(f"{prefix}-{name}.svg", metadata={"Date": None})
            figure.savefig(f"{prefix}-{name}.png", dpi=150)


if __name__ == "__main__":
    main()
