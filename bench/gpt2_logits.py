#!/usr/bin/env python3
"""GPT-2's logits as PyTorch computes them, of weights in Hugging Face's layout and under its names.

    bench/gpt2_logits.py --step build/release/bench/bench_step [--size small|gpt2] [--draws 3]

Weights are drawn at random, larger than GPT-2's begin, so that attention looks at some places more than at others, and
written as a file of Hugging Face's; our program reads it by its names. f64: each logit within 1e-10 of PyTorch's, of the
largest. f32: the norm of the error against PyTorch's f64 logits, ours over PyTorch's own, at most 1.5, median over the
draws. A transposed matrix, queries taken for keys, or gelu without tanh would be off by far more."""
import argparse
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

import safetensors

SIZES = {"small": {"vocab": 211, "length": 48, "width": 96, "heads": 4, "layers": 3},
         "gpt2": {"vocab": 50257, "length": 128, "width": 768, "heads": 12, "layers": 12}}
BATCH = 2


def drawn_weights(size, random):
    """By Hugging Face's names; matrices [in, out], as its Conv1D has them."""
    width, tensors = size["width"], {}

    def draw(name, shape, deviation, mean=0.0):
        tensors[name] = (mean + deviation * random.standard_normal(shape)).astype(np.float32)

    def norm(name):
        draw(name + ".weight", (width,), 0.2, 1.0)
        draw(name + ".bias", (width,), 0.2)

    def linear(name, inputs, outputs):
        draw(name + ".weight", (inputs, outputs), 1.5 / math.sqrt(inputs))
        draw(name + ".bias", (outputs,), 0.2)

    draw("wte.weight", (size["vocab"], width), 0.1)
    draw("wpe.weight", (size["length"], width), 0.1)
    for i in range(size["layers"]):
        norm(f"h.{i}.ln_1")
        linear(f"h.{i}.attn.c_attn", width, 3 * width)
        linear(f"h.{i}.attn.c_proj", width, width)
        norm(f"h.{i}.ln_2")
        linear(f"h.{i}.mlp.c_fc", width, 4 * width)
        linear(f"h.{i}.mlp.c_proj", 4 * width, width)
    norm("ln_f")
    return tensors


def torch_logits(size, tensors, text, dtype):
    p = {name: torch.tensor(value, dtype=dtype) for name, value in tensors.items()}
    batch, length = text.shape

    def norm(x, name):
        return F.layer_norm(x, (size["width"],), p[name + ".weight"], p[name + ".bias"], 1e-5)

    def linear(x, name):
        return x @ p[name + ".weight"] + p[name + ".bias"]

    def attention(x, name):
        q, k, v = (part.view(batch, length, size["heads"], -1).transpose(1, 2)
                   for part in linear(x, name + ".c_attn").chunk(3, dim=2))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        y = scores.masked_fill(later, -math.inf).softmax(dim=3) @ v
        return linear(y.transpose(1, 2).reshape(batch, length, -1), name + ".c_proj")

    with torch.no_grad():
        x = p["wte.weight"][torch.tensor(text, dtype=torch.int64)] + p["wpe.weight"][:length]
        for i in range(size["layers"]):
            x = x + attention(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn")
            hidden = F.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate="tanh")
            x = x + linear(hidden, f"h.{i}.mlp.c_proj")
        return (norm(x, "ln_f") @ p["wte.weight"].T).numpy().reshape(batch * length, -1)


def our_logits(step, size, weights, inputs, dtype):
    logits = inputs + ".logits"
    command = [step, "--model", "gpt2", "--batch", str(BATCH), "--dtype", dtype, "--steps", "1", "--inference", "--threads", "2",
               "--weights", weights, "--inputs", inputs, "--logits", logits]
    for name, value in size.items():
        command += ["--set", f"{name}={value}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return safetensors.read(logits)["logits"].reshape(-1, size["vocab"])


def errors(step, size, folder, draw):
    """The largest difference in f64, over the largest logit; norms of the f32 errors over that of the logits, ours and PyTorch's."""
    random = np.random.default_rng(draw)
    tensors = drawn_weights(size, random)
    text = random.integers(0, size["vocab"], (BATCH, size["length"] + 1)).astype(np.int32)
    weights, inputs = os.path.join(folder, "weights"), os.path.join(folder, "inputs")
    safetensors.write(weights, tensors)
    safetensors.write(inputs, {"text": text[:, :-1], "next": text[:, 1:]})
    exact = torch_logits(size, tensors, text[:, :-1], torch.float64)
    theirs = torch_logits(size, tensors, text[:, :-1], torch.float32)
    ours = {dtype: our_logits(step, size, weights, inputs, dtype) for dtype in ("f64", "f32")}

    def norm(error):
        return np.linalg.norm(error) / np.linalg.norm(exact)
    return np.max(np.abs(ours["f64"] - exact)) / np.max(np.abs(exact)), norm(ours["f32"] - exact), norm(theirs - exact)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", default="build/release/bench/bench_step", help="our program")
    parser.add_argument("--size", choices=list(SIZES), default="small", help="gpt2: that of 124 million parameters, with 128 positions")
    parser.add_argument("--draws", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        draws = [errors(args.step, SIZES[args.size], folder, draw) for draw in range(args.draws)]
    largest, ours, theirs = max(d[0] for d in draws), np.median([d[1] for d in draws]), np.median([d[2] for d in draws])
    good = largest <= 1e-10 and ours <= 1.5 * theirs
    print(f"PyTorch {torch.__version__}, {args.draws} draws\n")
    print("| size | f64: largest difference, of the largest logit | f32 error, ours | f32 error, PyTorch's | ratio | as promised |")
    print("|---|---|---|---|---|---|")
    print(f"| {args.size} | {largest:.1e} | {ours:.1e} | {theirs:.1e} | {ours / theirs:.2f} | {'yes' if good else 'NO'} |")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
