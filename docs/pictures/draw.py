#!/usr/bin/env python3
"""Draws pictures of these pages, as SVG on standard output, from what the program says.

    docs/pictures/draw.py batches TRAIN              largest batches of resnet50 in bf16 within 12 GiB
    docs/pictures/draw.py timeline TRAIN ARGS...     memory over a step: ARGS are those of train timeline
    docs/pictures/draw.py course METRICS.csv         loss and accuracy of a run

A page names the command of each of its pictures, and tests/doc_figures compares the two.
"""
import csv
import json
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

MIB = 2**20
# Okabe and Ito's colours, which people of all kinds of colour vision tell apart; in the order of the categories.
COLOURS = ["#56b4e9", "#0072b2", "#999999", "#009e73", "#cc79a7", "#e69f00", "#d55e00", "#f0e442"]
CATEGORIES = COLOURS[:2] + ["#556677"] + COLOURS[2:]  # as on the timeline's page
GPU = ["--dtype", "bf16", "--device", "rtx4090,memory=12GiB"]


class Picture:
    def __init__(self, width, height, title):
        self.parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">' % (width, height),
                      "<style>text { font: 14px sans-serif; fill: #333; } .small { font-size: 12px; fill: #666; }"
                      " .title { font-size: 16px; font-weight: bold; } .axis { stroke: #666; }</style>",
                      '<rect width="%d" height="%d" fill="#fff"/>' % (width, height)]
        self.text(width / 2, 24, title, "title", "middle")

    def text(self, x, y, words, kind="", anchor="start"):
        self.parts.append('<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>'
                          % (kind, x, y, anchor, escape(words)))

    def box(self, x, y, width, height, colour):
        self.parts.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>'
                          % (x, y, width, height, colour))

    def line(self, x1, y1, x2, y2):
        self.parts.append('<line class="axis" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>' % (x1, y1, x2, y2))

    def area(self, points, colour):
        self.parts.append('<polygon points="%s" fill="%s"/>'
                          % (" ".join("%.1f,%.1f" % point for point in points), colour))

    def course(self, points, colour):
        self.parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>'
                          % (" ".join("%.1f,%.1f" % point for point in points), colour))

    def done(self):
        return "\n".join(self.parts + ["</svg>", ""])


def batches(train):
    rows = []
    for setting, words in (("none", "nothing shared"), ("level=1", "buffers shared"),
                           ("level=2", "one exact arena, the default"), ("level=3", "values computed again")):
        command = [train, "plan", "--model", "resnet50", "--batch", "auto", "--threads", "2", "--json", *GPU,
                   "--memopt", setting] + (["--overhead", "10%"] if setting == "level=3" else [])
        plan = json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)
        price = ", %.1f %% of a step" % (100 * plan["overhead"]) if setting == "level=3" else ""
        rows.append((plan["batch"], "%s: %s" % (setting, words), price))
    picture = Picture(860, 260, "Largest batch of resnet50 that trains in 12 GiB (bf16, RTX 4090 with 12 GiB)")
    most = max(batch for batch, _, _ in rows)
    for i, (batch, words, price) in enumerate(rows):
        y, width = 48 + 50 * i, 400 * batch / most
        picture.text(290, y + 23, words, "", "end")
        picture.box(302, y, width, 34, COLOURS[6 if price else 1])
        picture.text(310 + width, y + 23, "%d%s" % (batch, price))
    return picture.done()


def in_use(setting, categories):
    """Bytes of each category that are needed while each op runs."""
    steps = len(setting["ops"])
    rows = [[0] * (steps + 1) for _ in range(categories)]
    for _, category, size, born, until, _, _ in setting["values"]:
        rows[category][born] += size
        rows[category][until] -= size
    for row in rows:
        for step in range(1, steps + 1):
            row[step] += row[step - 1]
    return [row[:steps] for row in rows]


def stairs(heights, x, y):
    """The points at which a course of steps turns, as far as the picture shows it."""
    levels = [round(y(height), 1) for height in heights]
    points = [(x(0), levels[0])]
    for step in range(1, len(levels)):
        if levels[step] != levels[step - 1]:
            points += [(x(step), levels[step - 1]), (x(step), levels[step])]
    return points + [(x(len(levels)), levels[-1])]


def timeline(train, *args):
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        subprocess.run([train, "timeline", *args, "--out", str(page)], check=True)
        text = page.read_text()
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)[1])
    title = re.search(r"<title>(.*?)</title>", text)[1]
    picture = Picture(900, 340, title)
    most, wide, high, floor = max(s["bytes"] for s in data["settings"]), 270, 210, 280
    seen = set()
    for i, setting in enumerate(data["settings"]):
        left, scale = 20 + 295 * i, high / most
        held = setting["bytes"] * scale
        picture.text(left, 52, "%s: %.1f MiB" % (setting["memopt"], setting["bytes"] / MIB))
        picture.box(left, floor - held, wide, held, "#e4e7eb")
        rows = in_use(setting, len(data["categories"]))
        steps = len(setting["ops"])
        below = [0] * steps
        for category, row in enumerate(rows):
            if not any(row):
                continue
            seen.add(category)
            above = [a + b for a, b in zip(below, row)]
            x, y = lambda step: left + wide * step / steps, lambda size: floor - size * scale
            picture.area(stairs(above, x, y) + stairs(below, x, y)[::-1], CATEGORIES[category])
            below = above
        picture.line(left, floor, left + wide, floor)
        picture.text(left, floor + 18, "forward", "small")
        picture.text(left + wide, floor + 18, "backward and updates", "small", "end")
    x = 20
    for category in sorted(seen):
        picture.box(x, 312, 12, 12, CATEGORIES[category])
        picture.text(x + 18, 323, data["categories"][category], "small")
        x += 34 + 7 * len(data["categories"][category])
    picture.box(x, 312, 12, 12, "#e4e7eb")
    picture.text(x + 18, 323, "held, not in use", "small")
    return picture.done()


def course(file):
    with open(file) as rows:
        rows = [row for row in csv.DictReader(rows)]
    last = max(int(row["step"]) for row in rows)
    top = max(float(row["loss"]) for row in rows if row["split"] == "train")  # a first evaluation may be far above
    picture = Picture(860, 320, "Loss and accuracy of the run")
    x = lambda row: 60 + 740 * int(row["step"]) / last
    for i, (split, name) in enumerate((("train", "training"), ("eval", "evaluation"))):
        of = [row for row in rows if row["split"] == split]
        picture.course([(x(row), 270 - 220 * min(1, float(row["loss"]) / top)) for row in of], COLOURS[5 + i])
        picture.course([(x(row), 270 - 220 * float(row["acc"])) for row in of], COLOURS[i])
        picture.box(60 + 380 * i, 300, 12, 12, COLOURS[5 + i])
        picture.text(78 + 380 * i, 311, "loss, " + name, "small")
        picture.box(240 + 380 * i, 300, 12, 12, COLOURS[i])
        picture.text(258 + 380 * i, 311, "accuracy, " + name, "small")
    picture.line(60, 270, 800, 270)
    picture.line(60, 50, 60, 270)
    picture.text(52, 54, "%.1f" % top, "small", "end")
    picture.text(808, 54, "100 %", "small")
    picture.text(800, 288, "step %d" % last, "small", "end")
    return picture.done()


if __name__ == "__main__":
    drawings = {"batches": batches, "timeline": timeline, "course": course}
    if len(sys.argv) < 3 or sys.argv[1] not in drawings:
        sys.exit(__doc__)
    sys.stdout.write(drawings[sys.argv[1]](*sys.argv[2:]))
