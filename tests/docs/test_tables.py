"""The tables of docs/results against the rows of examples/results and examples/published.csv that they came from."""

import csv
import math
import re
import statistics
import unittest

import pages

# Student's t at 97.5 % by degrees of freedom
T95 = {1: 12.70620, 2: 4.302653, 3: 3.182446, 4: 2.776445, 7: 2.364624, 9: 2.262157}


def rows_of(name):
    with open(pages.ROOT / f"examples/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def interval(values):
    """95 % interval of a mean, half of its width."""
    return T95[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))


class Words(tuple):
    """What a cell may say: numbers and their digits. A number half-way between two texts may be either."""

    def __str__(self):
        return " +- ".join(f"{value:,.{digits}f}" for value, digits in self)

    def match(self, cell):
        numbers = [float(text.replace(",", "")) for text in cell.split(" +- ") if text]
        return len(numbers) == len(self) and all(abs(number - value) <= 0.5 * 10.0 ** -digits + 1e-9
                                                 for number, (value, digits) in zip(numbers, self))


def mean_words(values, digits=1):
    """A mean; of several values with its interval."""
    words = [(statistics.mean(values), digits)]
    return Words(words + [(interval(values), digits)] if len(values) > 1 else words)


def mean_of(values, digits):
    return Words([(statistics.mean(values), digits)])


def percent(row):
    return 100 * float(row["test_accuracy"])


def chosen(rows, **wanted):
    return [row for row in rows if all(row[key] == str(value) for key, value in wanted.items())]


def accuracy(**wanted):
    """A cell: test accuracy of a batch size in %, mean and interval over the seeds."""
    return lambda rows, batch: mean_words([percent(row) for row in chosen(rows, batch=batch, **wanted)])


def loss(**wanted):
    return lambda rows, batch: mean_of([float(row["train_loss"]) for row in chosen(rows, batch=batch, **wanted)], 3)


def count(rows, batch):
    return Words([(len(chosen(rows, batch=batch)), 0)])


def memory(rows, batch):
    """A cell: peak of tensors in MiB."""
    return mean_of([int(row["peak_bytes"]) / 2**20 for row in chosen(rows, batch=batch)], 1)


def updates(**wanted):
    def cell(rows, batch):
        counts = {int(row["updates"]) for row in chosen(rows, batch=batch, **wanted)}
        return Words((count, 0) for count in counts)
    return cell


def published(digits, *quantities, **wanted):
    """A cell of another's value or mean of values; empty where there is none."""
    def cell(_, batch):
        rows = [row for row in chosen(rows_of("published"), batch=batch, **wanted) if row["quantity"] in quantities]
        values = [float(row["value"]) for row in rows]
        return mean_of(values, digits) if values else Words()
    return cell


def tables(page):
    """Every table: its header's cells and its rows' cells."""
    text = (pages.ROOT / "docs/results" / page).read_text()
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        yield lines[0], lines[2:]


def keras(series, digits=1):
    recipe = "keras cifar10-cnn" if digits == 2 else "keras cats-vs-dogs"
    return published(digits, "test_accuracy_percent", experiment=recipe, series=series)


