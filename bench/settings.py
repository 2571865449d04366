#!/usr/bin/env python3
"""Whether every memory setting takes from the device what it predicts, for every network of the zoo: a training step at
batch 1 of each that takes at most 6 GiB.

    bench/settings.py TRAIN [NETWORK...]

Prints a Markdown table of the MiB predicted by `train plan`; behind them "=" if the run took that to the byte, else the
difference. Exits with 1 if there is one."""
import json
import re
import subprocess
import sys

from plans import zoo

SETTINGS = ("none", "level=0", "level=1", "level=1,release", "level=1,inplace", "level=2")
MOST_BYTES = 6 * 2**30


def run(train, network, setting, *command):
    arguments = ["--model", network, "--memopt", setting, "--batch", "1", "--eval-every", "0"]
    return subprocess.run([train, *command, *arguments], check=True, capture_output=True, text=True).stdout


def predicted_bytes(train, network, setting):
    return json.loads(run(train, network, setting, "plan", "--json"))["bytes"]["peak"]


def taken_bytes(train, network, setting):
    """What was taken, and whether the prediction was a bound, as it is where a branch may not be taken."""
    said = run(train, network, setting, "--steps", "1", "--data", "synthetic", "--quiet")
    taken = re.search(r"^memory taken (\d+) bytes, (at most)?", said, re.MULTILINE)
    return int(taken[1]), bool(taken[2])


def main():
    train, *networks = sys.argv[1:]
    runs = bounds = wrong = 0
    print("| network | " + " | ".join(SETTINGS) + " |")
    print("|---" + "|---:" * len(SETTINGS) + "|")
    for network in networks or zoo(train):
        cells = []
        for setting in SETTINGS:
            predicted = predicted_bytes(train, network, setting)
            cell = "%.2f" % (predicted / 2**20)
            if predicted <= MOST_BYTES:
                taken, is_bound = taken_bytes(train, network, setting)
                runs += 1
                bounds += is_bound
                wrong += taken > predicted if is_bound else taken != predicted
                cell += " %+d bytes" % (taken - predicted) if taken != predicted else " ="
            cells.append(cell)
        print("| %s | %s |" % (network, " | ".join(cells)))
        sys.stdout.flush()
    print("\n%d of %d runs took what was predicted, %d of them at most that" % (runs - wrong, runs, bounds))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
