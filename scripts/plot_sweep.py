#!/usr/bin/env python3
"""Draws test accuracy against batch size from a sweep's folder, with published values and Keras' as marks beside ours.

Reads FOLDER/sweep.json, summary.csv and results.csv, which `gradus sweep` writes; writes FOLDER/accuracy.svg and
accuracy.png, on request accuracy.pdf and, as a table, beside.md. Our statistics are those of summary.csv: nothing is
computed twice.
"""

import argparse
import csv
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys


# Not what lies in the working folder under that name.
TRY = "import sys; sys.path = [p for p in sys.path if p]; import matplotlib"


def use_python_that_draws():
    """Starts this script again under a Python that has matplotlib: $PYTHON, else the distribution's, which another
    python3 may hide."""
    chosen = os.environ.get("PYTHON")
    for python in [chosen] if chosen else ["/usr/bin/python3"]:
        found = shutil.which(python)
        if found and subprocess.run([found, "-c", TRY], capture_output=True).returncode == 0:
            os.execv(found, [found, *sys.argv])
    sys.exit(
        f"{pathlib.Path(sys.argv[0]).name}: no Python with matplotlib (apt install python3-matplotlib, or set PYTHON)")


try:
    import matplotlib
except ImportError:
    use_python_that_draws()

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib import ticker

INK, FAINT = "#222222", "#8a8a8a"
HALO = dict(boxstyle="square,pad=0.1", facecolor="white", edgecolor="none", alpha=0.85)
TWO_CLASSES = ("cats-vs-dogs", "keras-mlp")
# Centre of a name from its mark, in points: the first where nothing is hit.
PLACES = [(x, y) for x in (46, -46, 0, 66, -66) for y in (0, 22, -22, 36, -36) if (x, y) != (0, 0)]
MARK = 6  # half a mark's width and the air about it, in pixels: a box so close to its centre covers it
FEWEST = 3  # runs for an interval in a picture: from two, Student's t makes it 12.7 standard errors to either side
# Which lines of the published figures belong beside a recipe, what to call them, and after how many epochs they are.
PUBLISHED = {
    "cats-vs-dogs": ("cats-vs-dogs optimizers", "test_accuracy_percent", "article", 5),
    "cifar10-cnn": ("thesis", "accuracy_after_10_epochs_percent", "thesis", 10),
}


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def read_published(path, sweep, batches):
    """The publication's values of this sweep's recipe, and Keras' runs with its batch sizes. None for built-in
    pictures, nor where the sweep departs from what was published: there is nothing to compare them with."""
    if not path or sweep["data"] == "procedural" or sweep.get("departures") or sweep["recipe"] not in PUBLISHED:
        return [], []
    experiment, quantity, _, _ = PUBLISHED[sweep["recipe"]]
    rows = read_csv(path)
    return ([r for r in rows if r["experiment"] == experiment and r["quantity"] == quantity],
            [r for r in rows if r["experiment"] == "keras " + sweep["recipe"] and r["batch"] in batches])


def is_of(row, optimizer):
    """Whether a published value belongs beside an optimizer of ours; the thesis names none: beside any."""
    return row["series"].lower() in (optimizer, "tensorflow")


def look(sweep, optimizer):
    """Name and colour of an optimizer in pictures, as the sweep has them from the program's table."""
    known = sweep.get("optimizers", {}).get(optimizer.lower(), {})
    return known.get("label", optimizer), known.get("colour", INK)


def read_sweep(folder):
    """What sweep.json says, with "constant": the accuracy in per cent of who always gives the same answer, and its
    name. Rows tell how many test samples each class has; where none does, the recipe has two equal classes or ten."""
    sweep = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
    rows = folder / "results.jsonl"
    for line in rows.read_text(encoding="utf-8").splitlines() if rows.exists() else []:
        classes = [sum(answers) for answers in json.loads(line).get("test_confusion") or []]
        if sum(classes):
            equal = min(classes) == max(classes)
            sweep["constant"] = 100 * max(classes) / sum(classes), "chance" if equal else "most frequent"
            return sweep
    sweep["constant"] = 50 if sweep["data"] == "procedural" or sweep["recipe"] in TWO_CLASSES else 10, "chance"
    return sweep


