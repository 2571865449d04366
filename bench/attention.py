#!/usr/bin/env python3
"""Attention alone on the CPU, f32, beside PyTorch's scaled_dot_product_attention on this machine in the same minutes, in
processes that take turns: forward part, and gradient.

    bench/attention.py [--python PYTHON] [--rounds N] [--runs N] [LENGTHxHEADSxSIZE...]

PyTorch's ways are "math", which writes the scores out, and "fastest", what it chooses by itself. A ratio is that of the
medians of a round, and the table has the median of the rounds. Bytes are what ours takes beside inputs and outputs: the
larger workspace, and what is kept for the gradient; "of scores" their share of the [heads, LENGTH, LENGTH] numbers that
"math" keeps."""
import statistics
import time

import peers
from tables import Table

WAYS = ("math", "fastest")


def torch_attention(way, length, heads, size, causal, runs):
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    torch.set_num_threads(peers.THREADS)
    q, k, v = (torch.rand(1, heads, length, size).mul_(2).sub_(1).requires_grad_() for _ in range(3))
    dy, times = torch.rand(1, heads, length, size), []
    with sdpa_kernel([SDPBackend.MATH] if way == "math" else [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        for _ in range(runs + 1):
            q.grad = k.grad = v.grad = None
            begin = time.perf_counter()
            y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            middle = time.perf_counter()
            y.backward(dy)
            times.append((middle - begin, time.perf_counter() - middle))
    return dict(zip(("forward", "backward"), (statistics.median(t) for t in zip(*times[1:]))))


def main():
    parser = peers.parser(__doc__, python=True, rounds=3, runs=3)
    parser.add_argument("cases", nargs="*", default=["4096x12x64"], metavar="LENGTHxHEADSxSIZE")
    args = parser.parse_args()
    table = Table("length, heads, size", "sees", "part", ("ours, ms", "{:.0f}"), ("GFLOP/s", "{:.0f}"),
                  *((f"of {way}", "**{:.2f}**") for way in WAYS), ("bytes beside", "{}"), ("of scores", "1/{:.0f}"))
    for length, heads, size in (map(int, case.split("x")) for case in args.cases):
        for causal in (False, True):
            ours = [peers.beside(args.train, "bench_attention"), "--length", length, "--heads", heads, "--size", size,
                    "--runs", args.runs, *["--causal"] * causal]
            sides = {"ours": lambda: peers.result(ours)}
            sides |= {way: lambda way=way: peers.peer(args.python, torch_attention, way, length, heads, size, causal, args.runs)
                      for way in WAYS}
            rounds = peers.in_turns(args.rounds, sides)
            beside = rounds[0]["ours"]["workspace"] + rounds[0]["ours"]["kept"]
            pairs = length * (length + 1) // 2 if causal else length * length
            for part, products in (("forward", 2), ("backward", 5)):
                seconds = statistics.median(of["ours"][part] for of in rounds)
                ratios = [[of["ours"][part] / of[way][part] for of in rounds if of[way]] for way in WAYS]
                table.row(f"{length}, {heads}, {size}", "earlier keys" if causal else "all keys", part, 1e3 * seconds,
                          2e-9 * products * pairs * heads * size / seconds,
                          *(statistics.median(found) if found else None for found in ratios), beside,
                          4 * heads * length * length / beside)


if __name__ == "__main__":
    peers.start(main)
