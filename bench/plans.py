#!/usr/bin/env python3
"""What the memory stage plans for every network of the zoo, training and evaluation, at batches 1, 32 and 128.

    bench/plans.py [--train TRAIN] [NETWORK...]

Needs neither data nor the memory of the networks. Prints the Markdown table of docs/measurements/memory.md (MiB under
none and level=2; times of training at batch 32) and how many arenas are certified."""
import peers
from tables import MIB, Table

BATCHES = (1, 32, 128)


def bytes_of(plan):
    return f"{plan['none_peak'] / MIB:.2f} → {plan['bytes']['peak'] / MIB:.2f}"


def main():
    parser = peers.parser(__doc__)
    parser.add_argument("networks", nargs="*")
    args = parser.parse_args()
    plans = []
    table = Table("network", ("training, batch 1", "{}"), ("32", "{}"), ("128", "{}"), ("evaluation, batch 128", "{}"),
                  ("liveness, ms", "{:.3f}"), ("plan, ms", "{:.1f}"))
    for network in args.networks or peers.zoo(args.train):
        training = [peers.plan(args.train, network, "--batch", batch) for batch in BATCHES]
        evaluation = [peers.plan(args.train, network, "--batch", batch, evaluates=True) for batch in BATCHES]
        plans += training + evaluation
        ms = training[1]["ms"]
        table.row(network, *map(bytes_of, training + evaluation[-1:]), ms["liveness"], ms["plan"])
    print(f"\n{sum(plan['certified'] for plan in plans)} of {len(plans)} arenas are certified.")


if __name__ == "__main__":
    peers.start(main)