def spread(i, n):
    """Factor that sets the i-th of n series a little aside on the logarithmic axis: bars must not hide each other."""
    return 2 ** (min(0.07, 0.3 / n) * (i - (n - 1) / 2))


def half_width(line):
    """Half of a mean's 95 % interval, in points; 0 where there are too few runs for one."""
    return 100 * float(line["half_width_95"] or 0) if int(line["done"]) >= FEWEST else 0


def draw_line(ax, lines, cells, colour, aside):
    """Means and intervals of lines, and the runs they are of, a little aside. The last mean, None where there is
    none."""
    runs = [c for c in cells if c["state"] == "done" and c["test_accuracy"]]
    few = all(int(r["done"]) < FEWEST for r in lines)
    ax.scatter([int(c["batch"]) * aside for c in runs], [100 * float(c["test_accuracy"]) for c in runs],
               s=22 if few else 13, color=colour, alpha=0.6 if few else 0.3, linewidths=0, zorder=2)
    mine = sorted((r for r in lines if r["test_accuracy"]), key=lambda r: int(r["batch"]))
    x = [int(r["batch"]) * aside for r in mine]
    y = [100 * float(r["test_accuracy"]) for r in mine]
    ax.plot(x, y, color=colour, marker="o", markersize=6, linewidth=1.8, zorder=3)
    bars = [(*at, half_width(r)) for *at, r in zip(x, y, mine) if half_width(r)]
    if bars:
        x_bar, y_bar, half = zip(*bars)
        ax.errorbar(x_bar, y_bar, yerr=half, color=colour, linestyle="none", elinewidth=1.4, capsize=3, zorder=3)
    return y[-1] if mine else None


def kind(row):
    """What a line of the picture is: an optimizer, and a variant of the protocol where the sweep has several."""
    return row["optimizer"], row.get("variant", "")


def draw_ours(ax, sweep, lines, cells):
    kinds = list(dict.fromkeys(kind(r) for r in lines))
    ends = []
    for i, (optimizer, variant) in enumerate(kinds):
        label, colour = look(sweep, optimizer)
        if variant:  # an optimizer has several lines then
            label, colour = f"{label} {variant}", matplotlib.colormaps["tab10"](i % 10)
        last = draw_line(ax, [r for r in lines if kind(r) == (optimizer, variant)],
                         [c for c in cells if kind(c) == (optimizer, variant)], colour, spread(i, len(kinds)))
        if last is not None:
            ends.append((last, label, colour))
    return ends


def label_ends(ax, ends):
    """Names the lines at the right; those that end close together get their names set apart."""
    low, high = ax.get_ylim()
    room, last = (high - low) * 0.045, None
    for y, name, colour in sorted(ends):
        at = y if last is None else max(y, last + room)
        last = at
        ax.annotate(name, (ax.get_xlim()[1], at), xytext=(5, 0), textcoords="offset points", color=colour,
                    fontweight="bold", va="center", ha="left", annotation_clip=False)


def draw_published(ax, sweep, published):
    for r in published:
        at, colour = (float(r["batch"]), float(r["value"])), look(sweep, r["series"])[1]
        ax.plot(*at, marker="D", markersize=8.5, color=colour, markerfacecolor="white", markeredgewidth=1.8,
                linestyle="none", zorder=4)


