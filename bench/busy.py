#!/usr/bin/env python3
"""A training step on a quiet machine and beside processes that keep processors busy at the same priority, in turns.

    bench/busy.py [--train TRAIN] [--busy 1] [--rounds 3] [--steps 20] [--threads 2] [NETWORK:BATCH...]

Prints, for each network, the medians of the rounds' median steps and that of their ratios, loaded over quiet. With as
many threads as processors P and N busy processes, a fair share of the machine is (P + N) / P of a quiet step."""
import re
import statistics
import subprocess
import sys

import peers
from tables import Table

WARM_UP = 3


def step_ms(args, network, batch, busy):
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        progress = peers.run([args.train, "--model", network, "--data", "synthetic", "--batch", batch, "--steps",
                              args.steps + WARM_UP, "--threads", args.threads, "--memopt", "level=2", "--eval-every", 0,
                              "--log-every", 1]).err
    finally:
        for other in others:
            other.kill()
            other.wait()
    return statistics.median([float(ms) for ms in re.findall(r"([\d.]+)ms/step", progress)][WARM_UP:])


def main():
    parser = peers.parser(__doc__, busy=1, rounds=3, steps=20, threads=peers.THREADS)
    parser.add_argument("networks", nargs="*", metavar="NETWORK:BATCH",
                        default=["resnet20:128", "googlenet:8", "alexnet:32", "char_gpt_cpu:12", "lenet:64"])
    args = parser.parse_args()
    table = Table("network", ("batch", "{}"), ("quiet, ms", "{:.4g}"), (f"beside {args.busy} busy, ms", "{:.4g}"),
                  ("ratio", "{}"))
    for network, batch in (case.split(":") for case in args.networks):
        pairs = [(step_ms(args, network, batch, 0), step_ms(args, network, batch, args.busy)) for _ in range(args.rounds)]
        table.row(network, batch, *map(statistics.median, zip(*pairs)), peers.spread([busy / quiet for quiet, busy in pairs]))


if __name__ == "__main__":
    peers.start(main)
