#!/usr/bin/env python3
"""What computing again takes of a step beside what --costs of a kind of processors says, on such a processor: the median
of rounds of processes that take turns, each ratio to a step with all values kept.

    bench/predicted.py [--train TRAIN] [--costs avx512] [--rounds 5] [--steps 5] [resnet50 gpt2 unet...]

Fails if a difference is above two points of a step at 5, 10 or 20 %."""
import peers
from tables import MIB, Table

NETWORKS = {"resnet50": ("--batch", 8), "gpt2": ("--batch", 2),
            "unet": ("--batch", 8, "--set", "size=128,w=32")}
SHARES, MOST = (5, 10, 20), 2  # percent, and points of a step


def main():
    parser = peers.parser(__doc__, rounds=5, steps=5)
    parser.add_argument("--costs", default="avx512")
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    args = parser.parse_args()
    if unknown := set(args.networks) - set(NETWORKS):
        parser.error(f"no network {min(unknown)!r}; there are {', '.join(NETWORKS)}")
    table = Table("network, batch", "--overhead", ("arena, MiB", "{:.1f}"), ("predicted, %", "{:.1f}"),
                  ("measured, %", "{:.1f}"), ("by the rule of thumb, %", "{:.1f}"))
    wrong = 0
    for network in args.networks:
        words = NETWORKS[network]
        level3 = [f"level=3 --overhead {share}% --costs {args.costs}" for share in SHARES]
        ran = peers.result([args.train, "bench", "--model", network, *words, "--lr", 1e-6, "--threads", peers.THREADS,
                            "--steps", args.steps, "--rounds", args.rounds, "--format", "json", "--settings",
                            ";".join(["level=3 --overhead 0%", *level3])])["rows"]
        for share, setting, row in zip(SHARES, level3, ran[1:]):
            made = peers.plan(args.train, network, *words, "--memopt", *setting.split())
            rule = peers.plan(args.train, network, *words, "--memopt", "level=3", "--overhead", f"{share}%")
            predicted, measured = 100 * made["overhead"], 100 * (row["slowdown"] - 1)
            table.row(f"{network}, {words[1]}", f"{share} %", made["arena"] / MIB, predicted, measured,
                      100 * rule["overhead"])
            wrong += abs(predicted - measured) > MOST
    print(f"\n{peers.processor()}")
    return wrong > 0


if __name__ == "__main__":
    peers.start(main)
