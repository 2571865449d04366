#!/usr/bin/env python3
"""A training step of the head without logits (linear_cross_entropy) and of the same head by fc and cross_entropy, in
turns: medians of whole steps, their ratio in each round, and the bytes of both plans. Fails if the losses differ.

    bench/head.py [--train TRAIN] [--tokens N] [--classes N] [--width N] [--rounds N] [--steps N] [--dtype f32]

Both read layer-normed values, so that the gradient goes on from the head."""
import json
import pathlib
import statistics
import tempfile

import peers
from tables import MIB, Table

NORM = {"op": "layer_norm", "name": "norm"}
FC = {"op": "fc", "out": "=classes", "bias": False, "init": "xavier", "name": "head"}
HEADS = {"fused": ([NORM], {"op": "linear_cross_entropy", "out": "=classes", "name": "head"}),
         "materialised": ([NORM, FC], {"op": "cross_entropy"})}


def step(args, folder, name):
    layers, loss = HEADS[name]
    file = pathlib.Path(folder, name + ".json")
    file.write_text(json.dumps({
        "version": 1, "name": name, "vars": {"classes": 1, "width": 1}, "layers": layers, "loss": [loss],
        "inputs": {"x": {"shape": ["=width"]}, "label": {"shape": [], "dtype": "i32"}}}))
    return peers.result([peers.beside(args.train, "bench_step"), "--model", file, "--batch", args.tokens, *peers.sets(
        [f"classes={args.classes}", f"width={args.width}"]), "--steps", args.steps + 1, "--threads", peers.THREADS, "--dtype",
        args.dtype, "--momentum", 0])


def main():
    parser = peers.parser(__doc__, tokens=1024, classes=50257, width=768, rounds=3, steps=2, dtype="f32")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rounds = [{name: step(args, folder, name) for name in HEADS} for _ in range(args.rounds)]
    ms = {name: [1e3 * statistics.median(of[name]["seconds"][1:]) for of in rounds] for name in HEADS}
    a, b = (rounds[0][name]["losses"][0] for name in HEADS)
    if not abs(a - b) < (1e-4 if args.dtype == "f32" else 1e-2) * b:
        raise peers.Failed(f"the losses differ: {a} and {b}", 1)
    table = Table("head", ("ms", "{:.0f}"), ("GFLOP", "{:.0f}"), ("MiB", "{:.1f}"))
    for name, of in rounds[0].items():
        table.row(name, statistics.median(ms[name]), of["gflop"], of["bytes"] / MIB)
    print("\nratio:", peers.spread([fused / other for fused, other in zip(*ms.values())]))


if __name__ == "__main__":
    peers.start(main)
