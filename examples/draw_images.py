#!/usr/bin/env python3
"""Draws a folder of small PNG images in three classes, for docs/tutorial.md: a stand-in for images of one's own.

    examples/draw_images.py FOLDER [COUNT]     COUNT images of each class (120), 32x32, as FOLDER/CLASS/000.png
"""
import random
import struct
import sys
import zlib
from pathlib import Path

SIZE = 32
CLASSES = {
    "disc": lambda x, y, r: x * x + y * y < r * r,
    "cross": lambda x, y, r: max(abs(x), abs(y)) < r and min(abs(x), abs(y)) < r / 3,
    "frame": lambda x, y, r: r / 2 < max(abs(x), abs(y)) < r,
}


def png(rows, kind=2, palette=b""):
    """An 8-bit file of rows of bytes: RGB, or of kind 3 indices into a palette."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", len(rows[0]) // (3 if kind == 2 else 1), len(rows), 8, kind, 0, 0, 0)
    colours = chunk(b"PLTE", palette) if palette else b""
    lines = b"".join(b"\0" + row for row in rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + colours + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def image(inside, chance):
    """A figure of random place, size and colour on a ground of another colour, with noise."""
    at_x, at_y, r = chance.uniform(11, 21), chance.uniform(11, 21), chance.uniform(6, 10)
    figure, ground = ([chance.randrange(low, low + 100) for _ in "rgb"] for low in (140, 20))
    return [bytes(min(255, max(0, round(level + chance.gauss(0, 18)))) for x in range(SIZE)
                  for level in (figure if inside(x - at_x, y - at_y, r) else ground)) for y in range(SIZE)]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    chance = random.Random(0)
    for name, inside in CLASSES.items():
        folder = Path(sys.argv[1]) / name
        folder.mkdir(parents=True)
        for i in range(int(sys.argv[2]) if len(sys.argv) > 2 else 120):
            (folder / ("%03d.png" % i)).write_bytes(png(image(inside, chance)))


if __name__ == "__main__":
    main()