def is_hit(artist, box):
    """Whether what is drawn of a line or of a group of dots or bars lies in a box of the picture."""
    to = artist.get_transform()
    if isinstance(artist, matplotlib.lines.Line2D):
        path = to.transform_path(artist.get_path())
        joined = artist.get_linestyle() != "None"
        return any(map(box.contains, *path.vertices.T)) or joined and path.intersects_bbox(box, filled=False)
    if isinstance(artist, matplotlib.collections.LineCollection):
        return any(to.transform_path(path).intersects_bbox(box, filled=False) for path in artist.get_paths())
    return any(map(box.contains, *artist.get_offset_transform().transform(artist.get_offsets()).T))


def name_published(ax, sweep, published):
    """Writes beside each published mark what it is, where the fewest lines, dots and bars are. Comes last: it looks at
    the picture as it is."""
    if len(published) > 4:  # they speak for themselves
        return
    drawn = [*ax.lines, *ax.collections]
    for r in published:
        about = "about " if r["approximate"] == "1" else ""
        text = ax.annotate(f"published:\n{about}{float(r['value']):g} %", (float(r["batch"]), float(r["value"])),
                           xytext=PLACES[0], textcoords="offset points", fontsize=9, va="center", ha="center",
                           color=look(sweep, r["series"])[1], bbox=HALO, zorder=5)

        def hits(place):
            text.set_position(place)
            box = text.get_window_extent().padded(MARK)
            return sum(is_hit(artist, box) for artist in drawn) + (not ax.bbox.containsx(box.x0)) * len(drawn)

        text.set_position(min(PLACES, key=hits))


def draw_keras(ax, sweep, keras):
    for r in keras:
        ax.plot(float(r["batch"]) * spread(3, 4), float(r["value"]), marker="x", markersize=5.5, markeredgewidth=1.3,
                color=look(sweep, r["series"])[1], linestyle="none", zorder=4)


def draw_constant(ax, sweep):
    level, name = sweep["constant"]
    ax.axhline(level, color=FAINT, linewidth=1, linestyle=(0, (5, 4)), zorder=1)
    return [(level, name, FAINT)]


def set_height(ax, level, lines, cells, published):
    """Room for every run and published value, and for intervals of up to ten points beyond them: from three runs an
    interval can be wider than 0 to 100 %. True when some go on outside the picture."""
    runs = [100 * float(c["test_accuracy"]) for c in cells if c["state"] == "done" and c["test_accuracy"]]
    points = runs + [float(r["value"]) for r in published] + [level]
    bars = [
        100 * float(r["test_accuracy"]) + sign * half_width(r) for r in lines if r["test_accuracy"] for sign in (-1, 1)
    ]
    low = max(min(bars), min(points) - 10, 0)
    high = min(max(bars), max(points) + 10, 100)
    low, high = min(low, min(points)), max(high, max(points))
    pad = 0.05 * max(high - low, 1)  # a single run may be alone at its height
    ax.set_ylim(low - pad, high + 1.5 * pad)
    return min(bars) < low or max(bars) > high


def draw_set_error(ax, lines, samples):
    """A scale bar below all else: one standard error of the test set up and down."""
    error = statistics.median(100 * float(r["set_error"]) for r in lines if r["set_error"])
    low, high = ax.get_ylim()
    room = max(2.5 * error, 0.08 * (high - low))
    ax.set_ylim(low - room, high)
    centre = low - 0.4 * room
    place = dict(xycoords=("axes fraction", "data"), textcoords=("axes fraction", "data"))
    ax.annotate("", (0.03, centre + error), xytext=(0.03, centre - error), **place,
                arrowprops=dict(arrowstyle="|-|,widthA=0.25,widthB=0.25", color=FAINT, shrinkA=0, shrinkB=0))
    ax.annotate(f"± {error:.1f} points: standard error of a test set of {samples:,} samples", (0.045, centre),
                xycoords=("axes fraction", "data"), fontsize=9, color=FAINT, va="center", bbox=HALO)


