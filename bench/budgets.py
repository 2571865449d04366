#!/usr/bin/env python3
"""Plans every network of the zoo in many budgets, from what level 2 takes down to the least that level 3 found, and
fails unless each is kept, and less budget takes neither more bytes nor less computing again.

    bench/budgets.py [--train TRAIN] [--budgets 50] [--batch 8] [NETWORK...]"""
import sys

import peers
from tables import MIB, Table


def main():
    parser = peers.parser(__doc__, budgets=50, batch=8)
    parser.add_argument("networks", nargs="*")
    args = parser.parse_args()
    wrong = 0
    table = Table("network", ("level=2, MiB", "{:.1f}"), ("least, MiB", "{:.1f}"), ("share", "{:.2f}"), "budgets")
    for network in args.networks or peers.zoo(args.train):
        def plan(*more):
            return peers.plan(args.train, network, "--batch", args.batch, *more)
        most, least = plan()["bytes"]["peak"], plan("--memopt", "level=3")["least_feasible"]
        before, faults = (most, 0.0), []
        for i in range(args.budgets):
            budget = most - (most - least) * i // max(args.budgets - 1, 1)
            made = plan("--memory-budget", budget)
            now = (made["bytes"]["peak"], made["overhead"])
            if now[0] > budget or now[0] > before[0] or now[1] < before[1]:
                faults.append(f"{budget}: {now} after {before}")
            before = now
        wrong += len(faults)
        table.row(network, most / MIB, least / MIB, least / most,
                  f"{args.budgets - len(faults)} of {args.budgets} kept and in order")
        print(*faults, sep="\n", end="\n" if faults else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    peers.start(main)
