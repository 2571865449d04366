#!/usr/bin/env python3
"""Attention alone on the CPU, f32, beside PyTorch's scaled_dot_product_attention on this machine in the same minutes, in
processes that take turns: forward part, and gradient.

    bench/attention.py [--build build/release] --python PYTHON [--rounds N] [--runs N] [LENGTHxHEADSxSIZE...]

PYTHON is an interpreter that has PyTorch. Its ways are "math", which writes the scores out, and "fastest", what it
chooses by itself. A ratio is that of the medians of a round, and the table has the median of the rounds. Bytes are what
ours takes beside inputs and outputs: the larger workspace, and what is kept for the gradient; "of scores" their share of
the [heads, LENGTH, LENGTH] numbers that "math" keeps."""
import argparse
import json
import statistics
import subprocess

THREADS = 2
PEER = """
import json, statistics, sys, time
import torch, torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
way, (length, heads, size, causal, runs, threads) = sys.argv[1], map(int, sys.argv[2:])
torch.set_num_threads(threads)
q, k, v = (torch.rand(1, heads, length, size).mul_(2).sub_(1).requires_grad_() for _ in range(3))
dy = torch.rand(1, heads, length, size)
backends = [SDPBackend.MATH] if way == "math" else [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]
times = []
with sdpa_kernel(backends):
    for _ in range(runs + 1):
        q.grad = k.grad = v.grad = None
        begin = time.perf_counter()
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal != 0)
        middle = time.perf_counter()
        y.backward(dy)
        times.append((middle - begin, time.perf_counter() - middle))
print(json.dumps(dict(zip(("forward", "backward"), (statistics.median(t) for t in zip(*times[1:]))))))
"""
WAYS = ("math", "fastest")


def output_of(*command):
    return json.loads(subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE).stdout)


def measured(args, case):
    """Seconds by whose they are and by part, of each round."""
    rounds = []
    for _ in range(args.rounds):
        once = {"ours": output_of(f"{args.build}/bench/bench_attention", *case, args.runs)}
        for way in WAYS:
            once[way] = output_of(args.python, "-c", PEER, way, *case, args.runs, THREADS)
        rounds.append(once)
    return rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--python", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3, help="in each process and round, behind one that warms up")
    parser.add_argument("cases", nargs="*", default=["4096x12x64"], metavar="LENGTHxHEADSxSIZE")
    args = parser.parse_args()
    print("| length, heads, size | sees | part | ours, ms | GFLOP/s | of math | of fastest | bytes beside | of scores |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|")
    for text in args.cases:
        length, heads, size = map(int, text.split("x"))
        for causal in (0, 1):
            rounds = measured(args, (length, heads, size, causal))
            beside = rounds[0]["ours"]["workspace"] + rounds[0]["ours"]["kept"]
            share = beside / (4 * heads * length * length)
            pairs = length * (length + 1) // 2 if causal else length * length
            for part, products in (("forward", 2), ("backward", 5)):
                ours = statistics.median(once["ours"][part] for once in rounds)
                ratios = [statistics.median(once["ours"][part] / once[way][part] for once in rounds) for way in WAYS]
                print(f"| {length}, {heads}, {size} | {'earlier keys' if causal else 'all keys'} | {part} | {1e3 * ours:.0f} | "
                      f"{2e-9 * products * pairs * heads * size / ours:.0f} | **{ratios[0]:.2f}** | **{ratios[1]:.2f}** | "
                      f"{beside} | 1/{1 / share:.0f} |")


if __name__ == "__main__":
    main()