def set_axes(ax, lines, published):
    batches = sorted({int(r["batch"]) for r in lines} | {int(r["batch"]) for r in published})
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(ticker.FixedLocator(batches))
    ax.xaxis.set_major_formatter(ticker.FixedFormatter([str(b) for b in batches]))
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    ax.set_xlim(batches[0] / 1.3, batches[-1] * 1.3)
    ax.set_xlabel("batch size")
    ax.set_ylabel("test accuracy in %")
    ax.yaxis.set_major_locator(ticker.MaxNLocator(nbins=9, steps=[1, 2, 5, 10]))
    ax.grid(axis="y", color="#e4e4e4", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def length_of(sweep):
    """How long each run is, with a comma behind it: "5 epochs, ". "" where lines differ in that, and say so."""
    budget = dict([sweep["budget"].split("=")]) if sweep.get("budget") else {}
    for unit in "update", "epoch", "sample", "second":
        n = sweep.get(unit + "s") or budget.get(unit + "s")
        if n:
            return "" if n == "varies" else f"{n} {unit}{'s' * (str(n) != '1')}{' of training' * (unit == 'second')}, "
    return ""


def describe(sweep, lines, length):
    """In words what the picture is of. length: as length_of has it, or "" where it is told elsewhere."""
    data = "built-in procedural pictures, NOT the real data" if sweep["data"] == "procedural" else sweep["data"]
    runs = sorted({int(r["done"]) for r in lines if int(r["done"])})
    seeds = f"{runs[0]} to {runs[-1]} seeds" if len(runs) > 1 else "1 seed" if runs[0] == 1 else f"{runs[0]} seeds"
    if runs[-1] == 1:
        dots = "Dots: one run each"
    elif runs[-1] < FEWEST:
        dots = f"Large dots: means; small dots: runs; a 95 % interval is drawn from {FEWEST} seeds on"
    else:
        dots = "Large dots: means and 95 % intervals; small dots: runs"
        dots += f"; fewer than {FEWEST} runs have no interval" if runs[0] < FEWEST else ""
    return f"{data}, {length}{seeds}.\n{dots}."


def name_marks(sweep, published, keras):
    """What the marks beside ours are."""
    notes = []
    epochs = f"after {PUBLISHED[sweep['recipe']][3]} epochs" if published or keras else ""
    if published:
        sources = "; ".join(dict.fromkeys(r["source"] for r in published))
        series = ", ".join(dict.fromkeys(r["series"] for r in published))
        notes.append(f"Diamonds: published values {epochs} ({series}); source: {sources}")
    if keras:
        version = keras[0]["source"].split(", seed")[0]
        notes.append(f"Crosses: {version}, same pictures, the recipe's settings, {epochs}, one cross a run")
    return notes


def set_style():
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 10.5, "text.color": INK, "axes.labelcolor": INK,
                         "axes.edgecolor": FAINT, "xtick.color": INK, "ytick.color": INK, "svg.hashsalt": "gradus",
                         "svg.fonttype": "none", "pdf.fonttype": 42})


def draw(sweep, lines, cells, published, keras):
    set_style()
    figure, ax = plt.subplots(figsize=(8.4, 5.2))
    set_axes(ax, lines, published)
    ends = draw_ours(ax, sweep, lines, cells) + draw_constant(ax, sweep)
    draw_published(ax, sweep, published)
    draw_keras(ax, sweep, keras)
    cut = set_height(ax, sweep["constant"][0], lines, cells, published + keras)
    draw_set_error(ax, lines, sweep["test_samples"])
    label_ends(ax, ends)
    figure.suptitle(f"{sweep['recipe']}: test accuracy against batch size", x=0.09, y=0.975, ha="left", fontsize=14,
                    fontweight="bold")
    figure.text(0.09, 0.88, describe(sweep, lines, length_of(sweep)), fontsize=9.5)
    notes = name_marks(sweep, published, keras)
    if sweep.get("departures") and sweep["recipe"] in PUBLISHED and sweep["data"] != "procedural":
        notes.append(f"No published values: the sweep departs by {', '.join(sweep['departures'])}")
    notes += [f"Gradus {sweep['version']}, data hash {sweep['data_hash']}"]
    if cut:
        notes[-1] += ". Intervals that reach the frame go on beyond it."
    figure.text(0.09, 0.018, "\n".join(notes), fontsize=8, color=FAINT)
    longest = max(len(name) for _, name, _ in ends)
    figure.subplots_adjust(left=0.09, right=0.97 - 0.0125 * max(longest, 5), top=0.85, bottom=0.1 + 0.03 * len(notes))
    name_published(ax, sweep, published)
    return figure


