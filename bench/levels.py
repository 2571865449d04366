#!/usr/bin/env python3
"""A training step of the program that packages have, beside that of one compiled for this processor, in turns.

    bench/levels.py [--train TRAIN] [--lethe LETHE] [--rounds 5] [--steps 12] [--threads 2] [NETWORK:BATCH:DTYPE...]

LETHE is what is installed: it starts the level that fits the processor. LETHE_LEVEL=x86-64-v3 is heeded. Prints, for
each network, the medians of the rounds' median steps and that of their ratios, the package's over the native one's."""
import re
import statistics

import peers
from tables import Table

WARM_UP = 3


def step_ms(args, program, network, batch, dtype):
    progress = peers.run([program, "--model", network, "--batch", batch, "--dtype", dtype, "--steps", args.steps + WARM_UP,
                          "--threads", args.threads, "--eval-every", 0, "--log-every", 1]).err
    return statistics.median([float(ms) for ms in re.findall(r"([\d.]+)ms/step", progress)][WARM_UP:])


def main():
    parser = peers.parser(__doc__, rounds=5, steps=12, threads=peers.THREADS)
    parser.add_argument("--lethe", default="lethe", help="the program of a package")
    parser.add_argument("networks", nargs="*", metavar="NETWORK:BATCH:DTYPE",
                        default=["resnet20:128:f32", "resnet20:128:bf16", "googlenet:8:f32", "alexnet:32:f32",
                                 "char_gpt_cpu:12:f32", "char_gpt_cpu:12:bf16", "mlp:64:f32"])
    args = parser.parse_args()
    table = Table("network", ("batch", "{}"), "dtype", ("native, ms", "{:.4g}"), ("package, ms", "{:.4g}"), ("ratio", "{}"))
    for case in args.networks:
        network, batch, dtype = case.split(":")
        pairs = [[step_ms(args, program, network, batch, dtype) for program in (args.train, args.lethe)]
                 for _ in range(args.rounds)]
        table.row(network, batch, dtype, *map(statistics.median, zip(*pairs)), peers.spread([b / a for a, b in pairs]))


if __name__ == "__main__":
    peers.start(main)
