#!/usr/bin/env python3
"""Draws small PNG images with masks, for docs/how-to/masks.md: a stand-in for images of one's own.

    examples/draw_masks.py FOLDER [COUNT]     COUNT images (300), 32x32, as FOLDER/images/000.png and FOLDER/masks/000.png

Masks are indexed: 0 is the ground, 1 a disc, 2 a square, which one image of three has, and 255 the border of either.
"""
import random
import sys
from pathlib import Path

from draw_images import SIZE, png

INDEXED, BORDER = 3, 255


def drawn(number):
    """The rows of an image and of its mask: figures of random places, sizes and colours on a ground, with noise."""
    chance = random.Random(number)
    ground = [chance.randrange(60, 120) for _ in "rgb"]
    figures = [(kind, chance.uniform(8, 24), chance.uniform(8, 24), chance.uniform(4, 7),
                [chance.randrange(110, 220) for _ in "rgb"]) for kind in ([1, 2] if number % 3 == 0 else [1])]
    image, mask = [], []
    for y in range(SIZE):
        pixels, values = [], []
        for x in range(SIZE):
            colour, value = ground, 0
            for kind, at_x, at_y, r, own in figures:
                across, down = abs(x - at_x), abs(y - at_y)
                outside = ((across**2 + down**2)**0.5 if kind == 1 else max(across, down)) - r
                if outside < 0.7:
                    colour, value = (own, kind) if outside < 0 else (colour, BORDER)
            pixels += [min(255, max(0, round(level + chance.gauss(0, 25)))) for level in colour]
            values.append(value)
        image.append(bytes(pixels))
        mask.append(bytes(values))
    return image, mask


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    for name in ("images", "masks"):
        (folder / name).mkdir(parents=True)
    for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 300):
        image, mask = drawn(number)
        (folder / "images" / ("%03d.png" % number)).write_bytes(png(image))
        (folder / "masks" / ("%03d.png" % number)).write_bytes(png(mask, INDEXED, bytes(range(256)) * 3))


if __name__ == "__main__":
    main()