TEXT = None  # a cell that no row holds
OPTIMIZERS = [accuracy(optimizer=name) for name in ("sgd", "momentum", "adam", "lars", "sam", "prox")]
LARGE = ("sgd", "momentum", "sam", "prox")
TABLES = [  # page, rows, a function for each column after the batch size
    ("cats-vs-dogs.md", "cats-vs-dogs",
     [updates(optimizer="sgd"), accuracy(optimizer="sgd"), TEXT, keras("SGD"),
      accuracy(optimizer="adam"), TEXT, keras("Adam")]),
    ("cats-vs-dogs.md", "cats-vs-dogs-reproduced",
     [updates(line="5 epochs"), accuracy(line="5 epochs", optimizer="sgd"), accuracy(line="5 epochs", optimizer="adam"),
      updates(line="90 updates"), accuracy(line="90 updates")]),
    ("augmentation.md", "cats-vs-dogs-augmentation",
     [updates(line="augmented"), accuracy(line="augmented"), TEXT, accuracy(line="as many updates"),
      updates(line="standard"), accuracy(line="standard"), keras("Adam")]),
    ("dense-network.md", "dense-network",
     [updates(line="20 epochs"), accuracy(line="20 epochs"), updates(line="2,000 updates"),
      accuracy(line="2,000 updates")]),
    ("cifar10.md", "cifar10-cnn",
     [updates(), accuracy(),
      published(2, "accuracy_after_10_epochs_percent", experiment="thesis", series="TensorFlow"), keras("Adam", 2)]),
    ("cifar10.md", "cifar10-cnn-reproduced", [updates(), count, accuracy(), memory]),
    ("growing-batch.md", "growing-batch",
     [cell(line=line) for line in ("the rate falls", "the batch grows", "neither")
      for cell in (updates, accuracy, loss)]),
    ("../transfer-learning.md", "transfer-resnet18",
     [updates(), *[accuracy(line=line) for line in ("from scratch", "fine-tuned", "head alone")]]),
    ("large-batches.md", "cats-vs-dogs-optimizers", [updates(optimizer="sgd"), *OPTIMIZERS]),
    ("large-batches.md", "cats-vs-dogs-large-batches",
     [updates(optimizer="sgd"), *[accuracy(optimizer=name) for name in LARGE],
      *[loss(optimizer=name) for name in LARGE]]),
]


