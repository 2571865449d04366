#!/usr/bin/env python3
"""What of GPT-2 trains in how much memory: the largest batch of windows of 1024 tokens by plans alone, a row a network.

    bench/gpt2_fits.py [--train TRAIN] [MODEL...] [--options "--dtype bf16"]

A cell is the batch at level 2, and that with `--overhead 10%`, with what it costs by prediction."""
import shlex

import peers
from tables import Table

SIZES = {"gpt2": "124M", "gpt2_medium": "355M", "gpt2_large": "774M", "gpt2_xl": "1558M"}
MEMORY = ("8GB", "16GB", "24GB", "80GB")
OVER_BUDGET = 3


def cell(args, model, memory):
    def plan(*level):
        """That of the largest batch that fits, if any does."""
        try:
            return peers.plan(args.train, model, "--batch", "auto", "--memory-budget", memory, *level, *args.options)
        except peers.Failed as failed:
            if failed.code != OVER_BUDGET:
                raise
            return None
    level2, again = plan("--memopt", "level=2"), plan("--memopt", "level=3", "--overhead", "10%")
    return f"{level2['batch'] if level2 else '-'}; {again['batch']} at {100 * again['overhead']:.0f} %" if again else "-"


def main():
    parser = peers.parser(__doc__)
    parser.add_argument("models", nargs="*", default=list(SIZES), metavar="MODEL")
    parser.add_argument("--options", type=shlex.split, default=[], help="of all plans")
    args = parser.parse_args()
    table = Table("network", *(memory.replace("GB", " GB") for memory in MEMORY))
    for model in args.models:
        table.row(f"`{model}`, {SIZES[model]}", *(cell(args, model, memory) for memory in MEMORY))


if __name__ == "__main__":
    peers.start(main)
