#!/usr/bin/env python3
"""Plans every network of the zoo in many budgets, from what level 2 takes down to the least that level 3 found, and
fails unless each is kept, and less budget takes neither more bytes nor less computing again.

    bench/budgets.py TRAIN [--budgets 50] [--batch 8] [NETWORK...]"""
import argparse
import json
import subprocess
import sys

from plans import zoo


def plan(args, network, more):
    command = [args.train, "plan", "--model", network, "--batch", str(args.batch), "--eval-every", "0", "--json"] + more
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("--budgets", type=int, default=50)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("networks", nargs="*")
    args = parser.parse_intermixed_args()
    wrong = 0
    print("| network | level=2, MiB | least, MiB | share | budgets |\n|---|---|---|---|---|")
    for network in args.networks or zoo(args.train):
        most = plan(args, network, [])["bytes"]["peak"]
        least = plan(args, network, ["--memopt", "level=3"])["least_feasible"]
        before, faults = (most, 0.0), []
        for i in range(args.budgets):
            budget = most - (most - least) * i // max(args.budgets - 1, 1)
            made = plan(args, network, ["--memory-budget", str(budget)])
            now = (made["bytes"]["peak"], made["overhead"])
            if now[0] > budget or now[0] > before[0] or now[1] < before[1]:
                faults.append(f"{budget}: {now} behind {before}")
            before = now
        wrong += len(faults)
        print(f"| {network} | {most / 2**20:.1f} | {least / 2**20:.1f} | {least / most:.2f} | "
              f"{args.budgets - len(faults)} of {args.budgets} kept and in order |", flush=True)
        for fault in faults:
            print(fault, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
