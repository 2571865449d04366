#!/usr/bin/env python3
"""Activations of a training step of GPT-2: what PyTorch's eager mode takes, measured, beside what our plans say.

    bench/gpt2_memory.py [--train TRAIN] [--python PYTHON] [--batch 4] [--length 1024] [--layers 12]

PyTorch: the most that a process of its own held in a step, as the system counts it (VmHWM), less what it held before
that step, when parameters, gradients and AdamW's states were there already. Tensors of a megabyte and more go back to
the system when they are freed (MALLOC_MMAP_THRESHOLD_), so that what is counted lives. Ours: activations, gradients of
activations and workspaces at the peak of `train plan`, which a run keeps to; parameters, their gradients and states are
left out here, too; what computing again costs by prediction stands after a setting. Both in f32, with attention that
never has its scores (scaled_dot_product_attention)."""
import os
import tempfile

import peers
from tables import MIB, Table

VOCAB = 50257


def held(field):
    """Bytes that the system counts for this process."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def torch_activations(weights, batch, length):
    """Bytes above what is there before the step."""
    import torch_peer
    once = torch_peer.stepper("gpt2", weights, [[batch, length], VOCAB], "f32", 0.001, "adamw", keep_gradients=True)
    once()  # makes gradients and states
    before = held("VmRSS")
    with open("/proc/self/clear_refs", "w") as control:
        control.write("5")  # VmHWM begins anew
    once()
    return {"bytes": held("VmHWM") - before}


def main():
    args = peers.parser(__doc__, python=True, batch=4, length=1024, layers=12).parse_args()
    network = [f"layers={args.layers}", f"length={args.length}"]
    with tempfile.TemporaryDirectory() as folder:
        weights = os.path.join(folder, "weights")
        peers.run([args.train, "export", "--model", "gpt2", *peers.sets(network), "--output", weights])
        theirs = peers.peer(args.python, torch_activations, weights, args.batch, args.length,
                            MALLOC_MMAP_THRESHOLD_=str(MIB))["bytes"]
    print(f"GPT-2 with {args.layers} layers, {args.batch} windows of {args.length} tokens, f32\n")
    table = Table("", ("MiB of activations", "{:,.0f}"), ("of PyTorch's", "{:.2f}"))
    table.row("PyTorch, eager, measured", theirs / MIB, "1")
    for more in ("level=2", "level=3 --overhead 0.5%", "level=3 --overhead 10%", "level=3"):
        made = peers.plan(args.train, "gpt2", *peers.sets(network), "--batch", args.batch, "--memopt", *more.split())
        ours, cost = sum(made["tokens"]["peak"].values()), made["overhead"]
        table.row(f"`--memopt {more}`" + ("" if cost is None else f" ({100 * cost:.2g} %)"), ours / MIB, ours / theirs)


if __name__ == "__main__":
    peers.start(main)
