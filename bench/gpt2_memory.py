#!/usr/bin/env python3
"""Activations of a training step of GPT-2: what PyTorch's eager mode takes, measured, beside what our plans say.

    bench/gpt2_memory.py --train build/release/bin/train [--batch 4] [--length 1024] [--layers 12]

PyTorch: the most that a process of its own held in a step, as the system counts it (VmHWM), less what it held before
that step, when parameters, gradients and AdamW's states were there already. Tensors of a megabyte and more go back to
the system when they are freed (MALLOC_MMAP_THRESHOLD_), so that what is counted lives. Ours: activations, gradients of
activations and workspaces at the peak of `train plan`, which a run keeps to; parameters, their gradients and states are
left out here, too; what computing again costs by prediction stands behind a setting. Both in f32, with attention that
never has its scores (scaled_dot_product_attention)."""
import argparse
import json
import os
import subprocess
import sys

WIDTH, HEADS, VOCAB = 768, 12, 50257
MIB = 2**20


def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def torch_activations(batch, length, layers):
    """Bytes above what is there before the step."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x):
            q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.qkv(self.norm1(x)).split(WIDTH, 2))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).flatten(2))
            return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class Gpt2(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.positions = nn.Embedding(VOCAB, WIDTH), nn.Parameter(torch.zeros(length, WIDTH))
            self.layers, self.norm = nn.Sequential(*[Layer() for _ in range(layers)]), nn.LayerNorm(WIDTH)

        def forward(self, text, target):
            x = self.norm(self.layers(self.tokens(text) + self.positions))
            return F.cross_entropy(F.linear(x, self.tokens.weight).flatten(0, 1), target.flatten())

    torch.set_num_threads(2)
    model = Gpt2()
    update = torch.optim.AdamW(model.parameters())

    def step():
        text = torch.randint(VOCAB, (batch, length + 1))
        update.zero_grad(set_to_none=False)
        model(text[:, :-1].contiguous(), text[:, 1:].contiguous()).backward()
        update.step()

    step()  # makes gradients and states
    before = status("VmRSS")
    with open("/proc/self/clear_refs", "w") as control:
        control.write("5")  # VmHWM begins anew
    step()
    return status("VmHWM") - before


def our_activations(args, more):
    """Bytes, and what computing again takes of a step by prediction; None where nothing is."""
    command = [args.train, "plan", "--model", "gpt2", "--set", f"layers={args.layers}", "--batch", str(args.batch), "--context",
               str(args.length), "--eval-every", "0", "--json", "--threads", "2"]
    plan = subprocess.run(command + more, check=True, capture_output=True, text=True)
    made = json.loads(plan.stdout)
    return sum(made["tokens"]["peak"].values()), made["overhead"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", default="build/release/bin/train", help="our program")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--torch-alone", action="store_true", help="measures PyTorch in this process and prints bytes")
    args = parser.parse_args()
    if args.torch_alone:
        return print(torch_activations(args.batch, args.length, args.layers))
    sizes = ["--batch", str(args.batch), "--length", str(args.length), "--layers", str(args.layers)]
    measured = subprocess.run([sys.executable, __file__, "--torch-alone", *sizes], check=True, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "MALLOC_MMAP_THRESHOLD_": str(MIB)})
    theirs = int(measured.stdout)
    print(f"GPT-2 with {args.layers} layers, {args.batch} windows of {args.length} tokens, f32\n")
    print("| | MiB of activations | of PyTorch's |")
    print("|---|---|---|")
    print(f"| PyTorch, eager, measured | {theirs / MIB:,.0f} | 1 |")
    again = ["--memopt", "level=3"]
    for more in (["--memopt", "level=2"], [*again, "--overhead", "0.5%"], [*again, "--overhead", "10%"], again):
        ours, overhead = our_activations(args, more)
        cost = "" if overhead is None else f" ({100 * overhead:.2g} %)"
        print(f"| `{' '.join(more)}`{cost} | {ours / MIB:,.0f} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    main()
