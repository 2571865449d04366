#!/usr/bin/env python3
"""What the memory stage plans for every network of the zoo, training and evaluation, at batches 1, 32 and 128.

    bench/plans.py TRAIN [NETWORK...]

Needs neither data nor the memory of the networks. Prints the Markdown table of docs/measurements/memory.md (MiB under none and
level=2; times of training at batch 32) and how many arenas are certified."""
import json
import subprocess
import sys

BATCHES = (1, 32, 128)


def zoo(train):
    wrong = subprocess.run([train, "plan", "--model", "?"], capture_output=True, text=True).stderr
    return wrong.split("known: ")[1].split(", or ")[0].split(", ")


def plan(train, network, batch, evaluation):
    mode = ["--eval"] if evaluation else ["--eval-every", "0"]
    command = [train, "plan", "--model", network, "--batch", str(batch), "--threads", "2", "--json"] + mode
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def bytes_of(p):
    return "%.2f → %.2f" % (p["none_peak"] / 2**20, p["bytes"]["peak"] / 2**20)


def main():
    train, *networks = sys.argv[1:]
    plans = []
    print("| network | training, batch 1 | 32 | 128 | evaluation, batch 128 | liveness, ms | plan, ms |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for network in networks or zoo(train):
        training = [plan(train, network, batch, False) for batch in BATCHES]
        evaluation = [plan(train, network, batch, True) for batch in BATCHES]
        plans += training + evaluation
        cells = [bytes_of(p) for p in training + evaluation[-1:]]
        ms = training[1]["ms"]
        print("| %s | %s | %.3f | %.1f |" % (network, " | ".join(cells), ms["liveness"], ms["plan"]), flush=True)
    print("\n%d of %d arenas are certified." % (sum(p["certified"] for p in plans), len(plans)))


if __name__ == "__main__":
    main()
