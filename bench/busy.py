#!/usr/bin/env python3
"""A training step on a quiet machine and beside processes that keep processors busy at the same priority, in turns.

    bench/busy.py TRAIN [--busy 1] [--rounds 3] [--steps 20] [--threads 2] [NETWORK:BATCH...]

Prints, for each network, the medians of the rounds' median steps and that of their ratios, loaded over quiet. With as
many threads as processors P and N busy processes, a fair share of the machine is (P + N) / P of a quiet step."""
import argparse
import re
import statistics
import subprocess
import sys


def step_ms(o, network, batch, busy):
    others = []
    command = [o.train, "--model", network, "--data", "synthetic", "--batch", batch, "--steps", str(o.steps + 3),
               "--threads", str(o.threads), "--memopt", "level=2", "--eval-every", "0", "--log-every", "1"]
    try:
        for _ in range(busy):
            others.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
        progress = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    finally:
        for other in others:
            other.kill()
            other.wait()
    return statistics.median([float(ms) for ms in re.findall(r"([\d.]+)ms/step", progress)][3:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("networks", nargs="*", metavar="NETWORK:BATCH")
    parser.add_argument("--busy", type=int, default=1, help="busy processes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    o = parser.parse_intermixed_args()
    print("| network | batch | quiet, ms | beside %d busy, ms | ratio |\n|---|---:|---:|---:|---:|" % o.busy)
    for case in o.networks or ["resnet20:128", "googlenet:8", "alexnet:32", "char_gpt_cpu:12", "lenet:64"]:
        network, batch = case.split(":")
        pairs = [(step_ms(o, network, batch, 0), step_ms(o, network, batch, o.busy)) for _ in range(o.rounds)]
        ratios = sorted(loaded / quiet for quiet, loaded in pairs)
        print("| %s | %s | %.4g | %.4g | **%.2f** (%.2f-%.2f) |" % (
            network, batch, *(statistics.median(side) for side in zip(*pairs)), statistics.median(ratios),
            ratios[0], ratios[-1]), flush=True)


if __name__ == "__main__":
    main()
