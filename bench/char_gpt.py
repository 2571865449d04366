#!/usr/bin/env python3
"""char_gpt_cpu on a text, trained by us and by PyTorch from the same weights by the same recipe on windows in other orders,
in processes that take turns: loss on the last tenth, and time.

    bench/char_gpt.py TEXT [--build build/release] --python PYTHON [--steps 2000] [--seeds 2]

TEXT has 96 bytes at most that differ. Our seconds are of the whole process, without its evaluation; PyTorch's of its steps
alone. Losses of several seeds show how far they differ by themselves."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

THREADS = 2
PEER = """
import json, math, sys, time
sys.path.insert(0, sys.argv[1])
import numpy as np, torch, torch.nn.functional as F
import networks_torch as nets, safetensors
weights, text, steps, seed, threads = sys.argv[2], sys.argv[3], *map(int, sys.argv[4:])
LENGTH, BATCH, RATE, WARM = 64, 12, 1e-3, 100
torch.set_num_threads(threads)
p = {name: torch.tensor(value, requires_grad=True) for name, value in safetensors.read(weights).items()}
symbols = np.unique(np.fromfile(text, np.uint8), return_inverse=True)[1]
cut = len(symbols) - len(symbols) // 10
def windows(part):
    count = (len(part) - 1) // LENGTH
    of = lambda begin: torch.tensor(part[begin:begin + count * LENGTH]).long().view(count, LENGTH)
    return of(0), of(1)
x, t = windows(symbols[:cut])
groups = [{"params": [v for v in p.values() if v.dim() > 1], "weight_decay": 0.1}, {"params": [v for v in p.values() if v.dim() == 1], "weight_decay": 0}]
optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.99), fused=True)
random = torch.Generator().manual_seed(seed)
order, began = torch.randperm(len(x), generator=random), time.perf_counter()
for step in range(steps):
    if len(order) < BATCH:
        order = torch.randperm(len(x), generator=random)
    rows, order = order[:BATCH], order[BATCH:]
    share = (step + 1) / WARM if step < WARM else 0.1 + 0.45 * (1 + math.cos(math.pi * (step - WARM) / (steps - WARM)))
    for group in optimizer.param_groups:
        group["lr"] = RATE * share
    optimizer.zero_grad(set_to_none=True)
    F.cross_entropy(nets.char_gpt_cpu(p, x[rows]), t[rows].flatten()).backward()
    torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
    optimizer.step()
seconds = time.perf_counter() - began
x, t = windows(symbols[cut:])
with torch.no_grad():
    losses = [F.cross_entropy(nets.char_gpt_cpu(p, x[i:i + 64]), t[i:i + 64].flatten(), reduction="sum") for i in range(0, len(x), 64)]
print(json.dumps({"loss": float(sum(losses)) / t.numel(), "seconds": seconds, "version": torch.__version__}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--python", required=True)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=2)
    args = parser.parse_args()
    here, train = os.path.dirname(os.path.abspath(__file__)), args.build + "/bin/train"
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seeds):
            weights, run = f"{folder}/weights{seed}", f"{folder}/run{seed}"
            given = ["--data", "text:" + args.text, "--seed", str(seed), "--steps", str(args.steps), "--threads", str(THREADS)]
            subprocess.run([train, "export", "--model", "char_gpt_cpu", "--seed", str(seed), "--output", weights], check=True, capture_output=True)
            began = time.perf_counter()
            subprocess.run([train, "--model", "char_gpt_cpu", "--weights", weights, *given, "--eval-every", "0", "--save", run], check=True, capture_output=True)
            seconds = time.perf_counter() - began
            scores = subprocess.run([train, "eval", "--weights", run, "--format", "json"], check=True, capture_output=True, text=True).stdout
            ours.append({"loss": json.loads(scores)["loss"], "seconds": seconds})
            peer = [args.python, "-c", PEER, here, weights, args.text, str(args.steps), str(seed), str(THREADS)]
            theirs.append(json.loads(subprocess.run(peer, check=True, stdout=subprocess.PIPE).stdout))
    print(f"{args.steps} steps, PyTorch {theirs[0]['version']}, {THREADS} threads\n")
    print("| seed | loss, ours | loss, PyTorch's | seconds, ours | seconds, PyTorch's | ratio |\n|---:|---:|---:|---:|---:|---:|")
    for seed, (a, b) in enumerate(zip(ours, theirs)):
        print(f"| {seed} | {a['loss']:.3f} | {b['loss']:.3f} | {a['seconds']:.0f} | {b['seconds']:.0f} | {a['seconds'] / b['seconds']:.2f} |")
    print(f"\nratio of times, median: {statistics.median(a['seconds'] / b['seconds'] for a, b in zip(ours, theirs)):.2f}")


if __name__ == "__main__":
    main()
