#!/usr/bin/env python3
"""A training step of the head without logits (linear_cross_entropy) and of the same head by fc and cross_entropy, in
turns: medians of whole steps, their ratio in each round, and the bytes of both plans. Fails if the losses differ.

    bench/head.py STEP [--tokens N] [--classes N] [--width N] [--rounds N] [--steps N] [--threads N] [--dtype f32]

STEP is build/release/bench/bench_step. Both read layer-normed values, so that the gradient goes on from the head.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

HEADS = {
    "fused": {"loss": [{"op": "linear_cross_entropy", "out": "=classes", "name": "head"}]},
    "materialised": {"loss": [{"op": "cross_entropy"}]},
}


def network(name):
    layers = [{"op": "layer_norm", "name": "norm"}]
    if name == "materialised":
        layers.append({"op": "fc", "out": "=classes", "bias": False, "init": "xavier", "name": "head"})
    return {"version": 1, "name": name, "vars": {"classes": 1, "width": 1},
            "inputs": {"x": {"shape": ["=width"]}, "label": {"shape": [], "dtype": "i32"}},
            "layers": layers, **HEADS[name]}


def step(o, file):
    command = [o.step, "--model", file, "--batch", o.tokens, "--set", f"classes={o.classes}", "--set",
               f"width={o.width}", "--steps", o.steps + 1, "--threads", o.threads, "--dtype", o.dtype, "--momentum", 0]
    return json.loads(subprocess.run([str(word) for word in command], check=True, capture_output=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step")
    for name, absent in {"tokens": 1024, "classes": 50257, "width": 768, "rounds": 3, "steps": 2, "threads": 2}.items():
        parser.add_argument(f"--{name}", type=int, default=absent)
    parser.add_argument("--dtype", default="f32")
    o = parser.parse_args()
    ms = {name: [] for name in HEADS}
    with tempfile.TemporaryDirectory() as folder:
        for name in HEADS:
            pathlib.Path(folder, name + ".json").write_text(json.dumps(network(name)))
        for _ in range(o.rounds):
            of = {name: step(o, pathlib.Path(folder, name + ".json")) for name in HEADS}
            first = [run["losses"][0] for run in of.values()]
            assert abs(first[0] - first[1]) < (1e-4 if o.dtype == "f32" else 1e-2) * first[1], first
            for name, run in of.items():
                ms[name].append(1e3 * statistics.median(run["seconds"][1:]))
    ratios = [a / b for a, b in zip(ms["fused"], ms["materialised"])]
    for name, run in of.items():
        print(f"{name}: {statistics.median(ms[name]):.0f} ms, {run['gflop']:.0f} GFLOP, {run['bytes'] / 2**20:.1f} MiB")
    print(f"ratio: {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})")


main()
