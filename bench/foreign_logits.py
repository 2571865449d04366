#!/usr/bin/env python3
"""Our logits beside PyTorch's, of random weights in a file of another library's names and layout: GPT-2 under Hugging
Face's, its matrices [in, out], and a vision transformer under timm's.

    bench/foreign_logits.py [--train TRAIN] [--draws 3] [gpt2_small|gpt2|vit_small|vit_mean|vit_s16 ...]

gpt2 has 124 million parameters and 128 positions here, vit_s16 22 million; in vit_mean the mean of all patches after the
norm stands for the token of the class. f64: each logit within 1e-10 of PyTorch's, of the largest. f32: the norm of the
error against PyTorch's f64 logits, ours over PyTorch's own, at most 1.5, median over the draws. A transposed matrix,
queries taken for keys, patches in another order or gelu without tanh would be off by far more."""
import os
import tempfile

import numpy as np
import torch

import networks_torch
import peers
import safetensors
from tables import Table

BATCH = 2
VIT = {"size": 32, "patch": 8, "width": 48, "heads": 4, "layers": 3, "classes": 7, "channels": 3, "pool_mean": "false"}
CASES = {"gpt2_small": {"vocab": 211, "length": 48, "width": 96, "heads": 4, "layers": 3},
         "gpt2": {"vocab": 50257, "length": 128, "width": 768, "heads": 12, "layers": 12},
         "vit_small": VIT, "vit_mean": {**VIT, "pool_mean": "true"},
         "vit_s16": {**VIT, "size": 224, "patch": 16, "width": 384, "heads": 6, "layers": 12, "classes": 1000}}
# A layer's parts by their foreign and our own names.
GPT2_LAYER = (("ln_1", "attention/norm"), ("attn.c_attn", "qkv"), ("attn.c_proj", "out"), ("ln_2", "norm"), ("mlp.c_fc", "up"),
              ("mlp.c_proj", "down"))
VIT_LAYER = (("norm1", "attention/norm"), ("attn.qkv", "qkv"), ("attn.proj", "out"), ("norm2", "norm"), ("mlp.fc1", "up"),
             ("mlp.fc2", "down"))


class Weights:
    """Drawn larger than networks begin, so that attention looks at some places more than at others: under foreign names,
    and in the order and layout of networks_torch."""

    def __init__(self, random, is_turned):
        self.random, self.is_turned, self.foreign, self.own = random, is_turned, {}, {}

    def tensor(self, foreign, own, shape, deviation, mean=0.0, turned=False):
        value = (mean + deviation * self.random.standard_normal(shape)).astype(np.float32)
        self.own[own], self.foreign[foreign] = value, value.T.copy() if turned else value

    def norm(self, foreign, own, width):
        self.tensor(foreign + ".weight", own + ".weight", (width,), 0.2, 1.0)
        self.tensor(foreign + ".bias", own + ".bias", (width,), 0.2)

    def linear(self, foreign, own, *shape):
        self.tensor(foreign + ".weight", own + ".weight", shape, 1.5 / np.sqrt(np.prod(shape[1:])), turned=self.is_turned)
        self.tensor(foreign + ".bias", own + ".bias", shape[:1], 0.2)

    def layers(self, foreign, parts, count, width):
        shapes = {"qkv": (3 * width, width), "out": (width, width), "up": (4 * width, width), "down": (width, 4 * width)}
        for i in range(count):
            for theirs, ours in parts:
                names = f"{foreign}.{i}.{theirs}", f"{i}/{ours}"
                self.linear(*names, *shapes[ours]) if ours in shapes else self.norm(*names, width)


def gpt2(case, random):
    """Weights, inputs as our program is fed, and PyTorch's network of (parameters, inputs)."""
    weights, width = Weights(random, True), case["width"]
    weights.tensor("wte.weight", "tokens.weight", (case["vocab"], width), 0.1)
    weights.tensor("wpe.weight", "positions.weight", (case["length"], width), 0.1)
    weights.layers("h", GPT2_LAYER, case["layers"], width)
    weights.norm("ln_f", "norm", width)
    text = random.integers(0, case["vocab"], (BATCH, case["length"] + 1)).astype(np.int32)
    fed = {"text": text[:, :-1], "next": text[:, 1:]}
    return weights, fed, lambda p: networks_torch.gpt2(p, torch.tensor(fed["text"]).long(), case["heads"], plain=True)