def mean_beside(rows, optimizer, batch):
    """Mean of what others give for a cell: "70.5", "about 62", "" where they say nothing."""
    found = [r for r in rows if is_of(r, optimizer) and r["batch"] == batch]
    if not found:
        return ""
    if len(found) > 1:
        return f"{statistics.mean(float(r['value']) for r in found):.1f}"
    return ("about " if found[0]["approximate"] == "1" else "") + f"{float(found[0]['value']):g}"


def ours_text(line):
    if not line["test_accuracy"]:
        return "-"
    half = f" +- {100 * float(line['half_width_95']):.1f}" if line["half_width_95"] else ""
    return f"{100 * float(line['test_accuracy']):.1f}{half}"


def write_table(path, sweep, lines, published, keras):
    """Markdown: a line a cell; ours are means and 95 % intervals, Keras' the means of its runs."""
    word = PUBLISHED.get(sweep["recipe"], (None, None, "published"))[2]
    text = [f"{sweep['recipe']} on {describe(sweep, lines, length_of(sweep)).splitlines()[0]} Test accuracy in %.", "",
            f"| optimizer | batch | updates | Gradus | {word} | Keras | Keras' runs |",
            "|---|---:|---:|---:|---:|---:|---:|"]
    for r in lines:
        cell = r["optimizer"], r["batch"]
        runs = sum(is_of(k, cell[0]) and k["batch"] == cell[1] for k in keras)
        text.append(f"| {' '.join(kind(r)).strip()} | {cell[1]} | {r['updates']} | {ours_text(r)} | "
                    f"{mean_beside(published, *cell)} | {mean_beside(keras, *cell)} | {runs or ''} |")
    notes = [note.replace("Diamonds", word.capitalize()).replace("Crosses", "Keras").replace(", one cross a run", "")
             for note in name_marks(sweep, published, keras)]
    path.write_text("\n".join(text + ([""] + notes if notes else [])) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="the --out folder of a sweep")
    parser.add_argument("--published", type=pathlib.Path, help="published.csv, to show its values beside ours")
    parser.add_argument("--pdf", action="store_true", help="write accuracy.pdf too, with its fonts in it")
    arguments = parser.parse_args()
    try:
        sweep = read_sweep(arguments.folder)
        lines = read_csv(arguments.folder / "summary.csv")
        cells = read_csv(arguments.folder / "results.csv")
        published, keras = read_published(arguments.published, sweep, {r["batch"] for r in lines})
        if any(kind(r)[1] for r in lines):
            published, keras = [], []  # which variant would they belong beside?
    except (OSError, ValueError) as error:
        sys.exit(f"plot_sweep.py: {error}")
    if not any(r["test_accuracy"] for r in lines):
        sys.exit("plot_sweep.py: no cell of this sweep is done, there is nothing to draw")
    figure = draw(sweep, lines, cells, published, keras)
    figure.savefig(arguments.folder / "accuracy.svg", metadata={"Date": None})
    figure.savefig(arguments.folder / "accuracy.png", dpi=150)
    if arguments.pdf:
        figure.savefig(arguments.folder / "accuracy.pdf", metadata={"CreationDate": None})
    write_table(arguments.folder / "beside.md", sweep, lines, published, keras)


if __name__ == "__main__":
    main()
