#!/usr/bin/env python3
"""Packs public instances with `train pack` and prints a table: instance, lower bound, height, above the bound, CPU seconds.

    bench/pack.py [--train TRAIN] [DIR]

MiniMalloc's cases are in the tests; DIR may hold larger ones: resnet50, pangu_2.6B, G_1, S_1, Y_1 (.csv, from
github.com/cappadokes/idealloc). Every packing is checked here once more."""
import bisect
import csv
import itertools
import pathlib
import tempfile

import peers
from tables import Table

CASES = peers.HERE.parent / "tests/memopt/planner-cases"
CAPACITY = 1048576
NOT_FOUND = 3


def rows_of(file):
    with open(file, newline="") as lines:
        return [{k: v if k == "id" else int(v) for k, v in row.items()} for row in csv.DictReader(lines)]


def overlap(rows):
    """Sweeps through time; at a birth only the neighbours in offset can be in the way."""
    events = sorted([(r["upper"], 0, i) for i, r in enumerate(rows)] + [(r["lower"], 1, i) for i, r in enumerate(rows)])
    live = []  # (offset, end), sorted
    for _, born, i in events:
        mine = (rows[i]["offset"], rows[i]["offset"] + rows[i]["size"])
        if mine[0] == mine[1]:
            continue
        at = bisect.bisect_left(live, mine)
        if not born:
            del live[at]
        elif (at > 0 and live[at - 1][1] > mine[0]) or (at < len(live) and live[at][0] < mine[1]):
            return True
        else:
            live.insert(at, mine)
    return False


def lower_bound(rows):
    changes = sorted([(r["upper"], -r["size"]) for r in rows] + [(r["lower"], r["size"]) for r in rows])
    return max(itertools.accumulate(change for _, change in changes))


def pack(args, table, file, capacity, seconds):
    bound, height, more = lower_bound(rows_of(file)), "not found", ["--capacity", capacity] if capacity else []
    with tempfile.NamedTemporaryFile(suffix=".csv") as out:
        try:
            cpu = peers.run([args.train, "pack", file, "--time", seconds, "--out", out.name, *more]).cpu
            rows = rows_of(out.name)
            height = max(r["offset"] + r["size"] for r in rows)
            if overlap(rows):
                raise peers.Failed(f"{file}: buffers overlap", 1)
        except peers.Failed as failed:
            if failed.code != NOT_FOUND:
                raise
            cpu = failed.cpu
    above = 100 * (height - bound) / bound if height != "not found" else "-"
    table.row(file.stem.split(".1048576")[0], capacity or "-", bound, height, above, cpu)
    return cpu


def main():
    parser = peers.parser(__doc__)
    parser.add_argument("large", nargs="?", type=pathlib.Path, metavar="DIR")
    args = parser.parse_args()
    table = Table("instance", ("capacity", "{}"), ("lower bound", "{}"), ("height", "{}"), ("above the bound", "+{:.3f} %"),
                  ("CPU s", "{:.2f}"))
    total = sum(pack(args, table, file, CAPACITY, 10) for file in sorted(CASES.glob("?.1048576.csv")))
    table.row("all", CAPACITY, None, None, None, total)
    for name, capacity in (("C", 1039360), ("D", 986112), ("J", 989184), ("D", None), ("J", None)):
        pack(args, table, CASES / f"{name}.1048576.csv", capacity, 10)
    for name in ("resnet50", "G_1", "pangu_2.6B", "S_1", "Y_1") if args.large else ():
        pack(args, table, args.large / f"{name}.csv", None, 8)


if __name__ == "__main__":
    peers.start(main)
