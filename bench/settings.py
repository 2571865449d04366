#!/usr/bin/env python3
"""Whether every memory setting takes from the device what it predicts, for every network of the zoo: a training step at
batch 1 of each that takes at most 6 GiB.

    bench/settings.py [--train TRAIN] [NETWORK...]

Prints a Markdown table of the MiB predicted by `train plan`; "=" after them if the run took that to the byte, else the
difference. Exits with 1 if there is one."""
import re

import peers
from tables import MIB, Table

SETTINGS = ("none", "level=0", "level=1", "level=1,release", "level=1,inplace", "level=2")
MOST_BYTES = 6 * 2**30


def taken_bytes(train, network, setting):
    """What was taken, and whether the prediction was a bound, as it is where a branch may not be taken."""
    said = peers.run([train, "--model", network, "--memopt", setting, "--batch", 1, "--eval-every", 0, "--steps", 1,
                      "--data", "synthetic", "--threads", peers.THREADS, "--quiet"]).out
    taken = re.search(r"^memory taken (\d+) bytes, (at most)?", said, re.MULTILINE)
    return int(taken[1]), bool(taken[2])


def main():
    parser = peers.parser(__doc__)
    parser.add_argument("networks", nargs="*")
    args = parser.parse_args()
    runs = bounds = wrong = 0
    table = Table("network", *((setting, "{}") for setting in SETTINGS))
    for network in args.networks or peers.zoo(args.train):
        cells = []
        for setting in SETTINGS:
            predicted = peers.plan(args.train, network, "--memopt", setting, "--batch", 1)["bytes"]["peak"]
            cells.append(f"{predicted / MIB:.2f}")
            if predicted <= MOST_BYTES:
                taken, is_bound = taken_bytes(args.train, network, setting)
                runs += 1
                bounds += is_bound
                wrong += taken > predicted if is_bound else taken != predicted
                cells[-1] += " =" if taken == predicted else f" {taken - predicted:+d} bytes"
        table.row(network, *cells)
    print(f"\n{runs - wrong} of {runs} runs took what was predicted, {bounds} of them at most that")
    return 1 if wrong else 0


if __name__ == "__main__":
    peers.start(main)
