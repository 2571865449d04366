#!/usr/bin/env python3
"""GPT-2's logits as PyTorch computes them, of weights in Hugging Face's layout and under its names (bench/foreign_logits.py).

    bench/gpt2_logits.py --step build/release/bench/bench_step [--size small|gpt2] [--draws 3]

gpt2 is that of 124 million parameters, with 128 positions. A transposed matrix, queries taken for keys, or gelu without
tanh would be off by far more than is allowed."""
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F

import foreign_logits

MODEL, BATCH = "gpt2", 2
SIZES = {"small": {"vocab": 211, "length": 48, "width": 96, "heads": 4, "layers": 3},
         "gpt2": {"vocab": 50257, "length": 128, "width": 768, "heads": 12, "layers": 12}}


def drawn_weights(size, random):
    """By Hugging Face's names; matrices [in, out], as its Conv1D has them."""
    width, draw = size["width"], foreign_logits.Draw(random)
    draw.tensor("wte.weight", (size["vocab"], width), 0.1)
    draw.tensor("wpe.weight", (size["length"], width), 0.1)
    for i in range(size["layers"]):
        draw.norm(f"h.{i}.ln_1", width)
        draw.linear(f"h.{i}.attn.c_attn", (width, 3 * width), width, 3 * width)
        draw.linear(f"h.{i}.attn.c_proj", (width, width), width, width)
        draw.norm(f"h.{i}.ln_2", width)
        draw.linear(f"h.{i}.mlp.c_fc", (width, 4 * width), width, 4 * width)
        draw.linear(f"h.{i}.mlp.c_proj", (4 * width, width), 4 * width, width)
    draw.norm("ln_f", width)
    return draw.tensors


def drawn_inputs(size, random):
    text = random.integers(0, size["vocab"], (BATCH, size["length"] + 1)).astype(np.int32)
    return {"text": text[:, :-1], "next": text[:, 1:]}


def torch_logits(size, p, inputs):
    text = torch.tensor(inputs["text"], dtype=torch.int64)
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

    x = p["wte.weight"][text] + p["wpe.weight"][:length]
    for i in range(size["layers"]):
        x = x + attention(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn")
        hidden = F.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate="tanh")
        x = x + linear(hidden, f"h.{i}.mlp.c_proj")
    return (norm(x, "ln_f") @ p["wte.weight"].T).reshape(batch * length, -1)


if __name__ == "__main__":
    foreign_logits.main(sys.modules[__name__])
