#!/usr/bin/env python3
"""What of GPT-2 trains in how much memory: the largest batch of windows of 1024 tokens by plans alone, a row a network.

    bench/gpt2_fits.py build/release/bin/train [MODEL...] [--options "--dtype bf16"]

A cell is the batch at level 2, and that with `--overhead 10%`, with what it costs by prediction."""
import argparse
import json
import shlex
import subprocess

SIZES = {"gpt2": "124M", "gpt2_medium": "355M", "gpt2_large": "774M", "gpt2_xl": "1558M"}
MEMORY = ("8GB", "16GB", "24GB", "80GB")
AGAIN = ["--memopt", "level=3", "--overhead", "10%"]
OVER_BUDGET = 3


def plan(train, model, memory, options):
    """The plan of the largest batch that fits, if any does."""
    command = [train, "plan", "--model", model, "--batch", "auto", "--memory-budget", memory, "--eval-every", "0", "--json",
               "--threads", "2", *options]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode not in (0, OVER_BUDGET):
        raise SystemExit(f"{shlex.join(command)}: {ran.stderr}")
    return json.loads(ran.stdout) if ran.returncode == 0 else None


def cell(args, model, memory):
    level2 = plan(args.train, model, memory, ["--memopt", "level=2", *args.options])
    again = plan(args.train, model, memory, [*AGAIN, *args.options])
    if not again:
        return "-"
    return f"{level2['batch'] if level2 else '-'}; {again['batch']} at {100 * again['overhead']:.0f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", help="our program")
    parser.add_argument("models", nargs="*", default=list(SIZES), metavar="MODEL")
    parser.add_argument("--options", type=shlex.split, default=[], help="of all plans")
    args = parser.parse_args()
    print("| network | " + " | ".join(memory.replace("GB", " GB") for memory in MEMORY) + " |")
    print("|---|" + "---|" * len(MEMORY))
    for model in args.models:
        print(f"| `{model}`, {SIZES[model]} | " + " | ".join(cell(args, model, memory) for memory in MEMORY) + " |", flush=True)


if __name__ == "__main__":
    main()
