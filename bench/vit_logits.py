#!/usr/bin/env python3
"""A vision transformer's logits as PyTorch computes them, of weights under timm's names (bench/foreign_logits.py).

    bench/vit_logits.py --step build/release/bench/bench_step [--size small|mean|vit_s16] [--draws 3]

The form is that of timm's VisionTransformer: learned positions, a token for the class, or in size mean the mean of all
patches behind the norm. Patches in another order, or heads taken apart otherwise, would be off by far more than is allowed."""
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F

import foreign_logits

MODEL, BATCH = "vit", 2
SMALL = {"size": 32, "patch": 8, "width": 48, "heads": 4, "layers": 3, "classes": 7, "channels": 3, "pool_mean": "false"}
SIZES = {"small": SMALL, "mean": {**SMALL, "pool_mean": "true"},
         "vit_s16": {"size": 224, "patch": 16, "width": 384, "heads": 6, "layers": 12, "classes": 1000, "channels": 3,
                     "pool_mean": "false"}}


def has_class_token(size):
    return size["pool_mean"] == "false"


def drawn_weights(size, random):
    width, patch, draw = size["width"], size["patch"], foreign_logits.Draw(random)
    pixels, patches = size["channels"] * patch * patch, (size["size"] // patch) ** 2
    if has_class_token(size):
        draw.tensor("cls_token", (1, 1, width), 0.5)
    draw.tensor("pos_embed", (1, patches + has_class_token(size), width), 0.5)
    draw.linear("patch_embed.proj", (width, size["channels"], patch, patch), pixels, width)
    for i in range(size["layers"]):
        draw.norm(f"blocks.{i}.norm1", width)
        draw.linear(f"blocks.{i}.attn.qkv", (3 * width, width), width, 3 * width)
        draw.linear(f"blocks.{i}.attn.proj", (width, width), width, width)
        draw.norm(f"blocks.{i}.norm2", width)
        draw.linear(f"blocks.{i}.mlp.fc1", (4 * width, width), width, 4 * width)
        draw.linear(f"blocks.{i}.mlp.fc2", (width, 4 * width), 4 * width, width)
    draw.norm("norm", width)
    draw.linear("head", (size["classes"], width), width, size["classes"])
    return draw.tensors


def drawn_inputs(size, random):
    """Images as our program is fed: [N, H, W, C]."""
    image = random.standard_normal((BATCH, size["size"], size["size"], size["channels"])).astype(np.float32)
    return {"image": image, "label": random.integers(0, size["classes"], BATCH).astype(np.int32)}


def torch_logits(size, p, inputs):
    def norm(x, name):
        return F.layer_norm(x, (size["width"],), p[name + ".weight"], p[name + ".bias"], 1e-6)

    def linear(x, name):
        return F.linear(x, p[name + ".weight"], p[name + ".bias"])

    def attention(x, name):
        batch, tokens, width = x.shape
        q, k, v = linear(x, name + ".qkv").reshape(batch, tokens, 3, size["heads"], -1).permute(2, 0, 3, 1, 4)
        shares = (q @ k.transpose(2, 3) / math.sqrt(q.shape[3])).softmax(dim=3)
        return linear((shares @ v).transpose(1, 2).reshape(batch, tokens, width), name + ".proj")

    image = torch.tensor(inputs["image"]).to(p["norm.weight"].dtype).permute(0, 3, 1, 2)
    x = F.conv2d(image, p["patch_embed.proj.weight"], p["patch_embed.proj.bias"], stride=size["patch"]).flatten(2).transpose(1, 2)
    if has_class_token(size):
        x = torch.cat([p["cls_token"].expand(x.shape[0], -1, -1), x], dim=1)
    x = x + p["pos_embed"]
    for i in range(size["layers"]):
        x = x + attention(norm(x, f"blocks.{i}.norm1"), f"blocks.{i}.attn")
        x = x + linear(F.gelu(linear(norm(x, f"blocks.{i}.norm2"), f"blocks.{i}.mlp.fc1")), f"blocks.{i}.mlp.fc2")
    x = norm(x, "norm")
    return linear(x[:, 0] if has_class_token(size) else x.mean(dim=1), "head")


if __name__ == "__main__":
    foreign_logits.main(sys.modules[__name__])
