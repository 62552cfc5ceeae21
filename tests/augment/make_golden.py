#!/usr/bin/env python3
"""Makes tests/augment/golden.safetensors: what PIL makes of a small picture under the plans that tests/test_augment.c
gives it.

    make_golden.py            writes the file
    make_golden.py --check    computes everything again and compares

Needs Pillow, numpy, safetensors and, by way of scripts/make_goldens.py, PyTorch. A tensor's name is "EPOCH SAMPLE
PLAN", its contents the levels [P,Q,3]; "picture" is what all of them are made of. Where PIL has a call for the plan,
that call makes it; random plans are drawn here again from Philox and put together into one Image.transform.
"""
import math
import pathlib
import sys

import numpy as np
from PIL import Image, ImageOps
from safetensors.numpy import load_file, save_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "scripts"))
from make_goldens import philox  # noqa: E402

FILE = HERE / "golden.safetensors"
SEED, PURPOSE = 1, 6
NEAREST, BILINEAR, BICUBIC = Image.Resampling.NEAREST, Image.Resampling.BILINEAR, Image.Resampling.BICUBIC
PAD = 64  # pixels around a picture, more than any plan here looks beyond it
H, W = 24, 31


def picture():
    """Slopes, a sharp edge, a fine grid and noise."""
    y, x = np.mgrid[0:H, 0:W].astype(np.float64)
    noise = np.random.default_rng(7).integers(0, 256, (H, W))
    red = 8 * x + 0.2 * y
    green = np.where(x + y > 26, 230, 20) + 25 * ((x.astype(int) // 3 + y.astype(int) // 2) % 2)
    blue = np.where(y < 12, noise, 255 - 9 * y)
    return np.clip(np.stack([red, green, blue], 2), 0, 255).astype(np.uint8)


class Dice:
    """data/augmentation/augment_draw.c's numbers of a sample."""

    def __init__(self, epoch, sample):
        self.epoch, self.sample = epoch, sample

    def roll(self, step, i):
        at = (self.sample * 16 + step) * 4 + i
        counter = np.array([[at // 4 & 0xFFFFFFFF, at // 4 >> 32, self.epoch, PURPOSE]], np.uint32)
        return float(philox(counter, [SEED & 0xFFFFFFFF, SEED >> 32])[0, at % 4] >> 8) * 2.0**-24

    def whole(self, step, i, low, high):
        return low + int(self.roll(step, i) * (high - low + 1))

    def between(self, step, low, high):
        return low + (high - low) * self.roll(step, 0)


def middle(a, b, c, d, w=W, h=H):
    """The linear map (a b; c d) around the middle, 3x3."""
    to, back = np.eye(3), np.eye(3)
    to[:2, 2], back[:2, 2] = (w / 2, h / 2), (-w / 2, -h / 2)
    return to @ np.array([[a, b, 0], [c, d, 0], [0, 0, 1]]) @ back


def turn(degrees):
    r = math.radians(degrees)
    return middle(math.cos(r), -math.sin(r), math.sin(r), math.cos(r))


def slant(degrees):
    return middle(1, math.tan(math.radians(degrees)), 0, 1)


def move(x, y):
    m = np.eye(3)
    m[:2, 2] = x, y
    return m


def transform(image, matrix, filter_, size=(W, H)):
    return image.transform(size, Image.Transform.AFFINE, tuple(matrix[:2].reshape(-1)), filter_)


def padded(image, mode, matrix, filter_):
    """The same of a picture that goes on beyond its edges."""
    wide = np.pad(np.array(image), ((PAD, PAD), (PAD, PAD), (0, 0)), mode=mode)
    return transform(Image.fromarray(wide), move(PAD, PAD) @ matrix, filter_)


def with_box(image, dice, side):
    """Level 0 where cutout stands: mean 0, so that 0 after normalisation is level 0."""
    levels = np.array(image)
    top, left = (dice.whole(15, axis, 0, n - 1) - side // 2 for axis, n in enumerate(levels.shape[:2]))
    levels[max(top, 0):max(top + side, 0), max(left, 0):max(left + side, 0)] = 0
    return levels


def drawn(image, dice):
    """flip,translate=4,rotate=15,shear=10,scale=0.9..1.1"""
    flip = middle(-1, 0, 0, 1) if dice.roll(0, 0) < 0.5 else np.eye(3)
    shift = move(dice.whole(1, 0, -4, 4), dice.whole(1, 1, -4, 4))
    zoom = dice.between(4, 0.9, 1.1)
    turned = turn(dice.between(2, -15, 15)) @ slant(dice.between(3, -10, 10))
    return flip @ shift @ turned @ middle(1 / zoom, 0, 0, 1 / zoom)


def alternate(image, epoch, sample):
    flipped = (Dice(0, sample).roll(0, 0) < 0.5) != bool(epoch % 2)
    return ImageOps.mirror(image) if flipped else image


def cases(image):
    """(plan, epoch, sample, PIL's answer)"""
    yield "flip=always", 0, 0, ImageOps.mirror(image)
    for filter_, name in ((NEAREST, "nearest"), (BILINEAR, "bilinear"), (BICUBIC, "bicubic")):
        yield f"rotate=30..30,filter={name}", 0, 0, image.rotate(30, filter_)
        yield f"shear=-20..-20,filter={name}", 0, 0, transform(image, slant(-20), filter_)
        yield f"scale=1.37,filter={name}", 0, 0, transform(image, middle(1 / 1.37, 0, 0, 1 / 1.37), filter_)
        for fill in ("edge", "reflect"):
            m = turn(-50) @ middle(1.4, 0, 0, 1.4)
            plan = f"rotate=-50..-50,scale={1 / 1.4:.17g},fill={fill},filter={name}"
            yield plan, 0, 0, padded(image, fill, m, filter_)
        for sample in range(3):
            dice = Dice(sample % 2, sample)
            moved = transform(image, drawn(image, dice), filter_)
            yield (f"flip,translate=4,rotate=15,shear=10,scale=0.9..1.1,cutout=8,filter={name}", dice.epoch, sample,
                   with_box(moved, dice, 8))
    yield "crop=24@0:7,rotate=90..90", 0, 0, image.crop((7, 0, 31, 24)).rotate(90)
    yield "rotate=180..180", 0, 0, image.rotate(180)
    yield "crop=10x12@3:5", 0, 0, image.crop((5, 3, 17, 13))
    yield "crop=11x12@center", 0, 0, image.crop((9, 6, 21, 17))
    dice = Dice(4, 9)
    top, left = dice.whole(0, 0, 0, H - 16), dice.whole(0, 1, 0, W - 20)
    yield "crop=16x20", 4, 9, image.crop((left, top, left + 20, top + 16))
    for epoch in range(3):
        for sample in range(2):
            yield "flip=alternate", epoch, sample, alternate(image, epoch, sample)
    for height, width in ((30, 39), (48, 40), (25, 32), (24, 62), (61, 31), (37, 155)):
        yield f"resize={height}x{width},filter=bicubic-resize", 0, 0, image.resize((width, height), BICUBIC)
    mirrored = ImageOps.mirror(image).resize((39, 30), BICUBIC)
    yield "flip=always,resize=30x39,crop=20x30@7:5,filter=bicubic-resize", 0, 0, mirrored.crop((5, 7, 35, 27))
    yield "resize=48x40", 0, 0, image.resize((40, 48), BILINEAR)
    corner = image.resize((39, 30), BICUBIC).crop((0, 0, 31, 24))
    yield "resize=30x39,crop=24x31@0:0,filter=bicubic-resize", 0, 0, corner


def main():
    image = Image.fromarray(picture())
    made = {"picture": picture()}
    for plan, epoch, sample, answer in cases(image):
        made[f"{epoch} {sample} {plan}"] = np.ascontiguousarray(np.array(answer))
    if "--check" in sys.argv[1:]:
        saved = load_file(FILE)
        bad = [name for name in made.keys() | saved.keys()
               if name not in made or name not in saved or not np.array_equal(made[name], saved[name])]
        print("\n".join(bad) if bad else f"{len(made)} pictures, all the same")
        return 1 if bad else 0
    save_file(made, FILE)
    FILE.chmod(0o644)
    print(f"{len(made)} pictures, {FILE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
