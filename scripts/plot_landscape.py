#!/usr/bin/env python3
"""Draws what `gradus landscape` found: FOLDER/landscape.json as landscape.svg and landscape.png, on request as .pdf.

A line between two weights is drawn as in Keskar et al. 2017 (arXiv 1609.04836): the loss above, the accuracy below,
training samples drawn through and test samples dashed. A plane is drawn as contours of the loss, training and test side
by side.
"""
import argparse
import json
import math
import pathlib
import sys

from plot_sweep import FAINT, INK, plt, set_style, ticker  # finds a Python with matplotlib

TRAIN, TEST = "#0072b2", "#d55e00"  # Okabe and Ito
PARTS = (("train", "training", TRAIN, "-"), ("test", "test", TEST, "--"))
LEVELS = 14
MOST = 50  # of a plane the loss is drawn up to so many times its lowest value: beyond it one colour says all


def values(points, key):
    return [math.nan if p[key] is None else p[key] for p in points]


def set_axes(ax, x, y):
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def name(path, most=40):
    """The end of a path, as much of it as there is room for."""
    return path if len(path) <= most else "…" + path[1 - most:]


def describe(found):
    samples = ", ".join(f"{found[part + '_samples']:,} {word} samples" for part, word, *_ in PARTS
                        if found[part + "_samples"])
    return f"{found['data']}: {samples}"


def titles(figure, title, found):
    figure.suptitle(title, x=0.07, y=0.975, ha="left", fontsize=14, fontweight="bold")
    figure.text(0.07, 0.905, describe(found), fontsize=9.5)
    figure.text(0.07, 0.015, "     ".join(f"{letter}: {name(path)}" for letter, path in zip("ABC", found["weights"])),
                fontsize=8.5, color=FAINT)


def draw_line(found):
    figure, (above, below) = plt.subplots(2, 1, figsize=(8.4, 7), sharex=True)
    points = found["points"]
    x = values(points, "x")
    for part, word, colour, style in PARTS:
        if found[part + "_samples"]:
            above.plot(x, values(points, part + "_loss"), color=colour, linestyle=style, linewidth=1.8, label=word)
            below.plot(x, [100 * a for a in values(points, part + "_accuracy")], color=colour, linestyle=style,
                       linewidth=1.8, label=word)
    losses = [v for part, *_ in PARTS for v in values(points, part + "_loss") if math.isfinite(v) and v > 0]
    if losses and max(losses) > 10 * min(losses):
        above.set_yscale("log")
        above.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:g}"))
        above.yaxis.set_minor_formatter(ticker.NullFormatter())
    set_axes(above, "", "loss")
    set_axes(below, "place between A (0) and B (1)", "accuracy, %")
    for ax in (above, below):
        ax.grid(color="#e4e4e4", linewidth=0.8)
        ax.set_axisbelow(True)
        for at in (0, 1):
            ax.axvline(at, color=FAINT, linewidth=1, linestyle=(0, (3, 2)), zorder=1)
    for at, letter in enumerate("AB"):
        above.annotate(letter, (at, 1), xycoords=("data", "axes fraction"), xytext=(0, 4), textcoords="offset points",
                       ha="center", fontweight="bold")
    above.legend(frameon=False, handlelength=3, loc="upper right", bbox_to_anchor=(1, 1.2), ncols=2)
    titles(figure, f"{found['recipe']}: between two trained networks", found)
    figure.subplots_adjust(left=0.1, right=0.97, top=0.85, bottom=0.12, hspace=0.1)
    return figure


def ends(found):
    """The places of the weights in a plane."""
    return list(zip("ABC", ((0, 0), (1, 0), (0, 1)), found["weights"]))


def levels_of(found):
    """The same for all samples, or they could not be compared."""
    losses = [v for part, *_ in PARTS for v in values(found["points"], part + "_loss") if math.isfinite(v)]
    low = max(min(losses), 1e-6)
    high = max(min(max(losses), MOST * low), 1.01 * low)
    return [low * (high / low) ** (i / LEVELS) for i in range(LEVELS + 1)]


def draw_part(ax, found, part, word, levels):
    points = found["points"]
    x, y = (sorted({p[key] for p in points}) for key in ("x", "y"))
    loss = values(points, part + "_loss")
    grid = [[loss[j * len(x) + i] for i in range(len(x))] for j in range(len(y))]
    ax.contourf(x, y, grid, levels=levels, cmap="viridis_r", norm="log", extend="both")
    drawn = [v for v in loss if math.isfinite(v)]
    crossed = [v for v in levels[::2] if min(drawn, default=0) < v < max(drawn, default=0)]
    if crossed:
        lines = ax.contour(x, y, grid, levels=crossed, colors="white", linewidths=0.7)
        ax.clabel(lines, fmt=lambda v: f"{v:.3g}", fontsize=8)
    for letter, at, _ in ends(found):
        ax.plot(*at, marker="o", color="white", markeredgecolor=INK, markersize=8, zorder=4)
        ax.annotate(letter, at, xytext=(7, 6), textcoords="offset points", fontweight="bold", color=INK, zorder=5,
                    bbox=dict(boxstyle="round,pad=0.15", facecolor="white", edgecolor="none", alpha=0.8))
    random = found["kind"] == "random plane"
    set_axes(ax, "first direction" if random else "towards B", "second direction" if random else "towards C")
    ax.set_title(f"loss of the {word} samples", fontsize=10.5, loc="left")
    ax.set_aspect("equal")


def draw_plane(found):
    parts = [p for p in PARTS if found[p[0] + "_samples"]]
    figure, axes = plt.subplots(1, len(parts), figsize=(5.6 * len(parts), 6), squeeze=False)
    for ax, (part, word, *_) in zip(axes[0], parts):
        draw_part(ax, found, part, word, levels_of(found))
    random = found["kind"] == "random plane"
    titles(figure, f"{found['recipe']}: " + ("around a trained network" if random else "a plane through three"), found)
    figure.subplots_adjust(left=0.08, right=0.98, top=0.82, bottom=0.14, wspace=0.2)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="that gradus landscape wrote")
    parser.add_argument("--pdf", action="store_true", help="write landscape.pdf too, with its fonts in it")
    arguments = parser.parse_args()
    try:
        found = json.loads((arguments.folder / "landscape.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"plot_landscape.py: {error}")
    if not any(p["train_loss"] is not None for p in found["points"]):
        sys.exit("plot_landscape.py: no place of this landscape has a loss that is a number")
    set_style()
    figure = (draw_line if found["kind"] == "line" else draw_plane)(found)
    figure.savefig(arguments.folder / "landscape.svg", metadata={"Date": None})
    figure.savefig(arguments.folder / "landscape.png", dpi=150)
    if arguments.pdf:
        figure.savefig(arguments.folder / "landscape.pdf", metadata={"CreationDate": None})


if __name__ == "__main__":
    main()
