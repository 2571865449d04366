#!/usr/bin/env python3
"""Writes the losses of the first steps of the zoo's networks as PyTorch computes them in f64, to which a test holds ours
(tests/models/torch_losses_test.cpp), so that no PyTorch is needed for that.

    bench/torch_losses.py [--train TRAIN] > tests/models/torch_losses.json

Weights are our initial ones; inputs one after the other are made of the numbers 1, 2, 3... in memory order (NHWC) by the
function `mixed`."""
import functools
import json
import os
import sys
import tempfile

import numpy as np
import torch

import networks_torch
import peers
import safetensors
import same_numbers

STEPS, MOMENTUM = 3, same_numbers.MOMENTUM
nets, TEXT, IMAGE = networks_torch, {"text": (32,), "next": (32,)}, {"image": (32, 32, 3), "label": ()}
SMALL = {"vocab": "101", "length": "32", "width": "48", "heads": "4", "layers": "2"}
VIT = {"width": "48", "heads": "3", "layers": "2"}
# (network, function, shapes of a sample's inputs as they lie in memory, whole numbers below this or by input, batch, rate,
# settings)
CASES = (
    ("lenet", nets.lenet, {"image": (28, 28, 1), "label": ()}, 10, 4, 0.005, {}),
    ("resnet20", nets.resnet20, IMAGE, 10, 4, 0.1, {}),
    ("resnet50", nets.resnet50, {"image": (64, 64, 3), "label": ()}, 10, 2, 0.001, {"size": "64", "classes": "10"}),
    ("googlenet", nets.googlenet, {"image": (64, 64, 3), "label": ()}, 10, 2, 0.002, {"size": "64", "classes": "10", "dropout": "0"}),
    ("unet", nets.unet, {"image": (32, 32, 3), "mask": (32, 32)}, 11, 2, 0.05, {}),
    ("mlp_mixer", nets.mlp_mixer, IMAGE, 10, 2, 0.02, {}),
    ("vit_tiny", functools.partial(nets.vit, heads=3), IMAGE, 10, 2, 0.02, VIT),
    ("vit_tiny", functools.partial(nets.vit, heads=3), IMAGE, 10, 2, 0.02, {**VIT, "pool_mean": "true"}),
    ("char_lstm", nets.char_lstm, {"text": (64,), "next": (64,)}, 96, 2, 0.5, {}),
    ("transformer", nets.transformer, {"text": (64,), "next": (64,)}, 96, 2, 0.05, {}),
    ("char_gpt_cpu", nets.char_gpt_cpu, {"text": (64,), "next": (64,)}, 96, 2, 0.05, {}),
    ("gpt2", functools.partial(nets.gpt2, heads=4), TEXT, 101, 2, 0.05, SMALL),
    ("llama", functools.partial(nets.llama, heads=4, kv_heads=2), TEXT, 101, 2, 0.05, {**SMALL, "kv_heads": "2", "hidden": "64"}),
    ("bert", nets.bert, {"text": (32,), "label": ()}, {"text": 96, "label": 2}, 3, 0.05, {"length": "32", "dropout": "0"}),
)
LABEL_SMOOTHING = {"vit_tiny": 0.1}


def mixed(first, count):
    """Of first, first + 1... numbers of 32 bits without order: the last steps of MurmurHash3."""
    h = np.arange(first, first + count, dtype=np.uint64)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = ((h ^ (h >> np.uint64(shift))) * np.uint64(factor)) & np.uint64(0xFFFFFFFF)
    return h ^ (h >> np.uint64(16))


def fed(shapes, below, batch):
    """Images, [N, C, H, W], between -1 and 1, other inputs whole numbers."""
    inputs, first = {}, 1
    for name, of_sample in shapes.items():
        shape = (batch, *of_sample)
        h = mixed(first, int(np.prod(shape))).reshape(shape)
        first += h.size
        limit = np.uint64(below[name] if isinstance(below, dict) else below)
        inputs[name] = (h / 2.0 ** 31 - 1).transpose(0, 3, 1, 2) if len(shape) == 4 else (h % limit).astype(np.int32)
    return inputs


def losses(step, name, network, shapes, below, batch, rate, sets):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "weights")
        peers.run([step, "--model", name, *peers.sets(f"{key}={value}" for key, value in sets.items()), "--batch", 1, "--dtype",
                   "f64", "--export", file])
        inputs = fed(shapes, below, batch)
        return same_numbers.torch_run(network, safetensors.read(file), inputs, torch.float64, rate, STEPS,
                                      LABEL_SMOOTHING.get(name, 0))[0]


def main():
    args = peers.parser(__doc__).parse_args()
    cases = []
    for case in CASES:
        name, _, _, below, batch, rate, sets = case
        found = list(losses(peers.beside(args.train, "bench_step"), *case))
        cases.append({"model": name, "set": sets, "batch": batch, "rate": rate, "below": below, "losses": found})
        print(name, *found, file=sys.stderr, flush=True)
    by, lines = f"PyTorch {torch.__version__}, f64, bench/torch_losses.py", ",\n".join("    " + json.dumps(c) for c in cases)
    print(f'{{\n  "by": "{by}", "momentum": {MOMENTUM},\n  "cases": [\n{lines}\n  ]\n}}')


if __name__ == "__main__":
    peers.start(main)
