#!/usr/bin/env python3
"""What the memory stage plans for every network of the zoo, training and evaluation, at batches 1, 32 and 128.

    bench/plans.py TRAIN [NETWORK...]

Needs neither data nor the memory of the networks. Prints a Markdown table and how many arenas are certified."""
import json
import subprocess
import sys

BATCHES = (1, 32, 128)


def zoo(train):
    wrong = subprocess.run([train, "plan", "--model", "?"], capture_output=True, text=True).stderr
    return wrong.split("known: ")[1].split(", or ")[0].split(", ")


def plan(train, network, batch, evaluation):
    mode = ["--eval"] if evaluation else ["--eval-every", "0"]
    command = [train, "plan", "--model", network, "--batch", str(batch), "--json"] + mode
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    train, *networks = sys.argv[1:]
    mib = lambda size: "%.2f" % (size / 2**20)
    certified = total = 0
    print("| network | mode | batch | none, MiB | level=2, MiB | arena, bytes | bound, bytes | certified | liveness, ms | plan, ms |")
    print("|---|---|---:|---:|---:|---:|---:|---|---:|---:|")
    for network in networks or zoo(train):
        for evaluation in (False, True):
            for batch in BATCHES:
                p = plan(train, network, batch, evaluation)
                total += 1
                certified += p["certified"]
                print("| %s | %s | %d | %s | %s | %d | %d | %s | %.3f | %.1f |" % (
                    network, "evaluation" if evaluation else "training", batch, mib(p["none_peak"]), mib(p["bytes"]["peak"]),
                    p["arena"], p["lower_bound"], "yes" if p["certified"] else "no", p["ms"]["liveness"], p["ms"]["plan"]))
                sys.stdout.flush()
    print("\n%d of %d certified" % (certified, total))


if __name__ == "__main__":
    main()