def vit(case, random):
    weights, width, patch = Weights(random, False), case["width"], case["patch"]
    has_class = case["pool_mean"] == "false"
    weights.linear("patch_embed.proj", "patches", width, case["channels"], patch, patch)
    if has_class:
        weights.tensor("cls_token", "class.weight", (1, 1, width), 0.5)
    weights.tensor("pos_embed", "positions.weight", (1, (case["size"] // patch) ** 2 + has_class, width), 0.5)
    weights.layers("blocks", VIT_LAYER, case["layers"], width)
    weights.norm("norm", "norm", width)
    weights.linear("head", "logits", case["classes"], width)
    image = random.standard_normal((BATCH, case["size"], case["size"], case["channels"])).astype(np.float32)
    fed = {"image": image, "label": random.integers(0, case["classes"], BATCH).astype(np.int32)}

    def logits(p):
        x = torch.tensor(image).to(p["norm.weight"].dtype).permute(0, 3, 1, 2)
        return networks_torch.vit(p, x, case["heads"], patch)
    return weights, fed, logits


def our_logits(step, model, case, weights, fed, dtype, folder):
    files = [os.path.join(folder, name) for name in ("weights", "inputs", "logits")]
    safetensors.write(files[0], weights.foreign)
    floats = {"f64": np.float64, "f32": np.float32}[dtype]
    safetensors.write(files[1], {name: value.astype(floats) if value.dtype.kind == "f" else value for name, value in fed.items()})
    peers.run([step, "--model", model, *peers.sets(f"{key}={value}" for key, value in case.items()), "--batch", BATCH, "--dtype",
               dtype, "--steps", 1, "--inference", "--threads", peers.THREADS, "--weights", files[0], "--inputs", files[1],
               "--logits", files[2]])
    return safetensors.read(files[2])["logits"]


def errors(step, name, folder, draw):
    """The largest difference in f64, over the largest logit; norms of the f32 errors over that of the logits, ours and
    PyTorch's."""
    model, case = name.split("_")[0], CASES[name]
    weights, fed, logits = {"gpt2": gpt2, "vit": vit}[model](case, np.random.default_rng(draw))
    with torch.no_grad():
        exact, theirs = (logits({key: torch.tensor(value, dtype=dtype) for key, value in weights.own.items()}).numpy()
                         for dtype in (torch.float64, torch.float32))
    ours64, ours32 = (our_logits(step, model, case, weights, fed, dtype, folder).reshape(exact.shape) for dtype in ("f64", "f32"))
    norms = [np.linalg.norm(found - exact) / np.linalg.norm(exact) for found in (ours32, theirs)]
    return np.max(np.abs(ours64 - exact)) / np.max(np.abs(exact)), *norms


def main():
    parser = peers.parser(__doc__, draws=3)
    parser.add_argument("cases", nargs="*", metavar="CASE", default=[name for name in CASES if name != "gpt2"])
    args = parser.parse_args()
    torch.set_num_threads(peers.THREADS)
    print(f"PyTorch {torch.__version__}, {args.draws} draws\n")
    table = Table("network", ("f64: largest difference, of the largest logit", "{:.1e}"), ("f32 error, ours", "{:.1e}"),
                  ("f32 error, PyTorch's", "{:.1e}"), ("ratio", "{:.2f}"), "as promised")
    good = True
    for name in args.cases:
        with tempfile.TemporaryDirectory() as folder:
            found = [errors(peers.beside(args.train, "bench_step"), name, folder, draw) for draw in range(args.draws)]
        largest, ours, theirs = max(f[0] for f in found), np.median([f[1] for f in found]), np.median([f[2] for f in found])
        is_good = largest <= 1e-10 and ours <= 1.5 * theirs
        table.row(name, largest, ours, theirs, ours / theirs, "yes" if is_good else "NO")
        good = good and is_good
    return 0 if good else 1


if __name__ == "__main__":
    peers.start(main)
