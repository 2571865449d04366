#!/usr/bin/env python3
"""What a training step takes with parameters in fewer bits: the median of rounds of two processes that take turns, each
ratio to the same step with wider ones.

    bench/bits_time.py [--train TRAIN] [--rounds 5] [--steps 5]

Adapters train beside frozen weights in nf4-dq and in bf16, of two layers as TinyLlama has; gpt2 has parameters in bf16
and states in 8 bits, or both in f32. Fails if a ratio is above 1.3 for adapters, or 1.05 for gpt2."""
import statistics

import peers
from tables import Table

TINYLLAMA = ["--model", "llama", "--batch", 1, "--set", "width=2048,layers=2,heads=32,kv_heads=4,hidden=5632",
             "--set", "vocab=32000", "--set", "length=512", "--lora", "r=16", "--lora-targets", "all-linear"]
GPT2 = ["--model", "gpt2", "--batch", 4, "--set", "length=256"]
FEW, FROZEN = ["--param-dtype", "bf16", "--state-dtype", "8bit"], "--frozen-dtype"
CASES = (  # what is timed, its words, those of fewer bits, those of wider ones, and the most it may take
    ("adapters over nf4-dq beside bf16, in f32", TINYLLAMA, [FROZEN, "nf4-dq"], [FROZEN, "bf16"], 1.3),
    ("adapters over nf4-dq beside bf16, in bf16", [*TINYLLAMA, "--dtype", "bf16"], [FROZEN, "nf4-dq"],
     [FROZEN, "bf16"], 1.3),
    ("gpt2, 4 x 256, bf16 and 8 bits beside f32", GPT2, FEW, [], 1.05))


def main():
    parser = peers.parser(__doc__, rounds=5, steps=5)
    args = parser.parse_args()

    def milliseconds(*words):
        return peers.result([args.train, "bench", *words, "--optimizer", "adamw", "--lr", 1e-6, "--threads",
                             peers.THREADS, "--steps", args.steps, "--rounds", 1, "--settings", "level=2", "--format",
                             "json"])["rows"][0]["ms"]
    table = Table("step", ("wider, ms", "{:.0f}"), ("fewer bits, ms", "{:.0f}"), ("ratio", "{:.3f}"))
    slow = 0
    for name, words, few, wide, most in CASES:
        rounds = peers.in_turns(args.rounds, {"ours": lambda: milliseconds(*words, *few),
                                              "wider": lambda: milliseconds(*words, *wide)}, ours=("ours", "wider"))
        ratio = statistics.median(one["ours"] / one["wider"] for one in rounds)
        table.row(name, *(statistics.median(one[side] for one in rounds) for side in ("wider", "ours")), ratio)
        slow += ratio > most
    print(f"\n{peers.processor()}")
    return slow > 0


if __name__ == "__main__":
    peers.start(main)
