#!/usr/bin/env python3
"""What a training step takes with parameters in few bits: the median of rounds of two processes that take turns, each
ratio to the same step with parameters in more bits.

    bench/bits_time.py [--train TRAIN] [--rounds 5] [--steps 5]

Adapters train beside frozen weights in nf4-dq and in bf16: of two layers, table and head with TinyLlama's sizes. gpt2 has
parameters in bf16 and states in 8 bits, or both in f32. Fails if a ratio is above what is promised."""
import statistics

import peers
from tables import Table

ADAPTERS = ["--model", "llama", "--batch", 1, "--lora", "r=16", "--lora-targets", "all-linear",
            *peers.sets(["width=2048", "layers=2", "heads=32", "kv_heads=4", "hidden=5632", "vocab=32000", "length=512"])]
NF4, BF16 = ["--frozen-dtype", "nf4-dq"], ["--frozen-dtype", "bf16"]
CASES = (  # what is timed, its words, those of few bits, those of more, and the most that the ratio may be
    ("adapters over nf4-dq beside bf16, in f32", ADAPTERS, NF4, BF16, 1.3),
    ("adapters over nf4-dq beside bf16, in bf16", [*ADAPTERS, "--dtype", "bf16"], NF4, BF16, 1.3),
    ("gpt2, 4 x 256, `--param-dtype bf16 --state-dtype 8bit` beside f32",
     ["--model", "gpt2", "--batch", 4, "--set", "length=256"], ["--param-dtype", "bf16", "--state-dtype", "8bit"], [], 1.05))


def main():
    args = peers.parser(__doc__, rounds=5, steps=5).parse_args()

    def milliseconds(words):
        return peers.result([args.train, "bench", *words, "--optimizer", "adamw", "--lr", 1e-6, "--threads",
                             peers.THREADS, "--steps", args.steps, "--rounds", 1, "--settings", "level=2", "--format",
                             "json"])["rows"][0]["ms"]
    table = Table("step", ("more bits, ms", "{:.0f}"), ("few bits, ms", "{:.0f}"), ("ratio", "{:.3f}"),
                  ("promised", "{}"))
    slow = 0
    for name, words, few, more, most in CASES:
        sides = {"more": lambda: milliseconds([*words, *more]), "few": lambda: milliseconds([*words, *few])}
        rounds = peers.in_turns(args.rounds, sides, ours=sides)
        ratio = statistics.median(one["few"] / one["more"] for one in rounds)
        table.row(name, *(statistics.median(one[side] for one in rounds) for side in sides), ratio, most)
        slow += ratio > most
    print(f"\n{peers.processor()}")
    return slow > 0


if __name__ == "__main__":
    peers.start(main)
