#!/usr/bin/env python3
"""What trains in how much memory: the largest batch by plans alone, a row a network of GPT-2 with windows of 1024 tokens,
or a row a way to train Llama-2-7B with windows of 2048.

    bench/fits.py [--train TRAIN] [gpt2|gpt2_medium|gpt2_large|gpt2_xl|llama2_7b...] [--options "--dtype bf16"]

A cell is the batch at level 2, and that with `--overhead 10%`, with what it costs by prediction."""
import shlex

import peers
from tables import Table

SIZES = {"gpt2": "124M", "gpt2_medium": "355M", "gpt2_large": "774M", "gpt2_xl": "1558M"}
SEVEN, SEVEN_SETS = "llama2_7b", ["length=2048", "width=4096", "layers=32", "heads=32", "kv_heads=32", "hidden=11008",
                                  "vocab=32000"]
BF16, LORA = ["--param-dtype", "bf16"], ["--lora", "r=16", "--lora-targets", "all-linear"]
WAYS = {  # of Llama-2-7B
    "all, AdamW": [],
    "all, Adafactor": ["--optimizer", "adafactor"],
    "all, `--param-dtype bf16`, AdamW, `--state-dtype 8bit`": [*BF16, "--state-dtype", "8bit"],
    "all, `--param-dtype bf16`, Adafactor": [*BF16, "--optimizer", "adafactor"],
    "adapters over bf16": [*LORA, "--frozen-dtype", "bf16"],
    "adapters over q8_0": [*LORA, "--frozen-dtype", "q8_0"],
    "adapters over nf4-dq": [*LORA, "--frozen-dtype", "tokens.*=q8_0,logits.*=q8_0,*=nf4-dq"],
}
MEMORY, MEMORY_OF_SEVEN = ("8GB", "16GB", "24GB", "80GB"), ("8GB", "16GB", "24GB", "40GB", "80GB")
OVER_BUDGET = 3


def cell(args, how, memory):
    def plan(*level):
        """That of the largest batch that fits, if any does."""
        try:
            return peers.result([args.train, "plan", *how, "--batch", "auto", "--memory-budget", memory, "--eval-every", 0,
                                 "--threads", peers.THREADS, "--json", *level, *args.options])
        except peers.Failed as failed:
            if failed.code != OVER_BUDGET:
                raise
            return None
    level2, again = plan("--memopt", "level=2"), plan("--memopt", "level=3", "--overhead", "10%")
    return f"{level2['batch'] if level2 else '-'}; {again['batch']} at {100 * again['overhead']:.0f} %" if again else "-"


def rows_of(network):
    """Names and what `train plan` is told."""
    if network != SEVEN:
        return [(f"`{network}`, {SIZES[network]}", ["--model", network])]
    same = ["--model", "llama", *peers.sets(SEVEN_SETS), "--optimizer", "adamw", "--clip-norm", "0"]
    return [(name, [*same, *how]) for name, how in WAYS.items()]


def main():
    parser = peers.parser(__doc__)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="default: those of GPT-2")
    parser.add_argument("--options", type=shlex.split, default=[], help="of all plans")
    args = parser.parse_args()
    if unknown := set(args.networks) - {*SIZES, SEVEN}:
        parser.error(f"no network {min(unknown)!r}; there are {', '.join([*SIZES, SEVEN])}")
    memories = MEMORY_OF_SEVEN if SEVEN in args.networks else MEMORY
    table = Table("trained", *(memory.replace("GB", " GB") for memory in memories))
    for network in args.networks or SIZES:
        for name, how in rows_of(network):
            table.row(name, *(cell(args, how, memory) for memory in memories))


if __name__ == "__main__":
    peers.start(main)
