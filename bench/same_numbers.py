#!/usr/bin/env python3
"""The same numbers as PyTorch: our freshly initialised weights in the same network, 20 training steps on one batch.

    bench/same_numbers.py --step build/release/bench/bench_step [lenet resnet20 alexnet googlenet char_lstm]

f64: each loss within 1e-9 relative of PyTorch's f64. f32: the largest error of a loss against PyTorch's f64 losses, ours
over PyTorch's own, at most 1.5."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

import networks_torch
import safetensors



def pictures(shape, classes):
    """Images [C, H, W] and their labels, by the names of the network's inputs."""
    return lambda random, batch: {"image": random.standard_normal((batch,) + shape).astype(np.float32),
                                  "label": random.integers(0, classes, batch).astype(np.int32)}


def characters(length, vocabulary):
    """Texts, and what follows each of their characters."""
    def inputs(random, batch):
        text = random.integers(0, vocabulary, (batch, length + 1)).astype(np.int32)
        return {"text": text[:, :-1], "next": text[:, 1:]}
    return inputs


# network: (function, inputs and targets, batch, rate, settings)
CASES = {
    "lenet": (networks_torch.lenet, pictures((1, 28, 28), 10), 64, 0.05, []),
    "resnet20": (networks_torch.resnet_cifar(3), pictures((3, 32, 32), 10), 64, 0.1, []),
    "alexnet": (networks_torch.alexnet, pictures((3, 224, 224), 1000), 8, 0.001, ["dropout=0"]),
    "googlenet": (networks_torch.googlenet, pictures((3, 224, 224), 1000), 4, 0.01, ["dropout=0"]),
    "char_lstm": (networks_torch.char_lstm, characters(64, 96), 32, 0.5, []),
}
STEPS, MOMENTUM = 20, 0.9


def torch_losses(network, weights, inputs, dtype, rate):
    p = {name: torch.tensor(value, dtype=dtype) for name, value in weights.items()}
    trained = [value.requires_grad_() for name, value in p.items() if "running_" not in name]
    optimizer = torch.optim.SGD(trained, lr=rate, momentum=MOMENTUM)
    x, t = (torch.tensor(value, dtype=dtype if value.dtype.kind == "f" else torch.int64) for value in inputs.values())
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(network(p, x), t.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def our_losses(step, name, dtype, batch, rate, sets, weights, inputs):
    command = [step, "--model", name, "--batch", str(batch), "--dtype", dtype, "--steps", str(STEPS), "--lr", str(rate),
               "--momentum", str(MOMENTUM), "--weights", weights, "--inputs", inputs]
    for setting in sets:
        command += ["--set", setting]
    return np.array(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["losses"])


def compare(step, name, folder):
    network, made, batch, rate, sets = CASES[name]
    weights_file = os.path.join(folder, name + ".weights")
    export = [step, "--model", name, "--batch", "1", "--export", weights_file]
    for setting in sets:
        export += ["--set", setting]
    subprocess.run(export, check=True)
    weights = safetensors.read(weights_file)
    inputs = made(np.random.default_rng(0), batch)
    losses = {}
    for dtype, numpy_dtype in (("f64", np.float64), ("f32", np.float32)):
        file = os.path.join(folder, "inputs." + dtype)
        safetensors.write(file, {key: value.transpose(0, 2, 3, 1).astype(numpy_dtype) if value.ndim == 4 else value
                                 for key, value in inputs.items()})
        losses[dtype] = our_losses(step, name, dtype, batch, rate, sets, weights_file, file)
    peer64 = torch_losses(network, weights, inputs, torch.float64, rate)
    peer32 = torch_losses(network, weights, inputs, torch.float32, rate)
    relative = np.max(np.abs(losses["f64"] - peer64) / np.abs(peer64))
    ours = np.max(np.abs(losses["f32"] - peer64) / np.abs(peer64))
    theirs = np.max(np.abs(peer32 - peer64) / np.abs(peer64))
    good = relative <= 1e-9 and ours <= 1.5 * theirs
    print(f"| {name} | {batch} | {rate} | {peer64[0]:.6f} -> {peer64[-1]:.6f} | {relative:.1e} | {ours:.1e} | {theirs:.1e} | "
          f"{ours / theirs:.2f} | {'yes' if good else 'NO'} |", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", default="build/release/bench/bench_step", help="our program")
    parser.add_argument("networks", nargs="*", default=list(CASES))
    args = parser.parse_args()
    torch.set_num_threads(2)
    print(f"PyTorch {torch.__version__}, {STEPS} steps, sgd with momentum {MOMENTUM}\n")
    print("| network | batch | rate | loss | f64: largest relative difference | f32 error, ours | f32 error, PyTorch's | ratio | as promised |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        results = [compare(args.step, name, folder) for name in args.networks]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
