#!/usr/bin/env python3
"""Draws docs/mma-fragments.svg and docs/swizzle.svg, for docs/ladders.md: which lane holds what of a product on tensor
cores, and where pieces of 16 bytes lie in shared memory so that no two that are read together meet in a bank.

    draw_fragments.py [FOLDER]      (default: docs)
"""
import pathlib
import sys

CELL = 27
INK, FAINT = "#222222", "#8a8a8a"
COLOURS = ("#cfe2f3", "#fce5cd", "#d9ead3", "#ead1dc")  # registers 0 to 3; the number stands beside, too
MARK = 5  # the lane that is outlined


class Picture:
    def __init__(self, width, height):
        self.size, self.parts = (width, height), []
        self.parts.append(f'<rect width="{width}" height="{height}" fill="#ffffff"/>')

    def cell(self, x, y, label, fill, bold=False):
        edge = f'stroke="{INK}" stroke-width="2.5"' if bold else f'stroke="{FAINT}" stroke-width="0.6"'
        inset = 1.25 if bold else 0
        self.parts.append(f'<rect x="{x + inset}" y="{y + inset}" width="{CELL - 2 * inset}" '
                          f'height="{CELL - 2 * inset}" fill="{fill}" {edge}/>')
        self.text(x + CELL / 2, y + CELL / 2 + 4, label, anchor="middle", bold=bold, size=11)

    def text(self, x, y, words, anchor="start", bold=False, size=13, colour=INK):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"{weight}>'
                          f'{words}</text>')

    def save(self, path):
        width, height = self.size
        path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                        f'viewBox="0 0 {width} {height}" font-family="DejaVu Sans, Verdana, sans-serif">\n'
                        + "\n".join(self.parts) + "\n</svg>\n", encoding="utf-8")


# Lane and register of an element; PTX ISA, "Matrix Fragments for mma.m16n8k16".


def holder_of_a(row, depth):
    return row % 8 * 4 + depth % 8 // 2, row // 8 + depth // 8 * 2


def holder_of_b(depth, column):
    return column * 4 + depth % 8 // 2, depth // 8


def holder_of_d(row, column):
    return row % 8 * 4 + column // 2, row // 8 * 2 + column % 2


def matrix(picture, x, y, rows, columns, holder):
    marked = []
    for r in range(rows):
        for c in range(columns):
            lane, register = holder(r, c)
            place = (x + c * CELL, y + r * CELL, lane, COLOURS[register])
            if lane == MARK:
                marked.append(place)
            else:
                picture.cell(*place)
    for place in marked:  # over their neighbours' edges
        picture.cell(*place, bold=True)


def fragments():
    left, top = 40, 60
    beside, below = left + 16 * CELL + 50, top + 16 * CELL + 70
    picture = Picture(beside + 8 * CELL + 40, below + 16 * CELL + 40)
    picture.text(left, 30, "d[16x8] += a[16x16] b[16x8]: the lane that holds each element", bold=True, size=16)
    matrix(picture, beside, top, 16, 8, holder_of_b)
    matrix(picture, left, below, 16, 16, holder_of_a)
    matrix(picture, beside, below, 16, 8, holder_of_d)
    picture.text(beside, top - 10, "b: depth down, column across", size=12)
    picture.text(left, below - 10, "a: row down, depth across", size=12)
    picture.text(beside, below - 10, "d: row down, column across", size=12)
    for i, words in enumerate(("Colours are a lane's registers:", "", "", "", "",
                               "a and b: two halves each, neighbours in depth",
                               "d: one float each", "", f"Outlined: all that lane {MARK} holds:",
                               "8 halves of a, 4 of b, 4 sums")):
        picture.text(left, top + 34 + 26 * i, words)
    for register, colour in enumerate(COLOURS):
        y = top + 20 + 26 * (register + 1)
        picture.cell(left, y - 6, register, colour)
        picture.text(left + CELL + 10, y + 12, f"register {register}")
    return picture


def turned(row, piece):
    return piece ^ row % 8


def straight(_, piece):
    return piece


def swizzle():
    left, top, wanted = 70, 110, 2
    apart = 8 * CELL + 110
    picture = Picture(left + apart + 8 * CELL + 40, top + 8 * CELL + 120)
    picture.text(left, 30, "Eight rows of a matrix, read together by ldmatrix", bold=True, size=16)
    picture.text(left, 54, f"Cells are pieces of 16 bytes, with their numbers; piece {wanted} of each row is read.")
    for x, place, title, cost in ((left, straight, "as they come", "one column of banks: 8 turns"),
                                  (left + apart, turned, "piece p at p xor row", "every bank once: 1 turn")):
        picture.text(x, top - 28, title, bold=True)
        for row in range(8):
            picture.text(x - 10, top + row * CELL + 18, f"row {row}", anchor="end", size=11)
            for piece in sorted(range(8), key=lambda p: p == wanted):
                picture.cell(x + place(row, piece) * CELL, top + row * CELL, piece,
                             COLOURS[1] if piece == wanted else "#ffffff", piece == wanted)
        for column in range(8):
            picture.text(x + (column + 0.5) * CELL, top - 8, 4 * column, anchor="middle", size=10, colour=FAINT)
        picture.text(x, top + 8 * CELL + 26, cost)
    for i, words in enumerate(("Above: the first of a column's four banks. 32 banks of 4 bytes are 128 bytes:",
                               "what shared memory gives in one turn.")):
        picture.text(left, top + 8 * CELL + 62 + 18 * i, words, size=12)
    return picture


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1] / "docs")
    fragments().save(folder / "mma-fragments.svg")
    swizzle().save(folder / "swizzle.svg")


if __name__ == "__main__":
    main()