class Tables(pages.PagesCase):
    def test_every_cell_is_what_the_rows_say(self):
        seen, wrong = {}, []
        for page, source, columns in TABLES:
            header, lines = list(tables(page))[seen.setdefault(page, 0)]
            seen[page] += 1
            rows = rows_of(f"results/{source}")
            self.assertEqual({line[0] for line in lines}, {row["batch"] for row in rows}, page)
            for line in lines:
                for title, cell, column in zip(header[1:], line[1:], columns, strict=True):
                    if column is not TEXT and not column(rows, line[0]).match(cell):
                        wrong.append(f"{page}, {title} at {line[0]}: {cell}, the rows say {column(rows, line[0])}")
        self.complain(wrong)

    def test_half_precision(self):
        rows, wrong = rows_of("results/half-precision"), []
        (_, lines), = tables("half-precision.md")
        for line, recipe in zip(lines, ("cats-vs-dogs", "cifar10-cnn"), strict=True):
            of = {kind: {row["seed"]: percent(row) for row in chosen(rows, recipe=recipe, precision=kind)}
                  for kind in ("fp32", "fp16", "bf16")}
            cells = [mean_words(list(of[kind].values())) for kind in of]
            cells += [mean_words([of[kind][seed] - of["fp32"][seed] for seed in of["fp32"]])
                      for kind in ("fp16", "bf16")]
            wrong += [f"{line[0]}: {cell}, the rows say {expected}"
                      for cell, expected in zip(line[1:], cells, strict=True) if not expected.match(cell)]
        self.complain(wrong)

    def test_rates(self):
        rows, wrong = rows_of("results/cifar10-cnn-rates"), []
        header, lines = list(tables("cifar10.md"))[3]
        self.assertEqual({row["lr"] for row in rows}, set(header[1:]))
        self.assertEqual({row["batch"] for row in rows}, {line[0] for line in lines})
        for line in lines:
            cells = [accuracy(lr=rate)(rows, line[0]) for rate in header[1:]]
            wrong += [f"batches of {line[0]}: {cell}, the rows say {expected}"
                      for cell, expected in zip(line[1:], cells, strict=True) if not expected.match(cell)]
        self.complain(wrong)

    def test_minima(self):
        """Both ends of each line: updates and accuracy of the runs, and how the loss rises beside them."""
        runs, points, wrong = rows_of("results/minima"), rows_of("results/minima-lines"), []
        names = {"32 to 1024": ("batches of 32", "batches of 1024"), "momentum to SAM": ("momentum", "SAM"),
                 "32 to 1024, 40 epochs": ("batches of 32", "batches of 1024, 40 epochs")}
        (_, lines), = tables("minima.md")
        self.assertEqual(len(lines), len({(point["line"], point["seed"]) for point in points}))
        for line in lines:
            name, seed = re.sub(r" \([AB]\)|, batches of 128", "", line[0]), line[1]
            loss_at = {float(p["x"]): float(p["train_loss"]) for p in chosen(points, line=name, seed=seed)}
            cells = []
            for at, run in enumerate(names[name]):
                row, = chosen(runs, line=run, seed=seed)
                rise = (loss_at[at - 0.25] + loss_at[at + 0.25]) / 2 - loss_at[at]
                digits = len(line[4 + 3 * at].partition(".")[2])
                cells += [Words([(int(row["updates"]), 0)]), Words([(percent(row), 1)]), Words([(rise, digits)])]
            wrong += [f"{line[0]}, seed {seed}: {cell}, the rows say {expected}"
                      for cell, expected in zip(line[2:], cells, strict=True) if not expected.match(cell)]
        self.complain(wrong)

    def test_speed(self):
        """Three tables: by batch size, by who decodes, by the updates that were recorded."""
        def means(rows, *columns):
            """(column, factor, digits of the mean, whether with its interval)"""
            for column, factor, digits, wide in columns:
                values = [factor * float(row[column]) for row in rows]
                yield mean_words(values, digits) if wide else mean_of(values, digits)
        speed = ("samples_per_second", 1, 0, True), ("cores_busy", 1, 1, False), ("model_gflops", 1, 1, False)
        decoding = ("samples_per_second", 1, 1, True), ("waiting", 100, 1, False), ("resident_bytes", 2**-20, 0, False)
        profile = (("ms", 1, 1, True), ("conv2d_forward_ms", 1, 1, True), ("conv2d_backward_ms", 1, 1, True),
                   ("momentum_step_ms", 1, 1, True), ("convolutions", 100, 1, True))
        wrong = []
        for (_, lines), source, key, columns in zip(
                tables("speed.md"), ("cifar10-cnn-speed", "workers", "profiler"), ("batch", "line", "updates"),
                (speed, decoding, profile), strict=True):
            rows = rows_of(f"results/{source}")
            kinds = list(dict.fromkeys(row[key] for row in rows))
            for line, kind in zip(lines, kinds, strict=True):
                said = [cell.removesuffix(" %") for cell in line[1:]]
                for cell, expected in zip(said, means(chosen(rows, **{key: kind}), *columns)):
                    if not expected.match(cell):
                        wrong.append(f"{source}, {kind}: {cell}, the rows say {expected}")
        self.complain(wrong)

    def test_differences_paired_by_seed(self):
        """Batch sizes are averaged within a seed before an interval is drawn."""
        def difference(source, key, a, b):
            rows = rows_of(f"results/{source}")

            def of(kind, seed):
                return statistics.mean(percent(row) for row in chosen(rows, **{key: kind}, seed=seed))
            return mean_words([of(a, seed) - of(b, seed) for seed in sorted({row["seed"] for row in rows})])
        text = {page: re.sub(r"\s+", " ", (pages.ROOT / "docs/results" / page).read_text())
                for page in ("augmentation.md", "large-batches.md", "../transfer-learning.md")}
        said = r"(-?[\d.]+ \+- [\d.]+)"
        augmentation = ("augmentation.md", "cats-vs-dogs-augmentation", "line")
        large = ("large-batches.md", "cats-vs-dogs-large-batches", "optimizer")
        transfer = ("../transfer-learning.md", "transfer-resnet18", "line")
        for (page, source, key), a, b, words in (
                (transfer, "fine-tuned", "from scratch", f"fine-tuning is {said} points above from scratch"),
                (transfer, "head alone", "from scratch", f"the head alone {said}\\. Fine-tuning"),
                (transfer, "fine-tuned", "head alone", f"is not shown to be better: {said} points"),
                (augmentation, "augmented", "standard", f"augmented is {said} points above standard "),
                (augmentation, "as many updates", "standard", f"as many updates is {said} above standard,"),
                (augmentation, "as many updates", "augmented", f"and augmented {said} below it"),
                (large, "prox", "sgd", f"it is {said} points above `sgd` "),
                (large, "prox", "momentum", f"and {said} above `momentum`"),
                (large, "momentum", "sam", f"it is {said} points below momentum,")):
            found = re.search(words, text[page])
            self.assertTrue(found, f"{page}: {words}")
            expected = difference(source, key, a, b)
            self.assertTrue(expected.match(found[1]), f"{page}: {a} - {b}: {found[1]}, the rows say {expected}")


if __name__ == "__main__":
    unittest.main()
