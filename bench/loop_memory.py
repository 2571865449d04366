#!/usr/bin/env python3
"""What a loop takes as it gets longer: char_lstm at 16, 64 and 256 characters, stashed and recomputed, planned and taken.

    bench/loop_memory.py [--train TRAIN]"""
import json
import os
import tempfile

import peers
from tables import Table

LENGTHS = (16, 64, 256)


def main():
    args = peers.parser(__doc__).parse_args()
    network = json.loads((peers.HERE.parent / "models" / "char_lstm.json").read_text())
    network.pop("$schema")
    table = Table("char_lstm", ("trips", "{}"), ("level=2: planned bytes", "{:,}"), ("taken", "{:,}"),
                  ("bytes a further trip", "{:,.0f}"), "loss equal to none")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for way in ("stashed", "recomputed"):
            if way == "recomputed":
                next(entry for entry in network["layers"] if "while" in entry)["memopt"] = "recompute"
            file, before = os.path.join(folder, way + ".json"), None
            with open(file, "w") as out:
                json.dump(network, out)
            for length in LENGTHS:
                row = peers.result([args.train, "bench", "--model", file, "--set", f"length={length}", "--settings",
                                    "none;level=2", "--rounds", 1, "--steps", 3, "--threads", 1, "--format", "json"])["rows"][1]
                planned, taken, equal = row["planned"], row["taken"], row["loss_equal"]
                table.row(way, length, planned, taken, before and (planned - before[1]) / (length - before[0]),
                          "yes" if equal else "NO")
                before = (length, planned)
                good = good and planned == taken and equal
    return 0 if good else 1


if __name__ == "__main__":
    peers.start(main)
