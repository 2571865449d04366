#!/usr/bin/env python3
"""A training step of GPT-2 on the CPU, f32 with AdamW, beside PyTorch's and llm.c's on this machine in the same minutes:
the same network from the same weights on the same tokens, in processes that take turns.

    bench/gpt2_step.py [--build build/release] [--python PYTHON]... [--llmc FOLDER] [--batch 4] [--length 64] [--rounds N]

Each --python is an interpreter that has PyTorch (eager, scaled_dot_product_attention where there is one, the fastest form
of its AdamW). FOLDER is a checkout of github.com/karpathy/llm.c in which `make train_gpt2` has been run; its program has
4 windows of 64 tokens built in. A ratio is that of the medians of a round, and the table has the median of the rounds;
the losses of the first and the last step must agree. Nominal operations are those of sums of products."""
import argparse
import os
import statistics
import struct
import subprocess
import sys
import tempfile

import numpy as np

import safetensors
from step_time import THREADS, median_ms, ours, processor, run

VOCAB, WIDTH, HEADS, LAYERS, RATE = 50257, 768, 12, 12, "0.0001"
PEER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import torch, torch.nn.functional as F
import networks_torch as nets, safetensors
weights, inputs, steps, rate, threads = sys.argv[2:]
torch.set_num_threads(int(threads))
p = {name: torch.tensor(value, requires_grad=True) for name, value in safetensors.read(weights).items()}
fed = {name: torch.tensor(value).long() for name, value in safetensors.read(inputs).items()}
try:
    optimizer = torch.optim.AdamW(p.values(), lr=float(rate), weight_decay=0, fused=True)
except (TypeError, RuntimeError):
    optimizer = torch.optim.AdamW(p.values(), lr=float(rate), weight_decay=0, foreach=True)
times, losses = [], []
for step in range(int(steps)):
    begin = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    loss = F.cross_entropy(nets.gpt2(p, fed["text"]), fed["next"].flatten())
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    times.append(time.perf_counter() - begin)
print(json.dumps({"seconds": times, "losses": losses, "version": torch.__version__}))
"""
# Parameters in the order of llm.c's file, where those of all layers follow each other.
LLMC_ORDER = ["tokens.weight", "positions.weight", *(f"layer/{{}}/{name}" for name in (
    "attention/norm.weight", "attention/norm.bias", "attention/qkv.weight", "attention/qkv.bias", "attention/out.weight",
    "attention/out.bias", "mlp/norm.weight", "mlp/norm.bias", "mlp/up.weight", "mlp/up.bias", "mlp/down.weight", "mlp/down.bias")),
    "norm.weight", "norm.bias"]


def write_for_llmc(folder, weights, tokens, length):
    """What its program reads: a checkpoint of version 3, and shards of tokens that hold one batch, the same each step."""
    classes = -(-VOCAB // 128) * 128
    with open(folder + "/gpt2_124M.bin", "wb") as file:
        file.write(struct.pack("<8i", 20240326, 3, length, VOCAB, LAYERS, HEADS, WIDTH, classes) + bytes(4 * 248))
        for name in LLMC_ORDER:
            for layer in range(LAYERS if "{}" in name else 1):
                file.write(weights[name.format(layer)].tobytes())
            if name == "tokens.weight":
                file.write(bytes(4 * WIDTH * (classes - VOCAB)))
    shards = folder + "/dev/data/tinyshakespeare"
    os.makedirs(shards)
    for part in ("train", "val"):
        with open(f"{shards}/tiny_shakespeare_{part}.bin", "wb") as file:
            file.write(struct.pack("<3i", 20240520, 1, len(tokens)) + bytes(4 * 253) + tokens.astype(np.uint16).tobytes())


def run_llmc(program, folder, steps):
    """Its first steps; it goes on for 41, generating in between, and is ended."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(THREADS)}
    process = subprocess.Popen(["stdbuf", "-oL", os.path.abspath(program)], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    result = {"seconds": [], "losses": []}
    for line in process.stdout:
        if line.startswith("step "):
            words = line.split()  # step 0: train loss 5.356172 (took 1000.0 ms)
            result["losses"].append(float(words[4]))
            result["seconds"].append(float(words[6]) / 1000)
            if len(result["losses"]) == steps:
                break
    process.kill()
    process.wait()
    return result if len(result["losses"]) == steps else sys.exit(f"{program}: ended before its step {steps}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--llmc")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6, help="of a process; the first two do not count")
    args = parser.parse_args()
    if args.llmc and (args.batch, args.length) != (4, 64):
        parser.error("--llmc: its program has --batch 4 and --length 64 built in")
    here, step, train = os.path.dirname(os.path.abspath(__file__)), args.build + "/bench/bench_step", args.build + "/bin/train"
    network = ["--model", "gpt2", "--set", f"length={args.length}", "--batch", str(args.batch), "--threads", str(THREADS)]
    peak = ours([train, "bench", *network, "--steps", "3", "--rounds", "1", "--profile", "--format", "json"])["peak"]["gflops"]
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        weights, inputs = folder + "/weights", folder + "/inputs"
        subprocess.run([step, *network, "--export", weights], check=True)
        tokens = np.random.default_rng(0).integers(0, VOCAB, args.batch * args.length + 1).astype(np.int32)
        safetensors.write(inputs, {"text": tokens[:-1].reshape(args.batch, -1), "next": tokens[1:].reshape(args.batch, -1)})
        if args.llmc:
            write_for_llmc(folder, safetensors.read(weights), tokens, args.length)
        for _ in range(args.rounds):
            once = {"ours": ours([step, *network, "--optimizer", "adamw", "--lr", RATE, "--weights", weights, "--inputs", inputs, "--steps", str(args.steps)])}
            for python in args.python:
                once[python] = ours([python, "-c", PEER, here, weights, inputs, str(args.steps), RATE, str(THREADS)])
            if args.llmc:
                once["llm.c"] = run_llmc(args.llmc + "/train_gpt2", folder, args.steps)
            rounds.append(once)
    print(f"{processor()}, {THREADS} threads, f32, {args.batch} windows of {args.length} tokens\n")
    print("| who | a step, ms | GFLOP/s, nominal | of peak | ours of it | rounds |\n|---|---:|---:|---:|---:|---:|")
    for who in rounds[0]:
        ms = statistics.median(median_ms(once[who]) for once in rounds)
        gflops = 1e3 * rounds[0]["ours"]["gflop"] / ms
        ratios = [median_ms(once["ours"]) / median_ms(once[who]) for once in rounds]
        for at in (0, -1):
            losses = rounds[0]["ours"]["losses"][at], rounds[0][who]["losses"][at]
            if abs(losses[0] - losses[1]) > 1e-3 * abs(losses[0]):
                sys.exit(f"{who}: the loss of step {at % args.steps} is {losses[1]}, ours {losses[0]}")
        name = f"PyTorch {rounds[0][who]['version']}" if who in args.python else who
        print(f"| {name} | {ms:.0f} | {gflops:.0f} | {100 * gflops / peak:.0f} % | **{statistics.median(ratios):.2f}** "
              f"({min(ratios):.2f}-{max(ratios):.2f}) | {len(rounds)} |")


if __name__ == "__main__":
    main()
