#!/usr/bin/env python3
"""What a loop takes as it gets longer: char_lstm at 16, 64 and 256 characters, stashed and recomputed, planned and taken.

    bench/loop_memory.py build/release/bin/train"""
import json
import os
import subprocess
import sys
import tempfile

LENGTHS = (16, 64, 256)


def main():
    train = sys.argv[1]
    model = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models", "char_lstm.json")
    network = json.load(open(model))
    network.pop("$schema")
    print("| char_lstm | trips | level=2: planned bytes | taken | bytes a further trip | loss equal to none |\n|---|---:|---:|---:|---:|---|")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for way in ("stashed", "recomputed"):
            if way == "recomputed":
                next(entry for entry in network["layers"] if "while" in entry)["memopt"] = "recompute"
            file = os.path.join(folder, way + ".json")
            json.dump(network, open(file, "w"))
            before = None
            for length in LENGTHS:
                out = subprocess.run([train, "bench", "--model", file, "--set", f"length={length}", "--settings", "none;level=2",
                                      "--rounds", "1", "--steps", "3", "--threads", "1", "--format", "json"],
                                     check=True, capture_output=True, text=True).stdout
                row = json.loads(out)["rows"][1]
                planned, taken, equal = row["planned"], row["taken"], row["loss_equal"]
                growth = "" if before is None else f"{(planned - before[1]) / (length - before[0]):,.0f}"
                before = (length, planned)
                good = good and planned == taken and equal
                print(f"| {way} | {length} | {planned:,} | {taken:,} | {growth} | {'yes' if equal else 'NO'} |", flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
