#!/usr/bin/env python3
"""What trains in how much memory: the largest batch by plans alone, a row a network of GPT-2 with windows of 1024 tokens,
or a row a way to train Llama-2-7B with windows of 2048.

    bench/fits.py [--train TRAIN] gpt2|gpt2_medium|gpt2_large|gpt2_xl|llama2_7b... [--options "--dtype bf16"]

A cell is the batch at level 2, and that with `--overhead 10%`, with what it costs by prediction."""
import shlex

import peers
from tables import Table

SIZES = {"gpt2": "124M", "gpt2_medium": "355M", "gpt2_large": "774M", "gpt2_xl": "1558M"}
LLAMA2_7B = ["--model", "llama", *peers.sets("length=2048 width=4096 layers=32 heads=32 kv_heads=32 hidden=11008 vocab=32000".split())]
LORA = ["--lora", "r=16", "--lora-targets", "all-linear"]
WAYS = {  # of Llama-2-7B
    "all, AdamW": ["--clip-norm", "0"],
    "all, Adafactor": ["--optimizer", "adafactor", "--clip-norm", "0"],
    "all, `--param-dtype bf16`, AdamW, `--state-dtype 8bit`": ["--param-dtype", "bf16", "--state-dtype", "8bit", "--clip-norm", "0"],
    "all, `--param-dtype bf16`, Adafactor": ["--param-dtype", "bf16", "--optimizer", "adafactor", "--clip-norm", "0"],
    "adapters over bf16": [*LORA, "--frozen-dtype", "bf16"],
    "adapters over q8_0": [*LORA, "--frozen-dtype", "q8_0"],
    "adapters over nf4-dq": [*LORA, "--frozen-dtype", "tokens.*=q8_0,logits.*=q8_0,*=nf4-dq"],
}
MEMORY = ("8GB", "16GB", "24GB", "40GB", "80GB")
OVER_BUDGET = 3


def cell(args, network, memory):
    def batch(*level):
        """The plan of the largest batch that fits, if any does."""
        try:
            return peers.result([args.train, "plan", *network, "--batch", "auto", "--memory-budget", memory, "--eval-every", 0,
                                 "--threads", peers.THREADS, "--json", *level, *args.options])
        except peers.Failed as failed:
            if failed.code != OVER_BUDGET:
                raise
            return None
    level2, again = batch("--memopt", "level=2"), batch("--memopt", "level=3", "--overhead", "10%")
    return f"{level2['batch'] if level2 else '-'}; {again['batch']} at {100 * again['overhead']:.0f} %" if again else "-"


def rows_of(network):
    if network != "llama2_7b":
        return [(f"`{network}`, {SIZES[network]}", ["--model", network])]
    return [(name, [*LLAMA2_7B, "--optimizer", "adamw", *how]) for name, how in WAYS.items()]


def main():
    parser = peers.parser(__doc__)
    parser.add_argument("networks", nargs="*", default=list(SIZES), choices=[*SIZES, "llama2_7b", []], metavar="NETWORK")
    parser.add_argument("--options", type=shlex.split, default=[], help="of all plans")
    args = parser.parse_args()
    table = Table("trained", *(memory.replace("GB", " GB") for memory in MEMORY))
    for network in args.networks:
        for name, how in rows_of(network):
            table.row(name, *(cell(args, how, memory) for memory in MEMORY))


if __name__ == "__main__":
    peers.start(main)
